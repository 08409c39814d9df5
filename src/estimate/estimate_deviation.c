// The filter on q = [d; b; e]: estimate_deviation.h has the equations. Until there is a model there is no d, and b = e.
#include "estimate/estimate_deviation.h"

#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "estimate/estimate_deviation_part.h"
#include "estimate/estimate_kalman.h"
#include "linalg/linalg_dense.h"

#define MOST_DOUBT  0.25          // relative error, squared: more would make readings worthless
#define USUAL_REACH 0.25          // deviations as large as those of the members that check
#define TINY        1e-6          // relative errors of models below this do not count
#define FORGET      (1.0 / 4096)  // of the errors of the model, per step

// Squares of the errors of predictions, and of what was predicted.
typedef struct fit {
  double odd, even, size;
} fit;

// Squares of errors of the model there is, and of the one that is tried.
typedef struct trial {
  double squares_now, squares_next, size;
} trial;

struct yoke_deviation {
  yoke_deviation_setup setup;
  size_t* place;  // per unknown: which input of the model it is; YOKE_NO_PLACE: it is slow
  size_t n_fast;

  yoke_motion motions[2];  // the one there is, and one that is tried
  size_t now;
  bool is_trial;
  trial* trials;  // per output

  size_t n;  // of q now
  double *q, *P, *F;
  double *H, *PH, *work, *mean_work;
  double* applied;

  double *innovations, *sds, *doubts;  // per sensor
  uint64_t* hits;                      // per unknown
  uint64_t n_gated;

  double* check_offset;  // sizes
  double reach;
  fit* fits;  // per output
};

// ---- memory

static void count_fast(yoke_deviation* f) {
  for (size_t j = 0; j < f->setup.n_unknowns; j++) {
    const yoke_deviation_unknown* u = &f->setup.unknowns[j];
    const bool is_fast = u->is_fast && u->sensor == YOKE_DEVIATION_OUTPUT;
    f->place[j] = is_fast ? f->n_fast++ : YOKE_NO_PLACE;
  }
}

yoke_deviation* yoke__deviation_prepare(const yoke_deviation_setup* setup, yoke_arena* arena) {
  const size_t m = setup->n_unknowns, p = setup->n_outputs, n = setup->max_order;
  const size_t most = n + 2 * m + 1;  // of q
  yoke_deviation* f = yoke__arena_take(arena, sizeof *f);
  yoke_deviation_unknown* unknowns = yoke__arena_array(arena, m + 1, sizeof *unknowns);
  yoke_deviation_sensor* sensors = yoke__arena_array(arena, setup->n_sensors + 1, sizeof *sensors);
  if (f == NULL || unknowns == NULL || sensors == NULL) {
    return NULL;
  }
  memcpy(unknowns, setup->unknowns, m * sizeof *unknowns);
  memcpy(sensors, setup->sensors, setup->n_sensors * sizeof *sensors);
  f->setup = *setup;
  f->setup.unknowns = unknowns;
  f->setup.sensors = sensors;
  f->place = yoke__arena_array(arena, m + 1, sizeof *f->place);
  yoke__motion_prepare(&f->motions[0], setup, arena);
  yoke__motion_prepare(&f->motions[1], setup, arena);
  f->trials = yoke__arena_array(arena, p + 1, sizeof *f->trials);
  double** const squares[] = {&f->P, &f->F};
  for (size_t i = 0; i < YOKE_COUNT(squares); i++) {
    *squares[i] = yoke__arena_array(arena, most * most, sizeof(double));
  }
  f->work = yoke__arena_array(arena, 2 * most * most, sizeof(double));  // of a prediction
  double** const vectors[] = {&f->q, &f->H, &f->PH, &f->mean_work, &f->applied, &f->check_offset};
  for (size_t i = 0; i < YOKE_COUNT(vectors); i++) {
    *vectors[i] = yoke__arena_array(arena, most, sizeof(double));
  }
  f->innovations = yoke__arena_array(arena, setup->n_sensors + 1, sizeof(double));
  f->sds = yoke__arena_array(arena, setup->n_sensors + 1, sizeof(double));
  f->doubts = yoke__arena_array(arena, setup->n_sensors + 1, sizeof(double));
  f->hits = yoke__arena_array(arena, m + 1, sizeof *f->hits);
  f->fits = yoke__arena_array(arena, p + 1, sizeof *f->fits);
  if (yoke__arena_status(arena) < 0) {
    return NULL;
  }
  count_fast(f);
  yoke__deviation_start(f, NULL);
  return f;
}

