// Netlists as FMU 2.0 and 3.0 against the unit they come from: the same bits after every step and
// after going back, the same derivatives; parameters that importers set; included files; what is
// refused.
#include <dirent.h>
#include <math.h>

#include "base/base_message.h"
#include "base/base_os.h"
#include "exported.h"

enum { N_STEPS = 150, SAVE_AT = 60, N_AGAIN = 30 };

// -------------------------------------------------------------------------------------------------
// one netlist, exported and loaded

// settings: of the unit beside `circuit`, with a comma in front
static void make_unit(exported* e, const char* path, const char* settings, double step) {
  char text[2048];
  const int n = snprintf(text, sizeof text,
                         "yoke: 1\ntime: {stop: 1, step: %.17g}\nunits:\n  u: {circuit: '%s'%s}\n",
                         step, path, settings);
  yoke_scenario* scenario = NULL;
  if (yoke__scenario_read(text, (size_t)n, "system.yaml", NULL, 0, &e->messages, &scenario) < 0) {
    exported_fail(e, "the system is refused");
  }
  e->system = calloc(1, sizeof *e->system);
  assert_non_null(e->system);
  e->system->scenario = scenario;
  e->system->messages = &e->messages;
  if (yoke__system_make_units(e->system) < 0 || e->messages.n_errors > 0) {
    exported_fail(e, "the unit cannot be made");
  }
  const yoke_system_unit* unit = &e->system->units[0];
  e->unit = &unit->unit;
  e->job.ops = e->unit->ops;
  e->job.name = "unit";
  e->job.unit = e->unit;
  e->job.directory = e->system->scenario->directory;
  check_ok(yoke__export_arguments(unit->source, e->job.ops, &e->arena, &e->messages,
                                  &e->job.arguments, &e->job.n_arguments));
  check_ok(yoke__export_starts(unit->source, e->job.ops, &e->arena, &e->messages, &e->job.starts,
                               &e->job.n_starts));
  // notes about the netlist are none about the FMU
  yoke__messages_free(&e->messages);
}

static void write_fmu(exported* e) {
  YOKE_CATCH(err);
  check_ok(yoke__temp_create(&e->temp, &err.sink));
  const char* build = getenv("YOKE_BUILD_DIR");
  if (build == NULL) {
    fail_msg("set YOKE_BUILD_DIR to the folder with " YOKE_EXPORT_RUNTIME);
  }
  check_ok(yoke__export_find_runtime(build, &e->arena, &e->job.runtime, &e->job.sources, &err.sink));
  e->job.sources = NULL;
  snprintf(e->path, sizeof e->path, "%s/unit.fmu", yoke__temp_path(e->temp));
  if (yoke__export_fmu(&e->job, e->path, &err.sink) < 0) {
    fail_msg("FMI %d: %s", e->job.fmi, err.text);
  }
}

static void open_circuit(exported* e, const char* path, const char* settings, double step,
                         int fmi) {
  YOKE_CATCH(err);
  char library[4096];
  *e = (exported){.job = {.fmi = fmi}};
  make_unit(e, path, settings, step);
  write_fmu(e);
  if (yoke__fmi_open(e->path, &e->messages, &e->package) < 0 ||
      yoke__fmi_unpack(e->package, &e->messages) < 0 || e->messages.n > 0) {
    exported_fail(e, "the FMU has faults");
  }
  const yoke_fmi_interface* co = &e->package->description->co_simulation;
  check_ok(yoke__fmi_binary_path(e->package, co, library, sizeof library));
  if (yoke__fmi_binary_open(library, co->model_identifier, fmi, YOKE_FMI_CS, &e->binary, &err.sink) < 0) {
    fail_msg("FMI %d: %s", fmi, err.text);
  }
  yoke__fmi_resources_path(e->package, e->resources, sizeof e->resources);
  snprintf(e->uri, sizeof e->uri, "file://%s", e->resources);
}

