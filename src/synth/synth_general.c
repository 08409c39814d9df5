// General H-infinity synthesis: bisection on gamma around the central element of synth_central.h.
//
// A discrete plant goes to a continuous one by z = (1 + s) / (1 - s), which keeps stability and the norm exactly, and its element comes
// back the same way. A pole at z = -1 would go to infinity: it is first moved by u = F y + u' with some small gain F, which K then
// contains: that changes which K belongs to a loop, not which loops there are.
//
// Source: Zhou, Doyle, Glover, Robust and Optimal Control, 1996, chapter 17, section 21.1.
#include "synth/synth_general.h"

#include <math.h>

#include "base/base_check.h"
#include "synth/synth_central.h"
#include "synth/synth_norm.h"

#define SMALLEST         1e-12  // gamma: relative to where the search starts
#define LARGEST          1e15
#define MAX_MARGIN       0.3   // of gamma above the smallest one, as a setting
#define LAST_MARGIN      30    // the largest tried where rounding spoils the elements below
#define NORM_DIGITS      1e-8  // tolerance of the norms
#define SLACK            1e-6  // of the norm above gamma: rounding
#define FAR              1e-2  // least gain of A + 1 relative to |A|: no pole near z = -1
#define PENALTY_START    1e-4  // relative to |D12|, or absolute without D12
#define PENALTY_STEPS    20    // factors of 4
#define PENALTY_PATIENCE 2     // penalties that do not improve
#define REGION_FACTORS   14    // of 2 above the smallest gamma
#define REGION_CLOSE     0.01  // of gamma

yoke_synth_general_settings yoke__synth_general_default(void) {
  return (yoke_synth_general_settings){
      .tolerance = 1e-6, .margin = 1e-3, .least_real = -(double)INFINITY};
}

// ---- plants

yoke_synth_general_plant
yoke__synth_plant_penalise(yoke_arena* w, const yoke_synth_general_plant* plant, double eps) {
  const yoke_synth_system* G = &plant->system;
  const size_t n = G->A.n_rows, m = G->D.n_columns, p1 = G->D.n_rows - plant->n_y;

  // a row eps u is added to z, so that D12 gets full column rank
  const yoke_matrix row = yoke__matrix_beside(w, yoke__matrix_zero(w, plant->n_u, m - plant->n_u),
                                              yoke__matrix_identity(w, plant->n_u, eps));
  const yoke_matrix C_top = yoke__matrix_above(w, yoke__matrix_block(w, G->C, 0, 0, p1, n),
                                               yoke__matrix_zero(w, plant->n_u, n));
  const yoke_matrix D_top = yoke__matrix_above(w, yoke__matrix_block(w, G->D, 0, 0, p1, m), row);
  const yoke_synth_system H = {
      G->is_discrete, yoke__matrix_copy(w, G->A), yoke__matrix_copy(w, G->B),
      yoke__matrix_above(w, C_top, yoke__matrix_block(w, G->C, p1, 0, plant->n_y, n)),
      yoke__matrix_above(w, D_top, yoke__matrix_block(w, G->D, p1, 0, plant->n_y, m))};
  return (yoke_synth_general_plant){H, plant->n_u, plant->n_y};
}

yoke_synth_general_plant yoke__synth_plant_weigh(yoke_arena* w,
                                                 const yoke_synth_general_plant* plant,
                                                 const yoke_synth_system* W_z,
                                                 const yoke_synth_system* W_w) {
  yoke_synth_system G = plant->system;
  const bool d = G.is_discrete;
  if (W_w != NULL) {
    // z~ = W_z z, w = W_w w~: weights outside, y and u pass
    const yoke_matrix u = yoke__matrix_identity(w, plant->n_u, 1);
    G = yoke__system_series(w, yoke__system_apart(w, *W_w, yoke__system_gain(w, d, u)), G);
  }
  if (W_z != NULL) {
    const yoke_matrix y = yoke__matrix_identity(w, plant->n_y, 1);
    G = yoke__system_series(w, G, yoke__system_apart(w, *W_z, yoke__system_gain(w, d, y)));
  }
  return (yoke_synth_general_plant){G, plant->n_u, plant->n_y};
}

