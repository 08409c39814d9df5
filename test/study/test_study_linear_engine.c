// Loops that are judged by running them with linear models: against matrices, against theory, and against runs of the file.
#include <stdlib.h>

#include "study/study_linear.h"
#include "study/study_linear_engine.h"
#include "study/study_multiplier.h"
#include "support/check.h"
#include "support/sim.h"

#define TEXT_SIZE 4096
#define BASE      0.1  // step at which systems are opened [s]

typedef struct opened {
  sim s;
  yoke_messages messages;
  yoke_linear_loops loops;
} opened;

static void open_text(opened* o, const char* text) {
  *o = (opened){.s = sim_open("%s", text)};
  const yoke_status status = yoke__linear_open(o->s.system, o->s.state, &o->messages, &o->loops);
  if (status < 0) {
    char all[2048] = "";
    yoke__messages_format(&o->messages, all, sizeof all);
    fail_msg("%s", all);
  }
}

static void close_text(opened* o) {
  yoke__linear_free(&o->loops);
  yoke__messages_free(&o->messages);
  sim_close(&o->s);
}

static double random_number(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / 9007199254740992.0;
}

static double between(uint64_t* seed, double low, double high) {
  return low + (high - low) * random_number(seed);
}

// ---- the largest multiplier of a motion

static void test_multiplier(void** state) {
  (void)state;
  // two modes seen in one signal, which is not their memory: 0.97 e^(+-0.3 i) and -0.9
  enum { N = 150 };
  double rows[N], one[N];
  for (int k = 0; k < N; k++) {
    rows[k] = pow(0.97, k) * cos(0.3 * k + 1) + 5 * pow(-0.9, k);
    one[k] = 40 + rows[k];
  }
  yoke_multiplier found;
  check_ok(yoke__multiplier(1, N, rows, 0, &found));
  check_near(found.radius, 0.97, 1e-9);
  assert_int_equal(found.rank, 3);
  // a constant is left out by differences
  check_ok(yoke__multiplier(1, N, one, 1, &found));
  check_near(found.radius, 0.97, 1e-6);
  check_ok(yoke__multiplier(1, N, one, 0, &found));
  check_near(found.radius, 1, 1e-9);
  // a drift, which its differences keep, outlives what decays quickly
  for (int k = 0; k < N; k++) {
    rows[k] = 7 + 3.0 * k + 2 * pow(0.6, k);
  }
  check_ok(yoke__multiplier(1, N, rows, 2, &found));
  check_near(found.radius, 0.6, 1e-5);
  // what is no linear motion leaves a residual, and the growth is that of its size
  uint64_t seed = 3;
  for (int k = 0; k < N; k++) {
    rows[k] = pow(1.05, k) * (random_number(&seed) - 0.5);
  }
  check_ok(yoke__multiplier(1, N, rows, 0, &found));
  assert_true(found.residual > 1e-3 || found.is_full);
  check_near(found.growth, 1.05, 0.01);
}

// ---- random systems of two units

typedef struct pair {
  double A[2][4], b[2][2], c[2][2], d;  // d: feedthrough of the first
} pair;

static pair draw(uint64_t* seed) {
  pair p;
  for (int i = 0; i < 2; i++) {
    const double w = between(seed, 1, 6), zeta = between(seed, 0.1, 0.6);
    const double A[4] = {0, 1, -w * w, -2 * zeta * w};
    memcpy(p.A[i], A, sizeof A);
    p.b[i][0] = 0;
    p.b[i][1] = between(seed, 0.5, 1) * w * w;
    p.c[i][0] = between(seed, 0.6, 1.2) * (i == 0 ? 1 : -1);
    p.c[i][1] = between(seed, 0, 0.2) * (i == 0 ? 1 : -1);
  }
  p.d = between(seed, 0, 0.3);
  return p;
}

