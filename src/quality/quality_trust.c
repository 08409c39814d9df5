// The rule table of quality_trust.h and its sentences.
//
// A sentence gives the largest error over the run (band_max) in the signal's own unit, and the rms band relative to the
// movement: what a user compares with is the first, what decides, unless an absolute limit is given, the second.
#include "quality/quality_trust.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_map.h"
#include "base/base_number.h"
#include "quality/quality_ledger.h"
#include "yoke/status.h"

#define DIVERGES     0.5   // of the movement: growth of the run that its companions do not share
#define ALIAS_RATIO  10    // B differs so many times more than A
#define ALIAS_SHARE  0.5   // and by this share of the movement
#define ABSOLUTE_LOW 2     // limits: the error is surely wrong above so many times the limit
#define MANY_TIMES   10    // movements: counted in times instead of percent
#define LOST_WRONG   0.25  // of a flow: did not arrive
#define LOST_DOUBT   0.05
#define UNSURE_DOUBT 0.5  // not settled by its calls: a sine with 6 calls per period

yoke_trust_limits yoke__trust_default_limits(void) {
  return (yoke_trust_limits){YOKE_TRUST_LIMIT, YOKE_TRUST_WRONG, (double)NAN};
}

// -------------------------------------------------------------------------------------------------
// sentences

static void append(yoke_trust_signal* s, const char* format, ...) YOKE_PRINTF(2, 3);
static void append(yoke_trust_signal* s, const char* format, ...) {
  const size_t used = strlen(s->reason);
  va_list args;
  va_start(args, format);
  vsnprintf(s->reason + used, sizeof s->reason - used, format, args);
  va_end(args);
}

// "0.0026 m"
static void append_value(yoke_trust_signal* s, double value) {
  char number[YOKE_NUMBER_SIZE];
  const bool has_unit = s->dim != NULL && s->dim[0] != '\0' && strcmp(s->dim, "1") != 0;
  append(s, "%s%s%s", yoke__number_brief(value, number), has_unit ? " " : "",
         has_unit ? s->dim : "");
}

// "0.0026 m, limit 0.002 m (rms 16 % of its movement)"; the limit where there is one of its own
static void append_error(yoke_trust_signal* s) {
  char share[YOKE_NUMBER_SIZE];
  append_value(s, s->band.band_max);
  if (!isnan(s->limits.absolute)) {
    append(s, ", limit ");
    append_value(s, s->limits.absolute);
  }
  const double relative = s->band.relative;
  if (relative >= MANY_TIMES) {
    append(s, " (rms %s times its movement)", yoke__number_brief(relative, share));
  } else {
    append(s, " (rms %s %% of its movement)", yoke__number_brief(100 * relative, share));
  }
}

static void append_digits(yoke_trust_signal* s) {
  append(s, ", %d digit%s", s->band.digits, s->band.digits == 1 ? "" : "s");
}

// "grew 1000 times between 1 s and 1.2 s"
static void append_growth(yoke_trust_signal* s) {
  char factor[YOKE_NUMBER_SIZE];
  append(s, "grew %s times between %.4g s and %.4g s", yoke__number_brief(s->growth.factor, factor),
         s->growth_from_s, s->growth_to_s);
}

// where only one companion could be compared with
static void append_lack(yoke_trust_signal* s) {
  if (s->band.has_estimate) {
    append(s, "; estimated from %s%s",
           s->band.is_partial ? "the first part of the run" : "the run itself",
           s->band.is_rough ? ", roughly: its units are not linear, or noisy" : "");
  } else if (!s->band.has_b) {
    append(s, "; compared with half the steps alone");
  } else if (!s->band.has_a) {
    append(s, "; compared with another method alone, not with half the steps");
  }
}

