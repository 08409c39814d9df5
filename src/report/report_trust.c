// Error bands for the page. The bands over time of thousands of signals would make it larger than everything else:
// they travel as base 64 of doubles, share their times, and are thinned where there are many. A thinned band never falls
// below the full one: each of its points is the largest of all up to its two neighbours, and lines are drawn between them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_map.h"
#include "report/report_parts.h"

#define MAX_COURSE_CHARS 500000.0  // of all bands together
#define CHARS_PER_POINT  (8 * 4.0 / 3.0)
#define MIN_POINTS       20u

// The courses of a summary, one after the other.
typedef struct courses {
  size_t max_points;  // of one signal
  json_t* times;      // array of encoded times, each used by one or more signals
  char* last;         // the latest of them
} courses;

// Two arrays of equally many numbers, the first of them rising; null is NaN in the second.
static size_t course_size(const json_t* course) {
  const json_t *t = json_object_get(course, "t"), *band = json_object_get(course, "band");
  const size_t n = json_array_size(t);
  if (n < 2 || json_array_size(band) != n) {
    return 0;
  }
  for (size_t i = 0; i < n; i++) {
    const json_t* time = json_array_get(t, i);
    if (!json_is_number(time) ||
        (i > 0 && !(json_number_value(time) > json_number_value(json_array_get(t, i - 1))))) {
      return 0;
    }
  }
  return n;
}

static double band_at(const json_t* band, size_t i) {
  const json_t* value = json_array_get(band, i);
  return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

// The largest of points first..last; NaN only if none is a number.
static double largest(const json_t* band, size_t first, size_t last) {
  double most = (double)NAN;
  for (size_t i = first; i <= last; i++) {
    const double value = band_at(band, i);
    most = value > most || most != most ? value : most;
  }
  return most;
}

// Every stride-th point and the last one. Returns how many.
static size_t thin(const json_t* course, size_t n, size_t stride, double t[], double band[]) {
  const json_t *times = json_object_get(course, "t"), *bands = json_object_get(course, "band");
  size_t n_kept = 0;
  for (size_t i = 0; i < n; i = i == n - 1 || i + stride < n ? i + stride : n - 1) {
    // up to the neighbours, but not with them: what lies there is in their own values
    const size_t first = i < stride ? 0 : i + 1 - stride;
    const size_t last = i + stride - 1 < n ? i + stride - 1 : n - 1;
    t[n_kept] = json_number_value(json_array_get(times, i));
    band[n_kept] = largest(bands, first, last);
    n_kept++;
  }
  return n_kept;
}

static yoke_status set_text(json_t* object, const char* key, const char* text) {
  return text != NULL && json_object_set_new(object, key, json_string(text)) == 0 ? YOKE_OK
                                                                                  : YOKE_NO_MEMORY;
}

// Index of the times in the list; most signals have those of the signal before.
static yoke_status share_times(courses* all, const double t[], size_t n, size_t* index) {
  char* text = yoke__report_encode_doubles(t, n);
  YOKE_TRY_MEMORY(text);
  if (all->last == NULL || strcmp(all->last, text) != 0) {
    if (json_array_append_new(all->times, json_string(text)) != 0) {
      free(text);
      return YOKE_NO_MEMORY;
    }
    free(all->last);
    all->last = text;
  } else {
    free(text);
  }
  *index = json_array_size(all->times) - 1;
  return YOKE_OK;
}

static yoke_status shorten_course(courses* all, json_t* signal, double numbers[]) {
  const json_t* course = json_object_get(signal, "course");
  const size_t n = course_size(course);
  const size_t stride = (n - 1 + all->max_points - 2) / (all->max_points - 1);
  double *t = numbers, *band = numbers + n;
  const size_t n_kept = thin(course, n, stride, t, band);
  size_t index = 0;
  YOKE_TRY(share_times(all, t, n_kept, &index));
  json_t* shortened = json_object();
  YOKE_TRY_MEMORY(shortened);
  char* text = yoke__report_encode_doubles(band, n_kept);
  yoke_status status = set_text(shortened, "band", text);
  free(text);
  if (status >= 0 && (json_object_set_new(shortened, "times", json_real((double)index)) != 0 ||
                      json_object_set(signal, "course", shortened) != 0)) {
    status = YOKE_NO_MEMORY;
  }
  json_decref(shortened);
  return status;
}

// Drops the courses that cannot be drawn; counts the others and finds the longest.
static yoke_status drop_courses(const json_t* signals, const yoke_csv* table, size_t* n_courses,
                                size_t* longest) {
  yoke_arena arena = {0};
  yoke_map columns;
  yoke_status status = yoke__map_create(table->n_columns, &arena, &columns);
  for (size_t i = 1; status >= 0 && i < table->n_columns; i++) {
    yoke__map_add(&columns, table->columns[i].name, i);
  }
  json_t* signal = NULL;
  size_t i = 0;
  json_array_foreach(signals, i, signal) {
    if (status < 0 || json_object_get(signal, "course") == NULL) {
      continue;
    }
    const size_t n = course_size(json_object_get(signal, "course"));
    const char* name = yoke__json_find_text(signal, "name", "");
    if (n == 0 || yoke__map_find(&columns, name) == YOKE_NOT_FOUND) {
      json_object_del(signal, "course");
      continue;
    }
    ++*n_courses;
    *longest = n > *longest ? n : *longest;
  }
  yoke__arena_free(&arena);
  return status;
}

yoke_status yoke__report_shorten_trust(json_t* summary, const yoke_csv* table) {
  json_t* trust = json_object_get(summary, "trust");
  const json_t* signals = json_object_get(trust, "signals");
  size_t n_courses = 0, longest = 0, i = 0;
  YOKE_TRY(drop_courses(signals, table, &n_courses, &longest));
  if (n_courses == 0) {
    return YOKE_OK;
  }
  const double room = MAX_COURSE_CHARS / CHARS_PER_POINT / (double)n_courses;
  courses all = {.times = json_array(),
                 .max_points = room < MIN_POINTS ? MIN_POINTS : (size_t)room};
  double* numbers = malloc(2 * longest * sizeof *numbers);
  yoke_status status = all.times == NULL || numbers == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  json_t* signal = NULL;
  json_array_foreach(signals, i, signal) {
    if (status >= 0 && json_object_get(signal, "course") != NULL) {
      status = shorten_course(&all, signal, numbers);
    }
  }
  if (status >= 0 && json_object_set(trust, "times", all.times) != 0) {
    status = YOKE_NO_MEMORY;
  }
  json_decref(all.times);
  free(all.last);
  free(numbers);
  return status;
}
