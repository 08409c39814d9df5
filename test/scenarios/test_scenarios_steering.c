// Friction identification on the steering: the pull tests of scenarios/steering, recorded with
// friction parameters drawn at random, and a fit that starts from the defaults and has to find them
// (HINF specification 10.1).
//
//   minimise  sum over all tests and samples of ((force - force of the model) / scale)^2
//
// by Levenberg and Marquardt's method, in logarithms of the parameters; the stiction is fitted by
// what it has above the friction of motion, which is positive. The model of the fit is a plain loop
// around the equations; the recording comes from the engine.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg_dense.h"
#include "models/steering/steering_parts.h"
#include "scenario_run.h"
#include "support/normal_noise.h"

enum { N_P = 12, EVERY = 10, N_SAMPLES = 4000 / EVERY + 1, N_TESTS = 3, N_R = N_TESTS * N_SAMPLES };
#define H 1e-4

static const char* const names[N_P] = {"column_coulomb", "column_stiction", "column_stribeck",
                                       "column_sigma0",  "column_sigma1",   "column_sigma2",
                                       "rack_coulomb",   "rack_stiction",   "rack_stribeck",
                                       "rack_sigma0",    "rack_sigma1",     "rack_sigma2"};

// Pulls: by torque at 13 deg/s, by rack at 2 mm/s as published, and by rack at 20 mm/s.
typedef struct pull_test {
  const char* file;
  const char* signal;
  bool is_rack;
  double speed, stiffness, damping;  // of the robot
  double scale;                      // of its force
} pull_test;

static const pull_test pulls[N_TESTS] = {
    {"steering/pull-by-torque.yaml", "robot.torque", false, 0.2268928, 2000, 10, 1.2},
    {"steering/pull-by-rack.yaml", "robot.force", true, 0.002, 2e6, 3000, 130},
    {"steering/pull-by-rack.yaml", "robot.force", true, 0.02, 2e6, 3000, 130},
};

// ---- the model of the fit

static yoke_steering steering_of(const double p[N_P]) {
  return (yoke_steering){.J_column = 0.04,
                         .k_bar = 143,
                         .c_bar = 0.4,
                         .i_pinion = 0.0088,
                         .column = {p[0], p[1], p[2], p[3], p[4], p[5]},
                         .rack = {p[6], p[7], p[8], p[9], p[10], p[11]},
                         .m_rack = 3,
                         .J_motor = 1.5e-4,
                         .i_motor = 4.126e-4,
                         .k_belt = 1.7,
                         .c_belt = 8e-4,
                         .lag = 2e-3,
                         .inner_step = H};
}

// Speed profile of the robot: trapezia from 0.2 s and from 2 s, 1.6 s long with edges of 0.3 s.
static double profile(double t) {
  const double s = t < 1.9 ? t - 0.2 : t - 2;
  const double edge = fmax(fmin(fmin(s, 1.6 - s) / 0.3, 1), 0);
  return t < 1.9 ? edge : -edge;
}

// Force of the robot every 10 ms.
static void pull(const double p[N_P], const pull_test* test, double force[N_SAMPLES]) {
  const unsigned elements = YOKE_STEERING_RACK | YOKE_STEERING_BELT | YOKE_STEERING_MOTOR;
  yoke_steering s = steering_of(p);
  yoke__steering_laws(&s, elements);
  double x = 0;
  for (size_t k = 0; k < (N_SAMPLES - 1) * 100 + 1; k++) {
    const double t = (double)k * H, wanted = test->speed * profile(t);
    const double f = test->stiffness * (x - (test->is_rack ? s.x_rack : s.angle)) +
                     test->damping * (wanted - (test->is_rack ? s.v_rack : s.w_column));
    if (k % 100 == 0) {
      force[k / 100] = f;
    }
    s.T_s = test->is_rack ? 0 : f;
    s.F_rod = test->is_rack ? -f : 0;
    yoke__steering_step(&s, elements, t, H);
    x += H * wanted;
  }
}

// ---- the recording

