// What the ledger says in words. It explains where the error of a bond comes from; how large the error of a signal is, is
// shown by its band. Energy counts as created only where that is proven (docs/ledger.md, "Sentences").
#ifndef YOKE_QUALITY_EXPLAIN_H
#define YOKE_QUALITY_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "quality/quality_ledger.h"

// "12.3 kJ" without its sign; "more than 1e12 J" above that.
const char* yoke__energy_text(double joule, char* to, size_t size);

// Above these a bond is doubtful by its energy alone (quality_verdict.c).
#define YOKE_EPS_DOUBTFUL  0.01
#define YOKE_RTER_DOUBTFUL 0.05
#define YOKE_RHO_SHARE     0.05

// The two ends disagree by more than what passes.
bool yoke__ledger_is_broken(const yoke_ledger_result* result);
// The sentence of a power bond whose figures are complete.
void yoke__ledger_explain(yoke_ledger_result* result);

// Energy given to `unit` through `bond` (yoke_ledger_result.given) in a run and in its companion with half the steps [J]:
//   dW = 2 (given - given_half)
// "about 17.1 J too little energy reached arm through piston, of 3.4 kJ transferred", or that it is right within 0.5 %.
// Returns dW; NaN, and an empty text, if a number is not known.
double yoke__ledger_explain_given(const char* bond, const char* unit, double given,
                                  double given_half, double throughput, char* to, size_t size);

#endif
