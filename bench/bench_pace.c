// Deadlines of a paced loop on this machine: empty periods alternate with periods that work for 100 us, so that what the
// machine does to both is told from what the work does. Prints, and judges nothing: the maximum belongs to the machine.
//
//   bench_pace [SECONDS] [WORK_US] [HERTZ]
#include <stdio.h>
#include <stdlib.h>

#include "base/base_os.h"
#include "master/master_pace.h"

#define GOAL 0.2  // points: misses with work less misses without

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

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? strtod(argv[1], NULL) : 10;
  const double work_us = argc > 2 ? strtod(argv[2], NULL) : 100;
  const double hertz = argc > 3 ? strtod(argv[3], NULL) : 1000;
  yoke_pace* pace = yoke__pace_create(0, 0);
  half* halves = calloc(2, sizeof *halves);
  if (pace == NULL || halves == NULL || !(hertz > 0)) {
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
  run(pace, seconds, (int64_t)(work_us * 1e3), halves);
  yoke__realtime_unlock_memory(memory);
  yoke__realtime_leave(&thread);

  printf("%g Hz for %g s: SCHED_FIFO %s, memory %s, processor %d %s\n", hertz, seconds,
         yoke__grant_words[thread.priority], yoke__grant_words[memory], thread.processor,
         yoke__grant_words[thread.affinity]);
  printf("                   release, us behind its grid time     step, us                     "
         "late\n");
  printf("period  periods      p50     p99    p99.9       max       p50    p99.9       max    "
         "steps   share\n");
  print_half("empty", &halves[0]);
  print_half("work", &halves[1]);
  const double difference =
      100.0 * ((double)halves[1].n_late / (double)(halves[1].n > 0 ? halves[1].n : 1) -
               (double)halves[0].n_late / (double)(halves[0].n > 0 ? halves[0].n : 1));
  printf("%g us of work: %+.3f points of late steps (goal: at most %g)\n", work_us, difference,
         GOAL);
  printf("longest run of late steps: %lld, missed slots: %lld\n", (long long)pace->longest_run,
         (long long)pace->n_missed);
  free(pace);
  free(halves);
  return 0;
}
