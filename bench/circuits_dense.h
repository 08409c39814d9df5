// A resistor between every two of n nodes, 10 V at 50 Hz at the first and 10 Ohm and 1 uF at the last: few unknowns, many
// elements, a full matrix. Here the whole run counts, from the text to the last step, since nearly all of it is
// reading, ordering and pivoting. It ends at a peak of the source.
#ifndef YOKE_BENCH_CIRCUITS_DENSE_H
#define YOKE_BENCH_CIRCUITS_DENSE_H

#include "circuits_ngspice.h"
#include "circuits_own.h"

enum { DENSE_STEPS = 100, DENSE_RUNS = 5 };

static void dense_create(race_problem* problem, int n_nodes) {
  *problem = (race_problem){.stop = 1.5e-2, .n_signals = 1};
  snprintf(problem->name, sizeof problem->name, "complete graph %d", n_nodes);
  snprintf(problem->signals[0].plus, sizeof problem->signals[0].plus, "n%d", n_nodes);
  const size_t size = 200 + 40 * (size_t)n_nodes * (size_t)n_nodes;
  problem->text = bench_take(size, 1);
  char* text = problem->text;
  size_t n = (size_t)snprintf(text, size, "complete graph\nv1 n1 0 sin(0 10 50)\n");
  for (int i = 1; i <= n_nodes; i++) {
    for (int j = i + 1; j <= n_nodes; j++) {
      n += (size_t)snprintf(text + n, size - n, "r%d_%d n%d n%d %d\n", i, j, i, j,
                            100 + (7 * i + 13 * j) % 97);
    }
  }
  snprintf(text + n, size - n, "rload n%d 0 10\nc1 n%d 0 1u\n", n_nodes, n_nodes);
}

typedef struct dense_run {
  double cpu;   // [s]
  double last;  // voltage at the end [V]
} dense_run;

static dense_run dense_own(const race_problem* problem) {
  const own_settings settings = {.n_steps = DENSE_STEPS};
  const int64_t start = yoke__os_cpu_ns();
  yoke_network* network = own_read(problem);
  yoke_circuit* circuit = own_create(problem, network, &settings);
  uint32_t taps[MAX_SIGNALS][2];
  double points[DENSE_STEPS * MAX_SIGNALS];
  own_taps(network, problem, taps);
  const int64_t n = own_steps(circuit, problem, DENSE_STEPS, taps, points);
  yoke__circuit_destroy(&circuit);
  yoke__network_destroy(&network);
  const double cpu = 1e-9 * (double)(yoke__os_cpu_ns() - start);
  const size_t last = (DENSE_STEPS - 1) * (size_t)MAX_SIGNALS;
  return (dense_run){cpu, n == DENSE_STEPS ? points[last] : (double)NAN};
}

#if YOKE_HAVE_NGSPICE
static dense_run dense_ngspice(const race_problem* problem, const ngspice_log* log) {
  const ngspice_settings settings = {
      .step = problem->stop / DENSE_STEPS, .reltol = 1e-3, .method = "trap"};
  char command[120];
  snprintf(command, sizeof command, "tran %.9g %.9g 0 %.9g uic", settings.step, problem->stop,
           settings.step);
  dense_run run = {.last = (double)NAN};
  const int64_t start = yoke__os_cpu_ns();
  bool is_done = !log->has_exited && ngspice_load(problem, &settings);
  if (is_done) {
    ngspice_save(problem);
    is_done = ngspice_command(command);
  }
  if (!log->has_exited) {
    int n = 0;
    const double* v = is_done ? ngspice_vector(problem->signals[0].plus, &n) : NULL;
    run.last = v != NULL && n > 0 ? v[n - 1] : (double)NAN;
    ngspice_command("destroy all");
    ngspice_command("remcirc");
  }
  run.cpu = 1e-9 * (double)(yoke__os_cpu_ns() - start);
  return run;
}
#endif

#endif
