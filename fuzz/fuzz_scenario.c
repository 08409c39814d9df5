// Fuzz target: any bytes as a system file, with texts of --set.
//
// Input: lines that start with "#set " at the beginning are settings (they are comments for the
// file itself, so an input is a readable system file), then the file. After a good reading all
// settings are converted to every type, as src/system would.
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/scenario.h"

#define MAX_SETS       8
#define MAX_SET_LENGTH 256

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

// Copies the settings of the first lines into sets; returns their number.
static size_t take_sets(const char* text, size_t n, char sets[MAX_SETS][MAX_SET_LENGTH]) {
  static const char mark[] = "#set ";
  const size_t n_mark = sizeof mark - 1;
  size_t n_sets = 0, at = 0;
  while (n_sets < MAX_SETS && n - at > n_mark && memcmp(text + at, mark, n_mark) == 0) {
    at += n_mark;
    const char* end = memchr(text + at, '\n', n - at);
    const size_t length = end == NULL ? n - at : (size_t)(end - (text + at));
    const size_t kept = length < MAX_SET_LENGTH ? length : MAX_SET_LENGTH - 1;
    memcpy(sets[n_sets], text + at, kept);
    sets[n_sets++][kept] = '\0';
    at += length + (end != NULL);
  }
  return n_sets;
}

// Every value as every type; only the answer "good or reported" is checked.
static void convert(const yoke_setting* settings, size_t n, yoke_messages* messages) {
  static const char* const items[] = {"off", "on", NULL};
  for (size_t i = 0; i < n; i++) {
    for (int type = YOKE_REAL; type <= YOKE_BINARY; type++) {
      yoke_arena arena = {0};
      void* values = NULL;
      size_t n_rows = 0, n_cols = 0;
      const size_t n_errors = messages->n_errors;
      const yoke_status status =
          yoke__node_values(settings[i].value, (yoke_type)type, items, settings[i].name, &arena,
                            messages, &values, &n_rows, &n_cols);
      if ((status == YOKE_OK) != (messages->n_errors == n_errors) ||
          (status == YOKE_OK) != (values != NULL)) {
        abort();
      }
      yoke__arena_free(&arena);
    }
  }
}

static void use(const yoke_scenario* s, yoke_messages* messages) {
  for (size_t i = 0; i < s->n_units; i++) {
    convert(s->units[i].with, s->units[i].n_with, messages);
    convert(s->units[i].start, s->units[i].n_start, messages);
  }
  for (size_t i = 0; i < s->n_record_signals && i < 100; i++) {
    (void)yoke__glob_match(s->record_signals[i].text, "left.x[0]");
  }

  // what a description promises
  if (s->n_units == 0 || !(s->step.value > 0) || !(s->stop.value > s->start.value)) {
    abort();
  }
  for (size_t i = 0; i < s->n_connections; i++) {
    const yoke_scenario_connection* c = &s->connections[i];
    if (c->from.unit == NULL || c->to.variable == NULL || c->order < 0 || c->order > 3) {
      abort();
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  char texts[MAX_SETS][MAX_SET_LENGTH];
  const char* sets[MAX_SETS] = {0};
  const char* text = n == 0 ? "" : (const char*)bytes;
  const size_t n_sets = take_sets(text, n, texts);
  for (size_t i = 0; i < n_sets; i++) {
    sets[i] = texts[i];
  }

  yoke_messages messages = {0};
  yoke_scenario* s = NULL;
  const yoke_status status =
      yoke__scenario_read(text, n, "fuzz/fuzz.yaml", sets, n_sets, &messages, &s);
  if ((status == YOKE_OK) != (s != NULL) || (status == YOKE_BAD_INPUT) != (messages.n_errors > 0)) {
    abort();
  }
  if (s != NULL) {
    use(s, &messages);
  }
  char out[4096];
  yoke__messages_format(&messages, out, sizeof out);
  yoke__scenario_free(&s);
  yoke__messages_free(&messages);
  return 0;
}
