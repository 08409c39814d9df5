// The equations of a network in full coordinates and their derivatives.
//
//   f = [Phi ; A xdot + b],   J = [Phi_x ; a0 A + (dA/dx) xdot + db/dx]   at xdot = a0 x + c
//
// Rows of all elements but junctions and switches are linear in the element's value w,
//   f = s_v (V_a - V_b) + s_i I + F w,
// so one factor F serves the residual, the gradient of a law w(x), the time derivative F w_t and
// the input derivative F w_u. Rows are exclusive to their elements; J is a copy of what never
// varies plus what does. Source: the mixed formulation of B. Rodriguez et al., Energies 13 (2020)
// 1354. Page: docs/circuit_methods.md, "Equations".
#include "circuit/equations/circuit_equations.h"
#include "base/base_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>


// [S]: far below the 1 beside it in a junction's row, far above gmin
#define TYPICAL_CONDUCTANCE 1e-10
// roundings in a row, in units of 2^-53 times the sum of its terms
#define FLOOR (16.0 * 1.1102230246251565e-16)
// of a junction's voltage, in N Vt: Newton's method shrinks it to its square if anything but
// rounding drives it
#define SMALL_CHANGE 1e-2

// Where and what to evaluate.
typedef struct point {
  const double *x, *xdot, *v_limited;
  double a0;
  bool is_mass_only;  // differential rows of J hold A alone (Ahat)
  double *f, *J;      // either may be NULL
} point;

yoke_status yoke__equations_create(const yoke_network* network, yoke_signals* signals,
                                   const bool is_closed[], double gmin, yoke_arena* arena,
                                   yoke_equations** out) {
  yoke_equations* self = yoke__arena_take(arena, sizeof *self);
  YOKE_TRY(yoke__arena_status(arena));
  self->network = network;
  self->signals = signals;
  self->is_closed = is_closed;
  YOKE_TRY(yoke__equations_build(self, gmin, arena));
  *out = self;
  return YOKE_OK;
}

// ------------------------------------------------------------------------------------------
// questions

void yoke__equations_name(const yoke_equations* self, uint32_t column, char* to, size_t size) {
  const yoke_network* network = self->network;
  if (column < network->n_nodes) {
    const yoke_network_node* node = &network->nodes[column];
    snprintf(to, size, "%s(%s)", node->domain == YOKE_THERMAL ? "t" : "v", node->name);
  } else if (column < self->n) {
    snprintf(to, size, "i(%s)", network->elements[column - network->n_nodes].name);
  } else {
    snprintf(to, size, "unknown %u", (unsigned)column);
  }
}

uint32_t yoke__equations_row_owner(const yoke_equations* self, uint32_t row) {
  const uint32_t n_nodes = self->network->n_nodes;
  if (row >= self->n) {
    return YOKE_NO_INDEX;
  }
  const uint32_t owner = self->row_owner[row];
  const bool is_node = row < self->n_fixed || (owner < n_nodes && self->kcl_rows[owner] == row);
  return is_node ? owner : n_nodes + owner;
}

void yoke__equations_row_name(const yoke_equations* self, uint32_t row, char* to, size_t size) {
  const yoke_network* network = self->network;
  const uint32_t owner = yoke__equations_row_owner(self, row);
  const bool is_node = owner < network->n_nodes;
  if (owner == YOKE_NO_INDEX) {
    snprintf(to, size, "row %u", (unsigned)row);
    return;
  }
  snprintf(to, size, "%s %s", is_node ? "node" : "element",
           is_node ? network->nodes[owner].name : network->elements[owner - network->n_nodes].name);
}

// ------------------------------------------------------------------------------------------
// elements

static void add(double J[], uint32_t slot, double value) {
  if (slot != YOKE_NO_INDEX) {
    J[slot] += value;
  }
}

