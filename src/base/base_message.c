// Collected messages with positions, and the search for the name a user probably meant.
#include "base/base_message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base_status.h"

#define MAX_MESSAGES 1000  // a broken generator must not fill the memory
#define MAX_NAME     128   // names longer than this are not compared
#define MAX_SOURCE   512   // of a longer path the end is shown
#define LINE_SIZE    4096  // takes any message

bool yoke__messages_is_full(const yoke_messages* list) {
  return list->n_errors + list->n_warnings >= MAX_MESSAGES;
}

static const char* keep_text(yoke_messages* list, const char* text) {
  return text == NULL ? NULL : yoke__arena_text(&list->arena, text, strlen(text));
}

// room for one more; false: memory is out
static bool grow(yoke_messages* list) {
  if (list->n < list->room) {
    return true;
  }
  const size_t room = list->room == 0 ? 8 : 2 * list->room;
  yoke_message* larger = yoke__arena_array(&list->arena, room, sizeof *larger);
  if (larger == NULL) {
    return false;
  }
  if (list->n > 0) {
    memcpy(larger, list->all, list->n * sizeof *larger);
  }
  list->all = larger;
  list->room = room;
  return true;
}

static void note_shortage(yoke_messages* list, yoke_status status) {
  if (list->shortage == YOKE_OK && yoke__status_is_shortage(status)) {
    list->shortage = status;
  }
}

yoke_status yoke__messages_status(const yoke_messages* list, yoke_status status) {
  return status < 0 && list->shortage < 0 ? list->shortage : status;
}

void yoke__messages_add(yoke_messages* list, const yoke_message* message) {
  const bool is_note = message->severity == YOKE_NOTE;
  const bool is_full = is_note ? list->n_notes >= MAX_MESSAGES : yoke__messages_is_full(list);
  list->n_notes += is_note;
  list->n_errors += message->severity == YOKE_ERROR;
  list->n_warnings += message->severity == YOKE_WARNING;
  if (message->severity == YOKE_ERROR) {
    note_shortage(list, message->status);
  }
  const char* text = is_full ? NULL : keep_text(list, message->text);
  if (text == NULL || !grow(list)) {
    list->n_dropped++;
    if (!is_full && message->severity == YOKE_ERROR) {
      note_shortage(list, YOKE_NO_MEMORY);
    }
    return;
  }
  // all texts are copied, so that messages outlive what they speak of
  yoke_message* kept = &list->all[list->n++];
  *kept = *message;
  kept->text = text;
  kept->file = keep_text(list, message->file);
  kept->unit = keep_text(list, message->unit);
  kept->variable = keep_text(list, message->variable);
  kept->hint = keep_text(list, message->hint);
}

