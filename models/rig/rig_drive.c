// A drive of the test rig; equations in rig_drive.h.
#include "models/rig/rig_drive.h"

#include <math.h>

#define CURRENT_EVERY 4   // micro steps: 40 us
#define SPEED_EVERY   40  // 400 us
#define MAX_DARK      10  // samples of the speed loop without encoder: 4 ms

static const double two_pi = 6.283185307179586477;

double yoke__rig_torque_unit(const yoke_rig_settings* s) {
  // per mille of the nominal torque k_tau I_N
  return 1e-3 * s->k_tau * s->I_nominal;
}

double yoke__rig_speed_unit(void) {
  // 1 mrev/min: 2 pi / 60 / 1000 rad/s
  return two_pi / 60e3;
}

double yoke__rig_angle_unit(const yoke_rig_settings* s) {
  return two_pi / (double)s->counts;
}

static double clamp(double x, double most) {
  return x > most ? most : (x < -most ? -most : x);
}

// ---- states

static const uint16_t state_words[YOKE_RIG_N_STATES] = {
    [YOKE_RIG_DISABLED] = 0x40, [YOKE_RIG_READY] = 0x21,      [YOKE_RIG_SWITCHED_ON] = 0x23,
    [YOKE_RIG_ENABLED] = 0x27,  [YOKE_RIG_QUICK_STOP] = 0x07, [YOKE_RIG_FAULT] = 0x08,
};

const char* yoke__rig_state_text(yoke_rig_state state) {
  static const char* const texts[YOKE_RIG_N_STATES] = {"disabled", "ready",      "switched on",
                                                       "enabled",  "quick stop", "fault"};
  return (unsigned)state < YOKE_RIG_N_STATES ? texts[state] : "";
}

const char* yoke__rig_code_text(int64_t code) {
  switch (code) {
  case YOKE_RIG_NO_FAULT:
    return "no fault";
  case YOKE_RIG_FAULT_OVERVOLTAGE:
    return "DC link above its limit";
  case YOKE_RIG_FAULT_UNDERVOLTAGE:
    return "DC link below half its voltage";
  case YOKE_RIG_FAULT_TEMPERATURE:
    return "winding too hot";
  case YOKE_RIG_FAULT_TRIP:
    return "power section, on demand";
  case YOKE_RIG_FAULT_ENCODER:
    return "no encoder";
  case YOKE_RIG_FAULT_OVERSPEED:
    return "speed above its limit";
  default:
    return "unknown fault";
  }
}

uint16_t yoke__rig_drive_word(const yoke_rig_drive* drive) {
  return (uint16_t)(state_words[drive->state] | (drive->is_limited ? YOKE_RIG_WORD_LIMITED : 0) |
                    (int)(drive->mode << 12));
}

yoke_rig_state yoke__rig_state_of(uint16_t word) {
  for (int state = 0; state < YOKE_RIG_N_STATES; state++) {
    if ((word & 0x6f) == state_words[state]) {
      return (yoke_rig_state)state;
    }
  }
  return YOKE_RIG_DISABLED;
}

bool yoke__rig_drive_has_power(const yoke_rig_drive* drive) {
  return drive->state == YOKE_RIG_ENABLED || drive->state == YOKE_RIG_QUICK_STOP;
}

static void power_off(yoke_rig_drive* drive, yoke_rig_state state) {
  drive->state = state;
  drive->torque = drive->speed = drive->i_ref = drive->u = 0.0;
  drive->speed_integral = drive->current_integral = 0.0;
  drive->is_limited = 0;
}

static void trip(yoke_rig_drive* drive, int64_t code) {
  if (drive->state != YOKE_RIG_FAULT) {
    drive->code = code;
    power_off(drive, YOKE_RIG_FAULT);
  }
}

static void begin_quick_stop(yoke_rig_drive* drive) {
  if (drive->state == YOKE_RIG_ENABLED) {
    drive->state = YOKE_RIG_QUICK_STOP;
    drive->ramp_torque = drive->torque;
    drive->ramp_speed = drive->omega;
  }
}

static bool is_torque_mode(const yoke_rig_drive* drive) {
  return drive->mode == YOKE_RIG_TORQUE || drive->mode == YOKE_RIG_CURRENT;
}

