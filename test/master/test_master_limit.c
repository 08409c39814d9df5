// Limits of signals in the loop: which numbers they mean, when they are noted, how they end a run, saved states.
#include "base/base_image.h"
#include "master/master_run.h"
#include "support/check.h"
#include "support/sim.h"

// y rises by 1 per step from 0, x is its integral, the array goes its own way
#define SYSTEM(head, quality)                                                                      \
  "yoke: 1\n" head "calls: 1\ninputs: start\ntime: {stop: 10, step: 1}\nunits:\n"                  \
  "  T: {model: ramp, with: {slope: 1}}\n  i: {model: integrator, start: {x: 100}}\n"              \
  "  c: {model: channel, with: {n: 2}, start: {u: [5, 6]}}\n"                                      \
  "connections: [T.y -> i.u]\nquality: {" quality "}\n"

// Macro steps until one does not return YOKE_OK, or the stop time.
static yoke_status run_on(const sim* s) {
  yoke_status status = YOKE_OK;
  while (status == YOKE_OK && s->state->n_slots < s->system->n_slots) {
    status = yoke__master_step(s->system, s->state);
  }
  return status;
}

static const yoke_limit* limit_of(const sim* s, const char* name, bool is_above, bool is_stop) {
  for (size_t i = 0; i < s->system->n_limits; i++) {
    const yoke_system_limit* limit = &s->system->limits[i];
    if (strcmp(limit->name, name) == 0 && limit->source->is_above == is_above &&
        limit->source->is_stop == is_stop) {
      return &s->state->watch.limits[i];
    }
  }
  fail_msg("no limit of %s", name);
  return NULL;
}

static void check_limit(const yoke_limit* limit, int64_t n, double t, double value, double t_worst,
                        double worst) {
  assert_int_equal(limit->n_beyond, n);
  check_near(limit->t, t, 1e-12);
  check_near(limit->value, value, 1e-12);
  check_near(limit->t_worst, t_worst, 1e-12);
  check_near(limit->worst, worst, 1e-12);
}

static void check_text(const sim* s, const char* expected) {
  char text[512];
  yoke__master_limit_text(s->system, s->state, s->state->watch.limited_by, text, sizeof text);
  assert_string_equal(text, expected);
}

static const char* const heads[] = {"", "scheme: gauss-seidel\n", "threads: 2\n",
                                    "scheme: iterative-jacobi\n"};

// The first step at whose end the value is beyond: equal is not.
static void test_stop(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
    sim s = sim_open("%s%s", SYSTEM("", "stop: {above: {T.y: 4}}, warn: {above: {T.y: 2.5}}"),
                     heads[i]);
    assert_int_equal(run_on(&s), YOKE_STOPPED);
    assert_true(s.state->is_stopped);
    check_near(s.state->t, 5, 1e-12);
    check_limit(limit_of(&s, "T.y", true, true), 1, 5, 5, 5, 5);
    check_limit(limit_of(&s, "T.y", true, false), 3, 3, 3, 5, 5);
    check_text(&s, "T.y is 5 at t = 5 s, above the stop limit of 4");
    sim_close(&s);
  }
}

static void test_warn(void** state) {
  (void)state;
  sim s = sim_open(SYSTEM("", "warn: {above: {T.y: 7.5}, below: {\"c.y[1]\": 5.5, c.y: 5.5}}"));
  sim_run(&s);
  assert_false(s.state->is_stopped);
  assert_true(yoke__master_is_limited(s.system, s.state));
  assert_true(s.state->watch.limited_by == YOKE_NOT_FOUND);
  check_limit(limit_of(&s, "T.y", true, false), 3, 8, 8, 10, 10);
  check_limit(limit_of(&s, "c.y[0]", false, false), 11, 0, 5, 0, 5);
  assert_int_equal(limit_of(&s, "c.y[1]", false, false)->n_beyond, 0);
  sim_close(&s);

  s = sim_open(SYSTEM("", "warn: {above: {T.y: 100}}"));
  sim_run(&s);
  assert_false(yoke__master_is_limited(s.system, s.state));
  sim_close(&s);
}

// A value that falls and a local quantity; patterns mean outputs, the last one counts.
static void test_names(void** state) {
  (void)state;
  sim s = sim_open(SYSTEM("", "stop: {above: {i.x: 109, \"*\": 1000, \"?.y\": 900, i.y: 800}, "
                              "below: {i.x: 50}}"));
  assert_int_equal(s.system->n_limits, 6);  // T.y, i.y, c.y twice, i.x twice
  for (size_t i = 0; i < s.system->n_limits; i++) {
    const yoke_system_limit* limit = &s.system->limits[i];
    if (limit->source->is_above && !limit->is_fetched) {
      check_near(limit->source->value, strcmp(limit->name, "i.y") == 0 ? 800 : 900, 0);
    }
    assert_true(limit->is_fetched == (strcmp(limit->name, "i.x") == 0));
  }
  // 100, 100, 101, 103, 106, 110
  assert_int_equal(run_on(&s), YOKE_STOPPED);
  check_near(s.state->t, 5, 1e-12);
  check_text(&s, "i.x is 110 at t = 5 s, above the stop limit of 109");
  sim_close(&s);
}

