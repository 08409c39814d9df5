// A permanent-magnet motor (problem 4 of the circuit benchmarks), whose copper loses 30 % more and whose rotor 20 % less heat than
// the twin believes, from 600 s on. Sensors on copper and housing only, 0.5 K, ten readings a second. How well can the magnets be
// known?
//
// The copper's loss shows at once. The rotor's leaves through housing and coolant, where 30 W are 0.03 K: it is seen only by
// averaging over thousands of readings, and until then its guess decides. What can be reached is what the filter prints: some 1.5 K.
// Without correction the magnets are 3.7 K wrong (rms from 1800 s on), not more, because the two changes work against each other.
#include "base/base_message.h"
#include "estimate/estimate_filter.h"
#include "estimate/estimate_innovation.h"
#include "estimate_benchmarks.h"
#include "linalg/linalg_dense.h"
#include "support/check.h"
#include "support/circuits.h"

static YOKE_CATCH(err);

#define H     0.1
#define SIGMA 0.5

// clang-format off
enum { SHAFT, MAGNETS, SURFACE, BORE, TOOTH, STATOR, SLOT, WIRE, COPPER, HOUSING, PLATE1, PLATE2, BEARING1, BEARING2,
       COOLANT, ENVIRONMENT, N_NODES };
enum { Q_COPPER, Q_ROTOR, Q_TOOTH, Q_BEARING, T_COOLANT, T_ENVIRONMENT, N_INPUTS };
enum { GAP = 4, WIRE_TO_SLOT = 8, N_RESISTORS = 18, N_STATES = 9 };

#define F FREE_NODE
static const yoke_heat_node nodes[] = {
    {"shaft", F}, {"magnets", F}, {"surface", F}, {"bore", F}, {"tooth", F}, {"stator", F}, {"slot", F}, {"wire", F},
    {"copper", F}, {"housing", F}, {"plate1", F}, {"plate2", F}, {"bearing1", F}, {"bearing2", F},
    {"coolant", T_COOLANT}, {"environment", T_ENVIRONMENT}};
static const yoke_heat_resistor resistors[] = {
    {"Raxis1", SHAFT, BEARING1}, {"Raxis2", SHAFT, BEARING2}, {"Rinner", SHAFT, MAGNETS}, {"Router", MAGNETS, SURFACE},
    {"Rgap", SURFACE, BORE}, {"Rtooth1", BORE, TOOTH}, {"Rtooth2", TOOTH, STATOR}, {"Rtang", SLOT, STATOR},
    {"Rwire", WIRE, SLOT}, {"Rcopper", COPPER, WIRE}, {"Ryoke", STATOR, HOUSING}, {"Rwater", HOUSING, COOLANT},
    {"Rhousing1", HOUSING, PLATE1}, {"Rhousing2", HOUSING, PLATE2}, {"Rplate1", BEARING1, PLATE1},
    {"Rplate2", BEARING2, PLATE2}, {"Rbearing1", BEARING1, ENVIRONMENT}, {"Rbearing2", BEARING2, ENVIRONMENT}};
static const double resistances[] = {1, 1, 0.025, 0.015, 0, 0.025, 0.01, 0.01, 0.05,
                                     0.001, 0.0025, 0.001, 0.25, 0.25, 0.5, 0.5, 3, 3};  // 0: the air gap
static const yoke_heat_capacity capacities[] = {
    {"Caxis", SHAFT}, {"Crotor", MAGNETS}, {"Cstator", STATOR}, {"Ccopper", COPPER}, {"Chousing", HOUSING},
    {"Cplate1", PLATE1}, {"Cplate2", PLATE2}, {"Cbearing1", BEARING1}, {"Cbearing2", BEARING2}};
static const double c[] = {2000, 5000, 1500, 2000, 3000, 300, 300, 500, 500};
static const yoke_heat_source sources[] = {
    {"Qcopper", COPPER, Q_COPPER, 1}, {"Qrotor", MAGNETS, Q_ROTOR, 1}, {"Qtooth", TOOTH, Q_TOOTH, 1},
    {"Qbearing1", BEARING1, Q_BEARING, 1}, {"Qbearing2", BEARING2, Q_BEARING, 1}};
static const char* const input_names[] = {"copper", "rotor", "tooth", "bearing", "coolant", "environment"};
static const double believed[] = {2000, 150, 200, 50, 320, 300};
// clang-format on

static const yoke_heat_network motor = {nodes,   resistors,   capacities, sources, input_names,
                                        N_NODES, N_RESISTORS, N_STATES,   5,       N_INPUTS};

// ---- the motor, and the same without correction

typedef struct machine {
  yoke_heat_model model;
  double z[N_STATES], x[N_NODES];
  double E[N_STATES * N_STATES], G[N_STATES * N_INPUTS];
} machine;

