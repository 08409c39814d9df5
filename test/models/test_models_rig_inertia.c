// An inertia on the virtual test rig (specification, 6.1): the ideal torque, the table of errors through the whole master, latency,
// residual power (B-04, B-05, B-06, B-07, B-12), noise, determinism (B-23).
#include "master/master.h"
#include "rig_helper.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef struct run_case {
  double H;  // [s]
  int latency;
  bool is_ramp;
  double J, stop;
  const char* extra;  // settings of the rig
  double J_ideal;     // 0: J
  const char* pedal;  // NULL: 0.2 N.m from 0.1 s on
  const char* more;   // further keys of the file, or NULL
} run_case;

typedef struct run_errors {
  double sent, shaft, shaft_max;  // [rad/s]
} run_errors;

static sim open_run(const run_case* c) {
  return sim_open("yoke: 1\ninputs: start\ncalls: 1\n"
                  "time: {stop: %g, step: %g}\n"
                  "units:\n"
                  "  rig: {model: rig.bench, with: {latency: %d, J_ideal: %g, %s\n"
                  "        pedal: %s}}\n"
                  "  load: {model: rig.inertia, exchange: fresh, with: {J: %g, ahead: %g}}\n"
                  "bonds:\n"
                  "  shaft: {action: rig.tau -> load.tau, rate: load.omega -> rig.omega_ref}\n%s",
                  c->stop, c->H, c->latency, c->J_ideal > 0.0 ? c->J_ideal : c->J, c->extra,
                  c->pedal != NULL ? c->pedal
                  : c->is_ramp     ? "[[0.1, 0], [0.15, 0.2]]"
                                   : "[[0.1, 0], [0.1, 0.2]]",
                  c->J, c->H, c->more != NULL ? c->more : "");
}

static run_errors run_system(const run_case* c) {
  sim s = open_run(c);
  sim_run(&s);
  const run_errors e = {sim_read(&s, "rig.error_virtual"), sim_read(&s, "rig.error_shaft"),
                        sim_read(&s, "rig.error_max")};
  sim_close(&s);
  return e;
}

#define QUIET "cell_noise: 0,"

static run_errors run_quiet(double H, int latency, bool is_ramp) {
  const run_case c = {
      .H = H, .latency = latency, .is_ramp = is_ramp, .J = 1e-3, .stop = 1.0, .extra = QUIET};
  return run_system(&c);
}

// B-04: without plant: omega = 200 (t - 0) at the grid points
static void test_ideal_torque_b04(void** state) {
  (void)state;
  sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\n"
                   "time: {stop: 1, step: 1e-3}\n"
                   "units:\n"
                   "  pedal: {model: constant, with: {value: 0.2}}\n"
                   "  load: {model: rig.inertia, with: {J: 1e-3}}\n"
                   "connections: [pedal.y -> load.tau]\n");
  for (int k = 1; k <= 1000; k++) {
    sim_steps(&s, 1);
    // the output is 1 ms ahead; the angle is that of now
    check_near(sim_read(&s, "load.omega"), 200.0 * (k + 1) * 1e-3, 1e-9);
    const double t = k * 1e-3;
    check_near(sim_read(&s, "load.angle"), 100.0 * t * t, 1e-9);
  }
  sim_close(&s);
}

