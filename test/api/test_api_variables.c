// Variables of a simulation: every kind is found, read and written; a write takes effect before the next step, as if the
// file had said so; what cannot be written is refused with a reason; nothing of it touches the heap.
#include "api/api_helper.h"
#include "base/base_os.h"
#include "support/counting_heap.h"

#define SIZE 4096

// ---- when a write takes effect

static void write_text(char* to, const char* keys, const char* a, const char* b) {
  snprintf(to, SIZE, TWO_PLANTS, keys, a, b);
}

static void check_same(const char* keys, const char* step_a, const char* step_b) {
  yoke_registry* registry = api_registry();
  char text[SIZE], a[256];
  // one changes by itself at 0.5 s, one is told to
  snprintf(a, sizeof a, ", with: {at: 0.5, k2: 25, u2: -3}%s", step_a);
  write_text(text, keys, a, step_b);
  yoke_simulation* want = api_open(registry, NULL, text);
  write_text(text, keys, step_a, step_b);
  yoke_simulation* got = api_open(registry, NULL, text);
  const yoke_handle x = api_find(got, "a.x"), y = api_find(got, "b.x");
  check_ok(yoke_simulation_run_to(got, 0.5));
  check_ok(yoke_simulation_run_to(want, 0.5));
  const double before = api_read(got, "a.x");
  api_write(got, "a.k", 25);
  api_write(got, "a.u", -3);
  // outputs stay what they are until the step; inputs and parameters show what the step will be given
  assert_true(api_read(got, "a.x") == before);
  assert_true(api_read(got, "a.u") == -3 && api_read(got, "a.k") == 25);
  while (!yoke_simulation_is_done(got)) {
    check_ok(yoke_simulation_step(got));
    check_ok(yoke_simulation_step(want));
    double p[2], q[2];
    check_ok(yoke_simulation_read_many(got, (const yoke_handle[]){x, y}, 2, p));
    check_ok(yoke_simulation_read_many(want, (const yoke_handle[]){x, y}, 2, q));
    if (memcmp(p, q, sizeof p) != 0) {  // NOLINT(bugprone-suspicious-memory-comparison): bits
      fail_msg("%s: t = %g: %.17g %.17g, expected %.17g %.17g", keys, yoke_simulation_time(got),
               p[0], p[1], q[0], q[1]);
    }
  }
  assert_true(fabs(api_read(got, "a.x") - before) > 1e-3);
  api_close(&want);
  api_close(&got);
  yoke_registry_destroy(&registry);
}

static void test_write_is_as_in_the_file(void** state) {
  (void)state;
  check_same("", "", "");
  check_same("scheme: gauss-seidel\n", "", "");
  check_same("scheme: gauss-seidel\norder: [b, a]\n", "", "");
  check_same("scheme: iterative-jacobi\n", "", "");
  check_same("scheme: iterative-gauss-seidel\n", "", "");
  check_same("", ", step: 0.002", ", step: 0.005");
  check_same("scheme: gauss-seidel\n", ", step: 0.005", "");
  check_same("threads: 2\n", "", "");
  check_same("threads: 2\n", ", step: 0.0025", "");
}

// parameters, start values and inputs before the start: the same as in the file
static void test_write_before_start(void** state) {
  (void)state;
  yoke_registry* registry = api_registry();
  char text[SIZE];
  write_text(text, "", ", with: {k: 3, at: 0.2, k2: 4, u2: 5}, start: {x: 2, v: -1, u: 7}", "");
  yoke_simulation* want = api_open(registry, NULL, text);
  write_text(text, "", "", "");
  yoke_simulation* got = api_open(registry, NULL, text);
  static const struct {
    const char* name;
    double value;
  } values[] = {{"a.k", 3}, {"a.at", 0.2}, {"a.k2", 4}, {"a.u2", 5},
                {"a.x", 2}, {"a.v", -1},   {"a.u", 7}};
  for (size_t i = 0; i < 7; i++) {
    api_write(got, values[i].name, values[i].value);
    assert_true(api_read(got, values[i].name) == values[i].value);
  }
  check_ok(yoke_simulation_run(want, NULL, NULL));
  check_ok(yoke_simulation_run(got, NULL, NULL));
  assert_true(api_read(got, "a.x") == api_read(want, "a.x"));
  assert_true(api_read(got, "a.v") == api_read(want, "a.v"));
  assert_true(api_read(got, "b.x") == api_read(want, "b.x"));
  api_close(&want);
  api_close(&got);
  yoke_registry_destroy(&registry);
}

