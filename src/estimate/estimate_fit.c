// Least squares over a record: see estimate_fit.h. The Jacobian is taken by central differences of whole runs: the runs are linear
// in the temperatures and smooth in the unknowns, so that a relative step of 1e-5 leaves about ten digits.
#include "estimate/estimate_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_dense.h"

#define STEP        1e-5  // of the differences, of a value or of its logarithm
#define DAMPING     1e-3  // at the start of a search
#define MAX_DAMPING 1e12
#define SAME_COST   0.01  // ends with a cost this close to the best, ...
#define SAME_VALUE  0.01  // ... and values this close, are the same

struct yoke_heat_run {
  const yoke_estimate_setup* setup;
  const yoke_estimate_record* record;
  yoke_heat_model model;
  size_t first, end;
  double *v, *z, *z_next, *x, *drive;  // inputs of a step, temperatures
  double *slope, *E, *Psi1, *Psi2, *G, *G2, *work;
  double* offsets;  // of the sensors
};

yoke_status yoke__heat_run_prepare(const yoke_estimate_setup* setup,
                                   const yoke_estimate_record* record, yoke_arena* arena,
                                   yoke_heat_run** out, const yoke_sink* sink) {
  yoke_heat_run* run = yoke__arena_array(arena, 1, sizeof *run);
  YOKE_TRY_MEMORY(run);
  run->setup = setup;
  run->record = record;
  run->first = record->first;

  // [first, end): the window in which residuals count; the run before
  // it only brings the state there
  run->end = record->end > 0 && record->end < record->n ? record->end : record->n;
  YOKE_TRY(yoke__heat_model_prepare(setup->network, setup->g, setup->c, arena, &run->model, sink));
  const size_t p = run->model.p, r = run->model.r;
  run->v = yoke__arena_array(arena, r + 1, sizeof(double));
  run->z = yoke__arena_array(arena, p, sizeof(double));
  run->z_next = yoke__arena_array(arena, p, sizeof(double));
  run->x = yoke__arena_array(arena, run->model.n_nodes, sizeof(double));
  run->E = yoke__arena_array(arena, p * p, sizeof(double));
  run->Psi1 = yoke__arena_array(arena, p * p, sizeof(double));
  run->Psi2 = yoke__arena_array(arena, p * p, sizeof(double));
  run->G = yoke__arena_array(arena, p * r + 1, sizeof(double));
  run->G2 = yoke__arena_array(arena, p * r + 1, sizeof(double));
  run->slope = yoke__arena_array(arena, r + 1, sizeof(double));
  run->work = yoke__arena_array(arena, yoke__discrete_work_size(p), sizeof(double));
  run->offsets = yoke__arena_array(arena, setup->n_sensors + 1, sizeof(double));
  *out = run;
  return yoke__arena_status(arena);
}

static double factor_of(const yoke_unknown* u, size_t target) {
  return u->factors != NULL ? u->factors[target] : 1.0;
}

// elements of the model and offsets of the sensors from the values of the unknowns
static void set_values(yoke_heat_run* run, const double values[]) {
  const yoke_estimate_setup* setup = run->setup;
  memset(run->offsets, 0, (setup->n_sensors + 1) * sizeof *run->offsets);
  for (size_t i = 0; i < setup->n_unknowns; i++) {
    const yoke_unknown* u = &setup->unknowns[i];
    for (size_t k = 0; k < u->n_targets; k++) {
      const uint32_t at = u->targets[k];
      switch (u->kind) {
      case YOKE_UNKNOWN_RESISTANCE:
      case YOKE_UNKNOWN_CONDUCTANCE:
        // g = 1 / (factor R)
        run->model.g[at] = 1 / (factor_of(u, k) * values[i]);
        break;
      case YOKE_UNKNOWN_CAPACITY:
        run->model.c[at] = factor_of(u, k) * values[i];
        break;
      case YOKE_UNKNOWN_OFFSET:
        run->offsets[at] = factor_of(u, k) * values[i];
        break;
      case YOKE_UNKNOWN_INPUT:
        break;
      }
    }
  }
}

