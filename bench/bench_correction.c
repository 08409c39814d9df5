// What the energy correction is worth on systems it was not tuned on, and how often the ledger's verdict is right. Prints tables.
//
//   bench_correction [SEED]    SEED: of the fresh family; default: the clock
//
// The seeds 424242 .. 424248, the starts and the manoeuvres were fixed before their first run. Nothing was tuned on
// them, with one reservation: the manoeuvres marked "seen" were looked at when `clip: needed` was chosen among other ideas (it has no
// number to tune). Gains are errors without over errors with correction, so above 1 is better; worst is the largest error
// with over that without. Definitions of the errors: bench/correction_study.h. The tables of docs/studies/energy.md and
// docs/studies/ledger.md come from here.
#include <time.h>

#include "bench/correction_study.h"

enum { N_SYSTEMS = 200, N_METHODS = 2 };
static const char* const methods[N_METHODS] = {"method: energy", "method: energy, clip: needed"};

// ---------------------------------------------------------------------------------------------------------
// families of oscillators

typedef study_problem (*maker)(int64_t seed, int i, double share);

typedef struct tally {
  double energy[N_SYSTEMS], motion[N_SYSTEMS];  // errors with correction; gains of the motion
  int n_worse_energy, n_worse_motion, n_diverged;
} tally;

static void count(tally* t, int i, const study_outcome* without, const study_outcome* with) {
  t->energy[i] = with->energy;
  // both lost: no difference
  const bool is_lost = without->is_diverged && with->is_diverged;
  t->motion[i] = is_lost ? 1 : with->is_diverged ? 0 : without->motion / with->motion;
  t->n_worse_energy += with->energy > without->energy;
  t->n_worse_motion += t->motion[i] < 1;
  t->n_diverged += with->is_diverged && !without->is_diverged;
}

// n_methods: 1 where mu is 0.5 and both are the same
static void study_family(const char* name, maker make, int64_t seed, double share, int n_methods) {
  static double without_energy[N_SYSTEMS];
  static tally tallies[N_METHODS];
  memset(tallies, 0, sizeof tallies);
  for (int i = 0; i < N_SYSTEMS; i++) {
    const study_problem p = make(seed, i, share);
    study_reference r = study_solve(&p);
    const study_outcome without = study_run(&p, &r, "method: hold");
    without_energy[i] = without.energy;
    for (int m = 0; m < n_methods; m++) {
      const study_outcome with = study_run(&p, &r, methods[m]);
      count(&tallies[m], i, &without, &with);
    }
    study_free(&r);
  }
  for (int m = 0; m < n_methods; m++) {
    tally* t = &tallies[m];
    const double before = study_quantile(without_energy, N_SYSTEMS, 0.5);
    const double half = study_quantile(t->energy, N_SYSTEMS, 0.5);
    const double tail = study_quantile(t->energy, N_SYSTEMS, 0.95);
    const double low = study_quantile(t->motion, N_SYSTEMS, 0.05);
    const double gain = study_quantile(t->motion, N_SYSTEMS, 0.5);
    printf("%-9s %7" PRId64 " %5.2f  %-6s  %6.3f %6.3f %7.3f %4d  %5.2f %6.2f %6.2f %4d  %3d\n",
           name, seed, share, m == 0 ? "change" : "needed", before, half, tail, t->n_worse_energy,
           low, gain, 1 / t->motion[0], t->n_worse_motion, t->n_diverged);
  }
}

static void study_families(int64_t fresh) {
  printf("Random oscillators, %d each, 5 s, H = share / largest frequency\n", N_SYSTEMS);
  printf("                                  energy error              gain of the motion\n");
  printf(
      "family       seed share  clip    without  with    95 %% worse   5 %%    50 %%  worst worse  "
      "only with it diverges\n");
  study_family("undamped", study_random_oscillator, 424242, 0.02, 1);
  study_family("undamped", study_random_oscillator, 424243, 0.1, 1);
  study_family("damped", study_damped_oscillator, 424244, 0.02, 1);
  study_family("damped", study_damped_oscillator, 424245, 0.1, 1);
  study_family("multirate", study_multirate_oscillator, 424246, 0.02, N_METHODS);
  study_family("undamped", study_random_oscillator, fresh, 0.02, 1);
}

// ---------------------------------------------------------------------------------------------------------
// pendula and crane

static const double starts[][2] = {
    {0.35, -0.15}, {1.1, 0.6}, {-0.6, -0.7}, {0.9, 1.2}, {-0.2, 0.4}};
enum { N_STARTS = sizeof starts / sizeof starts[0] };

