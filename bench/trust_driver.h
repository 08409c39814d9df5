// Judge and companions by the formulas, until the library has them.
#ifndef YOKE_BENCH_TRUST_DRIVER_H
#define YOKE_BENCH_TRUST_DRIVER_H
#include "bench/trust_loop.h"
#include "yoke/yoke.h"

// growth alarm of one signal: y[k*stride], k = 0..n
typedef struct driver_alarm {
  bool is_latched, is_active;
} driver_alarm;
static inline driver_alarm driver_growth(const double y[], int64_t n, size_t stride) {
  driver_alarm a = {0};
  for (int64_t len = 4; 5 * len <= n; len *= 2) {
    const int64_t nb = n / len;
    double l[2000];
    bool meets = false;
    for (int64_t b = 0; b < nb; b++) {
      double q = 0;
      for (int64_t k = b * len + 1; k <= (b + 1) * len; k++) {
        q = fmax(q, fabs(y[(size_t)k * stride] - y[(size_t)(k - 1) * stride]));
        if (!isfinite(y[(size_t)k * stride])) {
          a.is_active = a.is_latched = true;
          return a;
        }
      }
      l[b] = q > 0 ? log(q) : -HUGE_VAL;
      meets = false;
      if (b >= 4) {
        double g[4], mn = HUGE_VAL, sum = 0, older = -HUGE_VAL;
        bool ok = true;
        for (int j = 0; j < 4; j++) {
          ok = ok && isfinite(l[b - 3 + j]) && isfinite(l[b - 4 + j]);
          g[j] = l[b - 3 + j] - l[b - 4 + j];
          mn = fmin(mn, g[j]);
          sum += g[j];
        }
        for (int64_t i = 0; i < b - 4; i++) {
          older = fmax(older, l[i]);
        }
        meets = ok && mn >= log(1.5) && sum >= log(100) && g[3] >= 0.7 * g[0] &&
                (b == 4 || l[b] >= log(10) + older);
      }
      a.is_latched = a.is_latched || meets;
    }
    a.is_active = a.is_active || meets;
  }
  return a;
}
#endif
