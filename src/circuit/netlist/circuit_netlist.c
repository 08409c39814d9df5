// Reads a netlist: the stages of circuit_netlist_reader.h one after the other, and what they leave
// behind.
#include "circuit/netlist/circuit_netlist.h"

#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"
#include "circuit/netlist/circuit_netlist_reader.h"

static void free_definition(yoke_definition* self) {
  free(self->ports);
  free(self->parameters);
  free(self->functions);
  free(self->models);
  free(self->body);
  yoke__names_free(&self->port_names);
  yoke__names_free(&self->parameter_names);
  yoke__names_free(&self->function_names);
  yoke__names_free(&self->model_names);
  yoke__names_free(&self->definition_names);
}

// Everything but the network.
static void free_reader(yoke_netlist_reader* self) {
  for (size_t i = 0; i < self->n_files; i++) {
    free(self->files[i].statements);
  }
  for (size_t i = 0; i < self->n_definitions; i++) {
    free_definition(&self->definitions[i]);
  }
  free(self->files);
  free(self->statements);
  free(self->definitions);
  free(self->directives);
  free(self->waiting);
  free(self->pending);
  free(self->requests);
  yoke__text_free(&self->name);
  yoke__names_free(&self->globals);
  yoke__names_free(&self->warned);
  yoke__names_free(&self->inputs);
  yoke__names_free(&self->temperatures);
  yoke__names_free(&self->saved);
  yoke__compiler_free(&self->compiler);
  yoke__arena_free(&self->arena);
}

// Names and texts of the top level's parameters, as they were found.
static void keep_parameters(yoke_netlist_reader* self) {
  const yoke_definition* top = &self->definitions[0];
  yoke_arena* arena = &self->network->arena;
  yoke_circuit_parameter* kept = yoke__arena_array(arena, top->n_parameters, sizeof *kept);
  for (size_t i = 0; kept != NULL && i < top->n_parameters; i++) {
    const yoke_parameter* from = &top->parameters[i];
    char* name = yoke__arena_text(arena, from->name.text, from->name.n);
    const char* spelling = yoke__arena_text(arena, from->name.text, from->name.n);
    char* text = yoke__arena_text(arena, from->text.text, from->text.n);
    if (name == NULL || spelling == NULL || text == NULL) {
      kept = NULL;
      break;
    }
    for (char* c = name; *c != '\0'; c++) {
      *c = yoke__lower(*c);
    }
    for (char* c = text; *c != '\0'; c++) {
      *c = (char)(*c == '\n' || *c == '\t' || *c == '\r' ? ' ' : *c);
    }
    kept[i] = (yoke_circuit_parameter){
        name, spelling, text,
        yoke__statement_place(self, &self->statements[from->statement], NULL)};
  }
  self->is_out_of_memory = self->is_out_of_memory || kept == NULL;
  self->network->parameters = kept;
  self->network->n_parameters = kept != NULL ? (uint32_t)top->n_parameters : 0;
}

// A run that starts from the operating point (.tran without uic) knows no IC= of capacitors and
// inductors, as in SPICE; .ic holds, and so do start temperatures, which SPICE has not.
static void drop_starts(yoke_netlist_reader* self) {
  yoke_network* network = self->network;
  const yoke_element* first = NULL;
  size_t n = 0;
  if (!network->run.has_tran || network->run.is_uic) {
    return;
  }
  for (uint32_t e = 0; e < network->n_elements; e++) {
    yoke_element* element = &network->elements[e];
    const bool is_storage = element->kind == YOKE_CAPACITOR || element->kind == YOKE_INDUCTOR;
    if (is_storage && element->domain == YOKE_ELECTRIC && element->has_start) {
      element->has_start = false;
      element->start = 0.0;
      first = first != NULL ? first : element;
      n++;
    }
  }
  if (n == 1) {
    yoke__message_add(self->messages, YOKE_WARNING, first->place,
                      "IC= of %.60s is ignored without uic", first->name);
  } else if (n > 1) {
    yoke__message_add(self->messages, YOKE_WARNING, first->place,
                      "IC= of %.60s (and %zu more) is ignored without uic", first->name, n - 1);
  }
}

// A resistor or capacitor with both ends on one node carries no current whatever its value is, so
// its law is none that a run could fail at.
static void drop_short_laws(yoke_netlist_reader* self) {
  for (uint32_t e = 0; e < self->network->n_elements; e++) {
    yoke_element* element = &self->network->elements[e];
    const bool is_plain = element->kind == YOKE_RESISTOR || element->kind == YOKE_CAPACITOR;
    if (is_plain && element->a == element->b && element->value.law != NULL) {
      element->value = (yoke_circuit_value){.constant = 1.0};
    }
  }
}

static bool can_go_on(const yoke_netlist_reader* self) {
  return !self->is_out_of_memory && !self->is_stopped;
}

static void read_stages(yoke_netlist_reader* self, char* bytes, size_t n, const char* path) {
  yoke__netlist_read_lines(self, bytes, n, path);
  if (can_go_on(self)) {
    yoke__netlist_define(self);
  }
  if (!can_go_on(self)) {
    return;
  }
  self->top = yoke__frame_create(self, &self->definitions[0], NULL, (yoke_span){"", 0});
  if (self->top == NULL) {
    return;
  }
  keep_parameters(self);
  yoke__netlist_override(self);
  yoke__netlist_directives(self);
  yoke__netlist_inputs(self);
  if (can_go_on(self)) {
    yoke__netlist_expand(self);
  }
  if (can_go_on(self)) {
    yoke__netlist_resolve(self);
  }
  if (can_go_on(self)) {
    yoke__netlist_element_inputs(self);
    yoke__netlist_probes(self);
    drop_starts(self);
    drop_short_laws(self);
  }
}

