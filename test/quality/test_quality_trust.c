// Verdicts of signals, loops and runs: every rule of the table, its sentence, and the order of the verdicts.
#include "quality/quality_trust.h"

#include "base/base_map.h"
#include "quality/trust_pair.h"
#include "support/check.h"

static const double none = (double)NAN;

// A signal that moves, with both companions.
static yoke_trust_signal signal_of(const char* name, double relative, double low) {
  return (yoke_trust_signal){
      .name = name,
      .dim = "m",
      .is_wanted = true,
      .limits = {YOKE_TRUST_LIMIT, YOKE_TRUST_WRONG, (double)NAN},
      .band = {.has_a = true,
               .has_b = true,
               .n = 101,
               .active = 101,
               .range = 0.2,
               .scale = 0.1,
               .largest = 0.2,
               .d = 0.04 * relative,
               .x = 0.05 * relative,
               .band = 0.1 * relative,
               .low = 0.1 * low,
               .relative = relative,
               .low_relative = low,
               .band_max = 0.26 * relative,
               .low_max = 0.26 * low,
               .digits = 2},
  };
}

static yoke_growth_alarm alarm(bool is_active) {
  return (yoke_growth_alarm){.is_latched = true,
                             .is_active = is_active,
                             .at = 40,
                             .from = 8,
                             .factor = 12345.6,
                             .n = 32,
                             .rate = 1.34,
                             .total = 1e5};
}

static void without_companions(yoke_trust_signal* s) {
  s->band.has_a = s->band.has_b = false;
  s->band.band = s->band.relative = s->band.low = s->band.low_relative = s->band.band_max =
      s->band.low_max = s->band.d = s->band.x = none;
}

static void check_judged(yoke_trust_signal* s, yoke_trust_rule rule, yoke_verdict verdict,
                         const char* reason) {
  yoke__trust_judge_signal(s);
  assert_string_equal(s->reason, reason);
  assert_int_equal(s->rule, rule);
  assert_int_equal(s->verdict, verdict);
}

// -------------------------------------------------------------------------------------------------
// sentences

// -------------------------------------------------------------------------------------------------
// rules

static void test_rules_of_bands(void** state) {
  (void)state;
  yoke_trust_signal s = signal_of("arm.s", 0.04, 0.02);
  check_judged(&s, YOKE_RULE_WITHIN, YOKE_TRUSTWORTHY,
               "arm.s is within 0.0104 m (rms 4 % of its movement), 2 digits");
  s = signal_of("arm.s", 0.05, 0.02);
  check_judged(&s, YOKE_RULE_WITHIN, YOKE_TRUSTWORTHY,
               "arm.s is within 0.013 m (rms 5 % of its movement), 2 digits");
  s = signal_of("arm.s", 0.051, 0.02);
  check_judged(&s, YOKE_RULE_MAY_BE_OFF, YOKE_DOUBTFUL,
               "arm.s may be off by up to 0.0133 m (rms 5.1 % of its movement)");
  s = signal_of("arm.s", 0.3, 0.1);
  check_judged(&s, YOKE_RULE_MAY_BE_OFF, YOKE_DOUBTFUL,
               "arm.s may be off by up to 0.078 m (rms 30 % of its movement)");
  s = signal_of("arm.s", 0.3, 0.101);
  check_judged(&s, YOKE_RULE_OFF, YOKE_WRONG,
               "arm.s is off by up to 0.078 m (rms 30 % of its movement)");
  s = signal_of("arm.s", 39, 20);
  s.dim = "";
  check_judged(&s, YOKE_RULE_OFF, YOKE_WRONG,
               "arm.s is off by up to 10.1 (rms 39 times its movement)");
  s = signal_of("arm.s", 0, 0);
  s.band.is_exact = true;
  check_judged(&s, YOKE_RULE_WITHIN, YOKE_TRUSTWORTHY, "arm.s is exact in all companions");
  s = signal_of("arm.s", 0.05, 0.02);
  s.limits.limit = 0.02;
  check_judged(&s, YOKE_RULE_MAY_BE_OFF, YOKE_DOUBTFUL,
               "arm.s may be off by up to 0.013 m (rms 5 % of its movement)");
  s = signal_of("arm.s", 0.2, 0.09);
  s.limits.wrong = 0.08;
  check_judged(&s, YOKE_RULE_OFF, YOKE_WRONG,
               "arm.s is off by up to 0.052 m (rms 20 % of its movement)");
}

