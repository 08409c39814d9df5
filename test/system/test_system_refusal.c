// Units that cannot do what a scheme asks of them, and units that fail on the way. The message names unit, time and
// variable; what was before the failing step stays as it was.
#include "system/system_fixture.h"

// ---- units of the test: one that follows a plan, in several kinds

typedef struct actor {
  double u, y, z;
  double when;  // time from which on it misbehaves [s]
} actor;

#define REAL(member_, causality_, start_)                                                          \
  {                                                                                                \
    .name = #member_, .type = YOKE_REAL, .causality = (causality_), .start = (start_),             \
    .flags = YOKE_VARIABLE_HAS_START, .offset = offsetof(actor, member_)                           \
  }

static const yoke_variable actor_variables[] = {REAL(u, YOKE_INPUT, 0), REAL(y, YOKE_OUTPUT, 0),
                                                REAL(z, YOKE_OUTPUT, 0),
                                                REAL(when, YOKE_PARAMETER, 0.005)};
static const yoke_feedthrough actor_feedthrough[] = {{1, 0}};

#define ACTOR_INFO(flags_, n_feedthrough_)                                                         \
  {                                                                                                \
    .variables = actor_variables, .n_variables = COUNT(actor_variables),                           \
    .feedthrough = actor_feedthrough, .n_feedthrough = (n_feedthrough_), .flags = (flags_),        \
    .self_size = sizeof(actor)                                                                     \
  }

static const yoke_unit_info flat_info = ACTOR_INFO(YOKE_UNIT_FLAT, 0);
static const yoke_unit_info physical_info = ACTOR_INFO(YOKE_UNIT_PHYSICAL, 0);
static const yoke_unit_info stubborn_info = ACTOR_INFO(0, 0);
static const yoke_unit_info through_info = ACTOR_INFO(YOKE_UNIT_FLAT, 1);

// is the plan's time within this step; a margin of half a step against rounding
static bool is_due(const actor* a, double t, double h) {
  return t + 1.5 * h > a->when;
}

static yoke_status act(void* self, double t, double h, yoke_step_result* result) {
  (void)result;
  actor* a = self;
  a->y += h;
  a->z = 2 * a->y;
  (void)t;
  return YOKE_OK;
}

static yoke_status act_nan(void* self, double t, double h, yoke_step_result* result) {
  actor* a = self;
  act(self, t, h, result);
  if (is_due(a, t, h)) {
    a->z = (double)NAN;
  }
  return YOKE_OK;
}

static yoke_status act_fail(void* self, double t, double h, yoke_step_result* result) {
  if (is_due(self, t, h)) {
    result->message = "the fuse has blown";
    return YOKE_UNIT_FAILED;
  }
  return act(self, t, h, result);
}

static yoke_status act_discard(void* self, double t, double h, yoke_step_result* result) {
  if (is_due(self, t, h)) {
    result->flags |= YOKE_STEP_DISCARDED;
    return YOKE_OK;
  }
  return act(self, t, h, result);
}

static yoke_status refuse_start(void* self, double t_start, double t_stop, const yoke_sink* sink) {
  (void)self;
  (void)t_start;
  (void)t_stop;
  return yoke_fail(sink, YOKE_UNIT_FAILED, "the door is open");
}

static const yoke_unit_ops physical = {YOKE_UNIT_HEAD, .name = "my.rig", .info = &physical_info,
                                       .step = act};
static const yoke_unit_ops stubborn = {YOKE_UNIT_HEAD, .name = "my.stubborn",
                                       .info = &stubborn_info, .step = act};
static const yoke_unit_ops through = {YOKE_UNIT_HEAD, .name = "my.through", .info = &through_info,
                                      .step = act};
static const yoke_unit_ops to_nan = {YOKE_UNIT_HEAD, .name = "my.nan", .info = &flat_info,
                                     .step = act_nan};
static const yoke_unit_ops to_fail = {YOKE_UNIT_HEAD, .name = "my.failing", .info = &flat_info,
                                      .step = act_fail};
static const yoke_unit_ops to_discard = {YOKE_UNIT_HEAD, .name = "my.discarding",
                                         .info = &flat_info, .step = act_discard};
static const yoke_unit_ops to_refuse = {YOKE_UNIT_HEAD, .name = "my.refusing", .info = &flat_info,
                                        .step = act, .enter_init = refuse_start};
static const yoke_unit_ops* const own[] = {&physical, &stubborn,   &through,  &to_nan,
                                           &to_fail,  &to_discard, &to_refuse};

static int make_models(void** state) {
  *state = fixture_models(own, COUNT(own));
  return 0;
}

static int free_models(void** state) {
  yoke_registry* models = *state;
  yoke_registry_destroy(&models);
  return 0;
}

// ---- what a scheme needs

