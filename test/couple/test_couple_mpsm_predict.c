// One step of model-based pre-step stabilisation: matrices, exactness with exact Jacobians, the
// identity behind step 3, all its options, no heap, refusal of bad models.
#include "couple/couple_mpsm_predict.h"

#include "couple/couple_mpsm_matrix.h"
#include "couple/couple_mpsm_mbcorr.h"
#include "linalg/linalg_dense.h"
#include "support/check.h"
#include "support/counting_heap.h"
#include "support/dual_mass.h"

static double uniform(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return 2 * (double)(*seed >> 11) / 9007199254740992.0 - 1;
}

static void fill(uint64_t* seed, size_t n, double scale, double x[]) {
  for (size_t i = 0; i < n; i++) {
    x[i] = scale * uniform(seed);
  }
}

// A cluster in memory of its own; free(memory).
static yoke_mpsm* open_cluster(const yoke_mpsm_setup* setup, void** memory) {
  const size_t size = yoke__mpsm_size(setup);
  assert_true(size > 0);
  *memory = calloc(1, size > 0 ? size : 1);
  assert_non_null(*memory);
  yoke_mpsm* self;
  check_ok(yoke__mpsm_prepare(*memory, setup, &self));
  return self;
}

// ---- MP-01: matrices of the dual mass oscillator

typedef struct oscillator {
  dual_mass mass;
  double Jy1[4], Ju1[2], Jd1[2], Jy2[1], Ju2[2], Jd2[2];
  yoke_jacobian_continuous J[2];
  void* memory;
  yoke_mpsm* cluster;
} oscillator;

static const size_t oscillator_outputs[2] = {2, 1}, oscillator_inputs[2] = {1, 2};

static void open_oscillator(oscillator* o, yoke_mpsm_options options) {
  dual_mass_open(&o->mass, 1e5, 1e3);
  o->J[0] = (yoke_jacobian_continuous){2, 1, o->Jy1, o->Ju1, o->Jd1};
  o->J[1] = (yoke_jacobian_continuous){1, 2, o->Jy2, o->Ju2, o->Jd2};
  dual_mass_jacobians(&o->mass, o->J);
  const yoke_mpsm_setup setup = {
      .n_units = 2,
      .n_outputs = oscillator_outputs,
      .n_inputs = oscillator_inputs,
      .L = dual_mass_L,
      .step = 1e-3,
      .options = options,
  };
  o->cluster = open_cluster(&setup, &o->memory);
  check_ok(yoke__mpsm_set_continuous(o->cluster, 0, &o->J[0]));
  check_ok(yoke__mpsm_set_continuous(o->cluster, 1, &o->J[1]));
  check_ok(yoke__mpsm_assemble(o->cluster));
}

static void check_matrix(const double got[], const double want[], size_t n, double tolerance) {
  for (size_t i = 0; i < n; i++) {
    // a zero of K stands beside elements of 1 and more in its row
    check_near(got[i], want[i], tolerance * (want[i] == 0 ? 1 : fabs(want[i])));
  }
}

static void test_MP_01_matrices(void** state) {
  (void)state;
  oscillator o;
  open_oscillator(&o, yoke__mpsm_options_default());
  // printed with 10 to 11 digits; K(1,0), K(1,1) and the last row are rounded there
  const double K[9] = {0, 1, 0, -1e5, -0.1, 0.1, -8.998990121e8, -1.0098890121e7, -1.0198990121e4};
  const double E[9] = {9.4813865391e-1, 9.4301981853e-4, 8.3992783624e-9,
                       -1.0186048415e2, 8.6322096265e-1, 8.6378248114e-6,
                       7.0841306307e3,  -9.4790945956e2, -9.3420203539e-3};
  const double sy1[4] = {9.5041693027e-1, 9.8336729935e-4, -9.8336729935e1, 9.5031859354e-1};
  const double s11[2] = {4.9583069727e-8, 9.8336729935e-5};
  const double s02[2] = {4.1121061561, 4.1121061561e-2};
  const double s12[2] = {-99009.8427001525, -990.0984270015};
  check_matrix(o.cluster->K, K, 9, 1e-9);
  check_matrix(o.cluster->extrapolate, E, 9, 1e-9);
  check_matrix(o.cluster->units[0].sy, sy1, 4, 1e-9);
  check_matrix(o.cluster->units[0].s1, s11, 2, 1e-9);
  check_relative(o.cluster->units[1].sy[0], 4.1121061561e-5, 1e-9);
  check_matrix(o.cluster->units[1].s0, s02, 2, 1e-9);
  check_matrix(o.cluster->units[1].s1, s12, 2, 1e-9);

  // there is no loop of feedthrough, so the condition is 1 whatever newtons are against metres
  check_between(o.cluster->condition, 1, 1.5);
  free(o.memory);
}

// The exponential of a badly scaled matrix and its integrals, against those of its eigenvalues.
static void test_phi_of_a_stiff_model(void** state) {
  (void)state;
  // A = V diag(-1, -2000) V^-1 with columns that differ by 1e8 in their units
  const double f = 1e8, a = -1, b = -2000, h = 1e-3;
  const double A[4] = {a, (a - b) / f, 0, b};
  double E[4], F1[4], F2[4], work[1024];
  size_t pivots[6];
  assert_true(yoke__mpsm_phi_work_size(2) <= 1024);
  check_ok(yoke__mpsm_phi(2, A, h, E, F1, F2, work, pivots));
  const double ea = exp(a * h), eb = exp(b * h);
  const double pa = expm1(a * h) / a, pb = expm1(b * h) / b;
  check_relative(E[1], (ea - eb) / f, 1e-12);
  check_relative(E[3], eb, 1e-12);
  check_relative(F1[0], pa, 1e-12);
  check_relative(F1[1], (pa - pb) / f, 1e-12);
  check_relative(F2[3], (eb - 1 - b * h) / (b * b * h), 1e-12);
}

