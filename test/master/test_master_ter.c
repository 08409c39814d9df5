// The total energy residual through the master: benchmark B1 with four masters, perfect coupling, several rates.
//
//   dP = e_in f_out - f_in e_out,  TER = sum of |dP| h: inputs held during a step, outputs read at its end
//
// TE-02 to TE-08 and the reliability of the ranking. Numbers: TER specification 5.3 to 5.7.
#include "master/rotor_helper.h"
#include "unit/unit_models.h"

// ---- B1

typedef struct anchor {
  double h;
  int n;
  double ter[N_MASTERS], error[N_MASTERS];  // 0: not in the tables
} anchor;

// tables 5.3 and 5.4; masters: Jacobi fresh, stale, Gauss-Seidel load first, shaft first
static const anchor anchors[] = {
    {0.001, 50001, {2.123559e-05, 0, 1.326154e-05, 0}, {2.583707e-05, 0, 2.259982e-05, 0}},
    {0.01, 5001, {2.126674e-04, 0, 1.324312e-04, 0}, {2.585563e-04, 0, 2.256645e-04, 0}},
    {0.1,
     500,
     {2.159476e-03, 1.167407e-03, 1.305587e-03, 8.049286e-04},
     {2.603450e-03, 3.052183e-03, 2.222575e-03, 2.704051e-03}},
    {0.177827941,
     282,
     {3.892263e-03, 2.059639e-03, 2.292078e-03, 1.456993e-03},
     {4.657262e-03, 5.387654e-03, 3.900757e-03, 4.828043e-03}},
    {0.316227766,
     159,
     {7.110672e-03, 3.620607e-03, 3.972958e-03, 2.726866e-03},
     {8.357802e-03, 9.444899e-03, 6.768567e-03, 8.667282e-03}},
    {0.5, 100, {1.167147e-02, 0, 6.054897e-03, 0}, {1.341721e-02, 0, 1.032904e-02, 0}},
    {0.562341325,
     89,
     {1.336232e-02, 6.546159e-03, 6.755788e-03, 5.504590e-03},
     {1.512764e-02, 1.665017e-02, 1.147675e-02, 1.568197e-02}},
    {1,
     50,
     {2.595631e-02, 2.188332e-02, 1.087418e-02, 1.336410e-02},
     {2.789057e-02, 2.985523e-02, 1.861504e-02, 2.879723e-02}},
};

static void test_anchors_TE_02(void** state) {
  (void)state;
  double worst = 0;
  for (size_t i = 0; i < COUNT(anchors); i++) {
    const anchor* a = &anchors[i];
    for (int m = 0; m < N_MASTERS; m++) {
      if (a->ter[m] == 0) {
        continue;
      }
      const rotors_run run = rotors_go(&rotors_of_B1, m, a->h, a->n);
      const double off = fmax(fabs(run.ter / a->ter[m] - 1), fabs(run.error / a->error[m] - 1));
      worst = fmax(worst, off);
      if (!(off <= 1e-3)) {
        fail_msg("%s, h = %g: TER %.7g (%.7g), error energy %.7g (%.7g)", master_names[m], a->h,
                 run.ter, a->ter[m], run.error, a->error[m]);
      }
    }
  }
  print_message("52 anchors, largest relative difference %.2g\n", worst);
}

// throughput and rTER that 2.8 gives as points of orientation. Its sums start at k = 0, where p = 0.01 W counts for one
// more step; dP is 0 there, so that TER is the same.
static void test_throughput_TE_02(void** state) {
  (void)state;
  static const double want[2][2][2] = {{{0.0219, 0.0207}, {0.098, 0.063}},
                                       {{0, 0}, {0.577, 0.344}}};
  for (int i = 0; i < 2; i++) {
    const double h = i == 0 ? 0.1 : 1;
    for (int m = 0; m < 2; m++) {
      const rotors_run run =
          rotors_go(&rotors_of_B1, m == 0 ? J_FRESH : GS_LOAD_FIRST, h, i == 0 ? 500 : 50);
      const double throughput = run.result.throughput + h * 0.01;
      print_message("%-14s h = %g s: throughput %.4g J (from k = 0: %.4g), rTER %.4f (%.4f)\n",
                    master_names[m == 0 ? J_FRESH : GS_LOAD_FIRST], h, run.result.throughput,
                    throughput, run.result.rter, run.ter / throughput);
      if (i == 0) {
        check_near(throughput, want[i][0][m], 5.05e-5);
      }
      check_near(run.ter / throughput, want[i][1][m], 5.05e-4);
      check_relative(run.result.rter, run.ter / run.result.throughput, 1e-12);
    }
  }
}

