// The benchmark circuits of the specification (5.1-5.5) as networks, their reference solutions and
// the error measure (section 6). Failures end the test.
#ifndef YOKE_TEST_CIRCUITS_H
#define YOKE_TEST_CIRCUITS_H

#include <stdbool.h>
#include <stdint.h>

#include "circuit/circuit_solver.h"
#include "circuit/network/circuit_network.h"

// An element with a constant value or a sine, and a node held at a value, all by name. YOKE_NO_INDEX: out of memory.
uint32_t circuits_add_constant(yoke_network* network, yoke_element_kind kind, const char* name,
                               const char* a, const char* b, double value);
uint32_t circuits_add_sine(yoke_network* network, yoke_element_kind kind, const char* name,
                           const char* a, const char* b, double offset, double amplitude,
                           double frequency);
uint32_t circuits_fix(yoke_network* network, const char* name, const char* node, double value);

// Networks; the caller destroys them. Ground is node 1 of the specification (pmsm: node 17, the
// reference at 0 K; chain: node 4, so that temperatures are those above 300 K).
yoke_network* circuits_rlc(void);
yoke_network* circuits_ladder(uint32_t n_loops);
yoke_network* circuits_rectifier(void);
yoke_network*
circuits_pmsm(bool has_start);  // without: capacitors are free, for the operating point
yoke_network* circuits_chain(void);
// Resistance of the air gap of pmsm at the mean temperature T [K/W].
double circuits_gap(double T);

// A law in reverse Polish notation: numbers, "v<node>" and "i<element>" by index, "u<input>", "t",
// + - * / ^ neg exp sin < > select (c a b). Kept by the network.
const yoke_expression* circuits_law(yoke_network* network, const char* text);

// A benchmark with what is monitored and how it should be.
typedef struct circuits_problem {
  const char* name;
  yoke_network* network;
  double duration;         // [s]
  uint32_t n_samples;      // at i duration / n_samples, i = 1 ..
  uint32_t plus, minus;    // nodes of the monitored voltage
  uint32_t element;        // of the monitored current
  double *v, *i;           // reference at the samples
  double low[2], high[2];  // precision levels: voltage, current
} circuits_problem;

typedef enum circuits_name {
  CIRCUITS_RLC,
  CIRCUITS_LADDER,
  CIRCUITS_RECTIFIER,
  CIRCUITS_PMSM
} circuits_name;

// n_loops: of the ladder, at most 100 with a reference.
circuits_problem circuits_open(circuits_name name, uint32_t n_loops);
void circuits_close(circuits_problem* problem);

typedef struct circuits_result {
  yoke_status status;
  double v, i;  // RMS errors
  yoke_circuit_counts counts;
  double seconds;  // processor time of the steps
} circuits_result;

// The whole run with these options (step included; it must divide the distance of samples).
circuits_result circuits_run(const circuits_problem* problem, const yoke_circuit_options* options);

// Creates and starts; a failure ends the test with its messages.
yoke_circuit* circuits_start(const yoke_network* network, const yoke_circuit_options* options);
void circuits_steps(yoke_circuit* circuit, uint64_t n);
uint64_t circuits_step_number(const yoke_circuit* circuit);  // since the start
// Of formulation dae: the rates that the next step starts from, in full coordinates.
void circuits_rates(yoke_circuit* circuit, double xdot[]);
double circuits_voltage(const yoke_circuit* circuit, const yoke_network* network, const char* node);
double circuits_current(const yoke_circuit* circuit, const yoke_network* network,
                        const char* element);

#endif
