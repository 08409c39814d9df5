// yoke meter RESULT: the total energy residual of four recorded signals, as the meter unit would
// have measured it on line. The arithmetic is quality/quality_replay.c's; this file finds the
// signals, prints, and writes the running values.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "app/app_result.h"
#include "app/app_sink.h"
#include "base/base_check.h"
#include "base/base_json.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "quality/quality_replay.h"

#define COMMAND      "meter"
#define TABLE        "meter.csv"
#define DIGITS       9
#define MAX_NAME     1024
#define BLOCK_SIZE   65536
#define LEDGER_SLACK 1e-9  // relative: less than this are roundings of the times

// The options in the order of yoke_ter_signal.
static const char* const signal_options[] = {
    [YOKE_E_IN] = "effort-in",
    [YOKE_F_OUT] = "flow-out",
    [YOKE_F_IN] = "flow-in",
    [YOKE_E_OUT] = "effort-out",
};
static const yoke_ter_signal shown_order[] = {YOKE_E_IN, YOKE_E_OUT, YOKE_F_IN, YOKE_F_OUT};

// The columns of one signal.
typedef struct signal_list {
  const char** names;
  const double** columns;
  double* scale;
  size_t n;
} signal_list;

typedef struct measurement {
  yoke_arena arena;
  yoke_app_result result;
  const yoke_summary_bond* said;  // with --bond
  signal_list lists[YOKE_REPLAY_N_SIGNALS];
  yoke_replay_bond bond;
  yoke_replay_settings settings;
  yoke_replay replay;
} measurement;

static int report_memory(void) {
  yoke__app_error(COMMAND, "out of memory");
  return YOKE_EXIT_FAILED;
}

// ---- signals by name

static int make_list(measurement* m, size_t n, signal_list* list) {
  list->names = yoke__arena_array(&m->arena, n, sizeof *list->names);
  list->columns = yoke__arena_array(&m->arena, n, sizeof *list->columns);
  list->scale = yoke__arena_array(&m->arena, n, sizeof *list->scale);
  const bool is_made = list->names != NULL && list->columns != NULL && list->scale != NULL;
  return is_made ? YOKE_EXIT_OK : report_memory();
}

static bool add_column(measurement* m, const char* name, double scale, signal_list* list) {
  const double* values = yoke__app_result_column(&m->result, name);
  if (values == NULL) {
    return false;
  }
  list->names[list->n] = name;
  list->columns[list->n] = values;
  list->scale[list->n++] = scale;
  return true;
}

// One name: a column, or all elements of an array.
static int add_name(measurement* m, const char* name, size_t n, signal_list* list) {
  const char* own = yoke__arena_text(&m->arena, name, n);
  if (own == NULL) {
    return report_memory();
  }
  if (add_column(m, own, 1, list)) {
    return YOKE_EXIT_OK;
  }
  for (size_t i = 0; n < MAX_NAME - 32; i++) {
    char element[MAX_NAME];
    const int length = snprintf(element, sizeof element, "%s[%zu]", own, i);
    const char* copy = yoke__arena_text(&m->arena, element, (size_t)length);
    if (copy == NULL) {
      return report_memory();
    }
    if (!add_column(m, copy, 1, list)) {
      break;
    }
  }
  if (list->n > 0 && strncmp(list->names[list->n - 1], own, n) == 0 &&
      list->names[list->n - 1][n] == '[') {
    return YOKE_EXIT_OK;
  }
  yoke__app_result_report(COMMAND, &m->result, own);
  return YOKE_EXIT_USAGE;
}

// Length of the first name of a list: up to a comma that stands in no brackets.
static size_t name_length(const char* text) {
  size_t n = 0;
  for (int depth = 0; text[n] != '\0' && (text[n] != ',' || depth > 0); n++) {
    depth += (text[n] == '[' || text[n] == '(') - (text[n] == ']' || text[n] == ')');
  }
  return n;
}

