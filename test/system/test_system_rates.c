// The time grid: intervals of connections, slots, calls per slot, delays and counts.
#include "system/system_fixture.h"

static int64_t interval_of(const sim* s, size_t link) {
  return s->system->links[link].interval;
}

// a connection exchanges every max(H, h_source, h_sink), or as often as it says
static void test_intervals(void** state) {
  (void)state;
  sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\n"
                   "time: {stop: 1, step: 1e-3}\n"
                   "units:\n"
                   "  inverter: {model: sine, step: 1e-5}\n"
                   "  motor: {model: gain, step: 1e-5}\n"
                   "  arm: {model: gain}\n"
                   "  heat: {model: gain, step: 1e-1}\n"
                   "connections:\n"
                   "  - {from: inverter.y, to: motor.u, exchange: 1e-5}\n"
                   "  - motor.y -> arm.u\n"
                   "  - arm.y -> heat.u\n");
  const yoke_system* system = s.system;
  check_near(yoke__clock_seconds(&system->clock, 1), 1e-5, 0);
  assert_int_equal(system->macro, 100);
  assert_int_equal(interval_of(&s, 0), 1);
  assert_int_equal(interval_of(&s, 1), 100);
  assert_int_equal(interval_of(&s, 2), 10000);

  // the finest exchange sets the slot; slow units span many
  assert_int_equal(system->slot, 1);
  assert_int_equal(system->n_slots, 100000);
  assert_int_equal(system->record_every, 100);
  assert_int_equal(system->units[fixture_unit(&s, "motor")].n_steps, 1);
  assert_int_equal(system->units[fixture_unit(&s, "motor")].n_slots, 1);
  assert_int_equal(system->units[fixture_unit(&s, "arm")].n_slots, 100);
  assert_int_equal(system->units[fixture_unit(&s, "heat")].n_slots, 10000);
  assert_true(system->has_slow_units);
  sim_close(&s);
}

// without a finer exchange a fast unit is called several times in one slot
static void test_fast_unit(void** state) {
  (void)state;
  sim s = sim_open(HEAD "units: {a: {model: counter, step: 2e-4}, b: {model: counter, step: "
                        "2.5e-4}, c: {model: counter}}\n");
  assert_int_equal(s.system->slot, s.system->macro);
  assert_int_equal(s.system->units[0].n_steps, 5);
  assert_int_equal(s.system->units[1].n_steps, 4);
  assert_int_equal(s.system->units[2].n_steps, 1);
  sim_close(&s);
}

// steps that neither divide the macro step nor each other: the slot shrinks until all fit, and each unit keeps its pace
static void test_odd_steps(void** state) {
  (void)state;
  sim s = sim_open(HEAD "units: {a: {model: integrator, step: 3e-4, start: {u: 1}}, b: {model: "
                        "integrator, step: 7e-4, start: {u: 1}}}\n");
  const yoke_system* system = s.system;
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    check_near((double)(unit->n_slots * system->slot) / (double)unit->n_steps, (double)unit->period,
               0);
  }
  sim_close(&s);

  // 2.1 s is a multiple of both steps: 7000 and 3000 additions, each with its rounding, make 2.1
  s = sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 2.1, step: 1e-3}\n"
               "units: {a: {model: integrator, step: 3e-4, start: {u: 1}}, b: {model: integrator, "
               "step: 7e-4, start: {u: 1}}}\n");
  sim_run(&s);
  check_near(s.state->t, 2.1, 0);
  check_near(sim_read(&s, "a.y"), 2.1, 7000 * 2.1 * 2.3e-16);
  check_near(sim_read(&s, "b.y"), 2.1, 3000 * 2.1 * 2.3e-16);
  sim_close(&s);
}

// iterative schemes meet at the common multiple of all steps
static void test_iterative_cycle(void** state) {
  (void)state;
  sim s = sim_open(
      HEAD "scheme: iterative-jacobi\n"
           "units: {a: {model: sine, step: 4e-4}, b: {model: gain}, c: {model: gain, step: 5e-4}}\n"
           "connections: [a.y -> b.u, b.y -> c.u]\n");
  check_near(yoke__clock_seconds(&s.system->clock, s.system->macro), 2e-3, 0);
  assert_int_equal(s.system->slot, s.system->macro);
  assert_int_equal(interval_of(&s, 0), s.system->macro);
  assert_int_equal(s.system->units[0].n_steps, 5);
  assert_int_equal(s.system->units[1].n_steps, 2);
  assert_int_equal(s.system->units[2].n_steps, 4);
  assert_int_equal(s.system->n_slots, 500);
  sim_close(&s);
}

// delays count exchange intervals of their own connection
static void test_delays(void** state) {
  (void)state;
  sim s =
      sim_open(HEAD "units: {a: {model: ramp}, b: {model: gain}, c: {model: gain, step: 1e-2}}\n"
                    "connections:\n"
                    "  - {from: a.y, to: b.u, delay: 3e-3}\n"
                    "  - {from: a.y, to: c.u, delay: 2e-2}\n");
  assert_int_equal(s.system->links[0].delay, 3);
  assert_int_equal(s.system->links[1].delay, 2);
  assert_int_equal(s.system->n_fifo, 5);
  sim_close(&s);
  refuse(NULL,
         HEAD "units: {a: {model: ramp}, c: {model: gain, step: 1e-2}}\n"
              "connections: [{from: a.y, to: c.u, delay: 5e-3}]\n",
         "test.yaml:6:43: error: the delay must be a multiple of the connection's exchange "
         "interval 0.01 s");
}

// a step that is written differently is the same step: decimals are exact
static void test_decimal_steps(void** state) {
  (void)state;
  sim s = sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.3, step: 0.1}\n"
                   "units: {a: {model: ramp, step: 1.00e-1}, b: {model: gain, step: 0.30}}\n"
                   "connections: [a.y -> b.u]\n");
  assert_int_equal(s.system->n_slots * s.system->slot, 3 * s.system->macro);
  assert_int_equal(interval_of(&s, 0), 3 * s.system->macro);
  check_near(s.system->t_stop, 0.3, 0);
  sim_close(&s);
}

// numbers that would not fit are refused, not wrapped around
static void test_limits(void** state) {
  (void)state;
  refuse(NULL,
         "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1e300, step: 1e-3}\nunits: {a: {model: "
         "constant}}\n",
         "test.yaml:4:14: error: the run has more ticks than can be counted exactly");
  refuse(NULL,
         "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1e5, step: 1e-3}\nunits: {a: {model: "
         "constant, step: 1e-15}}\n",
         "test.yaml:4:14: error: the run has more ticks than can be counted exactly");
  refuse(NULL,
         "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 1e-3}\nunits: {a: {model: "
         "constant, step: 7e-30}}\n",
         "test.yaml:4:23: error: the steps have no common tick");

  // recording more rarely than the run is long: the start and nothing else
  sim s = sim_open(HEAD "units: {a: {model: constant, step: 5e-4}, b: {model: gain, step: 5e-4}}\n"
                        "connections: [{from: a.y, to: b.u, exchange: 5e-4}]\n"
                        "record: {every: 9223372036854775807}\n");
  assert_true(s.system->record_every > s.system->n_slots);
  sim_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_intervals), cmocka_unit_test(test_fast_unit),
      cmocka_unit_test(test_odd_steps), cmocka_unit_test(test_iterative_cycle),
      cmocka_unit_test(test_delays),    cmocka_unit_test(test_decimal_steps),
      cmocka_unit_test(test_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
