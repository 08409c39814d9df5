// The settings that are worth a trial, written as the reader of system files accepts them.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_text.h"
#include "couple/couple_auto.h"
#include "study/study_advise.h"

#define MAX_SETS 4096

// What a setting changes. `hold`: inputs are held or extrapolated by their order.
enum {
  METHOD_HOLD = 1,    // needs no coupling of its own
  METHOD_BONDS = 2,   // serves bonds
  METHOD_SET = 4,     // serves sets of units, no single bond
  METHOD_MODELS = 8,  // needs linear models of all members
  METHOD_AUTO = 16,   // what a file gets that names nothing: mean inputs, its own number of calls
};

typedef struct recipe {
  const char* name;
  const char* method;  // NULL: as given
  const char* extra;   // settings of the method
  int kind;            // METHOD_...
  int order;
  bool is_fresh;
  yoke_scheme scheme;
  int turn;     // order of two units under Gauss-Seidel: 1, 2; 0: not named
  int n_calls;  // per exchange, of units that are called once
} recipe;

static const recipe recipes[] = {
    {.name = "as given"},
    {.name = "auto", .method = "auto", .kind = METHOD_AUTO},
    {.name = "order: 1", .method = "hold", .kind = METHOD_HOLD, .order = 1},
    {.name = "nepce", .method = "nepce"},
    {.name = "nepce, exchange: fresh", .method = "nepce", .is_fresh = true},
    {.name = "interpolate", .method = "interpolate"},
    {.name = "exchange: fresh", .method = "hold", .kind = METHOD_HOLD, .is_fresh = true},
    {.name = "gauss-seidel", .method = "hold", .kind = METHOD_HOLD, .scheme = YOKE_GAUSS_SEIDEL},
    {.name = "gauss-seidel",
     .method = "hold",
     .kind = METHOD_HOLD,
     .scheme = YOKE_GAUSS_SEIDEL,
     .turn = 1},
    {.name = "gauss-seidel",
     .method = "hold",
     .kind = METHOD_HOLD,
     .scheme = YOKE_GAUSS_SEIDEL,
     .turn = 2},
    {.name = "energy", .method = "energy", .kind = METHOD_BONDS},
    {.name = "mpsm with the units' models",
     .method = "mpsm",
     .kind = METHOD_SET | METHOD_MODELS,
     .extra = "jacobians: provided"},
    {.name = "interpolate, 4 calls per exchange", .method = "interpolate", .n_calls = 4},
    {.name = "order: 1, 4 calls per exchange",
     .method = "hold",
     .kind = METHOD_HOLD,
     .order = 1,
     .n_calls = 4},
    {.name = "nepce, 4 calls per exchange", .method = "nepce", .n_calls = 4},
    {.name = "iterative", .method = "hold", .kind = METHOD_HOLD, .scheme = YOKE_ITERATIVE_JACOBI},
};

size_t yoke__advise_n_recipes(void) {
  return YOKE_COUNT(recipes);
}

bool yoke__advise_is_auto(size_t recipe_index) {
  return (recipes[recipe_index].kind & METHOD_AUTO) != 0;
}

// ---- lists of sets

typedef struct builder {
  const yoke_advise_list* list;
  const yoke_scenario* scenario;
  const recipe* recipe;
  int by;
  size_t members;  // which members of a new coupling
  const char* sets[MAX_SETS];
  size_t n;
  bool is_full;
} builder;

static void add(builder* b, const char* format, ...) YOKE_PRINTF(2, 3);
static void add(builder* b, const char* format, ...) {
  char line[4096];
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(line, sizeof line, format, args);
  va_end(args);
  const char* copy =
      n < (int)sizeof line ? yoke__arena_text(b->list->arena, line, strlen(line)) : NULL;
  if (copy == NULL || b->n == MAX_SETS) {
    b->is_full = true;
    return;
  }
  b->sets[b->n++] = copy;
}

// ---- steps

