// What the error bands and verdicts of a run are worth: runs judged by the library against the undivided system. Used by
// bench/bench_trust.c (prints the tables of docs/studies/trust.md) and by the tests of TR-03 to TR-07.
//
//   error of a signal   rms of (run - truth) over the active part of the truth, over the scale of the truth
//   error of a run      that of its worst signal; counted by classes up to 1, 5, 10, 50, 100 % and more
//   coverage            share of the signals with a band below their scale whose rms error over the active part of the run
//                       is within the band
#ifndef YOKE_BENCH_TRUST_STUDY_H
#define YOKE_BENCH_TRUST_STUDY_H

#include "api/api.h"
#include "bench/trust_loop.h"
#include "bench/trust_pair.h"
#include "yoke/yoke.h"

enum { STUDY_CLASSES = 6, STUDY_VERDICTS = 4, STUDY_SIGNALS = LOOP_INPUTS, STUDY_ODDS = 400 };
// Seeds of the systems. Development seeds may be looked at when something is changed; nothing is ever set by the final ones.
enum {
  STUDY_DEVELOPMENT = 1001,
  STUDY_DEVELOPMENT_COUNT = 90,
  STUDY_PAIRS_DEVELOPMENT = 1001,
  STUDY_FINAL = 5001,
  STUDY_FINAL_COUNT = 210,
  STUDY_ONCE_COUNT = 60,  // of the final ones with one call per exchange
  STUDY_PAIRS_FINAL = 6001,
  STUDY_PAIRS_COUNT = 30,
};

static const double study_bounds[STUDY_CLASSES - 1] = {0.01, 0.05, 0.1, 0.5, 1};

// ---------------------------------------------------------------------------------------------------------
// measures of a trajectory: n + 1 samples, `stride` numbers apart

static inline double study_range(const double y[], int64_t n, size_t stride) {
  double low = y[0], high = y[0];
  for (int64_t k = 1; k <= n; k++) {
    low = fmin(low, y[(size_t)k * stride]);
    high = fmax(high, y[(size_t)k * stride]);
  }
  return high - low;
}

// Samples of the active part: up to where it leaves the neighbourhood of its end for the last time.
static inline int64_t study_active(const double y[], int64_t n, size_t stride) {
  const double r = study_range(y, n, stride), end = y[(size_t)n * stride];
  int64_t last = -2;
  for (int64_t k = n; k >= 0 && last < 0; k--) {
    last = fabs(y[(size_t)k * stride] - end) > 0.01 * r ? k : -2;
  }
  const int64_t K = last + 2 < 21 ? 21 : last + 2;
  return K > n + 1 ? n + 1 : K;
}

// y: side by side; z: `stride` numbers apart
static inline double study_rms(const double y[], const double z[], int64_t K, size_t stride) {
  long double sum = 0;
  for (int64_t k = 0; k < K; k++) {
    const long double d = (long double)y[k] - (long double)z[(size_t)k * stride];
    sum += d * d;
  }
  return (double)sqrtl(sum / (long double)K);
}

static inline double study_scale(const double y[], int64_t n, size_t stride, int64_t K) {
  long double sum = 0, squares = 0;
  for (int64_t k = 0; k < K; k++) {
    sum += (long double)y[(size_t)k * stride];
  }
  for (int64_t k = 0; k < K; k++) {
    const long double d = (long double)y[(size_t)k * stride] - sum / (long double)K;
    squares += d * d;
  }
  return fmax((double)sqrtl(squares / (long double)K), study_range(y, n, stride) / 4);
}

// ---------------------------------------------------------------------------------------------------------
// a judged run

typedef struct study_signal {
  bool is_judged;  // neither at rest nor without a band
  yoke_verdict verdict;
  double band, scale, low;
  double error;           // rms over the active part of the run
  double relative_error;  // over the scale of the truth
  bool is_latched, is_active;
} study_signal;

typedef struct study_run {
  yoke_verdict verdict;
  bool is_failed;     // not finite
  bool has_a, has_b;  // companions that were usable
  int way;            // of companion B; 0: its first choice
  size_t n_signals;
  study_signal signals[STUDY_SIGNALS];
  double error;          // of the worst signal
  double relative_band;  // of the worst signal
  yoke_verdict ledger;   // of the energy ledger
} study_run;

