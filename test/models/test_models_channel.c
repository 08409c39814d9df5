// The emulated link: what passes, noise and losses in numbers, the same bits again, and no delay with fresh exchange.
// Bounds are four standard deviations of the estimate.
#include "base/base_message.h"
#include "models/channel/channel.h"

#include "support/check.h"
#include "support/sim.h"
#include "support/trial.h"

enum { N = 20000 };

static void open_link(trial* d, const int64_t* n) {
  const yoke_argument arguments[] = {trial_whole("n", n)};
  trial_open(d, &yoke__model_channel, arguments, 1);
}

static void set_array(trial* d, const char* name, const double* values, size_t n) {
  check_ok(yoke__unit_set(&d->unit, trial_index(d, name), values, n * sizeof *values));
}

// the sample of call k: inputs, outputs
static void send(trial* d, int k, const double u[], double y[]) {
  check_ok(yoke__unit_set_inputs(&d->unit, u));
  trial_refresh(d, k * 1e-3);
  check_ok(yoke__unit_get_outputs(&d->unit, y));
}

static yoke_sample_info info_of(const trial* d) {
  yoke_sample_info info = {0};
  check_ok(d->unit.ops->sample_info(d->unit.self, trial_index(d, "y"), &info));
  return info;
}

static void test_clean_link_passes_bits(void** state) {
  (void)state;
  const int64_t n = 3;
  trial d;
  open_link(&d, &n);
  trial_check_description(&d);
  assert_true(yoke__unit_has_feedthrough(&d.unit, trial_index(&d, "y"), trial_index(&d, "u")));
  trial_start(&d, 0);
  for (int k = 0; k < 100; k++) {
    const double u[3] = {sin(k), -0.0, 1e300 * k};
    double y[3];
    send(&d, k, u, y);
    assert_memory_equal(u, y, sizeof u);
    (void)trial_step(&d, k * 1e-3, 1e-3);
  }
  assert_int_equal(trial_get_whole(&d, "n_lost"), 0);
  trial_close(&d);
}

// s = noise + noise_relative amplitude; elements and neighbours in time are independent
static void test_noise(void** state) {
  (void)state;
  const int64_t n = 2;
  const double noise[] = {0.5, 0.0}, amplitude[] = {1.0, 10.0}, s[] = {0.51, 0.1};
  const double u[] = {3.0, -4.0};
  double sum[2] = {0}, squares[2] = {0}, cross = 0, neighbour = 0, last = 0;
  trial d;
  open_link(&d, &n);
  set_array(&d, "noise", noise, 2);
  set_array(&d, "amplitude", amplitude, 2);
  trial_set(&d, "noise_relative", 0.01);
  trial_start(&d, 0);
  for (int k = 0; k < N; k++) {
    double y[2], z[2];
    send(&d, k, u, y);
    for (int i = 0; i < 2; i++) {
      z[i] = (y[i] - u[i]) / s[i];
      sum[i] += z[i];
      squares[i] += z[i] * z[i];
    }
    cross += z[0] * z[1];
    neighbour += z[0] * last;
    last = z[0];
    (void)trial_step(&d, k * 1e-3, 1e-3);
  }
  for (int i = 0; i < 2; i++) {
    check_near(sum[i] / N, 0, 4 / sqrt((double)N));
    check_near(squares[i] / N, 1, 4 * sqrt(2.0 / N));
  }
  check_near(cross / N, 0, 4 / sqrt((double)N));
  check_near(neighbour / N, 0, 4 / sqrt((double)N));
  trial_close(&d);
}

// A share p is lost, one as likely after a loss as after a good sample; y is then the last good one and says so.
static void test_loss(void** state) {
  (void)state;
  const double p = 0.2;
  const int64_t n = 1;
  int n_lost = 0, n_pairs = 0, k_good = 0;
  bool was_lost = false;
  double good = 0;
  trial d;
  open_link(&d, &n);
  trial_set(&d, "loss", p);
  trial_start(&d, 0);
  for (int k = 0; k < N; k++) {
    const double u = k + 0.5;
    double y = 0;
    send(&d, k, &u, &y);
    const bool is_lost = trial_get_whole(&d, "is_lost") != 0;
    const yoke_sample_info info = info_of(&d);
    if (!is_lost) {
      k_good = k;
      good = u;
    }
    assert_true(k > 0 || !is_lost);
    assert_true(y == good);
    assert_true(info.is_valid == !is_lost);
    assert_int_equal(info.sequence, k_good);
    check_near(info.time_stamp, k_good * 1e-3, 1e-12);
    check_near(info.age, (k - k_good) * 1e-3, 1e-12);
    n_lost += is_lost;
    n_pairs += is_lost && was_lost;
    was_lost = is_lost;
    assert_int_equal(trial_get_whole(&d, "n_lost"), n_lost);
    (void)trial_step(&d, k * 1e-3, 1e-3);
  }
  check_near((double)n_lost / N, p, 4 * sqrt(p * (1 - p) / N));
  check_near((double)n_pairs / n_lost, p, 4 * sqrt(p * (1 - p) / n_lost));
  yoke_sample_info info;
  assert_int_equal(d.unit.ops->sample_info(d.unit.self, trial_index(&d, "u"), &info), YOKE_BAD_ARG);
  trial_close(&d);
}

