// A linear system from matrices in the system file.
//
//   x' = A x + B u,   y = C x + D u          n states, m inputs, p outputs
//
// with the input held during a call. Solvers, h the internal step:
//   exact        x+ = Ad x + Bd u,  [Ad Bd; 0 I] = exp(h [A B; 0 0])
//   trapezoidal  x+ = Ad x + Bd u,  Ad = (I - h/2 A)^-1 (I + h/2 A),  Bd = (I - h/2 A)^-1 h B
//   euler, rk4   of src/ode
//
// Source of the block exponential: C. F. Van Loan, Computing integrals involving the matrix
// exponential, IEEE Trans. Automat. Contr. 23 (1978) 395-404. Ad and Bd are computed when the
// length of the step changes, in memory taken by create: bounded work, no heap.
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg_dense.h"
#include "models/models_support.h"
#include "models/state_space/state_space.h"
#include "ode/ode.h"

#define COUNT(array)    (sizeof(array) / sizeof((array)[0]))
#define MAX_SIZE        1000     // states, inputs or outputs
#define MAX_NAME        256      // bytes of one name, NUL included
#define MAX_MICRO_STEPS 1000000  // bounds the work of one call

enum { SOLVER_EXACT, SOLVER_EULER, SOLVER_RK4, SOLVER_TRAPEZOIDAL };

static const char* const solver_items[] = {"exact", "euler", "rk4", "trapezoidal", NULL};

typedef struct state_space {
  yoke_model_head head;
  size_t n, m, p;
  double *A, *B, *C, *D;  // in `numbers`
  double *Ad, *Bd;        // of the step h_of and solver_of
  double h_of;            // 0: none yet
  int64_t solver_of;
  double *block, *work;         // (n + m)^2; what expm and the integrators want
  double* numbers;              // everything above in one block
  size_t* pivots;               // n + m
  double *u, *y, *x;            // in `values`
  int64_t solver, micro_steps;  // the image starts here
  double values[];              // u, y, x
} state_space;

// shapes are checked by create
static const yoke_variable structure[] = {
    {.name = "A", .text = "n x n", .type = YOKE_REAL, .causality = YOKE_PARAMETER},
    {.name = "B", .text = "n x m; none: no inputs", .type = YOKE_REAL, .causality = YOKE_PARAMETER},
    {.name = "C", .text = "p x n; none: identity", .type = YOKE_REAL, .causality = YOKE_PARAMETER},
    {.name = "D", .text = "p x m; none: zero", .type = YOKE_REAL, .causality = YOKE_PARAMETER},
    {.name = "x0", .text = "states at the start", .type = YOKE_REAL, .causality = YOKE_PARAMETER},
    {.name = "inputs",
     .text = "names; none: u1, u2, ...",
     .type = YOKE_STRING,
     .causality = YOKE_PARAMETER,
     .max_size = MAX_NAME},
    {.name = "outputs",
     .text = "names; none: y1, y2, ...",
     .type = YOKE_STRING,
     .causality = YOKE_PARAMETER,
     .max_size = MAX_NAME},
    {.name = "states",
     .text = "names; none: x1, x2, ...",
     .type = YOKE_STRING,
     .causality = YOKE_PARAMETER,
     .max_size = MAX_NAME},
};

// ---- settings

// What the settings say, before there is a unit.
typedef struct plan {
  const yoke_argument *A, *B, *C, *D, *x0;
  const yoke_argument* names[3];  // inputs, outputs, states
  size_t n, m, p;
} plan;

// A matrix must have n_rows x n_cols; `as_rows` and `as_cols` name what it has to agree with. A
// flat list (one column) of the right length also stands for a single row.
static yoke_status check_shape(const yoke_argument* matrix, const char* name, size_t n_rows,
                               const char* as_rows, size_t n_cols, const char* as_cols,
                               const yoke_sink* sink) {
  if (n_rows == 1 && matrix->n_cols == 1 && matrix->n_rows == n_cols) {
    return YOKE_OK;
  }
  if (matrix->n_rows != n_rows) {
    return yoke__model_refuse(sink, "%s has %zu row%s, expected %zu as %s", name, matrix->n_rows,
                              matrix->n_rows == 1 ? "" : "s", n_rows, as_rows);
  }
  if (matrix->n_cols != n_cols) {
    return yoke__model_refuse(sink, "%s has %zu column%s, expected %zu as %s", name, matrix->n_cols,
                              matrix->n_cols == 1 ? "" : "s", n_cols, as_cols);
  }
  return YOKE_OK;
}

