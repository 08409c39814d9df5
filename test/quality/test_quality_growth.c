// Growth alarm: golden numbers of the trust specification (section 10), signals that must not alarm, and thousands of
// random signals against the formula written down as it stands there.
#include "quality/quality_growth.h"

#include <assert.h>
#include <float.h>

#include "base/base_check.h"
#include "base/base_map.h"
#include "support/check.h"
#include "yoke/status.h"

#define MAX_N 2048

// ---------------------------------------------------------------------------------------------------------
// the formula of section 4: all blocks, all logarithms

static double block_log(const double y[], int64_t n, int64_t b) {
  double most = 0;
  for (int64_t k = b * n + 1; k <= (b + 1) * n; k++) {
    most = fmax(most, fmin(fabs(y[k] - y[k - 1]), DBL_MAX));
  }
  return log(most);  // minus infinity for a block of zeros
}

static bool formula_holds(const double y[], int64_t n, int64_t b, double* sum) {
  double l[5], g[4], older = -(double)INFINITY;
  *sum = 0;
  for (int j = 0; j < 5; j++) {
    l[j] = block_log(y, n, b - 4 + j);
    if (isinf(l[j])) {
      return false;
    }
  }
  bool is_growing = true;
  for (int j = 0; j < 4; j++) {
    g[j] = l[j + 1] - l[j];
    *sum += g[j];
    is_growing = is_growing && g[j] >= log(1.5);
  }
  for (int64_t a = 0; a < b - 4; a++) {
    older = fmax(older, block_log(y, n, a));
  }
  return is_growing && *sum >= log(100) && g[3] >= 0.7 * g[0] &&
         (b == 4 || l[4] >= log(10) + older);
}

// y_0 .. y_N
static yoke_growth_alarm formula(const double y[], int64_t N) {
  yoke_growth_alarm out = {.factor = 1, .rate = 1};
  for (int64_t n = 4; 5 * n <= N; n *= 2) {
    for (int64_t b = 4; b < N / n; b++) {
      double sum;
      const bool holds = formula_holds(y, n, b, &sum);
      if (holds && (!out.is_latched || n * (b + 1) < out.at)) {
        out.is_latched = true;
        out.at = n * (b + 1);
        out.from = n * (b - 4);
        out.n = 4 * n;
        out.factor = exp(sum);
        out.rate = exp(sum / (double)(4 * n));
      }
      out.is_active = b == N / n - 1 ? out.is_active || holds : out.is_active;
    }
  }
  return out;
}

// ---------------------------------------------------------------------------------------------------------

// The values of exchange k.
static void show(yoke_growth* growth, int64_t k, const double y[]) {
  if (k == 0) {
    yoke__growth_start(growth, y);
  } else {
    (void)yoke__growth_observe(growth, y);
  }
}

// One signal of N + 1 samples.
static yoke_growth_alarm alarm_of(const double y[], int64_t N) {
  yoke_arena arena = {0};
  yoke_growth* growth = NULL;
  yoke_growth_alarm out;
  check_ok(yoke__growth_create(&arena, 1, N, &growth));
  int64_t told = 0;
  for (int64_t k = 0; k <= N; k++) {
    if (k == 0) {
      yoke__growth_start(growth, y);
    } else if (yoke__growth_observe(growth, &y[k])) {
      assert_int_equal(told, 0);
      told = k;
    }
  }
  yoke__growth_result(growth, 0, &out);
  // it is found a little later, at the latest when somebody asks
  assert_true(told == 0 || (told >= out.at && told < out.at + YOKE_GROWTH_LATE));
  yoke__arena_free(&arena);
  return out;
}

static void check_equal(const yoke_growth_alarm* got, const yoke_growth_alarm* want) {
  assert_int_equal(got->is_latched, want->is_latched);
  assert_int_equal(got->is_active, want->is_active);
  if (want->is_latched) {
    assert_int_equal(got->at, want->at);
    assert_int_equal(got->from, want->from);
    assert_int_equal(got->n, want->n);
    check_relative(got->factor, want->factor, 1e-10);
    check_relative(got->rate, want->rate, 1e-12);
  }
}

// The same to the last bit.
static void check_same(const yoke_growth_alarm* a, const yoke_growth_alarm* b) {
  assert_true(a->is_latched == b->is_latched && a->is_active == b->is_active);
  assert_true(a->at == b->at && a->from == b->from && a->n == b->n);
  assert_true(a->factor == b->factor && a->rate == b->rate);
  assert_true(a->total == b->total && a->largest == b->largest);
}

