// The SSD of a system: components with connectors, connections, times, our annotation.
//
// Connections carry the gain and the offset of the system file and suppress any conversion of units, since the gain is
// what the user wants to happen. Arrays of FMI 2.0 are single variables, so a connection of arrays becomes one for each
// element. Single elements of an array of FMI 3.0 are beyond SSP: those connections stand in the annotation alone.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "export/export_ssp_part.h"
#include "yoke/version.h"

// ---------------------------------------------------------------------------------------------------------
// connectors

// Opens a list with its first entry.
static void open_list(ssp_export* e, const char* name, yoke_xml_writer* xml) {
  if (!e->has_list) {
    yoke__xml_open(xml, name);
    e->has_list = true;
  }
}

static void close_list(ssp_export* e, const char* name, yoke_xml_writer* xml) {
  if (e->has_list) {
    yoke__xml_close(xml, name);
    e->has_list = false;
  }
}

static const char* enumeration_name(ssp_export* e, const ssp_export_unit* unit,
                                    const yoke_variable* v) {
  return yoke__ssp_export_text(e, "%s.%s", unit->source->name, v->name);
}

// Values of an FMU's items are not known here, so only native units have a type for them.
static bool has_enumeration(const ssp_export_unit* unit, const yoke_variable* v) {
  return v->type == YOKE_ENUMERATION && v->items != NULL && unit->source->kind != YOKE_KIND_FMU;
}

static void put_type(ssp_export* e, const ssp_export_unit* unit, const yoke_variable* v,
                     yoke_xml_writer* xml) {
  static const char* const names[] = {"ssc:Real",        "ssc:Integer", "ssc:Boolean",
                                      "ssc:Enumeration", "ssc:String",  "ssc:Binary"};
  if (v->type == YOKE_ENUMERATION && !has_enumeration(unit, v)) {
    return;
  }
  yoke__xml_open(xml, names[v->type]);
  const char* dim = yoke__ssp_export_dim(e, v);
  if (dim != NULL) {
    yoke__xml_put(xml, "unit", dim);
  }
  if (v->type == YOKE_ENUMERATION) {
    yoke__xml_put(xml, "name", enumeration_name(e, unit, v));
  }
  yoke__xml_close(xml, names[v->type]);
}

static void put_connector(ssp_export* e, const ssp_export_unit* unit, const yoke_variable* v,
                          const char* name, bool is_array, yoke_xml_writer* xml) {
  static const char* const kinds[] = {"input", "output", "parameter", "parameter"};
  open_list(e, "ssd:Connectors", xml);
  yoke__xml_open(xml, "ssd:Connector");
  yoke__xml_put(xml, "name", name);
  yoke__xml_put(xml, "kind", kinds[v->causality]);
  put_type(e, unit, v, xml);
  const size_t sizes[] = {v->n_rows, v->n_cols};
  for (size_t i = 0; is_array && i < 2; i++) {
    if (sizes[i] > 1) {
      yoke__xml_open(xml, "ssc:Dimension");
      yoke__xml_put_integer(xml, "size", (long long)sizes[i]);
      yoke__xml_close(xml, "ssc:Dimension");
      e->has_arrays = true;
    }
  }
  yoke__xml_close(xml, "ssd:Connector");
}

static void put_connectors(ssp_export* e, const ssp_export_unit* unit, yoke_xml_writer* xml) {
  const yoke_unit_info* info = unit->unit->info;
  for (size_t i = 0; i < info->n_variables; i++) {
    const yoke_variable* v = &info->variables[i];
    const bool is_shown =
        v->causality == YOKE_INPUT || v->causality == YOKE_OUTPUT || v->causality == YOKE_TUNABLE;
    const size_t n = yoke__variable_count(v);
    if (is_shown && n > 1 && unit->is_flat) {
      for (size_t j = 0; j < n; j++) {
        put_connector(e, unit, v, yoke__ssp_export_element(e, v, j), false, xml);
      }
    } else if (is_shown) {
      put_connector(e, unit, v, v->name, n > 1, xml);
    }
  }
  close_list(e, "ssd:Connectors", xml);
}

static void put_component(ssp_export* e, const ssp_export_unit* unit, yoke_xml_writer* xml) {
  // SSP 1.0 has no word for scheduled execution
  static const char* const implementations[] = {"any", "CoSimulation", "ModelExchange", "any"};
  yoke__xml_open(xml, "ssd:Component");
  yoke__xml_put(xml, "name", unit->source->name);
  yoke__xml_put(xml, "type", "application/x-fmu-sharedlibrary");
  yoke__xml_put(xml, "source", unit->fmu);
  if (unit->source->kind != YOKE_KIND_FMU) {
    yoke__xml_put(xml, "implementation", "CoSimulation");
  } else if (unit->source->interface_type != YOKE_SCENARIO_INTERFACE_AUTO) {
    yoke__xml_put(xml, "implementation", implementations[unit->source->interface_type]);
  }
  put_connectors(e, unit, xml);
  if (unit->values != NULL) {
    yoke__xml_open(xml, "ssd:ParameterBindings");
    yoke__xml_open(xml, "ssd:ParameterBinding");
    yoke__xml_put(xml, "type", "application/x-ssp-parameter-set");
    yoke__xml_put(xml, "source", unit->values);
    yoke__xml_close(xml, "ssd:ParameterBinding");
    yoke__xml_close(xml, "ssd:ParameterBindings");
  }
  yoke__xml_close(xml, "ssd:Component");
}

