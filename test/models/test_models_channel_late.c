// The emulated link, what happens to samples on their way: bursts of losses, samples that come late, by jitter, slowly varying,
// twice, and in the wrong order. Bounds are four standard deviations of the estimate.
#include "models/channel/channel.h"

#include "base/base_message.h"
#include "support/check.h"
#include "support/trial.h"

enum { N = 20000 };
#define STEP 1e-3

static void open_link(trial* d, int64_t late_max) {
  const yoke_argument arguments[] = {trial_whole("late_max", &late_max)};
  trial_open(d, &yoke__model_channel, arguments, 1);
}

// What y shows at call k: the number of a sample, or -1 if none arrives.
static int64_t look(trial* d, int k) {
  const double u = k + 0.5;
  double y = 0;
  yoke_sample_info info = {0};
  check_ok(yoke__unit_set_inputs(&d->unit, &u));
  trial_refresh(d, k * STEP);
  check_ok(yoke__unit_get_outputs(&d->unit, &y));
  check_ok(d->unit.ops->sample_info(d->unit.self, trial_index(d, "y"), &info));
  const int64_t shown = (int64_t)(y - 0.5);
  assert_int_equal(info.sequence, shown);
  check_near(info.time_stamp, (double)shown * STEP, 1e-9);
  check_near(info.age, (double)(k - shown) * STEP, 1e-9);
  assert_true(info.is_valid == (trial_get_whole(d, "is_lost") == 0));
  return info.is_valid ? shown : -1;
}

static void next(trial* d, int k) {
  (void)trial_step(d, k * STEP, STEP);
}

static void check_share(int64_t n, double of, double p) {
  check_near((double)n / of, p, 4 * sqrt(p * (1 - p) / of));
}

// Number of bursts per good sample, and their mean length.
static void test_bursts(void** state) {
  (void)state;
  trial d;
  open_link(&d, 1);
  trial_set(&d, "burst", 0.02);
  trial_set(&d, "burst_length", 6);
  trial_start(&d, 0);
  int64_t n_lost = 0, n_bursts = 0;
  bool was_lost = false;
  for (int k = 0; k < N; k++) {
    const bool is_lost = look(&d, k) < 0;
    n_lost += is_lost;
    n_bursts += is_lost && !was_lost;
    was_lost = is_lost;
    next(&d, k);
  }
  assert_int_equal(trial_get_whole(&d, "n_lost"), n_lost + (trial_get_whole(&d, "is_lost") != 0));
  check_share(n_bursts, (double)(N - n_lost), 0.02);
  check_near((double)n_lost / (double)n_bursts, 6, 4 * sqrt(6 * 5 / (double)n_bursts));
  check_near((double)trial_get_whole(&d, "n_bursts"), (double)n_bursts, 1);
  trial_close(&d);
}

// Every lateness from 0 to `jitter` is as likely: each sample is shown at most once, none later than that.
static void test_jitter(void** state) {
  (void)state;
  trial d;
  open_link(&d, 3);
  trial_set_whole(&d, "jitter", 3);
  trial_start(&d, 0);
  int64_t last[2] = {-1, -1}, n_back = 0;
  for (int k = 0; k < N; k++) {
    const int64_t shown = look(&d, k);
    if (shown >= 0) {
      assert_true(shown != last[0] && k - shown <= 3);
      n_back += shown < last[0];
      last[1] = last[0];
      last[0] = shown;
    }
    next(&d, k);
  }
  check_share(trial_get_whole(&d, "n_late"), N, 0.75);
  assert_int_equal(trial_get_whole(&d, "n_lost"), 0);
  assert_true(n_back > 0);
  trial_close(&d);
}

// Late ones leave a gap, and are shown where nothing newer arrives.
static void test_late(void** state) {
  (void)state;
  trial d;
  open_link(&d, 4);
  trial_set(&d, "late", 0.3);
  trial_set_whole(&d, "late_by", 4);
  trial_start(&d, 0);
  int64_t n_on_time = 0, n_late = 0;
  bool is_late[N] = {false};
  for (int k = 0; k < N; k++) {
    const int64_t shown = look(&d, k);
    is_late[k] = shown != k;
    n_on_time += shown == k;
    n_late += shown == k - 4;
    // nobody else may come; a late one comes if it was late and the present one is
    assert_true(shown == k || shown == k - 4 || shown == -1);
    assert_true(k < 5 || (shown == k - 4) == (is_late[k] && is_late[k - 4]));
    next(&d, k);
  }
  check_share(N - n_on_time, N, 0.3);
  check_share(n_late, N, 0.09);
  check_near((double)trial_get_whole(&d, "n_late"), (double)(N - n_on_time), 1);
  trial_close(&d);
}

