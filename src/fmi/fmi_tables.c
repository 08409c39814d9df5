// The tables of the standard: which causality, variability and initial go together, what they are if not written, and
// when a start value must or must not be given.
//
// Sources: FMI 1.0 co-simulation, section on ModelVariables; FMI 2.0.4, 2.2.7 (tables of combinations and of initial);
// FMI 3.0.1, 2.4.7. FMI 1.0 is carried over: `parameter` with a start value is a fixed parameter, without one a
// calculated parameter; `fixed` becomes initial.
#include <math.h>
#include <string.h>

#include "base/base_number.h"
#include "fmi/fmi_reader.h"

static bool is_real(uint8_t type) {
  return type == YOKE_FMI_FLOAT64 || type == YOKE_FMI_FLOAT32;
}

// what a variable that may change does, by its type
static uint8_t changing(uint8_t type) {
  return is_real(type) ? YOKE_FMI_CONTINUOUS : YOKE_FMI_DISCRETE;
}

// ---- FMI 1.0

enum { INPUT_1, OUTPUT_1, INTERNAL_1, NONE_1 };
enum { CONSTANT_1, PARAMETER_1, DISCRETE_1, CONTINUOUS_1 };

static void settle_1(yoke_fmi_now* now) {
  yoke_fmi_variable* v = &now->v;
  const bool has_start = v->start != NULL;
  v->causality = now->causality == INPUT_1    ? YOKE_FMI_INPUT
                 : now->causality == OUTPUT_1 ? YOKE_FMI_OUTPUT
                                              : YOKE_FMI_LOCAL;
  v->variability = now->variability == DISCRETE_1 ? YOKE_FMI_DISCRETE : changing(v->type);
  v->initial = !has_start ? YOKE_FMI_CALCULATED : now->is_fixed ? YOKE_FMI_EXACT : YOKE_FMI_APPROX;
  if (now->variability == CONSTANT_1) {
    v->causality = v->causality == YOKE_FMI_INPUT ? YOKE_FMI_LOCAL : v->causality;
    v->variability = YOKE_FMI_CONSTANT;
    v->initial = YOKE_FMI_EXACT;
  } else if (now->variability == PARAMETER_1 && v->causality != YOKE_FMI_OUTPUT) {
    v->causality = has_start ? YOKE_FMI_PARAMETER : YOKE_FMI_CALCULATED_PARAMETER;
    v->variability = YOKE_FMI_FIXED;
    v->initial = has_start ? YOKE_FMI_EXACT : YOKE_FMI_CALCULATED;
  } else if (now->variability == PARAMETER_1) {
    v->variability = YOKE_FMI_DISCRETE;
  } else if (v->causality == YOKE_FMI_INPUT) {
    v->initial = YOKE_FMI_NO_INITIAL;
  }
}

// ---- FMI 2.0 and 3.0

static bool is_parameter(uint8_t causality) {
  return causality == YOKE_FMI_PARAMETER || causality == YOKE_FMI_CALCULATED_PARAMETER ||
         causality == YOKE_FMI_STRUCTURAL_PARAMETER;
}

static bool is_legal(uint8_t causality, uint8_t variability, uint8_t type) {
  if (variability == YOKE_FMI_CONTINUOUS && !is_real(type)) {
    return false;
  }
  switch ((yoke_fmi_variability)variability) {
  case YOKE_FMI_CONSTANT:
    return causality == YOKE_FMI_OUTPUT || causality == YOKE_FMI_LOCAL;
  case YOKE_FMI_FIXED:
  case YOKE_FMI_TUNABLE:
    return is_parameter(causality) || causality == YOKE_FMI_LOCAL;
  case YOKE_FMI_DISCRETE:
    return !is_parameter(causality) && causality != YOKE_FMI_INDEPENDENT;
  case YOKE_FMI_CONTINUOUS:
  default:
    return !is_parameter(causality);
  }
}

