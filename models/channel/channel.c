// Emulator of a physical link between two units: sensor noise, lost samples, and samples that come late, twice or in the wrong
// order.
//
//   sent    u_k + s z_k,  s = noise + noise_relative amplitude,  z_k normal, independent per element
//   lost    with probability `loss`, or in a burst: one begins with probability `burst`, and each sample of it is the last one
//           with probability 1 / burst_length
//   arrives at call k + d_k:  d_k = 0 .. jitter, all equally likely;  + late_by with probability `late`;
//           + round(vary / 2 (1 - cos(2 pi t / vary_period)))
//   y_k     the newest one that arrives at call k. Behind it, and so in its place: a sample that has changed places with its
//           successor (`reordered`), and the copy of one that arrived at the last call (`doubled`). None: the last y
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
#define MAX_LATE     10000
#define MAX_UNDERWAY 1000000
#define PI           3.14159265358979323846

// A sample on its way.
typedef struct underway {
  int64_t k;  // 0: none, since sample 0 is never late
  int64_t arrival;
  double t;
  int64_t is_behind, is_doubled;
} underway;

// Counted until now, the present sample included.
typedef struct tally {
  int64_t lost, late, doubled, reordered, bursts;
} tally;

typedef struct channel {
  yoke_model_head head;
  size_t n, late_max, n_ways;                // n_ways: late_max + 1, or 0
  double *u, *y, *good, *noise, *amplitude;  // in `values`
  double* past;                              // late_max + 1 times n: values underway
  underway* ways;                            // late_max + 1, behind the values
  int64_t k;                                 // the present sample; the image starts here
  int64_t is_lost;                           // output: none arrives
  tally now, before;                         // now: outputs
  int64_t is_burst, was_burst;
  underway present;
  int64_t k_shown, k_good;  // what y shows, and what it showed at the last call
  double t_shown, t_good, t, t_start;
  double loss, noise_relative, burst, burst_length, late, doubled, reordered, vary, vary_period;
  int64_t seed, jitter, late_by;
  double values[];  // u, y, good, noise, amplitude: n each; past; ways
} channel;

enum {
  STREAM_LOSS,
  STREAM_NOISE,  // element i draws from STREAM_NOISE + i
  STREAM_BURST = 1 << 20,
  STREAM_JITTER,
  STREAM_LATE,
  STREAM_DOUBLED,
  STREAM_REORDERED
};
enum {
  U,
  Y,
  IS_LOST,
  N_LOST,
  NOISE,
  AMPLITUDE,
  NOISE_RELATIVE,
  LOSS,
  SEED,
  BURST,
  BURST_LENGTH,
  JITTER,
  LATE,
  LATE_BY,
  DOUBLED,
  REORDERED,
  VARY,
  VARY_PERIOD,
  N_ALWAYS,  // the others where samples may be late
  N_BURSTS = N_ALWAYS,
  N_LATE,
  N_DOUBLED,
  N_REORDERED,
  N_VARIABLES
};

static const yoke_variable structure[] = {
    {.name = "n",
     .text = "number of elements of u and y",
     .type = YOKE_INTEGER,
     .causality = YOKE_PARAMETER,
     .start = 1.0},
    {.name = "late_max",
     .text = "calls by which a sample may be late at most",
     .type = YOKE_INTEGER,
     .causality = YOKE_PARAMETER,
     .start = 0.0},
};

#define COUNTER(name_, text_, member_)                                                             \
  {                                                                                                \
    .name = (name_), .dim = "1", .text = (text_), .type = YOKE_INTEGER, .causality = YOKE_OUTPUT,  \
    .offset = offsetof(channel, now.member_)                                                       \
  }
#define CHANCE(name_, text_, member_)                                                              \
  {                                                                                                \
    .name = (name_), .dim = "1", .text = (text_), .causality = YOKE_PARAMETER,                     \
    .offset = offsetof(channel, member_)                                                           \
  }
#define CALLS(name_, text_, member_, start_)                                                       \
  {                                                                                                \
    .name = (name_), .dim = "1", .text = (text_), .type = YOKE_INTEGER,                            \
    .causality = YOKE_PARAMETER, .start = (start_), .offset = offsetof(channel, member_)           \
  }

