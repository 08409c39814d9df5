// The graph of an expression as a list of operations for a stack, in the order of a walk that
// visits operands first. A node that is used several times is kept when it is computed and pushed
// again later. No recursion: the walk has its own stack, as long as the graph is deep.
#include <stdio.h>

#include "circuit/expression/circuit_expression_compile.h"

#define MAX_OPERATIONS 20000u
#define NOT_KEPT       UINT32_MAX

typedef struct walk {
  yoke_compiler* compiler;
  uint32_t* n_uses;  // of each node, in the part below the root
  uint32_t* place;   // where it is kept, NOT_KEPT if it is not
  uint32_t* stack;   // nodes on the way down
  uint8_t* next;     // operand to visit next, of each entry of the stack
  uint32_t n_kept;
  int depth;
} walk;

static bool refuse(yoke_compiler* self, const char* text) {
  snprintf(self->reason, sizeof self->reason, "%s", text);
  return false;
}

static uint32_t operand(const yoke_graph_node* node, int i) {
  return i == 0 ? node->a : i == 1 ? node->b : node->c;
}

// Nodes come after their operands, so one pass from the root downwards counts all uses.
static void count_uses(walk* w, uint32_t root) {
  const yoke_graph_node* nodes = w->compiler->nodes;
  w->n_uses[root] = 1;
  for (uint32_t i = root + 1; i-- > 0;) {
    w->place[i] = NOT_KEPT;
    for (int j = 0; w->n_uses[i] > 0 && j < yoke__operation_n_operands(nodes[i].code); j++) {
      w->n_uses[operand(&nodes[i], j)]++;
    }
  }
}

static bool put(walk* w, yoke_operation_code code, uint32_t index, double number) {
  yoke_compiler* self = w->compiler;
  if (self->n_operations >= MAX_OPERATIONS) {
    return refuse(self, "the expression is too large");
  }
  const yoke_operation operation = {code, index, number};
  if (!yoke__append(&self->operations, &self->n_operations, &self->max_operations, sizeof operation,
                    &operation)) {
    self->is_out_of_memory = true;
    return false;
  }

  // depth of the stack of numbers when the list is run
  w->depth += code == YOKE_OP_KEEP ? 0 : 1 - yoke__operation_n_operands(code);
  if (w->depth > YOKE_EXPRESSION_MAX_DEPTH) {
    return refuse(self, "the expression is nested too deeply");
  }
  return true;
}

static bool put_live(walk* w, yoke_live live) {
  yoke_compiler* self = w->compiler;
  uint32_t i = 0;
  while (i < self->n_live &&
         (self->live[i].kind != live.kind || self->live[i].index != live.index)) {
    i++;
  }
  if (i == YOKE_EXPRESSION_MAX_LIVE) {
    return refuse(self, "more than 16 different voltages, currents and inputs in one expression");
  }
  if (i == self->n_live) {
    self->live[self->n_live++] = live;
  }
  return put(w, YOKE_OP_LIVE, i, 0.0);
}

static bool put_node(walk* w, uint32_t index) {
  const yoke_graph_node* node = &w->compiler->nodes[index];
  if (node->code == YOKE_OP_NUMBER) {
    return put(w, YOKE_OP_NUMBER, 0, node->number);
  }
  if (node->code == YOKE_OP_LIVE) {
    return put_live(w, node->live);
  }
  if (!put(w, node->code, 0, 0.0)) {
    return false;
  }
  if (w->n_uses[index] > 1 && w->n_kept < YOKE_EXPRESSION_MAX_KEPT) {
    w->place[index] = w->n_kept++;
    return put(w, YOKE_OP_KEEP, w->place[index], 0.0);
  }
  return true;
}

static bool visit(walk* w, uint32_t root) {
  size_t n = 0;
  w->stack[n] = root;
  w->next[n++] = 0;
  while (n > 0) {
    const uint32_t index = w->stack[n - 1];
    const yoke_graph_node* node = &w->compiler->nodes[index];
    if (w->place[index] != NOT_KEPT) {
      if (!put(w, YOKE_OP_AGAIN, w->place[index], 0.0)) {
        return false;
      }
      n--;
    } else if (w->next[n - 1] < yoke__operation_n_operands(node->code)) {
      w->stack[n] = operand(node, w->next[n - 1]++);
      w->next[n++] = 0;
    } else {
      if (!put_node(w, index)) {
        return false;
      }
      n--;
    }
  }
  return true;
}

bool yoke__graph_emit(yoke_compiler* self, uint32_t root) {
  self->n_operations = 0;
  self->n_live = 0;

  // the way down is at most as long as there are nodes, since operands come before their users
  const size_t n = (size_t)root + 2;
  yoke_arena arena = {0};
  walk w = {.compiler = self,
            .n_uses = yoke__arena_array(&arena, n, sizeof *w.n_uses),
            .place = yoke__arena_array(&arena, n, sizeof *w.place),
            .stack = yoke__arena_array(&arena, n, sizeof *w.stack),
            .next = yoke__arena_array(&arena, n, sizeof *w.next)};
  bool is_done = false;
  if (yoke__arena_status(&arena) < 0) {
    self->is_out_of_memory = true;
  } else {
    count_uses(&w, root);
    is_done = visit(&w, root);
  }
  yoke__arena_free(&arena);
  return is_done;
}
