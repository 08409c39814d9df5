// Runs that follow the clock, on a clock that does not move by itself. B-15: stalls are classified, the grid stays, the
// figures are those of a recount. CS-29: no drift, stalls are counted and trigger the policy. B-16: overload ends in SAFE.
#include "pace_helper.h"

#define MS INT64_C(1000000)

static const char one_unit[] =
    "yoke: 1\ncalls: 1\ntime: {stop: %g, step: 1e-3, pace: {factor: %g, "
    "overrun: %s, limit: %d}}\nunits: {a: {model: busy, budget: 5e-4}}\n";

static paced open_one(double stop, double factor, const char* overrun, int limit) {
  char text[512];
  snprintf(text, sizeof text, one_unit, stop, factor, overrun, limit);
  return paced_open(text);
}

// ---------------------------------------------------------------------------------------------------------
// the grid alone

static void test_stalls_are_classified_B_15(void** state) {
  (void)state;
  static const struct {
    double stall;  // in steps
    bool is_overrun;
    int64_t n_missed;
  } cases[] = {{0, false, 0},  {0.5, false, 0}, {1, false, 0},   {1.000001, true, 1},
               {1.5, true, 1}, {2, true, 1},    {2.5, true, 2},  {3, true, 2},
               {3.2, true, 3}, {40, true, 39},  {40.5, true, 40}};
  const yoke_pace_grid grid = {INT64_C(987654321), 1e6};
  for (int64_t slot = 0; slot < 100000; slot += 777) {
    for (size_t i = 0; i < YOKE_COUNT(cases); i++) {
      const yoke_pace_outcome o = yoke__pace_classify(
          &grid, slot, grid.start_ns + slot * MS + llround(cases[i].stall * 1e6));
      assert_int_equal(o.is_overrun, cases[i].is_overrun);
      assert_int_equal(o.n_missed, cases[i].n_missed);
    }
  }
}

// grid times come from the integer, so that a period that is no whole number of nanoseconds does not drift
static void test_grid_does_not_drift(void** state) {
  (void)state;
  const yoke_pace_grid grid = {0, 1e6 / 3};
  assert_int_equal(yoke__pace_time(&grid, 3), MS);
  assert_int_equal(yoke__pace_time(&grid, INT64_C(3) * 3600 * 1000), INT64_C(3600) * 1000 * MS);
  int64_t worst = 0;
  for (int64_t k = 0; k < 1000000; k++) {
    const int64_t d = yoke__pace_time(&grid, k + 1) - yoke__pace_time(&grid, k);
    worst = d > worst ? d : worst;
    assert_true(d == 333333 || d == 333334);
  }
}

// ---------------------------------------------------------------------------------------------------------
// the loop

static void test_stalls_in_a_run_B_15(void** state) {
  (void)state;
  static const int64_t stalls[] = {0, 0, MS / 2, 0, 3 * MS / 2, 0, 0, 16 * MS / 5, 0, 0};
  paced p = open_one(0.02, 1, "continue", 3);
  durations = stalls;
  n_durations = YOKE_COUNT(stalls);
  assert_int_equal(paced_run(&p), YOKE_OK);
  assert_int_equal(p.info.n_steps, 20);
  assert_int_equal(p.pace->n_releases, 20);
  assert_int_equal(p.pace->n_overruns, 2);
  assert_int_equal(p.pace->n_missed, 1 + 3);
  assert_int_equal(p.pace->lag, 4);
  assert_int_equal(p.pace->longest_run, 1);
  assert_int_equal(p.pace->longest_late_ns, 11 * MS / 5);
  // the grid is where it was: the last release and the end lie on it
  assert_int_equal(p.pace->begin_ns - p.pace->grid.start_ns, (19 + 4) * MS);
  assert_int_equal(the_clock.now - p.pace->grid.start_ns, (20 + 4) * MS);
  assert_int_equal(p.pace->late_ns.max, 0);
  // the unit's own figures: everything was its time
  assert_int_equal(p.pace->units[0].ns.max, 16 * MS / 5);
  assert_int_equal(p.pace->units[0].n_over, 2);
  assert_int_equal(p.pace->step_ns.max, 16 * MS / 5);
  char text[256];
  yoke__pace_grade(p.pace, text, sizeof text);
  assert_string_equal(text, "not real time: 4 slots behind the clock");
  paced_close(&p);
}

