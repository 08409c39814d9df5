// Sliding sums in 64 full parts and the one in hand:
//
//   | part | part |  ...  | part | in hand ->        sums = all of them, W <= time covered < W (1 + 1/64)
//
// When the part in hand is full, the oldest is emptied and becomes the one in hand; then the sums are made anew from
// the parts, so that adding and taking away leaves no rounding behind. At most 66 pieces per call.
#include "energy/energy_window.h"

#include <math.h>
#include <string.h>

#include "base/base_check.h"

enum { N_PARTS = YOKE_WINDOW_PARTS + 1, N = YOKE_WINDOW_NUMBERS };

void yoke__window_start(yoke_window* window, double length) {
  memset(window, 0, sizeof *window);
  window->part = length / YOKE_WINDOW_PARTS;
}

static void add_share(yoke_window* w, double share, const double values[]) {
  double* part = w->parts[w->at];
  for (size_t i = 0; i < N; i++) {
    const double x = values[i] * share;
    const double value = yoke__is_finite(x) ? x : 0;
    part[i] += value;
    w->sums[i] += value;
  }
}

// The oldest part leaves; the sums are made anew from the others.
static void next_part(yoke_window* w) {
  w->at = (w->at + 1) % N_PARTS;
  w->filled = 0;
  memset(w->parts[w->at], 0, sizeof w->parts[w->at]);
  memset(w->sums, 0, sizeof w->sums);
  for (size_t p = 0; p < N_PARTS; p++) {
    for (size_t i = 0; i < N; i++) {
      w->sums[i] += w->parts[p][i];
    }
  }
}

void yoke__window_add(yoke_window* window, double dt, const double values[]) {
  if (!(window->part > 0)) {
    memset(window->sums, 0, sizeof window->sums);
    memset(window->parts, 0, sizeof window->parts);
    add_share(window, 1, values);
    return;
  }
  if (!(dt > 0 && window->filled + dt >= window->part)) {
    // the usual case: room in the part in hand
    add_share(window, 1, values);
    window->filled += dt > 0 ? dt : 0;
    return;
  }
  // of a very long interval only the last window counts
  double left = fmin(dt, window->part * (N_PARTS + 1));
  while (window->filled + left >= window->part) {
    const double piece = window->part - window->filled;
    add_share(window, piece / dt, values);
    next_part(window);
    left = piece < left ? left - piece : 0;
  }
  add_share(window, left / dt, values);
  window->filled = left;
}
