// Blocks with variables that are not real numbers.
//
//   counter  count = number of steps; toggle changes whenever count reaches a multiple of limit
//   switch   y = a if on, else b
//   label    text = labels[index], index held inside the list
//   select   y = min, max or mean of the array u
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "models/blocks/blocks.h"
#include "models/models_support.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define REAL(struct_, member_, text_, causality_)                                                  \
  {                                                                                                \
    .name = #member_, .text = (text_), .type = YOKE_REAL, .causality = (causality_),               \
    .offset = offsetof(struct_, member_)                                                           \
  }

// ---- counter

typedef struct counter {
  int64_t count, toggle, limit;
} counter;

static const yoke_variable counter_variables[] = {
    {.name = "count",
     .text = "steps made",
     .type = YOKE_INTEGER,
     .causality = YOKE_OUTPUT,
     .offset = offsetof(counter, count)},
    {.name = "toggle",
     .text = "changes at every multiple of limit",
     .type = YOKE_BOOLEAN,
     .causality = YOKE_OUTPUT,
     .offset = offsetof(counter, toggle)},
    {.name = "limit",
     .text = "steps between two changes of toggle; 0: never",
     .type = YOKE_INTEGER,
     .causality = YOKE_TUNABLE,
     .start = 10.0,
     .offset = offsetof(counter, limit)},
};

static const yoke_unit_info counter_info = {
    .variables = counter_variables,
    .n_variables = COUNT(counter_variables),
    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_SAMPLED,
    .self_size = sizeof(counter),
};

static yoke_status counter_step(void* self, double t, double h, yoke_step_result* result) {
  counter* c = self;
  (void)t;
  (void)h;
  (void)result;
  if (c->count < INT64_MAX) {
    c->count++;
  }
  if (c->limit > 0 && c->count % c->limit == 0) {
    c->toggle = !c->toggle;
  }
  return YOKE_OK;
}

// outputs are the state: nothing to compute
static yoke_status counter_refresh(void* self, double t) {
  (void)self;
  (void)t;
  return YOKE_OK;
}

const yoke_unit_ops yoke__model_counter = {
    .name = "counter",
    .text = "counts its steps",
    .info = &counter_info,
    .step = counter_step,
    .refresh = counter_refresh,
};

// ---- switch

typedef struct selector {
  double a, b, y;
  int64_t on;
} selector;

enum { SWITCH_A, SWITCH_B, SWITCH_ON, SWITCH_Y };

static const yoke_variable switch_variables[] = {
    REAL(selector, a, "input while on is true", YOKE_INPUT),
    REAL(selector, b, "input while on is false", YOKE_INPUT),
    {.name = "on",
     .text = "selects a",
     .type = YOKE_BOOLEAN,
     .causality = YOKE_INPUT,
     .flags = YOKE_VARIABLE_HAS_START,
     .offset = offsetof(selector, on)},
    REAL(selector, y, "the selected input", YOKE_OUTPUT),
};

static const yoke_feedthrough switch_feedthrough[] = {
    {SWITCH_Y, SWITCH_A},
    {SWITCH_Y, SWITCH_B},
    {SWITCH_Y, SWITCH_ON},
};

static const yoke_unit_info switch_info = {
    .variables = switch_variables,
    .n_variables = COUNT(switch_variables),
    .feedthrough = switch_feedthrough,
    .n_feedthrough = COUNT(switch_feedthrough),
    .flags = YOKE_UNIT_ALGEBRAIC | YOKE_UNIT_FLAT,
    .self_size = sizeof(selector),
};

static yoke_status switch_refresh(void* self, double t) {
  selector* s = self;
  (void)t;
  s->y = s->on ? s->a : s->b;
  return YOKE_OK;
}

static yoke_status switch_step(void* self, double t, double h, yoke_step_result* result) {
  (void)h;
  (void)result;
  return switch_refresh(self, t);
}

static bool switch_partial(const void* self, size_t unknown, size_t known, double* partial) {
  const selector* s = self;
  *partial = (known == SWITCH_A) == (s->on != 0) ? 1.0 : 0.0;
  return unknown == SWITCH_Y && (known == SWITCH_A || known == SWITCH_B);
}

