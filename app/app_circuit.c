// yoke info of a netlist: what is in it, how large its equations are, what a run would use.
#include <stdio.h>

#include "app/app_circuit.h"
#include "app/app_circuit_view.h"
#include "app/app_sink.h"
#include "base/base_number.h"

#define MAX_LISTED 40  // names of a kind on a terminal

// singular, plural, and the key in JSON
static const char* const kind_words[YOKE_ELEMENT_N_KINDS][3] = {
    {"resistor", "resistors", "resistors"},
    {"capacitor", "capacitors", "capacitors"},
    {"inductor", "inductors", "inductors"},
    {"voltage source", "voltage sources", "voltage_sources"},
    {"current source", "current sources", "current_sources"},
    {"junction", "junctions", "junctions"},
    {"switch", "switches", "switches"},
    {"voltage-controlled voltage source", "voltage-controlled voltage sources", "vcvs"},
    {"voltage-controlled current source", "voltage-controlled current sources", "vccs"},
    {"current-controlled voltage source", "current-controlled voltage sources", "ccvs"},
    {"current-controlled current source", "current-controlled current sources", "cccs"},
};

typedef struct text {
  char chars[YOKE_NUMBER_SIZE];
} text;

static text number(double x) {
  text t;
  yoke__number_format(x, t.chars);
  return t;
}

// ---- text

static void print_elements(const yoke_circuit_view* v) {
  printf("  nodes        %u%s", v->n_nodes, v->n_fixed > 0 ? "" : "\n");
  if (v->n_fixed > 0) {
    printf(", %u of them fixed\n", v->n_fixed);
  }
  printf("  elements     %u", v->network->n_elements);
  const char* between = ": ";
  for (int k = 0; k < YOKE_ELEMENT_N_KINDS; k++) {
    if (v->n_of_kind[k] > 0) {
      printf("%s%u %s", between, v->n_of_kind[k], kind_words[k][v->n_of_kind[k] == 1 ? 0 : 1]);
      between = ", ";
    }
  }
  if (v->network->n_mutuals > 0) {
    printf("%s%u coupling%s", between, v->network->n_mutuals, yoke__plural(v->network->n_mutuals));
  }
  printf("\n");
}

static void print_solver(const yoke_circuit_view* v) {
  const yoke_unit_circuit_figures* f = &v->figures;
  printf("  sizes        n = %u, m = %u, p = %u, %u nonzero%s, structural rank %u\n", f->n, f->m,
         f->p, f->n_nonzeros, yoke__plural(f->n_nonzeros), f->structural_rank);
  printf("  solved       %u unknown%s, %zu nonzero%s", f->n_solved, yoke__plural(f->n_solved),
         f->n_solved_nonzeros, yoke__plural(f->n_solved_nonzeros));
  if (f->n_factors > 0 || f->n_solved == 0) {
    printf(", %zu in the factors", f->n_factors);
  }
  printf("; %s\n", f->is_constant ? "linear, one matrix"
                   : f->is_linear ? "linear, the matrix changes"
                                  : "not linear");
  printf("  solver       %s, %s", f->formulation, f->method);
  if (v->has_step) {
    printf(", step %s s", number(f->step).chars);
  }
  if (f->iterations > 0) {
    printf(", %d iteration%s in every stage\n", f->iterations,
           yoke__plural((uint64_t)f->iterations));
  } else {
    printf("%s\n", f->is_linear ? "" : ", iterated until converged");
  }
}

static void print_run(const yoke_circuit_run* run) {
  if (!run->has_tran) {
    printf("  .tran        not given\n");
    return;
  }
  printf("  .tran        step %s s, stop %s s", number(run->step).chars, number(run->stop).chars);
  if (run->start > 0) {
    printf(", recorded from %s s", number(run->start).chars);
  }
  if (run->max_step > 0) {
    printf(", largest step %s s", number(run->max_step).chars);
  }
  printf(", %s\n", run->is_uic ? "from start values (uic)" : "from the operating point");
}

static void print_parameters(const yoke_circuit_view* v) {
  const yoke_unit_ops* ops = v->unit.ops;
  char value[YOKE_NUMBER_SIZE];
  for (size_t i = 0; i < ops->n_structure; i++) {
    if (i == MAX_LISTED) {
      printf(" and %zu more", ops->n_structure - i);
      break;
    }
    printf("%s%s = %s", i == 0 ? "  parameters   " : ", ", ops->structure[i].name,
           yoke__app_circuit_parameter(v, &ops->structure[i], value));
  }
  printf("%s", ops->n_structure == 0 ? "" : "\n");
}

static void print_variables(const yoke_circuit_view* v, yoke_causality causality,
                            const char* word) {
  const yoke_unit_info* info = v->unit.info;
  size_t n = 0;
  for (size_t i = 0; i < info->n_variables; i++) {
    const yoke_variable* variable = &info->variables[i];
    if (variable->causality != causality || ++n > MAX_LISTED) {
      continue;
    }
    printf("%s%s", n == 1 ? word : ", ", variable->name);
    if (variable->dim != NULL && variable->dim[0] != '\0') {
      printf(" [%s]", variable->dim);
    }
    if (causality == YOKE_INPUT) {
      printf(" = %s", number(variable->start).chars);
    }
  }
  if (n > MAX_LISTED) {
    printf(" and %zu more", n - MAX_LISTED);
  }
  printf("%s", n == 0 ? "" : "\n");
}

static void print_feedthrough(const yoke_unit_info* info) {
  for (size_t i = 0; i < info->n_feedthrough; i++) {
    if (i == MAX_LISTED) {
      printf(" and %zu more", info->n_feedthrough - i);
      break;
    }
    printf("%s%s <- %s", i == 0 ? "  feedthrough  " : ", ",
           info->variables[info->feedthrough[i].output].name,
           info->variables[info->feedthrough[i].input].name);
  }
  printf("%s", info->n_feedthrough == 0 ? "" : "\n");
}

