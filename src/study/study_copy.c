// A system file with settings written into it.
#include "study/study_copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base_os.h"
#include "base/base_text.h"
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
                         "%s: the settings cannot be added without changing other lines of this "
                         "file; use --set instead",
                         path)
             : status;
}

// ---- where the copy stands

static bool is_same_folder(const char* a, const char* b) {
  const char* const paths[] = {a, b};
  char folder[4096];
  struct stat found[2];
  for (int i = 0; i < 2; i++) {
    const char* slash = strrchr(paths[i], '/');
    const size_t n = slash == NULL ? 0 : (size_t)(slash - paths[i]) + 1;
    snprintf(folder, sizeof folder, "%.*s", (int)n, paths[i]);
    if (n >= sizeof folder || stat(n == 0 ? "." : folder, &found[i]) != 0) {
      return false;
    }
  }
  return found[0].st_dev == found[1].st_dev && found[0].st_ino == found[1].st_ino;
}

// The text as if it stood at `path`.
static yoke_status build_at(const char* path, const char* bytes, size_t n, const char* const sets[],
                            size_t n_sets, yoke_messages* messages) {
  yoke_scenario* scenario = NULL;
  yoke_system* system = NULL;
  yoke_status status = yoke__scenario_read(bytes, n, path, sets, n_sets, messages, &scenario);
  status = status < 0 ? status : yoke__system_build(scenario, NULL, messages, &system);
  yoke__system_destroy(&system);
  return status;
}

yoke_status yoke__copy_check(const char* path, const char* const sets[], size_t n, const char* to,
                             const yoke_sink* sink) {
  yoke_messages here = {0}, there = {0};
  char* bytes = NULL;
  size_t n_bytes = 0;
  if (is_same_folder(path, to)) {
    return YOKE_OK;
  }
  yoke_status status = yoke__os_read_file(path, MAX_FILE, &bytes, &n_bytes, sink);
  if (status >= 0 && build_at(path, bytes, n_bytes, sets, n, &here) >= 0) {
    status = build_at(to, bytes, n_bytes, sets, n, &there);
    if (status < 0) {
      yoke__messages_send(&there, sink);
      yoke_fail(sink, status, "%s would not run from there: write it into the folder of %s", to,
                path);
    }
  }
  yoke__messages_free(&here);
  yoke__messages_free(&there);
  free(bytes);
  return status;
}

// ----

yoke_status yoke__copy_write(const char* path, const char* const sets[], size_t n, const char* to,
                             const yoke_sink* sink) {
  char* bytes = NULL;
  size_t n_bytes = 0;
  yoke_text copy = {0};
  yoke_status status = yoke__os_read_file(path, MAX_FILE, &bytes, &n_bytes, sink);
  status = status < 0 ? status : edit_all(bytes, n_bytes, sets, n, &copy, sink);
  status = status < 0 ? status : compare(path, bytes, n_bytes, sets, n, &copy, sink);
  status = status < 0 ? status : yoke__os_write_file(to, copy.bytes, copy.n, sink);
  yoke__text_free(&copy);
  free(bytes);
  return status;
}
