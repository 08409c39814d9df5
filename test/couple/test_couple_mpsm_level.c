// Inputs that are means over the step (level: mean) and models with memory: order of the coupling error, stiff loops, inputs
// that stay end values, and what both do on random loops.
#include "base/base_message.h"
#include "bench/mpsm_loop.h"
#include "couple/couple_mpsm_predict.h"
#include "support/check.h"

// ---------------------------------------------------------------------------------------------------------
// two units of first order, x_i' = -a_i x_i + b_i u_i, in a loop u_1 = x_2, u_2 = -x_1, with exact discrete models

typedef struct ring {
  double a[2], b[2];
  double H, Sy[2], S0[2], S1[2];
  void* memory;
  yoke_mpsm* cluster;
} ring;

static const double ring_L[4] = {0, 1, -1, 0};

static void open_ring(ring* r, double H, bool is_levelled, const bool is_end[2]) {
  const size_t one[2] = {1, 1};
  yoke_mpsm_options options = yoke__mpsm_options_default();
  options.time = YOKE_MPSM_DISCRETE;
  options.is_levelled = is_levelled;
  const yoke_mpsm_setup setup = {.n_units = 2,
                                 .n_outputs = one,
                                 .n_inputs = one,
                                 .L = ring_L,
                                 .step = H,
                                 .has_exogenous = true,
                                 .is_end = is_end,
                                 .options = options};
  const size_t size = yoke__mpsm_size(&setup);
  assert_true(size > 0);
  r->H = H;
  r->memory = calloc(1, size > 0 ? size : 1);
  assert_non_null(r->memory);
  check_ok(yoke__mpsm_prepare(r->memory, &setup, &r->cluster));
  for (size_t i = 0; i < 2; i++) {
    r->Sy[i] = exp(-r->a[i] * H);
    r->S0[i] = 0;
    r->S1[i] = -expm1(-r->a[i] * H) / r->a[i] * r->b[i];
    const yoke_jacobian_discrete model = {1, 1, &r->Sy[i], &r->S0[i], &r->S1[i]};
    check_ok(yoke__mpsm_set_discrete(r->cluster, i, &model));
  }
  check_ok(yoke__mpsm_assemble(r->cluster));
}

// From x = (1, 0) until t; x: at the end. Returns the largest |x|.
static double run_ring(ring* r, double t, double x[2]) {
  double u[2] = {0, -1}, largest = 1;
  x[0] = 1;
  x[1] = 0;
  yoke__mpsm_start(r->cluster, x, u, NULL);
  const int n = (int)floor(t / r->H + 0.5);
  for (int k = 0; k < n; k++) {
    const yoke_mpsm_sample now = {.y = x, .u = u};
    double next[2];
    check_ok(yoke__mpsm_step(r->cluster, &now, true, next, NULL));
    for (int i = 0; i < 2; i++) {
      u[i] = next[i];
      x[i] = r->Sy[i] * x[i] + r->S1[i] * u[i];
      largest = fmax(largest, fabs(x[i]));
    }
  }
  return largest;
}

static void fill_randomly(uint64_t* seed, double x[2]) {
  x[0] = loop_between(seed, -1, 1);
  x[1] = loop_between(seed, -1, 1);
}

static double ring_error(double H, bool is_levelled, const bool is_end[2]) {
  ring r = {.a = {1, 2}, .b = {1.5, 2}};
  double x[2], want[2];
  const double t = 2, start[2] = {1, 0};
  double K[4] = {-r.a[0] * t, r.b[0] * t, -r.b[1] * t, -r.a[1] * t};
  check_ok(yoke__expm(2, K, K));
  yoke__mat_vec(2, 2, K, start, want);
  open_ring(&r, H, is_levelled, is_end);
  (void)run_ring(&r, t, x);
  free(r.memory);
  return fmax(fabs(x[0] - want[0]), fabs(x[1] - want[1]));
}

// End values lead by half a step: first order. Means are of second order.
static void order_of_the_coupling_error(void** state) {
  (void)state;
  for (int is_levelled = 0; is_levelled < 2; is_levelled++) {
    double coarse = ring_error(1.0 / 32, is_levelled == 1, NULL);
    for (int i = 6; i <= 9; i++) {
      const double fine = ring_error(1.0 / (1 << i), is_levelled == 1, NULL);
      check_near(log2(coarse / fine), is_levelled == 1 ? 2 : 1, 0.15);
      coarse = fine;
    }
  }
  // at 1/32 that is a factor of 95
  check_between(ring_error(1.0 / 32, true, NULL), 0, ring_error(1.0 / 32, false, NULL) / 50);
}