// ---- checks

static bool has_size(yoke_matrix A, size_t n_rows, size_t n_columns) {
  return A.n_rows == n_rows && A.n_columns == n_columns;
}

static yoke_status check_sizes(const yoke_synth_general_plant* plant, const yoke_sink* sink) {
  const yoke_synth_system* G = &plant->system;
  const size_t n = G->A.n_rows, m = G->D.n_columns, p = G->D.n_rows;
  if (!has_size(G->A, n, n) || !has_size(G->B, n, m) || !has_size(G->C, p, n)) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "the plant's matrices do not fit: A %zu x %zu, B %zu x %zu, C %zu x %zu, "
                     "D %zu x %zu",
                     n, G->A.n_columns, G->B.n_rows, G->B.n_columns, G->C.n_rows, G->C.n_columns, p,
                     m);
  }
  if (plant->n_u == 0 || plant->n_u >= m || plant->n_y == 0 || plant->n_y >= p) {
    return yoke_fail(
        sink, YOKE_BAD_INPUT,
        "expected inputs w and u and outputs z and y, found %zu u among %zu inputs and "
        "%zu y among %zu outputs",
        plant->n_u, m, plant->n_y, p);
  }
  if (n > YOKE_SYNTH_STATES_MAX || m > YOKE_SYNTH_SIGNALS_MAX || p > YOKE_SYNTH_SIGNALS_MAX) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "expected at most %d states, %d inputs and %d outputs, found %zu, %zu and %zu",
                     YOKE_SYNTH_STATES_MAX, YOKE_SYNTH_SIGNALS_MAX, YOKE_SYNTH_SIGNALS_MAX, n, m,
                     p);
  }
  if (!yoke__are_finite(n * n, G->A.a) || !yoke__are_finite(n * m, G->B.a) ||
      !yoke__are_finite(p * n, G->C.a) || !yoke__are_finite(p * m, G->D.a)) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "a number of the plant is NaN or infinite");
  }
  return YOKE_OK;
}

static yoke_status check_settings(const yoke_synth_general_settings* s, bool is_discrete,
                                  const yoke_sink* sink) {
  if (!(s->tolerance >= 1e-10 && s->tolerance <= 0.5)) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "expected a tolerance of gamma from 1e-10 to 0.5, found %g", s->tolerance);
  }
  if (!(s->margin >= 0 && s->margin <= MAX_MARGIN)) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "expected a margin of gamma from 0 to %g, found %g",
                     MAX_MARGIN, s->margin);
  }
  if (!(s->penalty >= 0) || !yoke__is_finite(s->penalty)) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "expected a penalty eps of 0 or more, found %g",
                     s->penalty);
  }
  if (!(s->gamma >= 0) || !yoke__is_finite(s->gamma)) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "expected a gamma above 0, or 0 for the smallest, found %g", s->gamma);
  }
  if (!(s->least_real < (is_discrete ? 1 : 0))) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "expected a lower bound of the poles' real parts below %d, found %g",
                     is_discrete ? 1 : 0, s->least_real);
  }
  return YOKE_OK;
}

// (A, B2) stabilisable, (C2, A) detectable.
static yoke_status check_modes(yoke_arena* w, const yoke_synth_general_plant* plant,
                               const yoke_sink* sink) {
  const yoke_synth_system G = yoke__system_balance(w, plant->system);

  // balanced, so that |A| measures the plant and not its units
  const size_t n = G.A.n_rows, m = G.D.n_columns, p = G.D.n_rows;
  const yoke_matrix B2 = yoke__matrix_block(w, G.B, 0, m - plant->n_u, n, plant->n_u);
  const yoke_matrix C2 = yoke__matrix_block(w, G.C, p - plant->n_y, 0, plant->n_y, n);
  const char* name = G.is_discrete ? "z" : "s";
  bool is_found = false;
  double re = 0, im = 0;
  YOKE_TRY(yoke__find_fixed_mode(G.A, B2, G.is_discrete, &is_found, &re, &im));
  if (is_found) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "no element stabilises the plant: it is not stabilisable, u does not move the "
                     "mode at %s = %.6g%+.6gj",
                     name, re, im);
  }
  YOKE_TRY(yoke__find_fixed_mode(yoke__matrix_transpose(w, G.A), yoke__matrix_transpose(w, C2),
                                 G.is_discrete, &is_found, &re, &im));
  if (is_found) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "no element stabilises the plant: it is not detectable, y does not show the "
                     "mode at %s = %.6g%+.6gj",
                     name, re, im);
  }
  return YOKE_OK;
}

