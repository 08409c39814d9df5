// Rates of a thermal network. c z' = K z with K symmetric has the eigenvalues of S = c^-1/2 K c^-1/2, which is symmetric and has none
// above 0: they are its singular values with another sign, and one-sided Jacobi needs no library for them.
#include <math.h>
#include <stdlib.h>

#include "estimate/estimate_model.h"
#include "linalg/linalg_dense.h"

yoke_status yoke__heat_model_rates(const yoke_heat_model* model, double rates[]) {
  return yoke__heat_model_modes(model, rates, NULL);
}

yoke_status yoke__heat_model_modes(const yoke_heat_model* model, double rates[], double modes[]) {
  const size_t p = model->p;
  double* memory = malloc((3 * p * p + yoke__svd_work_size(p, p) + 1) * sizeof *memory);
  YOKE_TRY_MEMORY(memory);
  double *S = memory, *U = S + p * p, *V = U + p * p;
  for (size_t i = 0; i < p; i++) {
    for (size_t j = 0; j < p; j++) {
      // S_ij = K_ij / sqrt(c_i c_j), |eigenvalues| = rates [1/s]
      S[i * p + j] = model->K[i * p + j] / sqrt(model->c[i] * model->c[j]);
    }
  }
  const yoke_status status = yoke__svd(p, p, S, U, rates, V, V + p * p);
  for (size_t k = 0; k < p && modes != NULL && status >= 0; k++) {
    double largest = 0.0;
    for (size_t i = 0; i < p; i++) {
      // eigenvectors of Fc: c^-1/2 v, largest component 1
      modes[k * p + i] = V[i * p + k] / sqrt(model->c[i]);
      largest = fmax(largest, fabs(modes[k * p + i]));
    }
    for (size_t i = 0; i < p; i++) {
      modes[k * p + i] /= largest;
    }
  }
  free(memory);
  return status;
}