// row k of inputs, with the values of those that are unknown
static void set_inputs(yoke_heat_run* run, const double values[], const double rows[], size_t k) {
  const yoke_estimate_setup* setup = run->setup;
  const size_t r = run->model.r;
  if (r > 0) {
    memcpy(run->v, rows + k * r, r * sizeof *run->v);
  }
  for (size_t i = 0; i < setup->n_unknowns; i++) {
    const yoke_unknown* u = &setup->unknowns[i];
    for (size_t t = 0; u->kind == YOKE_UNKNOWN_INPUT && t < u->n_targets; t++) {
      // input = factor theta, in place of the measured one
      run->v[u->targets[t]] = factor_of(u, t) * values[i];
    }
  }
}

// unknown inputs have none
static void set_slope(yoke_heat_run* run, size_t k) {
  const yoke_estimate_setup* setup = run->setup;
  const size_t r = run->model.r;
  memcpy(run->slope, run->record->slope + k * r, r * sizeof *run->slope);
  for (size_t i = 0; i < setup->n_unknowns; i++) {
    const yoke_unknown* u = &setup->unknowns[i];
    for (size_t t = 0; u->kind == YOKE_UNKNOWN_INPUT && t < u->n_targets; t++) {
      run->slope[u->targets[t]] = 0;
    }
  }
}

static void read_sensors(yoke_heat_run* run, size_t k, double residuals[]) {
  const yoke_estimate_setup* setup = run->setup;
  yoke__heat_model_temperatures(&run->model, run->z, run->v, run->x);
  for (size_t j = 0; j < setup->n_sensors; j++) {
    const yoke_sensor* sensor = &setup->sensors[j];
    const double reading = run->record->readings[k * setup->n_sensors + j];
    const double expected =
        yoke__heat_row_value(&run->model, sensor->row, run->x, run->v) + run->offsets[j];
    // weighted residual r = (z - y) / sigma; a missing reading weighs nothing
    residuals[j] = isfinite(reading) ? (reading - expected) / sensor->sigma : 0;
  }
}

static yoke_status start_run(yoke_heat_run* run, const double values[]) {
  const size_t p = run->model.p, r = run->model.r;
  set_values(run, values);
  YOKE_TRY(yoke__heat_model_update(&run->model));
  YOKE_TRY(
      yoke__discrete(p, run->model.Fc, run->setup->h, run->E, run->Psi1, run->Psi2, run->work));
  if (r > 0) {
    // G = Psi1 Gc, G2 = Psi2 Gc
    yoke__mat_mul(p, p, r, run->Psi1, run->model.Gc, run->G);
    yoke__mat_mul(p, p, r, run->Psi2, run->model.Gc, run->G2);
  }
  set_inputs(run, values, run->record->v, 0);

  // without a state at the start: that of rest under the first inputs
  if (run->record->z == NULL) {
    return yoke__heat_model_rest(&run->model, run->v, run->z);
  }
  memcpy(run->z, run->record->z, p * sizeof *run->z);
  return YOKE_OK;
}

// z to step k + 1
static void move(yoke_heat_run* run, const double values[], size_t k) {
  const yoke_estimate_record* record = run->record;
  const size_t p = run->model.p, r = run->model.r;

  // z_(k+1) = E z_k + G v_k + G2 v'_k
  yoke__mat_vec(p, p, run->E, run->z, run->z_next);
  if (r > 0 && record->line != NULL) {
    set_inputs(run, values, record->line, k);
  }
  if (r > 0) {
    yoke__mat_vec_add(p, r, run->G, run->v, run->z_next);
  }
  if (r > 0 && record->slope != NULL) {
    set_slope(run, k);
    yoke__mat_vec_add(p, r, run->G2, run->slope, run->z_next);
  }
  memcpy(run->z, run->z_next, p * sizeof *run->z);
}

