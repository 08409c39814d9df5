// How accurate the coupling methods are on random systems, at steps around the limit of held signals. Used by
// bench/bench_coupling.c (docs/studies/coupling.md) and by the tests of `auto`.
//
//   H_z     largest stable exchange interval of plain holding: `inputs: start`, one call per exchange. Linear systems: from the
//           spectral radius. Nonlinear pairs: the largest H at which the movement does not grow beyond the undivided one
//           (coupling_find_pair_limit).
//   error   rms of (run - exact) over the standard deviation of the exact signal, whole run, mean over the exchanged signals
//   lost    an error of 100 % or more, or a run that failed
#ifndef YOKE_BENCH_COUPLING_STUDY_H
#define YOKE_BENCH_COUPLING_STUDY_H

#include "bench/coupling_noise.h"
#include "bench/coupling_way.h"
#include "yoke/yoke.h"

// Seeds of the systems. Development seeds may be looked at when something is changed; nothing is ever set by the final ones.
enum {
  COUPLING_DEVELOPMENT = 20001,
  COUPLING_DEVELOPMENT_COUNT = 120,
  COUPLING_PAIRS_DEVELOPMENT = 21001,
  COUPLING_PAIRS_DEVELOPMENT_COUNT = 30,
  COUPLING_FINAL = 30001,
  COUPLING_FINAL_COUNT = 400,
  COUPLING_PAIRS_FINAL = 31001,
  COUPLING_PAIRS_FINAL_COUNT = 100,
};

enum { COUPLING_SIGNALS = LOOP_INPUTS, COUPLING_SHARES = 5, COUPLING_NOISES = 3 };

static const double coupling_shares[COUPLING_SHARES] = {0.1, 0.3, 0.9, 3, 10};  // H over H_z
static const double coupling_noise_levels[COUPLING_NOISES] = {0, 0.001, 0.01};

typedef enum coupling_class {
  COUPLING_FORCE,
  COUPLING_TORQUE,
  COUPLING_DISPLACEMENT,
  COUPLING_CHAIN,
  COUPLING_PAIR,
  COUPLING_CLASSES
} coupling_class;

static const char* const coupling_class_names[COUPLING_CLASSES] = {
    "force-displacement", "torque-speed", "displacement-displacement", "chains of 3 and 4",
    "nonlinear pairs"};

// One system at one step.
typedef struct coupling_problem {
  const void* self;
  void (*print)(const void* self, const coupling_file* file, study_text* text);
  const char* path;  // of the file, for what it names; NULL: it names nothing
  coupling_class class;
  int64_t seed;
  size_t n_units, n_signals;
  const char* models[COUPLING_NOISY];
  char names[COUPLING_SIGNALS][40];
  size_t units[COUPLING_SIGNALS], outputs[COUPLING_SIGNALS];  // where the signals come from
  int64_t n;                                                  // exchanges
  study_step H;
  double* truth;                        // n + 1 rows of n_signals numbers
  double deviations[COUPLING_SIGNALS];  // of the truth
} coupling_problem;

typedef struct coupling_result {
  double error;  // infinite: it failed
  double calls;  // of a unit per exchange, mean over the units
} coupling_result;

static inline double* coupling_allocate(size_t n) {
  double* p = calloc(n + 1, sizeof *p);
  if (p == NULL) {
    fprintf(stderr, "coupling study: out of memory\n");
    exit(1);
  }
  return p;
}

// ---------------------------------------------------------------------------------------------------------
// a run

static inline void coupling_add_units(const coupling_problem* p, double noise,
                                      yoke_registry* registry) {
  for (size_t i = 0; i < p->n_units; i++) {
    double deviations[COUPLING_NOISY_OUTPUTS] = {0};
    for (size_t j = 0; j < p->n_signals; j++) {
      if (p->units[j] == i) {
        deviations[p->outputs[j]] = noise * p->deviations[j];
      }
    }
    if (coupling_add_noisy(registry, i, p->models[i], deviations, COUPLING_NOISY_OUTPUTS, p->seed,
                           study_seconds(p->H)) < 0) {
      fprintf(stderr, "coupling study: no noisy %s\n", p->models[i]);
      exit(1);
    }
  }
}

