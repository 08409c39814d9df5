// What `yoke info` shows of a netlist.
#ifndef YOKE_APP_CIRCUIT_H
#define YOKE_APP_CIRCUIT_H

#include <jansson.h>

// Prints the document "yoke-circuit".
void yoke__app_print_circuit(const json_t* circuit);

#endif
