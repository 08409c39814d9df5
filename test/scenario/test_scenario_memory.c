// Out of memory at every single allocation: the reader says so, leaves nothing behind and does not
// crash. The n-th call fails, and in a second run all calls from the n-th on.
//
// The program brings its own malloc family in front of glibc's. Sanitizers do the same, so there the
// test is skipped.
#include "scenario_helper.h"
#include "support/failing_heap.h"

#if HAS_OWN_MALLOC

typedef struct input {
  const char* text;
  const char* sets[3];
  size_t n_sets;
  yoke_status expected;  // with enough memory
} input;

// Reads with a heap that fails at call n; true if it was never asked that often.
static bool read_with_failure(const input* in, long n, bool fails_onwards) {
  yoke_messages messages = {0};
  yoke_scenario* s = NULL;
  heap.n_requests = heap.n_blocks = 0;
  heap.fails_at = n;
  heap.fails_onwards = fails_onwards;
  heap.is_on = true;
  const yoke_status status = yoke__scenario_read(in->text, strlen(in->text), "m.yaml", in->sets,
                                                 in->n_sets, &messages, &s);
  const bool is_done = heap.n_requests <= n;
  const bool has_result = s != NULL;
  yoke__scenario_free(&s);
  yoke__messages_free(&messages);
  heap.is_on = false;
  if (heap.n_blocks != 0) {
    fail_msg("call %ld failed: %ld blocks are left over", n, heap.n_blocks);
  }

  // a refused message does not change what is wrong with the file
  const bool is_expected = status == in->expected && has_result == (status == YOKE_OK);
  const bool is_short = status == YOKE_NO_MEMORY && !has_result;
  if (!(is_done ? is_expected : is_short || is_expected)) {
    fail_msg("call %ld failed: status %d (%s)", n, (int)status, yoke_status_text(status));
  }
  return is_done;
}

static void try_all(const input* in) {
  for (int mode = 0; mode < 2; mode++) {
    long n = 0;
    while (!read_with_failure(in, n, mode == 1)) {
      n++;
    }
    print_message("%ld allocations refused in turn\n", n);
    assert_true(n > 10);
  }
}

static char large[40000];

static void test_good_file(void** state) {
  (void)state;
  // large enough for several blocks of the arena, sorted duplicate search included
  size_t n = (size_t)snprintf(large, sizeof large, "yoke: 1\ntime: {stop: 1, step: 1}\nunits:\n");
  for (int i = 0; i < 120; i++) {
    n += (size_t)snprintf(large + n, sizeof large - n, "  u%d: {model: m, with: {k: [1, 2]}}\n", i);
  }
  snprintf(large + n, sizeof large - n,
           "laws: {l: {law: s}}\norder: [u1, u2]\nconnections: [u1.x -> u2.y, "
           "{from: u1.x, to: u3.y}]\nbonds: {b: {action: u1.f, rate: [u1.v]}}\n"
           "couplings: {c: {method: m, members: [u1, u2]}}\nrecord: {formats: csv}\n"
           "trust: {signals: [u1.x, u2.x], limits: {u1.x: 1, u2.x: 2}}\n");
  const input in = {
      large, {"time.stop=2", "connections[0].gain=2", "units.u1.with.k=[3, 4]"}, 3, YOKE_OK};
  try_all(&in);
}

static void test_file_with_errors(void** state) {
  (void)state;
  const input in = {"yoke: 2\ntime: {stop: *a, step: 0}\nunits: {a: {fmu: x}, a: {}, b: !t 3}\n"
                    "connections: [x, {from: y}]\nfoo: 1\n",
                    {"time.stpo=2", "units.c.step=1", "x"},
                    3,
                    YOKE_BAD_INPUT};
  try_all(&in);
}

static void test_syntax_error(void** state) {
  (void)state;
  const input in = {"yoke: 1\nunits: [a, {b: \"c\n", {NULL}, 0, YOKE_BAD_INPUT};
  try_all(&in);
}

#else

static void test_skipped(void** state) {
  (void)state;
  skip();
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {
#if HAS_OWN_MALLOC
    cmocka_unit_test(test_good_file),
    cmocka_unit_test(test_file_with_errors),
    cmocka_unit_test(test_syntax_error),
#else
    cmocka_unit_test(test_skipped),
#endif
  };
  return cmocka_run_group_tests_name("scenario_memory", tests, NULL, NULL);
}
