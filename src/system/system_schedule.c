// Stage 4: the time grid and what is exchanged when.
//
// A slot is the longest interval at whose ends everything that is exchanged or recorded falls; each unit's step is a
// whole number of slots (slow unit) or a whole fraction of one (fast unit). Between two slot ends units are
// independent of each other (Jacobi), whatever their steps are.
#include <stdlib.h>
#include <string.h>

#include "base/base_number.h"
#include "system/system.h"

// ---------------------------------------------------------------------------------------------------------
// grid

static void choose_slot(yoke_system* system) {
  int64_t slot = system->macro;
  for (size_t i = 0; i < system->n_links; i++) {
    slot = yoke__gcd(slot, system->links[i].interval);
  }
  // shrink until every step either divides the slot or is a multiple of it
  for (bool is_settled = false; !is_settled;) {
    is_settled = true;
    for (size_t i = 0; i < system->n_units; i++) {
      const int64_t period = system->units[i].period;
      if (!system->units[i].is_law && slot % period != 0 && period % slot != 0) {
        slot = yoke__gcd(slot, period);
        is_settled = false;
      }
    }
  }
  system->slot = slot;
  for (size_t i = 0; i < system->n_units; i++) {
    yoke_system_unit* unit = &system->units[i];
    const bool is_fast = unit->is_law || slot >= unit->period;
    unit->n_steps = is_fast && !unit->is_law ? slot / unit->period : 1;
    unit->n_slots = is_fast ? 1 : unit->period / slot;
    system->has_slow_units = system->has_slow_units || unit->n_slots > 1;
  }
  for (size_t i = 0; i < system->n_taps; i++) {
    system->taps[i].every = system->links[system->taps[i].link].interval / slot;
  }
  for (size_t i = 0; i < system->n_flows; i++) {
    system->flows[i].every = system->links[system->flows[i].link].interval / slot;
  }
}

// Macro steps before the first row: rows stay where they would be without `from`.
static int64_t count_unrecorded(const yoke_system* system, int64_t every) {
  const yoke_scenario* s = system->scenario;
  int64_t n = 0;
  bool is_whole = false;
  if (!s->record_from.is_given || s->record_from.value <= s->start.value ||
      yoke__clock_count(&system->clock, s->start.exact, s->record_from.exact, system->macro, &n,
                        &is_whole) < 0) {
    return 0;
  }
  n += !is_whole;
  return (n + every - 1) / every * every;
}

// Whole macro steps up to the stop time, counted with exact decimals.
static void count_slots(yoke_system* system) {
  const yoke_scenario* s = system->scenario;
  int64_t n = 0;
  bool is_whole = false;
  const yoke_status counted = yoke__clock_count(&system->clock, s->start.exact, s->stop.exact,
                                                system->macro, &n, &is_whole);
  // ticks times their numerator must stay exact in a double
  if (counted < 0 || (double)n >= 9e15 / (double)system->macro / (double)system->clock.num) {
    yoke__error(system->messages, s->stop.place,
                "the run has more ticks than can be counted exactly");
    return;
  }
  if (n < 1) {
    char step[YOKE_NUMBER_SIZE];
    yoke__number_format(yoke__clock_seconds(&system->clock, system->macro), step);
    yoke__error(system->messages, s->stop.place,
                "stop must be at least one step after start; a step is %s s%s", step,
                yoke__system_is_iterative(system) ? ", the common multiple of all steps" : "");
    return;
  }
  if (!is_whole) {
    char reached[YOKE_NUMBER_SIZE];
    yoke__number_format(yoke__clock_time(&system->clock, n * system->macro), reached);
    yoke__message_add(system->messages, YOKE_WARNING, s->stop.place,
                      "stop is not a whole number of macro steps after start: the run ends at %s s",
                      reached);
  }
  system->macro_slots = system->macro / system->slot;
  system->n_slots = n * system->macro_slots;
  // beyond the end of the run every interval is the same: none
  const int64_t record_every = s->record_every <= n ? s->record_every : n + 1;
  system->record_every = record_every * system->macro_slots;
  system->record_from = count_unrecorded(system, record_every) * system->macro_slots;
  system->t_start = yoke__clock_time(&system->clock, 0);
  system->t_stop = yoke__clock_time(&system->clock, system->n_slots * system->slot);
}