// The difference of another method alone: both conditions are needed.
static void test_aliasing(void** state) {
  (void)state;
  yoke_trust_signal s = signal_of("a.v", 0.8, 0.01);
  s.band.d = 0.004;
  s.band.x = 0.06;
  check_judged(&s, YOKE_RULE_MAY_BE_OFF, YOKE_DOUBTFUL,
               "a.v may be off by up to 0.21 m (rms 80 % of its movement); half the step agrees, "
               "another method does not: a fast signal may be sampled too slowly (aliasing)");
  s.band.d = 0.0061;
  yoke__trust_judge_signal(&s);
  assert_null(strstr(s.reason, "aliasing"));
  s.band.d = 0.004;
  s.band.x = 0.049;
  yoke__trust_judge_signal(&s);
  assert_null(strstr(s.reason, "aliasing"));
}

static void test_absolute_limits(void** state) {
  (void)state;
  yoke_trust_signal s = signal_of("arm.s", 0.01, 0.001);  // band_max 0.0026 m
  s.limits.absolute = 2e-3;
  check_judged(&s, YOKE_RULE_MAY_BE_OFF, YOKE_DOUBTFUL,
               "arm.s may be off by up to 0.0026 m, limit 0.002 m (rms 1 % of its movement)");
  s.limits.absolute = 2.7e-3;
  check_judged(&s, YOKE_RULE_WITHIN, YOKE_TRUSTWORTHY,
               "arm.s is within 0.0026 m, limit 0.0027 m (rms 1 % of its movement), 2 digits");
  // a large share of the movement is fine where the limit is not reached
  s = signal_of("arm.s", 0.4, 0.2);  // 0.104 m, low_max 0.052 m
  s.limits.absolute = 0.11;
  yoke__trust_judge_signal(&s);
  assert_int_equal(s.verdict, YOKE_TRUSTWORTHY);
  s.limits.absolute = 0.0261;  // twice that is above low_max
  yoke__trust_judge_signal(&s);
  assert_int_equal(s.verdict, YOKE_DOUBTFUL);
  s.limits.absolute = 0.0259;
  yoke__trust_judge_signal(&s);
  assert_int_equal(s.verdict, YOKE_WRONG);
  assert_int_equal(s.rule, YOKE_RULE_OFF);
  // it acts on what grew, too
  s = signal_of("arm.s", 0.04, 0.001);
  s.limits.absolute = 2e-3;
  s.growth = alarm(false);
  yoke__trust_judge_signal(&s);
  assert_int_equal(s.rule, YOKE_RULE_GREW);
}

static void test_growth(void** state) {
  (void)state;
  yoke_trust_signal s = signal_of("oil.p", 0.51, 0.0);
  s.growth = alarm(true);
  check_judged(&s, YOKE_RULE_DIVERGED, YOKE_WRONG,
               "diverges: oil.p grew 12300 times within 32 exchanges");
  s.growth_from_s = 0.4;
  s.growth_to_s = 2;
  check_judged(&s, YOKE_RULE_DIVERGED, YOKE_WRONG,
               "diverges: oil.p grew 12300 times within 32 exchanges, between 0.4 s and 2 s");
  s = signal_of("oil.p", 0.5, 0.0);
  s.growth = alarm(true);
  s.growth_from_s = 0.4;
  s.growth_to_s = 2;
  check_judged(&s, YOKE_RULE_GREW, YOKE_DOUBTFUL,
               "oil.p grew 12300 times between 0.4 s and 2 s and may be off by up to 0.13 m (rms "
               "50 % of its movement)");
  // latched long ago
  s = signal_of("oil.p", 2, 0.0);
  s.growth = alarm(false);
  yoke__trust_judge_signal(&s);
  assert_int_equal(s.rule, YOKE_RULE_GREW);
  // surely off: rule 2 comes first
  s.band.low_relative = 0.3;
  yoke__trust_judge_signal(&s);
  assert_int_equal(s.rule, YOKE_RULE_OFF);
  // without companions
  s = signal_of("oil.p", 0, 0);
  without_companions(&s);
  s.growth = alarm(true);
  check_judged(&s, YOKE_RULE_DIVERGED, YOKE_WRONG,
               "diverges: oil.p grows 12300-fold every 32 exchanges; if the plant is unstable by "
               "itself this is right: run with --trust both");
  // not finite
  s.band.is_diverged = true;
  check_judged(&s, YOKE_RULE_DIVERGED, YOKE_WRONG,
               "diverges: oil.p grew 12300 times within 32 exchanges");
  s.growth = (yoke_growth_alarm){0};
  check_judged(&s, YOKE_RULE_DIVERGED, YOKE_WRONG, "diverges: oil.p is not finite or beyond 1e100");
}