// A step divided by a power of two, or doubled, in all its digits.
static bool scale(yoke_decimal step, int by, char to[YOKE_NUMBER_SIZE]) {
  if (by < 0) {
    step.mantissa *= -by;
  }
  for (; by > 1; by /= 2) {
    if (step.mantissa > INT64_MAX / 5) {
      return false;
    }
    step.mantissa *= 5;
    step.exponent--;
  }
  yoke__number_format(yoke__decimal_value(step), to);
  return true;
}

static void add_step(builder* b, const char* path, const yoke_scenario_time* time, int by) {
  char number[YOKE_NUMBER_SIZE];
  if (by == 1) {
    return;
  }
  if (!scale(time->exact, by, number)) {
    b->is_full = true;
    return;
  }
  add(b, "%s=%s", path, number);
}

static void add_solver_step(builder* b, const yoke_scenario_unit* unit, double step, int by) {
  char number[YOKE_NUMBER_SIZE];
  yoke__number_format(by < 0 ? step * -by : step / by, number);
  const yoke_node* units = yoke__node_child(b->scenario->tree, "units");
  const yoke_node* node = units == NULL ? NULL : yoke__node_child(units, unit->name);
  const yoke_node* solver = node == NULL ? NULL : yoke__node_child(node, "solver");
  if (solver != NULL && solver->kind == YOKE_NODE_SCALAR) {
    add(b, "units.%s.solver={method: %s, step: %s}", unit->name, solver->text, number);
  } else {
    add(b, "units.%s.solver.step=%s", unit->name, number);
  }
}

static void add_unit_steps(builder* b, size_t i) {
  const yoke_scenario_unit* unit = &b->scenario->units[i];
  const yoke_companion_unit* known = &b->list->units[i];
  if (unit->is_law) {
    return;
  }
  const bool is_once = b->recipe->n_calls > 1 && known->n_calls == 1;
  int by = b->by < 0 ? b->by : (int)(b->by < known->most ? b->by : known->most);
  if (is_once && (int64_t)b->recipe->n_calls * by <= known->most) {
    by *= b->recipe->n_calls;
  }
  // without a step of its own a unit follows time.step
  char path[512];
  snprintf(path, sizeof path, "units.%.400s.step", unit->name);
  if (unit->step.is_given) {
    add_step(b, path, &unit->step, by);
  } else if (by != b->by) {
    add_step(b, path, &b->scenario->step, by);
  }
  if (known->solver_step > 0 && b->by != 1 && by != 1) {
    add_solver_step(b, unit, known->solver_step, b->by);
  }
}

static void add_adaptive(builder* b) {
  const yoke_scenario_adaptive* a = &b->scenario->adaptive;
  char low[YOKE_NUMBER_SIZE], high[YOKE_NUMBER_SIZE], rho[YOKE_NUMBER_SIZE];
  if (!scale(a->min.exact, b->by, low) || !scale(a->max.exact, b->by, high)) {
    b->is_full = true;
    return;
  }
  yoke__number_format(a->rho, rho);
  add(b, "time.step={min: %s, max: %s, rho: %s}", low, high, rho);
}

static void add_steps(builder* b) {
  const yoke_scenario* s = b->scenario;
  if (b->by != 1 && s->adaptive.is_given) {
    add_adaptive(b);
  } else {
    add_step(b, "time.step", &s->step, b->by);
  }
  for (size_t i = 0; i < s->n_units; i++) {
    add_unit_steps(b, i);
  }
  for (size_t i = 0; i < s->n_connections; i++) {
    char path[64];
    snprintf(path, sizeof path, "connections[%zu].exchange", i);
    if (s->connections[i].exchange.is_given && !s->connections[i].is_of_unit) {
      add_step(b, path, &s->connections[i].exchange, b->by);
    }
  }
}

// Units that may not be called at any other step: the exchange is a multiple of theirs. Rounded down.
static void add_rounded_step(builder* b) {
  const yoke_scenario* s = b->scenario;
  double fixed = 0;
  for (size_t i = 0; i < s->n_units; i++) {
    const yoke_system_unit* unit = &b->list->system->units[i];
    if (!unit->is_law && b->list->units[i].most == 1 && unit->step > fixed) {
      fixed = unit->step;
    }
  }
  const double n = fixed > 0 && b->by > 1 ? floor(s->step.value / b->by / fixed + 1e-9) : 0;
  if (n < 1 || s->adaptive.is_given) {
    b->is_full = true;
    return;
  }
  char number[YOKE_NUMBER_SIZE];
  snprintf(number, sizeof number, "%.12g", n * fixed);
  add(b, "time.step=%s", number);
}

