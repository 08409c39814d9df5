// What the sensors of a twin can tell, asked once when it is made: at temperatures that differ from each other, so that everything
// moves, and at rest. What shows in neither cannot be estimated, however long the run.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "estimate/estimate_observe.h"
#include "unit/twin/twin_part.h"

#define MOST_STATES 200   // of q: beyond it looking takes too long
#define APART       10.0  // [K] between temperatures that are to differ
#define GOLDEN      0.61803398874989485
#define MAX_PARTS   4
#define PART        1e-3  // of the largest part of a direction
#define ROUNDING    1e-6  // of a direction of length 1

static const char* const filter_words[] = {"auto", "linear", "derivative", "extended", "unscented"};

// Temperatures that differ in no regular way.
static void spread(const twin* w, double z[]) {
  for (size_t i = 0; i < w->network.heat.n_capacities; i++) {
    const uint32_t element = w->network.capacity_element[i];
    const yoke_element* e = &w->network.circuit->elements[element];
    const double base = w->network.x[e->a == 0 ? e->b : e->a];
    z[i] = base + APART * (0.5 + fmod((double)(i + 1) * GOLDEN, 1));
  }
}

static const char* name_of(const twin* w, size_t i) {
  const size_t p = w->network.heat.n_capacities;
  return i < p ? w->network.heat.nodes[w->network.heat.capacities[i].node].name
               : w->unknown_texts[i - p].name;
}

// Unknowns that take part in direction k, however little their scale lets them.
static size_t find_unknowns(const yoke_observation* o, size_t k, size_t parts[MAX_PARTS]) {
  const double* direction = o->directions + k * o->n;
  double largest = 0;
  size_t n = 0;
  for (size_t i = o->p; i < o->n; i++) {
    largest = fmax(largest, fabs(direction[i]));
  }
  for (size_t i = o->p; i < o->n && n < MAX_PARTS && largest > ROUNDING; i++) {
    if (fabs(direction[i]) > PART * largest) {
      parts[n++] = i;
    }
  }
  return n;
}

// "'q1', 't_cool' and the temperature of 'case'"
static void list_parts(const twin* w, const yoke_observation* o, const size_t parts[], size_t n,
                       char* to, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < n && used < size; i++) {
    const char* between = i == 0 ? "" : i + 1 == n ? " and " : ", ";
    used += (size_t)snprintf(to + used, size - used, "%s%s'%.60s'", between,
                             parts[i] >= o->p ? "" : "the temperature of ", name_of(w, parts[i]));
  }
}

// Known inputs were taken as constant: where they change, resistances and capacities may show that do not here.
static bool may_show(const twin* w, const yoke_observation* o, const size_t parts[], size_t n) {
  bool has_element = false;
  for (size_t i = 0; i < n; i++) {
    const yoke_unknown_kind kind =
        parts[i] < o->p ? YOKE_UNKNOWN_OFFSET : w->unknowns[parts[i] - o->p].kind;
    has_element = has_element || (kind != YOKE_UNKNOWN_INPUT && kind != YOKE_UNKNOWN_OFFSET);
  }
  return has_element && w->layout.n_known > 0;
}

// One direction that does not show. Temperatures alone follow the model: yoke check says so.
static void warn(twin* w, const yoke_observation* o, size_t k) {
  size_t parts[MAX_PARTS + 1], all[MAX_PARTS];
  char names[YOKE_MESSAGE_TEXT_SIZE / 2] = "";
  size_t n = find_unknowns(o, k, parts);
  if (n == 0) {
    return;
  }
  const yoke_place place = w->unknown_texts[parts[0] - o->p].given->place;
  const size_t n_all = n == 1 ? yoke__observation_parts(o, k, all, MAX_PARTS) : 0;
  for (size_t i = 0; i < n_all && n <= MAX_PARTS; i++) {
    if (all[i] < o->p) {
      parts[n++] = all[i];
    }
  }
  list_parts(w, o, parts, n, names, sizeof names);
  if (n == 1) {
    yoke__message_add(&w->messages, YOKE_WARNING, place,
                      "no sensor shows the unknown %s: its estimate stays the guess", names);
    return;
  }
  w->is_ambiguous = true;
  if (yoke__twin_is_said(w, names)) {
    return;
  }
  if (may_show(w, o, parts, n)) {
    yoke__message_add(&w->messages, YOKE_WARNING, place,
                      "while inputs are constant the sensors cannot tell %s apart: let inputs "
                      "change, add a sensor, or leave one out",
                      names);
    return;
  }
  yoke__message_add(&w->messages, YOKE_WARNING, place,
                    "the sensors cannot tell %s apart: add a sensor or leave one out", names);
}

static yoke_status note_weak(twin* w, const yoke_observation* o) {
  w->singular = o->singular;
  w->n_singular = o->n;
  w->rank = o->rank;
  w->n_weak = o->n_weak;
  w->weak = yoke__arena_array(&w->arena, o->n_weak + 1, sizeof *w->weak);
  YOKE_TRY_MEMORY(w->weak != NULL);
  for (size_t i = 0; i < o->n_weak; i++) {
    const size_t k = o->rank - o->n_weak + i;
    size_t parts[MAX_PARTS];
    char names[YOKE_MESSAGE_TEXT_SIZE / 2] = "";
    list_parts(w, o, parts, yoke__observation_parts(o, k, parts, MAX_PARTS), names, sizeof names);
    const char* text = yoke__arena_text(&w->arena, names, strlen(names));
    YOKE_TRY_MEMORY(text != NULL);
    w->weak[i] = (yoke_unit_twin_weak){text, o->singular[k]};
  }
  return YOKE_OK;
}

