// The functions and constants that expressions know without a `.func`, and what they are made of: most are one operation,
// the others are put together from operations, so that derivatives come with them.
#include <string.h>

#include "base/base_check.h"
#include "circuit/expression/circuit_expression_compile.h"

typedef enum special {
  PLAIN,  // the operation itself
  FUNCTION_PWR,
  FUNCTION_INT,
  FUNCTION_STEP,
  FUNCTION_RAMP,
  FUNCTION_UNIT,
  FUNCTION_LIMIT,
  FUNCTION_SELECT,
  FUNCTION_ASINH,
  FUNCTION_ACOSH,
  FUNCTION_ATANH,
  FUNCTION_TABLE,
  REFUSED,
} special;

struct yoke_builtin {
  const char* name;
  size_t min_args, max_args;
  special special;
  yoke_operation_code code;
};

static const yoke_builtin builtins[] = {
    {"sqrt", 1, 1, PLAIN, YOKE_OP_SQRT},
    {"exp", 1, 1, PLAIN, YOKE_OP_EXP},
    {"ln", 1, 1, PLAIN, YOKE_OP_LOG},
    {"log", 1, 1, PLAIN, YOKE_OP_LOG},
    {"log10", 1, 1, PLAIN, YOKE_OP_LOG10},
    {"abs", 1, 1, PLAIN, YOKE_OP_ABS},
    {"sgn", 1, 1, PLAIN, YOKE_OP_SIGN},
    {"min", 2, YOKE_BUILTIN_MAX_ARGS, PLAIN, YOKE_OP_MIN},
    {"max", 2, YOKE_BUILTIN_MAX_ARGS, PLAIN, YOKE_OP_MAX},
    {"pow", 2, 2, PLAIN, YOKE_OP_POW},
    {"sin", 1, 1, PLAIN, YOKE_OP_SIN},
    {"cos", 1, 1, PLAIN, YOKE_OP_COS},
    {"tan", 1, 1, PLAIN, YOKE_OP_TAN},
    {"asin", 1, 1, PLAIN, YOKE_OP_ASIN},
    {"acos", 1, 1, PLAIN, YOKE_OP_ACOS},
    {"atan", 1, 1, PLAIN, YOKE_OP_ATAN},
    {"arcsin", 1, 1, PLAIN, YOKE_OP_ASIN},
    {"arccos", 1, 1, PLAIN, YOKE_OP_ACOS},
    {"arctan", 1, 1, PLAIN, YOKE_OP_ATAN},
    {"atan2", 2, 2, PLAIN, YOKE_OP_ATAN2},
    {"sinh", 1, 1, PLAIN, YOKE_OP_SINH},
    {"cosh", 1, 1, PLAIN, YOKE_OP_COSH},
    {"tanh", 1, 1, PLAIN, YOKE_OP_TANH},
    {"floor", 1, 1, PLAIN, YOKE_OP_FLOOR},
    {"ceil", 1, 1, PLAIN, YOKE_OP_CEIL},
    {"pwr", 2, 2, FUNCTION_PWR, YOKE_OP_POW},
    {"int", 1, 1, FUNCTION_INT, YOKE_OP_FLOOR},
    {"nint", 1, 1, PLAIN, YOKE_OP_ROUND},
    {"u", 1, 1, FUNCTION_STEP, YOKE_OP_SELECT},
    {"uramp", 1, 1, FUNCTION_RAMP, YOKE_OP_MAX},
    {"u2", 1, 1, FUNCTION_UNIT, YOKE_OP_MIN},
    {"limit", 3, 3, FUNCTION_LIMIT, YOKE_OP_MIN},
    {"if", 3, 3, FUNCTION_SELECT, YOKE_OP_SELECT},
    {"ternary_fcn", 3, 3, FUNCTION_SELECT, YOKE_OP_SELECT},
    {"asinh", 1, 1, FUNCTION_ASINH, YOKE_OP_LOG},
    {"acosh", 1, 1, FUNCTION_ACOSH, YOKE_OP_LOG},
    {"atanh", 1, 1, FUNCTION_ATANH, YOKE_OP_LOG},
    {"pwl", 3, YOKE_BUILTIN_MAX_ARGS, FUNCTION_TABLE, YOKE_OP_SELECT},
    {"table", 3, YOKE_BUILTIN_MAX_ARGS, FUNCTION_TABLE, YOKE_OP_SELECT},
    {"ddt", 1, YOKE_BUILTIN_MAX_ARGS, REFUSED, YOKE_OP_NUMBER},
    {"idt", 1, YOKE_BUILTIN_MAX_ARGS, REFUSED, YOKE_OP_NUMBER},
    {"sdt", 1, YOKE_BUILTIN_MAX_ARGS, REFUSED, YOKE_OP_NUMBER},
    {"delay", 1, YOKE_BUILTIN_MAX_ARGS, REFUSED, YOKE_OP_NUMBER},
    {"gauss", 1, YOKE_BUILTIN_MAX_ARGS, REFUSED, YOKE_OP_NUMBER},
    {"agauss", 1, YOKE_BUILTIN_MAX_ARGS, REFUSED, YOKE_OP_NUMBER},
    {"unif", 1, YOKE_BUILTIN_MAX_ARGS, REFUSED, YOKE_OP_NUMBER},
    {"aunif", 1, YOKE_BUILTIN_MAX_ARGS, REFUSED, YOKE_OP_NUMBER},
    {"limits", 1, YOKE_BUILTIN_MAX_ARGS, REFUSED, YOKE_OP_NUMBER},
};

