// The ring of past steps.
//
//   first .. now   steps that the ring has; step k lies at k modulo n_ring
//   dirty          the first step with a reading that its correction has not seen; now + 1: none
//
// Invariant between calls: the image of each step is the state before its correction, given the readings known when it was last done.
#include "estimate/estimate_late.h"

#include <math.h>
#include <string.h>

#include "base/base_image.h"

typedef enum place { BEFORE_CORRECT, BEFORE_PREDICT, N_PLACES } place;

typedef struct step {
  unsigned char* image;
  double *v_correct, *v_predict, *slope;  // inputs
  double *ramp, *missed;                  // what they did in the step before, and before that one
  double* readings;                       // per sensor, with have
  bool* have;
  double* e;  // normalised innovations of the last correction
  double *g[N_PLACES], *c[N_PLACES];
  bool has_elements[N_PLACES], has_slope, has_ramp, has_missed, is_corrected;
} step;

struct yoke_late {
  yoke_estimate* filter;
  size_t r, n_sensors, n_resistors, p, n_ring;
  double h, start;  // start: time of step 0
  int64_t first, now, dirty;
  bool has_settled;
  double* settled;
  yoke_late_counts counts;
  step* steps;
};

static step* step_of(const yoke_late* l, int64_t k) {
  // a ring: step k and step k + n_ring share a place, and never live together
  return &l->steps[(size_t)k % l->n_ring];
}

static yoke_status take_step(yoke_late* l, yoke_arena* arena, step* s) {
  s->image = yoke__arena_take(arena, yoke__estimate_image_size(l->filter));
  double** const arrays[] = {&s->v_correct,
                             &s->v_predict,
                             &s->slope,
                             &s->ramp,
                             &s->missed,
                             &s->readings,
                             &s->e,
                             &s->g[BEFORE_CORRECT],
                             &s->c[BEFORE_CORRECT],
                             &s->g[BEFORE_PREDICT],
                             &s->c[BEFORE_PREDICT]};
  const size_t sizes[] = {l->r,         l->r,           l->r, l->r,           l->r, l->n_sensors,
                          l->n_sensors, l->n_resistors, l->p, l->n_resistors, l->p};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    *arrays[i] = yoke__arena_array(arena, sizes[i], sizeof(double));
  }
  s->have = yoke__arena_array(arena, l->n_sensors, sizeof *s->have);
  return yoke__arena_status(arena);
}

yoke_status yoke__late_prepare(const yoke_estimate_setup* setup, yoke_estimate* f, size_t n_steps,
                               yoke_arena* arena, yoke_late** out) {
  yoke_late* l = yoke__arena_take(arena, sizeof *l);
  YOKE_TRY_MEMORY(l != NULL);
  *l = (yoke_late){.filter = f,
                   .r = setup->network->n_inputs,
                   .n_sensors = setup->n_sensors,
                   .n_resistors = setup->network->n_resistors,
                   .p = setup->network->n_capacities,
                   .n_ring = n_steps + 1,
                   .h = setup->h};
  l->steps = yoke__arena_array(arena, l->n_ring, sizeof *l->steps);
  l->settled = yoke__arena_array(arena, l->n_sensors, sizeof *l->settled);
  YOKE_TRY(yoke__arena_status(arena));
  for (size_t i = 0; i < l->n_ring; i++) {
    YOKE_TRY(take_step(l, arena, &l->steps[i]));
  }
  yoke__late_start(l, 0);
  *out = l;
  return YOKE_OK;
}

// Step now begins with the filter as it is.
static void open_step(yoke_late* l) {
  step* s = step_of(l, l->now);
  yoke__estimate_save(l->filter, s->image);
  memset(s->have, 0, l->n_sensors * sizeof *s->have);
  for (size_t i = 0; i < l->n_sensors; i++) {
    s->e[i] = (double)NAN;
  }
  s->has_elements[BEFORE_CORRECT] = s->has_elements[BEFORE_PREDICT] = false;
  s->has_slope = s->has_ramp = s->has_missed = s->is_corrected = false;
  l->dirty = l->now + 1;
}

void yoke__late_start(yoke_late* l, double t) {
  l->start = t;
  l->first = l->now = 0;
  l->has_settled = false;
  open_step(l);
}

// ---- readings

