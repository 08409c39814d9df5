// Sliding sums in 64 full parts and the one in hand:
//
//   | part | part |  ...  | part | in hand ->        sums = all of them, W <= time covered < W (1 + 1/64)
//
// Nothing is ever subtracted, so no rounding stays behind: the parts of a round of 64 are added up from its end once it
// is over (`rest`), and while the next round grows, what is left of the old one is read off there. At most 66 pieces per
// call.
#include "energy/energy_window.h"

#include <math.h>
#include <string.h>

#include "base/base_check.h"

enum { N_PARTS = YOKE_WINDOW_PARTS, N = YOKE_WINDOW_NUMBERS };

void yoke__window_start(yoke_window* window, double length) {
  memset(window, 0, sizeof *window);
  window->part = length / N_PARTS;
}

void yoke__window_set_length(yoke_window* window, double length) {
  window->part = length / N_PARTS;
}

static void add_share(yoke_window* w, double share, const double values[]) {
  // shared out by time
  for (size_t i = 0; i < N; i++) {
    const double x = values[i] * share;
    w->hand[i] += yoke__is_finite(x) ? x : 0;
  }
}

static void add_up(yoke_window* w) {
  for (size_t i = 0; i < N; i++) {
    w->sums[i] = w->full[i] + w->hand[i];
  }
}

// a round is over: sums from each of its parts to its end
static void next_round(yoke_window* w) {
  // rest[p] = sum of the parts p .. 63 of the round that is over
  for (size_t p = N_PARTS; p-- > 0;) {
    for (size_t i = 0; i < N; i++) {
      w->rest[p][i] = w->rest[p + 1][i] + w->parts[p][i];
    }
  }
  memset(w->round, 0, sizeof w->round);
  w->at = 0;
}

// The part in hand is full; the oldest one leaves.
static void next_part(yoke_window* w) {
  for (size_t i = 0; i < N; i++) {
    w->parts[w->at][i] = w->hand[i];
    w->round[i] += w->hand[i];
    w->hand[i] = 0;
  }
  w->filled = 0;
  if (++w->at == N_PARTS) {
    next_round(w);
  }

  // parts of the old round that are still inside the window, and those of the new one
  for (size_t i = 0; i < N; i++) {
    w->full[i] = w->rest[w->at][i] + w->round[i];
  }
}

void yoke__window_add(yoke_window* window, double dt, const double values[]) {
  if (!(window->part > 0)) {
    memset(window->hand, 0, sizeof window->hand);
    add_share(window, 1, values);
    add_up(window);
    return;
  }

  // without room dt is cut at the ends of parts
  if (!(dt > 0 && window->filled + dt >= window->part)) {
    // the usual case: room in the part in hand
    add_share(window, 1, values);
    add_up(window);
    window->filled += dt > 0 ? dt : 0;
    return;
  }
  // of a very long interval only the last window counts
  // two parts more than a window: everything before has left it
  double left = fmin(dt, window->part * (N_PARTS + 2));
  while (window->filled + left >= window->part) {
    // below 0 where the window has become shorter
    const double piece = fmax(window->part - window->filled, 0);
    add_share(window, piece / dt, values);
    next_part(window);
    left = piece < left ? left - piece : 0;
  }
  add_share(window, left / dt, values);
  add_up(window);
  window->filled = left;
}

void yoke__window_add_four(yoke_window* w, double dt, double a, double b, double c, double d) {
  yoke__window_add(w, dt, (const double[YOKE_WINDOW_NUMBERS]){a, b, c, d});
}
