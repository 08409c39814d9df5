// Iterations that change the inputs: mean inputs are of second order, values at the start of one call per exchange change
// nothing and the program says so, and the ledger sees the inputs that acted. TR-11.
#include <complex.h>
#include <math.h>
#include <string.h>

#include "master/ledger_helper.h"
#include "support/heard.h"
#include "yoke/yoke.h"

// ---- the loop of the golden numbers: x1' = -x1 + u1, x2' = -2 x2 + u2, u1 = -4 y2, u2 = y1, x(0) = (1, 0)

// y1 = x1 + d u1, y2 = x2. Eliminated: u1 = -4 x2, u2 = x1 - 4 d x2, so x' = [-1 -4; 1 -2-4d] x.
static void solve(double d, double t, double x[2]) {
  const double trace = -3 - 4 * d, det = (2 + 4 * d) + 4;
  const double complex root = csqrt(trace * trace / 4 - det);
  // e^{At} = e^{trace t/2} (cosh(w t) + (A - trace/2) sinh(w t)/w)
  const double c = creal(ccosh(root * t)), s = creal(csinh(root * t) / root);
  const double grow = exp(trace / 2 * t);
  x[0] = grow * (c + (-1 - trace / 2) * s);
  x[1] = grow * s;
}

typedef struct golden_case {
  const char* first;  // settings of unit a: "model: ..."
  const char* more;   // lines of the file
  double d;
} golden_case;

static yoke_registry* models;

// ---- units of the test: x' = -x + u, y = x + u/2, x(0) = 1, exact for a held input, or for one that goes straight

typedef struct lag {
  double u, y, x, slope;
} lag;

static const yoke_variable lag_variables[] = {
    {.name = "u",
     .type = YOKE_REAL,
     .causality = YOKE_INPUT,
     .flags = YOKE_VARIABLE_HAS_START,
     .offset = offsetof(lag, u)},
    {.name = "y", .type = YOKE_REAL, .causality = YOKE_OUTPUT, .offset = offsetof(lag, y)},
    {.name = "x", .type = YOKE_REAL, .causality = YOKE_OUTPUT, .offset = offsetof(lag, x)},
};
static const yoke_feedthrough lag_feedthrough[] = {{1, 0}};
static const yoke_unit_info lag_info = {.variables = lag_variables,
                                        .n_variables = COUNT(lag_variables),
                                        .feedthrough = lag_feedthrough,
                                        .n_feedthrough = 1,
                                        .flags = YOKE_UNIT_FLAT,
                                        .self_size = sizeof(lag)};

static yoke_status lag_enter(void* self, double t_start, double t_stop, const yoke_sink* sink) {
  lag* l = self;
  (void)t_start;
  (void)t_stop;
  (void)sink;
  l->x = 1;
  l->y = l->x + l->u / 2;
  return YOKE_OK;
}

static yoke_status lag_step(void* self, double t, double h, yoke_step_result* result) {
  lag* l = self;
  (void)t;
  (void)result;
  const double gone = -expm1(-h);
  l->x += gone * (l->u - l->x) + l->slope * (h - gone);
  l->y = l->x + (l->u + l->slope * h) / 2;
  l->slope = 0;
  return YOKE_OK;
}

static yoke_status lag_derivatives(void* self, int order, const double du[], size_t n_u) {
  assert_int_equal(order, 1);
  assert_int_equal(n_u, 1);
  ((lag*)self)->slope = du[0];
  return YOKE_OK;
}

static yoke_status lag_linearise(void* self, yoke_linear* model) {
  (void)self;
  model->n_states = model->n_inputs = 1;
  model->n_outputs = 2;
  if (model->A != NULL) {
    model->A[0] = -1;
    model->B[0] = 1;
    model->C[0] = model->C[1] = 1;
    model->D[0] = 0.5;
    model->D[1] = 0;
  }
  return YOKE_OK;
}

// of y alone: it is the only output with feedthrough
static yoke_status lag_derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                                  const size_t knowns[], size_t n_knowns, const double seed[],
                                  double out[]) {
  (void)self;
  assert_true(n_unknowns == 1 && unknowns[0] == 1 && n_knowns == 1 && knowns[0] == 0);
  out[0] = 0.5 * seed[0];
  return YOKE_OK;
}

