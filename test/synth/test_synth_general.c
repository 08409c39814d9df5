// General H-infinity synthesis without an oracle: problems with a known gamma, invariances, what the result says of its loop,
// the pole region, plants without an element. Against SLICOT: test_synth_slicot.c.
#include "support/check.h"
#include "support/heard.h"
#include "synth/synth_general.h"
#include "synth/synth_norm.h"

static HEAR(err);
static uint64_t seed;

static double random_number(void) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(seed >> 11) / 4503599627370496.0 - 1.0;
}

static yoke_matrix random_matrix(yoke_arena* w, size_t n, size_t m) {
  const yoke_matrix M = yoke__matrix_zero(w, n, m);
  for (size_t i = 0; i < n * m; i++) {
    M.a[i] = random_number();
  }
  return M;
}

// Order 2 to 7; one or two controls and measurements.
static yoke_synth_general_plant random_plant(yoke_arena* w, size_t k, bool is_discrete) {
  seed = 50000 + k;
  const size_t n = 2 + k % 6, n_u = 1 + k % 2, n_y = 1 + k / 2 % 2;
  const size_t m = n_u + n_y + 1, p = n_u + n_y + 1 + k % 2;
  yoke_synth_system G = {is_discrete, random_matrix(w, n, n), random_matrix(w, n, m),
                         random_matrix(w, p, n), random_matrix(w, p, m)};
  if (is_discrete) {
    G.A = yoke__matrix_scale(w, G.A, 1.2 / yoke__matrix_norm(NULL, G.A));
  }
  return (yoke_synth_general_plant){G, n_u, n_y};
}

static yoke_synth_general_result solve_with(yoke_arena* w, yoke_synth_general_plant plant,
                                            yoke_synth_general_settings s) {
  yoke_synth_general_result found;
  heard_clear(&err);
  if (yoke__synth_general(w, &plant, &s, &found, &err.sink) < 0) {
    fail_msg("%s", err.text);
  }
  return found;
}

static yoke_synth_general_result solve(yoke_arena* w, yoke_synth_general_plant plant) {
  return solve_with(w, plant, yoke__synth_general_default());
}

// z = T1 w - T2 u, y = w: the element is Q of || T1 - T2 Q ||.
static yoke_synth_general_plant matching(yoke_arena* w, yoke_synth_system T1,
                                         yoke_synth_system T2) {
  const double outputs[] = {1, -1, 0, 0, 0, 1}, inputs[] = {1, 0, 0, 1, 1, 0};
  const yoke_synth_system one =
      yoke__system_gain(w, T1.is_discrete, yoke__matrix_identity(w, 1, 1));
  const yoke_synth_system all = yoke__system_apart(w, yoke__system_apart(w, T1, T2), one);
  const yoke_synth_system in =
      yoke__system_gain(w, T1.is_discrete, yoke__matrix_from(w, 3, 2, inputs));
  const yoke_synth_system out =
      yoke__system_gain(w, T1.is_discrete, yoke__matrix_from(w, 2, 3, outputs));
  return (yoke_synth_general_plant){yoke__system_series(w, yoke__system_series(w, in, all), out), 1,
                                    1};
}

// One zero of T2 in the right half-plane (outside the circle): no Q changes T1 there, and the maximum principle allows no less, so
// gamma = |T1(zero)|.
static void test_one_zero(void** state) {
  (void)state;
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < 6; j++) {
      const double a = 0.1 * pow(3, i), zero = 0.2 * pow(2, j);
      yoke_arena w = {0};
      const double b1[] = {0, a}, a1[] = {1, a}, b2[] = {1, -zero}, a2[] = {1, 3};
      const yoke_synth_general_plant plant =
          matching(&w, yoke__system_rational(&w, false, 1, b1, a1),
                   yoke__system_rational(&w, false, 1, b2, a2));
      const yoke_synth_general_result found = solve(&w, plant);
      check_relative(found.smallest_gamma, a / (zero + a), 2e-6);
      yoke__arena_free(&w);
    }
  }
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < 4; j++) {
      const double a = -0.8 + 0.4 * i, zero = -4 + 2.7 * j;
      yoke_arena w = {0};
      const double b1[] = {0, 1}, a1[] = {1, -a}, b2[] = {1, -zero}, a2[] = {1, 0.3};
      const yoke_synth_general_plant plant =
          matching(&w, yoke__system_rational(&w, true, 1, b1, a1),
                   yoke__system_rational(&w, true, 1, b2, a2));
      const yoke_synth_general_result found = solve(&w, plant);
      check_relative(found.smallest_gamma, fabs(1 / (zero - a)), 2e-6);
      yoke__arena_free(&w);
    }
  }
}

