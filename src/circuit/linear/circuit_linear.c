// The linear model of a circuit, from the equations in full coordinates x = [V; I]:
//
//   K_a x + F_a v = 0            algebraic rows
//   D z' + K_d x + F_d v = 0     differential rows, D the capacitances and inductances, z = S x
//
// with v what drives the circuit. The rows [K_a; S] are eliminated one after another. A row of S
// that depends on others gives w z + a v = 0 (parallel capacitors, capacitors in a loop with
// sources, inductors in a cut set); its derivative, with z' from the differential rows, is the
// equation that is missing:
//
//   -w D^-1 (K_d x + F_d v) + a v' = 0
//
// Then x = X [v; v'; z] and z' follows. With z' = A z + B v + B1 v' the state is z - B1 v, so that
// v' is left only in outputs that really need it: those are refused.
//
// Source: state selection and the two projections of B. Rodriguez Frade (doctoral thesis, A Coruna
// 2021), chapter 4; elimination of dependent states is ours. Assumes index 2 at most.
#include "circuit/linear/circuit_linear.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "circuit/circuit_engine.h"
#include "circuit/equations/circuit_equations.h"
#include "linalg/linalg_dense.h"

#define N_SWEEPS  4      // of scaling
#define NOISE     1e-11  // below it a coefficient of w and a is rounding
#define MAX_NAMES 200

typedef struct maker {
  const yoke_linear_settings* settings;
  const yoke_network* network;
  yoke_equations* equations;
  yoke_signals* signals;
  yoke_circuit* circuit;
  yoke_arena* arena;   // of the result
  yoke_arena scratch;  // of this file
  size_t n, m, p;
  size_t n_v, n_u;  // all that drives; without the constant
  yoke_drive* drives;
  uint32_t* dynamic;  // p elements
  double *x, *xdot, *f;
  size_t* starts;  // K by rows: columns, values
  uint32_t* columns;
  double* values;
  double* scale;  // of columns
  double* F;      // n x n_v
  double* D;      // factors, p x p
  size_t* pivots;
  double *row, *s;  // work
  size_t n_columns, n_known;
  yoke_elimination elimination;
  uint32_t* kept;  // positions in dynamic
  size_t n_kept;
  double* relations;  // p x n_known, of dependent states
  size_t n_relations;
  double *X, *Z;  // n x n_known, p x n_known
  yoke_circuit_reason* reason;
} maker;

// -------------------------------------------------------------------------------------------------
// memory

static void* take(maker* k, size_t count, size_t size) {
  return yoke__arena_array(&k->scratch, count + 1, size);
}

static double* take_result(maker* k, size_t count) {
  return yoke__arena_array(k->arena, count + 1, sizeof(double));
}

static yoke_status take_memory(maker* k) {
  const size_t nnz = k->equations->nnz;

  // what is known: v, v', z, in this order behind the n unknowns of a row
  k->n_known = 2 * k->n_v + k->p;
  k->n_columns = k->n + k->n_known;
  k->dynamic = take(k, k->p, sizeof *k->dynamic);
  k->x = take(k, k->n, sizeof(double));
  k->xdot = take(k, k->n, sizeof(double));
  k->f = take(k, k->n, sizeof(double));
  k->starts = take(k, k->n + 1, sizeof *k->starts);
  k->columns = take(k, nnz, sizeof *k->columns);
  k->values = take(k, nnz, sizeof(double));
  k->scale = take(k, k->n, sizeof(double));
  k->F = take(k, k->n * k->n_v, sizeof(double));
  k->D = take(k, k->p * k->p, sizeof(double));
  k->pivots = take(k, k->p, sizeof *k->pivots);
  k->row = take(k, k->n_columns, sizeof(double));
  k->s = take(k, k->p, sizeof(double));
  k->kept = take(k, k->p, sizeof *k->kept);
  k->relations = take(k, k->p * k->n_known, sizeof(double));
  k->X = take(k, k->n * k->n_known, sizeof(double));
  k->Z = take(k, k->p * k->n_known, sizeof(double));
  return yoke__arena_status(&k->scratch);
}

