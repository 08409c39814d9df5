// A designed coupling element on the way of each signal: lead K1 at the sender's calls, sampled and held at the exchanges,
// smoother K2 at the receiver's calls.
//
//   send      w = K1(y)           at every call of the sending unit, every h
//   observe   v_k = w             at every exchange, every Dt = M h; d exchanges later where the connection is delayed
//   input     u = K2(v_k)         at every call of the receiving unit, every h
//
// The element makes up for what hold, smoother and delay take from the signal; it comes from a file, or is designed here for the
// times at hand. Both filters start at rest at the first value. An instant is one step of a filter, however often it is asked.
// A lead amplifies noise: the fourth difference of what is sent tells how noisy a signal is, robustly against jumps.
// Source: W. Chen, licentiate thesis, Chalmers 2019, paper III. Page: docs/couple_hinf.md.
#include "couple/couple_hinf.h"

#include <math.h>
#include <stdio.h>

#include "base/base_check.h"
#include "couple/couple_image.h"
#include "couple/couple_pieces.h"
#include "synth/synth_design.h"
#include "synth/synth_element_file.h"
#include "synth/synth_error.h"

enum { RECIPE, N_PARAMETERS };
enum { ELEMENT, N_FILES };

#define N_DIFFERENCE 4
#define NOISY        0.1                // of the spread: from here on amplified noise is reported
#define LEAST_SENDS  100                // before that
#define SQRT_70      8.366600265340756  // of the squared binomial coefficients of the fourth difference
#define MEAN_NORMAL  0.7978845608028654  // of |x|, x normal with deviation 1

static const char* const recipes[] = {"auto", "T", "L", NULL};
static const yoke_coupling_parameter parameters[N_PARAMETERS] = {
    [RECIPE] = {"recipe", "of an element that is designed here: auto is L with a delay, else T", 0,
                0, 2, recipes},
};
static const yoke_coupling_file files[N_FILES] = {
    [ELEMENT] = {"element", "file of `yoke synth`; without it an element is designed"},
};
static const char* const health_names[] = {"gamma", "largest_gain", "peak_sent", "noise",
                                           "saturated"};

// Layout of self: the struct, hinf_signal per signal, then the numbers on their way.
typedef struct hinf {
  const yoke_coupling_sink* sinks;
  const int64_t* delays;
  const double *low, *high;  // what the receivers take; NULL: not known
  size_t n_signals, n_underway;
  double step;
  int64_t n_calls;  // M: calls of each end per exchange
  yoke_synth_design design;
  double noise_gain;  // deviation of K1 white noise over that of the noise
} hinf;

typedef struct hinf_signal {
  yoke_synth_lead lead;
  yoke_synth_smoother smoother;
  double sent;  // by the lead
  double held;  // what the receiver got last
  int64_t k;    // exchange of that
  int64_t at;   // steps that the smoother has taken
  size_t underway;
  bool is_restarting, is_taking_over;
  // figures of the run
  double peak_sent, mean, variance, past[N_DIFFERENCE], sum;
  int64_t n_sent, n_samples, n_beyond;  // samples, and those that the receiver does not take
} hinf_signal;

static hinf_signal* signals_of(void* memory) {
  return (hinf_signal*)((char*)memory + yoke__round_up(sizeof(hinf)));
}

static double* underway_of(void* memory) {
  const hinf* self = memory;
  return (double*)((char*)signals_of(memory) +
                   yoke__round_up(self->n_signals * sizeof(hinf_signal)));
}

static size_t count_underway(const yoke_coupling_setup* setup) {
  size_t n = 0;
  for (size_t i = 0; i < setup->n_signals; i++) {
    // each number is on its way for `delay` exchanges: so many places
    n += setup->delays == NULL ? 0 : (size_t)setup->delays[i];
  }
  return n;
}

static size_t hinf_size(const yoke_coupling_setup* setup) {
  return yoke__round_up(sizeof(hinf)) + yoke__round_up(setup->n_signals * sizeof(hinf_signal)) +
         count_underway(setup) * sizeof(double);
}

// ---- the element

// All signals of a group have one: their delays must be the same.
static yoke_status find_delay(const yoke_coupling_setup* setup, double* delay,
                              const yoke_sink* sink) {
  const int64_t first = setup->delays == NULL ? 0 : setup->delays[0];
  for (size_t i = 1; i < setup->n_signals; i++) {
    if (setup->delays != NULL && setup->delays[i] != first) {
      return yoke_fail(sink, YOKE_BAD_INPUT,
                       "its signals have delays of %lld and %lld exchanges, and an element is "
                       "designed for one: give each connection a 'coupling' of its own",
                       (long long)first, (long long)setup->delays[i]);
    }
  }
  *delay = (double)first * setup->interval;
  return YOKE_OK;
}

