// Parts of a network that hang on the rest by too little. A part is a set of nodes joined by
// certain classes of edges; the part of vertex 0 (ground and all fixed nodes) is the rest. What
// joins the others to it decides what is wrong:
//
//   nothing                          no potential, a redundant current law: error
//   independent current sources      the currents of the cut are given twice: error
//   sources of current, nothing senses the part   its potential is in no equation: error
//   and capacitors                   no operating point (error) or one of any level (note)
//   and junctions, ideal switches    floats while they block; gmin decides (note), else warning
//   and inductors                    index 2 (note)
#include <math.h>

#include "circuit/topology/circuit_topology.h"

#define MAX_PARTS 20  // reported of one class; the rest is counted
#define MAX_SHOWN 60

typedef enum verdict { SILENT, SAID, FATAL } verdict;

typedef struct loose_part {
  uint32_t root, n_nodes;
  uint32_t first;          // smallest node with a name of the user's
  uint32_t slot;           // of its names; YOKE_NO_INDEX: none
  uint16_t cut_kinds;      // classes of the elements that join it to the rest
  bool has_start;          // a start value inside or across the cut
  verdict verdict;         // FATAL: its nodes take no part in later classes
  double flow, flow_size;  // into it from independent current sources at t = 0; sum of magnitudes
} loose_part;

// Names of a part that is reported.
typedef struct part_names {
  yoke_name_list nodes, cut;
} part_names;

// What parts of a class are joined by inside, and what is said about them.
typedef struct part_class {
  uint16_t joining;       // edges that make a part
  bool is_sense_joining;  // and senses of driven sources
  verdict (*judge)(const yoke_topology* self, const loose_part* part);
  void (*report)(yoke_topology* self, const loose_part* part, const part_names* names);
} part_class;

// ---- reports

static yoke_place place_of(const yoke_topology* self, const loose_part* part) {
  return self->network->nodes[part->first].place;
}

// "node" of "node 'a'", or "nodes"
static const char* word_of(const loose_part* part) {
  return part->n_nodes == 1 ? "node" : "nodes";
}

static bool is_loose_end(const yoke_topology* self, const loose_part* part) {
  return part->n_nodes == 1 && self->degree[part->root] <= 1;
}

static verdict judge_fatal(const yoke_topology* self, const loose_part* part) {
  (void)self, (void)part;
  return FATAL;
}

static void report_isolated(yoke_topology* self, const loose_part* part, const part_names* names) {
  if (part->n_nodes == 1 && self->degree[part->root] == 0) {
    yoke__error(self->messages, place_of(self, part), "nothing is connected to node %s",
                names->nodes.text);
    return;
  }
  yoke__error(self->messages, place_of(self, part),
              "no path to ground or a fixed node from %s %s (%u in all): connect one of them to "
              "node 0",
              word_of(part), names->nodes.text, part->n_nodes);
}

static void report_current_cut(yoke_topology* self, const loose_part* part,
                               const part_names* names) {
  yoke__error(self->messages, place_of(self, part),
              "only current sources (%s) join %s %s (%u in all) to the rest: their currents must "
              "add up to zero and the potential is not determined",
              names->cut.text, word_of(part), names->nodes.text, part->n_nodes);
}

// what is charged has no operating point; a loose end is reported as such
static verdict judge_dc(const yoke_topology* self, const loose_part* part) {
  // net current into the part, against the round-off of its sum; what charges it
  // without end has no operating point
  const bool is_fed = fabs(part->flow) > 1e-12 * part->flow_size;
  if (!self->is_started || part->has_start) {
    return SILENT;
  }
  if (is_fed && (part->cut_kinds & YOKE_EDGE_DRIVEN_I) == 0) {
    return FATAL;
  }
  return is_loose_end(self, part) ? SILENT : SAID;
}

