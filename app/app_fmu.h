// What `yoke info` shows of an FMU.
#ifndef YOKE_APP_FMU_H
#define YOKE_APP_FMU_H

#include <jansson.h>
#include <stdbool.h>

// Prints the document "yoke-fmu" in sections; is_all: all variables with their whole descriptions.
void yoke__app_print_fmu(const json_t* fmu, bool is_all);

#endif
