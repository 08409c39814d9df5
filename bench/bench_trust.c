// What error bands and verdicts are worth on systems that took no part in choosing their constants: the tables of
// docs/studies/trust.md, in Markdown. tools/make_trust_study writes them into the page.
//
//   bench_trust                      final seeds
//   bench_trust development          seeds that may be looked at
//   bench_trust seeds FIRST COUNT [CALLS [METHOD]]       linear systems of other seeds
//   bench_trust pairs FIRST COUNT [CALLS [METHOD]]       nonlinear pairs of other seeds; CALLS: 10
//   bench_trust show linear SEED SHARE METHOD [CALLS]    one run: its file, then every signal as a comment
//   bench_trust show pair SEED SHARE METHOD
//   bench_trust show rectifier MICROSECONDS 0 METHOD     METHOD: 0 held, 1 linear, ... in the order of the table
//
// Run it in the top folder of the sources: the netlists are in bench/trust.
#include "bench/trust_study.h"

#include "base/base_os.h"

static void print_counts(const study_tally* t) {
  static const yoke_verdict order[] = {YOKE_TRUSTWORTHY, YOKE_DOUBTFUL, YOKE_WRONG,
                                       YOKE_VERDICT_NONE};
  for (size_t v = 0; v < sizeof order / sizeof order[0]; v++) {
    printf(" |");
    for (int c = 0; c < STUDY_CLASSES; c++) {
      printf(" %d", t->n[order[v]][c]);
    }
  }
}

static void print_row(const char* name, study_tally* t) {
  printf("| %s, %d", name, study_total(t));
  print_counts(t);
  if (t->n_bands > 0) {
    printf(" | %.1f %% of %d | %.2f |\n", 100 * study_coverage(t), t->n_bands, study_median(t));
  } else {
    printf(" | | |\n");
  }
}

static void print_table(const char* title, study_set* s) {
  printf("\n### %s\n", title);
  printf("| method, runs | trustworthy | doubtful | wrong | not judged | coverage | median band / "
         "error |\n|---|---|---|---|---|---|---|\n");
  for (int m = 0; m < STUDY_METHODS; m++) {
    if (study_total(&s->methods[m]) > 0) {
      print_row(study_ways[m].name, &s->methods[m]);
    }
  }
  print_row("**all**", &s->all);
  if (study_total(&s->bare) > 0) {
    print_row("of these without bonds", &s->bare);
  }
  if (study_total(&s->ledger) > 0) {
    print_row("the energy ledger on those with bonds", &s->ledger);
  }
  const study_tally* t = &s->all;
  printf("\n- Runs off by at most 3 %% and called trustworthy: %d of %d.\n", t->n_good_trusted,
         t->n_good);
  printf(
      "- Systems with a signal outside its band: %d of %d. Signals off by more than 5 bands: %d, "
      "%d of them in runs that are not called wrong.\n",
      s->n_uncovered, s->n_systems, t->n_far, t->n_far_missed);
  printf("- `low` is at most the true error for %.1f %% of the signals. Companion A was unusable "
         "in %d runs, B in %d; B was not its first choice in %d.\n",
         100.0 * t->n_low / t->n_bands, t->n_no_a, t->n_no_b, t->n_other_b);
  printf("- Growth alarm: %d of %d runs that are off by more than 1000 scales, %d of %d that are "
         "off by less than 50 %%.\n",
         t->n_diverged_latched, t->n_diverged, t->n_fine_latched, t->n_fine);
  printf("- The method with the smallest band is within 1.5 times of the smallest error in %d of "
         "%d choices; without `fresh` in %d of %d.\n",
         s->n_near, s->n_choices, s->n_bare_near, s->n_bare_choices);
}

static void print_odds(const study_set* s) {
  for (int i = 0; i < s->n_odds; i++) {
    const study_odd* o = &s->odds[i];
    printf("| `show %s %" PRId64 " %g %d %d` | %s | %s | %.3g |\n", o->family, o->seed, o->share,
           (int)o->method, o->n_calls, study_ways[o->method].name, yoke_verdict_text(o->verdict),
           o->error);
  }
}

