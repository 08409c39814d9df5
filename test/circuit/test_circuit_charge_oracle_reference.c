// A diode with stored charge against ngspice: forward current, reverse current while the charge
// (TT) is taken out, snap-off against the depletion capacitance (CJO), and again.
//
// Errors of both are taken from halving the steps (oracle/oracle_case.h); they may differ by the sum.
#include "base/base_message.h"
#include "base/base_os.h"
#include "circuit/netlist/circuit_netlist.h"
#include "circuit/oracle/oracle_ngspice.h"
#include "circuit/oracle/oracle_random.h"
#include "support/check.h"
#include "support/circuits.h"

// corners of the sources are on the grid of 0.2 ms; 50 Ohm and 1 uF make 50 us, and steps are 25 us
// and below
static void write_netlist(const char* breakdown, char* text, size_t size) {
  size_t n = (size_t)snprintf(text, size,
                              "charge\nV1 in 0 PWL(0 0 0.2m 5 2m 5 2.2m -5 6m -5 6.2m 5)\n"
                              "R1 in out 50\nD1 out 0 dd\nC1 out 0 10n\n"
                              ".model dd D(IS=1e-14 TT=3m CJO=1u VJ=0.8 M=0.4%s)\n"
                              "vtick tick 0 pwl(0 0",
                              breakdown);
  for (int i = 1; i <= ORACLE_N_GRID; i++) {
    n += (size_t)snprintf(text + n, size - n, " %.9g %d", ORACLE_GRID * i, i % 2);
  }
  snprintf(text + n, size - n, ")\nrtick tick 0 1k\n");
}

static void run_own(const yoke_network* network, yoke_circuit_options options, int n_sub,
                    const oracle_signals* signals, oracle_trace* trace) {
  options.step = ORACLE_GRID / n_sub;
  yoke_circuit* circuit = circuits_start(network, &options);
  for (size_t k = 0; k < signals->n_times; k++) {
    circuits_steps(circuit, (uint64_t)n_sub);
    for (size_t s = 0; s < signals->n; s++) {
      trace->values[s][k] = yoke__circuit_voltage(circuit, signals->list[s].index);
    }
  }
  yoke__circuit_destroy(&circuit);
}

static void compare(const char* breakdown) {
  static oracle_trace coarse, fine, theirs[2];
  static oracle_signals signals;
  static const struct {
    yoke_circuit_formulation formulation;
    yoke_circuit_method method;
  } cases[] = {{YOKE_FORMULATION_NODAL, YOKE_CIRCUIT_TRBDF2},
               {YOKE_FORMULATION_DAE, YOKE_CIRCUIT_TRBDF2},
               {YOKE_FORMULATION_NODAL, YOKE_CIRCUIT_TR}};
  char text[4000], folder[] = "charge-oracle-test";
  YOKE_CATCH(err);
  if (!oracle_ngspice_is_there()) {
    print_message("ngspice is not there\n");
    skip();
  }
  check_ok(yoke__os_make_directory(folder, &err.sink));
  write_netlist(breakdown, text, sizeof text);
  const yoke_netlist_settings settings = {.path = "charge.cir"};
  yoke_messages messages = {0};
  yoke_network* network = NULL;
  check_ok(yoke__netlist_read_text(text, strlen(text), &settings, &messages, &network));
  oracle_signals_of(network, &signals);
  for (int i = 0; i < 2; i++) {
    const double step = ORACLE_GRID / (i == 0 ? 256 : 512);
    if (!oracle_ngspice_run(text, step, 1e-5, folder, &signals, &theirs[i])) {
      fail_msg("%s", theirs[i].failure);
    }
  }
  // half an order below that of the trapezoidal rule
  const double share = 1.0 / (pow(2.0, 1.5) - 1.0);
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    const yoke_circuit_options options = {.formulation = cases[c].formulation,
                                          .method = cases[c].method};
    for (int n_sub = 8; n_sub <= 128; n_sub *= 4) {
      run_own(network, options, n_sub, &signals, &coarse);
      run_own(network, options, 2 * n_sub, &signals, &fine);
      for (size_t s = 0; s < signals.n; s++) {
        const double own = share * oracle_distance(&signals, &coarse, &fine, s);
        const double other = share * oracle_distance(&signals, &theirs[0], &theirs[1], s);
        const double off = oracle_distance(&signals, &fine, &theirs[1], s);
        print_message("%s, %d steps: %s off by %.3g V, errors %.3g and %.3g V\n",
                      yoke__circuit_method_names[cases[c].method], 2 * n_sub, signals.list[s].name,
                      off, own, other);
        // 1e-6 V: the constants of nature differ by 3.4e-7
        check_between(off, 0.0, own + other + 1e-6);
      }
    }
  }
  yoke__network_destroy(&network);
  yoke__messages_free(&messages);
}

static void test_snap_off(void** state) {
  (void)state;
  compare("");
}

// The charge of the breakdown current (20 mA at -4 V) is taken out again before the diode conducts.
static void test_breakdown(void** state) {
  (void)state;
  compare(" BV=4 IBV=1m");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_snap_off),
      cmocka_unit_test(test_breakdown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
