// Typed connections from the system file to the results: integers, booleans, enumerations, texts,
// binaries, arrays and tunable parameters, under every scheme. A typed value is held: a step works
// with what was known when it began.
#include <inttypes.h>

#include "base/base_message.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "master/master_run.h"
#include "support/check.h"
#include "support/sim.h"
#include "unit/unit_models.h"

// ---------------------------------------------------------------------------------------------------------
// a source of every type: all values follow from the number n of steps made

#define SHORT 8
#define LONG  21

typedef struct blob {
  uint64_t n;
  unsigned char bytes[16];
} blob;

typedef struct values {
  double real, reals[2];
  int64_t whole, flag, choice;
  int64_t wholes[3], flags[2];
  char text[LONG], texts[2][5];
  blob bytes;
} values;

typedef struct source {
  values v;
  int64_t n;
} source;

static const char* const choices[] = {"red", "green", "blue", NULL};

static void fill(values* v, int64_t n) {
  memset(v, 0, sizeof *v);
  v->real = 0.5 * (double)n;
  v->reals[0] = (double)n;
  v->reals[1] = (double)(-n);
  v->whole = 1000000000000 + n;
  v->flag = n % 2;
  v->choice = n % 3;
  for (int i = 0; i < 3; i++) {
    v->wholes[i] = 10 * n + i;
  }
  v->flags[0] = n % 2;
  v->flags[1] = 1 - n % 2;
  snprintf(v->text, SHORT, "n%" PRId64, n % 1000);
  snprintf(v->texts[0], 5, "a%" PRId64, n % 100);
  snprintf(v->texts[1], 5, "b%" PRId64, n % 100);
  v->bytes.n = (uint64_t)(n % 16);
  memset(v->bytes.bytes, (int)(n % 16), (size_t)(n % 16));
}

static yoke_status source_step(void* self, double t, double h, yoke_step_result* result) {
  (void)t;
  (void)h;
  (void)result;
  source* s = self;
  s->n++;
  fill(&s->v, s->n);
  return YOKE_OK;
}

static yoke_status source_refresh(void* self, double t) {
  (void)t;
  source* s = self;
  fill(&s->v, s->n);
  return YOKE_OK;
}

// the source's text is shorter than the room of the sink
#define VARIABLES(base_, prefix_, causality_, text_size_)                                          \
  {.name = prefix_ "real", .causality = (causality_), .offset = (base_) + offsetof(values, real)}, \
      {.name = prefix_ "reals",                                                                    \
       .causality = (causality_),                                                                  \
       .n_rows = 2,                                                                                \
       .offset = (base_) + offsetof(values, reals)},                                               \
      {.name = prefix_ "whole",                                                                    \
       .type = YOKE_INTEGER,                                                                       \
       .causality = (causality_),                                                                  \
       .offset = (base_) + offsetof(values, whole)},                                               \
      {.name = prefix_ "flag",                                                                     \
       .type = YOKE_BOOLEAN,                                                                       \
       .causality = (causality_),                                                                  \
       .offset = (base_) + offsetof(values, flag)},                                                \
      {.name = prefix_ "choice",                                                                   \
       .type = YOKE_ENUMERATION,                                                                   \
       .causality = (causality_),                                                                  \
       .items = choices,                                                                           \
       .offset = (base_) + offsetof(values, choice)},                                              \
      {.name = prefix_ "wholes",                                                                   \
       .type = YOKE_INTEGER,                                                                       \
       .causality = (causality_),                                                                  \
       .n_rows = 3,                                                                                \
       .offset = (base_) + offsetof(values, wholes)},                                              \
      {.name = prefix_ "flags",                                                                    \
       .type = YOKE_BOOLEAN,                                                                       \
       .causality = (causality_),                                                                  \
       .n_cols = 2,                                                                                \
       .offset = (base_) + offsetof(values, flags)},                                               \
      {.name = prefix_ "text",                                                                     \
       .type = YOKE_STRING,                                                                        \
       .causality = (causality_),                                                                  \
       .max_size = (text_size_),                                                                   \
       .offset = (base_) + offsetof(values, text)},                                                \
      {.name = prefix_ "texts",                                                                    \
       .type = YOKE_STRING,                                                                        \
       .causality = (causality_),                                                                  \
       .n_rows = 2,                                                                                \
       .max_size = 5,                                                                              \
       .offset = (base_) + offsetof(values, texts)},                                               \
  {                                                                                                \
    .name = prefix_ "bytes", .type = YOKE_BINARY, .causality = (causality_), .max_size = 16,       \
    .offset = (base_) + offsetof(values, bytes)                                                    \
  }

