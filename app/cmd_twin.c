// yoke twin: estimation over a record, with the twin of a system file.
#include <math.h>
#include <string.h>

#include "app/app_copy.h"
#include "app/app_run.h"
#include "app/app_sink.h"
#include "app/app_system.h"
#include "app/app_table.h"
#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "study/study_copy.h"
#include "study/study_twin_tune.h"
#include "study/study_twin_watch.h"

#define COMMAND "twin"

typedef struct app_twin {
  const yoke_options* options;
  yoke_twin_study study;
  yoke_twin_tuning tuning;
  yoke_twin_watch watch;
  const char* const* sets;  // of the tuning
  size_t n_sets;
  double from, to;
  bool is_told;  // people want to read it
  bool is_tuned;
} app_twin;

// ---- what is printed

static const char* dim_text(const char* dim) {
  return dim == NULL || strcmp(dim, "1") == 0 ? "" : dim;
}

// Down to the second digit of the deviation: 12.34 +- 0.05.
static void add_value(yoke_app_table* table, double value, double sd) {
  char cell[64];
  const bool is_plain = isfinite(value) && fabs(value) < 1e9 && sd > 1e-9 && sd < 1e9;
  if (is_plain) {
    const int n_decimals = 1 - (int)floor(log10(sd));
    snprintf(cell, sizeof cell, "%.*f", n_decimals > 0 ? n_decimals : 0, value);
  } else {
    snprintf(cell, sizeof cell, "%.6g", value);
  }
  yoke__app_table_add(table, isnan(value) ? "-" : cell);
  snprintf(cell, sizeof cell, "+- %.2g", sd);
  yoke__app_table_add(table, isnan(sd) ? "" : cell);
}

static void print_values(const char* head, const yoke_twin_value values[], size_t n) {
  if (n == 0) {
    return;
  }
  yoke_app_table table = {.n_columns = 5};
  printf("%s\n", head);
  for (size_t i = 0; i < n; i++) {
    char cell[400];
    if (values[i].sd == 0) {
      continue;  // it is known
    }
    snprintf(cell, sizeof cell, "  %.300s", values[i].name);
    yoke__app_table_add(&table, cell);
    add_value(&table, values[i].value, values[i].sd);
    yoke__app_table_add(&table, dim_text(values[i].dim));
    snprintf(cell, sizeof cell, "held at a bound %lld time%s", (long long)values[i].n_hits,
             values[i].n_hits == 1 ? "" : "s");
    yoke__app_table_add(&table, values[i].n_hits > 0 ? cell : "");
  }
  yoke__app_table_print(&table);
}

static void print_sensors(const yoke_twin_watch* w) {
  yoke_app_table table = {.n_columns = 5};
  static const char* const heads[] = {"sensors", "rms innovation", "expected", "", "readings"};
  for (size_t i = 0; i < 5; i++) {
    yoke__app_table_add(&table, heads[i]);
  }
  for (size_t i = 0; i < w->n_sensors; i++) {
    const yoke_twin_sensor_result* s = &w->sensors[i];
    char cell[400];
    snprintf(cell, sizeof cell, "  %.300s", s->name);
    yoke__app_table_add(&table, cell);
    yoke__app_table_number(&table, 3, true, s->rms);
    yoke__app_table_number(&table, 3, true, s->expected);
    yoke__app_table_add(&table, dim_text(s->dim));
    int used = snprintf(cell, sizeof cell, "%llu", (unsigned long long)s->n);
    if (s->n_gated > 0) {
      snprintf(cell + used, sizeof cell - (size_t)used, ", %llu left out by the gate",
               (unsigned long long)s->n_gated);
    }
    yoke__app_table_add(&table, cell);
  }
  yoke__app_table_print(&table);
}

static void print_watch(const yoke_twin_watch* w) {
  print_values("unknowns at the end", w->unknowns, w->n_unknowns);
  print_values(w->is_black_box ? "outputs at the end" : "temperatures at the end", w->outputs,
               w->n_outputs);
  print_sensors(w);
  if (w->n_resets > 0) {
    printf("the filter restarted %lld time%s\n", (long long)w->n_resets,
           w->n_resets == 1 ? "" : "s");
  }
  printf("%s: %s\n", w->study->unit, w->text);
}

static void print_gaps(const yoke_twin_data* d) {
  for (size_t i = 0; i < d->n_columns; i++) {
    const yoke_twin_column* c = &d->columns[i];
    if (c->n_missing > 0) {
      printf("%s: %zu of %zu values are missing, in %zu gap%s; the longest has %zu row%s\n",
             c->name, c->n_missing, d->n_rows, c->n_gaps, c->n_gaps == 1 ? "" : "s", c->longest_gap,
             c->longest_gap == 1 ? "" : "s");
    }
  }
}

