// Constrained minimax design of a coupling element by Lawson's iteration.
//
// With the frequencies w_j the rows are A(j, i) = W_f K2 H L^i, L = a / (s + a), the target is b(j) = W_f, and E c = t are
// the constraints. c = c0 + N x with the solution c0 of smallest norm and a basis N of the null space; x is the
// weighted least squares solution, and the weights go to where the error is largest until it is equal there.
//
// W_f is evaluated at s = j w, K2 and L at Tustin's s = (2 / h) (z - 1) / (z + 1): these are what runs.
//
// Source: C. L. Lawson, Contributions to the theory of linear least maximum approximation, dissertation, UCLA 1961. Page:
// docs/synth.md, "Equations".
#include "synth/synth_design.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_dense.h"
#include "synth/synth_plant.h"

#define PI      3.14159265358979323846
#define N_GRID  ((size_t)500)
#define N_MAX   (YOKE_SYNTH_ORDER_MAX + 1)
#define N_RULES 3
#define SLOW    1e-3  // w Dt of a slow signal
#define CLOSE                                                                                      \
  1e-9  // times of a system file differ in their last bits; constraints hold within this

// ---- settings

static const char* const recipe_names[] = {"T", "L", "custom", "general"};

const char* yoke__synth_recipe_name(yoke_synth_recipe recipe) {
  return (size_t)recipe < YOKE_COUNT(recipe_names) ? recipe_names[recipe] : "?";
}

bool yoke__synth_recipe_find(const char* name, yoke_synth_recipe* recipe) {
  for (size_t i = 0; i < YOKE_COUNT(recipe_names); i++) {
    if (strcmp(name, recipe_names[i]) == 0) {
      *recipe = (yoke_synth_recipe)i;
      return true;
    }
  }
  return false;
}

yoke_synth_settings yoke__synth_settings_default(yoke_synth_recipe recipe, double interval,
                                                 double step) {
  // 3 Hz at 50 ms; nearer to pi / Dt no element is accurate
  yoke_synth_settings s = {.interval = interval,
                           .step = step,
                           .recipe = recipe,
                           .band_hz = 3 * (0.05 / interval),
                           .order = 4};
  if (recipe == YOKE_RECIPE_T) {
    s.smoother_hz = 5 / interval;
    s.pole = 15 / interval;
    s.is_transparent = true;
  } else if (recipe == YOKE_RECIPE_L) {
    s.smoother_hz = 50;
    s.pole = 40;
    s.band_hz = 3;
    s.order = 2;
  } else if (recipe == YOKE_RECIPE_GENERAL) {
    // explicit Euler at h follows real poles down to -2 / h, so with a margin; the smoother's poles are at Re = -0.7 w2
    s.smoother_hz = fmin(5 / interval, 0.1 / step);
    s.pole = 0.5 / step;
    s.order = YOKE_SYNTH_OPTIMUM_STATES;
  }
  return s;
}

static bool is_close(double a, double b) {
  return fabs(a - b) <= CLOSE * fabs(b);
}

static yoke_status check_positive(const char* what, double value, const char* dimension,
                                  const yoke_sink* sink) {
  if (!(value > 0) || !yoke__is_finite(value)) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "expected %s above 0 [%s], found %g", what, dimension,
                     value);
  }
  return YOKE_OK;
}

// That Dt is 2 h, 3 h, ...
static yoke_status check_times(const yoke_synth_settings* s, const yoke_sink* sink) {
  YOKE_TRY(check_positive("the exchange interval Dt", s->interval, "s", sink));
  YOKE_TRY(check_positive("the step h", s->step, "s", sink));
  const double ratio = s->interval / s->step;

  // M = Dt / h, 2 at least: with one step per interval there is nothing to smooth
  if (!(ratio > 1.5 && ratio <= YOKE_SYNTH_RATIO)) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "an element needs 2 to %d steps in an exchange interval: the step h = %g s is "
                     "called %g times in Dt = %g s",
                     YOKE_SYNTH_RATIO, s->step, ratio, s->interval);
  }
  if (!is_close(ratio, round(ratio))) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "the exchange interval Dt = %g s is not a multiple of the step h = %g s",
                     s->interval, s->step);
  }
  return YOKE_OK;
}

