// Ranking, statistics, advice, and the drawing of the map.
#include <unistd.h>

#include "base/base_message.h"
#include "study/study_fixture.h"
#include "study/study_tune.h"

// The value of the measure is v; with noise, repetitions differ.
static const char noise[] = "yoke: 1\n"
                            "name: <noise & co>\n"
                            "time: {stop: 0.1, step: 1e-2}\n"
                            "units:\n"
                            "  c: {model: constant, with: {value: 10}}\n"
                            "  n: {model: channel, with: {noise: 1, seed: 9}}\n"
                            "connections: [c.y -> n.u]\n";

typedef struct tuned {
  fixture f;
  char path[64];
  yoke_study* study;
  yoke_tune tune;
} tuned;

static void run_all(tuned* t, size_t n_repeats) {
  size_t points[128], repeats[128] = {0};
  YOKE_CATCH(err);
  const yoke_study_calls calls = {0};
  const size_t n = t->f.grid.n_points + 1;
  for (size_t i = 0; i < n; i++) {
    points[i] = i;
  }
  check_ok(yoke__study_complete(t->study, points, repeats, n, 2, &calls, &err.sink));
  yoke__tune_rank(t->study, &t->tune);
  const size_t n_runs = yoke__tune_repetitions(t->study, &t->tune, n_repeats, points, repeats);
  assert_int_equal(n_runs, (t->tune.n_best + 1) * n_repeats);
  check_ok(yoke__study_complete(t->study, points, repeats, n_runs, 2, &calls, &err.sink));
  yoke__tune_decide(t->study, n_repeats, &t->tune);
}

static void open_tuned(tuned* t, const char* const vary[], const char* measure,
                       const char* const limits[], const char* const sets[], size_t n_sets) {
  const char* const measures[] = {measure, NULL};
  YOKE_CATCH(err);
  snprintf(t->path, sizeof t->path, "tune-%ld", (long)getpid());
  fixture_open(&t->f, noise, vary, measures, limits);
  t->f.plan.sets = sets;
  t->f.plan.n_sets = n_sets;
  t->f.plan.seed = "units.n.with.seed";
  if (yoke__study_open(&t->f.plan, t->path, true, &t->study, &err.sink) < 0) {
    fail_msg("%s", err.text);
  }
}

static void close_tuned(tuned* t) {
  static const char* const names[] = {"journal.csv", "map.csv", "map.svg"};
  char path[128];
  yoke__study_close(&t->study);
  for (size_t i = 0; i < 3; i++) {
    yoke__os_path_join(t->path, names[i], path, sizeof path);
    yoke__os_file_remove(path);
  }
  rmdir(t->path);
  fixture_close(&t->f);
}

static void test_rank(void** state) {
  (void)state;
  static const char* const vary[] = {"units.c.with.value=7,3,9,1,5,8,2,11", NULL};
  static const char* const limits[] = {"min:c.y>=2", NULL};
  static const size_t want[] = {6, 1, 4, 0, 5};  // values 2, 3, 5, 7, 8; 1 violates the limit
  tuned t;
  open_tuned(&t, vary, "end:c.y", limits, NULL, 0);
  run_all(&t, 0);
  assert_int_equal(t.tune.n_best, 5);
  for (size_t i = 0; i < 5; i++) {
    assert_int_equal(t.tune.best[i].point, want[i]);
  }
  check_near(t.tune.current.value, 10, 0);
  assert_true(t.tune.is_change);
  check_contains(t.tune.text, "change to units.c.with.value=2: end:c.y is 2 instead of 10");
  close_tuned(&t);
}

static void test_keep(void** state) {
  (void)state;
  static const char* const vary[] = {"units.c.with.value=10,12", NULL};
  tuned t;
  open_tuned(&t, vary, "end:c.y", NULL, NULL, 0);
  run_all(&t, 0);
  assert_false(t.tune.is_change);
  check_contains(t.tune.text, "keep the current setting: no point of the grid is better");
  close_tuned(&t);
}

static void test_nothing_left(void** state) {
  (void)state;
  static const char* const vary[] = {"units.c.with.value=10,12", NULL};
  static const char* const limits[] = {"max:c.y<=1", NULL};
  tuned t;
  open_tuned(&t, vary, "end:c.y", limits, NULL, 0);
  run_all(&t, 0);
  assert_int_equal(t.tune.n_best, 0);
  assert_int_equal(t.tune.chosen, 0);
  check_contains(t.tune.text, "no setting is advised");
  close_tuned(&t);
}

