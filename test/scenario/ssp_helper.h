// Reads an SSP and shows what came out as text, for the tests of this folder.
//
//   unit left fmu resources/left.fmu k=1 list=[1 2] title='x'
//   left.f -> right.f gain -2 offset 0.5
#ifndef YOKE_TEST_SSP_HELPER_H
#define YOKE_TEST_SSP_HELPER_H

#include "base/base_zip.h"
#include "scenario/scenario.h"
#include "support/check.h"

typedef struct ssp_reading {
  yoke_status status;
  yoke_scenario* scenario;  // NULL after errors
  size_t n_errors, n_warnings;
  char messages[65536];
  char text[65536];  // the description
  size_t n_text;
} ssp_reading;

#define SSP_SAY(r, ...)                                                                            \
  do {                                                                                             \
    const size_t say_left = sizeof(r)->text - (r)->n_text;                                         \
    const int say_n = snprintf((r)->text + (r)->n_text, say_left, __VA_ARGS__);                    \
    assert_true(say_n >= 0 && (size_t)say_n < say_left);                                           \
    (r)->n_text += (size_t)say_n;                                                                  \
  } while (0)

// A scalar, or a list of scalars or of lists of them.
static inline void ssp_show_value(ssp_reading* r, const yoke_node* node) {
  if (node->kind == YOKE_NODE_SCALAR) {
    SSP_SAY(r, node->is_quoted ? "'%s'" : "%s", node->text);
    return;
  }
  SSP_SAY(r, "[");
  for (const yoke_node* at = node->first; at != NULL; at = at->next) {
    if (at->kind == YOKE_NODE_LIST) {
      SSP_SAY(r, "[");
      for (const yoke_node* in = at->first; in != NULL; in = in->next) {
        SSP_SAY(r, "%s%s", in->text, in->next == NULL ? "" : " ");
      }
      SSP_SAY(r, "]");
    } else {
      SSP_SAY(r, "%s", at->text);
    }
    SSP_SAY(r, at->next == NULL ? "" : " ");
  }
  SSP_SAY(r, "]");
}

static inline void ssp_show(ssp_reading* r) {
  const yoke_scenario* s = r->scenario;
  for (size_t i = 0; i < s->n_units; i++) {
    const yoke_scenario_unit* u = &s->units[i];
    SSP_SAY(r, "unit %s %s %s", u->name, yoke_unit_kind_text(u->kind), u->type);
    if (u->step.is_given) {
      SSP_SAY(r, " step %g", u->step.value);
    }
    for (size_t j = 0; j < u->n_values; j++) {
      SSP_SAY(r, " %s=", u->values[j].name);
      ssp_show_value(r, u->values[j].value);
    }
    SSP_SAY(r, "\n");
  }
  for (size_t i = 0; i < s->n_connections; i++) {
    const yoke_scenario_connection* c = &s->connections[i];
    SSP_SAY(r, "%s.%s -> %s.%s", c->from.unit, c->from.variable, c->to.unit, c->to.variable);
    if (c->gain != 1) {
      SSP_SAY(r, " gain %.17g", c->gain);
    }
    if (c->offset != 0) {
      SSP_SAY(r, " offset %.17g", c->offset);
    }
    if (c->order != 0) {
      SSP_SAY(r, " order %d", c->order);
    }
    SSP_SAY(r, "\n");
  }
}

static inline ssp_reading* ssp_finish(ssp_reading* r, yoke_messages* messages) {
  yoke__messages_format(messages, r->messages, sizeof r->messages);
  r->n_errors = messages->n_errors;
  r->n_warnings = messages->n_warnings;
  yoke__messages_free(messages);
  assert_true((r->status == YOKE_OK) == (r->scenario != NULL));
  assert_true((r->status == YOKE_BAD_INPUT) == (r->n_errors > 0));
  if (r->scenario != NULL) {
    ssp_show(r);
  }
  return r;
}

// A file; the caller ends with ssp_free.
static inline ssp_reading* ssp_read_path(const char* path, const char* const sets[],
                                         size_t n_sets) {
  ssp_reading* r = calloc(1, sizeof *r);
  assert_non_null(r);
  yoke_messages messages = {0};
  r->status = yoke__scenario_read_file(path, sets, n_sets, &messages, &r->scenario);
  return ssp_finish(r, &messages);
}

// A file of test/scenario/ssp.
static inline ssp_reading* ssp_read_named(const char* name, const char* const sets[],
                                          size_t n_sets) {
  char path[4096];
  const char* root = getenv("YOKE_SOURCE_DIR");
  if (root == NULL) {
    fail_msg("set YOKE_SOURCE_DIR to the source folder");
  }
  snprintf(path, sizeof path, "%s/test/scenario/ssp/%s", root, name);
  return ssp_read_path(path, sets, n_sets);
}

static inline ssp_reading* ssp_read_text(const char* text) {
  ssp_reading* r = calloc(1, sizeof *r);
  assert_non_null(r);
  yoke_messages messages = {0};
  r->status =
      yoke__scenario_read(text, strlen(text), "dir/t.ssd", NULL, 0, &messages, &r->scenario);
  return ssp_finish(r, &messages);
}

static inline void ssp_free(ssp_reading* r) {
  yoke__scenario_free(&r->scenario);
  free(r);
}

// The description is exactly this one.
static inline void ssp_check_text(const ssp_reading* r, const char* expected) {
  if (strcmp(r->text, expected) != 0) {
    fail_msg("got:\n%sexpected:\n%smessages:\n%s", r->text, expected, r->messages);
  }
}

#endif
