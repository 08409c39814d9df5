// FMI 3.0 co-simulation with the test FMUs: values of every type, arrays whose size the system file gives, event mode,
// clocks, intermediate update, faults, states, derivatives, and the two oscillator units against the native ones (CS-27).
#include <float.h>

#include "base/base_message.h"
#include "support/check.h"
#include "support/heard.h"
#include "support/failing_heap.h"
#include "unit/fmu/fmu.h"
#include "unit/unit.h"
#include "unit/unit_file.h"
#include "unit/unit_models.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// ---------------------------------------------------------------------------------------------------------
// one unit

typedef struct subject {
  yoke_unit_store* store;
  yoke_arena arena;
  char path[1024];
  yoke_unit unit;
} subject;

typedef struct opening {
  bool is_event_mode_off;
  const yoke_argument* arguments;
  size_t n_arguments;
} opening;

static yoke_status try_open(subject* s, const char* name, const opening* how, const yoke_sink* sink) {
  const char* folder = getenv("YOKE_FMUS");
  if (folder == NULL) {
    fail_msg("YOKE_FMUS is not set");
  }
  *s = (subject){0};
  snprintf(s->path, sizeof s->path, "%s/%s.fmu", folder, name);
  const yoke_unit_file_settings settings = {.kind = YOKE_KIND_FMU,
                                            .path = s->path,
                                            .name = "unit",
                                            .is_event_mode_off = how->is_event_mode_off};
  yoke_messages messages = {0};
  const yoke_unit_ops* ops = NULL;
  check_ok(yoke__unit_store_create(&s->store));
  yoke_status status = yoke__unit_store_open(s->store, &settings, &messages, &ops);
  for (size_t i = 0; i < messages.n; i++) {
    yoke_send(sink, &messages.all[i]);
  }
  // these FMUs have nothing to complain about
  assert_int_equal(messages.n_warnings, 0);
  yoke__messages_free(&messages);
  if (status >= 0) {
    const yoke_unit_args args = {"unit", ".", how->arguments, how->n_arguments, ops->context};
    status = yoke__unit_create(ops, &args, &s->arena, &s->unit, sink);
  }
  return status;
}

static void open_with(subject* s, const char* name, const opening* how) {
  HEAR(err);
  if (try_open(s, name, how, &err.sink) < 0) {
    fail_msg("%s: %s", name, err.text);
  }
}

static void open_plain(subject* s, const char* name) {
  open_with(s, name, &(opening){0});
}

static void open_native(subject* s, const char* name, const opening* how) {
  YOKE_CATCH(err);
  *s = (subject){0};
  const yoke_unit_args args = {"unit", ".", how->arguments, how->n_arguments, NULL};
  if (yoke__unit_create(yoke__models_find(NULL, name), &args, &s->arena, &s->unit, &err.sink) < 0) {
    fail_msg("%s: %s", name, err.text);
  }
}

static void close_subject(subject* s) {
  if (s->unit.self != NULL) {
    yoke__unit_terminate(&s->unit);
    yoke__unit_close(&s->unit);
  }
  yoke__arena_free(&s->arena);
  yoke__unit_store_destroy(&s->store);
}

static size_t find(const subject* s, const char* name) {
  const size_t i = yoke__unit_find(&s->unit, name);
  if (i == (size_t)-1) {
    fail_msg("there is no variable '%s'", name);
  }
  return i;
}

static const char* message_of(const subject* s) {
  return ((const fmu*)s->unit.self)->message;
}

static void put(const subject* s, const char* name, const void* value, size_t size) {
  if (yoke__unit_set(&s->unit, find(s, name), value, size) < 0) {
    fail_msg("setting '%s': %s", name, message_of(s));
  }
}

static void take(const subject* s, const char* name, void* value, size_t size) {
  if (yoke__unit_get(&s->unit, find(s, name), value, size) < 0) {
    fail_msg("getting '%s': %s", name, message_of(s));
  }
}

static void put_real(const subject* s, const char* name, double value) {
  put(s, name, &value, sizeof value);
}

static void put_whole(const subject* s, const char* name, int64_t value) {
  put(s, name, &value, sizeof value);
}

static double real_of(const subject* s, const char* name) {
  double value = 0;
  take(s, name, &value, sizeof value);
  return value;
}

static int64_t whole_of(const subject* s, const char* name) {
  int64_t value = 0;
  take(s, name, &value, sizeof value);
  return value;
}

static void begin(const subject* s, double t_start) {
  YOKE_CATCH(err);
  if (yoke__unit_enter_init(&s->unit, t_start, t_start + 1e5, &err.sink) < 0) {
    fail_msg("enter_init: %s", err.text);
  }
  if (yoke__unit_exit_init(&s->unit) < 0) {
    fail_msg("exit_init: %s", message_of(s));
  }
}

