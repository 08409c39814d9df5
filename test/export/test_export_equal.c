// Every native model as an FMU 2.0 and 3.0 against the native unit: the same bits after every step, after going back to
// a saved state, after a reset, and the same derivatives. The FMU is read back without one warning. (CS-27, our side.)
#include <math.h>
#include <stdint.h>

#include "base/base_message.h"
#include "exported.h"

enum { N_STEPS = 1000, SAVE_AT = 400, N_AGAIN = 50 };

// Numbers that follow from (seed, k) alone; splitmix64.
static uint64_t random_bits(uint64_t* state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static double random_real(uint64_t* state) {
  return (double)(random_bits(state) >> 11) * 0x1p-53;
}

// A random value of a variable in storage form.
static void fill_random(const yoke_variable* v, const exported_case* c, uint64_t* state,
                        char* storage) {
  const size_t n = yoke__variable_count(v), size = yoke__variable_element_size(v);
  for (size_t i = 0; i < n; i++) {
    char* at = storage + i * size;
    const double real = v->start + c->spread * (2.0 * random_real(state) - 1.0);
    int64_t whole = (int64_t)(random_bits(state) % 7) - 2;
    int64_t n_items = 0;
    while (v->items != NULL && v->items[n_items] != NULL) {
      n_items++;
    }
    whole = v->type == YOKE_BOOLEAN ? whole > 0 : whole;
    whole = n_items > 0 ? (int64_t)(random_bits(state) % (uint64_t)n_items) : whole;
    if (v->type == YOKE_REAL) {
      memcpy(at, &real, sizeof real);
    } else if (v->type == YOKE_STRING) {
      memset(at, 0, size);
      snprintf(at, size, "text %d", (int)whole);
    } else {
      memcpy(at, &whole, sizeof whole);
    }
  }
}

// Both get the same inputs.
static void set_inputs(const yoke_unit* unit, fmu_instance* f, const exported_case* c,
                       uint64_t* random) {
  char value[4096];
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    const yoke_variable* v = &unit->info->variables[i];
    if (v->causality == YOKE_INPUT) {
      assert_true(yoke__variable_size(v) <= sizeof value);
      fill_random(v, c, random, value);
      check_ok(yoke__unit_set(unit, i, value, yoke__variable_size(v)));
      if (fmu_set(f, i, value) != FMU_OK) {
        fail_msg("%s.%s cannot be set: %s", c->model, v->name, f->log);
      }
    }
  }
}

// Every variable, bit by bit.
static void compare(const yoke_unit* unit, fmu_instance* f, const char* model, int k) {
  char native[4096], other[4096];
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    const yoke_variable* v = &unit->info->variables[i];
    const size_t size = yoke__variable_size(v);
    assert_true(size <= sizeof native);
    memset(native, 0, sizeof native);
    memset(other, 0, sizeof other);
    check_ok(yoke__unit_get(unit, i, native, size));
    if (fmu_get(f, i, other) != FMU_OK) {
      fail_msg("%s.%s cannot be read at step %d: %s", model, v->name, k, f->log);
    }
    if (memcmp(native, other, size) != 0) {
      double a = 0.0, b = 0.0;
      memcpy(&a, native, sizeof a);
      memcpy(&b, other, sizeof b);
      fail_msg("%s.%s, FMI %d, step %d: native %.17g, FMU %.17g", model, v->name, f->from->job.fmi,
               k, a, b);
    }
  }
}

// Steps k .. k + n - 1 of both; the inputs follow from k.
static void run(const yoke_unit* unit, fmu_instance* f, const exported_case* c, int k, int n,
                bool is_native_stepped) {
  const double h = 1e-3;
  for (int i = k; i < k + n; i++) {
    uint64_t random = (uint64_t)i * 1000003u + 17u;
    const double t = 2.0 + (double)i * h;
    set_inputs(unit, f, c, &random);
    yoke_step_result result = {.t_reached = t + h};
    if (is_native_stepped) {
      const yoke_status status = unit->ops->step(unit->self, t, h, &result);
      if (status < 0) {
        fail_msg("%s: native step %d: %s", c->model, i,
                 result.message == NULL ? yoke_status_text(status) : result.message);
      }
    }
    if (fmu_step(f, t, h) != FMU_OK) {
      fail_msg("%s, FMI %d, step %d: %s", c->model, f->from->job.fmi, i, f->log);
    }
    if (is_native_stepped) {
      compare(unit, f, c->model, i);
    }
  }
}

// Derivatives of all real outputs by all real inputs, one at a time.
static void compare_derivatives(const yoke_unit* unit, fmu_instance* f, const char* model) {
  const yoke_fmi_binary* b = f->from->binary;
  const bool is_2 = f->from->job.fmi == 2;
  const yoke_unit_info* info = unit->info;
  for (size_t u = 0; u < info->n_variables; u++) {
    for (size_t k = 0; k < info->n_variables; k++) {
      if (info->variables[u].causality != YOKE_OUTPUT || info->variables[u].type != YOKE_REAL ||
          info->variables[k].causality != YOKE_INPUT || info->variables[k].type != YOKE_REAL) {
        continue;
      }
      const double seed = 0.75;
      double native = 0.0, other = 0.0;
      const uint32_t unknown = fmu_reference(unit, u), known = fmu_reference(unit, k);
      check_ok(unit->ops->derivative(unit->self, &u, 1, &k, 1, &seed, &native));
      const int status =
          is_2 ? (int)b->f2.GetDirectionalDerivative(f->c, &unknown, 1, &known, 1, &seed, &other)
               : (int)b->f3.GetDirectionalDerivative(f->c, &unknown, 1, &known, 1, &seed, 1, &other,
                                                     1);
      if (status != FMU_OK || !(native == other)) {
        fail_msg("%s: d %s / d %s: native %.17g, FMU %.17g: %s", model, info->variables[u].name,
                 info->variables[k].name, native, other, f->log);
      }
    }
  }
}

