// Checks of what a filter is made of, and its memory.
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "estimate/estimate_filter_part.h"

#define ELEMENT_RANGE 1e6  // resistances and capacities stay within this factor of their start
#define SD_RANGE      100  // a guess that may be 0 as well: 1 / R may be this much larger

typedef struct check {
  const yoke_estimate_setup* setup;
  const yoke_sink* sink;
  size_t n_errors;
} check;

static bool is_element(yoke_unknown_kind kind) {
  return kind == YOKE_UNKNOWN_RESISTANCE || kind == YOKE_UNKNOWN_CONDUCTANCE ||
         kind == YOKE_UNKNOWN_CAPACITY;
}

static bool is_resistor(yoke_unknown_kind kind) {
  return kind == YOKE_UNKNOWN_RESISTANCE || kind == YOKE_UNKNOWN_CONDUCTANCE;
}

// ---- checks

static void expect(check* c, bool is_met, const char* what, const char* name, const char* wanted) {
  if (!is_met) {
    c->n_errors++;
    yoke_fail(c->sink, YOKE_BAD_INPUT, "%s '%s': %s", what, name, wanted);
  }
}

static bool has_row(const yoke_heat_network* network, yoke_heat_row row) {
  switch (row.kind) {
  case YOKE_ROW_TEMPERATURE:
    return row.index < network->n_nodes;
  case YOKE_ROW_DIFFERENCE:
    return row.index < network->n_nodes && row.other < network->n_nodes;
  case YOKE_ROW_FLOW:
    return row.index < network->n_resistors;
  case YOKE_ROW_INPUT:
    return row.index < network->n_inputs;
  }
  return false;
}

static bool is_not_negative(double x) {
  return yoke__is_finite(x) && x >= 0.0;
}

// Number of things that an unknown of this kind may have as targets.
static size_t count_targets(const yoke_estimate_setup* s, yoke_unknown_kind kind) {
  switch (kind) {
  case YOKE_UNKNOWN_RESISTANCE:
  case YOKE_UNKNOWN_CONDUCTANCE:
    return s->network->n_resistors;
  case YOKE_UNKNOWN_CAPACITY:
    return s->network->n_capacities;
  case YOKE_UNKNOWN_INPUT:
    return s->network->n_inputs;
  case YOKE_UNKNOWN_OFFSET:
    break;
  }
  return s->n_sensors;
}

static bool has_target(const yoke_unknown* unknown, size_t n, uint32_t target) {
  for (size_t t = 0; t < n; t++) {
    if (unknown->targets[t] == target) {
      return true;
    }
  }
  return false;
}

static void check_targets(check* c, size_t j) {
  const yoke_unknown* u = &c->setup->unknowns[j];
  expect(c, u->n_targets > 0, "unknown", u->name, "there is nothing that it belongs to");
  expect(c, u->kind != YOKE_UNKNOWN_OFFSET || u->n_targets == 1, "unknown", u->name,
         "an offset belongs to one sensor");
  for (size_t t = 0; t < u->n_targets; t++) {
    const double factor = u->factors != NULL ? u->factors[t] : 1.0;
    expect(c, u->targets[t] < count_targets(c->setup, u->kind), "unknown", u->name,
           "what it belongs to does not exist");
    // elements keep their sign under a positive factor; an offset or an input may be turned round
    expect(c, yoke__is_finite(factor) && (is_element(u->kind) ? factor > 0.0 : factor != 0.0),
           "unknown", u->name, "its factors must be finite and not 0, those of elements positive");
    expect(c, !has_target(u, t, u->targets[t]), "unknown", u->name,
           "it names the same target twice");
    for (size_t k = 0; k < j; k++) {
      const yoke_unknown* other = &c->setup->unknowns[k];
      // a resistor may be unknown by R or by 1 / R, not by both
      const bool is_same_kind =
          u->kind == other->kind || (is_resistor(u->kind) && is_resistor(other->kind));
      expect(c, !is_same_kind || !has_target(other, other->n_targets, u->targets[t]), "unknown",
             u->name, "what it belongs to is another unknown already");
    }
  }
}

