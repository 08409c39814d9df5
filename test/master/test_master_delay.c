// Delay compensation on the steering surrogate SE-1 cut at the tie rod, 5 ms exchange, 10 ms delay each way (HI-12): table 11.4 of
// the HINF specification by a plain loop and by the engine with `method: adaptive`, drift, the Kalman filter, bad links.
#include <math.h>
#include <stdio.h>

#include "support/check.h"
#include "support/sim.h"
#include "support/steering_loop.h"
#include "support/steering_run.h"

static steering_signals whole[3], got, other;

static int prepare(void** state) {
  (void)state;
  for (steering_manoeuvre m = STEERING_M0; m <= STEERING_M2; m++) {
    steering_run(&STEERING_WHOLE, m, &(steering_options){0}, &whole[m]);
  }
  return 0;
}

static void print_row(const char* name, steering_manoeuvre m, const double e[STEERING_SIGNALS]) {
  print_message("M%d %-28s %.4f %.4f %.4f %.4f %.4f\n", (int)m, name, e[0], e[1], e[2], e[3], e[4]);
}

// Angle error at the end: mean of the last second.
static double drift_of(const steering_signals* s, steering_manoeuvre m) {
  double sum = 0;
  for (size_t k = s->n - 10000; k < s->n; k++) {
    sum += s->x[0][k] - whole[m].x[0][k];
  }
  return sum / 10000;
}

// ---- table 11.4

typedef struct row {
  const char* name;
  steering_loop loop;
  double errors[2][STEERING_SIGNALS];  // M0, M2
} row;

enum { NO_DELAY, DELAY, NO_CORRECTION, CORRECTION, FORGETTING, N_ROWS };
static const row rows[N_ROWS] = {
    [NO_DELAY] = {"no delay, held",
                  {50, 0, false, 1, 0, 0},
                  {{.0126, .0142, .0163, .0163, .0167}, {.0066, .0084, .0087, .0096, .0086}}},
    [DELAY] = {"delay, held",
               {50, 2, false, 1, 0, 0},
               {{.0752, .0742, .0832, .0838, .0850}, {.0379, .0400, .0441, .0486, .0433}}},
    [NO_CORRECTION] = {"rls, no correction",
                       {50, 2, true, 1, 0, 0},
                       {{.2065, .0321, .0405, .0364, .0431}, {.797, .0216, .0272, .0307, .0280}}},
    [CORRECTION] = {"rls, correction 0.2",
                    {50, 2, true, 1, 0.2, 0},
                    {{.0044, .0048, .0058, .0059, .0071}, {.0027, .0041, .0051, .0068, .0066}}},
    [FORGETTING] = {"the same, forgetting 0.98",
                    {50, 2, true, 0.98, 0.2, 0},
                    {{.0143, .0144, .0181, .0182, .0189}, {.0077, .0091, .0116, .0136, .0121}}},
};

// HI-12: 15 %.
static int count_misses(const double e[STEERING_SIGNALS], const double want[STEERING_SIGNALS]) {
  int n = 0;
  for (size_t i = 0; i < STEERING_SIGNALS; i++) {
    n += !(fabs(e[i] - want[i]) <= 0.15 * want[i]);
  }
  return n;
}

static void test_HI_12_plain_loop(void** state) {
  (void)state;
  int n_misses = 0;
  steering_loop_whole(STEERING_M0, &got);
  for (size_t i = 0; i < STEERING_SIGNALS; i++) {
    for (size_t k = 0; k < got.n; k++) {
      check_near(got.x[i][k], whole[STEERING_M0].x[i][k], 1e-9 * (1 + fabs(got.x[i][k])));
    }
  }
  for (size_t r = 0; r < N_ROWS; r++) {
    for (size_t m = 0; m < 2; m++) {
      const steering_manoeuvre manoeuvre = m == 0 ? STEERING_M0 : STEERING_M2;
      double e[STEERING_SIGNALS];
      steering_loop_run(&rows[r].loop, manoeuvre, &got);
      steering_errors(&got, &whole[manoeuvre], e);
      print_row(rows[r].name, manoeuvre, e);
      n_misses += count_misses(e, rows[r].errors[m]);
    }
  }
  assert_int_equal(n_misses, 0);
}

