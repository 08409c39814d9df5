// Units on threads of their own in a run by the clock: a late one holds its outputs and makes up for what it missed, one that
// does not come back stops the others in order. The clock is simulated, and the unit waits until the test lets it go.
// B-15: late outputs are counted; B-16: too many of them, and a hang, end in SAFE and FAULT.
#include <pthread.h>

#include "pace_helper.h"

#define MS INT64_C(1000000)

// ---------------------------------------------------------------------------------------------------------
// a unit that waits at a gate: step k goes on when k < n_open

typedef struct gated {
  double u, y, n, t, gain;
  int64_t fails_at, offset;
} gated;

static _Atomic uint32_t n_open;
static double call_t[256], call_h[256], call_u[256];
static pthread_t call_threads[256];
static atomic_size_t n_calls;

#define GATED_REAL(label, field, direction)                                                        \
  {                                                                                                \
    .name = (label), .dim = "1", .causality = (direction),                                         \
    .flags = (direction) == YOKE_INPUT ? YOKE_VARIABLE_HAS_START : 0,                              \
    .offset = offsetof(gated, field)                                                               \
  }
static const yoke_variable gated_variables[] = {
    GATED_REAL("u", u, YOKE_INPUT),
    GATED_REAL("y", y, YOKE_OUTPUT),
    GATED_REAL("n", n, YOKE_OUTPUT),
    GATED_REAL("t", t, YOKE_OUTPUT),
    {.name = "fails_at",
     .dim = "1",
     .type = YOKE_INTEGER,
     .causality = YOKE_PARAMETER,
     .start = -1,
     .offset = offsetof(gated, fails_at)},
    {.name = "offset",
     .dim = "1",
     .type = YOKE_INTEGER,
     .causality = YOKE_TUNABLE,
     .offset = offsetof(gated, offset)},
};

static yoke_status gated_step(void* self, double t, double h, yoke_step_result* result) {
  gated* g = self;
  (void)result;
  const uint32_t k = (uint32_t)g->n;
  for (uint32_t open = atomic_load(&n_open); k >= open; open = atomic_load(&n_open)) {
    yoke__os_futex_wait(&n_open, open, 0);
  }
  const size_t at = atomic_fetch_add(&n_calls, 1);
  if (at < YOKE_COUNT(call_t)) {
    call_t[at] = t;
    call_h[at] = h;
    call_u[at] = g->u;
    call_threads[at] = pthread_self();
  }
  g->y = 0.9 * g->y + g->u + (double)g->offset;
  g->n += 1;
  g->t = t + h;
  return (int64_t)k == g->fails_at ? YOKE_UNIT_FAILED : YOKE_OK;
}

static const yoke_unit_info gated_info = {.variables = gated_variables,
                                          .n_variables = YOKE_COUNT(gated_variables),
                                          .flags = YOKE_UNIT_FLAT,
                                          .self_size = sizeof(gated)};
static const yoke_unit_ops gated_ops = {YOKE_UNIT_HEAD, .name = "gated",
                                        .text = "waits until it is let go", .info = &gated_info,
                                        .step = gated_step};

// ---------------------------------------------------------------------------------------------------------
// a method that tells what became of its samples

typedef struct counting {
  double last;
} counting;

static int64_t n_lost_resets, n_observed;

static size_t counting_size(const yoke_coupling_setup* setup) {
  (void)setup;
  return sizeof(counting);
}

static yoke_status counting_prepare(void* self, const yoke_coupling_setup* setup,
                                    const yoke_sink* sink) {
  (void)setup, (void)sink;
  *(counting*)self = (counting){0};
  return YOKE_OK;
}

static void counting_observe(void* self, const yoke_coupling_moment* now, const double y[],
                             const double u[]) {
  (void)now, (void)u;
  ((counting*)self)->last = y[0];
  n_observed++;
}

static void counting_input(void* self, size_t sink, double tau, double u[]) {
  (void)sink, (void)tau;
  u[0] = ((counting*)self)->last;
}

static void counting_reset(void* self, yoke_coupling_reset why, const bool which[]) {
  (void)self, (void)which;
  n_lost_resets += why == YOKE_RESET_LOST_SAMPLE;
}

static const yoke_coupling_ops counting_ops = {
    YOKE_COUPLING_HEAD,      .name = "counting",          .text = "holds, and counts what was lost",
    .size = counting_size,   .prepare = counting_prepare, .observe = counting_observe,
    .input = counting_input, .reset = counting_reset};

