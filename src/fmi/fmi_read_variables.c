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

static const char* const causalities[] = {
    "parameter", "calculatedParameter", "structuralParameter", "input", "output",
    "local",     "independent",
};
static const char* const variabilities[] = {"constant", "fixed", "tunable", "discrete",
                                            "continuous"};
static const char* const initials[] = {"exact", "approx", "calculated"};
static const char* const causalities_1[] = {"input", "output", "internal", "none"};
static const char* const variabilities_1[] = {"constant", "parameter", "discrete", "continuous"};
static const char* const aliases_1[] = {"noAlias", "alias", "negatedAlias"};

yoke_status yoke__fmi_open_variables(yoke_fmi_reader* reader, int kind, int line) {
  (void)kind;
  reader->variables_line = line;
  return YOKE_OK;
}

// ---- names

static bool is_control(char c) {
  return (unsigned char)c < 0x20 || c == 0x7f;
}

// The name as it is used from here on: never empty, no control characters.
static const char* settle_name(yoke_fmi_reader* reader, const char* text, int line) {
  if (text == NULL || text[0] == '\0') {
    char made[48];
    snprintf(made, sizeof made, "unnamed_%zu", reader->n_elements);
    yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_NAME_MISSING, line, 0,
                         "a variable has no name");
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
  yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_NAME_ODD, line, 0,
                       "name '%s' has line ends or other control characters", text);
  char* changed = malloc(n);
  if (changed == NULL) {
    return NULL;
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

static const char* keep_or_empty(yoke_fmi_reader* reader, const char* text) {
  return text == NULL ? "" : yoke__fmi_keep(reader, text);
}

// ---- the parts

// What all versions write in the outer element.
static yoke_status begin_variable(yoke_fmi_reader* reader, int line) {
  yoke_fmi_now* now = &reader->now;
  const yoke_text starts = now->starts;
  *now = (yoke_fmi_now){.line = line,
                        .causality = -1,
                        .variability = -1,
                        .initial = -1,
                        .min = YOKE_FMI_NAN,
                        .max = YOKE_FMI_NAN,
                        .is_fixed = true,
                        .starts = starts};
  yoke__text_clear(&now->starts);
  reader->n_elements++;
  now->v.line = (uint32_t)line;
  now->v.unit = "";
  now->v.name = settle_name(reader, YOKE_FMI_VALUE(reader, name), line);
  now->v.description = keep_or_empty(reader, YOKE_FMI_VALUE(reader, description));
  if (now->v.name == NULL || now->v.description == NULL) {
    return YOKE_NO_MEMORY;
  }
  const char* at = YOKE_FMI_VALUE(reader, valueReference);
  size_t n = 0, n_more = 0;
  const char* word = at == NULL ? NULL : yoke__fmi_token(&at, &n);
  now->has_reference = word != NULL && yoke__fmi_scan_reference(word, n, &now->v.reference) &&
                       yoke__fmi_token(&at, &n_more) == NULL;
  if (!now->has_reference) {
    const char* text = YOKE_FMI_VALUE(reader, valueReference);
    yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_REFERENCE_BAD, line, 0,
                         "variable '%s' has %s%.40s as its value reference", now->v.name,
                         text == NULL ? "nothing" : "", text == NULL ? "" : text);
  }
  return YOKE_OK;
}

#define WORD(attribute, words) yoke__fmi_word(reader, AT(attribute), words, YOKE_COUNT(words), line)

static void read_roles(yoke_fmi_reader* reader, int line) {
  yoke_fmi_now* now = &reader->now;
  now->causality = WORD(causality, causalities);
  now->variability = WORD(variability, variabilities);
  now->initial = WORD(initial, initials);
  now->v.is_multiple_set_allowed =
      yoke__fmi_flag(reader, AT(canHandleMultipleSetPerTimeInstant), true, line);
  now->v.is_intermediate = yoke__fmi_flag(reader, AT(intermediateUpdate), false, line);
}

