// SSD -> tree: the stages, and what is neither connection nor value.
//
//   bytes -> XML -> systems with ports -> edges -> values of components -> tree -> annotation merged in
//
// Nested systems are flattened: the unit's name is the path to its component, joined by '_'. What SSP cannot say (step,
// scheme, bonds, ...) comes from our annotation or from --set; a step that nobody gives is taken from the FMUs or guessed.
#include "scenario/scenario_ssp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "scenario/scenario_fmu.h"
#include "scenario/scenario_ssp_parts.h"

// The map at the top while it grows.
typedef struct top {
  yoke_node* root;
  yoke_node* last;
  yoke_place place;
} top;

static void put_text(ssp* s, top* t, const char* key, const char* text, bool is_quoted) {
  yoke__ssp_put(s, t->root, &t->last, key, t->place,
                yoke__ssp_scalar(s, text, is_quoted, t->place));
}

// ---------------------------------------------------------------------------------------------------------
// units

// Two components may end up with one name: the later ones get a number.
static void make_names_unique(ssp* s) {
  yoke_map map = {0};
  size_t* numbers = yoke__ssp_take(s, s->n_components, sizeof *numbers);
  if (numbers == NULL || yoke__map_create(s->n_components, &s->arena, &map) < 0) {
    s->reader->is_out_of_memory = true;
    return;
  }
  // each name remembers which number comes next, so no search is long
  size_t i = 0;
  for (ssp_component* c = s->components; c != NULL && !s->reader->is_out_of_memory; c = c->next) {
    const size_t first = yoke__map_find(&map, c->name);
    const char* name = c->name;
    while (yoke__map_find(&map, name) != YOKE_NOT_FOUND && !s->reader->is_out_of_memory) {
      name = yoke__ssp_text(s, "%s_%zu", c->name, 2 + numbers[first]++);
    }
    c->name = name;
    yoke__map_add(&map, name, i++);
  }
}

static void put_interface(ssp* s, const ssp_component* component, yoke_node* unit,
                          yoke_node** last) {
  const yoke_place place = yoke__ssp_place(component->document, component->node);
  const char* text = component->implementation;
  if (text == NULL || text[0] == '\0' || strcmp(text, "any") == 0) {
    return;
  }
  const char* value = strcmp(text, "CoSimulation") == 0    ? "co-simulation"
                      : strcmp(text, "ModelExchange") == 0 ? "model-exchange"
                                                           : NULL;
  if (value == NULL) {
    char cut[YOKE_FOUND_SIZE];
    yoke__ssp_error(s, component->document, component->node,
                    "'implementation': expected any, CoSimulation or ModelExchange, found '%s'",
                    yoke__text_cut(text, cut));
    return;
  }
  yoke__ssp_put(s, unit, last, "interface", place, yoke__ssp_scalar(s, value, true, place));
}

static void put_units(ssp* s, top* t) {
  yoke_node *units = yoke__node_new(s->reader, YOKE_NODE_MAP, t->place), *last = NULL;
  for (const ssp_component* c = s->components; c != NULL && !s->reader->is_out_of_memory;
       c = c->next) {
    const yoke_place place = yoke__ssp_place(c->document, c->node);
    yoke_node *unit = yoke__node_new(s->reader, YOKE_NODE_MAP, place), *last_key = NULL;
    yoke__ssp_put(s, unit, &last_key, "fmu", place, yoke__ssp_scalar(s, c->path, true, place));
    put_interface(s, c, unit, &last_key);
    yoke__ssp_put(s, unit, &last_key, "values", place, yoke__ssp_values(s, c));
    yoke__ssp_put(s, units, &last, c->name, place, unit);
  }
  yoke__ssp_put(s, t->root, &t->last, "units", t->place, units);
}

// ---------------------------------------------------------------------------------------------------------
// times

// True if --set or the annotation gives a key of `time`.
static bool is_given(const char* key, const char* const sets[], size_t n_sets,
                     const yoke_node* annotation) {
  char path[32];
  const int n = snprintf(path, sizeof path, "time.%s", key);
  for (size_t i = 0; i < n_sets; i++) {
    if (strncmp(sets[i], path, (size_t)n) == 0 && (sets[i][n] == '=' || sets[i][n] == '.')) {
      return true;
    }
    if (strncmp(sets[i], "time=", 5) == 0) {
      return true;
    }
  }
  return yoke__node_child(yoke__node_child(annotation, "time"), key) != NULL;
}

