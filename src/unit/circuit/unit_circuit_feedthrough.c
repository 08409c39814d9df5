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
//
// Matching: augmenting paths with a cheap first try (I. Duff, ACM TOMS 7, 1981).
#include <stdlib.h>
#include <string.h>

#include "unit/circuit/unit_circuit_part.h"

#define NONE UINT32_MAX

// Equations as compressed rows of unknowns, with the inputs in them marked apart.
typedef struct structure {
  const yoke_network* network;
  uint32_t n;  // unknowns, and equations
  uint32_t *starts, *columns;
  size_t n_filled, room;
  uint32_t row;  // being written
  // where inputs enter: pairs row, input
  uint32_t *input_rows, *input_numbers;
  size_t n_entries, entry_room;
  bool is_out_of_memory;
} structure;

static bool grow(void** array, size_t* room, size_t n, size_t size) {
  if (n < *room) {
    return true;
  }
  const size_t larger = *room == 0 ? 1024 : 2 * *room;
  void* moved = realloc(*array, larger * size);
  if (moved == NULL) {
    return false;
  }
  *array = moved;
  *room = larger;
  return true;
}

static void put(structure* s, uint32_t column) {
  void* columns = s->columns;
  if (!grow(&columns, &s->room, s->n_filled, sizeof *s->columns)) {
    s->is_out_of_memory = true;
    return;
  }
  s->columns = columns;
  s->columns[s->n_filled++] = column;
}

