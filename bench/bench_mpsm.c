// mpsm with models identified while running, against held and extrapolated signals and nepce: 200 random linear systems
// of two or three units in a loop, each stable as a whole (bench/mpsm_loop.h), without and with noise of 1 % on all outputs.
// mpsm: as published (form: published, level: end). mpsm*: with its defaults, form: memory and level: mean.
// Prints how often each is at least as accurate as the best of the others, how often worse, and every system that is stable with
// held signals and diverges with one of them.
//
//   bench_mpsm [N [FIRST]]     N systems from seed FIRST on (200 from 50001)
#include <stdio.h>

#include "bench/mpsm_loop.h"

static const char* const names[LOOP_RIVALS] = {"held", "linear", "nepce", "mpsm", "mpsm*"};

// beyond what an error can mean
#define DIVERGED 1e3

// One way to run mpsm against the others.
typedef struct tally {
  int n_good, n_worse, n_stable, n_lost, n_saved;
  int n_better[LOOP_MPSM];  // at least as accurate as each of them
  double log_gain;          // sum of log(held / mpsm) over systems that are stable with both
  int n_both;
} tally;

typedef struct study {
  double noise;
  int n_systems, n_stable[LOOP_MPSM];
  tally ways[LOOP_RIVALS - LOOP_MPSM];
} study;

static void count_way(tally* t, uint64_t seed, const char* name, double noise, double mpsm,
                      const double error[]) {
  const double held = error[LOOP_HELD];
  const bool is_stable = mpsm < DIVERGED, is_held = held < DIVERGED;
  double best = HUGE_VAL;
  for (int r = 0; r < LOOP_MPSM; r++) {
    best = fmin(best, error[r]);
    t->n_better[r] += is_stable && mpsm <= error[r];
  }
  t->n_stable += is_stable;
  t->n_good += mpsm <= best && is_stable;
  t->n_worse += mpsm > best;
  t->n_saved += is_stable && !is_held;
  if (is_stable && is_held) {
    t->log_gain += log(held / mpsm);
    t->n_both++;
  }
  if (is_held && !is_stable) {
    t->n_lost++;
    printf("seed %llu%s: stable when held (%.3g), diverges with %s\n", (unsigned long long)seed,
           noise > 0 ? ", with noise" : "", held, name);
  }
}

static void count(study* s, uint64_t seed, const double error[LOOP_RIVALS]) {
  s->n_systems++;
  for (int r = 0; r < LOOP_MPSM; r++) {
    s->n_stable[r] += error[r] < DIVERGED;
  }
  for (int r = LOOP_MPSM; r < LOOP_RIVALS; r++) {
    count_way(&s->ways[r - LOOP_MPSM], seed, names[r], s->noise, error[r], error);
  }
}

static void print_line(const char* text, const int values[4]) {
  printf("  %-50s", text);
  for (int i = 0; i < 4; i++) {
    printf(" %9d", values[i]);
  }
  printf("\n");
}

static void print_study(const study s[2]) {
  const tally* t[] = {&s[0].ways[0], &s[0].ways[1], &s[1].ways[0], &s[1].ways[1]};
  printf("  stable: held %d, linear %d, nepce %d; with 1 %% noise %d, %d, %d\n\n", s[0].n_stable[0],
         s[0].n_stable[1], s[0].n_stable[2], s[1].n_stable[0], s[1].n_stable[1], s[1].n_stable[2]);
  printf("  %-50s %9s %9s %9s %9s\n", "", "mpsm", "mpsm*", "mpsm", "mpsm*");
  printf("  %-50s %19s %19s\n", "", "no noise", "1 % noise");
  printf("  %-50s", "at least as accurate as the best of the others [%]");
  for (int i = 0; i < 4; i++) {
    printf(" %9.1f", 100.0 * t[i]->n_good / s[0].n_systems);
  }
  printf("\n");
#define LINE(text, field)                                                                          \
  print_line(text, (const int[]){t[0]->field, t[1]->field, t[2]->field, t[3]->field})
  LINE("stable", n_stable);
  LINE("at least as accurate as the best of the others", n_good);
  LINE("less accurate than the best of the others", n_worse);
  LINE("at least as accurate as held", n_better[LOOP_HELD]);
  LINE("at least as accurate as linear", n_better[LOOP_LINEAR]);
  LINE("at least as accurate as nepce", n_better[LOOP_NEPCE]);
  LINE("stable with it only, not when held", n_saved);
  LINE("stable when held, diverging with it", n_lost);
#undef LINE
  printf("  %-50s", "error held over its error, geometric mean");
  for (int i = 0; i < 4; i++) {
    printf(" %9.2f", exp(t[i]->log_gain / t[i]->n_both));
  }
  printf("\n");
}

int main(int argc, char** argv) {
  const uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 200;
  const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 50001;
  static loop_result result;
  study studies[2] = {{.noise = 0}, {.noise = 0.01}};
  for (uint64_t seed = first; seed < first + n; seed++) {
    loop s;
    if (!loop_make(&s, seed)) {
      continue;
    }
    for (int i = 0; i < 2; i++) {
      double error[LOOP_RIVALS];
      for (int r = 0; r < LOOP_RIVALS; r++) {
        const loop_course course = {.method = (loop_rival)r, .noise = studies[i].noise};
        loop_run(&s, &course, &result);
        error[r] = result.error;
      }
      count(&studies[i], seed, error);
    }
  }
  if (studies[0].n_systems == 0) {
    fprintf(stderr, "bench_mpsm: no systems; expected a number above 0\n");
    return 2;
  }
  printf("%d systems from seed %llu on\n", studies[0].n_systems, (unsigned long long)first);
  print_study(studies);
  return 0;
}
