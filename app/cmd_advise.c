// yoke advise: settings that make the result better, each of them tried.
#include <math.h>
#include <string.h>

#include "app/app_advise.h"
#include "app/app_copy.h"
#include "app/app_run.h"
#include "app/app_sink.h"
#include "app/app_table.h"
#include "base/base_json.h"
#include "base/base_map.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "study/study_copy.h"

#define COMMAND   "advise"
#define FILE_NAME "advise.json"

// ---- options

// "24", "60s"
static bool read_budget(const yoke_options* options, yoke_advise_settings* settings) {
  const char* text = yoke__options_value(options, "budget");
  char number[64];
  double value = 0;
  if (text == NULL) {
    return true;
  }
  const size_t n = strlen(text);
  const bool is_time = n > 0 && text[n - 1] == 's';
  snprintf(number, sizeof number, "%.*s", (int)(n - is_time), text);
  if (n >= sizeof number || !yoke__number_parse(number, &value) || !(value > 0) ||
      !isfinite(value)) {
    return yoke__app_error(COMMAND,
                           "--budget: expected a number of runs above 0, such as 24, or a time "
                           "such as 60s, found '%.80s'",
                           text);
  }
  *(is_time ? &settings->budget_s : &settings->budget) = value;
  return true;
}

static bool read_trust(const yoke_options* options, yoke_app_advise* app) {
  size_t n = 0;
  const char* signals = yoke__options_value(options, "signals");
  const char* const* limits = yoke__options_values(options, "limit", &n);
  if (signals != NULL && !yoke__app_advise_signals(app, "--signals", signals)) {
    return false;
  }
  for (size_t i = 0; i < n; i++) {
    if (!yoke__app_advise_limit(app, "--limit", limits[i])) {
      return false;
    }
  }
  return true;
}

// ---- what is printed

static const char* step_text(double step, char to[YOKE_NUMBER_SIZE]) {
  snprintf(to, YOKE_NUMBER_SIZE, "%.6g s", step);
  return to;
}

static void add_row(yoke_app_table* table, const yoke_advice* advice, size_t i) {
  const yoke_advised* s = &advice->all[i];
  const bool is_bounded = s->status == YOKE_ADVISED_BOUNDED;
  char cell[640], number[YOKE_NUMBER_SIZE];
  snprintf(cell, sizeof cell, "%s %.600s", i == advice->chosen ? ">" : " ", s->name);
  yoke__app_table_add(table, cell);
  yoke__app_table_add(table, step_text(s->step, number));
  yoke__app_table_add(table, s->signal == NULL ? "-" : s->signal);
  const bool is_known = s->signal != NULL && isfinite(s->score);
  snprintf(cell, sizeof cell, "%s%s%s%.64s", is_bounded ? "at least " : "",
           yoke__number_brief(s->band_max, number), s->dim == NULL || s->dim[0] == '\0' ? "" : " ",
           s->dim == NULL ? "" : s->dim);
  yoke__app_table_add(table, is_known ? cell : "-");
  snprintf(cell, sizeof cell, "%s %%", yoke__number_brief(100 * s->relative, number));
  yoke__app_table_add(table, is_known ? cell : "-");
  yoke__app_table_add(table, is_bounded ? "worse" : yoke_verdict_text(s->verdict));
  snprintf(cell, sizeof cell, "%.3g", s->cost);
  yoke__app_table_add(table, cell);
}

static void print_table(const yoke_advice* advice) {
  static const char* const heads[] = {"  setting",       "step",    "signal", "error up to",
                                      "rms of movement", "verdict", "cost"};
  yoke_app_table table = {.n_columns = 7};
  for (size_t i = 0; i < 7; i++) {
    yoke__app_table_add(&table, heads[i]);
  }
  for (size_t i = 0; i < advice->n_ranked; i++) {
    add_row(&table, advice, advice->ranked[i]);
  }
  yoke__app_table_print(&table);
}

// "diverges: nepce; interpolate"
static void print_others(const yoke_advice* advice, yoke_advised_status status, const char* word) {
  const char* separator = word;
  char step[YOKE_NUMBER_SIZE];
  for (size_t i = 0; i < advice->n; i++) {
    const yoke_advised* s = &advice->all[i];
    if (s->status != status) {
      continue;
    }
    printf("%s%s", separator, s->name);
    if (s->step != advice->all[0].step && s->step > 0) {
      printf(" at %s", step_text(s->step, step));
    }
    if (status == YOKE_ADVISED_FAILED) {
      printf(" (%s)", s->reason);
    }
    separator = "; ";
  }
  if (separator != word) {
    putchar('\n');
  }
}

