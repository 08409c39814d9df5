// yoke meter RESULT: the total energy residual of four recorded signals, as the meter unit would
// have measured it on line. The measuring is study/study_meter.c's; this file reads options and prints.
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "app/app.h"
#include "app/app_sink.h"
#include "base/base_check.h"
#include "study/study_meter.h"

#define COMMAND      "meter"
#define DIGITS       9
#define LEDGER_SLACK 1e-9  // relative: less than this are roundings of the times

// The order in which signals are shown.
static const struct shown_signal {
  yoke_ter_signal signal;
  const char *title, *key;
} shown_signals[] = {
    {YOKE_E_IN, "effort in", "effort_in"},
    {YOKE_E_OUT, "effort out", "effort_out"},
    {YOKE_F_IN, "flow in", "flow_in"},
    {YOKE_F_OUT, "flow out", "flow_out"},
};

// Values at the end.
static const struct shown_value {
  const char *title, *key, *unit;
  size_t offset;
} shown_values[] = {
#define SHOWN(title, member, unit)                                                                 \
  { title, #member, unit, offsetof(yoke_replay_values, member) }
    SHOWN("TER", ter, " J"),
    SHOWN("relative TER", rter, ""),
    SHOWN("dE", dE, " J (signed)"),
    SHOWN("throughput", throughput, " J"),
    SHOWN("flow part", flow_part, " J"),
    SHOWN("effort part", effort_part, " J"),
    SHOWN("flow defect", flow_defect, " (sum of |defect| dt)"),
    SHOWN("effort defect", effort_defect, " (sum of |defect| dt)"),
#undef SHOWN
};

static double value_of(const yoke_replay_values* values, size_t i) {
  double x;
  memcpy(&x, (const char*)values + shown_values[i].offset, sizeof x);
  return x;
}

// ---- settings

static bool read_settings(const yoke_options* options, yoke_meter_settings* settings) {
  yoke_replay_settings* s = &settings->replay;
  *s = yoke__replay_defaults;
  s->is_linear = yoke__options_has(options, "linear");
  settings->path = options->operands[0];
  settings->bond = yoke__options_value(options, "bond");
  const double any = -(double)INFINITY;
  if (!yoke__options_number(options, "window", any, &s->window) ||
      !yoke__options_number(options, "from", any, &s->from) ||
      !yoke__options_number(options, "to", any, &s->to)) {
    return false;
  }
  const char* what = NULL;
  if (!(s->window > 0)) {
    what = "--window: expected a time above 0";
  } else if (!(s->from < s->to)) {
    what = "--from must lie before --to";
  } else if (s->is_linear && yoke__options_has(options, "hold")) {
    what = "--hold and --linear exclude each other";
  } else if (s->is_linear && settings->bond != NULL) {
    what = "--linear needs the four signals: what a bond exchanges is held";
  }
  for (size_t i = 0; i < YOKE_REPLAY_N_SIGNALS; i++) {
    settings->signals[i] = yoke__options_value(options, yoke__meter_signal_names[i]);
    if (settings->bond != NULL && settings->signals[i] != NULL) {
      what = "--bond names all four signals; leave the others out";
    }
  }
  return what == NULL || yoke__app_error(COMMAND, "%s", what);
}

// ---- what is printed

static void print_worst(const char* title, double x, const char* unit, double t, double window) {
  printf("%-16s%.*g%s over the %.6g s up to %.*g s\n", title, DIGITS, x, unit, window, DIGITS, t);
}

static void print_table(const yoke_meter* m) {
  const yoke_replay* r = &m->replay;
  const double window = r->settings.window;
  printf("%s from %.*g to %.*g s, %zu intervals", m->result.path, DIGITS, r->t_first, DIGITS, r->t,
         r->n_intervals);
  if (r->step > 0) {
    printf(" of %.*g s", DIGITS, r->step);
  }
  printf(", %s\n", r->settings.is_linear ? "straight lines" : "values held");
  for (size_t i = 0; i < YOKE_COUNT(shown_signals); i++) {
    const yoke_meter_list* list = &m->lists[shown_signals[i].signal];
    printf("%-12s", shown_signals[i].title);
    for (size_t k = 0; k < list->n; k++) {
      printf("%s%s", k == 0 ? "" : ", ", list->names[k]);
    }
    putchar('\n');
  }
  for (size_t i = 0; i < YOKE_COUNT(shown_values); i++) {
    printf("%-16s%.*g%s\n", shown_values[i].title, DIGITS, value_of(&r->values, i),
           shown_values[i].unit);
  }
  print_worst("worst TER", r->ter_window_worst, " J", r->t_ter_window_worst, window);
  print_worst("worst relative", r->rter_window_worst, "", r->t_rter_window_worst, window);
  printf("%-16s%llu\n", "bad samples", (unsigned long long)r->values.n_bad);
}

// The ledger saw every call of the units; a recording may not show them all.
static void print_ledger(const yoke_meter* m) {
  const yoke_replay* r = &m->replay;
  const bool is_whole = m->said != NULL && r->t_first <= m->result.summary.t_start &&
                        r->t >= m->result.summary.t_reached;
  if (!is_whole || isnan(m->said->ter)) {
    return;
  }
  const double ledger = m->said->ter;
  const bool is_same = fabs(r->values.ter - ledger) <= LEDGER_SLACK * ledger;
  printf("%-16s%.*g J%s\n", "ledger", DIGITS, ledger,
         is_same ? "" : " (it also measured calls of the units between the rows)");
}

static bool print_json(const yoke_meter* m) {
  const yoke_replay* r = &m->replay;
  const yoke_replay_values* v = &r->values;
  yoke_json json = {0};
  yoke__json_begin_document(&json, "meter");
  yoke__json_string(&json, "result", m->result.path);
  yoke__json_string(&json, "bond", m->said == NULL ? NULL : m->said->name);
  for (size_t i = 0; i < YOKE_COUNT(shown_signals); i++) {
    const yoke_meter_list* list = &m->lists[shown_signals[i].signal];
    yoke__json_begin_array(&json, shown_signals[i].key);
    for (size_t k = 0; k < list->n; k++) {
      yoke__json_string(&json, NULL, list->names[k]);
    }
    yoke__json_end_array(&json);
  }
  yoke__json_string(&json, "values", r->settings.is_linear ? "linear" : "held");
  yoke__json_number(&json, "from", r->t_first);
  yoke__json_number(&json, "to", r->t);
  yoke__json_integer(&json, "intervals", (int64_t)r->n_intervals);
  yoke__json_number(&json, "step", r->step > 0 ? r->step : (double)NAN);
  for (size_t i = 0; i < YOKE_COUNT(shown_values); i++) {
    yoke__json_number(&json, shown_values[i].key, value_of(v, i));
  }
  yoke__json_number(&json, "window", r->settings.window);
  yoke__json_number(&json, "ter_window", v->ter_window);
  yoke__json_number(&json, "rter_window", v->rter_window);
  yoke__json_number(&json, "ter_window_worst", r->ter_window_worst);
  yoke__json_number(&json, "ter_window_worst_time", r->t_ter_window_worst);
  yoke__json_number(&json, "rter_window_worst", r->rter_window_worst);
  yoke__json_number(&json, "rter_window_worst_time", r->t_rter_window_worst);
  yoke__json_integer(&json, "bad_samples", (int64_t)v->n_bad);
  if (m->said != NULL) {
    yoke__json_number(&json, "ledger_ter", m->said->ter);
  }
  yoke__json_end_object(&json);
  return yoke__app_print_json(COMMAND, &json);
}

// ---- the command

static int measure(const yoke_options* options, yoke_meter* m) {
  const char* command = COMMAND;
  const yoke_sink sink = yoke__app_command_sink(&command);
  yoke_meter_settings settings = {0};
  const char* out = yoke__options_value(options, "out");
  if (out != NULL && out[0] == '\0') {
    yoke__app_error(COMMAND, "--out: expected the name of a folder, found nothing");
    return YOKE_EXIT_USAGE;
  }
  if (!read_settings(options, &settings)) {
    return YOKE_EXIT_USAGE;
  }
  yoke_status status = yoke__meter_open(&settings, m, &sink);
  if (status < 0) {
    return yoke__app_fail(COMMAND, status);
  }
  status = yoke__meter_run(m, out, &yoke__app_sink);
  if (status < 0) {
    yoke__app_fail(COMMAND, status);
  }
  const unsigned long long n_bad = m->replay.values.n_bad;
  if (n_bad > 0) {
    yoke__app_error(COMMAND, "warning: %llu interval%s left out because a value is not finite",
                    n_bad, yoke__plural(n_bad));
  }
  bool is_printed = true;
  if (yoke__options_has(options, "json")) {
    is_printed = print_json(m);
  } else {
    print_table(m);
    print_ledger(m);
  }
  return status < 0 || !is_printed ? YOKE_EXIT_FAILED : YOKE_EXIT_OK;
}

static int run(const yoke_options* options) {
  yoke_meter m = {0};
  const int status = measure(options, &m);
  yoke__meter_free(&m);
  return status;
}

int yoke_cmd_meter(int argc, char** argv) {
  return yoke__options_run(&yoke__command_meter, argc, argv, run);
}
