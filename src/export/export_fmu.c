// The archive: description, binary, settings, files, sources. The same unit gives the same bytes: nothing depends on
// time, place or the order of a folder, and the token is a hash of the content.
#define _POSIX_C_SOURCE 200809L  // open_memstream

#include "export/export_fmu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "base/base_process.h"
#include "base/base_zip.h"
#include "export/export_part.h"
#include "fmi/fmi_package.h"
#include "unit/twin/unit_twin.h"

#define MAX_PATH          4096
#define MAX_RESOURCE_SIZE ((size_t)1 << 30)
#define TOKEN_SIZE        40
#define TABLE_NAME        "table.csv"
#define LIBRARY_NAME      "unit.so"

static const char* const type_names[] = {"real",        "integer", "boolean",
                                         "enumeration", "string",  "binary"};

// What goes into the archive.
typedef struct parts {
  yoke_export_model model;
  yoke_zip* sources;  // NULL: none
  char* table;        // a file that the settings name, or the netlist; NULL: none
  size_t table_size;
  const char* resource;  // its name there
  char* library;         // the shared library of the unit; NULL: none
  size_t library_size;
  char token[TOKEN_SIZE];
  char* settings;  // yoke.txt
  size_t settings_size;
  yoke_xml_writer xml, build;
} parts;

static const char* join_path(const char* directory, const char* name, yoke_arena* arena) {
  char path[MAX_PATH];
  const size_t n = yoke__os_path_join(directory, name, path, sizeof path);
  return n < sizeof path ? yoke__arena_text(arena, path, n) : NULL;
}

// ---- arguments

static const yoke_variable* find_structure(const yoke_unit_ops* ops, const char* name) {
  for (size_t i = 0; i < ops->n_structure; i++) {
    if (strcmp(ops->structure[i].name, name) == 0) {
      return &ops->structure[i];
    }
  }
  return NULL;
}

// Values of the settings first, then more: those that shape the unit (wanted) or those that do not.
static yoke_status read_settings(const yoke_scenario_unit* source, const yoke_unit_ops* ops,
                                 bool is_structure, yoke_arena* arena, yoke_messages* messages,
                                 const yoke_argument** out, size_t* n) {
  const yoke_setting* first = is_structure ? source->with : source->start;
  const size_t n_first = is_structure ? source->n_with : source->n_start;
  const size_t n_all = n_first + source->n_values;
  yoke_argument* all = yoke__arena_array(arena, n_all + 1, sizeof *all);
  *n = 0;
  *out = all;
  YOKE_TRY_MEMORY(all);
  for (size_t i = 0; i < n_all; i++) {
    const yoke_setting* setting = i < n_first ? &first[i] : &source->values[i - n_first];
    const yoke_variable* v = find_structure(ops, setting->name);
    if ((v != NULL) != is_structure) {
      continue;
    }
    char what[256];
    snprintf(what, sizeof what, "%s '%s' of '%s'", is_structure ? "parameter" : "start value",
             setting->name, source->name);
    void* values = NULL;
    yoke_argument* to = &all[(*n)++];
    *to = (yoke_argument){.name = v == NULL ? setting->name : v->name,
                          .type = v == NULL ? YOKE_REAL : v->type};
    YOKE_TRY(yoke__node_values(setting->value, to->type, v == NULL ? NULL : v->items, what, arena,
                               messages, &values, &to->n_rows, &to->n_cols));
    to->value = values;
  }
  return YOKE_OK;
}

yoke_status yoke__export_arguments(const yoke_scenario_unit* source, const yoke_unit_ops* ops,
                                   yoke_arena* arena, yoke_messages* messages,
                                   const yoke_argument** arguments, size_t* n) {
  return read_settings(source, ops, true, arena, messages, arguments, n);
}

yoke_status yoke__export_starts(const yoke_scenario_unit* source, const yoke_unit_ops* ops,
                                yoke_arena* arena, yoke_messages* messages,
                                const yoke_argument** starts, size_t* n) {
  return read_settings(source, ops, false, arena, messages, starts, n);
}

