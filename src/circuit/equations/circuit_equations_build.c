// Rows, columns, patterns and slots of the equations in full coordinates (circuit_equations.h).
//
// Every element names the columns its row depends on; the pairs (column, row) are sorted into
// compressed columns, and each element looks up its places in the values once.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "circuit/equations/circuit_equations.h"

// Pairs (column, row) as one number: sorting them gives columns with ascending rows.
typedef struct pairs {
  uint64_t* keys;
  size_t n;
} pairs;

static void add_pair(pairs* list, uint32_t row, uint32_t column) {
  // column in the upper half: sorted numbers are sorted by column, then by row
  list->keys[list->n++] = ((uint64_t)column << 32) | row;
}

static int compare_keys(const void* a, const void* b) {
  const uint64_t x = *(const uint64_t*)a;
  const uint64_t y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

static uint32_t live_column(const yoke_equations* self, const yoke_live* live) {
  // x = (V of all nodes, I of all elements)
  switch (live->kind) {
  case YOKE_LIVE_VOLTAGE:
    return live->index;
  case YOKE_LIVE_CURRENT:
    return self->network->n_nodes + live->index;
  case YOKE_LIVE_TIME:
  case YOKE_LIVE_INPUT:
    break;
  }
  return YOKE_NO_INDEX;
}

// ------------------------------------------------------------------------------------------
// elements

static void set_form(yoke_stamp* stamp, double voltage_sign, double current_sign, double scale,
                     uint32_t p, uint32_t q) {
  stamp->voltage_sign = voltage_sign;
  stamp->current_sign = current_sign;
  stamp->scale = scale;
  stamp->p = p;
  stamp->q = q;
}

// The row of each kind; see yoke_stamp.
static void describe_kind(const yoke_equations* self, const yoke_element* element,
                          yoke_stamp* stamp) {
  const uint32_t none = YOKE_NO_INDEX;
  const uint32_t control = self->network->n_nodes + element->control;
  set_form(stamp, 0.0, 0.0, 0.0, none, none);
  switch (element->kind) {
  case YOKE_RESISTOR:
    set_form(stamp, 1.0, 0.0, -1.0, stamp->i, none);  // Va - Vb - R I = 0
    break;
  case YOKE_CAPACITOR:
    set_form(stamp, 0.0, -1.0, 1.0, stamp->a, stamp->b);  // -I + C (Va' - Vb') = 0
    stamp->is_rate = true;
    break;
  case YOKE_INDUCTOR:
    set_form(stamp, 1.0, 0.0, -1.0, stamp->i, none);  // Va - Vb - L I' = 0
    stamp->is_rate = true;
    break;
  case YOKE_VOLTAGE:
    set_form(stamp, 1.0, 0.0, 0.0, none, none);  // Va - Vb - E = 0
    break;
  case YOKE_CURRENT:
    set_form(stamp, 0.0, 1.0, 0.0, none, none);  // I - J = 0
    break;
  case YOKE_VCVS:
    set_form(stamp, 1.0, 0.0, -1.0, element->c, element->d);  // Va - Vb - E (Vc - Vd) = 0
    break;
  case YOKE_VCCS:
    set_form(stamp, 0.0, 1.0, -1.0, element->c, element->d);  // I - G (Vc - Vd) = 0
    break;
  case YOKE_CCVS:
    set_form(stamp, 1.0, 0.0, -1.0, control, none);  // Va - Vb - H I_c = 0
    break;
  case YOKE_CCCS:
    set_form(stamp, 0.0, 1.0, -1.0, control, none);  // I - F I_c = 0
    break;
  case YOKE_JUNCTION:
    stamp->kind = YOKE_STAMP_JUNCTION;
    break;
  case YOKE_SWITCH:
    stamp->kind = YOKE_STAMP_SWITCH;
    break;
  case YOKE_ELEMENT_N_KINDS:
    break;
  }
}

// A value that moves with time stands in the matrix of every kind but sources.
static bool is_value_moving(const yoke_element* element) {
  return element->value.law != NULL && element->kind != YOKE_VOLTAGE &&
         element->kind != YOKE_CURRENT;
}

static yoke_status describe_element(yoke_equations* self, uint32_t e, double gmin,
                                    yoke_arena* arena) {
  const yoke_element* element = &self->network->elements[e];
  yoke_stamp* stamp = &self->stamps[e];
  *stamp = (yoke_stamp){.a = element->a, .b = element->b, .i = self->network->n_nodes + e};
  describe_kind(self, element, stamp);
  stamp->kcl_a = YOKE_NO_INDEX;
  stamp->kcl_b = YOKE_NO_INDEX;
  if (stamp->kind == YOKE_STAMP_JUNCTION) {
    const yoke_junction_model* model = element->junction;
    yoke__junction_init(&stamp->junction, model, gmin);
    stamp->charge = yoke__junction_holds_charge(model) ? model : NULL;
    self->has_charges |= stamp->charge != NULL;
    stamp->index = self->n_junctions;
    self->junctions[self->n_junctions++] = e;
  }
  stamp->switching = element->switching;
  stamp->is_dynamic = stamp->is_rate || stamp->charge != NULL;

  // laws of voltages and currents bring columns of their own
  if (stamp->kind == YOKE_STAMP_LINEAR && yoke__expression_has_state(element->value.law)) {
    stamp->law = element->value.law;
    stamp->live_slots = yoke__arena_array(arena, stamp->law->n_live, sizeof(uint32_t));
    YOKE_TRY(yoke__arena_status(arena));
  }
  stamp->is_varying =
      stamp->kind != YOKE_STAMP_LINEAR || stamp->law != NULL || is_value_moving(element);
  self->is_linear = self->is_linear && stamp->kind != YOKE_STAMP_JUNCTION && stamp->law == NULL;
  self->is_constant = self->is_constant && !stamp->is_varying;
  return YOKE_OK;
}

static void add_coupling(yoke_equations* self, uint32_t at, uint32_t other, double k) {
  yoke_stamp* stamp = &self->stamps[at];
  stamp->couplings[stamp->n_couplings++] = (yoke_coupling_stamp){.other = other, .k = k};
  // the mutual inductance moves with either of the two
  const bool is_moving = self->network->elements[other].value.law != NULL;
  stamp->is_varying = stamp->is_varying || is_moving;
}

static yoke_status list_couplings(yoke_equations* self, yoke_arena* arena) {
  const yoke_network* network = self->network;

  // counted, given room, filled in: n_couplings counts twice
  for (uint32_t i = 0; i < network->n_mutuals; i++) {
    self->stamps[network->mutuals[i].l1].n_couplings++;
    self->stamps[network->mutuals[i].l2].n_couplings++;
  }
  for (uint32_t e = 0; e < network->n_elements; e++) {
    yoke_stamp* stamp = &self->stamps[e];
    if (stamp->n_couplings > 0) {
      stamp->couplings = yoke__arena_array(arena, stamp->n_couplings, sizeof *stamp->couplings);
      YOKE_TRY(yoke__arena_status(arena));
      stamp->n_couplings = 0;
    }
  }
  for (uint32_t i = 0; i < network->n_mutuals; i++) {
    const yoke_mutual* mutual = &network->mutuals[i];
    add_coupling(self, mutual->l1, mutual->l2, mutual->k);
    add_coupling(self, mutual->l2, mutual->l1, mutual->k);
  }
  for (uint32_t e = 0; e < network->n_elements; e++) {
    yoke_stamp* stamp = &self->stamps[e];
    for (uint32_t i = 0; i < stamp->n_couplings; i++) {
      const yoke_expression* law = self->stamps[stamp->couplings[i].other].law;
      if (law != NULL) {
        stamp->couplings[i].live_slots = yoke__arena_array(arena, law->n_live, sizeof(uint32_t));
        YOKE_TRY(yoke__arena_status(arena));
      }
    }
  }
  return YOKE_OK;
}

// ------------------------------------------------------------------------------------------
// rows

static void number_rows(yoke_equations* self) {
  const yoke_network* network = self->network;

  // m algebraic rows Phi(x, t) = 0 first: fixed nodes, elements without rates, Kirchhoff's current
  // law; p rows A x' + b = 0 with rates behind them
  uint32_t row = 0;
  for (uint32_t v = 0; v < network->n_nodes; v++) {
    if (network->nodes[v].is_fixed) {
      self->fixed_nodes[self->n_fixed++] = v;
      self->row_owner[row++] = v;
    }
  }
  for (uint32_t e = 0; e < network->n_elements; e++) {
    if (!self->stamps[e].is_dynamic) {
      self->row_owner[row] = e;
      self->stamps[e].row = row++;
    }
  }
  for (uint32_t v = 0; v < network->n_nodes; v++) {
    self->kcl_rows[v] = YOKE_NO_INDEX;
    if (!network->nodes[v].is_fixed) {
      self->row_owner[row] = v;
      self->kcl_rows[v] = row++;
    }
  }
  self->m = row;
  for (uint32_t e = 0; e < network->n_elements; e++) {
    yoke_stamp* stamp = &self->stamps[e];
    if (stamp->is_dynamic) {
      self->row_owner[row] = e;
      stamp->row = row++;
    }
    stamp->kcl_a = self->kcl_rows[stamp->a];
    stamp->kcl_b = self->kcl_rows[stamp->b];
  }
  self->p = row - self->m;
  assert(row == self->n);
}

static void add_law_pairs(const yoke_equations* self, const yoke_expression* law, uint32_t row,
                          pairs* list) {
  for (uint32_t i = 0; law != NULL && i < law->n_live; i++) {
    const uint32_t column = live_column(self, &law->live[i]);
    if (column != YOKE_NO_INDEX) {
      add_pair(list, row, column);
    }
  }
}

static void add_row_pairs(const yoke_equations* self, const yoke_stamp* stamp, pairs* list) {
  const bool is_special = stamp->kind != YOKE_STAMP_LINEAR;
  if (stamp->voltage_sign != 0.0 || is_special) {
    add_pair(list, stamp->row, stamp->a);
    add_pair(list, stamp->row, stamp->b);
  }
  if (stamp->current_sign != 0.0 || is_special) {
    add_pair(list, stamp->row, stamp->i);
  }
  if (stamp->p != YOKE_NO_INDEX) {
    add_pair(list, stamp->row, stamp->p);
  }
  if (stamp->q != YOKE_NO_INDEX) {
    add_pair(list, stamp->row, stamp->q);
  }
  add_law_pairs(self, stamp->law, stamp->row, list);
  for (uint32_t i = 0; i < stamp->n_couplings; i++) {
    const yoke_stamp* other = &self->stamps[stamp->couplings[i].other];
    add_pair(list, stamp->row, other->i);
    add_law_pairs(self, other->law, stamp->row, list);
  }
}

static size_t count_pairs(const yoke_equations* self) {
  size_t n = self->n_fixed;
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    const yoke_stamp* stamp = &self->stamps[e];
    // at most a, b, i, p, q in the own row and i in two current laws
    n += 7 + (stamp->law != NULL ? stamp->law->n_live : 0);
    n += (size_t)stamp->n_couplings * (1u + YOKE_EXPRESSION_MAX_LIVE);
  }
  return n;
}

