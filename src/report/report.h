// One self-contained HTML page about a run: how far its signals can be off, their curves with error bands, the system as a
// graph, the energy of the bonds, histogram, settings.
// Everything comes from summary.json and the result file; nothing is fetched, now or in the browser.
#ifndef YOKE_REPORT_H
#define YOKE_REPORT_H

#include "yoke/message.h"
#include "yoke/status.h"

// What a page is made of.
typedef struct yoke_report_settings {
  const char* directory;  // of the result; gets report.html
  const char* reference;  // NULL: none. A .csv or .h5 file or a folder, drawn beside the curves
  const char* before;     // NULL: none. Folder of another result, for a second tab
} yoke_report_settings;

// Reads DIRECTORY/summary.json and results.csv or results.h5, and what stands beside it, and writes
// DIRECTORY/report.html, whole or not at all. YOKE_BAD_INPUT: one of them is missing, damaged, or not of Yoke, or the
// reference has no signal of the result.
yoke_status yoke__report_make(const yoke_report_settings* settings, const yoke_sink* sink);
// The same of a result on its own.
yoke_status yoke__report_write(const char* directory, const yoke_sink* sink);

#endif
