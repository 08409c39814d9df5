// Records for twins: what is read, values between rows, the system that is made of it, and what tuning finds.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base_os.h"
#include "study/study_twin_tune.h"
#include "study/study_twin_watch.h"
#include "support/check.h"
#include "support/normal_noise.h"

static const char netlist[] = "one body\n"
                              ".input q=10 W\n"
                              "heat_source q_in body {q}\n"
                              "heat_capacity c1 body 20 J/K\n"
                              "thermal_resistance r1 body room 2 K/W\n"
                              "temperature_source air room 300 K\n"
                              ".end\n";
static const char system_file[] = "yoke: 1\n"
                                  "time: {stop: 100, step: 0.5}\n"
                                  "units:\n"
                                  "  twin:\n"
                                  "    twin: body.cir\n"
                                  "    sensors: {t(body): {from: rig.t, sigma: 0.1}}\n"
                                  "    inputs: {q: {from: rig.q, gain: 2}}\n"
                                  "    unknown: {r1: {start: 1, sd: 1}}\n";

// A folder with the three files, where the test works.
static char folder[] = "/tmp/yoke-twin-XXXXXX";

static void write_file(const char* name, const char* text) {
  YOKE_CATCH(err);
  if (yoke__os_write_file(name, text, strlen(text), &err.sink) < 0) {
    fail_msg("%s", err.text);
  }
}

static int enter(void** state) {
  (void)state;
  if (mkdtemp(folder) == NULL || chdir(folder) != 0) {
    return 1;
  }
  write_file("body.cir", netlist);
  write_file("twin.yaml", system_file);
  return 0;
}

static int leave(void** state) {
  (void)state;
  static const char* const files[] = {"body.cir", "twin.yaml", "data.csv"};
  for (int i = 0; i < 3; i++) {
    unlink(files[i]);
  }
  return chdir("/") != 0 || rmdir(folder) != 0;
}

static yoke_status open_study(const char* data, yoke_twin_study* study, yoke_caught* err) {
  write_file("data.csv", data);
  const yoke_twin_task task = {.path = "twin.yaml", .data = "data.csv"};
  return yoke__twin_study_open(&task, study, &err->sink);
}

// ---- the record

static void test_columns(void** state) {
  (void)state;
  YOKE_CATCH(err);
  yoke_twin_study study;
  const char data[] =
      "time,rig.q,note,rig.t\n0,1,a,300\n0.1,,b,nan\n0.2,3,c,\n0.3,4,,303\n1,5,,304\n";
  if (open_study(data, &study, &err) < 0) {
    fail_msg("%s", err.text);
  }
  assert_string_equal(study.unit, "twin");
  check_near(study.step, 0.1, 1e-15);  // the median
  assert_int_equal(study.data.n_columns, 2);
  const yoke_twin_column *t = &study.data.columns[0], *q = &study.data.columns[1];
  assert_string_equal(t->name, "rig.t");
  assert_true(t->is_sensor && !q->is_sensor);
  assert_int_equal(t->n, 3);
  assert_int_equal(t->n_missing, 2);
  assert_int_equal(t->n_gaps, 1);
  assert_int_equal(t->longest_gap, 2);
  assert_int_equal(q->n, 4);

  // readings stay, inputs go straight across gaps
  static const struct {
    double at, t, q;
    size_t count;
  } cases[] = {{-1, 300, 1, 0},  {0, 300, 1, 1},      {0.1, 300, 2, 1}, {0.29, 300, 3.9, 1},
               {0.3, 303, 4, 2}, {0.65, 303, 4.5, 2}, {1, 304, 5, 3},   {7, 304, 5, 3}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    size_t count = 9;
    check_near(yoke__twin_data_value(t, cases[i].at, &count), cases[i].t, 0);
    assert_int_equal(count, cases[i].count);
    check_near(yoke__twin_data_value(q, cases[i].at, NULL), cases[i].q, 1e-12);
  }
  yoke__twin_study_close(&study);
}