static void test_first_order_TE_03(void** state) {
  (void)state;
  for (int m = 0; m < N_MASTERS; m++) {
    const rotors_run fine = rotors_go(&rotors_of_B1, m, 0.01, 5000);
    const rotors_run coarse = rotors_go(&rotors_of_B1, m, 0.1, 500);
    const double ter = log10(coarse.ter / fine.ter), error = log10(coarse.error / fine.error);
    print_message("%-14s slope of TER %.4f, of the error energy %.4f\n", master_names[m], ter,
                  error);
    check_near(ter, 1, 0.02);
    check_near(error, 1, 0.02);
  }
}

static void test_ranking_TE_04(void** state) {
  (void)state;
  double ter_before = 0, error_before = 0;
  for (size_t i = 0; i < COUNT(anchors); i++) {
    const anchor* a = &anchors[i];
    const rotors_run fresh = rotors_go(&rotors_of_B1, J_FRESH, a->h, a->n);
    const rotors_run gs = rotors_go(&rotors_of_B1, GS_LOAD_FIRST, a->h, a->n);
    const double ter = fresh.ter / gs.ter, error = fresh.error / gs.error;
    check_between(ter, 1.60, 2.39);
    check_between(error, 1.14, 1.50);
    assert_true(ter > ter_before && error > error_before);  // monotone in h
    ter_before = ter;
    error_before = error;
  }
}

static void check_series(const char* what, const double got[], const double want[], size_t n) {
  for (size_t k = 0; k < n; k++) {
    if (!(fabs(got[k] - want[k]) <= 1e-6)) {
      fail_msg("%s, k = %zu: %.7f, expected %.6f", what, k, got[k], want[k]);
    }
  }
}

static void test_trajectories_TE_05(void** state) {
  (void)state;
  static const double omega2[N_MASTERS][6] = {
      {0.1, 0.050789, 0.011887, -0.016684, -0.036641, -0.049985},
      {0.1, 0.050789, 0.003115, -0.030013, -0.048727, -0.057216},
      {0.1, 0.050789, 0.013958, -0.012803, -0.032050, -0.045610},
      {0.1, 0.047970, 0.007866, -0.021565, -0.042225, -0.055724}};
  rotors_run run[N_MASTERS];
  for (int m = 0; m < N_MASTERS; m++) {
    run[m] = rotors_go(&rotors_of_B1, m, 1, 50);
    check_series(master_names[m], run[m].omega2, omega2[m], 6);
  }
  static const double u2[] = {-0.1, -0.1, -0.033207, 0.015567, 0.037282, 0.033941};
  static const double tau_fresh[] = {-0.1, -0.131629, -0.062237, -0.019861, -0.005974, -0.012778};
  static const double tau_gs[] = {-0.1, -0.009980, 0.042177, 0.059148, 0.051481, 0.031613};
  check_series("input of the load, fresh", run[J_FRESH].u2, u2, 6);
  check_series("torque, fresh", run[J_FRESH].tau, tau_fresh, 6);
  check_series("torque, load first", run[GS_LOAD_FIRST].tau, tau_gs, 6);

  // the free integral of the shaft leaves an offset of the torque
  check_near(run[J_FRESH].tau_end, -0.0197, 5e-5);
  check_near(run[GS_LOAD_FIRST].tau_end, 0.0150, 5e-5);

  // and the exact solution, for the error energy
  static const double exact[] = {0.1, 0.054270, 0.017361, -0.011386, -0.033117, -0.048772};
  static const double exact_tau[] = {-0.1, -0.028106, 0.019777, 0.040573, 0.039119, 0.023846};
  double E[16], x[4] = {0.1, 0.1, 0.2, 0.1}, speeds[6], torques[6];
  rotors_exact(&rotors_of_B1, 1, E);
  for (int k = 0; k < 6; k++) {
    double next[4];
    speeds[k] = x[3];
    torques[k] = rotors_torque(&rotors_of_B1, x);
    yoke__mat_vec(4, 4, E, x, next);
    memcpy(x, next, sizeof x);
  }
  check_series("speed, exact", speeds, exact, 6);
  check_series("torque, exact", torques, exact_tau, 6);
}

