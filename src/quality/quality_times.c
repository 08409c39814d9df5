// Times of a bond: peaks, offset, window and settling time follow from the period of its signals (quality_period.h), unless
// the user gives them.
#include <math.h>

#include "quality/quality_books.h"

#define PEAKS_PERIODS  10
#define OFFSET_PERIODS 20
#define WINDOW_PERIODS 10
#define SETTLE_PERIODS 5

// All times of a bond follow from the period of its signals, unless the user gives one.
static void set_period(yoke_book* book, double period) {
  const yoke_ledger_watch* watch = &book->bond->watch;
  book->period_s = period;
  book->window_s = watch->window > 0 ? watch->window : WINDOW_PERIODS * period;
  // times are sums of steps: one that is meant to be reached is
  book->settle = (watch->settle >= 0 ? watch->settle : SETTLE_PERIODS * period) * (1 - 1e-9);
}

void yoke__book_start_times(yoke_book* book) {
  const yoke_ledger_bond* bond = book->bond;
  yoke__period_start(&book->period, bond->n, book->period_memory, book->action);
  book->is_learning = bond->watch.period <= 0 && bond->kind == YOKE_BOND_POWER;
  set_period(book,
             bond->watch.period > 0 ? bond->watch.period : book->period.length * book->exchange_s);
  const yoke_monitor_settings settings = {.peak_time = PEAKS_PERIODS * book->period_s,
                                          .offset_time = OFFSET_PERIODS * book->period_s,
                                          .offset_gain = 1};
  yoke__monitor_start(&book->own_monitor, &settings, bond->n, book->monitor_memory, book->action,
                      book->rate);
  const double length = book->is_counted ? WINDOW_PERIODS * book->period.length : book->window_s;
  yoke__window_start(&book->window, length);
  if (book->over != NULL) {
    yoke__window_start(book->over, length);
  }
}

double yoke__book_count_exchanges(const yoke_book* book, double h) {
  const double n = h / book->exchange_s, whole = nearbyint(n);
  return fabs(n - whole) < 1e-9 * whole ? whole : n;
}

void yoke__book_learn_period(yoke_book* book, double h) {
  const bool is_new = yoke__period_observe(&book->period, yoke__book_exchanges(book, h),
                                           book->bond->n, book->period_memory, book->action);
  book->is_learning = !yoke__period_is_learnt(&book->period);
  if (!is_new) {
    return;
  }
  set_period(book, book->period.length * book->exchange_s);
  yoke__monitor_set_times(&book->own_monitor, PEAKS_PERIODS * book->period_s,
                          OFFSET_PERIODS * book->period_s);
  if (book->is_counted) {
    yoke__window_set_length(&book->window, WINDOW_PERIODS * book->period.length);
    if (book->over != NULL) {
      yoke__window_set_length(book->over, WINDOW_PERIODS * book->period.length);
    }
  }
}
