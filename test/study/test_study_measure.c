// What a run is judged by, on signals whose measures are known, and the limits that end it.
#include "base/base_message.h"
#include "quality/quality_ledger.h"
#include "study/study_fixture.h"
#include "study/study_measure.h"
#include "support/sim.h"

// y = 2 t - 1 from 0 to 1 s in steps of 0.1: 11 samples from -1 to 1
static const char ramp[] = "yoke: 1\ninputs: start\ncalls: 1\n"
                           "time: {stop: 1, step: 0.1}\n"
                           "units:\n"
                           "  r: {model: ramp, with: {offset: -1, slope: 2, t0: 0}}\n"
                           "  i: {model: integrator}\n"
                           "connections: [r.y -> i.u]\n";

static const char oscillator[] =
    "yoke: 1\ninputs: start\ncalls: 1\n"
    "time: {stop: 10, step: 1e-3}\n"
    "units:\n"
    "  left:  {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {x: 0, v: 100}}\n"
    "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {x: 0, v: -100}}\n"
    "connections:\n"
    "  - right.x -> left.x_other\n"
    "bonds:\n"
    "  spring: {action: left.f -> right.f, rate: right.v -> left.v_other}\n"
    "record: {every: 10}\n";

static const char* const no_axis[] = {"time.start=0", NULL};

// ---- texts

static void test_measures(void** state) {
  (void)state;
  yoke_study_measure m;
  YOKE_CATCH(err);
  check_ok(yoke__study_measure_parse("ter", &m, &err.sink));
  assert_int_equal(m.kind, YOKE_STUDY_TER);
  assert_null(m.argument);
  check_ok(yoke__study_measure_parse("rter:a bond", &m, &err.sink));
  assert_string_equal(m.argument, "a bond");
  check_ok(yoke__study_measure_parse("maxabs:u.der(x:y)", &m, &err.sink));
  assert_int_equal(m.kind, YOKE_STUDY_MAXABS);
  assert_string_equal(m.argument, "u.der(x:y)");
  check_ok(yoke__study_measure_parse("error", &m, &err.sink));
  assert_int_equal(m.kind, YOKE_STUDY_ERROR);
  assert_null(m.argument);
  check_ok(yoke__study_measure_parse("error:u.x", &m, &err.sink));
  assert_string_equal(m.argument, "u.x");
  assert_false(yoke__study_needs_companions(&m));
  check_ok(yoke__study_measure_parse("band:u.x", &m, &err.sink));
  assert_int_equal(m.kind, YOKE_STUDY_BAND);
  assert_true(yoke__study_needs_companions(&m) && !yoke__study_needs_reference(&m));
  check_ok(yoke__study_measure_parse("verdict", &m, &err.sink));
  assert_int_equal(m.kind, YOKE_STUDY_VERDICT);
  assert_true(yoke__study_needs_companions(&m));
}

static void check_no_measure(const char* text, const char* why) {
  yoke_study_measure m;
  YOKE_CATCH(err);
  assert_int_equal(yoke__study_measure_parse(text, &m, &err.sink), YOKE_BAD_INPUT);
  check_contains(err.text, why);
}

static void test_wrong_measures(void** state) {
  (void)state;
  check_no_measure("retr", "did you mean 'rter'?");
  check_no_measure("average:u.x", "known: ter, rter");
  check_no_measure("", "known: ter, rter");
  check_no_measure("end", "end:unit.variable");
  check_no_measure("end:", "end:unit.variable");
  check_no_measure("max:x", "max:unit.variable");
  check_no_measure("error:", "error:unit.variable");
  check_no_measure("error:x", "error:unit.variable");
  check_no_measure("ter:", "name of a bond");
  check_no_measure("steps:x", "takes no name");
  check_no_measure("verdict:u.x", "takes no name");
  check_no_measure("band", "band:unit.variable");
  check_no_measure("relative:x", "relative:unit.variable");
}

