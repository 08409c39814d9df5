// Bytes -> yoke_scenario: open this file first.
//
//   bytes -> tree (scenario_tree.c) -> --set (scenario_set.c) -> one walk by the tables of keys
//
// An archive or XML is an SSP, which gives such a tree too (scenario_ssp.c), and so do a netlist (scenario_circuit.c) and
// an FMU (scenario_fmu.c) on their own.
//
// The walk collects all errors; only a text that is no YAML ends earlier, since nothing behind the
// error has a meaning. Defaults of every key are set here before the walk.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_os.h"
#include "base/base_path.h"
#include "base/base_temp.h"
#include "circuit/netlist/circuit_netlist.h"
#include "scenario/scenario_circuit.h"
#include "scenario/scenario_fmu.h"
#include "scenario/scenario_reader.h"
#include "scenario/scenario_ssp.h"

// A hint for an unknown key: the nearest known one, else all of them.
void yoke__shape_hint(const yoke_shape* shape, const char* name, char* to, size_t size) {
  const char* names[64] = {0};
  size_t n = 0;
  for (size_t i = 0; i < shape->n_keys && n < YOKE_COUNT(names); i++) {
    if (shape->keys[i].shape != NULL) {
      names[n++] = shape->keys[i].name;
    }
  }
  const char* nearest = yoke__nearest_name(name, names, n);
  if (nearest != NULL) {
    snprintf(to, size, "; did you mean '%s'?", nearest);
    return;
  }
  size_t used = 0;
  to[0] = '\0';
  for (size_t i = 0; i < n && used < size; i++) {
    const int length =
        snprintf(to + used, size - used, "%s%s", i == 0 ? "; known keys: " : ", ", names[i]);
    used += length < 0 ? 0 : (size_t)length;
  }
}

// False: the shape has no such key.
static bool read_key(yoke_reader* reader, const yoke_node* node, const yoke_shape* shape,
                     void* to) {
  for (size_t i = 0; i < shape->n_keys; i++) {
    const yoke_key* key = &shape->keys[i];
    if (strcmp(key->name, node->key) == 0) {
      if (key->read != NULL) {
        key->read(reader, node, (char*)to + key->offset, key->rule);
      }
      return true;
    }
  }
  return false;
}

void yoke__key_shared(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  read_key(reader, node, rule, field);
}

void yoke__key_map(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  char where[32];
  snprintf(where, sizeof where, "'%s'", node->key);
  if (!yoke__node_is_null(node)) {
    yoke__shape_walk(reader, node, rule, where, field);
  }
}

bool yoke__shape_walk(yoke_reader* reader, const yoke_node* map, const yoke_shape* shape,
                      const char* where, void* to) {
  if (!yoke__expect_kind(reader, map, YOKE_NODE_MAP, "a map")) {
    return false;
  }
  for (const yoke_node* child = map->first; child != NULL; child = child->next) {
    if (child->is_refused || read_key(reader, child, shape, to)) {
      continue;
    }
    char cut[YOKE_FOUND_SIZE], hint[256];
    yoke__shape_hint(shape, child->key, hint, sizeof hint);
    yoke__error(reader->messages, child->key_place, "unknown key '%s' in %s%s",
                yoke__text_cut(child->key, cut), where, hint);
  }
  return true;
}

void* yoke__read_entries(yoke_reader* reader, const yoke_node* node, yoke_node_kind kind,
                         const char* expected, size_t size,
                         void (*read)(yoke_reader* reader, const yoke_node* node, void* entry),
                         size_t* n) {
  *n = 0;
  if (yoke__node_is_null(node) || !yoke__expect_kind(reader, node, kind, expected)) {
    return NULL;
  }
  char* all = yoke__reader_array(reader, node->n_children, size);
  for (const yoke_node* child = node->first; all != NULL && child != NULL; child = child->next) {
    if (kind == YOKE_NODE_LIST || !child->is_refused) {
      read(reader, child, all + (*n)++ * size);
    }
  }
  return all;
}

const yoke_node* yoke__node_first_of(const yoke_node* map, const char* const keys[]) {
  const yoke_node* child = map == NULL || map->kind != YOKE_NODE_MAP ? NULL : map->first;
  for (; child != NULL; child = child->next) {
    for (size_t i = 0; !child->is_refused && keys[i] != NULL; i++) {
      if (strcmp(child->key, keys[i]) == 0) {
        return child;
      }
    }
  }
  return NULL;
}

// step: one number, or {min, max, rho}

static const yoke_range rho_range = {0, 0.25, true, false, "a number above 0 and up to 0.25"};

