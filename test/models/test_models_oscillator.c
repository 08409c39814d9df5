// The oscillator units on their own and in a hand-written Jacobi loop: arithmetic of one step,
// orders, energy, feedthrough, derivatives, and the golden runs (CS-04, CS-05 and CS-07 in part).
#include "base/base_message.h"
#include "models/oscillator/oscillator.h"

#include "ode/ode.h"
#include "support/check.h"
#include "support/mechanics_unit.h"
#include "support/mechanics_whole.h"

// outputs of oscillator.force: f, x, v, E; of the others: x, v, E
enum { FORCE_F, FORCE_X, FORCE_V };
enum { MASS_X, MASS_V };

// One of the two masses of a reference system; is_first: the left one.
static mech_unit open_mass(const yoke_unit_ops* ops, const whole_oscillator* o, bool is_first) {
  mech_unit unit = mech_unit_open(ops);
  mech_unit_set(&unit, "m", 0, is_first ? o->m1 : o->m2);
  mech_unit_set(&unit, "k", 0, is_first ? o->k1 : o->k2);
  mech_unit_set(&unit, "c", 0, is_first ? o->c1 : o->c2);
  if (ops != &yoke__model_oscillator_mass) {
    mech_unit_set(&unit, "kc", 0, o->kc);
    mech_unit_set(&unit, "cc", 0, o->cc);
  }
  mech_unit_choose(&unit, "spring", o->has_root_springs ? "square-root" : "linear");
  mech_unit_choose(&unit, "damper", o->has_quadratic_dampers ? "quadratic" : "linear");
  mech_unit_set(&unit, "v", 0, is_first ? 100.0 : -100.0);
  return unit;
}

// Force-displacement coupling of both masses; call loop_close.
static mech_loop open_force_loop(const whole_oscillator* o, mech_unit units[2], double H,
                                 int calls1, int calls2, int order) {
  units[0] = open_mass(&yoke__model_oscillator_force, o, true);
  units[1] = open_mass(&yoke__model_oscillator_mass, o, false);
  mech_loop loop = {
      .units = {&units[0], &units[1]},
      .source = {{MASS_X, MASS_V}, {FORCE_F}},
      .calls = {calls1, calls2},
      .order = order,
      .H = H,
      .n_bond = 1,
      .action = {FORCE_F},
      .rate = {MASS_V},
  };
  mech_loop_start(&loop);
  return loop;
}

static void close_pair(mech_unit units[2]) {
  mech_unit_close(&units[0]);
  mech_unit_close(&units[1]);
}

static void get_state(const mech_unit units[2], double x[4]) {
  for (size_t i = 0; i < 2; i++) {
    x[2 * i] = mech_unit_get(&units[i], "x", 0);
    x[2 * i + 1] = mech_unit_get(&units[i], "v", 0);
  }
}