static void test_limits(void** state) {
  (void)state;
  yoke_arena arena = {0};
  yoke_study_limit l;
  YOKE_CATCH(err);
  check_ok(yoke__study_limit_parse("max:u.x <= 3.5", &arena, &l, &err.sink));
  assert_string_equal(l.measure.text, "max:u.x");
  assert_true(l.is_upper && !l.is_strict && yoke__study_limit_is_early(&l));
  assert_false(yoke__study_limit_is_violated(&l, 3.5));
  assert_true(yoke__study_limit_is_violated(&l, 3.6));
  assert_true(yoke__study_limit_is_violated(&l, (double)NAN));
  check_ok(yoke__study_limit_parse("min:u.x>-1", &arena, &l, &err.sink));
  assert_true(!l.is_upper && l.is_strict && yoke__study_limit_is_early(&l));
  assert_true(yoke__study_limit_is_violated(&l, -1));
  assert_false(yoke__study_limit_is_violated(&l, 0));
  // these can still come true until the end
  check_ok(yoke__study_limit_parse("max:u.x>=3", &arena, &l, &err.sink));
  assert_false(yoke__study_limit_is_early(&l));
  check_ok(yoke__study_limit_parse("end:u.x<3", &arena, &l, &err.sink));
  assert_true(l.is_strict && !yoke__study_limit_is_early(&l));
  static const char* const wrong[] = {"max:u.x",      "max:u.x<=", "max:u.x<=a",
                                      "max:u.x<=nan", "<=3",       "max:u.x=3"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    assert_int_equal(yoke__study_limit_parse(wrong[i], &arena, &l, &err.sink), YOKE_BAD_INPUT);
    check_contains(err.text, "such as max:unit.variable<=10");
  }
  assert_int_equal(yoke__study_limit_parse("status<=1", &arena, &l, &err.sink), YOKE_BAD_INPUT);
  assert_int_equal(yoke__study_limit_parse("mxa:u.x<=1", &arena, &l, &err.sink), YOKE_BAD_INPUT);
  check_contains(err.text, "unknown measure");
  yoke__arena_free(&arena);
}

// ---- numbers

static void test_signals(void** state) {
  (void)state;
  static const char* const measures[] = {"end:r.y", "max:r.y", "min:r.y", "maxabs:r.y",
                                         "rms:r.y", "steps",   "end:i.u", NULL};
  fixture f;
  double v[FIXTURE_MAX];
  fixture_open(&f, ramp, no_axis, measures, NULL);
  const yoke_study_result result = fixture_run(&f, 0, 0, v);
  assert_int_equal(result.status, YOKE_RUN_DONE);
  check_near(result.t, 1, 1e-15);
  check_near(v[0], 1, 1e-15);
  check_near(v[1], 1, 1e-15);
  check_near(v[2], -1, 0);
  check_near(v[3], 1, 1e-15);
  // sum of (2 k/10 - 1)^2 over k = 0 .. 10 is 4.4
  check_near(v[4], sqrt(4.4 / 11), 1e-15);
  check_near(v[5], 10, 0);
  check_near(v[6], 1, 1e-15);  // an input: the newest output of its source
  fixture_close(&f);
}

// the energy measures are the numbers of the ledger, for one bond and for all
static void test_energy(void** state) {
  (void)state;
  static const char* const measures[] = {"ter", "ter:spring",     "rter", "dE",
                                         "eps", "created:spring", "rho",  NULL};
  fixture f;
  double v[FIXTURE_MAX];
  fixture_open(&f, oscillator, no_axis, measures, NULL);
  assert_int_equal(fixture_run(&f, 0, 0, v).status, YOKE_RUN_DONE);
  sim s = sim_open("%s", oscillator);
  sim_run(&s);
  yoke_ledger_result r;
  yoke__ledger_result(s.state->ledger, 0, &r);
  const double want[] = {r.ter, r.ter, r.rter, r.residual, r.eps, r.created, r.rho_worst};
  for (size_t i = 0; i < 7; i++) {
    if (!(v[i] == want[i]) || v[i] == 0) {
      fail_msg("%s is %.17g, the ledger has %.17g", measures[i], v[i], want[i]);
    }
  }
  sim_close(&s);
  fixture_close(&f);
}