// ---- MP-02: two units of first order with feedthrough; exact solvers

typedef struct pair {
  double a[2], b[2], d[2];  // x' = a x + b u, y = x + d u
  double x[2], y[2], u[2];
  double Jy[2], Ju[2];
  void* memory;
  yoke_mpsm* cluster;
} pair;

static const double cross[4] = {0, 1, 1, 0};  // u1 = y2, u2 = y1
static const size_t one_each[3] = {1, 1, 1};

static void open_pair(pair* s, yoke_mpsm_options options, double H, bool has_exogenous) {
  *s = (pair){.a = {-2, -50}, .b = {1, 30}, .d = {0, -0.5}, .y = {1, -0.5}, .u = {-0.5, 1}};
  s->x[0] = s->y[0];
  s->x[1] = s->y[1] - s->d[1] * s->u[1];
  const yoke_mpsm_setup setup = {
      .n_units = 2,
      .n_outputs = one_each,
      .n_inputs = one_each,
      .L = cross,
      .step = H,
      .has_exogenous = has_exogenous,
      .options = options,
  };
  s->cluster = open_cluster(&setup, &s->memory);
  for (size_t i = 0; i < 2; i++) {
    s->Jy[i] = s->a[i];
    s->Ju[i] = s->b[i] - s->a[i] * s->d[i];
    const yoke_jacobian_continuous J = {1, 1, &s->Jy[i], &s->Ju[i], &s->d[i]};
    check_ok(yoke__mpsm_set_continuous(s->cluster, i, &J));
  }
  check_ok(yoke__mpsm_assemble(s->cluster));
}

// both units over H with held inputs
static void advance_pair(pair* s, double H) {
  for (int i = 0; i < 2; i++) {
    s->x[i] = exp(s->a[i] * H) * s->x[i] + expm1(s->a[i] * H) / s->a[i] * s->b[i] * s->u[i];
    s->y[i] = s->x[i] + s->d[i] * s->u[i];
  }
}

// e^{Kt} y(0), K = [[-2, 1], [6, -50.5]]
static void whole_pair(double t, double y[2]) {
  double E[4] = {-2 * t, t, 6 * t, -50.5 * t};
  const double start[2] = {1, -0.5};
  check_ok(yoke__expm(2, E, E));
  yoke__mat_vec(2, 2, E, start, y);
}

static void test_MP_02a_corrected_outputs_are_monolithic(void** state) {
  (void)state;
  const double H = 0.05;
  yoke_mpsm_options options = yoke__mpsm_options_default();
  options.uses_ede = true;
  options.between = YOKE_MPSM_MODEL;
  pair s;
  open_pair(&s, options, H, false);
  yoke__mpsm_start(s.cluster, s.y, s.u, NULL);
  for (int k = 1; k <= 20; k++) {
    // held outputs: the coupling error is large, the corrected outputs are not
    const double held[2] = {s.y[1], s.y[0]};
    memcpy(s.u, held, sizeof held);
    advance_pair(&s, H);
    const yoke_mpsm_sample now = {.y = s.y, .u = s.u};
    yoke__mpsm_correct(s.cluster, &now);
    yoke__mpsm_accept(s.cluster, &now);
    double want[2];
    whole_pair(k * H, want);
    check_near(s.cluster->y_tilde[0], want[0], 1e-12);
    check_near(s.cluster->y_tilde[1], want[1], 1e-12);
    if (k == 1) {
      check_near(s.cluster->y_tilde[0], 0.899811820980, 1e-12);
      check_near(s.cluster->y_tilde[1], 0.061433260125, 1e-12);
    }
  }
  check_near(s.cluster->y_tilde[0], 0.151151358088, 1e-12);
  check_near(s.cluster->y_tilde[1], 0.018651682057, 1e-12);
  check_near(s.y[0], 0.147399435612, 1e-12);
  check_near(s.y[1], 0.017054868287, 1e-12);
  free(s.memory);
}

static void test_MP_02b_outputs_are_monolithic(void** state) {
  (void)state;
  const double H = 0.05;
  pair s;
  open_pair(&s, yoke__mpsm_options_default(), H, false);
  yoke__mpsm_start(s.cluster, s.y, s.u, NULL);
  for (int k = 0; k < 20; k++) {
    const yoke_mpsm_sample now = {.y = s.y, .u = s.u};
    double u[2], want[2];
    check_ok(yoke__mpsm_step(s.cluster, &now, true, u, NULL));
    if (k < 2) {
      check_near(u[0], k == 0 ? -0.10562128416 : 0.088133378804, 1e-11);
      check_near(u[1], k == 0 ? 1.210531421803 : 0.833770581791, 1e-12);
    }
    memcpy(s.u, u, sizeof u);
    advance_pair(&s, H);
    whole_pair((k + 1) * H, want);
    check_near(s.y[0], want[0], 1e-12);
    check_near(s.y[1], want[1], 1e-12);
  }
  free(s.memory);
}