// frequency: of a continuous plant, [rad/s]; a discrete one was mapped, z = (1 + j w) / (1 - j w).
static yoke_status report_irregular(yoke_irregular why, double frequency, bool is_discrete,
                                    const yoke_sink* sink) {
  const bool is_p12 = why == YOKE_D12_WITHOUT_RANK || why == YOKE_P12_WITH_ZERO;
  const char* block = is_p12 ? "P12 (from u to z)" : "P21 (from w to y)";
  const bool is_at_end = why == YOKE_D12_WITHOUT_RANK || why == YOKE_D21_WITHOUT_RANK;
  if (is_discrete) {
    const double pi = 3.14159265358979323846;
    return yoke_fail(
        sink, YOKE_BAD_INPUT,
        "the plant has no best element: %s loses rank on the unit circle, at %.6g rad per "
        "sample%s",
        block, is_at_end ? pi : 2 * atan(fabs(frequency)),
        is_p12 ? "; a penalty on u helps" : "; add a small noise to y");
  }
  if (is_at_end) {
    return yoke_fail(
        sink, YOKE_BAD_INPUT,
        is_p12 ? "the plant has no best element: D12 (from u to z) has not full column "
                 "rank, so that some u is free at high frequencies; add a penalty on u"
               : "the plant has no best element: D21 (from w to y) has not full row rank, "
                 "so that some y is free of noise; add a small noise to y");
  }
  return yoke_fail(
      sink, YOKE_BAD_INPUT,
      "the plant has no best element: %s has a zero on the imaginary axis, at %.6g rad/s", block,
      fabs(frequency));
}

// ---- the continuous plant

typedef struct task {
  yoke_synth_general_plant plant;  // with the penalty
  yoke_matrix F;                   // of a discrete plant with a pole at z = -1; else 0
  yoke_matrix D22;                 // of a discrete plant
  yoke_central central;
} task;

// The plant with u = F y + u' (D22 = 0).
static yoke_synth_system shift(yoke_arena* w, const yoke_synth_general_plant* plant,
                               yoke_matrix F) {
  // K of that loop: y -> u, while u' and y stay outside
  const yoke_synth_system G = plant->system;
  const size_t n = G.A.n_rows, m = G.D.n_columns, p = G.D.n_rows;
  const yoke_matrix B2 = yoke__matrix_block(w, G.B, 0, m - plant->n_u, n, plant->n_u);
  const yoke_matrix D2 = yoke__matrix_block(w, G.D, 0, m - plant->n_u, p, plant->n_u);
  const yoke_matrix C2 = yoke__matrix_block(w, G.C, p - plant->n_y, 0, plant->n_y, n);
  const yoke_matrix D_y = yoke__matrix_block(w, G.D, p - plant->n_y, 0, plant->n_y, m);

  // A + B2 F C2, B + B2 F D_y, C + D2 F C2, D + D2 F D_y
  return (yoke_synth_system){G.is_discrete,
                             yoke__matrix_add(w, G.A, yoke__matrix_mul3(w, B2, F, C2), 1),
                             yoke__matrix_add(w, G.B, yoke__matrix_mul3(w, B2, F, D_y), 1),
                             yoke__matrix_add(w, G.C, yoke__matrix_mul3(w, D2, F, C2), 1),
                             yoke__matrix_add(w, G.D, yoke__matrix_mul3(w, D2, F, D_y), 1)};
}

