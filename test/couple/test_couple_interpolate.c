// Energy-preserving interpolation: continuity, distance of the integrals over 1e5 steps against hold and linear
// extrapolation, jumps with and without feedback, samples in between, losses.
#include "couple/couple_interpolate.h"

#include "couple/couple_hold.h"
#include "couple/oscillator_loop.h"
#include "support/check.h"

enum { CALLS = 10 };
static const double H = 0.01;

typedef struct fixture {
  _Alignas(64) unsigned char memory[1024];
  const yoke_coupling_ops* ops;
  double parameters[1];
  int orders[1];
  int64_t n_sends[1];
  yoke_coupling_sink sink;
  yoke_coupling_setup setup;
  int64_t k;
  double distance;  // integral delivered - true integral
} fixture;

static void open_method(fixture* f, const yoke_coupling_ops* ops, int order, double kappa,
                        int64_t n_sends) {
  memset(f, 0, sizeof *f);
  f->ops = ops;
  f->parameters[0] = kappa;
  f->orders[0] = order;
  f->n_sends[0] = n_sends;
  f->sink = (yoke_coupling_sink){0, 1, H / CALLS};
  f->setup = (yoke_coupling_setup){
      .n_signals = 1,
      .orders = f->orders,
      .n_sinks = 1,
      .sinks = &f->sink,
      .interval = H,
      .parameters = f->parameters,
      .n_sends = f->n_sends,
  };
  assert_true(ops->size(&f->setup) <= sizeof f->memory);
  check_ok(ops->prepare(f->memory, &f->setup, NULL));
}

static void observe(fixture* f, double y) {
  const yoke_coupling_moment now = {.k = f->k, .h_last = f->k == 0 ? 0 : H, .h_next = H};
  f->ops->observe(f->memory, &now, &y, NULL);
  f->k++;
}

static double input(fixture* f, double tau) {
  double u;
  f->ops->input(f->memory, 0, tau, &u);
  return u;
}

// mean of what the unit holds during its calls
static double delivered_mean(fixture* f) {
  double sum = 0;
  for (int j = 0; j < CALLS; j++) {
    sum += input(f, j * H / CALLS);
  }
  return sum / CALLS;
}

// one interval whose true mean is known, then the sample at its end
static void pass(fixture* f, double true_mean, double end) {
  f->distance += H * (delivered_mean(f) - true_mean);
  observe(f, end);
}

// Largest |d| that errors of size 1 per exchange can build up: sum of |impulse response| of
// d_{k+1} = (1 - a kappa) d_k - (1 - a) kappa d_{k-1} + error.
static double error_gain(double kappa) {
  const double a = (CALLS - 1) / (2.0 * CALLS);
  double d = 1, old = 0, sum = 0;
  for (int k = 0; k < 5000; k++) {
    sum += fabs(d);
    const double next = (1 - a * kappa) * d - (1 - a) * kappa * old;
    old = d;
    d = next;
  }
  return sum;
}

static void test_continuous(void** state) {
  (void)state;
  uint64_t seed = 3;
  for (int order = 0; order <= 3; order++) {
    fixture f;
    open_method(&f, &yoke__couple_interpolate, order, 0.2, 1);
    double end = 0;
    for (int k = 0; k < 1000; k++) {
      seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      observe(&f, (double)(seed >> 40));
      if (k > 0) {
        check_near(input(&f, 0), end, 1e-12 * fabs(end));
      }
      end = input(&f, H);
    }
  }
}

enum { N_LONG = 100000 };

// w = t. Held: short of H/2 all the time. Linear: short of half a call. Interpolated: the books balance, at
// D = -H h / (2 kappa).
static void test_ramp(void** state) {
  (void)state;
  const double h = H / CALLS, kappa = 0.2;
  fixture zero, linear, ramp;
  open_method(&zero, &yoke__couple_hold, 0, 0, 1);
  open_method(&linear, &yoke__couple_hold, 1, 0, 1);
  open_method(&ramp, &yoke__couple_interpolate, 0, kappa, 1);
  fixture* all[] = {&zero, &linear, &ramp};
  double most = 0;
  for (int i = 0; i < 3; i++) {
    observe(all[i], 0);
  }
  for (int k = 0; k < N_LONG; k++) {
    for (int i = 0; i < 3; i++) {
      pass(all[i], H * (k + 0.5), H * (k + 1));
    }
    most = fmax(most, fabs(ramp.distance));
  }
  print_message("ramp, 1e5 steps: hold %.6g, linear %.6g, interpolated %.6g (most %.3g)\n",
                zero.distance, linear.distance, ramp.distance, most);
  check_relative(zero.distance, -H * H / 2 * N_LONG, 1e-9);
  // the first interval has no slope yet
  check_relative(linear.distance, -H * h / 2 * (N_LONG - 1) - H * H / 2, 1e-9);
  // every interval's mean is rounded at up to 1000
  check_near(ramp.distance, -H * h / (2 * kappa), 1e-10);
  // errors: half a call in every interval and a flat first ramp
  assert_true(most <= error_gain(kappa) * H * h / 2 + H * H);
}