// "a.x" or "a.x,a.y"
static int read_names(measurement* m, const char* text, signal_list* list) {
  // each name may be an array as wide as the table
  size_t n_names = 1;
  for (const char* at = text; *at != '\0'; at++) {
    n_names += *at == ',';
  }
  int status = make_list(m, m->result.csv.n_columns * n_names, list);
  if (status != YOKE_EXIT_OK || add_column(m, text, 1, list)) {
    return status;
  }
  while (status == YOKE_EXIT_OK) {
    const size_t n = name_length(text);
    status = add_name(m, text, n, list);
    if (text[n] == '\0') {
      break;
    }
    text += n + 1;
  }
  return status;
}

static int read_signals(measurement* m, const yoke_options* options) {
  int status = YOKE_EXIT_OK;
  for (size_t i = 0; i < YOKE_REPLAY_N_SIGNALS && status == YOKE_EXIT_OK; i++) {
    const char* text = yoke__options_value(options, signal_options[i]);
    if (text == NULL) {
      yoke__app_error(COMMAND, "--%s is missing; give all four signals or --bond NAME",
                      signal_options[i]);
      return YOKE_EXIT_USAGE;
    }
    status = read_names(m, text, &m->lists[i]);
  }
  const signal_list* first = &m->lists[YOKE_E_IN];
  for (size_t i = 0; i < YOKE_REPLAY_N_SIGNALS && status == YOKE_EXIT_OK; i++) {
    if (m->lists[i].n != first->n) {
      yoke__app_error(COMMAND, "--effort-in has %zu components, --%s has %zu", first->n,
                      signal_options[i], m->lists[i].n);
      status = YOKE_EXIT_USAGE;
    }
  }
  return status;
}

// ---- signals of a bond

// A recording cannot show everything: says what is missing.
static bool can_replay(const measurement* m, const yoke_summary_bond* bond) {
  if (bond->is_heat || bond->n == 0 || bond->components[0].columns[YOKE_E_IN] == NULL ||
      bond->components[0].columns[YOKE_F_IN] == NULL) {
    yoke__app_error(COMMAND, "bond '%s' %s", bond->name,
                    bond->is_heat  ? "balances heat: there is no power to measure"
                    : bond->n == 0 ? "has signals that summary.json does not explain"
                                   : "moves nothing: nobody receives its action or rate");
    return false;
  }
  if (strncmp(m->result.summary.scheme, "iterative", 9) == 0) {
    yoke__app_error(COMMAND,
                    "bond '%s': the inputs of an iteration's last pass are not recorded; the "
                    "ledger measured %.*g J",
                    bond->name, DIGITS, bond->ter);
    return false;
  }
  for (int end = 0; end < 2; end++) {
    const yoke_summary_end* e = &bond->ends[end];
    if (e->is_fresh && !e->is_law && e->use != YOKE_FEEDTHROUGH_NONE) {
      yoke__app_error(
          COMMAND,
          "bond '%s': unit '%s' is fresh, so the recording holds what it said after the "
          "exchange, not what its step returned; the ledger measured %.*g J",
          bond->name, e->unit, DIGITS, bond->ter);
      return false;
    }
  }
  return true;
}

static void report_bond(const measurement* m, const char* name) {
  char hint[YOKE_HINT_SIZE] = "";
  const yoke_summary* summary = &m->result.summary;
  const char** names = calloc(summary->n_bonds + 1, sizeof *names);
  for (size_t i = 0; names != NULL && i < summary->n_bonds; i++) {
    names[i] = summary->bonds[i].name;
  }
  if (names != NULL) {
    yoke__app_hint(name, names, summary->n_bonds, "", hint);
  }
  free((void*)names);
  if (!m->result.has_summary) {
    yoke__app_error(COMMAND, "--bond needs the summary.json of the run, which %s lacks",
                    m->result.path);
  } else {
    yoke__app_error(COMMAND, "%s has no bond '%.200s'%s", m->result.path, name, hint);
  }
}

