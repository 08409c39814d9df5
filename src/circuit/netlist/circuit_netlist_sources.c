// Values of independent sources: [DC] value [AC ...] [wave].
//
//   SIN(vo va [freq [td [theta [phase]]]])            freq: 1/tstop
//   PULSE(v1 v2 [td [tr [tf [pw [per]]]]])   tr, tf: tstep; pw, per: for ever. 0: the default
//   EXP(v1 v2 [td1 [tau1 [td2 [tau2]]]])              td1: 0; tau1, tau2: tstep; td2: td1 + tstep
//   PWL(t1 v1 t2 v2 ...) [r=from] [td=delay]
//
// Brackets and commas may be left out. A wave is used from the start of the simulation on and
// instead of the DC value, as ngspice does in a transient analysis. SIN and PULSE whose numbers
// change with time or inputs become laws.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "circuit/netlist/circuit_netlist_reader.h"

#define MAX_NUMBERS 7

static const struct {
  const char* word;
  yoke_wave_kind kind;
  size_t max_numbers;
} waves[] = {
    {"sin", YOKE_WAVE_SIN, 6},
    {"pulse", YOKE_WAVE_PULSE, 7},
    {"exp", YOKE_WAVE_EXP, 6},
    {"pwl", YOKE_WAVE_PWL, 0},
};

// Words that end a list of numbers.
static bool is_keyword(yoke_token token) {
  static const char* const words[] = {"dc", "ac", "distof1", "distof2", "r", "td"};
  return (token.kind == YOKE_TOKEN_WORD &&
          yoke__span_among(token.span, words, YOKE_COUNT(words)) < YOKE_COUNT(words)) ||
         yoke__netlist_is_wave(token);
}

bool yoke__netlist_is_wave(yoke_token token) {
  for (size_t i = 0; token.kind == YOKE_TOKEN_WORD && i < YOKE_COUNT(waves); i++) {
    if (yoke__span_is(token.span, waves[i].word)) {
      return true;
    }
  }
  return false;
}

// True if a number of the list stands at the cursor.
static bool has_number(const yoke_cursor* cursor) {
  const yoke_token token = yoke__cursor_peek(cursor);
  return (token.kind == YOKE_TOKEN_WORD && !is_keyword(token)) ||
         token.kind == YOKE_TOKEN_EXPRESSION;
}

// ---- PWL

static bool read_pwl_keys(yoke_cursor* cursor, const char* what, double* delay, double* from) {
  yoke_span key;
  while (yoke__cursor_take_key(cursor, &key)) {
    char cut[YOKE_SHOWN_SIZE];
    double* place = yoke__span_is(key, "td") ? delay : yoke__span_is(key, "r") ? from : NULL;
    if (place == NULL) {
      return yoke__cursor_error(cursor, key.text,
                                "%s: expected 'r=' or 'td=' behind PWL, found '%s'", what,
                                yoke__shown(key, cut));
    }
    if (!yoke__netlist_number(cursor, yoke__cursor_next(cursor), what, place)) {
      return false;
    }
  }
  return true;
}

// The numbers of the list; to be freed. NULL after a message.
static double* read_numbers(yoke_cursor* cursor, const char* what, size_t* n) {
  double* numbers = NULL;
  size_t max = 0;
  *n = 0;
  while (has_number(cursor)) {
    double number = 0.0;
    yoke_cursor ahead = *cursor;
    yoke_span key;
    if (yoke__cursor_take_key(&ahead, &key)) {
      break;
    }
    if (!yoke__netlist_number(cursor, yoke__cursor_next(cursor), what, &number) ||
        !yoke__reader_append(cursor->reader, &numbers, n, &max, sizeof number, &number)) {
      free(numbers);
      return NULL;
    }
  }
  if (*n < 2 || *n % 2 != 0) {
    yoke__cursor_error(cursor, NULL, "%s: PWL needs pairs of time and value, found %zu number%s",
                       what, *n, *n == 1 ? "" : "s");
    free(numbers);
    return NULL;
  }
  return numbers;
}

