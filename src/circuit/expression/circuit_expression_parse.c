// Reads expressions of netlists.
//
//   expression = choice
//   choice     = or [ "?" choice ":" choice ]
//   or, and    = ... "||" ..., ... "&&" ...
//   comparison = == != <> and then < <= > >=
//   sum, product, sign = + -, * /, unary + - !
//   power      = operand { ("**" | "^") operand }          from left to right, as ngspice does
//   operand    = number | name | name "(" arguments ")" | "(" choice ")" | "{" choice "}"
//              | v(a) v(a,b) t(a) i(e) p(e)
//
// An operator-precedence parser with its own stacks instead of recursion. A call of a user's
// function pushes its body as a further input whose names are the arguments, so that text is never
// copied; nesting and work are bounded.
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_message.h"
#include "base/base_number.h"
#include "circuit/expression/circuit_expression_compile.h"

#define MAX_ENTRIES 4000   // open brackets and operators
#define MAX_INPUTS  32     // user functions within each other
#define MAX_TOKENS  50000  // of one expression, function bodies included

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// ---- the machine

typedef enum entry_kind {
  OPERATOR,
  BRACKET,
  BRACE,
  CALL,
  USER_CALL,
  QUESTION,
  COLON,
  BARRIER
} entry_kind;

typedef struct yoke_parse_entry {
  entry_kind kind;
  yoke_operation_code code;
  int precedence;
  const yoke_builtin* function;
  const yoke_user_function* user;
  size_t n_args;
} yoke_parse_entry;

// A text being read: the expression, or the body of a function with its arguments.
typedef struct input {
  const char *at, *end;
  const yoke_user_function* function;  // NULL: the expression itself
  size_t first_value;                  // the arguments lie on the stack of values from here on
} input;

typedef struct parser {
  yoke_compiler* compiler;
  const yoke_expression_scope* scope;
  const char* start;  // of the expression itself
  input inputs[MAX_INPUTS];
  size_t n_inputs;
  const char* token;  // in the outermost text: where messages point to
  size_t n_tokens;
  bool wants_operand;
  bool is_pending, is_failed;
} parser;

enum {
  PRECEDENCE_CHOICE,
  PRECEDENCE_OR,
  PRECEDENCE_AND,
  PRECEDENCE_EQUAL,
  PRECEDENCE_ORDER,
  PRECEDENCE_SUM,
  PRECEDENCE_PRODUCT,
  PRECEDENCE_SIGN,
  PRECEDENCE_POWER,
};

static const char* shown(yoke_span span, char to[48]) {
  const size_t n = span.n < 40 ? span.n : 40;
  snprintf(to, 48, "%.*s%s", (int)n, span.text, n < span.n ? "..." : "");
  return to;
}

// Reports once; everything ends then.
static void fail(parser* p, const char* text) {
  if (!p->is_failed && !p->is_pending) {
    char full[320];
    const input* in = &p->inputs[p->n_inputs - 1];
    if (in->function != NULL) {
      char name[48];
      snprintf(full, sizeof full, "in the function %s: %s", shown(in->function->name, name), text);
      text = full;
    }
    p->scope->report(p->scope->self, (size_t)(p->token - p->start), text);
  }
  p->is_failed = true;
}

static void fail_name(parser* p, const char* what, yoke_span name, const char* hint) {
  char text[256], cut[48];
  snprintf(text, sizeof text, "unknown %s '%s'%s", what, shown(name, cut), hint);
  fail(p, text);
}

static void push_value(parser* p, uint32_t node) {
  yoke_compiler* c = p->compiler;
  if (!yoke__append(&c->values, &c->n_values, &c->max_values, sizeof node, &node)) {
    c->is_out_of_memory = true;
    p->is_failed = true;
  }
}

static uint32_t pop_value(parser* p) {
  return p->compiler->values[--p->compiler->n_values];
}

