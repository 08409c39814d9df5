// What a system file says to netlists, in the words of netlists: names ignore case, numbers may have
// suffixes.
//
// A circuit has its parameters and all quantities with brackets, v(out), i(l1), t(case), p(r1), in
// small letters, so what the file writes is put into small letters here: names under `with`, names
// with brackets under `start` and `values`, outputs under `feedthrough`, at ends of connections and bonds, in `record` and in
// `trust`.
// Names without brackets (inputs, outputs with a name of their own) are as the netlist writes them.
#include <ctype.h>
#include <string.h>

#include "base/base_number.h"
#include "scenario/scenario_circuit.h"
#include "scenario/scenario_reader.h"

// ---- numbers

// A plain scalar that is a number to a netlist only ("10k"): the number in its place.
const yoke_node* yoke__node_without_suffix(yoke_reader* reader, const yoke_node* node) {
  double number = 0, plain = 0;
  char text[YOKE_NUMBER_SIZE];
  if (node->kind != YOKE_NODE_SCALAR || node->is_quoted || node->is_refused ||
      yoke__number_parse(node->text, &plain) || !yoke__number_parse_suffix(node->text, &number)) {
    return node;
  }
  yoke_node* changed = yoke__reader_array(reader, 1, sizeof *changed);
  char* kept = yoke__reader_array(reader, YOKE_NUMBER_SIZE, 1);
  if (changed == NULL || kept == NULL) {
    return node;
  }
  yoke__number_format(number, text);
  memcpy(kept, text, sizeof text);
  *changed = *node;
  changed->text = kept;
  changed->text_column = 0;
  return changed;
}

// ---- names

static const char* lower_text(yoke_reader* reader, const char* text) {
  const size_t n = strlen(text);
  char* lower = yoke__reader_array(reader, n + 1, 1);
  for (size_t i = 0; lower != NULL && i < n; i++) {
    lower[i] = (char)tolower((unsigned char)text[i]);
  }
  return lower == NULL ? text : lower;
}

static const char* lower_quantity(yoke_reader* reader, const char* text) {
  return strchr(text, '(') == NULL ? text : lower_text(reader, text);
}

// ---- settings

static bool is_of_command_line(const yoke_setting* setting) {
  return setting->place.source != NULL && strncmp(setting->place.source, "--set ", 6) == 0;
}

// Replaces what --set spells otherwise than the file; twice in the file is a mistake.
static void put_setting(yoke_reader* reader, const yoke_setting* setting, yoke_setting all[],
                        size_t* n) {
  size_t i = 0;
  while (i < *n && strcmp(all[i].name, setting->name) != 0) {
    i++;
  }
  if (i < *n && !is_of_command_line(setting)) {
    char cut[YOKE_FOUND_SIZE];
    yoke__error(reader->messages, setting->place,
                "'%s' is given twice: names of a netlist ignore case",
                yoke__text_cut(setting->name, cut));
  }
  all[i] = *setting;
  *n += i == *n;
}

static void take_settings(yoke_reader* reader, bool is_parameters, const yoke_setting** settings,
                          size_t* n) {
  yoke_setting* all = *n == 0 ? NULL : yoke__reader_array(reader, *n, sizeof *all);
  size_t n_all = 0;
  if (all == NULL) {
    return;
  }
  for (size_t i = 0; i < *n; i++) {
    yoke_setting setting = (*settings)[i];
    setting.name =
        is_parameters ? lower_text(reader, setting.name) : lower_quantity(reader, setting.name);
    setting.value = yoke__node_without_suffix(reader, setting.value);
    put_setting(reader, &setting, all, &n_all);
  }
  *settings = all;
  *n = n_all;
}

static void lower_feedthrough(yoke_reader* reader, yoke_scenario_unit* unit) {
  yoke_scenario_through* all = yoke__reader_array(reader, unit->n_feedthrough, sizeof *all);
  for (size_t i = 0; all != NULL && i < unit->n_feedthrough; i++) {
    all[i] = unit->feedthrough[i];
    all[i].output = lower_quantity(reader, all[i].output);
  }
  unit->feedthrough = all == NULL ? unit->feedthrough : all;
}

void yoke__netlist_settings_read(yoke_reader* reader, yoke_scenario_unit* unit) {
  if (unit->n_feedthrough > 0) {
    lower_feedthrough(reader, unit);
  }
  take_settings(reader, true, &unit->with, &unit->n_with);
  take_settings(reader, false, &unit->start, &unit->n_start);
  take_settings(reader, false, &unit->values, &unit->n_values);
}

// ---- signals

static bool is_circuit(const yoke_scenario* s, const char* name, size_t n) {
  for (size_t i = 0; i < s->n_units; i++) {
    const yoke_scenario_unit* unit = &s->units[i];
    if (yoke__scenario_has_netlist(unit) && strlen(unit->name) == n &&
        strncmp(unit->name, name, n) == 0) {
      return true;
    }
  }
  return false;
}

