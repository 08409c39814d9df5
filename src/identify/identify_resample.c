// Models of first order for another step: y^{k+1} = a y^k + b u^{k+1} with the input held.
//
// From step H to q H, D = floor(q), d = q - D:
//
//   a~ = (1 - d) a^D + d a^(D+1),   b~ = b [ (1 - d) (1 + a + .. + a^(D-1)) + d (1 + a + .. + a^D) ]
//
// Whole q are exact for an input held over the long step. Between them a line, not a^q: a may be
// negative. Source: doctoral thesis on model-based pre-step stabilisation (Graz 2020), limits of the
// sums corrected.
#include <math.h>

#include "base/base_check.h"
#include "identify/identify_rls.h"

#define MAX_RATIO 1e9  // a longer step than this is a mistake

// *power := a^n and *sum := 1 + a + .. + a^(n-1), by doubling: few roundings, few multiplications.
static void powers_of(double a, uint64_t n, double* power, double* sum) {
  *power = 1.0;
  *sum = 0.0;
  for (int bit = 63; bit >= 0; bit--) {
    *sum += *sum * *power;
    *power *= *power;
    if ((n >> bit & 1) != 0) {
      *sum = 1.0 + a * *sum;
      *power *= a;
    }
  }
}

yoke_status yoke__rls_resample(double a, size_t m, const double b[], double ratio, double* a_to,
                               double b_to[]) {
  if (!(ratio >= 1.0 && ratio <= MAX_RATIO)) {
    return YOKE_BAD_ARG;
  }
  // a quotient of two steps that is whole but for its last bits is meant to be whole
  double whole = floor(ratio), share = ratio - whole;
  if (share > 1.0 - 1e-9) {
    whole += 1.0;
    share = 0.0;
  } else if (share < 1e-9) {
    share = 0.0;
  }
  double power = 0.0, sum = 0.0;
  powers_of(a, (uint64_t)whole, &power, &sum);
  const double factor = (1.0 - share) * sum + share * (1.0 + a * sum);
  *a_to = (1.0 - share) * power + share * power * a;
  for (size_t j = 0; j < m; j++) {
    b_to[j] = b[j] * factor;
  }
  return YOKE_OK;
}
