// When to begin again, and catching up: estimate_black.h.
#include "estimate/estimate_black.h"

#include <math.h>
#include <string.h>

#include "base/base_check.h"

#define N_SKIP       32   // readings of each sensor that are not judged
#define FIRST_REPLAY 64   // steps before the first one
#define GROWTH       1.5  // of the record between two of them
#define BIAS                                                                                       \
  0.3  // of an unknown's standard deviation: what the model's errors may have moved it by
#define KNOWN      0.2  // of its offset: a standard deviation that is worth a beginning
#define DOUBT      0.1  // share of a reading's variance that comes from errors of the model
#define MISFIT     0.1  // of a sensor's noise
#define FAR_START  0.5  // of its offset
#define OFFSET_SDS 2.0  // offsets of slow unknowns
#define LEAST_OFFSET                                                                               \
  1e-3  // of the first one: smaller ones drown in the errors of the unit's solver
#define SPEED 4
#define NONE  SIZE_MAX

typedef struct set {
  yoke_shadow* shadow;
  yoke_consistency* consistency;
  double* y;   // members x n_outputs, at step k
  uint64_t k;  // readings taken
  bool is_spent, has_diverged;
} set;

struct yoke_black {
  yoke_black_setup setup;
  size_t n_sensors, n_unknowns;
  set sets[YOKE_BLACK_MAX_SETS];
  size_t now, next;  // next: catches up; NONE: none does
  uint64_t k;        // steps taken
  uint64_t next_look;
  uint32_t n_passes;
  bool is_wanted;  // to begin again
  double* record;  // per step: known inputs, then readings, NaN where there is none
  double* known;   // of this step
  bool* have;
  double *e, *applied, *offsets;
};

// ---- memory

static yoke_status take_set(yoke_black* b, set* s, yoke_arena* arena) {
  s->shadow = yoke__shadow_prepare(&b->setup.shadow, arena);
  s->consistency = yoke__consistency_prepare(b->n_sensors, N_SKIP, arena);
  if (s->shadow == NULL || s->consistency == NULL) {
    return YOKE_NO_MEMORY;
  }
  const size_t n = yoke__shadow_members(s->shadow) * b->setup.shadow.filter.n_outputs;
  s->y = yoke__arena_array(arena, n + 1, sizeof(double));
  return yoke__arena_status(arena);
}

yoke_black* yoke__black_prepare(const yoke_black_setup* setup, yoke_arena* arena) {
  yoke_black* b = yoke__arena_take(arena, sizeof *b);
  if (b == NULL) {
    return NULL;
  }
  b->setup = *setup;
  b->setup.speed = setup->speed == 0 ? SPEED : setup->speed;
  b->n_sensors = setup->shadow.filter.n_sensors;
  b->n_unknowns = setup->shadow.filter.n_unknowns;
  for (size_t i = 0; i < setup->n_sets; i++) {
    if (take_set(b, &b->sets[i], arena) < 0) {
      return NULL;
    }
  }
  const size_t row = setup->n_known + b->n_sensors;
  const size_t n_rows = setup->n_sets > 1 ? (size_t)setup->n_history : 0;
  b->record = yoke__arena_array(arena, n_rows * row + 1, sizeof(double));
  b->known = yoke__arena_array(arena, setup->n_known + 1, sizeof(double));
  b->have = yoke__arena_array(arena, b->n_sensors + 1, sizeof *b->have);
  b->e = yoke__arena_array(arena, b->n_sensors + 1, sizeof(double));
  b->applied = yoke__arena_array(arena, b->n_unknowns + 1, sizeof(double));
  b->offsets = yoke__arena_array(arena, b->n_unknowns + 1, sizeof(double));
  return yoke__arena_status(arena) < 0 ? NULL : b;
}

static yoke_status restart(yoke_black* b, size_t i, const double applied[],
                           const double offsets[]) {
  set* s = &b->sets[i];
  YOKE_TRY(b->setup.box.restart(b->setup.box.context, i, s->y));
  yoke__shadow_start(s->shadow, applied, offsets);
  yoke__shadow_begin(s->shadow, s->y);
  yoke__consistency_clear(s->consistency);
  s->k = 0;
  s->has_diverged = false;
  return YOKE_OK;
}

yoke_status yoke__black_start(yoke_black* b) {
  b->now = 0;
  b->next = NONE;
  b->k = 0;
  b->n_passes = 1;
  b->next_look = FIRST_REPLAY;
  b->is_wanted = false;
  for (size_t i = 0; i < b->setup.n_sets; i++) {
    b->sets[i].is_spent = false;
  }
  return restart(b, 0, NULL, NULL);
}

// ---- one step of a set

