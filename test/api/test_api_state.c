// Saving and going back: bit for bit, in memory and through a file, for every scheme, coupling method and kind of unit.
#include <unistd.h>

#include "api/api.h"
#include "support/check.h"
#include "support/counting_heap.h"
#include "support/heard.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_STEPS    200
#define ROOM         (1 << 20)

typedef struct sample {
  uint64_t hash;
  double t;
} sample;

typedef struct run {
  sample samples[MAX_STEPS];
  size_t n;
} run;

static uint64_t mix(uint64_t h, const void* bytes, size_t n) {
  const unsigned char* at = bytes;
  for (size_t i = 0; i < n; i++) {
    h = (h ^ at[i]) * UINT64_C(0x100000001b3);
  }
  return h;
}

// everything that can be seen: outputs, inputs, typed values, bonds
static uint64_t look(const yoke_simulation* s) {
  const yoke_system* system = s->system;
  const yoke_state* state = s->state;
  uint64_t h = mix(UINT64_C(0xcbf29ce484222325), &state->t, sizeof state->t);
  h = mix(h, state->y, system->n_y * sizeof(double));
  h = mix(h, state->u, system->n_u * sizeof(double));
  h = mix(h, state->v, system->n_typed_out);
  h = mix(h, &state->iteration, sizeof state->iteration);
  if (state->ledger != NULL) {
    h = mix(h, state->ledger_values, (system->n_bonds + 1) * YOKE_LEDGER_N_VALUES * sizeof(double));
    for (size_t i = 0; i < system->n_bonds; i++) {
      yoke_ledger_result r;
      yoke__ledger_result(state->ledger, i, &r);
      const double shown[] = {r.residual, r.created,   r.eps,        r.eps_worst,
                              r.rho_mean, r.rho_worst, r.rter_worst, (double)r.n_warnings};
      h = mix(h, shown, sizeof shown);
      h = mix(h, r.reason, strlen(r.reason));
    }
  }
  return h;
}

static void run_on(yoke_simulation* s, run* out) {
  out->n = 0;
  while (out->n < MAX_STEPS && !yoke_simulation_is_done(s)) {
    const yoke_status status = yoke_simulation_step(s);
    if (status < 0) {
      fail_msg("step failed: %s", yoke_simulation_failure(s)->text);
    }
    out->samples[out->n++] = (sample){look(s), yoke_simulation_time(s)};
  }
}

static void check_same(const char* name, const char* how, const run* want, const run* got) {
  assert_int_equal(want->n, got->n);
  for (size_t i = 0; i < want->n; i++) {
    if (want->samples[i].hash != got->samples[i].hash) {
      fail_msg("%s: %s: step %zu of %zu (t = %g s) differs", name, how, i + 1, want->n,
               want->samples[i].t);
    }
  }
}

// to about half of the run, or MAX_STEPS steps before its end
static void run_to_half(yoke_simulation* s) {
  const int64_t n = s->system->n_slots / s->system->macro_slots / 2;
  for (int64_t i = 0; i < n && i < MAX_STEPS && !yoke_simulation_is_done(s); i++) {
    check_ok(yoke_simulation_step(s));
  }
}

static char* make_path(const char* name) {
  static char path[1024];
  const char* folder = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/yoke-state-%ld-%s", folder == NULL ? "/tmp" : folder,
           (long)getpid(), name);
  return path;
}

typedef struct source {
  const char* path;  // NULL: text
  const char* text;
  const char* const* sets;
  size_t n_sets;
} source;

static yoke_simulation* open_source(const source* from, heard* told) {
  const yoke_load_settings settings = {
      .sink = &told->sink, .sets = from->sets, .n_sets = from->n_sets};
  yoke_simulation* s = NULL;
  if (from->path != NULL) {
    if (yoke_simulation_load(from->path, &settings, &s) < 0) {
      fail_msg("%s: %s", from->path, told->text);
    }
    return s;
  }
  yoke_system* system = NULL;
  if (yoke_system_parse(from->text, strlen(from->text), "test.yaml", &settings, &system) < 0) {
    fail_msg("%s", told->text);
  }
  check_ok(yoke_simulation_create(system, &told->sink, &s));
  s->owns_system = true;
  return s;
}

