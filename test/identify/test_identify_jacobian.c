// Interface Jacobians: published numbers of the dual mass oscillator (MP-01) and of the helicopter
// (MP-14), equivalence of the ways to get them, the rule that refuses them.
#include <float.h>

#include "base/base_message.h"
#include "identify/identify_jacobian.h"
#include "linalg/linalg_dense.h"
#include "support/check.h"
#include "support/counting_heap.h"
#include "support/heard.h"

enum { N_MAX = 8, N_WORK = 16 * 9 * N_MAX * N_MAX };

static double work[N_WORK];
static size_t pivots[3 * N_MAX];

// ---- dual mass oscillator, mpsm.md 10.1: ck = 1e5, dk = 1e3, step 1 ms

static const double s1_A[] = {0, 1, -1e5, -0.1}, s1_B[] = {0, 0.1}, s1_C[] = {1, 0, 0, 1};
static const double s1_D[] = {0, 0};
static const double s2_A[] = {0, 1, -(1e7 + 1e5) / 10, -(2 + 1e3) / 10};
static const double s2_B[] = {0, 0, 1e4, 1e2}, s2_C[] = {1e5, 1e3}, s2_D[] = {-1e5, -1e3};
static const yoke_identify_states mass_1 = {2, 2, 1, s1_A, s1_B, s1_C, s1_D};
static const yoke_identify_states mass_2 = {2, 1, 2, s2_A, s2_B, s2_C, s2_D};

typedef struct jacobians {
  double Jy[36], Ju[36], Jd[36], Sy[36], S0[36], S1[36];
  yoke_jacobian_continuous c;
  yoke_jacobian_discrete d;
} jacobians;

static void open_jacobians(jacobians* j, size_t n, size_t m) {
  j->c = (yoke_jacobian_continuous){n, m, j->Jy, j->Ju, j->Jd};
  j->d = (yoke_jacobian_discrete){n, m, j->Sy, j->S0, j->S1};
}

static void take_states(jacobians* j, const yoke_identify_states* unit) {
  open_jacobians(j, unit->n, unit->m);
  assert_true(yoke__jacobian_states_work_size(unit) <= N_WORK);
  assert_true(yoke__jacobian_hold_work_size(unit->n) <= N_WORK);
  check_ok(yoke__jacobian_of_states(unit, &j->c, NULL, work));
}

static void check_all(size_t n, const double got[], const double want[], double tolerance) {
  for (size_t i = 0; i < n; i++) {
    check_relative(got[i], want[i], tolerance);
  }
}

// MP-01: mpsm.md 11.3, all digits that are printed (10 to 11), so 1e-9 relative. The second column of S0_2 is printed with
// nine digits: half a unit of the last one is 1.2e-9.
static void test_oscillator_MP_01(void** state) {
  (void)state;
  jacobians j1, j2;
  take_states(&j1, &mass_1);
  take_states(&j2, &mass_2);
  check_relative(j2.Jy[0], -10098.9901209879, 1e-9);
  check_all(2, j2.Ju, (const double[]){-9.998990121e8, -9.998990121e6}, 1e-9);
  check_all(2, j2.Jd, (const double[]){-1e5, -1e3}, 1e-9);

  check_ok(yoke__jacobian_hold(&j1.c, 1e-3, &j1.d, work, pivots));
  check_all(4, j1.Sy,
            (const double[]){9.5041693027e-1, 9.8336729935e-4, -9.8336729935e1, 9.5031859354e-1},
            1e-9);
  check_all(2, j1.S1, (const double[]){4.9583069727e-8, 9.8336729935e-5}, 1e-9);
  check_ok(yoke__jacobian_hold(&j2.c, 1e-3, &j2.d, work, pivots));
  check_relative(j2.Sy[0], 4.1121061561e-5, 1e-9);
  check_relative(j2.S0[0], 4.1121061561, 1e-9);
  check_relative(j2.S0[1], 4.11210616e-2, 1.3e-9);
  check_all(2, j2.S1, (const double[]){-99009.8427001525, -990.0984270015}, 1e-9);
}