static int read_bond(measurement* m, const char* name) {
  const yoke_summary_bond* bond = yoke__summary_find(&m->result.summary, name);
  if (bond == NULL) {
    report_bond(m, name);
    return YOKE_EXIT_USAGE;
  }
  if (!can_replay(m, bond)) {
    return YOKE_EXIT_USAGE;
  }
  m->said = bond;
  int status = YOKE_EXIT_OK;
  for (size_t s = 0; s < YOKE_REPLAY_N_SIGNALS; s++) {
    if (make_list(m, bond->n, &m->lists[s]) != YOKE_EXIT_OK) {
      return YOKE_EXIT_FAILED;
    }
    for (size_t i = 0; i < bond->n; i++) {
      const yoke_summary_component* c = &bond->components[i];
      if (!add_column(m, c->columns[s], c->scale[s], &m->lists[s])) {
        yoke__app_error(COMMAND, "bond '%s': %s is not recorded; add it to record.signals", name,
                        c->columns[s]);
        status = YOKE_EXIT_USAGE;
      }
    }
  }
  // outputs belong to the step that returned them, inputs to the step that they were held over
  m->bond.signals[YOKE_E_OUT].is_at_end = m->bond.signals[YOKE_F_OUT].is_at_end = true;
  m->bond.signals[YOKE_E_IN].is_at_end = bond->ends[0].is_input_at_end;
  m->bond.signals[YOKE_F_IN].is_at_end = bond->ends[1].is_input_at_end;
  return status;
}

// ---- settings

static bool read_number(const yoke_options* options, const char* name, double* out) {
  const char* text = yoke__options_value(options, name);
  if (text == NULL) {
    return true;
  }
  if (!yoke__number_parse(text, out) || !yoke__is_finite(*out)) {
    yoke__app_error(COMMAND, "--%s: expected a number, found '%.80s'", name, text);
    return false;
  }
  return true;
}

static bool read_settings(measurement* m, const yoke_options* options) {
  yoke_replay_settings* s = &m->settings;
  *s = yoke__replay_defaults;
  s->is_linear = yoke__options_has(options, "linear");
  const bool is_bond = yoke__options_has(options, "bond");
  if (!read_number(options, "window", &s->window) || !read_number(options, "from", &s->from) ||
      !read_number(options, "to", &s->to)) {
    return false;
  }
  const char* what = NULL;
  if (!(s->window > 0)) {
    what = "--window: expected a time above 0";
  } else if (!(s->from < s->to)) {
    what = "--from must lie before --to";
  } else if (s->is_linear && yoke__options_has(options, "hold")) {
    what = "--hold and --linear exclude each other";
  } else if (s->is_linear && is_bond) {
    what = "--linear needs the four signals: what a bond exchanges is held";
  }
  for (size_t i = 0; is_bond && i < YOKE_REPLAY_N_SIGNALS; i++) {
    what = yoke__options_has(options, signal_options[i])
               ? "--bond names all four signals; leave the others out"
               : what;
  }
  if (what != NULL) {
    yoke__app_error(COMMAND, "%s", what);
  }
  return what == NULL;
}

// ---- the running values

// A file written in blocks under a temporary name.
typedef struct output {
  int file;
  const char *path, *part;
  char block[BLOCK_SIZE];
  size_t n;
  yoke_status status;
  yoke_caught why;
} output;

static void flush_block(output* to) {
  size_t n_done = 0;
  if (to->status >= 0) {
    to->status = yoke__os_file_write(to->file, to->block, to->n, &n_done, &to->why.sink);
  }
  to->n = 0;
}

static void put(output* to, const char* text, size_t n) {
  if (n > sizeof to->block - to->n) {
    flush_block(to);
  }
  memcpy(to->block + to->n, text, n);
  to->n += n;
}