static yoke_status check_finite(const yoke_argument* matrix, const char* name,
                                const yoke_sink* sink) {
  const double* values = matrix->value;
  for (size_t i = 0; i < yoke__argument_count(matrix); i++) {
    if (!isfinite(values[i])) {
      return yoke__model_refuse(sink, "%s: the value in row %zu, column %zu is not finite", name,
                                i / matrix->n_cols + 1, i % matrix->n_cols + 1);
    }
  }
  return YOKE_OK;
}

// n, m, p and agreement of the matrices.
static yoke_status plan_matrices(plan* s, const yoke_sink* sink) {
  if (s->A == NULL) {
    return yoke__model_refuse(sink, "A is missing: expected a square matrix");
  }
  s->n = s->A->n_rows;
  if (s->n == 0 || s->A->n_cols != s->n) {
    return yoke__model_refuse(sink, "A is %zu x %zu, expected a square matrix", s->n, s->A->n_cols);
  }

  // a flat list is one column of B, but one row when there is only one state; C is always p x n
  const bool is_row_b = s->B != NULL && s->n == 1 && s->B->n_cols == 1;
  const bool is_row_c = s->C != NULL && s->n > 1 && s->C->n_cols == 1 && s->C->n_rows == s->n;
  s->m = s->B == NULL ? 0 : (is_row_b ? s->B->n_rows : s->B->n_cols);
  s->p = s->C == NULL ? s->n : (is_row_c ? 1 : s->C->n_rows);
  if (s->n > MAX_SIZE || s->m > MAX_SIZE || s->p > MAX_SIZE) {
    return yoke__model_refuse(sink, "more than %d states, inputs or outputs", MAX_SIZE);
  }
  const struct {
    const yoke_argument* matrix;
    const char* name;
    size_t n_rows;
    const char* as_rows;
    size_t n_cols;
    const char* as_cols;
  } all[] = {
      {s->A, "A", s->n, "A", s->n, "A"},
      {s->B, "B", s->n, "A", s->m, "B"},
      {s->C, "C", s->p, "C", s->n, "A"},
      {s->D, "D", s->p, s->C != NULL ? "C" : "A", s->m, s->B != NULL ? "B" : "there is no B"},
      {s->x0, "x0", s->n, "A", 1, "a list"},
  };
  for (size_t i = 0; i < COUNT(all); i++) {
    if (all[i].matrix != NULL) {
      YOKE_TRY(check_shape(all[i].matrix, all[i].name, all[i].n_rows, all[i].as_rows, all[i].n_cols,
                           all[i].as_cols, sink));
      YOKE_TRY(check_finite(all[i].matrix, all[i].name, sink));
    }
  }
  return YOKE_OK;
}

static yoke_status plan_names(const plan* s, const yoke_sink* sink) {
  static const char* const lists[] = {"inputs", "outputs", "states"};
  const size_t counts[] = {s->m, s->p, s->n};
  for (size_t i = 0; i < 3; i++) {
    if (s->names[i] != NULL && yoke__argument_count(s->names[i]) != counts[i]) {
      return yoke__model_refuse(sink, "%s has %zu name%s, expected %zu%s", lists[i],
                                yoke__argument_count(s->names[i]),
                                yoke__argument_count(s->names[i]) == 1 ? "" : "s", counts[i],
                                i == 0 && s->B == NULL ? " because there is no B" : "");
    }
    const char* const* texts = s->names[i] != NULL ? s->names[i]->value : NULL;
    for (size_t j = 0; texts != NULL && j < counts[i]; j++) {
      if (texts[j][0] == '\0' || strlen(texts[j]) >= MAX_NAME) {
        return yoke__model_refuse(sink, "%s: name %zu is empty or longer than %d bytes", lists[i],
                                  j + 1, MAX_NAME - 1);
      }
    }
  }
  return YOKE_OK;
}

static yoke_status plan_read(const yoke_unit_args* args, plan* s, const yoke_sink* sink) {
  *s = (plan){
      .A = yoke__model_argument(args, "A"),
      .B = yoke__model_argument(args, "B"),
      .C = yoke__model_argument(args, "C"),
      .D = yoke__model_argument(args, "D"),
      .x0 = yoke__model_argument(args, "x0"),
      .names = {yoke__model_argument(args, "inputs"), yoke__model_argument(args, "outputs"),
                yoke__model_argument(args, "states")},
  };
  YOKE_TRY(plan_matrices(s, sink));
  return plan_names(s, sink);
}

