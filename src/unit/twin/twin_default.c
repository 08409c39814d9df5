// Numbers that nobody has given. They follow from the network with the guesses: its time constants (eigenvalues of Fc), and how far
// a watt moves it. tau is the geometric mean of the fastest and the slowest time constant, T = 1 K (1 V) the scale of what is
// uncertain of a temperature. What settles within ten steps does not count.
//
//   sensor              sigma   0.5 K, a thermocouple; it is estimated once the start is over
//   temperatures        start   T; walk 0: the model is believed, its unknowns are what is not
//   their rates         start   T / tau_fastest; walk 5 T / tau_fastest^1.5: a rate may become another one within that time. Slower
//                               nodes get the same: with less the filter takes wrong capacities for certain. What settles within
//                               ten steps does not count for tau_fastest, with more noise than the others need the filter is no
//                               better than the extended one; it has noise of its own
//   resistance, capacity  sd    half of the guess; walk 0; within a factor of 1000. 0.5 to 1 of the guess is good: far more may
//                               diverge, far less needs many passes
//   heat, current       sd      the guess, at least what moves the network by 10 T; walk sd / sqrt(tau): it may change by as much
//                               as the guess is uncertain in the time in which the network moves
//   imposed temperature sd      10 T; walk T / sqrt(tau)
//   offset of a sensor  sd      2 T; walk 0
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "unit/twin/twin_part.h"

#define SIGMA         0.5    // [K]
#define SCALE         1.0    // T [K]
#define RATE_SCALE    5.0    // of rates that walk [T]: guesses may be wrong by a multiple
#define FAST          10.0   // steps: slower deviations from rest are what the filter follows
#define REACH         10.0   // of unknown heat and temperatures [T]
#define OFFSET        2.0    // [T]
#define ELEMENT_SD    0.5    // share of the guess
#define ELEMENT_RANGE 1e3    // bounds, as a factor
#define NO_TAU        1.0    // [s] of a network that never settles
#define LEAST_RATE    1e-12  // of an eigenvalue to the largest: below it is 0

// ---------------------------------------------------------------------------------------------------------
// the network with the guesses

static yoke_status find_time_constants(twin* w, const yoke_heat_model* model) {
  const size_t p = model->p;
  double* rates = yoke__arena_array(&w->arena, p + 1, sizeof *rates);
  YOKE_TRY_MEMORY(rates);
  YOKE_TRY(yoke__heat_model_rates(model, rates));
  const double fastest = rates[0];
  double slowest = (double)INFINITY;
  for (size_t i = 0; i < p; i++) {
    slowest = rates[i] > LEAST_RATE * fastest ? rates[i] : slowest;
  }
  w->fastest = fastest > 0 ? 1 / fastest : NO_TAU;
  w->slowest = fastest > 0 ? 1 / slowest : NO_TAU;
  return YOKE_OK;
}

