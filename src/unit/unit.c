// Instances of units: creation with defaults, access to variables, save and restore.
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

size_t yoke__variable_count(const yoke_variable* variable) {
  const size_t n_rows = variable->n_rows == 0 ? 1 : variable->n_rows;
  const size_t n_cols = variable->n_cols == 0 ? 1 : variable->n_cols;
  return n_rows * n_cols;
}

size_t yoke__variable_element_size(const yoke_variable* variable) {
  switch (variable->type) {
  case YOKE_REAL:
    return sizeof(double);
  case YOKE_INTEGER:
  case YOKE_BOOLEAN:
  case YOKE_ENUMERATION:
    return sizeof(int64_t);
  case YOKE_STRING:
    return variable->max_size;
  case YOKE_BINARY:
    return sizeof(uint64_t) + variable->max_size;
  }
  return 0;
}

size_t yoke__variable_size(const yoke_variable* variable) {
  return yoke__variable_count(variable) * yoke__variable_element_size(variable);
}

// Bytes before the first control character.
static size_t plain_length(const char* name) {
  size_t n = 0;
  while ((unsigned char)name[n] >= ' ' && name[n] != '\x7f') {
    n++;
  }
  return n;
}

bool yoke__unit_is_name(const char* name) {
  return name != NULL && name[0] != '\0' && name[plain_length(name)] == '\0';
}

#define MANY 64  // variables, from which on their names are hashed

size_t yoke__unit_find(const yoke_unit* unit, const char* name) {
  if (unit->names.slots != NULL) {
    return yoke__map_find(&unit->names, name);
  }
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    if (strcmp(unit->info->variables[i].name, name) == 0) {
      return i;
    }
  }
  return (size_t)-1;
}

// "v[2]" or "v[1,2]" -> the variable "v" and an element; false if text has no such ending
static bool split_element(const yoke_unit* unit, const char* text, size_t* variable,
                          size_t* element) {
  const char* open = strrchr(text, '[');
  const size_t length = strlen(text);
  if (open == NULL || open == text || text[length - 1] != ']') {
    return false;
  }
  char name[256];
  if ((size_t)(open - text) >= sizeof name) {
    return false;
  }
  memcpy(name, text, (size_t)(open - text));
  name[open - text] = '\0';
  *variable = yoke__unit_find(unit, name);
  if (*variable == (size_t)-1) {
    return false;
  }
  // numbers and a comma; strtoul alone would take signs
  if (strspn(open + 1, "0123456789, ") != length - (size_t)(open - text) - 2) {
    return false;
  }
  const yoke_variable* v = &unit->info->variables[*variable];
  char* end = NULL;
  const unsigned long row = strtoul(open + 1, &end, 10);
  if (end != open + 1 && *end == ']') {
    *element = row;
    return row < yoke__variable_count(v);
  }
  if (end == open + 1 || *end != ',') {
    return false;
  }
  char* last = NULL;
  const unsigned long col = strtoul(end + 1, &last, 10);
  const size_t n_cols = v->n_cols == 0 ? 1 : v->n_cols, n_rows = v->n_rows == 0 ? 1 : v->n_rows;
  *element = row * n_cols + col;
  return last != end + 1 && *last == ']' && row < n_rows && col < n_cols;
}

bool yoke__unit_find_element(const yoke_unit* unit, const char* text, size_t* variable,
                             size_t* element) {
  *element = 0;
  *variable = yoke__unit_find(unit, text);
  return *variable != (size_t)-1 || split_element(unit, text, variable, element);
}

// is every element one of the items
static bool is_in_items(const yoke_variable* v, const void* value) {
  int64_t n_items = 0;
  while (v->items != NULL && v->items[n_items] != NULL) {
    n_items++;
  }
  for (size_t i = 0; v->items != NULL && i < yoke__variable_count(v); i++) {
    int64_t item = 0;
    memcpy(&item, (const char*)value + i * sizeof item, sizeof item);
    if (item < 0 || item >= n_items) {
      return false;
    }
  }
  return true;
}

