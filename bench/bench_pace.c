// Deadlines of a paced loop on this machine. Prints, and judges nothing: the maximum belongs to the machine.
//
//   B-17    a car on the virtual test rig, by the clock at 1 kHz: how late releases were, computing time, late steps
//   B-18    computing time of a cycle: vehicle, coupling, energy indicator and the twin of an inverter; and without the twin
//   paired  empty periods alternate with periods that work for 100 us, so that what the machine does to both is told from what
//           the work does
//
//   bench_pace [SECONDS] [WORK_US] [HERTZ]      SECONDS of B-17 and of the pairs: 60 and 20; HERTZ: of the pairs
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base_os.h"
#include "master/master_pace.h"
#include "yoke/yoke.h"

#define GOAL_LATE_US   200.0  // B-17, p99 of the releases
#define GOAL_STEP_MS   0.5    // B-17, p99.9 of the computing time
#define GOAL_OVERRUNS  0.01   // B-17, percent of the steps
#define GOAL_CYCLE_US  100.0  // B-18, mean
#define GOAL_POINTS    0.2    // paired: misses with work less misses without
#define N_CYCLES       50000  // of B-18
#define SECONDS        60.0
#define SECONDS_PAIRED 20.0

typedef struct half {
  yoke_histogram late, step;
  int64_t n, n_late;
} half;

static void work_for(int64_t ns) {
  const int64_t end = yoke__os_now_ns() + ns;
  while (yoke__os_now_ns() < end) {
    yoke__os_relax();
  }
}

static void print_half(const char* name, const half* h) {
  printf("%-6s %8lld  %7.1f %7.1f %8.1f %9.1f   %7.1f %8.1f %9.1f   %6lld  %6.3f %%\n", name,
         (long long)h->n, yoke__histogram_quantile(&h->late, 0.5) * 1e-3,
         yoke__histogram_quantile(&h->late, 0.99) * 1e-3,
         yoke__histogram_quantile(&h->late, 0.999) * 1e-3, (double)h->late.max * 1e-3,
         yoke__histogram_quantile(&h->step, 0.5) * 1e-3,
         yoke__histogram_quantile(&h->step, 0.999) * 1e-3, (double)h->step.max * 1e-3,
         (long long)h->n_late, 100.0 * (double)h->n_late / (double)(h->n > 0 ? h->n : 1));
}

static void run(yoke_pace* pace, double seconds, int64_t work_ns, half halves[2]) {
  const int64_t n = (int64_t)(seconds * 1e9 / pace->grid.period_ns);
  yoke__pace_start(pace);
  for (int64_t i = 0; i < n; i++) {
    half* h = &halves[i % 2];
    yoke__pace_release(pace);
    const int64_t release = yoke__pace_time(&pace->grid, pace->slot), begin = pace->begin_ns;
    if (i % 2 == 1) {
      work_for(work_ns);
    }
    h->n_late += yoke__pace_end(pace, 1);
    h->n++;
    yoke__histogram_add(&h->late, begin > release ? begin - release : 0);
    yoke__histogram_add(&h->step, pace->end_ns - begin);
  }
}

// ---- B-17, B-18

// The car of scenarios/rig/car.yaml.
#define CAR(head, rig, more)                                                                       \
  "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: %.9g, step: 1e-3" head "}\nunits:\n"             \
  "  rig: " rig "\n  car: {model: car.planar, exchange: fresh}\n" more                             \
  "bonds: {wheel: {action: rig.tau -> car.tau, rate: car.omega -> rig.omega_ref}}\n"
static const char on_rig[] =
    CAR(", pace: {factor: 1, overrun: continue}",
        "{model: rig.bench, with: {latency: 1, cell_noise: 0, pedal: [[0.2, "
        "0], [1.2, 0.35]]}}",
        "");
// one state in place of the rig: what a bench computes beside its bus
#define STAND_IN                                                                                   \
  "{model: state_space, with: {A: [[-10]], B: [[-0.01]], x0: [0.1], inputs: [omega_ref], "         \
  "outputs: [tau]}}"
