// The e-Car (specification of the bench, 6.2): statics, free motion, manoeuvre, both formulations, and on the virtual rig (B-08,
// B-09, B-10, B-11).
#include "models/car/car.h"

#include "support/sim.h"
#include "support/trial.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const yoke_unit_ops* const ops = &yoke__model_car_planar;
enum { REDUCED, CONSTRAINED };

// theta and dy at the start; h: length of a call
static void open_car(trial* d, int64_t formulation, double dy, double theta, int64_t inner_steps) {
  trial_open(d, ops, NULL, 0);
  trial_set_whole(d, "formulation", formulation);
  trial_set_whole(d, "inner_steps", inner_steps);
  trial_set(d, "dy", dy);
  trial_set(d, "theta", theta);
  trial_start(d, 0.0);
}

static void test_description(void** state) {
  (void)state;
  for (int64_t formulation = REDUCED; formulation <= CONSTRAINED; formulation++) {
    trial d;
    trial_open(&d, ops, NULL, 0);
    trial_check_description(&d);
    trial_set_whole(&d, "formulation", formulation);
    trial_set(&d, "tau", 0.2);
    trial_start(&d, 0.0);
    trial_check_feedthrough(&d, 0.0);
    trial_check_rollback(&d, 0.0, 1e-3);
    trial_close(&d);
  }
}

// B-08: statics: 36.73 mm, 46.73 mm, and nothing moves
static void test_statics_b08(void** state) {
  (void)state;
  for (int64_t formulation = REDUCED; formulation <= CONSTRAINED; formulation++) {
    trial d;
    open_car(&d, formulation, 0.0, 0.0, 1);
    for (int k = 0; k < 1000; k++) {
      (void)trial_step(&d, k * 1e-3, 1e-3);
    }
    check_near(trial_get(&d, "s_F"), 36.73e-3, 1e-12);
    check_near(trial_get(&d, "s_R"), 36.73e-3, 1e-12);
    check_near(trial_get(&d, "y"), 46.73e-3, 1e-12);
    check_near(trial_get(&d, "theta"), 0.0, 1e-12);
    check_near(trial_get(&d, "E"), 0.0, 1e-12);
    trial_close(&d);
  }
}

// B-08: released with unloaded springs, and pitched by 0.02 rad; 1e-6 of the displacement. The figures have seven digits,
// the last ones four.
static void test_free_motion_b08(void** state) {
  (void)state;
  static const double drop[3] = {2.917412e-3, 6.571456e-4, 2.516e-5};
  static const double pitch[3] = {1.787064e-2, 4.063129e-3, 1.492435e-4};
  static const int at[3] = {10, 50, 100};  // [ms]
  for (int64_t formulation = REDUCED; formulation <= CONSTRAINED; formulation++) {
    trial d;
    open_car(&d, formulation, 3.27e-3, 0.0, 10);
    for (int k = 1, i = 0; k <= 100; k++) {
      (void)trial_step(&d, (k - 1) * 1e-3, 1e-3);
      if (k == at[i]) {
        check_near(trial_get(&d, "dy"), drop[i], i == 2 ? 5e-9 : 3.27e-9);
        i++;
      }
    }
    trial_close(&d);
    open_car(&d, formulation, 0.0, 0.02, 10);
    for (int k = 1, i = 0; k <= 100; k++) {
      (void)trial_step(&d, (k - 1) * 1e-3, 1e-3);
      if (k == at[i]) {
        check_near(trial_get(&d, "theta"), pitch[i], 2e-8);
        i++;
      }
    }
    trial_close(&d);
  }
}

// torque of the reference manoeuvre, at the middle of a call: its mean over the call
static double manoeuvre(double t) {
  return t < 0.2   ? 0.0
         : t < 1.2 ? 0.35 * (t - 0.2)
         : t < 2.0 ? 0.35
         : t < 2.5 ? 0.0
         : t < 3.3 ? -0.25
                   : 0.0;
}

