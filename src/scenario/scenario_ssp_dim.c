// Physical units of SSP: those a file defines by exponents of the SI units, else those of base_dim.c by their names.
//
// A value x in a unit is factor * x + offset in SI units, so from one unit to another
//
//   y = (factor_1 * x + offset_1 - offset_2) / factor_2
//
// Where the names alone say the same (m/s and km/h), their factor is taken: it is 3.6 and not the double next to it.
#include "scenario/scenario_ssp_parts.h"

#include <math.h>
#include <string.h>

#include "base/base_dim.h"

// A unit once it is known what it means.
typedef struct meaning {
  int exponents[YOKE_DIM_N_BASES];
  double factor, offset;
} meaning;

void yoke__ssp_scope_init(ssp* s, ssp_scope* scope, const ssp_document* document,
                          const yoke_xml_node* owner, const ssp_scope* outer) {
  *scope = (ssp_scope){.document = document, .owner = owner, .outer = outer};
  const yoke_xml_node* list = yoke__xml_child(owner, "Units");
  size_t n = yoke__ssp_count(list, "Unit");
  if (n == 0) {
    return;
  }
  scope->units = yoke__ssp_take(s, n, sizeof(void*));
  if (scope->units == NULL || yoke__map_create(n, &s->arena, &scope->map) < 0) {
    s->reader->is_out_of_memory = true;
    scope->map.slots = NULL;
    return;
  }
  n = 0;
  for (const yoke_xml_node* at = yoke__xml_child(list, "Unit"); at != NULL;
       at = yoke__xml_next(at)) {
    const char* name = yoke__ssp_require(s, document, at, "name");
    if (name != NULL && yoke__map_add(&scope->map, name, n) == YOKE_NOT_FOUND) {
      scope->units[n++] = at;
    }
  }
}

// The definition of a unit in a file; false: it has none there.
static bool find_defined(ssp* s, const ssp_scope* scope, const char* name, meaning* out) {
  static const char* const bases[YOKE_DIM_N_BASES] = {"kg", "m", "s", "A", "K", "mol", "cd", "rad"};
  for (; scope != NULL; scope = scope->outer) {
    const size_t i = scope->map.slots == NULL ? YOKE_NOT_FOUND : yoke__map_find(&scope->map, name);
    const yoke_xml_node* base =
        i == YOKE_NOT_FOUND ? NULL : yoke__xml_child(scope->units[i], "BaseUnit");
    if (base == NULL) {
      continue;
    }
    for (int j = 0; j < YOKE_DIM_N_BASES; j++) {
      const double exponent = yoke__ssp_number(s, scope->document, base, bases[j], 0);
      out->exponents[j] = fabs(exponent) < 100 ? (int)lround(exponent) : 100;
    }
    out->factor = yoke__ssp_number(s, scope->document, base, "factor", 1);
    out->offset = yoke__ssp_number(s, scope->document, base, "offset", 0);
    return out->factor != 0;
  }
  return false;
}

// The definition in an FMU.
static bool find_described(const yoke_fmi_description* description, const char* name,
                           meaning* out) {
  for (size_t i = 0; description != NULL && i < description->n_units; i++) {
    const yoke_fmi_unit* u = &description->units[i];
    if (u->has_base && u->factor != 0 && strcmp(u->name, name) == 0) {
      const int exponents[YOKE_DIM_N_BASES] = {u->kg, u->m,   u->s,  u->A,
                                               u->K,  u->mol, u->cd, u->rad};
      memcpy(out->exponents, exponents, sizeof exponents);
      out->factor = u->factor;
      out->offset = u->offset;
      return true;
    }
  }
  return false;
}

static bool find_named(const char* name, meaning* out) {
  yoke_dim dim;
  if (!yoke__dim_parse(name, &dim)) {
    return false;
  }
  for (int i = 0; i < YOKE_DIM_N_BASES; i++) {
    out->exponents[i] = (int)dim.exponents[i];
  }
  out->factor = dim.factor;
  out->offset = dim.offset;
  return true;
}

static bool find_meaning(ssp* s, const ssp_flow* flow, meaning* out) {
  return find_defined(s, flow->scope, flow->unit, out) ||
         find_described(flow->description, flow->unit, out) || find_named(flow->unit, out);
}

void yoke__ssp_port_unit(ssp* s, const ssp_port* port, ssp_flow* flow) {
  flow->unit = port->unit;
  flow->scope = port->scope;
  flow->description = NULL;
  if (port->unit != NULL || port->component == NULL ||
      (port->type != SSP_REAL && port->type != SSP_UNKNOWN_TYPE)) {
    return;
  }
  const yoke_fmi_description* description = yoke__ssp_describe(s, port->component);
  const size_t i = description == NULL ? YOKE_FMI_NONE : yoke__fmi_find(description, port->name);
  if (i != YOKE_FMI_NONE && description->variables[i].unit[0] != '\0') {
    flow->unit = description->variables[i].unit;
    flow->scope = NULL;
    flow->description = description;
  }
}

bool yoke__ssp_convert(ssp* s, const ssp_flow* from, const ssp_flow* to, double* factor,
                       double* offset) {
  *factor = 1;
  *offset = 0;
  if (from->unit == NULL || to->unit == NULL || strcmp(from->unit, to->unit) == 0) {
    return true;
  }
  meaning a, b;
  double named_factor = 1, named_offset = 0;
  const yoke_dim_kinship kinship =
      yoke__dim_relation(from->unit, to->unit, &named_factor, &named_offset);
  if (!find_meaning(s, from, &a) || !find_meaning(s, to, &b)) {
    return true;
  }
  // angles are pure numbers
  for (int i = 0; i < YOKE_DIM_N_BASES; i++) {
    if (i != YOKE_DIM_RAD && a.exponents[i] != b.exponents[i]) {
      return false;
    }
  }
  *factor = a.factor / b.factor;
  *offset = (a.offset - b.offset) / b.factor;
  const bool is_named = kinship == YOKE_DIM_SAME || kinship == YOKE_DIM_SCALED;
  if (is_named && fabs(named_factor - *factor) <= 1e-9 * fabs(*factor) &&
      fabs(named_offset - *offset) <= 1e-9 * fabs(*offset)) {
    *factor = named_factor;
    *offset = named_offset;
  }
  return true;
}
