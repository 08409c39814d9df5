// Keeping step responses: estimate_response.h. The times that are kept are all sums of two of 0, 1, 2, 3, 4, 6, 8, 12, ...
#include "estimate/estimate_response.h"

#include <math.h>
#include <string.h>

#include "estimate/estimate_response_part.h"

uint64_t yoke__response_time(size_t place) {
  const size_t q = place / 2;
  if (place < 2) {
    // 1, 2, 3, 4, 6, 8, 12, ...: 3 2^(q-1) at even places, 2^(q+1) at odd ones
    return place + 1;  // 1, 2
  }
  return place % 2 == 0 ? UINT64_C(3) << (q - 1) : UINT64_C(1) << (q + 1);
}

size_t yoke__response_n_times(unsigned level) {
  return level == 0 ? 1 : 2 * (size_t)level;
}

double yoke__response_zeta(size_t scale) {
  return 1.0 + ldexp(1.0, -4 * (int)(scale + 1));
}

// Place of a time among those that are kept; it is there.
size_t yoke__response_find(const yoke_response* r, uint64_t lag) {
  size_t low = 0, high = r->n_lags;

  // lags[low] <= lag < lags[high]
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    if (r->lags[middle] <= lag) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// All sums, each once, ascending; returns their number. to: room for all pairs.
static size_t list_lags(size_t n_times, uint64_t to[]) {
  size_t n = 0;
  to[n++] = 0;
  for (size_t i = 0; i < n_times; i++) {
    to[n++] = yoke__response_time(i);
    for (size_t j = 0; j <= i; j++) {
      to[n++] = yoke__response_time(i) + yoke__response_time(j);
    }
  }
  // insertion: the list is nearly sorted
  for (size_t i = 1; i < n; i++) {
    const uint64_t lag = to[i];
    size_t j = i;
    for (; j > 0 && to[j - 1] > lag; j--) {
      to[j] = to[j - 1];
    }
    to[j] = lag;
  }
  size_t n_unique = 1;
  for (size_t i = 1; i < n; i++) {
    if (to[i] != to[n_unique - 1]) {
      to[n_unique++] = to[i];
    }
  }
  return n_unique;
}

yoke_response* yoke__response_prepare(size_t n_outputs, size_t n_inputs, unsigned max_level,
                                      yoke_arena* arena) {
  const unsigned level = max_level < YOKE_RESPONSE_MAX_LEVEL ? max_level : YOKE_RESPONSE_MAX_LEVEL;
  const size_t n_times = yoke__response_n_times(level), n = n_outputs * n_inputs;
  yoke_response* r = yoke__arena_take(arena, sizeof *r);
  uint64_t* lags = yoke__arena_array(arena, 1 + n_times * (n_times + 3) / 2, sizeof *lags);
  if (r == NULL || lags == NULL) {
    return NULL;
  }
  *r = (yoke_response){
      .n_outputs = n_outputs, .n_inputs = n_inputs, .max_level = level, .lags = lags};
  r->n_lags = list_lags(n_times, lags);
  r->s = yoke__arena_array(arena, r->n_lags * n, sizeof(double));
  r->sums = yoke__arena_array(arena, YOKE_RESPONSE_SCALES * r->n_lags * n, sizeof(double));
  r->running = yoke__arena_array(arena, YOKE_RESPONSE_SCALES * n + 1, sizeof(double));
  r->last = yoke__arena_array(arena, n + 1, sizeof(double));
  if (yoke__arena_status(arena) < 0) {
    return NULL;
  }
  yoke__response_clear(r);
  return r;
}

void yoke__response_clear(yoke_response* r) {
  const size_t n = r->n_outputs * r->n_inputs;
  r->k = 0;
  r->n_kept = 1;  // time 0: all zero
  memset(r->s, 0, n * sizeof *r->s);
  for (size_t scale = 0; scale < YOKE_RESPONSE_SCALES; scale++) {
    memset(r->sums + scale * r->n_lags * n, 0, n * sizeof *r->sums);
    // weight zeta^(-1-l) for s_l
    r->weight[scale] = 1.0 / yoke__response_zeta(scale);
  }
  memset(r->running, 0, YOKE_RESPONSE_SCALES * n * sizeof *r->running);
  memset(r->last, 0, n * sizeof *r->last);
}

void yoke__response_add(yoke_response* r, const double s[]) {
  // running = sum over l < k of zeta^(-1-l) s_l
  const size_t n = r->n_outputs * r->n_inputs;
  for (size_t scale = 0; scale < YOKE_RESPONSE_SCALES; scale++) {
    double* running = r->running + scale * n;
    for (size_t i = 0; i < n; i++) {
      running[i] += r->weight[scale] * r->last[i];
    }
    r->weight[scale] /= yoke__response_zeta(scale);
  }
  memcpy(r->last, s, n * sizeof *s);
  r->k++;
  if (r->n_kept == r->n_lags || r->lags[r->n_kept] != r->k) {
    return;
  }
  memcpy(r->s + r->n_kept * n, s, n * sizeof *s);
  for (size_t scale = 0; scale < YOKE_RESPONSE_SCALES; scale++) {
    memcpy(r->sums + (scale * r->n_lags + r->n_kept) * n, r->running + scale * n, n * sizeof *s);
  }
  r->n_kept++;
}

int yoke__response_level(const yoke_response* r) {
  int level = -1;

  // level L is complete after 2^(L+1) steps
  while (level < (int)r->max_level && r->k >= UINT64_C(1) << (level + 2)) {
    level++;
  }
  return level;
}