// Reference step (1 from t = 1 on), difference, gain 40, plant y' = -y + u (exact): all units one exchange late.
static int64_t signal_loop(double H, double y[]) {
  const int64_t N = llround(10 / H), start = llround(1 / H);
  const double a = exp(-H);
  double reference = 0, difference = 0, u = 0;
  y[0] = 0;
  for (int64_t k = 0; k < N; k++) {
    y[k + 1] = a * y[k] + (1 - a) * u;
    u = 40 * difference;
    difference = reference - y[k];
    reference = k + 1 >= start ? 1 : 0;
  }
  return N;
}

static void test_TR_08_signal_loop(void** state) {
  (void)state;
  static double y[MAX_N];
  int64_t N = signal_loop(0.05, y);
  yoke_growth_alarm alarm = alarm_of(y, N);
  check_relative(y[N], -1.48936e25, 1e-5);
  assert_true(alarm.is_latched && alarm.is_active);
  assert_int_equal(alarm.at, 40);
  assert_int_equal(alarm.from, 20);
  assert_int_equal(alarm.n, 16);
  check_near(alarm.rate, 1.4010, 5e-5);
  assert_true(alarm.largest > 1.48936e25);
  assert_true(alarm.total > 1e25);

  N = signal_loop(0.01, y);
  alarm = alarm_of(y, N);
  check_near(y[N], 0.97561, 5e-6);
  assert_false(alarm.is_latched || alarm.is_active);
}

static void test_TR_08_exponentials(void** state) {
  (void)state;
  static const struct {
    double rate;
    int64_t at;
  } cases[] = {{1.02, 320}, {1.05, 160}, {1.1, 80}, {1.5, 20}};
  static double y[MAX_N];
  for (size_t i = 0; i < YOKE_COUNT(cases); i++) {
    for (int64_t k = 0; k <= 600; k++) {
      y[k] = 3 + 1e-5 * pow(cases[i].rate, (double)k);
    }
    // the offset of 3 costs digits of the first increments
    const yoke_growth_alarm alarm = alarm_of(y, 600);
    assert_true(alarm.is_latched && alarm.is_active);
    assert_int_equal(alarm.at, cases[i].at);
    check_relative(alarm.rate, cases[i].rate, 1e-9);
  }
}

// A plant that is unstable by itself: x1' = 0.3 x1 + 0.4 x2, x2' = 0.1 x2 + 0.3 x1, held inputs.
static void test_TR_25_alarm(void** state) {
  (void)state;
  static double y[2][2048];
  const double H = 0.01, a1 = exp(0.3 * H), a2 = exp(0.1 * H);
  y[0][0] = 1;
  y[1][0] = 0.2;
  for (int k = 0; k < 2000; k++) {
    y[0][k + 1] = a1 * y[0][k] + (a1 - 1) / 0.3 * 0.4 * y[1][k];
    y[1][k + 1] = a2 * y[1][k] + (a2 - 1) / 0.1 * 0.3 * y[0][k];
  }
  for (int i = 0; i < 2; i++) {
    const yoke_growth_alarm alarm = alarm_of(y[i], 2000);
    assert_true(alarm.is_latched && alarm.is_active);
    assert_int_equal(alarm.at, 1280);
    check_near(alarm.rate, 1.0056, 5e-5);
  }
}

// ---- signals that are as they should be

static uint64_t seed = 1;

static double uniform(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(seed >> 11) / 9007199254740992.0;
}

static double ramp(double k) {
  return 0.3 * k;
}

static double square(double k) {
  return k * k;
}

static double power_4(double k) {
  return pow(k, 4);
}

static double power_6(double k) {
  return pow(k, 6);
}

static double charging(double k) {
  return 1 - exp(-k / 100);
}

static double swelling(double k) {
  return k * sin(0.1 * k);
}

static double beat(double k) {
  return sin(0.3 * k) + sin(0.33 * k);
}

static double noisy_step(double k) {
  return (k >= 300 ? 1 : 0) + 1e-12 * uniform();
}

static double impulse(double k) {
  return k == 300 ? 1 : 0;
}

static double chirp(double k) {
  return sin(0.001 * k * k);
}

static double noise(double k) {
  (void)k;
  return uniform() - 0.5;
}

