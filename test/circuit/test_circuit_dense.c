// A resistor between every two of n nodes: n (n - 1) / 2 elements. In full coordinates that is a
// large sparse matrix whose elimination ends in a full one of n unknowns, so choosing pivots for it
// may take work of the order n^3 like a dense factorisation, and must not take more: some orders
// that are tried fill it almost completely, n^4 / 4 entries.
#include "circuit/circuit_solver.h"
#include "circuit/equations/circuit_equations.h"
#include "linalg/linalg_dense.h"
#include "test_circuit_netlist.h"

#define RESISTANCE(i, j) (100 + (7 * (i) + 13 * (j)) % 97)  // [Ohm], no two rows alike
#define SOURCE           10.0                               // [V] at node 1
#define LOAD             10                                 // [Ohm] at node n

static char* write_graph(int n) {
  const size_t size = 200 + 40 * (size_t)n * (size_t)n;
  char* text = malloc(size);
  assert_non_null(text);
  size_t at = (size_t)snprintf(text, size, "complete graph\nV1 n1 0 %g\n", SOURCE);
  for (int i = 1; i <= n; i++) {
    for (int j = i + 1; j <= n; j++) {
      at += (size_t)snprintf(text + at, size - at, "R%d_%d n%d n%d %d\n", i, j, i, j,
                             RESISTANCE(i, j));
    }
  }
  snprintf(text + at, size - at, "RL n%d 0 %d\n", n, LOAD);
  return text;
}

// Voltages of nodes 1 to n from the conductances, dense with partial pivoting.
static double* solve_dense(int n) {
  const size_t size = (size_t)n;
  double* G = calloc(size * size, sizeof *G);
  double* v = calloc(size, sizeof *v);
  size_t* pivots = calloc(size, sizeof *pivots);
  assert_true(G != NULL && v != NULL && pivots != NULL);
  for (int i = 1; i <= n; i++) {
    for (int j = i + 1; j <= n; j++) {
      const double g = 1.0 / RESISTANCE(i, j);
      const size_t a = (size_t)i - 1, b = (size_t)j - 1;
      G[a * size + a] += g;
      G[b * size + b] += g;
      G[a * size + b] -= g;
      G[b * size + a] -= g;
    }
  }
  G[size * size - 1] += 1.0 / LOAD;
  memset(G, 0, size * sizeof *G);
  G[0] = 1.0;
  v[0] = SOURCE;
  check_ok(yoke__solve(size, G, v, pivots));
  free(G);
  free(pivots);
  return v;
}

// Backward stable solutions of two formulations of one well-conditioned problem (the spread of the
// resistances is 2, the condition of G about n): 8 n eps of the source.
static void check_voltage(const double v[], int n, int i, double got) {
  check_near(got, v[i - 1], 8.0 * n * 2.3e-16 * SOURCE);
}

static uint32_t graph_node(const reading* r, int i) {
  char name[16];
  snprintf(name, sizeof name, "n%d", i);
  return yoke__network_find_node(r->network, name);
}

// The equations of the start, every entry varying as there: solution and operations of the order.
static double factor_tableau(const reading* r, int n, const double v[]) {
  yoke_arena arena = {0};
  yoke_signals* signals = NULL;
  yoke_equations* equations = NULL;
  yoke_sparse* lu = NULL;
  check_ok(yoke__signals_create(r->network, &arena, &signals));
  bool* is_closed = yoke__arena_array(&arena, r->network->n_elements, sizeof(bool));
  check_ok(yoke__equations_create(r->network, signals, is_closed, 0.0, &arena, &equations));
  double* x = yoke__arena_array(&arena, equations->n, sizeof(double));
  double* f = yoke__arena_array(&arena, equations->n, sizeof(double));
  double* J = yoke__arena_array(&arena, equations->nnz, sizeof(double));
  check_ok(yoke__arena_status(&arena));
  yoke__signals_update(signals, 0.0);
  yoke__equations_evaluate(equations, x, 0.0, NULL, NULL, f, J);
  const yoke_sparse_pattern pattern = {
      .n = equations->J.n, .starts = equations->J.starts, .rows = equations->J.rows};
  check_ok(yoke__sparse_create(&pattern, NULL, &arena, &lu));
  check_ok(yoke__sparse_factor(lu, J, NULL));
  yoke__sparse_solve(lu, 0, f);
  for (int i = 1; i <= n; i++) {
    check_voltage(v, n, i, -f[graph_node(r, i)]);
  }
  yoke_sparse_stats stats;
  yoke__sparse_get_stats(lu, &stats);
  yoke__sparse_destroy(&lu);
  yoke__arena_free(&arena);
  return stats.n_order_operations;
}

static void check_circuit(const reading* r, int n, const double v[]) {
  const yoke_circuit_options options = {.step = 1e-3, .is_operating_point = true};
  yoke_messages messages = {0};
  yoke_circuit* circuit = NULL;
  check_ok(yoke__circuit_create(r->network, &options, &messages, &circuit));
  check_ok(yoke__circuit_start(circuit, 0.0, &messages));
  for (int step = 0; step < 3; step++) {
    for (int i = 1; i <= n; i++) {
      check_voltage(v, n, i, yoke__circuit_voltage(circuit, graph_node(r, i)));
    }
    check_ok(yoke__circuit_step(circuit));
  }
  yoke__circuit_destroy(&circuit);
  yoke__messages_free(&messages);
}

// Operations are LIMIT n^3 at most. A dense factorisation takes n^3 / 3; three orders are tried here,
// each eliminated once and merged once, and each may take a little more than the full part alone.
static void test_work_grows_like_a_dense_one(void** state) {
  (void)state;
  static const int sizes[] = {25, 50, 100};
  enum { LIMIT = 8 };
  for (int k = 0; k < 3; k++) {
    const int n = sizes[k];
    char* text = write_graph(n);
    double* v = solve_dense(n);
    reading r;
    read_good(&r, text);
    const double n_operations = factor_tableau(&r, n, v);
    const double cube = (double)n * n * n;
    printf("%d nodes: %.0f operations, %.2f n^3\n", n, n_operations, n_operations / cube);
    check_between(n_operations / cube, 0.3, LIMIT);
    check_circuit(&r, n, v);
    free_reading(&r);
    free(v);
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_work_grows_like_a_dense_one)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
