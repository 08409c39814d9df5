// summary.json beside the results: written whole or not at all.
#ifndef YOKE_RECORD_SUMMARY_H
#define YOKE_RECORD_SUMMARY_H

#include "base/base_json.h"
#include "yoke/message.h"

// Finishes the JSON and writes it to directory/summary.json, which is made if missing. Errors of the writer itself come back
// as their status. The JSON stays the caller's to free.
yoke_status yoke__record_summary_write(const char* directory, yoke_json* json,
                                       const yoke_sink* sink);

#endif
