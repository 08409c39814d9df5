// results.csv: RFC 4180, line ends LF, numbers as the shortest text that reads back to the same
// double.
//
//   time,left.f,right.x
//   0,1.5,0
//   0.001,1.4993,0.00015
//
// A gap (rows lost in a paced run) is one row with the time of the last row before it and empty
// cells: plots break there and the time column stays in order. Booleans are 0 and 1, enumerations
// their number. The file ends with a complete row at any time but within a write; a write that
// fails is cut back to the last complete row.
#include <stdio.h>
#include <stdlib.h>

#include "base/base_number.h"
#include "base/base_os.h"
#include "record/record_sink.h"

#define BUFFER_SIZE 524288u  // at least; a few hundred rows per system call
#define NUMBER_SIZE 26u      // longest number, "-1.7976931348623157e-308", and a comma

typedef struct csv_sink {
  const yoke_record_layout* layout;
  int file;
  uint64_t file_size;  // bytes in the file
  uint64_t n_rows_file,
      n_rows_all;  // lines in the file without header, and with those in the buffer
  double last_time;
  char* buffer;
  size_t used, size;
  size_t row_size;  // most that one row of text can take
} csv_sink;

// True if a cell must be quoted: separators, quotes, line ends, or blanks at an end, which some
// readers drop.
static bool needs_quotes(const char* text, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (text[i] == ',' || text[i] == '"' || text[i] == '\r' || text[i] == '\n') {
      return true;
    }
  }
  return n > 0 && (text[0] == ' ' || text[n - 1] == ' ');
}

// A cell of text, at most 2 n + 2 bytes.
static char* put_text(char* at, const char* text, size_t n) {
  if (!needs_quotes(text, n)) {
    memcpy(at, text, n);
    return at + n;
  }
  *at++ = '"';
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '"') {
      *at++ = '"';
    }
    *at++ = text[i];
  }
  *at++ = '"';
  return at;
}

// A string lies NUL-terminated in `size` bytes; a missing NUL does no harm.
static char* put_string(char* at, const unsigned char* cell, size_t size) {
  const unsigned char* end = memchr(cell, '\0', size);
  return put_text(at, (const char*)cell, end != NULL ? (size_t)(end - cell) : size);
}

// Complete lines among the first n bytes of a text that begins at a line's start; *size is where
// the last one ends. Line feeds inside quotes end no line.
static uint64_t count_lines(const char* text, size_t n, size_t* size) {
  uint64_t n_lines = 0;
  bool is_quoted = false;
  *size = 0;
  for (size_t i = 0; i < n; i++) {
    is_quoted ^= text[i] == '"';
    if (text[i] == '\n' && !is_quoted) {
      n_lines++;
      *size = i + 1;
    }
  }
  return n_lines;
}

// Writes the buffer out. On failure the file is cut back to its last complete row.
static yoke_status write_out(csv_sink* sink, const yoke_sink* errors) {
  size_t n_done = 0;
  const yoke_status status =
      yoke__os_file_write(sink->file, sink->buffer, sink->used, &n_done, errors);
  if (status >= 0) {
    sink->file_size += sink->used;
    sink->n_rows_file = sink->n_rows_all;
  } else {
    size_t kept = 0;
    sink->n_rows_file += count_lines(sink->buffer, n_done, &kept);
    sink->n_rows_all = sink->n_rows_file;
    sink->file_size += kept;

    // devices cannot be cut, and the first reason is the one to tell
    yoke__os_file_truncate(sink->file, sink->file_size, NULL);
  }
  sink->used = 0;
  return status;
}

static char* put_header(const yoke_record_layout* layout, char* at) {
  at = put_text(at, "time", strlen("time"));
  for (size_t i = 0; i < layout->n_columns; i++) {
    *at++ = ',';
    at = put_text(at, layout->columns[i].name, strlen(layout->columns[i].name));
  }
  *at++ = '\n';
  return at;
}

static void csv_discard(void* self) {
  csv_sink* sink = self;
  yoke__os_file_close(&sink->file, NULL);
  free(sink->buffer);
  free(sink);
}

