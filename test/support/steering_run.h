// The steering surrogate SE-1 through the engine: manoeuvres, the whole system and its cuts as system texts, and errors against
// the whole system (HINF specification 10.3 to 10.5).
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
  double x[STEERING_SIGNALS][STEERING_MAX];
} steering_signals;

// A cut: units and connections as text. "%s" in it stands for the keys of its coupled connections.
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

// Runs it with `keys`, e.g. "exchange: 0.005, coupling: {method: hold}", settings being more lines of the file, or "".
void steering_run(const steering_cut* cut, steering_manoeuvre manoeuvre, const char* keys,
                  const char* settings, steering_signals* to);
// Root of the mean square error over the range of the reference; infinite if it was lost.
void steering_errors(const steering_signals* got, const steering_signals* want,
                     double errors[STEERING_SIGNALS]);

// An element of recipe T or L with a band of 3 Hz, designed and written to `path`, for Dt and calls of 0.1 ms.
void steering_write_element(const char* path, char recipe, double interval);

#endif
