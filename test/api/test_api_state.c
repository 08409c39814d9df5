// Saving and going back: bit for bit, in memory and through a file, for every scheme, coupling method and kind of unit.
#include <dirent.h>
#include <sys/stat.h>
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
} source;

static yoke_simulation* open_source(const source* from, heard* told) {
  const yoke_load_settings settings = {.sink = &told->sink};
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
  size_t n =
      (size_t)snprintf(text, sizeof text, "yoke: 1\ntime: {stop: 0.4, step: 1e-3}\n%s", lines);
  snprintf(text + n, sizeof text - n, OSCILLATOR, left, right, connection, bond);
  const source from = {.text = text};
  check_source(name, &from);
}

static void test_settings(void** state) {
  (void)state;
  check_oscillator("threads", "threads: 2\n", "", "", "", "");
  check_oscillator("delay", "", "", "", ", delay: 5e-3", "");
  check_oscillator("delay, Gauss-Seidel", "scheme: gauss-seidel\n", "", "", ", delay: 3e-3", "");
  check_oscillator("slow unit", "", ", step: 4e-3", "", "", "");
  check_oscillator("slow unit, Gauss-Seidel", "scheme: gauss-seidel\n", ", step: 4e-3", "", "", "");
  check_oscillator("interpolate", "", ", step: 1e-4", ", step: 1e-4", "",
                   ", coupling: {method: interpolate}");
  check_oscillator("nepce", "", "", ", step: 1e-4", "", ", coupling: {method: nepce, order: 1}");
  check_oscillator("energy", "", "", "", "", ", coupling: {method: energy}");
  check_oscillator("order 3", "", "", "", ", order: 3", "");
  check_oscillator("limits", "quality: {warn: {rho: 0.01}, stop: {rho: 10}}\n", "", "", "", "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scenarios),
      cmocka_unit_test(test_settings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
