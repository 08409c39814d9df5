// Identified models to JSON and back; the form of the file is drawn in identify_file.h.
//
// Invariants of what the reader accepts: names are not empty and not repeated within a unit, counts
// agree with each other, steps are positive, all numbers are finite.
#include "identify/identify_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_json_read.h"
#include "base/base_message.h"
#include "base/base_os.h"
#include "identify/identify_rls.h"

static size_t count_parameters(const yoke_identified_unit* u) {
  return u->n_y_lags + u->n_u_lags * u->m;
}

// ---- writing

static void write_names(yoke_json* json, const char* key, size_t n, const char* const names[]) {
  yoke__json_begin_array(json, key);
  for (size_t i = 0; i < n; i++) {
    yoke__json_string(json, NULL, names[i]);
  }
  yoke__json_end_array(json);
}

// False if it is not finite, which JSON cannot say.
static bool write_number(yoke_json* json, const char* key, double value) {
  yoke__json_number(json, key, value);
  return yoke__is_finite(value) != 0;
}

static bool write_models(yoke_json* json, const yoke_identified_unit* u) {
  const size_t q = count_parameters(u);
  bool is_finite = true;
  yoke__json_begin_array(json, "models");
  for (size_t i = 0; i < u->n; i++) {
    yoke__json_begin_object(json, NULL);
    yoke__json_begin_array(json, "parameters");
    // a_1 .. a_N of the output, then b_1 .. b_M of each input
    for (size_t j = 0; j < q; j++) {
      is_finite = write_number(json, NULL, u->parameters[i * q + j]) && is_finite;
    }
    yoke__json_end_array(json);
    is_finite = write_number(json, "variance", u->variances[i]) && is_finite;
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  return is_finite;
}

static bool write_unit(yoke_json* json, const yoke_identified_unit* u) {
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "name", u->name);
  const bool has_step = write_number(json, "step", u->step);
  const bool has_time = write_number(json, "time", u->time);
  write_names(json, "outputs", u->n, u->outputs);
  write_names(json, "inputs", u->m, u->inputs);
  yoke__json_integer(json, "output_lags", (int64_t)u->n_y_lags);
  yoke__json_integer(json, "input_lags", (int64_t)u->n_u_lags);
  const bool has_models = write_models(json, u);
  yoke__json_end_object(json);
  return has_step && has_time && has_models;
}

yoke_status yoke__identified_format(const yoke_identified* models, yoke_json* json) {
  bool is_finite = true;
  yoke__json_begin_document(json, "identified");
  yoke__json_begin_array(json, "units");
  for (size_t i = 0; i < models->n_units; i++) {
    is_finite = write_unit(json, &models->units[i]) && is_finite;
  }
  yoke__json_end_array(json);
  yoke__json_end_object(json);
  const yoke_status status = yoke__json_finish(json);
  return status < 0 || is_finite ? status : YOKE_BAD_ARG;
}

yoke_status yoke__identified_write(const char* path, const yoke_identified* models,
                                   const yoke_sink* sink) {
  yoke_json json = {0};
  yoke_status status = yoke__identified_format(models, &json);
  if (status < 0) {
    yoke_fail(sink, status, "cannot write %s: %s", path,
              status == YOKE_BAD_ARG ? "a model holds numbers that are not finite"
                                     : yoke_status_text(status));
  } else {
    status = yoke__os_write_file(path, json.text.bytes, json.text.n, sink);
  }
  yoke__json_free(&json);
  return status;
}

// ---- reading

typedef struct reader {
  yoke_context about;  // the file and the unit in hand
  yoke_arena* arena;
} reader;

static yoke_status no_memory(const reader* r) {
  return yoke_fail(&r->about.sink, YOKE_NO_MEMORY, "%s", yoke_status_text(YOKE_NO_MEMORY));
}

// n if it is not there
static size_t find_name(size_t n, const char* const names[], const char* name) {
  size_t i = 0;
  while (i < n && strcmp(names[i], name) != 0) {
    i++;
  }
  return i;
}

