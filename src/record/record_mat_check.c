// A MAT 5 file is a header of 128 bytes and a list of elements:
//
//   element     | type (4) | bytes (4) | data, padded to 8 |      small: | bytes (2) type (2) | data (4) |
//   variable    element of type 14 (matrix); its data is a list of elements: flags, size, name, values;
//               values of a cell are variables again
//
// 1. The elements of a matrix fill it exactly, and the variables fill the file exactly.
// Source: MAT-File Format, level 5 (MathWorks).
#include "record/record_mat_check.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/base_os.h"

#define HEADER_SIZE 128u
#define TAG_SIZE    8u
#define TYPE_MATRIX 14u
#define MAX_DEPTH   4  // cells of texts: 2

typedef struct walk {
  int file;
  uint64_t size;  // of the file
} walk;

// The variable at `at`, with all that is in it. *next: behind it. False: it does not fit.
static bool walk_variable(const walk* w, uint64_t at, uint64_t* next) {
  uint64_t ends[MAX_DEPTH + 1] = {w->size};  // of the file, and of the matrices around
  int depth = 0;
  do {
    uint32_t tag[2];
    if (ends[depth] - at < TAG_SIZE || yoke__os_file_read(w->file, tag, sizeof tag, at, NULL) < 0) {
      return false;
    }
    // a small element has its length in the upper half of the first word, and its data in the second
    const uint32_t n_small = tag[0] >> 16;
    const uint64_t n = n_small == 0 ? tag[1] : 0, padded = (n + 7) / 8 * 8;
    const bool is_matrix = tag[0] == TYPE_MATRIX;
    at += TAG_SIZE;
    if (n_small > 4 || tag[0] == 0 || padded > ends[depth] - at) {
      return false;
    }
    // the length of a matrix is written behind it: 0 is one that was lost
    if (is_matrix && (n == 0 || depth == MAX_DEPTH)) {
      return false;
    }
    if (is_matrix) {
      ends[++depth] = at + n;
    } else {
      at += padded;
    }
    while (depth > 0 && at == ends[depth]) {
      depth--;
    }
  } while (depth > 0);
  *next = at;
  return true;
}

static bool is_whole(const walk* w, size_t n_variables) {
  uint64_t at = HEADER_SIZE;
  size_t n = 0;
  while (at < w->size && walk_variable(w, at, &at)) {
    n++;
  }
  return at == w->size && n == n_variables;
}

yoke_status yoke__record_mat_check(const char* path, size_t n_variables, const yoke_sink* errors) {
  walk w = {.file = -1};
  YOKE_TRY(yoke__os_file_size(path, &w.size, errors));
  YOKE_TRY(yoke__os_file_open(path, &w.file, errors));
  const bool is_good = is_whole(&w, n_variables);
  yoke__os_file_close(&w.file, NULL);
  return is_good ? YOKE_OK
                 : yoke_fail(errors, YOKE_IO, "matio has lost a part of it: the disk failed");
}