// B-09: the table of the manoeuvre
static void test_manoeuvre_b09(void** state) {
  (void)state;
  static const struct {
    int k;  // of 0.1 ms
    double x, v, omega, theta;
  } rows[] = {
      {5000, 0.019688, 0.196875, 4.9219, 2.399895e-3},
      {12000, 0.729167, 2.187500, 54.6875, 8.605618e-3},
      {20000, 3.879167, 5.687500, 142.1875, 8.894244e-3},
      {26000, 7.276042, 5.375000, 134.3750, -6.472805e-3},
      {33000, 10.272917, 3.187500, 79.6875, -6.532173e-3},
      {40000, 12.504167, 3.187500, 79.6875, 0.0},
  };
  for (int64_t formulation = REDUCED; formulation <= CONSTRAINED; formulation++) {
    trial d;
    open_car(&d, formulation, 0.0, 0.0, 1);
    size_t i = 0;
    for (int k = 1; k <= 40000; k++) {
      trial_set(&d, "tau", manoeuvre((k - 0.5) * 1e-4));
      (void)trial_step(&d, (k - 1) * 1e-4, 1e-4);
      if (i < COUNT(rows) && k == rows[i].k) {
        check_near(trial_get(&d, "x"), rows[i].x, 1e-5);
        check_near(trial_get(&d, "v") / 0.04, rows[i].omega, 1e-3);
        check_near(trial_get(&d, "theta"), rows[i].theta, 1e-7);
        i++;
      }
    }
    assert_int_equal(i, COUNT(rows));
    // B-10: what the constraints have drifted in 4 s
    check_between(trial_get(&d, "violation"), 0.0, 1e-9);
    trial_close(&d);
  }
}

// B-10: the same accelerations at many points, the one of the specification among them
static void test_formulations_agree_b10(void** state) {
  (void)state;
  trial d[2];
  for (int i = 0; i < 2; i++) {
    open_car(&d[i], i, 0.0, 0.02, 1);
    trial_close(&d[i]);
    trial_open(&d[i], ops, NULL, 0);
    trial_set_whole(&d[i], "formulation", i);
    trial_set(&d[i], "theta", 0.02);
    trial_set(&d[i], "tau", 0.3);
    trial_start(&d[i], 0.0);
    check_near(trial_get(&d[i], "ax"), 3.75, 1e-12);
    check_near(trial_get(&d[i], "ay"), -0.0059998, 5e-8);
    check_near(trial_get(&d[i], "atheta"), -36.97155985, 5e-9);
  }
  // along a motion that the second formulation follows; the accelerations of both at its points
  for (int k = 0; k < 200; k++) {
    const double tau = 0.4 * sin(0.05 * k);
    for (int i = 0; i < 2; i++) {
      trial_set(&d[i], "tau", tau);
      (void)trial_step(&d[i], k * 1e-3, 1e-3);
    }
    check_near(trial_get(&d[0], "ax"), trial_get(&d[1], "ax"), 1e-10);
    check_near(trial_get(&d[0], "ay"), trial_get(&d[1], "ay"), 1e-9);
    check_near(trial_get(&d[0], "atheta"), trial_get(&d[1], "atheta"), 1e-8);
  }
  for (int i = 0; i < 2; i++) {
    trial_close(&d[i]);
  }
}

// the classical method is of fourth order, in both formulations
static void test_order(void** state) {
  (void)state;
  for (int64_t formulation = REDUCED; formulation <= CONSTRAINED; formulation++) {
    double ends[4];
    static const int64_t inner[4] = {1, 2, 4, 64};
    for (int i = 0; i < 4; i++) {
      trial d;
      open_car(&d, formulation, 1e-3, 0.02, inner[i]);
      for (int k = 0; k < 10; k++) {
        (void)trial_step(&d, k * 4e-3, 4e-3);
      }
      ends[i] = trial_get(&d, "theta");
      trial_close(&d);
    }
    check_near(log2(fabs(ends[0] - ends[3]) / fabs(ends[1] - ends[3])), 4.0, 0.6);
    check_near(log2(fabs(ends[1] - ends[3]) / fabs(ends[2] - ends[3])), 4.0, 0.3);
  }
}

// the energy of a free car only falls
static void test_energy_falls(void** state) {
  (void)state;
  trial d;
  open_car(&d, REDUCED, 3e-3, 0.02, 10);
  double last = trial_get(&d, "E");
  assert_true(last > 0.0);
  for (int k = 0; k < 100; k++) {
    (void)trial_step(&d, k * 1e-3, 1e-3);
    const double E = trial_get(&d, "E");
    assert_true(E <= last + 1e-15);
    last = E;
  }
  trial_close(&d);
}