static void put_row(output* to, double t, const yoke_replay_values* v) {
  const double numbers[] = {t,
                            v->ter,
                            v->dP,
                            v->dE,
                            v->throughput,
                            v->rter,
                            v->ter_window,
                            v->rter_window,
                            v->flow_part,
                            v->effort_part,
                            v->flow_defect,
                            v->effort_defect,
                            (double)v->n_bad};
  for (size_t i = 0; i < YOKE_COUNT(numbers); i++) {
    char text[YOKE_NUMBER_SIZE];
    const size_t n = yoke__number_format(numbers[i], text);
    if (i > 0) {
      put(to, ",", 1);
    }
    put(to, text, n);
  }
  put(to, "\n", 1);
}

static bool report_output(const output* to) {
  const yoke_place place = {to->path, 0, 0};
  yoke__fail_at(&yoke__app_sink, YOKE_IO, place, "cannot be written: %s", to->why.text);
  return false;
}

static bool open_output(output* to, const char* directory, yoke_arena* arena) {
  static const char header[] = "time,ter,dP,dE,throughput,rter,ter_window,rter_window,flow_part,"
                               "effort_part,flow_defect,effort_defect,n_bad\n";
  const size_t size = yoke__os_path_join(directory, TABLE, NULL, 0) + sizeof ".part";
  char *path = yoke__arena_take(arena, size), *part = yoke__arena_take(arena, size);
  if (path == NULL || part == NULL) {
    report_memory();
    return false;
  }
  yoke__os_path_join(directory, TABLE, path, size);
  snprintf(part, size, "%s.part", path);
  *to = (output){.file = -1, .path = path, .part = part};
  to->why.sink = (yoke_sink){yoke__caught_receive, &to->why};
  if (yoke__os_make_directory(directory, &yoke__app_sink) < 0) {
    return false;
  }
  if (yoke__os_file_create(part, &to->file, &to->why.sink) < 0) {
    return report_output(to);
  }
  put(to, header, sizeof header - 1);
  return true;
}

static int close_output(output* to) {
  flush_block(to);
  const yoke_status closed = yoke__os_file_close(&to->file, to->status < 0 ? NULL : &to->why.sink);
  if (to->status < 0 || closed < 0) {
    report_output(to);
    yoke__os_file_remove(to->part);
    return YOKE_EXIT_FAILED;
  }
  const yoke_status renamed = yoke__os_rename(to->part, to->path, &yoke__app_sink);
  return renamed < 0 ? YOKE_EXIT_FAILED : YOKE_EXIT_OK;
}

// All intervals; to NULL: nothing is written.
static void run_meter(yoke_replay* replay, output* to) {
  // as the stepping thread does, so that the bits are the same
  const uint64_t mode = yoke__os_float_mode_set();
  if (to != NULL) {
    put_row(to, replay->t, &replay->values);
  }
  while (yoke__replay_next(replay)) {
    if (to != NULL) {
      put_row(to, replay->t, &replay->values);
    }
  }
  yoke__os_float_mode_restore(mode);
}

// ---- what is printed

static void print_names(const measurement* m) {
  static const char* const titles[] = {[YOKE_E_IN] = "effort in",
                                       [YOKE_F_OUT] = "flow out",
                                       [YOKE_F_IN] = "flow in",
                                       [YOKE_E_OUT] = "effort out"};
  for (size_t i = 0; i < YOKE_COUNT(shown_order); i++) {
    const signal_list* list = &m->lists[shown_order[i]];
    printf("%-12s", titles[shown_order[i]]);
    for (size_t k = 0; k < list->n; k++) {
      printf("%s%s", k == 0 ? "" : ", ", list->names[k]);
    }
    putchar('\n');
  }
}

static void print_value(const char* title, double x, const char* unit) {
  printf("%-16s%.*g%s\n", title, DIGITS, x, unit);
}

static void print_worst(const char* title, double x, const char* unit, double t, double window) {
  printf("%-16s%.*g%s over the %.6g s up to %.*g s\n", title, DIGITS, x, unit, window, DIGITS, t);
}

