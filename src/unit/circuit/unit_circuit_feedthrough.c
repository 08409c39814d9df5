// Direct feedthrough of a circuit from its structure: which outputs can move with an input while
// the states, voltages of capacitors and currents of inductors, are held.
//
// With the states held a network is a set of algebraic equations, one for each of its unknowns
// x = [node voltages; element currents]:
//
//   fixed node        V = value                 voltage source    V_a - V_b = value
//   resistor, diode   f(V_a, V_b, I) = 0        current source    I = value
//   capacitor         V_a - V_b is known        inductor          I is known
//   other nodes       sum of I = 0              controlled        the same with their controls
//
// A perfect matching gives each unknown the equation that determines it from the other unknowns in
// that equation. An input enters some equations; it can reach an unknown if a chain of such
// dependencies leads there. That is what the structure allows: numbers may cancel, but nothing is
// missed. Where there is no perfect matching (a capacitor across a source, inductors in series
// through a bare node: index 2) every pair counts as feedthrough.
#include <stdlib.h>
#include <string.h>

#include "circuit/expression/circuit_expression_compile.h"
#include "linalg/linalg_sparse.h"
#include "unit/circuit/unit_circuit_part.h"

// An input in an equation.
typedef struct entry {
  uint32_t row, input;
} entry;

// Equations as compressed rows of unknowns, with the inputs in them marked apart.
typedef struct structure {
  const yoke_network* network;
  yoke_arena arena;
  uint32_t n;  // unknowns, and equations
  uint32_t *starts, *columns;
  size_t n_filled, room;
  uint32_t row;          // being written
  uint32_t* unknown_of;  // per equation: the one that it determines
  entry* entries;
  size_t n_entries, entry_room;
  bool is_out_of_memory;
} structure;

static void put(structure* s, uint32_t column) {
  s->is_out_of_memory |= !yoke__append(&s->columns, &s->n_filled, &s->room, sizeof column, &column);
}

static void put_input(structure* s, uint32_t input) {
  const entry one = {s->row, input};
  s->is_out_of_memory |=
      !yoke__append(&s->entries, &s->n_entries, &s->entry_room, sizeof one, &one);
}

static void put_law(structure* s, const yoke_expression* law) {
  for (uint32_t i = 0; law != NULL && i < law->n_live; i++) {
    const yoke_live* live = &law->live[i];
    if (live->kind == YOKE_LIVE_VOLTAGE) {
      put(s, live->index);
    } else if (live->kind == YOKE_LIVE_CURRENT) {
      put(s, s->network->n_nodes + live->index);
    } else if (live->kind == YOKE_LIVE_INPUT) {
      put_input(s, live->index);
    }
  }
}

static void end_row(structure* s) {
  s->starts[++s->row] = (uint32_t)s->n_filled;
}

static void put_element(structure* s, uint32_t e) {
  const yoke_element* element = &s->network->elements[e];
  const uint32_t current = s->network->n_nodes + e;
  const yoke_element_kind kind = element->kind;
  const bool has_voltage =
      kind != YOKE_INDUCTOR && kind != YOKE_CURRENT && kind != YOKE_VCCS && kind != YOKE_CCCS;
  const bool has_current =
      kind != YOKE_CAPACITOR && kind != YOKE_VOLTAGE && kind != YOKE_VCVS && kind != YOKE_CCVS;
  if (has_current) {
    put(s, current);
  }
  if (has_voltage) {
    put(s, element->a);
    put(s, element->b);
  }
  if (kind == YOKE_VCVS || kind == YOKE_VCCS) {
    put(s, element->c);
    put(s, element->d);
  }
  if ((kind == YOKE_CCVS || kind == YOKE_CCCS) && element->control != YOKE_NO_INDEX) {
    put(s, s->network->n_nodes + element->control);
  }
  // the value of a storage element does not matter while its state is held
  if (kind != YOKE_CAPACITOR && kind != YOKE_INDUCTOR) {
    put_law(s, element->value.law);
  }
  end_row(s);
}