// The largest temperature that one unit of an unknown input brings about at rest; 0: there is no rest.
static yoke_status find_reach(twin* w, const yoke_heat_model* model, const yoke_unknown* u,
                              double* reach) {
  double* v = yoke__arena_array(&w->arena, model->r + 1, sizeof *v);
  double* z = yoke__arena_array(&w->arena, model->p + 1, sizeof *z);
  double* x = yoke__arena_array(&w->arena, model->n_nodes + 1, sizeof *x);
  YOKE_TRY(yoke__arena_status(&w->arena));
  *reach = 0;
  for (size_t t = 0; t < u->n_targets; t++) {
    v[u->targets[t]] = u->factors[t];
  }
  if (yoke__heat_model_rest(model, v, z) < 0) {
    return YOKE_OK;
  }
  yoke__heat_model_temperatures(model, z, v, x);
  for (size_t i = 0; i < model->n_nodes; i++) {
    *reach = yoke__is_finite(x[i]) ? fmax(*reach, fabs(x[i])) : *reach;
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// unknowns

static bool is_temperature(const twin* w, const yoke_unknown* u) {
  const yoke_heat_network* heat = &w->network.heat;
  for (size_t i = 0; i < heat->n_nodes; i++) {
    if (heat->nodes[i].fixed == u->targets[0]) {
      return true;
    }
  }
  return false;
}

static void fill(double* value, double otherwise, bool* is_default) {
  *is_default = isnan(*value);
  *value = isnan(*value) ? otherwise : *value;
}

static yoke_status choose_unknown(twin* w, const yoke_heat_model* model, size_t i) {
  yoke_unknown* u = &w->unknowns[i];
  twin_unknown* text = &w->unknown_texts[i];
  const double tau = sqrt(w->followed * w->slowest);
  double sd = 0, walk = 0, range = (double)INFINITY;
  if (u->kind == YOKE_UNKNOWN_OFFSET) {
    sd = OFFSET * SCALE;
  } else if (u->kind != YOKE_UNKNOWN_INPUT) {
    sd = ELEMENT_SD * u->start;
    range = ELEMENT_RANGE;
  } else if (is_temperature(w, u)) {
    sd = REACH * SCALE;
    walk = SCALE / sqrt(tau);
  } else {
    double reach = 0;
    YOKE_TRY(find_reach(w, model, u, &reach));
    sd = fmax(fabs(u->start), reach > 0 ? REACH * SCALE / reach : 0);
    sd = sd > 0 ? sd : 1;
    walk = sd / sqrt(tau);
  }
  fill(&u->sd, sd, &text->has_default_sd);
  fill(&u->walk, walk, &text->has_default_walk);
  if (isnan(u->lower)) {
    u->lower = isinf(range) ? -range : u->start / range;
    u->upper = isinf(range) ? range : u->start * range;
    text->is_bounded = !isinf(range);
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// the rest

static double otherwise(double value, double fallback) {
  return isnan(value) ? fallback : value;
}

static void note_sensors(twin* w) {
  char names[YOKE_MESSAGE_TEXT_SIZE / 2] = "";
  yoke_place place = w->file->settings.place;
  size_t n = 0, n_all = 0;
  for (size_t i = 0; i < w->n_sensors; i++) {
    if (!w->sensor_texts[i].is_assumed) {
      continue;
    }
    place = n_all == 0 ? w->settings->sensors[i].place : place;
    n_all++;
    if (n + strlen(w->sensors[i].name) + 8 < sizeof names) {
      n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n == 0 ? "" : ", ",
                            w->sensors[i].name);
    }
  }
  if (n_all > 0) {
    yoke__message_add(&w->messages, YOKE_NOTE, place,
                      "no sigma is given for %s: it is estimated while the twin runs, from %g on",
                      names, SIGMA);
  }
}

// Deviations from rest that decay within FAST steps, of the p with these rates; none if that are all.
static size_t count_fast(size_t p, const double rates[], double h) {
  size_t n = 0;
  while (n < p && rates[n] * FAST * h > 1) {
    n++;
  }
  return n < p && rates[n] > LEAST_RATE * rates[0] ? n : 0;
}

// Noise of the rates. What is fast jumps with its neighbours and has noise of its own, 5 T / tau in a step: z' of all
// capacities follows what the steps show.
static yoke_status choose_rates(twin* w, const yoke_heat_model* model) {
  const yoke_twin_settings* s = w->settings;
  const size_t p = model->p;
  const double h = w->setup.h;
  double* noise = yoke__arena_array(&w->arena, p * p + 1, sizeof *noise);
  double* modes = yoke__arena_array(&w->arena, p * p + 1, sizeof *modes);
  double* rates = yoke__arena_array(&w->arena, p + 1, sizeof *rates);
  YOKE_TRY(yoke__arena_status(&w->arena));
  YOKE_TRY(yoke__heat_model_modes(model, rates, modes));
  const size_t n_fast = count_fast(p, rates, h);
  const double tau = rates[n_fast] > 0 ? 1 / rates[n_fast] : NO_TAU;
  w->followed = tau;
  w->setup.rate_sd = otherwise(s->rate_sd, SCALE / tau);
  w->setup.rate_walk = otherwise(s->rate_walk, RATE_SCALE * SCALE / pow(tau, 1.5));
  for (size_t k = 0; k < n_fast; k++) {
    const double walk = RATE_SCALE * SCALE * rates[k] * sqrt(fmin(rates[k], 1 / h));
    const double* mode = modes + k * p;
    for (size_t i = 0; i < p * p; i++) {
      noise[i] += walk * walk * (mode[i / p] * mode[i % p]);
    }
  }
  w->setup.rate_noise = n_fast > 0 ? noise : NULL;
  return YOKE_OK;
}

yoke_status yoke__twin_choose_defaults(twin* w) {
  const yoke_twin_settings* s = w->settings;
  yoke_heat_model model = {0};
  const yoke_sink sink = yoke__messages_sink(&w->messages);
  yoke_context about;
  yoke__context_init(&about, &sink, w->file->settings.place, NULL, (double)NAN);

  // the guesses in place of what the netlist says
  for (size_t i = 0; i < w->n_unknowns; i++) {
    const yoke_unknown* u = &w->unknowns[i];
    for (size_t t = 0; t < u->n_targets; t++) {
      if (u->kind == YOKE_UNKNOWN_CAPACITY) {
        w->network.c[u->targets[t]] = u->factors[t] * u->start;
      } else if (u->kind == YOKE_UNKNOWN_RESISTANCE || u->kind == YOKE_UNKNOWN_CONDUCTANCE) {
        w->network.g[u->targets[t]] = 1 / (u->factors[t] * u->start);
      }
    }
  }
  YOKE_TRY(yoke__heat_model_prepare(&w->network.heat, w->network.g, w->network.c, &w->arena, &model,
                                    &about.sink));
  YOKE_TRY(find_time_constants(w, &model));
  YOKE_TRY(choose_rates(w, &model));
  for (size_t i = 0; i < w->n_unknowns; i++) {
    YOKE_TRY(choose_unknown(w, &model, i));
  }
  for (size_t i = 0; i < w->n_sensors; i++) {
    w->sensor_texts[i].is_assumed = !(w->sensors[i].sigma > 0);
    w->sensors[i].sigma = w->sensor_texts[i].is_assumed ? SIGMA : w->sensors[i].sigma;
  }
  note_sensors(w);
  w->open = model;
  w->setup.z_walk = otherwise(s->walk, 0);
  w->setup.gate = otherwise(s->gate, 0);
  w->setup.jitter = otherwise(s->jitter, 0);
  double* sd = yoke__arena_array(&w->arena, model.p + 1, sizeof *sd);
  YOKE_TRY_MEMORY(sd);
  for (size_t i = 0; i < model.p; i++) {
    sd[i] = otherwise(s->start_sd, SCALE);
  }
  w->setup.z_sd = sd;
  return YOKE_OK;
}
