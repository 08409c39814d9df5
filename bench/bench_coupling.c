// How accurate the coupling methods are on random systems, at steps around the limit of held signals: the tables and curves of
// docs/studies/coupling.md. tools/make_coupling_study writes them into the page.
//
//   bench_coupling final [CURVES]        final seeds: all tables in Markdown; numbers of the figures to the file CURVES
//   bench_coupling development [CURVES]  seeds that may be looked at
//   bench_coupling fmus COUNT            two-unit loops of the final seeds, native and exported: a table in Markdown
//   bench_coupling rows METHODS NOISE    development seeds: one line per run; METHODS: keys such as hold,auto; NOISE: 0, 0.001
//                                        or 0.01
//   bench_coupling show linear SEED SHARE METHOD [NOISE]    one run: its file, then its error as a comment
//   bench_coupling show pair SEED SHARE METHOD [NOISE]
#include "bench/coupling_fmu.h"

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

// Methods by their keys, and holding.
static void choose_methods(coupling_plan* plan, int noise, const char* keys) {
  plan->is_used[noise][COUPLING_HOLD] = true;
  while (*keys != '\0') {
    const size_t n = strcspn(keys, ",");
    plan->is_used[noise][find_method(keys, n)] = true;
    keys += n + (keys[n] == ',');
  }
}

static double percent(int n, int of) {
  return 100.0 * n / of;
}

static void print_steps(const char* title) {
  printf("| %s", title);
  for (int s = 0; s < COUPLING_SHARES; s++) {
    printf(" | %g", coupling_shares[s]);
  }
  printf(" |\n|---|---|---|---|---|---|\n");
}

// within 1 % / 5 % / lost, lost where holding is not; worse than 1.1 times holding
static void print_full(const coupling_count* c) {
  printf(" | %.0f/%.0f/%.0f, %d; %.1f", percent(c->n_1, c->n), percent(c->n_5, c->n),
         percent(c->n_lost, c->n), c->n_lost_alone, percent(c->n_worse, c->n));
}

static void print_short(const coupling_count* c) {
  printf(" | %.0f/%.0f, %d", percent(c->n_1, c->n), percent(c->n_lost, c->n), c->n_lost_alone);
}

static void print_row(const coupling_table* t, int noise, coupling_method m, int class,
                      const char* name, void (*print)(const coupling_count*)) {
  printf("| %s", name);
  for (int s = 0; s < COUPLING_SHARES; s++) {
    const coupling_count c = coupling_tally(t, noise, m, s, class);
    print(&c);
  }
  printf(" |\n");
}

static void print_methods(const coupling_table* t, const coupling_plan* plan, int noise) {
  printf("\n### All %d systems, noise of %g %%\n\n",
         coupling_tally(t, noise, COUPLING_HOLD, 0, -1).n, 100 * coupling_noise_levels[noise]);
  print_steps("method");
  for (int m = 0; m < COUPLING_METHODS; m++) {
    if (plan->is_used[noise][m]) {
      print_row(t, noise, (coupling_method)m, -1, coupling_ways[m].name, print_full);
    }
  }
}

static void print_class(const coupling_table* t, const coupling_plan* plan, int class) {
  const int n = coupling_tally(t, 0, COUPLING_HOLD, 0, class).n;
  if (n == 0) {
    return;
  }
  char title[80];
  snprintf(title, sizeof title, "%s (%d)", coupling_class_names[class], n);
  print_steps(title);
  for (int m = 0; m < COUPLING_METHODS; m++) {
    if (plan->is_used[0][m]) {
      print_row(t, 0, (coupling_method)m, class, coupling_ways[m].name, print_short);
    }
  }
  for (int i = 1; i < COUPLING_NOISES; i++) {
    if (plan->is_used[i][COUPLING_AUTO]) {
      char name[80];
      snprintf(name, sizeof name, "**auto**, noise of %g %%", 100 * coupling_noise_levels[i]);
      print_row(t, i, COUPLING_AUTO, class, name, print_short);
    }
  }
  printf("\n");
}