static void test_bad_records(void** state) {
  (void)state;
  static const struct {
    const char *data, *message;
  } cases[] = {
      {"time,rig.t,rig.q\n0,1,2\n0,1,2\n", "time 0 is not greater than 0 of the line before"},
      {"time,rig.t,rig.q\n0,1,2\n,1,2\n", "the cell of column 'time' is empty"},
      {"time,rig.t,rig.q\n0,1,2\nnan,1,2\n", "the cell of column 'time' is not a finite number"},
      {"time,rig.t,rig.q\n0,1,2\n1,nan,2\n2,hot,2\n",
       "the cell of column 'rig.t' is not a finite number"},
      {"time,rig.t,rig.q\n0,1,2\n1,1,-inf\n", "the cell of column 'rig.q' is not a finite number"},
      {"time,rig.t,rig.q\n0,,2\n1,,2\n", "column 'rig.t' has no values"},
      {"time,rig.t,rig.q\n0,1,2\n", "expected two rows or more, found 1"},
      {"t,rig.t,rig.q\n0,1,2\n1,1,2\n",
       "there is no column 'time' with the time in seconds; the first column is 't'"},
      {"time,rig.T,rig.q\n0,1,2\n1,1,2\n",
       "there is no column 'rig.t'; did you mean 'rig.T'? the columns are time, rig.T, rig.q"},
      {"time,t,q,speed\n0,1,x,2\n1,1,x,2\n", "the cell of column 'q' is not a finite number"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    YOKE_CATCH(err);
    yoke_twin_study study;
    assert_int_equal(open_study(cases[i].data, &study, &err), YOKE_BAD_INPUT);
    if (strcmp(err.text, cases[i].message) != 0) {
      fail_msg("case %zu: '%s' instead of '%s'", i, err.text, cases[i].message);
    }
  }
}

// ---- a record of the body

#define N_ROWS 401

// r1 = 3 K/W, from rest with 8 W; q in the file is half of it.
static char* make_record(double t0, uint64_t seed) {
  normal_noise noise = {.seed = seed};
  const size_t room = 64 + N_ROWS * 80;
  char* text = malloc(room);
  size_t used = (size_t)snprintf(text, room, "time,rig.t,rig.q\n");
  double temperature = 300 + 3 * 8;
  for (int k = 0; k < N_ROWS; k++) {
    const double q = (k / 60) % 2 == 0 ? 8 : 15, rest = 300 + 3 * q;
    used += (size_t)snprintf(text + used, room - used, "%.15g,%.6f,%.9g\n", t0 + 0.5 * k,
                             temperature + 0.1 * noise_next(&noise), q / 2);
    temperature = rest + (temperature - rest) * exp(-0.5 / (3 * 20));
  }
  return text;
}

static void open_record(double t0, yoke_twin_study* study) {
  YOKE_CATCH(err);
  char* text = make_record(t0, 7);
  if (open_study(text, study, &err) < 0) {
    fail_msg("%s", err.text);
  }
  free(text);
}

static void test_system(void** state) {
  (void)state;
  // seconds of the calendar have many digits
  static const double starts[] = {0, 12.3, 1763500000.125};
  for (int i = 0; i < 3; i++) {
    YOKE_CATCH(err);
    yoke_twin_study study;
    yoke_system* system = NULL;
    yoke_system_info info;
    yoke_unit_view unit;
    open_record(starts[i], &study);
    if (yoke__twin_study_system(&study, NULL, 0, starts[i] + 9.9, starts[i] + 50, &err.sink,
                                &system) < 0) {
      fail_msg("%s", err.text);
    }
    yoke_system_get_info(system, &info);
    check_near(info.t_start, starts[i] + 10, 1e-12 * starts[i]);
    check_near(info.t_stop, starts[i] + 50, 1e-12 * starts[i]);
    check_near(info.step, 0.5, 0);
    assert_int_equal(info.n_units, 2);
    assert_int_equal(info.n_connections, 2);
    yoke_system_get_unit(system, 0, &unit);
    assert_string_equal(unit.name, "rig");
    assert_int_equal(unit.info->n_variables, 2);
    yoke_system_destroy(&system);
    assert_int_equal(
        yoke__twin_study_system(&study, NULL, 0, starts[i] + 300, (double)NAN, &err.sink, &system),
        YOKE_BAD_INPUT);
    yoke__twin_study_close(&study);
  }
}

static void test_watch(void** state) {
  (void)state;
  YOKE_CATCH(err);
  yoke_twin_study study;
  yoke_system* system = NULL;
  yoke_simulation* simulation = NULL;
  yoke_twin_watch watch;
  static const char* const sets[] = {"units.twin.unknown.r1.start=3"};
  open_record(0, &study);
  if (yoke__twin_study_system(&study, sets, 1, (double)NAN, (double)NAN, &err.sink, &system) < 0 ||
      yoke_simulation_create(system, &err.sink, &simulation) < 0 ||
      yoke_simulation_start(simulation) < 0) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(yoke__twin_watch_begin(&watch, &study, simulation), YOKE_OK);
  while (!yoke_simulation_is_done(simulation)) {
    yoke__twin_watch_step(&watch);
    assert_true(yoke_simulation_step(simulation) >= 0);
  }
  yoke__twin_watch_end(&watch);
  assert_int_equal(watch.n_unknowns, 1);
  assert_int_equal(watch.n_sensors, 1);
  assert_int_equal(watch.sensors[0].n, N_ROWS - 1);
  const yoke_twin_value* r1 = &watch.unknowns[0];
  if (!(fabs(r1->value - 3) < 4 * r1->sd && r1->sd < 0.01)) {
    fail_msg("r1 = %g +- %g", r1->value, r1->sd);
  }
  // 160 readings behind the start: 3 standard deviations are 17 %
  check_near(watch.sensors[0].rms, watch.sensors[0].expected, 0.17 * watch.sensors[0].expected);
  yoke__twin_watch_free(&watch);
  yoke_simulation_destroy(&simulation);
  yoke_system_destroy(&system);
  yoke__twin_study_close(&study);
}

static void test_tuning(void** state) {
  (void)state;
  YOKE_CATCH(err);
  yoke_twin_study study;
  yoke_twin_tuning tuning;
  open_record(100, &study);
  if (yoke__twin_tune(&study, 120, 280, &tuning, &err.sink) < 0) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(tuning.n, 1);
  assert_int_equal(tuning.n_readings, 321);
  check_near(tuning.from, 120, 1e-12);
  check_near(tuning.to, 280, 1e-12);
  const yoke_twin_tuned* r1 = &tuning.all[0];
  if (!(fabs(r1->pass - 3) < 4 * r1->pass_sd && fabs(r1->fit - 3) < 4 * r1->fit_sd &&
        r1->pass_sd < 0.01 && r1->fit_sd < 0.01)) {
    fail_msg("r1 = %g +- %g, %g +- %g", r1->pass, r1->pass_sd, r1->fit, r1->fit_sd);
  }
  assert_true(tuning.is_agreed && tuning.is_converged && !tuning.takes_fit && !tuning.is_poor);
  check_near(tuning.fit_cost, 1, 0.3);  // chi-square of 321 readings: 4 standard deviations
  size_t n = 0;
  const char* const* sets = yoke__twin_tuning_sets(&tuning, &study, &n);
  assert_int_equal(n, 2);
  assert_int_equal(strncmp(sets[0], "units.twin.unknown.r1.start=", 28), 0);
  assert_int_equal(strncmp(sets[1], "units.twin.unknown.r1.sd=", 25), 0);
  yoke__twin_tuning_free(&tuning);
  yoke__twin_study_close(&study);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_columns), cmocka_unit_test(test_bad_records),
      cmocka_unit_test(test_system),  cmocka_unit_test(test_watch),
      cmocka_unit_test(test_tuning),
  };
  return cmocka_run_group_tests(tests, enter, leave);
}