// With exogenous inputs that are lines and known ahead the held inputs still land on the monolithic
// solution: y' = K y + R (Ju g + Jd g').
static void test_exogenous_inputs_are_exact(void** state) {
  (void)state;
  const double H = 0.05;
  for (int has_slope = 0; has_slope < 2; has_slope++) {
    pair s;
    open_pair(&s, yoke__mpsm_options_default(), H, true);
    const double g_0[2] = {0.3, -0.2}, rise[2] = {has_slope * 0.7, has_slope * -1.1};

    // reference: (y, g, 1) with one exponential per step
    double y[5] = {1, -0.5, g_0[0], g_0[1], 1}, E[25] = {0}, next[5];
    const double R[4] = {1, 0, -0.5, 1};  // (I - C~)^-1, C~ = [[0, 0], [-0.5, 0]]
    for (int i = 0; i < 2; i++) {
      for (int j = 0; j < 2; j++) {
        E[5 * i + j] = H * s.cluster->K[2 * i + j];
        E[5 * i + 2 + j] = H * R[2 * i + j] * s.Ju[j];
        E[5 * i + 4] += H * R[2 * i + j] * s.d[j] * rise[j];
      }
      E[5 * (2 + i) + 4] = H * rise[i];
    }
    check_ok(yoke__expm(5, E, E));
    yoke__mpsm_start(s.cluster, s.y, s.u, NULL);
    for (int k = 0; k < 20; k++) {
      const double g[2] = {g_0[0] + k * H * rise[0], g_0[1] + k * H * rise[1]};
      const double g_next[2] = {g[0] + H * rise[0], g[1] + H * rise[1]};
      const yoke_mpsm_sample now = {.y = s.y, .u = s.u, .g = g, .g_next = g_next};
      double u[2];
      check_ok(yoke__mpsm_step(s.cluster, &now, true, u, NULL));
      memcpy(s.u, u, sizeof u);
      advance_pair(&s, H);
      yoke__mat_vec(5, 5, E, y, next);
      memcpy(y, next, sizeof y);
      check_near(s.y[0], y[0], 1e-12);
      check_near(s.y[1], y[1], 1e-12);
    }
    free(s.memory);
  }
}

// A ramp lands on the monolithic solution as well.
static void test_ramps(void** state) {
  (void)state;
  const double H = 0.05;
  yoke_mpsm_options options = yoke__mpsm_options_default();
  options.shape = YOKE_MPSM_RAMP;
  pair s;
  open_pair(&s, options, H, false);
  yoke__mpsm_start(s.cluster, s.y, s.u, NULL);
  for (int k = 0; k < 10; k++) {
    const yoke_mpsm_sample now = {.y = s.y, .u = s.u};
    double u[2], slope[2], want[2];
    check_ok(yoke__mpsm_step(s.cluster, &now, true, u, slope));
    for (int i = 0; i < 2; i++) {
      check_near(u[i] - slope[i] * H, s.y[1 - i], 1e-12);

      // x(H) for u_0 + s t
      const double a = s.a[i], z = a * H, phi1 = expm1(z) / z, phi2 = (phi1 - 1) / z;
      const double u_0 = s.y[1 - i];
      s.u[i] = u[i];
      s.x[i] = exp(z) * s.x[i] + H * s.b[i] * (phi1 * u_0 + phi2 * H * slope[i]);
    }
    s.y[0] = s.x[0] + s.d[0] * s.u[0];
    s.y[1] = s.x[1] + s.d[1] * s.u[1];
    whole_pair((k + 1) * H, want);
    check_near(s.y[0], want[0], 1e-11);
    check_near(s.y[1], want[1], 1e-11);
  }
  free(s.memory);
}

// ---- step 1 by other means

// y~ - monolithic at t = 1 for a held coupling, with n samples inside the step.
static double correction_error(yoke_mpsm_options options, size_t n_samples) {
  const double H = 0.05;
  pair s;
  open_pair(&s, options, H, false);
  free(s.memory);
  const yoke_mpsm_setup setup = {
      .n_units = 2,
      .n_outputs = one_each,
      .n_inputs = one_each,
      .L = cross,
      .step = H,
      .n_samples = n_samples,
      .options = options,
  };
  s.cluster = open_cluster(&setup, &s.memory);
  for (size_t i = 0; i < 2; i++) {
    const yoke_jacobian_continuous J = {1, 1, &s.Jy[i], &s.Ju[i], &s.d[i]};
    check_ok(yoke__mpsm_set_continuous(s.cluster, i, &J));
  }
  check_ok(yoke__mpsm_assemble(s.cluster));
  double* inner = calloc(2 * n_samples, sizeof *inner);
  yoke__mpsm_start(s.cluster, s.y, s.u, NULL);
  for (int k = 1; k <= 20; k++) {
    const double held[2] = {s.y[1], s.y[0]};
    memcpy(s.u, held, sizeof held);
    for (size_t j = 0; j < n_samples; j++) {
      advance_pair(&s, H / (double)n_samples);
      memcpy(inner + 2 * j, s.y, sizeof s.y);
    }
    const yoke_mpsm_sample now = {.y = s.y, .u = s.u, .inner = inner};
    yoke__mpsm_correct(s.cluster, &now);
    yoke__mpsm_accept(s.cluster, &now);
  }
  double want[2];
  whole_pair(1, want);
  const double error = hypot(s.cluster->y_tilde[0] - want[0], s.cluster->y_tilde[1] - want[1]);
  free(inner);
  free(s.memory);
  return error;
}

