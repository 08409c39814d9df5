// Analyses of a sweep for people, files and programs. The mathematics is in study_anova.c and
// study_best.c.
#include "app/app_study_analyse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_os.h"
#include "study/study_anova.h"
#include "study/study_best.h"

#define COMMAND   "sweep"
#define N_SHOWN   12   // effects in a printed table; the file has all
#define NAME_SIZE 512  // of an effect

// ---- options

// An option that changes nothing is a mistake.
static bool is_used(const yoke_options* options, const char* name, const char* with, bool is_on) {
  if (!is_on && yoke__options_has(options, name)) {
    return yoke__app_error(COMMAND, "--%s has no effect without --analyse %s", name, with);
  }
  return true;
}

bool yoke__study_analyse_read(const yoke_options* options, yoke_study_analyse* out) {
  uint32_t bits = 0;
  *out = (yoke_study_analyse){.within = 0.1, .least = 1};
  if (!yoke__options_choices(options, "analyse", &bits)) {
    return false;
  }
  // in the order of the table of options
  out->has_anova = (bits & 1) != 0;
  out->has_best = (bits & 2) != 0;
  out->has_missing = yoke__options_has(options, "missing");
  out->has_clip = yoke__options_has(options, "clip");
  const bool is_any = bits != 0;
  return is_used(options, "missing", "anova or best", is_any) &&
         is_used(options, "clip", "anova or best", is_any) &&
         is_used(options, "best-within", "best", out->has_best) &&
         is_used(options, "best-least", "best", out->has_best) &&
         yoke__options_number(options, "missing", -(double)INFINITY, &out->missing) &&
         yoke__options_number(options, "clip", -(double)INFINITY, &out->clip) &&
         yoke__options_number(options, "best-within", 0, &out->within) &&
         yoke__options_integer(options, "best-least", 1, YOKE_GRID_MAX_POINTS, &out->least);
}

// ---- values

// An analysis under way.
typedef struct analysis {
  const yoke_study_analyse* settings;
  const yoke_app_study* app;
  yoke_json* json;  // NULL: print, unless quiet
  const char* measure;
  double* values;  // n_points, of the measure
  size_t n_missing, n_clipped;
} analysis;

static bool is_printed(const analysis* a) {
  return a->json == NULL && !a->app->is_quiet;
}

// The values of a measure as they count.
static void fill(analysis* a, size_t measure) {
  const yoke_study_analyse* s = a->settings;
  a->measure = a->app->plan.measures[measure].text;
  a->n_missing = 0;
  a->n_clipped = 0;
  for (size_t i = 0; i < a->app->grid.n_points; i++) {
    const yoke_study_result* result = yoke__study_find(a->app->study, i, 0);
    double x = result == NULL ? (double)NAN : result->values[measure];
    if (!yoke__is_finite(x)) {
      a->n_missing++;
      x = s->has_missing ? s->missing : (double)NAN;
    } else if (s->has_clip && x > s->clip) {
      a->n_clipped++;
    }
    a->values[i] = s->has_clip && x > s->clip ? s->clip : x;
  }
}

// "; 12 without a value count as 1; 30 above 1 count as that"
static void print_counts(const analysis* a) {
  if (a->n_missing > 0 && a->settings->has_missing) {
    printf("; %zu without a value count%s as %g", a->n_missing, a->n_missing == 1 ? "s" : "",
           a->settings->missing);
  } else if (a->n_missing > 0) {
    printf("; %zu without a value left out", a->n_missing);
  }
  if (a->n_clipped > 0) {
    printf("; %zu above %g count%s as that", a->n_clipped, a->settings->clip,
           a->n_clipped == 1 ? "s" : "");
  }
}

static void json_counts(const analysis* a) {
  yoke__json_string(a->json, "measure", a->measure);
  yoke__json_integer(a->json, "runs", (int64_t)a->app->grid.n_points);
  yoke__json_integer(a->json, "missing", (int64_t)a->n_missing);
  yoke__json_integer(a->json, "clipped", (int64_t)a->n_clipped);
}

// ---- analysis of variance

static void print_effects(const analysis* a, const yoke_anova* anova, size_t n) {
  double rest = 0;
  printf("  %12s %9s %12s %6s  effect\n", "MS", "share", "SS", "DoF");
  for (size_t i = 0; i < anova->n_effects; i++) {
    const yoke_effect* e = &anova->effects[i];
    char name[NAME_SIZE];
    if (i >= n) {
      rest += e->share;
      continue;
    }
    yoke__anova_name(&a->app->grid, e, name, sizeof name);
    printf("  %12.4e %7.2f %% %12.4e %6zu  %s\n", e->mean, 100 * e->share, e->sum, e->freedom,
           name);
  }
  if (anova->n_effects > n) {
    printf("  and %zu more, %.2g %% together\n", anova->n_effects - n, 100 * rest);
  }
}