// neither reads its outputs again nor tells derivatives; has a linear model; has directional derivatives; takes slopes
static const yoke_unit_ops blind = {YOKE_UNIT_HEAD, .name = "my.blind", .info = &lag_info,
                                    .enter_init = lag_enter, .step = lag_step};
static const yoke_unit_ops linear = {YOKE_UNIT_HEAD,    .name = "my.linear",
                                     .info = &lag_info, .enter_init = lag_enter,
                                     .step = lag_step,  .linearise = lag_linearise};
static const yoke_unit_ops directional = {YOKE_UNIT_HEAD,    .name = "my.directional",
                                          .info = &lag_info, .enter_init = lag_enter,
                                          .step = lag_step,  .derivative = lag_derivative};
static const yoke_unit_ops ramp = {YOKE_UNIT_HEAD,    .name = "my.ramp",
                                   .info = &lag_info, .enter_init = lag_enter,
                                   .step = lag_step,  .set_input_derivatives = lag_derivatives};

// ---- two masses; the left one carries the spring as a state, so that nothing is fed through. Calls are written down.

typedef struct call {
  double t0, t1, in, out;  // of the bond, as received and as given [SI]
} call;

enum { MAX_CALLS = 20000 };
typedef struct call_log {
  call calls[MAX_CALLS];
  size_t n;
} call_log;
static call_log log_left, log_right;  // of the one system that runs

// a repeated call takes the place of the earlier one
static void note(call_log* log, double t, double h, double in, double out) {
  while (log->n > 0 && log->calls[log->n - 1].t0 > t - h / 2) {
    log->n--;
  }
  assert_true(log->n < MAX_CALLS);
  log->calls[log->n++] = (call){t, t + h, in, out};
}

typedef struct mass {
  double v_other, f_in;
  double f, x, v;
} mass;

#define REAL(member_, dim_, causality_, start_)                                                    \
  {                                                                                                \
    .name = #member_, .dim = (dim_), .type = YOKE_REAL, .causality = (causality_),                 \
    .start = (start_), .flags = YOKE_VARIABLE_HAS_START, .offset = offsetof(mass, member_)         \
  }

static const yoke_variable left_variables[] = {
    REAL(v_other, "m/s", YOKE_INPUT, 0), REAL(f, "N", YOKE_OUTPUT, 0), REAL(x, "m", YOKE_OUTPUT, 0),
    REAL(v, "m/s", YOKE_OUTPUT, 100)};
static const yoke_variable right_variables[] = {REAL(f_in, "N", YOKE_INPUT, 0),
                                                REAL(x, "m", YOKE_OUTPUT, 0),
                                                REAL(v, "m/s", YOKE_OUTPUT, -100)};
static const yoke_unit_info left_info = {.variables = left_variables,
                                         .n_variables = COUNT(left_variables),
                                         .flags = YOKE_UNIT_FLAT,
                                         .self_size = sizeof(mass)};
static const yoke_unit_info right_info = {.variables = right_variables,
                                          .n_variables = COUNT(right_variables),
                                          .flags = YOKE_UNIT_FLAT,
                                          .self_size = sizeof(mass)};

static yoke_status left_step(void* self, double t, double h, yoke_step_result* result) {
  mass* m = self;
  (void)result;
  const double v = m->v;
  m->v += h * (-10 * m->x - m->f);
  m->f += h * 100 * (v - m->v_other);
  m->x += h * m->v;
  note(&log_left, t, h, m->v_other, m->f);
  return YOKE_OK;
}

static yoke_status right_step(void* self, double t, double h, yoke_step_result* result) {
  mass* m = self;
  (void)result;
  m->v += h * (m->f_in - 1000 * m->x);
  m->x += h * m->v;
  note(&log_right, t, h, m->f_in, m->v);
  return YOKE_OK;
}

static const yoke_unit_ops left = {YOKE_UNIT_HEAD, .name = "my.left", .info = &left_info,
                                   .step = left_step};
static const yoke_unit_ops right = {YOKE_UNIT_HEAD, .name = "my.right", .info = &right_info,
                                    .step = right_step};

#define MASSES                                                                                     \
  "units: {left: {model: my.left%s}, right: {model: my.right%s}}\n"                                \
  "connections: [right.v -> left.v_other, left.f -> right.f_in]\n"