// ---- creation

static void state_space_close(void* self) {
  state_space* s = self;
  if (s != NULL) {
    free(s->numbers);
    free(s->pivots);
    yoke__model_close(s);
  }
}

static size_t count_feedthrough(const plan* s) {
  size_t count = 0;
  const double* D = s->D != NULL ? s->D->value : NULL;
  for (size_t i = 0; D != NULL && i < s->p * s->m; i++) {
    count += D[i] != 0.0;
  }
  return count;
}

static size_t names_size(const plan* s) {
  size_t size = 8 * (s->m + s->p + s->n);  // "u1000" and its like
  const size_t counts[] = {s->m, s->p, s->n};
  for (size_t i = 0; i < 3; i++) {
    const char* const* texts = s->names[i] != NULL ? s->names[i]->value : NULL;
    for (size_t j = 0; texts != NULL && j < counts[i]; j++) {
      size += strlen(texts[j]) + 1;
    }
  }
  return size;
}

// All memory of the numbers in one block; sizes are bounded by MAX_SIZE.
static yoke_status lay_numbers(state_space* s) {
  const size_t n = s->n, m = s->m, p = s->p, nm = n + m;
  size_t n_work = yoke__expm_work_size(nm);
  const size_t n_ode = yoke__ode_work_size(YOKE_ODE_RK4, n);
  n_work = n_work > n_ode ? n_work : n_ode;

  // sizes in the order of the members below
  const size_t sizes[] = {n * n, n * m, p * n, p * m, n * n, n * m, nm * nm, n_work};
  double** const members[] = {&s->A, &s->B, &s->C, &s->D, &s->Ad, &s->Bd, &s->block, &s->work};
  size_t total = 0;
  for (size_t i = 0; i < COUNT(sizes); i++) {
    total += sizes[i];
  }
  s->numbers = calloc(total, sizeof *s->numbers);
  s->pivots = calloc(nm, sizeof *s->pivots);
  if (s->numbers == NULL || s->pivots == NULL) {
    return YOKE_NO_MEMORY;
  }
  double* at = s->numbers;
  for (size_t i = 0; i < COUNT(sizes); i++) {
    *members[i] = at;
    at += sizes[i];
  }
  s->u = s->values;
  s->y = s->u + m;
  s->x = s->y + p;
  return YOKE_OK;
}

static void copy_matrix(const yoke_argument* from, double to[]) {
  if (from != NULL) {
    memcpy(to, from->value, yoke__argument_count(from) * sizeof *to);
  }
}

static void fill_numbers(state_space* s, const plan* settings) {
  copy_matrix(settings->A, s->A);
  copy_matrix(settings->B, s->B);
  copy_matrix(settings->C, s->C);
  copy_matrix(settings->D, s->D);
  copy_matrix(settings->x0, s->x);

  // without C the states are the outputs
  for (size_t i = 0; settings->C == NULL && i < s->n; i++) {
    s->C[i * s->n + i] = 1.0;
  }
  s->micro_steps = 1;
}

// One group of real variables, from `first` on, that lie one after another in `values`.
static yoke_status describe_group(state_space* s, size_t first, size_t count,
                                  const yoke_argument* names, const char* letter,
                                  yoke_causality causality) {
  const char* const* texts = names != NULL ? names->value : NULL;
  for (size_t i = 0; i < count; i++) {
    yoke_variable* v = &s->head.variables[first + i];
    *v = (yoke_variable){
        .name = texts != NULL ? yoke__model_name(&s->head, "%s", texts[i])
                              : yoke__model_name(&s->head, "%s%zu", letter, i + 1),
        .type = YOKE_REAL,
        .causality = causality,
        .start = causality == YOKE_STATE ? s->x[i] : 0.0,
        .offset = offsetof(state_space, values) + (first + i) * sizeof(double),
    };
    if (v->name == NULL) {
      return YOKE_NO_MEMORY;
    }
  }
  return YOKE_OK;
}

