// Loops whose voltages are given: a spanning forest grows edge by edge; an edge whose ends are
// joined already closes a loop with the path between them in the forest.
//
//   independent voltage sources, fixed nodes          voltages given twice: error
//   sources of voltage whose currents nothing senses  the current round it is in no equation: error
//   inductors (and sources), at an operating point    the current is not determined or has no bound
//   capacitors and sources                            index 2: currents follow derivatives (note)
#include <math.h>

#include "circuit/topology/circuit_topology.h"

#define MAX_LOOPS  20       // reported of one class and severity; the rest is counted
#define MAX_TRACED 4000000  // edges of the loops of one class that are followed
#define MAX_SHOWN  60

// A forest as it grows, and what closed loops in it.
typedef struct loop_forest {
  yoke_topology* topology;
  bool* is_tree;      // of each edge
  bool* is_rejected;  // of each edge: closed a loop that was reported
  uint32_t* closers;
  uint32_t n_closers;
  // rooted, for the paths of reported loops
  uint32_t *starts, *incident;  // tree edges of each vertex
  uint32_t *parent, *parent_edge, *depth, *queue;
} loop_forest;

// What is known about one loop.
typedef struct source_loop {
  yoke_name_list elements, fixed_nodes;
  uint32_t n_sources;
  uint32_t last_fixed;  // the fixed node named last
  bool is_driven;       // a source in it is not 0 at t = 0
  bool is_waved;        // a source in it changes later
} source_loop;

static void reset_forest(loop_forest* self) {
  yoke__sets_reset(self->topology);
  for (uint32_t i = 0; i < self->topology->n_edges; i++) {
    self->is_tree[i] = false;
  }
  self->n_closers = 0;
}

// true if the edge closes a loop
static bool add_edge(loop_forest* self, uint32_t i) {
  const yoke_edge* edge = &self->topology->edges[i];

  // ends in different sets: the edge joins two trees; in the same one: it closes a loop
  self->is_tree[i] = yoke__sets_join(self->topology, edge->a, edge->b);
  return !self->is_tree[i];
}

static void note_loop(loop_forest* self, uint32_t closer) {
  self->closers[self->n_closers++] = closer;
  self->is_rejected[closer] = true;
}

// ---- paths

// tree edges by vertex: counted, then filled in from the end
static void list_incident(loop_forest* self) {
  const yoke_topology* topology = self->topology;
  uint32_t* starts = self->starts;
  for (uint32_t i = 0; i <= topology->n_nodes; i++) {
    starts[i] = 0;
  }
  for (uint32_t i = 0; i < topology->n_edges; i++) {
    if (self->is_tree[i]) {
      starts[topology->edges[i].a]++;
      starts[topology->edges[i].b]++;
    }
  }
  for (uint32_t i = 0; i < topology->n_nodes; i++) {
    starts[i + 1] += starts[i];
  }

  // from the end and backwards, so that starts ends where each vertex begins and edges ascend
  for (uint32_t i = topology->n_edges; i-- > 0;) {
    if (self->is_tree[i]) {
      self->incident[--starts[topology->edges[i].a]] = i;
      self->incident[--starts[topology->edges[i].b]] = i;
    }
  }
}

// parents and depths from every root, breadth first
static void root_forest(loop_forest* self) {
  const yoke_topology* topology = self->topology;
  list_incident(self);
  for (uint32_t i = 0; i < topology->n_nodes; i++) {
    self->parent[i] = YOKE_NO_INDEX;
  }
  for (uint32_t root = 0; root < topology->n_nodes; root++) {
    if (self->parent[root] != YOKE_NO_INDEX) {
      continue;
    }
    uint32_t head = 0, tail = 0;
    self->queue[tail++] = root;
    self->parent[root] = root;
    self->depth[root] = 0;
    // breadth first: each vertex is reached once, by a shortest way
    while (head < tail) {
      const uint32_t at = self->queue[head++];
      for (uint32_t k = self->starts[at]; k < self->starts[at + 1]; k++) {
        const yoke_edge* edge = &topology->edges[self->incident[k]];
        const uint32_t next = edge->a == at ? edge->b : edge->a;
        if (self->parent[next] == YOKE_NO_INDEX) {
          self->parent[next] = at;
          self->parent_edge[next] = self->incident[k];
          self->depth[next] = self->depth[at] + 1;
          self->queue[tail++] = next;
        }
      }
    }
  }
}

// what a source does to an operating point: v is its value at t = 0, NaN if nobody knows yet
static void add_source(source_loop* loop, double v, const yoke_circuit_value* value) {
  loop->is_driven |= !isnan(v) && v != 0;
  loop->is_waved |= isnan(v) || value->wave != NULL;
}

