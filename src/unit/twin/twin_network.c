// From a netlist to a thermal network, which is the same for voltages and currents of R, C, I and V:
//
//   resistor, conductance     resistor between two nodes; a law is evaluated at the present estimate, before each step
//   capacity                  of a node, its other end at a node of constant voltage (0 K, ground)
//   heat or current source    an input, with a gain at each of its ends
//   temperature or voltage source to ground     an imposed temperature, an input
//
// An input of the netlist that is unknown is one input of the thermal network; each source that follows it gets a share:
// value = share * unknown + what else its law says.
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "unit/twin/twin_part.h"

#define SAME 1e-9  // of two slopes of a law, relative
#define N_LINE                                                                                     \
  8  // instants of a step at which waves are looked at; an edge between two of them is half a distance off

static const char* const kind_words[YOKE_ELEMENT_N_KINDS] = {
    [YOKE_RESISTOR] = "a resistance",    [YOKE_CAPACITOR] = "a capacity",
    [YOKE_INDUCTOR] = "an inductor",     [YOKE_VOLTAGE] = "a voltage source",
    [YOKE_CURRENT] = "a source",         [YOKE_JUNCTION] = "a diode",
    [YOKE_SWITCH] = "a switch",          [YOKE_VCVS] = "a controlled source",
    [YOKE_VCCS] = "a controlled source", [YOKE_CCVS] = "a controlled source",
    [YOKE_CCCS] = "a controlled source"};

static const char usable[] =
    "use resistances, capacities to ground, and sources of heat or temperature";

typedef struct maker {
  twin_network* n;
  const yoke_network* circuit;
  yoke_arena* arena;
  yoke_messages* messages;
  yoke_heat_node* nodes;
  yoke_heat_resistor* resistors;
  yoke_heat_capacity* capacities;
  yoke_heat_source* sources;
  const char** input_names;
  twin_input* inputs;
  twin_share* shares;
  double* imposed_sign;  // per node of the netlist: of the voltage source that fixes it; 0: none
  uint32_t* imposed_element;  // and that source
  uint32_t* share_input;      // per input of the netlist: its input of the thermal network
  size_t n_errors;
} maker;

const char* yoke__twin_lower(yoke_arena* arena, const char* text) {
  char* lower = yoke__arena_text(arena, text, strlen(text));
  for (size_t i = 0; lower != NULL && lower[i] != '\0'; i++) {
    lower[i] = (char)tolower((unsigned char)lower[i]);
  }
  return lower;
}

// ---------------------------------------------------------------------------------------------------------
// what can be part of a twin

static bool depends_on(const yoke_expression* law, yoke_live_kind kind) {
  for (uint32_t i = 0; law != NULL && i < law->n_live; i++) {
    if (law->live[i].kind == kind) {
      return true;
    }
  }
  return false;
}

static bool is_constant(const yoke_circuit_value* value) {
  return value->law == NULL && (value->wave == NULL || value->wave->kind == YOKE_WAVE_DC);
}

static void refuse(maker* m, const yoke_element* e, const char* why) {
  assert(e->kind < YOKE_ELEMENT_N_KINDS);
  yoke__error(m->messages, e->place, "'%s' is %s%s", e->name, kind_words[e->kind], why);
  m->n_errors++;
}

// The unknown input that a law follows; YOKE_NO_INDEX: none.
static uint32_t unknown_of(const twin_network* n, const yoke_expression* law) {
  for (uint32_t i = 0; law != NULL && i < law->n_live; i++) {
    if (law->live[i].kind == YOKE_LIVE_INPUT && n->is_unknown[law->live[i].index]) {
      return law->live[i].index;
    }
  }
  return YOKE_NO_INDEX;
}

static void check_law(maker* m, const yoke_element* e) {
  const yoke_expression* law = e->value.law;
  const bool is_source = e->kind == YOKE_CURRENT;
  const uint32_t unknown = unknown_of(m->n, law);
  if (depends_on(law, YOKE_LIVE_CURRENT)) {
    yoke__error(m->messages, e->place,
                "'%s' follows a current, a heat flow or a power: a twin takes laws of time, inputs "
                "and temperatures",
                e->name);
    m->n_errors++;
  } else if (unknown != YOKE_NO_INDEX && (!is_source || depends_on(law, YOKE_LIVE_VOLTAGE))) {
    yoke__error(m->messages, e->place,
                is_source
                    ? "'%s' follows the unknown '%s' and temperatures: split it in two sources"
                    : "'%s' follows the unknown '%s': only sources of heat or temperature may",
                e->name, m->circuit->inputs[unknown].name);
    m->n_errors++;
  }
}

