// Where the inputs come from of units that want to know how good their values are (yoke_unit_ops.set_input_info): one entry
// per real input, in the order of the inputs. Units without that operation have none, and nothing is done for them.
#include "system/system.h"
#include "unit/twin/unit_twin.h"

static bool wants_info(const yoke_system_unit* unit) {
  return unit->unit.ops->set_input_info != NULL && unit->unit.ops->step != NULL;
}

static bool is_same_output(const yoke_system_link* a, const yoke_system_link* b) {
  return a->from_unit == b->from_unit && a->from_variable == b->from_variable;
}

static bool is_averaged(const yoke_system_link* link) {
  return link->flow == YOKE_FLOW_AVERAGED;
}

// Do both get the same values?
static bool has_same_values(const yoke_system_link* a, const yoke_system_link* b) {
  return is_averaged(a) == is_averaged(b) && (!is_averaged(a) || a->interval == b->interval);
}

// Does a unit that moves on its own get the same output, and hold it during its calls?
static bool is_held_elsewhere(const yoke_system* system, const yoke_system_link* link) {
  for (size_t i = 0; i < system->n_links && !yoke__system_is_iterative(system); i++) {
    const yoke_system_link* other = &system->links[i];
    const yoke_system_unit* to = &system->units[other->to_unit];
    if (is_same_output(other, link) && other->is_dense && other->method == 0 && other->order == 0 &&
        has_same_values(other, link) && !to->is_law &&
        (to->unit.info->flags & YOKE_UNIT_SAMPLED) == 0) {
      return true;
    }
  }
  return false;
}

// What moves at events only, what the file says to hold, and what others hold: an estimator follows what the plant gets.
static bool is_held(const yoke_system* system, const yoke_system_link* link) {
  const yoke_unit* from = &system->units[link->from_unit].unit;
  return link->is_held ||
         (from->info->variables[link->from_variable].flags & YOKE_VARIABLE_DISCRETE) != 0 ||
         is_held_elsewhere(system, link);
}

static void describe_source(yoke_system* system, const yoke_tap* tap, yoke_system_source* to) {
  const yoke_system_link* link = &system->links[tap->link];
  const yoke_system_unit* from = &system->units[link->from_unit];
  to->unit = link->from_unit;
  to->variable = link->from_variable;
  to->has_info = from->unit.ops->sample_info != NULL;
  to->is_held = is_held(system, link);
  to->is_mean = is_averaged(link) && !to->is_held;
  to->every = tap->every;
  to->delay = tap->delay;
  to->ring = system->n_source_ring;
  system->n_source_ring += (size_t)tap->delay;
}

static void list_unit(yoke_system* system, yoke_system_unit* unit, yoke_system_source sources[]) {
  unit->first_source = system->n_sources;
  unit->n_sources = unit->unit.n_u;
  system->n_sources += unit->n_sources;
  for (size_t i = 0; i < unit->n_sources; i++) {
    sources[unit->first_source + i] =
        (yoke_system_source){.unit = YOKE_NOT_FOUND, .variable = YOKE_NOT_FOUND, .every = 1};
  }
  for (size_t i = unit->first_tap; i < unit->first_tap + unit->n_taps; i++) {
    const yoke_tap* tap = &system->taps[i];
    const size_t input = tap->to - unit->u;
    describe_source(system, tap, &sources[unit->first_source + input]);
    // an FMU of a twin is told nothing: what it is exported with says it
    if (sources[unit->first_source + input].is_held) {
      yoke__unit_twin_hold(unit->unit.ops, unit->unit.self, input);
    }
  }
}

yoke_status yoke__system_list_sources(yoke_system* system) {
  size_t n = 0;
  for (size_t i = 0; i < system->n_units; i++) {
    n += wants_info(&system->units[i]) ? system->units[i].unit.n_u : 0;
  }
  yoke_system_source* sources = yoke__arena_array(&system->arena, n + 1, sizeof *sources);
  YOKE_TRY_MEMORY(sources);
  for (size_t i = 0; i < system->n_units && n > 0; i++) {
    if (wants_info(&system->units[i])) {
      list_unit(system, &system->units[i], sources);
    }
  }
  system->sources = sources;
  return YOKE_OK;
}
