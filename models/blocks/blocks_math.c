// Arithmetic blocks.
//
//   gain        y = k u
//   sum         y = s_1 u_1 + ... + s_n u_n
//   integrator  x' = k u, y = x; forward Euler, exact for the held input
//   delay1      y(t + h) = u(t)
#include <math.h>
#include <stddef.h>

#include "models/blocks/blocks.h"
#include "models/models_support.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define REAL(struct_, member_, dim_, text_, causality_, start_)                                    \
  {                                                                                                \
    .name = #member_, .dim = (dim_), .text = (text_), .type = YOKE_REAL,                           \
    .causality = (causality_), .start = (start_), .offset = offsetof(struct_, member_)             \
  }

// ---- gain

typedef struct gain {
  double u, y, k;
} gain;

enum { GAIN_U, GAIN_Y, GAIN_K };

static const yoke_variable gain_variables[] = {
    REAL(gain, u, NULL, "input", YOKE_INPUT, 0.0),
    REAL(gain, y, NULL, "k u", YOKE_OUTPUT, 0.0),
    REAL(gain, k, NULL, "factor", YOKE_TUNABLE, 1.0),
};

static const yoke_feedthrough gain_feedthrough[] = {{GAIN_Y, GAIN_U}};

static const yoke_unit_info gain_info = {
    .variables = gain_variables,
    .n_variables = COUNT(gain_variables),
    .feedthrough = gain_feedthrough,
    .n_feedthrough = COUNT(gain_feedthrough),
    .flags = YOKE_UNIT_ALGEBRAIC | YOKE_UNIT_FLAT | YOKE_UNIT_LINEAR,
    .self_size = sizeof(gain),
};

static yoke_status gain_refresh(void* self, double t) {
  gain* g = self;
  (void)t;
  g->y = g->k * g->u;
  return YOKE_OK;
}

static yoke_status gain_step(void* self, double t, double h, yoke_step_result* result) {
  (void)h;
  (void)result;
  return gain_refresh(self, t);
}

static bool gain_partial(const void* self, size_t unknown, size_t known, double* partial) {
  const gain* g = self;

  // dy/du = k, dy/dk = u
  *partial = known == GAIN_U ? g->k : g->u;
  return unknown == GAIN_Y && (known == GAIN_U || known == GAIN_K);
}

static yoke_status gain_derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                                   const size_t knowns[], size_t n_knowns, const double seed[],
                                   double out[]) {
  return yoke__model_derivative(self, gain_partial, unknowns, n_unknowns, knowns, n_knowns, seed,
                                out);
}

static yoke_status gain_linearise(void* self, yoke_linear* model) {
  const gain* g = self;
  model->n_states = 0;
  model->n_inputs = model->n_outputs = 1;
  if (model->D != NULL) {
    model->D[0] = g->k;
  }
  return YOKE_OK;
}

const yoke_unit_ops yoke__model_gain = {
    .name = "gain",
    .text = "y = k u",
    .info = &gain_info,
    .step = gain_step,
    .refresh = gain_refresh,
    .derivative = gain_derivative,
    .linearise = gain_linearise,
};

// ---- sum

#define SUM_MAX_INPUTS 10000

typedef struct sum {
  yoke_model_head head;
  size_t n;
  double* signs;    // behind the inputs, in the image too: they never change
  double y;         // the image starts here
  double values[];  // n inputs, n signs
} sum;

static const yoke_variable sum_structure[] = {
    {.name = "n",
     .text = "number of inputs; 2 if neither n nor signs is given",
     .type = YOKE_INTEGER,
     .causality = YOKE_PARAMETER,
     .start = 2.0},
    {.name = "signs",
     .text = "factor of each input, usually 1 or -1",
     .type = YOKE_REAL,
     .causality = YOKE_PARAMETER,
     .start = 1.0},
};

