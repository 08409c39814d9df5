// Linear models in place of units; see study_standin.h.
//
// The step matrix is that of the augmented system z = (x, u, u', u'', u'''), in which each derivative of the input is the
// slope of the one before:
//
//        [ sA  sB              ]                     [ I + d sA   d sB        ]
//   Z =  [      0   I          ]   exact: exp(Z h)   [             1  d  d2/2 ]   explicit Euler: to the power h / d
//        [          0   I      ]                     [                1  d    ]
//
// Only the rows of x are kept.
#include "study/study_standin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_dense.h"
#include "study/study_difference.h"

#define MAX_ORDER 3  // of input derivatives
#define MAX_PARTS 1e9

struct yoke_standin {
  char name[32];
  yoke_unit_ops ops;
  yoke_unit_info info;
  const yoke_unit* unit;  // that it stands for
  const double *A, *B;
  double *C, *D;
  size_t n, m, p;
  size_t n_orders;              // 1 + highest derivative of the inputs
  double micro;                 // of explicit Euler [s]; 0: exact
  double semi_implicit;         // of semi-implicit Euler [s]; 0: another solver
  yoke_difference* difference;  // its calls are tried anew at every scale; NULL: A and B are known

  double scale;                        // s
  double h;                            // E and G are for this; NaN: for none
  double *step, *power, *swap, *work;  // augmented matrices, and room for the exponential
  size_t* pivots;
  double* memory;  // x, u, u', ..., y
  size_t n_memory;
  double *x, *u, *y, *next;
};

// ---- motion

static size_t count_augmented(const yoke_standin* self) {
  return self->n + self->n_orders * self->m;
}

// One internal step of length d into M; Z itself for the exponential if is_exact.
static void fill_step(const yoke_standin* self, bool is_exact, double d, double M[]) {
  const size_t n = self->n, m = self->m, k = count_augmented(self);
  memset(M, 0, k * k * sizeof *M);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      M[i * k + j] = (!is_exact && i == j ? 1 : 0) + d * self->scale * self->A[i * n + j];
    }
    for (size_t j = 0; j < m; j++) {
      M[i * k + n + j] = d * self->scale * self->B[i * m + j];
    }
  }
  for (size_t order = 0; order < self->n_orders; order++) {
    double weight = 1;
    for (size_t next = order + (is_exact ? 1 : 0); next < self->n_orders; next++) {
      weight = next == order ? 1 : weight * d / (double)(next - order);
      for (size_t j = 0; j < m; j++) {
        M[(n + order * m + j) * k + n + next * m + j] = weight;
      }
      if (is_exact) {
        break;
      }
    }
  }
}

// Semi-implicit Euler: a state that follows other states only, as a position follows a speed, takes them at the end of the step.
static void use_new_speeds(yoke_standin* self, double d) {
  const size_t n = self->n, k = count_augmented(self);
  for (size_t i = 0; i < n; i++) {
    bool is_position = self->A[i * n + i] == 0;
    for (size_t j = 0; j < self->m; j++) {
      is_position = is_position && self->B[i * self->m + j] == 0;
    }
    if (!is_position) {
      continue;
    }
    double* row = self->step + i * k;
    memset(row, 0, k * sizeof *row);
    row[i] = 1;
    for (size_t j = 0; j < n; j++) {
      const double a = d * self->scale * self->A[i * n + j];
      for (size_t c = 0; c < k && a != 0; c++) {
        row[c] += a * self->step[j * k + c];
      }
    }
  }
}

// power := step^n
static void raise(yoke_standin* self, int64_t n) {
  const size_t k = count_augmented(self);
  memset(self->power, 0, k * k * sizeof *self->power);
  for (size_t i = 0; i < k; i++) {
    self->power[i * k + i] = 1;
  }
  for (; n > 0; n /= 2) {
    if (n % 2 != 0) {
      yoke__mat_mul(k, k, k, self->power, self->step, self->swap);
      memcpy(self->power, self->swap, k * k * sizeof *self->power);
    }
    yoke__mat_mul(k, k, k, self->step, self->step, self->swap);
    memcpy(self->step, self->swap, k * k * sizeof *self->step);
  }
}

