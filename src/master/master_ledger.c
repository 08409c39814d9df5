// The ledger in the loop: what it is shown before and after each exchange, and what its alarms do.
#include <math.h>
#include <string.h>

#include "base/base_number.h"
#include "couple/couple_energy.h"
#include "master/master.h"

// A bond whose action a law rebuilds twice: with the partner's old samples and with the new ones.
struct yoke_held {
  size_t bond, law;
  double* inputs;   // of the law at the last exchange
  double* mixed;    // those of the rate's own unit new, all others old
  double* outputs;  // work
  bool* is_own;     // per input: it comes from the unit that gives the rate
  int64_t wait;     // slots until the bond's next exchange
};

static yoke_status lay_held(const yoke_system* system, yoke_state* state) {
  yoke_arena* arena = &state->arena;
  for (size_t i = 0; i < system->n_bonds; i++) {
    state->n_held += system->bonds[i].ledger.residual == YOKE_RESIDUAL_HELD;
  }
  state->held = yoke__arena_array(arena, state->n_held + 1, sizeof *state->held);
  state->held_actions = yoke__arena_array(arena, system->n_held + 1, sizeof(double));
  YOKE_TRY_MEMORY(state->held && state->held_actions);
  size_t at = 0;
  for (size_t i = 0; i < system->n_bonds; i++) {
    const yoke_system_bond* bond = &system->bonds[i];
    if (bond->ledger.residual != YOKE_RESIDUAL_HELD) {
      continue;
    }
    const yoke_system_unit* law = &system->units[bond->action_unit];
    struct yoke_held* held = &state->held[at++];
    *held =
        (struct yoke_held){.bond = i,
                           .law = bond->action_unit,
                           .inputs = yoke__arena_array(arena, law->unit.n_u + 1, sizeof(double)),
                           .mixed = yoke__arena_array(arena, law->unit.n_u + 1, sizeof(double)),
                           .outputs = yoke__arena_array(arena, law->unit.n_y + 1, sizeof(double)),
                           .is_own = yoke__arena_array(arena, law->unit.n_u + 1, sizeof(bool)),
                           .wait = bond->ledger.every};
    YOKE_TRY_MEMORY(held->inputs && held->mixed && held->outputs && held->is_own);
    for (size_t t = law->first_tap; t < law->first_tap + law->n_taps; t++) {
      const yoke_tap* tap = &system->taps[t];
      held->is_own[tap->to - law->u] = system->links[tap->link].from_unit == bond->rate_unit;
    }
  }
  return YOKE_OK;
}

yoke_status yoke__master_lay_ledger(const yoke_system* system, yoke_state* state) {
  if (system->n_bonds == 0) {
    return YOKE_OK;
  }
  state->strips = yoke__arena_array(&state->arena, system->n_strip_numbers + 1, sizeof(double));
  state->corrected =
      yoke__arena_array(&state->arena, system->n_groups + 1, sizeof *state->corrected);
  YOKE_TRY_MEMORY(state->strips && state->corrected);
  YOKE_TRY(lay_held(system, state));
  YOKE_TRY(yoke__ledger_create(&state->arena, system->ledger_bonds, system->n_bonds,
                               yoke__clock_seconds(&system->clock, system->slot), &state->ledger));
  state->ledger_values = yoke__ledger_values(state->ledger);
  return YOKE_OK;
}

// groups that watch a bond lend their monitor, those that correct it are asked after each exchange
static void join_methods(const yoke_system* system, yoke_state* state) {
  state->n_corrected = 0;
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    const size_t bond = system->methods[group->method].bond;
    void* self = state->group_memory + group->self;
    if (bond == YOKE_NOT_FOUND) {
      continue;
    }
    const yoke_monitor_settings* wanted = yoke__ledger_monitor_settings(state->ledger, bond);
    yoke_monitor* monitor =
        wanted == NULL ? NULL : yoke__couple_energy_monitor(group->ops, self, wanted);
    if (monitor != NULL) {
      yoke__ledger_share_monitor(state->ledger, bond, monitor);
    }
    if (group->ops->remainder != NULL) {
      state->corrected[state->n_corrected++] = (yoke_corrected){
          yoke__ledger_remainder(state->ledger, bond), group->ops->remainder, self};
    }
  }
}

void yoke__master_start_ledger(const yoke_system* system, yoke_state* state) {
  if (state->ledger == NULL) {
    return;
  }
  for (size_t i = 0; i < state->n_held; i++) {
    const yoke_system_unit* law = &system->units[state->held[i].law];
    memcpy(state->held[i].inputs, state->u + law->u, law->unit.n_u * sizeof(double));
  }
  yoke__ledger_start(state->ledger, state->t, state->y);
  join_methods(system, state);
  const double* y = yoke__system_is_iterative(system) ? state->y_call : state->y_seen;
  state->view_before = (yoke_ledger_view){y, state->y_work, state->u, state->strips};
  state->view_after = state->view_before;
  state->view_after.y = state->y;
}

