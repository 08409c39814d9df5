// Linear models of co-simulation FMUs: what an exported unit tells through directional derivatives must be what the native unit
// tells itself, and a cluster of such FMUs under `mpsm, jacobians: provided` must give the published rows. Then what is
// missing: derivatives, states, functions, answers.
#define _XOPEN_SOURCE 700
#include <stdlib.h>
#include <unistd.h>

#include "base/base_message.h"
#include "base/base_zip.h"
#include "export/exported.h"
#include "support/counting_heap.h"
#include "support/dual_mass_rows.h"
#include "support/heard.h"
#include "support/sim.h"
#include "unit/unit_file.h"

enum { MAX_ENTRIES = 64 };

// A linear model with its numbers.
typedef struct model {
  yoke_linear linear;
  double A[MAX_ENTRIES], B[MAX_ENTRIES], C[MAX_ENTRIES], D[MAX_ENTRIES];
} model;

static yoke_status linearise(const yoke_unit* u, model* m) {
  *m = (model){0};
  m->linear.A = m->A;
  m->linear.B = m->B;
  m->linear.C = m->C;
  m->linear.D = m->D;
  return u->ops->linearise(u->self, &m->linear);
}

static void check_same(const double a[], const double b[], size_t n, const char* matrix,
                       const char* name) {
  for (size_t i = 0; i < n; i++) {
    if (!(a[i] == b[i])) {
      fail_msg("%s: entry %zu of %s is %.17g, of the native unit %.17g", name, i, matrix, a[i],
               b[i]);
    }
  }
}

static void check_same_model(const model* a, const model* b, const char* name) {
  const size_t n_x = b->linear.n_states, n_u = b->linear.n_inputs, n_y = b->linear.n_outputs;
  assert_int_equal(a->linear.n_states, n_x);
  assert_int_equal(a->linear.n_inputs, n_u);
  assert_int_equal(a->linear.n_outputs, n_y);
  assert_true((n_x + n_y) * (n_x + n_u) <= MAX_ENTRIES);
  check_same(a->A, b->A, n_x * n_x, "A", name);
  check_same(a->B, b->B, n_x * n_u, "B", name);
  check_same(a->C, b->C, n_y * n_x, "C", name);
  check_same(a->D, b->D, n_y * n_u, "D", name);
}

// ---------------------------------------------------------------------------------------------------------
// an FMU as a unit

typedef struct imported {
  yoke_unit_store* store;
  yoke_arena arena;
  yoke_unit unit;
} imported;

static void import(imported* f, const char* path, yoke_unit_file_settings settings) {
  yoke_messages messages = {0};
  const yoke_unit_ops* ops = NULL;
  YOKE_CATCH(err);
  *f = (imported){0};
  settings.kind = YOKE_KIND_FMU;
  settings.path = path;
  settings.name = "unit";
  check_ok(yoke__unit_store_create(&f->store));
  if (yoke__unit_store_open(f->store, &settings, &messages, &ops) < 0) {
    yoke__messages_print(&messages, stderr);
    fail_msg("%s cannot be opened", path);
  }
  yoke__messages_free(&messages);
  const yoke_unit_args args = {"unit", ".", NULL, 0, ops->context};
  if (yoke__unit_create(ops, &args, &f->arena, &f->unit, &err.sink) < 0) {
    fail_msg("%s: %s", path, err.text);
  }
}

static void discard(imported* f) {
  yoke__unit_terminate(&f->unit);
  yoke__unit_close(&f->unit);
  yoke__arena_free(&f->arena);
  yoke__unit_store_destroy(&f->store);
}

static void initialise(const yoke_unit* u) {
  YOKE_CATCH(err);
  if (yoke__unit_enter_init(u, 0, HUGE_VAL, &err.sink) < 0) {
    fail_msg("%s: %s", u->ops->name, err.text);
  }
  check_ok(yoke__unit_exit_init(u));
}

static void step(const yoke_unit* u, const double inputs[], double t, double h) {
  yoke_step_result result = {.t_reached = t + h};
  check_ok(yoke__unit_set_inputs(u, inputs));
  const yoke_status status = u->ops->step(u->self, t, h, &result);
  if (status < 0) {
    fail_msg("%s at %g: %s", u->ops->name, t, result.message == NULL ? "" : result.message);
  }
}

