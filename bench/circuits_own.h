// The own solver on a problem of the races: netlist text -> network -> fixed steps, with the signals recorded.
#ifndef YOKE_BENCH_CIRCUITS_OWN_H
#define YOKE_BENCH_CIRCUITS_OWN_H

#include <stdatomic.h>

#include "base/base_os.h"
#include "circuit/circuit_solver.h"
#include "circuit/netlist/circuit_netlist.h"
#include "circuits_result.h"

typedef struct own_settings {
  yoke_circuit_formulation formulation;
  yoke_circuit_method method;
  int64_t n_steps;
  double tolerance;  // of the iteration; 0: the default
  int iterations;    // fixed number; 0: until converged
} own_settings;

typedef struct own_counts {
  uint64_t n_repivots, n_unconverged, n_iterations, n_stages;
  uint32_t max_iterations;
  int64_t n_heap_calls;  // after start
  double setup;          // create and start [s]
} own_counts;

// ---------------------------------------------------------------------------------------------------------
// heap calls are counted by functions in front of glibc's, also those of shared libraries

static atomic_llong n_heap_calls;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_HEAP_COUNT 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_HEAP_COUNT 0
#endif
#endif
#if !defined(HAS_HEAP_COUNT) && defined(__GLIBC__)
#define HAS_HEAP_COUNT 1
#endif

#if HAS_HEAP_COUNT
// NOLINTBEGIN(bugprone-reserved-identifier,readability-inconsistent-declaration-parameter-name): glibc's own names
extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t n, size_t size);
extern void* __libc_realloc(void* p, size_t size);
extern void __libc_free(void* p);

YOKE_API void* malloc(size_t size) {
  atomic_fetch_add_explicit(&n_heap_calls, 1, memory_order_relaxed);
  return __libc_malloc(size);
}
YOKE_API void* calloc(size_t n, size_t size) {
  atomic_fetch_add_explicit(&n_heap_calls, 1, memory_order_relaxed);
  return __libc_calloc(n, size);
}
YOKE_API void* realloc(void* p, size_t size) {
  atomic_fetch_add_explicit(&n_heap_calls, 1, memory_order_relaxed);
  return __libc_realloc(p, size);
}
YOKE_API void free(void* p) {
  atomic_fetch_add_explicit(&n_heap_calls, 1, memory_order_relaxed);
  __libc_free(p);
}
// NOLINTEND(bugprone-reserved-identifier,readability-inconsistent-declaration-parameter-name)
#endif

// ---------------------------------------------------------------------------------------------------------
// runs

static yoke_network* own_read(const race_problem* problem) {
  yoke_messages messages = {0};
  yoke_network* network = NULL;
  const yoke_netlist_settings settings = {.path = problem->name};
  const yoke_status status =
      yoke__netlist_read_text(problem->text, strlen(problem->text), &settings, &messages, &network);
  if (status < 0) {
    yoke__messages_print(&messages, stderr);
    exit(1);
  }
  yoke__messages_free(&messages);
  return network;
}

static yoke_circuit* own_create(const race_problem* problem, const yoke_network* network,
                                const own_settings* settings) {
  const yoke_circuit_options options = {.formulation = settings->formulation,
                                        .method = settings->method,
                                        .step = problem->stop / (double)settings->n_steps,
                                        .tolerance = settings->tolerance,
                                        .iterations = settings->iterations};
  yoke_messages messages = {0};
  yoke_circuit* circuit = NULL;
  yoke_status status = yoke__circuit_create(network, &options, &messages, &circuit);
  status = status < 0 ? status : yoke__circuit_start(circuit, 0.0, &messages);
  if (status < 0) {
    yoke__messages_print(&messages, stderr);
    fprintf(stderr, "bench_circuits: %s: %s\n", problem->name, yoke_status_text(status));
    exit(1);
  }
  yoke__messages_free(&messages);
  return circuit;
}

// Where the signals are: nodes plus and minus; ground is node 0.
static void own_taps(const yoke_network* network, const race_problem* problem, uint32_t taps[][2]) {
  for (int s = 0; s < problem->n_signals; s++) {
    const char* minus = problem->signals[s].minus;
    taps[s][0] = yoke__network_find_node(network, problem->signals[s].plus);
    taps[s][1] = minus[0] != '\0' ? yoke__network_find_node(network, minus) : 0;
  }
}

// All steps of a run; the signals go to points. Returns how many were done.
static int64_t own_steps(yoke_circuit* circuit, const race_problem* problem, int64_t n_steps,
                         uint32_t taps[][2], double* points) {
  for (int64_t k = 0; k < n_steps; k++) {
    if (yoke__circuit_step(circuit) < 0) {
      return k;
    }
    double* row = points + k * MAX_SIGNALS;
    for (int s = 0; s < problem->n_signals; s++) {
      row[s] =
          yoke__circuit_voltage(circuit, taps[s][0]) - yoke__circuit_voltage(circuit, taps[s][1]);
    }
  }
  return n_steps;
}