// ---------------------------------------------------------------------------------------------------------

static paced* present;

static void add_own_models(yoke_registry* models) {
  check_ok(yoke_registry_add_unit(models, &gated_ops, NULL));
  check_ok(yoke_registry_add_coupling(models, &counting_ops, NULL));
}

static void own_open(const char* text, paced* p) {
  add_models = add_own_models;
  atomic_store(&n_open, UINT32_MAX);
  atomic_store(&is_held_back, false);
  atomic_store(&n_calls, 0);
  n_lost_resets = n_observed = 0;
  *p = paced_open(text);
  present = p;
}

static int thread_of(const paced* p, const char* name) {
  return p->s.system->units[yoke__map_find(&p->s.system->unit_index, name)].thread;
}

static yoke_pace_unit* unit_of(const paced* p, const char* name) {
  return &p->pace->units[yoke__map_find(&p->s.system->unit_index, name)];
}

static void open_gate(uint32_t n) {
  atomic_store(&n_open, n);
  yoke__os_futex_wake(&n_open);
}

// lets it go and waits until it is back
static void let_go(void) {
  open_gate(UINT32_MAX);
  yoke__pool_join(present->s.system->pool, thread_of(present, "heavy"));
  atomic_store(&is_held_back, false);
}

static void check_contiguous(double t_end) {
  double t = 0;
  const size_t n = atomic_load(&n_calls);
  for (size_t i = 0; i < n; i++) {
    check_near(call_t[i], t, 1e-12);
    t = call_t[i] + call_h[i];
    assert_true(pthread_equal(call_threads[i], call_threads[0]));
    assert_false(pthread_equal(call_threads[i], pthread_self()));
  }
  check_near(t, t_end, 1e-12);
}

static const char rig[] =
    "yoke: 1\ncalls: 1\ntime: {stop: %g, step: 1e-3, pace: {overrun: %s, limit: 3}}\nunits:\n"
    "  a: {model: busy}\n"
    "  heavy: {model: gated, thread: own%s}\n"
    "  b: {model: machine, with: {takes_time: 0}}\n"
    "connections: [{from: a.n, to: heavy.u, method: hold}, heavy.n -> b.u]\n"
    "couplings: {c: {method: counting, members: [heavy, b]}}\n%s";
static const char actions[] = "safe: [{set: b.u, to: -1, over: 5e-3}]\n";

static void open_rig(double stop, const char* overrun, const char* keys, const char* safe,
                     paced* p) {
  char text[1024];
  snprintf(text, sizeof text, rig, stop, overrun, keys, safe);
  own_open(text, p);
}

// ---------------------------------------------------------------------------------------------------------

// step 3 of the unit comes back while the sixth step of the others is computed
static void stall_from_3(int64_t k) {
  if (k == 3) {
    atomic_store(&is_held_back, true);
  } else if (k == 5) {
    let_go();
  }
}

static void test_late_unit_is_held_and_makes_up_B_15(void** state) {
  (void)state;
  paced p;
  open_rig(0.01, "continue", "", "", &p);
  open_gate(3);
  at_step = stall_from_3;
  assert_int_equal(paced_run(&p), YOKE_OK);
  const yoke_pace_unit* heavy = unit_of(&p, "heavy");
  // at 4, 5 and 6 ms its outputs were not those of the time
  assert_int_equal(heavy->n_joins, 10);
  assert_int_equal(heavy->n_late, 3);
  assert_int_equal(heavy->longest_late_run, 3);
  assert_int_equal(heavy->n_late_run, 0);
  assert_int_equal(p.pace->n_late_joins, 3);
  // no step of the others was late: the one that waited ended a tenth of a slot before its deadline
  assert_int_equal(p.pace->n_overruns, 0);
  assert_int_equal(p.pace->step_ns.max, MS * 9 / 10);
  assert_int_equal(p.info.n_steps, 10);
  // all of its time was computed, from its own thread
  check_near(sim_read(&p.s, "heavy.n"), 10, 0);
  check_near(sim_read(&p.s, "heavy.t"), 0.01, 1e-15);
  check_contiguous(0.01);
  // the inputs of what it missed are those of the time at which it began again
  check_near(call_u[3], 3, 0);
  check_near(call_u[4], 6, 0);
  check_near(call_u[5], 6, 0);
  check_near(call_u[6], 6, 0);
  check_near(call_u[7], 7, 0);
  // what others saw of it: held at 4 and 5, late but newer at 6, its own again from 7 on
  static const double seen[] = {0, 1, 2, 3, 3, 3, 4, 7, 8, 9};
  assert_int_equal(n_inputs_seen, 10);
  for (size_t i = 0; i < 10; i++) {
    check_near(inputs_seen[i], seen[i], 0);
  }
  assert_int_equal(n_lost_resets, 3);
  assert_int_equal(n_observed, 11);
  char text[256];
  yoke__pace_grade(p.pace, text, sizeof text);
  assert_string_equal(text, "soft real time: every step in time, outputs of units late 3 times");
  assert_true(yoke__pace_is_beyond(p.pace));
  paced_close(&p);
}