static void study_starts(void) {
  printf("\nPendula, 10 s, from rest: error with correction over error without\n");
  printf("theta1 theta2   H [ms]  motion  energy\n");
  for (int i = 0; i < N_STARTS; i++) {
    for (int k = 0; k < 2; k++) {
      const double H = k == 0 ? 1e-3 : 4e-3;
      const study_problem p = study_pendula(starts[i][0], starts[i][1], H);
      study_reference r = study_solve(&p);
      const study_outcome without = study_run(&p, &r, "method: hold");
      const study_outcome with = study_run(&p, &r, methods[0]);
      printf("%6.2f %6.2f   %6.0f  %6.3f  %6.3f\n", starts[i][0], starts[i][1], H * 1e3,
             with.motion / without.motion, with.energy / without.energy);
      study_free(&r);
    }
  }
}

typedef struct manoeuvre {
  const char *name, *kind;
  double frequency, amplitude, offset;
  const char* mark;  // NULL: neither tuned on nor looked at before
} manoeuvre;

// the defaults of the correction were tuned on M1 and M2; M3 to M5 were held out
static const manoeuvre manoeuvres[] = {
    {"M1 steps", "m1", 0, 0, 0.01, "tuned on"},   {"M2 2 Hz", "m2", 2, 0.10, 0, "tuned on"},
    {"M3 1 Hz", "m2", 1, 0.05, 0, "known"},       {"M4 3 Hz", "m2", 3, 0.10, 0, "known"},
    {"M5 trapezoid", "m5", 0, 0, -0.01, "known"}, {"0.7 Hz", "m2", 0.7, 0.05, 0, "seen"},
    {"2.3 Hz", "m2", 2.3, 0.06, 0, "seen"},       {"2.6 Hz", "m2", 2.6, 0.08, 0, "seen"},
    {"3.5 Hz", "m2", 3.5, 0.08, 0, "seen"},       {"steps .006", "m1", 0, 0, 0.006, "seen"},
    {"1.2 Hz", "m2", 1.2, 0.09, 0, NULL},         {"1.5 Hz", "m2", 1.5, 0.08, 0, NULL},
    {"2.8 Hz", "m2", 2.8, 0.07, 0, NULL},         {"4 Hz", "m2", 4, 0.06, 0, NULL},
    {"trapezoid .009", "m5", 0, 0, -0.009, NULL}, {"trapezoid .012", "m5", 0, 0, -0.012, NULL},
    {"steps .008", "m1", 0, 0, 0.008, NULL},
};
enum { N_MANOEUVRES = sizeof manoeuvres / sizeof manoeuvres[0] };
static const double intervals[] = {2e-3, 5e-3, 10e-3};

static study_problem make_crane(const manoeuvre* m, double H, int order) {
  return study_crane(m->kind, m->frequency, m->amplitude, m->offset, H, 0.2e-3, order);
}

static void print_ratio(double ratio) {
  if (isfinite(ratio)) {
    printf(" %6.3f", ratio);
  } else {
    printf("   lost");
  }
}

// rows of 2, 5, 10 ms held, then linear; lost: the run without correction leaves the range of the model
static void study_manoeuvres(const char* method) {
  printf("\nCrane, oil at 0.2 ms, largest deviation of the piston with `%s` over that without\n",
         method);
  printf("manoeuvre        held:  2      5     10 ms  linear: 2   5     10 ms\n");
  double worst[2][3] = {{0}};
  int n_worse[2][3] = {{0}};
  for (int i = 0; i < N_MANOEUVRES; i++) {
    printf("%-16s   ", manoeuvres[i].name);
    for (int order = 0; order < 2; order++) {
      for (int k = 0; k < 3; k++) {
        const study_problem p = make_crane(&manoeuvres[i], intervals[k], order);
        study_reference r = study_solve(&p);
        const double without = study_run(&p, &r, "method: hold").max_error;
        const double ratio = study_run(&p, &r, method).max_error / without;
        print_ratio(ratio);
        if (isfinite(ratio) && manoeuvres[i].mark == NULL) {
          worst[order][k] = fmax(worst[order][k], ratio);
          n_worse[order][k] += ratio > 1.1;
        }
        study_free(&r);
      }
      printf("  ");
    }
    printf("%s\n", manoeuvres[i].mark == NULL ? "" : manoeuvres[i].mark);
  }
  printf("worst of the unmarked");
  for (int j = 0; j < 6; j++) {
    printf("%6.3f%s ", worst[j / 3][j % 3], j == 2 ? "  " : "");
  }
  printf("\nof them above 1.10   ");
  for (int j = 0; j < 6; j++) {
    printf("%6d%s ", n_worse[j / 3][j % 3], j == 2 ? "  " : "");
  }
  printf("\n");
}

