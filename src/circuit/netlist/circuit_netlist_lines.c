// Bytes -> statements.
//
//   *...             a comment; "*yoke ..." is read as if the rest stood there: hidden from ngspice
//   + ...            goes on with the statement before, comments between them do not matter
//   ; and //         end a line; so does $ behind a blank or comma
//   .include file    is read in place; the name is relative to the file that includes it
//   .end             ends a file; .control ... .endc is skipped
//
// The first line of the main file is the title, whatever it says. Statements are joined inside the
// file's own bytes: what is dropped (comments, '+', line ends) is never shorter than what is put
// in.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_os.h"
#include "base/base_status.h"
#include "circuit/netlist/circuit_netlist_reader.h"

// Where a comment at the end of a line starts, or the end of the line without trailing blanks.
static char* end_of_content(char* at, const char* end) {
  const char* start = at;
  bool is_quoted = false;
  for (; at < end; at++) {
    is_quoted = is_quoted != (*at == '"');
    const bool is_dollar =
        *at == '$' && (at == start || yoke__is_blank(at[-1]) || at[-1] == ',') && !is_quoted;
    const bool is_slashes = *at == '/' && end - at > 1 && at[1] == '/' && !is_quoted;
    if ((*at == ';' && !is_quoted) || is_dollar || is_slashes) {
      break;
    }
  }
  while (at > start && yoke__is_blank(at[-1])) {
    at--;
  }
  return at;
}

// A statement that is being joined.
typedef struct joiner {
  char* text;  // NULL: none
  char* end;   // where the next piece goes
  uint32_t line, last_line;
} joiner;

static void finish(yoke_netlist_reader* reader, size_t file, joiner* self) {
  if (self->text != NULL && self->end > self->text) {
    const yoke_statement statement = {self->text, (uint32_t)(self->end - self->text), self->line,
                                      (uint32_t)file};
    yoke_netlist_file* to = &reader->files[file];
    yoke__reader_append(reader, &to->statements, &to->n_statements, &to->max_statements,
                        sizeof statement, &statement);
  }
  self->text = NULL;
}

// Text, or tab and line ends; the rest is no netlist.
static bool is_text(yoke_netlist_reader* reader, size_t file, const char* bytes, size_t n) {
  uint32_t line = 1;
  for (size_t i = 0; i < n; i++) {
    const unsigned char c = (unsigned char)bytes[i];
    line += c == '\n';
    if (c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v') {
      const yoke_statement here = {bytes, 0, line, (uint32_t)file};
      yoke__netlist_error(reader, &here, NULL, "byte %d is no text: expected a netlist", c);
      return false;
    }
  }
  return true;
}

// One line of the file, [at, end) without its line end.
static void read_line(yoke_netlist_reader* reader, size_t file, joiner* self, char* at, char* end,
                      uint32_t line) {
  while (at < end && yoke__is_blank(*at)) {
    at++;
  }
  if (at < end && *at == '*') {
    if (end - at < 6 || !yoke__span_is((yoke_span){at, 5}, "*yoke") || !yoke__is_blank(at[5])) {
      return;
    }
    at += 6;
    while (at < end && yoke__is_blank(*at)) {
      at++;
    }
  }
  end = end_of_content(at, end);
  if (at == end) {
    return;
  }
  if (*at == '+') {
    if (self->text == NULL) {
      const yoke_statement here = {at, (uint32_t)(end - at), line, (uint32_t)file};
      yoke__netlist_error(reader, &here, NULL, "a continuation line with nothing before it");
      return;
    }

    // one line end for each line passed: there is room, since each had one, and '+' makes a blank
    for (; self->last_line < line; self->last_line++) {
      *self->end++ = '\n';
    }
    memmove(self->end, at + 1, (size_t)(end - at - 1));
    self->end += end - at - 1;
    return;
  }
  finish(reader, file, self);
  *self = (joiner){at, end, line, line};
}