// the action that the law gives with mixed inputs, into out; the law's own values stay as they were
static yoke_status rebuild(const yoke_system* system, yoke_state* state, struct yoke_held* held,
                           double out[]) {
  const yoke_system_unit* law = &system->units[held->law];
  const yoke_ledger_bond* bond = &system->bonds[held->bond].ledger;
  const double* u = state->u + law->u;
  if (--held->wait > 0) {
    return YOKE_OK;
  }
  held->wait = bond->every;
  for (size_t i = 0; i < law->unit.n_u; i++) {
    held->mixed[i] = held->is_own[i] ? u[i] : held->inputs[i];
    held->inputs[i] = u[i];
  }
  yoke_status status = yoke__unit_set_inputs(&law->unit, held->mixed);
  status = status < 0 ? status : law->unit.ops->refresh(law->unit.self, state->t);
  status = status < 0 ? status : yoke__unit_get_outputs(&law->unit, held->outputs);
  for (size_t i = 0; i < bond->n; i++) {
    out[i] = held->outputs[bond->action[i] - law->y];
  }
  status = status < 0 ? status : yoke__unit_set_inputs(&law->unit, u);
  status = status < 0 ? status : law->unit.ops->refresh(law->unit.self, state->t);
  if (status < 0) {
    return yoke__master_fail(&state->failure, system, held->law, status, state->t,
                             "the action of bond '%s' could not be rebuilt", bond->name);
  }
  return YOKE_OK;
}

yoke_status yoke__master_rebuild(const yoke_system* system, yoke_state* state) {
  double* out = state->held_actions;
  for (size_t i = 0; i < state->n_held; i++) {
    YOKE_TRY(rebuild(system, state, &state->held[i], out));
    out += system->bonds[state->held[i].bond].n;
  }
  return YOKE_OK;
}

void yoke__master_image_held(const yoke_system* system, yoke_state* state, yoke_image* image) {
  for (size_t i = 0; i < state->n_held; i++) {
    struct yoke_held* held = &state->held[i];
    yoke__image_part(image, held->inputs, system->units[held->law].unit.n_u * sizeof(double));
    YOKE_IMAGE_VALUE(image, held->wait);
  }
  yoke__image_part(image, state->held_actions, system->n_held * sizeof(double));
}

void yoke__master_take_alarm(yoke_state* state, yoke_alarm_level level) {
  size_t n = 0, n_more = 0;
  const yoke_alarm* alarms = yoke__ledger_alarms(state->ledger, &n, &n_more);
  atomic_store_explicit(&state->watched, n == 0 ? 0 : 1 + alarms[n - 1].bond, memory_order_relaxed);
  state->is_stopped = state->is_stopped || level == YOKE_ALARM_STOP;
}

// ---------------------------------------------------------------------------------------------------------
// the residual chooses the step

#define GROWTH    1.1  // per step: what looks harmless for a moment is not yet
#define SHRINK    0.5
#define HALF_TURN 3.14  // [rad]
#define MEMORY    32.0  // [rad] of the fastest motion seen: dP swings with it, down to 0

void yoke__master_start_step(const yoke_system* system, yoke_state* state) {
  state->stretch = state->stretch_next = 1;
  state->slot_h = state->slot_h_next = yoke__clock_seconds(&system->clock, system->slot);
}

// rho is about omega H: the step after the next one that would bring it to its aim. The next one is already known to the
// coupling methods.
void yoke__master_choose_step(const yoke_system* system, yoke_state* state) {
  const double h_last = state->slot_h, omega = yoke__ledger_rho(state->ledger) / h_last;
  // at first the peaks that rho refers to are still growing: what has not made half a turn yet is not remembered, and
  // nothing slower than the run is old is known
  const double age = state->t - system->t_start;
  const double known = omega * age > HALF_TURN ? omega : 0;
  state->omega_seen = fmax(known, state->omega_seen * exp(-state->omega_seen * h_last / MEMORY));
  const double aim = system->adaptive_rho / fmax(fmax(omega, state->omega_seen), 1 / age);  // [s]
  const double factor = fmin(fmax(aim / state->slot_h_next, SHRINK), GROWTH);
  const double wanted = (double)state->stretch_next * factor;
  // at least one slot more when growing: short steps would never grow by a tenth
  int64_t next = (int64_t)wanted;
  next = factor > 1 && next == state->stretch_next && factor >= GROWTH ? next + 1 : next;
  next = next < 1 ? 1 : next > system->adaptive_max ? system->adaptive_max : next;

  state->stretch = state->stretch_next;
  const int64_t left = system->n_slots - state->n_slots;
  state->stretch = state->stretch < left || left == 0 ? state->stretch : left;
  const int64_t after = left - state->stretch;
  state->stretch_next = next < after || after <= 0 ? next : after;
  const double h = yoke__clock_seconds(&system->clock, state->stretch * system->slot);
  state->slot_h_next = yoke__clock_seconds(&system->clock, state->stretch_next * system->slot);
  if (h != state->slot_h) {
    state->slot_h = h;
    for (size_t i = 0; i < system->n_units - system->n_laws; i++) {
      state->hot[i].h = h;
    }
  }
  state->n_adaptive++;
  state->h_least = state->n_adaptive == 1 || h < state->h_least ? h : state->h_least;
  state->h_most = h > state->h_most ? h : state->h_most;
}