static bool is_ground(const maker* m, uint32_t node) {
  const yoke_network_node* at = &m->circuit->nodes[node];
  return at->is_fixed && is_constant(&at->fixed);
}

static void check_capacity(maker* m, const yoke_element* e) {
  if (e->value.law != NULL) {
    refuse(m, e, " that changes: a twin takes constant ones");
  } else if (!is_ground(m, e->a) && !is_ground(m, e->b)) {
    refuse(m, e, " between two nodes that move: give each node one to ground");
  }
}

// A voltage source fixes a node if its other end is ground.
static void check_voltage(maker* m, uint32_t index) {
  const yoke_element* e = &m->circuit->elements[index];
  const uint32_t node = e->b == 0 ? e->a : e->b;
  if (e->a != 0 && e->b != 0) {
    refuse(m, e, " that does not lead to ground: a twin takes imposed voltages");
  } else if (node != 0) {
    m->imposed_sign[node] = e->b == 0 ? 1 : -1;
    m->imposed_element[node] = index;
  }
}

static void check_element(maker* m, uint32_t index) {
  const yoke_element* e = &m->circuit->elements[index];
  char why[128];
  switch (e->kind) {
  case YOKE_RESISTOR:
  case YOKE_CURRENT:
    check_law(m, e);
    return;
  case YOKE_CAPACITOR:
    check_capacity(m, e);
    return;
  case YOKE_VOLTAGE:
    check_voltage(m, index);
    return;
  case YOKE_VCCS:
    if (yoke__element_is_conductance(e)) {
      check_law(m, e);
      return;
    }
    break;
  case YOKE_INDUCTOR:
  case YOKE_JUNCTION:
  case YOKE_SWITCH:
  case YOKE_VCVS:
  case YOKE_CCVS:
  case YOKE_CCCS:
  case YOKE_ELEMENT_N_KINDS:
    break;
  }
  snprintf(why, sizeof why, ", which a twin cannot have: %s", usable);
  refuse(m, e, why);
}

// ---------------------------------------------------------------------------------------------------------
// nodes and inputs

static uint32_t add_input(maker* m, const char* name, twin_input from) {
  yoke_heat_network* heat = &m->n->heat;
  m->input_names[heat->n_inputs] = name;
  m->inputs[heat->n_inputs] = from;
  return (uint32_t)heat->n_inputs++;
}

static const char* name_of_fixed(const maker* m, uint32_t node) {
  const yoke_network_node* at = &m->circuit->nodes[node];
  return m->imposed_sign[node] != 0 ? m->circuit->elements[m->imposed_element[node]].name
         : at->fixed_name != NULL   ? at->fixed_name
                                    : at->name;
}

// The node of the thermal network, made when something first leads to it.
static uint32_t use_node(maker* m, uint32_t node) {
  twin_network* n = m->n;
  const yoke_network_node* at = &m->circuit->nodes[node];
  if (n->node_of[node] != YOKE_NO_INDEX) {
    return n->node_of[node];
  }
  uint32_t fixed = YOKE_HEAT_FREE;
  if (m->imposed_sign[node] != 0) {
    fixed =
        add_input(m, name_of_fixed(m, node),
                  (twin_input){TWIN_OF_ELEMENT, m->imposed_element[node], m->imposed_sign[node]});
    n->input_of[m->imposed_element[node]] = fixed;
  } else if (at->is_fixed) {
    fixed = add_input(m, name_of_fixed(m, node), (twin_input){TWIN_OF_NODE, node, 1});
  }
  n->fixed_input[node] = fixed == YOKE_HEAT_FREE ? YOKE_NO_INDEX : fixed;
  n->node_of[node] = (uint32_t)n->heat.n_nodes;
  m->nodes[n->heat.n_nodes] = (yoke_heat_node){at->name, fixed};
  return (uint32_t)n->heat.n_nodes++;
}