static void split_lines(yoke_netlist_reader* reader, size_t file, char* bytes, size_t n,
                        bool has_title) {
  char *at = bytes, *end = bytes + n;
  joiner self = {0};
  for (uint32_t line = 1; at < end && !reader->is_out_of_memory && !reader->is_stopped; line++) {
    char* line_end = memchr(at, '\n', (size_t)(end - at));
    line_end = line_end == NULL ? end : line_end;
    if (line > 1 || !has_title) {
      read_line(reader, file, &self, at, line_end, line);
    }
    at = line_end == end ? end : line_end + 1;
  }
  finish(reader, file, &self);
}

// ---- includes

// A new file in the list; SIZE_MAX without memory.
static size_t add_file(yoke_netlist_reader* reader, const char* path, uint32_t parent) {
  const yoke_netlist_file file = {
      .path = yoke__arena_text(&reader->network->arena, path, strlen(path)),
      .parent = parent,
      .depth = reader->n_files == 0 ? 0 : reader->files[parent].depth + 1};
  reader->is_out_of_memory |= file.path == NULL;
  return file.path != NULL && yoke__reader_append(reader, &reader->files, &reader->n_files,
                                                  &reader->max_files, sizeof file, &file)
             ? reader->n_files - 1
             : SIZE_MAX;
}

// The file name of an .include line, quotes removed.
static yoke_span file_name(const yoke_statement* statement) {
  const char *at = statement->text, *end = at + statement->n;
  while (at < end && !yoke__is_blank(*at) && *at != '"' && *at != '\'') {
    at++;
  }
  while (at < end && yoke__is_blank(*at)) {
    at++;
  }
  while (end > at && yoke__is_blank(end[-1])) {
    end--;
  }
  if (end - at >= 2 && (*at == '"' || *at == '\'') && end[-1] == *at) {
    at++;
    end--;
  }
  return (yoke_span){at, (size_t)(end - at)};
}

// The path of a name beside the file that includes it; NULL without memory.
static char* path_beside(yoke_netlist_reader* reader, const char* parent, yoke_span name) {
  const char* slash = name.text[0] == '/' ? NULL : strrchr(parent, '/');
  const size_t n_folder = slash == NULL ? 0 : (size_t)(slash - parent) + 1;
  char* path = yoke__arena_take(&reader->arena, n_folder + name.n + 1);
  if (path == NULL) {
    reader->is_out_of_memory = true;
    return NULL;
  }
  memcpy(path, parent, n_folder);
  memcpy(path + n_folder, name.text, name.n);
  path[n_folder + name.n] = '\0';
  return path;
}

static bool is_open_already(const yoke_netlist_reader* reader, uint32_t file, const char* path) {
  for (;;) {
    if (strcmp(reader->files[file].path, path) == 0) {
      return true;
    }
    if (reader->files[file].depth == 0) {
      return false;
    }
    file = reader->files[file].parent;
  }
}

// Reads an included file into the list; SIZE_MAX after a message.
static size_t open_include(yoke_netlist_reader* reader, const yoke_statement* statement) {
  char cut[YOKE_SHOWN_SIZE];
  YOKE_CATCH(err);
  const yoke_span name = file_name(statement);
  if (name.n == 0) {
    yoke__netlist_error(reader, statement, NULL, "expected a file name behind .include");
    return SIZE_MAX;
  }
  if (reader->settings->is_include_forbidden) {
    yoke__netlist_error(reader, statement, NULL, ".include is not allowed here: '%s'",
                        yoke__shown(name, cut));
    return SIZE_MAX;
  }
  char* path = path_beside(reader, reader->files[statement->file].path, name);
  if (path == NULL) {
    return SIZE_MAX;
  }
  if (is_open_already(reader, statement->file, path)) {
    yoke__netlist_error(reader, statement, NULL, "'%s' includes itself", yoke__shown(name, cut));
    return SIZE_MAX;
  }
  if (reader->files[statement->file].depth + 1 >= YOKE_NETLIST_MAX_INCLUDES ||
      reader->n_files >= YOKE_NETLIST_MAX_FILES) {
    yoke__netlist_error(reader, statement, NULL, "too many files include each other");
    reader->is_stopped = true;
    return SIZE_MAX;
  }
  char* bytes = NULL;
  size_t n = 0;
  const yoke_status status = yoke__netlist_read_source(reader, path, &bytes, &n, &err.sink);
  if (yoke__status_is_shortage(status) && status != YOKE_NO_MEMORY) {
    yoke__messages_fail(reader->messages, status, yoke__statement_place(reader, statement, NULL),
                        "cannot include '%s': %s", yoke__shown(name, cut), err.text);
    return SIZE_MAX;
  }
  if (status < 0 && status != YOKE_NO_MEMORY) {
    yoke__netlist_error(reader, statement, NULL, "cannot include '%s': %s", yoke__shown(name, cut),
                        err.text);
    return SIZE_MAX;
  }
  const size_t file = status < 0 ? SIZE_MAX : add_file(reader, path, statement->file);
  if (file == SIZE_MAX) {
    reader->is_out_of_memory = true;
  } else if (is_text(reader, file, bytes, n)) {
    split_lines(reader, file, bytes, n, false);
  }
  return file;
}

