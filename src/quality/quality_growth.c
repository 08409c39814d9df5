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
// does not grow with the number of levels. Conditions are compared as ratios; a logarithm is only needed for signals that
// have already grown a hundredfold within the window.
//
// Source: trust specification, section 4.
#include "quality/quality_growth.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_map.h"

#define SHORTEST   4      // exchanges of the shortest block
#define N_WINDOW   5      // blocks that the condition looks at
#define MAX_LEVELS 32     // 4e10 exchanges
#define LEAST      1.5    // growth from block to block
#define LEAST_SUM  100.0  // growth over the window
#define STEADY     0.7    // the last growth over the first one
#define ABOVE      10.0   // the last block over everything before the window

// error band over scale up to which a growing signal is right: the plant itself is unstable then
#define MOST_RELATIVE 0.5

// What every exchange changes.
typedef struct recent {
  double y;        // last value
  double block;    // largest increment of the block that is not complete yet
  double largest;  // |y|
} recent;

// One signal at one level. Blocks that are not there yet are 0, as if it had been at rest.
typedef struct window {
  double blocks[N_WINDOW];  // oldest first
  double older;             // largest block before them
} window;

// What a signal is remembered by.
typedef struct memory {
  uint64_t met;   // bit l: the last complete block of level l meets the condition
  int64_t at;     // exchange of the first alarm; 0: none yet
  int64_t level;  // of that alarm
  double first;   // largest increment of the first block of its window
  double last;    // and of the last one
} memory;

struct yoke_growth {
  size_t n;
  size_t n_levels;
  recent* recent;   // n
  window* windows;  // per level n
  memory* memory;   // n
  size_t* n_met;    // per level: signals whose last block meets the condition
  int64_t k;        // exchanges seen
  size_t n_latched;
};

static int64_t block_length(size_t level) {
  return (int64_t)SHORTEST << level;
}

yoke_status yoke__growth_create(yoke_arena* arena, size_t n_signals, int64_t n_exchanges,
                                yoke_growth** out) {
  yoke_growth* g = yoke__arena_take(arena, sizeof *g);
  YOKE_TRY_MEMORY(g);
  g->n = n_signals;
  while (g->n_levels < MAX_LEVELS && block_length(g->n_levels) <= n_exchanges / N_WINDOW) {
    g->n_levels++;
  }
  g->recent = yoke__arena_array(arena, n_signals + 1, sizeof *g->recent);
  g->memory = yoke__arena_array(arena, n_signals + 1, sizeof *g->memory);
  g->windows = yoke__arena_array(arena, n_signals * g->n_levels + 1, sizeof *g->windows);
  g->n_met = yoke__arena_array(arena, g->n_levels + 1, sizeof *g->n_met);
  *out = g;
  return yoke__arena_status(arena);
}

static void restart(yoke_growth* g, const double y[], const size_t at[]) {
  g->k = 0;
  g->n_latched = 0;
  memset(g->memory, 0, g->n * sizeof *g->memory);
  memset(g->windows, 0, g->n * g->n_levels * sizeof *g->windows);
  memset(g->n_met, 0, g->n_levels * sizeof *g->n_met);
  for (size_t i = 0; i < g->n; i++) {
    const double value = y[at == NULL ? i : at[i]];
    g->recent[i] = (recent){.y = value, .largest = fabs(value)};
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

static void complete_shortest(yoke_growth* g) {
  const bool has_met = g->n_met[0] > 0;
  for (size_t i = 0; i < g->n; i++) {
    const double q = g->recent[i].block;
    g->recent[i].block = 0;
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
    const double a = below[i].blocks[3], b = below[i].blocks[4];
    const bool may_grow = append(&windows[i], a > b ? a : b);
    if (may_grow || has_met) {
      judge(g, level, i, may_grow);
    }
  }
}

static bool complete_blocks(yoke_growth* g) {
  const size_t n_latched = g->n_latched;
  if (g->n_levels > 0) {
    complete_shortest(g);
  }
  for (size_t level = 1; level < g->n_levels && (g->k & (block_length(level) - 1)) == 0; level++) {
    complete_longer(g, level);
  }
  return g->n_latched > n_latched;
}

static inline void observe(recent* r, double y) {
  const double q = fabs(y - r->y), size = fabs(y);
  r->y = y;
  r->block = q > r->block ? q : r->block;
  r->largest = size > r->largest ? size : r->largest;
}

// Returns whether an alarm came.
static inline bool count_exchange(yoke_growth* g) {
  const int64_t k = ++g->k;
  return (k & (SHORTEST - 1)) == 0 && complete_blocks(g);
}

bool yoke__growth_observe(yoke_growth* g, const double y[]) {
  for (size_t i = 0; i < g->n; i++) {
    observe(&g->recent[i], y[i]);
  }
  return count_exchange(g);
}

bool yoke__growth_observe_at(yoke_growth* g, const double y[], const size_t at[]) {
  for (size_t i = 0; i < g->n; i++) {
    observe(&g->recent[i], y[at[i]]);
  }
  return count_exchange(g);
}

// Largest increment of the last complete block of the lowest level.
static double last_block(const yoke_growth* g, size_t i) {
  return g->windows[i].blocks[N_WINDOW - 1];
}

void yoke__growth_result(const yoke_growth* g, size_t i, yoke_growth_alarm* out) {
  const memory* m = &g->memory[i];
  const bool is_finite = isfinite(g->recent[i].y);
  *out = (yoke_growth_alarm){.is_latched = m->at > 0 || !is_finite,
                             .is_active = m->met != 0 || !is_finite,
                             .at = g->k,
                             .factor = 1,
                             .rate = 1,
                             .total = 1,
                             .largest = is_finite ? g->recent[i].largest : (double)INFINITY};
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

size_t yoke__growth_find(const yoke_growth* g, double factor) {
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
  if (alarm->n > 0) {
    snprintf(
        to, size,
        "%s diverges: it grew %.3g times within %lld exchanges, from t = %.9g s to t = %.9g s, "
        "and reached %.3g",
        name, alarm->factor, (long long)alarm->n, t_from, t_to, alarm->largest);
  } else {
    snprintf(to, size, "%s diverges: it reached %.3g", name, alarm->largest);
  }
}

void yoke__growth_image(yoke_growth* g, yoke_image* image) {
  YOKE_IMAGE_VALUE(image, g->k);
  YOKE_IMAGE_VALUE(image, g->n_latched);
  yoke__image_part(image, g->recent, g->n * sizeof *g->recent);
  yoke__image_part(image, g->memory, g->n * sizeof *g->memory);
  yoke__image_part(image, g->windows, g->n * g->n_levels * sizeof *g->windows);
  yoke__image_part(image, g->n_met, g->n_levels * sizeof *g->n_met);
}
