// Tables of numbers from CSV text (RFC 4180) in memory.
#ifndef YOKE_BASE_CSV_H
#define YOKE_BASE_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base_arena.h"
#include "base/base_message.h"
#include "yoke/status.h"

#define YOKE_CSV_MAX_COLUMNS   1000000u
#define YOKE_CSV_MAX_LINE_SIZE (64u << 20)  // bytes of one line, quoted line breaks included

typedef struct yoke_csv_column {
  const char* name;          // header cell without blanks around it, NUL-terminated
  double* values;            // n_rows; NaN where the cell is empty or no number
  bool is_text;              // at least one cell is neither empty nor a number
  size_t n_missing;          // empty cells
  const char* const* texts;  // n_rows, see yoke__csv_keep_texts; else NULL
} yoke_csv_column;

typedef struct yoke_csv {
  yoke_csv_column* columns;
  size_t n_columns, n_rows;
  yoke_arena arena;  // owns everything above
} yoke_csv;

// Reads n bytes, which need not end with NUL and may go afterwards. The first line holds the column
// names; every further line must have as many cells. Lines end with LF or CRLF, the last one may
// lack it; a byte order mark is skipped; blanks around a cell do not count. An empty table (header
// only) is fine. YOKE_BAD_INPUT with line and column in the message (the file is the caller's
// to add by a yoke_context), or YOKE_NO_MEMORY; then *out is empty.
yoke_status yoke__csv_parse(const char* bytes, size_t n, yoke_csv* out, const yoke_sink* sink);
void yoke__csv_free(yoke_csv* csv);

// The cells of some columns as texts: columns[i].texts where wanted[i], NULL for an empty cell without quotes. bytes and n are
// those that the table was read from. YOKE_NO_MEMORY.
yoke_status yoke__csv_keep_texts(const char* bytes, size_t n, const bool wanted[], yoke_csv* csv);
// The line on which a row of the table begins, from 1: cells may contain line breaks. bytes and n as before.
size_t yoke__csv_line(const char* bytes, size_t n, const yoke_csv* csv, size_t row);

// Index of the first column of that name, or n_columns.
size_t yoke__csv_find(const yoke_csv* csv, const char* name);
// An empty cell is a NaN with a mark of its own, so that it differs from a cell that says nan.
bool yoke__csv_is_missing(double value);
// A cell that is neither empty nor a number has a mark, too; a cell that says nan has none.
bool yoke__csv_is_text(double value);
// The value of an empty cell.
double yoke__csv_missing(void);

#endif
