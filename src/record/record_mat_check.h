// Whether a MAT file is whole: matio does not look at what becomes of its writes.
#ifndef YOKE_RECORD_MAT_CHECK_H
#define YOKE_RECORD_MAT_CHECK_H

#include <stddef.h>

#include "yoke/message.h"

// Walks the elements of a MAT 5 file by their lengths, without reading their data: a write that was lost, and a file that was
// cut, make lengths that do not fit together. YOKE_IO with a message if it does not hold n_variables whole variables.
yoke_status yoke__record_mat_check(const char* path, size_t n_variables, const yoke_sink* errors);

#endif
