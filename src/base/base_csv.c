// CSV (RFC 4180) to columns of doubles.
//
// Two passes: the first counts the cells of the header and the lines, the second fills arrays of
// exactly that size. A row of c cells takes at least c bytes (c - 1 commas and a line end), so what
// is reserved stays below 8 bytes per byte of text plus one row, whatever the header claims.
// Blanks around a cell do not belong to it, those inside of quotes do. Otherwise strict: a quote
// inside an unquoted cell, text behind a closing quote, a lone CR, a NUL byte or a row with another
// number of cells than the header is an error with its line and column (both from 1, columns in
// bytes).
#include "base/base_csv.h"

#include <stdint.h>
#include <string.h>

#include "base/base_number.h"

// quiet NaNs that no computation makes
#define MISSING_BITS UINT64_C(0x7ff8000000001de5)
#define TEXT_BITS    UINT64_C(0x7ff8000000001de6)

typedef struct reader {
  const char *at, *end;
  const char* line_start;
  size_t line;
  const yoke_sink* sink;
} reader;

// One cell as it stands in the text.
typedef struct cell {
  const char* text;  // behind the opening quote; without the blanks around it
  size_t n;          // quotes inside still doubled
  bool is_quoted;
  bool is_last;  // a line end or the end of the text follows
} cell;

static double from_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static bool has_bits(double value, uint64_t wanted) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits == wanted;
}

double yoke__csv_missing(void) {
  return from_bits(MISSING_BITS);
}

bool yoke__csv_is_missing(double value) {
  return has_bits(value, MISSING_BITS);
}

bool yoke__csv_is_text(double value) {
  return has_bits(value, TEXT_BITS);
}

static yoke_status fail(const reader* r, const char* at, const char* what) {
  const yoke_place place = {NULL, (int)r->line, (int)(at - r->line_start) + 1};
  return yoke__fail_at(r->sink, YOKE_BAD_INPUT, place, "%s", what);
}

static bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

static const char* skip_blanks(const char* at, const char* end) {
  while (at < end && is_blank(*at)) {
    at++;
  }
  return at;
}

// Behind the cell: a comma, or a line end, which is consumed.
static yoke_status end_cell(reader* r, cell* c) {
  c->is_last = true;
  if (r->at == r->end) {
    return YOKE_OK;
  }
  if (*r->at == ',') {
    r->at++;
    c->is_last = false;
    return YOKE_OK;
  }
  if (*r->at == '\r') {
    if (r->at + 1 == r->end || r->at[1] != '\n') {
      return fail(r, r->at, "a carriage return without line feed");
    }
    r->at++;
  }
  if (*r->at != '\n') {
    return fail(r, r->at, "text behind a closing quote; a comma or a line end was expected");
  }
  r->at++;
  return YOKE_OK;
}

static yoke_status read_quoted(reader* r, cell* c) {
  const char* quote = r->at++;
  const size_t first_line = r->line;
  const char* first_start = r->line_start;
  c->text = r->at;
  for (;;) {
    if (r->at == r->end) {
      r->line = first_line;
      r->line_start = first_start;
      return fail(r, quote, "this quote is never closed");
    }
    if (*r->at == '\0') {
      return fail(r, r->at, "a NUL byte");
    }
    if (*r->at == '\n') {
      r->line++;
      r->line_start = r->at + 1;
    }
    if (*r->at == '"') {
      if (r->at + 1 == r->end || r->at[1] != '"') {
        break;
      }
      r->at++;
    }
    r->at++;
  }
  c->n = (size_t)(r->at - c->text);
  r->at = skip_blanks(r->at + 1, r->end);
  return end_cell(r, c);
}

static yoke_status read_cell(reader* r, cell* c) {
  r->at = skip_blanks(r->at, r->end);
  c->is_quoted = r->at < r->end && *r->at == '"';
  if (c->is_quoted) {
    return read_quoted(r, c);
  }
  c->text = r->at;
  while (r->at < r->end && *r->at != ',' && *r->at != '\n' && *r->at != '\r') {
    if (*r->at == '"') {
      return fail(r, r->at, "a quote inside a cell that does not begin with one");
    }
    if (*r->at == '\0') {
      return fail(r, r->at, "a NUL byte");
    }
    r->at++;
  }
  const char* end = r->at;
  while (end > c->text && is_blank(end[-1])) {
    end--;
  }
  c->n = (size_t)(end - c->text);
  return end_cell(r, c);
}

// A new line begins; one that is too long is refused before its cells are looked at.
static yoke_status begin_line(reader* r) {
  r->line_start = r->at;
  const size_t left = (size_t)(r->end - r->at);
  if (left > YOKE_CSV_MAX_LINE_SIZE && memchr(r->at, '\n', YOKE_CSV_MAX_LINE_SIZE) == NULL) {
    return fail(r, r->at, "a line of more than 64 MB");
  }
  return YOKE_OK;
}

