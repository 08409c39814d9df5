// .options, .temp, .tran, .yoke: how the network is run.
//
//   .options method=trap|gear maxord= gmin= temp= tnom= itl4=     others: accepted or warned of
//   .temp value                                                    [degC]
//   .tran tstep tstop [tstart [tmax]] [uic]
//   .yoke method= formulation= startup= step= iterations= max_iterations= tolerance=
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "circuit/circuit_solver.h"
#include "circuit/netlist/circuit_netlist_reader.h"

#define ZERO_CELSIUS 273.15  // [K]

// Options of ngspice that make no difference here.
static const char* const accepted[] = {
    "reltol",   "abstol",     "vntol",  "chgtol", "trtol",  "itl1",         "itl2",     "itl3",
    "itl5",     "itl6",       "pivtol", "pivrel", "acct",   "noacct",       "list",     "nomod",
    "nopage",   "node",       "opts",   "numdgt", "noinit", "savecurrents", "klu",      "sparse",
    "interp",   "limpts",     "cptime", "lvlcod", "warn",   "autostop",     "noopiter", "gminsteps",
    "srcsteps", "keepopinfo", "post",   "ingold", "probe",  "nodcpath",
};

static bool set_temperature(yoke_cursor* cursor, const char* what, yoke_token token, double* out) {
  double celsius = 0.0;
  if (!yoke__netlist_number(cursor, token, what, &celsius)) {
    return false;
  }
  if (!(celsius > -ZERO_CELSIUS)) {
    return yoke__cursor_error(cursor, token.span.text, "%s: %g degC is below absolute zero", what,
                              celsius);
  }
  *out = celsius + ZERO_CELSIUS;
  return true;
}

static void set_method(yoke_cursor* cursor, yoke_token token) {
  char cut[YOKE_SHOWN_SIZE];
  if (token.kind == YOKE_TOKEN_WORD &&
      (yoke__span_is(token.span, "trap") || yoke__span_is(token.span, "trapezoidal") ||
       yoke__span_is(token.span, "gear"))) {
    cursor->reader->method = token.span;
    return;
  }
  yoke__cursor_error(cursor, token.span.text, ".options: method is 'trap' or 'gear', found '%s'",
                     yoke__shown(token.span, cut));
}

static void set_option(yoke_cursor* cursor, yoke_span key, yoke_token token) {
  yoke_netlist_reader* reader = cursor->reader;
  yoke_circuit_run* run = &reader->network->run;
  char what[YOKE_SHOWN_SIZE];
  double number = 0.0;
  yoke__shown(key, what);
  if (yoke__span_is(key, "method")) {
    set_method(cursor, token);
  } else if (yoke__span_is(key, "temp")) {
    set_temperature(cursor, what, token, &run->temperature);
  } else if (yoke__span_is(key, "tnom")) {
    set_temperature(cursor, what, token, &reader->tnom);
  } else if (yoke__span_is(key, "gmin") || yoke__span_is(key, "maxord") ||
             yoke__span_is(key, "itl4")) {
    const bool is_gmin = yoke__span_is(key, "gmin");
    if (!yoke__netlist_number(cursor, token, what, &number)) {
      return;
    }
    if (!(number >= 0.0) || (!is_gmin && !(number >= 1.0 && number <= 1e6))) {
      yoke__cursor_error(cursor, token.span.text, ".options: %s is out of range", what);
    } else if (is_gmin) {
      run->gmin = number;
    } else if (yoke__span_is(key, "itl4")) {
      run->max_iterations = (int)number;
    } else {
      reader->max_order = (int)number;
    }
  } else if (yoke__span_among(key, accepted, YOKE_COUNT(accepted)) == YOKE_COUNT(accepted)) {
    yoke__cursor_ignore(cursor, ".options", key);
  }
}

