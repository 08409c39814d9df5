// yoke info of a netlist: what is in it, how large its equations are, what a run would use.
#include "app/app_circuit.h"

#include <stdio.h>

#include "app/app_view.h"
#include "base/base_check.h"

#define MAX_LISTED 40  // names of a kind

static void print_elements(const json_t* circuit) {
  // every kind with its singular and the ending of its plural
  static const char* const kinds[][3] = {
      {"resistors", "resistor", "s"},
      {"capacitors", "capacitor", "s"},
      {"inductors", "inductor", "s"},
      {"voltage_sources", "voltage source", "s"},
      {"current_sources", "current source", "s"},
      {"junctions", "junction", "s"},
      {"switches", "switch", "es"},
      {"vcvs", "voltage-controlled voltage source", "s"},
      {"vccs", "voltage-controlled current source", "s"},
      {"ccvs", "current-controlled voltage source", "s"},
      {"cccs", "current-controlled current source", "s"},
      {"couplings", "coupling", "s"},
  };
  const json_t* elements = json_object_get(circuit, "elements");
  long long n = 0;
  const char* between = ": ";
  // couplings join elements and are none
  for (size_t k = 0; k + 1 < YOKE_COUNT(kinds); k++) {
    n += yoke__view_count(elements, kinds[k][0]);
  }
  yoke__view_print(circuit, "  nodes        {nodes}{fixed_nodes?, {fixed_nodes} of them fixed}\n");
  printf("  elements     %lld", n);
  for (size_t k = 0; k < YOKE_COUNT(kinds); k++) {
    const long long n_of_kind = yoke__view_count(elements, kinds[k][0]);
    if (n_of_kind > 0) {
      printf("%s%lld %s%s", between, n_of_kind, kinds[k][1], n_of_kind == 1 ? "" : kinds[k][2]);
      between = ", ";
    }
  }
  printf("\n");
}

static void print_solver(const json_t* circuit) {
  const json_t* sizes = json_object_get(circuit, "sizes");
  const json_t* solver = json_object_get(circuit, "solver");
  const bool is_iterated =
      !yoke__view_is(sizes, "linear") && yoke__view_count(solver, "fixed_iterations") == 0;
  yoke__view_print(sizes,
                   "  sizes        n = {n}, m = {m}, p = {p}, {nonzeros} nonzero{nonzeros#}, "
                   "structural rank {structural_rank}\n"
                   "  solved       {solved} unknown{solved#}, {solved_nonzeros} "
                   "nonzero{solved_nonzeros#}{factors@, {factors} in the factors}; "
                   "{constant?linear, one matrix}"
                   "{constant!{linear?linear, the matrix changes}{linear!not linear}}\n");
  yoke__view_print(solver, "  solver       {formulation}, {method}{step?, step {step} s}"
                           "{fixed_iterations?, {fixed_iterations} iteration{fixed_iterations#} "
                           "in every stage}");
  printf("%s\n", is_iterated ? ", iterated until converged" : "");
}

static void print_run(const json_t* run) {
  yoke__view_print(run, !json_is_object(run)
                            ? "  .tran        not given\n"
                            : "  .tran        step {step} s, stop {stop} s"
                              "{start?, recorded from {start} s}"
                              "{max_step?, largest step {max_step} s}, "
                              "{uic?from start values (uic)}{uic!from the operating point}\n");
}

// "  key          one, two and 3 more"
static void print_list(const json_t* circuit, const char* key, const char* pattern) {
  const json_t* list = json_object_get(circuit, key);
  const size_t n = json_array_size(list);
  for (size_t i = 0; i < n && i < MAX_LISTED; i++) {
    printf(i == 0 ? "  %-13s" : ", ", key);
    yoke__view_print(json_array_get(list, i), pattern);
  }
  if (n > MAX_LISTED) {
    printf(" and %zu more", n - MAX_LISTED);
  }
  printf("%s", n == 0 ? "" : "\n");
}

void yoke__app_print_circuit(const json_t* circuit) {
  yoke_messages messages = {0};
  yoke__view_print(circuit, "{path}: {title}\n\n");
  print_elements(circuit);
  print_solver(circuit);
  print_run(json_object_get(circuit, "tran"));
  print_list(circuit, "parameters", "{name} = {value}");
  print_list(circuit, "inputs", "{name}{dimension? [{dimension}]} = {start}");
  print_list(circuit, "outputs", "{name}{dimension? [{dimension}]}");
  print_list(circuit, "feedthrough", "{output} <- {input}");
  yoke__view_messages(circuit, &messages);
  if (messages.n > 0) {
    fputs("\n", stdout);
    yoke__messages_print(&messages, stdout);
  }
  yoke__messages_free(&messages);
}