// ---- methods

static bool is_connected(const yoke_system* system, size_t unit) {
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    if (link->from_unit != link->to_unit && (link->from_unit == unit || link->to_unit == unit)) {
      return true;
    }
  }
  return false;
}

// Of a new coupling: 0 all units that are connected, 1 those of a loop; laws are between them.
static bool is_member(const builder* b, size_t unit) {
  const yoke_system* system = b->list->system;
  return b->members == 0 ? is_connected(system, unit) : system->unit_loops[unit] != YOKE_NOT_FOUND;
}

static void append_members(const builder* b, const yoke_node* given, yoke_text* to) {
  const char* separator = "";
  yoke__text_string(to, "members: [");
  for (const yoke_node* name = given == NULL ? NULL : given->first; name != NULL;
       name = name->next) {
    yoke__text_add(to, "%s%s", separator, name->text);
    separator = ", ";
  }
  for (size_t i = 0; given == NULL && i < b->list->system->n_units; i++) {
    if (is_member(b, i)) {
      yoke__text_add(to, "%s%s", separator, b->list->system->units[i].name);
      separator = ", ";
    }
  }
  yoke__text_string(to, "]");
}

// "{method: hold, order: 1, members: [a, b]}"
static const char* coupling_value(const builder* b, const yoke_node* members, bool has_members,
                                  yoke_text* to) {
  const recipe* r = b->recipe;
  yoke__text_clear(to);
  yoke__text_add(to, "{method: %s", r->method);
  if (r->order > 0) {
    yoke__text_add(to, ", order: %d", r->order);
  }
  if (r->extra != NULL) {
    yoke__text_add(to, ", %s", r->extra);
  }
  if (has_members) {
    yoke__text_string(to, ", ");
    append_members(b, members, to);
  }
  yoke__text_string(to, "}");
  return to->bytes == NULL ? "" : to->bytes;
}

// Whether a coupling can be changed key by key: it has no settings that another method would refuse.
static bool is_plain(const yoke_node* coupling) {
  for (const yoke_node* key = coupling->first; key != NULL; key = key->next) {
    if (strcmp(key->key, "method") != 0 && strcmp(key->key, "members") != 0) {
      return false;
    }
  }
  return true;
}

static void change_coupling(builder* b, const char* path, const yoke_node* coupling,
                            bool has_members) {
  const recipe* r = b->recipe;
  if ((r->kind & METHOD_AUTO) != 0 && is_plain(coupling) && yoke__system_names_auto(coupling)) {
    return;
  }
  if (is_plain(coupling) && r->extra == NULL) {
    add(b, "%s.method=%s", path, r->method);
    if (r->order > 0) {
      add(b, "%s.order=%d", path, r->order);
    }
    return;
  }
  yoke_text value = {0};
  add(b, "%s=%s", path,
      coupling_value(b, has_members ? yoke__node_child(coupling, "members") : NULL, has_members,
                     &value));
  yoke__text_free(&value);
}

// mpsm serves sets of units; what a bond has of its own stands in its way.
static void change_bond(builder* b, const yoke_scenario_bond* bond) {
  char path[512];
  snprintf(path, sizeof path, "bonds.%.400s.coupling", bond->name);
  if ((b->recipe->kind & METHOD_SET) != 0) {
    add(b, "%s={method: hold}", path);
  } else {
    change_coupling(b, path, bond->coupling, false);
  }
}

static bool is_all_in_bonds(const yoke_scenario* s) {
  bool is_all = s->n_connections == 0 && s->n_bonds > 0;
  for (size_t i = 0; i < s->n_bonds; i++) {
    is_all = is_all && s->bonds[i].coupling != NULL;
  }
  return is_all;
}

