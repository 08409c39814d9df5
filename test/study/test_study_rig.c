// Runs that begin and end in the safe state (TE-12): whatever ends them, the safe actions are done before they count as ended, and
// what is measured is as if there were none.
#include "base/base_os.h"
#include "master/pace_helper.h"
#include "study/study_fixture.h"
#include "study/study_rig.h"

// ---- runs of a study

#define RUNAWAY                                                                                    \
  "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 1e-2}\nunits:\n"                        \
  "  i: {model: integrator, start: {x: 1}}\n  g: {model: gain, with: {k: -1}}\n"                   \
  "connections: [g.y -> i.u, i.y -> g.u]\n"

static const char* const vary[] = {"units.g.with.k=-1,1,1e100", NULL};
static const char* const measures[] = {"end:i.y", "max:i.y", "steps", NULL};

static void test_every_end_is_safe_TE_12(void** state) {
  (void)state;
  static const char* const limits[] = {"max:i.y<=2", NULL};
  static const yoke_run_status want[2][3] = {
      {YOKE_RUN_DONE, YOKE_RUN_LIMIT, YOKE_RUN_LIMIT},
      {YOKE_RUN_DONE, YOKE_RUN_DONE, YOKE_RUN_DIVERGED},
  };
  for (int is_free = 0; is_free < 2; is_free++) {
    fixture plain, safe;
    double v[FIXTURE_MAX], w[FIXTURE_MAX];
    fixture_open(&plain, RUNAWAY, vary, measures, is_free != 0 ? NULL : limits);
    fixture_open(&safe, RUNAWAY "safe: [{set: i.u, to: 0, over: 0.05}]\n", vary, measures,
                 is_free != 0 ? NULL : limits);
    for (size_t i = 0; i < 3; i++) {
      const yoke_study_result a = fixture_run(&plain, i, 0, v);
      char reason[1024];
      snprintf(reason, sizeof reason, "%s", a.reason);
      const yoke_study_result b = fixture_run(&safe, i, 0, w);
      assert_int_equal(a.ended, YOKE_RUN_INIT);
      assert_int_equal(b.ended, YOKE_RUN_SAFE);
      assert_int_equal(b.began, YOKE_RUN_INIT);  // no machine: every run has one of its own
      assert_int_equal(b.status, want[is_free][i]);
      assert_int_equal(a.status, b.status);
      assert_string_equal(b.reason, reason);
      assert_memory_equal(v, w, 3 * sizeof *v);
      check_near(a.t, b.t, 0);
    }
    fixture_close(&plain);
    fixture_close(&safe);
  }
}

// a limit that the start violates, an interrupt before the first step
static void test_ends_before_the_first_step(void** state) {
  (void)state;
  static const char* const limits[] = {"max:i.y<=0.5", NULL};
  fixture f;
  double v[FIXTURE_MAX];
  fixture_open(&f, RUNAWAY "safe: [{set: i.u, to: 0}]\n", vary, measures, limits);
  const yoke_study_result at_once = fixture_run(&f, 0, 0, v);
  assert_int_equal(at_once.status, YOKE_RUN_LIMIT);
  assert_int_equal(at_once.ended, YOKE_RUN_SAFE);
  f.plan.n_limits = 0;
  atomic_bool is_cancelled = true;
  yoke_study_result cut = {.values = v};
  check_ok(yoke__study_run(&f.plan, 0, 0, &is_cancelled, &cut));
  assert_int_equal(cut.status, YOKE_RUN_CUT);
  assert_int_equal(cut.ended, YOKE_RUN_SAFE);
  assert_true(yoke__run_is_void(cut.status) && isnan(v[0]));
  // a machine that an earlier run left in FAULT: nothing begins
  yoke_rig rig = {.state = YOKE_RUN_FAULT};
  f.plan.rig = &rig;
  is_cancelled = false;
  assert_int_equal(yoke__study_run(&f.plan, 0, 0, &is_cancelled, &cut), YOKE_INTERRUPTED);
  assert_int_equal(cut.status, YOKE_RUN_PENDING);
  fixture_close(&f);
}

// ---- a machine

// model a -> machine m; 4 steps of the ramp from 3 to 7
#define BENCH                                                                                      \
  "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.01, step: 1e-3%s}\nunits:\n"                   \
  "  a: {model: busy, with: {fails_at: %d}, start: {u: 3}}\n"                                      \
  "  m: {model: machine, with: {takes_time: 0, fails_at: %d}, start: {u: 3}}\n"                    \
  "connections: [a.y -> m.u]\nsafe: [{set: m.u, to: 7, over: 4e-3}]\n"