// the last one counts, whichever function wrote it
static void test_order_of_writes(void** state) {
  (void)state;
  yoke_registry* registry = api_registry();
  char text[SIZE];
  write_text(text, "", "", "");
  yoke_simulation* sim = api_open(registry, NULL, text);
  check_ok(yoke_simulation_start(sim));
  const double value = 9;
  for (int i = 0; i < 2; i++) {
    const char* name = i == 0 ? "a.u" : "a.k";
    api_write(sim, name, 7);
    check_ok(yoke_simulation_write_value(sim, api_find(sim, name), &value, sizeof value));
    assert_true(api_read(sim, name) == 9);
    check_ok(yoke_simulation_step(sim));
    assert_true(api_read(sim, name) == 9);
    api_write(sim, name, 1);
    api_write(sim, name, 2);
    assert_true(api_read(sim, name) == 2);
  }
  api_close(&sim);
  yoke_registry_destroy(&registry);
}

// ---- kinds

static void put_text(yoke_simulation* sim, const char* name, const char* text, size_t element) {
  yoke_handle handle = api_find(sim, name);
  const yoke_variable* v = yoke_simulation_variable(sim, handle);
  char* room = calloc(handle.n, v->max_size);
  assert_non_null(room);
  check_ok(yoke_simulation_read_value(sim, handle, room, handle.n * v->max_size));
  snprintf(room + element * v->max_size, v->max_size, "%s", text);
  check_ok(yoke_simulation_write_value(sim, handle, room, handle.n * v->max_size));
  free(room);
}

static void check_text(yoke_simulation* sim, const char* name, const char* want) {
  const yoke_handle handle = api_find(sim, name);
  const yoke_variable* v = yoke_simulation_variable(sim, handle);
  char* room = calloc(handle.n, v->max_size);
  assert_non_null(room);
  assert_int_equal(handle.n, 1);
  check_ok(yoke_simulation_read_value(sim, handle, room, v->max_size));
  assert_string_equal(room, want);
  free(room);
}

