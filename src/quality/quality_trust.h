// Verdicts of signals, loops and the run, from error bands, growth alarms and, without a band, the energy ledger.
//
// The rules, of which the first that holds decides (rel = band / scale, low = its lower bound / scale):
//
//   0  at rest in the run and its companions                                    not judged
//   1  not finite, beyond 1e100, or growing at the end and (no companion or
//      rel > 0.5)                                                               wrong
//   2  low > wrong (0.10)                                                       wrong
//   3  more than 25 % of what it sends does not arrive, or is surely missed
//      between its calls                                                        wrong
//   4  grew for a while and rel > limit (0.05)                                  doubtful
//   5  no companion and no estimate of the run itself                           not judged, or what the ledger says
//   6  rel > limit, or companion B alone, or an estimate that is rough or of a
//      part of the run, or more than 5 % of what it sends does not arrive or
//      may be missed between its calls, or its calls leave too much open, or
//      only samples of a fast flow arrive (these also without an estimate)      doubtful
//   7  otherwise                                                                trustworthy
//
// A signal with an absolute limit L (in its own unit) has band_max > L instead of rel > limit, and low_max > 2 L instead
// of low > wrong. A balance counts at rest too: samples of a fast signal may well be constant.
#ifndef YOKE_QUALITY_TRUST_H
#define YOKE_QUALITY_TRUST_H

#include <stdbool.h>
#include <stddef.h>

#include "quality/quality_band.h"
#include "quality/quality_growth.h"
#include "yoke/trust.h"

#define YOKE_TRUST_LIMIT 0.05  // of the movement: trustworthy up to here
#define YOKE_TRUST_WRONG 0.10  // of the movement: wrong if the error is surely above

typedef struct yoke_trust_limits {
  double limit, wrong;
  double absolute;  // in the signal's unit; NaN: none
} yoke_trust_limits;

// No limits of its own: 0.05, 0.10.
yoke_trust_limits yoke__trust_default_limits(void);

typedef enum yoke_trust_rule {
  YOKE_RULE_AT_REST,
  YOKE_RULE_DIVERGED,
  YOKE_RULE_OFF,
  YOKE_RULE_BALANCE,
  YOKE_RULE_GREW,
  YOKE_RULE_NO_ESTIMATE,
  YOKE_RULE_MAY_BE_OFF,
  YOKE_RULE_WITHIN,
} yoke_trust_rule;

// The amount of a flow in the run beside that of companions, whose sender is called more often: what happens between calls is
// in neither sum, but in different shares.
typedef struct yoke_flow_check {
  bool is_known;         // else all of it is 0
  double sent, finer;    // in the run; in the companion with most calls
  double share;          // their difference, of the larger of both in magnitudes
  double missed, least;  // the share that may be missed, by the factors of bands; surely is
} yoke_flow_check;

// sent: NaN where a companion does not know it; size: of magnitudes. b: called at least as often as a.
yoke_flow_check yoke__trust_check_flow(double sent, double size, const double a[2],
                                       const double b[2]);

// What a connection of a signal carried to its receiver (docs/exchange.md).
typedef struct yoke_trust_flow {
  const char* to;        // "unit.variable"; NULL: nothing is known
  const char* dim;       // of the amounts
  double sent, arrived;  // sent early enough to have arrived, and arrived
  double balance;        // share of it that did not arrive, or that nobody sent; NaN: not known
  double unsure;         // share of it that the sender's calls do not settle
  yoke_flow_check check;
} yoke_trust_flow;

// By the balance: not judged if it is NaN, trustworthy up to 5 %, wrong above 25 %; by what was missed: doubtful above 5 % at
// most, wrong above 25 % at least; doubtful if its calls leave more than half of it open, without companions 5 %. The worst.
yoke_verdict yoke__trust_judge_flow(double balance, double unsure, const yoke_flow_check* check);

typedef struct yoke_trust_signal {
  const char *name, *dim;  // dim: unit of measure as text, "" if it has none
  yoke_band band;
  yoke_growth_alarm growth;
  double growth_from_s, growth_to_s;  // times of the alarm's window
  size_t loop;                        // YOKE_NOT_FOUND: in none, judged alone
  bool is_wanted;                     // decides about loop and run
  yoke_trust_limits limits;
  yoke_verdict ledger;      // of the bonds of its loop: counts where there is no band
  const char* no_estimate;  // why there is no companion; NULL: none was asked for
  const char* no_online;    // why the run itself gives no estimate; NULL: nobody asked it
  yoke_trust_flow flow;     // the worst one that it feeds
  const char* sampled_by;   // receiver that gets only samples of a fast flow; NULL: none

  // filled by yoke__trust_judge_signal
  yoke_trust_rule rule;
  yoke_verdict verdict;
  char reason[320];  // a sentence with name, numbers and unit; "at rest"
} yoke_trust_signal;

void yoke__trust_judge_signal(yoke_trust_signal* signal);
// What of its flows does not arrive or may be missed, over what makes it doubtful.
double yoke__trust_loss(const yoke_trust_signal* signal);

// Whether verdict a is worse than b: wrong > doubtful > not judged > trustworthy.
bool yoke__trust_is_worse(yoke_verdict a, yoke_verdict b);
// Order for tables of judged signals, worst first: by verdict, then those that diverge, the first one first, then by how many
// times the error is beyond its limit. Negative if a comes before b.
int yoke__trust_compare(const yoke_trust_signal* a, const yoke_trust_signal* b);

// A loop, or the run.
typedef struct yoke_trust_loop {
  size_t n_signals;  // that decide
  size_t worst;      // the signal that decided; YOKE_NOT_FOUND: none
  yoke_verdict verdict;
  bool is_at_rest;     // all its signals are
  const char* reason;  // that of its worst signal
} yoke_trust_loop;

// Verdict of each loop, and of the run: the worst of its loops and of the signals outside loops. Loops and signals at rest
// do not count unless all are. A flow that gets lost counts whether its signal is wanted or not. signals: judged, their `loop` below n_loops.
void yoke__trust_judge_run(const yoke_trust_signal signals[], size_t n_signals,
                           yoke_trust_loop loops[], size_t n_loops, yoke_trust_loop* run);

#endif
