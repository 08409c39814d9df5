// yoke tune: the setting that makes a measure small, found on a grid, checked by repetitions, with a map.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/app_study.h"
#include "base/base_json.h"
#include "base/base_message.h"
#include "base/base_os.h"
#include "base/base_status.h"
#include "study/study_tune.h"
#include "yoke/system.h"

#define COMMAND         "tune"
#define DEFAULT_REPEATS 5

typedef struct tuning {
  yoke_app_study* app;
  yoke_tune tune;
  const char*
      current[YOKE_GRID_MAX_AXES];  // value of the current setting per axis; NULL: not known
  const char* title;                // name of the system
  int64_t n_repeats;                // 0: none
  bool is_json;
} tuning;

// ---- options

static const yoke_axis* find_axis(const yoke_grid* grid, const char* path, size_t n) {
  for (size_t i = 0; i < grid->n_axes; i++) {
    if (strlen(grid->axes[i].path) == n && strncmp(grid->axes[i].path, path, n) == 0) {
      return &grid->axes[i];
    }
  }
  return NULL;
}

// --current path=value: of paths that are varied.
static bool read_current(tuning* t, const yoke_options* options) {
  yoke_app_study* app = t->app;
  const char* const* given = yoke__options_values(options, "current", &app->plan.n_current);
  for (size_t i = 0; i < app->plan.n_current; i++) {
    const char* equals = strchr(given[i], '=');
    const size_t n = equals == NULL ? 0 : (size_t)(equals - given[i]);
    const yoke_axis* axis = find_axis(&app->grid, given[i], n);
    if (equals == NULL || equals[1] == '\0') {
      return yoke__app_error(COMMAND, "--current '%.120s': expected path=value", given[i]);
    }
    if (axis == NULL) {
      return yoke__app_error(
          COMMAND, "--current '%.120s': this path is not varied; use --set for it", given[i]);
    }
    t->current[axis - app->grid.axes] = equals + 1;
  }
  app->plan.current = given;
  return true;
}

static bool read_repeats(tuning* t, const yoke_options* options) {
  yoke_app_study* app = t->app;
  app->plan.seed = yoke__options_value(options, "seed");
  t->n_repeats = DEFAULT_REPEATS;
  if (!yoke__options_integer(options, "repeat", 2, 10000, &t->n_repeats)) {
    return false;
  }
  if (app->plan.seed == NULL) {
    t->n_repeats = 0;
  } else if (find_axis(&app->grid, app->plan.seed, strlen(app->plan.seed)) != NULL) {
    return yoke__app_error(COMMAND, "--seed %.120s: this path is varied already", app->plan.seed);
  }
  return true;
}

static bool read_all(tuning* t, const yoke_options* options) {
  if (!yoke__app_study_read(options, "minimise", t->app)) {
    return false;
  }
  if (t->app->plan.n_measures != 1) {
    return yoke__app_error(COMMAND, "--minimise: expected one measure that is a number");
  }
  t->is_json = yoke__options_has(options, "json");
  return read_current(t, options) && read_repeats(t, options);
}

// ---- the current setting

// What the file says for the axes that --current leaves out, and whether the seed can be set.
static bool look_at_current(tuning* t) {
  yoke_app_study* app = t->app;
  yoke_messages messages = {0};
  yoke_system* system = NULL;
  yoke_state* state = NULL;
  const size_t repeat = app->plan.seed == NULL ? 0 : 1;
  const yoke_status built =
      yoke__study_build(&app->plan, app->grid.n_points, repeat, &messages, &system, &state);
  yoke_system_info info;
  if (built >= 0 && yoke_system_get_info(system, &info) >= 0) {
    t->title = yoke__arena_text(&app->arena, info.name, strlen(info.name));
  }
  for (size_t i = 0; built >= 0 && i < app->grid.n_axes; i++) {
    char value[256];
    if (t->current[i] == NULL &&
        yoke__tune_setting(system, app->grid.axes[i].path, value, sizeof value)) {
      t->current[i] = yoke__arena_text(&app->arena, value, strlen(value));
    }
  }
  if (built < 0) {
    yoke__messages_print(&messages, stderr);
    yoke__app_error(COMMAND, "the current setting cannot be run%s",
                    app->plan.n_current == 0 ? ": the file as it is, without the varied paths"
                                             : "");
    app->status = yoke__status_is_shortage(built) ? YOKE_EXIT_FAILED : YOKE_EXIT_USAGE;
  }
  yoke__study_destroy(&system, &state);
  yoke__messages_free(&messages);
  return built >= 0;
}

// ---- what is printed

