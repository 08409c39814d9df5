#define _POSIX_C_SOURCE 200809L  // mkdtemp
#include "support/steering_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/check.h"
#include "support/sim.h"
#include "synth/synth_element_file.h"

const steering_cut STEERING_WHOLE = {
    "  car: {model: steering.whole%s}\n",
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

// Rack and chassis exchange at every internal step: to the cut under test they are one. The
// controller reads the torsion bar at its own 1 ms in all of them.
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
        "  - {from: rack.T_bar, to: motor.T_bar, exchange: 1e-3, coupling: {method: hold}}\n",
    CAR_NAMES,
};

const steering_cut STEERING_TORQUE_TO_RACK = {
    "  rack: {model: steering.rack%s}\n  motor: {model: steering.motor_belt%s}\n"
    "  car: {model: steering.chassis}\n",
    CAR "  - {from: rack.v_rack, to: motor.v_rack, %s}\n"
        "  - {from: motor.T_belt, to: rack.T_belt, %s}\n"
        "  - {from: rack.T_bar, to: motor.T_bar, exchange: 1e-3, coupling: {method: hold}}\n",
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

void steering_run(const steering_cut* cut, steering_manoeuvre manoeuvre,
                  const steering_options* options, steering_signals* to) {
  char units[1024], connections[2048];
  fill_in(units, sizeof units, cut->units, options->settings != NULL ? options->settings : "");
  fill_in(connections, sizeof connections, cut->connections,
          options->keys != NULL ? options->keys : "");
  sim s = sim_open("yoke: 1\ntime: {stop: %g, step: 1e-4}\ninputs: start\nexchange: %s\n"
                   "units:\n  hands: {model: manoeuvre, with: {%s}}\n%sconnections:\n%s",
                   manoeuvres[manoeuvre].stop, options->is_stale ? "stale" : "fresh",
                   manoeuvres[manoeuvre].model, units, connections);
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
  to->ter = (double)NAN;
  if (s.state->ledger != NULL && yoke__ledger_count(s.state->ledger) == 1) {
    yoke_ledger_result bond;
    yoke__ledger_result(s.state->ledger, 0, &bond);
    to->ter = bond.ter;
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

void steering_write_element(const char* path, char recipe, double interval, double smoother_hz,
                            double delay) {
  yoke_synth_settings settings = yoke__synth_settings_default(
      recipe == 'T' ? YOKE_RECIPE_T : YOKE_RECIPE_L, interval, STEERING_STEP);
  settings.band_hz = 3;
  settings.delay = delay;
  if (smoother_hz > 0) {
    settings.smoother_hz = smoother_hz;
  }
  yoke_synth_design design;
  check_ok(yoke__synth_design(&settings, YOKE_SYNTH_SWEEPS, &design, NULL));
  check_ok(yoke__synth_element_write(path, &design, NULL));
}

// ---- table 10.5

#define DIVERGES                                                                                   \
  { 0 }
const steering_row steering_rows[] = {
    {STEERING_M0, 5, STEERING_ZOH, {.0126, .0142, .0163, .0163, .0167}},
    {STEERING_M0, 5, STEERING_FOH, {.0003, .0005, .0004, .0004, .0006}},
    {STEERING_M0, 5, STEERING_SOH, DIVERGES},
    {STEERING_M0, 5, STEERING_T, {.0093, .0115, .0122, .0118, .0127}},
    {STEERING_M0, 5, STEERING_L, {.0015, .0016, .0017, .0017, .0020}},
    {STEERING_M0, 10, STEERING_ZOH, {.0262, .0282, .0309, .0311, .0316}},
    {STEERING_M0, 10, STEERING_FOH, {.0011, .0016, .0014, .0013, .0017}},
    {STEERING_M0, 10, STEERING_SOH, DIVERGES},
    {STEERING_M0, 10, STEERING_T, {.0098, .0143, .0114, .0110, .0118}},
    {STEERING_M0, 10, STEERING_L, {.0060, .0062, .0077, .0075, .0080}},
    {STEERING_M0, 15, STEERING_ZOH, {.0414, .0434, .0469, .0472, .0480}},
    {STEERING_M0, 15, STEERING_FOH, {.0023, .0060, .0029, .0028, .0060}},
    {STEERING_M0, 15, STEERING_SOH, DIVERGES},
    {STEERING_M0, 15, STEERING_T, {.0128, .0179, .0134, .0129, .0138}},
    {STEERING_M0, 15, STEERING_L, {.0118, .0242, .0153, .0149, .0684}},
    {STEERING_M0, 20, STEERING_ZOH, {.0580, .0599, .0643, .0646, .0657}},
    {STEERING_M0, 20, STEERING_FOH, DIVERGES},
    {STEERING_M0, 20, STEERING_SOH, DIVERGES},
    {STEERING_M0, 20, STEERING_T, {.0181, .0229, .0184, .0178, .0189}},
    {STEERING_M0, 20, STEERING_L, {.0164, .0172, .0197, .0191, .0204}},
    {STEERING_M1, 10, STEERING_ZOH, {.0178, .0173, .0183, .0177, .0186}},
    {STEERING_M1, 10, STEERING_FOH, {.0006, .0009, .0006, .0006, .0008}},
    {STEERING_M1, 10, STEERING_T, {.0082, .0097, .0060, .0057, .0062}},
    {STEERING_M1, 10, STEERING_L, {.0055, .0042, .0041, .0040, .0043}},
    {STEERING_M1, 20, STEERING_ZOH, {.0383, .0353, .0372, .0362, .0378}},
    {STEERING_M1, 20, STEERING_FOH, DIVERGES},
    {STEERING_M1, 20, STEERING_T, {.0106, .0133, .0085, .0082, .0088}},
    {STEERING_M1, 20, STEERING_L, {.0137, .0110, .0102, .0097, .0106}},
    {STEERING_M2, 10, STEERING_ZOH, {.0135, .0163, .0166, .0183, .0164}},
    {STEERING_M2, 10, STEERING_FOH, {.0006, .0018, .0009, .0011, .0015}},
    {STEERING_M2, 10, STEERING_T, {.0055, .0095, .0060, .0066, .0062}},
    {STEERING_M2, 10, STEERING_L, {.0035, .0039, .0044, .0051, .0050}},
    {STEERING_M2, 15, STEERING_FOH, {.0013, .0103, .0019, .0024, .0090}},
    {STEERING_M2, 15, STEERING_T, {.0076, .0123, .0071, .0080, .0073}},
    {STEERING_M2, 15, STEERING_L, {-1, .2924, -1, -1, .8577}},
    {STEERING_M2, 20, STEERING_ZOH, {.0294, .0335, .0343, .0379, .0338}},
    {STEERING_M2, 20, STEERING_FOH, DIVERGES},
    {STEERING_M2, 20, STEERING_T, {.0101, .0162, .0099, .0112, .0103}},
    {STEERING_M2, 20, STEERING_L, {.0092, .0109, .0110, .0128, .0125}},
};
const size_t steering_n_rows = sizeof steering_rows / sizeof *steering_rows;

static const char* const method_names[] = {"ZOH", "FOH", "SOH", "T", "L"};

#define FOLDER "/tmp/yoke-test-steering-XXXXXX"
static char folder[sizeof FOLDER];

static void element_path(char path[128], steering_method by, int interval_ms) {
  snprintf(path, 128, "%s/%s_%d.json", folder, method_names[by], interval_ms);
}

void steering_elements_make(void) {
  char path[128];
  memcpy(folder, FOLDER, sizeof folder);
  assert_non_null(mkdtemp(folder));
  for (int ms = 5; ms <= 20; ms += 5) {
    for (steering_method by = STEERING_T; by <= STEERING_L; by++) {
      element_path(path, by, ms);
      steering_write_element(path, by == STEERING_T ? 'T' : 'L', ms * 1e-3, 0, 0);
    }
  }
}

void steering_elements_remove(void) {
  char path[128];
  for (int ms = 5; ms <= 20; ms += 5) {
    for (steering_method by = STEERING_T; by <= STEERING_L; by++) {
      element_path(path, by, ms);
      unlink(path);
    }
  }
  rmdir(folder);
}

void steering_keys(const steering_row* r, char keys[256]) {
  const double interval = r->interval_ms * 1e-3;
  char path[128];
  if (r->method == STEERING_T || r->method == STEERING_L) {
    element_path(path, r->method, r->interval_ms);
    snprintf(keys, 256, "exchange: %g, coupling: {method: hinf, element: %s}", interval, path);
  } else {
    snprintf(keys, 256, "exchange: %g, coupling: {method: hold, order: %d}", interval,
             (int)r->method);
  }
}

bool steering_is_close(double error, double want) {
  return want < 0 || fabs(error - want) <= fmax(0.05 * want, 5e-4);
}

bool steering_check_row(const steering_row* r, const steering_cut* cut, bool is_stale,
                        const steering_signals* reference, steering_signals* got) {
  char keys[256];
  double errors[STEERING_SIGNALS];
  steering_keys(r, keys);
  const steering_options options = {.keys = keys, .is_stale = is_stale};
  steering_run(cut, r->manoeuvre, &options, got);
  steering_errors(got, reference, errors);
  const bool diverges = r->errors[0] == 0;
  bool is_good = !diverges || got->is_lost || errors[1] > 1;
  for (size_t i = 0; i < STEERING_SIGNALS && !diverges; i++) {
    is_good = is_good && steering_is_close(errors[i], r->errors[i]);
  }
  print_message("M%d %2d ms %-3s %.4f %.4f %.4f %.4f %.4f%s\n", (int)r->manoeuvre, r->interval_ms,
                method_names[r->method], errors[0], errors[1], errors[2], errors[3], errors[4],
                is_good ? "" : "  <- not as published");
  return is_good;
}
