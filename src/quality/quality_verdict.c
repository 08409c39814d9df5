// What the books say: figures, a sentence, and the word that a bond gets from its energy alone.
//
//   wrong       the residual of the samples is more than 10 % of the energy of the exchange, or TER is above 25 % of the
//               throughput, or rho stayed above 0.5
//   doubtful    more than 1 %, 5 %, or more than 5 % of the samples have rho above 0.25
//   not judged  otherwise: no sign of an error is no proof of a good result
//
// These words count only where no error of the signals is estimated (docs/ledger.md, "Verdicts").
// What a correction took out counts with a tenth: its books balance by its own estimate (docs/studies/ledger.md).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "quality/quality_books.h"
#include "quality/quality_explain.h"

#define EPS_WRONG  0.1
#define RTER_WRONG 0.25

#define CORRECTION_DOUBT 0.1  // share of what a correction took out that may be wrong
#define PROVEN_SHARE     0.5  // |net| / TER from which the mismatch has one sign

const char* const yoke__verdict_names[] = {"not judged", "trustworthy", "doubtful", "wrong"};
const char* const yoke__ledger_no_sign = "no sign of an energy error, and no error estimate";

static const char* const indicator_names[YOKE_N_INDICATORS] = {"rho", "eps", "rter"};
static const char* const indicator_texts[YOKE_N_INDICATORS] = {
    "residual power relative to the peaks of action and rate",
    "residual energy of the samples within the window, relative to the energy of the exchange",
    "total energy residual within the window, relative to the transferred energy"};

// ---------------------------------------------------------------------------------------------------------
// the verdict

static void judge_numbers(yoke_ledger_result* r) {
  const bool has_eps = !isnan(r->eps);
  const bool has_rter = r->has_ter && r->throughput > 0;
  r->verdict = YOKE_VERDICT_NONE;
  if ((has_eps && r->eps > YOKE_EPS_DOUBTFUL) || (has_rter && r->rter > YOKE_RTER_DOUBTFUL) ||
      r->rho_share > YOKE_RHO_SHARE) {
    r->verdict = YOKE_DOUBTFUL;
  }
  // a sample and the mean that a unit gets differ over a call also where both are right
  const bool is_proof = has_rter && r->bond->mu_origin != YOKE_MU_MEANS;
  if ((has_eps && !(r->eps <= EPS_WRONG)) || (is_proof && r->rter > RTER_WRONG) ||
      r->is_persistent || yoke__ledger_is_broken(r)) {
    r->verdict = YOKE_WRONG;
  }
}

// why a bond without any sign of an error is not judged
static const char* why_not_judged(const yoke_ledger_result* r) {
  static const char* const texts[] = {
      [YOKE_MU_BOTH_FEEDTHROUGH] = "energy not judged: both units have direct feedthrough, so the "
                                   "residual does not give the energy of a step",
      [YOKE_MU_IMPLICIT] = "energy not judged: a unit has an implicit solver, so the residual does "
                           "not give the energy of a step",
      [YOKE_MU_GAUSS_SEIDEL] = "energy not judged: under Gauss-Seidel the residual compares "
                               "samples of two different times",
      [YOKE_MU_ITERATIVE] = "energy not judged: an iterated exchange leaves no residual of samples",
      [YOKE_MU_MODEL] = "energy not judged: the inputs come from models of the units, so the "
                        "residual does not give the energy of a step",
      [YOKE_MU_MEANS] = "energy not judged: units get means of their inputs, so the residual does "
                        "not give the energy of a step",
      [YOKE_MU_NO_POWER] = "energy not judged",
  };
  const bool has_figure = !isnan(r->eps) || (r->has_ter && r->throughput > 0);
  const yoke_mu_origin origin = r->bond->mu_origin;
  return has_figure || origin <= YOKE_MU_GIVEN ? yoke__ledger_no_sign : texts[origin];
}

// ---------------------------------------------------------------------------------------------------------

static void result_of_heat(const yoke_book* book, yoke_ledger_result* out) {
  char lost[32], passed[32];
  out->passed = yoke__sum_value(&book->passed);
  out->throughput = yoke__sum_value(&book->passed_magnitude);
  out->created = out->eps = (double)NAN;
  snprintf(out->explanation, sizeof out->explanation,
           "heat balance: %s %s arrived than was sent, of %s (no verdict: heat flow times "
           "temperature is not a power)",
           yoke__energy_text(out->residual, lost, sizeof lost), out->residual < 0 ? "less" : "more",
           yoke__energy_text(out->throughput, passed, sizeof passed));
  memcpy(out->reason, out->explanation, sizeof out->reason);
}

// nothing of nothing is nothing
static double share_of(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

static void copy_ter(const yoke_ter* ter, yoke_ledger_result* out) {
  out->ter = yoke__ter_total(ter);
  out->net = yoke__sum_value(&ter->net);
  out->throughput = yoke__ter_throughput(ter);
  out->rter = share_of(out->ter, out->throughput);
  out->flow = ter->flow;
  out->effort = ter->effort;
  out->flow_defect = ter->flow_defect;
  out->effort_defect = ter->effort_defect;
  out->n_bad = ter->n_bad;
}

// The residual is energy that the coupling made: the loop has no source of its own, the mismatch has one sign, and so had
// its sum for long enough.
static bool is_proven(const yoke_book* book, const yoke_ledger_result* r) {
  return book->bond->is_autonomous && !book->is_written && book->has_mu && r->has_ter &&
         fabs(r->net) >= PROVEN_SHARE * r->ter && book->history != NULL &&
         yoke__history_sign(book->history) != 0;
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
                              .given = bond->has_ter && bond->kind == YOKE_BOND_POWER ? book->given
                                                                                      : (double)NAN,
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
  out->is_proven = is_proven(book, out);
  if (!yoke__is_finite(out->energy) || !yoke__is_finite(out->throughput)) {
    out->verdict = YOKE_WRONG;
    snprintf(out->explanation, sizeof out->explanation,
             "the transferred energy overflowed: the run diverged");
  } else if (out->energy <= 0 && out->throughput <= 0) {
    snprintf(out->explanation, sizeof out->explanation, "no energy was transferred");
  } else {
    judge_numbers(out);
    yoke__ledger_explain(out);
    if (out->verdict == YOKE_VERDICT_NONE) {
      snprintf(out->reason, sizeof out->reason, "%s", why_not_judged(out));
    }
  }
  if (out->reason[0] == '\0') {
    memcpy(out->reason, out->explanation, sizeof out->reason);
  }
}

static void result_of_all(const yoke_ledger* ledger, yoke_ledger_result* out) {
  *out = (yoke_ledger_result){.eps = (double)NAN, .created = (double)NAN, .given = (double)NAN};
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
    if (worst == ledger->n_bonds || one.verdict > out->verdict) {
      out->verdict = one.verdict;
      worst = i;
      snprintf(out->reason, sizeof out->reason, "%s", one.reason);
      snprintf(out->explanation, sizeof out->explanation, "%s", one.explanation);
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