static void explain_divergence(yoke_trust_signal* s) {
  char factor[YOKE_NUMBER_SIZE];
  const bool has_companion = s->band.has_a || s->band.has_b;
  yoke__number_brief(s->growth.factor, factor);
  if (!s->growth.is_latched) {
    append(s, "diverges: %s is not finite or beyond 1e100", s->name);
  } else if (s->band.is_diverged || has_companion) {
    append(s, "diverges: %s grew %s times within %lld exchanges", s->name, factor,
           (long long)s->growth.n);
    if (s->growth_to_s > s->growth_from_s) {
      append(s, ", between %.4g s and %.4g s", s->growth_from_s, s->growth_to_s);
    }
  } else {
    append(s,
           "diverges: %s grows %s-fold every %lld exchanges; if the plant is unstable by itself "
           "this is right: run with --trust both",
           s->name, factor, (long long)s->growth.n);
  }
}

static void explain_lack_of_estimate(yoke_trust_signal* s) {
  if (s->ledger == YOKE_WRONG || s->ledger == YOKE_DOUBTFUL) {
    append(s, "%s by the energy ledger, and no error estimate", yoke__verdict_names[s->ledger]);
  } else if (s->ledger == YOKE_TRUSTWORTHY) {
    append(s, "no sign of an energy error, and no error estimate");
  } else {
    append(s, "no error estimate");
  }
  append(s, ": %s", s->no_estimate == NULL ? "run with --trust both" : s->no_estimate);
  if (s->no_online != NULL) {
    append(s, "; none from the run itself: %s", s->no_online);
  }
  if (s->growth.is_latched) {
    append(s, "; %s ", s->name);
    append_growth(s);
  }
}

static void explain_doubt(yoke_trust_signal* s) {
  append(s, "%s ", s->name);
  if (s->rule == YOKE_RULE_GREW) {
    append_growth(s);
    append(s, " and ");
  }
  append(s, "may be off by up to ");
  append_error(s);
  const yoke_band* b = &s->band;
  if (b->has_a && b->has_b && b->x > ALIAS_RATIO * b->d && b->x > ALIAS_SHARE * b->scale) {
    append(s, "; half the step agrees, another method does not: a fast signal may be sampled too "
              "slowly (aliasing)");
  }
  append_lack(s);
}

static void explain_trust(yoke_trust_signal* s) {
  append(s, "%s is ", s->name);
  if (s->band.is_exact && s->band.has_estimate) {
    append(s, "free of coupling errors");
    return;
  }
  if (s->band.is_exact) {
    append(s, "exact in all companions");
  } else {
    append(s, "within ");
    append_error(s);
    append_digits(s);
  }
  append_lack(s);
  if (s->growth.is_latched) {
    append(s, "; it ");
    append_growth(s);
    append(s, s->band.has_estimate ? "" : ", and so did the companion runs");
  }
}

// "of 1.96 J sent by a.p to b.q only 0.00089 J arrived (99.95 % lost)"
static void append_balance(yoke_trust_signal* s) {
  const yoke_trust_flow* f = &s->flow;
  char sent[YOKE_NUMBER_SIZE], arrived[YOKE_NUMBER_SIZE];
  const bool is_lost = fabs(f->arrived) < fabs(f->sent) && f->arrived * f->sent >= 0;
  append(s, "of %s %s sent by %s to %s %s%s %s arrived (%.4g %% %s)",
         yoke__number_brief(f->sent, sent), f->dim, s->name, f->to, is_lost ? "only " : "",
         yoke__number_brief(f->arrived, arrived), f->dim, 100 * f->balance,
         is_lost ? "lost" : "off");
}