static bool read_pwl(yoke_cursor* cursor, const char* what, yoke_wave* wave) {
  double delay = 0.0, from = -1.0;
  size_t n = 0;
  double* numbers = read_numbers(cursor, what, &n);
  if (numbers == NULL) {
    return false;
  }
  double* table = yoke__arena_array(&cursor->reader->arena, n, sizeof *table);
  if (table == NULL || !read_pwl_keys(cursor, what, &delay, &from)) {
    cursor->reader->is_out_of_memory = cursor->reader->is_out_of_memory || table == NULL;
    free(numbers);
    return false;
  }
  for (size_t i = 0; i < n; i++) {
    table[i] = numbers[i] + (i % 2 == 0 ? delay : 0.0);
  }
  free(numbers);
  if (from >= 0.0 && !(from + delay < table[n - 2])) {
    return yoke__cursor_error(cursor, NULL,
                              "%s: PWL cannot repeat from a time behind its last point", what);
  }
  wave->table = table;
  wave->n_points = (uint32_t)(n / 2);
  wave->repeat_from = from < 0.0 ? -1.0 : from + delay;
  return true;
}

// ---- SIN, PULSE, EXP

static bool set_defaults(yoke_cursor* cursor, const char* what, size_t n, yoke_wave* wave) {
  const yoke_circuit_run* run = &cursor->reader->network->run;
  double* p = wave->p;
  const double step = run->step;
  if (wave->kind == YOKE_WAVE_SIN) {
    if (p[2] == 0.0 && !(run->stop > 0.0)) {
      return yoke__cursor_error(cursor, NULL,
                                "%s: SIN without frequency needs .tran (it is 1/tstop)", what);
    }
    p[2] = p[2] == 0.0 ? 1.0 / run->stop : p[2];
  } else if (wave->kind == YOKE_WAVE_PULSE) {
    p[3] = p[3] == 0.0 ? step : p[3];
    p[4] = p[4] == 0.0 ? step : p[4];
    p[5] = p[5] == 0.0 ? (double)INFINITY : p[5];
    p[6] = p[6] == 0.0 ? (double)INFINITY : p[6];
  } else {
    p[3] = p[3] == 0.0 ? step : p[3];
    p[4] = n <= 4 || p[4] == 0.0 ? p[2] + step : p[4];
    p[5] = p[5] == 0.0 ? step : p[5];
  }
  return true;
}

// A wave whose numbers are live, written as an expression of time. NULL if that is not possible.
static const char* law_of_wave(yoke_wave_kind kind, size_t n) {
  if (kind == YOKE_WAVE_SIN && n >= 3) {
    return "(time<($3))?($0)+($1)*sin(($5)*pi/180):"
           "($0)+($1)*exp(-(time-($3))*($4))*sin(2*pi*($2)*(time-($3))+($5)*pi/180)";
  }
  if (kind == YOKE_WAVE_PULSE && n == 7) {
    // % stands for the time since the start of the present period
    return "(time<($2))?($0):(%<($3))?($0)+(($1)-($0))*%/($3):(%<($3)+($5))?($1):"
           "(%<($3)+($5)+($4))?($1)+(($0)-($1))*(%-($3)-($5))/($4):($0)";
  }
  return NULL;
}

// Puts the numbers' texts into the pattern. out NULL: only the length is counted.
static size_t fill_pattern(const char* pattern, const yoke_netlist_value numbers[], size_t n,
                           char* out) {
  static const char period[] = "((time-($2))-($6)*floor((time-($2))/($6)))";
  size_t length = 0;
  const char *c = pattern, *outer = NULL;
  while (*c != '\0' || outer != NULL) {
    if (*c == '\0') {
      c = outer + 1;
      outer = NULL;
      continue;
    }
    if (*c == '%') {
      outer = c;
      c = period;
      continue;
    }
    yoke_span piece = {c, 1};
    if (*c == '$') {
      const size_t i = (size_t)(*++c - '0');
      piece = i < n ? numbers[i].text : (yoke_span){"0", 1};
    }
    if (out != NULL) {
      memcpy(out + length, piece.text, piece.n);
    }
    length += piece.n;
    c++;
  }
  return length;
}