yoke_status yoke__heat_run(yoke_heat_run* run, const double values[], double residuals[],
                           double z[]) {
  const size_t p = run->model.p;

  // without residuals only the state at the first step of the window is wanted
  const size_t last = residuals != NULL ? run->end : run->first + 1;
  YOKE_TRY(start_run(run, values));
  for (size_t k = 0; k < last; k++) {
    set_inputs(run, values, run->record->v, k);
    if (k == run->first && z != NULL) {
      memcpy(z, run->z, p * sizeof *z);
    }
    if (k >= run->first && residuals != NULL) {
      read_sensors(run, k, residuals + (k - run->first) * run->setup->n_sensors);
    }
    move(run, values, k);
  }

  // an unstable guess has no cost
  for (size_t i = 0; i < p; i++) {
    if (!isfinite(run->z[i])) {
      return YOKE_DIVERGED;
    }
  }
  return YOKE_OK;
}

// -------------------------------------------------------------------------------------------------
// the search: s are the values, or their logarithms

typedef struct fit {
  const yoke_estimate_setup* setup;
  yoke_heat_run* run;
  size_t n, n_residuals, n_readings;
  double *s, *s_try, *values, *lower, *upper;
  double *residuals, *residuals_try, *plus, *J;  // J: n x n_residuals
  double *A, *A_try, *b, *d;
  size_t* pivots;
} fit;

static bool is_logarithmic(const yoke_unknown* u) {
  // positive and unknown over decades: steps in ln R are relative ones
  return u->kind == YOKE_UNKNOWN_RESISTANCE || u->kind == YOKE_UNKNOWN_CONDUCTANCE ||
         u->kind == YOKE_UNKNOWN_CAPACITY;
}

static void to_values(const fit* f, const double s[], double values[]) {
  for (size_t i = 0; i < f->n; i++) {
    values[i] = is_logarithmic(&f->setup->unknowns[i]) ? exp(s[i]) : s[i];
  }
}

// size of a difference of s
static double step_of(const fit* f, size_t i) {
  const yoke_unknown* u = &f->setup->unknowns[i];

  // relative to what an unknown moves by, where its value is 0
  return is_logarithmic(u) ? STEP : STEP * fmax(fabs(f->s[i]), fmax(u->sd, 1e-12));
}

static double cost_of(const fit* f, const double residuals[]) {
  double sum = 0;
  for (size_t i = 0; i < f->n_residuals; i++) {
    // mean of r^2: 1 where model and noise are right
    sum += residuals[i] * residuals[i];
  }
  return sum / (double)f->n_readings;
}

static yoke_status find_jacobian(fit* f) {
  // central differences, error O(step^2): J_i = (r(s + h) - r(s - h)) / 2 h
  for (size_t i = 0; i < f->n; i++) {
    const double at = f->s[i], step = step_of(f, i);
    double* column = f->J + i * f->n_residuals;
    f->s[i] = at + step;
    to_values(f, f->s, f->values);
    yoke_status status = yoke__heat_run(f->run, f->values, f->plus, NULL);
    f->s[i] = at - step;
    to_values(f, f->s, f->values);
    status = status < 0 ? status : yoke__heat_run(f->run, f->values, column, NULL);
    f->s[i] = at;
    YOKE_TRY(status);
    for (size_t k = 0; k < f->n_residuals; k++) {
      column[k] = (f->plus[k] - column[k]) / (2 * step);
    }
  }
  return YOKE_OK;
}

