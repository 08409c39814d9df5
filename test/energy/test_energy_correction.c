// The correction against a plain transcription of its algorithm, and its guards: limits, gate, lost and bad samples.
#include "energy/energy_correction.h"

#include "support/check.h"

enum { MAX_N = 3 };

typedef struct fixture {
  yoke_correction c;
  double memory[4 * MAX_N];
} fixture;

static void start(fixture* f, const yoke_correction_settings* s, size_t n, const double B[],
                  const double A[]) {
  assert_true(yoke__correction_numbers(n) <= sizeof f->memory / sizeof *f->memory);
  yoke__correction_start(&f->c, s, n, f->memory, B, A);
}

static double uniform(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / 9007199254740992.0;
}

// The listing of the specification, one component, defaults.
typedef struct twin {
  double mu, H;
  double Bk, Ak, corr, Boff, Eacc, dEs, Apk, Fpk, dBpk;
  int hold, n_clip, n_skip, n_gate;
} twin;

static void twin_update(twin* t, double B, double A) {
  const double decay = exp(-t->H / 1.0);
  const double dP = (t->Bk - t->Boff) * A - (B - t->Boff) * t->Ak;
  t->Apk = fmax(fabs(A), t->Apk * decay);
  t->Fpk = fmax(fabs(B - t->Boff), t->Fpk * decay);
  const double rho = t->Fpk * t->Apk > 0 ? fabs(dP) / (t->Fpk * t->Apk) : 0;
  const int gated = rho > 0.5;
  if (gated) {
    t->hold = 10;
  }
  const int suspended = gated || t->hold > 0;
  if (t->hold > 0 && !gated) {
    t->hold--;
  }
  t->Eacc += t->dEs + t->corr * A * t->H;
  if (suspended) {
    t->dEs = 0;
    t->dBpk *= decay;
    t->n_gate++;
  } else {
    t->dEs = t->mu * dP * t->H;
    t->dBpk = fmax(fabs(B - t->Bk), t->dBpk * decay);
  }
  t->Boff += t->H / 2 * (B - t->Boff);
  t->Bk = B;
  t->Ak = A;
  t->corr = 0;
  if (suspended) {
    return;
  }
  if (fabs(A) <= 0.05 * t->Apk) {
    t->n_skip++;
    return;
  }
  double b = -(t->dEs + 0.25 * t->Eacc) / (fabs(A) * t->H);
  if (fabs(b) > t->dBpk) {
    b = copysign(t->dBpk, b);
    t->n_clip++;
  }
  t->corr = b * A / fabs(A);
}

// a swing with noise and, now and then, a step of the action
static void make_sample(int k, uint64_t* seed, double* B, double* A) {
  const double t = 1e-3 * k;
  *B = 40 + 30 * cos(11 * t) + (k % 900 > 450 ? 60 : 0) + uniform(seed);
  *A = 5 * sin(11 * t + 0.3) + 0.2 * uniform(seed);
}

static void test_listing(void** state) {
  (void)state;
  uint64_t seed = 1;
  yoke_correction_settings s = yoke__correction_defaults;
  s.mu = 0.5;
  twin t = {.mu = 0.5, .H = 1e-3};
  make_sample(0, &seed, &t.Bk, &t.Ak);
  t.Boff = t.Bk;
  fixture f;
  start(&f, &s, 1, &t.Bk, &t.Ak);
  for (int k = 1; k <= 20000; k++) {
    double B, A;
    make_sample(k, &seed, &B, &A);
    twin_update(&t, B, A);
    yoke__correction_update(&f.c, t.H, t.H, &B, &A);
    check_near(f.c.corr[0], t.corr, 1e-12 * t.Fpk);
    check_near(f.c.accumulated, t.Eacc, 1e-10);
  }
  print_message("20000 steps: %d clips, %d skips, %d gated\n", t.n_clip, t.n_skip, t.n_gate);
  assert_true(t.n_clip > 100 && t.n_skip > 100 && t.n_gate > 100);
  assert_int_equal(f.c.counts.n_clips, t.n_clip);
  assert_int_equal(f.c.counts.n_skips, t.n_skip);
  assert_int_equal(f.c.counts.n_gates, t.n_gate);
  assert_int_equal(f.c.counts.n_steps, 20000);
  assert_true(f.c.counts.n_offs > 10 && f.c.counts.n_offs * 10 <= f.c.counts.n_gates);
}

