// Unknown heat, temperatures and offsets that stay as they are bring the network to rest, where each sensor gives one equation for
// them. What these leave open is shared out by guesses and walks, however long the run: it is named, once, when the twin is made.
//
//   S_ij = d(reading i at rest) / d(unknown j), over the noise of the sensor, times the sd of the unknown
//
// Directions of S without effect are its right singular vectors of singular values that are zero. While temperatures move more can
// be told (twin_sight.c), as far as the noise lets it.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "estimate/estimate_observe.h"
#include "linalg/linalg_dense.h"
#include "unit/twin/twin_part.h"

#define LARGE_PART (1.0 / 3)  // of the largest entry of a direction: its unknown is named

typedef struct scene {
  twin* w;
  size_t n, m;        // unknowns that may be constant; sensors, or n if that is more (rows of 0)
  size_t* unknown;    // n
  double *S, *s, *V;  // m x n, n, n x n
} scene;

static bool is_constant(const yoke_unknown* u) {
  return u->kind == YOKE_UNKNOWN_INPUT || u->kind == YOKE_UNKNOWN_OFFSET;
}

static yoke_status open_scene(twin* w, scene* s) {
  yoke_arena* arena = &w->arena;
  *s = (scene){.w = w, .unknown = yoke__arena_array(arena, w->n_unknowns + 1, sizeof(size_t))};
  YOKE_TRY(yoke__arena_status(arena));
  for (size_t i = 0; i < w->n_unknowns; i++) {
    if (is_constant(&w->unknowns[i])) {
      s->unknown[s->n++] = i;
    }
  }
  s->m = s->n > w->n_sensors ? s->n : w->n_sensors;
  s->S = yoke__arena_array(arena, s->m * s->n + 1, sizeof *s->S);
  s->s = yoke__arena_array(arena, s->n + 1, sizeof *s->s);
  s->V = yoke__arena_array(arena, s->n * s->n + 1, sizeof *s->V);
  return yoke__arena_status(arena);
}

// Column j: what one sd of its unknown does to the readings. YOKE_SINGULAR: there is no rest.
static yoke_status fill_column(const scene* s, size_t j, double v[], double z[], double x[]) {
  const twin* w = s->w;
  const yoke_heat_model* model = &w->open;
  const yoke_unknown* u = &w->unknowns[s->unknown[j]];
  if (u->kind == YOKE_UNKNOWN_OFFSET) {
    s->S[u->targets[0] * s->n + j] = u->sd / w->sensors[u->targets[0]].sigma;
    return YOKE_OK;
  }
  memset(v, 0, model->r * sizeof *v);
  for (size_t t = 0; t < u->n_targets; t++) {
    v[u->targets[t]] = u->factors[t] * u->sd;
  }
  YOKE_TRY(yoke__heat_model_rest(model, v, z));
  yoke__heat_model_temperatures(model, z, v, x);
  for (size_t i = 0; i < w->n_sensors; i++) {
    s->S[i * s->n + j] = yoke__heat_row_value(model, w->sensors[i].row, x, v) / w->sensors[i].sigma;
  }
  return YOKE_OK;
}

static yoke_status fill(const scene* s) {
  const yoke_heat_model* model = &s->w->open;
  yoke_arena* arena = &s->w->arena;
  double* v = yoke__arena_array(arena, model->r + 1, sizeof *v);
  double* z = yoke__arena_array(arena, model->p + 1, sizeof *z);
  double* x = yoke__arena_array(arena, model->n_nodes + 1, sizeof *x);
  YOKE_TRY(yoke__arena_status(arena));
  for (size_t j = 0; j < s->n; j++) {
    YOKE_TRY(fill_column(s, j, v, z, x));
  }
  return YOKE_OK;
}

static yoke_status decompose(const scene* s) {
  yoke_arena* arena = &s->w->arena;
  double* U = yoke__arena_array(arena, s->m * s->n, sizeof *U);
  double* work = yoke__arena_array(arena, yoke__svd_work_size(s->m, s->n), sizeof *work);
  YOKE_TRY(yoke__arena_status(arena));
  return yoke__svd(s->m, s->n, s->S, U, s->s, s->V, work);
}

bool yoke__twin_is_said(const twin* w, const char* names) {
  char text[YOKE_MESSAGE_TEXT_SIZE];
  snprintf(text, sizeof text, "tell %s apart", names);
  for (size_t i = 0; i < w->messages.n; i++) {
    if (strstr(w->messages.all[i].text, text) != NULL) {
      return true;
    }
  }
  return false;
}

// For those who look at the system, and for those who look at the run.
static yoke_status note(twin* w, yoke_place place, const char* names) {
  char text[YOKE_MESSAGE_TEXT_SIZE];
  snprintf(text, sizeof text,
           "at rest the sensors cannot tell %s apart: how they share what is read follows from "
           "their guesses, sd and walk",
           names);
  if (!yoke__twin_is_said(w, names)) {
    yoke__message_add(&w->messages, YOKE_NOTE, place, "%s", text);
  }
  w->apart[w->n_apart++] = yoke__arena_text(&w->arena, text, strlen(text));
  return yoke__arena_status(&w->arena);
}

// Direction k, if it is made of more than one unknown.
static yoke_status note_direction(const scene* s, size_t k) {
  char names[YOKE_MESSAGE_TEXT_SIZE / 2] = "";
  double largest = 0;
  size_t used = 0, n = 0, n_named = 0;
  yoke_place place = {0};
  for (size_t j = 0; j < s->n; j++) {
    largest = fmax(largest, fabs(s->V[j * s->n + k]));
  }
  for (size_t j = 0; j < s->n; j++) {
    n += fabs(s->V[j * s->n + k]) > LARGE_PART * largest;
  }
  for (size_t j = 0; j < s->n && used < sizeof names; j++) {
    if (fabs(s->V[j * s->n + k]) > LARGE_PART * largest) {
      const twin_unknown* text = &s->w->unknown_texts[s->unknown[j]];
      place = n_named == 0 ? text->given->place : place;
      n_named++;
      used += (size_t)snprintf(names + used, sizeof names - used, "%s'%.60s'",
                               n_named == 1   ? ""
                               : n_named == n ? " and "
                                              : ", ",
                               text->name);
    }
  }
  return n > 1 ? note(s->w, place, names) : YOKE_OK;
}

yoke_status yoke__twin_check_apart(twin* w) {
  scene s;
  YOKE_TRY(open_scene(w, &s));
  if (s.n < 2) {
    return YOKE_OK;
  }
  yoke_status status = fill(&s);
  status = status < 0 ? status : decompose(&s);
  if (status == YOKE_NO_MEMORY) {
    return status;
  }
  w->apart = yoke__arena_array(&w->arena, s.n, sizeof *w->apart);
  YOKE_TRY(yoke__arena_status(&w->arena));
  for (size_t k = 0; k < s.n && status >= 0; k++) {
    if (!(s.s[k] > YOKE_OBSERVE_ZERO * s.s[0])) {
      YOKE_TRY(note_direction(&s, k));
    }
  }
  return YOKE_OK;
}
