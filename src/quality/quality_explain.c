#include "quality/quality_explain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"

#define MOST_ENERGY  1e12   // [J] beyond it a number says no more than that the run diverged
#define RIGHT_WITHIN 0.005  // of the throughput
#define PARTS_BROKEN 1      // defects as large as what passes

const char* yoke__energy_text(double joule, char* to, size_t size) {
  static const char* const prefixes[] = {"n", "u", "m", "", "k", "M", "G"};
  double x = fabs(joule);
  int i = 3;
  if (x > MOST_ENERGY) {
    snprintf(to, size, "more than 1e12 J");
    return to;
  }
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

// "about 12.3 kJ"; what is above the largest number is no estimate any more
static const char* about(double joule, char* to, size_t size) {
  char energy[32];
  yoke__energy_text(joule, energy, sizeof energy);
  snprintf(to, size, "%s%s", fabs(joule) > MOST_ENERGY ? "" : "about ", energy);
  return to;
}

bool yoke__ledger_is_broken(const yoke_ledger_result* r) {
  return r->has_ter && r->throughput > 0 && r->flow + r->effort > PARTS_BROKEN * r->throughput;
}

// "the two ends of spring disagree by 6.2 kJ of 368 kJ transferred energy (1.7 %), mostly in the rate"
static void explain_mismatch(yoke_ledger_result* r) {
  char ter[32], throughput[32];
  const char* where = r->ter <= 0           ? ""
                      : r->flow > r->effort ? ", mostly in the rate"
                                            : ", mostly in the action";
  yoke__energy_text(r->throughput, throughput, sizeof throughput);
  if (r->ter > MOST_ENERGY) {
    snprintf(r->explanation, sizeof r->explanation,
             "the two ends of %.80s disagree by %.3g %% of the transferred energy (%s)%s",
             r->bond->name, 100 * r->rter, throughput, where);
    return;
  }
  snprintf(r->explanation, sizeof r->explanation,
           "the two ends of %.80s disagree by %s of %s transferred energy (%.3g %%)%s",
           r->bond->name, yoke__energy_text(r->ter, ter, sizeof ter), throughput, 100 * r->rter,
           where);
}

// The residual of the samples is the largest sign of an error, but it proves no energy.
static void add_residual(yoke_ledger_result* r) {
  char energy[32];
  const size_t used = strlen(r->explanation);
  snprintf(r->explanation + used, sizeof r->explanation - used,
           "%sthe residual of its samples adds up to %.3g %% of the energy of the exchange (%s)",
           used == 0 ? "" : "; ", 100 * r->eps,
           yoke__energy_text(r->energy, energy, sizeof energy));
}

static void explain_energy(yoke_ledger_result* r) {
  char created[48], energy[32], gross[32];
  yoke__energy_text(r->created, created, sizeof created);
  yoke__energy_text(r->energy, energy, sizeof energy);
  if (r->bond->is_corrected) {
    snprintf(r->explanation, sizeof r->explanation,
             "after correction %s of %s remain (allowing 10 %% error of the correction: up to %.3g "
             "%% of the energy of the exchange, %s)",
             created, yoke__energy_text(r->bond->mu * r->residual, gross, sizeof gross),
             100 * r->eps, energy);
  } else {
    snprintf(r->explanation, sizeof r->explanation,
             "the coupling %s %s, %.3g %% of the energy of the exchange (%s)",
             r->created < 0 ? "removed" : "created", about(r->created, created, sizeof created),
             100 * r->eps, energy);
  }
}

void yoke__ledger_explain(yoke_ledger_result* r) {
  const bool has_rter = r->has_ter && r->throughput > 0, has_eps = !isnan(r->eps);
  const double by_eps = has_eps ? r->eps / YOKE_EPS_DOUBTFUL : 0;
  const double by_ter = has_rter ? r->rter / YOKE_RTER_DOUBTFUL : 0;
  if (r->is_persistent) {
    snprintf(r->explanation, sizeof r->explanation,
             "the coupling error is as large as the power itself (rho up to %.2g at t = %.4g s): "
             "the loop oscillates or is unstable",
             r->rho_worst, r->t_rho_worst);
  } else if (yoke__ledger_is_broken(r)) {
    snprintf(r->explanation, sizeof r->explanation,
             "the coupling is unstable: the mismatch between its two ends is %.3g times the "
             "transferred energy",
             (r->flow + r->effort) / r->throughput);
  } else if (has_eps && (r->is_proven || r->bond->is_corrected) && by_eps >= by_ter) {
    explain_energy(r);
  } else if (by_eps <= 1 && by_ter <= 1 && r->rho_share > YOKE_RHO_SHARE) {
    snprintf(r->explanation, sizeof r->explanation,
             "the exchange is too slow for these signals: rho is above 0.25 in %.3g %% of the "
             "samples (up to %.2g at t = %.4g s)",
             100 * r->rho_share, r->rho_worst, r->t_rho_worst);
  } else {
    if (has_rter) {
      explain_mismatch(r);
    }
    if (has_eps && (!has_rter || (by_eps > 1 && by_eps > by_ter))) {
      add_residual(r);
    }
  }
}

double yoke__ledger_explain_given(const char* bond, const char* unit, double given,
                                  double given_half, double throughput, char* to, size_t size) {
  const double change = 2 * (given - given_half);
  char energy[48], passed[32], share[64] = "where none was transferred";
  if (!yoke__is_finite(change) || !yoke__is_finite(throughput)) {
    snprintf(to, size, "%s", "");
    return (double)NAN;
  }
  if (fabs(change) > RIGHT_WITHIN * throughput) {
    if (throughput > 0) {
      snprintf(share, sizeof share, "of %s transferred",
               yoke__energy_text(throughput, passed, sizeof passed));
    }
    snprintf(to, size, "%s too %s energy reached %.80s through %.80s, %s",
             about(change, energy, sizeof energy), change > 0 ? "much" : "little", unit, bond,
             share);
  } else {
    snprintf(to, size, "the energy through %.80s is right within 0.5 %%", bond);
  }
  return change;
}