// The element of a file for other times. A transparent one is a filter in units of its interval; a general one has poles that the step
// allows, those of its smoother too; any other one has the smoother and the poles of its signals, and they stay.
static yoke_status redesign(yoke_synth_settings settings, const yoke_coupling_setup* setup,
                            double delay, yoke_synth_design* design, const yoke_sink* sink) {
  const double step = setup->sinks[0].step;

  // filters scale with the times: a frequency in cycles per interval stays what it is
  const double by_interval = settings.interval / setup->interval, by_step = settings.step / step;
  if (settings.recipe == YOKE_RECIPE_GENERAL) {
    settings.smoother_hz *= fmin(by_interval, by_step);
    settings.pole *= by_step;
  } else if (settings.is_transparent) {
    settings.smoother_hz *= by_interval;
    settings.pole *= by_interval;
  }
  settings.interval = setup->interval;
  settings.step = step;
  settings.delay = delay;
  // with fewer states poles may leave the region at these times; with all of them there is an element
  if (settings.recipe == YOKE_RECIPE_GENERAL && settings.order < YOKE_SYNTH_OPTIMUM_STATES) {
    const yoke_status status = yoke__synth_design(&settings, YOKE_SYNTH_SWEEPS, design, NULL);
    if (status >= 0) {
      return status;
    }
    settings.order = YOKE_SYNTH_OPTIMUM_STATES;
  }
  return yoke__synth_design(&settings, YOKE_SYNTH_SWEEPS, design, sink);
}

static yoke_status find_element(const yoke_coupling_setup* setup, yoke_synth_design* design,
                                const yoke_sink* sink) {
  double delay = 0;
  YOKE_TRY(find_delay(setup, &delay, sink));
  if (setup->files[ELEMENT] == NULL) {
    const int recipe = (int)setup->parameters[RECIPE];
    // auto: L with a delay, else T
    const bool is_low = recipe == 2 || (recipe == 0 && delay > 0);
    yoke_synth_settings settings = yoke__synth_settings_default(
        is_low ? YOKE_RECIPE_L : YOKE_RECIPE_T, setup->interval, setup->sinks[0].step);
    settings.delay = delay;
    return yoke__synth_design(&settings, YOKE_SYNTH_SWEEPS, design, sink);
  }
  YOKE_TRY(yoke__synth_element_read(setup->files[ELEMENT], design, sink));
  if (setup->is_companion) {
    return redesign(design->settings, setup, delay, design, sink);
  }
  for (size_t s = 0; s < setup->n_sinks; s++) {
    YOKE_TRY(yoke__synth_element_check_times(design, setup->interval, setup->sinks[s].step,
                                             "the receiving unit", sink));
  }

  // 1e-9 of an interval is rounding of the file
  if (fabs(design->settings.delay - delay) > 1e-9 * setup->interval) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "the element is for a delay of %g s, that of the connection is %g s: design "
                     "one for it with yoke synth",
                     design->settings.delay, delay);
  }
  return YOKE_OK;
}

// A sender is called as often as the receiver.
static yoke_status check_senders(const yoke_coupling_setup* setup, const yoke_sink* sink) {
  for (size_t i = 0; i < setup->n_signals; i++) {
    const double sent = setup->interval / (double)setup->n_sends[i];
    const double taken = setup->sinks[0].step;
    // one element, one step h at both ends
    if (fabs(sent - taken) > 1e-9 * taken) {
      return yoke_fail(sink, YOKE_BAD_INPUT,
                       "it needs sender and receiver called equally often; the receiving unit is "
                       "called every %g s, the sending one every %g s: write `step: %g` there",
                       taken, sent, taken);
    }
  }
  return YOKE_OK;
}

static yoke_status hinf_prepare(void* memory, const yoke_coupling_setup* setup,
                                const yoke_sink* sink) {
  hinf* self = memory;
  self->sinks = setup->sinks;
  self->delays = setup->delays;
  self->low = setup->low;
  self->high = setup->high;
  self->n_signals = setup->n_signals;
  self->n_underway = count_underway(setup);
  YOKE_TRY(check_senders(setup, sink));
  YOKE_TRY(find_element(setup, &self->design, sink));
  self->step = self->design.settings.step;

  // M = Dt / h
  self->n_calls = llround(setup->interval / self->step);
  self->noise_gain = yoke__synth_noise_gain(&self->design.element);
  size_t at = 0;

  // numbers on their way: one ring of `delay` places per signal
  for (size_t i = 0; i < self->n_signals; i++) {
    signals_of(self)[i].underway = at;
    at += self->delays == NULL ? 0 : (size_t)self->delays[i];
  }
  return YOKE_OK;
}

// ---- signals