static const struct {
  const char* name;
  double value;
} constants[] = {
    {"pi", 3.14159265358979323846},
    {"e", 2.71828182845904523536},
    {"boltz", 1.380649e-23},
    {"echarge", 1.602176634e-19},
    {"kelvin", -273.15},
    {"yes", 1.0},
    {"no", 0.0},
};

static uint32_t make(yoke_compiler* c, yoke_operation_code code, uint32_t a, uint32_t b) {
  return yoke__graph_make(c, code, a, b, 0);
}

static uint32_t number(yoke_compiler* c, double value) {
  return yoke__graph_number(c, value);
}

// Linear between points (x, y) given as arguments, constant outside.
static uint32_t make_table(yoke_compiler* c, const uint32_t* args, size_t n) {
  const size_t n_points = (n - 1) / 2;
  uint32_t result = args[2 * n_points];
  for (size_t i = n_points - 1; i-- > 0;) {
    // y_i + (x - x_i) (y_i+1 - y_i) / (x_i+1 - x_i) below x_i+1
    const uint32_t x = args[1 + 2 * i], y = args[2 + 2 * i];
    const uint32_t dx = make(c, YOKE_OP_SUB, args[3 + 2 * i], x);
    const uint32_t dy = make(c, YOKE_OP_SUB, args[4 + 2 * i], y);
    const uint32_t slope = make(c, YOKE_OP_DIV, dy, dx);
    const uint32_t line =
        make(c, YOKE_OP_ADD, y, make(c, YOKE_OP_MUL, make(c, YOKE_OP_SUB, args[0], x), slope));
    result = yoke__graph_make(c, YOKE_OP_SELECT, make(c, YOKE_OP_LESS, args[0], args[3 + 2 * i]),
                              line, result);
  }
  return yoke__graph_make(c, YOKE_OP_SELECT, make(c, YOKE_OP_LESS, args[0], args[1]), args[2],
                          result);
}

// ln(x + sqrt(x^2 + sign))
static uint32_t make_area(yoke_compiler* c, uint32_t x, double sign) {
  const uint32_t square = make(c, YOKE_OP_MUL, x, x);
  const uint32_t root = make(c, YOKE_OP_SQRT, make(c, YOKE_OP_ADD, square, number(c, sign)), 0);
  return make(c, YOKE_OP_LOG, make(c, YOKE_OP_ADD, x, root), 0);
}

static uint32_t make_step(yoke_compiler* c, uint32_t x) {
  const uint32_t half = yoke__graph_make(
      c, YOKE_OP_SELECT, make(c, YOKE_OP_LESS, x, number(c, 0.0)), number(c, 0.0), number(c, 0.5));
  return yoke__graph_make(c, YOKE_OP_SELECT, make(c, YOKE_OP_GREATER, x, number(c, 0.0)),
                          number(c, 1.0), half);
}