static int make_models(void** state) {
  static const yoke_unit_ops* const own[] = {&blind, &linear, &directional, &ramp, &left, &right};
  (void)state;
  check_ok(yoke_registry_create(&models));
  for (size_t i = 0; i < COUNT(own); i++) {
    check_ok(yoke_registry_add_unit(models, own[i], NULL));
  }
  return 0;
}

static int free_models(void** state) {
  (void)state;
  yoke_registry_destroy(&models);
  return 0;
}

// ---- runs of the golden loop

static sim open_golden(const golden_case* c, double h, char* messages, size_t size) {
  char text[2048];
  snprintf(text, sizeof text,
           "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 4, step: %g}\n%s"
           "units:\n  a: {%s}\n"
           "  b: {model: state_space, with: {A: [[-2]], B: [[1]], x0: [0], inputs: [u], outputs: "
           "[y]}}\n"
           "connections: [{from: b.y, to: a.u, gain: -4}, a.y -> b.u]\n",
           h, c->more, c->first);
  sim s;
  if (sim_try(models, text, &s, messages, size) < 0) {
    fail_msg("the system was refused:\n%s\n%s", messages, text);
  }
  return s;
}

// rms errors over t = 0 to 4, at every `distance` [s], and x(1)
static void run_golden(const golden_case* c, double h, double distance, double rms[2],
                       double at_one[2]) {
  char messages[4096];
  sim s = open_golden(c, h, messages, sizeof messages);
  const int64_t every = llround(distance / h), n = llround(4 / distance);
  double sum[2] = {0, 0};
  for (int64_t k = 1; k <= n; k++) {
    double x[2], truth[2];
    sim_steps(&s, every);
    x[0] = sim_read(&s, "a.x");
    x[1] = sim_read(&s, "b.y");
    solve(c->d, distance * (double)k, truth);
    for (int i = 0; i < 2; i++) {
      sum[i] += (x[i] - truth[i]) * (x[i] - truth[i]);
      at_one[i] = 4 * k == n ? x[i] : at_one[i];
    }
  }
  for (int i = 0; i < 2; i++) {
    rms[i] = sqrt(sum[i] / (double)(n + 1));
  }
  sim_close(&s);
}

#define EXACT(d_)                                                                                  \
  "model: state_space, with: {A: [[-1]], B: [[1]], C: [[1], [1]], D: [[" d_ "], [0]], x0: [1], "   \
  "inputs: [u], outputs: [y, x]}"
#define ITERATE(mode_) "scheme: iterative-jacobi\niteration: {mode: " mode_ ", tolerance: 1e-15}\n"

static void test_golden_TR_11(void** state) {
  (void)state;
  static const struct {
    const char* mode;
    double x[2], rms[2], order;
  } cases[] = {
      {ITERATE("interpolate"), {-0.07458742457, 0.1236045821}, {0.026552323, 0.01293284}, 1.12},
      {ITERATE("mean"), {-0.02686488552, 0.1090127431}, {0.0012719692, 0.00070783723}, 2.00},
      {ITERATE("hold-end"), {0.01476003655, 0.09836949751}, {0.019676855, 0.009582964}, 0.90},
      {"scheme: iterative-gauss-seidel\niteration: {tolerance: 1e-15}\n",
       {-0.02686488552, 0.1090127431},
       {0.0012719692, 0.00070783723},
       2.00},
      {"scheme: iterative-jacobi\niteration: {update: quasi-newton, tolerance: 1e-15}\n",
       {-0.02686488552, 0.1090127431},
       {0.0012719692, 0.00070783723},
       2.00},
  };
  double truth[2];
  solve(0, 1, truth);
  check_relative(truth[0], -0.0259886779141, 1e-11);
  check_relative(truth[1], 0.107604775832, 1e-11);
  for (size_t i = 0; i < COUNT(cases); i++) {
    const golden_case c = {EXACT("0"), cases[i].mode, 0};
    double rms[2], half[2], x[2] = {0}, other[2] = {0};
    run_golden(&c, 0.1, 0.1, rms, x);
    run_golden(&c, 0.05, 0.1, half, other);
    for (int k = 0; k < 2; k++) {
      const double order = log2(rms[k] / half[k]);
      print_message("%sx%d(1) = %.10g, rms %.9g, order %.3f\n", cases[i].mode, k + 1, x[k], rms[k],
                    order);
      check_relative(x[k], cases[i].x[k], 1e-8);
      check_near(x[k], cases[i].x[k], 1e-9);
      check_relative(rms[k], cases[i].rms[k], 1e-7);
      check_near(order, cases[i].order, 0.006);
    }
  }
}

