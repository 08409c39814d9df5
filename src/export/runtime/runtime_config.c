// resources/yoke.txt -> which model this FMU is, what it was made with and what was set. Plain lines, since the sources
// of an FMU are compiled where no library may be found. One blank between two words, which may be empty:
//
//   yoke-export 1
//   model state_space
//   token {...}
//   argument A real 2 2 0 1 -1 0   name, type, rows, columns, values row by row
//   setting micro_steps 4          name, values
//
// The model "circuit" has one more line, how its solver is set; zeros and empty words are left to the netlist:
//
//   circuit circuit.cir bdf2  1e-6 0 0 0.001   file, method, formulation, step, tolerance, iterations, step of calls
//
// The model "twin" has this line too, and these, with - for what is not given:
//
//   twin 0 - - 0.1 - - - 0 3                  method, walk, rate_walk, start, rate_start, gate, jitter, late, resets
//   sensor t(case) 0.5                        name, sigma
//   unknown q 0 10 - 3 - -                    name, as, start, sd, walk, lower, upper
//
// The model of a shared library has the line that names the file:
//
//   library unit.so
//
// An FMU that offers event mode has the line
//
//   events fresh
//
// %XX is the byte of this value: blanks, control characters and '%' in names, texts and binary values. What is found is
// checked against the description of the model.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "export/runtime/runtime.h"
#include "models/models.h"
#include "unit/meter/unit_meter.h"

#define FILE_NAME "yoke.txt"
#define MAX_SIZE  ((size_t)64 << 20)  // of the file

static const char* const type_names[] = {"real",        "integer", "boolean",
                                         "enumeration", "string",  "binary"};

// Native models, and the kinds of src/unit that need no file.
static const yoke_unit_ops* find_model(const char* name) {
  for (size_t i = 0; i < yoke__n_builtin_models; i++) {
    if (strcmp(yoke__builtin_models[i]->name, name) == 0) {
      return yoke__builtin_models[i];
    }
  }
  return strcmp(yoke__unit_meter.name, name) == 0 ? &yoke__unit_meter : NULL;
}

// ---- values

// Resolves %XX into room bytes; to may be from. Their number, or (size_t)-1 if there are more or a code is damaged.
static size_t decode(const char* from, size_t room, char* to) {
  size_t n = 0;
  for (; *from != '\0'; from++, n++) {
    char byte = *from;
    if (n == room) {
      return (size_t)-1;
    }
    if (byte == '%') {
      if (isxdigit((unsigned char)from[1]) == 0 || isxdigit((unsigned char)from[2]) == 0) {
        return (size_t)-1;
      }
      const char digits[3] = {from[1], from[2], '\0'};
      byte = (char)strtoul(digits, NULL, 16);
      from += 2;
    }
    to[n] = byte;
  }
  return n;
}

// The same for a text, which has no NUL inside and gets one behind it.
static bool decode_text(const char* from, size_t room, char* to) {
  const size_t n = room == 0 ? (size_t)-1 : decode(from, room - 1, to);
  if (n == (size_t)-1 || memchr(to, '\0', n) != NULL) {
    return false;
  }
  to[n] = '\0';
  return true;
}

// One value in the storage form of yoke/unit.h; texts go into their room.
static bool read_element(const char* from, yoke_type type, size_t max_size, char* to) {
  double number = 0.0;
  int64_t whole = 0;
  uint64_t n = 0;
  switch (type) {
  case YOKE_REAL:
    if (!yoke__number_parse(from, &number)) {
      return false;
    }
    memcpy(to, &number, sizeof number);
    return true;
  case YOKE_INTEGER:
  case YOKE_BOOLEAN:
  case YOKE_ENUMERATION:
    if (!yoke__number_parse_integer(from, &whole)) {
      return false;
    }
    memcpy(to, &whole, sizeof whole);
    return true;
  case YOKE_STRING:
    return decode_text(from, max_size, to);
  case YOKE_BINARY:
    n = decode(from, max_size, to + sizeof n);
    memcpy(to, &n, sizeof n);
    return n != (size_t)-1;
  }
  return false;
}

// ---- lines