static void print_table(const measurement* m) {
  const yoke_replay* r = &m->replay;
  const yoke_replay_values* v = &r->values;
  printf("%s from %.*g to %.*g s, %zu intervals", m->result.path, DIGITS, r->t_first, DIGITS, r->t,
         r->n_intervals);
  if (r->step > 0) {
    printf(" of %.*g s", DIGITS, r->step);
  }
  printf(", %s\n", m->settings.is_linear ? "straight lines" : "values held");
  print_names(m);
  print_value("TER", v->ter, " J");
  print_value("relative TER", v->rter, "");
  print_value("dE", v->dE, " J (signed)");
  print_value("throughput", v->throughput, " J");
  print_value("flow part", v->flow_part, " J");
  print_value("effort part", v->effort_part, " J");
  print_value("flow defect", v->flow_defect, " (sum of |defect| dt)");
  print_value("effort defect", v->effort_defect, " (sum of |defect| dt)");
  print_worst("worst TER", r->ter_window_worst, " J", r->t_ter_window_worst, m->settings.window);
  print_worst("worst relative", r->rter_window_worst, "", r->t_rter_window_worst,
              m->settings.window);
  printf("%-16s%llu\n", "bad samples", (unsigned long long)v->n_bad);
}

// The ledger saw every call of the units; a recording may not show them all.
static void print_ledger(const measurement* m) {
  const yoke_replay* r = &m->replay;
  const bool is_whole = m->said != NULL && r->t_first <= m->result.summary.t_start &&
                        r->t >= m->result.summary.t_reached;
  if (!is_whole || isnan(m->said->ter)) {
    return;
  }
  const double ledger = m->said->ter;
  const bool is_same = fabs(r->values.ter - ledger) <= LEDGER_SLACK * ledger;
  printf("%-16s%.*g J%s\n", "ledger", DIGITS, ledger,
         is_same ? "" : " (it saw calls of the units that fall between the rows)");
}

static void json_signals(const measurement* m, yoke_json* json) {
  static const char* const keys[] = {[YOKE_E_IN] = "effort_in",
                                     [YOKE_F_OUT] = "flow_out",
                                     [YOKE_F_IN] = "flow_in",
                                     [YOKE_E_OUT] = "effort_out"};
  for (size_t i = 0; i < YOKE_COUNT(shown_order); i++) {
    const signal_list* list = &m->lists[shown_order[i]];
    yoke__json_begin_array(json, keys[shown_order[i]]);
    for (size_t k = 0; k < list->n; k++) {
      yoke__json_string(json, NULL, list->names[k]);
    }
    yoke__json_end_array(json);
  }
}

static void json_values(const yoke_replay* r, yoke_json* json) {
  const yoke_replay_values* v = &r->values;
  yoke__json_number(json, "ter", v->ter);
  yoke__json_number(json, "rter", v->rter);
  yoke__json_number(json, "dE", v->dE);
  yoke__json_number(json, "throughput", v->throughput);
  yoke__json_number(json, "flow_part", v->flow_part);
  yoke__json_number(json, "effort_part", v->effort_part);
  yoke__json_number(json, "flow_defect", v->flow_defect);
  yoke__json_number(json, "effort_defect", v->effort_defect);
  yoke__json_number(json, "window", r->settings.window);
  yoke__json_number(json, "ter_window", v->ter_window);
  yoke__json_number(json, "rter_window", v->rter_window);
  yoke__json_number(json, "ter_window_worst", r->ter_window_worst);
  yoke__json_number(json, "ter_window_worst_time", r->t_ter_window_worst);
  yoke__json_number(json, "rter_window_worst", r->rter_window_worst);
  yoke__json_number(json, "rter_window_worst_time", r->t_rter_window_worst);
  yoke__json_integer(json, "bad_samples", (int64_t)v->n_bad);
}

