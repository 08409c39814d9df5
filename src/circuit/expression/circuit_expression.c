// Evaluates compiled expressions: a stack machine over values, and over values with their
// derivatives by every live quantity (forward mode). With y = f(a, b) and gradients a', b'
//
//   y' = f_a a' + f_b b'
//
// where a product with an exact 0 is 0 even if the other factor is infinite: the derivative of
// |x|^0.5 by a quantity that x does not depend on is 0 also at x = 0. Comparisons, signs and
// roundings have the derivative 0; min, max and choices that of the part chosen.
#include "circuit/expression/circuit_expression.h"

#include <math.h>

#define LN10 2.30258509299404568402

bool yoke__expression_has_state(const yoke_expression* expression) {
  for (uint32_t i = 0; expression != NULL && i < expression->n_live; i++) {
    const yoke_live_kind kind = expression->live[i].kind;
    if (kind == YOKE_LIVE_VOLTAGE || kind == YOKE_LIVE_CURRENT) {
      return true;
    }
  }
  return false;
}

int yoke__operation_n_operands(yoke_operation_code code) {
  return code <= YOKE_OP_AGAIN ? 0 : code <= YOKE_OP_ATAN2 ? 2 : code == YOKE_OP_SELECT ? 3 : 1;
}

// |a|^b; squares are exact and cheap
static double power(double a, double b) {
  return b == 2.0 ? a * a : pow(fabs(a), b);
}

static double truth(bool is_true) {
  return is_true ? 1.0 : 0.0;
}

static double sign_of(double a) {
  return truth(a > 0.0) - truth(a < 0.0);
}

static double apply_unary(yoke_operation_code code, double a) {
  static double (*const functions[])(double) = {
      [YOKE_OP_EXP] = exp,     [YOKE_OP_LOG] = log,   [YOKE_OP_LOG10] = log10,
      [YOKE_OP_SIN] = sin,     [YOKE_OP_COS] = cos,   [YOKE_OP_TAN] = tan,
      [YOKE_OP_ASIN] = asin,   [YOKE_OP_ACOS] = acos, [YOKE_OP_ATAN] = atan,
      [YOKE_OP_SINH] = sinh,   [YOKE_OP_COSH] = cosh, [YOKE_OP_TANH] = tanh,
      [YOKE_OP_FLOOR] = floor, [YOKE_OP_CEIL] = ceil, [YOKE_OP_ROUND] = rint};
  switch (code) {
  case YOKE_OP_NEG:
    return -a;
  case YOKE_OP_NOT:
    return truth(a == 0.0);
  case YOKE_OP_ABS:
    return fabs(a);
  case YOKE_OP_SIGN:
    return sign_of(a);
  case YOKE_OP_SQRT:
    return sqrt(a);
  default:
    return functions[code](a);
  }
}

double yoke__operation_apply(yoke_operation_code code, double a, double b, double c) {
  switch (code) {
  case YOKE_OP_ADD:
    return a + b;
  case YOKE_OP_SUB:
    return a - b;
  case YOKE_OP_MUL:
    return a * b;
  case YOKE_OP_DIV:
    return a / b;
  case YOKE_OP_POW:
    return power(a, b);
  case YOKE_OP_LESS:
    return truth(a < b);
  case YOKE_OP_LESS_EQUAL:
    return truth(a <= b);
  case YOKE_OP_GREATER:
    return truth(a > b);
  case YOKE_OP_GREATER_EQUAL:
    return truth(a >= b);
  case YOKE_OP_EQUAL:
    return truth(a == b);
  case YOKE_OP_NOT_EQUAL:
    return truth(a != b);
  case YOKE_OP_AND:
    return truth(a != 0.0 && b != 0.0);
  case YOKE_OP_OR:
    return truth(a != 0.0 || b != 0.0);
  case YOKE_OP_MIN:
    return a < b ? a : b;
  case YOKE_OP_MAX:
    return a > b ? a : b;
  case YOKE_OP_ATAN2:
    return atan2(a, b);
  case YOKE_OP_SELECT:
    return a != 0.0 ? b : c;
  default:
    return apply_unary(code, a);
  }
}