// How far the poles are from z = -1.
static double distance(yoke_arena* w, yoke_matrix A) {
  const yoke_matrix M = yoke__matrix_add(w, A, yoke__matrix_identity(w, A.n_rows, 1), 1);
  return A.n_rows == 0 ? 1 : yoke__matrix_least_gain(w, M) / (1 + yoke__matrix_norm(w, A));
}

// A gain F that moves poles away from z = -1: the best of a few without pattern.
static void choose_shift(yoke_arena* w, task* t) {
  const yoke_synth_general_plant* plant = &t->plant;
  const yoke_synth_system* G = &plant->system;
  const size_t n = G->A.n_rows, m = G->D.n_columns, p = G->D.n_rows;
  t->F = yoke__matrix_zero(w, plant->n_u, plant->n_y);

  // least singular value of A + I, relative to |A|: 0 where z = -1 is a pole
  double best = distance(w, G->A);
  if (best > FAR) {
    return;
  }
  const yoke_matrix B2 = yoke__matrix_block(w, G->B, 0, m - plant->n_u, n, plant->n_u);
  const yoke_matrix C2 = yoke__matrix_block(w, G->C, p - plant->n_y, 0, plant->n_y, n);
  const double reach = yoke__matrix_norm(w, B2) * yoke__matrix_norm(w, C2);
  for (size_t k = 1; k <= 8; k++) {
    const yoke_matrix F = yoke__matrix_zero(w, plant->n_u, plant->n_y);
    for (size_t i = 0; F.a != NULL && reach > 0 && i < plant->n_u * plant->n_y; i++) {
      // sin of whole numbers: reproducible and without pattern; half
      // of what could move a pole by |A|
      F.a[i] = sin((double)(k * (7 * i + 3))) / reach * 0.5;
    }
    const yoke_matrix A = yoke__matrix_add(w, G->A, yoke__matrix_mul3(w, B2, F, C2), 1);
    const double d = distance(w, A);
    if (d > best) {
      best = d;
      t->F = F;
    }
  }
}

// Checks the plant and gives it the coordinates of synth_central.h.
static yoke_status prepare(yoke_arena* w, const yoke_synth_general_plant* plant, task* t,
                           const yoke_sink* sink) {
  *t = (task){.plant = *plant};
  yoke_synth_general_plant continuous = *plant;
  const bool is_discrete = plant->system.is_discrete;
  YOKE_TRY(check_modes(w, plant, sink));
  if (is_discrete) {
    // without D22
    const size_t m1 = plant->system.D.n_columns - plant->n_u;
    const size_t p1 = plant->system.D.n_rows - plant->n_y;
    t->D22 = yoke__matrix_block(w, plant->system.D, p1, m1, plant->n_y, plant->n_u);
    yoke_synth_general_plant direct = *plant;
    direct.system = yoke__system_copy(w, plant->system);
    YOKE_TRY(yoke__arena_status(w));
    // D22 = 0 for the synthesis; to_plant gives it back
    for (size_t i = 0; i < plant->n_y; i++) {
      for (size_t j = 0; j < plant->n_u; j++) {
        direct.system.D.a[(p1 + i) * direct.system.D.n_columns + m1 + j] = 0;
      }
    }
    t->plant = direct;
    choose_shift(w, t);
    t->plant = *plant;
    bool is_singular = false;
    continuous.system = yoke__system_bilinear(w, shift(w, &direct, t->F), &is_singular);
    if (is_singular) {
      return yoke_fail(sink, YOKE_NO_CONVERGENCE,
                       "no feedback moves the plant's pole at z = -1 far enough");
    }
  }
  yoke_irregular why;
  double frequency = 0;
  YOKE_TRY(yoke__arena_status(w));
  YOKE_TRY(yoke__central_init(w, &continuous, &t->central, &why, &frequency));
  return why == YOKE_REGULAR ? YOKE_OK : report_irregular(why, frequency, is_discrete, sink);
}

