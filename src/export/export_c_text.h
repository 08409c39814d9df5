// Text of generated C that circuits (export_c_write.c) and twins (export_twin_write.c) share: numbers, names, comments, files.
#ifndef YOKE_EXPORT_C_TEXT_H
#define YOKE_EXPORT_C_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base_arena.h"
#include "base/base_text.h"
#include "yoke/message.h"
#include "yoke/status.h"

#define YOKE_EXPORT_C_MAX_NAME 128

typedef struct yoke_export_c_name {
  const char* shown;       // in the netlist
  const char* dim;         // "" if unknown
  const char* identifier;  // unique, upper case
  double start;            // of an input
} yoke_export_c_name;

// The name of the files as a C identifier.
typedef struct yoke_export_c_identifier {
  char lower[YOKE_EXPORT_C_MAX_NAME], upper[YOKE_EXPORT_C_MAX_NAME];
} yoke_export_c_identifier;

yoke_export_c_identifier yoke__export_c_identifier(const char* name);

// Fills names[n] with an identifier that none of the names before it has: "v(out)" is V_OUT. Texts are copied to the arena; dim may
// be NULL.
yoke_status yoke__export_c_name(yoke_arena* arena, yoke_export_c_name names[], size_t n,
                                const char* shown, const char* dim, double start);

// A text inside a comment: it cannot end it, nor start a new line.
void yoke__export_c_put_shown(yoke_text* text, const char* shown);
// A literal that reads back to the same number.
void yoke__export_c_put_number(yoke_text* text, bool is_float, double x);
// "static const double name[6] = {...};", a line per row; nothing for an empty one.
void yoke__export_c_put_array(yoke_text* text, bool is_float, const char* name,
                              const double numbers[], size_t n_rows, size_t n_cols);
// "enum { PREFIX_KIND_NAME = 0, ... };" with the numbers from first on; nothing for none.
void yoke__export_c_put_names(yoke_text* text, const char* prefix, const char* kind,
                              const yoke_export_c_name names[], size_t n, size_t first,
                              bool has_start, bool is_float);

// Writes directory/NAME.ending; the file gets its content at the end or not at all.
yoke_status yoke__export_c_save(const yoke_text* text, const char* directory, const char* name,
                                const char* ending, const yoke_sink* sink);

#endif
