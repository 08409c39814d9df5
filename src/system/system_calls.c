// How often units are called in a macro step, where the file gives them no step of their own.
//
// `calls: n` divides the macro step: units are called n times in it, and connections exchange at every call of both ends
// (system_clock.c). By itself that is done for units that leave what comes in to `auto`: ten calls cost little where
// nothing but the exchange comes with them, and the error of the coupling falls with the second or third power of their number.
// A unit of this kind that has a step of its own keeps it and exchanges at it: that costs no call.
// Where the fastest mode of their loops asks for more, or where calls of an FMU cost so much that they are not worth it
// (system_cost.c), that is known before the units are made (master_scout.c).
#include <math.h>
#include <stdlib.h>

#include "system/system.h"

bool yoke__system_has_auto(const yoke_system* system, const yoke_system_unit* to) {
  return to->inputs == YOKE_INPUTS_MEAN && yoke__system_has_means(system);
}

// ---- which units have connections, and which have one with a method, an order or an interval that the file names;
// `method: auto` says what would be without it

typedef struct marks {
  yoke_system* system;
  bool *is_connected, *is_named;
} marks;

static void mark(const marks* m, const char* unit, bool is_named) {
  const size_t i = yoke__map_find(&m->system->unit_index, unit == NULL ? "" : unit);
  if (i != YOKE_NOT_FOUND) {
    m->is_connected[i] = true;
    m->is_named[i] = m->is_named[i] || is_named;
  }
}

static void mark_pairs(const marks* m, const yoke_scenario_pair pairs[], size_t n, bool is_named) {
  for (size_t i = 0; i < n; i++) {
    mark(m, pairs[i].from.unit, is_named);
    if (pairs[i].has_to) {
      mark(m, pairs[i].to.unit, is_named);
    }
  }
}

static void mark_all(const marks* m) {
  const yoke_scenario* s = m->system->scenario;
  for (size_t i = 0; i < s->n_connections; i++) {
    const yoke_scenario_connection* c = &s->connections[i];
    const bool is_named = (c->has_order && !c->is_auto) || c->is_held || c->exchange.is_given;
    // what is named acts on the receiver; how often the sender is called is another matter
    mark(m, c->from.unit, false);
    mark(m, c->to.unit, is_named);
  }
  for (size_t i = 0; i < s->n_bonds; i++) {
    const yoke_scenario_bond* b = &s->bonds[i];
    const bool is_named = b->coupling != NULL && !yoke__system_names_auto(b->coupling);
    mark_pairs(m, b->action, b->n_action, is_named);
    mark_pairs(m, b->rate, b->n_rate, is_named);
  }
  for (size_t i = 0; i < s->n_couplings; i++) {
    const yoke_node* map = s->couplings[i].node;
    // without a method it leaves its connections to `auto`, if it gives them means
    const bool is_left = s->couplings[i].method == NULL ? s->couplings[i].inputs == YOKE_INPUTS_MEAN
                                                        : yoke__system_names_auto(map);
    const yoke_node* members = is_left ? NULL : yoke__node_child(map, "members");
    for (const yoke_node* name = members == NULL ? NULL : members->first; name != NULL;
         name = name->next) {
      mark(m, name->text, true);
    }
  }
}

// What `calls: auto` means for a unit. Loops that need more than the usual number get it, whatever it costs.
static int64_t choose_calls(const yoke_scenario* s, size_t unit) {
  const int64_t calls = s->pace.calls > 0 ? s->pace.calls : YOKE_AUTO_CALLS;
  const int64_t worth = s->trials == NULL ? 0 : s->trials[unit].calls;
  return worth > 0 && calls <= YOKE_AUTO_CALLS ? worth : calls;
}

// Before the units are made: circuits and model-exchange FMUs fit their own steps to their calls.
yoke_status yoke__system_plan_calls(yoke_system* system) {
  YOKE_TRY(yoke__system_choose_inputs(system));
  const yoke_scenario* s = system->scenario;
  const size_t n = system->n_units;
  bool* flags = calloc(2 * n + 1, sizeof *flags);
  YOKE_TRY_MEMORY(flags);
  const marks m = {system, flags, flags + n};
  if (yoke__system_has_means(system)) {
    mark_all(&m);
  }
  for (size_t i = 0; i < n; i++) {
    yoke_system_unit* unit = &system->units[i];
    const bool is_twin = unit->source->kind == YOKE_KIND_TWIN;  // it samples
    const bool is_left = m.is_connected[i] && !m.is_named[i] && !unit->is_law && !is_twin &&
                         unit->inputs == YOKE_INPUTS_MEAN;
    unit->is_paced =
        is_left && s->calls == 0 && !unit->source->step.is_given && unit->source->calls == 0;
    unit->meets_at_steps = is_left && s->calls != 1 && unit->source->step.is_given;
    unit->n_calls = unit->is_law || unit->source->step.is_given ? 0
                    : unit->source->calls > 0                   ? unit->source->calls
                    : s->adaptive.is_given || is_twin           ? 1
                    : s->calls > 0                              ? s->calls
                    : unit->is_paced                            ? choose_calls(s, i)
                                                                : 1;
  }
  free(flags);
  return YOKE_OK;
}

// ---- what the units allow

// Whether calls of H / n are whole numbers of the steps that the unit makes itself.
static bool is_whole_inside(const yoke_unit_info* info, double macro, int64_t n) {
  if ((info->flags & YOKE_UNIT_FIXED_STEP) == 0 || info->solver.step <= 0) {
    return true;
  }
  const double inner = macro / (double)n / info->solver.step;
  return inner > 0.5 && fabs(inner - round(inner)) < 1e-6 * inner;
}

// A unit that counts its calls, or that is a machine, is called once unless it says otherwise itself; one with a fixed
// step of its own as often as that allows.
void yoke__system_limit_calls(yoke_system* system) {
  for (size_t i = 0; i < system->n_units; i++) {
    yoke_system_unit* unit = &system->units[i];
    if (unit->source->calls > 0 || unit->n_calls <= 1 || unit->unit.self == NULL) {
      continue;
    }
    const yoke_unit_info* info = unit->unit.info;
    const int64_t wanted = unit->n_calls;
    while (unit->n_calls > 1 &&
           (wanted % unit->n_calls != 0 ||
            !is_whole_inside(info, system->scenario->step.value, unit->n_calls) ||
            (info->flags & (YOKE_UNIT_PHYSICAL | YOKE_UNIT_SAMPLED)) != 0)) {
      unit->n_calls--;
    }
  }
}