static yoke_status try_step(const subject* s, double t, double h, yoke_step_result* result) {
  *result = (yoke_step_result){.t_reached = t + h};
  return s->unit.ops->step(s->unit.self, t, h, result);
}

static uint32_t step(const subject* s, double t, double h) {
  yoke_step_result result;
  if (try_step(s, t, h, &result) < 0) {
    fail_msg("step from %.17g: %s", t, result.message);
  }
  return result.flags;
}

// ---------------------------------------------------------------------------------------------------------
// values

typedef struct number_case {
  const char* type;
  int64_t low, high;
} number_case;

static const number_case number_cases[] = {
    {"Int8", INT8_MIN, INT8_MAX},    {"UInt8", 0, UINT8_MAX},
    {"Int16", INT16_MIN, INT16_MAX}, {"UInt16", 0, UINT16_MAX},
    {"Int32", INT32_MIN, INT32_MAX}, {"UInt32", 0, UINT32_MAX},
    {"Int64", INT64_MIN, INT64_MAX},
};

static void name_of(char name[64], const char* type, const char* end) {
  (void)snprintf(name, 64, "%s_%s", type, end);
}

// the ends of each range arrive; one further is refused with a message and leaves the value as it was
static void test_integers_of_every_width(void** state) {
  (void)state;
  subject s;
  open_plain(&s, "feedthrough3");
  begin(&s, 0);
  for (size_t i = 0; i < COUNT(number_cases); i++) {
    const number_case* c = &number_cases[i];
    const int64_t values[] = {c->low, c->high};
    char in[64], out[64];
    name_of(in, c->type, "in");
    name_of(out, c->type, "out");
    for (size_t k = 0; k < 2; k++) {
      put_whole(&s, in, values[k]);
      step(&s, (double)(2 * i + k), 1);
      assert_true(whole_of(&s, out) == values[k]);
    }
    if (c->low == INT64_MIN) {
      continue;
    }
    const int64_t beyond[] = {c->low - 3, c->high + 1};
    for (size_t k = 0; k < 2; k++) {
      char expected[128];
      assert_int_equal(yoke__unit_set(&s.unit, find(&s, in), &beyond[k], sizeof beyond[k]),
                       YOKE_BAD_ARG);
      (void)snprintf(expected, sizeof expected, "%lld does not fit %s of '%s'",
                     (long long)beyond[k], c->type, in);
      assert_string_equal(message_of(&s), expected);
    }
    assert_true(whole_of(&s, out) == c->high);
  }
  // 2^64 - 1 keeps its bits
  put_whole(&s, "UInt64_in", -1);
  const size_t n_steps = 2 * COUNT(number_cases);
  step(&s, (double)n_steps, 1);
  assert_true(whole_of(&s, "UInt64_out") == -1);
  close_subject(&s);
}

static void test_booleans_and_enumerations(void** state) {
  (void)state;
  subject s;
  open_plain(&s, "feedthrough3");
  const yoke_variable* v = &s.unit.info->variables[find(&s, "Enumeration_in")];
  assert_string_equal(v->items[2], "high");
  // parameters as the description starts them: value 4 is item 1
  assert_int_equal(whole_of(&s, "Enumeration_parameter"), 1);
  assert_int_equal(whole_of(&s, "Boolean_parameter"), 1);
  put_whole(&s, "Enumeration_parameter", 2);
  begin(&s, 0);
  assert_int_equal(whole_of(&s, "Enumeration_parameter"), 2);
  put_whole(&s, "Boolean_in", 1);
  put_whole(&s, "Enumeration_in", 2);
  const int64_t choices[] = {1, 2}, flags[] = {0, 1}, numbers[] = {-1, 2, INT32_MAX};
  put(&s, "Enumeration_array_in", choices, sizeof choices);
  put(&s, "Boolean_array_in", flags, sizeof flags);
  put(&s, "Int32_array_in", numbers, sizeof numbers);
  step(&s, 0, 1);
  assert_int_equal(whole_of(&s, "Boolean_out"), 1);
  assert_int_equal(whole_of(&s, "Enumeration_out"), 2);
  int64_t got[3] = {-1, -1, -1};
  take(&s, "Enumeration_array_out", got, sizeof choices);
  assert_memory_equal(got, choices, sizeof choices);
  take(&s, "Boolean_array_out", got, sizeof flags);
  assert_memory_equal(got, flags, sizeof flags);
  take(&s, "Int32_array_out", got, sizeof numbers);
  assert_memory_equal(got, numbers, sizeof numbers);
  // no such item
  const int64_t none = 3;
  assert_int_equal(yoke__unit_set(&s.unit, find(&s, "Enumeration_in"), &none, sizeof none),
                   YOKE_BAD_ARG);
  close_subject(&s);
}

