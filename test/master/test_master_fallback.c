// Loops that grow under extrapolation and are held then: a method that always extrapolates shows what the master does about it,
// `auto` what a run says of it.
#include "support/check.h"
#include "support/sim.h"
#include "yoke/registry.h"
#include "yoke/simulation.h"

// ---------------------------------------------------------------------------------------------------------
// a method that extrapolates by order 2 until its loop grows

enum { MAX_SIGNALS = 4 };

typedef struct eager {
  const yoke_coupling_sink* sinks;
  size_t n;
  double y[MAX_SIGNALS], d1[MAX_SIGNALS], d2[MAX_SIGNALS];
  bool is_held[MAX_SIGNALS];
} eager;

static size_t eager_size(const yoke_coupling_setup* setup) {
  (void)setup;
  return sizeof(eager);
}

static yoke_status eager_prepare(void* memory, const yoke_coupling_setup* setup,
                                 const yoke_sink* sink) {
  (void)sink;
  eager* self = memory;
  self->sinks = setup->sinks;
  self->n = setup->n_signals;
  return setup->n_signals <= MAX_SIGNALS ? YOKE_OK : YOKE_BAD_ARG;
}

static void eager_observe(void* memory, const yoke_coupling_moment* now, const double y[],
                          const double u_applied[]) {
  (void)u_applied;
  eager* self = memory;
  for (size_t i = 0; i < self->n; i++) {
    const double d1 = now->k > 0 ? y[i] - self->y[i] : 0;
    self->d2[i] = now->k > 1 ? d1 - self->d1[i] : 0;
    self->d1[i] = d1;
    self->y[i] = y[i];
  }
}

// the mean over the one call of the exchange
static void eager_input_mean(void* memory, size_t sink, double tau, double h, double u[]) {
  (void)tau;
  (void)h;
  const eager* self = memory;
  for (size_t i = 0; i < self->sinks[sink].n; i++) {
    const size_t s = self->sinks[sink].first + i;
    u[i] = self->y[s] + (self->is_held[s] ? 0 : self->d1[s] / 2 + self->d2[s] * 5 / 12);
  }
}

static void eager_input(void* memory, size_t sink, double tau, double u[]) {
  eager_input_mean(memory, sink, tau, 0, u);
}

static void eager_reset(void* memory, yoke_coupling_reset reason, const bool is_affected[]) {
  eager* self = memory;
  for (size_t i = 0; i < self->n; i++) {
    self->is_held[i] = self->is_held[i] || (reason == YOKE_RESET_GROWTH && is_affected[i]);
  }
}

static bool eager_is_failing(const void* memory, size_t signal) {
  (void)memory;
  (void)signal;
  return true;
}

static const yoke_coupling_ops eager_ops = {
    YOKE_COUPLING_HEAD,
    .name = "eager",
    .text = "order 2, whatever happens",
    .size = eager_size,
    .prepare = eager_prepare,
    .observe = eager_observe,
    .input = eager_input,
    .input_mean = eager_input_mean,
    .reset = eager_reset,
    .is_failing = eager_is_failing,
};

// ---------------------------------------------------------------------------------------------------------

// Two loops of two lags that follow at once compared with a step of 10 ms; the gain around the first is -0.6. Held, it shrinks
// by sqrt(0.6) = 0.77 per exchange. Extrapolated it grows: z = +-i sqrt(0.6) e(z), e = 1 + (1 - 1/z)/2 + 5/12 (1 - 1/z)^2, and
// |e(i)| = 2. The second is calm: its gain is -0.01.
static void open_loops(sim* s, const yoke_coupling_ops* ops, int n_threads,
                       yoke_registry** registry) {
  static char messages[4096];
  check_ok(yoke_registry_create(registry));
  check_ok(yoke_registry_add_coupling(*registry, ops, NULL));
  char text[2048];
  snprintf(text, sizeof text,
           "yoke: 1\n"
           "time: {stop: 4, step: 0.01}\n"
           "threads: %d\n"
           "units:\n"
           "  a: {model: state_space, with: {A: [[-5000]], B: [[5000]], x0: [1]}}\n"
           "  b: {model: state_space, with: {A: [[-5000]], B: [[-3000]], x0: [0]}}\n"
           "  c: {model: state_space, with: {A: [[-5000]], B: [[5000]], x0: [1]}}\n"
           "  d: {model: state_space, with: {A: [[-5000]], B: [[-50]], x0: [0]}}\n"
           "connections: [a.y1 -> b.u1, b.y1 -> a.u1, c.y1 -> d.u1, d.y1 -> c.u1]\n"
           "couplings:\n"
           "  one: {method: eager, members: [a, b]}\n"
           "  two: {method: eager, members: [c, d]}\n",
           n_threads);
  check_ok(sim_try(*registry, text, s, messages, sizeof messages));
}

