// Faults of the virtual test rig: the list and its mistakes, what each fault does, losses and delays of the link (B-14), and the unit
// itself: description, rolling back, refusals.
#include "models/rig/rig.h"
#include "models/rig/rig_link.h"

#include "rig_helper.h"
#include "support/trial.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// ---------------------------------------------------------------------------------------------------------
// the list

static const char* add(yoke_rig_faults* faults, const char* line) {
  return yoke__rig_fault_add(faults, line, strlen(line), NULL);
}

static void test_lines(void** state) {
  (void)state;
  yoke_rig_faults faults = {0};
  assert_null(add(&faults, "0.5 drop-out lm 0 0.02"));
  assert_null(add(&faults, "1e-3,offset,mut,-0.05,0\r"));
  assert_null(add(&faults, "  2 ,\tnoise , both , 0.1 , 1"));
  assert_int_equal(faults.n_faults, 3);
  assert_int_equal(faults.list[0].kind, YOKE_RIG_DROP_OUT);
  assert_int_equal(faults.list[0].place, YOKE_RIG_AT_LM);
  check_near(faults.list[1].value, -0.05, 0.0);
  check_near(faults.list[1].time, 1e-3, 0.0);
  check_near(faults.list[2].duration, 1.0, 0.0);

  static const char* const bad[][2] = {
      {"", "five words"},
      {"1 trip mut 0", "five words"},
      {"1 trip mut 0 0 0", "five words"},
      {"x trip mut 0 0", "time"},
      {"nan trip mut 0 0", "time"},
      {"1 explode mut 0 0", "expected freeze"},
      {"1 none mut 0 0", "expected freeze"},
      {"1 trip out 0 0", "mut, lm or both"},
      {"1 delay mut 0.001 0", "out, in or both"},
      {"1 trip somewhere 0 0", "mut, lm or both"},
      {"1 trip mut x 0", "value"},
      {"1 trip mut 0 -1", "duration"},
      {"1 trip mut 0 1e300", "duration: expected a number of seconds from 0 to 1e9"},
      {"-1 trip mut 0 0", "time: expected a number of seconds from 0 to 1e9"},
      {"1e10 trip mut 0 0", "time: expected a number of seconds from 0 to 1e9"},
      {"1 noise mut -0.1 0", "value: expected a number that is not negative"},
      {"1 overheat lm -5 0", "value: expected a number that is not negative"},
      {"1 loss in -0.1 0", "value: expected a probability from 0 to 1"},
      {"1 reorder both 1.5 0", "value: expected a probability from 0 to 1"},
      {"1 delay out -1e-3 0", "value: expected a number of seconds from 0 to 1"},
      {"1 jitter in 2 0", "value: expected a number of seconds from 0 to 1"},
  };
  for (size_t i = 0; i < COUNT(bad); i++) {
    const char* problem = add(&faults, bad[i][0]);
    assert_non_null(problem);
    check_contains(problem, bad[i][1]);
  }
  char lengthy[300];
  memset(lengthy, '1', sizeof lengthy);
  assert_non_null(yoke__rig_fault_add(&faults, lengthy, sizeof lengthy, NULL));
  while (faults.n_faults < YOKE_RIG_MAX_FAULTS) {
    assert_null(add(&faults, "1 trip mut 0 0"));
  }
  check_contains(add(&faults, "1 trip mut 0 0"), "32");
}

// a fault acts from its time up to, and not at, its end; several on one node add up
static void test_times(void** state) {
  (void)state;
  yoke_rig_faults faults = {0};
  assert_null(add(&faults, "0.1 offset mut 0.25 0.2"));
  assert_null(add(&faults, "0.2 offset mut 0.5 0"));
  assert_null(add(&faults, "0.4 bus-loss both 0 0.1"));
  static const double rows[][3] = {{0.0999, 0, 0},    {0.1, 0.25, 0}, {0.2, 0.75, 0},
                                   {0.2999, 0.75, 0}, {0.3, 0.5, 0},  {0.4, 0.5, 1},
                                   {0.4999, 0.5, 1},  {0.5, 0.5, 0},  {100.0, 0.5, 0}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    const yoke_rig_upsets upsets = yoke__rig_fault_apply(&faults, rows[i][0]);
    check_near(upsets.motors[0].offset, rows[i][1], 0.0);
    check_near(upsets.motors[1].offset, 0.0, 0.0);
    assert_int_equal(upsets.links[0].is_down, rows[i][2] != 0.0);
    assert_int_equal(upsets.links[1].is_down, rows[i][2] != 0.0);
  }
}

