// A network: nodes, two-terminal elements and what is wanted from them, flat and checked, as a
// netlist file or a program makes it. Electric and thermal networks are the same thing: voltage is
// temperature, current is heat flow.
//
// The current of an element is positive from node a to node b through the element (as in SPICE: V
// and I sources too). Node 0 is ground: 0 V, and 0 K as reference of heat capacities and heat
// sources.
#ifndef YOKE_CIRCUIT_NETWORK_H
#define YOKE_CIRCUIT_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base_arena.h"
#include "base/base_message.h"
#include "circuit/expression/circuit_expression.h"

#define YOKE_NO_INDEX UINT32_MAX

typedef enum yoke_domain { YOKE_ELECTRIC, YOKE_THERMAL } yoke_domain;

// Values over time of independent sources. Times in s of the simulation's clock.
typedef enum yoke_wave_kind {
  YOKE_WAVE_DC,
  YOKE_WAVE_SIN,
  YOKE_WAVE_PULSE,
  YOKE_WAVE_PWL,
  YOKE_WAVE_EXP
} yoke_wave_kind;

typedef struct yoke_wave {
  yoke_wave_kind kind;
  // dc: value; sin: vo va freq td theta phase[deg]; pulse: v1 v2 td tr tf pw per; exp: v1 v2 td1
  // tau1 td2 tau2
  double p[8];
  const double* table;  // pwl: t, v, t, v, ...; times ascending
  uint32_t n_points;
  double repeat_from;  // pwl: repeats from this time on; negative: does not
} yoke_wave;

// A value: one of constant, wave (independent sources) and law.
typedef struct yoke_circuit_value {
  double constant;
  const yoke_wave* wave;
  const yoke_expression* law;
} yoke_circuit_value;

typedef enum yoke_element_kind {
  YOKE_RESISTOR,   // V_a - V_b = value I                  [Ohm], [K/W]
  YOKE_CAPACITOR,  // value (V_a - V_b)' = I               [F], [J/K]
  YOKE_INDUCTOR,   // V_a - V_b = value I' + couplings     [H]
  YOKE_VOLTAGE,    // V_a - V_b = value                    [V], [K]
  YOKE_CURRENT,    // I = value                            [A], [W]
  YOKE_JUNCTION,   // I = IS (exp((V_a - V_b)/(N V_t)) - 1), and its breakdown
  YOKE_SWITCH,     // V_a - V_b = R_on I or I = (V_a - V_b)/R_off; changes at step boundaries
  YOKE_VCVS,       // V_a - V_b = value (V_c - V_d)
  YOKE_VCCS,       // I = value (V_c - V_d)
  YOKE_CCVS,       // V_a - V_b = value I_control
  YOKE_CCCS,       // I = value I_control
  YOKE_ELEMENT_N_KINDS,
} yoke_element_kind;

typedef struct yoke_junction_model {
  double is, n, bv, ibv;      // [A], 1, [V] (infinite: none), [A]
  double vt;                  // n k T / q is n * vt  [V], of this model's temperature
  double cjo, vj, m, fc, tt;  // charge: depletion and transit time; all zero: none
  double bv_knee;             // yoke__junction_knee of the above; 0: found when it is needed
} yoke_junction_model;

typedef struct yoke_switch_model {
  double r_on, r_off;  // [Ohm]; r_on 0 and r_off infinite are allowed
  // of the controlling voltage or current: closes above threshold + hysteresis, opens below
  // threshold - hysteresis
  double threshold, hysteresis;
} yoke_switch_model;

typedef struct yoke_element {
  yoke_element_kind kind;
  yoke_domain domain;
  const char* name;  // as first written; of parts of a subcircuit "x1.r1"
  uint32_t a, b;
  uint32_t c, d;     // controlling nodes of VCVS, VCCS and voltage-controlled switches
  uint32_t control;  // element: of CCVS, CCCS, current-controlled switches; else YOKE_NO_INDEX
  yoke_circuit_value value;
  const yoke_junction_model* junction;
  const yoke_switch_model* switching;
  const yoke_expression* condition;  // of a switch: closed while it is > 0; else NULL
  double start;  // IC=: voltage of a capacitor, current of an inductor, 1 for a closed switch
  bool has_start;
  bool is_internal;  // made by the reader (series resistance of a diode): not recorded unless named
  yoke_place place;
} yoke_element;

// Is it a current that the element's own voltage controls? A conductance, which may be 0.
static inline bool yoke__element_is_conductance(const yoke_element* element) {
  return element->kind == YOKE_VCCS && element->a == element->c && element->b == element->d;
}

typedef struct yoke_network_node {
  const char* name;
  yoke_domain domain;
  bool is_fixed;  // value is given: ground, temperature sources
  bool is_internal;
  const char* fixed_name;    // of the temperature source; I(name) flows out of it into the network
  yoke_circuit_value fixed;  // constant 0 for ground
  double start;              // .ic v(node)=
  bool has_start;
  yoke_place place, start_place;  // of its first use; of `.ic`
} yoke_network_node;

typedef struct yoke_mutual {
  const char* name;
  uint32_t l1, l2;  // elements
  double k;         // M = k sqrt(L1 L2)
  yoke_place place;
} yoke_mutual;

// A quantity that may be changed from outside: a named number that laws refer to.
typedef struct yoke_circuit_input {
  const char* name;
  const char* dim;  // "V", "A", "K", "W", ...; "" if unknown
  double start;
  yoke_place place;
} yoke_circuit_input;

