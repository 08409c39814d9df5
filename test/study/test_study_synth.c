// `yoke synth` below the command: what is found in a system, who is nearest, what runs say, and refusals.
#define _POSIX_C_SOURCE 200809L
#include "study/study_synth.h"

#include <unistd.h>

#include "base/base_os.h"
#include "support/check.h"
#include "support/sim.h"
#include "synth/synth_element_file.h"

static char folder[] = "/tmp/yoke-synth-XXXXXX";
static char path[128];

static int make_folder(void** state) {
  (void)state;
  return mkdtemp(folder) == NULL;
}

static int remove_folder(void** state) {
  (void)state;
  static const char* const names[] = {"s.yaml", "s-joint.json", "s-left-f-right-f.json",
                                      "own.json"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char file[256];
    snprintf(file, sizeof file, "%s/%s", folder, names[i]);
    unlink(file);
  }
  return rmdir(folder);
}

// Two masses of 40 and 20 kg, cut at spring and damper; the second one is driven.
static void write_masses(const char* time, const char* exchange, double hz, const char* joint) {
  char text[4096];
  const int n = snprintf(
      text, sizeof text,
      "yoke: 1\nname: masses\ntime: {stop: 5, step: %s}\ninputs: start\nexchange: %s\nunits:\n"
      "  left: {model: state_space, step: 0.001, with: {solver: euler,\n"
      "    A: [[0, 1, 0], [-22.5, -5.75, 15], [0, 0, 0]], B: [[0], [3.75], [1]],\n"
      "    C: [[600, 150, -600]], D: [[-150]], inputs: [v], outputs: [f]}}\n"
      "  right: {model: state_space, step: 0.001, with: {solver: euler, A: [[0, 1], [-10, -3]],\n"
      "    B: [[0, 0], [0.05, 0.05]], C: [[0, 1]], inputs: [f, p], outputs: [v]}}\n"
      "  force: {model: sine, step: 0.001, with: {amplitude: 500, frequency: %g}}\n"
      "connections:\n  - {from: force.y, to: right.p, exchange: 0.001}\n%s",
      time, exchange, hz, joint);
  assert_true(n > 0 && n < (int)sizeof text);
  snprintf(path, sizeof path, "%s/s.yaml", folder);
  check_ok(yoke__os_write_file(path, text, (size_t)n, NULL));
}

static const char bond[] =
    "bonds:\n  joint: {action: left.f -> right.f, rate: right.v -> left.v}\n";
static const char bond_only[] = "joint";
static const char* const bonds[] = {bond_only};

static yoke_synth_request request_of(void) {
  const double none = (double)NAN;
  return (yoke_synth_request){.path = path,
                              .bonds = bonds,
                              .n_bonds = 1,
                              .band_hz = none,
                              .pole = none,
                              .smoother_hz = none,
                              .delay = none,
                              .interval = none,
                              .step = none};
}

// The times are those of the system, the file reads back to the same element.
static void test_element_of_a_bond(void** state) {
  (void)state;
  write_masses("0.05", "fresh", 2.5, bond);
  yoke_synth_request request = request_of();
  yoke_synth_study s;
  request.is_not_run = true;
  check_ok(yoke__synth_study(&request, &s));
  assert_int_equal(s.n_signals, 2);
  assert_string_equal(s.signals[0], "left.f -> right.f");
  assert_string_equal(s.signals[1], "right.v -> left.v");
  check_near(s.design.settings.interval, 0.05, 1e-15);
  check_near(s.design.settings.step, 0.001, 1e-15);
  assert_true(s.is_fitting && s.no_loop == NULL && s.no_fresh == NULL);
  // T, 50 ms, 1 ms of the specification, 8.5
  check_relative(s.design.gamma, 0.023387, 5e-3);
  check_near(s.design.direct_gain, 1, 1e-9);
  yoke_synth_design read;
  check_ok(yoke__synth_element_read(s.file, &read, NULL));
  assert_memory_equal(&read.element, &s.design.element, sizeof read.element);
  assert_string_equal(s.element, "s-joint.json");
  assert_string_equal(s.sets[0], "bonds.joint.coupling={method: hinf, element: s-joint.json}");
  // the lines are nearer up to 1.79 Hz with the steps, nowhere without them
  assert_int_equal(s.n_all, 2);
  assert_int_equal(s.all[0].path, YOKE_SYNTH_PATH_LINE);
  assert_int_equal(s.all[1].path, YOKE_SYNTH_PATH_ELEMENT);
  const double w = 2 * acos(-1.0) * s.all[0].hz;
  check_relative(yoke__synth_error_at(&s.design, YOKE_SYNTH_PATH_LINE, w).all,
                 yoke__synth_error_at(&s.design, YOKE_SYNTH_PATH_ELEMENT, w).all, 1e-4);
  assert_int_equal(s.n_mean, 1);
  yoke__synth_study_free(&s);
}

