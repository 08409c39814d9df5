// Junctions that hold a charge: what flows in is what the charge changes by, also over a step in
// which a diode with stored charge (TT) stops conducting and its capacitance falls by a factor 1e5.
#include "circuit/netlist/circuit_netlist.h"
#include "circuit/network/circuit_junction.h"
#include "support/check.h"
#include "support/circuits.h"

// 85 mA forward, then 115 mA in reverse until 4.2 nC are gone, after about 28 ns; then 50 Ohm and
// some pF, 0.3 ns
static const char snap[] = "snap-off\n"
                           "V1 in 0 PULSE(5 -5 100n 1n 1n 99n 200n)\n"
                           "R1 in out 50\n"
                           "D1 out 0 dd\n"
                           "C1 out 0 1p\n"
                           ".model dd D(IS=1e-14 TT=50n CJO=10p)\n"
                           ".tran 1n 400n\n";

static yoke_network* read_text(const char* text) {
  const yoke_netlist_settings settings = {.path = "charge.cir"};
  yoke_messages messages = {0};
  yoke_network* network = NULL;
  check_ok(yoke__netlist_read_text(text, strlen(text), &settings, &messages, &network));
  yoke__messages_free(&messages);
  return network;
}

typedef struct diode {
  yoke_junction law;
  const yoke_junction_model* model;
  uint32_t element;
} diode;

static diode diode_of(const yoke_network* network) {
  diode d = {.element = yoke__network_find_element(network, "d1")};
  d.model = network->elements[d.element].junction;
  yoke__junction_init(&d.law, d.model, network->run.gmin);
  return d;
}

// q(v) now, and q' = I - i(v).
static double charge_now(const yoke_circuit* circuit, const yoke_network* network, const diode* d,
                         double* rate) {
  const double v = circuits_voltage(circuit, network, "out");
  double i = 0.0;
  double g = 0.0;
  double capacitance = 0.0;
  yoke__junction_evaluate(&d->law, v, &i, &g);
  *rate = yoke__circuit_current(circuit, d->element) - i;
  return yoke__junction_charge(d->model, v, &capacitance);
}

// The sum of the method's own q' h (backward Euler: at the end; trapezoidal rule: the mean) is the
// change of q over two cycles, but for what the iteration leaves open: 1e-9 (1 A + |i|) of each
// step's current.
static void test_balance(void** state) {
  (void)state;
  static const yoke_circuit_method methods[] = {YOKE_CIRCUIT_BDF1, YOKE_CIRCUIT_TRNP};
  static const double steps[] = {5e-9, 1e-9, 2e-10};
  for (int i = 0; i < 2 * 2 * 3; i++) {
    const yoke_circuit_options options = {.step = steps[i / 4],
                                          .method = methods[i % 2],
                                          .formulation = i / 2 % 2 == 0 ? YOKE_FORMULATION_NODAL
                                                                        : YOKE_FORMULATION_DAE,
                                          .is_operating_point = true};
    const double duration = 4e-7;
    yoke_network* network = read_text(snap);
    yoke_circuit* circuit = circuits_start(network, &options);
    const diode d = diode_of(network);
    double rate = 0.0;
    const double first = charge_now(circuit, network, &d, &rate);
    double last = first;
    double sum = 0.0;
    double moved = 0.0;
    const int n = (int)(duration / options.step + 0.5);
    for (int k = 0; k < n; k++) {
      const double before = rate;
      const double q = last;
      check_ok(yoke__circuit_step(circuit));
      last = charge_now(circuit, network, &d, &rate);
      sum += options.step * (options.method == YOKE_CIRCUIT_BDF1 ? rate : 0.5 * (before + rate));
      moved += fabs(last - q);
    }
    const double off = fabs(sum - (last - first));
    print_message("%s, %s, h = %g: %.3g of %.3g nC moved are off\n", i % 2 == 0 ? "bdf1" : "trnp",
                  i / 2 % 2 == 0 ? "nodal" : "dae", options.step, 1e9 * off, 1e9 * moved);
    assert_true(moved > 1e-8);
    check_between(off, 0.0, duration * 1e-9 * 1.2);
    yoke__circuit_destroy(&circuit);
    yoke__network_destroy(&network);
  }
}

// Orders of the methods where everything is smooth: a charged diode that never stops conducting.
static double wave_error(yoke_circuit_method method, double h, double exact) {
  yoke_network* network = read_text("smooth\nV1 in 0 SIN(3 1 10meg)\nR1 in out 50\nD1 out 0 dd\n"
                                    "C1 out 0 1p\n.model dd D(IS=1e-14 TT=5n CJO=100p)\n"
                                    ".tran 1n 100n\n");
  const yoke_circuit_options options = {.step = h, .method = method, .is_operating_point = true};
  yoke_circuit* circuit = circuits_start(network, &options);
  circuits_steps(circuit, (uint64_t)(1.3e-7 / h + 0.5));
  const double v = circuits_voltage(circuit, network, "out");
  yoke__circuit_destroy(&circuit);
  yoke__network_destroy(&network);
  return fabs(v - exact);
}

static void test_order(void** state) {
  (void)state;
  static const struct {
    yoke_circuit_method method;
    double order;
  } cases[] = {{YOKE_CIRCUIT_BDF1, 1},
               {YOKE_CIRCUIT_TR, 2},
               {YOKE_CIRCUIT_BDF2, 2},
               {YOKE_CIRCUIT_TRBDF2, 2}};
  const double exact = wave_error(YOKE_CIRCUIT_ESDIRK4, 1.3e-7 / 16384, 0.0);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const double coarse = wave_error(cases[i].method, 1.3e-7 / 1024, exact);
    const double fine = wave_error(cases[i].method, 1.3e-7 / 2048, exact);
    print_message("%s: %.3g V, %.3g V\n", yoke__circuit_method_names[cases[i].method], coarse,
                  fine);
    check_near(log2(coarse / fine), cases[i].order, 0.15);
  }
}

// Charges are part of an image, or follow from it: back and again gives the same bits.
static void test_rollback(void** state) {
  (void)state;
  for (int f = 0; f < 2; f++) {
    yoke_network* network = read_text(snap);
    const yoke_circuit_options options = {.step = 1e-9,
                                          .formulation = f == 0 ? YOKE_FORMULATION_NODAL
                                                                : YOKE_FORMULATION_DAE,
                                          .is_operating_point = true};
    yoke_circuit* circuit = circuits_start(network, &options);
    circuits_steps(circuit, 120);
    void* image = malloc(yoke__circuit_image_size(circuit));
    assert_non_null(image);
    yoke__circuit_save(circuit, image);
    circuits_steps(circuit, 20);
    const double first = circuits_voltage(circuit, network, "out");
    yoke__circuit_restore(circuit, image);
    circuits_steps(circuit, 20);
    const double second = circuits_voltage(circuit, network, "out");
    assert_true(first < -3.0);
    assert_memory_equal(&first, &second, sizeof first);
    free(image);
    yoke__circuit_destroy(&circuit);
    yoke__network_destroy(&network);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_balance),
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_rollback),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