// ---------------------------------------------------------------------------------------------------------
// the verdict

enum { N_CLASSES = 5, N_VERDICTS = 4 };
static const double bounds[N_CLASSES - 1] = {0.01, 0.05, 0.1, 0.5};

typedef struct judgement {
  const char* name;
  int energy[N_VERDICTS][N_CLASSES], motion[N_VERDICTS][N_CLASSES];
} judgement;

static int class_of(double error) {
  int i = 0;
  while (i < N_CLASSES - 1 && !(error <= bounds[i])) {
    i++;
  }
  return i;
}

static void judge(judgement* j, const study_problem* p, const char* coupling) {
  study_reference r = study_solve(p);
  const study_outcome o = study_run(p, &r, coupling);
  j->energy[o.books.verdict][class_of(o.energy)]++;
  j->motion[o.books.verdict][class_of(o.motion)]++;
  study_free(&r);
}

static void print_judgement(const judgement* j) {
  for (int v = 0; v < N_VERDICTS; v++) {
    int n = 0;
    for (int c = 0; c < N_CLASSES; c++) {
      n += j->energy[v][c];
    }
    if (n == 0) {
      continue;
    }
    printf("%-24s %-12s %4d  ", j->name, yoke__verdict_names[v], n);
    for (int k = 0; k < 2; k++) {
      for (int c = 0; c < N_CLASSES; c++) {
        printf(" %4d", k == 0 ? j->energy[v][c] : j->motion[v][c]);
      }
      printf("  ");
    }
    printf("\n");
  }
}

// the same systems without and with correction
static void judge_oscillators(judgement* without, judgement* with) {
  static const double shares[] = {0.002, 0.005, 0.01, 0.02, 0.05, 0.1};
  for (int i = 0; i < N_SYSTEMS; i++) {
    const double share = shares[i % 6];
    const study_problem p = i < N_SYSTEMS / 2
                                ? study_random_oscillator(424247, i, share)
                                : study_damped_oscillator(424248, i - N_SYSTEMS / 2, share);
    judge(without, &p, "method: hold");
    judge(with, &p, methods[0]);
  }
}

static void judge_pendula(judgement* j) {
  static const double H[] = {0.1e-3, 0.5e-3, 1e-3, 4e-3};
  for (int i = 0; i < N_STARTS * 4; i++) {
    const study_problem p = study_pendula(starts[i / 4][0], starts[i / 4][1], H[i % 4]);
    judge(j, &p, "method: hold");
    judge(j, &p, methods[0]);
  }
}

static void judge_crane(judgement* j) {
  for (int i = 0; i < N_MANOEUVRES * 6; i++) {
    const study_problem p = make_crane(&manoeuvres[i / 6], intervals[i % 3], i / 3 % 2);
    judge(j, &p, "method: hold");
    judge(j, &p, methods[0]);
  }
}

static void study_verdicts(void) {
  static judgement judgements[] = {{.name = "oscillators"},
                                   {.name = "oscillators, corrected"},
                                   {.name = "pendula, both"},
                                   {.name = "crane, both"},
                                   {.name = "all"}};
  judge_oscillators(&judgements[0], &judgements[1]);
  judge_pendula(&judgements[2]);
  judge_crane(&judgements[3]);
  for (int i = 0; i < 4; i++) {
    for (int v = 0; v < N_VERDICTS; v++) {
      for (int c = 0; c < N_CLASSES; c++) {
        judgements[4].energy[v][c] += judgements[i].energy[v][c];
        judgements[4].motion[v][c] += judgements[i].motion[v][c];
      }
    }
  }
  printf("\nVerdict of the ledger against the true error: runs by class of error, up to 1, 5, 10, "
         "50 %% "
         "and above\n");
  printf("problem                  verdict      runs    energy                     motion\n");
  printf("                                               1%%   5%%  10%%  50%% more     1%%   5%%  "
         "10%%  "
         "50%% more\n");
  for (int i = 0; i < 5; i++) {
    print_judgement(&judgements[i]);
  }
}

int main(int argc, char** argv) {
  const int64_t fresh = argc > 1 ? strtoll(argv[1], NULL, 10) : (int64_t)time(NULL);
  yoke__os_float_mode_set();
  study_families(fresh);
  study_starts();
  study_manoeuvres(methods[0]);
  study_manoeuvres(methods[1]);
  study_verdicts();
  return 0;
}
