// Variables: one element with its children becomes one entry of the table, with an entry per alias behind it.
//
// FMI 1.0 and 2.0 write <ScalarVariable ...><Real .../></ScalarVariable>, FMI 3.0 <Float64 ...>; the parts are gathered in
// reader->now and settled when the element closes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "fmi/fmi_reader.h"

#define MAX_DIMENSIONS 32

#define AT(name) YOKE_FMI_AT_##name

static const char* const causalities_1[] = {"input", "output", "internal", "none", NULL};
static const char* const variabilities_1[] = {"constant", "parameter", "discrete", "continuous",
                                              NULL};
static const char* const aliases_1[] = {"noAlias", "alias", "negatedAlias", NULL};

void yoke__fmi_open_variables(yoke_fmi_reader* reader) {
  reader->variables_line = reader->line;
}

// ---- names

static bool is_control(char c) {
  return (unsigned char)c < 0x20 || c == 0x7f;
}

// The name as it is used from here on: never empty, no control characters.
static const char* settle_name(yoke_fmi_reader* reader, const char* text) {
  if (text == NULL || text[0] == '\0') {
    char made[48];
    snprintf(made, sizeof made, "unnamed_%zu", reader->n_elements);
    YOKE_FMI_FAULT(reader, NAME_MISSING, reader->line, "a variable has no name");
    return yoke__fmi_keep(reader, made);
  }
  const size_t n = strlen(text);
  size_t i = 0;
  while (i < n && !is_control(text[i])) {
    i++;
  }
  if (i == n) {
    return yoke__fmi_keep_n(reader, text, n);
  }
  YOKE_FMI_FAULT(reader, NAME_ODD, reader->line,
                 "name '%s' has line ends or other control characters", text);
  char* changed = malloc(n);
  if (changed == NULL) {
    reader->status = YOKE_NO_MEMORY;
    return "";
  }
  for (i = 0; i < n; i++) {
    changed[i] = text[i];
    if (is_control(text[i])) {
      changed[i] = '_';
    }
  }
  const char* kept = yoke__fmi_keep_n(reader, changed, n);
  free(changed);
  return kept;
}

// ---- the parts

// What all versions write in the outer element.
static void begin_variable(yoke_fmi_reader* reader) {
  yoke_fmi_now* now = &reader->now;
  const yoke_text starts = now->starts;
  *now = (yoke_fmi_now){.line = reader->line,
                        .causality = -1,
                        .variability = -1,
                        .initial = -1,
                        .min = YOKE_FMI_NAN,
                        .max = YOKE_FMI_NAN,
                        .is_fixed = true,
                        .starts = starts};
  yoke__text_clear(&now->starts);
  reader->n_elements++;
  now->v.line = (uint32_t)reader->line;
  now->v.unit = "";
  now->v.name = settle_name(reader, YOKE_FMI_VALUE(reader, name));
  now->v.description = yoke__fmi_keep(reader, YOKE_FMI_VALUE(reader, description));
  const char* at = YOKE_FMI_VALUE(reader, valueReference);
  size_t n = 0, n_more = 0;
  const char* word = at == NULL ? NULL : yoke__fmi_token(&at, &n);
  now->has_reference = word != NULL && yoke__fmi_scan_reference(word, n, &now->v.reference) &&
                       yoke__fmi_token(&at, &n_more) == NULL;
  if (!now->has_reference) {
    const char* text = YOKE_FMI_VALUE(reader, valueReference);
    YOKE_FMI_FAULT(reader, REFERENCE_BAD, reader->line,
                   "variable '%s' has %s%.40s as its value reference", now->v.name,
                   text == NULL ? "nothing" : "", text == NULL ? "" : text);
  }
}

#define WORD(attribute, words) yoke__fmi_word(reader, AT(attribute), words)

static void read_roles(yoke_fmi_reader* reader) {
  yoke_fmi_now* now = &reader->now;
  now->causality = WORD(causality, yoke__fmi_causality_words);
  now->variability = WORD(variability, yoke__fmi_variability_words);
  now->initial = WORD(initial, yoke__fmi_initial_words);
  now->v.is_multiple_set_allowed =
      yoke__fmi_flag(reader, AT(canHandleMultipleSetPerTimeInstant), true);
  now->v.is_intermediate = yoke__fmi_flag(reader, AT(intermediateUpdate), false);
}