// every type of FMI 3.0 through an FMU that passes its inputs on
static void test_types_of_an_fmu(void** state) {
  (void)state;
  const char* fmus = getenv("YOKE_FMUS");
  assert_non_null(fmus);
  char text[SIZE];
  snprintf(text, sizeof text,
           "yoke: 1\ntime: {stop: 1, step: 0.1}\nunits: {f: {fmu: %s/feedthrough3.fmu}}\n", fmus);
  yoke_simulation* sim = api_open(NULL, NULL, text);
  // a fixed parameter before the start, as text, number and whole number
  put_text(sim, "f.String_parameter", "before", 0);
  api_write(sim, "f.Float64_parameter", 2.5);
  api_write(sim, "f.Int32_parameter", -8);
  api_write(sim, "f.Boolean_parameter", 0);
  check_ok(yoke_simulation_start(sim));
  check_text(sim, "f.String_parameter", "before");
  assert_true(api_read(sim, "f.Float64_parameter") == 2.5);
  assert_true(api_read(sim, "f.Int32_parameter") == -8);
  assert_true(api_read(sim, "f.Boolean_parameter") == 0);

  // numbers
  static const struct {
    const char* type;
    double value;
  } numbers[] = {{"Float64", 1.25},  {"Float32", -0.5},  {"Int8", -100},  {"UInt8", 200},
                 {"Int16", -30000},  {"UInt16", 60000},  {"Int32", -2e9}, {"UInt32", 4e9},
                 {"Int64", -0x1p60}, {"UInt64", 0x1p60}, {"Boolean", 1},  {"Enumeration", 2}};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    char name[64];
    snprintf(name, sizeof name, "f.%s_in", numbers[i].type);
    api_write(sim, name, numbers[i].value);
    assert_true(api_read(sim, name) == numbers[i].value);
  }
  api_write(sim, "f.bias", 0.5);  // tunable, added to Float64_out
  api_write(sim, "f.Float64_array_in[1,2]", 6);
  api_write(sim, "f.Float64_array_in[0,1]", 2);
  api_write(sim, "f.Int32_array_in[2]", 33);
  api_write(sim, "f.Boolean_array_in[1]", 1);
  api_write(sim, "f.Enumeration_array_in[0]", 1);
  put_text(sim, "f.String_in", "a text", 0);
  put_text(sim, "f.String_array_in", "second", 1);
  const yoke_handle binary = api_find(sim, "f.Binary_in");
  struct {
    uint64_t n;
    unsigned char bytes[64];
  } sent = {3, {0xca, 0, 0xfe}}, got = {0, {0}};
  assert_int_equal(yoke_simulation_variable(sim, binary)->max_size, 64);
  check_ok(yoke_simulation_write_value(sim, binary, &sent, sizeof sent));

  check_ok(yoke_simulation_step(sim));
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    char name[64];
    snprintf(name, sizeof name, "f.%s_out", numbers[i].type);
    check_near(api_read(sim, name), numbers[i].value + (i == 0 ? 0.5 : 0), 0);
  }
  double whole[6] = {0};
  const yoke_handle array = api_find(sim, "f.Float64_array_out");
  assert_int_equal(array.n, 6);
  check_ok(yoke_simulation_read_value(sim, array, whole, sizeof whole));
  assert_true(whole[0] == 0 && whole[1] == 2 && whole[5] == 6);
  assert_true(api_read(sim, "f.Float64_array_out[1,2]") == 6);
  assert_true(api_read(sim, "f.Int32_array_out[2]") == 33);
  assert_true(api_read(sim, "f.Boolean_array_out[1]") == 1);
  assert_true(api_read(sim, "f.Enumeration_array_out[0]") == 1);
  check_text(sim, "f.String_out", "a text");
  check_text(sim, "f.String_array_out[0]", "");
  check_text(sim, "f.String_array_out[1]", "second");
  check_ok(yoke_simulation_read_value(sim, api_find(sim, "f.Binary_out"), &got, sizeof got));
  assert_memory_equal(&got, &sent, sizeof sent);

  // whole arrays
  const double six[6] = {1, 2, 3, 4, 5, 7};
  const int64_t three[3] = {-1, 0, 1};
  check_ok(yoke_simulation_write_value(sim, api_find(sim, "f.Float64_array_in"), six, sizeof six));
  check_ok(
      yoke_simulation_write_value(sim, api_find(sim, "f.Int32_array_in"), three, sizeof three));
  check_ok(yoke_simulation_step(sim));
  check_ok(yoke_simulation_read_value(sim, array, whole, sizeof whole));
  assert_memory_equal(whole, six, sizeof six);
  int64_t numbers_got[3] = {0};
  check_ok(yoke_simulation_read_value(sim, api_find(sim, "f.Int32_array_out"), numbers_got,
                                      sizeof numbers_got));
  assert_memory_equal(numbers_got, three, sizeof three);
  api_close(&sim);
}

// an FMU whose arrays have sizes by structural parameters: y' = u - y, element by element
static void test_arrays_of_an_fmu(void** state) {
  (void)state;
  const char* fmus = getenv("YOKE_FMUS");
  assert_non_null(fmus);
  char text[SIZE];
  snprintf(text, sizeof text,
           "yoke: 1\ntime: {stop: 1, step: 0.01}\nunits: {f: {fmu: %s/arrays3.fmu}}\n", fmus);
  yoke_simulation* sim = api_open(NULL, NULL, text);
  api_write(sim, "f.x0[1]", -4);
  api_write(sim, "f.A[2,2]", 0);
  check_ok(yoke_simulation_start(sim));
  assert_true(api_read(sim, "f.y[1]") == -4 && api_read(sim, "f.y[0]") == 1);
  api_write(sim, "f.u[2]", 3);
  check_ok(yoke_simulation_run(sim, NULL, NULL));
  check_near(api_read(sim, "f.y[2]"), 1 + 3 * 1.0, 1e-12);  // x' = u
  assert_true(api_read(sim, "f.y[1]") > -4 && api_read(sim, "f.y[1]") < 0);
  api_close(&sim);
}

