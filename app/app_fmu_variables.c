// Variables of an FMU as tables, one per group, with columns as wide as they need to be.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "app/app_fmu_print.h"
#include "app/app_sink.h"
#include "app/app_view.h"
#include "base/base_check.h"

#define MAX_NAME 38  // wider names get a line of their own

typedef enum group {
  INPUTS,
  OUTPUTS,
  FIXED,
  TUNABLE,
  STRUCTURAL,
  STATES,
  CALCULATED,  // from here on shown by --all only
  LOCALS,
  N_GROUPS
} group;

static const char* const titles[N_GROUPS] = {
    "Inputs",
    "Outputs",
    "Parameters",
    "Tunable parameters",
    "Structural parameters",
    "States",
    "Calculated parameters",
    "Local variables",
};

static group group_of(const json_t* v) {
  static const char* const causalities[N_GROUPS] = {
      [INPUTS] = "input",    [OUTPUTS] = "output",
      [FIXED] = "parameter", [STRUCTURAL] = "structuralParameter",
      [STATES] = "local",    [CALCULATED] = "calculatedParameter",
  };
  const char* causality = yoke__view_text(v, "causality");
  group g = INPUTS;
  while (g < LOCALS && (causalities[g] == NULL || strcmp(causality, causalities[g]) != 0)) {
    g++;
  }
  if (g == FIXED && strcmp(yoke__view_text(v, "variability"), "tunable") == 0) {
    return TUNABLE;
  }
  return g == STATES && !yoke__view_is(v, "is_state") ? LOCALS : g;
}

// "Float64[3,n]"
static void type_text(const json_t* v, char* to, size_t size) {
  const json_t* dimensions = json_object_get(v, "dimensions");
  size_t n = (size_t)snprintf(to, size, "%s", yoke__view_text(v, "type"));
  for (size_t i = 0; i < json_array_size(dimensions) && n < size; i++) {
    const json_t* d = json_array_get(dimensions, i);
    const char* open = i == 0 ? "[" : ",";
    n += (size_t)(json_is_string(d)
                      ? snprintf(to + n, size - n, "%s%.20s", open, json_string_value(d))
                      : snprintf(to + n, size - n, "%s%lld", open, json_integer_value(d)));
  }
  if (dimensions != NULL && n < size) {
    snprintf(to + n, size - n, "]");
  }
}

// Texts of an array have 0x1f between them.
static void text_starts(const char* start, const char* quote, char* to, size_t size) {
  size_t n = 0;
  for (const char* at = start; at != NULL && n + 1 < size;) {
    const size_t length = strcspn(at, "\x1f");
    const char* shown = length == 0 && quote[0] == '\0' ? "(empty)" : at;
    const int width = (int)(shown != at ? 7 : length < 60 ? length : 60);
    const int wrote =
        snprintf(to + n, size - n, "%s%s%.*s%s", n == 0 ? "" : ", ", quote, width, shown, quote);
    n += wrote < 0 ? 0 : (size_t)wrote;
    at = at[length] == '\0' ? NULL : at + length + 1;
  }
}

static void start_text(const json_t* v, char* to, size_t size) {
  const char* start = yoke__json_find_text(v, "start", NULL);
  const char* type = yoke__view_text(v, "type");
  const bool is_string = strcmp(type, "String") == 0;
  if (start != NULL && (is_string || strcmp(type, "Binary") == 0)) {
    text_starts(start, is_string ? "\"" : "", to, size);
  } else {
    snprintf(to, size, "%.60s", start == NULL ? "-" : yoke__json_find_text(v, "start_item", start));
  }
}

typedef struct columns {
  size_t name, type, unit, start;
} columns;

static size_t most(size_t a, size_t b) {
  return a > b ? a : b;
}
static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

static void fit_columns(const json_t* v, columns* c) {
  char text[128];
  const size_t name = yoke__app_fmu_width(yoke__view_text(v, "name"));
  const size_t unit = yoke__app_fmu_width(yoke__view_text(v, "unit"));
  c->name = name <= MAX_NAME ? most(c->name, name) : c->name;
  type_text(v, text, sizeof text);
  c->type = most(c->type, least(yoke__app_fmu_width(text), 20));
  c->unit = unit == 0 ? c->unit : most(most(c->unit, 4), least(unit, 12));
  start_text(v, text, sizeof text);
  c->start = most(c->start, least(yoke__app_fmu_width(text), 18));
}

// Between the name and the start value.
static void print_cells(const char* type, const char* unit, const columns* c) {
  printf("  ");
  yoke__app_fmu_put_cell(type, c->type);
  if (c->unit > 0) {
    printf("  ");
    yoke__app_fmu_put_cell(unit, c->unit);
  }
  printf("  ");
}

