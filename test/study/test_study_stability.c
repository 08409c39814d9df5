// Stability tools on the dual mass oscillator: first steps and spectral radii of every coupling
// method, limits of the step, accuracy, options, the map on a coarse grid, Bohl exponents.
// Numbers: MPSM specification 11.3, computed there by another program.
#include "study/study_stability.h"

#include "couple/couple_mpsm_mbcorr.h"
#include "linalg/linalg_dense.h"
#include "study/stability_grid.h"
#include "support/check.h"
#include "support/dual_mass.h"

// ---- MP-03

typedef struct first_steps {
  variant method;
  double radius;
  double y[4][3];  // after 1, 2, 10, 100 steps of 1 ms
} first_steps;

static const first_steps steps_table[] = {
    {ZOH,
     0.96165562,
     {{9.4598178768e-2, -10.822420509, -9152.2283858},
      {7.8855551415e-2, -20.497444405, 1357.1817230},
      {-6.5461916311e-2, 9.1441527390, 6127.8616533},
      {-1.1473993693e-3, 0.63517109187, -296.77720074}}},
    {FOH,
     0.95227676,
     {{9.4598178768e-2, -10.822420509, -9152.2283858},
      {7.8869195861e-2, -20.455812489, 12200.194205},
      {-5.7329315093e-2, 4.2215825635, 723.65273170},
      {5.5824657400e-6, -0.11051487226, 117.10233553}}},
    {NEPCE,
     0.95232988,
     {{9.4598178768e-2, -10.822420509, -9152.2283858},
      {7.8878215482e-2, -20.452037484, 6515.0788701},
      {-5.7293626009e-2, 4.2026076908, 4069.7524552},
      {9.7484331845e-6, -0.11040053425, 107.03882540}}},
    {MPSM,
     0.95589697,
     {{9.4870148285e-2, -10.277536044, 741.19511588},
      {8.0382970832e-2, -18.538147112, 9611.3609499},
      {-6.2239087685e-2, 2.8150283759, 3313.1982165},
      {2.7169012941e-4, -0.25589004027, 234.85428999}}},
    {MODIFIED,
     0.95634965,
     {{9.5128629426e-2, -9.7596752191, 731.66519954},
      {8.1342049862e-2, -17.662909375, 9151.2186618},
      {-6.2168978200e-2, 0.99161715525, 4785.6265621},
      {7.7234516376e-4, -0.12472042937, 54.302110292}}},
    {RAMP,
     0.95558395,
     {{9.4774958356e-2, -10.283030848, 1153.1090755},
      {8.0209141001e-2, -18.534255253, 9959.6997336},
      {-6.1924440836e-2, 2.8703710628, 3037.5082951},
      {2.3319181920e-4, -0.24539840267, 226.03691645}}},
    {EDE,
     0.99999949,
     {{9.4870148285e-2, -10.277536044, 741.19511588},
      {8.0384370034e-2, -18.535343844, 9617.6297929},
      {-6.1683040652e-2, 3.1488771815, 2951.1832563},
      {2.1030526047e-4, -0.24594041252, 236.41005756}}},
};

// largest relative deviation from a row of the table
static double deviation(const yoke_stability_case* c, const double want[4][3]) {
  yoke_stability* self;
  check_ok(yoke__stability_open(c, &self));
  double z[64], y[3], worst = 0;
  assert_true(yoke__stability_size(self) <= 64);
  check_ok(yoke__stability_start(self, dual_mass_start, z));
  for (int k = 1, row = 0; k <= 100; k++) {
    yoke__stability_step(self, z, y, NULL);
    if (k == 1 || k == 2 || k == 10 || k == 100) {
      for (int i = 0; i < 3; i++) {
        worst = fmax(worst, fabs(y[i] - want[row][i]) / fabs(want[row][i]));
      }
      row++;
    }
  }
  yoke__stability_close(&self);
  return worst;
}

static void test_MP_03_first_steps_and_radii(void** state) {
  (void)state;
  dual_mass mass;
  dual_mass_open(&mass, 1e5, 1e3);
  for (size_t i = 0; i < sizeof steps_table / sizeof *steps_table; i++) {
    const yoke_stability_case c = variant_case(&mass, steps_table[i].method, 1e-3);
    check_between(deviation(&c, steps_table[i].y), 0, 1e-8);
    double radius;
    check_ok(yoke__stability_radius(&c, &radius));
    check_near(radius, steps_table[i].radius, 1e-6);
  }

  // lines between the samples instead of held ones. The table's row comes from held ones; 11.3 says
  // 1e-4 for any other interpolation, but held values are late by half a micro step of 0.01 ms, and
  // the eigenvalue of 0.9999995 does not forget: up to 1 % of one element after 100 steps.
  yoke_stability_case c = variant_case(&mass, EDE, 1e-3);
  c.options.between = YOKE_MPSM_LINEAR;
  check_between(deviation(&c, steps_table[6].y), 1e-4, 1e-2);
}