const char* yoke__scenario_quantity(const yoke_scenario* s, const char* unit, const char* variable,
                                    yoke_arena* arena) {
  if (strchr(variable, '(') == NULL || !is_circuit(s, unit, strlen(unit))) {
    return variable;
  }
  char* lower = yoke__arena_text(arena, variable, strlen(variable));
  for (size_t i = 0; lower != NULL && lower[i] != '\0'; i++) {
    lower[i] = (char)tolower((unsigned char)lower[i]);
  }
  return lower == NULL ? variable : lower;
}

static void lower_end(yoke_reader* reader, const yoke_scenario* s, yoke_scenario_endpoint* end) {
  if (end->unit != NULL && end->variable != NULL) {
    end->variable = yoke__scenario_quantity(s, end->unit, end->variable, reader->arena);
  }
}

static void lower_connections(yoke_reader* reader, yoke_scenario* s) {
  yoke_scenario_connection* all = yoke__reader_array(reader, s->n_connections, sizeof *all);
  for (size_t i = 0; all != NULL && i < s->n_connections; i++) {
    all[i] = s->connections[i];
    lower_end(reader, s, &all[i].from);
    lower_end(reader, s, &all[i].to);
  }
  s->connections = all == NULL ? s->connections : all;
}

static const yoke_scenario_pair* lower_pairs(yoke_reader* reader, const yoke_scenario* s,
                                             const yoke_scenario_pair* pairs, size_t n) {
  yoke_scenario_pair* all = n == 0 ? NULL : yoke__reader_array(reader, n, sizeof *all);
  for (size_t i = 0; all != NULL && i < n; i++) {
    all[i] = pairs[i];
    lower_end(reader, s, &all[i].from);
    lower_end(reader, s, &all[i].to);
  }
  return all == NULL ? pairs : all;
}

static void lower_bonds(yoke_reader* reader, yoke_scenario* s) {
  yoke_scenario_bond* all = yoke__reader_array(reader, s->n_bonds, sizeof *all);
  for (size_t i = 0; all != NULL && i < s->n_bonds; i++) {
    all[i] = s->bonds[i];
    all[i].action = lower_pairs(reader, s, all[i].action, all[i].n_action);
    all[i].rate = lower_pairs(reader, s, all[i].rate, all[i].n_rate);
  }
  s->bonds = all == NULL ? s->bonds : all;
}

// "rc.V(out)", "rc.I(*)": the name of the unit stays
static const char* lower_pattern(yoke_reader* reader, const yoke_scenario* s, const char* text) {
  const char* dot = text == NULL ? NULL : strchr(text, '.');
  if (dot == NULL || strchr(dot, '(') == NULL || !is_circuit(s, text, (size_t)(dot - text))) {
    return text;
  }
  const size_t n = strlen(text), n_unit = (size_t)(dot - text);
  char* lower = yoke__reader_array(reader, n + 1, 1);
  for (size_t i = 0; lower != NULL && i < n; i++) {
    const int c = (unsigned char)text[i];
    lower[i] = (char)(i < n_unit ? c : tolower(c));
  }
  return lower == NULL ? text : lower;
}

static void lower_patterns(yoke_reader* reader, const yoke_scenario* s,
                           const yoke_scenario_name** names, size_t n) {
  yoke_scenario_name* all = n == 0 ? NULL : yoke__reader_array(reader, n, sizeof *all);
  for (size_t i = 0; all != NULL && i < n; i++) {
    all[i] = (*names)[i];
    all[i].text = lower_pattern(reader, s, all[i].text);
  }
  *names = all == NULL ? *names : all;
}

static void lower_limits(yoke_reader* reader, const yoke_scenario* s, yoke_scenario_trust* trust) {
  yoke_scenario_trust_limit* all = yoke__reader_array(reader, trust->n_limits, sizeof *all);
  for (size_t i = 0; all != NULL && i < trust->n_limits; i++) {
    all[i] = trust->limits[i];
    all[i].signal.text = lower_pattern(reader, s, all[i].signal.text);
  }
  trust->limits = all == NULL ? trust->limits : all;
}

static void lower_signal_limits(yoke_reader* reader, yoke_scenario* s) {
  yoke_scenario_signal_limit* all = yoke__reader_array(reader, s->n_signal_limits, sizeof *all);
  for (size_t i = 0; all != NULL && i < s->n_signal_limits; i++) {
    all[i] = s->signal_limits[i];
    all[i].signal.text = lower_pattern(reader, s, all[i].signal.text);
  }
  s->signal_limits = all == NULL ? s->signal_limits : all;
}

void yoke__netlist_signals_read(yoke_reader* reader, yoke_scenario* s) {
  bool has_any = false;
  for (size_t i = 0; i < s->n_units; i++) {
    has_any = has_any || yoke__scenario_has_netlist(&s->units[i]);
  }
  if (!has_any) {
    return;
  }
  if (s->n_connections > 0) {
    lower_connections(reader, s);
  }
  if (s->n_bonds > 0) {
    lower_bonds(reader, s);
  }
  lower_patterns(reader, s, &s->record_signals, s->n_record_signals);
  lower_patterns(reader, s, &s->trust.signals, s->trust.n_signals);
  if (s->trust.n_limits > 0) {
    lower_limits(reader, s, &s->trust);
  }
  if (s->n_signal_limits > 0) {
    lower_signal_limits(reader, s);
  }
}
