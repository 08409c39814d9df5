// Linear circuits as discrete-time models: exact for held and for ramped inputs against the solver
// (nodal, ESDIRK4 with small steps), reduced within the stated bound, refused with names where they
// are not linear.
#include "support/check.h"

#include "circuit/netlist/circuit_netlist.h"
#include "export/export_c.h"
#include "support/circuits.h"

enum { MAX_N = 200, MAX_IO = 8, N_FINE = 100 };

typedef struct bed {
  yoke_network* network;
  yoke_messages messages;
  yoke_export_c_job job;
  yoke_export_c_model model;
  yoke_status status;
} bed;

static void open_text(bed* b, const char* text, const yoke_export_c_job* job) {
  const yoke_netlist_settings settings = {.path = "test.cir"};
  *b = (bed){.job = *job};
  if (yoke__netlist_read_text(text, strlen(text), &settings, &b->messages, &b->network) < 0) {
    yoke__messages_print(&b->messages, stderr);
    fail_msg("the netlist is refused");
  }
  b->job.network = b->network;
  b->job.name = b->job.source = "test";
  b->job.settings = "";
  b->status = yoke__export_c_make(&b->job, &b->messages, &b->model);
}

static void open_model(bed* b, const char* text, const yoke_export_c_job* job) {
  open_text(b, text, job);
  if (b->status < 0) {
    yoke__messages_print(&b->messages, stderr);
    fail_msg("no model");
  }
}

static void close_bed(bed* b) {
  yoke__export_c_free(&b->model);
  yoke__network_destroy(&b->network);
  yoke__messages_free(&b->messages);
}

// ---- the model as the generated code runs it

static void step_model(const yoke_export_c_model* m, double x[], const double u[],
                       const double u_end[]) {
  double next[MAX_N];
  for (size_t i = 0; i < m->n; i++) {
    next[i] = m->bd[i];
    for (size_t j = 0; j < m->n; j++) {
      next[i] += m->Ad[i * m->n + j] * x[j];
    }
    for (size_t j = 0; j < m->n_u; j++) {
      next[i] += m->Bd[i * m->n_u + j] * u[j];
      next[i] += m->Bd_end != NULL ? m->Bd_end[i * m->n_u + j] * u_end[j] : 0.0;
    }
  }
  memcpy(x, next, m->n * sizeof *x);
}

static double output_of(const yoke_export_c_model* m, size_t i, const double x[],
                        const double u[]) {
  double y = m->d[i];
  for (size_t j = 0; j < m->n; j++) {
    y += m->C[i * m->n + j] * x[j];
  }
  for (size_t j = 0; j < m->n_u; j++) {
    y += m->D[i * m->n_u + j] * u[j];
  }
  return y;
}

// an input at step k: it jumps about
static double input_at(const yoke_export_c_model* m, size_t i, int k) {
  return m->inputs[i].start + 3.0 * sin(1.7 * k * k + (double)i);
}

// -------------------------------------------------------------------------------------------------
// exact

// Largest difference from the solver over n steps, outputs read at the end of each with its inputs.
static double compare_with_solver(bed* b, int n) {
  const yoke_export_c_model* m = &b->model;
  yoke_circuit* circuit = circuits_start(
      b->network, &(yoke_circuit_options){.step = m->h / N_FINE,
                                          .method = YOKE_CIRCUIT_ESDIRK4,
                                          .is_operating_point = !b->network->run.is_uic});
  double x[MAX_N] = {0}, u[MAX_IO] = {0}, u_end[MAX_IO] = {0}, worst = 0.0;
  assert_true(m->n <= MAX_N && m->n_u <= MAX_IO);
  memcpy(x, m->x, m->n * sizeof *x);
  for (size_t i = 0; i < m->n_u; i++) {
    u_end[i] = m->inputs[i].start;
  }
  for (int k = 0; k < n; k++) {
    for (size_t i = 0; i < m->n_u; i++) {
      u[i] = b->job.is_ramp ? u_end[i] : input_at(m, i, k);
      u_end[i] = b->job.is_ramp ? input_at(m, i, k) : u[i];
      yoke__circuit_set_input(circuit, (uint32_t)i, u[i], (u_end[i] - u[i]) / m->h, 0.0);
    }
    // the first stage of the method starts from the derivatives that belong to the new inputs
    check_ok(yoke__circuit_refresh(circuit));
    step_model(m, x, u, u_end);
    circuits_steps(circuit, N_FINE);
    for (size_t i = 0; i < m->n_y; i++) {
      const double want = yoke__circuit_probe(circuit, &b->network->outputs[i]);
      worst = fmax(worst, fabs(output_of(m, i, x, u_end) - want) / (1.0 + fabs(want)));
    }
  }
  yoke__circuit_destroy(&circuit);
  return worst;
}

