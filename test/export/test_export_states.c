// States of exported units with their derivatives: what the description lists, what the binary answers, what it refuses.
#include "export/exported.h"

#define SPACE                                                                                      \
  "with: {A: [[0, 1], [-4, -0.2]], B: [[0, 3], [5, 0]], C: [[1, 0], [0, 7]], D: [[0, 0], [0.5, "   \
  "0]], x0: [0.3, -0.1]"

// of state_space: u1, u2, y1, y2, x1, x2, solver, micro_steps, (time), der(x1), der(x2)
enum { U1, U2, Y1, Y2, X1, X2, TIME = 8, DER_X1, DER_X2 };

static int derive(fmu_instance* f, const uint32_t unknowns[], size_t n_unknowns,
                  const uint32_t knowns[], size_t n_knowns, const double seed[], double out[]) {
  const yoke_fmi_binary* b = f->from->binary;
  return f->from->job.fmi == 2
             ? (int)b->f2.GetDirectionalDerivative(f->c, unknowns, n_unknowns, knowns, n_knowns,
                                                   seed, out)
             : (int)b->f3.GetDirectionalDerivative(f->c, unknowns, n_unknowns, knowns, n_knowns,
                                                   seed, n_knowns, out, n_unknowns);
}

static int read(fmu_instance* f, uint32_t reference, double* value) {
  const yoke_fmi_binary* b = f->from->binary;
  return f->from->job.fmi == 2 ? (int)b->f2.GetReal(f->c, &reference, 1, value)
                               : (int)b->f3.GetFloat64(f->c, &reference, 1, value, 1);
}

static void start(fmu_instance* f, const double u[2]) {
  assert_int_equal(fmu_enter(f, 0), FMU_OK);
  assert_int_equal(fmu_exit(f), FMU_OK);
  assert_int_equal(fmu_set_reals(f, U1, &u[0], 1), FMU_OK);
  assert_int_equal(fmu_set_reals(f, U2, &u[1], 1), FMU_OK);
}

static void states_are_listed(void** state) {
  (void)state;
  for (int fmi = 2; fmi <= 3; fmi++) {
    exported e;
    // an output that has the name of a derivative already
    exported_open(&e, "state_space", SPACE ", outputs: [\"der(x1)\", y2]}", fmi);
    const yoke_fmi_description* d = e.package->description;
    assert_int_equal(d->states_derivatives.n, 2);
    static const char* const names[] = {"der(x1)_", "der(x2)"};
    static const char* const of[] = {"x1", "x2"};
    for (size_t i = 0; i < 2; i++) {
      const yoke_fmi_variable* v = &d->variables[d->states_derivatives.items[i].variable];
      assert_string_equal(v->name, names[i]);
      assert_string_equal(d->variables[v->derivative_of - 1].name, of[i]);
      assert_int_equal(v->reference, DER_X1 + i);
    }
    // inputs of the feedthrough and all states; the derivatives may depend on everything
    assert_int_equal(d->outputs.items[0].n, 2);
    assert_int_equal(d->outputs.items[1].n, 3);
    assert_false(d->states_derivatives.items[0].has_dependencies);
    exported_close(&e);
  }
}

// the derivative of a state in m/s is in m/s2
static void derivatives_have_dimensions(void** state) {
  (void)state;
  for (int fmi = 2; fmi <= 3; fmi++) {
    exported e;
    exported_open(&e, "oscillator.force", "", fmi);
    const yoke_fmi_description* d = e.package->description;
    assert_string_equal(d->variables[yoke__fmi_find(d, "der(x)")].unit, "m/s");
    assert_string_equal(d->variables[yoke__fmi_find(d, "der(v)")].unit, "m/s2");
    exported_close(&e);
  }
}

// without a linear model, or without rates, nothing is listed
static void other_units_list_none(void** state) {
  (void)state;
  static const struct {
    const char *model, *settings;
  } cases[] = {{"crane.arm", ""}, {"meter", "with: {n: 2, window: 0.05}"}, {"gain", ""}};
  for (size_t i = 0; i < YOKE_COUNT(cases); i++) {
    for (int fmi = 2; fmi <= 3; fmi++) {
      exported e;
      exported_open(&e, cases[i].model, cases[i].settings, fmi);
      assert_int_equal(e.package->description->states_derivatives.n, 0);
      exported_close(&e);
    }
  }
}

