// Reference solutions of the oscillators and pendula against their published numbers (CS-01,
// CS-02).
#include "support/check.h"
#include "support/mechanics_whole.h"
#include "support/reference_solve.h"

// CS-01: linear oscillators by the matrix exponential; printed to 10 digits
static void test_linear_oscillator_cs01(void** state) {
  (void)state;
  // clang-format off
  static const struct {
    const whole_oscillator* o;
    double t, x[4], E;
  } rows[] = {
    {&whole_lo1, 0.1, {7.436495427, 37.45080581, 1.367434362, 111.7640172}, 10000},
    {&whole_lo1, 1, {-4.538448864, -78.29730964, -3.577411339, 27.80872025}, 10000},
    {&whole_lo1, 5, {-2.363759704, 75.12986640, 0.0238602051, 117.1707616}, 10000},
    {&whole_lo1, 10, {-4.460797486, 87.59606084, -0.9649328391, -99.87362333}, 10000},
    {&whole_lo2, 0.1, {7.352959497, 36.64655760, 1.365264559, 110.3065007}, 9750.1754},
    {&whole_lo2, 1, {-4.145315055, -71.51337932, -3.217484241, 25.34467515}, 8183.3221},
    {&whole_lo2, 5, {-1.528089570, 48.64355711, 0.004589650, 68.15527257}, 3634.8095},
    {&whole_lo2, 10, {-1.827440178, 34.85083590, -0.351746295, -32.67971037}, 1328.7162},
  };
  // clang-format on
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    double x[4];
    memcpy(x, whole_oscillator_start, sizeof x);
    whole_oscillator_exact(rows[i].o, rows[i].t, x);
    for (int j = 0; j < 4; j++) {
      // half of the last printed digit comes on top (1e-9 for the smallest numbers, 1e-4 J)
      check_near(x[j], rows[i].x[j], 1e-8 * fabs(rows[i].x[j]) + 5e-10);
    }
    check_near(whole_oscillator_energy(rows[i].o, x), rows[i].E, 1e-8 * rows[i].E + 5e-5);
  }
}

// monolithic semi-implicit Euler at 10 s: ratio of energies and largest error of eta2
static void test_monolithic_semi_implicit_euler(void** state) {
  (void)state;
  static const struct {
    double h, ratio, error, tolerance_ratio, tolerance_error;
  } rows[] = {{1e-3, 1.0017, 0.0501, 5e-5, 5e-5}, {5e-3, 1.038, 1.249, 5e-4, 5e-4}};
  for (int i = 0; i < 2; i++) {
    double x[4];
    double worst = 0.0;
    memcpy(x, whole_oscillator_start, sizeof x);
    const int n = (int)lround(10.0 / rows[i].h);
    for (int k = 1; k <= n; k++) {
      double exact[4];
      memcpy(exact, whole_oscillator_start, sizeof exact);
      whole_oscillator_sie(&whole_lo1, rows[i].h, 1, x);
      whole_oscillator_exact(&whole_lo1, k * rows[i].h, exact);
      worst = fmax(worst, fabs(x[2] - exact[2]));
    }
    check_near(whole_oscillator_energy(&whole_lo1, x) / 10000.0, rows[i].ratio,
               rows[i].tolerance_ratio);
    check_near(worst, rows[i].error, rows[i].tolerance_error);
  }
}

static void oscillator_rhs(const void* data, double t, const double x[], double dx[]) {
  (void)t;
  whole_oscillator_rhs(data, x, dx);
}

// A spring that passes through zero has an infinite slope there, which no error estimate sees from
// afar: steps shrink in proportion to the time left until that point and grow again behind it. The
// step across lasts 1 ns and moves a velocity wrongly by at most k sqrt(v dt) dt = 3e-10 m/s.
static double root_spring_limit(const void* data, const double x[]) {
  (void)data;
  const double time_left =
      fmin(fmin(fabs(x[0] / x[1]), fabs(x[2] / x[3])), fabs((x[0] - x[2]) / (x[1] - x[3])));
  return fmax(0.25 * time_left, 1e-9);
}

typedef struct nonlinear_row {
  double t, x[4], E;
} nonlinear_row;