// A unit's text is kept once, with the first variable that uses it.
static yoke_status use_unit(yoke_fmi_reader* reader, const char* text, int line) {
  size_t at = yoke__fmi_names_find(&reader->unit_texts, text);
  if (at == YOKE_NOT_FOUND) {
    const char* kept = yoke__fmi_keep(reader, text);
    yoke_fmi_unit_use* use = yoke__fmi_list_add(&reader->unit_uses, sizeof *use);
    if (kept == NULL || use == NULL) {
      return YOKE_NO_MEMORY;
    }
    *use = (yoke_fmi_unit_use){kept, reader->now.v.name, line, 0};
    size_t found = YOKE_NOT_FOUND;
    YOKE_TRY(yoke__fmi_names_add(reader, &reader->unit_texts, kept, &found));
    at = reader->unit_uses.n - 1;
  }
  yoke_fmi_unit_use* use = (yoke_fmi_unit_use*)reader->unit_uses.items + at;
  use->n++;
  reader->now.v.unit = use->text;
  return YOKE_OK;
}

// What belongs to the type: start, unit, bounds, declared type, derivative.
static yoke_status read_type(yoke_fmi_reader* reader, int kind, int line) {
  yoke_fmi_now* now = &reader->now;
  now->has_type = true;
  now->v.type = (uint8_t)kind;
  const char* start = YOKE_FMI_VALUE(reader, start);
  if (start != NULL) {
    now->v.start = yoke__fmi_keep(reader, start);
    if (now->v.start == NULL) {
      return YOKE_NO_MEMORY;
    }
  }
  const char* type = YOKE_FMI_VALUE(reader, declaredType);
  if (type != NULL) {
    // only a type that comes later in the file costs a copy of its name
    const size_t found = yoke__fmi_names_find(&reader->type_names, type);
    now->v.type_definition = found == YOKE_NOT_FOUND ? 0 : (uint32_t)(found + 1);
    now->declared_type = found == YOKE_NOT_FOUND ? yoke__fmi_keep(reader, type) : NULL;
    if (found == YOKE_NOT_FOUND && now->declared_type == NULL) {
      return YOKE_NO_MEMORY;
    }
  }
  const char* unit = YOKE_FMI_VALUE(reader, unit);
  if (unit != NULL && unit[0] != '\0') {
    YOKE_TRY(use_unit(reader, unit, line));
  }
  now->min = yoke__fmi_number(reader, AT(min), YOKE_FMI_NAN, line);
  now->max = yoke__fmi_number(reader, AT(max), YOKE_FMI_NAN, line);
  if (YOKE_FMI_VALUE(reader, derivative) != NULL) {
    now->has_derivative = true;
    now->derivative =
        (uint32_t)yoke__fmi_integer(reader, AT(derivative), UINT32_MAX, 0, UINT32_MAX, line);
  }
  now->v.reinit = yoke__fmi_flag(reader, AT(reinit), false, line);
  now->is_fixed = yoke__fmi_flag(reader, AT(fixed), true, line);
  now->v.max_size = (uint32_t)yoke__fmi_integer(reader, AT(maxSize), 0, 0, UINT32_MAX, line);
  return YOKE_OK;
}

yoke_status yoke__fmi_open_scalar(yoke_fmi_reader* reader, int kind, int line) {
  (void)kind;
  YOKE_TRY(begin_variable(reader, line));
  if (reader->d->version == 2) {
    read_roles(reader, line);
    return YOKE_OK;
  }
  yoke_fmi_now* now = &reader->now;
  now->causality = WORD(causality, causalities_1);
  now->variability = WORD(variability, variabilities_1);
  now->v.is_negated = WORD(alias, aliases_1) == 2;
  now->v.is_multiple_set_allowed = true;
  return YOKE_OK;
}