static int print_json(const measurement* m) {
  const yoke_replay* r = &m->replay;
  yoke_json json = {0};
  yoke__json_begin_document(&json, "meter");
  yoke__json_string(&json, "result", m->result.path);
  yoke__json_string(&json, "bond", m->said == NULL ? NULL : m->said->name);
  json_signals(m, &json);
  yoke__json_string(&json, "values", m->settings.is_linear ? "linear" : "held");
  yoke__json_number(&json, "from", r->t_first);
  yoke__json_number(&json, "to", r->t);
  yoke__json_integer(&json, "intervals", (int64_t)r->n_intervals);
  yoke__json_number(&json, "step", r->step > 0 ? r->step : (double)NAN);
  json_values(r, &json);
  if (m->said != NULL) {
    yoke__json_number(&json, "ledger_ter", m->said->ter);
  }
  yoke__json_end_object(&json);
  return yoke__app_print_json(COMMAND, &json) ? YOKE_EXIT_OK : YOKE_EXIT_FAILED;
}

// ---- the command

static int find_signals(measurement* m, const yoke_options* options) {
  const char* bond = yoke__options_value(options, "bond");
  int status = yoke__app_result_read(COMMAND, options->operands[0], &m->arena, &m->result);
  if (status == YOKE_EXIT_OK && bond != NULL) {
    status = yoke__app_result_read_summary(COMMAND, &m->arena, &m->result);
  }
  if (status == YOKE_EXIT_OK) {
    status = bond == NULL ? read_signals(m, options) : read_bond(m, bond);
  }
  m->bond.t = status == YOKE_EXIT_OK ? m->result.csv.columns[0].values : NULL;
  m->bond.n_rows = m->result.csv.n_rows;
  m->bond.n = m->lists[YOKE_E_IN].n;
  for (size_t i = 0; i < YOKE_REPLAY_N_SIGNALS; i++) {
    m->bond.signals[i].columns = m->lists[i].columns;
    m->bond.signals[i].scale = m->lists[i].scale;
  }
  return status;
}

static int write_running(measurement* m, const char* directory) {
  static output to;  // large: the block
  if (!open_output(&to, directory, &m->arena)) {
    run_meter(&m->replay, NULL);  // what is printed holds all the same
    return YOKE_EXIT_FAILED;
  }
  run_meter(&m->replay, &to);
  return close_output(&to);
}

static int measure(measurement* m, const yoke_options* options) {
  yoke_context context;
  const char* out = yoke__options_value(options, "out");
  if (out != NULL && out[0] == '\0') {
    yoke__app_error(COMMAND, "--out: expected the name of a folder, found nothing");
    return YOKE_EXIT_USAGE;
  }
  int status = read_settings(m, options) ? find_signals(m, options) : YOKE_EXIT_USAGE;
  if (status != YOKE_EXIT_OK) {
    return status;
  }
  const yoke_status started = yoke__replay_start(&m->replay, &m->bond, &m->settings, &m->arena,
                                                 yoke__app_sink_at(&context, m->result.path));
  if (started < 0) {
    return yoke__app_fail(COMMAND, started);
  }
  if (out == NULL) {
    run_meter(&m->replay, NULL);
  } else {
    status = write_running(m, out);
  }
  if (m->replay.values.n_bad > 0) {
    yoke__app_error(COMMAND, "warning: %llu interval%s left out because a value is not finite",
                    (unsigned long long)m->replay.values.n_bad,
                    m->replay.values.n_bad == 1 ? "" : "s");
  }
  if (yoke__options_has(options, "json")) {
    const int printed = print_json(m);
    return status == YOKE_EXIT_OK ? printed : status;
  }
  print_table(m);
  print_ledger(m);
  return status;
}

int yoke_cmd_meter(int argc, char** argv) {
  yoke_options options;
  int status = YOKE_EXIT_OK;
  if (!yoke__options_parse(&yoke__command_meter, argc, argv, &options, &status)) {
    return status;
  }
  measurement m = {0};
  status = measure(&m, &options);
  yoke__csv_free(&m.result.csv);
  yoke__arena_free(&m.arena);
  yoke__options_free(&options);
  return status;
}