// ---------------------------------------------------------------------------------------------------------
// elements

static void add_resistor(maker* m, uint32_t index) {
  const yoke_element* e = &m->circuit->elements[index];
  twin_network* n = m->n;
  if (e->a == e->b) {
    return;
  }
  const size_t at = n->heat.n_resistors++;
  const uint32_t a = use_node(m, e->a), b = use_node(m, e->b);
  m->resistors[at] = (yoke_heat_resistor){e->name, a, b};
  n->resistor_of[index] = (uint32_t)at;
  n->resistor_element[at] = index;
  if (!is_constant(&e->value)) {
    n->moving[n->n_moving++] = (uint32_t)at;
  } else {
    n->g[at] = e->kind == YOKE_VCCS ? e->value.constant : 1 / e->value.constant;
  }
}

// Two capacities on one node add up.
static void add_capacity(maker* m, uint32_t index) {
  const yoke_element* e = &m->circuit->elements[index];
  twin_network* n = m->n;
  const bool is_at_a = is_ground(m, e->b);
  const uint32_t circuit_node = is_at_a ? e->a : e->b;
  if (m->circuit->nodes[circuit_node].is_fixed || m->imposed_sign[circuit_node] != 0) {
    return;  // what it takes up there moves nothing
  }
  const uint32_t node = use_node(m, circuit_node);
  for (size_t i = 0; i < n->heat.n_capacities; i++) {
    if (m->capacities[i].node == node) {
      n->c[i] += e->value.constant;
      n->capacity_of[index] = (uint32_t)i;
      return;
    }
  }
  const size_t at = n->heat.n_capacities++;
  m->capacities[at] = (yoke_heat_capacity){e->name, node};
  n->c[at] = e->value.constant;
  n->capacity_of[index] = (uint32_t)at;
  n->capacity_element[at] = index;
}

static void add_ends(maker* m, const yoke_element* e, uint32_t input, double gain) {
  yoke_heat_network* heat = &m->n->heat;
  const struct {
    uint32_t node;
    double gain;
  } ends[] = {{e->a, -gain}, {e->b, gain}};
  for (int i = 0; i < 2; i++) {
    // what flows into an imposed temperature changes nothing
    const yoke_network_node* at = &m->circuit->nodes[ends[i].node];
    if (!at->is_fixed && m->imposed_sign[ends[i].node] == 0) {
      const uint32_t node = use_node(m, ends[i].node);
      m->sources[heat->n_sources++] = (yoke_heat_source){e->name, node, input, ends[i].gain};
    }
  }
}

// ---- sources that follow an unknown input

// The law where time, inputs and the unknown are as given, and its slope by the unknown.
static double look(const yoke_signals* s, const yoke_expression* law, uint32_t unknown,
                   double* slope) {
  double gradient[YOKE_EXPRESSION_MAX_LIVE];
  const double value = yoke__signals_law(s, law, NULL, gradient);
  for (uint32_t i = 0; i < law->n_live; i++) {
    if (law->live[i].kind == YOKE_LIVE_INPUT && law->live[i].index == unknown) {
      *slope = gradient[i];
    }
  }
  return value;
}

static bool is_same_slope(double a, double b) {
  return fabs(a - b) <= SAME * (fabs(a) + fabs(b));  // false for NaN
}

// A law that is constant * unknown + rest: *factor. has_rest: there is more to it. False: it is no such law.
static bool split_law(maker* m, const yoke_expression* law, uint32_t unknown, double* factor,
                      bool* has_rest) {
  yoke_signals* s = m->n->signals;
  double first = 0, other = 0, far = 0, moved = 0;
  s->input[unknown] = 0;
  const double at_zero = look(s, law, unknown, &first);
  s->input[unknown] = 1;
  const double at_one = look(s, law, unknown, &other);
  s->input[unknown] = -1e3;
  (void)look(s, law, unknown, &far);
  for (uint32_t i = 0; i < m->circuit->n_inputs; i++) {
    s->input[i] = i == unknown ? 1 : 1.3 * s->input[i] + 0.7;
  }
  s->t = 1.7;
  (void)look(s, law, unknown, &moved);
  s->t = 0;
  memcpy(s->input, s->u, m->circuit->n_inputs * sizeof *s->input);
  *factor = first;
  *has_rest = law->n_live > 1 || at_zero != 0;
  return is_same_slope(first, other) && is_same_slope(first, far) && is_same_slope(first, moved) &&
         is_same_slope(first, at_one - at_zero) && first != 0;
}