yoke_status yoke__fmi_open_scalar_type(yoke_fmi_reader* reader, int kind, int line) {
  return reader->now.has_type ? YOKE_OK : read_type(reader, kind, line);
}

// ---- FMI 3.0

static void read_clock(yoke_fmi_reader* reader, int line) {
  static const char* const intervals[] = {"constant", "fixed",     "calculated", "tunable",
                                          "changing", "countdown", "triggered"};
  yoke_fmi_now* now = &reader->now;
  yoke_fmi_clock* clock = &now->clock;
  const int interval = WORD(intervalVariability, intervals);
  if (interval < 0) {
    yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_CLOCK_BAD, line, 0,
                         "clock '%s' has no intervalVariability", now->v.name);
  }
  clock->interval = interval < 0 ? YOKE_FMI_INTERVAL_TRIGGERED : (yoke_fmi_interval)interval;
  clock->interval_decimal = yoke__fmi_number(reader, AT(intervalDecimal), YOKE_FMI_NAN, line);
  clock->shift_decimal = yoke__fmi_number(reader, AT(shiftDecimal), 0, line);
  clock->resolution = (uint64_t)yoke__fmi_integer(reader, AT(resolution), 0, 0, INT64_MAX, line);
  clock->interval_counter =
      (uint64_t)yoke__fmi_integer(reader, AT(intervalCounter), 0, 0, INT64_MAX, line);
  clock->shift_counter =
      (uint64_t)yoke__fmi_integer(reader, AT(shiftCounter), 0, 0, INT64_MAX, line);
  clock->has_counter = clock->resolution > 0 && clock->interval_counter > 0;
  clock->priority = (uint32_t)yoke__fmi_integer(reader, AT(priority), 0, 0, UINT32_MAX, line);
  clock->can_be_deactivated = yoke__fmi_flag(reader, AT(canBeDeactivated), false, line);
  clock->supports_fraction = yoke__fmi_flag(reader, AT(supportsFraction), false, line);
  now->has_clock = true;

  // a period must be positive wherever the file has to give one
  const bool is_periodic = interval == YOKE_FMI_INTERVAL_CONSTANT;
  if ((is_periodic && !clock->has_counter && !(clock->interval_decimal > 0)) ||
      clock->interval_decimal <= 0) {
    yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_CLOCK_BAD, line, 0,
                         "clock '%s' has no positive interval", now->v.name);
    clock->interval = YOKE_FMI_INTERVAL_TRIGGERED;
    clock->interval_decimal = YOKE_FMI_NAN;
  }
}

// Numbers of the clocks a variable belongs to; the variable gets the next index.
static yoke_status read_clocks(yoke_fmi_reader* reader, int line) {
  const char* at = YOKE_FMI_VALUE(reader, clocks);
  size_t n = 0;
  for (const char* word = at == NULL ? NULL : yoke__fmi_token(&at, &n); word != NULL;
       word = yoke__fmi_token(&at, &n)) {
    yoke_fmi_raw* raw = yoke__fmi_list_add(&reader->clocked, sizeof *raw);
    if (raw == NULL) {
      return YOKE_NO_MEMORY;
    }
    *raw = (yoke_fmi_raw){(uint32_t)reader->variables.n, 0, line};
    if (!yoke__fmi_scan_reference(word, n, &raw->target)) {
      yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_CLOCK_UNKNOWN, line, 0,
                           "clocks of '%s': %.*s is no value reference", reader->now.v.name,
                           (int)(n < 40 ? n : 40), word);
      reader->clocked.n--;
      continue;
    }
    reader->now.v.has_clocks = true;
  }
  return YOKE_OK;
}

yoke_status yoke__fmi_open_variable(yoke_fmi_reader* reader, int kind, int line) {
  YOKE_TRY(begin_variable(reader, line));
  read_roles(reader, line);
  YOKE_TRY(read_type(reader, kind, line));
  reader->now.v.first_dimension = (uint32_t)reader->dimensions.n;
  reader->aliases.n = 0;
  if (kind == YOKE_FMI_CLOCK) {
    read_clock(reader, line);
  }
  return reader->now.has_reference ? read_clocks(reader, line) : YOKE_OK;
}