// One system, one step, one reference; the method is chosen with the run.
typedef struct study_problem {
  const void* self;
  void (*print)(const void* self, study_method method, int64_t n, study_step H, study_step h,
                study_text* text);
  char path[512];  // base of relative paths
  bool has_bonds;
  size_t n_signals;
  char names[STUDY_SIGNALS][24];
  int64_t n;  // exchanges
  study_step H;
  int n_calls;    // of every unit per exchange
  double* truth;  // n + 1 rows of n_signals numbers
} study_problem;

static inline void* study_allocate(size_t n) {
  double* p = malloc((n + 1) * sizeof *p);
  if (p == NULL) {
    fprintf(stderr, "trust study: out of memory\n");
    exit(1);
  }
  return p;
}

static inline void study_receive(void* to, const yoke_message* message) {
  (void)to;
  if (message->severity == YOKE_ERROR) {
    fprintf(stderr, "trust study: %s\n", message->text);
  }
}

static inline yoke_simulation* study_open(const study_problem* p, const study_text* t,
                                          yoke_system** system) {
  const yoke_sink sink = {.receive = study_receive};
  const yoke_load_settings settings = {.sink = &sink};
  yoke_simulation* sim = NULL;
  if (yoke_system_parse(t->bytes, t->n, p->path, &settings, system) < 0 ||
      yoke_simulation_create(*system, NULL, &sim) < 0 || yoke_simulation_start(sim) < 0) {
    fprintf(stderr, "trust study: this system was refused\n%s", t->bytes);
    exit(1);
  }
  return sim;
}

// Signals at every macro step, n + 1 rows; NaN behind a failure. False: it failed.
static inline bool study_step_through(const study_problem* p, const study_text* t, double y[]) {
  yoke_system* system = NULL;
  yoke_simulation* sim = study_open(p, t, &system);
  yoke_handle handles[STUDY_SIGNALS];
  bool is_good = true;
  for (size_t i = 0; i < p->n_signals; i++) {
    is_good = is_good && yoke_simulation_find(sim, p->names[i], &handles[i]) >= 0;
  }
  for (int64_t k = 0; k <= p->n; k++) {
    double* row = &y[(size_t)k * p->n_signals];
    is_good = is_good && (k == 0 || yoke_simulation_step(sim) >= 0) &&
              yoke_simulation_read_many(sim, handles, p->n_signals, row) >= 0;
    for (size_t i = 0; i < p->n_signals && !is_good; i++) {
      row[i] = (double)NAN;
    }
  }
  yoke_simulation_destroy(&sim);
  yoke_system_destroy(&system);
  return is_good;
}

// Infinite if a value is not a number.
static inline double study_maximum(const double y[], int64_t n) {
  double most = 0;
  for (int64_t k = 0; k <= n; k++) {
    most = isnan(y[k]) ? HUGE_VAL : fmax(most, fabs(y[k]));
  }
  return most;
}

// y: the samples of signal number i of the problem, side by side
static inline void study_true_error(const study_problem* p, size_t i, const double y[],
                                    study_signal* out) {
  const double* truth = &p->truth[i];
  out->error = out->relative_error = HUGE_VAL;
  if (study_maximum(y, p->n) < 1e100) {
    const int64_t K = study_active(truth, p->n, p->n_signals);
    out->error = study_rms(y, truth, study_active(y, p->n, 1), p->n_signals);
    out->relative_error =
        study_rms(y, truth, K, p->n_signals) / study_scale(truth, p->n, p->n_signals, K);
  }
}

static inline yoke_verdict study_read_ledger(const yoke_system* system, yoke_simulation* sim) {
  yoke_system_info info;
  yoke_bond_trust bonds;
  const bool is_good = yoke_system_get_info(system, &info) >= 0 &&
                       yoke_simulation_get_bond(sim, info.n_bonds, &bonds) >= 0;
  return is_good ? bonds.verdict : YOKE_VERDICT_NONE;
}

// Band and verdict of a signal.
static inline void study_read_signal(const yoke_trust* trust, const char* name, study_signal* out) {
  const yoke_trust_signal* s = NULL;
  for (size_t i = 0; i < trust->n_signals && s == NULL; i++) {
    s = strcmp(trust->signals[i].name, name) == 0 ? &trust->signals[i] : NULL;
  }
  if (s == NULL) {
    fprintf(stderr, "trust study: %s was not judged\n", name);
    exit(1);
  }
  *out = (study_signal){.is_judged = isfinite(s->band.band) && !s->band.is_constant,
                        .verdict = s->verdict,
                        .band = s->band.band,
                        .scale = s->band.scale,
                        .low = s->band.low,
                        .is_latched = s->growth.is_latched,
                        .is_active = s->growth.is_active};
}

