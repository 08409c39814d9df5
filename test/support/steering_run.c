#include "support/steering_run.h"

#include <math.h>
#include <stdio.h>

#include "support/check.h"
#include "support/sim.h"
#include "synth/synth_element_file.h"

const steering_cut STEERING_WHOLE = {
    "  car: {model: steering.whole}\n",
    "  - {from: hands.y, to: car.T_s, coupling: {method: hold}}\n",
    {"car.angle", "car.v_rack", "car.yaw_rate", "car.v_y", "car.F_rod"},
};

const steering_cut STEERING_FORCE_TO_RACK = {
    "  epas: {model: steering.epas}\n  car: {model: steering.chassis}\n",
    "  - {from: hands.y, to: epas.T_s, coupling: {method: hold}}\n"
    "  - {from: epas.v_rack, to: car.v_rack, %s}\n"
    "  - {from: car.F_rod, to: epas.F_rod, %s}\n",
    {"epas.angle", "epas.v_rack", "car.yaw_rate", "car.v_y", "car.F_rod"},
};

const steering_cut STEERING_FORCE_TO_WHEELS = {
    "  epas: {model: steering.epas_rod}\n  car: {model: steering.wheels}\n",
    "  - {from: hands.y, to: epas.T_s, coupling: {method: hold}}\n"
    "  - {from: epas.F_rod, to: car.F_rod, %s}\n"
    "  - {from: car.v_rod, to: epas.v_rod, %s}\n",
    {"epas.angle", "epas.v_rack", "car.yaw_rate", "car.v_y", "epas.F_rod"},
};

// Rack and chassis exchange at every internal step: to the cut under test they are one.
#define CAR                                                                                        \
  "  - {from: hands.y, to: rack.T_s, coupling: {method: hold}}\n"                                  \
  "  - {from: rack.v_rack, to: car.v_rack, exchange: 1e-4, coupling: {method: hold}}\n"            \
  "  - {from: car.F_rod, to: rack.F_rod, exchange: 1e-4, coupling: {method: hold}}\n"
#define CAR_NAMES                                                                                  \
  { "rack.angle", "rack.v_rack", "car.yaw_rate", "car.v_y", "car.F_rod" }

const steering_cut STEERING_TORQUE_TO_MOTOR = {
    "  rack: {model: steering.rack_belt%s}\n  motor: {model: steering.motor}\n"
    "  car: {model: steering.chassis}\n",
    CAR "  - {from: motor.w_motor, to: rack.w_motor, %s}\n"
        "  - {from: rack.T_belt, to: motor.T_belt, %s}\n"
        "  - {from: rack.T_bar, to: motor.T_bar, %s}\n",
    CAR_NAMES,
};

const steering_cut STEERING_TORQUE_TO_RACK = {
    "  rack: {model: steering.rack%s}\n  motor: {model: steering.motor_belt%s}\n"
    "  car: {model: steering.chassis}\n",
    CAR "  - {from: rack.v_rack, to: motor.v_rack, %s}\n"
        "  - {from: motor.T_belt, to: rack.T_belt, %s}\n"
        "  - {from: rack.T_bar, to: motor.T_bar, %s}\n",
    CAR_NAMES,
};

const steering_cut STEERING_CONTROLLER_CUT = {
    "  rack: {model: steering.mechanics}\n  car: {model: steering.chassis}\n"
    "  control: {model: steering.controller}\n",
    CAR "  - {from: rack.T_bar, to: control.T_bar, %s}\n"
        "  - {from: rack.w_motor, to: control.w_motor, %s}\n"
        "  - {from: control.T_request, to: rack.T_request, %s}\n",
    CAR_NAMES,
};

static const struct {
  const char* model;
  double stop;
} manoeuvres[] = {
    [STEERING_M0] = {"kind: sine, amplitude: 2, frequency: 1", 5},
    [STEERING_M1] = {"kind: chirp, amplitude: 1.5, frequency: 0.1, frequency_end: 1, duration: 20",
                     20},
    [STEERING_M2] = {"kind: chirp, amplitude: 2, frequency: 0.5, frequency_end: 3, duration: 20",
                     20},
};

// Every "%s" in text becomes the same words.
static void fill_in(char to[], size_t size, const char* text, const char* words) {
  assert_true(snprintf(to, size, text, words, words, words) < (int)size);
}

void steering_run(const steering_cut* cut, steering_manoeuvre manoeuvre, const char* keys,
                  const char* settings, steering_signals* to) {
  char units[1024], connections[2048];
  fill_in(units, sizeof units, cut->units, settings);
  fill_in(connections, sizeof connections, cut->connections, keys);
  sim s = sim_open("yoke: 1\ntime: {stop: %g, step: 1e-4}\ninputs: start\nexchange: fresh\n"
                   "units:\n  hands: {model: manoeuvre, with: {%s}}\n%sconnections:\n%s",
                   manoeuvres[manoeuvre].stop, manoeuvres[manoeuvre].model, units, connections);
  size_t at[STEERING_SIGNALS];
  for (size_t i = 0; i < STEERING_SIGNALS; i++) {
    at[i] = sim_index(&s, cut->names[i]);
  }
  to->is_lost = false;
  const size_t n = (size_t)(manoeuvres[manoeuvre].stop / STEERING_STEP + 0.5);
  for (to->n = 0; to->n < n && !to->is_lost; to->n++) {
    for (size_t i = 0; i < STEERING_SIGNALS; i++) {
      to->x[i][to->n] = s.state->y[at[i]];
      // rack speeds are below 0.1 m/s, forces below 2 kN
      to->is_lost = to->is_lost || !(fabs(s.state->y[at[i]]) < 1e6);
    }
    to->is_lost = to->is_lost || yoke__master_step(s.system, s.state) < 0;
  }
  sim_close(&s);
}

void steering_errors(const steering_signals* got, const steering_signals* want,
                     double errors[STEERING_SIGNALS]) {
  for (size_t i = 0; i < STEERING_SIGNALS; i++) {
    double sum = 0, low = want->x[i][0], high = low;
    for (size_t k = 0; k < want->n && !got->is_lost; k++) {
      const double e = got->x[i][k] - want->x[i][k];
      sum += e * e;
      low = fmin(low, want->x[i][k]);
      high = fmax(high, want->x[i][k]);
    }
    errors[i] = got->is_lost ? (double)INFINITY : sqrt(sum / (double)want->n) / (high - low);
  }
}

void steering_write_element(const char* path, char recipe, double interval) {
  yoke_synth_settings settings = yoke__synth_settings_default(
      recipe == 'T' ? YOKE_RECIPE_T : YOKE_RECIPE_L, interval, STEERING_STEP);
  settings.band_hz = 3;
  yoke_synth_design design;
  check_ok(yoke__synth_design(&settings, YOKE_SYNTH_SWEEPS, &design, NULL));
  check_ok(yoke__synth_element_write(path, &design, NULL));
}
