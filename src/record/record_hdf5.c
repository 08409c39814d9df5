// results.h5: up to three tables, one per kind of value, each a group with the same members.
//
//   /real/values     float64 [rows][1 + reals]   first column is time
//   /integer/values  int64   [rows][integers, booleans, enumerations]
//   /text/values     UTF-8 strings of fixed size [rows][strings]
//   /<group>/names, /<group>/units               one string per column
//   /integer/types, /integer/items               "boolean"..., "off,on" of an enumeration
//   /gaps            uint64  [gaps][2]           row index behind the gap, rows lost there
//   attributes of /: title, format
//
// Why: one write per block and table whatever the number of columns (a dataset per column costs a
// call and a chunk each), one type per array, so that h5py, pandas and MATLAB read a table in one
// line, and names in datasets, since attributes end at 64 KB. Chunks are about 128 KB of at most 64
// columns, so one signal of many is still cheap to read. No compression: deflate costs about 27
// times as much per row.
//
// A killed run: metadata leaves the cache only in a flush, so the file on disk is the one of the
// last flush. A full disk: the library (1.10.8) notices a failed write late, because chunks are
// cached, and then crashes at the end of the process, so the space for a block and its index is
// reserved first; if that fails the rows before it are complete and the file closes well. On a file
// system that cannot reserve this protection is missing. The library is not thread-safe: one lock
// per process around all use of it.
#include "record/record_hdf5.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/base_message.h"
#include "base/base_os.h"
#include "base/base_status.h"
#include "record/record_hdf5_child.h"
#include "record/record_sink.h"

#ifdef YOKE_HAVE_HDF5

#include <hdf5.h>
#include <stdatomic.h>

#define CHUNK_SIZE        131072u  // bytes, about
#define MAX_CHUNK_COLUMNS 64u
#define CHUNK_INDEX_SIZE  512u     // file space of the index per chunk, generously
#define METADATA_SIZE     131072u  // file space for everything else that a flush may write
#define N_TABLES          3
#define LOCK_WAIT_NS      50000
#define TIME_COLUMN       SIZE_MAX  // in place of an index into the layout

// One of the three groups. n_columns 0: the group does not exist.
typedef struct table {
  const char* group;
  size_t n_columns;
  size_t* columns;  // index of each in the layout, or TIME_COLUMN
  size_t* offsets;  // of each column in a stored row
  size_t* sizes;    // of each column there; an element may be larger (text)
  size_t element;   // bytes
  hid_t type;       // of one element, in memory and in the file
  hid_t values;     // dataset
  size_t n_chunk_rows, n_chunk_columns;
  unsigned char* buffer;  // n_block_rows rows
} table;

typedef struct hdf5_sink {
  const yoke_record_layout* layout;
  int reserve;  // a second descriptor of the file
  hid_t file, gaps;
  table tables[N_TABLES];
  size_t n_block_rows, n_buffered;
  uint64_t n_rows;  // in the file
  uint64_t n_gaps;
  uint64_t base_size;  // bytes of the file without rows
} hdf5_sink;

// the one lock of the process, and the library's habit of printing errors, switched off while we
// hold it
static atomic_flag is_library_busy = ATOMIC_FLAG_INIT;

typedef struct library_use {
  H5E_auto2_t print;
  void* print_data;
} library_use;

