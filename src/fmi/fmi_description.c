// Questions about a description that was read: finding variables, words, start values.
#include "fmi/fmi_description.h"

#include <stdlib.h>
#include <string.h>

#include "base/base_number.h"
#include "fmi/fmi_reader.h"

void yoke__fmi_free(yoke_fmi_description** description) {
  if (*description != NULL) {
    yoke__arena_free(&(*description)->arena);
    free(*description);
    *description = NULL;
  }
}

// ---- finding

size_t yoke__fmi_find(const yoke_fmi_description* description, const char* name) {
  return description->names.slots == NULL ? YOKE_FMI_NONE
                                          : yoke__map_find(&description->names, name);
}

// FMI 1.0 and 2.0 have a numbering of their own for each of these; FMI 3.0 has one for all.
static uint64_t key_of(const yoke_fmi_description* d, uint32_t reference, yoke_fmi_type type) {
  uint64_t numbering = 0;
  if (d->version != 3) {
    numbering = type == YOKE_FMI_FLOAT64   ? 0
                : type == YOKE_FMI_BOOLEAN ? 1
                : type == YOKE_FMI_STRING  ? 2
                                           : 3;
  }
  return numbering << 32 | reference;
}

static uint64_t mix(uint64_t key) {
  key = (key ^ key >> 31) * UINT64_C(0x9e3779b97f4a7c15);
  return key ^ key >> 29;
}

size_t yoke__fmi_find_typed(const yoke_fmi_description* description, uint32_t reference,
                            yoke_fmi_type type) {
  const uint64_t key = key_of(description, reference, type);
  if (description->references == NULL) {
    return YOKE_FMI_NONE;
  }
  for (size_t at = (size_t)mix(key) & description->reference_mask; description->references[at] != 0;
       at = (at + 1) & description->reference_mask) {
    const size_t index = description->references[at] - 1;
    const yoke_fmi_variable* v = &description->variables[index];
    if (v->reference == reference &&
        key_of(description, v->reference, (yoke_fmi_type)v->type) == key) {
      return index;
    }
  }
  return YOKE_FMI_NONE;
}

size_t yoke__fmi_find_reference(const yoke_fmi_description* description, uint32_t reference) {
  static const yoke_fmi_type numberings[] = {YOKE_FMI_FLOAT64, YOKE_FMI_BOOLEAN, YOKE_FMI_STRING,
                                             YOKE_FMI_INT32};
  size_t first = YOKE_FMI_NONE;
  for (size_t i = 0; i < (description->version == 3 ? 1 : 4); i++) {
    const size_t found = yoke__fmi_find_typed(description, reference, numberings[i]);
    first = found < first ? found : first;
  }
  return first;
}

yoke_status yoke__fmi_index_references(yoke_fmi_description* d, size_t* n_shared, size_t* shared) {
  size_t size = 16;
  while (size < 2 * d->n_variables) {
    size *= 2;
  }
  d->references = yoke__arena_array(&d->arena, size, sizeof *d->references);
  YOKE_TRY_MEMORY(d->references);
  d->reference_mask = size - 1;
  *n_shared = 0;
  for (size_t i = 0; i < d->n_variables; i++) {
    yoke_fmi_variable* v = &d->variables[i];
    const size_t first = yoke__fmi_find_typed(d, v->reference, (yoke_fmi_type)v->type);
    if (first == YOKE_FMI_NONE) {
      size_t at = (size_t)mix(key_of(d, v->reference, (yoke_fmi_type)v->type)) & d->reference_mask;
      while (d->references[at] != 0) {
        at = (at + 1) & d->reference_mask;
      }
      d->references[at] = (uint32_t)(i + 1);
      continue;
    }
    // in FMI 3.0 an alias says so itself; a second variable with the number of another is a fault
    if (d->version == 3 && v->alias_of == 0) {
      *shared = *n_shared == 0 ? i : *shared;
      ++*n_shared;
    }
    if (v->alias_of == 0 && v->type == d->variables[first].type) {
      v->alias_of = (uint32_t)(first + 1);
    }
  }
  return YOKE_OK;
}

const yoke_fmi_item* yoke__fmi_items(const yoke_fmi_description* description,
                                     const yoke_fmi_variable* variable, size_t* n) {
  *n = 0;
  if (variable->type != YOKE_FMI_ENUMERATION || variable->type_definition == 0) {
    return NULL;
  }
  const yoke_fmi_typedef* type = &description->typedefs[variable->type_definition - 1];
  *n = type->n_items;
  return type->n_items == 0 ? NULL : type->items;
}

size_t yoke__fmi_size(const yoke_fmi_description* description, const yoke_fmi_variable* variable) {
  size_t size = 1;
  for (size_t i = 0; i < variable->n_dimensions; i++) {
    const uint64_t n = description->dimensions[variable->first_dimension + i].start;
    if (n != 0 && size > SIZE_MAX / n) {
      return SIZE_MAX;
    }
    size *= (size_t)n;
  }
  return size;
}

// ---- words