static double own_error(const race_problem* problem, int64_t n_steps, const double* points) {
  race_error error = {.reference = &problem->reference, .n_signals = problem->n_signals};
  for (int64_t k = 0; k < n_steps; k++) {
    error_add(&error, problem->stop * (double)(k + 1) / (double)n_steps, points + k * MAX_SIGNALS);
  }
  return error_rms(&error);
}

static void own_take_counts(const yoke_circuit* circuit, own_counts* counts) {
  yoke_circuit_counts from;
  yoke__circuit_get_counts(circuit, &from);
  counts->n_repivots += from.n_repivots;
  counts->n_unconverged += from.n_unconverged;
  counts->n_iterations += from.n_iterations;
  counts->n_stages += from.n_stages;
  counts->max_iterations =
      from.max_iterations > counts->max_iterations ? from.max_iterations : counts->max_iterations;
}

// Smallest time of n_runs runs from the same start; counts add up over all of them.
static void own_race(const race_problem* problem, const yoke_network* network,
                     const own_settings* settings, int n_runs, race_result* result,
                     own_counts* counts) {
  *result = (race_result){.step = problem->stop / (double)settings->n_steps,
                          .tolerance = settings->tolerance,
                          .cost = 1e30,
                          .n_steps = settings->n_steps};
  snprintf(result->name, sizeof result->name, "%s %s%s",
           yoke__circuit_formulation_names[settings->formulation],
           yoke__circuit_method_names[settings->method], settings->tolerance > 0.0 ? " loose" : "");
  uint32_t taps[MAX_SIGNALS][2];
  own_taps(network, problem, taps);
  double* points = bench_take((size_t)settings->n_steps, MAX_SIGNALS * sizeof(double));
  const int64_t begin = yoke__os_cpu_ns();
  yoke_circuit* circuit = own_create(problem, network, settings);
  counts->setup = 1e-9 * (double)(yoke__os_cpu_ns() - begin);
  for (int run = 0; run < n_runs && !result->is_failed; run++) {
    if (run > 0 && yoke__circuit_start(circuit, 0.0, NULL) < 0) {
      result->is_failed = true;
      break;
    }
    const long long n_before = atomic_load(&n_heap_calls);
    const int64_t start = yoke__os_cpu_ns();
    const int64_t n = own_steps(circuit, problem, settings->n_steps, taps, points);
    const int64_t end = yoke__os_cpu_ns();
    counts->n_heap_calls += atomic_load(&n_heap_calls) - n_before;
    own_take_counts(circuit, counts);
    result->cost = fmin(result->cost, 1e-9 * (double)(end - start) / problem->stop);
    result->is_failed = n < settings->n_steps;
    result->t_reached = (double)n * result->step;
  }
  if (result->is_failed) {
    snprintf(result->note, sizeof result->note, "%.90s", yoke__circuit_reason(circuit)->text);
  } else {
    result->error = own_error(problem, settings->n_steps, points);
  }
  yoke__circuit_destroy(&circuit);
  free(points);
}

// ---------------------------------------------------------------------------------------------------------
// the worst step of a run with a fixed number of iterations

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

typedef struct worst_step {
  double median, max;  // [ns] of the smallest times
  int64_t at;          // step of the largest
} worst_step;

// The same simulation n_runs times; of every step the smallest time counts, since what disturbs the machine does not
// come back at the same step.
static worst_step own_worst_step(const race_problem* problem, const yoke_network* network,
                                 const own_settings* settings, int n_runs) {
  const size_t n = (size_t)settings->n_steps;
  double* least = bench_take(2 * n, sizeof(double));
  yoke_circuit* circuit = own_create(problem, network, settings);
  worst_step worst = {0};
  for (int run = 0; run < n_runs && yoke__circuit_start(circuit, 0.0, NULL) >= 0; run++) {
    for (size_t k = 0; k < n; k++) {
      const int64_t start = yoke__os_now_ns();
      if (yoke__circuit_step(circuit) < 0) {
        fprintf(stderr, "bench_circuits: %s\n", yoke__circuit_reason(circuit)->text);
        exit(1);
      }
      const double ns = (double)(yoke__os_now_ns() - start);
      least[k] = run == 0 || ns < least[k] ? ns : least[k];
    }
  }
  for (size_t k = 0; k < n; k++) {
    worst.at = least[k] > worst.max ? (int64_t)k : worst.at;
    worst.max = fmax(worst.max, least[k]);
  }
  memcpy(least + n, least, n * sizeof *least);
  qsort(least + n, n, sizeof *least, by_value);
  worst.median = least[n + n / 2];
  yoke__circuit_destroy(&circuit);
  free(least);
  return worst;
}

#endif