static yoke_status take_readings(yoke_black* b, set* s, const double readings[],
                                 const bool have[]) {
  if (yoke__shadow_wants_work(s->shadow) && yoke__shadow_needs_work(s->shadow)) {
    // a model that is due is made here if no other thread has done so: results do not depend on
    // timing
    yoke__shadow_work(s->shadow);
  }
  const yoke_status status = yoke__shadow_correct(s->shadow, readings, have);
  s->has_diverged = s->has_diverged || status < 0;
  for (size_t i = 0; i < b->n_sensors; i++) {
    // e / sqrt(S), of variance 1 where the filter is right
    double innovation, sd;
    yoke__deviation_innovation(yoke__shadow_filter(s->shadow), i, &innovation, &sd);
    // such errors are no noise: they cannot be judged like noise
    const bool is_doubtful = yoke__deviation_doubt(yoke__shadow_filter(s->shadow), i) > DOUBT;
    b->e[i] = is_doubtful ? (double)NAN : innovation / sd;
  }
  yoke__consistency_add(s->consistency, b->e);
  s->k++;
  return status;
}

static yoke_status move_members(yoke_black* b, size_t i, const double known[]) {
  set* s = &b->sets[i];
  const yoke_black_box* box = &b->setup.box;

  // readings of step k have been taken: the members move from step k - 1 of the set to k
  YOKE_TRY(box->step(box->context, i, s->k - 1, known, yoke__shadow_theta(s->shadow, 0), s->y));
  if (yoke__shadow_move(s->shadow, s->y) < 0) {
    s->has_diverged = true;
  }
  return YOKE_OK;
}

// ---- beginning again

static double* row_of(const yoke_black* b, uint64_t k) {
  return b->record + k * (b->setup.n_known + b->n_sensors);
}

static void keep_row(yoke_black* b, const double known[], const double readings[],
                     const bool have[]) {
  if (b->setup.n_sets < 2 || b->k >= b->setup.n_history) {
    return;
  }
  double* row = row_of(b, b->k);
  memcpy(row, known, b->setup.n_known * sizeof *row);
  for (size_t i = 0; i < b->n_sensors; i++) {
    row[b->setup.n_known + i] = have[i] ? readings[i] : (double)NAN;
  }
}

// A new beginning can have other values of it.
static bool can_move(const yoke_deviation_unknown* u) {
  return !u->is_fast && !u->is_start;
}

// The start is far from the guess that all instances begin with. How the unit goes on from there depends on the other unknowns: a
// product of two deviations, of which a new beginning can make one small.
static bool is_start_far(const yoke_black* b) {
  const yoke_shadow* s = b->sets[b->now].shadow;
  for (size_t j = 0; j < b->n_unknowns; j++) {
    const yoke_deviation_unknown* u = &b->setup.shadow.filter.unknowns[j];
    double value, sd;
    yoke__deviation_unknown_of(yoke__shadow_filter(s), j, &value, &sd);
    if (u->is_start && yoke__shadow_shows(s, j) &&
        fabs(value - u->start) > FAR_START * yoke__shadow_offset(s, j)) {
      return true;
    }
  }
  return false;
}

// What the model says wrongly is large enough to matter, and what it concerns is known so much better now that it is worth it.
static bool is_biased(const yoke_black* b) {
  const yoke_shadow* s = b->sets[b->now].shadow;
  const yoke_deviation* f = yoke__shadow_filter(s);

  // three things: errors that matter, an unknown that is known well now, and none that is both
  // biased and badly known
  bool matters = yoke__shadow_misfit(s) > MISFIT || is_start_far(b), is_better = false,
       is_worse = false;
  for (size_t j = 0; j < b->n_unknowns; j++) {
    double value, sd;
    yoke__deviation_unknown_of(f, j, &value, &sd);
    const double offset = yoke__shadow_offset(s, j);
    if (offset > 0.0 && can_move(&b->setup.shadow.filter.unknowns[j])) {
      const bool is_biased = yoke__deviation_bias(f, j) > BIAS;
      matters = matters || is_biased;
      // what an offset of 2 sd would be now against the one that the instances run with
      is_better = is_better || sd < KNOWN * offset;
      is_worse = is_worse || (is_biased && sd > KNOWN * offset);
    }
  }
  return matters && is_better && !is_worse;
}

static void choose_start(yoke_black* b) {
  const yoke_shadow* s = b->sets[b->now].shadow;
  for (size_t j = 0; j < b->n_unknowns; j++) {
    const yoke_deviation_unknown* u = &b->setup.shadow.filter.unknowns[j];
    const double first = yoke__shadow_first_offset(s, j);
    double value, sd;
    yoke__deviation_unknown_of(yoke__shadow_filter(s), j, &value, &sd);
    b->applied[j] = u->start;
    b->offsets[j] = first;
    if (can_move(u)) {
      // smaller offsets make the second-order terms smaller; too small ones drown in solver errors
      const double offset = fmin(first, fmax(LEAST_OFFSET * first, OFFSET_SDS * sd));
      // the offset and a tenth more stay free on both sides of the bounds
      const double margin = 1.1 * offset;
      b->applied[j] = fmin(fmax(value, u->lower + margin), u->upper - margin);
      b->offsets[j] = offset;
    }
  }
}