// ---------------------------------------------------------------------------------------------------------
// connections

// The connector of element i of an end; NULL: SSP has no name for it.
static const char* connector_of(ssp_export* e, const ssp_export_end* end, size_t i, size_t n) {
  const yoke_variable* v = end->variable;
  const size_t n_all = yoke__variable_count(v);
  if (n_all == 1 || n == n_all) {
    return v->name;
  }
  return end->unit->is_flat ? yoke__ssp_export_element(e, v, end->element + i) : NULL;
}

static void put_connection(ssp_export* e, const yoke_scenario_connection* c, const char* from,
                           const char* to, yoke_xml_writer* xml) {
  const bool is_changed = c->gain != 1 || c->offset != 0;
  open_list(e, "ssd:Connections", xml);
  yoke__xml_open(xml, "ssd:Connection");
  yoke__xml_put(xml, "startElement", c->from.unit);
  yoke__xml_put(xml, "startConnector", from);
  yoke__xml_put(xml, "endElement", c->to.unit);
  yoke__xml_put(xml, "endConnector", to);
  if (is_changed || c->has_gain) {
    yoke__xml_put(xml, "suppressUnitConversion", "true");
  }
  if (is_changed) {
    yoke__xml_open(xml, "ssc:LinearTransformation");
    yoke__xml_put_number(xml, "factor", c->gain);
    yoke__xml_put_number(xml, "offset", c->offset);
    yoke__xml_close(xml, "ssc:LinearTransformation");
  }
  yoke__xml_close(xml, "ssd:Connection");
}

// True if the annotation has to say something about a connection that the SSD has.
static bool has_more(const yoke_scenario_connection* c) {
  return c->has_order || c->delay.is_given || c->exchange.is_given || c->is_held || c->is_auto ||
         c->average != YOKE_AVERAGE_BY_RULE || c->coupling != NULL;
}

static void add_extra(ssp_export* e, const yoke_scenario_connection* c, const char* from,
                      const char* to) {
  ssp_export_extra* extra = yoke__arena_take(&e->arena, sizeof *extra);
  if (extra == NULL) {
    e->is_out_of_memory = true;
    return;
  }
  *extra = (ssp_export_extra){.from = yoke__ssp_export_text(e, "%s.%s", c->from.unit, from),
                              .to = yoke__ssp_export_text(e, "%s.%s", c->to.unit, to),
                              .source = c};
  if (e->last_extra == NULL) {
    e->extras = extra;
  } else {
    e->last_extra->next = extra;
  }
  e->last_extra = extra;
}

// is_told: the annotation says it already, as an arrow of a bond.
static void export_connection(ssp_export* e, const yoke_scenario_connection* c, bool is_told,
                              yoke_xml_writer* xml) {
  ssp_export_end from = {0}, to = {0};
  if (!yoke__ssp_export_end(e, &c->from, &from) || !yoke__ssp_export_end(e, &c->to, &to)) {
    return;
  }
  // arrays on both sides that stay arrays go as a whole
  const bool is_split = yoke__ssp_export_is_split(&from, &to);
  const size_t n = is_split ? from.n : 1, n_at_once = is_split ? 1 : from.n;
  for (size_t i = 0; i < n; i++) {
    const char* start = connector_of(e, &from, i, n_at_once);
    const char* stop = connector_of(e, &to, i, n_at_once);
    const bool is_possible = start != NULL && stop != NULL;
    if (is_possible) {
      put_connection(e, c, start, stop, xml);
    } else {
      yoke__message_add(e->messages, YOKE_WARNING, c->place,
                        "SSP cannot connect single elements of an array of FMI 3.0: %s.%s -> "
                        "%s.%s is written for Yoke alone",
                        c->from.unit, c->from.variable, c->to.unit, c->to.variable);
    }
    if (!is_told && (!is_possible || has_more(c))) {
      add_extra(e, c,
                start != NULL ? start
                              : yoke__ssp_export_element(e, from.variable, from.element + i),
                stop != NULL ? stop : yoke__ssp_export_element(e, to.variable, to.element + i));
    }
  }
}

// Arrows of bonds are connections too.
static void export_arrows(ssp_export* e, const yoke_scenario_bond* bond,
                          const yoke_scenario_pair pairs[], size_t n, yoke_xml_writer* xml) {
  for (size_t i = 0; i < n; i++) {
    const yoke_scenario_connection c = {
        .from = pairs[i].from, .to = pairs[i].to, .gain = 1, .place = bond->place};
    if (pairs[i].has_to) {
      export_connection(e, &c, true, xml);
    }
  }
}