// -------------------------------------------------------------------------------------------------
// what drives

static bool is_wave(const yoke_circuit_value* value) {
  return value->wave != NULL && value->wave->kind != YOKE_WAVE_DC;
}

static void add_drive(maker* k, yoke_drive_kind kind, uint32_t index, double value) {
  k->drives[k->n_u++] = (yoke_drive){kind, index, value};
}

static yoke_status list_drives(maker* k) {
  const yoke_network* network = k->network;
  const size_t n_max = (size_t)network->n_inputs + network->n_elements + network->n_nodes;
  k->drives = yoke__arena_array(k->arena, n_max + 1, sizeof *k->drives);
  YOKE_TRY(yoke__arena_status(k->arena));
  for (uint32_t i = 0; i < network->n_inputs; i++) {
    add_drive(k, YOKE_DRIVE_INPUT, i, k->signals->input[i]);
  }
  for (uint32_t e = 0; k->settings->is_whole && e < network->n_elements; e++) {
    if (is_wave(&network->elements[e].value)) {
      add_drive(k, YOKE_DRIVE_WAVE, e, k->signals->element[e]);
    }
  }
  for (uint32_t v = 0; k->settings->is_whole && v < network->n_nodes; v++) {
    if (network->nodes[v].is_fixed && is_wave(&network->nodes[v].fixed)) {
      add_drive(k, YOKE_DRIVE_FIXED, v, k->signals->node[v]);
    }
  }

  // the constant is one more drive, of value 1
  k->n_v = k->n_u + (k->settings->is_whole ? 1 : 0);
  return YOKE_OK;
}

static const char* drive_name(const maker* k, size_t i) {
  const yoke_drive* drive = &k->drives[i];
  switch (drive->kind) {
  case YOKE_DRIVE_INPUT:
    return k->network->inputs[drive->index].name;
  case YOKE_DRIVE_WAVE:
    return k->network->elements[drive->index].name;
  case YOKE_DRIVE_FIXED:
    return k->network->nodes[drive->index].name;
  }
  return "";
}

// -------------------------------------------------------------------------------------------------
// the equations at the present point

static void read_point(maker* k) {
  const yoke_network* network = k->network;
  for (uint32_t v = 0; v < network->n_nodes; v++) {
    k->x[v] = yoke__circuit_voltage(k->circuit, v);
  }
  for (uint32_t e = 0; e < network->n_elements; e++) {
    k->x[network->n_nodes + e] = yoke__circuit_current(k->circuit, e);
  }
}

// Only capacitances and inductances that move make the rates of x matter.
static bool needs_rates(const maker* k) {
  for (size_t i = 0; i < k->p; i++) {
    const yoke_stamp* stamp = &k->equations->stamps[k->dynamic[i]];
    if (stamp->charge != NULL || k->network->elements[k->dynamic[i]].value.law != NULL) {
      return true;
    }
  }
  return false;
}

// Ahat xdot = -bhat in the least-squares sense; unknowns that it leaves open stay 0.
static yoke_status find_rates(maker* k) {
  const yoke_sparse_pattern* pattern = &k->equations->Ahat;
  double* dense = take(k, k->n * k->n, sizeof(double));
  double* values = take(k, (size_t)pattern->starts[k->n], sizeof(double));
  double* work = take(k, 2 * k->n, sizeof(double));
  YOKE_TRY(yoke__arena_status(&k->scratch));
  yoke__signals_update_rates(k->signals, k->signals->t);
  yoke__equations_derivatives(k->equations, k->x, NULL, values, k->f);

  // columns to rows, with the zeros
  for (size_t j = 0; j < k->n; j++) {
    for (int32_t at = pattern->starts[j]; at < pattern->starts[j + 1]; at++) {
      dense[(size_t)pattern->rows[at] * k->n + j] = values[at];
    }
  }
  for (size_t i = 0; i < k->n; i++) {
    k->f[i] = -k->f[i];
  }

  // least squares, because Ahat has dependent rows where the rates are not determined
  (void)yoke__least_squares(k->n, k->n, dense, k->f, k->xdot, 1e-12, work);
  return YOKE_OK;
}

