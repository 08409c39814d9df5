// yoke sweep: one system at every point of a grid, judged by measures, as a table.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/app_study.h"
#include "app/app_study_analyse.h"
#include "app/app_system.h"
#include "base/base_json.h"
#include "base/base_map.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "study/study_map.h"

#define COMMAND "sweep"
#define TABLE   "sweep.csv"

// ---- what is printed

// Smallest and largest value of a measure and where; false: no point has one.
typedef struct extremes {
  size_t low, high;
  double low_value, high_value;
} extremes;

static bool find_extremes(const yoke_app_study* app, size_t measure, extremes* out) {
  *out = (extremes){YOKE_NOT_FOUND, YOKE_NOT_FOUND, (double)NAN, (double)NAN};
  for (size_t i = 0; i < app->grid.n_points; i++) {
    const yoke_study_result* result = yoke__study_find(app->study, i, 0);
    const double x = result == NULL ? (double)NAN : result->values[measure];
    if (isnan(x)) {
      continue;
    }
    if (!(x >= out->low_value)) {
      out->low = i;
      out->low_value = x;
    }
    if (!(x <= out->high_value)) {
      out->high = i;
      out->high_value = x;
    }
  }
  return out->low != YOKE_NOT_FOUND;
}

// Why the first of the refused points is none.
static void print_refused(const yoke_app_study* app) {
  for (size_t i = 0; i < app->grid.n_points; i++) {
    const yoke_study_result* result = yoke__study_find(app->study, i, 0);
    if (result != NULL && result->status == YOKE_RUN_REFUSED) {
      char at[256];
      yoke__grid_describe(&app->grid, i, at, sizeof at);
      printf("the first refused point, %s: %.400s\n", at,
             result->reason == NULL ? "" : result->reason);
      return;
    }
  }
}

static void print_summary(const yoke_app_study* app) {
  yoke__app_study_count(app);
  print_refused(app);
  for (size_t i = 0; i < app->plan.n_measures; i++) {
    extremes e;
    char low[256], high[256];
    if (!find_extremes(app, i, &e)) {
      printf("%s: no value\n", app->plan.measures[i].text);
      continue;
    }
    yoke__grid_describe(&app->grid, e.low, low, sizeof low);
    yoke__grid_describe(&app->grid, e.high, high, sizeof high);
    printf("%s: smallest %.6g at %s; largest %.6g at %s\n", app->plan.measures[i].text, e.low_value,
           low, e.high_value, high);
  }
  printf("results in %s/%s\n", app->directory, TABLE);
}

static void json_point(const yoke_app_study* app, size_t point, yoke_json* json) {
  const yoke_study_result* result = yoke__study_find(app->study, point, 0);
  yoke__json_begin_object(json, NULL);
  for (size_t i = 0; i < app->grid.n_axes; i++) {
    const yoke_axis* axis = &app->grid.axes[i];
    const size_t k = yoke__grid_index(&app->grid, point, i);
    if (isnan(axis->numbers[k])) {
      yoke__json_string(json, axis->path, axis->values[k]);
    } else {
      yoke__json_number(json, axis->path, axis->numbers[k]);
    }
  }
  yoke__json_string(json, "status", yoke__run_status_names[result->status]);
  yoke__json_number(json, "t_reached", result->t);
  for (size_t i = 0; i < app->plan.n_measures; i++) {
    yoke__json_number(json, app->plan.measures[i].text, result->values[i]);
  }
  yoke__json_string(json, "reason", result->reason == NULL ? "" : result->reason);
  yoke__json_end_object(json);
}

static int print_json(const yoke_app_study* app, const yoke_study_analyse* analyse) {
  yoke_json json = {0};
  yoke__json_begin_document(&json, "sweep");
  yoke__json_string(&json, "system", app->plan.path);
  yoke__json_begin_array(&json, "points");
  for (size_t i = 0; i < app->grid.n_points; i++) {
    json_point(app, i, &json);
  }
  yoke__json_end_array(&json);
  const int status = yoke__study_analyse_run(analyse, app, &json);
  yoke__json_end_object(&json);
  return yoke__app_print_json(COMMAND, &json) ? status : YOKE_EXIT_FAILED;
}

// ---- the sweep

// Runs to the end that there are; a message if there are none.
static bool has_good_runs(const yoke_app_study* app) {
  size_t counts[YOKE_RUN_N_STATUSES];
  yoke__study_count(app->study, counts);
  if (counts[YOKE_RUN_DONE] + counts[YOKE_RUN_ENDED] > 0) {
    return true;
  }
  const yoke_study_result* first = yoke__study_find(app->study, 0, 0);
  return yoke__app_error(COMMAND, "no point ran to its end; the first failure: %.300s",
                         first->reason == NULL ? yoke__run_status_names[first->status]
                                               : first->reason);
}

// "error:left.x" as the name of a file: "error-left.x.svg".
static void figure_name(const char* measure, char* to, size_t size) {
  snprintf(to, size, "%.200s.svg", measure);
  for (char* at = to; *at != '\0'; at++) {
    if (strchr(":/[], \"'", *at) != NULL) {
      *at = '-';
    }
  }
}

static bool draw(const yoke_app_study* app, bool is_told) {
  for (size_t i = 0; i < app->plan.n_measures; i++) {
    char name[256];
    yoke_study_map map = {.title = app->plan.path,
                          .index = i,
                          .best = YOKE_NOT_FOUND,
                          .current = {(double)NAN, (double)NAN},
                          .current_value = (double)NAN};
    figure_name(app->plan.measures[i].text, name, sizeof name);
    const yoke_status status = yoke__study_map_write(&map, app->study, name, &yoke__app_sink);
    if (status < 0) {
      yoke__app_fail(COMMAND, status);
      return false;
    }
    if (is_told) {
      printf("%s over %s in %s/%s\n", app->plan.measures[i].text,
             app->grid.n_axes == 1 ? "one axis" : "two axes", app->directory, name);
    }
  }
  return true;
}

