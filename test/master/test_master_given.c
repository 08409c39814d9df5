// The energy that a unit was given through a bond: the balance of the unit itself at any number of calls, and the crane,
// whose mismatch is no energy that the coupling created (TR-17).
#include <math.h>
#include <string.h>

#include "quality/quality_explain.h"
#include "support/check.h"
#include "support/sim.h"

// ---- the unit's own balance: what its mass and spring hold is what it was given

typedef struct balance_case {
  const char* name;
  const char *step, *left, *right;  // macro step and steps of the two units
  const char* more;
} balance_case;

static void test_balance_of_the_unit(void** state) {
  (void)state;
  static const balance_case cases[] = {
      {"one call", "1e-3", "1e-3", "1e-3", ""},
      {"several calls", "8e-3", "8e-3", "1e-3", ""},
      {"several calls of the other", "1e-3", "1e-4", "1e-3", ""},
      {"both", "4e-3", "1e-3", "5e-4", ""},
      {"slow unit", "1e-3", "1e-3", "4e-3", ""},
      {"gauss-seidel", "1e-3", "1e-3", "1e-3", "scheme: gauss-seidel\n"},
      {"fresh", "1e-3", "1e-3", "1e-3", "exchange: fresh\n"},
      {"corrected", "1e-3", "1e-3", "1e-3",
       "couplings: {loop: {method: energy, members: [left, right]}}\n"},
      {"nepce", "4e-3", "4e-3", "1e-3",
       "couplings: {loop: {method: nepce, members: [left, right]}}\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const balance_case* c = &cases[i];
    sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.8, step: %s}\n"
                     "units:\n"
                     "  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100, solver: rk4}, "
                     "start: {v: 3}, step: %s}\n"
                     "  right: {model: oscillator.mass, with: {m: 2, k: 100, solver: rk4}, start: "
                     "{v: -1}, step: %s}\n"
                     "connections: [right.x -> left.x_other]\n"
                     "bonds: {spring: {action: left.f -> right.f, rate: right.v -> "
                     "left.v_other}}\n%s",
                     c->step, c->left, c->right, c->more);
    sim_run(&s);
    yoke_ledger_result r;
    yoke__ledger_result(s.state->ledger, 0, &r);
    const double x = sim_read(&s, "right.x"), v = sim_read(&s, "right.v");
    const double gained = 0.5 * 2 * v * v + 0.5 * 100 * x * x - 0.5 * 2;
    print_message("%s: given %.6f J, gained %.6f J of %.3f J that passed\n", c->name, r.given,
                  gained, r.throughput);
    check_near(r.given, gained, 1e-3 * r.throughput);
    assert_true(fabs(gained) > 0.01 * r.throughput);
    sim_close(&s);
  }
}

// two components, and a law at the other end
static void test_balance_of_vectors_and_laws(void** state) {
  (void)state;
  sim s =
      sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.5, step: 1e-3}\n"
               "units:\n"
               "  left: {model: oscillator.mass, with: {m: 1, k: 10, sign: -1, solver: rk4}, "
               "start: {v: 3}}\n"
               "  right: {model: oscillator.mass, with: {m: 2, k: 100, solver: rk4}, start: {v: "
               "-1}}\n"
               "laws: {spring: {law: spring_damper, with: {k: 100, c: 0}}}\n"
               "connections: [left.x -> spring.x1, right.x -> spring.x2]\n"
               "bonds:\n"
               "  left: {action: spring.f -> left.f, rate: left.v -> spring.v1, sign: -1}\n"
               "  right: {action: spring.f -> right.f, rate: right.v -> spring.v2}\n");
  sim_run(&s);
  static const struct {
    const char *x, *v;
    double m, k, start;
  } units[] = {{"left.x", "left.v", 1, 10, 4.5}, {"right.x", "right.v", 2, 100, 1}};
  for (size_t i = 0; i < 2; i++) {
    yoke_ledger_result r;
    yoke__ledger_result(s.state->ledger, i, &r);
    const double x = sim_read(&s, units[i].x), v = sim_read(&s, units[i].v);
    const double gained = 0.5 * units[i].m * v * v + 0.5 * units[i].k * x * x - units[i].start;
    check_near(r.given, gained, 1e-3 * r.throughput);
  }
  sim_close(&s);

  // nobody receives what is only measured
  s = sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.1, step: 1e-3}\n"
               "units: {a: {model: oscillator.force, start: {v: 1, v_other: 0}}, b: {model: "
               "oscillator.mass}}\n"
               "connections: [a.f -> b.f, b.x -> a.x_other]\n"
               "bonds: {one: {action: a.f, rate: b.v}}\n");
  sim_run(&s);
  yoke_ledger_result r;
  yoke__ledger_result(s.state->ledger, 0, &r);
  assert_true(isnan(r.given));
  sim_close(&s);
}

// ---- the crane

static yoke_ledger_result run_crane(const char* step, const char* oil) {
  sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 10, step: %s}\n"
                   "units:\n"
                   "  arm: {model: crane.arm}\n"
                   "  oil: {model: crane.hydraulics, step: %s}\n"
                   "connections: [arm.s -> oil.s]\n"
                   "bonds: {piston: {action: oil.f_h -> arm.f_h, rate: arm.v -> oil.v, energy: "
                   "1.7e3}}\n",
                   step, oil);
  sim_run(&s);
  yoke_ledger_result r;
  size_t n = 0, n_more = 0;
  const yoke_alarm* alarms = yoke__ledger_alarms(s.state->ledger, &n, &n_more);
  for (size_t i = 0; i < n; i++) {
    char text[512];
    yoke__ledger_alarm_text(s.state->ledger, &alarms[i], text, sizeof text);
    assert_null(strstr(text, "created"));
  }
  for (size_t i = 0; i < 2; i++) {
    yoke__ledger_result(s.state->ledger, 1 - i, &r);  // the total, then the bond
    assert_null(strstr(r.reason, "created"));
    assert_null(strstr(r.explanation, "created"));
  }
  print_message("crane at %s s: given %.4f J, %s\n", step, r.given, r.explanation);
  r.bond = NULL;  // goes with the system
  sim_close(&s);
  return r;
}

static void test_crane_TR_17(void** state) {
  (void)state;
  const yoke_ledger_result run = run_crane("10e-3", "0.25e-3");
  const yoke_ledger_result half = run_crane("5e-3", "0.125e-3");
  check_near(run.given, -295.33, 0.005);
  check_near(half.given, -286.79, 0.005);
  check_near(run.ter, 426.2, 0.05);
  check_near(run.net, 119.6, 0.05);
  assert_false(run.is_proven);
  check_contains(run.explanation, "the two ends of piston disagree by 426 J of 3.46 kJ");

  char text[320];
  const double change = yoke__ledger_explain_given("piston", "arm", run.given, half.given,
                                                   run.throughput, text, sizeof text);
  print_message("%s\n", text);
  check_between(change, -20, -14);
  assert_null(strstr(text, "created"));
  // 0.494 % of the throughput
  assert_string_equal(text, "the energy through piston is right within 0.5 %");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_balance_of_the_unit),
      cmocka_unit_test(test_balance_of_vectors_and_laws),
      cmocka_unit_test(test_crane_TR_17),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
