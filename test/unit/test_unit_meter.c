// The meter unit: the same bits as the arithmetic on its recorded inputs (TE-09), hand values, vectors, values that are
// not finite (TE-14), the window, save and restore.
#include "base/base_message.h"
#include "unit/meter/unit_meter.h"

#include "energy/energy_ter.h"
#include "support/check.h"
#include "support/sim.h"
#include "support/trial.h"
#include "unit/unit_models.h"

static void open_meter(trial* d, int64_t n) {
  const yoke_argument arguments[] = {trial_whole("n", &n)};
  trial_open(d, &yoke__unit_meter, arguments, 1);
  trial_start(d, 0);
}

// effort_in, effort_out, flow_in, flow_out (n each) over one step of h
static void account(trial* d, double h, const double inputs[]) {
  check_ok(yoke__unit_set_inputs(&d->unit, inputs));
  (void)trial_step(d, 0, h);
}

static void test_meter_is_known(void** state) {
  (void)state;
  assert_ptr_equal(yoke__models_find(NULL, "meter"), &yoke__unit_meter);
  assert_string_equal(yoke__models_nearest(NULL, "metre"), "meter");
  trial d;
  open_meter(&d, 1);
  trial_check_description(&d);
  trial_check_feedthrough(&d, 0);
  trial_close(&d);
}

static void test_hand_values(void** state) {
  (void)state;
  const double inputs[] = {2, 3, 5, 7};
  trial d;
  open_meter(&d, 1);
  account(&d, 0.5, inputs);
  check_near(trial_get(&d, "dP"), 2 * 7 - 5 * 3, 0);
  check_near(trial_get(&d, "ter"), 0.5, 0);
  check_near(trial_get(&d, "dE"), -0.5, 0);
  check_near(trial_get(&d, "throughput"), 0.5 * 2 * 5, 0);
  check_near(trial_get(&d, "flow_part"), 0.5 * 3 * 2, 0);
  check_near(trial_get(&d, "effort_part"), 0.5 * 1 * 7, 0);
  check_near(trial_get(&d, "rter"), 0.1, 1e-16);
  check_near(trial_get(&d, "ter_window"), 0.5, 1e-15);
  check_near(trial_get(&d, "rter_window"), 0.1, 1e-15);

  // inputs that came after the step do not count before the next one
  const double others[] = {1, 1, 1, 3};
  check_ok(yoke__unit_set_inputs(&d.unit, others));
  trial_refresh(&d, 0.5);
  check_near(trial_get(&d, "ter"), 0.5, 0);
  (void)trial_step(&d, 0.5, 0.25);
  check_near(trial_get(&d, "ter"), 0.5 + 0.25 * 2, 1e-15);
  check_near(trial_get(&d, "dE"), -0.5 + 0.25 * 2, 1e-15);
  trial_close(&d);
}

// equal ends: exactly nothing
static void test_perfect_coupling_te07(void** state) {
  (void)state;
  trial d;
  open_meter(&d, 1);
  for (int k = 0; k < 1000; k++) {
    const double e = sin(0.1 * k), f = cos(0.37 * k), inputs[] = {e, e, f, f};
    account(&d, 1e-3, inputs);
  }
  check_near(trial_get(&d, "ter"), 0, 0);
  check_near(trial_get(&d, "flow_part"), 0, 0);
  check_near(trial_get(&d, "effort_part"), 0, 0);
  assert_true(trial_get(&d, "throughput") > 0);
  trial_close(&d);
}