static void test_no_estimate(void** state) {
  (void)state;
  yoke_trust_signal s = signal_of("a.x", 0, 0);
  without_companions(&s);
  check_judged(&s, YOKE_RULE_NO_ESTIMATE, YOKE_VERDICT_NONE,
               "no error estimate: run with --trust both");
  s.ledger = YOKE_TRUSTWORTHY;
  check_judged(&s, YOKE_RULE_NO_ESTIMATE, YOKE_VERDICT_NONE,
               "no sign of an energy error, and no error estimate: run with --trust both");
  s.ledger = YOKE_DOUBTFUL;
  check_judged(&s, YOKE_RULE_NO_ESTIMATE, YOKE_DOUBTFUL,
               "doubtful by the energy ledger, and no error estimate: run with --trust both");
  s.ledger = YOKE_WRONG;
  s.no_estimate = "both companions failed";
  check_judged(&s, YOKE_RULE_NO_ESTIMATE, YOKE_WRONG,
               "wrong by the energy ledger, and no error estimate: both companions failed");
  s.ledger = YOKE_VERDICT_NONE;
  s.growth = alarm(false);
  s.growth_to_s = 0.5;
  check_judged(&s, YOKE_RULE_NO_ESTIMATE, YOKE_VERDICT_NONE,
               "no error estimate: both companions failed; a.x grew 12300 times between 0 s and "
               "0.5 s");
  // with a band the ledger decides nothing
  s = signal_of("a.x", 0.01, 0.005);
  s.ledger = YOKE_WRONG;
  yoke__trust_judge_signal(&s);
  assert_int_equal(s.verdict, YOKE_TRUSTWORTHY);
}

// A run of which no samples were kept: the growth alarm and the ledger are all there is.
static void test_no_samples(void** state) {
  (void)state;
  yoke_trust_signal s = signal_of("a.x", 0, 0);
  yoke__band_judge(NULL, NULL, NULL, 0, 1, &s.band);
  yoke__trust_judge_signal(&s);
  assert_int_equal(s.rule, YOKE_RULE_NO_ESTIMATE);
  s.growth = alarm(true);
  yoke__trust_judge_signal(&s);
  assert_int_equal(s.rule, YOKE_RULE_DIVERGED);
  assert_int_equal(s.verdict, YOKE_WRONG);
}

// -------------------------------------------------------------------------------------------------
// from trajectories to words

static yoke_trust_signal judge_pair(const pair_runs* runs, size_t i, bool has_a, bool has_b,
                                    const yoke_growth_alarm* growth) {
  yoke_trust_signal s = {.name = i == 0 ? "one.x" : "two.x",
                         .dim = "",
                         .is_wanted = true,
                         .limits = yoke__trust_default_limits()};
  yoke__band_judge(runs->y + i, has_a ? runs->a + i : NULL, has_b ? runs->b + i : NULL, runs->n,
                   PAIR, &s.band);
  if (growth != NULL) {
    s.growth = *growth;
  }
  yoke__trust_judge_signal(&s);
  return s;
}

// Verdict of the golden pair: both signals in one loop.
static yoke_trust_loop judge_both(const pair_runs* runs, yoke_trust_signal signals[PAIR]) {
  yoke_trust_loop loop, run;
  for (size_t i = 0; i < PAIR; i++) {
    signals[i] = judge_pair(runs, i, true, true, NULL);
  }
  yoke__trust_judge_run(signals, PAIR, &loop, 1, &run);
  assert_int_equal(loop.verdict, run.verdict);
  assert_int_equal(loop.n_signals, PAIR);
  return run;
}

