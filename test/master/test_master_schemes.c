// Equivalences between schemes, couplings and thread counts: CS-06, CS-07, CS-08, CS-26.
#include "support/check.h"
#include "support/sim.h"

#define UNITS_FD(extra_left, extra_right)                                                          \
  "units:\n"                                                                                       \
  "  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {x: 0, v: "              \
  "100}" extra_left "}\n"                                                                          \
  "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {x: 0, v: -100}" extra_right    \
  "}\n"
#define LINKS_FD                                                                                   \
  "connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f]\n"
#define HEAD "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 10, step: 1e-3}\n"

static const char system_fd[] = HEAD UNITS_FD("", "") LINKS_FD;

static const char system_dd[] = HEAD "units:\n"
                                     "  left: {model: oscillator.displacement, with: {m: 1, k: 10, "
                                     "kc: 100}, start: {x: 0, v: 100}}\n"
                                     "  right: {model: oscillator.displacement, with: {m: 1, k: "
                                     "1000, kc: 100}, start: {x: 0, v: -100}}\n"
                                     "connections: [right.x -> left.x_other, right.v -> "
                                     "left.v_other, left.x -> right.x_other, left.v -> "
                                     "right.v_other]\n";

#define UNITS_FF                                                                                   \
  "units:\n"                                                                                       \
  "  left: {model: oscillator.mass, with: {m: 1, k: 10, sign: -1}, start: {x: 0, v: 100}}\n"       \
  "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {x: 0, v: -100}}\n"
#define LINKS_FF                                                                                   \
  "connections: [left.x -> spring.x1, left.v -> spring.v1, right.x -> spring.x2, right.v -> "      \
  "spring.v2,"                                                                                     \
  " spring.f -> left.f, spring.f -> right.f]\n"

static const char system_ff[] =
    HEAD UNITS_FF "laws: {spring: {law: spring_damper, with: {k: 100, c: 0}}}\n" LINKS_FF;

// three units: the spring steps like a unit, with held inputs
static const char system_spring[] =
    HEAD UNITS_FF "  spring: {model: spring_damper, with: {k: 100, c: 0}}\n" LINKS_FF;
static const char system_spring_fresh[] = HEAD UNITS_FF
    "  spring: {model: spring_damper, with: {k: 100, c: 0}, exchange: fresh}\n" LINKS_FF;

// semi-implicit Euler of the whole oscillator, same order of operations as the units
static void monolithic(double h, int64_t n, double x[4]) {
  double x1 = 0, v1 = 100, x2 = 0, v2 = -100;
  for (int64_t k = 0; k < n; k++) {
    const double f = 100 * (x1 - x2);
    const double a1 = -10 * x1 - f, a2 = -1000 * x2 + f;
    v1 += h * a1;
    x1 += h * v1;
    v2 += h * a2;
    x2 += h * v2;
  }
  x[0] = x1;
  x[1] = v1;
  x[2] = x2;
  x[3] = v2;
}

static void read_states(const sim* s, double x[4]) {
  x[0] = sim_read(s, "left.x");
  x[1] = sim_read(s, "left.v");
  x[2] = sim_read(s, "right.x");
  x[3] = sim_read(s, "right.v");
}

static void run_text(const char* text, double x[4]) {
  sim s = sim_open("%s", text);
  sim_run(&s);
  read_states(&s, x);
  sim_close(&s);
}

static void check_states(const char* name, const double got[4], const double want[4],
                         double tolerance) {
  double most = 0;
  for (int i = 0; i < 4; i++) {
    const double relative = fabs(got[i] - want[i]) / fabs(want[i]);
    most = relative > most ? relative : most;
  }
  print_message("%-36s differs by %.2g (allowed %.0e)\n", name, most, tolerance);
  assert_true(most <= tolerance);
}

static void test_equal_to_monolithic_CS_07(void** state) {
  (void)state;
  double want[4], got[4];
  monolithic(1e-3, 10000, want);
  run_text(system_dd, got);
  check_states("displacement-displacement", got, want, 1e-12);
  run_text(system_ff, got);
  check_states("force-force, law of the master", got, want, 1e-12);
  run_text(HEAD "exchange: fresh\n" UNITS_FD("", "") LINKS_FD, got);
  check_states("force-displacement, fresh exchange", got, want, 1e-12);
}