static const char on_stand_in[] = CAR("", STAND_IN, "");
// the twin of scenarios/rig/twin.yaml, its readings from one sine
static const char with_twin[] =
    CAR("", STAND_IN,
        "  bath: {model: sine, with: {offset: 360, amplitude: 10, frequency: 0.5}}\n"
        "  twin:\n    twin: %s\n    sensors:\n"
        "      t(s1): {from: bath.y, sigma: 0.5}\n      t(s2): {from: bath.y, sigma: 0.5}\n"
        "      t(s3): {from: bath.y, sigma: 0.5}\n"
        "    unknown: {qa: {sd: 208, walk: 150}, qb: {sd: 208, walk: 150}, qc: {sd: 208, walk: "
        "150}}\n");
static const char inverter[] =
    "inverter\n.input qa=208 W\n.input qb=208 W\n.input qc=208 W\n"
    "heat_source Q1 j1 {qa}\nheat_source Q2 j2 {qa}\nheat_source Q3 j3 {qb}\n"
    "heat_source Q4 j4 {qb}\nheat_source Q5 j5 {qc}\nheat_source Q6 j6 {qc}\n"
    "thermal_resistance Rdie1 j1 s1 7.516m\nthermal_resistance Rdie2 j2 s1 7.516m\n"
    "thermal_resistance Rdie3 j3 s2 7.516m\nthermal_resistance Rdie4 j4 s2 7.516m\n"
    "thermal_resistance Rdie5 j5 s3 7.516m\nthermal_resistance Rdie6 j6 s3 7.516m\n"
    "thermal_resistance Rdbc1 s1 silver 30.16m\nthermal_resistance Rdbc2 s2 silver 30.16m\n"
    "thermal_resistance Rdbc3 s3 silver 30.16m\nthermal_resistance Rsp silver heatsink 3.771m\n"
    "thermal_resistance Rhs heatsink fins 12.75m\nthermal_resistance Rw fins coolant 1.713m\n"
    "heat_capacity Cdbc1 s1 1.27 T0=343.15\nheat_capacity Cdbc2 s2 1.27 T0=343.15\n"
    "heat_capacity Cdbc3 s3 1.27 T0=343.15\nheat_capacity Chs heatsink 30.79 T0=343.15\n"
    "heat_capacity Cw fins 114.42 T0=343.15\ntemperature_source Tcoolant coolant 343.15\n"
    ".output t(j1)\n.output t(s1)\n.end\n";

static void need(yoke_status status) {
  if (status < 0) {
    fprintf(stderr, "bench_pace: %s\n", yoke_status_text(status));
    exit(1);
  }
}

// netlist: path of that of the twin; formats without one ignore it.
static void run_system(const char* format, double stop, const char* netlist, yoke_run_info* info,
                       yoke_pace_info* pace) {
  char text[2048];
  yoke_system* system = NULL;
  yoke_simulation* simulation = NULL;
  snprintf(text, sizeof text, format, stop, netlist);
  need(yoke_system_parse(text, strlen(text), "bench.yaml", NULL, &system));
  need(yoke_simulation_create(system, NULL, &simulation));
  need(yoke_simulation_start(simulation));
  need(yoke_simulation_run(simulation, &(yoke_run_settings){.trust = YOKE_TRUST_NONE}, info));
  need(yoke_simulation_get_pace(simulation, pace));
  pace->grade = NULL;  // it goes with the simulation
  yoke_simulation_destroy(&simulation);
  yoke_system_destroy(&system);
}

// Mean computing time of a cycle [us].
static double cycle_us(const char* format, const char* netlist) {
  yoke_run_info info;
  yoke_pace_info none;
  run_system(format, N_CYCLES * 1e-3, netlist, &info, &none);
  return info.wall_s * 1e6 / (double)(info.n_steps > 0 ? info.n_steps : 1);
}

// With the twin; its netlist lies in a file as long as this takes.
static double twin_cycle_us(void) {
  char path[] = "/tmp/bench_pace_XXXXXX";
  const int file = mkstemp(path);
  const size_t n = strlen(inverter);
  const bool is_written = file >= 0 && write(file, inverter, n) == (ssize_t)n;
  if (file >= 0) {
    (void)close(file);
  }
  if (!is_written) {
    fprintf(stderr, "bench_pace: %s cannot be written\n", path);
    exit(1);
  }
  const double us = cycle_us(with_twin, path);
  (void)unlink(path);
  return us;
}