// native models and laws: integers, enumerations, texts
static void test_types_of_models(void** state) {
  (void)state;
  yoke_simulation* sim = api_open(
      NULL, NULL,
      "yoke: 1\ntime: {stop: 2, step: 0.1}\nunits:\n  count: {model: counter, with: {limit: 0}}\n"
      "  data: {model: state_space, with: {A: [[0]], B: [[0, 0]], C: [[0], [0]], D: [[1, 0], [0, "
      "1]],\n"
      "         inputs: [a, b]}, start: {a: 1, b: 2}}\n"
      "laws:\n  name: {law: label, with: {labels: [low, middle, high]}}\n  best: {law: select, "
      "with: {n: 2}}\n"
      "connections: [{from: data.y1, to: \"best.u[0]\"}, {from: data.y2, to: \"best.u[1]\"}]\n");
  check_ok(yoke_simulation_start(sim));
  assert_true(api_read(sim, "best.y") == 1);
  api_write(sim, "best.mode", 1);  // maximum
  api_write(sim, "name.index", 2);
  api_write(sim, "data.b", 8);
  api_write(sim, "count.limit", 1);
  check_ok(yoke_simulation_step(sim));
  assert_true(api_read(sim, "best.y") == 8 && api_read(sim, "best.mode") == 1);
  assert_true(api_read(sim, "count.toggle") == 1);
  check_text(sim, "name.text", "high");
  api_close(&sim);
}

// ---- refusals

static const char two_gains[] =
    "yoke: 1\ntime: {stop: 1, step: 0.1}\nunits:\n  a: {model: gain, start: {u: 0}}\n  b: {model: "
    "gain}\n"
    "  c: {model: counter}\n  sum: {model: select, with: {n: 3}, start: {u: [0, 0, 0]}}\n"
    "connections: [a.y -> b.u, {from: b.y, to: \"sum.u[1]\"}]\n";

#define REFUSED(call, status_, part)                                                               \
  do {                                                                                             \
    heard_clear(&told);                                                                            \
    assert_int_equal((call), (status_));                                                           \
    assert_int_equal(told.status, (status_));                                                      \
    check_contains(told.text, part);                                                               \
  } while (0)