static void collect_pairs(const yoke_equations* self, pairs* list) {
  for (uint32_t i = 0; i < self->n_fixed; i++) {
    add_pair(list, i, self->fixed_nodes[i]);
  }
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    const yoke_stamp* stamp = &self->stamps[e];
    add_row_pairs(self, stamp, list);
    if (stamp->kcl_a != YOKE_NO_INDEX) {
      add_pair(list, stamp->kcl_a, stamp->i);
    }
    if (stamp->kcl_b != YOKE_NO_INDEX) {
      add_pair(list, stamp->kcl_b, stamp->i);
    }
  }
  // each pair once
  qsort(list->keys, list->n, sizeof *list->keys, compare_keys);
  size_t n = 0;
  for (size_t i = 0; i < list->n; i++) {
    if (n == 0 || list->keys[n - 1] != list->keys[i]) {
      list->keys[n++] = list->keys[i];
    }
  }
  list->n = n;
}

// ------------------------------------------------------------------------------------------
// patterns and slots

static yoke_status make_pattern(const pairs* list, uint32_t n, yoke_arena* arena,
                                yoke_sparse_pattern* pattern) {
  int32_t* starts = yoke__arena_array(arena, (size_t)n + 1, sizeof *starts);
  int32_t* rows = yoke__arena_array(arena, list->n, sizeof *rows);
  YOKE_TRY(yoke__arena_status(arena));

  // entries of each column, then their sums: where each column starts
  for (size_t i = 0; i < list->n; i++) {
    starts[(list->keys[i] >> 32) + 1]++;
    rows[i] = (int32_t)(list->keys[i] & UINT32_MAX);
  }
  for (uint32_t j = 0; j < n; j++) {
    starts[j + 1] += starts[j];
  }
  *pattern = (yoke_sparse_pattern){.n = (int32_t)n, .starts = starts, .rows = rows};
  return YOKE_OK;
}

