// Expressions: values against plain C, derivatives against central differences, the rules of powers
// that ngspice 39 has in B sources (measured with it), folding and its errors, limits, and the air
// gap of benchmark pmsm.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "circuit/expression/circuit_expression_compile.h"
#include "support/check.h"

// Names x, y, z are inputs 0..2; k is 3. Nodes are called by their number.
typedef struct fixture {
  yoke_compiler compiler;
  char report[400];
  const yoke_user_function* functions;
  size_t n_functions;
  bool is_pending;
} fixture;

static yoke_name_answer find_name(void* self, yoke_span name, yoke_named_value* out) {
  const fixture* f = self;
  if (yoke__span_is(name, "k")) {
    *out = (yoke_named_value){.number = 3.0};
    return YOKE_NAME_FOUND;
  }
  if (yoke__span_is(name, "later")) {
    return f->is_pending ? YOKE_NAME_PENDING : YOKE_NAME_REFUSED;
  }
  if (name.n == 1 && yoke__lower(name.text[0]) >= 'x' && yoke__lower(name.text[0]) <= 'z') {
    *out = (yoke_named_value){
        .is_live = true, .live = {YOKE_LIVE_INPUT, (uint32_t)(yoke__lower(name.text[0]) - 'x')}};
    return YOKE_NAME_FOUND;
  }
  return YOKE_NAME_UNKNOWN;
}

static const yoke_user_function* find_function(void* self, yoke_span name) {
  const fixture* f = self;
  for (size_t i = 0; i < f->n_functions; i++) {
    if (yoke__span_equals(name, f->functions[i].name)) {
      return &f->functions[i];
    }
  }
  return NULL;
}

static yoke_name_answer find_live(void* self, char letter, yoke_span a, yoke_span b,
                                  yoke_live_terms* out) {
  (void)self;
  const uint32_t first = (uint32_t)(a.text[0] - '0'),
                 second = b.n > 0 ? (uint32_t)(b.text[0] - '0') : 0;
  if (letter == 'v' || letter == 't') {
    *out = (yoke_live_terms){.has_voltage = true, .a = first, .b = second};
  } else {
    *out = (yoke_live_terms){
        .has_voltage = letter == 'p', .has_current = true, .a = 1, .b = 2, .current = first};
  }
  return YOKE_NAME_FOUND;
}

static void report(void* self, size_t offset, const char* text) {
  fixture* f = self;
  snprintf(f->report, sizeof f->report, "%zu: %s", offset, text);
}

static yoke_status compile(fixture* f, const char* text, yoke_compiled* out) {
  const yoke_expression_scope scope = {f, find_name, find_function, find_live, report, NULL};
  f->report[0] = '\0';
  return yoke__expression_compile(&f->compiler, (yoke_span){text, strlen(text)}, &scope, NULL, out);
}

static double constant(fixture* f, const char* text) {
  yoke_compiled out;
  const yoke_status status = compile(f, text, &out);
  if (status < 0 || !out.is_constant) {
    fail_msg("'%s' is no constant: status %d, '%s'", text, status, f->report);
  }
  return out.number;
}

// ---- constants