static void test_orders_of_the_correction(void** state) {
  (void)state;
  yoke_mpsm_options options = yoke__mpsm_options_default();
  options.uses_ede = true;
  for (int i = 0; i < 2; i++) {
    // lines between samples: second order in their distance; held: first
    options.between = i == 0 ? YOKE_MPSM_LINEAR : YOKE_MPSM_HELD;
    double coarse = correction_error(options, 64);
    for (size_t n = 128; n <= 512; n *= 2) {
      const double fine = correction_error(options, n);
      check_near(log2(coarse / fine), i == 0 ? 2 : 1, 0.1);
      coarse = fine;
    }
  }
}

// With a reset the step starts from y~ = y: over one step carrying over and reset are the same, and
// over several the reset knows only the error of the last.
static void test_reset_is_the_local_error(void** state) {
  (void)state;
  const double H = 0.05;
  yoke_mpsm_options options = yoke__mpsm_options_default();
  options.uses_ede = true;
  options.between = YOKE_MPSM_MODEL;
  options.resets_ede = true;
  pair s;
  open_pair(&s, options, H, false);
  yoke__mpsm_start(s.cluster, s.y, s.u, NULL);
  for (int k = 1; k <= 5; k++) {
    // monolithic solution from where the coupled one stands: states, and inputs that follow them
    double E[4] = {-2 * H, H, 6 * H, -50.5 * H}, want[2];
    const double from[2] = {s.y[0], s.y[1]};
    check_ok(yoke__expm(2, E, E));
    yoke__mat_vec(2, 2, E, from, want);
    const double held[2] = {s.y[1], s.y[0]};
    memcpy(s.u, held, sizeof held);
    advance_pair(&s, H);
    const yoke_mpsm_sample now = {.y = s.y, .u = s.u};
    yoke__mpsm_correct(s.cluster, &now);
    yoke__mpsm_accept(s.cluster, &now);
    check_near(s.cluster->y_tilde[0], want[0], 1e-13);
    check_near(s.cluster->y_tilde[1], want[1], 1e-13);
  }
  free(s.memory);
}

// ---- MP-04: the identity behind step 3, for random models of three units

enum { N_RANDOM = 3, P = 6, S = 6 };
static const size_t random_outputs[N_RANDOM] = {2, 3, 1}, random_inputs[N_RANDOM] = {3, 2, 1};

typedef struct random_models {
  double Sy[14], S0[13], S1[13];
  yoke_jacobian_discrete J[N_RANDOM];
  double L[S * P];
} random_models;

static void open_random(random_models* r, uint64_t* seed, double feedback) {
  fill(seed, 14, 0.8, r->Sy);
  fill(seed, 13, feedback, r->S0);
  fill(seed, 13, 1, r->S1);
  fill(seed, (size_t)S * P, 0.4, r->L);
  size_t y = 0, u = 0;
  for (size_t i = 0; i < N_RANDOM; i++) {
    const size_t n = random_outputs[i], m = random_inputs[i];
    r->J[i] = (yoke_jacobian_discrete){n, m, r->Sy + y, r->S0 + u, r->S1 + u};
    y += n * n;
    u += n * m;
  }
}

static yoke_mpsm* random_cluster(const random_models* r, bool uses_ede, void** memory) {
  yoke_mpsm_setup setup = {
      .n_units = N_RANDOM,
      .n_outputs = random_outputs,
      .n_inputs = random_inputs,
      .L = r->L,
      .step = 1,
      .has_exogenous = true,
      .options = yoke__mpsm_options_default(),
  };
  setup.options.time = YOKE_MPSM_DISCRETE;
  setup.options.uses_ede = uses_ede;
  yoke_mpsm* self = open_cluster(&setup, memory);
  for (size_t i = 0; i < N_RANDOM; i++) {
    check_ok(yoke__mpsm_set_discrete(self, i, &r->J[i]));
  }
  check_ok(yoke__mpsm_assemble(self));
  return self;
}

// L y^ + g' + S1^+ (Sy delta + S0 (L delta + eps)) of one unit
static void by_identity(const yoke_mpsm* self, const random_models* r, size_t i, const double g[],
                        double u[]) {
  const yoke_mpsm_unit* unit = &self->units[i];
  double Ld[S], add[3] = {0, 0, 0}, back[3], inverse[9], work[256];
  yoke__mat_vec(S, P, r->L, self->delta, Ld);
  for (size_t j = 0; j < S; j++) {
    Ld[j] += self->eps[j];
  }
  yoke__mat_vec_add(unit->n, unit->n, r->J[i].Sy, self->delta + unit->first_y, add);
  yoke__mat_vec_add(unit->n, unit->m, r->J[i].S0, Ld + unit->first_u, add);
  assert_true(yoke__pseudo_inverse_work_size(3, 3) <= 256);
  check_ok(yoke__pseudo_inverse(unit->n, unit->m, r->J[i].S1, 1e-10, inverse, NULL, work));
  yoke__mat_vec(unit->m, unit->n, inverse, add, back);
  for (size_t j = 0; j < unit->m; j++) {
    u[j] = g[unit->first_u + j] + back[j];
    for (size_t k = 0; k < P; k++) {
      u[j] += r->L[(unit->first_u + j) * P + k] * self->y_hat[k];
    }
  }
}