// No lead moves the poles of smoother and hold: with Pade's approximant of order 2 at Re = -3 / Dt.
static yoke_status check_region(const yoke_synth_settings* s, const yoke_sink* sink) {
  const double per_hz = YOKE_SYNTH_SMOOTHER_POLE, fast = YOKE_SYNTH_HOLD_POLE / s->interval;
  if (!(fast < s->pole)) {
    return yoke_fail(
        sink, YOKE_BAD_INPUT,
        "the model of the hold has poles at Re = -3 / Dt = %g, left of -P = -%g rad/s: choose a "
        "larger P, or with the default P = 0.5 / h more than 6 steps h per exchange interval Dt",
        -fast, s->pole);
  }
  if (!(per_hz * s->smoother_hz < s->pole)) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "the smoother at f2 = %g Hz has poles at Re = %g, left of -P = -%g rad/s: "
                     "choose f2 below %g Hz, or a larger P",
                     s->smoother_hz, -per_hz * s->smoother_hz, s->pole, s->pole / per_hz);
  }
  return YOKE_OK;
}

// The model of the hold knows no delay, and is one of the hold below pi / Dt only.
static yoke_status check_general(const yoke_synth_settings* s, const yoke_sink* sink) {
  if (s->delay > 0) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "recipe general does not support a delay, found %g s: use recipe L", s->delay);
  }
  if (s->is_transparent) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "recipe general is not transparent: use recipe T or custom");
  }
  if (!(s->band_hz < 0.5 / s->interval)) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "an exchange every %g s carries frequencies below %g Hz only: expected a band "
                     "f_w below that, found %g Hz",
                     s->interval, 0.5 / s->interval, s->band_hz);
  }
  return check_region(s, sink);
}

static yoke_status check_recipe(const yoke_synth_settings* s, const yoke_sink* sink) {
  const yoke_synth_settings d = yoke__synth_settings_default(s->recipe, s->interval, s->step);
  const char* name = yoke__synth_recipe_name(s->recipe);
  if (s->recipe == YOKE_RECIPE_CUSTOM) {
    return YOKE_OK;
  }
  if (s->recipe == YOKE_RECIPE_GENERAL) {
    return check_general(s, sink);
  }
  if (s->recipe == YOKE_RECIPE_T && !is_close(s->smoother_hz, d.smoother_hz)) {
    return yoke_fail(
        sink, YOKE_BAD_INPUT,
        "recipe T has the smoother frequency f2 = 5 / Dt = %g Hz, found %g; another one "
        "makes it custom",
        d.smoother_hz, s->smoother_hz);
  }
  if (!is_close(s->pole, d.pole)) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "recipe %s has the pole a = %g rad/s, found %g; another one makes it custom",
                     name, d.pole, s->pole);
  }
  if (s->order != d.order) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "recipe %s has the order n = %zu, found %zu; another one makes it custom",
                     name, d.order, s->order);
  }
  if (s->is_transparent != d.is_transparent) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "recipe %s is%s transparent; the other makes it custom",
                     name, d.is_transparent ? "" : " not");
  }
  return YOKE_OK;
}

static size_t count_rules(const yoke_synth_settings* s) {
  return s->is_transparent ? 3 : 2;
}

yoke_status yoke__synth_settings_check(const yoke_synth_settings* s, const yoke_sink* sink) {
  YOKE_TRY(check_times(s, sink));
  YOKE_TRY(check_positive("the smoother frequency f2", s->smoother_hz, "Hz", sink));
  YOKE_TRY(check_positive(s->recipe == YOKE_RECIPE_GENERAL ? "the pole region P" : "the pole a",
                          s->pole, "rad/s", sink));
  YOKE_TRY(check_positive("the band f_w", s->band_hz, "Hz", sink));
  if (!(s->delay >= 0) || !yoke__is_finite(s->delay)) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "expected a delay of 0 or more [s], found %g", s->delay);
  }
  const size_t most =
      s->recipe == YOKE_RECIPE_GENERAL ? YOKE_SYNTH_OPTIMUM_STATES : YOKE_SYNTH_ORDER_MAX;

  // as many coefficients as constraints at least
  if (s->order + 1 < count_rules(s) || s->order > most) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "expected an order n from %zu%s to %zu, found %zu",
                     count_rules(s) - 1, s->is_transparent ? " (transparent)" : "", most, s->order);
  }
  return check_recipe(s, sink);
}

