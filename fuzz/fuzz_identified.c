// Any bytes as a file of identified models: no crash, no read beyond the input; a refusal has a message;
// what is accepted keeps the invariants of identify_file.c and survives writing and reading again.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_message.h"
#include "identify/identify_file.h"
#include "identify/identify_rls.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

static void demand(int is_true) {
  if (!is_true) {
    abort();
  }
}

static void check_unit(const yoke_identified_unit* u) {
  demand(u->name[0] != '\0' && u->step > 0 && yoke__is_finite(u->time) && u->n >= 1);
  demand(u->n_y_lags >= 1 && u->n_y_lags <= YOKE_RLS_MAX_LAGS);
  demand(u->n_u_lags >= 1 && u->n_u_lags <= YOKE_RLS_MAX_LAGS);
  const size_t q = u->n_y_lags + u->n_u_lags * u->m;
  for (size_t i = 0; i < u->n; i++) {
    demand(strlen(u->outputs[i]) > 0 && u->variances[i] >= 0);
    for (size_t j = 0; j < q; j++) {
      demand(yoke__is_finite(u->parameters[i * q + j]));
    }
  }
  for (size_t j = 0; j < u->m; j++) {
    demand(strlen(u->inputs[j]) > 0);
  }
}

// The unit fits a run that looks like it, at its own step and, if it can, at a longer one.
static void check_fit(const yoke_identified* models, const yoke_identified_unit* u) {
  YOKE_CATCH(err);
  const size_t q = u->n_y_lags + u->n_u_lags * u->m;
  yoke_identified_want want = {u->name,    u->step,   u->n,        u->m,
                               u->outputs, u->inputs, u->n_y_lags, u->n_u_lags};
  double* p = malloc((u->n * q + 1) * sizeof *p);
  demand(p != NULL);
  demand(yoke__identified_fit(models, "file", &want, p, &err.sink) >= 0);
  demand(memcmp(p, u->parameters, u->n * q * sizeof *p) == 0);
  want.step *= 2.5;
  if (yoke__identified_fit(models, "file", &want, p, &err.sink) < 0) {
    demand(err.text[0] != '\0');
  }
  free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  YOKE_CATCH(err);
  yoke_arena arena = {0};
  yoke_identified models, again;
  if (yoke__identified_parse((const char*)bytes, n, "file", &arena, &models, &err.sink) < 0) {
    demand(err.text[0] != '\0' && models.n_units == 0);
    yoke__arena_free(&arena);
    return 0;
  }
  for (size_t i = 0; i < models.n_units; i++) {
    check_unit(&models.units[i]);
    check_fit(&models, &models.units[i]);
  }
  yoke_json json = {0};
  demand(yoke__identified_format(&models, &json) >= 0);
  demand(yoke__identified_parse(json.text.bytes, json.text.n, "again", &arena, &again, &err.sink) >=
         0);
  demand(again.n_units == models.n_units);
  for (size_t i = 0; i < again.n_units; i++) {
    const yoke_identified_unit *a = &models.units[i], *b = &again.units[i];
    const size_t count = a->n * (a->n_y_lags + a->n_u_lags * a->m);
    demand(a->n == b->n && a->m == b->m && a->step == b->step);
    demand(memcmp(a->parameters, b->parameters, count * sizeof(double)) == 0);
  }
  yoke__json_free(&json);
  yoke__arena_free(&arena);
  return 0;
}
