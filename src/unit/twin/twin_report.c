// What a person should know of a run: a filter that diverged, readings that do not fit, unknowns far from their guesses.
#include <stdio.h>

#include "base/base_message.h"
#include "unit/twin/twin_part.h"
#include "unit/unit.h"

static const char* reason_text(const twin* w, char to[160]) {
  const twin_state* s = w->state;
  switch ((yoke_estimate_reason)s->reason) {
  case YOKE_ESTIMATE_AT_BOUND:
    snprintf(to, 160, "%.60s stayed at its bound",
             s->culprit < 0 ? "an unknown" : w->unknown_texts[s->culprit].name);
    return to;
  case YOKE_ESTIMATE_LOST:
    snprintf(to, 160, "the readings of %.60s are far from what it expects",
             s->culprit < 0 ? "the sensors" : w->sensors[s->culprit].name);
    return to;
  case YOKE_ESTIMATE_NOT_POSITIVE:
    return "a variance of the estimates is not positive any more";
  case YOKE_ESTIMATE_SOUND:
  case YOKE_ESTIMATE_NOT_FINITE:
    break;
  }
  return "an estimate is not a finite number, or the network cannot be solved with it";
}

// Once: what the innovations show that model and noise do not make them.
static void report_innovations(twin* w, const yoke_sink* sink) {
  yoke_finding why;
  if (w->is_inconsistency_told || w->state->n_lost > 0 ||
      yoke__consistency_verdict(w->consistency, false, &why) != YOKE_TWIN_INCONSISTENT) {
    return;
  }
  w->is_inconsistency_told = true;
  const bool is_of_all = why.statistic == YOKE_STATISTIC_NIS;
  yoke__notify(
      sink, YOKE_WARNING,
      "the readings do not fit the model and its noise: of the innovations of %s the %s is "
      "%.3g, expected %.3g to %.3g",
      is_of_all ? "all sensors" : w->sensors[why.sensor].name, yoke__statistic_text(why.statistic),
      why.value, why.low, why.high);
}

// Once: the unknown that is furthest from its guess.
static void report_far(twin* w, const yoke_sink* sink) {
  double excursion = 0, value = 0, sd = 0;
  const bool is_told = w->is_far_told || w->state->n_lost > 0;
  const size_t far = is_told ? w->n_unknowns : yoke__twin_find_far(w, &excursion);
  if (far == w->n_unknowns) {
    return;
  }
  const twin_unknown* text = &w->unknown_texts[far];
  w->is_far_told = true;
  yoke__estimate_unknown(w->filter, far, &value, &sd);
  yoke__notify(sink, YOKE_WARNING,
               "the model or its guesses are wrong: the estimate of %s is %.6g, and %.6g was "
               "expected; that is %.0f times what its sd and walk allow",
               text->name, yoke__twin_value(text, value),
               yoke__twin_value(text, w->unknowns[far].start), excursion);
}

// Once, so that the report of the run has it.
static void report_apart(twin* w, const yoke_sink* sink) {
  for (size_t i = 0; i < w->n_apart && !w->is_apart_told; i++) {
    yoke__notify(sink, YOKE_NOTE, "%s", w->apart[i]);
  }
  w->is_apart_told = true;
}

void yoke__twin_report(twin* w, const yoke_sink* sink) {
  const twin_state* s = w->state;
  char text[160], more[64] = "";
  report_innovations(w, sink);
  report_far(w, sink);
  report_apart(w, sink);
  if (s->n_lost <= w->n_told) {
    return;
  }
  w->n_told = s->n_lost;
  if (s->n_lost > 1) {
    snprintf(more, sizeof more, " (%llu times so far)", (unsigned long long)s->n_lost);
  }
  yoke__notify(sink, YOKE_WARNING, "the filter diverged at t = %.9g s%s: %s; %s", s->lost_at, more,
               reason_text(w, text),
               s->is_open != 0 ? "from then on the outputs are those of the network without "
                                 "readings"
                               : "it started anew from its last good estimate");
}