// ---- responses

// j y; not every compiler has CMPLX
static double complex imaginary(double y) {
  return y * (double complex)I;
}

static double complex low_pass(double complex s, double hz) {
  // w^2 / (s^2 + 2 zeta w s + w^2)
  const double w = 2 * PI * hz;
  return w * w / (s * s + 2 * YOKE_SYNTH_DAMPING * w * s + w * w);
}

static double complex tustin(double w, double h) {
  // (z - 1) / (z + 1) of z = exp(j w h), without cancellation
  return imaginary(2 / h * tan(w * h / 2));
}

// The mean of the last M samples at the step h, M = Dt / h, which is what a held sample is to the receiver.
static double complex hold(const yoke_synth_settings* s, double w) {
  // sin(M x) / (M sin x) exp(-j (M - 1) x): M equal weights, then the delay
  const double M = round(s->interval / s->step), x = w * s->step / 2;
  const double gain = fabs(x) < 1e-9 ? 1 : sin(M * x) / (M * sin(x));
  return gain * cexp(imaginary(-((M - 1) * x + w * s->delay)));
}

static double complex lead_at(const yoke_synth_design* d, double w) {
  const yoke_synth_settings* s = &d->settings;
  if (d->element.filter.n > 0) {
    return yoke__synth_filter_response(&d->element.filter, cexp(imaginary(w * s->step)));
  }
  const double complex L = s->pole / (tustin(w, s->step) + s->pole);

  // Horner in L
  double complex sum = 0;
  for (size_t i = s->order + 1; i-- > 0;) {
    sum = sum * L + d->element.c[i];
  }
  return sum;
}

yoke_synth_point yoke__synth_response(const yoke_synth_design* d, double w) {
  const yoke_synth_settings* s = &d->settings;
  return (yoke_synth_point){lead_at(d, w), hold(s, w),
                            low_pass(tustin(w, s->step), s->smoother_hz)};
}

// The frequencies of the design: logarithmic, 0.01 / Dt to 0.999 pi / h.
static double grid_at(const yoke_synth_settings* s, size_t j) {
  // from far below the exchange rate to just below the Nyquist frequency of the step
  const double low = 0.01 / s->interval, high = 0.999 * PI / s->step;
  return low * pow(high / low, (double)j / (double)(N_GRID - 1));
}

// ---- constraints

// E c = t, in rows of similar size. Derivatives at s = 0, where Tustin's s is the true one up to s^3:
//   L^i: -i / a     1 / K2: 2 zeta / w2     1 / H: (Dt - h) / 2 + tau
// Returns their number.
static size_t list_rules(const yoke_synth_settings* s, double E[N_RULES * N_MAX],
                         double t[N_RULES]) {
  const size_t n = s->order + 1;
  const double zero[N_MAX] = {0};
  yoke_synth_element e;
  yoke__synth_element_init(&e, s->step, s->pole, s->smoother_hz, YOKE_SYNTH_DAMPING, s->order,
                           zero);
  double power = 1;

  // value, slope and direct gain of the lead, each row of size about 1
  for (size_t i = 0; i < n; i++) {
    E[i] = 1;
    E[n + i] = -(double)i;
    E[2 * n + i] = power;
    power *= e.g;
  }

  // K1(0) = 1; slope: the lead makes up for smoother, hold and delay; D1 D2 = 1
  t[0] = 1;
  t[1] = s->pole * (2 * YOKE_SYNTH_DAMPING / (2 * PI * s->smoother_hz) +
                    (s->interval - s->step) / 2 + s->delay);
  t[2] = 1 / yoke__synth_smoother_gain(&e);
  return count_rules(s);
}