// mean and deviation by hand, and the rule of two deviations on both sides of its edge
static void test_repetitions(void** state) {
  (void)state;
  static const char* const vary[] = {"units.c.with.value=9.5,30", NULL};
  static const char* const loud[] = {"units.n.with.noise=1"};
  static const char* const calm[] = {"units.n.with.noise=0.01"};
  for (int is_calm = 0; is_calm < 2; is_calm++) {
    tuned t;
    open_tuned(&t, vary, "end:n.y", NULL, is_calm ? calm : loud, 1);
    run_all(&t, 8);
    double sum = 0, squares = 0;
    for (size_t k = 1; k <= 8; k++) {
      sum += yoke__study_find(t.study, 2, k)->values[0];
    }
    for (size_t k = 1; k <= 8; k++) {
      const double x = yoke__study_find(t.study, 2, k)->values[0] - sum / 8;
      squares += x * x;
    }
    check_near(t.tune.current.mean, sum / 8, 1e-12);
    check_near(t.tune.current.deviation, sqrt(squares / 7), 1e-12);
    // the same seeds for every setting: the means differ by exactly the 0.5 of the settings
    check_near(t.tune.current.mean - t.tune.best[0].mean, 0.5, 1e-12);
    const bool want = 0.5 > 2 * t.tune.current.deviation;
    assert_true(want == (is_calm == 1));
    assert_true(t.tune.is_change == want);
    check_contains(t.tune.text, want ? "change to units.c.with.value=9.5" : "standard deviations");
    close_tuned(&t);
  }
}

// a setting that fails in one of its repetitions is not advised
static void test_failed_repetition(void** state) {
  (void)state;
  static const char* const vary[] = {"units.c.with.value=1,2", NULL};
  // a first run that happens to stay above the limit
  static const char* const lucky[] = {"units.n.with.noise=0.2", "units.n.with.seed=2"};
  static const char* const limits[] = {"min:n.y>=0.6", NULL};
  tuned t;
  open_tuned(&t, vary, "end:n.y", limits, lucky, 2);
  run_all(&t, 20);
  assert_int_equal(t.tune.best[0].point, 0);
  if (t.tune.best[0].n_failed == 0) {
    fail_msg("no repetition went below the limit");
  }
  assert_int_equal(t.tune.best[t.tune.chosen].point, 1);
  close_tuned(&t);
}

// ---- the current setting and the map

static void test_setting(void** state) {
  (void)state;
  static const char* const vary[] = {"units.c.with.value=1", NULL};
  static const char* const measures[] = {"end:c.y", NULL};
  static const char* const paths[] = {"units.c.with.value", "units.n.with.loss", "time.step",
                                      "scheme"};
  static const char* const want[] = {"10", "0", "0.01", "jacobi"};
  fixture f;
  yoke_messages messages = {0};
  yoke_system* system = NULL;
  yoke_state* run = NULL;
  char value[64];
  fixture_open(&f, noise, vary, measures, NULL);
  check_ok(yoke__study_build(&f.plan, 1, 0, &messages, &system, &run));
  for (size_t i = 0; i < 4; i++) {
    if (!yoke__tune_setting(system, paths[i], value, sizeof value)) {
      fail_msg("%s is not known", paths[i]);
    }
    assert_string_equal(value, want[i]);
  }
  assert_false(yoke__tune_setting(system, "units.x.with.value", value, sizeof value));
  assert_false(yoke__tune_setting(system, "record.every", value, sizeof value));
  yoke__master_destroy(system, &run);
  yoke__system_destroy(&system);
  yoke__messages_free(&messages);
  fixture_close(&f);
}

static void test_position(void** state) {
  (void)state;
  const char* texts[] = {"a=1:100:3:log", "b=x,y", "c=3,1,2"};
  yoke_grid grid;
  YOKE_CATCH(err);
  check_ok(yoke__grid_create(texts, 3, &grid, &err.sink));
  check_near(yoke__study_map_position(&grid.axes[0], "10"), 1, 0);
  check_near(yoke__study_map_position(&grid.axes[0], "1e1"), 1, 0);
  check_near(yoke__study_map_position(&grid.axes[0], "31.6227766"), 1.5, 1e-9);
  assert_true(isnan(yoke__study_map_position(&grid.axes[0], "0.5")));
  assert_true(isnan(yoke__study_map_position(&grid.axes[0], NULL)));
  check_near(yoke__study_map_position(&grid.axes[1], "y"), 1, 0);
  assert_true(isnan(yoke__study_map_position(&grid.axes[1], "z")));
  check_near(yoke__study_map_position(&grid.axes[2], "2.5"), 0.25, 1e-15);
  yoke__grid_free(&grid);
}

