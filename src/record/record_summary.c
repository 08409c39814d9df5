// summary.json, through a temporary name.
#include "record/record_summary.h"

#include "base/base_os.h"

yoke_status yoke__record_summary_write(const char* directory, yoke_json* json,
                                       const yoke_sink* sink) {
  YOKE_TRY(yoke__json_finish(json));
  return yoke__os_write_into(directory, "summary.json", json->text.bytes, json->text.n, sink);
}