// -------------------------------------------------------------------------------------------------
// native and FMU side by side

// Inputs that follow from k: small changes around their start.
static void set_inputs(const yoke_unit* unit, fmu_instance* f, int k) {
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    const yoke_variable* v = &unit->info->variables[i];
    if (v->causality == YOKE_INPUT) {
      const double value = v->start + (1.0 + 0.1 * fabs(v->start)) * sin(0.3 * k + (double)i);
      check_ok(yoke__unit_set(unit, i, &value, sizeof value));
      if (fmu_set(f, i, &value) != FMU_OK) {
        fail_msg("%s cannot be set: %s", v->name, f->log);
      }
    }
  }
}

// NaN is itself here, and -0 is not 0
static bool are_same_bits(double a, double b) {
  uint64_t bits[2];
  memcpy(&bits[0], &a, sizeof a);
  memcpy(&bits[1], &b, sizeof b);
  return bits[0] == bits[1];
}

// Every variable of the native unit, bit by bit; returns how many.
static size_t compare(const yoke_unit* unit, fmu_instance* f, const char* what, int k) {
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    double native = 0.0, other = 0.0;
    check_ok(yoke__unit_get(unit, i, &native, sizeof native));
    if (fmu_get(f, i, &other) != FMU_OK) {
      fail_msg("%s: %s cannot be read at step %d: %s", what, unit->info->variables[i].name, k,
               f->log);
    }
    if (!are_same_bits(native, other)) {
      fail_msg("%s: %s, FMI %d, step %d: native %.17g, FMU %.17g", what,
               unit->info->variables[i].name, f->from->job.fmi, k, native, other);
    }
  }
  return unit->info->n_variables;
}

static void run(const yoke_unit* unit, fmu_instance* f, const char* what, double h, int k, int n,
                bool is_native_stepped) {
  for (int i = k; i < k + n; i++) {
    const double t = (double)i * h;
    yoke_step_result result = {.t_reached = t + h};
    set_inputs(unit, f, i);
    if (is_native_stepped && unit->ops->step(unit->self, t, h, &result) < 0) {
      fail_msg("%s: native step %d: %s", what, i, result.message == NULL ? "" : result.message);
    }
    if (fmu_step(f, t, h) != FMU_OK) {
      fail_msg("%s, FMI %d, step %d: %s", what, f->from->job.fmi, i, f->log);
    }
    if (is_native_stepped) {
      compare(unit, f, what, i);
    }
  }
}

static void compare_derivatives(const yoke_unit* unit, fmu_instance* f, const char* what) {
  const yoke_fmi_binary* b = f->from->binary;
  const yoke_unit_info* info = unit->info;
  for (size_t u = 0; u < info->n_variables; u++) {
    for (size_t k = 0; k < info->n_variables; k++) {
      if (info->variables[u].causality != YOKE_OUTPUT ||
          info->variables[k].causality != YOKE_INPUT) {
        continue;
      }
      const double seed = 0.75;
      double native = 0.0, other = 0.0;
      const uint32_t unknown = (uint32_t)u, known = (uint32_t)k;
      check_ok(unit->ops->derivative(unit->self, &u, 1, &k, 1, &seed, &native));
      const int status =
          f->from->job.fmi == 2
              ? (int)b->f2.GetDirectionalDerivative(f->c, &unknown, 1, &known, 1, &seed, &other)
              : (int)b->f3.GetDirectionalDerivative(f->c, &unknown, 1, &known, 1, &seed, 1, &other,
                                                    1);
      if (status != FMU_OK || !(native == other)) {
        fail_msg("%s: d %s / d %s: native %.17g, FMU %.17g: %s", what, info->variables[u].name,
                 info->variables[k].name, native, other, f->log);
      }
    }
  }
}

