// The parameter set of one unit (.ssv): what the system file gives under `with`, `start` and `values`.
//
// Settings that shape a native unit (matrices, numbers of inputs) are inside of its FMU and are left out here.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_number.h"
#include "export/export_ssp_part.h"

// One number, boolean, item or text as an attribute.
static void put_value(const yoke_variable* v, const void* values, size_t i, yoke_xml_writer* xml) {
  const int64_t* whole = values;
  switch (v->type) {
  case YOKE_REAL:
    yoke__xml_put_number(xml, "value", ((const double*)values)[i]);
    break;
  case YOKE_INTEGER:
    yoke__xml_put_integer(xml, "value", whole[i]);
    break;
  case YOKE_BOOLEAN:
    yoke__xml_put(xml, "value", whole[i] != 0 ? "true" : "false");
    break;
  case YOKE_ENUMERATION:
    yoke__xml_put(xml, "value", v->items[whole[i]]);
    break;
  case YOKE_STRING:
  case YOKE_BINARY:
    yoke__xml_put(xml, "value", ((const char* const*)values)[i]);
    break;
  }
}

static const char* const type_names[] = {"ssv:Real",        "ssv:Integer", "ssv:Boolean",
                                         "ssv:Enumeration", "ssv:String",  "ssv:Binary"};

static void put_parameter(ssp_export* e, const yoke_variable* v, const char* name,
                          const void* values, size_t i, yoke_xml_writer* xml) {
  const char* dim = yoke__ssp_export_dim(e, v);
  yoke__xml_open(xml, "ssv:Parameter");
  yoke__xml_put(xml, "name", name);
  yoke__xml_open(xml, type_names[v->type]);
  put_value(v, values, i, xml);
  if (dim != NULL) {
    yoke__xml_put(xml, "unit", dim);
  }
  yoke__xml_close(xml, type_names[v->type]);
  yoke__xml_close(xml, "ssv:Parameter");
}

// An array as SSP 2.0 has it: all numbers in one attribute.
static void put_array(ssp_export* e, const yoke_variable* v, const void* values, size_t n,
                      yoke_xml_writer* xml) {
  const char *dim = yoke__ssp_export_dim(e, v), *text = "";
  for (size_t i = 0; i < n; i++) {
    char number[YOKE_NUMBER_SIZE];
    if (v->type == YOKE_REAL) {
      yoke__number_format(((const double*)values)[i], number);
    } else {
      yoke__number_format_integer(((const int64_t*)values)[i], number);
    }
    text = yoke__ssp_export_text(e, "%s%s%s", text, i == 0 ? "" : " ", number);
  }
  yoke__xml_open(xml, "ssv:Parameter");
  yoke__xml_put(xml, "name", v->name);
  yoke__xml_open(xml, type_names[v->type]);
  yoke__xml_put(xml, "value", text);
  if (dim != NULL) {
    yoke__xml_put(xml, "unit", dim);
  }
  yoke__xml_close(xml, type_names[v->type]);
  const size_t sizes[] = {v->n_rows, v->n_cols};
  for (size_t i = 0; i < 2; i++) {
    if (sizes[i] > 1) {
      yoke__xml_open(xml, "ssc:Dimension");
      yoke__xml_put_integer(xml, "size", (long long)sizes[i]);
      yoke__xml_close(xml, "ssc:Dimension");
    }
  }
  yoke__xml_close(xml, "ssv:Parameter");
  e->has_arrays = true;
}

// False: the setting shapes the unit, or its value was refused.
static bool put_setting(ssp_export* e, const ssp_export_unit* unit, const yoke_setting* setting,
                        yoke_xml_writer* xml) {
  const size_t index = yoke__unit_find(unit->unit, setting->name);
  if (index == (size_t)-1) {
    return false;
  }
  const yoke_variable* v = &unit->unit->info->variables[index];
  void* values = NULL;
  size_t n_rows = 0, n_cols = 0;
  const yoke_status status = yoke__node_values(setting->value, v->type, v->items, setting->name,
                                               &e->arena, e->messages, &values, &n_rows, &n_cols);
  e->is_out_of_memory |= status == YOKE_NO_MEMORY;
  if (status < 0) {
    return false;
  }
  const size_t n = n_rows * n_cols;
  const bool is_number = v->type == YOKE_REAL || v->type == YOKE_INTEGER;
  if (n > 1 && !unit->is_flat && is_number) {
    put_array(e, v, values, n, xml);
    return true;
  }
  for (size_t i = 0; i < n; i++) {
    put_parameter(e, v, n == 1 ? v->name : yoke__ssp_export_element(e, v, i), values, i, xml);
  }
  return true;
}

// True if some setting is an array that stays one, which SSP has since 2.0.
static bool has_array(const ssp_export_unit* unit, const yoke_setting* settings, size_t n) {
  for (size_t i = 0; i < n && !unit->is_flat; i++) {
    if (settings[i].value->kind == YOKE_NODE_LIST &&
        yoke__unit_find(unit->unit, settings[i].name) != (size_t)-1) {
      return true;
    }
  }
  return false;
}

bool yoke__ssp_export_values(ssp_export* e, const ssp_export_unit* unit, yoke_xml_writer* xml) {
  const yoke_scenario_unit* source = unit->source;
  const yoke_setting* const lists[] = {source->with, source->start, source->values};
  const size_t counts[] = {source->n_with, source->n_start, source->n_values};
  bool is_any = false, is_newer = false;
  for (size_t i = 0; i < 3; i++) {
    is_newer |= has_array(unit, lists[i], counts[i]);
  }
  yoke__xml_open(xml, "ssv:ParameterSet");
  yoke__xml_put(xml, "xmlns:ssv", "http://ssp-standard.org/SSP1/SystemStructureParameterValues");
  yoke__xml_put(xml, "xmlns:ssc", "http://ssp-standard.org/SSP1/SystemStructureCommon");
  yoke__xml_put(xml, "version", is_newer ? "2.0" : "1.0");
  yoke__xml_put(xml, "name", source->name);
  yoke__xml_open(xml, "ssv:Parameters");
  for (size_t i = 0; i < 3; i++) {
    for (size_t j = 0; j < counts[i]; j++) {
      is_any |= put_setting(e, unit, &lists[i][j], xml);
    }
  }
  yoke__xml_close(xml, "ssv:Parameters");
  yoke__ssp_export_put_units(e, "ssv:", xml);
  yoke__xml_close(xml, "ssv:ParameterSet");
  return is_any;
}