static void record(const double p[N_P], const pull_test* test, double force[N_SAMPLES]) {
  static char texts[N_P + 2][80];
  const char* sets[N_P + 3] = {NULL};
  for (size_t i = 0; i < N_P + 2; i++) {
    sets[i] = texts[i];
  }
  for (size_t i = 0; i < N_P; i++) {
    snprintf(texts[i], sizeof texts[i], "units.epas.with.%s=%.17g", names[i], p[i]);
  }
  snprintf(texts[N_P], sizeof texts[0], "units.forth.with.amplitude=%.17g", test->speed);
  snprintf(texts[N_P + 1], sizeof texts[0], "units.back.with.amplitude=%.17g", -test->speed);
  scenario_run run = scenario_run_file(test->file, sets, &test->signal, 1, 4000);
  check_ok(run.status);
  for (size_t k = 0; k < N_SAMPLES; k++) {
    force[k] = test->is_rack ? -run.y[0][k * EVERY] : run.y[0][k * EVERY];
  }
  scenario_run_close(&run);
}

static const double defaults[N_P] = {0.25, 0.35, 0.1, 40, 0.4, 0.02, 80, 110, 0.005, 4e5, 900, 150};

// The loop is the engine's system.
static void test_loop_is_scenario(void** state) {
  (void)state;
  double engine[N_SAMPLES], loop[N_SAMPLES];
  for (size_t i = 0; i < N_TESTS; i++) {
    record(defaults, &pulls[i], engine);
    pull(defaults, &pulls[i], loop);
    for (size_t k = 0; k < N_SAMPLES; k++) {
      check_near(loop[k], engine[k], 1e-8 * pulls[i].scale);
    }
  }
}

// g of the rack's friction at a speed.
static double rack_friction(const double p[N_P], double v) {
  return p[6] + (p[7] - p[6]) * exp(-v * v / (p[8] * p[8]));
}

// Away from starts and reversals the force is that of the friction law.
static void test_plateau(void** state) {
  (void)state;
  double force[N_SAMPLES], mean = 0;
  const double w = 0.2268928, v = w * 0.0088;
  const double column = 0.25 + 0.1 * exp(-w * w / 0.01) + 0.02 * w;
  const double rack = rack_friction(defaults, v) + 150 * v;
  pull(defaults, &pulls[0], force);
  for (size_t k = 100; k < 150; k++) {
    mean += force[k] / 50;
  }
  print_message("plateau %.4f N.m, by the friction law %.4f\n", mean, column + 0.0088 * rack);
  check_near(mean, column + 0.0088 * rack, 0.01);
}

// ---- the fit

typedef struct fit {
  size_t n_tests;  // the first ones
  double measured[N_R];
  double q[N_P];  // logarithms
} fit;

static void parameters_of(const double q[N_P], double p[N_P]) {
  for (size_t i = 0; i < N_P; i++) {
    p[i] = exp(q[i]);
  }
  p[1] += p[0];
  p[7] += p[6];
}

static double residuals(const fit* f, const double q[N_P], double r[N_R]) {
  double p[N_P], force[N_SAMPLES], sum = 0;
  parameters_of(q, p);
  memset(r, 0, sizeof(double) * N_R);
  for (size_t i = 0; i < f->n_tests; i++) {
    pull(p, &pulls[i], force);
    for (size_t k = i * N_SAMPLES; k < (i + 1) * N_SAMPLES; k++) {
      r[k] = (f->measured[k] - force[k - i * N_SAMPLES]) / pulls[i].scale;
      sum += r[k] * r[k];
    }
  }
  return isfinite(sum) ? sum : (double)INFINITY;
}

// A step of the damped problem; A has N_R + N_P rows.
static void propose(const double J[], const double r[], double damping, double A[], double b[],
                    double step[N_P]) {
  double work[2 * N_P];
  memcpy(A, J, sizeof(double) * N_R * N_P);
  memset(&A[(size_t)N_R * N_P], 0, sizeof(double) * N_P * N_P);
  memcpy(b, r, sizeof(double) * N_R);
  for (size_t i = 0; i < N_P; i++) {
    double norm = 0;
    for (size_t k = 0; k < N_R; k++) {
      norm += J[k * N_P + i] * J[k * N_P + i];
    }
    A[(N_R + i) * N_P + i] = sqrt(damping * (norm + 1e-12));
    b[N_R + i] = 0;
  }
  (void)yoke__least_squares(N_R + N_P, N_P, A, b, step, 1e-15, work);
}