void yoke__synth_constraints(const yoke_synth_settings* s, const double c[], double misses[3]) {
  double E[N_RULES * N_MAX], t[N_RULES];
  const size_t n = s->order + 1, n_rules = list_rules(s, E, t);
  misses[2] = 0;
  for (size_t k = 0; k < n_rules; k++) {
    double sum = -t[k];
    for (size_t i = 0; i < n; i++) {
      sum += E[k * n + i] * c[i];
    }
    misses[k] = sum / fmax(1, fabs(t[k]));
  }
}

// c0 (n) and N (n x (n - n_rules)) by the singular values of E with rows of 0 below it.
static yoke_status solve_rules(const yoke_synth_settings* s, double c0[N_MAX],
                               double N[N_MAX * N_MAX]) {
  double E[N_RULES * N_MAX], t[N_RULES], square[N_MAX * N_MAX] = {0}, U[N_MAX * N_MAX];
  double sigma[N_MAX], V[N_MAX * N_MAX];
  const size_t n = s->order + 1, n_rules = list_rules(s, E, t), n_free = n - n_rules;

  // square with rows of 0: the right vectors of these span the null space
  memcpy(square, E, n_rules * n * sizeof *E);
  double* work = malloc(yoke__svd_work_size(n, n) * sizeof *work);
  YOKE_TRY_MEMORY(work);
  const yoke_status status = yoke__svd(n, n, square, U, sigma, V, work);
  free(work);
  YOKE_TRY(status);

  // constraints that depend on each other leave no c, or any
  if (!(sigma[n_rules - 1] > DBL_EPSILON * (double)n * sigma[0])) {
    return YOKE_SINGULAR;
  }

  // c0 = V1 S^-1 U' t
  memset(c0, 0, n * sizeof *c0);
  for (size_t j = 0; j < n_rules; j++) {
    double part = 0;
    for (size_t k = 0; k < n_rules; k++) {
      part += U[k * n + j] * t[k];
    }
    for (size_t i = 0; i < n; i++) {
      c0[i] += V[i * n + j] * part / sigma[j];
    }
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n_free; j++) {
      // N: the remaining right vectors
      N[i * n_free + j] = V[i * n + n_rules + j];
    }
  }
  return YOKE_OK;
}

// ---- iteration

typedef struct lawson {
  size_t n, n_free;
  double c0[N_MAX], N[N_MAX * N_MAX];
  // real parts of all rows, then imaginary parts
  double B[2 * N_GRID * N_MAX];  // A N
  double r[2 * N_GRID];          // b - A c0
  double weight[N_GRID], error[N_GRID];
  double best[N_MAX], gamma;
  double weighted[2 * N_GRID * N_MAX], rest[2 * N_GRID];  // scratch
} lawson;

static void fill_rows(lawson* l, const yoke_synth_settings* s) {
  for (size_t j = 0; j < N_GRID; j++) {
    // row j: W_f K2 H L^i; rest: W_f - A c0
    const double w = grid_at(s, j);
    const double complex at = tustin(w, s->step), W = low_pass(imaginary(w), s->band_hz);
    const double complex path = W * low_pass(at, s->smoother_hz) * hold(s, w);
    double complex row[N_MAX], power = 1, r = W;
    for (size_t i = 0; i < l->n; i++) {
      row[i] = path * power;
      r -= row[i] * l->c0[i];
      power *= s->pole / (at + s->pole);
    }
    // complex least squares as real ones: real parts, then imaginary parts
    l->r[j] = creal(r);
    l->r[N_GRID + j] = cimag(r);
    for (size_t k = 0; k < l->n_free; k++) {
      double complex sum = 0;
      for (size_t i = 0; i < l->n; i++) {
        sum += row[i] * l->N[i * l->n_free + k];
      }
      l->B[j * l->n_free + k] = creal(sum);
      l->B[(N_GRID + j) * l->n_free + k] = cimag(sum);
    }
    l->weight[j] = 1.0 / (double)N_GRID;
  }
}

