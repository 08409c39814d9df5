// The steering surrogate SE-1 through the engine: manoeuvres, the whole system and its cuts as
// system texts, and errors against the whole system (HINF specification 10.3 to 10.5).
#ifndef YOKE_TEST_STEERING_RUN_H
#define YOKE_TEST_STEERING_RUN_H

#include <stdbool.h>
#include <stddef.h>

#define STEERING_STEP    1e-4
#define STEERING_SIGNALS 5       // angle, rack speed, yaw rate, v_y, tie rod force
#define STEERING_MAX     200000  // samples of the longest manoeuvre

typedef enum steering_manoeuvre { STEERING_M0, STEERING_M1, STEERING_M2 } steering_manoeuvre;

// Samples before each step of 0.1 ms.
typedef struct steering_signals {
  size_t n;
  bool is_lost;  // a signal left all bounds, the rest is missing
  double ter;    // total energy residual of the only bond [J]; NaN without one
  double x[STEERING_SIGNALS][STEERING_MAX];
} steering_signals;

// A cut: units and connections as text. "%s" stands for settings in the units, for keys in the
// coupled connections.
typedef struct steering_cut {
  const char* units;
  const char* connections;
  const char* names[STEERING_SIGNALS];
} steering_cut;

extern const steering_cut STEERING_WHOLE;
extern const steering_cut STEERING_FORCE_TO_RACK;    // tie rod: epas | chassis
extern const steering_cut STEERING_FORCE_TO_WHEELS;  // the same, force the other way
extern const steering_cut STEERING_TORQUE_TO_MOTOR;  // belt: motor | rack and chassis
extern const steering_cut STEERING_TORQUE_TO_RACK;   // the same, torque the other way
extern const steering_cut STEERING_CONTROLLER_CUT;

typedef struct steering_options {
  const char* keys;  // of the coupled connections: "exchange: 0.005, coupling: {method: hold}"
  // of the units that have the gear of the motor: ", with: {i_motor: 8e-3}"; NULL: none
  const char* settings;
  bool is_stale;  // else fresh
} steering_options;
void steering_run(const steering_cut* cut, steering_manoeuvre manoeuvre,
                  const steering_options* options, steering_signals* to);
// Root of the mean square error over the range of the reference; infinite if it was lost.
void steering_errors(const steering_signals* got, const steering_signals* want,
                     double errors[STEERING_SIGNALS]);

// An element of recipe T or L with a band of 3 Hz, designed and written to `path`, for Dt and calls
// of 0.1 ms. smoother_hz 0: that of the recipe.
void steering_write_element(const char* path, char recipe, double interval, double smoother_hz,
                            double delay);

// ---- table 10.5 of the specification

typedef enum steering_method {
  STEERING_ZOH,
  STEERING_FOH,
  STEERING_SOH,
  STEERING_T,
  STEERING_L,
} steering_method;

typedef struct steering_row {
  steering_manoeuvre manoeuvre;
  int interval_ms;
  steering_method method;
  double errors[STEERING_SIGNALS];  // the first one 0: diverges; below 0: not published
} steering_row;
extern const steering_row steering_rows[];
extern const size_t steering_n_rows;

// The elements of all rows in a temporary folder.
void steering_elements_make(void);
void steering_elements_remove(void);
// HI-11: within 5 % or 0.0005.
bool steering_is_close(double error, double want);
// The keys of a row's connections.
void steering_keys(const steering_row* row, char keys[256]);
// Runs a row, prints its errors, and says whether they are as published.
bool steering_check_row(const steering_row* row, const steering_cut* cut, bool is_stale,
                        const steering_signals* reference, steering_signals* got);

#endif
