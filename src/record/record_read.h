// Reads a result back for comparison: results.csv, results.h5, or a folder that holds one of them.
#ifndef YOKE_RECORD_READ_H
#define YOKE_RECORD_READ_H

#include <stddef.h>

#include "base/base_csv.h"
#include "yoke/message.h"

// path: a .csv file, a .h5 file, or a folder with results.csv or else results.h5. *out is freed
// with yoke__csv_free. The first column must be called time and hold numbers; rows without any
// value but time (marks of lost rows) are left out. Failures carry the file, and line and column of
// CSV.
yoke_status yoke__record_read(const char* path, yoke_csv* out, const yoke_sink* sink);

#endif