// ---------------------------------------------------------------------------------------------------------
// what faults do: a steady run at 100 rad/s and 0.2 N.m, the fault from 0.5 s on

static sim open_steady(const char* faults, const char* extra) {
  return sim_open("yoke: 1\ninputs: start\ncalls: 1\n"
                  "time: {stop: 1, step: 1e-3}\n"
                  "units:\n"
                  "  speed: {model: constant, with: {value: 100}}\n"
                  "  pedal: {model: constant, with: {value: 0.2}}\n"
                  "  rig: {model: rig.bench, with: {%s%s%s%s}}\n"
                  "connections: [speed.y -> rig.omega_ref, pedal.y -> rig.throttle]\n",
                  faults[0] != '\0' ? "faults: [" : "", faults, faults[0] != '\0' ? "], " : "",
                  extra);
}

static void test_cell_faults(void** state) {
  (void)state;
  const double torque = 0.2 - 0.0176418 * (1.0 + 100.0 / 490.09);
  sim s = open_steady("'0.5 offset mut 0.05 0.2'", "cell_noise: 0");
  sim_steps(&s, 499);
  check_near(sim_read(&s, "rig.tau"), torque, 1e-3);
  sim_steps(&s, 2);
  check_near(sim_read(&s, "rig.tau"), torque + 0.05, 1e-3);
  check_near(sim_read(&s, "rig.cell_lm"), -0.1788 + 0.0, 0.05);  // the other cell is not touched
  sim_steps(&s, 300);
  check_near(sim_read(&s, "rig.tau"), torque, 1e-3);
  sim_close(&s);

  // frozen: the same bits although there is noise
  s = open_steady("'0.5 freeze mut 0 0.1'", "cell_noise: 5e-3");
  sim_steps(&s, 500);
  const double held = sim_read(&s, "rig.tau");
  for (int k = 0; k < 100; k++) {
    sim_steps(&s, 1);
    assert_true(sim_read(&s, "rig.tau") == held);
  }
  sim_steps(&s, 1);
  assert_true(sim_read(&s, "rig.tau") != held);
  sim_close(&s);

  // noise: 400 samples of 50 mN.m have that deviation within four of its own
  s = open_steady("'0.5 noise mut 0.05 0.4'", "cell_noise: 0");
  sim_steps(&s, 500);
  double sum = 0.0, square = 0.0;
  for (int k = 0; k < 400; k++) {
    sim_steps(&s, 1);
    const double x = sim_read(&s, "rig.tau") - torque;
    sum += x;
    square += x * x;
  }
  check_near(sum / 400.0, 0.0, 4.0 * 0.05 / 20.0);
  check_relative(sqrt(square / 400.0), 0.05, 4.0 / sqrt(800.0));
  sim_close(&s);
}

// state of a drive after a fault of one node, and its code
static void check_end(const char* fault, const char* node, double code) {
  char name[32];
  sim s = open_steady(fault, "cell_noise: 0");
  sim_run(&s);
  (void)snprintf(name, sizeof name, "code_%s", node);
  check_near(rig_whole(&s, name), code, 0.0);
  // the unit has stopped the other one: nothing has power
  check_between(sim_read(&s, "rig.torque_mut"), 0.0, 0.0);
  check_between(sim_read(&s, "rig.torque_lm"), 0.0, 0.0);
  check_between(fabs(sim_read(&s, "rig.shaft")), 0.0, 90.0);
  sim_close(&s);
}

