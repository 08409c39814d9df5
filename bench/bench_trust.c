// Error bands and verdicts on random systems; tables in Markdown.
//
//   bench_trust linear FIRST COUNT [CALLS]
//   bench_trust pairs FIRST COUNT
//   bench_trust circuit TOP
//   bench_trust show SEED SHARE METHOD CALLS   one run: the file and every signal
#include "bench/trust_study.h"

#include "base/base_os.h"

static const double shares[] = {0.1, 0.3, 0.9, 3};

static void print_row(const char* name, study_tally* t) {
  printf("| %s |", name);
  static const yoke_verdict order[] = {YOKE_TRUSTWORTHY, YOKE_DOUBTFUL, YOKE_WRONG};
  for (int v = 0; v < 3; v++) {
    for (int c = 0; c < STUDY_CLASSES; c++) {
      printf(" %d", t->n[order[v]][c]);
    }
    printf(" |");
  }
  const int none = study_sum(t, YOKE_VERDICT_NONE, 0, STUDY_CLASSES - 1);
  printf(" %.1f %% of %d | %.2f |", 100.0 * t->n_covered / t->n_bands, t->n_bands, study_median(t));
  printf(" none %d, good %d/%d, no A %d, no B %d, low %.1f, div %d/%d, fine %d/%d\n", none,
         t->n_good_trusted, t->n_good, t->n_no_a, t->n_no_b, 100.0 * t->n_low / t->n_bands,
         t->n_diverged_latched, t->n_diverged, t->n_fine_latched, t->n_fine);
}

static study_tally tallies[STUDY_METHODS], all, bare;

static void print_case(const char* word, int64_t seed, double share, int m, const study_problem* p,
                       const study_run* r) {
  printf("%s seed %" PRId64 " share %g method %d (%s) calls %d: %s, error %g, A %d B %d\n", word,
         seed, share, m, study_ways[m].name, p->n_calls, yoke_verdict_text(r->verdict), r->error,
         r->has_a, r->has_b);
}

static void judge(const study_problem* p, int64_t seed, double share, int m) {
  if (m == STUDY_ENERGY && !p->has_bonds) {
    return;
  }
  study_run r;
  study_judge(p, (study_method)m, &r);
  study_count(&tallies[m], &r);
  if (!p->has_bonds) {
    study_count(&bare, &r);
  }
  if ((r.verdict == YOKE_TRUSTWORTHY && r.error > 0.05) ||
      (r.verdict == YOKE_WRONG && r.error <= 0.05)) {
    print_case("FALSE", seed, share, m, p, &r);
  }
  if (r.verdict == YOKE_VERDICT_NONE) {
    print_case("NONE", seed, share, m, p, &r);
  }
  for (size_t i = 0; i < r.n_signals; i++) {
    const study_signal* g = &r.signals[i];
    if (g->is_judged && g->band < g->scale && !study_is_covered(g)) {
      print_case("UNCOVERED", seed, share, m, p, &r);
      printf("  %s: band %g scale %g error %g (%.2f)\n", p->names[i], g->band, g->scale, g->error,
             g->error / g->band);
    }
  }
}

static void print_all(void) {
  for (int m = 0; m < STUDY_METHODS; m++) {
    if (study_total(&tallies[m]) > 0) {
      print_row(study_ways[m].name, &tallies[m]);
      study_merge(&all, &tallies[m]);
    }
  }
  print_row("all", &all);
  print_row("without bonds", &bare);
}

static void show(const study_problem* p, study_method method) {
  static study_text text;
  p->print(p->self, method, p->n, p->H, study_divide(p->H, p->n_calls), &text);
  printf("%s", text.bytes);
  study_run r;
  study_judge(p, method, &r);
  printf("# verdict %s, error %g, A %d B %d\n", yoke_verdict_text(r.verdict), r.error, r.has_a,
         r.has_b);
  for (size_t i = 0; i < p->n_signals; i++) {
    const study_signal* g = &r.signals[i];
    printf("# %s: %s, band %g, scale %g, rel %g, low %g, error %g, of the truth %g, latched %d "
           "active %d\n",
           p->names[i], yoke_verdict_text(g->verdict), g->band, g->scale, g->band / g->scale,
           g->low / g->scale, g->error, g->relative_error, g->is_latched, g->is_active);
  }
}

static void run_linear(int64_t first, int64_t count, int n_calls) {
  for (int64_t seed = first; seed < first + count; seed++) {
    static loop s;
    loop_make(&s, seed, study_units(seed));
    for (int k = 0; k < 4; k++) {
      study_problem p;
      study_make_linear(&p, &s, shares[k], n_calls);
      for (int m = 0; m < STUDY_METHODS; m++) {
        if (n_calls > 1 || (m != STUDY_LINEAR && m != STUDY_INTERPOLATE)) {
          judge(&p, seed, shares[k], m);
        }
      }
      study_free(&p);
    }
    fflush(stdout);
  }
}

static void run_pairs(int64_t first, int64_t count) {
  for (int64_t seed = first; seed < first + count; seed++) {
    pair s;
    pair_make(&s, seed);
    for (int k = 0; k < 2; k++) {
      study_problem p;
      const double share = k == 0 ? 0.05 : 0.2;
      study_make_pair(&p, &s, share);
      for (int m = 0; m < STUDY_METHODS; m++) {
        judge(&p, seed, share, m);
      }
      study_free(&p);
    }
  }
}

static void run_circuit(const char* top) {
  static const int micros[] = {50, 200, 500, 1000};
  for (int k = 0; k < 4; k++) {
    study_problem p;
    study_make_rectifier(&p, top, micros[k]);
    for (int m = 0; m < STUDY_METHODS; m++) {
      if (m != STUDY_NEPCE_FRESH || true) {
        judge(&p, 0, micros[k], m);
      }
    }
    study_free(&p);
  }
}

int main(int argc, char** argv) {
  yoke__os_float_mode_set();
  const char* what = argc > 1 ? argv[1] : "";
  if (argc > 5 && strcmp(what, "show") == 0) {
    static loop s;
    study_problem p;
    loop_make(&s, atoll(argv[2]), study_units(atoll(argv[2])));
    study_make_linear(&p, &s, atof(argv[3]), atoi(argv[5]));
    show(&p, (study_method)atoi(argv[4]));
    study_free(&p);
    return 0;
  }
  if (strcmp(what, "pairs") == 0) {
    run_pairs(atoll(argv[2]), atoll(argv[3]));
  } else if (strcmp(what, "circuit") == 0) {
    run_circuit(argc > 2 ? argv[2] : ".");
  } else {
    run_linear(atoll(argv[2]), atoll(argv[3]), argc > 4 ? atoi(argv[4]) : 10);
  }
  print_all();
  return 0;
}