// What comes from outside is known up to now; a line through its last two values keeps the order.
static void order_with_an_input_from_outside(void** state) {
  (void)state;
  double errors[4];
  for (int i = 0; i < 4; i++) {
    const double H = 1.0 / (32 << i);
    ring r = {.a = {1, 2}, .b = {1.5, 2}};
    open_ring(&r, H, true, NULL);
    // x' = K x + (b_1 sin t, 0) by the same units with a thousand times the exchanges
    double x[2] = {0, 0}, u[2] = {0, 0}, want[2] = {0, 0}, worst = 0;
    yoke__mpsm_start(r.cluster, x, u, (const double[]){0, 0});
    for (int k = 0; k < 64 << i; k++) {
      const double g[2] = {sin(k * H), 0}, g_last = sin((k - 1) * H);
      const double g_next[2] = {k > 0 ? 2 * g[0] - g_last : 0, 0};
      const yoke_mpsm_sample now = {.y = x, .u = u, .g = g, .g_next = g_next};
      double next[2];
      check_ok(yoke__mpsm_step(r.cluster, &now, true, next, NULL));
      for (int j = 0; j < 2; j++) {
        u[j] = next[j];
        x[j] = r.Sy[j] * x[j] + r.S1[j] * u[j];
      }
      const double h = H / 1000;
      for (int j = 0; j < 1000; j++) {
        const double m = want[1] + 0.5 * h * (-2 * want[1] - 2 * want[0]);
        const double n = want[0] + 0.5 * h * (-want[0] + 1.5 * (want[1] + sin(k * H + j * h)));
        const double d0 = -n + 1.5 * (m + sin(k * H + (j + 0.5) * h)), d1 = -2 * m - 2 * n;
        want[0] += h * d0;
        want[1] += h * d1;
      }
      worst = fmax(worst, fmax(fabs(x[0] - want[0]), fabs(x[1] - want[1])));
    }
    errors[i] = worst;
    free(r.memory);
  }
  for (int i = 1; i < 4; i++) {
    check_near(log2(errors[i - 1] / errors[i]), 2, 0.2);
  }
}

// Models with S0: the inputs of the last step are known as they were given, so that the unit lands on y^ with the target
// itself. With the coupled values in their place step 3 would answer to the difference between a mean and an end value.
static void full_is_modified_with_S0(void** state) {
  (void)state;
  ring r = {.a = {1, 2}, .b = {1.5, 2}};
  open_ring(&r, 0.1, true, NULL);
  uint64_t seed = 9;
  for (size_t i = 0; i < 2; i++) {
    r.S0[i] = loop_between(&seed, -1, 1);
    const yoke_jacobian_discrete model = {1, 1, &r.Sy[i], &r.S0[i], &r.S1[i]};
    check_ok(yoke__mpsm_set_discrete(r.cluster, i, &model));
  }
  check_ok(yoke__mpsm_assemble(r.cluster));
  double x[2] = {1, 0}, u[2] = {0, -1};
  yoke__mpsm_start(r.cluster, x, u, NULL);
  for (int k = 0; k < 50; k++) {
    const yoke_mpsm_sample now = {.y = x, .u = u, .g = (const double[]){0.3, -0.2}};
    double full[2], modified[2];
    yoke__mpsm_correct(r.cluster, &now);
    yoke__mpsm_extrapolate(r.cluster, &now);
    yoke__mpsm_pass_on(r.cluster, &now, modified, NULL);
    for (size_t i = 0; i < 2; i++) {
      yoke__mpsm_optimise(r.cluster, i, &now, &full[i], NULL);
      check_near(full[i], modified[i], 1e-12);
      // and the model lands where it was to land
      const double y = r.Sy[i] * x[i] + r.S0[i] * u[i] + r.S1[i] * full[i];
      check_near(y, r.cluster->y_hat[i], 1e-12);
    }
    yoke__mpsm_accept(r.cluster, &now);
    memcpy(u, full, sizeof u);
    fill_randomly(&seed, x);
  }
  free(r.memory);
}

