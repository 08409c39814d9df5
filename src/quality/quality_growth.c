// Growth alarm of n signals, side by side.
//
//   q_k = |y_k - y_(k-1)|            increments: offsets and slow ramps do not matter
//   Q_b = max of q over block b      blocks of n = 4, 8, 16, ... exchanges, while five of them fit into the run
//
// When block b >= 4 is complete, with g_j = ln(Q_(b-3+j) / Q_(b-4+j)), j = 0..3:
//
//   alarm  <=>  min g >= ln 1.5  and  sum g >= ln 100  and  g_3 >= 0.7 g_0
//               and  (b = 4  or  Q_b >= 10 max(Q_0 .. Q_(b-5)))          and no block of the five is 0
//
// Blocks of equal length see an exponential as constant growth, a power of t as falling growth (g_3 / g_0 = 0.32 from
// rest), so that ramps and smooth starts do not count. A block is made of two of the level below: the work per exchange
// does not grow with the number of levels. Values wait until there are several blocks of them: most exchanges only copy.
// Conditions are compared as ratios; a logarithm is only needed for signals that
// have already grown a hundredfold within the window.
//
// Own design. Page: docs/trust.md, "Growth".
#include "quality/quality_growth.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_map.h"
#include "base/base_number.h"

#define SHORTEST   YOKE_GROWTH_BLOCK  // YOKE_GROWTH_LATE is a multiple
#define N_WINDOW   5                  // blocks that the condition looks at
#define MAX_LEVELS 32                 // 4e10 exchanges
#define LEAST      1.5                // growth from block to block
#define LEAST_SUM  100.0              // growth over the window
#define STEADY     0.7                // the last growth over the first one
#define ABOVE      10.0               // the last block over everything before the window

// error band over scale up to which a growing signal is right: the plant itself is unstable then
#define MOST_RELATIVE 0.5

// One signal at one level. Blocks that are not there yet are 0, as if it had been at rest.
typedef struct yoke_growth_window {
  double blocks[N_WINDOW];  // oldest first
  double older;             // largest block before them
} window;

// What a signal is remembered by.
typedef struct yoke_growth_memory {
  uint64_t met;   // bit l: the last complete block of level l meets the condition
  int64_t at;     // exchange of the first alarm; 0: none yet
  int64_t level;  // of that alarm
  double first;   // largest increment of the first block of its window
  double last;    // and of the last one
} memory;

static int64_t block_length(size_t level) {
  return (int64_t)SHORTEST << level;
}

yoke_status yoke__growth_create(yoke_arena* arena, size_t n_signals, int64_t n_exchanges,
                                yoke_growth** out) {
  yoke_growth* g = yoke__arena_take(arena, sizeof *g);
  YOKE_TRY_MEMORY(g);
  g->n = n_signals;
  g->n_levels = 1;
  while (g->n_levels < MAX_LEVELS && block_length(g->n_levels) <= n_exchanges / N_WINDOW) {
    g->n_levels++;
  }
  g->rows = yoke__arena_array(arena, n_signals * (YOKE_GROWTH_LATE + 1) + 1, sizeof(double));
  g->largest = yoke__arena_array(arena, n_signals + 1, sizeof(double));
  g->memory = yoke__arena_array(arena, n_signals + 1, sizeof *g->memory);
  g->windows = yoke__arena_array(arena, n_signals * g->n_levels + 1, sizeof *g->windows);
  g->n_met = yoke__arena_array(arena, g->n_levels + 1, sizeof *g->n_met);
  *out = g;
  return yoke__arena_status(arena);
}

static void restart(yoke_growth* g, const double y[], const size_t at[]) {
  g->k = 0;
  g->n_rows = 0;
  g->n_latched = 0;
  memset(g->memory, 0, g->n * sizeof *g->memory);
  memset(g->windows, 0, g->n * g->n_levels * sizeof *g->windows);
  memset(g->n_met, 0, g->n_levels * sizeof *g->n_met);
  for (size_t i = 0; i < g->n; i++) {
    const double value = y[at == NULL ? i : at[i]];
    g->rows[i] = value;
    g->largest[i] = fabs(value);
  }
}