// x := the weighted least squares solution
static void solve_weighted(lawson* l, double x[N_MAX]) {
  double work[2 * N_MAX];
  for (size_t j = 0; j < 2 * N_GRID; j++) {
    // weights enter as roots
    const double root = sqrt(l->weight[j % N_GRID]);
    l->rest[j] = root * l->r[j];
    for (size_t k = 0; k < l->n_free; k++) {
      l->weighted[j * l->n_free + k] = root * l->B[j * l->n_free + k];
    }
  }
  (void)yoke__least_squares(2 * N_GRID, l->n_free, l->weighted, l->rest, x, DBL_EPSILON, work);
}

// The error at each frequency; returns the largest.
static double measure(lawson* l, const double x[N_MAX]) {
  double largest = 0;
  for (size_t j = 0; j < N_GRID; j++) {
    double re = l->r[j], im = l->r[N_GRID + j];
    for (size_t k = 0; k < l->n_free; k++) {
      re -= l->B[j * l->n_free + k] * x[k];
      im -= l->B[(N_GRID + j) * l->n_free + k] * x[k];
    }
    // |b - A c| at this frequency
    l->error[j] = hypot(re, im);
    largest = fmax(largest, l->error[j]);
  }
  return largest;
}

static void sweep(lawson* l) {
  double x[N_MAX] = {0};
  if (l->n_free > 0) {
    // without a free coefficient c0 is all there is
    solve_weighted(l, x);
  }
  const double largest = measure(l, x);

  // the iteration is not monotonous: the best so far is kept
  if (largest < l->gamma) {
    l->gamma = largest;
    for (size_t i = 0; i < l->n; i++) {
      l->best[i] = l->c0[i];
      for (size_t k = 0; k < l->n_free; k++) {
        l->best[i] += l->N[i * l->n_free + k] * x[k];
      }
    }
  }
  double sum = 0;

  // Lawson: weight_j := weight_j |e_j|, normalised
  for (size_t j = 0; j < N_GRID; j++) {
    l->weight[j] *= largest > 0 ? l->error[j] / largest : 1;
    sum += l->weight[j];
  }
  for (size_t j = 0; j < N_GRID; j++) {
    l->weight[j] /= sum;
  }
}

// The figures of the element that runs.
static void measure_element(yoke_synth_design* d) {
  const yoke_synth_settings* s = &d->settings;
  d->direct_gain = yoke__synth_lead_gain(&d->element) * yoke__synth_smoother_gain(&d->element);
  d->gamma = 0;
  d->largest_gain = 0;
  for (size_t j = 0; j < N_GRID; j++) {
    const double w = grid_at(s, j);
    const yoke_synth_point at = yoke__synth_response(d, w);
    // gamma = max |W_f (1 - K1 H K2)|
    d->gamma = fmax(
        d->gamma, cabs(low_pass(imaginary(w), s->band_hz) * (1 - at.lead * at.hold * at.smoother)));
    d->largest_gain = fmax(d->largest_gain, cabs(at.lead));
  }
  const double slow = SLOW / s->interval;

  // delay of a slow signal: -phase / w at w Dt = 1e-3
  const yoke_synth_point at = yoke__synth_response(d, slow);
  d->net_delay = -carg(at.lead * at.hold * at.smoother) / slow;
}

void yoke__synth_assess(yoke_synth_design* d, const double c[]) {
  const yoke_synth_settings* s = &d->settings;
  yoke__synth_element_init(&d->element, s->step, s->pole, s->smoother_hz, YOKE_SYNTH_DAMPING,
                           s->order, c);
  measure_element(d);
}

// ---- a general lead