#define OF(field) offsetof(yoke_scenario, field)
static const yoke_key step_keys[] = {
    {"min", yoke__key_time, &yoke__shape_value, OF(adaptive.min), &yoke__range_positive},
    {"max", yoke__key_time, &yoke__shape_value, OF(adaptive.max), &yoke__range_positive},
    {"rho", yoke__key_number, &yoke__shape_value, OF(adaptive.rho), &rho_range},
};
static const yoke_shape step_shape = YOKE_SHAPE_OF(step_keys);

static void read_adaptive(yoke_reader* reader, const yoke_node* node, yoke_scenario* s) {
  s->adaptive.place = node->place;
  if (!yoke__shape_walk(reader, node, &step_shape, "'time.step'", s)) {
    return;
  }
  if (yoke__node_child(node, "min") == NULL || yoke__node_child(node, "max") == NULL) {
    yoke__error(reader->messages, node->place,
                "'time.step': expected both min and max, for example {min: 1e-4, max: 1e-2}");
    return;
  }
  if (s->adaptive.min.is_given && s->adaptive.max.is_given) {
    if (s->adaptive.max.value < s->adaptive.min.value) {
      yoke__error(reader->messages, s->adaptive.max.place,
                  "'max': expected at least min = %.17g, found %.17g", s->adaptive.min.value,
                  s->adaptive.max.value);
    }
    s->adaptive.is_given = true;
    s->step = s->adaptive.min;
  }
}

static void read_step(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  yoke_scenario* s = field;
  if (node->kind == YOKE_NODE_MAP) {
    read_adaptive(reader, node, s);
  } else {
    yoke__read_time(reader, node, rule, &s->step);
  }
}

static const yoke_key time_keys[] = {
    {"start", yoke__key_time, &yoke__shape_value, OF(start), &yoke__range_any},
    {"stop", yoke__key_time, &yoke__shape_value, OF(stop), &yoke__range_any},
    {"step", read_step, &step_shape, 0, &yoke__range_positive},
    {"pace", yoke__read_pace, &yoke__shape_pace, OF(pacing), &yoke__shape_pace},
};
static const yoke_shape time_shape = YOKE_SHAPE_OF(time_keys);

// iteration

static const char* const modes[] = {"mean", "interpolate", "hold-end", NULL};
static const char* const updates[] = {"fixed-point", "relaxation", "aitken", "quasi-newton", NULL};
static const yoke_range relaxation_range = {0, 2, true, true,
                                            "a number between 0 and 2, both excluded"};
static const yoke_integers max_range = {1, 10000};

static const yoke_key iteration_keys[] = {
    {"mode", yoke__key_choice, &yoke__shape_value, OF(iteration.mode), modes},
    {"update", yoke__key_choice, &yoke__shape_value, OF(iteration.update), updates},
    {"relaxation", yoke__key_number, &yoke__shape_value, OF(iteration.relaxation),
     &relaxation_range},
    {"tolerance", yoke__key_number, &yoke__shape_value, OF(iteration.tolerance),
     &yoke__range_positive},
    {"max", yoke__key_integer, &yoke__shape_value, OF(iteration.max), &max_range},
};
static const yoke_shape iteration_shape = YOKE_SHAPE_OF(iteration_keys);

// record

static void read_signals(yoke_reader* reader, const yoke_node* node, void* field,
                         const void* rule) {
  (void)rule;
  yoke_scenario* s = field;
  yoke__read_names(reader, node, &s->record_signals, &s->n_record_signals);
}

static void read_formats(yoke_reader* reader, const yoke_node* node, void* field,
                         const void* rule) {
  (void)rule;
  yoke_scenario* s = field;
  if (yoke__read_names(reader, node, &s->record_formats, &s->n_record_formats)) {
    yoke__names_check_twice(reader, s->record_formats, s->n_record_formats, "format");
  }
}

static const yoke_integers count_range = {1, INT64_MAX};

static const yoke_key record_keys[] = {
    {"signals", read_signals, &yoke__shape_value, 0, NULL},
    {"every", yoke__key_integer, &yoke__shape_value, OF(record_every), &count_range},
    {"from", yoke__key_time, &yoke__shape_value, OF(record_from), &yoke__range_any},
    {"formats", read_formats, &yoke__shape_value, 0, NULL},
};
static const yoke_shape record_shape = YOKE_SHAPE_OF(record_keys);

// the top level

static void read_version(yoke_reader* reader, const yoke_node* node, void* field,
                         const void* rule) {
  (void)field;
  (void)rule;
  int64_t version = 0;
  if (yoke__read_integer(reader, node, 1, INT64_MAX, &version) && version != 1) {
    yoke__error(reader->messages, node->place,
                "'yoke': this version reads system files of version 1, found version %s",
                node->text);
  }
}