// K of the plant from that of the continuous one without D22. D22 comes back after the map: K may have a pole at z = -1, which
// would be at infinity before it.
static yoke_synth_system to_plant(yoke_arena* w, const task* t, yoke_synth_system K,
                                  bool* is_singular) {
  if (!t->plant.system.is_discrete) {
    return yoke__system_feed_through(w, K, t->central.D22, is_singular);
  }

  // bilinear map back, then the shift F, then D22
  yoke_synth_system Kz = yoke__system_bilinear(w, K, is_singular);
  Kz = yoke__system_feed_through(w, Kz, t->central.D22, is_singular);
  Kz.D = yoke__matrix_add(w, Kz.D, t->F, 1);
  return yoke__system_feed_through(w, Kz, t->D22, is_singular);
}

// ---- gamma

// What all tries of one call share.
typedef struct job {
  const yoke_synth_general_plant* plant;  // without a penalty
  const yoke_synth_general_settings* settings;
  const yoke_sink* sink;
  size_t n_riccati;
} job;

static yoke_status is_possible_at(job* j, const task* t, double gamma, bool* is_possible) {
  // one Riccati equation for X, one for Y
  j->n_riccati += 2;
  return yoke__central_try(NULL, &t->central, gamma, is_possible, NULL);
}

// The smallest gamma: factors of 10 until it lies between two, then bisection.
static yoke_status search_gamma(job* j, const task* t, double tolerance, double* smallest) {
  double low = t->central.least_gamma, high = fmax(2 * low, 1);

  // feasibility is monotonous in gamma
  const double start = high;
  bool is_possible = false;
  YOKE_TRY(is_possible_at(j, t, high, &is_possible));
  while (!is_possible && high < LARGEST * start) {
    low = high;
    high *= 10;
    YOKE_TRY(is_possible_at(j, t, high, &is_possible));
  }
  if (!is_possible) {
    return yoke_fail(j->sink, YOKE_NO_CONVERGENCE,
                     "no element was found: up to gamma = %g the Riccati equations have no "
                     "solution, the plant is too close to one that is not stabilisable, not "
                     "detectable or has zeros on the boundary",
                     high);
  }

  // relative tolerance; a gamma of 0 is reached when it is 1e-12 of the start
  while (high - low > tolerance * high && high > SMALLEST * start) {
    // far apart: by factors, but not below what a factor of 10 reaches
    const double middle = low * 10 > high ? sqrt(low * high) : fmax(high / 10, 1.01 * low);
    YOKE_TRY(is_possible_at(j, t, middle, &is_possible));
    *(is_possible ? &high : &low) = middle;
  }
  *smallest = high;
  return YOKE_OK;
}

// Numbers too large to tell poles or a norm: no element worth having.
static bool is_overflow(yoke_status status) {
  return status == YOKE_BAD_ARG || status == YOKE_NO_CONVERGENCE;
}

// The closed loop that K makes, and its poles. false in *is_stable also where there is none.
static yoke_status close_loop(yoke_arena* w, const task* t, yoke_synth_general_result* r,
                              yoke_synth_system* loop, bool* is_stable) {
  bool is_singular = false;
  *is_stable = false;
  *loop = yoke__system_loop(w, t->plant.system, r->K, &is_singular);
  if (is_singular) {
    return YOKE_OK;
  }
  const size_t n = loop->A.n_rows;
  double* parts = yoke__arena_array(w, 2 * n + 1, sizeof *parts);
  YOKE_TRY(yoke__arena_status(w));
  const yoke_status status = yoke__system_poles(*loop, parts, parts + n);
  if (is_overflow(status)) {
    return YOKE_OK;
  }
  YOKE_TRY(status);

  // Re for the pole region; size of z or Re of s for stability
  r->least_real = (double)INFINITY;
  r->slowest = -(double)INFINITY;
  for (size_t i = 0; i < n; i++) {
    r->least_real = fmin(r->least_real, parts[i]);
    r->slowest = fmax(r->slowest, loop->is_discrete ? hypot(parts[i], parts[n + i]) : parts[i]);
  }
  *is_stable = n == 0 || r->slowest < (loop->is_discrete ? 1 : 0);
  return YOKE_OK;
}