// half, save, end, back, end: the same; the same again in a fresh simulation from a file
static void check_source(const char* name, const source* from) {
  HEAR(told);
  run* want = calloc(1, sizeof *want);
  run* got = calloc(1, sizeof *got);
  yoke_simulation* s = open_source(from, &told);
  run_to_half(s);
  const size_t size = yoke_simulation_image_size(s);
  if (size == 0) {
    fail_msg("%s: %s", name, told.text);
  }
  // NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI): not 0, see above
  unsigned char* image = malloc(size);
  memset(image, 0x5a, size);  // it needs no preparation
  const char* path = make_path("checkpoint");
  check_ok(yoke_simulation_save(s, image, size));
  check_ok(yoke_simulation_checkpoint(s, path));
  const double t = yoke_simulation_time(s);
  const int64_t n_steps = s->loop.n_steps;
  run_on(s, want);
  assert_true(want->n > 0);

  // twice: a second save into the same image, and from the end of the run
  for (int i = 0; i < 2; i++) {
    check_ok(yoke_simulation_restore(s, image, size));
    assert_true(yoke_simulation_time(s) == t);
    assert_int_equal(s->loop.n_steps, n_steps);
    check_ok(yoke_simulation_save(s, image, size));
    run_on(s, got);
    check_same(name, "restored", want, got);
  }
  yoke_simulation_destroy(&s);

  yoke_simulation* other = open_source(from, &told);
  if (yoke_simulation_resume(other, path) < 0) {
    fail_msg("%s: %s", name, told.text);
  }
  assert_true(yoke_simulation_time(other) == t);
  assert_int_equal(other->loop.n_steps, n_steps);
  run_on(other, got);
  check_same(name, "resumed", want, got);
  // and one that has gone somewhere else before
  check_ok(yoke_simulation_resume(other, path));
  run_on(other, got);
  check_same(name, "resumed again", want, got);
  yoke_simulation_destroy(&other);
  remove(path);
  free(image);
  free(want);
  free(got);
}

// ---- systems

static const char* scenario(const char* name) {
  static char path[1024];
  snprintf(path, sizeof path, "%s/scenarios/%s", getenv("YOKE_SOURCE_DIR"), name);
  return path;
}

static void test_scenarios(void** state) {
  (void)state;
  static const char* const names[] = {
      "linear-oscillator/jacobi.yaml",
      "linear-oscillator/fresh.yaml",
      "linear-oscillator/gauss-seidel.yaml",
      "linear-oscillator/iterative.yaml",
      "linear-oscillator/hold-end.yaml",
      "linear-oscillator/quasi-newton.yaml",
      "linear-oscillator/spring-unit.yaml",
      "linear-oscillator/corrected.yaml",
      "linear-oscillator/corrected-multirate.yaml",
      "linear-oscillator/multirate-hold.yaml",
      "linear-oscillator/multirate-linear.yaml",
      "linear-oscillator/multirate-force.yaml",
      "nonlinear-oscillator/case1.yaml",
      "rotational-oscillator/gauss-seidel-2.yaml",
      "rotational-oscillator/fresh.yaml",
      "three-rate-chain/chain.yaml",
      "two-pendula/corrected.yaml",
      "two-pendula/lagrangian.yaml",
      "typed-signals/typed.yaml",
      "blocks/blocks.yaml",
      "hydraulic-crane/crane-corrected.yaml",
      "hydraulic-crane/crane-foh.yaml",
      "engine-test-bench/vehicle.yaml",
      "dual-mass/nonlinear-nepce.yaml",
      "coupling-element/masses.yaml",
      "steering-delay/adaptive.yaml",
      "steering-delay/bad-link.yaml",
      "steering/delayed-hinf.yaml",
      "helicopter/nepce.yaml",
      "electric-drive/drive.yaml",
      "circuits/rlc.cir",
      "circuits/rectifier.cir",
      "circuits/pmsm.cir",
      "circuits/ladder-10.cir",
  };
  for (size_t i = 0; i < COUNT(names); i++) {
    const source from = {.path = scenario(names[i])};
    check_source(names[i], &from);
  }
}

