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

// Exchanges of the shortest block: what a block brings to light is known after so many.
#define YOKE_GROWTH_BLOCK 4

// Alarms are found at most so many exchanges late; what is said of them is the same.
#define YOKE_GROWTH_LATE 64

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
typedef struct yoke_growth {
  size_t n;
  double* rows;     // values that are in no block yet, n side by side: row 0 ends the last block
  size_t n_rows;    // behind row 0, up to YOKE_GROWTH_LATE
  double* largest;  // n: |y| in all blocks
  size_t n_levels;
  struct yoke_growth_window* windows;  // per level n
  struct yoke_growth_memory* memory;   // n
  size_t* n_met;                       // per level: signals whose last block meets the condition
  int64_t k;                           // exchanges in blocks
  size_t n_latched;
} yoke_growth;

// n_exchanges: of the whole run; more are allowed, then the longest blocks are missing.
yoke_status yoke__growth_create(yoke_arena* arena, size_t n_signals, int64_t n_exchanges,
                                yoke_growth** out);
// The values of all signals at exchange 0; forgets everything else.
void yoke__growth_start(yoke_growth* g, const double y[]);
// The same of signals that lie at these places of y.
void yoke__growth_start_at(yoke_growth* g, const double y[], const size_t at[]);
// All values so far that make whole blocks go into them. True if an alarm was found.
bool yoke__growth_complete(yoke_growth* g);

// The values of the next exchange. No heap; bounded time. True if the alarm of a signal was found.
static inline bool yoke__growth_observe(yoke_growth* g, const double y[]) {
  double* row = g->rows + ++g->n_rows * g->n;
  for (size_t i = 0; i < g->n; i++) {
    row[i] = y[i];
  }
  return g->n_rows == YOKE_GROWTH_LATE && yoke__growth_complete(g);
}

static inline bool yoke__growth_observe_at(yoke_growth* g, const double y[], const size_t at[]) {
  double* row = g->rows + ++g->n_rows * g->n;
  for (size_t i = 0; i < g->n; i++) {
    row[i] = y[at[i]];
  }
  return g->n_rows == YOKE_GROWTH_LATE && yoke__growth_complete(g);
}

void yoke__growth_result(yoke_growth* g, size_t i, yoke_growth_alarm* out);
// Does the last complete block of some length meet the condition?
bool yoke__growth_is_active(const yoke_growth* g, size_t i);
// Signal i starts anew with the next block, as if it had been at rest: its alarm can come again.
void yoke__growth_forget(yoke_growth* g, size_t i);
// The first signal that has grown more than `factor` times since its alarm's window began, as of the last complete block;
// YOKE_NOT_FOUND: none.
size_t yoke__growth_find(yoke_growth* g, double factor);
// Rule 1 of the verdict: has a signal diverged? relative: its error band over its scale; NaN: there is no estimate, and an
// alarm that is active at the end decides.
bool yoke__growth_is_diverged(const yoke_growth_alarm* alarm, double relative);
// A sentence about a signal that has: "plant.y diverges: it grew 220 times within 16 exchanges ..."; times of the window [s].
void yoke__growth_text(const yoke_growth_alarm* alarm, const char* name, double t_from, double t_to,
                       char* to, size_t size);
// Saves or restores everything that changes.
void yoke__growth_image(yoke_growth* g, yoke_image* image);

#endif