static void test_drive_faults(void** state) {
  (void)state;
  check_end("'0.5 trip lm 0 0.01'", "lm", YOKE_RIG_FAULT_TRIP);
  check_end("'0.5 drop-out lm 0 0.1'", "lm", YOKE_RIG_FAULT_ENCODER);
  check_end("'0.5 overheat mut 1e6 0.1'", "mut", YOKE_RIG_FAULT_TEMPERATURE);
  // 0.7 N.m against the 0.2 of the other: too fast within the second
  check_end("'0.5 runaway lm 0.5 0'", "lm", YOKE_RIG_FAULT_OVERSPEED);
}

// a drop-out shorter than 4 ms is bridged
static void test_short_drop_out_is_bridged(void** state) {
  (void)state;
  sim s = open_steady("'0.5 drop-out lm 0 0.003'", "cell_noise: 0");
  sim_steps(&s, 502);
  const double held = sim_read(&s, "rig.omega_lm");
  sim_steps(&s, 1);
  assert_true(sim_read(&s, "rig.omega_lm") == held);
  sim_run(&s);
  check_near(rig_whole(&s, "code_lm"), 0.0, 0.0);
  check_near(rig_whole(&s, "state_lm"), YOKE_RIG_ENABLED, 0.0);
  check_near(sim_read(&s, "rig.omega"), 100.0, 0.1);
  sim_close(&s);
}

// written at run time, and cleared by enable off and on
static void test_fault_at_run_time(void** state) {
  (void)state;
  trial d;
  trial_open(&d, &yoke__model_rig_bench, NULL, 0);
  trial_set(&d, "cell_noise", 0.0);
  trial_start(&d, 0.0);
  trial_set(&d, "omega_ref", 50.0);
  int k = 0;
  for (; k < 100; k++) {
    (void)trial_step(&d, k * 1e-3, 1e-3);
  }
  assert_int_equal(trial_get_whole(&d, "state_lm"), YOKE_RIG_ENABLED);
  check_near(trial_get(&d, "omega"), 50.0, 1.0);
  trial_set_whole(&d, "fault_place", YOKE_RIG_AT_LM);
  trial_set_whole(&d, "fault", YOKE_RIG_TRIP);
  for (; k < 110; k++) {
    (void)trial_step(&d, k * 1e-3, 1e-3);
  }
  assert_int_equal(trial_get_whole(&d, "state_lm"), YOKE_RIG_FAULT);
  assert_int_equal(trial_get_whole(&d, "code_lm"), YOKE_RIG_FAULT_TRIP);

  // the fault ends; the stop stays until it is cleared
  trial_set_whole(&d, "fault", YOKE_RIG_NONE);
  for (; k < 300; k++) {
    (void)trial_step(&d, k * 1e-3, 1e-3);
  }
  assert_int_equal(trial_get_whole(&d, "state_lm"), YOKE_RIG_FAULT);
  trial_set_whole(&d, "enable", 0);
  (void)trial_step(&d, k * 1e-3, 1e-3);
  trial_set_whole(&d, "enable", 1);
  for (k++; k < 500; k++) {
    (void)trial_step(&d, k * 1e-3, 1e-3);
  }
  assert_int_equal(trial_get_whole(&d, "state_lm"), YOKE_RIG_ENABLED);
  assert_int_equal(trial_get_whole(&d, "state_mut"), YOKE_RIG_ENABLED);
  assert_int_equal(trial_get_whole(&d, "code_lm"), 0);
  check_near(trial_get(&d, "omega"), 50.0, 0.5);
  trial_close(&d);
}

// a stop that nobody asked for is told once, with time and reason; a healthy run with latency tells nothing
static void test_report(void** state) {
  (void)state;
  static const char* const lines[] = {"0.05 drop-out lm 0 0.1", "0.05 bus-loss out 0 0.01",
                                      "0.05 bus-loss in 0 0", "0.05 bus-loss both 0 0"};
  static const char* const silent =
      "the rig stopped at t = 0.055 s: the drives were told to, since no report had come for 5";
  const char* const parts[] = {"the load drive tripped, no encoder (0x7305)",
                               "it got no command for 5 cycles", silent, silent};
  enum { N = COUNT(lines) };
  for (size_t i = 0; i <= N; i++) {
    const yoke_argument argument = trial_texts("faults", 1, &lines[i < N ? i : 0]);
    trial d;
    HEAR(said);
    trial_open(&d, &yoke__model_rig_bench, &argument, i < N ? 1 : 0);
    trial_set_whole(&d, "latency", 1);
    trial_start(&d, 0.0);
    for (int k = 0; k < 100; k++) {
      (void)trial_step(&d, k * 1e-3, 1e-3);
    }
    d.unit.ops->report(d.unit.self, &said.sink);
    if (i < N) {
      check_contains(said.text, "the rig stopped at t = 0.0");
      check_contains(said.text, parts[i]);
    } else {
      assert_string_equal(said.text, "");
    }
    HEAR(again);
    d.unit.ops->report(d.unit.self, &again.sink);
    assert_string_equal(again.text, "");
    trial_close(&d);
  }
}