static library_use library_enter(void) {
  while (atomic_flag_test_and_set_explicit(&is_library_busy, memory_order_acquire)) {
    yoke__os_sleep_ns(LOCK_WAIT_NS);
  }
  // before the library's first call: at the end of the process it would close files again whose writes have failed, and
  // crash (1.10.8). All files are closed here.
  static bool is_known;
  if (!is_known) {
    is_known = true;
    H5dont_atexit();
  }
  library_use use = {NULL, NULL};
  H5Eget_auto2(H5E_DEFAULT, &use.print, &use.print_data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  return use;
}

static void library_leave(library_use use) {
  H5Eset_auto2(H5E_DEFAULT, use.print, use.print_data);
  atomic_flag_clear_explicit(&is_library_busy, memory_order_release);
}

// Why a call of the library failed.
typedef struct reason {
  char text[YOKE_MESSAGE_TEXT_SIZE];
  int code;          // errno of the call of the system that failed; 0: none did
  bool is_resource;  // the library could not get memory
} reason;

// The innermost entry of the error stack; the system's own words where it has them.
static herr_t take_reason(unsigned n, const H5E_error2_t* entry, void* data) {
  reason* to = data;
  if (n > 0 || entry->desc == NULL) {
    return 0;
  }
  // the library has no field for it: "..., errno = 28, error message = '...'"
  static const char mark[] = "errno = ";
  const char* at = strstr(entry->desc, mark);
  to->code = at == NULL ? 0 : (int)strtol(at + sizeof mark - 1, NULL, 10);
  to->is_resource = entry->maj_num == H5E_RESOURCE;
  if (to->code > 0) {
    snprintf(to->text, sizeof to->text, "%s", yoke__errno_text(to->code));
  } else if (to->is_resource) {
    snprintf(to->text, sizeof to->text, "%s", yoke_status_text(YOKE_NO_MEMORY));
  } else {
    snprintf(to->text, sizeof to->text, "HDF5: %s", entry->desc);
  }
  return 0;
}

// otherwise: the status where it was neither the system nor memory
static yoke_status fail_as(yoke_status otherwise, const yoke_sink* errors) {
  reason why = {.text = "HDF5 reports an error"};
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, &why);
  const yoke_status status = why.code > 0      ? yoke__status_of_errno(why.code)
                             : why.is_resource ? YOKE_NO_MEMORY
                                               : otherwise;
  return yoke_fail(errors, status, "%s", why.text);
}

static yoke_status hdf5_failure(const yoke_sink* errors) {
  return fail_as(YOKE_IO, errors);
}

// Of a file that is read: failures of the library itself are about what the file holds.
static yoke_status read_failure(const yoke_sink* errors) {
  return fail_as(YOKE_BAD_INPUT, errors);
}

// strings of variable length, UTF-8; -1 on failure
static hid_t text_type(void) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  if (type >= 0 && (H5Tset_size(type, H5T_VARIABLE) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0)) {
    H5Tclose(type);
    return -1;
  }
  return type;
}

// Options of a dataset: no time stamps, so that the same run gives the same bytes.
static hid_t dataset_options(void) {
  const hid_t options = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(options, false);
  return options;
}

static bool write_texts(hid_t group, const char* name, const char* const texts[], size_t n) {
  const hsize_t size = n;
  const hid_t type = text_type();
  const hid_t space = H5Screate_simple(1, &size, NULL);
  const hid_t options = dataset_options();
  const hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, options, H5P_DEFAULT);
  const bool is_good = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) >= 0;
  H5Dclose(set);
  H5Pclose(options);
  H5Sclose(space);
  H5Tclose(type);
  return is_good;
}

static bool write_attribute(hid_t file, const char* name, const char* text) {
  const hid_t type = text_type();
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  const bool is_good = attribute >= 0 && H5Awrite(attribute, type, &text) >= 0;
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
  return is_good;
}

// A dataset of two dimensions that grows by rows.
static hid_t create_growing(hid_t place, const char* name, hid_t type, size_t n_columns,
                            size_t n_chunk_rows, size_t n_chunk_columns) {
  const hsize_t now[2] = {0, n_columns}, most[2] = {H5S_UNLIMITED, n_columns};
  const hsize_t chunk[2] = {n_chunk_rows, n_chunk_columns};
  const hid_t space = H5Screate_simple(2, now, most);
  const hid_t options = dataset_options();
  hid_t set = -1;
  if (H5Pset_chunk(options, 2, chunk) >= 0) {
    set = H5Dcreate2(place, name, type, space, H5P_DEFAULT, options, H5P_DEFAULT);
  }
  H5Pclose(options);
  H5Sclose(space);
  return set;
}