// w = sin t. Held and linear: a lag of H/2 and of h/2, which comes back with every period. Interpolated: bounded by the
// gain times the error of prediction and of half a call.
static void test_sine(void** state) {
  (void)state;
  const double h = H / CALLS, kappa = 0.2;
  fixture zero, linear, ramp;
  open_method(&zero, &yoke__couple_hold, 0, 0, 1);
  open_method(&linear, &yoke__couple_hold, 1, 0, 1);
  open_method(&ramp, &yoke__couple_interpolate, 1, kappa, 1);
  fixture* all[] = {&zero, &linear, &ramp};
  for (int i = 0; i < 3; i++) {
    observe(all[i], 0);
  }
  double most = 0;
  for (int k = 0; k < N_LONG; k++) {
    const double t = H * k, end = H * (k + 1);
    const double mean = 2 * sin(t + H / 2) * sin(H / 2) / H;  // (cos t - cos end) / H
    for (int i = 0; i < 3; i++) {
      pass(all[i], mean, sin(end));
    }
    most = fmax(most, fabs(ramp.distance));
    // next terms: H^2 w'
    check_near(zero.distance, -H / 2 * sin(end), 2 * H * H);
    check_near(linear.distance, -h / 2 * sin(end), 2 * H * H);
  }
  const double bound = H * error_gain(kappa) * (H * H + h / 2) + H * H / 6 + H * H;
  print_message("sine, 1e5 steps: interpolated within %.3g, theory %.3g\n", most, bound);
  assert_true(most <= bound);
}

// A saw with M samples per tooth whose jumps are announced. Each jump starts the prediction anew, so errors do not
// cancel: without feedback the distance grows by H^2 (M - 1) per tooth, with it it stays bounded.
static void test_jumps(void** state) {
  (void)state;
  enum { M = 25, TEETH = 4000 };
  static const double kappas[] = {0, 0.2};
  for (int i = 0; i < 2; i++) {
    fixture f;
    open_method(&f, &yoke__couple_interpolate, 1, kappas[i], 1);
    observe(&f, 0);
    double most = 0, before = 0;
    for (int tooth = 0; tooth < TEETH; tooth++) {
      for (int k = 1; k <= M; k++) {
        const double w_old = H * (k - 1), w = H * (k % M);
        if (k == M) {
          f.ops->reset(f.memory, YOKE_RESET_DISCONTINUITY, NULL);
        }
        pass(&f, (w_old + w) / 2, w);
      }
      most = fmax(most, fabs(f.distance));
      if (i == 0 && tooth > 0) {
        check_near(f.distance - before, H * H * (M - 1), 1e-12);
      }
      before = f.distance;
    }
    print_message("saw, kappa %.1f: distance %.4g after %d teeth\n", kappas[i], f.distance, TEETH);
    if (i == 0) {
      check_relative(f.distance, H * H * (M - 1) * TEETH, 1e-3);
    } else {
      // an error of a whole tooth once per tooth, of one sample besides
      assert_true(most <= H * error_gain(kappas[i]) * H * M);
    }
  }
}

// What happens only between the exchanges is delivered too, once the source reports it: samples 0, mean 1/2.
static void test_samples_in_between(void** state) {
  (void)state;
  const double pi = acos(-1);
  fixture f;
  open_method(&f, &yoke__couple_interpolate, 1, 0.2, 8);
  observe(&f, 0);
  for (int k = 0; k < 500; k++) {
    for (int j = 1; j <= 8; j++) {
      f.ops->send(f.memory, 0, j, pow(sin(pi * j / 8), 2));
    }
    pass(&f, 0.5, 0);
  }
  check_near(delivered_mean(&f), 0.5, 1e-12);
  check_near(f.distance, -0.5 / 0.2 * H, 1e-12);
}

