// Waves of sources: closed forms, right-hand derivatives, and the same cards in ngspice.
#include <float.h>

#include "base/base_message.h"
#include "base/base_temp.h"
#include "circuit/network/circuit_network.h"

#include "support/check.h"

#define PI 3.14159265358979323846

static const yoke_wave dc = {.kind = YOKE_WAVE_DC, .p = {-3.5}};
static const yoke_wave sine = {.kind = YOKE_WAVE_SIN, .p = {1, 100, 5, 0, 0, 0}};
static const yoke_wave damped = {.kind = YOKE_WAVE_SIN, .p = {-2, 3, 40, 0.01, 7, 30}};
static const yoke_wave pulse = {.kind = YOKE_WAVE_PULSE,
                                .p = {-1, 4, 2e-3, 1e-4, 3e-4, 1e-3, 5e-3}};
static const yoke_wave single = {.kind = YOKE_WAVE_PULSE, .p = {0, 1, 1e-3, 1e-3, 2e-3, 4e-3, 0}};
static const yoke_wave square = {.kind = YOKE_WAVE_PULSE, .p = {0, 1, 0, 0, 0, 5e-5, 1e-4}};
static const yoke_wave cut = {.kind = YOKE_WAVE_PULSE, .p = {0, 1, 0, 1e-3, 1e-3, 1, 3e-3}};
static const yoke_wave rise_fall = {.kind = YOKE_WAVE_EXP, .p = {1, -4, 2e-3, 3e-3, 6e-3, 1e-3}};
static const double points[] = {1e-3, 0, 2e-3, 5, 2e-3, 3, 4e-3, -1, 5e-3, -1};
static const yoke_wave lines = {
    .kind = YOKE_WAVE_PWL, .table = points, .n_points = 5, .repeat_from = -1};
static const yoke_wave repeated = {
    .kind = YOKE_WAVE_PWL, .table = points, .n_points = 5, .repeat_from = 2e-3};
static const double ramp[] = {0, 0, 1e-3, 2, 3e-3, 0};
static const double hill[] = {0, 3, 1e-3, -1, 2e-3, 5, 4e-3, -1};
static const yoke_wave late = {
    .kind = YOKE_WAVE_PWL, .table = hill, .n_points = 4, .repeat_from = 1e-3};
static const yoke_wave teeth = {
    .kind = YOKE_WAVE_PWL, .table = ramp, .n_points = 3, .repeat_from = 0};

// ---- closed forms

static void test_values(void** state) {
  (void)state;
  check_near(yoke__wave_value(&dc, -1), -3.5, 0);
  check_near(yoke__wave_value(&dc, 7), -3.5, 0);

  check_near(yoke__wave_value(&sine, 0), 1, 0);
  check_near(yoke__wave_value(&sine, 0.05), 101, 1e-13);
  check_near(yoke__wave_value(&sine, 0.15), -99, 1e-13);
  check_near(yoke__wave_value(&sine, -0.05), 1, 0);  // nothing moves before t = 0

  // before its delay a sine stands at its phase
  check_near(yoke__wave_value(&damped, 0), -2 + 3 * sin(PI / 6), 1e-15);
  check_near(yoke__wave_value(&damped, 0.01), -2 + 3 * sin(PI / 6), 1e-15);
  const double s = 0.0123 - 0.01;
  check_near(yoke__wave_value(&damped, 0.0123),
             -2 + 3 * exp(-7 * s) * sin(2 * PI * 40 * s + PI / 6), 1e-14);

  check_near(yoke__wave_value(&rise_fall, 1e-3), 1, 0);
  check_near(yoke__wave_value(&rise_fall, 5e-3), 1 - 5 * (1 - exp(-1)), 1e-14);
  check_near(yoke__wave_value(&rise_fall, 8e-3), 1 - 5 * (1 - exp(-2)) + 5 * (1 - exp(-2)), 1e-14);
}

