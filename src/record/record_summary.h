// Small text files beside the results (summary.json, report.html): written whole or not at all.
#ifndef YOKE_RECORD_SUMMARY_H
#define YOKE_RECORD_SUMMARY_H

#include <stddef.h>

#include "base/base_json.h"
#include "yoke/message.h"

// Writes n bytes to directory/name, which is made if missing: first under name.part, then renamed,
// so that a reader finds the old file or the new one, never half of one.
yoke_status yoke__record_write_text(const char* directory, const char* name, const char* text,
                                    size_t n, const yoke_sink* sink);

// Finishes the JSON and writes it to directory/summary.json. Errors of the writer itself come back
// as their status. The JSON stays the caller's to free.
yoke_status yoke__record_summary_write(const char* directory, yoke_json* json,
                                       const yoke_sink* sink);

#endif