static void push_entry(parser* p, const yoke_parse_entry* entry) {
  yoke_compiler* c = p->compiler;
  if (c->n_entries >= MAX_ENTRIES) {
    fail(p, "the expression is nested too deeply");
  } else if (!yoke__append(&c->entries, &c->n_entries, &c->max_entries, sizeof *entry, entry)) {
    c->is_out_of_memory = true;
    p->is_failed = true;
  }
}

static yoke_parse_entry* top_entry(parser* p) {
  return &p->compiler->entries[p->compiler->n_entries - 1];
}

// Applies the operator on top of the stack to the values on top of theirs.
static void reduce_one(parser* p) {
  const yoke_parse_entry entry = *top_entry(p);
  p->compiler->n_entries--;
  const int n = entry.kind == COLON ? 3 : yoke__operation_n_operands(entry.code);
  uint32_t x[3] = {0, 0, 0};
  for (int i = n; i-- > 0;) {
    x[i] = pop_value(p);
  }
  const yoke_operation_code code = entry.kind == COLON ? YOKE_OP_SELECT : entry.code;
  push_value(p, yoke__graph_make(p->compiler, code, x[0], x[1], x[2]));
}

// Applies waiting operators that bind at least as strongly as `precedence`.
static void reduce(parser* p, int precedence) {
  while (p->compiler->n_entries > 0 && !p->is_failed) {
    const yoke_parse_entry* top = top_entry(p);
    const bool is_operator = top->kind == OPERATOR && top->precedence >= precedence;
    if (!is_operator && !(top->kind == COLON && precedence <= PRECEDENCE_CHOICE)) {
      return;
    }
    reduce_one(p);
  }
}

// ---- functions

static uint32_t make(parser* p, yoke_operation_code code, uint32_t a, uint32_t b) {
  return yoke__graph_make(p->compiler, code, a, b, 0);
}

static uint32_t number(parser* p, double value) {
  return yoke__graph_number(p->compiler, value);
}

static uint32_t voltage(parser* p, uint32_t node) {
  return node == 0 ? number(p, 0.0)
                   : yoke__graph_live(p->compiler, (yoke_live){YOKE_LIVE_VOLTAGE, node});
}

static void call_builtin(parser* p, const yoke_parse_entry* entry) {
  const size_t n = entry->n_args;
  uint32_t args[YOKE_BUILTIN_MAX_ARGS], result = 0;
  YOKE_CATCH(why);
  // of too many only the count matters
  for (size_t i = 0; i < n && i < YOKE_BUILTIN_MAX_ARGS; i++) {
    args[i] = p->compiler->values[p->compiler->n_values - n + i];
  }
  if (!yoke__builtin_make(p->compiler, entry->function, args, n, &result, &why.sink)) {
    fail(p, why.text);
    return;
  }
  p->compiler->n_values -= n;
  push_value(p, result);
}

// The body becomes the text that is read; its arguments stay below on the stack of values.
static void call_user(parser* p, const yoke_parse_entry* entry) {
  const yoke_user_function* f = entry->user;
  char text[160], name[48];
  if (entry->n_args != f->n_args) {
    snprintf(text, sizeof text, "%s() takes %zu argument%s, found %zu", shown(f->name, name),
             f->n_args, f->n_args == 1 ? "" : "s", entry->n_args);
    fail(p, text);
    return;
  }
  for (size_t i = 0; i < p->n_inputs; i++) {
    if (p->inputs[i].function == f) {
      snprintf(text, sizeof text, "%s() calls itself", shown(f->name, name));
      fail(p, text);
      return;
    }
  }
  if (p->n_inputs == MAX_INPUTS) {
    fail(p, "functions call each other too deeply");
    return;
  }
  const yoke_parse_entry barrier = {.kind = BARRIER};
  push_entry(p, &barrier);
  p->inputs[p->n_inputs++] =
      (input){f->body.text, f->body.text + f->body.n, f, p->compiler->n_values - f->n_args};
  p->wants_operand = true;
}

// ---- operands