// 5.5: every map of a macro step has the eigenvalue 1 of the free integral; the next largest moduli at h = 1 s
static void test_moduli_TE_05(void** state) {
  (void)state;
  static const probe probes[] = {{"shaft.phi", true},
                                 {"shaft.omega", true},
                                 {"load.phi", true},
                                 {"load.omega", true},
                                 {"shaft.tau", false}};
  static const double want[N_MASTERS] = {0.93091, 0.92844, 0.92592, 0.92592};
  enum { N = COUNT(probes) + 1 };  // and phi_other, which is no output
  for (int m = 0; m < N_MASTERS; m++) {
    sim s = rotors_open(&rotors_of_B1, m, 1);
    const yoke_unit* shaft = &s.system->units[0].unit;
    const size_t phi_other = yoke__unit_find(shaft, "phi_other");
    const size_t last = N - 1;
    double M[N * N], re[N], im[N];
    for (size_t column = 0; column < N; column++) {
      double value = column == N - 1 ? 1 : 0;
      check_ok(yoke__unit_set(shaft, phi_other, &value, sizeof value));
      for (size_t i = 0; i < N - 1; i++) {
        probe_set(&s, &probes[i], i == column ? 1 : 0);
      }
      // with fresh exchange the torque that is sent belongs to the states: nothing else remembers
      if (m == J_FRESH) {
        const double omega2 = sim_read(&s, "load.omega");
        check_ok(yoke__unit_set(shaft, yoke__unit_find(shaft, "omega_other"), &omega2, 8));
        check_ok(shaft->ops->refresh(shaft->self, 0));
        check_ok(yoke__unit_get_outputs(shaft, s.state->y + s.system->units[0].y));
      }
      for (size_t u = 0; u < 2; u++) {
        yoke__master_gather(s.system, s.state, u, s.state->y, s.state->u);
      }
      sim_steps(&s, 1);
      for (size_t i = 0; i < N - 1; i++) {
        M[i * N + column] = sim_read(&s, probes[i].name);
      }
      check_ok(yoke__unit_get(shaft, phi_other, &value, sizeof value));
      M[last * N + column] = value;
    }
    check_ok(yoke__eigenvalues(N, M, re, im));
    double first = 0, second = 0;
    for (size_t i = 0; i < N; i++) {
      const double modulus = hypot(re[i], im[i]);
      if (modulus > first + 1e-9) {
        second = first;
        first = modulus;
      } else if (modulus > second && modulus < first - 1e-9) {
        second = modulus;
      }
    }
    print_message("%-14s moduli %.6f, %.6f\n", master_names[m], first, second);
    check_near(first, 1, 1e-9);
    check_near(second, want[m], 5.05e-6);
    sim_close(&s);
  }
}

// the known exception: two defects of the stale exchange hide each other, although its error is the largest
static void test_exception_TE_06(void** state) {
  (void)state;
  const rotors_run stale = rotors_go(&rotors_of_B1, J_STALE, 0.1, 500);
  const rotors_run gs = rotors_go(&rotors_of_B1, GS_LOAD_FIRST, 0.1, 500);
  print_message("h = 0.1 s: TER stale %.4g < GS %.4g J, but errors %.4g > %.4g J; parts of the "
                "stale one %.4g (rate) and %.4g J (action)\n",
                stale.ter, gs.ter, stale.error, gs.error, stale.result.flow, stale.result.effort);
  assert_true(stale.ter < gs.ter);
  assert_true(stale.error > gs.error);
  // the split shows it: together the parts are above the TER of Gauss-Seidel
  assert_true(stale.result.flow + stale.result.effort > gs.ter);
}

// under Gauss-Seidel the connection into the later unit has no defect at all
static void test_gauss_seidel_has_one_defect(void** state) {
  (void)state;
  const yoke_ledger_result load = rotors_go(&rotors_of_B1, GS_LOAD_FIRST, 0.5, 100).result;
  const yoke_ledger_result shaft = rotors_go(&rotors_of_B1, GS_SHAFT_FIRST, 0.5, 100).result;
  check_near(load.flow_defect, 0, 0);
  check_near(load.flow, 0, 0);
  check_relative(load.ter, load.effort, 1e-12);
  check_near(shaft.effort_defect, 0, 0);
  check_near(shaft.effort, 0, 0);
  check_relative(shaft.ter, shaft.flow, 1e-12);
}