static double random_walk(double k) {
  static double sum;
  sum = k == 0 ? 0 : sum + uniform() - 0.5;
  return sum;
}

static double decay(double k) {
  return exp(-0.02 * k) * cos(0.2 * k);
}

static double sine(double k) {
  return sin(0.05 * k);
}

static double rest(double k) {
  (void)k;
  return 293.15;
}

static void test_TR_09_legitimate_signals(void** state) {
  (void)state;
  double (*const signals[])(double) = {ramp,     square,      power_4,    power_6, charging,
                                       swelling, beat,        noisy_step, impulse, chirp,
                                       noise,    random_walk, decay,      sine,    rest};
  static double y[600];
  for (size_t i = 0; i < YOKE_COUNT(signals); i++) {
    for (int k = 0; k < 600; k++) {
      y[k] = signals[i](k);
    }
    const yoke_growth_alarm alarm = alarm_of(y, 599);
    if (alarm.is_latched || alarm.is_active) {
      fail_msg("signal %zu alarms at exchange %lld, rate %.9g", i, (long long)alarm.at, alarm.rate);
    }
  }
}

// ---- against the formula

// A signal of a random kind, N + 1 samples; many are near the limits of the condition.
static void make_signal(int kind, int64_t N, double y[]) {
  const double rate = fmin(1 + 0.6 * pow(uniform(), 3), exp(500 / (double)N));  // no overflow
  const double offset = 10 * uniform();
  const double omega = 3 * uniform(), noise_size = pow(10, -12 * uniform());
  const double exponent = 1 + 12 * uniform(), scale = pow(10, 40 * uniform() - 20);
  const int64_t begin = (int64_t)(uniform() * (double)N * 0.8);
  const int64_t end = begin + (int64_t)(uniform() * (double)(N - begin));
  for (int64_t k = 0; k <= N; k++) {
    const double at = (double)(k < begin ? 0 : k > end ? end - begin : k - begin);
    switch (kind % 6) {
    case 0:
      y[k] = pow(rate, (double)k) * (1 + 0.5 * uniform());
      break;
    case 1:
      y[k] = pow(rate, at) * cos(omega * at) + noise_size * uniform();
      break;
    case 2:
      y[k] = k <= begin ? 0 : pow(rate, at) * sin(omega * at);
      break;
    case 3:
      y[k] = pow(at, exponent) + noise_size * uniform();
      break;
    case 4:
      y[k] = exp(30 * sin(omega * 0.02 * (double)k)) * uniform();
      break;
    default:
      y[k] = k % 37 < begin % 37 ? 1 : pow(rate, at);
      break;
    }
    y[k] = scale * (y[k] + (kind % 2 == 0 ? 0 : offset));
  }
}

static void test_random_signals_against_the_formula(void** state) {
  (void)state;
  static double y[MAX_N];
  int n_latched = 0, n_active = 0;
  seed = 4711;
  for (int i = 0; i < 6000; i++) {
    const int64_t N = 10 + (int64_t)(uniform() * (i % 50 == 0 ? 2000 : 400));
    make_signal(i, N, y);
    const yoke_growth_alarm got = alarm_of(y, N), want = formula(y, N);
    if (got.is_latched != want.is_latched || got.at != (want.is_latched ? want.at : N)) {
      print_message("signal %d of %lld exchanges\n", i, (long long)N);
    }
    check_equal(&got, &want);
    n_latched += got.is_latched;
    n_active += got.is_active;
  }
  // both answers must be tried
  print_message("6000 signals: %d alarms, %d active at the end\n", n_latched, n_active);
  check_between(n_latched, 1500, 4500);
  check_between(n_active, 500, 4000);
}

