// Reference solution of the hydraulic crane against its published numbers (CS-02), and the crane
// units in a hand-written Jacobi loop against that solution (CS-21 and CS-24 in part).
#include "models/crane/crane.h"

#include "support/check.h"
#include "support/mechanics_unit.h"
#include "support/mechanics_whole.h"
#include "support/reference_solve.h"

static void crane_rhs(const void* data, double t, const double x[], double dx[]) {
  const whole_opening* opening = data;
  whole_crane_rhs((*opening)(t), x, dx);
}

static const double m1_breaks[] = {2.0, 2.001, 6.0, 6.002};
static const double m2_breaks[] = {1.0, 8.0, 9.0};
static const whole_opening m1 = whole_crane_m1;
static const whole_opening m2 = whole_crane_m2;

// The crane under a manoeuvre. Pressures count in MPa, so that one absolute tolerance fits all.
static reference_solver* open_reference(const whole_opening* opening, double max_step) {
  const bool is_m1 = opening == &m1;
  const reference_problem problem = {.f = crane_rhs,
                                     .data = opening,
                                     .n = 6,
                                     .is_stiff = true,
                                     .rtol = 1e-11,
                                     .atol = 1e-12,
                                     .max_step = max_step,
                                     .breaks = is_m1 ? m1_breaks : m2_breaks,
                                     .n_breaks = is_m1 ? 4 : 3};
  double x0[6];
  whole_crane_start(x0);
  return reference_solver_open(&problem, x0);
}

// CS-02: manoeuvre M2, tolerances 1e-6 m, 100 Pa, 1 N; half of the last printed digit on top
static void test_reference_m2_cs02(void** state) {
  (void)state;
  // clang-format off
  static const double rows[][9] = {
    // t, theta1, theta2, s, s', p1, p2 [MPa], f_h, E
    {0, 0.52359878, -1.57079633, 0.50000000, 0, 3.170846, 4.529154, 8829.000, 1716.750},
    {0.5, 0.51723269, -1.57891368, 0.49725106, -0.0077446, 3.159878, 4.540146, 9746.2, 1692.447},
    {1, 0.51040832, -1.58343508, 0.49432153, -0.0162667, 3.147748, 4.552339, 10756.5, 1666.454},
    {2, 0.50816716, -1.58579400, 0.49336343, -0.0170714, 3.146526, 4.553574, 10853.0, 1657.862},
    {5, 0.49668408, -1.58519882, 0.48848606, -0.0187054, 3.144085, 4.556083, 11048.5, 1613.503},
    {8, 0.47076923, -1.58361392, 0.47768310, -0.0226739, 3.138150, 4.562166, 11523.5, 1512.437},
    {9, 0.47005908, -1.57407313, 0.47739123, -0.0068157, 3.160498, 4.539500, 9645.1, 1509.056},
    {10, 0.45196896, -1.56784718, 0.47003525, -0.0086608, 3.157711, 4.542289, 9865.8, 1437.574},
  };
  // clang-format on
  enum { N_ROWS = sizeof rows / sizeof rows[0] };
  double found[2][N_ROWS][6];
  for (int half = 0; half < 2; half++) {
    reference_solver* solver = open_reference(&m2, half == 0 ? 2e-3 : 1e-3);
    for (int i = 0; i < N_ROWS; i++) {
      double* x = found[half][i];
      double s;
      double v;
      double f_h;
      reference_solver_to(solver, rows[i][0], x);
      whole_crane_cylinder(x, &s, &v, &f_h);
      check_near(x[0], rows[i][1], 1e-6);
      check_near(x[1], rows[i][2], 1e-6);
      check_near(s, rows[i][3], 1e-6);
      check_near(v, rows[i][4], 1e-6);
      check_near(x[4], rows[i][5], 100e-6);
      check_near(x[5], rows[i][6], 100e-6);
      check_near(f_h, rows[i][7], 1.0);
      check_near(whole_crane_energy(x), rows[i][8], 5e-3);  // 1e-6 rad of 4500 N m
      // half the step changes less than a tenth of the tolerances
      for (int j = 0; j < 4 && half == 1; j++) {
        check_near(x[j], found[0][i][j], 1e-7);
      }
      for (int j = 4; j < 6 && half == 1; j++) {
        check_near(x[j], found[0][i][j], 10e-6);
      }
    }
    reference_solver_close(solver);
  }
}

// CS-02: manoeuvre M1
static void test_reference_m1_cs02(void** state) {
  (void)state;
  reference_solver* solver = open_reference(&m1, 2e-3);
  double x[6];
  double s;
  double v;
  double f_h;
  reference_solver_to(solver, 6.0, x);
  whole_crane_cylinder(x, &s, &v, &f_h);
  check_near(s, 0.596037, 1e-6 + 5e-7);
  reference_solver_to(solver, 10.0, x);
  whole_crane_cylinder(x, &s, &v, &f_h);
  check_near(s, 0.515368, 1e-6 + 5e-7);
  reference_solver_close(solver);
}