static void test_sixty_seconds_CS_29(void** state) {
  (void)state;
  paced p = open_one(60, 1, "hold", 3);
  static int64_t each[60000];
  for (size_t i = 0; i < YOKE_COUNT(each); i++) {
    each[i] = 300000;
  }
  durations = each;
  n_durations = YOKE_COUNT(each);
  assert_int_equal(paced_run(&p), YOKE_OK);
  const double clock_s = (double)(the_clock.now - p.pace->grid.start_ns) * 1e-9;
  print_message("60 s: simulated %.9f s, clock %.9f s, %lld late\n", p.info.t_reached, clock_s,
                (long long)p.pace->n_overruns);
  check_near(clock_s, p.info.t_reached, 1e-3);
  assert_int_equal(p.pace->n_overruns, 0);
  assert_int_equal(the_clock.n_sleeps,
                   60000);  // one before each step but the first, one at the end
  paced_close(&p);
}

// a stall of 2 H: counted, reported, and each policy does what it says
static void test_stall_triggers_the_policy_CS_29(void** state) {
  (void)state;
  static const int64_t stalls[] = {0, 0, 0, 2 * MS + 1000};
  static const struct {
    const char* overrun;
    yoke_status status;
    int64_t n_steps, lag, n_held, clock;
  } cases[] = {
      {"continue", YOKE_OK, 10, 2, 0, 12}, {"hold", YOKE_OK, 10, 2, 0, 12},
      {"skip", YOKE_OK, 10, 0, 2, 10},     {"stop", YOKE_LATE, 4, 2, 0, 6},
      {"catch-up", YOKE_OK, 10, 0, 0, 10},
  };
  for (size_t i = 0; i < YOKE_COUNT(cases); i++) {
    paced p = open_one(0.01, 1, cases[i].overrun, 3);
    durations = stalls;
    n_durations = YOKE_COUNT(stalls);
    assert_int_equal(paced_run(&p), cases[i].status);
    assert_int_equal(p.info.n_steps, cases[i].n_steps);
    assert_int_equal(p.pace->n_missed, strcmp(cases[i].overrun, "catch-up") == 0 ? 3 : 2);
    assert_int_equal(p.pace->lag, cases[i].lag);
    assert_int_equal(p.pace->n_held, cases[i].n_held);
    assert_int_equal(the_clock.now - p.pace->grid.start_ns, cases[i].clock * MS);
    check_near(sim_read(&p.s, "a.n"), (double)cases[i].n_steps, 0);
    check_near(sim_read(&p.s, "a.t"), p.info.t_reached, 1e-15);
    assert_int_equal(p.pace->safe.now.state, YOKE_RUN_SAFE);
    paced_close(&p);
  }
}

static void test_limit_counts_overruns_in_a_row(void** state) {
  (void)state;
  // two in a row are allowed, three are not
  static const int64_t stalls[] = {0, 2 * MS, 2 * MS, 0,      0,      2 * MS, 0, 2 * MS, 2 * MS,
                                   0, 2 * MS, 0,      2 * MS, 2 * MS, 2 * MS, 0, 0};
  static const char* const policies[] = {"hold", "continue"};
  for (size_t i = 0; i < YOKE_COUNT(policies); i++) {
    paced p = open_one(0.05, 1, policies[i], 3);
    durations = stalls;
    n_durations = YOKE_COUNT(stalls);
    assert_int_equal(paced_run(&p), i == 0 ? YOKE_LATE : YOKE_OK);
    assert_int_equal(p.info.n_steps, i == 0 ? 15 : 50);
    assert_int_equal(p.pace->longest_run, 3);
    assert_true(yoke__pace_is_beyond(p.pace));
    paced_close(&p);
  }
}

