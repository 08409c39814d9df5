// Readings that come late: the estimates are those of readings in time, bit by bit.
#include "estimate/estimate_late.h"
#include "estimate_scenario.h"
#include "support/counting_heap.h"
#include "support/normal_noise.h"

enum { N_STEPS = 400, N_SENSORS = 3, RING = 5 };
#define H 1e-3

static YOKE_CATCH(err);

// Resistors of the circuit, with the derivatives; or its heat and the offset of a sensor, linear.
static const double z_sd[2] = {0.1, 0.1};
static yoke_unknown unknowns[2][3];
static yoke_sensor sensors[N_SENSORS];

static yoke_estimate_setup setup_of(int method) {
  for (uint32_t i = 0; i < N_SENSORS; i++) {
    sensors[i] = sensor_of("s", i, 0.5);
    unknowns[0][i] = unknown_of(YOKE_UNKNOWN_RESISTANCE, rc_resistors[i].name, i, 4, 3);
    unknowns[0][i].walk = 1e-2;
  }
  unknowns[1][0] = unknown_of(YOKE_UNKNOWN_INPUT, "Q0", 0, 1, 10);
  unknowns[1][0].walk = walk_of(3, H);
  unknowns[1][1] = unknown_of(YOKE_UNKNOWN_OFFSET, "offset", 1, 0, 2);
  return (yoke_estimate_setup){.network = &rc_network,
                               .g = rc_g,
                               .c = rc_c,
                               .sensors = sensors,
                               .unknowns = unknowns[method],
                               .n_sensors = N_SENSORS,
                               .n_unknowns = method == 0 ? 3 : 2,
                               .h = H,
                               .z_sd = z_sd,
                               .rate_sd = 0.1,
                               .rate_walk = walk_of(1, H)};
}

// ---- a plant with readings

typedef struct stage {
  double v[N_STEPS][2], slope[N_STEPS][2], readings[N_STEPS][N_SENSORS];
} stage;

static void play(stage* s, yoke_arena* arena) {
  normal_noise noise = {.seed = 1};
  plant p = plant_make(&rc_network, rc_g, rc_c, rc_z0, H, arena);
  for (size_t k = 0; k < N_STEPS; k++) {
    s->v[k][0] = 10 + 3 * sin(0.05 * (double)k);
    s->v[k][1] = 300 + (k < 200 ? 0 : 4);
    s->slope[k][0] = 20;
    s->slope[k][1] = 0;
    const double* x = plant_read(&p, s->v[k]);
    for (size_t i = 0; i < N_SENSORS; i++) {
      s->readings[k][i] = x[i] + 0.5 * noise_next(&noise);
    }
    plant_step(&p, s->v[k], s->slope[k]);
  }
}

static double conductances[N_STEPS][3];

static void drift(size_t k) {
  for (size_t e = 0; e < 3; e++) {
    conductances[k][e] = rc_g[e] * (1 + 1e-3 * (double)k);
  }
}

// Delay of a reading in steps; the same in all tests.
static size_t delay_of(size_t k, size_t sensor) {
  return (k * 7 + sensor * 3 + k * k / 5) % (RING + 1);
}

static const double* slope_of(const stage* s, size_t k) {
  return k % 3 == 0 ? s->slope[k] : NULL;
}

// What inputs did in the step before step k; false: they were held.
static bool ramp_of(const stage* s, size_t k, double change[2]) {
  for (size_t i = 0; i < 2 && k > 0 && k < N_STEPS; i++) {
    change[i] = s->v[k][i] - s->v[k - 1][i];
  }
  return k % 3 == 2 && k < N_STEPS;
}

static yoke_late* late_make(const yoke_estimate_setup* setup, yoke_arena* arena, size_t n_ring) {
  yoke_estimate* f = filter_make(setup, arena, &err);
  yoke_late* l = NULL;
  check_ok(yoke__estimate_start(f, rc_z0, rc_v));
  check_ok(yoke__late_prepare(setup, f, n_ring, arena, &l));
  yoke__late_start(l, 2.0);
  return l;
}

// Mean and covariance at the end, once all readings are there.
static void in_time(const yoke_estimate_setup* setup, const stage* s, yoke_estimate* f) {
  check_ok(yoke__estimate_start(f, rc_z0, rc_v));
  for (size_t k = 0; k < N_STEPS; k++) {
    double change[2];
    if (ramp_of(s, k, change)) {
      check_ok(yoke__estimate_catch_up(f, change));
      check_ok(yoke__estimate_ramp(f, change));
    }
    if (setup->n_unknowns == 2) {
      check_ok(yoke__estimate_set_elements(f, conductances[k], rc_c));
    }
    check_ok(yoke__estimate_correct(f, s->v[k], s->readings[k], NULL));
    check_ok(yoke__estimate_predict(f, s->v[k], slope_of(s, k)));
  }
}