// CS-02: ranges of 1001 samples over 10 s of M2; on a finer grid the peaks are a little higher
static void test_reference_ranges_cs02(void** state) {
  (void)state;
  reference_solver* solver = open_reference(&m2, 2e-3);
  double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
  double high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  for (int k = 0; k <= 1000; k++) {
    double x[6];
    double y[3];
    reference_solver_to(solver, k * 1e-2, x);
    whole_crane_cylinder(x, &y[0], &y[1], &y[2]);
    for (int j = 0; j < 3; j++) {
      low[j] = fmin(low[j], y[j]);
      high[j] = fmax(high[j], y[j]);
    }
  }
  check_near(low[0], 0.470035, 1.5e-6);
  check_near(high[0], 0.505082, 1.5e-6);
  check_near(low[1], -0.07483, 1.5e-5);
  check_near(high[1], 0.06851, 1.5e-5);
  check_near(low[2], 6884.6, 1.0);
  check_near(high[2], 11570.1, 1.0);
  reference_solver_close(solver);
}

// Largest |s - reference| [m] of a coupled run under M2; HUGE_VAL if it diverges.
static double largest_error(bool is_pressure, double H, double h_hydraulics, int order) {
  mech_unit units[2] = {
      mech_unit_open(is_pressure ? &yoke__model_crane_hydraulics_pressure
                                 : &yoke__model_crane_hydraulics),
      mech_unit_open(is_pressure ? &yoke__model_crane_arm_pressure : &yoke__model_crane_arm)};
  // arm: s, v; hydraulics: f_h or p1, p2 first among the outputs
  mech_loop loop = {.units = {&units[0], &units[1]},
                    .source = {{0, 1}, {0, 1}},
                    .calls = {(int)lround(H / h_hydraulics), 1},
                    .order = order,
                    .H = H};
  reference_solver* solver = open_reference(&m2, 2e-3);
  double worst = 0.0;
  mech_loop_start(&loop);
  for (int k = 1; k * H <= 10.0 + 1e-9; k++) {
    if (mech_loop_step(&loop) < 0) {
      worst = HUGE_VAL;
      break;
    }
    double x[6];
    double s;
    double v;
    double f_h;
    reference_solver_to(solver, k * H, x);
    whole_crane_cylinder(x, &s, &v, &f_h);
    worst = fmax(worst, fabs(mech_unit_get(&units[1], "s", 0) - s));
  }
  reference_solver_close(solver);
  mech_unit_close(&units[0]);
  mech_unit_close(&units[1]);
  return worst;
}

// CS-21, and the accuracy of force and pressure coupling at other steps
static void test_accuracy_of_coupled_runs_cs21(void** state) {
  (void)state;
  static const struct {
    bool is_pressure;
    int order;
    double H, h;
    double want, tolerance;  // [mm]
  } rows[] = {
      {false, 0, 10e-3, 0.25e-3, 1.967, 0.01},
      {false, 1, 10e-3, 0.25e-3, 1.174, 0.01},
      // half of the last printed digit from here on; these figures belong to h = 0.2 ms
      {false, 0, 1e-3, 0.2e-3, 0.177, 5.1e-4},
      {false, 1, 1e-3, 0.2e-3, 0.133, 5.1e-4},
      {false, 0, 5e-3, 0.2e-3, 0.947, 5.1e-4},
      {false, 1, 5e-3, 0.2e-3, 0.629, 5.1e-4},
      {false, 0, 10e-3, 0.2e-3, 1.967, 5.1e-4},
      {false, 1, 10e-3, 0.2e-3, 1.172, 5.1e-4},
      {true, 0, 10e-3, 0.2e-3, 1.773, 5.1e-4},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const double error =
        1e3 * largest_error(rows[i].is_pressure, rows[i].H, rows[i].h, rows[i].order);
    check_near(error, rows[i].want, rows[i].tolerance);
  }
}

// CS-24: below the limits the error stays below 20 mm, above it does not
static void test_stability_limits_cs24(void** state) {
  (void)state;
  static const struct {
    bool is_pressure, is_stable;
    int order;
    double H;
  } rows[] = {
      {false, true, 0, 17e-3},  {false, false, 0, 20e-3}, {false, true, 1, 11e-3},
      {false, false, 1, 12e-3}, {true, true, 0, 50e-3},   {true, false, 0, 57e-3},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const double error = largest_error(rows[i].is_pressure, rows[i].H, 0.1e-3, rows[i].order);
    if ((error < 20e-3) != rows[i].is_stable) {
      fail_msg("%s, H = %g ms, order %d: error %g m", rows[i].is_pressure ? "PS" : "FD",
               1e3 * rows[i].H, rows[i].order, error);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reference_m2_cs02),
      cmocka_unit_test(test_reference_m1_cs02),
      cmocka_unit_test(test_reference_ranges_cs02),
      cmocka_unit_test(test_accuracy_of_coupled_runs_cs21),
      cmocka_unit_test(test_stability_limits_cs24),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