static yoke_status describe_all(state_space* s, const plan* settings) {
  const size_t m = s->m, p = s->p, n = s->n;
  YOKE_TRY(describe_group(s, 0, m, settings->names[0], "u", YOKE_INPUT));
  YOKE_TRY(describe_group(s, m, p, settings->names[1], "y", YOKE_OUTPUT));
  YOKE_TRY(describe_group(s, m + p, n, settings->names[2], "x", YOKE_STATE));
  s->head.variables[m + p + n] = (yoke_variable){
      .name = "solver",
      .text = "integration method",
      .type = YOKE_ENUMERATION,
      .causality = YOKE_PARAMETER,
      .start = SOLVER_EXACT,
      .items = solver_items,
      .offset = offsetof(state_space, solver),
  };
  s->head.variables[m + p + n + 1] = (yoke_variable){
      .name = "micro_steps",
      .text = "internal steps per call",
      .type = YOKE_INTEGER,
      .causality = YOKE_PARAMETER,
      .start = 1.0,
      .offset = offsetof(state_space, micro_steps),
  };
  s->head.info.flags |= YOKE_UNIT_LINEAR;
  s->head.info.solver = (yoke_unit_solver){
      .choice = m + p + n + 1,
      .parts = m + p + n + 2,
      .methods = {YOKE_SOLVER_EXACT, YOKE_SOLVER_EULER, YOKE_SOLVER_RK4, YOKE_SOLVER_TRAPEZOIDAL},
  };
  size_t at = 0;

  // y_i depends on u_j at once where D_ij is not 0
  for (size_t i = 0; i < p * m; i++) {
    if (s->D[i] != 0.0) {
      s->head.feedthrough[at++] = (yoke_feedthrough){m + i / m, i % m};
    }
  }
  return YOKE_OK;
}

static const char* const group_words[] = {"an input", "an output", "a state", "a parameter"};

static const char* word_of(const state_space* s, size_t variable) {
  const size_t ends[] = {s->m, s->m + s->p, s->m + s->p + s->n};
  size_t group = 0;
  while (group < 3 && variable >= ends[group]) {
    group++;
  }
  return group_words[group];
}

static int compare_texts(const void* a, const void* b) {
  return strcmp(*(const char* const*)a, *(const char* const*)b);
}

// The message names both uses of a name.
static yoke_status refuse_name(const state_space* s, const char* name, const yoke_sink* sink) {
  size_t uses[2] = {0, 0}, n_uses = 0;
  for (size_t i = 0; i < s->head.info.n_variables && n_uses < 2; i++) {
    if (strcmp(s->head.variables[i].name, name) == 0) {
      uses[n_uses++] = i;
    }
  }
  return yoke__model_refuse(sink,
                            "the name '%s' is used for %s and for %s; choose others with "
                            "'inputs', 'outputs' or 'states'",
                            name, word_of(s, uses[0]), word_of(s, uses[1]));
}

// Two variables of one name: sorted, they are neighbours.
static yoke_status check_unique(const state_space* s, const yoke_sink* sink) {
  const size_t count = s->head.info.n_variables;
  const char** names = malloc(count * sizeof *names);
  if (names == NULL) {
    return yoke__model_no_memory(sink);
  }
  for (size_t i = 0; i < count; i++) {
    names[i] = s->head.variables[i].name;
  }
  qsort(names, count, sizeof *names, compare_texts);
  yoke_status status = YOKE_OK;
  for (size_t i = 1; i < count && status == YOKE_OK; i++) {
    if (strcmp(names[i - 1], names[i]) == 0) {
      status = refuse_name(s, names[i], sink);
    }
  }
  free((void*)names);
  return status;
}

static yoke_status state_space_create(const yoke_unit_args* args, void** self,
                                      const yoke_sink* sink) {
  plan settings;
  YOKE_TRY(plan_read(args, &settings, sink));
  const size_t n_values = settings.m + settings.p + settings.n;
  state_space* s = yoke__model_make(sizeof(state_space) + n_values * sizeof(double),
                                    offsetof(state_space, solver), n_values + 2,
                                    count_feedthrough(&settings), names_size(&settings));
  if (s == NULL) {
    return yoke__model_no_memory(sink);
  }
  s->n = settings.n;
  s->m = settings.m;
  s->p = settings.p;
  yoke_status status = lay_numbers(s);
  if (status == YOKE_OK) {
    fill_numbers(s, &settings);
    status = describe_all(s, &settings);
  }
  if (status == YOKE_OK) {
    status = check_unique(s, sink);
  } else {
    status = yoke__model_no_memory(sink);
  }
  if (status < 0) {
    state_space_close(s);
    return status;
  }
  *self = s;
  return YOKE_OK;
}