static const char* const schemes[] = {"jacobi", "gauss-seidel", "iterative-jacobi",
                                      "iterative-gauss-seidel", NULL};
const char* const yoke__inputs_words[] = {
    [YOKE_INPUTS_START] = "start", [YOKE_INPUTS_MEAN] = "mean", NULL};
static const yoke_integers threads_range = {0, 256};

static void read_inputs(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  yoke_scenario* s = field;
  size_t choice = 0;
  if (yoke__read_choice(reader, node, rule, &choice)) {
    s->inputs = (yoke_inputs)choice;
    s->has_inputs = true;
    s->inputs_place = node->key_place;
  }
}

static void read_calls(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  yoke_scenario* s = field;
  s->calls_place = node->key_place;
  yoke__key_calls(reader, node, &s->calls, rule);
}

static void read_order(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  (void)rule;
  yoke_scenario* s = field;
  if (yoke__node_is_null(node) || !yoke__read_names(reader, node, &s->order, &s->n_order)) {
    return;
  }
  char cut[YOKE_FOUND_SIZE];
  for (size_t i = 0; i < s->n_order; i++) {
    if (!yoke__name_is_valid(s->order[i].text)) {
      yoke__error(reader->messages, s->order[i].place, "'order': '%s' is no name of a unit",
                  yoke__text_cut(s->order[i].text, cut));
    }
  }
  yoke__names_check_twice(reader, s->order, s->n_order, "unit");
}

const yoke_shape yoke__shape_value = {.kind = YOKE_SHAPE_VALUE};
const yoke_shape yoke__shape_free = {.kind = YOKE_SHAPE_FREE};

static const yoke_key file_keys[] = {
    {"yoke", read_version, &yoke__shape_value, 0, NULL},
    {"name", yoke__key_text, &yoke__shape_value, OF(name), NULL},
    {"text", yoke__key_text, &yoke__shape_value, OF(text), NULL},
    {"time", yoke__key_map, &time_shape, 0, &time_shape},
    {"scheme", yoke__key_choice, &yoke__shape_value, OF(scheme), schemes},
    {"exchange", yoke__key_choice, &yoke__shape_value, OF(exchange), yoke__exchange_words},
    {"inputs", read_inputs, &yoke__shape_value, 0, yoke__inputs_words},
    {"calls", read_calls, &yoke__shape_value, 0, NULL},
    {"threads", yoke__key_integer, &yoke__shape_value, OF(threads), &threads_range},
    {"order", read_order, &yoke__shape_value, 0, NULL},
    {"iteration", yoke__key_map, &iteration_shape, 0, &iteration_shape},
    {"units", NULL, &yoke__shape_units, 0, NULL},
    {"laws", NULL, &yoke__shape_laws, 0, NULL},
    {"connections", yoke__read_connections, &yoke__shape_connections, 0, NULL},
    {"bonds", yoke__read_bonds, &yoke__shape_bonds, 0, NULL},
    {"couplings", yoke__read_couplings, &yoke__shape_couplings, 0, NULL},
    {"quality", yoke__read_quality, &yoke__shape_quality, 0, &yoke__shape_quality},
    {"trust", yoke__read_trust, &yoke__shape_trust, OF(trust), &yoke__shape_trust},
    {"safe", yoke__read_safe, &yoke__shape_safe, 0, NULL},
    {"record", yoke__key_map, &record_shape, 0, &record_shape},
};
const yoke_shape yoke__shape_file = YOKE_SHAPE_OF(file_keys);

// One message for a key without which nothing can run.
static void require(yoke_reader* reader, const yoke_node* map, const yoke_place place,
                    const char* key, const char* example) {
  const char* last = strrchr(key, '.');
  if (yoke__node_child(map, last == NULL ? key : last + 1) == NULL) {
    yoke__error(reader->messages, place, "the key '%s' is missing; expected for example '%s'", key,
                example);
  }
}

static void check_required(yoke_reader* reader, const yoke_node* root) {
  require(reader, root, root->place, "yoke", "yoke: 1");
  require(reader, root, root->place, "units", "units: {left: {model: oscillator.force}}");

  // a `time` of the wrong kind was reported already
  const yoke_node* time = yoke__node_child(root, "time");
  if (time == NULL || yoke__node_is_null(time) ||
      (time->kind == YOKE_NODE_MAP && !time->is_refused)) {
    const yoke_place place = time == NULL ? root->place : time->key_place;
    require(reader, time, place, "time.stop", "time: {stop: 10, step: 1e-3}");
    require(reader, time, place, "time.step", "time: {stop: 10, step: 1e-3}");
  }
}

