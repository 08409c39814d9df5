// Messages of a system in the words of a netlist; see app_circuit_tell.h.
//
// A unit hands its messages up as one text ("file:line: error: text" per line), which the system
// puts behind the unit's name. Here they are taken apart again.
#include "app/app_circuit_tell.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "scenario/scenario_circuit.h"

#define MAX_TEXT 1024

// ---- places

// "./rc.cir" is the user's "rc.cir"
static const char* without_dot(const char* source, const char* path) {
  return strncmp(source, "./", 2) == 0 && strncmp(path, "./", 2) != 0 ? source + 2 : source;
}

// "--set units.rc.solver.step" -> "--step"; others as they are
static const char* option_of(const yoke_circuit_words* w, const char* source, char* to,
                             size_t size) {
  char with[MAX_TEXT], solver[MAX_TEXT];
  snprintf(with, sizeof with, "--set units.%s.with.", w->unit);
  snprintf(solver, sizeof solver, "--set units.%s.solver.", w->unit);
  if (strncmp(source, with, strlen(with)) == 0) {
    snprintf(to, size, "--set %s", source + strlen(with));
  } else if (strncmp(source, solver, strlen(solver)) == 0) {
    snprintf(to, size, "--%s", source + strlen(solver));
  } else {
    snprintf(to, size, "%s", without_dot(source, w->path));
  }
  return to;
}

// ---- lines of nested messages

typedef struct line {
  yoke_severity severity;
  char source[MAX_TEXT];
  yoke_place place;
  const char* text;
} line;

// The number behind the last colon of source is taken off; 0: there is none.
static int take_number(char* source) {
  char* colon = strrchr(source, ':');
  int number = 0;
  if (colon == NULL || colon[1] == '\0' || strspn(colon + 1, "0123456789") != strlen(colon + 1)) {
    return 0;
  }
  for (const char* at = colon + 1; *at != '\0' && number < 100000000; at++) {
    number = 10 * number + (*at - '0');
  }
  *colon = '\0';
  return number;
}

// "rc.cir:4:7: error: text", of a netlist. False: it is no such line.
static bool split_line(const char* text, line* to) {
  static const char* const words[] = {": note: ", ": warning: ", ": error: "};
  const char* first = NULL;
  for (size_t i = 0; i < YOKE_COUNT(words); i++) {
    const char* found = strstr(text, words[i]);
    if (found != NULL && (first == NULL || found < first)) {
      first = found;
      to->severity = (yoke_severity)i;
      to->text = found + strlen(words[i]);
    }
  }
  if (first == NULL || (size_t)(first - text) >= sizeof to->source) {
    return false;
  }
  snprintf(to->source, sizeof to->source, "%.*s", (int)(first - text), text);
  const int last = take_number(to->source), before = take_number(to->source);
  to->place = (yoke_place){to->source, before > 0 ? before : last, before > 0 ? last : 0};
  return yoke__scenario_is_circuit(to->source);
}

// What the system puts in front.
static const char* behind_unit(const yoke_circuit_words* w, const char* text) {
  static const char failed[] = "cannot be initialised: ";
  char name[MAX_TEXT];
  snprintf(name, sizeof name, "unit '%s'", w->unit);
  const size_t n = strlen(name);
  if (strncmp(text, name, n) != 0) {
    return text;
  }
  if (strncmp(text + n, ": ", 2) == 0) {
    return text + n + 2;
  }
  const char* found = strstr(text + n, failed);
  return found == NULL ? text : found + strlen(failed);
}

// ---- lines of elements and nodes

static bool take_place(const yoke_network* network, bool is_node, const char* name,
                       yoke_place* place) {
  const uint32_t i =
      is_node ? yoke__network_find_node(network, name) : yoke__network_find_element(network, name);
  if (i == YOKE_NO_INDEX) {
    return false;
  }
  *place = is_node ? network->nodes[i].place : network->elements[i].place;
  return place->line > 0;
}

// The first 'name' that is one of the netlist: "the resistance of 'R1'", "node 'a'".
static bool find_quoted(const yoke_network* network, const char* text, yoke_place* place) {
  static const char node[] = "node ";
  const size_t n_node = strlen(node);
  for (const char* at = strchr(text, '\''); at != NULL; at = strchr(at + 1, '\'')) {
    const char* end = strchr(at + 1, '\'');
    char name[MAX_TEXT];
    if (end == NULL) {
      return false;
    }
    const bool is_node = (size_t)(at - text) >= n_node && strncmp(at - n_node, node, n_node) == 0;
    snprintf(name, sizeof name, "%.*s", (int)(end - at - 1), at + 1);
    if (take_place(network, is_node, name, place) || take_place(network, !is_node, name, place)) {
      return true;
    }
    at = end;
  }
  return false;
}

