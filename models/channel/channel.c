// Emulator of a physical link between two units: sensor noise and lost samples.
//
//   y_k = u_k + s z_k,  s = noise + noise_relative amplitude,  z_k normal, independent per element
//   y_k = last y that was not lost, with probability `loss` (all elements of a sample together)
//
// Sample k belongs to call k of step. refresh shows it for the inputs at hand, as often as it is
// asked; step commits it and turns to sample k + 1. With `exchange: fresh` the channel therefore
// adds no delay. The numbers follow from (seed, k) alone: same file, same bits. Sample 0 always
// arrives, so that there is something to hold.
#include "models/channel/channel.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "models/models_random.h"
#include "models/models_support.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_SIZE     100000

typedef struct channel {
  yoke_model_head head;
  size_t n;
  double *u, *y, *good, *noise, *amplitude;  // in `values`
  int64_t k;                                 // the present sample; the image starts here
  int64_t is_lost, n_lost;                   // outputs, the present sample included
  int64_t n_lost_before;
  int64_t k_good;  // the last committed sample that arrived, and its time [s]
  double t_good, t;
  double loss, noise_relative;
  int64_t seed;
  double values[];  // u, y, good, noise, amplitude: n each
} channel;

enum { STREAM_LOSS, STREAM_NOISE };  // element i draws from STREAM_NOISE + i
enum { U, Y, IS_LOST, N_LOST, NOISE, AMPLITUDE, NOISE_RELATIVE, LOSS, SEED, N_VARIABLES };

static const yoke_variable structure[] = {
    {.name = "n",
     .text = "number of elements of u and y",
     .type = YOKE_INTEGER,
     .causality = YOKE_PARAMETER,
     .start = 1.0},
};

// sizes and offsets of the arrays are filled in by describe
static const yoke_variable variables[N_VARIABLES] = {
    [U] = {.name = "u", .text = "what is sent", .causality = YOKE_INPUT},
    [Y] = {.name = "y", .text = "what arrives", .causality = YOKE_OUTPUT},
    [IS_LOST] = {.name = "is_lost",
                 .text = "the present sample is lost and y an old one",
                 .type = YOKE_BOOLEAN,
                 .causality = YOKE_OUTPUT,
                 .offset = offsetof(channel, is_lost)},
    [N_LOST] = {.name = "n_lost",
                .dim = "1",
                .text = "samples lost so far",
                .type = YOKE_INTEGER,
                .causality = YOKE_OUTPUT,
                .offset = offsetof(channel, n_lost)},
    [NOISE] = {.name = "noise",
               .text = "standard deviation of each element",
               .causality = YOKE_PARAMETER},
    [AMPLITUDE] = {.name = "amplitude",
                   .text = "size of each element, for noise_relative",
                   .causality = YOKE_PARAMETER,
                   .start = 1.0},
    [NOISE_RELATIVE] = {.name = "noise_relative",
                        .dim = "1",
                        .text = "standard deviation over amplitude; adds to noise",
                        .causality = YOKE_PARAMETER,
                        .offset = offsetof(channel, noise_relative)},
    [LOSS] = {.name = "loss",
              .dim = "1",
              .text = "probability that a sample is lost",
              .causality = YOKE_PARAMETER,
              .offset = offsetof(channel, loss)},
    [SEED] = {.name = "seed",
              .dim = "1",
              .text = "of noise and losses",
              .type = YOKE_INTEGER,
              .causality = YOKE_PARAMETER,
              .start = 1.0,
              .offset = offsetof(channel, seed)},
};

static void describe(channel* c) {
  const struct {
    size_t variable;
    const double* at;
  } arrays[] = {{U, c->u}, {Y, c->y}, {NOISE, c->noise}, {AMPLITUDE, c->amplitude}};
  memcpy(c->head.variables, variables, sizeof variables);
  for (size_t i = 0; i < COUNT(arrays); i++) {
    yoke_variable* v = &c->head.variables[arrays[i].variable];
    v->n_rows = c->n;
    v->offset = offsetof(channel, values) + (size_t)(arrays[i].at - c->values) * sizeof(double);
  }
  c->head.feedthrough[0] = (yoke_feedthrough){Y, U};
  c->head.info.flags |= YOKE_UNIT_SAMPLED;
}

