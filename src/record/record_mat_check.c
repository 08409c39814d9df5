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

// One element at `at`, which must end before `end`. *next: behind it. False: it does not fit.
static bool walk_element(const walk* w, uint64_t at, uint64_t end, int depth, uint64_t* next) {
  uint32_t tag[2];
  if (end - at < TAG_SIZE || depth > MAX_DEPTH ||
      yoke__os_file_read(w->file, tag, sizeof tag, at, NULL) < 0) {
    return false;
  }
  // a small element has its length in the upper half of the first word
  if ((tag[0] >> 16) != 0) {
    *next = at + TAG_SIZE;
    return (tag[0] >> 16) <= 4;
  }
  const uint64_t n = tag[1], padded = (n + 7) / 8 * 8;
  if (tag[0] == 0 || padded > end - at - TAG_SIZE) {
    return false;
  }
  *next = at + TAG_SIZE + padded;
  if (tag[0] != TYPE_MATRIX) {
    return true;
  }
  // the length of a matrix is written behind it: 0 is one that was lost
  uint64_t inner = at + TAG_SIZE;
  if (n == 0) {
    return false;
  }
  while (inner < at + TAG_SIZE + n) {
    if (!walk_element(w, inner, at + TAG_SIZE + n, depth + 1, &inner)) {
      return false;
    }
  }
  return inner == at + TAG_SIZE + n;
}

static bool is_whole(const walk* w, size_t n_variables) {
  uint64_t at = HEADER_SIZE;
  size_t n = 0;
  while (at < w->size && walk_element(w, at, w->size, 0, &at)) {
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