// A time as the run will have it: from --set, the annotation or the file. False: none of them says it as a number.
static bool find_time(const char* key, const char* const sets[], size_t n_sets,
                      const yoke_node* annotation, const char* text, double* to) {
  char path[32];
  const size_t n = (size_t)snprintf(path, sizeof path, "time.%s=", key);
  const yoke_node* node = yoke__node_child(yoke__node_child(annotation, "time"), key);
  text = node != NULL && node->kind == YOKE_NODE_SCALAR ? node->text : text;
  for (size_t i = 0; i < n_sets; i++) {
    text = strncmp(sets[i], path, n) == 0 ? sets[i] + n : text;
  }
  return text != NULL && yoke__number_parse(text, to);
}

// The shortest step and the latest stop that the FMUs propose; 0: none does.
static void ask_fmus(ssp* s, double* step, double* stop) {
  *step = *stop = 0;
  for (ssp_component* c = s->components; c != NULL; c = c->next) {
    const yoke_fmi_description* d = yoke__ssp_describe(s, c);
    if (d == NULL) {
      continue;
    }
    if (d->experiment.has_step && d->experiment.step > 0 &&
        (*step == 0 || d->experiment.step < *step)) {
      *step = d->experiment.step;
    }
    if (d->experiment.has_stop && d->experiment.stop > *stop) {
      *stop = d->experiment.stop;
    }
  }
}

// The largest of 1, 2, 5 times a power of ten that is not above x, as text.
static const char* round_down(ssp* s, double x) {
  int exponent = (int)floor(log10(x));

  // the logarithm may be off by one in its last digit
  if (pow(10, exponent + 1) <= x * (1 + 1e-12)) {
    exponent++;
  }
  const double mantissa = x / pow(10, exponent) * (1 + 1e-12);
  return yoke__ssp_text(s, "%de%d", mantissa >= 5 ? 5 : mantissa >= 2 ? 2 : 1, exponent);
}

static const char* number_text(ssp* s, double x) {
  char text[YOKE_NUMBER_SIZE];
  yoke__number_format(x, text);
  return yoke__ssp_text(s, "%s", text);
}

// A step that nobody gave: of the FMUs, else a thousandth of the time. NULL: not known.
static const char* guess_step(ssp* s, const top* t, double start, double stop, double of_fmus) {
  if (of_fmus > 0) {
    char fitted[YOKE_NUMBER_SIZE];
    yoke__scenario_fit_step(of_fmus, stop > start ? stop - start : 1, fitted);
    const char* text = yoke__ssp_text(s, "%s", fitted);
    yoke__message_add(s->messages, YOKE_NOTE, t->place,
                      "the step %s is the shortest that the FMUs propose; --set time.step=... or "
                      "an annotation changes it",
                      text);
    return text;
  }
  if (!(stop > start)) {
    return NULL;
  }
  const char* text = round_down(s, (stop - start) / 1000);
  yoke__message_add(s->messages, YOKE_WARNING, t->place,
                    "no step is given: %s, a thousandth of the run, is used; set another with "
                    "--set time.step=...",
                    text);
  return text;
}

