// Collected messages with positions, and the search for the name a user probably meant.
#include "base/base_message.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_MESSAGES 1000  // a broken generator must not fill the memory
#define MAX_NAME     128   // names longer than this are not compared
#define MAX_SOURCE   512   // of a longer path the end is shown
#define LINE_SIZE    2048  // takes any message

bool yoke__messages_is_full(const yoke_messages* list) {
  return list->n_errors + list->n_warnings >= MAX_MESSAGES;
}

void yoke__message_addv(yoke_messages* list, yoke_severity severity, yoke_place place,
                        const char* format, va_list args) {
  const bool is_full = yoke__messages_is_full(list);
  list->n_errors += severity == YOKE_ERROR;
  list->n_warnings += severity == YOKE_WARNING;
  if (is_full) {
    list->n_dropped++;
    return;
  }

  // the text and its source are copied, so that messages outlive what they speak of
  char text[1024];
  vsnprintf(text, sizeof text, format, args);
  yoke_message* message = yoke__arena_take(&list->arena, sizeof *message);
  const char* copy = yoke__arena_text(&list->arena, text, strlen(text));
  const char* source = place.source == NULL
                           ? NULL
                           : yoke__arena_text(&list->arena, place.source, strlen(place.source));
  if (message == NULL || copy == NULL) {
    list->n_dropped++;
    return;
  }
  message->severity = severity;
  message->place = place;
  message->place.source = source;
  message->text = copy;
  if (list->last == NULL) {
    list->first = message;
  } else {
    list->last->next = message;
  }
  list->last = message;
}

void yoke__message_add(yoke_messages* list, yoke_severity severity, yoke_place place,
                       const char* format, ...) {
  va_list args;
  va_start(args, format);
  yoke__message_addv(list, severity, place, format, args);
  va_end(args);
}

void yoke__error(yoke_messages* list, yoke_place place, const char* format, ...) {
  va_list args;
  va_start(args, format);
  yoke__message_addv(list, YOKE_ERROR, place, format, args);
  va_end(args);
}

// by source, line, column; equal places stay in the order in which they were found
typedef struct ranked {
  const yoke_message* message;
  size_t rank;
} ranked;

static int compare_places(const void* left, const void* right) {
  const ranked* a = left;
  const ranked* b = right;
  const yoke_place *p = &a->message->place, *q = &b->message->place;
  if (p->source != NULL && q->source != NULL) {
    const int order = strcmp(p->source, q->source);
    if (order != 0) {
      return order;
    }
  } else if (p->source != q->source) {
    return p->source == NULL ? 1 : -1;
  }
  if (p->line != q->line) {
    return p->line < q->line ? -1 : 1;
  }
  if (p->column != q->column) {
    return p->column < q->column ? -1 : 1;
  }
  return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static size_t format_line(const yoke_message* message, char* to, size_t size) {
  static const char* const words[] = {"note", "warning", "error"};
  char where[64] = "";
  if (message->place.line > 0 && message->place.column > 0) {
    snprintf(where, sizeof where, ":%d:%d", message->place.line, message->place.column);
  } else if (message->place.line > 0) {
    snprintf(where, sizeof where, ":%d", message->place.line);
  }
  const char* source = message->place.source == NULL ? "" : message->place.source;
  const size_t length = strlen(source);
  const bool is_long = length > MAX_SOURCE;
  const int n =
      snprintf(to, size, "%s%s%s%s%s: %s\n", is_long ? "..." : "",
               is_long ? source + length - MAX_SOURCE : source, where,
               message->place.source == NULL ? "" : ": ", words[message->severity], message->text);
  return n < 0 ? 0 : (size_t)n;
}

// all messages in order; the caller frees; NULL if there are none or memory is out
static ranked* sort_messages(const yoke_messages* list, size_t* n) {
  *n = 0;
  for (const yoke_message* m = list->first; m != NULL; m = m->next) {
    (*n)++;
  }
  ranked* all = *n == 0 ? NULL : malloc(*n * sizeof *all);
  if (all == NULL) {
    *n = 0;
    return NULL;
  }
  size_t i = 0;
  for (const yoke_message* m = list->first; m != NULL; m = m->next, i++) {
    all[i] = (ranked){m, i};
  }
  qsort(all, *n, sizeof *all, compare_places);
  return all;
}

void yoke__messages_print(const yoke_messages* list, FILE* to) {
  size_t n = 0;
  ranked* all = sort_messages(list, &n);
  char line[LINE_SIZE];
  for (size_t i = 0; i < n; i++) {
    format_line(all[i].message, line, sizeof line);
    fputs(line, to);
  }
  if (list->n_dropped > 0) {
    fprintf(to, "... and %zu more\n", list->n_dropped);
  }
  free(all);
}

void yoke__messages_format(const yoke_messages* list, char* to, size_t size) {
  if (to == NULL || size == 0) {
    return;
  }
  to[0] = '\0';
  size_t n = 0, used = 0, n_left_out = list->n_dropped;
  ranked* all = sort_messages(list, &n);
  for (size_t i = 0; i < n; i++) {
    // keep 32 bytes for the closing count
    char line[LINE_SIZE];
    size_t length = format_line(all[i].message, line, sizeof line);
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
  free(all);
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