// CS-05: the uncorrected golden runs of the oscillators, state at 10 s
static void test_golden_runs_cs05(void** state) {
  (void)state;
  static const struct {
    const char* name;
    const whole_oscillator* o;
    double H;
    int calls1, calls2, order;
    double want[7];  // eta1, eta1', eta2, eta2', dP, dE, E
    double tolerance;
  } runs[] = {
      {"LO1 SR 1 ms",
       &whole_lo1,
       1e-3,
       1,
       1,
       0,
       {-4.442803702, 94.67364595, -1.332494825, -169.0612288, 4207.097089, 21664.73416,
        20242.56398},
       1e-7},
      {"LO1 SR 5 ms",
       &whole_lo1,
       5e-3,
       1,
       1,
       0,
       {-3.235490286, 203.2899937, -13.01046561, -1248.158781, 937008.3391, 1832404.33,
        889079.5393},
       1e-7},
      {"LO1 MR h2 0.1 ZOH",
       &whole_lo1,
       1e-3,
       1,
       10,
       0,
       {-4.344937061, 98.13074599, -1.390469902, -218.5731844, 6657.149762, 29291.83407,
        30199.4796},
       1e-7},
      {"LO1 MR h2 0.1 FOH",
       &whole_lo1,
       1e-3,
       1,
       10,
       1,
       {-4.448572088, 94.69283288, -1.288086278, -168.9149112, 4190.066937, 21663.06128,
        20177.45554},
       1e-7},
      {"LO1 MR h2 0.1 SOH",
       &whole_lo1,
       1e-3,
       1,
       10,
       2,
       {-4.450871523, 94.70649376, -1.252275927, -168.9810298, 4202.315877, 21645.81748,
        20156.65368},
       1e-7},
      {"LO1 MR h1 0.1 ZOH",
       &whole_lo1,
       1e-3,
       10,
       1,
       0,
       {-4.347689524, 93.59239914, -1.341172142, -173.2174396, 4371.258047, 22266.96726, 20827.75},
       1e-7},
      {"LO1 MR h1 0.1 FOH",
       &whole_lo1,
       1e-3,
       10,
       1,
       1,
       {-4.451225001, 88.10549129, -1.092852776, -105.1884109, 1820.531406, 13085.40988,
        10673.75351},
       1e-7},
      {"LO2 SR 1 ms",
       &whole_lo2,
       1e-3,
       1,
       1,
       0,
       {-1.799210835, 37.25089986, -0.5355672691, -55.37869248, 470.725033, 7262.489637,
        2466.656262},
       1e-7},
      {"LO2 SR 5 ms",
       &whole_lo2,
       5e-3,
       1,
       1,
       0,
       {-1.089505337, 71.36496007, -6.560567391, -396.1327457, 106282.6333, 353315.1929,
        104030.1382},
       1e-7},
      {"LO2 MR h2 0.1 ZOH",
       &whole_lo2,
       1e-3,
       1,
       10,
       0,
       {-1.759251619, 38.28550533, -0.5585841306, -71.92549006, 748.9686798, 9001.782131,
        3563.091087},
       1e-7},
      {"LO2 MR h2 0.1 FOH",
       &whole_lo2,
       1e-3,
       1,
       10,
       1,
       {-1.803452984, 37.27928052, -0.4933734625, -55.46082178, 473.458758, 7259.079553,
        2456.610072},
       1e-7},
      {"NLO1 SR 1 ms",
       &whole_nlo1,
       1e-3,
       1,
       1,
       0,
       {8.100114484, -73.89923098, 2.579423522, -93.39537432, -290.3881714, 1638.631766,
        10872.15585},
       1e-4},
      {"NLO2 SR 1 ms",
       &whole_nlo2,
       1e-3,
       1,
       1,
       0,
       {-2.082655829, 42.94484726, -0.621479051, -64.41639786, 634.139952, 7577.572376, 3318.42337},
       1e-7},
  };
  for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
    mech_unit units[2];
    mech_loop loop =
        open_force_loop(runs[i].o, units, runs[i].H, runs[i].calls1, runs[i].calls2, runs[i].order);
    mech_loop_run(&loop, (int)lround(10.0 / runs[i].H));
    double got[7];
    get_state(units, got);
    got[4] = loop.dP;
    got[5] = loop.dE;
    got[6] = whole_oscillator_energy(runs[i].o, got);
    for (int j = 0; j < 7; j++) {
      const double off = fabs(got[j] / runs[i].want[j] - 1.0);
      if (!(off <= runs[i].tolerance)) {
        fail_msg("%s, value %d: %.12g, expected %.12g (relative %.3g)", runs[i].name, j, got[j],
                 runs[i].want[j], off);
      }
    }
    close_pair(units);
  }
}

