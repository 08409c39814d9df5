// Delay compensation: each signal is predicted over the delay of its connection by a model that is learnt while it runs.
//
// One machine holds both ends of the method. It predicts what it sends, and what it receives:
//
//    this machine                       delay nd                       the other one
//    v ---- end: sender ------- v^_{k+nd|k} ------------------------->  gets v^_k
//                                                                          |
//    gets F^_k <--- end: receiver ----------------- F_{k-nd} <-----------  F
//
//   sender    at exchange k: v_k is learnt with the regressor up to k - 1, iterated nd steps, corrected by the error of the
//             displacement, and sent; the other side holds it from k + nd on (`interpolate: yes`: a line)
//   receiver  at exchange k: F_{k-nd} arrives and is learnt with the regressor up to k - nd - 1, iterated nd steps with the
//             regressor up to k, which this side knows, and once more: in between a line
//
// The contract needs nothing beyond that: with YOKE_COUPLING_DELAYS signals come undelayed and their way is here, `observe` is
// where a sample enters it and where one leaves it, `input` is asked at the receiving unit. With exchange: fresh what leaves is
// taken at the first call of an exchange, what enters when it is due; the regressor and the displacement are outputs that are
// looked at. Missing and late samples are known by YOKE_COUPLING_AGES.
// The arithmetic is in couple_adaptive_signal.c. Source: W. Chen, licentiate thesis, Chalmers 2019, paper IV. Page:
// docs/couple_adaptive.md.
#include "couple/couple_adaptive.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/base_check.h"
#include "couple/couple_adaptive_signal.h"
#include "couple/couple_image.h"
#include "couple/couple_pieces.h"

enum { END, MODEL, INTERPOLATE, FORGETTING, VARIANCE, NOISE, CORRECTION, LIMIT, N_PARAMETERS };
enum { REGRESSOR, DISPLACEMENT, N_SIGNALS };
enum { RECEIVER, SENDER };
enum { AUTO, NO, YES };  // of interpolate

static const char* const ends[] = {"receiver", "sender", NULL};
static const char* const models[] = {"rls", "ekf", NULL};
static const char* const answers[] = {"auto", "no", "yes", NULL};
static const yoke_coupling_parameter parameters[N_PARAMETERS] = {
    [END] = {"end", "where the signal is foretold: behind its delay, or before it", RECEIVER, 0, 1,
             ends},
    [MODEL] = {"model", "learnt by recursive least squares or by an extended Kalman filter",
               YOKE_ARX_RLS, 0, 1, models},
    [INTERPOLATE] = {"interpolate",
                     "between exchanges a line to the next prediction instead of a held value; "
                     "auto: at the receiver",
                     AUTO, 0, 2, answers},
    [FORGETTING] = {"forgetting", "weight of a sample in what is learnt, per newer one", 1, 0.5, 1,
                    NULL},
    [VARIANCE] = {"variance", "of the model's parameters at the start", 1e3, DBL_MIN,
                  (double)INFINITY, NULL},
    [NOISE] = {"noise", "of ekf: variance of measurements over that of the model", 0.1, 0,
               (double)INFINITY, NULL},
    [CORRECTION] = {"correction", "share of a wrong displacement that is taken back per exchange",
                    0.2, 0, 1, NULL},
    [LIMIT] = {"limit", "ranges by which a prediction may leave the range of the samples", 1, 0,
               (double)INFINITY, NULL},
};
static const yoke_coupling_signals signals[N_SIGNALS] = {
    [REGRESSOR] = {"regressor", "output that the signal follows, known without delay"},
    [DISPLACEMENT] = {"displacement", "output whose rate the signal is"},
};
static const char* const health_names[] = {"error",   "error_held", "bridged",
                                           "ignored", "fallbacks",  "limited",
                                           "frozen",  "restarts",   "displacement"};

// Layout of self: the struct, yoke_adaptive per signal, then their blocks.
typedef struct adaptive {
  const yoke_coupling_sink* sinks;
  const yoke_coupling_named* named;
  size_t n_signals, n_blocks;  // n_blocks: bytes of all blocks
  double interval;
} adaptive;

// What is announced of the next sample of each signal; with the blocks in the image.
typedef struct announced {
  bool is_jump, is_lost;
} announced;

static yoke_adaptive* ways_of(void* memory) {
  return (yoke_adaptive*)((char*)memory + yoke__round_up(sizeof(adaptive)));
}

static announced* announced_of(void* memory) {
  const adaptive* self = memory;
  return (announced*)((char*)ways_of(memory) +
                      yoke__round_up(self->n_signals * sizeof(yoke_adaptive)));
}

static unsigned char* blocks_of(void* memory) {
  const adaptive* self = memory;
  return (unsigned char*)announced_of(memory) + yoke__round_up(self->n_signals * sizeof(announced));
}

// ---- settings

static const yoke_coupling_sink* sink_of(const yoke_coupling_setup* setup, size_t signal) {
  const yoke_coupling_sink* sink = setup->sinks;

  // signals of a sink lie behind each other
  while (signal >= sink->first + sink->n) {
    sink++;
  }
  return sink;
}