// sizes and offsets of the arrays are filled in by describe
static const yoke_variable variables[N_VARIABLES] = {
    [U] = {.name = "u", .text = "what is sent", .causality = YOKE_INPUT},
    [Y] = {.name = "y", .text = "what arrives", .causality = YOKE_OUTPUT},
    [IS_LOST] = {.name = "is_lost",
                 .text = "no sample arrives and y is an old one",
                 .type = YOKE_BOOLEAN,
                 .causality = YOKE_OUTPUT,
                 .offset = offsetof(channel, is_lost)},
    [N_LOST] = COUNTER("n_lost", "samples lost so far", lost),
    [NOISE] = {.name = "noise",
               .text = "standard deviation of each element",
               .causality = YOKE_PARAMETER},
    [AMPLITUDE] = {.name = "amplitude",
                   .text = "size of each element, for noise_relative",
                   .causality = YOKE_PARAMETER,
                   .start = 1.0},
    [NOISE_RELATIVE] = CHANCE("noise_relative", "standard deviation over amplitude; adds to noise",
                              noise_relative),
    [LOSS] = CHANCE("loss", "probability that a sample is lost", loss),
    [SEED] = CALLS("seed", "of everything that is random", seed, 1.0),
    [BURST] = CHANCE("burst", "probability that a burst of losses begins", burst),
    [BURST_LENGTH] = {.name = "burst_length",
                      .dim = "1",
                      .text = "mean number of samples lost in a burst",
                      .causality = YOKE_PARAMETER,
                      .start = 5.0,
                      .offset = offsetof(channel, burst_length)},
    [JITTER] = CALLS("jitter", "samples are late by 0 to so many calls, at random", jitter, 0.0),
    [LATE] = CHANCE("late", "probability that a sample is late by late_by calls", late),
    [LATE_BY] = CALLS("late_by", "calls, see late", late_by, 1.0),
    [DOUBLED] =
        CHANCE("doubled", "probability that a sample comes again at the next call", doubled),
    [REORDERED] =
        CHANCE("reordered", "probability that a sample comes behind its successor", reordered),
    [VARY] = CHANCE("vary", "calls by which samples are slowly more and less late", vary),
    [VARY_PERIOD] = {.name = "vary_period",
                     .dim = "s",
                     .text = "from least to most and back",
                     .causality = YOKE_PARAMETER,
                     .start = 1.0,
                     .offset = offsetof(channel, vary_period)},
    [N_BURSTS] = COUNTER("n_bursts", "bursts of losses so far", bursts),
    [N_LATE] = COUNTER("n_late", "samples sent so far that come late", late),
    [N_DOUBLED] = COUNTER("n_doubled", "samples sent so far that come twice", doubled),
    [N_REORDERED] =
        COUNTER("n_reordered", "samples sent so far that come behind their successor", reordered),
};

static void describe(channel* c) {
  const struct {
    size_t variable;
    const double* at;
  } arrays[] = {{U, c->u}, {Y, c->y}, {NOISE, c->noise}, {AMPLITUDE, c->amplitude}};
  memcpy(c->head.variables, variables, c->head.info.n_variables * sizeof *variables);
  for (size_t i = 0; i < COUNT(arrays); i++) {
    yoke_variable* v = &c->head.variables[arrays[i].variable];
    v->n_rows = c->n;
    v->offset = offsetof(channel, values) + (size_t)(arrays[i].at - c->values) * sizeof(double);
  }
  c->head.feedthrough[0] = (yoke_feedthrough){Y, U};
  c->head.info.flags |= YOKE_UNIT_SAMPLED;
}