static void start(const yoke_unit* unit, fmu_instance* f, const char* what) {
  YOKE_CATCH(err);
  if (unit != NULL && yoke__unit_enter_init(unit, 0.0, (double)INFINITY, &err.sink) < 0) {
    fail_msg("%s: %s", what, err.text);
  }
  if (fmu_enter(f, 0.0) != FMU_OK) {
    fail_msg("%s: %s", what, f->log);
  }
  if (unit != NULL) {
    set_inputs(unit, f, -1);
    check_ok(unit->ops->refresh(unit->self, 0.0));
    compare(unit, f, what, -1);
    check_ok(yoke__unit_exit_init(unit));
  }
  if (fmu_exit(f) != FMU_OK) {
    fail_msg("%s: %s", what, f->log);
  }
}

// Back to step SAVE_AT in the same instance and, by the bytes of the state, in another one.
static void repeat(fmu_instance* f, fmu_instance* other, const char* what, double h, void* state) {
  const yoke_unit* unit = f->from->unit;
  size_t size = 0;
  unsigned char* bytes = fmu_write_state(f, state, &size);
  void* copy = NULL;
  assert_int_equal(fmu_read_state(other, bytes, size, &copy), FMU_OK);
  assert_int_equal(fmu_set_state(f, state), FMU_OK);
  assert_int_equal(fmu_set_state(other, copy), FMU_OK);
  assert_int_equal(fmu_free_state(other, &copy), FMU_OK);
  free(bytes);
  run(unit, other, what, h, SAVE_AT, N_AGAIN, false);
  run(unit, f, what, h, SAVE_AT, N_AGAIN, false);
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    double first = 0.0, second = 0.0;
    assert_int_equal(fmu_get(f, i, &first), FMU_OK);
    assert_int_equal(fmu_get(other, i, &second), FMU_OK);
    if (!are_same_bits(first, second)) {
      fail_msg("%s: %s differs after going back", what, unit->info->variables[i].name);
    }
  }
}

static void check_netlist(const char* path, const char* settings, double h, int fmi) {
  exported e;
  fmu_instance f, other;
  open_circuit(&e, path, settings, h, fmi);
  const yoke_unit* unit = e.unit;
  fmu_open(&f, &e);
  fmu_open(&other, &e);
  start(unit, &f, path);
  start(NULL, &other, path);
  run(unit, &f, path, h, 0, SAVE_AT, true);
  compare_derivatives(unit, &f, path);
  void* state = NULL;
  assert_int_equal(fmu_get_state(&f, &state), FMU_OK);
  run(unit, &f, path, h, SAVE_AT, N_STEPS - SAVE_AT, true);
  repeat(&f, &other, path, h, state);
  assert_int_equal(fmu_free_state(&f, &state), FMU_OK);
  assert_int_equal(fmu_terminate(&f), FMU_OK);
  if (f.n_messages != 0) {
    fail_msg("%s: %s", path, f.log);
  }
  fmu_close(&f);
  fmu_close(&other);
  exported_close(&e);
}

// -------------------------------------------------------------------------------------------------
// all netlists of the scenarios

static const char* scenario_path(const char* name, char* to, size_t size) {
  const char* source = getenv("YOKE_SOURCE_DIR");
  if (source == NULL) {
    fail_msg("set YOKE_SOURCE_DIR");
  }
  snprintf(to, size, "%s/scenarios/%s", source, name);
  return to;
}

// The step of `.tran`, which a run of the netlist alone would use.
static double step_of(const char* name) {
  return strncmp(name, "pmsm", 4) == 0 ? 1.0 : strncmp(name, "rectifier", 9) == 0 ? 1e-3 : 1e-2;
}