// The first v(...), i(...), t(...) or p(...) that is one of the netlist.
static bool find_quantity(const yoke_network* network, const char* text, yoke_place* place) {
  for (const char* at = strchr(text, '('); at != NULL; at = strchr(at + 1, '(')) {
    const char* end = strpbrk(at, "),");
    char name[MAX_TEXT];
    if (at == text || end == NULL || (at - 1 > text && isalnum((unsigned char)at[-2]))) {
      continue;
    }
    snprintf(name, sizeof name, "%.*s", (int)(end - at - 1), at + 1);
    const char letter = (char)tolower((unsigned char)at[-1]);
    if (strchr("vtip", letter) != NULL &&
        take_place(network, letter == 'v' || letter == 't', name, place)) {
      return true;
    }
  }
  return false;
}

// The place of what a message is about. A law that it quotes names others.
static bool find_place(const yoke_network* network, const char* text, yoke_place* place) {
  char told[MAX_TEXT];
  snprintf(told, sizeof told, "%s", text);
  char* law = strstr(told, "its law is {");
  if (law != NULL) {
    *law = '\0';
  }
  return find_quoted(network, told, place) || find_quantity(network, told, place);
}

// The netlist again: a run that failed has the time. NULL: it cannot be read.
static yoke_network* read_again(const yoke_circuit_words* w) {
  yoke_messages ignored = {0};
  yoke_network* network = NULL;
  const yoke_netlist_settings settings = {
      .path = w->path, .parameters = w->parameters, .n_parameters = w->n_parameters};
  const yoke_status status = yoke__netlist_read_file(&settings, &ignored, &network);
  yoke__messages_free(&ignored);
  if (status < 0) {
    yoke__network_destroy(&network);
  }
  return network;
}

static void give_lines(const yoke_circuit_words* w, yoke_messages* messages) {
  yoke_network* network = read_again(w);
  for (yoke_message* m = network == NULL ? NULL : messages->first; m != NULL; m = m->next) {
    yoke_place place;
    if (m->place.line == 0 && m->severity == YOKE_ERROR && find_place(network, m->text, &place)) {
      const char* source = place.source == NULL ? w->path : place.source;
      m->place.line = place.line;
      m->place.source = yoke__arena_text(&messages->arena, source, strlen(source));
    }
  }
  yoke__network_destroy(&network);
}

void yoke__app_circuit_locate(const yoke_app_voice* voice, const char* text, char* to,
                              size_t size) {
  const yoke_circuit_words* w = voice->context;
  yoke_network* network = read_again(w);
  yoke_place place;
  snprintf(to, size, "%s", w->path);
  if (network != NULL && find_place(network, text, &place)) {
    snprintf(to, size, "%s:%d", place.source == NULL ? w->path : place.source, place.line);
  }
  yoke__network_destroy(&network);
}

// ---- all messages

static void tell(yoke_messages* to, yoke_severity severity, yoke_place place, const char* text) {
  static const char inner[] = " for a unit that is called every ";
  const char* found = strstr(text, inner);
  if (found != NULL) {
    yoke__message_add(to, severity, place, "%.*s for rows every %s", (int)(found - text), text,
                      found + strlen(inner));
  } else {
    yoke__message_add(to, severity, place, "%s", text);
  }
}

static void retell_one(const yoke_circuit_words* w, const yoke_message* m, yoke_messages* to) {
  char rest[MAX_TEXT], source[MAX_TEXT];
  snprintf(rest, sizeof rest, "%s", behind_unit(w, m->text));
  yoke_place place = m->place;
  if (place.source != NULL) {
    place.source = option_of(w, m->place.source, source, sizeof source);
  }
  for (char* text = rest; text != NULL;) {
    char* end = strchr(text, '\n');
    if (end != NULL) {
      *end++ = '\0';
    }
    line inner;
    if (split_line(text, &inner)) {
      inner.place.source = without_dot(inner.source, w->path);
      tell(to, inner.severity, inner.place, inner.text);
    } else if (text[0] != '\0') {
      tell(to, m->severity, place, text);
    }
    text = end;
  }
}

void yoke__app_circuit_retell(const yoke_app_voice* voice, yoke_messages* messages) {
  const yoke_circuit_words* w = voice->context;
  yoke_messages told = {0};
  for (const yoke_message* m = messages->first; m != NULL; m = m->next) {
    retell_one(w, m, &told);
  }
  told.n_dropped += messages->n_dropped;
  bool is_placeless = false;
  for (const yoke_message* m = told.first; m != NULL; m = m->next) {
    is_placeless = is_placeless || (m->severity == YOKE_ERROR && m->place.line == 0);
  }
  if (is_placeless) {
    give_lines(w, &told);
  }
  yoke__messages_free(messages);
  *messages = told;
}