// The smoother takes the steps before m with what is held.
static inline void advance(const hinf* self, hinf_signal* s, int64_t m) {
  // one step per call of the unit, however often the input is asked
  for (; s->at < m; s->at++) {
    yoke__synth_smoother_step(&self->design.element, &s->smoother, s->held);
  }
}

static void start(hinf* self, hinf_signal* s, size_t i, double y) {
  const yoke_synth_element* element = &self->design.element;
  yoke__synth_lead_start(element, y, &s->lead);
  yoke__synth_smoother_start(element, y, &s->smoother);
  s->sent = s->held = y;
  s->k = s->at = 0;

  // a delay line filled with the first value: at rest
  for (int64_t d = 0; self->delays != NULL && d < self->delays[i]; d++) {
    underway_of(self)[s->underway + (size_t)d] = y;
  }
}

// Exchange k reaches the receiver with v.
static inline void receive(const hinf* self, hinf_signal* s, int64_t k, double v) {
  // the smoother first finishes the interval before with the old value
  advance(self, s, k * self->n_calls);
  s->held = v;
  s->k = k;
}

// After a jump the lead begins anew with the sample at hand. Where another method has served the signal so far the smoother
// does so too: the input goes on from a held one.
static void restart(const hinf* self, hinf_signal* s, int64_t k, double y, double received) {
  yoke__synth_lead_start(&self->design.element, y, &s->lead);
  s->sent = y;
  if (s->is_taking_over) {
    yoke__synth_smoother_start(&self->design.element, received, &s->smoother);
    s->at = k * self->n_calls;
  }
  s->is_restarting = s->is_taking_over = false;
}

// What goes to the receiver; between two exchanges nothing does.
static inline void watch_sample(const hinf* self, hinf_signal* s, size_t i) {
  // the largest that is sent, and how often it leaves what the receiver takes
  s->peak_sent = fmax(s->peak_sent, fabs(s->sent));
  s->n_samples++;
  if (self->low != NULL) {
    s->n_beyond += s->sent < self->low[i] || s->sent > self->high[i];
  }
}

static void hinf_observe(void* memory, const yoke_coupling_moment* now, const double y[],
                         const double u_applied[]) {
  (void)u_applied;
  hinf* self = memory;
  for (size_t i = 0; i < self->n_signals; i++) {
    hinf_signal* s = &signals_of(self)[i];
    const bool is_due = now->is_due == NULL || now->is_due[i];
    const int64_t delay = self->delays == NULL ? 0 : self->delays[i];
    if (now->k == 0) {
      if (is_due) {
        start(self, s, i, y[i]);
      }
      continue;
    }
    // ring of `delay` places: what was put in `delay` exchanges ago
    double* underway =
        delay > 0 ? &underway_of(self)[s->underway + (size_t)(now->k % delay)] : NULL;
    // with a delay the number that arrives now was sent before: received first
    if (underway != NULL && s->k < now->k) {
      receive(self, s, now->k, *underway);
    }
    if (!is_due) {
      continue;
    }
    if (s->is_restarting) {
      restart(self, s, now->k, y[i], underway != NULL ? s->held : y[i]);
    }
    watch_sample(self, s, i);
    if (underway != NULL) {
      *underway = s->sent;
    } else {
      receive(self, s, now->k, s->sent);
    }
  }
}

// What the lead makes of noise is reported at the end.
static inline void watch(hinf_signal* s, double y) {
  double d = y;

  // fourth backward difference: polynomials of degree 3 drop out, noise grows by sqrt(70)
  for (int i = 0; i < N_DIFFERENCE; i++) {
    const double last = s->past[i];
    s->past[i] = d;
    d -= last;
  }
  s->sum += s->n_sent >= N_DIFFERENCE ? fabs(d) : 0;
  s->n_sent++;

  // running mean and variance (Welford)
  const double distance = y - s->mean;
  s->mean += distance / (double)s->n_sent;
  s->variance += (distance * (y - s->mean) - s->variance) / (double)s->n_sent;
}

static void hinf_send(void* memory, size_t signal, int64_t j, double y) {
  (void)j;
  hinf* self = memory;
  hinf_signal* s = &signals_of(self)[signal];
  s->sent = yoke__synth_lead_step(&self->design.element, &s->lead, y);
  watch(s, y);
}

static void hinf_input(void* memory, size_t sink, double tau, double u[]) {
  hinf* self = memory;
  const size_t first = self->sinks[sink].first, n = self->sinks[sink].n;

  // call j of the interval: tau = j h
  const int64_t j = tau > 0 ? llround(tau / self->step) : 0;
  for (size_t i = 0; i < n; i++) {
    hinf_signal* s = &signals_of(self)[first + i];
    advance(self, s, s->k * self->n_calls + j);
    u[i] = yoke__synth_smoother_output(&self->design.element, &s->smoother, s->held);
  }
}

