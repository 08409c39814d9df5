// Interface Jacobians of one unit: how its outputs follow its inputs, without its states.
//
//   continuous   dy/dt   = Jy y + Ju u + Jd du/dt
//   discrete     y^{k+1} = Sy y^k + S0 u^k + S1 u^{k+1}
//
// u^{k+1} is the input handed over for [T^k, T^{k+1}], y^k the output read at T^k, with u^k in its
// feedthrough. All matrices row by row. Nothing here takes memory where nothing else is said: the
// caller brings the matrices and the work space.
#ifndef YOKE_IDENTIFY_JACOBIAN_H
#define YOKE_IDENTIFY_JACOBIAN_H

#include <stdbool.h>
#include <stddef.h>

#include "yoke/message.h"
#include "yoke/status.h"

#define YOKE_JACOBIAN_DROP 1e-10  // singular values below this share of the largest count as 0

// n outputs, m inputs: Jy n x n, Ju and Jd n x m.
typedef struct yoke_jacobian_continuous {
  size_t n, m;
  double *Jy, *Ju, *Jd;
} yoke_jacobian_continuous;

// Sy n x n, S0 and S1 n x m.
typedef struct yoke_jacobian_discrete {
  size_t n, m;
  double *Sy, *S0, *S1;
} yoke_jacobian_discrete;

// The response of a unit over one step of length T to the input u0 + s t, t from the start of the
// step: y(T) = A y(0) + B u0 + (C + D) s. A n x n, the others n x m.
typedef struct yoke_jacobian_phi {
  double *A, *B, *C, *D;
} yoke_jacobian_phi;

// A state space, continuous or discrete: A n_states x n_states, B n_states x m, C n x n_states, D
// n x m.
typedef struct yoke_identify_states {
  size_t n_states, n, m;
  const double *A, *B, *C, *D;
} yoke_identify_states;

// Jy = C A C+, Ju = C B - Jy D, Jd = D: exact if C is square and regular, else with its pseudo
// inverse. *rank (may be NULL) is the rank of C. work: yoke__jacobian_states_work_size doubles.
// YOKE_BAD_ARG if C holds NaN or infinity.
yoke_status yoke__jacobian_of_states(const yoke_identify_states* unit, yoke_jacobian_continuous* to,
                                     size_t* rank, double work[]);
// Sy = C A Cb+, S0 = -Sy Db, S1 = C B + D for x^{k+1} = A x^k + B u^{k+1}, y^k = C x^k + D u^k. Cb
// and Db are C and D of the step before, in the same basis of states; NULL: they did not change.
yoke_status yoke__jacobian_of_discrete_states(const yoke_identify_states* unit,
                                              const double C_before[], const double D_before[],
                                              yoke_jacobian_discrete* to, size_t* rank,
                                              double work[]);
size_t yoke__jacobian_states_work_size(const yoke_identify_states* unit);

// The discrete Jacobians of a unit whose input is held over `step` [s], by one matrix exponential.
// work: yoke__jacobian_hold_work_size doubles; pivots: 3 n. Fails as yoke__expm_in.
yoke_status yoke__jacobian_hold(const yoke_jacobian_continuous* from, double step,
                                yoke_jacobian_discrete* to, double work[], size_t pivots[]);
// phi_A .. phi_D likewise.
yoke_status yoke__jacobian_phi_of(const yoke_jacobian_continuous* from, double step,
                                  yoke_jacobian_phi* to, double work[], size_t pivots[]);
size_t yoke__jacobian_hold_work_size(size_t n);

// y_bar := Sy y_before + S0 u_before + S1 u_now: what the Jacobians say about the step that ended
// now.
void yoke__jacobian_predict(const yoke_jacobian_discrete* model, const double y_before[],
                            const double u_before[], const double u_now[], double y_bar[]);

// What the outputs of a unit tell of its states.
typedef enum yoke_jacobian_sight {
  YOKE_JACOBIAN_ALL,        // rank C = states = outputs: the Jacobians have the unit's own dynamics
  YOKE_JACOBIAN_ALL_TWICE,  // rank C = states < outputs: so they have, on all that the outputs can be
  YOKE_JACOBIAN_PART,       // rank C = outputs < states: a surrogate, part of the dynamics is lost
  YOKE_JACOBIAN_PART_TWICE,  // rank C below both: a surrogate, and outputs that depend on each other
} yoke_jacobian_sight;

// The rule for Jacobians that a unit provides, first part: rank C = states = outputs. Otherwise a note about the unit
// says what is missing; where dynamics are lost, the second part decides whether that does harm. *rank (may be NULL):
// of C. YOKE_BAD_ARG if C is not finite. Takes its own memory.
yoke_status yoke__jacobian_check_rank(const yoke_identify_states* unit, const char* name,
                                      yoke_jacobian_sight* sight, size_t* rank,
                                      const yoke_sink* sink);
// Second part: the ideally coupled surrogate dy/dt = K y, K = (I - Jd L)^-1 (Jy + Ju L), of all
// units (block diagonal Jacobians; L: inputs x outputs, u = L y) must not grow. *growth (may be
// NULL) is the largest real part of the eigenvalues of K [1/s]. YOKE_BAD_INPUT with a message if it
// is positive beyond round-off, YOKE_SINGULAR for an algebraic loop. Takes its own memory.
yoke_status yoke__jacobian_check_growth(size_t n_units, const yoke_jacobian_continuous units[],
                                        const double L[], double* growth, const yoke_sink* sink);

#endif
