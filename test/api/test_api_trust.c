// Trust: bands and verdicts of signals and runs; verdicts of bonds, alarms, step times and health as the ledger and the methods
// have them.
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/api_helper.h"

// %s: step, then what follows `spring`
#define OSCILLATOR                                                                                 \
  "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 2, step: %s}\nunits:\n"                          \
  "  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {v: 1}}\n"               \
  "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {v: -1}}\n"                     \
  "connections: [right.x -> left.x_other]\n"                                                       \
  "bonds: {spring: {action: left.f -> right.f, rate: right.v -> left.v_other%s}}\n"

static yoke_simulation* run(const yoke_sink* sink, const char* step, const char* rest) {
  char text[1024];
  snprintf(text, sizeof text, OSCILLATOR, step, rest);
  yoke_simulation* sim = api_open(NULL, sink, text);
  check_ok(yoke_simulation_run(sim, NULL, NULL));
  return sim;
}

static void test_verdicts(void** state) {
  (void)state;
  yoke_simulation *fine = run(NULL, "1e-5", ""), *coarse = run(NULL, "0.02", "");
  yoke_bond_trust f, c, total;
  check_ok(yoke_simulation_get_bond(fine, 0, &f));
  assert_string_equal(f.name, "spring");
  assert_int_equal(f.verdict, YOKE_VERDICT_NONE);
  assert_string_equal(yoke_verdict_text(f.verdict), "not judged");
  check_contains(f.reason, "no sign of an energy error, and no error estimate");
  assert_true(f.explanation[0] != '\0' && f.n_samples >= 200000);
  assert_true(isfinite(f.given) && f.given != 0);
  assert_true(f.passed > 0 && f.energy > 0 && f.eps < 0.01);
  check_ok(yoke_simulation_get_bond(coarse, 0, &c));
  assert_int_equal(c.verdict, YOKE_WRONG);
  assert_string_equal(c.explanation, c.reason);
  assert_true(c.rho_mean > 10 * f.rho_mean);
  check_ok(yoke_simulation_get_bond(fine, 1, &total));
  assert_null(total.name);
  assert_true(isnan(total.given));
  check_relative(total.passed, f.passed, 1e-12);

  yoke_step_times times;
  check_ok(yoke_simulation_get_step_times(fine, &times));
  assert_true(times.n_timed > 0 && times.median_s > 0 && times.median_s <= times.p99_s);
  assert_true(times.p99_s <= times.max_s * 1.1 && times.real_time_factor > 0);
  api_close(&fine);
  api_close(&coarse);
}

static void test_alarms(void** state) {
  (void)state;
  HEAR(told);
  yoke_simulation* sim = run(&told.sink, "0.02", ", warn: {rho: 0.01}");
  yoke_alarm_view alarm;
  check_ok(yoke_simulation_get_alarm(sim, 0, &alarm));
  assert_int_equal(alarm.bond, 0);
  assert_string_equal(alarm.indicator, "rho");
  assert_true(alarm.is_given && !alarm.is_stop);
  check_near(alarm.limit, 0.01, 0);
  assert_true(alarm.value > 0.01 && alarm.worst >= alarm.value && alarm.from >= 0);
  assert_int_equal(yoke_simulation_get_alarm(sim, SIZE_MAX, &alarm), YOKE_BAD_ARG);
  check_contains(told.text, "quality limit");
  api_close(&sim);
}

// The limit that ended a run is its failure, whoever made the steps.
static void test_stop(void** state) {
  (void)state;
  char text[1024], first[512] = "";
  snprintf(text, sizeof text, OSCILLATOR, "0.02", ", stop: {rho: 0.01}, period: 0.1");
  for (int how = 0; how < 2; how++) {
    HEAR(told);
    yoke_simulation* sim = api_open(NULL, &told.sink, text);
    yoke_status status = YOKE_OK;
    while (status == YOKE_OK) {
      status = how == 0 ? yoke_simulation_run(sim, NULL, NULL) : yoke_simulation_step(sim);
    }
    assert_int_equal(status, YOKE_STOPPED);
    const yoke_message* failure = yoke_simulation_failure(sim);
    assert_non_null(failure);
    assert_int_equal(failure->status, YOKE_STOPPED);
    check_contains(failure->text, "quality limit: ");
    assert_null(failure->hint);
    if (how == 0) {
      snprintf(first, sizeof first, "%s", failure->text);
      check_contains(told.text, first);
    }
    assert_string_equal(failure->text, first);
    api_close(&sim);
  }
}