static size_t unquote(const cell* c, char* to) {
  size_t n = 0;
  for (size_t i = 0; i < c->n; i++) {
    to[n++] = c->text[i];
    i += c->is_quoted && c->text[i] == '"';
  }
  to[n] = '\0';
  return n;
}

// Counts the header's cells without keeping anything, then reads them again into arrays.
static yoke_status read_header(reader* r, yoke_csv* out) {
  YOKE_TRY(begin_line(r));
  const reader start = *r;
  size_t n_columns = 0;
  cell c = {.is_last = false};
  while (!c.is_last) {
    if (n_columns == YOKE_CSV_MAX_COLUMNS) {
      return fail(r, r->at, "more than 1000000 columns");
    }
    YOKE_TRY(read_cell(r, &c));
    n_columns++;
  }
  const size_t size = (size_t)(r->at - start.at);
  if (size > YOKE_CSV_MAX_LINE_SIZE) {
    return fail(&start, start.at, "a header of more than 64 MB");
  }

  // all names in one piece: each needs its bytes and a NUL, and at least one separator stood behind
  // it
  out->columns = yoke__arena_array(&out->arena, n_columns, sizeof out->columns[0]);
  char* names = yoke__arena_take(&out->arena, size + n_columns + 1);
  YOKE_TRY_MEMORY(out->columns && names);
  out->n_columns = n_columns;
  *r = start;
  for (size_t i = 0; i < n_columns; i++) {
    YOKE_TRY(read_cell(r, &c));
    out->columns[i].name = names;
    names += unquote(&c, names) + 1;
  }
  return YOKE_OK;
}

// Upper bound of the rows that follow, from line feeds and from bytes.
static size_t bound_rows(const reader* r, size_t n_columns) {
  size_t n_lines = 0;
  for (const char* at = r->at; at < r->end; n_lines++) {
    const char* next = memchr(at, '\n', (size_t)(r->end - at));
    at = next == NULL ? r->end : next + 1;
  }
  const size_t by_bytes = (size_t)(r->end - r->at) / n_columns + 1;
  return n_lines < by_bytes ? n_lines : by_bytes;
}

// The number a cell holds. False if it is something else.
static bool cell_number(const cell* c, double* value) {
  const char* at = c->text;
  const char* end = c->text + c->n;
  at = skip_blanks(at, end);
  while (at < end && is_blank(end[-1])) {
    end--;
  }
  return yoke__number_scan(at, end, value) == end;
}

static void store(yoke_csv_column* column, size_t row, const cell* c) {
  double value = yoke__csv_missing();
  if (c->n == 0) {
    column->n_missing++;
  } else if (!cell_number(c, &value)) {
    value = from_bits(TEXT_BITS);
    column->is_text = true;
  }
  column->values[row] = value;
}

static yoke_status fail_count(const reader* r, size_t n_cells, size_t n_columns) {
  const size_t n = n_cells > n_columns ? n_columns : n_cells;
  return yoke__fail_at(r->sink, YOKE_BAD_INPUT, (yoke_place){.line = (int)r->line},
                       "%s%zu cell%s, but the header has %zu",
                       n_cells > n_columns ? "more than " : "", n, n == 1 ? "" : "s", n_columns);
}

static yoke_status read_row(reader* r, yoke_csv* out) {
  YOKE_TRY(begin_line(r));
  const size_t first_line = r->line;
  const char* first_start = r->at;
  cell c = {.is_last = false};
  size_t n_cells = 0;
  for (; !c.is_last; n_cells++) {
    if (n_cells == out->n_columns) {
      r->line = first_line;
      return fail_count(r, n_cells + 1, out->n_columns);
    }
    YOKE_TRY(read_cell(r, &c));
    store(&out->columns[n_cells], out->n_rows, &c);
  }
  if (n_cells != out->n_columns) {
    r->line = first_line;
    return fail_count(r, n_cells, out->n_columns);
  }
  if ((size_t)(r->at - first_start) > YOKE_CSV_MAX_LINE_SIZE) {
    r->line = first_line;
    r->line_start = first_start;
    return fail(r, first_start, "a line of more than 64 MB");
  }
  out->n_rows++;
  r->line++;
  return YOKE_OK;
}

// Line ends at the end of the text close the last row, or are empty lines nobody meant.
static const char* skip_last_line_ends(const char* begin, const char* end) {
  while (end > begin && end[-1] == '\n') {
    end -= end - begin > 1 && end[-2] == '\r' ? 2 : 1;
  }
  return end;
}

// Without what is around the table.
static reader begin_table(const char* bytes, size_t n, const yoke_sink* sink) {
  reader r = {bytes, skip_last_line_ends(bytes, bytes + n), bytes, 1, sink};
  if (r.end - r.at >= 3 && memcmp(r.at, "\xef\xbb\xbf", 3) == 0) {
    r.at += 3;
  }
  return r;
}