static void print_tuning(const yoke_twin_tuning* t) {
  yoke_app_table table = {.n_columns = 7};
  static const char* const heads[] = {"tuned", "guess", "filter", "", "least squares", "", ""};
  printf("tuning with %zu readings from %.9g s to %.9g s: %zu pass%s of the filter%s",
         t->n_readings, t->from, t->to, t->n_passes, t->n_passes == 1 ? "" : "es",
         t->is_converged ? "" : " (not converged)");
  if (t->n_starts > 0) {
    printf(", least squares from %zu starts, %zu of them to the same values", t->n_starts,
           t->n_good);
  }
  putchar('\n');
  for (size_t i = 0; i < 7; i++) {
    yoke__app_table_add(&table, heads[i]);
  }
  for (size_t i = 0; i < t->n; i++) {
    const yoke_twin_tuned* u = &t->all[i];
    char cell[400];
    snprintf(cell, sizeof cell, "  %.300s", u->name);
    yoke__app_table_add(&table, cell);
    yoke__app_table_number(&table, 5, true, u->start);
    add_value(&table, u->pass, u->pass_sd);
    add_value(&table, u->fit, u->fit_sd);
    yoke__app_table_add(&table, dim_text(u->dim));
  }
  yoke__app_table_print(&table);
  for (size_t i = 0; i < t->n_sigmas; i++) {
    printf("no sigma is given for %s: %.3g %s by the record\n", t->sigmas[i].name,
           t->sigmas[i].sigma, dim_text(t->sigmas[i].dim));
  }
  if (t->n_hits > 0) {
    printf("the filter held a value at its bound %llu time%s in the last pass\n",
           (unsigned long long)t->n_hits, t->n_hits == 1 ? "" : "s");
  }
}

// ---- tuning

static void warn(const char* text) {
  const char* command = COMMAND;
  const yoke_sink sink = yoke__app_command_sink(&command);
  yoke_send(&sink, &(yoke_message){.severity = YOKE_WARNING, .time = (double)NAN, .text = text});
}

static bool write_copy(app_twin* app) {
  const char* out = yoke__options_value(app->options, "write");
  size_t n_given = 0;
  const char* const* given = yoke__options_values(app->options, "set", &n_given);
  if (out == NULL) {
    return true;
  }
  const char** sets =
      yoke__arena_array(&app->tuning.arena, n_given + app->n_sets + 1, sizeof *sets);
  if (sets == NULL) {
    return yoke__app_no_memory(COMMAND);
  }
  for (size_t i = 0; i < n_given + app->n_sets; i++) {
    sets[i] = i < n_given ? given[i] : app->sets[i - n_given];
  }
  const yoke_status written = yoke__copy_write(app->options->operands[0], sets,
                                               n_given + app->n_sets, out, &yoke__app_sink);
  if (written < 0) {
    yoke__app_fail(COMMAND, written);
    return false;
  }
  if (app->is_told) {
    printf("written to %s\n", out);
  }
  return true;
}

// False: the command ends with *status.
static bool tune(app_twin* app, int* status) {
  const char* command = COMMAND;
  const yoke_sink sink = yoke__app_command_sink(&command);
  const yoke_status tuned = yoke__twin_tune(&app->study, app->from, app->to, &app->tuning, &sink);
  if (tuned < 0) {
    yoke__app_note_shortage(tuned);
    yoke__app_fail(COMMAND, tuned);
    *status = tuned == YOKE_DIVERGED || tuned == YOKE_NO_CONVERGENCE || tuned == YOKE_SINGULAR
                  ? YOKE_EXIT_FAILED
                  : YOKE_EXIT_USAGE;
    return false;
  }
  app->is_tuned = true;
  app->sets = yoke__twin_tuning_sets(&app->tuning, &app->study, &app->n_sets);
  if (app->sets == NULL) {
    *status = YOKE_EXIT_FAILED;
    return yoke__app_no_memory(COMMAND);
  }
  if (app->is_told) {
    print_tuning(&app->tuning);
    if (app->tuning.is_agreed) {
      printf("%s\n", app->tuning.text);
    }
    fflush(stdout);
  }
  if (!app->tuning.is_agreed) {
    warn(app->tuning.text);
  }
  if (app->tuning.is_poor) {
    char text[300];
    snprintf(text, sizeof text,
             "no values make the model fit the record: the mean squared residual is %.3g, expected "
             "about 1%s",
             fmin(app->tuning.pass_cost, app->tuning.fit_cost),
             app->tuning.has_laws
                 ? ": resistances that follow a law were taken as they are at the start; run "
                   "without --tune, which follows them"
                 : "; is sigma right, and did the record begin at rest (else give 'start')?");
    warn(text);
  }
  if (app->tuning.has_laws && !app->tuning.is_poor) {
    warn("resistances that follow a law were taken as they are at the start");
  }
  if (app->tuning.is_rejected) {
    warn(yoke__options_value(app->options, "write") != NULL
             ? "the tuned values are not used, and nothing is written"
             : "the tuned values are not used");
    return true;
  }
  *status = YOKE_EXIT_FAILED;
  return write_copy(app);
}

// ---- the run

static void begin(void* to, const yoke_simulation* simulation) {
  app_twin* app = to;
  if (yoke__twin_watch_begin(&app->watch, &app->study, simulation) < 0) {
    yoke__app_no_memory(COMMAND);
  }
}