// Kirchhoff's law of every node that is not fixed
static yoke_status put_nodes(structure* s) {
  const yoke_network* network = s->network;
  uint32_t* at = yoke__arena_array(&s->arena, (size_t)network->n_nodes + 2, sizeof *at);
  uint32_t* touching =
      yoke__arena_array(&s->arena, 2 * (size_t)network->n_elements + 1, sizeof *touching);
  YOKE_TRY(yoke__arena_status(&s->arena));
  for (uint32_t e = 0; e < network->n_elements; e++) {
    at[network->elements[e].a + 2]++;
    at[network->elements[e].b + 2]++;
  }
  for (uint32_t n = 0; n < network->n_nodes; n++) {
    at[n + 2] += at[n + 1];
  }
  for (uint32_t e = 0; e < network->n_elements; e++) {
    touching[at[network->elements[e].a + 1]++] = e;
    touching[at[network->elements[e].b + 1]++] = e;
  }
  for (uint32_t n = 0; n < network->n_nodes; n++) {
    if (network->nodes[n].is_fixed) {
      put(s, n);
      put_law(s, network->nodes[n].fixed.law);
    } else {
      for (uint32_t i = at[n]; i < at[n + 1]; i++) {
        put(s, network->n_nodes + touching[i]);
      }
    }
    end_row(s);
  }
  return s->is_out_of_memory ? YOKE_NO_MEMORY : YOKE_OK;
}

// -------------------------------------------------------------------------------------------------
// matching

// *is_perfect false: some equation is left over.
static yoke_status match(structure* s, bool* is_perfect) {
  const yoke_sparse_pattern pattern = {
      .n = (int32_t)s->n, .starts = (const int32_t*)s->starts, .rows = (const int32_t*)s->columns};
  int32_t* equation_of = yoke__arena_array(&s->arena, s->n, sizeof *equation_of);
  int32_t rank = 0;
  s->unknown_of = yoke__arena_array(&s->arena, s->n, sizeof *s->unknown_of);
  YOKE_TRY(yoke__arena_status(&s->arena));
  YOKE_TRY(yoke__sparse_structural_rank(&pattern, &rank, equation_of));
  *is_perfect = rank == pattern.n;
  for (uint32_t x = 0; *is_perfect && x < s->n; x++) {
    s->unknown_of[equation_of[x]] = x;
  }
  return YOKE_OK;
}

// -------------------------------------------------------------------------------------------------
// reach

// Who uses an unknown: equations by unknown, compressed.
typedef struct users {
  uint32_t *starts, *rows;
} users;

static yoke_status list_users(structure* s, users* out) {
  out->starts = yoke__arena_array(&s->arena, (size_t)s->n + 2, sizeof *out->starts);
  out->rows = yoke__arena_array(&s->arena, s->n_filled, sizeof *out->rows);
  YOKE_TRY(yoke__arena_status(&s->arena));
  for (size_t i = 0; i < s->n_filled; i++) {
    out->starts[s->columns[i] + 2]++;
  }
  for (uint32_t c = 0; c < s->n; c++) {
    out->starts[c + 2] += out->starts[c + 1];
  }
  for (uint32_t row = 0; row < s->n; row++) {
    for (uint32_t i = s->starts[row]; i < s->starts[row + 1]; i++) {
      out->rows[out->starts[s->columns[i] + 1]++] = row;
    }
  }
  return YOKE_OK;
}

// marks what input number `input` can move
static void reach(const structure* s, const users* u, uint32_t input, bool is_reached[],
                  uint32_t stack[]) {
  size_t depth = 0;
  memset(is_reached, 0, s->n * sizeof *is_reached);
  for (size_t i = 0; i < s->n_entries; i++) {
    const uint32_t column = s->unknown_of[s->entries[i].row];
    if (s->entries[i].input == input && !is_reached[column]) {
      is_reached[column] = true;
      stack[depth++] = column;
    }
  }
  while (depth > 0) {
    const uint32_t column = stack[--depth];
    for (uint32_t i = u->starts[column]; i < u->starts[column + 1]; i++) {
      const uint32_t next = s->unknown_of[u->rows[i]];
      if (!is_reached[next]) {
        is_reached[next] = true;
        stack[depth++] = next;
      }
    }
  }
}

