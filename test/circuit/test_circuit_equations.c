// Equations in full coordinates: sizes (CI-01), rank (CI-02), derivatives of every kind of element
// (CI-03), names.
#include "circuit/equations/circuit_equations.h"

#include "circuit/network/circuit_build.h"
#include "linalg/linalg_dense.h"
#include "support/check.h"
#include "support/circuits.h"

typedef struct fixture {
  yoke_network* network;
  yoke_arena arena;
  yoke_signals* signals;
  yoke_equations* equations;
  bool* is_closed;
  uint32_t n, m, p, nnz;
} fixture;

static fixture open_equations(yoke_network* network, double gmin) {
  fixture f = {.network = network};
  check_ok(yoke__signals_create(network, &f.arena, &f.signals));
  f.is_closed = yoke__arena_array(&f.arena, network->n_elements, sizeof(bool));
  check_ok(yoke__equations_create(network, f.signals, f.is_closed, gmin, &f.arena, &f.equations));
  f.n = f.equations->n;
  f.m = f.equations->m;
  f.p = f.equations->p;
  const yoke_sparse_pattern* pattern = &f.equations->J;
  f.nnz = (uint32_t)pattern->starts[pattern->n];
  return f;
}

static void close_equations(fixture* f) {
  yoke__arena_free(&f->arena);
  yoke__network_destroy(&f->network);
}

static double* reals(fixture* f, size_t n) {
  double* block = yoke__arena_array(&f->arena, n, sizeof(double));
  assert_non_null(block);
  return block;
}

static void check_sizes(yoke_network* network, uint32_t n, uint32_t m, uint32_t p, uint32_t nnz) {
  fixture f = open_equations(network, 0);
  int32_t rank = 0;
  assert_int_equal(f.n, n);
  assert_int_equal(f.m, m);
  assert_int_equal(f.p, p);
  if (nnz > 0) {
    assert_int_equal(f.nnz, nnz);
  }
  check_ok(yoke__sparse_structural_rank(&f.equations->J, &rank, NULL));
  assert_int_equal(rank, n);
  close_equations(&f);
}

// CI-01 and the numbers of entries of 4.2
static void test_sizes_CI_01(void** state) {
  (void)state;
  static const uint32_t loops[] = {1, 2, 10, 5000};
  check_sizes(circuits_rlc(), 8, 5, 3, 21);
  for (int i = 0; i < 4; i++) {
    const uint32_t N = loops[i];
    check_sizes(circuits_ladder(N), 3 + 5 * N, 3 + 3 * N, 2 * N, 14 * N + 4);
  }
  check_sizes(circuits_rectifier(), 20, 19, 1, 52);
  check_sizes(circuits_pmsm(true), 49, 40, 9, 136);
  check_sizes(circuits_chain(), 10, 8, 2, 0);
}

// dense copy of a sparse matrix, row by row
static double* dense_of(fixture* f, const yoke_sparse_pattern* pattern, const double values[]) {
  double* A = reals(f, (size_t)f->n * f->n);
  for (int32_t j = 0; j < pattern->n; j++) {
    for (int32_t k = pattern->starts[j]; k < pattern->starts[j + 1]; k++) {
      A[(uint32_t)pattern->rows[k] * f->n + (uint32_t)j] += values[k];
    }
  }
  return A;
}

static size_t rank_of(fixture* f, double* A) {
  return yoke__least_squares(f->n, f->n, A, reals(f, f->n), reals(f, f->n), 1e-12,
                             reals(f, 2 * (size_t)f->n));
}

// CI-02: Ahat of the parallel capacitors has rank 7 of 8, J is regular
static void test_rank_CI_02(void** state) {
  (void)state;
  fixture f = open_equations(circuits_rlc(), 0);
  double *x = reals(&f, f.n), *values = reals(&f, f.nnz), *rhs = reals(&f, f.n);
  yoke__signals_update_rates(f.signals, 0);
  yoke__equations_derivatives(f.equations, x, NULL, values, rhs);
  const yoke_sparse_pattern* ahat = &f.equations->Ahat;
  assert_int_equal(rank_of(&f, dense_of(&f, ahat, values)), 7);
  yoke__equations_evaluate(f.equations, x, 800, NULL, NULL, rhs, values);
  const yoke_sparse_pattern* J = &f.equations->J;
  assert_int_equal(rank_of(&f, dense_of(&f, J, values)), 8);
  close_equations(&f);
}

