// `inputs: mean`: which units get the means of their inputs, and which outputs are brought up to date when they are sent.
//
// A unit returns its outputs as they follow from the inputs that its last call was given, u_last. With direct feedthrough they
// are one step old when they are sent. What is sent instead is
//
//   y + D (u_new - u_last)        u_new: what this exchange brings; D: how y follows u at once (master_through.c)
//
// u_new comes from another output, which may have feedthrough itself. So outputs are visited in an order in which each one finds
// its inputs up to date. Those of closed chains of feedthrough, and what waits for them, come last and are solved for together.
//
// Means and D belong together: either alone leaves the coupling of first order (prediction specification, section 6).
#include <stdlib.h>

#include "base/base_check.h"
#include "system/system.h"

#define MAX_CLOSED 100  // outputs in closed chains: the work of an exchange grows with their square

bool yoke__system_has_means(const yoke_system* system) {
  return system->scenario->inputs == YOKE_INPUTS_MEAN && system->scenario->scheme == YOKE_JACOBI &&
         !system->scenario->adaptive.is_given;
}

// Sampled controllers take their inputs at an instant, implicit solvers at the end of the call; who takes derivatives
// follows the signal. Semi-implicit Euler is right with the value at the start: a mean would feed it energy.
static bool takes_means(const yoke_system_unit* unit) {
  const uint32_t flags = unit->unit.info->flags;
  double step = 0;
  return !unit->is_law && unit->unit.n_u > 0 && unit->unit.ops->set_input_derivatives == NULL &&
         (flags & (YOKE_UNIT_SAMPLED | YOKE_UNIT_IMPLICIT | YOKE_UNIT_PHYSICAL)) == 0 &&
         yoke__unit_solver(&unit->unit, unit->step, &step) != YOKE_SOLVER_SEMI_IMPLICIT_EULER;
}

// Whether a unit follows polynomials itself: what it returns belongs to their ends.
static bool takes_slopes(const yoke_system* system, const yoke_system_unit* unit) {
  bool has_slope = false;
  for (size_t i = unit->first_tap; i < unit->first_tap + unit->n_taps; i++) {
    has_slope = has_slope || system->taps[i].order > 0;
  }
  return has_slope && unit->unit.ops->set_input_derivatives != NULL;
}

// Whether the master may ask a unit for D and correct its outputs.
static bool is_open(const yoke_system* system, const yoke_system_unit* unit) {
  // typed inputs may switch what an output follows
  return !unit->is_law && !unit->is_fresh && unit->n_slots <= 1 && !takes_slopes(system, unit) &&
         unit->n_typed_inputs == 0 && (unit->unit.info->flags & YOKE_UNIT_PHYSICAL) == 0;
}

// The tap into an input whose new value is known when outputs are sent; YOKE_NOT_FOUND: none.
static size_t find_tap(const yoke_system* system, const yoke_system_unit* unit, size_t u) {
  for (size_t i = unit->first_tap; i < unit->first_tap + unit->n_taps; i++) {
    const yoke_tap* tap = &system->taps[i];
    if (tap->to == u) {
      const yoke_system_unit* from = &system->units[system->links[tap->link].from_unit];
      const bool is_later = from->is_law || from->is_fresh;  // evaluated when this is done
      return tap->delay == 0 && tap->mean == 0 && !is_later ? i : YOKE_NOT_FOUND;
    }
  }
  return YOKE_NOT_FOUND;
}

typedef struct plan {
  yoke_system* system;
  yoke_system_through* throughs;
  yoke_through_term* terms;
  size_t n, n_terms;
  size_t* index;  // per output in Y: 1 + its place in throughs before they are ordered; 0: none
} plan;

// Inputs that one output follows at once, element by element.
static void add_terms(plan* p, const yoke_system_unit* unit, size_t output) {
  const yoke_unit_info* info = unit->unit.info;
  for (size_t i = 0; i < info->n_feedthrough; i++) {
    const size_t input = info->feedthrough[i].input;
    if (info->feedthrough[i].output != output || unit->unit.dense[input] == YOKE_NOT_DENSE) {
      continue;
    }
    for (size_t j = 0; j < yoke__variable_count(&info->variables[input]); j++) {
      const size_t u = unit->u + unit->unit.dense[input] + j;
      const size_t tap = find_tap(p->system, unit, u);
      if (tap != YOKE_NOT_FOUND) {
        p->terms[p->n_terms++] = (yoke_through_term){tap, u};
      }
    }
  }
}

// Every element of an output with feedthrough that somebody receives.
static void add_outputs(plan* p, size_t index, const bool is_sent[]) {
  const yoke_system_unit* unit = &p->system->units[index];
  for (size_t v = 0; v < unit->unit.info->n_variables; v++) {
    const yoke_variable* variable = &unit->unit.info->variables[v];
    if (variable->causality != YOKE_OUTPUT || unit->unit.dense[v] == YOKE_NOT_DENSE) {
      continue;
    }
    for (size_t j = 0; j < yoke__variable_count(variable); j++) {
      const size_t y = unit->y + unit->unit.dense[v] + j, first = p->n_terms;
      if (is_sent[y]) {
        add_terms(p, unit, v);
      }
      if (p->n_terms > first) {
        p->throughs[p->n] = (yoke_system_through){index, y, first, p->n_terms - first};
        p->index[y] = ++p->n;
      }
    }
  }
}

