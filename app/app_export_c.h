// yoke export NETLIST --c: a linear circuit or thermal network as freestanding C.
#ifndef YOKE_APP_EXPORT_C_H
#define YOKE_APP_EXPORT_C_H

#include "app/app.h"

// Exports the netlist that the first operand names into the folder --out, else the working
// directory. Returns the exit status.
int yoke__app_export_c(const yoke_options* options);

#endif
