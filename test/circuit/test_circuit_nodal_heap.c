// CI-26: after the start the `nodal` engine asks the heap for nothing, whatever moves.
#include "support/check.h"

#include "circuit/circuit_solver.h"
#include "circuit/network/circuit_build.h"
#include "support/circuits.h"
#include "support/failing_heap.h"

#if HAS_OWN_MALLOC

static long requests_of(const yoke_network* network, yoke_circuit_method method, double step,
                        int iterations, yoke_circuit_counts* counts) {
  const yoke_circuit_options options = {.method = method, .step = step, .iterations = iterations};
  yoke_circuit* circuit = circuits_start(network, &options);
  void* image = malloc(yoke__circuit_image_size(circuit));
  assert_non_null(image);
  heap = (failing_heap){.is_on = true, .fails_at = -1};
  for (int k = 0; k < 500; k++) {
    check_ok(yoke__circuit_step(circuit));
  }
  check_ok(yoke__circuit_refresh(circuit));
  yoke__circuit_save(circuit, image);
  yoke__circuit_restore(circuit, image);
  check_ok(yoke__circuit_step(circuit));
  heap.is_on = false;
  const long n = heap.n_requests;
  yoke__circuit_get_counts(circuit, counts);
  free(image);
  yoke__circuit_destroy(&circuit);
  return n;
}

// A chopper: two switches in turns, an inductor and a load.
static yoke_network* make_chopper(void) {
  static const yoke_switch_model model = {.r_on = 0.01, .r_off = 1e6};
  yoke_network* network = NULL;
  check_ok(yoke__network_create("chopper", &network));
  circuits_add_constant(network, YOKE_VOLTAGE, "v1", "in", "0", 10.0);
  circuits_add_constant(network, YOKE_INDUCTOR, "l1", "mid", "out", 1e-3);
  circuits_add_constant(network, YOKE_RESISTOR, "rl", "out", "0", 5.0);
  const char* const conditions[] = {"t 31415 * sin", "t 31415 * sin neg"};
  for (int i = 0; i < 2; i++) {
    yoke_element element = {.kind = YOKE_SWITCH,
                            .name = i == 0 ? "s1" : "s2",
                            .control = YOKE_NO_INDEX,
                            .switching = &model,
                            .condition = circuits_law(network, conditions[i])};
    element.a = yoke__network_node(network, i == 0 ? "in" : "0", YOKE_ELECTRIC, (yoke_place){0});
    element.b = yoke__network_node(network, "mid", YOKE_ELECTRIC, (yoke_place){0});
    yoke__network_add(network, &element);
  }
  return network;
}

static void no_heap_in_steps(void** state) {
  (void)state;
  yoke_network* const networks[] = {circuits_ladder(50), circuits_rectifier(), make_chopper(),
                                    circuits_pmsm(true)};
  const double steps[] = {1e-4, 1e-4, 3e-6, 0.5};
  for (size_t i = 0; i < 4; i++) {
    yoke_network* network = networks[i];
    for (int method = YOKE_CIRCUIT_TRBDF2; method <= YOKE_CIRCUIT_ESDIRK4; method++) {
      for (int iterations = 0; iterations < 4; iterations += 3) {
        yoke_circuit_counts counts = {0};
        const long n =
            requests_of(network, (yoke_circuit_method)method, steps[i], iterations, &counts);
        if (n != 0 || counts.n_repivots != 0) {
          fail_msg("network %zu, %s: %ld requests, %llu new pivots", i,
                   yoke__circuit_method_names[method], n, (unsigned long long)counts.n_repivots);
        }
        // exactly as many iterations as asked for where there are any
        if (iterations > 0 && (i == 1 || i == 3)) {
          assert_int_equal(counts.n_iterations, 3 * counts.n_stages);
        }
        assert_true(i != 2 || counts.n_switchings > 10);
      }
    }
    yoke__network_destroy(&network);
  }
}

#else

static void no_heap_in_steps(void** state) {
  (void)state;
  skip();
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_heap_in_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