// A unit's text is kept once, with the first variable that uses it.
static void use_unit(yoke_fmi_reader* reader, const char* text) {
  size_t at = yoke__fmi_names_find(&reader->unit_texts, text);
  if (at == YOKE_NOT_FOUND) {
    const char* kept = yoke__fmi_keep(reader, text);
    yoke_fmi_unit_use* use = yoke__fmi_list_add(reader, &reader->unit_uses, sizeof *use);
    *use = (yoke_fmi_unit_use){kept, reader->now.v.name, reader->line, 0};
    yoke__fmi_names_add(reader, &reader->unit_texts, kept);
    at = reader->unit_uses.n - 1;
  }
  if (reader->status >= 0) {
    yoke_fmi_unit_use* use = (yoke_fmi_unit_use*)reader->unit_uses.items + at;
    use->n++;
    reader->now.v.unit = use->text;
  }
}

// What belongs to the type: start, unit, bounds, declared type, derivative.
static void read_type(yoke_fmi_reader* reader) {
  yoke_fmi_now* now = &reader->now;
  now->has_type = true;
  now->v.type = (uint8_t)reader->kind;
  const char* start = YOKE_FMI_VALUE(reader, start);
  if (start != NULL) {
    now->v.start = yoke__fmi_keep(reader, start);
  }
  const char* type = YOKE_FMI_VALUE(reader, declaredType);
  if (type != NULL) {
    // only a type that comes later in the file costs a copy of its name
    const size_t found = yoke__fmi_names_find(&reader->type_names, type);
    now->v.type_definition = found == YOKE_NOT_FOUND ? 0 : (uint32_t)(found + 1);
    now->declared_type = found == YOKE_NOT_FOUND ? yoke__fmi_keep(reader, type) : NULL;
  }
  const char* unit = YOKE_FMI_VALUE(reader, unit);
  if (unit != NULL && unit[0] != '\0') {
    use_unit(reader, unit);
  }
  now->min = yoke__fmi_number(reader, AT(min), YOKE_FMI_NAN);
  now->max = yoke__fmi_number(reader, AT(max), YOKE_FMI_NAN);
  if (YOKE_FMI_VALUE(reader, derivative) != NULL) {
    now->has_derivative = true;
    now->derivative =
        (uint32_t)yoke__fmi_integer(reader, AT(derivative), UINT32_MAX, 0, UINT32_MAX);
  }
  now->v.reinit = yoke__fmi_flag(reader, AT(reinit), false);
  now->is_fixed = yoke__fmi_flag(reader, AT(fixed), true);
  now->v.max_size = (uint32_t)yoke__fmi_integer(reader, AT(maxSize), 0, 0, UINT32_MAX);
}

void yoke__fmi_open_scalar(yoke_fmi_reader* reader) {
  yoke_fmi_now* now = &reader->now;
  begin_variable(reader);
  if (reader->d->version == 2) {
    read_roles(reader);
    return;
  }
  now->causality = WORD(causality, causalities_1);
  now->variability = WORD(variability, variabilities_1);
  now->v.is_negated = WORD(alias, aliases_1) == 2;
  now->v.is_multiple_set_allowed = true;
}

void yoke__fmi_open_scalar_type(yoke_fmi_reader* reader) {
  if (!reader->now.has_type) {
    read_type(reader);
  }
}

// ---- FMI 3.0