// A copy comes a call later, in place of the sample of that call.
static void test_doubled(void** state) {
  (void)state;
  trial d;
  open_link(&d, 1);
  trial_set(&d, "doubled", 0.2);
  trial_start(&d, 0);
  int64_t n_copies = 0, last = -1;
  for (int k = 0; k < N; k++) {
    const int64_t shown = look(&d, k);
    assert_true(shown == k || shown == k - 1);
    // behind a copy the sample of that call is not seen, but its own copy may be
    n_copies += shown == k - 1;
    assert_true(shown >= last);
    last = shown;
    next(&d, k);
  }
  check_share(n_copies, N, 0.2);
  check_near((double)trial_get_whole(&d, "n_doubled"), (double)n_copies, 1);
  trial_close(&d);
}

// A sample changes places with its successor: nothing at its call, and then the older one is read last.
static void test_reordered(void** state) {
  (void)state;
  trial d;
  open_link(&d, 1);
  trial_set(&d, "reordered", 0.1);
  trial_start(&d, 0);
  int64_t n_behind = 0, n_nothing = 0;
  for (int k = 0; k < N; k++) {
    const int64_t shown = look(&d, k);
    assert_true(shown == k || shown == k - 1 || shown == -1);
    n_behind += shown == k - 1;
    n_nothing += shown == -1;
    next(&d, k);
  }
  check_share(n_behind, N, 0.1);
  check_share(n_nothing, N, 0.1 * 0.9);
  check_near((double)trial_get_whole(&d, "n_reordered"), (double)n_behind, 1);
  trial_close(&d);
}

// The lateness follows its cosine: what is shown has the lateness of its own time.
static void test_slowly_varying(void** state) {
  (void)state;
  trial d;
  open_link(&d, 5);
  trial_set(&d, "vary", 5);
  trial_set(&d, "vary_period", 2);
  trial_start(&d, 0);
  int64_t counts[6] = {0}, last = -1;
  for (int k = 0; k < N; k++) {
    const int64_t shown = look(&d, k);
    if (shown > 0) {
      const double wanted = 2.5 * (1 - cos(acos(-1.0) * (double)shown * STEP));
      check_near((double)(k - shown), wanted, 0.5 + 1e-6);
      counts[k - shown]++;
      assert_true(shown > last);
      last = shown;
    }
    next(&d, k);
  }
  for (int i = 0; i <= 5; i++) {
    assert_true(counts[i] > N / 20);
  }
  trial_close(&d);
}

// Everything at once: looked at more often, rolled back and run again, it is the same.
static void test_same_bits(void** state) {
  (void)state;
  static int64_t shown[3][2000];
  for (int run = 0; run < 3; run++) {
    trial d;
    open_link(&d, 9);
    trial_set(&d, "burst", 0.05);
    trial_set_whole(&d, "jitter", 2);
    trial_set(&d, "late", 0.1);
    trial_set_whole(&d, "late_by", 3);
    trial_set(&d, "doubled", 0.1);
    trial_set(&d, "reordered", 0.1);
    trial_set(&d, "vary", 2);
    trial_set_whole(&d, "seed", run == 2 ? 8 : 7);
    trial_start(&d, 0);
    for (int k = 0; k < 2000; k++) {
      for (int i = 0; i <= run; i++) {
        shown[run][k] = look(&d, k);
      }
      if (k == 500) {
        trial_check_rollback(&d, k * STEP, STEP);
      }
      next(&d, k);
    }
    trial_close(&d);
  }
  // the rolled back step has been made once more in every run
  assert_memory_equal(shown[0], shown[1], sizeof shown[0]);
  assert_memory_not_equal(shown[0], shown[2], sizeof shown[0]);
}

static void refuses(int64_t late_max, const char* name, double value, const char* part) {
  YOKE_CATCH(err);
  trial d;
  open_link(&d, late_max);
  if (strcmp(name, "jitter") == 0 || strcmp(name, "late_by") == 0) {
    trial_set_whole(&d, name, (int64_t)value);
  } else {
    trial_set(&d, name, value);
  }
  assert_true(yoke__unit_enter_init(&d.unit, 0, 1, &err.sink) < 0);
  check_contains(err.text, part);
  trial_close(&d);
}

static void test_refusals(void** state) {
  (void)state;
  refuses(0, "burst", 2, "expected a probability");
  refuses(0, "burst_length", 0.5, "burst_length must be 1 or more");
  refuses(0, "vary_period", 0, "vary_period");
  refuses(0, "doubled", 0.1, "write `late_max: 1`");
  refuses(2, "jitter", 3, "write `late_max: 3`");
  refuses(2, "jitter", -1, "from 0 to 10000");
  refuses(2, "vary", (double)NAN, "from 0 to 10000");
  const int64_t n = 100000, many = 1000;
  const yoke_argument too_many[] = {trial_whole("n", &n), trial_whole("late_max", &many)};
  trial_refuses(&yoke__model_channel, too_many, 2, "at most 1000000 numbers fit");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bursts),    cmocka_unit_test(test_jitter),
      cmocka_unit_test(test_late),      cmocka_unit_test(test_doubled),
      cmocka_unit_test(test_reordered), cmocka_unit_test(test_slowly_varying),
      cmocka_unit_test(test_same_bits), cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