// Readings of step k come delay steps after it, before the correction or after it.
static void deliver(yoke_late* l, const stage* s, size_t now, bool is_second) {
  for (size_t k = now < RING ? 0 : now - RING; k <= now && k < N_STEPS; k++) {
    for (size_t i = 0; i < N_SENSORS; i++) {
      if (k + delay_of(k, i) == now && (k % 4 == 1) == is_second) {
        const double jitter = 0.3 * H * sin((double)(k + i));
        const yoke_late_reading way =
            yoke__late_reading(l, i, 2.0 + (double)k * H + jitter, s->readings[k][i]);
        assert_int_equal(way, k == now && !is_second ? YOKE_READING_IN_TIME : YOKE_READING_LATE);
      }
    }
  }
}

static void test_as_in_time(void** state) {
  (void)state;
  check_heap_is_counted();
  static stage s;
  for (int method = 0; method < 2; method++) {
    yoke_arena arena = {0};
    play(&s, &arena);
    const yoke_estimate_setup setup = setup_of(method);
    yoke_estimate* direct = filter_make(&setup, &arena, &err);
    yoke_estimate* f = filter_make(&setup, &arena, &err);
    yoke_late* l = NULL;
    check_ok(yoke__estimate_start(f, rc_z0, rc_v));
    check_ok(yoke__late_prepare(&setup, f, RING, &arena, &l));
    yoke__late_start(l, 2.0);
    for (size_t k = 0; k < N_STEPS; k++) {
      drift(k);
    }
    const long before = atomic_load(&n_heap_calls);
    for (size_t k = 0; k < N_STEPS + RING + 1; k++) {
      // the steps after the last one have no readings: they only bring in what is late
      const size_t at = k < N_STEPS ? k : N_STEPS - 1;
      double change[2];
      if (ramp_of(&s, k, change)) {
        check_ok(yoke__late_catch_up(l, change));
        check_ok(yoke__late_ramp(l, change));
      }
      deliver(l, &s, k, false);
      if (k < N_STEPS && method == 1) {
        check_ok(yoke__late_set_elements(l, conductances[k], rc_c));
      }
      check_ok(yoke__late_correct(l, s.v[at]));
      deliver(l, &s, k, true);
      check_ok(yoke__late_predict(l, s.v[at], k < N_STEPS ? slope_of(&s, k) : NULL));
    }
    assert_int_equal(atomic_load(&n_heap_calls) - before, 0);
    in_time(&setup, &s, direct);
    for (size_t k = N_STEPS; k < N_STEPS + RING + 1; k++) {
      static const bool none[N_SENSORS] = {false};
      check_ok(yoke__estimate_correct(direct, s.v[N_STEPS - 1], s.readings[0], none));
      check_ok(yoke__estimate_predict(direct, s.v[N_STEPS - 1], NULL));
    }

    const size_t n = yoke__estimate_size(f);
    assert_memory_equal(yoke__estimate_mean(f), yoke__estimate_mean(direct), n * sizeof(double));
    assert_memory_equal(yoke__estimate_covariance(f), yoke__estimate_covariance(direct),
                        n * n * sizeof(double));
    const yoke_estimate_counts a = yoke__estimate_counts_of(f),
                               b = yoke__estimate_counts_of(direct);
    assert_memory_equal(&a, &b, sizeof a);
    const yoke_late_counts counts = yoke__late_counts_of(l);
    assert_int_equal(counts.n_in_time + counts.n_late, (size_t)N_STEPS * N_SENSORS);
    assert_int_equal(counts.n_too_late + counts.n_double + counts.n_early, 0);
    assert_int_equal(counts.longest, RING);
    yoke__arena_free(&arena);
  }
}