// ---------------------------------------------------------------------------------------------------------
// the link

// B-14: 1 % of the commands lost: the run completes, and every cycle without a command is counted, as a recount of the random numbers
// says; with latency the commands under way at the start and the end count, too
static void test_one_percent_loss_b14(void** state) {
  (void)state;
  for (int latency = 0; latency <= 2; latency++) {
    char extra[80];
    (void)snprintf(extra, sizeof extra, "cell_noise: 0, loss_out: 0.01, seed: 5, latency: %d",
                   latency);
    sim s = open_steady("", extra);
    sim_run(&s);
    // the same link, asked by hand
    yoke_rig_link link = {.settings = {.loss = 0.01, .seed = 5, .stream = 1}};
    int n_lost = 0;
    for (int k = 0; k < 1000; k++) {
      const int64_t before = link.n_lost;
      const uint8_t byte[1] = {0};
      yoke__rig_link_send(&link, k, byte, 1, false);
      n_lost += link.n_lost > before && k < 1000 - latency;
      uint8_t bytes[YOKE_DATAGRAM_MAX_SIZE];
      (void)yoke__rig_link_receive(&link, k, bytes);
    }
    check_between(n_lost, 2.0, 25.0);
    check_near(rig_whole(&s, "n_held"), n_lost + latency, 0.0);
    check_near(rig_whole(&s, "n_lost"), (double)link.n_lost, 0.0);
    check_near(rig_whole(&s, "state_lm"), YOKE_RIG_ENABLED, 0.0);
    check_near(sim_read(&s, "rig.omega"), 100.0, 0.1);
    sim_close(&s);
  }
}

// B-14: four cycles without command are held, five stop the drives by themselves: torque ramped, shaft at rest, nothing has power
static void test_five_lost_in_a_row_b14(void** state) {
  (void)state;
  for (int n = 4; n <= 5; n++) {
    char fault[64];
    (void)snprintf(fault, sizeof fault, "'0.5 bus-loss both 0 %g'", n * 1e-3);
    sim s = open_steady(fault, "cell_noise: 0, latency: 0");
    sim_steps(&s, 500 + n - 1);
    check_near(rig_whole(&s, "n_held"), n - 1, 0.0);
    sim_steps(&s, 1);
    check_near(rig_whole(&s, "n_held"), n, 0.0);
    sim_steps(&s, 1);  // the first report after the loss
    const double state_now = rig_whole(&s, "state_mut");
    check_near(state_now, n == 5 ? YOKE_RIG_QUICK_STOP : YOKE_RIG_ENABLED, 0.0);
    if (n == 5) {
      // 0.2 N.m at 20 N.m/s: 10 ms, and never a jump of more than a cycle's share
      double last = sim_read(&s, "rig.torque_mut");
      for (int k = 0; k < 10; k++) {
        sim_steps(&s, 1);
        const double torque = sim_read(&s, "rig.torque_mut");
        check_between(last - torque, -1e-3, 20e-3 + 9e-3);
        last = torque;
      }
      check_near(last, 0.0, 1e-3);
      check_near(rig_whole(&s, "state_mut"), YOKE_RIG_DISABLED, 0.0);
    }
    sim_run(&s);
    check_near(rig_whole(&s, "state_lm"), n == 5 ? YOKE_RIG_DISABLED : YOKE_RIG_ENABLED, 0.0);
    check_near(sim_read(&s, "rig.shaft"), n == 5 ? 0.0 : 100.0, 0.5);
    sim_close(&s);
  }
}

