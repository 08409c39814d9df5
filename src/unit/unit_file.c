// The files that units come out of, each opened once.
#include "unit/unit_file.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"
#include "circuit/netlist/circuit_netlist.h"
#include "unit/circuit/unit_circuit.h"
#include "unit/fmu/unit_fmu.h"
#include "unit/host/unit_host.h"
#include "unit/twin/unit_twin.h"
#include "unit/unit_library.h"

typedef struct package_entry {
  char* path;
  yoke_fmi_package* package;
  size_t n_here;  // units of it in this process
} package_entry;

typedef struct library_entry {
  const char* path;              // of the first settings with it
  yoke_shared_library* library;  // NULL: it cannot be used
  yoke_status status;
  char why[YOKE_MESSAGE_TEXT_SIZE];
} library_entry;

// A model, built in or of a library, that is to run in a process of its own.
typedef struct model_file {
  yoke_unit_file base;
  yoke_unit_file_settings settings;
  const yoke_unit_ops* inner;
  yoke_unit_ops isolated;
} model_file;

struct yoke_unit_store {
  package_entry* packages;
  size_t n_packages;
  library_entry* libraries;
  size_t n_libraries;
  yoke_unit_file** files;
  size_t n_files;
};

yoke_status yoke__unit_store_create(yoke_unit_store** out) {
  *out = calloc(1, sizeof **out);
  return *out == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

void yoke__unit_store_destroy(yoke_unit_store** store) {
  if (*store == NULL) {
    return;
  }
  for (size_t i = 0; i < (*store)->n_files; i++) {
    (*store)->files[i]->close((*store)->files[i]);
  }
  for (size_t i = 0; i < (*store)->n_packages; i++) {
    yoke__fmi_close(&(*store)->packages[i].package);
    free((*store)->packages[i].path);
  }
  for (size_t i = 0; i < (*store)->n_libraries; i++) {
    yoke__library_close(&(*store)->libraries[i].library);
  }
  free((void*)(*store)->files);
  free((*store)->packages);
  free((*store)->libraries);
  free(*store);
  *store = NULL;
}

static yoke_status keep_file(yoke_unit_store* store, yoke_unit_file* file) {
  yoke_unit_file** larger =
      realloc((void*)store->files, (store->n_files + 1) * sizeof *larger);  // NOLINT
  if (larger == NULL) {
    file->close(file);
    return YOKE_NO_MEMORY;
  }
  store->files = larger;
  store->files[store->n_files++] = file;
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// FMUs

static package_entry* find_package(yoke_unit_store* store, const char* path) {
  for (size_t i = 0; i < store->n_packages; i++) {
    if (strcmp(store->packages[i].path, path) == 0) {
      return &store->packages[i];
    }
  }
  return NULL;
}

static yoke_status add_package(yoke_unit_store* store, const char* path, yoke_messages* messages,
                               package_entry** out) {
  yoke_fmi_package* package = NULL;
  YOKE_TRY(yoke__fmi_open(path, messages, &package));
  package_entry* larger = realloc(store->packages, (store->n_packages + 1) * sizeof *larger);
  const size_t n = strlen(path) + 1;
  char* copy = malloc(n);
  store->packages = larger != NULL ? larger : store->packages;
  if (larger == NULL || copy == NULL) {
    free(copy);
    yoke__fmi_close(&package);
    return YOKE_NO_MEMORY;
  }
  memcpy(copy, path, n);
  *out = &store->packages[store->n_packages++];
  **out = (package_entry){.path = copy, .package = package};
  return YOKE_OK;
}

static yoke_status open_fmu(yoke_unit_store* store, const yoke_unit_file_settings* settings,
                            yoke_messages* messages, yoke_unit_file** out) {
  package_entry* entry = find_package(store, settings->path);
  if (entry == NULL) {
    YOKE_TRY(add_package(store, settings->path, messages, &entry));
  }
  yoke_unit_file_settings own = *settings;
  const yoke_fmi_description* d = entry->package->description;
  const bool is_only_one = d->co_simulation.can_be_instantiated_only_once ||
                           d->model_exchange.can_be_instantiated_only_once;
  if (!own.is_isolated && is_only_one && entry->n_here > 0) {
    yoke__message_add(messages, YOKE_NOTE, settings->place,
                      "the FMU allows one instance per process: '%s' gets a process of its own",
                      settings->name);
    own.is_isolated = true;
  }
  entry->n_here += !own.is_isolated;
  return yoke__fmu_file_open(entry->package, &own, messages, out);
}

// ---------------------------------------------------------------------------------------------------------
// isolated models

static yoke_status create_isolated(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  const model_file* file = args->context;
  const yoke_host_plan plan = {.settings = &file->settings, .info = file->inner->info};
  return yoke__host_create(&plan, args, self, sink);
}

static void close_model(yoke_unit_file* file) {
  free(file);
}

static yoke_status isolate_model(yoke_unit_store* store, const yoke_unit_file_settings* settings,
                                 const yoke_unit_ops* inner, const yoke_unit_ops** ops) {
  model_file* file = calloc(1, sizeof *file);
  YOKE_TRY_MEMORY(file);
  file->settings = *settings;
  file->inner = inner;
  yoke__host_fill_ops(file->inner, &file->isolated);
  file->isolated.create = create_isolated;
  file->isolated.context = file;
  file->base = (yoke_unit_file){.ops = &file->isolated, .close = close_model};
  YOKE_TRY(keep_file(store, &file->base));
  *ops = &file->isolated;
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// shared libraries

// One that cannot be used is kept too: loading it again may take long.
static yoke_status find_library(yoke_unit_store* store, const char* path,
                                const library_entry** out) {
  for (size_t i = 0; i < store->n_libraries; i++) {
    if (strcmp(store->libraries[i].path, path) == 0) {
      *out = &store->libraries[i];
      return YOKE_OK;
    }
  }
  library_entry* larger = realloc(store->libraries, (store->n_libraries + 1) * sizeof *larger);
  YOKE_TRY_MEMORY(larger);
  store->libraries = larger;
  library_entry* entry = &larger[store->n_libraries];
  *entry = (library_entry){.path = path};
  YOKE_CATCH(why);
  entry->status = yoke__library_open(path, &entry->library, &why.sink);
  memcpy(entry->why, why.text, sizeof entry->why);
  store->n_libraries++;
  *out = entry;
  return YOKE_OK;
}

yoke_status yoke__unit_store_library(yoke_unit_store* store, const char* path,
                                     const yoke_shared_library** library, const yoke_sink* sink) {
  const library_entry* entry = NULL;
  YOKE_TRY(find_library(store, path, &entry));
  *library = entry->library;
  return entry->status < 0 ? yoke_fail(sink, entry->status, "%s", entry->why) : YOKE_OK;
}

// Loaded here also if the unit is to be isolated: its table says what it offers.
static yoke_status open_library(yoke_unit_store* store, const yoke_unit_file_settings* settings,
                                yoke_messages* messages, const yoke_unit_ops** ops) {
  const yoke_sink sink = yoke__messages_sink(messages);
  yoke_context about;
  yoke__context_init(&about, &sink, settings->place, settings->name, (double)NAN);
  const yoke_shared_library* library = NULL;
  const yoke_unit_ops* inner = NULL;
  YOKE_CATCH(why);
  const yoke_status status = yoke__unit_store_library(store, settings->path, &library, &why.sink);
  if (status == YOKE_NO_MEMORY) {
    return status;
  }
  if (status >= 0) {
    inner = yoke__library_unit(library, settings->model, &why.sink);
  }
  if (inner == NULL) {
    about.place = status >= 0 && settings->model != NULL ? settings->model_place : settings->place;
    return yoke_fail(&about.sink, status < 0 ? status : YOKE_BAD_INPUT, "library '%.300s': %s",
                     settings->path, why.text);
  }
  if (settings->is_isolated) {
    return isolate_model(store, settings, inner, ops);
  }
  *ops = inner;
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// netlists

static yoke_status open_netlist(const yoke_unit_store* store,
                                const yoke_unit_file_settings* settings, yoke_messages* messages,
                                yoke_unit_file** out) {
  yoke_unit_file_settings own = *settings;
  for (size_t i = 0; i < store->n_files && own.netlist == NULL; i++) {
    const yoke_netlist* other = store->files[i]->netlist;
    own.netlist = other != NULL && strcmp(other->network->path, own.path) == 0 ? other : NULL;
  }
  return own.kind == YOKE_KIND_TWIN ? yoke__twin_file_open(&own, messages, out)
                                    : yoke__circuit_file_open(&own, messages, out);
}

// ---------------------------------------------------------------------------------------------------------
// all but twins of units

static yoke_status open_plain(yoke_unit_store* store, const yoke_unit_file_settings* settings,
                              yoke_messages* messages, const yoke_unit_ops** ops) {
  yoke_unit_file* file = NULL;
  if (settings->kind == YOKE_KIND_LIBRARY) {
    return open_library(store, settings, messages, ops);
  }
  if (settings->kind == YOKE_KIND_FMU) {
    YOKE_TRY(open_fmu(store, settings, messages, &file));
  } else if (settings->kind == YOKE_KIND_CIRCUIT || settings->kind == YOKE_KIND_TWIN) {
    YOKE_TRY(open_netlist(store, settings, messages, &file));
  } else {
    const yoke_unit_ops* inner = yoke__models_find(NULL, settings->path);
    return inner == NULL ? YOKE_BAD_ARG : isolate_model(store, settings, inner, ops);
  }
  YOKE_TRY(keep_file(store, file));
  *ops = file->ops;
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// twins of units

// An instance of the unit behind a twin: the same as of a unit that stands alone.
static yoke_status open_instance(yoke_unit_store* store, const yoke_unit_file_settings* settings,
                                 yoke_messages* messages, const yoke_unit_ops** ops) {
  yoke_unit_file_settings own = *settings;
  own.kind = settings->twin->box;
  own.twin = NULL;
  own.wait = YOKE_WAIT_SLEEP;  // more processes than there are processors
  if (own.kind != YOKE_KIND_MODEL) {
    return open_plain(store, &own, messages, ops);
  }
  *ops = settings->twin->box_ops;
  return own.is_isolated ? isolate_model(store, &own, *ops, ops) : YOKE_OK;
}

// The other instances of an FMU that allows one per process have processes of their own.
static yoke_status open_others(yoke_unit_store* store, const yoke_unit_file_settings* settings,
                               const yoke_unit_ops* first, const yoke_unit_ops** others) {
  *others = first;
  if (settings->twin->box != YOKE_KIND_FMU || settings->is_isolated) {
    return YOKE_OK;
  }
  yoke_messages said = {0};  // by the first one already
  const yoke_status status = open_instance(store, settings, &said, others);
  yoke__messages_free(&said);
  return status;
}

static yoke_status open_box(yoke_unit_store* store, const yoke_unit_file_settings* settings,
                            yoke_messages* messages, yoke_unit_file** out) {
  const yoke_unit_ops *first = NULL, *others = NULL;
  YOKE_TRY(open_instance(store, settings, messages, &first));
  const size_t n = yoke__twin_black_instances(settings->twin, first);
  const yoke_unit_ops** ops = calloc(n, sizeof *ops);  // NOLINT: the elements are pointers
  YOKE_TRY_MEMORY(ops);
  yoke_status status = n > 1 ? open_others(store, settings, first, &others) : YOKE_OK;
  for (size_t i = 0; i < n; i++) {
    ops[i] = i == 0 ? first : others;
  }
  if (status >= 0) {
    status = yoke__twin_black_open(settings, ops, n, out);
  }
  free((void*)ops);
  return status;
}

yoke_status yoke__unit_store_open(yoke_unit_store* store, const yoke_unit_file_settings* settings,
                                  yoke_messages* messages, const yoke_unit_ops** ops) {
  assert(settings->kind != YOKE_KIND_TWIN || settings->twin != NULL);
  if (settings->kind != YOKE_KIND_TWIN || settings->twin->box == YOKE_KIND_NONE) {
    return open_plain(store, settings, messages, ops);
  }
  yoke_unit_file* file = NULL;
  YOKE_TRY(open_box(store, settings, messages, &file));
  YOKE_TRY(keep_file(store, file));
  *ops = file->ops;
  return YOKE_OK;
}