// "a.p sends 0.61 J to b.q, but 1.96 J when it is called more often (69 % missed)"; where it is not that sure,
// "(up to 69 % missed)"
static void append_missed(yoke_trust_signal* s) {
  const yoke_flow_check* c = &s->flow.check;
  const bool is_sure = c->least > LOST_WRONG;
  char sent[YOKE_NUMBER_SIZE], finer[YOKE_NUMBER_SIZE];
  append(s, "%s sends %s %s to %s, but %s %s when it is called more often (", s->name,
         yoke__number_brief(c->sent, sent), s->flow.dim, s->flow.to,
         yoke__number_brief(c->finer, finer), s->flow.dim);
  append(s, "%s%.3g %% %s)", is_sure ? "" : "up to ", 100 * (is_sure ? c->share : c->missed),
         fabs(c->sent) < fabs(c->finer) ? "missed" : "off");
}

// "a.p changes too fast for its calls: they do not resolve 97 % of what it sends to b.q"
static void append_unsure(yoke_trust_signal* s) {
  append(s, "%s changes too fast for its calls: they do not resolve %.3g %% of what it sends to %s",
         s->name, 100 * s->flow.unsure, s->flow.to);
}

// Too much is not settled. Companions that agree settle more.
static bool is_open(double unsure, const yoke_flow_check* check) {
  return unsure > (check->is_known ? UNSURE_DOUBT : LOST_DOUBT);
}

// The largest of what did not arrive, of what may be missed and, where that is too much, of what is not settled.
static double loss(const yoke_trust_flow* f) {
  const double open = is_open(f->unsure, &f->check) ? f->unsure : 0;
  return f->to == NULL ? 0 : fmax(fmax(isnan(f->balance) ? 0 : f->balance, f->check.missed), open);
}

double yoke__trust_loss(const yoke_trust_signal* signal) {
  return loss(&signal->flow) / LOST_DOUBT;
}

static bool is_lossy(const yoke_trust_signal* s) {
  return loss(&s->flow) > LOST_DOUBT;
}

static void append_loss(yoke_trust_signal* s) {
  if (s->flow.balance > LOST_DOUBT) {
    append_balance(s);
  } else if (s->flow.check.missed > LOST_DOUBT) {
    append_missed(s);
  } else {
    append_unsure(s);
  }
}

// Something of what it sends got lost, or could have been without anybody seeing it.
static bool is_leaky(const yoke_trust_signal* s) {
  return is_lossy(s) || s->sampled_by != NULL;
}

static void explain(yoke_trust_signal* s) {
  s->reason[0] = '\0';
  switch (s->rule) {
  case YOKE_RULE_AT_REST:
    append(s, "at rest");
    break;
  case YOKE_RULE_DIVERGED:
    explain_divergence(s);
    break;
  case YOKE_RULE_BALANCE:
    append_loss(s);
    break;
  case YOKE_RULE_OFF:
    append(s, "%s is off by up to ", s->name);
    append_error(s);
    append_lack(s);
    break;
  case YOKE_RULE_NO_ESTIMATE:
    explain_lack_of_estimate(s);
    break;
  case YOKE_RULE_GREW:
    explain_doubt(s);
    break;
  case YOKE_RULE_MAY_BE_OFF:
    if (is_lossy(s)) {
      append_loss(s);
    } else if (s->sampled_by != NULL) {
      append(s, "only samples of %s reach %s: values between exchanges are lost", s->name,
             s->sampled_by);
    } else {
      explain_doubt(s);
    }
    break;
  case YOKE_RULE_WITHIN:
    explain_trust(s);
    break;
  }
}

// -------------------------------------------------------------------------------------------------
// rules

// How many times the error is beyond the limit that acts.
static double excess(const yoke_trust_signal* s) {
  return isnan(s->limits.absolute) ? s->band.relative / s->limits.limit
                                   : s->band.band_max / s->limits.absolute;
}

static bool is_surely_off(const yoke_trust_signal* s) {
  return isnan(s->limits.absolute) ? s->band.low_relative > s->limits.wrong
                                   : s->band.low_max > ABSOLUTE_LOW * s->limits.absolute;
}

