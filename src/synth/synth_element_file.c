// Coupling elements to JSON and back; the form of the file is drawn in synth_element_file.h.
#include "synth/synth_element_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_json_read.h"
#include "base/base_message.h"
#include "base/base_os.h"

#define CLOSE   1e-9
#define FIGURES 1e-6  // of gamma and the largest gain: small differences of large numbers

static const char* const keys[] = {
    "format", "version",     "interval",     "step",           "recipe",
    "pole",   "delay",       "order",        "transparent",    "smoother_frequency",
    "gamma",  "direct_gain", "largest_gain", "band_frequency",
};
static const char* const keys_of_cascade[] = {"coefficients"};
static const char* const keys_of_model[] = {"A", "B", "C", "D", "model_gamma"};

// ---- writing

static void write_list(yoke_json* json, const char* key, size_t n, const double values[]) {
  yoke__json_begin_array(json, key);
  for (size_t i = 0; i < n; i++) {
    yoke__json_number(json, NULL, values[i]);
  }
  yoke__json_end_array(json);
}

static void write_model(yoke_json* json, const yoke_synth_model* m) {
  yoke__json_begin_array(json, "A");
  for (size_t i = 0; i < m->n; i++) {
    write_list(json, NULL, m->n, m->A + i * m->n);
  }
  yoke__json_end_array(json);
  write_list(json, "B", m->n, m->B);
  write_list(json, "C", m->n, m->C);
  yoke__json_number(json, "D", m->D);
}

yoke_status yoke__synth_element_format(const yoke_synth_design* d, yoke_json* json) {
  const yoke_synth_settings* s = &d->settings;
  const bool is_general = d->model.n > 0;
  yoke__json_begin_document(json, "element");
  yoke__json_number(json, "interval", s->interval);
  yoke__json_number(json, "step", s->step);
  yoke__json_string(json, "recipe", yoke__synth_recipe_name(s->recipe));
  yoke__json_number(json, "smoother_frequency", s->smoother_hz);
  yoke__json_number(json, "pole", s->pole);
  yoke__json_number(json, "band_frequency", s->band_hz);
  yoke__json_number(json, "delay", s->delay);
  yoke__json_integer(json, "order", (int64_t)s->order);
  yoke__json_boolean(json, "transparent", s->is_transparent);
  if (is_general) {
    write_model(json, &d->model);
  } else {
    write_list(json, "coefficients", s->order + 1, d->element.c);
  }
  yoke__json_number(json, "gamma", d->gamma);
  yoke__json_number(json, "direct_gain", d->direct_gain);
  yoke__json_number(json, "largest_gain", d->largest_gain);
  if (is_general) {
    yoke__json_number(json, "model_gamma", d->model_gamma);
  }
  yoke__json_end_object(json);
  return yoke__json_finish(json);
}

yoke_status yoke__synth_element_write(const char* path, const yoke_synth_design* d,
                                      const yoke_sink* sink) {
  yoke_json json = {0};
  yoke_status status = yoke__synth_element_format(d, &json);
  if (status < 0) {
    yoke_fail(sink, status, "cannot write %s: %s", path, yoke_status_text(status));
  } else {
    status = yoke__os_write_file(path, json.text.bytes, json.text.n, sink);
  }
  yoke__json_free(&json);
  return status;
}

// ---- reading

static yoke_status read_number(const json_t* from, const char* key, double* to,
                               const yoke_sink* sink) {
  const json_t* v = json_object_get(from, key);
  if (!json_is_number(v)) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "expected '%s': a number", key);
  }
  *to = json_number_value(v);
  return YOKE_OK;
}

static bool is_among(const char* key, const char* const list[], size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (strcmp(key, list[i]) == 0) {
      return true;
    }
  }
  return false;
}

static yoke_status check_keys(json_t* root, bool is_general, const yoke_sink* sink) {
  const char* key;
  json_t* value;
  json_object_foreach(root, key, value) {
    const bool is_known =
        is_among(key, keys, YOKE_COUNT(keys)) ||
        (is_general ? is_among(key, keys_of_model, YOKE_COUNT(keys_of_model))
                    : is_among(key, keys_of_cascade, YOKE_COUNT(keys_of_cascade)));
    if (!is_known) {
      return yoke_fail(sink, YOKE_BAD_INPUT, "unknown key '%.80s' in an element file", key);
    }
  }
  return YOKE_OK;
}