typedef struct blob {
  uint64_t n;
  unsigned char bytes[64];
} blob;

static void test_texts_and_binaries(void** state) {
  (void)state;
  subject s;
  open_plain(&s, "feedthrough3");
  char text[FMU_TEXT_SIZE] = "", pair[2][FMU_TEXT_SIZE] = {"", ""};
  char long_text[FMU_PARAMETER_SIZE] = "";
  take(&s, "String_parameter", long_text, sizeof long_text);
  assert_string_equal(long_text, "a parameter");
  blob block = {0}, blocks[2] = {{0}};
  take(&s, "Binary_parameter", &block, sizeof block);
  assert_int_equal(block.n, 3);
  assert_memory_equal(block.bytes, "\xca\xfe\x00", 3);
  begin(&s, 0);

  (void)snprintf(text, sizeof text, "100 %% of \xc3\xa4\xe2\x82\xac \"quoted\"");
  put(&s, "String_in", text, sizeof text);
  (void)snprintf(pair[1], sizeof pair[1], "second");
  put(&s, "String_array_in", pair, sizeof pair);
  block.n = 64;
  for (unsigned i = 0; i < 64; i++) {
    block.bytes[i] = (unsigned char)(3 * i);
  }
  put(&s, "Binary_in", &block, sizeof block);
  blocks[1] = (blob){2, {0, 255}};
  put(&s, "Binary_array_in", blocks, sizeof blocks);
  step(&s, 0, 1);

  char got[FMU_TEXT_SIZE], got_pair[2][FMU_TEXT_SIZE];
  take(&s, "String_out", got, sizeof got);
  assert_string_equal(got, text);
  take(&s, "String_array_out", got_pair, sizeof got_pair);
  assert_memory_equal(got_pair, pair, sizeof pair);
  blob got_block, got_blocks[2];
  take(&s, "Binary_out", &got_block, sizeof got_block);
  assert_memory_equal(&got_block, &block, sizeof block);
  take(&s, "Binary_array_out", got_blocks, sizeof got_blocks);
  assert_memory_equal(got_blocks, blocks, sizeof blocks);

  // more than there is room for
  block.n = 65;
  assert_int_equal(yoke__unit_set(&s.unit, find(&s, "Binary_in"), &block, sizeof block),
                   YOKE_BAD_ARG);
  check_contains(message_of(&s), "65 bytes do not fit the 64 of 'Binary_in'");
  close_subject(&s);
}

// Float64, Float32 and an array share one dense vector; a tunable parameter moves an output between steps
static void test_reals_in_one_vector(void** state) {
  (void)state;
  subject s;
  open_plain(&s, "feedthrough3");
  assert_int_equal(s.unit.n_u, 8);
  assert_int_equal(s.unit.n_y, 8);
  check_near(real_of(&s, "Float64_parameter"), 1.5, 0);
  begin(&s, 0);
  const double u[8] = {1.0 / 3.0, 0.1, 1, 2, 3, 4, 5, -1e300};
  double y[8] = {0};
  check_ok(yoke__unit_set_inputs(&s.unit, u));
  step(&s, 0, 1);
  check_ok(yoke__unit_get_outputs(&s.unit, y));
  check_near(y[0], 1.0 / 3.0, 0);
  check_near(y[1], (double)0.1f, 0);
  for (size_t i = 2; i < 8; i++) {
    check_near(y[i], u[i], 0);
  }
  check_near(real_of(&s, "Float32_out"), (double)0.1f, 0);
  put_real(&s, "bias", 10);
  step(&s, 1, 1);
  check_near(real_of(&s, "Float64_out"), 1.0 / 3.0 + 10, 0);
  close_subject(&s);
}

// ---------------------------------------------------------------------------------------------------------
// arrays shaped by arguments