// No zero outside: Q = T1 / T2, gamma 0 within rounding.
static void test_perfect(void** state) {
  (void)state;
  yoke_arena w = {0};
  const double b1[] = {0, 1}, a1[] = {1, 1}, b2[] = {1, 2}, a2[] = {1, 3};
  const yoke_synth_general_result found =
      solve(&w, matching(&w, yoke__system_rational(&w, false, 1, b1, a1),
                         yoke__system_rational(&w, false, 1, b2, a2)));
  check_between(found.norm, 0, 1e-6);
  yoke__arena_free(&w);
}

// A gamma of 1e6 belongs to a plant that can hardly be stabilised: its loop has lost the digits of gamma^2.
static double lost(double gamma) {
  return 1e-16 * gamma * gamma;
}

// A delay's worth of poles: T = 0 by K = -1 / (z + 1), whose pole at z = -1 is at infinity in between.
static void test_pole_of_element(void** state) {
  (void)state;
  yoke_arena w = {0};
  const double A[] = {1}, B[] = {1, 1}, C[] = {1, 1}, D[] = {0, 1, 1, 0};
  const yoke_synth_general_plant plant = {
      {true, yoke__matrix_from(&w, 1, 1, A), yoke__matrix_from(&w, 1, 2, B),
       yoke__matrix_from(&w, 2, 1, C), yoke__matrix_from(&w, 2, 2, D)},
      1,
      1};
  const yoke_synth_general_result found = solve(&w, plant);
  check_between(found.norm, 0, 1e-9);
  // R has the determinant gamma^2: below the root of rounding no gamma can be told from 0
  check_between(found.smallest_gamma, 0, 1e-7);
  double re = 0, im = 0;
  check_ok(yoke__system_poles(found.K, &re, &im));
  check_near(re, -1, 1e-6);
  yoke__arena_free(&w);
}

// Without states: gains only. D = [0 0.5 0; 0 0 1; 1 0.2 0.3]: y misses half of w, u cannot help, gamma = 0.5.
static void test_gains(void** state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    yoke_arena w = {0};
    const double D[] = {0, 0.5, 0, 0, 0, 1, 1, 0.2, 0.3};
    const yoke_synth_general_plant plant = {
        yoke__system_gain(&w, d == 1, yoke__matrix_from(&w, 3, 3, D)), 1, 1};
    const yoke_synth_general_result found = solve(&w, plant);
    check_relative(found.smallest_gamma, 0.5, 1e-5);
    check_relative(found.norm, 0.5, 1e-12);
    assert_int_equal(found.K.A.n_rows, 0);
    yoke__arena_free(&w);
  }
}

// What the result says of its loop: stable, the norm below gamma and that of a grid, the poles.
static void check_loop(yoke_arena* w, yoke_synth_general_plant plant,
                       const yoke_synth_general_result* r) {
  bool is_singular = false;
  const yoke_synth_system loop = yoke__system_loop(w, plant.system, r->K, &is_singular);
  assert_false(is_singular);
  double instability = 0, re[200], im[200], least = (double)INFINITY;
  check_ok(yoke__system_instability(loop, &instability));
  assert_true(instability < 0);
  check_near(r->slowest, instability + (loop.is_discrete ? 1 : 0), 1e-12);
  check_ok(yoke__system_poles(loop, re, im));
  for (size_t i = 0; i < loop.A.n_rows; i++) {
    least = fmin(least, re[i]);
  }
  check_relative(r->least_real, least, 1e-12);
  const double top = loop.is_discrete ? 3.14159265358979 : 1e4;
  for (size_t i = 0; 1e-3 * pow(1.05, (double)i) < top; i++) {
    const double at = 1e-3 * pow(1.05, (double)i);
    assert_true(yoke__system_gain_at(NULL, loop, at) <=
                r->plant_norm * (1 + 1e-7 + lost(r->gamma)));
  }
  assert_true(r->plant_norm <= r->norm * (1 + 1e-7) && r->norm <= r->gamma * (1 + 1e-6));
}

