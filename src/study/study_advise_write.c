// A system file with settings written into it.
#include "study/study_advise_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"
#include "base/base_path.h"
#include "base/base_text.h"
#include "master/master.h"
#include "scenario/scenario_edit.h"
#include "system/system.h"

#define MAX_FILE (64u << 20)

static yoke_status edit_all(const char* bytes, size_t n, const char* const sets[], size_t n_sets,
                            yoke_text* out, const yoke_sink* sink) {
  yoke__text_append(out, bytes, n);
  for (size_t i = 0; i < n_sets && out->status >= 0; i++) {
    yoke_text next = {0};
    const yoke_status status = yoke__scenario_edit(out->bytes, out->n, sets[i], &next, sink);
    yoke__text_free(out);
    *out = next;
    YOKE_TRY(status);
  }
  return out->status;
}

// ---- the same description?

// NOLINTNEXTLINE(misc-no-recursion): as deep as the reader allows, 64 levels
static bool is_same(const yoke_node* a, const yoke_node* b) {
  if (a == NULL || b == NULL || a->kind != b->kind || a->n_children != b->n_children) {
    return a == b;
  }
  if (a->kind == YOKE_NODE_SCALAR) {
    return strcmp(a->text == NULL ? "" : a->text, b->text == NULL ? "" : b->text) == 0;
  }
  const yoke_node* other = b->first;
  for (const yoke_node* child = a->first; child != NULL; child = child->next) {
    // entries of a map in any order
    const yoke_node* twin = a->kind == YOKE_NODE_MAP ? yoke__node_child(b, child->key) : other;
    if (!is_same(child, twin)) {
      return false;
    }
    other = other->next;
  }
  return true;
}

static yoke_status compare(const char* path, const char* bytes, size_t n, const char* const sets[],
                           size_t n_sets, const yoke_text* copy, const yoke_sink* sink) {
  yoke_messages messages = {0};
  yoke_scenario *wanted = NULL, *got = NULL;
  yoke_status status = yoke__scenario_read(bytes, n, path, sets, n_sets, &messages, &wanted);
  status = status < 0 ? status
                      : yoke__scenario_read(copy->bytes, copy->n, path, NULL, 0, &messages, &got);
  if (status >= 0 && !is_same(wanted->tree, got->tree)) {
    status = YOKE_NO_SUPPORT;
  }
  yoke__scenario_free(&wanted);
  yoke__scenario_free(&got);
  yoke__messages_free(&messages);
  return status == YOKE_NO_SUPPORT || status == YOKE_BAD_INPUT
             ? yoke_fail(sink, YOKE_NO_SUPPORT,
                         "%s: the settings cannot be written into this file without changing more "
                         "of it; use the command instead",
                         path)
             : status;
}

// Files that a system names are looked for where its file stands.
static yoke_status build_there(const char* path, const yoke_text* copy, const char* to,
                               const yoke_sink* sink) {
  yoke_messages messages = {0};
  yoke_scenario* scenario = NULL;
  yoke_system* system = NULL;
  yoke_status status = yoke__scenario_read(copy->bytes, copy->n, to, NULL, 0, &messages, &scenario);
  status = status < 0 ? status : yoke__master_build(scenario, NULL, &messages, &system);
  if (status < 0) {
    yoke__messages_send(&messages, sink);
    yoke_fail(sink, status, "%s would not run from there: write it into the folder of %s", to,
              path);
  }
  yoke__system_destroy(&system);
  yoke__messages_free(&messages);
  return status;
}

yoke_status yoke__advise_check_write(const char* path, const char* to, const yoke_sink* sink) {
  yoke_text copy = {0};
  char* bytes = NULL;
  size_t n = 0;
  const char* dot = strrchr(path, '.');
  if (dot == NULL || (strcmp(dot, ".yaml") != 0 && strcmp(dot, ".yml") != 0)) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "--write: %s is no system file in YAML; use the command instead", path);
  }
  yoke_status status = yoke__os_read_file(path, MAX_FILE, &bytes, &n, sink);
  yoke__text_append(&copy, bytes, n);
  status = status < 0 ? status : copy.status;
  // what is wrong with the file itself is reported when it is read
  if (status >= 0 && build_there(path, &copy, path, NULL) >= 0) {
    status = build_there(path, &copy, to, sink);
  }
  yoke__text_free(&copy);
  free(bytes);
  return status;
}

yoke_status yoke__advise_write(const char* path, const char* const sets[], size_t n, const char* to,
                               const yoke_sink* sink) {
  char* bytes = NULL;
  size_t n_bytes = 0;
  yoke_text copy = {0};
  yoke_status status = yoke__os_read_file(path, MAX_FILE, &bytes, &n_bytes, sink);
  status = status < 0 ? status : edit_all(bytes, n_bytes, sets, n, &copy, sink);
  status = status < 0 ? status : compare(path, bytes, n_bytes, sets, n, &copy, sink);
  status = status < 0 ? status : build_there(path, &copy, to, sink);
  status = status < 0 ? status : yoke__os_write_file(to, copy.bytes, copy.n, sink);
  yoke__text_free(&copy);
  free(bytes);
  return status;
}