// 2 inputs, 3 states, 1 output, in the FMU and in the native model, 1000 Euler steps
static void test_structural_parameters_shape_arrays(void** state) {
  (void)state;
  static const double A[] = {-1, 2, 0, 0, -3, 1, -0.5, 0, -2}, B[] = {1, 0, 0, 1, 0.5, -1};
  static const double C[] = {1, -2, 0.25}, D[] = {0, 0.125}, x0[] = {1, -1, 0.5};
  static const int64_t m = 2, n = 3, r = 1;
  const yoke_argument sizes[] = {
      {"m", YOKE_INTEGER, 1, 1, &m}, {"n", YOKE_INTEGER, 1, 1, &n}, {"r", YOKE_INTEGER, 1, 1, &r}};
  const yoke_argument matrices[] = {{"A", YOKE_REAL, 3, 3, A},
                                    {"B", YOKE_REAL, 3, 2, B},
                                    {"C", YOKE_REAL, 1, 3, C},
                                    {"D", YOKE_REAL, 1, 2, D},
                                    {"x0", YOKE_REAL, 3, 1, x0}};
  subject s, native;
  open_with(&s, "arrays3", &(opening){.arguments = sizes, .n_arguments = 3});
  open_native(&native, "state_space", &(opening){.arguments = matrices, .n_arguments = 5});
  put_whole(&native, "solver", 1);  // euler
  put(&s, "A", A, sizeof A);
  put(&s, "B", B, sizeof B);
  put(&s, "C", C, sizeof C);
  put(&s, "D", D, sizeof D);
  put(&s, "x0", x0, sizeof x0);
  assert_int_equal(s.unit.n_u, 2);
  assert_int_equal(s.unit.n_y, 1);
  begin(&s, 0);
  begin(&native, 0);
  double worst = 0;
  for (int k = 0; k < 1000; k++) {
    const double u[] = {sin(0.01 * k), 1.0 / (1 + k)};
    double y = 0, y_native = 0;
    check_ok(yoke__unit_set_inputs(&s.unit, u));
    check_ok(yoke__unit_set_inputs(&native.unit, u));
    step(&s, 0.01 * k, 0.01);
    step(&native, 0.01 * k, 0.01);
    check_ok(yoke__unit_get_outputs(&s.unit, &y));
    check_ok(yoke__unit_get_outputs(&native.unit, &y_native));
    worst = fmax(worst, fabs(y - y_native));
  }
  // both sum in their own order
  check_near(worst, 0, 1e-13);
  close_subject(&s);
  close_subject(&native);

  // a size that is none
  const int64_t bad = -1;
  const yoke_argument wrong = {"n", YOKE_INTEGER, 1, 1, &bad};
  YOKE_CATCH(err);
  assert_true(try_open(&s, "arrays3", &(opening){.arguments = &wrong, .n_arguments = 1}, &err.sink) < 0);
  check_contains(err.text, "'n' = -1 is no size");
  close_subject(&s);
}

// ---------------------------------------------------------------------------------------------------------
// event mode

// integral of a counter that rises at multiples of the period
static double stairs_integral(double t, double period, double counter) {
  return period * counter * (counter - 1) / 2 + (t - counter * period) * counter;
}

// period / h is no whole number, or one; with event mode and without the numbers are those of the formula
static void test_stairs(void** state) {
  (void)state;
  const struct {
    double period, h;
    int n;
  } cases[] = {{0.2, 0.03, 100}, {0.2, 0.1, 30}, {0.1 * 3.14159265358979, 0.01, 300}, {0.07, 1, 3}};
  for (size_t c = 0; c < COUNT(cases); c++) {
    for (int has_events = 0; has_events < 2; has_events++) {
      subject s;
      open_with(&s, "stairs3", &(opening){.is_event_mode_off = has_events == 0});
      assert_int_equal(yoke__unit_can_refresh(&s.unit), has_events);
      put_real(&s, "period", cases[c].period);
      begin(&s, 0);
      double before = 0;
      for (int k = 0; k < cases[c].n; k++) {
        const double t = (k + 1) * cases[c].h;
        const uint32_t flags = step(&s, k * cases[c].h, cases[c].h);
        const double counter = floor(t / cases[c].period + 1e-9);
        check_near((double)whole_of(&s, "counter"), counter, 0);
        check_near(real_of(&s, "x"), stairs_integral(t, cases[c].period, counter), 1e-12);
        if (has_events) {
          assert_int_equal(flags, counter > before ? YOKE_STEP_EVENT_NEEDED : 0);
        }
        before = counter;
      }
      close_subject(&s);
    }
  }
}

static void test_stairs_discrete_input_and_end(void** state) {
  (void)state;
  subject s;
  open_plain(&s, "stairs3");
  put_whole(&s, "last", 3);
  begin(&s, 0);
  double u = 0;
  check_ok(yoke__unit_set_inputs(&s.unit, &u));
  assert_int_equal(step(&s, 0, 0.1), 0);
  u = 4;
  check_ok(yoke__unit_set_inputs(&s.unit, &u));
  assert_int_equal(step(&s, 0.1, 0.05), YOKE_STEP_EVENT_NEEDED);
  check_near(real_of(&s, "y"), 8, 0);
  assert_int_equal(step(&s, 0.15, 0.35), YOKE_STEP_EVENT_NEEDED);
  // the third stair at 0.6 ends the run
  assert_int_equal(step(&s, 0.5, 0.5), YOKE_STEP_EVENT_NEEDED | YOKE_STEP_END_WANTED);
  assert_int_equal(whole_of(&s, "counter"), 3);
  close_subject(&s);
}

