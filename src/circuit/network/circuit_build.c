// Networks made by a program. Arrays grow by doubling on the heap; names and what elements point to
// lie in the network's arena, short texts packed together.
#include "circuit/network/circuit_build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "circuit/network/circuit_index.h"
#include "circuit/network/circuit_junction.h"

#define TEXT_BLOCK 65536u  // texts are packed into pieces of this size; longer ones stand alone
#define LONG_TEXT  1024u

static const yoke_place nowhere = {NULL, 0, 0};

yoke_status yoke__network_create(const char* title, yoke_network** out) {
  *out = NULL;
  yoke_network* network = calloc(1, sizeof *network);
  yoke_network_index* index = calloc(1, sizeof *index);
  if (network == NULL || index == NULL) {
    free(network);
    free(index);
    return YOKE_NO_MEMORY;
  }
  network->index = index;

  // as in SPICE: 27 degC, 1e-12 S
  network->run = (yoke_circuit_run){.temperature = 300.15, .gmin = 1e-12};
  if (title == NULL) {
    title = "";
  }
  network->title = yoke__arena_text(&network->arena, title, strlen(title));
  if (network->title == NULL ||
      yoke__network_node(network, "0", YOKE_ELECTRIC, nowhere) == YOKE_NO_INDEX) {
    yoke__network_destroy(&network);
    return YOKE_NO_MEMORY;
  }
  network->nodes[0].is_fixed = true;
  *out = network;
  return YOKE_OK;
}

void yoke__network_destroy(yoke_network** network) {
  if (network == NULL || *network == NULL) {
    return;
  }
  yoke_network* self = *network;
  for (size_t i = 0; i < YOKE_NAME_N_KINDS; i++) {
    free(self->index->names[i].slots);
  }
  free(self->index->refixes);
  free(self->index);
  free(self->nodes);
  free(self->elements);
  free(self->mutuals);
  free(self->inputs);
  free(self->outputs);
  free(self->saves);
  yoke__arena_free(&self->arena);
  free(self);
  *network = NULL;
}

// The place behind the n items of an array that grows; array: address of the pointer. NULL, and the
// array as it was, when memory or numbers are out.
static void* make_room(void* array, size_t size, uint32_t n, size_t* room) {
  void* items = NULL;
  memcpy(&items, array, sizeof items);

  // room doubles, so that n additions copy less than 2 n items in all
  if (n >= *room) {
    const size_t more = *room == 0 ? 16 : 2 * *room;
    if (n == YOKE_NO_INDEX - 1 || more > SIZE_MAX / size) {
      return NULL;
    }
    items = realloc(items, more * size);
    if (items == NULL) {
      return NULL;
    }
    memcpy(array, &items, sizeof items);
    *room = more;
  }
  return (char*)items + n * size;
}

// ---- copies

// n characters with NUL, packed; NULL when memory is out
static const char* keep_text(yoke_network* network, const char* text, size_t n) {
  yoke_network_index* index = network->index;
  if (n >= LONG_TEXT) {
    return yoke__arena_text(&network->arena, text, n);
  }
  if (index->text_room < n + 1) {
    char* block = yoke__arena_take(&network->arena, TEXT_BLOCK);
    if (block == NULL) {
      return NULL;
    }
    index->text = block;
    index->text_room = TEXT_BLOCK;
  }
  char* copy = index->text;
  memcpy(copy, text, n);
  copy[n] = '\0';
  index->text += n + 1;
  index->text_room -= n + 1;
  return copy;
}

// NULL stays NULL; false when memory is out
static bool keep_name(yoke_network* network, const char** name) {
  if (*name != NULL) {
    *name = keep_text(network, *name, strlen(*name));
    return *name != NULL;
  }
  return true;
}

// files are few: the name of the last one serves again
static bool keep_place(yoke_network* network, yoke_place* place) {
  yoke_network_index* index = network->index;
  if (place->source == NULL) {
    return true;
  }
  if (index->source == NULL ||
      (index->source != place->source && strcmp(index->source, place->source) != 0)) {
    const char* source = keep_text(network, place->source, strlen(place->source));
    if (source == NULL) {
      return false;
    }
    index->source = source;
  }
  place->source = index->source;
  return true;
}

static bool is_kept(const yoke_network* network, const void* thing) {
  for (size_t i = 0; i < YOKE_INDEX_N_KEPT; i++) {
    if (network->index->kept[i] == thing) {
      return true;
    }
  }
  return false;
}

static void note_kept(yoke_network* network, const void* thing) {
  yoke_network_index* index = network->index;
  index->kept[index->n_kept++ % YOKE_INDEX_N_KEPT] = thing;
}

// a copy of count elements; NULL when memory is out
static void* copy_array(yoke_network* network, const void* from, size_t count, size_t size) {
  void* copy = yoke__arena_array(&network->arena, count, size);
  if (copy != NULL && count > 0) {
    memcpy(copy, from, count * size);
  }
  return copy;
}