// ---------------------------------------------------------------------------------------------------------
// the numbers

static const struct {
  const char *model, *settings;
} units[] = {
    {"state_space", "with: {A: [[0, 1], [-4, -0.2]], B: [[0, 1], [1, 0]], C: [[1, 0], [0, 1], [1, "
                    "1]], D: [[0, 0], [0.5, 0], [0, 2]], x0: [0.3, -0.1]}"},
    {"state_space", "with: {A: [[-1, 0.5, 0], [0, -2, 1], [0.1, 0, -3]], x0: [1, 2, 3]}"},
    {"oscillator.force", "with: {kc: 80, cc: 0.5, c: 0.1}, start: {x: 0.1, v: 2}"},
    {"oscillator.force", "with: {spring: square-root, damper: quadratic, cc: 0.5, c: 0.1, solver: "
                         "rk4}, start: {x: 0.1, v: 2}"},
    {"oscillator.mass", "with: {damper: quadratic, c: 0.3, sign: -1}, start: {v: -1}"},
    {"oscillator.displacement", "with: {cc: 0.7, m: 3}, start: {x: 0.5}"},
    {"rotor.shaft", "start: {omega: 3, phi: 0.2, phi_other: -0.1}"},
    {"rotor.load", "with: {d: 0.5}, start: {omega: 3}"},
    {"integrator", "with: {k: 2.5}, start: {x: 1}"},
};

// inputs that move, so that nonlinear units have another model at every point
static void fill_inputs(double u[], size_t n, int k) {
  for (size_t i = 0; i < n; i++) {
    u[i] = 0.3 * sin(0.7 * k + 1.1 * (double)i) + 0.05;
  }
}

// der(x) as a variable is what the native unit says
static void check_rates(const yoke_unit* fmu, const yoke_unit* native) {
  model m;
  size_t states[MAX_ENTRIES];
  double dx[MAX_ENTRIES];
  check_ok(linearise(native, &m));
  check_ok(native->ops->rates(native->self, states, dx, m.linear.n_states));
  for (size_t i = 0; i < m.linear.n_states; i++) {
    char name[128];
    double value = (double)NAN;
    snprintf(name, sizeof name, "der(%s)", native->info->variables[states[i]].name);
    const size_t at = yoke__unit_find(fmu, name);
    assert_true(at != (size_t)-1);
    check_ok(yoke__unit_get(fmu, at, &value, sizeof value));
    assert_true(value == dx[i]);
  }
}

static void compare_with_native(const char* name, const char* settings, int fmi, bool is_isolated) {
  exported e;
  imported f;
  model of_fmu, native;
  double u[MAX_ENTRIES] = {0};
  exported_open(&e, name, settings, fmi);
  import(&f, e.path, (yoke_unit_file_settings){.is_isolated = is_isolated});
  assert_non_null(f.unit.ops->linearise);

  // sizes may be asked at any time, numbers not before the run
  yoke_linear sizes = {0};
  check_ok(f.unit.ops->linearise(f.unit.self, &sizes));
  check_ok(linearise(e.unit, &native));
  assert_true(sizes.n_states == native.linear.n_states && sizes.n_inputs == e.unit->n_u &&
              sizes.n_outputs == e.unit->n_y);
  assert_int_equal(linearise(&f.unit, &of_fmu), YOKE_NO_SUPPORT);

  initialise(&f.unit);
  initialise(e.unit);
  for (int k = 0; k < 20; k++) {
    fill_inputs(u, e.unit->n_u, k);
    step(&f.unit, u, 0.01 * k, 0.01);
    step(e.unit, u, 0.01 * k, 0.01);
    check_ok(linearise(&f.unit, &of_fmu));
    check_ok(linearise(e.unit, &native));
    check_same_model(&of_fmu, &native, name);
    check_rates(&f.unit, e.unit);
  }
  discard(&f);
  exported_close(&e);
}