// ---- TE-07: where nothing changes there is nothing to be late about. A damper between an end that moves at 3 m/s and a
// mass on a damper: 2 (3 - v) = v, so v = 2 m/s and 2 N. All numbers are small integers, so 0 means 0.

static void test_perfect_coupling_TE_07(void** state) {
  (void)state;
  static const char* const kinds[] = {
      "",
      "exchange: fresh\n",
      "scheme: gauss-seidel\norder: [drive, damper, mass]\n",
      "scheme: gauss-seidel\norder: [mass, damper, drive]\n",
      "scheme: iterative-jacobi\n",
      "scheme: iterative-gauss-seidel\n",
  };
  static const char* const steps[] = {"", ", step: 1.25e-4", ", step: 4e-3"};
  for (size_t i = 0; i < COUNT(kinds); i++) {
    for (size_t j = 0; j < COUNT(steps) * COUNT(steps); j++) {
      sim s =
          sim_open("yoke: 1\ninputs: start\ncalls: 1\n"
                   "time: {stop: 0.4, step: 1e-3}\n"
                   "%s"
                   "units:\n"
                   "  drive: {model: constant, with: {value: 3}}\n"
                   "  damper: {model: spring_damper, with: {k: 0, c: 2}, start: {x1: 0, x2: 0}%s}\n"
                   "  mass: {model: oscillator.mass, with: {m: 1, k: 0, c: 1}, start: {v: 2}%s}\n"
                   "connections: [drive.y -> damper.v1, mass.v -> damper.v2, damper.f -> "
                   "mass.f]\n",
                   kinds[i], steps[j % 3], steps[j / 3]);
      sim_run(&s);
      const yoke_ledger_result r = ledger_result(&s, "damper-mass");
      if (r.ter != 0 || r.net != 0 || r.residual != 0 || !(fabs(r.throughput - 1.6) < 1e-12)) {
        fail_msg("%ssteps%s%s: TER %g, net %g, residual %g, throughput %.15g J", kinds[i],
                 steps[j % 3], steps[j / 3], r.ter, r.net, r.residual, r.throughput);
      }
      sim_close(&s);
    }
  }
}

// ---- TE-08: units that write down every call, and a walk over all ticks

typedef struct call {
  double t0, t1, in, out;  // of the bond, as received and as given [SI]
} call;

enum { MAX_CALLS = 20000 };
typedef struct call_log {
  call calls[MAX_CALLS];
  size_t n;
} call_log;
static call_log log_left, log_right;  // of the one system that runs

typedef struct mass {
  double x_other, v_other, f_in;
  double f, x, v;
  double k;
} mass;

#define REAL(member_, dim_, causality_, start_)                                                    \
  {                                                                                                \
    .name = #member_, .dim = (dim_), .type = YOKE_REAL, .causality = (causality_),                 \
    .start = (start_), .flags = YOKE_VARIABLE_HAS_START, .offset = offsetof(mass, member_)         \
  }

static const yoke_variable left_variables[] = {
    REAL(x_other, "m", YOKE_INPUT, 0), REAL(v_other, "m/s", YOKE_INPUT, 0),
    REAL(f, "N", YOKE_OUTPUT, 0),      REAL(x, "m", YOKE_OUTPUT, 0),
    REAL(v, "m/s", YOKE_OUTPUT, 0),    REAL(k, "N/m", YOKE_PARAMETER, 10)};
static const yoke_variable right_variables[] = {
    REAL(f_in, "N", YOKE_INPUT, 0), REAL(x, "m", YOKE_OUTPUT, 0), REAL(v, "m/s", YOKE_OUTPUT, 0),
    REAL(k, "N/m", YOKE_PARAMETER, 1000)};
static const yoke_feedthrough left_feedthrough[] = {{2, 0}, {2, 1}};
static const yoke_unit_info left_info = {.variables = left_variables,
                                         .n_variables = COUNT(left_variables),
                                         .feedthrough = left_feedthrough,
                                         .n_feedthrough = COUNT(left_feedthrough),
                                         .flags = YOKE_UNIT_FLAT,
                                         .self_size = sizeof(mass)};
static const yoke_unit_info right_info = {.variables = right_variables,
                                          .n_variables = COUNT(right_variables),
                                          .flags = YOKE_UNIT_FLAT,
                                          .self_size = sizeof(mass)};

