// Settings written into the text of a system file.
#include "scenario/scenario_edit.h"

#include "support/check.h"
#include "support/heard.h"

static void check_edit(const char* text, const char* set, const char* expected) {
  HEAR(told);
  yoke_text out = {0};
  if (yoke__scenario_edit(text, strlen(text), set, &out, &told.sink) < 0) {
    fail_msg("%s: %s", set, told.text);
  }
  assert_string_equal(out.bytes, expected);
  yoke__text_free(&out);
}

static void test_values(void** state) {
  (void)state;
  check_edit("time: {stop: 10, step: 10e-3}  # H\n", "time.step=0.005",
             "time: {stop: 10, step: 0.005}  # H\n");
  check_edit("a: 1\nscheme: jacobi   # why\nb: 2\n", "scheme=gauss-seidel",
             "a: 1\nscheme: gauss-seidel   # why\nb: 2\n");
  check_edit("text: \xc3\xa4\xc3\xb6 \"x\"\nname: \xe2\x82\xac  # \xc3\xbc\nstep: 1\n", "step=2",
             "text: \xc3\xa4\xc3\xb6 \"x\"\nname: \xe2\x82\xac  # \xc3\xbc\nstep: 2\n");
  check_edit("\xef\xbb\xbfstep: 1\n", "step=2", "\xef\xbb\xbfstep: 2\n");
  check_edit("a: [1, {b: 2}]\n", "a[1].b=3", "a: [1, {b: 3}]\n");
  check_edit("a:\n  - {b: 2}  # one\n  - c: 3\n", "a[1].c=4", "a:\n  - {b: 2}  # one\n  - c: 4\n");
  check_edit("units: {u: {with: {\"m.k[0]\": 3}}}\n", "units.u.with.m.k[0]=4",
             "units: {u: {with: {\"m.k[0]\": 4}}}\n");
  check_edit("units: {u: {with: {m: [3, 4]}}}\n", "units.u.with.m[1]=5",
             "units: {u: {with: {m: [3, 5]}}}\n");
}

static void test_blocks(void** state) {
  (void)state;
  check_edit("couplings:\n  loop:\n    method: mpsm  # old\n    learning: 5\n# end\nz: 1\n",
             "couplings.loop={method: hold}",
             "couplings:\n  loop:\n    {method: hold}\n# end\nz: 1\n");
}

static void test_new_keys(void** state) {
  (void)state;
  check_edit("a: 1  # x\n\n# the end\n", "exchange=fresh",
             "a: 1  # x\nexchange: fresh\n\n# the end\n");
  check_edit("a: 1", "b=2", "a: 1\nb: 2");
  check_edit("a: 1\r\nb: 2\r\n", "c=3", "a: 1\r\nb: 2\r\nc: 3\r\n");
  check_edit("u:\n  x:\n    m: 1   # k\n  y: {m: 2}\nz: 1\n", "u.x.step=3",
             "u:\n  x:\n    m: 1   # k\n    step: 3\n  y: {m: 2}\nz: 1\n");
  check_edit("u:\n  y: {m: 2}  # k\nz: 1\n", "u.y.solver.step=3",
             "u:\n  y: {m: 2, solver: {step: 3}}  # k\nz: 1\n");
  check_edit("u: {}\n", "u.y=3", "u: {y: 3}\n");
  check_edit("u:\nz: 1\n", "u.y=3", "u: {y: 3}\nz: 1\n");
  check_edit("u:\nz: 1\n", "u=3", "u: 3\nz: 1\n");
  check_edit("text: |\n  one\n  two\n", "z=1", "text: |\n  one\n  two\nz: 1\n");
  check_edit("trust: {status: false}\n", "trust.limits.arm.s[0]=2e-3",
             "trust: {status: false, limits: {\"arm.s[0]\": 2e-3}}\n");
  check_edit("quality: {stop: {rho: 1}}\n", "quality.stop.above.twin.t(magnets)=400",
             "quality: {stop: {rho: 1, above: {\"twin.t(magnets)\": 400}}}\n");
  check_edit("quality: {warn: {below: {a.x: 1}}}\n", "quality.warn.below.a.x=2",
             "quality: {warn: {below: {a.x: 2}}}\n");
  check_edit("units: {above: {model: m}}\n", "units.above.step=1",
             "units: {above: {model: m, step: 1}}\n");
}

static void test_short_connection(void** state) {
  (void)state;
  check_edit("connections:\n  - a.x -> b.y   # one\n  - c.x -> d.y\n", "connections[1].order=1",
             "connections:\n  - a.x -> b.y   # one\n  - {from: c.x, to: d.y, order: 1}\n");
}

static void test_no_place(void** state) {
  (void)state;
  HEAR(told);
  static const char* const sets[] = {"a[3]=1", "a.b=1", "c[0].d=1"};
  for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
    yoke_text out = {0};
    const char text[] = "a: [1, 2]\nb: 1\n";
    assert_int_equal(yoke__scenario_edit(text, strlen(text), sets[i], &out, &told.sink),
                     YOKE_NO_SUPPORT);
    assert_non_null(strstr(told.text, "no place"));
    yoke__text_free(&out);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),   cmocka_unit_test(test_blocks),
      cmocka_unit_test(test_new_keys), cmocka_unit_test(test_short_connection),
      cmocka_unit_test(test_no_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
