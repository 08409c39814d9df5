// Alarms of a bond: its indicators against their limits, and what was worst.
//
// Nearly all samples change nothing here. `quiet` says below which values that is so; quality_ledger.c compares with it and
// comes here only with the others.
#include <float.h>
#include <math.h>

#include "quality/quality_books.h"

#define BAD_RHO   0.25  // above it the exchange is too slow for the signals
#define N_PERSIST 10    // more steep samples than this within a window are an artefact

#define LEAST_SHARE 1e-3  // of the mean throughput: a window with less is at rest

static void open_alarm(yoke_ledger* ledger, yoke_book* book, yoke_indicator indicator,
                       yoke_alarm_level level, double t, double value, double limit) {
  book->n_alarms[level]++;
  const bool is_given = level == YOKE_ALARM_STOP || book->bond->watch.is_given[indicator];
  ledger->is_violated = ledger->is_violated || is_given;
  // what ends the run always has a place
  const size_t room = YOKE_LEDGER_MAX_ALARMS + (level == YOKE_ALARM_STOP ? 1 : 0);
  const bool is_listed = ledger->n_alarms < room;
  const size_t index = is_listed ? ledger->n_alarms++ : YOKE_LEDGER_MAX_ALARMS + 1;
  ledger->n_more += !is_listed;
  book->open[indicator] = index;
  ledger->alarms[index] = (yoke_alarm){(size_t)(book - ledger->books),
                                       indicator,
                                       level,
                                       t,
                                       (double)NAN,
                                       value,
                                       limit,
                                       value,
                                       is_given};
}

// One indicator against its limits. A warning lasts until the value has stayed below a share of its limit for a window.
static yoke_alarm_level check(yoke_ledger* ledger, yoke_book* book, yoke_indicator indicator,
                              double t, double value, bool is_stop) {
  const yoke_ledger_watch* watch = &book->bond->watch;
  const double limit = watch->warn.value[indicator];
  const size_t open = book->open[indicator];
  if (is_stop) {
    open_alarm(ledger, book, indicator, YOKE_ALARM_STOP, t, value, watch->stop.value[indicator]);
    return YOKE_ALARM_STOP;
  }
  if (open == YOKE_NO_ALARM) {
    if (value > limit) {
      open_alarm(ledger, book, indicator, YOKE_ALARM_WARN, t, value, limit);
      book->t_above[indicator] = t;
    }
    return value > limit ? YOKE_ALARM_WARN : YOKE_ALARM_NONE;
  }
  yoke_alarm* alarm = &ledger->alarms[open];
  alarm->worst = value > alarm->worst ? value : alarm->worst;
  if (value > limit * watch->hysteresis) {
    book->t_above[indicator] = t;
  } else if (t - book->t_above[indicator] >= book->window_s * (1 - 1e-9)) {
    alarm->t_end = book->t_above[indicator];
    book->open[indicator] = YOKE_NO_ALARM;
  }
  return YOKE_ALARM_WARN;
}

// the usual case costs one comparison
static inline yoke_alarm_level check_quickly(yoke_ledger* ledger, yoke_book* book,
                                             yoke_indicator indicator, double t, double part,
                                             double whole, bool is_stop) {
  if (!is_stop && book->open[indicator] == YOKE_NO_ALARM &&
      part <= book->bond->watch.warn.value[indicator] * whole) {
    return YOKE_ALARM_NONE;
  }
  return check(ledger, book, indicator, t, part / whole, is_stop);
}

static yoke_alarm_level worse(yoke_alarm_level a, yoke_alarm_level b) {
  return a > b ? a : b;
}

// Up to this value nothing changes: it is not the worst one, below all limits, and no alarm is open.
static double quiet_below(const yoke_book* book, yoke_indicator indicator, double worst) {
  const yoke_ledger_watch* watch = &book->bond->watch;
  const double limit = fmin(watch->warn.value[indicator], watch->stop.value[indicator]);
  return book->open[indicator] != YOKE_NO_ALARM ? -DBL_MAX : fmin(worst, limit);
}

void yoke__book_quieten(yoke_book* book) {
  // what is not judged is always quiet; not infinite: it is multiplied by what may be 0
  book->quiet[YOKE_INDICATOR_RHO] =
      quiet_below(book, YOKE_INDICATOR_RHO, fmin(book->rho_worst, BAD_RHO));
  book->quiet[YOKE_INDICATOR_EPS] =
      book->has_mu ? quiet_below(book, YOKE_INDICATOR_EPS, book->eps_worst) : DBL_MAX;
  book->quiet[YOKE_INDICATOR_RTER] =
      book->bond->has_ter ? quiet_below(book, YOKE_INDICATOR_RTER, book->rter_worst) : DBL_MAX;
}

// a window in which next to nothing passes, compared with the mean, says nothing about what passes otherwise
static bool is_busy(const yoke_ledger* ledger, const yoke_book* book, double t, double throughput) {
  const double mean = yoke__ter_throughput(&book->ter) / (t - ledger->t_start);
  return throughput > 0 && throughput >= LEAST_SHARE * mean * book->window_s;
}

yoke_alarm_level yoke__book_judge(yoke_ledger* ledger, yoke_book* book, double t) {
  const yoke_ledger_watch* watch = &book->bond->watch;
  const double rho = yoke__book_rho(book);
  book->n_bad_rho += rho > BAD_RHO;
  if (!(rho <= book->rho_worst)) {
    book->rho_worst = rho;
    book->t_rho_worst = t;
  }
  book->is_persistent = book->is_persistent || book->window.sums[YOKE_BOOK_STEEP] > N_PERSIST;
  const bool is_rho_stop = book->over != NULL && rho > watch->stop.value[YOKE_INDICATOR_RHO] &&
                           book->over->sums[0] > (double)watch->persist;
  yoke_alarm_level level = check_quickly(ledger, book, YOKE_INDICATOR_RHO, t, rho, 1, is_rho_stop);

  const double energy = yoke__book_energy(book),
               created = fabs(book->window.sums[YOKE_BOOK_CREATED]);
  if (book->has_mu && energy > 0) {
    if (created > book->eps_worst * energy) {
      book->eps_worst = created / energy;
      book->t_eps_worst = t;
    }
    level = worse(level, check_quickly(ledger, book, YOKE_INDICATOR_EPS, t, created, energy,
                                       created > watch->stop.value[YOKE_INDICATOR_EPS] * energy));
  }
  const double ter = book->window.sums[YOKE_BOOK_TER],
               throughput = book->window.sums[YOKE_BOOK_THROUGHPUT];
  if (book->bond->has_ter && is_busy(ledger, book, t, throughput)) {
    if (ter > book->rter_worst * throughput) {
      book->rter_worst = ter / throughput;
    }
    level = worse(level, check_quickly(ledger, book, YOKE_INDICATOR_RTER, t, ter, throughput,
                                       ter > watch->stop.value[YOKE_INDICATOR_RTER] * throughput));
  }
  yoke__book_quieten(book);
  return level;
}