void yoke__growth_start(yoke_growth* g, const double y[]) {
  restart(g, y, NULL);
}

void yoke__growth_start_at(yoke_growth* g, const double y[], const size_t at[]) {
  restart(g, y, at);
}

// The condition for a signal whose last block is a hundred times the first of the window, which is not 0.
static bool is_growing(const window* w) {
  const double* q = w->blocks;
  for (int j = 1; j < N_WINDOW; j++) {
    if (!(q[j] >= LEAST * q[j - 1])) {
      return false;
    }
  }
  return q[N_WINDOW - 1] >= ABOVE * w->older &&
         log(q[N_WINDOW - 1] / q[N_WINDOW - 2]) >= STEADY * log(q[1] / q[0]);
}

// A signal that may meet the condition, or one that met it before.
static void judge(yoke_growth* g, size_t level, size_t i, bool may_grow) {
  const window* w = &g->windows[level * g->n + i];
  memory* m = &g->memory[i];
  const uint64_t bit = (uint64_t)1 << level;
  const bool is_met = may_grow && is_growing(w), was_met = (m->met & bit) != 0;
  if (is_met != was_met) {
    m->met ^= bit;
    g->n_met[level] += is_met ? 1 : (size_t)-1;
  }
  if (is_met && m->at == 0) {
    m->at = g->k;
    m->level = (int64_t)level;
    m->first = w->blocks[0];
    m->last = w->blocks[N_WINDOW - 1];
    g->n_latched++;
  }
}

// One more block of a signal at a level. Returns whether it has grown a hundredfold in the window.
static inline bool append(window* w, double q) {
  const double leaving = w->blocks[0], first = w->blocks[1];
  w->older = leaving > w->older ? leaving : w->older;
  w->blocks[0] = first;
  w->blocks[1] = w->blocks[2];
  w->blocks[2] = w->blocks[3];
  w->blocks[3] = w->blocks[4];
  w->blocks[4] = q;
  return q >= LEAST_SUM * first && first > 0;
}

static double larger(double a, double b) {
  return a > b ? a : b;
}

// The block of the lowest level from its values and the one before them.
static void complete_shortest(yoke_growth* g, const double rows[]) {
  const bool has_met = g->n_met[0] > 0;
  const size_t n = g->n;
  for (size_t i = 0; i < n; i++) {
    const double y0 = rows[i], y1 = rows[n + i], y2 = rows[2 * n + i], y3 = rows[3 * n + i],
                 y4 = rows[4 * n + i];
    const double q =
        larger(larger(fabs(y1 - y0), fabs(y2 - y1)), larger(fabs(y3 - y2), fabs(y4 - y3)));
    const double y = larger(larger(fabs(y1), fabs(y2)), larger(fabs(y3), fabs(y4)));
    g->largest[i] = larger(y, g->largest[i]);
    // the increment of two finite values may overflow
    const bool may_grow = append(&g->windows[i], q < DBL_MAX ? q : DBL_MAX);
    if (may_grow || has_met) {
      judge(g, 0, i, may_grow);
    }
  }
}

static void complete_longer(yoke_growth* g, size_t level) {
  const bool has_met = g->n_met[level] > 0;
  const window* below = g->windows + (level - 1) * g->n;
  window* windows = g->windows + level * g->n;
  for (size_t i = 0; i < g->n; i++) {
    const bool may_grow = append(&windows[i], larger(below[i].blocks[3], below[i].blocks[4]));
    if (may_grow || has_met) {
      judge(g, level, i, may_grow);
    }
  }
}

bool yoke__growth_complete(yoke_growth* g) {
  const size_t n_latched = g->n_latched, n_blocks = g->n_rows / SHORTEST;
  for (size_t b = 0; b < n_blocks; b++) {
    g->k += SHORTEST;
    complete_shortest(g, g->rows + b * SHORTEST * g->n);
    for (size_t level = 1; level < g->n_levels && (g->k & (block_length(level) - 1)) == 0;
         level++) {
      complete_longer(g, level);
    }
  }
  g->n_rows -= n_blocks * SHORTEST;
  memmove(g->rows, g->rows + n_blocks * SHORTEST * g->n, (g->n_rows + 1) * g->n * sizeof *g->rows);
  return g->n_latched > n_latched;
}