static void add_to_loop(const yoke_topology* topology, uint32_t index, source_loop* loop) {
  const yoke_element* element = &topology->network->elements[index];
  yoke__list_add(&loop->elements, element->name);
  if ((topology->edges[index].kind & (YOKE_EDGE_SOURCE_V | YOKE_EDGE_DRIVEN_V)) != 0) {
    loop->n_sources++;
    add_source(loop, yoke__topology_start_value(&element->value), &element->value);
  }
  const uint32_t ends[2] = {element->a, element->b};
  for (int i = 0; i < 2; i++) {
    const yoke_network_node* node = &topology->network->nodes[ends[i]];
    if (ends[i] != 0 && node->is_fixed && ends[i] != loop->last_fixed) {
      loop->last_fixed = ends[i];
      yoke__list_add(&loop->fixed_nodes, node->name);
      add_source(loop, yoke__topology_start_value(&node->fixed), &node->fixed);
    }
  }
}

// the closing edge and the path between its ends
static void trace_loop(const loop_forest* self, uint32_t closer, source_loop* loop) {
  const yoke_topology* topology = self->topology;
  uint32_t a = topology->edges[closer].a, b = topology->edges[closer].b;
  add_to_loop(topology, closer, loop);

  // from the deeper end upwards until both ways meet
  while (a != b) {
    uint32_t* deeper = self->depth[a] >= self->depth[b] ? &a : &b;
    add_to_loop(topology, self->parent_edge[*deeper], loop);
    *deeper = self->parent[*deeper];
  }
  yoke__list_finish(&loop->elements);
  yoke__list_finish(&loop->fixed_nodes);
}

// What is said about a kind of loops.
typedef struct loop_class {
  yoke_severity (*judge)(const source_loop* loop);
  void (*report)(yoke_topology* topology, const yoke_element* closer, const source_loop* loop);
} loop_class;

// Says something about the loops noted, and how many more there are. Those beyond what is followed
// count as the last one.
static void report_loops(loop_forest* self, const loop_class* class) {
  yoke_topology* topology = self->topology;
  const yoke_element* elements = topology->network->elements;
  uint32_t n_said[YOKE_ERROR + 1] = {0};
  uint32_t n_traced = 0;
  yoke_severity severity = YOKE_NOTE;
  if (self->n_closers == 0) {
    return;
  }
  root_forest(self);
  for (uint32_t i = 0; i < self->n_closers; i++) {
    if (n_traced < MAX_TRACED) {
      source_loop loop = {.n_sources = 0};
      trace_loop(self, self->closers[i], &loop);
      n_traced += loop.elements.n;
      severity = class->judge(&loop);
      if (n_said[severity] < MAX_LOOPS) {
        class->report(topology, &elements[self->closers[i]], &loop);
      }
    }
    n_said[severity]++;
  }
  for (int s = YOKE_NOTE; s <= YOKE_ERROR; s++) {
    if (n_said[s] > MAX_LOOPS) {
      yoke__message_add(topology->messages, (yoke_severity)s,
                        elements[self->closers[self->n_closers - 1]].place,
                        "and %u more loops of this kind", n_said[s] - MAX_LOOPS);
    }
  }
}

static yoke_severity judge_error(const source_loop* loop) {
  (void)loop;
  return YOKE_ERROR;
}

static yoke_severity judge_note(const source_loop* loop) {
  (void)loop;
  return YOKE_NOTE;
}

// ", fixed nodes 'a', 'b'" or nothing
static const char* fixed_word(const source_loop* loop) {
  return loop->fixed_nodes.n == 0 ? "" : ", fixed nodes ";
}

// ---- sources of voltage

static void report_voltage_loop(yoke_topology* topology, const yoke_element* closer,
                                const source_loop* loop) {
  if (loop->elements.n == 1 && loop->fixed_nodes.n == 0) {
    yoke__error(topology->messages, closer->place,
                "'%.*s' has both ends on one node: a voltage source that is shorted", MAX_SHOWN,
                closer->name);
    return;
  }
  yoke__error(topology->messages, closer->place,
              "loop of voltage sources (%s%s%s): their voltages must add up to zero and the "
              "current is not determined; put a small resistance into it",
              loop->elements.text, fixed_word(loop), loop->fixed_nodes.text);
}

static void check_voltages(loop_forest* self) {
  const loop_class class = {judge_error, report_voltage_loop};
  const yoke_topology* topology = self->topology;

  // rows: the equations of independent sources round a loop add up to zero
  reset_forest(self);
  for (uint32_t i = 0; i < topology->n_edges; i++) {
    if (topology->edges[i].kind == YOKE_EDGE_SOURCE_V && add_edge(self, i)) {
      note_loop(self, i);
    }
  }
  report_loops(self, &class);

  // columns: a current round a loop changes nothing
  const uint16_t any = YOKE_EDGE_SOURCE_V | YOKE_EDGE_DRIVEN_V;
  reset_forest(self);
  for (uint32_t i = 0; i < topology->n_edges; i++) {
    const yoke_edge* edge = &topology->edges[i];
    if ((edge->kind & any) != 0 && !edge->is_sensed && !self->is_rejected[i] && add_edge(self, i)) {
      note_loop(self, i);
    }
  }
  report_loops(self, &class);
}