// Outputs with feedthrough: read again with the inputs at the end, corrected by the linear model, or at the end of a ramp.
// Read with the mean they are D h u'/2 off.
static void test_feedthrough_TR_11(void** state) {
  (void)state;
  static const char neither[] =
      "the unit can neither compute them again nor give their derivatives";
  static const struct {
    const char* unit;
    double rms[3], order;  // rms 0: only the order is known
    bool is_warned;
  } cases[] = {
      {EXACT("0.5"), {0.00073424, 0.00018315, 4.58304e-05}, 2.00, false},
      {"model: my.linear", {0.00073424, 0.00018315, 4.58304e-05}, 2.00, false},
      {"model: my.directional", {0.00073424, 0.00018315, 4.58304e-05}, 2.00, false},
      {"model: my.blind", {0.00280921, 0.00147398, 0.00076169}, 0.95, true},
      {"model: my.ramp", {0}, 2.00, false},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    const golden_case c = {cases[i].unit, ITERATE("mean"), 0.5};
    double rms[3][2], x[2] = {0};
    for (int k = 0; k < 3; k++) {
      const double h = 0.1 / (1 << k);
      run_golden(&c, h, h, rms[k], x);
      print_message("%-16.16s H = %g: rms %.9g %.9g\n", cases[i].unit, h, rms[k][0], rms[k][1]);
      if (cases[i].rms[k] > 0) {
        check_near(rms[k][0], cases[i].rms[k], 6e-9);
      }
      if (k > 0) {
        check_near(log2(rms[k - 1][0] / rms[k][0]), cases[i].order, 0.025);
      }
    }
    char messages[4096];
    sim s = open_golden(&c, 0.1, messages, sizeof messages);
    sim_close(&s);
    const char* first = strstr(messages, neither);
    assert_int_equal(first != NULL, cases[i].is_warned);
    assert_true(first == NULL || strstr(first + 1, neither) == NULL);
  }
}

// ---- two oscillators with a solver of fourth order: what is left is the coupling's

static const char* const couplings[] = {
    // force-displacement: the force is fed through
    "units:\n"
    "  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100, solver: rk4}, start: {v: "
    "100}}\n"
    "  right: {model: oscillator.mass, with: {m: 1, k: 1000, solver: rk4}, start: {v: -100}%s}\n"
    "connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f]\n",
    // displacement-displacement
    "units:\n"
    "  left: {model: oscillator.displacement, with: {m: 1, k: 10, kc: 100, solver: rk4}, start: "
    "{v: "
    "100}}\n"
    "  right: {model: oscillator.displacement, with: {m: 1, k: 1000, kc: 100, solver: rk4}, start: "
    "{v: -100}%s}\n"
    "connections: [right.x -> left.x_other, right.v -> left.v_other, left.x -> right.x_other, "
    "left.v -> right.v_other]\n",
    // force-force, the spring a law
    "units:\n"
    "  left: {model: oscillator.mass, with: {m: 1, k: 10, sign: -1, solver: rk4}, start: {v: "
    "100}}\n"
    "  right: {model: oscillator.mass, with: {m: 1, k: 1000, solver: rk4}, start: {v: -100}%s}\n"
    "laws: {spring: {law: spring_damper, with: {k: 100, c: 0}}}\n"
    "connections: [left.x -> spring.x1, left.v -> spring.v1, right.x -> spring.x2, right.v -> "
    "spring.v2, spring.f -> left.f, spring.f -> right.f]\n",
};