// A `.param` of the top level, be it in the file itself or in an included one: what may be given
// another value before the netlist is read (circuit_netlist.h).
typedef struct yoke_circuit_parameter {
  const char* name;      // small letters
  const char* spelling;  // the same as first written
  const char* text;      // its value as written
  yoke_place place;
} yoke_circuit_parameter;

typedef enum yoke_probe_kind {
  YOKE_PROBE_VOLTAGE,     // of node `index`
  YOKE_PROBE_DIFFERENCE,  // of nodes `index` and `other`
  YOKE_PROBE_CURRENT,     // of element `index`
  YOKE_PROBE_FLOW,        // out of the fixed node `index` into the network
  YOKE_PROBE_POWER,       // taken up by element `index`
  YOKE_PROBE_LAW,         // expression
} yoke_probe_kind;

typedef struct yoke_probe {
  yoke_probe_kind kind;
  const char* name;  // column of the results: "v(out)", "i(l1)", or the name given
  const char* dim;
  uint32_t index, other;
  const yoke_expression* law;
  yoke_place place;
} yoke_probe;

// What `.tran` and `.options` say.
typedef struct yoke_circuit_run {
  bool has_tran;
  double step, stop, start, max_step;  // [s]; 0: not given
  bool is_uic;                         // start from IC= and .ic instead of the operating point
  double temperature;                  // [K] 300.15
  double gmin;                         // [S] 1e-12
  const char* method;                  // named by .options or .yoke; NULL: not given
  const char* formulation;
  const char* startup;
  int iterations;      // fixed number per step; 0: until converged
  int max_iterations;  // 0: default
  double tolerance;    // 0: default
  double step_exact;   // .yoke step=: the solver's step; 0: from .tran
} yoke_circuit_run;

// A file that a network was read from, as it is on the disk.
typedef struct yoke_netlist_source {
  const char *path, *bytes;
  size_t n;
  struct yoke_netlist_source* next;
} yoke_netlist_source;

// Made by yoke__network_create alone (circuit_build.h): names are found through `index`.
typedef struct yoke_network {
  yoke_arena arena;  // holds what the arrays point to; the arrays themselves grow on the heap
  const char* title;
  const char* path;
  yoke_network_node* nodes;
  uint32_t n_nodes;  // node 0 is ground
  yoke_element* elements;
  uint32_t n_elements;
  yoke_mutual* mutuals;
  uint32_t n_mutuals;
  yoke_circuit_input* inputs;
  uint32_t n_inputs;
  const yoke_circuit_parameter* parameters;  // in the arena
  uint32_t n_parameters;
  yoke_probe* outputs;  // of the unit: `.output`
  uint32_t n_outputs;
  yoke_probe* saves;  // named by .print, .save, .probe
  uint32_t n_saves;
  yoke_circuit_run run;
  yoke_netlist_source* sources;      // in the arena: read again with other parameters
  struct yoke_network_index* index;  // names and the room of the arrays (circuit_index.h)
} yoke_network;

// The root of i among sets kept as parents, of which roots are their own; halves the path.
static inline uint32_t yoke__root_of(uint32_t parents[], uint32_t i) {
  while (parents[i] != i) {
    parents[i] = parents[parents[i]];
    i = parents[i];
  }
  return i;
}

void yoke__network_destroy(yoke_network** network);

// Why a circuit failed, and the node or element to look at.
typedef struct yoke_circuit_reason {
  yoke_place place;
  char variable[64];  // name of the node or element; "": none in particular
  char text[YOKE_MESSAGE_TEXT_SIZE];
} yoke_circuit_reason;

// unknown: a node, or n_nodes + an element; others stand for the network as a whole.
void yoke__circuit_reason_set(yoke_circuit_reason* reason, const yoke_network* network,
                              uint32_t unknown, const char* format, ...) YOKE_PRINTF(4, 5);
// As an error; nothing if there is no reason.
void yoke__circuit_reason_send(const yoke_circuit_reason* reason, yoke_status status,
                               const yoke_sink* sink);

// ---- circuit_topology.c: what cannot be simulated, each with names and places: parts without path
// to a fixed node, cut sets of current sources, loops of voltage sources (and of inductors where an
// operating point is wanted), values without meaning (docs/circuit.md). YOKE_BAD_INPUT if there was
// an error; warnings and notes do not fail.
yoke_status yoke__network_check(const yoke_network* network, yoke_messages* messages);

// ---- circuit_wave.c
double yoke__wave_value(const yoke_wave* wave, double t);
double yoke__wave_slope(const yoke_wave* wave, double t);  // right-hand derivative

// ---- circuit_network.c: names ignore case. YOKE_NO_INDEX if there is none.
uint32_t yoke__network_find_node(const yoke_network* network, const char* name);
uint32_t yoke__network_find_element(const yoke_network* network, const char* name);
// The node at the second end of an element; of a junction the one behind its series resistance.
uint32_t yoke__network_outer_end(const yoke_network* network, uint32_t element);
// "v(a)", "v(a,b)", "t(a)", "i(l1)", "p(r1)" -> probe; on failure a message at place.
yoke_status yoke__network_find_probe(const yoke_network* network, const char* text,
                                     yoke_place place, yoke_messages* messages, yoke_arena* arena,
                                     yoke_probe* out);

#endif
