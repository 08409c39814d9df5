// A recorded result as the commands read it: the table, its columns by name, and the summary of the
// run where there is one.
#ifndef YOKE_APP_RESULT_H
#define YOKE_APP_RESULT_H

#include "base/base_arena.h"
#include "base/base_csv.h"
#include "base/base_map.h"
#include "quality/quality_summary.h"

typedef struct yoke_app_result {
  const char* path;  // as given
  yoke_csv csv;
  yoke_map names;  // of the columns, without time
  bool has_summary;
  yoke_summary summary;  // empty without one
} yoke_app_result;

// Reads a file or folder (record_read.h). Returns an exit status; the message of a failure is out,
// with the command's name in front. The csv is freed by yoke__csv_free, everything else by the
// arena.
int yoke__app_result_read(const char* command, const char* path, yoke_arena* arena,
                          yoke_app_result* out);
// The summary.json beside the table: of a folder, or of a file that is called results.csv or
// results.h5. A missing one is fine, a damaged one is not.
int yoke__app_result_read_summary(const char* command, yoke_arena* arena, yoke_app_result* out);

// The name of that summary; NULL: a file of another name, whose neighbours need not belong to it, or out of memory.
const char* yoke__app_result_summary_file(const char* path, yoke_arena* arena);

// Values of a column of numbers, or NULL if it is missing or text.
const double* yoke__app_result_column(const yoke_app_result* result, const char* name);
// Says that there is no such column, or that it is text, and which name was probably meant.
void yoke__app_result_report(const char* command, const yoke_app_result* result, const char* name);

#endif