// x'' of the undivided oscillator by the classical Runge-Kutta method, at t = 1 with so small a step that it is exact here
static void solve_oscillator(double x[4]) {
  enum { N = 200000 };
  const double h = 1.0 / N;
  double z[4] = {0, 100, 0, -100};
  for (int k = 0; k < N; k++) {
    double sum[4] = {0}, at[4], slope[4];
    static const double place[] = {0, 0.5, 0.5, 1}, weight[] = {1, 2, 2, 1};
    for (int stage = 0; stage < 4; stage++) {
      for (int i = 0; i < 4; i++) {
        at[i] = z[i] + (stage == 0 ? 0 : h * place[stage] * slope[i]);
      }
      const double f = 100 * (at[0] - at[2]);
      slope[0] = at[1];
      slope[1] = -10 * at[0] - f;
      slope[2] = at[3];
      slope[3] = -1000 * at[2] + f;
      for (int i = 0; i < 4; i++) {
        sum[i] += weight[stage] * slope[i] / 6;
      }
    }
    for (int i = 0; i < 4; i++) {
      z[i] += h * sum[i];
    }
  }
  memcpy(x, z, sizeof z);
}

// largest error at t = 1, relative to the first amplitudes
static double oscillator_error(const char* text, const char* lines, double h, int n_calls,
                               const double truth[4]) {
  static const char* const names[] = {"left.x", "left.v", "right.x", "right.v"};
  // the settings of the right unit go where the text has %s
  const char* place = strstr(text, "%s");
  sim s =
      sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: %g}\n%s%.*s, step: %g%s", h,
               lines, (int)(place - text), text, h / n_calls, place + 2);
  sim_run(&s);
  assert_int_equal(s.state->iteration.n_not_converged, 0);
  assert_true(yoke__iteration_is_effective(&s.state->iteration));
  double most = 0;
  for (int i = 0; i < 4; i++) {
    most = fmax(most, fabs(sim_read(&s, names[i]) - truth[i]) / (i % 2 == 0 ? 10 : 100));
  }
  sim_close(&s);
  return most;
}

static void test_oscillators_TR_11(void** state) {
  (void)state;
  static const char* const schemes[] = {
      "scheme: iterative-jacobi\niteration: {tolerance: 1e-12}\n",
      "scheme: iterative-gauss-seidel\niteration: {tolerance: 1e-12}\n",
      "scheme: iterative-jacobi\niteration: {update: quasi-newton, tolerance: 1e-12}\n",
  };
  static const char* const words[] = {"Jacobi", "Gauss-Seidel", "Jacobi, quasi-Newton"};
  static const char* const names[] = {"force-displacement", "displacements", "law"};
  static const int calls[] = {1, 4};
  static const double steps[] = {2e-3, 1e-3};
  double truth[4];
  solve_oscillator(truth);
  for (size_t c = 0; c < COUNT(couplings); c++) {
    for (size_t k = 0; k < COUNT(schemes) * COUNT(calls); k++) {
      const char* lines = schemes[k % 3];
      const int n = calls[k / 3];
      double last = oscillator_error(couplings[c], lines, 4e-3, n, truth);
      for (size_t i = 0; i < COUNT(steps); i++) {
        const double h = steps[i];
        const double now = oscillator_error(couplings[c], lines, h, n, truth);
        print_message("%s, %s, %d call%s, %g s: error %.3g, ratio %.3f\n", names[c], words[k % 3],
                      n, n == 1 ? "" : "s", h, now, last / now);
        check_between(last / now, 3.5, 4.5);
        last = now;
      }
    }
  }
}

// ---- an iteration that changes nothing

static sim open_masses(const char* lines, const char* left_more, const char* right_more) {
  char text[2048], messages[4096];
  sim s;
  log_left.n = log_right.n = 0;
  snprintf(text, sizeof text,
           "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.4, step: 1e-3}\n%s" MASSES, lines,
           left_more, right_more);
  if (sim_try(models, text, &s, messages, sizeof messages) < 0) {
    fail_msg("the system was refused:\n%s\n%s", messages, text);
  }
  return s;
}

static void check_same_number(const char* what, double got, double want, double tolerance) {
  const bool is_same = isnan(got) ? isnan(want) : fabs(got - want) <= tolerance * fabs(want);
  if (!is_same) {
    fail_msg("%s: %.17g, expected %.17g", what, got, want);
  }
}