static void test_no_rollback(void** state) {
  refuse(
      *state,
      HEAD "scheme: iterative-jacobi\n"
           "units: {rig: {model: my.rig}, s: {model: my.stubborn}, t: {model: my.through}, g: "
           "{model: gain, start: {u: 0}}}\n",
      "test.yaml:6:9: error: iterative-jacobi repeats steps, but unit 'rig' (my.rig) is a real "
      "machine; use "
      "scheme: jacobi or gauss-seidel",
      "test.yaml:6:31: error: iterative-jacobi repeats steps, but unit 's' (my.stubborn) cannot "
      "save and restore "
      "its state; use scheme: jacobi or gauss-seidel",
      "test.yaml:6:56: warning: iterative-jacobi needs the outputs of 't' (my.through) with inputs "
      "at the end of the step; the unit can neither compute them again nor give their derivatives. "
      "They are read with the mean inputs of its last call, so the scheme is only of first order");
  refuse(*state, HEAD "scheme: iterative-gauss-seidel\nunits: {rig: {model: my.rig}}\n",
         "test.yaml:6:9: error: iterative-gauss-seidel repeats steps, but unit 'rig' (my.rig) is a "
         "real machine");

  // the explicit schemes take all of them
  static const char* const schemes[] = {"jacobi", "gauss-seidel"};
  for (size_t i = 0; i < COUNT(schemes); i++) {
    char text[512];
    snprintf(text, sizeof text,
             HEAD "scheme: %s\nunits: {rig: {model: my.rig}, s: {model: my.stubborn}, t: {model: "
                  "my.through}}\n"
                  "connections: [rig.y -> s.u, s.y -> t.u]\n",
             schemes[i]);
    sim s = fixture_open(*state, text);
    sim_steps(&s, 10);
    check_near(sim_read(&s, "t.z"), 0.02, 1e-15);
    sim_close(&s);
  }
}

static void test_no_refresh(void** state) {
  refuse(*state,
         HEAD "exchange: fresh\nunits: {t: {model: my.through}, c: {model: sine}}\nconnections: "
              "[c.y -> t.u]\n",
         "test.yaml:6:9: error: unit 't' (my.through) cannot give its outputs again without a "
         "step: it needs "
         "exchange: stale");

  // without feedthrough there is nothing to give again
  sim s = fixture_open(*state,
                       HEAD "exchange: fresh\nunits: {t: {model: my.stubborn}, c: {model: sine}}\n"
                            "connections: [c.y -> t.u]\n");
  assert_int_equal(s.system->n_refresh, 0);
  sim_close(&s);
}

static void test_wrong_section(void** state) {
  refuse(*state, HEAD "units: {c: {model: constant}}\nlaws: {a: {law: my.stubborn}}\n",
         "test.yaml:6:17: error: 'my.stubborn' has a state of its own and cannot be a law; list it "
         "under 'units'");
}

static void test_refused_start(void** state) {
  fixture_refuse(*state, HEAD "units: {c: {model: constant}, a: {model: my.refusing}}\n",
                 YOKE_UNIT_FAILED,
                 (const char* const[]){"test.yaml:5:31: error: unit 'a': the door is open", NULL});
}

// ---- failures on the way: at 0.005 s, so that four steps are good

static void check_failure(const yoke_registry* models, const char* scheme, const char* model,
                          yoke_status want, const char* message) {
  char text[512];
  snprintf(text, sizeof text,
           HEAD
           "scheme: %s\nunits: {good: {model: integrator, start: {u: 1}}, actor: {model: %s}}\n",
           scheme, model);
  sim s = fixture_open(models, text);
  const yoke_status got = sim_run_on(&s);
  if (got != want) {
    fail_msg("%s, %s: status %d, expected %d", scheme, model, (int)got, (int)want);
  }
  if (strcmp(sim_failure(&s), message) != 0) {
    fail_msg("%s, %s:\n  %s\nexpected\n  %s", scheme, model, sim_failure(&s), message);
  }
  // time and steps are those of the last good exchange
  assert_int_equal(s.state->n_slots, 4);
  check_near(s.state->t, 0.004, 0);
  sim_close(&s);
}

static void test_failures(void** state) {
  static const char* const schemes[] = {"jacobi", "jacobi\nthreads: 2", "gauss-seidel",
                                        "iterative-jacobi", "iterative-gauss-seidel"};
  for (size_t i = 0; i < COUNT(schemes); i++) {
    check_failure(*state, schemes[i], "my.nan", YOKE_DIVERGED,
                  "error: unit 'actor' at t = 0.005 s: output 'z' became nan");
    check_failure(*state, schemes[i], "my.failing", YOKE_UNIT_FAILED,
                  "error: unit 'actor' at t = 0.004 s: step failed: the fuse has blown");
    check_failure(*state, schemes[i], "my.discarding", YOKE_DISCARDED,
                  "error: unit 'actor' at t = 0.004 s: the step of 0.001 s was discarded");
  }
}

// which unit is blamed does not depend on the number of threads
static void test_same_failure_with_threads(void** state) {
  char want[512] = "";
  for (int threads = 1; threads <= 4; threads++) {
    char text[512];
    snprintf(text, sizeof text,
             HEAD "threads: %d\nunits: {g: {model: sine}, a: {model: my.nan}, b: {model: my.nan}, "
                  "c: {model: my.nan}}\n",
             threads);
    sim s = fixture_open(*state, text);
    assert_int_equal(sim_run_on(&s), YOKE_DIVERGED);
    if (threads == 1) {
      snprintf(want, sizeof want, "%.500s", sim_failure(&s));
      check_contains(want, "error: unit 'a'");
    }
    assert_string_equal(sim_failure(&s), want);
    sim_close(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_rollback),   cmocka_unit_test(test_no_refresh),
      cmocka_unit_test(test_wrong_section), cmocka_unit_test(test_refused_start),
      cmocka_unit_test(test_failures),      cmocka_unit_test(test_same_failure_with_threads),
  };
  return cmocka_run_group_tests(tests, make_models, free_models);
}
