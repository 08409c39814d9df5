// Single values of the file: numbers, integers, times, texts, choices, names, and arrays for a
// unit's variables.
//
// A plain scalar is a number if it has the decimal form [+-]digits[.digits][e[+-]digits], `true`
// and `false` are the only booleans, and an empty scalar, `~` and `null` are nothing. What is in
// quotes is always a text. Every message says what was expected and what was found.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "scenario/scenario_reader.h"

#define MAX_NUMBER_LENGTH                                                                          \
  400                  // the longest exact decimal of practical use; longer texts are no numbers
#define CUT_LENGTH 40  // bytes of the user's text shown in a message
#define LABEL_SIZE 256

const yoke_range yoke__range_any = {-DBL_MAX, DBL_MAX, false, false, "a number"};
const yoke_range yoke__range_positive = {0, DBL_MAX, true, false, "a number greater than 0"};
const yoke_range yoke__range_not_negative = {0, DBL_MAX, false, false,
                                             "a number that is 0 or greater"};

const char* const yoke__exchange_words[] = {[YOKE_STALE] = "stale", [YOKE_FRESH] = "fresh", NULL};

// True inside of a UTF-8 character.
static bool is_trail(char c) {
  return ((unsigned char)c & 0xc0u) == 0x80u;
}

const char* yoke__text_cut(const char* text, char to[YOKE_FOUND_SIZE]) {
  const size_t n = strlen(text);
  size_t n_shown = n;
  if (n > CUT_LENGTH) {
    // never in the middle of a UTF-8 character
    n_shown = CUT_LENGTH;
    while (n_shown > 0 && is_trail(text[n_shown])) {
      n_shown--;
    }
  }
  for (size_t i = 0; i < n_shown; i++) {
    to[i] = text[i];
    if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f) {
      to[i] = ' ';
    }
  }
  snprintf(to + n_shown, YOKE_FOUND_SIZE - n_shown, "%s", n > n_shown ? "..." : "");
  return to;
}

// How a message names the value: "parameter 'k' of unit 'left': ", "'step': ", or "" in a list.
static const char* label_of(const yoke_reader* reader, const yoke_node* node, char to[LABEL_SIZE]) {
  char cut[YOKE_FOUND_SIZE];
  to[0] = '\0';
  if (reader->label != NULL) {
    snprintf(to, LABEL_SIZE, "%s: ", reader->label);
  } else if (node->key != NULL) {
    snprintf(to, LABEL_SIZE, "'%s': ", yoke__text_cut(node->key, cut));
  }
  return to;
}

