// The archive of a system: FMUs and parameter sets into resources/, then the SSD.
//
// FMUs of native units are made in a temporary folder; an FMU that several units use is there once.
#include "export/export_ssp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_dim.h"
#include "base/base_os.h"
#include "base/base_temp.h"
#include "base/base_zip.h"
#include "couple/couple.h"
#include "export/export_fmu.h"
#include "export/export_ssp_part.h"

enum { PATH_SIZE = 4096 };

// ---------------------------------------------------------------------------------------------------------
// what the files share

const char* yoke__ssp_export_text(ssp_export* e, const char* format, ...) {
  va_list args;
  va_start(args, format);
  const char* to = yoke__arena_format(&e->arena, format, args);
  va_end(args);
  e->is_out_of_memory |= to == NULL;
  return to == NULL ? "" : to;
}

const ssp_export_unit* yoke__ssp_export_find(const ssp_export* e, const char* name) {
  for (size_t i = 0; i < e->n_units; i++) {
    if (strcmp(e->units[i].source->name, name) == 0) {
      return &e->units[i];
    }
  }
  return NULL;
}

const char* yoke__ssp_export_element(ssp_export* e, const yoke_variable* v, size_t element) {
  if (v->n_cols <= 1 || v->n_rows <= 1) {
    return yoke__ssp_export_text(e, "%s[%zu]", v->name, element);
  }
  return yoke__ssp_export_text(e, "%s[%zu,%zu]", v->name, element / v->n_cols, element % v->n_cols);
}

bool yoke__ssp_export_end(const ssp_export* e, const yoke_scenario_endpoint* endpoint,
                          ssp_export_end* out) {
  out->unit = yoke__ssp_export_find(e, endpoint->unit);
  size_t variable = 0;
  if (out->unit == NULL ||
      !yoke__unit_find_element(out->unit->unit, endpoint->variable, &variable, &out->element)) {
    return false;
  }
  out->variable = &out->unit->unit->info->variables[variable];
  const bool is_whole = strcmp(out->variable->name, endpoint->variable) == 0;
  out->n = is_whole ? yoke__variable_count(out->variable) : 1;
  return true;
}

bool yoke__ssp_export_is_split(const ssp_export_end* from, const ssp_export_end* to) {
  return from->n > 1 && (from->unit->is_flat || (to != NULL && to->unit->is_flat));
}

const char* yoke__ssp_export_dim(ssp_export* e, const yoke_variable* v) {
  yoke_dim dim;
  if (v->type != YOKE_REAL || v->dim == NULL || !yoke__dim_parse(v->dim, &dim)) {
    return NULL;
  }
  for (size_t i = 0; i < e->n_dims; i++) {
    if (strcmp(e->dims[i], v->dim) == 0) {
      return v->dim;
    }
  }
  if (e->n_dims == e->room_dims) {
    const size_t room = 2 * e->room_dims + 32;
    const char** grown = realloc((void*)e->dims, room * sizeof *grown);
    if (grown == NULL) {
      e->is_out_of_memory = true;
      return NULL;
    }
    e->dims = grown;
    e->room_dims = room;
  }
  e->dims[e->n_dims++] = v->dim;
  return v->dim;
}

static void put_unit(const char* name, yoke_xml_writer* xml) {
  static const char* const bases[YOKE_DIM_N_BASES] = {"kg", "m", "s", "A", "K", "mol", "cd", "rad"};
  yoke_dim dim;
  if (!yoke__dim_parse(name, &dim)) {
    return;
  }
  yoke__xml_open(xml, "ssc:Unit");
  yoke__xml_put(xml, "name", name);
  yoke__xml_open(xml, "ssc:BaseUnit");
  for (size_t i = 0; i < YOKE_DIM_N_BASES; i++) {
    if (dim.exponents[i] != 0) {
      yoke__xml_put_integer(xml, bases[i], dim.exponents[i]);
    }
  }
  if (dim.factor != 1) {
    yoke__xml_put_number(xml, "factor", dim.factor);
  }
  if (dim.offset != 0) {
    yoke__xml_put_number(xml, "offset", dim.offset);
  }
  yoke__xml_close(xml, "ssc:BaseUnit");
  yoke__xml_close(xml, "ssc:Unit");
}