static bool finish(yoke_app_study* app, const yoke_study_analyse* analyse,
                   const yoke_options* options) {
  const bool is_json = yoke__options_has(options, "json");
  const bool is_told = !is_json && !app->is_quiet;
  static const yoke_study_analyse nothing = {0};
  const yoke_status written = yoke__study_write_table(app->study, TABLE, &yoke__app_sink);
  if (written < 0) {
    yoke__app_fail(COMMAND, written);
    return yoke__app_study_fail(app, YOKE_EXIT_FAILED);
  }
  if (is_told) {
    print_summary(app);
  }
  if (yoke__options_has(options, "figure") && !draw(app, is_told)) {
    return yoke__app_study_fail(app, YOKE_EXIT_FAILED);
  }
  const bool is_whole = yoke__app_study_is_whole(app, NULL, NULL, app->grid.n_points);
  const bool is_good = is_whole && has_good_runs(app);
  const yoke_study_analyse* wanted = is_good ? analyse : &nothing;
  app->status = is_json ? print_json(app, wanted) : yoke__study_analyse_run(wanted, app, NULL);
  app->status = is_good ? app->status : YOKE_EXIT_FAILED;
  return app->status == YOKE_EXIT_OK;
}

// ---- machines

// Whether this axis may put a machine in the place of a model: units.rig.port, units.rig.model, units.rig.
static bool changes_unit(const yoke_axis* axis) {
  const char* last = strrchr(axis->path, '.');
  if (strncmp(axis->path, "units", 5) != 0) {
    return false;
  }
  return last == NULL || strchr(axis->path, '.') == last || strcmp(last, ".port") == 0 ||
         strcmp(last, ".model") == 0 || strcmp(last, ".library") == 0;
}

// The unit that is a machine at a point, in `to`; false: there is none, or the point cannot be loaded, which is said later.
static bool find_machine(const yoke_app_study* app, size_t point, char* to, size_t size) {
  const yoke_study_plan* plan = &app->plan;
  const char** sets = calloc(plan->n_sets + app->grid.n_axes + 1, sizeof *sets);
  size_t n = 0;
  for (; sets != NULL && n < plan->n_sets; n++) {
    sets[n] = plan->sets[n];
  }
  for (size_t i = 0; sets != NULL && i < app->grid.n_axes; i++) {
    sets[n++] = app->grid.axes[i].sets[yoke__grid_index(&app->grid, point, i)];
  }
  yoke_system* system = NULL;
  yoke_unit_view unit;
  const yoke_load_settings load = {.sets = sets, .n_sets = n, .has_no_trials = true};
  const bool has_one = sets != NULL && yoke_system_load(plan->path, &load, &system) >= 0 &&
                       yoke__app_find_machine(system, &unit);
  if (has_one) {
    snprintf(to, size, "%s", unit.name);
  }
  yoke_system_destroy(&system);
  free((void*)sets);
  return has_one;
}

// Points that differ in what their units are; of the others the first one stands for all.
static bool is_first_of_kind(const yoke_app_study* app, size_t point) {
  for (size_t i = 0; i < app->grid.n_axes; i++) {
    if (!changes_unit(&app->grid.axes[i]) && yoke__grid_index(&app->grid, point, i) != 0) {
      return false;
    }
  }
  return true;
}

// A machine is moved by those only who say that they mean it, and then by one run at a time.
static bool may_run(yoke_app_study* app, const yoke_options* options) {
  const bool is_meant = yoke__options_has(options, "machine");
  char unit[256] = "";
  if (is_meant && (app->share != NULL || (yoke__options_has(options, "jobs") && app->n_jobs > 1))) {
    return yoke__app_error(COMMAND, "--machine: one run at a time; leave out %s",
                           app->share != NULL ? "mpirun" : "--jobs");
  }
  if (is_meant) {
    app->n_jobs = 1;
    return true;
  }
  for (size_t i = 0; i < app->grid.n_points; i++) {
    if (is_first_of_kind(app, i) && find_machine(app, i, unit, sizeof unit)) {
      return yoke__app_error(COMMAND,
                             "unit '%s' is a real machine, which this grid would move %zu times; "
                             "--machine allows it, --set units.%s.port=none runs its model instead",
                             unit, app->grid.n_points, unit);
    }
  }
  return true;
}

static bool sweep(yoke_app_study* app, const yoke_options* options) {
  static const char* const names[] = {TABLE, YOKE_ANOVA_TABLE, YOKE_BEST_TABLE, NULL};
  yoke_study_analyse analyse;
  if (!yoke__study_analyse_read(options, &analyse) ||
      !yoke__app_study_read(options, "measure", app)) {
    return false;
  }
  if (app->plan.n_measures == 0 && yoke__options_has(options, "analyse")) {
    return yoke__app_error(COMMAND,
                           "--analyse needs a measure that is a number, for example rms:left.x");
  }
  if (yoke__options_has(options, "figure") && (app->plan.n_measures == 0 || app->grid.n_axes > 2)) {
    return yoke__app_error(COMMAND,
                           "--figure: expected a measure that is a number, and one or two axes");
  }
  return may_run(app, options) && yoke__app_study_open(app, names) &&
         yoke__app_study_run(app, NULL, NULL, app->grid.n_points) && finish(app, &analyse, options);
}

int yoke_cmd_sweep(int argc, char** argv) {
  return yoke__app_study_command(&yoke__command_sweep, argc, argv, true, sweep);
}