static inline double coupling_count_calls(const coupling_problem* p, const yoke_system* system) {
  double calls = 0;
  for (size_t i = 0; i < p->n_units; i++) {
    yoke_unit_view view;
    calls += yoke_system_get_unit(system, i, &view) < 0 ? 0 : study_seconds(p->H) / view.step;
  }
  return calls / (double)p->n_units;
}

// Clean signals at every exchange, n + 1 rows. False: it failed on the way.
static inline bool coupling_step_through(const coupling_problem* p, yoke_simulation* sim,
                                         bool has_noise, double y[]) {
  yoke_handle handles[COUPLING_SIGNALS];
  const double H = study_seconds(p->H);
  for (size_t i = 0; i < p->n_signals; i++) {
    if (yoke_simulation_find(sim, p->names[i], &handles[i]) < 0) {
      fprintf(stderr, "coupling study: no signal %s\n", p->names[i]);
      exit(1);
    }
  }
  for (int64_t k = 0; k <= p->n; k++) {
    double* row = &y[(size_t)k * p->n_signals];
    if ((k > 0 && yoke_simulation_step(sim) < 0) ||
        yoke_simulation_read_many(sim, handles, p->n_signals, row) < 0) {
      return false;
    }
    for (size_t i = 0; has_noise && i < p->n_signals; i++) {
      row[i] -= coupling_noise_at(p->units[i], p->outputs[i], (double)k * H);
    }
  }
  return true;
}

// A run of the text. y: n + 1 rows. Returns false if it failed; ends the program if the text is refused.
static inline bool coupling_simulate(const coupling_problem* p, const study_text* t,
                                     const yoke_registry* registry, bool has_noise, double* calls,
                                     double y[]) {
  const yoke_load_settings settings = {.registry = registry};
  yoke_system* system = NULL;
  yoke_simulation* sim = NULL;
  if (yoke_system_parse(t->bytes, t->n, p->path == NULL ? "study.yaml" : p->path, &settings,
                        &system) < 0 ||
      yoke_simulation_create(system, NULL, &sim) < 0) {
    fprintf(stderr, "coupling study: this system was refused\n%s", t->bytes);
    exit(1);
  }
  *calls = coupling_count_calls(p, system);
  const bool is_good =
      yoke_simulation_start(sim) >= 0 && coupling_step_through(p, sim, has_noise, y);
  yoke_simulation_destroy(&sim);
  yoke_system_destroy(&system);
  return is_good;
}

static inline double coupling_measure(const coupling_problem* p, const double y[]) {
  double sum = 0;
  size_t n = 0;
  for (size_t i = 0; i < p->n_signals; i++) {
    if (p->deviations[i] > 0) {
      double squares = 0;
      for (int64_t k = 0; k <= p->n; k++) {
        const double d = y[(size_t)k * p->n_signals + i] - p->truth[(size_t)k * p->n_signals + i];
        squares += d * d;
      }
      sum += sqrt(squares / (double)(p->n + 1)) / p->deviations[i];
      n++;
    }
  }
  const double error = sum / (double)n;
  return error < HUGE_VAL ? error : HUGE_VAL;
}

static inline coupling_result coupling_run(const coupling_problem* p, coupling_method method,
                                           double noise) {
  static study_text text;
  const coupling_file file = {method, noise > 0 ? COUPLING_WITH_NOISE : COUPLING_NATIVE, p->n,
                              p->H};
  p->print(p->self, &file, &text);
  yoke_registry* registry = NULL;
  if (yoke_registry_create(&registry) < 0) {
    fprintf(stderr, "coupling study: out of memory\n");
    exit(1);
  }
  if (noise > 0) {
    coupling_add_units(p, noise, registry);
  }
  double* y = coupling_allocate((size_t)(p->n + 1) * p->n_signals);
  coupling_result r = {.error = HUGE_VAL};
  if (coupling_simulate(p, &text, registry, noise > 0, &r.calls, y)) {
    r.error = coupling_measure(p, y);
  }
  free(y);
  yoke_registry_destroy(&registry);
  return r;
}

// ---------------------------------------------------------------------------------------------------------
// problems