// A unit that takes the slope sees the ramp itself: nothing is missing on a ramp.
static void test_derivatives(void** state) {
  (void)state;
  fixture f;
  open_method(&f, &yoke__couple_interpolate, 1, 0.2, 1);
  double du = 0, health[3];
  for (int k = 0; k < 500; k++) {
    observe(&f, H * k);
    f.ops->input_derivatives(f.memory, 0, 0, 1, &du);
  }
  check_near(du, 1, 1e-12);
  check_near(input(&f, 0), H * 499, 1e-12);  // no lag, no offset
  f.ops->input_derivatives(f.memory, 0, 0, 2, &du);
  assert_true(du == 0);
  f.ops->health(f.memory, health);
  assert_true(health[0] > 0 && health[0] < H * H && health[2] == 0);
}

// Any kappa of its range dies out with at least two calls; the error in hand after 200 exchanges is gone.
static void test_range_of_kappa(void** state) {
  (void)state;
  static const double kappas[] = {0.1, 0.2, 0.5, 1};
  for (int i = 0; i < 4; i++) {
    fixture f;
    open_method(&f, &yoke__couple_interpolate, 1, kappas[i], 1);
    f.sink.step = H / 2;
    check_ok(f.ops->prepare(f.memory, &f.setup, NULL));
    observe(&f, 0);
    observe(&f, 1);
    for (int k = 0; k < 400; k++) {
      observe(&f, 1);
    }
    check_near(input(&f, 0), 1, 1e-9);
    check_near(input(&f, H), 1, 1e-9);
  }
}

static void test_losses(void** state) {
  (void)state;
  fixture f;
  open_method(&f, &yoke__couple_interpolate, 1, 0.2, 1);
  double health[3];
  for (int k = 0; k < 200; k++) {
    const bool is_lost = k == 50 || k == 51 || k == 0;
    observe(&f, is_lost ? (double)NAN : 2.0);
    assert_true(isfinite(input(&f, 0.5 * H)));
    assert_true(k == 0 || input(&f, 0.5 * H) == 2.0);
  }
  // a substitute leaves the books alone
  f.ops->reset(f.memory, YOKE_RESET_LOST_SAMPLE, NULL);
  observe(&f, 7);
  f.ops->health(f.memory, health);
  assert_true(health[0] == 0 && health[1] == 0 && health[2] == 4);
  // other equations begin where they are
  observe(&f, 9);
  f.ops->reset(f.memory, YOKE_RESET_MODE_SWITCH, NULL);
  observe(&f, -3);
  assert_true(input(&f, 0) == -3 && input(&f, H) == -3);
}

// Linear oscillator, 1 ms, ten calls per exchange, against first-order theory: in balance the ramp is half a call early
// (test_ramp). On the force alone that is all it gains, because what is old there is the motion inside the force.
static void test_ranking_on_the_oscillator(void** state) {
  (void)state;
  const loop_method hold = {&yoke__couple_hold, 0, 0}, linear = {&yoke__couple_hold, 1, 0};
  const loop_method ramp = {&yoke__couple_interpolate, 1, 0.2};
  const double step = 1e-3, early = 0.5 / 10, ripple = 0.012;
  const double held = loop_energy(hold, hold, step, 10, 10);
  const double extrapolated = loop_energy(linear, linear, step, 10, 10);
  const double all = loop_energy(ramp, ramp, step, 10, 10);
  const double force = loop_energy(ramp, hold, step, 1, 10);
  print_message("E/E0 hold %.4f, linear %.4f, interpolated %.4f; force alone %.4f\n", held,
                extrapolated, all, force);
  check_relative(all, loop_energy_predicted(step, 0, 2 * early), ripple);
  check_relative(force, loop_energy_predicted(step, 1 - early, early), ripple);
  assert_true(fabs(all - 1) < fabs(extrapolated - 1) && extrapolated < held);
  // the limit that the page states: at large steps the ramp takes energy out
  const double coarse = loop_energy(ramp, ramp, 5 * step, 10, 10);
  print_message("at 5 ms %.4f\n", coarse);
  assert_true(coarse < 0.9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_continuous),
      cmocka_unit_test(test_ramp),
      cmocka_unit_test(test_sine),
      cmocka_unit_test(test_jumps),
      cmocka_unit_test(test_samples_in_between),
      cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_range_of_kappa),
      cmocka_unit_test(test_losses),
      cmocka_unit_test(test_ranking_on_the_oscillator),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
