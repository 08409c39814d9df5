// Stage 3: who must be evaluated before whom.
//
// Outputs that depend on inputs at the same instant (direct feedthrough) make a graph over variables. An edge points to
// what a variable needs: an input to the output that feeds it, an output to the inputs it lets through. Tarjan's
// algorithm gives the evaluation order (what is needed comes first) and the closed loops at once.
#include <stdlib.h>
#include <string.h>

#include "system/system.h"
#include "system/system_digraph.h"
#include "unit/fmu/unit_fmu.h"

// A graph whose nodes are the variables of all units.
typedef struct variable_graph {
  yoke_digraph graph;
  size_t* base;  // per unit: number of its first variable; n_units + 1 entries
} variable_graph;

static void variables_free(variable_graph* v) {
  yoke__digraph_free(&v->graph);
  free(v->base);
}

static const yoke_variable* sink_of(const yoke_system* system, const yoke_system_link* link) {
  return &system->units[link->to_unit].unit.info->variables[link->to_variable];
}

// A connected parameter acts on every output of its unit: one edge each.
static size_t count_tunable_edges(const yoke_system* system) {
  size_t n = 0;
  for (size_t i = 0; i < system->n_links; i++) {
    if (sink_of(system, &system->links[i])->causality == YOKE_TUNABLE) {
      n += system->units[system->links[i].to_unit].unit.info->n_variables;
    }
  }
  return n;
}

static yoke_status variables_allocate(variable_graph* g, const yoke_system* system) {
  *g = (variable_graph){.base = calloc(system->n_units + 1, sizeof *g->base)};
  YOKE_TRY_MEMORY(g->base);
  size_t n_edges = system->n_links + count_tunable_edges(system);
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_unit_info* info = system->units[i].unit.info;
    g->base[i + 1] = g->base[i] + info->n_variables;
    n_edges += info->n_feedthrough;
  }
  return yoke__digraph_allocate(&g->graph, g->base[system->n_units], n_edges);
}

// is the feedthrough of this unit active, i.e. are its outputs evaluated again when its inputs change
typedef bool (*is_active_fn)(const yoke_system_unit* unit);

static bool always(const yoke_system_unit* unit) {
  (void)unit;
  return true;
}

static bool when_refreshed(const yoke_system_unit* unit) {
  return unit->is_law || unit->is_fresh;
}

// Counts all edges, or writes them. At the start delayed connections count too: before it every signal had its initial value.
static void each_edge(const yoke_system* system, variable_graph* g, is_active_fn is_active,
                      bool is_start, bool is_counting) {
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_unit_info* info = system->units[i].unit.info;
    for (size_t k = 0; is_active(&system->units[i]) && k < info->n_feedthrough; k++) {
      yoke__digraph_add(&g->graph, g->base[i] + info->feedthrough[k].output,
                        g->base[i] + info->feedthrough[k].input, is_counting);
    }
  }
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    const yoke_system_unit* to = &system->units[link->to_unit];
    const size_t sink = g->base[link->to_unit] + link->to_variable;
    if (link->delay == 0 || is_start) {
      yoke__digraph_add(&g->graph, sink, g->base[link->from_unit] + link->from_variable,
                        is_counting);
    }
    for (size_t v = 0; sink_of(system, link)->causality == YOKE_TUNABLE && is_active(to) &&
                       v < to->unit.info->n_variables;
         v++) {
      if (to->unit.info->variables[v].causality == YOKE_OUTPUT) {
        yoke__digraph_add(&g->graph, g->base[link->to_unit] + v, sink, is_counting);
      }
    }
  }
}

static void variables_connect(const yoke_system* system, variable_graph* g, is_active_fn is_active,
                              bool is_start) {
  yoke__digraph_clear(&g->graph);
  each_edge(system, g, is_active, is_start, true);
  yoke__digraph_end_count(&g->graph);
  each_edge(system, g, is_active, is_start, false);
}