static void test_refusals(void** state) {
  (void)state;
  static const struct {
    const char *name, *part;
    double value;
  } rows[] = {{"m", "must be above 0", 0.0}, {"c", "c and ahead must be finite", -1.0}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    YOKE_CATCH(err);
    trial d;
    trial_open(&d, ops, NULL, 0);
    trial_set(&d, rows[i].name, rows[i].value);
    assert_true(yoke__unit_enter_init(&d.unit, 0, 1, &err.sink) < 0);
    check_contains(err.text, rows[i].part);
    trial_close(&d);
  }
}

// ---------------------------------------------------------------------------------------------------------
// on the rig

typedef struct rig_run {
  double sent, shaft, shaft_max, v, theta;
} rig_run;

static rig_run run_on_rig(double H, const char* formulation) {
  sim s =
      sim_open("yoke: 1\ninputs: start\ncalls: 1\n"
               "time: {stop: 4, step: %g}\n"
               "units:\n"
               "  rig: {model: rig.bench, with: {latency: 1, cell_noise: 0, J_ideal: 3.2e-3,\n"
               "        pedal: [[0.2, 0], [1.2, 0.35], [2, 0.35], [2, 0], [2.5, 0], [2.5, -0.25],\n"
               "                [3.3, -0.25], [3.3, 0]]}}\n"
               "  car: {model: car.planar, exchange: fresh, with: {formulation: %s, ahead: %g}}\n"
               "bonds:\n"
               "  wheel: {action: rig.tau -> car.tau, rate: car.omega -> rig.omega_ref}\n",
               H, formulation, H);
  rig_run r = {0};
  for (int64_t k = 0; k < (int64_t)lround(4.0 / H); k++) {
    sim_steps(&s, 1);
    r.theta = fmax(r.theta, fabs(sim_read(&s, "car.theta")));
  }
  r.sent = sim_read(&s, "rig.error_virtual");
  r.shaft = sim_read(&s, "rig.error_shaft");
  r.shaft_max = sim_read(&s, "rig.error_max");
  r.v = sim_read(&s, "car.v");
  sim_close(&s);
  return r;
}

// B-11, and the figures of the specification: 0.035, 0.080, 0.24, 0.51 rad/s; final speed 2.26 m/s
static void test_on_the_rig_b11(void** state) {
  (void)state;
  static const double cycles[] = {1e-3, 2e-3, 5e-3, 1e-2}, want[] = {0.035, 0.080, 0.24, 0.51};
  double sent[4];
  for (size_t i = 0; i < COUNT(cycles); i++) {
    const rig_run r = run_on_rig(cycles[i], "reduced");
    print_message("H %g ms: virtual %.4f, shaft %.3f, max %.2f, v %.4f, pitch %.5f\n",
                  1e3 * cycles[i], r.sent, r.shaft, r.shaft_max, r.v, r.theta);
    sent[i] = r.sent;
    if (i == 0) {
      assert_true(r.sent <= 0.06);
      check_near(r.v, 2.26, 0.01);
      check_near(r.shaft, 0.73, 0.01);
      check_near(r.shaft_max, 19.0, 0.5);
      check_near(r.theta, 0.0084, 1e-4);
    }
    check_relative(r.sent, want[i], 0.05);
  }
  check_between(sent[1] / sent[0], 1.7, 2.6);
  check_between(sent[3] / sent[2], 1.7, 2.6);
}

// both formulations send the same demands
static void test_formulations_on_the_rig(void** state) {
  (void)state;
  const rig_run a = run_on_rig(1e-3, "reduced"), b = run_on_rig(1e-3, "constrained");
  check_near(a.v, b.v, 1e-9);
  check_near(a.theta, b.theta, 1e-9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_description),
      cmocka_unit_test(test_statics_b08),
      cmocka_unit_test(test_free_motion_b08),
      cmocka_unit_test(test_manoeuvre_b09),
      cmocka_unit_test(test_formulations_agree_b10),
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_energy_falls),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_on_the_rig_b11),
      cmocka_unit_test(test_formulations_on_the_rig),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