// ------------------------------------------------------------------------------------------
// CI-03: one network with every kind of element, laws of voltages, currents, time and an input
// included

static uint32_t add_law(yoke_network* network, yoke_element_kind kind, const char* name,
                        const char* a, const char* b, const char* law) {
  const uint32_t e = circuits_add_constant(network, kind, name, a, b, 1);
  network->elements[e].value = (yoke_circuit_value){.law = circuits_law(network, law)};
  return e;
}

static void add_controlled(yoke_network* network, yoke_element_kind kind, const char* name,
                           const char* a, const char* b, double value, uint32_t c, uint32_t d) {
  const uint32_t e = circuits_add_constant(network, kind, name, a, b, value);
  if (kind == YOKE_VCVS || kind == YOKE_VCCS) {
    network->elements[e].c = c;
    network->elements[e].d = d;
  } else {
    network->elements[e].control = c;
  }
}

static const yoke_junction_model plain_junction = {
    .is = 1e-12, .n = 1.2, .bv = (double)INFINITY, .ibv = 1e-3, .vt = 0.02585};
static const yoke_junction_model charged_junction = {.is = 1e-12,
                                                     .n = 1.2,
                                                     .bv = (double)INFINITY,
                                                     .ibv = 1e-3,
                                                     .vt = 0.02585,
                                                     .cjo = 1e-9,
                                                     .vj = 0.7,
                                                     .m = 0.4,
                                                     .fc = 0.5,
                                                     .tt = 1e-8};
static const yoke_switch_model switch_model = {.r_on = 0.1, .r_off = 1e3, .threshold = 1};

static void add_switch(yoke_network* network, const char* name, const char* a, const char* b) {
  const uint32_t e = circuits_add_constant(network, YOKE_SWITCH, name, a, b, 0);
  network->elements[e].switching = &switch_model;
}

static yoke_network* every_kind(void) {
  yoke_network* network = NULL;
  const yoke_place nowhere = {NULL, 0, 0};
  check_ok(yoke__network_create("every kind", &network));
  yoke__network_add_input(network, &(yoke_circuit_input){.name = "u", .dim = "V", .start = 0.4});
  circuits_add_sine(network, YOKE_VOLTAGE, "V1", "1", "0", 0, 3, 50);
  circuits_add_constant(network, YOKE_RESISTOR, "R1", "1", "2", 5);
  const uint32_t n1 = yoke__network_find_node(network, "1");
  const uint32_t n2 = yoke__network_find_node(network, "2");
  const uint32_t r1 = yoke__network_find_element(network, "R1");
  circuits_add_constant(network, YOKE_CAPACITOR, "C1", "2", "3", 1e-3);
  circuits_add_constant(network, YOKE_INDUCTOR, "L1", "3", "0", 0.2);
  circuits_add_constant(network, YOKE_INDUCTOR, "L2", "4", "0", 0.3);
  circuits_add_sine(network, YOKE_CURRENT, "I1", "0", "4", 0, 2, 50);
  add_controlled(network, YOKE_VCVS, "E1", "5", "0", 3, n1, n2);
  add_controlled(network, YOKE_VCCS, "G1", "5", "2", 0.3, n1, n2);
  add_controlled(network, YOKE_CCVS, "H1", "6", "0", 2, r1, 0);
  add_controlled(network, YOKE_CCCS, "F1", "6", "4", 0.7, r1, 0);
  char text[4][96];
  snprintf(text[0], 96, "2 v%u v%u * 0.1 * + t + u0 +", n1, n2);
  snprintf(text[1], 96, "1e-3 1 0.2 v%u * + *", n2);
  snprintf(text[2], 96, "0.5 1 0.3 i%u i%u * * + * u0 +", r1, r1);
  snprintf(text[3], 96, "v%u sin i%u + u0 t * +", n2, r1);
  add_law(network, YOKE_RESISTOR, "R2", "2", "4", text[0]);
  add_law(network, YOKE_CAPACITOR, "C2", "4", "0", text[1]);
  add_law(network, YOKE_INDUCTOR, "L3", "3", "4", text[2]);
  add_law(network, YOKE_VOLTAGE, "V2", "7", "0", text[3]);
  add_law(network, YOKE_CURRENT, "I2", "2", "0", text[3]);
  add_law(network, YOKE_RESISTOR, "R4", "7", "2", "4 t 10 * sin + u0 +");
  yoke__network_add_mutual(network,
                           &(yoke_mutual){"K1", yoke__network_find_element(network, "L1"),
                                          yoke__network_find_element(network, "L2"), 0.8, nowhere});
  yoke__network_add_mutual(network,
                           &(yoke_mutual){"K2", yoke__network_find_element(network, "L1"),
                                          yoke__network_find_element(network, "L3"), 0.5, nowhere});
  yoke__network_add_diode(network, "D1", n1, n2, &plain_junction, 0.5, nowhere);
  yoke__network_add_diode(network, "D2", n2, n1, &charged_junction, 0, nowhere);
  add_switch(network, "S1", "2", "0");
  add_switch(network, "S2", "4", "0");
  return network;
}