static const yoke_variable source_variables[] = {
    VARIABLES(offsetof(source, v), "", YOKE_OUTPUT, SHORT)};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const yoke_unit_info source_info = {
    .variables = source_variables,
    .n_variables = COUNT(source_variables),
    .flags = YOKE_UNIT_FLAT,
    .self_size = sizeof(source),
};

static const yoke_unit_ops source_ops = {YOKE_UNIT_HEAD, .name = "typed.source",
                                         .info = &source_info, .step = source_step,
                                         .refresh = source_refresh};

// ---------------------------------------------------------------------------------------------------------
// a sink for every type: inputs, and what its steps found in them

enum { N_HISTORY = 64 };

typedef struct sink {
  values in;
  double from_whole, from_flag, from_choice;  // real inputs fed by other types
  double from_wholes[3];
  int64_t whole_from_choice, choice_from_whole;
  double gain;  // tunable parameters
  double gain_from_whole;
  int64_t limit;
  int64_t mode;
  // what the last step worked with, and the gains of all steps
  values used;
  double used_whole, used_choice;
  int64_t n;
  double gains[N_HISTORY];
  double out;
} sink;

#define HAS_START .flags = YOKE_VARIABLE_HAS_START
static const yoke_variable sink_variables[] = {
    VARIABLES(offsetof(sink, in), "", YOKE_INPUT, LONG),
    VARIABLES(offsetof(sink, used), "used_", YOKE_OUTPUT, LONG),
    {.name = "from_whole", HAS_START, .start = -7, .offset = offsetof(sink, from_whole)},
    {.name = "from_flag", HAS_START, .offset = offsetof(sink, from_flag)},
    {.name = "from_choice", HAS_START, .offset = offsetof(sink, from_choice)},
    {.name = "from_wholes", HAS_START, .n_rows = 3, .offset = offsetof(sink, from_wholes)},
    {.name = "whole_from_choice",
     HAS_START,
     .type = YOKE_INTEGER,
     .offset = offsetof(sink, whole_from_choice)},
    {.name = "choice_from_whole",
     HAS_START,
     .type = YOKE_ENUMERATION,
     .items = choices,
     .offset = offsetof(sink, choice_from_whole)},
    {.name = "gain", .causality = YOKE_TUNABLE, .start = 3, .offset = offsetof(sink, gain)},
    {.name = "gain_from_whole",
     .causality = YOKE_TUNABLE,
     .start = 3,
     .offset = offsetof(sink, gain_from_whole)},
    {.name = "limit",
     .causality = YOKE_TUNABLE,
     .type = YOKE_INTEGER,
     .start = 5,
     .offset = offsetof(sink, limit)},
    {.name = "mode",
     .causality = YOKE_TUNABLE,
     .type = YOKE_ENUMERATION,
     .items = choices,
     .start = 1,
     .offset = offsetof(sink, mode)},
    {.name = "out", .causality = YOKE_OUTPUT, .offset = offsetof(sink, out)},
};

static const yoke_unit_info sink_info = {
    .variables = sink_variables,
    .n_variables = COUNT(sink_variables),
    .flags = YOKE_UNIT_FLAT,
    .self_size = sizeof(sink),
};

static yoke_status sink_step(void* self, double t, double h, yoke_step_result* result) {
  (void)t;
  (void)h;
  (void)result;
  sink* s = self;
  s->used = s->in;
  s->used_whole = s->from_whole;
  s->used_choice = s->from_choice;
  s->gains[s->n++ % N_HISTORY] = s->gain;
  s->out = s->gain;
  return YOKE_OK;
}

static yoke_status sink_refresh(void* self, double t) {
  (void)self;
  (void)t;
  return YOKE_OK;
}

static const yoke_unit_ops sink_ops = {YOKE_UNIT_HEAD, .name = "typed.sink", .info = &sink_info,
                                       .step = sink_step, .refresh = sink_refresh};