// K = df/dx at fixed rates, from columns to rows.
static yoke_status find_K(maker* k) {
  const yoke_sparse_pattern* pattern = &k->equations->J;
  double* J = take(k, k->equations->nnz, sizeof(double));
  YOKE_TRY(yoke__arena_status(&k->scratch));

  // a0 = 0: only what depends on x itself, rates held
  yoke__equations_evaluate(k->equations, k->x, 0.0, k->xdot, NULL, k->f, J);

  // counting sort: entries per row, positions, then the values
  for (int32_t at = 0; at < pattern->starts[k->n]; at++) {
    k->starts[pattern->rows[at] + 1]++;
  }
  for (size_t i = 0; i < k->n; i++) {
    k->starts[i + 1] += k->starts[i];
  }
  for (uint32_t j = 0; j < k->n; j++) {
    for (int32_t at = pattern->starts[j]; at < pattern->starts[j + 1]; at++) {
      const size_t to = k->starts[pattern->rows[at]]++;
      k->columns[to] = j;
      k->values[to] = J[at];
    }
  }
  memmove(k->starts + 1, k->starts, k->n * sizeof *k->starts);
  k->starts[0] = 0;
  return YOKE_OK;
}

static double power_of_two(double x) {
  int exponent = 0;
  (void)frexp(x, &exponent);
  return ldexp(1.0, exponent);
}

// Columns such that entries of K are of order 1 (geometric means of rows and columns in turn):
// volts beside microamperes would spoil the look at the rank.
static yoke_status find_scale(maker* k) {
  double* low = take(k, k->n, sizeof(double));
  double* high = take(k, k->n, sizeof(double));
  YOKE_TRY(yoke__arena_status(&k->scratch));
  for (size_t j = 0; j < k->n; j++) {
    k->scale[j] = 1.0;
  }
  for (int sweep = 0; sweep < N_SWEEPS; sweep++) {
    for (size_t j = 0; j < k->n; j++) {
      low[j] = (double)INFINITY;
      high[j] = 0.0;
    }
    for (size_t i = 0; i < k->n; i++) {
      double least = (double)INFINITY, most = 0.0;
      // geometric mean of the smallest and the largest entry, by rows, then by columns
      for (size_t at = k->starts[i]; at < k->starts[i + 1]; at++) {
        const double size = fabs(k->values[at]) * k->scale[k->columns[at]];
        least = size > 0.0 ? fmin(least, size) : least;
        most = fmax(most, size);
      }
      const double mean = most > 0.0 ? sqrt(least) * sqrt(most) : 1.0;
      for (size_t at = k->starts[i]; at < k->starts[i + 1]; at++) {
        const double size = fabs(k->values[at]) / mean;
        const uint32_t j = k->columns[at];
        low[j] = size > 0.0 ? fmin(low[j], size) : low[j];
        high[j] = fmax(high[j], size);
      }
    }
    for (size_t j = 0; j < k->n; j++) {
      // powers of two: unknowns are rescaled without rounding
      k->scale[j] = high[j] > 0.0 ? power_of_two(1.0 / (sqrt(low[j]) * sqrt(high[j]))) : 1.0;
    }
  }
  return YOKE_OK;
}

// df/dv. The constant is what is left at x = 0 without all the others.
static void find_F(maker* k) {
  const yoke_equations* q = k->equations;
  for (size_t i = 0; i < k->n_u; i++) {
    const yoke_drive* drive = &k->drives[i];
    memset(k->f, 0, k->n * sizeof *k->f);
    if (drive->kind == YOKE_DRIVE_INPUT) {
      // a source enters its row as -E: df/dE = -1
      yoke__equations_input(k->equations, k->x, 0.0, k->xdot, drive->index, k->f);
    } else if (drive->kind == YOKE_DRIVE_WAVE) {
      k->f[q->stamps[drive->index].row] = -1.0;
    }
    for (size_t r = 0; drive->kind == YOKE_DRIVE_FIXED && r < q->n_fixed; r++) {
      k->f[r] = q->fixed_nodes[r] == drive->index ? -1.0 : 0.0;
    }
    for (size_t r = 0; r < k->n; r++) {
      k->F[r * k->n_v + i] = k->f[r];
    }
  }

  // f(0, v) = F v + constant: what the drives do not explain
  if (k->n_v > k->n_u) {
    memset(k->row, 0, k->n * sizeof *k->row);
    yoke__equations_evaluate(k->equations, k->row, 0.0, NULL, NULL, k->f, NULL);
    for (size_t r = 0; r < k->n; r++) {
      double rest = k->f[r];
      for (size_t i = 0; i < k->n_u; i++) {
        rest -= k->F[r * k->n_v + i] * k->drives[i].value;
      }
      // differences at rounding level are no constant
      k->F[r * k->n_v + k->n_u] = fabs(rest) > 1e-14 * fabs(k->f[r]) ? rest : 0.0;
    }
  }
}