static void export_bonds(ssp_export* e, yoke_xml_writer* xml) {
  const yoke_scenario* s = e->job->scenario;
  for (size_t i = 0; i < s->n_bonds; i++) {
    if (!s->bonds[i].is_refused) {
      export_arrows(e, &s->bonds[i], s->bonds[i].action, s->bonds[i].n_action, xml);
      export_arrows(e, &s->bonds[i], s->bonds[i].rate, s->bonds[i].n_rate, xml);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// the file

static void put_enumerations(ssp_export* e, yoke_xml_writer* xml) {
  bool is_open = false;
  for (size_t i = 0; i < e->n_units; i++) {
    const yoke_unit_info* info = e->units[i].unit->info;
    for (size_t j = 0; j < info->n_variables; j++) {
      const yoke_variable* v = &info->variables[j];
      const bool is_shown = v->causality != YOKE_STATE && v->causality != YOKE_PARAMETER;
      if (!is_shown || !has_enumeration(&e->units[i], v)) {
        continue;
      }
      if (!is_open) {
        yoke__xml_open(xml, "ssd:Enumerations");
        is_open = true;
      }
      yoke__xml_open(xml, "ssc:Enumeration");
      yoke__xml_put(xml, "name", enumeration_name(e, &e->units[i], v));
      for (size_t k = 0; v->items[k] != NULL; k++) {
        yoke__xml_open(xml, "ssc:Item");
        yoke__xml_put(xml, "name", v->items[k]);
        yoke__xml_put_integer(xml, "value", (long long)k);
        yoke__xml_close(xml, "ssc:Item");
      }
      yoke__xml_close(xml, "ssc:Enumeration");
    }
  }
  if (is_open) {
    yoke__xml_close(xml, "ssd:Enumerations");
  }
}

// A time as it was written, so that it stays the same decimal.
static void put_time(const yoke_scenario* s, const char* key, const char* attribute, double value,
                     yoke_xml_writer* xml) {
  const yoke_node* node = yoke__node_child(yoke__node_child(s->tree, "time"), key);
  if (node != NULL && node->kind == YOKE_NODE_SCALAR) {
    yoke__xml_put(xml, attribute, node->text);
  } else {
    yoke__xml_put_number(xml, attribute, value);
  }
}

static void put_system(ssp_export* e, yoke_xml_writer* xml) {
  const yoke_scenario* s = e->job->scenario;
  yoke__xml_open(xml, "ssd:System");
  yoke__xml_put(xml, "name", "system");
  if (s->text[0] != '\0') {
    yoke__xml_put(xml, "description", s->text);
  }
  yoke__xml_open(xml, "ssd:Elements");
  for (size_t i = 0; i < e->n_units; i++) {
    put_component(e, &e->units[i], xml);
  }
  yoke__xml_close(xml, "ssd:Elements");
  for (size_t i = 0; i < s->n_connections; i++) {
    export_connection(e, &s->connections[i], false, xml);
  }
  export_bonds(e, xml);
  close_list(e, "ssd:Connections", xml);
  yoke__xml_close(xml, "ssd:System");
}

static void put_annotation(ssp_export* e, yoke_xml_writer* xml) {
  char* text = yoke__ssp_export_annotation(e);
  if (text == NULL) {
    e->is_out_of_memory = true;
    return;
  }
  yoke__xml_open(xml, "ssd:Annotations");
  yoke__xml_open(xml, "ssc:Annotation");
  yoke__xml_put(xml, "type", "org.yoke.system");
  // SSP 1.0 has no text here, only an element of whatever namespace
  yoke__xml_open(xml, "yoke:System");
  yoke__xml_put(xml, "xmlns:yoke", "urn:org.yoke.system");
  yoke__xml_put_text(xml, text);
  yoke__xml_close(xml, "yoke:System");
  yoke__xml_close(xml, "ssc:Annotation");
  yoke__xml_close(xml, "ssd:Annotations");
  free(text);
}

void yoke__ssp_export_system(ssp_export* e, yoke_xml_writer* xml) {
  const yoke_scenario* s = e->job->scenario;
  const char* version = e->has_arrays ? "2.0" : "1.0";
  yoke__xml_open(xml, "ssd:SystemStructureDescription");
  yoke__xml_put(xml, "xmlns:ssd", "http://ssp-standard.org/SSP1/SystemStructureDescription");
  yoke__xml_put(xml, "xmlns:ssc", "http://ssp-standard.org/SSP1/SystemStructureCommon");
  yoke__xml_put(xml, "version", version);
  yoke__xml_put(xml, "name", s->name);
  yoke__xml_put(xml, "generationTool", "Yoke " YOKE_VERSION);
  put_system(e, xml);
  put_enumerations(e, xml);
  yoke__ssp_export_put_units(e, "ssd:", xml);
  yoke__xml_open(xml, "ssd:DefaultExperiment");
  put_time(s, "start", "startTime", s->start.value, xml);
  put_time(s, "stop", "stopTime", s->stop.value, xml);
  yoke__xml_close(xml, "ssd:DefaultExperiment");
  put_annotation(e, xml);
  yoke__xml_close(xml, "ssd:SystemStructureDescription");
}
