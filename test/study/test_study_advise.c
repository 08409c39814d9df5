// Advice: settings that were run, their bands, what is chosen, what is refused.
#include "study/advise_checks.h"


static const char loop_text[] =
    "yoke: 1\ninputs: start\ncalls: 1\n"
    "time: {stop: 8, step: 0.1}\n"
    "units:\n"
    "  one: {model: state_space, step: 0.025, with: {A: [[0, 1], [-4, -0.2]], B: [[0], [1]], C: "
    "[[1, 0]], inputs: [u], outputs: [x], x0: [1, 0]}}\n"
    "  two: {model: state_space, step: 0.025, with: {A: [[-1]], B: [[1]], inputs: [u], outputs: "
    "[x], x0: [0]}}\n"
    "connections: [two.x -> one.u, one.x -> two.u]\n";

static yoke_advice search(const yoke_advise_settings* settings) {
  HEAR(told);
  yoke_advice advice;
  if (yoke__advise(settings, &advice, &told.sink) < 0) {
    fail_msg("%s", told.text);
  }
  return advice;
}

// TR-18: a setting, run as it is printed, has the band that was printed.
static void check_setting(const yoke_advise_settings* settings, const yoke_advised* setting) {
  yoke_system* system = load_setting(settings, setting);
  yoke_simulation* sim = NULL;
  assert_true(yoke_simulation_create(system, NULL, &sim) >= 0);
  const yoke_run_settings run = {.trust = setting->mode};
  assert_true(yoke_simulation_run(sim, &run, NULL) >= 0);
  assert_int_equal(yoke_simulation_judge(sim, NULL), YOKE_OK);
  yoke_run_trust trust;
  assert_int_equal(yoke_simulation_get_trust(sim, &trust), YOKE_OK);
  assert_int_equal(trust.verdict, setting->verdict);
  bool is_found = false;
  yoke_signal_trust signal;
  for (size_t i = 0; yoke_simulation_get_signal(sim, i, &signal) >= 0; i++) {
    if (strcmp(signal.name, setting->signal) == 0) {
      is_found = true;
      check_relative(signal.band, setting->band, 1e-12);
      check_relative(signal.band_max, setting->band_max, 1e-12);
      check_relative(signal.relative, setting->relative, 1e-12);
    }
  }
  assert_true(is_found);
  yoke_simulation_destroy(&sim);
  yoke_system_destroy(&system);
}

static void check_all_settings(const yoke_advise_settings* settings, size_t n_least) {
  yoke_advice advice = search(settings);
  size_t n = 0;
  for (size_t i = 0; i < advice.n; i++) {
    if (advice.all[i].status == YOKE_ADVISED_JUDGED && isfinite(advice.all[i].score)) {
      check_setting(settings, &advice.all[i]);
      n++;
    }
  }
  print_message("%s: %zu settings of %zu checked\n", settings->path, n, advice.n);
  assert_true(n >= n_least);
  yoke__advise_free(&advice);
}

static void test_same_band_TR_18(void** state) {
  (void)state;
  yoke_advise_settings settings = {
      .path = write_system(loop_text, strlen(loop_text)), .budget = 60, .keep = (double)INFINITY};
  check_all_settings(&settings, 6);
  // absolute limits and the user's own settings are part of it
  const char* const sets[] = {"time.stop=4", "trust.signals=[one.x]", "trust.limits.one.x=1e-4"};
  settings.sets = sets;
  settings.n_sets = 3;
  check_all_settings(&settings, 6);
  unlink(settings.path);
}

static void test_same_band_of_known_systems_TR_18(void** state) {
  (void)state;
  static const char* const names[] = {"hydraulic-crane/crane.yaml",
                                      "linear-oscillator/jacobi.yaml"};
  const char* top = getenv("YOKE_SOURCE_DIR");
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char path[512];
    snprintf(path, sizeof path, "%s/scenarios/%s", top == NULL ? "." : top, names[i]);
    check_all_settings(
        &(yoke_advise_settings){.path = path, .budget = 40, .keep = (double)INFINITY}, 3);
  }
}

static void test_choice_TR_19(void** state) {
  (void)state;
  static const double shares[] = {0.1, 0.3, 0.9, 3};
  check_choices(STUDY_FINAL, getenv("YOKE_FULL") != NULL ? 40 : 15, shares, 4);
}

// ---- the search

