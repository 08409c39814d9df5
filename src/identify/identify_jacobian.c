// Interface Jacobians from state spaces, their discretisation, and the rule that refuses them.
//
//   continuous states   Jy = C A C+,  Ju = C B - Jy D,  Jd = D
//   discrete states     Sy = C A C+,  S0 = -Sy D,       S1 = C B + D
//   input held          Sy = exp(Jy T),  S0 = -Sy Jd,  S1 = Sy Jd + T phi1(Jy T) Ju
//
// with phi1(Z) = (e^Z - 1) Z^-1, phi2(Z) = (e^Z - 1 - Z) Z^-2, all three from one exponential:
//
//   exp [ Z I 0 ]   [ e^Z phi1 phi2 ]
//       [ 0 0 I ] = [  0    I    I  ]
//       [ 0 0 0 ]   [  0    0    I  ]
//
// The input matrices stay outside of the exponential: in it a large one would be scaled and squared
// more often than Z needs, at the cost of digits. For the same reason Z is balanced first.
// Source: doctoral thesis on model-based pre-step stabilisation (Graz 2020), (2.12) to (2.20) and
// (2.44) to (2.47), phi_C in time since the start of the step; the functions phi: C. Van Loan,
// Computing integrals involving the matrix exponential, IEEE Trans. Autom. Control 23 (1978)
// 395-404.
//
// Assumes that C and D change slowly against the step: their derivatives are left out.
#include "identify/identify_jacobian.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_dense.h"
#include "linalg/linalg_scale.h"

// ---- from states

size_t yoke__jacobian_states_work_size(const yoke_identify_states* unit) {
  const size_t n = unit->n, n_states = unit->n_states;
  return 2 * n * n_states + n * unit->m + yoke__pseudo_inverse_work_size(n, n_states);
}

// Y := C A C_before+
static yoke_status transition_of_outputs(const yoke_identify_states* unit, const double C_before[],
                                         double Y[], size_t* rank, double work[]) {
  const size_t n = unit->n, n_states = unit->n_states;
  double *inverse = work, *CA = inverse + n * n_states, *rest = CA + n * n_states;

  // y = C x, so that x = C+ y as far as the outputs tell: Y = C A C+
  YOKE_TRY(yoke__pseudo_inverse(n, n_states, C_before, YOKE_JACOBIAN_DROP, inverse, rank, rest));
  yoke__mat_mul(n, n_states, n_states, unit->C, unit->A, CA);
  yoke__mat_mul(n, n_states, n, CA, inverse, Y);
  return YOKE_OK;
}

yoke_status yoke__jacobian_of_states(const yoke_identify_states* unit, yoke_jacobian_continuous* to,
                                     size_t* rank, double work[]) {
  const size_t n = unit->n, m = unit->m;
  YOKE_TRY(transition_of_outputs(unit, unit->C, to->Jy, rank, work));
  double* JyD = work;

  // Ju = C B - Jy D
  yoke__mat_mul(n, n, m, to->Jy, unit->D, JyD);
  yoke__mat_mul(n, unit->n_states, m, unit->C, unit->B, to->Ju);
  for (size_t i = 0; i < n * m; i++) {
    to->Ju[i] -= JyD[i];
    to->Jd[i] = unit->D[i];
  }
  return YOKE_OK;
}

yoke_status yoke__jacobian_of_discrete_states(const yoke_identify_states* unit,
                                              const double C_before[], const double D_before[],
                                              yoke_jacobian_discrete* to, size_t* rank,
                                              double work[]) {
  const size_t n = unit->n, m = unit->m;
  const double* Cb = C_before == NULL ? unit->C : C_before;
  const double* Db = D_before == NULL ? unit->D : D_before;
  YOKE_TRY(transition_of_outputs(unit, Cb, to->Sy, rank, work));

  // S0 = -Sy D, S1 = C B + D
  yoke__mat_mul(n, n, m, to->Sy, Db, to->S0);
  yoke__mat_mul(n, unit->n_states, m, unit->C, unit->B, to->S1);
  for (size_t i = 0; i < n * m; i++) {
    to->S0[i] = 0.0 - to->S0[i];  // no -0
    to->S1[i] += unit->D[i];
  }
  return YOKE_OK;
}

