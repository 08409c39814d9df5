// What the books say in the end: the bounds of each verdict, the sentence, the total, and the known runs: the oscillator as
// it is (wrong), with fresh exchange (no sign of an error) and with the correction (doubtful).
#include "quality/ledger_bench.h"
#include "quality/quality_explain.h"
#include "support/sim.h"

// ---- bounds, with signals made for them

// What a bond of 100 W and 100 J shows. eps: share of the energy that is created within 10 s; defect: relative error of
// the action as it arrives; n_steep: samples with a rho of 0.35 out of 1000; n_wild: samples with 0.6 in a row.
typedef struct made {
  double eps, defect;
  int n_steep, n_wild;
  yoke_verdict want;
  const char* reason;  // part of it
  const char* proven;  // the same where the loop has no source; NULL: as reason
} made;

// One bond whose residual is given by its rebuilt action (partner held), so that everything can be set by itself:
// dP = (held - action) rate.
static yoke_ledger_result make(const made* m, bool has_mu, bool is_autonomous) {
  const double h = 0.01;
  bench b = {0};
  yoke_ledger_bond* bond = bench_add(&b, "made", 1, 1, h);
  bond->residual = YOKE_RESIDUAL_HELD;
  bond->energy = 100;
  bond->mu = has_mu ? 0.5 : (double)NAN;
  bond->mu_origin = has_mu ? YOKE_MU_AUTOMATIC : YOKE_MU_GAUSS_SEIDEL;
  bond->watch.settle = 0;
  bond->is_autonomous = is_autonomous;
  bench_start(&b);
  double excess = 0;
  for (int k = 0; k < 1000; k++) {
    // the action goes up and down, so that its slow mean stays near 0 and its peak is 10
    const double action = k % 2 == 0 ? 10 : -10, rate = k % 2 == 0 ? 10 : -10;
    double power = m->eps * 100 / 0.5 / 10;  // [W]
    if (k >= 500 && k < 500 + m->n_steep) {
      power = (k % 4 < 2 ? 1 : -1) * 0.35 * 100;
    } else if (k >= 500 && k < 500 + m->n_wild) {
      power = (k % 4 < 2 ? 1 : -1) * 0.6 * 100;
    }
    b.y[0] = action;
    b.y[1] = rate;
    b.u[0] = action * (1 + m->defect);
    b.u[1] = rate;
    excess = action + power / rate;
    const yoke_ledger_view view = {b.y, b.y, b.u, NULL};
    yoke__ledger_account(b.ledger, h, &view);
    b.t = (k + 1) * h;
    yoke__ledger_observe(b.ledger, b.t, h, &view, &excess);
  }
  yoke_ledger_result r = bench_result(&b, 0);
  r.bond = NULL;  // goes with the bench
  bench_end(&b);
  return r;
}

static const char by_samples[] = "the residual of its samples adds up to ";
static const char by_energy[] = "the coupling created about ";
static const char by_ter[] = "the two ends of made disagree by ";
static const char by_rho[] = "the exchange is too slow for these signals: rho is above 0.25 in ";
static const char by_wild[] = "the coupling error is as large as the power itself (rho up to ";
static const char no_sign[] = "no sign of an energy error, and no error estimate";

static const made cases[] = {
    {0.009, 0, 0, 0, YOKE_VERDICT_NONE, no_sign, NULL},
    {0.011, 0, 0, 0, YOKE_DOUBTFUL, by_samples, by_energy},
    {0.099, 0, 0, 0, YOKE_DOUBTFUL, by_samples, by_energy},
    {0.101, 0, 0, 0, YOKE_WRONG, by_samples, by_energy},
    {0.3, 0, 0, 0, YOKE_WRONG, by_samples, by_energy},
    {-0.2, 0, 0, 0, YOKE_WRONG, "adds up to 20 % of the energy of the exchange (100 J)",
     "the coupling removed about 20 J, 20 % of the energy of the exchange (100 J)"},
    // rTER = d / (1 + d)
    {0, 0.05, 0, 0, YOKE_VERDICT_NONE, no_sign, NULL},
    {0, 0.055, 0, 0, YOKE_DOUBTFUL, by_ter, NULL},
    {0, 0.33, 0, 0, YOKE_DOUBTFUL, by_ter, NULL},
    {0, 0.34, 0, 0, YOKE_WRONG, by_ter, NULL},
    {0, 0, 48, 0, YOKE_VERDICT_NONE, no_sign, NULL},
    {0, 0, 52, 0, YOKE_DOUBTFUL, by_rho, NULL},
    {0, 0, 0, 10, YOKE_VERDICT_NONE, no_sign, NULL},
    {0, 0, 0, 11, YOKE_WRONG, by_wild, NULL},
    {0.5, 0, 0, 11, YOKE_WRONG, by_wild, NULL},
    // the worst of several is the reason
    {0.02, 0.34, 0, 0, YOKE_WRONG, by_ter, NULL},
    {0.11, 0.06, 0, 0, YOKE_WRONG, by_samples, by_energy},
};

