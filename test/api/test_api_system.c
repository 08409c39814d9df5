// Systems: from file and from memory, and what is in them agrees with what was written.
#include "api/api_helper.h"

static const char text[] =
    "yoke: 1\ninputs: start\ncalls: 1\nname: two masses\ntime: {start: 1, stop: 3, step: "
    "0.01}\nscheme: jacobi\n"
    "units:\n"
    "  left: {model: oscillator.force, start: {v: 1}}\n"
    "  right: {model: oscillator.mass, step: 0.002}\n"
    "  count: {model: counter}\n"
    "laws: {name: {law: label, with: {labels: [a, b]}}}\n"
    "bonds: {spring: {action: left.f -> right.f, rate: right.v -> left.v_other,\n"
    "        coupling: {method: energy, k_i: 0.125}}}\n"
    "connections:\n"
    "  - {from: right.x, to: left.x_other, gain: 2, offset: 0.5, order: 1, delay: 0.02}\n"
    "  - count.toggle -> name.index\n"
    "record: {formats: [csv, mat]}\n";

static void check_system(const yoke_system* system, const char* path) {
  yoke_system_info info;
  check_ok(yoke_system_get_info(system, &info));
  assert_string_equal(info.name, "two masses");
  assert_string_equal(info.path, path);
  check_near(info.t_start, 1, 0);
  check_near(info.t_stop, 3, 1e-12);
  check_near(info.step, 0.01, 1e-15);
  assert_string_equal(info.scheme, "jacobi");
  assert_int_equal(info.n_threads, 1);
  assert_int_equal(info.formats, YOKE_RECORD_CSV | YOKE_RECORD_MAT);
  assert_int_equal(info.n_units, 4);
  assert_int_equal(info.n_laws, 1);
  assert_int_equal(info.n_bonds, 1);
  assert_int_equal(info.n_connections, 4);
  assert_int_equal(info.n_couplings, 2);

  static const char* const names[] = {"left", "right", "count", "name"};
  static const char* const types[] = {"oscillator.force", "oscillator.mass", "counter", "label"};
  for (size_t i = 0; i < 4; i++) {
    yoke_unit_view unit;
    check_ok(yoke_system_get_unit(system, i, &unit));
    assert_string_equal(unit.name, names[i]);
    assert_string_equal(unit.type, types[i]);
    assert_int_equal(unit.kind, i == 3 ? YOKE_KIND_LAW : YOKE_KIND_MODEL);
    assert_string_equal(yoke_unit_kind_text(unit.kind), i == 3 ? "law" : "model");
    assert_int_equal(unit.is_law, i == 3);
    check_near(unit.step, i == 1 ? 0.002 : 0.01, 1e-15);
    assert_int_equal(unit.line, i < 3 ? 8 + (int)i : 11);
    assert_string_equal(unit.file, path);
    assert_true(unit.column > 0 && unit.info->n_variables > 0);
  }

  // variables by the connections' indices
  yoke_unit_view left, right;
  check_ok(yoke_system_get_unit(system, 0, &left));
  check_ok(yoke_system_get_unit(system, 1, &right));
  size_t n_from_bond = 0, n_corrected = 0, n_delayed = 0;
  for (size_t i = 0; i < 4; i++) {
    yoke_connection_view link;
    check_ok(yoke_system_get_connection(system, i, &link));
    yoke_unit_view from, to;
    check_ok(yoke_system_get_unit(system, link.from_unit, &from));
    check_ok(yoke_system_get_unit(system, link.to_unit, &to));
    assert_int_equal(from.info->variables[link.from_variable].causality, YOKE_OUTPUT);
    assert_int_equal(to.info->variables[link.to_variable].causality, YOKE_INPUT);
    assert_int_equal(link.n, 1);
    n_from_bond += link.is_from_bond;
    n_corrected += link.coupling == 1;
    if (link.delay > 0) {
      n_delayed++;
      check_near(link.delay, 0.02, 1e-15);
      check_near(link.gain, 2, 0);
      check_near(link.offset, 0.5, 0);
      assert_int_equal(link.order, 1);
      assert_string_equal(from.info->variables[link.from_variable].name, "x");
      assert_string_equal(to.info->variables[link.to_variable].name, "x_other");
      assert_int_equal(link.coupling, 0);
    }
  }
  assert_int_equal(n_from_bond, 2);
  assert_int_equal(n_delayed, 1);
  assert_true(n_corrected > 0);

  yoke_bond_view bond;
  check_ok(yoke_system_get_bond(system, 0, &bond));
  assert_string_equal(bond.name, "spring");
  assert_int_equal(bond.action_unit, 0);
  assert_int_equal(bond.rate_unit, 1);
  assert_int_equal(bond.n, 1);
  assert_false(bond.is_found || bond.is_heat);
  assert_true(fabs(bond.sign) == 1);

  yoke_coupling_view coupling;
  check_ok(yoke_system_get_coupling(system, 0, &coupling));
  assert_string_equal(coupling.name, "");
  check_ok(yoke_system_get_coupling(system, 1, &coupling));
  assert_string_equal(coupling.name, "spring");
  assert_string_equal(coupling.owner, "bond 'spring'");
  assert_string_equal(coupling.ops->name, "energy");
  size_t n_found = 0;
  for (size_t i = 0; i < coupling.ops->n_parameters; i++) {
    if (strcmp(coupling.ops->parameters[i].name, "k_i") == 0) {
      check_near(coupling.parameters[i], 0.125, 0);
      n_found++;
    }
  }
  assert_int_equal(n_found, 1);

  char* json = NULL;
  check_ok(yoke_system_describe(system, &json));
  check_contains(json, "yoke-system");
  check_contains(json, "oscillator.mass");
  yoke_text_free(&json);
}