static void note(call_log* log, double t, double h, double in, double out) {
  assert_true(log->n < MAX_CALLS);
  log->calls[log->n++] = (call){t, t + h, in, out};
}

static yoke_status left_refresh(void* self, double t) {
  mass* m = self;
  (void)t;
  m->f = 100 * (m->x - m->x_other) + 3 * (m->v - m->v_other);
  return YOKE_OK;
}

static yoke_status left_step(void* self, double t, double h, yoke_step_result* result) {
  mass* m = self;
  (void)result;
  const double f = 100 * (m->x - m->x_other) + 3 * (m->v - m->v_other);
  m->v += h * (-m->k * m->x - f);
  m->x += h * m->v;
  (void)left_refresh(m, t);
  note(&log_left, t, h, m->v_other, m->f);
  return YOKE_OK;
}

static yoke_status right_refresh(void* self, double t) {
  (void)self;
  (void)t;
  return YOKE_OK;
}

static yoke_status right_step(void* self, double t, double h, yoke_step_result* result) {
  mass* m = self;
  (void)result;
  m->v += h * (m->f_in - m->k * m->x);
  m->x += h * m->v;
  note(&log_right, t, h, m->f_in, m->v);
  return YOKE_OK;
}

static const yoke_unit_ops logged_left = {YOKE_UNIT_HEAD, .name = "logged.left", .info = &left_info,
                                          .step = left_step, .refresh = left_refresh};
static const yoke_unit_ops logged_right = {YOKE_UNIT_HEAD, .name = "logged.right",
                                           .info = &right_info, .step = right_step,
                                           .refresh = right_refresh};

static const call* covering(const call_log* log, double t) {
  for (size_t i = 0; i < log->n; i++) {
    if (log->calls[i].t0 < t && t < log->calls[i].t1) {
      return &log->calls[i];
    }
  }
  fail_msg("no call covers t = %g", t);
  return NULL;
}

static void check_walk(const char* what, const yoke_ledger_result* r, double tick, int64_t n) {
  long double ter = 0, net = 0, throughput = 0, flow = 0, effort = 0, d_flow = 0, d_effort = 0;
  for (int64_t i = 0; i < n; i++) {
    const double t = ((double)i + 0.5) * tick;
    const call *left = covering(&log_left, t), *right = covering(&log_right, t);
    const double e_in = right->in, f_out = right->out, f_in = left->in, e_out = left->out;
    const double dP = e_in * f_out - f_in * e_out;
    ter += (long double)(fabs(dP) * tick);
    net += (long double)(dP * tick);
    throughput += (long double)(fabs(e_in * f_in) * tick);
    flow += (long double)(fabs(e_out * (f_in - f_out)) * tick);
    effort += (long double)(fabs((e_in - e_out) * f_out) * tick);
    d_flow += (long double)(fabs(f_in - f_out) * tick);
    d_effort += (long double)(fabs(e_in - e_out) * tick);
  }
  const double got[] = {r->ter,    r->net,         r->throughput,   r->flow,
                        r->effort, r->flow_defect, r->effort_defect};
  const double want[] = {(double)ter,    (double)net,    (double)throughput, (double)flow,
                         (double)effort, (double)d_flow, (double)d_effort};
  for (size_t i = 0; i < COUNT(got); i++) {
    if (!(fabs(got[i] - want[i]) <= 1e-9 * (i == 1 ? (double)ter : fabs(want[i])))) {
      fail_msg("%s, figure %zu: %.15g, walk %.15g", what, i, got[i], want[i]);
    }
  }
  print_message("%-36s TER %.9g J, walk over %lld ticks %.9g J\n", what, got[0], (long long)n,
                want[0]);
}

typedef struct rates {
  const char *name, *lines, *step, *left, *right, *exchange;
  int order;
  double tick, stop;
} rates;