yoke_status yoke__unit_set(const yoke_unit* unit, size_t variable, const void* value, size_t size) {
  const yoke_variable* v = &unit->info->variables[variable];
  if (size != yoke__variable_size(v)) {
    return YOKE_BAD_ARG;
  }
  if (v->type == YOKE_ENUMERATION && !is_in_items(v, value)) {
    return YOKE_BAD_ARG;
  }
  if (unit->ops->set != NULL) {
    return unit->ops->set(unit->self, variable, value, size);
  }
  if (v->offset == YOKE_NO_OFFSET) {
    return YOKE_NO_SUPPORT;
  }
  memcpy((char*)unit->self + v->offset, value, size);
  return YOKE_OK;
}

yoke_status yoke__unit_get(const yoke_unit* unit, size_t variable, void* value, size_t size) {
  const yoke_variable* v = &unit->info->variables[variable];
  if (size != yoke__variable_size(v)) {
    return YOKE_BAD_ARG;
  }
  if (unit->ops->get != NULL) {
    return unit->ops->get(unit->self, variable, value, size);
  }
  if (v->offset == YOKE_NO_OFFSET) {
    return YOKE_NO_SUPPORT;
  }
  memcpy(value, (const char*)unit->self + v->offset, size);
  return YOKE_OK;
}

// start values into a fresh flat struct
static void write_starts(yoke_unit* unit) {
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    const yoke_variable* v = &unit->info->variables[i];
    if (v->offset == YOKE_NO_OFFSET) {
      continue;
    }
    char* at = (char*)unit->self + v->offset;
    const size_t n = yoke__variable_count(v), size = yoke__variable_element_size(v);
    for (size_t j = 0; j < n; j++, at += size) {
      const int64_t whole = llround(v->start);
      if (v->type == YOKE_REAL) {
        memcpy(at, &v->start, sizeof v->start);
      } else if (v->type == YOKE_STRING && v->max_size > 0) {
        snprintf(at, v->max_size, "%s", v->start_text == NULL ? "" : v->start_text);
      } else if (v->type != YOKE_STRING && v->type != YOKE_BINARY) {
        memcpy(at, &whole, sizeof whole);
      }
    }
  }
}

// Positions of the real variables of one causality in the dense vector, and the copies by offset that neighbours share.
static yoke_status lay_dense(yoke_unit* unit, yoke_causality causality, yoke_arena* arena,
                             size_t* dense, size_t* n_dense, yoke_unit_run** runs, size_t* n_runs) {
  const yoke_unit_info* info = unit->info;
  *runs = yoke__arena_array(arena, info->n_variables + 1, sizeof **runs);
  if (*runs == NULL) {
    return YOKE_NO_MEMORY;
  }
  *n_dense = *n_runs = 0;
  for (size_t i = 0; i < info->n_variables; i++) {
    const yoke_variable* v = &info->variables[i];
    if (v->type != YOKE_REAL || v->causality != causality) {
      continue;
    }
    const size_t n = yoke__variable_count(v);
    dense[i] = *n_dense;
    yoke_unit_run* last = *n_runs == 0 ? NULL : &(*runs)[*n_runs - 1];
    if (v->offset == YOKE_NO_OFFSET) {
      // reached through the unit's own operations only
    } else if (last != NULL && last->offset + last->n * sizeof(double) == v->offset &&
               last->at + last->n == *n_dense) {
      last->n += n;
    } else {
      (*runs)[(*n_runs)++] = (yoke_unit_run){v->offset, *n_dense, n};
    }
    *n_dense += n;
  }
  return YOKE_OK;
}

static yoke_status lay_vectors(yoke_unit* unit, yoke_arena* arena) {
  size_t* dense = yoke__arena_array(arena, unit->info->n_variables + 1, sizeof *dense);
  YOKE_TRY_MEMORY(dense);
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    dense[i] = YOKE_NOT_DENSE;
  }
  unit->dense = dense;
  YOKE_TRY(lay_dense(unit, YOKE_INPUT, arena, dense, &unit->n_u, &unit->inputs, &unit->n_inputs));
  return lay_dense(unit, YOKE_OUTPUT, arena, dense, &unit->n_y, &unit->outputs, &unit->n_outputs);
}