static size_t count_named(const yoke_coupling_setup* setup, size_t key) {
  return setup->named == NULL ? 0 : setup->named[key].n;
}

static yoke_adaptive_setup settings_of(const yoke_coupling_setup* setup, size_t signal) {
  const double* p = setup->parameters;

  // calls of the receiving unit between two exchanges, 1 where it is called less often
  const double step = sink_of(setup, signal)->step;
  return (yoke_adaptive_setup){
      .arx = {.model = p[MODEL] > 0 ? YOKE_ARX_EKF : YOKE_ARX_RLS,
              .has_input = count_named(setup, REGRESSOR) > 0,
              .forgetting = p[FORGETTING],
              .start_variance = p[VARIANCE],
              .noise = p[NOISE],
              .limit = p[LIMIT]},
      .is_sender = p[END] == SENDER,
      .is_line = p[INTERPOLATE] == YES || (p[INTERPOLATE] == AUTO && p[END] != SENDER),
      .has_displacement = count_named(setup, DISPLACEMENT) > 0,
      .correction = p[CORRECTION],
      .delay = setup->delays == NULL ? 0 : setup->delays[signal],
      .n_calls = step < setup->interval ? llround(setup->interval / step) : 1,
      .interval = setup->interval,
  };
}

static size_t adaptive_size(const yoke_coupling_setup* setup) {
  const size_t n = setup->n_signals;
  size_t bytes = yoke__round_up(sizeof(adaptive)) + yoke__round_up(n * sizeof(yoke_adaptive)) +
                 yoke__round_up(n * sizeof(announced));
  for (size_t i = 0; i < n; i++) {
    const yoke_adaptive_setup one = settings_of(setup, i);
    bytes += yoke__adaptive_size(&one);
  }
  return bytes;
}

static yoke_status check_named(const yoke_coupling_setup* setup, size_t key,
                               const yoke_sink* sink) {
  const size_t n = count_named(setup, key);
  if (n <= 1 || n == setup->n_signals) {
    return YOKE_OK;
  }
  if (setup->n_signals == 1) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "'%s': expected one output, found %zu",
                     signals[key].name, n);
  }
  return yoke_fail(sink, YOKE_BAD_INPUT,
                   "'%s': expected one output or %zu, one for each signal, found %zu",
                   signals[key].name, setup->n_signals, n);
}

static yoke_status adaptive_prepare(void* memory, const yoke_coupling_setup* setup,
                                    const yoke_sink* sink) {
  adaptive* self = memory;
  *self = (adaptive){.sinks = setup->sinks,
                     .named = setup->named,
                     .n_signals = setup->n_signals,
                     .interval = setup->interval};
  YOKE_TRY(check_named(setup, REGRESSOR, sink));
  YOKE_TRY(check_named(setup, DISPLACEMENT, sink));
  for (size_t i = 0; i < self->n_signals; i++) {
    const yoke_adaptive_setup one = settings_of(setup, i);
    YOKE_TRY(
        yoke__adaptive_prepare(&ways_of(self)[i], &one, blocks_of(self) + self->n_blocks, sink));
    self->n_blocks += yoke__adaptive_size(&one);
  }
  return YOKE_OK;
}

// ---- signals

// The named output that belongs to a signal; 0 if there is none.
static double named_value(const adaptive* self, size_t key, size_t signal, const double y[]) {
  const yoke_coupling_named* named = self->named == NULL ? NULL : &self->named[key];

  // one named output serves all signals, or each has its own
  return named == NULL || named->n == 0 ? 0 : y[named->first + (named->n == 1 ? 0 : signal)];
}

// The exchange at which a sample was true. Ages count in whole exchanges.
static int64_t true_at(const adaptive* self, const yoke_coupling_moment* now, size_t signal) {
  // an age beyond 1e9 exchanges: the sample was never true
  const double age = now->ages == NULL ? 0 : now->ages[signal] / self->interval;
  return age < 1e9 ? now->k - llround(age) : INT64_MIN;
}

static void adaptive_observe(void* memory, const yoke_coupling_moment* now, const double y[],
                             const double u_applied[]) {
  (void)u_applied;
  adaptive* self = memory;
  for (size_t i = 0; i < self->n_signals; i++) {
    yoke_adaptive* way = &ways_of(self)[i];
    announced* next = &announced_of(self)[i];
    const double u = named_value(self, REGRESSOR, i, y), x = named_value(self, DISPLACEMENT, i, y);
    const bool is_due = now->is_due == NULL || now->is_due[i];
    // what is known without delay comes first, then the sample that arrives
    if (now->k > 0) {
      yoke__adaptive_begin(way, now->k, u, x);
    } else if (is_due) {
      yoke__adaptive_start(way, y[i], u, x);
    }
    if (is_due && now->k > 0) {
      const yoke_adaptive_sample sample = {.y = y[i],
                                           .k = true_at(self, now, i),
                                           .is_known = !next->is_lost,
                                           .is_jump = next->is_jump};
      yoke__adaptive_observe(way, &sample);
    }
    *next = is_due ? (announced){0} : *next;
  }
}