static void test_refusals(void** state) {
  (void)state;
  HEAR(told);
  yoke_simulation* sim = api_open(NULL, &told.sink, two_gains);
  yoke_handle h;
  double x = 42, three[3] = {0};
  REFUSED(yoke_simulation_find(sim, "a.z", &h), YOKE_NO_SUCH_NAME, "unit 'a'");
  assert_int_equal(h.n, 0);
  REFUSED(yoke_simulation_find(sim, "ab.u", &h), YOKE_NO_SUCH_NAME, "there is no unit 'ab'");
  REFUSED(yoke_simulation_find(sim, "c.limitt", &h), YOKE_NO_SUCH_NAME,
          "there is no variable 'limitt'; did you mean 'limit'?");
  assert_true(told.has_hint);
  REFUSED(yoke_simulation_find(sim, "a", &h), YOKE_NO_SUCH_NAME,
          "expected unit.variable, found the unit 'a' alone");
  REFUSED(yoke_simulation_find(sim, "", &h), YOKE_NO_SUCH_NAME, "");
  assert_false(told.has_hint);
  REFUSED(yoke_simulation_find(sim, "sum.u[3]", &h), YOKE_NO_SUCH_NAME, "");
  REFUSED(yoke_simulation_find(sim, "sum.u[-1]", &h), YOKE_NO_SUCH_NAME, "");

  for (int is_started = 0; is_started < 2; is_started++) {
    REFUSED(yoke_simulation_write(sim, api_find(sim, "b.u"), 1), YOKE_READ_ONLY,
            "'u' cannot be written: a connection feeds it");
    REFUSED(yoke_simulation_write(sim, api_find(sim, "sum.u[1]"), 1), YOKE_READ_ONLY, "feeds it");
    REFUSED(yoke_simulation_write_value(sim, api_find(sim, "sum.u"), three, sizeof three),
            YOKE_READ_ONLY, "feeds it");
    check_ok(yoke_simulation_write(sim, api_find(sim, "sum.u[0]"), 1));
    REFUSED(yoke_simulation_write(sim, api_find(sim, "a.y"), 1), YOKE_READ_ONLY, "it is an output");
    REFUSED(yoke_simulation_write(sim, api_find(sim, "a.u"), (double)NAN), YOKE_NOT_FINITE,
            "unit 'a'");
    REFUSED(yoke_simulation_write(sim, api_find(sim, "a.k"), HUGE_VAL), YOKE_NOT_FINITE, "inf");
    REFUSED(yoke_simulation_write(sim, api_find(sim, "c.limit"), -HUGE_VAL), YOKE_NOT_FINITE, "");
    REFUSED(yoke_simulation_write(sim, api_find(sim, "c.limit"), 1.5), YOKE_WRONG_TYPE, "1.5");
    REFUSED(yoke_simulation_write(sim, api_find(sim, "c.limit"), 1e300), YOKE_WRONG_TYPE, "");
    REFUSED(yoke_simulation_write(sim, api_find(sim, "sum.mode"), 17), YOKE_WRONG_TYPE, "");
    REFUSED(yoke_simulation_write(sim, api_find(sim, "sum.mode"), -1), YOKE_WRONG_TYPE, "");
    const int64_t seventeen = 17;
    REFUSED(yoke_simulation_write_value(sim, api_find(sim, "sum.mode"), &seventeen, 8),
            YOKE_WRONG_TYPE, "none of its items");
    const double nan = (double)NAN;
    REFUSED(yoke_simulation_write_value(sim, api_find(sim, "a.u"), &nan, 8), YOKE_NOT_FINITE, "");
    REFUSED(yoke_simulation_write_value(sim, api_find(sim, "a.u"), &x, 7), YOKE_WRONG_TYPE,
            "takes 8 bytes, got 7");
    REFUSED(yoke_simulation_write_value(sim, api_find(sim, "a.u"), NULL, 8), YOKE_WRONG_TYPE, "");
    REFUSED(yoke_simulation_read_value(sim, api_find(sim, "sum.u"), three, 23), YOKE_FULL,
            "needs 24 bytes");
    REFUSED(yoke_simulation_read(sim, api_find(sim, "sum.u"), &x), YOKE_WRONG_TYPE, "");
    REFUSED(yoke_simulation_write(sim, api_find(sim, "sum.u"), 1), YOKE_READ_ONLY, "");

    // each field of a handle out of range
    static const yoke_handle wrong[] = {
        {4, 0, 0, 1},          {UINT32_MAX, 0, 0, 1}, {0, 3, 0, 1},          {0, UINT32_MAX, 0, 1},
        {0, 0, 1, 1},          {0, 0, UINT32_MAX, 1}, {0, 0, 0, 0},          {0, 0, 0, 2},
        {0, 0, 0, UINT32_MAX}, {3, 0, 2, 2},          {0, 0, UINT32_MAX, 2}, {0, 0, 1, UINT32_MAX}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
      assert_null(yoke_simulation_variable(sim, wrong[i]));
      REFUSED(yoke_simulation_read(sim, wrong[i], &x), YOKE_BAD_ARG, "handle");
      REFUSED(yoke_simulation_read_value(sim, wrong[i], three, sizeof three), YOKE_BAD_ARG, "");
      REFUSED(yoke_simulation_read_many(sim, &wrong[i], 1, &x), YOKE_BAD_ARG, "");
      REFUSED(yoke_simulation_write(sim, wrong[i], 1), YOKE_BAD_ARG, "handle");
      REFUSED(yoke_simulation_write_value(sim, wrong[i], three, 8), YOKE_BAD_ARG, "");
    }
    assert_true(x == 42);

    // NULL everywhere
    h = api_find(sim, "a.u");
    assert_int_equal(yoke_simulation_find(NULL, "a.u", &h), YOKE_BAD_ARG);
    assert_int_equal(yoke_simulation_find(sim, NULL, &h), YOKE_BAD_ARG);
    assert_int_equal(yoke_simulation_find(sim, "a.u", NULL), YOKE_BAD_ARG);
    h = api_find(sim, "a.u");
    assert_null(yoke_simulation_variable(NULL, h));
    assert_int_equal(yoke_simulation_read(NULL, h, &x), YOKE_BAD_ARG);
    assert_int_equal(yoke_simulation_read(sim, h, NULL), YOKE_BAD_ARG);
    assert_int_equal(yoke_simulation_read_value(NULL, h, &x, 8), YOKE_BAD_ARG);
    assert_int_equal(yoke_simulation_read_value(sim, h, NULL, 8), YOKE_BAD_ARG);
    assert_int_equal(yoke_simulation_read_many(NULL, &h, 1, &x), YOKE_BAD_ARG);
    assert_int_equal(yoke_simulation_read_many(sim, NULL, 1, &x), YOKE_BAD_ARG);
    assert_int_equal(yoke_simulation_read_many(sim, &h, 1, NULL), YOKE_BAD_ARG);
    check_ok(yoke_simulation_read_many(sim, NULL, 0, NULL));
    assert_int_equal(yoke_simulation_write(NULL, h, 1), YOKE_BAD_ARG);
    assert_int_equal(yoke_simulation_write_value(NULL, h, &x, 8), YOKE_BAD_ARG);
    check_ok(yoke_simulation_start(sim));
  }
  REFUSED(yoke_simulation_write(sim, api_find(sim, "a.y"), 1), YOKE_READ_ONLY, "t = 0 s");

  // after the end
  check_ok(yoke_simulation_run(sim, NULL, NULL));
  REFUSED(yoke_simulation_write(sim, api_find(sim, "a.u"), 1), YOKE_BAD_ARG, "the run is over");
  REFUSED(yoke_simulation_write_value(sim, api_find(sim, "a.u"), &x, 8), YOKE_BAD_ARG, "is over");
  check_near(api_read(sim, "a.u"), 0, 0);
  api_close(&sim);
}