static yoke_status refuse_variable(const yoke_unit* unit, const char* name, const char* what,
                                   const yoke_sink* sink) {
  return yoke_fail(sink, YOKE_BAD_ARG, "the description of '%s' is wrong: variable '%.200s' %s",
                   unit->ops->name, name == NULL ? "" : name, what);
}

static yoke_status lay_names(yoke_unit* unit, yoke_arena* arena, const yoke_sink* sink) {
  if (unit->info->n_variables < MANY) {
    return YOKE_OK;
  }
  YOKE_TRY(yoke__map_create(unit->info->n_variables, arena, &unit->names));
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    const char* name = unit->info->variables[i].name;
    if (yoke__map_add(&unit->names, name, i) != YOKE_NOT_FOUND) {
      return refuse_variable(unit, name, "is there twice", sink);
    }
  }
  return YOKE_OK;
}

#define MAX_SIZE ((size_t)INT32_MAX)  // elements of a variable, bytes of a text: more is a mistake

// what the rest of the library relies on without asking again
static yoke_status check_variable(const yoke_unit* unit, const yoke_variable* v,
                                  const yoke_sink* sink) {
  const yoke_unit_ops* ops = unit->ops;
  const bool has_place = v->offset != YOKE_NO_OFFSET;
  const char* what = NULL;
  if (v->name == NULL || v->name[0] == '\0') {
    what = "has no name";
  } else if (!yoke__unit_is_name(v->name)) {
    char shown[64];  // nothing that breaks the line
    snprintf(shown, sizeof shown, "%.*s", (int)plain_length(v->name), v->name);
    return refuse_variable(unit, shown, "has a control character in its name", sink);
  } else if ((unsigned)v->type > YOKE_BINARY || (unsigned)v->causality > YOKE_STATE) {
    what = "has no known type or causality";
  } else if ((v->type == YOKE_STRING || v->type == YOKE_BINARY) && v->max_size == 0) {
    what = "needs a max_size";
  } else if (v->max_size > MAX_SIZE || v->n_rows > MAX_SIZE ||
             (v->n_cols > 0 && v->n_rows > MAX_SIZE / v->n_cols) || v->n_cols > MAX_SIZE) {
    what = "is too large";
  } else if (v->type == YOKE_ENUMERATION && (v->items == NULL || v->items[0] == NULL)) {
    what = "is an enumeration without items";
  } else if ((v->flags & YOKE_VARIABLE_NONLINEAR) != 0 &&
             (v->type != YOKE_REAL || yoke__variable_count(v) != 1)) {
    what = "cannot say whether the unit is linear: it is no real scalar";
  } else if (unit->is_self_ours && has_place &&
             (v->offset > unit->info->self_size ||
              yoke__variable_size(v) > unit->info->self_size - v->offset)) {
    what = "lies outside of the unit's struct";
  } else if (!has_place && v->type == YOKE_REAL &&
             ((v->causality == YOKE_INPUT && ops->set_inputs == NULL) ||
              (v->causality == YOKE_OUTPUT && ops->get_outputs == NULL))) {
    what = "has no offset, and the unit has no operation that reaches it";
  }
  return what == NULL ? YOKE_OK : refuse_variable(unit, v->name, what, sink);
}


// A scalar of that type, given by 1 + its index; 0 is none.
static bool is_scalar(const yoke_unit_info* info, size_t number, yoke_type type) {
  return number == 0 || (number <= info->n_variables && info->variables[number - 1].type == type &&
                         yoke__variable_count(&info->variables[number - 1]) == 1);
}