static yoke_trust_rule find_rule(const yoke_trust_signal* s) {
  const yoke_band* b = &s->band;
  const bool has_companion = b->has_a || b->has_b;
  const bool has_band = has_companion || b->has_estimate;
  const bool is_beyond = has_band && excess(s) > 1;
  if (b->is_diverged) {
    return YOKE_RULE_DIVERGED;
  }
  if (s->flow.to != NULL && (s->flow.balance > LOST_WRONG || s->flow.check.least > LOST_WRONG)) {
    return YOKE_RULE_BALANCE;
  }
  if (b->is_constant) {
    return is_leaky(s) ? YOKE_RULE_MAY_BE_OFF : YOKE_RULE_AT_REST;
  }
  if (s->growth.is_active && (!has_companion || b->relative > DIVERGES)) {
    return YOKE_RULE_DIVERGED;
  }
  // a rough estimate proves nothing, neither way
  if (has_band && !b->is_rough && is_surely_off(s)) {
    return YOKE_RULE_OFF;
  }
  if (s->growth.is_latched && is_beyond) {
    return YOKE_RULE_GREW;
  }
  if (!has_band) {
    return is_leaky(s) && s->ledger != YOKE_WRONG ? YOKE_RULE_MAY_BE_OFF : YOKE_RULE_NO_ESTIMATE;
  }
  const bool is_half = has_companion ? !b->has_a : b->is_partial || b->is_rough;
  return is_beyond || is_half || is_leaky(s) ? YOKE_RULE_MAY_BE_OFF : YOKE_RULE_WITHIN;
}

// The share of a companion's amount by which it differs from that of the run; NaN: not known.
static double share_of(double sent, double size, const double other[2]) {
  const double larger = fmax(size, other[1]);
  return isnan(other[0]) || isnan(other[1]) ? (double)NAN
         : larger > 0                       ? fabs(sent - other[0]) / larger
                                            : 0;
}

yoke_flow_check yoke__trust_check_flow(double sent, double size, const double a[2],
                                       const double b[2]) {
  const double d = share_of(sent, size, a), x = share_of(sent, size, b);
  yoke_flow_check check = {.is_known = true, .sent = sent};
  if (isnan(d) && isnan(x)) {
    return (yoke_flow_check){0};
  }
  check.finer = isnan(x) ? a[0] : b[0];
  check.share = isnan(x) ? d : x;
  yoke__band_combine(d, x, &check.missed, &check.least);
  check.missed = fmin(check.missed, 1);
  return check;
}

yoke_verdict yoke__trust_judge_flow(double balance, double unsure, const yoke_flow_check* check) {
  if (balance > LOST_WRONG || check->least > LOST_WRONG) {
    return YOKE_WRONG;
  }
  if (balance > LOST_DOUBT || check->missed > LOST_DOUBT || is_open(unsure, check)) {
    return YOKE_DOUBTFUL;
  }
  return isnan(balance) ? YOKE_VERDICT_NONE : YOKE_TRUSTWORTHY;
}

void yoke__trust_judge_signal(yoke_trust_signal* signal) {
  static const yoke_verdict verdicts[] = {
      [YOKE_RULE_AT_REST] = YOKE_VERDICT_NONE,
      [YOKE_RULE_DIVERGED] = YOKE_WRONG,
      [YOKE_RULE_OFF] = YOKE_WRONG,
      [YOKE_RULE_BALANCE] = YOKE_WRONG,
      [YOKE_RULE_GREW] = YOKE_DOUBTFUL,
      [YOKE_RULE_NO_ESTIMATE] = YOKE_VERDICT_NONE,
      [YOKE_RULE_MAY_BE_OFF] = YOKE_DOUBTFUL,
      [YOKE_RULE_WITHIN] = YOKE_TRUSTWORTHY,
  };
  signal->rule = find_rule(signal);
  signal->verdict = verdicts[signal->rule];
  // a ledger without a complaint proves nothing
  if (signal->rule == YOKE_RULE_NO_ESTIMATE && signal->ledger >= YOKE_DOUBTFUL) {
    signal->verdict = signal->ledger;
  }
  explain(signal);
}