// An array of different, non-empty names.
static yoke_status read_names(const reader* r, const json_t* unit, const char* key, size_t least,
                              size_t* n, const char*** names) {
  const json_t* list = json_object_get(unit, key);
  const size_t size = json_array_size(list);
  if (!json_is_array(list) || size < least || size > YOKE_IDENTIFIED_MAX) {
    return yoke_fail(&r->about.sink, YOKE_BAD_INPUT, "expected '%s': a list of %zu to %d names",
                     key, least, YOKE_IDENTIFIED_MAX);
  }
  *names = yoke__arena_array(r->arena, size, sizeof **names);
  if (*names == NULL) {
    return no_memory(r);
  }
  for (*n = 0; *n < size; ++*n) {
    const char* name = json_string_value(json_array_get(list, *n));
    if (name == NULL || name[0] == '\0') {
      return yoke_fail(&r->about.sink, YOKE_BAD_INPUT, "expected names that are not empty in '%s'",
                       key);
    }
    if (find_name(*n, *names, name) < *n) {
      return yoke_fail(&r->about.sink, YOKE_BAD_INPUT, "name '%.80s' stands twice in '%s'", name,
                       key);
    }
    (*names)[*n] = yoke__arena_text(r->arena, name, strlen(name));
    if ((*names)[*n] == NULL) {
      return no_memory(r);
    }
  }
  return YOKE_OK;
}

static yoke_status read_number(const reader* r, const json_t* from, const char* key, double* to) {
  const json_t* v = json_object_get(from, key);
  if (!json_is_number(v)) {
    return yoke_fail(&r->about.sink, YOKE_BAD_INPUT, "expected '%s': a number", key);
  }
  *to = json_number_value(v);
  return YOKE_OK;
}

static yoke_status read_lags(const reader* r, const json_t* from, const char* key, size_t* to) {
  double number = 0.0;
  YOKE_TRY(read_number(r, from, key, &number));
  if (!(number >= 1.0 && number <= YOKE_RLS_MAX_LAGS && floor(number) == number)) {
    return yoke_fail(&r->about.sink, YOKE_BAD_INPUT,
                     "expected '%s': a whole number from 1 to %d, found %g", key, YOKE_RLS_MAX_LAGS,
                     number);
  }
  *to = (size_t)number;
  return YOKE_OK;
}

static yoke_status read_model(const reader* r, const json_t* from, size_t q, const char* output,
                              double parameters[], double* variance) {
  const json_t* list = json_object_get(from, "parameters");
  if (!json_is_array(list) || json_array_size(list) != q) {
    return yoke_fail(
        &r->about.sink, YOKE_BAD_INPUT,
        "model of output '%.80s': expected 'parameters': a list of %zu numbers, found %zu", output,
        q, json_array_size(list));
  }
  for (size_t i = 0; i < q; i++) {
    const json_t* v = json_array_get(list, i);
    if (!json_is_number(v)) {
      return yoke_fail(&r->about.sink, YOKE_BAD_INPUT,
                       "model of output '%.80s': expected numbers in 'parameters'", output);
    }
    parameters[i] = json_number_value(v);
  }
  YOKE_TRY(read_number(r, from, "variance", variance));
  if (!(*variance >= 0.0)) {
    return yoke_fail(&r->about.sink, YOKE_BAD_INPUT,
                     "model of output '%.80s': expected 'variance' of 0 or more, found %g", output,
                     *variance);
  }
  return YOKE_OK;
}

static yoke_status read_models(const reader* r, const json_t* from, yoke_identified_unit* to) {
  const json_t* list = json_object_get(from, "models");
  const size_t q = count_parameters(to);
  if (!json_is_array(list) || json_array_size(list) != to->n) {
    return yoke_fail(&r->about.sink, YOKE_BAD_INPUT,
                     "expected 'models': a list of %zu, one per output, found %zu", to->n,
                     json_array_size(list));
  }
  // before memory is taken for them: as many numbers must stand in the file
  size_t n_numbers = 0;
  for (size_t i = 0; i < to->n; i++) {
    n_numbers += json_array_size(json_object_get(json_array_get(list, i), "parameters"));
  }

  // divided, not multiplied: q n of a hostile file may overflow
  if (to->n == 0 || n_numbers / to->n != q || n_numbers % to->n != 0) {
    return yoke_fail(&r->about.sink, YOKE_BAD_INPUT,
                     "expected %zu parameters for each of the %zu outputs, found %zu in all", q,
                     to->n, n_numbers);
  }
  to->parameters = yoke__arena_array(r->arena, n_numbers, sizeof(double));
  to->variances = yoke__arena_array(r->arena, to->n, sizeof(double));
  if (to->parameters == NULL || to->variances == NULL) {
    return no_memory(r);
  }
  for (size_t i = 0; i < to->n; i++) {
    YOKE_TRY(read_model(r, json_array_get(list, i), q, to->outputs[i], to->parameters + i * q,
                        &to->variances[i]));
  }
  return YOKE_OK;
}