yoke_status yoke__unit_check(const yoke_unit* unit, const yoke_sink* sink) {
  const yoke_unit_info* info = unit->info;
  if (info == NULL || (info->n_variables > 0 && info->variables == NULL) ||
      (info->n_feedthrough > 0 && info->feedthrough == NULL)) {
    return yoke_fail(sink, YOKE_BAD_ARG, "'%s' does not describe itself", unit->ops->name);
  }
  for (size_t i = 0; i < info->n_variables; i++) {
    YOKE_TRY(check_variable(unit, &info->variables[i], sink));
    // where they are many the map of their names finds out
    if (info->n_variables < MANY && yoke__unit_find(unit, info->variables[i].name) != i) {
      return refuse_variable(unit, info->variables[i].name, "is there twice", sink);
    }
  }
  for (size_t i = 0; i < info->n_feedthrough; i++) {
    const yoke_feedthrough* f = &info->feedthrough[i];
    if (f->output >= info->n_variables || f->input >= info->n_variables) {
      return yoke_fail(sink, YOKE_BAD_ARG,
                       "the description of '%s' is wrong: feedthrough %zu names no variable",
                       unit->ops->name, i);
    }
  }
  if (!is_scalar(info, info->solver.parts, YOKE_INTEGER) ||
      !is_scalar(info, info->solver.choice, YOKE_ENUMERATION)) {
    return yoke_fail(sink, YOKE_BAD_ARG,
                     "the description of '%s' is wrong: its solver names no such variable",
                     unit->ops->name);
  }
  return YOKE_OK;
}

yoke_status yoke__unit_create(const yoke_unit_ops* ops, const yoke_unit_args* args,
                              yoke_arena* arena, yoke_unit* unit, const yoke_sink* sink) {
  *unit = (yoke_unit){.ops = ops};
  if (ops->create != NULL) {
    YOKE_TRY(ops->create(args, &unit->self, sink));
  } else {
    unit->self = calloc(1, ops->info->self_size == 0 ? 1 : ops->info->self_size);
    unit->is_self_ours = true;
    YOKE_TRY_MEMORY(unit->self);
  }
  unit->info = ops->describe != NULL ? ops->describe(unit->self) : ops->info;
  yoke_status status = yoke__unit_check(unit, sink);
  if (status >= 0 && unit->is_self_ours) {
    write_starts(unit);
  }
  if (status >= 0) {
    status = lay_vectors(unit, arena);
  }
  if (status >= 0) {
    status = lay_names(unit, arena, sink);
  }
  if (status < 0) {
    yoke__unit_close(unit);
  }
  return status;
}

void yoke__unit_close(yoke_unit* unit) {
  if (unit->self == NULL) {
    return;
  }
  if (unit->ops->close != NULL) {
    unit->ops->close(unit->self);
  } else if (unit->is_self_ours) {
    free(unit->self);
  }
  unit->self = NULL;
}

yoke_status yoke__unit_enter_init(const yoke_unit* unit, double t_start, double t_stop,
                                  const yoke_sink* sink) {
  return unit->ops->enter_init == NULL ? YOKE_OK
                                       : unit->ops->enter_init(unit->self, t_start, t_stop, sink);
}

yoke_status yoke__unit_exit_init(const yoke_unit* unit) {
  return unit->ops->exit_init == NULL ? YOKE_OK : unit->ops->exit_init(unit->self);
}

void yoke__unit_terminate(const yoke_unit* unit) {
  if (unit->ops->terminate != NULL) {
    unit->ops->terminate(unit->self);
  }
}

void yoke__unit_reason(const yoke_unit* unit, const yoke_sink* sink) {
  if (unit->ops->reason != NULL) {
    unit->ops->reason(unit->self, sink);
  }
}

static bool is_flat(const yoke_unit* unit) {
  return unit->ops->save == NULL && (unit->info->flags & YOKE_UNIT_FLAT) != 0;
}

size_t yoke__unit_image_size(const yoke_unit* unit) {
  if ((unit->info->flags & YOKE_UNIT_PHYSICAL) != 0) {
    return 0;
  }
  if (is_flat(unit)) {
    return unit->info->self_size;
  }
  return unit->ops->save != NULL && unit->ops->restore != NULL ? unit->info->image_size : 0;
}

yoke_status yoke__unit_save(const yoke_unit* unit, void* image, size_t size) {
  const bool is_copied = is_flat(unit);
  if (!is_copied && unit->ops->save == NULL) {
    return YOKE_NO_SUPPORT;
  }
  if (size != (is_copied ? unit->info->self_size : unit->info->image_size)) {
    return YOKE_BAD_ARG;
  }
  if (is_copied) {
    memcpy(image, unit->self, size);
    return YOKE_OK;
  }
  return unit->ops->save(unit->self, image, size);
}

