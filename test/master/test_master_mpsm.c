// Method `mpsm` in the loop: a cluster of two units that is served as a whole. The kernel is tested in test/couple; here
// it must get the right samples and give the right inputs.
#include "support/check.h"
#include "support/counting_heap.h"
#include "support/sim.h"

// Dual mass oscillator of the specification (10.1): mass and wall spring | mass, wall spring and coupling spring.
#define UNITS                                                                                      \
  "units:\n"                                                                                       \
  "  left: {model: state_space, with: {A: [[0, 1], [-1e5, -0.1]], B: [[0], [0.1]], inputs: [f],\n" \
  "         outputs: [x, v], x0: [0.1, 0], solver: euler, micro_steps: %d}}\n"                     \
  "  right: {model: state_space, with: {A: [[0, 1], [-1.01e6, -100.2]],\n"                         \
  "          B: [[0, 0], [1e4, 100]], C: [[1e5, 1e3]], D: [[-1e5, -1e3]],\n"                       \
  "          inputs: [x, v], outputs: [f], x0: [0, 0], solver: euler, micro_steps: %d}}\n"
#define CONNECTIONS "connections: [left.x -> right.x, left.v -> right.v, right.f -> left.f]\n"

static sim open_cluster(double step_ms, double stop, const char* coupling) {
  const int n = (int)(step_ms * 100 + 0.5);
  return sim_open("yoke: 1\ntime: {stop: %g, step: %ge-3}\n" UNITS CONNECTIONS "%s", stop, step_ms,
                  n, n, coupling);
}

static double largest(sim* s, int64_t n) {
  double peak = 0;
  for (int64_t k = 0; k < n; k++) {
    sim_steps(s, 1);
    peak = fmax(peak, fabs(sim_read(s, "left.x")));
  }
  return peak;
}

// While it learns nothing happens to the inputs, to the last bit.
static void learning_is_holding(void** state) {
  (void)state;
  sim plain = open_cluster(1, 0.2, "");
  sim served = open_cluster(
      1, 0.2, "couplings: {loop: {method: mpsm, members: [left, right], learning: 1e6}}\n");
  for (int k = 0; k < 200; k++) {
    sim_steps(&plain, 1);
    sim_steps(&served, 1);
    for (size_t i = 0; i < plain.system->n_y; i++) {
      assert_true(plain.state->y[i] == served.state->y[i]);
    }
  }
  sim_close(&plain);
  sim_close(&served);
}

// At 3 ms the held signals make the oscillator explode within 0.3 s. The models are learnt in 20 steps of that.
static void stabilises_what_holding_does_not(void** state) {
  (void)state;
  sim plain = open_cluster(3, 0.3, "");
  const double peak_held = largest(&plain, 100);
  sim served =
      open_cluster(3, 0.3,
                   "couplings: {loop: {method: mpsm, members: [left, right], learning: 20, "
                   "switching: 1}}\n");
  (void)largest(&served, 50);
  const double peak_served = largest(&served, 50);
  print_message("3 ms: held up to %.3g m, mpsm %.3g m in the second half\n", peak_held,
                peak_served);
  assert_true(peak_held > 10);
  assert_true(peak_served < 0.2);
  sim_close(&plain);
  sim_close(&served);
}

// CS-28 with a cluster: no heap call in the loop
static void takes_no_heap(void** state) {
  (void)state;
  if (!IS_HEAP_COUNTED) {
    skip();
  }
  sim s = open_cluster(
      1, 10, "couplings: {loop: {method: mpsm, members: [left, right], learning: 20, ede: on}}\n");
  sim_steps(&s, 10);
  const long before = atomic_load(&n_heap_calls);
  sim_steps(&s, 2000);
  assert_int_equal(atomic_load(&n_heap_calls) - before, 0);
  check_heap_is_counted();
  sim_close(&s);
}

static void refuses_what_it_cannot_serve(void** state) {
  (void)state;
  static const struct {
    const char *coupling, *part;
  } cases[] = {
      {"scheme: gauss-seidel\ncouplings: {loop: {method: mpsm, members: [left, right]}}\n",
       "valid for scheme: jacobi only"},
      {"couplings: {loop: {method: mpsm, members: [left, right], th_modified: 5}}\n",
       "must not be above th_signal"},
      {"couplings: {loop: {method: mpsm, members: [left, right], lambda: 5}}\n", "no parameter"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[2048], messages[4096] = "";
    sim s;
    snprintf(text, sizeof text, "yoke: 1\ntime: {stop: 1, step: 1e-3}\n" UNITS CONNECTIONS "%s",
             100, 100, cases[i].coupling);
    assert_true(sim_try(NULL, text, &s, messages, sizeof messages) < 0);
    check_contains(messages, cases[i].part);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(learning_is_holding),
      cmocka_unit_test(stabilises_what_holding_does_not),
      cmocka_unit_test(takes_no_heap),
      cmocka_unit_test(refuses_what_it_cannot_serve),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
