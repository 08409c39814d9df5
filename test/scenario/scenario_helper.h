// Reads a system file from memory and keeps its messages as text, for the tests of this folder.
#ifndef YOKE_TEST_SCENARIO_HELPER_H
#define YOKE_TEST_SCENARIO_HELPER_H

#include "scenario/scenario.h"
#include "support/check.h"

typedef struct reading {
  yoke_status status;
  yoke_scenario* scenario;  // NULL after errors
  size_t n_errors, n_warnings;
  char text[65536];  // all messages, one per line, sorted by position
} reading;

// The caller ends with reading_free.
static inline reading* reading_of_bytes(const char* bytes, size_t n, const char* const sets[],
                                        size_t n_sets) {
  reading* r = calloc(1, sizeof *r);
  assert_non_null(r);
  yoke_messages messages = {0};
  r->status = yoke__scenario_read(bytes, n, "dir/t.yaml", sets, n_sets, &messages, &r->scenario);
  yoke__messages_format(&messages, r->text, sizeof r->text);
  r->n_errors = messages.n_errors;
  r->n_warnings = messages.n_warnings;
  yoke__messages_free(&messages);

  // a result comes exactly without errors
  assert_true((r->status == YOKE_OK) == (r->scenario != NULL));
  assert_true((r->status == YOKE_BAD_INPUT) == (r->n_errors > 0));
  return r;
}

static inline reading* reading_of(const char* text) {
  return reading_of_bytes(text, strlen(text), NULL, 0);
}

static inline void reading_free(reading* r) {
  yoke__scenario_free(&r->scenario);
  assert_null(r->scenario);
  free(r);
}

// A text is good: no message at all.
static inline reading* reading_good(const char* text) {
  reading* r = reading_of(text);
  if (r->status != YOKE_OK || r->text[0] != '\0') {
    fail_msg("status %d, messages:\n%s\nof the file:\n%s", (int)r->status, r->text, text);
  }
  return r;
}

// A text gives exactly these messages. "dir/t.yaml:" in front of each expected line is added here.
static inline void check_messages(const char* text, const char* expected) {
  char want[65536] = "";
  size_t used = 0;
  for (const char* line = expected; *line != '\0';) {
    const int n = (int)strcspn(line, "\n");
    const int length =
        snprintf(want + used, sizeof want - used, "%s%.*s\n", "dir/t.yaml:", n, line);
    assert_true(length > 0 && (size_t)length < sizeof want - used);
    used += (size_t)length;
    line += n + (line[n] == '\n');
  }
  reading* r = reading_of(text);
  if (strcmp(r->text, want) != 0) {
    fail_msg("of the file:\n%s\ngot:\n%sexpected:\n%s", text, r->text, want);
  }
  reading_free(r);
}

#endif