static void all_scenarios(int fmi) {
  char folder[3000], path[4000];
  DIR* list = opendir(scenario_path("circuits", folder, sizeof folder));
  int n = 0;
  assert_non_null(list);
  for (const struct dirent* entry = readdir(list); entry != NULL; entry = readdir(list)) {
    const size_t length = strlen(entry->d_name);
    if (length > 4 && strcmp(entry->d_name + length - 4, ".cir") == 0) {
      snprintf(path, sizeof path, "%.2900s/%.255s", folder, entry->d_name);
      check_netlist(path, "", step_of(entry->d_name), fmi);
      n++;
    }
  }
  assert_int_equal(closedir(list), 0);
  assert_true(n >= 4);

  // with inputs, parameters, switches, laws
  check_netlist(scenario_path("electric-drive/motor.cir", path, sizeof path), "", 1e-4, fmi);
  check_netlist(path, ", with: {r20: 0.7}, start: {'i(l1)': 2}, solver: bdf2", 1e-4, fmi);
  check_netlist(scenario_path("electric-drive/thermal.cir", path, sizeof path), "", 0.1, fmi);
  check_netlist(scenario_path("electric-drive/buck.cir", path, sizeof path), "", 1e-5, fmi);
}

static void test_fmi2(void** state) {
  (void)state;
  all_scenarios(2);
}

static void test_fmi3(void** state) {
  (void)state;
  all_scenarios(3);
}

// -------------------------------------------------------------------------------------------------
// parameters

// index of a variable in the FMU; parameters stand behind those of the unit
static uint32_t find_reference(const exported* e, const char* name) {
  const yoke_fmi_description* d = e->package->description;
  for (size_t i = 0; i < d->n_variables; i++) {
    if (strcmp(d->variables[i].name, name) == 0) {
      return (uint32_t)d->variables[i].reference;
    }
  }
  fail_msg("no variable '%s'", name);
  return 0;
}

// An importer that sets a parameter gets what a system file gets that sets it: during the
// initialisation, too.
static void check_parameters(int fmi) {
  char path[4000];
  exported plain, changed;
  fmu_instance f;
  const double r20 = 0.8, ke = 0.07;
  scenario_path("electric-drive/motor.cir", path, sizeof path);
  open_circuit(&plain, path, "", 1e-4, fmi);
  open_circuit(&changed, path, ", with: {r20: 0.8, ke: 0.07}", 1e-4, fmi);
  const uint32_t r = find_reference(&plain, "r20"), k = find_reference(&plain, "ke");
  fmu_open(&f, &plain);
  assert_int_equal(fmu_set_reals(&f, r, &r20, 1), FMU_OK);
  YOKE_CATCH(err);
  check_ok(yoke__unit_enter_init(changed.unit, 0.0, 1.0, &err.sink));
  assert_int_equal(fmu_enter(&f, 0.0), FMU_OK);
  assert_int_equal(fmu_set_reals(&f, k, &ke, 1), FMU_OK);
  set_inputs(changed.unit, &f, -1);
  check_ok(changed.unit->ops->refresh(changed.unit->self, 0.0));
  compare(changed.unit, &f, "parameters", -1);
  check_ok(yoke__unit_exit_init(changed.unit));
  assert_int_equal(fmu_exit(&f), FMU_OK);
  run(changed.unit, &f, "parameters", 1e-4, 0, 50, true);

  // fixed from now on
  assert_int_equal(fmu_set_reals(&f, r, &r20, 1), FMU_ERROR);

  // a reset forgets them: the unit as exported
  assert_int_equal(fmu_reset(&f), FMU_OK);
  start(plain.unit, &f, "after a reset");
  run(plain.unit, &f, "after a reset", 1e-4, 0, 20, true);
  fmu_close(&f);

  exported_close(&plain);
  exported_close(&changed);
}

static void test_parameters(void** state) {
  (void)state;
  check_parameters(2);
  check_parameters(3);
}

// -------------------------------------------------------------------------------------------------
// included files