yoke_status yoke__export_library(const yoke_scenario_unit* source, yoke_arena* arena,
                                 yoke_export_job* job) {
  if (source->kind != YOKE_KIND_LIBRARY) {
    return YOKE_OK;
  }
  job->library =
      source->type[0] == '/' ? source->type : join_path(job->directory, source->type, arena);
  job->library_model = source->model;
  return job->library == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

// ---- yoke.txt, whose form is drawn in runtime_config.c

static void put_bytes(FILE* out, const char* bytes, size_t n) {
  fputc(' ', out);
  for (size_t i = 0; i < n; i++) {
    const unsigned char c = (unsigned char)bytes[i];
    if (c <= ' ' || c == '%' || c == 0x7f) {
      fprintf(out, "%%%02x", c);
    } else {
      fputc(c, out);
    }
  }
}

static void put_word(FILE* out, const char* word) {
  put_bytes(out, word, strlen(word));
}

static void put_real(FILE* out, double number) {
  char text[YOKE_NUMBER_SIZE];
  yoke__number_format(number, text);
  put_word(out, text);
}

static void put_element(FILE* out, yoke_type type, const char* at) {
  double number = 0.0;
  int64_t whole = 0;
  uint64_t n = 0;
  switch (type) {
  case YOKE_REAL:
    memcpy(&number, at, sizeof number);
    put_real(out, number);
    break;
  case YOKE_INTEGER:
  case YOKE_BOOLEAN:
  case YOKE_ENUMERATION:
    memcpy(&whole, at, sizeof whole);
    fprintf(out, " %lld", (long long)whole);
    break;
  case YOKE_STRING:
    put_word(out, at);
    break;
  case YOKE_BINARY:
    memcpy(&n, at, sizeof n);
    put_bytes(out, at + sizeof n, (size_t)n);
    break;
  }
}

// Files that the settings name travel in the resources, under a name of their own.
static bool is_file(const yoke_export_job* job, const yoke_argument* argument) {
  const yoke_variable* v = find_structure(job->ops, argument->name);
  return v != NULL && (v->flags & YOKE_VARIABLE_IS_FILE) != 0;
}

static void put_argument(const yoke_export_job* job, const yoke_argument* argument, FILE* out) {
  const size_t n = argument->n_rows * argument->n_cols;
  fputs("argument", out);
  put_word(out, argument->name);
  fprintf(out, " %s %zu %zu", type_names[argument->type], argument->n_rows, argument->n_cols);
  for (size_t i = 0; i < n; i++) {
    if (argument->type == YOKE_STRING) {
      const char* text = ((const char* const*)argument->value)[i];
      put_word(out, is_file(job, argument) ? TABLE_NAME : text);
    } else {
      put_element(out, argument->type, (const char*)argument->value + i * sizeof(double));
    }
  }
  fputc('\n', out);
}

static void put_setting(const yoke_export_variable* v, FILE* out) {
  fputs("setting", out);
  put_word(out, v->variable->name);
  for (size_t i = 0; i < v->n; i++) {
    put_element(out, v->variable->type,
                (const char*)v->value + i * yoke__variable_element_size(v->variable));
  }
  fputc('\n', out);
}

// How the solver of a netlist is set, as far as the netlist does not say it.
static void put_circuit(const yoke_unit_file_settings* settings, FILE* out) {
  fputs("circuit " YOKE_EXPORT_NETLIST, out);
  put_word(out, settings->solver == NULL ? "" : settings->solver);
  put_word(out, settings->solver_formulation == NULL ? "" : settings->solver_formulation);
  put_real(out, settings->solver_step);
  put_real(out, settings->solver_tolerance);
  put_real(out, settings->solver_iterations);
  put_real(out, settings->call_step);
  fputc('\n', out);
}

// A number, or "-" where none is given.
static void put_given(FILE* out, double number) {
  if (isnan(number)) {
    put_word(out, "-");
  } else {
    put_real(out, number);
  }
}

// What a system file says of a twin (runtime_twin.c reads it).
static void put_twin(const yoke_twin_settings* twin, FILE* out) {
  const double noise[] = {twin->walk,    twin->rate_walk, twin->start_sd,
                          twin->rate_sd, twin->gate,      twin->jitter};
  fprintf(out, "twin %d", twin->filter);
  for (size_t i = 0; i < YOKE_COUNT(noise); i++) {
    put_given(out, noise[i]);
  }
  put_real(out, twin->late_s);
  fprintf(out, " %lld\n", (long long)twin->most_resets);
  for (size_t i = 0; i < twin->n_sensors; i++) {
    fputs("sensor", out);
    put_word(out, twin->sensors[i].name);
    put_real(out, twin->sensors[i].sigma);
    fputc('\n', out);
  }
  for (size_t i = 0; i < twin->n_held; i++) {
    fputs("held", out);
    put_word(out, twin->held[i]);
    fputc('\n', out);
  }
  for (size_t i = 0; i < twin->n_unknowns; i++) {
    const yoke_twin_unknown* u = &twin->unknowns[i];
    const double numbers[] = {u->start, u->sd, u->walk, u->lower, u->upper};
    fputs("unknown", out);
    put_word(out, u->name);
    fprintf(out, " %d", (int)u->as);
    for (size_t k = 0; k < YOKE_COUNT(numbers); k++) {
      put_given(out, numbers[k]);
    }
    fputc('\n', out);
  }
}

static yoke_status write_settings(parts* p) {
  const yoke_export_model* m = &p->model;
  free(p->settings);
  p->settings = NULL;
  FILE* out = open_memstream(&p->settings, &p->settings_size);
  YOKE_TRY_MEMORY(out);
  fprintf(out, "yoke-export 1\nmodel %s\ntoken %s\n", m->ops->name, p->token);
  if (m->netlist.is_there) {
    put_circuit(&m->netlist.settings, out);
  }
  if (m->netlist.is_there && m->netlist.settings.twin != NULL) {
    put_twin(m->netlist.settings.twin, out);
  }
  if (m->library != NULL) {
    fputs("library " LIBRARY_NAME "\n", out);
  }
  if (m->job->fmi == 3 && m->job->has_event_mode) {
    fputs("events fresh\n", out);
  }
  for (size_t i = 0; i < m->job->n_arguments; i++) {
    put_argument(m->job, &m->job->arguments[i], out);
  }
  for (size_t i = 0; i < m->n_variables; i++) {
    if (m->variables[i].is_set) {
      put_setting(&m->variables[i], out);
    }
  }
  const bool has_failed = ferror(out) != 0;
  return fclose(out) != 0 || has_failed ? YOKE_NO_MEMORY : YOKE_OK;
}

static yoke_status write_description(parts* p) {
  yoke__xml_free(&p->xml);
  yoke__export_describe(&p->model, p->token, &p->xml);
  return p->xml.text.status < 0 ? YOKE_NO_MEMORY : YOKE_OK;
}

// ---- the token

// FNV-1a with a seed, and a last mixing (the finaliser of MurmurHash3) so that all bits count.
static uint64_t hash(uint64_t from, const char* bytes, size_t n) {
  for (size_t i = 0; i < n; i++) {
    from = (from ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
  }
  return from;
}

static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
  x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
  return x ^ x >> 33;
}

// Settings, description (both written with an empty token) and files, in the form of a GUID.
static void make_token(parts* p) {
  uint64_t halves[2] = {UINT64_C(0xcbf29ce484222325), UINT64_C(0x9e3779b97f4a7c15)};
  for (size_t i = 0; i < 2; i++) {
    halves[i] = hash(halves[i], p->settings, p->settings_size);
    halves[i] = hash(halves[i], p->xml.text.bytes, p->xml.text.n);
    halves[i] = hash(halves[i], p->library == NULL ? "" : p->library, p->library_size);
    halves[i] = mix(hash(halves[i], p->table == NULL ? "" : p->table, p->table_size));
  }
  snprintf(p->token, sizeof p->token, "{%08x-%04x-%04x-%04x-%04x%08x}", (unsigned)(halves[0] >> 32),
           (unsigned)(halves[0] >> 16 & 0xffff), (unsigned)(halves[0] & 0xffff),
           (unsigned)(halves[1] >> 48), (unsigned)(halves[1] >> 32 & 0xffff),
           (unsigned)(halves[1] & 0xffffffffu));
}

// ---- files

static yoke_status read_table(parts* p, const yoke_sink* sink) {
  const yoke_export_job* job = p->model.job;
  if (p->model.netlist.is_there) {
    p->resource = YOKE_EXPORT_NETLIST;
    p->table = p->model.netlist.text;
    p->table_size = p->model.netlist.size;
    p->model.netlist.text = NULL;
    return YOKE_OK;
  }
  if (p->model.library != NULL) {
    YOKE_TRY(
        yoke__os_read_file(job->library, MAX_RESOURCE_SIZE, &p->library, &p->library_size, sink));
  }
  p->resource = TABLE_NAME;
  for (size_t i = 0; i < job->n_arguments; i++) {
    if (!is_file(job, &job->arguments[i])) {
      continue;
    }
    const char* name = ((const char* const*)job->arguments[i].value)[0];
    char path[MAX_PATH];
    const bool is_relative = name[0] != '/' && job->directory != NULL;
    const size_t n = is_relative ? yoke__os_path_join(job->directory, name, path, sizeof path)
                                 : (size_t)snprintf(path, sizeof path, "%s", name);
    if (n >= sizeof path) {
      return yoke_fail(sink, YOKE_BAD_INPUT, "the path of '%.80s' is too long", name);
    }
    return yoke__os_read_file(path, MAX_RESOURCE_SIZE, &p->table, &p->table_size, sink);
  }
  return YOKE_OK;
}

static bool ends_with(const char* text, const char* end) {
  const size_t n = strlen(text), n_end = strlen(end);
  return n > n_end && strcmp(text + n - n_end, end) == 0;
}

// The C files of the archive of sources, for the description.
static yoke_status list_sources(parts* p, const yoke_sink* sink) {
  const yoke_export_job* job = p->model.job;
  // those of a library are not here, and its binary fits this platform alone
  if (job->sources == NULL || p->model.library != NULL) {
    return YOKE_OK;
  }
  YOKE_TRY(yoke__zip_open(job->sources, &p->sources, sink));
  const size_t n = yoke__zip_count(p->sources);
  const char** names = yoke__arena_array(&p->model.arena, n + 1, sizeof *names);
  YOKE_TRY_MEMORY(names);
  for (size_t i = 0; i < n; i++) {
    const yoke_zip_entry* entry = yoke__zip_entry(p->sources, i);
    if (!entry->is_directory && ends_with(entry->name, ".c")) {
      names[p->model.n_source_files++] = entry->name;
    }
  }
  p->model.source_files = names;
  return YOKE_OK;
}

// ---- writing

static yoke_status add_sources(parts* p, yoke_zip_writer* zip, const yoke_sink* sink) {
  const size_t n = p->sources == NULL ? 0 : yoke__zip_count(p->sources);
  for (size_t i = 0; i < n; i++) {
    const yoke_zip_entry* entry = yoke__zip_entry(p->sources, i);
    if (entry->is_directory) {
      continue;
    }
    char name[512];
    const bool is_licence = strcmp(entry->name, "LICENSE") == 0;
    snprintf(name, sizeof name, "%s%s", is_licence ? "documentation/licenses/" : "sources/",
             is_licence ? "license.txt" : entry->name);
    YOKE_TRY(yoke__zip_copy(zip, name, p->sources, i, sink));
  }
  if (n > 0 && p->model.job->fmi == 3) {
    yoke__export_describe_build(&p->model, &p->build);
    if (p->build.text.status < 0) {
      return YOKE_NO_MEMORY;
    }
    return yoke__zip_add(zip, "sources/buildDescription.xml", p->build.text.bytes, p->build.text.n,
                         sink);
  }
  return YOKE_OK;
}

static yoke_status add_parts(parts* p, yoke_zip_writer* zip, const yoke_sink* sink) {
  const yoke_export_job* job = p->model.job;
  char binary[2 * YOKE_EXPORT_MAX_IDENTIFIER];
  snprintf(binary, sizeof binary, "binaries/%s/%s.so", yoke__fmi_platform(job->fmi),
           p->model.identifier);
  YOKE_TRY(yoke__zip_add(zip, "modelDescription.xml", p->xml.text.bytes, p->xml.text.n, sink));
  YOKE_TRY(yoke__zip_add_file(zip, binary, job->runtime, sink));
  YOKE_TRY(yoke__zip_add(zip, "resources/yoke.txt", p->settings, p->settings_size, sink));
  if (p->table != NULL) {
    char name[64];
    snprintf(name, sizeof name, "resources/%s", p->resource);
    YOKE_TRY(yoke__zip_add(zip, name, p->table, p->table_size, sink));
  }
  if (p->library != NULL) {
    YOKE_TRY(yoke__zip_add(zip, "resources/" LIBRARY_NAME, p->library, p->library_size, sink));
  }
  return add_sources(p, zip, sink);
}

static yoke_status write_archive(parts* p, const char* path, const yoke_sink* sink) {
  yoke_zip_writer* zip = NULL;
  YOKE_TRY(yoke__zip_create(path, &zip, sink));
  const yoke_status status = add_parts(p, zip, sink);
  if (status < 0) {
    yoke__zip_abandon(&zip);
    return status;
  }
  return yoke__zip_finish(&zip, sink);
}

static yoke_status write_parts(parts* p, const char* path, const yoke_sink* sink) {
  YOKE_TRY(read_table(p, sink));
  YOKE_TRY(list_sources(p, sink));

  // once without the token, for the token
  YOKE_TRY(write_settings(p));
  YOKE_TRY(write_description(p));
  make_token(p);
  YOKE_TRY(write_settings(p));
  YOKE_TRY(write_description(p));
  return write_archive(p, path, sink);
}

yoke_status yoke__export_fmu(const yoke_export_job* job, const char* path, const yoke_sink* sink) {
  parts p = {0};
  YOKE_TRY(yoke__export_model_open(job, &p.model, sink));
  const yoke_status status = write_parts(&p, path, sink);
  yoke__xml_free(&p.xml);
  yoke__xml_free(&p.build);
  yoke__zip_close(&p.sources);
  free(p.settings);
  free(p.table);
  free(p.library);
  yoke__export_model_close(&p.model);
  return status;
}

// ---- the runtime

// Both files in one folder; the sources may be missing.
static bool find_in(const char* directory, yoke_arena* arena, const char** runtime,
                    const char** sources) {
  *runtime = join_path(directory, YOKE_EXPORT_RUNTIME, arena);
  *sources = join_path(directory, YOKE_EXPORT_SOURCES, arena);
  if (*runtime == NULL || !yoke__os_is_file(*runtime)) {
    return false;
  }
  *sources = *sources != NULL && yoke__os_is_file(*sources) ? *sources : NULL;
  return true;
}

// The runtime by its own name, the sources in the same folder.
static bool find_beside(const char* file, yoke_arena* arena, const char** runtime,
                        const char** sources) {
  const char* slash = strrchr(file, '/');
  const char* directory =
      slash == NULL ? "." : yoke__arena_text(arena, file, (size_t)(slash - file));
  if (directory == NULL || !yoke__os_is_file(file)) {
    return false;
  }
  (void)find_in(directory[0] == '\0' ? "/" : directory, arena, runtime, sources);
  *sources = *sources != NULL && yoke__os_is_file(*sources) ? *sources : NULL;
  *runtime = file;
  return true;
}

yoke_status yoke__export_find_runtime(const char* given, yoke_arena* arena, const char** runtime,
                                      const char** sources, const yoke_sink* sink) {
  static const char* const places[] = {"", "../libexec/yoke", "../lib/yoke"};
  *runtime = *sources = NULL;
  if (given != NULL && given[0] != '\0') {
    if (yoke__os_is_directory(given) ? find_in(given, arena, runtime, sources)
                                     : find_beside(given, arena, runtime, sources)) {
      return YOKE_OK;
    }
    return yoke_fail(sink, YOKE_IO, "YOKE_FMU_RUNTIME is '%s', where there is no %s", given,
                     YOKE_EXPORT_RUNTIME);
  }
  char program[MAX_PATH] = "";
  yoke__process_directory(program, sizeof program);
  for (size_t i = 0; program[0] != '\0' && i < YOKE_COUNT(places); i++) {
    const char* directory = places[i][0] == '\0' ? program : join_path(program, places[i], arena);
    if (directory != NULL && find_in(directory, arena, runtime, sources)) {
      return YOKE_OK;
    }
  }
  return yoke_fail(
      sink, YOKE_IO,
      "%s is missing: expected in '%s', in ../libexec/yoke or ../lib/yoke from there, or where "
      "the environment variable YOKE_FMU_RUNTIME says",
      YOKE_EXPORT_RUNTIME, program);
}
