// The running judgement: a right model keeps its good name in runs of any length, a wrong one loses it, with the reason.
#include "estimate/estimate_innovation.h"
#include "estimate_scenario.h"
#include "support/counting_heap.h"
#include "support/normal_noise.h"

// ---- on noise of known properties

typedef struct fault {  // of sensor 1 from sample `from` until `to`
  size_t from, to;
  double mean, scale, lag;
} fault;

// n samples of `n_sensors` sensors; returns the verdict at the end, and whether it was inconsistent at any time.
static yoke_twin_verdict judge(yoke_consistency* c, size_t n, uint64_t seed, const fault* f,
                               bool* was_inconsistent) {
  normal_noise noise = {.seed = seed};
  double e[8], before = 0;
  *was_inconsistent = false;
  for (size_t k = 0; k < n; k++) {
    for (size_t i = 0; i < c->n_sensors; i++) {
      e[i] = noise_next(&noise);
    }
    if (f != NULL && k >= f->from && k < f->to) {
      before = e[1] = f->lag * before + sqrt(1 - f->lag * f->lag) * e[1];
      e[1] = f->mean + f->scale * e[1];
    }
    const uint64_t n_bad = c->n_bad_looks;
    yoke__consistency_add(c, e);
    *was_inconsistent |= c->n_bad_looks > n_bad;
  }
  return yoke__consistency_verdict(c, false, NULL);
}

// 1 % are allowed in all, at any time of a run.
static void test_right_model_at_any_time(void** state) {
  (void)state;
  int n_bad = 0;
  for (uint64_t i = 0; i < 150; i++) {
    yoke_arena arena = {0};
    yoke_consistency* c = yoke__consistency_prepare(3, 0, &arena);
    bool was_inconsistent;
    const yoke_twin_verdict verdict = judge(c, 5000, 100 + i, NULL, &was_inconsistent);
    n_bad += was_inconsistent || verdict != YOKE_TWIN_CONSISTENT;
    yoke__arena_free(&arena);
  }
  check_between(n_bad, 0, 3);
}

// Many windows: their shares of the chance get smaller.
static void test_long_run(void** state) {
  (void)state;
  yoke_arena arena = {0};
  yoke_consistency* c = yoke__consistency_prepare(2, 100, &arena);
  bool was_inconsistent;
  const size_t n = getenv("YOKE_FULL") != NULL ? 30000000 : 1000000;
  assert_int_equal(judge(c, n, 5, NULL, &was_inconsistent), YOKE_TWIN_CONSISTENT);
  assert_false(was_inconsistent);
  assert_int_equal(c->n_bad_looks, 0);
  assert_true(c->sensors[0].window.n_windows > 50);
  yoke__arena_free(&arena);
}

// Faults that come in the middle of a long run are found within a window, and forgotten a window after they went.
static void test_faults_in_the_middle(void** state) {
  (void)state;
  static const fault faults[] = {
      {50000, 90000, 0.3, 1, 0},
      {50000, 90000, 0, 1.2, 0},
      {50000, 90000, 0, 0.8, 0},
      {50000, 90000, 0, 1, 0.25},
  };
  static const yoke_statistic reasons[] = {YOKE_STATISTIC_MEAN, YOKE_STATISTIC_VARIANCE,
                                           YOKE_STATISTIC_VARIANCE, YOKE_STATISTIC_LAG};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    yoke_arena arena = {0};
    yoke_consistency* c = yoke__consistency_prepare(3, 0, &arena);
    bool was_inconsistent;
    yoke_finding why;
    assert_int_equal(judge(c, 50000, 1, NULL, &was_inconsistent), YOKE_TWIN_CONSISTENT);
    const fault at_once = {0, 40000, faults[i].mean, faults[i].scale, faults[i].lag};
    judge(c, 33000, 2, &at_once, &was_inconsistent);
    assert_int_equal(yoke__consistency_verdict(c, false, &why), YOKE_TWIN_INCONSISTENT);
    assert_int_equal(why.sensor, 1);
    // coloured noise shows in the ratio as well
    assert_true(why.statistic == reasons[i] ||
                (reasons[i] == YOKE_STATISTIC_LAG && why.statistic == YOKE_STATISTIC_LOW_HIGH));
    assert_true(why.value < why.low || why.value > why.high);
    assert_int_equal(judge(c, 50000, 3, NULL, &was_inconsistent), YOKE_TWIN_CONSISTENT);
    yoke__arena_free(&arena);
  }
}

