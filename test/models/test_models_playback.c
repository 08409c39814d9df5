// Playback of CSV files: interpolation, ends, and what is refused with which line.
#include "models/playback/playback.h"

#include <float.h>

#include "support/trial.h"

static const yoke_unit_ops* const ops = &yoke__model_playback;
static const char* const path = "test_models_playback.csv";  // in the directory of the test

static void write_file(const char* text) {
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static int remove_file(void** state) {
  (void)state;
  (void)remove(path);
  return 0;
}

// the settings a test changes; everything else has its default
typedef struct settings {
  int64_t interpolation, end;
  double offset;
} settings;

static void open_file(trial* d, const settings* s) {
  const yoke_argument arguments[] = {
      trial_texts("file", 1, &path),
      {"interpolation", YOKE_ENUMERATION, 1, 1, &s->interpolation},
      {"end", YOKE_ENUMERATION, 1, 1, &s->end},
      trial_matrix("offset", 1, 1, &s->offset),
  };
  trial_open(d, ops, arguments, 4);
}

static double value_at(trial* d, double t, const char* name) {
  trial_refresh(d, t);
  return trial_get(d, name);
}

enum { LINEAR, HOLD };
enum { END_HOLD, END_STOP, END_REPEAT };

static void test_linear(void** state) {
  (void)state;
  write_file("time,speed,\"torque, shaft\",note\n1,10,-1,a\n2,20,-3,b\n4,0,5,c\n");
  const settings s = {LINEAR, END_HOLD, 0.0};
  trial d;
  open_file(&d, &s);
  trial_check_description(&d);
  assert_int_equal(d.unit.n_y, 2);  // the text column does not play
  assert_int_equal(d.unit.n_u, 0);
  trial_start(&d, 1.0);
  check_near(trial_get(&d, "speed"), 10.0, 0.0);
  check_near(value_at(&d, 0.0, "speed"), 10.0, 0.0);  // before the first row: its value
  check_near(value_at(&d, 1.25, "speed"), 12.5, 1e-14);
  check_near(value_at(&d, 2.0, "speed"), 20.0, 0.0);
  check_near(value_at(&d, 3.0, "speed"), 10.0, 1e-14);
  check_near(value_at(&d, 3.0, "torque, shaft"), 1.0, 1e-14);
  check_near(value_at(&d, 4.0, "torque, shaft"), 5.0, 0.0);
  check_near(value_at(&d, 1e9, "torque, shaft"), 5.0, 0.0);

  // a step shows the end of the step, and asks for nothing
  const yoke_step_result result = trial_step(&d, 1.0, 0.5);
  check_near(trial_get(&d, "speed"), 15.0, 1e-14);
  assert_int_equal(result.flags & YOKE_STEP_END_WANTED, 0);
  trial_check_rollback(&d, 1.0, 0.3);
  trial_close(&d);
}

// linear interpolation is exact for straight lines and of second order for curves
static void test_interpolation_order(void** state) {
  (void)state;
  double coarse = 0.0;
  for (int i = 0; i < 4; i++) {
    const int n = 16 << i;
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    (void)fprintf(file, "time,line,curve\n");
    for (int k = 0; k <= n; k++) {
      const double t = (double)k / n;
      (void)fprintf(file, "%.17g,%.17g,%.17g\n", t, 3.0 - 2.0 * t, sin(6.0 * t));
    }
    assert_int_equal(fclose(file), 0);
    const settings s = {LINEAR, END_HOLD, 0.0};
    trial d;
    open_file(&d, &s);
    double worst = 0.0;
    for (int k = 0; k < 10 * n; k++) {
      const double t = (k + 0.5) / (10.0 * n);
      check_near(value_at(&d, t, "line"), 3.0 - 2.0 * t, 1e-14);
      worst = fmax(worst, fabs(value_at(&d, t, "curve") - sin(6.0 * t)));
    }
    trial_close(&d);
    if (i > 0) {
      check_near(log2(coarse / worst), 2.0, 0.15);
    }
    coarse = worst;
  }
}

// held values change with the step that reaches their row, whatever t + h rounds to
static void test_hold(void** state) {
  (void)state;
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  (void)fprintf(file, "time,k\n");
  for (int k = 0; k <= 3000; k++) {
    (void)fprintf(file, "%d.%d,%d\n", k / 10, k % 10, k);
  }
  assert_int_equal(fclose(file), 0);
  const settings s = {HOLD, END_HOLD, 0.0};
  trial d;
  open_file(&d, &s);
  trial_start(&d, 0.0);
  double sum = 0.0;
  for (int k = 0; k < 3000; k++) {
    (void)trial_step(&d, k * 0.1, 0.1);
    check_near(trial_get(&d, "k"), k + 1.0, 0.0);
    check_near(value_at(&d, (k + 0.5) * 0.1, "k"), k, 0.0);
    sum += 0.1;
  }
  check_between(fabs(sum - 300.0), 1e-13, 1e-9);  // summed times do miss rows: not used here
  trial_close(&d);
}

// A repeated time is a step: before it the line leads to the earlier row, from it on the later one holds.
static void test_step(void** state) {
  (void)state;
  write_file("time,u\n0,0\n1,2\n1,10\n2,12\n");
  const double eps = 4 * DBL_EPSILON;
  const settings s = {LINEAR, END_HOLD, 0.0};
  trial d;
  open_file(&d, &s);
  trial_start(&d, 0.0);
  check_near(value_at(&d, 0.5, "u"), 1.0, 0.0);
  check_near(value_at(&d, 0.999, "u"), 1.998, 1e-12);
  check_near(value_at(&d, 1.0, "u"), 10.0, 0.0);
  check_near(value_at(&d, 1.0 - eps, "u"), 10.0, 0.0);  // missed by rounding
  check_near(value_at(&d, 1.5, "u"), 11.0, 1e-14);
  check_near(value_at(&d, 2.0, "u"), 12.0, 0.0);
  trial_close(&d);

  // the same held, with a third row of that time; steps at the first and the last row
  write_file("time,u\n0,7\n0,0\n1,2\n1,5\n1,10\n2,12\n2,20\n");
  const settings hold = {HOLD, END_HOLD, 0.5};
  open_file(&d, &hold);
  trial_start(&d, 0.0);
  check_near(value_at(&d, 0.4, "u"), 7.0, 0.0);
  check_near(value_at(&d, 0.5, "u"), 0.0, 0.0);
  check_near(value_at(&d, 1.4, "u"), 0.0, 0.0);
  check_near(value_at(&d, 1.5, "u"), 10.0, 0.0);
  check_near(value_at(&d, 2.5, "u"), 20.0, 0.0);
  check_near(value_at(&d, 99.0, "u"), 20.0, 0.0);
  trial_close(&d);

  // a lap ends where the next one begins: the first time has its later row
  const settings repeat = {LINEAR, END_REPEAT, 0.0};
  open_file(&d, &repeat);
  trial_start(&d, 0.0);
  for (int lap = 0; lap < 10; lap++) {
    check_near(value_at(&d, 2.0 * lap, "u"), 0.0, 0.0);
    check_near(value_at(&d, 2.0 * lap + 1.75, "u"), 11.5, 1e-12);
  }
  trial_close(&d);
}

// ---- whole numbers, booleans, items, texts

static const char* const integers[] = {"gear", "far"};
static const char* const booleans[] = {"on"};
static const char* const enumerations[] = {"mode"};
static const char* const items[] = {"low", "middle range", "high"};
static const char* const strings[] = {"note"};

static void check_typed(trial* d, double t, int64_t gear, int64_t is_on, int64_t mode,
                        const char* note) {
  char text[64];
  trial_refresh(d, t);
  check_ok(yoke__unit_get(&d->unit, trial_index(d, "note"), text,
                          d->unit.info->variables[trial_index(d, "note")].max_size));
  if (trial_get_whole(d, "gear") != gear || trial_get_whole(d, "on") != is_on ||
      trial_get_whole(d, "mode") != mode || strcmp(text, note) != 0) {
    fail_msg("t = %g: gear %lld, on %lld, mode %lld, note '%s'", t,
             (long long)trial_get_whole(d, "gear"), (long long)trial_get_whole(d, "on"),
             (long long)trial_get_whole(d, "mode"), text);
  }
}

static void test_types(void** state) {
  (void)state;
  write_file("time,gear,on,u,mode,note,far\n"
             "0,-1,true,0,low,\"one, \"\"two\"\"\",9223372036854775807\n"
             "1,2.0,0,10, middle range ,x,-9223372036854775808\n"
             "1,3e2,1,20,high,\" a \",7\n"
             "2,4,FALSE,30,\"low\",bye,8\n");
  const int64_t gaps = 1;
  const yoke_argument arguments[] = {trial_texts("file", 1, &path),
                                     trial_texts("integers", 2, integers),
                                     trial_texts("booleans", 1, booleans),
                                     trial_texts("enumerations", 1, enumerations),
                                     trial_texts("items", 3, items),
                                     trial_texts("strings", 1, strings),
                                     trial_whole("gaps", &gaps)};
  trial d;
  trial_open(&d, ops, arguments, 7);
  trial_check_description(&d);
  static const yoke_type types[] = {YOKE_INTEGER,     YOKE_BOOLEAN, YOKE_REAL,
                                    YOKE_ENUMERATION, YOKE_STRING,  YOKE_INTEGER};
  assert_int_equal(d.unit.info->n_variables, 6);
  for (size_t i = 0; i < 6; i++) {
    assert_int_equal(d.unit.info->variables[i].type, types[i]);
  }
  assert_string_equal(d.unit.info->variables[3].items[1], "middle range");
  assert_string_equal(d.unit.info->variables[4].start_text, "one, \"two\"");
  assert_int_equal(d.unit.n_y, 1);
  trial_start(&d, 0.0);
  check_typed(&d, -1.0, -1, 1, 0, "one, \"two\"");
  check_typed(&d, 0.75, -1, 1, 0, "one, \"two\"");  // held, while u is on its way
  check_near(trial_get(&d, "u"), 7.5, 1e-14);
  check_typed(&d, 1.0, 300, 1, 2, " a ");
  check_typed(&d, 2.0, 4, 0, 0, "bye");
  assert_int_equal(trial_get_whole(&d, "far"), 8);
  trial_refresh(&d, 0.0);
  assert_true(trial_get_whole(&d, "far") == INT64_MAX);
  trial_check_rollback(&d, 0.5, 1.0);
  trial_close(&d);

  // a gap holds: an empty cell, and nan for numbers; texts have none
  write_file(
      "time,gear,on,u,mode,note,far\n0,,1,1,,first,1\n1,5,,2,high,,NaN\n2,nan,0,3,,\"\",3\n");
  trial_open(&d, ops, arguments, 7);
  trial_start(&d, 0.0);
  check_typed(&d, 0.0, 5, 1, 2, "first");
  check_typed(&d, 1.5, 5, 1, 2, "");
  check_typed(&d, 2.0, 5, 0, 2, "");
  yoke_sample_info info = {0};
  trial_refresh(&d, 2.0);
  check_ok(ops->sample_info(d.unit.self, trial_index(&d, "gear"), &info));
  assert_true(!info.is_valid && info.time_stamp == 1.0);
  trial_close(&d);
}

static void refuse_typed(const char* text, const char* part) {
  const yoke_argument arguments[] = {
      trial_texts("file", 1, &path),        trial_texts("integers", 1, integers),
      trial_texts("booleans", 1, booleans), trial_texts("enumerations", 1, enumerations),
      trial_texts("items", 3, items),       trial_texts("strings", 1, strings)};
  write_file(text);
  trial_refuses(ops, arguments, 6, part);
}

static void test_refused_types(void** state) {
  (void)state;
#define TYPED "time,gear,on,mode,note\n0,1,1,low,a\n"
  refuse_typed(TYPED "1,2.5,1,low,a\n",
               "test_models_playback.csv:3: error: the cell of column 'gear' is '2.5'; expected a "
               "whole number, since 'integers' names the column");
  refuse_typed(TYPED "1,1e300,1,low,a\n", "'1e300'; expected a whole number");
  refuse_typed(TYPED "1,nan,1,low,a\n", "'nan'; expected a whole number");
  refuse_typed(TYPED "1,2,2,low,a\n",
               ":3: error: the cell of column 'on' is '2'; expected true, false, 1 or 0");
  refuse_typed(TYPED "1,2,yes,low,a\n", "'yes'; expected true, false, 1 or 0");
  refuse_typed(TYPED "1,2,1,lower,a\n",
               ":3: error: the cell of column 'mode' is 'lower'; expected one of 'items'");
  refuse_typed(TYPED "1,2,1,,a\n",
               ":3: error: the cell of column 'mode' is empty; with 'gaps: hold'");
  refuse_typed("time,gear,on,mode\n0,1,1,low\n", "strings: test_models_playback.csv has no column "
                                                 "'note'");
  char text[5000], cell[4200];
  memset(cell, 'x', sizeof cell);
  cell[4096] = '\0';
  snprintf(text, sizeof text, TYPED "1,2,1,low,%s\n", cell);
  refuse_typed(text, "expected a text of at most 4095 bytes");

  static const char* const time[] = {"time"};
  static const char* const twice[] = {"low", "low"};
  static const char* const other[] = {"gear"};
  const yoke_argument file = trial_texts("file", 1, &path);
  write_file(TYPED);
  const yoke_argument is_time[] = {file, trial_texts("booleans", 1, time)};
  trial_refuses(ops, is_time, 2, "booleans: 'time' is the time");
  const yoke_argument both[] = {file, trial_texts("integers", 1, integers),
                                trial_texts("strings", 1, integers)};
  trial_refuses(ops, both, 3, "strings: 'gear' is named before: in integers");
  const yoke_argument no_items[] = {file, trial_texts("enumerations", 1, enumerations)};
  trial_refuses(ops, no_items, 2, "items: expected 1 to 1000 names");
  const yoke_argument no_enumerations[] = {file, trial_texts("items", 3, items)};
  trial_refuses(ops, no_enumerations, 2, "items: there are no 'enumerations'");
  const yoke_argument same[] = {file, trial_texts("enumerations", 1, enumerations),
                                trial_texts("items", 2, twice)};
  trial_refuses(ops, same, 3, "items: 'low' is there twice");
  const yoke_argument unplayed[] = {file, trial_texts("columns", 1, other),
                                    trial_texts("booleans", 1, booleans)};
  trial_refuses(ops, unplayed, 3, "'on' is in 'booleans', but not in 'columns'");
  write_file("time,gear,on,mode,note\n0,,1,low,a\n");
  const int64_t gaps = 1;
  const yoke_argument empty[] = {file, trial_texts("integers", 1, integers),
                                 trial_whole("gaps", &gaps)};
  trial_refuses(ops, empty, 3, "column 'gear' has no value");
}

static void test_offset_and_stop(void** state) {
  (void)state;
  write_file("time,u\n0,0\n1,10\n");
  const settings s = {LINEAR, END_STOP, 5.0};
  trial d;
  open_file(&d, &s);
  trial_start(&d, 0.0);
  check_near(value_at(&d, 4.9, "u"), 0.0, 0.0);
  check_near(value_at(&d, 5.25, "u"), 2.5, 1e-13);
  assert_int_equal(trial_step(&d, 5.8, 0.1).flags & YOKE_STEP_END_WANTED, 0);
  const yoke_step_result last = trial_step(&d, 5.9, 0.1);
  assert_int_equal(last.flags & YOKE_STEP_END_WANTED, YOKE_STEP_END_WANTED);
  check_contains(last.message, "recording ends");
  check_near(trial_get(&d, "u"), 10.0, 0.0);
  trial_close(&d);
}

static void test_repeat(void** state) {
  (void)state;
  write_file("time,u\n1,0\n1.5,5\n3,-4\n");
  const settings s = {LINEAR, END_REPEAT, 0.0};
  trial d;
  open_file(&d, &s);
  trial_start(&d, 0.0);
  check_near(trial_get(&d, "u"), 0.0, 0.0);
  for (int lap = 0; lap < 1000; lap++) {
    const double t = 1.0 + 2.0 * lap;
    check_near(value_at(&d, t, "u"), 0.0, 0.0);
    check_near(value_at(&d, t + 0.25, "u"), 2.5, 1e-9);
    check_near(value_at(&d, t + 0.5, "u"), 5.0, 1e-9);
    check_near(value_at(&d, t + 1.25, "u"), 0.5, 1e-9);
  }
  assert_int_equal(trial_step(&d, 10.0, 1.0).flags & YOKE_STEP_END_WANTED, 0);
  trial_close(&d);
}

static void test_chosen_columns(void** state) {
  (void)state;
  write_file("t [s],a,b,c\r\n0,1,2,3\r\n1,4,5,6\r\n");
  static const char* const time[] = {"t [s]"};
  static const char* const names[] = {"c", "a"};
  const yoke_argument arguments[] = {trial_texts("file", 1, &path), trial_texts("time", 1, time),
                                     trial_texts("columns", 2, names)};
  trial d;
  trial_open(&d, ops, arguments, 3);
  assert_int_equal(d.unit.n_y, 2);
  trial_start(&d, 0.0);
  double y[2] = {0.0, 0.0};
  check_ok(yoke__unit_get_outputs(&d.unit, y));
  assert_true(y[0] == 3.0 && y[1] == 1.0);  // in the order asked for
  trial_close(&d);

  // one row is a constant
  write_file("time,a\n3,7\n");
  const settings s = {LINEAR, END_HOLD, 0.0};
  open_file(&d, &s);
  check_near(value_at(&d, -1.0, "a"), 7.0, 0.0);
  check_near(value_at(&d, 99.0, "a"), 7.0, 0.0);
  trial_close(&d);
}

static void refuse(const char* text, const char* part) {
  const yoke_argument arguments[] = {trial_texts("file", 1, &path)};
  write_file(text);
  trial_refuses(ops, arguments, 1, part);
}

// ---- gaps: the last value holds, and the unit says which values are samples

static void check_sample(trial* d, double t, const char* name, double value, double stamp,
                         uint64_t sequence, bool is_valid) {
  yoke_sample_info info = {0};
  check_near(value_at(d, t, name), value, 1e-12);
  check_ok(d->unit.ops->sample_info(d->unit.self, trial_index(d, name), &info));
  if (info.is_valid != is_valid || info.sequence != sequence ||
      !(fabs(info.time_stamp - stamp) < 1e-9) ||
      !(fabs(info.age - (is_valid ? t - stamp : 0)) < 1e-9)) {
    fail_msg("%s at %g s: time stamp %g, age %g, sequence %llu, %svalid", name, t, info.time_stamp,
             info.age, (unsigned long long)info.sequence, info.is_valid ? "" : "not ");
  }
}

static void test_gaps(void** state) {
  (void)state;
  write_file("time,a,b,c\n1,5,,1\n2,,nan,2\n3,NaN,7,3\n4,9,8,4\n5,,,5\n");
  const int64_t hold = 1, interpolation[] = {LINEAR, HOLD};
  for (int i = 0; i < 2; i++) {
    const yoke_argument arguments[] = {trial_texts("file", 1, &path), trial_whole("gaps", &hold),
                                       trial_whole("interpolation", &interpolation[i])};
    const double half = i == 0 ? 0.5 : 0;
    trial d;
    trial_open(&d, ops, arguments, 3);
    assert_int_equal(d.unit.n_y, 3);
    trial_start(&d, 0);
    check_sample(&d, 0.0, "a", 5, 1, 0, false);  // there is no reading yet
    check_sample(&d, 1.0, "a", 5, 1, 0, true);
    check_sample(&d, 1.5, "a", 5, 1, 0, true);
    check_sample(&d, 2.0, "a", 5, 1, 1, false);
    check_sample(&d, 3.5, "a", 5, 1, 2, false);  // not on the way to 9
    check_sample(&d, 4.0, "a", 9, 4, 3, true);
    check_sample(&d, 4.5, "a", 9, 4, 3, true);
    check_sample(&d, 5.0, "a", 9, 4, 4, false);
    check_sample(&d, 9.0, "a", 9, 4, 4, false);
    // at the start there is nothing to hold but what comes
    check_sample(&d, 1.0, "b", 7, 1, 0, false);
    check_sample(&d, 3.5, "b", 7 + half, 3, 2, true);
    // a column without gaps
    check_sample(&d, 2.5, "c", 2 + half, 2, 1, true);
    check_sample(&d, 9.0, "c", 5, 5, 4, true);
    trial_close(&d);
  }
}

// every lap has numbers of its own
static void test_gaps_repeat(void** state) {
  (void)state;
  write_file("time,a\n1,5\n2,\n3,6\n");
  const int64_t hold = 1, interpolation = HOLD, repeat = END_REPEAT;
  const yoke_argument arguments[] = {trial_texts("file", 1, &path), trial_whole("gaps", &hold),
                                     trial_whole("interpolation", &interpolation),
                                     trial_whole("end", &repeat)};
  trial d;
  trial_open(&d, ops, arguments, 4);
  trial_start(&d, 0);
  for (int lap = 0; lap < 5; lap++) {
    const uint64_t first = 3 * (uint64_t)lap;
    check_sample(&d, 1 + 2 * lap, "a", 5, 1 + 2 * lap, first, true);
    check_sample(&d, 2.5 + 2 * lap, "a", 5, 1 + 2 * lap, first + 1, false);
  }
  trial_close(&d);
}

static void test_refused_gaps(void** state) {
  (void)state;
  const int64_t hold = 1;
  const yoke_argument arguments[] = {trial_texts("file", 1, &path), trial_whole("gaps", &hold)};
  write_file("time,u\n0,1\n1,abc\n");
  trial_refuses(ops, arguments, 2, ":3: error: the cell of column 'u' is not a finite number");
  write_file("time,u\n0,1\n1,inf\n");
  trial_refuses(ops, arguments, 2, ":3: error: the cell of column 'u' is not a finite number");
  write_file("time,u,v\n0,1,nan\n1,2,nan\n");
  trial_refuses(ops, arguments, 2, "column 'v' has no number");
  write_file("time,u\n0,1\n,2\n");
  trial_refuses(ops, arguments, 2, ":3: error: the cell of column 'time' is empty");
  write_file("time,u\n0,1\n2,2\n1,\n");
  trial_refuses(ops, arguments, 2, ":4: error: time 1 is before 2");
  // without the setting it is named
  refuse("time,u\n0,1\n1,\n", "; with 'gaps: hold' the last value holds");
}

static void test_refused_files(void** state) {
  (void)state;
  refuse("time,u\n0,1\n1,2\n0.5,3\n", ":4: error: time 0.5 is before 1 of the row before");
  refuse(
      "time,u\n0,1\n-1,2\n",
      ":3: error: time -1 is before 0 of the row before; expected times that increase, or repeat "
      "for a step");
  refuse("time,u\n0,1\n1,\n2,3\n", ":3: error: the cell of column 'u' is empty");
  refuse("time,u\n0,1\n,2\n", ":3: error: the cell of column 'time' is empty");
  refuse("time,u\n0,1\n1,2\n2,abc\n", ":4: error: the cell of column 'u' is not a finite number");
  refuse("time,u\n0,1\n1,inf\n", ":3: error: the cell of column 'u' is not a finite number");
  refuse("t,u\n0,1\n", "has no column 'time'; name its time column with 'time'");
  refuse("time,u\n", "has no rows");
  refuse("time,u\n0,1\n1\n", ":3: error: 1 cell");
  refuse("time,name\n0,a\n1,b\n",
         "has no column with numbers besides 'time'; name columns of other values in 'booleans', "
         "'enumerations' or 'strings'");
  refuse("time,u\n0,1\n1,on\n",
         ":3: error: the cell of column 'u' is not a finite number; name the "
         "column in 'booleans', 'enumerations' or 'strings'");
  // rows are counted in lines, whatever the cells before them contain
  refuse("time,u,note\n0,1,\"two\nlines\"\n1,x,a\n", ":4: error: the cell of column 'u'");
  refuse("time,u,u\n0,1,2\n", "column 'u' is there twice");
}

static void test_refused_settings(void** state) {
  (void)state;
  static const char* const missing[] = {"no/such/file.csv"};
  static const char* const wrong[] = {"speed", "spede"};
  const int64_t repeat = END_REPEAT;
  trial_refuses(ops, NULL, 0, "file is missing: expected the name of a CSV file");
  const yoke_argument no_file[] = {trial_texts("file", 1, missing)};
  trial_refuses(ops, no_file, 1, "no/such/file.csv");
  write_file("time,speed\n0,1\n");
  const yoke_argument no_column[] = {trial_texts("file", 1, &path),
                                     trial_texts("columns", 2, wrong)};
  trial_refuses(ops, no_column, 2, "has no column 'spede'");
  const yoke_argument too_short[] = {trial_texts("file", 1, &path),
                                     {"end", YOKE_ENUMERATION, 1, 1, &repeat}};
  trial_refuses(ops, too_short, 2, "'end: repeat' needs two rows or more with different times");
  write_file("time,speed\n3,1\n3,2\n");
  trial_refuses(ops, too_short, 2, "'end: repeat' needs two rows or more with different times");
  const double offset = (double)NAN;
  const yoke_argument bad_offset[] = {trial_texts("file", 1, &path),
                                      trial_matrix("offset", 1, 1, &offset)};
  trial_refuses(ops, bad_offset, 2, "offset: expected one finite number");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_linear),
      cmocka_unit_test(test_interpolation_order),
      cmocka_unit_test(test_hold),
      cmocka_unit_test(test_step),
      cmocka_unit_test(test_types),
      cmocka_unit_test(test_refused_types),
      cmocka_unit_test(test_offset_and_stop),
      cmocka_unit_test(test_repeat),
      cmocka_unit_test(test_chosen_columns),
      cmocka_unit_test(test_gaps),
      cmocka_unit_test(test_gaps_repeat),
      cmocka_unit_test(test_refused_gaps),
      cmocka_unit_test(test_refused_files),
      cmocka_unit_test(test_refused_settings),
  };
  return cmocka_run_group_tests(tests, NULL, remove_file);
}