static void check_times(yoke_reader* reader, const yoke_scenario* s) {
  if (s->stop.is_given && s->stop.value <= s->start.value) {
    yoke__error(reader->messages, s->stop.place,
                "'stop': expected a time behind the start %.17g, found %.17g", s->start.value,
                s->stop.value);
  }
  if (s->record_from.is_given && s->stop.is_given && s->record_from.value > s->stop.value) {
    yoke__error(reader->messages, s->record_from.place,
                "'from': expected a time up to the stop %.17g, found %.17g", s->stop.value,
                s->record_from.value);
  }
}

// name and folder from the path, and every default
static bool set_defaults(yoke_scenario* s, const char* path) {
  static const yoke_scenario_name all_signals = {.text = "*"};
  const char* slash = strrchr(path, '/');
  size_t n_stem = 0;
  const char* stem = yoke__os_path_stem(path, &n_stem);
  const size_t n_folder = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
  s->path = yoke__arena_text(&s->arena, path, strlen(path));
  s->name = yoke__arena_text(&s->arena, stem, n_stem);
  s->directory = n_folder == 0 ? "." : yoke__arena_text(&s->arena, path, n_folder);
  s->text = "";
  s->is_finding = true;
  s->watch = yoke__no_watch;
  s->trust = yoke__no_trust;
  s->pacing = yoke__no_pace;
  s->inputs = YOKE_INPUTS_MEAN;
  s->adaptive.rho = 0.02;
  s->iteration.relaxation = 0.5;
  s->iteration.tolerance = 1e-9;
  s->iteration.max = 50;
  s->record_signals = &all_signals;
  s->n_record_signals = 1;
  s->record_every = 1;
  return s->path != NULL && s->name != NULL && s->directory != NULL;
}

static void read_tree(yoke_reader* reader, const yoke_node* root, yoke_scenario* s) {
  if (!yoke__shape_walk(reader, root, &yoke__shape_file, "the file", s)) {
    return;
  }
  yoke__read_units(reader, yoke__node_child(root, "units"), yoke__node_child(root, "laws"), s);
  yoke__read_twin_connections(reader, s);
  yoke__netlist_signals_read(reader, s);
  check_required(reader, root);
  check_times(reader, s);
}

// The tree of a YAML file.
static yoke_status read_yaml(yoke_scenario* s, const char* bytes, size_t n, yoke_messages* messages,
                             yoke_node** root) {
  const yoke_place origin = {s->path, 1, 1};
  if (n > YOKE_SCENARIO_MAX_SIZE) {
    yoke__error(messages, (yoke_place){s->path, 0, 0}, "the file is larger than %d MB",
                YOKE_SCENARIO_MAX_SIZE / (1024 * 1024));
    return YOKE_BAD_INPUT;
  }
  YOKE_TRY(yoke__tree_read(bytes, n, origin, &s->arena, messages, root));
  if (*root == NULL) {
    yoke__error(messages, origin,
                "the file is empty; expected a map with the keys yoke, time and units");
    return YOKE_BAD_INPUT;
  }
  return YOKE_OK;
}

// What a system is made of: bytes, or with NULL the file at the path, which is then an FMU, a netlist or an archive.
typedef struct input {
  const char* bytes;
  size_t n;
  const char* path;
  const char* const* sets;
  size_t n_sets;
  double netlist_stop;
  const char* unit;  // of a native model, whose name is the path; NULL: no model
} input;

static yoke_status make_tree(yoke_scenario* s, const input* from, yoke_reader* reader,
                             yoke_node** root) {
  if (from->unit != NULL) {
    yoke_lone lone = {.name = from->path,
                      .unit = from->unit,
                      .kind = "model",
                      .file = from->path,
                      .start = "0",
                      .stop = "1",
                      .step = "1e-3"};
    yoke__lone_tree(reader, s->path, &lone);
    *root = lone.root;
    return reader->is_out_of_memory ? YOKE_NO_MEMORY : YOKE_OK;
  }
  if (from->bytes == NULL && yoke__path_is_fmu(from->path)) {
    return yoke__fmu_tree(s, reader, root);
  }
  if (from->bytes == NULL && yoke__path_is_netlist(from->path)) {
    return yoke__circuit_tree(s, from->sets, from->n_sets, from->netlist_stop, reader, root);
  }
  if (from->bytes == NULL || yoke__ssp_is_archive(from->bytes, from->n) ||
      yoke__ssp_is_xml(from->bytes, from->n)) {
    return yoke__ssp_read(s, from->bytes, from->n, from->sets, from->n_sets, reader, root);
  }
  return read_yaml(s, from->bytes, from->n, reader->messages, root);
}

