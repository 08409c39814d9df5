// summary.json to conventions, bonds and the columns of their signals.
//
// A row of a recording is written after the exchange. Under Jacobi it therefore holds the inputs of
// the next step, under Gauss-Seidel, where a unit takes its inputs when its turn comes, those of
// the step that just ended; a law's inputs and outputs belong together. Scales to SI are those of
// the ledger: the action counts as its receiver gets it, the rate as its sender gives it.
#include "quality/quality_summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_dim.h"
#include "base/base_json_read.h"

// The parsed file, for looking things up.
typedef struct source {
  yoke_arena* arena;
  const yoke_json_value *system, *units, *connections;
  const char* scheme;
} source;

// -------------------------------------------------------------------------------------------------
// units and variables

// Whether name is "unit.something".
static bool is_of_unit(const char* name, const char* unit, size_t n) {
  return strncmp(name, unit, n) == 0 && name[n] == '.';
}

static size_t unit_length(const char* name) {
  const char* dot = strchr(name, '.');
  return dot == NULL ? strlen(name) : (size_t)(dot - name);
}

static const yoke_json_value* find_unit(const source* from, const char* name) {
  const size_t n = unit_length(name);
  for (const yoke_json_value* u = yoke__json_members(from->units); u != NULL; u = u->next) {
    const char* unit = yoke__json_find_text(u, "name", "");
    if (strlen(unit) == n && strncmp(unit, name, n) == 0) {
      return u;
    }
  }
  return NULL;
}

// The variable of "unit.variable" or "unit.variable[i]"; *is_element: the latter.
static const yoke_json_value* find_variable(const source* from, const char* name,
                                            bool* is_element) {
  const yoke_json_value* variables = yoke__json_find(find_unit(from, name), "variables");
  const char* own = name + unit_length(name);
  own += *own == '.';
  const char* bracket = strrchr(own, '[');
  for (int pass = 0; pass < (bracket == NULL ? 1 : 2); pass++) {
    const size_t n = pass == 0 ? strlen(own) : (size_t)(bracket - own);
    for (const yoke_json_value* v = yoke__json_members(variables); v != NULL; v = v->next) {
      const char* text = yoke__json_find_text(v, "name", "");
      if (strlen(text) == n && strncmp(text, own, n) == 0) {
        *is_element = pass == 1;
        return v;
      }
    }
  }
  return NULL;
}

static double factor_of(const yoke_json_value* variable) {
  yoke_dim dim;
  return yoke__dim_parse(yoke__json_find_text(variable, "dimension", ""), &dim) ? dim.factor : 1;
}

// -------------------------------------------------------------------------------------------------
// signals of a bond

// The number-th connection from a variable, or an element of it, to a unit; NULL if there is none.
static const yoke_json_value* find_connection(const source* from, const char* sender,
                                              const char* receiver, size_t number) {
  const size_t n = strlen(sender), n_unit = unit_length(receiver);
  for (const yoke_json_value* c = yoke__json_members(from->connections); c != NULL; c = c->next) {
    const char* name = yoke__json_find_text(c, "from", "");
    const bool is_same = strncmp(name, sender, n) == 0 && (name[n] == '\0' || name[n] == '[');
    if (is_same && is_of_unit(yoke__json_find_text(c, "to", ""), receiver, n_unit) &&
        number-- == 0) {
      return c;
    }
  }
  return NULL;
}

// "name", or "name[i]" where it is an array.
static const char* column_name(const source* from, const char* name, bool is_array, size_t i) {
  char text[1024];
  if (is_array) {
    snprintf(text, sizeof text, "%s[%zu]", name, i);
    name = text;
  }
  return yoke__arena_text(from->arena, name, strlen(name));
}

// The columns of one side, action or rate.
typedef struct bond_side {
  bool is_action;
  double sign;
  const char* partner;  // a signal of the unit that receives
} bond_side;

