// A system from text, stepped by the master: what most tests of the loop need. Failures end the test.
#ifndef YOKE_TEST_SIM_H
#define YOKE_TEST_SIM_H

#include "master/master_run.h"
#include "yoke/status.h"

typedef struct sim {
  yoke_system* system;
  yoke_state* state;
} sim;

// Builds and initialises; format as printf.
sim sim_open(const char* format, ...) YOKE_PRINTF(1, 2);
// The same for a text that must be refused, at whatever stage; messages as the user sees them (4096 bytes).
yoke_status sim_try(const yoke_registry* models, const char* text, sim* out, char* messages,
                    size_t size);
void sim_close(sim* s);

// Macro steps; a failure ends the test.
void sim_steps(sim* s, int64_t n);
// To the stop time.
void sim_run(sim* s);
// To the first failure or the stop time.
yoke_status sim_run_on(sim* s);
// To the stop time, recorded (settings NULL: not). Results are complete to the last whole step in every case.
yoke_status sim_record(const sim* s, const yoke_record_settings* settings, yoke_loop_info* info);
// The failure as a person reads it, "error: unit 'a' at t = 0.5 s: ..."; "" if there is none. Until the next call.
const char* sim_failure(const sim* s);
// Value of an output now: "unit.variable" or "unit.variable[i]".
double sim_read(const sim* s, const char* name);
size_t sim_index(const sim* s, const char* name);

// Coupled linear or nonlinear oscillator of the specification (11.1, 11.2).
typedef struct oscillator_case {
  double c;          // all three dampers
  const char* laws;  // extra settings of both units, e.g. ", spring: square-root"; "" for none
} oscillator_case;
extern const oscillator_case LO1, LO2, NLO1, NLO2;
// Total energy from the outputs of units left and right (force-displacement, units named so).
double sim_oscillator_energy(const sim* s, const oscillator_case* c);

#endif