// Both references of the table.
static void test_MP_03_monolithic(void** state) {
  (void)state;
  const double want[2][4][3] = {{{9.4785234596e-2, -10.259430280, 1131.2474468},
                                 {8.0244047671e-2, -18.516171743, 9939.0545485},
                                 {-6.1977163642e-2, 3.1750554429, 2753.7377060},
                                 {1.1850342483e-4, -0.25447632836, 239.98097334}},
                                {{9.4738353909e-2, -10.249306141, 1118.9890874},
                                 {8.0173611441e-2, -18.490087960, 9916.8669545},
                                 {-6.1653838558e-2, 3.1247546965, 2817.2661941},
                                 {1.2396274476e-4, -0.24060113069, 224.56085308}}};
  dual_mass mass;
  dual_mass_open(&mass, 1e5, 1e3);
  for (int exact = 0; exact < 2; exact++) {
    double x[4], y[3];
    memcpy(x, dual_mass_start, sizeof x);
    for (int k = 1, row = 0; k <= 100; k++) {
      dual_mass_whole(&mass, 1e-3, exact == 1, x, y);
      if (k == 1 || k == 2 || k == 10 || k == 100) {
        for (int i = 0; i < 3; i++) {
          check_relative(y[i], want[exact][row][i], 1e-8);
        }
        row++;
      }
    }
  }
}

// The step matrix is the step: M^k z = k steps, for every method.
static void test_matrix_is_the_step(void** state) {
  (void)state;
  dual_mass mass;
  dual_mass_open(&mass, 1e5, 1e3);
  for (int method = 0; method < N_VARIANTS; method++) {
    const yoke_stability_case c = variant_case(&mass, (variant)method, 1e-3);
    yoke_stability* self;
    check_ok(yoke__stability_open(&c, &self));
    const size_t n = yoke__stability_size(self);
    double *M = calloc(n * n, sizeof *M), z[64], v[64], next[64];
    yoke__stability_matrix(self, M);
    check_ok(yoke__stability_start(self, dual_mass_start, z));
    memcpy(v, z, sizeof z);
    for (int k = 0; k < 20; k++) {
      yoke__stability_step(self, z, NULL, NULL);
      yoke__mat_vec(n, n, M, v, next);
      memcpy(v, next, sizeof v);
    }
    double size = 0;
    for (size_t i = 0; i < n; i++) {
      size = fmax(size, fabs(z[i]));
    }
    for (size_t i = 0; i < n; i++) {
      check_near(v[i], z[i], 1e-9 * size);
    }
    free(M);
    yoke__stability_close(&self);
  }
}

// ---- MP-07

static void test_MP_07_accuracy_over_the_step(void** state) {
  (void)state;
  dual_mass mass;
  dual_mass_open(&mass, 2e5, 200);
  static const struct {
    variant method;
    int step;  // [ms]
    double low, high;
  } bounds[] = {{MPSM, 2, 0, 0.02},
                {MPSM, 5, 0, 0.13},
                {MPSM, 9, 0, 0.65},
                {RAMP, 5, 0, 0.03},
                {ZOH, 2, 1, (double)INFINITY},
                {ZOH, 3, 1, (double)INFINITY},
                {ZOH, 4, 1, (double)INFINITY},
                {ZOH, 5, 1, (double)INFINITY},
                {ZOH, 6, 1, (double)INFINITY},
                {ZOH, 7, 1, (double)INFINITY}};
  for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
    const yoke_stability_case c = variant_case(&mass, bounds[i].method, 1e-3 * bounds[i].step);
    check_between(dual_mass_error(&mass, &c, 0.1), bounds[i].low, bounds[i].high);
  }
}