// -------------------------------------------------------------------------------------------------
// states

static void list_dynamic(maker* k) {
  size_t n = 0;
  for (uint32_t e = 0; e < k->network->n_elements && n < k->p; e++) {
    if (k->equations->stamps[e].is_dynamic) {
      k->dynamic[n++] = e;
    }
  }
}

static bool is_current(const maker* k, uint32_t e) {
  return k->network->elements[e].kind == YOKE_INDUCTOR;
}

static double mass_of(const maker* k, uint32_t e) {
  const yoke_stamp* stamp = &k->equations->stamps[e];
  double slope = 0.0;
  if (stamp->charge != NULL) {
    // i - C(v) v' in the row of a junction: its mass is -C
    return -yoke__junction_capacitance(stamp->charge, k->x[stamp->a] - k->x[stamp->b], &slope);
  }
  return stamp->scale * yoke__stamp_value(k->equations, stamp, e, k->x, NULL);
}

// Capacitances and inductances with their couplings, factored.
static yoke_status find_D(maker* k) {
  size_t* position = take(k, k->network->n_elements, sizeof *position);
  YOKE_TRY(yoke__arena_status(&k->scratch));
  for (size_t i = 0; i < k->p; i++) {
    position[k->dynamic[i]] = i;
  }
  for (size_t i = 0; i < k->p; i++) {
    const yoke_stamp* stamp = &k->equations->stamps[k->dynamic[i]];
    const double own = mass_of(k, k->dynamic[i]);
    // diagonal: the own capacitance or inductance
    k->D[i * k->p + i] = own;
    for (uint32_t c = 0; c < stamp->n_couplings; c++) {
      const yoke_coupling_stamp* coupling = &stamp->couplings[c];
      const double other = mass_of(k, coupling->other);
      // M = k sqrt(L1 L2) enters the differential row with the sign of L
      k->D[i * k->p + position[coupling->other]] -= coupling->k * sqrt(own * other);
    }
  }
  if (yoke__lu_factor(k->p, k->D, k->pivots) < 0) {
    uint32_t zero = YOKE_NO_INDEX;
    for (size_t i = k->p; i-- > 0;) {
      zero = mass_of(k, k->dynamic[i]) == 0.0 ? k->network->n_nodes + k->dynamic[i] : zero;
    }
    yoke__circuit_reason_set(k->reason, k->network, zero,
                             "a capacitance or inductance is zero at this point");
    return YOKE_SINGULAR;
  }
  return YOKE_OK;
}

// row += weight (K, F) of row i
static void add_equation(maker* k, size_t i, double weight) {
  for (size_t at = k->starts[i]; at < k->starts[i + 1]; at++) {
    // unknowns scaled: x_j = scale_j x~_j
    k->row[k->columns[at]] += weight * k->values[at] * k->scale[k->columns[at]];
  }
  for (size_t j = 0; j < k->n_v; j++) {
    k->row[k->n + j] += weight * k->F[i * k->n_v + j];
  }
}

static void clear_row(maker* k) {
  memset(k->row, 0, k->n_columns * sizeof *k->row);
}