// Table 6.1, every number as printed: half a unit of the last digit, and one more for the resolution of the frames
// (0.428 mN.m, 1 mrpm) and of the cells, which the table's own loop need not have had.
static void test_table_b05(void** state) {
  (void)state;
  static const struct {
    double H;
    int latency;
    double step[3], ramp[3], unit[2][3];
  } rows[] = {
      {1e-3, 0, {0.092, 0.38, 6.4}, {0.072, 0.16, 0.92}, {{1e-3, 1e-2, 0.1}, {1e-3, 1e-2, 1e-2}}},
      {1e-3, 1, {0.092, 0.59, 8.7}, {0.072, 0.30, 1.4}, {{1e-3, 1e-2, 0.1}, {1e-3, 1e-2, 0.1}}},
      {1e-3, 2, {0.092, 0.86, 12.0}, {0.072, 0.46, 1.9}, {{1e-3, 1e-2, 0.1}, {1e-3, 1e-2, 0.1}}},
      {2e-3, 1, {0.185, 0.99, 12.1}, {0.109, 0.45, 1.9}, {{1e-3, 1e-2, 0.1}, {1e-3, 1e-2, 0.1}}},
      {5e-3, 1, {0.44, 2.0, 14.0}, {0.25, 1.0, 3.7}, {{1e-2, 0.1, 0.1}, {1e-2, 0.1, 0.1}}},
      {1e-2, 1, {1.04, 3.4, 14.0}, {0.49, 2.0, 6.1}, {{1e-2, 0.1, 0.1}, {1e-2, 0.1, 0.1}}},
      {1e-2, 2, {1.06, 5.0, 14.0}, {0.49, 3.7, 9.0}, {{1e-2, 0.1, 0.1}, {1e-2, 0.1, 0.1}}},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    for (int is_ramp = 0; is_ramp < 2; is_ramp++) {
      const run_errors e = run_quiet(rows[i].H, rows[i].latency, is_ramp);
      const double* want = is_ramp ? rows[i].ramp : rows[i].step;
      const double* unit = rows[i].unit[is_ramp];
      print_message("H %g ms, latency %d, %s: %.4f / %.3f / %.2f\n", 1e3 * rows[i].H,
                    rows[i].latency, is_ramp ? "ramp" : "step", e.sent, e.shaft, e.shaft_max);
      check_near(e.sent, want[0], 1.5 * unit[0]);
      check_near(e.shaft, want[1], 1.5 * unit[1]);
      check_near(e.shaft_max, want[2], 1.5 * unit[2]);
    }
  }

  // B-05 in its own words
  const run_errors e = run_quiet(1e-3, 1, true);
  assert_true(e.sent <= 0.1 && e.shaft <= 0.5 && e.shaft_max <= 2.5);
}

// the sentence below the table: no feed-forward, and other inertias
static void test_other_cases_of_the_table_b05(void** state) {
  (void)state;
  const run_case plain = {.H = 1e-3,
                          .latency = 1,
                          .is_ramp = false,
                          .J = 1e-3,
                          .stop = 1.0,
                          .extra = QUIET "feedforward: off,"};
  run_errors e = run_system(&plain);
  check_near(e.shaft, 1.67, 0.015);
  check_near(e.shaft_max, 14.3, 0.15);
  const run_case light = {
      .H = 1e-3, .latency = 1, .is_ramp = false, .J = 1e-4, .stop = 0.25, .extra = QUIET};
  e = run_system(&light);
  check_near(e.shaft, 2.3, 0.15);
  const run_case heavy = {
      .H = 1e-3, .latency = 1, .is_ramp = false, .J = 1e-2, .stop = 1.0, .extra = QUIET};
  e = run_system(&heavy);
  check_near(e.shaft, 0.47, 0.015);
}

// B-06: the error of the held demand is proportional to the cycle
static void test_error_follows_the_cycle_b06(void** state) {
  (void)state;
  static const double cycles[] = {1e-3, 2e-3, 5e-3, 1e-2}, want[] = {0.09, 0.18, 0.46, 0.96};
  const double first = run_quiet(1e-3, 0, false).sent;
  for (size_t i = 0; i < COUNT(cycles); i++) {
    const double e = run_quiet(cycles[i], 0, false).sent;
    check_relative(e, first * cycles[i] / 1e-3, 0.2);
    check_near(e, want[i], 0.01);
  }
}