static void skip_blanks(input* in) {
  while (in->at < in->end && yoke__is_blank(*in->at)) {
    in->at++;
  }
}

static yoke_span read_name(input* in) {
  yoke_span name = {in->at, 0};
  while (in->at < in->end && yoke__is_name_part(*in->at)) {
    in->at++;
  }
  name.n = (size_t)(in->at - name.text);
  return name;
}

// One name in v( ), up to ',' or ')', blanks around it dropped.
static yoke_span read_raw(input* in) {
  skip_blanks(in);
  yoke_span name = {in->at, 0};
  while (in->at < in->end && *in->at != ',' && *in->at != ')' && *in->at != '(') {
    in->at++;
  }
  name.n = (size_t)(in->at - name.text);
  while (name.n > 0 && yoke__is_blank(name.text[name.n - 1])) {
    name.n--;
  }
  return name;
}

// An argument of a function that was given as v() or t() of a node cannot be renamed: nodes are
// names, not values.
static void read_live(parser* p, char letter) {
  input* in = &p->inputs[p->n_inputs - 1];
  char text[128];
  in->at++;
  const yoke_span a = read_raw(in);
  yoke_span b = {in->at, 0};
  if (in->at < in->end && *in->at == ',' && letter == 'v') {
    in->at++;
    b = read_raw(in);
  }
  if (a.n == 0 || in->at == in->end || *in->at != ')') {
    snprintf(text, sizeof text, "expected %s",
             letter == 'v'   ? "v(node) or v(node, node)"
             : letter == 't' ? "t(node)"
             : letter == 'i' ? "i(element)"
                             : "p(element)");
    fail(p, text);
    return;
  }
  in->at++;
  yoke_live_terms terms = {0};
  const yoke_name_answer answer = p->scope->find_live(p->scope->self, letter, a, b, &terms);
  if (answer == YOKE_NAME_PENDING) {
    p->is_pending = true;
  } else if (answer == YOKE_NAME_REFUSED) {
    p->is_failed = true;
  } else if (answer == YOKE_NAME_UNKNOWN) {
    fail_name(p, letter == 'v' || letter == 't' ? "node" : "element", a, "");
  }
  if (answer != YOKE_NAME_FOUND) {
    return;
  }
  uint32_t value = number(p, 1.0);
  if (terms.has_voltage) {
    const uint32_t a_value = voltage(p, terms.a);
    value = make(p, YOKE_OP_SUB, a_value, voltage(p, terms.b));
  }
  if (terms.has_current) {
    const yoke_live current = {YOKE_LIVE_CURRENT, terms.current};
    value = make(p, YOKE_OP_MUL, value, yoke__graph_live(p->compiler, current));
  }
  push_value(p, value);
  p->wants_operand = false;
}

// Opens a call; the name is followed by '('.
static void open_call(parser* p, yoke_span name) {
  input* in = &p->inputs[p->n_inputs - 1];
  yoke_parse_entry entry = {.kind = CALL};
  entry.user = p->scope->find_function(p->scope->self, name);
  if (entry.user != NULL) {
    entry.kind = USER_CALL;
  } else {
    const char* letter = name.n == 1 ? strchr("vtip", yoke__lower(name.text[0])) : NULL;
    if (letter != NULL && *letter != '\0') {
      read_live(p, *letter);
      return;
    }
    entry.function = yoke__builtin_find(name);
    if (entry.function == NULL) {
      fail_name(p, "function", name, "");
      return;
    }
    YOKE_CATCH(why);
    if (yoke__builtin_is_refused(entry.function, &why.sink)) {
      fail(p, why.text);
      return;
    }
  }
  in->at++;
  skip_blanks(in);
  entry.n_args = in->at < in->end && *in->at == ')' ? 0 : 1;
  push_entry(p, &entry);
  p->wants_operand = entry.n_args > 0;
}