// One entry of the list of senders: how many components it has; to NULL: only count.
static size_t add_sender(const source* from, const char* sender, size_t number,
                         const bond_side* side, yoke_summary_component* to) {
  const yoke_json_value* c = find_connection(from, sender, side->partner, number);
  const char* sent = yoke__json_find_text(c, "from", sender);
  const char* received = yoke__json_find_text(c, "to", NULL);
  bool is_element = false, is_element_there = false;
  const yoke_json_value* v = find_variable(from, sent, &is_element);
  const yoke_json_value* there =
      received == NULL ? NULL : find_variable(from, received, &is_element_there);
  const double size = yoke__json_find_number(v, "size", 0);
  const size_t n = is_element ? 1 : size >= 1 && size <= 1e6 ? (size_t)size : 0;
  const bool is_array_there =
      !is_element_there && yoke__json_find_number(there, "size", 1) > 1 && n > 1;
  const double gain = yoke__json_find_number(c, "gain", 1);
  const double to_si = received == NULL ? factor_of(v) : factor_of(there);
  const double out = side->is_action ? side->sign * gain * to_si : factor_of(v);
  const double in = side->is_action ? side->sign * to_si : gain != 0 ? factor_of(v) / gain : 0;
  for (size_t i = 0; to != NULL && i < n; i++) {
    const int at_in = side->is_action ? YOKE_E_IN : YOKE_F_IN;
    const int at_out = side->is_action ? YOKE_E_OUT : YOKE_F_OUT;
    to[i].columns[at_out] = column_name(from, sent, n > 1, i);
    to[i].columns[at_in] = received == NULL ? NULL : column_name(from, received, is_array_there, i);
    to[i].scale[at_out] = out;
    to[i].scale[at_in] = in;
  }
  return n;
}

// All senders of a side; the number of components.
static size_t add_senders(const source* from, const yoke_json_value* list, const bond_side* side,
                          yoke_summary_component* to) {
  size_t n = 0;
  for (const yoke_json_value* s = yoke__json_members(list); s != NULL; s = s->next) {
    // elements of one array come under one name: the first, the second, ...
    size_t number = 0;
    for (const yoke_json_value* before = list->first; before != s; before = before->next) {
      number += before->text != NULL && s->text != NULL && strcmp(before->text, s->text) == 0;
    }
    if (s->text != NULL) {
      n += add_sender(from, s->text, number, side, to == NULL ? NULL : to + n);
    }
  }
  return n;
}

static const char* first_text(const yoke_json_value* list) {
  const yoke_json_value* first = yoke__json_members(list);
  return first != NULL && first->text != NULL ? first->text : "";
}

static yoke_status lay_components(const source* from, const yoke_json_value* json,
                                  yoke_summary_bond* bond) {
  const yoke_json_value* action = yoke__json_find(json, "action");
  const yoke_json_value* rate = yoke__json_find(json, "rate");
  const bond_side sides[] = {
      {true, yoke__json_find_number(json, "sign", 1), first_text(rate)},
      {false, 1, first_text(action)},
  };
  const size_t n = add_senders(from, action, &sides[0], NULL);
  if (n == 0 || n != add_senders(from, rate, &sides[1], NULL)) {
    return YOKE_OK;
  }
  bond->components = yoke__arena_array(from->arena, n, sizeof *bond->components);
  if (bond->components == NULL) {
    return YOKE_NO_MEMORY;
  }
  bond->n = n;
  add_senders(from, action, &sides[0], bond->components);
  add_senders(from, rate, &sides[1], bond->components);
  for (size_t i = 0; i < n; i++) {
    if (bond->components[i].columns[YOKE_E_OUT] == NULL ||
        bond->components[i].columns[YOKE_F_OUT] == NULL) {
      return YOKE_NO_MEMORY;
    }
  }
  return YOKE_OK;
}

// -------------------------------------------------------------------------------------------------
// the two units of a bond