// B-07: each cycle of latency costs
static void test_latency_costs_b07(void** state) {
  (void)state;
  static const double cycles[] = {1e-3, 2e-3, 5e-3, 1e-2};
  for (size_t i = 0; i < COUNT(cycles); i++) {
    double last = 0.0;
    for (int latency = 0; latency <= 2; latency++) {
      const double e = run_quiet(cycles[i], latency, true).shaft;
      assert_true(e > last);
      last = e;
    }
  }
}

// sensor noise of 5 mN.m, the default, lifts the error of the demand: a random walk of tau / J
static void test_noise_lifts_the_error(void** state) {
  (void)state;
  const run_case c = {
      .H = 1e-3, .latency = 1, .is_ramp = true, .J = 1e-3, .stop = 1.0, .extra = ""};
  const run_errors quiet = run_quiet(1e-3, 1, true), noisy = run_system(&c);
  // sum of n samples of H sigma / J: 0.158 rad/s after 1 s, 0.112 in the mean square over it; three seeds apart
  check_between(noisy.sent, quiet.sent, quiet.sent + 3.0 * 0.112);
}

// B-23: two runs with the same seed end in the same bytes, another seed in others
static void test_same_seed_same_bytes_b23(void** state) {
  (void)state;
  double ends[3][4];
  for (int i = 0; i < 3; i++) {
    const run_case c = {.H = 1e-3,
                        .latency = 1,
                        .is_ramp = true,
                        .J = 1e-3,
                        .stop = 0.3,
                        .extra = i < 2
                                     ? "seed: 7, loss_out: 0.02, loss_in: 0.02, jitter_out: 1e-3,"
                                     : "seed: 8, loss_out: 0.02, loss_in: 0.02, jitter_out: 1e-3,"};
    sim s = open_run(&c);
    sim_run(&s);
    ends[i][0] = sim_read(&s, "rig.tau");
    ends[i][1] = sim_read(&s, "rig.shaft");
    ends[i][2] = sim_read(&s, "load.omega");
    ends[i][3] = sim_read(&s, "rig.error_shaft");
    sim_close(&s);
  }
  assert_memory_equal(ends[0], ends[1], sizeof ends[0]);
  assert_memory_not_equal(ends[0], ends[2], sizeof ends[0]);
}

// ---------------------------------------------------------------------------------------------------------
// residual power

// largest and mean |dP| of the ledger over the run, and its mean over windows of `window` steps
typedef struct residual {
  double peak, worst_mean, last;  // [W]
  int n_above;                    // samples above half the peak
  double alarm;                   // time at which a windowed mean exceeds the limit, or -1 [s]
} residual;

static residual watch(const run_case* c, double limit, int window) {
  residual r = {.alarm = -1.0};
  sim s = open_run(c);
  const int n = (int)lround(c->stop / c->H);
  double* samples = calloc((size_t)n, sizeof *samples);
  assert_non_null(samples);
  double tau = sim_read(&s, "rig.tau"), omega = sim_read(&s, "load.omega"), sum = 0.0;
  for (int k = 0; k < n; k++) {
    sim_steps(&s, 1);
    const double tau_1 = sim_read(&s, "rig.tau"), omega_1 = sim_read(&s, "load.omega");
    samples[k] = fabs(tau * omega_1 - tau_1 * omega);
    sum += samples[k] - (k >= window ? samples[k - window] : 0.0);
    r.peak = fmax(r.peak, samples[k]);
    r.worst_mean = fmax(r.worst_mean, sum / window);
    if (r.alarm < 0.0 && sum / window > limit) {
      r.alarm = (k + 1) * c->H;
    }
    r.last = samples[k];
    tau = tau_1;
    omega = omega_1;
  }
  for (int k = 0; k < n; k++) {
    r.n_above += samples[k] > 0.5 * r.peak;
  }
  free(samples);
  sim_close(&s);
  return r;
}