static void set_gap(double g[], double surface, double bore) {
  g[GAP] = 1 / circuits_gap((surface + bore) / 2);
}

// the resistance of the air gap follows the temperatures every 10 s
static void renew_gap(machine* m) {
  double Psi1[N_STATES * N_STATES], Psi2[N_STATES * N_STATES], work[2048];
  assert_true(yoke__discrete_work_size(N_STATES) <= sizeof work / sizeof *work);
  set_gap(m->model.g, m->x[SURFACE], m->x[BORE]);
  check_ok(yoke__heat_model_update(&m->model));
  check_ok(yoke__discrete(N_STATES, m->model.Fc, H, m->E, Psi1, Psi2, work));
  yoke__mat_mul(N_STATES, N_STATES, N_INPUTS, Psi1, m->model.Gc, m->G);
}

static void step_machine(machine* m, const double v[]) {
  double next[N_STATES];
  yoke__mat_vec(N_STATES, N_STATES, m->E, m->z, next);
  yoke__mat_vec_add(N_STATES, N_INPUTS, m->G, v, next);
  memcpy(m->z, next, sizeof next);
}

static void first_conductances(double g[]) {
  for (int e = 0; e < N_RESISTORS; e++) {
    g[e] = e == GAP ? 1 : 1 / resistances[e];
  }
  set_gap(g, 300, 300);
}

static machine make_machine(const double g[], yoke_arena* arena) {
  machine m;
  check_ok(yoke__heat_model_prepare(&motor, g, c, arena, &m.model, &err.sink));
  for (int i = 0; i < N_STATES; i++) {
    m.z[i] = 300;
  }
  yoke__heat_model_temperatures(&m.model, m.z, believed, m.x);
  renew_gap(&m);
  return m;
}

// ---- the twin

static yoke_estimate* make_twin(const double g[], yoke_arena* arena) {
  static const uint32_t copper[] = {Q_COPPER}, rotor[] = {Q_ROTOR};
  static const yoke_unknown unknowns[] = {{.kind = YOKE_UNKNOWN_INPUT,
                                           .name = "copper",
                                           .targets = copper,
                                           .n_targets = 1,
                                           .start = 2000,
                                           .sd = 600,
                                           .walk = 60,
                                           .lower = -1e9,
                                           .upper = 1e9},
                                          {.kind = YOKE_UNKNOWN_INPUT,
                                           .name = "rotor",
                                           .targets = rotor,
                                           .n_targets = 1,
                                           .start = 150,
                                           .sd = 45,
                                           .walk = 0.7,
                                           .lower = -1e9,
                                           .upper = 1e9}};
  static const yoke_sensor sensors[] = {{"copper", {YOKE_ROW_TEMPERATURE, COPPER, 0}, SIGMA},
                                        {"housing", {YOKE_ROW_TEMPERATURE, HOUSING, 0}, SIGMA}};
  static const yoke_heat_row outputs[] = {{YOKE_ROW_TEMPERATURE, MAGNETS, 0},
                                          {YOKE_ROW_TEMPERATURE, SURFACE, 0},
                                          {YOKE_ROW_TEMPERATURE, BORE, 0}};
  static const double z_sd[] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
  static const double z[] = {300, 300, 300, 300, 300, 300, 300, 300, 300};
  const yoke_estimate_setup setup = {.network = &motor,
                                     .g = g,
                                     .c = c,
                                     .sensors = sensors,
                                     .n_sensors = 2,
                                     .unknowns = unknowns,
                                     .n_unknowns = 2,
                                     .outputs = outputs,
                                     .n_outputs = 3,
                                     .method = YOKE_ESTIMATE_LINEAR,
                                     .h = H,
                                     .z_sd = z_sd};
  yoke_estimate* f;
  check_ok(yoke__estimate_prepare(&setup, arena, &f, &err.sink));
  check_ok(yoke__estimate_start(f, z, believed));
  return f;
}

static void renew_twin_gap(yoke_estimate* f, double g[]) {
  double surface, bore, sd;
  yoke__estimate_output(f, 1, &surface, &sd);
  yoke__estimate_output(f, 2, &bore, &sd);
  set_gap(g, surface, bore);
  check_ok(yoke__estimate_set_elements(f, g, c));
}

typedef struct figures {
  double rms, open_rms, sd,
      worst;     // of the magnets from 1800 s on [K]; worst error in standard deviations, whole run
  double rotor;  // excursion of the rotor's loss
  double outside;  // share of the time in which the truth was outside of three standard deviations
  yoke_twin_verdict verdict;
} figures;