static paced open_bench(const char* pace, int a_fails_at, int m_fails_at) {
  char text[1024];
  snprintf(text, sizeof text, BENCH, pace, a_fails_at, m_fails_at);
  return paced_open(text);
}

static int n_judged, stop_at;

static yoke_status judge(void* to, yoke_status status) {
  (void)to;
  return ++n_judged == stop_at ? YOKE_STOPPED : status;
}

// How it ended; valid until the next call.
static const yoke_rig_end* run_bench(const paced* p, int stop) {
  static const atomic_bool never = false;
  static yoke_rig_end end;  // its failure points into it
  const yoke_rig_calls calls = {judge, NULL, &never};
  n_judged = 0;
  stop_at = stop;
  check_ok(yoke__rig_run(p->s.system, p->s.state, stop == 0 ? NULL : &calls, &end));
  return &end;
}

// what the machine got last, and how many steps it took
static void check_machine(size_t n_steps, double last) {
  assert_int_equal(n_inputs_seen, n_steps);
  check_near(inputs_seen[n_steps - 1], last, 0);
}

static void test_machine_is_led_to_safe(void** state) {
  (void)state;
  // to the end; aborted after three steps; nothing but the way to the safe state
  static const int stops[] = {-1, 3, 0};
  static const size_t n_run[] = {10, 3, 0};
  for (size_t i = 0; i < YOKE_COUNT(stops); i++) {
    paced p = open_bench("", -1, -1);
    assert_string_equal(yoke__rig_machine(p.s.system), "m");
    assert_true(yoke__rig_is_one(p.s.system));
    const yoke_rig_end* end = run_bench(&p, stops[i]);
    assert_int_equal(end->status, i == 0 ? YOKE_OK : i == 1 ? YOKE_STOPPED : YOKE_INTERRUPTED);
    assert_int_equal(end->state, YOKE_RUN_SAFE);
    check_machine(n_run[i] + 4, 7);
    // the first of four equal steps, from what came last; a's output is 0 at the start
    check_near(inputs_seen[n_run[i]], n_run[i] > 0 ? 4 : 1.75, 1e-12);
    assert_int_equal(n_judged, n_run[i]);  // nothing is judged while it stops
    paced_close(&p);
  }
}

// a model that fails is made anew for the next run; a machine has to be looked at
static void test_who_failed_decides_the_state(void** state) {
  (void)state;
  paced p = open_bench("", 2, -1);
  const yoke_rig_end* end = run_bench(&p, -1);
  assert_int_equal(end->status, YOKE_UNIT_FAILED);
  assert_int_equal(end->state, YOKE_RUN_SAFE);
  check_machine(3 + 4, 7);
  paced_close(&p);
  p = open_bench("", -1, 2);
  end = run_bench(&p, -1);
  assert_int_equal(end->status, YOKE_UNIT_FAILED);
  assert_int_equal(end->state, YOKE_RUN_FAULT);
  assert_string_equal(end->failure.message.unit, "m");
  check_machine(3, 3);  // it is not called any more
  paced_close(&p);
}

static void stall(int64_t k) {
  (void)k;
  yoke__os_sleep_ns(5000000);
}

// a machine that does not wait is run by the clock if the file says so: five times too slow, it ends in SAFE
static void test_late_machine_ends_in_safe(void** state) {
  (void)state;
  paced p = open_bench(", pace: {overrun: stop}", -1, -1);
  at_step = stall;
  const yoke_rig_end* end = run_bench(&p, -1);
  assert_int_equal(end->status, YOKE_LATE);
  assert_int_equal(end->state, YOKE_RUN_SAFE);
  check_contains(end->failure.message.text, "1 step in a row ended late (overrun: stop)");
  check_machine(1 + 4, 7);
  paced_close(&p);
  // without `pace` nobody looks at the clock
  p = open_bench("", -1, -1);
  at_step = stall;
  assert_int_equal(run_bench(&p, -1)->status, YOKE_OK);
  paced_close(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_end_is_safe_TE_12),
      cmocka_unit_test(test_ends_before_the_first_step),
      cmocka_unit_test(test_machine_is_led_to_safe),
      cmocka_unit_test(test_who_failed_decides_the_state),
      cmocka_unit_test(test_late_machine_ends_in_safe),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
