// The registry of unit types, and a sweep over every built-in model: what it says about itself is
// sound and true, rolling back repeats the same bytes, and refreshing twice is refreshing once.
#include "base/base_message.h"
#include "system/system_registry.h"
#include "unit/unit_models.h"

#include "base/base_dim.h"
#include "support/check.h"
#include "unit/unit.h"

// ---------------------------------------------------------------------------------------------------------
// the registry

typedef struct lag {
  double u, y;
} lag;

static const yoke_variable lag_variables[] = {
    {.name = "u", .causality = YOKE_INPUT, .offset = offsetof(lag, u)},
    {.name = "y", .causality = YOKE_OUTPUT, .offset = offsetof(lag, y)},
};
static const yoke_unit_info lag_info = {
    .variables = lag_variables, .n_variables = 2, .self_size = sizeof(lag)};

static yoke_status lag_step(void* self, double t, double h, yoke_step_result* result) {
  (void)self;
  (void)t;
  (void)h;
  (void)result;
  return YOKE_OK;
}

static yoke_status lag_create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  (void)args;
  (void)self;
  return yoke_fail(sink, YOKE_BAD_INPUT, "never");
}

static const yoke_unit_ops lag_ops = {YOKE_UNIT_HEAD, .name = "my.lag", .info = &lag_info,
                                      .step = lag_step};

static void test_models_are_added_and_found(void** state) {
  (void)state;
  yoke_registry* models = NULL;
  check_ok(yoke_registry_create(&models));
  const size_t n_builtin = yoke__models_count(NULL);
  assert_true(n_builtin > 20);
  assert_int_equal(yoke__models_count(yoke__registry_units(models)), n_builtin);
  assert_null(yoke__models_find(yoke__registry_units(models), "my.lag"));
  assert_int_equal(yoke_registry_add_unit(models, &lag_ops, NULL), YOKE_OK);
  assert_ptr_equal(yoke__models_find(yoke__registry_units(models), "my.lag"), &lag_ops);
  assert_null(yoke__models_find(NULL, "my.lag"));  // the built-in ones stay as they are
  assert_int_equal(yoke__models_count(yoke__registry_units(models)), n_builtin + 1);
  assert_ptr_equal(yoke__models_at(yoke__registry_units(models), n_builtin), &lag_ops);

  // many more
  static yoke_unit_ops many[200];
  static char names[200][16];
  for (size_t i = 0; i < 200; i++) {
    snprintf(names[i], sizeof names[i], "many.%zu", i);
    many[i] = lag_ops;
    many[i].name = names[i];
    assert_int_equal(yoke_registry_add_unit(models, &many[i], NULL), YOKE_OK);
  }
  for (size_t i = 0; i < 200; i++) {
    assert_ptr_equal(yoke__models_find(yoke__registry_units(models), names[i]), &many[i]);
  }
  yoke_registry_destroy(&models);
  assert_null(models);
  yoke_registry_destroy(&models);
  yoke_registry_destroy(NULL);
  assert_int_equal(yoke_registry_create(NULL), YOKE_BAD_ARG);
}