static void check_same_ledger(const sim* a, const sim* b, double tolerance, bool has_mu) {
  assert_int_equal(a->system->n_bonds, b->system->n_bonds);
  assert_true(a->system->n_bonds > 0);
  for (size_t i = 0; i < a->system->n_bonds; i++) {
    yoke_ledger_result r, q;
    yoke__ledger_result(a->state->ledger, i, &r);
    yoke__ledger_result(b->state->ledger, i, &q);
    assert_true(q.has_ter && r.has_ter && q.ter > 0);
    check_same_number("TER", r.ter, q.ter, tolerance);
    check_same_number("net", r.net, q.net, tolerance);
    check_same_number("throughput", r.throughput, q.throughput, tolerance);
    check_same_number("flow part", r.flow, q.flow, tolerance);
    check_same_number("effort part", r.effort, q.effort, tolerance);
    check_same_number("given", r.given, q.given, tolerance);
    check_same_number("residual", r.residual, q.residual, tolerance);
    check_same_number("rho", r.rho_mean, q.rho_mean, tolerance);
    if (has_mu) {
      check_same_number("mu", r.bond->mu, q.bond->mu, 0);
      check_same_number("created", r.created, q.created, tolerance);
      check_same_number("eps", r.eps, q.eps, tolerance);
    }
  }
}

// Inputs at the start of one call per exchange: the iteration repeats the explicit step, bit by bit, and the ledger sees it.
static void test_start_values_are_jacobi_TR_11(void** state) {
  (void)state;
  static const char* const schemes[] = {"scheme: iterative-jacobi\n",
                                        "scheme: iterative-gauss-seidel\n"};
  sim want = open_masses("", "", "");
  sim_run(&want);
  for (size_t i = 0; i < COUNT(schemes); i++) {
    char lines[256];
    snprintf(lines, sizeof lines, "%siteration: {mode: interpolate}\n", schemes[i]);
    sim got = open_masses(lines, "", "");
    assert_true(yoke__system_is_iteration_idle(got.system));
    sim_run(&got);
    assert_false(yoke__iteration_is_effective(&got.state->iteration));
    assert_int_equal(got.state->iteration.n_unchanged, 400);
    assert_memory_equal(got.state->y, want.state->y, want.system->n_y * sizeof(double));
    check_same_ledger(&got, &want, 0, true);
    sim_close(&got);
  }
  // other inputs act: the default, several calls, feedthrough
  sim mean = open_masses("scheme: iterative-jacobi\n", "", "");
  sim calls =
      open_masses("scheme: iterative-jacobi\niteration: {mode: interpolate}\n", "", ", step: 5e-4");
  assert_false(yoke__system_is_iteration_idle(mean.system));
  assert_false(yoke__system_is_iteration_idle(calls.system));
  sim_run(&mean);
  sim_run(&calls);
  assert_true(yoke__iteration_is_effective(&mean.state->iteration));
  assert_true(yoke__iteration_is_effective(&calls.state->iteration));
  sim_close(&mean);
  sim_close(&calls);
  sim_close(&want);
}

// Values at the start with the force read at the end are what `exchange: fresh` applies: the same figures.
static void test_same_inputs_same_figures_TR_11(void** state) {
  (void)state;
  static const oscillator o = {1, 1, 10, 100, 1000, 0.1, ""};
  const oscillator_run fresh = {.step = "1e-3", .more = "exchange: fresh\n"};
  const oscillator_run iterated = {
      .step = "1e-3",
      .more = "scheme: iterative-jacobi\niteration: {mode: interpolate, tolerance: 1e-14}\n"};
  sim want = ledger_open_fd(&o, &fresh), got = ledger_open_fd(&o, &iterated);
  sim_steps(&want, 1000);
  sim_steps(&got, 1000);
  check_same_ledger(&got, &want, 1e-9, false);
  sim_close(&want);
  sim_close(&got);
}

// Every call of the last iteration, walked through tick by tick.
static const call* covering(const call_log* log, double t) {
  for (size_t i = 0; i < log->n; i++) {
    if (log->calls[i].t0 < t && t < log->calls[i].t1) {
      return &log->calls[i];
    }
  }
  fail_msg("no call covers t = %g", t);
  return NULL;
}

