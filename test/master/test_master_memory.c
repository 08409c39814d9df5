// Out of memory at every single allocation while a system is loaded: no crash, nothing left behind,
// and either an error with a text or a simulation that gives the right numbers (the C library may do
// without some of its requests). The k-th request fails, and in a second round all from the k-th on.
//
// The program brings its own malloc family in front of glibc's, so the requests of libyaml and of the
// C library inside a load count as well; what libraries took before main is not seen. One thread: the
// caches of ended threads belong to glibc. Sanitizers bring their own allocator: skipped there.
#include <limits.h>

#include "support/check.h"
#include "support/failing_heap.h"
#include "support/heard.h"
#include "yoke/yoke.h"

#if HAS_OWN_MALLOC

// ---------------------------------------------------------------------------------------------------------
// a unit whose settings need blocks of their own

#define ROOM 70000

typedef struct store {
  double y, weights[9000];
  char text[ROOM];
} store;

static const yoke_variable store_variables[] = {
    {.name = "y", .causality = YOKE_OUTPUT, .offset = offsetof(store, y)},
    {.name = "weights",
     .causality = YOKE_PARAMETER,
     .n_rows = 9000,
     .offset = offsetof(store, weights)},
    {.name = "text",
     .type = YOKE_STRING,
     .causality = YOKE_PARAMETER,
     .max_size = ROOM,
     .offset = offsetof(store, text)},
};
static const yoke_unit_info store_info = {.variables = store_variables,
                                          .n_variables = 3,
                                          .flags = YOKE_UNIT_FLAT,
                                          .self_size = sizeof(store)};

static yoke_status store_refresh(void* self, double t) {
  (void)t;
  store* s = self;
  s->y = s->weights[0] + s->weights[8999] + (double)strlen(s->text);
  return YOKE_OK;
}

static yoke_status store_step(void* self, double t, double h, yoke_step_result* result) {
  (void)h;
  (void)result;
  return store_refresh(self, t);
}

static const yoke_unit_ops store_ops = {
    .name = "store", .info = &store_info, .step = store_step, .refresh = store_refresh};

// the same, with the weights as a setting that create needs
static yoke_status shaped_create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  if (args->n_arguments != 1 || args->arguments[0].n_rows != 9000) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "weights: expected 9000 numbers");
  }
  store* s = calloc(1, sizeof *s);
  if (s == NULL) {
    return YOKE_NO_MEMORY;
  }
  memcpy(s->weights, args->arguments[0].value, sizeof s->weights);
  *self = s;
  return YOKE_OK;
}

static void shaped_close(void* self) {
  free(self);
}

static const yoke_unit_info shaped_info = {
    .variables = store_variables, .n_variables = 1, .image_size = 0};

static const yoke_unit_ops shaped_ops = {
    .name = "shaped",
    .structure = &store_variables[1],
    .n_structure = 1,
    .info = &shaped_info,
    .create = shaped_create,
    .step = store_step,
    .refresh = store_refresh,
    .close = shaped_close,
};

// ---------------------------------------------------------------------------------------------------------

static const char file_name[] = "memory_test.yaml";

typedef struct case_ {
  const char* text;
  const char* signal;
  int n_steps;
  long n_last;  // 0, or how many of the last requests are refused (of very many)
  double want;  // of the signal after these steps; measured with enough memory
} case_;

static yoke_models* models;

static double run(yoke_simulation* simulation, const case_* c) {
  size_t signal = 0;
  check_ok(yoke_simulation_find(simulation, c->signal, &signal));
  for (int i = 0; i < c->n_steps; i++) {
    check_ok(yoke_simulation_step(simulation));
  }
  return yoke_simulation_read(simulation, signal);
}

// Loads with a heap that fails at request k; true if it was never asked that often.
static bool load_with_failure(const case_* c, long k, bool fails_onwards, long* n_refused) {
  const char* const sets[] = {"time.start=0"};
  HEAR(err);
  const yoke_load_settings settings = {models, sets, 1, &err.sink};
  yoke_simulation* simulation = NULL;
  heap.n_requests = heap.n_blocks = 0;
  heap.fails_at = k;
  heap.fails_onwards = fails_onwards;
  heap.is_on = true;
  const yoke_status status = yoke_simulation_load(file_name, &settings, &simulation);
  const bool is_done = heap.n_requests <= k;
  heap.is_on = false;
  if (status < 0 ? simulation != NULL || err.text[0] == '\0' : simulation == NULL) {
    fail_msg("request %ld refused: status %d, simulation %p, text '%s'", k, (int)status,
             (void*)simulation, err.text);
  }
  if (is_done && status < 0) {
    fail_msg("refused with enough memory: %s", err.text);
  }
  if (simulation != NULL) {
    const double got = run(simulation, c);
    if (got != c->want) {
      fail_msg("request %ld refused: loaded, but %s is %.17g instead of %.17g", k, c->signal, got,
               c->want);
    }
  }
  *n_refused += status < 0;
  heap.is_on = true;
  yoke_simulation_destroy(&simulation);
  heap.is_on = false;
  if (heap.n_blocks != 0) {
    fail_msg("request %ld refused (status %d): %ld blocks are left over", k, (int)status,
             heap.n_blocks);
  }
  return is_done;
}

