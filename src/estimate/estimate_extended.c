// The steps of the nominal instance and of the filter: estimate_extended.h.
#include "estimate/estimate_extended.h"

#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "estimate/estimate_extended_part.h"
#include "estimate/estimate_kalman.h"

// ---- memory

static const void* copy_of(const void* from, size_t n, size_t size, yoke_arena* arena) {
  void* to = yoke__arena_array(arena, n + 1, size);
  if (to != NULL && n > 0) {
    memcpy(to, from, n * size);
  }
  return to;
}

static void copy_setup(yoke_extended* x, const yoke_extended_setup* setup, yoke_arena* arena) {
  x->setup = *setup;
  x->setup.unknowns = copy_of(setup->unknowns, setup->n_unknowns, sizeof *setup->unknowns, arena);
  x->setup.sensors = copy_of(setup->sensors, setup->n_sensors, sizeof *setup->sensors, arena);
  if (setup->state_start != NULL) {
    x->setup.state_start = copy_of(setup->state_start, setup->n_states, sizeof(double), arena);
  }
  x->setup.state_walk = NULL;  // the motion has it
}

static void count_inputs(yoke_extended* x, const yoke_extended_setup* setup) {
  // an unknown either is an input of the unit (a column of B and D) or the offset of a sensor
  for (size_t j = 0; j < setup->n_unknowns; j++) {
    const bool is_input = setup->unknowns[j].sensor == YOKE_DEVIATION_OUTPUT;
    x->column[j] = is_input ? x->n_inputs++ : YOKE_NO_COLUMN;
  }
}

static void take_vectors(yoke_extended* x, yoke_arena* arena) {
  const yoke_extended_setup* setup = &x->setup;
  const size_t n = x->n, s = setup->n_sensors;
  const struct {
    double** at;
    size_t size;
  } arrays[] = {
      {&x->known, setup->n_known},
      {&x->next_known, setup->n_known},
      {&x->theta, x->n_inputs},
      {&x->y, setup->n_outputs},
      {&x->applied, setup->n_unknowns},
      {&x->filter.q, n},
      {&x->filter.P, n * n},
      {&x->prior.q, n},
      {&x->prior.P, n * n},
      {&x->fresh.q, n},
      {&x->fresh.P, n * n},
      {&x->H, n},
      {&x->PH, n},
      {&x->q_next, n},
      {&x->work, 2 * n * n},
      {&x->innovations, s},
      {&x->sds, s},
      {&x->e, s},
      {&x->fresh_innovations, s},
      {&x->fresh_sds, s},
  };
  for (size_t i = 0; i < YOKE_COUNT(arrays); i++) {
    *arrays[i].at = yoke__arena_array(arena, arrays[i].size + 1, sizeof(double));
  }
  x->hits = yoke__arena_array(arena, setup->n_unknowns + 1, sizeof *x->hits);
}

yoke_extended* yoke__extended_prepare(const yoke_extended_setup* setup, yoke_arena* arena) {
  yoke_extended* x = yoke__arena_take(arena, sizeof *x);
  if (x == NULL) {
    return NULL;
  }
  x->column = yoke__arena_array(arena, setup->n_unknowns + 1, sizeof *x->column);
  if (x->column == NULL) {
    return NULL;
  }
  count_inputs(x, setup);

  // q = [deviation of the states; e of the unknowns], theta = applied + e
  x->n = setup->n_states + setup->n_unknowns;
  copy_setup(x, setup, arena);
  take_vectors(x, arena);
  yoke__extended_motion_prepare(&x->motion, setup, x->column, x->n_inputs, arena);
  x->consistency = yoke__consistency_prepare(setup->n_sensors, 0, arena);
  return yoke__arena_status(arena) < 0 ? NULL : x;
}

// ---- start

static yoke_status linearise(yoke_extended* x) {
  const yoke_extended_box* box = &x->setup.box;
  yoke_extended_motion* m = &x->motion;
  return box->linearise(box->context, x->known, x->theta, m->A, m->B, m->C, m->D);
}

static void fill_theta(yoke_extended* x) {
  for (size_t j = 0; j < x->setup.n_unknowns; j++) {
    if (x->column[j] != YOKE_NO_COLUMN) {
      x->theta[x->column[j]] = x->applied[j];
    }
  }
}

yoke_status yoke__extended_start(yoke_extended* x, const double known[], const double y[]) {
  for (size_t j = 0; j < x->setup.n_unknowns; j++) {
    x->applied[j] = x->setup.unknowns[j].start;
    x->hits[j] = 0;
  }
  for (size_t i = 0; i < x->setup.n_sensors; i++) {
    x->innovations[i] = x->sds[i] = (double)NAN;
  }
  x->k = 0;
  x->n_gated = 0;
  x->has_diverged = false;

  // prior, filter and the second filter start from the same belief
  yoke__belief_start(x, &x->filter);
  yoke__fresh_start(x);
  yoke__consistency_clear(x->consistency);
  memcpy(x->known, known, x->setup.n_known * sizeof *known);
  memcpy(x->y, y, x->setup.n_outputs * sizeof *y);
  fill_theta(x);
  return linearise(x);
}

// ---- steps

