// Start at rest of rough guesses: the temperatures are as wrong as the guesses make them, and the covariance says so. Errors over
// deviations (NEES) of runs whose true values are drawn from the guesses.
#include "estimate/estimate_kalman.h"
#include "estimate_scenario.h"

enum { N_TRIALS = 200, N_TIMES = 4 };
static const int looked_at[N_TIMES] = {0, 1, 20, 500};  // steps

static yoke_unknown input_of(const char* name, uint32_t input, double start, double sd) {
  static const double one[] = {1};
  yoke_unknown u = unknown_of(YOKE_UNKNOWN_INPUT, name, input, start, sd);
  u.factors = one;
  return u;
}

static const double z_sd[] = {0.3, 0.3};

static yoke_estimate_setup setup_of(const yoke_unknown unknowns[], size_t n,
                                    const yoke_sensor* sensor) {
  return (yoke_estimate_setup){.network = &rc_network,
                               .g = rc_g,
                               .c = rc_c,
                               .sensors = sensor,
                               .unknowns = unknowns,
                               .n_sensors = 1,
                               .n_unknowns = n,
                               .h = 1e-2,
                               .z_sd = z_sd,
                               .rate_sd = 2.5,  // z_sd over the fastest time constant
                               .rate_walk = 10};
}

// e P^-1 e of temperatures and unknowns, without the derivatives; or of each number on its own.
static double nees_of(const yoke_estimate* f, const double z[2], const double rho[], size_t n_rho,
                      bool is_each) {
  const size_t n = yoke__estimate_size(f), m = 2 + n_rho;
  const double *q = yoke__estimate_mean(f), *P = yoke__estimate_covariance(f);
  double A[25], e[5], x[5], sum = 0;
  size_t pivots[5];
  for (size_t i = 0; i < m; i++) {
    const size_t at = i < 2 ? i : n - m + i;
    e[i] = x[i] = (i < 2 ? z[i] : rho[i - 2]) - q[at];
    for (size_t j = 0; j < m; j++) {
      A[i * m + j] = is_each && i != j ? 0 : P[at * n + (j < 2 ? j : n - m + j)];
    }
  }
  check_ok(yoke__solve(m, A, x, pivots));
  for (size_t i = 0; i < m; i++) {
    sum += e[i] * x[i];
  }
  return sum;
}

// The covariance as if the guesses said nothing about rest.
static void forget_rest(yoke_estimate* f) {
  const size_t n = yoke__estimate_size(f);
  double q[8], P[64] = {0};
  memcpy(q, yoke__estimate_mean(f), n * sizeof *q);
  for (size_t i = 0; i < n; i++) {
    P[i * (n + 1)] = i < 2 ? z_sd[i] * z_sd[i] : yoke__estimate_covariance(f)[i * (n + 1)];
  }
  check_ok(yoke__estimate_set_mean(f, q, P));
}

// True values from the guesses, a plant at their rest, up to z_sd, and a filter that starts at the rest of the guesses.
static void run_trial(const yoke_unknown unknowns[], size_t n, bool is_forgotten, uint64_t* seed,
                      double nees[N_TIMES]) {
  yoke_arena arena = {0};
  YOKE_CATCH(err);
  const bool is_each = unknowns[0].kind != YOKE_UNKNOWN_INPUT;
  const yoke_sensor sensor = sensor_of("t3", 2, 0.2);
  const yoke_estimate_setup setup = setup_of(unknowns, n, &sensor);
  double g[3], v[2], rho[3], theta[3];
  memcpy(g, rc_g, sizeof g);
  memcpy(v, rc_v, sizeof v);
  for (size_t j = 0; j < n; j++) {
    const yoke_unknown* u = &unknowns[j];
    rho[j] = u->start + u->sd * random_normal(seed);
    theta[j] = u->kind == YOKE_UNKNOWN_CONDUCTANCE ? 1 / rho[j] : rho[j];
    if (u->kind == YOKE_UNKNOWN_INPUT) {
      v[u->targets[0]] = rho[j];
    } else {
      g[u->targets[0]] = 1 / rho[j];
    }
  }
  plant rc = plant_make(&rc_network, g, rc_c, rc_z0, setup.h, &arena);
  check_ok(yoke__heat_model_rest(&rc.model, v, rc.z));
  for (size_t i = 0; i < 2; i++) {
    rc.z[i] += z_sd[i] * random_normal(seed);
  }

  yoke_estimate* f = filter_make(&setup, &arena, &err);
  check_ok(yoke__estimate_start(f, NULL, rc_v));
  if (is_forgotten) {
    forget_rest(f);
  }
  for (int k = 0, at = 0; at < N_TIMES; k++) {
    if (k == looked_at[at]) {
      nees[at++] += nees_of(f, rc.z, theta, n, is_each) / N_TRIALS;
    }
    const double reading = plant_read(&rc, v)[2] + 0.2 * random_normal(seed);
    if (yoke__estimate_correct(f, rc_v, &reading, NULL) < 0) {
      fail_msg("diverged after %d corrections", k);
    }
    check_ok(yoke__estimate_predict(f, rc_v, NULL));
    plant_step(&rc, v, NULL);
  }
  yoke__arena_free(&arena);
}