static void test_constants_fold(void** state) {
  (void)state;
  fixture f = {0};
  const struct {
    const char* text;
    double value;
  } cases[] = {
      {"1+2*3", 7},
      {"(1+2)*3", 9},
      {"{1+2}*3", 9},
      {"10-4-3", 3},
      {"16/4/2", 2},
      {"2+3 == 5 && 1 < 2", 1},
      {"1 ? 2 : 3", 2},
      {"0 ? 2 : 0 ? 3 : 4", 4},
      {"1 ? 0 ? 5 : 6 : 7", 6},
      {"1 <> 2", 1},
      {"!0 + !5", 1},
      {"3 >= 3", 1},
      {"0 || 2", 1},
      {"k*2", 6},
      {"K**2", 9},
      {"1k", 1e3},
      {"2.2MEG", 2.2e6},
      {"10uF", 10e-6},
      {"1kOhm", 1e3},
      {"3mil", 3 * 25.4e-6},
      {"5m", 5e-3},
      {"1t+1g", 1.001e12},
      {"7n*1p", 7e-21},
      {"1f", 1e-15},
      {"2A", 2},
      {"2V", 2},
      {"3\xc2\xb5", 3e-6},
      {".5", 0.5},
      {"1e-3k", 1},
      {"sqrt(16)+abs(-2)", 6},
      {"ln(e)", 1},
      {"log(e)", 1},
      {"log10(1000)", 3},
      {"min(3,1,2)", 1},
      {"max(3,1,2)", 3},
      {"sgn(-5)", -1},
      {"sgn(0)", 0},
      {"floor(-1.5)", -2},
      {"ceil(-1.5)", -1},
      {"int(-1.5)", -1},
      {"int(1.5)", 1},
      // halves to the even number, as ngspice 39 does in .param and in B sources
      {"nint(1.5)", 2},
      {"nint(2.5)", 2},
      {"nint(3.5)", 4},
      {"nint(-2.5)", -2},
      {"nint(-0.5)", 0},
      {"nint(0.49999999999999994)", 0},
      {"nint(2.500001)", 3},
      {"u(0)", 0.5},
      {"u(-1)+10*u(2)", 10},
      {"uramp(-3)+uramp(4)", 4},
      {"limit(5,0,1)", 1},
      {"limit(-5,0,1)", 0},
      {"atan2(1,1)*4", 3.14159265358979323846},
      {"4*atan(1)-pi", 0},
      {"cosh(0)+sinh(0)+tanh(0)", 1},
      {"asinh(sinh(0.7))", 0.7},
      {"acosh(cosh(0.7))", 0.7},
      {"atanh(tanh(0.7))", 0.7},
      {"if(2>1,5,6)", 5},
      {"pwl(1.5,0,0,1,10,2,30)", 20},
      {"pwl(-1,0,4,1,10)", 4},
      {"pwl(9,0,4,1,10)", 10},
      {"boltz/echarge*300.15", 1.380649e-23 / 1.602176634e-19 * 300.15},
      {"kelvin", -273.15},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const double got = constant(&f, cases[i].text);
    if (!(fabs(got - cases[i].value) <= 4 * DBL_EPSILON * (1.0 + fabs(cases[i].value)))) {
      fail_msg("'%s' = %.17g, expected %.17g", cases[i].text, got, cases[i].value);
    }
  }
  yoke__compiler_free(&f.compiler);
}

// numbers printed by ngspice 39 for B sources with these expressions
static void test_powers_as_ngspice(void** state) {
  (void)state;
  fixture f = {0};
  check_near(constant(&f, "(-2)^3"), 8.0, 0.0);
  check_near(constant(&f, "(-2)**3"), 8.0, 0.0);
  check_near(constant(&f, "pow(-2,3)"), 8.0, 0.0);
  check_near(constant(&f, "pwr(-2,3)"), -8.0, 0.0);
  check_near(constant(&f, "-2^2"), -4.0, 0.0);
  check_near(constant(&f, "2^3^2"), 64.0, 0.0);
  check_near(constant(&f, "(-2)^0.5"), 1.414214, 5e-7);
  check_near(constant(&f, "2^-2"), 0.25, 0.0);
  yoke__compiler_free(&f.compiler);
}

static void test_scales_are_exact(void** state) {
  (void)state;
  fixture f = {0};
  // the double next to the decimal number, as if it had been written out
  assert_true(constant(&f, "10u") == 1e-5);
  assert_true(constant(&f, "4.7n") == 4.7e-9);
  assert_true(constant(&f, "33p") == 33e-12);
  assert_true(constant(&f, "1f") == 1e-15);
  assert_true(constant(&f, "100m") == 0.1);
  yoke__compiler_free(&f.compiler);
}

// ---- derivatives

static const char* const smooth[] = {
    "x*y+z",
    "x/y-z",
    "-x",
    "x^3+y^z",
    "x**y",
    "pow(x,2.5)",
    "pwr(x-2,3)",
    "sqrt(x)*exp(-y)",
    "ln(x)+log10(y)",
    "sin(x)*cos(y)+tan(z/4)",
    "asin(x/4)+acos(y/4)+atan(z)",
    "atan2(x,y)",
    "sinh(x)-cosh(y)*tanh(z)",
    "asinh(x)+acosh(y)+atanh(z/5)",
    "min(x,y)+max(y,z)+abs(x-z)",
    "x>y ? x*z : y^2",
    "u(x)*y + uramp(x) + limit(x,0,1.1)",
    "pwl(x,0,0,1,10,2,30)*y",
    "floor(x)+ceil(y)+sgn(z)+x",
    "(x+y)*(x+y)+sin(x+y)",
    "time*x + v(1)*i(3) - v(1,2)",
    "p(4)*x",
};

