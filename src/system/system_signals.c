// Which signals a run is judged by: every number of a real output that takes part in a connection, a law or a bond or that
// `trust` names (`signals` or `limits`), and the loop of units it belongs to. A loop is a strongly connected component of units and laws over connections.
#include <stdlib.h>

#include "system/system.h"
#include "system/system_digraph.h"

// ---------------------------------------------------------------------------------------------------------
// loops

static void connect_units(const yoke_system* system, yoke_digraph* graph, bool is_counting) {
  for (size_t i = 0; i < system->n_links; i++) {
    yoke__digraph_add(graph, system->links[i].from_unit, system->links[i].to_unit, is_counting);
  }
}

static bool is_connected_to_itself(const yoke_digraph* graph, size_t unit) {
  for (size_t e = graph->first[unit]; e < graph->first[unit + 1]; e++) {
    if (graph->edges[e] == unit) {
      return true;
    }
  }
  return false;
}

// Loops are numbered by their first unit.
static void number_loops(yoke_system* system, const yoke_digraph* graph, size_t sizes[],
                         size_t numbers[], size_t loops[]) {
  for (size_t i = 0; i < graph->n; i++) {
    sizes[graph->component[i]]++;
    numbers[graph->component[i]] = YOKE_NOT_FOUND;
  }
  for (size_t i = 0; i < graph->n; i++) {
    const size_t component = graph->component[i];
    const bool is_loop = sizes[component] > 1 || is_connected_to_itself(graph, i);
    if (is_loop && numbers[component] == YOKE_NOT_FOUND) {
      numbers[component] = system->n_unit_loops++;
    }
    loops[i] = is_loop ? numbers[component] : YOKE_NOT_FOUND;
  }
}

static yoke_status find_unit_loops(yoke_system* system) {
  size_t* loops = yoke__arena_array(&system->arena, system->n_units + 1, sizeof *loops);
  size_t* sizes = calloc(system->n_units + 1, sizeof *sizes);
  size_t* numbers = calloc(system->n_units + 1, sizeof *numbers);
  yoke_digraph graph;
  yoke_status status = yoke__digraph_allocate(&graph, system->n_units, system->n_links);
  if (loops == NULL || sizes == NULL || numbers == NULL) {
    status = YOKE_NO_MEMORY;
  }
  if (status >= 0) {
    yoke__digraph_clear(&graph);
    connect_units(system, &graph, true);
    yoke__digraph_end_count(&graph);
    connect_units(system, &graph, false);
    yoke__digraph_sort(&graph);
    number_loops(system, &graph, sizes, numbers, loops);
    system->unit_loops = loops;
  }
  yoke__digraph_free(&graph);
  free(sizes);
  free(numbers);
  return status;
}

// ---------------------------------------------------------------------------------------------------------
// signals

// What is known of a number of Y while signals are collected.
typedef struct candidate {
  bool is_judged, is_in_bond;
  int64_t interval;  // shortest exchange interval of its connections [ticks]; 0: it has none
} candidate;

// Of n elements of an output; interval 0: no connection.
static void collect(const yoke_system* system, candidate candidates[], size_t unit, size_t variable,
                    size_t element, size_t n, int64_t interval) {
  const yoke_system_unit* su = &system->units[unit];
  const yoke_variable* v = &su->unit.info->variables[variable];
  if (v->type != YOKE_REAL || v->causality != YOKE_OUTPUT) {
    return;
  }
  for (size_t i = 0; i < n; i++) {
    candidate* c = &candidates[su->y + su->unit.dense[variable] + element + i];
    c->is_judged = true;
    c->is_in_bond = c->is_in_bond || interval == 0;
    const bool is_shorter = interval > 0 && (c->interval == 0 || interval < c->interval);
    c->interval = is_shorter ? interval : c->interval;
  }
}

