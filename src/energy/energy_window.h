// Sums over the last W seconds without a ring of single values: the window is cut into 64 parts, and the oldest part
// leaves as a whole, so that the sum covers between W and W (1 + 1/64). Memory and work do not grow with the rate.
#ifndef YOKE_ENERGY_WINDOW_H
#define YOKE_ENERGY_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YOKE_WINDOW_PARTS   64
#define YOKE_WINDOW_NUMBERS 4  // sums that a window keeps side by side

typedef struct yoke_window {
  double sums[YOKE_WINDOW_NUMBERS];                         // over the window
  double full[YOKE_WINDOW_NUMBERS];                         // over its full parts
  double hand[YOKE_WINDOW_NUMBERS];                         // of the part in hand
  double part;                                              // length of a part [s]
  double filled;                                            // of the part in hand [s]
  size_t at;                                                // full parts of this round
  double round[YOKE_WINDOW_NUMBERS];                        // their sum
  double parts[YOKE_WINDOW_PARTS][YOKE_WINDOW_NUMBERS];     // they themselves
  double rest[YOKE_WINDOW_PARTS + 1][YOKE_WINDOW_NUMBERS];  // of the last round: parts i and later
} yoke_window;

// length: W [s]; INFINITY: all since the start; 0 or less: the last interval only.
void yoke__window_start(yoke_window* window, double length);
// Another length from now on: parts that are full stay as they are until they leave.
void yoke__window_set_length(yoke_window* window, double length);
// values: YOKE_WINDOW_NUMBERS numbers that belong to an interval of dt [s]; one that reaches over the end of a part is
// shared out by time. dt = 0: all of it belongs to now. Values that are not finite count as 0.
void yoke__window_add(yoke_window* window, double dt, const double values[]);
// The same with the values one by one.
void yoke__window_add_four(yoke_window* w, double dt, double a, double b, double c, double d);
// Room for dt in the part in hand: the usual case.
static inline bool yoke__window_has_room(const yoke_window* w, double dt) {
  return dt >= 0 && w->filled + dt < w->part;
}
// The same for finite values where there is room.
static inline void yoke__window_add_usual(yoke_window* w, double dt, double a, double b, double c,
                                          double d) {
  // side by side, so that compilers can take two at a time
  w->hand[0] += a;
  w->hand[1] += b;
  w->hand[2] += c;
  w->hand[3] += d;
  w->sums[0] = w->full[0] + w->hand[0];
  w->sums[1] = w->full[1] + w->hand[1];
  w->sums[2] = w->full[2] + w->hand[2];
  w->sums[3] = w->full[3] + w->hand[3];
  w->filled += dt;
}

#endif