static void test_bounds(void** state) {
  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    for (int is_autonomous = 0; is_autonomous < 2; is_autonomous++) {
      const made* m = &cases[i];
      const yoke_ledger_result r = make(m, true, is_autonomous);
      const char* want = is_autonomous && m->proven != NULL ? m->proven : m->reason;
      if (r.verdict != m->want || strstr(r.reason, want) == NULL || r.explanation[0] == '\0') {
        fail_msg("case %zu: %s, expected %s\n  reason %s\n  expected %s\n  eps %g, rTER %g, share "
                 "%g",
                 i, yoke__verdict_names[r.verdict], yoke__verdict_names[m->want], r.reason, want,
                 r.eps, r.rter, r.rho_share);
      }
      // what has a verdict explains itself, and a driven loop has no proof of anything created
      assert_true((strcmp(r.reason, r.explanation) == 0) == (m->want != YOKE_VERDICT_NONE));
      assert_true(is_autonomous || strstr(r.explanation, "created") == NULL);
      if (m->n_steep + m->n_wild == 0) {
        check_near(r.eps, fabs(m->eps), 1e-9);
      }
    }
  }
}

// energy counts as created only where the mismatch has one sign, and its sum kept it
static void test_proof(void** state) {
  (void)state;
  static const struct {
    double swing;  // of the residual power, beside 1 W
    double net;    // of the mismatch, by the sign of the defect
    bool is_proven;
  } proofs[] = {{0, 1, true}, {3, 1, true}, {0, 0.2, false}, {400, 1, false}};
  for (size_t i = 0; i < COUNT(proofs); i++) {
    for (int is_written = 0; is_written < 2; is_written++) {
      bench b = {0};
      yoke_ledger_bond* bond = bench_add(&b, "made", 1, 1, 0.01);
      bond->residual = YOKE_RESIDUAL_HELD;
      bond->energy = 100;
      bond->is_autonomous = true;
      bench_start(&b);
      for (int k = 0; k < 1000; k++) {
        const double side = k % 2 == 0 ? 10 : -10;
        const double power = 1 + proofs[i].swing * cos(0.0314159 * k);
        const double held = side + power / side;
        b.y[0] = b.y[1] = b.u[1] = side;
        // the mismatch is 5 % of the power, for a share of the time with the other sign
        b.u[0] = side * (1 + (k % 10 < 5 * (1 + proofs[i].net) ? 0.05 : -0.05));
        const yoke_ledger_view view = {b.y, b.y, b.u, NULL};
        yoke__ledger_account(b.ledger, 0.01, &view);
        yoke__ledger_observe(b.ledger, b.t = (k + 1) * 0.01, 0.01, &view, &held);
        if (is_written && k == 500) {
          yoke__ledger_note_write(b.ledger);
        }
      }
      const yoke_ledger_result r = bench_result(&b, 0);
      if (r.is_proven != (proofs[i].is_proven && !is_written)) {
        fail_msg("case %zu, %s: %sproven, net %g of %g", i, is_written ? "written" : "alone",
                 r.is_proven ? "" : "not ", r.net, r.ter);
      }
      bench_end(&b);
    }
  }
}

// energies in words
static void test_energies(void** state) {
  (void)state;
  static const struct {
    double joule;
    const char* text;
  } energies[] = {{0, "0 J"},
                  {1e-12, "0.001 nJ"},
                  {-2.5e-3, "2.5 mJ"},
                  {999.4, "999 J"},
                  {999.6, "1 kJ"},
                  {75.23, "75.2 J"},
                  {1e12, "1e+03 GJ"},
                  {1.01e12, "more than 1e12 J"},
                  {HUGE_VAL, "more than 1e12 J"}};
  for (size_t i = 0; i < COUNT(energies); i++) {
    char text[32];
    assert_string_equal(yoke__energy_text(energies[i].joule, text, sizeof text), energies[i].text);
  }
}

