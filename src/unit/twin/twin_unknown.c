// Names of unknowns to what the filter is to find, in this order:
//
//   offset(SENSOR)    added to what that sensor reads
//   an `.input`       what the sources do that follow it
//   a `.param`        resistances, capacities or sources that are proportional to it: the netlist is read again with two other
//                     values, and what has changed says which they are and how they follow
//   an element        resistance, capacity, or source of a constant value
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "unit/twin/twin_part.h"

#define SAME      1e-9  // of a ratio to what it should be
#define MAX_TEXT  256
#define MAX_NAMES 4096  // compared for "did you mean"

bool yoke__twin_is_same(const char* a, const char* b) {
  while (*a != '\0' && tolower((unsigned char)*a) == tolower((unsigned char)*b)) {
    a++;
    b++;
  }
  return *a == *b;
}

typedef struct finder {
  twin* w;
  const twin_network* n;
  const yoke_network* circuit;
  yoke_messages* messages;
  const yoke_netlist_parameter* given;
  size_t n_given;
  size_t* owners;  // per resistor, capacity, input: 1 + the unknown that has it
  size_t at;       // the present unknown
} finder;

// ---------------------------------------------------------------------------------------------------------
// inputs

static uint32_t find_input(const yoke_network* circuit, const char* name) {
  for (uint32_t i = 0; i < circuit->n_inputs; i++) {
    if (yoke__twin_is_same(circuit->inputs[i].name, name)) {
      return i;
    }
  }
  return YOKE_NO_INDEX;
}

