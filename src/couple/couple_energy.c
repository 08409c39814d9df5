// Energy-corrected coupling of one bond: what the rate's unit receives is the extrapolated action and a correction that
// is constant until the next exchange.
//
//   u(tau) = polynomial(tau) + corr / scale        corr from the samples of action and rate, energy_correction.h
//
// The action inside the energy balance is the one its unit delivered (the probes), never the corrected one: otherwise
// the correction would hide itself. With corr = 0 the input is that of `hold`, bit by bit.
// Source: energy_correction.h. Page: docs/couple_energy.md. Assumes explicit Jacobi, explicit solvers and rho below about 0.2.
#include "couple/couple_energy.h"

#include <float.h>
#include <math.h>

#include "base/base_check.h"
#include "couple/couple_image.h"
#include "couple/couple_pieces.h"
#include "couple/couple_polynomial.h"
#include "energy/energy_correction.h"

// Layout of self: the struct, one polynomial per signal, then numbers: what is added to each signal, from SI to the units of
// each signal, and the memory of the correction.
typedef struct energy {
  const yoke_coupling_sink* sinks;
  const int* orders;
  size_t n_signals;
  double interval;
  bool is_held;  // one signal of order 0, the usual case
  yoke_polynomial* signals;
  double* added;    // unless is_held
  double* inverse;  // a product is there sooner than a quotient, and the next step waits for it
  double* numbers;
  yoke_correction_settings settings;
  yoke_correction correction;
  bool has_begun;
} energy;

enum {
  VARIANT,
  K_I,
  MIN_RATE_ABS,
  GAMMA,
  GATE,
  PEAK_TIME,
  OFFSET_TIME,
  MAX_ACTION,
  MAX_ENERGY,
  ENABLED,
  MU,
  CLIP,
  N_PARAMETERS
};
enum { GUARDED, BARE };

static const char* const variant_items[] = {"guarded", "bare", NULL};
static const char* const switch_items[] = {"false", "true", NULL};
static const char* const clip_items[] = {"change", "needed", NULL};

static const yoke_coupling_parameter parameters[N_PARAMETERS] = {
    [VARIANT] = {"variant", "guarded, or bare: the published form without its guards", GUARDED, 0,
                 1, variant_items},
    [K_I] = {"k_i", "weight of the accumulated error; NaN: 0.25, bare 0", (double)NAN, 0, 1, NULL},
    [MIN_RATE_ABS] = {"min_rate_abs", "no correction while the rate is below this [SI]", 0, 0,
                      HUGE_VAL, NULL},
    [GAMMA] = {"gamma", "largest correction, in peak changes of the action per step", 1, 0,
               HUGE_VAL, NULL},
    [GATE] = {"gate", "suspended while rho is above this", 0.5, 0, HUGE_VAL, NULL},
    [PEAK_TIME] = {"peak_time", "time constant of the peaks [s]", 1, DBL_MIN, HUGE_VAL, NULL},
    [OFFSET_TIME] = {"offset_time", "time constant of the mean action [s]", 2, DBL_MIN, HUGE_VAL,
                     NULL},
    [MAX_ACTION] = {"max_action", "largest correction [SI]", HUGE_VAL, 0, HUGE_VAL, NULL},
    [MAX_ENERGY] = {"max_energy", "bound of the accumulated error [J]", HUGE_VAL, 0, HUGE_VAL,
                    NULL},
    [ENABLED] = {"enabled", "false: extrapolation only", 1, 0, 1, switch_items},
    [MU] = {"mu", "energy of a step = mu dP H; NaN: from rates, orders and feedthrough",
            (double)NAN, 0, 1e6, NULL},
    [CLIP] = {"clip", "gamma counts in changes of the action, or in the part of them that mu needs",
              0, 0, 1, clip_items},
};

static const char* const health_names[] = {
    "steps", "clips",   "skips", "gated",       "switch_offs",
    "lost",  "outside", "peak",  "accumulated", "unguarded",
};

