// Names of the result formats. They stand here because the reader of system files and the recorder both need them and
// do not include each other.
#ifndef YOKE_BASE_FORMAT_H
#define YOKE_BASE_FORMAT_H

#define YOKE_N_FORMATS 3
// In the order of the YOKE_RECORD_ bits (record/record.h), NULL behind the last.
extern const char* const yoke__format_names[YOKE_N_FORMATS + 1];

#endif
