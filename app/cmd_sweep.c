// yoke sweep: one system at every point of a grid, judged by measures, as a table.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/app_study.h"
#include "app/app_study_analyse.h"
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

static void print_summary(const yoke_app_study* app) {
  yoke__app_study_count(app);
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

static bool print_json(const yoke_app_study* app, const yoke_study_analyse* analyse,
                       int* exit_status) {
  yoke_json json = {0};
  yoke__json_begin_document(&json, "sweep");
  yoke__json_string(&json, "system", app->plan.path);
  yoke__json_begin_array(&json, "points");
  for (size_t i = 0; i < app->grid.n_points; i++) {
    json_point(app, i, &json);
  }
  yoke__json_end_array(&json);
  (void)yoke__study_analyse_run(analyse, app, &json, exit_status);
  yoke__json_end_object(&json);
  if (!yoke__app_print_json(COMMAND, &json)) {
    *exit_status = YOKE_EXIT_FAILED;
  }
  return *exit_status == YOKE_EXIT_OK;
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
  yoke__app_error(COMMAND, "no point could be run to its end; the first one: %.300s",
                  first->reason == NULL ? yoke__run_status_names[first->status] : first->reason);
  return false;
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

static int finish(const yoke_app_study* app, const yoke_study_analyse* analyse,
                  const yoke_options* options) {
  const bool is_json = yoke__options_has(options, "json");
  static const yoke_study_analyse nothing = {0};
  int status = YOKE_EXIT_OK;
  const yoke_status written = yoke__study_write_table(app->study, TABLE, &yoke__app_sink);
  if (written < 0) {
    yoke__app_fail(COMMAND, written);
    return YOKE_EXIT_FAILED;
  }
  if (!is_json && !app->is_quiet) {
    print_summary(app);
  }
  if (yoke__options_has(options, "figure") && !draw(app, !is_json && !app->is_quiet)) {
    return YOKE_EXIT_FAILED;
  }
  const bool is_good = has_good_runs(app);
  const yoke_study_analyse* wanted = is_good ? analyse : &nothing;
  const bool is_done = is_json ? print_json(app, wanted, &status)
                               : yoke__study_analyse_run(wanted, app, NULL, &status);
  return !is_good ? YOKE_EXIT_FAILED : is_done ? YOKE_EXIT_OK : status;
}

static int sweep(yoke_app_study* app, const yoke_options* options) {
  static const char* const names[] = {TABLE, YOKE_ANOVA_TABLE, YOKE_BEST_TABLE, NULL};
  int status = YOKE_EXIT_OK;
  yoke_study_analyse analyse;
  yoke__os_catch_interrupt();
  if (!yoke__study_analyse_read(options, &analyse, &status) ||
      !yoke__app_study_read(options, "measure", COMMAND, app, &status)) {
    return status;
  }
  if (app->plan.n_measures == 0 && yoke__options_has(options, "analyse")) {
    yoke__app_error(COMMAND, "--analyse needs a measure that is a number, for example rms:left.x");
    return YOKE_EXIT_USAGE;
  }
  if (yoke__options_has(options, "figure") && (app->plan.n_measures == 0 || app->grid.n_axes > 2)) {
    yoke__app_error(COMMAND, "--figure: expected a measure that is a number, and one or two axes");
    return YOKE_EXIT_USAGE;
  }
  if (!yoke__app_study_open(app, COMMAND, names, &status)) {
    return status;
  }
  const size_t n = app->grid.n_points;
  size_t* points = calloc(n, sizeof *points);
  size_t* repeats = calloc(n, sizeof *repeats);
  for (size_t i = 0; points != NULL && i < n; i++) {
    points[i] = i;
  }
  if (points == NULL || repeats == NULL) {
    yoke__app_error(COMMAND, "out of memory");
    status = YOKE_EXIT_FAILED;
  } else if (yoke__app_study_run(app, COMMAND, points, repeats, n, &status)) {
    status = finish(app, &analyse, options);
  }
  free(points);
  free(repeats);
  return status;
}

static int run_command(yoke_share* share, int argc, char** argv) {
  yoke_options options;
  int status = YOKE_EXIT_OK;
  if (!yoke__options_parse(&yoke__command_sweep, argc, argv, &options, &status)) {
    return status;
  }
  yoke_app_study* app = calloc(1, sizeof *app);
  if (app == NULL) {
    yoke__app_error(COMMAND, "out of memory");
    status = YOKE_EXIT_FAILED;
  } else {
    app->share = share;
    status = sweep(app, &options);
    yoke__app_study_free(app);
  }
  free(app);
  yoke__options_free(&options);
  return status;
}

int yoke_cmd_sweep(int argc, char** argv) {
  yoke_app_share ranks = {0};
  yoke_share* share = NULL;
  int status = YOKE_EXIT_OK;
  if (yoke__app_share_open(&ranks, COMMAND, &share, &status)) {
    status = run_command(share, argc, argv);
  }
  yoke__app_share_close(&ranks);
  return status;
}