double yoke__stamp_value(const yoke_equations* self, const yoke_stamp* stamp, uint32_t element,
                         const double x[], double gradient[]) {
  if (stamp->law != NULL) {
    return yoke__signals_law(self->signals, stamp->law, x, gradient);
  }
  return self->signals->element[element];
}

// d(row)/d(value)
static double factor_of(const yoke_stamp* stamp, const double x[], const double xdot[]) {
  if (stamp->p == YOKE_NO_INDEX) {
    return -1.0;
  }

  // of rates for capacitors and inductors, else of voltages and currents
  const double* y = stamp->is_rate ? xdot : x;
  const double y_q = stamp->q == YOKE_NO_INDEX ? 0.0 : y[stamp->q];
  return stamp->scale * (y[stamp->p] - y_q);
}

static void add_gradient(double J[], const yoke_expression* law, const uint32_t slots[],
                         const double gradient[], double factor) {
  for (uint32_t i = 0; i < law->n_live; i++) {
    add(J, slots[i], factor * gradient[i]);
  }
}

// The other inductors in the row of this one: -M I_o', M = k sqrt(L L_o), dM = M/2 (dL/L +
// dL_o/L_o).
static void evaluate_couplings(const yoke_equations* self, uint32_t e, double value,
                               const double gradient[], const point* at) {
  const yoke_stamp* stamp = &self->stamps[e];
  double other_gradient[YOKE_EXPRESSION_MAX_LIVE];
  for (uint32_t i = 0; i < stamp->n_couplings; i++) {
    const yoke_coupling_stamp* coupling = &stamp->couplings[i];
    const yoke_stamp* other = &self->stamps[coupling->other];
    const double other_value =
        yoke__stamp_value(self, other, coupling->other, at->x, other_gradient);
    // M = k sqrt(L1 L2)
    const double mutual = coupling->k * sqrt(value * other_value);
    const double rate = at->xdot[other->i];
    if (at->f != NULL) {
      at->f[stamp->row] -= mutual * rate;
    }
    if (at->J == NULL) {
      continue;
    }
    // a0 of the formula times -M
    add(at->J, coupling->slot, -at->a0 * mutual);
    // d(-M I_o') / dL = -M I_o' / (2 L)
    if (stamp->law != NULL && !at->is_mass_only) {
      add_gradient(at->J, stamp->law, stamp->live_slots, gradient, -0.5 * mutual * rate / value);
    }
    if (other->law != NULL && !at->is_mass_only) {
      add_gradient(at->J, other->law, coupling->live_slots, other_gradient,
                   -0.5 * mutual * rate / other_value);
    }
  }
}

static void evaluate_linear(const yoke_equations* self, uint32_t e, const point* at) {
  const yoke_stamp* stamp = &self->stamps[e];
  double gradient[YOKE_EXPRESSION_MAX_LIVE];
  const double value = yoke__stamp_value(self, stamp, e, at->x, gradient);
  const double factor = factor_of(stamp, at->x, at->xdot);
  if (at->f != NULL) {
    // s_v (V_a - V_b) + s_i I + F w
    at->f[stamp->row] = stamp->voltage_sign * (at->x[stamp->a] - at->x[stamp->b]) +
                        stamp->current_sign * at->x[stamp->i] + factor * value;
  }
  if (at->J != NULL) {
    const bool is_whole = !(at->is_mass_only && stamp->is_dynamic);
    // d(F w)/dx_p = scale w, times a0 where F is a rate
    const double weight = stamp->scale * value * (stamp->is_rate ? at->a0 : 1.0);
    add(at->J, stamp->slot_p, weight);
    add(at->J, stamp->slot_q, -weight);
    if (is_whole && stamp->voltage_sign != 0.0) {
      at->J[stamp->slot_a] += stamp->voltage_sign;
      at->J[stamp->slot_b] -= stamp->voltage_sign;
    }
    if (is_whole && stamp->current_sign != 0.0) {
      at->J[stamp->slot_i] += stamp->current_sign;
    }
    if (is_whole && stamp->law != NULL) {
      add_gradient(at->J, stamp->law, stamp->live_slots, gradient, factor);
    }
  }
  if (stamp->n_couplings > 0) {
    evaluate_couplings(self, e, value, gradient, at);
  }
}