// iterative schemes repeat steps: a unit's time is that of all of them
static void test_units_are_timed_in_iterations(void** state) {
  (void)state;
  static const char* const schemes[] = {"iterative-jacobi", "iterative-gauss-seidel"};
  static const int64_t stalls[] = {MS / 10, MS / 10, MS / 10, MS / 10, MS / 10, MS / 10};
  for (size_t i = 0; i < 4; i++) {
    char text[512];
    snprintf(text, sizeof text,
             "yoke: 1\ncalls: 1\nscheme: %s\nthreads: %d\ntime: {stop: 3e-3, step: 1e-3, pace: "
             "1}\nunits:\n  a: {model: busy, budget: 2.5e-4}\n  b: {model: busy, with: "
             "{takes_time: 0}}\nconnections: [a.y -> b.u, b.y -> a.u]\n",
             schemes[i % 2], i < 2 ? 1 : 2);
    paced p = paced_open(text);
    durations = stalls;
    n_durations = YOKE_COUNT(stalls);
    assert_int_equal(paced_run(&p), YOKE_OK);
    // n is restored before every repetition: each macro step repeats its own, and all of these took a tenth
    const int64_t n = p.info.iteration.n_iterations + p.info.iteration.n_steps;
    assert_int_equal(p.pace->units[0].ns.n, 3);
    assert_int_equal(the_clock.now - p.pace->grid.start_ns, 3 * MS);
    assert_int_equal(p.pace->units[0].ns.max, n / 3 * (MS / 10));
    assert_int_equal(p.pace->units[0].n_over, n / 3 > 2 ? 3 : 0);
    paced_close(&p);
  }
}

// ---------------------------------------------------------------------------------------------------------
// recount

typedef struct recount {
  int64_t n_releases, n_overruns, n_missed, n_held, longest_run, longest_late, lag, clock, late_max;
} recount;

// What must come out, by counting slots one by one.
static recount count_by_hand(yoke_overrun policy, int64_t limit, double period, int64_t n_steps,
                             const int64_t steps[], const int64_t wakes[], int64_t* n_done) {
  recount r = {0};
  int64_t t = 0, g = 0, owed = 0, k = 0, run = 0, sleeps = 0;
  while (k < n_steps) {
    const int64_t release = llround((double)g * period);
    if (t < release) {
      t = release + wakes[sleeps++];
    }
    r.late_max = t - release > r.late_max ? t - release : r.late_max;
    r.n_releases++;
    const int64_t n = 1 + (owed < n_steps - k ? owed : n_steps - k - 1);
    for (int64_t i = 0; i < n; i++) {
      t += steps[k++];
    }
    r.n_held += n - 1;
    r.lag += owed - (n - 1);
    int64_t missed = 0;
    while (llround((double)(g + 1 + missed) * period) < t) {
      missed++;
    }
    run = missed > 0 ? run + 1 : 0;
    r.n_overruns += missed > 0;
    r.n_missed += missed;
    r.longest_run = run > r.longest_run ? run : r.longest_run;
    const int64_t late = t - llround((double)(g + 1) * period);
    r.longest_late = late > r.longest_late ? late : r.longest_late;
    g += policy == YOKE_OVERRUN_CATCH_UP ? 1 : 1 + missed;
    r.lag = policy == YOKE_OVERRUN_CATCH_UP ? missed
            : policy == YOKE_OVERRUN_SKIP   ? r.lag
                                            : r.lag + missed;
    owed = policy == YOKE_OVERRUN_SKIP ? missed : 0;
    if ((policy == YOKE_OVERRUN_STOP && run > 0) ||
        ((policy == YOKE_OVERRUN_HOLD || policy == YOKE_OVERRUN_SKIP) && run >= limit)) {
      break;
    }
  }
  r.lag += owed;  // missed, and not computed any more
  const int64_t end = llround((double)g * period);
  r.clock = t < end ? end + wakes[sleeps] : t;
  *n_done = k;
  return r;
}

static uint64_t next_random(uint64_t* x) {
  *x ^= *x << 13;
  *x ^= *x >> 7;
  *x ^= *x << 17;
  return *x;
}