// The verdicts below the golden table.
static void test_TR_01_golden_verdicts(void** state) {
  (void)state;
  const struct {
    double H;
    bool is_iterated;
    yoke_verdict verdict;
  } cases[] = {{0.1, false, YOKE_WRONG},
               {0.02, false, YOKE_TRUSTWORTHY},
               {0.005, false, YOKE_TRUSTWORTHY},
               {0.1, true, YOKE_TRUSTWORTHY}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    yoke_trust_signal signals[PAIR];
    pair_runs runs =
        pair_run(&pair_golden, cases[i].H, (size_t)lround(4.0 / cases[i].H), cases[i].is_iterated);
    const yoke_trust_loop run = judge_both(&runs, signals);
    print_message("H = %g: %s\n", cases[i].H, run.reason);
    assert_int_equal(run.verdict, cases[i].verdict);
    assert_int_equal(run.worst, 1);
    pair_free(&runs);
  }
}

// TR-22 for the judge. Without B: 4 d, and the sentence says so. Without A: at best doubtful, even with a small band.
static void test_TR_22_one_companion_lost(void** state) {
  (void)state;
  pair_runs runs = pair_run(&pair_golden, 0.005, 800, false);
  const yoke_trust_signal both = judge_pair(&runs, 0, true, true, NULL);
  yoke_trust_signal s = judge_pair(&runs, 0, true, false, NULL);
  check_relative(s.band.band, 4 * both.band.d, 1e-15);
  assert_int_equal(s.verdict, YOKE_TRUSTWORTHY);
  check_contains(s.reason, "; compared with half the steps alone");

  s = judge_pair(&runs, 0, false, true, NULL);
  check_relative(s.band.band, 3 * both.band.x, 1e-15);
  assert_true(s.band.relative < YOKE_TRUST_LIMIT);
  assert_int_equal(s.rule, YOKE_RULE_MAY_BE_OFF);
  assert_int_equal(s.verdict, YOKE_DOUBTFUL);
  check_contains(s.reason, "; compared with another method alone, not with half the steps");
  pair_free(&runs);

  // wrong stays possible
  runs = pair_run(&pair_golden, 0.4, 10, false);
  s = judge_pair(&runs, 1, false, true, NULL);
  assert_int_equal(s.verdict, YOKE_WRONG);
  pair_free(&runs);
}

// TR-25 for the judge: a plant that is unstable by itself. Alarm and window as the growth alarm reports them.
static void test_TR_25_unstable_plant(void** state) {
  (void)state;
  const pair_system plant = {.a = {0.3, 0.1}, .b = {0.4, 0.3}, .c = {1, 1}, .x0 = {1, 0.2}};
  const yoke_growth_alarm growth = {
      .is_latched = true, .is_active = true, .at = 1280, .from = 256, .factor = 305, .n = 1024};
  const double relative[] = {0.0185, 0.0194}, coarse[] = {0.192, 0.201}, low[] = {0.092, 0.097};

  pair_runs runs = pair_run(&plant, 0.01, 2000, false);
  for (size_t i = 0; i < PAIR; i++) {
    yoke_trust_signal s = judge_pair(&runs, i, true, true, &growth);
    s.growth_from_s = 2.56;
    s.growth_to_s = 12.8;
    yoke__trust_judge_signal(&s);
    print_message("H = 0.01: %.4g, %s\n", s.band.relative, s.reason);
    check_relative(s.band.relative, relative[i], 0.01);
    assert_int_equal(s.verdict, YOKE_TRUSTWORTHY);
    check_contains(s.reason, "; it grew 310 times between 2.56 s and 12.8 s");
  }
  pair_free(&runs);

  runs = pair_run(&plant, 0.1, 200, false);
  for (size_t i = 0; i < PAIR; i++) {
    const yoke_trust_signal s = judge_pair(&runs, i, true, true, &growth);
    check_relative(s.band.relative, coarse[i], 0.01);
    check_relative(s.band.low_relative, low[i], 0.01);
    assert_int_equal(s.verdict, YOKE_DOUBTFUL);
    // with and without the alarm
    assert_int_equal(judge_pair(&runs, i, true, true, NULL).verdict, YOKE_DOUBTFUL);
  }
  pair_free(&runs);
}

// -------------------------------------------------------------------------------------------------
// loops and run

