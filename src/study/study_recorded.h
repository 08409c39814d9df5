// A recorded result read back, with the summary of the run that made it.
#ifndef YOKE_STUDY_RECORDED_H
#define YOKE_STUDY_RECORDED_H

#include "quality/quality_summary.h"

// Reads a file or folder (record_read.h), and with `has_summary` the summary.json beside the table: of a folder, or of a file
// that is called results.csv or results.h5. A missing one is fine, a damaged one is not. The csv is freed by yoke__csv_free,
// everything else by the arena, also after a failure; path lives on.
yoke_status yoke__recorded_read(const char* path, bool has_summary, yoke_arena* arena,
                                yoke_recorded* out, const yoke_sink* sink);

// That summary: its name (NULL: a file of another name, whose neighbours need not belong to it, or out of memory) and its n
// bytes, to be freed; NULL: there is none.
yoke_status yoke__recorded_summary_bytes(const char* path, yoke_arena* arena, const char** file,
                                         char** bytes, size_t* n, const yoke_sink* sink);

// A column by name, or NULL after a message: there is none, or it is text, and which name was probably meant.
const double* yoke__recorded_find(const yoke_recorded* result, const char* name,
                                  const yoke_sink* sink);

#endif