static void test_figures_are_those_of_a_recount_B_15(void** state) {
  (void)state;
  enum { N = 3000 };
  static int64_t steps[N], wakes[2 * N];
  uint64_t x = UINT64_C(88172645463325252);
  int64_t n_overruns = 0;
  for (int trial = 0; trial < 60; trial++) {
    const yoke_overrun policy = (yoke_overrun)(trial % 5);
    const double factor = (const double[]){1, 0.7, 3}[trial / 5 % 3];
    const double period = 1e6 / factor;
    // mostly short steps, now and then a long one or a late sleep
    for (size_t i = 0; i < N; i++) {
      const double u = (double)(next_random(&x) >> 11) * 0x1p-53;
      steps[i] = (int64_t)((next_random(&x) % 100 < 3 ? 5 * u : 0.8 * u) * period);
    }
    for (size_t i = 0; i < (size_t)2 * N; i++) {
      wakes[i] = next_random(&x) % 100 < 2 ? (int64_t)(next_random(&x) % 3000000)
                                           : (int64_t)(next_random(&x) % 50000);
    }
    paced p = open_one(N * 1e-3, factor, yoke__overrun_words[policy], 4);
    durations = steps;
    n_durations = N;
    the_clock.wake_late = wakes;
    const yoke_status status = paced_run(&p);
    int64_t n_done = 0;
    const recount r = count_by_hand(policy, 4, period, N, steps, wakes, &n_done);
    assert_int_equal(status, n_done < N ? YOKE_LATE : YOKE_OK);
    assert_int_equal(p.info.n_steps, n_done);
    assert_int_equal(p.pace->n_releases, r.n_releases);
    assert_int_equal(p.pace->n_overruns, r.n_overruns);
    assert_int_equal(p.pace->n_missed, r.n_missed);
    assert_int_equal(p.pace->n_held, r.n_held);
    assert_int_equal(p.pace->longest_run, r.longest_run);
    assert_int_equal(p.pace->longest_late_ns, r.longest_late);
    assert_int_equal(p.pace->lag, r.lag);
    assert_int_equal(p.pace->late_ns.n, r.n_releases);
    assert_int_equal(p.pace->late_ns.max, r.late_max);
    assert_int_equal(the_clock.now - p.pace->grid.start_ns, r.clock);
    n_overruns += r.n_overruns;
    paced_close(&p);
  }
  print_message("60 random traces: %lld overruns counted twice\n", (long long)n_overruns);
  assert_true(n_overruns > 1000);
}

// ---------------------------------------------------------------------------------------------------------
// the safe state

static const char bench[] =
    "yoke: 1\ncalls: 1\ntime: {stop: %g, step: 1e-3, pace: {overrun: %s}}\nunits:\n"
    "  source: {model: sine, with: {amplitude: 0, offset: 5}}\n"
    "  a: {model: busy, with: {fails_at: %d}}\n"
    "  shaft: {model: machine, with: {takes_time: 0}}\n"
    "  brake: {model: machine, with: {takes_time: 0}}\n"
    "connections: [{from: source.y, to: shaft.u, method: hold}, {from: source.y, to: a.u, method: "
    "hold}]\n%s";
static const char actions[] =
    "safe: [{set: shaft.u, to: 0, over: 0.01}, {set: brake.u, to: 1}, {set: shaft.u, to: -1, over: "
    "2e-3}]\n";

static paced open_bench(double stop, const char* overrun, int fails_at, const char* safe) {
  char text[1024];
  snprintf(text, sizeof text, bench, stop, overrun, fails_at, safe);
  return paced_open(text);
}

static void test_overload_ends_in_safe_B_16(void** state) {
  (void)state;
  static const int64_t stalls[] = {0, 0, 0, 0, 0, 3 * MS / 2, 3 * MS / 2, 3 * MS / 2};
  paced p = open_bench(1, "hold", -1, actions);
  durations = stalls;
  n_durations = YOKE_COUNT(stalls);
  assert_int_equal(paced_run(&p), YOKE_LATE);
  // 8 steps, then 10 of the first ramp, 1 that sets the brake, 2 of the second ramp
  assert_int_equal(p.info.n_steps, 8 + 10 + 1 + 2);
  assert_int_equal(p.pace->safe.now.state, YOKE_RUN_SAFE);
  assert_int_equal(p.pace->n_run_at_stop, 3);
  check_near(p.pace->safe.t_stop, 8e-3, 1e-12);
  check_near(sim_read(&p.s, "shaft.y"), -1, 0);
  check_near(sim_read(&p.s, "brake.y"), 1, 0);
  check_near(sim_read(&p.s, "source.y"), 5, 0);  // the connection would still give this
  paced_close(&p);
}