static void exported_units_tell_the_same_model(void** state) {
  (void)state;
  for (size_t i = 0; i < YOKE_COUNT(units); i++) {
    for (int fmi = 2; fmi <= 3; fmi++) {
      compare_with_native(units[i].model, units[i].settings, fmi, false);
    }
  }
  compare_with_native(units[0].model, units[0].settings, 2, true);
  compare_with_native(units[3].model, units[3].settings, 3, true);
}

// The other operation of the native units: x' by central differences must be A and B. Slopes of the square-root and quadratic
// laws change by less than 1e-6 of themselves over delta here.
static void rates_have_the_slopes_of_the_model(void** state) {
  (void)state;
  const double delta = 1e-5;
  for (size_t i = 0; i < YOKE_COUNT(units); i++) {
    exported e;
    model m;
    size_t states[MAX_ENTRIES];
    double u[MAX_ENTRIES] = {0}, up[MAX_ENTRIES], down[MAX_ENTRIES];
    e = (exported){0};
    exported_make_unit(&e, units[i].model, units[i].settings, ".");  // no FMU is needed
    const yoke_unit* unit = e.unit;
    initialise(unit);
    fill_inputs(u, unit->n_u, 3);
    step(unit, u, 0, 0.01);
    check_ok(linearise(unit, &m));
    const size_t n = m.linear.n_states;
    check_ok(unit->ops->rates(unit->self, states, NULL, n));
    assert_int_equal(unit->ops->rates(unit->self, NULL, up, n + 1), YOKE_BAD_ARG);
    for (size_t v = 0; v < unit->info->n_variables; v++) {
      const bool is_input = unit->info->variables[v].causality == YOKE_INPUT;
      size_t column = is_input ? unit->dense[v] : n;
      for (size_t j = 0; j < n && !is_input; j++) {
        column = states[j] == v ? j : column;
      }
      if (!is_input && column == n) {
        continue;
      }
      double at = 0;
      check_ok(yoke__unit_get(unit, v, &at, sizeof at));
      const double high = at + delta, low = at - delta;
      check_ok(yoke__unit_set(unit, v, &high, sizeof high));
      check_ok(unit->ops->rates(unit->self, NULL, up, n));
      check_ok(yoke__unit_set(unit, v, &low, sizeof low));
      check_ok(unit->ops->rates(unit->self, NULL, down, n));
      check_ok(yoke__unit_set(unit, v, &at, sizeof at));
      for (size_t j = 0; j < n; j++) {
        const double slope = (up[j] - down[j]) / (high - low);
        const double want = is_input ? m.B[j * unit->n_u + column] : m.A[j * n + column];
        check_near(slope, want, 1e-6 * fmax(1, fabs(want)));
      }
    }
    exported_close(&e);
  }
}

// A relaxed square-root spring has no slope: the FMU discards, is asked again and answers when it has moved.
static void a_point_without_a_model_is_one_point(void** state) {
  (void)state;
  for (int fmi = 2; fmi <= 3; fmi++) {
    exported e;
    imported f;
    model m;
    exported_open(&e, "oscillator.mass", "with: {spring: square-root}", fmi);
    import(&f, e.path, (yoke_unit_file_settings){0});
    initialise(&f.unit);
    assert_true(linearise(&f.unit, &m) < 0);
    HEAR(why);
    f.unit.ops->reason(f.unit.self, &why.sink);
    check_contains(why.text, "none at this point");
    step(&f.unit, (double[]){1}, 0, 0.01);
    check_ok(linearise(&f.unit, &m));
    discard(&f);
    exported_close(&e);
  }
}

// ---------------------------------------------------------------------------------------------------------
// clusters

#define LEFT  DUAL_MASS_LEFT ", micro_steps: 100}"
#define RIGHT DUAL_MASS_RIGHT ", micro_steps: 100}"
#define CLUSTER                                                                                    \
  "yoke: 1\ntime: {stop: 0.1, step: 1e-3}\n"                                                       \
  "units:\n  left: {%s}\n  right: {%s}\n" DUAL_MASS_CONNECTIONS                                    \
  "couplings: {loop: {method: mpsm, members: [left, right], jacobians: provided%s}}\n"