// Gauss-Seidel has no factor between residual and energy: the cell stays empty, it is not 0
static void test_missing_numbers(void** state) {
  (void)state;
  static const char* const vary[] = {"scheme=gauss-seidel", NULL};
  static const char* const measures[] = {"created", "eps", "ter", NULL};
  fixture f;
  double v[FIXTURE_MAX];
  fixture_open(&f, oscillator, vary, measures, NULL);
  assert_int_equal(fixture_run(&f, 0, 0, v).status, YOKE_RUN_DONE);
  assert_true(isnan(v[0]) && isnan(v[1]));
  check_between(v[2], 1, 1e6);
  fixture_close(&f);
}

static void read_scenario(const char* name, char* text, size_t size) {
  const char* source = getenv("YOKE_SOURCE_DIR");
  char path[512], *bytes = NULL;
  YOKE_CATCH(err);
  size_t n = 0;
  assert_non_null(source);
  snprintf(path, sizeof path, "%s/scenarios/%s", source, name);
  check_ok(yoke__os_read_file(path, size - 1, &bytes, &n, &err.sink));
  memcpy(text, bytes, n + 1);
  free(bytes);
}

// TE-02: TER of the rotational oscillator at 0.1 s, fresh exchange and Gauss-Seidel, as the specification has it (TER 5.3)
static void test_published_ter(void** state) {
  (void)state;
  static char text[1 << 14];
  static const char* const files[] = {"fresh", "gauss-seidel"};
  static const double want[] = {2.159476e-03, 1.305587e-03};
  static const char* const vary[] = {"time.step=0.1", NULL};
  static const char* const measures[] = {"ter", NULL};
  for (size_t i = 0; i < 2; i++) {
    char name[128];
    snprintf(name, sizeof name, "rotational-oscillator/%s.yaml", files[i]);
    read_scenario(name, text, sizeof text);
    fixture f;
    double v[FIXTURE_MAX];
    fixture_open(&f, text, vary, measures, NULL);
    const yoke_study_result result = fixture_run(&f, 0, 0, v);
    if (result.status != YOKE_RUN_DONE) {
      fail_msg("%s: %s", files[i], result.reason);
    }
    check_relative(v[0], want[i], 5e-7);  // the digits that are printed
    fixture_close(&f);
  }
}

// nrmse of a signal against itself is 0, against one that is off by c it is c over the range
static void test_nrmse(void** state) {
  (void)state;
  static const char* const measures[] = {"nrmse:r.y", NULL};
  static const char* const tables[] = {"time,r.y\n0,-1\n1,1\n", "time,r.y\n0,-0.5\n0.5,\n1,1.5\n"};
  static const double want[] = {0, 0.25};
  for (size_t i = 0; i < 2; i++) {
    fixture f;
    yoke_csv reference;
    double v[FIXTURE_MAX];
    YOKE_CATCH(err);
    fixture_open(&f, ramp, no_axis, measures, NULL);
    check_ok(yoke__csv_parse(tables[i], strlen(tables[i]), &reference, &err.sink));
    f.plan.reference = &reference;
    assert_int_equal(fixture_run(&f, 0, 0, v).status, YOKE_RUN_DONE);
    check_near(v[0], want[i], 1e-15);
    yoke__csv_free(&reference);
    fixture_close(&f);
  }
}

// One run of `system` against a table; the values of the measures.
static void run_against(const char* table, const char* system, const char* const vary[],
                        const char* const measures[], double values[]) {
  fixture f;
  yoke_csv reference;
  YOKE_CATCH(err);
  fixture_open(&f, system, vary, measures, NULL);
  check_ok(yoke__csv_parse(table, strlen(table), &reference, &err.sink));
  f.plan.reference = &reference;
  const yoke_study_result result = fixture_run(&f, 0, 0, values);
  if (result.status != YOKE_RUN_DONE) {
    fail_msg("%s", result.reason);
  }
  yoke__csv_free(&reference);
  fixture_close(&f);
}

