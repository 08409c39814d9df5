// A folder to write into, columns of every type, and rows that a formula gives.
#ifndef YOKE_TEST_RECORD_FIXTURE_H
#define YOKE_TEST_RECORD_FIXTURE_H

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base_message.h"
#include "record/record.h"
#include "support/check.h"

#define FIXTURE_PATH_SIZE 512

static const char* const fixture_items[] = {"off", "on", "fault", NULL};

// one column of each type; the row struct mirrors the contract of record.h
static const yoke_record_column fixture_columns[] = {
    {.name = "left.f", .dim = "N", .type = YOKE_REAL, .size = 8},
    {.name = "right.count", .dim = "", .type = YOKE_INTEGER, .size = 8},
    {.name = "right.is_on", .dim = NULL, .type = YOKE_BOOLEAN, .size = 8},
    {.name = "right.mode", .dim = "", .type = YOKE_ENUMERATION, .size = 8, .items = fixture_items},
    {.name = "right.text", .dim = "", .type = YOKE_STRING, .size = 24},
};
enum { FIXTURE_N_COLUMNS = 5 };

typedef struct fixture_row {
  double time;
  double f;
  int64_t count, is_on, mode;
  char text[24];
} fixture_row;

static inline double fixture_f(size_t k) {
  return sin(0.1 * (double)k) * pow(10, (double)(k % 30) - 15);
}

static inline void fixture_fill(fixture_row* row, size_t k) {
  static const char* const texts[] = {
      "", "plain", "a,b", "say \"x\"", "two\nlines", " blank ", "\xc3\xa4\xe2\x82\xac"};
  memset(row, 0, sizeof *row);
  row->time = (double)k / 1000;
  row->f = fixture_f(k);
  row->count = (int64_t)k * 1000003 - 7;
  row->is_on = (int64_t)(k % 2);
  row->mode = (int64_t)(k % 3);
  snprintf(row->text, sizeof row->text, "%s", texts[k % 7]);
}

// Makes an empty folder in the working directory.
static inline void fixture_folder(char path[FIXTURE_PATH_SIZE]) {
  snprintf(path, FIXTURE_PATH_SIZE, "record-XXXXXX");
  assert_non_null(mkdtemp(path));
}

static inline const char* fixture_path(char path[FIXTURE_PATH_SIZE], const char* directory,
                                       const char* file) {
  snprintf(path, FIXTURE_PATH_SIZE, "%.200s/%.255s", directory, file);
  return path;
}

static inline void fixture_remove(const char* folder) {
  DIR* directory = opendir(folder);
  assert_non_null(directory);
  char path[FIXTURE_PATH_SIZE];
  for (const struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
      unlink(fixture_path(path, folder, entry->d_name));
    }
  }
  closedir(directory);
  assert_int_equal(rmdir(folder), 0);
}

// The folder of the running test: set-up and tear-down of every test that writes.
static char folder[FIXTURE_PATH_SIZE];

static inline int make_folder(void** state) {
  (void)state;
  fixture_folder(folder);
  return 0;
}

static inline int remove_folder(void** state) {
  (void)state;
  fixture_remove(folder);
  return 0;
}

static inline bool fixture_exists(const char* directory, const char* file) {
  char path[FIXTURE_PATH_SIZE];
  struct stat info;
  return lstat(fixture_path(path, directory, file), &info) == 0;
}

// The bytes of a file, NUL behind them, to be freed.
static inline char* fixture_read(const char* directory, const char* file, size_t* n) {
  char path[FIXTURE_PATH_SIZE];
  FILE* in = fopen(fixture_path(path, directory, file), "rb");
  if (in == NULL) {
    fail_msg("%s is missing", path);
    return NULL;
  }
  fseek(in, 0, SEEK_END);
  *n = (size_t)ftell(in);
  rewind(in);
  char* bytes = malloc(*n + 1);
  assert_non_null(bytes);
  assert_int_equal(fread(bytes, 1, *n, in), *n);
  bytes[*n] = '\0';
  fclose(in);
  return bytes;
}

static inline yoke_record* fixture_open(const char* directory, uint32_t formats) {
  YOKE_CATCH(err);
  yoke_record* record = NULL;
  const yoke_record_settings settings = {
      .directory = directory, .formats = formats, .title = "all types", .flush_ns = 20000000};
  const yoke_status status =
      yoke__record_open(&settings, fixture_columns, FIXTURE_N_COLUMNS, &record, &err.sink);
  if (status < 0) {
    fail_msg("open: %s", err.text);
  }
  return record;
}

// Rows first..first+n-1, waiting where the ring is full; stops when the writer has failed.
static inline void fixture_record(yoke_record* record, size_t first, size_t n) {
  for (size_t k = first; k < first + n; k++) {
    fixture_row* row = yoke__record_row(record);
    if (row == NULL) {
      if (yoke__record_wait(record) < 0) {
        return;
      }
      row = yoke__record_row(record);
    }
    fixture_fill(row, k);
    yoke__record_commit(record);
  }
}

#endif