// What one test of the table below puts into the file.
typedef struct configuration {
  const char* name;
  yoke_linear_method row;
  int calls;               // of the units per exchange
  const char* head;        // of the file
  const char* connection;  // keys of both
  const char* couplings;   // at the end
} configuration;

#define LOOP(settings) "couplings: {loop: {" settings ", members: [a, b]}}\n"

static const configuration configurations[] = {
    {"hold", YOKE_LINEAR_HOLD, 1, "inputs: start\n", ", method: hold", ""},
    {"hold-1", YOKE_LINEAR_HOLD_1, 4, "inputs: start\n", ", method: hold, order: 1", ""},
    {"hold-2", YOKE_LINEAR_HOLD_2, 4, "inputs: start\n", ", method: hold, order: 2", ""},
    {"mean", YOKE_LINEAR_MEAN, 1, "inputs: mean\n", ", method: hold", ""},
    {"nepce", YOKE_LINEAR_NEPCE, 4, "inputs: start\n", "", LOOP("method: nepce")},
    {"interpolate", YOKE_LINEAR_INTERPOLATE, 4, "inputs: start\n", "", LOOP("method: interpolate")},
    {"hinf", YOKE_LINEAR_HINF, 8, "inputs: start\n", "", LOOP("method: hinf")},
    {"mpsm", YOKE_LINEAR_MPSM, 1, "inputs: start\n", "",
     LOOP("method: mpsm, jacobians: provided, learning: 0, switching: 0, guard: off")},
    {"fresh, hold", YOKE_LINEAR_HOLD, 1, "inputs: start\nexchange: fresh\n", ", method: hold", ""},
    {"fresh, hold-1", YOKE_LINEAR_HOLD_1, 4, "inputs: start\nexchange: fresh\n",
     ", method: hold, order: 1", ""},
    {"fresh, hold-2", YOKE_LINEAR_HOLD_2, 4, "inputs: start\nexchange: fresh\n",
     ", method: hold, order: 2", ""},
    {"fresh, hinf", YOKE_LINEAR_HINF, 8, "inputs: start\nexchange: fresh\n", "",
     LOOP("method: hinf")},
    {"gauss-seidel, hold", YOKE_LINEAR_HOLD, 1, "inputs: start\nscheme: gauss-seidel\n",
     ", method: hold", ""},
    {"gauss-seidel, hold-1", YOKE_LINEAR_HOLD_1, 4, "inputs: start\nscheme: gauss-seidel\n",
     ", method: hold, order: 1", ""},
    {"delay", YOKE_LINEAR_HOLD, 1, "inputs: start\n", ", method: hold, delay: %g", ""},
    {"iterative", YOKE_LINEAR_HOLD, 1, "scheme: iterative-jacobi\n", ", method: hold", ""},
};
#define N_CONFIGURATIONS (sizeof configurations / sizeof configurations[0])

static void unit_text(const pair* p, int i, double step, char* to, size_t size) {
  snprintf(to, size,
           "  %c: {model: state_space, step: %.9g, with: {solver: exact, A: [[%.17g, %.17g], "
           "[%.17g, %.17g]], B: [[%.17g], [%.17g]], C: [[%.17g, %.17g]], D: [[%.17g]], x0: [1, "
           "0]}}\n",
           "ab"[i], step, p -> A[i][0], p -> A[i][1], p -> A[i][2], p -> A[i][3], p -> b[i][0],
           p -> b[i][1], p -> c[i][0], p -> c[i][1], i == 0 ? p -> d : 0.0);
}

