// results.mat: MAT 5 through matio, one variable per column, for MATLAB, Octave and scipy.io.
//
//   time, left_f, ...  n x 1 double, int64 (integer, enumeration), logical (boolean), or
//                      char matrix (string)
//   names              columns x 3 cell: variable, original name, physical unit
//   gaps               g x 2: rows lost in front of which row (from 1)
//   title              char
//
// MAT 5 stores a variable in one piece with its length in front, so nothing can be appended: rows
// are spooled to results.mat.part.rows and turned into variables at close. The spool consists of
// blocks of n_block_rows rows, the columns of a block one behind the other, so that a column is
// read back in few pieces. While spooling, the space that the .mat will need is reserved too: on a
// full disk the rows before it still become a complete file. A killed run leaves the spool, which
// is no MAT file; use CSV or HDF5 where that matters. A variable of MAT 5 ends at 2 GB (2.7e8
// rows).
#include <stdio.h>
#include <stdlib.h>

#include "base/base_os.h"
#include "record/record_mat_check.h"
#include "record/record_sink.h"

#ifdef YOKE_HAVE_MATIO

#include <matio.h>

#define BLOCK_SIZE        (2u << 20)  // bytes of a block, about
#define MAX_VARIABLE_SIZE INT64_C(2147000000)
#define NAME_SIZE         64     // MATLAB's 63 characters and NUL
#define HEADER_SIZE       1024u  // file space a variable takes beside its data, generously
#define SPOOL_ENDING      ".rows"

enum { N_OURS = 4 };  // variables that are no columns: time, names, title, gaps

typedef struct mat_gap {
  uint64_t row, n_lost;
} mat_gap;

typedef struct mat_sink {
  const yoke_record_layout* layout;
  mat_t* mat;
  int reserve;  // a second descriptor of the .mat
  int spool;
  char* spool_path;
  char (*names)[NAME_SIZE];  // variables; the first is time
  uint64_t base_size;        // bytes of the .mat without rows
  size_t row_size;           // bytes of the .mat per row, at most
  size_t n_block_rows, n_buffered;
  unsigned char* block;
  uint64_t n_rows;  // complete, with those in the block
  uint64_t n_spooled;
  mat_gap* gaps;
  size_t n_gaps, n_gap_room;
} mat_sink;