// A bond along one direction of space is the bond of one component, along the rate.
static void test_vector(void** state) {
  (void)state;
  uint64_t seed = 7;
  const double u[3] = {2.0 / 3, -1.0 / 3, 2.0 / 3};
  yoke_correction_settings s = yoke__correction_defaults;
  s.mu = 0.5;
  fixture line = {0}, space = {0};
  for (int k = 0; k <= 3000; k++) {
    double B, A, B3[3], A3[3];
    make_sample(k, &seed, &B, &A);
    for (int i = 0; i < 3; i++) {
      B3[i] = B * u[i];
      A3[i] = A * u[i];
    }
    if (k == 0) {
      start(&line, &s, 1, &B, &A);
      start(&space, &s, 3, B3, A3);
      continue;
    }
    yoke__correction_update(&line.c, 1e-3, 1e-3, &B, &A);
    yoke__correction_update(&space.c, 1e-3, 1e-3, B3, A3);
    for (int i = 0; i < 3; i++) {
      check_near(space.c.corr[i], line.c.corr[0] * u[i], 1e-9);
    }
  }
  assert_int_equal(space.c.counts.n_gates, line.c.counts.n_gates);
}

// Without limits one step's error is taken out by the next one exactly if the rate stays: the books stay empty.
static void test_balance(void** state) {
  (void)state;
  yoke_correction_settings s = yoke__correction_bare;
  s.mu = 0.5;
  fixture f;
  start(&f, &s, 1, (double[]){0}, (double[]){3});
  double B = 0, created = 0, taken = 0;
  for (int k = 1; k <= 1000; k++) {
    B += sin(0.1 * k);
    taken += f.c.corr[0] * 3 * 1e-3;
    yoke__correction_update(&f.c, 1e-3, 1e-3, &B, (double[]){3});
    created += f.c.step_energy;
  }
  check_near(created + taken, f.c.accumulated + f.c.step_energy, 1e-12);
  check_near(f.c.accumulated, 0, 1e-12);
  check_near(created, -0.5 * 3 * B * 1e-3, 1e-12);  // mu (B_0 - B_k) A H
}

// the energy of a step of h_last is taken out within h_next
static void test_unequal_steps(void** state) {
  (void)state;
  yoke_correction_settings s = yoke__correction_bare;
  s.mu = 0.5;
  fixture f;
  start(&f, &s, 1, (double[]){0}, (double[]){2});
  yoke__correction_update(&f.c, 0.1, 0.4, (double[]){-10}, (double[]){2});
  check_near(f.c.step_energy, 0.5 * 20 * 0.1, 1e-15);
  check_near(f.c.corr[0] * 2 * 0.4, -f.c.step_energy, 1e-15);
  yoke__correction_update(&f.c, 0.4, 0.1, (double[]){-10}, (double[]){2});
  check_near(f.c.accumulated, 0, 1e-15);
}

static void test_limits(void** state) {
  (void)state;
  uint64_t seed = 3;
  yoke_correction_settings s = yoke__correction_defaults;
  s.mu = 0.5;
  s.max_action = 0.125;
  s.max_energy = 1e-3;
  fixture f = {0};
  for (int k = 0; k <= 5000; k++) {
    double B, A;
    make_sample(k, &seed, &B, &A);
    if (k == 0) {
      start(&f, &s, 1, &B, &A);
      continue;
    }
    yoke__correction_update(&f.c, 1e-3, 1e-3, &B, &A);
    assert_true(fabs(f.c.corr[0]) <= 0.125);
    assert_true(fabs(f.c.accumulated) <= 1e-3);
  }
  assert_true(f.c.counts.peak == 0.125 && f.c.counts.n_clips > 1000);
}