static void test_MP_04_identity_of_step_3(void** state) {
  (void)state;
  double worst = 0;
  for (uint64_t trial = 1; trial <= 100; trial++) {
    uint64_t seed = 40 + trial;
    random_models r;
    open_random(&r, &seed, 1);
    void* memory;
    yoke_mpsm* self = random_cluster(&r, true, &memory);
    double y[P], u[S], g[S], g_next[S], next[S];
    fill(&seed, P, 1, y);
    fill(&seed, S, 1, u);
    yoke__mpsm_start(self, y, u, NULL);
    for (int k = 0; k < 3; k++) {
      fill(&seed, P, 1, y);
      fill(&seed, S, 1, u);
      fill(&seed, S, 1, g);
      fill(&seed, S, 1, g_next);
      const yoke_mpsm_sample now = {.y = y, .u = u, .g = g, .g_next = g_next};
      check_ok(yoke__mpsm_step(self, &now, true, next, NULL));
      double size = 0;
      for (size_t j = 0; j < S; j++) {
        size = fmax(size, fabs(next[j]));
      }
      for (size_t i = 0; i < N_RANDOM; i++) {
        double want[3];
        by_identity(self, &r, i, g_next, want);
        for (size_t j = 0; j < self->units[i].m; j++) {
          worst = fmax(worst, fabs(next[self->units[i].first_u + j] - want[j]) / size);
        }
      }
    }
    free(memory);
  }
  check_between(worst, 0, 1e-10);
}

static void test_MP_04_full_is_modified_without_delta_and_S0(void** state) {
  (void)state;
  for (uint64_t trial = 1; trial <= 50; trial++) {
    uint64_t seed = 400 + trial;
    random_models r;
    open_random(&r, &seed, 0);
    void* memory;
    yoke_mpsm* self = random_cluster(&r, false, &memory);
    double y[P], u[S], g[S], full[S], modified[S];
    fill(&seed, P, 1, y);
    fill(&seed, S, 1, u);
    fill(&seed, S, 1, g);
    yoke__mpsm_start(self, y, u, NULL);
    const yoke_mpsm_sample now = {.y = y, .u = u, .g = g};
    check_ok(yoke__mpsm_step(self, &now, true, full, NULL));
    check_ok(yoke__mpsm_step(self, &now, false, modified, NULL));
    double size = 0;
    for (size_t j = 0; j < S; j++) {
      size = fmax(size, fabs(full[j]));
    }
    for (size_t j = 0; j < S; j++) {
      check_near(full[j], modified[j], 1e-10 * size);
    }
    free(memory);
  }
}

// More outputs than inputs: least squares; in units that make one output count alone it is hit.
static void test_scaling_chooses_the_output(void** state) {
  (void)state;
  const size_t n = 2, m = 1;
  const double L[2] = {0.1, 0.2};
  double Sy[4] = {0.5, 0.1, -0.2, 0.7}, S0[2] = {0.1, 0.2}, S1[2] = {1, -2};
  const yoke_jacobian_discrete J = {2, 1, Sy, S0, S1};
  const double y[2] = {1, 2}, u_k[1] = {0.3}, only_first[2] = {1, 1e9};
  for (int i = 0; i < 2; i++) {
    yoke_mpsm_setup setup = {.n_units = 1,
                             .n_outputs = &n,
                             .n_inputs = &m,
                             .L = L,
                             .step = 1,
                             .output_scale = i == 0 ? NULL : only_first,
                             .options = yoke__mpsm_options_default()};
    setup.options.time = YOKE_MPSM_DISCRETE;
    void* memory;
    yoke_mpsm* self = open_cluster(&setup, &memory);
    check_ok(yoke__mpsm_set_discrete(self, 0, &J));
    check_ok(yoke__mpsm_assemble(self));
    yoke__mpsm_start(self, y, u_k, NULL);
    const yoke_mpsm_sample now = {.y = y, .u = u_k};
    double u[1], rhs[2];
    check_ok(yoke__mpsm_step(self, &now, true, u, NULL));
    for (size_t r = 0; r < 2; r++) {
      rhs[r] = self->y_hat[r] - Sy[2 * r] * y[0] - Sy[2 * r + 1] * y[1] - S0[r] * u_k[0];
    }
    check_near(u[0], i == 0 ? (rhs[0] - 2 * rhs[1]) / 5 : rhs[0], 1e-9);
    free(memory);
  }
}

// Discrete step 1 for two scalar units by hand; with samples inside the step the end errors are
// moved to their mean.
static void test_discrete_correction(void** state) {
  (void)state;
  double a[2] = {0.9, 0.4}, b[2] = {0.2, -0.3}, c[2] = {0.5, 0.6};
  yoke_mpsm_setup setup = {.n_units = 2,
                           .n_outputs = one_each,
                           .n_inputs = one_each,
                           .L = cross,
                           .step = 1,
                           .n_samples = 2,
                           .options = yoke__mpsm_options_default()};
  setup.options.time = YOKE_MPSM_DISCRETE;
  setup.options.uses_ede = true;
  void* memory;
  yoke_mpsm* self = open_cluster(&setup, &memory);
  for (size_t i = 0; i < 2; i++) {
    const yoke_jacobian_discrete J = {1, 1, &a[i], &b[i], &c[i]};
    check_ok(yoke__mpsm_set_discrete(self, i, &J));
  }
  check_ok(yoke__mpsm_assemble(self));
  const double y_0[2] = {1, 2}, u_0[2] = {1.5, 0.8}, y[2] = {0.7, 1.6}, u[2] = {1.9, 0.9};
  const double inner[4] = {0.9, 2.1, 0.7, 1.6};
  for (int with = 0; with < 2; with++) {
    yoke__mpsm_start(self, y_0, u_0, NULL);
    const yoke_mpsm_sample now = {.y = y, .u = u, .inner = with ? inner : NULL};
    yoke__mpsm_correct(self, &now);
    double e_0[2] = {y_0[1] - u_0[0], y_0[0] - u_0[1]}, e_1[2] = {y[1] - u[0], y[0] - u[1]};
    if (with) {
      const double mean[2] = {0.5 * (inner[1] + inner[3]) - u[0],
                              0.5 * (inner[0] + inner[2]) - u[1]};
      for (int i = 0; i < 2; i++) {
        const double shift = mean[i] - 0.5 * (e_0[i] + e_1[i]);
        e_0[i] += shift;
        e_1[i] += shift;
      }
    }
    // (I - C~) delta = B~ eps_0 + D~ eps_1, C~ = [[0, c1], [c2, 0]]
    const double r[2] = {b[0] * e_0[0] + c[0] * e_1[0], b[1] * e_0[1] + c[1] * e_1[1]};
    const double det = 1 - c[0] * c[1];
    check_near(self->delta[0], (r[0] + c[0] * r[1]) / det, 1e-15);
    check_near(self->delta[1], (r[1] + c[1] * r[0]) / det, 1e-15);
  }
  free(memory);
}