// Runs and judges as `yoke run --trust both` does; errors are those of the same system stepped without companions.
static inline void study_judge(const study_problem* p, study_method method, study_run* out) {
  static study_text text;
  *out = (study_run){.n_signals = p->n_signals};
  p->print(p->self, method, p->n, p->H, study_divide(p->H, p->n_calls), &text);
  double* y = study_allocate((size_t)(p->n + 1) * (p->n_signals + 1));
  double* column = &y[(size_t)(p->n + 1) * p->n_signals];
  out->is_failed = !study_step_through(p, &text, y);
  yoke_system* system = NULL;
  yoke_simulation* sim = study_open(p, &text, &system);
  const yoke_run_settings settings = {.trust = YOKE_TRUST_BOTH};
  yoke_run_trust trust;
  if ((yoke_simulation_run(sim, &settings, NULL) < 0) != out->is_failed ||
      yoke_simulation_judge(sim, NULL) < 0 || yoke_simulation_get_trust(sim, &trust) < 0) {
    fprintf(stderr, "trust study: this system was not judged\n%s", text.bytes);
    exit(1);
  }
  out->verdict = trust.verdict;
  out->has_a = sim->trust->companions[YOKE_COMPANION_A].is_usable;
  out->has_b = sim->trust->companions[YOKE_COMPANION_B].is_usable;
  out->way = (int)sim->trust->companions[YOKE_COMPANION_B].way;
  out->ledger = study_read_ledger(system, sim);
  for (size_t i = 0; i < p->n_signals; i++) {
    study_signal* g = &out->signals[i];
    study_read_signal(sim->trust, p->names[i], g);
    for (int64_t k = 0; k <= p->n; k++) {
      column[k] = y[(size_t)k * p->n_signals + i];
    }
    study_true_error(p, i, column, g);
    out->error = fmax(out->error, g->relative_error);
    out->relative_band = fmax(out->relative_band, g->is_judged ? g->band / g->scale : HUGE_VAL);
  }
  free(y);
  yoke_simulation_destroy(&sim);
  yoke_system_destroy(&system);
}

// ---------------------------------------------------------------------------------------------------------
// problems

static inline int64_t study_draw_length(int64_t seed, double share) {
  return 300 + (int64_t)(301 * yoke__random_uniform(seed, 1, (uint64_t)(share * 1000)));
}

// Two units in two of three seeds, otherwise three or four.
static inline size_t study_units(int64_t seed) {
  return seed % 3 < 2 ? 2 : 3 + (size_t)(seed / 3 % 2);
}

// H: `share` of the limit of held signals. s must outlive the problem.
static inline void study_make_linear(study_problem* p, const loop* s, double share, int n_calls) {
  *p = (study_problem){.self = s, .print = loop_print_system, .path = "study.yaml"};
  p->has_bonds = s->n_bonds > 0;
  p->n = study_draw_length(s->seed, share);
  p->H = study_round_step(share * s->limit);
  p->n_calls = n_calls;
  for (size_t i = 0; i < s->n_units; i++) {
    for (size_t j = 0; j < s->units[i].ny; j++) {
      snprintf(p->names[p->n_signals++], sizeof p->names[0], "u%zu.%s", i, s->units[i].outputs[j]);
    }
  }
  p->truth = study_allocate((size_t)(p->n + 1) * p->n_signals);
  loop_solve(s, p->n, study_seconds(p->H), p->truth);
}

// H: `share` / omega. s must outlive the problem.
static inline void study_make_pair(study_problem* p, const pair* s, double share) {
  static const char* const names[2][4] = {{"left.x", "left.v", "right.x", "right.v"},
                                          {"left.f", "right.x", "right.v", ""}};
  *p = (study_problem){.self = s, .print = pair_print_system, .path = "study.yaml", .n_calls = 10};
  p->has_bonds = s->has_bond;
  p->n_signals = s->has_bond ? 3 : 4;
  for (size_t i = 0; i < p->n_signals; i++) {
    snprintf(p->names[i], sizeof p->names[0], "%s", names[s->has_bond][i]);
  }
  p->n = study_draw_length(s->seed, share);
  p->H = study_round_step(share / s->omega);
  p->truth = study_allocate((size_t)(p->n + 1) * p->n_signals);
  pair_solve(s, p->n, study_seconds(p->H), p->truth);
}