static bool make_law(yoke_cursor* cursor, const char* what, yoke_wave_kind kind,
                     const yoke_netlist_value numbers[], size_t n, yoke_source_value* out) {
  yoke_netlist_reader* reader = cursor->reader;
  const char* pattern = law_of_wave(kind, n);
  if (pattern == NULL) {
    return yoke__cursor_error(
        cursor, NULL,
        "%s: numbers of this wave must be constant; only SIN with its frequency "
        "and PULSE with all seven numbers may change with time or inputs",
        what);
  }
  const size_t length = fill_pattern(pattern, numbers, n, NULL);
  char* text = yoke__arena_take(&reader->arena, length + 1);
  if (text == NULL) {
    reader->is_out_of_memory = true;
    return false;
  }
  fill_pattern(pattern, numbers, n, text);
  out->has_wave = false;
  return yoke__netlist_compile(reader, cursor->statement, cursor->frame, (yoke_span){text, length},
                               what, NULL, &out->value);
}

bool yoke__netlist_wave(yoke_cursor* cursor, const char* what, yoke_source_value* out) {
  const yoke_span word = yoke__cursor_next(cursor).span;
  yoke_netlist_value numbers[MAX_NUMBERS];
  size_t i = 0, n = 0;
  bool is_constant = true;
  while (!yoke__span_is(word, waves[i].word)) {
    i++;
  }
  out->wave = (yoke_wave){.kind = waves[i].kind, .repeat_from = -1.0};
  out->has_wave = true;
  if (waves[i].kind == YOKE_WAVE_PWL) {
    return read_pwl(cursor, what, &out->wave);
  }
  for (; has_number(cursor); n++) {
    if (n == waves[i].max_numbers) {
      return yoke__cursor_error(cursor, yoke__cursor_peek(cursor).span.text,
                                "%s: %s takes at most %zu numbers", what, waves[i].word,
                                waves[i].max_numbers);
    }
    if (!yoke__netlist_value(cursor, yoke__cursor_next(cursor), what, NULL, &numbers[n])) {
      return false;
    }
    out->wave.p[n] = numbers[n].number;
    is_constant = is_constant && numbers[n].is_constant;
  }
  if (n < 2) {
    return yoke__cursor_error(cursor, NULL, "%s: %s needs at least two numbers", what,
                              waves[i].word);
  }
  if (!is_constant) {
    return make_law(cursor, what, waves[i].kind, numbers, n, out);
  }
  return set_defaults(cursor, what, n, &out->wave);
}

// ---- the whole value

// AC and DISTOF are for other analyses: their numbers are skipped.
static void skip_numbers(yoke_cursor* cursor) {
  if (yoke__cursor_peek(cursor).kind == YOKE_TOKEN_EQUALS) {
    yoke__cursor_next(cursor);
  }
  for (int i = 0; i < 2 && has_number(cursor); i++) {
    yoke__cursor_next(cursor);
  }
}

bool yoke__netlist_source(yoke_cursor* cursor, const char* what, yoke_source_value* out) {
  *out = (yoke_source_value){.value = {.is_constant = true}};
  bool has_value = false;
  for (;;) {
    const yoke_token token = yoke__cursor_peek(cursor);
    if (token.kind == YOKE_TOKEN_END || cursor->is_failed) {
      break;
    }
    if (yoke__netlist_is_wave(token) && !out->has_wave) {
      if (!yoke__netlist_wave(cursor, what, out)) {
        return false;
      }
      has_value = true;
    } else if (yoke__cursor_take(cursor, "ac") || yoke__cursor_take(cursor, "distof1") ||
               yoke__cursor_take(cursor, "distof2")) {
      skip_numbers(cursor);
    } else {
      const bool is_dc = yoke__cursor_take(cursor, "dc");
      if (is_dc && yoke__cursor_peek(cursor).kind == YOKE_TOKEN_EQUALS) {
        yoke__cursor_next(cursor);
      }
      if (has_value && !is_dc) {
        return yoke__netlist_expect_end(cursor);
      }
      yoke_netlist_value dc;
      if (!yoke__netlist_value(cursor, yoke__cursor_next(cursor), what, NULL, &dc)) {
        return false;
      }
      // a wave holds even if the DC value comes later
      out->value = has_value ? out->value : dc;
      has_value = true;
    }
  }
  if (!has_value && !cursor->is_failed) {
    yoke__cursor_warn(cursor, NULL, "%s has no value: 0 is taken", what);
  }
  return !cursor->is_failed;
}