// B-12: constant acceleration: dP = tau omega' H within 5 %
static void test_residual_of_constant_acceleration_b12(void** state) {
  (void)state;
  static const double cycles[] = {1e-3, 1e-2};
  for (size_t i = 0; i < COUNT(cycles); i++) {
    const run_case c = {
        .H = cycles[i], .latency = 1, .is_ramp = true, .J = 1e-3, .stop = 1.0, .extra = QUIET};
    const residual r = watch(&c, HUGE_VAL, 50);
    sim s = open_run(&c);
    sim_run(&s);
    const double tau = sim_read(&s, "rig.tau");
    check_relative(r.last, tau * tau / 1e-3 * cycles[i], 0.05);
    sim_close(&s);
  }
}

// Pitfall 3: with an in-line sensor and no feed-forward the loop has the gain J_R / J_v. The figures are those of a ramp to 0.2 N.m,
// 0.2 s in all; below J_R the oscillation is bounded by limits only and its figure depends on every one of them.
static void test_in_line_sensor(void** state) {
  (void)state;
  static const struct {
    double ratio, shaft, peak;
  } rows[] = {{5.0, 1.1, 2.4}, {1.0, 2.6, 24.0}, {0.8, 8.1, 0.0}, {0.5, 0.0, 375.0}};
  const double J_R = 1.7e-5;
  for (size_t i = 0; i < COUNT(rows); i++) {
    const run_case c = {.H = 1e-3,
                        .latency = 1,
                        .is_ramp = true,
                        .J = rows[i].ratio * J_R,
                        .stop = 0.2,
                        .extra = QUIET "sensor: in-line, feedforward: off, speed_hz: 150,"};
    run_case with_rotor = c;
    with_rotor.J_ideal = c.J + J_R;
    const double shaft = run_system(&with_rotor).shaft;
    if (rows[i].shaft > 0.0) {
      check_near(shaft, rows[i].shaft, 0.15);
    } else {
      check_between(shaft, 10.0, 25.0);  // 18.0 here, 15.8 in the specification
    }
    if (rows[i].peak > 0.0) {
      check_relative(watch(&c, HUGE_VAL, 50).peak, rows[i].peak, 0.05);
    }
  }
}

// Pitfall 2: the torque of an in-line sensor, fed forward, is a positive feedback: 33 to 40 rad/s rms, 1 to 2.3 without. The load
// cell's torque is not, nor is the current's.
static void test_in_line_feed_forward(void** state) {
  (void)state;
  static const double ratios[] = {10.0, 60.0};
  const double J_R = 1.7e-5;
  for (size_t i = 0; i < COUNT(ratios); i++) {
    double shaft[3];
    static const char* const extras[] = {QUIET "sensor: in-line,",
                                         QUIET "sensor: in-line, feedforward: off,",
                                         QUIET "sensor: in-line, feedforward: current,"};
    for (size_t k = 0; k < COUNT(extras); k++) {
      const run_case c = {.H = 1e-3,
                          .latency = 1,
                          .J = ratios[i] * J_R,
                          .stop = 0.3,
                          .extra = extras[k],
                          .J_ideal = (ratios[i] + 1.0) * J_R};
      shaft[k] = run_system(&c).shaft;
    }
    print_message("in-line, J_v = %g J_R: %.2f fed forward, %.2f not, %.2f by current\n", ratios[i],
                  shaft[0], shaft[1], shaft[2]);
    // what bounds the oscillation, and so its size, are the limits of current and cell and the length of the run
    check_between(shaft[0], 15.0, 45.0);
    check_between(shaft[1], 1.0, 3.0);
    assert_true(shaft[2] < shaft[1]);
  }
}