// Largest increment of the last complete block of the lowest level.
static double last_block(const yoke_growth* g, size_t i) {
  return g->windows[i].blocks[N_WINDOW - 1];
}

void yoke__growth_result(yoke_growth* g, size_t i, yoke_growth_alarm* out) {
  (void)yoke__growth_complete(g);
  const memory* m = &g->memory[i];
  const bool is_finite = isfinite(g->rows[g->n_rows * g->n + i]);
  double largest = g->largest[i];
  for (size_t k = 1; k <= g->n_rows; k++) {
    largest = larger(fabs(g->rows[k * g->n + i]), largest);
  }
  *out = (yoke_growth_alarm){.is_latched = m->at > 0 || !is_finite,
                             .is_active = m->met != 0 || !is_finite,
                             .at = g->k + (int64_t)g->n_rows,
                             .factor = 1,
                             .rate = 1,
                             .total = 1,
                             .largest = is_finite ? largest : (double)INFINITY};
  if (m->at > 0) {
    const int64_t n = block_length((size_t)m->level);
    out->at = m->at;
    out->from = m->at - N_WINDOW * n;
    out->n = (N_WINDOW - 1) * n;
    out->factor = m->last / m->first;
    out->rate = exp((log(m->last) - log(m->first)) / (double)out->n);
    out->total = last_block(g, i) / m->first;
  }
}

bool yoke__growth_is_active(const yoke_growth* g, size_t i) {
  return g->memory[i].met != 0;
}

void yoke__growth_forget(yoke_growth* g, size_t i) {
  memory* m = &g->memory[i];
  for (size_t level = 0; level < g->n_levels; level++) {
    g->n_met[level] -= (m->met >> level) & 1;
    g->windows[level * g->n + i] = (window){0};
  }
  g->n_latched -= m->at > 0;
  *m = (memory){0};
}

size_t yoke__growth_find(yoke_growth* g, double factor) {
  (void)yoke__growth_complete(g);
  for (size_t i = 0; g->n_latched > 0 && i < g->n; i++) {
    if (g->memory[i].at > 0 && last_block(g, i) > factor * g->memory[i].first) {
      return i;
    }
  }
  return YOKE_NOT_FOUND;
}

bool yoke__growth_is_diverged(const yoke_growth_alarm* alarm, double relative) {
  return !(alarm->largest <= YOKE_GROWTH_LARGEST) ||
         (alarm->is_active && !(relative <= MOST_RELATIVE));
}

void yoke__growth_text(const yoke_growth_alarm* alarm, const char* name, double t_from, double t_to,
                       char* to, size_t size) {
  char factor[YOKE_NUMBER_SIZE];
  if (alarm->n > 0) {
    // rounded as in the verdict
    snprintf(to, size,
             "%s diverges: it grew %s times within %lld exchanges, from t = %.9g s to t = %.9g s, "
             "and reached %.3g",
             name, yoke__number_brief(alarm->factor, factor), (long long)alarm->n, t_from, t_to,
             alarm->largest);
  } else {
    snprintf(to, size, "%s diverges: it reached %.3g", name, alarm->largest);
  }
}

void yoke__growth_image(yoke_growth* g, yoke_image* image) {
  YOKE_IMAGE_VALUE(image, g->k);
  YOKE_IMAGE_VALUE(image, g->n_latched);
  YOKE_IMAGE_VALUE(image, g->n_rows);
  yoke__image_part(image, g->rows, g->n * (YOKE_GROWTH_LATE + 1) * sizeof(double));
  yoke__image_part(image, g->largest, g->n * sizeof(double));
  yoke__image_part(image, g->memory, g->n * sizeof *g->memory);
  yoke__image_part(image, g->windows, g->n * g->n_levels * sizeof *g->windows);
  yoke__image_part(image, g->n_met, g->n_levels * sizeof *g->n_met);
}