#define OSCILLATOR                                                                                 \
  "units:\n"                                                                                       \
  "  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {x: 0, v: 100}%s}\n"     \
  "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {x: 0, v: -100}%s}\n"           \
  "connections:\n"                                                                                 \
  "  - {from: right.x, to: left.x_other%s}\n"                                                      \
  "bonds:\n"                                                                                       \
  "  spring: {action: left.f -> right.f, rate: right.v -> left.v_other%s}\n"

static void check_oscillator(const char* name, const char* lines, const char* left,
                             const char* right, const char* connection, const char* bond) {
  char text[4096];
  size_t n = (size_t)snprintf(
      text, sizeof text, "yoke: 1\ninputs: start\ncalls: 1\n%s%s",
      strstr(lines, "time:") != NULL ? "" : "time: {stop: 0.4, step: 1e-3}\n", lines);
  snprintf(text + n, sizeof text - n, OSCILLATOR, left, right, connection, bond);
  const source from = {.text = text};
  check_source(name, &from);
}

static void test_settings(void** state) {
  (void)state;
  check_oscillator("threads", "threads: 2\n", "", "", "", "");
  check_oscillator("delay", "", "", "", ", delay: 5e-3", "");
  check_oscillator("iteration with mean inputs", "scheme: iterative-jacobi\n", "", ", step: 2.5e-4",
                   "", "");
  check_oscillator("iteration, threads",
                   "scheme: iterative-jacobi\nthreads: 2\niteration: {update: aitken}\n",
                   ", step: 5e-4", "", "", "");
  check_oscillator("delay, Gauss-Seidel", "scheme: gauss-seidel\n", "", "", ", delay: 3e-3", "");
  check_oscillator("slow unit", "", ", step: 4e-3", "", "", "");
  check_oscillator("slow unit, Gauss-Seidel", "scheme: gauss-seidel\n", ", step: 4e-3", "", "", "");
  check_oscillator("interpolate", "", ", step: 1e-4", ", step: 1e-4", "",
                   ", coupling: {method: interpolate}");
  check_oscillator("nepce", "", "", ", step: 1e-4", "", ", coupling: {method: nepce, order: 1}");
  check_oscillator("energy", "", "", "", "", ", coupling: {method: energy}");
  check_oscillator("order 3", "", "", "", ", order: 3", "");
  check_oscillator("adaptive", "time: {stop: 1, step: {min: 1e-4, max: 3e-3, rho: 0.05}}\n", "", "",
                   "", "");
  check_oscillator("limits", "quality: {warn: {rho: 0.01}, stop: {rho: 10}}\n", "", "", "", "");
}

// models that are identified, loaded, made beside the steps or provided, with their fallbacks
static void test_models(void** state) {
  (void)state;
  static const char* const names[] = {
      "dual-mass/mpsm.yaml",         "dual-mass/nonlinear-mpsm-ede.yaml",
      "dual-mass/provided.yaml",     "dual-mass/pulsed-loaded.yaml",
      "dual-mass/pulsed-learn.yaml", "helicopter/mpsm.yaml",
      "helicopter/mpsm-memory.yaml",
  };
  for (size_t i = 0; i < COUNT(names); i++) {
    const source from = {.path = scenario(names[i])};
    check_source(names[i], &from);
  }
  static const char* const sets[][4] = {
      {"couplings.loop.method=mbcorr"},
      {"couplings.loop.jacobians=moesp", "couplings.loop.learning=110"},
      {"couplings.loop.form=memory", "couplings.loop.level=mean"},
  };
  for (size_t i = 0; i < COUNT(sets); i++) {
    size_t n = 0;
    while (n < COUNT(sets[i]) && sets[i][n] != NULL) {
      n++;
    }
    const source from = {
        .path = scenario("dual-mass/pulsed-mpsm.yaml"), .sets = sets[i], .n_sets = n};
    check_source(sets[i][0], &from);
  }
}