// B-14: the same for reports: who gets none for five cycles stops the drives, which are at rest when nobody can see them
static void test_five_reports_lost_b14(void** state) {
  (void)state;
  for (int n = 4; n <= 5; n++) {
    char fault[64];
    (void)snprintf(fault, sizeof fault, "'0.5 bus-loss in 0 %g'", n * 1e-3);
    sim s = open_steady(fault, "cell_noise: 0, latency: 0");
    sim_run(&s);
    check_near(rig_whole(&s, "n_held"), 0.0, 0.0);
    check_near(rig_whole(&s, "n_held_reports"), n, 0.0);
    check_near(rig_whole(&s, "state_mut"), n == 5 ? YOKE_RIG_DISABLED : YOKE_RIG_ENABLED, 0.0);
    check_near(rig_whole(&s, "state_lm"), n == 5 ? YOKE_RIG_DISABLED : YOKE_RIG_ENABLED, 0.0);
    check_near(sim_read(&s, "rig.shaft"), n == 5 ? 0.0 : 100.0, 0.5);
    sim_close(&s);
  }
}

// B-14: commands on the way while the drives stopped by themselves arrive later, and start nothing
static void test_delayed_commands_start_nothing_b14(void** state) {
  (void)state;
  sim s = open_steady("'0.5 delay out 0.1 0'", "cell_noise: 0, latency: 0");
  sim_steps(&s, 505);
  check_near(rig_whole(&s, "state_mut"), YOKE_RIG_QUICK_STOP, 0.0);
  sim_steps(&s, 75);
  for (int k = 580; k < 800; k++) {
    check_near(rig_whole(&s, "state_mut"), YOKE_RIG_DISABLED, 0.0);
    check_near(rig_whole(&s, "state_lm"), YOKE_RIG_DISABLED, 0.0);
    check_near(sim_read(&s, "rig.shaft"), 0.0, 0.5);
    sim_steps(&s, 1);
  }
  sim_close(&s);
}

// A rig that stood still for a moment finds more commands than it keeps: the newest counts, and none of them is damaged.
static void test_newest_of_many_commands_counts(void** state) {
  (void)state;
  const yoke_unit_frames* frames = yoke__model_rig_bench.frames;
  uint8_t bytes[YOKE_DATAGRAM_MAX_SIZE];
  trial bench, machine;
  trial_open(&bench, &yoke__model_rig_bench, NULL, 0);
  trial_open(&machine, &yoke__model_rig_bench, NULL, 0);
  frames->play(bench.unit.self, YOKE_END_BENCH);
  frames->play(machine.unit.self, YOKE_END_MACHINE);
  trial_start(&bench, 0.0);
  trial_start(&machine, 0.0);
  for (int k = 0; k < 10; k++) {
    size_t n = frames->command(bench.unit.self, k * 1e-3, 1e-3, bytes, sizeof bytes);
    assert_int_equal(frames->take_command(machine.unit.self, bytes, n), YOKE_TAKEN);
    (void)trial_step(&machine, k * 1e-3, 1e-3);
    while ((n = frames->report(machine.unit.self, bytes, sizeof bytes)) > 0) {
      (void)frames->take_report(bench.unit.self, bytes, n);
    }
    (void)trial_step(&bench, k * 1e-3, 1e-3);
  }
  assert_int_equal(trial_get_whole(&machine, "state_lm"), YOKE_RIG_ENABLED);
  for (int k = 0; k < 40; k++) {
    const size_t n = k < 39 ? frames->command(bench.unit.self, 0.01, 1e-3, bytes, sizeof bytes)
                            : frames->halt(bench.unit.self, bytes, sizeof bytes);
    assert_int_equal(frames->take_command(machine.unit.self, bytes, n), YOKE_TAKEN);
  }
  (void)trial_step(&machine, 0.01, 1e-3);
  assert_int_not_equal(trial_get_whole(&machine, "state_lm"), YOKE_RIG_ENABLED);
  trial_close(&bench);
  trial_close(&machine);
}