static void add_methods(builder* b) {
  const yoke_scenario* s = b->scenario;
  const recipe* r = b->recipe;
  const bool is_hold = (r->kind & METHOD_HOLD) != 0;
  for (size_t i = 0; i < s->n_couplings; i++) {
    char path[512];
    snprintf(path, sizeof path, "couplings.%.400s", s->couplings[i].name);
    change_coupling(b, path, s->couplings[i].node, true);
  }
  for (size_t i = 0; i < s->n_bonds; i++) {
    if (s->bonds[i].coupling != NULL) {
      change_bond(b, &s->bonds[i]);
    }
  }
  const bool is_auto = (r->kind & METHOD_AUTO) != 0;
  const bool is_new = (!is_hold && !is_auto) || r->order > 0;
  const bool is_served = is_all_in_bonds(s) && (r->kind & METHOD_SET) == 0;
  if (s->n_couplings == 0 && is_new && !is_served) {
    yoke_text value = {0};
    add(b, "couplings={loop: %s}", coupling_value(b, NULL, true, &value));
    yoke__text_free(&value);
  }
  // what a connection says of its order counts more than its coupling
  for (size_t i = 0; r->order > 0 && i < s->n_connections; i++) {
    if (s->connections[i].has_order && s->connections[i].order != r->order) {
      add(b, "connections[%zu].order=%d", i, r->order);
    }
  }
}

// What a connection names of its own, back to `auto`; an order would be the highest that may serve.
static void add_auto(builder* b) {
  const yoke_scenario* s = b->scenario;
  if ((b->recipe->kind & METHOD_AUTO) == 0) {
    return;
  }
  for (size_t i = 0; i < s->n_connections; i++) {
    const yoke_scenario_connection* c = &s->connections[i];
    if (c->is_of_unit) {
      continue;
    }
    if (c->has_order || c->is_held) {
      add(b, "connections[%zu].method=auto", i);
    }
    if (c->has_order && c->order < 2) {
      add(b, "connections[%zu].order=2", i);
    }
  }
  if (s->inputs != YOKE_INPUTS_MEAN) {
    add(b, "inputs=mean");
  }
  if (s->calls != 0) {
    add(b, "calls=auto");
  }
}

// What a unit says of its own exchange stays.
static void add_exchange(builder* b) {
  const yoke_scenario* s = b->scenario;
  const yoke_exchange wanted = b->recipe->is_fresh ? YOKE_FRESH : YOKE_STALE;
  static const char* const words[] = {"stale", "fresh"};
  if (s->exchange != wanted) {
    add(b, "exchange=%s", words[wanted]);
  }
}

static void add_scheme(builder* b) {
  static const char* const words[] = {"jacobi", "gauss-seidel", "iterative-jacobi",
                                      "iterative-gauss-seidel"};
  const recipe* r = b->recipe;
  if (b->scenario->scheme != r->scheme) {
    add(b, "scheme=%s", words[r->scheme]);
  }
  if (r->turn > 0) {
    const yoke_scenario_unit* u = b->scenario->units;
    add(b, "order=[%s, %s]", u[r->turn == 1 ? 0 : 1].name, u[r->turn == 1 ? 1 : 0].name);
  }
}

// ---- what applies

static size_t count_units(const yoke_scenario* s) {
  size_t n = 0;
  for (size_t i = 0; i < s->n_units; i++) {
    n += !s->units[i].is_law;
  }
  return n;
}

static bool have_models(const builder* b) {
  const yoke_system* system = b->list->system;
  for (size_t i = 0; i < system->n_units; i++) {
    if (is_member(b, i) && !system->units[i].is_law &&
        system->units[i].unit.ops->linearise == NULL) {
      return false;
    }
  }
  return true;
}

static bool has_single_calls(const builder* b) {
  for (size_t i = 0; i < b->scenario->n_units; i++) {
    const yoke_companion_unit* known = &b->list->units[i];
    if (!b->scenario->units[i].is_law && known->n_calls == 1 && known->most >= 4) {
      return true;
    }
  }
  return false;
}