static yoke_trust_loop judge_all(yoke_trust_signal signals[], size_t n, yoke_trust_loop loops[],
                                 size_t n_loops) {
  yoke_trust_loop run;
  for (size_t i = 0; i < n; i++) {
    yoke__trust_judge_signal(&signals[i]);
  }
  yoke__trust_judge_run(signals, n, loops, n_loops, &run);
  return run;
}

// wrong > doubtful > not judged > trustworthy
static void test_order_of_verdicts(void** state) {
  (void)state;
  const yoke_verdict falling[] = {YOKE_WRONG, YOKE_DOUBTFUL, YOKE_VERDICT_NONE, YOKE_TRUSTWORTHY};
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      assert_int_equal(yoke__trust_is_worse(falling[i], falling[j]), i < j);
    }
  }
}

static void test_worst_loop_decides(void** state) {
  (void)state;
  yoke_trust_signal s[] = {signal_of("a.x", 0.01, 0), signal_of("b.x", 0.2, 0),
                           signal_of("c.x", 0.3, 0), signal_of("d.x", 0.03, 0)};
  yoke_trust_loop loops[2];
  s[2].loop = 0;
  s[3].loop = 1;
  yoke_trust_loop run = judge_all(s, 4, loops, 2);
  assert_int_equal(loops[0].verdict, YOKE_DOUBTFUL);
  assert_int_equal(loops[0].worst, 2);
  assert_int_equal(loops[0].n_signals, 3);
  assert_int_equal(loops[1].verdict, YOKE_TRUSTWORTHY);
  assert_int_equal(run.verdict, YOKE_DOUBTFUL);
  assert_string_equal(run.reason, "c.x may be off by up to 0.078 m (rms 30 % of its movement)");

  // a signal outside loops counts as well
  s[3] = signal_of("d.x", 0.9, 0.4);
  s[3].loop = YOKE_NOT_FOUND;
  run = judge_all(s, 4, loops, 2);
  assert_int_equal(loops[1].n_signals, 0);
  assert_int_equal(loops[1].verdict, YOKE_VERDICT_NONE);
  assert_int_equal(run.verdict, YOKE_WRONG);
  assert_int_equal(run.worst, 3);

  // only what is wanted decides; a loop without such a signal is not judged and does not count
  s[1].is_wanted = s[2].is_wanted = s[3].is_wanted = false;
  run = judge_all(s, 4, loops, 2);
  assert_int_equal(run.verdict, YOKE_TRUSTWORTHY);
  assert_int_equal(loops[0].n_signals, 1);
  assert_int_equal(s[3].verdict, YOKE_WRONG);

  // one that cannot be judged makes the run not judged, not worse
  s[1] = signal_of("b.x", 0, 0);
  without_companions(&s[1]);
  run = judge_all(s, 4, loops, 2);
  assert_int_equal(run.verdict, YOKE_VERDICT_NONE);
  assert_int_equal(run.worst, 1);

  // nothing at all
  run = judge_all(s, 0, loops, 2);
  assert_int_equal(run.verdict, YOKE_VERDICT_NONE);
  assert_true(run.worst == YOKE_NOT_FOUND && !run.is_at_rest);
}

// Its own limit counts in the order: how many times the error is beyond it.
static void test_worst_signal_by_its_limit(void** state) {
  (void)state;
  yoke_trust_signal s[] = {signal_of("a.x", 0.3, 0), signal_of("b.x", 0.1, 0)};
  yoke_trust_loop loop;
  s[1].limits.absolute = 0.001;  // 26 times
  assert_int_equal(judge_all(s, 2, &loop, 1).worst, 1);
  s[1].limits.absolute = 0.01;  // 2.6 times, the other 6 times
  assert_int_equal(judge_all(s, 2, &loop, 1).worst, 0);
}

// TR-23 for the judge: a bonded and an unbonded coupling in one loop. The ledger of the bond complains about nothing; the
// unbonded signal diverges.
static void test_TR_23_unbonded_coupling_diverges(void** state) {
  (void)state;
  yoke_trust_signal s[] = {signal_of("mass.v", 0.01, 0), signal_of("spring.f", 0.02, 0),
                           signal_of("control.u", 40, 9)};
  yoke_trust_loop loop;
  for (size_t i = 0; i < 3; i++) {
    s[i].ledger = YOKE_TRUSTWORTHY;
  }
  s[2].growth = alarm(true);
  yoke_trust_loop run = judge_all(s, 3, &loop, 1);
  assert_int_equal(run.verdict, YOKE_WRONG);
  assert_int_equal(loop.verdict, YOKE_WRONG);
  assert_string_equal(run.reason, "diverges: control.u grew 12300 times within 32 exchanges");

  // the same without companions
  for (size_t i = 0; i < 3; i++) {
    without_companions(&s[i]);
  }
  run = judge_all(s, 3, &loop, 1);
  assert_int_equal(run.verdict, YOKE_WRONG);
  assert_int_equal(run.worst, 2);
  check_contains(run.reason, "control.u grows 12300-fold every 32 exchanges");
}