static void put_time(ssp* s, top* t, const ssp_document* document, const char* const sets[],
                     size_t n_sets, const yoke_node* annotation) {
  const yoke_xml_node* experiment = yoke__xml_child(document->xml, "DefaultExperiment");
  const char* start = experiment == NULL ? NULL : yoke__ssp_get(s, experiment, "startTime");
  const char* stop = experiment == NULL ? NULL : yoke__ssp_get(s, experiment, "stopTime");
  const bool needs_step = !is_given("step", sets, n_sets, annotation);
  const bool needs_stop = stop == NULL && !is_given("stop", sets, n_sets, annotation);
  double fmu_step = 0, fmu_stop = 0, t_start = 0, t_stop = 0;
  if (needs_step || needs_stop) {
    ask_fmus(s, &fmu_step, &fmu_stop);
  }
  if (needs_stop && fmu_stop > 0) {
    stop = number_text(s, fmu_stop);
    yoke__message_add(s->messages, YOKE_NOTE, t->place,
                      "the stop time %s is the latest that the FMUs propose; --set time.stop=... "
                      "changes it",
                      stop);
  } else if (needs_stop) {
    yoke__message_add(s->messages, YOKE_NOTE, t->place,
                      "neither a DefaultExperiment nor an FMU gives a stop time: set it with --set "
                      "time.stop=...");
  }
  const yoke_place place = experiment == NULL ? t->place : yoke__ssp_place(document, experiment);
  yoke_node *time = yoke__node_new(s->reader, YOKE_NODE_MAP, place), *last = NULL;
  if (start != NULL) {
    yoke__ssp_put(s, time, &last, "start", place, yoke__ssp_scalar(s, start, false, place));
  }
  if (stop != NULL) {
    yoke__ssp_put(s, time, &last, "stop", place, yoke__ssp_scalar(s, stop, false, place));
  }
  const bool has_times =
      find_time("start", sets, n_sets, annotation, start == NULL ? "0" : start, &t_start) &&
      find_time("stop", sets, n_sets, annotation, stop, &t_stop) &&
      yoke__is_finite(t_stop - t_start);
  const char* step =
      needs_step ? guess_step(s, t, t_start, has_times ? t_stop : t_start, fmu_step) : NULL;
  if (step != NULL) {
    yoke__ssp_put(s, time, &last, "step", place, yoke__ssp_scalar(s, step, false, place));
  }
  yoke__ssp_put(s, t->root, &t->last, "time", place, time);
}

// ---------------------------------------------------------------------------------------------------------
// our annotation

static const char* line_start(const ssp_document* document, int line) {
  const char *at = document->bytes, *end = document->bytes + document->n;
  for (int i = 1; i < line && at < end; i++) {
    const char* newline = memchr(at, '\n', (size_t)(end - at));
    at = newline == NULL ? end : newline + 1;
  }
  return at;
}

// Finds where the text of an annotation stands in its file: its line and the spaces in front of it, which XML's trimming
// took away and YAML needs.
static void locate(const ssp_document* document, const yoke_xml_node* node, int* line,
                   int* n_spaces) {
  const char* end = document->bytes + document->n;
  const size_t n = strcspn(node->text, "\n<>&\"'");
  const char* at = line_start(document, node->line);
  *line = node->line;
  *n_spaces = 0;
  for (int i = node->line; at < end && n > 0; i++) {
    const char* newline = memchr(at, '\n', (size_t)(end - at));
    const char* next = newline == NULL ? end : newline + 1;
    const size_t n_blank = strspn(at, " ");
    if ((size_t)(next - at) >= n_blank + n && memcmp(at + n_blank, node->text, n) == 0) {
      *line = i;
      *n_spaces = (int)n_blank;
      return;
    }
    at = next;
  }
}

// The tree of an annotation, with lines and columns of the XML file; NULL: reported or empty.
static yoke_node* read_annotation(ssp* s, const ssp_document* document, const yoke_xml_node* node) {
  int line = 1, n_spaces = 0;
  locate(document, node, &line, &n_spaces);

  // empty lines and spaces in front put every character where it is in the file
  const size_t n_text = strlen(node->text), n_before = (size_t)line - 1 + (size_t)n_spaces;
  char* text = malloc(n_before + n_text + 1);
  if (text == NULL) {
    s->reader->is_out_of_memory = true;
    return NULL;
  }
  memset(text, '\n', (size_t)(line - 1));
  memset(text + line - 1, ' ', (size_t)n_spaces);
  memcpy(text + n_before, node->text, n_text + 1);
  yoke_node* tree = NULL;
  const yoke_status status =
      yoke__tree_read(text, n_before + n_text, (yoke_place){document->source, 1, 1},
                      s->reader->arena, s->messages, &tree);
  s->reader->is_out_of_memory |= status == YOKE_NO_MEMORY;
  free(text);
  if (status >= 0 && tree != NULL && tree->kind != YOKE_NODE_MAP) {
    yoke__ssp_error(s, document, node, "the annotation %s: expected keys of a system file",
                    YOKE_SSP_ANNOTATION);
    return NULL;
  }
  return status < 0 ? NULL : tree;
}

// Where the YAML of an annotation stands: in its element System, or without one straight inside. NULL: reported.
static const yoke_xml_node* find_content(ssp* s, const ssp_document* document,
                                         const yoke_xml_node* annotation) {
  const yoke_xml_node* element = yoke__xml_child(annotation, "System");
  if (element == NULL && annotation->first != NULL) {
    char cut[YOKE_FOUND_SIZE];
    yoke__ssp_error(s, document, annotation->first,
                    "the annotation %s: expected text or the element 'System', found '%s'",
                    YOKE_SSP_ANNOTATION, yoke__text_cut(annotation->first->name, cut));
    return NULL;
  }
  return element == NULL ? annotation : element;
}

