// The two-unit loops of the study once more, with their units exported as FMUs: dependencies declared, directional derivatives
// present. Needs the runtime of exported FMUs (YOKE_FMU_RUNTIME, or beside the program).
#ifndef YOKE_BENCH_COUPLING_FMU_H
#define YOKE_BENCH_COUPLING_FMU_H

#include "base/base_temp.h"
#include "bench/coupling_study.h"
#include "export/export_system.h"

// Native and exported runs of the same systems at one step.
typedef struct coupling_twin {
  int n;
  int n_1[2], n_5[2], n_lost[2];  // native, FMUs
  double most;                    // largest |error of the FMUs - native error| of runs within 5 %
} coupling_twin;

static inline void coupling_stop(const char* what) {
  fprintf(stderr, "coupling study: %s\n", what);
  exit(1);
}

// Writes u0.fmu, u1.fmu, ... to the folder, from the system as a file. fmi: 2 or 3.
static inline void coupling_export(const coupling_problem* p, int fmi, const char* folder) {
  static study_text text;
  char path[4200];
  const coupling_file file = {COUPLING_AUTO, COUPLING_NATIVE, p->n, p->H};
  p->print(p->self, &file, &text);
  snprintf(path, sizeof path, "%s/native.yaml", folder);
  FILE* out = fopen(path, "w");
  if (out == NULL || fwrite(text.bytes, 1, text.n, out) != text.n || fclose(out) != 0) {
    coupling_stop("a system cannot be written");
  }
  for (size_t i = 0; i < p->n_units; i++) {
    char name[24], fmu[4300];
    yoke_export_unit* unit = NULL;
    yoke_export_counts counts;
    snprintf(name, sizeof name, "u%zu", i);
    snprintf(fmu, sizeof fmu, "%s/%s.fmu", folder, name);
    if (yoke__export_unit_open(path, NULL, NULL, 0, &unit) < 0 ||
        yoke__export_unit_make(unit, name, NULL, 0, 0) < 0 ||
        yoke__export_unit_write(unit, fmi, fmu, &counts, NULL) < 0) {
      coupling_stop("a unit cannot be exported");
    }
    yoke__export_unit_close(&unit);
  }
}

static inline coupling_result coupling_run_fmus(coupling_problem* p, coupling_method method,
                                                const char* folder) {
  static study_text text;
  char path[4200];
  snprintf(path, sizeof path, "%s/study.yaml", folder);
  p->path = path;
  const coupling_file file = {method, COUPLING_FMUS, p->n, p->H};
  p->print(p->self, &file, &text);
  double* y = coupling_allocate((size_t)(p->n + 1) * p->n_signals);
  coupling_result r = {.error = HUGE_VAL};
  if (coupling_simulate(p, &text, NULL, false, &r.calls, y)) {
    r.error = coupling_measure(p, y);
  }
  free(y);
  p->path = NULL;
  return r;
}

static inline void coupling_add_twin(coupling_twin* t, const coupling_result r[2]) {
  t->n++;
  for (int i = 0; i < 2; i++) {
    t->n_1[i] += r[i].error <= 0.01;
    t->n_5[i] += r[i].error <= 0.05;
    t->n_lost[i] += coupling_is_lost(&r[i]);
  }
  if (r[0].error <= 0.05) {
    t->most = fmax(t->most, fabs(r[1].error - r[0].error));
  }
}

// `auto` on the first `count` two-unit loops of the final seeds: one result per step.
static inline void coupling_compare_fmus(int count, int fmi, coupling_twin twins[COUPLING_SHARES]) {
  static loop system;
  yoke_temp* temp = NULL;
  if (yoke__temp_create(&temp, NULL) < 0) {
    coupling_stop("no temporary folder");
  }
  for (int64_t seed = COUPLING_FINAL; count > 0; seed++) {
    coupling_make_loop(&system, seed);
    if (system.n_units > 2) {
      continue;
    }
    for (int s = 0; s < COUPLING_SHARES; s++) {
      coupling_problem p;
      coupling_pose_loop(&p, &system, coupling_shares[s]);
      if (s == 0) {
        coupling_export(&p, fmi, yoke__temp_path(temp));
      }
      const coupling_result results[2] = {
          coupling_run(&p, COUPLING_AUTO, 0),
          coupling_run_fmus(&p, COUPLING_AUTO, yoke__temp_path(temp))};
      coupling_add_twin(&twins[s], results);
      coupling_free(&p);
    }
    count--;
  }
  yoke__temp_remove(&temp);
}

#endif
