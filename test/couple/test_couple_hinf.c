// The coupling method `hinf`: one step of a filter per instant however often it is asked, signals in parts, delays, jumps, noise,
// saved states, refusals.
#include "couple/couple_hinf.h"

#include <string.h>

#include "base/base_message.h"
#include "support/check.h"
#include "support/counting_heap.h"
#include "synth/synth_design.h"
#include "synth/synth_element_file.h"

enum { M = 50, N = 2 };  // calls per exchange; signals
#define H  1e-3
#define DT 0.05

typedef struct fixture {
  _Alignas(64) unsigned char memory[4096];
  double parameters[1];
  const char* files[1];
  int orders[N];
  int64_t n_sends[N], delays[N];
  yoke_coupling_sink sink;
  yoke_coupling_setup setup;
} fixture;

// What all tests run with: NULL, or the file of a general element.
static const char* element_file;
static int64_t max_delay = 2;

static void set_up(fixture* f, int64_t delay) {
  memset(f, 0, sizeof *f);
  for (int i = 0; i < N; i++) {
    f->n_sends[i] = M;
    f->delays[i] = delay;
  }
  f->sink = (yoke_coupling_sink){0, N, H};
  f->setup = (yoke_coupling_setup){
      .n_signals = N,
      .orders = f->orders,
      .n_sinks = 1,
      .sinks = &f->sink,
      .interval = DT,
      .parameters = f->parameters,
      .files = f->files,
      .n_sends = f->n_sends,
      .delays = f->delays,
  };
  f->files[0] = element_file;
  assert_true(yoke__couple_hinf.size(&f->setup) <= sizeof f->memory);
}

static void open_hinf(fixture* f, int64_t delay) {
  set_up(f, delay);
  check_ok(yoke__couple_hinf.prepare(f->memory, &f->setup, NULL));
}

static void observe(fixture* f, int64_t k, const double y[], const bool is_due[]) {
  const yoke_coupling_moment now = {
      .k = k, .h_last = k == 0 ? 0 : DT, .h_next = DT, .is_due = is_due};
  yoke__couple_hinf.observe(f->memory, &now, y, NULL);
}

static double input(fixture* f, int j, int signal) {
  double u[N];
  yoke__couple_hinf.input(f->memory, 0, j * H, u);
  return u[signal];
}

// One exchange interval of a signal: the values of both ends' calls.
static void run_interval(fixture* f, int64_t k, double (*signal)(double t), double u[M]) {
  const double now[N] = {signal((double)k * DT), signal((double)k * DT)};
  observe(f, k, now, NULL);
  for (int j = 0; j < M; j++) {
    u[j] = input(f, j, 0);
    for (size_t i = 0; i < N; i++) {
      yoke__couple_hinf.send(f->memory, i, j + 1, signal((double)k * DT + (j + 1) * H));
    }
  }
}

static double constant(double t) {
  (void)t;
  return 3.25;
}

static double ramp(double t) {
  return 2 * t;
}

static double slow_sine(double t) {
  return sin(2 * acos(-1.0) * t);
}

// A constant stays, from the first call on; a ramp arrives without delay.
static void test_constant_and_ramp(void** state) {
  (void)state;
  fixture f;
  double u[M];
  open_hinf(&f, 0);
  for (int64_t k = 0; k < 20; k++) {
    run_interval(&f, k, constant, u);
    for (int j = 0; j < M; j++) {
      check_near(u[j], 3.25, 1e-9);
    }
  }
  // held and smoothed samples lie on both sides of the ramp: the mean over an interval is that of the ramp
  for (int64_t delay = 0; delay < 3; delay++) {
    open_hinf(&f, delay);
    double mean = 0;
    for (int64_t k = 0; k < 200; k++) {
      run_interval(&f, k, ramp, u);
      mean = 0;
      for (int j = 0; j < M; j++) {
        mean += (u[j] - ramp((double)k * DT + j * H)) / M;
      }
    }
    check_near(mean, 0, 1e-9);
  }
}