// ---------------------------------------------------------------------------------------------------------

static yoke_registry* models;

static int make_models(void** state) {
  (void)state;
  return yoke_registry_create(&models) < 0 ||
         yoke_registry_add_unit(models, &source_ops, NULL) < 0 ||
         yoke_registry_add_unit(models, &sink_ops, NULL) < 0;
}

static int free_models(void** state) {
  (void)state;
  yoke_registry_destroy(&models);
  return 0;
}

static sim open_typed(const char* format, ...) YOKE_PRINTF(1, 2);

static sim open_typed(const char* format, ...) {
  static char text[8192];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  sim s;
  char messages[4096];
  if (sim_try(models, text, &s, messages, sizeof messages) < 0) {
    fail_msg("refused:\n%s\n%s", messages, text);
  }
  return s;
}

static const void* self_of(const sim* s, const char* name) {
  const size_t unit = yoke__map_find(&s->system->unit_index, name);
  assert_true(unit != YOKE_NOT_FOUND);
  return s->system->units[unit].unit.self;
}

static const char all_units[] = "units: {a: {model: typed.source}, b: {model: typed.sink}}\n";
static const char all_links[] =
    "connections:\n"
    "  - a.real -> b.real\n  - a.reals -> b.reals\n  - a.whole -> b.whole\n  - a.flag -> b.flag\n"
    "  - a.choice -> b.choice\n  - a.wholes -> b.wholes\n  - a.flags -> b.flags\n"
    "  - a.text -> b.text\n  - a.texts -> b.texts\n  - a.bytes -> b.bytes\n"
    "  - {from: a.whole, to: b.from_whole, gain: 0.5, offset: -2}\n"
    "  - a.flag -> b.from_flag\n"
    "  - {from: a.choice, to: b.from_choice, gain: -10}\n"
    "  - {from: a.wholes, to: b.from_wholes, gain: 2, offset: 1}\n"
    "  - a.choice -> b.whole_from_choice\n  - a.flag -> b.limit\n"
    "  - a.choice -> b.mode\n"
    "  - {from: a.real, to: b.gain, gain: 4, offset: 1}\n"
    "  - {from: a.whole, to: b.gain_from_whole, gain: 1e-3, offset: 0.5}\n";

static void check_values(const values* got, int64_t n, const char* what) {
  values want;
  fill(&want, n);
  const unsigned char *left = (const unsigned char*)got, *right = (const unsigned char*)&want;
  size_t at = 0;
  while (at < sizeof want && left[at] == right[at]) {
    at++;
  }
  if (at < sizeof want) {
    fail_msg("%s: byte %zu differs; real %g, whole %" PRId64 ", flag %" PRId64 ", choice %" PRId64
             ", text '%s', texts '%s' '%s', %" PRIu64 " bytes; expected those of step %" PRId64,
             what, at, got->real, got->whole, got->flag, got->choice, got->text, got->texts[0],
             got->texts[1], got->bytes.n, n);
  }
}

static void check_converted(const sink* b, int64_t n) {
  values v;
  fill(&v, n);
  assert_true(b->from_whole == (double)v.whole * 0.5 - 2);
  assert_true(b->from_flag == (double)v.flag);
  assert_true(b->from_choice == -10 * (double)v.choice);
  for (int i = 0; i < 3; i++) {
    assert_true(b->from_wholes[i] == 2 * (double)v.wholes[i] + 1);
  }
  assert_int_equal(b->whole_from_choice, v.choice);
  assert_int_equal(b->limit, v.flag);
  assert_int_equal(b->mode, v.choice);
  assert_true(b->gain == 4 * v.real + 1);
  assert_true(b->gain_from_whole == (double)v.whole * 1e-3 + 0.5);
}

// which step of the source the k-th step of the sink sees
static void check_scheme(const char* settings, bool sees_new) {
  sim s = open_typed("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 2, step: 0.1}\n%s%s%s",
                     settings, all_units, all_links);
  const sink* b = self_of(&s, "b");
  const source* a = self_of(&s, "a");

  // at the start everything has arrived, before any step
  check_values(&b->in, 0, "start");
  check_converted(b, 0);
  for (int64_t k = 1; k <= 20; k++) {
    sim_steps(&s, 1);
    assert_int_equal(a->n, k);
    assert_int_equal(b->n, k);
    check_values(&a->v, k, "source");
    check_values(&b->used, sees_new ? k : k - 1, settings);
    check_converted(b, sees_new ? k : k - 1);
    assert_true(b->used_whole == b->from_whole && b->used_choice == b->from_choice);
  }
  sim_close(&s);
}

