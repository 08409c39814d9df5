// Bisection for walks that make the innovation white.
#include "estimate/estimate_whiten.h"

#include <math.h>
#include <string.h>

#include "estimate/estimate_innovation.h"

#define STRIDE                                                                                     \
  3.1622776601683795  // factor between runs until the answer is between two: 10 in the variance

enum { EIGHTH = 16 };

#define FEWEST ((size_t)2 * YOKE_WHITE_SEGMENT)  // samples behind the start-up

yoke_whiten_settings yoke__whiten_default(void) {
  return (yoke_whiten_settings){.smallest = 1e-6, .largest = 1e6, .tolerance = 0.02, .n_skip = 500};
}

// ---- search

typedef struct search {
  double (*ratio)(void* to, double factor);
  void* to;
  yoke_whiten_result* result;
} search;

static bool is_too_small(const search* s, double factor) {
  const double ratio = s->ratio(s->to, factor);
  s->result->n_runs++;
  s->result->factor = factor;
  s->result->ratio = ratio;

  // low / high above 1, or NaN: the walk is too small
  return !(ratio <= 1);
}

void yoke__whiten_search(double (*ratio)(void* to, double factor), void* to,
                         const yoke_whiten_settings* settings, yoke_whiten_result* result) {
  const search s = {ratio, to, result};
  memset(result, 0, sizeof *result);
  double low = 1, high = 1;

  // the ratio falls as the walks grow
  // up or down until the answer is between low and high
  if (is_too_small(&s, 1)) {
    do {
      if (high >= settings->largest) {
        result->end = YOKE_WHITEN_ALL_TOO_SMALL;
        return;
      }
      low = high;
      high = fmin(high * STRIDE, settings->largest);
    } while (is_too_small(&s, high));
  } else {
    do {
      if (low <= settings->smallest) {
        result->end = YOKE_WHITEN_ALL_TOO_LARGE;
        return;
      }
      high = low;
      low = fmax(low / STRIDE, settings->smallest);
    } while (!is_too_small(&s, low));
  }

  // bisection in the logarithm
  while (high > low * (1 + settings->tolerance)) {
    const double middle = sqrt(low * high);
    *(is_too_small(&s, middle) ? &low : &high) = middle;
  }
  // a run that failed is no answer
  if (isnan(result->ratio)) {
    is_too_small(&s, high);
  }
  result->end = YOKE_WHITEN_FOUND;
}

// ---- over a record

typedef struct runs {
  yoke_estimate_setup setup;
  const yoke_estimate_record* record;
  size_t end, n_skip;
  yoke_unknown* unknowns;  // of the setup, with other walks
  const yoke_unknown* given;
  yoke_white* whites;  // of the sensors
  const yoke_sink* sink;
  yoke_status status;  // of what no other factor can mend
} runs;

static void add_innovations(const runs* s, const yoke_estimate* f) {
  for (size_t i = 0; i < s->setup.n_sensors; i++) {
    double innovation, sd;
    yoke__estimate_innovation(f, i, &innovation, &sd);
    yoke__white_add(&s->whites[i], innovation / sd);
  }
}

static yoke_status run_filter(const runs* s, yoke_estimate* f) {
  const yoke_estimate_record* record = s->record;
  const size_t r = s->setup.network->n_inputs, n_sensors = s->setup.n_sensors;
  YOKE_TRY(yoke__estimate_start(f, record->z, record->v + record->first * r));
  for (size_t k = record->first; k < s->end; k++) {
    const double* v = record->v + k * r;
    YOKE_TRY(yoke__estimate_correct(f, v, record->readings + k * n_sensors, NULL));
    // the start-up is left out
    if (k >= record->first + s->n_skip) {
      add_innovations(s, f);
    }
    YOKE_TRY(yoke__estimate_predict(f, yoke__record_line(record, r, k),
                                    yoke__record_slope(record, r, k)));
  }
  return YOKE_OK;
}

// Periodograms of all sensors together.
static double pooled_ratio(const runs* s) {
  double low = 0, high = 0;
  for (size_t i = 0; i < s->setup.n_sensors; i++) {
    const yoke_white_sums* sums = &s->whites[i].sums;
    // lowest and highest eighth of the bins
    for (size_t k = 0; k < EIGHTH; k++) {
      low += sums->spectrum[k];
      high += sums->spectrum[YOKE_WHITE_BINS - 1 - k];
    }
  }
  return low / high;
}

static double chance_of_ratio(const runs* s) {
  double n_segments = 0;
  for (size_t i = 0; i < s->setup.n_sensors; i++) {
    n_segments += (double)s->whites[i].sums.n_segments;
  }

  // sd of ln(low / high): sqrt(2 / (16 K)), K segments of all sensors
  return n_segments > 0 ? sqrt(2 / (EIGHTH * n_segments)) : 0;
}

static double ratio_of_run(void* to, double factor) {
  runs* s = to;
  yoke_arena arena = {0};
  yoke_estimate* f = NULL;
  for (size_t j = 0; j < s->setup.n_unknowns; j++) {
    const bool is_input = s->given[j].kind == YOKE_UNKNOWN_INPUT;
    // all walks of unknown inputs by one factor: their ratios are the user's
    s->unknowns[j].walk = s->given[j].walk * (is_input ? factor : 1);
  }
  for (size_t i = 0; i < s->setup.n_sensors; i++) {
    yoke__white_clear(&s->whites[i]);
  }

  // whatever prevents the filter from being prepared has been said; after that its failure counts as too stiff
  s->status = s->status < 0 ? s->status : yoke__estimate_prepare(&s->setup, &arena, &f, s->sink);
  const bool is_run = s->status >= 0 && run_filter(s, f) >= 0;
  yoke__arena_free(&arena);
  return is_run ? pooled_ratio(s) : (double)NAN;
}

static bool has_walk(const yoke_estimate_setup* setup) {
  for (size_t j = 0; j < setup->n_unknowns; j++) {
    if (setup->unknowns[j].kind == YOKE_UNKNOWN_INPUT && setup->unknowns[j].walk > 0) {
      return true;
    }
  }
  return false;
}

yoke_status yoke__whiten(const yoke_estimate_setup* setup, const yoke_estimate_record* record,
                         const yoke_whiten_settings* settings, yoke_whiten_result* result,
                         const yoke_sink* sink) {
  const size_t end = record->end > 0 && record->end < record->n ? record->end : record->n;
  const size_t fewest = FEWEST + settings->n_skip;
  if (!has_walk(setup)) {
    return yoke_fail(sink, YOKE_BAD_ARG,
                     "no unknown input drifts: give one a walk, which is scaled then");
  }
  if (end < record->first + fewest) {
    return yoke_fail(sink, YOKE_BAD_ARG, "the record needs %zu steps, there are %zu", fewest,
                     end > record->first ? end - record->first : 0);
  }

  yoke_arena arena = {0};
  runs s = {.setup = *setup,
            .record = record,
            .end = end,
            .n_skip = settings->n_skip,
            .given = setup->unknowns,
            .sink = sink};
  s.unknowns = yoke__arena_array(&arena, setup->n_unknowns, sizeof *s.unknowns);
  s.whites = yoke__arena_array(&arena, setup->n_sensors, sizeof *s.whites);
  s.status = yoke__arena_status(&arena);
  if (s.status >= 0) {
    memcpy(s.unknowns, setup->unknowns, setup->n_unknowns * sizeof *s.unknowns);
    s.setup.unknowns = s.unknowns;
    yoke__whiten_search(ratio_of_run, &s, settings, result);
    result->sd = chance_of_ratio(&s);
  }
  yoke__arena_free(&arena);
  return s.status;
}