static size_t unit_of(const yoke_system* system, const variable_graph* g, size_t node) {
  size_t low = 0, high = system->n_units;
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    if (g->base[middle] <= node) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// ---------------------------------------------------------------------------------------------------------

// components with more than one variable, in the order of evaluation
static yoke_status find_loops(yoke_system* system, const variable_graph* g,
                              const yoke_system_loop** out, size_t* n_out) {
  size_t* sizes = calloc(g->graph.n_components + 1, sizeof *sizes);
  yoke_system_loop* loops = NULL;
  size_t n = 0;
  for (size_t i = 0; sizes != NULL && i < g->graph.n; i++) {
    n += ++sizes[g->graph.component[i]] == 2;
  }
  loops = yoke__arena_array(&system->arena, n + 1, sizeof *loops);
  if (sizes == NULL || loops == NULL) {
    free(sizes);
    return YOKE_NO_MEMORY;
  }
  *n_out = 0;
  for (size_t i = 0; i < g->graph.n; i++) {
    // the nodes of a component follow each other in the order
    const size_t size = sizes[g->graph.component[g->graph.order[i]]];
    if (size < 2) {
      continue;
    }
    yoke_system_variable* variables = yoke__arena_array(&system->arena, size, sizeof *variables);
    if (variables == NULL) {
      free(sizes);
      return YOKE_NO_MEMORY;
    }
    for (size_t j = 0; j < size; j++) {
      const size_t node = g->graph.order[i + j];
      const size_t unit = unit_of(system, g, node);
      variables[j] = (yoke_system_variable){unit, node - g->base[unit]};
    }
    loops[(*n_out)++] = (yoke_system_loop){variables, size};
    i += size - 1;
  }
  *out = loops;
  free(sizes);
  return YOKE_OK;
}

static void loop_text(const yoke_system* system, const yoke_system_loop* loop, char* to,
                      size_t size) {
  size_t used = 0;
  to[0] = '\0';
  for (size_t i = 0; i < loop->n && used < size; i++) {
    const yoke_system_unit* unit = &system->units[loop->variables[i].unit];
    const char* name = unit->unit.info->variables[loop->variables[i].variable].name;
    if (i == 12) {
      snprintf(to + used, size - used, " ... (%zu variables)", loop->n);
      return;
    }
    const int n = snprintf(to + used, size - used, "%s%s.%s", i == 0 ? "" : ", ", unit->name, name);
    used += n > 0 ? (size_t)n : 0;
  }
}

// units without feedthrough first, in the order of the file; then each of the others behind what it needs
static yoke_status order_units(yoke_system* system, const variable_graph* g) {
  size_t* last = calloc(system->n_units + 1, sizeof *last);
  size_t* order = yoke__arena_array(&system->arena, system->n_units + 1, sizeof *order);
  if (last == NULL || order == NULL) {
    free(last);
    return YOKE_NO_MEMORY;
  }
  for (size_t i = 0; i < g->graph.n; i++) {
    const size_t node = g->graph.order[i], unit = unit_of(system, g, node);
    const yoke_variable* variable = &system->units[unit].unit.info->variables[node - g->base[unit]];
    const bool has_feedthrough = g->graph.first[node + 1] > g->graph.first[node];
    if (variable->causality == YOKE_OUTPUT && has_feedthrough) {
      last[unit] = i + 1;
    }
  }
  size_t n = 0;
  for (size_t i = 0; i < system->n_units; i++) {
    if (last[i] == 0) {
      order[n++] = i;
    }
  }
  for (size_t i = 0; i < g->graph.n; i++) {
    const size_t unit = unit_of(system, g, g->graph.order[i]);
    if (last[unit] == i + 1) {
      order[n++] = unit;
    }
  }
  free(last);
  system->init_order = order;
  return YOKE_OK;
}

// Who will be evaluated at exchange learns where each of its outputs is final.
static yoke_status lay_finals(yoke_system* system) {
  for (size_t i = 0; i < system->n_units; i++) {
    yoke_system_unit* unit = &system->units[i];
    if (unit->is_law || unit->is_fresh) {
      unit->refresh_at = yoke__arena_array(&system->arena, unit->unit.info->n_variables + 1,
                                           sizeof *unit->refresh_at);
      YOKE_TRY_MEMORY(unit->refresh_at);
    }
  }
  return YOKE_OK;
}

// laws and fresh units in the order in which exchange evaluates them
static yoke_status order_refresh(yoke_system* system, const variable_graph* g) {
  YOKE_TRY(lay_finals(system));
  size_t* order = yoke__arena_array(&system->arena, g->graph.n + 1, sizeof *order);
  YOKE_TRY_MEMORY(order);
  size_t n = 0;
  bool hears_itself = false;  // since its last entry the unit took in an output of its own
  for (size_t i = 0; i < g->graph.n; i++) {
    const size_t node = g->graph.order[i], index = unit_of(system, g, node);
    const yoke_system_unit* unit = &system->units[index];
    const yoke_variable* variable = &unit->unit.info->variables[node - g->base[index]];
    for (size_t e = g->graph.first[node];
         variable->causality != YOKE_OUTPUT && e < g->graph.first[node + 1]; e++) {
      hears_itself = hears_itself || unit_of(system, g, g->graph.edges[e]) == index;
    }
    const bool has_feedthrough = g->graph.first[node + 1] > g->graph.first[node];
    const bool is_evaluated =
        variable->causality == YOKE_OUTPUT && (unit->is_law || (unit->is_fresh && has_feedthrough));
    if (is_evaluated && (n == 0 || order[n - 1] != index || hears_itself)) {
      order[n++] = index;
      hears_itself = false;
    }
    if (is_evaluated) {
      unit->refresh_at[node - g->base[index]] = n;
    }
  }
  system->refresh_order = order;
  system->n_refresh = n;
  return YOKE_OK;
}

static void refuse_fresh(yoke_system* system, const yoke_system_unit* unit) {
  char why[256], help[128];
  if (!yoke__system_is_fmu(unit)) {
    yoke__error(
        system->messages, unit->source->place,
        "unit '%s' (%s) cannot give its outputs again without a step: it needs exchange: stale",
        unit->name, unit->unit.ops->name);
    return;
  }
  yoke__fmu_no_refresh(unit->unit.ops, why, sizeof why, help, sizeof help);
  yoke__error(system->messages, unit->source->place,
              "exchange: fresh needs outputs of '%s' (%s) with new inputs. Co-simulation gives "
              "them after a step only, and no short step can be tried and taken back: %s. Use "
              "exchange: stale for this unit, or %s",
              unit->name, unit->unit.ops->name, why, help);
}

// Who is evaluated at exchange must be able to; from here on is_fresh means just that, laws included.
static void settle_fresh(yoke_system* system) {
  for (size_t i = 0; i < system->n_refresh; i++) {
    yoke_system_unit* unit = &system->units[system->refresh_order[i]];
    if (!yoke__unit_can_refresh(&unit->unit)) {
      refuse_fresh(system, unit);
    }
  }
  // a fresh unit without feedthrough has nothing to refresh
  for (size_t i = 0; i < system->n_units; i++) {
    system->units[i].is_fresh = false;
  }
  for (size_t i = 0; i < system->n_refresh; i++) {
    system->units[system->refresh_order[i]].is_fresh = true;
  }
}

// the user's order of Gauss-Seidel, or the evaluation order
static yoke_status order_gauss_seidel(yoke_system* system) {
  const yoke_scenario* s = system->scenario;
  size_t* order =
      yoke__arena_array(&system->arena, system->n_units + s->n_order + 1, sizeof *order);
  bool* is_listed = calloc(system->n_units + 1, sizeof *is_listed);
  if (order == NULL || is_listed == NULL) {
    free(is_listed);
    return YOKE_NO_MEMORY;
  }
  for (size_t i = 0; i < s->n_order; i++) {
    const size_t unit = yoke__map_find(&system->unit_index, s->order[i].text);
    if (unit == YOKE_NOT_FOUND || system->units[unit].is_law) {
      const char* nearest = yoke__system_nearest_unit(system, s->order[i].text);
      yoke__error_near(system->messages, s->order[i].place, nearest,
                       "order: '%s' is not a unit of this system", s->order[i].text);
    } else if (is_listed[unit]) {
      yoke__error(system->messages, s->order[i].place, "order: '%s' is listed twice",
                  s->order[i].text);
    } else {
      is_listed[unit] = true;
      order[system->n_gs++] = unit;
    }
  }
  system->is_gs_order_given = s->n_order > 0;
  for (size_t i = 0; i < system->n_units; i++) {
    const size_t unit = system->init_order[i];
    if (system->units[unit].is_law || is_listed[unit]) {
      continue;
    }
    if (s->n_order > 0) {
      yoke__error(system->messages, s->order[0].place, "order: unit '%s' is missing",
                  system->units[unit].name);
    }
    order[system->n_gs++] = unit;
  }
  free(is_listed);
  system->gs_order = order;
  return YOKE_OK;
}

// Work of finding what a unit listens to.
typedef struct listening {
  size_t* first_link;  // links by receiving unit; n_units + 1 entries
  size_t* links;
  size_t* mark;  // per unit: the last one that was found to listen to it, plus 1
  size_t* stack;
} listening;

static yoke_status sort_links(const yoke_system* system, listening* l) {
  *l = (listening){
      calloc(system->n_units + 2, sizeof(size_t)), calloc(system->n_links + 1, sizeof(size_t)),
      calloc(system->n_units + 1, sizeof(size_t)), calloc(system->n_units + 1, sizeof(size_t))};
  YOKE_TRY_MEMORY(l->first_link && l->links && l->mark && l->stack);
  // counting sort
  for (size_t i = 0; i < system->n_links; i++) {
    l->first_link[system->links[i].to_unit + 2]++;
  }
  for (size_t i = 2; i < system->n_units + 2; i++) {
    l->first_link[i] += l->first_link[i - 1];
  }
  for (size_t i = 0; i < system->n_links; i++) {
    l->links[l->first_link[system->links[i].to_unit + 1]++] = i;
  }
  return YOKE_OK;
}

// marks every law and fresh unit that `unit` listens to, directly or through others
static void mark_sources(const yoke_system* system, listening* l, size_t unit) {
  size_t n = 0;
  l->stack[n++] = unit;
  while (n > 0) {
    const size_t at = l->stack[--n];
    for (size_t i = l->first_link[at]; i < l->first_link[at + 1]; i++) {
      const size_t source = system->links[l->links[i]].from_unit;
      if (system->units[source].is_fresh && l->mark[source] != unit + 1) {
        l->mark[source] = unit + 1;
        l->stack[n++] = source;
      }
    }
  }
}

// Under Gauss-Seidel only what the next unit listens to is refreshed: the work stays linear in the units.
static yoke_status list_refresh(yoke_system* system, listening* l) {
  YOKE_TRY(sort_links(system, l));
  size_t* first = yoke__arena_array(&system->arena, system->n_units + 1, sizeof *first);
  size_t* list = NULL;
  size_t room = 0;
  // first count, then write
  for (int round = 0; round < 2 && first != NULL; round++) {
    size_t n = 0;
    memset(l->mark, 0, system->n_units * sizeof *l->mark);
    for (size_t unit = 0; unit < system->n_units; unit++) {
      first[unit] = n;
      if (system->n_refresh == 0 || system->units[unit].is_law) {
        continue;
      }
      mark_sources(system, l, unit);
      for (size_t k = 0; k < system->n_refresh; k++) {
        if (l->mark[system->refresh_order[k]] == unit + 1) {
          if (round == 1) {
            list[n] = system->refresh_order[k];
          }
          n++;
        }
      }
    }
    first[system->n_units] = n;
    if (round == 0) {
      room = n;
      list = yoke__arena_array(&system->arena, room + 1, sizeof *list);
      YOKE_TRY_MEMORY(list);
    }
  }
  system->unit_refresh = list;
  system->unit_refresh_first = first;
  return first == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

static yoke_status order_all(yoke_system* system, variable_graph* g) {
  YOKE_TRY(variables_allocate(g, system));
  variables_connect(system, g, always, true);
  yoke__digraph_sort(&g->graph);
  YOKE_TRY(find_loops(system, g, &system->loops, &system->n_loops));
  YOKE_TRY(order_units(system, g));
  YOKE_TRY(order_gauss_seidel(system));

  // what exchange evaluates again must be free of loops: nothing would break them
  variables_connect(system, g, when_refreshed, false);
  yoke__digraph_sort(&g->graph);
  const yoke_system_loop* loops = NULL;
  size_t n_loops = 0;
  YOKE_TRY(find_loops(system, g, &loops, &n_loops));
  for (size_t i = 0; i < n_loops; i++) {
    char text[512];
    loop_text(system, &loops[i], text, sizeof text);
    const size_t unit = loops[i].variables[0].unit;
    yoke__error(
        system->messages, system->units[unit].source->place,
        "algebraic loop that fresh exchange and laws cannot break: %s; give one of its units "
        "exchange: stale, or a connection a delay",
        text);
  }
  YOKE_TRY(order_refresh(system, g));
  settle_fresh(system);
  listening l;
  const yoke_status status = list_refresh(system, &l);
  free(l.first_link);
  free(l.links);
  free(l.mark);
  free(l.stack);
  return status;
}

yoke_status yoke__system_order(yoke_system* system) {
  variable_graph g;
  const yoke_status status = order_all(system, &g);
  variables_free(&g);
  return status;
}