// Whether all outputs that an output waits for have their place.
static bool is_ready(const plan* p, const yoke_system_through* t, const bool is_placed[]) {
  for (size_t i = t->first; i < t->first + t->n; i++) {
    const size_t source = p->index[p->system->taps[p->terms[i].tap].from];
    if (source > 0 && !is_placed[source - 1]) {
      return false;
    }
  }
  return true;
}

// Those that can be ordered, in order, then the others; returns the number of the first.
static size_t order(const plan* p, bool is_placed[], yoke_system_through to[]) {
  size_t n = 0, before = SIZE_MAX;
  while (n != before) {
    before = n;
    for (size_t i = 0; i < p->n; i++) {
      if (!is_placed[i] && is_ready(p, &p->throughs[i], is_placed)) {
        to[n++] = p->throughs[i];
        is_placed[i] = true;
      }
    }
  }
  size_t at = n;
  for (size_t i = 0; i < p->n; i++) {
    if (!is_placed[i]) {
      to[at++] = p->throughs[i];
    }
  }
  return n;
}

// Whether all that reaches closed chains comes at the same exchanges: then one factorisation serves all of these.
static bool has_one_rate(const plan* p, const yoke_system_through throughs[], size_t first) {
  int64_t every = 0;
  for (size_t k = first; k < p->n; k++) {
    for (size_t i = throughs[k].first; i < throughs[k].first + throughs[k].n; i++) {
      const int64_t own = p->system->taps[p->terms[i].tap].every;
      if (every != 0 && own != every) {
        return false;
      }
      every = own;
    }
  }
  return true;
}

static yoke_status plan_throughs(yoke_system* system, plan* p, bool is_sent[], bool is_placed[]) {
  for (size_t i = 0; i < system->n_taps; i++) {
    is_sent[system->taps[i].from] = true;
  }
  for (size_t i = 0; i < system->n_units; i++) {
    if (is_open(system, &system->units[i])) {
      add_outputs(p, i, is_sent);
    }
  }
  yoke_system_through* throughs =
      yoke__arena_array(&system->arena, p->n + 1, sizeof *system->throughs);
  YOKE_TRY_MEMORY(throughs);
  system->n_ordered = order(p, is_placed, throughs);
  const bool is_solved =
      p->n - system->n_ordered <= MAX_CLOSED && has_one_rate(p, throughs, system->n_ordered);
  system->n_throughs = is_solved ? p->n : system->n_ordered;
  if (!is_solved) {
    yoke__message_add(system->messages, YOKE_WARNING, (yoke_place){system->scenario->path, 0, 0},
                      "'inputs: mean': %zu outputs in closed chains of feedthrough are sent as the "
                      "last step returned them: %s",
                      p->n - system->n_ordered,
                      p->n - system->n_ordered > MAX_CLOSED
                          ? "there are too many"
                          : "their connections have different exchange intervals");
  }
  system->throughs = throughs;
  system->through_terms = p->terms;
  system->n_through_terms = p->n_terms;
  for (size_t k = 0; k < system->n_throughs; k++) {
    for (size_t i = 0; i < system->n_taps; i++) {
      yoke_tap* tap = &system->taps[i];
      tap->through = tap->from == throughs[k].y && tap->mean == 0 ? k + 1 : tap->through;
    }
  }
  return YOKE_OK;
}

static size_t count_terms(const yoke_system* system) {
  size_t n = 0;
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_unit* unit = &system->units[i].unit;
    for (size_t k = 0; k < unit->info->n_feedthrough; k++) {
      const yoke_feedthrough* f = &unit->info->feedthrough[k];
      n += yoke__variable_count(&unit->info->variables[f->output]) *
           yoke__variable_count(&unit->info->variables[f->input]);
    }
  }
  return n;
}

yoke_status yoke__system_plan_means(yoke_system* system) {
  if (system->scenario->inputs != YOKE_INPUTS_MEAN) {
    return YOKE_OK;
  }
  if (!yoke__system_has_means(system)) {
    yoke__message_add(system->messages, YOKE_WARNING, (yoke_place){system->scenario->path, 0, 0},
                      "'inputs: mean' has no effect: %s",
                      system->is_adaptive ? "the step is variable"
                                          : "it acts under scheme: jacobi only");
    return YOKE_OK;
  }
  for (size_t i = 0; i < system->n_units; i++) {
    system->units[i].takes_means = takes_means(&system->units[i]);
  }
  plan p = {.system = system};
  p.terms = yoke__arena_array(&system->arena, count_terms(system) + 1, sizeof *p.terms);
  p.throughs = calloc(system->n_y + 1, sizeof *p.throughs);
  p.index = calloc(system->n_y + 1, sizeof *p.index);
  bool* flags = calloc(2 * system->n_y + 2, sizeof *flags);
  const bool is_whole = p.terms != NULL && p.throughs != NULL && p.index != NULL && flags != NULL;
  const yoke_status status =
      is_whole ? plan_throughs(system, &p, flags, flags + system->n_y + 1) : YOKE_NO_MEMORY;
  free(p.throughs);
  free(p.index);
  free(flags);
  return status;
}