// 300 to 400 exchanges.
static inline int64_t coupling_draw_length(int64_t seed, double share) {
  return 300 + (int64_t)(101 * yoke__random_uniform(seed, 1, (uint64_t)(share * 1000)));
}

static inline void coupling_find_deviations(coupling_problem* p) {
  for (size_t i = 0; i < p->n_signals; i++) {
    double sum = 0, squares = 0;
    for (int64_t k = 0; k <= p->n; k++) {
      sum += p->truth[(size_t)k * p->n_signals + i];
    }
    const double mean = sum / (double)(p->n + 1);
    for (int64_t k = 0; k <= p->n; k++) {
      const double d = p->truth[(size_t)k * p->n_signals + i] - mean;
      squares += d * d;
    }
    p->deviations[i] = sqrt(squares / (double)(p->n + 1));
  }
}

static inline void coupling_add_signal(coupling_problem* p, const char* unit, const char* output,
                                       size_t i, size_t j) {
  snprintf(p->names[p->n_signals], sizeof p->names[0], "%s.%s", unit, output);
  p->units[p->n_signals] = i;
  p->outputs[p->n_signals++] = j;
}

// Two units in two of three seeds, otherwise three or four.
static inline void coupling_make_loop(loop* s, int64_t seed) {
  loop_make(s, seed, seed % 3 < 2 ? 2 : 3 + (size_t)(seed / 3 % 2));
}

// s must outlive the problem.
static inline void coupling_pose_loop(coupling_problem* p, const loop* s, double share) {
  *p = (coupling_problem){.self = s, .print = coupling_print_loop, .seed = s->seed};
  p->n_units = s->n_units;
  p->class = s->n_units > 2    ? COUPLING_CHAIN
             : s->n_links == 3 ? COUPLING_FORCE
             : s->n_links == 2 ? COUPLING_TORQUE
                               : COUPLING_DISPLACEMENT;
  for (size_t i = 0; i < s->n_units; i++) {
    char unit[24];
    snprintf(unit, sizeof unit, "u%zu", i);
    p->models[i] = "state_space";
    for (size_t j = 0; j < s->units[i].ny; j++) {
      coupling_add_signal(p, unit, s->units[i].outputs[j], i, j);
    }
  }
  p->n = coupling_draw_length(s->seed, share);
  p->H = study_round_step(share * s->limit);
  p->truth = coupling_allocate((size_t)(p->n + 1) * p->n_signals);
  loop_solve(s, p->n, study_seconds(p->H), p->truth);
  coupling_find_deviations(p);
}

#define COUPLING_TOLERANCE 1e-12  // of a step of the reference, over unit amplitudes

// Signals and units of a pair; no truth yet.
static inline void coupling_describe_pair(coupling_problem* p, const pair* s) {
  *p = (coupling_problem){.self = s, .print = coupling_print_pair, .seed = s->seed, .n_units = 2};
  p->class = COUPLING_PAIR;
  if (s->has_bond) {
    p->models[0] = "oscillator.force";
    p->models[1] = "oscillator.mass";
    coupling_add_signal(p, "left", "f", 0, 0);
    coupling_add_signal(p, "right", "x", 1, 0);
    coupling_add_signal(p, "right", "v", 1, 1);
  } else {
    p->models[0] = p->models[1] = "oscillator.displacement";
    coupling_add_signal(p, "left", "x", 0, 0);
    coupling_add_signal(p, "left", "v", 0, 1);
    coupling_add_signal(p, "right", "x", 1, 0);
    coupling_add_signal(p, "right", "v", 1, 1);
  }
}

// Whether plain holding of H keeps the second half of a run within `most`, a number per signal: 200 radians of the faster mass,
// at least 1000 exchanges.
static inline bool coupling_is_bounded(coupling_problem* p, const pair* s, double H,
                                       const double most[]) {
  static study_text text;
  p->n = (int64_t)fmax(1000, 200 / (s->omega * H));
  p->H = study_round_step(H);
  const coupling_file file = {COUPLING_HOLD, COUPLING_NATIVE, p->n, p->H};
  p->print(p->self, &file, &text);
  double* y = coupling_allocate((size_t)(p->n + 1) * p->n_signals);
  double calls = 0;
  bool is_bounded = coupling_simulate(p, &text, NULL, false, &calls, y);
  for (size_t k = (size_t)p->n / 2; k <= (size_t)p->n && is_bounded; k++) {
    for (size_t i = 0; i < p->n_signals; i++) {
      is_bounded = is_bounded && fabs(y[k * p->n_signals + i]) <= most[i];
    }
  }
  free(y);
  return is_bounded;
}