#define HEATING                                                                                    \
  "yoke: 1\ncalls: 1\ninputs: start\ntime: {stop: 10, step: 1}\nunits:\n"                          \
  "  T: {model: ramp, with: {slope: 1}}\n  i: {model: integrator}\nconnections: [T.y -> i.u]\n"    \
  "quality: {warn: {above: {T.y: 2}}, stop: {above: {i.x: 20}, below: {T.y: -1}}}\n"

// Limits of signals: known before the run, what became of them after it, the one that ended it as its failure.
static void test_limits(void** state) {
  (void)state;
  for (int how = 0; how < 2; how++) {
    HEAR(told);
    yoke_limit_view limit;
    yoke_simulation* sim = api_open(NULL, &told.sink, HEATING);
    check_ok(yoke_simulation_get_limit(sim, 0, &limit));
    assert_string_equal(limit.signal, "T.y");
    assert_true(limit.is_above && !limit.is_stop && limit.n_beyond == 0 && isnan(limit.time));
    yoke_run_info info = {.is_violated = true};
    yoke_status status = YOKE_OK;
    while (status == YOKE_OK) {
      status = how == 0 ? yoke_simulation_run(sim, NULL, &info) : yoke_simulation_step(sim);
    }
    assert_int_equal(status, YOKE_STOPPED);
    assert_true(info.is_violated);
    assert_string_equal(yoke_simulation_failure(sim)->text,
                        "quality limit: i.x is 21 at t = 7 s, above the stop limit of 20");
    check_ok(yoke_simulation_get_limit(sim, 0, &limit));
    assert_int_equal(limit.n_beyond, 5);
    assert_true(limit.time == 3 && limit.value == 3 && limit.worst_time == 7 && limit.worst == 7);
    check_ok(yoke_simulation_get_limit(sim, 1, &limit));
    assert_true(!limit.is_above && limit.is_stop && !limit.has_ended_run && limit.limit == -1);
    check_ok(yoke_simulation_get_limit(sim, 2, &limit));
    assert_true(limit.has_ended_run && limit.n_beyond == 1 && limit.value == 21);
    assert_int_equal(yoke_simulation_get_limit(sim, 3, &limit), YOKE_BAD_ARG);
    if (how == 0) {
      check_contains(told.text,
                     "error: quality limit: T.y is 3 at t = 3 s, above the warn limit of "
                     "2; highest 7 at t = 7 s");
      char* json = NULL;
      check_ok(yoke_simulation_summary(sim, &json));
      check_contains(json, "\"status\": \"stopped by a quality limit\"");
      check_contains(json, "\"ended_run\": true");
      check_contains(json, "\"steps_beyond\": 5");
      yoke_text_free(&json);
    }
    api_close(&sim);
  }
}

static void test_health(void** state) {
  (void)state;
  yoke_simulation* sim = run(NULL, "1e-3", ", coupling: {method: energy}");
  yoke_coupling_view coupling;
  double values[64];
  size_t n_with = 0;
  for (size_t i = 0; yoke_system_get_coupling(yoke_simulation_system(sim), i, &coupling) >= 0;
       i++) {
    const yoke_status status = yoke_simulation_get_health(sim, i, values, 64);
    if (coupling.ops->n_health == 0) {
      assert_int_equal(status, YOKE_NO_SUPPORT);
      continue;
    }
    check_ok(status);
    n_with++;
    for (size_t k = 0; k < coupling.ops->n_health; k++) {
      assert_true(isfinite(values[k]) && coupling.ops->health_names[k] != NULL);
    }
    assert_int_equal(yoke_simulation_get_health(sim, i, values, coupling.ops->n_health - 1),
                     YOKE_FULL);
  }
  assert_true(n_with <= 1);
  assert_int_equal(yoke_simulation_get_health(sim, SIZE_MAX, values, 64), YOKE_BAD_ARG);
  api_close(&sim);
}