// MP-01: eigenvalues of K, the slow pair -49.55548 +- 327.77 i
static void test_growth_of_oscillator_MP_01(void** state) {
  (void)state;
  jacobians j1, j2;
  YOKE_CATCH(err);
  double growth = 0.0;
  take_states(&j1, &mass_1);
  take_states(&j2, &mass_2);
  const yoke_jacobian_continuous units[] = {j1.c, j2.c};
  const double L[] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
  check_ok(yoke__jacobian_check_growth(2, units, L, &growth, &err.sink));
  check_near(growth, -49.55548, 0.5e-5);

  // an algebraic loop: both units pass their input through
  double one[1] = {1}, zero[1] = {0};
  const yoke_jacobian_continuous pass = {1, 1, zero, zero, one};
  const yoke_jacobian_continuous loop[] = {pass, pass};
  assert_int_equal(
      yoke__jacobian_check_growth(2, loop, (const double[]){0, 1, 1, 0}, NULL, &err.sink),
      YOKE_SINGULAR);
  check_contains(err.text, "algebraic loop");
}

// With C square (5) of the discretised states and (6) of the continuous Jacobians are the same.
static void test_states_and_hold_agree(void** state) {
  (void)state;
  // two states, two outputs, feedthrough
  const double A[] = {-3, 2, -1, -4}, B[] = {1, 0.5, -2, 0.3}, C[] = {2, 1, -1, 3};
  const double D[] = {0.5, 0, -0.2, 0.7}, h = 0.13;
  const yoke_identify_states unit = {2, 2, 2, A, B, C, D};
  jacobians from_c, from_d;
  take_states(&from_c, &unit);
  check_ok(yoke__jacobian_hold(&from_c.c, h, &from_c.d, work, pivots));

  // the states over one step: phi of A with B as its input matrix
  double F[4], G[4], ramp[4], zero[4] = {0}, none[4], a[4], b[4];
  memcpy(a, A, sizeof a);
  memcpy(b, B, sizeof b);
  const yoke_jacobian_continuous states = {2, 2, a, b, zero};
  yoke_jacobian_phi phi = {F, G, ramp, none};
  check_ok(yoke__jacobian_phi_of(&states, h, &phi, work, pivots));
  const yoke_identify_states held = {2, 2, 2, F, G, C, D};
  open_jacobians(&from_d, 2, 2);
  size_t rank = 0;
  check_ok(yoke__jacobian_of_discrete_states(&held, NULL, NULL, &from_d.d, &rank, work));
  assert_int_equal(rank, 2);
  for (size_t i = 0; i < 4; i++) {
    check_near(from_c.Sy[i], from_d.Sy[i], 1e-14);
    check_near(from_c.S0[i], from_d.S0[i], 1e-14);
    check_near(from_c.S1[i], from_d.S1[i], 1e-14);
  }
  // C and D of the step before: the old output gives the state
  const double C_before[] = {1, 0, 0, 2}, D_before[] = {0.1, 0.2, 0.3, 0.4};
  const double x[] = {0.7, -1.1}, u0[] = {0.4, 0.9}, u1[] = {-0.3, 0.2};
  double y0[2], y1[2], want[2], x1[2];
  yoke__mat_vec(2, 2, C_before, x, y0);
  yoke__mat_vec_add(2, 2, D_before, u0, y0);
  yoke__mat_vec(2, 2, F, x, x1);
  yoke__mat_vec_add(2, 2, G, u1, x1);
  yoke__mat_vec(2, 2, C, x1, want);
  yoke__mat_vec_add(2, 2, D, u1, want);
  check_ok(yoke__jacobian_of_discrete_states(&held, C_before, D_before, &from_d.d, NULL, work));
  yoke__jacobian_predict(&from_d.d, y0, u0, u1, y1);
  check_near(y1[0], want[0], 1e-14);
  check_near(y1[1], want[1], 1e-14);
}

// phi of a scalar unit against the closed integrals, also for a rate of 0
static void test_phi_of_scalar(void** state) {
  (void)state;
  static const double rates[] = {-10098.99, -50, -1e-3, 0, 2};
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    double a = rates[i], b = 3, d = -0.5, A, B, C, D;
    const double h = 1e-3, z = a * h;
    const yoke_jacobian_continuous unit = {1, 1, &a, &b, &d};
    yoke_jacobian_phi phi = {&A, &B, &C, &D};
    check_ok(yoke__jacobian_phi_of(&unit, h, &phi, work, pivots));
    // series where the closed form cancels
    const bool is_small = fabs(z) < 1e-2;
    const double phi1 = is_small ? 1 + z / 2 + z * z / 6 + z * z * z / 24 : expm1(z) / z;
    const double phi2 =
        is_small ? 0.5 + z / 6 + z * z / 24 + z * z * z / 120 : (expm1(z) - z) / (z * z);
    check_relative(A, exp(z), 1e-13);
    check_relative(B, h * phi1 * b, 1e-12);
    check_relative(C, h * h * phi2 * b, 1e-9);
    check_relative(D, h * phi1 * d, 1e-12);
  }
}

