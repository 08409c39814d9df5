// Printing for `yoke info` of an FMU: lines of at most 100 columns, safe for a terminal whatever the FMU says.
#ifndef YOKE_APP_FMU_PRINT_H
#define YOKE_APP_FMU_PRINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define YOKE_FMU_WIDTH     100
#define YOKE_FMU_LABEL     18  // column of the text behind a label
#define YOKE_FMU_LINE_SIZE 2048

typedef struct yoke_fmu_printer {
  const json_t* fmu;
  bool is_all;
  size_t max_rows;  // of a group
} yoke_fmu_printer;

// Columns that a text takes.
size_t yoke__app_fmu_width(const char* text);
// At most `width` columns of the text, a blank for each control character; returns the columns used.
size_t yoke__app_fmu_put(const char* text, size_t width);
// The same, filled up with blanks.
void yoke__app_fmu_put_cell(const char* text, size_t width);
// "  label          text, wrapped between words"
void yoke__app_fmu_put_line(const char* label, const char* text);

// app_fmu_variables.c: the variables by groups, and the enumerations.
void yoke__app_fmu_print_variables(const yoke_fmu_printer* p);

#endif