yoke_status yoke__unit_restore(const yoke_unit* unit, const void* image, size_t size) {
  const bool is_copied = is_flat(unit);
  if (!is_copied && unit->ops->restore == NULL) {
    return YOKE_NO_SUPPORT;
  }
  if (size != (is_copied ? unit->info->self_size : unit->info->image_size)) {
    return YOKE_BAD_ARG;
  }
  if (is_copied) {
    memcpy(unit->self, image, size);
    return YOKE_OK;
  }
  return unit->ops->restore(unit->self, image, size);
}

static bool has_bytes(const yoke_unit* unit) {
  return unit->ops->serialise != NULL && unit->ops->deserialise != NULL;
}

bool yoke__unit_is_portable(const yoke_unit* unit) {
  const bool is_plain = is_flat(unit) || (unit->info->flags & YOKE_UNIT_PORTABLE) != 0;
  return (unit->info->flags & YOKE_UNIT_PHYSICAL) == 0 &&
         (has_bytes(unit) || (is_plain && yoke__unit_image_size(unit) > 0));
}

yoke_status yoke__unit_serialise(const yoke_unit* unit, void* bytes, size_t* size) {
  if (has_bytes(unit)) {
    return unit->ops->serialise(unit->self, bytes, size);
  }
  const size_t room = *size;
  *size = yoke__unit_image_size(unit);
  return room < *size ? YOKE_FULL : yoke__unit_save(unit, bytes, *size);
}

yoke_status yoke__unit_deserialise(const yoke_unit* unit, const void* bytes, size_t size) {
  return has_bytes(unit) ? unit->ops->deserialise(unit->self, bytes, size)
                         : yoke__unit_restore(unit, bytes, size);
}

// ---------------------------------------------------------------------------------------------------------
// abilities that depend on parameters

// The whole number in a variable, given by 1 + its index; `otherwise` if there is none.
static int64_t whole_of(const yoke_unit* unit, size_t number, int64_t otherwise) {
  int64_t value = otherwise;
  return number > 0 && yoke__unit_get(unit, number - 1, &value, sizeof value) >= 0 ? value
                                                                                   : otherwise;
}

yoke_solver_method yoke__unit_solver(const yoke_unit* unit, double call_step, double* step) {
  const yoke_unit_solver* solver = &unit->info->solver;
  yoke_solver_method method = solver->method;
  if (solver->choice > 0) {
    const int64_t item = whole_of(unit, solver->choice, -1);
    method = item >= 0 && item < YOKE_MAX_CHOICES ? solver->methods[item] : YOKE_SOLVER_UNKNOWN;
  }
  const int64_t n_parts = whole_of(unit, solver->parts, 1);
  const bool has_parts = method > YOKE_SOLVER_EXACT && method < YOKE_SOLVER_DOPRI5 && n_parts >= 1;
  *step = method == YOKE_SOLVER_EXACT ? 0
          : solver->step > 0          ? solver->step
          : has_parts                 ? call_step / (double)n_parts
                                      : 0;
  return method;
}

bool yoke__unit_is_linear(const yoke_unit* unit) {
  const yoke_unit_info* info = unit->info;
  for (size_t i = 0; i < info->n_variables; i++) {
    double value = 0;
    if ((info->variables[i].flags & YOKE_VARIABLE_NONLINEAR) != 0 &&
        (yoke__unit_get(unit, i, &value, sizeof value) < 0 || value != 0)) {
      return false;
    }
  }
  return (info->flags & YOKE_UNIT_LINEAR) != 0;
}

bool yoke__unit_has_feedthrough(const yoke_unit* unit, size_t output, size_t input) {
  for (size_t i = 0; i < unit->info->n_feedthrough; i++) {
    if (unit->info->feedthrough[i].output == output && unit->info->feedthrough[i].input == input) {
      return true;
    }
  }
  return false;
}