// Whether a component of the bond brings this input ("unit" and "variable").
static bool is_received(const yoke_summary_bond* bond, int signal, const char* unit,
                        const char* variable) {
  const size_t n_unit = strlen(unit), n = strlen(variable);
  for (size_t i = 0; i < bond->n; i++) {
    const char* column = bond->components[i].columns[signal];
    if (column == NULL || !is_of_unit(column, unit, n_unit)) {
      continue;
    }
    const char* own = column + n_unit + 1;
    if (strncmp(own, variable, n) == 0 && (own[n] == '\0' || own[n] == '[')) {
      return true;
    }
  }
  return false;
}

// Whether one of an end's outputs depends at once on what it receives through the bond.
static bool has_feedthrough(const source* from, const yoke_summary_bond* bond, int end,
                            const yoke_json_value* outputs) {
  for (const yoke_json_value* o = yoke__json_members(outputs); o != NULL; o = o->next) {
    bool is_element = false;
    const yoke_json_value* v = o->text == NULL ? NULL : find_variable(from, o->text, &is_element);
    const yoke_json_value* list = yoke__json_find(v, "feedthrough");
    for (const yoke_json_value* f = yoke__json_members(list); f != NULL; f = f->next) {
      const int signal = end == 0 ? YOKE_E_IN : YOKE_F_IN;
      // "*": all inputs
      if (f->text != NULL &&
          (strcmp(f->text, "*") == 0 || is_received(bond, signal, bond->ends[end].unit, f->text))) {
        return true;
      }
    }
  }
  return false;
}

// Place in the order of the sweep; laws, which have none, come last.
static size_t place_of(const source* from, const char* unit) {
  size_t place = 0;
  const yoke_json_value* order = yoke__json_find(from->system, "step_order");
  for (const yoke_json_value* u = yoke__json_members(order); u != NULL; u = u->next, place++) {
    if (u->text != NULL && strcmp(u->text, unit) == 0) {
      return place;
    }
  }
  return (size_t)-1;
}

static void describe_end(const source* from, const yoke_json_value* outputs,
                         yoke_summary_end* end) {
  const char* signal = first_text(outputs);
  const yoke_json_value* unit = find_unit(from, signal);
  end->unit = yoke__json_find_text(unit, "name", "");
  end->is_law = yoke__json_find_boolean(unit, "law", false);
  end->is_fresh = yoke__json_find_boolean(unit, "fresh", false);
  end->step = yoke__json_find_number(unit, "step", (double)NAN);
  end->is_input_at_end = end->is_law || strcmp(from->scheme, "jacobi") != 0;
}

static yoke_feedthrough_use use_of(const source* from, const yoke_summary_end* end,
                                   const yoke_summary_end* other) {
  if (end->is_law || strncmp(from->scheme, "iterative", 9) == 0) {
    return YOKE_FEEDTHROUGH_NEW;
  }
  // in a sweep it is the order that counts: whoever comes first has only old values to answer to
  if (strcmp(from->scheme, "gauss-seidel") == 0) {
    return place_of(from, end->unit) > place_of(from, other->unit) ? YOKE_FEEDTHROUGH_NEW
                                                                   : YOKE_FEEDTHROUGH_OLD;
  }
  return end->is_fresh ? YOKE_FEEDTHROUGH_NEW : YOKE_FEEDTHROUGH_OLD;
}

static void describe_ends(const source* from, const yoke_json_value* json,
                          yoke_summary_bond* bond) {
  const yoke_json_value* outputs[] = {yoke__json_find(json, "rate"),
                                      yoke__json_find(json, "action")};
  for (int i = 0; i < 2; i++) {
    describe_end(from, outputs[i], &bond->ends[i]);
  }
  for (int i = 0; i < 2; i++) {
    bond->ends[i].use = has_feedthrough(from, bond, i, outputs[i])
                            ? use_of(from, &bond->ends[i], &bond->ends[1 - i])
                            : YOKE_FEEDTHROUGH_NONE;
  }
}