static void test_starting_and_lost(void** state) {
  (void)state;
  yoke_arena arena = {0};
  yoke_consistency* c = yoke__consistency_prepare(2, 500, &arena);
  bool was_inconsistent;
  yoke_finding why;
  // what belongs to the start-up is not judged
  const fault start_up = {0, 500, 0, 30, 0};
  assert_int_equal(judge(c, 600, 1, &start_up, &was_inconsistent), YOKE_TWIN_STARTING);
  assert_int_equal(yoke__consistency_verdict(c, false, &why), YOKE_TWIN_STARTING);
  assert_int_equal(why.statistic, YOKE_STATISTIC_NONE);
  assert_int_equal(yoke__consistency_verdict(c, true, NULL), YOKE_TWIN_DIVERGED);
  assert_int_equal(judge(c, 5000, 2, NULL, &was_inconsistent), YOKE_TWIN_CONSISTENT);

  yoke__consistency_clear(c);
  const fault lost = {0, 5000, 0, 20, 0};
  assert_int_equal(judge(c, 2000, 3, &lost, &was_inconsistent), YOKE_TWIN_DIVERGED);
  yoke__consistency_verdict(c, false, &why);
  assert_int_equal(why.statistic, YOKE_STATISTIC_NIS);
  check_between(why.value, 150, 250);
  yoke__arena_free(&arena);
}

// A sensor that reads every tenth step is judged on its own readings.
static void test_slow_sensor(void** state) {
  (void)state;
  yoke_arena arena = {0};
  yoke_consistency* c = yoke__consistency_prepare(2, 0, &arena);
  normal_noise noise = {.seed = 4};
  for (size_t k = 0; k < 40000; k++) {
    const double e[2] = {noise_next(&noise), k % 10 == 0 ? 0.4 + noise_next(&noise) : (double)NAN};
    yoke__consistency_add(c, e);
  }
  yoke_finding why;
  assert_int_equal(yoke__consistency_verdict(c, false, &why), YOKE_TWIN_INCONSISTENT);
  assert_int_equal(why.sensor, 1);
  assert_int_equal(why.statistic, YOKE_STATISTIC_MEAN);
  assert_int_equal(c->sensors[1].white.sums.n, 4000);
  yoke__arena_free(&arena);
}

// A copy goes on like the original, bit by bit, and no heap is taken.
static void test_saved_state(void** state) {
  (void)state;
  check_heap_is_counted();
  yoke_arena arena = {0};
  yoke_consistency* c = yoke__consistency_prepare(3, 0, &arena);
  yoke_consistency* copy = yoke__consistency_prepare(3, 0, &arena);
  bool was_inconsistent;
  const long before = atomic_load(&n_heap_calls);
  judge(c, 3333, 1, NULL, &was_inconsistent);
  memcpy(copy, c, yoke__consistency_size(3));
  judge(c, 3333, 2, NULL, &was_inconsistent);
  judge(copy, 3333, 2, NULL, &was_inconsistent);
  assert_int_equal(atomic_load(&n_heap_calls) - before, 0);
  assert_memory_equal(c, copy, yoke__consistency_size(3));
  yoke__arena_free(&arena);
}

// ---- on filters: a hundred runs of the circuit each

enum { N_RUNS = 100, N_STEPS = 3000 };
#define H       1e-3
#define Z_SD    0.5
#define Z_WALK  0.2  // of the temperatures [K/sqrt(s)]
#define Q0_WALK 2.0  // of the heat [W/sqrt(s)], where it is unknown

static YOKE_CATCH(err);

// What differs between the circuit and what the filter believes of it.
typedef struct difference {
  double R2;        // factor
  double heat;      // factor
  double noise;     // factor
  double offset;    // of T3 [K]
  bool is_unknown;  // the filter estimates the heat
} difference;

typedef struct circuit {
  yoke_heat_model model;
  double E[4], Psi1[4];
} circuit;

static circuit circuit_of(const difference* d, yoke_arena* arena) {
  circuit self;
  const double g[3] = {rc_g[0], rc_g[1] / d->R2, rc_g[2]};
  double work[64];
  check_ok(yoke__heat_model_prepare(&rc_network, g, rc_c, arena, &self.model, NULL));
  assert_true(yoke__discrete_work_size(2) <= 64);
  check_ok(yoke__discrete(2, self.model.Fc, H, self.E, self.Psi1, (double[4]){0}, work));
  return self;
}

static void circuit_step(const circuit* self, const double v[2], normal_noise* noise, double z[2]) {
  double push[2], next[2];
  yoke__mat_vec(2, 2, self->E, z, next);
  yoke__mat_vec(2, 2, self->model.Gc, v, push);
  yoke__mat_vec_add(2, 2, self->Psi1, push, next);
  for (size_t i = 0; i < 2; i++) {
    z[i] = next[i] + Z_WALK * sqrt(H) * noise_next(noise);
  }
}