// YOKE_NO_INDEX where the pattern has no such entry
static uint32_t find_slot(const yoke_sparse_pattern* pattern, uint32_t row, uint32_t column) {
  if (column == YOKE_NO_INDEX) {
    return YOKE_NO_INDEX;
  }

  // bisection: the rows of a column ascend
  int32_t low = pattern->starts[column];
  int32_t high = pattern->starts[column + 1];
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (pattern->rows[middle] < (int32_t)row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const bool is_there = low < pattern->starts[column + 1] && pattern->rows[low] == (int32_t)row;
  return is_there ? (uint32_t)low : YOKE_NO_INDEX;
}

static void find_law_slots(const yoke_equations* self, const yoke_expression* law, uint32_t row,
                           uint32_t slots[]) {
  for (uint32_t i = 0; law != NULL && i < law->n_live; i++) {
    slots[i] = find_slot(&self->J, row, live_column(self, &law->live[i]));
  }
}

static void find_slots(yoke_equations* self) {
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    yoke_stamp* stamp = &self->stamps[e];
    stamp->slot_a = find_slot(&self->J, stamp->row, stamp->a);
    stamp->slot_b = find_slot(&self->J, stamp->row, stamp->b);
    stamp->slot_i = find_slot(&self->J, stamp->row, stamp->i);
    stamp->slot_p = find_slot(&self->J, stamp->row, stamp->p);
    stamp->slot_q = find_slot(&self->J, stamp->row, stamp->q);
    find_law_slots(self, stamp->law, stamp->row, stamp->live_slots);
    for (uint32_t i = 0; i < stamp->n_couplings; i++) {
      yoke_coupling_stamp* coupling = &stamp->couplings[i];
      const yoke_stamp* other = &self->stamps[coupling->other];
      coupling->slot = find_slot(&self->J, stamp->row, other->i);
      find_law_slots(self, other->law, stamp->row, coupling->live_slots);
    }
  }
}