static void stall_slow(int64_t k) {
  if (k == 0) {
    atomic_store(&is_held_back, true);
  } else if (k == 3) {
    let_go();
  }
}

// a unit with a long step has as many slots for it
static void test_slow_unit_has_its_whole_interval(void** state) {
  (void)state;
  paced p;
  open_rig(0.02, "stop", ", step: 5e-3", "", &p);
  open_gate(0);
  at_step = stall_slow;
  assert_int_equal(paced_run(&p), YOKE_OK);
  assert_int_equal(unit_of(&p, "heavy")->n_joins, 4);
  assert_int_equal(p.pace->n_late_joins, 0);
  assert_int_equal(p.pace->step_ns.max, 0);  // nobody waited for it
  check_contiguous(0.02);
  check_near(inputs_seen[4], 0, 0);
  check_near(inputs_seen[5], 1, 0);
  assert_int_equal(n_lost_resets, 0);
  paced_close(&p);
}

static void stall_slow_long(int64_t k) {
  if (k == 4) {
    atomic_store(&is_held_back, true);
  } else if (k == 12) {
    let_go();
  }
}

static void test_slow_unit_comes_late(void** state) {
  (void)state;
  paced p;
  open_rig(0.03, "continue", ", step: 5e-3", "", &p);
  open_gate(0);
  at_step = stall_slow_long;
  assert_int_equal(paced_run(&p), YOKE_OK);
  // due at 5, 10 and 15 ms; back at 13, begins again at 15 from 5
  assert_int_equal(unit_of(&p, "heavy")->n_joins, 6);
  assert_int_equal(p.pace->n_late_joins, 3);
  assert_int_equal(p.pace->n_overruns, 0);
  check_contiguous(0.03);
  check_near(call_u[0], 0, 0);
  check_near(call_u[1], 15, 0);
  check_near(call_u[2], 15, 0);
  check_near(call_u[3], 15, 0);
  check_near(call_u[4], 20, 0);
  check_near(inputs_seen[14], 0, 0);
  check_near(inputs_seen[15], 1, 0);  // late, but the newest there is
  check_near(inputs_seen[20], 4, 0);
  assert_int_equal(n_lost_resets, 3);
  paced_close(&p);
}

// budget: it is not waited for any longer
static void test_budget_bounds_the_join(void** state) {
  (void)state;
  paced p;
  open_rig(0.01, "continue", ", budget: 2e-4", "", &p);
  open_gate(3);
  at_step = stall_from_3;
  assert_int_equal(paced_run(&p), YOKE_OK);
  assert_int_equal(p.pace->step_ns.max, MS / 5);
  assert_int_equal(p.pace->n_late_joins, 3);
  assert_int_equal(unit_of(&p, "heavy")->n_over, 1);
  paced_close(&p);
}

static void stall_for_ever(int64_t k) {
  if (k == 3) {
    atomic_store(&is_held_back, true);
  }
}

static void test_limit_of_late_outputs_B_16(void** state) {
  (void)state;
  static const struct {
    const char* overrun;
    int64_t n_steps, n_late;
  } cases[] = {{"hold", 6, 3}, {"skip", 6, 3}, {"stop", 4, 1}};
  for (size_t i = 0; i < YOKE_COUNT(cases); i++) {
    paced p;
    open_rig(1, cases[i].overrun, "", actions, &p);
    open_gate(3);
    p.pace->watchdog_ns = 1000 * MS;
    at_step = stall_for_ever;
    assert_int_equal(paced_run(&p), YOKE_UNIT_FAILED);  // it did not even come back at the end
    check_near(p.pace->safe.t_stop, 1e-3 * (double)cases[i].n_steps, 1e-12);
    assert_int_equal(p.pace->n_run_at_stop, cases[i].n_late);
    assert_int_equal(p.pace->late_unit, 1);
    assert_int_equal(p.pace->safe.now.state, YOKE_RUN_FAULT);
    check_near(sim_read(&p.s, "b.y"), -1, 0);
    assert_string_equal(p.info.failure.message.unit, "heavy");
    let_go();
    paced_close(&p);
  }
}