static const char rlc_text[] =
    "rlc\n.input u=2 V\nV1 2 0 {u}\nR1 2 3 10\nL1 3 0 100m IC=0.5\nC1 3 0 40m IC=1\n"
    "C2 3 0 20m IC=1\n.output v(3)\n.output i(l1)\n.output i(c1)\n.tran 10m 1 uic\n.end\n";

// two temperatures that are fixed, heat from outside, a start that is none of rest
static const char thermal_text[] =
    "warm\n.input q=50 W\n.input t_air=290 K\nheat_source Q1 core {q}\n"
    "heat_capacity C1 core 20 J/K T0=350\nthermal_resistance R1 core case 0.5 K/W\n"
    "heat_capacity C2 case 100 J/K T0=300\nthermal_resistance R2 case air 1 K/W\n"
    "thermal_resistance R3 case water 2 K/W\ntemperature_source Ta air {t_air}\n"
    "temperature_source Tw water 280\n.output t(core)\n.output t(case)\n.output i(r3)\n"
    ".tran 1 100 uic\n.end\n";

static const char divider_text[] =
    "divider\n.input u=2 V\nV1 a 0 {u}\nC1 a m 1u\nC2 m 0 3u\nR1 m 0 1k\nV2 e 0 5\nR2 e m 3k\n"
    ".output v(m)\n.tran 1m 10m\n.end\n";

// The solver's own error at h/100 with order 4 and rounding over 100 steps: far below 1e-9.
static void test_exact(void** state) {
  (void)state;
  static const char* const texts[] = {rlc_text, thermal_text, divider_text};
  for (size_t i = 0; i < 3; i++) {
    for (int is_ramp = 0; is_ramp < 2; is_ramp++) {
      bed b;
      open_model(&b, texts[i], &(yoke_export_c_job){.is_ramp = is_ramp != 0});
      // jumps of a source in a loop of capacitors are jumps of the state, which the solver smears
      // over a step
      if (texts[i] != divider_text || is_ramp != 0) {
        const double worst = compare_with_solver(&b, 40);
        if (!(worst < 1e-9)) {
          fail_msg("netlist %zu, hold %d: %.3g off", i, is_ramp, worst);
        }
      }
      close_bed(&b);
    }
  }
}

// a step of its own; without any the reason is said
static void test_step(void** state) {
  (void)state;
  bed b;
  open_model(&b, rlc_text, &(yoke_export_c_job){.step = 2e-3});
  check_near(b.model.h, 2e-3, 0.0);
  check_near(compare_with_solver(&b, 30), 0.0, 1e-9);
  close_bed(&b);
  open_text(&b, "none\nV1 a 0 1\nR1 a 0 1\n.end\n", &(yoke_export_c_job){0});
  assert_int_equal(b.status, YOKE_BAD_INPUT);
  assert_int_equal(b.messages.n_errors, 1);
  check_contains(b.messages.all[0].text, "--step");
  close_bed(&b);
}

// sources with waves are inputs under their names; outputs of .print; identifiers are unique
static void test_names(void** state) {
  (void)state;
  bed b;
  open_model(&b,
             "names\n.input g.1=0 V\nVmains a 0 SIN(1 2 50)\nR1 a b 1\nC1 b 0 1m IC=0\n"
             "V2 c 0 {g.1}\nR2 c b 2\n.print tran v(b) v(b,a) i(r1)\n.tran 1m 1 uic\n.end\n",
             &(yoke_export_c_job){0});
  const yoke_export_c_model* m = &b.model;
  assert_int_equal(m->n_u, 2);
  assert_int_equal(m->n_y, 3);
  assert_string_equal(m->inputs[0].identifier, "G_1");
  assert_string_equal(m->inputs[1].shown, "Vmains");
  assert_string_equal(m->inputs[1].identifier, "VMAINS");
  check_near(m->inputs[1].start, 1.0, 0.0);
  assert_string_equal(m->outputs[0].identifier, "V_B");
  assert_string_equal(m->outputs[1].identifier, "V_B_A");
  assert_string_equal(m->inputs[1].dim, "V");
  assert_string_equal(m->outputs[2].dim, "A");
  close_bed(&b);

  // no states, no inputs: still a model
  open_model(&b, "bare\nV1 a 0 6\nR1 a b 1\nR2 b 0 2\n.tran 1m 1\n.end\n", &(yoke_export_c_job){0});
  assert_int_equal(b.model.n, 0);
  assert_int_equal(b.model.n_u, 0);
  const double none[MAX_IO] = {0};
  double largest = 0.0;
  for (size_t i = 0; i < b.model.n_y; i++) {
    largest = fmax(largest, output_of(&b.model, i, none, none));
  }
  check_relative(largest, 6.0, 1e-14);
  close_bed(&b);
}

