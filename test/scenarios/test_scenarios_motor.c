// Motor in the loop: the EPAS motor of SE-1 on the virtual test rig, torque- and position-controlled
// (HINF specification 10.2, paper I; scenarios/steering/motor-*.yaml). Rack speed against the whole
// SE-1 at 0.5 and 1 Hz.
#include <math.h>

#include "scenario_run.h"

enum { TORQUE, POSITION, IN_LINE, N_CONTROLS, N_STEPS = 5000 };

static const char* const files[N_CONTROLS] = {
    "steering/motor-torque.yaml", "steering/motor-position.yaml", "steering/motor-in-line.yaml"};
static const char* const frequencies[] = {"units.hands.with.frequency=0.5",
                                          "units.hands.with.frequency=1"};
static scenario_run whole[2];

static scenario_run run(const char* file, const char* frequency, const char* const more[]) {
  static const char* const rack = "epas.v_rack";
  const char* sets[RUN_MAX_SETS] = {frequency};
  for (size_t i = 0; more != NULL && more[i] != NULL; i++) {
    sets[i + 1] = more[i];
  }
  return scenario_run_file(file, sets, &rack, 1, N_STEPS);
}

// reference.yaml equals the model steering.whole bit by bit (test_master_steering).
static int prepare(void** state) {
  (void)state;
  static const char* const step[] = {"time.step=1e-3", NULL};
  for (size_t f = 0; f < 2; f++) {
    whole[f] = run("steering/reference.yaml", frequencies[f], step);
    check_ok(whole[f].status);
  }
  return 0;
}

static int finish(void** state) {
  (void)state;
  scenario_run_close(&whole[0]);
  scenario_run_close(&whole[1]);
  return 0;
}

// Equation of spec 10.3: root of the mean square error over the range of the reference.
static double nrms(const scenario_run* got, const scenario_run* want) {
  double sum = 0, low = want->y[0][0], high = low;
  for (size_t k = 0; k < want->n; k++) {
    const double e = got->y[0][k] - want->y[0][k];
    sum += e * e;
    low = fmin(low, want->y[0][k]);
    high = fmax(high, want->y[0][k]);
  }
  return sqrt(sum / (double)want->n) / (high - low);
}

static void errors_of(int control, const char* const sets[], double errors[2]) {
  for (size_t f = 0; f < 2; f++) {
    scenario_run got = run(files[control], frequencies[f], sets);
    errors[f] = got.status < 0 ? (double)INFINITY : nrms(&got, &whole[f]);
    scenario_run_close(&got);
  }
}

typedef struct variation {
  const char* text;
  const char* both[5];      // settings of both controls, up to a NULL
  const char* position[2];  // of position control alone
} variation;

#define RIG "units.rig.with."

static void compare(const variation* v, double torque[2], double position[2]) {
  const char* sets[RUN_MAX_SETS] = {NULL};
  size_t n = 0;
  for (; v->both[n] != NULL; n++) {
    sets[n] = v->both[n];
  }
  errors_of(TORQUE, sets, torque);
  sets[n] = v->position[0];
  errors_of(POSITION, sets, position);
  print_message("%-25s NRMS of rack speed at 0.5, 1 Hz: torque %.4f %.4f, position %.4f %.4f, gap "
                "%.4f %.4f\n",
                v->text, torque[0], torque[1], position[0], position[1], position[0] - torque[0],
                position[1] - torque[1]);
}

// Issue: torque control is closer at both frequencies, and the gap is larger at 1 Hz. With the
// defaults of the rig, and with what they could be otherwise.
static void test_torque_control_is_closer(void** state) {
  (void)state;
  static const variation all[] = {
      {.text = "defaults of the rig"},
      {.text = "latency of a cycle", .both = {RIG "latency=1"}},
      {.text = "current loop 500 Hz", .both = {RIG "current_hz=500"}},
      {.text = "current loop 2000 Hz", .both = {RIG "current_hz=2000"}},
      {.text = "speed loop 20 Hz", .both = {RIG "speed_hz=20"}},
      {.text = "speed loop 80 Hz", .both = {RIG "speed_hz=80"}},
      {.text = "position loop 2 Hz", .position = {"units.track.with.C=[[12.5664]]"}},
      {.text = "position loop 8 Hz", .position = {"units.track.with.C=[[50.2655]]"}},
      {.text = "no feed-forward", .both = {RIG "feedforward=off"}},
      {.text = "cells without noise", .both = {RIG "cell_noise=0"}},
      {.text = "rigid shaft", .both = {RIG "is_rigid=true"}},
      {.text = "friction of the prototype",
       .both = {RIG "tau_dry=17.6e-3", RIG "tau_visc=17.6e-3"}},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    double torque[2], position[2];
    compare(&all[i], torque, position);
    assert_true(torque[0] < position[0] && torque[1] < position[1]);
    assert_true(position[1] - torque[1] > position[0] - torque[0]);
  }
}

// What docs/steering.md says of the limits: the load rotor must be known, within 10 % at least and
// not within 20 %, and three cycles there and back are too many for both.
static void test_limits(void** state) {
  (void)state;
  double torque[2], position[2];
  static const char* const heavy[] = {"laws.load.with.signs=[-1, 0]", NULL};
  static const char* const ten[] = {"laws.load.with.signs=[-1.9, 0.9]", NULL};
  static const char* const twenty[] = {"laws.load.with.signs=[-1.8, 0.8]", NULL};
  errors_of(POSITION, NULL, position);
  errors_of(TORQUE, heavy, torque);
  print_message("load rotor left to the motor %.4f %.4f", torque[0], torque[1]);
  assert_true(torque[0] > position[0] && torque[1] > position[1]);
  errors_of(TORQUE, ten, torque);
  print_message(", 10 %% unknown %.4f %.4f", torque[0], torque[1]);
  assert_true(torque[0] < position[0]);
  errors_of(TORQUE, twenty, torque);
  print_message(", 20 %% unknown %.4f %.4f\n", torque[0], torque[1]);
  assert_true(torque[0] > position[0] && torque[1] > position[1]);

  const variation late = {.text = "latency of two cycles", .both = {RIG "latency=2"}};
  compare(&late, torque, position);
  assert_true(torque[1] > 0.1 && position[1] > 0.1);
}

// The torque in the shaft holds the motor's inertia: 881 kg against a rack and wheels of 156 kg. The
// wrong causality for the heavier side, and it oscillates whatever the bandwidth.
static void test_in_line(void** state) {
  (void)state;
  static const char* const all[][2] = {{NULL}, {RIG "speed_hz=20"}, {RIG "speed_hz=80"}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    double errors[2];
    errors_of(IN_LINE, all[i], errors);
    print_message("torque in the shaft, %s: %.4f %.4f\n",
                  all[i][0] == NULL ? "defaults of the rig" : all[i][0], errors[0], errors[1]);
    assert_true(errors[0] > 1 && errors[1] > 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_torque_control_is_closer),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_in_line),
  };
  return cmocka_run_group_tests(tests, prepare, finish);
}