static yoke_status state_space_enter_init(void* self, double t_start, double t_stop,
                                          const yoke_sink* sink) {
  const state_space* s = self;
  (void)t_start;
  (void)t_stop;
  if (s->micro_steps < 1 || s->micro_steps > MAX_MICRO_STEPS) {
    return yoke__model_refuse(sink, "micro_steps is %lld, expected 1 to %d",
                              (long long)s->micro_steps, MAX_MICRO_STEPS);
  }
  return YOKE_OK;
}

// ---- discretisation

// Ad, Bd from the exponential of h [A B; 0 0]. Column j of B enters divided by a power of two, so
// that a large B does not force more squarings than A needs; the same factor goes back into Bd.
static yoke_status discretise_exact(state_space* s, double h) {
  const size_t n = s->n, m = s->m, nm = n + m;
  double norm = 0.0;

  // largest entry of h A: what B is brought to
  for (size_t i = 0; i < n * n; i++) {
    norm = fmax(norm, fabs(h * s->A[i]));
  }
  memset(s->block, 0, nm * nm * sizeof *s->block);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      s->block[i * nm + j] = h * s->A[i * n + j];
    }
  }

  // power of two that brings column j of B to the size of h A
  for (size_t j = 0; j < m; j++) {
    double largest = 0.0;
    for (size_t i = 0; i < n; i++) {
      largest = fmax(largest, fabs(h * s->B[i * m + j]));
    }
    int exponent = 0;
    if (largest > fmax(norm, 1.0)) {
      (void)frexp(largest / fmax(norm, 1.0), &exponent);
    }
    for (size_t i = 0; i < n; i++) {
      s->block[i * nm + n + j] = ldexp(h * s->B[i * m + j], -exponent);
    }
    s->Bd[j] = exponent;  // kept in the first row of Bd until it is written
  }
  YOKE_TRY(yoke__expm_in(nm, s->block, s->block, s->work, s->pivots));

  // the scaling of the columns goes back into Bd; powers of two are exact
  for (size_t j = 0; j < m; j++) {
    const int exponent = (int)s->Bd[j];
    for (size_t i = 0; i < n; i++) {
      s->Bd[i * m + j] = ldexp(s->block[i * nm + n + j], exponent);
    }
  }

  // upper left block: Ad
  for (size_t i = 0; i < n; i++) {
    memcpy(s->Ad + i * n, s->block + i * nm, n * sizeof *s->Ad);
  }
  return YOKE_OK;
}

// Ad, Bd of the trapezoidal rule with held input.
static yoke_status discretise_trapezoidal(state_space* s, double h) {
  const size_t n = s->n, m = s->m;
  double *left = s->block, *column = s->work;

  // I - h/2 A
  for (size_t i = 0; i < n * n; i++) {
    const double one = i % (n + 1) == 0 ? 1.0 : 0.0;
    left[i] = one - 0.5 * h * s->A[i];
  }
  YOKE_TRY(yoke__lu_factor(n, left, s->pivots));
  for (size_t j = 0; j < n + m; j++) {
    for (size_t i = 0; i < n; i++) {
      // columns of I + h/2 A, then of h B
      column[i] =
          j < n ? (i == j ? 1.0 : 0.0) + 0.5 * h * s->A[i * n + j] : h * s->B[i * m + j - n];
    }
    yoke__lu_solve(n, left, s->pivots, column);
    for (size_t i = 0; i < n; i++) {
      *(j < n ? &s->Ad[i * n + j] : &s->Bd[i * m + j - n]) = column[i];
    }
  }
  return YOKE_OK;
}

// Ad and Bd for this step, if they are not there already.
static yoke_status discretise(state_space* s, double h, yoke_step_result* result) {
  // matrices of the last step length and solver serve again
  if (h == s->h_of && s->solver == s->solver_of) {
    return YOKE_OK;
  }
  s->h_of = 0.0;
  const yoke_status status =
      s->solver == SOLVER_EXACT ? discretise_exact(s, h) : discretise_trapezoidal(s, h);
  if (status < 0) {
    result->message = status == YOKE_SINGULAR
                          ? "I - h/2 A is singular: the trapezoidal rule cannot make this step"
                          : "exp(h A) is beyond the range of numbers: the step is too long";
    return status;
  }
  s->h_of = h;
  s->solver_of = s->solver;
  return YOKE_OK;
}

// ---- stepping

static void right_hand_side(void* self, double t, const double x[], double dx[]) {
  const state_space* s = self;
  (void)t;

  // A x + B u
  yoke__mat_vec(s->n, s->n, s->A, x, dx);
  yoke__mat_vec_add(s->n, s->m, s->B, s->u, dx);
}