// ---- foreign units

static const char* fmus(void) {
  const char* path = getenv("YOKE_FMUS");
  assert_non_null(path);
  return path;
}

static void check_solo(const char* fmu, const char* options) {
  char text[2048];
  snprintf(text, sizeof text,
           "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 3, step: 1e-2}\nunits:\n  x: {fmu: "
           "'%s/%s.fmu'%s}\n",
           fmus(), fmu, options);
  const source from = {.text = text};
  check_source(fmu, &from);
}

static void test_fmus(void** state) {
  (void)state;
  char text[2048];
  for (int version = 2; version <= 3; version++) {
    snprintf(text, sizeof text,
             "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 0.4, step: 1e-3}\n"
             "units:\n"
             "  left: {fmu: '%s/oscillator_force%d.fmu', with: {m: 1, k: 10, kc: 100}, start: {v: "
             "100}}\n"
             "  right: {fmu: '%s/oscillator_mass%d.fmu', with: {m: 1, k: 1000}, start: {v: -100}}\n"
             "connections:\n  - right.x -> left.x_other\n"
             "bonds:\n"
             "  spring: {action: left.f -> right.f, rate: right.v -> left.v_other}\n",
             fmus(), version, fmus(), version);
    const source from = {.text = text};
    check_source("FMUs", &from);
  }
  // trial steps
  for (int i = 0; i < 4; i++) {
    snprintf(text, sizeof text,
             "yoke: 1\ncalls: 1\ntime: {stop: 0.4, step: 1e-3}\n%s\n"
             "units:\n"
             "  left: {fmu: '%s/reread%d.fmu', with: {kc: 100}, start: {v: 100}}\n"
             "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {v: -100}}\n"
             "connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f]\n",
             i < 2 ? "exchange: fresh" : "scheme: iterative-jacobi", fmus(), 2 + i % 2);
    const source from = {.text = text};
    check_source("trial steps", &from);
  }
  check_solo("vanderpol2", "");
  check_solo("vanderpol3", "");
  check_solo("dahlquist2", "");
  check_solo("dahlquist3", "");
  check_solo("ball2", "");
  check_solo("ball3", "");
  check_solo("stairs_me2", "");
  check_solo("stairs3", "");
}

// in a process of their own
static void test_isolated(void** state) {
  (void)state;
  check_oscillator("isolated model", "", ", isolate: process", "", "", "");
  check_solo("vanderpol2", ", isolate: process");
}

// ---- what cannot be saved is named