static void put_file(const char* folder, const char* name, const char* text) {
  char path[4200];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

// The FMU holds one text and works when the files are gone.
static void test_includes(void** state) {
  (void)state;
  YOKE_CATCH(err);
  char path[4200], inner[4200];
  yoke_temp* folder = NULL;
  check_ok(yoke__temp_create(&folder, &err.sink));
  const char* at = yoke__temp_path(folder);
  snprintf(inner, sizeof inner, "%s/parts", at);
  check_ok(yoke__os_make_directory(inner, &err.sink));
  put_file(at, "main.cir",
           ".include looks like one and is the title\n.input u=1 V\nV1 a 0 {u}\n"
           ".INCLUDE \"parts/filter one.inc\"\n*yoke .inc parts/values.inc\nX1 a b filter r={r1}\n"
           ".include parts/load two.inc ; a comment\n.output v(b)\n.tran 1m 10m uic\n.end\nnothing "
           "of this is read\n");
  put_file(inner, "filter one.inc",
           ".subckt filter p q r=1\nR1 p q {r}\n.include deep.inc\n.ends\n.end\nrubbish\n");
  put_file(inner, "load two.inc", "Rl b 0 1k\n");
  put_file(inner, "deep.inc", "C1 q 0\n+ 1u IC=0\n");
  put_file(inner, "values.inc", ".param r1=470 ; comment\n");
  snprintf(path, sizeof path, "%s/main.cir", at);
  check_netlist(path, "", 1e-3, 2);

  exported e;
  open_circuit(&e, path, "", 1e-3, 3);
  const double h = 1e-3;
  yoke__temp_remove(&folder);
  fmu_instance f;
  fmu_open(&f, &e);
  start(e.unit, &f, "included");
  run(e.unit, &f, "included", h, 0, 20, true);
  fmu_close(&f);
  exported_close(&e);
}

// -------------------------------------------------------------------------------------------------
// refusals

// What makes no circuit is an error with a message when the unit is initialised with it.
static void test_bad_parameter(void** state) {
  (void)state;
  YOKE_CATCH(err);
  char path[4200];
  yoke_temp* folder = NULL;
  exported e;
  fmu_instance f;
  const double bad = -1.0;
  check_ok(yoke__temp_create(&folder, &err.sink));
  put_file(yoke__temp_path(folder), "main.cir",
           "bad\n.param c=1u\nV1 a 0 1\nR1 a b 1k\nC1 b 0 {c} IC=0\n.tran 1m 1 uic\n.end\n");
  snprintf(path, sizeof path, "%s/main.cir", yoke__temp_path(folder));
  open_circuit(&e, path, "", 1e-3, 2);
  fmu_open(&f, &e);
  assert_int_equal(fmu_set_reals(&f, find_reference(&e, "c"), &bad, 1), FMU_OK);
  assert_int_equal(fmu_enter(&f, 0.0), FMU_ERROR);
  check_contains(f.log, "C1");
  fmu_close(&f);
  exported_close(&e);
  yoke__temp_remove(&folder);
}

static void test_bad_steps(void** state) {
  (void)state;
  char path[4000];
  exported e;
  fmu_instance f;
  open_circuit(&e, scenario_path("circuits/rlc.cir", path, sizeof path), "", 1e-2, 3);
  fmu_open(&f, &e);
  start(NULL, &f, "steps");
  // two of the solver's steps are fine, two thirds of one are not
  assert_int_equal(fmu_step(&f, 0.0, 2e-2), FMU_OK);
  assert_int_equal(fmu_step(&f, 2e-2, 0.66e-2), FMU_ERROR);
  check_contains(f.log, "not a whole number");
  fmu_close(&f);

  // a netlist that was spoiled
  put_file(e.resources, "circuit.cir", "spoiled\nR1 a\n.end\n");
  fmu_try(&f, &e, NULL, NULL);
  assert_null(f.c);
  check_contains(f.log, "circuit.cir:2");
  exported_close(&e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fmi2),       cmocka_unit_test(test_fmi3),
      cmocka_unit_test(test_parameters), cmocka_unit_test(test_includes),
      cmocka_unit_test(test_bad_steps),  cmocka_unit_test(test_bad_parameter),
  };
  return cmocka_run_group_tests_name("export_circuit", tests, NULL, NULL);
}