static void read_clock(yoke_fmi_reader* reader) {
  yoke_fmi_now* now = &reader->now;
  yoke_fmi_clock* clock = &now->clock;
  const int interval = WORD(intervalVariability, yoke__fmi_interval_words);
  if (interval < 0) {
    YOKE_FMI_FAULT(reader, CLOCK_BAD, reader->line, "clock '%s' has no intervalVariability",
                   now->v.name);
  }
  clock->interval = interval < 0 ? YOKE_FMI_INTERVAL_TRIGGERED : (yoke_fmi_interval)interval;
  clock->interval_decimal = yoke__fmi_number(reader, AT(intervalDecimal), YOKE_FMI_NAN);
  clock->shift_decimal = yoke__fmi_number(reader, AT(shiftDecimal), 0);
  clock->resolution = (uint64_t)yoke__fmi_integer(reader, AT(resolution), 0, 0, INT64_MAX);
  clock->interval_counter =
      (uint64_t)yoke__fmi_integer(reader, AT(intervalCounter), 0, 0, INT64_MAX);
  clock->shift_counter = (uint64_t)yoke__fmi_integer(reader, AT(shiftCounter), 0, 0, INT64_MAX);
  clock->has_counter = clock->resolution > 0 && clock->interval_counter > 0;
  clock->priority = (uint32_t)yoke__fmi_integer(reader, AT(priority), 0, 0, UINT32_MAX);
  clock->can_be_deactivated = yoke__fmi_flag(reader, AT(canBeDeactivated), false);
  clock->supports_fraction = yoke__fmi_flag(reader, AT(supportsFraction), false);
  now->has_clock = true;

  // a period must be positive wherever the file has to give one
  const bool is_periodic = interval == YOKE_FMI_INTERVAL_CONSTANT;
  if ((is_periodic && !clock->has_counter && !(clock->interval_decimal > 0)) ||
      clock->interval_decimal <= 0) {
    YOKE_FMI_FAULT(reader, CLOCK_BAD, reader->line, "clock '%s' has no positive interval",
                   now->v.name);
    clock->interval = YOKE_FMI_INTERVAL_TRIGGERED;
    clock->interval_decimal = YOKE_FMI_NAN;
  }
}

// Numbers of the clocks a variable belongs to; the variable gets the next index.
static void read_clocks(yoke_fmi_reader* reader) {
  const char* at = YOKE_FMI_VALUE(reader, clocks);
  size_t n = 0;
  for (const char* word = at == NULL ? NULL : yoke__fmi_token(&at, &n); word != NULL;
       word = yoke__fmi_token(&at, &n)) {
    yoke_fmi_raw raw = {(uint32_t)reader->variables.n, 0, reader->line};
    if (!yoke__fmi_scan_reference(word, n, &raw.target)) {
      YOKE_FMI_FAULT(reader, CLOCK_UNKNOWN, reader->line,
                     "clocks of '%s': %.*s is no value reference", reader->now.v.name,
                     (int)(n < 40 ? n : 40), word);
      continue;
    }
    *(yoke_fmi_raw*)yoke__fmi_list_add(reader, &reader->clocked, sizeof raw) = raw;
    reader->now.v.has_clocks = true;
  }
}

void yoke__fmi_open_variable(yoke_fmi_reader* reader) {
  begin_variable(reader);
  read_roles(reader);
  read_type(reader);
  reader->now.v.first_dimension = (uint32_t)reader->dimensions.n;
  reader->aliases.n = 0;
  if (reader->kind == YOKE_FMI_CLOCK) {
    read_clock(reader);
  }
  if (reader->now.has_reference) {
    read_clocks(reader);
  }
}

void yoke__fmi_open_dimension(yoke_fmi_reader* reader) {
  yoke_fmi_now* now = &reader->now;
  const char* reference = YOKE_FMI_VALUE(reader, valueReference);
  const int64_t start = yoke__fmi_integer(reader, AT(start), -1, 0, INT64_MAX);
  if (now->v.n_dimensions == MAX_DIMENSIONS || reader->dimensions.n >= UINT32_MAX) {
    YOKE_FMI_FAULT(reader, DIMENSION_BAD, reader->line, "'%s' has more than %d dimensions",
                   now->v.name, MAX_DIMENSIONS);
    return;
  }
  yoke_fmi_dimension* dimension =
      yoke__fmi_list_add(reader, &reader->dimensions, sizeof *dimension);
  now->v.n_dimensions++;
  *dimension = (yoke_fmi_dimension){start <= 0 ? 1 : (uint64_t)start, YOKE_FMI_NONE};

  // a reference stays as written until all variables are known
  uint32_t target = 0;
  if (reference != NULL && yoke__fmi_scan_reference(reference, strlen(reference), &target)) {
    dimension->variable = target;
  } else if (start <= 0) {
    YOKE_FMI_FAULT(reader, DIMENSION_BAD, reader->line, "a dimension of '%s' has no positive size",
                   now->v.name);
  }
}

// <Start value="..."/> of strings and binaries, joined with 0x1f between them.
void yoke__fmi_open_start(yoke_fmi_reader* reader) {
  yoke_fmi_now* now = &reader->now;
  const char* text = YOKE_FMI_VALUE(reader, value);
  yoke__text_append(&now->starts, "\x1f", now->n_starts++ > 0 ? 1 : 0);
  yoke__text_string(&now->starts, text == NULL ? "" : text);
  reader->status = reader->status < 0 ? reader->status : now->starts.status;
}