static void print_candidate(const tuning* t, const yoke_candidate* c, const char* name) {
  char where[512];
  yoke__tune_describe(t->app->study, c->point, t->current, where, sizeof where);
  printf("%-8s ", name);
  if (isnan(c->value)) {
    printf("%12s", yoke__run_status_names[c->status]);
  } else {
    printf("%12.6g", c->value);
  }
  if (t->n_repeats > 0) {
    printf("  %12.6g  %10.3g", c->mean, c->deviation);
  }
  printf("  %s", where);
  if (c->n_failed > 0) {
    printf("  (%zu of %zu repetitions failed)", c->n_failed, c->n_failed + c->n_repeats);
  }
  putchar('\n');
}

static bool is_seed_without_effect(const tuning* t) {
  for (size_t i = 0; i < t->tune.n_best; i++) {
    if (!(t->tune.best[i].deviation == 0)) {
      return false;
    }
  }
  return t->tune.n_best > 0;
}

static void print_report(const tuning* t) {
  const yoke_tune* tune = &t->tune;
  yoke__app_study_count(t->app);
  printf("%-8s %12s", "", "value");
  if (t->n_repeats > 0) {
    printf("  %12s  %10s", "mean", "deviation");
  }
  printf("  setting (%s)\n", t->app->plan.measures[0].text);
  for (size_t i = 0; i < tune->n_best; i++) {
    char name[32];
    snprintf(name, sizeof name, "best %zu", i + 1);
    print_candidate(t, &tune->best[i], name);
  }
  print_candidate(t, &tune->current, "current");
  printf("%s\n", tune->text);
  if (t->n_repeats == 0) {
    printf("no repetitions: give --seed if the system contains random noise\n");
  } else if (is_seed_without_effect(t)) {
    printf("all repetitions are equal: %s changes nothing here\n", t->app->plan.seed);
  }
  printf("results in %s: tune.json, map.csv%s\n", t->app->directory,
         t->app->grid.n_axes <= 2 ? ", map.svg" : " (a drawing needs one or two axes)");
}

// ---- tuning

static bool run_repetitions(tuning* t) {
  const size_t n = (size_t)t->n_repeats, room = (YOKE_TUNE_N_BEST + 1) * n;
  yoke_app_study* app = t->app;
  size_t* points = yoke__arena_array(&app->arena, room, sizeof *points);
  size_t* repeats = yoke__arena_array(&app->arena, room, sizeof *repeats);
  if (points == NULL || repeats == NULL) {
    return yoke__app_study_fail(app, yoke__app_fail(COMMAND, YOKE_NO_MEMORY));
  }
  const size_t n_runs = yoke__tune_repetitions(app->study, &t->tune, n, points, repeats);
  return yoke__app_study_run(app, points, repeats, n_runs) &&
         yoke__app_study_is_whole(app, points, repeats, n_runs);
}

static bool write_results(const tuning* t) {
  yoke_json json = {0};
  yoke__tune_json(t->app->study, &t->tune, t->current, &json);
  yoke_status status = yoke__json_finish(&json);
  if (status >= 0) {
    status = yoke__os_write_into(t->app->directory, "tune.json", json.text.bytes, json.text.n,
                                 &yoke__app_sink);
  }
  if (status >= 0) {
    status = yoke__tune_write_map(t->app->study, &t->tune, t->current,
                                  t->title == NULL ? t->app->plan.path : t->title, &yoke__app_sink);
  }
  if (status < 0) {
    yoke__app_fail(COMMAND, status);
  } else if (t->is_json) {
    fwrite(json.text.bytes, 1, json.text.n, stdout);
  } else if (!t->app->is_quiet) {
    print_report(t);
  }
  yoke__json_free(&json);
  if (status >= 0 && t->tune.chosen == t->tune.n_best) {
    yoke__app_error(COMMAND, "%s", t->tune.text);
    status = YOKE_UNIT_FAILED;
  }
  return status >= 0 || yoke__app_study_fail(t->app, YOKE_EXIT_FAILED);
}

static bool tune_system(yoke_app_study* app, const yoke_options* options) {
  static const char* const names[] = {"tune.json", "map.csv", "map.svg", NULL};
  tuning t = {.app = app};
  // the grid and the current setting
  if (!read_all(&t, options) || !look_at_current(&t) || !yoke__app_study_open(app, names) ||
      !yoke__app_study_run(app, NULL, NULL, app->grid.n_points + 1) ||
      !yoke__app_study_is_whole(app, NULL, NULL, app->grid.n_points + 1)) {
    return false;
  }
  yoke__tune_rank(app->study, &t.tune);
  if (t.n_repeats > 0 && !run_repetitions(&t)) {
    return false;
  }
  yoke__tune_decide(app->study, (size_t)t.n_repeats, &t.tune);
  return write_results(&t);
}

int yoke_cmd_tune(int argc, char** argv) {
  return yoke__app_study_command(&yoke__command_tune, argc, argv, false, tune_system);
}