static bool applies(const builder* b) {
  const recipe* r = b->recipe;
  const yoke_scenario* s = b->scenario;
  const bool is_pair = count_units(s) == 2 && s->n_units == 2;
  if (r->method == NULL) {
    return true;
  }
  if (r->scheme == YOKE_GAUSS_SEIDEL && (r->turn > 0) != is_pair) {
    return false;
  }
  if (s->adaptive.is_given && r->scheme != YOKE_JACOBI) {
    return false;
  }
  if ((r->kind & METHOD_BONDS) != 0) {
    return b->list->system->n_bonds > 0;
  }
  if ((r->kind & METHOD_MODELS) != 0) {
    return have_models(b);
  }
  return r->n_calls == 0 || has_single_calls(b);
}

static const char* make_name(const builder* b) {
  char name[512];
  const yoke_scenario_unit* u = b->scenario->units;
  const int turn = b->recipe->turn;
  snprintf(name, sizeof name, "%s%s%.200s%s", b->recipe->name, turn == 0 ? "" : ", ",
           turn == 0 ? "" : u[turn == 1 ? 0 : 1].name, turn == 0 ? "" : " first");
  if (b->by != 1) {
    const size_t n = strlen(name);
    snprintf(name + n, sizeof name - n, b->by > 0 ? ", steps / %d" : ", steps x %d", abs(b->by));
  }
  return yoke__arena_text(b->list->arena, name, strlen(name));
}


static bool finish(builder* b, yoke_advised* out) {
  if (b->is_full) {
    return false;
  }
  *out = (yoke_advised){.name = make_name(b), .score = (double)INFINITY};
  const char** sets = yoke__arena_array(b->list->arena, b->n + 1, sizeof *sets);
  if (sets == NULL || out->name == NULL) {
    return false;
  }
  memcpy(sets, b->sets, b->n * sizeof *sets);
  out->sets = sets;
  out->n_sets = b->n;
  return b->list->accepts(b->list->to, sets, b->n);
}

static void add_all_methods(builder* b) {
  if (b->recipe->method != NULL) {
    add_methods(b);
    add_auto(b);
    add_exchange(b);
    add_scheme(b);
  }
}

// One way to write it. variant: bit 0 the members of a new coupling, bit 1 a step that is rounded down.
static bool make_variant(builder* b, int variant, yoke_advised* out) {
  b->n = 0;
  b->is_full = false;
  b->members = (size_t)(variant & 1);
  add_all_methods(b);
  if ((variant & 2) != 0) {
    add_rounded_step(b);
  } else {
    add_steps(b);
  }
  const bool is_changed = b->n > 0 || b->recipe->method == NULL;
  return is_changed && finish(b, out);
}

static builder* begin(const yoke_advise_list* list, size_t recipe_index, int by) {
  builder* b = yoke__arena_take(list->arena, sizeof *b);
  if (b != NULL) {
    b->list = list;
    b->scenario = list->system->scenario;
    b->recipe = &recipes[recipe_index];
    b->by = by;
  }
  return b;
}

bool yoke__advise_has_auto(const yoke_advise_list* list) {
  const yoke_system* system = list->system;
  bool is_served = false;
  for (size_t i = 0; i < system->n_links; i++) {
    is_served = is_served || system->methods[system->links[i].method].ops == &yoke__couple_auto;
  }
  size_t recipe_index = 0;
  while (!yoke__advise_is_auto(recipe_index)) {
    recipe_index++;
  }
  builder* b = is_served ? begin(list, recipe_index, 1) : NULL;
  if (b == NULL) {
    return false;
  }
  add_all_methods(b);
  return b->n == 0;
}

bool yoke__advise_make(const yoke_advise_list* list, size_t recipe_index, int by,
                       yoke_advised* out) {
  builder* b = begin(list, recipe_index, by);
  if (b == NULL || !applies(b)) {
    return false;
  }
  const bool has_loop = b->scenario->n_couplings == 0 && b->recipe->method != NULL;
  for (int variant = 0; variant < 4; variant++) {
    const bool is_useless = ((variant & 1) != 0 && !has_loop) || ((variant & 2) != 0 && by < 2);
    if (!is_useless && make_variant(b, variant, out)) {
      out->recipe = recipe_index;
      return true;
    }
  }
  return false;
}