static bool begin_again(yoke_black* b) {
  choose_start(b);
  for (size_t i = 0; i < b->setup.n_sets; i++) {
    if (i != b->now && !b->sets[i].is_spent) {
      if (restart(b, i, b->applied, b->offsets) >= 0) {
        b->next = i;
        return true;
      }
      b->sets[i].is_spent = true;
    }
  }
  return false;
}

static void look(yoke_black* b) {
  if (b->k < b->next_look || b->next != NONE || b->k >= b->setup.n_history) {
    return;
  }

  // looks at 64, 96, 144, ... steps: the work of all replays is a fixed multiple of that of the run
  b->next_look = (uint64_t)((double)b->k * GROWTH);
  b->is_wanted = is_biased(b) && begin_again(b);
}

// Some steps of the record; the set that runs it takes over at the present step.
static yoke_status catch_up(yoke_black* b) {
  const size_t i = b->next;
  for (uint32_t n = 0; n < b->setup.speed && b->sets[i].k < b->k; n++) {
    set* s = &b->sets[i];
    const double* row = row_of(b, s->k);
    for (size_t j = 0; j < b->n_sensors; j++) {
      // a reading that was missing is kept as NaN
      b->have[j] = !isnan(row[b->setup.n_known + j]);
    }
    if (take_readings(b, s, row + b->setup.n_known, b->have) < 0) {
      s->is_spent = true;  // this one is lost: the other goes on
      b->next = NONE;
      return YOKE_OK;
    }
    YOKE_TRY(move_members(b, i, row));
  }

  // the set has reached the present step: it takes over between two steps
  if (b->sets[i].k == b->k) {
    b->now = i;
    b->next = NONE;
    b->is_wanted = false;
    b->n_passes++;
    b->next_look = b->k + 1;
  }
  return YOKE_OK;
}

// ---- steps

yoke_status yoke__black_correct(yoke_black* b, const double known[], const double readings[],
                                const bool have[]) {
  memcpy(b->known, known, b->setup.n_known * sizeof *known);
  keep_row(b, known, readings, have);
  const yoke_status status = take_readings(b, &b->sets[b->now], readings, have);
  b->k++;
  return status;
}

yoke_status yoke__black_advance(yoke_black* b) {
  YOKE_TRY(move_members(b, b->now, b->known));
  if (b->next != NONE && b->k > b->setup.n_history) {
    b->next = NONE;  // the record is too short
    b->is_wanted = false;
  }
  if (b->next != NONE) {
    return catch_up(b);
  }
  look(b);
  return YOKE_OK;
}

yoke_shadow* yoke__black_wants_work(const yoke_black* b) {
  yoke_shadow* shadow = b->sets[b->now].shadow;
  return yoke__shadow_wants_work(shadow) ? shadow : NULL;
}

bool yoke__black_needs_work(const yoke_black* b) {
  return yoke__shadow_needs_work(b->sets[b->now].shadow);
}

// ---- results

const double* yoke__black_outputs(const yoke_black* b) {
  return b->sets[b->now].y;
}

const yoke_shadow* yoke__black_shadow(const yoke_black* b) {
  return b->sets[b->now].shadow;
}

size_t yoke__black_find_far(const yoke_black* b, double* excursion) {
  size_t found = b->n_unknowns;
  *excursion = YOKE_DEVIATION_FAR;
  for (size_t j = 0; j < b->n_unknowns; j++) {
    const yoke_deviation_unknown* u = &b->setup.shadow.filter.unknowns[j];
    double value, sd;
    yoke__deviation_unknown_of(yoke__shadow_filter(b->sets[b->now].shadow), j, &value, &sd);
    const double t = (double)b->k * b->setup.shadow.filter.h;
    const double far = yoke__deviation_excursion(u, value, t);
    if (far > *excursion && u->start_of == 0) {
      *excursion = far;
      found = j;
    }
  }
  return found;
}

yoke_twin_verdict yoke__black_verdict(const yoke_black* b, yoke_finding* why) {
  const set* s = &b->sets[b->now];
  double excursion;
  yoke_twin_verdict verdict = yoke__consistency_verdict(s->consistency, s->has_diverged, why);

  // an unknown far outside its guess makes up for a wrong model, however white the innovation
  if (yoke__black_find_far(b, &excursion) < b->n_unknowns && verdict != YOKE_TWIN_DIVERGED) {
    verdict = YOKE_TWIN_INCONSISTENT;
  }
  const bool is_early = (b->is_wanted && b->n_passes == 1) || !yoke__shadow_has_model(s->shadow);
  return is_early && verdict != YOKE_TWIN_DIVERGED ? YOKE_TWIN_STARTING : verdict;
}

uint64_t yoke__black_start_steps(void) {
  return N_SKIP;
}

uint32_t yoke__black_passes(const yoke_black* b) {
  return b->n_passes;
}

bool yoke__black_is_replaying(const yoke_black* b) {
  return b->next != NONE;
}