static yoke_status create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  int64_t count = 0, late_max = 0;
  YOKE_TRY(yoke__model_integer(args, "n", 1, 1, MAX_SIZE, &count, sink));
  YOKE_TRY(yoke__model_integer(args, "late_max", 0, 0, MAX_LATE, &late_max, sink));
  if (count * (late_max + 1) > MAX_UNDERWAY) {
    return yoke__model_refuse(sink,
                              "%lld elements underway for up to %lld calls: at most %d numbers fit",
                              (long long)count, (long long)late_max, MAX_UNDERWAY);
  }
  const size_t n = (size_t)count, n_ways = late_max > 0 ? (size_t)late_max + 1 : 0;
  const size_t size =
      sizeof(channel) + (5 + n_ways) * n * sizeof(double) + n_ways * sizeof(underway);
  const size_t n_variables = late_max > 0 ? N_VARIABLES : N_ALWAYS;
  channel* c = yoke__model_make(size, offsetof(channel, k), n_variables, 1, 0);
  if (c == NULL) {
    return yoke__model_no_memory(sink);
  }
  c->n = n;
  c->late_max = (size_t)late_max;
  c->n_ways = n_ways;
  c->u = c->values;
  c->y = c->u + n;
  c->good = c->y + n;
  c->noise = c->good + n;
  c->amplitude = c->noise + n;
  c->past = c->amplitude + n;
  c->ways = (underway*)(void*)(c->past + n_ways * n);
  c->seed = c->late_by = 1;
  c->burst_length = 5.0;
  c->vary_period = 1.0;
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

static yoke_status check_chances(const channel* c, const yoke_sink* sink) {
  const struct {
    const char* name;
    double value;
  } chances[] = {{"loss", c->loss},
                 {"burst", c->burst},
                 {"late", c->late},
                 {"doubled", c->doubled},
                 {"reordered", c->reordered}};
  for (size_t i = 0; i < COUNT(chances); i++) {
    if (!(chances[i].value >= 0.0 && chances[i].value <= 1.0)) {
      return yoke__model_refuse(sink, "%s is %g, expected a probability from 0 to 1",
                                chances[i].name, chances[i].value);
    }
  }
  if (!(c->burst_length >= 1.0) || !(c->vary_period > 0.0)) {
    return yoke__model_refuse(sink, "burst_length must be 1 or more, vary_period above 0");
  }
  return YOKE_OK;
}

static yoke_status check_ways(const channel* c, const yoke_sink* sink) {
  if (c->jitter < 0 || c->jitter > MAX_LATE || c->late_by < 0 || c->late_by > MAX_LATE ||
      !(c->vary >= 0.0 && c->vary <= MAX_LATE)) {
    return yoke__model_refuse(sink, "jitter, late_by and vary must be from 0 to %d calls",
                              MAX_LATE);
  }
  const int64_t most = c->jitter + (c->late > 0.0 ? c->late_by : 0) + llround(c->vary) +
                       (c->doubled > 0.0) + (c->reordered > 0.0);
  if (most > (int64_t)c->late_max) {
    return yoke__model_refuse(sink,
                              "samples may come up to %lld calls late, but late_max is %zu: write "
                              "`late_max: %lld`",
                              (long long)most, c->late_max, (long long)most);
  }
  return YOKE_OK;
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
  YOKE_TRY(check_chances(c, sink));
  YOKE_TRY(check_ways(c, sink));
  c->t = c->t_good = c->t_start = t_start;
  return YOKE_OK;
}

// ---- what happens to sample k

static bool happens(const channel* c, double chance, uint64_t stream) {
  // each kind of event has its own stream of random numbers: one setting does not shift another's
  return c->k > 0 && chance > 0.0 && yoke__random_uniform(c->seed, stream, (uint64_t)c->k) < chance;
}

static int64_t find_lateness(const channel* c) {
  int64_t d = happens(c, c->late, STREAM_LATE) ? c->late_by : 0;
  if (c->k > 0 && c->jitter > 0) {
    const double draw = yoke__random_uniform(c->seed, STREAM_JITTER, (uint64_t)c->k);
    // 0 .. jitter, all equally likely
    d += (int64_t)(draw * (double)(c->jitter + 1));
  }
  if (c->k > 0 && c->vary > 0.0) {
    // raised cosine of period vary_period: 0 at the start, vary half a period later
    d += llround(c->vary / 2 * (1 - cos(2 * PI * (c->t - c->t_start) / c->vary_period)));
  }
  return d;
}