static void stall_at_the_limit(int64_t k) {
  if (k == 3) {
    atomic_store(&is_held_back, true);
  } else if (k == 7) {
    let_go();
  }
}

// the same with one that comes back while the others stop
static void test_limit_ends_in_safe_B_16(void** state) {
  (void)state;
  paced p;
  open_rig(1, "hold", "", actions, &p);
  open_gate(3);
  at_step = stall_at_the_limit;
  assert_int_equal(paced_run(&p), YOKE_LATE);
  assert_int_equal(p.info.n_steps, 6 + 5);
  assert_int_equal(p.pace->safe.now.state, YOKE_RUN_SAFE);
  check_near(sim_read(&p.s, "b.y"), -1, 0);
  check_contiguous(0.011);
  paced_close(&p);
}

// a unit that never comes back is named; the others are stopped in order, and the loop goes on meanwhile
static void test_hang_stops_the_others_B_16(void** state) {
  (void)state;
  static const char* const safes[] = {actions, ""};
  for (size_t i = 0; i < 2; i++) {
    paced p;
    open_rig(1, "continue", "", safes[i], &p);
    open_gate(3);
    at_step = stall_for_ever;
    p.pace->watchdog_ns = 20 * MS;
    assert_int_equal(paced_run(&p), YOKE_UNIT_FAILED);
    assert_string_equal(p.info.failure.message.unit, "heavy");
    check_contains(p.info.failure.message.text,
                   "has not returned from its step at t = 0.003 s: its outputs are late by more "
                   "than the watchdog allows, 0.02 s");
    assert_int_equal(p.pace->safe.now.state, YOKE_RUN_FAULT);
    // due at 4 ms: given up at the first step that ends more than 20 ms later
    check_near(p.pace->safe.t_stop, 0.026, 1e-12);
    assert_int_equal(p.info.n_steps, 26 + (i == 0 ? 5 : 0));
    check_near(sim_read(&p.s, "b.y"), i == 0 ? -1 : 3, 0);
    check_near(sim_read(&p.s, "heavy.n"), 3, 0);
    assert_true(yoke__pool_has_lost(p.s.system->pool));
    let_go();
    assert_false(yoke__pool_has_lost(p.s.system->pool));
    paced_close(&p);
  }
}

static void test_unit_that_fails_on_its_thread(void** state) {
  (void)state;
  paced p;
  open_rig(1, "continue", ", with: {fails_at: 5}", actions, &p);
  assert_int_equal(paced_run(&p), YOKE_UNIT_FAILED);
  assert_string_equal(p.info.failure.message.unit, "heavy");
  check_contains(p.info.failure.message.text, "step failed");
  assert_int_equal(p.pace->safe.now.state, YOKE_RUN_FAULT);
  assert_int_equal(p.info.n_steps, 6 + 5);
  check_near(sim_read(&p.s, "b.y"), -1, 0);
  check_near(sim_read(&p.s, "heavy.n"), 5, 0);
  paced_close(&p);

  open_rig(1, "continue", ", with: {fails_at: 5}", "", &p);
  assert_int_equal(paced_run(&p), YOKE_UNIT_FAILED);
  assert_int_equal(p.info.n_steps, 5);
  paced_close(&p);
}

// ---------------------------------------------------------------------------------------------------------

// "@": the key, "$": the clock, "&": the folder of the sources.
static void write_text(const char* pattern, bool is_own, bool is_paced, char* to, size_t size) {
  const char* source = getenv("YOKE_SOURCE_DIR");
  size_t n = 0;
  for (const char* c = pattern; *c != '\0'; c++) {
    const char one[] = {*c, '\0'};
    const char* text = *c == '@'   ? is_own ? ", thread: own" : ""
                       : *c == '$' ? is_paced ? ", pace: {overrun: continue}" : ""
                       : *c == '&' ? source == NULL ? "." : source
                                   : one;
    n += (size_t)snprintf(to + n, size - n, "%s", text);
    assert_true(n < size);
  }
}