// The order in which the units are given must not matter.
static void test_order_of_units_is_irrelevant(void** state) {
  (void)state;
  uint64_t seed = 7;
  random_models r, t;
  open_random(&r, &seed, 1);

  // units 2, 0, 1 of the first: vectors are permuted by these tables
  static const size_t perm[N_RANDOM] = {2, 0, 1}, outputs[N_RANDOM] = {1, 2, 3},
                      inputs[N_RANDOM] = {1, 3, 2};
  static const size_t y_of[P] = {5, 0, 1, 2, 3, 4}, u_of[S] = {5, 0, 1, 2, 3, 4};
  for (size_t i = 0; i < S; i++) {
    for (size_t j = 0; j < P; j++) {
      t.L[i * P + j] = r.L[u_of[i] * P + y_of[j]];
    }
  }
  void* memory[2];
  yoke_mpsm* first = random_cluster(&r, true, &memory[0]);
  yoke_mpsm_setup setup = {.n_units = N_RANDOM,
                           .n_outputs = outputs,
                           .n_inputs = inputs,
                           .L = t.L,
                           .step = 1,
                           .options = first->options};
  yoke_mpsm* second = open_cluster(&setup, &memory[1]);
  for (size_t i = 0; i < N_RANDOM; i++) {
    check_ok(yoke__mpsm_set_discrete(second, i, &r.J[perm[i]]));
  }
  check_ok(yoke__mpsm_assemble(second));
  double y[P], u[S], y_p[P], u_p[S], a[S], b[S];
  for (int k = 0; k < 4; k++) {
    fill(&seed, P, 1, y);
    fill(&seed, S, 1, u);
    for (size_t i = 0; i < P; i++) {
      y_p[i] = y[y_of[i]];
      u_p[i] = u[u_of[i]];
    }
    const yoke_mpsm_sample now = {.y = y, .u = u}, now_p = {.y = y_p, .u = u_p};
    if (k == 0) {
      yoke__mpsm_start(first, y, u, NULL);
      yoke__mpsm_start(second, y_p, u_p, NULL);
      continue;
    }
    check_ok(yoke__mpsm_step(first, &now, true, a, NULL));
    check_ok(yoke__mpsm_step(second, &now_p, true, b, NULL));
    for (size_t i = 0; i < S; i++) {
      check_near(b[i], a[u_of[i]], 1e-10 * (1 + fabs(a[u_of[i]])));
    }
  }
  free(memory[0]);
  free(memory[1]);
}

// New Jacobians in a run: delta is kept, delta_v made anew; the same Jacobians again change nothing
// but round-off.
static void test_new_jacobians_keep_delta(void** state) {
  (void)state;
  yoke_mpsm_options options = yoke__mpsm_options_default();
  options.uses_ede = true;
  pair s, t;
  open_pair(&s, options, 0.05, false);
  open_pair(&t, options, 0.05, false);
  yoke__mpsm_start(s.cluster, s.y, s.u, NULL);
  yoke__mpsm_start(t.cluster, t.y, t.u, NULL);
  for (int k = 0; k < 10; k++) {
    const double held[2] = {s.y[1], s.y[0]};
    memcpy(s.u, held, sizeof held);
    advance_pair(&s, 0.05);
    const yoke_mpsm_sample now = {.y = s.y, .u = s.u};
    for (size_t i = 0; i < 2; i++) {
      const yoke_jacobian_continuous J = {1, 1, &t.Jy[i], &t.Ju[i], &t.d[i]};
      check_ok(yoke__mpsm_set_continuous(t.cluster, i, &J));
    }
    check_ok(yoke__mpsm_assemble(t.cluster));
    double a[2], b[2];
    check_ok(yoke__mpsm_step(s.cluster, &now, true, a, NULL));
    check_ok(yoke__mpsm_step(t.cluster, &now, true, b, NULL));
    check_near(b[0], a[0], 1e-13);
    check_near(b[1], a[1], 1e-13);
  }
  free(s.memory);
  free(t.memory);
}

// ---- rules of the loop