// TE-09. A system with a delay, a slow source and a fast one; the meter's inputs are taken from the master slot by
// slot, and the plain arithmetic runs over them afterwards. With one thread and with two.
static void test_meter_repeats_its_recorded_inputs_te09(void** state) {
  (void)state;
  enum { N_STEPS = 20000 };
  static double record[N_STEPS][4];
  double first = 0;
  for (int n_threads = 1; n_threads <= 2; n_threads++) {
    sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\n"
                     "time: {stop: 2, step: 1e-4}\n"
                     "threads: %d\n"
                     "units:\n"
                     "  bench: {model: engine_rig.bench, with: {noise_tau: 1, noise_omega: 0.05}}\n"
                     "  load: {model: engine_rig.inertia, step: 1e-3, exchange: fresh}\n"
                     "  meter: {model: meter}\n"
                     "connections:\n"
                     "  - {from: bench.tau, to: load.tau, delay: 2e-3}\n"
                     "  - {from: load.omega, to: bench.omega_ref, delay: 2e-3}\n"
                     "  - {from: bench.tau, to: meter.effort_in, delay: 2e-3, exchange: 1e-3}\n"
                     "  - bench.tau -> meter.effort_out\n"
                     "  - load.omega -> meter.flow_out\n"
                     "  - bench.omega -> meter.flow_in\n",
                     n_threads);
    const size_t at = s.system->units[yoke__map_find(&s.system->unit_index, "meter")].u;
    for (int k = 0; k < N_STEPS; k++) {
      memcpy(record[k], s.state->u + at, sizeof record[k]);
      sim_steps(&s, 1);
    }
    yoke_ter ter = {0};
    for (int k = 0; k < N_STEPS; k++) {
      const yoke_ter_sample sample = {.e_in = &record[k][0],
                                      .e_out = &record[k][1],
                                      .f_in = &record[k][2],
                                      .f_out = &record[k][3]};
      yoke__ter_add(&ter, 1e-4, 1, &sample);
    }
    assert_true(sim_read(&s, "meter.ter") == yoke__ter_total(&ter));
    assert_true(sim_read(&s, "meter.dE") == yoke__sum_value(&ter.net));
    assert_true(sim_read(&s, "meter.throughput") == yoke__ter_throughput(&ter));
    assert_true(sim_read(&s, "meter.flow_part") == ter.flow);
    assert_true(sim_read(&s, "meter.effort_part") == ter.effort);
    assert_true(sim_read(&s, "meter.dP") == ter.power);
    check_between(sim_read(&s, "meter.ter"), 100, 1e5);  // there was something to measure
    assert_true(n_threads == 1 || sim_read(&s, "meter.ter") == first);
    first = sim_read(&s, "meter.ter");
    sim_close(&s);
  }
}

// a bond of three components: powers add up with their signs before |.|
static void test_vector_meter(void** state) {
  (void)state;
  enum { N = 3, N_STEPS = 500 };
  trial whole, parts[N];
  open_meter(&whole, N);
  assert_int_equal(whole.unit.n_u, 4 * N);
  for (int i = 0; i < N; i++) {
    open_meter(&parts[i], 1);
  }
  double ter = 0;
  for (int k = 0; k < N_STEPS; k++) {
    double inputs[4 * N], power = 0;
    for (int j = 0; j < 4 * N; j++) {
      inputs[j] = sin(0.7 * k + 1.3 * j) + 0.1 * j;
    }
    for (int i = 0; i < N; i++) {
      const double own[] = {inputs[i], inputs[N + i], inputs[2 * N + i], inputs[3 * N + i]};
      account(&parts[i], 1e-3, own);
      power += own[0] * own[3] - own[2] * own[1];
    }
    account(&whole, 1e-3, inputs);
    check_near(trial_get(&whole, "dP"), power, 1e-12);
    ter += 1e-3 * fabs(power);
  }
  double net = 0, sum = 0;
  for (int i = 0; i < N; i++) {
    net += trial_get(&parts[i], "dE");
    sum += trial_get(&parts[i], "ter");
    trial_close(&parts[i]);
  }
  check_relative(trial_get(&whole, "ter"), ter, 1e-12);
  check_near(trial_get(&whole, "dE"), net, 1e-12 * sum);
  check_between(trial_get(&whole, "ter"), fabs(net), 0.9 * sum);  // components cancel in part
  trial_close(&whole);
}

// TE-14: counted and left out, in each of the four places; the next good interval counts again
static void test_values_that_are_not_finite_te14(void** state) {
  (void)state;
  const double bad[] = {(double)NAN, HUGE_VAL, -HUGE_VAL}, good[] = {2, 3, 5, 7};
  trial d;
  open_meter(&d, 1);
  account(&d, 0.5, good);
  int64_t n_bad = 0;
  for (int place = 0; place < 4; place++) {
    for (int kind = 0; kind < 3; kind++) {
      double inputs[] = {2, 3, 5, 7};
      inputs[place] = bad[kind];
      account(&d, 0.01, inputs);
      assert_int_equal(trial_get_whole(&d, "n_bad"), ++n_bad);
      check_near(trial_get(&d, "ter"), 0.5, 0);
      double y[16] = {0};
      assert_true(d.unit.n_y <= 16);
      check_ok(yoke__unit_get_outputs(&d.unit, y));
      for (size_t i = 0; i < d.unit.n_y; i++) {
        assert_true(isfinite(y[i]));
      }
    }
  }
  check_near(trial_get(&d, "ter_window"), 0.5, 1e-12);
  account(&d, 0.25, good);
  check_near(trial_get(&d, "ter"), 0.75, 1e-15);
  check_near(trial_get(&d, "throughput"), 7.5, 1e-14);
  assert_int_equal(trial_get_whole(&d, "n_bad"), n_bad);
  trial_close(&d);
}