// A rectifier with a load of 10 ohm and 5 mH in a unit of its own; bench/trust/rectifier.cir.
static inline void study_print_rectifier(const void* self, study_method method, int64_t n,
                                         study_step H, study_step h, study_text* t) {
  (void)self;
  const study_way* way = &study_ways[method];
  t->n = 0;
  study_print_head(t, way, H, h);
  study_print(t, "name: trust study, rectifier, %s\n", way->name);
  study_print(t, "time: {stop: %" PRId64 "e%d, step: %" PRId64 "e%d}\n%s", n * H.mantissa,
              H.exponent, H.mantissa, H.exponent, way->top);
  study_print(t, "units:\n  supply: {");
  study_print_step(t, way, h);
  study_print(t, "circuit: rectifier.cir}\n  load: {");
  study_print_step(t, way, h);
  study_print(t, "model: state_space, with: {A: [[-2000]], B: [[200]], C: [[1]], inputs: [u], "
                 "outputs: [i]}}\n");
  study_print(t, "bonds:\n  line: {action: supply.v -> load.u, rate: load.i -> supply.i_load");
  if (way->order > 0) {
    study_print(t, ", coupling: {method: hold, order: %d}", way->order);
  }
  study_print(t, "}\n");
  if (way->coupling != NULL) {
    study_print(t, "couplings: {loop: {%s, members: [supply, load]}}\n", way->coupling);
  }
}

// top: folder of the source tree. H: `micros` microseconds. The reference: rectifier and load in one netlist, 1 us.
static inline void study_make_rectifier(study_problem* p, const char* top, int micros) {
  *p = (study_problem){.print = study_print_rectifier, .has_bonds = true, .n_signals = 2};
  snprintf(p->path, sizeof p->path, "%s/bench/trust/study.yaml", top);
  p->n = 100000 / micros;
  p->H = (study_step){micros, -6};
  p->n_calls = 10;
  p->truth = study_allocate((size_t)(p->n + 1) * p->n_signals);
  snprintf(p->names[0], sizeof p->names[0], "whole.v");
  snprintf(p->names[1], sizeof p->names[1], "whole.i");
  study_text text = {.n = 0};
  study_print(
      &text,
      "yoke: 1\ntime: {stop: 0.1, step: %de-6}\nunits: {whole: {circuit: rectifier_whole.cir}}\n",
      micros);
  if (!study_step_through(p, &text, p->truth)) {
    fprintf(stderr, "trust study: a reference failed\n");
    exit(1);
  }
  snprintf(p->names[0], sizeof p->names[0], "supply.v");
  snprintf(p->names[1], sizeof p->names[1], "load.i");
}

static inline void study_free(study_problem* p) {
  free(p->truth);
  p->truth = NULL;
}

// ---------------------------------------------------------------------------------------------------------
// counting

typedef struct study_tally {
  int n[STUDY_VERDICTS][STUDY_CLASSES];  // runs
  int n_signals, n_bands, n_covered;     // bands: below the scale of their signal
  int n_low;                             // bands whose `low` is at most the true error
  int n_far, n_far_missed;  // off by more than 5 bands; of these in runs that are not called wrong
  int n_good, n_good_trusted;          // runs off by at most 3 %
  int n_no_a, n_no_b;                  // runs with a companion that was not usable
  int n_other_b;                       // with a B of its second choice or later
  int n_diverged, n_diverged_latched;  // off by more than 1000 scales; with a growth alarm
  int n_fine, n_fine_latched;          // off by less than 50 %
  double* ratios;                      // band over error
  size_t n_ratios, room;
} study_tally;

// A run that a reader will want to see.
typedef struct study_odd {
  const char* family;
  int64_t seed;
  double share;
  int n_calls;
  study_method method;
  yoke_verdict verdict;
  double error;
} study_odd;

// All runs of a family of problems.
typedef struct study_set {
  study_tally methods[STUDY_METHODS], all;
  study_tally bare;            // systems without bonds
  study_tally ledger;          // verdicts of the energy ledger of the same runs
  int n_systems, n_uncovered;  // systems; with a signal that is not covered
  int n_choices, n_near, n_bare_choices, n_bare_near;  // see study_choose
  int only;                                            // 1 + the method that is tried; 0: all
  study_odd odds[STUDY_ODDS];
  int n_odds;
} study_set;

static inline int study_class(double error) {
  int i = 0;
  while (i < STUDY_CLASSES - 1 && !(error <= study_bounds[i])) {
    i++;
  }
  return i;
}

