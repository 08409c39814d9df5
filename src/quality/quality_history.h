// The trajectory of one number in a room of fixed size: low and high of equally long stretches, which are joined in pairs
// when the room is full. No heap, bounded work.
#ifndef YOKE_QUALITY_HISTORY_H
#define YOKE_QUALITY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YOKE_HISTORY_CELLS 128

typedef struct yoke_history {
  double low[YOKE_HISTORY_CELLS], high[YOKE_HISTORY_CELLS];
  size_t n;                // full cells
  int64_t stride, filled;  // samples per cell, and in the one in hand
  double low_now, high_now, last;
} yoke_history;

void yoke__history_start(yoke_history* history);
// The cell in hand is full: the next one, with room made where there is none.
void yoke__history_next(yoke_history* history);
static inline void yoke__history_add(yoke_history* h, double x) {
  h->low_now = h->filled == 0 || x < h->low_now ? x : h->low_now;
  h->high_now = h->filled == 0 || x > h->high_now ? x : h->high_now;
  h->last = x;
  if (++h->filled == h->stride) {
    yoke__history_next(h);
  }
}
// The same inside a cell: neither its first nor its last number.
static inline bool yoke__history_is_inside(const yoke_history* h) {
  return h->filled > 0 && h->filled + 1 < h->stride;
}
static inline void yoke__history_add_inside(yoke_history* h, double x) {
  h->low_now = x < h->low_now ? x : h->low_now;
  h->high_now = x > h->high_now ? x : h->high_now;
  h->last = x;
  h->filled++;
}
// The sign of the number over the last half of its active part, which ends where it has come to within 1 % of its range of
// its last value; 0 if the sign changed there.
int yoke__history_sign(const yoke_history* history);

#endif