// 1 W of residual and 10 W of power: the window of 0.5 s holds 0.5 J, and 1/64 more at most; then it runs empty
static void test_window(void** state) {
  (void)state;
  const double inputs[] = {2, 3, 5, 7}, equal[] = {2, 2, 5, 5};
  const int64_t n = 1;
  const yoke_argument arguments[] = {trial_whole("n", &n)};
  trial d;
  trial_open(&d, &yoke__unit_meter, arguments, 1);
  trial_set(&d, "window", 0.5);
  trial_start(&d, 0);
  for (int k = 0; k < 3000; k++) {
    account(&d, 1e-3, inputs);
    if (k >= 600) {
      check_between(trial_get(&d, "ter_window"), 0.5 * (1 - 1e-9), 0.5 * (1 + 1.0 / 64) + 1e-3);
      check_near(trial_get(&d, "rter_window"), 0.1, 1e-12);
    }
  }
  check_relative(trial_get(&d, "ter"), 3, 1e-12);
  for (int k = 0; k < 520; k++) {
    account(&d, 1e-3, equal);
  }
  check_near(trial_get(&d, "ter_window"), 0, 0);
  check_near(trial_get(&d, "rter_window"), 0, 0);
  check_relative(trial_get(&d, "ter"), 3, 1e-12);
  trial_close(&d);
}

// nothing passes: the ratio is against the floor
static void test_floor(void** state) {
  (void)state;
  const double inputs[] = {0, 1, 2, 0};
  const int64_t n = 1;
  const yoke_argument arguments[] = {trial_whole("n", &n)};
  trial d;
  trial_open(&d, &yoke__unit_meter, arguments, 1);
  trial_set(&d, "floor", 4);
  trial_start(&d, 0);
  check_near(trial_get(&d, "rter"), 0, 0);
  account(&d, 0.5, inputs);
  check_near(trial_get(&d, "throughput"), 0, 0);
  check_near(trial_get(&d, "rter"), 1.0 / 4, 0);
  trial_close(&d);
}

// a saved meter continues in another one with the same bits
static void test_save_and_restore(void** state) {
  (void)state;
  trial a, b;
  open_meter(&a, 2);
  open_meter(&b, 2);
  double inputs[8];
  for (int k = 0; k < 300; k++) {
    for (int j = 0; j < 8; j++) {
      inputs[j] = sin(k + j);
    }
    account(&a, 1e-2, inputs);
  }
  const size_t size = yoke__unit_image_size(&a.unit);
  unsigned char* image = malloc(size);
  unsigned char* other = malloc(size);
  assert_true(size > 0 && image != NULL && other != NULL);
  check_ok(yoke__unit_save(&a.unit, image, size));
  check_ok(yoke__unit_restore(&b.unit, image, size));
  for (int k = 300; k < 600; k++) {
    for (int j = 0; j < 8; j++) {
      inputs[j] = sin(k + j);
    }
    account(&a, 1e-2, inputs);
    account(&b, 1e-2, inputs);
  }
  check_ok(yoke__unit_save(&a.unit, image, size));
  check_ok(yoke__unit_save(&b.unit, other, size));
  assert_memory_equal(image, other, size);
  trial_check_rollback(&a, 6, 1e-2);
  free(image);
  free(other);
  trial_close(&a);
  trial_close(&b);
}

static void test_wrong_settings_are_refused(void** state) {
  (void)state;
  static const char* const names[] = {"window", "floor"};
  const int64_t zero = 0;
  const yoke_argument none[] = {trial_whole("n", &zero)};
  trial_refuses(&yoke__unit_meter, none, 1, "n is 0, expected 1 to");
  for (int i = 0; i < 2; i++) {
    YOKE_CATCH(err);
    trial d;
    trial_open(&d, &yoke__unit_meter, NULL, 0);
    trial_set(&d, names[i], 0);
    assert_true(yoke__unit_enter_init(&d.unit, 0, 1, &err.sink) < 0);
    check_contains(err.text, "window and floor must be above 0");
    trial_close(&d);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_meter_is_known),
      cmocka_unit_test(test_hand_values),
      cmocka_unit_test(test_perfect_coupling_te07),
      cmocka_unit_test(test_meter_repeats_its_recorded_inputs_te09),
      cmocka_unit_test(test_vector_meter),
      cmocka_unit_test(test_values_that_are_not_finite_te14),
      cmocka_unit_test(test_window),
      cmocka_unit_test(test_floor),
      cmocka_unit_test(test_save_and_restore),
      cmocka_unit_test(test_wrong_settings_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
