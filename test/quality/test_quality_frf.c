// Frequency response from records: a system whose response is known, driven by a chirp and by noise; what is refused.
#include "quality/quality_frf.h"
#include "support/check.h"
#include "support/heard.h"
#include "support/normal_noise.h"

#define PI     3.14159265358979323846
#define N_ROWS 40000

static HEAR(err);

// y'' + 2 zeta w0 y' + w0^2 y = w0^2 u by Runge-Kutta in four parts of a row's step.
typedef struct plant {
  double w0, zeta, y, v;
} plant;

static void slope(const plant* p, double y, double v, double u, double to[2]) {
  to[0] = v;
  to[1] = p->w0 * p->w0 * (u - y) - 2 * p->zeta * p->w0 * v;
}

static void advance(plant* p, double h, const double u[3]) {
  double a[2], b[2], c[2], d[2];
  slope(p, p->y, p->v, u[0], a);
  slope(p, p->y + h / 2 * a[0], p->v + h / 2 * a[1], u[1], b);
  slope(p, p->y + h / 2 * b[0], p->v + h / 2 * b[1], u[1], c);
  slope(p, p->y + h * c[0], p->v + h * c[1], u[2], d);
  p->y += h / 6 * (a[0] + 2 * b[0] + 2 * c[0] + d[0]);
  p->v += h / 6 * (a[1] + 2 * b[1] + 2 * c[1] + d[1]);
}

typedef struct record {
  double t[N_ROWS], u[N_ROWS], y[N_ROWS];
  size_t n;
} record;

static yoke_samples input_of(const record* r) {
  return (yoke_samples){r->t, r->u, r->n};
}

static yoke_samples output_of(const record* r) {
  return (yoke_samples){r->t, r->y, r->n};
}

// Frequency from f0 to f1 over the duration, growing by equal factors in equal times.
static double chirp(double t, double duration, double f0, double f1) {
  const double rate = log(f1 / f0) / duration;
  return sin(2 * PI * f0 / rate * (exp(rate * t) - 1));
}

static void drive(double duration, double step, double noise, record* r) {
  plant p = {.w0 = 2 * PI * 2, .zeta = 0.1};
  normal_noise random = {.seed = 11};
  r->n = (size_t)round(duration / step) + 1;
  const int parts = 4;
  const double h = step / parts;
  for (size_t k = 0; k < r->n; k++) {
    r->t[k] = (double)k * step;
    r->u[k] = chirp(r->t[k], duration, 0.3, 12);
    r->y[k] = p.y + noise * noise_even(&random);
    for (int i = 0; i < parts; i++) {
      const double t = r->t[k] + i * h;
      const double u[3] = {chirp(t, duration, 0.3, 12), chirp(t + h / 2, duration, 0.3, 12),
                           chirp(t + h, duration, 0.3, 12)};
      advance(&p, h, u);
    }
  }
}

static double complex truth(double f) {
  const double w0 = 2 * PI * 2;
  const double complex s = (double complex)I * (2 * PI * f);
  return w0 * w0 / (s * s + 2 * 0.1 * w0 * s + w0 * w0);
}

static yoke_frf estimate(const record* r, const yoke_frf_grid* grid, yoke_arena* arena) {
  const yoke_samples u = input_of(r), y = output_of(r);
  yoke_frf frf;
  heard_clear(&err);
  if (yoke__frf_estimate(&u, &y, grid, arena, &frf, &err.sink) < 0) {
    fail_msg("%s", err.text);
  }
  return frf;
}

// Largest relative error where the coherence is near 1, within the band of the chirp.
static double worst_error(const yoke_frf* frf, const yoke_frf_grid* grid, size_t* n_near) {
  double worst = 0;
  *n_near = 0;
  for (size_t k = 0; k < grid->n; k++) {
    const double f = yoke__frf_frequency(grid, k);
    assert_true(!(frf->coherence[k] > 1 + 1e-12));
    if (yoke__frf_is_trusted(frf, k, 0.99)) {
      worst = fmax(worst, cabs(frf->response[k] / truth(f) - 1));
      *n_near += 1;
    }
  }
  return worst;
}

// The response of a known system is recovered where the coherence is near 1. A segment that ends while the system still
// rings for tau = 1 / (zeta w0) cuts off a part of the response. With two Hann windows w over each instant, w = sin(a)^2 and
// cos(a)^2, the error is tau sum w w' + tau^2 sum w w'' over sum w^2 (H' / H = tau, H'' / H = 2 tau^2 at the resonance):
// at most tau pi / (sqrt(2) T) + 2 (tau pi / T)^2.
static void test_chirp_recovers_response(void** state) {
  (void)state;
  static record r;
  const double tau = 1 / (0.1 * 2 * PI * 2);
  drive(300, 0.01, 0, &r);
  const yoke_samples inputs[2] = {input_of(&r), input_of(&r)};
  for (int i = 0; i < 4; i++) {
    const double resolution = 0.015 * (double)(1 << i);
    yoke_arena arena = {0};
    yoke_frf_grid grid;
    size_t n_near;
    check_ok(yoke__frf_grid_of(inputs, resolution, &grid, &err.sink));
    const yoke_frf frf = estimate(&r, &grid, &arena);
    const double worst = worst_error(&frf, &grid, &n_near), part = PI * tau * resolution;
    const double bound = part / sqrt(2) + 2 * part * part;
    printf("resolution %.3f Hz: %zu of %zu frequencies, largest error %.4f, bound %.4f\n",
           resolution, n_near, grid.n, worst, bound);
    assert_true((double)n_near * resolution > 5);
    check_between(worst, 0, bound);
    yoke__arena_free(&arena);
  }
}