static uint32_t share_of(maker* m, uint32_t unknown) {
  if (m->share_input[unknown] == YOKE_NO_INDEX) {
    m->share_input[unknown] =
        add_input(m, m->circuit->inputs[unknown].name, (twin_input){TWIN_OF_INPUT, unknown, 1});
  }
  return m->share_input[unknown];
}

static void note_share(maker* m, uint32_t unknown, uint32_t target, double factor) {
  for (size_t i = 0; i < m->n->n_shares; i++) {
    if (m->shares[i].target == target) {
      return;
    }
  }
  m->shares[m->n->n_shares++] = (twin_share){unknown, target, factor};
}

static bool has_two_unknowns(const maker* m, const yoke_expression* law) {
  size_t n = 0;
  for (uint32_t i = 0; i < law->n_live; i++) {
    n += law->live[i].kind == YOKE_LIVE_INPUT && m->n->is_unknown[law->live[i].index];
  }
  return n > 1;
}

static void refuse_share(maker* m, yoke_place place, const char* name, uint32_t unknown) {
  yoke__error(m->messages, place,
              "'%s' does not follow the unknown '%s' in proportion, with a constant factor", name,
              m->circuit->inputs[unknown].name);
  m->n_errors++;
}

static void add_source(maker* m, uint32_t index) {
  const yoke_element* e = &m->circuit->elements[index];
  twin_network* n = m->n;
  const uint32_t unknown = unknown_of(n, e->value.law);
  double factor = 0;
  bool has_rest = true;
  if (unknown != YOKE_NO_INDEX) {
    if (has_two_unknowns(m, e->value.law) ||
        !split_law(m, e->value.law, unknown, &factor, &has_rest)) {
      refuse_share(m, e->place, e->name, unknown);
      return;
    }
    const uint32_t input = share_of(m, unknown);
    note_share(m, unknown, input, 1);
    add_ends(m, e, input, factor);
  }
  if (has_rest) {
    n->input_of[index] = add_input(m, e->name, (twin_input){TWIN_OF_ELEMENT, index, 1});
    add_ends(m, e, n->input_of[index], 1);
  }
}

// An imposed temperature is one input: nothing but a share of the unknown.
static void share_fixed(maker* m, uint32_t node) {
  const yoke_circuit_value* value = m->imposed_sign[node] != 0
                                        ? &m->circuit->elements[m->imposed_element[node]].value
                                        : &m->circuit->nodes[node].fixed;
  const uint32_t unknown = unknown_of(m->n, value->law);
  double factor = 0;
  bool has_rest = false;
  if (unknown == YOKE_NO_INDEX || m->n->fixed_input[node] == YOKE_NO_INDEX) {
    return;
  }
  const bool is_share = !has_two_unknowns(m, value->law) &&
                        split_law(m, value->law, unknown, &factor, &has_rest) && !has_rest;
  if (!is_share) {
    refuse_share(m, m->circuit->nodes[node].place, name_of_fixed(m, node), unknown);
    return;
  }
  const double sign = m->imposed_sign[node] != 0 ? m->imposed_sign[node] : 1;
  note_share(m, unknown, m->n->fixed_input[node], sign * factor);
}

// ---------------------------------------------------------------------------------------------------------
// laws

static void mark_law(const yoke_expression* law, bool is_wanted[]) {
  for (uint32_t i = 0; law != NULL && i < law->n_live; i++) {
    if (law->live[i].kind == YOKE_LIVE_VOLTAGE) {
      is_wanted[law->live[i].index] = true;
    }
  }
}