static void test_fixed_after_start(void** state) {
  (void)state;
  HEAR(told);
  yoke_registry* registry = api_registry();
  char text[SIZE];
  write_text(text, "", "", "");
  yoke_simulation* sim = api_open(registry, &told.sink, text);
  check_ok(yoke_simulation_start(sim));
  REFUSED(yoke_simulation_write(sim, api_find(sim, "a.at"), 1), YOKE_READ_ONLY, "parameter");
  REFUSED(yoke_simulation_write(sim, api_find(sim, "a.v"), 1), YOKE_READ_ONLY, "start value");
  REFUSED(yoke_simulation_write(sim, api_find(sim, "a.x"), 1), YOKE_READ_ONLY, "output");
  api_close(&sim);
  yoke_registry_destroy(&registry);
}

// 1024 writes wait, one more is refused, and all of them count in their order
static void test_full_mailbox(void** state) {
  (void)state;
  HEAR(told);
  yoke_registry* registry = api_registry();
  char text[SIZE];
  write_text(text, "", "", "");
  yoke_simulation* sim = api_open(registry, &told.sink, text);
  check_ok(yoke_simulation_start(sim));
  const yoke_handle u = api_find(sim, "a.u");
  for (int round = 0; round < 3; round++) {
    for (int i = 1; i <= 1024; i++) {
      check_ok(yoke_simulation_write(sim, u, i));
    }
    REFUSED(yoke_simulation_write(sim, u, -1), YOKE_FULL, "writes wait for the next step");
    check_ok(yoke_simulation_step(sim));
    assert_true(api_read(sim, "a.u") == 1024);
  }
  api_close(&sim);
  yoke_registry_destroy(&registry);
}

// ---- the loop