// beside the native cluster to the last bit, and the published rows
static void check_rows(const char* left, const char* right, const char* more,
                       const dual_mass_row rows[DUAL_MASS_N_ROWS]) {
  sim fmus = sim_open(CLUSTER, left, right, more);
  sim native = sim_open(CLUSTER, "model: state_space, " LEFT, "model: state_space, " RIGHT, more);
  check_dual_mass_rows(&fmus, &native, rows, DUAL_MASS_N_ROWS);
  sim_close(&fmus);
  sim_close(&native);
}

// what the method says of the run
static heard report_of(const sim* s) {
  HEAR(told);
  const yoke_group* group = &s->system->groups[0];
  group->ops->report(s->state->group_memory + group->self, &told.sink);
  return told;
}

static void test_MP_03_provided_by_fmus(void** state) {
  (void)state;
  exported left[2], right[2];
  for (int i = 0; i < 2; i++) {
    exported_open(&left[i], "state_space", LEFT, i + 2);
    exported_open(&right[i], "state_space", RIGHT, i + 2);
  }
  for (int i = 0; i < 4; i++) {
    char a[4200], b[4200];
    snprintf(a, sizeof a, "fmu: %s", left[i % 2].path);
    snprintf(b, sizeof b, "fmu: %s", right[i / 2].path);
    check_rows(a, b, "", dual_mass_full);
    check_rows(a, b, ", th_modified: 0", dual_mass_modified);
  }
  char a[4200], b[4200];
  snprintf(a, sizeof a, "fmu: %s, isolate: process", left[0].path);
  snprintf(b, sizeof b, "fmu: %s", right[1].path);
  check_rows(a, b, "", dual_mass_full);
  check_rows("model: state_space, " LEFT, b, "", dual_mass_full);
  for (int i = 0; i < 2; i++) {
    exported_close(&left[i]);
    exported_close(&right[i]);
  }
}

// CS-28: no heap call in the loop, ours or the exported binary's
static void takes_no_heap(void** state) {
  (void)state;
  if (!IS_HEAP_COUNTED) {
    skip();
  }
  for (int fmi = 2; fmi <= 3; fmi++) {
    exported left, right;
    char a[4200], b[4200];
    exported_open(&left, "state_space", LEFT, fmi);
    exported_open(&right, "state_space", RIGHT, fmi);
    snprintf(a, sizeof a, "fmu: %s", left.path);
    snprintf(b, sizeof b, "fmu: %s", right.path);
    sim s = sim_open(CLUSTER, a, b, "");
    sim_steps(&s, 5);
    const long before = atomic_load(&n_heap_calls);
    sim_steps(&s, 90);
    assert_int_equal(atomic_load(&n_heap_calls) - before, 0);
    sim_close(&s);
    exported_close(&left);
    exported_close(&right);
  }
  check_heap_is_counted();
}

// ---------------------------------------------------------------------------------------------------------
// what is missing

// The description of an exported FMU with one piece of text replaced, in a folder of its own beside binary and resources; the
// package that unpacked them must stay open.
static void spoil(const exported* e, const char* from, const char* to) {
  yoke_zip* zip = NULL;
  YOKE_CATCH(err);
  char path[4200];
  char* bytes = NULL;
  size_t n = 0;
  check_ok(yoke__zip_open(e->path, &zip, &err.sink));
  check_ok(yoke__zip_read(zip, yoke__zip_find(zip, "modelDescription.xml"), 1 << 20, &bytes, &n,
                          &err.sink));
  snprintf(path, sizeof path, "%s/modelDescription.xml", e->package->directory);
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  char* at = strstr(bytes, from);
  if (at == NULL) {
    fail_msg("'%s' is not in the description", from);
  }
  fwrite(bytes, 1, (size_t)(at - bytes), file);
  fputs(to, file);
  fwrite(at + strlen(from), 1, n - (size_t)(at - bytes) - strlen(from), file);
  assert_int_equal(fclose(file), 0);
  free(bytes);
  yoke__zip_close(&zip);
}