static void report_dc(yoke_topology* self, const loose_part* part, const part_names* names) {
  const bool is_thermal = self->network->nodes[part->first].domain == YOKE_THERMAL;
  const char* sources = (part->cut_kinds & YOKE_EDGE_SOURCE_I) == 0 ? ""
                        : is_thermal                                ? " and heat sources"
                                                                    : " and current sources";
  const char* capacities = is_thermal ? "heat capacities" : "capacitors";
  if (part->verdict == FATAL) {
    yoke__error(self->messages, place_of(self, part),
                "only %s%s (%s) join %s %s (%u in all) to the rest, which %s without end: there is "
                "no operating point; give start values (IC=) or start with uic",
                capacities, sources, names->cut.text, word_of(part), names->nodes.text,
                part->n_nodes, is_thermal ? "heats up" : "charges");
    return;
  }
  yoke__message_add(self->messages, YOKE_NOTE, place_of(self, part),
                    "only %s%s (%s) join %s %s (%u in all) to the rest: the operating point leaves "
                    "the %s open; give start values (IC=)",
                    capacities, sources, names->cut.text, word_of(part), names->nodes.text,
                    part->n_nodes, is_thermal ? "temperature" : "level");
}

static verdict judge_blocked(const yoke_topology* self, const loose_part* part) {
  (void)self, (void)part;
  return SAID;
}

static void report_blocked(yoke_topology* self, const loose_part* part, const part_names* names) {
  const double gmin = self->network->run.gmin;
  const bool has_junction = (part->cut_kinds & YOKE_EDGE_JUNCTION) != 0;
  const bool has_gate = (part->cut_kinds & YOKE_EDGE_GATE) != 0;
  const char* what = !has_junction ? "ideal switches"
                     : has_gate    ? "junctions and ideal switches"
                                   : "junctions";
  if (has_junction && gmin > 0) {
    yoke__message_add(self->messages, YOKE_NOTE, place_of(self, part),
                      "only %s (%s) join %s %s (%u in all) to the rest: while they block, gmin = "
                      "%.3g S across each junction decides the level",
                      what, names->cut.text, word_of(part), names->nodes.text, part->n_nodes, gmin);
    return;
  }
  yoke__message_add(
      self->messages, YOKE_WARNING, place_of(self, part),
      "only %s (%s) join %s %s (%u in all) to the rest: they float while those block; "
      "%s",
      what, names->cut.text, word_of(part), names->nodes.text, part->n_nodes,
      has_junction ? "gmin is 0" : "give the switches an open resistance");
}

static verdict judge_inductor_cut(const yoke_topology* self, const loose_part* part) {
  const bool has_inductor = (part->cut_kinds & YOKE_EDGE_INDUCTOR) != 0;
  return has_inductor && !is_loose_end(self, part) ? SAID : SILENT;
}

static void report_inductor_cut(yoke_topology* self, const loose_part* part,
                                const part_names* names) {
  yoke__message_add(self->messages, YOKE_NOTE, place_of(self, part),
                    "only inductors%s (%s) join %s %s (%u in all) to the rest: their currents "
                    "depend on each other and the voltage follows derivatives (index 2)",
                    (part->cut_kinds & YOKE_EDGE_SOURCE_I) != 0 ? " and current sources" : "",
                    names->cut.text, word_of(part), names->nodes.text, part->n_nodes);
}

// clang-format off
#define NO_CURRENT (YOKE_EDGE_ANY & ~(YOKE_EDGE_SOURCE_I | YOKE_EDGE_DRIVEN_I))
static const part_class classes[] = {
    {YOKE_EDGE_ANY, false, judge_fatal, report_isolated},
    {YOKE_EDGE_ANY & ~YOKE_EDGE_SOURCE_I, false, judge_fatal, report_current_cut},
    {NO_CURRENT, true, judge_fatal, report_current_cut},
    {NO_CURRENT & ~YOKE_EDGE_CAPACITOR, true, judge_dc, report_dc},
    {NO_CURRENT & ~(YOKE_EDGE_JUNCTION | YOKE_EDGE_GATE), true, judge_blocked, report_blocked},
    {YOKE_EDGE_ANY & ~(YOKE_EDGE_SOURCE_I | YOKE_EDGE_INDUCTOR), false, judge_inductor_cut,
     report_inductor_cut},
};
// clang-format on
enum { N_CLASSES = sizeof classes / sizeof classes[0] };

