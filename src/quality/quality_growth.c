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
#include <string.h>

#include "base/base_map.h"

#define SHORTEST   4  // exchanges of the shortest block
#define N_WINDOW   5  // blocks that the condition looks at
#define MAX_LEVELS 60
#define LEAST      1.5    // growth from block to block
#define LEAST_SUM  100.0  // growth over the window
#define STEADY     0.7    // the last growth over the first one
#define ABOVE      10.0   // the last block over everything before the window

// What every exchange changes.
typedef struct recent {
  double y;        // last value
  double block;    // largest increment of the block that is not complete yet
  double largest;  // |y|
} recent;

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
  recent* recent;  // n
  memory* memory;  // n
  double* blocks;  // per level N_WINDOW rows of n: block b lies in row b % N_WINDOW
  double* older;   // per level one row of n: largest block before the window
  int64_t k;       // exchanges seen
  size_t n_latched;
};

static int64_t block_length(size_t level) {
  return (int64_t)SHORTEST << level;
}

static double* row_of(const yoke_growth* g, size_t level, int64_t block) {
  return g->blocks + (level * N_WINDOW + (size_t)(block % N_WINDOW)) * g->n;
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
  g->blocks = yoke__arena_array(arena, n_signals * N_WINDOW * g->n_levels + 1, sizeof(double));
  g->older = yoke__arena_array(arena, n_signals * g->n_levels + 1, sizeof(double));
  *out = g;
  return yoke__arena_status(arena);
}

void yoke__growth_start(yoke_growth* g, const double y[]) {
  g->k = 0;
  g->n_latched = 0;
  memset(g->memory, 0, g->n * sizeof *g->memory);
  memset(g->blocks, 0, g->n * N_WINDOW * g->n_levels * sizeof(double));
  memset(g->older, 0, g->n * g->n_levels * sizeof(double));
  for (size_t i = 0; i < g->n; i++) {
    g->recent[i] = (recent){.y = y[i], .largest = fabs(y[i])};
  }
}

// The condition for a signal whose last block is a hundred times the first of the window, which is not 0.
static bool is_growing(const yoke_growth* g, size_t level, int64_t b, size_t i) {
  double q[N_WINDOW];
  for (int j = 0; j < N_WINDOW; j++) {
    q[j] = row_of(g, level, b - (N_WINDOW - 1) + j)[i];
  }
  for (int j = 1; j < N_WINDOW; j++) {
    if (!(q[j] >= LEAST * q[j - 1])) {
      return false;
    }
  }
  return q[N_WINDOW - 1] >= ABOVE * g->older[level * g->n + i] &&
         log(q[N_WINDOW - 1] / q[N_WINDOW - 2]) >= STEADY * log(q[1] / q[0]);
}

static void latch(yoke_growth* g, size_t level, int64_t b, size_t i) {
  memory* m = &g->memory[i];
  if (m->at == 0) {
    *m = (memory){.met = m->met,
                  .at = g->k,
                  .level = (int64_t)level,
                  .first = row_of(g, level, b - (N_WINDOW - 1))[i],
                  .last = row_of(g, level, b)[i]};
    g->n_latched++;
  }
}

static void check_block(yoke_growth* g, size_t level, int64_t b) {
  const double* first = row_of(g, level, b - (N_WINDOW - 1));
  const double* last = row_of(g, level, b);
  const uint64_t bit = (uint64_t)1 << level;
  for (size_t i = 0; i < g->n; i++) {
    memory* m = &g->memory[i];
    if (!(last[i] >= LEAST_SUM * first[i]) || first[i] == 0) {
      m->met &= ~bit;
    } else if (is_growing(g, level, b, i)) {
      m->met |= bit;
      latch(g, level, b, i);
    } else {
      m->met &= ~bit;
    }
  }
}

// The block that the window leaves behind counts among the older ones.
static void retire_block(yoke_growth* g, size_t level, int64_t b) {
  const double* leaving = row_of(g, level, b);
  double* older = g->older + level * g->n;
  for (size_t i = 0; i < g->n; i++) {
    older[i] = leaving[i] > older[i] ? leaving[i] : older[i];
  }
}

// The increments of two finite values may overflow.
static void take_shortest(yoke_growth* g, double to[]) {
  for (size_t i = 0; i < g->n; i++) {
    const double q = g->recent[i].block;
    to[i] = q < DBL_MAX ? q : DBL_MAX;
    g->recent[i].block = 0;
  }
}

static void join_blocks(const double a[], const double b[], size_t n, double to[]) {
  for (size_t i = 0; i < n; i++) {
    to[i] = a[i] > b[i] ? a[i] : b[i];
  }
}

// lengths are powers of 2
static bool is_block_end(const yoke_growth* g, size_t level) {
  return (g->k & (block_length(level) - 1)) == 0;
}

static void complete_blocks(yoke_growth* g) {
  for (size_t level = 0; level < g->n_levels && is_block_end(g, level); level++) {
    const int64_t b = g->k / block_length(level) - 1;
    if (b >= N_WINDOW) {
      retire_block(g, level, b);
    }
    if (level == 0) {
      take_shortest(g, row_of(g, 0, b));
    } else {
      join_blocks(row_of(g, level - 1, 2 * b), row_of(g, level - 1, 2 * b + 1), g->n,
                  row_of(g, level, b));
    }
    if (b >= N_WINDOW - 1) {
      check_block(g, level, b);
    }
  }
}

void yoke__growth_observe(yoke_growth* g, const double y[]) {
  for (size_t i = 0; i < g->n; i++) {
    recent* r = &g->recent[i];
    const double q = fabs(y[i] - r->y), size = fabs(y[i]);
    r->y = y[i];
    r->block = q > r->block ? q : r->block;
    r->largest = size > r->largest ? size : r->largest;
  }
  g->k++;
  complete_blocks(g);
}

// Largest increment of the last complete block of the lowest level.
static double last_block(const yoke_growth* g, size_t i) {
  return row_of(g, 0, g->k / SHORTEST - 1)[i];
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

void yoke__growth_image(yoke_growth* g, yoke_image* image) {
  YOKE_IMAGE_VALUE(image, g->k);
  YOKE_IMAGE_VALUE(image, g->n_latched);
  yoke__image_part(image, g->recent, g->n * sizeof *g->recent);
  yoke__image_part(image, g->memory, g->n * sizeof *g->memory);
  yoke__image_part(image, g->blocks, g->n * N_WINDOW * g->n_levels * sizeof(double));
  yoke__image_part(image, g->older, g->n * g->n_levels * sizeof(double));
}
