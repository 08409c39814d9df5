// Linear state space whose sizes are structural parameters: x += h (A x + B u), y = C x + D u, one Euler step per call.
// m inputs, n states, r outputs, each 1 to 8. Matrices lie row by row with the sizes in force; they start as
// A = -I, B = C = I (as far as they reach), D = 0, x0 = 1, and start anew when the sizes change.
#include "skeleton.h"

#include <string.h>

enum { MAX = 8, M = 1, N, R, U, Y, X0, A, B, C, D };

typedef struct values {
  uint64_t m, n, r;
  double u[MAX], y[MAX], x0[MAX], x[MAX];
  double A[MAX * MAX], B[MAX * MAX], C[MAX * MAX], D[MAX * MAX];
  uint64_t shape;  // sizes that the matrices were laid for
} values;

static const fmu_variable variables[] = {
    {M, UINT64, STRUCTURE, offsetof(values, m), 1}, {N, UINT64, STRUCTURE, offsetof(values, n), 1},
    {R, UINT64, STRUCTURE, offsetof(values, r), 1}, {U, REAL, INPUT, offsetof(values, u), MAX},
    {Y, REAL, READ, offsetof(values, y), MAX},      {X0, REAL, START, offsetof(values, x0), MAX},
    {A, REAL, START, offsetof(values, A), MAX},     {B, REAL, START, offsetof(values, B), MAX},
    {C, REAL, START, offsetof(values, C), MAX},     {D, REAL, START, offsetof(values, D), MAX},
};

static bool is_sized(const values* v) {
  return v->m >= 1 && v->m <= MAX && v->n >= 1 && v->n <= MAX && v->r >= 1 && v->r <= MAX;
}

static void lay(double matrix[], uint64_t n_rows, uint64_t n_columns, double diagonal) {
  memset(matrix, 0, sizeof(double) * MAX * MAX);
  for (uint64_t i = 0; i < n_rows && i < n_columns; i++) {
    matrix[i * n_columns + i] = diagonal;
  }
}

static uint64_t shape_of(const values* v) {
  return v->m << 16 | v->n << 8 | v->r;
}

static void lay_all(values* v) {
  v->shape = shape_of(v);
  lay(v->A, v->n, v->n, -1.0);
  lay(v->B, v->n, v->m, 1.0);
  lay(v->C, v->r, v->n, 1.0);
  lay(v->D, v->r, v->m, 0.0);
  for (int i = 0; i < MAX; i++) {
    v->x0[i] = 1.0;
  }
}

// New sizes: the first look at anything lays the matrices again.
static void settle(values* v) {
  if (is_sized(v) && v->shape != shape_of(v)) {
    lay_all(v);
  }
}

// Elements of a variable; 0 while the sizes make no sense.
static size_t elements(const fmu* m, const fmu_variable* variable) {
  values* v = m->values;
  settle(v);
  const uint64_t counts[] = {
      [U] = v->m,        [Y] = v->r,        [X0] = v->n,      [A] = v->n * v->n,
      [B] = v->n * v->m, [C] = v->r * v->n, [D] = v->r * v->m};
  return is_sized(v) ? (size_t)counts[variable->reference] : 0;
}

static void start(fmu* m) {
  values* v = m->values;
  v->m = v->n = v->r = 3;
  lay_all(v);
}

// out = P a + Q b, sizes n_out x n_a and n_out x n_b.
static void combine(const double P[], const double a[], uint64_t n_a, const double Q[],
                    const double b[], uint64_t n_b, double out[], uint64_t n_out) {
  for (uint64_t i = 0; i < n_out; i++) {
    double sum = 0.0;
    for (uint64_t j = 0; j < n_a; j++) {
      sum += P[i * n_a + j] * a[j];
    }
    for (uint64_t j = 0; j < n_b; j++) {
      sum += Q[i * n_b + j] * b[j];
    }
    out[i] = sum;
  }
}

static void outputs(fmu* m) {
  values* v = m->values;
  if (!is_sized(v)) {
    return;
  }
  settle(v);
  const double* x = m->mode == INITIALISATION || m->mode == INSTANTIATED ? v->x0 : v->x;
  combine(v->C, x, v->n, v->D, v->u, v->m, v->y, v->r);
}

static int initialise(fmu* m) {
  values* v = m->values;
  if (!is_sized(v)) {
    fmu_log(m, FMU_ERROR, "logStatusError", "m, n and r must be between 1 and 8");
    return FMU_ERROR;
  }
  settle(v);
  memcpy(v->x, v->x0, sizeof v->x);
  return FMU_OK;
}

static int step(fmu* m, double t, double h, fmu_step* result) {
  values* v = m->values;
  double dx[MAX];
  (void)t, (void)result;
  combine(v->A, v->x, v->n, v->B, v->u, v->m, dx, v->n);
  for (uint64_t i = 0; i < v->n; i++) {
    v->x[i] += h * dx[i];
  }
  return FMU_OK;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-arrays",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .start = start,
    .initialise = initialise,
    .outputs = outputs,
    .step = step,
    .elements = elements,
};