// ---- places in q

static size_t order(const yoke_deviation* f) {
  return f->motions[f->now].model.order;
}

static size_t place_b(const yoke_deviation* f, size_t unknown) {
  return order(f) + unknown;
}

static size_t place_e(const yoke_deviation* f, size_t unknown) {
  return order(f) + f->setup.n_unknowns + unknown;
}

// Two unknowns that are one number at the start.
static void tie(yoke_deviation* f, size_t a, size_t b) {
  // b and e of the one have the covariance of b and e of the other
  const size_t m = f->setup.n_unknowns, rows[] = {a, m + a}, cols[] = {b, m + b};
  const double variance = f->P[a * f->n + a];
  for (size_t i = 0; i < 2; i++) {
    for (size_t j = 0; j < 2; j++) {
      f->P[rows[i] * f->n + cols[j]] = f->P[cols[j] * f->n + rows[i]] = variance;
    }
  }
}

void yoke__deviation_start(yoke_deviation* f, const double applied[]) {
  const size_t m = f->setup.n_unknowns, n = 2 * m;
  f->now = 0;
  f->is_trial = false;
  yoke__motion_clear(&f->motions[0], m);
  f->n = n;
  memset(f->q, 0, n * sizeof *f->q);
  memset(f->P, 0, n * n * sizeof *f->P);
  memset(f->hits, 0, m * sizeof *f->hits);
  memset(f->fits, 0, f->setup.n_outputs * sizeof *f->fits);
  memset(f->check_offset, 0, m * sizeof *f->check_offset);
  f->reach = 0.0;
  f->n_gated = 0;
  for (size_t j = 0; j < m; j++) {
    const double sd = f->setup.unknowns[j].sd;
    const double start = f->setup.unknowns[j].start;
    f->applied[j] = applied == NULL ? start : applied[j];
    // at the start b = e = theta - applied, fully correlated: nothing has moved yet
    f->q[j] = f->q[m + j] = start - f->applied[j];
    f->P[j * n + j] = f->P[j * n + m + j] = sd * sd;
    f->P[(m + j) * n + j] = f->P[(m + j) * n + m + j] = sd * sd;
  }
  for (size_t j = 0; j < m; j++) {
    if (f->setup.unknowns[j].start_of > 0) {
      tie(f, j, f->setup.unknowns[j].start_of - 1);
    }
  }
  for (size_t i = 0; i < f->setup.n_sensors; i++) {
    f->innovations[i] = f->sds[i] = f->doubts[i] = (double)NAN;
  }
}

// ---- models

// q and P in the new basis: q := [T d; b; e].
static void change_basis(yoke_deviation* f, const yoke_deviation_renewal* r) {
  const size_t n_d = r->model.order, old_d = order(f), n_rest = 2 * f->setup.n_unknowns;
  const size_t n0 = f->n, n1 = n_d + n_rest;
  double* S = f->F;  // n1 x n0
  memset(S, 0, n1 * n0 * sizeof *S);
  for (size_t i = 0; i < n_d && old_d > 0; i++) {
    memcpy(S + i * n0, r->transfer + i * old_d, old_d * sizeof *S);
  }
  for (size_t j = 0; j < n_rest; j++) {
    S[(n_d + j) * n0 + old_d + j] = 1.0;
  }
  yoke__mat_vec(n1, n0, S, f->q, f->mean_work);
  memcpy(f->q, f->mean_work, n1 * sizeof *f->q);

  // P := S P S', upper half first
  double* W = f->work;
  yoke__mat_mul(n1, n0, n0, S, f->P, W);
  for (size_t i = 0; i < n1; i++) {
    for (size_t j = i; j < n1; j++) {
      double sum = 0.0;
      for (size_t l = 0; l < n0; l++) {
        sum += W[i * n0 + l] * S[j * n0 + l];
      }
      f->P[i * n1 + j] = f->P[j * n1 + i] = sum;
    }
  }
  f->n = n1;
}

