// Cost of recording: one row of 50 reals into the ring, and its text, against fprintf in the same
// run. Mean is processor time over all rows, system calls included; median, p99 and worst are wall
// time of blocks of rows, so the median leaves out the blocks in which a buffer is written. The
// numbers are those of a simulation (full mantissas, wide range).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_message.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "record/record.h"
#include "record/record_sink.h"

enum { N_COLUMNS = 50, N_BLOCKS = 200, N_BLOCK_ROWS = 100 };

static double values[N_BLOCK_ROWS][N_COLUMNS + 1];

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void report(const char* what, int64_t cpu_ns, double us_per_row[N_BLOCKS]) {
  qsort(us_per_row, N_BLOCKS, sizeof us_per_row[0], compare);
  printf("%-36s %9.3f %9.3f %9.3f %9.3f\n", what, (double)cpu_ns / 1e3 / N_BLOCKS / N_BLOCK_ROWS,
         us_per_row[N_BLOCKS / 2], us_per_row[N_BLOCKS * 99 / 100], us_per_row[N_BLOCKS - 1]);
}

static void fill_values(void) {
  for (size_t row = 0; row < N_BLOCK_ROWS; row++) {
    values[row][0] = (double)row / 1000;
    for (size_t i = 1; i <= N_COLUMNS; i++) {
      values[row][i] = sin((double)(row * 7 + i)) * pow(10, (double)(i % 12) - 6);
    }
  }
}

static void bench_format(void) {
  static char text[N_BLOCK_ROWS * (N_COLUMNS + 1) * YOKE_NUMBER_SIZE];
  double us[N_BLOCKS];
  const int64_t cpu = yoke__os_cpu_ns();
  size_t n = 0;
  for (size_t block = 0; block < N_BLOCKS; block++) {
    const int64_t start = yoke__os_now_ns();
    n = 0;
    for (size_t row = 0; row < N_BLOCK_ROWS; row++) {
      for (size_t i = 0; i <= N_COLUMNS; i++) {
        n += yoke__number_format(values[row][i], text + n);
        text[n++] = ',';
      }
    }
    us[block] = (double)(yoke__os_now_ns() - start) / 1e3 / N_BLOCK_ROWS;
  }
  report("yoke__number_format, 51 numbers", yoke__os_cpu_ns() - cpu, us);
  printf("%36s %9.1f bytes per row\n", "", (double)n / N_BLOCK_ROWS);
}

static void bench_fprintf(void) {
  FILE* file = fopen("/dev/null", "wb");
  if (file == NULL) {
    return;
  }
  double us[N_BLOCKS];
  const int64_t cpu = yoke__os_cpu_ns();
  for (size_t block = 0; block < N_BLOCKS; block++) {
    const int64_t start = yoke__os_now_ns();
    for (size_t row = 0; row < N_BLOCK_ROWS; row++) {
      for (size_t i = 0; i <= N_COLUMNS; i++) {
        fprintf(file, "%.17g,", values[row][i]);
      }
    }
    us[block] = (double)(yoke__os_now_ns() - start) / 1e3 / N_BLOCK_ROWS;
  }
  fclose(file);
  report("fprintf %.17g to /dev/null", yoke__os_cpu_ns() - cpu, us);
}

static void make_columns(yoke_record_column columns[N_COLUMNS], char names[N_COLUMNS][16]) {
  for (size_t i = 0; i < N_COLUMNS; i++) {
    snprintf(names[i], 16, "unit.v%zu", i);
    columns[i] = (yoke_record_column){.name = names[i], .dim = "", .type = YOKE_REAL, .size = 8};
  }
}

// A file format on its own: the writer's work for a row, without thread and ring.
static void bench_sink(const char* what, const yoke_record_sink_ops* ops, const char* path) {
  static yoke_record_column columns[N_COLUMNS];
  static char names[N_COLUMNS][16];
  static size_t offsets[N_COLUMNS];
  static unsigned char rows[N_BLOCK_ROWS][16 + 8 * N_COLUMNS];
  make_columns(columns, names);
  for (size_t i = 0; i < N_COLUMNS; i++) {
    offsets[i] = 8 + 8 * i;
  }
  for (size_t row = 0; row < N_BLOCK_ROWS; row++) {
    memcpy(rows[row], values[row], sizeof values[row]);
  }
  const yoke_record_layout layout = {columns, offsets, N_COLUMNS, sizeof rows[0], ""};
  void* self = NULL;
  YOKE_CATCH(err);
  if (ops->open(&layout, path, &self, &err.sink) < 0) {
    printf("%-36s %s\n", what, err.text);
    return;
  }
  double us[N_BLOCKS];
  const int64_t cpu = yoke__os_cpu_ns();
  for (size_t block = 0; block < N_BLOCKS; block++) {
    const int64_t start = yoke__os_now_ns();
    ops->write(self, rows[0], N_BLOCK_ROWS, &err.sink);
    us[block] = (double)(yoke__os_now_ns() - start) / 1e3 / N_BLOCK_ROWS;
  }
  uint64_t n_rows = 0;
  const int64_t cpu_ns = yoke__os_cpu_ns() - cpu;
  const int64_t start = yoke__os_now_ns();
  ops->close(self, 0, &n_rows, &err.sink);
  const double close_ms = (double)(yoke__os_now_ns() - start) / 1e6;
  report(what, cpu_ns, us);
  printf("%36s %9.3f ms to close %llu rows %s\n", "", close_ms, (unsigned long long)n_rows,
         err.text);
  yoke__os_file_remove(path);
}

// The stepping thread's share: row and commit, with the writer dropping the rows.
static void bench_ring(void) {
  static yoke_record_column columns[N_COLUMNS];
  static char names[N_COLUMNS][16];
  make_columns(columns, names);
  const yoke_record_settings settings = {.formats = 0};
  yoke_record* record = NULL;
  YOKE_CATCH(err);
  if (yoke__record_open(&settings, columns, N_COLUMNS, &record, &err.sink) < 0) {
    printf("%s\n", err.text);
    return;
  }
  double us[N_BLOCKS];
  int64_t cpu_ns = 0;
  for (size_t block = 0; block < N_BLOCKS; block++) {
    yoke__os_sleep_ns(1000000);  // as in a paced run: the writer keeps up
    const int64_t cpu = yoke__os_cpu_ns();
    const int64_t start = yoke__os_now_ns();
    for (size_t row = 0; row < N_BLOCK_ROWS; row++) {
      double* to = yoke__record_row(record);
      if (to != NULL) {
        memcpy(to, values[row], sizeof values[row]);
        yoke__record_commit(record);
      }
    }
    us[block] = (double)(yoke__os_now_ns() - start) / 1e3 / N_BLOCK_ROWS;
    cpu_ns += yoke__os_cpu_ns() - cpu;
  }
  report("row and commit, 50 columns", cpu_ns, us);
  if (yoke__record_close(&record, NULL, &err.sink) < 0) {
    printf("%s\n", err.text);
  }
}

int main(void) {
  fill_values();
  printf("%-36s %9s %9s %9s %9s   [us per row, %d blocks of %d rows]\n", "", "mean cpu", "median",
         "p99", "worst", N_BLOCKS, N_BLOCK_ROWS);
  bench_format();
  bench_fprintf();
  bench_sink("CSV row, file in this folder", &yoke__record_csv_ops, "bench_record.csv");
  bench_sink("HDF5 row, file in this folder", &yoke__record_hdf5_ops, "bench_record.h5");
  bench_sink("MAT row (spool), file in this folder", &yoke__record_mat_ops, "bench_record.mat");
  bench_ring();
  return 0;
}