// The unit itself in calls of this length. There is room for more states than it has.
static yoke_status try_calls(yoke_standin* self, double h) {
  const size_t n = self->n, m = self->m, k = count_augmented(self);
  yoke_arena room = {0};
  yoke_linear_unit found = {0};
  yoke_status status = yoke__difference(self->difference, h * self->scale, &room, &found);
  status = status < 0 || found.has_model ? status : YOKE_NO_SUPPORT;
  if (status >= 0) {
    memset(self->power, 0, k * k * sizeof *self->power);
    memset(self->C, 0, self->p * n * sizeof *self->C);
    memcpy(self->D, found.D, self->p * m * sizeof *self->D);
    for (size_t i = 0; i < found.n_states; i++) {
      memcpy(self->power + i * k, found.A + i * found.n_states, found.n_states * sizeof(double));
      memcpy(self->power + i * k + n, found.B + i * m, m * sizeof(double));
    }
    for (size_t i = 0; i < self->p && found.n_states > 0; i++) {
      memcpy(self->C + i * n, found.C + i * found.n_states, found.n_states * sizeof(double));
    }
  }
  yoke__arena_free(&room);
  return status;
}

static yoke_status prepare(yoke_standin* self, double h) {
  self->h = h;
  if (self->difference != NULL) {
    return try_calls(self, h);
  }
  // an internal step keeps its length while the others are scaled
  const double own = self->micro > 0 ? self->micro : self->semi_implicit;
  if (own > 0) {
    const double n = fmin(fmax(floor(h * self->scale / own + 0.5), 1), MAX_PARTS);
    fill_step(self, false, h / n, self->step);
    if (self->semi_implicit > 0) {
      use_new_speeds(self, h / n);
    }
    raise(self, (int64_t)n);
    return YOKE_OK;
  }
  fill_step(self, true, h, self->step);
  return yoke__expm_in(count_augmented(self), self->step, self->power, self->work, self->pivots);
}

static void find_outputs(yoke_standin* self) {
  for (size_t i = 0; i < self->p; i++) {
    double sum = 0;
    for (size_t j = 0; j < self->n; j++) {
      sum += self->C[i * self->n + j] * self->x[j];
    }
    for (size_t j = 0; j < self->m && self->D != NULL; j++) {
      sum += self->D[i * self->m + j] * self->u[j];
    }
    self->y[i] = sum;
  }
}

static yoke_status step(void* memory, double t, double h, yoke_step_result* result) {
  yoke_standin* self = memory;
  const size_t k = count_augmented(self);
  (void)t;
  (void)result;
  if (self->n > 0 && self->h != h) {
    YOKE_TRY(prepare(self, h));
  }
  // x, u, u', ... lie one behind the other
  for (size_t i = 0; i < self->n; i++) {
    double sum = 0;
    for (size_t j = 0; j < k; j++) {
      sum += self->power[i * k + j] * self->x[j];
    }
    self->next[i] = sum;
  }
  memcpy(self->x, self->next, self->n * sizeof *self->x);
  // where the inputs have got to, for the outputs that follow them
  for (size_t order = 1; order < self->n_orders; order++) {
    double weight = 1;
    for (size_t j = 1; j <= order; j++) {
      weight *= h / (double)j;
    }
    for (size_t j = 0; j < self->m; j++) {
      self->u[j] += weight * self->u[order * self->m + j];
    }
  }
  memset(self->u + self->m, 0, (self->n_orders - 1) * self->m * sizeof *self->u);
  find_outputs(self);
  return YOKE_OK;
}

// ---- the rest of the contract

static yoke_status create(const yoke_unit_args* args, void** out, const yoke_sink* sink) {
  // the definition is the instance: nobody else has it
  const void* context = args->context;
  memcpy(out, &context, sizeof *out);
  (void)sink;
  return YOKE_OK;
}

static const yoke_unit_info* describe(const void* memory) {
  return &((const yoke_standin*)memory)->info;
}

static yoke_status set_inputs(void* memory, const double u[], size_t n) {
  memcpy(((yoke_standin*)memory)->u, u, n * sizeof *u);
  return YOKE_OK;
}

static yoke_status get_outputs(const void* memory, double y[], size_t n) {
  memcpy(y, ((const yoke_standin*)memory)->y, n * sizeof *y);
  return YOKE_OK;
}

static yoke_status set_derivatives(void* memory, int order, const double du[], size_t n) {
  yoke_standin* self = memory;
  if (order < 1 || (size_t)order >= self->n_orders) {
    return YOKE_NO_SUPPORT;
  }
  memcpy(self->u + (size_t)order * self->m, du, n * sizeof *du);
  return YOKE_OK;
}

// All variables are real inputs and outputs, each kind in the order of its vector.
static double* value_of(const yoke_standin* self, size_t variable) {
  size_t u = 0, y = 0;
  for (size_t i = 0; i < variable; i++) {
    *(self->info.variables[i].causality == YOKE_INPUT ? &u : &y) +=
        yoke__variable_count(&self->info.variables[i]);
  }
  return self->info.variables[variable].causality == YOKE_INPUT ? self->u + u : self->y + y;
}

