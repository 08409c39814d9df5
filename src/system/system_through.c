// `inputs: mean`: which units get the means of their inputs, and which outputs are brought up to date when they are sent.
//
// A unit returns its outputs as they follow from the inputs that its last call was given, u_last. With direct feedthrough they
// are one step old when they are sent. What is sent instead is
//
//   y + D (u_new - u_last)        u_new: what this exchange brings; D: how y follows u at once (master_through.c)
//
// u_last of a unit that takes input derivatives is where they have led at the end of the call.
//
// u_new comes from another output, which may have feedthrough itself, directly or through laws and fresh units: these are
// evaluated only when this is done, so they are looked through by their own D. A delayed connection brings a value that is known
// already. Outputs are visited in an order in which each one finds its inputs up to date; those of one closed chain of
// feedthrough are solved for together.
//
// Means and D belong together: either alone leaves the coupling of first order (docs/exchange.md, "Mean inputs").
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base_check.h"
#include "system/system.h"
#include "system/system_digraph.h"

#define MAX_CLOSED                                                                                 \
  100  // outputs in a closed chain: the work of an exchange grows with their square

bool yoke__system_has_means(const yoke_system* system) {
  bool has_means = false;
  for (size_t i = 0; i < system->n_units; i++) {
    has_means = has_means || system->units[i].inputs == YOKE_INPUTS_MEAN;
  }
  return has_means && system->scenario->scheme == YOKE_JACOBI &&
         !system->scenario->adaptive.is_given;
}

// A unit in several couplings must be told the same by all that say something. givers: names of those that did, per unit.
static void set_inputs(yoke_system* system, const yoke_scenario_coupling* coupling,
                       const char* givers[]) {
  const yoke_node* members = yoke__node_child(coupling->node, "members");
  for (const yoke_node* name = members == NULL ? NULL : members->first; name != NULL;
       name = name->next) {
    const size_t i = yoke__map_find(&system->unit_index, name->text == NULL ? "" : name->text);
    if (i == YOKE_NOT_FOUND) {
      // those of a method are reported with it
      if (coupling->method == NULL) {
        const char* text = name->text == NULL ? "" : name->text;
        const char* nearest = yoke__system_nearest_unit(system, text);
        yoke__error_near(system->messages, name->place, nearest, "coupling '%s': unknown unit '%s'",
                         coupling->name, text);
      }
      continue;
    }
    if (givers[i] != NULL && system->units[i].inputs != coupling->inputs) {
      yoke__error(system->messages, coupling->inputs_place,
                  "'inputs': unit '%s' gets another one from the coupling '%s'",
                  system->units[i].name, givers[i]);
    }
    givers[i] = coupling->name;
    system->units[i].inputs = coupling->inputs;
  }
}

yoke_status yoke__system_choose_inputs(yoke_system* system) {
  const yoke_scenario* s = system->scenario;
  const char** givers = calloc(system->n_units + 1, sizeof *givers);
  YOKE_TRY_MEMORY(givers);
  for (size_t i = 0; i < system->n_units; i++) {
    system->units[i].inputs = s->inputs;
  }
  for (size_t i = 0; i < s->n_couplings; i++) {
    if (s->couplings[i].has_inputs) {
      set_inputs(system, &s->couplings[i], givers);
    }
  }
  for (size_t i = 0; i < system->n_units; i++) {
    system->units[i].keeps_start = system->units[i].inputs == YOKE_INPUTS_START;
  }
  free((void*)givers);
  return YOKE_OK;
}

// Sampled controllers take their inputs at an instant, implicit solvers at the end of the call; who takes derivatives
// follows the signal. Semi-implicit Euler is right with the value at the start: a mean would feed it energy.
bool yoke__system_can_take_means(const yoke_system_unit* unit) {
  const uint32_t flags = unit->unit.info->flags;
  double step = 0;
  return !unit->is_law && unit->unit.n_u > 0 && unit->unit.ops->set_input_derivatives == NULL &&
         (flags & (YOKE_UNIT_SAMPLED | YOKE_UNIT_IMPLICIT | YOKE_UNIT_PHYSICAL)) == 0 &&
         yoke__unit_solver(&unit->unit, unit->step, &step) != YOKE_SOLVER_SEMI_IMPLICIT_EULER;
}

// Whether the outputs of a unit are corrected when they are sent.
static bool is_open(const yoke_system_unit* unit) {
  // typed inputs may switch what an output follows
  return !unit->is_law && !unit->is_fresh && !unit->keeps_start && unit->n_typed_inputs == 0;
}

// Whether others may look through a law or a fresh unit, before it is evaluated.
static bool is_looked_through(const yoke_system_unit* unit) {
  return (unit->is_law || unit->is_fresh) && unit->n_slots <= 1 && unit->n_typed_inputs == 0 &&
         (unit->unit.info->flags & YOKE_UNIT_PHYSICAL) == 0;
}