static void test_names_are_taken_once(void** state) {
  (void)state;
  yoke_registry* models = NULL;
  check_ok(yoke_registry_create(&models));
  assert_int_equal(yoke_registry_add_unit(models, &lag_ops, NULL), YOKE_OK);
  assert_int_equal(yoke_registry_add_unit(models, &lag_ops, NULL), YOKE_BAD_ARG);
  yoke_unit_ops same = lag_ops;
  assert_int_equal(yoke_registry_add_unit(models, &same, NULL), YOKE_BAD_ARG);
  same.name = "oscillator.force";  // built in
  assert_int_equal(yoke_registry_add_unit(models, &same, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke__models_count(yoke__registry_units(models)), yoke__models_count(NULL) + 1);
  yoke_registry_destroy(&models);
}

static void test_unusable_operations_are_refused(void** state) {
  (void)state;
  yoke_registry* models = NULL;
  check_ok(yoke_registry_create(&models));
  assert_int_equal(yoke_registry_add_unit(NULL, &lag_ops, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_registry_add_unit(models, NULL, NULL), YOKE_BAD_ARG);
  yoke_unit_info empty = lag_info;
  empty.self_size = 0;
  yoke_unit_ops unusable[6];
  for (size_t i = 0; i < 6; i++) {
    unusable[i] = lag_ops;
  }
  unusable[0].name = NULL;
  unusable[1].step = NULL;  // neither step nor refresh
  unusable[2].info = NULL;  // no way to make one
  unusable[3].info = &empty;
  unusable[4].info = NULL;  // made, but not described
  unusable[4].create = lag_create;
  unusable[5].structure = NULL;  // settings that are not there
  unusable[5].n_structure = 2;
  for (size_t i = 0; i < 6; i++) {
    if (yoke_registry_add_unit(models, &unusable[i], NULL) != YOKE_BAD_ARG) {
      fail_msg("unusable operations %zu were accepted", i);
    }
  }
  assert_int_equal(yoke__models_count(yoke__registry_units(models)), yoke__models_count(NULL));
  yoke_registry_destroy(&models);
}

static void test_nearest_model(void** state) {
  (void)state;
  yoke_registry* models = NULL;
  check_ok(yoke_registry_create(&models));
  check_ok(yoke_registry_add_unit(models, &lag_ops, NULL));
  assert_string_equal(yoke__models_nearest(yoke__registry_units(models), "my.lga"), "my.lag");
  assert_string_equal(yoke__models_nearest(yoke__registry_units(models), "oscilator.force"),
                      "oscillator.force");
  assert_string_equal(yoke__models_nearest(NULL, "Spring_Damper"), "spring_damper");
  assert_string_equal(yoke__models_nearest(NULL, "intergrator"), "integrator");
  assert_null(yoke__models_nearest(yoke__registry_units(models), "completely different"));
  yoke_registry_destroy(&models);
}

// ---------------------------------------------------------------------------------------------------------
// the sweep

typedef struct probe {
  yoke_arena arena;
  yoke_unit unit;
  size_t size;  // bytes of all values
} probe;

// settings without which some models cannot be made
static const char* const labels[] = {"low", "middle", "high"};
static const double one = 1, slow = -0.5;
static const yoke_argument label_arguments[] = {{"labels", YOKE_STRING, 3, 1, labels}};
static const yoke_argument state_space_arguments[] = {{"A", YOKE_REAL, 1, 1, &slow},
                                                      {"B", YOKE_REAL, 1, 1, &one},
                                                      {"C", YOKE_REAL, 1, 1, &one},
                                                      {"D", YOKE_REAL, 1, 1, &one}};
static const char* const drive[] = {"models_drive.csv"};
static const yoke_argument playback_arguments[] = {{"file", YOKE_STRING, 1, 1, drive}};
static const double points[] = {0, 0.1, 10, 0.3};
static const yoke_argument driver_arguments[] = {{"points", YOKE_REAL, 2, 2, points}};
// room for the calls by which samples are late with the settings that check_feedthrough makes
static const int64_t late_max = 4;
static const yoke_argument channel_arguments[] = {{"late_max", YOKE_INTEGER, 1, 1, &late_max}};

static unsigned char* take(size_t size) {
  unsigned char* bytes = malloc(size + 1);
  if (bytes == NULL) {
    abort();
  }
  return bytes;
}

static yoke_unit_args arguments_of(const yoke_unit_ops* ops) {
  yoke_unit_args args = {"unit", ".", NULL, 0, ops->context};
  if (strcmp(ops->name, "label") == 0) {
    args.arguments = label_arguments;
    args.n_arguments = 1;
  } else if (strcmp(ops->name, "state_space") == 0) {
    args.arguments = state_space_arguments;
    args.n_arguments = 4;
  } else if (strcmp(ops->name, "playback") == 0) {
    args.arguments = playback_arguments;
    args.n_arguments = 1;
  } else if (strcmp(ops->name, "driver") == 0) {
    args.arguments = driver_arguments;
    args.n_arguments = 1;
  } else if (strcmp(ops->name, "channel") == 0) {
    args.arguments = channel_arguments;
    args.n_arguments = 1;
  }
  return args;
}

static void open_probe(probe* p, const yoke_unit_ops* ops) {
  const yoke_unit_args args = arguments_of(ops);
  YOKE_CATCH(err);
  *p = (probe){0};
  if (yoke__unit_create(ops, &args, &p->arena, &p->unit, &err.sink) < 0) {
    fail_msg("%s: %s", ops->name, err.text);
  }
  for (size_t i = 0; i < p->unit.info->n_variables; i++) {
    p->size += yoke__variable_size(&p->unit.info->variables[i]);
  }
}

static void close_probe(probe* p) {
  yoke__unit_close(&p->unit);
  yoke__arena_free(&p->arena);
}

static void start_probe(probe* p) {
  YOKE_CATCH(err);
  if (yoke__unit_enter_init(&p->unit, 0, 10, &err.sink) < 0) {
    fail_msg("%s: %s", p->unit.ops->name, err.text);
  }
  check_ok(p->unit.ops->refresh(p->unit.self, 0));
  check_ok(yoke__unit_exit_init(&p->unit));
}

static double uniform(uint64_t* random) {
  *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*random >> 11) * 0x1p-53;
}

static int64_t n_items(const yoke_variable* v) {
  int64_t n = 0;
  while (v->items != NULL && v->items[n] != NULL) {
    n++;
  }
  return n;
}

// some value that the type allows, for each element; reals near their start value
static void set_randomly(const yoke_unit* unit, size_t variable, uint64_t* random) {
  const yoke_variable* v = &unit->info->variables[variable];
  const size_t n = yoke__variable_count(v);
  union {
    double real;
    int64_t whole;
  } values[64];
  assert_true(v->type != YOKE_STRING && v->type != YOKE_BINARY && n <= 64);
  for (size_t i = 0; i < n; i++) {
    const double x = uniform(random);
    if (v->type == YOKE_REAL) {
      values[i].real = v->start + 0.02 * (x - 0.5);
    } else {
      const int64_t most = v->type == YOKE_ENUMERATION ? n_items(v)
                           : v->type == YOKE_BOOLEAN   ? 2
                                                       : 5;
      values[i].whole = (int64_t)(x * (double)most);
    }
  }
  check_ok(yoke__unit_set(unit, variable, values, yoke__variable_size(v)));
}

// every value of the unit, one after another
static void read_all(const probe* p, unsigned char* to) {
  for (size_t i = 0; i < p->unit.info->n_variables; i++) {
    const size_t size = yoke__variable_size(&p->unit.info->variables[i]);
    check_ok(yoke__unit_get(&p->unit, i, to, size));
    to += size;
  }
}

static size_t position_of(const probe* p, size_t variable) {
  size_t at = 0;
  for (size_t i = 0; i < variable; i++) {
    at += yoke__variable_size(&p->unit.info->variables[i]);
  }
  return at;
}

// signals that the user names and nobody else can say more about
static bool is_named_by_user(const yoke_unit_ops* ops, const yoke_variable* v) {
  return (strcmp(ops->name, "state_space") == 0 || strcmp(ops->name, "playback") == 0) &&
         v->type == YOKE_REAL && v->causality != YOKE_PARAMETER;
}

static void check_variable(const yoke_unit_ops* ops, const yoke_variable* v, bool is_setting) {
  assert_non_null(v->name);
  if (v->name[0] == '\0' ||
      (!is_named_by_user(ops, v) && (v->text == NULL || v->text[0] == '\0'))) {
    fail_msg("%s: '%s' has no text for people", ops->name, v->name);
  }
  yoke_dim dim;
  if (v->dim != NULL && v->dim[0] != '\0' && !yoke__dim_parse(v->dim, &dim)) {
    fail_msg("%s: '%s' is in '%s', which is not understood", ops->name, v->name, v->dim);
  }
  if ((v->type == YOKE_ENUMERATION && n_items(v) < 2) ||
      (v->type == YOKE_STRING && v->max_size == 0)) {
    fail_msg("%s: '%s' lacks what its type needs", ops->name, v->name);
  }
  if (v->type == YOKE_ENUMERATION && !is_setting &&
      !(v->start >= 0 && v->start < (double)n_items(v))) {
    fail_msg("%s: '%s' starts at %g, outside its items", ops->name, v->name, v->start);
  }
  assert_true(isfinite(v->start));
  assert_true(!is_setting || v->causality == YOKE_PARAMETER);
}

static void test_descriptions(void** state) {
  (void)state;
  for (size_t m = 0; m < yoke__models_count(NULL); m++) {
    const yoke_unit_ops* ops = yoke__models_at(NULL, m);
    assert_ptr_equal(yoke__models_find(NULL, ops->name), ops);  // names are unique
    assert_true(ops->text != NULL && ops->text[0] != '\0');
    assert_non_null(ops->refresh);
    for (size_t i = 0; i < ops->n_structure; i++) {
      check_variable(ops, &ops->structure[i], true);
    }
    probe p;
    open_probe(&p, ops);
    const yoke_unit_info* info = p.unit.info;
    for (size_t i = 0; i < info->n_variables; i++) {
      check_variable(ops, &info->variables[i], false);
      if (yoke__unit_find(&p.unit, info->variables[i].name) != i) {
        fail_msg("%s: two variables are called '%s'", ops->name, info->variables[i].name);
      }
    }
    for (size_t i = 0; i < info->n_feedthrough; i++) {
      const yoke_feedthrough* f = &info->feedthrough[i];
      assert_true(f->output < info->n_variables && f->input < info->n_variables);
      assert_int_equal(info->variables[f->output].causality, YOKE_OUTPUT);
      assert_int_equal(info->variables[f->input].causality, YOKE_INPUT);
      for (size_t j = 0; j < i; j++) {
        assert_false(info->feedthrough[j].output == f->output &&
                     info->feedthrough[j].input == f->input);
      }
    }
    // a law has no memory, everything else can be stepped
    assert_true(ops->step != NULL || (info->flags & YOKE_UNIT_ALGEBRAIC) != 0);
    assert_true(yoke__unit_image_size(&p.unit) > 0);
    close_probe(&p);
  }
}

// Moves one input after the other at random points: what moves was declared, what was declared moves.
// Settings that are zero by default may hide a path, so they are moved away from zero.
static void check_feedthrough(const yoke_unit_ops* ops) {
  enum { MAX_VARIABLES = 128, N_POINTS = 40 };
  static bool has_moved[MAX_VARIABLES][MAX_VARIABLES];
  memset(has_moved, 0, sizeof has_moved);
  probe p;
  open_probe(&p, ops);
  const yoke_unit_info* info = p.unit.info;
  assert_true(info->n_variables <= MAX_VARIABLES);
  for (size_t i = 0; i < info->n_variables; i++) {
    const yoke_variable* v = &info->variables[i];
    double value = 0;
    if ((v->causality == YOKE_PARAMETER || v->causality == YOKE_TUNABLE) && v->type == YOKE_REAL &&
        yoke__variable_count(v) == 1 && v->start == 0) {
      value = 0.5;
      check_ok(yoke__unit_set(&p.unit, i, &value, sizeof value));
    }
  }
  start_probe(&p);
  unsigned char *before = take(p.size), *after = take(p.size);
  uint64_t random = 99;
  for (int point = 0; point < N_POINTS; point++) {
    for (size_t i = 0; i < info->n_variables; i++) {
      if (info->variables[i].causality == YOKE_INPUT) {
        set_randomly(&p.unit, i, &random);
      }
    }
    for (size_t i = 0; i < info->n_variables; i++) {
      if (info->variables[i].causality != YOKE_INPUT) {
        continue;
      }
      check_ok(ops->refresh(p.unit.self, 0));
      read_all(&p, before);
      set_randomly(&p.unit, i, &random);
      check_ok(ops->refresh(p.unit.self, 0));
      read_all(&p, after);
      for (size_t o = 0; o < info->n_variables; o++) {
        const size_t at = position_of(&p, o), size = yoke__variable_size(&info->variables[o]);
        has_moved[o][i] = has_moved[o][i] || (info->variables[o].causality == YOKE_OUTPUT &&
                                              memcmp(before + at, after + at, size) != 0);
      }
    }
  }
  for (size_t o = 0; o < info->n_variables; o++) {
    for (size_t i = 0; i < info->n_variables; i++) {
      const bool is_declared = yoke__unit_has_feedthrough(&p.unit, o, i);
      if (has_moved[o][i] != is_declared) {
        fail_msg("%s: '%s' %s '%s', which is %s", ops->name, info->variables[i].name,
                 has_moved[o][i] ? "moves" : "does not move", info->variables[o].name,
                 is_declared ? "declared" : "not declared");
      }
    }
  }
  free(before);
  free(after);
  close_probe(&p);
}

static void test_feedthrough_is_as_declared(void** state) {
  (void)state;
  for (size_t m = 0; m < yoke__models_count(NULL); m++) {
    check_feedthrough(yoke__models_at(NULL, m));
  }
}

static void step_probe(probe* p, double t, double h) {
  yoke_step_result result = {.t_reached = t + h};
  const yoke_status status = p->unit.ops->step(p->unit.self, t, h, &result);
  if (status < 0) {
    fail_msg("%s at %g: %s", p->unit.ops->name, t,
             result.message != NULL ? result.message : yoke_status_text(status));
  }
  assert_int_equal(result.flags, 0);
  assert_true(result.t_reached == t + h);
}

// steps with inputs that change; then every value and the image
static void run_probe(probe* p, uint64_t random, unsigned char* values, unsigned char* image) {
  for (int k = 0; k < 20; k++) {
    for (size_t i = 0; i < p->unit.info->n_variables; i++) {
      if (p->unit.info->variables[i].causality == YOKE_INPUT) {
        set_randomly(&p->unit, i, &random);
      }
    }
    step_probe(p, k * 1e-4, 1e-4);
  }
  read_all(p, values);
  check_ok(yoke__unit_save(&p->unit, image, yoke__unit_image_size(&p->unit)));
}

static void test_rolling_back_repeats_the_same_bytes(void** state) {
  (void)state;
  for (size_t m = 0; m < yoke__models_count(NULL); m++) {
    probe p;
    open_probe(&p, yoke__models_at(NULL, m));
    if (p.unit.ops->step == NULL) {
      close_probe(&p);
      continue;
    }
    start_probe(&p);
    const size_t size = yoke__unit_image_size(&p.unit);
    unsigned char *start = take(size), *images = take(2 * size), *values = take(2 * p.size);
    check_ok(yoke__unit_save(&p.unit, start, size));
    run_probe(&p, 5, values, images);
    step_probe(&p, 1, 3e-4);  // further steps leave no trace
    check_ok(p.unit.ops->refresh(p.unit.self, 1));
    check_ok(yoke__unit_restore(&p.unit, start, size));
    run_probe(&p, 5, values + p.size, images + size);
    if (memcmp(values, values + p.size, p.size) != 0 || memcmp(images, images + size, size) != 0) {
      fail_msg("%s: another result after rolling back", p.unit.ops->name);
    }
    free(start);
    free(images);
    free(values);
    close_probe(&p);
  }
}

// at the start and after some steps; outputs as a step left them are not touched by the second refresh
static void test_refreshing_twice_is_refreshing_once(void** state) {
  (void)state;
  for (size_t m = 0; m < yoke__models_count(NULL); m++) {
    probe p;
    open_probe(&p, yoke__models_at(NULL, m));
    start_probe(&p);
    unsigned char *once = take(p.size), *twice = take(p.size);
    uint64_t random = 3;
    for (int k = 0; k < 10; k++) {
      for (size_t i = 0; i < p.unit.info->n_variables; i++) {
        if (p.unit.info->variables[i].causality == YOKE_INPUT) {
          set_randomly(&p.unit, i, &random);
        }
      }
      const double t = k * 1e-4;
      check_ok(p.unit.ops->refresh(p.unit.self, t));
      read_all(&p, once);
      check_ok(p.unit.ops->refresh(p.unit.self, t));
      read_all(&p, twice);
      if (memcmp(once, twice, p.size) != 0) {
        fail_msg("%s: a second refresh changes values", p.unit.ops->name);
      }
      if (p.unit.ops->step != NULL) {
        step_probe(&p, t, 1e-4);
      }
    }
    free(once);
    free(twice);
    close_probe(&p);
  }
}

static int write_drive(void** state) {
  (void)state;
  FILE* file = fopen(drive[0], "w");
  return file == NULL || fputs("time,a,b\n0,1,2\n1,3,-1\n2,0,5\n", file) < 0 || fclose(file) != 0;
}

static int remove_drive(void** state) {
  (void)state;
  return remove(drive[0]);
}

// x' as `rates` tells it changes with states and inputs as A and B of the linear model say; where a model has states, both
// must be there: an exported FMU has a linear model only then.
static void check_rates(const yoke_unit_ops* ops) {
  enum { MOST = 32 };
  probe p;
  open_probe(&p, ops);
  start_probe(&p);
  double A[MOST * MOST], B[MOST * MOST], C[MOST * MOST], D[MOST * MOST];
  yoke_linear size = {0}, model = {.A = A, .B = B, .C = C, .D = D};
  const bool has_model = ops->linearise(p.unit.self, &size) >= 0;
  const size_t n = size.n_states, m = size.n_inputs;
  const bool is_flat = (ops->info->flags & YOKE_UNIT_FLAT) != 0;
  if (has_model && n > 0 && is_flat && ops->rates == NULL) {
    fail_msg("%s has %zu states and no rates", ops->name, n);
  }
  if (has_model && n > 0 && is_flat && ops->rates != NULL) {
    assert_true(n <= MOST && m <= MOST && size.n_outputs <= MOST);
    check_ok(ops->linearise(p.unit.self, &model));
    size_t states[MOST] = {0}, inputs[MOST] = {0}, n_inputs = 0;
    double before[MOST], after[MOST];
    assert_int_equal(ops->rates(p.unit.self, states, NULL, n + 1), YOKE_BAD_ARG);
    check_ok(ops->rates(p.unit.self, states, before, n));
    for (size_t v = 0; v < ops->info->n_variables; v++) {
      if (ops->info->variables[v].causality == YOKE_INPUT && n_inputs < MOST) {
        inputs[n_inputs++] = v;
      }
    }
    assert_int_equal(n_inputs, m);
    for (size_t j = 0; j < n + m; j++) {
      const size_t v = j < n ? states[j] : inputs[j - n];
      double* value =
          (double*)(void*)((unsigned char*)p.unit.self + ops->info->variables[v].offset);
      const double kept = *value, step = 1e-6;
      *value = kept + step;
      check_ok(ops->rates(p.unit.self, NULL, after, n));
      *value = kept;
      for (size_t i = 0; i < n; i++) {
        const double want = j < n ? A[i * n + j] : B[i * m + j - n];
        check_near((after[i] - before[i]) / step, want, 1e-4 * (1 + fabs(want)));
      }
    }
  }
  close_probe(&p);
}

static void test_rates_fit_the_linear_model(void** state) {
  (void)state;
  size_t n = 0;
  for (size_t i = 0; i < yoke__models_count(NULL); i++) {
    const yoke_unit_ops* ops = yoke__models_at(NULL, i);
    if (ops->linearise != NULL && ops->info != NULL) {
      check_rates(ops);
      n++;
    }
  }
  assert_true(n > 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_models_are_added_and_found),
      cmocka_unit_test(test_names_are_taken_once),
      cmocka_unit_test(test_unusable_operations_are_refused),
      cmocka_unit_test(test_nearest_model),
      cmocka_unit_test(test_descriptions),
      cmocka_unit_test(test_feedthrough_is_as_declared),
      cmocka_unit_test(test_rolling_back_repeats_the_same_bytes),
      cmocka_unit_test(test_refreshing_twice_is_refreshing_once),
      cmocka_unit_test(test_rates_fit_the_linear_model),
  };
  return cmocka_run_group_tests_name("unit_models", tests, write_drive, remove_drive);
}