static void test_named(void** state) {
  (void)state;
  char text[1024];
  unsigned char image[64] = {0};
  // can neither save nor write its state
  HEAR(told);
  snprintf(text, sizeof text,
           "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 1e-2}\nunits:\n  first: "
           "{model: sine}\n"
           "  poor: {fmu: '%s/trivial2.fmu'}\n",
           fmus());
  source from = {.text = text};
  yoke_simulation* s = open_source(&from, &told);
  assert_int_equal(yoke_simulation_image_size(s), 0);
  check_contains(told.text, "unit 'poor': cannot be saved: ");
  heard_clear(&told);
  assert_int_equal(yoke_simulation_save(s, image, sizeof image), YOKE_NO_SUPPORT);
  check_contains(told.text, "unit 'poor': cannot be saved: ");
  heard_clear(&told);
  assert_int_equal(yoke_simulation_checkpoint(s, make_path("none")), YOKE_NO_SUPPORT);
  assert_int_equal(yoke_simulation_resume(s, make_path("none")), YOKE_NO_SUPPORT);
  check_contains(told.text, "unit 'poor': cannot be saved: ");
  assert_int_equal(access(make_path("none"), F_OK), -1);
  check_ok(yoke_simulation_step(s));
  yoke_simulation_destroy(&s);

  // can save, but not write
  heard_clear(&told);
  snprintf(text, sizeof text,
           "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 1e-2}\nunits:\n  m: {fmu: "
           "'%s/medley2.fmu'}\n",
           fmus());
  s = open_source(&from, &told);
  const size_t size = yoke_simulation_image_size(s);
  assert_true(size > 0);
  // NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI): not 0, see above
  void* kept = malloc(size);
  check_ok(yoke_simulation_step(s));
  check_ok(yoke_simulation_save(s, kept, size));
  const uint64_t want = look(s);
  check_ok(yoke_simulation_step(s));
  check_ok(yoke_simulation_restore(s, kept, size));
  assert_true(look(s) == want);
  assert_int_equal(yoke_simulation_checkpoint(s, make_path("none")), YOKE_NO_SUPPORT);
  check_contains(told.text,
                 "unit 'm': cannot be saved: it has no state that another process can read");
  free(kept);
  yoke_simulation_destroy(&s);
}

// ---- wrong calls and wrong files

#define SINE                                                                                       \
  "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: %s, step: 1e-2}\nunits:\n"                       \
  "  s: {model: sine}\n  %s: {model: gain}\n"                                                      \
  "connections:\n  - {from: s.y, to: %s.u, delay: 3e-2%s}\n"

static yoke_simulation* open_sine(const char* stop, const char* name, const char* gain,
                                  heard* told) {
  char text[1024];
  snprintf(text, sizeof text, SINE, stop, name, name, gain);
  const source from = {.text = text};
  return open_source(&from, told);
}