static yoke_trust_signal resting(const char* name) {
  static const double zeros[50];
  yoke_trust_signal s = signal_of(name, 0, 0);
  yoke__band_judge(zeros, zeros, zeros, 50, 1, &s.band);
  return s;
}

// TR-24 for the judge: all signals constant.
static void test_TR_24_at_rest(void** state) {
  (void)state;
  yoke_trust_signal s[] = {resting("a.x"), resting("b.x"), resting("c.x")};
  yoke_trust_loop loops[2];
  s[2].loop = 1;
  yoke_trust_loop run = judge_all(s, 3, loops, 2);
  assert_int_equal(run.verdict, YOKE_VERDICT_NONE);
  assert_string_equal(run.reason, "at rest");
  assert_true(run.is_at_rest && loops[0].is_at_rest && loops[1].is_at_rest);
  assert_int_equal(s[0].rule, YOKE_RULE_AT_REST);

  // a loop at rest beside one that moves does not count, nor does a signal at rest within a loop
  s[2] = signal_of("c.x", 0.01, 0);
  s[2].loop = 1;
  run = judge_all(s, 3, loops, 2);
  assert_int_equal(run.verdict, YOKE_TRUSTWORTHY);
  assert_true(!run.is_at_rest && loops[0].is_at_rest);
  s[2].loop = 0;
  run = judge_all(s, 3, loops, 2);
  assert_int_equal(loops[0].verdict, YOKE_TRUSTWORTHY);
  assert_int_equal(run.verdict, YOKE_TRUSTWORTHY);
}

// The table of a run: worst first.
static int by_severity(const void* a, const void* b) {
  return yoke__trust_compare(a, b);
}

static void test_order_of_the_table(void** state) {
  (void)state;
  yoke_trust_signal s[] = {
      resting("rest"),           signal_of("good", 0.01, 0),      signal_of("doubtful", 0.3, 0),
      signal_of("off", 9, 4),    signal_of("diverged", 0.9, 0.4), signal_of("better", 0.001, 0),
      signal_of("unknown", 0, 0)};
  const char* const order[] = {"diverged", "off", "doubtful", "unknown", "good", "better", "rest"};
  s[4].growth = alarm(true);
  without_companions(&s[6]);
  for (size_t i = 0; i < 7; i++) {
    yoke__trust_judge_signal(&s[i]);
  }
  qsort(s, 7, sizeof s[0], by_severity);
  for (size_t i = 0; i < 7; i++) {
    assert_string_equal(s[i].name, order[i]);
  }
}

// -------------------------------------------------------------------------------------------------
// balances of flows (rules 3 and 6)

