// Which networks are linear with constant coefficients: what can leave as matrices.
//
// A law is looked at by the degree of what its operations leave on the stack: 0 a constant, 1 a
// linear function of live quantities and a constant, 2 anything else. Time counts as anything else.
#include "circuit/linear/circuit_linear.h"

static int larger(int a, int b) {
  return a > b ? a : b;
}

// The degree after one operation on operands of these degrees.
static int degree_of(yoke_operation_code code, int a, int b, int c) {
  switch (code) {
  case YOKE_OP_ADD:
  case YOKE_OP_SUB:
    return larger(a, b);
  case YOKE_OP_NEG:
    return a;
  // degrees add up; what is above 1 is not linear
  case YOKE_OP_MUL:
    return a + b > 2 ? 2 : a + b;
  case YOKE_OP_DIV:
    return b == 0 ? a : 2;
  default:
    return a == 0 && b == 0 && c == 0 ? 0 : 2;
  }
}

static int live_degree(const yoke_live* live) {
  return live->kind == YOKE_LIVE_TIME ? 2 : 1;
}

static int law_degree(const yoke_expression* law) {
  int stack[YOKE_EXPRESSION_MAX_DEPTH + 3] = {0}, kept[YOKE_EXPRESSION_MAX_KEPT] = {0};
  int n = 0;
  for (uint32_t i = 0; i < law->n_operations; i++) {
    // the law as a stack machine, with degrees in place of numbers
    const yoke_operation* op = &law->operations[i];
    if (op->code == YOKE_OP_KEEP) {
      kept[op->index] = n > 0 ? stack[n - 1] : 2;
      continue;
    }
    int result = 0;
    if (op->code == YOKE_OP_LIVE) {
      result = live_degree(&law->live[op->index]);
    } else if (op->code == YOKE_OP_AGAIN) {
      result = kept[op->index];
    } else if (op->code != YOKE_OP_NUMBER) {
      const int n_operands = yoke__operation_n_operands(op->code);
      int operands[3] = {0};
      for (int k = n_operands - 1; k >= 0 && n > 0; k--) {
        operands[k] = stack[--n];
      }
      result = degree_of(op->code, operands[0], operands[1], operands[2]);
    }
    if (n >= YOKE_EXPRESSION_MAX_DEPTH) {
      return 2;
    }
    stack[n++] = result;
  }
  return n == 1 ? stack[0] : 2;
}

// Why this element cannot be part of a linear model; NULL: it can.
static const char* obstacle(const yoke_element* element) {
  switch (element->kind) {
  case YOKE_JUNCTION:
    return "is a diode, which is not linear";
  case YOKE_SWITCH:
    return "is a switch";
  case YOKE_VOLTAGE:
  case YOKE_CURRENT:
    return element->value.law == NULL || law_degree(element->value.law) < 2
               ? NULL
               : "is not a linear function of voltages, currents and inputs";
  default:
    return element->value.law == NULL ? NULL : "has a value that changes during the run";
  }
}

yoke_status yoke__circuit_linear_check(const yoke_network* network, yoke_messages* messages) {
  yoke_status status = YOKE_OK;
  for (uint32_t e = 0; e < network->n_elements; e++) {
    const yoke_element* element = &network->elements[e];
    const char* why = obstacle(element);
    if (why != NULL) {
      yoke__error(messages, element->place, "'%.60s' %s: only linear circuits become C code",
                  element->name, why);
      status = YOKE_NO_SUPPORT;
    }
  }
  for (uint32_t i = 0; i < network->n_nodes; i++) {
    const yoke_network_node* node = &network->nodes[i];
    if (node->is_fixed && node->fixed.law != NULL && law_degree(node->fixed.law) == 2) {
      yoke__error(messages, node->place,
                  "the value of node '%.60s' is not a linear function of inputs: only linear "
                  "circuits become C code",
                  node->name);
      status = YOKE_NO_SUPPORT;
    }
  }
  return status;
}

bool yoke__circuit_linear_probe(const yoke_probe* probe) {
  return probe->kind == YOKE_PROBE_LAW ? law_degree(probe->law) < 2
                                       : probe->kind != YOKE_PROBE_POWER;
}