// The units keep about the step that they have at BASE; steps are short decimals, so that they can be written.
static void pair_text(const pair* p, const configuration* c, double wanted, char* to) {
  char a[512], b[512], keys[128];
  const double n = fmax(round(wanted * c->calls / BASE), 1), step = round(wanted / n * 1e6) / 1e6;
  const double H = n * step;
  unit_text(p, 0, step, a, sizeof a);
  unit_text(p, 1, step, b, sizeof b);
  // a delay of one exchange
  const char* delay = strstr(c->connection, "%g");
  if (delay != NULL) {
    snprintf(keys, sizeof keys, "%.*s%.9g", (int)(delay - c->connection), c->connection, H);
  } else {
    snprintf(keys, sizeof keys, "%s", c->connection);
  }
  snprintf(to, TEXT_SIZE,
           "yoke: 1\ncalls: 1\ntime: {stop: 1e5, step: %.9g}\n%sunits:\n%s%sconnections:\n"
           "  - {from: a.y1, to: b.u1%s}\n  - {from: b.y1, to: a.u1%s}\n%squality: {stop: {growth: "
           "false}}\n",
           H, c->head, a, b, keys, keys, c->couplings);
}


// Whether a run grows: the largest output of its last third against that of the one before. The first third is left out:
// there other motions die away.
static bool does_grow(const pair* p, const configuration* c, double H) {
  enum { N = 900 };
  char text[TEXT_SIZE];
  pair_text(p, c, H, text);
  sim s = sim_open("%s", text);
  double early = 0, late = 0;
  for (int k = 0; k < N; k++) {
    if (yoke__master_step(s.system, s.state) < 0) {
      late = (double)INFINITY;  // it has overflown
      break;
    }
    const double size = fmax(fabs(sim_read(&s, "a.y1")), fabs(sim_read(&s, "b.y1")));
    double* third = 3 * k < 2 * N ? &early : &late;
    *third = 3 * k < N ? 0 : fmax(*third, size);
    if (!(size < 1e100)) {
      late = (double)INFINITY;
      break;
    }
  }
  sim_close(&s);
  return late > early;
}

// First unstable step against runs: what is said to be stable at 0.95 times it decays, at 1.05 times it grows. Where the loop is
// unstable in less than that, and then stable again, it grows at the step itself.
static void test_first_unstable_steps_are_those_of_runs(void** state) {
  (void)state;
  const char* full = getenv("YOKE_FULL");
  const int n_wanted = full != NULL && full[0] == '1' ? 20 : 3;
  uint64_t seed = 11;
  int n_limits[N_CONFIGURATIONS] = {0}, n_wrong[N_CONFIGURATIONS] = {0};
  char text[TEXT_SIZE];
  for (int n = 0; n < n_wanted;) {
    const pair p = draw(&seed);
    opened o;
    pair_text(&p, &configurations[0], BASE, text);
    open_text(&o, text);
    const bool is_good = o.loops.motion == YOKE_LINEAR_DECAYS && o.loops.growth < -0.05;
    close_text(&o);
    if (!is_good) {
      continue;
    }
    n++;
    for (size_t i = 0; i < N_CONFIGURATIONS; i++) {
      const configuration* c = &configurations[i];
      double first = 0;
      pair_text(&p, c, BASE, text);
      open_text(&o, text);
      const yoke_linear_grid grid = {0.1, 4, 0.002};
      check_ok(yoke__linear_limit(&o.loops, YOKE_LINEAR_FILE, &grid, &first));
      // the row of the method is the file's, where both are run
      if (o.loops.general != NULL) {
        double file = 0, row = 0, margin = 0;
        check_ok(yoke__linear_radius(&o.loops, YOKE_LINEAR_FILE, 0.2, &file, &margin));
        check_ok(yoke__linear_radius(&o.loops, c->row, 0.2, &row, &margin));
        check_near(row, file, 1e-6);
      }
      const bool is_asked = first > 0.005 && first < 3.8;
      double above = 1.05 * first, radius = 0, margin = 0;
      if (is_asked) {
        check_ok(yoke__linear_radius(&o.loops, YOKE_LINEAR_FILE, above, &radius, &margin));
        above = radius < 1 ? first : above;
      }
      close_text(&o);
      if (!is_asked) {
        continue;
      }
      n_limits[i]++;
      const bool grows_below = does_grow(&p, c, 0.95 * first),
                 grows_above = does_grow(&p, c, above);
      if (grows_below || !grows_above) {
        n_wrong[i]++;
        print_message("%s, system %d: first unstable step %g s; run at 0.95 of it %s, at %g %s\n",
                      c->name, n, first, grows_below ? "grows" : "decays", above / first,
                      grows_above ? "grows" : "decays");
      }
    }
  }
  for (size_t i = 0; i < N_CONFIGURATIONS; i++) {
    print_message("%-22s %d of %d first unstable steps within 5 %%\n", configurations[i].name,
                  n_limits[i] - n_wrong[i], n_limits[i]);
    assert_int_equal(n_wrong[i], 0);
  }
}

