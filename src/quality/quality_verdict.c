// What the books say: figures, a verdict in one sentence, and what to try.
//
//   wrong        the coupling created or removed more than 10 % of the energy of the exchange, or TER is above 25 % of the
//                throughput, or rho stayed above 0.5
//   doubtful     more than 1 %, 5 %, or more than 5 % of the samples have rho above 0.25
//   trustworthy  otherwise
//
// What a correction took out counts with a tenth: its books balance by its own estimate (docs/ledger_calibration.md).
//
// The bounds are those of the specifications (cosimulation 9.6, TER 2.8): calibrated on a few mechanical problems, so a
// verdict is strong evidence and no proof (docs/ledger.md shows how often it was right on systems it has not seen).
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "quality/quality_books.h"

#define EPS_DOUBTFUL  0.01
#define EPS_WRONG     0.1
#define RTER_DOUBTFUL 0.05
#define RTER_WRONG    0.25
#define RHO_SHARE     0.05
#define RHO_VALID     0.2  // up to here the energy correction is meant to work

#define MU_WITHOUT_DELAY 0.75  // the largest factor that steps and rates make (energy_mu.h)

#define CORRECTION_DOUBT 0.1  // share of what a correction took out that may be wrong
#define PARTS_BROKEN     1    // defects as large as what passes

const char* const yoke__verdict_names[] = {"not judged", "trustworthy", "doubtful", "wrong"};

static const char* const indicator_names[YOKE_N_INDICATORS] = {"rho", "eps", "rter"};
static const char* const indicator_texts[YOKE_N_INDICATORS] = {
    "residual power relative to the peaks of action and rate",
    "energy created by the coupling within the window, relative to the energy of the exchange",
    "total energy residual within the window, relative to the energy that passed"};

// "12.3 kJ"
static const char* energy_text(double joule, char* to, size_t size) {
  static const char* const prefixes[] = {"n", "u", "m", "", "k", "M", "G"};
  double x = fabs(joule);
  int i = 3;
  // three digits are printed: 999.6 would round to 1e+03
  for (; x >= 999.5 && i < 6; i++) {
    x *= 1e-3;
  }
  for (; x > 0 && x < 0.9995 && i > 0; i--) {
    x *= 1e3;
  }
  snprintf(to, size, "%.3g %sJ", x, prefixes[i]);
  return to;
}

// ---------------------------------------------------------------------------------------------------------
// the sentence

// In a run that grows beyond all bounds the defects of action and rate are as large as the signals and hide each other in
// their sum; the parts still show them.
static bool is_broken(const yoke_ledger_result* r) {
  return r->has_ter && r->throughput > 0 && r->flow + r->effort > PARTS_BROKEN * r->throughput;
}

static void judge_numbers(yoke_ledger_result* r) {
  const bool has_eps = !isnan(r->eps);
  const bool has_rter = r->has_ter && r->throughput > 0;
  r->verdict = YOKE_TRUSTWORTHY;
  if ((has_eps && r->eps > EPS_DOUBTFUL) || (has_rter && r->rter > RTER_DOUBTFUL) ||
      r->rho_share > RHO_SHARE) {
    r->verdict = YOKE_DOUBTFUL;
  }
  if ((has_eps && !(r->eps <= EPS_WRONG)) || (has_rter && r->rter > RTER_WRONG) ||
      r->is_persistent || is_broken(r)) {
    r->verdict = YOKE_WRONG;
  }
  // without a factor between residual and energy, and without inputs to compare, rho alone proves little
  if (r->verdict == YOKE_TRUSTWORTHY && !has_eps && !has_rter) {
    r->verdict = YOKE_VERDICT_NONE;
  }
}