// CS-05: LO1 SR 1 ms on the way
static void test_golden_run_on_the_way_cs05(void** state) {
  (void)state;
  mech_unit units[2];
  mech_loop loop = open_force_loop(&whole_lo1, units, 1e-3, 1, 1, 0);
  double x[4];
  mech_loop_run(&loop, 100);
  get_state(units, x);
  check_relative(x[2], 1.372013633, 1e-7);
  check_relative(loop.dE, 204.2699605, 1e-7);
  check_relative(whole_oscillator_energy(&whole_lo1, x), 10117.36851, 1e-7);
  mech_loop_run(&loop, 1000);
  get_state(units, x);
  check_relative(x[2], -3.734647104, 1e-7);
  check_relative(loop.dE, 1236.594244, 1e-7);
  check_relative(whole_oscillator_energy(&whole_lo1, x), 10581.14165, 1e-7);
  close_pair(units);
}

// CS-04: residual power of the first step, and the force at the start
static void test_first_residual_power_cs04(void** state) {
  (void)state;
  static const struct {
    const whole_oscillator* o;
    double H, f0, dP;
  } rows[] = {
      {&whole_lo1, 1e-3, 0.0, 1000.0},
      {&whole_lo1, 5e-3, 0.0, 5000.0},
      {&whole_nlo1, 1e-3, 0.0, 3162.2776601683795},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mech_unit units[2];
    mech_loop loop = open_force_loop(rows[i].o, units, rows[i].H, 1, 1, 0);
    check_near(mech_unit_get(&units[0], "f", 0), rows[i].f0, 0.0);
    mech_loop_run(&loop, 1);
    check_relative(loop.dP, rows[i].dP, 1e-6);
    close_pair(units);
  }
  mech_unit units[2];
  (void)open_force_loop(&whole_lo2, units, 1e-3, 1, 1, 0);
  check_relative(mech_unit_get(&units[0], "f", 0), 20.0, 1e-15);
  close_pair(units);
}

// one step written out by hand; the units must give the same bits
static void test_one_step_is_the_written_arithmetic(void** state) {
  (void)state;
  const whole_oscillator o = {1.3, 0.7, 11, 97, 1003, 0.11, 0.13, 0.17, false, false};
  const double H = 1.1e-3;
  mech_unit units[2];
  mech_loop loop = open_force_loop(&o, units, H, 1, 1, 0);
  double x1 = 0.0;
  double v1 = 100.0;
  double x2 = 0.0;
  double v2 = -100.0;
  double fk = o.kc * (x1 - x2) + o.cc * (v1 - v2);
  for (int k = 0; k < 100; k++) {
    const double f = o.kc * (x1 - x2) + o.cc * (v1 - v2);
    const double a1 = (-o.k1 * x1 - o.c1 * v1 - f) / o.m1;
    const double v1n = v1 + H * a1;
    const double x1n = x1 + H * v1n;
    const double a2 = (-o.k2 * x2 - o.c2 * v2 + fk) / o.m2;
    const double v2n = v2 + H * a2;
    const double x2n = x2 + H * v2n;
    fk = o.kc * (x1n - x2) + o.cc * (v1n - v2);
    x1 = x1n;
    v1 = v1n;
    x2 = x2n;
    v2 = v2n;
    mech_loop_run(&loop, k + 1);
    double x[4];
    get_state(units, x);
    check_near(x[0], x1, 0.0);
    check_near(x[1], v1, 0.0);
    check_near(x[2], x2, 0.0);
    check_near(x[3], v2, 0.0);
    check_near(mech_unit_get(&units[0], "f", 0), fk, 0.0);
  }
  close_pair(units);
}

// CS-07: displacement-displacement coupling at a single rate is monolithic semi-implicit Euler
static void test_displacement_coupling_is_monolithic_cs07(void** state) {
  (void)state;
  const whole_oscillator* cases[] = {&whole_lo1, &whole_lo2, &whole_nlo1, &whole_nlo2};
  for (int i = 0; i < 4; i++) {
    mech_unit units[2] = {open_mass(&yoke__model_oscillator_displacement, cases[i], true),
                          open_mass(&yoke__model_oscillator_displacement, cases[i], false)};
    mech_loop loop = {.units = {&units[0], &units[1]},
                      .source = {{MASS_X, MASS_V}, {MASS_X, MASS_V}},
                      .calls = {1, 1},
                      .H = 1e-3};
    mech_loop_start(&loop);
    mech_loop_run(&loop, 2000);
    double want[4];
    double got[4];
    memcpy(want, whole_oscillator_start, sizeof want);
    whole_oscillator_sie(cases[i], 1e-3, 2000, want);
    get_state(units, got);
    for (int j = 0; j < 4; j++) {
      check_relative(got[j], want[j], 1e-12);
    }
    close_pair(units);
  }
}