// Letters, digits and underscores; a letter first.
static void make_identifier(const char* name, char to[NAME_SIZE]) {
  size_t n = 0;
  const char first = name[0];
  if (!((first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z'))) {
    to[n++] = 'x';
  }
  for (; *name != '\0' && n < NAME_SIZE - 1; name++) {
    const char c = *name;
    const bool is_allowed =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (is_allowed || n == 0 || to[n - 1] != '_') {
      to[n] = c;
      if (!is_allowed) {
        to[n] = '_';
      }
      n++;
    }
  }
  to[n] = '\0';
}

typedef struct name_order {
  const char* name;
  size_t index;
} name_order;

static int compare_names(const void* a, const void* b) {
  const name_order *x = a, *y = b;
  const int order = strcmp(x->name, y->name);
  return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static void number_name(char name[NAME_SIZE], size_t number) {
  char end[24];
  const size_t n_end = (size_t)snprintf(end, sizeof end, "_%zu", number);
  size_t n = strlen(name);
  n = n + n_end < NAME_SIZE ? n : NAME_SIZE - 1 - n_end;
  memcpy(name + n, end, n_end + 1);
}

// Valid and distinct names. Names that fall together, with each other or with ours, get the
// column's number.
static bool choose_names(mat_sink* sink) {
  static const char* const ours[] = {"gaps", "names", "time", "title"};
  const size_t n = sink->layout->n_columns;
  name_order* order = calloc(n + N_OURS, sizeof order[0]);
  if (order == NULL) {
    return false;
  }
  memcpy(sink->names[0], "time", 5);
  for (size_t i = 0; i < n; i++) {
    make_identifier(sink->layout->columns[i].name, sink->names[i + 1]);
  }

  // numbering may in turn meet a column that is called so: repeat until nothing moves
  bool has_moved = true;
  for (int round = 0; has_moved && round < 8; round++) {
    has_moved = false;
    for (size_t i = 0; i < n; i++) {
      order[i] = (name_order){sink->names[i + 1], i + 1};
    }
    for (size_t i = 0; i < N_OURS; i++) {
      order[n + i] = (name_order){ours[i], 0};
    }
    qsort(order, n + N_OURS, sizeof order[0], compare_names);
    for (size_t i = n + N_OURS; i-- > 1;) {
      // ours come first among equals and keep their name
      if (strcmp(order[i].name, order[i - 1].name) == 0 && order[i].index > 0) {
        number_name(sink->names[order[i].index], order[i].index);
        has_moved = true;
      }
    }
  }
  free(order);
  return true;
}

// Size in the .mat of one value of a column.
static size_t value_size(const yoke_record_column* column) {
  return column->type == YOKE_STRING ? 2 * column->size : column->size;
}

static void mat_discard(void* self) {
  mat_sink* sink = self;
  if (sink->mat != NULL) {
    Mat_Close(sink->mat);
  }
  if (sink->spool >= 0) {
    yoke__os_file_close(&sink->spool, NULL);
    yoke__os_file_remove(sink->spool_path);
  }
  yoke__os_file_close(&sink->reserve, NULL);
  free(sink->spool_path);
  free(sink->names);
  free(sink->block);
  free(sink->gaps);
  free(sink);
}

static bool allocate(mat_sink* sink, const char* path) {
  const yoke_record_layout* layout = sink->layout;
  const size_t row = layout->stride - YOKE_ROW_LOST;
  sink->n_block_rows = BLOCK_SIZE / row < 16     ? 16
                       : BLOCK_SIZE / row > 4096 ? 4096
                                                 : BLOCK_SIZE / row;
  sink->block = calloc(sink->n_block_rows, row);
  sink->names = calloc(layout->n_columns + 1, sizeof sink->names[0]);
  const size_t path_size = strlen(path) + sizeof SPOOL_ENDING;
  sink->spool_path = malloc(path_size);
  if (sink->block == NULL || sink->names == NULL || sink->spool_path == NULL) {
    return false;
  }
  snprintf(sink->spool_path, path_size, "%s" SPOOL_ENDING, path);
  sink->row_size = sizeof(double);
  sink->base_size = 4 * (uint64_t)HEADER_SIZE + 2 * strlen(layout->title);
  for (size_t i = 0; i < layout->n_columns; i++) {
    const yoke_record_column* column = &layout->columns[i];
    sink->row_size += value_size(column);
    sink->base_size += HEADER_SIZE + 2 * (strlen(column->name) + strlen(column->dim));
  }
  return choose_names(sink);
}

static yoke_status mat_open(const yoke_record_layout* layout, const char* path, void** self,
                            const yoke_sink* errors) {
  mat_sink* sink = calloc(1, sizeof *sink);
  YOKE_TRY_MEMORY(sink);
  sink->layout = layout;
  sink->reserve = sink->spool = -1;
  yoke_status status = allocate(sink, path) ? YOKE_OK : YOKE_NO_MEMORY;

  // the library opens the file a second time; a header of our own, since its own holds the date
  if (status >= 0) {
    status = yoke__os_file_create(path, &sink->reserve, errors);
  }
  if (status >= 0) {
    status = yoke__os_file_create(sink->spool_path, &sink->spool, errors);
  }
  if (status >= 0) {
    sink->mat = Mat_CreateVer(path, "MATLAB 5.0 MAT-file, yoke results 1", MAT_FT_MAT5);
    if (sink->mat == NULL) {
      status = yoke_fail(errors, YOKE_IO, "matio cannot create the file");
    }
  }
  if (status >= 0) {
    status = yoke__os_file_reserve(sink->reserve, sink->base_size, errors);
  }
  if (status < 0) {
    mat_discard(sink);
    return status;
  }
  *self = sink;
  return YOKE_OK;
}

// The block behind the others, whole even if not full. On failure its rows are dropped.
static yoke_status spool_block(mat_sink* sink, const yoke_sink* errors) {
  if (sink->n_buffered == 0) {
    return YOKE_OK;
  }
  const size_t size = sink->n_block_rows * (sink->layout->stride - YOKE_ROW_LOST);
  const uint64_t mat_size = sink->base_size + sink->n_rows * sink->row_size + 32 * sink->n_gaps;
  size_t n_done = 0;
  yoke_status status = yoke__os_file_reserve(sink->reserve, mat_size, errors);
  if (status >= 0) {
    status = yoke__os_file_write(sink->spool, sink->block, size, &n_done, errors);
  }
  if (status < 0) {
    sink->n_rows = sink->n_spooled;
  }
  sink->n_spooled = sink->n_rows;
  sink->n_buffered = 0;
  return status;
}

static yoke_status note_gap(mat_sink* sink, uint64_t n_lost) {
  if (sink->n_gaps == sink->n_gap_room) {
    const size_t room = 2 * sink->n_gap_room + 16;
    mat_gap* larger = realloc(sink->gaps, room * sizeof larger[0]);
    YOKE_TRY_MEMORY(larger);
    sink->gaps = larger;
    sink->n_gap_room = room;
  }
  sink->gaps[sink->n_gaps++] = (mat_gap){sink->n_rows + 1, n_lost};
  return YOKE_OK;
}

// Where a value goes in the block: column by column.
static unsigned char* block_place(const mat_sink* sink, size_t offset, size_t size) {
  return sink->block + (offset - YOKE_ROW_TIME) * sink->n_block_rows + sink->n_buffered * size;
}

static yoke_status mat_write(void* self, const unsigned char* rows, size_t n,
                             const yoke_sink* errors) {
  mat_sink* sink = self;
  const yoke_record_layout* layout = sink->layout;
  size_t widest = sizeof(double);
  for (size_t i = 0; i < layout->n_columns; i++) {
    widest = value_size(&layout->columns[i]) > widest ? value_size(&layout->columns[i]) : widest;
  }
  for (size_t k = 0; k < n; k++) {
    const unsigned char* row = rows + k * layout->stride;
    if (sink->n_rows >= (uint64_t)MAX_VARIABLE_SIZE / widest) {
      return yoke_fail(errors, YOKE_FULL, "a MAT 5 variable cannot exceed 2 GB");
    }
    if (yoke__row_lost(sink->layout, row) > 0) {
      YOKE_TRY(note_gap(sink, yoke__row_lost(sink->layout, row)));
    }
    memcpy(block_place(sink, YOKE_ROW_TIME, 8), row + YOKE_ROW_TIME, 8);
    for (size_t i = 0; i < layout->n_columns; i++) {
      const size_t size = layout->columns[i].size;
      memcpy(block_place(sink, layout->offsets[i], size), row + layout->offsets[i], size);
    }
    sink->n_rows++;
    sink->n_buffered++;
    if (sink->n_buffered == sink->n_block_rows) {
      YOKE_TRY(spool_block(sink, errors));
    }
  }
  return YOKE_OK;
}

// Nothing readable can be had before close.
static yoke_status mat_flush(void* self, const yoke_sink* errors) {
  (void)self;
  (void)errors;
  return YOKE_OK;
}

static uint64_t mat_n_rows(const void* self) {
  return ((const mat_sink*)self)->n_rows;
}

// One column of the spool, n_rows * size bytes.
static yoke_status read_column(const mat_sink* sink, size_t offset, size_t size, unsigned char* to,
                               const yoke_sink* errors) {
  const uint64_t block_size = (uint64_t)sink->n_block_rows * (sink->layout->stride - YOKE_ROW_LOST);
  const uint64_t in_block = (uint64_t)(offset - YOKE_ROW_TIME) * sink->n_block_rows;
  for (uint64_t row = 0; row < sink->n_rows; row += sink->n_block_rows) {
    const uint64_t left = sink->n_rows - row;
    const size_t n = left < sink->n_block_rows ? (size_t)left : sink->n_block_rows;
    const uint64_t at = row / sink->n_block_rows * block_size + in_block;
    YOKE_TRY(yoke__os_file_read(sink->spool, to + row * size, n * size, at, errors));
  }
  return YOKE_OK;
}

// Writes one variable; data stays the caller's.
static yoke_status put_variable(mat_sink* sink, const char* name, enum matio_classes kind,
                                enum matio_types type, size_t n_rows, size_t n_columns, void* data,
                                int flags, const yoke_sink* errors) {
  size_t size[2] = {n_rows, n_columns};
  matvar_t* variable = Mat_VarCreate(name, kind, type, 2, size, data, MAT_F_DONT_COPY_DATA | flags);
  const bool is_good =
      variable != NULL && Mat_VarWrite(sink->mat, variable, MAT_COMPRESSION_NONE) == 0;
  Mat_VarFree(variable);
  if (!is_good) {
    return yoke_fail(errors, YOKE_IO, "matio cannot write variable %s", name);
  }
  return YOKE_OK;
}

// UTF-8 to UTF-16, at most n_max units; bytes that are no UTF-8 become U+FFFD. Returns the number
// of units.
static size_t to_utf16(const unsigned char* text, size_t size, uint16_t* to, size_t n_max) {
  size_t n = 0;
  for (size_t i = 0; i < size && text[i] != '\0' && n < n_max;) {
    const unsigned char c = text[i];
    const size_t length = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 0;
    uint32_t code = length == 1 ? c : length == 2 ? c & 0x1fu : length == 3 ? c & 0x0fu : c & 0x07u;
    size_t k = 1;
    while (k < length && i + k < size && (text[i + k] & 0xc0) == 0x80) {
      code = code << 6 | (text[i + k] & 0x3fu);
      k++;
    }
    const bool is_good =
        length > 0 && k == length && code <= 0x10ffff && (code & 0xfffff800u) != 0xd800;
    i += is_good ? length : 1;
    code = is_good ? code : 0xfffd;
    if (code >= 0x10000 && n + 1 < n_max) {
      to[n++] = (uint16_t)(0xd7c0 + (code >> 10));
      to[n++] = (uint16_t)(0xdc00 + (code & 0x3ff));
    } else {
      to[n++] = (uint16_t)(code >= 0x10000 ? 0xfffd : code);
    }
  }
  return n;
}

// A string column as a char matrix, padded with blanks to its longest text.
static yoke_status put_text_column(mat_sink* sink, const char* name, const unsigned char* cells,
                                   size_t size, const yoke_sink* errors) {
  const size_t n_rows = (size_t)sink->n_rows;
  uint16_t* units = malloc(size * sizeof units[0]);
  size_t width = 1;
  for (size_t row = 0; units != NULL && row < n_rows; row++) {
    const size_t n = to_utf16(cells + row * size, size, units, size);
    width = n > width ? n : width;
  }
  uint16_t* text = malloc((n_rows * width + 1) * sizeof text[0]);
  if (units == NULL || text == NULL) {
    free(units);
    free(text);
    return YOKE_NO_MEMORY;
  }
  for (size_t row = 0; row < n_rows; row++) {
    const size_t n = to_utf16(cells + row * size, size, units, size);
    for (size_t i = 0; i < width; i++) {
      text[i * n_rows + row] = i < n ? units[i] : ' ';
    }
  }
  const yoke_status status = put_variable(sink, name, MAT_C_CHAR, MAT_T_UTF16, n_rows,
                                          n_rows > 0 ? width : 0, text, 0, errors);
  free(units);
  free(text);
  return status;
}

// One column from the spool into the file. buffer: n_rows * size bytes.
static yoke_status put_column(mat_sink* sink, const yoke_record_column* column, size_t index,
                              unsigned char* buffer, const yoke_sink* errors) {
  const size_t offset = sink->layout->offsets[index];
  const char* name = sink->names[index + 1];
  const size_t n = (size_t)sink->n_rows;
  YOKE_TRY(read_column(sink, offset, column->size, buffer, errors));
  switch (column->type) {
  case YOKE_REAL:
    return put_variable(sink, name, MAT_C_DOUBLE, MAT_T_DOUBLE, n, 1, buffer, 0, errors);
  case YOKE_STRING:
    return put_text_column(sink, name, buffer, column->size, errors);
  case YOKE_BOOLEAN:
    // in place: byte i is written after integer i was read
    for (size_t i = 0; i < n; i++) {
      buffer[i] = yoke__row_integer(buffer, 8 * i) != 0;
    }
    return put_variable(sink, name, MAT_C_UINT8, MAT_T_UINT8, n, 1, buffer, MAT_F_LOGICAL, errors);
  default:
    return put_variable(sink, name, MAT_C_INT64, MAT_T_INT64, n, 1, buffer, 0, errors);
  }
}

// A 1 x n char, for a cell or on its own (name not NULL); NULL without memory
static matvar_t* make_text(const char* name, const char* text) {
  const size_t n_bytes = strlen(text);
  uint16_t* units = malloc((n_bytes + 1) * sizeof units[0]);
  if (units == NULL) {
    return NULL;
  }
  const size_t n = to_utf16((const unsigned char*)text, n_bytes, units, n_bytes);
  size_t size[2] = {n > 0, n};
  matvar_t* variable = Mat_VarCreate(name, MAT_C_CHAR, MAT_T_UTF16, 2, size, units, 0);
  free(units);
  return variable;
}

static yoke_status put_names(mat_sink* sink, const yoke_sink* errors) {
  const size_t n = sink->layout->n_columns + 1;
  size_t size[2] = {n, 3};
  matvar_t* names = Mat_VarCreate("names", MAT_C_CELL, MAT_T_CELL, 2, size, NULL, 0);
  bool is_good = names != NULL;
  for (size_t i = 0; is_good && i < n; i++) {
    const yoke_record_column* column = i > 0 ? &sink->layout->columns[i - 1] : NULL;
    const char* texts[3] = {sink->names[i], column != NULL ? column->name : "time",
                            column != NULL ? column->dim : "s"};
    for (size_t k = 0; is_good && k < 3; k++) {
      matvar_t* text = make_text(NULL, texts[k]);
      is_good = text != NULL;
      Mat_VarSetCell(names, (int)(k * n + i), text);
    }
  }
  is_good = is_good && Mat_VarWrite(sink->mat, names, MAT_COMPRESSION_NONE) == 0;
  Mat_VarFree(names);
  matvar_t* title = make_text("title", sink->layout->title);
  is_good = is_good && title != NULL && Mat_VarWrite(sink->mat, title, MAT_COMPRESSION_NONE) == 0;
  Mat_VarFree(title);
  if (!is_good) {
    return yoke_fail(errors, YOKE_IO, "matio cannot write the names of the columns");
  }
  return YOKE_OK;
}

static yoke_status put_gaps(mat_sink* sink, const yoke_sink* errors) {
  const size_t n = sink->n_gaps;
  double* values = malloc((2 * n + 1) * sizeof values[0]);
  YOKE_TRY_MEMORY(values);
  for (size_t i = 0; i < n; i++) {
    values[i] = (double)sink->gaps[i].row;
    values[n + i] = (double)sink->gaps[i].n_lost;
  }
  const yoke_status status =
      put_variable(sink, "gaps", MAT_C_DOUBLE, MAT_T_DOUBLE, n, 2, values, 0, errors);
  free(values);
  return status;
}

// Everything that the file holds, from the spool.
static yoke_status put_all(mat_sink* sink, const yoke_sink* errors) {
  const yoke_record_layout* layout = sink->layout;
  size_t widest = sizeof(double);
  for (size_t i = 0; i < layout->n_columns; i++) {
    widest = layout->columns[i].size > widest ? layout->columns[i].size : widest;
  }
  unsigned char* buffer = malloc((size_t)sink->n_rows * widest + 1);
  YOKE_TRY_MEMORY(buffer);
  yoke_status status = read_column(sink, YOKE_ROW_TIME, sizeof(double), buffer, errors);
  if (status >= 0) {
    status = put_variable(sink, "time", MAT_C_DOUBLE, MAT_T_DOUBLE, (size_t)sink->n_rows, 1, buffer,
                          0, errors);
  }
  for (size_t i = 0; status >= 0 && i < layout->n_columns; i++) {
    status = put_column(sink, &layout->columns[i], i, buffer, errors);
  }
  free(buffer);
  status = status < 0 ? status : put_names(sink, errors);
  return status < 0 ? status : put_gaps(sink, errors);
}

// Closes the file and looks whether all of it has arrived.
static yoke_status finish_file(mat_sink* sink, const yoke_sink* errors) {
  Mat_Close(sink->mat);
  sink->mat = NULL;
  char* path = sink->spool_path;
  char* ending = path + strlen(path) - strlen(SPOOL_ENDING);
  *ending = '\0';
  const yoke_status status = yoke__record_mat_check(path, sink->layout->n_columns + N_OURS, errors);
  *ending = SPOOL_ENDING[0];
  return status;
}

static yoke_status mat_close(void* self, uint64_t n_lost, uint64_t* n_rows,
                             const yoke_sink* errors) {
  mat_sink* sink = self;
  yoke_status status = spool_block(sink, errors);
  if (status >= 0 && n_lost > 0) {
    status = note_gap(sink, n_lost);
  }

  // also when the last block did not fit: the rows before it do
  yoke_status status_all = put_all(sink, status < 0 ? NULL : errors);
  if (status_all >= 0) {
    status_all = finish_file(sink, status < 0 ? NULL : errors);
  }
  status = status < 0 ? status : status_all;
  *n_rows = status_all < 0 ? 0 : sink->n_rows;
  mat_discard(sink);
  return status;
}

#else  // no matio in this build

static yoke_status mat_open(const yoke_record_layout* layout, const char* path, void** self,
                            const yoke_sink* errors) {
  (void)layout;
  (void)path;
  *self = NULL;
  return yoke_fail(errors, YOKE_NO_SUPPORT, "this build lacks the library matio");
}

// never called: open fails
#define mat_write   NULL
#define mat_flush   NULL
#define mat_n_rows  NULL
#define mat_close   NULL
#define mat_discard NULL

#endif

const yoke_record_sink_ops yoke__record_mat_ops = {
    .file = "results.mat",
    .format = YOKE_RECORD_MAT,
    .open = mat_open,
    .write = mat_write,
    .flush = mat_flush,
    .n_rows = mat_n_rows,
    .close = mat_close,
    .discard = mat_discard,
};