// Side by side they are what each is alone, wherever they lie and however long the run may become.
static void test_side_by_side(void** state) {
  (void)state;
  enum { N_SIGNALS = 7, N = 700 };
  static double y[N_SIGNALS][N + 1];
  yoke_arena arena = {0};
  static const size_t places[N_SIGNALS] = {8, 0, 3, 4, 7, 1, 2};
  yoke_growth *growth = NULL, *scattered = NULL;
  seed = 12;
  check_ok(yoke__growth_create(&arena, N_SIGNALS, N, &growth));
  check_ok(yoke__growth_create(&arena, N_SIGNALS, INT64_MAX, &scattered));
  for (int i = 0; i < N_SIGNALS; i++) {
    make_signal(i, N, y[i]);
  }
  for (int k = 0; k <= N; k++) {
    double row[N_SIGNALS], wide[9] = {0};
    for (int i = 0; i < N_SIGNALS; i++) {
      row[i] = y[i][k];
      wide[places[i]] = y[i][k];
    }
    show(growth, k, row);
    if (k == 0) {
      yoke__growth_start_at(scattered, wide, places);
    } else {
      (void)yoke__growth_observe_at(scattered, wide, places);
    }
  }
  for (size_t i = 0; i < N_SIGNALS; i++) {
    yoke_growth_alarm got;
    const yoke_growth_alarm alone = alarm_of(y[i], N);
    yoke__growth_result(growth, i, &got);
    check_same(&got, &alone);
    yoke__growth_result(scattered, i, &got);
    check_same(&got, &alone);
  }
  yoke__arena_free(&arena);
}

// ---- zeros, overflow, values that are no numbers

static void test_blocks_of_zeros(void** state) {
  (void)state;
  static double y[401];
  // every fourth block of 4 stands still: no window of level 4 is without zeros, longer blocks see the growth
  for (int k = 1; k <= 400; k++) {
    y[k] = (k - 1) / 4 % 4 == 3 ? y[k - 1] : y[k - 1] + pow(1.1, k);
  }
  yoke_growth_alarm got = alarm_of(y, 400), want = formula(y, 400);
  check_equal(&got, &want);
  assert_true(got.is_latched && got.n > 16);
  // a long rest in front does not count as older blocks
  for (int k = 0; k <= 400; k++) {
    y[k] = k < 200 ? 5 : 5 + pow(1.5, k - 199);
  }
  got = alarm_of(y, 400);
  want = formula(y, 400);
  check_equal(&got, &want);
  assert_int_equal(got.at, 216);
}

static void test_short_runs_and_nothing(void** state) {
  (void)state;
  static double y[20];
  yoke_arena arena = {0};
  yoke_growth* growth = NULL;
  for (int k = 0; k < 20; k++) {
    y[k] = pow(10, k);
  }
  // 19 exchanges are not enough for five blocks
  const yoke_growth_alarm alarm = alarm_of(y, 19);
  assert_false(alarm.is_latched || alarm.is_active);
  check_near(alarm.largest, 1e19, 0);
  check_ok(yoke__growth_create(&arena, 0, 100, &growth));
  yoke__growth_start(growth, NULL);
  yoke__growth_observe(growth, NULL);
  assert_true(yoke__growth_find(growth, 1) == YOKE_NOT_FOUND);
  yoke__arena_free(&arena);
}

static void test_not_finite_and_overflow(void** state) {
  (void)state;
  static double y[101];
  for (int k = 0; k <= 100; k++) {
    y[k] = sin(k);
  }
  y[100] = (double)NAN;
  yoke_growth_alarm alarm = alarm_of(y, 100);
  assert_true(alarm.is_latched && alarm.is_active && isinf(alarm.largest));
  assert_int_equal(alarm.at, 100);
  y[100] = (double)INFINITY;
  alarm = alarm_of(y, 100);
  assert_true(alarm.is_active && isinf(alarm.largest));
  // increments that overflow: the largest value says it, and no number is lost on the way
  for (int k = 0; k <= 100; k++) {
    y[k] = (k % 2 == 0 ? 1 : -1) * fmin(pow(10, 6 * k), DBL_MAX);
  }
  alarm = alarm_of(y, 100);
  assert_true(alarm.is_latched && isfinite(alarm.factor) && isfinite(alarm.rate));
  assert_true(alarm.largest > YOKE_GROWTH_LARGEST);
}

static void test_start_forgets(void** state) {
  (void)state;
  yoke_arena arena = {0};
  yoke_growth* growth = NULL;
  yoke_growth_alarm alarm;
  check_ok(yoke__growth_create(&arena, 1, 200, &growth));
  yoke__growth_start(growth, &(double){1});
  for (int k = 1; k <= 100; k++) {
    yoke__growth_observe(growth, &(double){pow(1.5, k)});
  }
  yoke__growth_start(growth, &(double){2});
  for (int k = 1; k <= 200; k++) {
    yoke__growth_observe(growth, &(double){2 + sin(k)});
  }
  yoke__growth_result(growth, 0, &alarm);
  assert_false(alarm.is_latched || alarm.is_active);
  check_near(alarm.largest, 3, 0.01);
  yoke__arena_free(&arena);
}