// The variability next to what was written, or the default (written < 0).
static uint8_t nearest_variability(uint8_t causality, int written, uint8_t type) {
  if (is_parameter(causality)) {
    return YOKE_FMI_FIXED;
  }
  if (causality == YOKE_FMI_OUTPUT && (written == YOKE_FMI_FIXED || written == YOKE_FMI_TUNABLE)) {
    return YOKE_FMI_DISCRETE;  // may be connected, changes seldom
  }
  return causality == YOKE_FMI_INDEPENDENT ? YOKE_FMI_CONTINUOUS : changing(type);
}

enum { EXACT = 1u << 0, APPROX = 1u << 1, CALCULATED = 1u << 2 };

// The values of initial that may be written.
static unsigned legal_initials(const yoke_fmi_variable* v, int version) {
  if (v->type == YOKE_FMI_CLOCK || v->causality == YOKE_FMI_INDEPENDENT) {
    return 0;
  }
  if (v->causality == YOKE_FMI_INPUT) {
    return version == 3 ? EXACT : 0;
  }
  if (v->variability == YOKE_FMI_CONSTANT || v->causality == YOKE_FMI_PARAMETER ||
      v->causality == YOKE_FMI_STRUCTURAL_PARAMETER) {
    return EXACT;
  }
  const bool is_free = v->variability == YOKE_FMI_DISCRETE || v->variability == YOKE_FMI_CONTINUOUS;
  return is_free ? EXACT | APPROX | CALCULATED : APPROX | CALCULATED;
}

static void settle_initial(yoke_fmi_reader* reader) {
  yoke_fmi_now* now = &reader->now;
  yoke_fmi_variable* v = &now->v;
  const unsigned legal = legal_initials(v, reader->d->version);
  const bool has_none = v->type == YOKE_FMI_CLOCK || v->causality == YOKE_FMI_INPUT ||
                        v->causality == YOKE_FMI_INDEPENDENT;
  v->initial = has_none         ? YOKE_FMI_NO_INITIAL
               : legal == EXACT ? YOKE_FMI_EXACT
                                : YOKE_FMI_CALCULATED;
  if (now->initial < 0) {
    return;
  }
  if ((legal >> now->initial & 1u) == 0) {
    YOKE_FMI_FAULT(reader, COMBINATION, now->line, "'%s': initial '%s' does not go with %s, %s",
                   v->name, yoke__fmi_initial_name((yoke_fmi_initial)(now->initial + 1)),
                   yoke__fmi_causality_name((yoke_fmi_causality)v->causality),
                   yoke__fmi_variability_name((yoke_fmi_variability)v->variability));
  } else if (!has_none) {
    v->initial = (uint8_t)(now->initial + 1);
  }
}

static void settle_23(yoke_fmi_reader* reader) {
  yoke_fmi_now* now = &reader->now;
  yoke_fmi_variable* v = &now->v;
  v->causality = (uint8_t)(now->causality < 0 ? YOKE_FMI_LOCAL : now->causality);
  if (reader->d->version == 2 && v->causality == YOKE_FMI_STRUCTURAL_PARAMETER) {
    v->causality = YOKE_FMI_PARAMETER;  // a word of FMI 3.0
  }

  // FMI 2.0 makes `continuous` the default of parameters too, which is illegal: they have to write it
  const uint8_t otherwise = reader->d->version == 2 && is_parameter(v->causality)
                                ? YOKE_FMI_CONTINUOUS
                                : nearest_variability(v->causality, -1, v->type);
  v->variability = now->variability < 0 ? otherwise : (uint8_t)now->variability;
  if (!is_legal(v->causality, v->variability, v->type)) {
    YOKE_FMI_FAULT(reader, COMBINATION, now->line,
                   "'%s': variability '%s'%s does not go with %s %s", v->name,
                   yoke__fmi_variability_name((yoke_fmi_variability)v->variability),
                   now->variability < 0 ? " (the default)" : "",
                   yoke__fmi_causality_name((yoke_fmi_causality)v->causality),
                   yoke__fmi_type_word(reader->d->version, (yoke_fmi_type)v->type));
    v->variability = nearest_variability(v->causality, now->variability, v->type);
  }
  settle_initial(reader);
  reader->n_independent += v->causality == YOKE_FMI_INDEPENDENT;
}