// The table behind it, to the digits it is printed with.
static void test_MP_07_accuracy_table(void** state) {
  (void)state;
  static const variant methods[9] = {ZOH, FOH, NEPCE, MPSM, EDE, MODIFIED, MPSM_FD, RAMP, MBCORR};
  static const struct {
    double step;
    double error[9];  // 0: not printed
  } table[] = {
      {0.5, {0.149, 0.022, 0.022, 0.002, 0.001, 0.036, 0, 0.001, 0.043}},
      {1, {0.388, 0.083, 0.069, 0.005, 0.001, 0.068, 0.066, 0.002, 0.091}},
      {2, {1.24, 0.492, 0.419, 0.017, 0.004, 0.121, 0.115, 0.002, 0.226}},
      {3, {2.33, 5.1, 4.4, 0.041, 0.007, 0.166, 0.159, 0.004, 0.391}},
      {5, {2.62, 76, 66, 0.117, 0.027, 0.236, 0.229, 0.027, 2.28}},
      {8, {0.76, 15, 11, 0.305, 0.103, 0.327, 0.335, 0.106, 0}},
  };
  dual_mass mass;
  dual_mass_open(&mass, 2e5, 200);
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    for (int j = 0; j < 9; j++) {
      if (table[i].error[j] > 0) {
        const yoke_stability_case c = variant_case(&mass, methods[j], 1e-3 * table[i].step);
        // half of the last digit printed. How the corrector's mean is summed is not said there: 1
        // %. With step 1 the printed values at 5 and 6 ms are those of sums of 1000 terms, at 7 and
        // 8 ms those of exact integrals (2 % apart): 2 %.
        const double want = table[i].error[j];
        const double digits = want < 0.7 ? 0.00051 : want < 3 ? 0.0051 : want < 10 ? 0.051 : 0.51;
        const double unsaid = methods[j] == MBCORR ? 0.01 * want
                              : methods[j] == EDE  ? 0.02 * want
                                                   : 0;
        check_near(dual_mass_error(&mass, &c, 0.1), want, digits + unsaid);
      }
    }
  }
}

// ---- MP-08

// Worse solvers of the literature in place of matrix exponentials, by the kernels of the method with other matrices in them:
// step 2 in n_euler steps of explicit Euler, the integrals of step 3 by left Riemann sums of n_sums terms; 0: exact.
typedef struct option_run {
  const dual_mass* mass;
  double H, x[4], y[3], u[3];
  double inner[3 * 100];  // outputs after every micro step
  yoke_mpsm* cluster;
} option_run;

// E := (I + K H / n)^n
static void step_by_euler(yoke_mpsm* cluster, size_t n) {
  enum { P = 3 };
  double E[P * P] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, T[P * P];
  for (size_t j = 0; j < n; j++) {
    yoke__mat_mul(P, P, P, cluster->K, E, T);
    for (size_t i = 0; i < sizeof E / sizeof E[0]; i++) {
      E[i] += cluster->step / (double)n * T[i];
    }
  }
  memcpy(cluster->extrapolate, E, sizeof E);
}

// S1 = e^{Jy H} Jd + (H / n) sum_j e^{Jy H (n - j) / n} Ju, j = 0 .. n - 1, and its pseudo inverse: one row or one column.
static void sum_by_riemann(yoke_mpsm* cluster, size_t i, const yoke_jacobian_continuous* J,
                           size_t n) {
  yoke_mpsm_unit* unit = &cluster->units[i];
  const size_t N = unit->n, m = unit->m;
  double G[4], phi[4] = {0}, T[4], B[2], D[2], square = 0;
  for (size_t k = 0; k < N * N; k++) {
    G[k] = J->Jy[k] * cluster->step / (double)n;
  }
  check_ok(yoke__expm(N, G, G));
  for (size_t j = 0; j < n; j++) {
    for (size_t k = 0; k < N; k++) {
      phi[k * N + k] += cluster->step / (double)n;
    }
    yoke__mat_mul(N, N, N, G, phi, T);
    memcpy(phi, T, N * N * sizeof *T);
  }
  yoke__mat_mul(N, N, m, phi, J->Ju, B);
  yoke__mat_mul(N, N, m, unit->sy, J->Jd, D);
  for (size_t k = 0; k < N * m; k++) {
    unit->s1[k] = B[k] + D[k];
    square += unit->s1[k] * unit->s1[k];
  }
  for (size_t k = 0; k < N * m; k++) {
    unit->reach_inverse[k] = unit->s1[k] / square;
  }
}

static void read_outputs(const option_run* r, double y[3]) {
  const double *x = r->x, *C = r->mass->units[1].C, *D = r->mass->units[1].D;
  y[0] = x[0];
  y[1] = x[1];
  y[2] = C[0] * x[2] + C[1] * x[3] + D[0] * r->u[1] + D[1] * r->u[2];
}