// dy/da of y = f(a)
static double unary_slope(yoke_operation_code code, double a, double y) {
  switch (code) {
  case YOKE_OP_NEG:
    return -1.0;
  case YOKE_OP_ABS:
    return sign_of(a);
  case YOKE_OP_SQRT:
    return 0.5 / y;  // y = sqrt(a): y' = 1 / (2 y)
  case YOKE_OP_EXP:
    return y;
  case YOKE_OP_LOG:
    return 1.0 / a;
  case YOKE_OP_LOG10:
    return 1.0 / (a * LN10);
  case YOKE_OP_SIN:
    return cos(a);
  case YOKE_OP_COS:
    return -sin(a);
  case YOKE_OP_TAN:
    return 1.0 + y * y;  // 1 + tan^2
  case YOKE_OP_ASIN:
    return 1.0 / sqrt(1.0 - a * a);
  case YOKE_OP_ACOS:
    return -1.0 / sqrt(1.0 - a * a);
  case YOKE_OP_ATAN:
    return 1.0 / (1.0 + a * a);
  case YOKE_OP_SINH:
    return cosh(a);
  case YOKE_OP_COSH:
    return sinh(a);
  case YOKE_OP_TANH:
    return 1.0 - y * y;  // 1 - tanh^2
  default:
    return 0.0;  // not, sign, floor, ceil, round
  }
}

// d|a|^b / da; at a = 0 the limit from the right
static double power_slope(double a, double b, double y) {
  if (b == 2.0) {
    return 2.0 * a;
  }

  // b |a|^b / a, with the sign of a: the slope of an even function
  if (a != 0.0) {
    return b * y / a;
  }
  if (b == 1.0) {
    return 1.0;
  }

  // the limit from the right: 0 for b > 1 and b = 0, else of infinite size
  return b > 1.0 || b == 0.0 ? 0.0 : b * (double)INFINITY;
}

// f_a and f_b of y = f(a, b). needs_b: whether f_b will be used (the logarithm of a power is not
// free).
static void binary_slopes(yoke_operation_code code, double a, double b, double y, bool needs_b,
                          double* f_a, double* f_b) {
  *f_a = 0.0;
  *f_b = 0.0;
  switch (code) {
  case YOKE_OP_ADD:
    *f_a = 1.0;
    *f_b = 1.0;
    break;
  case YOKE_OP_SUB:
    *f_a = 1.0;
    *f_b = -1.0;
    break;
  case YOKE_OP_MUL:
    *f_a = b;
    *f_b = a;
    break;
  case YOKE_OP_DIV:
    *f_a = 1.0 / b;
    *f_b = -y / b;  // d(a/b)/db = -a/b^2
    break;
  case YOKE_OP_POW:
    *f_a = power_slope(a, b, y);
    *f_b = needs_b && a != 0.0 ? y * log(fabs(a)) : 0.0;  // |a|^b ln|a|
    break;
  case YOKE_OP_MIN:
    *f_a = truth(a < b);
    *f_b = truth(!(a < b));
    break;
  case YOKE_OP_MAX:
    *f_a = truth(a > b);
    *f_b = truth(!(a > b));
    break;
  case YOKE_OP_ATAN2:
    *f_a = b / (a * a + b * b);  // atan2(a, b): d/da = b / (a^2 + b^2)
    *f_b = -a / (a * a + b * b);
    break;
  default:
    break;  // comparisons, and, or
  }
}

// NOLINTBEGIN(clang-analyzer-core.uninitialized.Assign, clang-analyzer-core.CallAndMessage,
// clang-analyzer-core.UndefinedBinaryOperatorResult): the compiler has counted what lies on the
// stack, and clearing 17 KB at each evaluation would cost more than the evaluation

// the value alone
static double evaluate_value(const yoke_expression* self, const double live[]) {
  double stack[YOKE_EXPRESSION_MAX_DEPTH + 1];
  double kept[YOKE_EXPRESSION_MAX_KEPT];
  int top = -1;
  for (uint32_t i = 0; i < self->n_operations; i++) {
    const yoke_operation* op = &self->operations[i];
    switch (op->code) {
    case YOKE_OP_NUMBER:
      stack[++top] = op->number;
      break;
    case YOKE_OP_LIVE:
      stack[++top] = live[op->index];
      break;
    case YOKE_OP_KEEP:
      kept[op->index] = stack[top];
      break;
    case YOKE_OP_AGAIN:
      stack[++top] = kept[op->index];
      break;
    default: {
      const int n = yoke__operation_n_operands(op->code);
      // n operands make one result
      top -= n - 1;
      const double b = n > 1 ? stack[top + 1] : 0.0, c = n > 2 ? stack[top + 2] : 0.0;
      stack[top] = yoke__operation_apply(op->code, stack[top], b, c);
    }
    }
  }
  return top >= 0 ? stack[0] : (double)NAN;
}