static void test_loop(void** state) {
  (void)state;
  for (size_t k = 0; k < 40; k++) {
    yoke_arena w = {0};
    const yoke_synth_general_plant plant = random_plant(&w, k, k % 2 == 1);
    yoke_synth_general_settings s = yoke__synth_general_default();
    s.margin = k % 3 == 0 ? 0.05 : 1e-3;
    s.penalty = k % 4 < 2 ? 0 : 0.1;
    const yoke_synth_general_result found = solve_with(&w, plant, s);
    check_loop(&w, plant, &found);
    check_relative(found.penalty, s.penalty, 1e-15);
    assert_true(found.gamma >= found.smallest_gamma * (1 + s.margin) * (1 - 1e-12));

    // for a given gamma above the smallest the same; below it none
    s.gamma = 1.3 * found.smallest_gamma;
    const yoke_synth_general_result other = solve_with(&w, plant, s);
    check_loop(&w, plant, &other);
    s.gamma = 0.97 * found.smallest_gamma;
    yoke_synth_general_result none;
    assert_int_equal(yoke__synth_general(&w, &plant, &s, &none, &err.sink), YOKE_BAD_INPUT);
    check_contains(err.text, "no element has a gain below gamma = ");
    yoke__arena_free(&w);
  }
}

// gamma does not depend on D22, on the units of states, signals and time, nor on the bilinear map.
static void test_invariance(void** state) {
  (void)state;
  for (size_t k = 0; k < 20; k++) {
    yoke_arena w = {0};
    const yoke_synth_general_plant plant = random_plant(&w, 100 + k, k % 2 == 1);
    const yoke_synth_system G = plant.system;
    const size_t n = G.A.n_rows, m = G.D.n_columns, p = G.D.n_rows;
    const double gamma = solve(&w, plant).smallest_gamma, digits = 1e-5 + lost(gamma);
    bool is_singular = false;

    yoke_synth_general_plant other = plant;
    other.system = yoke__system_copy(&w, G);
    for (size_t i = p - plant.n_y; i < p; i++) {
      for (size_t j = m - plant.n_u; j < m; j++) {
        other.system.D.a[i * m + j] += 0.7 * random_number();
      }
    }
    const yoke_synth_general_result moved = solve(&w, other);
    check_relative(moved.smallest_gamma, gamma, digits);
    check_loop(&w, other, &moved);

    other.system = yoke__system_bilinear(&w, G, &is_singular);
    assert_false(is_singular);
    check_relative(solve(&w, other).smallest_gamma, gamma, digits);

    // states by a random transformation, time by 1e5, z by 1e-6, u by 1e4
    const yoke_matrix T =
        yoke__matrix_add(&w, random_matrix(&w, n, n), yoke__matrix_identity(&w, n, 3), 1);
    const yoke_matrix T_inverse = yoke__matrix_inverse(&w, T, &is_singular);
    yoke_synth_system H = {G.is_discrete, yoke__matrix_mul3(&w, T_inverse, G.A, T),
                           yoke__matrix_mul(&w, T_inverse, G.B), yoke__matrix_mul(&w, G.C, T),
                           yoke__matrix_copy(&w, G.D)};
    if (!G.is_discrete) {
      H = yoke__system_rescale_time(&w, H, 1e-5);
    }
    const yoke_matrix z_unit = yoke__matrix_identity(&w, p, 1);
    const yoke_matrix u_unit = yoke__matrix_identity(&w, m, 1);
    for (size_t i = 0; i < p - plant.n_y; i++) {
      z_unit.a[i * p + i] = 1e-6;
    }
    for (size_t i = m - plant.n_u; i < m; i++) {
      u_unit.a[i * m + i] = 1e4;
    }
    H = yoke__system_series(&w, yoke__system_gain(&w, G.is_discrete, u_unit), H);
    other.system = yoke__system_series(&w, H, yoke__system_gain(&w, G.is_discrete, z_unit));
    assert_false(is_singular);
    check_relative(solve(&w, other).smallest_gamma, 1e-6 * gamma, digits);
    yoke__arena_free(&w);
  }
}