const yoke_wave* yoke__network_keep_wave(yoke_network* network, const yoke_wave* wave) {
  if (is_kept(network, wave)) {
    return wave;
  }
  yoke_wave* copy = copy_array(network, wave, 1, sizeof *wave);
  if (copy == NULL) {
    return NULL;
  }
  if (wave->table != NULL) {
    copy->table = copy_array(network, wave->table, wave->n_points, 2 * sizeof *wave->table);
    if (copy->table == NULL) {
      return NULL;
    }
  }
  note_kept(network, copy);
  return copy;
}

const yoke_expression* yoke__network_keep_law(yoke_network* network, const yoke_expression* law) {
  if (is_kept(network, law)) {
    return law;
  }
  yoke_expression* copy = copy_array(network, law, 1, sizeof *law);
  if (copy == NULL) {
    return NULL;
  }
  copy->operations =
      copy_array(network, law->operations, law->n_operations, sizeof *law->operations);
  copy->live = copy_array(network, law->live, law->n_live, sizeof *law->live);
  if (copy->operations == NULL || copy->live == NULL || !keep_name(network, &copy->text)) {
    return NULL;
  }
  note_kept(network, copy);
  return copy;
}

// A copy of a model; elements that follow each other with equal ones share it. Models are numbers
// without gaps between them, so that bytes can be compared.
static const void* keep_model(yoke_network* network, const void* model, size_t size,
                              const void** last) {
  if (*last != NULL && (*last == model || memcmp(*last, model, size) == 0)) {
    return *last;
  }
  const void* copy = copy_array(network, model, 1, size);
  if (copy != NULL) {
    *last = copy;
  }
  return copy;
}

static bool keep_law(yoke_network* network, const yoke_expression** law) {
  if (*law != NULL) {
    *law = yoke__network_keep_law(network, *law);
    return *law != NULL;
  }
  return true;
}

static bool keep_value(yoke_network* network, yoke_circuit_value* value) {
  if (value->wave != NULL) {
    value->wave = yoke__network_keep_wave(network, value->wave);
    if (value->wave == NULL) {
      return false;
    }
  }
  return keep_law(network, &value->law);
}

static bool keep_parts(yoke_network* network, yoke_element* element) {
  if (element->junction != NULL) {
    // the knee of the breakdown depends on the parameters alone: found once
    yoke_junction_model model = *element->junction;
    model.bv_knee = yoke__junction_knee(&model);
    element->junction = keep_model(network, &model, sizeof model, &network->index->last_junction);
    if (element->junction == NULL) {
      return false;
    }
  }
  if (element->switching != NULL) {
    element->switching = keep_model(network, element->switching, sizeof *element->switching,
                                    &network->index->last_switch);
    if (element->switching == NULL) {
      return false;
    }
  }
  return keep_law(network, &element->condition) && keep_value(network, &element->value) &&
         keep_name(network, &element->name) && keep_place(network, &element->place);
}

// ---- nodes

uint32_t yoke__network_node(yoke_network* network, const char* name, yoke_domain domain,
                            yoke_place place) {
  const uint32_t known = yoke__network_find_node(network, name);
  if (known < network->n_nodes) {
    return known;
  }
  const uint32_t index = network->n_nodes;
  yoke_network_node* node =
      make_room(&network->nodes, sizeof *node, index, &network->index->node_room);
  if (node == NULL) {
    return YOKE_NO_INDEX;
  }
  *node = (yoke_network_node){.name = name, .domain = domain, .place = place};
  if (!keep_name(network, &node->name) || !keep_place(network, &node->place) ||
      yoke__index_add(network, YOKE_NAME_NODE, index) < 0) {
    return YOKE_NO_INDEX;
  }
  network->n_nodes++;
  return index;
}

// what else claims a node that is fixed; reported by yoke__network_check
static uint32_t note_refix(yoke_network* network, const char* name, uint32_t node,
                           yoke_place place) {
  yoke_network_index* index = network->index;
  yoke_refix* refix =
      make_room(&index->refixes, sizeof *refix, index->n_refixes, &index->refix_room);
  if (refix == NULL) {
    return YOKE_NO_INDEX;
  }
  *refix = (yoke_refix){node, name, place};
  if (!keep_name(network, &refix->name) || !keep_place(network, &refix->place)) {
    return YOKE_NO_INDEX;
  }
  index->n_refixes++;
  return node;
}

uint32_t yoke__network_fix_node(yoke_network* network, const char* name, uint32_t node,
                                const yoke_circuit_value* value, yoke_place place) {
  if (network->nodes[node].is_fixed) {
    return note_refix(network, name, node, place);
  }
  yoke_circuit_value copy = *value;
  if (!keep_value(network, &copy) || !keep_name(network, &name) || !keep_place(network, &place)) {
    return YOKE_NO_INDEX;
  }
  yoke_network_node* self = &network->nodes[node];
  self->fixed_name = name;
  if (name != NULL && yoke__index_add(network, YOKE_NAME_FIXED, node) < 0) {
    self->fixed_name = NULL;
    return YOKE_NO_INDEX;
  }
  self->is_fixed = true;
  self->fixed = copy;
  self->place = place;
  return node;
}