static void read_options(yoke_cursor* cursor) {
  yoke_span key;
  for (;;) {
    if (yoke__cursor_take_key(cursor, &key)) {
      set_option(cursor, key, yoke__cursor_next(cursor));
      continue;
    }
    const yoke_token flag = yoke__cursor_next(cursor);
    if (flag.kind != YOKE_TOKEN_WORD) {
      return;
    }

    // flags without a value
    static const char* const valued[] = {"method", "temp", "tnom", "gmin", "maxord", "itl4"};
    if (yoke__span_among(flag.span, valued, YOKE_COUNT(valued)) < YOKE_COUNT(valued)) {
      char cut[YOKE_SHOWN_SIZE];
      yoke__cursor_error(cursor, flag.span.text, ".options: %s lacks its value",
                         yoke__shown(flag.span, cut));
    } else {
      set_option(cursor, flag.span, flag);
    }
  }
}

static void read_tran(yoke_cursor* cursor) {
  yoke_netlist_reader* reader = cursor->reader;
  yoke_circuit_run* run = &reader->network->run;
  double numbers[4] = {0};
  size_t n = 0;
  bool is_uic = false;
  for (;;) {
    const yoke_token token = yoke__cursor_peek(cursor);
    if (token.kind == YOKE_TOKEN_END) {
      break;
    }
    is_uic = is_uic || yoke__span_is(token.span, "uic");
    if (yoke__cursor_take(cursor, "uic")) {
      continue;
    }
    if (n == YOKE_COUNT(numbers)) {
      yoke__netlist_expect_end(cursor);
      return;
    }
    if (!yoke__netlist_number(cursor, yoke__cursor_next(cursor), ".tran", &numbers[n++])) {
      return;
    }
  }
  if (n < 2) {
    yoke__cursor_error(cursor, NULL, "expected '.tran tstep tstop [tstart [tmax]] [uic]'");
    return;
  }
  if (!(numbers[0] > 0.0 && numbers[1] > 0.0 && numbers[2] >= 0.0 && numbers[2] < numbers[1] &&
        numbers[3] >= 0.0)) {
    yoke__cursor_error(cursor, NULL,
                       ".tran: expected 0 < tstep, 0 <= tstart < tstop and 0 <= tmax");
    return;
  }
  if (run->has_tran) {
    yoke__cursor_warn(cursor, NULL, "a second .tran: this one holds");
  }
  run->has_tran = true;
  run->step = numbers[0];
  run->stop = numbers[1];
  run->start = numbers[2];
  run->max_step = numbers[3];
  run->is_uic = is_uic;
}

// ---- .yoke

// One of the names; NULL after a message.
static const char* find_choice(yoke_cursor* cursor, yoke_span key, yoke_token token,
                               const char* const names[], size_t n) {
  char what[YOKE_SHOWN_SIZE], cut[YOKE_SHOWN_SIZE], list[200] = "";
  size_t length = 0;
  for (size_t i = 0; i < n; i++) {
    if (yoke__span_is(token.span, names[i])) {
      return names[i];
    }
    if (length < sizeof list - 20) {
      length += (size_t)snprintf(list + length, sizeof list - length, "%s%.16s", i == 0 ? "" : ", ",
                                 names[i]);
    }
  }
  yoke__cursor_error(cursor, token.span.text, ".yoke: unknown %s '%s': expected one of %s",
                     yoke__shown(key, what), yoke__shown(token.span, cut), list);
  return NULL;
}