static yoke_status read_unit(reader* r, const json_t* from, yoke_identified_unit* to) {
  const char* name = yoke__json_find_text(from, "name", "");
  if (name[0] == '\0') {
    return yoke_fail(&r->about.sink, YOKE_BAD_INPUT,
                     "expected a 'name' in every one of the 'units'");
  }
  to->name = yoke__arena_text(r->arena, name, strlen(name));
  if (to->name == NULL) {
    return no_memory(r);
  }
  r->about.unit = to->name;
  YOKE_TRY(read_number(r, from, "step", &to->step));
  YOKE_TRY(read_number(r, from, "time", &to->time));
  if (!(to->step > 0.0)) {
    return yoke_fail(&r->about.sink, YOKE_BAD_INPUT, "expected 'step' above 0 [s], found %g",
                     to->step);
  }
  YOKE_TRY(read_names(r, from, "outputs", 1, &to->n, &to->outputs));
  YOKE_TRY(read_names(r, from, "inputs", 0, &to->m, &to->inputs));
  YOKE_TRY(read_lags(r, from, "output_lags", &to->n_y_lags));
  YOKE_TRY(read_lags(r, from, "input_lags", &to->n_u_lags));
  YOKE_TRY(read_models(r, from, to));
  r->about.unit = NULL;
  return YOKE_OK;
}

static yoke_status read_units(reader* r, const json_t* root, yoke_identified* models) {
  const char* format = yoke__json_find_text(root, "format", "");
  const double version = yoke__json_find_number(root, "version", 0.0);
  const json_t* list = json_object_get(root, "units");
  const size_t size = json_array_size(list);
  if (strcmp(format, "yoke-identified") != 0) {
    return yoke_fail(&r->about.sink, YOKE_BAD_INPUT,
                     "not a file of identified models: expected 'format': \"yoke-identified\"");
  }
  if (version != 1.0) {
    return yoke_fail(&r->about.sink, YOKE_BAD_INPUT,
                     "version %g of identified models, this program reads version 1", version);
  }
  if (!json_is_array(list) || size > YOKE_IDENTIFIED_MAX) {
    return yoke_fail(&r->about.sink, YOKE_BAD_INPUT, "expected 'units': a list of up to %d",
                     YOKE_IDENTIFIED_MAX);
  }
  yoke_identified_unit* units = yoke__arena_array(r->arena, size, sizeof *units);
  if (units == NULL) {
    return no_memory(r);
  }
  for (size_t n = 0; n < size; n++) {
    YOKE_TRY(read_unit(r, json_array_get(list, n), &units[n]));
    for (size_t i = 0; i < n; i++) {
      if (strcmp(units[i].name, units[n].name) == 0) {
        return yoke_fail(&r->about.sink, YOKE_BAD_INPUT, "unit '%.80s' stands twice",
                         units[n].name);
      }
    }
  }
  *models = (yoke_identified){size, units};
  return YOKE_OK;
}

yoke_status yoke__identified_parse(const char* bytes, size_t n, const char* path, yoke_arena* arena,
                                   yoke_identified* models, const yoke_sink* sink) {
  *models = (yoke_identified){0};
  reader r = {.arena = arena};
  yoke__context_init(&r.about, sink, (yoke_place){.source = path}, NULL, (double)NAN);
  json_t* root = NULL;
  YOKE_TRY(yoke__json_parse(bytes, n, &root, &r.about.sink));
  const yoke_status status = read_units(&r, root, models);
  json_decref(root);
  return status;
}

yoke_status yoke__identified_read(const char* path, yoke_arena* arena, yoke_identified* models,
                                  const yoke_sink* sink) {
  char* bytes = NULL;
  size_t n = 0;
  *models = (yoke_identified){0};
  YOKE_TRY(yoke__os_read_file(path, YOKE_IDENTIFIED_SIZE, &bytes, &n, sink));
  const yoke_status status = yoke__identified_parse(bytes, n, path, arena, models, sink);
  free(bytes);
  return status;
}

// ---- for a unit of another run

static const yoke_identified_unit* find_unit(const yoke_identified* models, const char* name) {
  for (size_t i = 0; i < models->n_units; i++) {
    if (strcmp(models->units[i].name, name) == 0) {
      return &models->units[i];
    }
  }
  return NULL;
}