// What cannot be taken is counted and changes nothing.
static void test_what_is_left_out(void** state) {
  (void)state;
  static stage s;
  yoke_arena arena = {0};
  play(&s, &arena);
  const yoke_estimate_setup setup = setup_of(1);
  yoke_estimate* direct = filter_make(&setup, &arena, &err);
  yoke_estimate* f = filter_make(&setup, &arena, &err);
  yoke_late* l = NULL;
  check_ok(yoke__estimate_start(f, rc_z0, rc_v));
  check_ok(yoke__estimate_start(direct, rc_z0, rc_v));
  check_ok(yoke__late_prepare(&setup, f, RING, &arena, &l));
  yoke__late_start(l, 0);
  for (size_t k = 0; k < 100; k++) {
    const double t = (double)k * H;
    for (size_t i = 0; i < N_SENSORS; i++) {
      yoke__late_reading(l, i, t, s.readings[k][i]);
    }
    if (k > RING) {
      assert_int_equal(yoke__late_reading(l, 0, t - (RING + 1) * H, 500), YOKE_READING_TOO_LATE);
      assert_int_equal(yoke__late_reading(l, 1, t - 2 * H, 500), YOKE_READING_DOUBLE);
      assert_int_equal(yoke__late_reading(l, 1, t + H, 500), YOKE_READING_EARLY);
      assert_int_equal(yoke__late_reading(l, 1, t, (double)NAN), YOKE_READING_NONE);
      assert_int_equal(yoke__late_reading(l, 1, (double)NAN, 500), YOKE_READING_NONE);
      assert_int_equal(yoke__late_reading(l, 1, (double)INFINITY, 500), YOKE_READING_EARLY);
      assert_int_equal(yoke__late_reading(l, 1, -(double)INFINITY, 500), YOKE_READING_TOO_LATE);
    }
    check_ok(yoke__late_correct(l, s.v[k]));
    check_ok(yoke__late_predict(l, s.v[k], NULL));
    check_ok(yoke__estimate_correct(direct, s.v[k], s.readings[k], NULL));
    check_ok(yoke__estimate_predict(direct, s.v[k], NULL));
    assert_memory_equal(yoke__estimate_mean(f), yoke__estimate_mean(direct),
                        yoke__estimate_size(f) * sizeof(double));
  }
  const yoke_late_counts counts = yoke__late_counts_of(l);
  const uint64_t n = 100 - RING - 1;
  assert_int_equal(counts.n_too_late, 2 * n);
  assert_int_equal(counts.n_double, n);
  assert_int_equal(counts.n_early, 2 * n);
  assert_int_equal(counts.n_late + counts.n_repeated, 0);
  yoke__arena_free(&arena);
}

// Innovations are handed out when nothing can change them any more: those of readings in time.
static void test_settled_innovations(void** state) {
  (void)state;
  static stage s;
  static double expected[N_STEPS][N_SENSORS];
  yoke_arena arena = {0};
  play(&s, &arena);
  const yoke_estimate_setup setup = setup_of(0);
  yoke_estimate* direct = filter_make(&setup, &arena, &err);
  check_ok(yoke__estimate_start(direct, rc_z0, rc_v));
  for (size_t k = 0; k < N_STEPS; k++) {
    check_ok(yoke__estimate_correct(direct, s.v[k], s.readings[k], NULL));
    for (size_t i = 0; i < N_SENSORS; i++) {
      double e, sd;
      yoke__estimate_innovation(direct, i, &e, &sd);
      expected[k][i] = e / sd;
    }
    check_ok(yoke__estimate_predict(direct, s.v[k], slope_of(&s, k)));
  }

  yoke_late* l = late_make(&setup, &arena, RING);
  size_t n_settled = 0;
  for (size_t k = 0; k < N_STEPS; k++) {
    deliver(l, &s, k, false);
    check_ok(yoke__late_correct(l, s.v[k]));
    deliver(l, &s, k, true);
    check_ok(yoke__late_predict(l, s.v[k], slope_of(&s, k)));
    const double* e = yoke__late_settled(l);
    assert_int_equal(e != NULL, k >= RING);
    if (e != NULL) {
      assert_memory_equal(e, expected[k - RING], sizeof expected[0]);
      n_settled++;
    }
  }
  assert_int_equal(n_settled, N_STEPS - RING);
  yoke__arena_free(&arena);
}

// A step without a correction of its own gets one when a reading of it comes.
static void test_late_reading_of_a_step_without(void** state) {
  (void)state;
  static stage s;
  yoke_arena arena = {0};
  play(&s, &arena);
  const yoke_estimate_setup setup = setup_of(0);
  yoke_estimate* direct = filter_make(&setup, &arena, &err);
  yoke_estimate* f = filter_make(&setup, &arena, &err);
  yoke_late* l = NULL;
  check_ok(yoke__estimate_start(f, rc_z0, rc_v));
  check_ok(yoke__estimate_start(direct, rc_z0, rc_v));
  check_ok(yoke__late_prepare(&setup, f, RING, &arena, &l));
  for (size_t k = 0; k < 40; k++) {
    if (k % 4 == 0) {
      check_ok(yoke__estimate_correct(direct, s.v[k], s.readings[k], NULL));
    }
    check_ok(yoke__estimate_predict(direct, s.v[k], NULL));

    if (k % 4 == 3) {
      for (size_t i = 0; i < N_SENSORS; i++) {
        yoke__late_reading(l, i, (double)(k - 3) * H, s.readings[k - 3][i]);
      }
    }
    check_ok(yoke__late_predict(l, s.v[k], NULL));
  }
  assert_memory_equal(yoke__estimate_mean(f), yoke__estimate_mean(direct),
                      yoke__estimate_size(f) * sizeof(double));
  assert_int_equal(yoke__late_counts_of(l).n_repeated, 30);
  yoke__arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_as_in_time),
      cmocka_unit_test(test_what_is_left_out),
      cmocka_unit_test(test_settled_innovations),
      cmocka_unit_test(test_late_reading_of_a_step_without),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
