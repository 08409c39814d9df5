// <UnitDefinitions>: every dimension that a variable has, with its exponents of the SI base dimensions.
//
//   SI value = factor * value + offset, angles counted in radians: rpm is rad s^-1 with the factor 2 pi / 60
//
// A dimension that base_dim.c does not understand is defined by its name alone.
#include <stdlib.h>
#include <string.h>

#include "base/base_dim.h"
#include "export/export_part.h"

static const char* const base_names[YOKE_DIM_N_BASES] = {"kg", "m",   "s",  "A",
                                                         "K",  "mol", "cd", "rad"};

static const char* dim_of(const yoke_export_variable* v) {
  const char* dim = v->variable->type == YOKE_REAL ? v->variable->dim : NULL;
  return dim == NULL || dim[0] == '\0' ? NULL : dim;
}

static void put_unit(const char* name, yoke_xml_writer* xml) {
  yoke__xml_open(xml, "Unit");
  yoke__xml_put(xml, "name", name);
  yoke_dim dim;
  if (yoke__dim_parse(name, &dim)) {
    yoke__xml_open(xml, "BaseUnit");
    for (size_t i = 0; i < YOKE_DIM_N_BASES; i++) {
      if (dim.exponents[i] != 0) {
        yoke__xml_put_integer(xml, base_names[i], dim.exponents[i]);
      }
    }
    if (dim.factor != 1.0) {
      yoke__xml_put_number(xml, "factor", dim.factor);
    }
    if (dim.offset != 0.0) {
      yoke__xml_put_number(xml, "offset", dim.offset);
    }
    yoke__xml_close(xml, "BaseUnit");
  }
  yoke__xml_close(xml, "Unit");
}

// Is this the first variable with its dimension? The lists of dimensions are short: few different ones.
static bool is_new(const char* const seen[], size_t n, const char* dim) {
  for (size_t i = 0; i < n; i++) {
    if (strcmp(seen[i], dim) == 0) {
      return false;
    }
  }
  return true;
}

void yoke__export_units(const yoke_export_model* model, yoke_xml_writer* xml) {
  const char** seen = malloc((model->n_variables + model->states.n + 1) * sizeof *seen);
  size_t n = 0;
  if (seen == NULL) {
    xml->text.status = YOKE_NO_MEMORY;
    return;
  }

  // the time of FMI 3.0 has one
  if (model->job->fmi == 3) {
    seen[n++] = "s";
  }
  for (size_t i = 0; i < model->n_variables; i++) {
    const char* dim = dim_of(&model->variables[i]);
    if (dim != NULL && is_new(seen, n, dim)) {
      seen[n++] = dim;
    }
  }
  for (size_t i = 0; i < model->states.n; i++) {
    if (model->rate_dims[i] != NULL && is_new(seen, n, model->rate_dims[i])) {
      seen[n++] = model->rate_dims[i];
    }
  }
  if (n > 0) {
    yoke__xml_open(xml, "UnitDefinitions");
    for (size_t i = 0; i < n; i++) {
      put_unit(seen[i], xml);
    }
    yoke__xml_close(xml, "UnitDefinitions");
  }
  free((void*)seen);
}