// ---------------------------------------------------------------------------------------------------------
// a step that the residual chooses

// who cannot live with steps of different lengths
static void check_adaptive_units(yoke_system* system) {
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    const uint32_t flags = unit->unit.info->flags;
    const char* why = (flags & YOKE_UNIT_PHYSICAL) != 0     ? "is a real machine"
                      : (flags & YOKE_UNIT_FIXED_STEP) != 0 ? "needs a fixed step"
                      : unit->source->step.is_given         ? "has a step of its own"
                                                            : NULL;
    if (!unit->is_law && why != NULL) {
      yoke__error(system->messages, unit->source->place,
                  "time.step: {min, max} changes the step while running, but unit '%s' (%s) %s",
                  unit->name, unit->unit.ops->name, why);
    }
  }
}

static void check_adaptive_links(yoke_system* system) {
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    const char* what = link->delay > 0                     ? "delay"
                       : link->source->exchange.is_given   ? "exchange"
                       : link->is_dense && link->order > 0 ? "order"
                                                           : NULL;
    if (what != NULL) {
      yoke__error(
          system->messages, link->source->place,
          "time.step: {min, max} changes the step during the run: '%s' cannot be used with it",
          what);
    }
  }
}

static void choose_adaptive(yoke_system* system) {
  const yoke_scenario_adaptive* adaptive = &system->scenario->adaptive;
  if (!adaptive->is_given) {
    return;
  }
  system->is_adaptive = true;
  system->adaptive_rho = adaptive->rho;
  const double ratio = adaptive->max.value / adaptive->min.value;
  system->adaptive_max = ratio < 1e15 ? (int64_t)(ratio * (1 + 1e-12)) : 1000000000000000;
  if (yoke__system_is_iterative(system)) {
    yoke__error(system->messages, adaptive->place,
                "time.step: {min, max} needs a residual, which iterative schemes do not leave");
  }
  bool has_bond = false;
  for (size_t i = 0; i < system->n_bonds; i++) {
    has_bond = has_bond || system->bonds[i].ledger.kind == YOKE_BOND_POWER;
  }
  if (!has_bond) {
    yoke__error(system->messages, adaptive->place,
                "time.step: {min, max} needs a bond whose residual chooses the step, and there is "
                "none");
  }
  check_adaptive_units(system);
  check_adaptive_links(system);
}

// ---------------------------------------------------------------------------------------------------------
// rollback

static void lay_images(yoke_system* system) {
  for (size_t i = 0; i < system->n_units; i++) {
    yoke_system_unit* unit = &system->units[i];
    unit->image_size = yoke__unit_image_size(&unit->unit);
    unit->image = system->n_image_bytes;
    system->n_image_bytes += (unit->image_size + 63) / 64 * 64;
  }
}

// ---------------------------------------------------------------------------------------------------------
// intakes

typedef enum item_kind { ITEM_COPY, ITEM_TAP, ITEM_GROUP, ITEM_MOVE } item_kind;

// One thing to exchange. owner 0: together with all others; 1 + i: by unit i alone, before or after somebody.
typedef struct item {
  size_t owner;
  int64_t every;
  item_kind kind;
  size_t at;  // index of tap, group or link
} item;

static int compare_items(const void* left, const void* right) {
  const item* a = left;
  const item* b = right;
  if (a->owner != b->owner) {
    return a->owner < b->owner ? -1 : 1;
  }
  if (a->every != b->every) {
    return a->every < b->every ? -1 : 1;
  }
  if (a->kind != b->kind) {
    return a->kind < b->kind ? -1 : 1;
  }
  return a->at < b->at ? -1 : a->at > b->at;
}

static size_t owner_of(const yoke_system* system, size_t unit) {
  const bool is_alone =
      system->scenario->scheme == YOKE_GAUSS_SEIDEL || system->units[unit].is_fresh;
  return is_alone ? unit + 1 : 0;
}

static bool is_plain(const yoke_tap* tap) {
  return tap->gain == 1 && tap->offset == 0 && tap->delay == 0 && tap->mean == 0 &&
         tap->through == 0;
}

