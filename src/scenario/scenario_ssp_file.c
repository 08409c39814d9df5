// Files of an SSP: URIs, documents that are read once, what FMUs say about themselves; and the messages about all of it.
//
// Paths inside of an archive never leave it: a URI is decoded, split into parts and put together again, and a ".." too
// many, an absolute path or a scheme is refused. A bare SSD may name what a system file may name.
#include "scenario/scenario_ssp_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_os.h"

// ---------------------------------------------------------------------------------------------------------
// messages

yoke_place yoke__ssp_place(const ssp_document* document, const yoke_xml_node* node) {
  return (yoke_place){document->source, node == NULL ? 0 : node->line, 0};
}

void yoke__ssp_error(ssp* s, const ssp_document* document, const yoke_xml_node* node,
                     const char* format, ...) {
  va_list args;
  va_start(args, format);
  yoke__message_addv(s->messages, YOKE_ERROR, yoke__ssp_place(document, node), format, args);
  va_end(args);
}

void yoke__ssp_warn_once(ssp* s, const char* rule, yoke_place place, const char* format, ...) {
  for (size_t i = 0; i < s->n_warned; i++) {
    if (strcmp(s->warned[i], rule) == 0) {
      return;
    }
  }
  if (s->n_warned == SSP_MAX_WARNED) {
    return;
  }
  s->warned[s->n_warned++] = rule;
  va_list args;
  va_start(args, format);
  yoke__message_addv(s->messages, YOKE_WARNING, place, format, args);
  va_end(args);
}

static bool is_listed(const char* name, const char* const names[]) {
  for (size_t i = 0; names[i] != NULL; i++) {
    if (strcmp(names[i], name) == 0) {
      return true;
    }
  }
  return false;
}