// Long runs from far away: 1e4 steps from t = 1e6 s, each stair where it belongs.
static void test_stairs_far_from_zero(void** state) {
  (void)state;
  subject s;
  open_plain(&s, "stairs3");
  put_real(&s, "period", 0.25);
  begin(&s, 1e6);
  for (int64_t k = 0; k < 10000; k++) {
    step(&s, 1e6 + (double)k * 1e-3, 1e-3);
    assert_int_equal(whole_of(&s, "counter"), (k + 1) / 250);
  }
  const fmu* f = s.unit.self;
  check_near(f->drift, 0, 0);
  close_subject(&s);
}

// ticks at 0, 0.1, 0.2, ... with steps of 0.03 s; the alarm shows in the step in which the sum passes a whole number
static void test_clocks(void** state) {
  (void)state;
  subject s;
  open_plain(&s, "clocks3");
  begin(&s, 0);
  assert_int_equal(whole_of(&s, "n"), 1);
  const double u = 0.3;
  int64_t alarms_before = 0;
  for (int k = 0; k < 1000; k++) {
    const double t = 0.03 * (k + 1);
    check_ok(yoke__unit_set_inputs(&s.unit, &u));
    step(&s, 0.03 * k, 0.03);
    // the first tick came before there was an input
    const int64_t n = 1 + (int64_t)floor(t / 0.1 + 1e-9);
    double sum = 0;
    for (int64_t i = 1; i < n; i++) {
      sum += u;
    }
    const int64_t n_alarms = (int64_t)floor(sum);
    assert_int_equal(whole_of(&s, "n"), n);
    double y = 0;
    check_ok(yoke__unit_get_outputs(&s.unit, &y));
    check_near(y, sum, 0);
    assert_int_equal(whole_of(&s, "n_alarms"), n_alarms);
    assert_int_equal(whole_of(&s, "alarm"), n_alarms > alarms_before);
    alarms_before = n_alarms;
  }
  close_subject(&s);
}

static void test_intermediate_update_is_taken_and_left_alone(void** state) {
  (void)state;
  subject s;
  open_plain(&s, "intermediate3");
  assert_null(s.unit.ops->refresh);
  begin(&s, 0);
  const double u = 2;
  check_ok(yoke__unit_set_inputs(&s.unit, &u));
  for (int k = 0; k < 8; k++) {
    assert_int_equal(step(&s, 0.5 * k, 0.5), 0);
  }
  check_near(real_of(&s, "y"), 8, 0);
  assert_int_equal(whole_of(&s, "n_calls"), 32);
  close_subject(&s);
}

// ---------------------------------------------------------------------------------------------------------
// faults

enum {
  NONE,
  DISCARD,
  ERROR,
  FATAL,
  WARNING,
  IS_NAN = 10,
  LATE = 11,
  LOG = 12,
  NULL_STRING = 13,
  END = 16
};

static void open_faulty(subject* s, int what) {
  open_plain(s, "faulty3");
  put_whole(s, "what", what);
  begin(s, 0);
  step(s, 0, 0.5);
}

static heard report_of(const subject* s) {
  HEAR(h);
  s->unit.ops->report(s->unit.self, &h.sink);
  return h;
}

static void test_faults_in_a_step(void** state) {
  (void)state;
  subject s;
  yoke_step_result result;
  open_faulty(&s, DISCARD);
  check_ok(try_step(&s, 0.5, 0.5, &result));
  assert_int_equal(result.flags, YOKE_STEP_DISCARDED);
  check_near(result.t_reached, 0.5, 0);
  // the unit is as it was: its outputs can still be read
  assert_int_equal(whole_of(&s, "n_steps"), 1);
  close_subject(&s);

  open_faulty(&s, ERROR);
  assert_int_equal(try_step(&s, 0.5, 0.5, &result), YOKE_UNIT_FAILED);
  check_contains(result.message, "fmi3DoStep returned error");
  check_contains(result.message, "told to fail at 0.5 s");
  close_subject(&s);

  open_faulty(&s, WARNING);
  assert_int_equal(step(&s, 0.5, 0.5), 0);
  heard h = report_of(&s);
  assert_int_equal(h.n_of[YOKE_WARNING], 1);
  check_contains(h.text, "told to warn at 0.5 s");
  close_subject(&s);

  open_faulty(&s, END);
  assert_int_equal(step(&s, 0.5, 0.5), YOKE_STEP_END_WANTED);
  close_subject(&s);
}