// one item for each tap that stands alone and for each group that takes samples
static void list_items(yoke_system* system, item* items, size_t* n_items) {
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    for (size_t t = unit->first_tap; t < unit->first_tap + unit->n_taps; t++) {
      const yoke_tap* tap = &system->taps[t];
      if (!yoke__system_needs_group(system, unit, tap)) {
        items[(*n_items)++] =
            (item){owner_of(system, i), tap->every, is_plain(tap) ? ITEM_COPY : ITEM_TAP, t};
      }
    }
  }
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    if (group->role != YOKE_GROUP_MEMBER) {
      items[(*n_items)++] = (item){owner_of(system, group->unit), group->every, ITEM_GROUP, g};
    }
  }
}

static size_t typed_output_at(const yoke_system_unit* unit, size_t variable) {
  for (size_t i = 0; i < unit->n_typed_outputs; i++) {
    if (unit->typed_outputs[i].variable == variable) {
      return unit->typed_outputs[i].at;
    }
  }
  return 0;
}

static size_t typed_input_at(const yoke_system_unit* unit, size_t variable) {
  for (size_t i = 0; i < unit->n_typed_inputs; i++) {
    if (unit->typed_inputs[i].variable == variable) {
      return unit->typed_inputs[i].at;
    }
  }
  return 0;
}

// an enumeration meets an integer or a real as the number of its item
static void read_items(const yoke_variable* source, const yoke_variable* sink, size_t n,
                       yoke_move* move) {
  if (source->type == sink->type) {
    return;
  }
  if (source->type == YOKE_ENUMERATION) {
    move->values_from = source->item_values;
  }
  if (sink->type == YOKE_ENUMERATION && sink->item_values != NULL) {
    move->values_to = sink->item_values;
    while (sink->items[move->n_values_to] != NULL) {
      move->n_values_to++;
    }
  }
  if (move->kind == YOKE_MOVE_BYTES && (move->values_from != NULL || move->values_to != NULL)) {
    move->kind = YOKE_MOVE_ITEMS;
    move->n = n;
  }
}

static yoke_move make_move(const yoke_system* system, const yoke_system_link* link) {
  const yoke_system_unit* from = &system->units[link->from_unit];
  const yoke_system_unit* to = &system->units[link->to_unit];
  const yoke_variable* source = &from->unit.info->variables[link->from_variable];
  const yoke_variable* sink = &to->unit.info->variables[link->to_variable];
  const bool is_dense_sink = sink->type == YOKE_REAL && sink->causality == YOKE_INPUT;
  yoke_move move = {.n = link->n,
                    .gain = link->gain,
                    .offset = link->offset,
                    .from_unit = link->from_unit,
                    .unit = link->to_unit};
  if (source->type == YOKE_REAL) {
    move.kind = YOKE_MOVE_REAL_TO_TYPED;
    move.from = from->y + from->unit.dense[link->from_variable];
  } else {
    move.from = typed_output_at(from, link->from_variable);
    move.kind = sink->type != YOKE_REAL ? YOKE_MOVE_BYTES
                : is_dense_sink         ? YOKE_MOVE_INTEGER_TO_REAL
                                        : YOKE_MOVE_INTEGER_TO_TYPED;
    move.n = sink->type != YOKE_REAL ? yoke__variable_size(source) : link->n;
    read_items(source, sink, link->n, &move);
  }
  move.to = is_dense_sink ? to->u + to->unit.dense[link->to_variable]
                          : typed_input_at(to, link->to_variable);
  return move;
}