static yoke_status switch_derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                                     const size_t knowns[], size_t n_knowns, const double seed[],
                                     double out[]) {
  return yoke__model_derivative(self, switch_partial, unknowns, n_unknowns, knowns, n_knowns, seed,
                                out);
}

const yoke_unit_ops yoke__model_switch = {
    .name = "switch",
    .text = "one of two inputs",
    .info = &switch_info,
    .step = switch_step,
    .refresh = switch_refresh,
    .derivative = switch_derivative,
};

// ---- label

#define LABEL_MAX 10000

typedef struct label {
  yoke_model_head head;
  size_t n, room;       // labels; bytes of the output
  const char** labels;  // n and a NULL, in the description
  int64_t index;        // the image starts here
  char text[];          // room bytes
} label;

enum { LABEL_INPUT_INTEGER, LABEL_INPUT_ENUMERATION };

static const char* const label_inputs[] = {"integer", "enumeration", NULL};

static const yoke_variable label_structure[] = {
    {.name = "labels",
     .text = "the texts, from index 0",
     .type = YOKE_STRING,
     .causality = YOKE_PARAMETER,
     .max_size = 256},
    {.name = "input",
     .text = "type of the input index",
     .type = YOKE_ENUMERATION,
     .causality = YOKE_PARAMETER,
     .items = label_inputs},
};

static const char* const* label_texts(const yoke_argument* labels) {
  return labels->value;
}

static void label_describe(label* l, bool is_enumeration) {
  l->head.variables[0] = (yoke_variable){
      .name = "index",
      .text = "which label; below 0 the first, beyond the end the last",
      .type = is_enumeration ? YOKE_ENUMERATION : YOKE_INTEGER,
      .causality = YOKE_INPUT,
      .flags = YOKE_VARIABLE_HAS_START,
      .items = is_enumeration ? l->labels : NULL,
      .offset = offsetof(label, index),
  };
  l->head.variables[1] = (yoke_variable){
      .name = "text",
      .text = "the label",
      .type = YOKE_STRING,
      .causality = YOKE_OUTPUT,
      .start_text = "",
      .max_size = l->room,
      .offset = offsetof(label, text),
  };
  l->head.feedthrough[0] = (yoke_feedthrough){1, 0};
  l->head.info.flags |= YOKE_UNIT_ALGEBRAIC;
}

static yoke_status label_create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  const yoke_argument* labels = yoke__model_argument(args, "labels");
  const size_t n = labels != NULL ? yoke__argument_count(labels) : 0;
  if (n == 0 || n > LABEL_MAX) {
    return yoke__model_refuse(sink, "labels: expected a list of 1 to %d texts", LABEL_MAX);
  }
  int64_t input = LABEL_INPUT_INTEGER;
  YOKE_TRY(yoke__model_integer(args, "input", input, LABEL_INPUT_INTEGER, LABEL_INPUT_ENUMERATION,
                               &input, sink));

  // the output must hold the longest text; pointers and texts share the room for names
  size_t room = 1, total = 0;
  for (size_t i = 0; i < n; i++) {
    const size_t size = strlen(label_texts(labels)[i]) + 1;
    room = size > room ? size : room;
    total += size;
  }
  const size_t pointers = (n + 1) * sizeof(char*);
  label* l = yoke__model_make(sizeof(label) + room, offsetof(label, index), 2, 1, pointers + total);
  if (l == NULL) {
    return yoke__model_no_memory(sink);
  }
  l->n = n;
  l->room = room;
  l->labels = (const char**)(void*)l->head.texts;
  l->head.texts_used = pointers;
  for (size_t i = 0; i < n; i++) {
    l->labels[i] = yoke__model_name(&l->head, "%s", label_texts(labels)[i]);
  }
  label_describe(l, input == LABEL_INPUT_ENUMERATION);
  *self = l;
  return YOKE_OK;
}

