// Small parts of the reader: growing arrays, names, and attributes as values.
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "fmi/fmi_reader.h"

// ---- growing arrays

void* yoke__fmi_list_add(yoke_fmi_reader* reader, yoke_fmi_list* list, size_t size) {
  assert(size <= sizeof reader->spare);
  if (list->n == list->room) {
    const size_t room = list->room == 0 ? 16 : 2 * list->room;
    void* grown = room > SIZE_MAX / 2 / size ? NULL : realloc(list->items, room * size);
    if (grown == NULL) {
      reader->status = YOKE_NO_MEMORY;
      return reader->spare;
    }
    list->items = grown;
    list->room = room;
  }
  void* item = (char*)list->items + list->n++ * size;
  memset(item, 0, size);
  return item;
}

void* yoke__fmi_list_take(yoke_fmi_reader* reader, yoke_fmi_list* list, size_t size) {
  void* all = yoke__arena_array(&reader->d->arena, list->n, size);
  if (all == NULL) {
    reader->status = YOKE_NO_MEMORY;
  } else if (list->n > 0) {
    memcpy(all, list->items, list->n * size);
  }
  free(list->items);
  *list = (yoke_fmi_list){0};
  return all;
}

// ---- names

size_t yoke__fmi_names_find(const yoke_fmi_names* names, const char* name) {
  return names->room == 0 ? YOKE_NOT_FOUND : yoke__map_find(&names->map, name);
}

size_t yoke__fmi_names_add(yoke_fmi_reader* reader, yoke_fmi_names* names, const char* kept) {
  // the table has a fixed size: a new one of twice the size takes over
  if (names->texts.n >= names->room) {
    const size_t room = names->room == 0 ? 64 : 2 * names->room;
    if (yoke__map_create(room, &reader->d->arena, &names->map) < 0) {
      reader->status = YOKE_NO_MEMORY;
      return YOKE_NOT_FOUND;
    }
    const char* const* texts = names->texts.items;
    for (size_t i = 0; i < names->texts.n; i++) {
      yoke__map_add(&names->map, texts[i], i);
    }
    names->room = room;
  }
  const size_t found = yoke__map_add(&names->map, kept, names->texts.n);
  if (found == YOKE_NOT_FOUND) {
    *(const char**)yoke__fmi_list_add(reader, &names->texts, sizeof kept) = kept;
  }
  return found;
}

// ---- words and numbers

const char* yoke__fmi_token(const char** at, size_t* n) {
  const char* start = *at;
  while (yoke__is_blank(*start)) {
    start++;
  }
  const char* end = start;
  while (*end != '\0' && !yoke__is_blank(*end)) {
    end++;
  }
  *at = end;
  *n = (size_t)(end - start);
  return end == start ? NULL : start;
}

bool yoke__fmi_scan_integer(const char* text, size_t n, bool* is_negative, uint64_t* magnitude,
                            bool* has_overflow) {
  size_t i = n > 0 && (text[0] == '-' || text[0] == '+');
  *is_negative = n > 0 && text[0] == '-';
  *magnitude = 0;
  *has_overflow = false;
  if (i == n) {
    return false;
  }
  for (; i < n; i++) {
    if (text[i] < '0' || text[i] > '9') {
      return false;
    }
    const uint64_t digit = (uint64_t)(text[i] - '0');
    if (*magnitude > (UINT64_MAX - digit) / 10) {
      *has_overflow = true;
      continue;
    }
    *magnitude = 10 * *magnitude + digit;
  }
  return true;
}

bool yoke__fmi_scan_reference(const char* text, size_t n, uint32_t* out) {
  bool is_negative = false, has_overflow = false;
  uint64_t value = 0;
  if (!yoke__fmi_scan_integer(text, n, &is_negative, &value, &has_overflow) || has_overflow ||
      (is_negative && value != 0) || value > UINT32_MAX) {
    return false;
  }
  *out = (uint32_t)value;
  return true;
}

// ---- attributes

static void note_bad(yoke_fmi_reader* reader, yoke_fmi_attribute attribute, const char* wanted) {
  YOKE_FMI_FAULT(reader, ATTRIBUTE_BAD, reader->line, "%s=\"%s\" of <%s> is not %s",
                 yoke__fmi_attribute_name(attribute), reader->values[attribute], reader->element,
                 wanted);
}

// the only word of the attribute; NULL if there is none or several
static const char* only_word(const char* text, size_t* n) {
  const char* at = text;
  const char* word = yoke__fmi_token(&at, n);
  size_t n_more = 0;
  return word != NULL && yoke__fmi_token(&at, &n_more) == NULL ? word : NULL;
}

bool yoke__fmi_flag(yoke_fmi_reader* reader, yoke_fmi_attribute attribute, bool otherwise) {
  const char* text = reader->values[attribute];
  if (text == NULL) {
    return otherwise;
  }
  if (strcmp(text, "true") == 0 || strcmp(text, "1") == 0) {
    return true;
  }
  if (strcmp(text, "false") == 0 || strcmp(text, "0") == 0) {
    return false;
  }
  note_bad(reader, attribute, "true or false");
  return otherwise;
}

double yoke__fmi_number(yoke_fmi_reader* reader, yoke_fmi_attribute attribute, double otherwise) {
  const char* text = reader->values[attribute];
  if (text == NULL) {
    return otherwise;
  }
  size_t n = 0;
  double value = 0;
  const char* word = only_word(text, &n);
  if (word == NULL || yoke__number_scan(word, word + n, &value) != word + n) {
    note_bad(reader, attribute, "a number");
    return otherwise;
  }
  return value;
}

int64_t yoke__fmi_integer(yoke_fmi_reader* reader, yoke_fmi_attribute attribute, int64_t otherwise,
                          int64_t low, int64_t high) {
  const char* text = reader->values[attribute];
  if (text == NULL) {
    return otherwise;
  }
  size_t n = 0;
  bool is_negative = false, has_overflow = false;
  uint64_t value = 0;
  const char* word = only_word(text, &n);
  if (word == NULL || !yoke__fmi_scan_integer(word, n, &is_negative, &value, &has_overflow) ||
      has_overflow || value > (uint64_t)INT64_MAX) {
    note_bad(reader, attribute, "an integer");
    return otherwise;
  }
  const int64_t result = is_negative ? -(int64_t)value : (int64_t)value;
  if (result < low || result > high) {
    note_bad(reader, attribute, "in its range");
    return otherwise;
  }
  return result;
}

int yoke__fmi_word(yoke_fmi_reader* reader, yoke_fmi_attribute attribute,
                   const char* const words[]) {
  const char* text = reader->values[attribute];
  if (text == NULL) {
    return -1;
  }
  for (size_t i = 0; words[i] != NULL; i++) {
    if (strcmp(text, words[i]) == 0) {
      return (int)i;
    }
  }
  note_bad(reader, attribute, "a word of the standard");
  return -1;
}