yoke_late_reading yoke__late_reading(yoke_late* l, size_t sensor, double time, double value) {
  // nearest step; a reading that lies between two belongs to the nearer one
  const double place_in_time = round((time - l->start) / l->h);
  if (!isfinite(value) || isnan(place_in_time)) {
    return YOKE_READING_NONE;
  }
  if (place_in_time > (double)l->now) {
    l->counts.n_early++;
    return YOKE_READING_EARLY;
  }

  // older than the ring: its step cannot be repeated any more
  if (place_in_time < (double)l->first) {
    l->counts.n_too_late++;
    return YOKE_READING_TOO_LATE;
  }
  const int64_t k = (int64_t)place_in_time;
  step* s = step_of(l, k);
  if (s->have[sensor]) {
    l->counts.n_double++;
    return YOKE_READING_DOUBLE;
  }
  s->have[sensor] = true;
  s->readings[sensor] = value;
  if (k == l->now && !s->is_corrected) {
    l->counts.n_in_time++;
    return YOKE_READING_IN_TIME;
  }
  const uint64_t delay = (uint64_t)(l->now - k);

  // the earliest step that has to be repeated
  l->dirty = k < l->dirty ? k : l->dirty;
  s->is_corrected = s->is_corrected || k < l->now;  // by what comes
  l->counts.n_late++;
  l->counts.longest = delay > l->counts.longest ? delay : l->counts.longest;
  return YOKE_READING_LATE;
}

// ---- steps

static yoke_status set_elements(yoke_late* l, const step* s, place at) {
  return s->has_elements[at] ? yoke__estimate_set_elements(l->filter, s->g[at], s->c[at]) : YOKE_OK;
}

// What comes before a correction.
static yoke_status enter(yoke_late* l, const step* s) {
  if (s->has_missed) {
    YOKE_TRY(yoke__estimate_catch_up(l->filter, s->missed));
  }
  if (s->has_ramp) {
    YOKE_TRY(yoke__estimate_ramp(l->filter, s->ramp));
  }
  return set_elements(l, s, BEFORE_CORRECT);
}

static yoke_status correct(yoke_late* l, step* s) {
  const yoke_status status = yoke__estimate_correct(l->filter, s->v_correct, s->readings, s->have);
  for (size_t i = 0; i < l->n_sensors; i++) {
    double innovation = (double)NAN, sd = 1;
    if (status >= 0) {
      yoke__estimate_innovation(l->filter, i, &innovation, &sd);
    }
    // e / sd, normalised innovation: variance 1 where model and noise are right
    s->e[i] = innovation / sd;
  }
  return status;
}

// From step k until the filter stands before the correction of step now. What failed fails again.
static void repeat(yoke_late* l, int64_t k) {
  // image of step k, then for each step: inputs and elements, correction, prediction, in the order
  // of the first time
  yoke__estimate_restore(l->filter, step_of(l, k)->image);
  for (; k < l->now; k++) {
    step* s = step_of(l, k);
    enter(l, s);
    // a step without a reading was not corrected the first time, and is not now
    if (s->is_corrected) {
      correct(l, s);
    }
    set_elements(l, s, BEFORE_PREDICT);
    yoke__estimate_predict(l->filter, s->v_predict, s->has_slope ? s->slope : NULL);
    yoke__estimate_save(l->filter, step_of(l, k + 1)->image);
    l->counts.n_repeated++;
  }
  enter(l, step_of(l, l->now));
  l->dirty = l->now + 1;
}

yoke_status yoke__late_correct(yoke_late* l, const double v[]) {
  step* s = step_of(l, l->now);

  // late readings have arrived, or this step is corrected a second time: from its state before that
  if (l->dirty < l->now || s->is_corrected) {
    repeat(l, l->dirty < l->now ? l->dirty : l->now);
  }
  memcpy(s->v_correct, v, l->r * sizeof *v);
  s->is_corrected = true;
  return correct(l, s);
}

// The oldest step makes room for the next one.
static void settle_oldest(yoke_late* l) {
  // its innovations are final: no reading can reach it any more
  l->has_settled = l->now - l->first >= (int64_t)l->n_ring;
  if (l->has_settled) {
    memcpy(l->settled, step_of(l, l->first)->e, l->n_sensors * sizeof *l->settled);
    l->first++;
  }
}

