// Settings of the file that change nothing: one warning each, where they stand.
#include <stdio.h>

#include "system/system.h"

// ---- inputs

static const char* why_no_means(const yoke_system* system) {
  return system->scenario->adaptive.is_given             ? "the step is variable"
         : system->scenario->scheme == YOKE_GAUSS_SEIDEL ? "it acts under scheme: jacobi only; "
                                                           "gauss-seidel uses values at the start"
                                                         : "it acts under scheme: jacobi only";
}

static bool has_through(const yoke_system* system, size_t unit) {
  for (size_t k = 0; k < system->n_throughs; k++) {
    if (system->throughs[k].unit == unit) {
      return true;
    }
  }
  return false;
}

// Whether a unit gets means, or its outputs are brought up to date.
static bool uses_means(const yoke_system* system, size_t unit) {
  return system->units[unit].takes_means || has_through(system, unit);
}

static void warn_of_means(yoke_system* system, yoke_place place, const char* owner,
                          const char* why) {
  yoke__message_add(system->messages, YOKE_WARNING, place, "%s'inputs: mean' has no effect: %s",
                    owner, why);
}

static void check_inputs(yoke_system* system) {
  const yoke_scenario* s = system->scenario;
  const bool has_means = yoke__system_has_means(system);
  bool is_used = false;
  for (size_t i = 0; i < system->n_units; i++) {
    is_used = is_used || uses_means(system, i);
  }
  if (s->has_inputs && s->inputs == YOKE_INPUTS_MEAN && !is_used) {
    warn_of_means(system, s->inputs_place, "",
                  has_means
                      ? "no unit accepts mean inputs, and no output with feedthrough is updated"
                      : why_no_means(system));
  }
  for (size_t c = 0; c < s->n_couplings; c++) {
    const yoke_scenario_coupling* coupling = &s->couplings[c];
    const yoke_node* members = yoke__node_child(coupling->node, "members");
    is_used = false;
    for (const yoke_node* name = members == NULL ? NULL : members->first; name != NULL;
         name = name->next) {
      const size_t unit = yoke__map_find(&system->unit_index, name->text == NULL ? "" : name->text);
      is_used = is_used || (unit != YOKE_NOT_FOUND && uses_means(system, unit));
    }
    if (coupling->has_inputs && coupling->inputs == YOKE_INPUTS_MEAN && !is_used) {
      char owner[160];
      snprintf(owner, sizeof owner, "coupling '%s': ", coupling->name);
      warn_of_means(system, coupling->inputs_place, owner,
                    has_means ? "none of its units accepts mean inputs, and none of their outputs "
                                "with feedthrough is updated"
                              : why_no_means(system));
    }
  }
}

// ---- calls

static void check_calls(yoke_system* system) {
  const yoke_scenario* s = system->scenario;
  bool is_used = s->calls <= 1;
  for (size_t i = 0; i < system->n_units; i++) {
    is_used = is_used || (system->units[i].n_calls > 1 && system->units[i].source->calls == 0);
  }
  if (!is_used) {
    yoke__message_add(system->messages, YOKE_WARNING, s->calls_place, "'calls' has no effect: %s",
                      s->adaptive.is_given
                          ? "the step is variable"
                          : "every unit has a step or calls of its own, or counts its calls");
  }
}

// ---- order

static void warn_of_order(yoke_system* system, yoke_place place, const char* owner, int order,
                          const char* why) {
  yoke__message_add(system->messages, YOKE_WARNING, place, "%s'order: %d' has no effect: %s", owner,
                    order, why);
}

// The order of a bond, if no connection of it uses it.
static void check_bond(yoke_system* system, const yoke_system_bond* bond) {
  const int order = bond->source == NULL ? -1 : yoke__system_method_order(bond->source->coupling);
  const char* reason = "";
  for (size_t i = 0; i < 2 * bond->n_pairs && order > 0; i++) {
    const yoke_system_pair* pair =
        i < bond->n_pairs ? &bond->action[i] : &bond->rate[i - bond->n_pairs];
    const yoke_system_link* link = pair->link == YOKE_NOT_FOUND ? NULL : &system->links[pair->link];
    if (link == NULL || link->source->has_order) {
      continue;
    }
    const char* why = "";
    if (yoke__system_acting_order(system, link, &why) > 0) {
      return;
    }
    reason = why;
  }
  if (reason[0] != '\0') {
    char owner[160];
    snprintf(owner, sizeof owner, "bond '%s': ", bond->name);
    warn_of_order(system, bond->place, owner, order, reason);
  }
}

static void check_orders(yoke_system* system) {
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    const char* why = "";
    (void)yoke__system_acting_order(system, link, &why);
    if (link->source->has_order && why[0] != '\0') {
      warn_of_order(system, link->source->order_place, "", link->order, why);
    }
  }
  for (size_t i = 0; i < system->n_bonds; i++) {
    check_bond(system, &system->bonds[i]);
  }
  const yoke_scenario* s = system->scenario;
  if (s->n_order > 0 && (s->scheme == YOKE_JACOBI || s->scheme == YOKE_ITERATIVE_JACOBI)) {
    yoke__message_add(system->messages, YOKE_WARNING, s->order[0].place,
                      "'order' has no effect: under this scheme no unit waits for another");
  }
}

yoke_status yoke__system_report_idle(yoke_system* system) {
  check_inputs(system);
  check_calls(system);
  check_orders(system);
  return YOKE_OK;
}
