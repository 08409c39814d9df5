// Values beside the real inputs and outputs are fetched together: the same bytes as one by one, one call per type. And
// derivatives of outputs.
#include "base/base_message.h"
#include "support/check.h"
#include "unit/fmu/fmu.h"
#include "unit/unit.h"

typedef struct opened {
  yoke_unit_store* store;
  yoke_arena arena;
  yoke_unit unit;
} opened;

static void open_fmu(const char* name, opened* o) {
  char path[1024];
  YOKE_CATCH(err);
  snprintf(path, sizeof path, "%s/%s", getenv("YOKE_FMUS"), name);
  *o = (opened){0};
  yoke_messages messages = {0};
  const yoke_unit_file_settings settings = {.kind = YOKE_KIND_FMU, .path = path, .name = "unit"};
  const yoke_unit_ops* ops = NULL;
  check_ok(yoke__unit_store_create(&o->store));
  check_ok(yoke__unit_store_open(o->store, &settings, &messages, &ops));
  yoke__messages_free(&messages);
  const yoke_unit_args args = {"unit", ".", NULL, 0, ops->context};
  if (yoke__unit_create(ops, &args, &o->arena, &o->unit, &err.sink) < 0) {
    fail_msg("%s: %s", name, err.text);
  }
}

static void close_fmu(opened* o) {
  yoke__unit_terminate(&o->unit);
  yoke__unit_close(&o->unit);
  yoke__arena_free(&o->arena);
  yoke__unit_store_destroy(&o->store);
}

// something else than the start value for every input that is a number
static void disturb(const yoke_unit* unit) {
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    const yoke_variable* v = &unit->info->variables[i];
    const size_t n = yoke__variable_count(v);
    double numbers[16];
    int64_t wholes[16];
    assert_true(n <= 16 || v->causality != YOKE_INPUT);
    for (size_t k = 0; k < n && k < 16; k++) {
      numbers[k] = 0.5 + (double)(i + k);
      wholes[k] = v->type == YOKE_BOOLEAN       ? (int64_t)(k % 2 == 0)
                  : v->type == YOKE_ENUMERATION ? 2 - (int64_t)(k % 2)
                                                : (int64_t)(i + k);
    }
    if (v->causality == YOKE_INPUT && v->type != YOKE_STRING && v->type != YOKE_BINARY) {
      check_ok(yoke__unit_set(unit, i, v->type == YOKE_REAL ? (void*)numbers : (void*)wholes,
                              yoke__variable_size(v)));
    }
  }
}

static int n_calls;
static fmi2GetIntegerTYPE* get_integer;
static fmi3GetInt32TYPE* get_int32;

static fmi2Status count_integer(fmi2Component c, const fmi2ValueReference refs[], size_t n,
                                fmi2Integer values[]) {
  n_calls++;
  return get_integer(c, refs, n, values);
}

static fmi3Status count_int32(fmi3Instance c, const fmi3ValueReference refs[], size_t n,
                              fmi3Int32 values[], size_t n_values) {
  n_calls++;
  return get_int32(c, refs, n, values, n_values);
}

static void check_all_values(const char* name, int n_expected) {
  opened o;
  open_fmu(name, &o);
  YOKE_CATCH(err);
  check_ok(yoke__unit_enter_init(&o.unit, 0, 1, &err.sink));
  disturb(&o.unit);
  check_ok(yoke__unit_exit_init(&o.unit));
  yoke_step_result result = {.t_reached = 0.1};
  check_ok(o.unit.ops->step(o.unit.self, 0, 0.1, &result));

  // every variable, at places with gaps, in no order of types
  const size_t n = o.unit.info->n_variables;
  yoke_value_place* places = calloc(n, sizeof *places);
  size_t at = 8;
  for (size_t i = 0; i < n; i++) {
    const size_t k = i * 7 % n;  // n is no multiple of 7
    places[i] = (yoke_value_place){k, at, yoke__variable_size(&o.unit.info->variables[k])};
    at += (places[i].size + 23) / 8 * 8;
  }
  assert_true(n % 7 != 0);
  char* together = calloc(1, at);
  char* alone = calloc(1, at);
  check_ok(o.unit.ops->get_values(o.unit.self, places, n, together));
  for (size_t i = 0; i < n; i++) {
    check_ok(yoke__unit_get(&o.unit, places[i].variable, alone + places[i].at, places[i].size));
    if (memcmp(alone + places[i].at, together + places[i].at, places[i].size) != 0) {
      fail_msg("%s: '%s' differs", name, o.unit.info->variables[places[i].variable].name);
    }
  }
  assert_memory_equal(together, alone, at);  // nothing beside them either

  // the second time: one call for all integers
  fmu* f = o.unit.self;
  get_integer = f->binary->f2.GetInteger;
  get_int32 = f->binary->f3.GetInt32;
  f->binary->f2.GetInteger = count_integer;
  f->binary->f3.GetInt32 = count_int32;
  n_calls = 0;
  check_ok(o.unit.ops->get_values(o.unit.self, places, n, together));
  assert_int_equal(n_calls, n_expected);
  assert_memory_equal(together, alone, at);
  free(places);
  free(together);
  free(alone);
  close_fmu(&o);
}

// FMI 2.0 has one call for integers and one for enumerations, which is the same function
static void test_fmi2(void** state) {
  (void)state;
  check_all_values("feedthrough2.fmu", 2);
}

static void test_fmi3(void** state) {
  (void)state;
  check_all_values("feedthrough3.fmu", 1);
}

// the output at the end of a step: u(s) = 2 + 3 s + 4 s^2 / 2, y' = u
static void test_input_derivatives(void** state) {
  (void)state;
  opened o;
  open_fmu("derivatives2.fmu", &o);
  YOKE_CATCH(err);
  check_ok(yoke__unit_enter_init(&o.unit, 0, 1, &err.sink));
  check_ok(yoke__unit_exit_init(&o.unit));
  const double u[] = {2}, u1[] = {3}, u2[] = {4};
  check_ok(yoke__unit_set_inputs(&o.unit, u));
  check_ok(o.unit.ops->set_input_derivatives(o.unit.self, 1, u1, 1));
  check_ok(o.unit.ops->set_input_derivatives(o.unit.self, 2, u2, 1));
  yoke_step_result result = {.t_reached = 0.5};
  check_ok(o.unit.ops->step(o.unit.self, 0, 0.5, &result));
  double y = 0;
  check_ok(yoke__unit_get_outputs(&o.unit, &y));
  check_near(y, 2 * 0.5 + 3 * 0.125 + 4 * 0.125 / 6, 1e-15);
  close_fmu(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_fmi2), cmocka_unit_test(test_fmi3),
                                     cmocka_unit_test(test_input_derivatives)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