static bool is_same_text(const char* a, const char* b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool is_same(const yoke_message* a, const yoke_message* b) {
  return a->severity == b->severity && a->line == b->line && a->column == b->column &&
         is_same_text(a->text, b->text) && is_same_text(a->file, b->file) &&
         is_same_text(a->unit, b->unit) && is_same_text(a->variable, b->variable);
}

void yoke__messages_merge(yoke_messages* list, const yoke_messages* others) {
  const size_t n_known = list->n;
  size_t n_errors = others->n_errors, n_warnings = others->n_warnings;
  for (size_t i = 0; i < others->n; i++) {
    const yoke_message* m = &others->all[i];
    size_t k = 0;
    while (k < n_known && !is_same(&list->all[k], m)) {
      k++;
    }
    if (k == n_known) {
      yoke__messages_add(list, m);
    }
    n_errors -= m->severity == YOKE_ERROR;
    n_warnings -= m->severity == YOKE_WARNING;
  }
  // those that were only counted
  list->n_dropped += others->n_dropped;
  note_shortage(list, others->shortage);
  list->n_errors += n_errors;
  list->n_warnings += n_warnings;
}

static void receive(void* to, const yoke_message* message) {
  yoke__messages_add(to, message);
}

yoke_sink yoke__messages_sink(yoke_messages* list) {
  return (yoke_sink){receive, list};
}

static yoke_message message_at(yoke_severity severity, yoke_status status, yoke_place place,
                               const char* text) {
  return (yoke_message){.severity = severity,
                        .status = status,
                        .file = place.source,
                        .line = place.line,
                        .column = place.column,
                        .time = (double)NAN,
                        .text = text};
}

void yoke__message_addv(yoke_messages* list, yoke_severity severity, yoke_place place,
                        const char* format, va_list args) {
  char text[YOKE_MESSAGE_TEXT_SIZE];
  vsnprintf(text, sizeof text, format, args);
  const yoke_status status = severity == YOKE_ERROR ? YOKE_BAD_INPUT : YOKE_OK;
  const yoke_message message = message_at(severity, status, place, text);
  yoke__messages_add(list, &message);
}

yoke_status yoke__fail_at(const yoke_sink* sink, yoke_status status, yoke_place place,
                          const char* format, ...) {
  char text[YOKE_MESSAGE_TEXT_SIZE];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  const yoke_message message = message_at(YOKE_ERROR, status, place, text);
  yoke_send(sink, &message);
  return status;
}

yoke_status yoke__messages_fail(yoke_messages* list, yoke_status status, yoke_place place,
                                const char* format, ...) {
  char text[YOKE_MESSAGE_TEXT_SIZE];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  const yoke_message message = message_at(YOKE_ERROR, status, place, text);
  yoke__messages_add(list, &message);
  return status;
}

static void add_context(void* to, const yoke_message* message) {
  const yoke_context* context = to;
  yoke_message full = *message;
  if (full.file == NULL) {
    full.file = context->place.source;
  }
  if (message->file == NULL && full.line == 0) {
    full.line = context->place.line;
    full.column = context->place.column;
  }
  if (full.unit == NULL) {
    full.unit = context->unit;
  }
  if (isnan(full.time)) {
    full.time = context->time;
  }
  yoke_send(context->outer, &full);
}

yoke_context* yoke__context_init(yoke_context* context, const yoke_sink* outer, yoke_place place,
                                 const char* unit, double time) {
  *context = (yoke_context){{add_context, context}, outer, place, unit, time};
  return context;
}

void yoke__caught_receive(void* to, const yoke_message* message) {
  yoke_caught* caught = to;
  snprintf(caught->text, sizeof caught->text, "%s", message->text);
}

void yoke__message_add(yoke_messages* list, yoke_severity severity, yoke_place place,
                       const char* format, ...) {
  va_list args;
  va_start(args, format);
  yoke__message_addv(list, severity, place, format, args);
  va_end(args);
}

yoke_status yoke__error(yoke_messages* list, yoke_place place, const char* format, ...) {
  va_list args;
  va_start(args, format);
  yoke__message_addv(list, YOKE_ERROR, place, format, args);
  va_end(args);
  return YOKE_BAD_INPUT;
}

yoke_status yoke__error_near(yoke_messages* list, yoke_place place, const char* nearest,
                             const char* format, ...) {
  char text[YOKE_MESSAGE_TEXT_SIZE], hint[YOKE_MESSAGE_TEXT_SIZE];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  yoke_message message = message_at(YOKE_ERROR, YOKE_BAD_INPUT, place, text);
  if (nearest != NULL) {
    snprintf(hint, sizeof hint, "did you mean '%s'?", nearest);
    message.hint = hint;
  }
  yoke__messages_add(list, &message);
  return YOKE_BAD_INPUT;
}

// by file, line, column; equal places stay in the order in which they were found
static int compare_places(const void* left, const void* right) {
  const yoke_message *p = *(const yoke_message*const*)left, *q = *(const yoke_message*const*)right;
  if (p->file != NULL && q->file != NULL) {
    const int order = strcmp(p->file, q->file);
    if (order != 0) {
      return order;
    }
  } else if (p->file != q->file) {
    return p->file == NULL ? 1 : -1;
  }
  if (p->line != q->line) {
    return p->line < q->line ? -1 : 1;
  }
  if (p->column != q->column) {
    return p->column < q->column ? -1 : 1;
  }
  return p < q ? -1 : p > q;
}

size_t yoke_message_format(const yoke_message* message, char* to, size_t size) {
  static const char* const words[] = {"note", "warning", "error"};
  char where[64] = "", about[512] = "", time[64] = "";
  size = to == NULL ? 0 : size;
  if (size > 0) {
    to[0] = '\0';
  }
  if (message == NULL || message->text == NULL || (unsigned)message->severity > YOKE_ERROR) {
    return 0;
  }
  const bool has_file = message->file != NULL;
  if (message->line > 0) {
    const int n = snprintf(where, sizeof where, "%s%d", has_file ? ":" : "line ", message->line);
    if (message->column > 0) {
      snprintf(where + n, sizeof where - (size_t)n, ":%d", message->column);
    }
  }
  // the time may be off the grid by its last bit
  const bool has_time = !isnan(message->time);
  if (has_time) {
    snprintf(time, sizeof time, "at t = %.12g s: ", message->time);
  }
  if (message->unit != NULL) {
    snprintf(about, sizeof about, "unit '%.400s'%s", message->unit, has_time ? " " : ": ");
  }
  const char* file = has_file ? message->file : "";
  const size_t length = strlen(file);
  const bool is_long = length > MAX_SOURCE;
  const char* hint = message->hint == NULL ? "" : message->hint;
  const int n = snprintf(to, size, "%s%s%s%s%s: %s%s%s%s%s", is_long ? "..." : "",
                         is_long ? file + length - MAX_SOURCE : file, where,
                         has_file || where[0] != '\0' ? ": " : "", words[message->severity], about,
                         time, message->text, hint[0] == '\0' ? "" : "; ", hint);
  // texts of units and foreign binaries may hold anything; this is one line
  for (size_t i = 0; i < size && to[i] != '\0'; i++) {
    if ((unsigned char)to[i] < ' ' || to[i] == '\x7f') {
      to[i] = ' ';
    }
  }
  return n < 0 ? 0 : (size_t)n;
}

static size_t format_line(const yoke_message* message, char to[LINE_SIZE]) {
  size_t n = yoke_message_format(message, to, LINE_SIZE - 1);
  n = n < LINE_SIZE - 2 ? n : LINE_SIZE - 2;
  to[n] = '\n';
  to[n + 1] = '\0';
  return n + 1;
}

// all messages in order; the caller frees; NULL if there are none or memory is out
static const yoke_message** sort_messages(const yoke_messages* list, size_t* n) {
  *n = 0;
  // NOLINTNEXTLINE(bugprone-sizeof-expression): the elements are pointers
  const yoke_message** sorted = list->n == 0 ? NULL : malloc(list->n * sizeof *sorted);
  if (sorted == NULL) {
    return NULL;
  }
  *n = list->n;
  for (size_t i = 0; i < list->n; i++) {
    sorted[i] = &list->all[i];
  }
  // NOLINTNEXTLINE(bugprone-sizeof-expression): the elements are pointers
  qsort(sorted, *n, sizeof *sorted, compare_places);
  return sorted;
}

size_t yoke__messages_send(const yoke_messages* list, const yoke_sink* sink) {
  size_t n = 0, n_errors = 0;
  const yoke_message** all = sort_messages(list, &n);
  for (size_t i = 0; i < n; i++) {
    yoke_send(sink, all[i]);
    n_errors += all[i]->severity == YOKE_ERROR;
  }
  if (list->n_dropped > 0) {
    char text[64];
    snprintf(text, sizeof text, "... and %zu more", list->n_dropped);
    const yoke_message rest = message_at(YOKE_NOTE, YOKE_OK, (yoke_place){0}, text);
    yoke_send(sink, &rest);
  }
  free((void*)all);
  return n_errors;
}

void yoke__messages_print(const yoke_messages* list, FILE* to) {
  size_t n = 0;
  const yoke_message** all = sort_messages(list, &n);
  char line[LINE_SIZE];
  for (size_t i = 0; i < n; i++) {
    format_line(all[i], line);
    fputs(line, to);
  }
  if (list->n_dropped > 0) {
    fprintf(to, "... and %zu more\n", list->n_dropped);
  }
  free((void*)all);
}

void yoke__messages_format(const yoke_messages* list, char* to, size_t size) {
  if (to == NULL || size == 0) {
    return;
  }
  to[0] = '\0';
  size_t n = 0, used = 0, n_left_out = list->n_dropped;
  const yoke_message** all = sort_messages(list, &n);
  for (size_t i = 0; i < n; i++) {
    // keep 32 bytes for the closing count
    char line[LINE_SIZE];
    size_t length = format_line(all[i], line);
    if (used + length + 32 > size) {
      if (used > 0 || size < 64) {
        n_left_out++;
        continue;
      }
      // of a long first message the beginning says more than nothing
      length = size - 32;
      line[length - 1] = '\n';
      line[length] = '\0';
    }
    memcpy(to + used, line, length + 1);
    used += length;
  }
  if (n_left_out > 0) {
    snprintf(to + used, size - used, "... and %zu more\n", n_left_out);
  }
  free((void*)all);
}

void yoke__messages_free(yoke_messages* list) {
  yoke__arena_free(&list->arena);
  *list = (yoke_messages){0};
}

static int lower(char c) {
  return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

// Edit distance with swaps of neighbours (Damerau, restricted), case ignored; gives up above limit.
static int edit_distance(const char* a, const char* b, int limit) {
  const int n = (int)strlen(a), m = (int)strlen(b);
  if (n > MAX_NAME || m > MAX_NAME || abs(n - m) > limit) {
    return limit + 1;
  }
  int rows[3][MAX_NAME + 1];
  int *before = rows[0], *last = rows[1], *now = rows[2];
  for (int j = 0; j <= m; j++) {
    last[j] = j;
    before[j] = 0;
  }
  for (int i = 1; i <= n; i++) {
    now[0] = i;
    for (int j = 1; j <= m; j++) {
      const int change = last[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
      const int drop = last[j] + 1, insert = now[j - 1] + 1;
      int best = change < drop ? change : drop;
      best = insert < best ? insert : best;
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1]) && before[j - 2] + 1 < best) {
        best = before[j - 2] + 1;
      }
      now[j] = best;
    }
    int* rotate = before;
    before = last;
    last = now;
    now = rotate;
  }
  return last[m];
}