// A weight of 2 on z doubles gamma; an all-pass on w leaves it.
static void test_weights(void** state) {
  (void)state;
  for (size_t k = 0; k < 6; k++) {
    yoke_arena w = {0};
    const yoke_synth_general_plant plant = random_plant(&w, 200 + k, false);
    const size_t p1 = plant.system.D.n_rows - plant.n_y;
    const size_t m1 = plant.system.D.n_columns - plant.n_u;
    const double gamma = solve(&w, plant).smallest_gamma;
    const yoke_synth_system twice = yoke__system_gain(&w, false, yoke__matrix_identity(&w, p1, 2));
    check_relative(solve(&w, yoke__synth_plant_weigh(&w, &plant, &twice, NULL)).smallest_gamma,
                   2 * gamma, 1e-5);
    const double b[] = {-1, 4}, a[] = {1, 4};
    const yoke_synth_system pass = yoke__system_rational(&w, false, 1, b, a);
    yoke_synth_system all = pass;
    for (size_t i = 1; i < m1; i++) {
      all = yoke__system_apart(&w, all, pass);
    }
    // the same one on every w: it commutes with the plant, and K sees its outputs too: never better than without
    const yoke_synth_general_result found =
        solve(&w, yoke__synth_plant_weigh(&w, &plant, NULL, &all));
    check_relative(found.smallest_gamma, gamma, 1e-5);
    yoke__arena_free(&w);
  }
}

// A discrete plant with a pole at z = -1: gamma is that of a pole close to it.
static void test_pole_at_minus_one(void** state) {
  (void)state;
  for (size_t k = 0; k < 10; k++) {
    yoke_arena w = {0};
    yoke_synth_general_plant plant = random_plant(&w, 300 + k, true);
    const size_t n = plant.system.A.n_rows;
    // row 0 of A is that of the pole -1, coupled to nothing; B and C connect it
    for (size_t j = 0; j < n; j++) {
      plant.system.A.a[j] = j == 0 ? -1 : 0;
    }
    const yoke_synth_general_result found = solve(&w, plant);
    check_loop(&w, plant, &found);
    plant.system.A.a[0] = -1 + 1e-5;
    check_relative(solve(&w, plant).smallest_gamma, found.smallest_gamma, 1e-2);
    plant.system.A.a[0] = -1 + 1e-7;
    check_relative(solve(&w, plant).smallest_gamma, found.smallest_gamma, 1e-4);
    yoke__arena_free(&w);
  }
}

// The poles of the loop lie in the region, or a message says that no element was found; a region that holds anyway changes nothing.
static void test_region(void** state) {
  (void)state;
  size_t n_found = 0;
  for (size_t k = 0; k < 20; k++) {
    yoke_arena w = {0};
    const yoke_synth_general_plant plant = random_plant(&w, 400 + k, k % 2 == 1);
    const yoke_synth_general_result free_poles = solve(&w, plant);
    yoke_synth_general_settings s = yoke__synth_general_default();
    s.least_real = free_poles.least_real - 1e-6;
    const yoke_synth_general_result same = solve_with(&w, plant, s);
    check_relative(same.norm, free_poles.norm, 1e-12);

    s.least_real = plant.system.is_discrete ? -0.7 : -30;
    yoke_synth_general_result found;
    heard_clear(&err);
    const yoke_status status = yoke__synth_general(&w, &plant, &s, &found, &err.sink);
    if (status == YOKE_OK) {
      n_found++;
      check_loop(&w, plant, &found);
      assert_true(found.least_real > s.least_real);
      // what is given up for the region
      assert_true(found.plant_norm >= free_poles.smallest_gamma * (1 - 1e-6));
    } else {
      assert_int_equal(status, YOKE_BAD_INPUT);
      check_contains(err.text,
                     "no element was found with all poles of the closed loop above Re = ");
    }
    yoke__arena_free(&w);
  }
  assert_true(n_found >= 10);
  print_message("%zu of 20 plants have an element in the region\n", n_found);
}