// ---- inductors at an operating point

// A source that is 0 at the start, or whose value comes from outside, leaves only the current open.
static yoke_severity judge_inductor_loop(const source_loop* loop) {
  return !loop->is_driven && loop->is_waved ? YOKE_WARNING : YOKE_ERROR;
}

static void report_inductor_loop(yoke_topology* topology, const yoke_element* closer,
                                 const source_loop* loop) {
  const bool has_source = loop->n_sources > 0 || loop->fixed_nodes.n > 0;
  yoke__message_add(topology->messages, judge_inductor_loop(loop), closer->place,
                    "loop of inductors%s (%s%s%s): %s; give one of them a start value (IC=) or "
                    "start with uic",
                    has_source ? " and voltage sources" : "", loop->elements.text, fixed_word(loop),
                    loop->fixed_nodes.text,
                    loop->is_driven ? "there is no operating point"
                                    : "the operating point leaves its current open");
}

static void check_inductors(loop_forest* self) {
  const yoke_topology* topology = self->topology;
  reset_forest(self);

  // sources first: they are there in any case, and each inductor that
  // closes a loop is one to report
  for (uint32_t i = 0; i < topology->n_edges; i++) {
    if (topology->edges[i].kind == YOKE_EDGE_SOURCE_V && !self->is_rejected[i]) {
      add_edge(self, i);
    }
  }
  for (uint32_t i = 0; i < topology->n_edges; i++) {
    const yoke_element* element = &topology->network->elements[i];
    if (topology->edges[i].kind == YOKE_EDGE_INDUCTOR && !element->has_start &&
        element->a != element->b && add_edge(self, i)) {
      note_loop(self, i);
    }
  }
  report_loops(self, &(loop_class){judge_inductor_loop, report_inductor_loop});
}

// ---- capacitors

static void report_capacitor_loop(yoke_topology* topology, const yoke_element* closer,
                                  const source_loop* loop) {
  yoke__message_add(topology->messages, YOKE_NOTE, closer->place,
                    "loop of capacitors and voltage sources (%s%s%s): its current follows the "
                    "derivative of the voltage (index 2)",
                    loop->elements.text, fixed_word(loop), loop->fixed_nodes.text);
}

static void check_capacitors(loop_forest* self, bool* is_chosen) {
  const yoke_topology* topology = self->topology;

  // loops of capacitors alone are no trouble: go on with a forest of them, fixed nodes apart
  yoke__sets_reset(self->topology);
  for (uint32_t i = 0; i < topology->n_edges; i++) {
    const yoke_element* element = &topology->network->elements[i];
    is_chosen[i] = topology->edges[i].kind == YOKE_EDGE_CAPACITOR &&
                   yoke__sets_join(self->topology, element->a, element->b);
  }

  // a loop of that forest with the sources holds at least one source or two fixed nodes
  reset_forest(self);
  for (uint32_t i = 0; i < topology->n_edges; i++) {
    const uint16_t any = YOKE_EDGE_SOURCE_V | YOKE_EDGE_DRIVEN_V;
    if ((topology->edges[i].kind & any) != 0 && !self->is_rejected[i]) {
      add_edge(self, i);
    }
  }

  // capacitors last, so that each loop is named by one of them
  for (uint32_t i = 0; i < topology->n_edges; i++) {
    if (is_chosen[i] && add_edge(self, i)) {
      note_loop(self, i);
    }
  }
  report_loops(self, &(loop_class){judge_note, report_capacitor_loop});
}

// ----

static yoke_status make_forest(yoke_topology* topology, loop_forest* self) {
  yoke_arena* arena = &topology->arena;
  const size_t n = topology->n_nodes;
  *self = (loop_forest){.topology = topology};
  self->is_tree = yoke__arena_array(arena, topology->n_edges, sizeof *self->is_tree);
  self->closers = yoke__arena_array(arena, topology->n_edges, sizeof *self->closers);
  self->is_rejected = yoke__arena_array(arena, topology->n_edges, sizeof *self->is_rejected);
  self->starts = yoke__arena_array(arena, n + 1, sizeof *self->starts);
  self->incident = yoke__arena_array(arena, 2 * n, sizeof *self->incident);
  self->parent = yoke__arena_array(arena, n, sizeof *self->parent);
  self->parent_edge = yoke__arena_array(arena, n, sizeof *self->parent_edge);
  self->depth = yoke__arena_array(arena, n, sizeof *self->depth);
  self->queue = yoke__arena_array(arena, n, sizeof *self->queue);
  return yoke__arena_status(arena);
}

yoke_status yoke__topology_check_loops(yoke_topology* self) {
  loop_forest forest;
  bool* is_chosen = yoke__arena_array(&self->arena, self->n_edges, sizeof *is_chosen);
  YOKE_TRY(make_forest(self, &forest));
  check_voltages(&forest);
  if (self->is_started) {
    check_inductors(&forest);
  }
  check_capacitors(&forest, is_chosen);
  return YOKE_OK;
}