// ---- finding them

// All parts of one class. part_of: of each root that is not vertex 0's and was not reported as
// fatal.
typedef struct part_search {
  yoke_topology* topology;
  loose_part* parts;  // room for one per node
  uint32_t n_parts;
  uint32_t* part_of;
  part_names* names;  // MAX_PARTS
} part_search;

// after this root[] holds the roots themselves, 0 for fixed nodes
static void join_vertices(yoke_topology* self, const part_class* class) {
  yoke__sets_reset(self);

  // vertices joined by edges of the class are one part
  for (uint32_t i = 0; i < self->n_edges; i++) {
    if ((self->edges[i].kind & class->joining) != 0) {
      yoke__sets_join(self, self->edges[i].a, self->edges[i].b);
    }
  }
  for (uint32_t i = 0; class->is_sense_joining && i < self->n_senses; i++) {
    yoke__sets_join(self, self->senses[i].a, self->senses[i].b);
  }
  for (uint32_t i = 0; i < self->n_nodes; i++) {
    self->root[i] = self->network->nodes[i].is_fixed ? 0 : yoke__root_of(self->root, i);
  }
}

// the part of a vertex; NULL for the rest and where an error has spoken
static loose_part* part_at(const part_search* search, uint32_t vertex) {
  const uint32_t root = search->topology->root[vertex];
  return root == 0 || search->topology->is_reported[vertex] ? NULL
                                                            : &search->parts[search->part_of[root]];
}

static void collect_nodes(part_search* search) {
  const yoke_topology* topology = search->topology;
  const yoke_network_node* nodes = topology->network->nodes;
  search->n_parts = 0;
  for (uint32_t i = 1; i < topology->n_nodes; i++) {
    // the root is the smallest node of a part, so that it is met first
    if (topology->root[i] == i && !topology->is_reported[i]) {
      search->part_of[i] = search->n_parts;
      search->parts[search->n_parts++] = (loose_part){.root = i, .first = i, .slot = YOKE_NO_INDEX};
    }
    loose_part* part = part_at(search, i);
    if (part != NULL) {
      part->n_nodes++;
      part->has_start |= nodes[i].has_start;
      // the first node that the netlist names
      if (nodes[part->first].is_internal && !nodes[i].is_internal) {
        part->first = i;
      }
    }
  }
}

// element i joins the part to the rest; sign +1: its current flows in
static void add_cut(const yoke_topology* topology, loose_part* part, uint32_t i, double sign) {
  const yoke_element* element = &topology->network->elements[i];
  part->cut_kinds |= topology->edges[i].kind;
  part->has_start |= element->kind == YOKE_CAPACITOR && element->has_start;
  if (topology->edges[i].kind == YOKE_EDGE_SOURCE_I) {
    // NaN where nobody knows the value yet
    const double value = yoke__topology_start_value(&element->value);
    if (!isnan(value)) {
      part->flow += sign * value;
      part->flow_size += fabs(value);
    }
  }
}

static void collect_cuts(part_search* search) {
  const yoke_topology* topology = search->topology;
  for (uint32_t i = 0; i < topology->n_edges; i++) {
    const yoke_edge* edge = &topology->edges[i];
    // both ends in different parts: the edge is in the cut of each
    if (topology->root[edge->a] != topology->root[edge->b]) {
      loose_part *from = part_at(search, edge->a), *to = part_at(search, edge->b);
      if (from != NULL) {
        add_cut(topology, from, i, -1);
      }
      if (to != NULL) {
        add_cut(topology, to, i, 1);
      }
    }
  }
}

