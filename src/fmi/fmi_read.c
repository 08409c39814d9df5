// modelDescription.xml, streamed: every element is looked up in the table of fmi_schema.c below the place where it
// stands, its attributes are sorted into slots, and its function is called. Cost per element: one comparison of names
// (the same element follows itself a million times) and one hash per attribute.
//
// Texts lie end to end in pieces of 64 kB, because the arena rounds every piece up to 64 bytes.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fmi/fmi_reader.h"

#define CHUNK_SIZE ((size_t)65536 - 256)  // a block of the arena takes one
#define MAX_TEXT   ((size_t)1 << 16)      // of text content that is kept

static const char* const attribute_names[YOKE_FMI_N_ATTRIBUTES] = {
#define ATTRIBUTE_NAME(name) #name,
    YOKE_FMI_ATTRIBUTE_LIST(ATTRIBUTE_NAME)
#undef ATTRIBUTE_NAME
};

const char* yoke__fmi_attribute_name(yoke_fmi_attribute attribute) {
  return attribute_names[attribute];
}

// ---- texts

const char* yoke__fmi_keep_n(yoke_fmi_reader* reader, const char* text, size_t n) {
  if (n == 0) {
    return "";
  }
  if (n >= CHUNK_SIZE / 4) {
    const char* own = yoke__arena_text(&reader->d->arena, text, n);
    reader->status = own == NULL ? YOKE_NO_MEMORY : reader->status;
    return own == NULL ? "" : own;
  }
  if (reader->n_left < n + 1) {
    reader->chunk = yoke__arena_take(&reader->d->arena, CHUNK_SIZE);
    reader->n_left = reader->chunk == NULL ? 0 : CHUNK_SIZE;
    if (reader->chunk == NULL) {
      reader->status = YOKE_NO_MEMORY;
      return "";
    }
  }
  char* copy = reader->chunk;
  memcpy(copy, text, n);
  copy[n] = '\0';
  reader->chunk += n + 1;
  reader->n_left -= n + 1;
  return copy;
}

const char* yoke__fmi_keep(yoke_fmi_reader* reader, const char* text) {
  return yoke__fmi_keep_n(reader, text, text == NULL ? 0 : strlen(text));
}

// ---- vocabulary

static unsigned hash_of(const char* name) {
  unsigned hash = 5381;
  for (; *name != '\0'; name++) {
    hash = hash * 33 + (unsigned char)*name;
  }
  return hash ^ hash >> 9;
}

#define N_SLOTS (sizeof((yoke_fmi_reader*)NULL)->slots)

_Static_assert(YOKE_FMI_N_ATTRIBUTES < UCHAR_MAX, "an attribute fits into a slot");

static int find_attribute(const yoke_fmi_reader* reader, const char* name) {
  for (unsigned at = hash_of(name) % N_SLOTS; reader->slots[at] != 0; at = (at + 1) % N_SLOTS) {
    const int found = reader->slots[at] - 1;
    if (strcmp(attribute_names[found], name) == 0) {
      return found;
    }
  }
  return -1;
}

static void learn_attributes(yoke_fmi_reader* reader) {
  for (int i = 0; i < YOKE_FMI_N_ATTRIBUTES; i++) {
    unsigned at = hash_of(attribute_names[i]) % N_SLOTS;
    while (reader->slots[at] != 0) {
      at = (at + 1) % N_SLOTS;
    }
    reader->slots[at] = (uint8_t)(i + 1);
  }
}

// the attributes of each element as a set
static void learn_elements(yoke_fmi_reader* reader) {
  for (size_t i = 0; i < yoke__fmi_n_elements; i++) {
    const char* at = yoke__fmi_elements[i].attributes;
    size_t n = 0;
    for (const char* word = yoke__fmi_token(&at, &n); word != NULL;
         word = yoke__fmi_token(&at, &n)) {
      char name[64];
      memcpy(name, word, n);
      name[n] = '\0';
      const int found = find_attribute(reader, name);
      if (found >= 0) {  // it always is: a test reads files with every attribute
        reader->allowed[i][found / 64] |= UINT64_C(1) << found % 64;
      }
    }
  }
}

// ---- elements

static const yoke_fmi_element* find_element(yoke_fmi_reader* reader, yoke_fmi_place place,
                                            const char* name) {
  const unsigned version = reader->d->version == 0 ? ~0u : 1u << reader->d->version;
  const yoke_fmi_element* last = reader->last_child[place];
  if (last != NULL && strcmp(last->name, name) == 0) {
    return last;
  }
  for (size_t i = 0; i < yoke__fmi_n_elements; i++) {
    const yoke_fmi_element* element = &yoke__fmi_elements[i];
    if (element->parent == place && (element->versions & version) != 0 &&
        strcmp(element->name, name) == 0) {
      reader->last_child[place] = element;
      return element;
    }
  }
  return NULL;
}

// declarations of namespaces and schema files are part of XML, not of FMI
static bool is_xml_attribute(const char* name) {
  return strncmp(name, "xmlns", 5) == 0 || strncmp(name, "xsi:", 4) == 0 ||
         strncmp(name, "xml:", 4) == 0 || strcmp(name, "noNamespaceSchemaLocation") == 0 ||
         strcmp(name, "schemaLocation") == 0;
}

static void sort_attributes(yoke_fmi_reader* reader, const yoke_fmi_element* element,
                            const char* const* attributes, int line) {
  const uint64_t* allowed = reader->allowed[element - yoke__fmi_elements];
  for (; attributes[0] != NULL; attributes += 2) {
    const int found = find_attribute(reader, attributes[0]);
    if (found >= 0 && (allowed[found / 64] >> found % 64 & 1) != 0 &&
        reader->values[found] == NULL) {
      reader->values[found] = attributes[1];
      reader->given[reader->n_given++] = (yoke_fmi_attribute)found;
    } else if (!is_xml_attribute(attributes[0]) && element->parent < YOKE_FMI_IN_ANNOTATIONS) {
      YOKE_FMI_FAULT(reader, ATTRIBUTE_UNKNOWN, line, "unknown attribute '%s' of <%s>",
                     attributes[0], element->name);
    }
  }
}