static bool each(void* to) {
  yoke__twin_watch_step(&((app_twin*)to)->watch);
  return true;
}

static void write_json(void* to, yoke_json* json) {
  app_twin* app = to;
  yoke__twin_watch_end(&app->watch);
  yoke__twin_watch_json(&app->watch, app->is_tuned ? &app->tuning : NULL, json);
}

static int end(void* to, int status) {
  app_twin* app = to;
  const bool is_wrong = yoke__twin_watch_is_wrong(&app->watch);
  if (app->is_told) {
    print_watch(&app->watch);
  } else if (is_wrong) {
    yoke__app_error(COMMAND, "%s: %s", app->study.unit, app->watch.text);
  }
  const bool is_rejected = app->is_tuned && app->tuning.is_rejected;
  return status == YOKE_EXIT_OK && (is_wrong || is_rejected) ? YOKE_EXIT_QUALITY : status;
}

static int run_system(app_twin* app) {
  const yoke_options* options = app->options;
  const yoke_app_words words = yoke__app_words(options->operands[0]);
  const bool is_tune = yoke__options_has(options, "tune");
  char place[4096];
  const char* out = yoke__options_value(options, "out");
  yoke_messages said = {0};
  yoke_app_voice voice = {.words = &words, .is_quiet = !app->is_told, .kept = &said};
  const yoke_sink sink = yoke__app_voice_sink(&voice);
  yoke_system* system = NULL;
  const yoke_status built = yoke__twin_study_system(
      &app->study, app->sets, app->n_sets, is_tune ? (double)NAN : app->from,
      is_tune ? (double)NAN : app->to, &sink, &system);
  yoke__app_note_shortage(built);
  if (out == NULL) {
    yoke__app_results_directory(options->operands[0], place, sizeof place);
  } else {
    snprintf(place, sizeof place, "%s", out);
  }
  if (system != NULL && app->is_told) {
    print_gaps(&app->study.data);
    fflush(stdout);
  }
  const yoke_app_onlooker onlooker = {
      .name = "twin", .begin = begin, .each = each, .json = write_json, .end = end, .to = app};
  const int status = yoke__app_run_watched(system, options, place, &words, &said, &onlooker);
  yoke__twin_watch_free(&app->watch);
  yoke_system_destroy(&system);
  yoke__messages_free(&said);
  return status;
}

// ---- the command

static bool read_options(app_twin* app) {
  const yoke_options* options = app->options;
  const char* out = yoke__options_value(options, "out");
  if (out != NULL && out[0] == '\0') {
    return yoke__app_error(COMMAND, "--out: expected the name of a folder, found nothing");
  }
  if (yoke__options_value(options, "data") == NULL) {
    return yoke__app_error(COMMAND, "--data is missing: name a CSV file, or a folder with results");
  }
  if (yoke__options_has(options, "write") && !yoke__options_has(options, "tune")) {
    return yoke__app_error(COMMAND, "--write needs --tune");
  }
  if (!yoke__options_number(options, "from", -(double)INFINITY, &app->from) ||
      !yoke__options_number(options, "to", -(double)INFINITY, &app->to)) {
    return false;
  }
  if (app->from >= app->to) {
    return yoke__app_error(COMMAND, "--to: expected a time behind --from");
  }
  return yoke__app_can_copy(options, "write", "tune without --write");
}

static int run(const yoke_options* options) {
  app_twin app = {.options = options, .from = (double)NAN, .to = (double)NAN};
  app.is_told = !yoke__options_has(options, "quiet") && !yoke__options_has(options, "json");
  if (!read_options(&app)) {
    return YOKE_EXIT_USAGE;
  }
  size_t n_sets = 0;
  const char* const* sets = yoke__options_values(options, "set", &n_sets);
  const yoke_app_words words = yoke__app_words(options->operands[0]);
  yoke_messages said = {0};
  yoke_app_voice voice = {
      .words = &words, .is_quiet = !app.is_told, .is_brief = true, .kept = &said};
  const yoke_sink sink = yoke__app_voice_sink(&voice);
  const yoke_twin_task task = {.path = options->operands[0],
                               .sets = sets,
                               .n_sets = n_sets,
                               .unit = yoke__options_value(options, "unit"),
                               .data = yoke__options_value(options, "data")};
  const yoke_status opened = yoke__twin_study_open(&task, &app.study, &sink);
  int status = YOKE_EXIT_OK;
  if (opened < 0) {
    yoke__app_note_shortage(opened);
    if (yoke__options_has(options, "json")) {
      yoke__app_print_failed("summary", options, &said);
    }
    status = YOKE_EXIT_USAGE;
  } else if (!yoke__options_has(options, "tune") || tune(&app, &status)) {
    status = run_system(&app);
  }
  yoke__messages_free(&said);
  yoke__twin_tuning_free(&app.tuning);
  yoke__twin_study_close(&app.study);
  return status;
}

int yoke_cmd_twin(int argc, char** argv) {
  return yoke__options_run(&yoke__command_twin, argc, argv, run);
}