// one intake from the items [first, last), which share owner and interval
static yoke_status make_intake(yoke_system* system, const item items[], size_t first, size_t last) {
  const size_t n = last - first;
  uint32_t* from = yoke__arena_array(&system->arena, n, sizeof *from);
  uint32_t* to = yoke__arena_array(&system->arena, n, sizeof *to);
  size_t n_of[4] = {0};
  for (size_t i = first; i < last; i++) {
    n_of[items[i].kind]++;
  }
  yoke_tap* taps = yoke__arena_array(&system->arena, n_of[ITEM_TAP] + 1, sizeof *taps);
  yoke_move* moves = yoke__arena_array(&system->arena, n_of[ITEM_MOVE] + 1, sizeof *moves);
  size_t* groups = yoke__arena_array(&system->arena, n_of[ITEM_GROUP] + 1, sizeof *groups);
  YOKE_TRY_MEMORY(from && to && taps && moves && groups);
  yoke_intake* intake = &system->intakes[system->n_intakes++];
  *intake = (yoke_intake){.every = items[first].every,
                          .from = from,
                          .to = to,
                          .taps = taps,
                          .moves = moves,
                          .groups = groups};
  for (size_t i = first; i < last; i++) {
    switch (items[i].kind) {
    case ITEM_COPY:
      from[intake->n_copies] = (uint32_t)system->taps[items[i].at].from;
      to[intake->n_copies++] = (uint32_t)system->taps[items[i].at].to;
      break;
    case ITEM_TAP:
      taps[intake->n_taps++] = system->taps[items[i].at];
      break;
    case ITEM_GROUP:
      groups[intake->n_groups++] = items[i].at;
      break;
    case ITEM_MOVE:
      system->n_moves++;
      moves[intake->n_moves++] = make_move(system, &system->links[items[i].at]);
      break;
    }
  }
  return YOKE_OK;
}

static yoke_status make_intakes(yoke_system* system, const item items[], size_t n_items) {
  size_t* unit_intake = yoke__arena_array(&system->arena, system->n_units + 2, sizeof *unit_intake);
  system->intakes = yoke__arena_array(&system->arena, n_items + 1, sizeof *system->intakes);
  YOKE_TRY_MEMORY(unit_intake && system->intakes);
  size_t owner = 0;
  for (size_t first = 0, last = 0; first < n_items; first = last) {
    while (last < n_items && items[last].owner == items[first].owner &&
           items[last].every == items[first].every) {
      last++;
    }
    // owners without items have empty ranges
    for (; owner < items[first].owner; owner++) {
      unit_intake[owner] = system->n_intakes;
    }
    YOKE_TRY(make_intake(system, items, first, last));
  }
  for (; owner <= system->n_units; owner++) {
    unit_intake[owner] = system->n_intakes;
  }
  system->n_shared_intakes = unit_intake[0];
  system->unit_intake = unit_intake;
  return YOKE_OK;
}

// Some group needs more than the values of all outputs at the very time of the sample, as they are sent.
static bool has_special_group(const yoke_system* system) {
  for (size_t g = 0; g < system->n_groups; g++) {
    // probes are outputs as they were returned
    if (system->n_throughs > 0 && system->groups[g].setup.n_probes > 0) {
      return true;
    }
    for (size_t i = 0; i < system->groups[g].setup.n_signals; i++) {
      if (system->groups[g].taps[i].delay > 0) {
        return true;
      }
    }
  }
  return false;
}

static yoke_status lay_exchange(yoke_system* system) {
  item* items = calloc(system->n_taps + system->n_links + 1, sizeof *items);
  YOKE_TRY_MEMORY(items);
  size_t n_items = 0;
  list_items(system, items, &n_items);
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    if (!link->is_dense) {
      items[n_items++] =
          (item){owner_of(system, link->to_unit), link->interval / system->slot, ITEM_MOVE, i};
    }
  }
  qsort(items, n_items, sizeof *items, compare_items);
  const yoke_status status = make_intakes(system, items, n_items);
  free(items);
  if (status >= 0 && system->n_intakes == 1) {
    const yoke_intake* only = &system->intakes[0];
    system->is_exchange_plain = system->n_shared_intakes == 1 && only->every == 1 &&
                                only->n_taps == 0 && system->n_refresh == 0 &&
                                system->n_flows == 0 && system->n_sources == 0 &&
                                !has_special_group(system);
  }
  return status;
}

yoke_status yoke__system_schedule(yoke_system* system) {
  choose_slot(system);
  count_slots(system);
  choose_adaptive(system);
  if (yoke__system_is_iterative(system)) {
    YOKE_TRY(yoke__system_check_iteration(system));
  }
  if (system->n_u > UINT32_MAX || system->n_y > UINT32_MAX) {
    return YOKE_FULL;
  }
  lay_images(system);
  YOKE_TRY(yoke__system_plan_means(system));
  YOKE_TRY(yoke__system_make_groups(system));
  YOKE_TRY(yoke__system_list_sources(system));
  return lay_exchange(system);
}
