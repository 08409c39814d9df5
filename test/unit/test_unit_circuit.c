// Netlists as units: variables, steps that divide, polynomials as inputs, feedthrough, rolling
// back, derivatives, start values, parameters, and no heap call while stepping.
#include "base/base_message.h"
#include "base/base_process.h"
#include "support/check.h"
#include "support/failing_heap.h"
#include "support/heard.h"
#include "unit/circuit/unit_circuit.h"
#include "unit/unit.h"
#include "unit/unit_file.h"

// A source behind R = 2 Ohm charges C = 0.5 F; time constant 1 s.
static const char rc[] = "RC\n"
                         ".param r=2 c=0.5\n"
                         ".input u=3 V\n"
                         "V1 in 0 {u}\n"
                         "R1 in out {r}\n"
                         "C1 out 0 {c} IC=0\n"
                         ".output v(out) name=y\n"
                         ".output i(r1)\n"
                         ".tran 0.01 1 uic\n"
                         ".end\n";

typedef struct subject {
  char path[256];
  yoke_unit_store* store;
  yoke_arena arena;
  yoke_unit unit;
} subject;

#if HAS_OWN_MALLOC
// the request for memory that fails while a unit is opened; -1: none
static long fails_at = -1;
#endif

static void write_file(const char* path, const char* text) {
  FILE* file = fopen(path, "w");
  if (file == NULL) {
    fail_msg("cannot write %s", path);
  }
  fputs(text, file);
  fclose(file);
}

// messages or err of a failure in text
static yoke_status try_open(subject* s, const char* netlist, yoke_unit_file_settings settings,
                            const yoke_argument* arguments, size_t n, char* text, size_t size) {
  const char* folder = getenv("TMPDIR");
  *s = (subject){.store = NULL};
  snprintf(s->path, sizeof s->path, "%.200s/yoke_unit_circuit_%d_%p.cir",
           folder == NULL ? "/tmp" : folder, yoke__process_id(), (void*)s);
  write_file(s->path, netlist);
  settings.kind = YOKE_KIND_CIRCUIT;
  settings.path = s->path;
  settings.name = "unit";
  yoke_messages messages = {0};
  const yoke_unit_ops* ops = NULL;
  check_ok(yoke__unit_store_create(&s->store));
#if HAS_OWN_MALLOC
  heap = (failing_heap){.is_on = fails_at >= 0, .fails_at = fails_at};
#endif
  yoke_status status = yoke__unit_store_open(s->store, &settings, &messages, &ops);
  yoke__messages_format(&messages, text, size);
  yoke__messages_free(&messages);
  if (status >= 0) {
    const yoke_unit_args args = {"unit", ".", arguments, n, ops->context};
    HEAR(told);
    status = yoke__unit_create(ops, &args, &s->arena, &s->unit, &told.sink);
    snprintf(text, size, "%.2000s", told.text);
  }
  return status;
}

static void close_subject(subject* s) {
  yoke__unit_close(&s->unit);
  yoke__arena_free(&s->arena);
  yoke__unit_store_destroy(&s->store);
  remove(s->path);
}

static void open_with(subject* s, const char* netlist, yoke_unit_file_settings settings) {
  char text[2048] = "";
  if (try_open(s, netlist, settings, NULL, 0, text, sizeof text) < 0) {
    fail_msg("%s", text);
  }
}

static size_t find(const subject* s, const char* name) {
  const size_t i = yoke__unit_find(&s->unit, name);
  if (i == (size_t)-1) {
    fail_msg("no variable '%s'", name);
  }
  return i;
}

static double get(const subject* s, const char* name) {
  double value = 0;
  check_ok(yoke__unit_get(&s->unit, find(s, name), &value, sizeof value));
  return value;
}

static void set(const subject* s, const char* name, double value) {
  check_ok(yoke__unit_set(&s->unit, find(s, name), &value, sizeof value));
}

