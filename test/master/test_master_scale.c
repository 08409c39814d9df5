// The ledger knows no second, joule or metre of its own: the same system at another speed (TR-12) or another size (TR-13)
// has the same verdict and the same relative figures.
#include <math.h>

#include "support/check.h"
#include "support/sim.h"

typedef struct scaled_case {
  const char* name;
  int n_steps;
  int ratio;         // calls of the right mass per exchange
  double w;          // exchange interval times the square root of k / m of the right mass
  double damping;    // relative to the mass and its frequency
  const char* more;  // the rest of the file
  const char* bond;  // more of the bond
} scaled_case;

static const scaled_case cases[] = {
    {"held", 3000, 1, 0.03, 0, "", ""},
    {"coarse", 1500, 1, 0.2, 0, "", ""},
    {"fine", 4000, 1, 1e-3, 0, "", ""},
    {"fresh", 2000, 1, 0.1, 0, "exchange: fresh\n", ""},
    {"gauss-seidel", 2000, 1, 0.1, 0.01, "scheme: gauss-seidel\n", ""},
    {"several calls", 2000, 8, 0.1, 0.02, "", ", coupling: {method: hold, order: 1}"},
    {"to rest", 6000, 1, 0.05, 0.3, "", ""},
    {"unstable", 1200, 1, 0.9, 0, "", ""},
};

typedef struct outcome {
  yoke_ledger_result books;
  double step;
} outcome;

// All times times `time`, all motions times `size`.
static outcome run_scaled(const scaled_case* c, double time, double size) {
  const double h = 1e-3 * time, w = c->w / h;
  sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: %.12g, step: %.12g}\n"
                   "units:\n"
                   "  left: {model: oscillator.force, with: {m: 1, k: %.17g, kc: %.17g, c: %.17g}, "
                   "start: {v: %.17g}}\n"
                   "  right: {model: oscillator.mass, with: {m: 1, k: %.17g, c: %.17g}, start: {v: "
                   "%.17g}, step: %.12g}\n"
                   "connections: [right.x -> left.x_other]\n"
                   "bonds: {spring: {action: left.f -> right.f, rate: right.v -> left.v_other%s}}\n"
                   "%s",
                   h * c->n_steps, h, 0.01 * w * w, 0.1 * w * w, c->damping * w, 100 * size / time,
                   w * w, c->damping * w, -100 * size / time, h / c->ratio, c->bond, c->more);
  outcome o = {.step = h};
  sim_run(&s);
  yoke__ledger_result(s.state->ledger, 0, &o.books);
  o.books.bond = NULL;
  sim_close(&s);
  return o;
}

static void check_ratio(const char* what, double got, double want) {
  if (!(fabs(got - want) <= 1e-9 * fabs(want)) && !(isnan(got) && isnan(want))) {
    fail_msg("%s: %.17g, expected %.17g", what, got, want);
  }
}

static void check_same(const outcome* got, const outcome* want) {
  const yoke_ledger_result *g = &got->books, *w = &want->books;
  assert_int_equal(g->verdict, w->verdict);
  assert_int_equal(g->n_samples, w->n_samples);
  assert_int_equal(g->n_warnings, w->n_warnings);
  assert_int_equal(g->is_persistent, w->is_persistent);
  check_ratio("eps", g->eps, w->eps);
  check_ratio("eps_worst", g->eps_worst, w->eps_worst);
  check_ratio("rho_mean", g->rho_mean, w->rho_mean);
  check_ratio("rho_worst", g->rho_worst, w->rho_worst);
  check_ratio("rho_share", g->rho_share, w->rho_share);
  check_ratio("rter", g->rter, w->rter);
  check_ratio("rter_worst", g->rter_worst, w->rter_worst);
  check_ratio("net", g->net / g->ter, w->net / w->ter);
  check_ratio("flow", g->flow / g->ter, w->flow / w->ter);
  check_ratio("created", g->created / g->throughput, w->created / w->throughput);
  check_ratio("passed", g->passed / g->throughput, w->passed / w->throughput);
  check_ratio("period", g->period / got->step, w->period / want->step);
  check_ratio("window", g->window / got->step, w->window / want->step);
  check_ratio("t_rho_worst", g->t_rho_worst / got->step, w->t_rho_worst / want->step);
}

static void test_times_TR_12(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const outcome want = run_scaled(&cases[i], 1, 1);
    print_message("%s: %s, eps %.4g, rter %.4g, rho %.4g, period %.4g exchanges\n", cases[i].name,
                  yoke__verdict_names[want.books.verdict], want.books.eps, want.books.rter,
                  want.books.rho_worst, want.books.period / want.step);
    static const double times[] = {1e-3, 1e3};
    for (size_t k = 0; k < 2; k++) {
      const outcome got = run_scaled(&cases[i], times[k], 1);
      check_same(&got, &want);
    }
  }
}

static void test_motions_TR_13(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const outcome want = run_scaled(&cases[i], 1, 1);
    static const double sizes[] = {1e-16, 1e16};
    for (size_t k = 0; k < 2; k++) {
      const outcome got = run_scaled(&cases[i], 1, sizes[k]);
      check_same(&got, &want);
    }
  }
}

// the times of a bond follow from its signals; what the file gives overrides them
static void test_times_of_a_bond(void** state) {
  (void)state;
  static const struct {
    const char* quality;
    double period, window, settle;  // negative: in exchanges
  } times[] = {
      {"", -525, -5250, -2625},
      {"quality: {period: 0.1}\n", 0.1, 1, 0.5},
      {"quality: {period: 0.1, window: 3}\n", 0.1, 3, 0.5},
      {"quality: {window: 3, settle: 0.25}\n", -525, 3, 0.25},
  };
  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
    scaled_case c = cases[0];
    c.more = times[i].quality;
    const outcome o = run_scaled(&c, 1, 1);
    const double want[] = {times[i].period, times[i].window, times[i].settle};
    const double got[] = {o.books.period, o.books.window, o.books.settle};
    for (size_t k = 0; k < 3; k++) {
      check_relative(got[k], want[k] < 0 ? -want[k] * o.step : want[k], want[k] < 0 ? 0.01 : 2e-9);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_times_TR_12),
      cmocka_unit_test(test_motions_TR_13),
      cmocka_unit_test(test_times_of_a_bond),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