void yoke__fmi_settle(yoke_fmi_reader* reader) {
  if (reader->d->version == 1) {
    settle_1(&reader->now);
  } else {
    settle_23(reader);
  }
}

// ---- start values

typedef enum verdict { GOOD, ODD, BAD, TOO_FAR } verdict;

// Largest magnitudes below and above 0.
static void type_limits(uint8_t type, int version, uint64_t* below, uint64_t* above) {
  static const int n_bits[YOKE_FMI_N_TYPES] = {
      [YOKE_FMI_INT8] = 8,   [YOKE_FMI_UINT8] = 8,   [YOKE_FMI_INT16] = 16, [YOKE_FMI_UINT16] = 16,
      [YOKE_FMI_INT32] = 32, [YOKE_FMI_UINT32] = 32, [YOKE_FMI_INT64] = 64, [YOKE_FMI_UINT64] = 64,
  };
  const bool is_unsigned = type == YOKE_FMI_UINT8 || type == YOKE_FMI_UINT16 ||
                           type == YOKE_FMI_UINT32 || type == YOKE_FMI_UINT64;
  const int own = type == YOKE_FMI_ENUMERATION && version < 3 ? 32 : n_bits[type];
  const int bits = own == 0 ? 64 : own;  // enumerations of FMI 3.0
  *above = UINT64_MAX >> (64 - bits + !is_unsigned);
  *below = is_unsigned ? 0 : *above + 1;
}

static verdict judge_integer(const char* word, size_t n, uint8_t type, int version, double* value) {
  bool is_negative = false, has_overflow = false;
  uint64_t magnitude = 0, below = 0, above = 0;
  type_limits(type, version, &below, &above);
  if (!yoke__fmi_scan_integer(word, n, &is_negative, &magnitude, &has_overflow)) {
    // "1.0" is not an integer in XML, but it is one for everybody else
    const bool is_number = yoke__number_scan(word, word + n, value) == word + n;
    return is_number && *value == floor(*value) && fabs(*value) < 9e15 ? ODD : BAD;
  }
  *value = is_negative ? -(double)magnitude : (double)magnitude;
  return has_overflow || magnitude > (is_negative ? below : above) ? TOO_FAR : GOOD;
}

