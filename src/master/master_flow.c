// Flows in the loop: integrals of outputs over exchange intervals, the means that averaged connections deliver, and the
// balance of what was sent and what arrived (docs/exchange.md).
//
//   sender, per call      window += integral of y over the call: of the unit itself, else h (y_start + y_end) / 2
//   exchange k            mean = window / T, sent += window, window = 0; the receiver has the mean until exchange k + 1
//   receiver, per call    arrived += h u, u as the connection delivers it
//
// Between two calls an output that only rises or only falls is within h |y_end - y_start| / 2 of its trapezoid: the sum of
// these says how much of the amount its calls do not settle.
//
// A sender and a receiver write different numbers, so that they may run in different threads; exchanges are in between.
// What arrives in an interval was sent one interval (and the delay) before: a ring keeps what had been sent up to then. Before,
// initial values act, which nobody sent.
#include <math.h>
#include <string.h>

#include "base/base_number.h"
#include "master/master.h"

yoke_status yoke__master_layout_flows(const yoke_system* system, yoke_state* state) {
  if (system->n_flows == 0) {
    return YOKE_OK;
  }
  yoke_arena* arena = &state->arena;
  state->flows = yoke__arena_array(arena, system->n_flows, sizeof *state->flows);
  state->lags = yoke__arena_array(arena, system->n_lags, sizeof *state->lags);
  state->before = yoke__arena_array(arena, system->n_y + 1, sizeof(double));
  state->integrals = yoke__arena_array(arena, system->n_y + 1, sizeof(double));
  YOKE_TRY_MEMORY(state->flows && state->lags && state->before && state->integrals);
  for (size_t i = 0; i < system->n_flows; i++) {
    state->flows[i].at_slot = state->flows[i].seen_slot = -1;
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// units

void yoke__master_receive(const yoke_system* system, yoke_state* state, size_t unit, double h) {
  const yoke_system_unit* su = &system->units[unit];
  for (size_t i = su->first_inflow; i < su->first_inflow + su->n_inflows; i++) {
    const yoke_system_flow* flow = &system->flows[system->inflows[i]];
    yoke_flow* f = &state->flows[system->inflows[i]];
    const double amount = (state->u[flow->to] - flow->offset) / flow->gain * h;
    f->arrived += amount;
    if (f->n_taken > flow->delay) {
      f->known += amount;
      f->known_size += fabs(amount);
    }
  }
}

static inline void add_sent(yoke_flow* f, double amount, int64_t ticks) {
  f->window += amount;
  f->sent_size += fabs(amount);
  f->ticks += ticks;
}

yoke_status yoke__master_read_integrals(const yoke_system* system, size_t unit, double t,
                                        double integrals[], yoke_failure* failure) {
  const yoke_system_unit* su = &system->units[unit];
  if (su->n_integrals == 0) {
    return YOKE_OK;
  }
  const yoke_status status = su->unit.ops->get_integrals(su->unit.self, integrals, su->n_integrals);
  return status >= 0 ? YOKE_OK
                     : yoke__master_fail_unit(failure, system, unit, status, t,
                                              "integrals could not be read");
}

yoke_status yoke__master_count_sent(const yoke_system* system, yoke_state* state, size_t unit,
                                    const yoke_sent* sent, yoke_failure* failure) {
  const yoke_system_unit* su = &system->units[unit];
  for (size_t i = su->first_flow; i < su->first_flow + su->n_flows; i++) {
    const yoke_system_flow* flow = &system->flows[i];
    const double y0 = sent->before[flow->from - su->y], y1 = sent->after[flow->from - su->y];
    const bool is_own = flow->integral != YOKE_NOT_FOUND;
    const double amount = is_own ? sent->integrals[flow->integral] : 0.5 * sent->h * (y0 + y1);
    if (!yoke__is_finite(amount)) {
      return yoke__master_fail(failure, system, unit, YOKE_NOT_FINITE, sent->t + sent->h,
                               "the integral of an output over the step is not finite");
    }
    add_sent(&state->flows[i], amount, sent->ticks);
    state->flows[i].unsure += is_own ? 0 : 0.5 * sent->h * fabs(y1 - y0);
  }
  return YOKE_OK;
}

yoke_status yoke__master_send(const yoke_system* system, yoke_state* state, size_t unit, double t,
                              double h, const double y[], yoke_failure* failure) {
  const yoke_system_unit* su = &system->units[unit];
  double* integrals = state->integrals + su->y;
  YOKE_TRY(yoke__master_read_integrals(system, unit, t + h, integrals, failure));
  const yoke_sent sent = {t,         h,        su->period * state->stretch, state->before + su->y,
                          y + su->y, integrals};
  return yoke__master_count_sent(system, state, unit, &sent, failure);
}

// A law stands between two slots; it is looked at once at the end of each.
static void meter_law(const yoke_system* system, yoke_state* state, size_t i) {
  yoke_flow* f = &state->flows[i];
  const double y = state->y[system->flows[i].from];
  if (f->seen_slot == state->n_slots) {
    f->last = y;
    return;
  }
  if (state->n_slots > 0) {
    add_sent(f, 0.5 * state->slot_h * (f->last + y), system->slot * state->stretch);
    f->unsure += 0.5 * state->slot_h * fabs(y - f->last);
  }
  f->last = y;
  f->seen_slot = state->n_slots;
}

void yoke__master_meter_laws(const yoke_system* system, yoke_state* state) {
  for (size_t i = 0; system->has_law_flows && i < system->n_flows; i++) {
    if (system->flows[i].is_from_law) {
      meter_law(system, state, i);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// exchange

// At the start there is no interval yet; under Gauss-Seidel a sender may be ahead.
static void start_flow(yoke_state* state, const yoke_clock* clock, const yoke_system_flow* flow,
                       yoke_flow* f) {
  const double y = state->y_seen[flow->from];
  f->mean = f->ticks > 0 ? f->window / yoke__clock_seconds(clock, f->ticks) : y;
  f->early = f->window;
  f->sent_size = 0;
  f->unsure = 0;
}

static void take(const yoke_system* system, yoke_state* state, size_t i) {
  const yoke_system_flow* flow = &system->flows[i];
  yoke_flow* f = &state->flows[i];
  // under Gauss-Seidel laws are ahead when a unit's turn comes; they are looked at when the slot has ended
  if (flow->is_from_law && system->scenario->scheme != YOKE_GAUSS_SEIDEL) {
    meter_law(system, state, i);
  }
  if (state->n_slots == 0) {
    start_flow(state, &system->clock, flow, f);
  } else {
    // what was sent up to `delay` exchanges before the last one has arrived by now
    f->n_taken++;
    yoke_flow_lag* oldest = &state->lags[flow->lag + (size_t)(f->n_taken % (flow->delay + 1))];
    f->sent += f->window;
    f->due_sent = oldest->sent;
    f->due_arrived = f->known;
    f->due_size = fmax(oldest->size, f->known_size);
    *oldest = (yoke_flow_lag){f->sent, f->sent_size};
    f->mean = f->ticks > 0 ? f->window / yoke__clock_seconds(&system->clock, f->ticks) : f->mean;
  }
  f->window = 0;
  f->ticks = 0;
  f->at_slot = state->n_slots;
}

void yoke__master_take_flows(const yoke_system* system, yoke_state* state, const size_t flows[],
                             size_t n) {
  for (size_t k = 0; k < n; k++) {
    const size_t i = flows[k];
    if (state->n_slots % system->flows[i].every == 0 && state->flows[i].at_slot != state->n_slots) {
      take(system, state, i);
    }
  }
}

void yoke__master_image_flows(const yoke_system* system, yoke_state* state, yoke_image* image) {
  if (system->n_flows > 0) {
    yoke__image_part(image, state->flows, system->n_flows * sizeof *state->flows);
    yoke__image_part(image, state->lags, system->n_lags * sizeof *state->lags);
  }
}

// ---------------------------------------------------------------------------------------------------------
// balance

void yoke__master_flow(const yoke_system* system, const yoke_state* state, size_t flow,
                       yoke_flow_result* out) {
  const yoke_flow* f = &state->flows[flow];
  const double scale = system->flows[flow].scale;
  const bool is_known = f->n_taken > system->flows[flow].delay + 1 && f->due_size > 0;
  *out = (yoke_flow_result){.sent = (f->early + f->sent + f->window) * scale,
                            .arrived = f->arrived * scale,
                            .size = f->sent_size * fabs(scale),
                            .unsure = f->sent_size > 0 ? f->unsure / f->sent_size : 0,
                            .due_sent = f->due_sent * scale,
                            .due_arrived = f->due_arrived * scale,
                            .balance = is_known ? fabs(f->due_arrived - f->due_sent) / f->due_size
                                                : (double)NAN};
}