// A = J'J, b = -J'r
static void find_normal(fit* f) {
  for (size_t i = 0; i < f->n; i++) {
    const double* a = f->J + i * f->n_residuals;
    double sum = 0;
    for (size_t k = 0; k < f->n_residuals; k++) {
      sum -= a[k] * f->residuals[k];
    }
    f->b[i] = sum;
    // A = J'J is symmetric: lower half and its mirror image
    for (size_t j = 0; j <= i; j++) {
      const double* c = f->J + j * f->n_residuals;
      double product = 0;
      for (size_t k = 0; k < f->n_residuals; k++) {
        product += a[k] * c[k];
      }
      f->A[i * f->n + j] = f->A[j * f->n + i] = product;
    }
  }
}

// a damped step from s to s_try, kept within the bounds; its largest part relative to what it moves
static yoke_status try_step(fit* f, double damping, double* change) {
  const size_t n = f->n;

  // Levenberg and Marquardt: (J'J + damping diag(J'J)) d = -J'r
  memcpy(f->A_try, f->A, n * n * sizeof *f->A);
  memcpy(f->d, f->b, n * sizeof *f->d);
  for (size_t i = 0; i < n; i++) {
    // an unknown that nothing tells of stays where it is
    const double size = f->A[i * n + i];
    f->A_try[i * n + i] += size > 0 ? damping * size : 1;
  }
  YOKE_TRY(yoke__solve(n, f->A_try, f->d, f->pivots));
  *change = 0;
  for (size_t i = 0; i < n; i++) {
    const yoke_unknown* u = &f->setup->unknowns[i];
    const double most = is_logarithmic(u) ? 2.3 : (double)INFINITY;  // a factor of ten
    const double d = fmin(fmax(f->d[i], -most), most);
    f->s_try[i] = fmin(fmax(f->s[i] + d, f->lower[i]), f->upper[i]);
    const double scale = is_logarithmic(u) ? 1 : fmax(fabs(f->s[i]), u->sd);
    *change = fmax(*change, fabs(f->s_try[i] - f->s[i]) / fmax(scale, 1e-300));
  }
  return YOKE_OK;
}

// from f->s to a minimum nearby
static yoke_status search(fit* f, const yoke_fit_settings* settings, double* cost,
                          size_t* n_iterations, bool* is_converged) {
  *is_converged = false;
  *n_iterations = 0;
  to_values(f, f->s, f->values);
  YOKE_TRY(yoke__heat_run(f->run, f->values, f->residuals, NULL));
  *cost = cost_of(f, f->residuals);
  double damping = DAMPING;
  for (size_t k = 0; k < settings->n_iterations && !*is_converged; k++) {
    YOKE_TRY(find_jacobian(f));
    find_normal(f);
    bool is_better = false;
    while (!is_better && !*is_converged && damping <= MAX_DAMPING) {
      // one linearisation, several lengths of step
      double change;
      if (try_step(f, damping, &change) < 0) {
        damping *= 10;
        continue;
      }
      to_values(f, f->s_try, f->values);
      const yoke_status status = yoke__heat_run(f->run, f->values, f->residuals_try, NULL);
      const double next = status < 0 ? (double)INFINITY : cost_of(f, f->residuals_try);
      // equal costs count: on a plateau the search goes on until the step is short
      is_better = next <= *cost;
      *is_converged = change <= settings->tolerance;
      if (is_better) {
        *cost = next;
        memcpy(f->s, f->s_try, f->n * sizeof *f->s);
        memcpy(f->residuals, f->residuals_try, f->n_residuals * sizeof *f->residuals);
        // a good step trusts the quadratic model more, a bad one less
        damping = fmax(damping / 10, 1e-12);
      } else {
        damping *= 10;
      }
    }
    (*n_iterations)++;
    if (damping > MAX_DAMPING) {
      *is_converged = true;  // no step, however short, makes it better
    }
  }
  return YOKE_OK;
}

static double random_number(uint64_t* seed) {
  // linear congruential generator of Knuth (MMIX); the upper 53 bits are used
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);

  // 2^52: [0, 2) - 1
  return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