// B-12: an alarm looks at the mean over 50 cycles. A throttle that is released at speed makes one spike of 43 to 46 W and no alarm;
// an in-line sensor with half the rotor's inertia rings until it is stopped.
static void test_alarm_by_windowed_mean_b12(void** state) {
  (void)state;
  const double limit = 5.0;  // [W]: a spike of 46 W in 50 cycles is below 1
  const run_case release = {.H = 1e-3,
                            .latency = 1,
                            .is_ramp = false,
                            .J = 3.2e-3,
                            .stop = 4.0,
                            .extra = QUIET,
                            .pedal = "[[0.2, 0], [1.2, 0.35], [2, 0.35], [2, 0]]"};
  const residual step = watch(&release, limit, 50);
  const run_case sick = {.H = 1e-3,
                         .latency = 1,
                         .is_ramp = true,
                         .J = 0.85e-5,
                         .stop = 0.35,
                         .extra = QUIET "sensor: in-line, feedforward: off, speed_hz: 150,"};
  const residual ringing = watch(&sick, limit, 50);
  print_message(
      "release: peak %.3g W, mean %.3g W; in-line: peak %.3g W, mean %.3g W, alarm %.3f s\n",
      step.peak, step.worst_mean, ringing.peak, ringing.worst_mean, ringing.alarm);
  check_between(step.peak, 40.0, 46.0);
  assert_int_equal(step.n_above, 1);
  assert_true(step.alarm < 0.0);
  check_between(ringing.alarm, 0.0, 0.2);  // it rings at rest, before the torque begins
}

// Runs until a limit of the ledger ends it; the time of its end.
static double run_guarded(const run_case* c, yoke_status* status) {
  sim s = open_run(c);
  *status = YOKE_OK;
  while (*status == YOKE_OK && s.state->t < c->stop - 1e-9) {
    *status = yoke__master_step(s.system, s.state);
  }
  const double end = s.state->t;
  sim_close(&s);
  return end;
}

// B-12 by the ledger: its windowed mean, TER over throughput within 50 ms, stops the ringing rig, and neither a healthy one nor the
// release of the throttle. The measure is relative and says nothing while the shaft stands: nothing is judged until it turns.
static void test_alarm_of_the_ledger_b12(void** state) {
  (void)state;
#define GUARD(settle_)                                                                             \
  "quality: {period: 0.01, window: 0.05, settle: " settle_ ", stop: {rter: 0.5}}\n"
  const run_case release = {.H = 1e-3,
                            .latency = 1,
                            .J = 3.2e-3,
                            .stop = 4.0,
                            .extra = QUIET,
                            .more = GUARD("0.3"),
                            .pedal = "[[0.2, 0], [1.2, 0.35], [2, 0.35], [2, 0]]"};
  const run_case healthy = {.H = 1e-3,
                            .latency = 1,
                            .is_ramp = true,
                            .J = 1e-3,
                            .stop = 0.35,
                            .extra = QUIET,
                            .more = GUARD("0.15")};
  const run_case sick = {.H = 1e-3,
                         .latency = 1,
                         .is_ramp = true,
                         .J = 0.85e-5,
                         .stop = 0.35,
                         .more = GUARD("0.15"),
                         .extra = QUIET "sensor: in-line, feedforward: off, speed_hz: 150,"};
  yoke_status status = YOKE_OK;
  check_near(run_guarded(&release, &status), 4.0, 1e-9);
  assert_int_equal(status, YOKE_OK);
  check_near(run_guarded(&healthy, &status), 0.35, 1e-9);
  assert_int_equal(status, YOKE_OK);
  check_between(run_guarded(&sick, &status), 0.15, 0.2);
  assert_int_equal(status, YOKE_STOPPED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ideal_torque_b04),
      cmocka_unit_test(test_table_b05),
      cmocka_unit_test(test_other_cases_of_the_table_b05),
      cmocka_unit_test(test_error_follows_the_cycle_b06),
      cmocka_unit_test(test_latency_costs_b07),
      cmocka_unit_test(test_noise_lifts_the_error),
      cmocka_unit_test(test_same_seed_same_bytes_b23),
      cmocka_unit_test(test_residual_of_constant_acceleration_b12),
      cmocka_unit_test(test_in_line_sensor),
      cmocka_unit_test(test_in_line_feed_forward),
      cmocka_unit_test(test_alarm_by_windowed_mean_b12),
      cmocka_unit_test(test_alarm_of_the_ledger_b12),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
