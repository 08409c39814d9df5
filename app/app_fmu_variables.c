// Variables of an FMU as tables, one per group, with columns as wide as they need to be.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app/app_fmu_print.h"

#define MAX_NAME 38  // wider names get a line of their own

typedef struct group {
  const char* title;
  bool (*takes)(const yoke_fmu_view* view, size_t index);
  bool is_rare;  // shown by --all only
} group;

#define CAUSALITY(view, index) ((yoke_fmi_causality)(view)->d->variables[index].causality)

static bool is_input(const yoke_fmu_view* view, size_t i) {
  return CAUSALITY(view, i) == YOKE_FMI_INPUT;
}
static bool is_output(const yoke_fmu_view* view, size_t i) {
  return CAUSALITY(view, i) == YOKE_FMI_OUTPUT;
}
static bool is_fixed(const yoke_fmu_view* view, size_t i) {
  return CAUSALITY(view, i) == YOKE_FMI_PARAMETER &&
         view->d->variables[i].variability != YOKE_FMI_TUNABLE;
}
static bool is_tunable(const yoke_fmu_view* view, size_t i) {
  return CAUSALITY(view, i) == YOKE_FMI_PARAMETER &&
         view->d->variables[i].variability == YOKE_FMI_TUNABLE;
}
static bool is_structural(const yoke_fmu_view* view, size_t i) {
  return CAUSALITY(view, i) == YOKE_FMI_STRUCTURAL_PARAMETER;
}
static bool is_state(const yoke_fmu_view* view, size_t i) {
  return CAUSALITY(view, i) == YOKE_FMI_LOCAL && view->is_state[i];
}
static bool is_calculated(const yoke_fmu_view* view, size_t i) {
  return CAUSALITY(view, i) == YOKE_FMI_CALCULATED_PARAMETER;
}
static bool is_local(const yoke_fmu_view* view, size_t i) {
  return (CAUSALITY(view, i) == YOKE_FMI_LOCAL && !view->is_state[i]) ||
         CAUSALITY(view, i) == YOKE_FMI_INDEPENDENT;
}

static const group groups[] = {
    {"Inputs", is_input, false},
    {"Outputs", is_output, false},
    {"Parameters", is_fixed, false},
    {"Tunable parameters", is_tunable, false},
    {"Structural parameters", is_structural, false},
    {"States", is_state, false},
    {"Calculated parameters", is_calculated, true},
    {"Local variables", is_local, true},
};

// "Float64[3,n]"
static void type_text(const yoke_fmu_printer* p, const yoke_fmi_variable* v, char* to,
                      size_t size) {
  const yoke_fmi_description* d = p->view->d;
  size_t n = (size_t)snprintf(to, size, "%s",
                              yoke__fmi_type_word(p->view->d->version, (yoke_fmi_type)v->type));
  for (size_t i = 0; i < v->n_dimensions && n < size; i++) {
    const yoke_fmi_dimension* dimension = &d->dimensions[v->first_dimension + i];
    const char* open = i == 0 ? "[" : ",";
    if (dimension->variable == YOKE_FMI_NONE) {
      n += (size_t)snprintf(to + n, size - n, "%s%" PRIu64, open, dimension->start);
    } else {
      n += (size_t)snprintf(to + n, size - n, "%s%.20s", open,
                            d->variables[dimension->variable].name);
    }
  }
  if (v->n_dimensions > 0 && n < size) {
    snprintf(to + n, size - n, "]");
  }
}

// Texts of an array stand in the description with 0x1f between them.
static void text_starts(const yoke_fmi_variable* v, char* to, size_t size) {
  const char* quote = v->type == YOKE_FMI_STRING ? "\"" : "";
  size_t n = 0;
  for (const char* at = v->start; at != NULL && n + 1 < size;) {
    const size_t length = strcspn(at, "\x1f");
    const char* shown = length == 0 && quote[0] == '\0' ? "(empty)" : at;
    const int width = (int)(shown != at ? 7 : length < 60 ? length : 60);
    const int wrote =
        snprintf(to + n, size - n, "%s%s%.*s%s", n == 0 ? "" : ", ", quote, width, shown, quote);
    n += wrote < 0 ? 0 : (size_t)wrote;
    at = at[length] == '\0' ? NULL : at + length + 1;
  }
}