static yoke_status set(void* memory, size_t variable, const void* value, size_t size) {
  memcpy(value_of(memory, variable), value, size);
  return YOKE_OK;
}

static yoke_status get(const void* memory, size_t variable, void* value, size_t size) {
  memcpy(value, value_of(memory, variable), size);
  return YOKE_OK;
}

static yoke_status refresh(void* memory, double t) {
  (void)t;
  find_outputs(memory);
  return YOKE_OK;
}

static yoke_status exit_init(void* memory) {
  find_outputs(memory);
  return YOKE_OK;
}

static yoke_status save(const void* memory, void* image, size_t size) {
  memcpy(image, ((const yoke_standin*)memory)->memory, size);
  return YOKE_OK;
}

static yoke_status restore(void* memory, const void* image, size_t size) {
  memcpy(((yoke_standin*)memory)->memory, image, size);
  return YOKE_OK;
}

static yoke_status derivative(void* memory, const size_t unknowns[], size_t n_unknowns,
                              const size_t knowns[], size_t n_knowns, const double seed[],
                              double out[]) {
  const yoke_standin* self = memory;
  for (size_t i = 0; i < n_unknowns; i++) {
    const size_t y = (size_t)(value_of(self, unknowns[i]) - self->y);
    out[i] = 0;
    for (size_t j = 0; j < n_knowns && self->D != NULL; j++) {
      out[i] += self->D[y * self->m + (size_t)(value_of(self, knowns[j]) - self->u)] * seed[j];
    }
  }
  return YOKE_OK;
}

static void copy_scaled(size_t n, const double from[], double by, double to[]) {
  for (size_t i = 0; i < n && to != NULL; i++) {
    to[i] = from == NULL ? 0 : by * from[i];
  }
}

static yoke_status linearise(void* memory, yoke_linear* to) {
  const yoke_standin* self = memory;
  const size_t n = self->n, m = self->m, p = self->p;
  to->n_states = n;
  to->n_inputs = m;
  to->n_outputs = p;
  copy_scaled(n * n, self->A, self->scale, to->A);
  copy_scaled(n * m, self->B, self->scale, to->B);
  copy_scaled(p * n, self->C, 1, to->C);
  copy_scaled(p * m, self->D, 1, to->D);
  return YOKE_OK;
}

static void leave(void* memory) {
  (void)memory;  // it lies in the arena
}

// ---- making one

// The real inputs and outputs of the unit, and its feedthrough between them.
static bool copy_variables(yoke_standin* self, yoke_arena* arena) {
  const yoke_unit_info* from = self->unit->info;
  yoke_variable* variables = yoke__arena_array(arena, from->n_variables + 1, sizeof *variables);
  yoke_feedthrough* pairs = yoke__arena_array(arena, from->n_feedthrough + 1, sizeof *pairs);
  size_t* places = yoke__arena_array(arena, from->n_variables + 1, sizeof *places);
  if (variables == NULL || pairs == NULL || places == NULL) {
    return false;
  }
  size_t n = 0;
  for (size_t i = 0; i < from->n_variables; i++) {
    const yoke_variable* v = &from->variables[i];
    places[i] = YOKE_NOT_FOUND;
    if (v->type != YOKE_REAL || (v->causality != YOKE_INPUT && v->causality != YOKE_OUTPUT)) {
      continue;
    }
    places[i] = n;
    variables[n] = *v;
    variables[n].start = 0;
    variables[n].offset = YOKE_NO_OFFSET;
    variables[n].flags =
        v->causality == YOKE_INPUT
            ? YOKE_VARIABLE_HAS_START
            : v->flags & (YOKE_VARIABLE_FEEDTHROUGH_UNKNOWN | YOKE_VARIABLE_DISCRETE);
    n++;
  }
  size_t n_pairs = 0;
  for (size_t i = 0; i < from->n_feedthrough; i++) {
    const size_t y = places[from->feedthrough[i].output], u = places[from->feedthrough[i].input];
    if (y != YOKE_NOT_FOUND && u != YOKE_NOT_FOUND) {
      pairs[n_pairs++] = (yoke_feedthrough){y, u};
    }
  }
  self->info.variables = variables;
  self->info.n_variables = n;
  self->info.feedthrough = pairs;
  self->info.n_feedthrough = n_pairs;
  return true;
}