// That every wanted name is in the file, and nothing else is.
static yoke_status check_names(const reader* r, const char* what, size_t n_file,
                               const char* const file[], size_t n, const char* const names[]) {
  for (size_t i = 0; i < n; i++) {
    if (find_name(n_file, file, names[i]) == n_file) {
      return yoke_fail(&r->about.sink, YOKE_BAD_INPUT, "the file has no %s '%.80s'", what,
                       names[i]);
    }
  }
  if (n_file != n) {
    return yoke_fail(&r->about.sink, YOKE_BAD_INPUT, "the file has %zu %ss, the unit %zu", n_file,
                     what, n);
  }
  return YOKE_OK;
}

static yoke_status check_fit(const reader* r, const yoke_identified_unit* from,
                             const yoke_identified_want* want) {
  YOKE_TRY(check_names(r, "output", from->n, from->outputs, want->n, want->outputs));
  YOKE_TRY(check_names(r, "input", from->m, from->inputs, want->m, want->inputs));
  if (from->n_y_lags > want->n_y_lags || from->n_u_lags > want->n_u_lags) {
    return yoke_fail(&r->about.sink, YOKE_BAD_INPUT,
                     "the file has %zu and %zu lags of outputs and inputs, wanted are %zu and %zu",
                     from->n_y_lags, from->n_u_lags, want->n_y_lags, want->n_u_lags);
  }
  return YOKE_OK;
}

// One output: its parameters with the inputs in the wanted order; lags that the file does not have are 0.
static void fit_output(const yoke_identified_unit* from, const yoke_identified_want* want,
                       size_t output, double to[]) {
  // row [a_1 .. a_N, b_1 .. b_M of input 1, ...]: lags of outputs in
  // front, M of each input behind them
  const size_t N = from->n_y_lags, M = from->n_u_lags, M_to = want->n_u_lags;
  const size_t at = find_name(from->n, from->outputs, want->outputs[output]);
  const double* p = from->parameters + at * count_parameters(from);
  memset(to, 0, (want->n_y_lags + M_to * want->m) * sizeof *to);
  memcpy(to, p, N * sizeof *to);

  // inputs may stand in another order in the file
  for (size_t j = 0; j < want->m; j++) {
    const size_t input = find_name(from->m, from->inputs, want->inputs[j]);
    memcpy(to + want->n_y_lags + j * M_to, p + N + input * M, M * sizeof *to);
  }
}

// To another step (docs/identify.md, "Recursive least squares"). One lag goes to longer ones as published.
static yoke_status resample(const yoke_identified_unit* from, const yoke_identified_want* want,
                            double p[]) {
  // p goes to the wanted step by p^ratio: a sampled pole z = exp(s h) becomes z^ratio
  const double ratio = want->step / from->step;
  double* b = p + want->n_y_lags;
  if (want->n_y_lags == 1 && want->n_u_lags == 1 && ratio > 1) {
    return yoke__rls_resample(p[0], want->m, b, ratio, p, b);
  }
  const size_t n_lags = from->n_y_lags > from->n_u_lags ? from->n_y_lags : from->n_u_lags;
  if (n_lags > want->n_y_lags || n_lags > want->n_u_lags) {
    return YOKE_BAD_ARG;
  }
  return yoke__rls_resample_lags(n_lags, want->m, p, b, want->n_u_lags, ratio);
}

yoke_status yoke__identified_fit(const yoke_identified* models, const char* path,
                                 const yoke_identified_want* want, double to[],
                                 const yoke_sink* sink) {
  reader r = {.arena = NULL};
  yoke__context_init(&r.about, sink, (yoke_place){.source = path}, want->name, (double)NAN);
  const yoke_identified_unit* from = find_unit(models, want->name);
  if (from == NULL) {
    return yoke_fail(&r.about.sink, YOKE_BAD_INPUT, "no model of it in the file");
  }
  YOKE_TRY(check_fit(&r, from, want));
  // times of a system file differ in their last bits
  const bool is_same = fabs(from->step - want->step) <= 1e-9 * want->step;
  for (size_t i = 0; i < want->n; i++) {
    double* p = to + i * (want->n_y_lags + want->n_u_lags * want->m);
    fit_output(from, want, i, p);
    const yoke_status status = is_same ? YOKE_OK : resample(from, want, p);
    if (status == YOKE_NO_SUPPORT) {
      return yoke_fail(&r.about.sink, YOKE_BAD_INPUT,
                       "taken at a step of %g s, wanted is the shorter step %g s: the model of "
                       "'%.80s' has a pole at 0 or below, which no continuous system has",
                       from->step, want->step, want->outputs[i]);
    }
    if (status < 0) {
      return yoke_fail(&r.about.sink, YOKE_BAD_INPUT, "cannot go from a step of %g s to %g s",
                       from->step, want->step);
    }
  }
  return YOKE_OK;
}
