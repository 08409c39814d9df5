// Content of the files that a study reads beside its system file; see study_journal.h.
//
// Which keys name files is known to the units and methods that read them (fmu, circuit, file of playback, models of a
// coupling, and what may come), not here: every text of the system file, of --set and of --vary that is the name of a file
// counts as one. A file that is meant by nothing changes nothing but the identity. Of a netlist the files that it includes
// count too, of an unpacked FMU its description.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_hash.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "base/base_path.h"
#include "scenario/scenario_circuit.h"
#include "study/study_journal.h"

#define MAX_PATH_SIZE 4096
#define MAX_FILE_SIZE ((size_t)1 << 30)
#define MAX_DEPTH     8  // of netlists that include one another

typedef struct walk {
  const char* directory;  // relative names start here; NULL: where the program runs
  uint64_t hash;
} walk;

static void add_file(walk* w, const char* path, int depth);

// name beside a file or in a folder, n_folder characters of it.
// NOLINTNEXTLINE(misc-no-recursion): at most MAX_DEPTH deep
static void add_beside(walk* w, const char* folder, size_t n_folder, const char* name, size_t n,
                       int depth) {
  char path[2 * MAX_PATH_SIZE];
  if (n == 0 || n >= MAX_PATH_SIZE || n_folder >= MAX_PATH_SIZE) {
    return;
  }
  n_folder = name[0] == '/' ? 0 : n_folder;
  memcpy(path, folder, n_folder);
  if (n_folder > 0 && path[n_folder - 1] != '/') {
    path[n_folder++] = '/';
  }
  memcpy(path + n_folder, name, n);
  path[n_folder + n] = '\0';
  add_file(w, path, depth);
}

// The name behind .include in a line, quotes removed; *n 0: there is none.
static const char* included(const char* line, const char* end, size_t* n) {
  static const char word[] = ".include";
  size_t k = 0;
  *n = 0;
  while (line < end && yoke__is_blank(*line)) {
    line++;
  }
  while (line < end && word[k] != '\0' && tolower((unsigned char)*line) == word[k]) {
    line++;
    k++;
  }
  if (word[k] != '\0') {
    return line;
  }
  while (line < end && (yoke__is_blank(*line) || *line == '"' || *line == '\'')) {
    line++;
  }
  while (end > line && (yoke__is_blank(end[-1]) || end[-1] == '"' || end[-1] == '\'')) {
    end--;
  }
  *n = (size_t)(end - line);
  return line;
}

// NOLINTNEXTLINE(misc-no-recursion): at most MAX_DEPTH deep
static void add_includes(walk* w, const char* path, const char* bytes, size_t n, int depth) {
  const char *slash = strrchr(path, '/'), *at = bytes, *last = bytes + n;
  while (at < last) {
    const char* end = memchr(at, '\n', (size_t)(last - at));
    end = end == NULL ? last : end;
    size_t n_name = 0;
    const char* name = included(at, end, &n_name);
    add_beside(w, path, slash == NULL ? 0 : (size_t)(slash - path) + 1, name, n_name, depth);
    at = end < last ? end + 1 : last;
  }
}

// NOLINTNEXTLINE(misc-no-recursion): at most MAX_DEPTH deep
static void add_file(walk* w, const char* path, int depth) {
  char inner[3 * MAX_PATH_SIZE];
  if (yoke__os_is_directory(path)) {
    yoke__os_path_join(path, "modelDescription.xml", inner, sizeof inner);
    path = inner;
  }
  char* bytes = NULL;
  size_t n = 0;
  if (depth > MAX_DEPTH || !yoke__os_is_file(path) ||
      yoke__os_read_file(path, MAX_FILE_SIZE, &bytes, &n, NULL) < 0) {
    return;
  }
  const uint64_t size = n;
  w->hash = yoke__hash_bytes(yoke__hash_bytes(w->hash, &size, sizeof size), bytes, n);
  if (depth > 0 || yoke__path_is_netlist(path)) {
    add_includes(w, path, bytes, n, depth + 1);
  }
  free(bytes);
}

static void add_name(walk* w, const char* name, size_t n) {
  const char* folder = w->directory == NULL ? "" : w->directory;
  add_beside(w, folder, strlen(folder), name, n, 0);
}

// NOLINTNEXTLINE(misc-no-recursion): the reader takes no tree that is more than 64 deep
static void add_tree(walk* w, const yoke_node* node) {
  double number = 0;
  if (node->kind == YOKE_NODE_SCALAR && node->text != NULL &&
      !yoke__number_parse(node->text, &number)) {
    add_name(w, node->text, strlen(node->text));
  }
  for (const yoke_node* child = node->first; child != NULL; child = child->next) {
    add_tree(w, child);
  }
}

// Values of the axes that are no numbers; a value in quotes is one too.
static void add_axes(walk* w, const yoke_grid* grid) {
  for (size_t i = 0; i < grid->n_axes; i++) {
    for (size_t j = 0; j < grid->axes[i].n; j++) {
      const char* value = strchr(grid->axes[i].sets[j], '=');
      double number = 0;
      if (value == NULL || yoke__number_parse(value + 1, &number)) {
        continue;
      }
      value++;
      size_t n = strlen(value);
      if (n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n - 1] == value[0]) {
        value++;
        n -= 2;
      }
      add_name(w, value, n);
    }
  }
}

static void add_scenario(walk* w, const yoke_study_plan* plan, const yoke_scenario* scenario) {
  w->directory = scenario->directory;
  if (scenario->tree != NULL) {
    add_tree(w, scenario->tree);
  }
  // a lone netlist has no tree of its own
  for (size_t i = 0; i < scenario->n_units && yoke__path_is_netlist(plan->path); i++) {
    add_name(w, scenario->units[i].type, strlen(scenario->units[i].type));
  }
  add_axes(w, plan->grid);
}

static bool read_scenario(const yoke_study_plan* plan, const char* const sets[], size_t n,
                          yoke_scenario** out) {
  yoke_messages messages = {0};
  const yoke_status status = yoke__study_read_scenario(plan, sets, n, &messages, out);
  yoke__messages_free(&messages);
  return status >= 0;
}

uint64_t yoke__study_hash_files(const yoke_study_plan* plan) {
  walk w = {NULL, YOKE_HASH_START};
  yoke_scenario* scenario = NULL;
  const size_t n = plan->n_sets, n_axes = plan->grid->n_axes;
  const char** sets = calloc(n + n_axes + 1, sizeof *sets);
  for (size_t i = 0; sets != NULL && i < n + n_axes; i++) {
    sets[i] = i < n ? plan->sets[i] : plan->grid->axes[i - n].sets[0];
  }
  // a file may be complete only with the settings of the axes
  if (sets != NULL && (read_scenario(plan, sets, n, &scenario) ||
                       read_scenario(plan, sets, n + n_axes, &scenario))) {
    add_scenario(&w, plan, scenario);
  }
  yoke__scenario_free(&scenario);
  free((void*)sets);
  return w.hash;
}