// An argument of the function whose body is read; false if the name is none.
static bool push_argument(parser* p, yoke_span name) {
  const input* in = &p->inputs[p->n_inputs - 1];
  for (size_t i = 0; in->function != NULL && i < in->function->n_args; i++) {
    if (yoke__span_equals(name, in->function->args[i])) {
      push_value(p, p->compiler->values[in->first_value + i]);
      return true;
    }
  }
  return false;
}

static void push_named(parser* p, yoke_span name) {
  yoke_named_value value = {0};
  const yoke_name_answer answer = p->scope->find_name(p->scope->self, name, &value);
  if (answer == YOKE_NAME_FOUND) {
    push_value(p, value.law != NULL ? yoke__graph_law(p->compiler, value.law)
                  : value.is_live   ? yoke__graph_live(p->compiler, value.live)
                                    : number(p, value.number));
    return;
  }
  if (answer != YOKE_NAME_UNKNOWN) {
    p->is_pending = answer == YOKE_NAME_PENDING;
    p->is_failed = answer == YOKE_NAME_REFUSED;
    return;
  }
  if (yoke__span_is(name, "time")) {
    push_value(p, yoke__graph_live(p->compiler, (yoke_live){YOKE_LIVE_TIME, 0}));
    return;
  }
  double constant = 0.0;
  if (yoke__builtin_constant(name, &constant)) {
    push_value(p, number(p, constant));
    return;
  }
  fail_name(p, "parameter", name,
            p->scope->hint != NULL ? p->scope->hint(p->scope->self, name) : "");
}

static void read_operand(parser* p) {
  input* in = &p->inputs[p->n_inputs - 1];
  const char c = *in->at;
  yoke_parse_entry entry = {.kind = BRACKET};
  if (c == '(' || c == '{') {
    in->at++;
    entry.kind = c == '(' ? BRACKET : BRACE;
    push_entry(p, &entry);
  } else if (c == '-' || c == '!' || c == '+') {
    in->at++;
    if (c != '+') {
      entry.kind = OPERATOR;
      entry.code = c == '-' ? YOKE_OP_NEG : YOKE_OP_NOT;
      entry.precedence = PRECEDENCE_SIGN;
      push_entry(p, &entry);
    }
  } else if (is_digit(c) || c == '.') {
    double value = 0.0;
    const char* next = yoke__number_scan_suffix(in->at, in->end, &value);
    if (next == NULL) {
      fail(p, "this is no number, or it is too large");
      return;
    }
    in->at = next;
    push_value(p, number(p, value));
    p->wants_operand = false;
  } else if (yoke__is_name_start(c)) {
    const yoke_span name = read_name(in);
    skip_blanks(in);
    if (in->at < in->end && *in->at == '(') {
      open_call(p, name);
    } else {
      p->wants_operand = false;
      if (!push_argument(p, name)) {
        push_named(p, name);
      }
    }
  } else {
    char text[96];
    snprintf(text, sizeof text, "expected a number, a name or '(', found '%c'",
             c >= ' ' && c <= '~' ? c : '?');
    fail(p, text);
  }
}

// ---- operators

typedef struct sign {
  const char* text;
  yoke_operation_code code;
  int precedence;
} sign;

// longer ones first
static const sign signs[] = {
    {"**", YOKE_OP_POW, PRECEDENCE_POWER},        {"||", YOKE_OP_OR, PRECEDENCE_OR},
    {"&&", YOKE_OP_AND, PRECEDENCE_AND},          {"==", YOKE_OP_EQUAL, PRECEDENCE_EQUAL},
    {"!=", YOKE_OP_NOT_EQUAL, PRECEDENCE_EQUAL},  {"<>", YOKE_OP_NOT_EQUAL, PRECEDENCE_EQUAL},
    {"<=", YOKE_OP_LESS_EQUAL, PRECEDENCE_ORDER}, {">=", YOKE_OP_GREATER_EQUAL, PRECEDENCE_ORDER},
    {"<", YOKE_OP_LESS, PRECEDENCE_ORDER},        {">", YOKE_OP_GREATER, PRECEDENCE_ORDER},
    {"+", YOKE_OP_ADD, PRECEDENCE_SUM},           {"-", YOKE_OP_SUB, PRECEDENCE_SUM},
    {"*", YOKE_OP_MUL, PRECEDENCE_PRODUCT},       {"/", YOKE_OP_DIV, PRECEDENCE_PRODUCT},
    {"^", YOKE_OP_POW, PRECEDENCE_POWER},
};