// CS-07: force-force coupling (law outside) and force-displacement with refreshed outputs, too
static void test_fresh_forces_are_monolithic_cs07(void** state) {
  (void)state;
  const double H = 1e-3;
  for (int is_law = 0; is_law < 2; is_law++) {
    mech_unit units[2] = {
        open_mass(is_law != 0 ? &yoke__model_oscillator_mass : &yoke__model_oscillator_force,
                  &whole_lo2, true),
        open_mass(&yoke__model_oscillator_mass, &whole_lo2, false)};
    if (is_law != 0) {
      mech_unit_set(&units[0], "sign", 0, -1.0);
    }
    mech_unit_init(&units[0]);
    mech_unit_init(&units[1]);
    for (int k = 0; k < 2000; k++) {
      double x[4];
      get_state(units, x);
      double f = whole_lo2.kc * (x[0] - x[2]) + whole_lo2.cc * (x[1] - x[3]);
      mech_unit_inputs(&units[0], is_law != 0 ? &f : &x[2]);
      mech_unit_refresh(&units[0], k * H);
      f = is_law != 0 ? f : mech_unit_get(&units[0], "f", 0);
      mech_unit_inputs(&units[1], &f);
      assert_int_equal(mech_unit_step(&units[0], k * H, H, NULL), YOKE_OK);
      assert_int_equal(mech_unit_step(&units[1], k * H, H, NULL), YOKE_OK);
    }
    double want[4];
    double got[4];
    memcpy(want, whole_oscillator_start, sizeof want);
    whole_oscillator_sie(&whole_lo2, H, 2000, want);
    get_state(units, got);
    for (int j = 0; j < 4; j++) {
      check_relative(got[j], want[j], 1e-12);
    }
    close_pair(units);
  }
}

// A free mass on its spring, x(0) = 1, frequency 2 rad/s, over 1 s: error of x against cos(2 t).
static double free_error(const char* solver, int n_steps) {
  mech_unit unit = mech_unit_open(&yoke__model_oscillator_mass);
  mech_unit_set(&unit, "k", 0, 4.0);
  mech_unit_set(&unit, "x", 0, 1.0);
  mech_unit_choose(&unit, "solver", solver);
  mech_unit_init(&unit);
  for (int i = 0; i < n_steps; i++) {
    assert_int_equal(mech_unit_step(&unit, (double)i / n_steps, 1.0 / n_steps, NULL), YOKE_OK);
  }
  const double error = fabs(mech_unit_get(&unit, "x", 0) - cos(2.0));
  mech_unit_close(&unit);
  return error;
}

static void test_orders_of_the_solvers(void** state) {
  (void)state;
  static const struct {
    const char* solver;
    double order;
  } rows[] = {{"euler", 1.0}, {"semi-implicit-euler", 1.0}, {"rk4", 4.0}, {"trapezoidal", 2.0}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    double coarse = free_error(rows[i].solver, 64);
    for (int n = 128; n <= 512; n *= 2) {
      const double fine = free_error(rows[i].solver, n);
      check_near(log2(coarse / fine), rows[i].order, 0.15);
      coarse = fine;
    }
  }
}

