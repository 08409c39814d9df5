// The circuit solver against ngspice and SUNDIALS IDA in one run: processor time per simulated second at equal error, on
// the problems of circuits_problem.h, all from the same netlist text. Costs between measured points are read off on
// straight lines in logarithms.
//
//   bench_circuits [--gate] [--quick] [--json]
//
//   --gate    verdicts only; exits 1 if we are not 8 times as fast as ngspice at the error of its step 1e-4, on each problem; if the
//             cost grows by more than 11 from 100 to 1000 loops; if we are slower than IDA at 1e-5 or 1e-7; if a step
//             re-pivots or takes heap; if the worst step of the rectifier takes more than twice the median; if a
//             netlist with a resistor between all of 30 or 100 nodes takes more than 3 times as long as in ngspice
//   --quick   smaller problems and shorter runs, some seconds
// docs/studies/circuits.md says what came out.
#include "base/base_json.h"
#include "circuits_dense.h"
#include "circuits_ida.h"
#include "circuits_ngspice.h"
#include "circuits_own.h"

#define NGSPICE_LIMIT 8.0
#define GROWTH_LIMIT  11.0
#define WORST_LIMIT   2.0
#define DENSE_LIMIT   3.0  // own : ngspice, whole run
#define DENSE_MATCH   1e-2  // [V] of 10: what the steps of both may differ by; 10 is a wrong solution

enum { MAX_POINTS = 16, MAX_VARIANTS = 12, N_TARGETS = 2, N_WORST_RUNS = 20 };
static const double targets[N_TARGETS] = {1e-5, 1e-7};

typedef struct variant {
  own_settings settings;
  race_result points[MAX_POINTS];
  int n_points;
} variant;

// everything about one problem
typedef struct race {
  race_problem problem;
  yoke_network* network;
  race_result ngspice[MAX_POINTS], ida[MAX_POINTS];
  int n_ngspice, n_ida;
  variant variants[MAX_VARIANTS];
  int n_variants;
  own_counts counts;
  double at_ngspice, best_ngspice;  // cost of ngspice at h = 1e-4, ours at its error
  const char* best_ngspice_name;
  double at_ida[N_TARGETS], best_ida[N_TARGETS];
  const char* best_ida_name[N_TARGETS];
} race;

typedef struct bench {
  bool is_gate, is_quick, is_json;
  FILE* out;  // table
  yoke_json json;
  int n_missed;
#if YOKE_HAVE_NGSPICE
  ngspice_log log;
  bool has_ngspice;
#endif
} bench;

static void miss(bench* b, const char* what, double value, double limit) {
  b->n_missed++;
  fprintf(stderr, "bench_circuits: %s: %.3g (limit %.3g)\n", what, value, limit);
}

// ---------------------------------------------------------------------------------------------------------
// measurement

static void race_ngspice(bench* b, race* r) {
#if YOKE_HAVE_NGSPICE
  static const double steps[] = {1e-3, 2e-4, 1e-4, 2e-5};
  const bool is_large = r->problem.n_loops >= 1000;
  for (size_t i = 0; i < sizeof steps / sizeof steps[0] && b->has_ngspice; i++) {
    // the gate needs 1e-4 alone; the smallest step takes minutes on the large ladder
    const bool is_wanted = steps[i] == 1e-4 || (!b->is_quick && (!is_large || steps[i] > 1e-4));
    if (is_wanted) {
      const ngspice_settings settings = {.step = steps[i], .reltol = 1e-3, .method = "trap"};
      ngspice_race(&r->problem, &settings, is_large ? 2 : 5, &b->log, &r->ngspice[r->n_ngspice++]);
    }
  }
#else
  (void)b, (void)r;
#endif
}

static void race_ida(bench* b, race* r) {
#if YOKE_HAVE_SUNDIALS
  static const double tolerances[] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
  for (size_t i = 0; i < sizeof tolerances / sizeof tolerances[0]; i++) {
    race_result* result = &r->ida[r->n_ida++];
    ida_race(&r->problem, r->network, tolerances[i], r->problem.n_loops >= 1000 ? 2 : 5, result);
    if (!result->is_failed && result->error < 0.5 * targets[N_TARGETS - 1]) {
      break;
    }
  }
  (void)b;
#else
  (void)b, (void)r;
#endif
}

