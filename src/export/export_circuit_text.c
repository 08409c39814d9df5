// The netlist that travels in an FMU: one file, with everything that `.include` names in its place.
//
// Lines are left as they are. An included file has no title line and ends at its `.end`, as the
// reader of netlists has it (circuit/netlist/circuit_netlist_lines.c); names are relative to the file that
// includes. The reader checks the result.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_os.h"
#include "base/base_text.h"
#include "export/export_circuit.h"
#include "unit/circuit/unit_circuit_part.h"
#include "unit/twin/twin_part.h"

#define MAX_DEPTH 16
#define MAX_PATH  4096
#define MAX_TEXT  ((size_t)256 << 20)

typedef struct text {
  yoke_text all;
  const yoke_sink* sink;
} text;

static const char* skip_blanks(const char* at, const char* end) {
  while (at < end && yoke__is_blank(*at)) {
    at++;
  }
  return at;
}

// Is this the next word of the line? Case does not matter.
static bool is_word(const char* at, const char* end, const char* word) {
  const size_t n = strlen(word);
  if ((size_t)(end - at) < n) {
    return false;
  }
  for (size_t i = 0; i < n; i++) {
    if (tolower((unsigned char)at[i]) != word[i]) {
      return false;
    }
  }
  return at + n == end || yoke__is_blank(at[n]) || at[n] == '"' || at[n] == '\'';
}

// The first word, behind "*yoke " too.
static const char* begin_of(const char* at, const char* end) {
  at = skip_blanks(at, end);
  if (is_word(at, end, "*yoke")) {
    at = skip_blanks(at + 5, end);
  }
  return at;
}

// Does a comment begin here?
static bool is_comment(const char* at, const char* end) {
  return *at == ';' || (*at == '$' && yoke__is_blank(at[-1])) ||
         (*at == '/' && end - at > 1 && at[1] == '/');
}

// The name behind .include, without quotes and comments; beside the file it stands in.
static bool path_of(const char* parent, const char* at, const char* end, char* to, size_t size) {
  while (at < end && !yoke__is_blank(*at) && *at != '"' && *at != '\'') {
    at++;
  }
  at = skip_blanks(at, end);
  const bool is_quoted = at < end && (*at == '"' || *at == '\'');
  const char quote = *at;
  at += is_quoted;
  const char* stop = at;
  while (stop < end && (is_quoted ? *stop != quote : !is_comment(stop, end))) {
    stop++;
  }
  while (!is_quoted && stop > at && yoke__is_blank(stop[-1])) {
    stop--;
  }
  const char* slash = at < end && *at == '/' ? NULL : strrchr(parent, '/');
  const size_t n_folder = slash == NULL ? 0 : (size_t)(slash - parent) + 1;
  const size_t n = (size_t)(stop - at);
  if (n == 0 || n_folder + n >= size) {
    return false;
  }
  memcpy(to, parent, n_folder);
  memcpy(to + n_folder, at, n);
  to[n_folder + n] = '\0';
  return true;
}

// A file that is being read; files that include it lie below it.
typedef struct open_file {
  char path[MAX_PATH];
  char* bytes;
  const char *at, *end;
  int line;
  bool is_control;
} open_file;

static yoke_status open_one(open_file files[], size_t* n_files, const yoke_sink* sink) {
  open_file* file = &files[*n_files];
  size_t n = 0;
  YOKE_TRY(yoke__os_read_file(file->path, MAX_TEXT, &file->bytes, &n, sink));
  file->at = file->bytes;
  file->end = file->bytes + n;
  file->is_control = false;
  file->line = 0;
  (*n_files)++;
  return YOKE_OK;
}

// The file that an .include line of the topmost one names goes on top.
static yoke_status open_included(open_file files[], size_t* n_files, const char* at,
                                 const char* end, const text* to) {
  const open_file* parent = &files[*n_files - 1];
  yoke_context here;
  yoke__context_init(&here, to->sink, (yoke_place){parent->path, parent->line, 0}, NULL,
                     (double)NAN);
  if (*n_files == MAX_DEPTH) {
    return yoke_fail(&here.sink, YOKE_BAD_INPUT, "files include each other too deeply");
  }
  if (!path_of(parent->path, at, end, files[*n_files].path, MAX_PATH)) {
    return yoke_fail(&here.sink, YOKE_BAD_INPUT, "an .include without a file name");
  }
  return open_one(files, n_files, &here.sink);
}

// One line of the topmost file.
static yoke_status add_line(open_file files[], size_t* n_files, bool is_title, text* to) {
  open_file* file = &files[*n_files - 1];
  const char* at = file->at;
  file->line++;
  const char* end = memchr(at, '\n', (size_t)(file->end - at));
  end = end == NULL ? file->end : end;
  const char* word = begin_of(at, end);
  file->at = end < file->end ? end + 1 : end;
  file->is_control = !is_title && ((file->is_control && !is_word(word, end, ".endc")) ||
                                   is_word(word, end, ".control"));
  const bool is_read = !is_title && !file->is_control;
  if (is_read && *n_files > 1 && is_word(word, end, ".end")) {
    file->at = file->end;
    return YOKE_OK;
  }
  if (is_read && (is_word(word, end, ".include") || is_word(word, end, ".inc"))) {
    return open_included(files, n_files, word, end, to);
  }
  yoke__text_append(&to->all, at, (size_t)(end - at));
  yoke__text_append(&to->all, "\n", 1);
  return to->all.status < 0 || to->all.n > MAX_TEXT
             ? yoke_fail(to->sink, YOKE_NO_MEMORY,
                         "the netlist with its included files is too large")
             : YOKE_OK;
}

static yoke_status add_files(open_file files[], size_t* n_files, text* to) {
  YOKE_TRY(open_one(files, n_files, to->sink));
  for (bool is_title = true; *n_files > 0; is_title = false) {
    open_file* file = &files[*n_files - 1];
    if (file->at == file->end) {
      free(file->bytes);
      (*n_files)--;
    } else {
      YOKE_TRY(add_line(files, n_files, is_title, to));
    }
  }
  return YOKE_OK;
}

yoke_status yoke__export_circuit_text(const char* path, char** out, size_t* n,
                                      const yoke_sink* sink) {
  text to = {.sink = sink};
  open_file* files = calloc(MAX_DEPTH, sizeof *files);
  size_t n_files = 0;
  if (files == NULL || strlen(path) >= MAX_PATH) {
    free(files);
    return yoke_fail(sink, YOKE_NO_MEMORY, "out of memory");
  }
  snprintf(files[0].path, MAX_PATH, "%s", path);
  yoke__text_append(&to.all, "", 0);  // an empty file is a text too
  const yoke_status status = add_files(files, &n_files, &to);
  while (n_files > 0) {
    free(files[--n_files].bytes);
  }
  free(files);
  if (status < 0) {
    yoke__text_free(&to.all);
    return status;
  }
  *out = to.all.bytes;
  *n = to.all.n;
  return YOKE_OK;
}

bool yoke__export_circuit_settings(const yoke_unit* unit, yoke_unit_file_settings* out) {
  yoke_unit_circuit_figures figures;
  yoke_unit_twin_figures seen;
  if (unit != NULL && yoke__unit_twin_figures(unit->ops, unit->self, &seen)) {
    *out = ((const twin_file*)unit->ops->context)->settings;
    out->twin = yoke__unit_twin_settings(unit->ops, unit->self);
    return true;
  }
  if (unit == NULL || !yoke__unit_circuit_figures(unit->ops, unit->self, &figures)) {
    return false;
  }
  *out = ((const circuit_file*)unit->ops->context)->settings;
  return true;
}