// x' = A x + B u as values, at the start, with new inputs, after a step, after going back and after a reset
static void derivatives_have_values(void** state) {
  (void)state;
  for (int fmi = 2; fmi <= 3; fmi++) {
    exported e;
    fmu_instance f;
    void* saved = NULL;
    double x1 = 0, x2 = 0, dx[2] = {0, 0};
    exported_open(&e, "state_space", SPACE "}", fmi);
    fmu_open(&f, &e);
    for (int pass = 0; pass < 2; pass++) {
      start(&f, (double[]){2, 1});
      assert_int_equal(read(&f, DER_X1, &dx[0]), FMU_OK);
      assert_int_equal(read(&f, DER_X2, &dx[1]), FMU_OK);
      check_near(dx[0], -0.1 + 3.0, 1e-15);
      check_near(dx[1], -4 * 0.3 + 0.2 * 0.1 + 5 * 2.0, 1e-15);
      assert_int_equal(fmu_get_state(&f, &saved), FMU_OK);
      assert_int_equal(fmu_step(&f, 0, 0.1), FMU_OK);
      assert_int_equal(read(&f, X1, &x1), FMU_OK);
      assert_int_equal(read(&f, X2, &x2), FMU_OK);
      assert_int_equal(read(&f, DER_X2, &dx[1]), FMU_OK);
      assert_true(x1 != 0.3);
      check_near(dx[1], -4 * x1 - 0.2 * x2 + 5 * 2.0, 1e-14);
      assert_int_equal(fmu_set_state(&f, saved), FMU_OK);
      assert_int_equal(read(&f, DER_X1, &dx[0]), FMU_OK);
      check_near(dx[0], -0.1 + 3.0, 1e-15);
      assert_int_equal(fmu_free_state(&f, &saved), FMU_OK);
      assert_int_equal(fmu_reset(&f), FMU_OK);
    }
    assert_int_equal(f.n_messages, 0);
    fmu_close(&f);
    exported_close(&e);
  }
}

// rows of A, B and of C, D in one question, in any order and twice
static void rows_may_be_mixed(void** state) {
  (void)state;
  static const uint32_t unknowns[] = {Y2, DER_X2, Y1, DER_X1, Y2, DER_X2};
  static const uint32_t knowns[] = {U2, X1, X2, U1};
  static const double seed[] = {2, -1, 0.5, 10};
  static const double want[] = {7 * 0.5 + 0.5 * 10, 4.0 - 0.2 * 0.5 + 5 * 10, -1, 0.5 + 3 * 2,
                                7 * 0.5 + 0.5 * 10, 4.0 - 0.2 * 0.5 + 5 * 10};
  for (int fmi = 2; fmi <= 3; fmi++) {
    exported e;
    fmu_instance f;
    double out[6] = {0};
    exported_open(&e, "state_space", SPACE "}", fmi);
    fmu_open(&f, &e);
    start(&f, (double[]){0, 0});
    assert_int_equal(derive(&f, unknowns, 6, knowns, 4, seed, out), FMU_OK);
    for (size_t i = 0; i < 6; i++) {
      check_near(out[i], want[i], 1e-13);
    }
    fmu_close(&f);
    exported_close(&e);
  }
}

static void wrong_questions_are_refused(void** state) {
  (void)state;
  for (int fmi = 2; fmi <= 3; fmi++) {
    exported e;
    fmu_instance f;
    double value = 1, out[32];
    const double seed[32] = {1};
    exported_open(&e, "state_space", SPACE "}", fmi);
    fmu_open(&f, &e);
    assert_int_equal(read(&f, DER_X1, &value), FMU_ERROR);
    check_contains(f.log, "no value before the initialisation");
    assert_int_equal(fmu_set_reals(&f, DER_X1, &value, 1), FMU_ERROR);
    check_contains(f.log, "'der(x1)' cannot be set");
    start(&f, (double[]){0, 0});
    assert_int_equal(fmu_set_reals(&f, DER_X2, &value, 1), FMU_ERROR);
    assert_int_equal(read(&f, DER_X2 + 1, &value), FMU_ERROR);
    check_contains(f.log, "no value reference 11");
    assert_int_equal(read(&f, TIME, &value), fmi == 2 ? FMU_ERROR : FMU_OK);
    // the derivative of a state is no known, the state itself no unknown, the time neither
    f.log[0] = '\0';
    assert_int_equal(derive(&f, (uint32_t[]){Y1}, 1, (uint32_t[]){DER_X1}, 1, seed, out),
                     FMU_ERROR);
    check_contains(f.log, "not of these variables");
    assert_int_equal(derive(&f, (uint32_t[]){DER_X1}, 1, (uint32_t[]){Y1}, 1, seed, out),
                     FMU_ERROR);
    assert_int_equal(derive(&f, (uint32_t[]){X1}, 1, (uint32_t[]){U1}, 1, seed, out), FMU_ERROR);
    assert_int_equal(derive(&f, (uint32_t[]){TIME}, 1, (uint32_t[]){U1}, 1, seed, out), FMU_ERROR);
    uint32_t many[32] = {0};
    assert_int_equal(derive(&f, (uint32_t[]){DER_X1}, 1, many, 32, seed, out), FMU_ERROR);
    check_contains(f.log, "more variables than there are");
    // refused, not broken
    assert_int_equal(derive(&f, (uint32_t[]){DER_X1}, 1, (uint32_t[]){X2}, 1, seed, out), FMU_OK);
    assert_true(out[0] == 1);
    fmu_close(&f);
    exported_close(&e);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(states_are_listed),     cmocka_unit_test(derivatives_have_dimensions),
      cmocka_unit_test(other_units_list_none), cmocka_unit_test(derivatives_have_values),
      cmocka_unit_test(rows_may_be_mixed),     cmocka_unit_test(wrong_questions_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