static void test_pulse_values(void** state) {
  (void)state;
  static const struct {
    double t, v;
  } cases[] = {
      {-1, -1},     {0, -1},        {1.999e-3, -1},  {2e-3, -1},      {2.05e-3, 1.5},
      {2.1e-3, 4},  {2.6e-3, 4},    {3.1e-3, 4},     {3.25e-3, 1.5},  {3.4e-3, -1},
      {6.9e-3, -1}, {7.05e-3, 1.5}, {12.05e-3, 1.5}, {13.25e-3, 1.5},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    // slope 5e4 V/s times a few roundings of t
    check_near(yoke__wave_value(&pulse, cases[i].t), cases[i].v, 1e-11);
  }

  // without a period there is one pulse
  check_near(yoke__wave_value(&single, 1.5e-3), 0.5, 1e-12);
  check_near(yoke__wave_value(&single, 7e-3), 0.5, 1e-12);
  check_near(yoke__wave_value(&single, 8e-3), 0, 0);
  check_near(yoke__wave_value(&single, 1e6), 0, 0);

  // a pulse longer than its period is cut off by the next
  check_near(yoke__wave_value(&cut, 2.9e-3), 1, 0);
  check_near(yoke__wave_value(&cut, 3.5e-3), 0.5, 1e-12);
}

static void test_pwl_values(void** state) {
  (void)state;
  check_near(yoke__wave_value(&lines, -1), 0, 0);
  check_near(yoke__wave_value(&lines, 1.5e-3), 2.5, 1e-12);
  check_near(yoke__wave_value(&lines, 1.999999e-3), 4.999995, 1e-9);
  check_near(yoke__wave_value(&lines, 2e-3), 3, 0);  // behind the jump
  check_near(yoke__wave_value(&lines, 3e-3), 1, 1e-12);
  check_near(yoke__wave_value(&lines, 99), -1, 0);

  // from 2 ms to 5 ms again and again
  for (int k = 0; k < 5; k++) {
    check_near(yoke__wave_value(&repeated, 3e-3 + k * 3e-3), 1, 1e-11);
    check_near(yoke__wave_value(&repeated, 2e-3 + k * 3e-3), 3, 1e-11);
    check_near(yoke__wave_value(&repeated, 4.5e-3 + k * 3e-3), -1, 0);
    check_near(yoke__wave_value(&teeth, 0.5e-3 + k * 3e-3), 1, 1e-11);
    check_near(yoke__wave_value(&teeth, 2e-3 + k * 3e-3), 1, 1e-11);
  }
  const yoke_wave none = {.kind = YOKE_WAVE_PWL, .repeat_from = -1};
  check_near(yoke__wave_value(&none, 1), 0, 0);
}

// An ideal square wave of 10 kHz sampled on multiples of its quarter period: after two hours too,
// every sample lies in the half in which its number says, although neither k h nor n T is exact.
static void test_edges_hit_their_step(void** state) {
  (void)state;
  const double h = 2.5e-5;
  for (int64_t start = 0; start <= INT64_C(288000000); start += INT64_C(28800000)) {
    for (int64_t k = start; k < start + 1000; k++) {
      const double want = k % 4 < 2 ? 1 : 0;
      const double got = yoke__wave_value(&square, (double)k * h);
      if (got != want) {
        fail_msg("step %lld: %g instead of %g", (long long)k, got, want);
      }
    }
  }
}

// ---- slopes

// one-sided difference quotient of a smooth stretch, order 2
static double slope_by_difference(const yoke_wave* wave, double t, double d) {
  return (-3 * yoke__wave_value(wave, t) + 4 * yoke__wave_value(wave, t + d) -
          yoke__wave_value(wave, t + 2 * d)) /
         (2 * d);
}

// corners and jumps of each wave, up to the last time that is looked at
static const struct {
  const yoke_wave* wave;
  double corners[7];  // ascending; 0: no more
} all[] = {
    {&dc, {1}},
    {&sine, {1e-2}},
    {&damped, {0.01, 0.02}},
    {&pulse, {2e-3, 2.1e-3, 3.1e-3, 3.4e-3, 7e-3, 7.1e-3, 8.1e-3}},
    {&single, {1e-3, 2e-3, 6e-3, 8e-3, 1e-2}},
    {&square, {5e-5, 1e-4, 1.5e-4, 2e-4}},
    {&cut, {1e-3, 3e-3, 4e-3, 6e-3}},
    {&rise_fall, {2e-3, 6e-3, 1e-2}},
    {&lines, {1e-3, 2e-3, 4e-3, 5e-3, 6e-3}},
    {&repeated, {1e-3, 2e-3, 4e-3, 5e-3, 7e-3, 8e-3, 10e-3}},
    {&teeth, {1e-3, 3e-3, 4e-3, 6e-3}},
    {&late, {1e-3, 2e-3, 4e-3, 5e-3, 7e-3}},
};
enum { N_ALL = sizeof all / sizeof all[0] };

