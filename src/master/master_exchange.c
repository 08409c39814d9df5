// Exchange: outputs become inputs. Runs between the steps, on one thread, in fixed order.
//
// Delayed taps read the sample of `delay` exchanges ago from a ring before the present one overwrites it, so that the
// order in which units are refreshed does not matter to them.
#include <string.h>

#include "base/base_call.h"
#include "base/base_check.h"
#include "master/master.h"
#include "master/master_pace.h"

// what a tap delivers without its delay
static inline double value_of(const yoke_state* state, const yoke_tap* tap, const double y[]) {
  double value = tap->mean == 0 ? y[tap->from] : state->flows[tap->mean - 1].mean;
  if (tap->through > 0) {
    value += state->ahead[tap->through - 1];
  }
  return value * tap->gain + tap->offset;
}

double yoke__master_tap(const yoke_state* state, const yoke_tap* tap, const double y[],
                        int64_t count) {
  if (tap->delay > 0) {
    return state->fifo[tap->fifo + (size_t)(count % tap->delay)];
  }
  return value_of(state, tap, y);
}

void yoke__master_gather(const yoke_system* system, const yoke_state* state, size_t unit,
                         const double y[], double u[]) {
  const yoke_system_unit* su = &system->units[unit];
  // all intakes of iterative schemes share one count
  const int64_t count = system->n_intakes > 0 ? state->intake_count[0] : 0;
  for (const yoke_tap* tap = system->taps + su->first_tap;
       tap < system->taps + su->first_tap + su->n_taps; tap++) {
    u[tap->to] = yoke__master_tap(state, tap, y, count);
  }
}

// ---------------------------------------------------------------------------------------------------------
// typed values

// typed outputs lie beside the real ones: v belongs to y, v_work to y_work
static unsigned char* typed_beside(const yoke_state* state, const double y[]) {
  return y == state->y ? state->v : state->v_work;
}

// one whole number from V; the item of an enumeration becomes its number
static int64_t read_whole(const unsigned char* v, const yoke_move* move, size_t i) {
  int64_t whole = 0;
  memcpy(&whole, v + move->from + i * sizeof whole, sizeof whole);
  return move->values_from == NULL ? whole : move->values_from[whole];
}

// the item with that number; -1, which the unit refuses, if there is none
static int64_t find_item(const yoke_move* move, int64_t value) {
  for (size_t i = 0; i < move->n_values_to; i++) {
    if (move->values_to[i] == value) {
      return (int64_t)i;
    }
  }
  return move->values_to == NULL ? value : -1;
}

static void run_move(yoke_state* state, const yoke_move* move, const double y[]) {
  const unsigned char* v = typed_beside(state, y);
  state->are_inputs_same[move->unit] = false;
  switch (move->kind) {
  case YOKE_MOVE_BYTES:
    memcpy(state->w + move->to, v + move->from, move->n);
    break;
  case YOKE_MOVE_ITEMS:
    for (size_t i = 0; i < move->n; i++) {
      const int64_t whole = find_item(move, read_whole(v, move, i));
      memcpy(state->w + move->to + i * sizeof whole, &whole, sizeof whole);
    }
    break;
  case YOKE_MOVE_REAL_TO_TYPED:
    for (size_t i = 0; i < move->n; i++) {
      const double value = y[move->from + i] * move->gain + move->offset;
      memcpy(state->w + move->to + i * sizeof value, &value, sizeof value);
    }
    break;
  case YOKE_MOVE_INTEGER_TO_REAL:
  case YOKE_MOVE_INTEGER_TO_TYPED:
    for (size_t i = 0; i < move->n; i++) {
      const double value = (double)read_whole(v, move, i) * move->gain + move->offset;
      if (move->kind == YOKE_MOVE_INTEGER_TO_REAL) {
        state->u[move->to + i] = value;
      } else {
        memcpy(state->w + move->to + i * sizeof value, &value, sizeof value);
      }
    }
    break;
  }
}

void yoke__master_run_moves(const yoke_system* system, yoke_state* state, size_t unit,
                            const double y[]) {
  for (size_t i = 0; i < system->n_intakes && system->n_moves > 0; i++) {
    for (size_t k = 0; k < system->intakes[i].n_moves; k++) {
      if (system->intakes[i].moves[k].unit == unit) {
        run_move(state, &system->intakes[i].moves[k], y);
      }
    }
  }
}

yoke_status yoke__master_set_typed(const yoke_system* system, yoke_state* state, size_t unit,
                                   yoke_failure* failure) {
  return yoke__master_set_typed_from(system, state->w, state->w_set, unit, state->t, failure);
}