static void test_wrong_calls(void** state) {
  (void)state;
  HEAR(told);
  unsigned char small[8] = {0};
  assert_int_equal(yoke_simulation_image_size(NULL), 0);
  assert_int_equal(yoke_simulation_save(NULL, small, sizeof small), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_restore(NULL, small, sizeof small), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_checkpoint(NULL, "x"), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_resume(NULL, "x"), YOKE_BAD_ARG);

  yoke_simulation* s = open_sine("1", "g", "", &told);
  yoke_simulation* other = open_sine("1", "g", "", &told);
  assert_int_equal(yoke_simulation_restore(s, small, sizeof small), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_checkpoint(s, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_resume(s, ""), YOKE_BAD_ARG);
  const size_t size = yoke_simulation_image_size(s);
  assert_int_equal(yoke_simulation_image_size(other), size);
  unsigned char* image = calloc(1, size);
  assert_int_equal(yoke_simulation_save(s, image, size - 1), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_save(s, NULL, size), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_restore(s, image, size), YOKE_BAD_ARG);
  check_ok(yoke_simulation_save(s, image, size));
  assert_int_equal(yoke_simulation_restore(s, image, size - 1), YOKE_BAD_ARG);
  assert_int_equal(yoke_simulation_restore(s, NULL, size), YOKE_BAD_ARG);
  heard_clear(&told);
  assert_int_equal(yoke_simulation_restore(other, image, size), YOKE_BAD_ARG);
  check_contains(told.text, "this is not an image of this simulation");

  // not while it records; the recording goes on
  const char* folder = make_path("results");
  check_ok(yoke_simulation_record(s, &(yoke_record_settings){.directory = folder}));
  check_ok(yoke_simulation_step(s));
  heard_clear(&told);
  assert_int_equal(yoke_simulation_restore(s, image, size), YOKE_BAD_ARG);
  check_contains(told.text, "it records");
  assert_true(yoke_simulation_time(s) > 0);
  yoke_record_info info;
  check_ok(yoke_simulation_record_stop(s, &info));
  check_ok(yoke_simulation_restore(s, image, size));
  assert_true(yoke_simulation_time(s) == 0);
  char command[1100];
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  assert_int_equal(system(command), 0);

  // from its end, where a step is refused, back to a run
  check_ok(yoke_simulation_run(s, NULL, NULL));
  assert_int_equal(yoke_simulation_step(s), YOKE_BAD_ARG);
  check_ok(yoke_simulation_restore(s, image, size));
  check_ok(yoke_simulation_run(s, NULL, NULL));
  free(image);
  yoke_simulation_destroy(&s);
  yoke_simulation_destroy(&other);
}

// a run that failed goes on from where it was saved; itself it cannot be saved
static void test_failed(void** state) {
  (void)state;
  HEAR(told);
  const source from = {.text =
                           "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 1e-2}\nunits:\n"
                           "  x: {model: integrator, with: {k: 1e6}, start: {x: 1}}\n"
                           "connections: [x.y -> x.u]\n"};
  yoke_simulation* s = open_source(&from, &told);
  const size_t size = yoke_simulation_image_size(s);
  void* image = malloc(size);
  check_ok(yoke_simulation_step(s));
  check_ok(yoke_simulation_save(s, image, size));
  const double t = yoke_simulation_time(s);
  double t_failed[2];
  for (int i = 0; i < 2; i++) {
    assert_int_equal(yoke_simulation_run(s, NULL, NULL), YOKE_DIVERGED);
    t_failed[i] = yoke_simulation_time(s);
    assert_non_null(yoke_simulation_failure(s));
    assert_int_equal(yoke_simulation_save(s, image, size), YOKE_BAD_ARG);
    assert_int_equal(yoke_simulation_checkpoint(s, make_path("none")), YOKE_BAD_ARG);
    check_ok(yoke_simulation_restore(s, image, size));
    assert_true(yoke_simulation_time(s) == t);
    assert_null(yoke_simulation_failure(s));
  }
  assert_true(t_failed[0] == t_failed[1] && t_failed[0] > t);
  check_ok(yoke_simulation_step(s));
  free(image);
  yoke_simulation_destroy(&s);
}

// a write that waits is part of what is saved, and forgotten where one goes back
static void test_mail(void** state) {
  (void)state;
  HEAR(told);
  yoke_simulation* s = open_sine("1", "g", "", &told);
  yoke_handle k, y;
  double value = 0;
  check_ok(yoke_simulation_find(s, "g.k", &k));
  check_ok(yoke_simulation_find(s, "g.y", &y));
  for (int i = 0; i < 10; i++) {
    check_ok(yoke_simulation_step(s));
  }
  const size_t size = yoke_simulation_image_size(s);
  void* image = malloc(size);
  check_ok(yoke_simulation_write(s, k, 3));
  check_ok(yoke_simulation_save(s, image, size));
  check_ok(yoke_simulation_step(s));
  check_ok(yoke_simulation_read(s, y, &value));
  const double want = value;
  assert_true(want != 0);
  check_ok(yoke_simulation_write(s, k, 7));
  check_ok(yoke_simulation_restore(s, image, size));
  check_ok(yoke_simulation_step(s));
  check_ok(yoke_simulation_read(s, y, &value));
  assert_true(value == want);
  check_ok(yoke_simulation_read(s, k, &value));
  assert_true(value == 3);
  free(image);
  yoke_simulation_destroy(&s);
}

static void write_bytes(const char* path, const unsigned char* bytes, size_t n) {
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, n, file), n);
  fclose(file);
}

static void check_refused(yoke_simulation* s, const char* path, const char* why, heard* told) {
  const double t = yoke_simulation_time(s);
  heard_clear(told);
  assert_int_equal(yoke_simulation_resume(s, path), YOKE_BAD_INPUT);
  check_contains(told->text, why);
  // the path is the message's file, not a part of its text
  assert_int_equal(strncmp(told->text, path, strlen(path)), 0);
  assert_null(strstr(told->text + strlen(path), path));
  assert_true(yoke_simulation_time(s) == t);
}