static void check_unknowns(check* c) {
  for (size_t j = 0; j < c->setup->n_unknowns; j++) {
    const yoke_unknown* u = &c->setup->unknowns[j];
    check_targets(c, j);
    expect(c, yoke__is_finite(u->start) && (!is_element(u->kind) || u->start > 0.0), "unknown",
           u->name, "its start must be finite, that of resistances and capacities positive");
    expect(c, is_not_negative(u->sd) && is_not_negative(u->walk), "unknown", u->name,
           "its standard deviation and walk must be 0 or more");
    expect(c, u->lower <= u->start && u->start <= u->upper, "unknown", u->name,
           "its start must lie between its bounds");
  }
}

static void check_rows(check* c) {
  const yoke_estimate_setup* s = c->setup;
  for (size_t i = 0; i < s->n_sensors; i++) {
    expect(c, has_row(s->network, s->sensors[i].row), "sensor", s->sensors[i].name,
           "what it measures does not exist");
    expect(c, is_not_negative(s->sensors[i].sigma) && s->sensors[i].sigma > 0.0, "sensor",
           s->sensors[i].name, "its standard deviation must be positive");
  }
  for (size_t i = 0; i < s->n_outputs; i++) {
    expect(c, has_row(s->network, s->outputs[i]), "output", "of the estimate", "does not exist");
  }
}

static void check_numbers(check* c, yoke_estimate_method method) {
  const yoke_estimate_setup* s = c->setup;
  const struct {
    const char* name;
    bool is_met;
  } numbers[] = {
      {"step", yoke__is_finite(s->h) && s->h > 0.0},
      {"rate_sd", is_not_negative(s->rate_sd)},
      {"z_walk", is_not_negative(s->z_walk)},
      {"rate_walk", is_not_negative(s->rate_walk)},
      {"gate", is_not_negative(s->gate)},
      {"jitter", is_not_negative(s->jitter)},
  };
  for (size_t i = 0; i < YOKE_COUNT(numbers); i++) {
    expect(c, numbers[i].is_met, "estimate", numbers[i].name,
           i == 0 ? "must be positive" : "must be 0 or more");
  }
  for (size_t i = 0; i < s->network->n_capacities; i++) {
    expect(c, is_not_negative(s->z_sd[i]), "estimate", s->network->capacities[i].name,
           "the standard deviation of its temperature must be 0 or more");
  }
  expect(c, method != YOKE_ESTIMATE_DERIVATIVE || s->rate_walk > 0.0 || s->jitter > 0.0, "estimate",
         "rate_walk",
         "must be positive: without it the covariance becomes singular (try 30 K/s/sqrt(s))");
}

// ---- method

static void warn_extended(const yoke_sink* sink, const char* name) {
  char text[YOKE_MESSAGE_TEXT_SIZE];
  snprintf(text, sizeof text,
           "unknown '%s': the extended filter finds resistances and capacities only from good "
           "guesses",
           name);
  yoke_send(sink, &(yoke_message){.severity = YOKE_WARNING,
                                  .status = YOKE_OK,
                                  .time = (double)NAN,
                                  .text = text,
                                  .hint = "use the method with derivatives"});
}

static yoke_estimate_method choose_method(check* c) {
  // without unknown elements the model is linear in what is estimated,
  // and the linear filter is exact
  const yoke_estimate_setup* s = c->setup;
  yoke_estimate_method method = s->method;
  for (size_t j = 0; j < s->n_unknowns; j++) {
    const yoke_unknown* u = &s->unknowns[j];
    if (!is_element(u->kind)) {
      continue;
    }
    expect(c, method != YOKE_ESTIMATE_LINEAR, "unknown", u->name,
           "the linear filter finds no resistances and capacities: use the one with derivatives");
    if (s->method == YOKE_ESTIMATE_AUTO) {
      method = YOKE_ESTIMATE_DERIVATIVE;
    }
    if (method == YOKE_ESTIMATE_EXTENDED) {
      warn_extended(c->sink, u->name);
    }
  }
  return method == YOKE_ESTIMATE_AUTO ? YOKE_ESTIMATE_LINEAR : method;
}