// the input is led down in equal steps, each on its grid time, whatever its connection gives
static void test_actions_are_ramped(void** state) {
  (void)state;
  atomic_bool is_cancelled = true;
  paced p = open_bench(1, "skip", -1, "safe: [{set: shaft.u, to: 0, over: 0.01}]\n");
  p.settings.is_cancelled = &is_cancelled;
  assert_int_equal(paced_run(&p), YOKE_INTERRUPTED);
  assert_int_equal(p.info.n_steps, 10);
  assert_int_equal(n_inputs_seen, 2 * 10);  // shaft and brake by turns
  for (size_t n = 0; n < 10; n++) {
    check_near(inputs_seen[2 * n], 5 - 0.5 * (double)(n + 1), 1e-14);
    check_near(inputs_seen[2 * n + 1], 0, 0);
  }
  assert_int_equal(the_clock.now - p.pace->grid.start_ns, 9 * MS);
  paced_close(&p);
  check_near(yoke__safe_ramp(5, 2, 1, 0), 2, 0);
}

static void check_failing(const char* more) {
  char keys[512];
  snprintf(keys, sizeof keys, "%s%s", actions, more);
  paced p = open_bench(1, "hold", 5, keys);
  assert_int_equal(paced_run(&p), YOKE_UNIT_FAILED);
  assert_int_equal(p.pace->safe.now.state, YOKE_RUN_FAULT);
  check_contains(p.info.failure.message.text, "step failed");
  assert_string_equal(p.info.failure.message.unit, "a");
  // the machines were led down while it was left alone
  check_near(sim_read(&p.s, "shaft.y"), -1, 0);
  check_near(sim_read(&p.s, "shaft.n"), 6 + 13, 0);
  check_near(sim_read(&p.s, "a.n"), 5, 0);  // its last good outputs
  // latched: another run is refused
  assert_int_equal(paced_run(&p), YOKE_BAD_ARG);
  paced_close(&p);
}

static void test_unit_that_fails_leads_to_fault(void** state) {
  (void)state;
  check_failing("");
  check_failing("threads: 2\n");
  check_failing("scheme: gauss-seidel\n");

  paced p = open_bench(1, "hold", 5, "");  // nothing to do: it ends at once
  assert_int_equal(paced_run(&p), YOKE_UNIT_FAILED);
  assert_int_equal(p.pace->safe.now.state, YOKE_RUN_FAULT);
  check_near(sim_read(&p.s, "source.y"), 5, 0);
  assert_int_equal(p.info.n_steps, 5);
  paced_close(&p);
}

static void test_end_of_the_run_is_safe(void** state) {
  (void)state;
  paced p = open_bench(0.02, "hold", -1, actions);
  assert_int_equal(paced_run(&p), YOKE_OK);
  assert_int_equal(p.info.n_steps, 20);
  check_near(p.info.t_reached, 0.02, 1e-12);
  check_near(sim_read(&p.s, "shaft.n"), 20 + 13, 0);
  check_near(sim_read(&p.s, "shaft.y"), -1, 0);
  assert_int_equal(p.pace->safe.now.state, YOKE_RUN_SAFE);
  paced_close(&p);
}

// an input that is no real number is set at once, whatever comes to it
static void test_typed_inputs_are_set(void** state) {
  (void)state;
  paced p = paced_open("yoke: 1\ncalls: 1\ntime: {stop: 0.01, step: 1e-3, pace: 1}\nunits:\n"
                       "  pick: {model: switch, start: {on: true, a: 3, b: 4}}\n"
                       "safe: [{set: pick.b, to: 7, over: 2e-3}, {set: pick.on, to: 0}]\n");
  assert_int_equal(paced_run(&p), YOKE_OK);
  check_near(sim_read(&p.s, "pick.y"), 7, 0);
  paced_close(&p);
}

static void test_emergency_stop(void** state) {
  (void)state;
  atomic_bool is_wanted = true;
  paced p = open_bench(1, "continue", -1, actions);
  p.settings.is_stop_wanted = &is_wanted;
  assert_int_equal(paced_run(&p), YOKE_STOPPED);
  assert_int_equal(p.pace->safe.now.state, YOKE_RUN_FAULT);
  check_contains(p.info.failure.message.text, "emergency stop");
  check_near(sim_read(&p.s, "shaft.y"), -1, 0);
  paced_close(&p);
}

