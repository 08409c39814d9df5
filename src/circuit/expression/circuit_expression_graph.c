// The graph of an expression: every operation once, constants folded.
//
// Nodes are found again by a hash of their operation and operands, so that a function called twice
// with the same arguments costs once. A constant that is not defined (1/0, ln(-1)) becomes an error
// node; it spreads through operations but not through the branch that a constant condition does not
// choose: `x == 0 ? 0 : 1/x` is fine.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "circuit/expression/circuit_expression_compile.h"

#define FIRST_ROOM 64u

bool yoke__grow(void** array, size_t n, size_t* max, size_t size) {
  if (n < *max) {
    return true;
  }
  const size_t wanted = *max == 0 ? FIRST_ROOM : *max * 2;
  if (wanted > PTRDIFF_MAX / size) {
    return false;
  }
  void* larger = realloc(*array, wanted * size);
  if (larger == NULL) {
    return false;
  }
  *array = larger;
  *max = wanted;
  return true;
}

bool yoke__append(void* array, size_t* n, size_t* max, size_t size, const void* item) {
  void* bytes = NULL;
  memcpy(&bytes, array, sizeof bytes);
  if (!yoke__grow(&bytes, *n, max, size)) {
    return false;
  }
  memcpy(array, &bytes, sizeof bytes);
  memcpy((char*)bytes + (*n)++ * size, item, size);
  return true;
}

void yoke__compiler_free(yoke_compiler* compiler) {
  free(compiler->nodes);
  free(compiler->table);
  free(compiler->values);
  free(compiler->entries);
  free(compiler->operations);
  *compiler = (yoke_compiler){0};
}

static uint32_t mix(uint32_t hash, uint64_t word) {
  // multiplication by 2^64 over the golden ratio; the upper half depends on all bits
  const uint64_t product = (hash ^ word ^ (word >> 32)) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(product >> 32);
}