static size_t signals_size(const yoke_coupling_setup* setup) {
  return yoke__round_up(setup->n_signals * sizeof(yoke_polynomial));
}

static size_t energy_size(const yoke_coupling_setup* setup) {
  const size_t n = setup->n_signals;
  return yoke__round_up(sizeof(energy)) + signals_size(setup) +
         (2 * n + yoke__correction_numbers(n)) * sizeof(double);
}

// mu of the parameters, else the bond's; bare takes what its published form has, and the absolute limits.
static yoke_correction_settings read_settings(const double* p, double mu) {
  const bool is_bare = p[VARIANT] > 0.5;
  yoke_correction_settings s = is_bare ? yoke__correction_bare : yoke__correction_defaults;
  if (!is_bare) {
    s.monitor.peak_time = p[PEAK_TIME];
    s.monitor.offset_time = p[OFFSET_TIME];
    s.gamma = p[GAMMA];
    s.is_clip_needed = p[CLIP] > 0.5;
    s.gate = p[GATE];
  }
  s.k_i = isnan(p[K_I]) ? s.k_i : p[K_I];
  s.min_rate_abs = p[MIN_RATE_ABS];
  s.max_action = p[MAX_ACTION];
  s.max_energy = p[MAX_ENERGY];
  s.is_enabled = p[ENABLED] > 0.5;
  s.mu = isnan(p[MU]) ? mu : p[MU];
  return s;
}

// What is wrong with the set-up, or NULL.
static const char* find_fault(const yoke_coupling_setup* setup) {
  const yoke_coupling_bond* bond = setup->bond;
  if (bond == NULL) {
    return "it serves a bond only";
  }
  if (setup->n_signals != bond->n || setup->n_probes < 2 * bond->n) {
    return "it needs every component of the action and the rate";
  }

  // neither the scale nor its inverse may be 0, infinite or denormal: both multiply
  for (size_t i = 0; i < bond->n; i++) {
    if (!isnormal(bond->scale[i]) || !isnormal(1 / bond->scale[i])) {
      return "the action has no scale";
    }
  }
  if (isnan(bond->mu) && isnan(setup->parameters[MU])) {
    return "the energy factor of this bond is not known: give mu";
  }
  return NULL;
}

static yoke_status energy_prepare(void* memory, const yoke_coupling_setup* setup,
                                  const yoke_sink* sink) {
  const char* fault = find_fault(setup);
  if (fault != NULL) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", fault);
  }
  energy* self = memory;
  char* after = (char*)memory + yoke__round_up(sizeof(energy));
  double* numbers = (double*)(after + signals_size(setup));
  *self = (energy){
      .sinks = setup->sinks,
      .orders = setup->orders,
      .n_signals = setup->n_signals,
      .interval = setup->interval,
      .is_held = setup->n_signals == 1 && setup->orders[0] == 0,
      .signals = (yoke_polynomial*)after,
      .added = numbers,
      .inverse = numbers + setup->n_signals,
      .numbers = numbers + 2 * setup->n_signals,
      .settings = read_settings(setup->parameters, setup->bond->mu),
      .correction = {.corr = numbers + 2 * setup->n_signals},  // 0 before the first samples
  };

  // from SI to the units of the signal
  for (size_t i = 0; i < setup->n_signals; i++) {
    self->inverse[i] = 1 / setup->bond->scale[i];
  }
  return YOKE_OK;
}

// Starts or updates the correction; counters live on when a mode switch starts it anew.
static void correct(energy* self, const yoke_coupling_moment* now, const double action[],
                    const double rate[]) {
  if (now->k == 0 || !self->has_begun) {
    if (now->k == 0) {
      self->correction.counts = (yoke_correction_counts){0};
    }
    yoke__correction_restart(&self->correction, &self->settings, self->n_signals, self->numbers,
                             action, rate);
    self->has_begun = true;
    return;
  }

  // 0 stands for equal intervals
  const double h_last = now->h_last > 0 ? now->h_last : self->interval;
  const double h_next = now->h_next > 0 ? now->h_next : self->interval;
  yoke__correction_update(&self->correction, h_last, h_next, action, rate);
}