static atomic_bool stop_wanted;
static yoke_pace* watched;

static void want_stop(int64_t k) {
  if (k == 3) {
    stop_wanted = true;
  }
}

static void be_overdue(int64_t k) {
  if (k == 3) {
    watched->is_overdue = true;
  }
}

// while it stops for another reason; and a step that came back after the watchdog had given it up
static void test_late_alarms(void** state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    atomic_bool is_cancelled = i == 0;
    stop_wanted = false;
    paced p = open_bench(1, "continue", -1, actions);
    p.settings.is_cancelled = &is_cancelled;
    p.settings.is_stop_wanted = &stop_wanted;
    watched = p.pace;
    at_step = i == 0 ? want_stop : be_overdue;
    assert_int_equal(paced_run(&p), i == 0 ? YOKE_INTERRUPTED : YOKE_UNIT_FAILED);
    assert_int_equal(p.pace->safe.now.state, YOKE_RUN_FAULT);
    check_contains(p.info.failure.message.text, i == 0 ? "emergency stop" : "watchdog");
    check_near(sim_read(&p.s, "shaft.y"), -1, 0);
    check_near(sim_read(&p.s, "shaft.n"), i == 0 ? 13 : 4 + 13, 0);
    paced_close(&p);
  }
}

// ---------------------------------------------------------------------------------------------------------
// physical units

static void test_physical_units_are_held(void** state) {
  (void)state;
  static const int64_t stalls[] = {0, 0, 16 * MS / 5, 0, 0};
  static const char* const schemes[] = {"jacobi", "gauss-seidel"};
  for (size_t i = 0; i < YOKE_COUNT(schemes); i++) {
    char text[512];
    snprintf(text, sizeof text,
             "yoke: 1\nscheme: %s\ncalls: 1\ntime: {stop: 0.01, step: 1e-3, pace: {overrun: "
             "skip}}\nunits:\n  a: {model: busy}\n  m: {model: machine, with: {takes_time: 0}}\n"
             "connections: [{from: a.n, to: m.u, method: hold}]\n",
             schemes[i]);
    paced p = paced_open(text);
    durations = stalls;
    n_durations = YOKE_COUNT(stalls);
    assert_int_equal(paced_run(&p), YOKE_OK);
    assert_int_equal(p.pace->n_held, 3);
    check_near(sim_read(&p.s, "a.n"), 10, 0);
    check_near(sim_read(&p.s, "m.n"), 7, 0);
    check_near(sim_read(&p.s, "m.t"), 0.01, 1e-12);
    assert_int_equal(the_clock.now - p.pace->grid.start_ns, 10 * MS);
    paced_close(&p);
  }
}