static yoke_status read_table(reader* r, yoke_csv* out) {
  if (r->at == r->end) {
    return fail(r, r->line_start, "no header: the text is empty");
  }
  YOKE_TRY(read_header(r, out));
  r->line++;

  // one block for all columns, so that a million of them cost no more than their cells
  const size_t max_rows = bound_rows(r, out->n_columns);
  double* values = NULL;
  if (max_rows <= SIZE_MAX / sizeof *values / out->n_columns) {
    values = yoke__arena_array(&out->arena, max_rows * out->n_columns, sizeof *values);
  }
  YOKE_TRY_MEMORY(values);
  for (size_t i = 0; i < out->n_columns; i++) {
    out->columns[i].values = values + i * max_rows;
  }

  while (r->at < r->end) {
    if (out->n_rows == max_rows) {
      return fail(r, r->at, "more rows than lines were counted");
    }
    YOKE_TRY(read_row(r, out));
  }
  return YOKE_OK;
}

yoke_status yoke__csv_parse(const char* bytes, size_t n, yoke_csv* out, const yoke_sink* sink) {
  memset(out, 0, sizeof *out);
  reader r = begin_table(bytes, n, sink);
  const yoke_status status = read_table(&r, out);
  if (status == YOKE_NO_MEMORY) {
    yoke_fail(sink, status, "out of memory");
  }
  if (status < 0) {
    yoke__csv_free(out);
  }
  return status;
}

// ---- again over a text that was read before, so that nothing in it can fail

// In front of the first row.
static yoke_status begin_rows(const char* bytes, size_t n, const yoke_csv* csv, reader* r) {
  *r = begin_table(bytes, n, NULL);
  cell c;
  for (size_t i = 0; i < csv->n_columns; i++) {
    YOKE_TRY(read_cell(r, &c));
  }
  r->line++;
  return YOKE_OK;
}

static bool has_text(const cell* c) {
  return c->n > 0 || c->is_quoted;
}

// Bytes that the texts of the wanted columns take, NULs included.
static yoke_status count_texts(reader r, const bool wanted[], const yoke_csv* csv, size_t* size) {
  cell c;
  for (size_t row = 0; row < csv->n_rows; row++) {
    for (size_t i = 0; i < csv->n_columns; i++) {
      YOKE_TRY(read_cell(&r, &c));
      *size += wanted[i] && has_text(&c) ? c.n + 1 : 0;
    }
  }
  return YOKE_OK;
}

yoke_status yoke__csv_keep_texts(const char* bytes, size_t n, const bool wanted[], yoke_csv* csv) {
  reader r;
  cell c;
  size_t size = 1;
  YOKE_TRY(begin_rows(bytes, n, csv, &r));
  YOKE_TRY(count_texts(r, wanted, csv, &size));
  char* to = yoke__arena_take(&csv->arena, size);
  const char*** texts = yoke__arena_array(&csv->arena, csv->n_columns + 1, sizeof(void*));
  YOKE_TRY_MEMORY(to && texts);
  for (size_t i = 0; i < csv->n_columns; i++) {
    texts[i] = wanted[i] ? yoke__arena_array(&csv->arena, csv->n_rows + 1, sizeof(void*)) : NULL;
    YOKE_TRY_MEMORY(!wanted[i] || texts[i] != NULL);
  }
  for (size_t row = 0; row < csv->n_rows; row++) {
    for (size_t i = 0; i < csv->n_columns; i++) {
      YOKE_TRY(read_cell(&r, &c));
      if (wanted[i]) {
        texts[i][row] = has_text(&c) ? to : NULL;
        to += has_text(&c) ? unquote(&c, to) + 1 : 0;
      }
    }
  }
  for (size_t i = 0; i < csv->n_columns; i++) {
    csv->columns[i].texts = texts[i];
  }
  return YOKE_OK;
}

size_t yoke__csv_line(const char* bytes, size_t n, const yoke_csv* csv, size_t row) {
  reader r;
  cell c = {.is_last = false};
  if (begin_rows(bytes, n, csv, &r) < 0) {
    return 0;
  }
  for (size_t i = 0; i < row * csv->n_columns; i++) {
    if (read_cell(&r, &c) < 0) {
      return 0;
    }
    r.line += c.is_last;
  }
  return r.line;
}

void yoke__csv_free(yoke_csv* csv) {
  yoke__arena_free(&csv->arena);
  memset(csv, 0, sizeof *csv);
}

size_t yoke__csv_find(const yoke_csv* csv, const char* name) {
  size_t i = 0;
  while (i < csv->n_columns && strcmp(csv->columns[i].name, name) != 0) {
    i++;
  }
  return i;
}