// Everything between an empty scenario and its description.
static yoke_status fill(yoke_scenario* s, const input* from, yoke_messages* messages) {
  if (!set_defaults(s, from->path)) {
    return YOKE_NO_MEMORY;
  }
  yoke_reader reader = {.arena = &s->arena, .messages = messages};
  yoke_node* root = NULL;
  YOKE_TRY(make_tree(s, from, &reader, &root));
  for (size_t i = 0; i < from->n_sets && root->kind == YOKE_NODE_MAP; i++) {
    yoke__scenario_set(&reader, root, from->sets[i]);
  }
  s->tree = root;
  read_tree(&reader, root, s);
  return reader.is_out_of_memory ? YOKE_NO_MEMORY : YOKE_OK;
}

// *out is NULL only if nothing could be made of the input.
static yoke_status read_parts(const input* from, yoke_messages* messages, yoke_scenario** out) {
  *out = NULL;
  yoke_scenario* s = calloc(1, sizeof *s);
  YOKE_TRY_MEMORY(s);
  const size_t n_errors = messages->n_errors;
  const yoke_status status = fill(s, from, messages);
  if (status < 0) {
    yoke__scenario_free(&s);
    return status;
  }
  char home[4096];
  yoke__os_path_absolute(s->directory, home, sizeof home);
  s->home = yoke__arena_text(&s->arena, home, strlen(home));
  if (s->home == NULL) {
    yoke__scenario_free(&s);
    return YOKE_NO_MEMORY;
  }
  s->has_errors = messages->n_errors > n_errors;
  *out = s;
  return yoke__messages_status(messages, s->has_errors ? YOKE_BAD_INPUT : YOKE_OK);
}

static yoke_status read_whole(const input* from, yoke_messages* messages, yoke_scenario** out) {
  const yoke_status status = read_parts(from, messages, out);
  if (status < 0) {
    yoke__scenario_free(out);
  }
  return status;
}

yoke_status yoke__scenario_read(const char* bytes, size_t n, const char* path,
                                const char* const sets[], size_t n_sets, yoke_messages* messages,
                                yoke_scenario** out) {
  return read_whole(&(input){.bytes = bytes, .n = n, .path = path, .sets = sets, .n_sets = n_sets},
                    messages, out);
}

yoke_status yoke__scenario_read_model(const char* model, const char* unit, const char* const sets[],
                                      size_t n_sets, yoke_messages* messages, yoke_scenario** out) {
  return read_whole(&(input){.path = model, .unit = unit, .sets = sets, .n_sets = n_sets}, messages,
                    out);
}

yoke_status yoke__scenario_read_file(const char* path, const char* const sets[], size_t n_sets,
                                     yoke_messages* messages, yoke_scenario** out) {
  const yoke_status status = yoke__scenario_read_parts(path, sets, n_sets, 0, messages, out);
  if (status < 0) {
    yoke__scenario_free(out);
  }
  return status;
}

yoke_status yoke__scenario_read_parts(const char* path, const char* const sets[], size_t n_sets,
                                      double netlist_stop, yoke_messages* messages,
                                      yoke_scenario** out) {
  *out = NULL;
  input from = {.path = path, .sets = sets, .n_sets = n_sets, .netlist_stop = netlist_stop};
  if (yoke__path_is_fmu(path) || yoke__path_is_netlist(path) || yoke__ssp_is_archive_file(path)) {
    return read_parts(&from, messages, out);
  }
  const yoke_sink sink = yoke__messages_sink(messages);
  yoke_context about;
  yoke__context_init(&about, &sink, (yoke_place){path, 0, 0}, NULL, (double)NAN);
  char* bytes = NULL;
  if (yoke__os_is_directory(path)) {
    return yoke_fail(&about.sink, YOKE_IO, "this is a folder, a file was expected");
  }
  YOKE_TRY(yoke__os_read_file_as(path, "the file", YOKE_SCENARIO_MAX_SIZE, &bytes, &from.n,
                                 &about.sink));
  from.bytes = bytes;
  const yoke_status status = read_parts(&from, messages, out);
  free(bytes);
  return status;
}

void yoke__scenario_free(yoke_scenario** scenario) {
  if (*scenario != NULL) {
    yoke__temp_remove(&(*scenario)->temp);
    yoke__netlist_close(&(*scenario)->netlist);
    yoke__arena_free(&(*scenario)->arena);
    free(*scenario);
    *scenario = NULL;
  }
}