// Errors of a run as an own loop finds them, from the same system written in macro steps of a call.
static double run_error(const char* coupling, double hz) {
  static double want[5001][2], got[5001][2];
  for (int k = 0; k < 2; k++) {
    char joint[512];
    snprintf(joint, sizeof joint,
             "  - {from: left.f, to: right.f, exchange: %s, coupling: {%s}}\n"
             "  - {from: right.v, to: left.v, exchange: %s, coupling: {%s}}\n",
             k == 0 ? "0.001" : "0.05", k == 0 ? "method: auto" : coupling,
             k == 0 ? "0.001" : "0.05", k == 0 ? "method: auto" : coupling);
    write_masses("0.001", "fresh", hz, joint);
    char* bytes = NULL;
    size_t n = 0;
    check_ok(yoke__os_read_file(path, 65536, &bytes, &n, NULL));
    sim s = sim_open("%s", bytes);
    free(bytes);
    for (int i = 0; i < 5001; i++) {
      sim_steps(&s, i > 0);
      (k == 0 ? want : got)[i][0] = sim_read(&s, "left.f");
      (k == 0 ? want : got)[i][1] = sim_read(&s, "right.v");
    }
    sim_close(&s);
  }
  double worst = 0;
  for (int j = 0; j < 2; j++) {
    double low = want[0][j], high = low, sum = 0;
    for (int i = 0; i < 5001; i++) {
      low = fmin(low, want[i][j]);
      high = fmax(high, want[i][j]);
      sum += (got[i][j] - want[i][j]) * (got[i][j] - want[i][j]);
    }
    worst = fmax(worst, sqrt(sum / 5001) / (high - low));
  }
  return worst;
}

static void test_errors_are_those_of_runs(void** state) {
  (void)state;
  const double hold = run_error("method: hold", 2.5),
               line = run_error("method: hold, order: 1", 2.5),
               element = run_error("method: hinf", 2.5);
  write_masses("0.05", "fresh", 2.5, bond);
  const yoke_synth_request request = request_of();
  yoke_synth_study s;
  check_ok(yoke__synth_study(&request, &s));
  assert_null(s.no_runs);
  check_relative(s.runs[YOKE_SYNTH_RUN_GIVEN + YOKE_SYNTH_PATH_HOLD].worst, hold, 1e-9);
  check_relative(s.runs[YOKE_SYNTH_RUN_GIVEN + YOKE_SYNTH_PATH_LINE].worst, line, 1e-9);
  check_relative(s.runs[YOKE_SYNTH_RUN_GIVEN + YOKE_SYNTH_PATH_ELEMENT].worst, element, 1e-9);
  print_message("2.5 Hz: hold %.4f, line %.4f, element %.4f\n", hold, line, element);
  yoke__synth_study_free(&s);
}

// Runs say what the errors over frequency say: at 1 Hz the line, at 2.5 Hz the element.
static void test_advice_follows_the_signal(void** state) {
  (void)state;
  const yoke_synth_request request = request_of();
  yoke_synth_study s;
  write_masses("0.05", "fresh", 1, bond);
  check_ok(yoke__synth_study(&request, &s));
  assert_int_equal(s.best, YOKE_SYNTH_RUN_GIVEN + YOKE_SYNTH_PATH_LINE);
  check_contains(s.advice, "`coupling: {method: hold, order: 1}` is best");
  yoke__synth_study_free(&s);
  write_masses("0.05", "stale", 2.5, bond);
  check_ok(yoke__synth_study(&request, &s));
  // stale force of a jump in speed: fresh exchange is most of what the element gains
  const double stale = s.runs[YOKE_SYNTH_RUN_GIVEN + YOKE_SYNTH_PATH_ELEMENT].worst;
  const double fresh = s.runs[YOKE_SYNTH_RUN_FRESH + YOKE_SYNTH_PATH_ELEMENT].worst;
  assert_true(fresh < stale);
  assert_int_equal(s.n_lines, 2);
  check_contains(s.lines[1], "exchange: fresh");
  yoke__synth_study_free(&s);
}

