// Inputs that turn out to have gone straight: the filter ends where a prediction with their slope does, and its heat balance holds.
#include "estimate_scenario.h"

#define H 0.02

static YOKE_CATCH(err);

static const double z_sd[] = {0.1, 0.1};
static const double from[] = {10.0, 300.0}, change[] = {3.0, -2.0};
static const double slope[] = {3.0 / H, -2.0 / H}, end[] = {13.0, 298.0};

typedef struct subject {
  yoke_sensor sensors[2];
  yoke_unknown unknowns[2];
  yoke_estimate_setup setup;
} subject;

// R2 with derivatives and by sigma points; else the heat, and an offset.
static void subject_make(subject* s, yoke_estimate_method method) {
  const bool has_element = method == YOKE_ESTIMATE_DERIVATIVE || method == YOKE_ESTIMATE_UNSCENTED;
  s->sensors[0] = sensor_of("T2", 1, 0.5);
  s->sensors[1] = sensor_of("T3", 2, 0.5);
  s->unknowns[0] = has_element ? unknown_of(YOKE_UNKNOWN_RESISTANCE, "R2", 1, 2.5, 0.01)
                               : unknown_of(YOKE_UNKNOWN_INPUT, "Q0", 0, 9, 3);
  s->unknowns[1] = unknown_of(YOKE_UNKNOWN_OFFSET, "offset", 1, 0, 1);
  s->setup = (yoke_estimate_setup){.network = &rc_network,
                                   .g = rc_g,
                                   .c = rc_c,
                                   .sensors = s->sensors,
                                   .unknowns = s->unknowns,
                                   .n_sensors = 2,
                                   .n_unknowns = 2,
                                   .method = method,
                                   .h = H,
                                   .z_sd = z_sd,
                                   .rate_sd = 0.1,
                                   .rate_walk = walk_of(1, H)};
}

static yoke_estimate* subject_filter(const subject* s, yoke_arena* arena) {
  yoke_estimate* f = filter_make(&s->setup, arena, &err);
  const double readings[] = {303, 300};
  check_ok(yoke__estimate_start(f, rc_z0, from));
  check_ok(yoke__estimate_correct(f, from, readings, NULL));
  return f;
}

static void check_close(const double a[], const double b[], size_t n, double tolerance) {
  for (size_t i = 0; i < n; i++) {
    if (!(fabs(a[i] - b[i]) <= tolerance * fmax(1, fabs(b[i])))) {
      fail_msg("number %zu: %.17g, expected %.17g", i, a[i], b[i]);
    }
  }
}

static void test_is_a_prediction_with_slope(void** state) {
  (void)state;
  const yoke_estimate_method methods[] = {YOKE_ESTIMATE_LINEAR, YOKE_ESTIMATE_DERIVATIVE,
                                          YOKE_ESTIMATE_EXTENDED, YOKE_ESTIMATE_UNSCENTED};
  for (size_t i = 0; i < YOKE_COUNT(methods); i++) {
    subject s;
    yoke_arena arena = {0};
    subject_make(&s, methods[i]);
    yoke_estimate *known = subject_filter(&s, &arena), *later = subject_filter(&s, &arena);
    const double readings[] = {304, 301};
    check_ok(yoke__estimate_predict(known, from, slope));
    check_ok(yoke__estimate_predict(later, from, NULL));
    check_ok(yoke__estimate_ramp(later, change));
    const size_t n = yoke__estimate_size(known);

    // sigma points have slopes of their own networks: 0.4 % of R2 move the end of the ramp by less than 1e-3 K
    const bool is_exact = methods[i] != YOKE_ESTIMATE_UNSCENTED;
    check_close(yoke__estimate_mean(later), yoke__estimate_mean(known), n, is_exact ? 1e-13 : 1e-6);
    check_close(yoke__estimate_covariance(later), yoke__estimate_covariance(known), n * n,
                is_exact ? 0 : 1e-4);
    check_ok(yoke__estimate_correct(known, end, readings, NULL));
    check_ok(yoke__estimate_correct(later, end, readings, NULL));
    check_close(yoke__estimate_mean(later), yoke__estimate_mean(known), n, is_exact ? 1e-12 : 1e-4);
    yoke__arena_free(&arena);
  }
}

// z' stays what the network makes of z and the inputs.
static void test_heat_balance(void** state) {
  (void)state;
  subject s;
  yoke_arena arena = {0};
  subject_make(&s, YOKE_ESTIMATE_DERIVATIVE);
  yoke_estimate* f = filter_make(&s.setup, &arena, &err);
  check_ok(yoke__estimate_start(f, rc_z0, from));
  check_ok(yoke__estimate_predict(f, from, NULL));
  check_ok(yoke__estimate_ramp(f, change));
  const double* q = yoke__estimate_mean(f);
  const double down = (q[0] - q[1]) / 2.5;
  check_near(0.1 * q[2], end[0] - down, 1e-11);
  check_near(0.2 * q[3], down - (q[1] - end[1]) / 3, 1e-11);
  yoke__arena_free(&arena);
}

static void test_what_is_left_out(void** state) {
  (void)state;
  subject s;
  yoke_arena arena = {0};
  subject_make(&s, YOKE_ESTIMATE_LINEAR);
  yoke_estimate* f = subject_filter(&s, &arena);
  check_ok(yoke__estimate_predict(f, from, NULL));
  const size_t size = yoke__estimate_image_size(f);
  void *before = calloc(1, size), *after = calloc(1, size);
  assert_true(before != NULL && after != NULL);
  yoke__estimate_save(f, before);

  // the heat is unknown, so what is said of it does not count; what is not finite is refused, and nothing is done
  const double unknown[] = {7, 0}, endless[] = {0, (double)INFINITY}, none[] = {0, (double)NAN};
  check_ok(yoke__estimate_ramp(f, unknown));
  assert_int_equal(yoke__estimate_ramp(f, endless), YOKE_NOT_FINITE);
  assert_int_equal(yoke__estimate_ramp(f, none), YOKE_NOT_FINITE);
  yoke__estimate_save(f, after);
  assert_memory_equal(before, after, size);
  free(before);
  free(after);
  yoke__arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_is_a_prediction_with_slope),
      cmocka_unit_test(test_heat_balance),
      cmocka_unit_test(test_what_is_left_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