// ---- over one step

// n x n matrices in the work space, and n powers of two
typedef struct step_space {
  double *Z, *exponential, *phi1, *phi2, *product;
  double* scale;
  double* rest;
} step_space;

static step_space space_of(size_t n, double work[]) {
  const size_t nn = n * n;
  return (step_space){work,          work + nn,     work + 2 * nn,    work + 3 * nn,
                      work + 4 * nn, work + 5 * nn, work + 5 * nn + n};
}

size_t yoke__jacobian_hold_work_size(size_t n) {
  // five n x n matrices, n scales, and the exponential of 3 n x 3 n
  return 5 * n * n + n + 9 * n * n + yoke__expm_work_size(3 * n);
}

// Z := D^-1 (Jy T) D. Without it metres beside newtons make the exponential scale and square until digits are gone.
static void balance(size_t n, const double Jy[], double step, const step_space* to) {
  for (size_t i = 0; i < n * n; i++) {
    to->Z[i] = Jy[i] * step;
  }
  yoke__scale_find(n, to->Z, YOKE_SCALE_BY_GAIN, to->scale);
  yoke__scale_apply(n, to->scale, to->Z);
}

static void unbalance_all(size_t n, const step_space* f) {
  yoke__scale_undo(n, f->scale, f->exponential);
  yoke__scale_undo(n, f->scale, f->phi1);
  yoke__scale_undo(n, f->scale, f->phi2);
}

// exp(Z), phi1(Z) and phi2(Z) of Z = Jy T.
static yoke_status exponentials_of(size_t n, const double Jy[], double step, const step_space* to,
                                   size_t pivots[]) {
  const size_t size = 3 * n;
  double *E = to->rest, *rest = E + size * size;
  balance(n, Jy, step, to);

  // [Z I 0; 0 0 I; 0 0 0]
  memset(E, 0, size * size * sizeof *E);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      E[i * size + j] = to->Z[i * n + j];
    }
    E[i * size + n + i] = 1.0;
    E[(n + i) * size + 2 * n + i] = 1.0;
  }
  YOKE_TRY(yoke__expm_in(size, E, E, rest, pivots));

  // first block row of the exponential: e^Z, phi1(Z), phi2(Z)
  for (size_t i = 0; i < n; i++) {
    memcpy(to->exponential + i * n, E + i * size, n * sizeof *E);
    memcpy(to->phi1 + i * n, E + i * size + n, n * sizeof *E);
    memcpy(to->phi2 + i * n, E + i * size + 2 * n, n * sizeof *E);
  }
  unbalance_all(n, to);
  return YOKE_OK;
}

static void assemble_hold(const yoke_jacobian_continuous* from, double step, const step_space* f,
                          yoke_jacobian_discrete* to) {
  const size_t n = from->n, m = from->m;
  memcpy(to->Sy, f->exponential, n * n * sizeof *to->Sy);

  // S0 = -Sy Jd, S1 = Sy Jd + T phi1 Ju
  yoke__mat_mul(n, n, m, f->exponential, from->Jd, to->S0);
  yoke__mat_mul(n, n, m, f->phi1, from->Ju, to->S1);
  for (size_t i = 0; i < n * m; i++) {
    to->S1[i] = to->S0[i] + step * to->S1[i];
    to->S0[i] = 0.0 - to->S0[i];  // no -0
  }
}

static void assemble_phi(const yoke_jacobian_continuous* from, double step, const step_space* f,
                         yoke_jacobian_phi* to) {
  const size_t n = from->n, m = from->m;
  memcpy(to->A, f->exponential, n * n * sizeof *to->A);

  // T phi1 Ju, T^2 phi2 Ju, T phi1 Jd
  yoke__mat_mul(n, n, m, f->phi1, from->Ju, to->B);
  yoke__mat_mul(n, n, m, f->phi2, from->Ju, to->C);
  yoke__mat_mul(n, n, m, f->phi1, from->Jd, to->D);
  for (size_t i = 0; i < n * m; i++) {
    to->B[i] *= step;
    to->C[i] *= step * step;
    to->D[i] *= step;
  }
}