// No call is allowed afterwards, not even to free the instance: it is lost, and a leak checker would say so.
static void test_fatal_ends_all_calls(void** state) {
  (void)state;
#if HAS_OWN_MALLOC
  subject s;
  yoke_step_result result;
  open_faulty(&s, FATAL);
  assert_int_equal(try_step(&s, 0.5, 0.5, &result), YOKE_UNIT_FAILED);
  check_contains(result.message, "fmi3DoStep returned fatal");
  double y = 0;
  assert_int_equal(yoke__unit_get(&s.unit, find(&s, "y"), &y, sizeof y), YOKE_UNIT_FAILED);
  close_subject(&s);
#else
  skip();
#endif
}

static void test_odd_values(void** state) {
  (void)state;
  subject s;
  open_faulty(&s, IS_NAN);
  step(&s, 0.5, 0.5);
  double y[2] = {0};
  check_ok(yoke__unit_get_outputs(&s.unit, y));
  assert_true(isnan(y[0]));
  close_subject(&s);

  open_faulty(&s, NULL_STRING);
  step(&s, 0.5, 0.5);
  char text[FMU_TEXT_SIZE];
  memset(text, 'x', sizeof text);
  take(&s, "text", text, sizeof text);
  assert_string_equal(text, "");
  close_subject(&s);

  // a message with per cent signs and without a category arrives as it is
  open_faulty(&s, LOG);
  step(&s, 0.5, 0.5);
  heard h = report_of(&s);
  check_contains(h.text, "50 %d of %s done at %n");
  close_subject(&s);

  // its own time is half a step behind
  open_faulty(&s, LATE);
  step(&s, 0.5, 0.5);
  step(&s, 1.0, 0.5);
  const fmu* f = s.unit.self;
  check_near(f->drift, -0.25, 1e-12);
  h = report_of(&s);
  check_contains(h.text, "its own clock is off by -0.25 s");
  close_subject(&s);
}

static void test_a_failing_instance_says_why(void** state) {
  (void)state;
  subject s;
  open_plain(&s, "faulty3");
  put_whole(&s, "what", ERROR);
  put_whole(&s, "where", 1);
  YOKE_CATCH(err);
  check_ok(yoke__unit_enter_init(&s.unit, 0, 1, &err.sink));
  assert_int_equal(yoke__unit_exit_init(&s.unit), YOKE_UNIT_FAILED);
  check_contains(message_of(&s), "fmi3ExitInitializationMode returned error");
  close_subject(&s);
}

// ---------------------------------------------------------------------------------------------------------
// states and derivatives

static void walk(const subject* s, double t, int n, double y[]) {
  for (int k = 0; k < n; k++) {
    const double u[] = {sin(t + 0.01 * k), cos(t)};
    check_ok(yoke__unit_set_inputs(&s->unit, u));
    step(s, t + 0.01 * k, 0.01);
  }
  check_ok(yoke__unit_get_outputs(&s->unit, y));
}

// image, restore; bytes, restore into another instance: the same to the last bit
static void check_rollback(const char* name) {
  subject s, other;
  open_plain(&s, name);
  begin(&s, 0);
  double first[8] = {0}, again[8] = {0};
  walk(&s, 0, 33, first);
  const size_t size = yoke__unit_image_size(&s.unit);
  assert_true(size > 0);
  unsigned char* image = calloc(1, size + 1);
  check_ok(yoke__unit_save(&s.unit, image, size));
  size_t n_bytes = 1 << 20;
  unsigned char* bytes = malloc(n_bytes);
  check_ok(s.unit.ops->serialise(s.unit.self, bytes, &n_bytes));
  walk(&s, 0.33, 50, first);
  for (int k = 0; k < 3; k++) {
    check_ok(yoke__unit_restore(&s.unit, image, size));
    walk(&s, 0.33, 50, again);
    assert_memory_equal(again, first, s.unit.n_y * sizeof *first);
    // an image is written again in the same room
    check_ok(yoke__unit_restore(&s.unit, image, size));
    check_ok(yoke__unit_save(&s.unit, image, size));
  }
  open_plain(&other, name);
  begin(&other, 0);
  check_ok(other.unit.ops->deserialise(other.unit.self, bytes, n_bytes));
  walk(&other, 0.33, 50, again);
  assert_memory_equal(again, first, s.unit.n_y * sizeof *first);
  // too little room
  size_t little = 3;
  assert_int_equal(s.unit.ops->serialise(s.unit.self, bytes, &little), YOKE_FULL);
  free(image);
  free(bytes);
  close_subject(&other);
  close_subject(&s);
}

static void test_rollback(void** state) {
  (void)state;
  check_rollback("oscillator_force3");
  check_rollback("stairs3");
}