// Number of inputs from n, signs or both.
static yoke_status sum_count(const yoke_unit_args* args, const yoke_argument* signs, int64_t* n,
                             const yoke_sink* sink) {
  const size_t n_signs = signs != NULL ? yoke__argument_count(signs) : 0;
  const int64_t fallback = signs != NULL ? (int64_t)n_signs : 2;
  if (signs != NULL && (n_signs == 0 || n_signs > SUM_MAX_INPUTS)) {
    return yoke__model_refuse(sink, "signs has %zu values, expected 1 to %d", n_signs,
                              SUM_MAX_INPUTS);
  }
  YOKE_TRY(yoke__model_integer(args, "n", fallback, 1, SUM_MAX_INPUTS, n, sink));
  if (*n != fallback && signs != NULL) {
    return yoke__model_refuse(sink, "signs has %zu values, expected %lld as n", n_signs,
                              (long long)*n);
  }
  for (size_t i = 0; i < n_signs; i++) {
    if (!isfinite(((const double*)signs->value)[i])) {
      return yoke__model_refuse(sink, "signs: value %zu is not finite", i + 1);
    }
  }
  return YOKE_OK;
}

static yoke_status sum_describe(sum* s) {
  for (size_t i = 0; i < s->n; i++) {
    s->head.variables[i] = (yoke_variable){
        .name = yoke__model_name(&s->head, "u%zu", i + 1),
        .text = "input",
        .type = YOKE_REAL,
        .causality = YOKE_INPUT,
        .offset = offsetof(sum, values) + i * sizeof(double),
    };
    s->head.feedthrough[i] = (yoke_feedthrough){s->n, i};
    if (s->head.variables[i].name == NULL) {
      return YOKE_FULL;
    }
  }
  s->head.variables[s->n] = (yoke_variable)REAL(sum, y, NULL, "sum", YOKE_OUTPUT, 0.0);
  s->head.info.flags |= YOKE_UNIT_ALGEBRAIC | YOKE_UNIT_LINEAR;
  return YOKE_OK;
}

static yoke_status sum_create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  const yoke_argument* signs = yoke__model_argument(args, "signs");
  int64_t count = 0;
  YOKE_TRY(sum_count(args, signs, &count, sink));
  const size_t n = (size_t)count, size = sizeof(sum) + 2 * n * sizeof(double);
  sum* s = yoke__model_make(size, offsetof(sum, y), n + 1, n, 8 * n);
  if (s == NULL) {
    return yoke__model_no_memory(sink);
  }
  s->n = n;
  s->signs = s->values + n;
  for (size_t i = 0; i < n; i++) {
    s->signs[i] = signs != NULL ? ((const double*)signs->value)[i] : 1.0;
  }
  if (sum_describe(s) < 0) {
    yoke__model_close(s);
    return yoke__model_no_memory(sink);
  }
  *self = s;
  return YOKE_OK;
}

static yoke_status sum_refresh(void* self, double t) {
  sum* s = self;
  (void)t;
  s->y = 0.0;
  for (size_t i = 0; i < s->n; i++) {
    s->y += s->signs[i] * s->values[i];
  }
  return YOKE_OK;
}

static yoke_status sum_step(void* self, double t, double h, yoke_step_result* result) {
  (void)h;
  (void)result;
  return sum_refresh(self, t);
}

static bool sum_partial(const void* self, size_t unknown, size_t known, double* partial) {
  const sum* s = self;
  if (unknown != s->n || known >= s->n) {
    return false;
  }
  *partial = s->signs[known];
  return true;
}

static yoke_status sum_derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                                  const size_t knowns[], size_t n_knowns, const double seed[],
                                  double out[]) {
  return yoke__model_derivative(self, sum_partial, unknowns, n_unknowns, knowns, n_knowns, seed,
                                out);
}

static yoke_status sum_linearise(void* self, yoke_linear* model) {
  const sum* s = self;
  model->n_states = 0;
  model->n_inputs = s->n;
  model->n_outputs = 1;
  for (size_t i = 0; model->D != NULL && i < s->n; i++) {
    model->D[i] = s->signs[i];
  }
  return YOKE_OK;
}

const yoke_unit_ops yoke__model_sum = {
    .name = "sum",
    .text = "weighted sum of its inputs",
    .structure = sum_structure,
    .n_structure = COUNT(sum_structure),
    .create = sum_create,
    .describe = yoke__model_describe,
    .step = sum_step,
    .refresh = sum_refresh,
    .save = yoke__model_save,
    .restore = yoke__model_restore,
    .derivative = sum_derivative,
    .linearise = sum_linearise,
    .close = yoke__model_close,
};

// ---- integrator

typedef struct integrator {
  double u, y, x, k;
} integrator;

