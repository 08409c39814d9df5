// What a run leaves behind beside its results: summary.json.
#ifndef YOKE_APP_SUMMARY_H
#define YOKE_APP_SUMMARY_H

#include "base/base_json.h"
#include "master/master_run.h"
#include "system/system.h"

typedef struct yoke_app_summary {
  const yoke_system* system;
  const yoke_state* state;
  const yoke_run_info* info;
  const yoke_messages* told;  // by the units
  bool is_circuit;            // the system is one netlist
  bool is_printed;            // also to stdout
} yoke_app_summary;

// "done", "interrupted" and so on.
const char* yoke__app_status_word(const yoke_run_info* info);
yoke_status yoke__app_summary_write(const yoke_app_summary* s, const char* directory,
                                    const yoke_sink* sink);

#endif