// rows of Kirchhoff's laws and of elements without state
static yoke_status add_algebraic(maker* k) {
  for (size_t i = 0; i < k->m; i++) {
    clear_row(k);
    add_equation(k, i, 1.0);
    if (!yoke__elimination_add(&k->elimination, k->row)) {
      char name[MAX_NAMES];
      yoke__equations_row_name(k->equations, (uint32_t)i, name, sizeof name);
      yoke__circuit_reason_set(k->reason, k->network,
                               yoke__equations_row_owner(k->equations, (uint32_t)i),
                               "the equation of %s depends on others", name);
      return YOKE_SINGULAR;
    }
  }
  return YOKE_OK;
}

// rounding beside the largest of them is nothing
static void clean(double numbers[], size_t n) {
  double largest = 0.0;
  for (size_t i = 0; i < n; i++) {
    largest = fmax(largest, fabs(numbers[i]));
  }
  for (size_t i = 0; i < n; i++) {
    numbers[i] = fabs(numbers[i]) > NOISE * largest ? numbers[i] : 0.0;
  }
}

static void add_states(maker* k) {
  double* known = k->row + k->n;
  for (size_t i = 0; i < k->p; i++) {
    const yoke_stamp* stamp = &k->equations->stamps[k->dynamic[i]];
    clear_row(k);
    // z = i of an inductor, v_a - v_b of a capacitor
    if (is_current(k, k->dynamic[i])) {
      k->row[stamp->i] = k->scale[stamp->i];
    } else {
      k->row[stamp->a] += k->scale[stamp->a];
      k->row[stamp->b] -= k->scale[stamp->b];
    }
    // S x - z = 0, z among what is known
    known[2 * k->n_v + i] = -1.0;
    // a state that adds to the rank is kept; of the others the relation w z + a v = 0 is left
    if (yoke__elimination_add(&k->elimination, k->row)) {
      k->kept[k->n_kept++] = (uint32_t)i;
    } else {
      clean(known, k->n_v);
      clean(known + 2 * k->n_v, k->p);
      memcpy(k->relations + k->n_relations++ * k->n_known, known, k->n_known * sizeof *known);
    }
  }
}

// The derivatives of what the dependent states obey.
static yoke_status add_derivatives(maker* k) {
  for (size_t r = 0; r < k->n_relations; r++) {
    const double* relation = k->relations + r * k->n_known;
    // s = D^-1 w; D is symmetric, so that this is the row w D^-1
    memcpy(k->s, relation + 2 * k->n_v, k->p * sizeof *k->s);
    yoke__lu_solve(k->p, k->D, k->pivots, k->s);
    clear_row(k);
    // - w D^-1 (K_d x + F_d v)
    for (size_t i = 0; i < k->p; i++) {
      if (k->s[i] != 0.0) {
        add_equation(k, k->equations->stamps[k->dynamic[i]].row, -k->s[i]);
      }
    }
    // + a v'; the constant has no derivative
    for (size_t j = 0; j < k->n_u; j++) {
      k->row[k->n + k->n_v + j] = relation[j];
    }
    if (!yoke__elimination_add(&k->elimination, k->row)) {
      // the element with the largest weight in the relation
      const double* w = relation + 2 * k->n_v;
      size_t at = 0;
      for (size_t i = 1; i < k->p; i++) {
        at = fabs(w[i]) > fabs(w[at]) ? i : at;
      }
      const uint32_t e = k->dynamic[at];
      yoke__circuit_reason_set(
          k->reason, k->network, k->network->n_nodes + e,
          "capacitors, inductors and sources depend on each other in a way that needs second "
          "derivatives (near '%.60s')",
          k->network->elements[e].name);
      return YOKE_SINGULAR;
    }
  }
  return YOKE_OK;
}