yoke_status yoke__extended_correct(yoke_extended* x, const double known[], const double readings[],
                                   const bool have[]) {
  memcpy(x->next_known, known, x->setup.n_known * sizeof *known);
  if (x->has_diverged || yoke__belief_correct(x, &x->filter, readings, have, x->innovations, x->sds,
                                              &x->n_gated) < 0) {
    x->has_diverged = true;
    return YOKE_DIVERGED;
  }
  for (size_t s = 0; s < x->setup.n_sensors; s++) {
    // e / sqrt(S): white with variance 1 where model and noise are right
    x->e[s] = x->innovations[s] / x->sds[s];
  }
  yoke__consistency_add(x->consistency, x->e);
  yoke__belief_keep_bounds(x, &x->filter, x->hits);

  // order matters: the second filter takes the same readings before the two are compared
  yoke__fresh_correct(x, readings, have);
  yoke__fresh_look(x);
  return YOKE_OK;
}

// All that is known of the unknown inputs goes to the nominal instance. The bounds again: rounding may have left them.
static void apply(yoke_extended* x) {
  for (size_t j = 0; j < x->setup.n_unknowns; j++) {
    // e := e - shift, applied := applied + shift: theta = applied + e is unchanged, and q is again
    // the deviation from the nominal instance
    const yoke_deviation_unknown* u = &x->setup.unknowns[j];
    const size_t e = x->setup.n_states + j;
    if (x->column[j] != YOKE_NO_COLUMN) {
      const double before = x->applied[j];
      x->applied[j] = fmin(fmax(before + x->filter.q[e], u->lower), u->upper);
      const double shift = x->applied[j] - before;
      x->filter.q[e] -= shift;
      x->fresh.q[e] -= shift;
      x->prior.q[e] -= shift;
    }
  }
  fill_theta(x);
}

static yoke_status predict(yoke_extended* x) {
  YOKE_TRY(yoke__extended_motion_end(&x->motion));
  YOKE_TRY(yoke__belief_predict(x, &x->filter));
  yoke__fresh_predict(x);
  return YOKE_OK;
}

yoke_status yoke__extended_advance(yoke_extended* x) {
  const yoke_extended_box* box = &x->setup.box;
  if (!x->has_diverged) {
    // applied before the step: the unknowns are constant within it
    apply(x);
  }
  memcpy(x->known, x->next_known, x->setup.n_known * sizeof *x->known);
  YOKE_TRY(box->step(box->context, x->k, x->known, x->theta, x->y));
  x->k++;

  // A and B at the start of the step are kept; with those at its end they give the mean
  yoke__extended_motion_turn(&x->motion);
  YOKE_TRY(linearise(x));
  if (x->has_diverged || predict(x) < 0) {
    x->has_diverged = true;
    return YOKE_DIVERGED;
  }
  return YOKE_OK;
}

// ---- results

const double* yoke__extended_nominal(const yoke_extended* x) {
  return x->y;
}

void yoke__extended_output(const yoke_extended* x, size_t output, double* value, double* sd) {
  // y = nominal output + H q, variance H P H'
  *value = yoke__belief_expect(x, &x->filter, output, x->H);
  *sd = sqrt(fmax(0.0, yoke__kalman_variance(x->n, x->filter.P, x->H, 0.0, x->PH)));
}

void yoke__extended_state(const yoke_extended* x, size_t state, double* deviation, double* sd) {
  *deviation = x->filter.q[state];

  // diagonal of P, which rounding may make slightly negative
  *sd = sqrt(fmax(0.0, x->filter.P[state * (x->n + 1)]));
}

void yoke__extended_unknown(const yoke_extended* x, size_t unknown, double* value, double* sd) {
  double e;
  yoke__extended_state(x, x->setup.n_states + unknown, &e, sd);

  // theta = applied + e
  *value = x->applied[unknown] + e;
}

double yoke__extended_applied(const yoke_extended* x, size_t unknown) {
  return x->applied[unknown];
}

void yoke__extended_innovation(const yoke_extended* x, size_t sensor, double* innovation,
                               double* sd) {
  *innovation = x->innovations[sensor];
  *sd = x->sds[sensor];
}

uint64_t yoke__extended_gated(const yoke_extended* x) {
  return x->n_gated;
}

uint64_t yoke__extended_bound_hits(const yoke_extended* x, size_t unknown) {
  return x->hits[unknown];
}

double yoke__extended_doubt(const yoke_extended* x) {
  return x->doubt;
}

uint32_t yoke__extended_restarts(const yoke_extended* x) {
  return x->n_restarts;
}

size_t yoke__extended_find_far(const yoke_extended* x, double* excursion) {
  size_t found = x->setup.n_unknowns;
  *excursion = YOKE_DEVIATION_FAR;
  for (size_t j = 0; j < x->setup.n_unknowns; j++) {
    double value, sd;
    yoke__extended_unknown(x, j, &value, &sd);
    const double t = (double)x->k * x->setup.h;
    const double far = yoke__deviation_excursion(&x->setup.unknowns[j], value, t);
    if (far > *excursion) {
      *excursion = far;
      found = j;
    }
  }
  return found;
}

yoke_twin_verdict yoke__extended_verdict(const yoke_extended* x, yoke_finding* why) {
  double excursion;
  const yoke_twin_verdict verdict = yoke__consistency_verdict(x->consistency, x->has_diverged, why);
  const bool is_far = yoke__extended_find_far(x, &excursion) < x->setup.n_unknowns;

  // far from anything plausible, or the second filter, which starts anew, disagrees
  const bool is_wrong = is_far || x->doubt > YOKE_EXTENDED_DOUBT;
  return is_wrong && verdict != YOKE_TWIN_DIVERGED ? YOKE_TWIN_INCONSISTENT : verdict;
}