// I - i(v) - q' with i and q continued as their tangents from the limited voltage.
static void evaluate_charge_stage(const yoke_equations* self, uint32_t e, const point* at) {
  const yoke_stamp* stamp = &self->stamps[e];
  const double v = at->x[stamp->a] - at->x[stamp->b];
  const double v_at = at->v_limited != NULL ? at->v_limited[e] : v;
  double i = 0.0;
  double g = 0.0;
  double C = 0.0;
  yoke__junction_evaluate(&stamp->junction, v_at, &i, &g);
  const double q = yoke__junction_charge(stamp->charge, v_at, &C);

  // di/dv + a0 C
  const double conductance = g + at->a0 * C;
  if (at->f != NULL) {
    // I - i - (a0 q + c) - slope (v - v_at)
    at->f[stamp->row] =
        at->x[stamp->i] - i - at->a0 * q - self->charge_c[stamp->index] - conductance * (v - v_at);
  }
  if (at->J != NULL) {
    at->J[stamp->slot_a] -= conductance;
    at->J[stamp->slot_b] += conductance;
    at->J[stamp->slot_i] += 1.0;
  }
}

// I - i(v) - C(v) v' with i and C continued as their tangents from the limited voltage.
static void evaluate_junction(const yoke_equations* self, uint32_t e, const point* at) {
  const yoke_stamp* stamp = &self->stamps[e];
  if (self->is_charge_stage && stamp->charge != NULL) {
    evaluate_charge_stage(self, e, at);
    return;
  }
  const double v = at->x[stamp->a] - at->x[stamp->b];
  const double v_at = at->v_limited != NULL ? at->v_limited[e] : v;
  double i = 0.0;
  double g = 0.0;
  double slope = 0.0;
  yoke__junction_evaluate(&stamp->junction, v_at, &i, &g);
  const double C0 =
      stamp->charge != NULL ? yoke__junction_capacitance(stamp->charge, v_at, &slope) : 0.0;

  // tangent of C at the limited voltage
  const double C = C0 + slope * (v - v_at);
  const double rate = at->xdot[stamp->a] - at->xdot[stamp->b];
  if (at->f != NULL) {
    at->f[stamp->row] = at->x[stamp->i] - i - g * (v - v_at) - C * rate;
  }
  if (at->J != NULL) {
    const bool is_whole = !(at->is_mass_only && stamp->is_dynamic);
    // d/dv of i(v) + C(v) v': g + C' v' + a0 C
    const double conductance = (is_whole ? g + slope * rate : 0.0) + at->a0 * C;
    at->J[stamp->slot_a] -= conductance;
    at->J[stamp->slot_b] += conductance;
    at->J[stamp->slot_i] += is_whole ? 1.0 : 0.0;
  }
}

// Closed: V_a - V_b - R_on I; open: I - (V_a - V_b) / R_off. The pattern is the same.
static void evaluate_switch(const yoke_equations* self, uint32_t e, const point* at) {
  const yoke_stamp* stamp = &self->stamps[e];
  const bool is_closed = self->is_closed[e];
  const double by_v = is_closed ? 1.0 : -1.0 / stamp->switching->r_off;
  const double by_i = is_closed ? -stamp->switching->r_on : 1.0;
  if (at->f != NULL) {
    at->f[stamp->row] = by_v * (at->x[stamp->a] - at->x[stamp->b]) + by_i * at->x[stamp->i];
  }
  if (at->J != NULL) {
    at->J[stamp->slot_a] += by_v;
    at->J[stamp->slot_b] -= by_v;
    at->J[stamp->slot_i] += by_i;
  }
}

