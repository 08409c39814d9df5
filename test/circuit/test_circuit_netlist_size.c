// Large and hostile netlists: a million lines, lines of a megabyte, expansion without end, deep
// nesting. Times are printed (a million lines are to take less than 3 s on a current machine); the
// gate is a ratio that does not depend on the machine.
#include "test_circuit_netlist.h"

#include "base/base_os.h"

static bool is_instrumented(void) {
  const char* sanitize = getenv("YOKE_SANITIZE");
  return (sanitize != NULL && sanitize[0] != '\0') ||
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
         true;
#else
         false;
#endif
}

static void test_million_lines(void** state) {
  (void)state;
  const int n_loops = is_instrumented() ? 20000 : 333333;
  char* text = malloc((size_t)n_loops * 100 + 1000);
  assert_non_null(text);
  size_t n = (size_t)sprintf(text, "ladder\nV1 n0 0 SIN(0 100 5)\n.param c0=50m\n");
  for (int i = 0; i < n_loops; i++) {
    n += (size_t)sprintf(text + n, "R%d n%d m%d 10\nL%d m%d n%d 100m\nC%d n%d 0 %s\n", i, i, i, i,
                         i, i + 1, i, i + 1, i % 3 == 0 ? "{2*c0}" : "100mF IC=0");
  }
  n += (size_t)sprintf(text + n, ".tran 1m 1\n.print v(n1) i(L1)\n.end\n");

  // what it costs only to look at every byte
  int64_t start = yoke__os_cpu_ns();
  size_t n_lines = 0;
  for (size_t i = 0; i < n; i++) {
    n_lines += text[i] == '\n';
  }
  const double pass_ms = (double)(yoke__os_cpu_ns() - start) * 1e-6;
  start = yoke__os_cpu_ns();
  reading r;
  read_good(&r, text);
  const double ms = (double)(yoke__os_cpu_ns() - start) * 1e-6;
  printf("%zu lines, %.1f MB: %.0f ms of processor time, %.0f ns per line, %.0f times a pass over "
         "the bytes\n",
         n_lines, (double)n * 1e-6, ms, ms * 1e6 / (double)n_lines, ms / pass_ms);
  assert_int_equal(r.network->n_elements, 3 * n_loops + 1);

  // what grows with the square of the lines would be tens of thousands of passes
  check_between(ms / pass_ms, 1.0, 1000.0);
  free_reading(&r);
  free(text);
}

static void test_long_lines(void** state) {
  (void)state;
  const size_t size = 3u << 20;
  char* text = malloc(size + 1000);
  assert_non_null(text);
  reading r;

  // a comment, a value, an expression, a table and a name of a megabyte
  static const char* const starts[] = {"*",         "R1 1 0 1k ;", "R1 1 0 1", "R1 1 0 {1+",
                                       "R1 1 0 {(", "V2 2 0 PWL(", "R",        ".print ",
                                       ".param ",   "X1 ",         "+"};
  static const char fills[][8] = {"x", "x", "k", "1+", "(", "1 ", "x", "v(1) ", "a=1 ", "1 ", "1 "};
  for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
    size_t n = (size_t)sprintf(text, "t\nV1 1 0 1\nR9 1 0 1\n%s", starts[i]);
    const size_t m = strlen(fills[i]);
    while (n < (1u << 20)) {
      memcpy(text + n, fills[i], m);
      n += m;
    }
    memcpy(text + n, "\n", 2);
    read_netlist(&r, text);
    assert_true(r.status == YOKE_OK || r.status == YOKE_BAD_INPUT);
    free_reading(&r);
  }
  free(text);
}