// what never changes: fixed nodes and Kirchhoff's current law
static void fill_frame(yoke_equations* self) {
  for (uint32_t i = 0; i < self->n_fixed; i++) {
    self->frame[find_slot(&self->J, i, self->fixed_nodes[i])] = 1.0;
  }
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    const yoke_stamp* stamp = &self->stamps[e];
    // sum of currents into a node: I leaves a and enters b
    if (stamp->kcl_a != YOKE_NO_INDEX) {
      self->frame[find_slot(&self->J, stamp->kcl_a, stamp->i)] -= 1.0;
    }
    if (stamp->kcl_b != YOKE_NO_INDEX) {
      self->frame[find_slot(&self->J, stamp->kcl_b, stamp->i)] += 1.0;
    }
  }
}

static void mark(uint8_t* marks, uint32_t slot) {
  if (slot != YOKE_NO_INDEX) {
    marks[slot] = 1;
  }
}

static void mark_law(uint8_t* marks, const yoke_expression* law, const uint32_t slots[]) {
  for (uint32_t i = 0; law != NULL && i < law->n_live; i++) {
    mark(marks, slots[i]);
  }
}

static void mark_stamp(const yoke_equations* self, const yoke_stamp* stamp, uint8_t* varying,
                       uint8_t* dynamic) {
  // with x' = a0 x + c the entries of C and L are a0 C and a0 L
  if (stamp->is_rate) {
    mark(dynamic, stamp->slot_p);
    mark(dynamic, stamp->slot_q);
  }
  if (stamp->charge != NULL) {
    mark(dynamic, stamp->slot_a);
    mark(dynamic, stamp->slot_b);
  }
  for (uint32_t i = 0; i < stamp->n_couplings; i++) {
    mark(dynamic, stamp->couplings[i].slot);
  }
  if (!stamp->is_varying) {
    return;
  }

  // slopes of junctions and switches
  if (stamp->kind != YOKE_STAMP_LINEAR) {
    mark(varying, stamp->slot_a);
    mark(varying, stamp->slot_b);
    mark(varying, stamp->slot_i);
  }

  // factors of a value that moves
  mark(varying, stamp->slot_p);
  mark(varying, stamp->slot_q);
  mark_law(varying, stamp->law, stamp->live_slots);
  for (uint32_t i = 0; i < stamp->n_couplings; i++) {
    const yoke_coupling_stamp* coupling = &stamp->couplings[i];
    mark(varying, coupling->slot);
    mark_law(varying, self->stamps[coupling->other].law, coupling->live_slots);
  }
}