// ---- what is refused

static void refuse(const yoke_synth_general_plant* plant, const char* text) {
  yoke_arena w = {0};
  const yoke_synth_general_settings s = yoke__synth_general_default();
  yoke_synth_general_result none;
  heard_clear(&err);
  assert_true(yoke__synth_general(&w, plant, &s, &none, &err.sink) == YOKE_BAD_INPUT);
  check_contains(err.text, text);
  assert_int_equal(err.n, 1);
  yoke__arena_free(&w);
}

// Two states, one of each signal and one more z and w; regular.
static yoke_synth_general_plant small_plant(yoke_arena* w, bool is_discrete) {
  const double A[] = {0.5, 0, 0.2, -0.3}, B[] = {1, 0, 1, 0.5, 0, 1};
  const double C[] = {1, 1, 0, 0, 1, 0.5}, D[] = {0, 0, 0, 0, 0, 1, 0, 1, 0};
  return (yoke_synth_general_plant){{is_discrete, yoke__matrix_from(w, 2, 2, A),
                                     yoke__matrix_from(w, 2, 3, B), yoke__matrix_from(w, 3, 2, C),
                                     yoke__matrix_from(w, 3, 3, D)},
                                    1,
                                    1};
}

static void test_not_stabilisable(void** state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    yoke_arena w = {0};
    // state 0 (0.5: unstable in continuous time) moves alone, u does not reach it
    yoke_synth_general_plant plant = small_plant(&w, d == 1);
    plant.system.A.a[0] = d == 1 ? 1.25 : 0.5;
    (void)solve(&w, plant);
    plant.system.B.a[2] = 0;
    refuse(&plant, d == 1 ? "not stabilisable, u does not move the mode at z = 1.25+0j"
                          : "not stabilisable, u does not move the mode at s = 0.5+0j");
    // state 1 does not show in y, nor in state 0
    plant = small_plant(&w, d == 1);
    plant.system.A.a[3] = d == 1 ? -1 : 0;
    (void)solve(&w, plant);
    plant.system.C.a[5] = 0;
    refuse(&plant, d == 1 ? "not detectable, y does not show the mode at z = -1+0j"
                          : "not detectable, y does not show the mode at s = 0+0j");
    // stable modes may
    plant.system.A.a[3] = -0.3;
    (void)solve(&w, plant);
    yoke__arena_free(&w);
  }
}

static void test_without_rank(void** state) {
  (void)state;
  yoke_arena w = {0};
  yoke_synth_general_plant plant = small_plant(&w, false);
  plant.system.D.a[5] = 0;
  refuse(&plant, "D12 (from u to z) has not full column rank");
  // a penalty repairs it
  yoke_synth_general_settings s = yoke__synth_general_default();
  s.penalty = 1e-2;
  (void)solve_with(&w, plant, s);
  plant = small_plant(&w, false);
  plant.system.D.a[7] = 0;
  refuse(&plant, "D21 (from w to y) has not full row rank");

  // in discrete time a delay is no loss of rank
  plant = small_plant(&w, true);
  plant.system.C.a[2] = 0.7;
  plant.system.D.a[5] = 0;
  (void)solve(&w, plant);
  yoke__arena_free(&w);
}