static void test_all_types_jacobi(void** state) {
  (void)state;
  check_scheme("", false);
  check_scheme("threads: 2\n", false);
}

static void test_all_types_gauss_seidel(void** state) {
  (void)state;
  check_scheme("scheme: gauss-seidel\norder: [a, b]\n", true);
  check_scheme("scheme: gauss-seidel\norder: [b, a]\n", false);
}

// real inputs of iterative schemes come from the end of the step; typed ones are held from its start
static void check_iterative(const char* settings) {
  sim s = open_typed("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 2, step: 0.1}\n%s%s%s",
                     settings, all_units, all_links);
  const sink* b = self_of(&s, "b");
  for (int64_t k = 1; k <= 20; k++) {
    sim_steps(&s, 1);
    assert_int_equal(b->n, k);  // repeated steps count once
    values used = b->used, held;
    fill(&held, k - 1);
    used.real = held.real;
    memcpy(used.reals, held.reals, sizeof held.reals);
    check_values(&used, k - 1, settings);
    check_converted(b, k - 1);
  }
  sim_close(&s);
}

static void test_all_types_iterative(void** state) {
  (void)state;
  check_iterative("scheme: iterative-jacobi\n");
  check_iterative("scheme: iterative-jacobi\nthreads: 2\n");
  check_iterative("scheme: iterative-gauss-seidel\n");
  check_iterative("scheme: iterative-jacobi\niteration: {mode: hold-end, update: aitken}\n");
}

// ---------------------------------------------------------------------------------------------------------
// tunable parameters

static const char sink_links[] =
    "  - a.reals -> b.reals\n  - a.real -> b.real\n  - a.whole -> b.whole\n  - a.flag -> b.flag\n"
    "  - a.choice -> b.choice\n  - a.wholes -> b.wholes\n  - a.flags -> b.flags\n"
    "  - a.text -> b.text\n  - a.texts -> b.texts\n  - a.bytes -> b.bytes\n";

// the sink is called four times per exchange: its gain changes with the exchange, not with the calls
static void test_parameters_change_at_exchange_points(void** state) {
  (void)state;
  static const struct {
    const char *source, *sink, *link;
    int64_t calls;    // of the sink per exchange of the gain
    int64_t advance;  // steps of the source meanwhile
  } cases[] = {
      {"", ", step: 0.025", "", 4, 1},
      {", step: 0.05", ", step: 0.025", "", 4, 2},
      {"", "", ", exchange: 0.3", 3, 3},
      {"", ", step: 0.2", "", 1, 2},
      {", step: 0.2", ", step: 0.05", "", 4, 1},
      {", step: 0.05", ", step: 0.05", ", exchange: 0.05", 1, 1},
  };
  for (size_t c = 0; c < COUNT(cases); c++) {
    sim s = open_typed("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1.2, step: 0.1}\nunits:\n"
                       "  a: {model: typed.source%s}\n  b: {model: typed.sink%s}\n"
                       "connections:\n%s  - {from: a.real, to: b.gain, gain: 2%s}\n",
                       cases[c].source, cases[c].sink, sink_links, cases[c].link);
    const sink* b = self_of(&s, "b");
    assert_true(b->gain == 0);  // the connection goes before the start value
    check_ok(sim_run_on(&s));
    assert_true(b->n > 4 && b->n <= N_HISTORY);
    for (int64_t i = 0; i < b->n; i++) {
      const int64_t n = i / cases[c].calls * cases[c].advance;  // steps of the source
      const double want = 2 * 0.5 * (double)n;
      if (b->gains[i] != want) {
        fail_msg("case %zu, call %" PRId64 ": gain %g, expected %g", c, i, b->gains[i], want);
      }
    }
    sim_close(&s);
  }
}