static double improve(fit* f, double cost, double* damping, double r[N_R]) {
  static double J[N_R * N_P], A[(N_R + N_P) * N_P], b[N_R + N_P], moved[N_R];
  double q[N_P], step[N_P];
  for (size_t i = 0; i < N_P; i++) {
    memcpy(q, f->q, sizeof q);
    q[i] += 1e-5;
    (void)residuals(f, q, moved);
    for (size_t k = 0; k < N_R; k++) {
      J[k * N_P + i] = -(moved[k] - r[k]) / 1e-5;
    }
  }
  for (int tries = 0; tries < 12; tries++) {
    propose(J, r, *damping, A, b, step);
    for (size_t i = 0; i < N_P; i++) {
      q[i] = f->q[i] + fmax(-0.7, fmin(step[i], 0.7));
    }
    const double now = residuals(f, q, moved);
    if (now < cost) {
      memcpy(f->q, q, sizeof q);
      memcpy(r, moved, sizeof moved);
      *damping = fmax(*damping / 10, 1e-12);
      return now;
    }
    *damping *= 5;
  }
  return cost;
}

static void run_fit(fit* f, double p[N_P]) {
  static double r[N_R];
  for (size_t i = 0; i < N_P; i++) {
    f->q[i] = log(defaults[i]);
  }
  f->q[1] = log(defaults[1] - defaults[0]);
  f->q[7] = log(defaults[7] - defaults[6]);
  double cost = residuals(f, f->q, r), damping = 1e-3;
  for (int i = 0; i < 30; i++) {
    const double before = cost;
    cost = improve(f, cost, &damping, r);
    if (cost < 1e-18 || before - cost < 1e-9 * before) {
      break;
    }
  }
  parameters_of(f->q, p);
}

static void draw(uint64_t seed, double p[N_P]) {
  normal_noise noise = {.seed = seed};
  for (size_t i = 0; i < N_P; i++) {
    p[i] = defaults[i] * exp(0.3 * noise_even(&noise));
  }
  p[1] = p[0] * (1.2 + 0.2 * noise_even(&noise));
  p[7] = p[6] * (1.2 + 0.2 * noise_even(&noise));
}

static void identify(uint64_t seed, size_t n_tests, double truth[N_P], double found[N_P]) {
  static fit f;
  draw(seed, truth);
  f.n_tests = n_tests;
  for (size_t i = 0; i < n_tests; i++) {
    record(truth, &pulls[i], f.measured + i * N_SAMPLES);
  }
  run_fit(&f, found);
}

// Relative errors in percent; returns the largest of `chosen` (bits).
static double compare(const double truth[N_P], const double found[N_P], unsigned chosen) {
  double worst = 0;
  for (size_t i = 0; i < N_P; i++) {
    const double error = 100 * (found[i] / truth[i] - 1);
    print_message("  %-16s %10.4g found %10.4g (%+.2g %%)%s\n", names[i], truth[i], found[i], error,
                  chosen & 1u << i ? "" : " not asked for");
    worst = chosen & 1u << i ? fmax(worst, fabs(error)) : worst;
  }
  return worst;
}

static uint64_t last_seed(void) {
  const char* full = getenv("YOKE_FULL");
  return full != NULL && full[0] == '1' ? 20 : 12;
}

// The two published tests. At 2 mm/s the rack never leaves the falling branch of its friction (v_s
// = 5 mm/s), so that F_c and v_s are known together only, by the friction at 2 mm/s, and sigma2,
// 0.3 N of 100 N there, is hardly seen. Seeds 1 to 3 were used while this was written.
static void test_two_pulls(void** state) {
  (void)state;
  const unsigned hidden = 1u << 5 | 1u << 6 | 1u << 8 | 1u << 11;
  for (uint64_t seed = 11; seed <= last_seed(); seed++) {
    double truth[N_P], found[N_P];
    identify(seed, 2, truth, found);
    print_message("seed %d, two pulls\n", (int)seed);
    assert_true(compare(truth, found, ~hidden) < 1);
    const double got = rack_friction(found, 0.002), want = rack_friction(truth, 0.002);
    print_message("  friction of the rack at 2 mm/s %.2f N, found %.2f N\n", want, got);
    check_near(got, want, 2e-3 * want);
  }
}

// A faster pull makes all of them visible.
static void test_three_pulls(void** state) {
  (void)state;
  for (uint64_t seed = 11; seed <= last_seed(); seed++) {
    double truth[N_P], found[N_P];
    identify(seed, 3, truth, found);
    print_message("seed %d, three pulls\n", (int)seed);
    assert_true(compare(truth, found, ~0u) < 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_loop_is_scenario),
      cmocka_unit_test(test_plateau),
      cmocka_unit_test(test_two_pulls),
      cmocka_unit_test(test_three_pulls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
