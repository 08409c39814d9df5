// Expressions of netlists: constants and parameters are folded when read; what is left depends on
// live quantities (time, inputs of the unit, node voltages or temperatures, element currents) and
// is compiled to a short list of operations that gives the value and its derivatives by each of
// them. Evaluation takes no heap.
#ifndef YOKE_CIRCUIT_EXPRESSION_H
#define YOKE_CIRCUIT_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YOKE_EXPRESSION_MAX_LIVE  16  // live quantities in one expression
#define YOKE_EXPRESSION_MAX_DEPTH 64  // of its evaluation
#define YOKE_EXPRESSION_MAX_KEPT  64  // values used more than once

typedef enum yoke_live_kind {
  YOKE_LIVE_TIME,
  YOKE_LIVE_INPUT,    // index: input of the network
  YOKE_LIVE_VOLTAGE,  // index: node; its voltage or temperature
  YOKE_LIVE_CURRENT,  // index: element; its current or heat flow from a to b
} yoke_live_kind;

typedef struct yoke_live {
  yoke_live_kind kind;
  uint32_t index;
} yoke_live;

typedef enum yoke_operation_code {
  // no operand
  YOKE_OP_NUMBER,  // push number
  YOKE_OP_LIVE,    // push live quantity `index`
  YOKE_OP_AGAIN,   // push what was kept in place `index`
  // two
  YOKE_OP_ADD,
  YOKE_OP_SUB,
  YOKE_OP_MUL,
  YOKE_OP_DIV,
  YOKE_OP_POW,  // |a|^b with the sign rules of docs/circuit_netlist.md
  YOKE_OP_LESS,
  YOKE_OP_LESS_EQUAL,
  YOKE_OP_GREATER,
  YOKE_OP_GREATER_EQUAL,
  YOKE_OP_EQUAL,
  YOKE_OP_NOT_EQUAL,
  YOKE_OP_AND,
  YOKE_OP_OR,
  YOKE_OP_MIN,
  YOKE_OP_MAX,
  YOKE_OP_ATAN2,
  // three
  YOKE_OP_SELECT,  // c a b -> c != 0 ? a : b
  // one
  YOKE_OP_NEG,
  YOKE_OP_NOT,
  YOKE_OP_ABS,
  YOKE_OP_SIGN,
  YOKE_OP_SQRT,
  YOKE_OP_EXP,
  YOKE_OP_LOG,
  YOKE_OP_LOG10,
  YOKE_OP_SIN,
  YOKE_OP_COS,
  YOKE_OP_TAN,
  YOKE_OP_ASIN,
  YOKE_OP_ACOS,
  YOKE_OP_ATAN,
  YOKE_OP_SINH,
  YOKE_OP_COSH,
  YOKE_OP_TANH,
  YOKE_OP_FLOOR,
  YOKE_OP_CEIL,
  YOKE_OP_ROUND,  // to the nearest whole number, halves to the even one
  YOKE_OP_KEEP,   // copy the top of the stack to place `index`
} yoke_operation_code;

typedef struct yoke_operation {
  yoke_operation_code code;
  uint32_t index;
  double number;
} yoke_operation;

typedef struct yoke_expression {
  const yoke_operation* operations;
  uint32_t n_operations;
  const yoke_live* live;  // each quantity once
  uint32_t n_live;
  const char* text;  // as written, for messages and exports
} yoke_expression;

// Depends on node voltages or currents: changes within the iterations of a step.
bool yoke__expression_has_state(const yoke_expression* expression);

// live: values of expression->live in its order. gradient: n_live derivatives, or NULL. The result
// is not finite where the expression is not defined.
double yoke__expression_evaluate(const yoke_expression* expression, const double live[],
                                 double gradient[]);
// One operation on numbers; unused operands are ignored. NaN for codes that take no operands.
double yoke__operation_apply(yoke_operation_code code, double a, double b, double c);
// Operands an operation takes from the stack.
int yoke__operation_n_operands(yoke_operation_code code);

#endif