// Every number within tolerance * max(1, |x|) as printed; also when the largest step is halved, and
// that changes less than a tenth of the tolerance.
static void check_nonlinear(const whole_oscillator* o, const nonlinear_row rows[], int n_rows,
                            double max_step, double tolerance) {
  reference_problem problem = {.f = oscillator_rhs,
                               .data = o,
                               .n = 4,
                               .rtol = 1e-12,
                               .atol = 1e-12,
                               .limit = o->has_root_springs ? root_spring_limit : NULL};
  double found[2][8][4];
  assert_true(n_rows <= 8);
  for (int half = 0; half < 2; half++) {
    problem.max_step = half == 0 ? max_step : 0.5 * max_step;
    reference_solver* solver = reference_solver_open(&problem, whole_oscillator_start);
    for (int i = 0; i < n_rows; i++) {
      double* x = found[half][i];
      reference_solver_to(solver, rows[i].t, x);
      for (int j = 0; j < 4; j++) {
        // half of the last printed digit (1e-6) comes on top
        check_near(x[j], rows[i].x[j], tolerance * fmax(1.0, fabs(rows[i].x[j])) + 5e-7);
        if (half == 1) {
          check_near(x[j], found[0][i][j], 0.1 * tolerance * fmax(1.0, fabs(x[j])));
        }
      }
      check_near(whole_oscillator_energy(o, x), rows[i].E, tolerance * rows[i].E + 5e-5);
    }
    reference_solver_close(solver);
  }
}

// CS-02: square-root springs; not Lipschitz where a spring is relaxed, tolerance 1e-6
static void test_root_springs_cs02(void** state) {
  (void)state;
  static const nonlinear_row rows[] = {
      {0.1, {8.826148, 72.191055, -1.828150, 80.660914}, 10000},
      {1, {-14.853776, 53.518967, 2.419895, -42.201270}, 10000},
      {5, {15.808109, 16.843606, -3.155741, -19.813419}, 10000},
      {10, {7.592484, -90.036566, -0.927919, 84.300436}, 10000},
  };
  check_nonlinear(&whole_nlo1, rows, 4, 1e-3, 1e-6);
}

// CS-02: quadratic dampers, tolerance 1e-7
static void test_quadratic_dampers_cs02(void** state) {
  (void)state;
  static const nonlinear_row rows[] = {
      {0.1, {7.327418, 36.530969, 1.366079, 109.933430}, 9688.3545},
      {1, {-4.072337, -71.429968, -3.180830, 25.312996}, 8052.9925},
      {5, {-1.615387, 50.801296, 0.007879, 71.673770}, 4003.7786},
      {10, {-2.263580, 43.312667, -0.452101, -42.616090}, 2137.9485},
  };
  check_nonlinear(&whole_nlo2, rows, 4, 1e-3, 1e-7);
}

static void pendula_rhs(const void* data, double t, const double x[], double dx[]) {
  (void)data;
  (void)t;
  whole_pendula_rhs(x, dx);
}

// CS-02: the two pendula, tolerance 1e-7; energy is kept
static void test_pendula_cs02(void** state) {
  (void)state;
  static const struct {
    double t, x[4], x2;
  } rows[] = {
      {0.5, {1.06321289, 0.345006819, -0.407647244, -2.08347617}, 5.612423},
      {1, {0.869739516, -0.601476517, -1.47694135, -1.67214864}, 3.515404},
      {2, {1.46065452, -0.184968114, -0.957316383, 2.03326230}, 4.138227},
      {5, {1.01259745, -0.625153910, -0.246421324, 1.86690160}, 6.146228},
      {10, {0.995352488, 0.587023625, -1.16362561, 2.15164537}, 3.786143},
  };
  reference_problem problem = {.f = pendula_rhs, .n = 4, .rtol = 1e-12, .atol = 1e-12};
  double found[2][5][4];
  for (int half = 0; half < 2; half++) {
    problem.max_step = half == 0 ? 1e-2 : 5e-3;
    reference_solver* solver = reference_solver_open(&problem, whole_pendula_start);
    for (int i = 0; i < 5; i++) {
      double* x = found[half][i];
      reference_solver_to(solver, rows[i].t, x);
      for (int j = 0; j < 4; j++) {
        check_near(x[j], rows[i].x[j], 1e-7);
        if (half == 1) {
          check_near(x[j], found[0][i][j], 1e-9);
        }
      }
      check_near(7.0 + 3.5 * sin(x[2]), rows[i].x2, 1e-7 + 5e-7);
      check_near(whole_pendula_energy(x), 25.806046, 1e-8 * 25.8 + 5e-7);
    }
    reference_solver_close(solver);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_linear_oscillator_cs01),
      cmocka_unit_test(test_monolithic_semi_implicit_euler),
      cmocka_unit_test(test_root_springs_cs02),
      cmocka_unit_test(test_quadratic_dampers_cs02),
      cmocka_unit_test(test_pendula_cs02),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