static void test_balances(void** state) {
  (void)state;
  const yoke_trust_flow lost = {"body.q", "J", 1.96, 0.0009, 0.99954, 0, {0}};
  const yoke_trust_flow some = {"body.q", "J", 2, 1.8, 0.1, 0, {0}};
  const yoke_trust_flow more = {"body.q", "J", 2, 2.6, 0.3 / 1.3, 0, {0}};
  const yoke_trust_flow fine = {"body.q", "J", 2, 1.9, 0.05, 0, {0}};
  static const char* const wrong =
      "of 1.96 J sent by heater.p to body.q only 0.0009 J arrived (99.95 % lost)";
  static const char* const doubt =
      "of 2 J sent by heater.p to body.q only 1.8 J arrived (10 % lost)";
  // with good bands, at rest, and without a companion
  yoke_trust_signal s = signal_of("heater.p", 0.01, 0.005);
  s.flow = lost;
  check_judged(&s, YOKE_RULE_BALANCE, YOKE_WRONG, wrong);
  s.band.is_constant = true;
  check_judged(&s, YOKE_RULE_BALANCE, YOKE_WRONG, wrong);
  s = signal_of("heater.p", 0.01, 0.005);
  without_companions(&s);
  s.flow = lost;
  check_judged(&s, YOKE_RULE_BALANCE, YOKE_WRONG, wrong);
  s.flow = some;
  check_judged(&s, YOKE_RULE_MAY_BE_OFF, YOKE_DOUBTFUL, doubt);
  // the ledger may only make it worse
  s.ledger = YOKE_WRONG;
  yoke__trust_judge_signal(&s);
  assert_int_equal(s.verdict, YOKE_WRONG);
  s = signal_of("heater.p", 0.01, 0.005);
  s.flow = some;
  check_judged(&s, YOKE_RULE_MAY_BE_OFF, YOKE_DOUBTFUL, doubt);
  s.flow = more;
  check_judged(&s, YOKE_RULE_MAY_BE_OFF, YOKE_DOUBTFUL,
               "of 2 J sent by heater.p to body.q 2.6 J arrived (23.08 % off)");
  s.flow = fine;
  yoke__trust_judge_signal(&s);
  assert_int_equal(s.verdict, YOKE_TRUSTWORTHY);
  // samples of a fast flow: doubtful at best, with good bands, at rest, and without a companion
  static const char* const unseen =
      "only samples of heater.p reach body.q: values between exchanges are lost";
  s.sampled_by = "body.q";
  check_judged(&s, YOKE_RULE_MAY_BE_OFF, YOKE_DOUBTFUL, unseen);
  s.band.is_constant = true;
  check_judged(&s, YOKE_RULE_MAY_BE_OFF, YOKE_DOUBTFUL, unseen);
  s = signal_of("heater.p", 0.01, 0.005);
  without_companions(&s);
  s.sampled_by = "body.q";
  check_judged(&s, YOKE_RULE_MAY_BE_OFF, YOKE_DOUBTFUL, unseen);
  s = signal_of("heater.p", 4, 3);
  s.sampled_by = "body.q";
  yoke__trust_judge_signal(&s);
  assert_int_equal(s.rule, YOKE_RULE_OFF);
  s = signal_of("heater.p", 0.01, 0.005);
  // a run that diverges says so first
  s.flow = lost;
  s.growth = alarm(true);
  s.band.is_diverged = true;
  yoke__trust_judge_signal(&s);
  assert_int_equal(s.rule, YOKE_RULE_DIVERGED);
  // the loss is named, not what it does to others
  yoke_trust_signal two[] = {signal_of("body.t", 4, 3), signal_of("heater.p", 0.01, 0.005)};
  two[1].flow = lost;
  yoke_trust_loop run;
  for (int i = 0; i < 2; i++) {
    two[i].loop = YOKE_NOT_FOUND;
    yoke__trust_judge_signal(&two[i]);
  }
  yoke__trust_judge_run(two, 2, NULL, 0, &run);
  assert_int_equal(run.verdict, YOKE_WRONG);
  assert_string_equal(run.reason, wrong);
  assert_int_equal(yoke__trust_judge_flow(none, 0, &(yoke_flow_check){0}), YOKE_VERDICT_NONE);
  assert_int_equal(yoke__trust_judge_flow(0.05, 0, &(yoke_flow_check){0}), YOKE_TRUSTWORTHY);
  assert_int_equal(yoke__trust_judge_flow(0.25, 0, &(yoke_flow_check){0}), YOKE_DOUBTFUL);
  assert_int_equal(yoke__trust_judge_flow(0.26, 0, &(yoke_flow_check){0}), YOKE_WRONG);
}