// Two records with different steps are compared at the same frequencies.
static void test_two_steps(void** state) {
  (void)state;
  static record fine, coarse;
  yoke_arena arena = {0};
  yoke_frf_grid grid;
  drive(300, 0.01, 0, &fine);
  drive(300, 0.03, 0, &coarse);
  const yoke_samples inputs[2] = {input_of(&fine), input_of(&coarse)};
  check_ok(yoke__frf_grid_of(inputs, 0, &grid, &err.sink));
  check_relative(grid.length, 300 * 2 / 9.0, 1e-9);
  const yoke_frf a = estimate(&fine, &grid, &arena), b = estimate(&coarse, &grid, &arena);
  assert_int_equal(a.n_segments, 8);
  assert_int_equal(b.n_segments, 8);
  const yoke_frf_difference d = yoke__frf_compare(&a, &b, &grid, 0.99);
  printf("%zu trusted, %.3g dB at %.3g Hz, %.3g degrees at %.3g Hz\n", d.n_trusted, d.db, d.f_db,
         d.degrees, d.f_degrees);
  assert_true(d.n_trusted > 200);
  // half a row of the coarse record between the segments: 0.015 s of 67 s, times the motion's 0.8 s
  check_near(d.db, 0, 0.05);
  check_near(d.degrees, 0, 0.3);
  yoke__arena_free(&arena);
}

// Noise in the output lowers the coherence as much as it has power, and a delay turns the phase as much as it is long.
static void test_noise_and_delay(void** state) {
  (void)state;
  static record clean, noisy;
  yoke_arena arena = {0};
  yoke_frf_grid grid;
  normal_noise random = {.seed = 5};
  const size_t delay = 3;
  clean.n = N_ROWS;
  for (size_t k = 0; k < clean.n; k++) {
    clean.t[k] = (double)k * 0.01;
    clean.u[k] = noise_even(&random);
    clean.y[k] = k >= delay ? clean.u[k - delay] : 0;
  }
  noisy = clean;
  for (size_t k = 0; k < noisy.n; k++) {
    noisy.y[k] += 0.5 * noise_even(&random);
  }
  const yoke_samples inputs[2] = {input_of(&noisy), input_of(&clean)};
  check_ok(yoke__frf_grid_of(inputs, 1, &grid, &err.sink));
  const yoke_frf a = estimate(&noisy, &grid, &arena), b = estimate(&clean, &grid, &arena);
  double mean = 0;
  for (size_t k = 0; k < grid.n; k++) {
    const double f = yoke__frf_frequency(&grid, k);
    // 3 of 100 rows under a window belong to other ones: 3 pi sqrt(4 / 3) / 100 = 0.11 per segment, by chance; over 798 of
    // them 0.004, of which 5 are allowed
    const double complex turned = b.response[k] * cexp((double complex)I * (2 * PI * f * 0.03));
    check_near(cabs(turned - 1), 0, 0.02);
    mean += a.coherence[k] / (double)grid.n;
  }
  // 1 / (1 + 0.25), over 798 segments
  printf("%zu segments, mean coherence %.4f\n", a.n_segments, mean);
  check_near(mean, 0.8, 0.01);
  yoke__arena_free(&arena);
}

static void check_refused(const record* result, const record* reference, double resolution,
                          const char* why) {
  const yoke_samples inputs[2] = {input_of(result), input_of(reference)};
  yoke_frf_grid grid;
  heard_clear(&err);
  assert_int_equal(yoke__frf_grid_of(inputs, resolution, &grid, &err.sink), YOKE_BAD_INPUT);
  check_contains(err.text, why);
}

static void test_refused(void** state) {
  (void)state;
  static record good, bad;
  drive(10, 0.01, 0, &good);
  bad = good;
  for (size_t k = 0; k < bad.n; k++) {
    bad.u[k] = 4;
  }
  check_refused(&bad, &good, 0, "the input is constant (4) in the result");
  check_refused(&good, &bad, 0, "the input is constant (4) in the reference");
  bad = good;
  bad.t[500] += 0.002;
  check_refused(&bad, &good, 0, "equally far apart, found 0.012 s behind 4.99 s in the result");
  bad = good;
  bad.n = 20;
  check_refused(&bad, &good, 0, "at least 64 rows in the result, found 20");
  bad = good;
  bad.u[7] = (double)NAN;
  check_refused(&bad, &good, 0, "input is not a finite number at 0.07 s");
  check_refused(&good, &good, 0.01, "expected a resolution from 0.1 Hz");
  check_refused(&good, &good, 50, "expected a resolution from 0.1 Hz");
  bad = good;
  for (size_t k = 0; k < bad.n; k++) {
    bad.t[k] += 9.9;
  }
  check_refused(&bad, &good, 0, "only 0.1 s in common");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_chirp_recovers_response),
      cmocka_unit_test(test_two_steps),
      cmocka_unit_test(test_noise_and_delay),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