// 1 Hz, exchanged every 50 ms: nearer than held samples and lines; with a delay of an interval nearer than those without one.
static void test_sine(void** state) {
  (void)state;
  fixture f;
  double u[M], errors[2], held = 0, linear = 0;
  for (int64_t delay = 0; delay < 2; delay++) {
    open_hinf(&f, delay);
    errors[delay] = 0;
    for (int64_t k = 0; k < 60; k++) {
      run_interval(&f, k, slow_sine, u);
      for (int j = 0; j < M && k >= 20; j++) {
        const double t = (double)k * DT + j * H, last = (double)k * DT;
        const double y = slow_sine(last), line = y + (t - last) / DT * (y - slow_sine(last - DT));
        errors[delay] = fmax(errors[delay], fabs(u[j] - slow_sine(t)));
        held = fmax(held, fabs(y - slow_sine(t)));
        linear = fmax(linear, fabs(line - slow_sine(t)));
      }
    }
  }
  print_message("1 Hz: held %.4f, line %.4f, hinf %.4f, with a delay of 50 ms %.4f\n", held, linear,
                errors[0], errors[1]);
  assert_true(errors[0] < held && errors[1] < 2 * held);
}

// Asked again, or in parts, it answers the same.
static void test_parts(void** state) {
  (void)state;
  fixture whole, parts;
  open_hinf(&whole, 0);
  open_hinf(&parts, 0);
  for (int64_t k = 0; k < 30; k++) {
    const double y[N] = {slow_sine((double)k * DT), ramp((double)k * DT)};
    const bool first[N] = {true, false}, second[N] = {false, true};
    observe(&whole, k, y, NULL);
    observe(&parts, k, y, first);
    const double early = input(&parts, 0, 0);
    assert_true(early == input(&parts, 0, 0));
    observe(&parts, k, y, second);
    assert_true(early == input(&parts, 0, 0));
    for (int j = 0; j < M; j++) {
      for (int i = 0; i < N; i++) {
        assert_true(input(&whole, j, i) == input(&parts, j, i));
        assert_true(input(&parts, j, i) == input(&parts, j, i));
      }
      for (size_t i = 0; i < N; i++) {
        const double next =
            i == 0 ? slow_sine((double)k * DT + (j + 1) * H) : ramp((double)k * DT + (j + 1) * H);
        yoke__couple_hinf.send(whole.memory, i, j + 1, next);
        yoke__couple_hinf.send(parts.memory, i, j + 1, next);
      }
    }
  }
}

// What was saved goes on with the same bits.
static void test_saved(void** state) {
  (void)state;
  static unsigned char image[4096];
  fixture f, g;
  double u[M], v[M];
  for (int64_t delay = 0; delay <= max_delay; delay += 2) {
    open_hinf(&f, delay);
    open_hinf(&g, delay);
    for (int64_t k = 0; k < 10; k++) {
      run_interval(&f, k, slow_sine, u);
    }
    assert_true(yoke__couple_hinf.image_size(f.memory) <= sizeof image);
    yoke__couple_hinf.save(f.memory, image);
    yoke__couple_hinf.restore(g.memory, image);
    for (int64_t k = 10; k < 20; k++) {
      run_interval(&f, k, slow_sine, u);
      run_interval(&g, k, slow_sine, v);
      assert_memory_equal(u, v, sizeof u);
    }
  }
}

// HI-14: a restart during a run moves the input by less than 1 % of the signal's range.
static void test_HI_14_restart(void** state) {
  (void)state;
  fixture f, kept;
  double u[M], v[M], largest = 0, usual = 0, last = 0;
  open_hinf(&f, 0);
  open_hinf(&kept, 0);
  for (int64_t k = 0; k < 60; k++) {
    if (k == 33) {
      yoke__couple_hinf.reset(f.memory, YOKE_RESET_MODE_SWITCH, NULL);
    }
    run_interval(&f, k, slow_sine, u);
    run_interval(&kept, k, slow_sine, v);
    for (int j = 0; j < M; j++) {
      const double jump = fabs(u[j] - last);
      last = u[j];
      if (k >= 33) {
        largest = fmax(largest, jump);
      } else if (k > 2) {
        usual = fmax(usual, jump);
      }
    }
  }
  // steps between calls are those of held samples behind the smoother; a restart adds less than 1 % of the range of 2
  assert_true(largest < usual + 0.02);
}