static char lower(char c) {
  return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool is_word(const char* word, size_t n, const char* wanted) {
  for (size_t i = 0; i < n; i++) {
    if (lower(word[i]) != wanted[i]) {
      return false;  // also where wanted ends
    }
  }
  return wanted[n] == '\0';
}

static verdict judge_boolean(const char* word, size_t n, double* value) {
  const bool is_true = is_word(word, n, "true") || is_word(word, n, "1");
  const bool is_false = is_word(word, n, "false") || is_word(word, n, "0");
  *value = is_true;
  if (!is_true && !is_false) {
    return BAD;
  }
  return word[0] >= 'A' && word[0] <= 'Z' ? ODD : GOOD;
}

static verdict judge_word(const char* word, size_t n, uint8_t type, int version, double* value) {
  if (type == YOKE_FMI_BOOLEAN) {
    return judge_boolean(word, n, value);
  }
  if (!is_real(type)) {
    return judge_integer(word, n, type, version, value);
  }
  if (yoke__number_scan(word, word + n, value) != word + n) {
    return BAD;
  }
  const bool is_large = type == YOKE_FMI_FLOAT32 && fabs(*value) > 3.4028234663852886e38;
  return is_large && !isinf(*value) ? TOO_FAR : GOOD;
}

static bool has_item(const yoke_fmi_typedef* type, double value) {
  for (size_t i = 0; i < type->n_items; i++) {
    if ((double)type->items[i].value == value) {
      return true;
    }
  }
  return false;
}

// The bounds that count: the variable's own, else those of its type.
static yoke_fmi_bounds bounds_of(const yoke_fmi_reader* reader) {
  const yoke_fmi_now* now = &reader->now;
  yoke_fmi_bounds own = {now->min, now->max, 0};
  if (now->v.type_definition != 0) {
    const yoke_fmi_bounds* all = reader->bounds.items;
    const yoke_fmi_bounds* of_type = &all[now->v.type_definition - 1];
    own.min = isnan(own.min) ? of_type->min : own.min;
    own.max = isnan(own.max) ? of_type->max : own.max;
  }
  return own;
}

static verdict judge_value(const yoke_fmi_reader* reader, const yoke_fmi_bounds* bounds,
                           double value) {
  const yoke_fmi_variable* v = &reader->now.v;
  if (value < bounds->min || value > bounds->max) {
    return TOO_FAR;
  }
  if (v->type == YOKE_FMI_ENUMERATION && v->type_definition != 0) {
    const yoke_fmi_typedef* all = reader->typedefs.items;
    const yoke_fmi_typedef* type = &all[v->type_definition - 1];
    // long lists would make a large file slow
    const bool is_checked = type->n_items > 0 && type->n_items <= 256;
    return is_checked && !has_item(type, value) ? TOO_FAR : GOOD;
  }
  return GOOD;
}

static void check_numbers(yoke_fmi_reader* reader, const yoke_fmi_bounds* bounds) {
  const yoke_fmi_now* now = &reader->now;
  const char* at = now->v.start;
  verdict worst = GOOD;
  size_t n = 0, n_words = 0;
  for (const char* word = yoke__fmi_token(&at, &n); word != NULL; word = yoke__fmi_token(&at, &n)) {
    double value = 0;
    verdict one = judge_word(word, n, now->v.type, reader->d->version, &value);
    one = one == GOOD ? judge_value(reader, bounds, value) : one;
    worst = one > worst ? one : worst;
    n_words++;
  }
  if (n_words == 0 || worst == BAD || worst == ODD) {
    YOKE_FMI_FAULT(reader, START_BAD, now->line, "start=\"%.60s\" of '%s' is no %s", now->v.start,
                   now->v.name,
                   yoke__fmi_type_word(reader->d->version, (yoke_fmi_type)now->v.type));
  } else if (worst == TOO_FAR) {
    YOKE_FMI_FAULT(reader, START_RANGE, now->line, "start=\"%.60s\" of '%s' is out of its range",
                   now->v.start, now->v.name);
  }
}

void yoke__fmi_check_start(yoke_fmi_reader* reader) {
  yoke_fmi_now* now = &reader->now;
  yoke_fmi_variable* v = &now->v;
  yoke_fmi_bounds bounds = bounds_of(reader);
  if (bounds.min > bounds.max) {
    YOKE_FMI_FAULT(reader, MIN_MAX, now->line, "'%s' has a min above its max", v->name);
    bounds = (yoke_fmi_bounds){YOKE_FMI_NAN, YOKE_FMI_NAN, 0};
  }
  const bool is_wanted = v->initial == YOKE_FMI_EXACT || v->initial == YOKE_FMI_APPROX ||
                         (v->causality == YOKE_FMI_INPUT && v->type != YOKE_FMI_CLOCK);
  if (reader->d->version > 1 && is_wanted && v->start == NULL) {
    YOKE_FMI_FAULT(reader, START_MISSING, now->line, "%s '%s' has no start value",
                   yoke__fmi_causality_name((yoke_fmi_causality)v->causality), v->name);
  }
  if (reader->d->version > 1 && !is_wanted && v->start != NULL) {
    YOKE_FMI_FAULT(reader, START_EXTRA, now->line,
                   "%s '%s' must not have a start value, since it is %s",
                   yoke__fmi_causality_name((yoke_fmi_causality)v->causality), v->name,
                   v->causality == YOKE_FMI_INDEPENDENT ? "time" : "calculated");
    v->start = NULL;
  }
  if (v->start == NULL) {
    return;
  }
  if (v->type == YOKE_FMI_BINARY && yoke__fmi_start_binary(v, NULL, 0) < 0) {
    YOKE_FMI_FAULT(reader, START_BAD, now->line, "start value of '%s' is not hexadecimal", v->name);
  } else if (v->type != YOKE_FMI_STRING && v->type != YOKE_FMI_BINARY) {
    check_numbers(reader, &bounds);
  }
}