static yoke_status state_space_refresh(void* self, double t) {
  state_space* s = self;
  (void)t;

  // C x + D u
  yoke__mat_vec(s->p, s->n, s->C, s->x, s->y);
  yoke__mat_vec_add(s->p, s->m, s->D, s->u, s->y);
  return YOKE_OK;
}

// x := Ad x + Bd u
static void advance_linear(state_space* s) {
  double* next = s->work;
  yoke__mat_vec(s->n, s->n, s->Ad, s->x, next);
  yoke__mat_vec_add(s->n, s->m, s->Bd, s->u, next);
  memcpy(s->x, next, s->n * sizeof *next);
}

static yoke_status state_space_step(void* self, double t, double h, yoke_step_result* result) {
  state_space* s = self;

  // micro steps change nothing where the solution is exact
  const int64_t count = s->solver == SOLVER_EXACT ? 1 : s->micro_steps;
  const double micro = h / (double)count;
  const bool is_discretised = s->solver == SOLVER_EXACT || s->solver == SOLVER_TRAPEZOIDAL;
  const yoke_ode_method method = s->solver == SOLVER_EULER ? YOKE_ODE_EULER : YOKE_ODE_RK4;
  if (is_discretised) {
    YOKE_TRY(discretise(s, micro, result));
  }
  for (int64_t i = 0; i < count; i++) {
    if (is_discretised) {
      advance_linear(s);
    } else {
      YOKE_TRY(yoke__ode_step(method, right_hand_side, s, t + (double)i * micro, micro, s->n, s->x,
                              s->work, NULL));
    }
  }
  return state_space_refresh(self, t);
}

// ---- derivatives

// outputs with respect to inputs (D) and states (C)
static bool partial(const void* self, size_t unknown, size_t known, double* slope) {
  const state_space* s = self;
  const size_t n = s->n, m = s->m, p = s->p;
  if (unknown < m || unknown >= m + p) {
    return false;
  }
  const size_t row = unknown - m;
  if (known < m) {
    *slope = s->D[row * m + known];
    return true;
  }
  if (known >= m + p && known < m + p + n) {
    *slope = s->C[row * n + known - m - p];
    return true;
  }
  return false;
}

static yoke_status state_space_derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                                          const size_t knowns[], size_t n_knowns,
                                          const double seed[], double out[]) {
  return yoke__model_derivative(self, partial, unknowns, n_unknowns, knowns, n_knowns, seed, out);
}

static yoke_status state_space_linearise(void* self, yoke_linear* model) {
  const state_space* s = self;
  const double* const from[] = {s->A, s->B, s->C, s->D};
  double* const to[] = {model->A, model->B, model->C, model->D};
  const size_t sizes[] = {s->n * s->n, s->n * s->m, s->p * s->n, s->p * s->m};
  model->n_states = s->n;
  model->n_inputs = s->m;
  model->n_outputs = s->p;
  for (size_t i = 0; i < COUNT(from); i++) {
    if (to[i] != NULL && sizes[i] > 0) {
      memcpy(to[i], from[i], sizes[i] * sizeof(double));
    }
  }
  return YOKE_OK;
}

// x' = A x + B u; the states stand behind inputs and outputs
static yoke_status state_space_rates(const void* self, size_t states[], double dx[],
                                     size_t n_states) {
  const state_space* s = self;
  if (n_states != s->n) {
    return YOKE_BAD_ARG;
  }
  for (size_t i = 0; states != NULL && i < s->n; i++) {
    states[i] = s->m + s->p + i;
  }
  if (dx != NULL) {
    yoke__mat_vec(s->n, s->n, s->A, s->x, dx);
    yoke__mat_vec_add(s->n, s->m, s->B, s->u, dx);
  }
  return YOKE_OK;
}

const yoke_unit_ops yoke__model_state_space = {
    .name = "state_space",
    .text = "linear system from matrices A, B, C, D",
    .structure = structure,
    .n_structure = COUNT(structure),
    .create = state_space_create,
    .describe = yoke__model_describe,
    .enter_init = state_space_enter_init,
    .step = state_space_step,
    .refresh = state_space_refresh,
    .save = yoke__model_save,
    .restore = yoke__model_restore,
    .derivative = state_space_derivative,
    .linearise = state_space_linearise,
    .rates = state_space_rates,
    .close = state_space_close,
};
