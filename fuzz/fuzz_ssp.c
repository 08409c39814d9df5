// Fuzz target: any bytes as an SSD with the files it names, all from memory.
//
// Input: the SSD; further files follow, each behind a line "--- name". Nothing outside of the input is read, archives and
// FMUs are not opened. What comes out must be a tree, or messages that say why not.
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/scenario_ssp.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

// The text of one file within the input.
typedef struct part {
  const char* start;
  size_t n;
} part;

static const char mark[] = "\n--- ";

// Where the file that starts at `at` ends.
static const char* part_end(const char* at, const char* end) {
  for (; at + sizeof mark - 1 <= end; at++) {
    if (memcmp(at, mark, sizeof mark - 1) == 0) {
      return at;
    }
  }
  return end;
}

// The file with this name behind the SSD.
static bool find_part(const part* input, const char* name, part* out) {
  const char *at = input->start, *end = input->start + input->n;
  const size_t n_name = strlen(name);
  for (at = part_end(at, end); at < end; at = part_end(at, end)) {
    at += sizeof mark - 1;
    const char* newline = memchr(at, '\n', (size_t)(end - at));
    const char* line_end = newline == NULL ? end : newline;
    const bool is_found = (size_t)(line_end - at) == n_name && memcmp(at, name, n_name) == 0;
    at = line_end;
    if (is_found) {
      at += newline != NULL;
      *out = (part){at, (size_t)(part_end(at, end) - at)};
      return true;
    }
  }
  return false;
}

static yoke_status read_part(void* context, const char* path, char** bytes, size_t* n, const yoke_sink* sink) {
  part found = {0};
  if (!find_part(context, path, &found)) {
    return yoke_fail(sink, YOKE_IO, "no such part");
  }
  *bytes = malloc(found.n + 1);
  if (*bytes == NULL) {
    return YOKE_NO_MEMORY;
  }
  memcpy(*bytes, found.start, found.n);
  (*bytes)[found.n] = '\0';
  *n = found.n;
  return YOKE_OK;
}

// A map has keys that differ from each other and a list has none. The tree is walked without a stack of its own: depth is
// at most that of a system file.
// NOLINTNEXTLINE(misc-no-recursion)
static void check_node(const yoke_node* node, int depth) {
  size_t n = 0;
  if (depth > YOKE_SCENARIO_MAX_DEPTH + 4) {
    abort();
  }
  for (const yoke_node* child = node->first; child != NULL; child = child->next) {
    if ((node->kind == YOKE_NODE_MAP && child->key == NULL) || node->kind == YOKE_NODE_SCALAR) {
      abort();
    }
    check_node(child, depth + 1);
    n++;
  }
  if (n != node->n_children || node->text == NULL) {
    abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  yoke_arena arena = {0};
  yoke_messages messages = {0};
  yoke_reader reader = {.arena = &arena, .messages = &messages};
  part input = {n == 0 ? "" : (const char*)bytes, n};
  const yoke_ssp_names names = {"fuzz.ssd", "fuzz.ssd", ""};
  const yoke_ssp_files files = {.context = &input, .read = read_part, .is_closed = true};
  const size_t n_first = (size_t)(part_end(input.start, input.start + n) - input.start);
  yoke_node* root = NULL;
  const yoke_status status =
      yoke__ssp_tree(input.start, n_first, &names, &files, NULL, 0, &reader, &root);
  if ((status == YOKE_OK) != (root != NULL) ||
      (status == YOKE_BAD_INPUT && messages.n_errors == 0)) {
    abort();
  }
  if (root != NULL) {
    check_node(root, 0);
  }
  char out[4096];
  yoke__messages_format(&messages, out, sizeof out);
  yoke__messages_free(&messages);
  yoke__arena_free(&arena);
  return 0;
}