static void test_wrong_files(void** state) {
  (void)state;
  HEAR(told);
  char path[1024], bad[1024];
  snprintf(path, sizeof path, "%s", make_path("good"));
  snprintf(bad, sizeof bad, "%s", make_path("bad"));
  yoke_simulation* s = open_sine("1", "g", "", &told);
  for (int i = 0; i < 20; i++) {
    check_ok(yoke_simulation_step(s));
  }
  check_ok(yoke_simulation_checkpoint(s, path));
  // the path is the message's file
  heard_clear(&told);
  assert_int_equal(yoke_simulation_checkpoint(s, "/no/such/folder/x"), YOKE_IO);
  assert_string_equal(told.text, "/no/such/folder/x: error: cannot write the checkpoint: No such "
                                 "file or directory\n");
  heard_clear(&told);
  assert_int_equal(yoke_simulation_checkpoint(s, "/tmp"), YOKE_IO);
  assert_string_equal(told.text, "/tmp: error: cannot write the checkpoint: Is a directory\n");
  heard_clear(&told);
  assert_int_equal(yoke_simulation_resume(s, "/no/such/file"), YOKE_IO);
  assert_string_equal(
      told.text, "/no/such/file: error: cannot open the checkpoint: No such file or directory\n");
  heard_clear(&told);
  assert_int_equal(yoke_simulation_resume(s, "/"), YOKE_IO);
  assert_string_equal(told.text, "/: error: the checkpoint is a folder, a file was expected\n");
  check_ok(yoke_simulation_step(s));

  unsigned char* bytes = malloc(ROOM);
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  const size_t n = fread(bytes, 1, ROOM, file);
  fclose(file);
  // cut anywhere, or a byte changed anywhere: refused, and nothing has changed
  for (size_t i = 0; i < n; i += 1 + n / 97) {
    write_bytes(bad, bytes, i);
    check_refused(s, bad, i < 128 ? "" : "damaged", &told);
    bytes[i] ^= 0x10;
    write_bytes(bad, bytes, n);
    check_refused(s, bad, i < 128 ? "" : "damaged", &told);
    bytes[i] ^= 0x10;
  }
  write_bytes(bad, (const unsigned char*)"time,x\n0,1\n", 11);
  check_refused(s, bad, "this is not a checkpoint of Yoke", &told);
  yoke_simulation_destroy(&s);

  // another system, other settings
  const source louder = {
      .text = "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 1e-2}\nunits:\n"
              "  s: {model: sine, with: {amplitude: 3}}\n  g: {model: gain}\n"
              "connections:\n  - {from: s.y, to: g.u, delay: 3e-2}\n"};
  yoke_simulation* others[] = {open_sine("1", "h", "", &told),
                               open_sine("1", "g", ", gain: 2", &told),
                               open_source(&louder, &told)};
  for (size_t i = 0; i < COUNT(others); i++) {
    check_refused(others[i], path, "of another system, or of one with other settings", &told);
    yoke_simulation_destroy(&others[i]);
  }
  // a run that would be over before it begins
  s = open_sine("0.1", "g", "", &told);
  check_refused(s, path, "the checkpoint is of t = 0.2 s, after the stop time 0.1 s", &told);
  yoke_simulation_destroy(&s);
  // at the very end it is complete
  s = open_sine("0.2", "g", "", &told);
  check_ok(yoke_simulation_resume(s, path));
  assert_true(yoke_simulation_is_done(s));
  yoke_simulation_destroy(&s);
  // a later end is no other system: it goes on
  s = open_sine("2", "g", "", &told);
  check_ok(yoke_simulation_resume(s, path));
  check_near(yoke_simulation_time(s), 0.2, 1e-12);
  check_ok(yoke_simulation_run(s, NULL, NULL));
  check_near(yoke_simulation_time(s), 2, 1e-9);
  yoke_simulation_destroy(&s);
  remove(path);
  remove(bad);
  free(bytes);
}

