// One random network in all simulators, and what many of them add up to.
//
// The error of a run is taken from halving: if errors fall with half an order less than the method has, the finer of two
// runs that differ by d (per signal, the largest over the samples) is off by no more than
//
//   d / (2^(p - 1/2) - 1)
//
// Two simulators may differ by the sum of their errors, plus what iterations leave open; no other factor is chosen.
// Steps that are too coarse for an order to show (order 1 on a resonance) are halved up to three times more: what is
// right gets nearer to the oracle, what is wrong does not.
#ifndef YOKE_TEST_ORACLE_CASE_H
#define YOKE_TEST_ORACLE_CASE_H

#include "circuit/circuit_solver.h"
#include "circuit/oracle/oracle_trace.h"

typedef struct oracle_method {
  yoke_circuit_formulation formulation;
  yoke_circuit_method method;
  double
      order;  // p, with corners in the sources; the median of the networks must show it, but for a quarter
} oracle_method;

enum { ORACLE_MAX_METHODS = 16, ORACLE_MAX_NETWORKS = 400 };

typedef struct oracle_settings {
  const oracle_method* methods;
  size_t n_methods;
  size_t n_networks;
  int n_halvings;          // own steps are the grid / 2^n, a half and a quarter of it
  int n_ngspice_halvings;  // largest step of ngspice, and a half of it
} oracle_settings;

// Networks with seeds from first_seed on; prints what came out. Ends the test if an own run fails, is further from IDA
// than the errors of both or shows too low an order; where ngspice says something else than we do, IDA must be with us.
void oracle_check(uint64_t first_seed, bool has_diodes, const char* title,
                  const oracle_settings* settings);

#endif