static yoke_status label_refresh(void* self, double t) {
  label* l = self;
  (void)t;
  const int64_t last = (int64_t)l->n - 1;
  const int64_t index = l->index < 0 ? 0 : (l->index > last ? last : l->index);

  // the rest of the output is cleared: images of equal states are equal bytes
  const char* from = l->labels[index];
  const size_t length = strlen(from);
  memcpy(l->text, from, length);
  memset(l->text + length, 0, l->room - length);
  return YOKE_OK;
}

static yoke_status label_step(void* self, double t, double h, yoke_step_result* result) {
  (void)h;
  (void)result;
  return label_refresh(self, t);
}

const yoke_unit_ops yoke__model_label = {
    .name = "label",
    .text = "a text chosen by a number",
    .structure = label_structure,
    .n_structure = COUNT(label_structure),
    .create = label_create,
    .describe = yoke__model_describe,
    .step = label_step,
    .refresh = label_refresh,
    .save = yoke__model_save,
    .restore = yoke__model_restore,
    .close = yoke__model_close,
};

// ---- select

#define SELECT_MAX_INPUTS 1000000

typedef struct chooser {
  yoke_model_head head;
  size_t n;
  int64_t mode;  // the image starts here
  double y;
  double u[];  // n
} chooser;

enum { SELECT_LEAST, SELECT_LARGEST, SELECT_MEAN };

static const char* const select_modes[] = {"min", "max", "mean", NULL};

static const yoke_variable select_structure[] = {
    {.name = "n",
     .text = "number of elements of u",
     .type = YOKE_INTEGER,
     .causality = YOKE_PARAMETER,
     .start = 2.0},
};

static yoke_status select_create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  int64_t n = 0;
  YOKE_TRY(yoke__model_integer(args, "n", 2, 1, SELECT_MAX_INPUTS, &n, sink));
  const size_t size = sizeof(chooser) + (size_t)n * sizeof(double);
  chooser* c = yoke__model_make(size, offsetof(chooser, mode), 3, 1, 0);
  if (c == NULL) {
    return yoke__model_no_memory(sink);
  }
  c->n = (size_t)n;
  c->head.variables[0] = (yoke_variable)REAL(chooser, u, "inputs", YOKE_INPUT);
  c->head.variables[0].n_rows = c->n;
  c->head.variables[1] = (yoke_variable)REAL(chooser, y, "the value asked for", YOKE_OUTPUT);
  c->head.variables[2] = (yoke_variable){
      .name = "mode",
      .text = "which value of u",
      .type = YOKE_ENUMERATION,
      .causality = YOKE_TUNABLE,
      .items = select_modes,
      .offset = offsetof(chooser, mode),
  };
  c->head.feedthrough[0] = (yoke_feedthrough){1, 0};
  c->head.info.flags |= YOKE_UNIT_ALGEBRAIC;
  *self = c;
  return YOKE_OK;
}

static yoke_status select_refresh(void* self, double t) {
  chooser* c = self;
  (void)t;
  double sum = 0.0, low = c->u[0], high = c->u[0];
  for (size_t i = 0; i < c->n; i++) {
    sum += c->u[i];
    low = fmin(low, c->u[i]);
    high = fmax(high, c->u[i]);
  }
  c->y = c->mode == SELECT_MEAN ? sum / (double)c->n : (c->mode == SELECT_LARGEST ? high : low);

  // min and max would swallow a NaN
  if (isnan(sum)) {
    c->y = sum;
  }
  return YOKE_OK;
}

static yoke_status select_step(void* self, double t, double h, yoke_step_result* result) {
  (void)h;
  (void)result;
  return select_refresh(self, t);
}

const yoke_unit_ops yoke__model_select = {
    .name = "select",
    .text = "least, largest or mean element of an array",
    .structure = select_structure,
    .n_structure = COUNT(select_structure),
    .create = select_create,
    .describe = yoke__model_describe,
    .step = select_step,
    .refresh = select_refresh,
    .save = yoke__model_save,
    .restore = yoke__model_restore,
    .close = yoke__model_close,
};