// f = kc (x - x_other) + cc (v - v_other)
static void test_directional_derivative(void** state) {
  (void)state;
  subject s;
  open_plain(&s, "oscillator_force3");
  put_real(&s, "kc", 70);
  put_real(&s, "cc", 3);
  begin(&s, 0);
  const size_t unknowns[] = {find(&s, "f"), find(&s, "x")};
  const size_t knowns[] = {find(&s, "x_other"), find(&s, "v_other")};
  const double seed[] = {2, -1};
  double out[] = {-1, -1};
  check_ok(s.unit.ops->derivative(s.unit.self, unknowns, 2, knowns, 2, seed, out));
  check_near(out[0], -70.0 * 2 + 3, 0);
  check_near(out[1], 0, 0);
  close_subject(&s);
}

// ---------------------------------------------------------------------------------------------------------
// CS-27: the linear oscillator, coupled here by hand (Jacobi, hold), as FMUs and native

typedef struct pair {
  subject left, right;
  size_t y_left[3], y_right[2];  // f, x, v; x, v
} pair;

static void open_pair(pair* p, bool is_native) {
  if (is_native) {
    open_native(&p->left, "oscillator.force", &(opening){0});
    open_native(&p->right, "oscillator.mass", &(opening){0});
  } else {
    open_plain(&p->left, "oscillator_force3");
    open_plain(&p->right, "oscillator_mass3");
  }
  put_real(&p->left, "v", 100);
  put_real(&p->left, "c", 0.3);
  put_real(&p->left, "cc", 0.1);
  put_real(&p->right, "k", 1000);
  put_real(&p->right, "x", 0.01);
  const char* const left_names[] = {"f", "x", "v"};
  for (size_t i = 0; i < 3; i++) {
    p->y_left[i] = p->left.unit.dense[find(&p->left, left_names[i])];
  }
  p->y_right[0] = p->right.unit.dense[find(&p->right, "x")];
  p->y_right[1] = p->right.unit.dense[find(&p->right, "v")];
  YOKE_CATCH(err);
  const double u_left[] = {0.01, 0}, u_right = 0;
  check_ok(yoke__unit_enter_init(&p->left.unit, 0, 10, &err.sink));
  check_ok(yoke__unit_enter_init(&p->right.unit, 0, 10, &err.sink));
  check_ok(yoke__unit_set_inputs(&p->left.unit, u_left));
  check_ok(yoke__unit_set_inputs(&p->right.unit, &u_right));
  if (is_native) {
    check_ok(p->left.unit.ops->refresh(p->left.unit.self, 0));
  }
  check_ok(yoke__unit_exit_init(&p->left.unit));
  check_ok(yoke__unit_exit_init(&p->right.unit));
}

// y: f, x, v of the left, x, v of the right
static void exchange(const pair* p, double y[5]) {
  double left[8], right[8];
  check_ok(yoke__unit_get_outputs(&p->left.unit, left));
  check_ok(yoke__unit_get_outputs(&p->right.unit, right));
  for (size_t i = 0; i < 3; i++) {
    y[i] = left[p->y_left[i]];
  }
  y[3] = right[p->y_right[0]];
  y[4] = right[p->y_right[1]];
  check_ok(yoke__unit_set_inputs(&p->left.unit, &y[3]));
  check_ok(yoke__unit_set_inputs(&p->right.unit, &y[0]));
}

static void test_oscillator_equals_native_cs27(void** state) {
  (void)state;
  pair fmus, native;
  open_pair(&fmus, false);
  open_pair(&native, true);
  // dependencies of the description are the feedthrough of the native unit
  const subject* both[] = {&fmus.left, &native.left};
  for (size_t i = 0; i < 2; i++) {
    const yoke_unit* u = &both[i]->unit;
    assert_int_equal(u->info->n_feedthrough, 2);
    assert_true(yoke__unit_has_feedthrough(u, find(both[i], "f"), find(both[i], "x_other")));
    assert_true(yoke__unit_has_feedthrough(u, find(both[i], "f"), find(both[i], "v_other")));
  }
  double worst = 0, scale = 0;
  for (int k = 0; k < 10000; k++) {
    double y[5], y_native[5];
    exchange(&fmus, y);
    exchange(&native, y_native);
    for (size_t i = 0; i < 5; i++) {
      worst = fmax(worst, fabs(y[i] - y_native[i]));
      scale = fmax(scale, fabs(y_native[i]));
    }
    const double t = (double)k * 1e-3;
    step(&fmus.left, t, 1e-3);
    step(&fmus.right, t, 1e-3);
    step(&native.left, t, 1e-3);
    step(&native.right, t, 1e-3);
  }
  assert_true(scale > 100);
  check_near(worst, 0, 1e-12);
  close_subject(&fmus.left);
  close_subject(&fmus.right);
  close_subject(&native.left);
  close_subject(&native.right);
}

// ---------------------------------------------------------------------------------------------------------
// set, step and get in one call: the same numbers and flags as the three of them

