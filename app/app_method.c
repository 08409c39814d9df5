// Coupling methods and their settings, as their tables have them.
#include "app/app_method.h"

#include <math.h>
#include <stdio.h>

#include "base/base_number.h"
#include "couple/couple.h"

void yoke__app_print_methods(void) {
  for (size_t i = 0; i < yoke__n_coupling_methods; i++) {
    printf("%-28s %s\n", yoke__coupling_methods[i]->name, yoke__coupling_methods[i]->text);
  }
}

// "0 to 1", "1 or more", or the names
static void range_of(const yoke_coupling_parameter* p, char* to, size_t size) {
  char low[YOKE_NUMBER_SIZE], high[YOKE_NUMBER_SIZE];
  size_t n = 0;
  to[0] = '\0';
  for (size_t i = 0; p->items != NULL && p->items[i] != NULL && n < size; i++) {
    n += (size_t)snprintf(to + n, size - n, "%s%s", i == 0 ? "" : ", ", p->items[i]);
  }
  if (p->items == NULL) {
    yoke__number_format(p->min, low);
    yoke__number_format(p->max, high);
    snprintf(to, size, isfinite(p->max) ? "%s to %s" : "%s or more", low, high);
  }
}

static void start_of(const yoke_coupling_parameter* p, char* to, size_t size) {
  char number[YOKE_NUMBER_SIZE];
  yoke__number_format(p->start, number);
  snprintf(to, size, "%s", p->items == NULL ? number : p->items[(size_t)p->start]);
}

void yoke__app_print_method(const yoke_coupling_ops* ops) {
  printf("%s: %s\n", ops->name, ops->text);
  printf("  serves %s%s\n\n",
         (ops->flags & YOKE_COUPLING_CLUSTER) != 0 ? "a cluster of units as a whole"
         : (ops->flags & YOKE_COUPLING_BOND) != 0  ? "bonds"
                                                   : "connections",
         (ops->flags & YOKE_COUPLING_JACOBI) != 0 ? ", scheme jacobi only" : "");
  printf("  %-20s %-10s %-30s %s\n", "setting", "default", "values", "meaning");
  printf("  %-20s %-10s %-30s %s\n", "order", "0", "0 to 3", "of the extrapolation");
  for (size_t i = 0; i < ops->n_parameters; i++) {
    char range[256], start[64];
    range_of(&ops->parameters[i], range, sizeof range);
    start_of(&ops->parameters[i], start, sizeof start);
    printf("  %-20s %-10s %-30s %s\n", ops->parameters[i].name, start, range,
           ops->parameters[i].text);
  }
  for (size_t i = 0; i < ops->n_files; i++) {
    printf("  %-20s %-10s %-30s %s\n", ops->files[i].name, "-", "a file", ops->files[i].text);
  }
}

void yoke__app_method_json(const yoke_coupling_ops* ops, yoke_json* json) {
  yoke__json_string(json, "name", ops->name);
  yoke__json_string(json, "text", ops->text);
  yoke__json_begin_array(json, "settings");
  for (size_t i = 0; i < ops->n_parameters; i++) {
    const yoke_coupling_parameter* p = &ops->parameters[i];
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", p->name);
    yoke__json_string(json, "text", p->text);
    if (p->items == NULL) {
      yoke__json_number(json, "default", p->start);
      yoke__json_number(json, "min", p->min);
      yoke__json_number(json, "max", p->max);
    } else {
      yoke__json_string(json, "default", p->items[(size_t)p->start]);
      yoke__json_begin_array(json, "items");
      for (size_t k = 0; p->items[k] != NULL; k++) {
        yoke__json_string(json, NULL, p->items[k]);
      }
      yoke__json_end_array(json);
    }
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  yoke__json_begin_array(json, "files");
  for (size_t i = 0; i < ops->n_files; i++) {
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", ops->files[i].name);
    yoke__json_string(json, "text", ops->files[i].text);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}