static void check_gradient(fixture* f, const char* text) {
  yoke_compiled out;
  if (compile(f, text, &out) < 0) {
    fail_msg("'%s': %s", text, f->report);
  }
  assert_false(out.is_constant);
  double live[YOKE_EXPRESSION_MAX_LIVE], gradient[YOKE_EXPRESSION_MAX_LIVE];
  for (uint32_t i = 0; i < out.law.n_live; i++) {
    live[i] = 1.3 + 0.37 * i;
  }
  const double value = yoke__expression_evaluate(&out.law, live, gradient);
  assert_true(value == yoke__expression_evaluate(&out.law, live, NULL));
  for (uint32_t i = 0; i < out.law.n_live; i++) {
    // central differences: error h^2 f'''/6 + eps f/h; both below 1e-9 for these functions
    const double h = 1e-5, at = live[i];
    live[i] = at + h;
    const double above = yoke__expression_evaluate(&out.law, live, NULL);
    live[i] = at - h;
    const double below = yoke__expression_evaluate(&out.law, live, NULL);
    live[i] = at;
    const double difference = (above - below) / (2 * h);
    if (!(fabs(gradient[i] - difference) <= 3e-8 * (1.0 + fabs(difference)))) {
      fail_msg("'%s': derivative %u is %.12g, by differences %.12g", text, i, gradient[i],
               difference);
    }
  }
}

static void test_derivatives(void** state) {
  (void)state;
  fixture f = {0};
  for (size_t i = 0; i < sizeof smooth / sizeof smooth[0]; i++) {
    check_gradient(&f, smooth[i]);
  }
  yoke__compiler_free(&f.compiler);
}

// an infinite slope times an exact zero is no NaN
static void test_derivative_of_what_is_not_there(void** state) {
  (void)state;
  fixture f = {0};
  yoke_compiled out;
  check_ok(compile(&f, "sqrt(x)+y", &out));
  const double live[2] = {0.0, 1.0};
  double gradient[2];
  check_near(yoke__expression_evaluate(&out.law, live, gradient), 1.0, 0.0);
  assert_true(isinf(gradient[0]));
  check_near(gradient[1], 1.0, 0.0);

  // the part of a choice that is not taken may be undefined
  check_ok(compile(&f, "x > 0 ? ln(x) : 2*x", &out));
  const double negative[1] = {-3.0};
  check_near(yoke__expression_evaluate(&out.law, negative, gradient), -6.0, 0.0);
  check_near(gradient[0], 2.0, 0.0);
  check_ok(compile(&f, "ln(x)", &out));
  assert_true(isnan(yoke__expression_evaluate(&out.law, negative, NULL)));
  yoke__compiler_free(&f.compiler);
}

static void test_live_quantities(void** state) {
  (void)state;
  fixture f = {0};
  yoke_compiled out;
  check_ok(compile(&f, "v(1)+v(1,2)+i(7)+time+x+x", &out));
  assert_int_equal(out.law.n_live, 5);
  assert_true(yoke__expression_has_state(&out.law));
  check_ok(compile(&f, "time*x", &out));
  assert_false(yoke__expression_has_state(&out.law));

  // ground is 0, so that nothing is left of it
  check_ok(compile(&f, "v(0)+5", &out));
  assert_true(out.is_constant);
  check_near(out.number, 5.0, 0.0);
  yoke__compiler_free(&f.compiler);
}

// ---- what is equal is computed once

static void test_common_parts(void** state) {
  (void)state;
  fixture f = {0};
  yoke_compiled out;
  check_ok(compile(&f, "exp(x*y)+exp(x*y)*exp(y*1*x*1)", &out));
  size_t n_exp = 0;
  for (uint32_t i = 0; i < out.law.n_operations; i++) {
    n_exp += out.law.operations[i].code == YOKE_OP_EXP;
  }
  assert_int_equal(n_exp, 2);  // x*y and y*x differ
  const double live[2] = {0.3, 0.7};
  check_relative(yoke__expression_evaluate(&out.law, live, NULL), exp(0.21) + exp(0.42), 1e-15);
  yoke__compiler_free(&f.compiler);
}

// ---- functions, and benchmark pmsm

#define SPAN(text)                                                                                 \
  { (text), sizeof(text) - 1 }

static const yoke_span arg_tm[] = {SPAN("tm")}, arg_z[] = {SPAN("z")},
                       arg_ab[] = {SPAN("a"), SPAN("b")};