static yoke_status list_law_nodes(maker* m) {
  const yoke_network* circuit = m->circuit;
  twin_network* n = m->n;
  bool* is_wanted = yoke__arena_array(m->arena, circuit->n_nodes, sizeof *is_wanted);
  YOKE_TRY_MEMORY(is_wanted);
  for (uint32_t e = 0; e < circuit->n_elements; e++) {
    mark_law(circuit->elements[e].value.law, is_wanted);
  }
  for (uint32_t i = 0; i < circuit->n_nodes; i++) {
    if (is_wanted[i] && n->node_of[i] != YOKE_NO_INDEX) {
      n->law_nodes[n->n_law_nodes++] = i;
    }
  }
  return YOKE_OK;
}

static bool is_timed(const yoke_circuit_value* value) {
  bool has_time = value->wave != NULL && value->wave->kind != YOKE_WAVE_DC;
  for (uint32_t i = 0; value->law != NULL && i < value->law->n_live; i++) {
    has_time = has_time || value->law->live[i].kind == YOKE_LIVE_TIME;
  }
  return has_time;
}

// Inputs that move without anybody telling.
static yoke_status list_timed(maker* m) {
  twin_network* n = m->n;
  n->timed = yoke__arena_array(m->arena, n->heat.n_inputs + 1, sizeof *n->timed);
  n->sums = yoke__arena_array(m->arena, 2 * n->heat.n_inputs + 1, sizeof *n->sums);
  YOKE_TRY_MEMORY(n->timed && n->sums);
  for (size_t i = 0; i < n->heat.n_inputs; i++) {
    const twin_input* from = &n->inputs[i];
    if (from->kind != TWIN_OF_INPUT &&
        is_timed(from->kind == TWIN_OF_NODE ? &m->circuit->nodes[from->index].fixed
                                            : &m->circuit->elements[from->index].value)) {
      n->timed[n->n_timed++] = (uint32_t)i;
    }
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------

static yoke_status take_memory(maker* m) {
  const size_t n_e = (size_t)m->circuit->n_elements + 1, n_n = m->circuit->n_nodes;
  const size_t n_inputs = n_e + n_n + m->circuit->n_inputs;
  yoke_arena* arena = m->arena;
  twin_network* n = m->n;
  m->nodes = yoke__arena_array(arena, n_n, sizeof *m->nodes);
  m->resistors = yoke__arena_array(arena, n_e, sizeof *m->resistors);
  m->capacities = yoke__arena_array(arena, n_e, sizeof *m->capacities);
  m->sources = yoke__arena_array(arena, 4 * n_e, sizeof *m->sources);
  // NOLINTNEXTLINE(bugprone-sizeof-expression): the elements are pointers
  m->input_names = yoke__arena_array(arena, n_inputs, sizeof *m->input_names);
  m->inputs = yoke__arena_array(arena, n_inputs, sizeof *m->inputs);
  m->shares = yoke__arena_array(arena, n_inputs, sizeof *m->shares);
  m->imposed_sign = yoke__arena_array(arena, n_n, sizeof *m->imposed_sign);
  m->imposed_element = yoke__arena_array(arena, n_n, sizeof *m->imposed_element);
  m->share_input =
      yoke__arena_array(arena, (size_t)m->circuit->n_inputs + 1, sizeof *m->share_input);
  uint32_t* numbers = yoke__arena_array(arena, 6 * n_e + 3 * n_n, sizeof *numbers);
  double* values = yoke__arena_array(arena, 3 * n_e + n_n, sizeof *values);
  YOKE_TRY(yoke__arena_status(arena));
  n->node_of = numbers;
  n->fixed_input = n->node_of + n_n;
  n->resistor_of = n->fixed_input + n_n;
  n->capacity_of = n->resistor_of + n_e;
  n->input_of = n->capacity_of + n_e;
  memset(numbers, 0xff, (size_t)(n->input_of + n_e - numbers) * sizeof *numbers);
  n->resistor_element = n->input_of + n_e;
  n->capacity_element = n->resistor_element + n_e;
  n->moving = n->capacity_element + n_e;
  n->law_nodes = n->moving + n_e;
  n->g = values;
  n->c = values + n_e;
  n->x = values + 2 * n_e;
  memset(m->share_input, 0xff, ((size_t)m->circuit->n_inputs + 1) * sizeof *m->share_input);
  return YOKE_OK;
}

static void add_elements(maker* m) {
  for (uint32_t e = 0; e < m->circuit->n_elements; e++) {
    const yoke_element_kind kind = m->circuit->elements[e].kind;
    if (kind == YOKE_RESISTOR || kind == YOKE_VCCS) {
      add_resistor(m, e);
    } else if (kind == YOKE_CAPACITOR) {
      add_capacity(m, e);
    } else if (kind == YOKE_CURRENT) {
      add_source(m, e);
    }
  }
  for (uint32_t i = 0; i < m->circuit->n_nodes; i++) {
    share_fixed(m, i);
  }
}

static void finish(maker* m) {
  yoke_heat_network* heat = &m->n->heat;
  heat->nodes = m->nodes;
  heat->resistors = m->resistors;
  heat->capacities = m->capacities;
  heat->sources = m->sources;
  heat->input_names = m->input_names;
  m->n->inputs = m->inputs;
  m->n->shares = m->shares;
}

// Laws first see what is known of the start: T0 where it is given, else an imposed temperature.
static void guess_temperatures(const maker* m) {
  const yoke_network* circuit = m->circuit;
  double base = 0;
  for (uint32_t i = 1; i < circuit->n_nodes && base == 0; i++) {
    base = circuit->nodes[i].is_fixed ? m->n->signals->node[i]
           : m->imposed_sign[i] != 0
               ? m->imposed_sign[i] * m->n->signals->element[m->imposed_element[i]]
               : 0;
  }
  for (uint32_t i = 1; i < circuit->n_nodes; i++) {
    m->n->x[i] = circuit->nodes[i].has_start ? circuit->nodes[i].start : base;
  }
  for (uint32_t e = 0; e < circuit->n_elements; e++) {
    const yoke_element* element = &circuit->elements[e];
    if (element->kind == YOKE_CAPACITOR && element->has_start && element->b == 0) {
      m->n->x[element->a] = element->start;
    }
  }
}

yoke_status yoke__twin_network_make(const yoke_network* circuit, const bool is_unknown[],
                                    yoke_arena* arena, yoke_messages* messages, twin_network* out) {
  *out = (twin_network){
      .circuit = circuit, .arena = arena, .messages = messages, .is_unknown = is_unknown};
  maker m = {.n = out, .circuit = circuit, .arena = arena, .messages = messages};
  YOKE_TRY(yoke__signals_create(circuit, arena, &out->signals));
  YOKE_TRY(take_memory(&m));
  for (uint32_t e = 0; e < circuit->n_elements; e++) {
    check_element(&m, e);
  }
  if (m.n_errors > 0) {
    return YOKE_BAD_INPUT;
  }
  add_elements(&m);
  finish(&m);
  YOKE_TRY(list_law_nodes(&m));
  YOKE_TRY(list_timed(&m));
  guess_temperatures(&m);
  (void)yoke__twin_network_conductances(out);
  return m.n_errors > 0 ? YOKE_BAD_INPUT : YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// values

// Laws of temperatures are not among the signals.
static double value_of(const twin_network* n, uint32_t element) {
  const yoke_expression* law = n->circuit->elements[element].value.law;
  return law != NULL && yoke__expression_has_state(law)
             ? yoke__signals_law(n->signals, law, n->x, NULL)
             : n->signals->element[element];
}

static double input_value(const twin_network* n, size_t input) {
  const twin_input* from = &n->inputs[input];
  return from->kind == TWIN_OF_INPUT  ? 0
         : from->kind == TWIN_OF_NODE ? n->signals->node[from->index]
                                      : from->sign * value_of(n, from->index);
}

void yoke__twin_network_inputs(const twin_network* n, double t, double v[]) {
  // the filter adds what unknown inputs bring
  for (uint32_t i = 0; i < n->circuit->n_inputs; i++) {
    n->signals->u[i] = n->is_unknown[i] ? 0 : n->signals->u[i];
  }
  yoke__signals_update(n->signals, t);
  for (size_t i = 0; i < n->heat.n_inputs; i++) {
    v[i] = input_value(n, i);
  }
}

bool yoke__twin_network_line(const twin_network* n, double t, double h, const double v[],
                             double line[], double slope[]) {
  double* moments = n->sums + n->heat.n_inputs;
  bool has_line = false;
  memcpy(line, v, n->heat.n_inputs * sizeof *v);
  memset(slope, 0, n->heat.n_inputs * sizeof *slope);
  memset(n->sums, 0, 2 * n->heat.n_inputs * sizeof *n->sums);
  for (size_t k = 0; k < N_LINE && n->n_timed > 0; k++) {
    const double place = ((double)k + 0.5) / N_LINE;
    yoke__signals_update(n->signals, t + place * h);
    for (size_t i = 0; i < n->n_timed; i++) {
      const uint32_t at = n->timed[i];
      const double away = input_value(n, at) - v[at];
      n->sums[at] += away;
      moments[at] += (place - 0.5) * away;
    }
  }
  for (size_t i = 0; i < n->n_timed; i++) {
    const uint32_t at = n->timed[i];
    const double rise = moments[at] * (12.0 * N_LINE / (N_LINE * N_LINE - 1.0));
    line[at] += n->sums[at] / N_LINE - 0.5 * rise;
    slope[at] = rise / h;
    has_line = has_line || line[at] != v[at] || rise != 0;
  }
  if (n->n_timed > 0) {
    yoke__signals_update(n->signals, t);
  }
  return has_line;
}

bool yoke__twin_network_conductances(const twin_network* n) {
  bool is_changed = false;
  for (size_t i = 0; i < n->n_moving; i++) {
    const uint32_t at = n->moving[i], element = n->resistor_element[at];
    const double value = value_of(n, element);
    const double g = n->circuit->elements[element].kind == YOKE_VCCS ? value : 1 / value;
    is_changed = is_changed || g != n->g[at];
    n->g[at] = g;
  }
  return is_changed;
}

// ---------------------------------------------------------------------------------------------------------
// rows

static bool potential_row(const twin_network* n, uint32_t a, uint32_t b, yoke_heat_row* row,
                          const char** why) {
  const uint32_t from = n->node_of[a], to = b == YOKE_NO_INDEX || b == 0 ? b : n->node_of[b];
  if (from == YOKE_NO_INDEX || (b != YOKE_NO_INDEX && b != 0 && to == YOKE_NO_INDEX)) {
    *why = "no resistance or capacity leads to this node";
    return false;
  }
  *row = b == YOKE_NO_INDEX || b == 0
             ? (yoke_heat_row){.kind = YOKE_ROW_TEMPERATURE, .index = from}
             : (yoke_heat_row){.kind = YOKE_ROW_DIFFERENCE, .index = from, .other = to};
  return true;
}

static bool flow_row(const twin_network* n, uint32_t element, yoke_heat_row* row,
                     const char** why) {
  if (n->resistor_of[element] != YOKE_NO_INDEX) {
    *row = (yoke_heat_row){.kind = YOKE_ROW_FLOW, .index = n->resistor_of[element]};
    return true;
  }
  const yoke_element* e = &n->circuit->elements[element];
  if (e->kind == YOKE_CURRENT && unknown_of(n, e->value.law) == YOKE_NO_INDEX) {
    *row = (yoke_heat_row){.kind = YOKE_ROW_INPUT, .index = n->input_of[element]};
    return true;
  }
  *why = "a twin reads temperatures t(x), t(a,b), voltages v(x), v(a,b), and flows i(x) through "
         "resistances";
  return false;
}

bool yoke__twin_network_row(const twin_network* n, const yoke_probe* probe, yoke_heat_row* row,
                            const char** why) {
  switch (probe->kind) {
  case YOKE_PROBE_VOLTAGE:
    return potential_row(n, probe->index, YOKE_NO_INDEX, row, why);
  case YOKE_PROBE_DIFFERENCE:
    return potential_row(n, probe->index, probe->other, row, why);
  case YOKE_PROBE_CURRENT:
    return flow_row(n, probe->index, row, why);
  case YOKE_PROBE_FLOW:
  case YOKE_PROBE_POWER:
  case YOKE_PROBE_LAW:
    break;
  }
  *why = "a twin reads temperatures t(x), t(a,b), voltages v(x), v(a,b), and flows i(x) through "
         "resistances";
  return false;
}