// what too much or too little energy reached a unit, from two runs
static void test_given_in_words(void** state) {
  (void)state;
  char text[320];
  check_near(yoke__ledger_explain_given("piston", "arm", -295.33, -286.79, 3400, text, sizeof text),
             -17.08, 1e-9);
  assert_string_equal(
      text, "about 17.1 J too little energy reached arm through piston, of 3.4 kJ transferred");
  check_near(yoke__ledger_explain_given("piston", "arm", 120, 110, 1000, text, sizeof text), 20,
             1e-12);
  assert_string_equal(text,
                      "about 20 J too much energy reached arm through piston, of 1 kJ transferred");
  yoke__ledger_explain_given("piston", "arm", 100, 102.4, 1000, text, sizeof text);
  assert_string_equal(text, "the energy through piston is right within 0.5 %");
  yoke__ledger_explain_given("piston", "arm", 0, 10, 0, text, sizeof text);
  assert_string_equal(
      text, "about 20 J too little energy reached arm through piston, where none was transferred");
  yoke__ledger_explain_given("piston", "arm", 5e12, 0, 2e12, text, sizeof text);
  assert_string_equal(text, "more than 1e12 J too much energy reached arm through piston, of more "
                            "than 1e12 J transferred");
  yoke__ledger_explain_given("piston", "arm", 0, 0, 0, text, sizeof text);
  assert_string_equal(text, "the energy through piston is right within 0.5 %");
  assert_true(isnan(yoke__ledger_explain_given("piston", "arm", (double)NAN, 1, 1, text, 320)));
  assert_string_equal(text, "");
}

// the words stand in results and in scripts
static void test_words(void** state) {
  (void)state;
  assert_string_equal(yoke__verdict_names[YOKE_VERDICT_NONE], "not judged");
  assert_string_equal(yoke__verdict_names[YOKE_TRUSTWORTHY], "trustworthy");
  assert_string_equal(yoke__verdict_names[YOKE_DOUBTFUL], "doubtful");
  assert_string_equal(yoke__verdict_names[YOKE_WRONG], "wrong");
}

// without mu there is no energy to judge: TER decides, and without TER nobody
static void test_without_mu(void** state) {
  (void)state;
  const yoke_ledger_result blind = make(&(made){.eps = 0.5}, false, false);
  assert_true(isnan(blind.created) && isnan(blind.eps));
  assert_int_equal(blind.verdict, YOKE_VERDICT_NONE);  // the inputs agree
  assert_string_equal(blind.reason, no_sign);
  assert_string_equal(blind.explanation,
                      "the two ends of made disagree by 0 J of 1 kJ transferred energy (0 %)");
  assert_int_equal(make(&(made){.defect = 0.5}, false, false).verdict, YOKE_WRONG);

  static const struct {
    yoke_mu_origin origin;
    const char* reason;
  } origins[] = {{YOKE_MU_BOTH_FEEDTHROUGH, "both units have direct feedthrough"},
                 {YOKE_MU_IMPLICIT, "a unit has an implicit solver"},
                 {YOKE_MU_GAUSS_SEIDEL,
                  "under Gauss-Seidel the residual compares samples of two different times"},
                 {YOKE_MU_ITERATIVE, "an iterated exchange leaves no residual"}};
  for (size_t i = 0; i < COUNT(origins); i++) {
    bench b = {0};
    yoke_ledger_bond* bond = bench_add(&b, "silent", 1, 1, 0.01);
    bond->mu = (double)NAN;
    bond->mu_origin = origins[i].origin;
    bond->has_ter = false;
    bench_start(&b);
    for (int k = 1; k < 300; k++) {
      b.y[0] = sin(0.05 * k);
      b.y[1] = cos(0.05 * k);
      bench_step(&b);
    }
    const yoke_ledger_result r = bench_result(&b, 0);
    assert_int_equal(r.verdict, YOKE_VERDICT_NONE);
    check_contains(r.reason, "energy not judged: ");
    check_contains(r.reason, origins[i].reason);
    bench_end(&b);
  }
}

static void test_nothing_passed(void** state) {
  (void)state;
  bench b = {0};
  bench_add(&b, "still", 1, 1, 0.01);
  bench_start(&b);
  for (int k = 0; k < 100; k++) {
    b.y[0] = 7;  // a static load
    bench_step(&b);
  }
  const yoke_ledger_result r = bench_result(&b, 0);
  assert_int_equal(r.verdict, YOKE_VERDICT_NONE);
  assert_string_equal(r.reason, "no energy was transferred");
  assert_string_equal(r.explanation, "no energy was transferred");
  bench_end(&b);
}