// Where a matrix is known, the loop that is run has its radius.
static void test_run_is_the_matrix(void** state) {
  (void)state;
  static const size_t rows[] = {0, 3, 7};  // hold, mean, mpsm: one call per exchange in both
  uint64_t seed = 5;
  char text[TEXT_SIZE];
  for (int n = 0; n < 10; n++) {
    const pair p = draw(&seed);
    for (size_t i = 0; i < 3; i++) {
      opened o;
      pair_text(&p, &configurations[rows[i]], BASE, text);
      open_text(&o, text);
      assert_null(o.loops.general);
      if (o.loops.motion != YOKE_LINEAR_DECAYS) {
        close_text(&o);
        continue;
      }
      yoke_linear_engine* engine = NULL;
      const char* why = NULL;
      check_ok(yoke__linear_engine_open(&o.loops, YOKE_LINEAR_FILE, &engine, &why));
      for (int j = 0; j < 5; j++) {
        const double step = 0.05 * pow(1.7, j);
        double matrix = 0, run = 0;
        yoke_stability_case c;
        assert_true(yoke__linear_case(&o.loops, YOKE_LINEAR_FILE, step, &c));
        check_ok(yoke__stability_radius(&c, &matrix));
        check_ok(yoke__linear_engine_radius(engine, step / o.loops.step, &run));
        // where its models fail mpsm takes to other ways of its own
        if (matrix < 1 || i < 2) {
          check_near(run, matrix, 1e-6);
        }
      }
      yoke__linear_engine_close(&engine);
      close_text(&o);
    }
  }
}

// x' = -x - k x(t - d): with y sampled, delayed by n exchanges and held, z^(n+1) = E z^n - k (1 - E), E = exp(-H).
static void test_delays(void** state) {
  (void)state;
  for (int n = 1; n <= 3; n++) {
    char text[1024];
    snprintf(text, sizeof text,
             "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.2}\nunits:\n"
             "  a: {model: state_space, with: {solver: exact, A: [[-1]], B: [[-2]]}}\n"
             "laws:\n  k: {law: gain, with: {k: 1}}\n"
             "connections:\n  - {from: a.y1, to: k.u}\n  - {from: k.y, to: a.u1, delay: %g}\n",
             0.2 * n);
    opened o;
    open_text(&o, text);
    assert_string_equal(o.loops.general, "delays");
    for (int k = 0; k < 5; k++) {
      const double H = 0.1 * pow(2, k);
      // the largest root, by the power of the companion
      const double E = exp(-H);
      double z[5] = {1, 0.3, -0.2, 0.7, 0.1}, log_size = 0;
      for (int step = 0; step < 6000; step++) {
        const double next = E * z[0] - 2 * (1 - E) * z[n];
        for (int i = n; i > 0; i--) {
          z[i] = z[i - 1];
        }
        z[0] = next;
        double size = 0;
        for (int i = 0; i <= n; i++) {
          size = fmax(size, fabs(z[i]));
        }
        for (int i = 0; i <= n; i++) {
          z[i] /= size;
        }
        log_size += step >= 1000 ? log(size) : 0;
      }
      double radius = 0, margin = 0;
      check_ok(yoke__linear_radius(&o.loops, YOKE_LINEAR_FILE, H, &radius, &margin));
      check_near(radius, exp(log_size / 5000), 1e-3);
    }
    close_text(&o);
  }
}

