// Limits of signals (`quality: {stop: {above: ...}}`): which numbers they mean.
//
// Names are those of `record`: a pattern with wildcards matches real outputs, a name without may also be a local quantity. What
// matches none is an error: a limit that nothing meets protects nothing.
#include <stdio.h>
#include <string.h>

#include "system/system.h"

// Limits of one signal: kind 2 * is_stop + is_above.
#define N_KINDS 4

typedef struct collection {
  yoke_system* system;
  yoke_system_limit* all;
  size_t n, room;
  bool* is_hit;  // per limit of the file
} collection;

static bool is_local(const yoke_variable* v) {
  return v->causality == YOKE_STATE;
}

static bool can_be_limited(const yoke_variable* v) {
  return v->type == YOKE_REAL && (v->causality == YOKE_OUTPUT || is_local(v));
}

static yoke_status append(collection* c, const yoke_system_limit* limit) {
  if (c->n == c->room) {
    const size_t room = 2 * c->room + 8;
    yoke_system_limit* more = yoke__arena_array(&c->system->arena, room, sizeof *more);
    YOKE_TRY_MEMORY(more);
    if (c->n > 0) {
      memcpy(more, c->all, c->n * sizeof *more);
    }
    c->all = more;
    c->room = room;
  }
  c->all[c->n++] = *limit;
  return YOKE_OK;
}

// The limits of one number; of those that say the same of it the last one counts.
static void find_limits(collection* c, size_t unit, size_t variable, size_t element,
                        const yoke_scenario_signal_limit* found[N_KINDS]) {
  const yoke_scenario* s = c->system->scenario;
  const yoke_variable* v = &c->system->units[unit].unit.info->variables[variable];
  for (size_t k = 0; k < N_KINDS; k++) {
    found[k] = NULL;
  }
  for (size_t i = 0; i < s->n_signal_limits; i++) {
    const yoke_scenario_signal_limit* limit = &s->signal_limits[i];
    const bool is_eligible = !is_local(v) || strpbrk(limit->signal.text, "*?") == NULL;
    if (is_eligible &&
        yoke__system_is_named(c->system, limit->signal.text, unit, variable, element)) {
      c->is_hit[i] = true;
      found[2 * limit->is_stop + limit->is_above] = limit;
    }
  }
}

// Between the two no value may be left out.
static void check_range(const collection* c, const yoke_scenario_signal_limit* below,
                        const yoke_scenario_signal_limit* above, const char* name) {
  if (below != NULL && above != NULL && below->value >= above->value) {
    const char* word = above->is_stop ? "stop" : "warn";
    yoke__error(c->system->messages, below->signal.place,
                "quality: no value of %s lies between '%s.below', %g, and '%s.above', %g", name,
                word, below->value, word, above->value);
  }
}

static yoke_status add_element(collection* c, size_t unit, size_t variable, size_t element) {
  const yoke_scenario_signal_limit* found[N_KINDS];
  yoke_system* system = c->system;
  yoke_system_unit* u = &system->units[unit];
  const yoke_variable* v = &u->unit.info->variables[variable];
  char name[1024];
  find_limits(c, unit, variable, element, found);
  yoke__system_element_name(u, v, element, name, sizeof name);
  check_range(c, found[0], found[1], name);
  check_range(c, found[2], found[3], name);
  for (size_t k = 0; k < N_KINDS; k++) {
    if (found[k] == NULL) {
      continue;
    }
    const bool is_dense = u->unit.dense[variable] != YOKE_NOT_DENSE;
    const yoke_system_limit limit = {
        .source = found[k],
        .name = yoke__arena_text(&system->arena, name, strlen(name)),
        .dim = v->dim == NULL ? "" : v->dim,
        .is_fetched = !is_dense,
        .at = is_dense ? u->y + u->unit.dense[variable] + element
                       : yoke__system_fetch(system, u, variable) + element * sizeof(double),
    };
    YOKE_TRY_MEMORY(limit.name);
    YOKE_TRY(append(c, &limit));
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// names that match nothing

// What the name stands for, if it stands for something; else the one that was probably meant, in room.
static const char* find_reason(const yoke_system* system, const char* name, char room[1024],
                               const char** nearest) {
  *nearest = NULL;
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    for (size_t k = 0; k < unit->unit.info->n_variables; k++) {
      const yoke_variable* v = &unit->unit.info->variables[k];
      char own[1024];
      snprintf(own, sizeof own, "%s.%s", unit->name, v->name);
      if (strcmp(name, own) == 0) {
        *nearest = NULL;
        return v->causality == YOKE_INPUT ? "is an input: name the output that feeds it"
               : v->type != YOKE_REAL     ? "is not real"
                                          : "is a parameter";
      }
      if (can_be_limited(v) && yoke__nearer_name(name, *nearest, own) == own) {
        snprintf(room, 1024, "%s", own);
        *nearest = room;
      }
    }
  }
  return "is no real output and no local quantity";
}

static void report_misses(const collection* c) {
  const yoke_scenario* s = c->system->scenario;
  for (size_t i = 0; i < s->n_signal_limits; i++) {
    const yoke_scenario_name* signal = &s->signal_limits[i].signal;
    char room[1024];
    const char* nearest = NULL;
    const char* reason = c->is_hit[i] ? NULL : find_reason(c->system, signal->text, room, &nearest);
    if (reason != NULL) {
      yoke__error_near(c->system->messages, signal->place, nearest, "quality: '%s' %s",
                       signal->text, reason);
    }
  }
}

yoke_status yoke__system_list_limits(yoke_system* system) {
  collection c = {.system = system};
  if (system->scenario->n_signal_limits == 0) {
    return YOKE_OK;
  }
  c.is_hit = yoke__arena_array(&system->arena, system->scenario->n_signal_limits, sizeof *c.is_hit);
  YOKE_TRY_MEMORY(c.is_hit);
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_unit_info* info = system->units[i].unit.info;
    for (size_t k = 0; k < info->n_variables; k++) {
      const yoke_variable* v = &info->variables[k];
      for (size_t e = 0; can_be_limited(v) && e < yoke__variable_count(v); e++) {
        YOKE_TRY(add_element(&c, i, k, e));
      }
    }
  }
  report_misses(&c);
  system->limits = c.all;
  system->n_limits = c.n;
  return YOKE_OK;
}
