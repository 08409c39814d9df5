// The energy residuals of two results, as a table and as JSON.
#include "app/app_ter.h"

#include <math.h>
#include <stdio.h>

#include "app/app_table.h"
#include "base/base_check.h"

#define N_DIGITS 6

// ---- the table

static void print_rows(const yoke_ter_comparison* ter) {
  static const char* const titles[] = {
      "bond",     "TER [J]",   "reference [J]",    "ratio",
      "relative", "reference", "error energy [J]", "better by TER"};
  yoke_app_table table = {.n_columns = YOKE_COUNT(titles)};
  for (size_t i = 0; i < YOKE_COUNT(titles); i++) {
    yoke__app_table_add(&table, titles[i]);
  }
  for (size_t i = 0; i < ter->n_rows + (ter->n_rows > 1); i++) {
    const yoke_ter_row* row = i < ter->n_rows ? &ter->rows[i] : &ter->total;
    const double numbers[] = {row->ter[0],      row->ter[1],      row->ratio,
                              row->relative[0], row->relative[1], row->error.total};
    yoke__app_table_add(&table, row->name);
    for (size_t k = 0; k < YOKE_COUNT(numbers); k++) {
      yoke__app_table_number(&table, N_DIGITS, true, numbers[k]);
    }
    yoke__app_table_add(&table, row->better == NULL ? "-" : row->better);
  }
  yoke__app_table_print(&table);
}

void yoke__app_ter_print(const yoke_ter_comparison* ter) {
  const yoke_summary* summary = &ter->results[YOKE_TER_RESULT].summary;
  printf("total energy residual from %.9g to %.9g s", ter->t_first, ter->t_last);
  if (summary->has_ledger) {
    printf(", %s exchange", summary->exchange);
  }
  putchar('\n');
  print_rows(ter);
  for (const yoke_ter_text* note = ter->notes; note != NULL; note = note->next) {
    printf("%s\n", note->text);
  }
  for (const yoke_ter_text* warning = ter->warnings; warning != NULL; warning = warning->next) {
    printf("warning: %s\n", warning->text);
  }
}

// ---- JSON

static void json_side(const yoke_ter_row* row, int side, yoke_json* json) {
  const yoke_summary_bond* said = row->said[side];
  yoke__json_begin_object(json, side == YOKE_TER_RESULT ? "result" : "reference");
  yoke__json_number(json, "ter", row->ter[side]);
  yoke__json_number(json, "throughput", row->throughput[side]);
  yoke__json_number(json, "rter", row->relative[side]);
  yoke__json_number(json, "flow_part", said == NULL ? (double)NAN : said->flow);
  yoke__json_number(json, "effort_part", said == NULL ? (double)NAN : said->effort);
  yoke__json_end_object(json);
}

static void json_row(const yoke_ter_row* row, const char* key, yoke_json* json) {
  yoke__json_begin_object(json, key);
  yoke__json_string(json, "name", row->name);
  json_side(row, YOKE_TER_RESULT, json);
  json_side(row, YOKE_TER_REFERENCE, json);
  yoke__json_number(json, "ratio", row->ratio);
  yoke__json_string(json, "better", row->better);
  yoke__json_number(json, "error_energy", row->error.total);
  if (row->error.n_intervals > 0 && row->power_of[0] != '\0') {
    yoke__json_string(json, "power_of", row->power_of);
    yoke__json_number(json, "error_from", row->error.t_first);
    yoke__json_number(json, "error_to", row->error.t_last);
  }
  yoke__json_end_object(json);
}

static void json_texts(const yoke_ter_text* list, const char* key, yoke_json* json) {
  yoke__json_begin_array(json, key);
  for (; list != NULL; list = list->next) {
    yoke__json_string(json, NULL, list->text);
  }
  yoke__json_end_array(json);
}

void yoke__app_ter_json(const yoke_ter_comparison* ter, const char* key, yoke_json* json) {
  const yoke_summary* summary = &ter->results[YOKE_TER_RESULT].summary;
  yoke__json_begin_object(json, key);
  yoke__json_string(json, "exchange", summary->has_ledger ? summary->exchange : NULL);
  yoke__json_string(json, "convention", summary->has_ledger ? summary->ter : NULL);
  yoke__json_begin_array(json, "bonds");
  for (size_t i = 0; i < ter->n_rows; i++) {
    json_row(&ter->rows[i], NULL, json);
  }
  yoke__json_end_array(json);
  if (ter->n_rows > 1) {
    json_row(&ter->total, "total", json);
  }
  json_texts(ter->notes, "notes", json);
  json_texts(ter->warnings, "warnings", json);
  yoke__json_end_object(json);
}
