// A table for people whose columns are as wide as their widest cell: the first one to the left, the others to the right.
#ifndef YOKE_APP_TABLE_H
#define YOKE_APP_TABLE_H

#include <stdbool.h>

#include "base/base_text.h"

#define YOKE_TABLE_MAX_COLUMNS 16

// Zeroed but for the number of columns is empty.
typedef struct yoke_app_table {
  size_t n_columns;  // at most YOKE_TABLE_MAX_COLUMNS
  yoke_text cells;   // row by row, each with its NUL
} yoke_app_table;

// The next cell.
void yoke__app_table_add(yoke_app_table* table, const char* cell);
// A number with so many digits; what is not known is "-" if has_dash.
void yoke__app_table_number(yoke_app_table* table, int n_digits, bool has_dash, double x);
// Prints the rows and frees them.
void yoke__app_table_print(yoke_app_table* table);

#endif