static yoke_status check_format(json_t* root, const yoke_sink* sink) {
  if (strcmp(yoke__json_find_text(root, "format", ""), "yoke-element") != 0) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "not a file of a coupling element: expected 'format': \"yoke-element\"");
  }
  const double version = yoke__json_find_number(root, "version", 0.0);
  if (version != 1.0) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "version %g of a coupling element, this program reads version 1", version);
  }
  return YOKE_OK;
}

static yoke_status read_settings(json_t* root, yoke_synth_settings* s, const yoke_sink* sink) {
  const char* recipe = yoke__json_find_text(root, "recipe", "");
  const json_t* transparent = json_object_get(root, "transparent");
  double order = 0.0;
  const bool is_found = yoke__synth_recipe_find(recipe, &s->recipe);
  YOKE_TRY(check_keys(root, is_found && s->recipe == YOKE_RECIPE_GENERAL, sink));
  if (!is_found) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "expected 'recipe': T, L, custom or general, found '%.80s'", recipe);
  }
  if (!json_is_boolean(transparent)) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "expected 'transparent': true or false");
  }
  s->is_transparent = json_is_true(transparent);
  YOKE_TRY(read_number(root, "interval", &s->interval, sink));
  YOKE_TRY(read_number(root, "step", &s->step, sink));
  YOKE_TRY(read_number(root, "smoother_frequency", &s->smoother_hz, sink));
  YOKE_TRY(read_number(root, "pole", &s->pole, sink));
  YOKE_TRY(read_number(root, "band_frequency", &s->band_hz, sink));
  YOKE_TRY(read_number(root, "delay", &s->delay, sink));
  YOKE_TRY(read_number(root, "order", &order, sink));
  if (!(order >= 1 && order <= YOKE_SYNTH_ORDER_MAX && floor(order) == order)) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "expected 'order': a whole number from 1 to %d, found %g",
                     YOKE_SYNTH_ORDER_MAX, order);
  }
  s->order = (size_t)order;
  return yoke__synth_settings_check(s, sink);
}

// n numbers; `meaning` of n: "order + 1 = 5".
static yoke_status read_list(const json_t* list, const char* key, const char* meaning, size_t n,
                             double to[], const yoke_sink* sink) {
  if (!json_is_array(list) || json_array_size(list) != n) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "expected '%s': a list of %s%zu numbers, found %zu", key,
                     meaning, n, json_array_size(list));
  }
  for (size_t i = 0; i < n; i++) {
    const json_t* v = json_array_get(list, i);
    if (!json_is_number(v)) {
      return yoke_fail(sink, YOKE_BAD_INPUT, "expected numbers in '%s'", key);
    }
    to[i] = json_number_value(v);
  }
  return YOKE_OK;
}

static yoke_status read_model(const json_t* root, size_t n, yoke_synth_model* m,
                              const yoke_sink* sink) {
  const json_t* rows = json_object_get(root, "A");
  m->n = n;
  if (!json_is_array(rows) || json_array_size(rows) != n) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "expected 'A': a list of order = %zu rows of as many numbers, found %zu", n,
                     json_array_size(rows));
  }
  for (size_t i = 0; i < n; i++) {
    YOKE_TRY(read_list(json_array_get(rows, i), "A", "rows of order = ", n, m->A + i * n, sink));
  }
  YOKE_TRY(read_list(json_object_get(root, "B"), "B", "order = ", n, m->B, sink));
  YOKE_TRY(read_list(json_object_get(root, "C"), "C", "order = ", n, m->C, sink));
  return read_number(root, "D", &m->D, sink);
}

static yoke_status check_constraints(const yoke_synth_settings* s, const double c[],
                                     const yoke_sink* sink) {
  static const char* const texts[] = {"gain 1 at frequency 0", "slope 0 at frequency 0",
                                      "D1 D2 = 1 (transparent)"};
  double misses[3];
  yoke__synth_constraints(s, c, misses);
  for (size_t i = 0; i < 3; i++) {
    if (!(fabs(misses[i]) <= CLOSE)) {
      return yoke_fail(sink, YOKE_BAD_INPUT,
                       "the coefficients contradict the rest of the file: they miss %s by %.3g",
                       texts[i], misses[i]);
    }
  }
  return YOKE_OK;
}

