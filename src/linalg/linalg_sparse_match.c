// Structural rank: a largest set of entries with no two in one row or column, by augmenting paths
// from each column, depth first, with a look ahead for rows still free (I. S. Duff, On algorithms
// for obtaining a maximum transversal, ACM Transactions on Mathematical Software 7, 1981).
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg_sparse.h"

typedef struct matching {
  const yoke_sparse_pattern* pattern;
  int32_t* col_of;  // by row: its column, -1 free
  int32_t* seen;    // by column: the search that came by last
  int32_t* ahead;   // by column: rows before this are taken for good
  int32_t* cursor;  // by depth: next entry to look at
  int32_t* path;    // by depth: column
  int32_t* via;     // by depth: row that leads on from the column
} matching;

// A free row of the column, -1 if none; no row is looked at twice over all calls.
static int32_t look_ahead(matching* m, int32_t col) {
  const yoke_sparse_pattern* p = m->pattern;

  // `ahead` only moves forward: all look-aheads together cost no more than the entries
  while (m->ahead[col] < p->starts[col + 1]) {
    const int32_t row = p->rows[m->ahead[col]++];
    if (m->col_of[row] < 0) {
      return row;
    }
  }
  return -1;
}

// Every column of the path takes the row that led on from it.
static void turn_path(matching* m, int32_t depth) {
  // the matching grows by one: each column on the path hands its row to the one before it
  for (int32_t d = depth; d >= 0; d--) {
    m->col_of[m->via[d]] = m->path[d];
  }
}

static bool augment(matching* m, int32_t start) {
  const yoke_sparse_pattern* p = m->pattern;
  int32_t depth = 0;
  m->path[0] = start;
  m->cursor[0] = p->starts[start];
  m->seen[start] = start;

  // depth-first search along alternating edges: column, entry, column that holds that row
  while (depth >= 0) {
    const int32_t col = m->path[depth];
    if (m->cursor[depth] == p->starts[col]) {
      const int32_t row = look_ahead(m, col);
      if (row >= 0) {
        m->via[depth] = row;
        turn_path(m, depth);
        return true;
      }
    }

    // go down to the column that holds one of our rows, once per search
    int32_t next = -1;
    while (next < 0 && m->cursor[depth] < p->starts[col + 1]) {
      const int32_t row = p->rows[m->cursor[depth]++];
      if (m->seen[m->col_of[row]] != start) {
        next = m->col_of[row];
        m->via[depth] = row;
      }
    }
    // dead end: back to the column above
    if (next < 0) {
      depth--;
      continue;
    }
    m->seen[next] = start;
    m->path[++depth] = next;
    m->cursor[depth] = p->starts[next];
  }
  return false;
}

yoke_status yoke__sparse_structural_rank(const yoke_sparse_pattern* pattern, int32_t* rank,
                                         int32_t column_of[]) {
  const size_t n = (size_t)pattern->n;
  int32_t* block = malloc((6 * n + 1) * sizeof *block);
  YOKE_TRY_MEMORY(block);
  matching m = {pattern,       block,         block + n,    block + 2 * n,
                block + 3 * n, block + 4 * n, block + 5 * n};
  for (size_t i = 0; i < n; i++) {
    m.col_of[i] = -1;
    m.seen[i] = -1;
    m.ahead[i] = pattern->starts[i];
  }
  *rank = 0;

  // each success adds one to the rank; a column that fails now fails for good
  for (int32_t j = 0; j < pattern->n; j++) {
    *rank += augment(&m, j);
  }
  if (column_of != NULL) {
    memcpy(column_of, m.col_of, n * sizeof *column_of);
  }
  free(block);
  return YOKE_OK;
}