static void advance_option(void* context, double y[3]) {
  option_run* r = context;
  double u[3], d[2], e[2];
  const bool has_inner = r->cluster->n_samples > 1;
  const yoke_mpsm_sample now = {.y = r->y, .u = r->u, .inner = has_inner ? r->inner : NULL};
  (void)yoke__mpsm_step(r->cluster, &now, true, u, NULL);
  memcpy(r->u, u, sizeof u);
  for (size_t j = 0; j < 100; j++) {
    const yoke_stability_unit* units = r->mass->units;
    yoke__mat_vec(2, 2, units[0].A, r->x, d);
    yoke__mat_vec_add(2, 1, units[0].B, u, d);
    yoke__mat_vec(2, 2, units[1].A, r->x + 2, e);
    yoke__mat_vec_add(2, 2, units[1].B, u + 1, e);
    for (int i = 0; i < 2; i++) {
      r->x[i] += DUAL_MASS_MICRO * d[i];
      r->x[2 + i] += DUAL_MASS_MICRO * e[i];
    }
    read_outputs(r, r->inner + 3 * j);
  }
  read_outputs(r, r->y);
  memcpy(y, r->y, sizeof r->y);
}

static double option_error(const dual_mass* mass, bool uses_ede, size_t n_euler, size_t n_sums) {
  static const size_t outputs[2] = {2, 1}, inputs[2] = {1, 2};
  double Jy1[4], Ju1[2], Jd1[2], Jy2[1], Ju2[2], Jd2[2];
  yoke_jacobian_continuous J[2] = {{2, 1, Jy1, Ju1, Jd1}, {1, 2, Jy2, Ju2, Jd2}};
  yoke_mpsm_setup setup = {.n_units = 2,
                           .n_outputs = outputs,
                           .n_inputs = inputs,
                           .L = dual_mass_L,
                           .step = 1e-3,
                           .n_samples = uses_ede ? 100 : 1,
                           .options = yoke__mpsm_options_default()};
  setup.options.uses_ede = uses_ede;
  setup.options.between = YOKE_MPSM_HELD;
  void* memory = calloc(1, yoke__mpsm_size(&setup));
  assert_non_null(memory);
  option_run r = {.mass = mass, .H = setup.step};
  check_ok(yoke__mpsm_prepare(memory, &setup, &r.cluster));
  dual_mass_jacobians(mass, J);
  for (size_t i = 0; i < 2; i++) {
    check_ok(yoke__mpsm_set_continuous(r.cluster, i, &J[i]));
  }
  check_ok(yoke__mpsm_assemble(r.cluster));
  for (size_t i = 0; i < 2 && n_sums > 0; i++) {
    sum_by_riemann(r.cluster, i, &J[i], n_sums);
  }
  if (n_euler > 0) {
    step_by_euler(r.cluster, n_euler);
  }
  memcpy(r.x, dual_mass_start, sizeof r.x);
  r.u[1] = r.x[0];
  read_outputs(&r, r.y);
  r.u[0] = r.y[2];
  for (size_t j = 0; j < 100; j++) {
    memcpy(r.inner + 3 * j, r.y, sizeof r.y);
  }
  yoke__mpsm_start(r.cluster, r.y, r.u, NULL);
  const double error = dual_mass_error_of(mass, setup.step, 0.1, advance_option, &r);
  free(memory);
  return error;
}

static void test_MP_08_options(void** state) {
  (void)state;
  dual_mass mass;
  dual_mass_open(&mass, 1e5, 1e3);
  const yoke_stability_case c = variant_case(&mass, MPSM, 1e-3);
  const double exact = dual_mass_error(&mass, &c, 0.1);
  // the same by kernels and by the matrix of a step
  check_relative(option_error(&mass, false, 0, 0), exact, 1e-9);

  // step 2 by explicit Euler: the surrogate has a pole at -1e4 1/s. Printed with two digits, for
  // integrals by sums of 1000 terms.
  static const size_t counts[4] = {1, 10, 100, 1000};
  static const double euler_error[4] = {0, 0.0094, 0.0057, 0.0058};
  for (int i = 0; i < 4; i++) {
    const double error = option_error(&mass, false, counts[i], 1000);
    if (i == 0) {
      check_between(error, 1e3, (double)INFINITY);
    } else {
      check_near(error, euler_error[i], 0.000051);
    }
    if (i >= 2) {
      check_relative(error, exact, 0.1);
    }
  }

  // integrals by left Riemann sums
  static const double sums_error[4] = {0, 0.070, 0.0087, 0.0058};
  for (int i = 0; i < 4; i++) {
    const double error = option_error(&mass, false, 0, counts[i]);
    if (i == 0) {
      check_between(error, 1e3, (double)INFINITY);
    } else {
      check_near(error, sums_error[i], i == 1 ? 0.00051 : 0.000051);
    }
  }

  // step 1, with integrals by sums of 1000 terms
  check_near(option_error(&mass, true, 0, 1000), 0.0027, 0.000051);
}