static void test_MP_16_no_heap_after_prepare(void** state) {
  (void)state;
  for (int i = 0; i < 6; i++) {
    yoke_mpsm_options options = yoke__mpsm_options_default();
    options.uses_ede = i % 2 == 1;
    options.time = i == 2 || i == 3 ? YOKE_MPSM_DISCRETE : YOKE_MPSM_CONTINUOUS;
    options.shape = i == 4 ? YOKE_MPSM_RAMP : YOKE_MPSM_CONSTANT;
    options.between = i == 5 ? YOKE_MPSM_MODEL : YOKE_MPSM_LINEAR;
    oscillator o;
    open_oscillator(&o, options);
    double y[3] = {0.1, 0, -1e4}, u[3] = {-1e4, 0.1, 0}, next[3], slope[3];
    const yoke_mpsm_sample now = {.y = y, .u = u};
    check_heap_is_counted();
    const long before = atomic_load(&n_heap_calls);
    yoke__mpsm_start(o.cluster, y, u, NULL);
    for (int k = 0; k < 10; k++) {
      check_ok(yoke__mpsm_set_continuous(o.cluster, 0, &o.J[0]));
      check_ok(yoke__mpsm_set_continuous(o.cluster, 1, &o.J[1]));
      check_ok(yoke__mpsm_assemble(o.cluster));
      check_ok(yoke__mpsm_step(o.cluster, &now, true, next, slope));
    }
    assert_int_equal(atomic_load(&n_heap_calls) - before, 0);
    free(o.memory);
  }
}

static void test_same_numbers_twice(void** state) {
  (void)state;
  double u[2][3];
  for (int i = 0; i < 2; i++) {
    yoke_mpsm_options options = yoke__mpsm_options_default();
    options.uses_ede = true;
    oscillator o;
    open_oscillator(&o, options);
    const double y[3] = {0.1, 1, -1e4}, last[3] = {-1.1e4, 0.09, 2};
    const yoke_mpsm_sample now = {.y = y, .u = last};
    yoke__mpsm_start(o.cluster, y, NULL, NULL);
    check_ok(yoke__mpsm_step(o.cluster, &now, true, u[i], NULL));
    free(o.memory);
  }
  assert_memory_equal(u[0], u[1], sizeof u[0]);
}

static void test_MP_15_bad_models_are_refused(void** state) {
  (void)state;
  oscillator o;
  yoke_mpsm_options options = yoke__mpsm_options_default();
  open_oscillator(&o, options);
  const double y[3] = {0.1, 0, -1e4}, u[3] = {-1e4, 0.1, 0};
  const yoke_mpsm_sample now = {.y = y, .u = u};
  double next[3];

  // NaN in a Jacobian: not ready until all is well again
  const double good = o.Jy1[0];
  o.Jy1[0] = (double)NAN;
  assert_int_equal(yoke__mpsm_set_continuous(o.cluster, 0, &o.J[0]), YOKE_BAD_ARG);
  assert_int_equal(yoke__mpsm_step(o.cluster, &now, true, next, NULL), YOKE_SINGULAR);
  o.Jy1[0] = good;
  check_ok(yoke__mpsm_set_continuous(o.cluster, 0, &o.J[0]));
  check_ok(yoke__mpsm_assemble(o.cluster));
  check_ok(yoke__mpsm_step(o.cluster, &now, true, next, NULL));

  // an exponential that overflows
  o.Jy1[0] = 1e7;
  assert_int_equal(yoke__mpsm_set_continuous(o.cluster, 0, &o.J[0]), YOKE_DIVERGED);
  o.Jy1[0] = good;

  // a sample that is not finite
  check_ok(yoke__mpsm_set_continuous(o.cluster, 0, &o.J[0]));
  check_ok(yoke__mpsm_assemble(o.cluster));
  const double bad[3] = {(double)NAN, 0, 0};
  const yoke_mpsm_sample broken = {.y = bad, .u = u};
  assert_int_equal(yoke__mpsm_step(o.cluster, &broken, true, next, NULL), YOKE_DIVERGED);
  free(o.memory);
}

// A loop of feedthrough with gain 1 - d: condition 4 / d to first order, refused at the limit,
// whatever the units of the signals.
static void test_MP_15_rank_loss_is_refused(void** state) {
  (void)state;
  const double d[3] = {1e-3, 1e-9, 1e-11};
  for (int i = 0; i < 6; i++) {
    const double unit = i < 3 ? 1 : 1e6;
    double zero[1] = {0}, half[1] = {0.5}, c[2] = {unit, (1 - d[i % 3]) / unit};
    yoke_mpsm_setup setup = {.n_units = 2,
                             .n_outputs = one_each,
                             .n_inputs = one_each,
                             .L = cross,
                             .step = 1,
                             .options = yoke__mpsm_options_default()};
    setup.options.time = YOKE_MPSM_DISCRETE;
    void* memory;
    yoke_mpsm* self = open_cluster(&setup, &memory);
    for (size_t j = 0; j < 2; j++) {
      const yoke_jacobian_discrete J = {1, 1, half, zero, &c[j]};
      check_ok(yoke__mpsm_set_discrete(self, j, &J));
    }
    const yoke_status status = yoke__mpsm_assemble(self);
    assert_int_equal(status, i % 3 == 2 ? YOKE_SINGULAR : YOKE_OK);
    check_relative(self->condition, 4 / d[i % 3], 0.01);
    free(memory);
  }
}