bool yoke__node_is_null(const yoke_node* node) {
  return node->kind == YOKE_NODE_SCALAR && !node->is_quoted && !node->is_refused &&
         (node->text[0] == '\0' || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

static const char* skip_digits(const char* at) {
  while (*at >= '0' && *at <= '9') {
    at++;
  }
  return at;
}

// True if text has the decimal form of a number.
static bool has_number_form(const char* text) {
  const char* at = text + (*text == '-' || *text == '+');
  const char* whole = skip_digits(at);
  const char* end = *whole == '.' ? skip_digits(whole + 1) : whole;
  if (end == at || (end == at + 1 && *at == '.')) {
    return false;
  }
  if (*end == 'e' || *end == 'E') {
    const char* digits = end + 1 + (end[1] == '-' || end[1] == '+');
    end = skip_digits(digits);
    if (end == digits) {
      return false;
    }
  }
  return *end == '\0' && end - text <= MAX_NUMBER_LENGTH;
}

static bool has_integer_form(const char* text) {
  const char* at = text + (*text == '-' || *text == '+');
  const char* end = skip_digits(at);
  return end > at && *end == '\0' && end - text <= MAX_NUMBER_LENGTH;
}

// ".inf", "-inf", "NaN" and their like: a number for the user, but not for us
static bool is_named_number(const char* text) {
  static const char* const names[] = {"inf", "nan", "infinity", NULL};
  const char* at = text + (*text == '-' || *text == '+');
  at += *at == '.';
  char lower[12];
  const size_t n = strlen(at);
  if (n >= sizeof lower) {
    return false;
  }
  for (size_t i = 0; i <= n; i++) {
    lower[i] = (char)(at[i] >= 'A' && at[i] <= 'Z' ? at[i] - 'A' + 'a' : at[i]);
  }
  for (size_t i = 0; names[i] != NULL; i++) {
    if (strcmp(lower, names[i]) == 0) {
      return true;
    }
  }
  return false;
}

// The number of a plain scalar; may be infinite if it does not fit a double.
static bool number_of(const yoke_node* node, double* out) {
  if (node->kind != YOKE_NODE_SCALAR || node->is_quoted || !has_number_form(node->text)) {
    return false;
  }

  // the form is right, so only its size can be refused
  if (!yoke__number_parse(node->text, out)) {
    *out = HUGE_VAL;
  }
  return true;
}

// "10s", "100 N/m"
static bool has_unit(const yoke_node* node) {
  if (node->kind != YOKE_NODE_SCALAR || node->is_quoted) {
    return false;
  }
  const char* at = node->text + (*node->text == '-' || *node->text == '+');
  const char* end = skip_digits(at);
  end = end > at && *end == '.' ? skip_digits(end + 1) : end;
  if (end == at || *end == 'x' || *end == 'X') {
    return false;
  }
  end += strspn(end, " ");
  return (*end >= 'a' && *end <= 'z') || (*end >= 'A' && *end <= 'Z');
}

static bool is_boolean(const yoke_node* node) {
  return node->kind == YOKE_NODE_SCALAR && !node->is_quoted &&
         (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0);
}

const char* yoke__node_found(const yoke_node* node, char to[YOKE_FOUND_SIZE]) {
  char cut[YOKE_FOUND_SIZE];
  if (node->kind == YOKE_NODE_LIST) {
    snprintf(to, YOKE_FOUND_SIZE, "a list");
  } else if (node->kind == YOKE_NODE_MAP) {
    snprintf(to, YOKE_FOUND_SIZE, "a map");
  } else if (yoke__node_is_null(node)) {
    snprintf(to, YOKE_FOUND_SIZE, "nothing");
  } else if (!node->is_quoted && (has_number_form(node->text) || is_boolean(node))) {
    snprintf(to, YOKE_FOUND_SIZE, "%.60s", yoke__text_cut(node->text, cut));
  } else if (!node->is_quoted && is_named_number(node->text)) {
    snprintf(to, YOKE_FOUND_SIZE, "%.60s (numbers must be finite)",
             yoke__text_cut(node->text, cut));
  } else if (node->is_quoted && has_number_form(node->text)) {
    snprintf(to, YOKE_FOUND_SIZE, "the text '%.50s' (in quotes)", yoke__text_cut(node->text, cut));
  } else {
    snprintf(to, YOKE_FOUND_SIZE, "the text '%.60s'", yoke__text_cut(node->text, cut));
  }
  return to;
}

// The one form of a type error: "'step': expected a number, found the text 'abc'".
static void report_type(yoke_reader* reader, const yoke_node* node, const char* expected) {
  char found[YOKE_FOUND_SIZE], label[LABEL_SIZE];
  if (!node->is_refused) {
    yoke__error(reader->messages, node->place, "%sexpected %s, found %s",
                label_of(reader, node, label), expected, yoke__node_found(node, found));
  }
}

bool yoke__expect_kind(yoke_reader* reader, const yoke_node* node, yoke_node_kind kind,
                       const char* expected) {
  if (node->is_refused) {
    return false;
  }
  if (node->kind != kind) {
    report_type(reader, node, expected);
    return false;
  }
  return true;
}

bool yoke__read_number(yoke_reader* reader, const yoke_node* node, const yoke_range* range,
                       double* out) {
  double value = 0;
  if (node->is_refused) {
    return false;
  }
  if (!number_of(node, &value)) {
    char expected[160];
    // what stands in a variable's place need not be in SI
    snprintf(expected, sizeof expected, "%s%s%s", range->text,
             has_unit(node) ? " without unit" : "",
             has_unit(node) && reader->label == NULL ? ", in SI" : "");
    report_type(reader, node, expected);
    return false;
  }
  if (!yoke__is_finite(value)) {
    char found[YOKE_FOUND_SIZE], label[LABEL_SIZE];
    yoke__error(reader->messages, node->place,
                "%sexpected %s, found %s, which is too large for a number",
                label_of(reader, node, label), range->text, yoke__node_found(node, found));
    return false;
  }
  const bool is_inside = (range->excludes_low ? value > range->low : value >= range->low) &&
                         (range->excludes_high ? value < range->high : value <= range->high);
  if (!is_inside) {
    report_type(reader, node, range->text);
    return false;
  }
  *out = value;
  return true;
}

bool yoke__read_integer(yoke_reader* reader, const yoke_node* node, int64_t low, int64_t high,
                        int64_t* out) {
  if (node->is_refused) {
    return false;
  }
  int64_t value = 0;
  const bool is_integer = node->kind == YOKE_NODE_SCALAR && !node->is_quoted &&
                          has_integer_form(node->text) &&
                          yoke__number_parse_integer(node->text, &value);
  if (!is_integer || value < low || value > high) {
    char expected[96];
    if (low == INT64_MIN && high == INT64_MAX) {
      snprintf(expected, sizeof expected, "an integer");
    } else if (high == INT64_MAX) {
      snprintf(expected, sizeof expected, "an integer of at least %lld", (long long)low);
    } else {
      snprintf(expected, sizeof expected, "an integer from %lld to %lld", (long long)low,
               (long long)high);
    }
    report_type(reader, node, expected);
    return false;
  }
  *out = value;
  return true;
}

bool yoke__read_time(yoke_reader* reader, const yoke_node* node, const yoke_range* range,
                     yoke_scenario_time* out) {
  double value = 0;
  if (!yoke__read_number(reader, node, range, &value)) {
    return false;
  }

  // the exact decimal as written; beyond 18 digits the nearest double has to do
  yoke_decimal exact = {0, 0};
  if (!yoke__decimal_parse(node->text, &exact) && !yoke__decimal_from(value, &exact)) {
    report_type(reader, node, range->text);
    return false;
  }
  *out =
      (yoke_scenario_time){.value = value, .exact = exact, .is_given = true, .place = node->place};
  return true;
}

bool yoke__read_text(yoke_reader* reader, const yoke_node* node, const char** out) {
  if (node->is_refused) {
    return false;
  }
  if (node->kind != YOKE_NODE_SCALAR || yoke__node_is_null(node)) {
    report_type(reader, node, "a text");
    return false;
  }
  *out = node->text;
  return true;
}

// "stale or fresh", "a, b or c", into a buffer; too many names are cut
static void list_names(const char* const names[], size_t n, char* to, size_t size) {
  size_t used = 0;
  to[0] = '\0';
  for (size_t i = 0; i < n && used < size; i++) {
    const char* joint = i == 0 ? "" : i + 1 == n ? " or " : ", ";
    const int length = snprintf(to + used, size - used, "%s%s", joint, names[i]);
    used += length < 0 ? 0 : (size_t)length;
  }
}

bool yoke__read_choice(yoke_reader* reader, const yoke_node* node, const char* const names[],
                       size_t* out) {
  const bool is_text = node->kind == YOKE_NODE_SCALAR && !yoke__node_is_null(node);
  size_t n = 0;
  while (names != NULL && names[n] != NULL) {
    n++;
  }
  if (node->is_refused) {
    return false;
  }
  for (size_t i = 0; is_text && i < n; i++) {
    if (strcmp(node->text, names[i]) == 0) {
      *out = i;
      return true;
    }
  }
  const char* nearest = is_text ? yoke__nearest_name(node->text, names, n) : NULL;
  char expected[400], found[YOKE_FOUND_SIZE], label[LABEL_SIZE];
  list_names(names, n, expected, sizeof expected);
  yoke__error_near(reader->messages, node->place, nearest, "%sexpected %s, found %s",
                   label_of(reader, node, label), expected, yoke__node_found(node, found));
  return false;
}

void yoke__key_number(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  yoke__read_number(reader, node, rule, field);
}

void yoke__key_time(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  yoke__read_time(reader, node, rule, field);
}

void yoke__key_calls(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  (void)rule;
  const bool is_plain = node->kind == YOKE_NODE_SCALAR && !node->is_quoted && !node->is_refused;
  int64_t calls = 0;
  if (is_plain && strcmp(node->text, "auto") == 0) {
    *(int64_t*)field = 0;
  } else if (is_plain && has_integer_form(node->text) &&
             yoke__number_parse_integer(node->text, &calls) && calls >= 1 &&
             calls <= YOKE_MAX_CALLS) {
    *(int64_t*)field = calls;
  } else {
    char expected[64];
    snprintf(expected, sizeof expected, "auto or an integer from 1 to %d", YOKE_MAX_CALLS);
    report_type(reader, node, expected);
  }
}

void yoke__key_integer(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  const yoke_integers* range = rule;
  yoke__read_integer(reader, node, range->low, range->high, field);
}

void yoke__key_choice(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  size_t choice = 0;
  if (yoke__read_choice(reader, node, rule, &choice)) {
    *(int*)field = (int)choice;
  }
}

void yoke__key_word(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  size_t choice = 0;
  if (yoke__read_choice(reader, node, rule, &choice)) {
    *(const char**)field = ((const char* const*)rule)[choice];
  }
}

void yoke__key_text(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  (void)rule;
  yoke__read_text(reader, node, field);
}

bool yoke__read_names(yoke_reader* reader, const yoke_node* node, const yoke_scenario_name** names,
                      size_t* n) {
  if (node->is_refused) {
    return false;
  }
  if (node->kind == YOKE_NODE_MAP || yoke__node_is_null(node)) {
    report_type(reader, node, "a list of texts");
    return false;
  }
  const bool is_list = node->kind == YOKE_NODE_LIST;
  const size_t count = is_list ? node->n_children : 1;
  yoke_scenario_name* all = yoke__reader_array(reader, count, sizeof *all);
  if (all == NULL) {
    return false;
  }
  bool is_good = true;
  const yoke_node* child = is_list ? node->first : node;
  for (size_t i = 0; i < count; i++, child = child->next) {
    all[i].place = child->place;
    is_good &= yoke__read_text(reader, child, &all[i].text);
  }
  *names = all;
  *n = count;
  return is_good;
}

// Rows and columns of a value; false: it is no number, list, or list of equally long lists.
static bool find_sizes(const yoke_node* node, const char* what, yoke_messages* messages,
                       size_t* n_rows, size_t* n_cols) {
  *n_rows = 1;
  *n_cols = 1;
  if (node->kind == YOKE_NODE_MAP) {
    yoke__error(messages, node->place, "%s: expected a value or a list, found a map", what);
    return false;
  }
  if (node->kind == YOKE_NODE_SCALAR) {
    return true;
  }
  if (node->n_children == 0) {
    yoke__error(messages, node->place, "%s: expected a value, found an empty list", what);
    return false;
  }
  *n_rows = node->n_children;
  const bool is_matrix = node->first->kind == YOKE_NODE_LIST;
  *n_cols = is_matrix ? node->first->n_children : 1;
  for (const yoke_node* row = node->first; row != NULL; row = row->next) {
    if (row->is_refused) {
      return false;
    }
    if (row->kind == YOKE_NODE_MAP || (row->kind == YOKE_NODE_LIST) != is_matrix) {
      yoke__error(messages, row->place, "%s: expected %s like the first entry", what,
                  is_matrix ? "a list" : "a single value");
      return false;
    }
    if (is_matrix && row->n_children == 0) {
      yoke__error(messages, row->place, "%s: expected a value, found an empty list", what);
      return false;
    }
    if (is_matrix && row->n_children != *n_cols) {
      yoke__error(messages, row->place, "%s: a row of %zu values, but the first row has %zu", what,
                  row->n_children, *n_cols);
      return false;
    }
  }
  return true;
}

static const size_t element_sizes[] = {
    [YOKE_REAL] = sizeof(double),        [YOKE_INTEGER] = sizeof(int64_t),
    [YOKE_BOOLEAN] = sizeof(int64_t),    [YOKE_ENUMERATION] = sizeof(int64_t),
    [YOKE_STRING] = sizeof(const char*),
};

// One element into its storage.
static bool read_element(yoke_reader* reader, const yoke_node* node, yoke_type type,
                         const char* const items[], void* to) {
  size_t choice = 0;
  if (node->is_refused) {
    return false;
  }
  switch (type) {
  case YOKE_REAL:
    return yoke__read_number(reader, node, &yoke__range_any, to);
  case YOKE_INTEGER:
    return yoke__read_integer(reader, node, INT64_MIN, INT64_MAX, to);
  case YOKE_BOOLEAN:
    if (!is_boolean(node)) {
      report_type(reader, node, "true or false");
      return false;
    }
    *(int64_t*)to = node->text[0] == 't';
    return true;
  case YOKE_STRING:
    return yoke__read_text(reader, node, to);
  case YOKE_ENUMERATION:
    if (!yoke__read_choice(reader, node, items, &choice)) {
      return false;
    }
    *(int64_t*)to = (int64_t)choice;
    return true;
  case YOKE_BINARY:
    break;
  }
  return false;
}

yoke_status yoke__node_values(const yoke_node* node, yoke_type type, const char* const items[],
                              const char* what, yoke_arena* arena, yoke_messages* messages,
                              void** values, size_t* n_rows, size_t* n_cols) {
  *values = NULL;
  *n_rows = *n_cols = 0;
  size_t rows = 0, cols = 0;
  if (type == YOKE_BINARY) {
    yoke__error(messages, node->place, "%s: binary values cannot be written in a system file",
                what);
    return YOKE_BAD_INPUT;
  }
  if (node->is_refused || !find_sizes(node, what, messages, &rows, &cols)) {
    return YOKE_BAD_INPUT;
  }
  const size_t size = element_sizes[type];
  char* all = yoke__arena_array(arena, rows * cols, size);
  YOKE_TRY_MEMORY(all);

  // row by row; all bad elements are reported
  yoke_reader reader = {.arena = arena, .messages = messages, .label = what};
  bool is_good = true;
  const yoke_node* row = node->kind == YOKE_NODE_LIST ? node->first : node;
  for (size_t i = 0; i < rows; i++, row = row->next) {
    const yoke_node* element = row->kind == YOKE_NODE_LIST ? row->first : row;
    for (size_t j = 0; j < cols; j++, element = element->next) {
      is_good &= read_element(&reader, element, type, items, all + (i * cols + j) * size);
    }
  }
  if (!is_good) {
    return YOKE_BAD_INPUT;
  }
  *values = all;
  *n_rows = rows;
  *n_cols = cols;
  return YOKE_OK;
}

bool yoke__glob_match(const char* pattern, const char* text) {
  // on a mismatch the last star takes one character more; no star before it has to be tried again
  const char *star = NULL, *mark = NULL;
  while (*text != '\0') {
    if (*pattern == '*') {
      star = pattern++;
      mark = text;
    } else if (*pattern == '?' || *pattern == *text) {
      // '?' takes a whole UTF-8 character
      const bool is_any = *pattern++ == '?';
      text++;
      while (is_any && is_trail(*text)) {
        text++;
      }
    } else if (star != NULL) {
      pattern = star + 1;
      do {
        mark++;
      } while (is_trail(*mark));
      text = mark;
    } else {
      return false;
    }
  }
  while (*pattern == '*') {
    pattern++;
  }
  return *pattern == '\0';
}