// What the lines go into.
typedef struct reader {
  const char* directory;
  yoke_arena* arena;
  yoke_runtime_config* config;
  yoke_argument* arguments;        // of config, with room for all lines
  yoke_runtime_setting* settings;  // the same
  const char* model;
  yoke_unit_file_settings circuit;  // path: the file beside yoke.txt; NULL: no netlist
  yoke_runtime_twin* twin;          // NULL: no twin
  const char* library;              // the file beside yoke.txt; NULL: none
  size_t n_lines;
} reader;

// The words of a line; NULL when memory is out.
static char** split(char* line, yoke_arena* arena, size_t* n) {
  *n = 1;
  for (const char* c = line; *c != '\0'; c++) {
    *n += *c == ' ';
  }
  char** words = yoke__arena_array(arena, *n, sizeof *words);
  for (size_t i = 0; words != NULL && i < *n; i++) {
    words[i] = line;
    line += strcspn(line, " ");
    *line++ = '\0';
  }
  return words;
}

static bool find_type(const char* name, yoke_type* type) {
  for (size_t i = 0; i < YOKE_COUNT(type_names); i++) {
    if (strcmp(type_names[i], name) == 0) {
      *type = (yoke_type)i;
      return true;
    }
  }
  return false;
}

static bool read_size(const char* word, size_t* size) {
  int64_t whole = -1;
  const bool is_read =
      yoke__number_parse_integer(word, &whole) && whole >= 0 && whole <= 1000000000;
  *size = is_read ? (size_t)whole : 0;
  return is_read;
}

// The values of an argument; strings are pointers there.
static yoke_status read_argument_values(char* const words[], size_t n, yoke_type type,
                                        yoke_arena* arena, const void** out) {
  const size_t size = type == YOKE_STRING ? sizeof(char*) : sizeof(double);
  char* to = yoke__arena_array(arena, n + 1, size);
  if (to == NULL) {
    return YOKE_NO_MEMORY;
  }
  *out = to;
  for (size_t i = 0; i < n; i++, to += size) {
    if (type == YOKE_STRING) {
      if (!decode_text(words[i], strlen(words[i]) + 1, words[i])) {
        return YOKE_BAD_INPUT;
      }
      memcpy(to, &words[i], sizeof words[i]);
    } else if (type == YOKE_BINARY || !read_element(words[i], type, 0, to)) {
      return YOKE_BAD_INPUT;
    }
  }
  return YOKE_OK;
}

static yoke_status read_argument(reader* r, char* const words[], size_t n) {
  yoke_argument* to = &r->arguments[r->config->n_arguments++];
  if (n < 5 || !decode_text(words[1], strlen(words[1]) + 1, words[1]) ||
      !find_type(words[2], &to->type) || !read_size(words[3], &to->n_rows) ||
      !read_size(words[4], &to->n_cols) || (uint64_t)to->n_rows * to->n_cols != n - 5) {
    return YOKE_BAD_INPUT;
  }
  to->name = words[1];
  return read_argument_values(words + 5, n - 5, to->type, r->arena, &to->value);
}

static yoke_status read_setting(reader* r, char* const words[], size_t n) {
  if (n < 2 || !decode_text(words[1], strlen(words[1]) + 1, words[1])) {
    return YOKE_BAD_INPUT;
  }
  r->settings[r->config->n_settings++] = (yoke_runtime_setting){words[1], words + 2, n - 2};
  return YOKE_OK;
}

// The netlist beside yoke.txt.
static yoke_status open_circuit(reader* r, const yoke_sink* sink) {
  if (r->circuit.kind == YOKE_KIND_TWIN && r->twin == NULL) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "the settings of the twin are missing");
  }
  r->circuit.twin = r->twin == NULL ? NULL : yoke__runtime_twin_settings(r->twin);
  const size_t size = strlen(r->directory) + strlen(r->circuit.path) + 2;
  char* path = yoke__arena_take(r->arena, size);
  if (path == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "out of memory");
  }
  snprintf(path, size, "%s/%s", r->directory, r->circuit.path);
  r->circuit.path = r->circuit.place.source = path;
  YOKE_TRY(yoke__export_circuit_open(&r->circuit, &r->config->circuit, sink));
  r->config->ops = yoke__export_circuit_ops(r->config->circuit);
  return YOKE_OK;
}