// amounts of the run beside those of companions: the factors of bands, and the sentences
static void test_missed_flows(void** state) {
  (void)state;
  const double nobody[2] = {(double)NAN, (double)NAN}, half[2] = {1.16, 1.16}, most[2] = {1.9, 1.9};
  assert_false(yoke__trust_check_flow(0.62, 0.62, nobody, nobody).is_known);
  yoke_flow_check check = yoke__trust_check_flow(0.62, 0.62, half, nobody);
  check_near(check.share, 0.54 / 1.16, 1e-15);
  check_near(check.missed, 1, 0);  // no more than all of it
  check_near(check.least, 1.2 * 0.54 / 1.16, 1e-15);
  check = yoke__trust_check_flow(0.62, 0.62, half, most);
  check_near(check.finer, 1.9, 0);
  check_near(check.missed, 1, 0);
  check_near(check.least, 0.7 * 1.28 / 1.9, 1e-15);
  const double little[2] = {0.7, 0.7}, more[2] = {0.72, 0.72};
  check_near(yoke__trust_check_flow(0.62, 0.62, little, nobody).missed, 4 * 0.08 / 0.7, 1e-15);
  check_near(yoke__trust_check_flow(0.62, 0.62, little, more).missed, 2.5 * 0.08 / 0.7, 1e-15);
  // nothing was sent, by nobody
  const double zero[2] = {0, 0};
  check_near(yoke__trust_check_flow(0, 0, zero, zero).missed, 0, 0);

  yoke_trust_signal s = signal_of("heater.p", 0.01, 0.005);
  s.flow = (yoke_trust_flow){"body.q", "J", 0.62, 0.62, 0, 0, check};
  check_judged(&s, YOKE_RULE_BALANCE, YOKE_WRONG,
               "heater.p sends 0.62 J to body.q, but 1.9 J when it is called more often "
               "(67.4 % missed)");
  const double near[2] = {0.65, 0.65};
  s.flow.check = yoke__trust_check_flow(0.62, 0.62, near, nobody);
  check_judged(&s, YOKE_RULE_MAY_BE_OFF, YOKE_DOUBTFUL,
               "heater.p sends 0.62 J to body.q, but 0.65 J when it is called more often "
               "(up to 18.5 % missed)");
  assert_int_equal(yoke__trust_judge_flow(0, 0, &s.flow.check), YOKE_DOUBTFUL);
  const double same[2] = {0.622, 0.622};
  s.flow.check = yoke__trust_check_flow(0.62, 0.62, same, same);
  yoke__trust_judge_signal(&s);
  assert_int_equal(s.verdict, YOKE_TRUSTWORTHY);

  // what calls leave open: more is allowed where companions agree
  static const char* const open = "heater.p changes too fast for its calls: they do not resolve 30 "
                                  "% of what it sends to body.q";
  s.flow.unsure = 0.3;
  yoke__trust_judge_signal(&s);
  assert_int_equal(s.verdict, YOKE_TRUSTWORTHY);
  assert_int_equal(yoke__trust_judge_flow(0, 0.6, &s.flow.check), YOKE_DOUBTFUL);
  s.flow.check = (yoke_flow_check){0};
  check_judged(&s, YOKE_RULE_MAY_BE_OFF, YOKE_DOUBTFUL, open);

  // it counts although other signals are wanted; without the loss it would not
  yoke_trust_signal two[] = {s, signal_of("body.t", 0.01, 0.005)};
  yoke_trust_loop run;
  two[0].is_wanted = false;
  for (size_t i = 0; i < 2; i++) {
    two[i].loop = YOKE_NOT_FOUND;
    yoke__trust_judge_signal(&two[i]);
  }
  yoke__trust_judge_run(two, 2, NULL, 0, &run);
  assert_int_equal(run.verdict, YOKE_DOUBTFUL);
  assert_string_equal(run.reason, open);
  two[0].flow.unsure = 0;
  yoke__trust_judge_signal(&two[0]);
  yoke__trust_judge_run(two, 2, NULL, 0, &run);
  assert_int_equal(run.verdict, YOKE_TRUSTWORTHY);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_balances),
      cmocka_unit_test(test_missed_flows),
      cmocka_unit_test(test_rules_of_bands),
      cmocka_unit_test(test_aliasing),
      cmocka_unit_test(test_absolute_limits),
      cmocka_unit_test(test_growth),
      cmocka_unit_test(test_no_estimate),
      cmocka_unit_test(test_no_samples),
      cmocka_unit_test(test_TR_01_golden_verdicts),
      cmocka_unit_test(test_TR_22_one_companion_lost),
      cmocka_unit_test(test_TR_25_unstable_plant),
      cmocka_unit_test(test_order_of_verdicts),
      cmocka_unit_test(test_worst_loop_decides),
      cmocka_unit_test(test_worst_signal_by_its_limit),
      cmocka_unit_test(test_TR_23_unbonded_coupling_diverges),
      cmocka_unit_test(test_TR_24_at_rest),
      cmocka_unit_test(test_order_of_the_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
