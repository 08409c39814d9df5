// The variables of an FMU as the rest of the library sees them.
//
//   Float64, Float32              real                     input, output        the same
//   all integer types             integer (64 bit)         parameter, fixed     parameter
//   Boolean, Clock                boolean                  parameter, tunable   tunable
//   Enumeration                   enumeration (by name)    all others           state, read only unless it has a start value
//   String, Binary                the same
//
// UInt64 values above 2^63-1 keep their bits. Structural parameters shape the arrays and are settings of create.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "unit/fmu/fmu.h"

#define MAX_ELEMENTS 10000000  // of one array

// ---------------------------------------------------------------------------------------------------------
// structural parameters

yoke_status yoke__fmu_structure(const yoke_fmi_description* d, yoke_arena* arena,
                                yoke_variable** structure, size_t* n) {
  *n = 0;
  for (size_t i = 0; i < d->n_variables; i++) {
    *n += d->variables[i].causality == YOKE_FMI_STRUCTURAL_PARAMETER;
  }
  *structure = yoke__arena_array(arena, *n + 1, sizeof **structure);
  if (*structure == NULL) {
    return YOKE_NO_MEMORY;
  }
  size_t k = 0;
  for (size_t i = 0; i < d->n_variables; i++) {
    const yoke_fmi_variable* v = &d->variables[i];
    if (v->causality != YOKE_FMI_STRUCTURAL_PARAMETER) {
      continue;
    }
    int64_t start = 0;
    yoke__fmi_start_integer(v, &start, 1);
    (*structure)[k++] = (yoke_variable){.name = v->name,
                                        .dim = v->unit,
                                        .text = v->description,
                                        .type = YOKE_INTEGER,
                                        .causality = YOKE_PARAMETER,
                                        .start = (double)start,
                                        .offset = YOKE_NO_OFFSET};
  }
  return YOKE_OK;
}

const yoke_argument* yoke__fmu_find_argument(const yoke_unit_args* args, const char* name) {
  for (size_t i = 0; args != NULL && i < args->n_arguments; i++) {
    if (strcmp(args->arguments[i].name, name) == 0) {
      return &args->arguments[i];
    }
  }
  return NULL;
}

// the size of one dimension: a number, or a structural parameter as given or as it starts
static yoke_status read_dimension(const yoke_fmi_description* d,
                                  const yoke_fmi_dimension* dimension, const yoke_unit_args* args,
                                  const char* name, size_t* size, const yoke_sink* sink) {
  *size = (size_t)dimension->start;
  if (dimension->variable == YOKE_FMI_NONE) {
    return YOKE_OK;
  }
  const yoke_fmi_variable* parameter = &d->variables[dimension->variable];
  const yoke_argument* given = yoke__fmu_find_argument(args, parameter->name);
  if (given == NULL) {
    return YOKE_OK;
  }
  const int64_t value = *(const int64_t*)given->value;
  if (given->type != YOKE_INTEGER || value < 0 || value > MAX_ELEMENTS) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "'%s' = %lld is no size for '%s': expected 0 to %d",
                     parameter->name, (long long)value, name, MAX_ELEMENTS);
  }
  *size = (size_t)value;
  return YOKE_OK;
}

// one dimension is a column, two a matrix; more are folded into the columns
static yoke_status read_shape(const yoke_fmi_description* d, const yoke_fmi_variable* v,
                              const yoke_unit_args* args, size_t* n_rows, size_t* n_cols,
                              const yoke_sink* sink) {
  *n_rows = *n_cols = 1;
  for (size_t i = 0; i < v->n_dimensions; i++) {
    size_t size = 0;
    YOKE_TRY(read_dimension(d, &d->dimensions[v->first_dimension + i], args, v->name, &size, sink));
    size_t* to = i == 0 ? n_rows : n_cols;
    if (size != 0 && *to > MAX_ELEMENTS / size) {
      return yoke_fail(sink, YOKE_BAD_INPUT, "array '%s' has more than %d elements", v->name,
                       MAX_ELEMENTS);
    }
    *to *= size;
  }
  if (*n_rows != 0 && *n_cols > MAX_ELEMENTS / *n_rows) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "array '%s' has more than %d elements", v->name,
                     MAX_ELEMENTS);
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// one variable