// ---- what is asked for

static void print_row(const char* id, const char* what, double value, double goal,
                      const char* unit) {
  printf("%-6s  %-50s  %10.4g  %10.4g  %-6s  reported only\n", id, what, value, goal, unit);
}

static void print_table(double seconds, double work_us, double points) {
  yoke_run_info info;
  yoke_pace_info pace;
  run_system(on_rig, seconds, "", &info, &pace);
  const double share = 100.0 * (double)pace.n_late / (double)(pace.n_steps > 0 ? pace.n_steps : 1);
  printf("\nB-17: car on the virtual rig, 1 kHz for %g s, SCHED_FIFO %s; B-18: vehicle, coupling, "
         "indicator,\nand the twin of an inverter\n",
         seconds, pace.has_priority ? "granted" : "refused");
  printf("%-6s  %-50s  %10s  %10s\n", "id", "figure", "measured", "goal");
  print_row("B-17", "release behind its grid time, p99", pace.release.p99 * 1e6, GOAL_LATE_US,
            "us");
  print_row("B-17", "computing time of a cycle, p99.9", pace.step.p999 * 1e3, GOAL_STEP_MS, "ms");
  print_row("B-17", "overruns", share, GOAL_OVERRUNS, "%");
  print_row("B-18", "computing time of a cycle, mean", twin_cycle_us(), GOAL_CYCLE_US, "us");
  print_row("B-18", "the same without the twin", cycle_us(on_stand_in, ""), GOAL_CYCLE_US, "us");
  char what[64];
  snprintf(what, sizeof what, "late periods with %g us of work, less empty ones", work_us);
  print_row("paired", what, points, GOAL_POINTS, "points");
}

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? strtod(argv[1], NULL) : SECONDS;
  const double seconds_paired = argc > 1 ? seconds : SECONDS_PAIRED;
  const double work_us = argc > 2 ? strtod(argv[2], NULL) : 100;
  const double hertz = argc > 3 ? strtod(argv[3], NULL) : 1000;
  yoke_pace* pace = yoke__pace_create(0, 0);
  half* halves = calloc(2, sizeof *halves);
  if (pace == NULL || halves == NULL || !(hertz > 0) || !(seconds >= 2e-3)) {
    free(pace);
    free(halves);
    return 1;
  }
  pace->clock = yoke__pace_monotonic;
  pace->grid.period_ns = 1e9 / hertz;
  pace->factor = 1;
  pace->limit = INT64_MAX;
  yoke_realtime_thread thread;
  yoke__realtime_enter(&thread, 0, true);
  const yoke_grant memory = yoke__realtime_lock_memory();
  run(pace, seconds_paired, (int64_t)(work_us * 1e3), halves);
  yoke__realtime_unlock_memory(memory);
  yoke__realtime_leave(&thread);

  printf("pairs at %g Hz for %g s: SCHED_FIFO %s, memory %s, processor %d %s\n", hertz,
         seconds_paired, yoke__grant_words[thread.priority], yoke__grant_words[memory],
         thread.processor, yoke__grant_words[thread.affinity]);
  printf("                   release, us behind its grid time     step, us                     "
         "late\n");
  printf("period  periods      p50     p99    p99.9       max       p50    p99.9       max    "
         "steps   share\n");
  print_half("empty", &halves[0]);
  print_half("work", &halves[1]);
  const double difference =
      100.0 * ((double)halves[1].n_late / (double)(halves[1].n > 0 ? halves[1].n : 1) -
               (double)halves[0].n_late / (double)(halves[0].n > 0 ? halves[0].n : 1));
  printf("longest run of late steps: %lld, missed slots: %lld\n", (long long)pace->longest_run,
         (long long)pace->n_missed);
  print_table(seconds, work_us, difference);
  free(pace);
  free(halves);
  return 0;
}
