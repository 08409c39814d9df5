// What the tests of src/system share: texts of systems, refusals, and a unit type made up for one test.
#ifndef YOKE_TEST_SYSTEM_FIXTURE_H
#define YOKE_TEST_SYSTEM_FIXTURE_H

#include "support/check.h"
#include "support/sim.h"
#include "unit/unit_models.h"

#define HEAD "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 1e-3}\n"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// The built-in models and those of the test.
static inline yoke_registry* fixture_models(const yoke_unit_ops* const ops[], size_t n) {
  yoke_registry* models = NULL;
  check_ok(yoke_registry_create(&models));
  for (size_t i = 0; i < n; i++) {
    check_ok(yoke_registry_add_unit(models, ops[i], NULL));
  }
  return models;
}

// A system that must be accepted, with models of the test.
static inline sim fixture_open(const yoke_registry* models, const char* text) {
  sim s;
  char messages[4096];
  if (sim_try(models, text, &s, messages, sizeof messages) < 0) {
    fail_msg("the system was refused:\n%s\n%s", messages, text);
  }
  return s;
}

// A system that must be refused with `status`; parts: pieces of the messages, NULL behind the last.
static inline void fixture_refuse(const yoke_registry* models, const char* text, yoke_status status,
                                  const char* const parts[]) {
  sim s;
  char messages[4096];
  const yoke_status got = sim_try(models, text, &s, messages, sizeof messages);
  sim_close(&s);
  if (got != status) {
    fail_msg("status %d (%s), expected %d:\n%s\n%s", (int)got, yoke_status_text(got), (int)status,
             messages, text);
  }
  for (size_t i = 0; parts[i] != NULL; i++) {
    check_contains(messages, parts[i]);
  }
}

#define refuse(models, text, ...)                                                                  \
  fixture_refuse(models, text, YOKE_BAD_INPUT, (const char* const[]){__VA_ARGS__, NULL})

static inline size_t fixture_unit(const sim* s, const char* name) {
  const size_t unit = yoke__map_find(&s->system->unit_index, name);
  if (unit == YOKE_NOT_FOUND) {
    fail_msg("no unit '%s'", name);
  }
  return unit;
}

#endif