// y = 2 t - 1 of unit r and its integral t^2 - t (to the step of 0.1) of unit i against tables whose deviation is known
static void test_error(void** state) {
  (void)state;
  static const char* const one[] = {"error:r.y", NULL};
  static const char* const all[] = {"error", NULL};
  static const char* const both[] = {"error", "error:r.y", "error:i.y", NULL};
  const double off = 2e-12;  // 1e-12 is added to the range, so that a constant does not divide by 0
  double v[FIXTURE_MAX];
  // off by 0.5 at 0.5 s, right at 1 s, range 2; the start, wrong by 1, and 0.55 s, which is no row, do not count
  run_against("time,r.y\n0,0\n0.5,-0.5\n0.55,-1\n1,1\n", ramp, no_axis, one, v);
  check_near(v[0], 0.125, off);
  // an empty cell is no row; inputs, other names and text are no outputs
  run_against("time,i.u,r.y,q.z,note.x\n0,9,-1,9,a\n0.5,9,,9,b\n1,9,0,9,c\n", ramp, no_axis, all,
              v);
  check_near(v[0], 1, off);
  // beyond the stop time nothing counts, for the range neither
  run_against("time,r.y\n0,-1\n1,0\n2,99\n", ramp, no_axis, all, v);
  check_near(v[0], 1, off);
  // norm over the units, whatever the order of the columns
  run_against("time,i.y,r.y\n0,0,-1\n1,8,5\n", ramp, no_axis, both, v);
  check_near(v[1], 4.0 / 6, off);
  check_between(v[2], 0.9, 1.1);
  check_near(v[0], hypot(v[1], v[2]), 1e-15);
  // samples no farther apart than the rows (0.1 s) are joined by a line: 0.1 .. 0.5 s off by 1
  run_against("time,r.y\n0,0\n0.05,0.1\n0.15,0.3\n0.25,0.5\n0.35,0.7\n0.45,0.9\n0.55,1.1\n", ramp,
              no_axis, one, v);
  check_near(v[0], 1 / 1.1, off);
  // no row in common: no number
  run_against("time,r.y\n0,0\n0.55,-1\n", ramp, no_axis, one, v);
  assert_true(isnan(v[0]));
}

// Rows are those that `yoke run` writes: with record: {every: 10} the reference is looked at every 10 ms only.
static void test_error_rows(void** state) {
  (void)state;
  static const char* const measures[] = {"error:left.v", NULL};
  double v[FIXTURE_MAX];
  run_against("time,left.v\n0,0\n0.005,1e9\n0.01,100\n0.015,-1e9\n", oscillator, no_axis, measures,
              v);
  // one row, at 10 ms, where v is still near 100, over the range 2e9; a row at 5 or 15 ms would give 0.5
  check_between(v[0], 1e-12, 100 / 2e9);
}

// Accuracy of the nonlinear oscillator as the specification has it (MPSM 11.4), to the last digit printed.
static void test_published_error(void** state) {
  (void)state;
  static char text[1 << 14], table[1 << 17];
  static const char* const measures[] = {"error", NULL};
  static const char* const ede[] = {"couplings.loop.ede=on", NULL};
  double v[FIXTURE_MAX];
  read_scenario("dual-mass/reference-nonlinear.csv", table, sizeof table);
  read_scenario("dual-mass/nonlinear-held.yaml", text, sizeof text);
  run_against(table, text, no_axis, measures, v);
  check_near(v[0], 0.0681, 5e-5);
  read_scenario("dual-mass/nonlinear-mpsm.yaml", text, sizeof text);
  run_against(table, text, no_axis, measures, v);
  check_near(v[0], 0.0367, 5e-5);
  run_against(table, text, ede, measures, v);
  check_near(v[0], 0.0329, 5e-5);
}