// Anything missing, and there is no linear model at all; nothing else changes.
static void nothing_is_told_in_part(void** state) {
  (void)state;
  static const struct {
    const char *from, *to;
    bool is_there;
  } cases[2][7] = {
      {
          {"fmiVersion=\"2.0\"", "fmiVersion=\"2.0\"", true},
          {"providesDirectionalDerivative=\"true\"", "", false},
          {"derivative=\"4\"", "", false},
          {"derivative=\"5\"", "derivative=\"4\"", false},
          {"<Derivatives>", "<Derivatives><Unknown index=\"1\"/>", false},
          {"causality=\"input\" variability=\"continuous\"",
           "causality=\"input\" variability=\"discrete\"", false},
          {"causality=\"output\" variability=\"continuous\"",
           "causality=\"output\" variability=\"discrete\"", false},
      },
      {
          {"fmiVersion=\"3.0\"", "fmiVersion=\"3.0\"", true},
          {"providesDirectionalDerivatives=\"true\"", "", false},
          {"derivative=\"3\"", "", false},
          {"derivative=\"4\"", "derivative=\"3\"", false},
          {"<ContinuousStateDerivative",
           "<ContinuousStateDerivative valueReference=\"0\"/>"
           "<ContinuousStateDerivative",
           false},
          {"causality=\"input\" variability=\"continuous\"",
           "causality=\"input\" variability=\"discrete\"", false},
          {"causality=\"output\" variability=\"continuous\"",
           "causality=\"output\" variability=\"discrete\"", false},
      },
  };
  for (int fmi = 2; fmi <= 3; fmi++) {
    exported e;
    exported_open(&e, "state_space", "with: {A: [[0, 1], [-4, 0]], B: [0, 1]}", fmi);
    for (size_t i = 0; i < YOKE_COUNT(cases[0]); i++) {
      imported f;
      spoil(&e, cases[fmi - 2][i].from, cases[fmi - 2][i].to);
      import(&f, e.package->directory, (yoke_unit_file_settings){0});
      if ((f.unit.ops->linearise != NULL) != cases[fmi - 2][i].is_there) {
        fail_msg("FMI %d, case %zu: '%s'", fmi, i, cases[fmi - 2][i].to);
      }
      initialise(&f.unit);
      step(&f.unit, (double[]){1}, 0, 0.01);
      discard(&f);
    }
    exported_close(&e);
  }
}

// FMUs with directional derivatives that list no states (oscillators), and one that has the list for model exchange alone
static void fmus_without_states_have_none(void** state) {
  (void)state;
  static const char* const names[] = {"oscillator_force", "oscillator_mass", "vanderpol",
                                      "trivial"};
  for (size_t i = 0; i < YOKE_COUNT(names); i++) {
    for (int version = 2; version <= 3; version++) {
      char path[4096];
      imported f;
      snprintf(path, sizeof path, "%s/%s%d.fmu", getenv("YOKE_FMUS"), names[i], version);
      import(&f, path, (yoke_unit_file_settings){.interface_type = YOKE_INTERFACE_CO_SIMULATION});
      assert_null(f.unit.ops->linearise);
      discard(&f);
    }
  }
}