static void test_off(void** state) {
  (void)state;
  uint64_t seed = 3;
  yoke_correction_settings s = yoke__correction_defaults;
  s.mu = 0.5;
  s.is_enabled = false;
  fixture f = {0};
  for (int k = 0; k <= 1000; k++) {
    double B, A;
    make_sample(k, &seed, &B, &A);
    if (k == 0) {
      start(&f, &s, 1, &B, &A);
      continue;
    }
    yoke__correction_update(&f.c, 1e-3, 1e-3, &B, &A);
    assert_true(f.c.corr[0] == 0);
  }
  assert_true(f.c.residual != 0);  // it still looks
}

// Noise and losses (CS-31): bounded by gamma times the peak change, finite, and the lost steps are counted.
static void test_noise_and_loss(void** state) {
  (void)state;
  for (uint64_t trial = 0; trial < 20; trial++) {
    uint64_t seed = 1000 + trial;
    yoke_correction_settings s = yoke__correction_defaults;
    s.mu = 0.5;
    fixture f = {0};
    int64_t n_lost = 0;
    for (int k = 0; k <= 5000; k++) {
      double B, A;
      make_sample(k, &seed, &B, &A);
      A *= 1 + 0.01 * (2 * uniform(&seed) - 1);
      if (k == 0) {
        start(&f, &s, 1, &B, &A);
        continue;
      }
      const double draw = uniform(&seed);
      const bool is_lost = draw < 0.01;
      n_lost += is_lost;
      if (is_lost && draw < 0.005) {
        yoke__correction_lose(&f.c);
      } else if (is_lost) {
        A = (double)NAN;
      }
      yoke__correction_update(&f.c, 1e-3, 1e-3, &B, &A);
      assert_true(fabs(f.c.corr[0]) <= f.c.change_peak);
      assert_true(isfinite(f.c.accumulated) && isfinite(f.c.residual));
      assert_true(!is_lost || f.c.corr[0] == 0);
    }
    assert_int_equal(f.c.counts.n_lost, n_lost);
  }
}

// A jump that is announced is not booked, and the step after it is judged by itself.
static void test_jump(void** state) {
  (void)state;
  yoke_correction_settings s = yoke__correction_bare;
  s.mu = 0.5;
  fixture f;
  start(&f, &s, 1, (double[]){1}, (double[]){1});
  yoke__correction_jump(&f.c);
  yoke__correction_update(&f.c, 1, 1, (double[]){1000}, (double[]){1});
  assert_true(f.c.corr[0] == 0 && f.c.step_energy == 0);
  yoke__correction_update(&f.c, 1, 1, (double[]){1000}, (double[]){2});
  assert_true(f.c.step_energy == 500);
  assert_true(f.c.corr[0] == -250);
}

// CS-18: what is without any guard says so; any one of the guards is enough
static void test_unguarded_CS_18(void** state) {
  (void)state;
  yoke_correction_settings s = yoke__correction_bare;
  assert_true(yoke__correction_is_unguarded(&s));
  s.min_rate_abs = 5;
  assert_false(yoke__correction_is_unguarded(&s));
  s = yoke__correction_bare;
  s.gate = 0.5;
  assert_false(yoke__correction_is_unguarded(&s));
  s = yoke__correction_bare;
  s.max_action = 10;
  assert_false(yoke__correction_is_unguarded(&s));
  assert_false(yoke__correction_is_unguarded(&yoke__correction_defaults));

  // a rate of 0 is skipped even then
  fixture f;
  s = yoke__correction_bare;
  s.mu = 0.5;
  start(&f, &s, 1, (double[]){1}, (double[]){1});
  yoke__correction_update(&f.c, 1, 1, (double[]){2}, (double[]){0});
  assert_true(f.c.corr[0] == 0 && f.c.counts.n_skips == 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_listing),         cmocka_unit_test(test_vector),
      cmocka_unit_test(test_balance),         cmocka_unit_test(test_unequal_steps),
      cmocka_unit_test(test_limits),          cmocka_unit_test(test_off),
      cmocka_unit_test(test_noise_and_loss),  cmocka_unit_test(test_jump),
      cmocka_unit_test(test_unguarded_CS_18),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