void yoke__ssp_export_put_units(ssp_export* e, const char* prefix, yoke_xml_writer* xml) {
  const char* name = yoke__ssp_export_text(e, "%sUnits", prefix);
  if (e->n_dims > 0) {
    yoke__xml_open(xml, name);
    for (size_t i = 0; i < e->n_dims; i++) {
      put_unit(e->dims[i], xml);
    }
    yoke__xml_close(xml, name);
  }
  e->n_dims = 0;
}

// ---------------------------------------------------------------------------------------------------------
// files of units

// What is sent to it is about this place from now on.
static const yoke_sink* sink_at(ssp_export* e, yoke_place place, const char* unit) {
  return &yoke__context_init(&e->about, &e->list, place, unit, (double)NAN)->sink;
}

static bool is_fmu(const ssp_export_unit* unit) {
  return unit->source->kind == YOKE_KIND_FMU;
}

static bool is_entry_used(const ssp_export* e, const ssp_export_unit* until, const char* entry) {
  for (const ssp_export_unit* u = e->units; u < until; u++) {
    if (strcmp(u->fmu, entry) == 0) {
      return true;
    }
  }
  return false;
}

// An FMU as it is; of units before this one with the same file the entry is taken.
static yoke_status copy_fmu(ssp_export* e, ssp_export_unit* unit, yoke_zip_writer* zip) {
  for (const ssp_export_unit* u = e->units; u < unit; u++) {
    if (is_fmu(u) && strcmp(u->source->type, unit->source->type) == 0) {
      unit->fmu = u->fmu;
      return YOKE_OK;
    }
  }
  char path[PATH_SIZE];
  const char* type = unit->source->type;
  const int n = type[0] == '/'
                    ? snprintf(path, sizeof path, "%s", type)
                    : (int)yoke__os_path_join(e->job->scenario->directory, type, path, sizeof path);
  if (n < 0 || (size_t)n >= sizeof path || !yoke__os_is_file(path)) {
    yoke__error(e->messages, unit->source->type_place,
                "'%s' is no file that can be put into the archive", type);
    return YOKE_BAD_INPUT;
  }
  const char* slash = strrchr(type, '/');
  unit->fmu = yoke__ssp_export_text(e, "resources/%s", slash == NULL ? type : slash + 1);
  if (is_entry_used(e, unit, unit->fmu) || strpbrk(unit->fmu, "%#\\:?") != NULL) {
    unit->fmu = yoke__ssp_export_text(e, "resources/%s.fmu", unit->source->name);
  }
  return yoke__zip_add_file(zip, unit->fmu, path, sink_at(e, unit->source->type_place, NULL));
}

// A native unit as an FMU, made beside and then taken in.
static yoke_status make_fmu(ssp_export* e, ssp_export_unit* unit, const char* folder,
                            yoke_zip_writer* zip) {
  const yoke_scenario* s = e->job->scenario;
  const yoke_sink* sink = sink_at(e, unit->source->place, unit->source->name);
  char path[PATH_SIZE], file[300];
  snprintf(file, sizeof file, "%.200s.fmu", unit->source->name);
  if (yoke__os_path_join(folder, file, path, sizeof path) >= sizeof path) {
    return yoke_fail(sink, YOKE_IO, "the path of its FMU is too long");
  }
  yoke_export_job job = {
      .fmi = e->job->fmi,
      .name = unit->source->name,
      .ops = unit->unit->ops,
      .unit = unit->unit,
      .directory = s->directory,
      .has_experiment = true,
      .start = s->start.value,
      .stop = s->stop.value,
      .step = unit->source->step.is_given ? unit->source->step.value : s->step.value,
      .runtime = e->job->runtime,
      .sources = e->job->sources,
  };
  YOKE_TRY(yoke__export_arguments(unit->source, job.ops, &e->arena, e->messages, &job.arguments,
                                  &job.n_arguments));
  if (unit->source->kind == YOKE_KIND_CIRCUIT || unit->source->kind == YOKE_KIND_TWIN) {
    YOKE_TRY(yoke__export_starts(unit->source, job.ops, &e->arena, e->messages, &job.starts,
                                 &job.n_starts));
  }
  YOKE_TRY(yoke__export_library(unit->source, &e->arena, &job));
  YOKE_TRY(yoke__export_fmu(&job, path, sink));
  unit->fmu = yoke__ssp_export_text(e, "resources/%s", file);
  return yoke__zip_add_file(zip, unit->fmu, path, sink);
}