static void test_rates_TE_08(void** state) {
  static const rates cases[] = {
      {"one rate", "", "1e-3", "", "", "", 0, 1e-3, 0.24},
      {"right ten times as fast", "", "1e-3", "", ", step: 1e-4", "", 0, 1e-4, 0.24},
      {"right ten times as fast, linear", "", "1e-3", "", ", step: 1e-4", "", 1, 1e-4, 0.24},
      {"left ten times as fast", "", "1e-3", ", step: 1e-4", "", "", 0, 1e-4, 0.24},
      {"left ten times as fast, parabola", "", "1e-3", ", step: 1e-4", "", "", 2, 1e-4, 0.24},
      {"4 : 10", "", "2e-3", ", step: 4e-4", ", step: 1e-3", "", 0, 2e-4, 0.24},
      {"4 : 10, linear", "", "2e-3", ", step: 4e-4", ", step: 1e-3", "", 1, 2e-4, 0.24},
      {"10 : 4", "", "2e-3", ", step: 1e-3", ", step: 4e-4", "", 1, 2e-4, 0.24},
      {"right slower than the rows", "", "1e-3", "", ", step: 4e-3", "", 0, 1e-3, 0.24},
      {"left slower than the rows", "", "1e-3", ", step: 4e-3", "", "", 0, 1e-3, 0.24},
      {"4 : 6 above the rows", "", "1e-3", ", step: 4e-3", ", step: 6e-3", ", exchange: 12e-3", 0,
       1e-3, 0.24},
      {"rare exchange", "", "1e-3", "", ", step: 2.5e-4", ", exchange: 3e-3", 1, 2.5e-4, 0.24},
      {"fresh", "exchange: fresh\n", "1e-3", "", "", "", 0, 1e-3, 0.24},
      {"fresh, right fast", "exchange: fresh\n", "1e-3", "", ", step: 1e-4", "", 0, 1e-4, 0.24},
      {"fresh, 4 : 10", "exchange: fresh\n", "2e-3", ", step: 4e-4", ", step: 1e-3", "", 1, 2e-4,
       0.24},
      {"delayed", "", "1e-3", "", "", ", delay: 3e-3", 0, 1e-3, 0.24},
      {"Gauss-Seidel", "scheme: gauss-seidel\n", "1e-3", "", "", "", 0, 1e-3, 0.24},
      {"Gauss-Seidel, right first, fast", "scheme: gauss-seidel\norder: [right, left]\n", "1e-3",
       "", ", step: 1e-4", "", 0, 1e-4, 0.24},
      {"Gauss-Seidel, 4 : 10", "scheme: gauss-seidel\norder: [left, right]\n", "2e-3",
       ", step: 4e-4", ", step: 1e-3", "", 0, 2e-4, 0.24},
      {"Gauss-Seidel, right slow", "scheme: gauss-seidel\norder: [left, right]\n", "1e-3", "",
       ", step: 4e-3", "", 0, 1e-3, 0.24},
      {"Gauss-Seidel, left slow", "scheme: gauss-seidel\norder: [left, right]\n", "1e-3",
       ", step: 4e-3", "", "", 0, 1e-3, 0.24},
      {"threads", "threads: 2\n", "2e-3", ", step: 4e-4", ", step: 1e-3", "", 1, 2e-4, 0.24},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    const rates* c = &cases[i];
    char text[2048], messages[4096];
    snprintf(text, sizeof text,
             "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: %g, step: %s}\n%s"
             "units: {left: {model: logged.left, start: {v: 100}%s}, right: {model: logged.right, "
             "start: {v: -100}%s}}\n"
             "connections:\n"
             "  - {from: right.x, to: left.x_other, order: %d%s}\n"
             "  - {from: right.v, to: left.v_other, order: %d%s}\n"
             "  - {from: left.f, to: right.f_in, order: %d%s}\n",
             c->stop, c->step, c->lines, c->left, c->right, c->order, c->exchange, c->order,
             c->exchange, c->order, c->exchange);
    sim s;
    log_left.n = log_right.n = 0;
    if (sim_try(*state, text, &s, messages, sizeof messages) < 0) {
      fail_msg("%s was refused:\n%s", c->name, messages);
    }
    sim_run(&s);
    const yoke_ledger_result r = ledger_result(&s, "left-right");
    check_walk(c->name, &r, c->tick, (int64_t)(c->stop / c->tick + 0.5));
    sim_close(&s);
  }
}