// luminance rises all the way, in even steps of lightness: readable without colour
static void test_colours(void** state) {
  (void)state;
  double last = -1;
  for (int i = 0; i <= 100; i++) {
    const uint32_t colour = yoke__study_map_colour(i / 100.0);
    double y = 0;
    static const double weights[] = {0.2126, 0.7152, 0.0722};
    for (int k = 0; k < 3; k++) {
      const double s = (double)(colour >> (16 - 8 * k) & 255) / 255;
      y += weights[k] * (s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4));
    }
    const double lightness = y > 0.008856 ? 116 * cbrt(y) - 16 : 903.3 * y;  // CIE L*
    if (!(lightness > last)) {
      fail_msg("L* falls from %.4g to %.4g at %d %%", last, lightness, i);
    }
    // OKLab's lightness and CIE's agree to a few units; a plain line from 16 to 92
    check_near(lightness, 14 + 0.78 * i, 6);
    last = lightness;
  }
}

static size_t count(const char* text, const char* part) {
  size_t n = 0;
  for (const char* at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
    n++;
  }
  return n;
}

static char* draw(tuned* t, const char* const current[]) {
  YOKE_CATCH(err);
  char path[128], *svg = NULL;
  size_t n = 0;
  check_ok(yoke__tune_write_map(t->study, &t->tune, current, "<noise & co>", &err.sink));
  yoke__os_path_join(t->path, "map.svg", path, sizeof path);
  check_ok(yoke__os_read_file(path, 1 << 22, &svg, &n, &err.sink));
  check_contains(svg, "&lt;noise &amp; co&gt;");
  check_contains(svg, "prefers-color-scheme:dark");
  check_contains(svg, "</svg>\n");
  assert_null(strstr(svg, "nan"));
  assert_null(strstr(svg, "inf"));
  return svg;
}

static void test_heat_map(void** state) {
  (void)state;
  static const char* const vary[] = {"units.c.with.value=1:20:20", "units.n.with.noise=0,1,2",
                                     NULL};
  static const char* const limits[] = {"max:c.y<=15", NULL};
  static const char* const current[] = {"4.5", "1"};
  tuned t;
  open_tuned(&t, vary, "end:c.y", limits, NULL, 0);
  run_all(&t, 0);
  char* svg = draw(&t, current);
  // one rectangle per point; the failed ones and the legend are hatched
  assert_int_equal(count(svg, "<title>"), 60);
  assert_int_equal(count(svg, "fill=\"url(#failed)\""), 15 + 1);
  assert_int_equal(count(svg, "<circle class=\"mark\""), 2);  // best, and its legend
  assert_int_equal(count(svg, "<path class=\"mark\""), 2);    // current, likewise
  check_contains(svg, "best: 1<");
  free(svg);
  close_tuned(&t);
}

static void test_line(void** state) {
  (void)state;
  static const char* const vary[] = {"units.c.with.value=1:20:20", NULL};
  static const char* const names[] = {"units.c.with.value=7", NULL};
  static const char* const limits[] = {"max:c.y<=15", NULL};
  static const char* const current[] = {NULL};
  tuned t;
  open_tuned(&t, vary, "end:c.y", limits, NULL, 0);
  run_all(&t, 0);
  char* svg = draw(&t, current);
  assert_int_equal(count(svg, "class=\"dot\""), 15);
  assert_int_equal(count(svg, "fill=\"url(#failed)\""), 5 + 1);
  assert_int_equal(count(svg, "<path class=\"mark\""), 0);
  free(svg);
  close_tuned(&t);
  // a single point has no range: still a drawing without a NaN in it
  open_tuned(&t, names, "end:c.y", NULL, NULL, 0);
  run_all(&t, 0);
  svg = draw(&t, current);
  assert_int_equal(count(svg, "class=\"dot\""), 1);
  free(svg);
  close_tuned(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rank),
      cmocka_unit_test(test_keep),
      cmocka_unit_test(test_nothing_left),
      cmocka_unit_test(test_repetitions),
      cmocka_unit_test(test_failed_repetition),
      cmocka_unit_test(test_setting),
      cmocka_unit_test(test_position),
      cmocka_unit_test(test_colours),
      cmocka_unit_test(test_heat_map),
      cmocka_unit_test(test_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
