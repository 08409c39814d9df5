// Known inputs between two calls. A call brings their values at t; how they got there from the call before shows only now.
//
//   waves, laws of time     known ahead: the prediction takes the straight line nearest to them over the step
//   inputs of the unit      held by the prediction; the next call puts right those that went straight (yoke__estimate_ramp)
//
// A mean of the time since the call before tells what was missing: twice what a straight line would miss.
//
// Held in truth as well: what the file or the system holds (is_held of yoke_sample_info). At a jump an input goes on as before, by the
// smaller of its last two changes, 0 if they have different signs: square waves stay exact, and sawtooths. A jump is a change of more
// than JUMP times the larger of the two before it. That of a parabola is at most three times as large, also at its vertex, so a
// smooth signal has none. Where one begins to move, it looks like a jump until the next call, which catches up (`missed`).
#include <math.h>
#include <string.h>

#include "unit/twin/twin_part.h"

#define JUMP 4.0

static bool is_held(const twin* w, size_t input) {
  return w->is_held[input] || (w->has_infos && w->infos[input].is_held);
}

static bool is_mean(const twin* w, size_t input) {
  return w->has_infos && w->infos[input].is_mean && !is_held(w, input);
}

// How far the input went in a straight line since the call before.
static double find_way(const twin* w, size_t input) {
  const double change = w->u[input] - w->u_before[input];
  const double last = w->changes[input], other = w->changes[w->layout.n_known + input];
  if (is_held(w, input)) {
    return 0;
  }
  if (is_mean(w, input)) {
    return 2 * change;
  }
  if (!(fabs(change) > JUMP * fmax(fabs(last), fabs(other)))) {
    return change;
  }
  const double least = fabs(last) < fabs(other) ? last : other;
  return last * other > 0 ? least : 0;
}

// Where that led to.
static double find_end(const twin* w, size_t input) {
  const double way = find_way(w, input);
  return way == w->u[input] - w->u_before[input] ? w->u[input] : w->u_before[input] + way;
}

static void note_changes(twin* w) {
  const size_t n = w->layout.n_known;
  for (size_t i = 0; i < n; i++) {
    const bool may_miss = w->state->has_before != 0 && !is_held(w, i) && !is_mean(w, i);
    w->reached[i] = may_miss ? find_end(w, i) : w->u[i];
    w->changes[n + i] = w->changes[i];
    w->changes[i] = w->state->has_before != 0 ? w->u[i] - w->u_before[i] : 0;
    w->u_before[i] = w->u[i];
  }
  w->state->has_before = 1;
}

void yoke__twin_forget_missed(twin* w) {
  memcpy(w->reached, w->u_before, w->layout.n_known * sizeof *w->reached);
}

// to = inputs of the network at time t with these inputs of the netlist, less those with the others.
static void find_difference(twin* w, double t, const double u[], const double others[],
                            double to[]) {
  const double* const both[] = {u, others};
  double* const at[] = {to, w->line};
  for (size_t k = 0; k < 2; k++) {
    for (size_t i = 0; i < w->layout.n_known; i++) {
      w->network.signals->u[w->layout.known[i]] = both[k][i];
    }
    yoke__twin_network_inputs(&w->network, t, at[k]);
  }
  for (size_t i = 0; i < w->network.heat.n_inputs; i++) {
    to[i] -= w->line[i];
  }
}

bool yoke__twin_find_change(twin* w, double t) {
  bool has_change = false;
  for (size_t i = 0; i < w->layout.n_known && w->state->has_before != 0; i++) {
    w->ends[i] = find_end(w, i);
    has_change = has_change || w->ends[i] != w->u_before[i];
  }
  if (has_change) {
    find_difference(w, t, w->ends, w->u_before, w->change);
  }
  return has_change;
}

bool yoke__twin_find_missed(twin* w, double t) {
  bool has_missed = false;
  for (size_t i = 0; i < w->layout.n_known && w->state->has_before != 0; i++) {
    const double change = w->u[i] - w->u_before[i], last = w->changes[i];
    const bool goes_on = change * last > 0 && !(fabs(last) > JUMP * fabs(change));
    w->ends[i] = goes_on && !is_held(w, i) ? w->reached[i] : w->u_before[i];
    has_missed = has_missed || w->ends[i] != w->u_before[i];
  }
  if (has_missed) {
    find_difference(w, t, w->u_before, w->ends, w->missed);
  }
  return has_missed;
}

void yoke__twin_take_inputs(twin* w, double t) {
  for (size_t i = 0; i < w->layout.n_known; i++) {
    w->network.signals->u[w->layout.known[i]] = w->u[i];
  }
  yoke__twin_network_inputs(&w->network, t, w->v);
  w->has_line = yoke__twin_network_line(&w->network, t, w->setup.h, w->v, w->line, w->slope);
  note_changes(w);
}