// a law has no step: it counts as it is after the exchange that ends the slot, so only what the masses held is old
static void test_law_by_hand(void** state) {
  (void)state;
  sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\n"
                   "time: {stop: 1, step: 1e-3}\n"
                   "units:\n"
                   "  left: {model: oscillator.mass, with: {m: 1, k: 10, sign: -1}, start: {v: "
                   "100}}\n"
                   "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {v: -100}}\n"
                   "laws: {spring: {law: spring_damper, with: {k: 100}}}\n"
                   "connections: [left.x -> spring.x1, right.x -> spring.x2]\n"
                   "bonds:\n"
                   "  left: {action: spring.f -> left.f, rate: left.v -> spring.v1, sign: -1}\n"
                   "  right: {action: spring.f -> right.f, rate: right.v -> spring.v2}\n");
  double ter[2] = {0, 0}, f = sim_read(&s, "spring.f");
  while (s.state->n_slots < s.system->n_slots) {
    sim_steps(&s, 1);
    const double f_new = sim_read(&s, "spring.f");
    ter[0] += 1e-3 * fabs((f - f_new) * sim_read(&s, "left.v"));
    ter[1] += 1e-3 * fabs((f - f_new) * sim_read(&s, "right.v"));
    f = f_new;
  }
  for (size_t b = 0; b < 2; b++) {
    check_relative(ledger_value(&s, b, YOKE_LEDGER_TER), ter[b], 1e-10);
  }
  sim_close(&s);
}

// ---- 5.7: how often TER ranks a master against Gauss-Seidel as the error energy does

static double uniform(uint64_t* seed, double low, double high) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return low + (high - low) * (double)(*seed >> 11) / 9007199254740992.0;
}

static void test_reliability(void** state) {
  (void)state;
  enum { N = 400 };
  static const double want[N_MASTERS] = {0.943, 0.893, 0, 0.835};
  int n_same[N_MASTERS] = {0};
  uint64_t seed = 57;
  for (int i = 0; i < N; i++) {
    rotors r;
    double* const J[] = {&r.J1, &r.J2};
    double* const c[] = {&r.c1, &r.ck, &r.c2};
    double* const d[] = {&r.d1, &r.dk, &r.d2};
    double* const x[] = {&r.phi1, &r.omega1, &r.phi2, &r.omega2};
    for (size_t k = 0; k < 2; k++) {
      *J[k] = uniform(&seed, 5, 20);
    }
    for (size_t k = 0; k < 3; k++) {
      *c[k] = uniform(&seed, 0.5, 2);
      *d[k] = uniform(&seed, 0.5, 3);
    }
    for (size_t k = 0; k < 4; k++) {
      *x[k] = uniform(&seed, -0.3, 0.3);
    }
    rotors_run run[N_MASTERS];
    for (int m = 0; m < N_MASTERS; m++) {
      run[m] = rotors_go(&r, m, 0.2, 250);
    }
    for (int m = 0; m < N_MASTERS; m++) {
      const rotors_run* gs = &run[GS_LOAD_FIRST];
      n_same[m] += (run[m].ter > gs->ter) == (run[m].error > gs->error);
    }
  }
  for (int m = 0; m < N_MASTERS; m++) {
    if (m == GS_LOAD_FIRST) {
      continue;
    }
    const double share = (double)n_same[m] / N, p = want[m];
    print_message("%-14s ranked right in %.1f %% of %d systems (specification %.1f %%)\n",
                  master_names[m], 100 * share, N, 100 * p);
    // two samples of this size: 3 standard deviations of their difference
    check_near(share, p, 3 * sqrt(2 * p * (1 - p) / N));
  }
}

static int make_models(void** state) {
  yoke_registry* models = NULL;
  check_ok(yoke_registry_create(&models));
  check_ok(yoke_registry_add_unit(models, &logged_left, NULL));
  check_ok(yoke_registry_add_unit(models, &logged_right, NULL));
  *state = models;
  return 0;
}

static int free_models(void** state) {
  yoke_registry* models = *state;
  yoke_registry_destroy(&models);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_anchors_TE_02),
      cmocka_unit_test(test_throughput_TE_02),
      cmocka_unit_test(test_first_order_TE_03),
      cmocka_unit_test(test_ranking_TE_04),
      cmocka_unit_test(test_trajectories_TE_05),
      cmocka_unit_test(test_moduli_TE_05),
      cmocka_unit_test(test_exception_TE_06),
      cmocka_unit_test(test_gauss_seidel_has_one_defect),
      cmocka_unit_test(test_perfect_coupling_TE_07),
      cmocka_unit_test(test_rates_TE_08),
      cmocka_unit_test(test_law_by_hand),
      cmocka_unit_test(test_reliability),
  };
  return cmocka_run_group_tests(tests, make_models, free_models);
}
