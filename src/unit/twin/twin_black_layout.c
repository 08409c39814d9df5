// The variables of a twin of a black box:
//
//   inputs      real inputs of the unit that are not unknown; sensor.NAME, the reading of each sensor
//   outputs     outputs of the unit that are of interest; the unknowns; sd.NAME of all of these; innovation.SENSOR; nis; verdict,
//               readings, resets (always 0), passes, hits.NAME of unknowns with bounds
//   the rest    parameters and states of the unit as they are: what is set is set for all instances
//
// An array is one variable per element: name[0], name[1], ...
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_map.h"
#include "unit/twin/twin_black_part.h"

#define MAX_NAME 320

static const char* const verdict_items[] = {"starting", "consistent", "inconsistent", "diverged",
                                            NULL};

typedef struct builder {
  black_twin* w;
  yoke_variable* variables;
  size_t n;
  yoke_map names;
  bool is_out_of_memory;
} builder;

// NULL after a message, or without memory.
static yoke_variable* add(builder* b, const char* name, black_slot slot, yoke_causality causality,
                          const char* dim, const char* text) {
  char* kept = yoke__arena_text(&b->w->arena, name, strlen(name));
  if (kept == NULL) {
    b->is_out_of_memory = true;
    return NULL;
  }
  if (yoke__map_find(&b->names, kept) != YOKE_NOT_FOUND) {
    yoke__error(&b->w->messages, b->w->file->settings.place,
                "the name '%s' is used twice: the unit has a variable that is called like an "
                "output of the twin",
                name);
    return NULL;
  }
  yoke__map_add(&b->names, kept, b->n);
  b->w->slots[b->n] = slot;
  yoke_variable* v = &b->variables[b->n++];
  *v = (yoke_variable){.name = kept,
                       .dim = dim,
                       .text = text,
                       .causality = causality,
                       .type = slot.kind == BLACK_SLOT_WHOLE ? YOKE_INTEGER : YOKE_REAL,
                       .n_rows = 1,
                       .n_cols = 1,
                       .offset = YOKE_NO_OFFSET};
  return v;
}

static black_slot slot_of(black_slot_kind kind, size_t index) {
  return (black_slot){kind, index, YOKE_NOT_FOUND};
}

// Name of the element at a place of the unit's vector of inputs or outputs.
static void element_name(const black_twin* w, size_t variable, size_t at, char to[MAX_NAME]) {
  const yoke_variable* v = &w->unit->info->variables[variable];
  if (yoke__variable_count(v) == 1) {
    snprintf(to, MAX_NAME, "%.300s", v->name);
  } else {
    snprintf(to, MAX_NAME, "%.280s[%zu]", v->name, at - w->unit->dense[variable]);
  }
}

static const char* sensor_dim(const black_twin* w, size_t sensor) {
  return w->unit->info->variables[w->row_variables[w->sensors[sensor].output]].dim;
}

// ---- inputs

static void add_known(builder* b) {
  black_twin* w = b->w;
  for (size_t k = 0, i = 0; k < w->n_known; k++) {
    const yoke_unit_info* info = w->unit->info;
    while (!(info->variables[i].type == YOKE_REAL && info->variables[i].causality == YOKE_INPUT &&
             w->known[k] < w->unit->dense[i] + yoke__variable_count(&info->variables[i]))) {
      i++;
    }
    const yoke_variable* from = &info->variables[i];
    char name[MAX_NAME];
    element_name(w, i, w->known[k], name);
    yoke_variable* v =
        add(b, name, slot_of(BLACK_SLOT_KNOWN, k), YOKE_INPUT, from->dim, from->text);
    if (v != NULL) {
      v->flags = from->flags & YOKE_VARIABLE_HAS_START;
      v->start = from->start;
    }
    w->u[k] = from->start;
  }
}

static void add_sensors(builder* b) {
  black_twin* w = b->w;
  for (size_t i = 0; i < w->n_sensors; i++) {
    char name[MAX_NAME];
    snprintf(name, sizeof name, "sensor.%.280s", w->settings->sensors[i].name);
    add(b, name, slot_of(BLACK_SLOT_SENSOR, i), YOKE_INPUT, sensor_dim(w, i),
        "reading of a sensor");
  }
}

// ---- estimates

static void add_real(builder* b, const char* prefix, const char* name, size_t at, const char* dim,
                     const char* text) {
  char full[2 * MAX_NAME];
  snprintf(full, sizeof full, "%s%s", prefix, name);
  add(b, full, slot_of(BLACK_SLOT_REAL, at), YOKE_OUTPUT, dim, text);
}

static void add_rows(builder* b) {
  black_twin* w = b->w;
  const size_t n = w->n_rows + w->n_unknowns;
  for (size_t i = 0; i < w->n_rows; i++) {
    const yoke_variable* from = &w->unit->info->variables[w->row_variables[i]];
    char name[MAX_NAME];
    element_name(w, w->row_variables[i], w->rows[i], name);
    yoke_variable* v =
        add(b, name, slot_of(BLACK_SLOT_REAL, i), YOKE_OUTPUT, from->dim, "estimate");
    const bool has_start = (from->flags & YOKE_VARIABLE_HAS_START) != 0;
    if (v != NULL && has_start && yoke__variable_count(from) == 1) {
      v->flags = YOKE_VARIABLE_HAS_START;
      v->start = from->start;
      w->slots[b->n - 1].inner = w->row_variables[i];
    }
    add_real(b, "sd.", name, n + i, from->dim, "standard deviation of the estimate");
  }
}