// A value with its gradient.
typedef struct dual {
  double y;
  double d[YOKE_EXPRESSION_MAX_LIVE];
} dual;

static double product(double slope, double d) {
  return slope == 0.0 || d == 0.0 ? 0.0 : slope * d;
}

static bool is_moving(const dual* x, uint32_t n) {
  for (uint32_t j = 0; j < n; j++) {
    if (x->d[j] != 0.0) {
      return true;
    }
  }
  return false;
}

static void copy_dual(dual* to, const dual* from, uint32_t n) {
  to->y = from->y;
  for (uint32_t j = 0; j < n; j++) {
    to->d[j] = from->d[j];
  }
}

// x[0] := f(x[0], x[1], x[2])
static void apply_dual(yoke_operation_code code, int n_operands, dual* x, uint32_t n) {
  // a choice takes value and gradient of its branch
  if (n_operands == 3) {
    copy_dual(&x[0], x[0].y != 0.0 ? &x[1] : &x[2], n);
    return;
  }
  const double a = x[0].y;
  if (n_operands == 1) {
    // a constant operand has no slope to look at, even where the slope is infinite
    x[0].y = yoke__operation_apply(code, a, 0.0, 0.0);
    const double slope = is_moving(&x[0], n) ? unary_slope(code, a, x[0].y) : 0.0;
    for (uint32_t j = 0; j < n; j++) {
      x[0].d[j] = product(slope, x[0].d[j]);
    }
    return;
  }
  const double b = x[1].y;
  double f_a, f_b;
  x[0].y = yoke__operation_apply(code, a, b, 0.0);
  binary_slopes(code, a, b, x[0].y, is_moving(&x[1], n), &f_a, &f_b);

  // y' = f_a a' + f_b b'
  for (uint32_t j = 0; j < n; j++) {
    x[0].d[j] = product(f_a, x[0].d[j]) + product(f_b, x[1].d[j]);
  }
}

static double evaluate_dual(const yoke_expression* self, const double live[], double gradient[]) {
  dual stack[YOKE_EXPRESSION_MAX_DEPTH + 1];
  dual kept[YOKE_EXPRESSION_MAX_KEPT];
  const uint32_t n = self->n_live;
  int top = -1;
  for (uint32_t i = 0; i < self->n_operations; i++) {
    const yoke_operation* op = &self->operations[i];
    switch (op->code) {
    case YOKE_OP_NUMBER:
    case YOKE_OP_LIVE:
      top++;
      stack[top].y = op->code == YOKE_OP_NUMBER ? op->number : live[op->index];
      // the derivative of a live quantity by itself is 1
      for (uint32_t j = 0; j < n; j++) {
        stack[top].d[j] = truth(op->code == YOKE_OP_LIVE && j == op->index);
      }
      break;
    case YOKE_OP_KEEP:
      copy_dual(&kept[op->index], &stack[top], n);
      break;
    case YOKE_OP_AGAIN:
      copy_dual(&stack[++top], &kept[op->index], n);
      break;
    default: {
      const int n_operands = yoke__operation_n_operands(op->code);
      top -= n_operands - 1;
      apply_dual(op->code, n_operands, &stack[top], n);
    }
    }
  }
  for (uint32_t j = 0; j < n; j++) {
    gradient[j] = top >= 0 ? stack[0].d[j] : (double)NAN;
  }
  return top >= 0 ? stack[0].y : (double)NAN;
}

// NOLINTEND(clang-analyzer-core.uninitialized.Assign, clang-analyzer-core.CallAndMessage,
// clang-analyzer-core.UndefinedBinaryOperatorResult)

double yoke__expression_evaluate(const yoke_expression* expression, const double live[],
                                 double gradient[]) {
  return gradient == NULL ? evaluate_value(expression, live)
                          : evaluate_dual(expression, live, gradient);
}