static void print_calls(const coupling_table* t) {
  printf("\n### Calls that `auto` makes\n\n");
  print_steps("calls of a unit per exchange, mean and largest");
  for (int class = -1; class < COUPLING_CLASSES; class ++) {
    printf("| %s", class < 0 ? "all" : coupling_class_names[class]);
    for (int s = 0; s < COUPLING_SHARES; s++) {
      const coupling_calls c = coupling_find_calls(t, COUPLING_AUTO, s, class);
      printf(" | %.0f, %.0f", c.mean, c.most);
    }
    printf(" |\n");
  }
}

// The worst runs of `auto` against holding, for whoever wants to see them.
static void print_worse(const coupling_table* t) {
  printf(
      "\n### Runs in which `auto` is worse than 1.1 times holding, or lost where holding is not\n\n"
      "| class, seed | H/H_z | noise | holding | auto |\n|---|---|---|---|---|\n");
  for (size_t k = 0; k < t->n * COUPLING_NOISES; k++) {
    const coupling_row* row = &t->rows[k % t->n];
    const size_t noise = k / t->n;
    const coupling_result* r = row->results[noise];
    if (r[COUPLING_AUTO].calls > 0 &&
        (coupling_is_worse(r, COUPLING_AUTO) || coupling_is_lost_alone(r, COUPLING_AUTO))) {
      printf("| %s, %" PRId64 " | %g | %g %% | %.3g | %.3g |\n", coupling_class_names[row->class],
             row->seed, coupling_shares[row->share], 100 * coupling_noise_levels[noise],
             r[COUPLING_HOLD].error, r[COUPLING_AUTO].error);
    }
  }
}

// For the figures: method, H/H_z, share within 1 % of the linear systems and of the pairs [%], median error of all, mean
// calls of a unit per H_z.
static void write_curves(const coupling_table* t, const coupling_plan* plan, const char* path) {
  FILE* file = fopen(path, "w");
  if (file == NULL) {
    fprintf(stderr, "bench_coupling: %s cannot be written\n", path);
    exit(1);
  }
  for (int m = 0; m < COUPLING_METHODS; m++) {
    for (int s = 0; s < COUPLING_SHARES && plan->is_used[0][m]; s++) {
      const coupling_count c = coupling_tally(t, 0, (coupling_method)m, s, -1);
      const coupling_count pairs = coupling_tally(t, 0, (coupling_method)m, s, COUPLING_PAIR);
      const double calls = coupling_find_calls(t, (coupling_method)m, s, -1).mean;
      fprintf(file, "%s %g %.6g %.6g %.6g %.6g\n", coupling_ways[m].key, coupling_shares[s],
              percent(c.n_1 - pairs.n_1, c.n - pairs.n), percent(pairs.n_1, pairs.n),
              coupling_median(t, (coupling_method)m, s), calls / coupling_shares[s]);
    }
  }
  if (fclose(file) != 0) {
    fprintf(stderr, "bench_coupling: %s cannot be written\n", path);
    exit(1);
  }
}

static coupling_plan make_plan(bool is_final) {
  return (coupling_plan){
      .first = is_final ? COUPLING_FINAL : COUPLING_DEVELOPMENT,
      .count = is_final ? COUPLING_FINAL_COUNT : COUPLING_DEVELOPMENT_COUNT,
      .pairs_first = is_final ? COUPLING_PAIRS_FINAL : COUPLING_PAIRS_DEVELOPMENT,
      .pairs_count = is_final ? COUPLING_PAIRS_FINAL_COUNT : COUPLING_PAIRS_DEVELOPMENT_COUNT,
      .is_run = {true, true, true, true, true},
  };
}