// -------------------------------------------------------------------------------------------------
// loops and run

static int severity(yoke_verdict verdict) {
  static const int ranks[] = {
      [YOKE_TRUSTWORTHY] = 0, [YOKE_VERDICT_NONE] = 1, [YOKE_DOUBTFUL] = 2, [YOKE_WRONG] = 3};
  return ranks[verdict];
}

bool yoke__trust_is_worse(yoke_verdict a, yoke_verdict b) {
  return severity(a) > severity(b);
}

static int compare_numbers(double a, double b) {
  // larger first; unknown ones last
  const double x = isnan(a) ? -1 : a, y = isnan(b) ? -1 : b;
  return x > y ? -1 : x < y;
}

int yoke__trust_compare(const yoke_trust_signal* a, const yoke_trust_signal* b) {
  const bool rests_a = a->rule == YOKE_RULE_AT_REST, rests_b = b->rule == YOKE_RULE_AT_REST;
  if (rests_a != rests_b) {
    return rests_a ? 1 : -1;
  }
  if (severity(a->verdict) != severity(b->verdict)) {
    return severity(a->verdict) > severity(b->verdict) ? -1 : 1;
  }
  const bool diverges_a = a->rule == YOKE_RULE_DIVERGED, diverges_b = b->rule == YOKE_RULE_DIVERGED;
  if (diverges_a != diverges_b) {
    return diverges_a ? -1 : 1;
  }
  if (diverges_a && a->growth_to_s != b->growth_to_s) {
    return a->growth_to_s < b->growth_to_s ? -1 : 1;
  }
  // what got lost on its way is the cause of what others miss
  const bool loses_a = !diverges_a && is_lossy(a), loses_b = !diverges_b && is_lossy(b);
  if (loses_a || loses_b) {
    return compare_numbers(loses_a ? loss(&a->flow) : 0, loses_b ? loss(&b->flow) : 0);
  }
  const int by_growth = diverges_a ? compare_numbers(a->growth.factor, b->growth.factor) : 0;
  return by_growth != 0 ? by_growth : compare_numbers(excess(a), excess(b));
}

static yoke_trust_loop empty_loop(void) {
  return (yoke_trust_loop){
      .worst = YOKE_NOT_FOUND, .verdict = YOKE_VERDICT_NONE, .reason = "no signal could be judged"};
}

// One more signal that decides.
static void add_signal(yoke_trust_loop* loop, const yoke_trust_signal signals[], size_t i) {
  const yoke_trust_signal* s = &signals[i];
  loop->n_signals++;
  if (loop->worst == YOKE_NOT_FOUND || yoke__trust_compare(s, &signals[loop->worst]) < 0) {
    loop->worst = i;
    loop->verdict = s->verdict;
    loop->reason = s->reason;
    loop->is_at_rest = s->rule == YOKE_RULE_AT_REST;
  }
}

void yoke__trust_judge_run(const yoke_trust_signal signals[], size_t n_signals,
                           yoke_trust_loop loops[], size_t n_loops, yoke_trust_loop* run) {
  *run = empty_loop();
  for (size_t i = 0; i < n_loops; i++) {
    loops[i] = empty_loop();
  }
  for (size_t i = 0; i < n_signals; i++) {
    // what gets lost on its way is lost for the signals that are wanted too
    const bool is_leak = is_leaky(&signals[i]) && (signals[i].rule == YOKE_RULE_BALANCE ||
                                                   signals[i].rule == YOKE_RULE_MAY_BE_OFF);
    if (signals[i].is_wanted || is_leak) {
      if (signals[i].loop != YOKE_NOT_FOUND) {
        add_signal(&loops[signals[i].loop], signals, i);
      }
      add_signal(run, signals, i);
    }
  }
}