// ---- the engine

// The cut with both ends of the method on the side of the steering; settings go to both.
static void run_adaptive(steering_manoeuvre m, const char* settings, steering_signals* to) {
  char connections[1024];
  snprintf(
      connections, sizeof connections,
      "  - {from: hands.y, to: epas.T_s, coupling: {method: hold}}\n"
      "  - {from: epas.v_rack, to: car.v_rack, exchange: 0.005, delay: 0.01, coupling: {method: "
      "adaptive, end: sender, regressor: epas.angle, displacement: "
      "epas.x_rack%s}}\n"
      "  - {from: car.F_rod, to: epas.F_rod, exchange: 0.005, delay: 0.01, coupling: {method: "
      "adaptive, regressor: epas.v_rack%s}}\n",
      settings, settings);
  steering_cut cut = STEERING_FORCE_TO_RACK;
  cut.connections = connections;
  steering_run(&cut, m, &(steering_options){0}, to);
}

static void test_HI_12_engine(void** state) {
  (void)state;
  static const char* const settings[N_ROWS] = {
      [NO_CORRECTION] = ", correction: 0",
      [CORRECTION] = "",
      [FORGETTING] = ", forgetting: 0.98",
  };
  int n_misses = 0;
  for (size_t r = 0; r < N_ROWS; r++) {
    for (size_t m = 0; m < 2; m++) {
      const steering_manoeuvre manoeuvre = m == 0 ? STEERING_M0 : STEERING_M2;
      double e[STEERING_SIGNALS];
      if (settings[r] != NULL) {
        run_adaptive(manoeuvre, settings[r], &got);
      } else {
        const steering_options options = {
            .keys = r == DELAY ? "exchange: 0.005, delay: 0.01, coupling: {method: hold}"
                               : "exchange: 0.005, coupling: {method: hold}"};
        steering_run(&STEERING_FORCE_TO_RACK, manoeuvre, &options, &got);
      }
      steering_errors(&got, &whole[manoeuvre], e);
      print_row(rows[r].name, manoeuvre, e);
      if (r == FORGETTING) {
        // better than published: identify_rls.h does not let the covariance grow beyond its start
        for (size_t i = 0; i < STEERING_SIGNALS; i++) {
          assert_true(e[i] < rows[r].errors[m][i]);
        }
      } else {
        n_misses += count_misses(e, rows[r].errors[m]);
      }
      // the uncorrected run drifts away, the corrected one does not: against the peak of the angle of 0.9 rad
      const double drift = fabs(drift_of(&got, manoeuvre));
      assert_true(r == NO_CORRECTION ? drift > 0.3 : drift < 0.003);
    }
  }
  assert_int_equal(n_misses, 0);
}

// While little moves in the slow manoeuvre, least squares that forget grow their covariance, and the next movement bursts them.
// The engine's covariance stays below its start.
static void test_forgetting_slow(void** state) {
  (void)state;
  double e[STEERING_SIGNALS], plain[STEERING_SIGNALS];
  run_adaptive(STEERING_M1, ", forgetting: 0.98", &got);
  steering_errors(&got, &whole[STEERING_M1], e);
  steering_loop_run(&rows[FORGETTING].loop, STEERING_M1, &other);
  steering_errors(&other, &whole[STEERING_M1], plain);
  print_row("forgetting 0.98", STEERING_M1, e);
  print_row("the plain loop", STEERING_M1, plain);
  for (size_t i = 0; i < STEERING_SIGNALS; i++) {
    assert_true(e[i] < plain[i]);
  }
}