void yoke__deviation_try(yoke_deviation* f, const yoke_deviation_renewal* renewal) {
  yoke__motion_take(&f->motions[1 - f->now], renewal, &f->motions[f->now], f->setup.n_unknowns);
  f->is_trial = true;
  memset(f->trials, 0, f->setup.n_outputs * sizeof *f->trials);
}

double yoke__deviation_trial(const yoke_deviation* f) {
  double worst = (double)NAN;
  for (size_t o = 0; o < f->setup.n_outputs; o++) {
    const trial* at = &f->trials[o];
    // errors below TINY of what was predicted do not decide between two models
    const double tiny = TINY * TINY * at->size;
    const double ratio = (at->squares_next + tiny) / (at->squares_now + tiny);
    // the worst output decides; a NaN is passed over
    worst = !(ratio <= worst) && !isnan(ratio) ? ratio : worst;
  }
  return worst;
}

void yoke__deviation_adopt(yoke_deviation* f, const yoke_deviation_renewal* renewal) {
  change_basis(f, renewal);
  f->now = 1 - f->now;
  f->is_trial = false;
}

const yoke_low_model* yoke__deviation_model(const yoke_deviation* f) {
  return &f->motions[f->now].model;
}

// ---- what the filter expects

typedef struct expected {
  double value;     // deviation of the output, second order included
  double variance;  // that H does not see: of the second order, and of the errors of the model
} expected;

static bool acts_on_unit(const yoke_deviation* f, size_t unknown) {
  return f->setup.unknowns[unknown].sensor == YOKE_DEVIATION_OUTPUT;
}

// How much larger the deviation is than the offsets from which r and c are measured: the largest of all unknowns, squared.
static double reach(const yoke_deviation* f) {
  double most = 0.0;

  // the check members go as far as check_offset, the members of r and c twice as far
  for (size_t j = 0; j < f->setup.n_unknowns; j++) {
    const size_t b = place_b(f, j);
    const double offset = 2.0 * f->check_offset[j], square = f->q[b] * f->q[b];
    most = offset > 0.0 ? fmax(most, square / (offset * offset)) : most;
  }
  return most;
}

// Relative error of the model, squared. The odd part is that of the motion, which is relative, and that of the third order: between
// the offsets it is like that of the members that check, which go half as far, and beyond them it grows with the square of the
// deviation. The even part, of products, grows with the deviation.
static double relative_error(const yoke_deviation* f, size_t output, double reach) {
  const fit* at = &f->fits[output];

  // reach is 1/4 where the check was made: the even part, squared, grows like reach / (1/4)
  return at->size > 0.0
             ? (at->odd * fmax(1.0, 2.0 * reach * reach) + at->even * 4.0 * reach) / at->size
             : 0.0;
}