// -------------------------------------------------------------------------------------------------
// reduction

static const char* ladder_text(int n_loops, char* to, size_t size) {
  size_t n = (size_t)snprintf(to, size, "ladder\n.input u=0 V\nV1 2 0 {u}\n");
  for (int i = 1; i <= n_loops; i++) {
    n += (size_t)snprintf(to + n, size - n,
                          "R%d %d %d 10\nL%d %d %d 100m IC=0\nC%d %d 0 100m IC=0\n", i,
                          i == 1 ? 2 : 2 * i - 1, 2 * i + 1, i, 2 * i + 1, 2 * i + 2, i, 2 * i + 2);
  }
  snprintf(to + n, size - n, ".output v(4)\n.output i(l1)\n.output v(%d)\n.tran 5m 1 uic\n.end\n",
           2 * n_loops + 2);
  return to;
}

// benchmark 4 with the gap's resistance at 350 K and the losses as inputs
static const char pmsm_text[] =
    "pmsm\n.input q_copper=2000 W\n.input q_rotor=150 W\n.input t_water=320 K\n"
    "thermal_resistance Raxis1 1 13 1\nthermal_resistance Raxis2 1 14 1\n"
    "thermal_resistance Rinner 1 2 0.025\nthermal_resistance Router 2 3 0.015\n"
    "thermal_resistance Rgap 3 4 0.21531\nthermal_resistance Rtooth1 4 5 0.025\n"
    "thermal_resistance Rtooth2 5 6 0.01\nthermal_resistance Rwire 8 7 0.05\n"
    "thermal_resistance Rtang 7 6 0.01\nthermal_resistance Ryoke 6 10 0.0025\n"
    "thermal_resistance Rhous1 10 11 0.25\nthermal_resistance Rhous2 10 12 0.25\n"
    "thermal_resistance Rwater 10 15 0.001\nthermal_resistance Rcopper 9 8 0.001\n"
    "thermal_resistance Rplate1 13 11 0.5\nthermal_resistance Rplate2 14 12 0.5\n"
    "thermal_resistance Rbear1 13 16 3\nthermal_resistance Rbear2 14 16 3\n"
    "heat_source Qrotor 2 {q_rotor}\nheat_source Qcopper 9 {q_copper}\nheat_source Qtooth 5 200\n"
    "heat_source Qbear1 13 50\nheat_source Qbear2 14 50\nheat_capacity Caxis 1 2000 T0=300\n"
    "heat_capacity Crotor 2 5000 T0=300\nheat_capacity Ccopper 9 2000 T0=300\n"
    "heat_capacity Cstator 6 1500 T0=300\nheat_capacity Chous 10 3000 T0=300\n"
    "heat_capacity Cplate1 11 300 T0=300\nheat_capacity Cplate2 12 300 T0=300\n"
    "heat_capacity Cbear1 13 500 T0=300\nheat_capacity Cbear2 14 500 T0=300\n"
    "temperature_source Tw 15 {t_water}\ntemperature_source Ta 16 300\n"
    ".output t(2) name=magnets\n.output t(9) name=copper\n.output i(rwater) name=q_water\n"
    ".tran 1 5000 uic\n.end\n";