static void test_expansion_is_bounded(void** state) {
  (void)state;
  // each level holds ten of the level below: 10^12 resistors
  char text[4000];
  size_t n = (size_t)sprintf(text, "t\nV1 1 0 1\nX1 1 s12\n.subckt s0 a\nR1 a 0 1\n.ends\n");
  for (int i = 1; i <= 12; i++) {
    n += (size_t)sprintf(text + n, ".subckt s%d a\n", i);
    for (int j = 0; j < 10; j++) {
      n += (size_t)sprintf(text + n, "X%d a s%d\n", j, i - 1);
    }
    n += (size_t)sprintf(text + n, ".ends\n");
  }
  const yoke_netlist_settings settings = {.path = "x.cir", .max_elements = 10000};
  reading r;
  read_bytes_with(&r, text, n, &settings);
  assert_int_equal(r.status, YOKE_BAD_INPUT);
  check_contains(r.text, "the netlist has more than 10000");
  free_reading(&r);

  // the same without elements
  n = (size_t)sprintf(text, "t\nV1 1 0 1\nR1 1 0 1\nX1 1 s12\n.subckt s0 a\n.ends\n");
  for (int i = 1; i <= 12; i++) {
    n += (size_t)sprintf(text + n, ".subckt s%d a\n", i);
    for (int j = 0; j < 10; j++) {
      n += (size_t)sprintf(text + n, "X%d a s%d\n", j, i - 1);
    }
    n += (size_t)sprintf(text + n, ".ends\n");
  }
  read_bytes_with(&r, text, n, &settings);
  assert_int_equal(r.status, YOKE_BAD_INPUT);
  check_contains(r.text, "more than 10000 instances");
  free_reading(&r);
}

static void test_depth_is_bounded(void** state) {
  (void)state;
  char* text = malloc(100000);
  assert_non_null(text);
  for (int depth = 64; depth <= 65; depth++) {
    size_t n = (size_t)sprintf(text, "t\nV1 1 0 1\nX1 1 s1\n");
    for (int i = 1; i < depth; i++) {
      n += (size_t)sprintf(text + n, ".subckt s%d a\nX1 a s%d\n.ends\n", i, i + 1);
    }
    sprintf(text + n, ".subckt s%d a\nR1 a 0 1\n.ends\n", depth);
    reading r;
    read_netlist(&r, text);
    assert_int_equal(r.status, depth == 64 ? YOKE_OK : YOKE_BAD_INPUT);
    if (depth == 65) {
      check_contains(r.text, "nested more than 64 deep");
    }
    free_reading(&r);
  }
  free(text);
}

static void test_functions_without_end(void** state) {
  (void)state;
  // each calls the next twice with another argument: 2^30 additions
  char text[4000];
  size_t n = (size_t)sprintf(text, "t\nV1 1 0 1\nR1 1 0 {f0(1)}\n");
  for (int i = 0; i < 30; i++) {
    n += (size_t)sprintf(text + n, ".func f%d(x) {f%d(x)+f%d(x+1)}\n", i, i + 1, i + 1);
  }
  sprintf(text + n, ".func f30(x) {x}\n");
  reading r;
  read_netlist(&r, text);
  assert_int_equal(r.status, YOKE_BAD_INPUT);
  check_contains(r.text, "too large");
  free_reading(&r);
}

static void test_many_errors(void** state) {
  (void)state;
  char* text = malloc(2000000);
  assert_non_null(text);
  size_t n = (size_t)sprintf(text, "t\n");
  for (int i = 0; i < 50000; i++) {
    n += (size_t)sprintf(text + n, "R%d a b {x%d}\n", i, i);
  }
  reading r;
  read_netlist(&r, text);
  assert_int_equal(r.status, YOKE_BAD_INPUT);
  assert_true(r.messages.n_errors >= 1000);
  free_reading(&r);
  free(text);
}

// same file, same network
static void test_repeatable(void** state) {
  (void)state;
  const char* text = "t\nV1 1 0 {sin(1)}\nR1 1 2 {exp(2)/3}\nC1 2 0 {1u*(1+v(2))}\n.print v(2)\n";
  reading a, b;
  read_good(&a, text);
  read_good(&b, text);
  assert_memory_equal(&a.network->elements[1].value.constant,
                      &b.network->elements[1].value.constant, sizeof(double));
  const yoke_expression *p = a.network->elements[2].value.law,
                        *q = b.network->elements[2].value.law;
  assert_int_equal(p->n_operations, q->n_operations);
  const double live[1] = {0.7};
  const double x = yoke__expression_evaluate(p, live, NULL);
  const double y = yoke__expression_evaluate(q, live, NULL);
  assert_memory_equal(&x, &y, sizeof x);
  free_reading(&a);
  free_reading(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_million_lines),
      cmocka_unit_test(test_long_lines),
      cmocka_unit_test(test_expansion_is_bounded),
      cmocka_unit_test(test_depth_is_bounded),
      cmocka_unit_test(test_functions_without_end),
      cmocka_unit_test(test_many_errors),
      cmocka_unit_test(test_repeatable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
