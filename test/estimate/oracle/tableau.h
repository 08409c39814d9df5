// The full set of equations of a thermal network, one unknown per temperature and per heat flow, reduced by one dense inverse in
// long double: slow and obviously right. Symbols and order of rows as in sections 3.2 to 5 of the specification.
#ifndef YOKE_TEST_ESTIMATE_TABLEAU_H
#define YOKE_TEST_ESTIMATE_TABLEAU_H

#include <float.h>

#include "estimate/estimate_network.h"

typedef long double real;

// Where long double is double the oracle is no better than what it judges, and its textbook forms are worse: tolerances times this.
#define ORACLE_BLUR (LDBL_MANT_DIG > DBL_MANT_DIG ? 1.0 : 100.0)

typedef struct tableau {
  const yoke_heat_network* network;
  size_t n, m, p, r;
  real *Phx, *Phv;       // m x n, m x r
  real *A, *A1, *B0;     // p x n
  real* inverse;         // n x n: [Phx; B0]^-1 = [S T]
  real *T, *B;           // n x p, n x r; the first rows are the nodes
  real *Fc, *Gc1, *Gc2;  // p x p, p x r, p x r
} tableau;

// R and c: all positive. Free it afterwards; fails the test when [Phx; B0] is singular.
tableau tableau_make(const yoke_heat_network* network, const double R[], const double c[]);
void tableau_free(tableau* t);

// dT/dR_e and dB/dR_e of one resistor, equation (15): n x p and n x r.
void tableau_slope(const tableau* t, size_t resistor, real dT[], real dB[]);

// Position of things among the n unknowns.
static inline size_t tableau_source(const tableau* t, size_t i) {
  return t->network->n_nodes + i;
}
static inline size_t tableau_resistor(const tableau* t, size_t e) {
  return t->network->n_nodes + t->network->n_sources + e;
}
static inline size_t tableau_capacity(const tableau* t, size_t i) {
  return tableau_resistor(t, t->network->n_resistors) + i;
}

// [F G; 0 I] = exp([Fc Gc1; 0 0] h) by a scaled Taylor series in long double: F is p x p, G is p x r.
void tableau_discrete(const tableau* t, double h, real F[], real G[]);

// C (m x n) := A (m x k) B (k x n), and E := exp(A), n x n.
void real_mul(size_t m, size_t k, size_t n, const real A[], const real B[], real C[]);
void real_expm(size_t n, const real A[], real E[]);
// A := A^-1; fails the test when A is singular.
void real_invert(size_t n, real A[]);

#endif