// ---- copies

// Does the resistor lead to a free node that has no other one? The temperature there is T + R Q, linear in R, and nothing else
// depends on R.
static bool is_leaf(const yoke_heat_network* network, uint32_t resistor) {
  const uint32_t ends[] = {network->resistors[resistor].a, network->resistors[resistor].b};
  bool is_found = false;

  // free end: no imposed temperature, no capacity, no other resistor
  for (size_t end = 0; end < 2; end++) {
    bool is_free = network->nodes[ends[end]].fixed == YOKE_HEAT_FREE;
    for (size_t i = 0; i < network->n_capacities; i++) {
      is_free = is_free && network->capacities[i].node != ends[end];
    }
    for (uint32_t e = 0; e < network->n_resistors; e++) {
      const yoke_heat_resistor* r = &network->resistors[e];
      is_free = is_free && (e == resistor || (r->a != ends[end] && r->b != ends[end]));
    }
    is_found = is_found || is_free;
  }
  return is_found;
}

// Conductances make the heat balances bilinear, but not the temperatures of leaves.
static yoke_unknown_kind choose_kind(const yoke_heat_network* network, const yoke_unknown* u) {
  // a conductance in the balance is a product g T of two states; at a leaf R enters linearly
  bool are_leaves = true;
  for (size_t t = 0; t < u->n_targets && u->kind == YOKE_UNKNOWN_CONDUCTANCE; t++) {
    are_leaves = are_leaves && is_leaf(network, u->targets[t]);
  }
  return u->kind == YOKE_UNKNOWN_CONDUCTANCE && are_leaves ? YOKE_UNKNOWN_RESISTANCE : u->kind;
}

static yoke_status copy_unknowns(yoke_estimate* f, yoke_arena* arena) {
  const yoke_estimate_setup* from = &f->setup;
  yoke_unknown* unknowns = yoke__arena_array(arena, f->n_rho, sizeof *unknowns);
  YOKE_TRY_MEMORY(unknowns != NULL);
  for (size_t j = 0; j < f->n_rho; j++) {
    unknowns[j] = from->unknowns[j];
    unknowns[j].kind = choose_kind(from->network, &from->unknowns[j]);
    const size_t n = unknowns[j].n_targets;
    uint32_t* targets = yoke__arena_array(arena, n, sizeof *targets);
    double* factors = yoke__arena_array(arena, n, sizeof *factors);
    YOKE_TRY(yoke__arena_status(arena));
    for (size_t t = 0; t < n; t++) {
      targets[t] = from->unknowns[j].targets[t];
      factors[t] = from->unknowns[j].factors != NULL ? from->unknowns[j].factors[t] : 1.0;
    }
    unknowns[j].targets = targets;
    unknowns[j].factors = factors;
    f->has_elements = f->has_elements || is_element(unknowns[j].kind);
  }
  f->setup.unknowns = unknowns;
  return YOKE_OK;
}

// A copy of n elements of a size; NULL stays so.
static const void* copy(yoke_arena* arena, const void* from, size_t n, size_t size) {
  void* to = yoke__arena_array(arena, n, size);
  if (to != NULL && n > 0) {
    memcpy(to, from, n * size);
  }
  return to;
}

static yoke_status copy_setup(yoke_estimate* f, yoke_arena* arena) {
  yoke_estimate_setup* s = &f->setup;
  f->sensors = yoke__arena_array(arena, s->n_sensors, sizeof *f->sensors);
  if (f->sensors != NULL && s->n_sensors > 0) {
    memcpy(f->sensors, s->sensors, s->n_sensors * sizeof *f->sensors);
  }
  s->sensors = f->sensors;
  s->outputs = copy(arena, s->outputs, s->n_outputs, sizeof *s->outputs);
  s->z_sd = copy(arena, s->z_sd, f->p, sizeof *s->z_sd);
  if (s->rate_noise != NULL) {
    s->rate_noise = copy(arena, s->rate_noise, f->p * f->p, sizeof *s->rate_noise);
  }
  YOKE_TRY(yoke__arena_status(arena));
  YOKE_TRY(copy_unknowns(f, arena));
  f->is_unknown_input = yoke__arena_array(arena, f->r, sizeof *f->is_unknown_input);
  f->lower = yoke__arena_array(arena, f->n_rho, sizeof *f->lower);
  f->upper = yoke__arena_array(arena, f->n_rho, sizeof *f->upper);
  f->start_sd = yoke__arena_array(arena, f->n_rho, sizeof *f->start_sd);
  return yoke__arena_status(arena);
}

