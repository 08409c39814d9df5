// An FMU in the place of a system file: one unit, with the times of its default experiment.
#ifndef YOKE_SCENARIO_FMU_H
#define YOKE_SCENARIO_FMU_H

#include <stdbool.h>

#include "base/base_message.h"
#include "base/base_number.h"

// True if the name ends in ".fmu", in any case, or is that of a folder with a modelDescription.xml.
bool yoke__scenario_is_fmu(const char* path);
// The system file that somebody would write for it, malloc'ed. Errors go to messages.
yoke_status yoke__scenario_fmu_text(const char* path, yoke_messages* messages, char** text,
                                    size_t* n);

// The step as text, with as many digits as a run over `length` seconds can count in whole ticks: a third of something is
// often written with sixteen. True: unchanged.
bool yoke__scenario_fit_step(double step, double length, char to[YOKE_NUMBER_SIZE]);

// The name of the unit in a system that is made of one file: its stem with letters, digits, '_' and '-' only;
// `other` where that is nothing or reserved.
void yoke__scenario_unit_name(const char* path, const char* other, char* to, size_t size);
// A text as it stands between single quotes of YAML; cut where there is no room.
void yoke__scenario_quote(const char* text, char* to, size_t size);
// A step for a run of this length, about a thousandth: 1, 2 or 5 times a power of ten.
void yoke__scenario_round_step(double length, char* to, size_t size);

#endif