// Two masses cut between force and speed: the receiver of the speed keeps the place of its partner itself, an eigenvalue of
// exactly 1 that is left out by name.
static void test_HI_06_free_integrator(void** state) {
  (void)state;
  static const char* const exchanges[] = {"stale", "fresh"};
  for (int i = 0; i < 2; i++) {
    char text[2048];
    snprintf(
        text, sizeof text,
        "yoke: 1\ninputs: start\ncalls: 1\nexchange: %s\ntime: {stop: 1, step: 0.05}\nunits:\n"
        "  left: {model: state_space, with: {solver: exact,\n"
        "    A: [[0, 1, 0], [-22.5, -5.75, 15], [0, 0, 0]], B: [[0], [3.75], [1]],\n"
        "    C: [[600, 150, -600]], D: [[-150]], inputs: [v], outputs: [f]}}\n"
        "  right: {model: state_space, with: {solver: exact,\n"
        "    A: [[0, 1], [-10, -3]], B: [[0], [0.05]], C: [[0, 1]], inputs: [f], outputs: [v]}}\n"
        "connections: [left.f -> right.f, right.v -> left.v]\n",
        exchanges[i]);
    opened o;
    open_text(&o, text);
    assert_int_equal(o.loops.n_free, 1);
    assert_int_equal(o.loops.motion, YOKE_LINEAR_DECAYS);
    // (H4) and (H5) of the specification by hand: matrices of the undivided exchange step
    double radius = 0, margin = 0;
    check_ok(yoke__linear_radius(&o.loops, YOKE_LINEAR_FILE, 0.05, &radius, &margin));
    check_between(radius, 0.5, 1 - 1e-3);
    check_near(margin, i == 0 ? 0 : 1e-7, 0);
    close_text(&o);
  }
}

// ---- units without a linear model

// A pendulum that hangs at rest: theta'' = -(g / l) theta, and its twin beside it, joined by a spring.
static void test_differences_of_pendula(void** state) {
  (void)state;
  opened o;
  open_text(&o, "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 1e-3}\nunits:\n"
                "  one: {model: pendulum.force, with: {m: 1, l: 2.5, pin: [0, 0], k: 6}}\n"
                "  two: {model: pendulum.mass, with: {m: 2, l: 3.5, pin: [0, 1]}}\n"
                "connections: [two.tip -> one.tip_other]\n"
                "bonds: {spring: {action: one.F -> two.F, rate: two.vtip -> one.vtip_other}}\n");
  assert_true(o.loops.units[0].has_model && o.loops.units[0].difference != NULL);
  assert_int_equal(o.loops.units[1].n_states, 2);
  // alone, without the force of the spring
  check_relative(o.loops.units[1].fastest, sqrt(9.81 / 3.5), 2e-3);
  // both tips hang at the same place: m l^2 theta'' = -m g l theta - k l (l theta - l' theta')
  const double a = 9.81 / 2.5 + 6.0, b = 9.81 / 3.5 + 6.0 / 2;
  const double cross = (6.0 * 3.5 / 2.5) * (6.0 / 2 * 2.5 / 3.5), half = 0.5 * (a + b);
  const double root = sqrt(0.25 * (a - b) * (a - b) + cross);
  check_relative(o.loops.fastest, sqrt(half + root), 5e-3);
  check_relative(o.loops.slowest, sqrt(half - root), 5e-3);
  close_text(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_multiplier),
      cmocka_unit_test(test_run_is_the_matrix),
      cmocka_unit_test(test_delays),
      cmocka_unit_test(test_HI_06_free_integrator),
      cmocka_unit_test(test_differences_of_pendula),
      cmocka_unit_test(test_first_unstable_steps_are_those_of_runs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