static void try_all(case_ c) {
  FILE* file = fopen(file_name, "w");
  assert_true(file != NULL && fputs(c.text, file) >= 0 && fclose(file) == 0);

  // with enough memory, twice: what libraries keep for good they have by then
  for (int i = 0; i < 2; i++) {
    yoke_simulation* simulation = NULL;
    HEAR(err);
    const yoke_load_settings settings = {.models = models, .sink = &err.sink};
    if (yoke_simulation_load(file_name, &settings, &simulation) < 0) {
      fail_msg("refused: %s", err.text);
    }
    c.want = run(simulation, &c);
    yoke_simulation_destroy(&simulation);
  }
  long n_refused = 0;
  assert_true(load_with_failure(&c, LONG_MAX, false, &n_refused));
  const long first = c.n_last > 0 ? heap.n_requests - c.n_last : 0;
  for (int mode = 0; mode < 2; mode++) {
    long k = first;
    n_refused = 0;
    while (!load_with_failure(&c, k, mode == 1, &n_refused)) {
      k++;
    }
    print_message("%ld requests refused in turn%s: %ld loads failed\n", k - first,
                  mode == 1 ? " with all behind them" : "", n_refused);
    assert_true(k - first > 30 && n_refused > (k - first) / 2);
  }
  remove(file_name);
}

// several rates, extrapolation, delay, a law, typed values, a bond
static void test_rates_laws_and_types(void** state) {
  (void)state;
  try_all((case_){
      "yoke: 1\ntime: {stop: 1, step: 1e-2}\nunits:\n"
      "  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {v: 1}, step: 2e-3}\n"
      "  right: {model: oscillator.mass, step: 2e-2}\n  count: {model: counter}\n"
      "  name: {model: label, with: {labels: [a, b, c]}}\n"
      "  wave: {model: sine}\n  ss: {model: state_space, with: {A: [[-1]], B: [[1]]}}\n"
      "laws: {pick: {law: switch}}\n"
      "connections:\n  - {from: right.x, to: left.x_other, order: 2, delay: 4e-2}\n"
      "  - right.v -> left.v_other\n  - count.toggle -> pick.on\n  - left.x -> pick.a\n"
      "  - right.x -> pick.b\n  - pick.y -> ss.u1\n  - count.count -> name.index\n"
      "  - left.x -> wave.amplitude\n"
      "bonds: {spring: {action: left.f -> right.f, rate: right.v}}\nrecord: {signals: [\"*\", "
      "wave.amplitude]}\n",
      "ss.y1", 60, 0, 0});
}

static void test_gauss_seidel_and_fresh(void** state) {
  (void)state;
  try_all((case_){"yoke: 1\ntime: {stop: 1, step: 1e-2}\nscheme: gauss-seidel\norder: [b, a]\n"
                  "exchange: fresh\nunits:\n"
                  "  a: {model: oscillator.force, start: {v: 1}}\n  b: {model: oscillator.mass}\n"
                  "connections: [b.x -> a.x_other, b.v -> a.v_other, a.f -> b.f]\n",
                  "a.x", 50, 0, 0});
}

// an algebraic loop at the start and saved states
static void test_iterative(void** state) {
  (void)state;
  try_all((case_){"yoke: 1\ntime: {stop: 1, step: 1e-2}\nscheme: iterative-jacobi\n"
                  "iteration: {update: quasi-newton}\nunits:\n"
                  "  a: {model: oscillator.force, start: {v: 1}}\n  b: {model: oscillator.mass}\n"
                  "  g1: {model: gain, with: {k: -3}}\n  g2: {model: sum, with: {n: 2}}\n"
                  "connections: [b.x -> a.x_other, b.v -> a.v_other, a.f -> b.f, g1.y -> g2.u1,"
                  " a.x -> g2.u2, g2.y -> g1.u]\n",
                  "g2.y", 50, 0, 0});
}

// settings so large that each conversion takes a block of its own; libyaml's part was tried above
static void try_weights(const char* model, const char* more) {
  static char text[60000];
  size_t n = (size_t)snprintf(text, sizeof text,
                              "yoke: 1\ntime: {stop: 1, step: 1e-2}\nunits:\n  s:\n    model: %s\n"
                              "    with:\n%s      weights: [1",
                              model, more);
  for (int i = 1; i < 9000; i++) {
    n += (size_t)snprintf(text + n, sizeof text - n, ",%d", i % 10);
  }
  snprintf(text + n, sizeof text - n, "]\n");
  try_all((case_){text, "s.y", 3, 100, 0});
}

static void test_large_settings(void** state) {
  (void)state;
  try_weights("store", "      text: hello\n");
  try_weights("shaped", "");
}

static void test_registry(void** state) {
  (void)state;
  heap = (failing_heap){.is_on = true};
  yoke_models* own = NULL;
  assert_int_equal(yoke_models_create(&own), YOKE_NO_MEMORY);
  assert_null(own);
  heap.fails_at = 2;
  assert_int_equal(yoke_models_create(&own), YOKE_OK);
  assert_int_equal(yoke_models_add(own, &store_ops), YOKE_NO_MEMORY);
  assert_int_equal(yoke_models_add(own, &store_ops), YOKE_OK);  // the next try goes through
  yoke_models_destroy(&own);
  heap.is_on = false;
  assert_int_equal(heap.n_blocks, 0);
}

static int make_models(void** state) {
  (void)state;
  return yoke_models_create(&models) < 0 || yoke_models_add(models, &store_ops) < 0 ||
         yoke_models_add(models, &shaped_ops) < 0;
}

static int free_models(void** state) {
  (void)state;
  yoke_models_destroy(&models);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rates_laws_and_types),
      cmocka_unit_test(test_gauss_seidel_and_fresh),
      cmocka_unit_test(test_iterative),
      cmocka_unit_test(test_large_settings),
      cmocka_unit_test(test_registry),
  };
  return cmocka_run_group_tests_name("master_memory", tests, make_models, free_models);
}

#else

static void test_skipped(void** state) {
  (void)state;
  skip();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_skipped)};
  return cmocka_run_group_tests_name("master_memory", tests, NULL, NULL);
}

#endif