// semi-implicit Euler keeps m v^2 + k x^2 - h k x v: E = 1/2 that + h/2 k x v, so the energy
// ripples by h w / 2 of its value and never drifts; the trapezoidal rule keeps E itself
static void test_energy_of_the_free_mass(void** state) {
  (void)state;
  const double h = 1e-2;
  const double w = 2.0;
  static const char* const solvers[] = {"semi-implicit-euler", "trapezoidal"};
  for (int i = 0; i < 2; i++) {
    mech_unit unit = mech_unit_open(&yoke__model_oscillator_mass);
    mech_unit_set(&unit, "k", 0, w * w);
    mech_unit_set(&unit, "x", 0, 1.0);
    mech_unit_choose(&unit, "solver", solvers[i]);
    mech_unit_init(&unit);
    const double E0 = mech_unit_get(&unit, "E", 0);
    check_near(E0, 0.5 * w * w, 1e-15);
    double low = E0;
    double high = E0;
    for (int k = 0; k < 100000; k++) {
      assert_int_equal(mech_unit_step(&unit, k * h, h, NULL), YOKE_OK);
      low = fmin(low, mech_unit_get(&unit, "E", 0));
      high = fmax(high, mech_unit_get(&unit, "E", 0));
    }
    // half of h w / (1 - h w / 2) either way for the first;
    // the corrector's 1e-12 per step for the second
    const double band = i == 0 ? 0.5 * h * w / (1.0 - 0.5 * h * w) : 1e-12 * 100000;
    check_between(low / E0, 1.0 - band, 1.0);
    check_between(high / E0, 1.0, 1.0 + band);
    if (i == 0) {
      check_between(high / low - 1.0, 0.9 * h * w, 1.1 * h * w);
    }
    mech_unit_close(&unit);
  }
}

// the nonlinear laws against their definition, and the energy of the root spring
static void test_nonlinear_laws(void** state) {
  (void)state;
  mech_unit unit = mech_unit_open(&yoke__model_oscillator_force);
  mech_unit_choose(&unit, "spring", "square-root");
  mech_unit_choose(&unit, "damper", "quadratic");
  mech_unit_set(&unit, "cc", 0, 0.5);
  mech_unit_set(&unit, "x", 0, -0.25);
  mech_unit_set(&unit, "v", 0, -3.0);
  mech_unit_init(&unit);
  check_relative(mech_unit_get(&unit, "f", 0), -100.0 * 0.5 - 0.5 * 9.0, 1e-15);
  check_relative(mech_unit_get(&unit, "E", 0), 4.5 + 2.0 / 3.0 * 10.0 * 0.125, 1e-15);
  mech_unit_close(&unit);
}

// n internal steps are n calls with the same inputs
static void test_micro_steps(void** state) {
  (void)state;
  const double u[2] = {0.3, -0.2};
  mech_unit one = open_mass(&yoke__model_oscillator_force, &whole_lo2, true);
  mech_unit many = mech_unit_copy(&one);
  mech_unit_set(&one, "micro_steps", 0, 8.0);
  mech_unit_init(&one);
  mech_unit_init(&many);
  mech_unit_inputs(&one, u);
  mech_unit_inputs(&many, u);
  assert_int_equal(mech_unit_step(&one, 0.0, 0.125, NULL), YOKE_OK);
  for (int i = 0; i < 8; i++) {
    assert_int_equal(mech_unit_step(&many, i * 0.015625, 0.015625, NULL), YOKE_OK);
  }
  check_near(mech_unit_get(&one, "x", 0), mech_unit_get(&many, "x", 0), 0.0);
  check_near(mech_unit_get(&one, "f", 0), mech_unit_get(&many, "f", 0), 0.0);
  mech_unit_close(&one);
  mech_unit_close(&many);
}

static const yoke_unit_ops* const all_units[] = {&yoke__model_oscillator_force,
                                                 &yoke__model_oscillator_mass,
                                                 &yoke__model_oscillator_displacement};

// a unit of each kind at a point where nothing vanishes
static mech_unit open_general(const yoke_unit_ops* ops, bool is_nonlinear) {
  mech_unit unit = open_mass(ops, &whole_lo2, true);
  const double u[2] = {0.4, -0.7};
  if (is_nonlinear) {
    mech_unit_choose(&unit, "spring", "square-root");
    mech_unit_choose(&unit, "damper", "quadratic");
  }
  mech_unit_set(&unit, "x", 0, 1.5);
  mech_unit_set(&unit, "v", 0, 2.5);
  mech_unit_init(&unit);
  mech_unit_inputs(&unit, u);
  mech_unit_refresh(&unit, 0.0);
  return unit;
}