static void adaptive_input(void* memory, size_t sink, double tau, double u[]) {
  adaptive* self = memory;
  const size_t first = self->sinks[sink].first, n = self->sinks[sink].n;

  // tau beyond the interval: the line ends at the next prediction
  const double s = fmin(tau / self->interval, 1);
  for (size_t i = 0; i < n; i++) {
    u[i] = yoke__adaptive_input(&ways_of(self)[first + i], s);
  }
}

static void adaptive_reset(void* memory, yoke_coupling_reset reason, const bool is_affected[]) {
  adaptive* self = memory;
  for (size_t i = 0; i < self->n_signals; i++) {
    announced* next = &announced_of(self)[i];
    // kept until the sample that it is about arrives
    const bool is_it = is_affected == NULL || is_affected[i];
    next->is_lost = next->is_lost || (is_it && reason == YOKE_RESET_LOST_SAMPLE);
    next->is_jump = next->is_jump || (is_it && reason != YOKE_RESET_LOST_SAMPLE);
  }
}

// ---- figures of a run

// Root of the mean squared error of n predictions over the range of the samples.
static double share(const yoke_adaptive* way, double sum) {
  const double n = (double)way->state->counts.n_compared;
  const double range = way->arx.state->high - way->arx.state->low;

  // sqrt(mean square) over the range of the samples
  return n > 0 && range > 0 ? sqrt(sum / n) / range : 0;
}

static void adaptive_health(const void* memory, double values[]) {
  const adaptive* self = memory;
  const yoke_adaptive* way = ways_of(yoke__image_memory(memory));
  for (size_t i = 0; i < YOKE_COUNT(health_names); i++) {
    values[i] = 0;
  }
  for (size_t i = 0; i < self->n_signals; i++, way++) {
    const yoke_adaptive_counts* c = &way->state->counts;
    const yoke_arx_counts* model = &way->arx.state->counts;
    values[0] = fmax(values[0], share(way, c->model));
    values[1] = fmax(values[1], share(way, c->held));
    values[2] += (double)c->n_bridged;
    values[3] += (double)c->n_ignored;
    values[4] += (double)c->n_fallbacks;
    values[5] += (double)model->n_limited;
    values[6] += (double)model->n_frozen;
    values[7] += (double)model->n_restarts;
    values[8] = fmax(values[8], c->largest_D);
  }
}

// What to try where a model misses more than holding does.
static const char* advice_for(const yoke_adaptive* way) {
  const yoke_arx_setup* arx = &way->setup.arx;
  if (!arx->has_input) {
    return "name a `regressor` that the signal follows, or write `method: hold` there";
  }
  return arx->forgetting >= 1
             ? "try `forgetting: 0.98` beside its `method`"
             : "try `forgetting: 1` beside its `method`, or compare with `method: hold`";
}

static void adaptive_report(const void* memory, const yoke_sink* sink) {
  const adaptive* self = memory;
  const yoke_adaptive* way = ways_of(yoke__image_memory(memory));
  char text[YOKE_MESSAGE_TEXT_SIZE];
  for (size_t i = 0; i < self->n_signals; i++, way++) {
    const yoke_adaptive_counts* c = &way->state->counts;
    if (c->n_compared > 0 && c->model > c->held) {
      snprintf(text, sizeof text,
               "the model misses its samples by %.2g of their range, holding by %.2g (%lld times "
               "fallen back): %s",
               share(way, c->model), share(way, c->held), (long long)c->n_fallbacks,
               advice_for(way));
      yoke_send(sink, &(yoke_message){.severity = YOKE_WARNING, .time = (double)NAN, .text = text});
    }
  }
}

static void walk(void* memory, yoke_image* image) {
  adaptive* self = memory;
  yoke__image_part(image, announced_of(self), self->n_signals * sizeof(announced));
  yoke__image_part(image, blocks_of(self), self->n_blocks);
}
YOKE_COUPLING_IMAGE(adaptive, walk)

const yoke_coupling_ops yoke__couple_adaptive = {
    .name = "adaptive",
    .form = YOKE_FORM_OTHER,
    .text = "foretells signals over their delay by models that it learns",
    .flags = YOKE_COUPLING_JACOBI | YOKE_COUPLING_FRESH | YOKE_COUPLING_DELAYS | YOKE_COUPLING_AGES,
    .parameters = parameters,
    .n_parameters = N_PARAMETERS,
    .signals = signals,
    .n_signals = N_SIGNALS,
    .health_names = health_names,
    .n_health = YOKE_COUNT(health_names),
    .lead_interval = 0.5,
    .size = adaptive_size,
    .prepare = adaptive_prepare,
    .observe = adaptive_observe,
    .input = adaptive_input,
    .reset = adaptive_reset,
    .health = adaptive_health,
    .report = adaptive_report,
    .image_size = adaptive_image_size,
    .save = adaptive_save,
    .restore = adaptive_restore,
};
