// The test rig as one thing: plant, drives, cells and faults behind two datagrams per cycle. The same core answers in
// process (rig_bench.c) and behind a socket.
//
// One exchange: the newest command of those that arrived (none: the drives hold, and stop after `timeout` cycles),
// H in micro steps of 10 us, then status, cells and, every tenth cycle, slow status of both nodes.
#ifndef YOKE_MODELS_RIG_CORE_H
#define YOKE_MODELS_RIG_CORE_H

#include "models/rig/rig_drive.h"
#include "models/rig/rig_fault.h"
#include "models/rig/rig_frame.h"
#include "models/rig/rig_plant.h"

enum { YOKE_RIG_MAX_PEDAL = 64, YOKE_RIG_SLOW_EVERY = 10 };

// Torque of a pedal at the drive itself: straight lines between points; two points at one time are a step.
typedef struct yoke_rig_pedal {
  int64_t n_points;                                               // 0: there is none
  double times[YOKE_RIG_MAX_PEDAL], torques[YOKE_RIG_MAX_PEDAL];  // [s], [N.m]
} yoke_rig_pedal;

// Speeds against those of an ideal inertia J that gets the true torque of the motor under test.
typedef struct yoke_rig_errors {
  double J;       // [kg.m2]; 0: not measured
  double demand;  // speed sent last [rad/s]
  double exact;   // [rad/s]
  double virtual_sum, shaft_sum, shaft_max;
  int64_t n_samples;
} yoke_rig_errors;

// No pointers: a copy is a saved rig.
typedef struct yoke_rig {
  yoke_rig_settings settings;
  yoke_rig_plant plant;
  yoke_rig_drive drives[YOKE_RIG_N_MOTORS];
  yoke_rig_upsets upsets;  // of the present cycle
  yoke_rig_faults faults;
  yoke_rig_pedal pedal;  // of the motor under test
  yoke_rig_errors errors;
  double stored_0;            // energy at the start [J]
  int64_t n_micro, n_cycles;  // since the start
  uint32_t sequence;          // of the newest command
  int64_t has_sequence;
  int64_t n_held, n_stale,
      n_refused;  // cycles without new command; datagrams that were too old, or not ours
  uint16_t counts[YOKE_RIG_N_MOTORS];  // of the cells
} yoke_rig;

// The prototype; and the automotive-grade rig, whose values are assumed (README.md).
yoke_rig_settings yoke__rig_prototype(void);
yoke_rig_settings yoke__rig_automotive(void);
// What is wrong with settings; NULL if nothing is.
const char* yoke__rig_find_fault(const yoke_rig_settings* s);

// At rest or at a common speed, drives disabled. Keeps settings, faults, pedal and errors.J.
void yoke__rig_start(yoke_rig* rig, double omega);
// Micro steps per cycle of H seconds; 0 if H is no multiple of 10 us.
int64_t yoke__rig_micro_steps(double H);
// Takes the newest of the commands; false: too old, or no command. Call it for each datagram of the cycle.
bool yoke__rig_take(yoke_rig* rig, const uint8_t bytes[], size_t n, yoke_datagram* newest);
// One cycle with the newest command (NULL: none) at time t of the fault list. n micro steps.
void yoke__rig_exchange(yoke_rig* rig, const yoke_datagram* command, double t, int64_t n_micro);
// What the rig sends at the end of a cycle.
void yoke__rig_report(const yoke_rig* rig, uint64_t time_ns, yoke_datagram* report);
// One micro step at time t; yoke__rig_exchange does n of them.
void yoke__rig_advance(yoke_rig* rig, double t);

double yoke__rig_pedal_at(const yoke_rig_pedal* pedal, double t);
// Root mean squares and the largest shaft error so far [rad/s].
double yoke__rig_error_virtual(const yoke_rig* rig);
double yoke__rig_error_shaft(const yoke_rig* rig);
// Electric energy of the motors less what the books know of it [J]: the error of the solver.
double yoke__rig_residual(const yoke_rig* rig);

// The cell: torque to counts of the converter, and back.
uint16_t yoke__rig_cell_counts(const yoke_rig_settings* s, double torque);
double yoke__rig_cell_torque(const yoke_rig_settings* s, uint16_t counts);

#endif