// Nothing moves: errors have no range to be compared with.
static void test_still_signals(void** state) {
  (void)state;
  static const char* const still[] = {"units.force.with.amplitude=0"};
  yoke_synth_request request = request_of();
  yoke_synth_study s;
  request.sets = still;
  request.n_sets = 1;
  write_masses("0.05", "fresh", 1, bond);
  check_ok(yoke__synth_study(&request, &s));
  assert_string_equal(s.no_runs, "none of its signals moves");
  check_contains(s.advice, "Nothing was run (none of its signals moves)");
  yoke__synth_study_free(&s);
}

static void expect_refusal(const yoke_synth_request* request, const char* words) {
  yoke_synth_study s;
  char text[4096] = "";
  assert_int_equal(yoke__synth_study(request, &s), YOKE_BAD_INPUT);
  yoke__messages_format(&s.messages, text, sizeof text);
  check_contains(text, words);
  yoke__synth_study_free(&s);
}

static void test_refusals(void** state) {
  (void)state;
  static const char* const wrong_bonds[] = {"joimt"};
  static const char* const connections[] = {"left.f->right.g"};
  static const char* const arrows[] = {"left.f -> right.f"};
  write_masses("0.05", "fresh", 1, bond);
  yoke_synth_request request = request_of();
  request.is_not_run = true;
  request.bonds = wrong_bonds;
  expect_refusal(&request, "no bond 'joimt'; did you mean 'joint'?");
  request.n_bonds = 0;
  request.connections = connections;
  request.n_connections = 1;
  expect_refusal(&request, "did you mean 'left.f -> right.f'?");
  request.connections = arrows;
  expect_refusal(&request, "name the bond with --bond");

  request = request_of();
  request.is_not_run = true;
  request.recipe = "M";
  expect_refusal(&request, "expected T, L, custom or general, found 'M'");
  request.recipe = NULL;
  request.delay = -0.1;
  expect_refusal(&request, "expected a delay of 0 or more [s], found -0.1");
  request.delay = (double)NAN;
  request.interval = 0.0505;
  expect_refusal(&request, "is not a multiple of the step h = 0.001 s");
  request.interval = (double)NAN;

  static const char* const unequal[] = {"units.right.step=0.002", "connections[0].exchange=0.002"};
  request.sets = unequal;
  request.n_sets = 2;
  expect_refusal(&request, "write `step: 0.001` at 'right'");
  static const char* const once[] = {"units.right.step=0.05", "units.left.step=0.05",
                                     "connections[0].exchange=0.05"};
  request.sets = once;
  request.n_sets = 3;
  expect_refusal(&request, "write `step: 0.0025` at both, and they exchange every 0.05 s");
  static const char* const scheme[] = {"scheme=gauss-seidel"};
  request.sets = scheme;
  request.n_sets = 1;
  expect_refusal(&request, "write `scheme: jacobi`");
}

// Outside of loops the element is designed all the same, and it is said why nothing is judged.
static void test_no_loop(void** state) {
  (void)state;
  write_masses("0.05", "fresh", 1,
               "  - {from: force.y, to: left.v, exchange: 0.05}\n"
               "  - {from: left.f, to: right.f, exchange: 0.05}\n");
  static const char* const connections[] = {"left.f -> right.f"};
  yoke_synth_request request = request_of();
  request.n_bonds = 0;
  request.connections = connections;
  request.n_connections = 1;
  yoke_synth_study s;
  check_ok(yoke__synth_study(&request, &s));
  check_contains(s.no_loop, "no closed chain of connections");
  assert_string_equal(s.element, "s-left-f-right-f.json");
  assert_null(s.no_runs);
  check_contains(s.advice, "the same with every coupling");
  yoke__synth_study_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_element_of_a_bond),
      cmocka_unit_test(test_errors_are_those_of_runs),
      cmocka_unit_test(test_advice_follows_the_signal),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_no_loop),
      cmocka_unit_test(test_still_signals),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