// One run; its verdict at the end and why.
static yoke_twin_verdict run(const circuit* truth, const difference* d, yoke_estimate* f,
                             yoke_consistency* c, uint64_t seed, yoke_finding* why) {
  normal_noise noise = {.seed = seed};
  double heat = 10 * d->heat, z[2];
  for (size_t i = 0; i < 2; i++) {
    z[i] = rc_z0[i] + Z_SD * noise_next(&noise);
  }
  yoke__consistency_clear(c);
  check_ok(yoke__estimate_start(f, rc_z0, rc_v));
  for (size_t k = 0; k < N_STEPS; k++) {
    const double y[2] = {z[0] + 0.5 * d->noise * noise_next(&noise),
                         z[1] + 0.5 * d->noise * noise_next(&noise) + d->offset};
    check_ok(yoke__estimate_correct(f, rc_v, y, NULL));
    double e[2];
    for (size_t i = 0; i < 2; i++) {
      double innovation, sd;
      yoke__estimate_innovation(f, i, &innovation, &sd);
      e[i] = innovation / sd;
    }
    yoke__consistency_add(c, e);
    check_ok(yoke__estimate_predict(f, rc_v, NULL));
    heat += d->is_unknown ? Q0_WALK * sqrt(H) * noise_next(&noise) : 0;
    circuit_step(truth, (const double[2]){heat, rc_v[1]}, &noise, z);
  }
  const bool has_diverged = yoke__estimate_state_of(f) == YOKE_ESTIMATE_DIVERGED;
  return yoke__consistency_verdict(c, has_diverged, why);
}

// How many of a hundred runs end with a verdict, for this reason (none: whatever it is).
static int count(const char* name, difference d, yoke_twin_verdict wanted, yoke_statistic reason) {
  yoke_arena arena = {0};
  const circuit truth = circuit_of(&d, &arena);
  const double z_sd[2] = {Z_SD, Z_SD};
  const yoke_sensor sensors[2] = {sensor_of("T2", 1, 0.5), sensor_of("T3", 2, 0.5)};
  yoke_unknown heat = unknown_of(YOKE_UNKNOWN_INPUT, "Q0", 0, 10, 1);
  heat.walk = Q0_WALK;
  const yoke_estimate_setup setup = {.network = &rc_network,
                                     .g = rc_g,
                                     .c = rc_c,
                                     .sensors = sensors,
                                     .unknowns = &heat,
                                     .n_sensors = 2,
                                     .n_unknowns = d.is_unknown ? 1 : 0,
                                     .h = H,
                                     .z_sd = z_sd,
                                     .z_walk = Z_WALK};
  yoke_estimate* f = filter_make(&setup, &arena, &err);
  yoke_consistency* c = yoke__consistency_prepare(2, 0, &arena);
  int n = 0, n_of[YOKE_STATISTIC_NIS + 1] = {0};
  for (uint64_t seed = 1; seed <= N_RUNS; seed++) {
    yoke_finding why;
    const yoke_twin_verdict verdict = run(&truth, &d, f, c, 1000 * seed, &why);
    n += verdict == wanted && (reason == YOKE_STATISTIC_NONE || reason == why.statistic);
    n_of[why.statistic]++;
  }
  print_message("%-34s %3d of 100; by mean %d, variance %d, lag %d, low/high %d, flatness %d, "
                "NIS %d\n",
                name, n, n_of[YOKE_STATISTIC_MEAN], n_of[YOKE_STATISTIC_VARIANCE],
                n_of[YOKE_STATISTIC_LAG], n_of[YOKE_STATISTIC_LOW_HIGH],
                n_of[YOKE_STATISTIC_FLATNESS], n_of[YOKE_STATISTIC_NIS]);
  yoke__arena_free(&arena);
  return n;
}

static void test_right_models(void** state) {
  (void)state;
  assert_true(count("right", (difference){1, 1, 1, 0, false}, YOKE_TWIN_CONSISTENT,
                    YOKE_STATISTIC_NONE) >= 95);
  assert_true(count("right, heat unknown", (difference){1, 1, 1, 0, true}, YOKE_TWIN_CONSISTENT,
                    YOKE_STATISTIC_NONE) >= 95);
}

static void test_wrong_models(void** state) {
  (void)state;
  static const struct {
    const char* name;
    difference d;
  } cases[] = {
      {"R2 30 % larger", {1.3, 1, 1, 0, false}},
      {"R2 30 % smaller", {0.7, 1, 1, 0, false}},
      {"heat 30 % larger", {1, 1.3, 1, 0, false}},
      {"noise twice as large", {1, 1, 2, 0, false}},
      {"noise half as large", {1, 1, 0.5, 0, false}},
      {"T3 2 K too high", {1, 1, 1, 2, false}},
      {"R2 30 % larger, heat unknown", {1.3, 1, 1, 0, true}},
      {"noise twice as large, heat unknown", {1, 1, 2, 0, true}},
      {"noise half as large, heat unknown", {1, 1, 0.5, 0, true}},
      {"T3 2 K too high, heat unknown", {1, 1, 1, 2, true}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const yoke_statistic reason =
        cases[i].d.noise != 1 ? YOKE_STATISTIC_VARIANCE : YOKE_STATISTIC_MEAN;
    assert_true(count(cases[i].name, cases[i].d, YOKE_TWIN_INCONSISTENT, reason) >= 95);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_right_model_at_any_time),
      cmocka_unit_test(test_long_run),
      cmocka_unit_test(test_faults_in_the_middle),
      cmocka_unit_test(test_starting_and_lost),
      cmocka_unit_test(test_slow_sensor),
      cmocka_unit_test(test_saved_state),
      cmocka_unit_test(test_right_models),
      cmocka_unit_test(test_wrong_models),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
