// Integrals of outputs over the steps of the solver: order, and jumps of switches and inputs taken apart (trust specification,
// 6.2).
#include "circuit/circuit_solver.h"
#include "support/circuits.h"
#include "test_circuit_netlist.h"

// A capacitor is charged through a resistor from the moment on at which a switch closes: whatever that moment is, the
// resistor takes C V^2 / 2, less what the switch takes.
#define SWITCHED                                                                                   \
  "t\n.param ron=1m\nV1 in 0 10\nS1 in a gate 0 ideal\nVg gate 0 PULSE(0 1 1m 1n 1n 1 2)\n"        \
  "R1 a out 10\nC1 out 0 100u IC=0\n.model ideal SW(RON={ron} ROFF=1e9 VT=0.5 VH=0)\n"             \
  ".output {p(r1)} name=p dim=W\n.tran 10u 20m uic\n"
#define SWITCHED_ENERGY (0.5 * 100e-6 * 100 * 10 / 10.001)

// The same with a source from outside that jumps from 0 to 10 V.
#define DRIVEN                                                                                     \
  "t\n.input u=0 V\nV1 a 0 {u}\nR1 a out 10\nC1 out 0 100u IC=0\n"                                 \
  ".output {p(r1)} name=p dim=W\n.tran 10u 20m uic\n"
#define DRIVEN_ENERGY (0.5 * 100e-6 * 100)

// Energy in the resistor over 20 ms, in calls of so many steps.
static double energy(const char* netlist, yoke_circuit_method method, double step, int per_call) {
  reading r;
  read_good(&r, netlist);
  const yoke_circuit_options options = {.method = method, .step = step};
  yoke_circuit* circuit = circuits_start(r.network, &options);
  const yoke_probe* probe = &r.network->outputs[0];
  check_ok(yoke__circuit_choose_integrals(circuit, &probe, 1));
  double sum = 0;
  const int n = (int)(20e-3 / step + 0.5);
  for (int k = 0; k < n; k += per_call) {
    const bool is_jump = r.network->n_inputs > 0 && k == 0;
    if (is_jump) {
      yoke__circuit_set_input(circuit, 0, 10, 0, 0);
      // as the unit does: methods that start from rates see the jump at once
      if (method == YOKE_CIRCUIT_TRBDF2) {
        check_ok(yoke__circuit_refresh(circuit));
      }
    }
    yoke__circuit_start_integrals(circuit, is_jump);
    circuits_steps(circuit, (uint64_t)per_call);
    sum += yoke__circuit_integrals(circuit)[0];
  }
  yoke__circuit_destroy(&circuit);
  free_reading(&r);
  return sum;
}

// The jump of the power, 10 W, would cost 5 W times the step if it were in a trapezoid: 1 % at 10 us. Taken apart, what is left
// has the order of the method.
static void check_order(const char* netlist, double exact) {
  const double coarse = energy(netlist, YOKE_CIRCUIT_TRBDF2, 10e-6, 10) - exact;
  const double fine = energy(netlist, YOKE_CIRCUIT_TRBDF2, 5e-6, 10) - exact;
  check_near(coarse / exact, 0, 2e-4);
  check_between(coarse / fine, 3.5, 4.5);
  // backward Euler: of first order, and behind the jump there is only the end of the step
  const double first = energy(netlist, YOKE_CIRCUIT_BDF1, 10e-6, 10) - exact;
  const double half = energy(netlist, YOKE_CIRCUIT_BDF1, 5e-6, 10) - exact;
  check_near(first / exact, 0, 0.02);
  check_between(first / half, 1.8, 2.2);
}

static void test_switch(void** state) {
  (void)state;
  check_order(SWITCHED, SWITCHED_ENERGY);
}

static void test_input(void** state) {
  (void)state;
  check_order(DRIVEN, DRIVEN_ENERGY);
}

// The sum does not depend on how the steps are cut into calls, nor on a state that is put back in between.
static void test_calls_and_images(void** state) {
  (void)state;
  static const yoke_circuit_method methods[] = {YOKE_CIRCUIT_TRBDF2, YOKE_CIRCUIT_BDF1};
  for (size_t i = 0; i < 2; i++) {
    const double whole = energy(SWITCHED, methods[i], 10e-6, 2000);
    check_relative(energy(SWITCHED, methods[i], 10e-6, 1), whole, 1e-12);
    check_relative(energy(SWITCHED, methods[i], 10e-6, 101 - 1), whole, 1e-12);
  }
  reading r;
  read_good(&r, SWITCHED);
  const yoke_circuit_options options = {.method = YOKE_CIRCUIT_BDF1, .step = 10e-6};
  yoke_circuit* circuit = circuits_start(r.network, &options);
  const yoke_probe* probe = &r.network->outputs[0];
  check_ok(yoke__circuit_choose_integrals(circuit, &probe, 1));
  // just behind the switching
  circuits_steps(circuit, 101);
  void* image = calloc(1, yoke__circuit_image_size(circuit));
  assert_non_null(image);
  yoke__circuit_save(circuit, image);
  yoke__circuit_start_integrals(circuit, false);
  circuits_steps(circuit, 1);
  const double once = yoke__circuit_integrals(circuit)[0];
  check_between(once, 9e-5, 1e-4);
  yoke__circuit_restore(circuit, image);
  yoke__circuit_start_integrals(circuit, false);
  circuits_steps(circuit, 1);
  check_near(yoke__circuit_integrals(circuit)[0], once, 0);
  free(image);
  yoke__circuit_destroy(&circuit);
  free_reading(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_switch),
      cmocka_unit_test(test_input),
      cmocka_unit_test(test_calls_and_images),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