// What is beyond already is said at once, and ends the run after one step: safe actions are done in a run.
static void test_at_the_start(void** state) {
  (void)state;
  char messages[4096];
  sim s;
  check_ok(sim_try(NULL, SYSTEM("", "stop: {below: {i.y: 120}}, warn: {above: {i.y: 99}}"), &s,
                   messages, sizeof messages));
  check_contains(messages, "warning: i.y is 100 at the start, t = 0 s, above the warn limit of 99");
  check_contains(messages, ":10:53: warning");
  check_contains(messages, "i.y is 100 at the start, t = 0 s, below the stop limit of 120");
  assert_false(s.state->is_stopped);
  assert_int_equal(run_on(&s), YOKE_STOPPED);
  check_near(s.state->t, 1, 1e-12);
  check_text(&s, "i.y is 100 at the start, t = 0 s, below the stop limit of 120");
  sim_close(&s);
}

// The value furthest beyond is kept, of several stop limits the first one counts.
static void test_worst(void** state) {
  (void)state;
  sim s = sim_open("yoke: 1\ncalls: 1\ntime: {stop: 1, step: 0.01}\nunits:\n"
                   "  a: {model: sine, with: {amplitude: 10, frequency: 1}}\n"
                   "quality: {warn: {above: {a.y: 5}, below: {a.y: -9}}}\n");
  sim_run(&s);
  // 5 = 10 sin(30 degrees): steps 9 to 41
  check_limit(limit_of(&s, "a.y", true, false), 33, 0.09, 10 * sin(0.18 * 3.14159265358979), 0.25,
              10);
  check_near(limit_of(&s, "a.y", false, false)->worst, -10, 1e-12);
  check_near(limit_of(&s, "a.y", false, false)->t_worst, 0.75, 1e-12);
  sim_close(&s);
}

// A macro step of several slots: looked at when it ends, not between.
static void test_ends_of_macro_steps(void** state) {
  (void)state;
  sim s = sim_open("yoke: 1\ncalls: 1\ntime: {stop: 10, step: 1}\nunits:\n"
                   "  T: {model: ramp, step: 0.25}\n  g: {model: gain, step: 0.25}\n"
                   "connections: [{from: T.y, to: g.u, exchange: 0.25}]\n"
                   "quality: {stop: {above: {T.y: 4.1}}}\n");
  assert_int_equal(s.system->macro_slots, 4);
  assert_int_equal(run_on(&s), YOKE_STOPPED);
  check_near(s.state->t, 5, 1e-12);
  assert_int_equal(s.state->watch.n_steps, 5);
  sim_close(&s);
}

// Without a limit the loop takes the short way.
static void test_costs_nothing_without(void** state) {
  (void)state;
  sim s = sim_open(SYSTEM("", "find: true"));
  assert_non_null(s.state->watch.plain);
  sim_close(&s);
  s = sim_open(SYSTEM("", "stop: {above: {T.y: 4}}"));
  assert_null(s.state->watch.plain);
  sim_close(&s);
}

static void test_image(void** state) {
  (void)state;
  sim s = sim_open(SYSTEM("", "warn: {above: {T.y: 2.5}}, stop: {above: {T.y: 8}}"));
  sim_steps(&s, 4);
  yoke_image measure = {0};
  yoke__master_image(s.system, s.state, &measure);
  unsigned char* bytes = calloc(measure.used + 64, 1);
  assert_non_null(bytes);
  yoke__master_image(s.system, s.state, &(yoke_image){.to = bytes});
  assert_int_equal(run_on(&s), YOKE_STOPPED);
  assert_int_equal(limit_of(&s, "T.y", true, false)->n_beyond, 7);

  yoke__master_image(s.system, s.state, &(yoke_image){.from = bytes});
  check_limit(limit_of(&s, "T.y", true, false), 2, 3, 3, 4, 4);
  assert_false(s.state->is_stopped);
  assert_true(s.state->watch.limited_by == YOKE_NOT_FOUND);
  free(bytes);
  sim_close(&s);
}

static void refuses(const char* text, const char* part) {
  char messages[4096];
  sim s;
  assert_int_equal(sim_try(NULL, text, &s, messages, sizeof messages), YOKE_BAD_INPUT);
  check_contains(messages, part);
}

static void test_refuses(void** state) {
  (void)state;
  refuses(SYSTEM("", "stop: {above: {T.x: 1}}"),
          "quality: 'T.x' is no real output and no local quantity; did you mean 'T.y'?");
  refuses(SYSTEM("", "stop: {above: {\"q*\": 1}}"), "quality: 'q*' is no real output");
  refuses(SYSTEM("", "warn: {below: {i.u: 1}}"),
          "quality: 'i.u' is an input: name the output that feeds it");
  refuses(SYSTEM("", "warn: {below: {i.k: 1}}"), "quality: 'i.k' is a parameter");
  refuses(SYSTEM("", "warn: {below: {c.n_lost: 1}}"), "quality: 'c.n_lost' is not real");
  refuses(SYSTEM("", "stop: {above: {T.y: 4}, below: {\"T*\": 4}}"),
          "quality: no value of T.y lies between 'stop.below', 4, and 'stop.above', 4");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stop),
      cmocka_unit_test(test_warn),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_at_the_start),
      cmocka_unit_test(test_worst),
      cmocka_unit_test(test_ends_of_macro_steps),
      cmocka_unit_test(test_costs_nothing_without),
      cmocka_unit_test(test_image),
      cmocka_unit_test(test_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