// The ideally coupled oscillator as one unit, mpsm.md 11.3: elements of 1 and 9e8 side by side. Without
// balancing seven digits of the exponential are lost.
static void test_badly_scaled_MP_01(void** state) {
  (void)state;
  jacobians j2;
  take_states(&j2, &mass_2);
  double K[] = {0, 1, 0, -1e5, -0.1, 0.1, 0, 0, 0};
  K[6] = j2.Ju[0] - 1e5 * j2.Jd[1];
  K[7] = j2.Ju[1] + j2.Jd[0] - 0.1 * j2.Jd[1];
  K[8] = j2.Jy[0] + 0.1 * j2.Jd[1];
  check_relative(K[6], -8.998990121e8, 1e-9);
  check_relative(K[7], -1.0098890121e7, 1e-9);
  check_relative(K[8], -1.0198990121e4, 1e-9);
  double none[3] = {0}, Sy[9], S0[3], S1[3];
  const yoke_jacobian_continuous whole = {3, 1, K, none, none};
  yoke_jacobian_discrete held = {3, 1, Sy, S0, S1};
  check_ok(yoke__jacobian_hold(&whole, 1e-3, &held, work, pivots));
  const double want[] = {9.4813865391e-1, 9.4301981853e-4, 8.3992783624e-9,
                         -1.0186048415e2, 8.6322096265e-1, 8.6378248114e-6,
                         7.0841306307e3,  -9.4790945956e2, -9.3420203539e-3};
  check_all(9, Sy, want, 1e-9);
}

// ---- helicopter, mpsm.md appendix A and 10.3

// clang-format off
static const double A1[64] = {
    0, 0, 0, 0.99857378005981, 0.05338427424431, 0, 0, 0,
    0, 0, 1.0, -0.00318221934140, 0.05952465534210, 0, 0, 0,
    0, 0, -11.57049560546880, -2.54463768005371, -0.06360262632370, 0.10678052902222, -0.09491866827011, 0.00710757449269,
    0, 0, 0.43935656547546, -1.99818229675293, 0, 0.01665188372135, 0.01846204698086, -0.00118747074157,
    0, 0, -2.04089546203613, -0.45899915695190, -0.73502779006958, 0.01925575733185, -0.00459562242031, 0.00212036073208,
    -32.10360717773440, 0, -0.50335502624512, 2.29785919189453, 0, -0.02121581137180, -0.02116791903973, 0.01581159234047,
    0.10216116905212, 32.05783081054690, -2.34721755981445, -0.50361156463623, 0.83494758605957, 0.02122657001019, -0.03787973523140, 0.00035400385968,
    -1.91097259521484, 1.71382904052734, -0.00400543212891, -0.05741119384766, 0, 0.01398963481188, -0.00090675335377, -0.29051351547241,
};
static const double B1[32] = {
    0, 0, 0, 0,
    0, 0, 0, 0,
    0.12433505058289, 0.08278584480286, -2.75247764587402, -0.01788876950741,
    -0.03635892271996, 0.47509527206421, 0.01429074257612, 0,
    0.30449151992798, 0.01495801657438, -0.49651837348938, -0.20674192905426,
    0.28773546218872, -0.54450607299805, -0.01637935638428, 0,
    -0.01907348632812, 0.01636743545532, -0.54453611373901, 0.23484230041504,
    -4.82063293457031, -0.00038146972656, 0, 0,
};
static const double C1[48] = {
    0, 0, 0, 0, 0, 0.0595, 0.05329, -0.9968,
    1, 0, 0, 0, 0, 0, 0, 0,
    0, 1, 0, 0, 0, 0, 0, 0,
    0, 0, 0, -0.05348, 1.0, 0, 0, 0,
    0, 0, 1, 0, 0, 0, 0, 0,
    0, 0, 0, 1, 0, 0, 0, 0,
};
static const double Jy1_printed[36] = {
    -2.91e-1, 1.37e-4, 1.70e-5, 4.45e-2, -1.51e-1, 1.69e-1,
    0, 0, 0, 5.34e-2, 0, 1.00,
    0, 0, 0, 5.95e-2, 1.00, 1.16e-6,
    -1.38e-3, 0, 0, -7.35e-1, -2.06, -3.91e-1,
    -5.79e-3, 0, 0, -6.36e-2, -11.6, -2.55,
    3.16e-3, 0, 0, 0, 4.39e-1, -2.00};