// Two outputs are inverted by hand: the same numbers as by elimination, and the condition is that of the loop gain,
// (1 + sqrt|k|)^2 / |1 - k|. What comes from outside counts from the moment it is not 0.
static void test_two_outputs_are_a_case_of_their_own(void** state) {
  (void)state;
  uint64_t seed = 3;
  for (int i = 0; i < 200; i++) {
    const double unit = i % 3 == 0 ? 1 : i % 3 == 1 ? 1e4 : 1e-4;
    double a[2], b[2], c[2] = {unit * uniform(&seed), 2 * uniform(&seed) / unit}, y[2], g[2];
    fill(&seed, 2, 1, a);
    fill(&seed, 2, 1, b);
    fill(&seed, 2, 1, y);
    fill(&seed, 2, 1, g);
    yoke_mpsm_setup setup = {.n_units = 2,
                             .n_outputs = one_each,
                             .n_inputs = one_each,
                             .L = cross,
                             .step = 1,
                             .has_exogenous = true,
                             .options = yoke__mpsm_options_default()};
    setup.options.time = YOKE_MPSM_DISCRETE;
    void* memory;
    yoke_mpsm* self = open_cluster(&setup, &memory);
    for (size_t j = 0; j < 2; j++) {
      const yoke_jacobian_discrete J = {1, 1, &a[j], &b[j], &c[j]};
      check_ok(yoke__mpsm_set_discrete(self, j, &J));
    }
    check_ok(yoke__mpsm_assemble(self));
    double lu[4] = {1, -c[0], -c[1], 1};
    size_t pivots[2];
    check_ok(yoke__lu_factor(2, lu, pivots));
    for (size_t j = 0; j < 2; j++) {
      double column[2] = {j == 0, j == 1};
      yoke__lu_solve(2, lu, pivots, column);
      check_near(self->R[j], column[0], 0);
      check_near(self->R[2 + j], column[1], 0);
    }
    const double k = c[0] * c[1], root = 1 + sqrt(fabs(k));
    check_relative(self->condition, root * root / fabs(1 - k), 1e-9);

    const double none[2] = {0, 0}, u[2] = {0, 0};
    const yoke_mpsm_sample before = {.y = y, .u = u, .g = none}, now = {.y = y, .u = u, .g = g};
    for (int has_g = 0; has_g < 2; has_g++) {
      yoke__mpsm_correct(self, has_g ? &now : &before);
      yoke__mpsm_extrapolate(self, has_g ? &now : &before);
      double sum[2], expected[2];
      for (size_t j = 0; j < 2; j++) {
        const double w = y[1 - j] + (has_g ? g[j] : 0);
        sum[j] = a[j] * y[j] + b[j] * w + c[j] * (has_g ? g[j] : 0);
      }
      yoke__mat_vec(2, 2, self->R, sum, expected);
      const double size = fmax(fabs(expected[0]), fabs(expected[1]));
      check_near(self->y_hat[0], expected[0], 1e-12 * fmax(size, unit));
      check_near(self->y_hat[1], expected[1], 1e-12 * fmax(size, 1 / unit));
    }
    free(memory);
  }
}

static void test_senseless_setups_have_no_size(void** state) {
  (void)state;
  const size_t none[2] = {0, 1};
  yoke_mpsm_setup setup = {.n_units = 2,
                           .n_outputs = one_each,
                           .n_inputs = one_each,
                           .L = cross,
                           .step = 1,
                           .options = yoke__mpsm_options_default()};
  assert_true(yoke__mpsm_size(&setup) > 0);
  setup.n_outputs = none;
  assert_int_equal(yoke__mpsm_size(&setup), 0);
  setup.n_outputs = one_each;
  setup.options.shape = YOKE_MPSM_RAMP;
  setup.options.time = YOKE_MPSM_DISCRETE;
  assert_int_equal(yoke__mpsm_size(&setup), 0);
  setup.options = yoke__mpsm_options_default();
  setup.step = 0;
  assert_int_equal(yoke__mpsm_size(&setup), 0);

  // discrete Jacobians say nothing to continuous equations
  setup.step = 1;
  void* memory;
  yoke_mpsm* self = open_cluster(&setup, &memory);
  double one[1] = {1};
  const yoke_jacobian_discrete J = {1, 1, one, one, one};
  assert_int_equal(yoke__mpsm_set_discrete(self, 0, &J), YOKE_NO_SUPPORT);
  free(memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_MP_01_matrices),
      cmocka_unit_test(test_phi_of_a_stiff_model),
      cmocka_unit_test(test_MP_02a_corrected_outputs_are_monolithic),
      cmocka_unit_test(test_MP_02b_outputs_are_monolithic),
      cmocka_unit_test(test_exogenous_inputs_are_exact),
      cmocka_unit_test(test_ramps),
      cmocka_unit_test(test_orders_of_the_correction),
      cmocka_unit_test(test_reset_is_the_local_error),
      cmocka_unit_test(test_MP_04_identity_of_step_3),
      cmocka_unit_test(test_MP_04_full_is_modified_without_delta_and_S0),
      cmocka_unit_test(test_scaling_chooses_the_output),
      cmocka_unit_test(test_discrete_correction),
      cmocka_unit_test(test_order_of_units_is_irrelevant),
      cmocka_unit_test(test_new_jacobians_keep_delta),
      cmocka_unit_test(test_MP_16_no_heap_after_prepare),
      cmocka_unit_test(test_same_numbers_twice),
      cmocka_unit_test(test_MP_15_bad_models_are_refused),
      cmocka_unit_test(test_MP_15_rank_loss_is_refused),
      cmocka_unit_test(test_two_outputs_are_a_case_of_their_own),
      cmocka_unit_test(test_senseless_setups_have_no_size),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