static yoke_status csv_open(const yoke_record_layout* layout, const char* path, void** self,
                            const yoke_sink* errors) {
  // room for the longest row, a gap in front of it and the header
  size_t header_size = 16, row_size = NUMBER_SIZE + layout->n_columns + 2;
  for (size_t i = 0; i < layout->n_columns; i++) {
    header_size += 2 * strlen(layout->columns[i].name) + 4;
    row_size +=
        layout->columns[i].type == YOKE_STRING ? 2 * layout->columns[i].size + 2 : NUMBER_SIZE;
  }
  row_size += NUMBER_SIZE + layout->n_columns + 2 + YOKE_NUMBER_SIZE;
  const size_t least = header_size > row_size ? header_size : row_size;
  csv_sink* sink = calloc(1, sizeof *sink);
  const size_t size = BUFFER_SIZE + least;
  char* buffer = malloc(size);
  if (sink == NULL || buffer == NULL) {
    free(sink);
    free(buffer);
    return YOKE_NO_MEMORY;
  }
  *sink = (csv_sink){
      .layout = layout, .file = -1, .buffer = buffer, .size = size, .row_size = row_size};

  // the header goes out at once: whoever looks at the file, or a killed run, finds it
  yoke_status status = yoke__os_file_create(path, &sink->file, errors);
  if (status >= 0) {
    sink->used = (size_t)(put_header(layout, sink->buffer) - sink->buffer);
    status = write_out(sink, errors);
  }
  if (status < 0) {
    csv_discard(sink);
    return status;
  }
  *self = sink;
  return YOKE_OK;
}

static yoke_status make_room(csv_sink* sink, const yoke_sink* errors) {
  return sink->size - sink->used < sink->row_size ? write_out(sink, errors) : YOKE_OK;
}

static char* put_gap(const csv_sink* sink, double time, char* at) {
  at += yoke__number_format(time, at);
  memset(at, ',', sink->layout->n_columns);
  at += sink->layout->n_columns;
  *at++ = '\n';
  return at;
}

static char* put_row(const csv_sink* sink, const unsigned char* row, char* at) {
  const yoke_record_layout* layout = sink->layout;
  at += yoke__number_format(yoke__row_real(row, YOKE_ROW_TIME), at);
  for (size_t i = 0; i < layout->n_columns; i++) {
    const size_t offset = layout->offsets[i];
    *at++ = ',';
    switch (layout->columns[i].type) {
    case YOKE_REAL:
      at += yoke__number_format(yoke__row_real(row, offset), at);
      break;
    case YOKE_BOOLEAN:
      *at++ = yoke__row_integer(row, offset) != 0 ? '1' : '0';
      break;
    case YOKE_STRING:
      at = put_string(at, row + offset, layout->columns[i].size);
      break;
    default:
      at += yoke__number_format_integer(yoke__row_integer(row, offset), at);
      break;
    }
  }
  *at++ = '\n';
  return at;
}

static yoke_status csv_write(void* self, const unsigned char* rows, size_t n,
                             const yoke_sink* errors) {
  csv_sink* sink = self;
  for (size_t i = 0; i < n; i++) {
    YOKE_TRY(make_room(sink, errors));
    const unsigned char* row = rows + i * sink->layout->stride;
    const double time = yoke__row_real(row, YOKE_ROW_TIME);
    char* at = sink->buffer + sink->used;
    if (yoke__row_lost(sink->layout, row) > 0) {
      at = put_gap(sink, sink->n_rows_all > 0 ? sink->last_time : time, at);
      sink->n_rows_all++;
    }
    at = put_row(sink, row, at);
    sink->used = (size_t)(at - sink->buffer);
    sink->last_time = time;
    sink->n_rows_all++;
  }
  return YOKE_OK;
}

static yoke_status csv_flush(void* self, const yoke_sink* errors) {
  return write_out(self, errors);
}

static uint64_t csv_n_rows(const void* self) {
  return ((const csv_sink*)self)->n_rows_file;
}

static yoke_status csv_close(void* self, uint64_t n_lost, uint64_t* n_rows,
                             const yoke_sink* errors) {
  csv_sink* sink = self;
  yoke_status status = make_room(sink, errors);
  if (status >= 0 && n_lost > 0 && sink->n_rows_all > 0) {
    sink->used = (size_t)(put_gap(sink, sink->last_time, sink->buffer + sink->used) - sink->buffer);
    sink->n_rows_all++;
  }
  status = status < 0 ? status : write_out(sink, errors);
  *n_rows = sink->n_rows_file;
  if (status >= 0) {
    status = yoke__os_file_close(&sink->file, errors);
  }
  csv_discard(sink);
  return status;
}

const yoke_record_sink_ops yoke__record_csv_ops = {
    .file = "results.csv",
    .format = YOKE_RECORD_CSV,
    .open = csv_open,
    .write = csv_write,
    .flush = csv_flush,
    .n_rows = csv_n_rows,
    .close = csv_close,
    .discard = csv_discard,
};