static void test_feedthrough_is_as_declared(void** state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    mech_unit unit = open_general(all_units[i], false);
    mech_unit_probe(&unit, 0.0, 0.125);
    mech_unit_close(&unit);
  }
}

static void test_save_and_restore(void** state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    mech_unit unit = open_general(all_units[i], true);
    mech_unit image = mech_unit_copy(&unit);
    for (int k = 0; k < 10; k++) {
      assert_int_equal(mech_unit_step(&unit, k * 1e-3, 1e-3, NULL), YOKE_OK);
      assert_int_equal(mech_unit_step(&image, k * 1e-3, 1e-3, NULL), YOKE_OK);
    }
    assert_memory_equal(unit.self, image.self, unit.ops->info->self_size);
    mech_unit_close(&unit);
    mech_unit_close(&image);
  }
}

// directional derivative of every output by every input and by the motion, against central
// differences
static void test_derivative(void** state) {
  (void)state;
  static const char* const names[] = {"x_other", "v_other", "f", "x", "v"};
  for (int i = 0; i < 6; i++) {
    mech_unit unit = open_general(all_units[i % 3], i >= 3);
    const yoke_unit_info* info = unit.ops->info;
    size_t outputs[4];
    size_t n_y = 0;
    for (size_t j = 0; j < info->n_variables; j++) {
      if (info->variables[j].causality == YOKE_OUTPUT) {
        outputs[n_y++] = j;
      }
    }
    assert_int_equal(n_y, unit.n_y);
    for (size_t j = 0; j < sizeof names / sizeof names[0]; j++) {
      const bool is_own = strcmp(names[j], "x") == 0 || strcmp(names[j], "v") == 0;
      size_t known = 0;
      while (known < info->n_variables && strcmp(info->variables[known].name, names[j]) != 0) {
        known++;
      }
      if (known == info->n_variables ||
          (!is_own && info->variables[known].causality != YOKE_INPUT)) {
        continue;
      }
      const double seed = 2.0;
      const double d = 1e-5;
      double slope[4];
      double y[2][4];
      check_ok(unit.ops->derivative(unit.self, outputs, n_y, &known, 1, &seed, slope));
      for (int side = 0; side < 2; side++) {
        mech_unit moved = mech_unit_copy(&unit);
        mech_unit_set(&moved, names[j], 0,
                      mech_unit_get(&unit, names[j], 0) + (side == 0 ? -d : d));
        mech_unit_refresh(&moved, 0.0);
        mech_unit_outputs(&moved, y[side]);
        mech_unit_close(&moved);
      }
      for (size_t k = 0; k < n_y; k++) {
        // curvature leaves d^2, rounding 1e-16 |y| / d
        check_near(slope[k], seed * (y[1][k] - y[0][k]) / (2.0 * d), 1e-7);
      }
    }
    mech_unit_close(&unit);
  }
}

// several seeds add up; parameters and a relaxed root spring have no derivative
static void test_derivative_is_directional(void** state) {
  (void)state;
  mech_unit unit = open_general(&yoke__model_oscillator_force, false);
  const size_t f = mech_unit_index(&unit, "f");
  const size_t knowns[4] = {mech_unit_index(&unit, "x_other"), mech_unit_index(&unit, "v_other"),
                            mech_unit_index(&unit, "x"), mech_unit_index(&unit, "v")};
  const double seed[4] = {1.0, 2.0, 3.0, 4.0};
  double out = 0.0;
  check_ok(unit.ops->derivative(unit.self, &f, 1, knowns, 4, seed, &out));
  check_relative(out, 100.0 * (3.0 - 1.0) + 0.1 * (4.0 - 2.0), 1e-14);
  const size_t m = mech_unit_index(&unit, "m");
  assert_int_equal(unit.ops->derivative(unit.self, &f, 1, &m, 1, seed, &out), YOKE_BAD_ARG);
  mech_unit_choose(&unit, "spring", "square-root");
  mech_unit_set(&unit, "x_other", 0, mech_unit_get(&unit, "x", 0));
  assert_int_equal(unit.ops->derivative(unit.self, &f, 1, knowns, 1, seed, &out), YOKE_NO_SUPPORT);
  mech_unit_close(&unit);
}