static yoke_span first_word(const yoke_statement* statement) {
  size_t n = 0;
  while (n < statement->n && !yoke__is_blank(statement->text[n])) {
    n++;
  }
  return (yoke_span){statement->text, n};
}

static void emit(yoke_netlist_reader* reader, const yoke_statement* statement) {
  yoke__reader_append(reader, &reader->statements, &reader->n_statements, &reader->max_statements,
                      sizeof *statement, statement);
}

// Skips a control section; true if the statement is part of one.
static bool is_control(yoke_netlist_reader* reader, const yoke_statement* statement, yoke_span word,
                       bool* is_inside) {
  if (*is_inside) {
    *is_inside = !yoke__span_is(word, ".endc");
    return true;
  }
  if (!yoke__span_is(word, ".control")) {
    return false;
  }
  *is_inside = true;
  if (yoke__netlist_is_first(reader, (yoke_span){".control", 8})) {
    yoke__netlist_warn(reader, statement, NULL, ".control ... .endc is skipped");
  }
  return true;
}

// Gives out the statements of all files in the order in which they are read.
static void flatten(yoke_netlist_reader* reader) {
  size_t file = 0;
  bool is_inside = false;
  while (!reader->is_out_of_memory && !reader->is_stopped) {
    yoke_netlist_file* self = &reader->files[file];
    if (self->next == self->n_statements) {
      if (self->depth == 0) {
        return;
      }
      file = self->parent;
      continue;
    }
    const yoke_statement statement = self->statements[self->next++];
    if (statement.text[0] != '.' && !is_inside) {
      emit(reader, &statement);
      continue;
    }
    const yoke_span word = first_word(&statement);
    if (is_control(reader, &statement, word, &is_inside)) {
      continue;
    }
    if (yoke__span_is(word, ".include") || yoke__span_is(word, ".inc")) {
      const size_t included = open_include(reader, &statement);
      file = included == SIZE_MAX ? file : included;
    } else if (yoke__span_is(word, ".end")) {
      self->next = self->n_statements;
    } else {
      emit(reader, &statement);
    }
  }
}

void yoke__netlist_read_lines(yoke_netlist_reader* reader, char* bytes, size_t n,
                              const char* path) {
  const size_t file = add_file(reader, path, 0);
  if (file == SIZE_MAX || !is_text(reader, file, bytes, n)) {
    return;
  }

  // the title, without blanks around it
  const char *start = bytes, *end = memchr(bytes, '\n', n);
  end = end == NULL ? bytes + n : end;
  while (start < end && yoke__is_blank(*start)) {
    start++;
  }
  while (end > start && yoke__is_blank(end[-1])) {
    end--;
  }
  const char* title = yoke__arena_text(&reader->network->arena, start, (size_t)(end - start));
  reader->is_out_of_memory = reader->is_out_of_memory || title == NULL;
  reader->network->title = title;
  split_lines(reader, file, bytes, n, true);
  flatten(reader);
}