void yoke__app_circuit_text(const yoke_circuit_view* v) {
  printf("%s: %s\n\n", v->path, v->network->title == NULL ? "" : v->network->title);
  print_elements(v);
  print_solver(v);
  print_run(&v->network->run);
  print_parameters(v);
  print_variables(v, YOKE_INPUT, "  inputs       ");
  print_variables(v, YOKE_OUTPUT, "  outputs      ");
  print_feedthrough(v->unit.info);
  if (v->messages->n > 0) {
    fputs("\n", stdout);
    yoke__messages_print(v->messages, stdout);
  }
}

// ---- JSON

void yoke__app_circuit_sizes_json(const yoke_unit_circuit_figures* f, yoke_json* json) {
  yoke__json_begin_object(json, "sizes");
  yoke__json_integer(json, "n", f->n);
  yoke__json_integer(json, "m", f->m);
  yoke__json_integer(json, "p", f->p);
  yoke__json_integer(json, "nonzeros", f->n_nonzeros);
  yoke__json_integer(json, "structural_rank", f->structural_rank);
  yoke__json_integer(json, "solved", f->n_solved);
  yoke__json_integer(json, "solved_nonzeros", (int64_t)f->n_solved_nonzeros);
  if (f->n_factors > 0 || f->n_solved == 0) {
    yoke__json_integer(json, "factors", (int64_t)f->n_factors);
  } else {
    yoke__json_null(json, "factors");
  }
  yoke__json_integer(json, "bytes", (int64_t)f->n_bytes);
  yoke__json_boolean(json, "linear", f->is_linear);
  yoke__json_boolean(json, "constant", f->is_constant);
  yoke__json_end_object(json);
}

static void json_elements(const yoke_circuit_view* v, yoke_json* json) {
  yoke__json_integer(json, "nodes", v->n_nodes);
  yoke__json_integer(json, "fixed_nodes", v->n_fixed);
  yoke__json_begin_object(json, "elements");
  for (int k = 0; k < YOKE_ELEMENT_N_KINDS; k++) {
    if (v->n_of_kind[k] > 0) {
      yoke__json_integer(json, kind_words[k][2], v->n_of_kind[k]);
    }
  }
  if (v->network->n_mutuals > 0) {
    yoke__json_integer(json, "couplings", v->network->n_mutuals);
  }
  yoke__json_end_object(json);
}

static void json_solver(const yoke_circuit_view* v, yoke_json* json) {
  const yoke_unit_circuit_figures* f = &v->figures;
  yoke__json_begin_object(json, "solver");
  yoke__json_string(json, "formulation", f->formulation);
  yoke__json_string(json, "method", f->method);
  if (v->has_step) {
    yoke__json_number(json, "step", f->step);
  } else {
    yoke__json_null(json, "step");
  }
  yoke__json_integer(json, "fixed_iterations", f->iterations);
  yoke__json_end_object(json);
}

static void json_run(const yoke_circuit_run* run, yoke_json* json) {
  if (!run->has_tran) {
    yoke__json_null(json, "tran");
    return;
  }
  yoke__json_begin_object(json, "tran");
  yoke__json_number(json, "step", run->step);
  yoke__json_number(json, "stop", run->stop);
  yoke__json_number(json, "start", run->start);
  yoke__json_number(json, "max_step", run->max_step);
  yoke__json_boolean(json, "uic", run->is_uic);
  yoke__json_end_object(json);
}

static void json_variables(const yoke_circuit_view* v, yoke_causality causality, const char* key,
                           yoke_json* json) {
  const yoke_unit_info* info = v->unit.info;
  yoke__json_begin_array(json, key);
  for (size_t i = 0; i < info->n_variables; i++) {
    const yoke_variable* variable = &info->variables[i];
    if (variable->causality != causality) {
      continue;
    }
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", variable->name);
    yoke__json_string(json, "dimension", variable->dim == NULL ? "" : variable->dim);
    if (causality == YOKE_INPUT) {
      yoke__json_number(json, "start", variable->start);
    }
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

static void json_parameters(const yoke_circuit_view* v, yoke_json* json) {
  const yoke_unit_ops* ops = v->unit.ops;
  char value[YOKE_NUMBER_SIZE];
  yoke__json_begin_array(json, "parameters");
  for (size_t i = 0; i < ops->n_structure; i++) {
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", ops->structure[i].name);
    yoke__json_string(json, "value", yoke__app_circuit_parameter(v, &ops->structure[i], value));
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

static void json_feedthrough(const yoke_unit_info* info, yoke_json* json) {
  yoke__json_begin_array(json, "feedthrough");
  for (size_t i = 0; i < info->n_feedthrough; i++) {
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "output", info->variables[info->feedthrough[i].output].name);
    yoke__json_string(json, "input", info->variables[info->feedthrough[i].input].name);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

void yoke__app_circuit_json(const yoke_circuit_view* v, yoke_json* json) {
  yoke__json_begin_document(json, "circuit");
  yoke__json_string(json, "kind", "circuit");
  yoke__json_string(json, "path", v->path);
  yoke__json_string(json, "title", v->network->title);
  json_elements(v, json);
  yoke__app_circuit_sizes_json(&v->figures, json);
  json_solver(v, json);
  json_run(&v->network->run, json);
  json_parameters(v, json);
  json_variables(v, YOKE_INPUT, "inputs", json);
  json_variables(v, YOKE_OUTPUT, "outputs", json);
  json_feedthrough(v->unit.info, json);
  yoke__app_messages_json(v->messages, json);
  yoke__json_end_object(json);
}
