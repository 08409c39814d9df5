// yoke info of a netlist: what is in it, how large its equations are, what a run would use.
#include "app/app_circuit.h"

#include <stdio.h>

#include "app/app.h"
#include "app/app_view.h"
#include "base/base_check.h"

#define MAX_LISTED 40  // names of a kind

// key, singular, plural
static const char* const kind_words[][3] = {
    {"resistors", "resistor", "resistors"},
    {"capacitors", "capacitor", "capacitors"},
    {"inductors", "inductor", "inductors"},
    {"voltage_sources", "voltage source", "voltage sources"},
    {"current_sources", "current source", "current sources"},
    {"junctions", "junction", "junctions"},
    {"switches", "switch", "switches"},
    {"vcvs", "voltage-controlled voltage source", "voltage-controlled voltage sources"},
    {"vccs", "voltage-controlled current source", "voltage-controlled current sources"},
    {"ccvs", "current-controlled voltage source", "current-controlled voltage sources"},
    {"cccs", "current-controlled current source", "current-controlled current sources"},
    {"couplings", "coupling", "couplings"},
};

static void print_elements(const json_t* circuit) {
  json_t* elements = json_object_get(circuit, "elements");
  const long long n_fixed = yoke__view_count(circuit, "fixed_nodes");
  long long n = -yoke__view_count(elements, "couplings");  // they connect elements
  const char *between = ": ", *key = NULL;
  json_t* count = NULL;
  printf("  nodes        %lld", yoke__view_count(circuit, "nodes"));
  printf(n_fixed > 0 ? ", %lld of them fixed\n" : "\n", n_fixed);
  json_object_foreach(elements, key, count) {
    n += json_integer_value(count);
  }
  printf("  elements     %lld", n);
  for (size_t k = 0; k < YOKE_COUNT(kind_words); k++) {
    const long long n_of_kind = yoke__view_count(elements, kind_words[k][0]);
    if (n_of_kind > 0) {
      printf("%s%lld %s", between, n_of_kind, kind_words[k][n_of_kind == 1 ? 1 : 2]);
      between = ", ";
    }
  }
  printf("\n");
}

static void print_solver(const json_t* circuit) {
  const json_t* sizes = json_object_get(circuit, "sizes");
  const json_t* solver = json_object_get(circuit, "solver");
  const long long n_nonzeros = yoke__view_count(sizes, "nonzeros"),
                  n_solved = yoke__view_count(sizes, "solved"),
                  n_left = yoke__view_count(sizes, "solved_nonzeros"),
                  n_iterations = yoke__view_count(solver, "fixed_iterations");
  const bool is_linear = yoke__view_is(sizes, "linear");
  printf("  sizes        n = %lld, m = %lld, p = %lld, %lld nonzero%s, structural rank %lld\n",
         yoke__view_count(sizes, "n"), yoke__view_count(sizes, "m"), yoke__view_count(sizes, "p"),
         n_nonzeros, yoke__plural((uint64_t)n_nonzeros),
         yoke__view_count(sizes, "structural_rank"));
  printf("  solved       %lld unknown%s, %lld nonzero%s", n_solved,
         yoke__plural((uint64_t)n_solved), n_left, yoke__plural((uint64_t)n_left));
  if (json_is_integer(json_object_get(sizes, "factors"))) {
    printf(", %lld in the factors", yoke__view_count(sizes, "factors"));
  }
  printf("; %s\n", yoke__view_is(sizes, "constant") ? "linear, one matrix"
                   : is_linear                      ? "linear, the matrix changes"
                                                    : "not linear");
  printf("  solver       %s, %s", yoke__view_text(solver, "formulation"),
         yoke__view_text(solver, "method"));
  if (json_is_number(json_object_get(solver, "step"))) {
    printf(", step %s s", yoke__view_number(solver, "step").chars);
  }
  if (n_iterations > 0) {
    printf(", %lld iteration%s in every stage\n", n_iterations,
           yoke__plural((uint64_t)n_iterations));
  } else {
    printf("%s\n", is_linear ? "" : ", iterated until converged");
  }
}

static void print_run(const json_t* run) {
  if (!json_is_object(run)) {
    printf("  .tran        not given\n");
    return;
  }
  printf("  .tran        step %s s, stop %s s", yoke__view_number(run, "step").chars,
         yoke__view_number(run, "stop").chars);
  if (yoke__json_find_number(run, "start", 0) > 0) {
    printf(", recorded from %s s", yoke__view_number(run, "start").chars);
  }
  if (yoke__json_find_number(run, "max_step", 0) > 0) {
    printf(", largest step %s s", yoke__view_number(run, "max_step").chars);
  }
  printf(", %s\n",
         yoke__view_is(run, "uic") ? "from start values (uic)" : "from the operating point");
}

static void print_parameter(const json_t* p) {
  printf("%s = %s", yoke__view_text(p, "name"), yoke__view_text(p, "value"));
}

static void print_variable(const json_t* v) {
  const char* dimension = yoke__view_text(v, "dimension");
  printf(dimension[0] == '\0' ? "%s" : "%s [%s]", yoke__view_text(v, "name"), dimension);
  if (json_object_get(v, "start") != NULL) {
    printf(" = %s", yoke__view_number(v, "start").chars);
  }
}

static void print_pair(const json_t* f) {
  printf("%s <- %s", yoke__view_text(f, "output"), yoke__view_text(f, "input"));
}

// "  key          one, two and 3 more"
static void print_list(const json_t* circuit, const char* key, void (*print_one)(const json_t*)) {
  const json_t* list = json_object_get(circuit, key);
  const size_t n = json_array_size(list);
  for (size_t i = 0; i < n && i < MAX_LISTED; i++) {
    printf(i == 0 ? "  %-13s" : ", ", key);
    print_one(json_array_get(list, i));
  }
  if (n > MAX_LISTED) {
    printf(" and %zu more", n - MAX_LISTED);
  }
  printf("%s", n == 0 ? "" : "\n");
}

void yoke__app_print_circuit(const json_t* circuit) {
  yoke_messages messages = {0};
  printf("%s: %s\n\n", yoke__view_text(circuit, "path"), yoke__view_text(circuit, "title"));
  print_elements(circuit);
  print_solver(circuit);
  print_run(json_object_get(circuit, "tran"));
  print_list(circuit, "parameters", print_parameter);
  print_list(circuit, "inputs", print_variable);
  print_list(circuit, "outputs", print_variable);
  print_list(circuit, "feedthrough", print_pair);
  yoke__view_messages(circuit, &messages);
  if (messages.n > 0) {
    fputs("\n", stdout);
    yoke__messages_print(&messages, stdout);
  }
  yoke__messages_free(&messages);
}
