// A thermal network reduced to the temperatures z of its capacities:
//
//   x = T z + B v               temperatures of all nodes
//   c z' = K z + M v            heat into the capacities, K symmetric; z' = Fc z + Gc v
//
// by elimination of the free nodes: with the conductance Laplacian L in the blocks c (with a capacity), f (free), x (imposed),
// T_f = L_ff^-1 (q_f - L_fc T_c - L_fx T_x). How these change with one conductance g between nodes a and b needs no further solution:
//
//   d(K z + M v)_i / dg = -(T_ai - T_bi) (x_a - x_b)          reciprocity: T_.i is also the response of heat in i
//   d x_k / dg = -(Z_ka - Z_kb) (x_a - x_b)                   Z = L_ff^-1, 0 outside of the free nodes
//
// After yoke__heat_model_prepare no heap; all numbers that change lie in one block, so that a copy of it is a saved state.
#ifndef YOKE_ESTIMATE_MODEL_H
#define YOKE_ESTIMATE_MODEL_H

#include "base/base_arena.h"
#include "estimate/estimate_network.h"

typedef struct yoke_heat_model {
  const yoke_heat_network* network;
  size_t n_nodes, p, r, n_free;
  const uint32_t* place;       // n_nodes: among the free ones, or YOKE_HEAT_FREE
  const uint32_t* state;       // n_nodes: in z, or YOKE_HEAT_FREE
  const uint32_t* free_nodes;  // n_free
  double* block;               // all of the following
  size_t block_size;           // bytes
  double *g, *c;               // change them, then update
  double *T, *B;               // n_nodes x p, n_nodes x r
  double* Z;                   // n_free x n_free, symmetric
  double *K, *M;               // p x p, p x r
  double *Fc, *Gc;             // p x p, p x r
  double* work;                // n_free x n_free
} yoke_heat_model;

// Takes everything from the arena, copies g and c, and updates. What yoke__heat_network_check has to say is sent and returned;
// YOKE_SINGULAR with a message if the numbers differ too much to be solved.
yoke_status yoke__heat_model_prepare(const yoke_heat_network* network, const double g[],
                                     const double c[], yoke_arena* arena, yoke_heat_model* out,
                                     const yoke_sink* sink);
// The matrices for the present g and c: bounded work, no heap. YOKE_SINGULAR: a free node floats, or a number is not positive or
// not finite; nothing can be relied on then.
yoke_status yoke__heat_model_update(yoke_heat_model* model);

// x: n_nodes temperatures.
void yoke__heat_model_temperatures(const yoke_heat_model* model, const double z[], const double v[],
                                   double x[]);
// Heat into the capacities, K z + M v.
void yoke__heat_model_heat(const yoke_heat_model* model, const double z[], const double v[],
                           double q[]);
// Rest at constant inputs. YOKE_SINGULAR: a capacity has no path to an imposed temperature. Takes heap.
yoke_status yoke__heat_model_rest(const yoke_heat_model* model, const double v[], double z[]);
// How far constant heat q into the capacities moves them, in place. Fails as yoke__heat_model_rest, and takes heap.
yoke_status yoke__heat_model_settle(const yoke_heat_model* model, double q[]);

// Rates [1/s] at which deviations from rest decay, the fastest first; 0 of capacities that are connected to nothing imposed.
// estimate_rates.c; takes heap.
yoke_status yoke__heat_model_rates(const yoke_heat_model* model, double rates[]);
// The same, and how the temperatures of each deviation are to each other: row by row (p x p), the largest is 1.
yoke_status yoke__heat_model_modes(const yoke_heat_model* model, double rates[], double modes[]);

// A row at temperatures x and inputs v, and as a line over z and v (either may be NULL).
double yoke__heat_row_value(const yoke_heat_model* model, yoke_heat_row row, const double x[],
                            const double v[]);
void yoke__heat_row_line(const yoke_heat_model* model, yoke_heat_row row, double over_z[],
                         double over_v[]);
// Derivative of a row by the conductance of one resistor at temperatures x.
double yoke__heat_row_slope(const yoke_heat_model* model, yoke_heat_row row, size_t resistor,
                            const double x[]);
// q[i] += scale * d(heat into capacity i)/d g of the resistor, at temperatures x.
void yoke__heat_model_slope(const yoke_heat_model* model, size_t resistor, const double x[],
                            double scale, double q[]);

// ---- estimate_discrete.c

// E = exp(A h), Psi1 = int_0^h exp(A s) ds, Psi2 = int_0^h Psi1(s) ds, n x n each, by a series of Psi2 for a short step and
// doubling. work: yoke__discrete_work_size(n) doubles. No heap. YOKE_DIVERGED if a number is not finite or the norm of A h is
// beyond 1e9, where doubling has no digits left.
yoke_status yoke__discrete(size_t n, const double A[], double h, double E[], double Psi1[],
                           double Psi2[], double work[]);
size_t yoke__discrete_work_size(size_t n);

// Covariance that white noise of spectral density W (n x n, symmetric) on x' = A x leaves in a step:
// Q = int_0^h exp(A s) W exp(A' s) ds, exactly symmetric; by a series of Q for a short step and doubling. work:
// yoke__discrete_work_size(n) doubles. Fails as yoke__discrete.
yoke_status yoke__discrete_noise(size_t n, const double A[], const double W[], double h, double Q[],
                                 double work[]);

#endif