// what is sent arrives: once, late, twice, overtaken
static void test_link_by_hand(void** state) {
  (void)state;
  uint8_t bytes[YOKE_DATAGRAM_MAX_SIZE];
  const uint8_t a[2] = {1, 2}, b[1] = {3};
  yoke_rig_link link = {.settings = {.delay_ns = 100}};
  yoke__rig_link_start(&link);
  yoke__rig_link_send(&link, 0, a, 2, false);
  yoke__rig_link_send(&link, 50, b, 1, false);
  assert_int_equal(yoke__rig_link_receive(&link, 99, bytes), 0);
  assert_int_equal(yoke__rig_link_receive(&link, 160, bytes), 2);  // in the order of their times
  assert_int_equal(bytes[1], 2);
  assert_int_equal(yoke__rig_link_receive(&link, 160, bytes), 1);
  assert_int_equal(yoke__rig_link_receive(&link, 160, bytes), 0);
  yoke__rig_link_send(&link, 200, a, 2, true);  // the bus is down
  assert_int_equal(yoke__rig_link_receive(&link, 1000, bytes), 0);
  assert_int_equal(link.n_lost, 1);

  // doubled
  link = (yoke_rig_link){.settings = {.duplicate = 1.0}};
  yoke__rig_link_send(&link, 0, a, 2, false);
  assert_int_equal(yoke__rig_link_receive(&link, 0, bytes), 2);
  assert_int_equal(yoke__rig_link_receive(&link, 0, bytes), 2);
  assert_int_equal(yoke__rig_link_receive(&link, 0, bytes), 0);

  // full: the rest is lost and counted
  link = (yoke_rig_link){.settings = {.delay_ns = 1000000}};
  for (int i = 0; i < YOKE_RIG_LINK_SLOTS + 3; i++) {
    yoke__rig_link_send(&link, i, a, 2, false);
  }
  assert_int_equal(link.n_full, 3);

  // shares are those that were asked for: 10000 draws within four deviations
  link = (yoke_rig_link){
      .settings = {.loss = 0.05, .duplicate = 0.1, .reorder = 0.2, .reorder_ns = 5}};
  for (int64_t i = 0; i < 10000; i++) {
    yoke__rig_link_send(&link, 10 * i, a, 2, false);
    while (yoke__rig_link_receive(&link, 10 * i + 9, bytes) > 0) {
    }
  }
  check_near((double)link.n_lost, 500.0, 4.0 * sqrt(10000 * 0.05 * 0.95));
  check_near((double)link.n_doubled, 950.0, 4.0 * sqrt(9500 * 0.1 * 0.9));
  check_near((double)link.n_reordered, 1900.0, 4.0 * sqrt(9500 * 0.2 * 0.8));
}

// duplicates change nothing at all; overtaken and jittered datagrams are dropped when they come too late, and the run goes on
static void test_link_in_the_unit(void** state) {
  (void)state;
  static const char* const extras[] = {"seed: 3", "seed: 3, duplicate_out: 0.5, duplicate_in: 0.5",
                                       "seed: 3, reorder_out: 0.2, reorder_in: 0.2",
                                       "seed: 3, jitter_out: 1.5e-3, delay_in: 1e-3"};
  double ends[COUNT(extras)];
  for (size_t i = 0; i < COUNT(extras); i++) {
    sim s = open_steady("", extras[i]);
    sim_run(&s);
    ends[i] = sim_read(&s, "rig.shaft");
    check_near(ends[i], 100.0, 1.0);
    check_near(rig_whole(&s, "state_mut"), YOKE_RIG_ENABLED, 0.0);
    assert_true(i < 2 || rig_whole(&s, "n_held") > 10.0);
    sim_close(&s);
  }
  assert_true(ends[0] == ends[1]);
  assert_true(ends[0] != ends[2]);
}