// The total growth counts from the first block of the window in which the alarm came.
static void test_total_growth(void** state) {
  (void)state;
  yoke_arena arena = {0};
  yoke_growth* growth = NULL;
  yoke_growth_alarm alarm;
  check_ok(yoke__growth_create(&arena, 2, 400, &growth));
  yoke__growth_start(growth, (double[]){0, 1});
  int64_t found = 0;
  for (int64_t k = 1; k <= 100 && found == 0; k++) {
    assert(growth->n == 2);  // for the analyser
    yoke__growth_observe(growth, (double[]){sin((double)k), pow(1.5, (double)k)});
    const size_t signal = yoke__growth_find(growth, 1e12);
    assert_true(signal == YOKE_NOT_FOUND || signal == 1);
    found = signal == 1 ? k : 0;
  }
  // first block of the window: increment of k = 4; 1.5^(k - 4) > 1e12 from k = 72.1 on, seen at the end of a block
  assert_int_equal(found, 76);
  yoke__growth_result(growth, 1, &alarm);
  check_relative(alarm.total, pow(1.5, 72), 1e-9);
  yoke__arena_free(&arena);
}

// Rule 1 of the verdict: with a band only growth far beyond it counts, a value above 1e100 always.
static void test_rule_1(void** state) {
  (void)state;
  const double none = (double)NAN;
  yoke_growth_alarm alarm = {.is_latched = true, .largest = 1e99};
  assert_false(yoke__growth_is_diverged(&alarm, none));
  alarm.is_active = true;
  assert_true(yoke__growth_is_diverged(&alarm, none));
  assert_false(yoke__growth_is_diverged(&alarm, 0.5));
  assert_true(yoke__growth_is_diverged(&alarm, 0.51));
  alarm = (yoke_growth_alarm){.largest = 1.1e100};
  assert_true(yoke__growth_is_diverged(&alarm, none) && yoke__growth_is_diverged(&alarm, 0.01));
  alarm.largest = none;
  assert_true(yoke__growth_is_diverged(&alarm, 0.01));
}

static void test_image(void** state) {
  (void)state;
  enum { N_SIGNALS = 6, N = 500, CUT = 203 };
  yoke_arena arena = {0};
  yoke_growth *whole = NULL, *other = NULL;
  static double y[N_SIGNALS][N + 1];
  seed = 5;
  check_ok(yoke__growth_create(&arena, N_SIGNALS, N, &whole));
  check_ok(yoke__growth_create(&arena, N_SIGNALS, N, &other));
  for (int i = 0; i < N_SIGNALS; i++) {
    make_signal(i, N, y[i]);
  }
  yoke_image count = {0};
  yoke__growth_image(whole, &count);
  unsigned char* bytes = yoke__arena_take(&arena, count.used);
  for (int k = 0; k <= N; k++) {
    double row[N_SIGNALS];
    for (int i = 0; i < N_SIGNALS; i++) {
      row[i] = y[i][k];
    }
    show(whole, k, row);
    if (k == CUT) {
      yoke_image save = {.to = bytes}, restore = {.from = bytes};
      yoke__growth_image(whole, &save);
      assert_int_equal(save.used, count.used);
      yoke__growth_image(other, &restore);
      assert_int_equal(restore.used, count.used);
    } else if (k > CUT) {
      yoke__growth_observe(other, row);
    }
  }
  for (size_t i = 0; i < N_SIGNALS; i++) {
    yoke_growth_alarm a, b;
    yoke__growth_result(whole, i, &a);
    yoke__growth_result(other, i, &b);
    check_same(&a, &b);
  }
  yoke__arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_TR_08_signal_loop),
      cmocka_unit_test(test_TR_08_exponentials),
      cmocka_unit_test(test_TR_09_legitimate_signals),
      cmocka_unit_test(test_TR_25_alarm),
      cmocka_unit_test(test_random_signals_against_the_formula),
      cmocka_unit_test(test_side_by_side),
      cmocka_unit_test(test_blocks_of_zeros),
      cmocka_unit_test(test_short_runs_and_nothing),
      cmocka_unit_test(test_not_finite_and_overflow),
      cmocka_unit_test(test_start_forgets),
      cmocka_unit_test(test_total_growth),
      cmocka_unit_test(test_rule_1),
      cmocka_unit_test(test_image),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