// A network that is right so far is checked as a whole; after errors that would only repeat them.
static yoke_status finish(yoke_netlist_reader* self, size_t n_errors) {
  yoke_messages* messages = self->messages;
  if (self->is_out_of_memory) {
    return YOKE_NO_MEMORY;
  }
  if (messages->n_errors == n_errors && self->network->n_elements == 0) {
    yoke__error(messages, (yoke_place){self->files[0].path, 0, 0},
                "the netlist has no elements; note that its first line is the title");
  }
  if (messages->n_errors > n_errors) {
    return yoke__messages_status(messages, YOKE_BAD_INPUT);
  }
  const yoke_status status = yoke__network_check(self->network, messages);
  return status < 0 && status != YOKE_NO_MEMORY ? YOKE_BAD_INPUT : status;
}

yoke_status yoke__netlist_read_source(yoke_netlist_reader* self, const char* path, char** bytes,
                                      size_t* n, const yoke_sink* sink) {
  const yoke_network* known = self->settings->known;
  const yoke_netlist_source* source = known == NULL ? NULL : known->sources;
  while (source != NULL && strcmp(source->path, path) != 0) {
    source = source->next;
  }
  if (source == NULL) {
    yoke_arena* arena = &self->network->arena;
    char* read = NULL;
    // the message about the netlist itself has its name as the place
    const char* name = self->n_files == 0 ? "the file" : path;
    YOKE_TRY(yoke__os_read_file_as(path, name, YOKE_NETLIST_MAX_FILE, &read, n, sink));
    yoke_netlist_source* kept = yoke__arena_take(arena, sizeof *kept);
    if (kept != NULL) {
      *kept = (yoke_netlist_source){yoke__arena_text(arena, path, strlen(path)),
                                    yoke__arena_text(arena, read, *n), *n, self->network->sources};
    }
    free(read);
    YOKE_TRY_MEMORY(kept && kept->path && kept->bytes);
    source = self->network->sources = kept;
  }
  *n = source->n;
  *bytes = yoke__arena_text(&self->arena, source->bytes, source->n);
  return *bytes == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

// text: n bytes; NULL: the file.
static yoke_status read_all(yoke_netlist_reader* self, const char* text, size_t n) {
  const char* path = self->settings->path != NULL ? self->settings->path : "netlist";
  const size_t n_errors = self->messages->n_errors;
  char* bytes = NULL;
  YOKE_TRY(yoke__network_create("", &self->network));
  if (text == NULL) {
    yoke_context file;
    const yoke_sink list = yoke__messages_sink(self->messages);
    yoke__context_init(&file, &list, (yoke_place){path, 0, 0}, NULL, (double)NAN);
    YOKE_TRY(yoke__netlist_read_source(self, path, &bytes, &n, &file.sink));
  } else if ((bytes = yoke__arena_text(&self->arena, text, n)) == NULL) {
    return YOKE_NO_MEMORY;
  }
  self->tnom = self->network->run.temperature;
  read_stages(self, bytes, n, path);
  self->network->path = self->n_files > 0 ? self->files[0].path : NULL;
  return finish(self, n_errors);
}

static yoke_status read_network(const char* text, size_t n, const yoke_netlist_settings* settings,
                                yoke_messages* messages, yoke_network** out) {
  *out = NULL;
  yoke_netlist_reader* self = calloc(1, sizeof *self);
  YOKE_TRY_MEMORY(self);
  self->settings = settings;
  self->messages = messages;
  const yoke_status status = read_all(self, text, n);
  if (status >= 0) {
    *out = self->network;
  } else {
    yoke__network_destroy(&self->network);
  }
  free_reader(self);
  free(self);
  return status;
}

yoke_status yoke__netlist_read_text(const char* text, size_t n,
                                    const yoke_netlist_settings* settings, yoke_messages* messages,
                                    yoke_network** out) {
  *out = NULL;
  if (n > YOKE_NETLIST_MAX_FILE) {
    yoke__error(messages, (yoke_place){settings->path, 0, 0}, "the netlist is larger than %u MB",
                YOKE_NETLIST_MAX_FILE >> 20);
    return YOKE_BAD_INPUT;
  }
  return read_network(text == NULL ? "" : text, n, settings, messages, out);
}

yoke_status yoke__netlist_read_file(const yoke_netlist_settings* settings, yoke_messages* messages,
                                    yoke_network** out) {
  return read_network(NULL, 0, settings, messages, out);
}

yoke_status yoke__netlist_open(const char* path, yoke_netlist** out) {
  const yoke_netlist_settings settings = {.path = path};
  *out = calloc(1, sizeof **out);
  return *out == NULL ? YOKE_NO_MEMORY
                      : yoke__netlist_read_file(&settings, &(*out)->messages, &(*out)->network);
}

void yoke__netlist_close(yoke_netlist** netlist) {
  if (*netlist != NULL) {
    yoke__network_destroy(&(*netlist)->network);
    yoke__messages_free(&(*netlist)->messages);
    free(*netlist);
    *netlist = NULL;
  }
}
