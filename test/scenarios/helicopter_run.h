// Runs of scenarios/helicopter against the undivided system: error and roughness (MPSM specification
// 10.3, 10.4).
#ifndef YOKE_TEST_HELICOPTER_RUN_H
#define YOKE_TEST_HELICOPTER_RUN_H

#include "scenarios/mpsm_loop.h"
#include "support/helicopter_whole.h"

enum { HELI_SIGNALS = HELI_Y + HELI_U };

static const char* const heli_signals[] = {
    "airframe.heave",     "airframe.pitch",      "airframe.roll",   "airframe.turn",
    "airframe.roll_rate", "airframe.pitch_rate", "controller.main", "controller.longitudinal",
    "controller.lateral", "controller.tail",
};
static const size_t heli_units[] = {HELI_Y, HELI_U};

// Points at multiples of n_micro Euler steps.
static inline scenario_run helicopter_run_whole(size_t n_steps, int n_micro) {
  static helicopter heli;
  helicopter_open(&heli);
  scenario_run run = scenario_run_make(HELI_SIGNALS, n_steps + 1);
  double x[HELI_N] = {0}, y[HELI_SIGNALS];
  int64_t step = 0;
  for (size_t k = 0; k <= n_steps; k++) {
    for (int j = 0; j < n_micro; j++, step++) {
      helicopter_advance(&heli, (double)step * HELI_MICRO, x, y);
      for (size_t i = 0; i < HELI_SIGNALS && j == 0; i++) {
        run.y[i][k] = y[i];
      }
    }
  }
  return run;
}

// Error over the full range and roughness of the difference, both at most 1.
typedef struct helicopter_figures {
  double epsilon, sigma;
  yoke_status status;
} helicopter_figures;

static inline double helicopter_sigma(const scenario_run* run, const scenario_run* whole) {
  const size_t n = whole->n;
  double* work = malloc((n + yoke__noise_work_size(n)) * sizeof *work);
  double *difference = work + yoke__noise_work_size(n), sigma = 0;
  assert_non_null(work);
  for (size_t i = 0; i < HELI_SIGNALS; i++) {
    double variance = 0;
    for (size_t k = 0; k < n; k++) {
      difference[k] = run->y[i][k] - whole->y[i][k];
    }
    (void)yoke__noise_variance(n, difference, work, &variance);
    sigma += sqrt(variance) / (i < HELI_Y ? HELI_Y : HELI_U);
  }
  free(work);
  return fmin(sigma, 1);
}

static inline helicopter_figures helicopter_judge(const scenario_run* run,
                                                  const scenario_run* whole) {
  return (helicopter_figures){fmin(scenario_error(run, whole, 1, heli_units, 2), 1),
                              helicopter_sigma(run, whole), run->status};
}

// 150 s, or a little less, of a system file with an exchange every n_micro Euler steps.
static inline scenario_run helicopter_run_file(const char* name, int n_micro,
                                               const char* const extra[]) {
  char step[64], stop[64], airframe[64], controller[64];
  const size_t n = (size_t)(75000 / n_micro);
  snprintf(step, sizeof step, "time.step=%.12g", n_micro * HELI_MICRO);
  snprintf(stop, sizeof stop, "time.stop=%.12g", (double)n * n_micro * HELI_MICRO);
  snprintf(airframe, sizeof airframe, "units.airframe.with.micro_steps=%d", n_micro);
  snprintf(controller, sizeof controller, "units.controller.with.micro_steps=%d", n_micro);
  const char* sets[RUN_MAX_SETS + 1] = {step, stop, airframe, controller};
  for (size_t i = 0; extra != NULL && extra[i] != NULL; i++) {
    assert_true(i + 4 < RUN_MAX_SETS);
    sets[i + 4] = extra[i];
  }
  return scenario_run_file(name, sets, heli_signals, HELI_SIGNALS, n);
}

static inline helicopter_figures helicopter_try(const char* name, int n_micro,
                                                const char* const extra[]) {
  scenario_run run = helicopter_run_file(name, n_micro, extra);
  scenario_run whole = helicopter_run_whole(run.n - 1, n_micro);
  const helicopter_figures figures = helicopter_judge(&run, &whole);
  scenario_run_close(&run);
  scenario_run_close(&whole);
  return figures;
}

// ---- the kernels of the method, without master and units

typedef struct helicopter_parts {
  helicopter heli;
  double x[HELI_N];
  int n_micro;
} helicopter_parts;

static inline void helicopter_parts_start(void* context, double y[]) {
  helicopter_parts* parts = context;
  memset(parts->x, 0, sizeof parts->x);
  memset(y, 0, HELI_SIGNALS * sizeof y[0]);
}

static inline void helicopter_parts_drive(void* context, double t, double g[]) {
  (void)context;
  helicopter_commands(t, g + HELI_U);
}

// Both units on their own, inputs held.
static inline void helicopter_parts_advance(void* context, double t, const double u[], double y[]) {
  helicopter_parts* parts = context;
  const helicopter* h = &parts->heli;
  double *x1 = parts->x, *x2 = parts->x + HELI_N1, dx[HELI_N];
  (void)t;
  for (int j = 0; j < parts->n_micro; j++) {
    yoke__mat_vec(HELI_N1, HELI_N1, h->A1, x1, dx);
    yoke__mat_vec_add(HELI_N1, HELI_U, h->B1, u, dx);
    yoke__mat_vec(HELI_N2, HELI_N2, h->A2, x2, dx + HELI_N1);
    yoke__mat_vec_add(HELI_N2, HELI_Y, h->B2, u + HELI_U, dx + HELI_N1);
    for (size_t i = 0; i < HELI_N; i++) {
      parts->x[i] += HELI_MICRO * dx[i];
    }
  }
  yoke__mat_vec(HELI_Y, HELI_N1, h->C1, x1, y);
  yoke__mat_vec(HELI_U, HELI_N2, h->C2, x2, y + HELI_Y);
}

// models NULL: from zero; else those of another run. take_to: the models at 8 s, or NULL.
static inline scenario_run helicopter_loop_run(size_t n_steps, int n_micro, double t_learning,
                                               const loop_models* models, loop_models* take_to) {
  static helicopter_parts parts;
  double L[LOOP_ALL * LOOP_ALL];
  helicopter_open(&parts.heli);
  helicopter_coupling(L);
  parts.n_micro = n_micro;
  const loop_case c = {.n = {HELI_Y, HELI_U},
                       .m = {HELI_U, HELI_Y},
                       .L = L,
                       .step = n_micro * HELI_MICRO,
                       .t_learning = t_learning,
                       .t_switch = 1,
                       .variance = models != NULL ? YOKE_RLS_P0_LOAD : YOKE_RLS_P0,
                       .models = models,
                       .context = &parts,
                       .start = helicopter_parts_start,
                       .drive = helicopter_parts_drive,
                       .advance = helicopter_parts_advance,
                       .t_models = 8,
                       .take_to = take_to};
  return loop_run(&c, n_steps);
}

#endif