static inline void study_add_ratio(study_tally* t, double ratio) {
  if (t->n_ratios == t->room) {
    t->room = t->room == 0 ? 1024 : 2 * t->room;
    t->ratios = realloc(t->ratios, t->room * sizeof *t->ratios);
    if (t->ratios == NULL) {
      exit(1);
    }
  }
  t->ratios[t->n_ratios++] = ratio;
}

// Of the scale: rounding of the two computations. Errors below it are covered and have no ratio.
#define STUDY_ROUNDING 1e-10

static inline bool study_has_band(const study_signal* g) {
  return g->is_judged && g->band < g->scale;
}

static inline bool study_is_covered(const study_signal* g) {
  return g->error <= g->band + STUDY_ROUNDING * g->scale;
}

static inline void study_count_signal(study_tally* t, const study_run* r, const study_signal* g) {
  t->n_signals++;
  if (!study_has_band(g)) {
    return;
  }
  const double rounding = STUDY_ROUNDING * g->scale;
  t->n_bands++;
  t->n_covered += study_is_covered(g);
  t->n_low += g->low <= g->error + rounding;
  if (g->error > 5 * g->band + rounding) {
    t->n_far++;
    t->n_far_missed += r->verdict != YOKE_WRONG;
  }
  if (g->error > rounding) {
    study_add_ratio(t, g->band / g->error);
  }
}

static inline void study_count(study_tally* t, const study_run* r) {
  t->n[r->verdict][study_class(r->error)]++;
  t->n_no_a += !r->has_a;
  t->n_no_b += !r->has_b;
  t->n_other_b += r->has_b && r->way > 0;
  if (r->error <= 0.03) {
    t->n_good++;
    t->n_good_trusted += r->verdict == YOKE_TRUSTWORTHY;
  }
  bool is_latched = r->is_failed;
  for (size_t i = 0; i < r->n_signals; i++) {
    study_count_signal(t, r, &r->signals[i]);
    is_latched = is_latched || r->signals[i].is_latched;
  }
  t->n_diverged += r->error > 1000;
  t->n_diverged_latched += r->error > 1000 && is_latched;
  t->n_fine += r->error < 0.5;
  t->n_fine_latched += r->error < 0.5 && is_latched;
}

static inline int study_compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// Of band over error; sorts. NaN of none.
static inline double study_median(study_tally* t) {
  if (t->n_ratios == 0) {
    return (double)NAN;
  }
  qsort(t->ratios, t->n_ratios, sizeof *t->ratios, study_compare);
  return t->ratios[t->n_ratios / 2];
}

static inline double study_coverage(const study_tally* t) {
  return t->n_bands == 0 ? (double)NAN : (double)t->n_covered / t->n_bands;
}

// Runs of a verdict in the classes from `first` on.
static inline int study_sum(const study_tally* t, yoke_verdict verdict, int first) {
  int n = 0;
  for (int c = first; c < STUDY_CLASSES; c++) {
    n += t->n[verdict][c];
  }
  return n;
}

static inline int study_total(const study_tally* t) {
  int n = 0;
  for (int v = 0; v < STUDY_VERDICTS; v++) {
    n += study_sum(t, (yoke_verdict)v, 0);
  }
  return n;
}

static inline void study_free_set(study_set* s) {
  for (int m = 0; m < STUDY_METHODS; m++) {
    free(s->methods[m].ratios);
  }
  free(s->all.ratios);
  free(s->bare.ratios);
  free(s->ledger.ratios);
  memset(s, 0, sizeof *s);
}

// ---------------------------------------------------------------------------------------------------------
// families

// A choice by bands alone among the methods that `yoke advise` tries at the given step: is the error of the one with the
// smallest worst band within 1.5 times the smallest error of all? Without `fresh`: what FMUs can do.
static inline void study_choose(study_set* s, const study_run runs[STUDY_METHODS]) {
  static const struct {
    study_method method;
    bool is_fresh;
  } tried[] = {{STUDY_HELD, false},        {STUDY_LINEAR, false},       {STUDY_NEPCE, false},
               {STUDY_INTERPOLATE, false}, {STUDY_GAUSS_SEIDEL, false}, {STUDY_FRESH, true},
               {STUDY_NEPCE_FRESH, true},  {STUDY_AUTO, false}};
  for (int with_fresh = 0; with_fresh < 2; with_fresh++) {
    double best = HUGE_VAL, least = HUGE_VAL, chosen = HUGE_VAL;
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
      const study_run* r = &runs[tried[i].method];
      if (r->n_signals > 0 && (with_fresh || !tried[i].is_fresh)) {
        best = fmin(best, r->error);
        if (r->relative_band < least) {
          least = r->relative_band;
          chosen = r->error;
        }
      }
    }
    *(with_fresh ? &s->n_choices : &s->n_bare_choices) += best < HUGE_VAL;
    *(with_fresh ? &s->n_near : &s->n_bare_near) += best < HUGE_VAL && chosen <= 1.5 * best;
  }
}