// Back to step SAVE_AT by the block and by its bytes in another instance: the same numbers come again.
static void repeat(fmu_instance* f, fmu_instance* other, const exported_case* c, void* state) {
  const yoke_unit* unit = f->from->unit;
  size_t size = 0;
  unsigned char* bytes = fmu_write_state(f, state, &size);
  void* copy = NULL;
  assert_int_equal(fmu_read_state(other, bytes, size, &copy), FMU_OK);
  assert_int_equal(fmu_set_state(f, state), FMU_OK);
  assert_int_equal(fmu_set_state(other, copy), FMU_OK);
  assert_int_equal(fmu_free_state(other, &copy), FMU_OK);
  assert_null(copy);
  free(bytes);
  run(unit, other, c, SAVE_AT, N_AGAIN, false);
  run(unit, f, c, SAVE_AT, N_AGAIN, false);
  char first[4096], second[4096];
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    memset(first, 0, sizeof first);
    memset(second, 0, sizeof second);
    assert_int_equal(fmu_get(f, i, first), FMU_OK);
    assert_int_equal(fmu_get(other, i, second), FMU_OK);
    if (memcmp(first, second, sizeof first) != 0) {
      fail_msg("%s.%s differs after going back", c->model, unit->info->variables[i].name);
    }
  }
}

static void start(const yoke_unit* unit, fmu_instance* f, const exported_case* c) {
  YOKE_CATCH(err);
  uint64_t random = 99;
  if (unit != NULL && yoke__unit_enter_init(unit, 2.0, (double)INFINITY, &err.sink) < 0) {
    fail_msg("%s: %s", c->model, err.text);
  }
  if (fmu_enter(f, 2.0) != FMU_OK) {
    fail_msg("%s: %s", c->model, f->log);
  }
  if (unit == NULL) {
    assert_int_equal(fmu_exit(f), FMU_OK);
    return;
  }
  set_inputs(unit, f, c, &random);
  if (unit->ops->refresh != NULL) {
    check_ok(unit->ops->refresh(unit->self, 2.0));
  }
  compare(unit, f, c->model, -1);
  check_ok(yoke__unit_exit_init(unit));
  assert_int_equal(fmu_exit(f), FMU_OK);
}

static void check_model(const char* model, int fmi) {
  const exported_case c = exported_case_of(model);
  exported e;
  exported_open(&e, c.model, c.settings, fmi);
  const yoke_unit* unit = e.unit;
  fmu_instance f, other;
  fmu_open(&f, &e);
  fmu_open(&other, &e);
  start(unit, &f, &c);
  start(NULL, &other, &c);
  run(unit, &f, &c, 0, SAVE_AT, true);
  if (unit->ops->derivative != NULL) {
    compare_derivatives(unit, &f, model);
  }
  void* state = NULL;
  assert_int_equal(fmu_get_state(&f, &state), FMU_OK);
  run(unit, &f, &c, SAVE_AT, N_STEPS - SAVE_AT, true);

  // the native unit stays at the end; the FMUs go back and forth once more
  repeat(&f, &other, &c, state);
  assert_int_equal(fmu_free_state(&f, &state), FMU_OK);
  assert_int_equal(fmu_terminate(&f), FMU_OK);
  assert_int_equal(f.n_messages, 0);
  fmu_close(&f);
  fmu_close(&other);
  exported_close(&e);
}

static void all_models(int fmi) {
  for (size_t i = 0; i < yoke__models_count(NULL); i++) {
    check_model(yoke__models_at(NULL, i)->name, fmi);
  }
}

static void test_fmi2(void** state) {
  (void)state;
  all_models(2);
}

static void test_fmi3(void** state) {
  (void)state;
  all_models(3);
}

// A second run after a reset starts from the same numbers.
static void check_reset(int fmi) {
  const exported_case c = exported_case_of("oscillator.force");
  exported e;
  exported_open(&e, c.model, c.settings, fmi);
  fmu_instance f;
  fmu_open(&f, &e);
  start(NULL, &f, &c);
  run(e.unit, &f, &c, 0, 20, false);
  assert_int_equal(fmu_reset(&f), FMU_OK);
  start(e.unit, &f, &c);
  run(e.unit, &f, &c, 0, 20, true);
  fmu_close(&f);
  exported_close(&e);
}

static void test_reset(void** state) {
  (void)state;
  check_reset(2);
  check_reset(3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fmi2),
      cmocka_unit_test(test_fmi3),
      cmocka_unit_test(test_reset),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