static yoke_status create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  int64_t count = 0;
  YOKE_TRY(yoke__model_integer(args, "n", 1, 1, MAX_SIZE, &count, sink));
  const size_t n = (size_t)count, size = sizeof(channel) + 5 * n * sizeof(double);
  channel* c = yoke__model_make(size, offsetof(channel, k), N_VARIABLES, 1, 0);
  if (c == NULL) {
    return yoke__model_no_memory(sink);
  }
  c->n = n;
  c->u = c->values;
  c->y = c->u + n;
  c->good = c->y + n;
  c->noise = c->good + n;
  c->amplitude = c->noise + n;
  c->seed = 1;
  for (size_t i = 0; i < n; i++) {
    c->amplitude[i] = 1.0;
  }
  describe(c);
  *self = c;
  return YOKE_OK;
}

static bool is_magnitude(double x) {
  return x >= 0.0 && isfinite(x);
}

static yoke_status enter_init(void* self, double t_start, double t_stop, const yoke_sink* sink) {
  channel* c = self;
  (void)t_stop;
  bool is_sound = is_magnitude(c->noise_relative);
  for (size_t i = 0; i < c->n; i++) {
    is_sound = is_sound && is_magnitude(c->noise[i]) && is_magnitude(c->amplitude[i]);
  }
  if (!is_sound) {
    return yoke__model_refuse(
        sink, "noise, noise_relative and amplitude must be finite and not negative");
  }
  if (!(c->loss >= 0.0 && c->loss <= 1.0)) {
    return yoke__model_refuse(sink, "loss is %g, expected a probability from 0 to 1", c->loss);
  }
  c->t = c->t_good = t_start;
  return YOKE_OK;
}

static yoke_status refresh(void* self, double t) {
  channel* c = self;
  const uint64_t k = (uint64_t)c->k;
  c->t = t;
  c->is_lost =
      k > 0 && c->loss > 0.0 && yoke__random_uniform(c->seed, STREAM_LOSS, k) < c->loss ? 1 : 0;
  c->n_lost = c->n_lost_before + c->is_lost;
  if (c->is_lost) {
    memcpy(c->y, c->good, c->n * sizeof *c->y);
    return YOKE_OK;
  }
  for (size_t i = 0; i < c->n; i++) {
    // without noise y is u, bit by bit
    const double s = c->noise[i] + c->noise_relative * c->amplitude[i];
    c->y[i] = s > 0.0 ? c->u[i] + s * yoke__random_normal(c->seed, STREAM_NOISE + i, k) : c->u[i];
  }
  return YOKE_OK;
}

static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  channel* c = self;
  (void)result;
  (void)refresh(c, t);
  if (!c->is_lost) {
    memcpy(c->good, c->y, c->n * sizeof *c->good);
    c->k_good = c->k;
    c->t_good = t;
  }
  c->n_lost_before = c->n_lost;
  c->k++;
  return refresh(c, t + h);
}

static yoke_status sample_info(const void* self, size_t output, yoke_sample_info* info) {
  const channel* c = self;
  if (output != Y) {
    return YOKE_BAD_ARG;
  }
  const double stamp = c->is_lost ? c->t_good : c->t;
  *info = (yoke_sample_info){.time_stamp = stamp,
                             .age = c->t - stamp,
                             .sequence = (uint64_t)(c->is_lost ? c->k_good : c->k),
                             .is_valid = !c->is_lost};
  return YOKE_OK;
}

const yoke_unit_ops yoke__model_channel = {
    .name = "channel",
    .text = "emulated link: passes signals on with noise and lost samples",
    .structure = structure,
    .n_structure = COUNT(structure),
    .create = create,
    .describe = yoke__model_describe,
    .enter_init = enter_init,
    .step = step,
    .refresh = refresh,
    .sample_info = sample_info,
    .save = yoke__model_save,
    .restore = yoke__model_restore,
    .close = yoke__model_close,
};