static void start_text(const yoke_fmu_printer* p, const yoke_fmi_variable* v, char* to,
                       size_t size) {
  const char* item = yoke__app_fmu_start_item(p->view, v);
  if (v->start == NULL) {
    snprintf(to, size, "-");
  } else if (item != NULL) {
    snprintf(to, size, "%.60s", item);
  } else if (v->type == YOKE_FMI_STRING || v->type == YOKE_FMI_BINARY) {
    text_starts(v, to, size);
  } else {
    snprintf(to, size, "%.60s", v->start);
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

static void fit_columns(const yoke_fmu_printer* p, const yoke_fmi_variable* v, columns* c) {
  char text[128];
  const size_t name = yoke__app_fmu_width(v->name);
  c->name = name <= MAX_NAME ? most(c->name, name) : c->name;
  type_text(p, v, text, sizeof text);
  c->type = most(c->type, least(yoke__app_fmu_width(text), 20));
  c->unit = v->unit[0] == '\0' ? c->unit
                               : most(most(c->unit, 4), least(yoke__app_fmu_width(v->unit), 12));
  start_text(p, v, text, sizeof text);
  c->start = most(c->start, least(yoke__app_fmu_width(text), 18));
}

static void print_variable(const yoke_fmu_printer* p, const yoke_fmi_variable* v,
                           const columns* c) {
  char type[128], start[128];
  type_text(p, v, type, sizeof type);
  start_text(p, v, start, sizeof start);
  printf("  ");
  if (yoke__app_fmu_width(v->name) > c->name) {
    yoke__app_fmu_put(v->name, YOKE_FMU_LINE_SIZE);
    printf("\n  %*s", (int)c->name, "");
  } else {
    yoke__app_fmu_put_cell(v->name, c->name);
  }
  printf("  ");
  yoke__app_fmu_put_cell(type, c->type);
  if (c->unit > 0) {
    printf("  ");
    yoke__app_fmu_put_cell(v->unit, c->unit);
  }
  printf("  ");
  const size_t used = 2 + c->name + 2 + c->type + (c->unit > 0 ? 2 + c->unit : 0) + 2 + c->start;
  if (v->description[0] == '\0') {
    yoke__app_fmu_put(start, c->start);
  } else {
    yoke__app_fmu_put_cell(start, c->start);
    printf("  ");
    yoke__app_fmu_put(v->description, p->is_all                        ? YOKE_FMU_LINE_SIZE
                                      : used + 2 + 20 < YOKE_FMU_WIDTH ? YOKE_FMU_WIDTH - used - 2
                                                                       : 20);
  }
  fputc('\n', stdout);
}

// The title stands over the names, the others over their columns.
static void print_title(const group* g, size_t n, columns* c) {
  char title[64];
  snprintf(title, sizeof title, "%s (%zu)", g->title, n);
  c->name = most(c->name, yoke__app_fmu_width(title) - 2);
  fputc('\n', stdout);
  yoke__app_fmu_put_cell(title, c->name + 2);
  printf("  ");
  yoke__app_fmu_put_cell("type", c->type);
  if (c->unit > 0) {
    printf("  ");
    yoke__app_fmu_put_cell("unit", c->unit);
  }
  printf("  start\n");
}

static void print_group(const yoke_fmu_printer* p, const group* g) {
  const yoke_fmi_description* d = p->view->d;
  columns c = {.name = 0, .type = 4, .unit = 0, .start = 5};
  size_t n = 0, n_shown = 0;
  for (size_t i = 0; i < d->n_variables; i++) {
    if (g->takes(p->view, i) && n++ < p->max_rows) {
      fit_columns(p, &d->variables[i], &c);
    }
  }
  if (n == 0) {
    return;
  }
  if (g->is_rare && !p->is_all) {
    printf("\n%s: %zu (--all shows them)\n", g->title, n);
    return;
  }
  print_title(g, n, &c);
  for (size_t i = 0; i < d->n_variables && n_shown < p->max_rows; i++) {
    if (g->takes(p->view, i)) {
      print_variable(p, &d->variables[i], &c);
      n_shown++;
    }
  }
  if (n > n_shown) {
    printf("  ... and %zu more (--all shows them)\n", n - n_shown);
  }
}

static void print_enumerations(const yoke_fmu_printer* p) {
  const yoke_fmi_description* d = p->view->d;
  size_t n = 0;
  for (size_t i = 0; i < d->n_typedefs && n < p->max_rows; i++) {
    const yoke_fmi_typedef* type = &d->typedefs[i];
    if (type->type != YOKE_FMI_ENUMERATION) {
      continue;
    }
    printf("%s", n++ == 0 ? "\nEnumerations\n" : "");
    yoke_fmu_phrases list = {.n = 0};
    for (size_t j = 0; j < type->n_items && list.n + 100 < sizeof list.text; j++) {
      char one[160];
      snprintf(one, sizeof one, "%.80s = %" PRId64, type->items[j].name, type->items[j].value);
      yoke__app_fmu_say(&list, one);
    }
    char label[64];
    snprintf(label, sizeof label, "%.62s", type->name);
    if (yoke__app_fmu_width(label) > YOKE_FMU_LABEL - 4) {
      printf("  ");
      yoke__app_fmu_put(type->name, YOKE_FMU_WIDTH);
      printf("\n");
      label[0] = '\0';
    }
    yoke__app_fmu_put_line(label, list.text);
  }
}

void yoke__app_fmu_print_variables(const yoke_fmu_printer* p) {
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
    print_group(p, &groups[i]);
  }
  print_enumerations(p);
}