// H: n.
static expected expect(const yoke_deviation* f, const yoke_deviation_point* point, size_t output,
                       double H[]) {
  const size_t n_d = order(f), m = f->setup.n_unknowns;
  expected out = {0.0, 0.0};
  memset(H, 0, f->n * sizeof *H);

  // H = [C, r + c b, 0]: output over d and b
  for (size_t i = 0; i < n_d; i++) {
    H[i] = f->motions[f->now].model.C[output * n_d + i];
    out.value += H[i] * f->q[i];
  }
  for (size_t j = 0; j < m; j++) {
    if (!acts_on_unit(f, j)) {
      continue;
    }
    const size_t at = place_b(f, j);
    // y - y_0 = C d + r b + (c/2) b^2, its mean over b ~ N(b, P): (c/2) (b^2 + P)
    const double r = point->live[output * m + j], b = f->q[at], P = f->P[at * f->n + at];
    const double c = point->curve == NULL ? 0.0 : point->curve[output * m + j];
    // beyond the offsets a parabola would be wrong: a line goes on from there
    const double most = 2.0 * f->check_offset[j], near = fmin(fmax(b, -most), most);
    const double spread = fmin(P, most * most);
    H[at] = r + c * near;
    // near (b - near / 2) is b^2 / 2 within the offsets and its tangent beyond
    out.value += r * b + c * (near * b - 0.5 * near * near + 0.5 * spread);
    // what H does not see of the variance of (c/2) b^2, b normal: c^2 P^2 / 2
    out.variance += 0.5 * c * c * spread * spread;
  }

  // a relative error of the model is one of the whole deviation, known or not: of its mean square
  const double P = yoke__kalman_variance(f->n, f->P, H, 0.0, f->PH);
  out.variance +=
      fmin(MOST_DOUBT, relative_error(f, output, USUAL_REACH)) * (out.value * out.value + P);
  return out;
}

// ---- correction

static void keep_bounds(yoke_deviation* f) {
  for (size_t j = 0; j < f->setup.n_unknowns; j++) {
    const yoke_deviation_unknown* u = &f->setup.unknowns[j];
    double* e = &f->q[place_e(f, j)];
    const double theta = f->applied[j] + *e;
    const double kept = fmin(fmax(theta, u->lower), u->upper);
    // a bound is kept by moving e; a slow unknown has b = e
    if (kept != theta && yoke__is_finite(theta)) {
      *e = kept - f->applied[j];
      if (f->place[j] == YOKE_NO_PLACE) {
        f->q[place_b(f, j)] = *e;
      }
      f->hits[j]++;
    }
  }
}

static yoke_status take_reading(yoke_deviation* f, const yoke_deviation_point* point, size_t s,
                                double reading) {
  const yoke_deviation_sensor* sensor = &f->setup.sensors[s];
  expected at = expect(f, point, sensor->output, f->H);

  // the offset of a sensor is added to its reading: H has a 1 at its e
  for (size_t j = 0; j < f->setup.n_unknowns; j++) {
    if (f->setup.unknowns[j].sensor == s) {
      f->H[place_e(f, j)] = 1.0;
      at.value += f->applied[j] + f->q[place_e(f, j)];
    }
  }

  // R = sigma^2 + variance of what the linear model leaves out
  const double r = sensor->sigma * sensor->sigma + at.variance;

  // e = z - (y_0 + H q), S = H P H' + R
  const double innovation = reading - (point->y[sensor->output] + at.value);
  const double S = yoke__kalman_variance(f->n, f->P, f->H, r, f->PH);
  f->innovations[s] = innovation;
  f->sds[s] = sqrt(S);

  // share of the variance that is doubt about the model
  f->doubts[s] = at.variance / S;

  // gate: |e| > g sqrt(S) is an outlier, not a reading
  if (f->setup.gate > 0.0 && fabs(innovation) > f->setup.gate * f->sds[s]) {
    f->n_gated++;
    return YOKE_OK;
  }
  return yoke__kalman_correct(f->n, f->q, f->P, f->H, r, innovation, S, f->PH, f->work);
}

yoke_status yoke__deviation_correct(yoke_deviation* f, const yoke_deviation_point* point,
                                    const double readings[], const bool have[]) {
  // before the readings, for what they are expected to show; again after them, for the next step
  f->reach = reach(f);
  for (size_t s = 0; s < f->setup.n_sensors; s++) {
    f->innovations[s] = f->sds[s] = (double)NAN;
    if (have[s] && yoke__is_finite(readings[s]) && take_reading(f, point, s, readings[s]) < 0) {
      return YOKE_DIVERGED;
    }
  }
  keep_bounds(f);
  f->reach = reach(f);
  return yoke__are_finite(f->n, f->q) ? YOKE_OK : YOKE_DIVERGED;
}

