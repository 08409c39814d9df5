// What is in a twin: its filter, what it estimates, what its sensors can tell.
#include <math.h>

#include "api/api_describe.h"
#include "unit/twin/unit_twin.h"

static const char* const sight_words[] = {[YOKE_TWIN_SIGHT_UNKNOWN] = "not known",
                                          [YOKE_TWIN_SEEN] = "yes",
                                          [YOKE_TWIN_SEEN_MOVING] = "while temperatures move",
                                          [YOKE_TWIN_UNSEEN] = "no"};

static void describe_sensor(const yoke_unit_twin_sensor* s, yoke_json* json) {
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "name", s->name);
  yoke__json_string(json, "dimension", s->dim == NULL ? "" : s->dim);
  yoke__json_number(json, "sigma", s->sigma);
  yoke__json_boolean(json, "sigma_assumed", s->is_assumed);
  yoke__json_end_object(json);
}

static void describe_unknown(const yoke_unit_twin_unknown* u, yoke_json* json) {
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "name", u->name);
  yoke__json_string(json, "dimension", u->dim == NULL ? "" : u->dim);
  yoke__json_string(json, "what", u->what);
  yoke__json_number(json, "start", u->start);
  yoke__json_number(json, "sd", u->sd);
  yoke__json_boolean(json, "sd_default", u->has_default_sd);
  yoke__json_number(json, "walk", u->walk);
  yoke__json_boolean(json, "walk_default", u->has_default_walk);
  if (!isinf(u->lower)) {
    yoke__json_number(json, "lower", u->lower);
    yoke__json_number(json, "upper", u->upper);
  }
  yoke__json_string(json, "seen", sight_words[u->sight]);
  yoke__json_end_object(json);
}

static void describe_box(const yoke_unit_twin_figures* f, yoke_json* json) {
  yoke__json_integer(json, "instances", (int64_t)f->n_instances);
  yoke__json_integer(json, "members", (int64_t)f->n_members);
  yoke__json_integer(json, "threads", f->n_threads);
  yoke__json_boolean(json, "restored", f->is_restored);
}

// What the sensors show: singular values, and of what the weak ones are.
static void describe_sight(const yoke_unit_twin_figures* f, yoke_json* json) {
  yoke__json_integer(json, "rank", (int64_t)f->rank);
  yoke__json_begin_array(json, "singular");
  for (size_t i = 0; i < f->n_singular; i++) {
    yoke__json_number(json, NULL, f->singular[i]);
  }
  yoke__json_end_array(json);
  yoke__json_begin_array(json, "weak");
  for (size_t i = 0; i < f->n_weak; i++) {
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "names", f->weak[i].names);
    yoke__json_number(json, "singular", f->weak[i].part);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

void yoke__describe_twin(const yoke_unit* unit, yoke_json* json) {
  yoke_unit_twin_figures f;
  if (!yoke__unit_twin_figures(unit->ops, unit->self, &f) &&
      !yoke__twin_black_figures(unit->ops, unit->self, &f)) {
    return;
  }
  yoke__json_begin_object(json, "twin");
  yoke__json_string(json, "filter", f.filter);
  if (f.n_instances > 0) {
    describe_box(&f, json);
  } else {
    yoke__json_number(json, "fastest", f.fastest);
    yoke__json_number(json, "slowest", f.slowest);
    yoke__json_integer(json, "variables", (int64_t)f.n);
    yoke__json_integer(json, "equations", (int64_t)f.m);
    yoke__json_integer(json, "inputs", (int64_t)f.r);
  }
  yoke__json_begin_array(json, "states");
  for (size_t i = 0; i < f.p; i++) {
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", f.states[i].name);
    yoke__json_string(json, "seen", sight_words[f.states[i].sight]);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  yoke__json_begin_array(json, "sensors");
  for (size_t i = 0; i < f.n_sensors; i++) {
    describe_sensor(&f.sensors[i], json);
  }
  yoke__json_end_array(json);
  yoke__json_begin_array(json, "unknowns");
  for (size_t i = 0; i < f.n_unknowns; i++) {
    describe_unknown(&f.unknowns[i], json);
  }
  yoke__json_end_array(json);
  if (f.n_singular > 0) {
    describe_sight(&f, json);
  }
  yoke__json_end_object(json);
}
