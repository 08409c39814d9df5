// Growth alarm: finds signals that diverge, whatever their unit and scale, from their values at exchange points alone.
// What it means is in docs/trust.md; the formula stands in quality_growth.c.
#ifndef YOKE_QUALITY_GROWTH_H
#define YOKE_QUALITY_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base_arena.h"
#include "base/base_image.h"

// Above this a value counts as diverged, whatever it did before.
#define YOKE_GROWTH_LARGEST 1e100

// What is known of one signal.
typedef struct yoke_growth_alarm {
  bool is_latched;  // the alarm came at least once
  bool
      is_active;  // the last complete block of some length meets the condition, or the last value is not finite
  int64_t at;      // exchange at which it came first
  int64_t from;    // exchange at which its window begins
  double factor;   // by which the increments grew in that window,
  int64_t n;       // within so many exchanges,
  double rate;     // which is so much per exchange
  double total;    // growth from the beginning of that window to now
  double largest;  // |y| of the whole run
} yoke_growth_alarm;

// The alarms of several signals that are exchanged together.
typedef struct yoke_growth yoke_growth;

// n_exchanges: of the whole run; more are allowed, then the longest blocks are missing.
yoke_status yoke__growth_create(yoke_arena* arena, size_t n_signals, int64_t n_exchanges,
                                yoke_growth** out);
// The values of all signals at exchange 0; forgets everything else.
void yoke__growth_start(yoke_growth* growth, const double y[]);
// Those of the next exchange. No heap; bounded time. True if the alarm of a signal came for the first time.
bool yoke__growth_observe(yoke_growth* growth, const double y[]);

// The same of signals that lie at these places of y.
void yoke__growth_start_at(yoke_growth* growth, const double y[], const size_t at[]);
bool yoke__growth_observe_at(yoke_growth* growth, const double y[], const size_t at[]);

void yoke__growth_result(const yoke_growth* growth, size_t signal, yoke_growth_alarm* out);
// The first signal that has grown more than `factor` times since its alarm's window began, as of the last complete block;
// YOKE_NOT_FOUND: none.
size_t yoke__growth_find(const yoke_growth* growth, double factor);
// Rule 1 of the verdict: has a signal diverged? relative: its error band over its scale; NaN: there is no estimate, and an
// alarm that is active at the end decides.
bool yoke__growth_is_diverged(const yoke_growth_alarm* alarm, double relative);
// A sentence about a signal that has: "plant.y diverges: it grew 220 times within 16 exchanges ..."; times of the window [s].
void yoke__growth_text(const yoke_growth_alarm* alarm, const char* name, double t_from, double t_to,
                       char* to, size_t size);
// Saves or restores everything that changes.
void yoke__growth_image(yoke_growth* growth, yoke_image* image);

#endif