// HI-14: it takes over from held signals in the middle of a run. At the exchange its input is the held one, and stays so until
// the next; then its steps are those of an element that has run all the time, after a few exchanges to 1 % of the range.
static void test_HI_14_takes_over(void** state) {
  (void)state;
  for (int64_t delay = 0; delay <= max_delay; delay += 2) {
    fixture f, kept;
    double u[M], v[M], settled = 0;
    open_hinf(&f, delay);
    open_hinf(&kept, delay);
    for (int64_t k = 0; k < 60; k++) {
      if (k == 33) {
        yoke__couple_hinf.reset(f.memory, YOKE_RESET_MODE_SWITCH, NULL);
      }
      run_interval(&f, k, slow_sine, u);
      run_interval(&kept, k, slow_sine, v);
      if (k == 33 && delay == 0) {
        const double held = slow_sine((double)k * DT);
        for (int j = 0; j < M; j++) {
          check_near(u[j], held, 1e-12);
        }
      }
      for (int j = 0; j < M && k >= 33 + delay + 5; j++) {
        settled = fmax(settled, fabs(u[j] - v[j]));
      }
    }
    print_message("delay %d: %.2g of the range from the run without a switch after 5 exchanges\n",
                  (int)delay, settled / 2);
    assert_true(settled < 0.01 * 2);
  }
}

// Samples beyond what the receiver takes are counted and reported.
static void test_saturation(void** state) {
  (void)state;
  fixture f;
  double u[M], values[5];
  set_up(&f, 0);
  const double low[N] = {-0.5, -(double)INFINITY}, high[N] = {0.5, (double)INFINITY};
  f.setup.low = low;
  f.setup.high = high;
  check_ok(yoke__couple_hinf.prepare(f.memory, &f.setup, NULL));
  int64_t n = 0;
  for (int64_t k = 0; k < 60; k++) {
    run_interval(&f, k, slow_sine, u);
  }
  // a sine of amplitude 1 is beyond 0.5 in two thirds of its period; the lead moves the phase
  yoke__couple_hinf.health(f.memory, values);
  n = llround(values[4]);
  check_between((double)n / 59, 0.60, 0.74);
  YOKE_CATCH(said);
  yoke__couple_hinf.report(f.memory, &said.sink);
  check_contains(said.text, "beyond what its receiver takes, -0.5 to 0.5");
  check_contains(said.text, "of 59 samples");
}

static void expect_refusal(fixture* f, const char* words) {
  YOKE_CATCH(why);
  assert_true(yoke__couple_hinf.prepare(f->memory, &f->setup, &why.sink) < 0);
  check_contains(why.text, words);
}

static void test_refusals(void** state) {
  (void)state;
  fixture f;
  set_up(&f, 0);
  f.n_sends[1] = 25;
  expect_refusal(&f, "write `step: 0.001` there");
  set_up(&f, 0);
  f.delays[1] = 2;
  expect_refusal(&f, "delays of 0 and 2 exchanges");
  set_up(&f, 0);
  f.files[0] = "no-such-file.json";
  expect_refusal(&f, "no-such-file.json");
}

// The element of a file at half the steps, as a companion of the error band runs it: the band stays. Recipes T
// and general are filters in units of their interval, L has the smoother and the poles of its signals. Another file there is refused, as in a run.
static void test_companion_redesigns(void** state) {
  (void)state;
  static const yoke_synth_recipe recipes[] = {YOKE_RECIPE_T, YOKE_RECIPE_L, YOKE_RECIPE_GENERAL};
  for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
    const bool is_low = recipes[i] == YOKE_RECIPE_L;
    yoke_synth_settings s = yoke__synth_settings_default(recipes[i], DT, H);
    s.band_hz = 2;
    s.smoother_hz = is_low ? 80 : s.smoother_hz;
    yoke_synth_design of_file, wanted;
    check_ok(yoke__synth_design(&s, YOKE_SYNTH_SWEEPS, &of_file, NULL));
    check_ok(yoke__synth_element_write("companion.json", &of_file, NULL));
    s.interval = DT / 2;
    s.step = H / 2;
    s.smoother_hz *= is_low ? 1 : 2;
    s.pole *= is_low ? 1 : 2;
    check_ok(yoke__synth_design(&s, YOKE_SYNTH_SWEEPS, &wanted, NULL));

    fixture f;
    set_up(&f, 0);
    f.files[0] = "companion.json";
    f.setup.interval = DT / 2;
    f.sink.step = H / 2;
    expect_refusal(&f, "0.025");
    f.setup.is_companion = true;
    check_ok(yoke__couple_hinf.prepare(f.memory, &f.setup, NULL));
    double health[5];
    yoke__couple_hinf.health(f.memory, health);
    check_relative(health[0], wanted.gamma, 1e-12);
    check_relative(health[1], wanted.largest_gain, 1e-12);
    if (wanted.model.n > 0) {
      // all times are halved but the period of the band
      assert_true(wanted.settings.pole == 1000 && wanted.optimum.norm < of_file.optimum.norm);
    }
  }
}