static void evaluate_stamp(const yoke_equations* self, uint32_t e, const point* at) {
  switch (self->stamps[e].kind) {
  case YOKE_STAMP_LINEAR:
    evaluate_linear(self, e, at);
    break;
  case YOKE_STAMP_JUNCTION:
    evaluate_junction(self, e, at);
    break;
  case YOKE_STAMP_SWITCH:
    evaluate_switch(self, e, at);
    break;
  }
}

// ------------------------------------------------------------------------------------------
// the whole

// fixed nodes and Kirchhoff's current law; the rows of elements are written by their stamps
static void evaluate_frame(const yoke_equations* self, const double x[], double f[]) {
  // V - V_fixed = 0
  for (uint32_t i = 0; i < self->n_fixed; i++) {
    const uint32_t v = self->fixed_nodes[i];
    f[i] = x[v] - self->signals->node[v];
  }
  for (uint32_t v = 0; v < self->network->n_nodes; v++) {
    if (self->kcl_rows[v] != YOKE_NO_INDEX) {
      f[self->kcl_rows[v]] = 0.0;
    }
  }

  // sum of the currents that flow into the node = 0
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    const yoke_stamp* stamp = &self->stamps[e];
    const double current = x[stamp->i];
    if (stamp->kcl_a != YOKE_NO_INDEX) {
      f[stamp->kcl_a] -= current;
    }
    if (stamp->kcl_b != YOKE_NO_INDEX) {
      f[stamp->kcl_b] += current;
    }
  }
}

// what does not vary, once per a0
static void refresh_base(yoke_equations* self, const point* at) {
  if (self->has_base && self->base_a0 == at->a0) {
    return;
  }
  memcpy(self->base, self->frame, self->nnz * sizeof(double));
  const point base = {.x = at->x, .xdot = at->xdot, .a0 = at->a0, .J = self->base};
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    if (!self->stamps[e].is_varying) {
      evaluate_stamp(self, e, &base);
    }
  }
  self->base_a0 = at->a0;
  self->has_base = true;
}

void yoke__equations_evaluate(yoke_equations* self, const double x[], double a0, const double c[],
                              const double v_limited[], double f[], double J[]) {
  // xdot = a0 x + c
  for (uint32_t j = 0; j < self->n; j++) {
    self->xdot[j] = c != NULL ? a0 * x[j] + c[j] : a0 * x[j];
  }
  point at = {.x = x, .xdot = self->xdot, .v_limited = v_limited, .a0 = a0, .f = f, .J = J};
  evaluate_frame(self, x, f);
  if (J != NULL) {
    refresh_base(self, &at);
    memcpy(J, self->base, self->nnz * sizeof(double));
  }

  // entries that do not vary are in the base: only f of those elements
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    at.J = self->stamps[e].is_varying ? J : NULL;
    evaluate_stamp(self, e, &at);
  }
}

void yoke__equations_floor(const yoke_equations* self, const double x[], const double dx[],
                           const double J[], double floor[]) {
  const yoke_sparse_pattern* pattern = &self->J;
  memset(floor, 0, self->n * sizeof *floor);
  for (uint32_t j = 0; j < self->n; j++) {
    // rounding of a row: 16 roundings of the sum of its terms
    const double size = FLOOR * fabs(x[j]);
    for (int32_t k = pattern->starts[j]; k < pattern->starts[j + 1]; k++) {
      floor[pattern->rows[k]] += size * fabs(J[k]);
    }
  }
  // a change that rounding alone has made leaves the curvature of a junction behind it
  for (uint32_t i = 0; i < self->n_junctions; i++) {
    const yoke_stamp* stamp = &self->stamps[self->junctions[i]];
    // curvature: i'' dv^2 / 2 = g nVt (dv / nVt)^2 / 2, rounded up
    const double v = (dx[stamp->a] - dx[stamp->b]) / stamp->junction.nvt;
    if (fabs(v) < SMALL_CHANGE) {
      floor[stamp->row] += fabs(J[stamp->slot_a]) * stamp->junction.nvt * v * v;
    }
  }
}

