// Model exchange: event mode.
//
//   continuous time --enter--> event mode: values that wait, then update, update, ... until nothing changes --> continuous time
//
// An event may change states, nominal values, the time of the next event, and the side on which indicators lie.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "unit/fmu/fmu_solver.h"

// "state 'v'", or its number where the description does not say
void yoke__fmu_me_state_name(const fmu* f, size_t state, char* to, size_t size) {
  const yoke_fmi_description* d = f->description;
  size_t first = 0;
  for (size_t i = 0; i < d->states_derivatives.n; i++) {
    const yoke_fmi_variable* v = &d->variables[d->states_derivatives.items[i].variable];
    const size_t n = yoke__fmi_size(d, v);
    if (state - first < n) {
      const bool has_state = v->derivative_of != 0;
      const char* name = has_state ? d->variables[v->derivative_of - 1].name : v->name;
      snprintf(to, size, "state '%.100s'%s", name, n > 1 ? " (an element of it)" : "");
      return;
    }
    first += n;
  }
  snprintf(to, size, "state %zu", state + 1);
}

// values that waited for an event
static yoke_status set_latched(fmu* f) {
  fmu_solver* s = f->solver;
  for (size_t i = 0; i < s->n_latches; i++) {
    const fmu_latch* latch = &s->latches[i];
    if (s->latch_marks[i] == FMU_PENDING) {
      s->latch_marks[i] = FMU_KNOWN;
      YOKE_TRY(f->version->set(f, &f->layout.slots[latch->variable],
                               &f->layout.info.variables[latch->variable], s->latched + latch->at));
    }
  }
  s->now->is_pending = false;
  return YOKE_OK;
}

// updates until none is wanted; what they said is gathered in *all
static yoke_status settle(fmu* f, fmu_event* all) {
  *all = (fmu_event){0};
  for (int i = 0; i < FMU_MAX_UPDATES; i++) {
    fmu_event event = {0};
    YOKE_TRY(f->version->update_discrete_states(f, &event));
    event.are_states_changed |= all->are_states_changed;
    event.are_nominals_changed |= all->are_nominals_changed;
    *all = event;
    if (event.is_end_wanted || !event.is_again_needed) {
      return YOKE_OK;
    }
  }
  return yoke__fmu_me_fail(f, YOKE_UNIT_FAILED,
                           "the event at t = %.15g s does not settle: its discrete states still "
                           "change after %d updates",
                           f->solver->now->t_now, FMU_MAX_UPDATES);
}

// Takes over what the event changed. An FMU that wants to end stays in event mode: terminate is all that may follow.
static yoke_status leave(fmu* f, const fmu_event* event) {
  fmu_solver* s = f->solver;
  s->now->has_next = event->has_next;
  s->now->t_next = event->t_next;
  if (event->is_end_wanted) {
    s->now->is_over = true;
    s->flags |= YOKE_STEP_END_WANTED;
    return YOKE_OK;
  }
  YOKE_TRY(f->version->enter_continuous_mode(f));
  if (event->are_states_changed && s->n_x > 0) {
    YOKE_TRY(f->version->get_states(f, s->x, s->n_x));
  }
  if (event->are_nominals_changed && s->n_x > 0) {
    YOKE_TRY(f->version->get_nominals(f, s->nominals, s->n_x));
  }
  YOKE_TRY(yoke__fmu_me_indicators(f, s->z));
  for (size_t i = 0; i < s->n_z; i++) {
    s->is_above[i] = s->z[i] > 0;
  }
  return YOKE_OK;
}

yoke_status yoke__fmu_me_event(fmu* f, double t) {
  fmu_solver* s = f->solver;
  if (++s->n_events > FMU_MAX_EVENTS) {
    return yoke__fmu_me_fail(f, YOKE_UNIT_FAILED,
                             "more than %d events in one step at t = %.15g s: Zeno behaviour?",
                             FMU_MAX_EVENTS, t);
  }
  if (t != s->now->t_now) {
    s->now->t_now = t;
    YOKE_TRY(f->version->set_time(f, t));
  }
  // from here on no earlier time is told, not by a rounding either
  s->t_floor = fmax(s->t_floor, t);
  YOKE_TRY(f->version->enter_event_mode(f));
  if (s->now->is_pending) {
    YOKE_TRY(set_latched(f));
  }
  fmu_event event;
  YOKE_TRY(settle(f, &event));
  s->flags |= YOKE_STEP_EVENT_NEEDED;
  s->has_slope = false;
  yoke__fmu_cvode_forget(f);
  return leave(f, &event);
}

yoke_status yoke__fmu_me_first_event(fmu* f) {
  fmu_event event;
  YOKE_TRY(settle(f, &event));
  // all is new after initialisation
  event.are_states_changed = event.are_nominals_changed = true;
  yoke__fmu_cvode_forget(f);
  YOKE_TRY(leave(f, &event));
  // what is due at the start belongs to the start: the first outputs are those after it
  fmu_solver* s = f->solver;
  s->n_events = 0;
  s->t_floor = s->now->t_now;
  while (!s->now->is_over && s->now->has_next && s->now->t_next <= s->now->t_now) {
    YOKE_TRY(yoke__fmu_me_event(f, s->now->t_now));
  }
  return YOKE_OK;
}