static const double Ju1_printed[24] = {
    4.82, -3.11e-2, -3.00e-2, 1.25e-2,
    0, 0, 0, 0,
    0, 0, 0, 0,
    3.06e-1, -1.05e-2, -4.97e-1, -2.07e-1,
    1.24e-1, 8.28e-2, -2.75, -1.79e-2,
    -3.64e-2, 4.75e-1, 1.43e-2, 0};
static const double Jy2_printed[16] = {
    -22.5, -36.9, -3.05, 40.7,
    -49.9, -213, -17.8, 237,
    -4.83, -20.6, -0.278, 25.5,
    54.1, 232, 21.9, -267};
static const double Ju2_printed[24] = {
    63.4, 190, -49.3, 187, -26.8, 12.5,
    284, 1120, -286, 1080, -155, 73.3,
    27.7, 106, -45.8, 116, -16.0, 5.33,
    -304, -1190, 332, -1250, 169, -76.6};
// clang-format on

static const double no_feedthrough[24] = {0};

// got rounds to the printed three digits; a printed 0 is an element that is 0 to 1e-6 of the largest
static void check_printed(size_t n, const double got[], const double printed[]) {
  for (size_t i = 0; i < n; i++) {
    if (printed[i] == 0) {
      check_near(got[i], 0.0, 1e-5);
    } else {
      const double digit = pow(10.0, floor(log10(fabs(printed[i]))) - 2);
      check_near(got[i], printed[i], 0.5001 * digit);
    }
  }
}

// MP-14, first part
static void test_helicopter_as_printed_MP_14(void** state) {
  (void)state;
  const yoke_identify_states plant = {8, 6, 4, A1, B1, C1, no_feedthrough};
  jacobians j;
  size_t rank = 0;
  open_jacobians(&j, 6, 4);
  check_ok(yoke__jacobian_of_states(&plant, &j.c, &rank, work));
  assert_int_equal(rank, 6);
  check_printed(36, j.Jy, Jy1_printed);
  check_printed(24, j.Ju, Ju1_printed);
}

// MP-14: exact Jacobians of units with more states than outputs. The surrogate of the stable loop
// grows with 0.93 1/s (printed matrices), so they are refused.
static void test_helicopter_is_refused_MP_14(void** state) {
  (void)state;
  jacobians plant, control;
  HEAR(err);
  double growth = 0.0, L[10 * 10] = {0};
  open_jacobians(&plant, 6, 4);
  open_jacobians(&control, 4, 6);
  memcpy(plant.Jy, Jy1_printed, sizeof Jy1_printed);
  memcpy(plant.Ju, Ju1_printed, sizeof Ju1_printed);
  memcpy(control.Jy, Jy2_printed, sizeof Jy2_printed);
  memcpy(control.Ju, Ju2_printed, sizeof Ju2_printed);
  memset(plant.Jd, 0, sizeof plant.Jd);
  memset(control.Jd, 0, sizeof control.Jd);
  for (size_t i = 0; i < 4; i++) {
    L[i * 10 + 6 + i] = 1;  // the plant's inputs are the controls
  }
  for (size_t i = 0; i < 6; i++) {
    L[(4 + i) * 10 + i] = -1;  // the controller sees r - y
  }
  const yoke_jacobian_continuous units[] = {plant.c, control.c};
  assert_int_equal(yoke__jacobian_check_growth(2, units, L, &growth, &err.sink), YOKE_BAD_INPUT);
  check_near(growth, 0.93, 0.005);
  check_contains(err.text, "grows with 0.9");

  yoke_jacobian_sight sight = YOKE_JACOBIAN_ALL;
  const yoke_identify_states unit = {8, 6, 4, A1, B1, C1, no_feedthrough};
  check_ok(yoke__jacobian_check_rank(&unit, "heli", &sight, NULL, &err.sink));
  assert_int_equal(sight, YOKE_JACOBIAN_PART);
  check_contains(err.text,
                 "note: unit 'heli': it has 8 states, 6 outputs and an output matrix of rank 6");
  check_ok(yoke__jacobian_check_rank(&mass_1, "mass", &sight, NULL, &err.sink));
  assert_int_equal(sight, YOKE_JACOBIAN_ALL);
}