// False verdicts, runs without one, and doubt where nothing is right.
static inline void study_note_odd(study_set* s, const study_odd* odd) {
  const bool is_odd = (odd->verdict == YOKE_TRUSTWORTHY && odd->error > 0.05) ||
                      (odd->verdict == YOKE_DOUBTFUL && odd->error > 1) ||
                      (odd->verdict == YOKE_WRONG && odd->error <= 0.05) ||
                      odd->verdict == YOKE_VERDICT_NONE;
  if (is_odd && s->n_odds < STUDY_ODDS) {
    s->odds[s->n_odds++] = *odd;
  }
}

// All methods on one problem. Returns whether a signal was not covered.
static inline bool study_add(study_set* s, const study_problem* p, study_odd odd) {
  static study_run runs[STUDY_METHODS];
  bool is_uncovered = false;
  memset(runs, 0, sizeof runs);
  for (int m = 0; m < STUDY_METHODS; m++) {
    // one call per exchange: extrapolation has nothing to do
    if ((s->only > 0 && m != s->only - 1) || (m == STUDY_ENERGY && !p->has_bonds) ||
        (p->n_calls == 1 && (m == STUDY_LINEAR || m == STUDY_INTERPOLATE))) {
      continue;
    }
    study_run* r = &runs[m];
    study_judge(p, (study_method)m, r);
    study_count(&s->methods[m], r);
    study_count(&s->all, r);
    if (p->has_bonds) {
      s->ledger.n[r->ledger][study_class(r->error)]++;
    } else {
      study_count(&s->bare, r);
    }
    for (size_t i = 0; i < r->n_signals; i++) {
      is_uncovered =
          is_uncovered || (study_has_band(&r->signals[i]) && !study_is_covered(&r->signals[i]));
    }
    odd.method = (study_method)m;
    odd.n_calls = p->n_calls;
    odd.verdict = r->verdict;
    odd.error = r->error;
    study_note_odd(s, &odd);
  }
  study_choose(s, runs);
  return is_uncovered;
}

static const double study_shares[4] = {0.1, 0.3, 0.9, 3};

// Linear systems of the seeds first .. first + count - 1.
static inline void study_linear(study_set* s, int64_t first, int count, int n_calls) {
  for (int64_t seed = first; seed < first + count; seed++) {
    static loop system;
    bool is_uncovered = false;
    loop_make(&system, seed, study_units(seed));
    for (int k = 0; k < 4; k++) {
      study_problem p;
      study_make_linear(&p, &system, study_shares[k], n_calls);
      const study_odd odd = {.family = "linear", .seed = seed, .share = study_shares[k]};
      is_uncovered = study_add(s, &p, odd) || is_uncovered;
      study_free(&p);
    }
    s->n_systems++;
    s->n_uncovered += is_uncovered;
  }
}

static inline void study_pairs(study_set* s, int64_t first, int count) {
  for (int64_t seed = first; seed < first + count; seed++) {
    pair system;
    bool is_uncovered = false;
    pair_make(&system, seed);
    for (int k = 0; k < 2; k++) {
      study_problem p;
      const double share = k == 0 ? 0.05 : 0.2;
      study_make_pair(&p, &system, share);
      const study_odd odd = {.family = "pair", .seed = seed, .share = share};
      is_uncovered = study_add(s, &p, odd) || is_uncovered;
      study_free(&p);
    }
    s->n_systems++;
    s->n_uncovered += is_uncovered;
  }
}

// top: folder of the source tree
static inline void study_circuit(study_set* s, const char* top) {
  static const int micros[] = {50, 200, 500, 1000};
  for (size_t k = 0; k < sizeof micros / sizeof micros[0]; k++) {
    study_problem p;
    study_make_rectifier(&p, top, micros[k]);
    const study_odd odd = {.family = "rectifier", .seed = micros[k]};
    s->n_uncovered += study_add(s, &p, odd);
    s->n_systems++;
    study_free(&p);
  }
}

#endif
