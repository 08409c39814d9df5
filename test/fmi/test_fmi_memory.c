// Out of memory at every single allocation: the reader says so, leaves nothing behind and does not crash. The n-th call
// fails, and in a second run all calls from the n-th on. Sanitizers bring their own heap: skipped there.
#include "base/base_message.h"
#include "fmi/fmi_helper.h"
#include "support/failing_heap.h"

#if HAS_OWN_MALLOC

// Reads with a heap that fails at call n; true if it was never asked that often.
static bool read_with_failure(const char* xml, const char* terminals, long n, bool fails_onwards) {
  yoke_messages messages = {0};
  yoke_fmi_description* d = NULL;
  heap.n_requests = heap.n_blocks = 0;
  heap.fails_at = n;
  heap.fails_onwards = fails_onwards;
  heap.is_on = true;
  yoke_status status = yoke__fmi_read(xml, strlen(xml), "m.fmu", &messages, &d);
  if (status >= 0) {
    status = yoke__fmi_read_terminals(d, terminals, strlen(terminals), "m.fmu", &messages);
  }
  const bool is_done = heap.n_requests <= n;
  yoke__fmi_free(&d);
  yoke__messages_free(&messages);
  heap.is_on = false;
  if (heap.n_blocks != 0) {
    fail_msg("call %ld failed: %ld blocks are left over", n, heap.n_blocks);
  }
  // a refused message does not change the outcome
  if (!(is_done ? status == YOKE_OK : status == YOKE_NO_MEMORY || status == YOKE_OK)) {
    fail_msg("call %ld failed: status %d (%s)", n, (int)status, yoke_status_text(status));
  }
  return is_done;
}

static void try_all(const char* name) {
  static const char terminals[] =
      "<fmiTerminalsAndIcons><Terminals><Terminal name=\"a\" matchingRule=\"bus\">"
      "<TerminalMemberVariable variableName=\"time\" variableKind=\"signal\"/></Terminal>"
      "</Terminals></fmiTerminalsAndIcons>";
  const char* root = getenv("YOKE_SOURCE_DIR");
  char path[1024];
  YOKE_CATCH(err);
  snprintf(path, sizeof path, "%s/test/fmi/data/%s", root == NULL ? "../../.." : root, name);
  char* bytes = NULL;
  size_t n_bytes = 0;
  check_ok(yoke__os_read_file(path, 1 << 20, &bytes, &n_bytes, &err.sink));
  for (int mode = 0; mode < 2; mode++) {
    long n = 0;
    while (!read_with_failure(bytes, terminals, n, mode == 1)) {
      n++;
    }
    print_message("%s: %ld allocations refused in turn\n", name, n);
    assert_true(n > 10);
  }
  free(bytes);
}

static void test_all_versions(void** state) {
  (void)state;
  try_all("full1.xml");
  try_all("full2.xml");
  try_all("full3.xml");
}

#else

static void test_all_versions(void** state) {
  (void)state;
  skip();
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_versions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