static void print_anova(const analysis* a, const yoke_anova* anova) {
  printf("analysis of variance of %s, %zu runs (mean %.6g", a->measure, anova->n_values,
         anova->grand);
  print_counts(a);
  printf(")\n");
  if (anova->n_effects == 0) {
    printf("  no axis has two values\n");
    return;
  }
  if (!(anova->total > 0)) {
    printf("  all values are equal\n");
    return;
  }
  print_effects(a, anova, anova->n_effects < N_SHOWN ? anova->n_effects : N_SHOWN);
  if (anova->rest_freedom > 0) {
    printf("  beyond pairs of axes: %.3g %% of the whole SS of %.4e, %zu DoF\n",
           100 * anova->rest / anova->total, anova->total, anova->rest_freedom);
  }
}

static void json_anova(const analysis* a, const yoke_anova* anova) {
  yoke_json* json = a->json;
  yoke__json_begin_object(json, NULL);
  json_counts(a);
  yoke__json_number(json, "mean", anova->grand);
  yoke__json_number(json, "total_ss", anova->total);
  yoke__json_number(json, "rest_ss", anova->rest);
  yoke__json_integer(json, "rest_dof", (int64_t)anova->rest_freedom);
  yoke__json_begin_array(json, "effects");
  for (size_t i = 0; i < anova->n_effects; i++) {
    const yoke_effect* e = &anova->effects[i];
    yoke__json_begin_object(json, NULL);
    yoke__json_begin_array(json, "axes");
    yoke__json_string(json, NULL, a->app->grid.axes[e->a].path);
    if (e->a != e->b) {
      yoke__json_string(json, NULL, a->app->grid.axes[e->b].path);
    }
    yoke__json_end_array(json);
    yoke__json_number(json, "ss", e->sum);
    yoke__json_integer(json, "dof", (int64_t)e->freedom);
    yoke__json_number(json, "ms", e->mean);
    yoke__json_number(json, "share", e->share);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  yoke__json_end_object(json);
}

static yoke_status analyse_variance(analysis* a, yoke_text* csv) {
  yoke_anova anova;
  YOKE_TRY(yoke__anova_compute(&a->app->grid, a->values, &anova));
  yoke__anova_rows(&a->app->grid, &anova, a->measure, csv);
  if (a->json != NULL) {
    json_anova(a, &anova);
  } else if (is_printed(a)) {
    print_anova(a, &anova);
  }
  yoke__anova_free(&anova);
  return YOKE_OK;
}

// The formulas need every combination.
static bool is_complete(const analysis* a) {
  if (a->n_missing == 0 || a->settings->has_missing) {
    return true;
  }
  return yoke__app_error(COMMAND,
                         "--analyse anova needs a value at every point: %s is missing at %zu of "
                         "%zu (see status and reason in sweep.csv). Give them a value with "
                         "--missing VALUE, or leave these settings out of --vary",
                         a->measure, a->n_missing, a->app->grid.n_points);
}

static bool is_all_complete(analysis* a) {
  for (size_t i = 0; i < a->app->plan.n_measures; i++) {
    fill(a, i);
    if (!is_complete(a)) {
      return false;
    }
  }
  return true;
}

// ---- best settings

static void print_best_axes(const analysis* a, const yoke_best* best) {
  const yoke_grid* grid = &a->app->grid;
  int width = 4;
  for (size_t i = 0; i < grid->n_axes; i++) {
    const int n = (int)strlen(grid->axes[i].path);
    width = n > width && n < 60 ? n : width;
  }
  printf("  %-*s  %-14s  kept runs\n", width, "axis", "best run");
  for (size_t i = 0; i < grid->n_axes; i++) {
    const yoke_best_axis* b = &best->axes[i];
    const yoke_axis* axis = &grid->axes[i];
    printf("  %-*s  %-14s  ", width, axis->path,
           axis->values[yoke__grid_index(grid, best->order[0], i)]);
    if (axis->is_numeric) {
      printf("mean %.6g, from %.6g to %.6g; ", b->mean, b->low, b->high);
    }
    printf("%s in %.0f %%\n", axis->values[b->mode], 100 * b->share);
  }
}

static void print_best(const analysis* a, const yoke_best* best) {
  if (best->n_kept == 0) {
    printf("best by %s: no run has a value\n", a->measure);
    return;
  }
  printf("best by %s: %zu of %zu runs kept, from %.6g to %.6g (within %g %%, at least %lld",
         a->measure, best->n_kept, a->app->grid.n_points, a->values[best->order[0]],
         a->values[best->order[best->n_kept - 1]], 100 * a->settings->within,
         (long long)a->settings->least);
  print_counts(a);
  printf(")\n");
  print_best_axes(a, best);
}

static void json_best_axis(yoke_json* json, const yoke_axis* axis, const yoke_best_axis* b) {
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "path", axis->path);
  yoke__json_string(json, "mode", axis->values[b->mode]);
  yoke__json_number(json, "share", b->share);
  if (axis->is_numeric) {
    yoke__json_number(json, "mean", b->mean);
    yoke__json_number(json, "low", b->low);
    yoke__json_number(json, "high", b->high);
  }
  yoke__json_end_object(json);
}