const char* yoke__nearest_name(const char* name, const char* const names[], size_t n) {
  const size_t length = strlen(name);
  int limit = (int)(length / 3);
  limit = limit < 1 ? 1 : limit;
  const char* best = NULL;
  int best_distance = limit + 1;
  for (size_t i = 0; i < n; i++) {
    if (names[i] == NULL || strcmp(names[i], name) == 0) {
      continue;
    }
    const int distance = edit_distance(name, names[i], limit);
    // a one-letter name replaced by another is no typing mistake
    const int most = (int)(strlen(names[i]) > length ? strlen(names[i]) : length);
    if (distance < best_distance && distance < most) {
      best = names[i];
      best_distance = distance;
    }
  }
  return best;
}

const char* yoke__nearest_hint(const char* name, const char* const names[], size_t n,
                               char to[YOKE_NEAREST_SIZE]) {
  const char* nearest = yoke__nearest_name(name, names, n);
  to[0] = '\0';
  if (nearest != NULL) {
    snprintf(to, YOKE_NEAREST_SIZE, "; did you mean '%.100s'?", nearest);
  }
  return to;
}

const char* yoke__nearer_name(const char* name, const char* best, const char* other) {
  return yoke__nearest_name(name, (const char* const[]){best, other}, 2);
}

void yoke__notify(const yoke_sink* sink, yoke_severity severity, const char* format, ...) {
  char text[YOKE_MESSAGE_TEXT_SIZE];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  yoke_send(sink, &(yoke_message){.severity = severity, .time = (double)NAN, .text = text});
}