// The undivided system by explicit Euler, made of the two units: fresh exchange at every Euler step. Published values
// of x, v and the force at 1 and 10 ms (MPSM 11.3) have to come out; this is the reference of docs/studies/mpsm.md.
static void test_undivided(void** state) {
  (void)state;
  static char text[1 << 14];
  static const char* const vary[] = {"time.step=1e-5", NULL};
  static const char* const measures[] = {"end:left.x", "end:left.v", "end:right.f", NULL};
  static const char* const ends[] = {"time.stop=1e-3", "time.stop=10e-3"};
  static const double want[][3] = {{9.4785234596e-2, -10.259430280, 1131.2474468},
                                   {-6.1977163642e-2, 3.1750554429, 2753.7377060}};
  read_scenario("dual-mass/released.yaml", text, sizeof text);
  for (size_t i = 0; i < 2; i++) {
    const char* sets[] = {"exchange=fresh", ends[i]};
    fixture f;
    double v[FIXTURE_MAX];
    fixture_open(&f, text, vary, measures, NULL);
    f.plan.sets = sets;
    f.plan.n_sets = 2;
    assert_int_equal(fixture_run(&f, 0, 0, v).status, YOKE_RUN_DONE);
    for (size_t j = 0; j < 3; j++) {
      check_relative(v[j], want[i][j], 1e-10);
    }
    fixture_close(&f);
  }
}

// ---- names that are not there

static void check_unbound(const char* system, const char* measure, const char* why) {
  const char* const measures[] = {measure, NULL};
  fixture f;
  double v[FIXTURE_MAX];
  fixture_open(&f, system, no_axis, measures, NULL);
  const yoke_study_result result = fixture_run(&f, 0, 0, v);
  assert_int_equal(result.status, YOKE_RUN_REFUSED);
  check_contains(result.reason, why);
  check_contains(result.reason, measure);
  assert_true(isnan(v[0]));
  fixture_close(&f);
}

static void test_unknown_names(void** state) {
  (void)state;
  check_unbound(ramp, "end:q.y", "unknown unit 'q'");
  check_unbound(ramp, "end:r.yy", "did you mean 'y'?");
  check_unbound(ramp, "ter", "no bonds");
  check_unbound(ramp, "end:r.slope", "cannot be measured");
  check_unbound(ramp, "nrmse:r.y", "--reference");
  check_unbound(ramp, "error", "error needs a reference: --reference FILE");
  check_unbound(oscillator, "ter:spirng", "did you mean 'spring'?");
}

// The reference must have what is asked for.
static void check_no_column(const char* measure, const char* table, const char* why) {
  const char* const measures[] = {measure, NULL};
  fixture f;
  yoke_csv reference;
  double v[FIXTURE_MAX];
  YOKE_CATCH(err);
  fixture_open(&f, ramp, no_axis, measures, NULL);
  check_ok(yoke__csv_parse(table, strlen(table), &reference, &err.sink));
  f.plan.reference = &reference;
  const yoke_study_result result = fixture_run(&f, 0, 0, v);
  assert_int_equal(result.status, YOKE_RUN_REFUSED);
  check_contains(result.reason, why);
  yoke__csv_free(&reference);
  fixture_close(&f);
}

static void test_missing_columns(void** state) {
  (void)state;
  check_no_column("error:r.y", "time,i.y\n0,0\n", "no column of numbers 'r.y'");
  check_no_column("error:q.y", "time,i.y\n0,0\n", "unknown unit 'q'");
  check_no_column("error", "time,i.u,q.y\n0,0,0\n", "is an output of the system");
  check_no_column("nrmse:r.y", "time,r.y\n0,a\n", "no column of numbers 'r.y'");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_measures),        cmocka_unit_test(test_wrong_measures),
      cmocka_unit_test(test_limits),          cmocka_unit_test(test_signals),
      cmocka_unit_test(test_energy),          cmocka_unit_test(test_missing_numbers),
      cmocka_unit_test(test_published_ter),   cmocka_unit_test(test_nrmse),
      cmocka_unit_test(test_error),           cmocka_unit_test(test_error_rows),
      cmocka_unit_test(test_published_error), cmocka_unit_test(test_undivided),
      cmocka_unit_test(test_unknown_names),   cmocka_unit_test(test_missing_columns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