void yoke__ssp_check_children(ssp* s, const ssp_document* document, const yoke_xml_node* node,
                              const char* const names[]) {
  // drawings, notes and what other tools add have no meaning for a run
  static const char* const ignored[] = {
      "Annotations",        "ElementGeometry", "ConnectorGeometry",
      "ConnectionGeometry", "SystemGeometry",  "GraphicalElements",
      "MetaData",           "Signature",       NULL};
  char cut[YOKE_FOUND_SIZE];
  for (const yoke_xml_node* child = node == NULL ? NULL : node->first; child != NULL;
       child = child->next) {
    if (!is_listed(child->name, names) && !is_listed(child->name, ignored)) {
      yoke__ssp_warn_once(s, child->name, yoke__ssp_place(document, child),
                          "the element '%s' in '%s' is not known and is ignored",
                          yoke__text_cut(child->name, cut), node->name);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// memory and attributes

void* yoke__ssp_take(ssp* s, size_t count, size_t size) {
  void* piece = yoke__arena_array(&s->arena, count, size);
  s->reader->is_out_of_memory |= piece == NULL;
  return piece;
}

const char* yoke__ssp_text(ssp* s, const char* format, ...) {
  va_list args;
  va_start(args, format);
  const char* text = yoke__arena_format(&s->arena, format, args);
  va_end(args);
  s->reader->is_out_of_memory |= text == NULL;
  return text == NULL ? "" : text;
}

const char* yoke__ssp_get(ssp* s, const yoke_xml_node* node, const char* attribute) {
  const char* text = yoke__xml_get(node, attribute);
  if (text == NULL) {
    return NULL;
  }
  while (yoke__is_blank(*text)) {
    text++;
  }
  size_t n = strlen(text);
  if (n == 0 || !yoke__is_blank(text[n - 1])) {
    return text;
  }
  while (n > 0 && yoke__is_blank(text[n - 1])) {
    n--;
  }
  return yoke__ssp_text(s, "%.*s", (int)n, text);
}

const char* yoke__ssp_require(ssp* s, const ssp_document* document, const yoke_xml_node* node,
                              const char* attribute) {
  // names are taken as they are: spaces may be part of them
  const char* text = yoke__xml_get(node, attribute);
  if (text == NULL || text[0] == '\0') {
    yoke__ssp_error(s, document, node, "'%s' has no '%s'", node->name, attribute);
    return NULL;
  }
  return text;
}

const char* yoke__ssp_source(ssp* s, const yoke_xml_node* node) {
  const char* source = yoke__ssp_get(s, node, "source");
  return source == NULL || source[0] == '\0' ? NULL : source;
}

void yoke__ssp_warn_two(ssp* s, const ssp_document* document, const yoke_xml_node* node,
                        const yoke_xml_node* inside, const char* source) {
  char cut[YOKE_FOUND_SIZE];
  yoke__message_add(s->messages, YOKE_WARNING, yoke__ssp_place(document, inside),
                    "'%s' has a source and a '%s' inside; the source '%s' counts", node->name,
                    inside->name, yoke__text_cut(source, cut));
}

double yoke__ssp_number(ssp* s, const ssp_document* document, const yoke_xml_node* node,
                        const char* attribute, double or_else) {
  const char* text = yoke__ssp_get(s, node, attribute);
  double number = 0;
  if (text == NULL) {
    return or_else;
  }
  if (!yoke__number_parse(text, &number) || !yoke__is_finite(number)) {
    char cut[YOKE_FOUND_SIZE];
    yoke__ssp_error(s, document, node, "'%s': expected a number, found '%s'", attribute,
                    yoke__text_cut(text, cut));
    return or_else;
  }
  return number;
}

bool yoke__ssp_is_true(ssp* s, const yoke_xml_node* node, const char* attribute) {
  const char* text = yoke__ssp_get(s, node, attribute);
  return text != NULL && (strcmp(text, "true") == 0 || strcmp(text, "1") == 0);
}

// ---------------------------------------------------------------------------------------------------------
// URIs

static int digit_of(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

// Copies a URI up to its fragment, %xx decoded and backslashes turned. False: no path.
static bool decode(const char* uri, char to[SSP_MAX_PATH], bool* has_backslash) {
  size_t n = 0;
  for (const char* at = uri; *at != '\0' && *at != '#'; at++) {
    char c = *at;
    if (c == '%') {
      const int high = digit_of(at[1]), low = high < 0 ? -1 : digit_of(at[2]);
      if (low < 0) {
        return false;
      }
      c = (char)(16 * high + low);
      at += 2;
    }
    if (c == '\\') {
      *has_backslash = true;
      c = '/';
    }
    if ((unsigned char)c < 0x20 || n + 1 >= SSP_MAX_PATH) {
      return false;
    }
    to[n++] = c;
  }
  to[n] = '\0';
  return true;
}

// Length of "scheme:" in front of a URI, 0 if there is none.
static size_t scheme_length(const char* uri) {
  size_t n = 0;
  while ((uri[n] >= 'a' && uri[n] <= 'z') || (uri[n] >= 'A' && uri[n] <= 'Z') ||
         (n > 0 && ((uri[n] >= '0' && uri[n] <= '9') || strchr("+-.", uri[n]) != NULL) &&
          uri[n] != '\0')) {
    n++;
  }
  return n > 0 && uri[n] == ':' ? n + 1 : 0;
}

// Puts the parts of folder + path together without "." and ".."; *n_up counts those that lead out.
static void normalise(const char* folder, const char* path, char to[2 * SSP_MAX_PATH],
                      size_t* n_up) {
  char joined[2 * SSP_MAX_PATH];
  const bool is_absolute = path[0] == '/';
  snprintf(joined, sizeof joined, "%s%s", is_absolute ? "" : folder, path);
  size_t n = 0, n_kept = 0;  // kept parts that a ".." can take away
  *n_up = 0;
  if (is_absolute) {
    to[n++] = '/';
  }
  for (const char* at = joined; *at != '\0';) {
    const size_t length = strcspn(at, "/");
    const bool is_up = length == 2 && strncmp(at, "..", 2) == 0;
    if (is_up && n_kept > 0) {
      // back to the slash before the last part
      do {
        n--;
      } while (n > 0 && to[n - 1] != '/');
      n_kept--;
    } else if (length > 0 && !(length == 1 && *at == '.')) {
      *n_up += is_up;
      n_kept += !is_up;
      memcpy(to + n, at, length);
      n += length;
      to[n++] = '/';
    }
    at += length + (at[length] == '/');
  }

  // no slash behind a file
  if (n > 1) {
    n--;
  }
  to[n] = '\0';
}

const char* yoke__ssp_resolve(ssp* s, const ssp_document* document, const yoke_xml_node* node,
                              const char* uri, const char** fragment) {
  char cut[YOKE_FOUND_SIZE], decoded[SSP_MAX_PATH], path[2 * SSP_MAX_PATH];
  bool has_backslash = false;
  size_t n_scheme = scheme_length(uri), n_up = 0;
  const char* hash = strchr(uri, '#');
  *fragment = hash == NULL ? NULL : hash + 1;
  if (n_scheme > 0 && strncmp(uri, "file:", 5) != 0) {
    yoke__ssp_error(s, document, node, "'%s': only files can be read, no other scheme",
                    yoke__text_cut(uri, cut));
    return NULL;
  }
  // file:///a and file:/a are absolute, file:a is relative
  if (n_scheme > 0 && strncmp(uri + n_scheme, "//", 2) == 0) {
    n_scheme += 2;
  }
  if (!decode(uri + n_scheme, decoded, &has_backslash)) {
    yoke__ssp_error(s, document, node, "'%s' is no path of a file", yoke__text_cut(uri, cut));
    return NULL;
  }
  if (has_backslash) {
    yoke__ssp_warn_once(s, "backslash", yoke__ssp_place(document, node),
                        "'%s': parts of a path are separated by '/', not by a backslash",
                        yoke__text_cut(uri, cut));
  }
  normalise(document->folder, decoded, path, &n_up);
  if (document->root->is_closed && (n_up > 0 || path[0] == '/' || n_scheme > 0)) {
    yoke__ssp_error(s, document, node, "'%s' leads out of the archive", yoke__text_cut(uri, cut));
    return NULL;
  }
  return yoke__ssp_text(s, "%s", path);
}

// ---------------------------------------------------------------------------------------------------------
// documents

static ssp_document* find_document(const ssp* s, const ssp_root* root, const char* archive,
                                   const char* path) {
  for (ssp_document* d = s->documents; d != NULL; d = d->next) {
    const bool is_archive = archive == NULL
                                ? d->archive == NULL
                                : d->archive != NULL && strcmp(archive, d->archive) == 0;
    if (d->root == root && is_archive && strcmp(d->path, path) == 0) {
      return d;
    }
  }
  return NULL;
}

static yoke_status load(ssp* s, const ssp_root* root, ssp_document* d, const yoke_sink* sink) {
  const yoke_ssp_files* files = s->files;
  if (d->archive == NULL) {
    const char* path = yoke__ssp_text(s, "%s%s", root->folder, d->path);
    return files->read(files->context, path, &d->bytes, &d->n, sink);
  }
  if (files->read_entry == NULL) {
    return yoke_fail(sink, YOKE_NO_SUPPORT, "an archive is not allowed here");
  }
  const char* archive = yoke__ssp_text(s, "%s%s", root->folder, d->archive);
  return files->read_entry(files->context, archive, d->path, &d->bytes, &d->n, sink);
}

// "" or "a/b/"
static const char* folder_of(ssp* s, const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == NULL ? "" : yoke__ssp_text(s, "%.*s", (int)(slash + 1 - path), path);
}

// A document without content, in the list.
static ssp_document* add_document(ssp* s, const ssp_root* root, const char* archive,
                                  const char* path) {
  ssp_document* d = yoke__ssp_take(s, 1, sizeof *d);
  if (d == NULL) {
    return NULL;
  }
  d->next = s->documents;
  d->root = root;
  d->archive = archive;
  d->path = path;
  d->folder = folder_of(s, path);

  // places of nodes name it, so it lives as long as the tree
  const char* source = archive == NULL ? yoke__ssp_text(s, "%s%s", root->prefix, path)
                                       : yoke__ssp_text(s, "%s%s/%s", root->prefix, archive, path);
  d->source = yoke__arena_text(s->reader->arena, source, strlen(source));
  if (d->source == NULL) {
    s->reader->is_out_of_memory = true;
    return NULL;
  }
  s->documents = d;
  s->n_documents++;
  return d;
}

static void parse(ssp* s, ssp_document* d, const char* element) {
  yoke_xml_node* xml = NULL;
  const yoke_status status =
      yoke__xml_tree(d->bytes, d->n, d->source, &s->arena, s->messages, &xml);
  s->reader->is_out_of_memory |= status == YOKE_NO_MEMORY;
  if (status < 0 || xml == NULL) {
    return;
  }
  if (strcmp(xml->name, element) != 0) {
    char cut[YOKE_FOUND_SIZE];
    yoke__ssp_error(s, d, xml, "expected the element '%s', found '%s'", element,
                    yoke__text_cut(xml->name, cut));
    return;
  }
  const char* version = yoke__ssp_get(s, xml, "version");
  if (version != NULL && strncmp(version, "1.", 2) != 0 && strncmp(version, "2.", 2) != 0) {
    char cut[YOKE_FOUND_SIZE];
    yoke__ssp_warn_once(s, "version", yoke__ssp_place(d, xml),
                        "version '%s' of SSP is not known; it is read like 1.0",
                        yoke__text_cut(version, cut));
  }
  d->xml = xml;
  yoke__ssp_scope_init(s, &d->scope, d, xml, NULL);
}

static const ssp_document* open_document(ssp* s, const ssp_root* root, const char* archive,
                                         const char* path, const char* element,
                                         const ssp_document* from, const yoke_xml_node* node) {
  ssp_document* d = find_document(s, root, archive, path);
  if (d != NULL) {
    // its faults were said the first time
    return d->xml == NULL || strcmp(d->xml->name, element) != 0 ? NULL : d;
  }
  if (s->n_documents == SSP_MAX_DOCUMENTS) {
    yoke__ssp_error(s, from, node, "too many files: at most %d", SSP_MAX_DOCUMENTS);
    return NULL;
  }
  d = add_document(s, root, archive, path);
  if (d == NULL) {
    return NULL;
  }
  // the place in a temporary folder means nothing to a person: the message is about the name
  YOKE_CATCH(why);
  const yoke_status status = load(s, root, d, &why.sink);
  if (status == YOKE_NO_MEMORY) {
    s->reader->is_out_of_memory = true;
  } else if (status < 0) {
    yoke__ssp_error(s, from, node, "%s", why.text);
  } else {
    parse(s, d, element);
  }
  return d->xml == NULL ? NULL : d;
}

const ssp_document* yoke__ssp_open_bytes(ssp* s, const ssp_root* root, const yoke_ssp_names* names,
                                         const char* bytes, size_t n, const char* element) {
  ssp_document* d = add_document(s, root, NULL, names->path);
  if (d == NULL) {
    return NULL;
  }
  d->bytes = malloc(n + 1);
  d->source = yoke__arena_text(s->reader->arena, names->source, strlen(names->source));
  if (d->bytes == NULL || d->source == NULL) {
    s->reader->is_out_of_memory = true;
    return NULL;
  }
  memcpy(d->bytes, bytes, n);
  d->bytes[n] = '\0';
  d->n = n;
  parse(s, d, element);
  return d->xml == NULL ? NULL : d;
}

const ssp_document* yoke__ssp_open(ssp* s, const ssp_root* root, const char* path,
                                   const char* element, const ssp_document* from,
                                   const yoke_xml_node* node) {
  return open_document(s, root, NULL, path, element, from, node);
}

const ssp_document* yoke__ssp_open_entry(ssp* s, const ssp_root* root, const char* archive,
                                         const char* path, const char* element,
                                         const ssp_document* from, const yoke_xml_node* node) {
  return open_document(s, root, archive, path, element, from, node);
}

// ---------------------------------------------------------------------------------------------------------
// FMUs

static ssp_fmu* find_fmu(ssp* s, const char* path) {
  for (ssp_fmu* fmu = s->fmus; fmu != NULL; fmu = fmu->next) {
    if (strcmp(fmu->path, path) == 0) {
      return fmu;
    }
  }
  ssp_fmu* fmu = yoke__ssp_take(s, 1, sizeof *fmu);
  if (fmu == NULL) {
    return NULL;
  }
  *fmu = (ssp_fmu){.next = s->fmus, .path = path};
  s->fmus = fmu;
  char full[2 * SSP_MAX_PATH];
  const size_t n = path[0] == '/'
                       ? (size_t)snprintf(full, sizeof full, "%s", path)
                       : yoke__os_path_join(s->files->directory, path, full, sizeof full);

  // faults of the FMU are said by the unit that runs it
  yoke_messages messages = {0};
  if (n < sizeof full && yoke__os_is_file(full) &&
      yoke__fmi_open(full, &messages, &fmu->package) < 0) {
    fmu->package = NULL;
  }
  yoke__messages_free(&messages);
  return fmu;
}

const yoke_fmi_description* yoke__ssp_describe(ssp* s, ssp_component* component) {
  if (s->files->directory == NULL || component->path == NULL) {
    return NULL;
  }
  if (component->fmu == NULL) {
    component->fmu = find_fmu(s, component->path);
  }
  return component->fmu == NULL || component->fmu->package == NULL
             ? NULL
             : component->fmu->package->description;
}