// a hold needs no history
static inline void observe_held(energy* self, const yoke_coupling_moment* now, const double y[]) {
  self->signals->u = y[0];
  yoke__correction_update(&self->correction, now->h_last, now->h_next, y + 1, y + 2);
}

static YOKE_NOINLINE void observe_any(energy* self, const yoke_coupling_moment* now,
                                      const double y[]) {
  const size_t n = self->n_signals;

  // y: n signals, then n actions and n rates of the probes
  correct(self, now, y + n, y + 2 * n);
  for (size_t i = 0; i < n; i++) {
    yoke__polynomial_observe(&self->signals[i], y[i]);
    self->added[i] = self->correction.corr[i] * self->inverse[i];
  }
}

static void energy_observe(void* memory, const yoke_coupling_moment* now, const double y[],
                           const double u_applied[]) {
  (void)u_applied;
  energy* self = memory;

  // all usual: the short way
  if (self->is_held && self->has_begun && now->k > 0 && now->h_last > 0 && now->h_next > 0) {
    observe_held(self, now, y);
  } else {
    observe_any(self, now, y);
  }
}

// adding 0 would turn -0 into 0: off must be the same bytes as hold
static inline double add(double u, double added) {
  return added != 0 ? u + added : u;
}

static void energy_input(void* memory, size_t sink, double tau, double u[]) {
  const energy* self = memory;
  if (self->is_held) {
    // u = u_k + corr / scale
    u[0] = add(self->signals->u, self->correction.corr[0] * self->inverse[0]);
    return;
  }
  const size_t first = self->sinks[sink].first, n = self->sinks[sink].n;
  const yoke_polynomial_weights w = yoke__polynomial_at(tau / self->interval);
  for (size_t i = 0; i < n; i++) {
    const yoke_polynomial* signal = &self->signals[first + i];
    u[i] = add(yoke__polynomial_sum(signal, self->orders[first + i], w, signal->u),
               self->added[first + i]);
  }
}

// the correction is constant over the interval
static void energy_input_derivatives(void* memory, size_t sink, double tau, int order,
                                     double du[]) {
  const energy* self = memory;
  const size_t first = self->sinks[sink].first, n = self->sinks[sink].n;
  const yoke_polynomial_weights w =
      yoke__polynomial_slope(tau / self->interval, self->interval, order);
  for (size_t i = 0; i < n; i++) {
    du[i] = yoke__polynomial_sum(&self->signals[first + i], self->orders[first + i], w, 0);
  }
}

static void energy_health(const void* memory, double values[]) {
  const energy* self = memory;
  const yoke_correction_counts* c = &self->correction.counts;
  size_t i = 0;
  values[i++] = (double)c->n_steps;
  values[i++] = (double)c->n_clips;
  values[i++] = (double)c->n_skips;
  values[i++] = (double)c->n_gates;
  values[i++] = (double)c->n_offs;
  values[i++] = (double)c->n_lost;
  values[i++] = c->n_steps > 0 ? (double)c->n_outside / (double)c->n_steps : 0;
  values[i++] = c->peak;
  values[i++] = self->correction.accumulated;
  values[i++] = self->settings.is_enabled && yoke__correction_is_unguarded(&self->settings);
}

// made and not removed: booked, the last step included, and what was never booked
static double energy_remainder(const void* memory) {
  const energy* self = memory;
  const yoke_correction* c = &self->correction;
  return c->accumulated + c->step_energy + c->unbooked;
}