static void test_bad_arguments(void** state) {
  (void)state;
  yoke_bond_trust bond;
  yoke_alarm_view alarm;
  yoke_limit_view limit;
  yoke_step_times times;
  double values[4];
  assert_int_equal(yoke_simulation_get_limit(NULL, 0, &limit), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_get_bond(NULL, 0, &bond), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_get_alarm(NULL, 0, &alarm), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_get_step_times(NULL, &times), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_get_health(NULL, 0, values, 4), YOKE_BAD_ARG);
  assert_string_equal(yoke_verdict_text((yoke_verdict)99), "");
  assert_string_equal(yoke_verdict_text((yoke_verdict)-1), "");
  static const char* const texts[] = {
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nunits: {r: {model: ramp}}\n"};
  yoke_simulation* sim = api_open(NULL, NULL, texts[0]);
  for (int is_started = 0; is_started < 2; is_started++) {
    assert_int_equal(yoke_simulation_get_bond(sim, 0, &bond), YOKE_BAD_ARG);  // there is none
    assert_int_equal(yoke_simulation_get_alarm(sim, 0, &alarm), YOKE_BAD_ARG);
    assert_int_equal(yoke_simulation_get_limit(sim, 0, &limit), YOKE_BAD_ARG);
    assert_int_equal(yoke_simulation_get_step_times(sim, NULL), YOKE_BAD_ARG);
    assert_int_equal(yoke_simulation_get_health(sim, 0, NULL, 4), YOKE_BAD_ARG);
    check_ok(yoke_simulation_get_step_times(sim, &times));
    check_near(times.real_time_factor, 0, 0);
    check_ok(yoke_simulation_start(sim));
  }
  api_close(&sim);
  sim = run(NULL, "1e-3", "");
  assert_int_equal(yoke_simulation_get_bond(sim, 0, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_get_bond(sim, 2, &bond), YOKE_BAD_ARG);
  api_close(&sim);
}

// ---- companions

#define CHAIN(stop)                                                                                \
  "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: " stop                                           \
  ", step: 0.01}\ntrust: {bands: true}\nunits:\n"                                                  \
  "  one: {model: state_space, with: {A: [[-1]], B: [[-4]], inputs: [u], outputs: [x], x0: "       \
  "[1]}}\n"                                                                                        \
  "  two: {model: state_space, with: {A: [[-2]], B: [[1]], inputs: [u], outputs: [x], x0: [0]}}\n" \
  "connections: [two.x -> one.u, one.x -> two.u]\n"
static const char chain[] = CHAIN("10");
static const yoke_run_settings both = {.trust = YOKE_TRUST_BOTH};

static bool has_trust(const yoke_simulation* sim) {
  char* summary = NULL;
  check_ok(yoke_simulation_summary(sim, &summary));
  const bool has = strstr(summary, "\"companions\": [") != NULL;
  yoke_text_free(&summary);
  return has;
}

static void check_no_verdict(const yoke_simulation* sim) {
  yoke_run_trust trust;
  yoke_signal_trust signal;
  size_t n = 7;
  assert_int_equal(yoke_simulation_get_trust(sim, &trust), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_get_signal(sim, 0, &signal), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_get_band(sim, 0, NULL, NULL, 0, &n), YOKE_BAD_ARG);
}

// Everything that can be asked for a run with two signals.
static void check_judged(const yoke_simulation* sim, yoke_run_trust* trust) {
  yoke_signal_trust signal;
  check_ok(yoke_simulation_get_trust(sim, trust));
  assert_int_equal(trust->n_signals, 2);
  assert_int_equal(trust->verdict, YOKE_TRUSTWORTHY);
  assert_false(trust->is_diverged || trust->is_wrong);
  assert_string_equal(trust->left_out, "");
  assert_int_equal(yoke_simulation_get_trust(sim, NULL), YOKE_BAD_ARG);
  for (size_t i = 0; i < 2; i++) {
    check_ok(yoke_simulation_get_signal(sim, i, &signal));
    assert_string_equal(signal.name, i == 0 ? "one.x" : "two.x");
    assert_true(signal.is_wanted && signal.dim != NULL && signal.reason[0] != '\0');
    assert_true(0 < signal.low && signal.low < signal.band && signal.band < signal.band_max);
    assert_true(0 <= signal.at_time && signal.at_time <= 10 && signal.digits >= 2);
    check_relative(signal.relative, signal.band / signal.scale, 1e-15);
  }
  assert_int_equal(yoke_simulation_get_signal(sim, 2, &signal), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_get_signal(sim, SIZE_MAX, &signal), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_get_signal(sim, 0, NULL), YOKE_BAD_ARG);
}

static void test_judge(void** state) {
  (void)state;
  HEAR(told);
  yoke_simulation* sim = api_open(NULL, &told.sink, chain);
  yoke_run_trust trust, again;
  assert_int_equal(yoke_simulation_judge(NULL, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_judge(sim, NULL), YOKE_BAD_ARG);
  check_contains(told.text, "there was no run to judge");
  check_no_verdict(NULL);
  check_no_verdict(sim);
  assert_int_equal(
      yoke_simulation_run(sim, &(yoke_run_settings){.trust = (yoke_trust_mode)99}, NULL),
      YOKE_BAD_ARG);
  check_ok(yoke_simulation_run(sim, &both, NULL));
  check_no_verdict(sim);
  assert_false(has_trust(sim));
  check_ok(yoke_simulation_judge(sim, &both));
  assert_true(has_trust(sim));
  check_judged(sim, &trust);
  check_ok(yoke_simulation_judge(sim, NULL));
  check_ok(yoke_simulation_get_trust(sim, &again));
  assert_ptr_equal(again.reason, trust.reason);
  assert_int_equal(yoke_simulation_run(sim, &both, NULL), YOKE_BAD_ARG);  // it is over
  check_judged(sim, &again);
  api_close(&sim);
}

static void test_bands(void** state) {
  (void)state;
  yoke_simulation* sim = api_open(NULL, NULL, chain);
  check_ok(yoke_simulation_run(sim, &both, NULL));
  check_ok(yoke_simulation_judge(sim, NULL));
  static double times[1100], bands[1100];
  double few_times[2] = {-1, -1}, few[2] = {-1, -1};
  size_t n = 0;
  check_ok(yoke_simulation_get_band(sim, 0, NULL, NULL, 0, &n));
  assert_int_equal(n, 1001);
  check_ok(yoke_simulation_get_band(sim, 0, times, bands, 1100, &n));
  assert_int_equal(n, 1001);
  check_near(times[0], 0, 0);
  check_near(times[1000], 10, 1e-12);
  yoke_signal_trust signal;
  check_ok(yoke_simulation_get_signal(sim, 0, &signal));
  double largest = 0;
  for (size_t k = 0; k < n; k++) {
    largest = fmax(largest, bands[k]);
  }
  check_relative(largest, signal.band_max, 1e-12);
  // no room, one point, two points: never beyond it
  check_ok(yoke_simulation_get_band(sim, 0, few_times, few, 0, &n));
  assert_int_equal(n, 0);
  check_near(few[0], -1, 0);
  check_ok(yoke_simulation_get_band(sim, 0, few_times, few, 1, &n));
  assert_int_equal(n, 1);
  check_near(few_times[0], 0, 0);
  check_near(few[1], -1, 0);
  check_ok(yoke_simulation_get_band(sim, 0, NULL, few, 2, &n));
  assert_int_equal(n, 2);
  check_near(few[0], bands[0], 0);
  check_near(few[1], bands[1000], 0);
  check_ok(yoke_simulation_get_band(sim, 0, few_times, NULL, 2, &n));
  check_near(few_times[1], 10, 1e-12);
  assert_int_equal(yoke_simulation_get_band(sim, 2, times, bands, 1100, &n), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_get_band(sim, 0, times, bands, 1100, NULL), YOKE_BAD_ARG);
  api_close(&sim);

  // without companions there is no band
  sim = api_open(NULL, NULL, chain);
  check_ok(yoke_simulation_run(sim, NULL, NULL));
  check_ok(yoke_simulation_judge(sim, NULL));
  assert_int_equal(yoke_simulation_get_band(sim, 0, times, bands, 1100, &n), YOKE_NO_SUPPORT);
  assert_int_equal(n, 0);
  check_ok(yoke_simulation_get_signal(sim, 0, &signal));
  assert_true(isnan(signal.band) && isnan(signal.at_time));
  assert_int_equal(signal.verdict, YOKE_VERDICT_NONE);
  api_close(&sim);
}

static bool has_file(const char* folder, const char* name) {
  char path[256];
  struct stat found;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return stat(path, &found) == 0;
}

static bool file_has(const char* folder, const char* name, const char* text) {
  char path[256], bytes[65536] = "";
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE* file = fopen(path, "r");
  assert_non_null(file);
  const size_t n = fread(bytes, 1, sizeof bytes - 1, file);
  (void)fclose(file);
  bytes[n] = '\0';
  return strstr(bytes, text) != NULL;
}

static void remove_results(const char* folder) {
  static const char* const names[] = {"results.csv", "summary.json", "bands.csv"};
  char path[256];
  for (size_t i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    (void)unlink(path);
  }
  assert_int_equal(rmdir(folder), 0);
}

// summary.json is complete before the verdict and written again with it; a later run has folders of its own.
static void test_judged_files(void** state) {
  (void)state;
  char folder[] = "/tmp/yoke-trust-XXXXXX";
  assert_non_null(mkdtemp(folder));
  yoke_simulation* sim = api_open(NULL, NULL, chain);
  const yoke_record_settings record = {.directory = folder};
  const yoke_run_settings settings = {.record = &record, .trust = YOKE_TRUST_BOTH};
  const size_t size = yoke_simulation_image_size(sim);
  void* start = malloc(size);
  assert_non_null(start);
  check_ok(yoke_simulation_save(sim, start, size));
  check_ok(yoke_simulation_run(sim, &settings, NULL));
  assert_true(file_has(folder, "summary.json", "\"status\": \"done\""));
  assert_false(file_has(folder, "summary.json", "\"companions\": ["));
  assert_false(has_file(folder, "bands.csv"));
  check_ok(yoke_simulation_judge(sim, &settings));
  assert_true(file_has(folder, "summary.json", "\"companions\": ["));
  assert_true(file_has(folder, "bands.csv", "time,band.one.x,band.two.x\n0,"));
  yoke_run_trust trust;
  check_judged(sim, &trust);

  // once more, with rows for a sink only: no file, and those of the first run stay
  check_ok(yoke_simulation_restore(sim, start, size));
  check_no_verdict(sim);
  assert_int_equal(yoke_simulation_judge(sim, NULL), YOKE_BAD_ARG);
  remove_results(folder);
  check_ok(yoke_simulation_run(sim, &both, NULL));
  check_ok(yoke_simulation_judge(sim, &both));
  check_judged(sim, &trust);
  assert_false(has_file(folder, "summary.json"));

  // not from the start: no companions, and it says so
  check_ok(yoke_simulation_restore(sim, start, size));
  check_ok(yoke_simulation_step(sim));
  check_ok(yoke_simulation_run(sim, &both, NULL));
  check_ok(yoke_simulation_judge(sim, &both));
  check_ok(yoke_simulation_get_trust(sim, &trust));
  assert_int_equal(trust.verdict, YOKE_VERDICT_NONE);
  check_contains(trust.reason, "the run did not begin at its start time");
  free(start);
  api_close(&sim);
}

typedef struct visitor {
  yoke_simulation* sim;
  int n_calls, n_judging;
  bool ends_run, writes, ends_judging;
} visitor;

static bool visit(void* to, const yoke_progress* progress) {
  visitor* v = to;
  double x = (double)NAN;
  v->n_calls++;
  // everything may be read here, nothing moved
  check_ok(yoke_simulation_read(v->sim, api_find(v->sim, "one.x"), &x));
  assert_true(isfinite(x));
  assert_int_equal(yoke_simulation_judge(v->sim, NULL), YOKE_BUSY);
  if (v->writes && progress->share < 1) {
    check_ok(yoke_simulation_declare_discontinuity(v->sim));
  }
  v->n_judging += progress->share >= 1;
  return !(v->ends_run && progress->share < 1) && !(v->ends_judging && progress->share >= 1);
}

static void test_progress(void** state) {
  (void)state;
  static const char text[] = CHAIN("1e4");
  static const char endless[] = CHAIN("1e6");  // ended by `progress`, however fast the machine is
  yoke_run_trust trust;
  // interrupted: judged at once, without companions; steps that follow have no verdict
  visitor v = {.ends_run = true};
  v.sim = api_open(NULL, NULL, endless);
  yoke_run_settings settings = {.trust = YOKE_TRUST_BOTH, .progress = visit, .to = &v};
  assert_int_equal(yoke_simulation_run(v.sim, &settings, NULL), YOKE_INTERRUPTED);
  check_ok(yoke_simulation_judge(v.sim, &settings));
  check_ok(yoke_simulation_get_trust(v.sim, &trust));
  assert_int_equal(trust.verdict, YOKE_VERDICT_NONE);
  check_ok(yoke_simulation_step(v.sim));
  check_no_verdict(v.sim);
  api_close(&v.sim);
  // something came from outside: companions know nothing of it
  v = (visitor){.writes = true};
  v.sim = api_open(NULL, NULL, text);
  check_ok(yoke_simulation_run(v.sim, &settings, NULL));
  check_ok(yoke_simulation_judge(v.sim, &settings));
  check_ok(yoke_simulation_get_trust(v.sim, &trust));
  if (v.n_calls > v.n_judging) {
    assert_int_equal(trust.verdict, YOKE_VERDICT_NONE);
    check_contains(trust.reason, "values were written during the run");
  }
  api_close(&v.sim);
  // nobody waits: no verdict, and asked again there is one without companions
  v = (visitor){.ends_judging = true};
  v.sim = api_open(NULL, NULL, text);
  check_ok(yoke_simulation_run(v.sim, &settings, NULL));
  const yoke_status status = yoke_simulation_judge(v.sim, &settings);
  if (v.n_judging > 0) {
    assert_int_equal(status, YOKE_INTERRUPTED);
    check_no_verdict(v.sim);
    assert_false(has_trust(v.sim));
  }
  check_ok(yoke_simulation_judge(v.sim, NULL));
  check_ok(yoke_simulation_get_trust(v.sim, &trust));
  api_close(&v.sim);
}

// Units of the program: `auto` does not call them again, and their companions are never stepped beside the run.
static void test_own_units(void** state) {
  (void)state;
  char text[1024];
  snprintf(text, sizeof text, TWO_PLANTS, "", "", "");
  yoke_registry* registry = api_registry();
  yoke_run_trust trust;
  yoke_simulation* sim = api_open(registry, NULL, text);
  check_ok(yoke_simulation_run(sim, &(yoke_run_settings){.trust = YOKE_TRUST_AUTO}, NULL));
  check_ok(yoke_simulation_judge(sim, NULL));
  check_ok(yoke_simulation_get_trust(sim, &trust));
  assert_int_equal(trust.verdict, YOKE_VERDICT_NONE);
  check_contains(trust.reason, "companions would call units of your own program again");
  api_close(&sim);
  sim = api_open(registry, NULL, text);
  check_ok(yoke_simulation_run(sim, &both, NULL));
  check_ok(yoke_simulation_judge(sim, NULL));
  check_ok(yoke_simulation_get_trust(sim, &trust));
  assert_int_not_equal(trust.verdict, YOKE_VERDICT_NONE);
  api_close(&sim);
  // values that were written before the start are unknown to companions
  sim = api_open(registry, NULL, text);
  api_write(sim, "a.u", 2);
  check_ok(yoke_simulation_run(sim, &both, NULL));
  check_ok(yoke_simulation_judge(sim, NULL));
  check_ok(yoke_simulation_get_trust(sim, &trust));
  check_contains(trust.reason, "values were written during the run");
  api_close(&sim);
  yoke_registry_destroy(&registry);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_verdicts),     cmocka_unit_test(test_alarms),
      cmocka_unit_test(test_stop),         cmocka_unit_test(test_limits),
      cmocka_unit_test(test_health),       cmocka_unit_test(test_bad_arguments),
      cmocka_unit_test(test_judge),        cmocka_unit_test(test_bands),
      cmocka_unit_test(test_judged_files), cmocka_unit_test(test_progress),
      cmocka_unit_test(test_own_units),
  };
  return cmocka_run_group_tests_name("api_trust", tests, NULL, NULL);
}
