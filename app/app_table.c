// Tables with columns of equal width.
#include "app/app_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void yoke__app_table_add(yoke_app_table* table, const char* cell) {
  yoke__text_append(&table->cells, cell, strlen(cell) + 1);
}

void yoke__app_table_number(yoke_app_table* table, int n_digits, bool has_dash, double x) {
  char cell[64] = "-";
  if (!has_dash || !isnan(x)) {
    snprintf(cell, sizeof cell, "%.*g", n_digits, x);
  }
  yoke__app_table_add(table, cell);
}

void yoke__app_table_print(yoke_app_table* table) {
  const char *cells = table->cells.bytes, *end = cells + table->cells.n;
  int widths[YOKE_TABLE_MAX_COLUMNS] = {0};
  size_t column = 0;
  for (const char* at = cells; at < end; at += strlen(at) + 1) {
    const int n = (int)strlen(at);
    widths[column] = n > widths[column] ? n : widths[column];
    column = (column + 1) % table->n_columns;
  }
  for (const char* at = cells; at < end; at += strlen(at) + 1) {
    printf(column == 0 ? "%-*s" : "  %*s", widths[column], at);
    column = (column + 1) % table->n_columns;
    if (column == 0) {
      putchar('\n');
    }
  }
  yoke__text_free(&table->cells);
}
