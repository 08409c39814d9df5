// The verdict of a run and its worst signals, at most eight lines.
#include "app/app_trust.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/app_table.h"
#include "base/base_json_read.h"
#include "base/base_number.h"

#define MAX_ROWS 5  // signals that are shown; summary.json has all of them

// "0.012 m/s"
static void add_value(yoke_app_table* table, const json_t* signal, const char* key) {
  const double value = yoke__json_find_number(signal, key, (double)NAN);
  const char* unit = yoke__json_find_text(signal, "unit", "");
  char number[YOKE_NUMBER_SIZE], cell[128];
  snprintf(cell, sizeof cell, "%s%s%.64s", isnan(value) ? "-" : yoke__number_brief(value, number),
           isnan(value) || unit[0] == '\0' ? "" : " ", isnan(value) ? "" : unit);
  yoke__app_table_add(table, cell);
}

// Rule 1 of the verdict.
static bool is_diverged(const json_t* signal) {
  return yoke__json_find_number(signal, "rule", 0) == 1;
}

static void add_row(yoke_app_table* table, const json_t* signal) {
  const double relative =
      is_diverged(signal) ? (double)NAN : yoke__json_find_number(signal, "relative", (double)NAN);
  char cell[512], number[YOKE_NUMBER_SIZE];
  snprintf(cell, sizeof cell, "  %.480s", yoke__json_find_text(signal, "name", ""));
  yoke__app_table_add(table, cell);
  if (is_diverged(signal)) {
    yoke__app_table_add(table, "diverges");
    yoke__app_table_add(table, "-");
  } else {
    add_value(table, signal, "band_max");
    add_value(table, signal, "band");
  }
  snprintf(cell, sizeof cell, "%.0f", yoke__json_find_number(signal, "digits", 0));
  yoke__app_table_add(table, isnan(relative) ? "-" : cell);
  snprintf(cell, sizeof cell, "%s %%", yoke__number_brief(100 * relative, number));
  yoke__app_table_add(table, isnan(relative) ? "-" : cell);
}

static bool has_row(const json_t* signal) {
  // rule 0: at rest
  return is_diverged(signal) || (yoke__json_find_number(signal, "rule", 0) > 0 &&
                                 !isnan(yoke__json_find_number(signal, "band", (double)NAN)));
}

static void print_signals(const json_t* signals) {
  static const char* const heads[] = {"  signal", "error up to", "rms band", "digits",
                                      "rms of movement"};
  yoke_app_table table = {.n_columns = 5};
  size_t i = 0, n = 0;
  json_t* signal = NULL;
  json_array_foreach(signals, i, signal) {
    if (has_row(signal) && n < MAX_ROWS) {
      for (size_t k = 0; n == 0 && k < 5; k++) {
        yoke__app_table_add(&table, heads[k]);
      }
      add_row(&table, signal);
      n++;
    }
  }
  if (n > 0) {
    yoke__app_table_print(&table);
  }
}

// What the run was compared with; and why a companion is missing.
static void print_companions(const json_t* trust) {
  size_t i = 0;
  json_t* c = NULL;
  const char* before = "compared with: ";
  json_array_foreach(json_object_get(trust, "companions"), i, c) {
    if (json_is_true(json_object_get(c, "usable"))) {
      printf("%s%s", before, yoke__json_find_text(c, "what", ""));
      before = "; ";
    }
  }
  json_array_foreach(json_object_get(trust, "companions"), i, c) {
    const char* why = yoke__json_find_text(c, "why", "");
    if (!json_is_true(json_object_get(c, "usable")) && why[0] != '\0') {
      printf("%snot with %s (%s)", before, yoke__json_find_text(c, "what", ""), why);
      before = "; ";
    }
  }
  if (before[0] == ';') {
    putchar('\n');
  }
}

// Where the bands of a run without companions come from.
static void print_online(const json_t* trust) {
  const json_t* online = json_object_get(trust, "online");
  if (online != NULL) {
    printf("estimated from the run itself: %.0f samples per exchange, models fit to %.1g\n",
           yoke__json_find_number(online, "samples", 0),
           yoke__json_find_number(online, "residual", 0));
  }
}

void yoke__app_print_trust(const json_t* summary) {
  const json_t* trust = json_object_get(summary, "trust");
  const json_t* signals = json_object_get(trust, "signals");
  if (trust == NULL) {
    return;
  }
  printf("trust: %s: %s\n", yoke__json_find_text(trust, "verdict", ""),
         yoke__json_find_text(trust, "reason", ""));
  print_signals(signals);
  print_companions(trust);
  print_online(trust);
  const char* left_out = yoke__json_find_text(trust, "left_out", "");
  if (left_out[0] != '\0') {
    printf("%s\n", left_out);
  }
}
