// yoke export SYSTEM --ssp: the whole system as an SSP archive.
#ifndef YOKE_APP_EXPORT_SSP_H
#define YOKE_APP_EXPORT_SSP_H

#include "app/app.h"

// Exports the system that the first operand names, with --set applied, to --out or <system>.ssp. fmi: version of the FMUs
// made of native units, 2 or 3. Returns the exit status.
int yoke__app_export_ssp(const yoke_options* options, int fmi);

#endif