// ---- MP-05 on a coarse grid; the whole of it in test_study_stability_slow.c

static void test_MP_05_map_on_a_coarse_grid(void** state) {
  (void)state;
  static const double steps[] = {1e-3, 2e-3, 3e-3, 4e-3, 5e-3, 6e-3, 7e-3, 8e-3, 9e-3};
  static const double stiffness[] = {1e3, 2e4, 2e5}, damping[] = {20, 200, 2e3, 2e4};
  const grid_axes axes = {steps, stiffness, damping, 9, 3, 4};
  double area[N_VARIANTS];
  for (int method = 0; method < N_VARIANTS; method++) {
    if (method != ZOH && method != NEPCE && method != MPSM) {
      continue;
    }
    uint8_t is_stable[108];
    grid_area size;
    grid_map(&axes, (variant)method, is_stable);
    check_ok(grid_area_of(&axes, is_stable, NULL, 0, &size));
    area[method] = size.area;
    if (method == ZOH) {
      check_between(size.largest_step, 0, 3e-3);
    } else if (method == NEPCE) {
      check_between(size.largest_step, 0, 4e-3);
    } else {
      check_near(size.largest_step, 9e-3, 1e-12);
      check_between(size.area / size.total, 0.9, 1);
    }
  }
  check_between(area[MPSM] / area[ZOH], 6, (double)INFINITY);
  check_between(area[MPSM] / area[NEPCE], 4, (double)INFINITY);
}

// The area rule itself: connected cells from the smallest step, islands apart, share of a cell.
static void test_area_rule(void** state) {
  (void)state;
  static const double steps[] = {1, 2, 3, 4}, stiffness[] = {1, 10}, damping[] = {1, 0.98};
  const grid_axes axes = {steps, stiffness, damping, 4, 2, 2};
  // columns: ratio 1 (two pairs in one cell) and 10 (two pairs); rows: steps
  static const uint8_t map[16] = {1, 1, 0, 1,   // 1 / 1
                                  1, 0, 0, 0,   // 1 / 0.98
                                  0, 0, 0, 1,   // 10 / 1
                                  0, 0, 0, 1};  // 10 / 0.98
  grid_area size;
  check_ok(grid_area_of(&axes, map, NULL, 0, &size));
  check_near(size.area, 2 * 0.25, 1e-12);
  check_near(size.islands, 2 * 0.25, 1e-12);
  check_near(size.largest_step, 2, 0);
  // nine columns from ratio 1 to 10, two of which hold points
  check_near(size.total, 8 * 0.25, 1e-12);
  check_ok(grid_area_of(&axes, map, NULL, 0.6, &size));
  check_near(size.area, 1 * 0.25, 1e-12);
  check_near(size.islands, 1 * 0.25, 1e-12);
  static const uint8_t used[4] = {1, 0, 0, 0};
  check_ok(grid_area_of(&axes, map, used, 1, &size));
  check_near(size.area, 2 * 0.25, 1e-12);
  check_near(size.total, 4 * 0.25, 1e-12);
}

// ---- others