static yoke_type type_of(const yoke_fmi_description* d, const yoke_fmi_variable* v) {
  size_t n_items = 0;
  switch ((yoke_fmi_type)v->type) {
  case YOKE_FMI_FLOAT64:
  case YOKE_FMI_FLOAT32:
    return YOKE_REAL;
  case YOKE_FMI_BOOLEAN:
  case YOKE_FMI_CLOCK:
    return YOKE_BOOLEAN;
  case YOKE_FMI_STRING:
    return YOKE_STRING;
  case YOKE_FMI_BINARY:
    return YOKE_BINARY;
  case YOKE_FMI_ENUMERATION:
    // without names it is a number
    yoke__fmi_items(d, v, &n_items);
    return n_items > 0 ? YOKE_ENUMERATION : YOKE_INTEGER;
  default:
    return YOKE_INTEGER;
  }
}

static yoke_causality causality_of(const yoke_fmi_variable* v) {
  switch ((yoke_fmi_causality)v->causality) {
  case YOKE_FMI_INPUT:
    return YOKE_INPUT;
  case YOKE_FMI_OUTPUT:
    return YOKE_OUTPUT;
  case YOKE_FMI_PARAMETER:
    return v->variability == YOKE_FMI_TUNABLE ? YOKE_TUNABLE : YOKE_PARAMETER;
  default:
    return YOKE_STATE;
  }
}

static uint32_t flags_of(const yoke_fmi_variable* v) {
  const bool has_start = v->initial == YOKE_FMI_EXACT || v->initial == YOKE_FMI_APPROX;
  const bool is_constant = v->variability == YOKE_FMI_CONSTANT;
  switch (causality_of(v)) {
  case YOKE_INPUT:
    return YOKE_VARIABLE_HAS_START;
  case YOKE_OUTPUT:
    return (has_start && !is_constant ? YOKE_VARIABLE_HAS_START : 0) |
           (v->variability == YOKE_FMI_CONTINUOUS ? 0 : YOKE_VARIABLE_DISCRETE);
  case YOKE_STATE:
    return (has_start && !is_constant && v->causality == YOKE_FMI_LOCAL ? 0
                                                                        : YOKE_VARIABLE_READ_ONLY) |
           (is_constant || v->variability == YOKE_FMI_FIXED || v->causality != YOKE_FMI_LOCAL
                ? YOKE_VARIABLE_CONSTANT
                : 0);
  default:
    return 0;
  }
}

// names and values of an enumeration; start becomes the index of its item
static yoke_status lay_items(const yoke_fmi_description* d, const yoke_fmi_variable* from,
                             yoke_arena* arena, yoke_variable* to, fmu_slot* slot) {
  size_t n = 0;
  const yoke_fmi_item* items = yoke__fmi_items(d, from, &n);
  const char** names = yoke__arena_array(arena, n + 1, sizeof *names);
  int64_t* values = yoke__arena_array(arena, n + 1, sizeof *values);
  YOKE_TRY_MEMORY(names && values);
  int64_t start = 0;
  yoke__fmi_start_integer(from, &start, 1);
  to->start = 0;
  for (size_t i = 0; i < n; i++) {
    names[i] = items[i].name;
    values[i] = items[i].value;
    to->start = items[i].value == start ? (double)i : to->start;
  }
  to->items = names;
  to->item_values = values;
  slot->values = values;
  slot->n_values = n;
  return YOKE_OK;
}

static void lay_start(const yoke_fmi_variable* from, yoke_variable* to) {
  double real = 0;
  int64_t whole = 0;
  if (from->start == NULL) {
    return;
  }
  if (to->type == YOKE_REAL) {
    yoke__fmi_start_real(from, &real, 1);
    to->start = yoke__is_finite(real) ? real : 0;
  } else if (to->type == YOKE_STRING) {
    to->start_text = from->start;
  } else if (to->type != YOKE_BINARY) {
    yoke__fmi_start_integer(from, &whole, 1);
    to->start = (double)whole;
  }
}

static fmu_way way_of(const yoke_fmi_description* d, const yoke_fmi_variable* v, size_t n) {
  const bool is_new = d->version == 3;
  if (v->type == YOKE_FMI_STRING) {
    return FMU_TEXTS;
  }
  return n != 1                        ? FMU_ANY_WAY
         : v->type == YOKE_FMI_INT32   ? (is_new ? FMU_INT32 : FMU_INTEGER2)
         : v->type == YOKE_FMI_BOOLEAN ? (is_new ? FMU_BOOLEAN3 : FMU_BOOLEAN2)
                                       : FMU_ANY_WAY;
}