enum { INTEGRATOR_U, INTEGRATOR_Y, INTEGRATOR_X, INTEGRATOR_K };

static const yoke_variable integrator_variables[] = {
    REAL(integrator, u, NULL, "input", YOKE_INPUT, 0.0),
    REAL(integrator, y, NULL, "integral", YOKE_OUTPUT, 0.0),
    REAL(integrator, x, NULL, "integral", YOKE_STATE, 0.0),
    REAL(integrator, k, NULL, "factor", YOKE_TUNABLE, 1.0),
};

static const yoke_unit_info integrator_info = {
    .variables = integrator_variables,
    .n_variables = COUNT(integrator_variables),
    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_LINEAR,
    .self_size = sizeof(integrator),
    .solver = {.method = YOKE_SOLVER_EXACT},
};

static yoke_status integrator_refresh(void* self, double t) {
  integrator* i = self;
  (void)t;
  i->y = i->x;
  return YOKE_OK;
}

static yoke_status integrator_step(void* self, double t, double h, yoke_step_result* result) {
  integrator* i = self;
  (void)result;

  // Euler is exact here: x' = k u is constant while u is held
  i->x += h * (i->k * i->u);
  return integrator_refresh(self, t);
}

// the output is the state: at one instant it depends on nothing else
static bool integrator_partial(const void* self, size_t unknown, size_t known, double* partial) {
  (void)self;
  *partial = known == INTEGRATOR_X ? 1.0 : 0.0;
  return unknown == INTEGRATOR_Y && (known == INTEGRATOR_U || known == INTEGRATOR_X);
}

static yoke_status integrator_derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                                         const size_t knowns[], size_t n_knowns,
                                         const double seed[], double out[]) {
  return yoke__model_derivative(self, integrator_partial, unknowns, n_unknowns, knowns, n_knowns,
                                seed, out);
}

static yoke_status integrator_linearise(void* self, yoke_linear* model) {
  const integrator* i = self;
  double* const matrices[] = {model->A, model->B, model->C, model->D};

  // x' = 0 x + k u, y = 1 x + 0 u
  const double values[] = {0.0, i->k, 1.0, 0.0};
  model->n_states = model->n_inputs = model->n_outputs = 1;
  for (size_t m = 0; m < COUNT(matrices); m++) {
    if (matrices[m] != NULL) {
      matrices[m][0] = values[m];
    }
  }
  return YOKE_OK;
}

static yoke_status integrator_rates(const void* self, size_t states[], double dx[],
                                    size_t n_states) {
  const integrator* i = self;
  if (n_states != 1) {
    return YOKE_BAD_ARG;
  }
  if (states != NULL) {
    states[0] = INTEGRATOR_X;
  }
  if (dx != NULL) {
    dx[0] = i->k * i->u;
  }
  return YOKE_OK;
}

const yoke_unit_ops yoke__model_integrator = {
    .name = "integrator",
    .text = "y' = k u",
    .info = &integrator_info,
    .step = integrator_step,
    .refresh = integrator_refresh,
    .derivative = integrator_derivative,
    .linearise = integrator_linearise,
    .rates = integrator_rates,
};

// ---- delay1

typedef struct delay1 {
  double u, y, x;
} delay1;

static const yoke_variable delay1_variables[] = {
    REAL(delay1, u, NULL, "input", YOKE_INPUT, 0.0),
    REAL(delay1, y, NULL, "input of the last step", YOKE_OUTPUT, 0.0),
    REAL(delay1, x, NULL, "memory", YOKE_STATE, 0.0),
};

static const yoke_unit_info delay1_info = {
    .variables = delay1_variables,
    .n_variables = COUNT(delay1_variables),
    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_SAMPLED,
    .self_size = sizeof(delay1),
};

static yoke_status delay1_refresh(void* self, double t) {
  delay1* d = self;
  (void)t;
  d->y = d->x;
  return YOKE_OK;
}

static yoke_status delay1_step(void* self, double t, double h, yoke_step_result* result) {
  delay1* d = self;
  (void)h;
  (void)result;

  // the output of this step is the input of the last one
  d->x = d->u;
  return delay1_refresh(self, t);
}

const yoke_unit_ops yoke__model_delay1 = {
    .name = "delay1",
    .text = "one step of delay",
    .info = &delay1_info,
    .step = delay1_step,
    .refresh = delay1_refresh,
};