static void hinf_reset(void* memory, yoke_coupling_reset reason, const bool is_affected[]) {
  hinf* self = memory;
  for (size_t i = 0; i < self->n_signals; i++) {
    // a lost sample is held by its sender: the filters go on
    if ((is_affected == NULL || is_affected[i]) && reason != YOKE_RESET_LOST_SAMPLE) {
      hinf_signal* s = &signals_of(self)[i];
      s->is_restarting = true;
      s->is_taking_over = s->is_taking_over || reason == YOKE_RESET_MODE_SWITCH;
    }
  }
}

// ---- figures of a run

// The deviation of the noise of a signal.
static double noise_of(const hinf_signal* s) {
  // mean |d| = sigma sqrt(70) sqrt(2 / pi) for normal noise
  return s->n_sent < LEAST_SENDS
             ? 0
             : s->sum / (double)(s->n_sent - N_DIFFERENCE) / (MEAN_NORMAL * SQRT_70);
}

static void hinf_health(const void* memory, double values[]) {
  const hinf* self = memory;
  const hinf_signal* s = signals_of(yoke__image_memory(memory));
  values[0] = self->design.gamma;
  values[1] = self->design.largest_gain;
  values[2] = values[3] = values[4] = 0;
  for (size_t i = 0; i < self->n_signals; i++, s++) {
    values[2] = fmax(values[2], s->peak_sent);
    values[3] = fmax(values[3], self->noise_gain * noise_of(s));
    values[4] += (double)s->n_beyond;
  }
}

// Its port cuts off what a lead sends beyond the range of an actuator: the element is no longer the one that was designed.
static void report_saturation(const hinf* self, const hinf_signal* s, size_t i, const char* other,
                              const yoke_sink* sink) {
  char text[YOKE_MESSAGE_TEXT_SIZE];
  if (s->n_beyond == 0) {
    return;
  }
  snprintf(text, sizeof text,
           "%lld of %lld samples of a signal are beyond what its receiver takes, %g to %g; the "
           "largest that was sent is %.3g: %s, or widen `limits`",
           (long long)s->n_beyond, (long long)s->n_samples, self->low[i], self->high[i],
           s->peak_sent, other);
  yoke_send(sink, &(yoke_message){.severity = YOKE_WARNING, .time = (double)NAN, .text = text});
}

static void hinf_report(const void* memory, const yoke_sink* sink) {
  const hinf* self = memory;
  const hinf_signal* s = signals_of(yoke__image_memory(memory));
  char text[YOKE_MESSAGE_TEXT_SIZE];
  const char* other = self->design.settings.recipe == YOKE_RECIPE_L
                          ? "take a method without a lead, such as hold"
                          : "take `recipe: L`, or a method without a lead";
  for (size_t i = 0; i < self->n_signals; i++, s++) {
    // sigma of what is sent = noise gain of the lead times sigma of the signal
    const double noise = self->noise_gain * noise_of(s), spread = sqrt(s->variance);
    report_saturation(self, s, i, other, sink);
    if (noise > NOISY * spread) {
      snprintf(text, sizeof text,
               "the lead makes %.3g of noise of %.3g in a signal of deviation %.3g: %s", noise,
               noise_of(s), spread, other);
      yoke_send(sink, &(yoke_message){.severity = YOKE_WARNING, .time = (double)NAN, .text = text});
    }
  }
}

static void walk(void* memory, yoke_image* image) {
  hinf* self = memory;
  yoke__image_part(image, signals_of(self), self->n_signals * sizeof(hinf_signal));
  yoke__image_part(image, underway_of(self), self->n_underway * sizeof(double));
}
YOKE_COUPLING_IMAGE(hinf, walk)

const yoke_coupling_ops yoke__couple_hinf = {
    .name = "hinf",
    .form = YOKE_FORM_OTHER,
    .text = "a designed element: a lead at the sender, a smoother at the receiver",
    .flags = YOKE_COUPLING_JACOBI | YOKE_COUPLING_SUBSTEPS | YOKE_COUPLING_FRESH |
             YOKE_COUPLING_DELAYS | YOKE_COUPLING_REDESIGNS,
    .parameters = parameters,
    .n_parameters = N_PARAMETERS,
    .files = files,
    .n_files = N_FILES,
    .health_names = health_names,
    .n_health = sizeof health_names / sizeof *health_names,
    .lead_interval = 0.5,
    .size = hinf_size,
    .prepare = hinf_prepare,
    .observe = hinf_observe,
    .send = hinf_send,
    .input = hinf_input,
    .reset = hinf_reset,
    .health = hinf_health,
    .report = hinf_report,
    .image_size = hinf_image_size,
    .save = hinf_save,
    .restore = hinf_restore,
};
