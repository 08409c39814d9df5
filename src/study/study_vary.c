// From --vary to axes and points.
//
// A range has the values from + i (to - from) / (n - 1), i = 0 .. n-1, or, with :log, from (to / from)^(i / (n - 1)).
#include "study/study_vary.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"

#define EXPECTED "expected path=from:to:n, path=from:to:n:log or path=a,b,c"

// Where reading has got to.
typedef struct builder {
  yoke_arena* arena;
  const char* text;  // the whole, for messages
  const yoke_sink* sink;
} builder;

static yoke_status refuse(const builder* b, const char* what) {
  return yoke_fail(b->sink, YOKE_BAD_INPUT, "'%.120s': %s", b->text, what);
}

size_t yoke__study_span(const char* text, const char* stops) {
  int depth = 0;
  char quote = '\0';
  size_t i = 0;
  for (; text[i] != '\0'; i++) {
    const char c = text[i];
    if (quote != '\0') {
      if (quote == '"' && c == '\\' && text[i + 1] != '\0') {
        i++;
      } else if (c == quote) {
        quote = '\0';
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (strchr("[{(", c) != NULL) {
      depth++;
    } else if (strchr("]})", c) != NULL) {
      depth -= depth > 0;
    } else if (depth == 0 && strchr(stops, c) != NULL) {
      break;
    }
  }
  return i;
}

// ---- values

static yoke_status take_values(const builder* b, yoke_axis* axis, size_t n) {
  axis->n = n;
  axis->values = yoke__arena_array(b->arena, n, sizeof *axis->values);
  axis->sets = yoke__arena_array(b->arena, n, sizeof *axis->sets);
  axis->numbers = yoke__arena_array(b->arena, n, sizeof *axis->numbers);
  return axis->values == NULL || axis->sets == NULL || axis->numbers == NULL ? YOKE_NO_MEMORY
                                                                             : YOKE_OK;
}

static yoke_status put_value(const builder* b, yoke_axis* axis, size_t i, const char* value,
                             double number) {
  const size_t size = strlen(axis->path) + strlen(value) + 2;
  char* set = yoke__arena_take(b->arena, size);
  YOKE_TRY_MEMORY(set);
  snprintf(set, size, "%s=%s", axis->path, value);
  axis->sets[i] = set;
  axis->values[i] = set + strlen(axis->path) + 1;
  axis->numbers[i] = number;
  axis->is_numeric = axis->is_numeric && yoke__is_finite(number);
  return YOKE_OK;
}

static yoke_status put_number(const builder* b, yoke_axis* axis, size_t i, double number) {
  char digits[YOKE_NUMBER_SIZE];
  yoke__number_format(number, digits);
  return put_value(b, axis, i, digits, number);
}

// ---- ranges

// Rounded to so many digits; next to 0, compared with the larger end, it is 0.
static double snap(double x, int n_digits, double size) {
  if (fabs(x) <= 4 * DBL_EPSILON * size) {
    return 0;
  }
  char digits[64];
  snprintf(digits, sizeof digits, "%.*g", n_digits, x);
  double rounded = x;
  yoke__number_parse(digits, &rounded);
  return rounded;
}

// 15 digits: what people mean by a step of 0.1. In a logarithmic range three are enough, so that a step of time is a
// decimal with a common tick, unless neighbours would become equal.
static int choose_digits(double ratio, size_t n, bool is_log) {
  if (!is_log) {
    return 15;
  }
  const double decades = fabs(log10(ratio)) / (double)(n - 1);
  return decades > 0.01 ? 3 : decades > 1e-5 ? 6 : 15;
}

static double range_value(double from, double to, size_t i, size_t n, bool is_log) {
  if (i == 0 || i == n - 1) {
    return i == 0 ? from : to;
  }
  const double s = (double)i / (double)(n - 1);
  const double x = is_log ? from * pow(to / from, s) : from * (1 - s) + to * s;
  return snap(x, choose_digits(to / from, n, is_log), fmax(fabs(from), fabs(to)));
}

// Is the path one of a value that a netlist may have with a suffix, 4.7k?
static bool has_suffixes(const char* path) {
  static const char* const parts[] = {".with.", ".start.", ".values.", ".solver.step"};
  for (size_t i = 0; strncmp(path, "units.", 6) == 0 && i < YOKE_COUNT(parts); i++) {
    if (strstr(path, parts[i]) != NULL) {
      return true;
    }
  }
  return false;
}

static bool read_end(const yoke_axis* axis, const char* text, double* out) {
  const bool is_number = yoke__number_parse(text, out) ||
                         (has_suffixes(axis->path) && yoke__number_parse_suffix(text, out));
  return is_number && yoke__is_finite(*out);
}

static yoke_status read_range(const builder* b, char* parts[4], size_t n_parts, yoke_axis* axis) {
  double from = 0, to = 0;
  int64_t n = 0;
  if (n_parts < 3) {
    return refuse(b, EXPECTED);
  }
  if (!read_end(axis, parts[0], &from) || !read_end(axis, parts[1], &to) ||
      !yoke__is_finite(to - from)) {
    return refuse(b, "the ends of a range must be numbers; " EXPECTED);
  }
  if (!yoke__number_parse_integer(parts[2], &n) || n < 1 || n > (int64_t)YOKE_GRID_MAX_POINTS) {
    return refuse(b, "a range needs a number of points from 1 to 1000000 behind its second colon");
  }
  axis->is_log = n_parts == 4;
  if (axis->is_log && strcmp(parts[3], "log") != 0) {
    return refuse(b, "only ':log' can stand behind the number of points");
  }
  const double ratio = to / from;
  if (axis->is_log && !(ratio > 0 && yoke__is_finite(ratio))) {
    return refuse(b, "a logarithmic range needs two ends of the same sign, none of them 0");
  }
  if ((n == 1) != (from == to)) {
    return refuse(b, n == 1 ? "one point, but two different ends" : "the two ends are equal");
  }
  YOKE_TRY(take_values(b, axis, (size_t)n));
  for (size_t i = 0; i < (size_t)n; i++) {
    YOKE_TRY(put_number(b, axis, i, range_value(from, to, i, (size_t)n, axis->is_log)));
  }
  return YOKE_OK;
}

// ---- lists

static yoke_status put_item(const builder* b, yoke_axis* axis, size_t i, const char* item,
                            size_t n) {
  char* text = yoke__arena_text(b->arena, item, n);
  double number = (double)NAN;
  int64_t whole = 0;
  YOKE_TRY_MEMORY(text);
  // integers keep all their digits: seeds may be larger than a double can hold
  if (yoke__number_parse_integer(text, &whole)) {
    char digits[YOKE_NUMBER_SIZE];
    yoke__number_format_integer(whole, digits);
    return put_value(b, axis, i, digits, (double)whole);
  }
  if (yoke__number_parse(text, &number) && yoke__is_finite(number)) {
    return put_number(b, axis, i, number);
  }
  return put_value(b, axis, i, text, (double)NAN);
}

static const char* trim(const char* item, size_t* n) {
  for (; *n > 0 && item[0] == ' '; item++, (*n)--) {
  }
  for (; *n > 0 && item[*n - 1] == ' '; (*n)--) {
  }
  return item;
}

static yoke_status read_list(const builder* b, const char* list, yoke_axis* axis) {
  size_t n = 1;
  for (const char* at = list; at[yoke__study_span(at, ",")] != '\0'; n++) {
    at += yoke__study_span(at, ",") + 1;
  }
  YOKE_TRY(take_values(b, axis, n));
  const char* at = list;
  for (size_t i = 0; i < n; i++) {
    size_t length = yoke__study_span(at, ",");
    const char* next = at + length + (at[length] != '\0');
    if (yoke__study_span(at, ":") < length) {
      return refuse(b, "a range cannot be part of a list; texts with a colon go into quotes");
    }
    at = trim(at, &length);
    if (length == 0) {
      return refuse(b, "a value of the list is empty");
    }
    YOKE_TRY(put_item(b, axis, i, at, length));
    at = next;
  }
  return YOKE_OK;
}

// a point that is there twice would be run twice
static yoke_status refuse_repeats(const builder* b, const yoke_axis* axis) {
  for (size_t i = 1; i < axis->n; i++) {
    // ranges are in order: neighbours are enough, and a long range stays cheap
    for (size_t j = axis->n > 1000 ? i - 1 : 0; j < i; j++) {
      if (strcmp(axis->values[i], axis->values[j]) == 0) {
        char what[160];
        snprintf(what, sizeof what, "the value %.80s is there twice", axis->values[i]);
        return refuse(b, what);
      }
    }
  }
  return YOKE_OK;
}

// ---- axes and points

static yoke_status read_axis(const builder* b, yoke_axis* axis) {
  const char* equals = strchr(b->text, '=');
  if (equals == NULL || equals == b->text || equals[1] == '\0') {
    return refuse(b, EXPECTED);
  }
  axis->path = yoke__arena_text(b->arena, b->text, (size_t)(equals - b->text));
  axis->is_numeric = true;
  YOKE_TRY_MEMORY(axis->path);
  const char* values = equals + 1;
  const size_t to_colon = yoke__study_span(values, ":"), to_comma = yoke__study_span(values, ",");
  if (values[to_colon] == '\0' || values[to_comma] != '\0') {
    YOKE_TRY(read_list(b, values, axis));
    return refuse_repeats(b, axis);
  }
  char* parts[4];
  size_t n_parts = 0;
  for (const char* at = values; at != NULL; n_parts++) {
    const size_t n = strcspn(at, ":");
    if (n_parts == 4) {
      return refuse(b, EXPECTED);
    }
    parts[n_parts] = yoke__arena_text(b->arena, at, n);
    YOKE_TRY_MEMORY(parts[n_parts]);
    at = at[n] == ':' ? at + n + 1 : NULL;
  }
  YOKE_TRY(read_range(b, parts, n_parts, axis));
  return refuse_repeats(b, axis);
}

static yoke_status add_axis(yoke_grid* grid, const builder* b) {
  yoke_axis* axis = &grid->axes[grid->n_axes];
  YOKE_TRY(read_axis(b, axis));
  for (size_t i = 0; i < grid->n_axes; i++) {
    if (strcmp(grid->axes[i].path, axis->path) == 0) {
      return refuse(b, "this path is varied twice");
    }
  }
  if (axis->n > YOKE_GRID_MAX_POINTS / grid->n_points) {
    return refuse(b, "the grid has more than 1000000 points with this axis");
  }
  grid->n_points *= axis->n;
  grid->n_axes++;
  return YOKE_OK;
}

yoke_status yoke__grid_create(const char* const texts[], size_t n, yoke_grid* out,
                              const yoke_sink* sink) {
  *out = (yoke_grid){.n_points = 1};
  if (n > YOKE_GRID_MAX_AXES) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "%zu axes, at most %u are possible", n,
                     YOKE_GRID_MAX_AXES);
  }
  out->axes = yoke__arena_array(&out->arena, n, sizeof *out->axes);
  yoke_status status = out->axes == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  for (size_t i = 0; i < n && status >= 0; i++) {
    const builder b = {&out->arena, texts[i], sink};
    status = add_axis(out, &b);
  }
  if (status < 0) {
    yoke__grid_free(out);
  }
  return status;
}

void yoke__grid_free(yoke_grid* grid) {
  yoke__arena_free(&grid->arena);
  *grid = (yoke_grid){0};
}

size_t yoke__grid_index(const yoke_grid* grid, size_t point, size_t axis) {
  for (size_t i = grid->n_axes; i-- > axis + 1;) {
    point /= grid->axes[i].n;
  }
  return point % grid->axes[axis].n;
}

void yoke__grid_describe(const yoke_grid* grid, size_t point, char* to, size_t size) {
  size_t used = 0;
  to[0] = '\0';
  for (size_t i = 0; i < grid->n_axes && used < size; i++) {
    const int n = snprintf(to + used, size - used, "%s%s", i == 0 ? "" : ", ",
                           grid->axes[i].sets[yoke__grid_index(grid, point, i)]);
    used += n > 0 ? (size_t)n : 0;
  }
}