// A description that promises what the binary lacks: no linear model, here and in a process of its own.
static void a_broken_promise_is_no_model(void** state) {
  (void)state;
  static const char text[] =
      "<?xml version=\"1.0\"?><fmiModelDescription fmiVersion=\"2.0\" modelName=\"prefixed\" "
      "guid=\"yoke-test-minimal\"><CoSimulation modelIdentifier=\"prefixed\" "
      "canHandleVariableCommunicationStepSize=\"true\" providesDirectionalDerivative=\"true\"/>"
      "<ModelVariables><ScalarVariable name=\"u\" valueReference=\"1\" causality=\"input\">"
      "<Real start=\"0\"/></ScalarVariable><ScalarVariable name=\"y\" valueReference=\"2\" "
      "causality=\"output\" initial=\"exact\"><Real start=\"0\"/></ScalarVariable>"
      "<ScalarVariable name=\"der(y)\" valueReference=\"3\"><Real derivative=\"2\"/>"
      "</ScalarVariable></ModelVariables><ModelStructure><Outputs><Unknown index=\"2\"/></Outputs>"
      "<Derivatives><Unknown index=\"3\"/></Derivatives><InitialUnknowns><Unknown index=\"3\"/>"
      "</InitialUnknowns></ModelStructure></fmiModelDescription>";
  YOKE_CATCH(err);
  char path[4200], from[4200];
  yoke_temp* temp = NULL;
  yoke_zip* zip = NULL;
  check_ok(yoke__temp_create(&temp, &err.sink));
  snprintf(from, sizeof from, "%s/prefixed2.fmu", getenv("YOKE_FMUS"));
  check_ok(yoke__zip_open(from, &zip, &err.sink));
  check_ok(yoke__zip_extract(zip, "binaries", yoke__temp_path(temp), &err.sink));
  yoke__zip_close(&zip);
  snprintf(path, sizeof path, "%s/modelDescription.xml", yoke__temp_path(temp));
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
  for (int is_isolated = 0; is_isolated < 2; is_isolated++) {
    imported f;
    yoke_linear sizes = {0};
    import(&f, yoke__temp_path(temp), (yoke_unit_file_settings){.is_isolated = is_isolated != 0});
    if (f.unit.ops->linearise != NULL) {
      assert_true(is_isolated && f.unit.ops->linearise(f.unit.self, &sizes) == YOKE_NO_SUPPORT);
    }
    initialise(&f.unit);
    step(&f.unit, (double[]){1}, 0, 0.01);
    discard(&f);
  }
  yoke__temp_remove(&temp);
}

// such a cluster is identified instead, and the summary says why
static void identifies_what_provides_no_model(void** state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    sim s = sim_open(
        "yoke: 1\ntime: {stop: 1, step: 1e-3}\nunits:\n"
        "  left: {fmu: %s/oscillator_force%d.fmu, start: {x: 0.1}}\n"
        "  right: {model: oscillator.mass}\n"
        "connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f]\n"
        "couplings: {loop: {method: mpsm, members: [left, right], jacobians: provided, "
        "learning: 40}}\n",
        getenv("YOKE_FMUS"), version);
    sim_steps(&s, 500);
    const heard told = report_of(&s);
    print_message("%s", told.text);
    check_contains(told.text, "'left' provides no linear model");
    assert_true(fabs(sim_read(&s, "left.x")) < 0.2);
    sim_close(&s);
  }
}

// ---------------------------------------------------------------------------------------------------------
// answers that are failures: the recorder of test/fmus stands in front of the exported binary

static void put_recorder(exported* e, int fmi) {
  char library[4096], inner[4200], recorder[4200], line[4096];
  const yoke_fmi_interface* co = &e->package->description->co_simulation;
  check_ok(yoke__fmi_binary_path(e->package, co, library, sizeof library));
  yoke__fmi_binary_close(&e->binary);  // a path that is loaded already would not be loaded again
  snprintf(inner, sizeof inner, "%s", library);
  char* name = strrchr(inner, '/') + 1;
  snprintf(name, sizeof inner - (size_t)(name - inner), "inner.so");
  assert_int_equal(rename(library, inner), 0);
  snprintf(recorder, sizeof recorder, "%s/recorder/recorder%d.so", getenv("YOKE_FMUS"), fmi);
  FILE *in = fopen(recorder, "rb"), *out = fopen(library, "wb");
  assert_true(in != NULL && out != NULL);
  for (size_t n; (n = fread(line, 1, sizeof line, in)) > 0;) {
    assert_int_equal(fwrite(line, 1, n, out), n);
  }
  fclose(in);
  assert_int_equal(fclose(out), 0);
  spoil(e, "fmiVersion", "fmiVersion");
}

static long count_calls(const char* path, const char* function) {
  char line[1024];
  long n = 0;
  FILE* file = fopen(path, "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    n += strstr(line, function) != NULL;
  }
  if (file != NULL) {
    fclose(file);
  }
  return n;
}