static uint32_t make_special(yoke_compiler* c, const yoke_builtin* f, const uint32_t* x, size_t n) {
  switch (f->special) {
  case FUNCTION_PWR:
    return make(c, YOKE_OP_MUL, make(c, YOKE_OP_SIGN, x[0], 0), make(c, YOKE_OP_POW, x[0], x[1]));
  case FUNCTION_INT:
    return yoke__graph_make(c, YOKE_OP_SELECT, make(c, YOKE_OP_LESS, x[0], number(c, 0.0)),
                            make(c, YOKE_OP_CEIL, x[0], 0), make(c, YOKE_OP_FLOOR, x[0], 0));
  case FUNCTION_STEP:
    return make_step(c, x[0]);
  case FUNCTION_RAMP:
    return make(c, YOKE_OP_MAX, x[0], number(c, 0.0));
  case FUNCTION_UNIT:
    return make(c, YOKE_OP_MIN, make(c, YOKE_OP_MAX, x[0], number(c, 0.0)), number(c, 1.0));
  case FUNCTION_LIMIT:
    return make(c, YOKE_OP_MIN, make(c, YOKE_OP_MAX, x[0], x[1]), x[2]);
  case FUNCTION_SELECT:
    return yoke__graph_make(c, YOKE_OP_SELECT, x[0], x[1], x[2]);
  case FUNCTION_ASINH:
    return make_area(c, x[0], 1.0);
  case FUNCTION_ACOSH:
    return make_area(c, x[0], -1.0);
  case FUNCTION_ATANH: {
    // ln((1 + x)/(1 - x))/2
    const uint32_t up = make(c, YOKE_OP_ADD, number(c, 1.0), x[0]);
    const uint32_t down = make(c, YOKE_OP_SUB, number(c, 1.0), x[0]);
    return make(c, YOKE_OP_MUL, number(c, 0.5),
                make(c, YOKE_OP_LOG, make(c, YOKE_OP_DIV, up, down), 0));
  }
  case FUNCTION_TABLE:
    return make_table(c, x, n);
  default:
    return 0;
  }
}

// ---- for the parser

const yoke_builtin* yoke__builtin_find(yoke_span name) {
  for (size_t i = 0; i < YOKE_COUNT(builtins); i++) {
    if (yoke__span_is(name, builtins[i].name)) {
      return &builtins[i];
    }
  }
  return NULL;
}

bool yoke__builtin_is_refused(const yoke_builtin* f, const yoke_sink* sink) {
  if (f->special == REFUSED) {
    yoke_fail(sink, YOKE_NO_SUPPORT, "%s() is not supported: values depend on the present only",
              f->name);
  }
  return f->special == REFUSED;
}

bool yoke__builtin_constant(yoke_span name, double* out) {
  for (size_t i = 0; i < YOKE_COUNT(constants); i++) {
    if (yoke__span_is(name, constants[i].name)) {
      *out = constants[i].value;
      return true;
    }
  }
  return false;
}

static bool has_right_count(const yoke_builtin* f, size_t n, const yoke_sink* sink) {
  if (n < f->min_args || n > f->max_args) {
    yoke_fail(sink, YOKE_BAD_INPUT, "%s() takes %zu%s argument%s, found %zu", f->name, f->min_args,
              f->max_args > f->min_args ? " or more" : "", f->max_args > 1 ? "s" : "", n);
    return false;
  }
  if (f->special == FUNCTION_TABLE && n % 2 == 0) {
    yoke_fail(sink, YOKE_BAD_INPUT,
              "a table needs x and then pairs of numbers: pwl(x, x1, y1, x2, y2, ...)");
    return false;
  }
  return true;
}

bool yoke__builtin_make(yoke_compiler* c, const yoke_builtin* f, const uint32_t args[], size_t n,
                        uint32_t* out, const yoke_sink* sink) {
  if (!has_right_count(f, n, sink)) {
    return false;
  }
  if (f->special != PLAIN) {
    *out = make_special(c, f, args, n);
    return true;
  }
  *out = n == 1 ? make(c, f->code, args[0], 0) : args[0];
  for (size_t i = 1; i < n; i++) {
    *out = make(c, f->code, *out, args[i]);
  }
  return true;
}