// One transition per command, as the word asks for it.
static void follow_word(yoke_rig_drive* drive, int word) {
  static const yoke_rig_state next[] = {YOKE_RIG_READY, YOKE_RIG_SWITCHED_ON, YOKE_RIG_ENABLED};
  if (drive->state == YOKE_RIG_FAULT) {
    if (word & YOKE_RIG_WORD_RESET) {
      drive->code = YOKE_RIG_NO_FAULT;
      power_off(drive, YOKE_RIG_DISABLED);
    }
    return;
  }
  // bits: 0 switch on, 1 voltage, 2 no quick stop, 3 operation
  const int request = word & 0x0f;
  if (!(request & 0x02)) {
    power_off(drive, YOKE_RIG_DISABLED);
  } else if (!(request & 0x04)) {
    begin_quick_stop(drive);
  } else {
    const int wish = !(request & 0x01) ? 0 : !(request & 0x08) ? 1 : 2;
    // only a shutdown leaves disabled: a delayed "enable" must not start a drive that has stopped by itself
    const bool is_closed = drive->state == YOKE_RIG_DISABLED && wish > 0;
    if (drive->state < next[wish] && drive->state < YOKE_RIG_ENABLED && !is_closed) {
      drive->state++;
    } else if (drive->state == YOKE_RIG_ENABLED && wish < 2) {
      power_off(drive, next[wish]);
    }
  }
}

// ---- commands

// Targets in physical units, limited; a command that was limited is counted.
static void set_targets(const yoke_rig_settings* s, yoke_rig_drive* drive,
                        const yoke_frame_command* command) {
  const double torque = command->torque * yoke__rig_torque_unit(s);
  const double most = s->k_tau * s->I_max;
  bool is_clipped = false;
  drive->torque = clamp(torque, most);
  is_clipped = drive->torque != torque;
  if (drive->mode == YOKE_RIG_POSITION) {
    drive->position = command->target * yoke__rig_angle_unit(s);
  } else {
    const double speed = command->target * yoke__rig_speed_unit();
    drive->speed = clamp(speed, s->omega_limit);
    is_clipped = is_clipped || drive->speed != speed;
  }
  drive->n_clipped += is_clipped;
  drive->is_limited = is_clipped;
}

void yoke__rig_drive_command(const yoke_rig_settings* s, yoke_rig_drive* drive,
                             const yoke_frame_command* command) {
  if (command == NULL) {
    drive->n_missed++;
    if (drive->n_missed == s->timeout && drive->state == YOKE_RIG_ENABLED) {
      drive->n_timeouts++;
      begin_quick_stop(drive);
    }
    return;
  }
  drive->n_missed = 0;
  const int mode = command->word >> 12;
  follow_word(drive, command->word);
  if (mode >= YOKE_RIG_POSITION && mode <= YOKE_RIG_CURRENT && mode != drive->mode) {
    drive->mode = mode;
    drive->speed_integral = 0.0;
  }
  if (drive->state == YOKE_RIG_ENABLED) {
    set_targets(s, drive, command);
  }
}

// ---- loops

// Supervision at the rate of the speed loop.
static void supervise(const yoke_rig_settings* s, yoke_rig_drive* drive,
                      const yoke_rig_motor* motor, double U, const yoke_rig_upset* upset) {
  if (upset->has_no_encoder) {
    drive->is_dark++;
  } else {
    drive->is_dark = 0;
  }
  if (upset->is_tripped) {
    trip(drive, YOKE_RIG_FAULT_TRIP);
  } else if (fabs(drive->omega) > s->omega_trip) {
    trip(drive, YOKE_RIG_FAULT_OVERSPEED);
  } else if (drive->is_dark > MAX_DARK) {
    trip(drive, YOKE_RIG_FAULT_ENCODER);
  } else if (motor->T > s->T_trip) {
    trip(drive, YOKE_RIG_FAULT_TEMPERATURE);
  } else if (U > s->U_trip) {
    trip(drive, YOKE_RIG_FAULT_OVERVOLTAGE);
  } else if (U < 0.5 * s->U) {
    trip(drive, YOKE_RIG_FAULT_UNDERVOLTAGE);
  }
}

// Toward 0 by at most `by`.
static double ease(double x, double by) {
  // not beyond 0, so that a ramp ends there
  return fabs(x) <= by ? 0.0 : x - copysign(by, x);
}

