// Samples of some signals at the points of a grid, as every simulator of the comparison returns them.
#ifndef YOKE_TEST_ORACLE_TRACE_H
#define YOKE_TEST_ORACLE_TRACE_H

#include <stdbool.h>
#include <stddef.h>

#include "circuit/network/circuit_network.h"

enum { ORACLE_MAX_SIGNALS = 256, ORACLE_MAX_SAMPLES = 64 };

typedef struct oracle_signal {
  char name[32];  // "v(n3)" or "i(l4)", lower case
  bool is_current;
  uint32_t index;  // node or element
} oracle_signal;

// What is compared: voltages of all nodes that the text names, currents of all inductors.
typedef struct oracle_signals {
  oracle_signal list[ORACLE_MAX_SIGNALS];
  size_t n;
  double times[ORACLE_MAX_SAMPLES];
  size_t n_times;
} oracle_signals;

typedef struct oracle_trace {
  double values[ORACLE_MAX_SIGNALS][ORACLE_MAX_SAMPLES];
  char failure[128];  // "" if all samples are there
} oracle_trace;

void oracle_signals_of(const yoke_network* network, oracle_signals* signals);

// largest |a - b| of signal s; NaN if one is not a number
double oracle_distance(const oracle_signals* signals, const oracle_trace* a, const oracle_trace* b,
                       size_t s);
// largest |a| of all signals of the kind of s
double oracle_scale(const oracle_signals* signals, const oracle_trace* a, size_t s);

#endif
