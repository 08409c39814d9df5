// Netlists as FMU 2.0 and 3.0 against the unit they come from: the same bits after every step and
// after going back, the same derivatives; parameters that importers set; included files; what is
// refused.
#include <dirent.h>

#include "base/base_os.h"
#include "exported_netlist.h"

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

static void open_circuit(exported* e, const char* path, const char* settings, double step,
                         int fmi) {
  open_netlist(e, "circuit", path, settings, step, fmi);
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