yoke_status yoke__jacobian_hold(const yoke_jacobian_continuous* from, double step,
                                yoke_jacobian_discrete* to, double work[], size_t pivots[]) {
  const step_space f = space_of(from->n, work);
  YOKE_TRY(exponentials_of(from->n, from->Jy, step, &f, pivots));
  assemble_hold(from, step, &f, to);
  return YOKE_OK;
}

yoke_status yoke__jacobian_phi_of(const yoke_jacobian_continuous* from, double step,
                                  yoke_jacobian_phi* to, double work[], size_t pivots[]) {
  const step_space f = space_of(from->n, work);
  YOKE_TRY(exponentials_of(from->n, from->Jy, step, &f, pivots));
  assemble_phi(from, step, &f, to);
  return YOKE_OK;
}

void yoke__jacobian_predict(const yoke_jacobian_discrete* model, const double y_before[],
                            const double u_before[], const double u_now[], double y_bar[]) {
  const size_t n = model->n, m = model->m;

  // y_bar = Sy y + S0 u_before + S1 u_now
  for (size_t i = 0; i < n; i++) {
    double own = 0, before = 0, now = 0;
    for (size_t j = 0; j < n; j++) {
      own += model->Sy[i * n + j] * y_before[j];
    }
    for (size_t j = 0; j < m; j++) {
      before += model->S0[i * m + j] * u_before[j];
      now += model->S1[i * m + j] * u_now[j];
    }
    y_bar[i] = own + before + now;
  }
}

// ---- the rule for provided Jacobians

yoke_status yoke__jacobian_check_rank(const yoke_identify_states* unit, const char* name,
                                      yoke_jacobian_sight* sight, size_t* rank,
                                      const yoke_sink* sink) {
  const size_t n = unit->n, n_states = unit->n_states;
  size_t found = 0;
  *sight = YOKE_JACOBIAN_PART_TWICE;
  double* memory =
      calloc(n * n_states + yoke__pseudo_inverse_work_size(n, n_states) + 1, sizeof *memory);
  if (memory == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "%s", yoke_status_text(YOKE_NO_MEMORY));
  }
  const yoke_status status = yoke__pseudo_inverse(n, n_states, unit->C, YOKE_JACOBIAN_DROP, memory,
                                                  &found, memory + n * n_states);
  free(memory);
  if (status < 0) {
    const yoke_message message = {.severity = YOKE_ERROR,
                                  .status = status,
                                  .unit = name,
                                  .time = (double)NAN,
                                  .text = "its output matrix is not finite"};
    yoke_send(sink, &message);
    return status;
  }
  if (rank != NULL) {
    *rank = found;
  }

  // rank against states and outputs: all states seen, and no output that follows from others
  *sight = found == n_states ? (found == n ? YOKE_JACOBIAN_ALL : YOKE_JACOBIAN_ALL_TWICE)
           : found == n      ? YOKE_JACOBIAN_PART
                             : YOKE_JACOBIAN_PART_TWICE;
  if (*sight != YOKE_JACOBIAN_ALL) {
    char text[256];
    snprintf(text, sizeof text,
             "it has %zu states, %zu outputs and an output matrix of rank %zu: %s (all three would "
             "have to be equal)",
             n_states, n, found,
             found == n_states ? "its outputs depend on each other"
                               : "its own derivatives leave dynamics out");
    const yoke_message note = {
        .severity = YOKE_NOTE, .unit = name, .time = (double)NAN, .text = text};
    yoke_send(sink, &note);
  }
  return YOKE_OK;
}

// The matrices of the whole cluster: p outputs, s inputs.
typedef struct cluster {
  size_t p, s;
  double *K, *loop, *column, *re, *im;
  size_t* pivots;
} cluster;