static void begin(subject* s, double t) {
  YOKE_CATCH(err);
  if (yoke__unit_enter_init(&s->unit, t, 1, &err.sink) < 0) {
    fail_msg("%s", err.text);
  }
  check_ok(s->unit.ops->refresh(s->unit.self, t));
  check_ok(yoke__unit_exit_init(&s->unit));
}

static void step(subject* s, double t, double h) {
  yoke_step_result result = {.t_reached = t + h};
  const yoke_status status = s->unit.ops->step(s->unit.self, t, h, &result);
  if (status < 0) {
    fail_msg("at %g: %s", t, result.message == NULL ? yoke_status_text(status) : result.message);
  }
}

// -------------------------------------------------------------------------------------------------

static void test_variables(void** state) {
  (void)state;
  subject s;
  open_with(&s, rc, (yoke_unit_file_settings){.call_step = 0});
  const yoke_unit_info* info = s.unit.info;
  assert_int_equal(s.unit.n_u, 1);
  assert_int_equal(s.unit.n_y, 2);
  assert_string_equal(info->variables[find(&s, "y")].dim, "V");
  assert_string_equal(info->variables[find(&s, "i(r1)")].dim, "A");
  assert_int_equal(info->variables[find(&s, "u")].causality, YOKE_INPUT);
  assert_int_equal(info->variables[find(&s, "y")].causality, YOKE_OUTPUT);
  // states with a start value, and what can only be read
  assert_int_equal(info->variables[find(&s, "v(c1)")].flags & YOKE_VARIABLE_READ_ONLY, 0);
  assert_int_equal(info->variables[find(&s, "v(out)")].flags & YOKE_VARIABLE_READ_ONLY, 0);
  assert_true((info->variables[find(&s, "v(in)")].flags & YOKE_VARIABLE_READ_ONLY) != 0);
  assert_true((info->variables[find(&s, "i(v1)")].flags & YOKE_VARIABLE_READ_ONLY) != 0);
  // parameters shape the unit
  assert_int_equal(s.unit.ops->n_structure, 2);
  assert_string_equal(s.unit.ops->structure[0].name, "r");
  check_near(s.unit.ops->structure[1].start, 0.5, 0);
  close_subject(&s);
}

// with the state held the current follows the source at once, the voltage of the capacitor does not
static void test_feedthrough(void** state) {
  (void)state;
  subject s;
  open_with(&s, rc, (yoke_unit_file_settings){.call_step = 0});
  assert_true(yoke__unit_has_feedthrough(&s.unit, find(&s, "i(r1)"), find(&s, "u")));
  assert_false(yoke__unit_has_feedthrough(&s.unit, find(&s, "y"), find(&s, "u")));
  begin(&s, 0);
  step(&s, 0, 0.1);
  const double y = get(&s, "y"), i = get(&s, "i(r1)");
  const double u = 5;
  check_ok(s.unit.ops->set_inputs(s.unit.self, &u, 1));
  check_ok(s.unit.ops->refresh(s.unit.self, 0.1));
  check_near(get(&s, "y"), y, 1e-7);
  check_near(get(&s, "i(r1)"), i + (5 - 3) / 2.0, 1e-6);
  close_subject(&s);
}