// The annotation below a node, or NULL.
static const yoke_xml_node* find_annotation(const yoke_xml_node* node) {
  const yoke_xml_node* list = yoke__xml_child(node, "Annotations");
  for (const yoke_xml_node* at = yoke__xml_child(list, "Annotation"); at != NULL;
       at = yoke__xml_next(at)) {
    const char* type = yoke__xml_get(at, "type");
    if (type != NULL && strcmp(type, YOKE_SSP_ANNOTATION) == 0) {
      return at;
    }
  }
  return NULL;
}

// Of the whole file, of its experiment or of its first system: the first of them.
static yoke_node* open_annotation(ssp* s, const ssp_document* document) {
  const yoke_xml_node* node = find_annotation(document->xml);
  node = node != NULL ? node : find_annotation(yoke__xml_child(document->xml, "DefaultExperiment"));
  node = node != NULL ? node : find_annotation(yoke__xml_child(document->xml, "System"));
  node = node == NULL ? NULL : find_content(s, document, node);
  return node == NULL ? NULL : read_annotation(s, document, node);
}

// ---------------------------------------------------------------------------------------------------------
// all of it

// The first document, from bytes at hand.
static const ssp_document* open_first(ssp* s, const char* bytes, size_t n,
                                      const yoke_ssp_names* names, ssp_root* root) {
  *root = (ssp_root){.folder = "", .prefix = names->prefix, .is_closed = s->files->is_closed};
  return yoke__ssp_open_bytes(s, root, names, bytes, n, "SystemStructureDescription");
}

static yoke_node* build_tree(ssp* s, const ssp_document* document, const char* const sets[],
                             size_t n_sets) {
  static const char* const known[] = {"System", "Enumerations", "Units", "DefaultExperiment", NULL};
  yoke__ssp_check_children(s, document, document->xml, known);
  if (!yoke__ssp_build(s, document)) {
    return NULL;
  }
  make_names_unique(s);
  yoke__ssp_connect(s);
  yoke__ssp_parametrise(s);
  const yoke_node* annotation = open_annotation(s, document);

  top t = {.place = yoke__ssp_place(document, document->xml)};
  t.root = yoke__node_new(s->reader, YOKE_NODE_MAP, t.place);
  const char* name = yoke__xml_get(document->xml, "name");
  const char* text = yoke__xml_get(s->systems->node, "description");
  put_text(s, &t, "yoke", "1", false);
  if (name != NULL && name[0] != '\0') {
    put_text(s, &t, "name", name, true);
  }
  if (text != NULL && text[0] != '\0') {
    put_text(s, &t, "text", text, true);
  }
  put_time(s, &t, document, sets, n_sets, annotation);
  put_units(s, &t);
  yoke__ssp_put(s, t.root, &t.last, "connections", t.place, yoke__ssp_connections(s));
  if (annotation != NULL && t.root != NULL) {
    yoke__ssp_merge(s->reader, t.root, annotation);
  }
  return t.root;
}

static void release(ssp* s) {
  for (ssp_document* d = s->documents; d != NULL; d = d->next) {
    free(d->bytes);
  }
  for (ssp_fmu* fmu = s->fmus; fmu != NULL; fmu = fmu->next) {
    yoke__fmi_close(&fmu->package);
  }
  yoke__arena_free(&s->arena);
}

yoke_status yoke__ssp_tree(const char* bytes, size_t n, const yoke_ssp_names* names,
                           const yoke_ssp_files* files, const char* const sets[], size_t n_sets,
                           yoke_reader* reader, yoke_node** root) {
  *root = NULL;
  ssp s = {.reader = reader, .messages = reader->messages, .files = files};
  ssp_root first;
  const ssp_document* document = open_first(&s, bytes, n, names, &first);
  yoke_node* tree = document == NULL ? NULL : build_tree(&s, document, sets, n_sets);
  release(&s);
  if (reader->is_out_of_memory) {
    return YOKE_NO_MEMORY;
  }
  *root = tree;
  return tree == NULL ? YOKE_BAD_INPUT : YOKE_OK;
}
