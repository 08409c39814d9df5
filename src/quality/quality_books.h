// Inside the ledger: the book of one bond. Shared by the files that keep it and that read it.
#ifndef YOKE_QUALITY_BOOKS_H
#define YOKE_QUALITY_BOOKS_H

#include "quality/quality_ledger.h"

#define YOKE_NO_ALARM ((size_t)-1)

typedef struct yoke_book {
  const yoke_ledger_bond* bond;
  yoke_monitor own_monitor;
  yoke_monitor* monitor;  // its own, or that of the method which corrects the bond
  bool has_mu;
  bool is_simple;  // one component between two units with one call per slot
  yoke_ter ter;
  int64_t wait;   // slots until the next exchange
  double since;   // time since the last one [s]
  double t_last;  // when that was [s]
  double *action, *rate, *held, *four[4], *monitor_memory;

  int64_t n_samples, n_judged, n_bad_rho;
  yoke_sum residual, created, passed, passed_magnitude;
  double energy_low, energy_high;  // range of `passed`
  double remainder, remainder_last;
  double ter_last, throughput_last;
  double rho_sum, rho_worst, t_rho_worst;
  double eps_worst, t_eps_worst, rter_worst;
  bool is_persistent;

  size_t open[YOKE_N_INDICATORS];  // alarm in progress, or YOKE_NO_ALARM
  double t_above[YOKE_N_INDICATORS];
  size_t n_alarms[3];  // by level

  yoke_window* over;   // number of samples above stop.rho; NULL without that limit
  yoke_window window;  // created [J], TER [J], throughput [J], number of steep samples
} yoke_book;

struct yoke_ledger {
  yoke_book* books;
  size_t n_bonds;
  double slot, t_start;
  double* values;
  yoke_alarm* alarms;  // the last one, behind the list, takes all that are only counted
  size_t n_alarms, n_more;
  bool is_violated;
};

#endif
