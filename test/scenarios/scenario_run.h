// A system file of scenarios/ run through the library, its outputs kept at every macro step, and the
// error measure of the MPSM specification (10.4) against a reference on the same time points.
#ifndef YOKE_TEST_SCENARIO_RUN_H
#define YOKE_TEST_SCENARIO_RUN_H

#include "base/base_csv.h"
#include "base/base_message.h"
#include "quality/quality_noise.h"
#include "support/check.h"
#include "support/heard.h"
#include "support/range_error.h"
#include "yoke/yoke.h"

enum { RUN_MAX_SIGNALS = 16, RUN_MAX_SETS = 8 };

// Signal i at time k * step: y[i][k], k = 0 .. n - 1. A run that failed is filled up with infinities.
typedef struct scenario_run {
  size_t n_signals, n;
  double* y[RUN_MAX_SIGNALS];
  yoke_status status;
  double t_end;  // reached
} scenario_run;

static inline const char* scenario_path(const char* name, char* path, size_t size) {
  const char* source = getenv("YOKE_SOURCE_DIR");
  snprintf(path, size, "%s/scenarios/%s", source != NULL ? source : ".", name);
  return path;
}

static inline void scenario_run_close(scenario_run* run) {
  for (size_t i = 0; i < run->n_signals; i++) {
    free(run->y[i]);
  }
  *run = (scenario_run){0};
}

// Room for n points.
static inline scenario_run scenario_run_make(size_t n_signals, size_t n) {
  scenario_run run = {.n_signals = n_signals, .n = n};
  assert_true(n_signals <= RUN_MAX_SIGNALS);
  for (size_t i = 0; i < n_signals; i++) {
    run.y[i] = malloc(n * sizeof(double));
    assert_non_null(run.y[i]);
  }
  return run;
}

// n_steps macro steps of the file with the settings changed (texts up to a NULL).
static inline scenario_run scenario_run_file(const char* name, const char* const sets[],
                                             const char* const signals[], size_t n_signals,
                                             size_t n_steps) {
  char path[1024];
  HEAR(err);
  size_t n_sets = 0;
  yoke_handle index[RUN_MAX_SIGNALS];
  while (sets != NULL && sets[n_sets] != NULL) {
    n_sets++;
  }
  const yoke_load_settings settings = {.sets = sets, .n_sets = n_sets, .sink = &err.sink};
  yoke_simulation* simulation = NULL;
  if (yoke_simulation_load(scenario_path(name, path, sizeof path), &settings, &simulation) < 0 ||
      yoke_simulation_start(simulation) < 0) {
    fail_msg("%s was refused:\n%s", name, err.text);
  }
  scenario_run run = scenario_run_make(n_signals, n_steps + 1);
  for (size_t i = 0; i < n_signals; i++) {
    check_ok(yoke_simulation_find(simulation, signals[i], &index[i]));
  }
  for (size_t k = 0; k <= n_steps; k++) {
    if (k > 0 && run.status >= 0) {
      run.status = yoke_simulation_step(simulation);
    }
    for (size_t i = 0; i < n_signals; i++) {
      run.y[i][k] = (double)INFINITY;
      if (run.status >= 0) {
        check_ok(yoke_simulation_read(simulation, index[i], &run.y[i][k]));
      }
    }
  }
  run.t_end = yoke_simulation_time(simulation);
  yoke_simulation_destroy(&simulation);
  return run;
}

// Mean over points k >= first of |y - whole| over the range of the whole run, mean over the outputs of
// a unit, Euclidean norm over the units. units: number of signals of each, in order.
static inline double scenario_error(const scenario_run* run, const scenario_run* whole,
                                    size_t first, const size_t units[], size_t n_units) {
  double square = 0;
  size_t at = 0;
  for (size_t u = 0; u < n_units; u++) {
    double sum = 0;
    for (size_t i = 0; i < units[u]; i++, at++) {
      sum += range_error(whole->n, first, run->y[at], whole->y[at]) / (double)units[u];
    }
    square += sum * sum;
  }
  return isfinite(square) ? sqrt(square) : (double)INFINITY;
}

// Writes the file if YOKE_WRITE_REFERENCE is set; every `every`-th point. Then it must be what `run`
// has, to the twelve digits written.
static inline void scenario_check_reference(const char* name, const char* const signals[],
                                            size_t n_signals, const scenario_run* run, double step,
                                            size_t every) {
  assert_int_equal(run->n_signals, n_signals);
  char path[1024];
  YOKE_CATCH(err);
  (void)scenario_path(name, path, sizeof path);
  if (getenv("YOKE_WRITE_REFERENCE") != NULL) {
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fputs("time", file);
    for (size_t i = 0; i < n_signals; i++) {
      fprintf(file, ",%s", signals[i]);
    }
    for (size_t k = 0; k < run->n; k += every) {
      fprintf(file, "\n%.12g", (double)k * step);
      for (size_t i = 0; i < n_signals; i++) {
        fprintf(file, ",%.12g", run->y[i][k]);
      }
    }
    fputc('\n', file);
    assert_int_equal(fclose(file), 0);
  }
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    fail_msg("%s cannot be opened", path);
  }
  enum { MOST = 1 << 20 };
  char* bytes = malloc(MOST);
  assert_non_null(bytes);
  const size_t n = fread(bytes, 1, MOST, file);
  fclose(file);
  assert_true(n < MOST);
  yoke_csv csv = {0};
  if (yoke__csv_parse(bytes, n, &csv, &err.sink) < 0) {
    fail_msg("%s: %s", path, err.text);
  }
  free(bytes);
  assert_int_equal(csv.n_rows, (run->n + every - 1) / every);
  assert_int_equal(csv.n_columns, run->n_signals + 1);
  for (size_t i = 0; i < n_signals; i++) {
    assert_string_equal(csv.columns[i + 1].name, signals[i]);
    double largest = 0;
    for (size_t k = 0; k < run->n; k++) {
      largest = fmax(largest, fabs(run->y[i][k]));
    }
    for (size_t r = 0; r < csv.n_rows; r++) {
      check_near(csv.columns[0].values[r], (double)(r * every) * step, 1e-9);
      check_near(csv.columns[i + 1].values[r], run->y[i][r * every], 1e-10 * largest);
    }
  }
  yoke__csv_free(&csv);
}

#endif