// K for r->gamma and its closed loop; false in *is_stable: there is no such K.
static yoke_status make_element(job* j, yoke_arena* w, const task* t, yoke_synth_general_result* r,
                                yoke_synth_system* loop, bool* is_stable) {
  yoke_synth_system K;
  *is_stable = false;
  bool is_possible = false, is_singular = false;
  j->n_riccati += 2;
  YOKE_TRY(yoke__central_try(w, &t->central, r->gamma, &is_possible, &K));
  if (!is_possible) {
    return YOKE_OK;
  }
  r->K = to_plant(w, t, K, &is_singular);

  // such a K makes an algebraic loop without solution
  if (is_singular) {
    return YOKE_OK;
  }
  YOKE_TRY(yoke__arena_status(w));
  return close_loop(w, t, r, loop, is_stable);
}

// The same with the norms; false in *is_good unless the loop is stable with a norm below gamma.
static yoke_status make_checked(job* j, yoke_arena* w, const task* t, yoke_synth_general_result* r,
                                bool* is_good) {
  yoke_synth_system loop;
  yoke_synth_norm norm;
  bool is_stable = false, is_singular = false;
  *is_good = false;
  YOKE_TRY(make_element(j, w, t, r, &loop, &is_stable));
  if (!is_stable) {
    return YOKE_OK;
  }
  const yoke_status status = yoke__synth_norm(loop, NORM_DIGITS, &norm);
  if (is_overflow(status)) {
    return YOKE_OK;
  }
  YOKE_TRY(status);
  r->norm = r->plant_norm = norm.norm;
  r->frequency = norm.frequency;

  // the norm is computed from the loop, not believed from the equations
  *is_good = norm.norm <= r->gamma * (1 + SLACK);
  if (*is_good && r->penalty > 0) {
    const yoke_synth_system own = yoke__system_loop(w, j->plant->system, r->K, &is_singular);
    YOKE_TRY(yoke__synth_norm(own, NORM_DIGITS, &norm));
    r->plant_norm = norm.norm;
  }
  return YOKE_OK;
}

static yoke_status prepare_penalised(job* j, yoke_arena* w, double penalty, task* t) {
  const yoke_synth_general_plant whole =
      penalty > 0 ? yoke__synth_plant_penalise(w, j->plant, penalty) : *j->plant;
  YOKE_TRY(yoke__arena_status(w));
  return prepare(w, &whole, t, j->sink);
}

// The element wherever its poles are.
static yoke_status synthesise(job* j, yoke_arena* w, yoke_synth_general_result* r) {
  const yoke_synth_general_settings* s = j->settings;
  task t;
  bool is_good = false;
  r->penalty = s->penalty;
  r->smallest_gamma = (double)NAN;
  YOKE_TRY(prepare_penalised(j, w, s->penalty, &t));
  if (s->gamma > 0) {
    r->gamma = s->gamma;
    YOKE_TRY(make_checked(j, w, &t, r, &is_good));
    return is_good ? YOKE_OK
                   : yoke_fail(j->sink, YOKE_BAD_INPUT,
                               "no element has a gain below gamma = %g: it is too small", s->gamma);
  }
  YOKE_TRY(search_gamma(j, &t, s->tolerance, &r->smallest_gamma));

  // near the smallest gamma I - Y X / gamma^2 may be nearly singular: more room, more digits
  double margin = s->margin;
  while (!is_good && margin <= LAST_MARGIN) {
    r->gamma = r->smallest_gamma * (1 + margin);
    YOKE_TRY(make_checked(j, w, &t, r, &is_good));
    margin = fmax(2 * margin, 1e-6);
  }
  return is_good ? YOKE_OK
                 : yoke_fail(j->sink, YOKE_NO_CONVERGENCE,
                             "rounding: no element computed for gamma = %g to %g has a stable loop "
                             "with a norm below it",
                             r->smallest_gamma, r->gamma);
}

// ---- pole region