static yoke_status read_circuit(reader* r, char* const words[], size_t n) {
  double numbers[4] = {0};  // step, tolerance, iterations, step of calls
  const bool is_twin = strcmp(r->model, YOKE_EXPORT_TWIN) == 0;
  if (n != 8 || !(is_twin || strcmp(r->model, YOKE_EXPORT_CIRCUIT) == 0) ||
      r->circuit.path != NULL || strchr(words[1], '/') != NULL) {
    return YOKE_BAD_INPUT;
  }
  for (size_t i = 0; i < YOKE_COUNT(numbers); i++) {
    if (!yoke__number_parse(words[4 + i], &numbers[i]) ||
        !(numbers[i] >= 0.0 && numbers[i] <= (i == 2 ? 1e6 : 1e300))) {
      return YOKE_BAD_INPUT;
    }
  }
  r->circuit = (yoke_unit_file_settings){
      .kind = is_twin ? YOKE_KIND_TWIN : YOKE_KIND_CIRCUIT,
      .path = words[1],
      .name = is_twin ? YOKE_EXPORT_TWIN : YOKE_EXPORT_CIRCUIT,
      .solver = words[2][0] == '\0' ? NULL : words[2],
      .solver_formulation = words[3][0] == '\0' ? NULL : words[3],
      .solver_step = numbers[0],
      .solver_tolerance = numbers[1],
      .solver_iterations = (int)numbers[2],
      .call_step = numbers[3],
  };
  return YOKE_OK;
}

static yoke_status read_line(reader* r, char* const words[], size_t n) {
  if (strcmp(words[0], "argument") == 0) {
    return read_argument(r, words, n);
  }
  if (strcmp(words[0], "setting") == 0) {
    return read_setting(r, words, n);
  }
  if (strcmp(words[0], "circuit") == 0) {
    return read_circuit(r, words, n);
  }
  if (r->circuit.kind == YOKE_KIND_TWIN && r->circuit.path != NULL &&
      (strcmp(words[0], "twin") == 0 || strcmp(words[0], "sensor") == 0 ||
       strcmp(words[0], "unknown") == 0 || strcmp(words[0], "held") == 0)) {
    return n < 2 || !decode_text(words[1], strlen(words[1]) + 1, words[1])
               ? YOKE_BAD_INPUT
               : yoke__runtime_twin_line(words, n, r->n_lines, r->arena, &r->twin);
  }
  if (n == 2 && strcmp(words[0], "library") == 0 && strchr(words[1], '/') == NULL) {
    r->library = words[1];
    return YOKE_OK;
  }
  if (n == 2 && strcmp(words[0], "events") == 0 && strcmp(words[1], "fresh") == 0) {
    r->config->has_event_mode = true;
    return YOKE_OK;
  }
  if (n == 2 && strcmp(words[0], "token") == 0) {
    r->config->token = words[1];
    return YOKE_OK;
  }
  if (n == 2 && strcmp(words[0], "model") == 0) {
    r->model = words[1];
    r->config->ops = find_model(r->model);
    return YOKE_OK;
  }
  return YOKE_BAD_INPUT;
}

// All lines behind the first; each ends with '\n', and text with NUL.
static yoke_status read_lines(reader* r, char* text, const yoke_sink* sink) {
  yoke_place place = {.line = 2};
  char* next = NULL;
  for (char* line = text; *line != '\0'; line = next, place.line++) {
    size_t n = 0;
    next = strchr(line, '\n');
    if (next == NULL) {
      return yoke__fail_at(sink, YOKE_BAD_INPUT, place, "the line does not end");
    }
    *next++ = '\0';
    char** words = split(line, r->arena, &n);
    const yoke_status status = words == NULL ? YOKE_NO_MEMORY : read_line(r, words, n);
    if (status < 0) {
      return yoke__fail_at(sink, status, place, "%s",
                           status == YOKE_NO_MEMORY ? "out of memory" : "the line cannot be read");
    }
  }
  return YOKE_OK;
}