yoke_status yoke__fmi_open_dimension(yoke_fmi_reader* reader, int kind, int line) {
  (void)kind;
  yoke_fmi_now* now = &reader->now;
  const char* reference = YOKE_FMI_VALUE(reader, valueReference);
  const int64_t start = yoke__fmi_integer(reader, AT(start), -1, 0, INT64_MAX, line);
  if (now->v.n_dimensions == MAX_DIMENSIONS || reader->dimensions.n >= UINT32_MAX) {
    yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_DIMENSION_BAD, line, 0,
                         "'%s' has more than %d dimensions", now->v.name, MAX_DIMENSIONS);
    return YOKE_OK;
  }
  yoke_fmi_dimension* dimension = yoke__fmi_list_add(&reader->dimensions, sizeof *dimension);
  if (dimension == NULL) {
    return YOKE_NO_MEMORY;
  }
  now->v.n_dimensions++;
  *dimension = (yoke_fmi_dimension){start <= 0 ? 1 : (uint64_t)start, YOKE_FMI_NONE};

  // a reference stays as written until all variables are known
  uint32_t target = 0;
  if (reference != NULL && yoke__fmi_scan_reference(reference, strlen(reference), &target)) {
    dimension->variable = target;
  } else if (start <= 0) {
    yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_DIMENSION_BAD, line, 0,
                         "a dimension of '%s' has no positive size", now->v.name);
  }
  return YOKE_OK;
}

// <Start value="..."/> of strings and binaries, joined with 0x1f between them.
yoke_status yoke__fmi_open_start(yoke_fmi_reader* reader, int kind, int line) {
  (void)kind;
  (void)line;
  yoke_fmi_now* now = &reader->now;
  const char* text = YOKE_FMI_VALUE(reader, value);
  yoke__text_append(&now->starts, "\x1f", now->n_starts++ > 0 ? 1 : 0);
  yoke__text_string(&now->starts, text == NULL ? "" : text);
  return now->starts.status;
}