// an input that nobody feeds keeps its start value; a parameter that nobody feeds its setting
static void test_unconnected_values_stay(void** state) {
  (void)state;
  static const char* const schemes[] = {"jacobi", "gauss-seidel", "iterative-jacobi"};
  for (size_t i = 0; i < COUNT(schemes); i++) {
    sim s = open_typed(
        "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nscheme: %s\nunits:\n"
        "  a: {model: typed.source}\n"
        "  b: {model: typed.sink, with: {gain: 2.5, mode: blue},\n"
        "      start: {choice_from_whole: green, whole_from_choice: 12}}\n"
        "connections:\n%s",
        schemes[i], sink_links);
    check_ok(sim_run_on(&s));
    const sink* b = self_of(&s, "b");
    assert_true(b->gain == 2.5 && b->from_whole == -7);
    assert_true(b->mode == 2 && b->limit == 5);
    assert_true(b->choice_from_whole == 1 && b->whole_from_choice == 12);
    sim_close(&s);
  }
}

// slow and fast units side by side: everything has arrived at the start, and later when its time has come
static void test_start_values_with_slow_units(void** state) {
  (void)state;
  static const char* const schemes[] = {"jacobi", "gauss-seidel"};
  for (size_t i = 0; i < COUNT(schemes); i++) {
    const bool sees_new = i == 1;
    sim s = open_typed(
        "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1.2, step: 0.1}\nscheme: %s\nunits:\n"
        "  a: {model: typed.source}\n  b: {model: typed.sink}\n"
        "  slow: {model: typed.source, step: 0.4}\n"
        "  name: {model: label, with: {labels: [zero, one]}}\n"
        "connections:\n%s  - slow.flag -> b.limit\n"
        "  - {from: slow.whole, to: b.from_whole, offset: -1e12}\n"
        "  - slow.choice -> name.index\n",
        schemes[i], sink_links);
    const sink* b = self_of(&s, "b");
    check_values(&b->in, 0, "start");
    assert_int_equal(b->limit, 0);
    assert_true(b->from_whole == 0);
    for (int64_t k = 1; k <= 12; k++) {
      sim_steps(&s, 1);
      check_values(&b->used, sees_new ? k : k - 1, schemes[i]);
      // jacobi: known at the start of the step; gauss-seidel: slow units run before, to their end
      const int64_t n_slow = (k - 1) / 4 + sees_new;
      assert_true(b->used_whole == (double)n_slow);
    }
    sim_close(&s);
  }
}

// ---------------------------------------------------------------------------------------------------------
// the blocks

// counter -> label -> own sink, counter -> switch, own source -> select: texts of different sizes and an array
static void test_blocks_in_a_chain(void** state) {
  (void)state;
  sim s = open_typed(
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nscheme: gauss-seidel\n"
      "order: [a, count, name, gate, best, b]\nunits:\n"
      "  a: {model: typed.source}\n  b: {model: typed.sink}\n"
      "  count: {model: counter, with: {limit: 2}}\n"
      "  name: {model: label, with: {labels: [zero, one, two, and more]}}\n"
      "  gate: {model: switch}\n"
      "  best: {model: select, with: {n: 2, mode: max}}\n"
      "connections:\n  - count.count -> name.index\n  - name.text -> b.text\n"
      "  - count.toggle -> gate.on\n  - a.real -> gate.a\n"
      "  - {from: a.reals, to: best.u}\n"
      "  - {from: \"a.reals[1]\", to: gate.b}\n"
      "  - gate.y -> b.real\n  - a.reals -> b.reals\n  - a.whole -> b.whole\n"
      "  - a.flag -> b.flag\n  - a.choice -> b.choice\n  - a.wholes -> b.wholes\n"
      "  - a.flags -> b.flags\n  - a.texts -> b.texts\n  - a.bytes -> b.bytes\n");
  static const char* const names[] = {"zero", "one", "two", "and more"};
  const sink* b = self_of(&s, "b");
  for (int64_t k = 1; k <= 10; k++) {
    sim_steps(&s, 1);
    assert_string_equal(b->in.text, names[k > 3 ? 3 : k]);
    const bool is_on = k / 2 % 2 == 1;  // toggles at 2, 4, ...
    check_near(sim_read(&s, "gate.y"), is_on ? 0.5 * (double)k : -(double)k, 0);
    check_near(b->in.real, is_on ? 0.5 * (double)k : -(double)k, 0);
    check_near(sim_read(&s, "best.y"), (double)k, 0);
  }
  sim_close(&s);
}