// Bounds and standard deviation of theta. A resistance is known by 1 / R: how much larger that may be says the smallest resistance
// within a standard deviation.
static void set_theta(yoke_estimate* f, size_t j) {
  const yoke_unknown* u = &f->setup.unknowns[j];
  double lower = u->lower, upper = u->upper;
  f->start_sd[j] = u->sd;
  if (is_element(u->kind)) {
    // a wrong step of the filter must not leave the range in which
    // the reduction is well conditioned
    lower = fmax(lower, u->start / ELEMENT_RANGE);
    upper = fmin(upper, u->start * ELEMENT_RANGE);
  }
  if (u->kind == YOKE_UNKNOWN_CONDUCTANCE) {
    // sd of theta = 1 / R from the smallest R within one sd, not below R / 100
    const double least = fmax(fmax(u->start - u->sd, lower), u->start / SD_RANGE);
    f->start_sd[j] = least < u->start ? 1.0 / least - 1.0 / u->start : 0.0;
    // 1 / R turns the bounds round
    const double largest = 1.0 / lower;
    lower = 1.0 / upper;
    upper = largest;
  }
  f->lower[j] = lower;
  f->upper[j] = upper;

  // an unknown input is taken from theta, whatever the measured one says
  for (size_t t = 0; t < u->n_targets && u->kind == YOKE_UNKNOWN_INPUT; t++) {
    f->is_unknown_input[u->targets[t]] = true;
  }
}

// ---- memory

typedef struct part {
  double** to;
  size_t n;
} part;

static yoke_status take_parts(const part parts[], size_t n_parts, double* memory) {
  for (size_t i = 0; i < n_parts; i++) {
    *parts[i].to = memory;
    memory += parts[i].n;
  }
  return YOKE_OK;
}

static size_t add_up(const part parts[], size_t n_parts) {
  size_t n = 0;
  for (size_t i = 0; i < n_parts; i++) {
    n += parts[i].n;
  }
  return n;
}

// The block of the state: head, counters, numbers.
static yoke_status take_block(yoke_estimate* f, yoke_arena* arena) {
  const size_t p = f->p, n = f->n, n_sensors = f->setup.n_sensors;
  const part parts[] = {{&f->frozen_sd, f->n_rho},
                        {&f->q, n},
                        {&f->P, n * n},
                        {&f->v, f->r},
                        {&f->x, f->setup.network->n_nodes},
                        {&f->E, p * p},
                        {&f->Psi1, p * p},
                        {&f->Psi2, p * p},
                        {&f->F, f->rho_at * n},
                        {&f->Q, n * n},
                        {&f->innovation, n_sensors},
                        {&f->innovation_sd, n_sensors}};

  // the head takes a multiple of 8 bytes, so that the doubles behind it are aligned
  const size_t head = (sizeof *f->head + 7) / 8 * 8, counters = 2 * f->n_rho * sizeof(uint64_t);
  f->block_size = head + counters + add_up(parts, YOKE_COUNT(parts)) * sizeof(double);
  f->block = yoke__arena_take(arena, f->block_size);
  YOKE_TRY_MEMORY(f->block != NULL);
  f->head = (yoke_estimate_head*)(void*)f->block;
  f->n_hits = (uint64_t*)(void*)(f->block + head);
  f->n_at_bound = f->n_hits + f->n_rho;
  return take_parts(parts, YOKE_COUNT(parts), (double*)(void*)(f->block + head + counters));
}