const char* yoke__fmi_type_name(yoke_fmi_type type) {
  static const char* const names[] = {"Float64", "Float32", "Int8",   "UInt8",       "Int16",
                                      "UInt16",  "Int32",   "UInt32", "Int64",       "UInt64",
                                      "Boolean", "String",  "Binary", "Enumeration", "Clock"};
  return (size_t)type < YOKE_FMI_N_TYPES ? names[type] : "?";
}

const char* yoke__fmi_type_word(int version, yoke_fmi_type type) {
  const bool is_old = version < 3;
  return is_old && type == YOKE_FMI_FLOAT64 ? "Real"
         : is_old && type == YOKE_FMI_INT32 ? "Integer"
                                            : yoke__fmi_type_name(type);
}

const char* const yoke__fmi_causality_words[] = {"parameter",
                                                 "calculatedParameter",
                                                 "structuralParameter",
                                                 "input",
                                                 "output",
                                                 "local",
                                                 "independent",
                                                 NULL};
const char* const yoke__fmi_variability_words[] = {"constant", "fixed",      "tunable",
                                                   "discrete", "continuous", NULL};
const char* const yoke__fmi_initial_words[] = {"exact", "approx", "calculated", NULL};

const char* const yoke__fmi_interval_words[] = {"constant", "fixed",     "calculated", "tunable",
                                                "changing", "countdown", "triggered",  NULL};

const char* yoke__fmi_causality_name(yoke_fmi_causality causality) {
  return (size_t)causality <= YOKE_FMI_INDEPENDENT ? yoke__fmi_causality_words[causality] : "?";
}

const char* yoke__fmi_variability_name(yoke_fmi_variability variability) {
  return (size_t)variability <= YOKE_FMI_CONTINUOUS ? yoke__fmi_variability_words[variability]
                                                    : "?";
}

const char* yoke__fmi_initial_name(yoke_fmi_initial initial) {
  return initial == YOKE_FMI_NO_INITIAL           ? ""
         : (size_t)initial <= YOKE_FMI_CALCULATED ? yoke__fmi_initial_words[initial - 1]
                                                  : "?";
}

// ---- start values

static bool read_real(const char* word, size_t n, void* out) {
  return yoke__number_scan(word, word + n, out) == word + n;
}

static bool read_integer(const char* word, size_t n, void* to) {
  int64_t* out = to;
  bool is_negative = false, has_overflow = false;
  uint64_t magnitude = 0;
  double value = 0;
  if (yoke__fmi_scan_integer(word, n, &is_negative, &magnitude, &has_overflow)) {
    const uint64_t bits = is_negative ? 0 - magnitude : magnitude;
    memcpy(out, &bits, sizeof bits);
    return !has_overflow && (!is_negative || magnitude <= (uint64_t)INT64_MAX + 1);
  }
  if ((n == 4 || n == 5) &&
      (word[0] == 't' || word[0] == 'T' || word[0] == 'f' || word[0] == 'F')) {
    static const char words[2][6] = {"false", "true"};
    const bool is_true = n == 4;
    for (size_t i = 0; i < n; i++) {
      if ((word[i] | 0x20) != words[is_true][i]) {
        return false;
      }
    }
    *out = is_true;
    return true;
  }
  if (yoke__number_scan(word, word + n, &value) == word + n && value > -9e15 && value < 9e15 &&
      (double)(int64_t)value == value) {
    *out = (int64_t)value;
    return true;
  }
  return false;
}

// Eight bytes for each of n elements; one value stands for all of them, what is behind the last one is 0.
static bool read_starts(const yoke_fmi_variable* variable, void* out, size_t n,
                        bool (*read)(const char* word, size_t n, void* out)) {
  static const size_t size = 8;
  memset(out, 0, n * size);
  const char* at = variable->start == NULL ? "" : variable->start;
  size_t length = 0, n_read = 0;
  for (const char* word = yoke__fmi_token(&at, &length); word != NULL && n_read < n;
       word = yoke__fmi_token(&at, &length)) {
    char* to = (char*)out + n_read++ * size;
    if (!read(word, length, to)) {
      memset(to, 0, size);
      return false;
    }
  }
  for (size_t i = 1; n_read == 1 && i < n; i++) {
    memcpy((char*)out + i * size, out, size);
  }
  return n_read > 0 || variable->start == NULL || n == 0;
}

bool yoke__fmi_start_real(const yoke_fmi_variable* variable, double out[], size_t n) {
  return read_starts(variable, out, n, read_real);
}

bool yoke__fmi_start_integer(const yoke_fmi_variable* variable, int64_t out[], size_t n) {
  return read_starts(variable, out, n, read_integer);
}

static int hex_digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

long long yoke__fmi_start_binary(const yoke_fmi_variable* variable, unsigned char* to,
                                 size_t room) {
  const char* text = variable->start == NULL ? "" : variable->start;
  const size_t n = strcspn(text, "\x1f");
  if (n % 2 != 0) {
    return -1;
  }
  for (size_t i = 0; i < n; i += 2) {
    const int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) {
      return -1;
    }
    if (i / 2 < room) {
      to[i / 2] = (unsigned char)(16 * high + low);
    }
  }
  return (long long)(n / 2 < room || room == 0 ? n / 2 : room);
}