static bool layout(yoke_standin* self, yoke_arena* arena) {
  const size_t k = count_augmented(self);
  self->n_memory = k + self->p;
  self->memory = yoke__arena_array(arena, self->n_memory + 1, sizeof(double));
  self->next = yoke__arena_array(arena, self->n + 1, sizeof(double));
  if (self->memory == NULL || self->next == NULL) {
    return false;
  }
  self->x = self->memory;
  self->u = self->x + self->n;
  self->y = self->memory + k;
  if (self->n == 0) {
    return true;
  }
  self->step = yoke__arena_array(arena, k * k, sizeof(double));
  self->power = yoke__arena_array(arena, k * k, sizeof(double));
  self->swap = yoke__arena_array(arena, k * k, sizeof(double));
  self->work = yoke__arena_array(arena, yoke__expm_work_size(k), sizeof(double));
  self->pivots = yoke__arena_array(arena, k, sizeof(size_t));
  return self->step && self->power && self->swap && self->work && self->pivots;
}

static void choose_ops(yoke_standin* self) {
  const yoke_unit_ops* from = self->unit->ops;
  self->ops = (yoke_unit_ops){
      YOKE_UNIT_HEAD,
      .name = self->name,
      .text = "linear model of a unit",
      .create = create,
      .describe = describe,
      .set = set,
      .get = get,
      .exit_init = exit_init,
      .set_inputs = set_inputs,
      .get_outputs = get_outputs,
      .set_input_derivatives = from->set_input_derivatives == NULL ? NULL : set_derivatives,
      .step = (self->info.flags & YOKE_UNIT_ALGEBRAIC) != 0 && from->step == NULL ? NULL : step,
      .refresh = from->refresh == NULL ? NULL : refresh,
      .save = save,
      .restore = restore,
      .derivative = from->derivative == NULL ? NULL : derivative,
      .linearise = from->linearise == NULL ? NULL : linearise,
      .close = leave,
      .context = self,
  };
}

yoke_standin* yoke__standin_make(const yoke_system_unit* unit, const yoke_linear_unit* model,
                                 yoke_arena* arena) {
  yoke_standin* self = yoke__arena_take(arena, sizeof *self);
  if (self == NULL) {
    return NULL;
  }
  const bool has_model = model->has_model && model->is_in_loop;
  double solver_step = 0;
  const yoke_solver_method method = yoke__unit_solver(&unit->unit, unit->step, &solver_step);
  *self =
      (yoke_standin){.unit = &unit->unit,
                     .m = unit->unit.n_u,
                     .p = unit->unit.n_y,
                     .n = has_model ? model->n_states : 0,
                     .n_orders = unit->unit.ops->set_input_derivatives == NULL ? 1 : MAX_ORDER + 1,
                     .scale = 1,
                     .h = (double)NAN};
  if (has_model) {
    self->A = model->A;
    self->B = model->B;
    self->C = model->C;
    self->D = model->D;
    self->micro = model->solver.micro_step;
    self->semi_implicit = model->semi_implicit_step;
    // those of calls of another length may have more states
    self->difference = model->n_states > 0 ? model->difference : NULL;
    if (self->difference != NULL) {
      self->n = YOKE_DIFFERENCE_ORDER;
      self->C = yoke__arena_array(arena, self->p * self->n + 1, sizeof(double));
      self->D = yoke__arena_array(arena, self->p * self->m + 1, sizeof(double));
      if (self->C == NULL || self->D == NULL) {
        return NULL;
      }
    }
  }
  snprintf(self->name, sizeof self->name, "linear %zu", model->unit);
  self->info.flags = (unit->unit.info->flags & (YOKE_UNIT_ALGEBRAIC | YOKE_UNIT_IMPLICIT |
                                                YOKE_UNIT_SAMPLED | YOKE_UNIT_AUTONOMOUS)) |
                     YOKE_UNIT_LINEAR;
  self->info.solver = (yoke_unit_solver){.method = method, .step = solver_step};
  if (!copy_variables(self, arena) || !layout(self, arena)) {
    return NULL;
  }
  self->info.image_size = self->n_memory * sizeof(double);
  choose_ops(self);
  return self;
}

const yoke_unit_ops* yoke__standin_ops(const yoke_standin* self) {
  return &self->ops;
}

void yoke__standin_scale(yoke_standin* self, double scale) {
  self->scale = scale;
  self->h = (double)NAN;
}

size_t yoke__standin_count(const yoke_standin* self) {
  return self->n;
}

const double* yoke__standin_states(const yoke_standin* self) {
  return self->x;
}

const double* yoke__standin_outputs(const yoke_standin* self, size_t* n) {
  *n = self->p;
  return self->y;
}

void yoke__standin_clear(yoke_standin* self) {
  memset(self->memory, 0, self->n_memory * sizeof *self->memory);
}

void yoke__standin_set(yoke_standin* self, const double x[]) {
  yoke__standin_clear(self);
  memcpy(self->x, x, self->n * sizeof *x);
}