// ---- elements and the rest

uint32_t yoke__network_add(yoke_network* network, const yoke_element* element) {
  const uint32_t index = network->n_elements;
  yoke_element* self =
      make_room(&network->elements, sizeof *self, index, &network->index->element_room);
  if (self == NULL) {
    return YOKE_NO_INDEX;
  }
  *self = *element;
  if (!keep_parts(network, self) || yoke__index_add(network, YOKE_NAME_ELEMENT, index) < 0) {
    return YOKE_NO_INDEX;
  }
  network->n_elements++;
  return index;
}

uint32_t yoke__network_add_mutual(yoke_network* network, const yoke_mutual* mutual) {
  yoke_mutual* self =
      make_room(&network->mutuals, sizeof *self, network->n_mutuals, &network->index->mutual_room);
  if (self == NULL) {
    return YOKE_NO_INDEX;
  }
  *self = *mutual;
  if (!keep_name(network, &self->name) || !keep_place(network, &self->place)) {
    return YOKE_NO_INDEX;
  }
  return network->n_mutuals++;
}

uint32_t yoke__network_add_input(yoke_network* network, const yoke_circuit_input* input) {
  yoke_circuit_input* self =
      make_room(&network->inputs, sizeof *self, network->n_inputs, &network->index->input_room);
  if (self == NULL) {
    return YOKE_NO_INDEX;
  }
  *self = *input;
  if (!keep_name(network, &self->name) || !keep_name(network, &self->dim) ||
      !keep_place(network, &self->place)) {
    return YOKE_NO_INDEX;
  }
  return network->n_inputs++;
}

static uint32_t add_probe(yoke_network* network, const yoke_probe* probe, yoke_probe** probes,
                          uint32_t* n, size_t* room) {
  yoke_probe* self = make_room(probes, sizeof *self, *n, room);
  if (self == NULL) {
    return YOKE_NO_INDEX;
  }
  *self = *probe;
  if (!keep_law(network, &self->law) || !keep_name(network, &self->name) ||
      !keep_name(network, &self->dim) || !keep_place(network, &self->place)) {
    return YOKE_NO_INDEX;
  }
  return (*n)++;
}

uint32_t yoke__network_add_output(yoke_network* network, const yoke_probe* probe) {
  return add_probe(network, probe, &network->outputs, &network->n_outputs,
                   &network->index->output_room);
}

uint32_t yoke__network_add_save(yoke_network* network, const yoke_probe* probe) {
  return add_probe(network, probe, &network->saves, &network->n_saves, &network->index->save_room);
}

// name and suffix joined, in the arena
static const char* join(yoke_network* network, const char* name, const char* suffix) {
  const size_t size = strlen(name) + strlen(suffix) + 1;
  char* text = yoke__arena_take(&network->arena, size);
  if (text != NULL) {
    snprintf(text, size, "%s%s", name, suffix);
  }
  return text;
}

// the node between junction and series resistance; "#" is added while a user has a node of this
// name
static uint32_t add_inner_node(yoke_network* network, const char* name, yoke_domain domain,
                               yoke_place place) {
  const char* inner = join(network, name, "#1");
  while (inner != NULL && yoke__network_find_node(network, inner) != YOKE_NO_INDEX) {
    inner = join(network, inner, "#");
  }
  if (inner == NULL) {
    return YOKE_NO_INDEX;
  }
  const uint32_t node = yoke__network_node(network, inner, domain, place);
  if (node != YOKE_NO_INDEX) {
    network->nodes[node].is_internal = true;
  }
  return node;
}

uint32_t yoke__network_add_diode(yoke_network* network, const char* name, uint32_t a, uint32_t b,
                                 const yoke_junction_model* model, double rs, yoke_place place) {
  yoke_element junction = {.kind = YOKE_JUNCTION,
                           .name = name,
                           .a = a,
                           .b = b,
                           .control = YOKE_NO_INDEX,
                           .junction = model,
                           .place = place};

  // the series resistance lies between an inner node and b; without one there is no inner node
  if (!(rs > 0)) {
    return yoke__network_add(network, &junction);
  }
  const char* series_name = join(network, name, "#rs");
  junction.b = add_inner_node(network, name, YOKE_ELECTRIC, place);
  if (series_name == NULL || junction.b == YOKE_NO_INDEX) {
    return YOKE_NO_INDEX;
  }
  const uint32_t index = yoke__network_add(network, &junction);
  const yoke_element series = {.kind = YOKE_RESISTOR,
                               .name = series_name,
                               .a = junction.b,
                               .b = b,
                               .control = YOKE_NO_INDEX,
                               .value = {.constant = rs},
                               .is_internal = true,
                               .place = place};
  if (index == YOKE_NO_INDEX || yoke__network_add(network, &series) == YOKE_NO_INDEX) {
    return YOKE_NO_INDEX;
  }
  return index;
}

// ---- shorthands