yoke_status yoke__runtime_config_parse(const char* bytes, size_t n, const char* directory,
                                       yoke_arena* arena, yoke_runtime_config* config,
                                       const yoke_sink* sink) {
  static const char first[] = "yoke-export 1\n";
  size_t n_lines = 0;
  for (size_t i = 0; i < n; i++) {
    n_lines += bytes[i] == '\n';
  }
  reader r = {
      .directory = directory, .arena = arena, .config = config, .model = "", .n_lines = n_lines};
  r.arguments = yoke__arena_array(arena, n_lines + 1, sizeof *r.arguments);
  r.settings = yoke__arena_array(arena, n_lines + 1, sizeof *r.settings);
  char* text = yoke__arena_text(arena, bytes, n);
  yoke_context file;
  yoke__context_init(&file, sink, (yoke_place){.source = FILE_NAME}, NULL, (double)NAN);
  if (r.arguments == NULL || r.settings == NULL || text == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "out of memory");
  }
  config->arguments = r.arguments;
  config->settings = r.settings;
  if (strncmp(text, first, sizeof first - 1) != 0 || strlen(text) != n) {
    return yoke_fail(&file.sink, YOKE_BAD_INPUT, "not the settings of an exported unit");
  }
  YOKE_TRY(read_lines(&r, text + sizeof first - 1, &file.sink));
  if (r.circuit.path != NULL) {
    YOKE_TRY(open_circuit(&r, &file.sink));
  } else if (r.library != NULL) {
    YOKE_TRY(yoke__runtime_library_open(directory, r.library, r.model, arena, config, &file.sink));
  }
  if (config->token == NULL || config->ops == NULL) {
    return yoke_fail(&file.sink, YOKE_BAD_INPUT, "%s '%s'",
                     config->token == NULL ? "no token of the model" : "this binary has no model",
                     r.model);
  }
  return YOKE_OK;
}

yoke_status yoke__runtime_config_read(const char* directory, yoke_arena* arena,
                                      yoke_runtime_config* config, const yoke_sink* sink) {
  const size_t size = strlen(directory) + sizeof "/" FILE_NAME;
  char *path = yoke__arena_take(arena, size), *bytes = NULL;
  size_t n = 0;
  if (path == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "out of memory");
  }
  snprintf(path, size, "%s/" FILE_NAME, directory);
  YOKE_TRY(yoke__os_read_file(path, MAX_SIZE, &bytes, &n, sink));
  const yoke_status status = yoke__runtime_config_parse(bytes, n, directory, arena, config, sink);
  free(bytes);
  return status;
}

// ---- the settings into a unit

static yoke_status apply_setting(const yoke_runtime_setting* setting, const yoke_unit* unit,
                                 yoke_arena* arena, const yoke_sink* sink) {
  const size_t index = yoke__unit_find(unit, setting->name);
  const yoke_variable* variable = index == (size_t)-1 ? NULL : &unit->info->variables[index];
  if (variable == NULL || yoke__variable_count(variable) != setting->n) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "the model has no such variable '%s'", setting->name);
  }
  const size_t size = yoke__variable_element_size(variable);
  char* value = yoke__arena_array(arena, setting->n, size);
  if (value == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "out of memory");
  }
  for (size_t i = 0; i < setting->n; i++) {
    if (!read_element(setting->values[i], variable->type, variable->max_size, value + i * size)) {
      return yoke_fail(sink, YOKE_BAD_INPUT, "the value of '%s' cannot be read", setting->name);
    }
  }
  const yoke_status status = yoke__unit_set(unit, index, value, yoke__variable_size(variable));
  if (status < 0) {
    yoke_fail(sink, status, "the value of '%s' is refused: %s", setting->name,
              yoke_status_text(status));
  }
  return status;
}

yoke_status yoke__runtime_config_apply(const yoke_runtime_config* config, const yoke_unit* unit,
                                       yoke_arena* arena, const yoke_sink* sink) {
  yoke_context file;
  yoke__context_init(&file, sink, (yoke_place){.source = FILE_NAME}, NULL, (double)NAN);
  for (size_t i = 0; i < config->n_settings; i++) {
    YOKE_TRY(apply_setting(&config->settings[i], unit, arena, &file.sink));
  }
  return YOKE_OK;
}