// status: what the FMU answers to the second of all questions
static void answer(int fmi, int status) {
  exported e;
  imported f;
  model m;
  HEAR(t);
  char calls[4200], failure[80], function[40];
  exported_open(&e, "state_space", "with: {A: [[0, 1], [-4, 0]], B: [0, 1]}", fmi);
  put_recorder(&e, fmi);
  snprintf(calls, sizeof calls, "%s/calls", yoke__temp_path(e.temp));
  snprintf(function, sizeof function, "fmi%dGetDirectionalDerivative", fmi);
  snprintf(failure, sizeof failure, "%s 2 %d", function, status);
  setenv("YOKE_FMU_CALLS", calls, 1);
  setenv("YOKE_FMU_FAIL", failure, 1);
  import(&f, e.package->directory, (yoke_unit_file_settings){0});
  initialise(&f.unit);
  step(&f.unit, (double[]){1}, 0, 0.01);
  assert_true(linearise(&f.unit, &m) < 0);
  assert_int_equal(count_calls(calls, function), 2);
  yoke_step_result result = {.t_reached = 0.02};
  const yoke_status next = f.unit.ops->step(f.unit.self, 0.01, 0.01, &result);
  f.unit.ops->report(f.unit.self, &t.sink);
  if (status == 4) {
    // dead: not one further call
    assert_int_equal(next, YOKE_UNIT_FAILED);
    check_contains(result.message, "returned fatal");
    assert_int_equal(count_calls(calls, "DoStep"), 1);
    assert_true(yoke__unit_set_inputs(&f.unit, (double[]){1}) < 0);
    assert_int_equal(linearise(&f.unit, &m), YOKE_NO_SUPPORT);
    assert_int_equal(count_calls(calls, function), 2);
  } else if (status == 3) {
    // an error: no further question, but the run goes on, and a person hears of it
    check_ok(next);
    assert_int_equal(linearise(&f.unit, &m), YOKE_NO_SUPPORT);
    assert_int_equal(count_calls(calls, function), 2);
    check_contains(t.text, "run without its linear model");
  } else {
    // this point has no model
    check_ok(next);
    check_ok(linearise(&f.unit, &m));
    assert_true(strstr(t.text, "linear model") == NULL);
  }
  unsetenv("YOKE_FMU_FAIL");
  unsetenv("YOKE_FMU_CALLS");
  discard(&f);
  exported_close(&e);
}

static void a_failing_answer_does_not_end_the_run(void** state) {
  (void)state;
  for (int fmi = 2; fmi <= 3; fmi++) {
    for (int status = 2; status <= 4; status++) {
      answer(fmi, status);
    }
  }
}

// in the loop: signals serve the exchange whose model is missing, and the run goes on
static void the_method_falls_back(void** state) {
  (void)state;
  for (int fmi = 2; fmi <= 3; fmi++) {
    exported left, right;
    char a[4200], b[4200], failure[80];
    exported_open(&left, "state_space", LEFT, fmi);
    exported_open(&right, "state_space", RIGHT, fmi);
    put_recorder(&right, fmi);
    snprintf(failure, sizeof failure, "fmi%dGetDirectionalDerivative 9 3", fmi);
    setenv("YOKE_FMU_FAIL", failure, 1);
    snprintf(a, sizeof a, "fmu: %s", left.path);
    snprintf(b, sizeof b, "fmu: %s", right.package->directory);
    sim s = sim_open(CLUSTER, a, b, ", learning: 20");
    sim_steps(&s, 100);
    const heard told = report_of(&s);
    print_message("%s", told.text);
    check_contains(told.text, "since 'right' provides no linear model");
    check_contains(told.text, "1 fallback");
    assert_true(fabs(sim_read(&s, "left.x")) < 0.2);
    unsetenv("YOKE_FMU_FAIL");
    sim_close(&s);
    exported_close(&left);
    exported_close(&right);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exported_units_tell_the_same_model),
      cmocka_unit_test(rates_have_the_slopes_of_the_model),
      cmocka_unit_test(a_point_without_a_model_is_one_point),
      cmocka_unit_test(test_MP_03_provided_by_fmus),
      cmocka_unit_test(takes_no_heap),
      cmocka_unit_test(nothing_is_told_in_part),
      cmocka_unit_test(fmus_without_states_have_none),
      cmocka_unit_test(a_broken_promise_is_no_model),
      cmocka_unit_test(identifies_what_provides_no_model),
      cmocka_unit_test(a_failing_answer_does_not_end_the_run),
      cmocka_unit_test(the_method_falls_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
