// Names of the result formats. They stand here because the system and the command both need them.
#ifndef YOKE_BASE_FORMAT_H
#define YOKE_BASE_FORMAT_H

#define YOKE_N_FORMATS 3
// In the order of the YOKE_RECORD_ bits (record/record.h), NULL behind the last.
extern const char* const yoke__format_names[YOKE_N_FORMATS + 1];

#endif
