// What yoke compare shows of the bonds of two results, behind --measure ter.
#ifndef YOKE_APP_TER_H
#define YOKE_APP_TER_H

#include "base/base_json.h"
#include "study/study_compare.h"

void yoke__app_ter_print(const yoke_ter_comparison* ter);
void yoke__app_ter_json(const yoke_ter_comparison* ter, const char* key, yoke_json* json);

#endif