// Exact solvers: hybrid mpsm with exact Jacobians is the monolithic solution where every unit has
// as many outputs as states; its radius is that of e^{KH}.
static void test_exact_units_exact_models(void** state) {
  (void)state;
  static const double A1[] = {-2}, B1[] = {1}, C1[] = {1}, D1[] = {0};
  static const double A2[] = {-50}, B2[] = {30}, C2[] = {1}, D2[] = {-0.5};
  static const double L[] = {0, 1, 1, 0};
  const yoke_stability_unit units[2] = {{1, 1, 1, A1, B1, C1, D1}, {1, 1, 1, A2, B2, C2, D2}};
  yoke_stability_case c = yoke__stability_case_default();
  c.units = units;
  c.n_units = 2;
  c.L = L;
  const double fastest = 0.5 * (-52.5 + sqrt(48.5 * 48.5 + 24));  // slower eigenvalue of K
  for (int i = 0; i < 4; i++) {
    c.step = 0.05 * (1 << i);
    double radius;
    check_ok(yoke__stability_radius(&c, &radius));
    check_near(radius, exp(fastest * c.step), 1e-10);
  }

  // a parabola is a parabola: three signals on one, exactly continued, order beyond the line's
  static const yoke_stability_method holds[] = {YOKE_STABILITY_ZOH, YOKE_STABILITY_FOH,
                                                YOKE_STABILITY_SOH};
  for (int i = 0; i < 3; i++) {
    c.method = holds[i];
    double error[2];
    for (int j = 0; j < 2; j++) {
      // eigenvalue of one small step against e^{lambda H}
      c.step = j == 0 ? 4e-3 : 2e-3;
      double radius;
      check_ok(yoke__stability_radius(&c, &radius));
      error[j] = fabs(log(radius) / c.step - fastest);
    }
    check_near(log2(error[0] / error[1]), i + 1, 0.15);
  }
}

static void test_bohl_of_known_sequences(void** state) {
  (void)state;
  // constant matrix with radius 0.9 and a large transient: tends to 0.9 from above
  enum { COUNT = 60 };
  double M[4 * COUNT], last = (double)INFINITY, value;
  for (size_t k = 0; k < COUNT; k++) {
    const double one[4] = {0.9, 5, 0, 0.9};
    memcpy(M + 4 * k, one, sizeof one);
  }
  for (size_t K = 1; K <= 32; K *= 2) {
    check_ok(yoke__stability_bohl(2, M, COUNT, K, NULL, &value));
    // ||M^K|| for M = 0.9 (I + 5/0.9 N): 2-norm of [[1, a], [0, 1]], a = 5 K / 0.9
    const double a = 5 * (double)K / 0.9, norm = 0.5 * (a + sqrt(a * a + 4));
    check_relative(value, 0.9 * pow(norm, 1 / (double)K), 1e-12);
    assert_true(value < last);
    last = value;
  }

  // units in which the transient is small
  const double ranges[2] = {1e6, 1};
  check_ok(yoke__stability_bohl(2, M, COUNT, 1, ranges, &value));
  check_near(value, 0.9, 1e-5);

  // windows that start anywhere: the worst K in a row decides
  for (int k = 0; k < COUNT; k++) {
    M[k] = k >= 17 && k < 22 ? 1.5 : 0.5;
  }
  for (size_t K = 1; K <= 10; K++) {
    check_ok(yoke__stability_bohl(1, M, COUNT, K, NULL, &value));
    const double n = K < 5 ? (double)K : 5;
    check_relative(value, pow(pow(1.5, n) * pow(0.5, (double)K - n), 1 / (double)K), 1e-12);
  }
  assert_int_equal(yoke__stability_bohl(1, M, 5, 6, NULL, &value), YOKE_BAD_ARG);
}

static void test_bad_cases_are_refused(void** state) {
  (void)state;
  dual_mass mass;
  dual_mass_open(&mass, 1e5, 1e3);
  yoke_stability_case c = variant_case(&mass, MPSM, 1e-3);
  yoke_stability* self;
  c.step = 0;
  assert_int_equal(yoke__stability_open(&c, &self), YOKE_BAD_ARG);
  assert_null(self);
  c = variant_case(&mass, MPSM, 1e-3);
  c.options.time = YOKE_MPSM_DISCRETE;
  c.options.shape = YOKE_MPSM_RAMP;
  assert_int_equal(yoke__stability_open(&c, &self), YOKE_BAD_ARG);
  yoke__stability_close(&self);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_MP_03_first_steps_and_radii),
      cmocka_unit_test(test_MP_03_monolithic),
      cmocka_unit_test(test_matrix_is_the_step),
      cmocka_unit_test(test_MP_07_accuracy_over_the_step),
      cmocka_unit_test(test_MP_07_accuracy_table),
      cmocka_unit_test(test_MP_08_options),
      cmocka_unit_test(test_MP_05_map_on_a_coarse_grid),
      cmocka_unit_test(test_area_rule),
      cmocka_unit_test(test_exact_units_exact_models),
      cmocka_unit_test(test_bohl_of_known_sequences),
      cmocka_unit_test(test_bad_cases_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