void yoke__twin_mark_inputs(const yoke_network* circuit, const yoke_twin_settings* settings,
                            bool is_unknown[]) {
  for (size_t i = 0; i < settings->n_unknowns; i++) {
    const uint32_t input = find_input(circuit, settings->unknowns[i].name);
    if (input != YOKE_NO_INDEX) {
      is_unknown[input] = true;
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// messages

static const yoke_twin_unknown* given_of(const finder* f) {
  return f->w->unknown_texts[f->at].given;
}

static yoke_status refuse(const finder* f, const char* format, ...) YOKE_PRINTF(2, 3);
static yoke_status refuse(const finder* f, const char* format, ...) {
  char text[YOKE_MESSAGE_TEXT_SIZE];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return yoke__error(f->messages, given_of(f)->place, "unknown '%s': %s", given_of(f)->name, text);
}

static void nearest_of(const char* name, const char** best, const char* other) {
  if (other != NULL) {
    *best = yoke__nearer_name(name, *best, other);
  }
}

static yoke_status refuse_unfound(const finder* f) {
  const char *name = given_of(f)->name, *best = NULL;
  const yoke_network* circuit = f->circuit;
  for (uint32_t i = 0; i < circuit->n_inputs; i++) {
    nearest_of(name, &best, circuit->inputs[i].name);
  }
  for (uint32_t i = 0; i < circuit->n_parameters; i++) {
    nearest_of(name, &best, circuit->parameters[i].spelling);
  }
  for (uint32_t i = 0; i < circuit->n_elements && i < MAX_NAMES; i++) {
    nearest_of(name, &best, circuit->elements[i].is_internal ? NULL : circuit->elements[i].name);
  }
  for (uint32_t i = 0; i < circuit->n_nodes && i < MAX_NAMES; i++) {
    nearest_of(name, &best, circuit->nodes[i].fixed_name);
  }
  return yoke__error_near(f->messages, given_of(f)->place, best,
                          "unknown '%s': the netlist has no input, parameter or element of this "
                          "name",
                          name);
}

// ---------------------------------------------------------------------------------------------------------
// targets

// Where the owner of a target is kept.
static size_t* owner_of(const finder* f, yoke_unknown_kind kind, uint32_t target) {
  const yoke_heat_network* heat = &f->n->heat;
  return kind == YOKE_UNKNOWN_INPUT      ? &f->owners[target]
         : kind == YOKE_UNKNOWN_CAPACITY ? &f->owners[heat->n_inputs + target]
                                         : &f->owners[heat->n_inputs + heat->n_capacities + target];
}

// Two unknowns for one thing could not be distinguished.
static yoke_status claim(const finder* f, const yoke_unknown* u) {
  for (size_t t = 0; t < u->n_targets && u->kind != YOKE_UNKNOWN_OFFSET; t++) {
    size_t* owner = owner_of(f, u->kind, u->targets[t]);
    if (*owner != 0) {
      return refuse(f, "it belongs to the unknown '%s' already",
                    f->w->unknown_texts[*owner - 1].name);
    }
    *owner = f->at + 1;
  }
  return YOKE_OK;
}

static yoke_status take_targets(const finder* f, size_t n, uint32_t** targets, double** factors) {
  *targets = yoke__arena_array(&f->w->arena, n, sizeof **targets);
  *factors = yoke__arena_array(&f->w->arena, n, sizeof **factors);
  return yoke__arena_status(&f->w->arena);
}

static const char* keep(const finder* f, const char* text) {
  const char* kept = yoke__arena_text(&f->w->arena, text, strlen(text));
  return kept == NULL ? "" : kept;
}

static bool is_thermal(const yoke_element* e) {
  return e->domain == YOKE_THERMAL;
}

static const char* dim_of(yoke_unknown_kind kind, bool is_heat) {
  switch (kind) {
  case YOKE_UNKNOWN_RESISTANCE:
  case YOKE_UNKNOWN_CONDUCTANCE:
    return is_heat ? "K/W" : "Ohm";
  case YOKE_UNKNOWN_CAPACITY:
    return is_heat ? "J/K" : "F";
  case YOKE_UNKNOWN_INPUT:
  case YOKE_UNKNOWN_OFFSET:
    break;
  }
  return is_heat ? "W" : "A";
}

static yoke_unknown* put(const finder* f, yoke_unknown_kind kind, const uint32_t targets[],
                         const double factors[], size_t n, double start, const char* dim,
                         const char* what) {
  twin_unknown* text = &f->w->unknown_texts[f->at];
  yoke_unknown* u = &f->w->unknowns[f->at];
  const double none = (double)NAN;
  *u = (yoke_unknown){.kind = kind,
                      .name = text->name,
                      .targets = targets,
                      .factors = factors,
                      .n_targets = n,
                      .start = start,
                      .sd = none,
                      .walk = none,
                      .lower = none,
                      .upper = none};
  text->dim = dim;
  text->what = keep(f, what);
  return u;
}

// ---------------------------------------------------------------------------------------------------------
// offset(SENSOR)

// "offset(t(s1))" -> "t(s1)" in `name`; false: it is no offset.
static bool is_offset(const char* text, char* name) {
  static const char word[] = "offset(";
  const size_t n = strlen(text), n_word = sizeof word - 1;
  if (strncmp(text, word, n_word) != 0 || text[n - 1] != ')' || n >= MAX_TEXT) {
    return false;
  }
  snprintf(name, MAX_TEXT, "%.*s", (int)(n - n_word - 1), text + n_word);
  return true;
}

static yoke_status find_offset(const finder* f, const char* name) {
  uint32_t* targets;
  double* factors;
  const char* best = NULL;
  YOKE_TRY(take_targets(f, 1, &targets, &factors));
  for (size_t i = 0; i < f->w->n_sensors; i++) {
    best = yoke__nearer_name(name, best, f->w->sensors[i].name);
    if (strcmp(f->w->sensors[i].name, name) == 0) {
      char what[MAX_TEXT];
      targets[0] = (uint32_t)i;
      factors[0] = 1;
      snprintf(what, sizeof what, "offset of the sensor %.200s", name);
      put(f, YOKE_UNKNOWN_OFFSET, targets, factors, 1, 0, f->w->sensor_texts[i].dim, what);
      return YOKE_OK;
    }
  }
  return yoke__error_near(f->messages, given_of(f)->place, best,
                          "unknown '%s': there is no sensor '%s'", given_of(f)->name, name);
}

// ---------------------------------------------------------------------------------------------------------
// an input of the netlist

static yoke_status use_input(const finder* f, uint32_t input) {
  const twin_network* n = f->n;
  uint32_t* targets;
  double* factors;
  size_t n_targets = 0;
  YOKE_TRY(take_targets(f, n->n_shares, &targets, &factors));
  for (size_t i = 0; i < n->n_shares; i++) {
    if (n->shares[i].input == input) {
      targets[n_targets] = n->shares[i].target;
      factors[n_targets++] = n->shares[i].factor;
    }
  }
  if (n_targets == 0) {
    return refuse(f, "this input acts on no source of heat or temperature");
  }
  const yoke_circuit_input* from = &f->circuit->inputs[input];
  put(f, YOKE_UNKNOWN_INPUT, targets, factors, n_targets, from->start, from->dim, "input");
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// an element

// Its value must be one number.
static yoke_status check_value(const finder* f, const yoke_circuit_value* value, const char* name) {
  const bool is_wave = value->wave != NULL && value->wave->kind != YOKE_WAVE_DC;
  return value->law == NULL && !is_wave
             ? YOKE_OK
             : refuse(f, "'%s' is %s: only a constant value can be unknown", name,
                      is_wave ? "a wave" : "given by an expression");
}

static yoke_status use_one(const finder* f, yoke_unknown_kind kind, uint32_t target, double factor,
                           double start, const char* dim, const char* what) {
  uint32_t* targets;
  double* factors;
  YOKE_TRY(take_targets(f, 1, &targets, &factors));
  targets[0] = target;
  factors[0] = factor;
  put(f, kind, targets, factors, 1, start, dim, what);
  return YOKE_OK;
}

static size_t count_at(const finder* f, uint32_t capacity) {
  size_t n = 0;
  for (uint32_t e = 0; e < f->circuit->n_elements; e++) {
    n += f->n->capacity_of[e] == capacity;
  }
  return n;
}

static yoke_status use_element(const finder* f, uint32_t index) {
  const yoke_element* e = &f->circuit->elements[index];
  const twin_network* n = f->n;
  const bool is_heat = is_thermal(e);
  char what[MAX_TEXT];
  YOKE_TRY(check_value(f, &e->value, e->name));
  if (n->resistor_of[index] != YOKE_NO_INDEX) {
    snprintf(what, sizeof what, "resistance %.200s", e->name);
    return use_one(f, YOKE_UNKNOWN_RESISTANCE, n->resistor_of[index], 1, e->value.constant,
                   dim_of(YOKE_UNKNOWN_RESISTANCE, is_heat), what);
  }
  if (n->capacity_of[index] != YOKE_NO_INDEX) {
    if (count_at(f, n->capacity_of[index]) > 1) {
      return refuse(f,
                    "'%s' stands beside another capacity on the same node: only their sum could "
                    "be found, so write them as one",
                    e->name);
    }
    snprintf(what, sizeof what, "capacity %.200s", e->name);
    return use_one(f, YOKE_UNKNOWN_CAPACITY, n->capacity_of[index], 1, e->value.constant,
                   dim_of(YOKE_UNKNOWN_CAPACITY, is_heat), what);
  }
  if (n->input_of[index] != YOKE_NO_INDEX) {
    const bool is_flow = e->kind == YOKE_CURRENT;
    const twin_input* input = &n->inputs[n->input_of[index]];
    snprintf(what, sizeof what, "%s source %.200s",
             is_flow   ? is_heat ? "heat" : "current"
             : is_heat ? "temperature"
                       : "voltage",
             e->name);
    return use_one(f, YOKE_UNKNOWN_INPUT, n->input_of[index], input->sign, e->value.constant,
                   is_flow   ? dim_of(YOKE_UNKNOWN_INPUT, is_heat)
                   : is_heat ? "K"
                             : "V",
                   what);
  }
  return refuse(f, "'%s' acts on no temperature of the network", e->name);
}

static uint32_t find_fixed(const yoke_network* circuit, const char* name) {
  for (uint32_t i = 0; i < circuit->n_nodes; i++) {
    if (circuit->nodes[i].fixed_name != NULL &&
        yoke__twin_is_same(circuit->nodes[i].fixed_name, name)) {
      return i;
    }
  }
  return YOKE_NO_INDEX;
}

static yoke_status use_fixed(const finder* f, uint32_t node) {
  const yoke_network_node* at = &f->circuit->nodes[node];
  char what[MAX_TEXT];
  YOKE_TRY(check_value(f, &at->fixed, at->fixed_name));
  if (f->n->fixed_input[node] == YOKE_NO_INDEX) {
    return refuse(f, "'%s' acts on no temperature of the network", at->fixed_name);
  }
  snprintf(what, sizeof what, "temperature source %.200s", at->fixed_name);
  return use_one(f, YOKE_UNKNOWN_INPUT, f->n->fixed_input[node], 1, at->fixed.constant, "K", what);
}

// ---------------------------------------------------------------------------------------------------------
// a parameter of the netlist

// What follows it.
typedef struct following {
  yoke_unknown_kind kind;
  bool has_any, is_inverse;
  uint32_t* targets;
  double* factors;
  size_t n;
  double value;      // of the parameter, as the netlist stands
  const char* name;  // of the first element
  const char* dim;
  char what[MAX_TEXT];
} following;

static const yoke_circuit_parameter* find_parameter(const yoke_network* circuit, const char* name) {
  for (uint32_t i = 0; i < circuit->n_parameters; i++) {
    if (yoke__twin_is_same(circuit->parameters[i].name, name)) {
      return &circuit->parameters[i];
    }
  }
  return NULL;
}

// The netlist with the parameter at a value; NULL after a message.
static yoke_network* read_with(const finder* f, const char* name, double value) {
  yoke_netlist_parameter* all = yoke__arena_array(&f->w->arena, f->n_given + 1, sizeof *all);
  yoke_network* network = NULL;
  yoke_messages found = {0};
  if (all == NULL) {
    yoke__messages_fail(f->messages, YOKE_NO_MEMORY, given_of(f)->place, "%s",
                        yoke_status_text(YOKE_NO_MEMORY));
    return NULL;
  }
  size_t n = 0;
  for (size_t i = 0; i < f->n_given; i++) {
    if (!yoke__twin_is_same(f->given[i].name, name)) {
      all[n++] = f->given[i];
    }
  }
  all[n++] = (yoke_netlist_parameter){name, value};
  const yoke_netlist_settings settings = {
      .path = f->circuit->path, .parameters = all, .n_parameters = n, .known = f->w->file->network};
  if (yoke__netlist_read_file(&settings, &found, &network) < 0) {
    (void)refuse(f, "the netlist cannot be read with '%s' = %.9g%s%s", name, value,
                 found.n > 0 ? ": " : "", found.n > 0 ? found.all[0].text : "");
  }
  yoke__messages_free(&found);
  return network;
}

// Names of what follows, as long as there is room.
static void add_name(following* to, const char* word, const char* name) {
  const size_t n = strlen(to->what);
  snprintf(to->what + n, sizeof to->what - n, "%s%s%.60s", n == 0 ? word : ",", " ", name);
}

static yoke_status mix(const finder* f, const following* to, const char* name) {
  return refuse(f,
                "'%s' and '%s' follow it in different ways: a parameter stands for resistances, "
                "for capacities or for sources",
                to->name, name);
}

// One element that has value a with the parameter at p, and b at 2 p.
static yoke_status add_follower(const finder* f, following* to, yoke_unknown_kind kind,
                                uint32_t target, const double values[3], double p, const char* word,
                                const char* name) {
  const double a = values[1], b = values[2], now = values[0];
  const bool is_inverse = fabs(2 * b - a) <= SAME * fabs(a);
  const bool is_proportional = fabs(b - 2 * a) <= SAME * fabs(b);
  if (!(is_proportional || (is_inverse && kind == YOKE_UNKNOWN_RESISTANCE))) {
    return refuse(f, "'%s' does not follow it in proportion", name);
  }
  if (target == YOKE_NO_INDEX) {
    return YOKE_OK;  // acts on nothing
  }
  const double factor = is_inverse ? a * p : a / p,
               value = is_inverse ? factor / now : now / factor;
  if (to->has_any && (to->kind != kind || to->is_inverse != is_inverse)) {
    return mix(f, to, name);
  }
  if (to->has_any && !(fabs(value - to->value) <= SAME * fabs(value))) {
    return refuse(f, "'%s' and '%s' do not agree on its value", to->name, name);
  }
  if (!to->has_any) {
    to->kind = kind;
    to->is_inverse = is_inverse;
    to->value = value;
    to->name = name;
  }
  to->has_any = true;
  to->targets[to->n] = target;
  to->factors[to->n++] = kind == YOKE_UNKNOWN_INPUT ? factor * f->n->inputs[target].sign : factor;
  add_name(to, word, name);
  return YOKE_OK;
}

static bool is_number(const yoke_circuit_value* value) {
  return value->law == NULL && (value->wave == NULL || value->wave->kind == YOKE_WAVE_DC);
}

// The value at one point, to see whether a law or wave changes with the parameter.
static double sample(const finder* f, const yoke_circuit_value* value) {
  return value->law != NULL ? yoke__signals_law(f->n->signals, value->law, f->n->x, NULL)
         : value->wave != NULL
             ? yoke__wave_value(value->wave, 0.37) + yoke__wave_value(value->wave, 1e-3)
             : value->constant;
}

// False: none of the three differs.
static bool are_different(const finder* f, const yoke_circuit_value* const values[3],
                          double numbers[3]) {
  for (int i = 0; i < 3; i++) {
    numbers[i] = sample(f, values[i]);
  }
  return numbers[1] != numbers[2] && !(isnan(numbers[1]) && isnan(numbers[2]));
}

static yoke_status follow_element(const finder* f, following* to, uint32_t index,
                                  const yoke_network* const three[3], double p) {
  const yoke_element* e = &three[0]->elements[index];
  const yoke_circuit_value* const values[3] = {&e->value, &three[1]->elements[index].value,
                                               &three[2]->elements[index].value};
  double numbers[3];
  if (!are_different(f, values, numbers)) {
    return YOKE_OK;
  }
  if (!is_number(&e->value)) {
    return refuse(f,
                  "'%s', which is given by an expression, follows it: only constant values can be "
                  "unknown",
                  e->name);
  }
  if (e->kind == YOKE_RESISTOR) {
    to->dim = dim_of(YOKE_UNKNOWN_RESISTANCE, is_thermal(e));
    return add_follower(f, to, YOKE_UNKNOWN_RESISTANCE, f->n->resistor_of[index], numbers, p,
                        "resistance", e->name);
  }
  if (e->kind == YOKE_CAPACITOR) {
    if (f->n->capacity_of[index] != YOKE_NO_INDEX && count_at(f, f->n->capacity_of[index]) > 1) {
      return refuse(f, "'%s' stands beside another capacity on the same node: write them as one",
                    e->name);
    }
    to->dim = dim_of(YOKE_UNKNOWN_CAPACITY, is_thermal(e));
    return add_follower(f, to, YOKE_UNKNOWN_CAPACITY, f->n->capacity_of[index], numbers, p,
                        "capacity", e->name);
  }
  to->dim = e->kind == YOKE_CURRENT ? is_thermal(e) ? "W" : "A" : is_thermal(e) ? "K" : "V";
  return add_follower(f, to, YOKE_UNKNOWN_INPUT, f->n->input_of[index], numbers, p, "source",
                      e->name);
}

static yoke_status follow_node(const finder* f, following* to, uint32_t index,
                               const yoke_network* const three[3], double p) {
  const yoke_network_node* node = &three[0]->nodes[index];
  const yoke_circuit_value* const values[3] = {&node->fixed, &three[1]->nodes[index].fixed,
                                               &three[2]->nodes[index].fixed};
  double numbers[3];
  if (!node->is_fixed || node->fixed_name == NULL || !are_different(f, values, numbers)) {
    return YOKE_OK;
  }
  if (!is_number(&node->fixed)) {
    return refuse(f,
                  "'%s', which is given by an expression, follows it: only constant values can be "
                  "unknown",
                  node->fixed_name);
  }
  to->dim = "K";
  return add_follower(f, to, YOKE_UNKNOWN_INPUT, f->n->fixed_input[index], numbers, p, "source",
                      node->fixed_name);
}

static yoke_status follow_all(const finder* f, following* to, const yoke_network* const three[3],
                              double p) {
  for (int i = 1; i < 3; i++) {
    if (three[i]->n_elements != three[0]->n_elements || three[i]->n_nodes != three[0]->n_nodes) {
      return refuse(f, "it changes which elements there are");
    }
  }
  for (uint32_t e = 0; e < three[0]->n_elements; e++) {
    YOKE_TRY(follow_element(f, to, e, three, p));
  }
  for (uint32_t i = 0; i < three[0]->n_nodes; i++) {
    YOKE_TRY(follow_node(f, to, i, three, p));
  }
  return to->has_any ? YOKE_OK
                     : refuse(f, "this parameter changes no resistance, capacity or source");
}

static double number_of(const finder* f, const yoke_circuit_parameter* parameter) {
  double value = 0;
  for (size_t i = 0; i < f->n_given; i++) {
    if (yoke__twin_is_same(f->given[i].name, parameter->name)) {
      return f->given[i].value;
    }
  }
  return yoke__number_parse_suffix(parameter->text, &value) ? value : 0;
}

static yoke_status use_parameter(const finder* f, const yoke_circuit_parameter* parameter) {
  const double number = number_of(f, parameter), p = number != 0 ? number : 1;
  following to = {.n = 0};
  YOKE_TRY(take_targets(f, (size_t)f->circuit->n_elements + f->circuit->n_nodes, &to.targets,
                        &to.factors));
  yoke_network* once = read_with(f, parameter->name, p);
  yoke_network* twice = once == NULL ? NULL : read_with(f, parameter->name, 2 * p);
  yoke_status status = YOKE_BAD_INPUT;
  if (twice != NULL) {
    const yoke_network* const three[3] = {f->circuit, once, twice};
    status = follow_all(f, &to, three, p);
  }
  yoke__network_destroy(&once);
  yoke__network_destroy(&twice);
  YOKE_TRY(status);
  twin_unknown* text = &f->w->unknown_texts[f->at];
  text->is_inverse = to.is_inverse;
  put(f, to.kind, to.targets, to.factors, to.n, to.is_inverse ? 1 / to.value : to.value,
      !to.is_inverse               ? to.dim
      : strcmp(to.dim, "K/W") == 0 ? "W/K"
                                   : "S",
      to.what);
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------

static yoke_status find_one(const finder* f) {
  char sensor[MAX_TEXT];
  const char* name = given_of(f)->name;
  if (is_offset(name, sensor)) {
    return find_offset(f, sensor);
  }
  const uint32_t input = find_input(f->circuit, name);
  if (input != YOKE_NO_INDEX) {
    return use_input(f, input);
  }
  const yoke_circuit_parameter* parameter = find_parameter(f->circuit, name);
  if (parameter != NULL) {
    return use_parameter(f, parameter);
  }
  const uint32_t element = yoke__network_find_element(f->circuit, name);
  if (element != YOKE_NO_INDEX) {
    return use_element(f, element);
  }
  const uint32_t fixed = find_fixed(f->circuit, name);
  return fixed != YOKE_NO_INDEX ? use_fixed(f, fixed) : refuse_unfound(f);
}

static bool is_element_kind(yoke_unknown_kind kind) {
  return kind == YOKE_UNKNOWN_RESISTANCE || kind == YOKE_UNKNOWN_CONDUCTANCE ||
         kind == YOKE_UNKNOWN_CAPACITY;
}

// What the file says of it; 1 / value where the filter's value is that.
static yoke_status take_given(const finder* f) {
  twin_unknown* text = &f->w->unknown_texts[f->at];
  yoke_unknown* u = &f->w->unknowns[f->at];
  const yoke_twin_unknown* given = text->given;
  const bool is_inverse = text->is_inverse;
  if (given->as != YOKE_TWIN_AS_DEFAULT && u->kind != YOKE_UNKNOWN_RESISTANCE) {
    yoke__error(f->messages, given->as_place, "'as' of '%s' is for resistances; this is a %s",
                given->name, u->kind == YOKE_UNKNOWN_CAPACITY ? "capacity" : "source or an offset");
    return YOKE_BAD_INPUT;
  }
  const double start = isnan(given->start) ? yoke__twin_value(text, u->start) : given->start;
  if (is_element_kind(u->kind) && !(start > 0 && !(given->lower <= 0))) {
    return refuse(f, "its value and its bounds must be greater than 0");
  }
  if (start < given->lower || start > given->upper) {
    return refuse(f, "its value %.9g lies outside of its bounds %.9g and %.9g", start, given->lower,
                  given->upper);
  }
  text->is_bounded = !isnan(given->lower);
  u->start = yoke__twin_value(text, start);
  u->lower = yoke__twin_value(text, is_inverse ? given->upper : given->lower);
  u->upper = yoke__twin_value(text, is_inverse ? given->lower : given->upper);
  u->sd = yoke__twin_deviation(text, start, given->sd);
  u->walk = yoke__twin_deviation(text, start, given->walk);
  if (u->kind == YOKE_UNKNOWN_RESISTANCE && given->as != YOKE_TWIN_RESISTANCE) {
    u->kind = YOKE_UNKNOWN_CONDUCTANCE;
  }
  return claim(f, u);
}

yoke_status yoke__twin_find_unknowns(twin* w, const yoke_netlist_parameter given[],
                                     size_t n_given) {
  const yoke_twin_settings* settings = w->settings;
  const yoke_heat_network* heat = &w->network.heat;
  finder f = {.w = w,
              .n = &w->network,
              .circuit = w->network.circuit,
              .messages = &w->messages,
              .given = given,
              .n_given = n_given};
  w->unknowns = yoke__arena_array(&w->arena, settings->n_unknowns + 1, sizeof *w->unknowns);
  w->unknown_texts =
      yoke__arena_array(&w->arena, settings->n_unknowns + 1, sizeof *w->unknown_texts);
  f.owners = yoke__arena_array(
      &w->arena, heat->n_inputs + heat->n_capacities + heat->n_resistors + 1, sizeof *f.owners);
  YOKE_TRY(yoke__arena_status(&w->arena));
  w->n_unknowns = settings->n_unknowns;
  yoke_status status = YOKE_OK;
  for (f.at = 0; f.at < settings->n_unknowns; f.at++) {
    w->unknown_texts[f.at] =
        (twin_unknown){.given = &settings->unknowns[f.at], .name = settings->unknowns[f.at].name};
    yoke_status one = find_one(&f);
    one = one < 0 ? one : take_given(&f);
    status = one < 0 ? one : status;
  }
  return status;
}