typedef struct outcome {
  double y[64];
  unsigned char v[256];
  double flows[4][2];
} outcome;

static outcome run_pattern(const char* pattern, bool is_own, bool is_paced) {
  char text[2048];
  outcome o = {0};
  paced p;
  write_text(pattern, is_own, is_paced, text, sizeof text);
  own_open(text, &p);
  const yoke_system* system = p.s.system;
  if (is_paced) {
    assert_int_equal(paced_run(&p), YOKE_OK);
    assert_int_equal(p.pace->n_late_joins, 0);
    assert_true(unit_of(&p, system->units[0].name)->n_joins > 0);
  } else {
    sim_run(&p.s);
  }
  assert_true(system->n_y <= YOKE_COUNT(o.y) && system->n_typed_out <= sizeof o.v &&
              system->n_flows <= YOKE_COUNT(o.flows));
  memcpy(o.y, p.s.state->y, system->n_y * sizeof *o.y);
  memcpy(o.v, p.s.state->v, system->n_typed_out);
  for (size_t i = 0; i < system->n_flows; i++) {
    yoke_flow_result flow;
    yoke__master_flow(system, p.s.state, i, &flow);
    o.flows[i][0] = flow.sent;
    o.flows[i][1] = flow.arrived;
  }
  paced_close(&p);
  return o;
}

static void check_pattern(const char* pattern) {
  const outcome plain = run_pattern(pattern, false, false);
  const outcome own = run_pattern(pattern, true, false);
  const outcome timed = run_pattern(pattern, true, true);
  assert_memory_equal(&plain, &own, sizeof plain);
  assert_memory_equal(&plain, &timed, sizeof plain);
  assert_true(plain.y[0] != 0);
}

// the key changes no bit: neither without a clock nor with one that every unit kept
static void test_results_have_the_same_bytes(void** state) {
  (void)state;
  static const char* const steps[][2] = {
      {"1e-3", "1e-3"}, {"1e-4", "1e-3"}, {"1e-4", "5e-3"}, {"2e-3", "4e-3"}, {"1e-3", "1e-2"}};
  static const char nepce[] = "couplings: {c: {method: nepce, members: [left, right]}}\n";
  static const char* const heads[] = {"", "threads: 2\n", nepce};
  for (size_t i = 0; i < YOKE_COUNT(steps); i++) {
    for (size_t k = 0; k < YOKE_COUNT(heads); k++) {
      char pattern[1024];
      snprintf(pattern, sizeof pattern,
               "yoke: 1\n%stime: {stop: 0.3, step: 1e-3$}\nunits:\n"
               "  left: {model: oscillator.force, start: {v: 1}@, step: %s%s}\n"
               "  right: {model: oscillator.mass@, step: %s}\n  other: {model: busy@}\n"
               "connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> "
               "right.f]\n",
               heads[k], steps[i][0], k == 2 && i == 3 ? ", feedthrough: none" : "", steps[i][1]);
      check_pattern(pattern);
    }
  }
}

static void test_all_kinds_of_values_have_the_same_bytes(void** state) {
  (void)state;
  // typed values, a tunable parameter, a slow unit
  check_pattern("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1.4, step: 0.1$}\nunits:\n"
                "  stage: {model: counter, step: 0.5, with: {limit: 1}@}\n"
                "  level: {model: ramp, with: {slope: 0.4}@}\n"
                "  wave: {model: sine, with: {frequency: 0.3}@}\n"
                "  pick: {model: select, with: {n: 2}, start: {u: [1, 2]}@}\n"
                "connections: [stage.count -> pick.mode, level.y -> wave.amplitude]\n");
  // a method that is told of every call
  check_pattern("yoke: 1\ntime: {stop: 0.1, step: 1e-3$}\nunits:\n"
                "  left: {model: oscillator.force, start: {v: 1}@, step: 1e-4}\n"
                "  right: {model: oscillator.mass@, step: 2e-4}\n"
                "connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> "
                "right.f]\n"
                "couplings: {c: {method: interpolate, members: [left, right]}}\n");
  // amounts that are averaged: the sender integrates, the receiver is slow
  check_pattern("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.2, step: 1e-2$}\nunits:\n"
                "  heater: {circuit: &/scenarios/pulsed-heater/heater.cir@}\n"
                "  body: {circuit: &/scenarios/pulsed-heater/body.cir, step: 2e-2@}\n"
                "connections: [heater.heat -> body.q]\n");
}

