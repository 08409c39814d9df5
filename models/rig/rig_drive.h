// A drive of the test rig: state machine, modes, loops, limits and its own command timeout.
//
//   current  u = Kp e + I + k_B w,  Kp = 2 pi f L, I' = 2 pi f R e           every 40 us
//   speed    tau = Kp e + I + feed-forward,  Kp = 2 pi f 2 J, I' = Kp 2 pi f / 4 e   every 400 us
//   position w_ref = 2 pi f (phi_ref - phi), limited                          with the speed loop
//
// An integral stands still while what it drives is limited. States follow CiA 402: disabled, ready, switched on,
// enabled, quick stop, fault. Page: README.md and docs/rig.md, "States and limits".
#ifndef YOKE_MODELS_RIG_DRIVE_H
#define YOKE_MODELS_RIG_DRIVE_H

#include "models/rig/rig_frame.h"
#include "models/rig/rig_plant.h"

typedef enum yoke_rig_state {
  YOKE_RIG_DISABLED,
  YOKE_RIG_READY,
  YOKE_RIG_SWITCHED_ON,
  YOKE_RIG_ENABLED,
  YOKE_RIG_QUICK_STOP,
  YOKE_RIG_FAULT,
  YOKE_RIG_N_STATES,
} yoke_rig_state;

enum { YOKE_RIG_POSITION = 8, YOKE_RIG_SPEED = 9, YOKE_RIG_TORQUE = 10, YOKE_RIG_CURRENT = 11 };

// Words of CiA 402; the mode stands in the upper four bits of both.
enum {
  YOKE_RIG_WORD_SHUTDOWN = 0x06,
  YOKE_RIG_WORD_SWITCH_ON = 0x07,
  YOKE_RIG_WORD_ENABLE = 0x0f,
  YOKE_RIG_WORD_QUICK_STOP = 0x02,
  YOKE_RIG_WORD_RESET = 0x80,
  YOKE_RIG_WORD_LIMITED = 0x0800,  // status: a command or a reference was limited
};

// Error codes of CiA 301 and 402.
enum {
  YOKE_RIG_NO_FAULT = 0,
  YOKE_RIG_FAULT_OVERVOLTAGE = 0x3210,
  YOKE_RIG_FAULT_UNDERVOLTAGE = 0x3220,
  YOKE_RIG_FAULT_TEMPERATURE = 0x4310,
  YOKE_RIG_FAULT_TRIP = 0x5400,  // power section, on demand
  YOKE_RIG_FAULT_ENCODER = 0x7305,
  YOKE_RIG_FAULT_OVERSPEED = 0x8400,
};

typedef struct yoke_rig_drive {
  int64_t state, mode, code;       // yoke_rig_state, mode, code of the latched fault
  double torque, speed, position;  // targets in use [N.m], [rad/s], [rad]
  double ramp_torque, ramp_speed;  // of a quick stop
  double i_ref, u;                 // [A], [V]
  double speed_integral;           // [N.m]
  double current_integral;         // [V]
  double omega, phi;               // as the encoder says
  int64_t is_dark;                 // samples of the speed loop without encoder
  int64_t n_missed;                // cycles without command in a row
  int64_t n_clipped;               // commands that were limited
  int64_t n_timeouts;              // quick stops for want of commands
  int64_t is_limited;              // now
} yoke_rig_drive;

// What faults do to a drive and its sensors; all zero: nothing.
typedef struct yoke_rig_upset {
  int64_t has_frozen_cell, has_no_encoder, is_tripped, is_runaway;
  double offset, noise;   // of the cell [N.m]
  double runaway_torque;  // [N.m]
  double heat;            // [W]
} yoke_rig_upset;

// A command arrived for this cycle, or none did (NULL).
void yoke__rig_drive_command(const yoke_rig_settings* s, yoke_rig_drive* drive,
                             const yoke_frame_command* command);
// The loops that are due at micro step n. pedal: torque of a local pedal in place of the target, or NULL.
void yoke__rig_drive_sample(const yoke_rig_settings* s, yoke_rig_drive* drive,
                            const yoke_rig_motor* motor, double U, const yoke_rig_upset* upset,
                            const double* pedal, int64_t n);
bool yoke__rig_drive_has_power(const yoke_rig_drive* drive);
// Statusword with the echoed mode.
uint16_t yoke__rig_drive_word(const yoke_rig_drive* drive);
// State from a statusword.
yoke_rig_state yoke__rig_state_of(uint16_t word);
const char* yoke__rig_state_text(yoke_rig_state state);
// What a fault code stands for: "speed above its limit"; "unknown fault" for any other value.
const char* yoke__rig_code_text(int64_t code);

// What the frames count in: torque [N.m], speed [rad/s] and position [rad] of one unit.
double yoke__rig_torque_unit(const yoke_rig_settings* s);
double yoke__rig_speed_unit(void);
double yoke__rig_angle_unit(const yoke_rig_settings* s);

#endif
