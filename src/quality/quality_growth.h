// Growth alarm of exchanged signals.
#ifndef YOKE_QUALITY_GROWTH_H
#define YOKE_QUALITY_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

// One alarm of one signal.
typedef struct yoke_growth_alarm {
  bool is_latched,
      is_active;  // once / the last complete block of some level meets the condition, at the end
  int64_t at;     // exchange at which it was latched: n (b + 1)
  int64_t from;   // first exchange of the window
  double factor;  // exp(sum g) of the window (grew F times)
  int64_t n;      // within so many exchanges (4 n of that level)
  double rate;    // per exchange
  double total;   // factor from the first window's first block to now (for stop.growth)
} yoke_growth_alarm;

#endif