// Telegraph signals about zero from a state of rest, whole against reduced: RMS(e_i) <= gain_i
// bound RMS(u). Constants cancel in the difference. Returns the largest share of the bound that was
// used; numbers of some hundreds, subtracted, are rounded at 1e-12 of the gain.
static double use_of_bound(const bed* whole, const bed* reduced, int n_steps) {
  const yoke_export_c_model *a = &whole->model, *b = &reduced->model;
  double x[MAX_N] = {0}, z[MAX_N] = {0}, u[MAX_IO] = {0}, error[MAX_IO] = {0}, energy = 0.0;
  double rest_x[MAX_N] = {0}, rest_z[MAX_N] = {0}, zero[MAX_IO] = {0};
  uint64_t seed = 20250101;
  for (int k = 0; k < n_steps; k++) {
    for (size_t j = 0; j < a->n_u; j++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      u[j] = k == 0 || seed >> 58 == 0 ? ((seed >> 33 & 1) != 0 ? 1.0 : -1.0) : u[j];
      energy += u[j] * u[j];
    }
    // with and without inputs: the difference is what they do
    step_model(a, x, u, u);
    step_model(a, rest_x, zero, zero);
    step_model(b, z, u, u);
    step_model(b, rest_z, zero, zero);
    for (size_t i = 0; i < a->n_y; i++) {
      const double y = output_of(a, i, x, u) - output_of(a, i, rest_x, zero);
      const double e = output_of(b, i, z, u) - output_of(b, i, rest_z, zero) - y;
      error[i] += e * e;
    }
  }
  double worst = 0.0;
  for (size_t i = 0; i < a->n_y; i++) {
    worst =
        fmax(worst, sqrt(error[i] / energy) / (b->quality.gain[i] * (b->quality.bound + 1e-12)));
  }
  return worst;
}

static void check_reduction(const char* what, const char* text, double tolerance, int n_steps) {
  bed whole, reduced;
  open_model(&whole, text, &(yoke_export_c_job){0});
  open_model(&reduced, text, &(yoke_export_c_job){.is_reduced = true, .tolerance = tolerance});
  const yoke_export_c_model* m = &reduced.model;
  assert_true(m->quality.bound <= tolerance);
  assert_true(m->n < whole.model.n);
  assert_int_equal(m->n_whole, whole.model.n);
  const double share = use_of_bound(&whole, &reduced, n_steps);
  double own = 0.0;
  for (size_t i = 0; i < m->n_y; i++) {
    own = fmax(own, m->quality.measured[i] / (m->quality.gain[i] * (m->quality.bound + 1e-12)));
  }
  printf("%s, tolerance %.0e: %zu of %zu states, bound %.3g, used %.3g (at export %.3g)\n", what,
         tolerance, m->n, m->n_whole, m->quality.bound, share, own);
  assert_true(share > 0.0 && share <= 1.0);
  assert_true(own > 0.0 && own <= 1.0);
  close_bed(&whole);
  close_bed(&reduced);
}

static void test_reduce_ladder(void** state) {
  (void)state;
  static char text[20000];
  for (int n_loops = 20; n_loops <= 60; n_loops += 20) {
    char what[32];
    snprintf(what, sizeof what, "ladder %d", n_loops);
    ladder_text(n_loops, text, sizeof text);
    check_reduction(what, text, 1e-2, 2000);
    check_reduction(what, text, 1e-4, 2000);
  }
}

// The start at 300 K is no state of rest: its way is followed too.
static void test_reduce_pmsm(void** state) {
  (void)state;
  check_reduction("pmsm", pmsm_text, 1e-1, 4000);
  check_reduction("pmsm", pmsm_text, 1e-2, 4000);
  check_reduction("pmsm", pmsm_text, 1e-3, 4000);
  bed whole, reduced;
  open_model(&whole, pmsm_text, &(yoke_export_c_job){0});
  open_model(&reduced, pmsm_text, &(yoke_export_c_job){.is_reduced = true, .tolerance = 1e-3});
  double x[MAX_N] = {0}, z[MAX_N] = {0}, u[MAX_IO] = {0};
  double low[3] = {0}, high[3] = {0}, error[3] = {0};
  memcpy(x, whole.model.x, whole.model.n * sizeof *x);
  memcpy(z, reduced.model.x, reduced.model.n * sizeof *z);
  for (size_t j = 0; j < 3; j++) {
    u[j] = whole.model.inputs[j].start;
  }
  for (int k = 0; k <= 5000; k++) {
    for (size_t i = 0; i < 3; i++) {
      const double y = output_of(&whole.model, i, x, u);
      low[i] = k == 0 ? y : fmin(low[i], y);
      high[i] = k == 0 ? y : fmax(high[i], y);
      error[i] = fmax(error[i], fabs(output_of(&reduced.model, i, z, u) - y));
    }
    step_model(&whole.model, x, u, u);
    step_model(&reduced.model, z, u, u);
  }
  for (size_t i = 0; i < 3; i++) {
    check_between(error[i] / (high[i] - low[i]), 0.0, 1e-3);
    // what the files say was measured on a grid of its own
    check_between(reduced.model.quality.start_error[i], 0.2 * error[i], 5.0 * error[i]);
  }
  close_bed(&whole);
  close_bed(&reduced);
}