// names of the parts that have a slot for them
static void collect_names(part_search* search) {
  const yoke_topology* topology = search->topology;
  const yoke_network* network = topology->network;
  for (uint32_t i = 1; i < topology->n_nodes; i++) {
    const loose_part* part = part_at(search, i);
    if (part != NULL && part->slot != YOKE_NO_INDEX) {
      const yoke_network_node* node = &network->nodes[i];
      const bool is_shown = !node->is_internal || i == part->first;
      yoke__list_add(&search->names[part->slot].nodes, is_shown ? node->name : NULL);
    }
  }
  for (uint32_t i = 0; i < topology->n_edges; i++) {
    const yoke_edge* edge = &topology->edges[i];
    const loose_part* ends[2] = {part_at(search, edge->a), part_at(search, edge->b)};
    for (int k = 0; k < 2 && topology->root[edge->a] != topology->root[edge->b]; k++) {
      if (ends[k] != NULL && ends[k]->slot != YOKE_NO_INDEX) {
        yoke__list_add(&search->names[ends[k]->slot].cut, network->elements[i].name);
      }
    }
  }
}

static void report_parts(part_search* search, const part_class* class) {
  yoke_topology* topology = search->topology;
  const loose_part* last = NULL;
  uint32_t n_more = 0;
  bool is_fatal = false;
  collect_names(search);
  for (uint32_t p = 0; p < search->n_parts; p++) {
    const loose_part* part = &search->parts[p];
    if (part->slot != YOKE_NO_INDEX) {
      part_names* names = &search->names[part->slot];
      yoke__list_finish(&names->nodes);
      yoke__list_finish(&names->cut);
      class->report(topology, part, names);
      last = part;
    } else if (part->verdict != SILENT) {
      n_more++;
      is_fatal |= part->verdict == FATAL;
    }
  }
  if (n_more > 0 && last != NULL) {
    yoke__message_add(topology->messages, is_fatal ? YOKE_ERROR : YOKE_NOTE,
                      place_of(topology, last), "and %u more parts of this kind", n_more);
  }
}

static void check_class(part_search* search, const part_class* class) {
  yoke_topology* topology = search->topology;
  join_vertices(topology, class);
  collect_nodes(search);
  collect_cuts(search);
  uint32_t n_slots = 0;

  // only parts with something to say get a slot for names, the first ones
  for (uint32_t p = 0; p < search->n_parts; p++) {
    loose_part* part = &search->parts[p];
    part->verdict = class->judge(topology, part);
    if (part->verdict != SILENT && n_slots < MAX_PARTS) {
      search->names[n_slots] = (part_names){.nodes = {.n = 0}};
      part->slot = n_slots++;
    }
  }
  if (n_slots == 0) {
    return;
  }
  report_parts(search, class);

  // where an error has spoken later classes, which are weaker, are silent
  for (uint32_t i = 1; i < topology->n_nodes; i++) {
    const loose_part* part = part_at(search, i);
    topology->is_reported[i] |= part != NULL && part->verdict == FATAL;
  }
}

// a node with a single connection carries no current; where an error speaks of it that is enough
static void report_loose_ends(yoke_topology* self) {
  uint32_t n = 0;
  for (uint32_t i = 1; i < self->n_nodes; i++) {
    const yoke_network_node* node = &self->network->nodes[i];
    if (self->degree[i] != 1 || node->is_fixed || self->is_reported[i]) {
      continue;
    }
    n++;
    if (n <= MAX_PARTS) {
      yoke__message_add(self->messages, YOKE_WARNING, node->place,
                        "node '%.*s' has a single connection: no current flows there", MAX_SHOWN,
                        node->name);
    }
  }
  if (n > MAX_PARTS) {
    yoke__message_add(self->messages, YOKE_WARNING, (yoke_place){self->network->path, 0, 0},
                      "and %u more nodes with a single connection", n - MAX_PARTS);
  }
}

yoke_status yoke__topology_check_parts(yoke_topology* self) {
  yoke_arena* arena = &self->arena;
  part_search search = {.topology = self};
  search.parts = yoke__arena_array(arena, self->n_nodes, sizeof *search.parts);
  search.part_of = yoke__arena_array(arena, self->n_nodes, sizeof *search.part_of);
  search.names = yoke__arena_array(arena, MAX_PARTS, sizeof *search.names);
  YOKE_TRY(yoke__arena_status(arena));
  for (size_t i = 0; i < N_CLASSES; i++) {
    check_class(&search, &classes[i]);
  }
  report_loose_ends(self);
  return YOKE_OK;
}