void yoke__fmi_open_alias(yoke_fmi_reader* reader) {
  yoke_fmi_alias* alias = yoke__fmi_list_add(reader, &reader->aliases, sizeof *alias);
  alias->line = reader->line;
  alias->name = settle_name(reader, YOKE_FMI_VALUE(reader, name));
  alias->description = yoke__fmi_keep(reader, YOKE_FMI_VALUE(reader, description));
}

// ---- FMI 1.0: the inputs an output depends on, by their names

void yoke__fmi_open_dependency(yoke_fmi_reader* reader) {
  if (!reader->now.has_dependency) {
    yoke_fmi_direct* direct = yoke__fmi_list_add(reader, &reader->direct, sizeof *direct);
    *direct =
        (yoke_fmi_direct){(uint32_t)reader->variables.n, reader->late_names.n, 0, reader->line};
    reader->now.has_dependency = true;
  }
}

void yoke__fmi_open_dependency_name(yoke_fmi_reader* reader) {
  reader->is_text_wanted = true;
  yoke__text_clear(&reader->line_text);
}

void yoke__fmi_close_dependency_name(yoke_fmi_reader* reader) {
  reader->is_text_wanted = false;
  const char** name = yoke__fmi_list_add(reader, &reader->late_names, sizeof *name);
  *name = yoke__fmi_keep_n(reader, reader->line_text.bytes, reader->line_text.n);
  yoke_fmi_direct* direct = (yoke_fmi_direct*)reader->direct.items + reader->direct.n - 1;
  direct->n++;
}

// ---- the end of a variable

// A variable that cannot be used: its position is kept, because FMI 2.0 counts positions.
static void drop_variable(yoke_fmi_reader* reader) {
  yoke_fmi_now* now = &reader->now;
  if (now->has_reference) {
    YOKE_FMI_FAULT(reader, VARIABLE_TYPE, now->line, "variable '%s' has no type", now->v.name);
  }
  if (now->has_dependency) {
    reader->direct.n--;
  }
  uint32_t* position = yoke__fmi_list_add(reader, &reader->dropped, sizeof *position);
  *position = (uint32_t)reader->n_elements;  // from 1
}

static void note_links(yoke_fmi_reader* reader, uint32_t index) {
  const yoke_fmi_now* now = &reader->now;
  if (now->declared_type != NULL) {
    yoke_fmi_late_type* late = yoke__fmi_list_add(reader, &reader->late_types, sizeof *late);
    *late = (yoke_fmi_late_type){index, now->declared_type};
  }
  if (now->has_derivative) {
    yoke_fmi_raw* raw = yoke__fmi_list_add(reader, &reader->derivatives, sizeof *raw);
    *raw = (yoke_fmi_raw){index, now->derivative, now->line};
  }
  if (now->has_clock) {
    yoke_fmi_clock* clock = yoke__fmi_list_add(reader, &reader->clocks, sizeof *clock);
    *clock = now->clock;
    clock->variable = index;
  }
}

static void add_variable(yoke_fmi_reader* reader, const yoke_fmi_variable* v) {
  *(yoke_fmi_variable*)yoke__fmi_list_add(reader, &reader->variables, sizeof *v) = *v;
  if (reader->variables.n >= UINT32_MAX) {
    reader->status = YOKE_NO_MEMORY;
  }
}

void yoke__fmi_close_variable(yoke_fmi_reader* reader) {
  yoke_fmi_now* now = &reader->now;
  if (!now->has_reference || !now->has_type) {
    drop_variable(reader);
    return;
  }
  if (now->n_starts > 0) {
    now->v.start = yoke__fmi_keep_n(reader, now->starts.bytes, now->starts.n);
  }
  yoke__fmi_settle(reader);
  yoke__fmi_check_start(reader);
  const uint32_t index = (uint32_t)reader->variables.n;
  note_links(reader, index);
  add_variable(reader, &now->v);

  // aliases are variables with another name
  const yoke_fmi_alias* aliases = reader->aliases.items;
  for (size_t i = 0; i < reader->aliases.n; i++) {
    yoke_fmi_variable v = now->v;
    v.name = aliases[i].name;
    v.description = aliases[i].description;
    v.line = (uint32_t)aliases[i].line;
    v.alias_of = index + 1;
    add_variable(reader, &v);
  }
  reader->aliases.n = 0;
}