static void put_input(structure* s, uint32_t input) {
  void *rows = s->input_rows, *numbers = s->input_numbers;
  size_t room = s->entry_room, other = s->entry_room;
  const bool is_room = grow(&rows, &room, s->n_entries, sizeof *s->input_rows) &&
                       grow(&numbers, &other, s->n_entries, sizeof *s->input_numbers);
  s->input_rows = rows;
  s->input_numbers = numbers;
  if (!is_room) {
    s->is_out_of_memory = true;
    return;
  }
  s->entry_room = room;
  s->input_rows[s->n_entries] = s->row;
  s->input_numbers[s->n_entries++] = input;
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
static bool put_nodes(structure* s) {
  const yoke_network* network = s->network;
  uint32_t* at = calloc((size_t)network->n_nodes + 2, sizeof *at);
  uint32_t* touching = calloc(2 * (size_t)network->n_elements + 1, sizeof *touching);
  bool is_done = at != NULL && touching != NULL;
  for (uint32_t e = 0; is_done && e < network->n_elements; e++) {
    at[network->elements[e].a + 2]++;
    at[network->elements[e].b + 2]++;
  }
  for (uint32_t n = 0; is_done && n < network->n_nodes; n++) {
    at[n + 2] += at[n + 1];
  }
  for (uint32_t e = 0; is_done && e < network->n_elements; e++) {
    touching[at[network->elements[e].a + 1]++] = e;
    touching[at[network->elements[e].b + 1]++] = e;
  }
  for (uint32_t n = 0; is_done && n < network->n_nodes; n++) {
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
  free(at);
  free(touching);
  return is_done;
}

// -------------------------------------------------------------------------------------------------
// matching

typedef struct matching {
  const structure* s;
  uint32_t* row_of;     // per unknown
  uint32_t* column_of;  // per equation
  uint32_t* seen;       // per unknown: the search that met it last, counted from 1
  uint32_t* stack;      // equations of the path at hand
  uint32_t* next;       // per equation: where its search goes on
} matching;

// an equation with a free unknown takes it
static bool take_free(matching* m, uint32_t row) {
  for (uint32_t i = m->s->starts[row]; i < m->s->starts[row + 1]; i++) {
    const uint32_t column = m->s->columns[i];
    if (m->row_of[column] == NONE) {
      m->row_of[column] = row;
      m->column_of[row] = column;
      return true;
    }
  }
  return false;
}

// moves the matching along the path on the stack, whose last equation takes `column`
static void augment(matching* m, size_t depth, uint32_t column) {
  for (;;) {
    const uint32_t row = m->stack[depth];
    const uint32_t given_up = m->column_of[row];
    m->column_of[row] = column;
    m->row_of[column] = row;
    if (depth-- == 0) {
      return;
    }
    column = given_up;
  }
}

static bool search(matching* m, uint32_t start, uint32_t round) {
  const structure* s = m->s;
  size_t depth = 0;
  m->stack[0] = start;
  m->next[start] = s->starts[start];
  for (;;) {
    const uint32_t row = m->stack[depth];
    bool is_deeper = false;
    while (m->next[row] < s->starts[row + 1] && !is_deeper) {
      const uint32_t column = s->columns[m->next[row]++];
      if (m->seen[column] == round) {
        continue;
      }
      m->seen[column] = round;
      const uint32_t owner = m->row_of[column];
      if (owner == NONE) {
        augment(m, depth, column);
        return true;
      }
      m->stack[++depth] = owner;
      m->next[owner] = s->starts[owner];
      is_deeper = true;
    }
    if (!is_deeper) {
      if (depth == 0) {
        return false;
      }
      depth--;
    }
  }
}

// False: some equation is left over.
static bool match(matching* m) {
  const structure* s = m->s;
  for (uint32_t i = 0; i < s->n; i++) {
    m->row_of[i] = m->column_of[i] = NONE;
  }
  for (uint32_t row = 0; row < s->n; row++) {
    take_free(m, row);
  }
  for (uint32_t row = 0; row < s->n; row++) {
    if (m->column_of[row] == NONE && !search(m, row, row + 1)) {
      return false;
    }
  }
  return true;
}

// -------------------------------------------------------------------------------------------------
// reach

// Who uses an unknown: equations by unknown, compressed.
typedef struct users {
  uint32_t *starts, *rows;
} users;

static bool list_users(const structure* s, users* out) {
  out->starts = calloc((size_t)s->n + 2, sizeof *out->starts);
  out->rows = calloc(s->n_filled + 1, sizeof *out->rows);
  if (out->starts == NULL || out->rows == NULL) {
    return false;
  }
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
  return true;
}

// marks what input number `input` can move
static void reach(const matching* m, const users* u, uint32_t input, bool is_reached[],
                  uint32_t stack[]) {
  const structure* s = m->s;
  size_t depth = 0;
  memset(is_reached, 0, s->n * sizeof *is_reached);
  for (size_t i = 0; i < s->n_entries; i++) {
    const uint32_t column = s->input_numbers[i] == input ? m->column_of[s->input_rows[i]] : NONE;
    if (column != NONE && !is_reached[column]) {
      is_reached[column] = true;
      stack[depth++] = column;
    }
  }
  while (depth > 0) {
    const uint32_t column = stack[--depth];
    for (uint32_t i = u->starts[column]; i < u->starts[column + 1]; i++) {
      const uint32_t next = m->column_of[u->rows[i]];
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

static yoke_status list_pairs(const matching* m, const users* u, const yoke_probe* const outputs[],
                              size_t n_outputs, bool is_reached[], uint32_t stack[],
                              yoke_feedthrough* pairs, size_t* n) {
  const yoke_network* network = m->s->network;
  for (uint32_t input = 0; input < network->n_inputs; input++) {
    if (u != NULL) {
      reach(m, u, input, is_reached, stack);
    }
    for (size_t o = 0; o < n_outputs; o++) {
      if (u == NULL || is_probe_reached(network, outputs[o], input, is_reached)) {
        pairs[(*n)++] = (yoke_feedthrough){network->n_inputs + o, input};
      }
    }
  }
  return YOKE_OK;
}

static yoke_status analyse(structure* s, const yoke_probe* const outputs[], size_t n_outputs,
                           yoke_feedthrough* pairs, size_t* n) {
  const size_t size = (size_t)s->n + 1;
  uint32_t* work = calloc(6 * size, sizeof *work);
  bool* is_reached = calloc(size, sizeof *is_reached);
  users u = {0};
  yoke_status status = YOKE_NO_MEMORY;
  s->starts = calloc(size + 1, sizeof *s->starts);
  if (work != NULL && is_reached != NULL && s->starts != NULL) {
    for (uint32_t e = 0; e < s->network->n_elements; e++) {
      put_element(s, e);
    }
    const bool is_whole = put_nodes(s) && !s->is_out_of_memory && list_users(s, &u);
    matching m = {s, work, work + size, work + 2 * size, work + 3 * size, work + 4 * size};
    if (is_whole) {
      status = list_pairs(&m, match(&m) ? &u : NULL, outputs, n_outputs, is_reached,
                          work + 5 * size, pairs, n);
    }
  }
  free(work);
  free(is_reached);
  free(u.starts);
  free(u.rows);
  return status;
}

yoke_status yoke__circuit_feedthrough(const yoke_network* network,
                                      const yoke_probe* const outputs[], size_t n_outputs,
                                      yoke_arena* arena, yoke_feedthrough** out, size_t* n) {
  *n = 0;
  *out = yoke__arena_array(arena, (size_t)network->n_inputs * n_outputs, sizeof **out);
  if (*out == NULL) {
    return YOKE_NO_MEMORY;
  }
  if (network->n_inputs == 0) {
    return YOKE_OK;
  }
  structure s = {.network = network, .n = network->n_nodes + network->n_elements};
  const yoke_status status = analyse(&s, outputs, n_outputs, *out, n);
  free(s.starts);
  free(s.columns);
  free(s.input_rows);
  free(s.input_numbers);
  return status;
}