static fixture open_every_kind(double** x, double** c) {
  fixture f = open_equations(every_kind(), 1e-12);
  f.is_closed[yoke__network_find_element(f.network, "S1")] = true;
  f.signals->u[0] = 0.4;
  f.signals->du[0] = 0.9;
  *x = reals(&f, f.n);
  *c = reals(&f, f.n);
  for (uint32_t j = 0; j < f.n; j++) {
    (*x)[j] = 0.3 * sin(1.0 + j);
    (*c)[j] = 0.2 * cos(2.0 * j);
  }
  yoke__signals_update_rates(f.signals, 0.013);
  return f;
}

// largest difference of a column of J to the difference quotient, relative to the largest entry of
// the row
static double column_error(fixture* f, double x[], const double c[], double a0,
                           const double v_limited[], uint32_t j, const double J[],
                           const double row_size[]) {
  double *high = reals(f, f->n), *low = reals(f, f->n);
  const double d = 1e-6, at = x[j];
  x[j] = at + d;
  yoke__equations_evaluate(f->equations, x, a0, c, v_limited, high, NULL);
  x[j] = at - d;
  yoke__equations_evaluate(f->equations, x, a0, c, v_limited, low, NULL);
  x[j] = at;
  double most = 0;
  for (uint32_t i = 0; i < f->n; i++) {
    const double error = fabs((high[i] - low[i]) / (2 * d) - J[i * f->n + j]) / (1 + row_size[i]);
    most = error > most ? error : most;
  }
  return most;
}

static double jacobian_error(fixture* f, double x[], const double c[], double a0,
                             const double v_limited[]) {
  double *values = reals(f, f->nnz), *rhs = reals(f, f->n), *size = reals(f, f->n);
  yoke__equations_evaluate(f->equations, x, a0, c, v_limited, rhs, values);
  const double* J = dense_of(f, &f->equations->J, values);
  for (uint32_t i = 0; i < f->n; i++) {
    for (uint32_t j = 0; j < f->n; j++) {
      size[i] = fmax(size[i], fabs(J[i * f->n + j]));
    }
  }
  double most = 0;
  for (uint32_t j = 0; j < f->n; j++) {
    most = fmax(most, column_error(f, x, c, a0, v_limited, j, J, size));
  }
  return most;
}

static void test_jacobian_CI_03(void** state) {
  (void)state;
  double *x = NULL, *c = NULL;
  fixture f = open_every_kind(&x, &c);
  const double error = jacobian_error(&f, x, c, 20, NULL);
  print_message("J against central differences: %.2g\n", error);
  check_between(error, 0, 1e-6);
  // switches the other way round
  f.is_closed[yoke__network_find_element(f.network, "S1")] = false;
  f.is_closed[yoke__network_find_element(f.network, "S2")] = true;
  check_between(jacobian_error(&f, x, c, 500, NULL), 0, 1e-6);
  // junctions evaluated elsewhere
  double* v = reals(&f, f.network->n_elements);
  for (uint32_t e = 0; e < f.network->n_elements; e++) {
    v[e] = 0.35;
  }
  check_between(jacobian_error(&f, x, c, 20, v), 0, 1e-6);
  close_equations(&f);
}

