// Inside the ledger: the book of one bond. Shared by the files that keep it and that read it.
#ifndef YOKE_QUALITY_BOOKS_H
#define YOKE_QUALITY_BOOKS_H

#include <math.h>

#include "quality/quality_history.h"
#include "quality/quality_ledger.h"
#include "quality/quality_period.h"

#define YOKE_NO_ALARM ((size_t)-1)

// Where a number lies among the outputs or inputs, and its factor to SI.
typedef struct yoke_book_port {
  size_t at;
  double scale;
} yoke_book_port;

// Sums over the window of a bond: TER [J], throughput [J], created [J], number of steep samples.
enum { YOKE_BOOK_TER, YOKE_BOOK_THROUGHPUT, YOKE_BOOK_CREATED, YOKE_BOOK_STEEP };

typedef struct yoke_book {
  const yoke_ledger_bond* bond;
  yoke_monitor own_monitor;
  yoke_monitor* monitor;  // its own, or that of the method which corrects the bond
  bool has_mu;
  // one component that is exchanged in every slot between two units with one call per slot; then the ports count
  bool is_simple;
  yoke_book_port action_port, rate_port, e_in, f_out, f_in, e_out;
  yoke_ter ter;
  double given;  // to the unit that receives the action [J]; rate_before: at the start of its call
  int64_t call_slots;  // slots of a slow unit's call that are over
  bool is_written;     // values came from outside
  yoke_period period;  // of the action, while it is learnt
  bool is_learning;    // it still changes
  bool is_counted;     // the window is counted in exchanges, which are the same at any speed
  bool is_resting;     // the last samples changed by no more than rounding
  double exchange_s;   // [s] what counts as one exchange
  int64_t wait;        // slots until the next exchange
  double since;        // time since the last one [s]
  double t_last;       // when that was [s]
  size_t first_held;   // where its rebuilt actions lie among those of all bonds
  double *action, *rate, *held, *four[4], *monitor_memory, *period_memory, *rate_before;

  int64_t n_samples, n_judged, n_bad_rho;
  yoke_sum residual, created, passed, passed_magnitude;
  double energy_low, energy_high;  // range of `passed`
  double remainder, remainder_last;
  double ter_last, throughput_last;
  double rho_sum, rho_worst, t_rho_worst;
  double eps_worst, t_eps_worst, rter_worst;
  bool is_persistent;
  double period_s, window_s;        // as they are now [s]
  double settle;                    // judged from this time on [s]
  double busiest;                   // throughput of the busiest window so far [J]
  double quiet[YOKE_N_INDICATORS];  // values up to these change nothing

  size_t open[YOKE_N_INDICATORS];  // alarm in progress, or YOKE_NO_ALARM
  double t_above[YOKE_N_INDICATORS];
  size_t n_alarms[3];  // by level

  yoke_history* history;  // of the residual; NULL where nothing could be proven
  yoke_window* over;      // number of samples above stop.rho; NULL without that limit
  yoke_window window;     // YOKE_BOOK_TER and so on
} yoke_book;

struct yoke_ledger {
  yoke_book *books, *end;
  size_t n_bonds;
  bool has_others;  // some of them are not simple
  double slot, t_start;
  double* values;
  yoke_alarm*
      alarms;  // the list, one place for a stop, and one that takes all that are only counted
  size_t n_alarms, n_more;
  bool is_violated;
};

// the energy of the exchange: what the user gave, else the range of what has passed
static inline double yoke__book_energy(const yoke_book* book) {
  return book->bond->energy > 0 ? book->bond->energy : book->energy_high - book->energy_low;
}

// rho as it is judged: at rest it compares rounding errors
static inline double yoke__book_rho(const yoke_book* book) {
  return book->is_resting ? 0 : book->monitor->rho;
}

// True if a sample differs from the one before by no more than rounding.
static inline bool yoke__is_rounding(double now, double before) {
  return fabs(now - before) <= YOKE_ROUNDING * fabs(now);
}

// The first times of a bond, from its first samples; then its period may change with each of them.
void yoke__book_start_times(yoke_book* book);
void yoke__book_learn_period(yoke_book* book, double h);
// How many exchange intervals h is: a whole number unless the residual chooses the step.
double yoke__book_count_exchanges(const yoke_book* book, double h);
static inline double yoke__book_exchanges(const yoke_book* book, double h) {
  return h == book->exchange_s ? 1 : yoke__book_count_exchanges(book, h);
}

// The bonds that are not simple, before the exchange: TER of a slot of length h.
void yoke__books_account(yoke_ledger* ledger, double h, const yoke_ledger_view* view);
// Samples from y into action and rate; their product.
double yoke__book_take(yoke_book* book, const double y[]);
// What a bond exchanged.
typedef struct yoke_book_sample {
  double power;  // action . rate [W]
  double h;      // time since the last exchange [s]; negative: nothing more to be done
} yoke_book_sample;
// Any bond, after the exchange: its monitor sees the new samples. held: see yoke__ledger_observe. values: those of a heat
// bond, which is done with that.
yoke_book_sample yoke__book_observe(yoke_book* book, double h, const yoke_ledger_view* view,
                                    const double held[], double values[]);
// A sample that is not quiet: worst values, alarms. Returns the worst level now.
yoke_alarm_level yoke__book_judge(yoke_ledger* ledger, yoke_book* book, double t);
// Sets `quiet` from limits, worst values and open alarms.
void yoke__book_quieten(yoke_book* book);

#endif
