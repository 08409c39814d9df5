// The dual mass-spring-damper cut in all force-displacement variants (scenarios/dual-mass-cuts, HINF
// specification 1.1): one system with figures, and the random masses of the benchmark (9.1, HI-09).
//
// Free motion: the right mass starts with a speed. Units called every millisecond, explicit Euler.
// Error: root of the mean square of the right mass's speed at the exchanges, over its range in the
// undivided system.
#include <math.h>
#include <stdlib.h>

#include "scenario_run.h"
#include "support/dual_mass_cut.h"

typedef enum variant {
  FD_MOTION,
  FD_VELOCITY,
  FD_DISPLACEMENT,
  DD_MOTION,
  DD_VELOCITY,
  DD_DISPLACEMENT,
  CONSTRAINT,
  N_VARIANTS
} variant;

enum { N_MS = 2000, N_SYSTEMS = 2000 };

static const struct {
  const char* name;
  bool has_joint[2];  // left, right
  bool differentiates;
  double error[2];  // exchanged every 10 ms and 50 ms
} variants[N_VARIANTS] = {
    [FD_MOTION] = {"fd-motion", {true, false}, false, {0.0032, 0.0203}},
    [FD_VELOCITY] = {"fd-velocity", {true, false}, false, {0.0034, 0.0216}},
    [FD_DISPLACEMENT] = {"fd-displacement", {true, false}, true, {0.1343, (double)INFINITY}},
    [DD_MOTION] = {"dd-motion", {true, true}, false, {0.0024, 0.0129}},
    [DD_VELOCITY] = {"dd-velocity", {true, true}, false, {0.0061, 0.0323}},
    [DD_DISPLACEMENT] = {"dd-displacement", {true, true}, true, {0.0064, 0.0288}},
    [CONSTRAINT] = {"constraint", {false, false}, false, {0.0027, 0.0182}},
};

// A unit's parameters as text; a mass of FF is pushed by sign * f.
static void write_unit(char text[256], const char* name, double m, double k, double c,
                       bool has_joint, const cut_masses* of, const char* more) {
  char joint[100] = "";
  if (has_joint) {
    snprintf(joint, sizeof joint, ", kc: %.17g, cc: %.17g", of->kc, of->dc);
  }
  snprintf(text, 256, "units.%s.with={m: %.17g, k: %.17g, c: %.17g%s%s, solver: euler}", name, m, k,
           c, joint, more);
}

static scenario_run run_variant(variant v, const cut_masses* m, int ms) {
  static const char* const signal = "right.v";
  char file[64], left[256], right[256], joint[128], step[64];
  snprintf(file, sizeof file, "dual-mass-cuts/%s.yaml", variants[v].name);
  snprintf(step, sizeof step, "time.step=%g", ms * 1e-3);
  write_unit(left, "left", m->m1, m->k1, m->d1, variants[v].has_joint[0], m,
             v == CONSTRAINT ? ", sign: -1" : "");
  write_unit(right, "right", m->m2, m->k2, m->d2, variants[v].has_joint[1], m, "");
  snprintf(joint, sizeof joint, "laws.joint.with={k: %.17g, c: %.17g}", m->kc, m->dc);
  const char* const sets[] = {step, left, right, v == CONSTRAINT ? joint : NULL, NULL};
  return scenario_run_file(file, sets, &signal, 1, (size_t)(N_MS / ms));
}

// Exchanged at every call, force-displacement is the undivided system by explicit Euler.
static double error_of(const scenario_run* got, const scenario_run* whole) {
  const size_t every = (whole->n - 1) / (got->n - 1);
  double sum = 0, low = whole->y[0][0], high = low;
  for (size_t k = 0; k < whole->n; k++) {
    low = fmin(low, whole->y[0][k]);
    high = fmax(high, whole->y[0][k]);
  }
  for (size_t k = 0; k < got->n; k++) {
    const double e = got->y[0][k] - whole->y[0][k * every];
    sum += e * e;
  }
  return isfinite(sum) ? sqrt(sum / (double)got->n) / (high - low) : (double)INFINITY;
}

static double error_at(variant v, const cut_masses* m, int ms, const scenario_run* whole) {
  scenario_run got = run_variant(v, m, ms);
  const double error = error_of(&got, whole);
  scenario_run_close(&got);
  return error;
}