static void test_ledger_sees_last_iteration(void** state) {
  (void)state;
  static const char* const modes[] = {"mean", "interpolate"};
  static const char* const schemes[] = {"jacobi", "gauss-seidel"};
  static const char* const steps[] = {"", ", step: 5e-4", ", step: 2e-4"};
  for (size_t k = 0; k < COUNT(modes) * COUNT(schemes) * COUNT(steps) * COUNT(steps); k++) {
    char lines[256];
    snprintf(lines, sizeof lines, "scheme: iterative-%s\niteration: {mode: %s}\n",
             schemes[k / 2 % 2], modes[k % 2]);
    sim s = open_masses(lines, steps[k / 4 % 3], steps[k / 12]);
    sim_run(&s);
    const double tick = 1e-4;
    long double ter = 0, net = 0, throughput = 0;
    for (int i = 0; i < 4000; i++) {
      const double t = (i + 0.5) * tick;
      const call *a = covering(&log_left, t), *b = covering(&log_right, t);
      const double dP = b->in * b->out - a->in * a->out;
      ter += (long double)(fabs(dP) * tick);
      net += (long double)(dP * tick);
      throughput += (long double)(fabs(b->in * a->in) * tick);
    }
    yoke_ledger_result r;
    yoke__ledger_result(s.state->ledger, 0, &r);
    print_message("%s, %s, left%s, right%s: TER %.9g J\n", modes[k % 2], schemes[k / 2 % 2],
                  steps[k / 4 % 3], steps[k / 12], r.ter);
    check_relative(r.ter, (double)ter, 1e-9);
    check_near(r.net, (double)net, 1e-9 * (double)ter);
    check_relative(r.throughput, (double)throughput, 1e-9);
    sim_close(&s);
  }
}

// ---- what is said

static char* run_and_summarise(const char* lines, heard* told) {
  char text[2048];
  snprintf(text, sizeof text,
           "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.4, step: 1e-3}\n%s" MASSES, lines, "",
           "");
  const yoke_load_settings settings = {.registry = models, .sink = &told->sink};
  yoke_system* system = NULL;
  yoke_simulation* simulation = NULL;
  char* summary = NULL;
  check_ok(yoke_system_parse(text, strlen(text), "test.yaml", &settings, &system));
  check_ok(yoke_simulation_create(system, &told->sink, &simulation));
  check_ok(yoke_simulation_run(simulation, NULL, NULL));
  check_ok(yoke_simulation_summary(simulation, &summary));
  yoke_simulation_destroy(&simulation);
  yoke_system_destroy(&system);
  return summary;
}

static void test_message_TR_11(void** state) {
  (void)state;
  HEAR(idle);
  char* summary =
      run_and_summarise("scheme: iterative-jacobi\niteration: {mode: interpolate}\n", &idle);
  check_contains(idle.text, "warning: iteration: the inputs did not change: the result is that of "
                            "scheme: jacobi (every unit is called once per exchange");
  check_contains(summary, "\"effective\": false");
  check_contains(summary, "\"not_effective_because\": \"every unit is called once per exchange");
  assert_int_equal(idle.n, 1);
  yoke_text_free(&summary);

  // at rest, or within a tolerance as wide as this, nothing changes either
  HEAR(loose);
  summary = run_and_summarise("scheme: iterative-jacobi\niteration: {tolerance: 1e6}\n", &loose);
  check_contains(loose.text, "scheme: jacobi (they stayed within the tolerance in 100 % of the "
                             "steps)");
  check_contains(summary, "\"effective\": false");
  yoke_text_free(&summary);

  HEAR(mean);
  summary = run_and_summarise("scheme: iterative-jacobi\n", &mean);
  assert_int_equal(mean.n, 0);
  check_contains(summary, "\"effective\": true");
  assert_null(strstr(summary, "not_effective_because"));
  yoke_text_free(&summary);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_golden_TR_11),
      cmocka_unit_test(test_feedthrough_TR_11),
      cmocka_unit_test(test_oscillators_TR_11),
      cmocka_unit_test(test_start_values_are_jacobi_TR_11),
      cmocka_unit_test(test_same_inputs_same_figures_TR_11),
      cmocka_unit_test(test_ledger_sees_last_iteration),
      cmocka_unit_test(test_message_TR_11),
  };
  return cmocka_run_group_tests(tests, make_models, free_models);
}
