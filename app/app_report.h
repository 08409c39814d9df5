// The page about a run, for commands that have --report.
#ifndef YOKE_APP_REPORT_H
#define YOKE_APP_REPORT_H

#include "app/app.h"

// True unless --report was given together with formats that cannot be read back; then a message was printed.
bool yoke__app_can_report(const yoke_options* options, uint32_t formats);

// What the user typed, as a shell would read it again; cut to size.
void yoke__app_command_line(const yoke_options* options, char* to, size_t size);

// Writes DIRECTORY/report.html if --report was given, else removes that of an earlier run. False after a message on stderr.
bool yoke__app_report(const yoke_options* options, const char* directory);

#endif