static yoke_status open_cluster(size_t n_units, const yoke_jacobian_continuous units[],
                                cluster* c) {
  *c = (cluster){0};
  for (size_t i = 0; i < n_units; i++) {
    c->p += units[i].n;
    c->s += units[i].m;
  }
  c->K = calloc(2 * c->p * c->p + 3 * c->p + 1, sizeof *c->K);
  c->pivots = calloc(c->p + 1, sizeof *c->pivots);
  YOKE_TRY_MEMORY(c->K && c->pivots);
  c->loop = c->K + c->p * c->p;
  c->column = c->loop + c->p * c->p;
  c->re = c->column + c->p;
  c->im = c->re + c->p;
  return YOKE_OK;
}

// row := row + sum over the inputs of this unit of J[j] L[j]
static void add_row(const cluster* c, const double J[], size_t m, const double L[], double sign,
                    double row[]) {
  for (size_t j = 0; j < m; j++) {
    for (size_t e = 0; e < c->p; e++) {
      row[e] += sign * J[j] * L[j * c->p + e];
    }
  }
}

// K := Jy + Ju L and loop := I - Jd L, then K := loop^-1 K.
static yoke_status couple_ideally(size_t n_units, const yoke_jacobian_continuous units[],
                                  const double L[], cluster* c) {
  size_t row = 0, input = 0;
  for (size_t i = 0; i < n_units; i++) {
    const yoke_jacobian_continuous* unit = &units[i];
    for (size_t l = 0; l < unit->n; l++) {
      // row of Jy + Ju L, and of I - Jd L
      double *k = c->K + (row + l) * c->p, *loop = c->loop + (row + l) * c->p;
      memcpy(k + row, unit->Jy + l * unit->n, unit->n * sizeof *k);
      loop[row + l] = 1.0;
      add_row(c, unit->Ju + l * unit->m, unit->m, L + input * c->p, 1.0, k);
      add_row(c, unit->Jd + l * unit->m, unit->m, L + input * c->p, -1.0, loop);
    }
    row += unit->n;
    input += unit->m;
  }

  // (I - Jd L)^-1 (Jy + Ju L), column by column
  YOKE_TRY(yoke__lu_factor(c->p, c->loop, c->pivots));
  for (size_t j = 0; j < c->p; j++) {
    for (size_t i = 0; i < c->p; i++) {
      c->column[i] = c->K[i * c->p + j];
    }
    yoke__lu_solve(c->p, c->loop, c->pivots, c->column);
    for (size_t i = 0; i < c->p; i++) {
      c->K[i * c->p + j] = c->column[i];
    }
  }
  return YOKE_OK;
}

// The largest real part; *size is the largest |eigenvalue|.
static double growth_of(const cluster* c, double* size) {
  double growth = -(double)INFINITY;
  *size = 0.0;
  for (size_t i = 0; i < c->p; i++) {
    // spectral abscissa [1/s]
    growth = fmax(growth, c->re[i]);
    *size = fmax(*size, hypot(c->re[i], c->im[i]));
  }
  return growth;
}

static yoke_status judge_growth(const cluster* c, double* growth, const yoke_sink* sink) {
  double size = 0.0;
  const double most = growth_of(c, &size);
  if (growth != NULL) {
    *growth = most;
  }
  // eigenvalues at 0 (a free body) come out at round-off of the largest one
  if (most > 1e-10 * size) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "the coupled surrogate of the units' own derivatives grows with %.3g 1/s: "
                     "they would destabilise the coupling; use identified ones",
                     most);
  }
  return YOKE_OK;
}

yoke_status yoke__jacobian_check_growth(size_t n_units, const yoke_jacobian_continuous units[],
                                        const double L[], double* growth, const yoke_sink* sink) {
  cluster c;
  yoke_status status = open_cluster(n_units, units, &c);
  if (status >= 0) {
    status = couple_ideally(n_units, units, L, &c);
  }
  if (status >= 0) {
    status = yoke__eigenvalues(c.p, c.K, c.re, c.im);
  }
  if (status < 0) {
    yoke_fail(sink, status, "%s",
              status == YOKE_SINGULAR
                  ? "the direct feedthroughs of the units close an algebraic loop"
                  : yoke_status_text(status));
  } else {
    status = judge_growth(&c, growth, sink);
  }
  free(c.K);
  free(c.pivots);
  return status;
}