// wire: factor on the resistance between wire and slot that the twin does not know of
static figures run_motor(uint64_t seed, double wire) {
  yoke_arena arena = {0};
  double g[N_RESISTORS], g_true[N_RESISTORS], sum = 0, sum_open = 0, sum_sd = 0;
  first_conductances(g);
  memcpy(g_true, g, sizeof g);
  g_true[WIRE_TO_SLOT] /= wire;
  machine truth = make_machine(g_true, &arena), open = make_machine(g, &arena);
  yoke_estimate* f = make_twin(g, &arena);
  yoke_consistency* judge = yoke__consistency_prepare(2, 100, &arena);
  figures out = {0};
  int n = 0;
  for (int k = 0; k < 50000; k++) {
    const double t = k * H;
    double v[N_INPUTS], e[2], estimate, sd;
    memcpy(v, believed, sizeof v);
    v[Q_COPPER] *= t >= 600 ? 1.3 : 1;
    v[Q_ROTOR] *= t >= 600 ? 0.8 : 1;
    yoke__heat_model_temperatures(&truth.model, truth.z, v, truth.x);
    yoke__heat_model_temperatures(&open.model, open.z, believed, open.x);
    if (k % 100 == 0) {
      renew_gap(&truth);
      renew_gap(&open);
      renew_twin_gap(f, g);
    }

    const double readings[2] = {truth.x[COPPER] + SIGMA * random_normal(&seed),
                                truth.x[HOUSING] + SIGMA * random_normal(&seed)};
    check_ok(yoke__estimate_correct(f, believed, readings, NULL));
    for (size_t j = 0; j < 2; j++) {
      double innovation, expected;
      yoke__estimate_innovation(f, j, &innovation, &expected);
      e[j] = innovation / expected;
    }
    yoke__consistency_add(judge, e);

    yoke__estimate_output(f, 0, &estimate, &sd);
    const double error = estimate - truth.x[MAGNETS];
    out.worst = fmax(out.worst, fabs(error) / sd);
    out.outside += fabs(error) > 3 * sd ? 1.0 / 50000 : 0;
    if (t >= 1800) {
      const double open_error = open.x[MAGNETS] - truth.x[MAGNETS];
      sum += error * error;
      sum_open += open_error * open_error;
      sum_sd += sd;
      n++;
    }
    check_ok(yoke__estimate_predict(f, believed, NULL));
    step_machine(&truth, v);
    step_machine(&open, believed);
  }
  out.rms = sqrt(sum / n);
  out.open_rms = sqrt(sum_open / n);
  out.sd = sum_sd / n;
  out.rotor = yoke__estimate_excursion(f, 1);
  out.verdict =
      yoke__consistency_verdict(judge, yoke__estimate_state_of(f) == YOKE_ESTIMATE_DIVERGED, NULL);
  yoke__arena_free(&arena);
  return out;
}

// the truth lies within three of the printed standard deviations, and the error is what they say
static void test_magnets(void** state) {
  (void)state;
  const int n_seeds = getenv("YOKE_FULL") != NULL ? 40 : 4;
  double squares = 0, outside = 0;
  for (int seed = 1; seed <= n_seeds; seed++) {
    const figures f = run_motor((uint64_t)seed, 1.0);
    print_message("magnets: off by %.2f K rms, printed %.2f K, at most %.1f of them; without "
                  "correction %.2f K\n",
                  f.rms, f.sd, f.worst, f.open_rms);
    assert_true(n_seeds > 4 || f.worst <= 3);
    assert_int_equal(f.verdict, YOKE_TWIN_CONSISTENT);
    assert_true(fabs(f.rotor) < YOKE_ESTIMATE_FAR);
    outside += f.outside / n_seeds;
    squares += f.rms * f.rms / (f.sd * f.sd) / n_seeds;
    check_between(f.open_rms, 3.6, 3.8);
  }
  assert_true(outside <= 0.0027);
  // errors of one run hang together: its mean square is about chi-square with one degree of freedom
  check_between(squares, n_seeds > 4 ? 0.5 : 0.0, n_seeds > 4 ? 1.7 : 4.6);
}

// A resistance that the twin does not know of: two unknown heats explain two sensors, so that the innovations stay in order while the
// magnets are far off. That the rotor's loss wanders further than its guess and walk allow tells it.
static void test_wrong_model(void** state) {
  (void)state;
  const figures f = run_motor(1, 1.5);
  print_message("wrong model: off by %.1f K rms, printed %.2f K, loss of the rotor %.0f standard "
                "deviations from its guess\n",
                f.rms, f.sd, f.rotor);
  assert_true(f.rms > 10 * f.sd);
  assert_true(fabs(f.rotor) > YOKE_ESTIMATE_FAR);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_magnets),
      cmocka_unit_test(test_wrong_model),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