// A figure of the file is that of its coefficients.
static yoke_status check_figure(const json_t* root, const char* key, double* figure,
                                double tolerance, const yoke_sink* sink) {
  double found = 0.0;
  YOKE_TRY(read_number(root, key, &found, sink));
  if (!(fabs(found - *figure) <= tolerance * fmax(1e-12, fabs(*figure)))) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "'%s' contradicts the rest of the file: found %.10g, expected %.10g", key,
                     found, *figure);
  }
  *figure = found;
  return YOKE_OK;
}

static yoke_status read_lead(const json_t* root, yoke_synth_design* d, const yoke_sink* sink) {
  double c[YOKE_SYNTH_ORDER_MAX + 1] = {0};
  const size_t n = d->settings.order;
  if (d->settings.recipe == YOKE_RECIPE_GENERAL) {
    YOKE_TRY(read_model(root, n, &d->model, sink));
    YOKE_TRY(yoke__synth_assess_model(d, sink));
    return check_figure(root, "model_gamma", &d->model_gamma, FIGURES, sink);
  }
  YOKE_TRY(read_list(json_object_get(root, "coefficients"), "coefficients", "order + 1 = ", n + 1,
                     c, sink));
  YOKE_TRY(check_constraints(&d->settings, c, sink));
  yoke__synth_assess(d, c);
  return YOKE_OK;
}

static yoke_status read_design(json_t* root, yoke_synth_design* d, const yoke_sink* sink) {
  YOKE_TRY(check_format(root, sink));
  YOKE_TRY(read_settings(root, &d->settings, sink));
  YOKE_TRY(read_lead(root, d, sink));
  YOKE_TRY(check_figure(root, "direct_gain", &d->direct_gain, CLOSE, sink));
  YOKE_TRY(check_figure(root, "gamma", &d->gamma, FIGURES, sink));
  return check_figure(root, "largest_gain", &d->largest_gain, FIGURES, sink);
}

yoke_status yoke__synth_element_parse(const char* bytes, size_t n, const char* path,
                                      yoke_synth_design* design, const yoke_sink* sink) {
  yoke_context about;
  json_t* root = NULL;
  *design = (yoke_synth_design){0};
  yoke__context_init(&about, sink, (yoke_place){.source = path}, NULL, (double)NAN);
  YOKE_TRY(yoke__json_parse(bytes, n, &root, &about.sink));
  const yoke_status status = read_design(root, design, &about.sink);
  json_decref(root);
  if (status < 0) {
    *design = (yoke_synth_design){0};
  }
  return status;
}

yoke_status yoke__synth_element_read(const char* path, yoke_synth_design* design,
                                     const yoke_sink* sink) {
  char* bytes = NULL;
  size_t n = 0;
  *design = (yoke_synth_design){0};
  YOKE_TRY(yoke__os_read_file(path, YOKE_SYNTH_FILE_SIZE, &bytes, &n, sink));
  const yoke_status status = yoke__synth_element_parse(bytes, n, path, design, sink);
  free(bytes);
  return status;
}

// ---- for one connection

static bool is_close(double a, double b) {
  return fabs(a - b) <= CLOSE * fabs(b);
}

yoke_status yoke__synth_element_check_times(const yoke_synth_design* d, double interval,
                                            double step, const char* end, const yoke_sink* sink) {
  const yoke_synth_settings* s = &d->settings;
  if (!is_close(s->interval, interval)) {
    return yoke_fail(
        sink, YOKE_BAD_INPUT,
        "the element is for an exchange every %g s, here it is every %g s: design one for it "
        "with yoke synth",
        s->interval, interval);
  }
  if (!is_close(s->step, step)) {
    return yoke_fail(
        sink, YOKE_BAD_INPUT,
        "the element needs %s called every %g s, it is called every %g s: write `step: %g` "
        "there, or design one for %g s with yoke synth",
        end, s->step, step, s->step, step);
  }
  return YOKE_OK;
}