yoke_status yoke__late_predict(yoke_late* l, const double v[], const double slope[]) {
  step* s = step_of(l, l->now);
  // what came since the correction, before its step can leave the ring
  if (l->dirty <= l->now) {
    repeat(l, l->dirty);
    if (s->is_corrected) {
      correct(l, s);
    }
    set_elements(l, s, BEFORE_PREDICT);
  }
  memcpy(s->v_predict, v, l->r * sizeof *v);

  // a reading that comes late corrects with the inputs of now
  if (!s->is_corrected) {
    memcpy(s->v_correct, v, l->r * sizeof *v);
  }
  s->has_slope = slope != NULL;
  if (slope != NULL) {
    memcpy(s->slope, slope, l->r * sizeof *slope);
  }
  const yoke_status status = yoke__estimate_predict(l->filter, v, slope);
  l->now++;
  settle_oldest(l);
  open_step(l);
  return status;
}

yoke_status yoke__late_catch_up(yoke_late* l, const double change[]) {
  step* s = step_of(l, l->now);
  const yoke_status status = yoke__estimate_catch_up(l->filter, change);
  s->has_missed = status >= 0;
  if (status >= 0) {
    memcpy(s->missed, change, l->r * sizeof *change);
  }
  return status;
}

yoke_status yoke__late_ramp(yoke_late* l, const double change[]) {
  step* s = step_of(l, l->now);
  const yoke_status status = yoke__estimate_ramp(l->filter, change);
  s->has_ramp = status >= 0;
  if (status >= 0) {
    memcpy(s->ramp, change, l->r * sizeof *change);
  }
  return status;
}

yoke_status yoke__late_set_elements(yoke_late* l, const double g[], const double c[]) {
  step* s = step_of(l, l->now);

  // what came before the correction and what came behind it is repeated in that order
  const place at = s->is_corrected ? BEFORE_PREDICT : BEFORE_CORRECT;
  memcpy(s->g[at], g, l->n_resistors * sizeof *g);
  memcpy(s->c[at], c, l->p * sizeof *c);
  s->has_elements[at] = true;
  return set_elements(l, s, at);
}

const double* yoke__late_settled(const yoke_late* l) {
  return l->has_settled ? l->settled : NULL;
}

yoke_late_counts yoke__late_counts_of(const yoke_late* l) {
  return l->counts;
}

// ---- saved states

static void walk_step(const yoke_late* l, step* s, yoke_image* image) {
  const struct {
    double* numbers;
    size_t n;
  } parts[] = {{s->v_correct, l->r},
               {s->v_predict, l->r},
               {s->slope, l->r},
               {s->ramp, l->r},
               {s->missed, l->r},
               {s->readings, l->n_sensors},
               {s->e, l->n_sensors},
               {s->g[BEFORE_CORRECT], l->n_resistors},
               {s->c[BEFORE_CORRECT], l->p},
               {s->g[BEFORE_PREDICT], l->n_resistors},
               {s->c[BEFORE_PREDICT], l->p}};
  yoke__image_part(image, s->image, yoke__estimate_image_size(l->filter));
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    yoke__image_part(image, parts[i].numbers, parts[i].n * sizeof(double));
  }
  yoke__image_part(image, s->have, l->n_sensors * sizeof *s->have);
  YOKE_IMAGE_VALUE(image, s->has_elements);
  YOKE_IMAGE_VALUE(image, s->has_slope);
  YOKE_IMAGE_VALUE(image, s->has_ramp);
  YOKE_IMAGE_VALUE(image, s->has_missed);
  YOKE_IMAGE_VALUE(image, s->is_corrected);
}

static void walk(yoke_late* l, yoke_image* image) {
  YOKE_IMAGE_VALUE(image, l->start);
  YOKE_IMAGE_VALUE(image, l->first);
  YOKE_IMAGE_VALUE(image, l->now);
  YOKE_IMAGE_VALUE(image, l->dirty);
  YOKE_IMAGE_VALUE(image, l->has_settled);
  YOKE_IMAGE_VALUE(image, l->counts);
  yoke__image_part(image, l->settled, l->n_sensors * sizeof *l->settled);
  for (size_t i = 0; i < l->n_ring; i++) {
    walk_step(l, &l->steps[i], image);
  }
}

size_t yoke__late_image_size(yoke_late* l) {
  yoke_image image = {0};
  walk(l, &image);
  return image.used;
}

void yoke__late_save(yoke_late* l, void* image) {
  walk(l, &(yoke_image){.to = image});
}

void yoke__late_restore(yoke_late* l, const void* image) {
  walk(l, &(yoke_image){.from = image});
}