static void set_number(yoke_cursor* cursor, yoke_span key, yoke_token token) {
  yoke_circuit_run* run = &cursor->reader->network->run;
  char what[YOKE_SHOWN_SIZE];
  double number = 0.0;
  yoke__shown(key, what);
  const bool is_count = yoke__span_is(key, "iterations") || yoke__span_is(key, "max_iterations");
  if (!is_count && !yoke__span_is(key, "step") && !yoke__span_is(key, "tolerance")) {
    static const char* const keys[] = {"method",     "formulation",    "startup",  "step",
                                       "iterations", "max_iterations", "tolerance"};
    const char* near = yoke__nearest_name(what, keys, YOKE_COUNT(keys));
    yoke__cursor_error(cursor, key.text, ".yoke: unknown key '%s'%s%s%s", what,
                       near == NULL ? "" : "; did you mean '", near == NULL ? "" : near,
                       near == NULL ? "" : "'?");
    return;
  }
  if (!yoke__netlist_number(cursor, token, what, &number)) {
    return;
  }
  if (!(number > 0.0) || (is_count && (number > 1e6 || number != floor(number)))) {
    yoke__cursor_error(cursor, token.span.text, ".yoke: %s must be %s", what,
                       is_count ? "a positive whole number" : "positive");
    return;
  }
  if (yoke__span_is(key, "step")) {
    run->step_exact = number;
  } else if (yoke__span_is(key, "tolerance")) {
    run->tolerance = number;
  } else if (yoke__span_is(key, "iterations")) {
    run->iterations = (int)number;
  } else {
    run->max_iterations = (int)number;
  }
}

static void read_yoke(yoke_cursor* cursor) {
  yoke_circuit_run* run = &cursor->reader->network->run;
  yoke_span key;
  while (yoke__cursor_take_key(cursor, &key)) {
    const yoke_token token = yoke__cursor_next(cursor);
    if (yoke__span_is(key, "method")) {
      run->method =
          find_choice(cursor, key, token, yoke__circuit_method_names, YOKE_CIRCUIT_N_METHODS);
    } else if (yoke__span_is(key, "formulation")) {
      run->formulation = find_choice(cursor, key, token, yoke__circuit_formulation_names,
                                     YOKE_FORMULATION_ODE + 1);
    } else if (yoke__span_is(key, "startup")) {
      run->startup = find_choice(cursor, key, token, yoke__circuit_startup_names,
                                 YOKE_STARTUP_TR_XI_MINUS_1 + 1);
    } else {
      set_number(cursor, key, token);
    }
  }
  yoke__netlist_expect_end(cursor);
}

// ---- in their order: what others depend on comes first

static yoke_span open_directive(yoke_netlist_reader* reader, size_t i, yoke_cursor* cursor) {
  *cursor = yoke__cursor_open(reader, &reader->statements[reader->directives[i]], reader->top);
  return yoke__cursor_next(cursor).span;
}

// method= of .options by the names of .yoke, which has the last word
static void choose_method(yoke_netlist_reader* reader) {
  static const char* const gears[] = {"bdf1", "bdf2", "bdf3"};
  if (reader->method.text == NULL) {
    return;
  }
  const int order = reader->max_order == 0 ? 2 : reader->max_order > 3 ? 3 : reader->max_order;
  reader->network->run.method = yoke__span_is(reader->method, "gear") ? gears[order - 1] : "tr";
}

void yoke__netlist_directives(yoke_netlist_reader* reader) {
  yoke_cursor cursor;
  for (size_t i = 0; i < reader->n_directives && !reader->is_stopped; i++) {
    const yoke_span word = open_directive(reader, i, &cursor);
    if (yoke__span_is(word, ".temp")) {
      if (set_temperature(&cursor, ".temp", yoke__cursor_next(&cursor),
                          &reader->network->run.temperature)) {
        yoke__netlist_expect_end(&cursor);
      }
    } else if (word.n >= 4 && yoke__span_is((yoke_span){word.text, 4}, ".opt")) {
      read_options(&cursor);
    }
  }
  choose_method(reader);
  for (size_t i = 0; i < reader->n_directives && !reader->is_stopped; i++) {
    const yoke_span word = open_directive(reader, i, &cursor);
    if (yoke__span_is(word, ".tran")) {
      read_tran(&cursor);
    } else if (yoke__span_is(word, ".yoke")) {
      read_yoke(&cursor);
    } else if (yoke__span_is(word, ".nodeset") && yoke__netlist_is_first(reader, word)) {
      yoke__cursor_warn(&cursor, NULL, ".nodeset is ignored");
    }
  }
}