static const cut_masses regular = {40, 20, 300, 600, 200, 80, 150, 60};

// The undivided system by a loop that knows nothing of the engine.
static void test_every_call_is_the_whole(void** state) {
  (void)state;
  double x1 = 0, v1 = 0, x2 = 0, v2 = 5, whole[N_MS + 1];
  for (size_t k = 0; k <= N_MS; k++) {
    const double f = regular.kc * (x1 - x2) + regular.dc * (v1 - v2), h = 1e-3;
    whole[k] = v2;
    const double a1 = (-regular.k1 * x1 - regular.d1 * v1 - f) / regular.m1;
    const double a2 = (-regular.k2 * x2 - regular.d2 * v2 + f) / regular.m2;
    x1 += h * v1;
    x2 += h * v2;
    v1 += h * a1;
    v2 += h * a2;
  }
  for (variant v = FD_MOTION; v < N_VARIANTS; v++) {
    scenario_run got = run_variant(v, &regular, 1);
    double worst = 0;
    for (size_t k = 0; k <= N_MS; k++) {
      worst = fmax(worst, fabs(got.y[0][k] - whole[k]));
    }
    scenario_run_close(&got);
    print_message("%-16s differs by %.2g of 5 m/s\n", variants[v].name, worst);
    // a difference of positions is the speed of a call before: h v' = 1e-3 s * 200 N.s/m * 5 m/s / 20 kg
    assert_true(worst < (variants[v].differentiates ? 0.05 : 1e-12));
  }
}

static void test_figures(void** state) {
  (void)state;
  static const int steps[] = {10, 50};
  scenario_run whole = run_variant(FD_MOTION, &regular, 1);
  for (variant v = FD_MOTION; v < N_VARIANTS; v++) {
    double errors[2];
    for (size_t i = 0; i < 2; i++) {
      errors[i] = error_at(v, &regular, steps[i], &whole);
      const double want = variants[v].error[i];
      // all printed digits; a lost run is beyond all bounds
      assert_true(isfinite(want) ? fabs(errors[i] - want) <= 5e-5 : errors[i] > 1e6);
    }
    print_message("%-16s %.4f %.4g\n", variants[v].name, errors[0], errors[1]);
  }
  scenario_run_close(&whole);
}

static int compare_doubles(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// 2000 random systems, exchanged every 50 ms.
static void test_random_masses(void** state) {
  (void)state;
  static double errors[N_VARIANTS][N_SYSTEMS];
  size_t n_lost[N_VARIANTS] = {0}, n_closer = 0;
  uint64_t seed = 1;
  for (size_t i = 0; i < N_SYSTEMS; i++) {
    const cut_masses m = cut_draw(&seed);
    scenario_run whole = run_variant(FD_MOTION, &m, 1);
    for (variant v = FD_MOTION; v < N_VARIANTS; v++) {
      errors[v][i] = error_at(v, &m, 50, &whole);
      n_lost[v] += !(errors[v][i] < 1);
    }
    n_closer += errors[DD_MOTION][i] < errors[FD_MOTION][i];
    scenario_run_close(&whole);
  }
  for (variant v = FD_MOTION; v < N_VARIANTS; v++) {
    qsort(errors[v], N_SYSTEMS, sizeof(double), compare_doubles);
    print_message("%-16s %4zu lost, median error %.4g\n", variants[v].name, n_lost[v],
                  errors[v][N_SYSTEMS / 2]);
  }
  print_message("dd-motion closer than fd-motion in %zu\n", n_closer);
  // spec 1.1: displacement-displacement is more accurate and stable, a position alone does not serve
  // a joint with a damper in one unit
  assert_true(n_lost[DD_MOTION] == 0 && n_lost[DD_VELOCITY] == 0 && n_lost[DD_DISPLACEMENT] == 0);
  assert_true(n_lost[FD_MOTION] > 0 && n_lost[FD_DISPLACEMENT] > N_SYSTEMS / 2);
  assert_true(n_closer > 3 * N_SYSTEMS / 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_call_is_the_whole),
      cmocka_unit_test(test_figures),
      cmocka_unit_test(test_random_masses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