// Sample by sample what the plain loop does, but for the round-off of another form of least squares.
static void test_engine_is_loop(void** state) {
  (void)state;
  steering_loop loop = rows[CORRECTION].loop;
  loop.fade = 10;
  steering_loop_run(&loop, STEERING_M0, &other);
  run_adaptive(STEERING_M0, "", &got);
  for (size_t i = 0; i < STEERING_SIGNALS; i++) {
    double size = 0, off = 0;
    for (size_t k = 0; k < got.n; k++) {
      size = fmax(size, fabs(other.x[i][k]));
      off = fmax(off, fabs(other.x[i][k] - got.x[i][k]));
    }
    print_message("signal %zu: largest difference %.2g of %.3g\n", i, off, size);
    check_near(off, 0, 1e-6 * size);
  }
}

// ---- the Kalman filter

// Both outputs get `noise` of their peaks on their way to the method; seeds of the two links.
static void run_noisy(steering_manoeuvre m, const char* model, double noise, int seed,
                      steering_signals* to) {
  char units[512], connections[1024];
  snprintf(units, sizeof units,
           "  epas: {model: steering.epas}\n  car: {model: steering.chassis}\n"
           "  speed: {model: channel, exchange: fresh, step: 0.005, with: {noise_relative: %g, "
           "amplitude: 0.0504, seed: %d}}\n"
           "  force: {model: channel, exchange: fresh, step: 0.005, with: {noise_relative: %g, "
           "amplitude: 1422, seed: %d}}\n",
           noise, seed, noise, seed + 1000);
  snprintf(connections, sizeof connections,
           "  - {from: hands.y, to: epas.T_s, coupling: {method: hold}}\n"
           "  - {from: epas.v_rack, to: speed.u, exchange: 0.005, coupling: {method: hold}}\n"
           "  - {from: car.F_rod, to: force.u, exchange: 0.005, coupling: {method: hold}}\n"
           "  - {from: speed.y, to: car.v_rack, exchange: 0.005, delay: 0.01, coupling: {method: "
           "adaptive, model: %s, end: sender, regressor: epas.angle, "
           "displacement: epas.x_rack}}\n"
           "  - {from: force.y, to: epas.F_rod, exchange: 0.005, delay: 0.01, coupling: {method: "
           "adaptive, model: %s, regressor: speed.y}}\n",
           model, model);
  steering_cut cut = STEERING_FORCE_TO_RACK;
  cut.units = units;
  cut.connections = connections;
  steering_run(&cut, m, &(steering_options){0}, to);
}

// Issue: without noise within 1.5 times the errors of least squares, with 1 % noise at most equal. `noise: 0.1` was chosen on
// seeds 1 and 2 of a prototype; these have never been used for that.
static void test_kalman_filter(void** state) {
  (void)state;
  static const int seeds[] = {0, 101, 102, 103, 104, 105};
  for (size_t m = 0; m < 2; m++) {
    const steering_manoeuvre manoeuvre = m == 0 ? STEERING_M0 : STEERING_M2;
    double sums[2][STEERING_SIGNALS] = {{0}};
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
      double rls[STEERING_SIGNALS], ekf[STEERING_SIGNALS];
      const double noise = seeds[i] == 0 ? 0 : 0.01;
      run_noisy(manoeuvre, "rls", noise, seeds[i], &got);
      steering_errors(&got, &whole[manoeuvre], rls);
      run_noisy(manoeuvre, "ekf", noise, seeds[i], &got);
      steering_errors(&got, &whole[manoeuvre], ekf);
      print_row(seeds[i] == 0 ? "rls" : "rls, 1 % noise", manoeuvre, rls);
      print_row(seeds[i] == 0 ? "ekf" : "ekf, 1 % noise", manoeuvre, ekf);
      for (size_t s = 0; s < STEERING_SIGNALS; s++) {
        assert_true(seeds[i] != 0 || ekf[s] <= 1.5 * rls[s]);
        sums[0][s] += seeds[i] == 0 ? 0 : rls[s];
        sums[1][s] += seeds[i] == 0 ? 0 : ekf[s];
      }
    }
    for (size_t s = 0; s < STEERING_SIGNALS; s++) {
      print_message("M%d signal %zu: ekf over rls with noise %.3f\n", (int)manoeuvre, s,
                    sums[1][s] / sums[0][s]);
      assert_true(sums[1][s] <= sums[0][s]);
    }
  }
}