// x and z' by what is known
static void solve(maker* k) {
  // x = X [v; v'; z]
  yoke__elimination_solve(&k->elimination, k->X);
  for (size_t j = 0; j < k->n; j++) {
    for (size_t c = 0; c < k->n_known; c++) {
      k->X[j * k->n_known + c] *= k->scale[j];
    }
  }

  // D z' = -(K_d x + F_d v)
  for (size_t i = 0; i < k->p; i++) {
    const size_t row = k->equations->stamps[k->dynamic[i]].row;
    double* z = k->Z + i * k->n_known;
    for (size_t at = k->starts[row]; at < k->starts[row + 1]; at++) {
      const double* x = k->X + k->columns[at] * k->n_known;
      for (size_t c = 0; c < k->n_known; c++) {
        z[c] -= k->values[at] * x[c];
      }
    }
    for (size_t j = 0; j < k->n_v; j++) {
      z[j] -= k->F[row * k->n_v + j];
    }
  }

  // z' = D^-1 (..), column by column
  for (size_t c = 0; c < k->n_known; c++) {
    for (size_t i = 0; i < k->p; i++) {
      k->s[i] = k->Z[i * k->n_known + c];
    }
    yoke__lu_solve(k->p, k->D, k->pivots, k->s);
    for (size_t i = 0; i < k->p; i++) {
      k->Z[i * k->n_known + c] = k->s[i];
    }
  }
}

// -------------------------------------------------------------------------------------------------
// outputs

static void add_part(const maker* k, size_t column, double weight, double y[]) {
  const double* x = k->X + column * k->n_known;
  for (size_t c = 0; c < k->n_known; c++) {
    y[c] += weight * x[c];
  }
}

static void add_flow(const maker* k, uint32_t node, double y[]) {
  const yoke_network* network = k->network;
  for (uint32_t e = 0; e < network->n_elements; e++) {
    const yoke_element* element = &network->elements[e];
    // current out of the node through its elements
    const double weight = (element->a == node) - (double)(element->b == node);
    if (weight != 0.0) {
      add_part(k, network->n_nodes + e, weight, y);
    }
  }
}

// Returns the law's value without its linear part: an offset.
static double add_law(const maker* k, const yoke_expression* law, double y[]) {
  double gradient[YOKE_EXPRESSION_MAX_LIVE];
  double rest = yoke__signals_law(k->signals, law, k->x, gradient);
  const uint32_t n_nodes = k->network->n_nodes;

  // linear part of the law at this point; what is left is an offset
  for (uint32_t i = 0; i < law->n_live; i++) {
    const yoke_live* live = &law->live[i];
    if (live->kind == YOKE_LIVE_INPUT) {
      y[live->index] += gradient[i];
      rest -= gradient[i] * k->drives[live->index].value;
    } else if (live->kind != YOKE_LIVE_TIME) {
      const size_t column = live->kind == YOKE_LIVE_VOLTAGE ? live->index : n_nodes + live->index;
      add_part(k, column, gradient[i], y);
      rest -= gradient[i] * k->x[column];
    }
  }
  return rest;
}

// d(probe) by what is known; an offset goes to the constant
static void add_probe(const maker* k, const yoke_probe* probe, double y[]) {
  const uint32_t n_nodes = k->network->n_nodes;
  const yoke_element* element = &k->network->elements[probe->index];
  double offset = 0.0;
  switch (probe->kind) {
  case YOKE_PROBE_VOLTAGE:
    add_part(k, probe->index, 1.0, y);
    break;
  case YOKE_PROBE_DIFFERENCE:
    add_part(k, probe->index, 1.0, y);
    add_part(k, probe->other, -1.0, y);
    break;
  case YOKE_PROBE_CURRENT:
    add_part(k, n_nodes + probe->index, 1.0, y);
    break;
  case YOKE_PROBE_FLOW:
    add_flow(k, probe->index, y);
    break;
  case YOKE_PROBE_POWER:
    // dP = i d(v_a - v_b) + (v_a - v_b) di
    add_part(k, element->a, k->x[n_nodes + probe->index], y);
    add_part(k, element->b, -k->x[n_nodes + probe->index], y);
    add_part(k, n_nodes + probe->index, k->x[element->a] - k->x[element->b], y);
    break;
  case YOKE_PROBE_LAW:
    offset = add_law(k, probe->law, y);
    break;
  }
  if (k->n_v > k->n_u) {
    y[k->n_u] += offset;
  }
}

// -------------------------------------------------------------------------------------------------
// the result