// Inputs that are marked stay end values; with all of them marked nothing differs from level: end.
static void marked_inputs_stay_end_values(void** state) {
  (void)state;
  const bool both[2] = {true, true}, first[2] = {true, false};
  check_near(ring_error(1.0 / 16, true, both), ring_error(1.0 / 16, false, NULL), 1e-15);
  const double some = ring_error(1.0 / 16, true, first);
  check_between(some, ring_error(1.0 / 16, true, NULL), ring_error(1.0 / 16, false, NULL));
}

// The stiffer the loop, the more a mean leans on the end of the step: no overshoot from step to step, at any gain.
static void stiff_loops_stay_stable(void** state) {
  (void)state;
  for (int i = 0; i < 17; i++) {
    const double gain = 0.1 * pow(3, i);
    ring r = {.a = {1, 1}, .b = {gain, gain}};
    double x[2];
    open_ring(&r, 0.1, true, NULL);
    const double largest = run_ring(&r, 20, x);
    check_between(largest, 0, 1.6);
    check_between(fmax(fabs(x[0]), fabs(x[1])), 0, 1e-6);
    // a weight between that of a parabola and that of the end
    check_between(r.cluster->lead[0], 5.0 / 12, 1);
    free(r.memory);
  }
}

// ---------------------------------------------------------------------------------------------------------
// through the table

// Seeds never used to choose anything. Over seeds 1 to 2000 the share was 80 % without noise and 73 % with it, with guard: off;
// with it 76 and 74 % over 70001 to 74000.
static void random_loops(void** state) {
  (void)state;
  const double noise[2] = {0, 0.01};
  static loop_result result;
  for (int n = 0; n < 2; n++) {
    int n_good[2] = {0, 0}, n_lost = 0;
    for (uint64_t seed = 80001; seed <= 80100; seed++) {
      loop s;
      double error[LOOP_RIVALS];
      assert_true(loop_make(&s, seed));
      for (int r = 0; r < LOOP_RIVALS; r++) {
        const loop_course course = {.method = (loop_rival)r, .noise = noise[n]};
        loop_run(&s, &course, &result);
        error[r] = result.error;
      }
      const double best = fmin(error[LOOP_HELD], fmin(error[LOOP_LINEAR], error[LOOP_NEPCE]));
      n_good[0] += error[LOOP_MPSM] <= best;
      n_good[1] += error[LOOP_MEMORY] <= best;
      n_lost += error[LOOP_HELD] < 1e3 && !(error[LOOP_MEMORY] < 1e3);
    }
    printf("at least as accurate as the best of the others: %d %%, with memory and means %d %%\n",
           n_good[0], n_good[1]);
    // three standard deviations of 100 runs below the former
    assert_true(n_good[1] >= (n == 0 ? 68 : 59));
    assert_true(n_good[1] > n_good[0]);
    assert_int_equal(n_lost, 0);
  }
}

// Settings that do not go together are named.
static void refusals(void** state) {
  (void)state;
  const struct {
    const char *a, *b, *want;
    double value_a, value_b;
  } cases[] = {
      {"form", "ede", "form: memory needs ede: off", 2, 1},
      {"level", "ede", "level: mean needs ede: off", 2, 1},
      {"shape", "jacobians", "shape: ramp needs jacobians: provided", 1, 1},
  };
  loop s;
  assert_true(loop_make(&s, 1));
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    loop_model m;
    const loop_course course = {.method = LOOP_MPSM};
    assert_true(loop_open_model(&m, &s, &course));
    loop_close(m.self);
    loop_set(m.parameters, cases[i].a, cases[i].value_a);
    loop_set(m.parameters, cases[i].b, cases[i].value_b);
    YOKE_CATCH(err);
    void* memory = calloc(1, yoke__couple_mpsm.size(&m.setup) + 64);
    assert_non_null(memory);
    assert_int_equal(yoke__couple_mpsm.prepare(memory, &m.setup, &err.sink), YOKE_BAD_ARG);
    check_contains(err.text, cases[i].want);
    free(memory);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(order_of_the_coupling_error),
      cmocka_unit_test(order_with_an_input_from_outside),
      cmocka_unit_test(full_is_modified_with_S0),
      cmocka_unit_test(marked_inputs_stay_end_values),
      cmocka_unit_test(stiff_loops_stay_stable),
      cmocka_unit_test(random_loops),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
