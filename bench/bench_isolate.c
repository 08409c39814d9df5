// What a process of its own costs: one step (inputs, step, outputs) of the same unit in this process and isolated, with
// the three ways of waiting, and of several isolated units one after the other. Prints median, mean, 99 % and maximum.
// `bench_isolate [--gate] [FILE.fmu]...` measures FMUs (a trivial one of the tests if none is named) beside the native
// gain; with --gate it exits 1 if the median of one isolated unit that spins is not below 5 us.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_histogram.h"
#include "base/base_message.h"
#include "base/base_os.h"
#include "base/base_process.h"
#include "unit/host/unit_host.h"
#include "unit/unit.h"
#include "unit/unit_models.h"

#define MAX_UNITS 8
#define N_WARM    2000
#define N_STEPS   50000
#define N_SLEEPY  5000  // steps that sleep take ten times as long
#define MAX_DENSE 256
#define LIMIT_US  5.0

typedef struct subject {
  yoke_arena arena;
  yoke_unit_store* store;
  yoke_unit_file_settings settings;
  yoke_host_plan plan;
  yoke_unit_ops isolated;
  yoke_unit units[MAX_UNITS];
  int n_units;
} subject;

static void give_up(const char* what, const char* why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

// models need no file; files come through a store, which isolates them itself
static const yoke_unit_ops* find_ops(subject* s) {
  if (s->settings.kind != YOKE_KIND_FMU) {
    const yoke_unit_ops* inner = yoke__models_find(NULL, s->settings.path);
    s->plan = (yoke_host_plan){.settings = &s->settings};
    yoke__host_fill_ops(inner, &s->isolated);
    s->isolated.context = &s->plan;
    return s->settings.is_isolated ? &s->isolated : inner;
  }
  yoke_messages messages = {0};
  const yoke_unit_ops* ops = NULL;
  if (s->store == NULL && yoke__unit_store_create(&s->store) < 0) {
    give_up(s->settings.path, "out of memory");
  }
  if (yoke__unit_store_open(s->store, &s->settings, &messages, &ops) < 0) {
    yoke__messages_print(&messages, stderr);
    give_up(s->settings.path, "cannot be opened");
  }
  yoke__messages_free(&messages);
  return ops;
}

static void open_units(subject* s, int n) {
  for (int i = 0; i < n; i++) {
    const yoke_unit_ops* ops = find_ops(s);
    const yoke_unit_args args = {"unit", ".", NULL, 0, ops->context};
    YOKE_CATCH(err);
    if (yoke__unit_create(ops, &args, &s->arena, &s->units[i], &err.sink) < 0 ||
        yoke__unit_enter_init(&s->units[i], 0, 1e9, &err.sink) < 0 ||
        yoke__unit_exit_init(&s->units[i]) < 0 || s->units[i].n_u > MAX_DENSE ||
        s->units[i].n_y > MAX_DENSE) {
      give_up(s->settings.path, err.text);
    }
    s->n_units = i + 1;
  }
}

static void close_units(subject* s) {
  for (int i = 0; i < s->n_units; i++) {
    yoke__unit_terminate(&s->units[i]);
    yoke__unit_close(&s->units[i]);
  }
  if (s->store != NULL) {
    yoke__unit_store_destroy(&s->store);
  }
  yoke__arena_free(&s->arena);
}

// one step of one unit, as the master does it
static void step(const yoke_unit* unit, int k) {
  static const double h = 1e-3;
  double u[MAX_DENSE] = {0}, y[MAX_DENSE];
  yoke_step_result result = {.t_reached = k * h + h};
  u[0] = k;
  if (yoke__unit_set_inputs(unit, u) < 0 || unit->ops->step(unit->self, k * h, h, &result) < 0 ||
      yoke__unit_get_outputs(unit, y) < 0) {
    give_up(unit->ops->name, result.message == NULL ? "step failed" : result.message);
  }
}

// Prints one line and returns the median [us] of one step of one unit.
static double measure(const char* what, yoke_unit_kind kind, const char* path, bool is_isolated,
                      yoke_unit_wait wait, int n_units) {
  subject s = {
      .settings = {
          .kind = kind, .path = path, .name = "unit", .is_isolated = is_isolated, .wait = wait}};
  open_units(&s, n_units);
  yoke_histogram times = {0};
  int64_t total = 0;
  const int n = is_isolated && wait == YOKE_WAIT_SLEEP ? N_SLEEPY : N_STEPS;
  for (int k = 0; k < N_WARM + n; k++) {
    const int64_t start = yoke__os_now_ns();
    for (int i = 0; i < n_units; i++) {
      step(&s.units[i], k);
    }
    if (k >= N_WARM) {
      const int64_t ns = yoke__os_now_ns() - start;
      yoke__histogram_add(&times, ns / n_units);
      total += ns;
    }
  }
  uint64_t n_calls = 0, n_sleeps = 0;
  for (int i = 0; i < n_units && is_isolated; i++) {
    yoke_host_statistics statistics;
    yoke__host_statistics(s.units[i].self, &statistics);
    n_calls += statistics.n_calls;
    n_sleeps += statistics.n_sleeps;
  }
  const double median = yoke__histogram_quantile(&times, 0.5) * 1e-3;
  printf("  %-30s %7.3f us  mean %8.3f  99 %% %8.3f  max %8.1f", what, median,
         (double)total * 1e-3 / n / n_units, yoke__histogram_quantile(&times, 0.99) * 1e-3,
         (double)times.max * 1e-3);
  if (n_calls > 0) {
    printf("  slept in %.1f %% of the calls", 100.0 * (double)n_sleeps / (double)n_calls);
  }
  printf("\n");
  close_units(&s);
  return median;
}

static double measure_all(yoke_unit_kind kind, const char* path) {
  printf("%s\n", path);
  measure("in this process", kind, path, false, YOKE_WAIT_AUTO, 1);
  measure("isolated, wait: auto", kind, path, true, YOKE_WAIT_AUTO, 1);
  const double spinning = measure("isolated, wait: spin", kind, path, true, YOKE_WAIT_SPIN, 1);
  measure("isolated, wait: sleep", kind, path, true, YOKE_WAIT_SLEEP, 1);
  measure("4 isolated, wait: auto, each", kind, path, true, YOKE_WAIT_AUTO, 4);
  measure("4 isolated, wait: sleep, each", kind, path, true, YOKE_WAIT_SLEEP, 4);
  return spinning;
}

// the benchmark lies in a folder below yoke-host and beside the test FMUs
static void find_neighbours(char* fmu, size_t size) {
  char directory[4096], host[4200];
  yoke__process_directory(directory, sizeof directory);
  snprintf(host, sizeof host, "%s/../yoke-host", directory);
  if (getenv("YOKE_HOST") == NULL && yoke__process_is_program(host)) {
    setenv("YOKE_HOST", host, 1);
  }
  snprintf(fmu, size, "%s/../test/fmus/trivial2.fmu", directory);
}

int main(int argc, char** argv) {
  char fmu[4200];
  bool is_gate = false;
  int n_fmus = 0;
  find_neighbours(fmu, sizeof fmu);
  printf("%d processors\n", yoke__os_n_processors());
  yoke__os_float_mode_set();
  double worst = measure_all(YOKE_KIND_MODEL, "gain");
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--gate") == 0) {
      is_gate = true;
      continue;
    }
    n_fmus++;
    worst = fmax(worst, measure_all(YOKE_KIND_FMU, argv[i]));
  }
  if (n_fmus == 0 && yoke__os_is_file(fmu)) {
    worst = fmax(worst, measure_all(YOKE_KIND_FMU, fmu));
  }
  printf("one isolated unit that spins: %.3f us, wanted below %.1f us\n", worst, LIMIT_US);
  return is_gate && !(worst < LIMIT_US);
}