// faults of the link on demand: the same as its settings, for a while; each direction on its own
static void test_link_faults_on_demand(void** state) {
  (void)state;
  static const struct {
    const char* fault;
    double held, reports;  // cycles, at least
    bool is_exact;
  } rows[] = {
      {"'0.5 delay out 0.002 0.1'", 2, 0, true},   {"'0.5 delay in 0.003 0.1'", 0, 3, true},
      {"'0.5 bus-loss in 0 0.004'", 0, 4, true},   {"'0.5 loss out 0.3 0.1'", 10, 0, false},
      {"'0.5 jitter out 0.002 0.2'", 5, 0, false}, {"'0.5 reorder in 0.3 0.2'", 0, 5, false},
      {"'0.5 duplicate both 1 0.2'", 0, 0, true},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    sim s = open_steady(rows[i].fault, "cell_noise: 0");
    sim_run(&s);
    const double held = rig_whole(&s, "n_held"), reports = rig_whole(&s, "n_held_reports");
    check_between(held, rows[i].held, rows[i].is_exact ? rows[i].held : 100.0);
    check_between(reports, rows[i].reports, rows[i].is_exact ? rows[i].reports : 100.0);
    assert_true(rows[i].held > 0.0 || held == 0.0);
    assert_true(rows[i].reports > 0.0 || reports == 0.0);
    check_near(rig_whole(&s, "state_lm"), YOKE_RIG_ENABLED, 0.0);
    check_near(sim_read(&s, "rig.shaft"), 100.0, 0.5);
    sim_close(&s);
  }
}

// ---------------------------------------------------------------------------------------------------------
// the unit

static void test_description(void** state) {
  (void)state;
  static const int64_t sets[] = {0, 1};
  for (int i = 0; i < 2; i++) {
    const yoke_argument argument = {"set", YOKE_ENUMERATION, 1, 1, &sets[i]};
    trial d;
    trial_open(&d, &yoke__model_rig_bench, &argument, 1);
    trial_check_description(&d);
    check_near(trial_get(&d, "R"), i == 0 ? 44.7e-3 : 8e-3, 0.0);
    trial_set(&d, "omega_ref", 20.0);
    trial_set(&d, "throttle", 0.1);
    trial_set(&d, "loss_out", 0.3);
    trial_start(&d, 0.0);
    for (int k = 0; k < 20; k++) {
      (void)trial_step(&d, k * 1e-3, 1e-3);
    }
    trial_check_feedthrough(&d, 0.02);
    trial_check_rollback(&d, 0.02, 1e-3);
    trial_close(&d);
  }
  trial d;
  trial_open(&d, &yoke__model_rig_inertia, NULL, 0);
  trial_check_description(&d);
  trial_set(&d, "tau", 0.2);
  trial_start(&d, 0.0);
  trial_check_feedthrough(&d, 0.0);
  trial_check_rollback(&d, 0.0, 1e-3);
  trial_close(&d);
}

// modes by their names in a system file
static void test_modes_by_name(void** state) {
  (void)state;
  sim s = sim_open(
      "yoke: 1\ninputs: start\ncalls: 1\n"
      "time: {stop: 1, step: 1e-3}\n"
      "units:\n"
      "  angle: {model: constant, with: {value: 6.5}}\n"
      "  rig: {model: rig.bench, with: {mode_lm: position, mode_mut: current, cell_noise: 0}}\n"
      "connections: [angle.y -> rig.phi_lm]\n");
  sim_run(&s);
  check_near(sim_read(&s, "rig.angle"), 6.5, 0.01);
  sim_close(&s);
  s = sim_open(
      "yoke: 1\ninputs: start\ncalls: 1\n"
      "time: {stop: 1, step: 1e-3}\n"
      "units:\n"
      "  speed: {model: constant, with: {value: 80}}\n"
      "  torque: {model: constant, with: {value: -0.1}}\n"
      "  rig: {model: rig.bench, with: {mode_lm: torque, mode_mut: speed, cell_noise: 0}}\n"
      "connections: [speed.y -> rig.omega_mut, torque.y -> rig.tau_lm]\n");
  sim_run(&s);
  check_near(sim_read(&s, "rig.omega"), 80.0, 0.05);
  check_near(sim_read(&s, "rig.torque_lm"), -0.1, 1e-3);
  sim_close(&s);
}