// -------------------------------------------------------------------------------------------------

static const yoke_json_value* find_named(const yoke_json_value* list, const char* name) {
  for (const yoke_json_value* v = yoke__json_members(list); v != NULL; v = v->next) {
    if (strcmp(yoke__json_find_text(v, "name", ""), name) == 0) {
      return v;
    }
  }
  return NULL;
}

static yoke_status read_bond(const source* from, const yoke_json_value* ledger,
                             yoke_summary_bond* bond) {
  const double none = (double)NAN;
  bond->name = yoke__json_find_text(ledger, "name", "");
  bond->ter = yoke__json_find_number(ledger, "ter", none);
  bond->net = yoke__json_find_number(ledger, "net", none);
  bond->throughput = yoke__json_find_number(ledger, "throughput", none);
  bond->rter = yoke__json_find_number(ledger, "rter", none);
  bond->flow = yoke__json_find_number(ledger, "flow_part", none);
  bond->effort = yoke__json_find_number(ledger, "effort_part", none);
  bond->flow_defect = yoke__json_find_number(ledger, "flow_defect", none);
  bond->effort_defect = yoke__json_find_number(ledger, "effort_defect", none);
  const yoke_json_value* json = find_named(yoke__json_find(from->system, "bonds"), bond->name);
  bond->is_heat = yoke__json_find_boolean(json, "heat", false);
  bond->has_ter = !bond->is_heat && !isnan(bond->ter);
  bond->interval = yoke__json_find_number(json, "exchange", none);
  YOKE_TRY(lay_components(from, json, bond));
  describe_ends(from, json, bond);
  return YOKE_OK;
}

static yoke_status read_bonds(const source* from, const yoke_json_value* list, yoke_summary* out) {
  const size_t n = list == NULL ? 0 : list->n;
  out->bonds = yoke__arena_array(from->arena, n, sizeof *out->bonds);
  if (out->bonds == NULL) {
    return YOKE_NO_MEMORY;
  }
  for (const yoke_json_value* v = yoke__json_members(list); v != NULL; v = v->next) {
    YOKE_TRY(read_bond(from, v, &out->bonds[out->n_bonds++]));
  }
  return YOKE_OK;
}

yoke_status yoke__summary_parse(const char* bytes, size_t n, yoke_arena* arena, yoke_summary* out,
                                const yoke_sink* sink) {
  const yoke_json_value* root = NULL;
  *out = (yoke_summary){0};
  YOKE_TRY(yoke__json_parse(bytes, n, arena, &root, sink));
  if (root->kind != YOKE_JSON_OBJECT) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "expected an object");
  }
  const yoke_json_value* ledger = yoke__json_find(root, "ledger");
  const yoke_json_value* system = yoke__json_find(root, "system");
  const source from = {.arena = arena,
                       .system = system,
                       .units = yoke__json_find(system, "units"),
                       .connections = yoke__json_find(system, "connections"),
                       .scheme = yoke__json_find_text(system, "scheme", "")};
  out->has_ledger = ledger != NULL;
  out->scheme = from.scheme;
  out->exchange =
      yoke__json_find_text(ledger, "exchange", yoke__json_find_text(system, "exchange", ""));
  out->residual = yoke__json_find_text(ledger, "residual", "");
  out->ter = yoke__json_find_text(ledger, "ter", "");
  out->t_start = yoke__json_find_number(system, "start", (double)NAN);
  out->t_reached = yoke__json_find_number(root, "t_reached", (double)NAN);
  out->step = yoke__json_find_number(system, "step", (double)NAN);
  return read_bonds(&from, yoke__json_find(ledger, "bonds"), out);
}

const yoke_summary_bond* yoke__summary_find(const yoke_summary* summary, const char* name) {
  for (size_t i = 0; i < summary->n_bonds; i++) {
    if (strcmp(summary->bonds[i].name, name) == 0) {
      return &summary->bonds[i];
    }
  }
  return NULL;
}
