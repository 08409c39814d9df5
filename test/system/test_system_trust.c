// Names under `trust`: what decides, limits of signals, and what is refused.
#include "quality/quality_trust.h"
#include "system/system_fixture.h"

#define UNITS                                                                                      \
  HEAD "units:\n"                                                                                  \
       "  p: {model: pendulum.force, start: {tip_other: [0, -1], vtip_other: [0, 0]}}\n"           \
       "  i: {model: integrator, start: {u: 1}}\n"                                                 \
       "  c: {model: counter}\n"

// Where a name "unit.variable" and an element are.
typedef struct where {
  size_t unit, variable;
} where;

static where find(const sim* s, const char* unit, const char* variable) {
  const where at = {fixture_unit(s, unit), 0};
  const yoke_unit_info* info = s->system->units[at.unit].unit.info;
  for (size_t v = 0; v < info->n_variables; v++) {
    if (strcmp(info->variables[v].name, variable) == 0) {
      return (where){at.unit, v};
    }
  }
  fail_msg("no variable '%s'", variable);
  return at;
}

static void check_decides(const char* signals, bool tip0, bool tip1, bool y) {
  sim s = sim_open(UNITS "trust: {signals: [%s]}\n", signals);
  const where tip = find(&s, "p", "tip"), integral = find(&s, "i", "y");
  assert_int_equal(yoke__system_decides(s.system, tip.unit, tip.variable, 0), tip0);
  assert_int_equal(yoke__system_decides(s.system, tip.unit, tip.variable, 1), tip1);
  assert_int_equal(yoke__system_decides(s.system, integral.unit, integral.variable, 0), y);
  sim_close(&s);
}

static void test_signals(void** state) {
  (void)state;
  check_decides("", true, true, true);
  check_decides("i.y", false, false, true);
  check_decides("p.tip", true, true, false);
  check_decides("\"p.tip[1]\"", false, true, false);
  check_decides("\"*.y\", \"p.*[0]\"", true, false, true);
  check_decides("\"*\"", true, true, true);
}

static void test_limits(void** state) {
  (void)state;
  sim s = sim_open(UNITS "trust: {limits: {p.tip: 0.5, \"p.tip[1]\": 0.25, i.y: 2e-3}}\n");
  const where tip = find(&s, "p", "tip"), integral = find(&s, "i", "y"), E = find(&s, "p", "E");
  check_near(yoke__system_error_limit(s.system, tip.unit, tip.variable, 0), 0.5, 0);
  check_near(yoke__system_error_limit(s.system, tip.unit, tip.variable, 1), 0.25, 0);
  check_near(yoke__system_error_limit(s.system, integral.unit, integral.variable, 0), 2e-3, 0);
  assert_true(isnan(yoke__system_error_limit(s.system, E.unit, E.variable, 0)));
  sim_close(&s);
}

// A limit is never ignored: what has one is judged and decides, though nothing is connected and `signals` names another.
static void test_limits_judge(void** state) {
  (void)state;
  sim s = sim_open(UNITS "trust: {limits: {i.y: 2e-3}}\n");
  const where integral = find(&s, "i", "y");
  assert_int_equal(s.system->n_judged, 1);
  assert_int_equal(s.system->judged[0].unit, integral.unit);
  assert_int_equal(s.system->judged[0].variable, integral.variable);
  sim_close(&s);
  s = sim_open(UNITS "trust: {signals: [p.tip], limits: {i.y: 2e-3}}\n");
  const where tip = find(&s, "p", "tip"), E = find(&s, "p", "E");
  assert_int_equal(s.system->n_judged, 3);
  assert_true(yoke__system_decides(s.system, tip.unit, tip.variable, 1));
  assert_true(yoke__system_decides(s.system, integral.unit, integral.variable, 0));
  assert_false(yoke__system_decides(s.system, E.unit, E.variable, 0));
  sim_close(&s);
  s = sim_open(UNITS);
  assert_int_equal(s.system->n_judged, 0);
  sim_close(&s);
}

// Both names and limits; inputs, outputs of other types, and patterns that match nothing.
static void test_refusals(void** state) {
  (void)state;
  refuse(NULL, UNITS "trust: {signals: [p.tpi, i.y]}\n",
         "trust: 'p.tpi' is no real output; did you mean 'p.tip'?");
  refuse(NULL, UNITS "trust: {limits: {i.yy: 1}}\n",
         "trust: 'i.yy' is no real output; did you mean 'i.y'?");
  refuse(NULL, UNITS "trust: {signals: [i.u]}\n", "trust: 'i.u' is no real output");
  refuse(NULL, UNITS "trust: {signals: [c.count]}\n", "trust: 'c.count' is no real output");
  refuse(NULL, UNITS "trust: {signals: [\"p.tip[2]\"]}\n", "trust: 'p.tip[2]' is no real output");
  refuse(NULL, UNITS "trust: {signals: [\"q.*\"]}\n", "trust: 'q.*' is no real output");
  refuse(NULL, UNITS "trust: {signals: [tip]}\n", "trust: 'tip' is no real output");
  // all of them in one go
  refuse(NULL, UNITS "trust: {signals: [x.y, i.z], limits: {p.q: 1}}\n", "'x.y'", "'i.z'", "'p.q'");
}

// The file's defaults are those of the judge.
static void test_defaults(void** state) {
  (void)state;
  sim s = sim_open(UNITS);
  const yoke_trust_limits limits = yoke__trust_default_limits();
  check_near(s.system->scenario->trust.limit, limits.limit, 0);
  check_near(s.system->scenario->trust.wrong, limits.wrong, 0);
  sim_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_signals),      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_limits_judge), cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_defaults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