static void test_refusals(void** state) {
  (void)state;
  static const double back[] = {1.0, 0.0, 0.5, 1.0};
  static const char* const line[] = {"1 explode mut 0 0"};
  static const char* const missing[] = {"no-such-file.csv"};
  yoke_argument argument = trial_matrix("pedal", 2, 2, back);
  trial_refuses(&yoke__model_rig_bench, &argument, 1, "must not go back");
  argument = trial_matrix("pedal", 4, 1, back);
  trial_refuses(&yoke__model_rig_bench, &argument, 1, "rows [time, torque]");
  argument = trial_texts("faults", 1, line);
  trial_refuses(&yoke__model_rig_bench, &argument, 1, "entry 1 '1 explode mut 0 0'");
  argument = trial_texts("script", 1, missing);
  trial_refuses(&yoke__model_rig_bench, &argument, 1, "no-such-file.csv");

  static const struct {
    const char *name, *part;
    double value;
  } rows[] = {{"loss_out", "probabilities", 2.0},
              {"delay_in", "between 0 and 1 s", 2.0},
              {"J_ideal", "J_ideal", -1.0},
              {"R", "above 0", 0.0}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    YOKE_CATCH(err);
    trial d;
    trial_open(&d, &yoke__model_rig_bench, NULL, 0);
    trial_set(&d, rows[i].name, rows[i].value);
    assert_true(yoke__unit_enter_init(&d.unit, 0, 1, &err.sink) < 0);
    check_contains(err.text, rows[i].part);
    trial_close(&d);
  }

  // a cycle that is no multiple of 10 us
  trial d;
  trial_open(&d, &yoke__model_rig_bench, NULL, 0);
  trial_start(&d, 0.0);
  yoke_step_result result = {.t_reached = 1.5e-5};
  assert_true(d.unit.ops->step(d.unit.self, 0.0, 1.5e-5, &result) < 0);
  check_contains(result.message, "10 us");
  trial_close(&d);
}

// a script does what the list does, and names its lines
static void test_script(void** state) {
  (void)state;
  static const char* const path[] = {"test_models_rig_fault.csv"};
  FILE* file = fopen(path[0], "wb");
  assert_non_null(file);
  assert_true(fputs("time,fault,node,value,duration\n# comment\n\n0,offset,mut,0.25,0\n", file) >=
              0);
  assert_int_equal(fclose(file), 0);
  const yoke_argument argument = trial_texts("script", 1, path);
  trial d;
  trial_open(&d, &yoke__model_rig_bench, &argument, 1);
  trial_set(&d, "cell_noise", 0.0);
  trial_start(&d, 0.0);
  (void)trial_step(&d, 0.0, 1e-3);
  check_near(trial_get(&d, "tau"), 0.25, 1e-4);
  trial_close(&d);
  file = fopen(path[0], "wb");
  assert_non_null(file);
  assert_true(
      fputs("time,fault,node,value,duration\n0,offset,mut,0.25,0\n0,bang,mut,0,0\n", file) >= 0);
  assert_int_equal(fclose(file), 0);
  trial_refuses(&yoke__model_rig_bench, &argument, 1, "expected freeze");
  trial_refuses(&yoke__model_rig_bench, &argument, 1, "test_models_rig_fault.csv:3:3");
  assert_int_equal(remove(path[0]), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lines),
      cmocka_unit_test(test_times),
      cmocka_unit_test(test_cell_faults),
      cmocka_unit_test(test_drive_faults),
      cmocka_unit_test(test_short_drop_out_is_bridged),
      cmocka_unit_test(test_fault_at_run_time),
      cmocka_unit_test(test_report),
      cmocka_unit_test(test_one_percent_loss_b14),
      cmocka_unit_test(test_five_lost_in_a_row_b14),
      cmocka_unit_test(test_five_reports_lost_b14),
      cmocka_unit_test(test_delayed_commands_start_nothing_b14),
      cmocka_unit_test(test_newest_of_many_commands_counts),
      cmocka_unit_test(test_link_by_hand),
      cmocka_unit_test(test_link_in_the_unit),
      cmocka_unit_test(test_link_faults_on_demand),
      cmocka_unit_test(test_description),
      cmocka_unit_test(test_modes_by_name),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_script),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