// how far each measure is beyond its doubtful bound: the largest is the reason
static void explain(yoke_ledger_result* r) {
  char created[32], energy[32], ter[32], throughput[32];
  const double by_eps = isnan(r->eps) ? 0 : r->eps / EPS_DOUBTFUL;
  const double by_ter = r->has_ter && r->throughput > 0 ? r->rter / RTER_DOUBTFUL : 0;
  const char* verb = r->created < 0 ? "removed" : "created";
  energy_text(r->created, created, sizeof created);
  energy_text(r->energy, energy, sizeof energy);
  energy_text(r->ter, ter, sizeof ter);
  energy_text(r->throughput, throughput, sizeof throughput);
  if (r->is_persistent) {
    snprintf(r->reason, sizeof r->reason,
             "the residual power is as large as the power itself for more than a moment (rho up to "
             "%.2g at t = %.4g s): an oscillation that only the coupling makes, or an instability",
             r->rho_worst, r->t_rho_worst);
  } else if (is_broken(r)) {
    snprintf(
        r->reason, sizeof r->reason,
        "what the two ends disagree about, action and rate taken apart, is %.3g times all that "
        "passed: an instability of the coupling",
        (r->flow + r->effort) / r->throughput);
  } else if (by_eps >= by_ter && by_eps > 1 && r->bond->is_corrected) {
    char gross[32];
    energy_text(r->bond->mu * r->residual, gross, sizeof gross);
    snprintf(r->reason, sizeof r->reason,
             "of %s that the coupling %s the correction left %s; with a tenth of doubt about "
             "its own estimate that is %.3g %% of the energy of the exchange (%s)",
             gross, r->bond->mu * r->residual < 0 ? "removed" : "created", created, 100 * r->eps,
             energy);
  } else if (by_eps >= by_ter && by_eps > 1) {
    snprintf(r->reason, sizeof r->reason,
             "the coupling %s %s, %.3g %% of the energy of the exchange (%s)", verb, created,
             100 * r->eps, energy);
  } else if (by_ter > 1) {
    snprintf(r->reason, sizeof r->reason,
             "the two ends disagree about %s of the %s that passed (%.3g %%), mostly in the %s",
             ter, throughput, 100 * r->rter, r->flow > r->effort ? "rate" : "action");
  } else if (r->rho_share > RHO_SHARE) {
    snprintf(r->reason, sizeof r->reason,
             "the exchange is too slow for these signals: rho is above 0.25 in %.3g %% of the "
             "samples (up to %.2g at t = %.4g s)",
             100 * r->rho_share, r->rho_worst, r->t_rho_worst);
  } else if (!isnan(r->eps)) {
    snprintf(r->reason, sizeof r->reason,
             "the coupling %s %.2g %% of the energy of the exchange (%s), rho at most %.2g", verb,
             100 * r->eps, energy, r->rho_worst);
  } else if (r->has_ter && r->throughput > 0) {
    snprintf(r->reason, sizeof r->reason,
             "the two ends disagree about %.2g %% of the %s that passed, rho at most %.2g",
             100 * r->rter, throughput, r->rho_worst);
  }
}

static void why_no_mu(yoke_ledger_result* r) {
  static const char* const texts[] = {
      [YOKE_MU_BOTH_FEEDTHROUGH] = "both units let the other's signal through, so the energy of "
                                   "a step cannot be told from the residual",
      [YOKE_MU_IMPLICIT] = "a unit has an implicit solver, for which the energy of a step cannot "
                           "be told from the residual",
      [YOKE_MU_GAUSS_SEIDEL] = "under Gauss-Seidel the residual of samples mixes two times",
      [YOKE_MU_ITERATIVE] = "an iterated exchange leaves no residual of samples",
      [YOKE_MU_MODEL] = "the inputs come from models of the units, so the energy of a step cannot "
                        "be told from the residual of samples",
      [YOKE_MU_NO_POWER] = "",
  };
  const yoke_mu_origin origin = r->bond->mu_origin;
  if (r->verdict == YOKE_VERDICT_NONE && isnan(r->eps) && origin > YOKE_MU_GIVEN) {
    snprintf(r->reason, sizeof r->reason, "no energy is judged: %s", texts[origin]);
  }
}

// One more idea.
static void advise_to(yoke_ledger_result* r, const char* format, ...) YOKE_PRINTF(2, 3);
static void advise_to(yoke_ledger_result* r, const char* format, ...) {
  char idea[200];
  va_list args;
  va_start(args, format);
  vsnprintf(idea, sizeof idea, format, args);
  va_end(args);
  const size_t used = strlen(r->advice);
  snprintf(r->advice + used, sizeof r->advice - used, "%s%s", used == 0 ? "" : "; ", idea);
}

// how much smaller the step should be; factor: how far the worst measure is beyond its bound
static void advise_step(yoke_ledger_result* r, double factor) {
  const yoke_ledger_bond* bond = r->bond;
  if (factor > 1 && bond->is_adaptive) {
    advise_to(r, "give a smaller rho, or a smaller min, in time.step");
  } else if (factor > 1 && factor <= 20) {
    advise_to(r, "exchange every %.2g s instead of %.3g s", bond->interval / factor,
              bond->interval);
  } else if (factor > 20 && (r->is_persistent || is_broken(r))) {
    // beyond the stability limit no order holds
    advise_to(
        r, "exchange every %.2g s instead of %.3g s, and again half of it until the run is stable",
        bond->interval / 2, bond->interval);
  } else if (factor > 20) {
    advise_to(r, "a smaller step alone would have to be over 20 times smaller");
  }
}

