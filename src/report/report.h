// One self-contained HTML page about a run: the system as a graph, a verdict per bond, plots, histogram, settings.
// Everything comes from summary.json and the result file; nothing is fetched, now or in the browser.
#ifndef YOKE_REPORT_H
#define YOKE_REPORT_H

#include "yoke/message.h"
#include "yoke/status.h"

// Reads DIRECTORY/summary.json and results.csv or results.h5, and writes DIRECTORY/report.html, whole or not at all.
// YOKE_BAD_INPUT: one of them is missing, damaged, or not of Yoke.
yoke_status yoke__report_write(const char* directory, const yoke_sink* sink);

#endif