static void test_search(void** state) {
  (void)state;
  const yoke_advise_settings settings = {.path = write_system(loop_text, strlen(loop_text))};
  yoke_advice advice = search(&settings);
  assert_string_equal(advice.all[0].name, "as given");
  assert_int_equal(advice.all[0].n_sets, 0);
  check_relative(advice.all[0].cost, 1, 1e-12);
  assert_true(advice.chosen > 0 && advice.chosen < advice.n);
  assert_int_equal(advice.all[advice.chosen].verdict, YOKE_TRUSTWORTHY);
  assert_true(advice.all[advice.chosen].score * 1.5 <= advice.all[0].score);
  assert_true(advice.spent <= YOKE_ADVISE_BUDGET);
  for (size_t i = 1; i < advice.n_ranked; i++) {
    assert_true(advice.all[advice.ranked[i - 1]].score <= advice.all[advice.ranked[i]].score);
  }
  // the same again, byte by byte
  yoke_json first = {0}, second = {0};
  yoke__advise_json(&settings, &advice, &first);
  yoke__advise_free(&advice);
  advice = search(&settings);
  yoke__advise_json(&settings, &advice, &second);
  assert_int_equal(yoke__json_finish(&first), YOKE_OK);
  assert_int_equal(yoke__json_finish(&second), YOKE_OK);
  assert_string_equal(first.text.bytes, second.text.bytes);
  yoke__json_free(&first);
  yoke__json_free(&second);
  yoke__advise_free(&advice);
  size_t n = 0;
  double cost = 0;
  assert_int_equal(yoke__advise_count(&settings, &n, &cost), YOKE_OK);
  assert_true(n >= 6);
  check_relative(cost, YOKE_ADVISE_BUDGET, 1e-12);
  unlink(settings.path);
}

// A loop with feedthrough; the method that it names is wrong by far at this step.
static const char named_text[] =
    "yoke: 1\ninputs: start\ncalls: 1\n"
    "time: {stop: 10, step: 0.05}\n"
    "units:\n"
    "  a: {model: state_space, with: {A: [[0, 1], [-70, -1]], B: [[0, 0], [40, 0.6]], C: [[40, "
    "0.6]], D: [[-40, -0.6]], x0: [1, 0]}}\n"
    "  b: {model: state_space, with: {A: [[0, 1], [-5, -0.1]], B: [[0], [0.5]], x0: [0, 0.5]}}\n"
    "connections: [a.y1 -> b.u1, b.y1 -> a.u1, b.y2 -> a.u2]\n"
    "couplings: {loop: {method: nepce, members: [a, b]}}\n";

static const yoke_advised* find_setting(const yoke_advice* advice, const char* name) {
  for (size_t i = 0; i < advice->n; i++) {
    if (strcmp(advice->all[i].name, name) == 0) {
      return &advice->all[i];
    }
  }
  return NULL;
}

// `auto` is the first that is tried. Ten calls do not fit into the default budget: they come on top, and the others keep
// theirs. A budget that is named is kept.
static void test_auto_first(void** state) {
  (void)state;
  yoke_advise_settings settings = {.path = write_system(named_text, strlen(named_text))};
  yoke_advice advice = search(&settings);
  assert_string_equal(advice.all[1].name, "auto");
  assert_int_equal(advice.all[1].status, YOKE_ADVISED_JUDGED);
  check_relative(advice.all[1].cost, 10, 1e-12);
  assert_int_equal(advice.chosen, 1);
  check_setting(&settings, &advice.all[1]);
  assert_int_equal(find_setting(&advice, "exchange: fresh")->status, YOKE_ADVISED_BOUNDED);
  check_between(advice.spent, YOKE_ADVISE_BUDGET, YOKE_ADVISE_BUDGET + YOKE_ADVISE_AUTO);
  size_t n = 0;
  double cost = 0;
  assert_int_equal(yoke__advise_count(&settings, &n, &cost), YOKE_OK);
  check_relative(cost, YOKE_ADVISE_BUDGET + 70, 1e-12);
  yoke__advise_free(&advice);
  settings.budget = YOKE_ADVISE_BUDGET;
  advice = search(&settings);
  assert_int_equal(advice.all[1].status, YOKE_ADVISED_LEFT_OUT);
  assert_true(advice.spent <= YOKE_ADVISE_BUDGET);
  yoke__advise_free(&advice);
  unlink(settings.path);
}