// ---- prediction

// Rows of d and b.
static void fill_motion(yoke_deviation* f) {
  const yoke_motion* motion = &f->motions[f->now];
  const size_t n_d = motion->model.order, m = motion->model.n_inputs, n = f->n;

  // rows of [d; b]; e keeps its row of the identity
  memset(f->F, 0, (n_d + f->setup.n_unknowns) * n * sizeof *f->F);
  for (size_t i = 0; i < n_d; i++) {
    memcpy(f->F + i * n, motion->model.A + i * n_d, n_d * sizeof *f->F);
  }
  for (size_t j = 0; j < f->setup.n_unknowns; j++) {
    // d+ = A d + G (e - b), G = B - k x+
    const size_t u = f->place[j], b = place_b(f, j), e = place_e(f, j);
    for (size_t i = 0; i < n_d && u != YOKE_NO_PLACE; i++) {
      f->F[i * n + e] = motion->G[i * m + u];
      f->F[i * n + b] = -motion->G[i * m + u];
    }
    // b+ = b + k (e - b); k = 1: b = e
    const double k = u == YOKE_NO_PLACE ? 1.0 : motion->k;
    f->F[b * n + b] = 1.0 - k;
    f->F[b * n + e] = k;
  }
}

yoke_status yoke__deviation_predict(yoke_deviation* f, const double shift[]) {
  const size_t m = f->setup.n_unknowns, n = f->n, n_moving = order(f) + m;

  // theta = applied + e stays what it was: e moves against applied
  for (size_t j = 0; j < m; j++) {
    f->applied[j] += shift[j];
    f->q[place_e(f, j)] -= shift[j];
  }
  yoke__motion_step(&f->motions[f->now]);
  if (f->is_trial) {
    yoke__motion_step(&f->motions[1 - f->now]);
  }
  fill_motion(f);

  // q := F q, P := F P F' + Q; Q only has the walks of e
  yoke__mat_vec(n_moving, n, f->F, f->q, f->mean_work);
  memcpy(f->q, f->mean_work, n_moving * sizeof *f->q);
  yoke__kalman_predict_rows(n, n_moving, f->F, NULL, f->P, f->work);
  for (size_t j = 0; j < m; j++) {
    // variance of a random walk after h: walk^2 h
    const double walk = f->setup.unknowns[j].walk;
    f->P[place_e(f, j) * (n + 1)] += walk * walk * f->setup.h;
  }
  return yoke__are_finite(n, f->q) ? YOKE_OK : YOKE_DIVERGED;
}

// ---- check of the model

static void add_fit(fit* at, double odd, double even, double size) {
  // sums with a memory of 4096 steps
  at->odd += odd * odd - FORGET * at->odd;
  at->even += even * even - FORGET * at->even;
  at->size += size * size - FORGET * at->size;
}

// Odd part of the difference, by a model; *even: what the curves say.
static double predict_check(const yoke_deviation* f, const yoke_motion* motion,
                            const yoke_deviation_point* point, size_t output, double* even) {
  double odd = yoke__motion_output(motion, output);
  *even = 0.0;
  for (size_t j = 0; j < f->setup.n_unknowns; j++) {
    const size_t at = output * f->setup.n_unknowns + j;
    // unknowns that do not act on the unit have no offset in the check members
    const double b = acts_on_unit(f, j) ? motion->b[j] : 0.0;
    odd += point->live[at] * b;
    // 1/2 c b^2 per unknown; products of two unknowns are what this leaves out
    *even += point->curve == NULL ? 0.0 : 0.5 * point->curve[at] * b * b;
  }
  return odd;
}