// Between 0.001 and 2 radians of the faster mass, to 5 %.
static inline double coupling_find_pair_limit(const pair* s) {
  enum { N = 4000 };
  coupling_problem p;
  coupling_describe_pair(&p, s);
  // the undivided movement, which decays: the largest values come early. A tenth more: holding is off before it swings up
  double* truth = coupling_allocate((N + 1) * p.n_signals);
  double most[COUPLING_SIGNALS] = {0};
  pair_solve_within(s, N, 0.1 / s->omega, COUPLING_TOLERANCE, truth);
  for (size_t k = 0; k < (N + 1) * p.n_signals; k++) {
    most[k % p.n_signals] = fmax(most[k % p.n_signals], 1.1 * fabs(truth[k]));
  }
  free(truth);
  double low = 0.032 / s->omega, high = low;
  while (low > 0.001 / s->omega && !coupling_is_bounded(&p, s, low, most)) {
    high = low;
    low /= 2;
  }
  while (high == low || (high < 2 / s->omega && coupling_is_bounded(&p, s, high, most))) {
    low = high;
    high *= 2;
  }
  while (high / low > 1.05) {
    const double middle = sqrt(low * high);
    *(coupling_is_bounded(&p, s, middle, most) ? &low : &high) = middle;
  }
  return low;
}

// limit: of coupling_find_pair_limit. s must outlive the problem.
static inline void coupling_pose_pair(coupling_problem* p, const pair* s, double limit,
                                      double share) {
  coupling_describe_pair(p, s);
  p->n = coupling_draw_length(s->seed, share);
  p->H = study_round_step(share * limit);
  p->truth = coupling_allocate((size_t)(p->n + 1) * p->n_signals);
  pair_solve_within(s, p->n, study_seconds(p->H), COUPLING_TOLERANCE, p->truth);
  coupling_find_deviations(p);
}

static inline void coupling_free(coupling_problem* p) {
  free(p->truth);
  p->truth = NULL;
}

// ---------------------------------------------------------------------------------------------------------
// all runs of a set of systems

// What is run on which systems.
typedef struct coupling_plan {
  int64_t first, pairs_first;
  int count, pairs_count;
  bool is_used[COUPLING_NOISES][COUPLING_METHODS];
  bool is_run[COUPLING_SHARES];
} coupling_plan;

// One system at one step with all methods and noises; those left out have calls of 0.
typedef struct coupling_row {
  coupling_class class;
  int64_t seed;
  int share;
  coupling_result results[COUPLING_NOISES][COUPLING_METHODS];
} coupling_row;

typedef struct coupling_table {
  coupling_row* rows;
  size_t n, room;
} coupling_table;

static inline void coupling_add_row(coupling_table* t, const coupling_plan* plan,
                                    const coupling_problem* p, int share) {
  if (t->n == t->room) {
    t->room = t->room == 0 ? 256 : 2 * t->room;
    t->rows = realloc(t->rows, t->room * sizeof *t->rows);
    if (t->rows == NULL) {
      exit(1);
    }
  }
  coupling_row* row = &t->rows[t->n++];
  *row = (coupling_row){.class = p->class, .seed = p->seed, .share = share};
  for (int i = 0; i < COUPLING_NOISES; i++) {
    for (int m = 0; m < COUPLING_METHODS; m++) {
      if (plan->is_used[i][m]) {
        row->results[i][m] = coupling_run(p, (coupling_method)m, coupling_noise_levels[i]);
      }
    }
  }
}