uint32_t yoke__equations_find_undefined(const yoke_equations* self, const double x[],
                                        double* value) {
  double gradient[YOKE_EXPRESSION_MAX_LIVE];
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    const yoke_stamp* stamp = &self->stamps[e];
    if (self->network->elements[e].value.law == NULL) {
      continue;
    }
    *value = yoke__stamp_value(self, stamp, e, x, gradient);
    double sum = *value;
    for (uint32_t i = 0; stamp->law != NULL && i < stamp->law->n_live; i++) {
      // a gradient that is not finite spoils the sum
      sum += gradient[i] - gradient[i];  // 0, or not a number
    }
    if (!yoke__is_finite(sum)) {
      return e;
    }
  }
  return YOKE_NO_INDEX;
}

bool yoke__equations_limit(const yoke_equations* self, const double x[], double v_limited[]) {
  bool is_limited = false;
  for (uint32_t i = 0; i < self->n_junctions; i++) {
    const uint32_t e = self->junctions[i];
    const yoke_stamp* stamp = &self->stamps[e];
    const double v = x[stamp->a] - x[stamp->b];
    v_limited[e] = yoke__junction_limit(&stamp->junction, v, v_limited[e], &is_limited);
  }
  return is_limited;
}

void yoke__equations_unlimit(const yoke_equations* self, const double x[], double v_limited[]) {
  for (uint32_t i = 0; i < self->n_junctions; i++) {
    const uint32_t e = self->junctions[i];
    v_limited[e] = x[self->stamps[e].a] - x[self->stamps[e].b];
  }
}

void yoke__equations_conduct(const yoke_equations* self, double v_limited[]) {
  for (uint32_t i = 0; i < self->n_junctions; i++) {
    const uint32_t e = self->junctions[i];
    const yoke_junction* junction = &self->stamps[e].junction;
    // di/dv = IS e^{v/nVt} / nVt at v: solved for the typical conductance
    v_limited[e] = junction->nvt * log(TYPICAL_CONDUCTANCE * junction->nvt / junction->is);
  }
}

void yoke__equations_set_gmin(yoke_equations* self, double gmin) {
  for (uint32_t i = 0; i < self->n_junctions; i++) {
    self->stamps[self->junctions[i]].junction.gmin = gmin;
  }
}

// ------------------------------------------------------------------------------------------
// derivatives by time and inputs

// The change of a law with time at fixed x, inputs moving along their polynomials.
static double law_rate(const yoke_equations* self, const yoke_expression* law, const double x[]) {
  const yoke_signals* signals = self->signals;
  double gradient[YOKE_EXPRESSION_MAX_LIVE];
  double rate = 0.0;
  bool is_moving = false;
  for (uint32_t i = 0; i < law->n_live; i++) {
    is_moving |= law->live[i].kind == YOKE_LIVE_TIME || law->live[i].kind == YOKE_LIVE_INPUT;
  }
  if (!is_moving) {
    return 0.0;
  }

  // dw/dt = w_t + sum w_u u', u' along the polynomial of the input
  yoke__signals_law(signals, law, x, gradient);
  for (uint32_t i = 0; i < law->n_live; i++) {
    const yoke_live* live = &law->live[i];
    if (live->kind == YOKE_LIVE_TIME) {
      rate += gradient[i];
    } else if (live->kind == YOKE_LIVE_INPUT) {
      const double s = signals->t - signals->t_input;
      rate += gradient[i] * (signals->du[live->index] + s * signals->ddu[live->index]);
    }
  }
  return rate;
}