// settings that only the guarded variant looks at
static bool has_ignored(const double values[]) {
  static const int guards[] = {GAMMA, GATE, PEAK_TIME, OFFSET_TIME, CLIP};
  for (size_t i = 0; i < sizeof guards / sizeof *guards; i++) {
    if (values[VARIANT] > 0.5 && values[guards[i]] != parameters[guards[i]].start) {
      return true;
    }
  }
  return false;
}

static const char* energy_warn(const double values[]) {
  const yoke_correction_settings settings = read_settings(values, 0);
  if (has_ignored(values) && !yoke__correction_is_unguarded(&settings)) {
    return "'variant: bare' ignores gamma, clip, gate, peak_time and offset_time";
  }
  return settings.is_enabled && yoke__correction_is_unguarded(&settings)
             ? "nothing limits the correction, which is infinite where the rate passes 0 and can "
               "create more energy than it removes; give min_rate_abs or max_action, or leave "
               "out 'variant: bare'"
             : NULL;
}

static void energy_reset(void* memory, yoke_coupling_reset reason, const bool is_affected[]) {
  energy* self = memory;

  // what has jumped has no past to extrapolate from
  bool is_any = false;
  for (size_t i = 0; i < self->n_signals; i++) {
    if (is_affected == NULL || is_affected[i]) {
      yoke__polynomial_reset(&self->signals[i]);
      is_any = true;
    }
  }
  if (!is_any || !self->has_begun) {
    return;
  }
  if (reason == YOKE_RESET_LOST_SAMPLE) {
    yoke__correction_lose(&self->correction);
  } else if (reason == YOKE_RESET_DISCONTINUITY) {
    yoke__correction_jump(&self->correction);
  } else {
    self->has_begun = false;  // other equations: their books start at zero
  }
}

yoke_monitor* yoke__couple_energy_monitor(const yoke_coupling_ops* ops, void* self,
                                          const yoke_monitor_settings* wanted) {
  if (ops != &yoke__couple_energy) {
    return NULL;
  }
  energy* e = self;
  const yoke_monitor_settings* s = &e->settings.monitor;
  const bool is_wanted = s->peak_time == wanted->peak_time &&
                         s->offset_time == wanted->offset_time &&
                         s->offset_gain == wanted->offset_gain;
  return is_wanted ? &e->correction.monitor : NULL;
}

static void walk(void* memory, yoke_image* image) {
  energy* self = memory;
  const size_t n = self->n_signals;
  YOKE_IMAGE_VALUE(image, self->has_begun);
  yoke_image_block block = yoke__image_open(image, &self->correction, sizeof self->correction);
  YOKE_IMAGE_SKIP(&block, &self->correction, monitor.action, monitor.offset);
  YOKE_IMAGE_SKIP(&block, &self->correction, corr, corr);
  yoke__image_close(&block);
  yoke__image_part(image, self->signals, n * sizeof *self->signals);
  yoke__image_part(image, self->added, n * sizeof(double));
  yoke__image_part(image, self->numbers, yoke__correction_numbers(n) * sizeof(double));
}
YOKE_COUPLING_IMAGE(energy, walk)

const yoke_coupling_ops yoke__couple_energy = {
    .name = "energy",
    .text = "extrapolation plus an action that takes out the energy which the coupling made",
    .flags =
        YOKE_COUPLING_BOND | YOKE_COUPLING_JACOBI | YOKE_COUPLING_EXPLICIT | YOKE_COUPLING_NEEDS_MU,
    .parameters = parameters,
    .n_parameters = N_PARAMETERS,
    .health_names = health_names,
    .n_health = sizeof health_names / sizeof *health_names,
    .size = energy_size,
    .prepare = energy_prepare,
    .observe = energy_observe,
    .input = energy_input,
    .input_derivatives = energy_input_derivatives,
    .health = energy_health,
    .remainder = energy_remainder,
    .reset = energy_reset,
    .warn = energy_warn,
    .image_size = energy_image_size,
    .save = energy_save,
    .restore = energy_restore,
};