// curves: path, or NULL
static void print_study(bool is_final, const char* curves) {
  coupling_plan plan = make_plan(is_final);
  coupling_table t = {0};
  for (int m = 0; m < COUPLING_METHODS; m++) {
    plan.is_used[0][m] = true;
  }
  for (int i = 1; i < COUPLING_NOISES; i++) {
    choose_methods(&plan, i, "hold,hold10,order2x10,nepce,auto");
  }
  coupling_fill(&t, &plan);
  for (int i = 0; i < COUPLING_NOISES; i++) {
    print_methods(&t, &plan, i);
  }
  printf("\n### By class: within 1 %% / lost, number lost where holding is not\n\n");
  for (int c = 0; c < COUPLING_CLASSES; c++) {
    print_class(&t, &plan, c);
  }
  print_calls(&t);
  print_worse(&t);
  if (curves != NULL) {
    write_curves(&t, &plan, curves);
  }
  coupling_free_table(&t);
}

static void print_rows(const char* keys, double level) {
  coupling_plan plan = make_plan(false);
  int noise = 0;
  while (noise < COUPLING_NOISES - 1 && coupling_noise_levels[noise] < level) {
    noise++;
  }
  choose_methods(&plan, noise, keys);
  coupling_table t = {0};
  coupling_fill(&t, &plan);
  for (size_t i = 0; i < t.n; i++) {
    const coupling_row* row = &t.rows[i];
    printf("%s %" PRId64 " %g", coupling_class_names[row->class], row->seed,
           coupling_shares[row->share]);
    for (int m = 0; m < COUPLING_METHODS; m++) {
      if (plan.is_used[noise][m]) {
        printf("  %s %.3g (%.0f)", coupling_ways[m].key, row->results[noise][m].error,
               row->results[noise][m].calls);
      }
    }
    printf("\n");
  }
  coupling_free_table(&t);
}

static void print_fmus(int count) {
  coupling_twin twins[COUPLING_SHARES] = {0};
  static const char* const names[2] = {"native", "FMUs (2.0)"};
  coupling_compare_fmus(count, 2, twins);
  print_steps("`auto`, within 1 % / 5 % / lost");
  for (int i = 0; i < 2; i++) {
    printf("| %s", names[i]);
    for (int s = 0; s < COUPLING_SHARES; s++) {
      const coupling_twin* t = &twins[s];
      printf(" | %.0f/%.0f/%.0f", percent(t->n_1[i], t->n), percent(t->n_5[i], t->n),
             percent(t->n_lost[i], t->n));
    }
    printf(" |\n");
  }
  printf("| largest difference of the errors, of runs within 5 %%");
  for (int s = 0; s < COUPLING_SHARES; s++) {
    printf(" | %.1g", twins[s].most);
  }
  printf(" |\n");
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
  const coupling_file file = {method, COUPLING_NATIVE, p.n, p.H};
  p.print(p.self, &file, &text);
  const coupling_result r = coupling_run(&p, method, noise);
  printf("%s# %s, error %.4g, %g calls\n", text.bytes, coupling_class_names[p.class], r.error,
         r.calls);
  coupling_free(&p);
  return 0;
}

int main(int argc, char** argv) {
  yoke__os_float_mode_set();
  const char* what = argc > 1 ? argv[1] : "final";
  if (argc > 5 && strcmp(what, "show") == 0) {
    return show(argc, argv);
  }
  if (argc > 3 && strcmp(what, "rows") == 0) {
    print_rows(argv[2], strtod(argv[3], NULL));
    return 0;
  }
  if (argc > 2 && strcmp(what, "fmus") == 0) {
    print_fmus((int)strtol(argv[2], NULL, 10));
    return 0;
  }
  const bool is_final = strcmp(what, "final") == 0;
  if (!is_final && strcmp(what, "development") != 0) {
    fprintf(stderr,
            "usage: bench_coupling [final | development] [CURVES], fmus COUNT, rows METHODS NOISE, "
            "show FAMILY SEED SHARE METHOD [NOISE]\n");
    return 2;
  }
  print_study(is_final, argc > 2 ? argv[2] : NULL);
  return 0;
}