// ideas in the order of their cost
static void advise(yoke_ledger_result* r) {
  const yoke_ledger_bond* bond = r->bond;
  const bool is_by_energy = !isnan(r->eps) && r->eps > EPS_DOUBTFUL;
  const bool is_delayed = bond->mu_origin == YOKE_MU_AUTOMATIC && bond->mu > MU_WITHOUT_DELAY;
  if (r->verdict != YOKE_DOUBTFUL && r->verdict != YOKE_WRONG) {
    return;
  }
  if (is_by_energy && bond->mu_origin == YOKE_MU_AUTOMATIC && !bond->is_corrected &&
      r->rho_worst < RHO_VALID) {
    advise_to(r, "correct it with coupling: {method: energy}");
  }
  if (bond->is_corrected && r->rho_worst > RHO_VALID) {
    advise_to(r, "the energy correction is beyond its range here: turn it off");
  }
  if (is_delayed) {
    advise_to(r, "shorten the delays of its connections; a smaller step alone does little");
    return;
  }
  // all these errors are of first order in the step
  double factor = is_by_energy ? r->eps / EPS_DOUBTFUL : 0;
  factor = fmax(factor, r->has_ter && r->throughput > 0 ? r->rter / RTER_DOUBTFUL : 0);
  factor = fmax(factor, r->rho_worst / RHO_VALID);
  advise_step(r, factor);
  if (bond->mu_origin == YOKE_MU_AUTOMATIC && bond->mu >= 0.25) {
    advise_to(r, "use exchange: fresh, scheme: gauss-seidel, or another causality (force-force, "
                 "displacement-displacement)");
  }
}

// ---------------------------------------------------------------------------------------------------------

static void result_of_heat(const yoke_book* book, yoke_ledger_result* out) {
  char lost[32], passed[32];
  out->passed = yoke__sum_value(&book->passed);
  out->throughput = yoke__sum_value(&book->passed_magnitude);
  out->created = out->eps = (double)NAN;
  energy_text(out->residual, lost, sizeof lost);
  energy_text(out->throughput, passed, sizeof passed);
  snprintf(out->reason, sizeof out->reason,
           "heat balance: %s %s arrived than was sent, of %s (the product of heat flow and "
           "temperature is no power: no verdict)",
           lost, out->residual < 0 ? "less" : "more", passed);
}