// the total takes the worst verdict and says whose it is
static void test_total(void** state) {
  (void)state;
  bench b = {0};
  static const char* const names[] = {"good", "bad", "fair"};
  static const double defects[] = {0, 0.5, 0.1};
  for (size_t i = 0; i < 3; i++) {
    bench_add(&b, names[i], 1, 1, 0.01)->mu = 0;
  }
  for (size_t i = 0; i < 6; i++) {
    b.y[i] = 1;
  }
  bench_start(&b);
  for (int k = 0; k < 200; k++) {
    for (size_t i = 0; i < 3; i++) {
      b.u[2 * i] = 1 + defects[i];
      b.u[2 * i + 1] = 1;
    }
    bench_step(&b);
  }
  assert_int_equal(bench_result(&b, 0).verdict, YOKE_VERDICT_NONE);
  assert_int_equal(bench_result(&b, 1).verdict, YOKE_WRONG);
  assert_int_equal(bench_result(&b, 2).verdict, YOKE_DOUBTFUL);
  const yoke_ledger_result total = bench_result(&b, 3);
  assert_int_equal(yoke__ledger_count(b.ledger), 3);
  assert_int_equal(total.verdict, YOKE_WRONG);
  check_contains(total.reason, "bad: the two ends of bad disagree");
  assert_null(total.bond);
  check_near(total.ter, (0.5 + 0.1) * 2, 1e-9);
  check_near(total.throughput, (1 + 1.5 + 1.1) * 2, 1e-9);
  check_near(total.rter, 1.2 / 7.2, 1e-9);
  check_near(total.duration, 2, 1e-9);
  bench_end(&b);
}

// ---- known runs

static yoke_ledger_result run_oscillator(const char* lines, const char* coupling, double* energy) {
  sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\n"
                   "time: {stop: 10, step: 1e-3}\n"
                   "%s"
                   "units:\n"
                   "  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {v: "
                   "100}}\n"
                   "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {v: -100}}\n"
                   "connections: [right.x -> left.x_other]\n"
                   "bonds:\n"
                   "  spring: {action: left.f -> right.f, rate: right.v -> left.v_other%s}\n"
                   "quality: {period: 0.1}\n",
                   lines, coupling);
  sim_run(&s);
  yoke_ledger_result r;
  yoke__ledger_result(s.state->ledger, 0, &r);
  *energy = sim_oscillator_energy(&s, &LO1) / 10000;
  print_message("%s%s: E/Er = %.4f, %s: %s\n", lines, coupling, *energy,
                yoke__verdict_names[r.verdict], r.reason);
  r.bond = NULL;  // goes with the system
  sim_close(&s);
  return r;
}

static void test_oscillator(void** state) {
  (void)state;
  double energy = 0;
  yoke_ledger_result r = run_oscillator("", "", &energy);
  assert_int_equal(r.verdict, YOKE_WRONG);
  check_contains(r.reason, "the coupling created about 10.8 kJ");
  // what is said to be created is there: 0.5 dE for 0.473 dE
  check_near(r.created / (1e4 * (energy - 1)), 0.5 / 0.473, 0.02);

  r = run_oscillator("exchange: fresh\n", "", &energy);
  assert_int_equal(r.verdict, YOKE_VERDICT_NONE);
  assert_string_equal(r.reason, no_sign);
  check_near(r.created, 0, 0);

  // the correction's books balance, but what it took out counts with a tenth: its estimate may be wrong
  r = run_oscillator("", ", coupling: {method: energy}", &energy);
  assert_int_equal(r.verdict, YOKE_DOUBTFUL);
  check_near(r.eps * r.energy, fabs(r.created) + 0.1 * 0.5 * fabs(r.residual), 1e-9 * r.energy);
  assert_true(fabs(r.created) < 0.01 * r.energy);
  check_contains(r.reason, "after correction 51.3 J of 6.01 kJ remain");
  check_near(energy, 0.986, 0.001);

  // no factor mu under Gauss-Seidel: TER speaks alone, and is right
  r = run_oscillator("scheme: gauss-seidel\n", "", &energy);
  assert_int_equal(r.verdict, YOKE_VERDICT_NONE);
  assert_true(isnan(r.eps));
  check_near(energy, 0.985, 0.002);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bounds),         cmocka_unit_test(test_words),
      cmocka_unit_test(test_without_mu),     cmocka_unit_test(test_nothing_passed),
      cmocka_unit_test(test_total),          cmocka_unit_test(test_oscillator),
      cmocka_unit_test(test_proof),          cmocka_unit_test(test_energies),
      cmocka_unit_test(test_given_in_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