static void add_unknowns(builder* b) {
  black_twin* w = b->w;
  const size_t n = w->n_rows + w->n_unknowns;
  for (size_t i = 0; i < w->n_unknowns; i++) {
    const black_unknown* u = &w->unknowns[i];
    add_real(b, "", u->given->name, w->n_rows + i, u->dim, "estimate");
    add_real(b, "sd.", u->given->name, n + w->n_rows + i, u->dim,
             "standard deviation of the estimate");
  }
}

static void add_innovations(builder* b) {
  black_twin* w = b->w;
  const size_t at = 2 * (w->n_rows + w->n_unknowns);
  for (size_t i = 0; i < w->n_sensors; i++) {
    add_real(b, "innovation.", w->settings->sensors[i].name, at + i, sensor_dim(w, i),
             "reading less what the filter expected; 0 without a reading");
  }
  add_real(b, "", "nis", at + w->n_sensors, "1",
           "sum of the squared innovations over their variances");
}

static void add_whole(builder* b, const char* name, size_t at, const char* text) {
  add(b, name, slot_of(BLACK_SLOT_WHOLE, at), YOKE_OUTPUT, "1", text);
}

static void add_wholes(builder* b) {
  black_twin* w = b->w;
  yoke_variable* v = add(b, "verdict", slot_of(BLACK_SLOT_WHOLE, BLACK_WHOLE_VERDICT), YOKE_OUTPUT,
                         NULL, "are the innovations what unit and noise make them");
  if (v != NULL) {
    v->type = YOKE_ENUMERATION;
    v->items = verdict_items;
  }
  add_whole(b, "readings", BLACK_WHOLE_READINGS, "readings that the last step used");
  add_whole(b, "resets", BLACK_WHOLE_RESETS, "always 0");
  add_whole(b, "passes", BLACK_WHOLE_PASSES, "times that the estimates began from the start");
  for (size_t i = 0; i < w->n_unknowns; i++) {
    if (w->unknowns[i].is_bounded) {
      char name[MAX_NAME];
      snprintf(name, sizeof name, "hits.%.280s", w->unknowns[i].given->name);
      add_whole(b, name, BLACK_N_WHOLES + i, "times that the estimate was held at a bound");
    }
  }
}

// ---- the rest of the unit

static bool is_unknown(const black_twin* w, size_t variable) {
  const bool is_parameter = w->unit->info->variables[variable].causality == YOKE_PARAMETER;
  for (size_t i = 0; i < w->n_unknowns; i++) {
    const black_unknown* u = &w->unknowns[i];
    if ((u->kind == BLACK_PARAMETER && w->parameters[u->place] == variable) ||
        (u->kind == BLACK_START && is_parameter && u->place == variable)) {
      return true;
    }
  }
  return false;
}

static void add_rest(builder* b) {
  black_twin* w = b->w;
  const yoke_unit_info* info = w->unit->info;
  for (size_t i = 0; i < info->n_variables; i++) {
    const yoke_variable* from = &info->variables[i];
    const bool is_kept = from->causality == YOKE_PARAMETER || from->causality == YOKE_TUNABLE ||
                         from->causality == YOKE_STATE;
    if (!is_kept || is_unknown(w, i)) {
      continue;
    }
    yoke_variable* v =
        add(b, from->name, slot_of(BLACK_SLOT_INNER, i), from->causality, from->dim, from->text);
    if (v != NULL) {
      const char* name = v->name;
      *v = *from;
      v->name = name;
      v->offset = YOKE_NO_OFFSET;
      // a change while it runs would not be in the record
      v->causality = from->causality == YOKE_TUNABLE ? YOKE_PARAMETER : from->causality;
      v->flags &= ~(uint32_t)YOKE_VARIABLE_NONLINEAR;
    }
  }
}

// ----

yoke_status yoke__twin_black_lay_out(black_twin* w) {
  builder b = {.w = w};
  const size_t n_errors = w->messages.n_errors;
  const size_t n_room = w->n_known + 2 * w->n_sensors + 2 * w->n_rows + 3 * w->n_unknowns +
                        BLACK_N_WHOLES + w->unit->info->n_variables + 2;
  b.variables = yoke__arena_array(&w->arena, n_room, sizeof *b.variables);
  w->slots = yoke__arena_array(&w->arena, n_room, sizeof *w->slots);
  YOKE_TRY(yoke__arena_status(&w->arena));
  YOKE_TRY(yoke__map_create(n_room, &w->arena, &b.names));
  add_known(&b);
  add_sensors(&b);
  add_rows(&b);
  add_unknowns(&b);
  add_innovations(&b);
  add_wholes(&b);
  add_rest(&b);
  if (b.is_out_of_memory) {
    return YOKE_NO_MEMORY;
  }
  w->info = (yoke_unit_info){.variables = b.variables,
                             .n_variables = b.n,
                             .flags = YOKE_UNIT_SAMPLED | YOKE_UNIT_FIXED_STEP,
                             .cost_s = (double)w->n_members * w->unit->info->cost_s,
                             .solver = {.method = YOKE_SOLVER_OTHER, .step = w->h}};
  return w->messages.n_errors > n_errors ? YOKE_BAD_INPUT : YOKE_OK;
}