// nothing of nothing is nothing
static double share_of(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

static void copy_ter(const yoke_ter* ter, yoke_ledger_result* out) {
  out->ter = yoke__sum_value(&ter->total);
  out->net = yoke__sum_value(&ter->net);
  out->throughput = yoke__sum_value(&ter->throughput);
  out->rter = share_of(out->ter, out->throughput);
  out->flow = yoke__sum_value(&ter->flow);
  out->effort = yoke__sum_value(&ter->effort);
  out->flow_defect = yoke__sum_value(&ter->flow_defect);
  out->effort_defect = yoke__sum_value(&ter->effort_defect);
  out->n_bad = ter->n_bad;
}

static void result_of_bond(const yoke_ledger* ledger, const yoke_book* book,
                           yoke_ledger_result* out) {
  const yoke_ledger_bond* bond = book->bond;
  *out = (yoke_ledger_result){.bond = bond,
                              .n_samples = book->n_samples,
                              .duration = book->t_last - ledger->t_start,
                              .period = book->period_s,
                              .window = book->window_s,
                              .settle = book->settle,
                              .residual = yoke__sum_value(&book->residual),
                              .has_ter = bond->has_ter,
                              .t_eps_worst = book->t_eps_worst,
                              .t_rho_worst = book->t_rho_worst,
                              .rho_worst = book->rho_worst,
                              .eps_worst = book->eps_worst,
                              .rter_worst = book->rter_worst,
                              .is_persistent = book->is_persistent,
                              .n_warnings = book->n_alarms[YOKE_ALARM_WARN],
                              .n_stops = book->n_alarms[YOKE_ALARM_STOP]};
  if (bond->kind == YOKE_BOND_HEAT) {
    result_of_heat(book, out);
    return;
  }
  out->passed = yoke__sum_value(&book->passed);
  out->energy = bond->energy > 0 ? bond->energy : book->energy_high - book->energy_low;
  out->created =
      isnan(bond->mu) && !bond->is_corrected ? (double)NAN : yoke__sum_value(&book->created);
  out->eps = out->energy > 0 ? fabs(out->created) / out->energy : (double)NAN;
  if (bond->is_corrected && !isnan(bond->mu)) {
    // the correction balances its books by its own estimate; where that is wrong, both are
    out->eps += CORRECTION_DOUBT * fabs(bond->mu * out->residual) / out->energy;
  }
  if (book->n_judged > 0) {
    out->rho_mean = book->rho_sum / (double)book->n_judged;
    out->rho_share = (double)book->n_bad_rho / (double)book->n_judged;
  }
  copy_ter(&book->ter, out);
  if (!yoke__is_finite(out->energy) || !yoke__is_finite(out->throughput)) {
    out->verdict = YOKE_WRONG;
    snprintf(out->reason, sizeof out->reason, "what passed has grown beyond all numbers");
    return;
  }
  if (out->energy <= 0 && out->throughput <= 0) {
    snprintf(out->reason, sizeof out->reason, "no power has passed");
    return;
  }
  judge_numbers(out);
  explain(out);
  why_no_mu(out);
  advise(out);
}

static void result_of_all(const yoke_ledger* ledger, yoke_ledger_result* out) {
  *out = (yoke_ledger_result){.eps = (double)NAN, .created = (double)NAN};
  size_t worst = ledger->n_bonds;
  for (size_t i = 0; i < ledger->n_bonds; i++) {
    yoke_ledger_result one;
    result_of_bond(ledger, &ledger->books[i], &one);
    if (one.bond->kind == YOKE_BOND_HEAT) {
      continue;
    }
    out->n_samples += one.n_samples;
    out->duration = fmax(out->duration, one.duration);
    out->residual += one.residual;
    out->passed += one.passed;
    if (!isnan(one.created)) {
      out->created = isnan(out->created) ? one.created : out->created + one.created;
    }
    out->energy = fmax(out->energy, one.energy);
    out->eps = fmax(out->eps, one.eps);
    out->eps_worst = fmax(out->eps_worst, one.eps_worst);
    out->rho_worst = fmax(out->rho_worst, one.rho_worst);
    out->rho_share = fmax(out->rho_share, one.rho_share);
    out->has_ter = out->has_ter || one.has_ter;
    out->ter += one.ter;
    out->net += one.net;
    out->throughput += one.throughput;
    out->flow += one.flow;
    out->effort += one.effort;
    out->n_bad += one.n_bad;
    out->rter_worst = fmax(out->rter_worst, one.rter_worst);
    out->is_persistent = out->is_persistent || one.is_persistent;
    out->n_warnings += one.n_warnings;
    out->n_stops += one.n_stops;
    if (one.verdict > out->verdict) {
      out->verdict = one.verdict;
      worst = i;
      snprintf(out->reason, sizeof out->reason, "%s", one.reason);
      snprintf(out->advice, sizeof out->advice, "%s", one.advice);
    }
  }
  out->rter = share_of(out->ter, out->throughput);
  if (worst < ledger->n_bonds && ledger->n_bonds > 1) {
    char reason[sizeof out->reason];
    snprintf(reason, sizeof reason, "%s: %.250s", ledger->books[worst].bond->name, out->reason);
    memcpy(out->reason, reason, sizeof reason);
  }
}

void yoke__ledger_result(const yoke_ledger* ledger, size_t i, yoke_ledger_result* out) {
  if (i < ledger->n_bonds) {
    result_of_bond(ledger, &ledger->books[i], out);
  } else {
    result_of_all(ledger, out);
  }
}

size_t yoke__ledger_count(const yoke_ledger* ledger) {
  return ledger->n_bonds;
}

// ---------------------------------------------------------------------------------------------------------
// alarms

const yoke_alarm* yoke__ledger_alarms(const yoke_ledger* ledger, size_t* n, size_t* n_more) {
  *n = ledger->n_alarms;
  *n_more = ledger->n_more;
  return ledger->alarms;
}

bool yoke__ledger_is_violated(const yoke_ledger* ledger) {
  return ledger->is_violated;
}

void yoke__ledger_alarm_text(const yoke_ledger* ledger, const yoke_alarm* alarm, char* to,
                             size_t size) {
  snprintf(to, size, "bond '%s' at t = %.9g s: %s = %.3g, limit %.3g (%s)",
           ledger->books[alarm->bond].bond->name, alarm->t, indicator_names[alarm->indicator],
           alarm->value, alarm->limit, indicator_texts[alarm->indicator]);
}