static void test_from_memory_and_file(void** state) {
  (void)state;
  HEAR(told);
  const char* path = "api_system.yaml";
  const yoke_load_settings settings = {.sink = &told.sink};
  yoke_system* system = NULL;
  if (yoke_system_parse(text, strlen(text), "memory.yaml", &settings, &system) < 0) {
    fail_msg("%s", told.text);
  }
  check_system(system, "memory.yaml");
  yoke_system_destroy(&system);

  FILE* file = fopen(path, "w");
  assert_true(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
  check_ok(yoke_system_load(path, &settings, &system));
  check_system(system, path);
  yoke_system_destroy(&system);
  yoke_simulation* sim = NULL;
  check_ok(yoke_simulation_load(path, &settings, &sim));
  check_system(yoke_simulation_system(sim), path);
  yoke_simulation_destroy(&sim);
  // settings change the file
  const char* const sets[] = {"time.step=0.02", "name=changed"};
  const yoke_load_settings changed = {.sink = &told.sink, .sets = sets, .n_sets = 2};
  yoke_system_info info;
  check_ok(yoke_system_load(path, &changed, &system));
  check_ok(yoke_system_get_info(system, &info));
  assert_string_equal(info.name, "changed");
  check_near(info.step, 0.02, 1e-15);
  yoke_system_destroy(&system);
  remove(path);
}

// every mistake of a text with its place
static void test_mistakes(void** state) {
  (void)state;
  HEAR(told);
  const yoke_load_settings settings = {.sink = &told.sink};
  static const char wrong[] =
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nunits:\n  a: {model: rampp}\n"
      "  b: {model: gain}\nconnections: [a.y -> b.v]\n";
  yoke_system* system = NULL;
  assert_int_equal(yoke_system_parse(wrong, strlen(wrong), "w.yaml", &settings, &system),
                   YOKE_BAD_INPUT);
  assert_null(system);
  check_contains(told.text, "w.yaml:6:");
  check_contains(told.text, "did you mean 'ramp'?");
}

static void test_bad_arguments(void** state) {
  (void)state;
  HEAR(told);
  const yoke_load_settings settings = {.sink = &told.sink};
  const yoke_load_settings no_sets = {.sink = &told.sink, .n_sets = 1};
  yoke_system* system = (yoke_system*)&told;
  assert_int_equal(yoke_system_load(NULL, &settings, &system), YOKE_BAD_ARG);
  assert_null(system);
  assert_int_equal(yoke_system_load("x.yaml", &settings, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_system_load("x.yaml", &no_sets, &system), YOKE_BAD_ARG);
  const char* const null_set[] = {NULL};
  const yoke_load_settings of_null = {.sink = &told.sink, .sets = null_set, .n_sets = 1};
  assert_int_equal(yoke_system_load("x.yaml", &of_null, &system), YOKE_BAD_ARG);
  assert_int_equal(yoke_system_load("no_such.yaml", &settings, &system), YOKE_IO);
  check_contains(told.text, "no_such.yaml");
  assert_int_equal(yoke_system_parse(NULL, 4, "x", &settings, &system), YOKE_BAD_ARG);
  assert_int_equal(yoke_system_parse("", 0, "x", &settings, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_system_parse("", 0, "x", &settings, &system), YOKE_BAD_INPUT);
  assert_int_equal(yoke_system_parse(NULL, 0, NULL, NULL, &system), YOKE_BAD_INPUT);
  assert_null(system);
  yoke_system_destroy(NULL);
  yoke_system_destroy(&system);
  yoke_text_free(NULL);

  static const char small[] = "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: "
                              "0.1}\nunits: {r: {model: ramp}}\nquality: {find: false}\n";
  check_ok(yoke_system_parse(small, strlen(small), NULL, &settings, &system));
  yoke_system_info info;
  yoke_unit_view unit;
  yoke_connection_view link;
  yoke_bond_view bond;
  yoke_coupling_view coupling;
  char* json = NULL;
  assert_int_equal(yoke_system_get_info(NULL, &info), YOKE_BAD_ARG);
  assert_int_equal(yoke_system_get_info(system, NULL), YOKE_BAD_ARG);
  check_ok(yoke_system_get_info(system, &info));
  assert_int_equal(yoke_system_get_unit(NULL, 0, &unit), YOKE_BAD_ARG);
  assert_int_equal(yoke_system_get_unit(system, 0, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_system_get_unit(system, info.n_units, &unit), YOKE_BAD_ARG);
  assert_int_equal(yoke_system_get_unit(system, SIZE_MAX, &unit), YOKE_BAD_ARG);
  assert_int_equal(yoke_system_get_connection(system, 0, &link), YOKE_BAD_ARG);
  assert_int_equal(yoke_system_get_connection(NULL, 0, &link), YOKE_BAD_ARG);
  assert_int_equal(yoke_system_get_bond(system, 0, &bond), YOKE_BAD_ARG);
  assert_int_equal(yoke_system_get_bond(NULL, 0, &bond), YOKE_BAD_ARG);
  check_ok(yoke_system_get_coupling(system, 0, &coupling));
  assert_int_equal(yoke_system_get_coupling(system, 0, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_system_get_coupling(system, info.n_couplings, &coupling), YOKE_BAD_ARG);
  assert_int_equal(yoke_system_describe(NULL, &json), YOKE_BAD_ARG);
  assert_int_equal(yoke_system_describe(system, NULL), YOKE_BAD_ARG);
  yoke_system_destroy(&system);
  assert_string_equal(yoke_unit_kind_text((yoke_unit_kind)99), "");
  assert_string_equal(yoke_solver_text((yoke_solver_method)99), "unknown");
  assert_non_null(yoke_status_text((yoke_status)-99));
}

// units, methods and sinks of the registry by index
static void test_registry(void** state) {
  (void)state;
  HEAR(told);
  yoke_registry* registry = api_registry();
  size_t n_built_in = 0, n = 0, n_couplings = 0;
  while (yoke_registry_unit(NULL, n_built_in) != NULL) {
    n_built_in++;
  }
  while (yoke_registry_unit(registry, n) != NULL) {
    n++;
  }
  while (yoke_registry_coupling(NULL, n_couplings) != NULL) {
    n_couplings++;
  }
  assert_int_equal(n, n_built_in + 1);
  assert_ptr_equal(yoke_registry_unit(registry, n_built_in), &plant_ops);
  assert_true(n_couplings > 3 && yoke_registry_coupling(registry, n_couplings) == NULL);
  assert_null(yoke_registry_unit(registry, SIZE_MAX));
  assert_null(yoke_registry_coupling(registry, SIZE_MAX));

  assert_int_equal(yoke_registry_add_unit(registry, &plant_ops, &told.sink), YOKE_BAD_ARG);
  assert_int_equal(yoke_registry_add_unit(registry, NULL, &told.sink), YOKE_BAD_ARG);
  assert_int_equal(yoke_registry_add_unit(NULL, &plant_ops, &told.sink), YOKE_BAD_ARG);
  yoke_unit_ops old = plant_ops;
  old.table_version = 99;
  heard_clear(&told);
  assert_int_equal(yoke_registry_add_unit(registry, &old, &told.sink), YOKE_BAD_ARG);
  check_contains(told.text, "version 99 of the contract");
  const yoke_coupling_ops empty = {YOKE_COUPLING_HEAD, .name = "empty"};
  assert_int_equal(yoke_registry_add_coupling(registry, &empty, &told.sink), YOKE_BAD_ARG);
  check_contains(told.text, "'empty' lacks what every method needs");
  assert_int_equal(yoke_registry_add_coupling(registry, yoke_registry_coupling(NULL, 0), NULL),
                   YOKE_BAD_ARG);
  assert_int_equal(yoke_registry_load(registry, NULL, &told.sink), YOKE_BAD_ARG);
  assert_int_equal(yoke_registry_load(NULL, "x.so", &told.sink), YOKE_BAD_ARG);
  assert_int_equal(yoke_registry_load(registry, "./no_such.so", &told.sink), YOKE_IO);
  assert_int_equal(yoke_registry_create(NULL), YOKE_BAD_ARG);
  yoke_registry_destroy(NULL);
  yoke_registry_destroy(&registry);
  assert_null(registry);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_from_memory_and_file),
      cmocka_unit_test(test_mistakes),
      cmocka_unit_test(test_bad_arguments),
      cmocka_unit_test(test_registry),
  };
  return cmocka_run_group_tests_name("api_system", tests, NULL, NULL);
}