static void test_iterative_interpolating_CS_08(void** state) {
  (void)state;
  static const char* const updates[] = {"fixed-point", "relaxation, relaxation: 0.9", "aitken",
                                        "quasi-newton"};
  double want[4];
  monolithic(1e-3, 10000, want);
  for (int scheme = 0; scheme < 2; scheme++) {
    for (int update = 0; update < 4; update++) {
      sim s = sim_open(
          HEAD "scheme: iterative-%s\niteration: {mode: interpolate, update: %s, tolerance: "
               "1e-11}\n%s",
          scheme == 0 ? "jacobi" : "gauss-seidel", updates[update], UNITS_FD("", "") LINKS_FD);
      sim_run(&s);
      double got[4];
      char name[80];
      read_states(&s, got);
      snprintf(name, sizeof name, "iterative %s, %s", scheme == 0 ? "Jacobi" : "GS",
               updates[update]);
      check_states(name, got, want, 1e-8);
      assert_int_equal(s.state->iteration.n_not_converged, 0);
      sim_close(&s);
    }
  }
}

// hold-end dissipates: 12.6 gives E/Er = 0.6640. Its 7 (Jacobi) and 4 to 5 (GS) iterations are to an absolute 1e-9; ours is
// relative to max(1, |y|), and the force is of size 1e3, which saves Jacobi two.
static void test_iterative_hold_end(void** state) {
  (void)state;
  for (int scheme = 0; scheme < 2; scheme++) {
    sim s = sim_open(HEAD "scheme: iterative-%s\niteration: {mode: hold-end, tolerance: 1e-9}\n%s",
                     scheme == 0 ? "jacobi" : "gauss-seidel", UNITS_FD("", "") LINKS_FD);
    sim_run(&s);
    const double mean =
        (double)s.state->iteration.n_iterations / (double)s.state->iteration.n_steps;
    const double ratio = sim_oscillator_energy(&s, &LO1) / 10000;
    print_message("hold-end, %s: E/Er = %.4f, %.2f iterations\n", scheme == 0 ? "Jacobi" : "GS",
                  ratio, mean);
    check_near(ratio, 0.6640, 1e-4);
    check_between(mean, scheme == 0 ? 4.9 : 3.9, scheme == 0 ? 7 : 5);
    sim_close(&s);
  }
}

// A loop with gain -4 through feedthrough: fixed-point iteration runs away, relaxation by 0.2 and quasi-Newton do not.
static void test_update_where_fixed_point_fails(void** state) {
  (void)state;
  static const char text[] =
      "yoke: 1\ninputs: start\ncalls: 1\n"
      "time: {stop: 1, step: 0.01}\n"
      "scheme: iterative-jacobi\n"
      "iteration: {update: %s, tolerance: 1e-10, max: %d}\n"
      "units:\n"
      "  drive: {model: sine, with: {amplitude: 1, frequency: 1}}\n"
      "  add: {model: sum, with: {n: 2}}\n"
      "  loop: {model: gain, with: {k: -4}}\n"
      "connections: [drive.y -> add.u1, loop.y -> add.u2, add.y -> loop.u]\n";
  // y = d - 4 y
  static const struct {
    const char* update;
    int max;
    bool converges;
  } cases[] = {{"fixed-point", 30, false},
               {"relaxation, relaxation: 0.2", 200, true},
               {"quasi-newton", 30, true},
               {"aitken", 30, false}};
  for (int i = 0; i < 4; i++) {
    sim s = sim_open(text, cases[i].update, cases[i].max);
    const yoke_status status = sim_run_on(&s);
    const bool is_good = status >= 0 && s.state->iteration.n_not_converged == 0;
    print_message("%-28s %s, at most %d iterations\n", cases[i].update,
                  is_good ? "converges" : "fails", s.state->iteration.most);
    assert_int_equal(is_good, cases[i].converges);
    if (is_good) {
      check_near(sim_read(&s, "add.y"), sim_read(&s, "drive.y") / 5, 1e-9);
    }
    sim_close(&s);
  }
}