static void check_advance(const char* name) {
  subject three, one;
  open_plain(&three, name);
  open_plain(&one, name);
  begin(&three, 0);
  begin(&one, 0);
  for (int k = 0; k < 200; k++) {
    const double t = 0.03 * k;
    double u[8], y[8] = {0}, y_one[8] = {0};
    for (int i = 0; i < 8; i++) {
      u[i] = sin(t + i);
    }
    check_ok(yoke__unit_set_inputs(&three.unit, u));
    const uint32_t flags = step(&three, t, 0.03);
    check_ok(yoke__unit_get_outputs(&three.unit, y));
    yoke_step_result result = {.t_reached = t + 0.03};
    check_ok(one.unit.ops->advance(one.unit.self, t, 0.03, u, y_one, &result));
    assert_int_equal(result.flags, flags);
    assert_memory_equal(y_one, y, sizeof y);
  }
  close_subject(&three);
  close_subject(&one);
}

static void test_advance_equals_the_three_calls(void** state) {
  (void)state;
  check_advance("oscillator_force3");
  check_advance("feedthrough3");
  check_advance("stairs3");
  check_advance("clocks3");

  subject s;
  double u = 0, y[2];
  yoke_step_result result = {.t_reached = 1};
  open_faulty(&s, ERROR);
  assert_int_equal(s.unit.ops->advance(s.unit.self, 0.5, 0.5, &u, y, &result), YOKE_UNIT_FAILED);
  check_contains(result.message, "fmi3DoStep returned error");
  close_subject(&s);
  open_faulty(&s, DISCARD);
  result = (yoke_step_result){.t_reached = 1};
  check_ok(s.unit.ops->advance(s.unit.self, 0.5, 0.5, &u, y, &result));
  assert_int_equal(result.flags, YOKE_STEP_DISCARDED);
  close_subject(&s);
}

// ---------------------------------------------------------------------------------------------------------
// the step path takes no memory

#if HAS_OWN_MALLOC
static void check_no_heap(const char* name, const char* typed) {
  subject s;
  open_plain(&s, name);
  begin(&s, 0);
  double u[8] = {0}, y[8];
  yoke_step_result result;
  int64_t whole = 0;
  const size_t variable = typed == NULL ? 0 : find(&s, typed);
  heap = (failing_heap){.is_on = true, .fails_at = -1};
  yoke_status status = YOKE_OK;
  for (int k = 0; k < 1000 && status >= 0; k++) {
    whole = k / 5;
    u[0] = (double)whole;
    status = yoke__unit_set_inputs(&s.unit, u);
    if (status >= 0 && typed != NULL) {
      status = yoke__unit_set(&s.unit, variable, &whole, sizeof whole);
    }
    status = status < 0 ? status : try_step(&s, 0.02 * k, 0.01, &result);
    status = status < 0 ? status : yoke__unit_get_outputs(&s.unit, y);
    status = status < 0 ? status
                        : s.unit.ops->advance(s.unit.self, 0.02 * k + 0.01, 0.01, u, y, &result);
  }
  heap.is_on = false;
  check_ok(status);
  if (heap.n_requests != 0) {
    fail_msg("%s: %ld requests of memory in 2000 steps", name, heap.n_requests);
  }
  close_subject(&s);
}
#endif

static void test_steps_take_no_memory(void** state) {
  (void)state;
#if HAS_OWN_MALLOC
  check_no_heap("oscillator_force3", NULL);
  check_no_heap("feedthrough3", "Int32_in");
  check_no_heap("stairs3", NULL);
  check_no_heap("clocks3", NULL);
  check_no_heap("intermediate3", NULL);
#else
  skip();
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_integers_of_every_width),
      cmocka_unit_test(test_booleans_and_enumerations),
      cmocka_unit_test(test_texts_and_binaries),
      cmocka_unit_test(test_reals_in_one_vector),
      cmocka_unit_test(test_structural_parameters_shape_arrays),
      cmocka_unit_test(test_stairs),
      cmocka_unit_test(test_stairs_discrete_input_and_end),
      cmocka_unit_test(test_stairs_far_from_zero),
      cmocka_unit_test(test_clocks),
      cmocka_unit_test(test_intermediate_update_is_taken_and_left_alone),
      cmocka_unit_test(test_faults_in_a_step),
      cmocka_unit_test(test_fatal_ends_all_calls),
      cmocka_unit_test(test_odd_values),
      cmocka_unit_test(test_a_failing_instance_says_why),
      cmocka_unit_test(test_rollback),
      cmocka_unit_test(test_directional_derivative),
      cmocka_unit_test(test_oscillator_equals_native_cs27),
      cmocka_unit_test(test_advance_equals_the_three_calls),
      cmocka_unit_test(test_steps_take_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