// cheapest of our methods at an error
static double best_at(const race* r, double error, const char** name) {
  double best = (double)INFINITY;
  *name = "none";
  for (int i = 0; i < r->n_variants; i++) {
    const variant* v = &r->variants[i];
    const double cost = cost_at(v->points, v->n_points, error);  // infinite without points
    if (cost < best) {
      best = cost;
      *name = v->points[0].name;
    }
  }
  return best;
}

// Smaller and smaller steps, until the last target is met or others have met it for less.
static void race_variant(race* r, variant* v, int64_t n_first, int64_t n_last) {
  const char* name = NULL;
  const double best = best_at(r, targets[N_TARGETS - 1], &name);
  for (int64_t n = n_first; n <= n_last && v->n_points < MAX_POINTS; n *= 2) {
    race_result* result = &v->points[v->n_points++];
    v->settings.n_steps = n;
    own_race(&r->problem, r->network, &v->settings, r->problem.n_loops >= 1000 ? 2 : 5, result,
             &r->counts);
    if (result->cost > 2.0 * best ||
        (!result->is_failed && result->error < 0.5 * targets[N_TARGETS - 1])) {
      break;
    }
  }
}

static void race_own(race* r) {
  static const own_settings all[] = {
      {.method = YOKE_CIRCUIT_TR},
      {.method = YOKE_CIRCUIT_TRBDF2},
      {.method = YOKE_CIRCUIT_BDF2},
      {.method = YOKE_CIRCUIT_BDF3},
      {.method = YOKE_CIRCUIT_ESDIRK3},
      {.method = YOKE_CIRCUIT_ESDIRK4},
      // iterations that stop earlier; linear circuits do not iterate
      {.method = YOKE_CIRCUIT_TR, .tolerance = 1e-5},
      {.method = YOKE_CIRCUIT_BDF3, .tolerance = 1e-5},
      {.method = YOKE_CIRCUIT_ESDIRK3, .tolerance = 1e-5},
      {.method = YOKE_CIRCUIT_ESDIRK4, .tolerance = 1e-5},
  };
  const bool is_ladder = r->problem.n_loops > 0;
  const int64_t n_first = (int64_t)(r->problem.stop * (is_ladder ? 250 : 5000));
  const int64_t n_last = (int64_t)(r->problem.stop * (is_ladder ? 128000 : 320000));
  const size_t n = is_ladder ? 6 : sizeof all / sizeof all[0];
  for (size_t i = 0; i < n; i++) {
    variant* v = &r->variants[r->n_variants++];
    v->settings = all[i];
    race_variant(r, v, n_first, n_last);
  }
}

static void compare_costs(race* r) {
  r->at_ngspice = r->best_ngspice = (double)NAN;
  r->best_ngspice_name = "none";
  for (int i = 0; i < r->n_ngspice; i++) {
    const race_result* result = &r->ngspice[i];
    if (result->step == 1e-4 && !result->is_failed) {
      r->at_ngspice = result->cost;
      r->best_ngspice = best_at(r, result->error, &r->best_ngspice_name);
    }
  }
  for (int i = 0; i < N_TARGETS; i++) {
    r->at_ida[i] = cost_at(r->ida, r->n_ida, targets[i]);
    r->best_ida[i] = best_at(r, targets[i], &r->best_ida_name[i]);
  }
}

// ---------------------------------------------------------------------------------------------------------
// tables