static yoke_status is_inside_at(job* j, const task* t, double gamma, bool* is_inside) {
  yoke_arena w = {0};
  yoke_synth_general_result r = {.gamma = gamma};
  yoke_synth_system loop;
  const yoke_status status = make_element(j, &w, t, &r, &loop, is_inside);

  // stable and right of the bound
  *is_inside = *is_inside && r.least_real > j->settings->least_real;
  yoke__arena_free(&w);
  return status;
}

// For one penalty: the smallest gamma with the poles in the region, by factors of 2 and bisection. *is_found is false without one.
static yoke_status enter_region_with(job* j, yoke_arena* w, double penalty,
                                     yoke_synth_general_result* r, bool* is_found) {
  task t;
  double low = 0;
  *is_found = false;
  *r = (yoke_synth_general_result){.penalty = penalty};
  YOKE_TRY(prepare_penalised(j, w, penalty, &t));
  YOKE_TRY(search_gamma(j, &t, REGION_CLOSE, &r->smallest_gamma));
  low = r->smallest_gamma * (1 + j->settings->margin);
  double high = low;
  bool is_inside = false;
  YOKE_TRY(is_inside_at(j, &t, high, &is_inside));
  for (size_t i = 0; i < REGION_FACTORS && !is_inside; i++) {
    low = high;
    high *= 2;
    YOKE_TRY(is_inside_at(j, &t, high, &is_inside));
  }
  if (!is_inside) {
    return YOKE_OK;
  }

  // gamma to 1 %: the norm itself is computed afterwards
  while (high > (1 + REGION_CLOSE) * low) {
    const double middle = sqrt(low * high);
    YOKE_TRY(is_inside_at(j, &t, middle, &is_inside));
    *(is_inside ? &high : &low) = middle;
  }
  r->gamma = high;
  YOKE_TRY(make_checked(j, w, &t, r, is_found));
  return YOKE_OK;
}

// The same; *best is replaced, its K in w, if the norm without the penalty is smaller.
static yoke_status try_penalty(job* j, yoke_arena* w, double penalty,
                               yoke_synth_general_result* best) {
  yoke_arena scratch = {0};
  yoke_synth_general_result r;
  bool is_found = false;
  yoke_status status = enter_region_with(j, &scratch, penalty, &r, &is_found);
  if (status == YOKE_OK && is_found && r.plant_norm < best->plant_norm) {
    *best = r;
    best->K = yoke__system_copy(w, r.K);
    status = yoke__arena_status(w);
  }
  yoke__arena_free(&scratch);
  return status;
}

// Penalties a factor of 4 apart from the given one on, then two in between around the best.
static yoke_status enter_region(job* j, yoke_arena* w, yoke_synth_general_result* r) {
  const yoke_synth_general_plant* plant = j->plant;
  const yoke_synth_system* G = &plant->system;
  const size_t p1 = G->D.n_rows - plant->n_y, m1 = G->D.n_columns - plant->n_u;
  const double D12 = yoke__matrix_norm(w, yoke__matrix_block(w, G->D, 0, m1, p1, plant->n_u));
  const double given = j->settings->penalty;

  // from 1e-4 of |D12| on, times 4
  const double from = given > 0 ? given : PENALTY_START * (D12 > 0 ? D12 : 1);
  yoke_synth_general_result best = {.plant_norm = (double)INFINITY};
  YOKE_TRY(try_penalty(j, w, given, &best));
  size_t n_worse = 0;
  double penalty = from;
  for (size_t i = 0; i < PENALTY_STEPS && n_worse < PENALTY_PATIENCE; i++) {
    const double before = best.plant_norm;
    penalty = given > 0 || i > 0 ? 4 * penalty : from;
    YOKE_TRY(try_penalty(j, w, penalty, &best));
    // ends after two penalties in a row without improvement
    n_worse = isinf(best.plant_norm) || best.plant_norm < before ? 0 : n_worse + 1;
  }
  if (isinf(best.plant_norm)) {
    return yoke_fail(
        j->sink, YOKE_BAD_INPUT,
        "no element was found with all poles of the closed loop above Re = %g (without this "
        "region the lowest is at Re = %.6g): no gamma with a penalty on u from %g to "
        "%g gives one",
        j->settings->least_real, r->least_real, given, penalty);
  }

  // the best penalty so far and its two neighbours, a factor of 2 apart
  const double middle = best.penalty;
  if (middle > from) {
    YOKE_TRY(try_penalty(j, w, middle / 2, &best));
  }
  if (middle > 0) {
    YOKE_TRY(try_penalty(j, w, middle * 2, &best));
  }
  *r = best;
  return YOKE_OK;
}

