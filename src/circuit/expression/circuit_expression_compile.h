// Text of an expression -> operations. Names, functions and live quantities are asked of a scope,
// so that the language knows nothing of netlists. Constants are folded on the way; what is equal is
// computed once.
//
//   parse (circuit_expression_parse.c, names and numbers: _text.c, built-in functions: _function.c)
//   -> graph (circuit_expression_graph.c) -> operations (circuit_expression_emit.c)
#ifndef YOKE_CIRCUIT_EXPRESSION_COMPILE_H
#define YOKE_CIRCUIT_EXPRESSION_COMPILE_H

#include "base/base_arena.h"
#include "circuit/expression/circuit_expression.h"
#include "yoke/message.h"
#include "yoke/status.h"

typedef enum yoke_name_answer {
  YOKE_NAME_FOUND,
  YOKE_NAME_UNKNOWN,
  YOKE_NAME_PENDING,  // must be computed first; the compilation stops and is repeated later
  YOKE_NAME_REFUSED,  // the scope has said why, or will
} yoke_name_answer;

// A part of a text that need not end with NUL.
typedef struct yoke_span {
  const char* text;
  size_t n;
} yoke_span;

// What a name stands for: a number, a live quantity, or a law.
typedef struct yoke_named_value {
  double number;
  bool is_live;
  yoke_live live;
  const yoke_expression* law;  // not NULL: this
} yoke_named_value;

// What v(), t(), i() or p() stand for: (V_a - V_b) if has_voltage, times I if has_current. Node 0
// counts as 0.
typedef struct yoke_live_terms {
  bool has_voltage, has_current;
  uint32_t a, b;     // nodes
  uint32_t current;  // element
} yoke_live_terms;

// `.func name(args) {body}`
typedef struct yoke_user_function {
  yoke_span name, body;
  const yoke_span* args;
  size_t n_args;
} yoke_user_function;

typedef struct yoke_expression_scope {
  void* self;
  yoke_name_answer (*find_name)(void* self, yoke_span name, yoke_named_value* out);
  const yoke_user_function* (*find_function)(void* self, yoke_span name);
  // letter: one of v, t, i, p in lower case. b.n is 0 if there is one argument.
  yoke_name_answer (*find_live)(void* self, char letter, yoke_span a, yoke_span b,
                                yoke_live_terms* out);
  // What is wrong, at a byte of the text compiled.
  void (*report)(void* self, size_t offset, const char* text);
  // "; did you mean 'x'?" for a name that is not known, or ""; may be NULL
  const char* (*hint)(void* self, yoke_span name);
} yoke_expression_scope;

// The result of a compilation is factor * value + offset, or factor / value.
typedef struct yoke_expression_wrap {
  double factor, offset;
  bool is_reciprocal;
} yoke_expression_wrap;

typedef struct yoke_compiled {
  bool is_pending;   // see YOKE_NAME_PENDING; nothing else is valid
  bool is_constant;  // then number is the value
  double number;
  yoke_expression law;  // valid until the next use of the compiler; text is not set
} yoke_compiled;

// Workspace that is used again and again; zeroed at first.
typedef struct yoke_compiler {
  struct yoke_graph_node* nodes;
  uint32_t n_nodes, max_nodes;
  uint32_t* table;  // hash table of nodes
  uint32_t table_size;
  uint32_t* values;  // stack of the parser: nodes
  size_t n_values, max_values;
  struct yoke_parse_entry* entries;  // stack of the parser: operators and brackets
  size_t n_entries, max_entries;
  yoke_operation* operations;
  size_t n_operations, max_operations;
  yoke_live live[YOKE_EXPRESSION_MAX_LIVE];
  uint32_t n_live;
  char reason[256];
  bool is_out_of_memory;
} yoke_compiler;

void yoke__compiler_free(yoke_compiler* compiler);

// YOKE_BAD_INPUT after a report; YOKE_NO_MEMORY. wrap may be NULL.
yoke_status yoke__expression_compile(yoke_compiler* compiler, yoke_span text,
                                     const yoke_expression_scope* scope,
                                     const yoke_expression_wrap* wrap, yoke_compiled* out);

bool yoke__span_is(yoke_span span, const char* lower_case_text);
// Its index among the words, in small letters; n: it is none of them.
size_t yoke__span_among(yoke_span span, const char* const words[], size_t n);
bool yoke__span_equals(yoke_span a, yoke_span b);  // case ignored
static inline char yoke__lower(char c) {
  return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}
// Letters, digits, '_' and bytes of other alphabets.
bool yoke__is_name_start(char c);
bool yoke__is_name_part(char c);

// ---- between the parts of the compiler

#define YOKE_BUILTIN_MAX_ARGS 64

// A function that needs no `.func` (circuit_expression_function.c).
typedef struct yoke_builtin yoke_builtin;
const yoke_builtin* yoke__builtin_find(yoke_span name);  // NULL: there is none of this name
// True, with a message, for functions of SPICE that are known and not supported.
bool yoke__builtin_is_refused(const yoke_builtin* function, const yoke_sink* sink);
bool yoke__builtin_constant(yoke_span name, double* out);
// The node of a call; false, with a message, if the number of arguments is wrong: then args, which has
// at most YOKE_BUILTIN_MAX_ARGS, is not read.
bool yoke__builtin_make(yoke_compiler* compiler, const yoke_builtin* function,
                        const uint32_t args[], size_t n, uint32_t* out, const yoke_sink* sink);

#define YOKE_GRAPH_MAX_NODES 20000u

typedef struct yoke_graph_node {
  yoke_operation_code code;
  uint32_t a, b, c;  // operands
  double number;
  yoke_live live;
  const char* error;  // not NULL: not defined, and why
} yoke_graph_node;

// All return the index of a node; 0 is an error node that stands for "too large" or "out of
// memory".
void yoke__graph_clear(yoke_compiler* self);
uint32_t yoke__graph_number(yoke_compiler* self, double number);
uint32_t yoke__graph_live(yoke_compiler* self, yoke_live live);
uint32_t yoke__graph_make(yoke_compiler* self, yoke_operation_code code, uint32_t a, uint32_t b,
                          uint32_t c);
uint32_t yoke__graph_law(yoke_compiler* self, const yoke_expression* law);
// Operations of a node into the compiler's list; false with a reason if they are too many.
bool yoke__graph_emit(yoke_compiler* self, uint32_t root);
// Makes room for one more; false without memory.
bool yoke__grow(void** array, size_t n, size_t* max, size_t size);
// The same, and a copy of the item becomes the last one; array: address of the pointer.
bool yoke__append(void* array, size_t* n, size_t* max, size_t size, const void* item);

#endif