yoke_status yoke__fmi_open_alias(yoke_fmi_reader* reader, int kind, int line) {
  (void)kind;
  yoke_fmi_alias* alias = yoke__fmi_list_add(&reader->aliases, sizeof *alias);
  if (alias == NULL) {
    return YOKE_NO_MEMORY;
  }
  alias->line = line;
  alias->name = settle_name(reader, YOKE_FMI_VALUE(reader, name), line);
  alias->description = keep_or_empty(reader, YOKE_FMI_VALUE(reader, description));
  return alias->name == NULL || alias->description == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

// ---- FMI 1.0: the inputs an output depends on, by their names

yoke_status yoke__fmi_open_dependency(yoke_fmi_reader* reader, int kind, int line) {
  (void)kind;
  if (reader->now.has_dependency) {
    return YOKE_OK;
  }
  yoke_fmi_direct* direct = yoke__fmi_list_add(&reader->direct, sizeof *direct);
  if (direct == NULL) {
    return YOKE_NO_MEMORY;
  }
  *direct = (yoke_fmi_direct){(uint32_t)reader->variables.n, reader->late_names.n, 0, line};
  reader->now.has_dependency = true;
  return YOKE_OK;
}

yoke_status yoke__fmi_open_dependency_name(yoke_fmi_reader* reader, int kind, int line) {
  (void)kind;
  (void)line;
  reader->is_text_wanted = true;
  yoke__text_clear(&reader->line_text);
  return YOKE_OK;
}

yoke_status yoke__fmi_close_dependency_name(yoke_fmi_reader* reader) {
  reader->is_text_wanted = false;
  const char** name = yoke__fmi_list_add(&reader->late_names, sizeof *name);
  if (name == NULL) {
    return YOKE_NO_MEMORY;
  }
  *name = yoke__fmi_keep_n(reader, reader->line_text.n == 0 ? "" : reader->line_text.bytes,
                           reader->line_text.n);
  yoke_fmi_direct* direct = (yoke_fmi_direct*)reader->direct.items + reader->direct.n - 1;
  direct->n++;
  return *name == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

// ---- the end of a variable

// A variable that cannot be used: its position is kept, because FMI 2.0 counts positions.
static yoke_status drop_variable(yoke_fmi_reader* reader) {
  yoke_fmi_now* now = &reader->now;
  if (now->has_reference) {
    yoke__fmi_find_fault(&reader->findings, YOKE_FMI_RULE_VARIABLE_TYPE, now->line, 0,
                         "variable '%s' has no type", now->v.name);
  }
  if (now->has_dependency) {
    reader->direct.n--;
  }
  uint32_t* position = yoke__fmi_list_add(&reader->dropped, sizeof *position);
  if (position == NULL) {
    return YOKE_NO_MEMORY;
  }
  *position = (uint32_t)reader->n_elements;  // from 1
  return YOKE_OK;
}

static yoke_status note_links(yoke_fmi_reader* reader, uint32_t index) {
  const yoke_fmi_now* now = &reader->now;
  if (now->declared_type != NULL) {
    yoke_fmi_late_type* late = yoke__fmi_list_add(&reader->late_types, sizeof *late);
    if (late == NULL) {
      return YOKE_NO_MEMORY;
    }
    *late = (yoke_fmi_late_type){index, now->declared_type};
  }
  if (now->has_derivative) {
    yoke_fmi_raw* raw = yoke__fmi_list_add(&reader->derivatives, sizeof *raw);
    if (raw == NULL) {
      return YOKE_NO_MEMORY;
    }
    *raw = (yoke_fmi_raw){index, now->derivative, now->line};
  }
  if (now->has_clock) {
    yoke_fmi_clock* clock = yoke__fmi_list_add(&reader->clocks, sizeof *clock);
    if (clock == NULL) {
      return YOKE_NO_MEMORY;
    }
    *clock = now->clock;
    clock->variable = index;
  }
  return YOKE_OK;
}

static yoke_status add_variable(yoke_fmi_reader* reader, const yoke_fmi_variable* v) {
  if (reader->variables.n >= UINT32_MAX - 1) {
    return YOKE_NO_MEMORY;
  }
  yoke_fmi_variable* to = yoke__fmi_list_add(&reader->variables, sizeof *to);
  if (to == NULL) {
    return YOKE_NO_MEMORY;
  }
  *to = *v;
  return YOKE_OK;
}

yoke_status yoke__fmi_close_variable(yoke_fmi_reader* reader) {
  yoke_fmi_now* now = &reader->now;
  if (!now->has_reference || !now->has_type) {
    return drop_variable(reader);
  }
  if (now->n_starts > 0) {
    now->v.start = yoke__fmi_keep_n(reader, now->starts.bytes, now->starts.n);
    if (now->v.start == NULL) {
      return YOKE_NO_MEMORY;
    }
  }
  yoke__fmi_settle(reader);
  yoke__fmi_check_start(reader);
  const uint32_t index = (uint32_t)reader->variables.n;
  YOKE_TRY(note_links(reader, index));
  YOKE_TRY(add_variable(reader, &now->v));

  // aliases are variables with another name
  const yoke_fmi_alias* aliases = reader->aliases.items;
  for (size_t i = 0; i < reader->aliases.n; i++) {
    yoke_fmi_variable v = now->v;
    v.name = aliases[i].name;
    v.description = aliases[i].description;
    v.line = (uint32_t)aliases[i].line;
    v.alias_of = index + 1;
    YOKE_TRY(add_variable(reader, &v));
  }
  reader->aliases.n = 0;
  return YOKE_OK;
}