static yoke_status take_model(maker* k, yoke_circuit_linear* out) {
  const size_t n = k->n_kept, n_y = k->settings->n_outputs;
  uint32_t* states = yoke__arena_array(k->arena, n + 1, sizeof *states);
  *out = (yoke_circuit_linear){.n_states = (uint32_t)n,
                               .n_inputs = (uint32_t)k->n_u,
                               .n_outputs = (uint32_t)n_y,
                               .inputs = k->drives,
                               .states = states};
  out->A = take_result(k, n * n);
  out->B = take_result(k, n * k->n_u);
  out->C = take_result(k, n_y * n);
  out->D = take_result(k, n_y * k->n_u);
  out->b = take_result(k, n);
  out->d = take_result(k, n_y);
  out->shift = take_result(k, n * k->n_u);
  out->x = take_result(k, n);
  YOKE_TRY(yoke__arena_status(k->arena));
  for (size_t i = 0; i < n; i++) {
    states[i] = k->dynamic[k->kept[i]];
  }
  return YOKE_OK;
}

// One row over what is known to one row of [A B], [C D] and its constant.
static void split(const maker* k, const double known[], double by_z[], double by_u[],
                  double* constant) {
  // columns of dependent states are empty: their rows were not kept
  for (size_t j = 0; j < k->n_kept; j++) {
    by_z[j] = known[2 * k->n_v + k->kept[j]];
  }
  for (size_t j = 0; j < k->n_u; j++) {
    by_u[j] = known[j];
  }
  *constant = k->n_v > k->n_u ? known[k->n_u] : 0.0;
}

// to (rows x n_u) += by_z (rows x n) shift
static void add_shift(const maker* k, const yoke_circuit_linear* out, size_t n_rows,
                      const double by_z[], double to[]) {
  for (size_t i = 0; i < n_rows; i++) {
    for (size_t s = 0; s < k->n_kept; s++) {
      for (size_t j = 0; j < k->n_u; j++) {
        to[i * k->n_u + j] += by_z[i * k->n_kept + s] * out->shift[s * k->n_u + j];
      }
    }
  }
}

static yoke_status refuse_rate(const maker* k, size_t output, size_t input) {
  const yoke_probe* probe = k->settings->outputs[output];
  yoke__circuit_reason_set(
      k->reason, k->network, YOKE_NO_INDEX,
      "output '%.60s' needs the derivative of '%.60s': a loop of capacitors (or a cut set of "
      "inductors) is closed by it; a small resistance there helps",
      probe->name, drive_name(k, input));
  snprintf(k->reason->variable, sizeof k->reason->variable, "%s", probe->name);
  k->reason->place = probe->place.source == NULL ? k->reason->place : probe->place;
  return YOKE_NO_SUPPORT;
}

static yoke_status fill_outputs(maker* k, yoke_circuit_linear* out) {
  for (size_t i = 0; i < out->n_outputs; i++) {
    double* y = k->row;
    memset(y, 0, k->n_known * sizeof *y);
    add_probe(k, k->settings->outputs[i], y);
    split(k, y, out->C + i * k->n_kept, out->D + i * k->n_u, &out->d[i]);
    double largest = 0.0;
    for (size_t c = 0; c < k->n_known; c++) {
      largest = fmax(largest, fabs(y[c]));
    }
    // a coefficient of v' above rounding: an impulse at a jump of the input
    for (size_t j = 0; j < k->n_u; j++) {
      if (fabs(y[k->n_v + j]) > NOISE * largest) {
        return refuse_rate(k, i, j);
      }
    }
  }
  return YOKE_OK;
}

static yoke_status fill(maker* k, yoke_circuit_linear* out) {
  YOKE_TRY(take_model(k, out));
  for (size_t i = 0; i < k->n_kept; i++) {
    // A, B and constant from z', and B1, the coefficients of v'
    const double* z = k->Z + k->kept[i] * k->n_known;
    split(k, z, out->A + i * k->n_kept, out->B + i * k->n_u, &out->b[i]);
    for (size_t j = 0; j < k->n_u; j++) {
      out->shift[i * k->n_u + j] = z[k->n_v + j];
    }
  }
  YOKE_TRY(fill_outputs(k, out));

  // state z - B1 v: A (z + B1 v) = A z + A B1 v, C likewise
  add_shift(k, out, k->n_kept, out->A, out->B);
  add_shift(k, out, out->n_outputs, out->C, out->D);
  for (size_t i = 0; i < k->n_kept; i++) {
    // its value at this point
    out->x[i] = yoke__stamp_state(k->equations, out->states[i], k->x);
    for (size_t j = 0; j < k->n_u; j++) {
      out->x[i] -= out->shift[i * k->n_u + j] * k->drives[j].value;
    }
  }
  return YOKE_OK;
}

