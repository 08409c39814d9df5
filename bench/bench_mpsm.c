// mpsm with models identified while running, against held and extrapolated signals and nepce: 200 random linear systems
// of two or three units in a loop, each stable as a whole (bench/mpsm_loop.h), without and with noise of 1 % on all outputs.
// Prints how often it is at least as accurate as the best of the others, how often worse, and every system that is stable with
// held signals and diverges with mpsm.
//
//   bench_mpsm [N [FIRST]]     N systems from seed FIRST on (200 from 50001)
#include <stdio.h>

#include "bench/mpsm_loop.h"

static const char* const names[] = {"held", "linear", "nepce", "mpsm"};

// beyond what an error can mean
#define DIVERGED 1e3

typedef struct tally {
  double noise;
  int n_systems, n_good, n_worse, n_stable[LOOP_RIVALS], n_lost, n_saved;
  int n_better[LOOP_MPSM];  // mpsm at least as accurate as each of them
  double log_gain;          // sum of log(held / mpsm) over systems that are stable with both
  int n_both;
} tally;

static void count(tally* t, uint64_t seed, const double error[LOOP_RIVALS]) {
  const double mpsm = error[LOOP_MPSM], held = error[LOOP_HELD];
  const bool is_stable = mpsm < DIVERGED, is_held = held < DIVERGED;
  double best = HUGE_VAL;
  for (int r = 0; r < LOOP_RIVALS; r++) {
    t->n_stable[r] += error[r] < DIVERGED;
    best = r == LOOP_MPSM ? best : fmin(best, error[r]);
    if (r != LOOP_MPSM) {
      t->n_better[r] += is_stable && mpsm <= error[r];
    }
  }
  t->n_systems++;
  t->n_good += mpsm <= best && is_stable;
  t->n_worse += mpsm > best;
  t->n_saved += is_stable && !is_held;
  if (is_stable && is_held) {
    t->log_gain += log(held / mpsm);
    t->n_both++;
  }
  if (is_held && !is_stable) {
    t->n_lost++;
    printf("seed %llu%s: stable when held (%.3g), diverges with mpsm\n", (unsigned long long)seed,
           t->noise > 0 ? ", with noise" : "", held);
  }
}

static void print_tallies(const tally t[2]) {
  printf("%-54s %9s %9s\n", "", "no noise", "1 % noise");
  for (int r = 0; r < LOOP_RIVALS; r++) {
    printf("  stable: %-44s %9d %9d\n", names[r], t[0].n_stable[r], t[1].n_stable[r]);
  }
  printf("  mpsm at least as accurate as the best of the others  %9d %9d\n", t[0].n_good,
         t[1].n_good);
  printf("    share [%%]                                          %9.1f %9.1f\n",
         100.0 * t[0].n_good / t[0].n_systems, 100.0 * t[1].n_good / t[1].n_systems);
  printf("  mpsm less accurate than the best of the others       %9d %9d\n", t[0].n_worse,
         t[1].n_worse);
  for (int r = 0; r < LOOP_MPSM; r++) {
    printf("  mpsm at least as accurate as %-23s %9d %9d\n", names[r], t[0].n_better[r],
           t[1].n_better[r]);
  }
  printf("  error held over error mpsm, where both are stable    %9.2f %9.2f   (geometric mean)\n",
         exp(t[0].log_gain / t[0].n_both), exp(t[1].log_gain / t[1].n_both));
  printf("  stable with mpsm only, not when held                 %9d %9d\n", t[0].n_saved,
         t[1].n_saved);
  printf("  stable when held, diverging with mpsm                %9d %9d\n", t[0].n_lost,
         t[1].n_lost);
}

int main(int argc, char** argv) {
  const uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 200;
  const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 50001;
  static loop_result result;
  tally tallies[2] = {{.noise = 0}, {.noise = 0.01}};
  for (uint64_t seed = first; seed < first + n; seed++) {
    loop s;
    if (!loop_make(&s, seed)) {
      continue;
    }
    for (int i = 0; i < 2; i++) {
      double error[LOOP_RIVALS];
      for (int r = 0; r < LOOP_RIVALS; r++) {
        const loop_course course = {.method = (loop_rival)r, .noise = tallies[i].noise};
        loop_run(&s, &course, &result);
        error[r] = result.error;
      }
      count(&tallies[i], seed, error);
    }
  }
  if (tallies[0].n_systems == 0) {
    fprintf(stderr, "bench_mpsm: no systems; expected a number above 0\n");
    return 2;
  }
  printf("%d systems from seed %llu on\n", tallies[0].n_systems, (unsigned long long)first);
  print_tallies(tallies);
  return 0;
}
