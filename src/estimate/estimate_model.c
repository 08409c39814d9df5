// Reduction of a thermal network to the temperatures of its capacities, and what changes with its elements. The equations stand
// in the header.
#include "estimate/estimate_model.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_dense.h"

static void add_scaled(size_t n, double a, const double* restrict x, double* restrict y) {
  for (size_t i = 0; i < n; i++) {
    y[i] += a * x[i];
  }
}

static double dot(size_t n, const double a[], const double b[]) {
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

// ---- prepare

// Sorts the nodes into those with a capacity, free and imposed ones.
static yoke_status sort_nodes(yoke_heat_model* m, yoke_arena* arena) {
  const yoke_heat_network* network = m->network;
  uint32_t* place = yoke__arena_array(arena, m->n_nodes, sizeof *place);
  uint32_t* state = yoke__arena_array(arena, m->n_nodes, sizeof *state);
  uint32_t* free_nodes = yoke__arena_array(arena, m->n_nodes, sizeof *free_nodes);
  YOKE_TRY(yoke__arena_status(arena));
  for (size_t k = 0; k < m->n_nodes; k++) {
    place[k] = state[k] = YOKE_HEAT_FREE;
  }
  for (size_t i = 0; i < m->p; i++) {
    state[network->capacities[i].node] = (uint32_t)i;
  }

  // x = T z + B v: free nodes are those whose temperature follows from the others at once
  for (size_t k = 0; k < m->n_nodes; k++) {
    if (state[k] == YOKE_HEAT_FREE && network->nodes[k].fixed == YOKE_HEAT_FREE) {
      place[k] = (uint32_t)m->n_free;
      // numbered among themselves: row and column of L_ff
      free_nodes[m->n_free++] = (uint32_t)k;
    }
  }
  m->place = place;
  m->state = state;
  m->free_nodes = free_nodes;
  return YOKE_OK;
}

// Cuts the block into its parts; with block NULL it only adds up.
static size_t layout(yoke_heat_model* m, double* block) {
  const size_t n = m->n_nodes, p = m->p, r = m->r, f = m->n_free;
  const struct {
    double** part;
    size_t n;
  } parts[] = {
      {&m->g, m->network->n_resistors},
      {&m->c, p},
      {&m->T, n * p},
      {&m->B, n * r},
      {&m->Z, f * f},
      {&m->K, p * p},
      {&m->M, p * r},
      {&m->Fc, p * p},
      {&m->Gc, p * r},
      {&m->work, f * f},
  };
  size_t total = 0;
  for (size_t i = 0; i < YOKE_COUNT(parts); i++) {
    if (block != NULL) {
      *parts[i].part = block + total;
    }
    total += parts[i].n;
  }
  return total;
}

// Every node has its path, so that only the range of the numbers is left as a reason.
static yoke_status report_singular(const yoke_heat_model* m, yoke_status status,
                                   const yoke_sink* sink) {
  const yoke_heat_resistor* r = m->network->resistors;
  size_t low = 0, high = 0;
  for (size_t e = 1; e < m->network->n_resistors; e++) {
    // smallest conductance that is not 0, and largest
    low = m->g[e] > 0.0 && m->g[e] < m->g[low] ? e : low;
    high = m->g[e] > m->g[high] ? e : high;
  }
  return yoke_fail(sink, status,
                   "nodes without heat capacity cannot be eliminated: the conductances of '%s' "
                   "(%g W/K) and '%s' (%g W/K) differ too much, or overflow",
                   r != NULL ? r[low].name : "", r != NULL ? m->g[low] : 0.0,
                   r != NULL ? r[high].name : "", r != NULL ? m->g[high] : 0.0);
}

yoke_status yoke__heat_model_prepare(const yoke_heat_network* network, const double g[],
                                     const double c[], yoke_arena* arena, yoke_heat_model* out,
                                     const yoke_sink* sink) {
  YOKE_TRY(yoke__heat_network_check(network, g, c, sink));
  *out = (yoke_heat_model){.network = network,
                           .n_nodes = network->n_nodes,
                           .p = network->n_capacities,
                           .r = network->n_inputs};
  YOKE_TRY(sort_nodes(out, arena));
  const size_t n = layout(out, NULL);
  out->block = yoke__arena_array(arena, n, sizeof *out->block);
  YOKE_TRY_MEMORY(out->block != NULL);
  out->block_size = n * sizeof *out->block;
  layout(out, out->block);
  memcpy(out->g, g, network->n_resistors * sizeof *g);
  memcpy(out->c, c, network->n_capacities * sizeof *c);

  // rows that never change: temperatures that are states or inputs themselves
  for (size_t k = 0; k < out->n_nodes; k++) {
    // x_k = z_i, x_k = v_j
    if (out->state[k] != YOKE_HEAT_FREE) {
      out->T[k * out->p + out->state[k]] = 1.0;
    } else if (network->nodes[k].fixed != YOKE_HEAT_FREE) {
      out->B[k * out->r + network->nodes[k].fixed] = 1.0;
    }
  }
  const yoke_status status = yoke__heat_model_update(out);
  return status < 0 ? report_singular(out, status, sink) : status;
}

// ---- update

// L_ff, of which only the lower half is read.
static void fill_free(const yoke_heat_model* m, double L[]) {
  const size_t n = m->n_free;
  memset(L, 0, n * n * sizeof *L);

  // Laplacian of the free nodes: + g on the diagonal, - g between two of them
  for (size_t e = 0; e < m->network->n_resistors; e++) {
    const uint32_t a = m->place[m->network->resistors[e].a];
    const uint32_t b = m->place[m->network->resistors[e].b];
    if (a != YOKE_HEAT_FREE) {
      L[a * n + a] += m->g[e];
    }
    if (b != YOKE_HEAT_FREE) {
      L[b * n + b] += m->g[e];
    }
    if (a != YOKE_HEAT_FREE && b != YOKE_HEAT_FREE) {
      L[(a > b ? a : b) * n + (a > b ? b : a)] -= m->g[e];
    }
  }
}

// Cholesky factor in the lower half of A, in place.
static yoke_status factor(size_t n, double A[]) {
  for (size_t i = 0; i < n; i++) {
    double* a = A + i * n;
    for (size_t j = 0; j < i; j++) {
      // l_ij = (a_ij - sum_k l_ik l_jk) / l_jj
      a[j] = (a[j] - dot(j, a, A + j * n)) / A[j * n + j];
    }
    const double before = a[i];
    const double pivot = before - dot(i, a, a);

    // what is left of the diagonal is rounding: the node hangs on nothing
    if (!(pivot > DBL_EPSILON * before) || !yoke__is_finite(pivot)) {
      return YOKE_SINGULAR;
    }
    a[i] = sqrt(pivot);
  }
  return YOKE_OK;
}

// Z := (L L')^-1 from the factor L in the lower half of Z; W: n x n. Z = W' W with W = L^-1.
static void invert(size_t n, double Z[], double W[]) {
  memset(W, 0, n * n * sizeof *W);
  for (size_t i = 0; i < n; i++) {
    double* w = W + i * n;
    // row i of L^-1: w_i = (e_i - sum_k l_ik w_k) / l_ii
    const double scale = 1.0 / Z[i * n + i];
    for (size_t k = 0; k < i; k++) {
      if (Z[i * n + k] != 0.0) {
        add_scaled(k + 1, -Z[i * n + k] * scale, W + k * n, w);
      }
    }
    w[i] = scale;
  }

  // Z = W' W as a sum over the rows of W: a row of length i + 1 touches the leading block only
  memset(Z, 0, n * n * sizeof *Z);
  for (size_t i = 0; i < n; i++) {
    const double* w = W + i * n;
    for (size_t a = 0; a <= i; a++) {
      if (w[a] != 0.0) {
        add_scaled(a + 1, w[a], w, Z + a * n);
      }
    }
  }
  for (size_t a = 1; a < n; a++) {
    for (size_t b = 0; b < a; b++) {
      Z[b * n + a] = Z[a * n + b];
    }
  }
}

// Temperatures of the free nodes follow heat `factor` * (z or v)[column] that enters at the free node f.
static void add_response(const yoke_heat_model* m, uint32_t f, double gain, size_t width,
                         size_t column, double rows[]) {
  const double* z = m->Z + f * m->n_free;

  // x_k += Z_kf gain: Z = L_ff^-1 is the temperature of k for 1 W into f
  for (size_t k = 0; k < m->n_free; k++) {
    rows[m->free_nodes[k] * width + column] += gain * z[k];
  }
}

// The free node f feels its neighbour through g.
static void add_neighbour(const yoke_heat_model* m, uint32_t f, uint32_t neighbour, double g) {
  const uint32_t fixed = m->network->nodes[neighbour].fixed;
  if (m->state[neighbour] != YOKE_HEAT_FREE) {
    add_response(m, f, g, m->p, m->state[neighbour], m->T);
  } else if (fixed != YOKE_HEAT_FREE) {
    add_response(m, f, g, m->r, fixed, m->B);
  }
}

static void fill_free_rows(const yoke_heat_model* m) {
  const yoke_heat_network* network = m->network;
  for (size_t k = 0; k < m->n_free; k++) {
    memset(m->T + m->free_nodes[k] * m->p, 0, m->p * sizeof *m->T);
    memset(m->B + m->free_nodes[k] * m->r, 0, m->r * sizeof *m->B);
  }

  // x_f = sum over neighbours of Z g (z or v)
  for (size_t e = 0; e < network->n_resistors; e++) {
    const yoke_heat_resistor* r = &network->resistors[e];
    if (m->place[r->a] != YOKE_HEAT_FREE) {
      add_neighbour(m, m->place[r->a], r->b, m->g[e]);
    }
    if (m->place[r->b] != YOKE_HEAT_FREE) {
      add_neighbour(m, m->place[r->b], r->a, m->g[e]);
    }
  }
  for (size_t i = 0; i < network->n_sources; i++) {
    const yoke_heat_source* s = &network->sources[i];
    if (m->place[s->node] != YOKE_HEAT_FREE) {
      add_response(m, m->place[s->node], s->gain, m->r, s->input, m->B);
    }
  }
}

// Heat that leaves the capacity of node a towards b.
static void add_leaving(const yoke_heat_model* m, uint32_t a, uint32_t b, double g) {
  const uint32_t i = m->state[a];
  if (i != YOKE_HEAT_FREE) {
    // heat into the capacity: g (x_b - x_a) = g (T_b - T_a) z + g B_b v; a is a state, so that B_a
    // = 0
    add_scaled(m->p, -g, m->T + a * m->p, m->K + i * m->p);
    add_scaled(m->p, g, m->T + b * m->p, m->K + i * m->p);
    add_scaled(m->r, g, m->B + b * m->r, m->M + i * m->r);
  }
}

static void fill_heat(const yoke_heat_model* m) {
  const size_t p = m->p;
  memset(m->K, 0, p * p * sizeof *m->K);
  memset(m->M, 0, p * m->r * sizeof *m->M);
  for (size_t e = 0; e < m->network->n_resistors; e++) {
    const yoke_heat_resistor* r = &m->network->resistors[e];
    add_leaving(m, r->a, r->b, m->g[e]);
    add_leaving(m, r->b, r->a, m->g[e]);
  }
  for (size_t i = 0; i < m->network->n_sources; i++) {
    const yoke_heat_source* s = &m->network->sources[i];
    if (m->state[s->node] != YOKE_HEAT_FREE) {
      m->M[m->state[s->node] * m->r + s->input] += s->gain;
    }
  }

  // symmetric by physics; equal to the bit after this
  // both halves were summed on their own
  for (size_t i = 1; i < p; i++) {
    for (size_t j = 0; j < i; j++) {
      m->K[i * p + j] = m->K[j * p + i] = 0.5 * (m->K[i * p + j] + m->K[j * p + i]);
    }
  }
}

yoke_status yoke__heat_model_update(yoke_heat_model* m) {
  // in this order: Z from g, T and B from Z, K and M from T and B, Fc and Gc from K, M and c
  fill_free(m, m->Z);
  YOKE_TRY(factor(m->n_free, m->Z));
  invert(m->n_free, m->Z, m->work);
  fill_free_rows(m);
  fill_heat(m);
  for (size_t i = 0; i < m->p; i++) {
    if (!(m->c[i] > 0.0)) {
      return YOKE_SINGULAR;
    }
    // z' = C^-1 (K z + M v) = Fc z + Gc v
    const double per_c = 1.0 / m->c[i];
    for (size_t j = 0; j < m->p; j++) {
      m->Fc[i * m->p + j] = per_c * m->K[i * m->p + j];
    }
    for (size_t j = 0; j < m->r; j++) {
      m->Gc[i * m->r + j] = per_c * m->M[i * m->r + j];
    }
  }
  return yoke__are_finite(m->p * m->p, m->Fc) && yoke__are_finite(m->p * m->r, m->Gc)
             ? YOKE_OK
             : YOKE_SINGULAR;
}

// ---- use

void yoke__heat_model_temperatures(const yoke_heat_model* m, const double z[], const double v[],
                                   double x[]) {
  for (size_t k = 0; k < m->n_nodes; k++) {
    if (m->state[k] != YOKE_HEAT_FREE) {
      x[k] = z[m->state[k]];
    } else if (m->place[k] == YOKE_HEAT_FREE) {
      x[k] = v[m->network->nodes[k].fixed];
    } else {
      x[k] = dot(m->p, m->T + k * m->p, z) + dot(m->r, m->B + k * m->r, v);
    }
  }
}

void yoke__heat_model_heat(const yoke_heat_model* m, const double z[], const double v[],
                           double q[]) {
  yoke__mat_vec(m->p, m->p, m->K, z, q);
  yoke__mat_vec_add(m->p, m->r, m->M, v, q);
}

// A capacity without path to an imposed temperature warms up for ever.
static yoke_status check_rest(const yoke_heat_model* m) {
  bool* is_reached = calloc(m->n_nodes + 1, sizeof *is_reached);
  YOKE_TRY_MEMORY(is_reached != NULL);
  for (size_t k = 0; k < m->n_nodes; k++) {
    is_reached[k] = m->network->nodes[k].fixed != YOKE_HEAT_FREE;
  }
  yoke__heat_network_reach(m->network, m->g, is_reached);
  yoke_status status = YOKE_OK;
  for (size_t i = 0; i < m->p; i++) {
    if (!is_reached[m->network->capacities[i].node]) {
      status = YOKE_SINGULAR;
    }
  }
  free(is_reached);
  return status;
}

yoke_status yoke__heat_model_rest(const yoke_heat_model* m, const double v[], double z[]) {
  yoke__mat_vec(m->p, m->r, m->M, v, z);
  return yoke__heat_model_settle(m, z);
}

yoke_status yoke__heat_model_settle(const yoke_heat_model* m, double q[]) {
  YOKE_TRY(check_rest(m));
  const size_t p = m->p;
  double* A = calloc(p * p, sizeof *A);
  size_t* pivots = calloc(p, sizeof *pivots);
  yoke_status status = YOKE_NO_MEMORY;

  // K z + M v = 0: (-K) z = M v
  if (A != NULL && pivots != NULL) {
    // -K is positive definite where every capacity leads to an imposed temperature
    for (size_t i = 0; i < p * p; i++) {
      A[i] = -m->K[i];
    }
    status = yoke__solve(p, A, q, pivots);
  }
  free(A);
  free(pivots);
  return status;
}

double yoke__heat_row_value(const yoke_heat_model* m, yoke_heat_row row, const double x[],
                            const double v[]) {
  switch (row.kind) {
  case YOKE_ROW_TEMPERATURE:
    return x[row.index];
  case YOKE_ROW_DIFFERENCE:
    return x[row.index] - x[row.other];
  case YOKE_ROW_FLOW: {
    const yoke_heat_resistor* r = &m->network->resistors[row.index];
    // q = g (x_a - x_b)
    return m->g[row.index] * (x[r->a] - x[r->b]);
  }
  case YOKE_ROW_INPUT:
    break;
  }
  return v[row.index];
}

// y := gain (rows[a] - rows[b])
static void subtract_rows(size_t n, double gain, const double rows[], size_t a, size_t b,
                          double y[]) {
  if (y != NULL) {
    for (size_t j = 0; j < n; j++) {
      y[j] = gain * (rows[a * n + j] - rows[b * n + j]);
    }
  }
}

void yoke__heat_row_line(const yoke_heat_model* m, yoke_heat_row row, double over_z[],
                         double over_v[]) {
  if (row.kind == YOKE_ROW_DIFFERENCE) {
    subtract_rows(m->p, 1.0, m->T, row.index, row.other, over_z);
    subtract_rows(m->r, 1.0, m->B, row.index, row.other, over_v);
  } else if (row.kind == YOKE_ROW_FLOW) {
    // d flow / d z = g (T_a - T_b), d flow / d v = g (B_a - B_b)
    const yoke_heat_resistor* r = &m->network->resistors[row.index];
    subtract_rows(m->p, m->g[row.index], m->T, r->a, r->b, over_z);
    subtract_rows(m->r, m->g[row.index], m->B, r->a, r->b, over_v);
  } else {
    const bool is_input = row.kind == YOKE_ROW_INPUT;
    if (over_z != NULL) {
      memset(over_z, 0, m->p * sizeof *over_z);
      if (!is_input) {
        memcpy(over_z, m->T + row.index * m->p, m->p * sizeof *over_z);
      }
    }
    if (over_v != NULL) {
      memset(over_v, 0, m->r * sizeof *over_v);
      if (is_input) {
        over_v[row.index] = 1.0;
      } else {
        memcpy(over_v, m->B + row.index * m->r, m->r * sizeof *over_v);
      }
    }
  }
}

// ---- derivatives by a conductance

// Z_ka - Z_kb of the header.
static double response(const yoke_heat_model* m, uint32_t node, const yoke_heat_resistor* r) {
  const uint32_t k = m->place[node], a = m->place[r->a], b = m->place[r->b];
  if (k == YOKE_HEAT_FREE) {
    return 0.0;
  }
  const double* z = m->Z + k * m->n_free;
  return (a == YOKE_HEAT_FREE ? 0.0 : z[a]) - (b == YOKE_HEAT_FREE ? 0.0 : z[b]);
}

double yoke__heat_row_slope(const yoke_heat_model* m, yoke_heat_row row, size_t resistor,
                            const double x[]) {
  const yoke_heat_resistor* r = &m->network->resistors[resistor];

  // dx_k/dg = -(x_a - x_b) (Z_ka - Z_kb): per W/K, (x_a - x_b) W more leave a and enter b
  const double drop = x[r->a] - x[r->b];
  switch (row.kind) {
  case YOKE_ROW_TEMPERATURE:
    return -drop * response(m, row.index, r);
  case YOKE_ROW_DIFFERENCE:
    return -drop * (response(m, row.index, r) - response(m, row.other, r));
  case YOKE_ROW_FLOW: {
    const yoke_heat_resistor* f = &m->network->resistors[row.index];
    // product rule: g d(drop)/dg + drop
    const double change = -drop * (response(m, f->a, r) - response(m, f->b, r));
    return m->g[row.index] * change + (row.index == resistor ? drop : 0.0);
  }
  case YOKE_ROW_INPUT:
    break;
  }
  return 0.0;
}

void yoke__heat_model_slope(const yoke_heat_model* m, size_t resistor, const double x[],
                            double scale, double q[]) {
  const yoke_heat_resistor* r = &m->network->resistors[resistor];

  // d(K z + M v)/dg = -(T_a - T_b)' (x_a - x_b)
  const double by = -scale * (x[r->a] - x[r->b]);
  const double *ta = m->T + r->a * m->p, *tb = m->T + r->b * m->p;
  for (size_t i = 0; i < m->p; i++) {
    q[i] += by * (ta[i] - tb[i]);
  }
}