static void json_best(const analysis* a, const yoke_best* best) {
  yoke_json* json = a->json;
  yoke__json_begin_object(json, NULL);
  json_counts(a);
  yoke__json_integer(json, "kept", (int64_t)best->n_kept);
  yoke__json_number(json, "limit", best->limit);
  yoke__json_begin_array(json, "axes");
  for (size_t i = 0; best->n_kept > 0 && i < a->app->grid.n_axes; i++) {
    json_best_axis(json, &a->app->grid.axes[i], &best->axes[i]);
  }
  yoke__json_end_array(json);
  // numbers of points, counted from 0, in the list of all of them
  yoke__json_begin_array(json, "order");
  for (size_t i = 0; i < best->n_kept; i++) {
    yoke__json_integer(json, NULL, (int64_t)best->order[i]);
  }
  yoke__json_end_array(json);
  yoke__json_end_object(json);
}

static yoke_status find_best(analysis* a, yoke_text* csv) {
  yoke_best best;
  YOKE_TRY(yoke__best_compute(&a->app->grid, a->values, a->settings->within,
                              (size_t)a->settings->least, &best));
  yoke__best_rows(&a->app->grid, &best, a->values, a->measure, csv);
  if (a->json != NULL) {
    json_best(a, &best);
  } else if (is_printed(a)) {
    print_best(a, &best);
  }
  yoke__best_free(&best);
  return YOKE_OK;
}

// ---- both

// One file per kind of analysis, one block of rows per measure.
static yoke_status analyse_all(analysis* a, const char* name, const char* table, yoke_text* csv,
                               yoke_status (*analyse)(analysis*, yoke_text*)) {
  if (a->json != NULL) {
    yoke__json_begin_array(a->json, name);
  }
  yoke_status status = YOKE_OK;
  for (size_t i = 0; i < a->app->plan.n_measures && status >= 0; i++) {
    fill(a, i);
    status = analyse(a, csv);
  }
  if (a->json != NULL) {
    yoke__json_end_array(a->json);
  }
  YOKE_TRY(status < 0 ? status : csv->status);
  return yoke__os_write_into(a->app->directory, table, csv->bytes, csv->n, &yoke__app_sink);
}

static yoke_status run(analysis* a, int* exit_status) {
  yoke_text csv = {0};
  yoke_status status = YOKE_OK;
  if (a->settings->has_anova && is_all_complete(a)) {
    yoke__anova_header(&csv);
    status = analyse_all(a, "anova", YOKE_ANOVA_TABLE, &csv, analyse_variance);
  } else if (a->settings->has_anova) {
    *exit_status = YOKE_EXIT_USAGE;
  }
  yoke__text_clear(&csv);
  if (status >= 0 && a->settings->has_best) {
    yoke__best_header(&a->app->grid, &csv);
    status = analyse_all(a, "best", YOKE_BEST_TABLE, &csv, find_best);
  }
  yoke__text_free(&csv);
  return status;
}

int yoke__study_analyse_run(const yoke_study_analyse* settings, const yoke_app_study* app,
                            yoke_json* json) {
  analysis a = {.settings = settings, .app = app, .json = json};
  int exit_status = YOKE_EXIT_OK;
  if (!settings->has_anova && !settings->has_best) {
    return exit_status;
  }
  a.values = malloc(app->grid.n_points * sizeof *a.values);
  const yoke_status status = a.values == NULL ? YOKE_NO_MEMORY : run(&a, &exit_status);
  free(a.values);
  if (status < 0) {
    yoke__app_fail(COMMAND, status);
    return YOKE_EXIT_FAILED;
  }
  return exit_status;
}