static void print_result(bench* b, const race_result* result) {
  char setting[32];
  if (result->step > 0.0) {
    snprintf(setting, sizeof setting, "h %.3g", result->step);
  } else {
    snprintf(setting, sizeof setting, "rtol %.0e", result->tolerance);
  }
  if (result->is_failed) {
    fprintf(b->out, "  %-20s %-12s stops at t = %.4g s%s%s\n", result->name, setting,
            result->t_reached, result->note[0] != '\0' ? ": " : "", result->note);
  } else {
    fprintf(b->out, "  %-20s %-12s %8.1e  %10.3e  %8lld\n", result->name, setting, result->error,
            result->cost, (long long)result->n_steps);
  }
}

static void json_results(yoke_json* json, const char* key, const race_result results[], int n) {
  yoke__json_begin_array(json, key);
  for (int i = 0; i < n; i++) {
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", results[i].name);
    yoke__json_number(json, "step", results[i].step);
    yoke__json_number(json, "tolerance", results[i].tolerance);
    yoke__json_number(json, "error", results[i].is_failed ? (double)NAN : results[i].error);
    yoke__json_number(json, "cost", results[i].cost);
    yoke__json_integer(json, "steps", results[i].n_steps);
    yoke__json_boolean(json, "failed", results[i].is_failed);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

static void print_table(bench* b, const race* r) {
  fprintf(b->out, "  %-20s %-12s %8s  %10s  %8s\n", "simulator", "setting", "error", "CPU s/s",
          "steps");
  for (int i = 0; i < r->n_ngspice; i++) {
    print_result(b, &r->ngspice[i]);
  }
  for (int i = 0; i < r->n_ida; i++) {
    print_result(b, &r->ida[i]);
  }
  for (int i = 0; i < r->n_variants; i++) {
    for (int k = 0; k < r->variants[i].n_points; k++) {
      print_result(b, &r->variants[i].points[k]);
    }
  }
}

// a gate wants the verdicts alone
static void print_race(bench* b, const race* r) {
  fprintf(b->out, "\n%s, %g s; reference good to %.0e\n", r->problem.name, r->problem.stop,
          r->problem.reference.self_check);
  if (!b->is_gate) {
    print_table(b, r);
  }
  fprintf(b->out, "  heap calls in steps %lld, re-pivots %llu, stages not converged %llu of %llu\n",
          (long long)r->counts.n_heap_calls, (unsigned long long)r->counts.n_repivots,
          (unsigned long long)r->counts.n_unconverged, (unsigned long long)r->counts.n_stages);
}

static void json_race(yoke_json* json, const race* r) {
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "problem", r->problem.name);
  yoke__json_number(json, "stop", r->problem.stop);
  json_results(json, "ngspice", r->ngspice, r->n_ngspice);
  json_results(json, "ida", r->ida, r->n_ida);
  yoke__json_begin_array(json, "own");
  for (int i = 0; i < r->n_variants; i++) {
    yoke__json_begin_object(json, NULL);
    json_results(json, "points", r->variants[i].points, r->variants[i].n_points);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  yoke__json_number(json, "ngspice_ratio", r->at_ngspice / r->best_ngspice);
  yoke__json_string(json, "ngspice_method", r->best_ngspice_name);
  yoke__json_begin_array(json, "ida_ratio");
  for (int i = 0; i < N_TARGETS; i++) {
    yoke__json_number(json, NULL, r->at_ida[i] / r->best_ida[i]);
  }
  yoke__json_end_array(json);
  yoke__json_integer(json, "heap_calls", r->counts.n_heap_calls);
  yoke__json_integer(json, "repivots", (int64_t)r->counts.n_repivots);
  yoke__json_end_object(json);
}

// ---------------------------------------------------------------------------------------------------------
// verdicts

static void judge_race(bench* b, const race* r) {
  char what[96];
  const double ratio = r->at_ngspice / r->best_ngspice;
  if (!isnan(ratio)) {
    fprintf(b->out, "  ngspice : own at the error of ngspice h = 1e-4: %.1fx (%s; limit %g)\n",
            ratio, r->best_ngspice_name, NGSPICE_LIMIT);
  }
  if (r->n_ngspice > 0 && !(ratio >= NGSPICE_LIMIT)) {
    snprintf(what, sizeof what, "%s: times as fast as ngspice", r->problem.name);
    miss(b, what, ratio, NGSPICE_LIMIT);
  }
  for (int i = 0; i < N_TARGETS && r->n_ida > 0; i++) {
    if (isinf(r->at_ida[i])) {
      fprintf(b->out, "  IDA : own at %.0e: IDA does not get there, own %.3e s/s (%s)\n",
              targets[i], r->best_ida[i], r->best_ida_name[i]);
    } else {
      fprintf(b->out, "  IDA : own at %.0e: %.1fx (%.3e and %.3e s/s, %s; limit 1)\n", targets[i],
              r->at_ida[i] / r->best_ida[i], r->at_ida[i], r->best_ida[i], r->best_ida_name[i]);
    }
    if (!(r->best_ida[i] <= r->at_ida[i])) {
      snprintf(what, sizeof what, "%s at %.0e: times as fast as IDA", r->problem.name, targets[i]);
      miss(b, what, r->at_ida[i] / r->best_ida[i], 1.0);
    }
  }
  if (r->counts.n_heap_calls > 0 || r->counts.n_repivots > 0) {
    snprintf(what, sizeof what, "%s: heap calls and re-pivots in steps", r->problem.name);
    miss(b, what, (double)r->counts.n_heap_calls + (double)r->counts.n_repivots, 0.0);
  }
}

// Least time of a step over batches that last alike for both sizes and come by turns, so that both meet the machine in the
// same moods. Returns large over small.
static double growth_of(const race* small, const race* large, yoke_circuit_method method) {
  enum { N_BATCHES = 60, N_SMALL = 1000, N_LARGE = 100 };
  const own_settings settings = {.method = method, .n_steps = 10000};
  yoke_circuit* circuits[2] = {own_create(&small->problem, small->network, &settings),
                               own_create(&large->problem, large->network, &settings)};
  static const int n_steps[2] = {N_SMALL, N_LARGE};
  double least[2] = {1e30, 1e30};
  for (int batch = 0; batch < 2 * N_BATCHES; batch++) {
    const int which = batch % 2;
    const int64_t start = yoke__os_cpu_ns();
    for (int k = 0; k < n_steps[which]; k++) {
      if (yoke__circuit_step(circuits[which]) < 0) {
        return (double)NAN;
      }
    }
    least[which] = fmin(least[which], (double)(yoke__os_cpu_ns() - start) / n_steps[which]);
  }
  yoke__circuit_destroy(&circuits[0]);
  yoke__circuit_destroy(&circuits[1]);
  return least[1] / least[0];
}

static void judge_growth(bench* b, const race* small, const race* large) {
  static const yoke_circuit_method methods[] = {YOKE_CIRCUIT_TR, YOKE_CIRCUIT_TRBDF2,
                                                YOKE_CIRCUIT_ESDIRK4};
  fprintf(b->out, "\n");
  yoke__json_begin_object(&b->json, "growth");
  for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
    const char* name = yoke__circuit_method_names[methods[i]];
    const double growth = growth_of(small, large, methods[i]);
    fprintf(b->out, "cost of a step from 100 to 1000 loops, %s: %.2fx (limit %g)\n", name, growth,
            GROWTH_LIMIT);
    yoke__json_number(&b->json, name, growth);
    if (!(growth <= GROWTH_LIMIT)) {
      miss(b, "growth from 100 to 1000 loops", growth, GROWTH_LIMIT);
    }
  }
  yoke__json_end_object(&b->json);
}

static void judge_worst_step(bench* b, const race* r) {
  const own_settings settings = {.method = YOKE_CIRCUIT_TRBDF2, .n_steps = 2000, .iterations = 4};
  worst_step worst = own_worst_step(&r->problem, r->network, &settings, N_WORST_RUNS);
  const double ratio = worst.max / worst.median;
  fprintf(b->out,
          "worst step of the rectifier, 4 iterations: %.0f ns at step %lld, median %.0f ns: %.2fx "
          "(limit %g)\n",
          worst.max, (long long)worst.at, worst.median, ratio, WORST_LIMIT);
  yoke__json_number(&b->json, "worst_step_ratio", ratio);
  if (!(ratio <= WORST_LIMIT)) {
    miss(b, "worst step over median", ratio, WORST_LIMIT);
  }
}

// ---------------------------------------------------------------------------------------------------------
// without leaks: the direct-current side floats whenever all diodes block

static int count_failed(const race_result results[], int n) {
  int n_failed = 0;
  for (int i = 0; i < n; i++) {
    n_failed += results[i].is_failed;
  }
  return n_failed;
}

static void race_floating_own(race* r) {
  static const yoke_circuit_method methods[] = {YOKE_CIRCUIT_TR, YOKE_CIRCUIT_TRBDF2,
                                                YOKE_CIRCUIT_BDF3, YOKE_CIRCUIT_ESDIRK4};
  static const int64_t n_steps[] = {1000, 2000, 20000};
  // until converged, and with a fixed number of iterations
  for (int i = 0; i < 8; i++) {
    variant* v = &r->variants[r->n_variants++];
    v->settings.method = methods[i / 2];
    v->settings.iterations = i % 2 == 0 ? 0 : 6;
    for (int k = 0; k < 3; k++) {
      v->settings.n_steps = n_steps[k];
      race_result* result = &v->points[v->n_points++];
      own_race(&r->problem, r->network, &v->settings, 1, result, &r->counts);
      snprintf(result->name, sizeof result->name, "%s%s",
               yoke__circuit_method_names[v->settings.method], i % 2 == 0 ? "" : ", 6 it.");
    }
  }
}

static void judge_floating(bench* b, const race* r) {
  int n_failed = 0, n_own = 0;
  double worst = 0.0;
  for (int i = 0; i < r->n_variants; i++) {
    const variant* v = &r->variants[i];
    n_own += v->n_points;
    n_failed += count_failed(v->points, v->n_points);
    for (int k = 0; k < v->n_points; k++) {
      worst = fmax(worst, v->points[k].error);
    }
  }
  fprintf(
      b->out,
      "  stopped before the end: ngspice %d of %d settings, IDA %d of %d, own %d of %d (largest "
      "error %.1e)\n",
      count_failed(r->ngspice, r->n_ngspice), r->n_ngspice, count_failed(r->ida, r->n_ida),
      r->n_ida, n_failed, n_own, worst);
  if (n_failed > 0) {
    miss(b, "rectifier without leaks: own runs that stop", n_failed, 0.0);
  }
}

static void race_floating(bench* b) {
  race* r = bench_take(1, sizeof *r);
  rectifier_create(&r->problem, false, 0.2);
  r->network = own_read(&r->problem);
#if YOKE_HAVE_NGSPICE
  static const double steps[] = {2e-4, 1e-4, 1e-5}, reltols[] = {1e-3, 1e-4, 1e-6};
  for (int i = 0; i < 9 && b->has_ngspice; i++) {
    const ngspice_settings settings = {
        .step = steps[i / 3], .reltol = reltols[i % 3], .method = "trap"};
    ngspice_race(&r->problem, &settings, 1, &b->log, &r->ngspice[r->n_ngspice++]);
  }
#endif
  race_ida(b, r);
  race_floating_own(r);
  print_race(b, r);
  judge_floating(b, r);
  json_race(&b->json, r);
  yoke__network_destroy(&r->network);
  problem_free(&r->problem);
  free(r);
}

// ---------------------------------------------------------------------------------------------------------
// many elements, full matrices

static void race_dense(bench* b, int n_nodes) {
  race_problem problem;
  char what[96];
  dense_create(&problem, n_nodes);
  double own = (double)INFINITY, other = (double)INFINITY, apart = 0.0;
  for (int i = 0; i < DENSE_RUNS; i++) {
    const dense_run mine = dense_own(&problem);
    own = fmin(own, mine.cpu);
#if YOKE_HAVE_NGSPICE
    if (b->has_ngspice) {
      const dense_run theirs = dense_ngspice(&problem, &b->log);
      other = fmin(other, theirs.cpu);
      apart = fabs(mine.last - theirs.last);
    }
#endif
  }
  fprintf(b->out, "%s, whole run: own %.3g s", problem.name, own);
  if (isfinite(other)) {
    fprintf(b->out, ", ngspice %.3g s: own : ngspice %.2fx (limit %g), %.1e V apart", other,
            own / other, DENSE_LIMIT, apart);
  }
  fprintf(b->out, "\n");
  yoke__json_begin_object(&b->json, NULL);
  yoke__json_string(&b->json, "problem", problem.name);
  yoke__json_number(&b->json, "own", own);
  yoke__json_number(&b->json, "ngspice", other);
  yoke__json_end_object(&b->json);
  if (isfinite(other) && !(own <= DENSE_LIMIT * other)) {
    snprintf(what, sizeof what, "%s: times the processor time of ngspice", problem.name);
    miss(b, what, own / other, DENSE_LIMIT);
  }
  if (!(apart <= DENSE_MATCH)) {
    snprintf(what, sizeof what, "%s: volts apart from ngspice", problem.name);
    miss(b, what, apart, DENSE_MATCH);
  }
  problem_free(&problem);
}

// ---------------------------------------------------------------------------------------------------------

static void run_race(bench* b, race* r) {
  r->network = own_read(&r->problem);
  race_own(r);
  race_ida(b, r);
  race_ngspice(b, r);
  compare_costs(r);
  print_race(b, r);
  judge_race(b, r);
  json_race(&b->json, r);
  fflush(b->out);
}

static void run_all(bench* b) {
  static const int sizes[] = {10, 100, 1000};
  const int n_ladders = b->is_quick ? 2 : 3;
  race* races = bench_take(4, sizeof *races);
  yoke__json_begin_array(&b->json, "problems");
  for (int i = 0; i < n_ladders; i++) {
    ladder_create(&races[i].problem, sizes[i], b->is_quick ? 0.2 : 1.0);
    run_race(b, &races[i]);
  }
  rectifier_create(&races[3].problem, true, 0.2);
  run_race(b, &races[3]);
  race_floating(b);
  yoke__json_end_array(&b->json);
  if (n_ladders == 3) {
    judge_growth(b, &races[1], &races[2]);
  }
  judge_worst_step(b, &races[3]);
  yoke__json_begin_array(&b->json, "dense");
  race_dense(b, 30);
  race_dense(b, 100);
  yoke__json_end_array(&b->json);
  for (int i = 0; i < 4; i++) {
    if (races[i].network != NULL) {
      yoke__network_destroy(&races[i].network);
      problem_free(&races[i].problem);
    }
  }
  free(races);
}

int main(int argc, char** argv) {
  bench b = {.out = stdout};
  for (int i = 1; i < argc; i++) {
    b.is_gate |= strcmp(argv[i], "--gate") == 0;
    b.is_quick |= strcmp(argv[i], "--quick") == 0;
    b.is_json |= strcmp(argv[i], "--json") == 0;
  }
  // the table goes aside when the standard output is for JSON
  b.out = b.is_json ? stderr : stdout;
  yoke__os_float_mode_set();
#if YOKE_HAVE_NGSPICE
  b.has_ngspice = ngspice_open(&b.log);
#else
  fprintf(b.out, "skipped: ngspice, its library is missing (Debian package libngspice0-dev)\n");
#endif
#if !YOKE_HAVE_SUNDIALS
  fprintf(b.out, "skipped: IDA, SUNDIALS is missing (Debian package libsundials-dev)\n");
#endif
  yoke__json_begin_document(&b.json, "bench-circuits");
  run_all(&b);
  yoke__json_end_object(&b.json);
  if (b.is_json && yoke__json_finish(&b.json) >= 0) {
    fputs(b.json.text.bytes, stdout);
  }
  yoke__json_free(&b.json);
  return b.is_gate && b.n_missed > 0 ? 1 : 0;
}