void yoke__equations_derivatives(yoke_equations* self, const double x[], const double v_limited[],
                                 double Ahat[], double bhat[]) {
  // b is the residual without rates; A is what a0 = 1 leaves of J
  memset(self->xdot, 0, self->n * sizeof(double));
  memcpy(self->work_J, self->frame, self->nnz * sizeof(double));
  memset(bhat, 0, self->n * sizeof(double));
  const point at = {.x = x,
                    .xdot = self->xdot,
                    .v_limited = v_limited,
                    .a0 = 1.0,
                    .is_mass_only = true,
                    .f = bhat,
                    .J = self->work_J};
  const point algebraic = {.x = x, .xdot = self->xdot, .v_limited = v_limited, .J = self->work_J};
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    evaluate_stamp(self, e, self->stamps[e].is_dynamic ? &at : &algebraic);
  }
  for (uint32_t k = 0; k < self->ahat_nnz; k++) {
    // rows of A and Phi_x out of the pattern of J
    Ahat[k] = self->work_J[self->j_of_ahat[k]];
  }

  // Phi_t
  // d/dt of V - V_fixed
  for (uint32_t i = 0; i < self->n_fixed; i++) {
    bhat[i] = -self->signals->node_rate[self->fixed_nodes[i]];
  }
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    const yoke_stamp* stamp = &self->stamps[e];
    if (stamp->kind == YOKE_STAMP_LINEAR && !stamp->is_dynamic) {
      const double rate =
          stamp->law != NULL ? law_rate(self, stamp->law, x) : self->signals->element_rate[e];
      // F w_t
      bhat[stamp->row] = factor_of(stamp, x, self->xdot) * rate;
    }
  }
}

// d(value)/d(input)
static double value_slope(const yoke_equations* self, const yoke_circuit_value* value,
                          const double x[], uint32_t input) {
  double gradient[YOKE_EXPRESSION_MAX_LIVE];
  double slope = 0.0;
  if (value->law == NULL) {
    return 0.0;
  }
  yoke__signals_law(self->signals, value->law, x, gradient);
  for (uint32_t i = 0; i < value->law->n_live; i++) {
    const yoke_live* live = &value->law->live[i];
    if (live->kind == YOKE_LIVE_INPUT && live->index == input) {
      slope += gradient[i];
    }
  }
  return slope;
}

// A changed inductance moves the mutual ones in its own row and in those of its partners.
static void add_mutual_slope(const yoke_equations* self, uint32_t e, double slope, const double x[],
                             double f_u[]) {
  const yoke_stamp* stamp = &self->stamps[e];
  const double value = yoke__stamp_value(self, stamp, e, x, NULL);
  for (uint32_t i = 0; i < stamp->n_couplings; i++) {
    const yoke_coupling_stamp* coupling = &stamp->couplings[i];
    const yoke_stamp* other = &self->stamps[coupling->other];
    const double other_value = yoke__stamp_value(self, other, coupling->other, x, NULL);
    // dM = M / 2 dL / L = k sqrt(L_o / L) dL / 2
    const double dM = 0.5 * coupling->k * sqrt(other_value / value) * slope;
    f_u[stamp->row] -= dM * self->xdot[other->i];
    f_u[other->row] -= dM * self->xdot[stamp->i];
  }
}

void yoke__equations_input(yoke_equations* self, const double x[], double a0, const double c[],
                           uint32_t input, double f_u[]) {
  memset(f_u, 0, self->n * sizeof(double));
  for (uint32_t j = 0; j < self->n; j++) {
    self->xdot[j] = c != NULL ? a0 * x[j] + c[j] : a0 * x[j];
  }
  for (uint32_t i = 0; i < self->n_fixed; i++) {
    const yoke_network_node* node = &self->network->nodes[self->fixed_nodes[i]];
    f_u[i] = -value_slope(self, &node->fixed, x, input);
  }
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    const yoke_stamp* stamp = &self->stamps[e];
    if (stamp->kind != YOKE_STAMP_LINEAR) {
      continue;
    }
    const double slope = value_slope(self, &self->network->elements[e].value, x, input);
    if (slope != 0.0) {
      // F w_u
      f_u[stamp->row] += factor_of(stamp, x, self->xdot) * slope;
      add_mutual_slope(self, e, slope, x, f_u);
    }
  }
}