static yoke_status refuse(yoke_fmi_reader* reader, int line, const char* text) {
  yoke__error(reader->messages, (yoke_place){reader->source, line, 0}, "%s", text);
  return YOKE_BAD_INPUT;
}

static yoke_status on_open(void* context, const char* name, const char* const* attributes,
                           int line) {
  yoke_fmi_reader* reader = context;
  const yoke_fmi_place place =
      reader->depth == 0 ? YOKE_FMI_IN_FILE : reader->stack[reader->depth]->inside;
  if (reader->n_skipped > 0 || place == YOKE_FMI_IN_SKIPPED) {
    reader->n_skipped++;
    return YOKE_OK;
  }
  const yoke_fmi_element* element = find_element(reader, place, name);
  if (element == NULL && reader->depth == 0) {
    return refuse(reader, line,
                  "the outermost element is not <fmiModelDescription>: this is no FMU [fmi-root]");
  }
  if (element == NULL && place >= YOKE_FMI_IN_ANNOTATIONS) {
    reader->n_skipped++;
    return YOKE_OK;
  }
  if (element == NULL || reader->depth >= YOKE_XML_MAX_DEPTH) {
    YOKE_FMI_FAULT(reader, ELEMENT_UNKNOWN, line, "unknown element <%s>%s%s%s", name,
                   reader->depth > 0 ? " in <" : "",
                   reader->depth > 0 ? reader->stack[reader->depth]->name : "",
                   reader->depth > 0 ? ">" : "");
    reader->n_skipped++;
    return YOKE_OK;
  }

  reader->stack[++reader->depth] = element;
  reader->element = element->name;
  reader->kind = element->kind;
  reader->line = line;
  sort_attributes(reader, element, attributes, line);
  if (element->open != NULL) {
    element->open(reader);
  }
  while (reader->n_given > 0) {
    reader->values[reader->given[--reader->n_given]] = NULL;
  }
  return reader->status;
}

static yoke_status on_close(void* context, const char* name, int line) {
  (void)name;
  (void)line;
  yoke_fmi_reader* reader = context;
  if (reader->n_skipped > 0) {
    reader->n_skipped--;
    return YOKE_OK;
  }
  const yoke_fmi_element* element = reader->stack[reader->depth--];
  if (element->close != NULL) {
    element->close(reader);
  }
  return reader->status;
}

static yoke_status on_text(void* context, const char* text, size_t n, int line) {
  (void)line;
  yoke_fmi_reader* reader = context;
  if (!reader->is_text_wanted || reader->n_skipped > 0) {
    return YOKE_OK;
  }
  if (reader->line_text.n + n + 1 > MAX_TEXT) {
    return YOKE_OK;  // no name is that long; what is cut off leads nowhere and is said there
  }
  yoke__text_append(&reader->line_text, text, n);
  return reader->line_text.status;
}

// ---- the whole file

static void free_reader(yoke_fmi_reader* reader) {
  yoke_fmi_list* const lists[] = {
      &reader->variables,
      &reader->dimensions,
      &reader->clocks,
      &reader->clocked,
      &reader->units,
      &reader->typedefs,
      &reader->bounds,
      &reader->items,
      &reader->categories,
      &reader->files,
      &reader->aliases,
      &reader->unit_names.texts,
      &reader->type_names.texts,
      &reader->unit_texts.texts,
      &reader->unit_uses,
      &reader->late_types,
      &reader->derivatives,
      &reader->late_names,
      &reader->dropped,
      &reader->raw_dependencies,
      &reader->raw_kinds,
      &reader->direct,
      &reader->nonlinear,
  };
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    free(lists[i]->items);
  }
  for (size_t i = 0; i < YOKE_FMI_N_LISTS; i++) {
    free(reader->unknowns[i].items);
  }
  yoke__text_free(&reader->line_text);
  yoke__text_free(&reader->now.starts);
  free(reader);
}

static yoke_status read_all(yoke_fmi_reader* reader, const char* bytes, size_t n) {
  static const yoke_xml_handler handler = {on_open, on_close, on_text};
  learn_attributes(reader);
  learn_elements(reader);
  YOKE_TRY(yoke__xml_parse(bytes, n, reader->source, &handler, reader, reader->messages));
  return yoke__fmi_resolve(reader);
}

yoke_status yoke__fmi_read(const char* bytes, size_t n, const char* source, yoke_messages* messages,
                           yoke_fmi_description** out) {
  *out = NULL;
  yoke_fmi_description* d = calloc(1, sizeof *d);
  yoke_fmi_reader* reader = calloc(1, sizeof *reader);
  if (d == NULL || reader == NULL) {
    free(d);
    free(reader);
    return YOKE_NO_MEMORY;
  }
  reader->d = d;
  reader->messages = messages;
  reader->source = source;
  d->source = yoke__fmi_keep(reader, source);
  const size_t n_errors = messages->n_errors;
  const yoke_status status = reader->status < 0 ? reader->status : read_all(reader, bytes, n);
  if (status >= 0) {
    yoke__fmi_tell_faults(&reader->findings, source, messages);
    *out = d;
  } else {
    if (status == YOKE_BAD_INPUT && messages->n_errors == n_errors) {
      yoke__error(messages, (yoke_place){source, 0, 0}, "cannot be read");
    }
    yoke__fmi_free(&d);
  }
  free_reader(reader);
  return status;
}