// ---------------------------------------------------------------------------------------------------------
// what cannot be connected

static void check_refused(const char* link, const char* message) {
  char text[2048], messages[4096];
  snprintf(text, sizeof text,
           "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\n%sconnections:\n  - %s\n",
           all_units, link);
  sim s;
  if (sim_try(models, text, &s, messages, sizeof messages) >= 0) {
    sim_close(&s);
    fail_msg("accepted: %s", link);
  }
  check_contains(messages, message);
}

static void test_mismatches_are_refused(void** state) {
  (void)state;
  check_refused("a.real -> b.whole", "a.real is real, b.whole is integer");
  check_refused("a.whole -> b.flag", "a.whole is integer, b.flag is boolean");
  check_refused("a.flag -> b.choice", "a.flag is boolean, b.choice is enumeration");
  check_refused("a.text -> b.whole", "a.text is string, b.whole is integer");
  check_refused("a.text -> b.bytes", "a.text is string, b.bytes is binary");
  check_refused("a.whole -> b.text", "a.whole is integer, b.text is string");
  check_refused("a.real -> b.limit", "a.real is real, b.limit is integer");
  check_refused("a.wholes -> b.whole", "a.wholes has 3 elements, b.whole has 1");
  check_refused("a.reals -> b.gain", "a.reals has 2 elements, b.gain has 1");
  check_refused("b.used_text -> b.text", "input 'b.flag' is not connected");
  check_refused("{from: \"a.wholes[1]\", to: b.whole}", "single elements");
  check_refused("{from: a.whole, to: b.whole, gain: 2}", "gain and offset need real variables");
  check_refused("{from: a.whole, to: b.from_whole, order: 1}",
                "is not a real input: remove 'order' and 'delay'");
  check_refused("{from: a.real, to: b.gain, delay: 0.1}",
                "is not a real input: remove 'order' and 'delay'");
  check_refused("{from: b.used_text, to: b.texts}", "sizes do not match");
}

// a text that may be longer than its room is refused when the system is built
static void test_text_rooms(void** state) {
  (void)state;
  yoke_variable small[COUNT(sink_variables)];
  memcpy(small, sink_variables, sizeof small);
  for (size_t i = 0; i < COUNT(small); i++) {
    small[i].max_size =
        small[i].type == YOKE_STRING && small[i].max_size == LONG ? SHORT - 1 : small[i].max_size;
  }
  yoke_unit_info info = sink_info;
  info.variables = small;
  yoke_unit_ops ops = sink_ops;
  ops.info = &info;
  ops.name = "typed.narrow";
  yoke_registry* own = NULL;
  check_ok(yoke_registry_create(&own));
  check_ok(yoke_registry_add_unit(own, &source_ops, NULL));
  check_ok(yoke_registry_add_unit(own, &ops, NULL));
  sim s;
  char messages[4096];
  const char* text = "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\n"
                     "units: {a: {model: typed.source}, b: {model: typed.narrow}}\n"
                     "connections: [a.text -> b.text]\n";
  assert_true(sim_try(own, text, &s, messages, sizeof messages) < 0);
  check_contains(messages, "a.text can be 8 bytes long, b.text only 7");
  yoke_registry_destroy(&own);
}

// ---------------------------------------------------------------------------------------------------------
// results

static char* run_to_csv(sim* s, const char* directory) {
  static yoke_loop_info info;
  const yoke_record_settings settings = {.directory = directory, .formats = YOKE_RECORD_CSV};
  if (sim_record(s, &settings, &info) < 0) {
    fail_msg("the run failed: %s", info.failure.text);
  }
  char path[256];
  YOKE_CATCH(err);
  char* bytes = NULL;
  size_t n = 0;
  snprintf(path, sizeof path, "%s/results.csv", directory);
  check_ok(yoke__os_read_file(path, 1 << 20, &bytes, &n, &err.sink));
  remove(path);
  remove(directory);
  return bytes;
}