// Ahat keeps the algebraic rows and what contains a0 of the differential ones.
static yoke_status make_ahat(yoke_equations* self, yoke_arena* arena) {
  uint32_t n = 0;

  // [Phi_x; A]: all of the algebraic rows, of the others what x' is multiplied by
  for (uint32_t k = 0; k < self->nnz; k++) {
    n += (uint32_t)self->J.rows[k] < self->m || self->dynamic[k];
  }
  int32_t* starts = yoke__arena_array(arena, (size_t)self->n + 1, sizeof *starts);
  int32_t* rows = yoke__arena_array(arena, n, sizeof *rows);
  uint8_t* varying = yoke__arena_array(arena, n, sizeof *varying);
  self->j_of_ahat = yoke__arena_array(arena, n, sizeof(uint32_t));
  YOKE_TRY(yoke__arena_status(arena));
  uint32_t at = 0;
  for (uint32_t j = 0; j < self->n; j++) {
    starts[j] = (int32_t)at;
    // columns stay in order: entries are only left out
    for (int32_t k = self->J.starts[j]; k < self->J.starts[j + 1]; k++) {
      if ((uint32_t)self->J.rows[k] < self->m || self->dynamic[k]) {
        rows[at] = self->J.rows[k];
        varying[at] = self->J.varying[k];
        self->j_of_ahat[at++] = (uint32_t)k;
      }
    }
  }
  starts[self->n] = (int32_t)at;
  self->ahat_nnz = at;
  self->Ahat = (yoke_sparse_pattern){
      .n = (int32_t)self->n, .starts = starts, .rows = rows, .varying = varying};
  return YOKE_OK;
}

static yoke_status make_values(yoke_equations* self, yoke_arena* arena) {
  uint8_t* varying = yoke__arena_array(arena, self->nnz, sizeof *varying);
  uint8_t* dynamic = yoke__arena_array(arena, self->nnz, sizeof *dynamic);
  self->frame = yoke__arena_array(arena, self->nnz, sizeof(double));
  self->base = yoke__arena_array(arena, self->nnz, sizeof(double));
  self->work_J = yoke__arena_array(arena, self->nnz, sizeof(double));
  self->xdot = yoke__arena_array(arena, self->n, sizeof(double));
  YOKE_TRY(yoke__arena_status(arena));
  find_slots(self);
  fill_frame(self);
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    mark_stamp(self, &self->stamps[e], varying, dynamic);
  }
  self->J.varying = varying;
  self->dynamic = dynamic;
  return make_ahat(self, arena);
}

static yoke_status make_patterns(yoke_equations* self, yoke_arena* arena) {
  pairs list = {.keys = malloc(count_pairs(self) * sizeof(uint64_t))};
  YOKE_TRY_MEMORY(list.keys);
  collect_pairs(self, &list);
  const yoke_status status = make_pattern(&list, self->n, arena, &self->J);
  self->nnz = (uint32_t)list.n;
  free(list.keys);
  return status < 0 ? status : make_values(self, arena);
}

static yoke_status take_lists(yoke_equations* self, yoke_arena* arena) {
  const size_t n_e = self->network->n_elements;
  const size_t n_v = self->network->n_nodes;
  self->stamps = yoke__arena_array(arena, n_e, sizeof *self->stamps);
  self->junctions = yoke__arena_array(arena, n_e, sizeof(uint32_t));
  self->fixed_nodes = yoke__arena_array(arena, n_v, sizeof(uint32_t));
  self->kcl_rows = yoke__arena_array(arena, n_v, sizeof(uint32_t));
  self->row_owner = yoke__arena_array(arena, n_v + n_e, sizeof(uint32_t));
  return yoke__arena_status(arena);
}

yoke_status yoke__equations_build(yoke_equations* self, double gmin, yoke_arena* arena) {
  self->n = self->network->n_nodes + self->network->n_elements;
  self->is_linear = true;
  self->is_constant = true;
  YOKE_TRY(take_lists(self, arena));
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    YOKE_TRY(describe_element(self, e, gmin, arena));
  }
  YOKE_TRY(list_couplings(self, arena));
  YOKE_TRY(yoke__equations_take_charges(self, arena));
  number_rows(self);
  return make_patterns(self, arena);
}