// A mode that K cannot move stays a pole of the loop: it has to lie in the region.
static yoke_status check_region(yoke_arena* w, const yoke_synth_general_plant* plant,
                                double least_real, const yoke_sink* sink) {
  const yoke_synth_system G = yoke__system_balance(w, plant->system);
  const size_t n = G.A.n_rows, m = G.D.n_columns, p = G.D.n_rows;
  const yoke_matrix B2 = yoke__matrix_block(w, G.B, 0, m - plant->n_u, n, plant->n_u);
  const yoke_matrix C2 = yoke__matrix_block(w, G.C, p - plant->n_y, 0, plant->n_y, n);
  // mirrored at the bound: -(A - bound) has its eigenvalues at Re >= 0 where A has them at or below it
  const yoke_matrix A = yoke__matrix_scale(
      w, yoke__matrix_add(w, G.A, yoke__matrix_identity(w, n, least_real), -1), -1);
  bool is_found = false;
  double re = 0, im = 0;
  YOKE_TRY(yoke__arena_status(w));
  YOKE_TRY(yoke__find_fixed_mode(A, B2, false, &is_found, &re, &im));
  if (!is_found) {
    YOKE_TRY(yoke__find_fixed_mode(yoke__matrix_transpose(w, A), yoke__matrix_transpose(w, C2),
                                   false, &is_found, &re, &im));
  }
  return is_found ? yoke_fail(sink, YOKE_BAD_INPUT,
                              "no element keeps the poles above Re = %g: the plant has one at "
                              "%.6g%+.6gj that no element moves",
                              least_real, least_real - re, -im)
                  : YOKE_OK;
}

static yoke_status run(job* j, yoke_arena* w, yoke_synth_general_result* r) {
  const yoke_synth_general_settings* s = j->settings;
  const bool has_region = s->least_real > -(double)INFINITY;
  YOKE_TRY(check_sizes(j->plant, j->sink));
  YOKE_TRY(check_settings(s, j->plant->system.is_discrete, j->sink));
  if (has_region) {
    YOKE_TRY(check_region(w, j->plant, s->least_real, j->sink));
  }
  YOKE_TRY(synthesise(j, w, r));
  if (!has_region || r->least_real > s->least_real) {
    return YOKE_OK;
  }
  if (s->gamma > 0) {
    return yoke_fail(j->sink, YOKE_BAD_INPUT,
                     "the element of gamma = %g has a closed-loop pole at Re = %.6g, not above %g",
                     s->gamma, r->least_real, s->least_real);
  }
  return enter_region(j, w, r);
}

yoke_status yoke__synth_general(yoke_arena* w, const yoke_synth_general_plant* plant,
                                const yoke_synth_general_settings* settings,
                                yoke_synth_general_result* r, const yoke_sink* sink) {
  const yoke_synth_system* G = &plant->system;
  job j = {plant, settings, sink, 0};
  yoke_arena scratch = {0};
  *r = (yoke_synth_general_result){0};
  yoke_status status = YOKE_NO_MEMORY;
  if (G->A.a && G->B.a && G->C.a && G->D.a) {
    status = run(&j, &scratch, r);
  }
  if (status == YOKE_OK) {
    r->K = yoke__system_copy(w, r->K);
    status = yoke__arena_status(w);
  }
  r->n_riccati = j.n_riccati;
  yoke__arena_free(&scratch);
  return status == YOKE_NO_MEMORY ? yoke_fail(sink, status, "%s", yoke_status_text(status))
                                  : status;
}
