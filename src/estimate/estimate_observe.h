// What can be known from the sensors, before anything was measured. The network is linearised at a point, with everything that is to
// be estimated beside its temperatures:
//
//   d/dt [z; rho] = [Fc D; 0 0] [z; rho],   y = H [z; rho]
//
// and what the sensors read over several time constants is a matrix times [z; rho] at the start, y(t_k) = H exp(A t_k) [z; rho]. Its
// singular values tell how many independent combinations show at all. Columns are scaled by 1 K for temperatures and by the nominal
// value for the rest, rows by the noise; instants are spaced about evenly in log t, from a quarter of the shortest time constant to four
// times the longest.
//
// Parameters show through D, which depends on the point: a heat capacity does not show at rest. While temperatures move D follows them,
// unless heat is unknown and walks: a resistance and a capacity of one node differ in that alone.
#ifndef YOKE_ESTIMATE_OBSERVE_H
#define YOKE_ESTIMATE_OBSERVE_H

#include "estimate/estimate_filter.h"

#define YOKE_OBSERVE_ZERO 1e-8  // singular values below this part of the largest: not observable
#define YOKE_OBSERVE_WEAK 1e-5  // below this: hardly

// Entries 0 .. p - 1 of a direction are the temperatures of the capacities, the others the unknowns in their order.
typedef struct yoke_observation {
  size_t n, p;
  size_t rank, n_weak;       // singular values that are not zero; of these the weak ones
  const double* singular;    // n, descending, as parts of the largest
  const double* scale;       // n: K, or the unit of the unknown
  const double* directions;  // n x n, row k belongs to singular[k]: scaled entries, of length 1
  const bool* is_seen;       // n: it is in no direction that counts as zero
  const bool* is_node_seen;  // all nodes: the same of temperatures
  // Popov, Belevitch and Hautus: can unknown inputs and offsets that are constant be distinguished? Only if the rank is the size.
  size_t constant_size, constant_rank;
} yoke_observation;

// At temperatures z (NULL: at rest) and inputs v, with the guesses of the unknowns. Takes heap; the result lies in the arena. What
// yoke__estimate_prepare has to say of the setup is sent; YOKE_SINGULAR: there is no rest.
yoke_status yoke__observe(const yoke_estimate_setup* setup, const double z[], const double v[],
                          yoke_arena* arena, yoke_observation* out, const yoke_sink* sink);

// What direction k is made of: entries of at least a third of the largest one, the largest first, at most n_max. Returns how many.
size_t yoke__observation_parts(const yoke_observation* o, size_t k, size_t parts[], size_t n_max);

#endif