// Ahat xdot + bhat is the derivative of Phi along a line in x and t, and A xdot + b.
static void test_time_derivatives(void** state) {
  (void)state;
  double *x = NULL, *c = NULL;
  fixture f = open_every_kind(&x, &c);
  double *ahat = reals(&f, f.nnz), *bhat = reals(&f, f.n), *got = reals(&f, f.n);
  double *high = reals(&f, f.n), *low = reals(&f, f.n), *moved = reals(&f, f.n);
  const double t = 0.013, d = 1e-6;
  yoke__equations_derivatives(f.equations, x, NULL, ahat, bhat);
  yoke__sparse_mul(&f.equations->Ahat, ahat, c, got);
  for (int side = 0; side < 2; side++) {
    for (uint32_t j = 0; j < f.n; j++) {
      moved[j] = x[j] + (side == 0 ? d : -d) * c[j];
    }
    yoke__signals_update(f.signals, side == 0 ? t + d : t - d);
    yoke__equations_evaluate(f.equations, moved, 0, c, NULL, side == 0 ? high : low, NULL);
  }
  yoke__signals_update(f.signals, t);
  double* here = moved;
  yoke__equations_evaluate(f.equations, x, 0, c, NULL, here, NULL);
  for (uint32_t i = 0; i < f.n; i++) {
    const double want = i < f.m ? (high[i] - low[i]) / (2 * d) : here[i];
    check_near(got[i] + bhat[i], want, 1e-6 * (1 + fabs(want)));
  }
  close_equations(&f);
}

static void test_input_derivatives(void** state) {
  (void)state;
  double *x = NULL, *c = NULL;
  fixture f = open_every_kind(&x, &c);
  double *f_u = reals(&f, f.n), *high = reals(&f, f.n), *low = reals(&f, f.n);
  const double d = 1e-5;
  yoke__equations_input(f.equations, x, 20, c, 0, f_u);
  f.signals->u[0] = 0.4 + d;
  yoke__signals_update(f.signals, 0.013);
  yoke__equations_evaluate(f.equations, x, 20, c, NULL, high, NULL);
  f.signals->u[0] = 0.4 - d;
  yoke__signals_update(f.signals, 0.013);
  yoke__equations_evaluate(f.equations, x, 20, c, NULL, low, NULL);
  double sum = 0;
  for (uint32_t i = 0; i < f.n; i++) {
    check_near(f_u[i], (high[i] - low[i]) / (2 * d), 1e-7 * (1 + fabs(f_u[i])));
    sum += fabs(f_u[i]);
  }
  print_message("sum of |df/du| %.3g\n", sum);
  assert_true(sum > 0.1);
  close_equations(&f);
}

// the limited voltage moves towards the one wanted and says so
static void test_limiting(void** state) {
  (void)state;
  double *x = NULL, *c = NULL;
  fixture f = open_every_kind(&x, &c);
  double* v = reals(&f, f.network->n_elements);
  const uint32_t d1 = yoke__network_find_element(f.network, "D1");
  yoke__equations_unlimit(f.equations, x, v);
  assert_false(yoke__equations_limit(f.equations, x, v));
  v[d1] = 0.6;
  x[f.network->elements[d1].a] = x[f.network->elements[d1].b] + 5;
  assert_true(yoke__equations_limit(f.equations, x, v));
  check_between(v[d1], 0.6, 1);
  close_equations(&f);
}

static void test_names(void** state) {
  (void)state;
  fixture f = open_equations(circuits_rlc(), 0);
  char name[64];
  yoke__equations_name(f.equations, yoke__network_find_node(f.network, "3"), name, sizeof name);
  assert_string_equal(name, "v(3)");
  yoke__equations_name(f.equations,
                       f.network->n_nodes + yoke__network_find_element(f.network, "C2"), name,
                       sizeof name);
  assert_string_equal(name, "i(C2)");
  yoke__equations_row_name(f.equations, 0, name, sizeof name);
  assert_string_equal(name, "node 0");
  yoke__equations_row_name(f.equations, 2, name, sizeof name);
  assert_string_equal(name, "element R1");
  yoke__equations_row_name(f.equations, 4, name, sizeof name);
  assert_string_equal(name, "node 3");
  yoke__equations_row_name(f.equations, 7, name, sizeof name);
  assert_string_equal(name, "element C2");
  close_equations(&f);
}

static void test_kinds_of_change(void** state) {
  (void)state;
  fixture f = open_equations(circuits_rlc(), 0);
  assert_true(f.equations->is_linear && f.equations->is_constant);
  close_equations(&f);
  f = open_equations(circuits_pmsm(true), 0);
  assert_false(f.equations->is_linear);
  assert_false(f.equations->n_junctions > 0);
  close_equations(&f);
  f = open_equations(every_kind(), 0);
  assert_true(f.equations->n_junctions > 0);
  assert_false(f.equations->is_constant);
  close_equations(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sizes_CI_01),
      cmocka_unit_test(test_rank_CI_02),
      cmocka_unit_test(test_jacobian_CI_03),
      cmocka_unit_test(test_time_derivatives),
      cmocka_unit_test(test_input_derivatives),
      cmocka_unit_test(test_limiting),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_kinds_of_change),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