// A file that names nothing has `auto` already: half the step comes before other methods.
static void test_left_to_auto(void** state) {
  (void)state;
  const char* const sets[] = {"inputs=mean", "calls=auto", "couplings.loop.method=auto",
                              "trust.limit=1e-4"};
  const yoke_advise_settings settings = {
      .path = write_system(named_text, strlen(named_text)), .sets = sets, .n_sets = 4};
  yoke_advice advice = search(&settings);
  assert_null(find_setting(&advice, "auto"));
  assert_string_equal(advice.all[1].name, "as given, steps / 2");
  assert_int_equal(advice.all[1].status, YOKE_ADVISED_JUDGED);
  assert_true(advice.all[1].score < advice.all[0].score);
  assert_non_null(find_setting(&advice, "nepce"));
  assert_true(advice.spent <= YOKE_ADVISE_BUDGET);
  yoke__advise_free(&advice);
  unlink(settings.path);
}

// A budget that the given run uses up leaves the others out.
static void test_small_budget(void** state) {
  (void)state;
  const yoke_advise_settings settings = {.path = write_system(loop_text, strlen(loop_text)),
                                         .budget = 1};
  yoke_advice advice = search(&settings);
  assert_true(advice.is_exhausted);
  assert_int_equal(advice.chosen, 0);
  for (size_t i = 1; i < advice.n; i++) {
    assert_int_equal(advice.all[i].status, YOKE_ADVISED_LEFT_OUT);
  }
  yoke__advise_free(&advice);
  unlink(settings.path);
}

// Half the step is tried where no method is good enough.
static void test_refinement(void** state) {
  (void)state;
  const char* const sets[] = {"trust.limit=1e-9"};
  const yoke_advise_settings settings = {
      .path = write_system(loop_text, strlen(loop_text)), .sets = sets, .n_sets = 1, .budget = 400};
  yoke_advice advice = search(&settings);
  double smallest = 1;
  for (size_t i = 0; i < advice.n; i++) {
    smallest = fmin(smallest, advice.all[i].step);
  }
  check_relative(smallest, 0.1 / 8, 1e-12);
  yoke__advise_free(&advice);
  unlink(settings.path);
}

// Positive feedback that no coupling can tame: every setting diverges or is a plant that is unstable by itself.
static void test_all_diverge(void** state) {
  (void)state;
  static const char text[] = "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 40, step: 0.5}\n"
                             "units:\n"
                             "  one: {model: gain, with: {k: -300}}\n"
                             "  two: {model: state_space, with: {A: [[-1]], B: [[1]], inputs: [u], "
                             "outputs: [x], x0: [1]}}\n"
                             "connections: [two.x -> one.u, one.y -> two.u]\n";
  const yoke_advise_settings settings = {.path = write_system(text, strlen(text))};
  yoke_advice advice = search(&settings);
  assert_true(advice.chosen == YOKE_NOT_FOUND ||
              advice.all[advice.chosen].status == YOKE_ADVISED_JUDGED);
  assert_true(strlen(advice.text) > 0);
  yoke__advise_free(&advice);
  unlink(settings.path);
}

static void check_refused(const char* text, const char* expected) {
  HEAR(told);
  yoke_advice advice;
  const yoke_advise_settings settings = {.path = write_system(text, strlen(text))};
  assert_int_equal(yoke__advise(&settings, &advice, &told.sink), YOKE_BAD_INPUT);
  assert_non_null(strstr(told.text, expected));
  yoke__advise_free(&advice);
  unlink(settings.path);
}

static void test_refusals(void** state) {
  (void)state;
  check_refused("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nunits:\n  one: "
                "{model: gain, start: {u: 1}}\n",
                "nothing to advise");
  check_refused("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nunits:\n  one: "
                "{model: gian}\n",
                "gian");
  check_refused("yoke: 2\n", "yoke");
}

// ---- commands

static void test_quotes(void** state) {
  (void)state;
  static const char* const sets[] = {"a=b c", "d=it's", "time.step=1e-3"};
  const yoke_advise_settings settings = {.path = "my system.yaml"};
  const yoke_advised setting = {.sets = sets, .n_sets = 3, .mode = YOKE_TRUST_HALF};
  yoke_text command = {0};
  yoke__advise_command(&settings, &setting, &command);
  assert_string_equal(command.bytes, "yoke run 'my system.yaml' --set 'a=b c' --set "
                                     "'d=it'\\''s' --set time.step=1e-3 --trust half");
  yoke__text_free(&command);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_band_TR_18),
      cmocka_unit_test(test_same_band_of_known_systems_TR_18),
      cmocka_unit_test(test_choice_TR_19),
      cmocka_unit_test(test_search),
      cmocka_unit_test(test_auto_first),
      cmocka_unit_test(test_left_to_auto),
      cmocka_unit_test(test_small_budget),
      cmocka_unit_test(test_refinement),
      cmocka_unit_test(test_all_diverge),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_quotes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