static void run_trials(const char* what, const yoke_unknown unknowns[], size_t n, bool is_forgotten,
                       double nees[N_TIMES]) {
  uint64_t seed = 5;
  memset(nees, 0, N_TIMES * sizeof *nees);
  for (int i = 0; i < N_TRIALS; i++) {
    run_trial(unknowns, n, is_forgotten, &seed, nees);
  }
  print_message(
      "%s%s: NEES of %zu numbers at the start %.3g, after 1 step %.3g, 20 %.3g, 500 %.3g\n", what,
      is_forgotten ? ", rest forgotten" : "", n + 2, nees[0], nees[1], nees[2], nees[3]);
}

// The mean of N_TRIALS sums of m squares: m, with the variance 2 m / N_TRIALS.
static double bound_of(size_t m) {
  return 4 * sqrt(2 * (double)m / N_TRIALS);
}

// Heat and air: nothing is linearised.
static void test_linear(void** state) {
  (void)state;
  const yoke_unknown unknowns[] = {input_of("q0", 0, 10, 5), input_of("air", 1, 300, 10)};
  double nees[N_TIMES];
  run_trials("linear", unknowns, 2, false, nees);
  for (size_t i = 0; i < N_TIMES; i++) {
    check_near(nees[i], 4, bound_of(4));
  }
  run_trials("linear", unknowns, 2, true, nees);
  for (size_t i = 0; i < N_TIMES; i++) {
    assert_true(nees[i] > 4 + bound_of(4));
  }
}

// A resistance, known to a tenth: its rest is linear in it, the heat balances are nearly so. The noise of rates leaves the filter less
// sure than it could be, so that the bound is one from above; squares of single numbers may all be the same one.
static void test_resistance(void** state) {
  (void)state;
  const yoke_unknown_kind kinds[] = {YOKE_UNKNOWN_RESISTANCE, YOKE_UNKNOWN_CONDUCTANCE};
  static const char* const names[] = {"resistance", "conductance"};
  for (size_t k = 0; k < YOKE_COUNT(kinds); k++) {
    const yoke_unknown unknown = unknown_of(kinds[k], "R3", 2, 3, 0.3);
    double nees[N_TIMES];
    run_trials(names[k], &unknown, 1, false, nees);
    for (size_t i = 0; i < N_TIMES; i++) {
      check_between(nees[i], 1, 3 + 3 * bound_of(1));
    }
    run_trials(names[k], &unknown, 1, true, nees);
    for (size_t i = 0; i < N_TIMES; i++) {
      assert_true(nees[i] > 3 + 3 * bound_of(1));
    }
  }
}

// A guess that may be wrong by all of itself: rest is as unsure as 10 W through it, although the conductance may be a hundred times as
// large. Temperatures that are given have their own deviation.
static void test_rough_guess(void** state) {
  (void)state;
  const yoke_unknown unknown = unknown_of(YOKE_UNKNOWN_CONDUCTANCE, "R3", 2, 3, 3);
  const yoke_sensor sensor = sensor_of("t3", 2, 0.2);
  const yoke_estimate_setup setup = setup_of(&unknown, 1, &sensor);
  const double given[] = {340, (double)NAN};
  yoke_arena arena = {0};
  YOKE_CATCH(err);
  yoke_estimate* f = filter_make(&setup, &arena, &err);
  for (int is_given = 0; is_given < 2; is_given++) {
    double L[25];
    check_ok(yoke__estimate_start_rest(f, is_given ? given : NULL, rc_v));
    const double *q = yoke__estimate_mean(f), *P = yoke__estimate_covariance(f);
    check_near(q[0], is_given ? 340 : 350, 1e-9);
    check_near(q[1], 330, 1e-9);
    check_near(sqrt(P[0]), is_given ? 0.3 : sqrt(30 * 30 + 0.3 * 0.3), 1e-9);
    check_near(sqrt(P[6]), sqrt(30 * 30 + 0.3 * 0.3), 1e-9);
    check_near(P[1], is_given ? 0 : 900, 1e-9);
    check_near(P[9], -30 / 3.0, 1e-9);  // 30 K and 3 K/W / (3 K/W)^2
    assert_true(sqrt(P[24]) > 30);
    check_ok(yoke__kalman_root(5, P, L));
  }
  yoke__arena_free(&arena);
}

// A bound beside the guess leaves the conductance less room than the deviation of its value.
static void test_tight_bound(void** state) {
  (void)state;
  yoke_unknown unknown = unknown_of(YOKE_UNKNOWN_CONDUCTANCE, "R3", 2, 3, 1);
  unknown.lower = 2.9;
  const yoke_sensor sensor = sensor_of("t3", 2, 0.2);
  const yoke_estimate_setup setup = setup_of(&unknown, 1, &sensor);
  yoke_arena arena = {0};
  YOKE_CATCH(err);
  yoke_estimate* f = filter_make(&setup, &arena, &err);
  double L[25];
  check_ok(yoke__estimate_start(f, NULL, rc_v));
  check_ok(yoke__kalman_root(5, yoke__estimate_covariance(f), L));
  yoke__arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_linear),
      cmocka_unit_test(test_resistance),
      cmocka_unit_test(test_rough_guess),
      cmocka_unit_test(test_tight_bound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