// the guesses, later ones spread around them
static void choose_start(fit* f, const yoke_fit_settings* settings, size_t start, uint64_t* seed) {
  for (size_t i = 0; i < f->n; i++) {
    const yoke_unknown* u = &f->setup->unknowns[i];
    const double by = start == 0 ? 0 : random_number(seed);
    if (is_logarithmic(u)) {
      // elements spread evenly in the logarithm over spread^-1 .. spread
      f->s[i] = log(u->start) + by * log(settings->spread);
    } else {
      // three standard deviations to both sides
      f->s[i] = u->start + by * 3 * u->sd;
    }
    f->s[i] = fmin(fmax(f->s[i], f->lower[i]), f->upper[i]);
  }
}

// standard deviations from the Jacobian at the best values
static void find_deviations(fit* f, double sd[]) {
  const size_t n = f->n;
  if (find_jacobian(f) < 0) {
    for (size_t i = 0; i < n; i++) {
      sd[i] = (double)INFINITY;
    }
    return;
  }
  find_normal(f);
  to_values(f, f->s, f->values);

  // sd_i = sqrt((A^-1)_ii), A = J'J with weighted residuals
  for (size_t i = 0; i < n; i++) {
    memcpy(f->A_try, f->A, n * n * sizeof *f->A);
    memset(f->d, 0, n * sizeof *f->d);
    f->d[i] = 1;
    const bool is_solved = yoke__solve(n, f->A_try, f->d, f->pivots) >= 0 && f->d[i] > 0;
    // sd R = R sd(ln R)
    const double scale = is_logarithmic(&f->setup->unknowns[i]) ? f->values[i] : 1;
    sd[i] = is_solved ? scale * sqrt(f->d[i]) : (double)INFINITY;
  }
}

static yoke_status take_memory(fit* f, yoke_arena* arena) {
  const size_t n = f->n, m = f->n_residuals;
  f->s = yoke__arena_array(arena, n, sizeof(double));
  f->s_try = yoke__arena_array(arena, n, sizeof(double));
  f->values = yoke__arena_array(arena, n, sizeof(double));
  f->lower = yoke__arena_array(arena, n, sizeof(double));
  f->upper = yoke__arena_array(arena, n, sizeof(double));
  f->b = yoke__arena_array(arena, n, sizeof(double));
  f->d = yoke__arena_array(arena, n, sizeof(double));
  f->A = yoke__arena_array(arena, n * n, sizeof(double));
  f->A_try = yoke__arena_array(arena, n * n, sizeof(double));
  f->pivots = yoke__arena_array(arena, n, sizeof *f->pivots);
  f->residuals = yoke__arena_array(arena, m, sizeof(double));
  f->residuals_try = yoke__arena_array(arena, m, sizeof(double));
  f->plus = yoke__arena_array(arena, m, sizeof(double));
  f->J = yoke__arena_array(arena, n * m, sizeof(double));
  YOKE_TRY(yoke__arena_status(arena));
  for (size_t i = 0; i < n; i++) {
    const yoke_unknown* u = &f->setup->unknowns[i];
    const bool is_log = is_logarithmic(u);
    // a bound at 0 lies at minus infinity
    f->lower[i] = is_log ? (u->lower > 0 ? log(u->lower) : -(double)INFINITY) : u->lower;
    f->upper[i] = is_log ? log(u->upper) : u->upper;
  }
  return YOKE_OK;
}

static size_t count_readings(const fit* f, const yoke_estimate_record* record) {
  size_t n = 0;
  for (size_t i = 0; i < f->n_residuals; i++) {
    n += isfinite(record->readings[f->run->first * f->setup->n_sensors + i]) ? 1 : 0;
  }
  return n;
}