// the linear model predicts one step of forward Euler
static void test_linear_model(void** state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    mech_unit unit = open_general(all_units[i], false);
    double A[4];
    double B[4];
    double C[8];
    double D[8];
    yoke_linear model = {.A = A, .B = B, .C = C, .D = D};
    check_ok(unit.ops->linearise(unit.self, &model));
    assert_int_equal(model.n_states, 2);
    assert_int_equal(model.n_inputs, unit.n_u);
    assert_int_equal(model.n_outputs, unit.n_y);
    const double u[2] = {0.4, -0.7};
    const double x = mech_unit_get(&unit, "x", 0);
    const double v = mech_unit_get(&unit, "v", 0);
    double rate[2];
    for (size_t j = 0; j < 2; j++) {
      rate[j] = A[2 * j] * x + A[2 * j + 1] * v;
      for (size_t k = 0; k < unit.n_u && k < 2; k++) {
        rate[j] += B[j * unit.n_u + k] * u[k];
      }
    }
    if (i == 0) {
      check_relative(C[0] * x + C[1] * v + D[0] * u[0] + D[1] * u[1], mech_unit_get(&unit, "f", 0),
                     1e-14);
    }
    const double h = 0.125;
    mech_unit_choose(&unit, "solver", "euler");
    assert_int_equal(mech_unit_step(&unit, 0.0, h, NULL), YOKE_OK);
    check_relative(mech_unit_get(&unit, "x", 0), x + h * rate[0], 1e-14);
    check_relative(mech_unit_get(&unit, "v", 0), v + h * rate[1], 1e-14);
    mech_unit_close(&unit);
  }
}

static void test_bad_parameters_are_refused(void** state) {
  (void)state;
  static const struct {
    const char* name;
    double value;
    const char* reason;
  } rows[] = {{"m", 0.0, "m must be above 0"},
              {"k", HUGE_VAL, "finite"},
              {"micro_steps", 0.0, "micro_steps"},
              {"solver", 9.0, "solver"},
              {"sign", 0.5, "sign"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mech_unit unit = mech_unit_open(&yoke__model_oscillator_mass);
    YOKE_CATCH(err);
    mech_unit_set(&unit, rows[i].name, 0, rows[i].value);
    assert_int_equal(unit.ops->enter_init(unit.self, 0.0, 1.0, &err.sink), YOKE_BAD_ARG);
    check_contains(err.text, rows[i].reason);
    mech_unit_close(&unit);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_golden_runs_cs05),
      cmocka_unit_test(test_golden_run_on_the_way_cs05),
      cmocka_unit_test(test_first_residual_power_cs04),
      cmocka_unit_test(test_one_step_is_the_written_arithmetic),
      cmocka_unit_test(test_displacement_coupling_is_monolithic_cs07),
      cmocka_unit_test(test_fresh_forces_are_monolithic_cs07),
      cmocka_unit_test(test_orders_of_the_solvers),
      cmocka_unit_test(test_energy_of_the_free_mass),
      cmocka_unit_test(test_nonlinear_laws),
      cmocka_unit_test(test_micro_steps),
      cmocka_unit_test(test_feedthrough_is_as_declared),
      cmocka_unit_test(test_save_and_restore),
      cmocka_unit_test(test_derivative),
      cmocka_unit_test(test_derivative_is_directional),
      cmocka_unit_test(test_linear_model),
      cmocka_unit_test(test_bad_parameters_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