static inline void coupling_fill(coupling_table* t, const coupling_plan* plan) {
  static loop system;
  coupling_problem p;
  for (int i = 0; i < plan->count; i++) {
    coupling_make_loop(&system, plan->first + i);
    for (int s = 0; s < COUPLING_SHARES; s++) {
      if (plan->is_run[s]) {
        coupling_pose_loop(&p, &system, coupling_shares[s]);
        coupling_add_row(t, plan, &p, s);
        coupling_free(&p);
      }
    }
  }
  for (int i = 0; i < plan->pairs_count; i++) {
    pair two;
    pair_make(&two, plan->pairs_first + i);
    const double limit = coupling_find_pair_limit(&two);
    for (int s = 0; s < COUPLING_SHARES; s++) {
      if (plan->is_run[s]) {
        coupling_pose_pair(&p, &two, limit, coupling_shares[s]);
        coupling_add_row(t, plan, &p, s);
        coupling_free(&p);
      }
    }
  }
}

static inline void coupling_free_table(coupling_table* t) {
  free(t->rows);
  *t = (coupling_table){0};
}

// ---------------------------------------------------------------------------------------------------------
// counting

#define COUPLING_LOST     1.0
#define COUPLING_WORSE    1.1
#define COUPLING_ROUNDING 1e-10  // errors below are those of the reference

typedef struct coupling_count {
  int n, n_1, n_5, n_lost;
  int n_lost_alone;  // lost where holding is not
  int n_worse;       // error above 1.1 times that of holding; a run that both lose counts for none
} coupling_count;

static inline bool coupling_is_lost(const coupling_result* r) {
  return !(r->error < COUPLING_LOST);
}

// results: of all methods on one system
static inline bool coupling_is_worse(const coupling_result results[], coupling_method m) {
  const coupling_result *r = &results[m], *held = &results[COUPLING_HOLD];
  return r->error > COUPLING_WORSE * held->error && r->error > COUPLING_ROUNDING &&
         !coupling_is_lost(held);
}

static inline bool coupling_is_lost_alone(const coupling_result results[], coupling_method m) {
  return coupling_is_lost(&results[m]) && !coupling_is_lost(&results[COUPLING_HOLD]);
}

static inline void coupling_count_row(coupling_count* c, const coupling_result results[],
                                      coupling_method m) {
  const coupling_result* r = &results[m];
  c->n++;
  c->n_1 += r->error <= 0.01;
  c->n_5 += r->error <= 0.05;
  c->n_lost += coupling_is_lost(r);
  c->n_lost_alone += coupling_is_lost_alone(results, m);
  c->n_worse += coupling_is_worse(results, m);
}

// noise: index of its level; share, class: -1 for all
static inline coupling_count coupling_tally(const coupling_table* t, int noise, coupling_method m,
                                            int share, int class) {
  coupling_count c = {0};
  for (size_t i = 0; i < t->n; i++) {
    const coupling_row* row = &t->rows[i];
    if ((share < 0 || row->share == share) && (class < 0 || (int)row->class == class) &&
        row->results[noise][m].calls > 0) {
      coupling_count_row(&c, row->results[noise], m);
    }
  }
  return c;
}

static inline int coupling_compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// Median error without noise; NaN of none.
static inline double coupling_median(const coupling_table* t, coupling_method m, int share) {
  double* errors = coupling_allocate(t->n);
  size_t n = 0;
  for (size_t i = 0; i < t->n; i++) {
    const coupling_result* r = &t->rows[i].results[0][m];
    if (t->rows[i].share == share && r->calls > 0) {
      errors[n++] = r->error;
    }
  }
  qsort(errors, n, sizeof *errors, coupling_compare);
  const double median = n > 0 ? errors[n / 2] : (double)NAN;
  free(errors);
  return median;
}

typedef struct coupling_calls {
  double mean, most;
} coupling_calls;

// Calls of a unit per exchange. class: -1 for all
static inline coupling_calls coupling_find_calls(const coupling_table* t, coupling_method m,
                                                 int share, int class) {
  coupling_calls c = {0};
  int n = 0;
  for (size_t i = 0; i < t->n; i++) {
    const double calls = t->rows[i].results[0][m].calls;
    if (t->rows[i].share == share && (class < 0 || (int)t->rows[i].class == class) && calls > 0) {
      c.mean += calls;
      c.most = fmax(c.most, calls);
      n++;
    }
  }
  c.mean /= n;
  return c;
}

#endif