static yoke_status take_scratch(yoke_estimate* f, yoke_arena* arena) {
  // joint vector [q; y] of the unscented filter
  const size_t p = f->p, n = f->n, n_sensors = f->setup.n_sensors, width = n + n_sensors;
  const bool is_unscented = f->method == YOKE_ESTIMATE_UNSCENTED;

  // 2 n + 1 points carry mean and covariance of n numbers
  const size_t n_points = is_unscented ? 2 * n + 1 : 0, joint = is_unscented ? width : 0;
  const part parts[] = {{&f->H, (n_sensors + p + 1) * n},
                        {&f->expected, n_sensors + p},
                        {&f->prior, n},
                        {&f->PH, n},
                        {&f->line, f->r},
                        {&f->slope, f->r},
                        {&f->heat, p},
                        {&f->push, p},
                        {&f->D, f->n_rho * p},
                        {&f->work, 8 * n * n + f->setup.network->n_nodes + f->r},
                        {&f->points, n_points * n},
                        {&f->images, n_points * width},
                        {&f->joint_q, joint},
                        {&f->joint_P, joint * joint},
                        {&f->joint_H, joint},
                        {&f->joint_PH, joint},
                        {&f->joint_work, joint}};
  double* memory = yoke__arena_array(arena, add_up(parts, YOKE_COUNT(parts)), sizeof *memory);
  YOKE_TRY_MEMORY(memory != NULL);
  return take_parts(parts, YOKE_COUNT(parts), memory);
}

// Models with the guesses of the unknowns in place.
static yoke_status take_models(yoke_estimate* f, yoke_arena* arena, const yoke_sink* sink) {
  const yoke_heat_network* network = f->setup.network;
  double* g = yoke__arena_array(arena, network->n_resistors, sizeof *g);
  double* c = yoke__arena_array(arena, network->n_capacities, sizeof *c);
  YOKE_TRY(yoke__arena_status(arena));
  memcpy(g, f->setup.g, network->n_resistors * sizeof *g);
  memcpy(c, f->setup.c, network->n_capacities * sizeof *c);

  // theta: the value itself, 1 / R where a conductance is sought
  for (size_t j = 0; j < f->n_rho; j++) {
    f->q[f->rho_at + j] = yoke__theta_of(&f->setup.unknowns[j], f->setup.unknowns[j].start);
  }
  yoke_heat_model guesses = {.g = g, .c = c};
  yoke__theta_apply(f, f->q + f->rho_at, &guesses, f->v);
  f->setup.g = g;
  f->setup.c = c;
  YOKE_TRY(yoke__heat_model_prepare(network, g, c, arena, &f->model, sink));
  return f->method == YOKE_ESTIMATE_UNSCENTED
             ? yoke__heat_model_prepare(network, g, c, arena, &f->sigma, sink)
             : YOKE_OK;
}

yoke_status yoke__estimate_prepare(const yoke_estimate_setup* setup, yoke_arena* arena,
                                   yoke_estimate** out, const yoke_sink* sink) {
  check c = {setup, sink, 0};
  check_unknowns(&c);
  check_rows(&c);
  const yoke_estimate_method method = choose_method(&c);
  check_numbers(&c, method);
  if (c.n_errors > 0) {
    return YOKE_BAD_INPUT;
  }

  yoke_estimate* f = yoke__arena_take(arena, sizeof *f);
  YOKE_TRY_MEMORY(f != NULL);
  f->setup = *setup;
  f->method = method;
  f->p = setup->network->n_capacities;
  f->r = setup->network->n_inputs;
  f->n_rho = setup->n_unknowns;

  // q = [z; z'; rho] with derivatives, [z; rho] without
  f->rho_at = method == YOKE_ESTIMATE_DERIVATIVE ? 2 * f->p : f->p;
  f->n = f->rho_at + f->n_rho;
  YOKE_TRY(copy_setup(f, arena));
  for (size_t j = 0; j < f->n_rho; j++) {
    set_theta(f, j);
  }
  YOKE_TRY(take_block(f, arena));
  YOKE_TRY(take_scratch(f, arena));
  YOKE_TRY(take_models(f, arena, sink));
  *out = f;
  return YOKE_OK;
}