// The innermost open bracket, after what is inside it has been computed; NULL with a message if
// there is none.
static yoke_parse_entry* close_inside(parser* p, const char* problem) {
  reduce(p, PRECEDENCE_CHOICE);
  if (p->is_failed) {
    return NULL;
  }
  if (p->compiler->n_entries == 0 || top_entry(p)->kind == BARRIER ||
      top_entry(p)->kind == QUESTION) {
    fail(p, p->compiler->n_entries > 0 && top_entry(p)->kind == QUESTION ? "a '?' lacks its ':'"
                                                                         : problem);
    return NULL;
  }
  return top_entry(p);
}

static void close_bracket(parser* p, char c) {
  const yoke_parse_entry* open = close_inside(p, c == ')' ? "')' without '('" : "'}' without '{'");
  if (open == NULL) {
    return;
  }
  if ((open->kind == BRACE) != (c == '}')) {
    fail(p, c == '}' ? "expected ')' before '}'" : "expected '}' before ')'");
    return;
  }
  const yoke_parse_entry entry = *open;
  p->compiler->n_entries--;
  if (entry.kind == CALL) {
    call_builtin(p, &entry);
  } else if (entry.kind == USER_CALL) {
    call_user(p, &entry);
  }
}

static void next_argument(parser* p) {
  yoke_parse_entry* open = close_inside(p, "',' outside of a function's arguments");
  if (open == NULL) {
    return;
  }
  if (open->kind != CALL && open->kind != USER_CALL) {
    fail(p, "',' outside of a function's arguments");
    return;
  }
  open->n_args++;
  p->wants_operand = true;
}

static void read_choice(parser* p, char c) {
  if (c == '?') {
    // binds to the right: a waiting ':' stays
    reduce(p, PRECEDENCE_OR);
    const yoke_parse_entry entry = {.kind = QUESTION};
    push_entry(p, &entry);
  } else {
    reduce(p, PRECEDENCE_CHOICE);
    if (p->is_failed) {
      return;
    }
    if (p->compiler->n_entries == 0 || top_entry(p)->kind != QUESTION) {
      fail(p, "':' without '?'");
      return;
    }
    top_entry(p)->kind = COLON;
  }
  p->wants_operand = true;
}

static void read_operator(parser* p) {
  input* in = &p->inputs[p->n_inputs - 1];
  const char c = *in->at;
  const size_t left = (size_t)(in->end - in->at);
  if (c == ')' || c == '}' || c == ',' || c == '?' || c == ':') {
    in->at++;
    if (c == ',') {
      next_argument(p);
    } else if (c == '?' || c == ':') {
      read_choice(p, c);
    } else {
      close_bracket(p, c);
    }
    return;
  }
  for (size_t i = 0; i < YOKE_COUNT(signs); i++) {
    const size_t n = strlen(signs[i].text);
    if (n <= left && memcmp(in->at, signs[i].text, n) == 0) {
      in->at += n;
      reduce(p, signs[i].precedence);
      const yoke_parse_entry entry = {
          .kind = OPERATOR, .code = signs[i].code, .precedence = signs[i].precedence};
      push_entry(p, &entry);
      p->wants_operand = true;
      return;
    }
  }
  char text[96];
  snprintf(text, sizeof text, "expected an operator, found '%c'", c >= ' ' && c <= '~' ? c : '?');
  fail(p, text);
}