// PR guard: the growth ends at its alarm, in the loop that grew and in no other, with any number of threads.
static void test_growth_ends(void** state) {
  (void)state;
  double last[2] = {0};
  for (int n_threads = 1; n_threads <= 2; n_threads++) {
    sim s;
    yoke_registry* registry = NULL;
    open_loops(&s, &eager_ops, n_threads, &registry);
    sim_run(&s);
    assert_int_equal(yoke__master_count_fallbacks(s.system, s.state), 1);
    const size_t loop = s.system->unit_loops[0];
    const yoke_fallback* f = yoke__master_fallback(s.state, loop, 0);
    assert_non_null(f);
    assert_null(yoke__master_fallback(s.state, loop, 1));
    char text[512];
    yoke__master_fallback_text(s.system, f, text, sizeof text);
    print_message("%s\n", text);
    // a hundredfold in at least five blocks of four exchanges
    assert_true(f->factor >= 100 && f->t >= 0.2 && f->t < 0.6);
    last[n_threads - 1] = sim_read(&s, "a.y1");
    assert_true(fabs(last[n_threads - 1]) < 1e-3);
    sim_close(&s);
    yoke_registry_destroy(&registry);
  }
  assert_memory_equal(&last[0], &last[1], sizeof last[0]);

  yoke_coupling_ops stubborn = eager_ops;
  stubborn.is_failing = NULL;
  sim s;
  yoke_registry* registry = NULL;
  open_loops(&s, &stubborn, 1, &registry);
  sim_steps(&s, 100);
  assert_true(fabs(sim_read(&s, "a.y1")) > 1e6);
  assert_int_equal(yoke__master_count_fallbacks(s.system, s.state), 0);
  sim_close(&s);
  yoke_registry_destroy(&registry);
}

// ---------------------------------------------------------------------------------------------------------
// auto

// The gain around the loop is -1.1: no way of serving it is stable, so that it falls back again and again, each time for twice as
// long: 20 (1 + 2 + 4 + 8 + 16 + 32 + 64) exchanges are more than the 2000 of the run.
static const char growing[] =
    "yoke: 1\n"
    "time: {stop: 2, step: 0.01}\n"
    "calls: 10\n"
    "units:\n"
    "  a: {model: state_space, with: {A: [[-5000]], B: [[5000]], x0: [1e-3]}}\n"
    "  b: {model: state_space, with: {A: [[-5000]], B: [[-5500]], x0: [0]}}\n"
    "connections: [a.y1 -> b.u1, b.y1 -> a.u1]\n";

static void test_auto_falls_back(void** state) {
  (void)state;
  sim s = sim_open("%s", growing);
  sim_run(&s);
  const size_t loop = s.system->unit_loops[0], n = yoke__master_count_fallbacks(s.system, s.state);
  double t_last = 0;
  for (size_t k = 0; k < n; k++) {
    const yoke_fallback* f = yoke__master_fallback(s.state, loop, k);
    print_message("t = %g, %g times\n", f->t, f->factor);
    // never again before the one before is over, at 1 ms per exchange; then at once
    assert_true(k == 0 || f->t - t_last > 0.02 * (double)(1 << (k - 1)) - 1e-9);
    t_last = f->t;
  }
  assert_true(n >= 2 && n <= 7);
  sim_close(&s);
}

// A plant that is unstable by itself grows, and its signals are foretold well: holding them would only add an error.
static void test_unstable_plant_keeps_its_order(void** state) {
  (void)state;
  sim s = sim_open("yoke: 1\n"
                   "time: {stop: 20, step: 0.1}\n"
                   "calls: 10\n"
                   "units:\n"
                   "  a: {model: state_space, with: {A: [[1]], B: [[0.1]], x0: [1]}}\n"
                   "  b: {model: state_space, with: {A: [[-1]], B: [[0.1]], x0: [0]}}\n"
                   "connections: [a.y1 -> b.u1, b.y1 -> a.u1]\n");
  sim_run(&s);
  assert_true(sim_read(&s, "a.y1") > 1e6);
  assert_int_equal(yoke__master_count_fallbacks(s.system, s.state), 0);
  sim_close(&s);
}

// A saved state goes on with the same bits, fallbacks included.
static void test_saved(void** state) {
  (void)state;
  yoke_system* system = NULL;
  yoke_simulation* simulation = NULL;
  check_ok(yoke_system_parse(growing, strlen(growing), "growing.yaml", NULL, &system));
  check_ok(yoke_simulation_create(system, NULL, &simulation));
  check_ok(yoke_simulation_start(simulation));
  yoke_handle y;
  check_ok(yoke_simulation_find(simulation, "a.y1", &y));
  for (int k = 0; k < 13; k++) {
    check_ok(yoke_simulation_step(simulation));
  }
  const size_t size = yoke_simulation_image_size(simulation);
  void* saved = malloc(size);
  assert_non_null(saved);
  check_ok(yoke_simulation_save(simulation, saved, size));
  double want[2][100];
  for (int turn = 0; turn < 2; turn++) {
    for (int k = 0; k < 100; k++) {
      check_ok(yoke_simulation_step(simulation));
      check_ok(yoke_simulation_read(simulation, y, &want[turn][k]));
    }
    check_ok(yoke_simulation_restore(simulation, saved, size));
  }
  assert_memory_equal(want[0], want[1], sizeof want[0]);
  free(saved);
  yoke_simulation_destroy(&simulation);
  yoke_system_destroy(&system);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_growth_ends),
      cmocka_unit_test(test_auto_falls_back),
      cmocka_unit_test(test_unstable_plant_keeps_its_order),
      cmocka_unit_test(test_saved),
  };
  return cmocka_run_group_tests_name("master_fallback", tests, NULL, NULL);
}