void yoke__deviation_check(yoke_deviation* f, const yoke_deviation_point* point,
                           const double offset[], const double plus[], const double minus[]) {
  const size_t m = f->setup.n_unknowns;
  yoke_motion *now = &f->motions[f->now], *next = &f->motions[1 - f->now];
  yoke__motion_check(now, f->place, m, offset);
  if (f->is_trial) {
    yoke__motion_check(next, f->place, m, offset);
  }
  for (size_t j = 0; j < m; j++) {
    f->check_offset[j] = fabs(offset[j]);
  }
  for (size_t o = 0; o < f->setup.n_outputs; o++) {
    // members at + and - offset: half the difference is odd in the offset, half the sum even
    const double size = 0.5 * (plus[o] - minus[o]);
    double even, unused;
    // odd part: linear and third order; the model's share of it is taken off
    const double error = size - predict_check(f, now, point, o, &even);
    // even part: curves and products; the curves are taken off
    add_fit(&f->fits[o], error, 0.5 * (plus[o] + minus[o]) - even, size);
    if (f->is_trial) {
      const double other = size - predict_check(f, next, point, o, &unused);
      f->trials[o].squares_now += error * error;
      f->trials[o].squares_next += other * other;
      f->trials[o].size += size * size;
    }
  }
}

double yoke__deviation_error(const yoke_deviation* f, size_t output) {
  const fit* at = &f->fits[output];
  return at->size > 0.0 ? sqrt((at->odd + at->even) / at->size) : (double)NAN;
}

double yoke__deviation_misfit(const yoke_deviation* f, const yoke_deviation_point* point,
                              size_t sensor) {
  const yoke_deviation_sensor* at = &f->setup.sensors[sensor];
  const double value = expect(f, point, at->output, f->H).value;
  return sqrt(relative_error(f, at->output, f->reach)) * fabs(value) / at->sigma;
}

double yoke__deviation_bias(const yoke_deviation* f, size_t unknown) {
  const size_t e = place_e(f, unknown);
  if (f->place[unknown] != YOKE_NO_PLACE || !acts_on_unit(f, unknown)) {
    return 0.0;
  }
  double worst = 0.0;
  for (size_t s = 0; s < f->setup.n_sensors; s++) {
    worst = fmax(worst, relative_error(f, f->setup.sensors[s].output, f->reach));
  }

  // error of the outputs carried over to the unknown: e times the relative error, over its sd
  return sqrt(worst / f->P[e * (f->n + 1)]) * fabs(f->q[e]);
}

// ---- results

double yoke__deviation_excursion(const yoke_deviation_unknown* u, double value, double t) {
  // |theta - guess| over the sd that guess and walk allow at t
  return fabs(value - u->start) / sqrt(u->sd * u->sd + u->walk * u->walk * t);
}

void yoke__deviation_output(const yoke_deviation* f, const yoke_deviation_point* point,
                            size_t output, double* value, double* sd) {
  const expected at = expect(f, point, output, f->H);
  *value = point->y[output] + at.value;
  *sd = sqrt(fmax(0.0, yoke__kalman_variance(f->n, f->P, f->H, at.variance, f->PH)));
}

void yoke__deviation_unknown_of(const yoke_deviation* f, size_t unknown, double* value,
                                double* sd) {
  const size_t e = place_e(f, unknown);
  *value = f->applied[unknown] + f->q[e];
  *sd = sqrt(fmax(0.0, f->P[e * f->n + e]));
}

double yoke__deviation_applied(const yoke_deviation* f, size_t unknown) {
  return f->applied[unknown];
}

double yoke__deviation_doubt(const yoke_deviation* f, size_t sensor) {
  return f->doubts[sensor];
}

void yoke__deviation_innovation(const yoke_deviation* f, size_t sensor, double* innovation,
                                double* sd) {
  *innovation = f->innovations[sensor];
  *sd = f->sds[sensor];
}

uint64_t yoke__deviation_gated(const yoke_deviation* f) {
  return f->n_gated;
}

uint64_t yoke__deviation_bound_hits(const yoke_deviation* f, size_t unknown) {
  return f->hits[unknown];
}

size_t yoke__deviation_size(const yoke_deviation* f) {
  return f->n;
}

const double* yoke__deviation_mean(const yoke_deviation* f) {
  return f->q;
}

const double* yoke__deviation_covariance(const yoke_deviation* f) {
  return f->P;
}