// The end of the text, or of a function's body: then its result replaces its arguments.
static void end_input(parser* p) {
  if (p->wants_operand) {
    fail(p, "the expression ends too early");
    return;
  }
  reduce(p, PRECEDENCE_CHOICE);
  if (p->is_failed) {
    return;
  }
  const input* in = &p->inputs[p->n_inputs - 1];
  const bool is_closed =
      in->function == NULL ? p->compiler->n_entries == 0 : top_entry(p)->kind == BARRIER;
  if (!is_closed) {
    const entry_kind kind = top_entry(p)->kind;
    fail(p, kind == QUESTION ? "a '?' lacks its ':'"
            : kind == BRACE  ? "'{' is not closed"
                             : "'(' is not closed");
    return;
  }
  if (in->function != NULL) {
    p->compiler->n_entries--;
    const uint32_t result = pop_value(p);
    p->compiler->n_values = in->first_value;
    push_value(p, result);
  }
  p->n_inputs--;
}

static void parse(parser* p) {
  while (p->n_inputs > 0 && !p->is_failed && !p->is_pending) {
    input* in = &p->inputs[p->n_inputs - 1];
    skip_blanks(in);
    if (p->n_inputs == 1) {
      p->token = in->at;
    }
    if (in->at == in->end) {
      end_input(p);
    } else if (++p->n_tokens > MAX_TOKENS) {
      fail(p, "the expression is too large");
    } else if (p->wants_operand) {
      read_operand(p);
    } else {
      read_operator(p);
    }
  }
}

static uint32_t wrap_value(parser* p, uint32_t value, const yoke_expression_wrap* wrap) {
  if (wrap == NULL) {
    return value;
  }
  if (wrap->is_reciprocal) {
    return make(p, YOKE_OP_DIV, number(p, wrap->factor), value);
  }
  value = make(p, YOKE_OP_MUL, number(p, wrap->factor), value);
  return make(p, YOKE_OP_ADD, value, number(p, wrap->offset));
}

yoke_status yoke__expression_compile(yoke_compiler* compiler, yoke_span text,
                                     const yoke_expression_scope* scope,
                                     const yoke_expression_wrap* wrap, yoke_compiled* out) {
  *out = (yoke_compiled){0};
  compiler->n_values = 0;
  compiler->n_entries = 0;
  compiler->is_out_of_memory = false;
  yoke__graph_clear(compiler);
  parser p = {.compiler = compiler,
              .scope = scope,
              .start = text.text,
              .token = text.text,
              .n_inputs = 1,
              .wants_operand = true};
  p.inputs[0] = (input){text.text, text.text + text.n, NULL, 0};
  if (!compiler->is_out_of_memory) {
    parse(&p);
  }
  if (compiler->is_out_of_memory) {
    return YOKE_NO_MEMORY;
  }
  if (p.is_pending) {
    out->is_pending = true;
    return YOKE_OK;
  }
  if (p.is_failed) {
    return YOKE_BAD_INPUT;
  }

  // what is not defined is reported for the expression as a whole
  const uint32_t root = wrap_value(&p, compiler->values[0], wrap);
  const yoke_graph_node* node = &compiler->nodes[root];
  if (node->error != NULL && !compiler->is_out_of_memory) {
    scope->report(scope->self, 0, node->error);
    return YOKE_BAD_INPUT;
  }
  if (node->code == YOKE_OP_NUMBER) {
    out->is_constant = true;
    out->number = node->number;
    return compiler->is_out_of_memory ? YOKE_NO_MEMORY : YOKE_OK;
  }
  if (!yoke__graph_emit(compiler, root)) {
    if (compiler->is_out_of_memory) {
      return YOKE_NO_MEMORY;
    }
    scope->report(scope->self, 0, compiler->reason);
    return YOKE_BAD_INPUT;
  }
  out->law = (yoke_expression){.operations = compiler->operations,
                               .n_operations = (uint32_t)compiler->n_operations,
                               .live = compiler->live,
                               .n_live = compiler->n_live};
  return YOKE_OK;
}