// A test with a general element, of a file; it knows no delay.
static int use_general(void** state) {
  (void)state;
  yoke_synth_settings s = yoke__synth_settings_default(YOKE_RECIPE_GENERAL, DT, H);
  yoke_synth_design design;
  check_ok(yoke__synth_design(&s, YOKE_SYNTH_SWEEPS, &design, NULL));
  check_ok(yoke__synth_element_write("general.json", &design, NULL));
  element_file = "general.json";
  max_delay = 0;
  return 0;
}

static int use_any(void** state) {
  (void)state;
  element_file = NULL;
  max_delay = 2;
  return 0;
}
#define GENERAL(test)                                                                              \
  { #test ", general", test, use_general, use_any, NULL }

// A constant stays from the first call on. A ramp is as late as its design says: slope 0 is not part of it.
static void test_general_ramp(void** state) {
  (void)state;
  fixture f;
  yoke_synth_design design;
  double u[M], mean = 0;
  check_ok(yoke__synth_element_read(element_file, &design, NULL));
  open_hinf(&f, 0);
  for (int64_t k = 0; k < 20; k++) {
    run_interval(&f, k, constant, u);
    for (int j = 0; j < M; j++) {
      check_near(u[j], 3.25, 1e-9);
    }
  }
  open_hinf(&f, 0);
  for (int64_t k = 0; k < 200; k++) {
    run_interval(&f, k, ramp, u);
    mean = 0;
    for (int j = 0; j < M; j++) {
      mean += (u[j] - ramp((double)k * DT + j * H)) / M;
    }
  }
  // the ramp rises by 2 a second
  check_near(-mean / 2, design.net_delay, 1e-7);
  assert_true(fabs(design.net_delay) > 1e-5);
}

static void test_general_delay(void** state) {
  (void)state;
  fixture f;
  set_up(&f, 1);
  expect_refusal(&f, "the element is for a delay of 0 s, that of the connection is 0.05 s");
}

// No heap in the step.
static void test_general_heap(void** state) {
  (void)state;
  fixture f;
  double u[M];
  check_heap_is_counted();
  open_hinf(&f, 0);
  const long before = atomic_load(&n_heap_calls);
  for (int64_t k = 0; k < 20; k++) {
    run_interval(&f, k, slow_sine, u);
  }
  assert_int_equal(atomic_load(&n_heap_calls), before);
}

// With 5 states there is no element at half the steps, as one with poles right of -P: the companion keeps all 6.
static void test_general_companion_keeps_states(void** state) {
  (void)state;
  yoke_synth_settings s = yoke__synth_settings_default(YOKE_RECIPE_GENERAL, DT, H);
  yoke_synth_design of_file, wanted;
  s.order = 5;
  s.pole = 700;
  check_ok(yoke__synth_design(&s, YOKE_SYNTH_SWEEPS, &of_file, NULL));
  check_ok(yoke__synth_element_write("companion.json", &of_file, NULL));
  s.interval = DT / 2;
  s.step = H / 2;
  s.smoother_hz *= 2;
  s.pole *= 2;
  assert_int_equal(yoke__synth_design(&s, YOKE_SYNTH_SWEEPS, &wanted, NULL), YOKE_BAD_INPUT);
  s.order = 6;
  check_ok(yoke__synth_design(&s, YOKE_SYNTH_SWEEPS, &wanted, NULL));

  fixture f;
  set_up(&f, 0);
  f.files[0] = "companion.json";
  f.setup.interval = DT / 2;
  f.sink.step = H / 2;
  f.setup.is_companion = true;
  check_ok(yoke__couple_hinf.prepare(f.memory, &f.setup, NULL));
  double health[5];
  yoke__couple_hinf.health(f.memory, health);
  check_relative(health[0], wanted.gamma, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_constant_and_ramp),
      cmocka_unit_test(test_sine),
      cmocka_unit_test(test_parts),
      cmocka_unit_test(test_saved),
      cmocka_unit_test(test_HI_14_restart),
      cmocka_unit_test(test_HI_14_takes_over),
      cmocka_unit_test(test_saturation),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_companion_redesigns),
      cmocka_unit_test(test_general_companion_keeps_states),
      GENERAL(test_general_ramp),
      GENERAL(test_general_delay),
      GENERAL(test_general_heap),
      GENERAL(test_parts),
      GENERAL(test_saved),
      GENERAL(test_HI_14_restart),
      GENERAL(test_HI_14_takes_over),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