static yoke_status run(maker* k, yoke_circuit_linear* out) {
  YOKE_TRY(list_drives(k));
  YOKE_TRY(take_memory(k));
  list_dynamic(k);
  read_point(k);

  // rates enter K through capacitances and inductances that depend on x only
  if (needs_rates(k)) {
    YOKE_TRY(find_rates(k));
  }
  YOKE_TRY(find_K(k));
  YOKE_TRY(find_scale(k));
  find_F(k);
  YOKE_TRY(find_D(k));
  YOKE_TRY(yoke__elimination_create(k->n, k->n_columns, &k->elimination));
  YOKE_TRY(add_algebraic(k));
  add_states(k);
  YOKE_TRY(add_derivatives(k));

  // every unknown has its pivot
  if (k->elimination.n_rows != k->n) {
    yoke__circuit_reason_set(k->reason, k->network, YOKE_NO_INDEX,
                             "the equations leave an unknown open");
    return YOKE_SINGULAR;
  }
  solve(k);
  return fill(k, out);
}

yoke_status yoke__circuit_linear_make(yoke_circuit* circuit, const yoke_linear_settings* settings,
                                      yoke_arena* arena, yoke_circuit_linear* out,
                                      const yoke_sink* sink) {
  yoke_circuit_core* core = yoke__circuit_core(circuit);
  maker k = {.settings = settings,
             .network = core->network,
             .equations = core->equations,
             .signals = core->signals,
             .circuit = circuit,
             .arena = arena,
             .reason = &core->reason,
             .n = core->equations->n,
             .m = core->equations->m,
             .p = core->equations->p};
  core->reason.text[0] = '\0';
  if (k.n > YOKE_LINEAR_MAX) {
    yoke__circuit_reason_set(k.reason, k.network, YOKE_NO_INDEX,
                             "%u voltages and currents; a linear model is made of up to %d",
                             (unsigned)k.n, YOKE_LINEAR_MAX);
    yoke__circuit_reason_send(k.reason, YOKE_NO_SUPPORT, sink);
    return YOKE_NO_SUPPORT;
  }
  yoke__signals_update(core->signals, yoke__core_time(core));
  const yoke_status status = run(&k, out);
  if (status < 0) {
    yoke__circuit_reason_send(k.reason, status, sink);
  }
  yoke__elimination_free(&k.elimination);
  yoke__arena_free(&k.scratch);
  return status;
}

static void copy(double to[], const double from[], size_t n) {
  if (to != NULL && n > 0) {
    memcpy(to, from, n * sizeof *to);
  }
}

yoke_status yoke__circuit_linearise(yoke_circuit* circuit, const yoke_probe* const probes[],
                                    size_t n_probes, uint32_t* n_states, double A[], double B[],
                                    double C[], double D[]) {
  const yoke_linear_settings settings = {.outputs = probes, .n_outputs = n_probes};
  yoke_arena arena = {0};
  yoke_circuit_linear linear;
  const yoke_status status = yoke__circuit_linear_make(circuit, &settings, &arena, &linear, NULL);
  if (status >= 0) {
    *n_states = linear.n_states;
    copy(A, linear.A, (size_t)linear.n_states * linear.n_states);
    copy(B, linear.B, (size_t)linear.n_states * linear.n_inputs);
    copy(C, linear.C, (size_t)linear.n_outputs * linear.n_states);
    copy(D, linear.D, (size_t)linear.n_outputs * linear.n_inputs);
  }
  yoke__arena_free(&arena);
  return status;
}