static yoke_status add_values(ssp_export* e, ssp_export_unit* unit, yoke_zip_writer* zip) {
  yoke_xml_writer xml = {0};
  yoke_status status = YOKE_OK;
  if (yoke__ssp_export_values(e, unit, &xml)) {
    unit->values = yoke__ssp_export_text(e, "resources/%s.ssv", unit->source->name);
    status = xml.text.status < 0 ? YOKE_NO_MEMORY
                                 : yoke__zip_add(zip, unit->values, xml.text.bytes, xml.text.n,
                                                 sink_at(e, unit->source->place, NULL));
  }
  yoke__xml_free(&xml);
  return status;
}

static yoke_status add_units(ssp_export* e, const char* folder, yoke_zip_writer* zip) {
  const yoke_scenario* s = e->job->scenario;
  e->units = yoke__arena_array(&e->arena, s->n_units, sizeof *e->units);
  YOKE_TRY_MEMORY(e->units);
  for (size_t i = 0; i < s->n_units; i++) {
    ssp_export_unit* unit = &e->units[i];
    *unit = (ssp_export_unit){.source = &s->units[i], .unit = e->job->units[i], .fmu = ""};
    unit->is_flat = !is_fmu(unit) && e->job->fmi == 2;
    e->n_units++;
    YOKE_TRY(is_fmu(unit) ? copy_fmu(e, unit, zip) : make_fmu(e, unit, folder, zip));
    YOKE_TRY(add_values(e, unit, zip));
    if (e->is_out_of_memory) {
      return YOKE_NO_MEMORY;
    }
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// files that couplings start from

const char* yoke__ssp_export_coupling_file(ssp_export* e, const char* name,
                                           const yoke_node* coupling, const yoke_node* setting) {
  const yoke_node* method = yoke__node_child(coupling, "method");
  const yoke_coupling_ops* ops =
      method == NULL || method->text == NULL ? NULL : yoke__coupling_find(method->text);
  for (size_t i = 0; ops != NULL && i < ops->n_files; i++) {
    if (strcmp(ops->files[i].name, setting->key) == 0 && setting->text != NULL) {
      return yoke__ssp_export_text(e, "resources/%s.%s.json", name, setting->key);
    }
  }
  return NULL;
}

static yoke_status add_coupling_file(ssp_export* e, const char* entry, const yoke_node* setting,
                                     yoke_zip_writer* zip) {
  const yoke_sink* sink = sink_at(e, setting->place, NULL);
  char path[PATH_SIZE];
  const char* name = setting->text;
  const size_t n = name[0] == '/'
                       ? (size_t)snprintf(path, sizeof path, "%s", name)
                       : yoke__os_path_join(e->job->scenario->directory, name, path, sizeof path);
  return n < sizeof path ? yoke__zip_add_file(zip, entry, path, sink)
                         : yoke_fail(sink, YOKE_IO, "the path is too long");
}

// The files of one coupling.
static yoke_status add_files_of(ssp_export* e, const char* name, const yoke_node* coupling,
                                yoke_zip_writer* zip) {
  for (const yoke_node* at = coupling->first; at != NULL; at = at->next) {
    const char* entry = yoke__ssp_export_coupling_file(e, name, coupling, at);
    if (entry != NULL) {
      YOKE_TRY(add_coupling_file(e, entry, at, zip));
    }
  }
  return YOKE_OK;
}

const char* yoke__ssp_export_connection_name(ssp_export* e, const yoke_scenario_connection* c) {
  return yoke__ssp_export_text(e, "connection-%d", (int)(c - e->job->scenario->connections) + 1);
}

const char* yoke__ssp_export_bond_name(ssp_export* e, const yoke_scenario_bond* bond) {
  return yoke__ssp_export_text(e, "bond-%d", (int)(bond - e->job->scenario->bonds) + 1);
}

static yoke_status add_coupling_files(ssp_export* e, yoke_zip_writer* zip) {
  const yoke_scenario* s = e->job->scenario;
  const yoke_node* couplings = yoke__node_child(s->tree, "couplings");
  for (const yoke_node* c = couplings == NULL ? NULL : couplings->first; c != NULL; c = c->next) {
    YOKE_TRY(add_files_of(e, c->key, c, zip));
  }
  for (size_t i = 0; i < s->n_connections; i++) {
    const yoke_scenario_connection* c = &s->connections[i];
    if (c->coupling != NULL) {
      YOKE_TRY(add_files_of(e, yoke__ssp_export_connection_name(e, c), c->coupling, zip));
    }
  }
  for (size_t i = 0; i < s->n_bonds; i++) {
    const yoke_scenario_bond* bond = &s->bonds[i];
    if (bond->coupling != NULL) {
      YOKE_TRY(add_files_of(e, yoke__ssp_export_bond_name(e, bond), bond->coupling, zip));
    }
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// the archive

static yoke_status add_system(ssp_export* e, const char* path, yoke_zip_writer* zip) {
  // arrays are met while connectors are written, and the version stands in front of them: once more if there are any
  yoke_status status = YOKE_OK;
  const bool had_arrays = e->has_arrays;
  yoke_xml_writer xml = {0};
  const size_t n_errors = e->messages->n_errors;
  yoke__ssp_export_system(e, &xml);
  if (e->has_arrays != had_arrays) {
    yoke__xml_free(&xml);
    xml = (yoke_xml_writer){0};
    e->extras = e->last_extra = NULL;
    yoke_messages* messages = e->messages;
    yoke_messages again = {0};
    e->messages = &again;
    yoke__ssp_export_system(e, &xml);
    e->messages = messages;
    yoke__messages_free(&again);
  }
  if (e->messages->n_errors > n_errors) {
    status = YOKE_NO_SUPPORT;
  } else if (e->is_out_of_memory || xml.text.status < 0) {
    status = YOKE_NO_MEMORY;
  } else {
    status = yoke__zip_add(zip, "SystemStructure.ssd", xml.text.bytes, xml.text.n,
                           sink_at(e, (yoke_place){.source = path}, NULL));
  }
  yoke__xml_free(&xml);
  return status;
}

yoke_status yoke__export_ssp(const yoke_export_ssp_job* job, const char* path,
                             yoke_messages* messages) {
  const yoke_place place = {.source = path};
  ssp_export e = {.job = job, .messages = messages, .list = yoke__messages_sink(messages)};
  yoke_temp* temp = NULL;
  yoke_zip_writer* zip = NULL;
  yoke_status status = yoke__temp_create(&temp, sink_at(&e, place, NULL));
  if (status >= 0) {
    status = yoke__zip_create(path, &zip, sink_at(&e, place, NULL));
  }
  if (status >= 0) {
    status = add_units(&e, yoke__temp_path(temp), zip);
  }
  if (status >= 0) {
    status = add_coupling_files(&e, zip);
  }
  if (status >= 0) {
    status = add_system(&e, path, zip);
  }
  if (status >= 0) {
    status = yoke__zip_finish(&zip, sink_at(&e, place, NULL));
  } else {
    yoke__zip_abandon(&zip);
  }
  yoke__temp_remove(&temp);
  free((void*)e.dims);
  yoke__arena_free(&e.arena);
  return status;
}