#define E  "0.82e-3"
#define RM "72.61e-3"
// specification 5.4
static const yoke_user_function gap[] = {
    {SPAN("tau"), SPAN("(tm-300)/50"), arg_tm, 1},
    {SPAN("nu"), SPAN("(15.89+5.03*tau(tm)+0.23*tau(tm)*(tau(tm)-1))*1e-6"), arg_tm, 1},
    {SPAN("kair"), SPAN("(26.3+3.7*tau(tm)+0.05*tau(tm)*(tau(tm)-1))*1e-3"), arg_tm, 1},
    {SPAN("gx"), SPAN("(" E "/" RM ")/(1-" E "/(2*" RM "))"), NULL, 0},
    {SPAN("gp"), SPAN("0.0571*(1-0.625*gx())+0.00056/(1-0.625*gx())"), NULL, 0},
    {SPAN("fg"), SPAN("pi^4/(1697*gp()*(1-" E "/(2*" RM "))^2)"), NULL, 0},
    {SPAN("tam"), SPAN("1570^2*" RM "*" E "^3/nu(tm)^2/fg()"), arg_tm, 1},
    {SPAN("nusselt"), SPAN("z<1700 ? 2 : z<1e4 ? 0.128*z^0.367 : 0.409*z^0.241"), arg_z, 1},
    {SPAN("rgap"), SPAN("2*" E "/(nusselt(tam((a+b)/2))*kair((a+b)/2)*0.031936)"), arg_ab, 2},
    {SPAN("f"), SPAN("g(z)"), arg_z, 1},
    {SPAN("g"), SPAN("f(z)"), arg_z, 1},
    {SPAN("h"), SPAN("z+nobody"), arg_z, 1},
};

static void test_pmsm_air_gap(void** state) {
  (void)state;
  fixture f = {.functions = gap, .n_functions = sizeof gap / sizeof gap[0]};
  // check values of the specification, half a unit of their last digit
  check_near(constant(&f, "gx()"), 0.011357, 5e-7);
  check_near(constant(&f, "gp()"), 0.057259, 5e-7);
  check_near(constant(&f, "fg()"), 1.013899, 5e-7);
  check_near(constant(&f, "tam(300)"), 385474, 0.5);
  check_near(constant(&f, "tam(350)"), 222392, 0.5);
  check_near(constant(&f, "tam(400)"), 139542, 0.5);
  check_near(constant(&f, "nusselt(tam(300))"), 9.0771, 5e-5);
  check_near(constant(&f, "rgap(300,300)"), 0.21511, 5e-6);
  check_near(constant(&f, "rgap(350,350)"), 0.21531, 5e-6);
  check_near(constant(&f, "rgap(400,400)"), 0.21382, 5e-6);

  // live: the same numbers, and the slope by both temperatures
  yoke_compiled out;
  check_ok(compile(&f, "rgap(t(3),t(4))", &out));
  assert_int_equal(out.law.n_live, 2);
  double gradient[2];
  const double live[2] = {360.0, 340.0};
  const double value = yoke__expression_evaluate(&out.law, live, gradient);
  check_near(value, 0.21531, 5e-6);
  const double above = yoke__expression_evaluate(&out.law, (double[]){360.01, 340.0}, NULL);
  const double below = yoke__expression_evaluate(&out.law, (double[]){359.99, 340.0}, NULL);
  check_near(gradient[0], (above - below) / 0.02, 1e-11);
  assert_true(gradient[0] == gradient[1]);
  assert_true(out.law.n_operations < 90);
  yoke__compiler_free(&f.compiler);
}

// ---- what is refused