// n rows behind the n_before that the dataset holds
static bool append_rows(hid_t set, hid_t type, uint64_t n_before, size_t n, size_t n_columns,
                        const void* rows) {
  const hsize_t size[2] = {n_before + n, n_columns};
  const hsize_t start[2] = {n_before, 0}, count[2] = {n, n_columns};
  if (H5Dset_extent(set, size) < 0) {
    return false;
  }
  const hid_t memory = H5Screate_simple(2, count, NULL);
  const hid_t place = H5Dget_space(set);
  const bool is_good = H5Sselect_hyperslab(place, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                       H5Dwrite(set, type, memory, place, H5P_DEFAULT, rows) >= 0;
  H5Sclose(place);
  H5Sclose(memory);
  return is_good;
}

// Chunks of one table that n_rows rows occupy.
static uint64_t count_chunks(const table* t, uint64_t n_rows) {
  if (t->n_columns == 0) {
    return 0;
  }
  const uint64_t down = (n_rows + t->n_chunk_rows - 1) / t->n_chunk_rows;
  return down * ((t->n_columns + t->n_chunk_columns - 1) / t->n_chunk_columns);
}

// Bytes the file may have with n_rows rows.
static uint64_t size_with_rows(const hdf5_sink* sink, uint64_t n_rows) {
  uint64_t size = sink->base_size + METADATA_SIZE + 1024 * sink->n_gaps;
  for (size_t i = 0; i < N_TABLES; i++) {
    const table* t = &sink->tables[i];
    const uint64_t chunk = t->n_chunk_rows * t->n_chunk_columns * t->element;
    size += count_chunks(t, n_rows) * (chunk + CHUNK_INDEX_SIZE);
  }
  return size;
}

// Which of the tables a column belongs to.
static size_t table_of(yoke_type type) {
  return type == YOKE_REAL ? 0 : type == YOKE_STRING ? 2 : 1;
}

static const char* type_name(yoke_type type) {
  return type == YOKE_BOOLEAN ? "boolean" : type == YOKE_ENUMERATION ? "enumeration" : "integer";
}

// "off,on" of an enumeration, "" of others; malloc'ed
static char* join_items(const char* const* items) {
  size_t size = 1;
  for (size_t i = 0; items != NULL && items[i] != NULL; i++) {
    size += strlen(items[i]) + 1;
  }
  char* text = calloc(1, size);
  size_t n = 0;
  for (size_t i = 0; text != NULL && items != NULL && items[i] != NULL; i++) {
    n += (size_t)snprintf(text + n, size - n, "%s%s", i > 0 ? "," : "", items[i]);
  }
  return text;
}

static bool write_items(hid_t group, const yoke_record_layout* layout, const table* t) {
  char** items = calloc(t->n_columns, sizeof items[0]);
  bool is_good = items != NULL;
  for (size_t i = 0; is_good && i < t->n_columns; i++) {
    items[i] = join_items(layout->columns[t->columns[i]].items);
    is_good = items[i] != NULL;
  }
  is_good = is_good && write_texts(group, "items", (const char* const*)items, t->n_columns);
  for (size_t i = 0; items != NULL && i < t->n_columns; i++) {
    free(items[i]);
  }
  free(items);
  return is_good;
}

// names, units and what else describes the columns of one table; texts: room for n_columns
static bool describe_columns(hid_t group, const yoke_record_layout* layout, const table* t,
                             const char** texts) {
  for (size_t i = 0; i < t->n_columns; i++) {
    texts[i] = t->columns[i] == TIME_COLUMN ? "time" : layout->columns[t->columns[i]].name;
  }
  bool is_good = write_texts(group, "names", texts, t->n_columns);
  for (size_t i = 0; i < t->n_columns; i++) {
    texts[i] = t->columns[i] == TIME_COLUMN ? "s" : layout->columns[t->columns[i]].dim;
  }
  is_good = is_good && write_texts(group, "units", texts, t->n_columns);
  if (is_good && strcmp(t->group, "integer") == 0) {
    for (size_t i = 0; i < t->n_columns; i++) {
      texts[i] = type_name(layout->columns[t->columns[i]].type);
    }
    is_good = write_texts(group, "types", texts, t->n_columns) && write_items(group, layout, t);
  }
  return is_good;
}

// Sizes of chunks from columns and element size.
static void choose_chunks(table* t) {
  const size_t across = (t->n_columns + MAX_CHUNK_COLUMNS - 1) / MAX_CHUNK_COLUMNS;
  t->n_chunk_columns = (t->n_columns + across - 1) / across;
  const size_t row = t->n_chunk_columns * t->element;
  const size_t n_rows = CHUNK_SIZE / row;
  t->n_chunk_rows = n_rows < 16 ? 16 : n_rows > 4096 ? 4096 : n_rows;
}

static bool make_table(hdf5_sink* sink, table* t, const char** texts) {
  choose_chunks(t);
  if (strcmp(t->group, "text") == 0) {
    t->type = H5Tcopy(H5T_C_S1);
    if (H5Tset_size(t->type, t->element) < 0 || H5Tset_cset(t->type, H5T_CSET_UTF8) < 0) {
      return false;
    }
  } else {
    t->type = H5Tcopy(strcmp(t->group, "real") == 0 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64);
  }
  const hid_t group = H5Gcreate2(sink->file, t->group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (group < 0) {
    return false;
  }
  const bool is_good = describe_columns(group, sink->layout, t, texts);
  t->values =
      create_growing(group, "values", t->type, t->n_columns, t->n_chunk_rows, t->n_chunk_columns);
  H5Gclose(group);
  return is_good && t->values >= 0;
}

static void add_column(table* t, size_t column, size_t offset, size_t size) {
  t->columns[t->n_columns] = column;
  t->offsets[t->n_columns] = offset;
  t->sizes[t->n_columns] = size;
  t->element = size > t->element ? size : t->element;
  t->n_columns++;
}

// Sorts the columns into the tables and makes those that have some.
static bool make_tables(hdf5_sink* sink) {
  const yoke_record_layout* layout = sink->layout;
  const size_t n_all = layout->n_columns + 1;
  const char** texts = calloc(n_all, sizeof texts[0]);
  bool is_good = texts != NULL;
  for (size_t k = 0; is_good && k < N_TABLES; k++) {
    table* t = &sink->tables[k];
    t->columns = calloc(n_all, sizeof t->columns[0]);
    t->offsets = calloc(n_all, sizeof t->offsets[0]);
    t->sizes = calloc(n_all, sizeof t->sizes[0]);
    is_good = t->columns != NULL && t->offsets != NULL && t->sizes != NULL;
    if (!is_good) {
      break;
    }
    t->element = 8;
    if (k == 0) {
      add_column(t, TIME_COLUMN, YOKE_ROW_TIME, sizeof(double));
    }
    for (size_t i = 0; i < layout->n_columns; i++) {
      if (table_of(layout->columns[i].type) == k) {
        add_column(t, i, layout->offsets[i], layout->columns[i].size);
      }
    }
    is_good = t->n_columns == 0 || make_table(sink, t, texts);
  }
  free(texts);
  return is_good;
}

// One block buffer per table: as many rows as the table with the lowest chunks.
static bool make_buffers(hdf5_sink* sink) {
  sink->n_block_rows = 4096;
  for (size_t k = 0; k < N_TABLES; k++) {
    const table* t = &sink->tables[k];
    if (t->n_columns > 0 && t->n_chunk_rows < sink->n_block_rows) {
      sink->n_block_rows = t->n_chunk_rows;
    }
  }
  for (size_t k = 0; k < N_TABLES; k++) {
    table* t = &sink->tables[k];
    if (t->n_columns > 0) {
      t->buffer = calloc(sink->n_block_rows * t->n_columns, t->element);
      if (t->buffer == NULL) {
        return false;
      }
    }
  }
  return true;
}

// The file with metadata evictions off: dirty metadata is written in flushes only.
static hid_t create_file(const char* path) {
  const hid_t options = H5Pcreate(H5P_FILE_ACCESS);
  H5AC_cache_config_t cache = {.version = H5AC__CURR_CACHE_CONFIG_VERSION};
  hid_t file = -1;
  if (H5Pget_mdc_config(options, &cache) >= 0) {
    cache.evictions_enabled = false;
    cache.incr_mode = H5C_incr__off;
    cache.flash_incr_mode = H5C_flash_incr__off;
    cache.decr_mode = H5C_decr__off;
    if (H5Pset_mdc_config(options, &cache) >= 0 &&
        H5Pset_fclose_degree(options, H5F_CLOSE_STRONG) >= 0) {
      file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, options);
    }
  }
  H5Pclose(options);
  return file;
}

static void free_sink(hdf5_sink* sink) {
  for (size_t k = 0; k < N_TABLES; k++) {
    free(sink->tables[k].columns);
    free(sink->tables[k].offsets);
    free(sink->tables[k].sizes);
    free(sink->tables[k].buffer);
  }
  yoke__os_file_close(&sink->reserve, NULL);
  free(sink);
}

// Closes what is open in the library. True if all went well.
static bool close_file(hdf5_sink* sink) {
  bool is_good = true;
  for (size_t k = 0; k < N_TABLES; k++) {
    if (sink->tables[k].values > 0) {
      is_good &= H5Dclose(sink->tables[k].values) >= 0;
    }
    if (sink->tables[k].type > 0) {
      is_good &= H5Tclose(sink->tables[k].type) >= 0;
    }
  }
  if (sink->gaps > 0) {
    is_good &= H5Dclose(sink->gaps) >= 0;
  }
  if (sink->file > 0) {
    is_good &= H5Fclose(sink->file) >= 0;
  }
  return is_good;
}

// All that the file holds before the first row.
static bool fill_file(hdf5_sink* sink, const char* path) {
  sink->file = create_file(path);
  if (sink->file < 0 || !write_attribute(sink->file, "title", sink->layout->title) ||
      !write_attribute(sink->file, "format", "yoke results 1")) {
    return false;
  }
  sink->gaps = create_growing(sink->file, "gaps", H5T_NATIVE_UINT64, 2, 64, 2);
  hsize_t size = 0;
  if (sink->gaps < 0 || !make_tables(sink) || H5Fflush(sink->file, H5F_SCOPE_LOCAL) < 0 ||
      H5Fget_filesize(sink->file, &size) < 0) {
    return false;
  }
  sink->base_size = size;
  return true;
}

// Reserves what n_rows rows and everything around them may need, before the library is asked to
// write them.
static yoke_status reserve_rows(hdf5_sink* sink, uint64_t n_rows, const yoke_sink* errors) {
  return yoke__os_file_reserve(sink->reserve, size_with_rows(sink, n_rows), errors);
}

static void hdf5_discard(void* self) {
  const library_use use = library_enter();
  close_file(self);
  library_leave(use);
  free_sink(self);
}

static yoke_status hdf5_open(const yoke_record_layout* layout, const char* path, void** self,
                             const yoke_sink* errors) {
  hdf5_sink* sink = calloc(1, sizeof *sink);
  YOKE_TRY_MEMORY(sink);
  sink->layout = layout;
  sink->reserve = -1;
  static const char* const groups[N_TABLES] = {"real", "integer", "text"};
  for (size_t k = 0; k < N_TABLES; k++) {
    sink->tables[k].group = groups[k];
  }

  // names and a first block must fit before the library writes its first byte
  yoke_status status = yoke__os_file_create(path, &sink->reserve, errors);
  if (status >= 0) {
    uint64_t n_text = 0;
    for (size_t i = 0; i < layout->n_columns; i++) {
      n_text += strlen(layout->columns[i].name) + strlen(layout->columns[i].dim) + 256;
    }
    status = yoke__os_file_reserve(sink->reserve, 2 * (uint64_t)METADATA_SIZE + n_text, errors);
  }
  if (status >= 0) {
    const library_use use = library_enter();
    status = fill_file(sink, path) ? YOKE_OK : hdf5_failure(errors);
    library_leave(use);
  }
  if (status >= 0 && !make_buffers(sink)) {
    status = YOKE_NO_MEMORY;
  }
  if (status < 0) {
    hdf5_discard(sink);
    return status;
  }
  *self = sink;
  return YOKE_OK;
}

// Rows of the buffers into the file, space first. On failure they are dropped: the file stays as it
// is.
static yoke_status write_block(hdf5_sink* sink, const yoke_sink* errors) {
  const size_t n = sink->n_buffered;
  sink->n_buffered = 0;
  if (n == 0) {
    return YOKE_OK;
  }
  YOKE_TRY(reserve_rows(sink, sink->n_rows + n, errors));
  for (size_t k = 0; k < N_TABLES; k++) {
    const table* t = &sink->tables[k];
    if (t->n_columns > 0 &&
        !append_rows(t->values, t->type, sink->n_rows, n, t->n_columns, t->buffer)) {
      return hdf5_failure(errors);
    }
  }
  sink->n_rows += n;
  return YOKE_OK;
}

// A gap in front of the next row.
static yoke_status write_gap(hdf5_sink* sink, uint64_t n_lost, const yoke_sink* errors) {
  const uint64_t gap[2] = {sink->n_rows + sink->n_buffered, n_lost};
  sink->n_gaps++;
  YOKE_TRY(reserve_rows(sink, sink->n_rows, errors));
  return append_rows(sink->gaps, H5T_NATIVE_UINT64, sink->n_gaps - 1, 1, 2, gap)
             ? YOKE_OK
             : hdf5_failure(errors);
}

// One stored row into the buffers of its tables.
static void buffer_row(hdf5_sink* sink, const unsigned char* row) {
  for (size_t k = 0; k < N_TABLES; k++) {
    const table* t = &sink->tables[k];
    if (t->buffer == NULL) {
      continue;
    }
    unsigned char* to = t->buffer + sink->n_buffered * t->n_columns * t->element;
    for (size_t i = 0; i < t->n_columns; i++) {
      if (t->element == 8) {
        memcpy(to + i * 8, row + t->offsets[i], 8);
      } else {
        // zeros behind the text, also where the column is smaller than the widest one
        memset(to + i * t->element, 0, t->element);
        memcpy(to + i * t->element, row + t->offsets[i], t->sizes[i]);
      }
    }
  }
  sink->n_buffered++;
}

static yoke_status write_rows(hdf5_sink* sink, const unsigned char* rows, size_t n,
                              const yoke_sink* errors) {
  for (size_t i = 0; i < n; i++) {
    const unsigned char* row = rows + i * sink->layout->stride;
    if (yoke__row_lost(sink->layout, row) > 0) {
      YOKE_TRY(write_gap(sink, yoke__row_lost(sink->layout, row), errors));
    }
    buffer_row(sink, row);
    if (sink->n_buffered == sink->n_block_rows) {
      YOKE_TRY(write_block(sink, errors));
    }
  }
  return YOKE_OK;
}

static yoke_status hdf5_write(void* self, const unsigned char* rows, size_t n,
                              const yoke_sink* errors) {
  const library_use use = library_enter();
  const yoke_status status = write_rows(self, rows, n, errors);
  library_leave(use);
  return status;
}

static yoke_status flush_file(hdf5_sink* sink, const yoke_sink* errors) {
  YOKE_TRY(write_block(sink, errors));
  return H5Fflush(sink->file, H5F_SCOPE_LOCAL) >= 0 ? YOKE_OK : hdf5_failure(errors);
}

static yoke_status hdf5_flush(void* self, const yoke_sink* errors) {
  const library_use use = library_enter();
  const yoke_status status = flush_file(self, errors);
  library_leave(use);
  return status;
}

static uint64_t hdf5_n_rows(const void* self) {
  return ((const hdf5_sink*)self)->n_rows;
}

static yoke_status hdf5_close(void* self, uint64_t n_lost, uint64_t* n_rows,
                              const yoke_sink* errors) {
  hdf5_sink* sink = self;
  const library_use use = library_enter();
  yoke_status status = write_block(sink, errors);
  if (status >= 0 && n_lost > 0) {
    status = write_gap(sink, n_lost, errors);
  }
  *n_rows = sink->n_rows;
  if (!close_file(sink) && status >= 0) {
    status = hdf5_failure(errors);
  }
  library_leave(use);
  free_sink(sink);
  return status;
}

// Reading back.

// All values of one group into columns `first`... of the table, as doubles; NULL names are an
// error.
static yoke_status read_group(hid_t file, const char* group, yoke_csv* out, size_t first, size_t n,
                              const yoke_sink* errors) {
  char path[64];
  snprintf(path, sizeof path, "%s/values", group);
  const hid_t values = H5Dopen2(file, path, H5P_DEFAULT);
  snprintf(path, sizeof path, "%s/names", group);
  const hid_t names = H5Dopen2(file, path, H5P_DEFAULT);
  const hid_t texts = text_type();
  const hid_t name_space = H5Dget_space(names);
  bool is_good =
      values >= 0 && names >= 0 && H5Sget_simple_extent_npoints(name_space) == (hssize_t)n;

  char** list = calloc(n, sizeof list[0]);
  double* rows = calloc(out->n_rows * n + 1, sizeof rows[0]);
  bool has_room = list != NULL && rows != NULL;
  is_good = is_good && has_room &&
            H5Dread(names, texts, H5S_ALL, H5S_ALL, H5P_DEFAULT, list) >= 0 &&
            H5Dread(values, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0;
  for (size_t i = 0; is_good && i < n; i++) {
    yoke_csv_column* column = &out->columns[first + i];
    is_good = list[i] != NULL;
    column->name = is_good ? yoke__arena_text(&out->arena, list[i], strlen(list[i])) : NULL;
    column->values = yoke__arena_array(&out->arena, out->n_rows, sizeof(double));
    has_room = has_room && (!is_good || column->name != NULL) && column->values != NULL;
    for (size_t row = 0; has_room && row < out->n_rows; row++) {
      column->values[row] = rows[row * n + i];
    }
  }
  if (list != NULL && name_space >= 0) {
    H5Dvlen_reclaim(texts, name_space, H5P_DEFAULT, list);
  }
  free(list);
  free(rows);
  H5Sclose(name_space);
  H5Tclose(texts);
  H5Dclose(names);
  H5Dclose(values);
  return !has_room ? YOKE_NO_MEMORY
         : is_good ? YOKE_OK
                   : yoke_fail(errors, YOKE_BAD_INPUT, "/%s cannot be read: it is damaged", group);
}

// Rows and columns of a group's values; false if it has none or is no table.
static bool measure_group(hid_t file, const char* group, hsize_t size[2]) {
  char path[64];
  snprintf(path, sizeof path, "%s/values", group);
  if (H5Lexists(file, group, H5P_DEFAULT) <= 0 || H5Lexists(file, path, H5P_DEFAULT) <= 0) {
    return false;
  }
  const hid_t values = H5Dopen2(file, path, H5P_DEFAULT);
  const hid_t space = H5Dget_space(values);
  const bool is_table =
      H5Sget_simple_extent_ndims(space) == 2 && H5Sget_simple_extent_dims(space, size, NULL) == 2;
  H5Sclose(space);
  H5Dclose(values);
  return is_table && size[1] > 0 && size[1] <= YOKE_CSV_MAX_COLUMNS &&
         size[0] <= SIZE_MAX / 16 / size[1];
}

static yoke_status read_file(hid_t file, yoke_csv* out, const yoke_sink* errors) {
  hsize_t real[2] = {0, 0}, integer[2] = {0, 0};
  if (!measure_group(file, "real", real)) {
    return yoke_fail(errors, YOKE_BAD_INPUT, "no table /real/values: not a result file");
  }
  const bool has_integers = measure_group(file, "integer", integer);
  if (has_integers && integer[0] != real[0]) {
    return yoke_fail(errors, YOKE_BAD_INPUT, "/real and /integer have different numbers of rows");
  }
  out->n_rows = (size_t)real[0];
  out->n_columns = (size_t)(real[1] + (has_integers ? integer[1] : 0));
  out->columns = yoke__arena_array(&out->arena, out->n_columns, sizeof out->columns[0]);
  YOKE_TRY_MEMORY(out->columns);
  const size_t n_real = (size_t)real[1];
  YOKE_TRY(read_group(file, "real", out, 0, n_real, errors));
  return has_integers ? read_group(file, "integer", out, n_real, (size_t)integer[1], errors)
                      : YOKE_OK;
}

// In the child process.
static yoke_status read_here(const char* path, yoke_csv* out, const yoke_sink* errors) {
  memset(out, 0, sizeof *out);
  const library_use use = library_enter();
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  const yoke_status status = file >= 0 ? read_file(file, out, errors) : read_failure(errors);
  if (file >= 0) {
    H5Fclose(file);
  }
  library_leave(use);
  if (status < 0) {
    yoke__csv_free(out);
  }
  return status;
}

static void free_lock(void) {
  atomic_flag_clear_explicit(&is_library_busy, memory_order_release);
}

yoke_status yoke__record_hdf5_read(const char* path, yoke_csv* out, const yoke_sink* errors) {
  uint64_t size = 0;
  memset(out, 0, sizeof *out);
  YOKE_TRY(yoke__os_file_size(path, &size, errors));
  if (!yoke__os_is_regular(path)) {
    // opening a pipe waits for a writer, and the library jumps to and fro
    return yoke_fail(errors, YOKE_BAD_INPUT, "this is not a regular file");
  }
  const yoke_child_limits limits = yoke__child_limits(size);
  // no other thread is inside the library while this process is copied; the copy frees its own lock
  const library_use use = library_enter();
  const yoke_status status = yoke__read_in_child(read_here, free_lock, path, &limits, out, errors);
  library_leave(use);
  return status;
}

#else  // no HDF5 in this build

static yoke_status hdf5_open(const yoke_record_layout* layout, const char* path, void** self,
                             const yoke_sink* errors) {
  (void)layout;
  (void)path;
  *self = NULL;
  return yoke_fail(errors, YOKE_NO_SUPPORT, "this build lacks the library HDF5");
}

yoke_status yoke__record_hdf5_read(const char* path, yoke_csv* out, const yoke_sink* errors) {
  (void)path;
  memset(out, 0, sizeof *out);
  return yoke_fail(errors, YOKE_NO_SUPPORT, "this build lacks the library HDF5");
}

// never called: open fails
#define hdf5_write   NULL
#define hdf5_flush   NULL
#define hdf5_n_rows  NULL
#define hdf5_close   NULL
#define hdf5_discard NULL

#endif

const yoke_record_sink_ops yoke__record_hdf5_ops = {
    .file = "results.h5",
    .format = YOKE_RECORD_HDF5,
    .open = hdf5_open,
    .write = hdf5_write,
    .flush = hdf5_flush,
    .n_rows = hdf5_n_rows,
    .close = hdf5_close,
    .discard = hdf5_discard,
};