static yoke_simulation* open_pair(heard* told) {
  const source from = {.text =
                           "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 1e-2}\nunits:\n"
                           "  left: {model: oscillator.force}\n"
                           "  right: {model: oscillator.mass}\n"
                           "connections: [right.x -> left.x_other, right.v -> left.v_other, "
                           "left.f -> right.f]\n"};
  return open_source(&from, told);
}

// A parameter and a start value are written before the start, in this order.
static yoke_simulation* open_written(const char* first, double first_value, const char* second,
                                     double second_value, heard* told) {
  yoke_simulation* s = open_pair(told);
  yoke_handle handle;
  check_ok(yoke_simulation_find(s, first, &handle));
  check_ok(yoke_simulation_write(s, handle, 77));
  check_ok(yoke_simulation_write(s, handle, first_value));
  check_ok(yoke_simulation_find(s, second, &handle));
  check_ok(yoke_simulation_write(s, handle, second_value));
  return s;
}

// What is written before the start belongs to the system that a checkpoint is of; inputs belong to its state.
static void test_written_before_the_start(void** state) {
  (void)state;
  HEAR(told);
  char path[1024];
  snprintf(path, sizeof path, "%s", make_path("written"));
  yoke_simulation* s = open_written("left.kc", 50, "left.v", 0.5, &told);
  check_ok(yoke_simulation_run_to(s, 0.2));
  check_ok(yoke_simulation_checkpoint(s, path));
  check_ok(yoke_simulation_run(s, NULL, NULL));
  const double want = yoke_simulation_time(s);
  yoke_handle y;
  double value = 0, again = 1;
  check_ok(yoke_simulation_find(s, "right.x", &y));
  check_ok(yoke_simulation_read(s, y, &value));
  yoke_simulation_destroy(&s);

  s = open_written("left.v", 0.5, "left.kc", 50, &told);
  check_ok(yoke_simulation_resume(s, path));
  check_ok(yoke_simulation_run(s, NULL, NULL));
  check_ok(yoke_simulation_read(s, y, &again));
  assert_true(value == again && yoke_simulation_time(s) == want);
  yoke_simulation_destroy(&s);

  yoke_simulation* others[] = {open_pair(&told), open_written("left.kc", 50, "left.v", 0.6, &told)};
  for (size_t i = 0; i < COUNT(others); i++) {
    check_refused(others[i], path, "of another system, or of one with other settings", &told);
    yoke_simulation_destroy(&others[i]);
  }
  remove(path);
}

// ---- no heap

static void test_no_heap(void** state) {
  (void)state;
  check_heap_is_counted();
  static const char* const names[] = {"linear-oscillator/corrected-multirate.yaml",
                                      "three-rate-chain/chain.yaml", "typed-signals/typed.yaml",
                                      "electric-drive/drive.yaml"};
  for (size_t i = 0; i < COUNT(names); i++) {
    HEAR(told);
    const source from = {.path = scenario(names[i])};
    yoke_simulation* s = open_source(&from, &told);
    const size_t size = yoke_simulation_image_size(s);
    void* image = malloc(size);
    check_ok(yoke_simulation_step(s));
    const long before = atomic_load(&n_heap_calls);
    for (int k = 0; k < 10; k++) {
      check_ok(yoke_simulation_save(s, image, size));
      check_ok(yoke_simulation_step(s));
      check_ok(yoke_simulation_restore(s, image, size));
    }
    assert_int_equal(atomic_load(&n_heap_calls) - before, 0);
    free(image);
    yoke_simulation_destroy(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scenarios),
      cmocka_unit_test(test_settings),
      cmocka_unit_test(test_models),
      cmocka_unit_test(test_fmus),
      cmocka_unit_test(test_isolated),
      cmocka_unit_test(test_named),
      cmocka_unit_test(test_wrong_calls),
      cmocka_unit_test(test_failed),
      cmocka_unit_test(test_mail),
      cmocka_unit_test(test_wrong_files),
      cmocka_unit_test(test_written_before_the_start),
      cmocka_unit_test(test_no_heap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