// The tap into an input whose new value is known when outputs are sent; YOKE_NOT_FOUND: none. A mean is made later.
static size_t find_tap(const yoke_system* system, const yoke_system_unit* unit, size_t u,
                       bool* is_mean) {
  size_t low = unit->first_tap, high = unit->first_tap + unit->n_taps;
  while (low < high) {
    const size_t middle = (low + high) / 2;  // they are in order of U
    if (system->taps[middle].to < u) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const bool is_there = low < unit->first_tap + unit->n_taps && system->taps[low].to == u;
  *is_mean = is_there && system->taps[low].mean > 0;
  return is_there && !*is_mean ? low : YOKE_NOT_FOUND;
}

typedef struct plan {
  yoke_system* system;
  yoke_system_through* throughs;
  yoke_through_term* terms;
  size_t n, n_terms;
  size_t* index;    // per output in Y: 1 + its place in throughs; 0: none
  bool is_partial;  // an input of the output being added has no term
  yoke_digraph graph;
} plan;

static void add_term(plan* p, const yoke_system_unit* unit, size_t u, double value) {
  bool is_mean = false;
  const size_t tap = find_tap(p->system, unit, u, &is_mean);
  p->is_partial = p->is_partial || is_mean;
  if (tap != YOKE_NOT_FOUND) {
    p->terms[p->n_terms++] = (yoke_through_term){.tap = tap, .u = u, .value = value};
  }
}

// Inputs that one output follows at once, as the file says it.
static void add_given(plan* p, const yoke_system_unit* unit, size_t output, size_t y) {
  for (size_t i = 0; i < unit->n_gains; i++) {
    const yoke_system_gain* gain = &unit->gains[i];
    if (gain->y == y && yoke__through_of_gain(unit, output, gain).kind == YOKE_THROUGH_KNOWN) {
      add_term(p, unit, unit->u + gain->u, gain->value);
    }
  }
}

// The same as the unit says it, element by element.
static void add_described(plan* p, const yoke_system_unit* unit, size_t output) {
  const yoke_unit_info* info = unit->unit.info;
  const size_t first = p->n_terms;
  for (size_t i = 0; i < info->n_feedthrough; i++) {
    const size_t input = info->feedthrough[i].input;
    if (info->feedthrough[i].output != output || unit->unit.dense[input] == YOKE_NOT_DENSE) {
      continue;
    }
    for (size_t j = 0; j < yoke__variable_count(&info->variables[input]); j++) {
      add_term(p, unit, unit->u + unit->unit.dense[input] + j, (double)NAN);
    }
  }
  for (size_t i = first; i < p->n_terms; i++) {
    p->terms[i].is_silent =
        (info->variables[output].flags & YOKE_VARIABLE_FEEDTHROUGH_UNKNOWN) != 0;
  }
}

// One element of an output that somebody asks for, if there is something to add to it.
static void add_output(plan* p, size_t index, size_t variable, size_t y) {
  const yoke_system_unit* unit = &p->system->units[index];
  const size_t first = p->n_terms;
  p->is_partial = false;
  if (unit->is_through_given != NULL && unit->is_through_given[y - unit->y]) {
    add_given(p, unit, variable, y - unit->y);
  } else if (yoke__through_of_output(unit, variable).kind == YOKE_THROUGH_KNOWN) {
    add_described(p, unit, variable);
  }
  if (p->n_terms > first) {
    p->throughs[p->n] = (yoke_system_through){.unit = index,
                                              .y = y,
                                              .first = first,
                                              .n = p->n_terms - first,
                                              .is_partial = p->is_partial,
                                              .is_evaluated = unit->is_law || unit->is_fresh};
    p->index[y] = ++p->n;
  }
}

// All elements of the outputs of a unit that are wanted.
static void add_outputs(plan* p, size_t index, const bool is_wanted[]) {
  const yoke_system_unit* unit = &p->system->units[index];
  for (size_t v = 0; v < unit->unit.info->n_variables; v++) {
    const yoke_variable* variable = &unit->unit.info->variables[v];
    if (variable->causality != YOKE_OUTPUT || unit->unit.dense[v] == YOKE_NOT_DENSE) {
      continue;
    }
    for (size_t j = 0; j < yoke__variable_count(variable); j++) {
      const size_t y = unit->y + unit->unit.dense[v] + j;
      if (is_wanted[y] && p->index[y] == 0) {
        add_output(p, index, v, y);
      }
    }
  }
}

// Outputs of laws and fresh units that an output follows, directly or through others of them.
static void add_looked_through(plan* p, bool is_wanted[]) {
  size_t n_seen = 0, before = SIZE_MAX;
  while (p->n != before) {
    before = p->n;
    for (; n_seen < p->n_terms; n_seen++) {
      const yoke_tap* tap = &p->system->taps[p->terms[n_seen].tap];
      is_wanted[tap->from] = is_wanted[tap->from] || tap->delay == 0;
    }
    for (size_t i = 0; i < p->system->n_units; i++) {
      if (is_looked_through(&p->system->units[i])) {
        add_outputs(p, i, is_wanted);
      }
    }
  }
}

// The output in throughs that a term's input comes from, plus 1; 0: none.
static size_t source_of(const plan* p, const yoke_through_term* term) {
  const yoke_tap* tap = &p->system->taps[term->tap];
  return tap->delay == 0 ? p->index[tap->from] : 0;
}

// Edges lead to what an output needs.
static void each_edge(plan* p, bool is_counting) {
  for (size_t k = 0; k < p->n; k++) {
    for (size_t i = p->throughs[k].first; i < p->throughs[k].first + p->throughs[k].n; i++) {
      const size_t source = source_of(p, &p->terms[i]);
      if (source > 0) {
        yoke__digraph_add(&p->graph, k, source - 1, is_counting);
      }
    }
  }
}

// Whether all that outputs of a closed chain give each other comes at the same exchanges: then one factorisation serves them.
static bool has_one_rate(const plan* p, const yoke_system_through throughs[],
                         const yoke_through_loop* loop) {
  int64_t every = 0;
  for (size_t k = loop->first; k < loop->first + loop->n; k++) {
    for (size_t i = throughs[k].first; i < throughs[k].first + throughs[k].n; i++) {
      const int64_t own = p->system->taps[p->terms[i].tap].every;
      const size_t source = p->terms[i].source;
      const bool is_inside = source > loop->first && source <= loop->first + loop->n;
      if (is_inside && every != 0 && own != every) {
        return false;
      }
      every = is_inside ? own : every;
    }
  }
  return true;
}

void yoke__system_loop_text(const yoke_system* system, const yoke_through_loop* loop, char* to,
                            size_t size) {
  enum { MOST = 6 };
  size_t used = 0;
  to[0] = '\0';
  for (size_t k = 0; k < loop->n && k <= MOST && used < size; k++) {
    const yoke_system_through* t = &system->throughs[loop->first + k];
    const yoke_system_unit* unit = &system->units[t->unit];
    char name[256] = "...";
    if (k < MOST) {
      yoke__system_number_name(unit, YOKE_OUTPUT, t->y - unit->y, name, sizeof name);
    }
    const int n = snprintf(to + used, size - used, "%s%s", k == 0 ? "" : ", ", name);
    used += n > 0 ? (size_t)n : 0;
  }
}

static void warn_of_loop(yoke_system* system, const yoke_through_loop* loop) {
  char names[640];
  yoke__system_loop_text(system, loop, names, sizeof names);
  yoke__message_add(system->messages, YOKE_WARNING, (yoke_place){system->scenario->path, 0, 0},
                    "'inputs: mean': %zu outputs in a closed chain of feedthrough are sent as the "
                    "last step returned them: %s (%s)",
                    loop->n,
                    loop->n > MAX_CLOSED ? "there are too many of them"
                                         : "their connections have different exchange intervals",
                    names);
}

// Is it a closed chain: several outputs, or one that hears itself?
static bool is_closed(const plan* p, const yoke_system_through* t, size_t k, size_t n) {
  bool is_own = n > 1;
  for (size_t i = t->first; i < t->first + t->n; i++) {
    is_own = is_own || p->terms[i].source == k + 1;
  }
  return is_own;
}

// Closed chains among the outputs in order; component: of the graph, by place in order.
static void find_loops(plan* p, yoke_system_through throughs[], const size_t component[],
                       yoke_through_loop loops[]) {
  yoke_system* system = p->system;
  for (size_t k = 0, n = 1; k < p->n; k += n) {
    for (n = 1; k + n < p->n && component[k + n] == component[k];) {
      n++;
    }
    if (!is_closed(p, &throughs[k], k, n)) {
      continue;
    }
    yoke_through_loop* loop = &loops[system->n_through_loops++];
    *loop = (yoke_through_loop){.first = k, .n = n, .at = system->n_loop_numbers};
    for (size_t i = k; i < k + n; i++) {
      throughs[i].loop = system->n_through_loops;
    }
    loop->is_solved = n <= MAX_CLOSED && has_one_rate(p, throughs, loop);
    system->n_loop_numbers += loop->is_solved ? n * n : 0;
    if (!loop->is_solved) {
      warn_of_loop(system, loop);
    }
  }
}

// Taps that deliver an output brought up to date. Laws and fresh units do that themselves.
static void mark_taps(plan* p, const yoke_system_through throughs[]) {
  yoke_system* system = p->system;
  for (size_t i = 0; i < system->n_taps; i++) {
    yoke_tap* tap = &system->taps[i];
    const size_t through = p->index[tap->from];
    if (through > 0 && tap->mean == 0) {
      const yoke_system_through* t = &throughs[through - 1];
      const bool is_sent_late = !system->units[t->unit].is_fresh &&
                                !system->units[t->unit].is_law &&
                                (t->loop == 0 || system->through_loops[t->loop - 1].is_solved);
      tap->through = is_sent_late ? through : 0;
    }
  }
}

// Its input comes from a law that nobody can look through: a source that follows time, one with typed inputs.
static bool is_blind(const plan* p, const yoke_through_term* term) {
  const yoke_tap* tap = &p->system->taps[term->tap];
  const yoke_system_unit* from = &p->system->units[p->system->links[tap->link].from_unit];
  const bool is_late =
      from->is_law || (from->is_fresh && (!is_looked_through(from) || from->n_slots > 1));
  return tap->delay == 0 && term->source == 0 && is_late;
}

static yoke_status order(plan* p) {
  yoke_system* system = p->system;
  yoke_system_through* throughs = yoke__arena_array(&system->arena, p->n + 1, sizeof *throughs);
  yoke_through_loop* loops = yoke__arena_array(&system->arena, p->n + 1, sizeof *loops);
  size_t* component = calloc(p->n + 1, sizeof *component);
  yoke_status status = throughs != NULL && loops != NULL && component != NULL
                           ? yoke__digraph_allocate(&p->graph, p->n, p->n_terms)
                           : YOKE_NO_MEMORY;
  if (status >= 0) {
    yoke__digraph_clear(&p->graph);
    each_edge(p, true);
    yoke__digraph_end_count(&p->graph);
    each_edge(p, false);
    yoke__digraph_sort(&p->graph);
    for (size_t k = 0; k < p->n; k++) {
      throughs[k] = p->throughs[p->graph.order[k]];
      component[k] = p->graph.component[p->graph.order[k]];
      p->index[throughs[k].y] = k + 1;
    }
    for (size_t i = 0; i < p->n_terms; i++) {
      p->terms[i].source = source_of(p, &p->terms[i]);
      p->terms[i].is_blind = is_blind(p, &p->terms[i]);
    }
    system->throughs = throughs;
    system->n_throughs = p->n;
    system->through_terms = p->terms;
    system->n_through_terms = p->n_terms;
    system->through_loops = loops;
    find_loops(p, throughs, component, loops);
    mark_taps(p, throughs);
  }
  free(component);
  return status;
}

static yoke_status plan_throughs(yoke_system* system, plan* p, bool is_wanted[]) {
  for (size_t i = 0; i < system->n_taps; i++) {
    is_wanted[system->taps[i].from] = true;
  }
  for (size_t i = 0; i < system->n_units; i++) {
    if (is_open(&system->units[i])) {
      add_outputs(p, i, is_wanted);
    }
  }
  for (size_t i = 0; i < system->n_y; i++) {
    is_wanted[i] = false;
  }
  add_looked_through(p, is_wanted);
  return order(p);
}

static size_t count_terms(const yoke_system* system) {
  size_t n = 0;
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_unit* unit = &system->units[i].unit;
    n += system->units[i].n_gains;
    for (size_t k = 0; k < unit->info->n_feedthrough; k++) {
      const yoke_feedthrough* f = &unit->info->feedthrough[k];
      n += yoke__variable_count(&unit->info->variables[f->output]) *
           yoke__variable_count(&unit->info->variables[f->input]);
    }
  }
  return n;
}

yoke_status yoke__system_plan_means(yoke_system* system) {
  if (!yoke__system_has_means(system)) {
    return YOKE_OK;
  }
  for (size_t i = 0; i < system->n_units; i++) {
    system->units[i].takes_means =
        !system->units[i].keeps_start && yoke__system_can_take_means(&system->units[i]);
  }
  plan p = {.system = system};
  p.terms = yoke__arena_array(&system->arena, count_terms(system) + 1, sizeof *p.terms);
  p.throughs = calloc(system->n_y + 1, sizeof *p.throughs);
  p.index = calloc(system->n_y + 1, sizeof *p.index);
  bool* flags = calloc(system->n_y + 1, sizeof *flags);
  const bool is_whole = p.terms != NULL && p.throughs != NULL && p.index != NULL && flags != NULL;
  const yoke_status status = is_whole ? plan_throughs(system, &p, flags) : YOKE_NO_MEMORY;
  yoke__digraph_free(&p.graph);
  free(p.throughs);
  free(p.index);
  free(flags);
  return status;
}
