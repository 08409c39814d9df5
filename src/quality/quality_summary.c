// summary.json to conventions, bonds and the columns of their signals.
//
// A row of a recording is written after the exchange. Under Jacobi it therefore holds the inputs of
// the next step, under Gauss-Seidel, where a unit takes its inputs when its turn comes, those of
// the step that just ended; a law's inputs and outputs belong together. Those of an iteration lie
// between two rows. Scales to SI are those of the ledger: the action counts as its receiver gets
// it, the rate as its sender gives it.
#include "quality/quality_summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_dim.h"
#include "base/base_json_read.h"

// The parsed file, for looking things up.
typedef struct source {
  yoke_arena* arena;
  const json_t *system, *units, *connections;
  const char* scheme;
  bool has_failed;  // memory is out
} source;

// A text that outlives the tree.
static const char* keep_text(source* from, const json_t* object, const char* key,
                             const char* otherwise) {
  const char* text = yoke__json_find_text(object, key, otherwise);
  const char* kept = yoke__arena_text(from->arena, text, strlen(text));
  from->has_failed = from->has_failed || kept == NULL;
  return kept == NULL ? "" : kept;
}

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

static const json_t* find_unit(const source* from, const char* name) {
  return yoke__json_find_named(from->units, name, unit_length(name));
}

// The variable of "unit.variable" or "unit.variable[i]"; *is_element: the latter.
static const json_t* find_variable(const source* from, const char* name, bool* is_element) {
  const json_t* variables = json_object_get(find_unit(from, name), "variables");
  const char* own = name + unit_length(name);
  own += *own == '.';
  const char* bracket = strrchr(own, '[');
  const json_t* found = yoke__json_find_named(variables, own, strlen(own));
  if (found == NULL && bracket != NULL) {
    found = yoke__json_find_named(variables, own, (size_t)(bracket - own));
    *is_element = found != NULL;
  }
  return found;
}

static double factor_of(const json_t* variable) {
  yoke_dim dim;
  return yoke__dim_parse(yoke__json_find_text(variable, "dimension", ""), &dim) ? dim.factor : 1;
}

// -------------------------------------------------------------------------------------------------
// signals of a bond