static yoke_status check_model(const yoke_synth_design* d, yoke_synth_system K1,
                               const yoke_sink* sink) {
  double re[YOKE_SYNTH_ORDER_MAX], im[YOKE_SYNTH_ORDER_MAX], lowest = 0;

  // filter at z = 1
  const double miss = creal(yoke__synth_filter_response(&d->element.filter, 1)) - 1;
  if (!(fabs(miss) <= CLOSE)) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "the lead misses gain 1 at frequency 0 by %.3g", miss);
  }
  YOKE_TRY(yoke__system_poles(K1, re, im));
  for (size_t i = 0; i < K1.A.n_rows; i++) {
    lowest = fmin(lowest, re[i]);
  }
  if (!(lowest > -d->settings.pole * (1 + CLOSE))) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "with %zu states the lead has a pole at Re = %.6g, expected all right of -P = "
                     "-%g rad/s: keep more states, or choose a larger P",
                     d->model.n, lowest, d->settings.pole);
  }
  return YOKE_OK;
}

yoke_status yoke__synth_assess_model(yoke_synth_design* d, const yoke_sink* sink) {
  const yoke_synth_settings* s = &d->settings;
  yoke_synth_model* m = &d->model;
  const yoke_synth_system K1 = {
      false, {m->n, m->n, m->A}, {m->n, 1, m->B}, {1, m->n, m->C}, {1, 1, &m->D}};
  const yoke_synth_coupling coupling = {s->interval, s->smoother_hz,     YOKE_SYNTH_DAMPING,
                                        s->band_hz,  YOKE_SYNTH_DAMPING, YOKE_SYNTH_PADE};
  yoke_synth_filter filter;
  YOKE_TRY(yoke__synth_filter_init(&filter, K1, s->step, sink));
  yoke__synth_element_init_general(&d->element, s->step, &filter, s->smoother_hz,
                                   YOKE_SYNTH_DAMPING);
  yoke_status status = check_model(d, K1, sink);
  if (status >= 0) {
    status = yoke__synth_coupling_norm(&coupling, K1, &d->model_gamma);
  }
  if (status < 0) {
    return status == YOKE_BAD_INPUT
               ? status
               : yoke_fail(sink, status, "the lead has no norm: %s", yoke_status_text(status));
  }
  measure_element(d);
  return YOKE_OK;
}

yoke_status yoke__synth_design(const yoke_synth_settings* s, size_t n_sweeps,
                               yoke_synth_design* design, const yoke_sink* sink) {
  *design = (yoke_synth_design){.settings = *s};
  YOKE_TRY(yoke__synth_settings_check(s, sink));
  if (s->recipe == YOKE_RECIPE_GENERAL) {
    YOKE_TRY(yoke__synth_optimise(design, sink));
    return yoke__synth_assess_model(design, sink);
  }
  lawson* l = malloc(sizeof *l);
  if (l == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "%s", yoke_status_text(YOKE_NO_MEMORY));
  }
  l->n = s->order + 1;
  l->n_free = l->n - count_rules(s);
  l->gamma = (double)INFINITY;
  memset(l->best, 0, sizeof l->best);
  if (solve_rules(s, l->c0, l->N) >= 0) {
    fill_rows(l, s);
    // the weights only matter where something is free
    const size_t n = l->n_free > 0 ? n_sweeps : 1;
    for (size_t i = 0; i < n; i++) {
      sweep(l);
    }
  }
  yoke__synth_assess(design, l->best);
  const bool is_found = yoke__is_finite(l->gamma) != 0;
  double misses[3] = {0};
  yoke__synth_constraints(s, l->best, misses);
  free(l);

  // rounding of the constraints, or a least-squares problem without solution
  const double miss = fmax(fabs(misses[0]), fmax(fabs(misses[1]), fabs(misses[2])));
  if (!is_found || !(miss <= CLOSE)) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "no element has gain 1, slope 0%s with f2 = %g Hz, a = %g rad/s, n = %zu at "
                     "Dt = %g s, h = %g s and a delay of %g s: choose f2 and a nearer to 5 / Dt "
                     "and 15 / Dt%s",
                     s->is_transparent ? " and D1 D2 = 1" : "", s->smoother_hz, s->pole, s->order,
                     s->interval, s->step, s->delay,
                     s->delay > s->interval ? ", or shorten the delay" : "");
  }
  return YOKE_OK;
}
