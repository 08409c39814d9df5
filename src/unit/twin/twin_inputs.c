// Known inputs between two calls. A call brings their values at t; how they got there from the call before shows only now.
//
//   waves, laws of time     known ahead: the prediction takes the straight line nearest to them over the step
//   inputs of the unit      held by the prediction; the next call puts right those that went straight (yoke__estimate_ramp)
//
// Held in truth as well: what the file or the system holds (is_held of yoke_sample_info). At a jump an input goes on as before, by the
// smaller of its last two changes, 0 if they have different signs: square waves stay exact, and sawtooths. A jump is a change of more
// than JUMP times the larger of the two before it. That of a parabola is at most three times as large, also at its vertex, so a
// smooth signal has none. Where one begins to move, the first half step is missed, which is of second order.
#include <math.h>
#include <string.h>

#include "unit/twin/twin_part.h"

#define JUMP 4.0

// How far the input went in a straight line since the call before.
static double find_way(const twin* w, size_t input) {
  const double change = w->u[input] - w->u_before[input];
  const double last = w->changes[input], other = w->changes[w->layout.n_known + input];
  if (w->is_held[input] || (w->has_infos && w->infos[input].is_held)) {
    return 0;
  }
  if (!(fabs(change) > JUMP * fmax(fabs(last), fabs(other)))) {
    return change;
  }
  const double least = fabs(last) < fabs(other) ? last : other;
  return last * other > 0 ? least : 0;
}

static void note_changes(twin* w) {
  const size_t n = w->layout.n_known;
  for (size_t i = 0; i < n; i++) {
    w->changes[n + i] = w->changes[i];
    w->changes[i] = w->state->has_before != 0 ? w->u[i] - w->u_before[i] : 0;
    w->u_before[i] = w->u[i];
  }
  w->state->has_before = 1;
}

bool yoke__twin_find_change(twin* w, double t) {
  double* u = w->network.signals->u;
  bool has_way = false;
  for (size_t i = 0; i < w->layout.n_known && w->state->has_before != 0; i++) {
    const double way = find_way(w, i);
    const bool is_whole = way == w->u[i] - w->u_before[i];
    u[w->layout.known[i]] = is_whole ? w->u[i] : w->u_before[i] + way;
    has_way = has_way || way != 0;
  }
  if (!has_way) {
    return false;
  }
  yoke__twin_network_inputs(&w->network, t, w->change);
  for (size_t i = 0; i < w->layout.n_known; i++) {
    u[w->layout.known[i]] = w->u_before[i];
  }
  yoke__twin_network_inputs(&w->network, t, w->line);
  for (size_t i = 0; i < w->network.heat.n_inputs; i++) {
    w->change[i] -= w->line[i];
  }
  return true;
}

void yoke__twin_take_inputs(twin* w, double t) {
  for (size_t i = 0; i < w->layout.n_known; i++) {
    w->network.signals->u[w->layout.known[i]] = w->u[i];
  }
  yoke__twin_network_inputs(&w->network, t, w->v);
  w->has_line = yoke__twin_network_line(&w->network, t, w->setup.h, w->v, w->line, w->slope);
  note_changes(w);
}