// What the outputs tell of the states. Where that is all, Jacobians are exact although outputs may depend on each other:
// dy/dt = C (A x + B u) = Jy C x + Ju u.
static void test_rank(void** state) {
  (void)state;
  static const double A[] = {-1, 2, 0.5, -3}, B[] = {1, 2}, D[] = {0, 0, 0};
  static const struct {
    size_t n_states, n;
    double C[6];
    yoke_jacobian_sight sight;
    size_t rank;
    const char* text;
  } cases[] = {
      {2, 2, {1, 0, 1, 1}, YOKE_JACOBIAN_ALL, 2, ""},
      {2, 3, {1, 0, 1, 1, 2, 1}, YOKE_JACOBIAN_ALL_TWICE, 2, "depend on each other"},
      {1, 2, {1, -2}, YOKE_JACOBIAN_ALL_TWICE, 1, "depend on each other"},
      {0, 1, {0}, YOKE_JACOBIAN_ALL_TWICE, 0, "depend on each other"},
      {2, 1, {1, 1}, YOKE_JACOBIAN_PART, 1, "leave dynamics out"},
      {2, 2, {1, 1, 2, 2}, YOKE_JACOBIAN_PART_TWICE, 1, "leave dynamics out"},
      {1, 2, {0, 0}, YOKE_JACOBIAN_PART_TWICE, 0, "leave dynamics out"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const size_t n_x = cases[i].n_states, n = cases[i].n;
    const yoke_identify_states unit = {n_x, n, 1, A, B, cases[i].C, D};
    yoke_jacobian_sight sight = YOKE_JACOBIAN_PART_TWICE;
    size_t rank = 9;
    YOKE_CATCH(note);
    jacobians j;
    check_ok(yoke__jacobian_check_rank(&unit, "a", &sight, &rank, &note.sink));
    assert_int_equal(sight, cases[i].sight);
    assert_int_equal(rank, cases[i].rank);
    check_contains(note.text, cases[i].text);
    open_jacobians(&j, n, 1);
    check_ok(yoke__jacobian_of_states(&unit, &j.c, NULL, work));
    // x = (1, -2), u = 3
    double x[] = {1, -2}, slope[2], y[3], want[3], got[3], off = 0;
    for (size_t r = 0; r < n_x; r++) {
      slope[r] = B[r] * 3;
      for (size_t c = 0; c < n_x; c++) {
        slope[r] += A[r * n_x + c] * x[c];
      }
    }
    for (size_t r = 0; r < n; r++) {
      y[r] = want[r] = 0;
      for (size_t c = 0; c < n_x; c++) {
        y[r] += cases[i].C[r * n_x + c] * x[c];
        want[r] += cases[i].C[r * n_x + c] * slope[c];
      }
    }
    for (size_t r = 0; r < n; r++) {
      got[r] = j.Ju[r] * 3;
      for (size_t c = 0; c < n; c++) {
        got[r] += j.Jy[r * n + c] * y[c];
      }
      off = fmax(off, fabs(got[r] - want[r]));
    }
    const bool is_exact = sight <= YOKE_JACOBIAN_ALL_TWICE || cases[i].C[0] == 0;
    check_between(off, is_exact ? 0 : 0.1, is_exact ? 1e-13 : 100);
  }
}

static void test_no_heap(void** state) {
  (void)state;
  check_heap_is_counted();
  jacobians j;
  take_states(&j, &mass_2);
  const long before = atomic_load(&n_heap_calls);
  yoke_status status = yoke__jacobian_of_states(&mass_2, &j.c, NULL, work);
  status = status < 0 ? status : yoke__jacobian_hold(&j.c, 1e-3, &j.d, work, pivots);
  const long after = atomic_load(&n_heap_calls);
  check_ok(status);
  assert_int_equal(after - before, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_oscillator_MP_01),
      cmocka_unit_test(test_growth_of_oscillator_MP_01),
      cmocka_unit_test(test_states_and_hold_agree),
      cmocka_unit_test(test_phi_of_scalar),
      cmocka_unit_test(test_badly_scaled_MP_01),
      cmocka_unit_test(test_helicopter_as_printed_MP_14),
      cmocka_unit_test(test_helicopter_is_refused_MP_14),
      cmocka_unit_test(test_rank),
      cmocka_unit_test(test_no_heap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