// ---- bad links

// The force comes through a link; what is sent goes through one that only loses.
static void run_bad_link(const char* force_link, const char* speed_link, bool is_adaptive,
                         steering_signals* to) {
  char units[1024], connections[1024];
  snprintf(units, sizeof units,
           "  epas: {model: steering.epas}\n  car: {model: steering.chassis}\n"
           "  speed: {model: channel, exchange: fresh, step: 0.005, with: {%s}}\n"
           "  force: {model: channel, exchange: fresh, step: 0.005, with: {%s}}\n",
           speed_link, force_link);
  snprintf(connections, sizeof connections,
           "  - {from: hands.y, to: epas.T_s, coupling: {method: hold}}\n"
           "  - {from: epas.v_rack, to: speed.u, exchange: 0.005, delay: 0.01, coupling: {%s}}\n"
           "  - {from: speed.y, to: car.v_rack, exchange: 0.005, coupling: {method: hold}}\n"
           "  - {from: car.F_rod, to: force.u, exchange: 0.005, coupling: {method: hold}}\n"
           "  - {from: force.y, to: epas.F_rod, exchange: 0.005, delay: 0.01, coupling: {%s}}\n",
           is_adaptive ? "method: adaptive, end: sender, regressor: epas.angle, "
                         "displacement: epas.x_rack"
                       : "method: hold",
           is_adaptive ? "method: adaptive, regressor: epas.v_rack" : "method: hold");
  steering_cut cut = STEERING_FORCE_TO_RACK;
  cut.units = units;
  cut.connections = connections;
  steering_run(&cut, STEERING_M0, &(steering_options){0}, to);
}

// Bursts, jitter, a delay that varies by 20 ms within 2 s, copies and swapped samples: bridged, the errors stay below half of
// those of held signals on the same link, in most cases near those of a good link.
static void test_bad_links(void** state) {
  (void)state;
  static const struct {
    const char *name, *force, *speed;
  } links[] = {
      {"good link", "seed: 1", "seed: 2"},
      {"bursts", "burst: 0.02, burst_length: 5, seed: 3", "seed: 2"},
      {"bursts both ways", "burst: 0.02, burst_length: 5, seed: 3",
       "burst: 0.02, burst_length: 3, seed: 4"},
      {"jitter", "late_max: 3, jitter: 3, seed: 5", "seed: 2"},
      {"varying delay", "late_max: 4, vary: 4, vary_period: 2, seed: 6", "seed: 2"},
      {"doubled, reordered", "late_max: 2, doubled: 0.1, reordered: 0.1, seed: 7", "seed: 2"},
  };
  for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
    double e[STEERING_SIGNALS], held[STEERING_SIGNALS];
    run_bad_link(links[i].force, links[i].speed, true, &got);
    steering_errors(&got, &whole[STEERING_M0], e);
    run_bad_link(links[i].force, links[i].speed, false, &got);
    steering_errors(&got, &whole[STEERING_M0], held);
    print_row(links[i].name, STEERING_M0, e);
    print_row("  held", STEERING_M0, held);
    for (size_t s = 0; s < STEERING_SIGNALS; s++) {
      assert_true(e[s] < 0.5 * held[s]);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_HI_12_plain_loop), cmocka_unit_test(test_HI_12_engine),
      cmocka_unit_test(test_forgetting_slow),  cmocka_unit_test(test_kalman_filter),
      cmocka_unit_test(test_bad_links),        cmocka_unit_test(test_engine_is_loop),
  };
  return cmocka_run_group_tests(tests, prepare, NULL);
}