static void test_bad_settings(void** state) {
  (void)state;
  static const struct {
    const char *text, *says;
  } cases[] = {
      {"yoke: 1\ntime: {stop: 1, step: 1e-3, pace: {overrun: catch-up}}\nunits: {m: {model: "
       "machine}}\n",
       "unit 'm' is a real machine"},
      {"yoke: 1\ntime: {stop: 1, step: 1e-3, pace: 0}\nunits: {m: {model: machine}}\n",
       "'pace': expected a number above 0 and up to 1e6, found 0"},
      {"yoke: 1\ntime: {stop: 1, step: 1e-3, pace: {factr: 1}}\nunits: {m: {model: machine}}\n",
       "unknown key 'factr' in 'time.pace'; did you mean 'factor'?"},
      {"yoke: 1\ntime: {stop: 1, step: 1e-3, pace: {overrun: wait}}\nunits: {m: {model: "
       "machine}}\n",
       "'overrun': expected"},
      {"yoke: 1\ntime: {stop: 1, step: 1e-3}\nunits: {m: {model: machine}}\nsafe: [{to: 0}]\n",
       "the key 'set' is missing"},
      {"yoke: 1\ntime: {stop: 1, step: 1e-3}\nunits: {m: {model: machine}}\nsafe: [{set: m.y, to: "
       "0}]\n",
       "'safe': 'm.y' is no input"},
      {"yoke: 1\ntime: {stop: 1, step: 1e-3}\nunits: {m: {model: machine}}\nsafe: [{set: k.u, to: "
       "0}]\n",
       "'k'"},
      {"yoke: 1\ntime: {stop: 1, step: 1e-3}\nunits: {m: {model: machine}}\nsafe: [{set: m.u, "
       "to: 0, over: -1}]\n",
       "4:32: error: 'over': expected a number of seconds from 0 to 3600, found -1"},
      {"yoke: 1\ntime: {stop: 1, step: 1e-3}\nunits: {m: {model: machine}}\nsafe: [{set: m.u, "
       "to: 0, over: 1e300}]\n",
       "4:32: error: 'over': expected a number of seconds from 0 to 3600, found 1e300"},
      {"yoke: 1\ntime: {stop: 1, step: 1e-3}\nunits: {m: {model: machine}}\nsafe: [{set: m.u}]\n",
       "4:8: error: 'safe': the key 'to' is missing; expected for example {set: motor.torque, to: "
       "0"},
      {"yoke: 1\ntime: {stop: 1, step: 1e-3}\nunits: {s: {model: switch, start: {a: 1, b: "
       "1}}}\nsafe: [{set: s.on, "
       "to: 0, over: "
       "1}]\n",
       "'s.on' takes whole numbers and cannot be ramped: leave out 'over'"},
      {"yoke: 1\ntime: {stop: 1, step: 1e-3}\nunits: {s: {model: switch, start: {a: 1, b: "
       "1}}}\nsafe: [{set: s.on, to: "
       "2}]\n",
       "'s.on' is a boolean: expected 0 or 1 for 'to'"},
      {"yoke: 1\ntime: {stop: 1, step: 1e-3}\nscheme: iterative-jacobi\nunits: {s: {model: "
       "switch, start: {a: 1, b: 1}}}\nsafe: [{set: s.a, to: 0}]\n",
       "'safe' needs an explicit scheme"},
      {"yoke: 1\ntime: {stop: 1, step: 1e-3}\nunits: {m: {model: machine, budget: 0}}\n",
       "3:37: error: 'budget': expected a number of seconds from 1e-9 to 3600, found 0"},
      {"yoke: 1\ntime: {stop: 1, step: 1e-3}\nunits: {m: {model: machine, budget: 1e-12}}\n",
       "3:37: error: 'budget': expected a number of seconds from 1e-9 to 3600, found 1e-12"},
  };
  for (size_t i = 0; i < YOKE_COUNT(cases); i++) {
    paced p;
    char messages[4096];
    assert_true(paced_try(cases[i].text, &p, messages, sizeof messages) < 0);
    check_contains(messages, cases[i].says);
  }
}

// ---------------------------------------------------------------------------------------------------------

static void test_watchdog(void** state) {
  (void)state;
  yoke_pace* pace = yoke__pace_create(0, 0);
  assert_non_null(pace);
  pace->watchdog_ns = 5 * MS;
  assert_false(yoke__pace_is_overdue(pace, 100 * MS));  // no step is being computed
  pace->busy_since_ns = 100 * MS;
  assert_false(yoke__pace_is_overdue(pace, 105 * MS));
  assert_true(yoke__pace_is_overdue(pace, 105 * MS + 1));
  free(pace);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stalls_are_classified_B_15),
      cmocka_unit_test(test_grid_does_not_drift),
      cmocka_unit_test(test_stalls_in_a_run_B_15),
      cmocka_unit_test(test_sixty_seconds_CS_29),
      cmocka_unit_test(test_stall_triggers_the_policy_CS_29),
      cmocka_unit_test(test_limit_counts_overruns_in_a_row),
      cmocka_unit_test(test_units_are_timed_in_iterations),
      cmocka_unit_test(test_figures_are_those_of_a_recount_B_15),
      cmocka_unit_test(test_overload_ends_in_safe_B_16),
      cmocka_unit_test(test_actions_are_ramped),
      cmocka_unit_test(test_unit_that_fails_leads_to_fault),
      cmocka_unit_test(test_end_of_the_run_is_safe),
      cmocka_unit_test(test_typed_inputs_are_set),
      cmocka_unit_test(test_emergency_stop),
      cmocka_unit_test(test_late_alarms),
      cmocka_unit_test(test_physical_units_are_held),
      cmocka_unit_test(test_bad_settings),
      cmocka_unit_test(test_watchdog),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