static void test_slopes_are_right_hand(void** state) {
  (void)state;
  const double d = 1e-7;
  for (size_t w = 0; w < N_ALL; w++) {
    // at every corner, and anywhere up to the next one
    double t = 0;
    for (size_t i = 0; i < 7 && all[w].corners[i] > 0; i++) {
      const double next = all[w].corners[i];
      for (int k = 0; k < 40 && t < next - 3 * d; k++) {
        // third derivative at most 100 (10 pi)^3 or 5/(1e-3)^3: error d^2/3 f''' below 2e-5;
        // rounding of v over d
        const double want = slope_by_difference(all[w].wave, t, d);
        check_near(yoke__wave_slope(all[w].wave, t), want, 2e-5 + 1e-6 * fabs(want));
        t += 3.137e-4;
      }
      t = next;
    }
  }
  check_near(yoke__wave_slope(&sine, 0), 100 * 10 * PI, 1e-10);
  check_near(yoke__wave_slope(&damped, 0.0099), 0, 0);
  check_near(yoke__wave_slope(&damped, 0.01), 3 * (80 * PI * cos(PI / 6) - 7 * sin(PI / 6)), 1e-10);
  check_near(yoke__wave_slope(&pulse, 2e-3), 5e4, 1e-6);
  check_near(yoke__wave_slope(&pulse, 2.1e-3), 0, 0);
}

// ---- ngspice

static const struct {
  const char* card;
  const yoke_wave* wave;
} cards[] = {
    {"sin(1 100 5)", &sine},
    {"sin(-2 3 40 0.01 7 30)", &damped},
    {"pulse(-1 4 2m 0.1m 0.3m 1m 5m)", &pulse},
    {"pulse(0 1 1m 1m 2m 4m)", &single},
    {"exp(1 -4 2m 3m 6m 1m)", &rise_fall},
    {"pwl(0 0 1m 2 3m 0) r=0", &teeth},
    {"pwl(0 3 1m -1 2m 5 4m -1) r=1m", &late},
};
enum { N_CARDS = sizeof cards / sizeof cards[0] };

// ends with status 1 for want of a .print line, so the file has to tell
static void run_ngspice(const char* folder) {
  char path[600], command[1400];
  snprintf(path, sizeof path, "%s/waves.cir", folder);
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "waves\n");
  for (int i = 0; i < N_CARDS; i++) {
    fprintf(file, "V%d n%d 0 %s\nR%d n%d 0 1\n", i, i, cards[i].card, i, i);
  }
  fprintf(file, ".tran 20u 20m 0 20u\n.control\nset wr_singlescale\nset numdgt=16\nrun\n");
  fprintf(file, "wrdata %s/waves.txt", folder);
  for (int i = 0; i < N_CARDS; i++) {
    fprintf(file, " v(n%d)", i);
  }
  fprintf(file, "\n.endc\n.end\n");
  fclose(file);
  snprintf(command, sizeof command, "ngspice -b '%s' >'%s/log' 2>&1", path, folder);
  const int status = system(command);
  (void)status;
}

// every value that ngspice printed; it holds the wave exactly because the source sets the node
static int compare_rows(FILE* file) {
  char line[2000];
  int n_rows = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    char* at = line;
    const double t = strtod(at, &at);
    for (int i = 0; i < N_CARDS; i++) {
      // slopes up to 5e4 V/s times roundings of t, and ngspice's own arithmetic
      check_near(strtod(at, &at), yoke__wave_value(cards[i].wave, t), 1e-9);
    }
    n_rows++;
  }
  return n_rows;
}

static void test_same_as_ngspice(void** state) {
  (void)state;
  if (system("command -v ngspice >/dev/null 2>&1") != 0) {
    printf("skipped: ngspice is not installed\n");
    skip();
  }
  yoke_temp* temp = NULL;
  YOKE_CATCH(err);
  char path[600];
  check_ok(yoke__temp_create(&temp, &err.sink));
  run_ngspice(yoke__temp_path(temp));
  snprintf(path, sizeof path, "%s/waves.txt", yoke__temp_path(temp));
  FILE* file = fopen(path, "r");
  assert_non_null(file);
  const int n_rows = compare_rows(file);
  fclose(file);
  yoke__temp_remove(&temp);
  assert_true(n_rows > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_pulse_values),
      cmocka_unit_test(test_pwl_values),
      cmocka_unit_test(test_edges_hit_their_step),
      cmocka_unit_test(test_slopes_are_right_hand),
      cmocka_unit_test(test_same_as_ngspice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