static bool print_advice(const yoke_app_advise* app) {
  const yoke_advice* advice = &app->advice;
  char spent[YOKE_NUMBER_SIZE];
  if (advice->n_ranked > 0) {
    print_table(advice);
  }
  print_others(advice, YOKE_ADVISED_SAME, "no effect: ");
  print_others(advice, YOKE_ADVISED_DIVERGES, "diverges: ");
  print_others(advice, YOKE_ADVISED_FAILED, "fails: ");
  print_others(advice, YOKE_ADVISED_LEFT_OUT, "not tried: ");
  printf("cost of the search: %s runs of the given cost%s%s\n",
         yoke__number_brief(advice->spent, spent),
         advice->is_over ? "; the given run and its companions alone exceed the budget" : "",
         advice->is_exhausted ? "; a larger --budget tries more" : "");
  printf("%s\n", advice->text);
  if (advice->chosen != YOKE_NOT_FOUND && advice->chosen > 0) {
    yoke_text command = {0};
    yoke__advise_command(&app->settings, &advice->all[advice->chosen], &command);
    const bool is_whole = command.status >= 0;
    if (is_whole) {
      printf("  %s\n", command.bytes);
    }
    yoke__text_free(&command);
    return is_whole || yoke__app_no_memory(COMMAND);
  }
  return true;
}

// ---- files

static bool write_json(const yoke_options* options, const yoke_app_advise* app) {
  char results[4096], directory[4096];
  const char* out = yoke__options_value(options, "out");
  yoke__app_results_directory(options->operands[0], results, sizeof results);
  yoke__os_path_join(out == NULL ? results : out, "advise", directory, sizeof directory);
  yoke_json json = {0};
  yoke__advise_json(&app->settings, &app->advice, &json);
  yoke_status status = yoke__json_finish(&json);
  status = status < 0 ? status : yoke__os_make_directory(directory, &yoke__app_sink);
  status = status < 0 ? status
                      : yoke__os_write_into(directory, FILE_NAME, json.text.bytes, json.text.n,
                                            &yoke__app_sink);
  bool is_told = true;
  if (status < 0) {
    yoke__app_fail(COMMAND, status);
  } else if (yoke__options_has(options, "json")) {
    fwrite(json.text.bytes, 1, json.text.n, stdout);
  } else if (!yoke__options_has(options, "quiet")) {
    is_told = print_advice(app);
    printf("all figures in %s/%s\n", directory, FILE_NAME);
  }
  yoke__json_free(&json);
  return status >= 0 && is_told;
}

static bool write_system(const yoke_options* options, yoke_app_advise* app) {
  const char* out = yoke__options_value(options, "write");
  const yoke_advice* advice = &app->advice;
  const bool is_told = !yoke__options_has(options, "quiet") && !yoke__options_has(options, "json");
  if (out == NULL) {
    return true;
  }
  if (advice->chosen == YOKE_NOT_FOUND || advice->chosen == 0) {
    return !is_told || printf("%s is not written: there is nothing to change\n", out) > 0;
  }
  size_t n = 0;
  const char** sets =
      yoke__advise_sets(&app->settings, &advice->all[advice->chosen], &app->arena, &n);
  const yoke_status written =
      sets == NULL ? YOKE_NO_MEMORY
                   : yoke__copy_write(app->settings.path, sets, n, out, &yoke__app_sink);
  if (written < 0) {
    yoke__app_fail(COMMAND, written);
    return false;
  }
  if (is_told) {
    yoke_text path = {0};
    yoke__advise_append_path(&path, out);
    printf("the same in a file: yoke run%s\n", path.bytes == NULL ? "" : path.bytes);
    yoke__text_free(&path);
  }
  return true;
}

// ---- the command

static int advise(const yoke_options* options, yoke_app_advise* app) {
  size_t n_limits = 0;
  int status = YOKE_EXIT_OK;
  yoke__options_values(options, "limit", &n_limits);
  const char* out = yoke__options_value(options, "out");
  if (out != NULL && out[0] == '\0') {
    yoke__app_error(COMMAND, "--out: expected the name of a folder, found nothing");
    return YOKE_EXIT_USAGE;
  }
  if (!yoke__app_advise_open(app, options, n_limits + 1) || !read_trust(options, app) ||
      !read_budget(options, &app->settings) ||
      // a search for nothing helps nobody
      !yoke__app_can_copy(options, "write", "use the command instead")) {
    return YOKE_EXIT_USAGE;
  }
  if (!yoke__app_advise_run(app, options, &status)) {
    return status;
  }
  if (!write_json(options, app) || !write_system(options, app)) {
    return YOKE_EXIT_FAILED;
  }
  if (app->advice.chosen == YOKE_NOT_FOUND) {
    yoke__app_error(COMMAND, "%s%s", app->advice.text,
                    app->advice.is_exhausted ? "; a larger --budget tries smaller steps" : "");
    return YOKE_EXIT_FAILED;
  }
  return YOKE_EXIT_OK;
}

static int run(const yoke_options* options) {
  yoke_app_advise app = {0};
  const int status = advise(options, &app);
  yoke__app_advise_close(&app);
  return status;
}

int yoke_cmd_advise(int argc, char** argv) {
  return yoke__options_run(&yoke__command_advise, argc, argv, run);
}