yoke_status yoke__master_set_typed_from(const yoke_system* system, const unsigned char w[],
                                        unsigned char w_set[], size_t unit, double t,
                                        yoke_failure* failure) {
  const yoke_system_unit* su = &system->units[unit];
  for (size_t i = 0; i < su->n_typed_inputs; i++) {
    const yoke_system_typed* typed = &su->typed_inputs[i];
    if (memcmp(w + typed->at, w_set + typed->at, typed->size) != 0) {
      memcpy(w_set + typed->at, w + typed->at, typed->size);
      const yoke_status status =
          yoke__unit_set(&su->unit, typed->variable, w + typed->at, typed->size);
      if (status < 0) {
        return yoke__master_fail_unit(failure, system, unit, status, t,
                                      "'%s' refused the value it received",
                                      su->unit.info->variables[typed->variable].name);
      }
    }
  }
  return YOKE_OK;
}

yoke_status yoke__master_get_typed(const yoke_system* system, yoke_state* state, size_t unit,
                                   double t, const double y[], yoke_failure* failure) {
  state->are_outputs_same[unit] = false;
  return yoke__master_get_typed_to(system, typed_beside(state, y), unit,
                                   yoke__master_n_typed(system, state, unit), t, failure);
}

yoke_status yoke__master_get_typed_to(const yoke_system* system, unsigned char v[], size_t unit,
                                      size_t n, double t, yoke_failure* failure) {
  const yoke_system_unit* su = &system->units[unit];
  if (su->unit.ops->get_values != NULL) {
    const yoke_status status = su->unit.ops->get_values(su->unit.self, su->typed_outputs, n, v);
    return status >= 0 ? YOKE_OK
                       : yoke__master_fail_unit(failure, system, unit, status, t,
                                                "values could not be read");
  }
  for (size_t i = 0; i < n; i++) {
    const yoke_system_typed* typed = &su->typed_outputs[i];
    const yoke_status status =
        yoke__unit_get(&su->unit, typed->variable, v + typed->at, typed->size);
    if (status < 0) {
      return yoke__master_fail_unit(failure, system, unit, status, t, "'%s' could not be read",
                                    su->unit.info->variables[typed->variable].name);
    }
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// intakes

static void run_copies(const yoke_intake* intake, const double y[], double u[]) {
  const uint32_t* from = intake->from;
  const uint32_t* to = intake->to;
  for (size_t i = 0; i < intake->n_copies; i++) {
    u[to[i]] = y[from[i]];
  }
}

// What of an intake is taken.
typedef enum intake_part {
  TAKE_ALL,
  TAKE_ALL_BUT_DELAYED,  // those were taken at the start of the slot
  TAKE_NUMBERS,          // no typed values
} intake_part;

static void refresh_group(const yoke_system* system, const yoke_group* group, yoke_state* state,
                          const double y[], int64_t count, size_t entry);

// inputs of one intake; samples for coupling groups go straight to the inputs too, as their value at this instant, but for
// methods that have a say in it. entry: of refresh_order, counted from 1; 0: after all of them
static void run_intake(const yoke_system* system, yoke_state* state, size_t index, const double y[],
                       intake_part part, size_t entry) {
  const yoke_intake* intake = &system->intakes[index];
  run_copies(intake, y, state->u);
  for (size_t i = 0; i < intake->n_taps; i++) {
    const yoke_tap* tap = &intake->taps[i];
    if (tap->delay == 0 || part != TAKE_ALL_BUT_DELAYED) {
      state->u[tap->to] = yoke__master_tap(state, tap, y, state->intake_count[index]);
    }
  }
  for (size_t i = 0; i < intake->n_moves && part != TAKE_NUMBERS; i++) {
    run_move(state, &intake->moves[i], y);
  }
  for (size_t g = 0; g < intake->n_groups; g++) {
    const yoke_group* group = &system->groups[intake->groups[g]];
    if (group->is_fresh && entry > 0) {
      refresh_group(system, group, state, y, state->intake_count[index], entry);
    }
    for (size_t i = 0; i < group->setup.n_signals && !group->is_fresh; i++) {
      state->u[group->taps[i].to] =
          yoke__master_tap(state, &group->taps[i], y, state->intake_count[index]);
    }
  }
}

// Jumps. A polynomial through samples on both sides of a jump would shoot over it: signals of a unit whose outputs have
// jumped start anew with the sample that follows. Laws and fresh units pass a jump on along their feedthrough.

// Does a jump of a unit's outputs lie behind what others may see? Slow units are ahead, except under Gauss-Seidel.
static bool is_jump_hidden(const yoke_system* system, const yoke_state* state, size_t unit) {
  return state->y_seen == state->y && system->units[unit].n_slots > 1 && state->unit_wait[unit] > 0;
}

// What carries the jumped outputs: coupling groups start anew with their next sample, taps into laws and fresh units
// remember the jump until the exchange that brings it.
static void spread_jumps(const yoke_system* system, yoke_state* state) {
  for (size_t i = 0; i < system->n_taps; i++) {
    const yoke_tap* tap = &system->taps[i];
    if (tap->delay == 0 && state->is_output_jumped[tap->from] &&
        system->units[system->links[tap->link].to_unit].is_fresh) {
      state->is_tap_jumped[i] = true;
      state->has_tap_jumps = true;
    }
  }
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    bool* is_reset_due = state->is_reset_due + group->first_signal;
    for (size_t i = 0; i < group->setup.n_signals; i++) {
      is_reset_due[i] = is_reset_due[i] || state->is_output_jumped[group->taps[i].from];
    }
  }
  memset(state->is_output_jumped, 0, system->n_y * sizeof(bool));
}

// the outputs that let this tap through jump with it
static void pass_jump(const yoke_system* system, yoke_state* state, const yoke_system_unit* su,
                      const yoke_tap* tap) {
  const yoke_unit* unit = &su->unit;
  for (size_t v = 0; v < unit->info->n_variables; v++) {
    const yoke_variable* variable = &unit->info->variables[v];
    if (variable->causality == YOKE_OUTPUT && unit->dense[v] != YOKE_NOT_DENSE &&
        yoke__unit_has_feedthrough(unit, v, system->links[tap->link].to_variable)) {
      memset(state->is_output_jumped + su->y + unit->dense[v], true,
             yoke__variable_count(variable) * sizeof(bool));
    }
  }
}

// a law or fresh unit has been evaluated: jumps that came with its due inputs go on
static void pass_jumps(const yoke_system* system, yoke_state* state, size_t unit) {
  const yoke_system_unit* su = &system->units[unit];
  bool has_passed = false;
  for (size_t i = su->first_tap; i < su->first_tap + su->n_taps; i++) {
    const yoke_tap* tap = &system->taps[i];
    if (state->is_tap_jumped[i] && state->n_slots % tap->every == 0) {
      pass_jump(system, state, su, tap);
      state->is_tap_jumped[i] = false;
      has_passed = true;
    }
  }
  if (has_passed) {
    spread_jumps(system, state);
  }
}

// Jumps that units have announced, as far as others may see them yet.
static void note_jumps(const yoke_system* system, yoke_state* state) {
  bool is_left = false;
  for (size_t i = 0; i < system->n_units; i++) {
    const bool is_hidden = state->is_jumped[i] && is_jump_hidden(system, state, i);
    if (state->is_jumped[i] && !is_hidden) {
      memset(state->is_output_jumped + system->units[i].y, true,
             system->units[i].unit.n_y * sizeof(bool));
      state->is_jumped[i] = false;
    }
    is_left = is_left || is_hidden;
  }
  spread_jumps(system, state);
  state->has_events = is_left;
}

void yoke__master_declare_discontinuity(const yoke_system* system, yoke_state* state) {
  memset(state->is_jumped, true, system->n_units * sizeof *state->is_jumped);
  state->has_events = true;
}

// the present sample into a delay line, in place of the one that was read
static void push_delay(yoke_state* state, const yoke_tap* tap, const double y[], int64_t count) {
  state->fifo[tap->fifo + (size_t)(count % tap->delay)] = value_of(state, tap, y);
}

// How old the last real sample may be, in exchange intervals. A line may go on for two samples; a parabola through values that it
// predicted itself diverges where every second one is lost.
static double most_foretold(const yoke_group* group, size_t signal) {
  return group->setup.orders[signal] <= 1 ? 2.5 : 1.5;
}

// What the method itself predicted for this moment takes the place of a sample that was lost.
static void foretell(const yoke_system* system, const yoke_group* group, yoke_state* state,
                     size_t signal) {
  double* expected = state->group_numbers + group->derivatives;
  group->ops->input(state->group_memory + group->self, group->sink,
                    system->is_adaptive ? state->slot_h : group->setup.interval, expected);
  if (yoke__is_finite(expected[signal])) {
    state->group_numbers[group->sample + signal] = expected[signal];
  }
}

// A sample that stands in for a lost one is no sample: it is predicted, or history that would use it starts anew.
// is_due: signals that are looked at; NULL: all, and the probes.
static YOKE_NOINLINE void note_losses(const yoke_system* system, const yoke_group* group,
                                      yoke_state* state, int64_t count, const bool is_due[]) {
  bool* is_lost = state->is_lost + group->first_signal;
  bool has_loss = false, is_all = false;
  if (is_due != NULL) {
    memset(is_lost, 0, group->setup.n_signals * sizeof *is_lost);
  }
  for (size_t i = 0; i < group->n_validities; i++) {
    const yoke_validity* v = &group->validities[i];
    if (is_due != NULL && (v->signal == YOKE_NOT_FOUND || !is_due[v->signal])) {
      continue;
    }
    const yoke_unit* unit = &system->units[v->unit].unit;
    yoke_sample_info info = {.is_valid = true};
    bool is_bad = (system->units[v->unit].is_own && yoke__master_is_held(state, v->unit)) ||
                  (unit->ops->sample_info != NULL &&
                   unit->ops->sample_info(unit->self, v->variable, &info) >= 0 && !info.is_valid);
    if (is_bad && v->is_foretold && count > 0 && info.age > 0 &&
        info.age <= most_foretold(group, v->signal) * group->setup.interval) {
      foretell(system, group, state, v->signal);
      is_bad = false;
    }
    if (v->signal != YOKE_NOT_FOUND) {
      state->ages[group->first_signal + v->signal] = info.age;
    }
    has_loss = has_loss || is_bad;
    is_all = is_all || (is_bad && v->signal == YOKE_NOT_FOUND);
    if (v->signal != YOKE_NOT_FOUND) {
      is_lost[v->signal] = is_bad;
    }
  }
  if (has_loss) {
    group->ops->reset(state->group_memory + group->self, YOKE_RESET_LOST_SAMPLE,
                      is_all ? NULL : is_lost);
  }
}

// The sample of one signal. True: it comes after a jump. A jump arrives with the sample that follows it, also through a delay line.
static bool take_sample(const yoke_group* group, yoke_state* state, size_t signal, const double y[],
                        int64_t count) {
  const yoke_tap* tap = &group->taps[signal];
  state->group_numbers[group->sample + signal] = yoke__master_tap(state, tap, y, count);
  return tap->delay > 0 ? state->is_fifo_jump[tap->fifo + (size_t)(count % tap->delay)]
                        : state->is_reset_due[group->first_signal + signal];
}

// What its delay line takes when everything has been evaluated; a jump is on its way from then on.
static void end_sample(const yoke_group* group, yoke_state* state, size_t signal, const double y[],
                       int64_t count) {
  const yoke_tap* tap = &group->taps[signal];
  bool* is_reset_due = &state->is_reset_due[group->first_signal + signal];
  if (tap->delay > 0) {
    state->is_fifo_jump[tap->fifo + (size_t)(count % tap->delay)] = *is_reset_due;
    push_delay(state, tap, y, count);
  }
  *is_reset_due = false;
}

static void take_probes(const yoke_group* group, yoke_state* state, const double y[]) {
  double* sample = state->group_numbers + group->sample + group->setup.n_signals;
  for (size_t i = 0; i < group->setup.n_probes; i++) {
    sample[i] = y[group->probes[i]] * group->probe_scale[i] + group->probe_offset[i];
  }
}

static void observe_group(const yoke_system* system, const yoke_group* group, yoke_state* state,
                          int64_t count, const bool is_due[]) {
  // a chosen step holds for the whole system
  const bool is_adaptive = system->is_adaptive;
  const double h = is_adaptive ? state->slot_h : group->setup.interval;
  const yoke_coupling_moment now = {
      .k = count,
      .h_last = count == 0 ? 0 : h,
      .h_next = is_adaptive && count > 0 ? state->slot_h_next : h,
      .worker = state->workers[group - system->groups],
      .is_due = is_due,
      .ages = group->n_validities > 0 ? state->ages + group->first_signal : NULL};
  const double* input = state->group_numbers + group->input;
  group->ops->observe(state->group_memory + group->self, &now, state->group_numbers + group->sample,
                      count == 0 ? NULL : input);
}

// One coupling group takes its sample.
static void sample_group(const yoke_system* system, const yoke_group* group, yoke_state* state,
                         const double y[], int64_t count) {
  bool* is_after_jump = state->is_due_signal + group->first_signal;
  bool has_jump = false;
  for (size_t i = 0; i < group->setup.n_signals; i++) {
    is_after_jump[i] = take_sample(group, state, i, y, count);
    end_sample(group, state, i, y, count);
    has_jump = has_jump || is_after_jump[i];
  }
  if (has_jump) {
    group->ops->reset(state->group_memory + group->self, YOKE_RESET_DISCONTINUITY, is_after_jump);
  }
  if (group->n_validities > 0) {
    note_losses(system, group, state, count, NULL);
  }
  take_probes(group, state, y);
  observe_group(system, group, state, count, NULL);
}

// ---- groups of fresh units, whose methods know of it (YOKE_COUPLING_FRESH)

#define AFTER_ALL SIZE_MAX  // entries of refresh_order

// Signals that are final before this entry of refresh_order, and were not observed yet. False: none.
static bool find_due(const yoke_group* group, const yoke_state* state, size_t entry) {
  bool* is_due = state->is_due_signal + group->first_signal;
  const bool* is_seen = state->is_seen_signal + group->first_signal;
  bool is_any = false;
  for (size_t i = 0; i < group->setup.n_signals; i++) {
    is_due[i] = !is_seen[i] && (entry == AFTER_ALL || group->final_at[i] < entry);
    is_any = is_any || is_due[i];
  }
  return is_any;
}

// They are observed, which takes the jumps and losses that they bring into account.
static void sample_due(const yoke_system* system, const yoke_group* group, yoke_state* state,
                       const double y[], int64_t count) {
  const bool* is_due = state->is_due_signal + group->first_signal;
  bool* is_lost = state->is_lost + group->first_signal;
  bool has_jump = false;
  memset(is_lost, 0, group->setup.n_signals * sizeof *is_lost);
  for (size_t i = 0; i < group->setup.n_signals; i++) {
    if (is_due[i]) {
      is_lost[i] = take_sample(group, state, i, y, count);
      has_jump = has_jump || is_lost[i];
      state->is_seen_signal[group->first_signal + i] = true;
    }
  }
  if (has_jump) {
    group->ops->reset(state->group_memory + group->self, YOKE_RESET_DISCONTINUITY, is_lost);
  }
  if (group->n_validities > 0) {
    note_losses(system, group, state, count, is_due);
  }
  take_probes(group, state, y);
  observe_group(system, group, state, count, is_due);
}

// What the method says at exchange point `count`: for signals that have been observed there, or that it delays itself.
static void ask_now(const yoke_group* group, yoke_state* state, int64_t count) {
  double* u = state->group_numbers + group->derivatives;
  const int64_t* delays = group->setup.delays;
  group->ops->input(state->group_memory + group->self, group->sink, 0, u);
  for (size_t i = 0; i < group->setup.n_signals; i++) {
    if (state->is_seen_signal[group->first_signal + i] ||
        (delays != NULL && delays[i] > 0 && count > 0)) {
      state->u[group->taps[i].to] = u[i];
    }
  }
}

// What the unit is evaluated with at this entry of refresh_order. An exchange point is announced also where nothing is due yet:
// signals that the method delays itself move on.
static void refresh_group(const yoke_system* system, const yoke_group* group, yoke_state* state,
                          const double y[], int64_t count, size_t entry) {
  if (find_due(group, state, entry) || group->setup.delays != NULL) {
    sample_due(system, group, state, y, count);
  }
  ask_now(group, state, count);
}

// The rest of them, when everything has been evaluated.
static void sample_rest(const yoke_system* system, const yoke_group* group, yoke_state* state,
                        const double y[], int64_t count) {
  if (find_due(group, state, AFTER_ALL)) {
    sample_due(system, group, state, y, count);
  }
  ask_now(group, state, count);
  for (size_t i = 0; i < group->setup.n_signals; i++) {
    end_sample(group, state, i, y, count);
  }
  memset(state->is_seen_signal + group->first_signal, 0, group->setup.n_signals * sizeof(bool));
}

// The same where nothing is delayed and nothing has jumped. Every such group takes a sample in every slot.
static inline void sample_group_plain(const yoke_system* system, yoke_hot_group* hot,
                                      yoke_state* state, int64_t count) {
  const double* y = state->y;
  double* sample = hot->sample;
  for (size_t i = 0; i < hot->n_inlets; i++) {
    const yoke_hot_inlet* inlet = &hot->inlets[i];
    sample[i] = y[inlet->from] * inlet->gain + inlet->offset;
  }
  if (hot->has_validities) {
    note_losses(system, hot->group, state, count, NULL);
  }
  hot->now.k = count;
  if (system->is_adaptive) {
    hot->now.h_last = state->slot_h;
    hot->now.h_next = state->slot_h_next;
  }
  hot->observe(hot->self, &hot->now, sample, hot->u != NULL ? hot->u : hot->input);
  for (size_t i = 0; i < hot->n_signals; i++) {
    state->u[hot->taps[i].to] = sample[i];
  }
}

// What units were given straight, to where the common path looks for it.
static YOKE_NOINLINE void keep_inputs(const yoke_system* system, yoke_state* state) {
  for (const yoke_hot_group* hot = state->hot_groups; hot < state->hot_groups + system->n_groups;
       hot++) {
    for (size_t i = 0; hot->u != NULL && i < hot->n_signals; i++) {
      hot->input[i] = hot->u[i];
    }
  }
}

static YOKE_NOINLINE void sample_closed(const yoke_system* system, yoke_state* state,
                                        int64_t count) {
  yoke_hot_group* end = state->hot_groups + system->n_groups;
  for (yoke_hot_group* hot = state->hot_groups; hot < end; hot++) {
    if (hot->is_sampled && !hot->is_open) {
      sample_group_plain(system, hot, state, count);
    }
  }
}

static inline void sample_groups_plain(const yoke_system* system, yoke_state* state,
                                       int64_t count) {
  const yoke_open_signal* end = state->opens + state->n_opens;
  for (const yoke_open_signal* open = state->opens; open < end; open++) {
    // 1 * y + 0 is y, but for the sign of 0
    const double sample =
        open->is_scaled ? *open->from * open->gain + open->offset : *open->from + 0.0;
    yoke__polynomial_observe(open->signal, sample);
    *open->sample = *open->u = sample;
  }
  if (state->n_closed > 0) {
    sample_closed(system, state, count);
  }
}

// the coupling groups of an intake take their samples; delay lines move on
static void close_intake(const yoke_system* system, yoke_state* state, size_t index,
                         const double y[]) {
  const yoke_intake* intake = &system->intakes[index];
  const int64_t count = state->intake_count[index];
  for (size_t g = 0; g < intake->n_groups; g++) {
    const yoke_group* group = &system->groups[intake->groups[g]];
    (group->is_fresh ? sample_rest : sample_group)(system, group, state, y, count);
    state->group_since[intake->groups[g]] = 0;
  }
  for (size_t i = 0; i < intake->n_taps; i++) {
    if (intake->taps[i].delay > 0) {
      push_delay(state, &intake->taps[i], y, count);
    }
  }
  state->intake_count[index]++;
}

void yoke__master_mark_due(const yoke_system* system, yoke_state* state) {
  if (state->has_events) {
    note_jumps(system, state);
  }
  for (size_t i = 0; i < system->n_intakes; i++) {
    state->intake_due[i] = --state->intake_wait[i] <= 0;
    if (state->intake_due[i]) {
      state->intake_wait[i] = system->intakes[i].every;
    }
  }
  for (size_t i = 0; i < system->n_groups; i++) {
    state->group_since[i] += system->slot * state->stretch;
  }
}

// ---------------------------------------------------------------------------------------------------------
// laws and fresh units

// between exchange points a unit whose inputs move is evaluated at the end of its steps
static bool is_between_due(const yoke_system* system, const yoke_state* state, size_t unit) {
  const yoke_system_unit* su = &system->units[unit];
  return su->is_fresh_between && (su->n_slots <= 1 || state->n_slots % su->n_slots == 0);
}

static bool is_refresh_due(const yoke_system* system, const yoke_state* state, size_t unit) {
  const size_t first = system->unit_intake[unit], last = system->unit_intake[unit + 1];
  // a law without inputs may still depend on time; what a unit's step gave is right for open inputs
  bool is_due =
      (first == last && system->units[unit].is_law) || is_between_due(system, state, unit);
  for (size_t i = first; i < last; i++) {
    is_due = is_due || state->intake_due[i];
  }
  return is_due;
}

// The time at which the outputs of a unit are: under Gauss-Seidel units are at different ones inside a slot, and
// a law is as new as the newest of its sources.
static double time_of(const yoke_system* system, yoke_state* state, size_t unit) {
  const yoke_system_unit* su = &system->units[unit];
  if (system->scenario->scheme != YOKE_GAUSS_SEIDEL) {
    return state->t;
  }
  for (size_t i = su->first_tap; su->is_law && i < su->first_tap + su->n_taps; i++) {
    const double t = state->unit_t[system->links[system->taps[i].link].from_unit];
    state->unit_t[unit] = t > state->unit_t[unit] ? t : state->unit_t[unit];
  }
  return state->unit_t[unit];
}

// inputs of an intake that is not due, as the methods move them
static void move_inputs(const yoke_system* system, yoke_state* state, size_t index) {
  const yoke_intake* intake = &system->intakes[index];
  for (size_t g = 0; g < intake->n_groups; g++) {
    const yoke_group* group = &system->groups[intake->groups[g]];
    if (group->is_fresh) {
      yoke__master_ask(system, state, group, 0);
    }
  }
}

// inputs from the newest outputs, then the outputs that follow from them
static yoke_status evaluate(const yoke_system* system, yoke_state* state, size_t unit, double t,
                            size_t entry) {
  const yoke_system_unit* su = &system->units[unit];
  const bool is_gs = system->scenario->scheme == YOKE_GAUSS_SEIDEL;
  const intake_part part = !is_gs ? TAKE_ALL : su->is_law ? TAKE_ALL_BUT_DELAYED : TAKE_NUMBERS;
  if (su->n_inflows > 0) {
    yoke__master_take_flows(system, state, system->inflows + su->first_inflow, su->n_inflows);
  }
  for (size_t i = system->unit_intake[unit]; i < system->unit_intake[unit + 1]; i++) {
    if (state->intake_due[i]) {
      run_intake(system, state, i, state->y_seen, part, entry);
    } else if (is_between_due(system, state, unit)) {
      move_inputs(system, state, i);
    }
  }
  YOKE_TRY(yoke__master_set_typed(system, state, unit, &state->failure));
  yoke_status status = YOKE_OK;
  if (su->is_steered && state->pace != NULL) {
    yoke__master_steer(system, state, su, state->u, false);
    status = yoke__master_steer_typed(system, state, su);
  }
  if (status >= 0) {
    status = yoke__unit_set_inputs(&su->unit, state->u + su->u);
  }
  if (status >= 0) {
    status = su->unit.ops->refresh(su->unit.self, t);
  }
  if (status < 0) {
    return yoke__master_fail_unit(&state->failure, system, unit, status, t,
                                  "outputs could not be refreshed");
  }
  YOKE_TRY(yoke__master_get_outputs(system, unit, t, state->y_seen + su->y, &state->failure));
  return yoke__master_get_typed(system, state, unit, t, state->y_seen, &state->failure);
}

// Under Gauss-Seidel a fresh unit only shows what its outputs would be: the inputs it steps with are those of its turn.
static yoke_status refresh_unit(const yoke_system* system, yoke_state* state, size_t unit,
                                size_t entry) {
  if (state->pace != NULL && yoke__pace_leaves_out(state->pace, unit)) {
    return YOKE_OK;
  }
  const yoke_system_unit* su = &system->units[unit];
  const bool is_shown_only = system->scenario->scheme == YOKE_GAUSS_SEIDEL && !su->is_law;
  const double t = time_of(system, state, unit);
  double* kept = state->du + su->u;
  if (is_shown_only) {
    memcpy(kept, state->u + su->u, su->unit.n_u * sizeof *kept);
  }
  YOKE_TRY(evaluate(system, state, unit, t, entry));
  if (state->has_tap_jumps) {
    pass_jumps(system, state, unit);
  }
  if (is_shown_only) {
    memcpy(state->u + su->u, kept, su->unit.n_u * sizeof *kept);
  }
  // a slow unit in the middle of its step is ahead of what everybody may see
  const bool is_ahead = su->n_slots > 1 && state->unit_wait[unit] > 0;
  if (state->y_seen != state->y && !is_ahead) {
    memcpy(state->y + su->y, state->y_seen + su->y, su->unit.n_y * sizeof(double));
    YOKE_TRY(yoke__master_get_typed(system, state, unit, t, state->y, &state->failure));
  }
  return YOKE_OK;
}

// What was sent of the last call of the slot had not been evaluated yet. The first exchange is no call's.
static void send_late(const yoke_system* system, yoke_state* state, size_t unit, size_t entry) {
  const yoke_system_unit* su = &system->units[unit];
  if (state->n_slots == 0 || (su->n_slots > 1 && state->n_slots % su->n_slots != 0) ||
      (state->pace != NULL && yoke__pace_leaves_out(state->pace, unit))) {
    return;
  }
  for (const yoke_group_send* send = system->sends + su->first_send;
       send < system->sends + su->first_send + su->n_sends; send++) {
    if (send->late_at == entry) {
      yoke__master_send_value(system, state, send, state->group_since[send->group] / su->period,
                              state->y_seen[send->tap->from]);
    }
  }
}

yoke_status yoke__master_refresh(const yoke_system* system, yoke_state* state, const size_t units[],
                                 size_t n) {
  if (state->has_events) {
    note_jumps(system, state);
  }
  yoke_status status = YOKE_OK;
  yoke_call* call = n > 0 ? yoke__call_here() : NULL;
  for (size_t k = 0; k < n && status >= 0; k++) {
    if (is_refresh_due(system, state, units[k])) {
      yoke__call_prepare(call, "refresh", state->t);
      yoke__call_name(call, system->units[units[k]].name);
      status = refresh_unit(system, state, units[k], k + 1);
      yoke__call_name(call, NULL);
    }
    if (system->units[units[k]].has_late_sends && status >= 0) {
      send_late(system, state, units[k], k + 1);
    }
  }
  return status < 0 ? status : YOKE_OK;
}

void yoke__master_take_in(const yoke_system* system, yoke_state* state, size_t unit) {
  const yoke_system_unit* su = &system->units[unit];
  if (state->has_events) {
    note_jumps(system, state);
  }
  if (su->n_inflows > 0) {
    yoke__master_take_flows(system, state, system->inflows + su->first_inflow, su->n_inflows);
  }
  for (size_t i = system->unit_intake[unit]; i < system->unit_intake[unit + 1]; i++) {
    if (state->intake_due[i]) {
      run_intake(system, state, i, state->y_seen, TAKE_ALL, 0);
      close_intake(system, state, i, state->y_seen);
    }
  }
}

void yoke__master_open_laws(const yoke_system* system, yoke_state* state) {
  for (size_t unit = system->n_units - system->n_laws; unit < system->n_units; unit++) {
    for (size_t i = system->unit_intake[unit]; i < system->unit_intake[unit + 1]; i++) {
      const yoke_intake* intake = &system->intakes[i];
      for (size_t k = 0; state->intake_due[i] && k < intake->n_taps; k++) {
        const yoke_tap* tap = &intake->taps[k];
        if (tap->delay > 0) {
          state->u[tap->to] = yoke__master_tap(state, tap, state->y_seen, state->intake_count[i]);
        }
      }
    }
  }
}

void yoke__master_close_laws(const yoke_system* system, yoke_state* state) {
  for (size_t unit = system->n_units - system->n_laws; unit < system->n_units; unit++) {
    for (size_t i = system->unit_intake[unit]; i < system->unit_intake[unit + 1]; i++) {
      if (state->intake_due[i]) {
        close_intake(system, state, i, state->y_seen);
      }
    }
  }
}

static YOKE_NOINLINE yoke_status exchange_any(const yoke_system* system, yoke_state* state) {
  yoke__master_mark_due(system, state);
  if (system->n_throughs > 0) {
    yoke__master_look_ahead(system, state);
  }
  if (system->n_refresh > 0) {
    YOKE_TRY(yoke__master_refresh(system, state, system->refresh_order, system->n_refresh));
  }
  if (system->n_flows > 0) {
    yoke__master_take_flows(system, state, system->inflows, system->n_flows);
    yoke__master_meter_laws(system, state);
  }
  // fresh units' own too: what they feed themselves, also through laws, was not there when they were evaluated
  for (size_t i = 0; i < system->n_intakes; i++) {
    if (state->intake_due[i]) {
      run_intake(system, state, i, state->y, TAKE_ALL, 0);
    }
  }
  for (size_t i = 0; i < system->n_intakes; i++) {
    if (state->intake_due[i]) {
      close_intake(system, state, i, state->y);
    }
  }
  // what was sent is what is seen; laws and fresh units were evaluated
  for (size_t k = 0; k < system->n_throughs; k++) {
    const yoke_system_through* t = &system->throughs[k];
    state->y[t->y] += t->is_evaluated ? 0 : state->ahead[k];
  }
  yoke__master_note_sources(system, state);
  return YOKE_OK;
}

// Long values that have not changed stay where they are.
static YOKE_NOINLINE void run_moves_plain(yoke_state* state, const yoke_move moves[], size_t n) {
  const unsigned char* v = state->v;
  unsigned char* w = state->w;
  for (const yoke_move* move = moves; move < moves + n; move++) {
    if (move->kind == YOKE_MOVE_BYTES && move->n == sizeof(int64_t)) {
      memcpy(w + move->to, v + move->from, sizeof(int64_t));
    } else if (move->kind != YOKE_MOVE_BYTES || !state->are_outputs_same[move->from_unit]) {
      run_move(state, move, state->y);
    }
  }
}

yoke_status yoke__master_exchange(const yoke_system* system, yoke_state* state) {
  const int64_t count = state->intake_count[0];
  const size_t n_groups = system->n_groups;
  if (!system->is_exchange_plain || (n_groups > 0 && (count == 0 || state->has_events))) {
    if (system->is_exchange_plain) {
      keep_inputs(system, state);
    }
    return exchange_any(system, state);
  }
  if (system->n_throughs > 0) {
    yoke__master_bring_up_to_date(system, state);
  }
  run_copies(&system->intakes[0], state->y, state->u);
  if (system->n_moves > 0) {
    run_moves_plain(state, system->intakes[0].moves, system->n_moves);
  }
  if (n_groups > 0) {
    sample_groups_plain(system, state, count);
  }
  state->intake_count[0] = count + 1;
  return YOKE_OK;
}
