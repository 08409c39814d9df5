// Low and high of a quantity, cell by cell; the active part of its course and the sign that it kept over the last half of it.
// Active part: up to where it comes within 1 % of its range of its last value and stays there (docs/trust.md, "The figures"),
// here in whole cells instead of samples.
#include "quality/quality_history.h"

#include <math.h>

#define ACTIVE 0.01  // of the range

void yoke__history_start(yoke_history* history) {
  *history = (yoke_history){.stride = 1};
}

void yoke__history_next(yoke_history* history) {
  history->low[history->n] = history->low_now;
  history->high[history->n] = history->high_now;
  history->filled = 0;
  if (++history->n < YOKE_HISTORY_CELLS) {
    return;
  }
  history->n /= 2;
  history->stride *= 2;
  for (size_t i = 0; i < history->n; i++) {
    history->low[i] = fmin(history->low[2 * i], history->low[2 * i + 1]);
    history->high[i] = fmax(history->high[2 * i], history->high[2 * i + 1]);
  }
}

int yoke__history_sign(const yoke_history* history) {
  double low = history->last, high = history->last;
  for (size_t i = 0; i < history->n; i++) {
    low = fmin(low, history->low[i]);
    high = fmax(high, history->high[i]);
  }
  // behind the last cell that is not near the end
  size_t n = history->n;
  while (n > 0 && fmax(history->high[n - 1] - history->last, history->last - history->low[n - 1]) <=
                      ACTIVE * (high - low)) {
    n--;
  }
  n = n < history->n ? n + 1 : n;
  bool is_positive = n > 0, is_negative = n > 0;
  for (size_t i = n / 2; i < n; i++) {
    is_positive = is_positive && history->low[i] > 0;
    is_negative = is_negative && history->high[i] < 0;
  }
  return is_positive ? 1 : is_negative ? -1 : 0;
}