static void test_errors(void** state) {
  (void)state;
  fixture f = {.functions = gap, .n_functions = sizeof gap / sizeof gap[0]};
  const struct {
    const char *text, *message;
  } cases[] = {
      {"1/0", "division by zero"},
      {"x + 1/(k-3)", "division by zero"},
      {"ln(-1)", "logarithm of a negative number"},
      {"ln(0)", "logarithm of zero"},
      {"sqrt(-4)", "square root of a negative number"},
      {"asin(2)", "beyond -1 .. 1"},
      {"0^-1", "zero to a negative power"},
      {"exp(1000)", "too large"},
      {"1e308*10", "too large"},
      {"1e999", "too large"},
      {"", "ends too early"},
      {"1+", "ends too early"},
      {"(1", "'(' is not closed"},
      {"{1", "'{' is not closed"},
      {"1)", "')' without '('"},
      {"(1}", "expected ')' before '}'"},
      {"{1)", "expected '}' before ')'"},
      {"1 ? 2", "lacks its ':'"},
      {"(1 ? 2)", "lacks its ':'"},
      {"1 : 2", "':' without '?'"},
      {"1 2", "expected an operator, found '2'"},
      {"1,2", "',' outside"},
      {"*2", "expected a number, a name or '(', found '*'"},
      {"nobody+1", "unknown parameter 'nobody'"},
      {"nofunc(1)", "unknown function 'nofunc'"},
      {"max(1)", "max() takes 2 or more arguments, found 1"},
      {"sin()", "sin() takes 1 argument, found 0"},
      {"sin(1,2)", "sin() takes 1 argument, found 2"},
      {"tau(1,2)", "tau() takes 1 argument, found 2"},
      {"ddt(v(1))", "ddt() is not supported"},
      {"sdt(x)", "sdt() is not supported"},
      {"f(1)", "calls itself"},
      {"h(1)", "in the function h: unknown parameter 'nobody'"},
      {"v()", "expected v(node)"},
      {"i(1,2)", "expected i(element)"},
      {"pwl(1,2)", "takes 3 or more"},
      {"pwl(1,2,3,4)", "pairs"},
      {"x \x01", "expected an operator, found '?'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    yoke_compiled out;
    const yoke_status status = compile(&f, cases[i].text, &out);
    if (status != YOKE_BAD_INPUT || strstr(f.report, cases[i].message) == NULL) {
      fail_msg("'%s': status %d, '%s', expected '%s'", cases[i].text, status, f.report,
               cases[i].message);
    }
  }

  // the branch that is not taken does not count
  check_near(constant(&f, "k == 3 ? 7 : 1/0"), 7.0, 0.0);

  // the place is that of the fault
  yoke_compiled out;
  assert_int_equal(compile(&f, "1 + nobody", &out), YOKE_BAD_INPUT);
  check_contains(f.report, "4: ");
  yoke__compiler_free(&f.compiler);
}

static void test_pending(void** state) {
  (void)state;
  fixture f = {.is_pending = true};
  yoke_compiled out;
  assert_int_equal(compile(&f, "1 + later", &out), YOKE_OK);
  assert_true(out.is_pending);
  f.is_pending = false;
  assert_int_equal(compile(&f, "1 + later", &out), YOKE_BAD_INPUT);
  assert_string_equal(f.report, "");
  yoke__compiler_free(&f.compiler);
}

static void test_limits(void** state) {
  (void)state;
  fixture f = {0};
  yoke_compiled out;
  static char text[300000];

  // brackets: many are fine where nothing waits, too many are refused
  memset(text, '(', 3000);
  text[3000] = '1';
  memset(text + 3001, ')', 3000);
  text[6001] = '\0';
  check_near(constant(&f, text), 1.0, 0.0);
  memset(text, '(', 100000);
  text[100000] = '\0';
  assert_int_equal(compile(&f, text, &out), YOKE_BAD_INPUT);
  check_contains(f.report, "nested too deeply");

  // numbers that wait on the stack when it is run: 100 levels of x+(x*(x+(...
  size_t n = 0;
  for (int i = 0; i < 100; i++) {
    n += (size_t)snprintf(text + n, sizeof text - n, "sin(x+%d)%c(", i, i % 2 == 0 ? '+' : '*');
  }
  n += (size_t)snprintf(text + n, sizeof text - n, "1");
  memset(text + n, ')', 100);
  text[n + 100] = '\0';
  assert_int_equal(compile(&f, text, &out), YOKE_BAD_INPUT);
  check_contains(f.report, "nested too deeply");

  // seventeen live quantities
  n = (size_t)snprintf(text, sizeof text, "0");
  for (int i = 0; i < 17; i++) {
    n += (size_t)snprintf(text + n, sizeof text - n, "+i(%c)", '0' + i);
  }
  assert_int_equal(compile(&f, text, &out), YOKE_BAD_INPUT);
  check_contains(f.report, "more than 16");

  // a long sum is no problem
  n = (size_t)snprintf(text, sizeof text, "0");
  for (int i = 0; i < 2000; i++) {
    n += (size_t)snprintf(text + n, sizeof text - n, "+sin(x*%d)", i);
  }
  check_ok(compile(&f, text, &out));
  yoke__compiler_free(&f.compiler);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_constants_fold),
      cmocka_unit_test(test_powers_as_ngspice),
      cmocka_unit_test(test_scales_are_exact),
      cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_derivative_of_what_is_not_there),
      cmocka_unit_test(test_live_quantities),
      cmocka_unit_test(test_common_parts),
      cmocka_unit_test(test_pmsm_air_gap),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_pending),
      cmocka_unit_test(test_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