// order instead of tolerance; all states give the same answer in other coordinates
static void test_order(void** state) {
  (void)state;
  static char text[20000];
  bed whole, reduced;
  ladder_text(5, text, sizeof text);
  open_model(&whole, text, &(yoke_export_c_job){0});
  open_model(&reduced, text, &(yoke_export_c_job){.is_reduced = true, .order = 4});
  assert_int_equal(reduced.model.n, 4);
  assert_true(use_of_bound(&whole, &reduced, 2000) <= 1.0);
  close_bed(&reduced);
  open_model(&reduced, text, &(yoke_export_c_job){.is_reduced = true, .order = 10});
  assert_int_equal(reduced.model.n, 10);
  check_near(reduced.model.quality.bound, 0.0, 0.0);
  check_near(compare_with_solver(&reduced, 30), 0.0, 1e-8);
  close_bed(&whole);
  close_bed(&reduced);
}

// A body that nothing cools warms for ever: its state is kept apart, constants are an input of the
// model, and the heat is all there at the end.
static void test_integrator(void** state) {
  (void)state;
  static const char text[] =
      "afloat\n.input q=10 W\nheat_source Q1 a {q}\nheat_source Q2 b 5 W\n"
      "heat_capacity Ca a 10 J/K T0=300\nthermal_resistance R1 a b 0.1 K/W\n"
      "heat_capacity Cb b 20 J/K T0=310\nthermal_resistance R2 b c 0.01 K/W\n"
      "heat_capacity Cc c 1 J/K T0=305\n.output t(a)\n.output t(b)\n.tran 0.1 10 uic\n.end\n";
  bed b;
  open_model(&b, text, &(yoke_export_c_job){.is_reduced = true, .order = 2});
  assert_int_equal(b.model.n, 2);
  assert_int_equal(b.model.quality.n_apart, 1);
  double x[MAX_N] = {0};
  const double u[MAX_IO] = {10.0};
  memcpy(x, b.model.x, b.model.n * sizeof *x);
  for (int k = 0; k < 2000; k++) {
    step_model(&b.model, x, u, u);
  }
  // 15 W for 200 s into 31 J/K, from 9505 J: at the end the temperatures differ by what the flows
  // need
  const double mean = (10.0 * 300 + 20 * 310 + 305 + 15 * 200.0) / 31.0;
  const double d_ab = 0.1 * (10.0 - 15.0 * 10 / 31), d_cb = -0.01 * 15.0 / 31;
  const double t_b = mean - (10.0 * d_ab + d_cb) / 31.0;
  // 10 W and a constant of 1 are the inputs; the temperatures have risen by 97 K
  const double size = b.model.quality.bound * hypot(10.0, 1.0);
  check_near(output_of(&b.model, 1, x, u), t_b, b.model.quality.gain[1] * size);
  check_near(output_of(&b.model, 0, x, u), t_b + d_ab, b.model.quality.gain[0] * size);
  assert_true(b.model.quality.gain[0] * size < 0.1);
  close_bed(&b);
}

// -------------------------------------------------------------------------------------------------
// what is refused

static void check_refused(const char* text, const char* name) {
  bed b;
  char all[1000];
  open_text(&b, text, &(yoke_export_c_job){0});
  yoke__messages_format(&b.messages, all, sizeof all);
  assert_int_equal(b.status, YOKE_NO_SUPPORT);
  check_contains(all, name);
  close_bed(&b);
}

static void test_refused(void** state) {
  (void)state;
  check_refused("t\nV1 a 0 1\nR1 a b 1\nD1 b 0 d\n.model d D\n.tran 1m 1\n.end\n", "'D1'");
  check_refused("t\nV1 a 0 1\nR1 a 0 {1+v(a)}\n.tran 1m 1\n.end\n", "'R1'");
  check_refused("t\nV1 a 0 1\nR1 a 0 2\n.output {p(r1)} name=heat\n.tran 1m 1\n.end\n", "'heat'");
  check_refused("t\n.input u=0\nV1 a 0 {u}\nC1 a b 1u\nC2 b 0 1u\nR1 b 0 1k\n.output i(c1)\n"
                ".tran 1m 1\n.end\n",
                "needs the derivative of 'u'");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exact),       cmocka_unit_test(test_step),
      cmocka_unit_test(test_names),       cmocka_unit_test(test_reduce_ladder),
      cmocka_unit_test(test_reduce_pmsm), cmocka_unit_test(test_order),
      cmocka_unit_test(test_integrator),  cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests_name("export_c", tests, NULL, NULL);
}