// which of several topologies lets an input through
static void test_feedthrough_topologies(void** state) {
  (void)state;
  static const struct {
    const char* netlist;
    bool is_through;
  } cases[] = {
      // current into a node with a capacitor: its voltage is a state
      {"t\n.input u=0 A\nI1 0 a {u}\nC1 a 0 1\nR1 a 0 1\n.output v(a) name=y\n.tran 1m 1 uic\n",
       false},
      // into a node with a resistor only
      {"t\n.input u=0 A\nI1 0 a {u}\nR1 a b 1\nC1 b 0 1\n.output v(a) name=y\n.tran 1m 1 uic\n",
       true},
      // a coil keeps its current
      {"t\n.input u=0 V\nV1 a 0 {u}\nL1 a b 1\nR1 b 0 1\n.output i(l1) name=y\n.tran 1m 1 uic\n",
       false},
      {"t\n.input u=0 V\nV1 a 0 {u}\nL1 a b 1\nR1 b 0 1\n.output v(b) name=y\n.tran 1m 1 uic\n",
       false},
      // behind an amplifier
      {"t\n.input u=0 V\nV1 a 0 {u}\nE1 b 0 a 0 10\nR1 b 0 1\n.output i(r1) name=y\n.tran 1m 1 "
       "uic\n",
       true},
      // an input that is a resistance lets itself through by the current
      {"t\n.input u=1\nV1 a 0 1\nR1 a b {u}\nC1 b 0 1\n.output i(c1) name=y\n.tran 1m 1 uic\n",
       true},
      {"t\n.input u=1\nV1 a 0 1\nR1 a b {u}\nC1 b 0 1\n.output v(b) name=y\n.tran 1m 1 uic\n",
       false},
      // only in the output
      {"t\n.input u=1\nV1 a 0 1\nR1 a b 1\nC1 b 0 1\n.output {u*v(b)} name=y\n.tran 1m 1 uic\n",
       true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    subject s;
    open_with(&s, cases[i].netlist, (yoke_unit_file_settings){.call_step = 0});
    if (yoke__unit_has_feedthrough(&s.unit, find(&s, "y"), find(&s, "u")) != cases[i].is_through) {
      fail_msg("case %zu: expected %s:\n%s", i, cases[i].is_through ? "feedthrough" : "none",
               cases[i].netlist);
    }
    close_subject(&s);
  }
}

// v = 3 (1 - exp(-t)) with a held input; the default method is of order 2
static double error_of_step(double solver_step) {
  subject s;
  open_with(&s, rc, (yoke_unit_file_settings){.call_step = 0.1, .solver_step = solver_step});
  begin(&s, 0);
  for (int k = 0; k < 10; k++) {
    step(&s, 0.1 * k, 0.1);
  }
  const double error = fabs(get(&s, "y") - 3 * (1 - exp(-1.0)));
  close_subject(&s);
  return error;
}

static void test_order(void** state) {
  (void)state;
  double coarse = error_of_step(0.1 / 2);
  for (int n = 4; n <= 32; n *= 2) {
    const double fine = error_of_step(0.1 / n);
    check_near(log2(coarse / fine), 2, 0.1);
    coarse = fine;
  }
}

// an input that jumps at every call, as held inputs do: the method keeps its order
static double error_of_jumps(double solver_step) {
  subject s;
  open_with(&s, rc, (yoke_unit_file_settings){.call_step = 0.1, .solver_step = solver_step});
  begin(&s, 0);
  double v = 0;
  for (int k = 0; k < 20; k++) {
    const double u = k % 2 == 0 ? 4 : -1;
    check_ok(s.unit.ops->set_inputs(s.unit.self, &u, 1));
    step(&s, 0.1 * k, 0.1);
    v = u + (v - u) * exp(-0.1);
  }
  const double error = fabs(get(&s, "y") - v);
  close_subject(&s);
  return error;
}

static void test_jumps(void** state) {
  (void)state;
  double coarse = error_of_jumps(0.1 / 2);
  for (int n = 4; n <= 16; n *= 2) {
    const double fine = error_of_jumps(0.1 / n);
    check_near(log2(coarse / fine), 2, 0.15);
    coarse = fine;
  }
}

// the solver's step is the largest that divides the call and is not above what was asked for
static void test_step_divides(void** state) {
  (void)state;
  static const struct {
    double call, wanted, want;
  } cases[] = {{0.1, 0, 0.01},  {0.1, 0.03, 0.025}, {0.1, 0.1, 0.1}, {0.1, 5, 0.1},
               {0.3, 0.1, 0.1}, {0, 0.004, 0.004},  {0, 0, 0.01}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    subject s;
    yoke_unit_circuit_figures f;
    open_with(
        &s, rc,
        (yoke_unit_file_settings){.call_step = cases[i].call, .solver_step = cases[i].wanted});
    assert_true(yoke__unit_circuit_figures(s.unit.ops, s.unit.self, &f));
    check_relative(f.step, cases[i].want, 1e-15);
    close_subject(&s);
  }
}

static void test_other_steps(void** state) {
  (void)state;
  subject s;
  open_with(&s, rc, (yoke_unit_file_settings){.call_step = 0.01});
  begin(&s, 0);
  step(&s, 0, 0.01);
  step(&s, 0.01, 0.05);  // five of its steps
  yoke_step_result result = {.t_reached = 0};
  assert_true(s.unit.ops->step(s.unit.self, 0.06, 0.015, &result) < 0);
  check_contains(result.message, "not a whole number of the solver's steps");
  result.message = NULL;
  assert_true(s.unit.ops->step(s.unit.self, 0.5, 0.01, &result) < 0);
  check_contains(result.message, "asked to go on from t = 0.5 s, but it is at 0.06 s");
  close_subject(&s);
}

// u = 1 + 2 t + 3 t^2 over a step: with derivatives the unit follows it, v' = u - v
static void test_polynomial_input(void** state) {
  (void)state;
  subject s;
  open_with(&s, rc, (yoke_unit_file_settings){.call_step = 0.5, .solver_step = 0.5 / 512});
  begin(&s, 0);
  for (int k = 0; k < 2; k++) {
    const double t = 0.5 * k, u = 1 + 2 * t + 3 * t * t, du = 2 + 6 * t, ddu = 6;
    check_ok(s.unit.ops->set_inputs(s.unit.self, &u, 1));
    check_ok(s.unit.ops->set_input_derivatives(s.unit.self, 1, &du, 1));
    check_ok(s.unit.ops->set_input_derivatives(s.unit.self, 2, &ddu, 1));
    step(&s, t, 0.5);
  }
  // v = a + b t + c t^2 + d exp(-t): c = 3, b = 2 - 2 c, a = 1 - b, d = -a
  const double want = 5 - 4 + 3 - 5 * exp(-1.0);
  check_near(get(&s, "y"), want, 2e-6);
  // derivatives are those of one step only: now the input is held at what it was given
  const double v = get(&s, "y"), u = 0;
  check_ok(s.unit.ops->set_inputs(s.unit.self, &u, 1));
  step(&s, 1, 0.5);
  check_near(get(&s, "y"), v * exp(-0.5), 2e-6);
  close_subject(&s);
}

static void test_start_values(void** state) {
  (void)state;
  subject s;
  open_with(&s, rc, (yoke_unit_file_settings){.call_step = 0.01});
  set(&s, "v(c1)", 2);
  begin(&s, 0);
  check_near(get(&s, "y"), 2, 1e-12);
  check_near(get(&s, "i(r1)"), 0.5, 1e-12);
  close_subject(&s);

  // by the node, and of an output that is a state
  open_with(&s, rc, (yoke_unit_file_settings){.call_step = 0.01});
  set(&s, "y", 1);
  begin(&s, 0);
  check_near(get(&s, "v(out)"), 1, 1e-12);
  double value = 1;
  assert_true(yoke__unit_set(&s.unit, find(&s, "v(in)"), &value, sizeof value) < 0);
  close_subject(&s);
}

// without uic and IC the start is the operating point, and it follows the inputs while the system
// is initialised
static void test_operating_point(void** state) {
  (void)state;
  static const char netlist[] =
      "divider\n.input u=3 V\nV1 in 0 {u}\nR1 in out 2\nR2 out 0 1\nC1 out 0 1\n"
      ".output v(out) name=y\n.tran 10m 1\n";
  subject s;
  YOKE_CATCH(err);
  open_with(&s, netlist, (yoke_unit_file_settings){.call_step = 0.01});
  check_ok(yoke__unit_enter_init(&s.unit, 0, 1, &err.sink));
  check_ok(s.unit.ops->refresh(s.unit.self, 0));
  check_near(get(&s, "y"), 1, 1e-9);
  const double u = 6;
  check_ok(s.unit.ops->set_inputs(s.unit.self, &u, 1));
  check_ok(s.unit.ops->refresh(s.unit.self, 0));
  check_near(get(&s, "y"), 2, 1e-9);
  check_ok(yoke__unit_exit_init(&s.unit));
  step(&s, 0, 0.01);
  check_near(get(&s, "y"), 2, 1e-9);
  close_subject(&s);
}

static void test_parameters(void** state) {
  (void)state;
  const double r = 6;
  const yoke_argument argument = {"r", YOKE_REAL, 1, 1, &r};
  subject s;
  char text[1024] = "";
  const yoke_unit_file_settings settings = {.call_step = 0.01};
  if (try_open(&s, rc, settings, &argument, 1, text, sizeof text) < 0) {
    fail_msg("%s", text);
  }
  begin(&s, 0);
  check_near(get(&s, "i(r1)"), 3 / 6.0, 1e-12);
  close_subject(&s);

  // a value that the netlist cannot live with
  const double zero = 0;
  const yoke_argument bad = {"r", YOKE_REAL, 1, 1, &zero};
  assert_true(try_open(&s, rc, settings, &bad, 1, text, sizeof text) < 0);
  check_contains(text, ":5");
  close_subject(&s);
}

// parameters of an included file are those of the netlist; the ones of a subcircuit are its own
static void test_included_parameters(void** state) {
  (void)state;
  const char* folder = getenv("TMPDIR");
  char path[300], netlist[600], text[1024] = "";
  snprintf(path, sizeof path, "%.200s/yoke_unit_circuit_%d.inc", folder == NULL ? "/tmp" : folder,
           yoke__process_id());
  write_file(path, "* values\n.param r=2 scale=3\n+ twice={2*r}\n.subckt part a b q=1\n"
                   ".param inner=5\nR1 a b {inner*q}\n.ends\n");
  snprintf(netlist, sizeof netlist,
           "included\n.include '%s'\n.param own=1\nV1 a 0 {own}\nR1 a b {r*scale}\n"
           "R2 b 0 {twice}\nX1 b 0 part\n.tran 0.01 1\n.output v(b)\n",
           path);
  const double r = 4;
  const yoke_argument argument = {"r", YOKE_REAL, 1, 1, &r};
  const yoke_unit_file_settings settings = {.call_step = 0.01};
  subject s;
  for (int i = 0; i < 2; i++) {
    if (try_open(&s, netlist, settings, &argument, (size_t)i, text, sizeof text) < 0) {
      fail_msg("%s", text);
    }
    static const char* const names[] = {"r", "scale", "twice", "own"};
    assert_int_equal(s.unit.ops->n_structure, 4);
    for (size_t k = 0; k < 4; k++) {
      assert_string_equal(s.unit.ops->structure[k].name, names[k]);
    }
    check_near(s.unit.ops->structure[1].start, 3, 0);
    assert_true(isnan(s.unit.ops->structure[2].start));
    begin(&s, 0);
    // 1 V over 3 r, with 2 r and 5 Ohm side by side
    const double used = i == 0 ? 2 : 4, low = 1 / (1 / (2 * used) + 0.2);
    check_near(get(&s, "v(b)"), low / (low + 3 * used), 1e-12);
    close_subject(&s);
  }
  remove(path);
}

// what happened during a run is said at its end, once
static void test_cold_report(void** state) {
  (void)state;
  subject s;
  HEAR(told);
  open_with(&s,
            "t\nheat_capacity C1 cold 10 T0=300\nheat_source Q1 cold -100\n"
            "thermal_resistance R1 cold other 1\nheat_capacity C2 other 1n T0=300\n"
            ".tran 1 40 uic\n.output t(cold)\n",
            (yoke_unit_file_settings){.call_step = 1});
  begin(&s, 0);
  for (int k = 0; k < 40; k++) {
    step(&s, k, 1);
  }
  s.unit.ops->report(s.unit.self, &told.sink);
  check_contains(told.text, "10 of 40 steps ended with a temperature below 0 K; the first was that "
                            "of node 'cold' at t = 31 s");
  heard_clear(&told);
  s.unit.ops->report(s.unit.self, &told.sink);
  assert_int_equal(told.n, 0);
  close_subject(&s);
}

// five steps, back, five steps: the same bytes
static void test_rollback(void** state) {
  (void)state;
  static const char bridge[] =
      "half wave\n.input u=5 V\nV1 in 0 SIN(0 {u} 50)\nD1 in out d\nR1 out 0 100\nC1 out 0 100u "
      "IC=0\n"
      "S1 out x ctl 0 sw\nR2 x 0 50\nVc ctl 0 PULSE(0 1 1m 1u 1u 2m 4m)\n"
      ".model d D(IS=1e-12 N=1.2 RS=0.1)\n.model sw SW(RON=0.1 ROFF=1meg VT=0.5 VH=0.1)\n"
      ".tran 50u 0.1 uic\n.output v(out) name=y\n.end\n";
  const char* const netlists[] = {rc, bridge};
  for (size_t n = 0; n < 2; n++) {
    subject s;
    open_with(&s, netlists[n], (yoke_unit_file_settings){.call_step = 1e-3});
    begin(&s, 0);
    step(&s, 0, 1e-3);
    const size_t size = yoke__unit_image_size(&s.unit);
    unsigned char *start = calloc(1, size), *first = calloc(1, size), *second = calloc(1, size);
    assert_true(size > 0 && start != NULL && first != NULL && second != NULL);
    check_ok(yoke__unit_save(&s.unit, start, size));
    for (int pass = 0; pass < 2; pass++) {
      for (int k = 1; k <= 5; k++) {
        step(&s, 1e-3 * k, 1e-3);
      }
      check_ok(yoke__unit_save(&s.unit, pass == 0 ? first : second, size));
      const double u = 1;
      check_ok(s.unit.ops->set_inputs(s.unit.self, &u, 1));
      step(&s, 6e-3, 3e-3);
      check_ok(yoke__unit_restore(&s.unit, start, size));
    }
    assert_memory_equal(first, second, size);
    free(start);
    free(first);
    free(second);
    close_subject(&s);
  }
}

// d(output)/d(input) over one step of the solver against a repeated step
static void test_derivative(void** state) {
  (void)state;
  subject s;
  open_with(&s, rc,
            (yoke_unit_file_settings){.call_step = 0.01, .solver_step = 0.01, .solver = "bdf1"});
  begin(&s, 0);
  step(&s, 0, 0.01);
  step(&s, 0.01, 0.01);
  const size_t size = yoke__unit_image_size(&s.unit);
  unsigned char* image = calloc(1, size);
  assert_non_null(image);
  check_ok(yoke__unit_save(&s.unit, image, size));
  const size_t unknowns[] = {find(&s, "y"), find(&s, "i(r1)"), find(&s, "v(in)")};
  const size_t known = find(&s, "u");
  const double seed = 2;
  double got[3], low[3];
  step(&s, 0.02, 0.01);
  check_ok(s.unit.ops->derivative(s.unit.self, unknowns, 3, &known, 1, &seed, got));
  for (size_t i = 0; i < 3; i++) {
    check_ok(yoke__unit_get(&s.unit, unknowns[i], &low[i], sizeof low[i]));
  }
  check_ok(yoke__unit_restore(&s.unit, image, size));
  const double u = 3 + 1;
  check_ok(s.unit.ops->set_inputs(s.unit.self, &u, 1));
  step(&s, 0.02, 0.01);
  // linear: any difference is the slope
  for (size_t i = 0; i < 3; i++) {
    double high = 0;
    check_ok(yoke__unit_get(&s.unit, unknowns[i], &high, sizeof high));
    check_near(got[i], seed * (high - low[i]), 1e-9);
  }
  free(image);
  close_subject(&s);
}

// x' = -x/(r c) + u/(r c); i = (u - x)/r
static void test_linearise(void** state) {
  (void)state;
  subject s;
  open_with(&s, rc, (yoke_unit_file_settings){.call_step = 0.01});
  begin(&s, 0);
  double A = 0, B = 0, C[2] = {0}, D[2] = {0};
  yoke_linear model = {.A = NULL};
  check_ok(s.unit.ops->linearise(s.unit.self, &model));
  assert_int_equal(model.n_states, 1);
  assert_int_equal(model.n_inputs, 1);
  assert_int_equal(model.n_outputs, 2);
  model = (yoke_linear){.A = &A, .B = &B, .C = C, .D = D};
  check_ok(s.unit.ops->linearise(s.unit.self, &model));
  check_near(A, -1, 1e-6);
  check_near(B, 1, 1e-6);
  check_near(C[0], 1, 1e-6);
  check_near(C[1], -0.5, 1e-6);
  check_near(D[0], 0, 1e-6);
  check_near(D[1], 0.5, 1e-6);
  close_subject(&s);
}

#if HAS_OWN_MALLOC
// CI-26, the unit's part: steps, inputs, readings, images and derivatives take no heap
static void test_hot_path(void** state) {
  (void)state;
  subject s;
  open_with(&s, rc, (yoke_unit_file_settings){.call_step = 1e-3});
  begin(&s, 0);
  const size_t size = yoke__unit_image_size(&s.unit);
  unsigned char* image = calloc(1, size);
  assert_non_null(image);
  const size_t unknown = find(&s, "y"), known = find(&s, "u");
  heap = (failing_heap){.is_on = true, .fails_at = -1};
  for (int k = 0; k < 1000; k++) {
    const double u = sin(0.1 * k), seed = 1;
    double y[2], d = 0;
    s.unit.ops->set_inputs(s.unit.self, &u, 1);
    s.unit.ops->set_input_derivatives(s.unit.self, 1, &seed, 1);
    yoke_step_result result = {.t_reached = 0};
    s.unit.ops->step(s.unit.self, 1e-3 * k, 1e-3, &result);
    s.unit.ops->get_outputs(s.unit.self, y, 2);
    s.unit.ops->refresh(s.unit.self, 1e-3 * (k + 1));
    s.unit.ops->derivative(s.unit.self, &unknown, 1, &known, 1, &seed, &d);
    s.unit.ops->save(s.unit.self, image, size);
    s.unit.ops->restore(s.unit.self, image, size);
  }
  heap.is_on = false;
  assert_int_equal(heap.n_requests, 0);
  free(image);
  close_subject(&s);
}

// each request for memory fails once: a status, and nothing is left behind
static void test_no_memory(void** state) {
  (void)state;
  bool is_done = false;
  long n = 0;
  for (; !is_done && n < 5000; n++) {
    subject s;
    char text[1024] = "";
    const yoke_unit_file_settings settings = {.call_step = 0.01};
    fails_at = n;
    const yoke_status status = try_open(&s, rc, settings, NULL, 0, text, sizeof text);
    fails_at = -1;
    // some texts of messages are given up without a failure
    is_done = heap.n_requests <= n;
    heap.fails_at = -1;
    assert_true(status >= 0 || !is_done);
    if (status >= 0) {
      begin(&s, 0);
      step(&s, 0, 0.01);
    }
    close_subject(&s);
    heap.is_on = false;
    // the store itself was there before
    if (heap.n_blocks != -1) {
      fail_msg("request %ld: %ld blocks are left", n, heap.n_blocks + 1);
    }
  }
  assert_true(is_done && n > 10);
}
#endif

// heat and temperature
static void test_thermal(void** state) {
  (void)state;
  static const char netlist[] =
      "thermal\n.input q=10 W\nheat_source Q1 case {q}\nheat_capacity C1 case 5 J/K T0=300\n"
      "thermal_resistance R1 case ambient 2 K/W\ntemperature_source Ta ambient 300\n"
      ".output t(case)\n.tran 10m 1 uic\n";
  subject s;
  open_with(&s, netlist, (yoke_unit_file_settings){.call_step = 1, .solver_step = 1e-2});
  assert_string_equal(s.unit.info->variables[find(&s, "t(case)")].dim, "K");
  begin(&s, 0);
  for (int k = 0; k < 10; k++) {
    step(&s, k, 1);
  }
  check_near(get(&s, "t(case)"), 320 - 20 * exp(-1.0), 1e-4);
  check_near(get(&s, "i(ta)"), -(get(&s, "t(case)") - 300) / 2, 1e-9);
  close_subject(&s);
}

static void test_refusals(void** state) {
  (void)state;
  static const struct {
    const char *netlist, *part;
    const char* solver;
  } cases[] = {
      {"t\nR1 a 0 1\nV1 a 0 1\n.end\n", "needs a step", NULL},
      {"t\nR1 a 0 1\nV1 a 0 1\n.tran 1m 1\n", "unknown method 'bdf9'; did you mean 'bdf", "bdf9"},
      {"t\nX1 a 0 nothing\n.tran 1m 1\n", "nothing", NULL},
      {"t\n.input u=1\nV1 a 0 {u}\nR1 a 0 1\n.output v(a) name=u\n.tran 1m 1\n", "used twice",
       NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    subject s;
    char text[2048] = "";
    const yoke_unit_file_settings settings = {.solver = cases[i].solver};
    assert_true(try_open(&s, cases[i].netlist, settings, NULL, 0, text, sizeof text) < 0);
    check_contains(text, cases[i].part);
    close_subject(&s);
  }
}

// what is named decides about what is not
static void test_default_methods(void** state) {
  (void)state;
#define RC "* rc\nv1 in 0 dc 1\nr1 in out 1k\nc1 out 0 1u\n"
  static const struct {
    const char *netlist, *method, *formulation;  // of the netlist; of the system file
    const char *want_method, *want_formulation;
  } cases[] = {
      {RC, NULL, NULL, "trbdf2", "nodal"},
      {RC, NULL, "ode", "rk4", "ode"},
      {RC, "euler", NULL, "euler", "ode"},
      {RC, NULL, "dae", "trbdf2", "dae"},
      {RC ".yoke formulation=ode\n", NULL, NULL, "rk4", "ode"},
      {RC ".yoke formulation=ode\n", NULL, "nodal", "trbdf2", "nodal"},
      {RC ".yoke method=bdf2\n", NULL, "ode", "rk4", "ode"},
      {RC ".yoke method=bdf2\n", NULL, "dae", "bdf2", "dae"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    subject s;
    char text[2048] = "";
    const yoke_unit_file_settings settings = {
        .solver = cases[i].method, .solver_formulation = cases[i].formulation, .solver_step = 1e-5};
    if (try_open(&s, cases[i].netlist, settings, NULL, 0, text, sizeof text) < 0) {
      fail_msg("case %zu: %s", i, text);
    }
    yoke_unit_circuit_figures figures;
    assert_true(yoke__unit_circuit_figures(s.unit.ops, s.unit.self, &figures));
    assert_string_equal(figures.method, cases[i].want_method);
    assert_string_equal(figures.formulation, cases[i].want_formulation);
    close_subject(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_variables),
    cmocka_unit_test(test_feedthrough),
    cmocka_unit_test(test_feedthrough_topologies),
    cmocka_unit_test(test_order),
    cmocka_unit_test(test_jumps),
    cmocka_unit_test(test_step_divides),
    cmocka_unit_test(test_other_steps),
    cmocka_unit_test(test_polynomial_input),
    cmocka_unit_test(test_start_values),
    cmocka_unit_test(test_operating_point),
    cmocka_unit_test(test_parameters),
    cmocka_unit_test(test_included_parameters),
    cmocka_unit_test(test_cold_report),
    cmocka_unit_test(test_rollback),
    cmocka_unit_test(test_derivative),
    cmocka_unit_test(test_linearise),
#if HAS_OWN_MALLOC
    cmocka_unit_test(test_hot_path),
    cmocka_unit_test(test_no_memory),
#endif
    cmocka_unit_test(test_thermal),
    cmocka_unit_test(test_refusals),
    cmocka_unit_test(test_default_methods),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