static uint64_t bits_of(double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static uint32_t hash_node(const yoke_graph_node* node) {
  uint32_t hash = mix((uint32_t)node->code, bits_of(node->number));
  hash = mix(hash, node->a);
  hash = mix(hash, node->b);
  hash = mix(hash, node->c);
  hash = mix(hash, (uint64_t)node->live.kind << 32 | node->live.index);
  return hash;
}

static bool is_same(const yoke_graph_node* p, const yoke_graph_node* q) {
  // numbers by their bits, so that 0 and -0 stay apart and NaN is found again
  return p->code == q->code && p->a == q->a && p->b == q->b && p->c == q->c &&
         bits_of(p->number) == bits_of(q->number) && p->live.kind == q->live.kind &&
         p->live.index == q->live.index && p->error == q->error;
}

static void insert(yoke_compiler* self, uint32_t index) {
  uint32_t at = hash_node(&self->nodes[index]) & (self->table_size - 1);
  while (self->table[at] != 0) {
    at = (at + 1) & (self->table_size - 1);
  }
  self->table[at] = index;
}

// Room for one more node, with a table at most half full.
static bool make_room(yoke_compiler* self) {
  if (self->n_nodes < self->max_nodes) {
    return true;
  }
  size_t max = self->max_nodes;
  void* nodes = self->nodes;
  if (!yoke__grow(&nodes, self->n_nodes, &max, sizeof *self->nodes)) {
    return false;
  }
  self->nodes = nodes;

  // two places per node: at most half full; 0 is an empty place, because node 0 is that of errors
  uint32_t* table = calloc(2 * max, sizeof *table);
  if (table == NULL) {
    return false;
  }
  self->max_nodes = (uint32_t)max;
  free(self->table);
  self->table = table;
  self->table_size = (uint32_t)(2 * max);
  for (uint32_t i = 1; i < self->n_nodes; i++) {
    insert(self, i);
  }
  return true;
}

void yoke__graph_clear(yoke_compiler* self) {
  self->n_nodes = 0;
  self->reason[0] = '\0';
  if (!make_room(self)) {
    self->is_out_of_memory = true;
    return;
  }
  memset(self->table, 0, self->table_size * sizeof *self->table);

  // node 0: what cannot be made stands for an error that spreads
  self->nodes[0] =
      (yoke_graph_node){.code = YOKE_OP_NUMBER, .error = "the expression is too large"};
  self->n_nodes = 1;
}

static uint32_t intern(yoke_compiler* self, const yoke_graph_node* node) {
  if (self->is_out_of_memory) {
    return 0;
  }
  uint32_t at = hash_node(node) & (self->table_size - 1);
  for (; self->table[at] != 0; at = (at + 1) & (self->table_size - 1)) {
    if (is_same(&self->nodes[self->table[at]], node)) {
      return self->table[at];
    }
  }
  if (self->n_nodes >= YOKE_GRAPH_MAX_NODES) {
    return 0;
  }
  if (!make_room(self)) {
    self->is_out_of_memory = true;
    return 0;
  }
  self->nodes[self->n_nodes] = *node;
  insert(self, self->n_nodes);
  return self->n_nodes++;
}

uint32_t yoke__graph_number(yoke_compiler* self, double number) {
  const yoke_graph_node node = {.code = YOKE_OP_NUMBER, .number = number};
  return intern(self, &node);
}

uint32_t yoke__graph_live(yoke_compiler* self, yoke_live live) {
  const yoke_graph_node node = {.code = YOKE_OP_LIVE, .live = live};
  return intern(self, &node);
}

static bool is_number(const yoke_compiler* self, uint32_t node) {
  return self->nodes[node].code == YOKE_OP_NUMBER && self->nodes[node].error == NULL;
}

static bool is_this_number(const yoke_compiler* self, uint32_t node, double number) {
  return is_number(self, node) && self->nodes[node].number == number;
}

// Why an operation on finite numbers gave none.
static const char* reason_of(yoke_operation_code code, double a, double b) {
  switch (code) {
  case YOKE_OP_DIV:
    return b == 0.0 ? "division by zero" : "the result of a division is too large";
  case YOKE_OP_LOG:
  case YOKE_OP_LOG10:
    return a == 0.0 ? "logarithm of zero" : "logarithm of a negative number";
  case YOKE_OP_SQRT:
    return "square root of a negative number";
  case YOKE_OP_ASIN:
  case YOKE_OP_ACOS:
    return "asin or acos of a number beyond -1 .. 1";
  case YOKE_OP_POW:
    return a == 0.0 ? "zero to a negative power" : "the result of a power is too large";
  case YOKE_OP_EXP:
  case YOKE_OP_SINH:
  case YOKE_OP_COSH:
    return "the result of an exponential is too large";
  default:
    return "the result is too large for a number";
  }
}

static uint32_t fold(yoke_compiler* self, yoke_operation_code code, uint32_t a, uint32_t b,
                     uint32_t c) {
  const double x = self->nodes[a].number, y = self->nodes[b].number;
  const double result = yoke__operation_apply(code, x, y, self->nodes[c].number);
  if (yoke__is_finite(result)) {
    return yoke__graph_number(self, result);
  }
  const yoke_graph_node node = {.code = YOKE_OP_NUMBER, .error = reason_of(code, x, y)};
  return intern(self, &node);
}

// x + 0, x - 0, x * 1, x / 1 and their mirror images
static uint32_t simplify(const yoke_compiler* self, yoke_operation_code code, uint32_t a,
                         uint32_t b) {
  const bool is_sum = code == YOKE_OP_ADD || code == YOKE_OP_SUB;
  const bool is_product = code == YOKE_OP_MUL || code == YOKE_OP_DIV;
  if ((is_sum && is_this_number(self, b, 0.0)) || (is_product && is_this_number(self, b, 1.0))) {
    return a;
  }
  if ((code == YOKE_OP_ADD && is_this_number(self, a, 0.0)) ||
      (code == YOKE_OP_MUL && is_this_number(self, a, 1.0))) {
    return b;
  }
  return UINT32_MAX;
}

uint32_t yoke__graph_make(yoke_compiler* self, yoke_operation_code code, uint32_t a, uint32_t b,
                          uint32_t c) {
  // operands that are not used point to the first, so that equal operations are equal nodes
  const int n = yoke__operation_n_operands(code);
  b = n > 1 ? b : a;
  c = n > 2 ? c : a;

  // a constant condition drops the other branch with its errors; else errors spread
  if (code == YOKE_OP_SELECT && is_number(self, a)) {
    return self->nodes[a].number != 0.0 ? b : c;
  }
  const uint32_t operands[] = {a, b, c};
  bool is_constant = true;

  // an error in an operand is the result, the first one that is met
  for (size_t i = 0; i < YOKE_COUNT(operands); i++) {
    if (self->nodes[operands[i]].error != NULL) {
      return operands[i];
    }
    is_constant = is_constant && is_number(self, operands[i]);
  }

  // constant operands: evaluated now
  if (is_constant) {
    return fold(self, code, a, b, c);
  }
  const uint32_t simple = simplify(self, code, a, b);
  if (simple != UINT32_MAX) {
    return simple;
  }
  const yoke_graph_node node = {.code = code, .a = a, .b = b, .c = c};
  return intern(self, &node);
}

// A compiled law as part of a larger expression: its operations are replayed on nodes.
uint32_t yoke__graph_law(yoke_compiler* self, const yoke_expression* law) {
  uint32_t stack[YOKE_EXPRESSION_MAX_DEPTH + 1] = {0}, kept[YOKE_EXPRESSION_MAX_KEPT] = {0};
  int top = -1;
  for (uint32_t i = 0; i < law->n_operations; i++) {
    const yoke_operation* op = &law->operations[i];
    switch (op->code) {
    case YOKE_OP_NUMBER:
      stack[++top] = yoke__graph_number(self, op->number);
      break;
    case YOKE_OP_LIVE:
      stack[++top] = yoke__graph_live(self, law->live[op->index]);
      break;
    case YOKE_OP_KEEP:
      kept[op->index] = stack[top];
      break;
    case YOKE_OP_AGAIN:
      stack[++top] = kept[op->index];
      break;
    default: {
      const int n = yoke__operation_n_operands(op->code);
      top -= n - 1;
      stack[top] = yoke__graph_make(self, op->code, stack[top], n > 1 ? stack[top + 1] : 0,
                                    n > 2 ? stack[top + 2] : 0);
    }
    }
  }
  return top >= 0 ? stack[0] : 0;
}