static void print_study(bool is_final) {
  static study_set linear, once, pairs, circuit;
  study_linear(&linear, is_final ? STUDY_FINAL : STUDY_DEVELOPMENT,
               is_final ? STUDY_FINAL_COUNT : STUDY_DEVELOPMENT_COUNT, 10);
  study_linear(&once, is_final ? STUDY_FINAL : STUDY_DEVELOPMENT,
               is_final ? STUDY_ONCE_COUNT : STUDY_DEVELOPMENT_COUNT, 1);
  study_pairs(&pairs, is_final ? STUDY_PAIRS_FINAL : STUDY_PAIRS_DEVELOPMENT, STUDY_PAIRS_COUNT);
  study_circuit(&circuit, ".");
  print_table("Linear systems, ten calls per exchange", &linear);
  print_table("Linear systems, one call per exchange", &once);
  print_table("Nonlinear pairs", &pairs);
  print_table("Rectifier with a load unit", &circuit);
  printf("\n### False verdicts, runs without one, and doubtful runs off by more than 100 %%\n");
  printf("| run: arguments of bench_trust | method | verdict | error |\n|---|---|---|---|\n");
  print_odds(&linear);
  print_odds(&once);
  print_odds(&pairs);
  print_odds(&circuit);
}

static int print_seeds(int argc, char** argv) {
  static study_set set;
  const int64_t first = strtoll(argv[2], NULL, 10);
  const int count = (int)strtol(argv[3], NULL, 10);
  const bool is_once = argc > 4 && strcmp(argv[4], "1") == 0;
  set.only = argc > 5 ? 1 + (int)strtol(argv[5], NULL, 10) : 0;
  if (strcmp(argv[1], "pairs") == 0) {
    study_pairs(&set, first, count);
  } else {
    study_linear(&set, first, count, is_once ? 1 : 10);
  }
  print_table(argv[1], &set);
  print_odds(&set);
  return 0;
}

static void show(const study_problem* p, study_method method) {
  static study_text text;
  p->print(p->self, method, p->n, p->H, study_divide(p->H, p->n_calls), &text);
  printf("%s", text.bytes);
  study_run r;
  study_judge(p, method, &r);
  printf("# %s, worst signal off by %.3g of its scale\n", yoke_verdict_text(r.verdict), r.error);
  for (size_t i = 0; i < p->n_signals; i++) {
    const study_signal* g = &r.signals[i];
    printf("# %s: %s, band %.4g, low %.4g, error %.4g, scale %.4g%s\n", p->names[i],
           yoke_verdict_text(g->verdict), g->band, g->low, g->error, g->scale,
           g->is_active    ? ", growing at the end"
           : g->is_latched ? ", grew"
                           : "");
  }
}

static int show_problem(int argc, char** argv) {
  static loop system;
  static study_problem p;
  pair two;
  const char* family = argv[2];
  const int64_t seed = strtoll(argv[3], NULL, 10), method = strtoll(argv[5], NULL, 10);
  const double share = strtod(argv[4], NULL);
  if (method < 0 || method >= STUDY_METHODS) {
    fprintf(stderr, "bench_trust: methods are 0 to %d\n", STUDY_METHODS - 1);
    return 2;
  }
  if (strcmp(family, "linear") == 0) {
    loop_make(&system, seed, study_units(seed));
    study_make_linear(&p, &system, share, argc > 6 && strcmp(argv[6], "1") == 0 ? 1 : 10);
  } else if (strcmp(family, "pair") == 0) {
    pair_make(&two, seed);
    study_make_pair(&p, &two, share);
  } else {
    study_make_rectifier(&p, ".", (int)seed);
  }
  show(&p, (study_method)method);
  study_free(&p);
  return 0;
}

int main(int argc, char** argv) {
  yoke__os_float_mode_set();
  if (argc > 5 && strcmp(argv[1], "show") == 0) {
    return show_problem(argc, argv);
  }
  if (argc > 3 && (strcmp(argv[1], "seeds") == 0 || strcmp(argv[1], "pairs") == 0)) {
    return print_seeds(argc, argv);
  }
  if (argc > 1 && strcmp(argv[1], "development") != 0) {
    fprintf(stderr, "usage: bench_trust [development | seeds|pairs FIRST COUNT [CALLS [METHOD]] | "
                    "show FAMILY SEED SHARE METHOD [CALLS]]\n");
    return 2;
  }
  print_study(argc == 1);
  return 0;
}