static yoke_status lay_variable(const yoke_fmi_description* d, size_t index,
                                const yoke_unit_args* args, yoke_arena* arena, yoke_variable* to,
                                fmu_slot* slot, const yoke_sink* sink) {
  const yoke_fmi_variable* from = &d->variables[index];
  size_t n_rows = 1, n_cols = 1;
  YOKE_TRY(read_shape(d, from, args, &n_rows, &n_cols, sink));
  *slot = (fmu_slot){.variable = (uint32_t)index,
                     .n = (uint32_t)(n_rows * n_cols),
                     .reference = from->reference,
                     .type = from->type,
                     .way = (uint8_t)way_of(d, from, n_rows * n_cols)};
  *to = (yoke_variable){.name = from->name,
                        .dim = from->unit,
                        .text = from->description,
                        .type = type_of(d, from),
                        .causality = causality_of(from),
                        .flags = flags_of(from),
                        .n_rows = n_rows,
                        .n_cols = n_cols,
                        .offset = YOKE_NO_OFFSET};
  if (to->type == YOKE_STRING) {
    const bool is_parameter = to->causality == YOKE_PARAMETER || to->causality == YOKE_TUNABLE;
    const size_t length = from->start == NULL ? 0 : strlen(from->start) + 1;
    to->max_size = is_parameter ? FMU_PARAMETER_SIZE : FMU_TEXT_SIZE;
    to->max_size = length > to->max_size ? (length + 7) / 8 * 8 : to->max_size;
  } else if (to->type == YOKE_BINARY) {
    to->max_size = from->max_size > 0 ? ((size_t)from->max_size + 7) / 8 * 8 : FMU_BINARY_SIZE;
  }
  if (to->type == YOKE_ENUMERATION) {
    return lay_items(d, from, arena, to, slot);
  }
  lay_start(from, to);
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// dense vectors

// Both widths have a list of their own: the reference of each variable, the place of each number.
yoke_status yoke__fmu_lay_dense(const fmu_layout* layout, yoke_causality causality,
                                const bool is_wanted[], yoke_arena* arena, fmu_dense* out,
                                size_t* n_all) {
  const size_t n_variables = layout->info.n_variables;
  size_t n_vars[2] = {0, 0}, n_numbers[2] = {0, 0};
  uint32_t* refs[2] = {NULL, NULL};
  size_t* index[2] = {NULL, NULL};
  *n_all = 0;
  // first counted, then kept
  for (int pass = 0; pass < 2; pass++) {
    size_t at = 0, r[2] = {0, 0}, k[2] = {0, 0};
    for (size_t i = 0; i < n_variables; i++) {
      const yoke_variable* v = &layout->info.variables[i];
      const fmu_slot* slot = &layout->slots[i];
      const int w = slot->type == YOKE_FMI_FLOAT32;
      if (v->type != YOKE_REAL || v->causality != causality) {
        continue;
      }
      const bool is_kept = is_wanted == NULL || is_wanted[i];
      if (is_kept && pass == 1) {
        refs[w][r[w]] = slot->reference;
      }
      r[w] += is_kept;
      for (size_t e = 0; e < slot->n; e++, at++) {
        if (is_kept && pass == 1) {
          index[w][k[w]] = at;
        }
        k[w] += is_kept;
      }
    }
    assert(pass == 0 || (r[0] == n_vars[0] && r[1] == n_vars[1] && at == *n_all &&
                         k[0] == n_numbers[0] && k[1] == n_numbers[1]));
    for (int w = 0; w < 2 && pass == 0; w++) {
      n_vars[w] = r[w];
      n_numbers[w] = k[w];
      refs[w] = yoke__arena_array(arena, r[w] + 1, sizeof *refs[w]);
      index[w] = yoke__arena_array(arena, k[w] + 1, sizeof *index[w]);
      YOKE_TRY_MEMORY(refs[w] && index[w]);
    }
    *n_all = at;
  }
  *out = (fmu_dense){.refs = refs[0],
                     .n_refs = n_vars[0],
                     .n = n_numbers[0],
                     .index = is_wanted == NULL && n_numbers[1] == 0 ? NULL : index[0],
                     .numbers = yoke__arena_array(arena, n_numbers[0] + 1, sizeof(double)),
                     .refs32 = refs[1],
                     .n_refs32 = n_vars[1],
                     .n32 = n_numbers[1],
                     .index32 = index[1],
                     .numbers32 = yoke__arena_array(arena, n_numbers[1] + 1, sizeof(float))};
  return out->numbers == NULL || out->numbers32 == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

int64_t yoke__fmu_find_item(const fmu_slot* slot, int64_t value) {
  for (size_t i = 0; i < slot->n_values; i++) {
    if (slot->values[i] == value) {
      return (int64_t)i;
    }
  }
  return 0;
}

bool yoke__fmu_is_continuous(const fmu* f, size_t variable) {
  const yoke_variable* v = &f->layout.info.variables[variable];
  const yoke_fmi_variable* from = &f->description->variables[f->layout.slots[variable].variable];
  return v->type == YOKE_REAL && from->variability == YOKE_FMI_CONTINUOUS && !from->has_clocks;
}

void yoke__fmu_gather(const fmu_dense* dense, const double numbers[]) {
  for (size_t i = 0; dense->index != NULL && i < dense->n; i++) {
    dense->numbers[i] = numbers[dense->index[i]];
  }
  for (size_t i = 0; i < dense->n32; i++) {
    dense->numbers32[i] = (float)numbers[dense->index32[i]];
  }
}

void yoke__fmu_scatter(const fmu_dense* dense, double numbers[]) {
  for (size_t i = 0; dense->index != NULL && i < dense->n; i++) {
    numbers[dense->index[i]] = dense->numbers[i];
  }
  for (size_t i = 0; i < dense->n32; i++) {
    numbers[dense->index32[i]] = (double)dense->numbers32[i];
  }
}

// ---------------------------------------------------------------------------------------------------------
// feedthrough

// Which pairs of output and input: the dependencies of ModelStructure, or all inputs where nothing is said. 1000 outputs
// with 1000 inputs are a million pairs; those beyond the limit are left out, and the unit says so.
#define MAX_PAIRS 4000000

typedef struct pairs {
  yoke_feedthrough* items;
  size_t n, room;
} pairs;

static yoke_status add_pair(pairs* p, yoke_arena* arena, size_t output, size_t input) {
  if (p->n >= MAX_PAIRS) {
    return YOKE_OK;
  }
  if (p->n == p->room) {
    const size_t room = p->room == 0 ? 64 : 2 * p->room;
    yoke_feedthrough* larger = yoke__arena_array(arena, room, sizeof *larger);
    YOKE_TRY_MEMORY(larger);
    if (p->n > 0) {
      memcpy(larger, p->items, p->n * sizeof *larger);
    }
    p->items = larger;
    p->room = room;
  }
  p->items[p->n++] = (yoke_feedthrough){output, input};
  return YOKE_OK;
}

// place: per variable of the description its place among those of the layout, which are the same as in layout->info
static yoke_status lay_feedthrough(const yoke_fmi_description* d, yoke_arena* arena,
                                   const size_t place[], yoke_variable variables[],
                                   fmu_layout* layout) {
  pairs p = {0};
  for (size_t i = 0; i < d->outputs.n; i++) {
    const yoke_fmi_unknown* unknown = &d->outputs.items[i];
    const size_t output = place[unknown->variable];
    if (output == YOKE_FMI_NONE || layout->info.variables[output].causality != YOKE_OUTPUT) {
      continue;
    }
    for (size_t k = 0; unknown->has_dependencies && k < unknown->n; k++) {
      const size_t input = place[d->dependencies[unknown->first + k]];
      if (input != YOKE_FMI_NONE && layout->info.variables[input].causality == YOKE_INPUT) {
        YOKE_TRY(add_pair(&p, arena, output, input));
      }
    }
    for (size_t k = 0; !unknown->has_dependencies && k < layout->info.n_variables; k++) {
      if (layout->info.variables[k].causality == YOKE_INPUT) {
        YOKE_TRY(add_pair(&p, arena, output, k));
      }
    }
    variables[output].flags |= unknown->has_dependencies ? 0 : YOKE_VARIABLE_FEEDTHROUGH_UNKNOWN;
  }
  layout->info.feedthrough = p.items;
  layout->info.n_feedthrough = p.n;
  layout->is_feedthrough_cut = p.n >= MAX_PAIRS;
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------

// what our own exports say about the unit inside

yoke_solver_method yoke__fmu_solver_method(const char* word, size_t n) {
  for (int i = 0; i < YOKE_N_SOLVERS; i++) {
    const char* text = yoke_solver_text((yoke_solver_method)i);
    if (strlen(text) == n && memcmp(text, word, n) == 0) {
      return (yoke_solver_method)i;
    }
  }
  return YOKE_SOLVER_OTHER;
}

// 1 + place of a scalar variable of this type among those of the layout; 0: there is none.
static size_t find_scalar(const yoke_fmi_description* d, const char* name, const size_t place[],
                          const fmu_layout* layout, yoke_type type) {
  const size_t i = name == NULL || name[0] == '\0' ? YOKE_FMI_NONE : yoke__fmi_find(d, name);
  const size_t at = i == YOKE_FMI_NONE ? YOKE_FMI_NONE : place[i];
  const bool is_found =
      at != YOKE_FMI_NONE && layout->info.variables[at].type == type && layout->slots[at].n == 1;
  return is_found ? at + 1 : 0;
}

// The unit is sampled, or linear, and which parameters bend it; one that is not here may bend it too.
static void lay_own(const yoke_fmi_description* d, const size_t place[], yoke_variable variables[],
                    fmu_layout* layout) {
  bool is_linear = d->own.is_linear;
  for (size_t i = 0; i < d->own.n_nonlinear; i++) {
    const size_t number = find_scalar(d, d->own.nonlinear[i], place, layout, YOKE_REAL);
    is_linear = is_linear && number > 0;
    if (number > 0) {
      variables[number - 1].flags |= YOKE_VARIABLE_NONLINEAR;
    }
  }
  layout->info.flags |= is_linear ? YOKE_UNIT_LINEAR : 0;
  layout->info.flags |= d->own.is_sampled ? YOKE_UNIT_SAMPLED : 0;
}

// A description that contradicts itself says nothing.
static void lay_solver(const yoke_fmi_description* d, const size_t place[], fmu_layout* layout) {
  const yoke_fmi_own* own = &d->own;
  yoke_unit_solver solver = {.step = own->internal_step};
  size_t n = 0;
  for (const char* at = own->solver == NULL ? "" : own->solver; *at != '\0' && n < YOKE_MAX_CHOICES;
       at += strspn(at, " ")) {
    const size_t length = strcspn(at, " ");
    solver.methods[n++] = yoke__fmu_solver_method(at, length);
    at += length;
  }
  solver.method = solver.methods[0];
  solver.parts = find_scalar(d, own->steps_variable, place, layout, YOKE_INTEGER);
  solver.choice = find_scalar(d, own->solver_variable, place, layout, YOKE_ENUMERATION);
  const bool is_sound = n > 0 && (own->steps_variable[0] == '\0' || solver.parts > 0) &&
                        (own->solver_variable[0] == '\0' || solver.choice > 0);
  if (is_sound) {
    layout->info.solver = solver;
  }
}

// ---------------------------------------------------------------------------------------------------------

static yoke_status lay_variables(const yoke_fmi_description* d, const yoke_unit_args* args,
                                 yoke_arena* arena, size_t place[], yoke_variable** to,
                                 fmu_layout* out, const yoke_sink* sink) {
  yoke_variable* variables = yoke__arena_array(arena, d->n_variables + 1, sizeof *variables);
  fmu_slot* slots = yoke__arena_array(arena, d->n_variables + 1, sizeof *slots);
  YOKE_TRY_MEMORY(variables && slots);
  size_t n = 0;
  for (size_t i = 0; i < d->n_variables; i++) {
    place[i] = YOKE_FMI_NONE;
    // structural parameters are settings of create; an alias of FMI 1.0 with the opposite sign has its twin
    if (d->variables[i].causality == YOKE_FMI_STRUCTURAL_PARAMETER || d->variables[i].is_negated) {
      continue;
    }
    YOKE_TRY(lay_variable(d, i, args, arena, &variables[n], &slots[n], sink));
    // an array of size 0 has nothing to show
    if (slots[n].n == 0) {
      continue;
    }
    if (d->variables[i].causality == YOKE_FMI_INDEPENDENT && out->clock == YOKE_FMI_NONE) {
      out->clock = n;
    }
    place[i] = n++;
  }
  out->info.variables = variables;
  out->info.n_variables = n;
  out->slots = slots;
  lay_own(d, place, variables, out);
  lay_solver(d, place, out);
  *to = variables;
  return YOKE_OK;
}

yoke_status yoke__fmu_lay_out(const yoke_fmi_description* d, const yoke_unit_args* args,
                              yoke_arena* arena, fmu_layout* out, const yoke_sink* sink) {
  *out = (fmu_layout){.clock = YOKE_FMI_NONE};
  size_t* place = calloc(d->n_variables + 1, sizeof *place);
  yoke_variable* variables = NULL;
  yoke_status status = YOKE_NO_MEMORY;
  if (place != NULL) {
    status = lay_variables(d, args, arena, place, &variables, out, sink);
  }
  if (status >= 0) {
    status = lay_feedthrough(d, arena, place, variables, out);
  }
  free(place);
  YOKE_TRY(status);
  YOKE_TRY(yoke__fmu_lay_dense(out, YOKE_INPUT, NULL, arena, &out->inputs, &out->n_u));
  return yoke__fmu_lay_dense(out, YOKE_OUTPUT, NULL, arena, &out->outputs, &out->n_y);
}