static void send(channel* c) {
  // a burst goes on with probability 1 - 1/burst_length: its mean length is burst_length
  c->is_burst = c->was_burst ? !happens(c, 1.0 / c->burst_length, STREAM_BURST)
                             : happens(c, c->burst, STREAM_BURST);
  const bool is_lost = happens(c, c->loss, STREAM_LOSS) || c->is_burst != 0;
  const int64_t d = find_lateness(c);
  const bool is_doubled = happens(c, c->doubled, STREAM_DOUBLED);
  const bool is_reordered = happens(c, c->reordered, STREAM_REORDERED);
  c->present =
      (underway){c->k, is_lost ? -1 : c->k + d + is_reordered, c->t, is_reordered, is_doubled};
  c->now = (tally){.lost = c->before.lost + is_lost,
                   .late = c->before.late + (!is_lost && d > 0),
                   .doubled = c->before.doubled + (!is_lost && is_doubled),
                   .reordered = c->before.reordered + (!is_lost && is_reordered),
                   .bursts = c->before.bursts + (c->is_burst && !c->was_burst)};
}

static double value_of(const channel* c, size_t i) {
  // without noise y is u, bit by bit
  const double s = c->noise[i] + c->noise_relative * c->amplitude[i];
  return s > 0.0 ? c->u[i] + s * yoke__random_normal(c->seed, STREAM_NOISE + i, (uint64_t)c->k)
                 : c->u[i];
}

// ---- what arrives at call k

typedef struct pick {
  const underway* way;
  bool is_behind;
} pick;

// Behind comes before newer: it is what was read last.
static void consider(const channel* c, const underway* way, pick* best) {
  const bool is_copy = way->is_doubled && way->arrival >= 0 && way->arrival + 1 == c->k;
  if (way->arrival != c->k && !is_copy) {
    return;
  }
  const bool is_behind = is_copy || way->is_behind;

  // of several arrivals the one behind a newer sample is read last; else the newest wins
  const bool is_better = best->way == NULL || (is_behind && !best->is_behind) ||
                         (is_behind == best->is_behind && way->k > best->way->k);
  if (is_better) {
    *best = (pick){way, is_behind};
  }
}

static yoke_status refresh(void* self, double t) {
  channel* c = self;
  c->t = t;
  send(c);
  pick best = {NULL, false};
  consider(c, &c->present, &best);
  for (size_t i = 0; i < c->n_ways; i++) {
    if (c->ways[i].k > 0) {
      consider(c, &c->ways[i], &best);
    }
  }

  // nothing arrives: the last good sample, with its age
  c->is_lost = best.way == NULL;
  c->k_shown = c->is_lost ? c->k_good : best.way->k;
  c->t_shown = c->is_lost ? c->t_good : best.way->t;
  if (best.way == &c->present) {
    for (size_t i = 0; i < c->n; i++) {
      c->y[i] = value_of(c, i);
    }
  } else {
    const double* from = c->is_lost ? c->good : c->past + (size_t)(best.way - c->ways) * c->n;
    memcpy(c->y, from, c->n * sizeof *c->y);
  }
  return YOKE_OK;
}

static void commit(channel* c) {
  memcpy(c->good, c->y, c->n * sizeof *c->good);
  c->k_good = c->k_shown;
  c->t_good = c->t_shown;
  if (c->n_ways > 0) {
    // ring of late_max + 1 samples: by then the oldest one has arrived or never will
    const size_t at = (size_t)c->k % c->n_ways;
    c->ways[at] = c->present;
    for (size_t i = 0; i < c->n; i++) {
      c->past[at * c->n + i] = value_of(c, i);
    }
  }
  c->before = c->now;
  c->was_burst = c->is_burst;
}

static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  channel* c = self;
  (void)result;
  (void)refresh(c, t);
  commit(c);
  c->k++;
  return refresh(c, t + h);
}

static yoke_status sample_info(const void* self, size_t output, yoke_sample_info* info) {
  const channel* c = self;
  if (output != Y) {
    return YOKE_BAD_ARG;
  }
  *info = (yoke_sample_info){.time_stamp = c->t_shown,
                             .age = c->t - c->t_shown,
                             .sequence = (uint64_t)c->k_shown,
                             .is_valid = !c->is_lost};
  return YOKE_OK;
}

const yoke_unit_ops yoke__model_channel = {
    .name = "channel",
    .text = "emulated link: passes signals on with noise, and loses, delays and mixes up samples",
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