static void test_zeros(void** state) {
  (void)state;
  yoke_arena w = {0};
  // T2 with zeros at +-2j, and at exp(+-j)
  const double b1[] = {0, 0, 1}, a1[] = {1, 2, 1}, b2[] = {1, 0, 4}, a2[] = {1, 3, 2};
  yoke_synth_general_plant plant = matching(&w, yoke__system_rational(&w, false, 2, b1, a1),
                                            yoke__system_rational(&w, false, 2, b2, a2));
  refuse(&plant, "P12 (from u to z) has a zero on the imaginary axis, at 2 rad/s");
  const double b3[] = {1, -2 * cos(1), 1}, a3[] = {1, 0.5, 0};
  plant = matching(&w, yoke__system_rational(&w, true, 2, b1, a3),
                   yoke__system_rational(&w, true, 2, b3, a3));
  refuse(&plant, "P12 (from u to z) loses rank on the unit circle, at 1 rad per sample");
  const double b4[] = {1, 1}, a4[] = {1, 0.5}, b5[] = {0, 1};
  plant = matching(&w, yoke__system_rational(&w, true, 1, b5, a4),
                   yoke__system_rational(&w, true, 1, b4, a4));
  refuse(&plant, "P12 (from u to z) loses rank on the unit circle, at 3.14159 rad per sample");

  // of P21: y = (s^2 + 4) / (s^2 + 3 s + 2) w
  plant = matching(&w, yoke__system_rational(&w, false, 2, b1, a1),
                   yoke__system_rational(&w, false, 2, a2, a2));
  plant.system = yoke__system_series(
      &w, plant.system,
      yoke__system_apart(&w, yoke__system_gain(&w, false, yoke__matrix_identity(&w, 1, 1)),
                         yoke__system_rational(&w, false, 2, b2, a2)));
  refuse(&plant, "P21 (from w to y) has a zero on the imaginary axis, at 2 rad/s");
  yoke__arena_free(&w);
}

static void test_bad_numbers(void** state) {
  (void)state;
  yoke_arena w = {0};
  yoke_synth_general_plant plant = small_plant(&w, false);
  plant.system.B.a[1] = (double)NAN;
  refuse(&plant, "a number of the plant is NaN or infinite");
  plant = small_plant(&w, false);
  plant.n_u = 3;
  refuse(&plant, "expected inputs w and u and outputs z and y, found 3 u among 3 inputs");
  plant = small_plant(&w, false);
  plant.system.C = yoke__matrix_zero(&w, 3, 3);
  refuse(&plant, "the plant's matrices do not fit: A 2 x 2, B 2 x 3, C 3 x 3, D 3 x 3");
  const size_t n = YOKE_SYNTH_STATES_MAX + 1;
  plant.system =
      (yoke_synth_system){false, yoke__matrix_identity(&w, n, -1), yoke__matrix_zero(&w, n, 3),
                          yoke__matrix_zero(&w, 3, n), yoke__matrix_zero(&w, 3, 3)};
  refuse(&plant, "expected at most 100 states");

  plant = small_plant(&w, false);
  yoke_synth_general_result none;
#define REFUSE(change, words)                                                                      \
  do {                                                                                             \
    yoke_synth_general_settings s = yoke__synth_general_default();                                 \
    s.change;                                                                                      \
    assert_int_equal(yoke__synth_general(&w, &plant, &s, &none, &err.sink), YOKE_BAD_INPUT);       \
    check_contains(err.text, words);                                                               \
  } while (0)
  REFUSE(tolerance = 0, "expected a tolerance of gamma from 1e-10 to 0.5, found 0");
  REFUSE(margin = -1, "expected a margin of gamma from 0 to 0.3, found -1");
  REFUSE(penalty = -1, "expected a penalty eps of 0 or more, found -1");
  REFUSE(least_real = 0, "expected a lower bound of the poles' real parts below 0, found 0");
  REFUSE(least_real = (double)NAN,
         "expected a lower bound of the poles' real parts below 0, found nan");
  REFUSE(gamma = (double)NAN, "expected a gamma above 0, or 0 for the smallest, found nan");
  yoke__arena_free(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_zero),
      cmocka_unit_test(test_perfect),
      cmocka_unit_test(test_pole_of_element),
      cmocka_unit_test(test_gains),
      cmocka_unit_test(test_loop),
      cmocka_unit_test(test_invariance),
      cmocka_unit_test(test_weights),
      cmocka_unit_test(test_pole_at_minus_one),
      cmocka_unit_test(test_region),
      cmocka_unit_test(test_not_stabilisable),
      cmocka_unit_test(test_without_rank),
      cmocka_unit_test(test_zeros),
      cmocka_unit_test(test_bad_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