// the fixed node's own flow: all currents at it
static bool is_flow_reached(const yoke_network* network, uint32_t node, const bool is_reached[]) {
  for (uint32_t e = 0; e < network->n_elements; e++) {
    if ((network->elements[e].a == node || network->elements[e].b == node) &&
        is_reached[network->n_nodes + e]) {
      return true;
    }
  }
  return false;
}

static bool is_law_reached(const yoke_network* network, const yoke_expression* law, uint32_t input,
                           const bool is_reached[]) {
  for (uint32_t i = 0; i < law->n_live; i++) {
    const yoke_live* live = &law->live[i];
    if ((live->kind == YOKE_LIVE_INPUT && live->index == input) ||
        (live->kind == YOKE_LIVE_VOLTAGE && is_reached[live->index]) ||
        (live->kind == YOKE_LIVE_CURRENT && is_reached[network->n_nodes + live->index])) {
      return true;
    }
  }
  return false;
}

static bool is_probe_reached(const yoke_network* network, const yoke_probe* probe, uint32_t input,
                             const bool is_reached[]) {
  const uint32_t n_nodes = network->n_nodes;
  switch (probe->kind) {
  case YOKE_PROBE_VOLTAGE:
    return is_reached[probe->index];
  case YOKE_PROBE_DIFFERENCE:
    return is_reached[probe->index] || is_reached[probe->other];
  case YOKE_PROBE_CURRENT:
    return is_reached[n_nodes + probe->index];
  case YOKE_PROBE_FLOW:
    return is_flow_reached(network, probe->index, is_reached);
  case YOKE_PROBE_POWER: {
    const yoke_element* element = &network->elements[probe->index];
    return is_reached[element->a] || is_reached[element->b] || is_reached[n_nodes + probe->index];
  }
  case YOKE_PROBE_LAW:
    return is_law_reached(network, probe->law, input, is_reached);
  }
  return true;
}

// -------------------------------------------------------------------------------------------------

static yoke_status analyse(structure* s, const yoke_probe* const outputs[], size_t n_outputs,
                           yoke_feedthrough* pairs, size_t* n) {
  const yoke_network* network = s->network;
  users u;
  bool is_perfect = false;
  uint32_t* stack = yoke__arena_array(&s->arena, s->n, sizeof *stack);
  bool* is_reached = yoke__arena_array(&s->arena, s->n, sizeof *is_reached);
  s->starts = yoke__arena_array(&s->arena, (size_t)s->n + 1, sizeof *s->starts);
  YOKE_TRY(yoke__arena_status(&s->arena));
  for (uint32_t e = 0; e < network->n_elements; e++) {
    put_element(s, e);
  }
  YOKE_TRY(put_nodes(s));
  YOKE_TRY(list_users(s, &u));
  YOKE_TRY(match(s, &is_perfect));
  for (uint32_t input = 0; input < network->n_inputs; input++) {
    if (is_perfect) {
      reach(s, &u, input, is_reached, stack);
    }
    for (size_t o = 0; o < n_outputs; o++) {
      if (!is_perfect || is_probe_reached(network, outputs[o], input, is_reached)) {
        pairs[(*n)++] = (yoke_feedthrough){network->n_inputs + o, input};
      }
    }
  }
  return YOKE_OK;
}

yoke_status yoke__circuit_feedthrough(const yoke_network* network,
                                      const yoke_probe* const outputs[], size_t n_outputs,
                                      yoke_arena* arena, yoke_feedthrough** out, size_t* n) {
  *n = 0;
  *out = yoke__arena_array(arena, (size_t)network->n_inputs * n_outputs, sizeof **out);
  YOKE_TRY(yoke__arena_status(arena));
  if (network->n_inputs == 0) {
    return YOKE_OK;
  }
  structure s = {.network = network, .n = network->n_nodes + network->n_elements};
  const yoke_status status = analyse(&s, outputs, n_outputs, *out, n);
  yoke__arena_free(&s.arena);
  free(s.columns);
  free(s.entries);
  return status;
}
