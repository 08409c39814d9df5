// One self-contained HTML page about a run: the system as a graph, a verdict per bond, plots, histogram, settings.
// Everything comes from the result file and from the structs below; nothing is fetched, now or in the browser.
#ifndef YOKE_REPORT_H
#define YOKE_REPORT_H

#include "master/master_run.h"
#include "quality/quality_ledger.h"
#include "system/system.h"

typedef struct yoke_report_input {
  const yoke_system* system;  // units, links, bonds, settings
  const yoke_run_info* info;  // status, steps, times, histogram of step times
  const yoke_ledger* ledger;  // NULL: nothing was judged
  const yoke_state* state;    // after the run, for the health of coupling methods; NULL: left out
  const yoke_messages* messages;  // what the units said; NULL: nothing
  const char* directory;          // with results.csv or results.h5, closed; report.html goes there
  const char* settings_text;      // the system file as it was read; NULL or "": left out
  const char* command;            // how it was run; NULL or "": left out
  bool is_circuit;  // a netlist on its own: the page shows its solver instead of units and bonds
} yoke_report_input;

// Writes directory/report.html, whole or not at all. YOKE_BAD_INPUT: no result file that can be read back.
yoke_status yoke__report_write(const yoke_report_input* input, const yoke_sink* sink);

#endif