// one end: is it the best so far, or the same as the best?
static void keep_end(const fit* f, double cost, size_t n_iterations, bool is_converged,
                     double best_s[], yoke_fit_result* result) {
  const bool is_first = result->n_good == 0;

  // cost and values agree: the same minimum found from another start
  bool is_same = !is_first && fabs(cost - result->cost) <= SAME_COST * result->cost;
  for (size_t i = 0; is_same && i < f->n; i++) {
    const bool is_log = is_logarithmic(&f->setup->unknowns[i]);
    const double scale = is_log ? 1 : fmax(fabs(best_s[i]), f->setup->unknowns[i].sd);
    is_same = fabs(f->s[i] - best_s[i]) <= SAME_VALUE * scale;
  }
  if (is_first || cost < result->cost) {
    // a better minimum elsewhere: what was counted for the old one is void
    result->n_good = is_same ? result->n_good : 0;
    result->cost = cost;
    result->n_iterations = n_iterations;
    result->is_converged = is_converged;
    memcpy(best_s, f->s, f->n * sizeof *best_s);
    result->n_good++;
  } else if (is_same) {
    result->n_good++;
  }
}

static yoke_status run_starts(fit* f, const yoke_fit_settings* settings, double best_s[],
                              yoke_fit_result* result) {
  uint64_t seed = settings->seed;
  result->n_starts = result->n_good = 0;
  result->cost = (double)INFINITY;
  for (size_t start = 0; start < settings->n_starts; start++) {
    double cost;
    size_t n_iterations;
    bool is_converged;
    choose_start(f, settings, start, &seed);
    result->n_starts++;
    if (search(f, settings, &cost, &n_iterations, &is_converged) >= 0 && isfinite(cost)) {
      keep_end(f, cost, n_iterations, is_converged, best_s, result);
    }
  }
  return result->n_good > 0 ? YOKE_OK : YOKE_NO_CONVERGENCE;
}

yoke_fit_settings yoke__fit_default(void) {
  return (yoke_fit_settings){
      .n_starts = 8, .spread = 100, .tolerance = 1e-8, .n_iterations = 60, .seed = 1};
}

static yoke_status fit_in(fit* f, const yoke_estimate_record* record,
                          const yoke_fit_settings* settings, yoke_arena* arena,
                          yoke_fit_result* result, const yoke_sink* sink) {
  YOKE_TRY(yoke__heat_run_prepare(f->setup, record, arena, &f->run, sink));
  if (f->run->first >= f->run->end) {
    return yoke_fail(sink, YOKE_BAD_ARG, "there is no sample between step %zu and step %zu",
                     f->run->first, f->run->end);
  }
  f->n_residuals = (f->run->end - f->run->first) * f->setup->n_sensors;
  f->n_readings = count_readings(f, record);

  // fewer readings than unknowns leave J'J singular
  if (f->n_readings < f->n || f->n == 0) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%zu readings cannot tell %zu unknowns", f->n_readings,
                     f->n);
  }
  YOKE_TRY(take_memory(f, arena));
  double* best = yoke__arena_array(arena, f->n, sizeof *best);
  YOKE_TRY_MEMORY(best);
  if (run_starts(f, settings, best, result) < 0) {
    return yoke_fail(sink, YOKE_NO_CONVERGENCE, "no start of %zu led to a solution",
                     result->n_starts);
  }
  memcpy(f->s, best, f->n * sizeof *best);
  to_values(f, best, result->values);
  find_deviations(f, result->sd);
  result->at_bound = false;
  for (size_t i = 0; i < f->n; i++) {
    result->at_bound = result->at_bound || best[i] <= f->lower[i] || best[i] >= f->upper[i];
  }
  return result->is_converged ? YOKE_OK : YOKE_NO_CONVERGENCE;
}

yoke_status yoke__fit(const yoke_estimate_setup* setup, const yoke_estimate_record* record,
                      const yoke_fit_settings* settings, yoke_fit_result* result,
                      const yoke_sink* sink) {
  yoke_arena arena = {0};
  fit f = {.setup = setup, .n = setup->n_unknowns};
  const yoke_status status = fit_in(&f, record, settings, &arena, result, sink);
  yoke__arena_free(&arena);
  return status;
}