// the extremes: nothing is lost, everything but the first sample is lost
static void test_loss_of_all(void** state) {
  (void)state;
  const int64_t n = 1;
  for (int all = 0; all < 2; all++) {
    trial d;
    open_link(&d, &n);
    trial_set(&d, "loss", all);
    trial_start(&d, 0);
    for (int k = 0; k < 1000; k++) {
      const double u = k + 1;
      double y = 0;
      send(&d, k, &u, &y);
      check_near(y, all ? 1 : u, 0);
      (void)trial_step(&d, k * 1e-3, 1e-3);
    }
    trial_close(&d);
  }
}

// a noisy, lossy run; its outputs one after another
static void run_link(int64_t seed, int n_refreshes, double y[200]) {
  const int64_t n = 1;
  const double noise = 0.1;
  trial d;
  open_link(&d, &n);
  set_array(&d, "noise", &noise, 1);
  trial_set(&d, "loss", 0.3);
  trial_set_whole(&d, "seed", seed);
  trial_start(&d, 0);
  for (int k = 0; k < 200; k++) {
    const double u = sin(0.1 * k);
    for (int i = 0; i < n_refreshes; i++) {
      send(&d, k, &u, &y[k]);
    }
    (void)trial_step(&d, k * 1e-3, 1e-3);
  }
  trial_close(&d);
}

static void test_same_seed_same_bits(void** state) {
  (void)state;
  double a[200], b[200], c[200];
  run_link(5, 1, a);
  run_link(5, 3, b);  // looking more often changes nothing
  run_link(6, 1, c);
  assert_memory_equal(a, b, sizeof a);
  assert_memory_not_equal(a, c, sizeof a);
}

static void test_rolling_back(void** state) {
  (void)state;
  const int64_t n = 2;
  const double noise[] = {0.1, 0.2}, u[] = {1, 2};
  trial d;
  open_link(&d, &n);
  set_array(&d, "noise", noise, 2);
  trial_set(&d, "loss", 0.5);
  trial_start(&d, 0);
  check_ok(yoke__unit_set_inputs(&d.unit, u));
  trial_check_rollback(&d, 0, 1e-3);
  trial_close(&d);
}

// In a system: with fresh exchange the clean channel is a wire, with stale exchange its output is one step old.
static void test_fresh_exchange_adds_no_delay(void** state) {
  (void)state;
  for (int is_fresh = 0; is_fresh < 2; is_fresh++) {
    sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\n"
                     "time: {stop: 1, step: 1e-3}\n"
                     "units:\n"
                     "  source: {model: sine, with: {frequency: 3}}\n"
                     "  link: {model: channel, exchange: %s}\n"
                     "  sum: {model: integrator}\n"
                     "  wire: {model: integrator}\n"
                     "connections:\n"
                     "  - source.y -> link.u\n"
                     "  - link.y -> sum.u\n"
                     "  - source.y -> wire.u\n",
                     is_fresh ? "fresh" : "stale");
    double before = sim_read(&s, "source.y");
    for (int k = 0; k < 1000; k++) {
      sim_steps(&s, 1);
      const double now = sim_read(&s, "source.y");
      check_near(sim_read(&s, "link.y"), is_fresh ? now : before, 0);
      before = now;
    }
    const double gap = fabs(sim_read(&s, "sum.y") - sim_read(&s, "wire.y"));
    check_between(gap, is_fresh ? 0 : 1e-9, is_fresh ? 0 : 1);
    sim_close(&s);
  }
}

static void refuses(const char* name, double value, const char* part) {
  const int64_t n = 1;
  YOKE_CATCH(err);
  trial d;
  open_link(&d, &n);
  trial_set(&d, name, value);
  assert_true(yoke__unit_enter_init(&d.unit, 0, 1, &err.sink) < 0);
  check_contains(err.text, part);
  trial_close(&d);
}

static void test_wrong_settings_are_refused(void** state) {
  (void)state;
  const int64_t zero = 0;
  const yoke_argument none[] = {trial_whole("n", &zero)};
  trial_refuses(&yoke__model_channel, none, 1, "n is 0, expected 1 to");
  refuses("loss", 1.5, "expected a probability");
  refuses("loss", (double)NAN, "expected a probability");
  refuses("noise", -1, "not negative");
  refuses("amplitude", HUGE_VAL, "not negative");
  refuses("noise_relative", -1, "not negative");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_clean_link_passes_bits),
      cmocka_unit_test(test_noise),
      cmocka_unit_test(test_loss),
      cmocka_unit_test(test_loss_of_all),
      cmocka_unit_test(test_same_seed_same_bits),
      cmocka_unit_test(test_rolling_back),
      cmocka_unit_test(test_fresh_exchange_adds_no_delay),
      cmocka_unit_test(test_wrong_settings_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