// What a quick stop asks for; at rest the drive lets go.
static void slow_down(const yoke_rig_settings* s, yoke_rig_drive* drive, double h) {
  if (is_torque_mode(drive)) {
    drive->ramp_torque = ease(drive->ramp_torque, s->tau_slope * h);
    drive->torque = drive->ramp_torque;
  } else {
    drive->ramp_speed = ease(drive->ramp_speed, s->omega_slope * h);
    drive->speed = drive->ramp_speed;
    drive->torque = 0.0;
  }
  const bool is_done = is_torque_mode(drive)
                           ? drive->ramp_torque == 0.0
                           : drive->ramp_speed == 0.0 && fabs(drive->omega) < 0.01 * s->omega_limit;
  if (is_done) {
    power_off(drive, YOKE_RIG_DISABLED);
  }
}

// Speed loop with feed-forward (`torque`), from a position loop if that is the mode.
static double speed_torque(const yoke_rig_settings* s, yoke_rig_drive* drive, double h) {
  // both motors' inertia: with K_p = 2 J w the speed loop crosses over at w; T_I = 4 / w
  const double bandwidth = two_pi * s->speed_hz, Kp = 2.0 * s->J * bandwidth;
  const bool is_position = drive->mode == YOKE_RIG_POSITION && drive->state == YOKE_RIG_ENABLED;

  // position loop: proportional, its target speed limited
  const double target =
      is_position ? clamp(two_pi * s->position_hz * (drive->position - drive->phi), s->omega_limit)
                  : drive->speed;
  const double error = target - drive->omega, most = s->k_tau * s->I_max;
  const double wish = Kp * error + drive->speed_integral + drive->torque;
  const double torque = clamp(wish, most);

  // anti-windup: the integral stands still while the torque is limited
  if (torque == wish) {
    drive->speed_integral += h * Kp * bandwidth / 4.0 * error;
  }
  return torque;
}

static void run_speed_loop(const yoke_rig_settings* s, yoke_rig_drive* drive, double h) {
  if (drive->state == YOKE_RIG_QUICK_STOP) {
    slow_down(s, drive, h);
  }
  if (!is_torque_mode(drive) && yoke__rig_drive_has_power(drive)) {
    // i = tau / (k_tau field): less field, more current for the same torque
    drive->i_ref = speed_torque(s, drive, h) / (s->k_tau * yoke__rig_field(s, drive->omega));
  }
}

static void run_current_loop(const yoke_rig_settings* s, yoke_rig_drive* drive,
                             const yoke_rig_motor* motor, double U, double h) {
  // pole compensation: L w and R w cancel the winding's pole R / L, emf is fed forward
  const double bandwidth = two_pi * s->current_hz;
  const double error = clamp(drive->i_ref, s->I_max) - motor->i;
  const double emf = s->k_B * yoke__rig_field(s, drive->omega) * drive->omega;
  const double wish = s->L * bandwidth * error + drive->current_integral + emf;
  drive->u = clamp(wish, U);
  if (drive->u == wish) {
    drive->current_integral += h * s->R * bandwidth * error;
  }
}

void yoke__rig_drive_sample(const yoke_rig_settings* s, yoke_rig_drive* drive,
                            const yoke_rig_motor* motor, double U, const yoke_rig_upset* upset,
                            const double* pedal, int64_t n) {
  if (n % CURRENT_EVERY != 0) {
    return;
  }
  if (!upset->has_no_encoder) {
    // without an encoder the drive goes on with the last values
    drive->omega = motor->omega;
    drive->phi = motor->phi;
  }
  if (n % SPEED_EVERY == 0) {
    supervise(s, drive, motor, U, upset);
    run_speed_loop(s, drive, SPEED_EVERY * YOKE_RIG_MICRO_STEP);
  }
  if (!yoke__rig_drive_has_power(drive)) {
    return;
  }
  if (upset->is_runaway) {
    drive->i_ref = upset->runaway_torque / s->k_tau;
  } else if (is_torque_mode(drive)) {
    const bool is_pedal = pedal != NULL && drive->state == YOKE_RIG_ENABLED;
    drive->torque = is_pedal ? clamp(*pedal, s->k_tau * s->I_max) : drive->torque;
    // `current` asks for the current of the full field
    const double field = drive->mode == YOKE_RIG_TORQUE ? yoke__rig_field(s, drive->omega) : 1.0;
    drive->i_ref = drive->torque / (s->k_tau * field);
  }
  run_current_loop(s, drive, motor, U, CURRENT_EVERY * YOKE_RIG_MICRO_STEP);
}