static void test_no_heap(void** state) {
  (void)state;
  check_heap_is_counted();
  yoke_registry* registry = api_registry();
  static const char* const keys[] = {"", "scheme: gauss-seidel\n", "scheme: iterative-jacobi\n",
                                     "threads: 2\n"};
  for (size_t k = 0; k < 4; k++) {
    char text[SIZE];
    write_text(text, keys[k], "", "");
    yoke_simulation* sim = api_open(registry, NULL, text);
    check_ok(yoke_simulation_start(sim));
    check_ok(yoke_simulation_step(sim));
    const yoke_handle u = api_find(sim, "a.u"), tunable = api_find(sim, "a.k"),
                      x = api_find(sim, "a.x");
    const long before = atomic_load(&n_heap_calls);
    for (int i = 0; i < 90; i++) {
      double value = 0;
      yoke_status status = yoke_simulation_write(sim, u, i);
      status = status < 0 ? status : yoke_simulation_write(sim, tunable, 10 + i);
      status = status < 0 ? status : yoke_simulation_step(sim);
      status = status < 0 ? status : yoke_simulation_read(sim, x, &value);
      assert_int_equal(status, YOKE_OK);
    }
    assert_int_equal(atomic_load(&n_heap_calls), before);
    api_close(&sim);
  }
  yoke_registry_destroy(&registry);
}

// ---- writes from other threads

typedef struct writer {
  yoke_simulation* sim;
  yoke_handle handle;
  double offset;
  atomic_bool* is_ending;
  atomic_llong n_done;  // negative: the progress was refused
} writer;

static void write_on(void* to) {
  writer* w = to;
  for (int64_t i = 0; !atomic_load(w->is_ending); i++) {
    yoke_progress progress;
    const yoke_status status =
        yoke_simulation_write(w->sim, w->handle, w->offset + (double)(i % 1000));
    atomic_fetch_add(&w->n_done, status == YOKE_OK);
    if (i % 64 == 0 && yoke_simulation_get_progress(w->sim, &progress) < 0) {
      atomic_store(&w->n_done, INT64_MIN);
    }
    yoke__os_sleep_ns(20000);  // leaves room for the other one
  }
}

static void test_writes_of_other_threads(void** state) {
  (void)state;
  yoke_registry* registry = api_registry();
  for (int k = 0; k < 2; k++) {
    char text[SIZE];
    write_text(text, k == 0 ? "" : "threads: 2\n", "", "");
    yoke_simulation* sim = api_open(registry, NULL, text);
    check_ok(yoke_simulation_start(sim));
    atomic_bool is_ending = false;
    writer writers[2] = {
        {.sim = sim, .handle = api_find(sim, "a.u"), .offset = 1000, .is_ending = &is_ending},
        {.sim = sim, .handle = api_find(sim, "b.k"), .offset = 5000, .is_ending = &is_ending}};
    yoke_thread* threads[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
      check_ok(yoke__os_thread_start(write_on, &writers[i], &threads[i]));
    }
    // both are at work before the first step
    for (int i = 0; i < 20000 && (writers[0].n_done == 0 || writers[1].n_done == 0); i++) {
      yoke__os_sleep_ns(1000000);
    }
    while (!yoke_simulation_is_done(sim)) {
      yoke__os_sleep_ns(50000);
      check_ok(yoke_simulation_step(sim));
    }
    atomic_store(&is_ending, true);
    for (int i = 0; i < 2; i++) {
      yoke__os_thread_join(&threads[i]);
      if (writers[i].n_done <= 0) {
        fail_msg("writer %d: %lld writes", i, (long long)writers[i].n_done);
      }
    }
    // only values that somebody wrote
    check_between(api_read(sim, "a.u"), 1000, 1999);
    check_between(api_read(sim, "b.k"), 5000, 5999);
    api_close(&sim);
  }
  yoke_registry_destroy(&registry);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_write_is_as_in_the_file),
      cmocka_unit_test(test_write_before_start),
      cmocka_unit_test(test_order_of_writes),
      cmocka_unit_test(test_types_of_an_fmu),
      cmocka_unit_test(test_arrays_of_an_fmu),
      cmocka_unit_test(test_types_of_models),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_fixed_after_start),
      cmocka_unit_test(test_full_mailbox),
      cmocka_unit_test(test_no_heap),
      cmocka_unit_test(test_writes_of_other_threads),
  };
  return cmocka_run_group_tests_name("api_variables", tests, NULL, NULL);
}
