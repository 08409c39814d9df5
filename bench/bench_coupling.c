// How accurate the coupling methods are on random systems, at steps around the limit of held signals: the tables and curves of
// docs/studies/coupling.md. tools/make_coupling_study writes them into the page.
//
//   bench_coupling                       final seeds: all tables in Markdown
//   bench_coupling development [METHODS] seeds that may be looked at; METHODS: keys such as hold,auto
//   bench_coupling rows METHODS NOISE    development seeds: one line per run
//   bench_coupling show linear SEED SHARE METHOD [NOISE]    one run: its file, then its error as a comment
//   bench_coupling show pair SEED SHARE METHOD [NOISE]
#include "bench/coupling_study.h"

#include "base/base_os.h"

static int find_method(const char* key, size_t n) {
  for (int m = 0; m < COUPLING_METHODS; m++) {
    if (strlen(coupling_ways[m].key) == n && strncmp(coupling_ways[m].key, key, n) == 0) {
      return m;
    }
  }
  fprintf(stderr, "bench_coupling: no method '%.*s'\n", (int)n, key);
  exit(2);
}

static void choose_methods(coupling_plan* plan, const char* keys) {
  plan->is_used[COUPLING_HOLD] = true;
  while (*keys != '\0') {
    const size_t n = strcspn(keys, ",");
    plan->is_used[find_method(keys, n)] = true;
    keys += n + (keys[n] == ',');
  }
}

static double percent(int n, int of) {
  return of == 0 ? 0 : 100.0 * n / of;
}

// within 1 % / 5 % / lost, lost where holding is not; worse than 1.1 times holding
static void print_cell(const coupling_count* c) {
  if (c->n == 0) {
    printf(" | ");
    return;
  }
  printf(" | %.0f/%.0f/%.0f, %d; %.0f", percent(c->n_1, c->n), percent(c->n_5, c->n),
         percent(c->n_lost, c->n), c->n_lost_alone, percent(c->n_worse, c->n));
}

static void print_table(const coupling_table* t, const coupling_plan* plan, int class) {
  const int n = coupling_tally(t, COUPLING_HOLD, 2, class).n;
  printf("\n**%s, %d systems**\n\n| method", class < 0 ? "All" : coupling_class_names[class], n);
  for (int s = 0; s < COUPLING_SHARES; s++) {
    printf(" | %g", coupling_shares[s]);
  }
  printf(" |\n|---|---|---|---|---|---|\n");
  for (int m = 0; m < COUPLING_METHODS; m++) {
    if (plan->is_used[m]) {
      printf("| %s", coupling_ways[m].name);
      for (int s = 0; s < COUPLING_SHARES; s++) {
        const coupling_count c = coupling_tally(t, (coupling_method)m, s, class);
        print_cell(&c);
      }
      printf(" |\n");
    }
  }
}

static void print_tables(const coupling_plan* plan) {
  coupling_table t = {0};
  coupling_fill(&t, plan);
  printf("\n### Noise of %g %%\n", 100 * plan->noise);
  for (int c = -1; c < COUPLING_CLASSES; c++) {
    print_table(&t, plan, c);
  }
  coupling_free_table(&t);
}

static coupling_plan make_plan(bool is_final, double noise) {
  coupling_plan plan = {
      .first = is_final ? COUPLING_FINAL : COUPLING_DEVELOPMENT,
      .count = is_final ? COUPLING_FINAL_COUNT : COUPLING_DEVELOPMENT_COUNT,
      .pairs_first = is_final ? COUPLING_PAIRS_FINAL : COUPLING_PAIRS_DEVELOPMENT,
      .pairs_count = is_final ? COUPLING_PAIRS_FINAL_COUNT : COUPLING_PAIRS_DEVELOPMENT_COUNT,
      .noise = noise,
      .is_run = {true, true, true, true, true},
  };
  return plan;
}

static void print_rows(const char* keys, double noise) {
  coupling_plan plan = make_plan(false, noise);
  choose_methods(&plan, keys);
  coupling_table t = {0};
  coupling_fill(&t, &plan);
  for (size_t i = 0; i < t.n; i++) {
    const coupling_row* row = &t.rows[i];
    printf("%s %" PRId64 " %g", coupling_class_names[row->class], row->seed,
           coupling_shares[row->share]);
    for (int m = 0; m < COUPLING_METHODS; m++) {
      if (plan.is_used[m]) {
        printf("  %s %.3g (%.0f)", coupling_ways[m].key, row->results[m].error,
               row->results[m].calls);
      }
    }
    printf("\n");
  }
  coupling_free_table(&t);
}

static int show(int argc, char** argv) {
  static loop system;
  static study_text text;
  pair two;
  coupling_problem p;
  const int64_t seed = strtoll(argv[3], NULL, 10);
  const double share = strtod(argv[4], NULL), noise = argc > 6 ? strtod(argv[6], NULL) : 0;
  const coupling_method method = (coupling_method)find_method(argv[5], strlen(argv[5]));
  if (strcmp(argv[2], "pair") == 0) {
    pair_make(&two, seed);
    coupling_pose_pair(&p, &two, coupling_find_pair_limit(&two), share);
  } else {
    coupling_make_loop(&system, seed);
    coupling_pose_loop(&p, &system, share);
  }
  const coupling_file file = {method, false, p.n, p.H};
  p.print(p.self, &file, &text);
  const coupling_result r = coupling_run(&p, method, noise);
  printf("%s# %s, error %.4g, %g calls\n", text.bytes, coupling_class_names[p.class], r.error,
         r.calls);
  coupling_free(&p);
  return 0;
}

int main(int argc, char** argv) {
  yoke__os_float_mode_set();
  if (argc > 5 && strcmp(argv[1], "show") == 0) {
    return show(argc, argv);
  }
  if (argc > 3 && strcmp(argv[1], "rows") == 0) {
    print_rows(argv[2], strtod(argv[3], NULL));
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "development") != 0) {
    fprintf(stderr,
            "usage: bench_coupling [development [METHODS] | rows METHODS NOISE | show FAMILY "
            "SEED SHARE METHOD [NOISE]]\n");
    return 2;
  }
  for (int i = 0; i < COUPLING_NOISES; i++) {
    coupling_plan plan = make_plan(argc == 1, coupling_noise_levels[i]);
    choose_methods(&plan, argc > 2 ? argv[2] : "auto");
    print_tables(&plan);
  }
  return 0;
}