static yoke_twin_sight sight_of(const yoke_observation* moving, const yoke_observation* rest,
                                size_t i) {
  return moving == NULL                      ? YOKE_TWIN_SIGHT_UNKNOWN
         : !moving->is_seen[i]               ? YOKE_TWIN_UNSEEN
         : rest != NULL && !rest->is_seen[i] ? YOKE_TWIN_SEEN_MOVING
                                             : YOKE_TWIN_SEEN;
}

static yoke_status lay_figures(twin* w) {
  const size_t p = w->network.heat.n_capacities;
  w->states = yoke__arena_array(&w->arena, p + 1, sizeof *w->states);
  w->unknown_figures = yoke__arena_array(&w->arena, w->n_unknowns + 1, sizeof *w->unknown_figures);
  w->sensor_figures = yoke__arena_array(&w->arena, w->n_sensors + 1, sizeof *w->sensor_figures);
  YOKE_TRY(yoke__arena_status(&w->arena));
  for (size_t i = 0; i < p; i++) {
    w->states[i] = (yoke_unit_twin_state){.name = name_of(w, i)};
  }
  for (size_t i = 0; i < w->n_sensors; i++) {
    const twin_sensor* s = &w->sensor_texts[i];
    w->sensor_figures[i] =
        (yoke_unit_twin_sensor){w->sensors[i].name, s->dim, w->sensors[i].sigma, s->is_assumed};
  }
  for (size_t i = 0; i < w->n_unknowns; i++) {
    const yoke_unknown* u = &w->unknowns[i];
    const twin_unknown* t = &w->unknown_texts[i];
    w->unknown_figures[i] =
        (yoke_unit_twin_unknown){.name = t->name,
                                 .dim = t->dim,
                                 .what = t->what,
                                 .start = yoke__twin_value(t, u->start),
                                 .sd = yoke__twin_deviation(t, u->start, u->sd),
                                 .walk = yoke__twin_deviation(t, u->start, u->walk),
                                 .lower = yoke__twin_value(t, t->is_inverse ? u->upper : u->lower),
                                 .upper = yoke__twin_value(t, t->is_inverse ? u->lower : u->upper),
                                 .has_default_sd = t->has_default_sd,
                                 .has_default_walk = t->has_default_walk};
  }
  w->sizes = yoke__heat_network_sizes(&w->network.heat);
  return YOKE_OK;
}

yoke_status yoke__twin_check_sight(twin* w) {
  const size_t p = w->network.heat.n_capacities;
  yoke_observation moving = {0}, rest = {0};
  YOKE_TRY(lay_figures(w));
  if (p + w->n_unknowns > MOST_STATES) {
    return YOKE_OK;
  }
  spread(w, w->scratch);
  yoke__twin_network_inputs(&w->network, 0, w->v);
  const bool has_moving = yoke__observe(&w->setup, w->scratch, w->v, &w->arena, &moving, NULL) >= 0;
  const bool has_rest =
      has_moving && yoke__observe(&w->setup, NULL, w->v, &w->arena, &rest, NULL) >= 0;
  YOKE_TRY(yoke__arena_status(&w->arena));
  for (size_t i = 0; i < p + w->n_unknowns; i++) {
    const yoke_twin_sight sight = sight_of(has_moving ? &moving : NULL, has_rest ? &rest : NULL, i);
    *(i < p ? &w->states[i].sight : &w->unknown_figures[i - p].sight) = sight;
  }
  for (size_t k = moving.rank; has_moving && k < moving.n; k++) {
    warn(w, &moving, k);
  }
  return has_moving ? note_weak(w, &moving) : YOKE_OK;
}

void yoke__twin_figures(const twin* w, yoke_unit_twin_figures* out) {
  const yoke_estimate_counts counts = yoke__estimate_counts_of(w->filter);
  *out = (yoke_unit_twin_figures){
      .title = w->network.circuit->title,
      .filter = filter_words[yoke__estimate_method_of(w->filter)],
      .step = w->setup.h,
      .fastest = w->fastest,
      .slowest = w->slowest,
      .n = w->sizes.n,
      .m = w->sizes.m,
      .p = w->sizes.p,
      .r = w->sizes.r,
      .states = w->states,
      .sensors = w->sensor_figures,
      .unknowns = w->unknown_figures,
      .n_sensors = w->n_sensors,
      .n_unknowns = w->n_unknowns,
      .singular = w->singular,
      .n_singular = w->n_singular,
      .rank = w->rank,
      .weak = w->weak,
      .n_weak = w->n_weak,
      .n_steps = counts.n_steps,
      .n_readings = counts.n_readings,
      .n_missing = counts.n_missing,
      .n_gated = counts.n_gated,
      .n_lost = w->state->n_lost,
      .n_resets = w->state->n_resets,
  };
}