// ---------------------------------------------------------------------------------------------------------

static atomic_bool is_over;

static void write_while_it_works(int64_t k) {
  stall_from_3(k);
  if (k == 4) {
    const yoke_mail mail = {.unit = 1, .variable = 5, .bits = 100};
    check_ok(yoke__master_post(present->s.state, &mail));
  }
}

// a value written while it works acts from its next step on
static void test_mail_waits_for_the_unit(void** state) {
  (void)state;
  paced p;
  open_rig(0.01, "continue", "", "", &p);
  open_gate(3);
  at_step = write_while_it_works;
  assert_int_equal(paced_run(&p), YOKE_OK);
  double y = 0;
  for (size_t i = 0; i < 10; i++) {
    y = 0.9 * y + call_u[i] + (i > 3 ? 100 : 0);
  }
  check_near(sim_read(&p.s, "heavy.y"), y, 1e-12);
  paced_close(&p);
}

static void stop_while_it_works(int64_t k) {
  if (k == 3) {
    atomic_store(&is_held_back, true);
  } else if (k == 5) {
    atomic_store(&is_over, true);
    atomic_store(&is_held_back, false);
    open_gate(UINT32_MAX);
  }
}

// a run that ends while a unit is behind: whoever goes on finds it where it was
static void test_unit_left_behind_catches_up(void** state) {
  (void)state;
  paced p;
  open_rig(0.02, "continue", "", "", &p);
  open_gate(3);
  at_step = stop_while_it_works;
  atomic_store(&is_over, false);
  p.settings.is_cancelled = &is_over;
  assert_int_equal(paced_run(&p), YOKE_INTERRUPTED);
  assert_int_equal(p.info.n_steps, 6);
  at_step = NULL;
  sim_run(&p.s);
  check_near(sim_read(&p.s, "heavy.n"), 20, 0);
  check_contiguous(0.02);
  paced_close(&p);
}

static void test_refusals(void** state) {
  (void)state;
  static const struct {
    const char *head, *key, *message;
  } cases[] = {
      {"scheme: gauss-seidel\n", "thread: own", "'thread: own' needs 'scheme: jacobi'"},
      {"", "thread: own, exchange: fresh", "is not possible with 'exchange: fresh'"},
      {"", "thread: maybe", "thread"},
  };
  for (size_t i = 0; i < YOKE_COUNT(cases); i++) {
    char text[512], messages[4096];
    for (int is_paced = 1; is_paced >= 0; is_paced--) {
      snprintf(text, sizeof text,
               "yoke: 1\n%stime: {stop: 0.1, step: 1e-3%s}\nunits:\n"
               "  h: {model: busy, %s}\n",
               cases[i].head, is_paced ? ", pace: 1" : "", cases[i].key);
      paced p;
      const yoke_status status = paced_try(text, &p, messages, sizeof messages);
      if (is_paced || i == 2) {
        assert_int_equal(status, YOKE_BAD_INPUT);
        check_contains(messages, cases[i].message);
        check_contains(messages, i == 0 ? ":5:3: error: " : ":4:");
      } else {
        check_ok(status);  // without a clock it changes nothing
        sim_close(&p.s);
      }
    }
  }
  char messages[4096];
  paced p;
  assert_int_equal(paced_try("yoke: 1\ntime: {stop: 1, step: 1e-3, pace: 1}\nunits:\n  m: {model: "
                             "machine, thread: own}\n",
                             &p, messages, sizeof messages),
                   YOKE_BAD_INPUT);
  check_contains(messages, "is not possible for a real machine");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_late_unit_is_held_and_makes_up_B_15),
      cmocka_unit_test(test_slow_unit_has_its_whole_interval),
      cmocka_unit_test(test_slow_unit_comes_late),
      cmocka_unit_test(test_budget_bounds_the_join),
      cmocka_unit_test(test_limit_of_late_outputs_B_16),
      cmocka_unit_test(test_limit_ends_in_safe_B_16),
      cmocka_unit_test(test_hang_stops_the_others_B_16),
      cmocka_unit_test(test_unit_that_fails_on_its_thread),
      cmocka_unit_test(test_results_have_the_same_bytes),
      cmocka_unit_test(test_all_kinds_of_values_have_the_same_bytes),
      cmocka_unit_test(test_mail_waits_for_the_unit),
      cmocka_unit_test(test_unit_left_behind_catches_up),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