// CS-06: any order of units, any number of threads, same bits
static void test_same_bits_CS_06(void** state) {
  (void)state;
  double want[4], got[4];
  run_text(system_fd, want);
  run_text(HEAD "units:\n"
                "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {x: 0, v: -100}}\n"
                "  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {x: 0, v: "
                "100}}\n" LINKS_FD,
           got);
  assert_memory_equal(got, want, sizeof want);

  // 40 oscillators in a ring of force-displacement pairs, two rates, extrapolation
  static char text[32768];
  double* first = NULL;
  size_t n_y = 0;
  for (int threads = 1; threads <= 4; threads *= 2) {
    size_t at = (size_t)snprintf(
        text, sizeof text,
        "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.2, step: 1e-3}\nthreads: %d\nunits:\n",
        threads);
    for (int i = 0; i < 20; i++) {
      at += (size_t)snprintf(
          text + at, sizeof text - at,
          "  a%d: {model: oscillator.force, with: {kc: %d}, start: {v: %d}, step: 1e-4}\n"
          "  b%d: {model: oscillator.mass, start: {x: 0.%d}}\n",
          i, 50 + i, i, i, i + 1);
    }
    at += (size_t)snprintf(text + at, sizeof text - at, "connections:\n");
    for (int i = 0; i < 20; i++) {
      at += (size_t)snprintf(text + at, sizeof text - at,
                             "  - {from: b%d.x, to: a%d.x_other, order: 2}\n"
                             "  - {from: b%d.v, to: a%d.v_other, order: 1}\n"
                             "  - a%d.f -> b%d.f\n",
                             i, i, i, i, (i + 1) % 20, i);
    }
    sim s = sim_open("%s", text);
    assert_int_equal(s.system->n_threads, threads);
    sim_run(&s);
    n_y = s.system->n_y;
    if (first == NULL) {
      first = malloc(n_y * sizeof *first);
      assert_non_null(first);
      memcpy(first, s.state->y, n_y * sizeof *first);
    } else {
      assert_memory_equal(s.state->y, first, n_y * sizeof *first);
    }
    sim_close(&s);
  }
  free(first);
}

static void test_iterative_same_bits_with_threads(void** state) {
  (void)state;
  double want[4], got[4];
  run_text(HEAD "scheme: iterative-jacobi\n" UNITS_FD("", "") LINKS_FD, want);
  run_text(HEAD "scheme: iterative-jacobi\nthreads: 2\n" UNITS_FD("", "") LINKS_FD, got);
  assert_memory_equal(got, want, sizeof want);
}

static double total_energy(const sim* s) {
  return sim_oscillator_energy(s, &LO1);
}

// CS-26: the oscillator in three units
static void test_three_units_CS_26(void** state) {
  (void)state;
  sim s = sim_open("%s", system_spring);
  sim_run(&s);
  print_message("three units: E(10) = %.3f J\n", total_energy(&s));
  check_relative(total_energy(&s), 28870.943, 1e-7);
  sim_close(&s);

  double want[4], got[4];
  run_text(system_ff, want);
  run_text(system_spring_fresh, got);
  check_states("spring unit with fresh exchange", got, want, 1e-12);
}

// table 12.6: energies of the other couplings at several rates
static void test_multirate_couplings(void** state) {
  (void)state;
  static const char dd[] =
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 10, step: 1e-3}\n"
      "units:\n"
      "  left: {model: oscillator.displacement, with: {k: 10}, start: {v: 100}}\n"
      "  right: {model: oscillator.displacement, with: {k: 1000}, start: {v: -100}, step: 1e-4}\n"
      "connections:\n"
      "  - right.x -> left.x_other\n"
      "  - right.v -> left.v_other\n"
      "  - {from: left.x, to: right.x_other, order: %d}\n"
      "  - {from: left.v, to: right.v_other, order: %d}\n";
  static const char ff[] =
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 10, step: 1e-3}\n"
      "units:\n"
      "  left: {model: oscillator.mass, with: {m: 1, k: 10, sign: -1}, start: {v: 100}}\n"
      "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {v: -100}, step: 1e-4}\n"
      "laws: {spring: {law: spring_damper, with: {k: 100, c: 0}}}\n"
      "connections: [left.x -> spring.x1, left.v -> spring.v1, right.x -> spring.x2, right.v -> "
      "spring.v2,\n"
      "  spring.f -> left.f, {from: spring.f, to: right.f, order: %d}]\n";
  static const double want_dd[] = {1.0090, 0.9987}, want_ff[] = {1.3626, 0.9989};
  for (int order = 0; order < 2; order++) {
    sim s = sim_open(dd, order, order);
    sim_run(&s);
    print_message("DD 1/.1 ms order %d: E/Er = %.4f\n", order, total_energy(&s) / 10000);
    check_near(total_energy(&s) / 10000, want_dd[order], 1e-4);
    sim_close(&s);
    s = sim_open(ff, order);
    sim_run(&s);
    print_message("FF 1/.1 ms order %d: E/Er = %.4f\n", order, total_energy(&s) / 10000);
    check_near(total_energy(&s) / 10000, want_ff[order], 1e-4);
    sim_close(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equal_to_monolithic_CS_07),
      cmocka_unit_test(test_iterative_interpolating_CS_08),
      cmocka_unit_test(test_iterative_hold_end),
      cmocka_unit_test(test_update_where_fixed_point_fails),
      cmocka_unit_test(test_same_bits_CS_06),
      cmocka_unit_test(test_iterative_same_bits_with_threads),
      cmocka_unit_test(test_three_units_CS_26),
      cmocka_unit_test(test_multirate_couplings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