static void put_values(char* to, size_t size, const values* v) {
  snprintf(to, size,
           "%g,%g,%g,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
           ",%" PRId64 ",%" PRId64 ",%s,%s,%s",
           v->real, v->reals[0], v->reals[1], v->whole, v->flag, v->choice, v->wholes[0],
           v->wholes[1], v->wholes[2], v->flags[0], v->flags[1], v->text, v->texts[0], v->texts[1]);
}

#define COLUMNS(p)                                                                                 \
  p "real," p "reals[0]," p "reals[1]," p "whole," p "flag," p "choice," p "wholes[0]," p          \
    "wholes[1]," p "wholes[2]," p "flags[0]," p "flags[1]," p "text," p "texts[0]," p "texts[1]"

// every type as an output, and inputs and parameters by name; binary values are left out
static void test_recorded_columns(void** state) {
  (void)state;
  sim s = open_typed("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\n%s%s"
                     "record: {signals: [\"a.*\", \"b.used_*\", b.text, b.gain, b.mode,"
                     " b.from_whole, \"b.wholes[1]\"]}\n",
                     all_units, all_links);
  char* csv = run_to_csv(&s, "types_csv");
  char* line = strtok(csv, "\n");
  assert_string_equal(line, "time," COLUMNS("a.") ",b.wholes[1],b.text," COLUMNS(
                                "b.used_") ","
                                           "b.from_whole,b.gain,b.mode");
  for (int64_t k = 0; k <= 10; k++) {
    values now, last;
    fill(&now, k);
    fill(&last, k > 0 ? k - 1 : 0);
    char a[256], used[256], want[1024];
    put_values(a, sizeof a, &now);
    if (k == 0) {
      // nothing was used yet
      values none;
      memset(&none, 0, sizeof none);
      put_values(used, sizeof used, &none);
    } else {
      put_values(used, sizeof used, &last);
    }
    // inputs as the unit knows them: real ones are exchanged already, typed ones go with the next step
    const values* known = k > 0 ? &last : &now;
    char half[YOKE_NUMBER_SIZE];
    yoke__number_format((double)now.whole * 0.5 - 2, half);
    snprintf(want, sizeof want, "%g,%s,%" PRId64 ",%s,%s,%s,%g,%" PRId64, 0.1 * (double)k, a,
             known->wholes[1], known->text, used, half, 4 * known->real + 1, known->choice);
    line = strtok(NULL, "\n");
    assert_non_null(line);
    assert_string_equal(line, want);
  }
  assert_null(strtok(NULL, "\n"));
  free(csv);
  sim_close(&s);
}

// a slow unit works ahead of the others; nobody sees its values before their time, in no column
static void test_slow_units_do_not_show_the_future(void** state) {
  (void)state;
  static const char* const schemes[] = {"jacobi", "gauss-seidel"};
  for (size_t i = 0; i < COUNT(schemes); i++) {
    sim s = open_typed(
        "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1.2, step: 0.1}\nscheme: %s\nunits:\n"
        "  a: {model: typed.source, step: 0.4}\n"
        "record: {signals: [a.real, a.whole, a.text]}\n",
        schemes[i]);
    char* csv = run_to_csv(&s, "slow_csv");
    char* line = strtok(csv, "\n");
    assert_string_equal(line, "time,a.real,a.whole,a.text");
    for (int64_t k = 0; k <= 12; k++) {
      values now;
      char want[256];
      fill(&now, k / 4);
      snprintf(want, sizeof want, "%g,%g,%" PRId64 ",%s", 0.1 * (double)k, now.real, now.whole,
               now.text);
      line = strtok(NULL, "\n");
      assert_non_null(line);
      assert_string_equal(line, want);
    }
    free(csv);
    sim_close(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_types_jacobi),
      cmocka_unit_test(test_all_types_gauss_seidel),
      cmocka_unit_test(test_all_types_iterative),
      cmocka_unit_test(test_parameters_change_at_exchange_points),
      cmocka_unit_test(test_unconnected_values_stay),
      cmocka_unit_test(test_start_values_with_slow_units),
      cmocka_unit_test(test_blocks_in_a_chain),
      cmocka_unit_test(test_mismatches_are_refused),
      cmocka_unit_test(test_text_rooms),
      cmocka_unit_test(test_recorded_columns),
      cmocka_unit_test(test_slow_units_do_not_show_the_future),
  };
  return cmocka_run_group_tests_name("master_types", tests, make_models, free_models);
}