// The number-th connection from a variable, or an element of it, to a unit; NULL if there is none.
static const json_t* find_connection(const source* from, const char* sender, const char* receiver,
                                     size_t number) {
  const size_t n = strlen(sender), n_unit = unit_length(receiver);
  for (size_t i = 0; i < json_array_size(from->connections); i++) {
    const json_t* c = json_array_get(from->connections, i);
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
  const json_t* c = find_connection(from, sender, side->partner, number);
  const char* sent = yoke__json_find_text(c, "from", sender);
  const char* received = yoke__json_find_text(c, "to", NULL);
  bool is_element = false, is_element_there = false;
  const json_t* v = find_variable(from, sent, &is_element);
  const json_t* there = received == NULL ? NULL : find_variable(from, received, &is_element_there);
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

// NULL if there is none, or it is no text.
static const char* text_at(const json_t* list, size_t i) {
  return json_string_value(json_array_get(list, i));
}

// All senders of a side; the number of components.
static size_t add_senders(const source* from, const json_t* list, const bond_side* side,
                          yoke_summary_component* to) {
  size_t n = 0;
  for (size_t i = 0; i < json_array_size(list); i++) {
    const char* sender = text_at(list, i);
    // elements of one array come under one name: the first, the second, ...
    size_t number = 0;
    for (size_t k = 0; sender != NULL && k < i; k++) {
      const char* before = text_at(list, k);
      number += before != NULL && strcmp(before, sender) == 0;
    }
    if (sender != NULL) {
      n += add_sender(from, sender, number, side, to == NULL ? NULL : to + n);
    }
  }
  return n;
}

static const char* first_text(const json_t* list) {
  const char* first = text_at(list, 0);
  return first == NULL ? "" : first;
}

static yoke_status lay_components(const source* from, const json_t* json, yoke_summary_bond* bond) {
  const json_t* action = json_object_get(json, "action");
  const json_t* rate = json_object_get(json, "rate");
  const bond_side sides[] = {
      {true, yoke__json_find_number(json, "sign", 1), first_text(rate)},
      {false, 1, first_text(action)},
  };
  const size_t n = add_senders(from, action, &sides[0], NULL);
  if (n == 0 || n != add_senders(from, rate, &sides[1], NULL)) {
    return YOKE_OK;
  }
  bond->components = yoke__arena_array(from->arena, n, sizeof *bond->components);
  YOKE_TRY_MEMORY(bond->components);
  bond->n = n;
  add_senders(from, action, &sides[0], bond->components);
  add_senders(from, rate, &sides[1], bond->components);
  for (size_t i = 0; i < n; i++) {
    YOKE_TRY_MEMORY(bond->components[i].columns[YOKE_E_OUT] &&
                    bond->components[i].columns[YOKE_F_OUT]);
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
                            const json_t* outputs) {
  const int signal = end == 0 ? YOKE_E_IN : YOKE_F_IN;
  for (size_t i = 0; i < json_array_size(outputs); i++) {
    bool is_element = false;
    const char* output = text_at(outputs, i);
    const json_t* v = output == NULL ? NULL : find_variable(from, output, &is_element);
    const json_t* list = json_object_get(v, "feedthrough");
    for (size_t k = 0; k < json_array_size(list); k++) {
      const char* input = text_at(list, k);
      // "*": all inputs
      if (input != NULL &&
          (strcmp(input, "*") == 0 || is_received(bond, signal, bond->ends[end].unit, input))) {
        return true;
      }
    }
  }
  return false;
}

// Place in the order of the sweep; laws, which have none, come last.
static size_t place_of(const source* from, const char* unit) {
  const json_t* order = json_object_get(from->system, "step_order");
  for (size_t i = 0; i < json_array_size(order); i++) {
    const char* other = text_at(order, i);
    if (other != NULL && strcmp(other, unit) == 0) {
      return i;
    }
  }
  return (size_t)-1;
}

static void describe_end(source* from, const json_t* outputs, yoke_summary_end* end) {
  const char* signal = first_text(outputs);
  const json_t* unit = find_unit(from, signal);
  end->unit = keep_text(from, unit, "name", "");
  end->is_law = json_is_true(json_object_get(unit, "law"));
  end->is_fresh = json_is_true(json_object_get(unit, "fresh"));
  end->step = yoke__json_find_number(unit, "step", (double)NAN);
}

// Laws and Gauss-Seidel take their inputs at the end of the step that a row closes; an iteration as its mode says.
static double share_of(const source* from, const yoke_summary_end* end, double interval) {
  const char* mode = yoke__json_find_text(json_object_get(from->system, "iteration"), "mode", "");
  if (end->is_law || strcmp(from->scheme, "jacobi") == 0) {
    return end->is_law ? 1 : 0;
  }
  if (strcmp(mode, "mean") == 0) {
    return 0.5;
  }
  const double n = round(interval / end->step);  // calls
  return strcmp(mode, "interpolate") == 0 && n >= 1 ? (n - 1) / (2 * n) : 1;
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

static void describe_ends(source* from, const json_t* json, yoke_summary_bond* bond) {
  const json_t* outputs[] = {json_object_get(json, "rate"), json_object_get(json, "action")};
  for (int i = 0; i < 2; i++) {
    describe_end(from, outputs[i], &bond->ends[i]);
    bond->ends[i].input_share = share_of(from, &bond->ends[i], bond->interval);
  }
  for (int i = 0; i < 2; i++) {
    bond->ends[i].use = has_feedthrough(from, bond, i, outputs[i])
                            ? use_of(from, &bond->ends[i], &bond->ends[1 - i])
                            : YOKE_FEEDTHROUGH_NONE;
  }
}

// -------------------------------------------------------------------------------------------------

static yoke_status read_bond(source* from, const json_t* ledger, yoke_summary_bond* bond) {
  const double none = (double)NAN;
  bond->name = keep_text(from, ledger, "name", "");
  bond->ter = yoke__json_find_number(ledger, "ter", none);
  bond->net = yoke__json_find_number(ledger, "net", none);
  bond->throughput = yoke__json_find_number(ledger, "throughput", none);
  bond->rter = yoke__json_find_number(ledger, "rter", none);
  bond->flow = yoke__json_find_number(ledger, "flow_part", none);
  bond->effort = yoke__json_find_number(ledger, "effort_part", none);
  bond->flow_defect = yoke__json_find_number(ledger, "flow_defect", none);
  bond->effort_defect = yoke__json_find_number(ledger, "effort_defect", none);
  const json_t* json =
      yoke__json_find_named(json_object_get(from->system, "bonds"), bond->name, strlen(bond->name));
  bond->is_heat = json_is_true(json_object_get(json, "heat"));
  bond->has_ter = !bond->is_heat && !isnan(bond->ter);
  bond->interval = yoke__json_find_number(json, "exchange", none);
  YOKE_TRY(lay_components(from, json, bond));
  describe_ends(from, json, bond);
  return YOKE_OK;
}

static yoke_status read_bonds(source* from, const json_t* list, yoke_summary* out) {
  const size_t n = json_array_size(list);
  out->bonds = yoke__arena_array(from->arena, n, sizeof *out->bonds);
  YOKE_TRY_MEMORY(out->bonds);
  for (size_t i = 0; i < n; i++) {
    YOKE_TRY(read_bond(from, json_array_get(list, i), &out->bonds[out->n_bonds++]));
  }
  return from->has_failed ? YOKE_NO_MEMORY : YOKE_OK;
}

static yoke_status read_root(const json_t* root, yoke_arena* arena, yoke_summary* out) {
  const json_t* ledger = json_object_get(root, "ledger");
  const json_t* system = json_object_get(root, "system");
  source from = {.arena = arena,
                 .system = system,
                 .units = json_object_get(system, "units"),
                 .connections = json_object_get(system, "connections"),
                 .scheme = yoke__json_find_text(system, "scheme", "")};
  out->has_ledger = ledger != NULL;
  out->scheme = keep_text(&from, system, "scheme", "");
  out->exchange =
      keep_text(&from, ledger, "exchange", yoke__json_find_text(system, "exchange", ""));
  out->residual = keep_text(&from, ledger, "residual", "");
  out->ter = keep_text(&from, ledger, "ter", "");
  out->t_start = yoke__json_find_number(system, "start", (double)NAN);
  out->t_reached = yoke__json_find_number(root, "t_reached", (double)NAN);
  out->step = yoke__json_find_number(system, "step", (double)NAN);
  return read_bonds(&from, json_object_get(ledger, "bonds"), out);
}

yoke_status yoke__summary_parse(const char* bytes, size_t n, yoke_arena* arena, yoke_summary* out,
                                const yoke_sink* sink) {
  json_t* root = NULL;
  *out = (yoke_summary){0};
  YOKE_TRY(yoke__json_parse(bytes, n, &root, sink));
  const yoke_status status = json_is_object(root)
                                 ? read_root(root, arena, out)
                                 : yoke_fail(sink, YOKE_BAD_INPUT, "expected an object");
  json_decref(root);
  return status;
}

const yoke_summary_bond* yoke__summary_find(const yoke_summary* summary, const char* name) {
  for (size_t i = 0; i < summary->n_bonds; i++) {
    if (strcmp(summary->bonds[i].name, name) == 0) {
      return &summary->bonds[i];
    }
  }
  return NULL;
}

const double* yoke__recorded_column(const yoke_recorded* result, const char* name) {
  const size_t column = name == NULL ? YOKE_NOT_FOUND : yoke__map_find(&result->names, name);
  return column == YOKE_NOT_FOUND || result->csv.columns[column].is_text
             ? NULL
             : result->csv.columns[column].values;
}