// Outputs that the file names under `trust`, connected or not.
static void collect_named(const yoke_system* system, candidate candidates[]) {
  const yoke_scenario_trust* trust = &system->scenario->trust;
  for (size_t u = 0; trust->n_signals + trust->n_limits > 0 && u < system->n_units; u++) {
    const yoke_unit_info* info = system->units[u].unit.info;
    for (size_t v = 0; v < info->n_variables; v++) {
      const bool is_output =
          info->variables[v].type == YOKE_REAL && info->variables[v].causality == YOKE_OUTPUT;
      for (size_t i = 0; is_output && i < yoke__variable_count(&info->variables[v]); i++) {
        candidate* c = &candidates[system->units[u].y + system->units[u].unit.dense[v] + i];
        c->is_judged = c->is_judged ||
                       (trust->n_signals > 0 && yoke__system_decides(system, u, v, i)) ||
                       !isnan(yoke__system_error_limit(system, u, v, i));
      }
    }
  }
}

static void collect_all(const yoke_system* system, candidate candidates[]) {
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    collect(system, candidates, link->from_unit, link->from_variable, link->from_element, link->n,
            link->interval);
  }
  for (size_t i = 0; i < system->n_bonds; i++) {
    const yoke_system_bond* bond = &system->bonds[i];
    for (size_t k = 0; k < 2 * bond->n_pairs; k++) {
      const yoke_system_pair* pair =
          k < bond->n_pairs ? &bond->action[k] : &bond->rate[k - bond->n_pairs];
      collect(system, candidates, pair->from_unit, pair->from_variable, pair->from_element, pair->n,
              0);
    }
  }
}

// Macro steps between two exchanges. Exchange points that do not fall on ends of macro steps leave those.
static int64_t count_macro_steps(const yoke_system* system, const yoke_system_unit* unit,
                                 int64_t interval) {
  const int64_t ticks = interval > 0 ? interval : unit->is_law ? system->macro : unit->period;
  return !system->is_adaptive && ticks > system->macro && ticks % system->macro == 0
             ? ticks / system->macro
             : 1;
}

static void list_signals(const yoke_system* system, const candidate candidates[],
                         yoke_system_signal* signals) {
  for (size_t u = 0; u < system->n_units; u++) {
    const yoke_system_unit* unit = &system->units[u];
    for (size_t v = 0; v < unit->unit.info->n_variables; v++) {
      const yoke_variable* variable = &unit->unit.info->variables[v];
      const bool is_output = variable->type == YOKE_REAL && variable->causality == YOKE_OUTPUT;
      for (size_t i = 0; is_output && i < yoke__variable_count(variable); i++) {
        const size_t y = unit->y + unit->unit.dense[v] + i;
        const candidate* c = &candidates[y];
        if (c->is_judged) {
          *signals++ = (yoke_system_signal){
              .unit = u,
              .variable = v,
              .element = i,
              .y = y,
              .every = count_macro_steps(system, unit, c->interval),
              .loop = system->unit_loops[u],
              .is_in_bond = c->is_in_bond,
          };
        }
      }
    }
  }
}

static int compare_signals(const void* left, const void* right) {
  const yoke_system_signal *a = left, *b = right;
  return a->y < b->y ? -1 : a->y > b->y;
}

yoke_status yoke__system_list_signals(yoke_system* system) {
  YOKE_TRY(find_unit_loops(system));
  candidate* candidates = calloc(system->n_y + 1, sizeof *candidates);
  YOKE_TRY_MEMORY(candidates);
  collect_all(system, candidates);
  collect_named(system, candidates);
  for (size_t i = 0; i < system->n_y; i++) {
    system->n_judged += candidates[i].is_judged;
  }
  yoke_system_signal* signals =
      yoke__arena_array(&system->arena, system->n_judged + 1, sizeof *signals);
  if (signals != NULL) {
    list_signals(system, candidates, signals);
    qsort(signals, system->n_judged, sizeof *signals, compare_signals);
    system->judged = signals;
  }
  free(candidates);
  return signals == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

void yoke__system_signal_name(const yoke_system* system, const yoke_system_signal* signal, char* to,
                              size_t size) {
  const yoke_system_unit* unit = &system->units[signal->unit];
  yoke__system_element_name(unit, &unit->unit.info->variables[signal->variable], signal->element,
                            to, size);
}