static void print_variable(const json_t* v, bool is_all, const columns* c) {
  const char *name = yoke__view_text(v, "name"), *text = yoke__view_text(v, "description");
  char type[128], start[128];
  type_text(v, type, sizeof type);
  start_text(v, start, sizeof start);
  printf("  ");
  if (yoke__app_fmu_width(name) > c->name) {
    yoke__app_fmu_put(name, YOKE_FMU_LINE_SIZE);
    printf("\n  %*s", (int)c->name, "");
  } else {
    yoke__app_fmu_put_cell(name, c->name);
  }
  print_cells(type, yoke__view_text(v, "unit"), c);
  const size_t used = 2 + c->name + 2 + c->type + (c->unit > 0 ? 2 + c->unit : 0) + 2 + c->start;
  if (text[0] == '\0') {
    yoke__app_fmu_put(start, c->start);
  } else {
    yoke__app_fmu_put_cell(start, c->start);
    printf("  ");
    yoke__app_fmu_put(text, is_all                           ? YOKE_FMU_LINE_SIZE
                            : used + 2 + 20 < YOKE_FMU_WIDTH ? YOKE_FMU_WIDTH - used - 2
                                                             : 20);
  }
  fputc('\n', stdout);
}

// The title stands over the names, the others over their columns.
static void print_title(group g, size_t n, columns* c) {
  char title[64];
  snprintf(title, sizeof title, "%s (%zu)", titles[g], n);
  c->name = most(c->name, yoke__app_fmu_width(title) - 2);
  fputc('\n', stdout);
  yoke__app_fmu_put_cell(title, c->name + 2);
  print_cells("type", "unit", c);
  printf("start\n");
}

static void print_group(const yoke_fmu_printer* p, group g, const unsigned char group_at[]) {
  const json_t* variables = json_object_get(p->fmu, "variables");
  columns c = {.name = 0, .type = 4, .unit = 0, .start = 5};
  size_t n = 0, n_shown = 0;
  for (size_t i = 0; i < json_array_size(variables); i++) {
    if (group_at[i] == g && n++ < p->max_rows) {
      fit_columns(json_array_get(variables, i), &c);
    }
  }
  if (n == 0) {
    return;
  }
  if (g >= CALCULATED && !p->is_all) {
    printf("\n%s: %zu (--all shows them)\n", titles[g], n);
    return;
  }
  print_title(g, n, &c);
  for (size_t i = 0; i < json_array_size(variables) && n_shown < p->max_rows; i++) {
    if (group_at[i] == g) {
      print_variable(json_array_get(variables, i), p->is_all, &c);
      n_shown++;
    }
  }
  if (n > n_shown) {
    printf("  ... and %zu more (--all shows them)\n", n - n_shown);
  }
}

static void print_enumerations(const yoke_fmu_printer* p) {
  const json_t* enumerations = json_object_get(p->fmu, "enumerations");
  yoke_text list = {0};
  for (size_t i = 0; i < json_array_size(enumerations) && i < p->max_rows; i++) {
    const json_t* type = json_array_get(enumerations, i);
    const json_t* items = json_object_get(type, "items");
    const char* name = yoke__view_text(type, "name");
    printf("%s", i == 0 ? "\nEnumerations\n" : "");
    yoke__text_clear(&list);
    for (size_t j = 0; j < json_array_size(items) && list.n + 100 < YOKE_FMU_LINE_SIZE; j++) {
      const json_t* item = json_array_get(items, j);
      yoke__text_add(&list, "%s%.80s = %lld", j == 0 ? "" : "; ", yoke__view_text(item, "name"),
                     yoke__view_count(item, "value"));
    }
    if (yoke__app_fmu_width(name) > YOKE_FMU_LABEL - 4) {
      printf("  ");
      yoke__app_fmu_put(name, YOKE_FMU_WIDTH);
      printf("\n");
      name = "";
    }
    yoke__app_fmu_put_line(name, list.n == 0 ? "" : list.bytes);
  }
  yoke__text_free(&list);
}

void yoke__app_fmu_print_variables(const yoke_fmu_printer* p) {
  const json_t* variables = json_object_get(p->fmu, "variables");
  const size_t n = json_array_size(variables);
  unsigned char* group_at = calloc(n + 1, 1);
  if (group_at == NULL) {
    yoke__app_no_memory("info");
    return;
  }
  for (size_t i = 0; i < n; i++) {
    group_at[i] = (unsigned char)group_of(json_array_get(variables, i));
  }
  for (group g = INPUTS; g < N_GROUPS; g++) {
    print_group(p, g, group_at);
  }
  free(group_at);
  print_enumerations(p);
}
