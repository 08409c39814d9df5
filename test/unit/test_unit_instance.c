// One unit instance: every "NULL means the obvious" rule of yoke/unit.h, with a struct that holds
// values of all types in no particular order, and with operations of its own.
#include "base/base_message.h"
#include "unit/unit.h"

#include "support/check.h"
#include "support/heard.h"

// ---------------------------------------------------------------------------------------------------------
// a flat struct: the table lists its members in another order than the memory does

typedef struct all {
  double y_late[2];
  double gap1;
  double u_scalar;
  int64_t whole;
  double u_vector[3];
  double u_next;  // right behind u_vector
  double gap2;
  double y_matrix[2][3];
  double state, parameter, tunable;
  int64_t flag, choice, whole_array[2];
  char text[12];
  char texts[2][5];
  char cut[4];
  struct {
    uint64_t n;
    unsigned char bytes[8];
  } blob;
  double gap3;
} all;

static const char* const choices[] = {"low", "middle", "high", NULL};

enum {
  Y_MATRIX,
  U_VECTOR,
  U_NEXT,
  WHOLE,
  U_SCALAR,
  Y_LATE,
  STATE,
  PARAMETER,
  TUNABLE,
  FLAG,
  CHOICE,
  WHOLE_ARRAY,
  TEXT,
  TEXTS,
  CUT,
  BLOB,
  ODD_NAME,
  N_VARIABLES
};

#define AT(member) .offset = offsetof(all, member)
static const yoke_variable all_variables[] = {
    [Y_MATRIX] = {.name = "Y",
                  .causality = YOKE_OUTPUT,
                  .n_rows = 2,
                  .n_cols = 3,
                  .start = 1.5,
                  AT(y_matrix)},
    [U_VECTOR] = {.name = "uv", .causality = YOKE_INPUT, .n_rows = 3, .start = -2, AT(u_vector)},
    [U_NEXT] = {.name = "un", .causality = YOKE_INPUT, .start = 4, AT(u_next)},
    [WHOLE] =
        {.name = "whole", .type = YOKE_INTEGER, .causality = YOKE_OUTPUT, .start = -2.6, AT(whole)},
    [U_SCALAR] = {.name = "us", .causality = YOKE_INPUT, .start = 0.25, AT(u_scalar)},
    [Y_LATE] = {.name = "yl", .causality = YOKE_OUTPUT, .n_cols = 2, .start = 9, AT(y_late)},
    [STATE] = {.name = "x", .causality = YOKE_STATE, .start = 1e-3, AT(state)},
    [PARAMETER] = {.name = "p", .causality = YOKE_PARAMETER, .start = 7, AT(parameter)},
    [TUNABLE] = {.name = "q", .causality = YOKE_TUNABLE, .start = 8, AT(tunable)},
    [FLAG] = {.name = "flag", .type = YOKE_BOOLEAN, .causality = YOKE_INPUT, .start = 1, AT(flag)},
    [CHOICE] = {.name = "choice",
                .type = YOKE_ENUMERATION,
                .causality = YOKE_INPUT,
                .start = 2,
                .items = choices,
                AT(choice)},
    [WHOLE_ARRAY] = {.name = "wa",
                     .type = YOKE_INTEGER,
                     .causality = YOKE_STATE,
                     .n_rows = 2,
                     .start = 41.5,
                     AT(whole_array)},
    [TEXT] = {.name = "text",
              .type = YOKE_STRING,
              .causality = YOKE_INPUT,
              .start_text = "hello",
              .max_size = 12,
              AT(text)},
    [TEXTS] = {.name = "texts",
               .type = YOKE_STRING,
               .causality = YOKE_INPUT,
               .start_text = "ab",
               .n_rows = 2,
               .max_size = 5,
               AT(texts)},
    [CUT] = {.name = "cut",
             .type = YOKE_STRING,
             .causality = YOKE_INPUT,
             .start_text = "too long for it",
             .max_size = 4,
             AT(cut)},
    [BLOB] =
        {.name = "blob", .type = YOKE_BINARY, .causality = YOKE_INPUT, .max_size = 8, AT(blob)},
    [ODD_NAME] = {.name = "uv[1]", .causality = YOKE_STATE, AT(gap3)},
};

static const yoke_feedthrough all_feedthrough[] = {{Y_MATRIX, U_NEXT}, {WHOLE, FLAG}};

static const yoke_unit_info all_info = {
    .variables = all_variables,
    .n_variables = N_VARIABLES,
    .feedthrough = all_feedthrough,
    .n_feedthrough = 2,
    .flags = YOKE_UNIT_FLAT,
    .self_size = sizeof(all),
};

static yoke_status step_nothing(void* self, double t, double h, yoke_step_result* result) {
  (void)self;
  (void)t;
  (void)h;
  (void)result;
  return YOKE_OK;
}

static const yoke_unit_ops flat_ops = {YOKE_UNIT_HEAD, .name = "flat", .info = &all_info,
                                       .step = step_nothing};

typedef struct fixture {
  yoke_arena arena;
  yoke_unit unit;
} fixture;

static void open_unit(fixture* f, const yoke_unit_ops* ops) {
  const yoke_unit_args args = {"unit", ".", NULL, 0, ops->context};
  YOKE_CATCH(err);
  *f = (fixture){0};
  if (yoke__unit_create(ops, &args, &f->arena, &f->unit, &err.sink) < 0) {
    fail_msg("%s: %s", ops->name, err.text);
  }
}

static void close_unit(fixture* f) {
  yoke__unit_close(&f->unit);
  yoke__arena_free(&f->arena);
}

// ---------------------------------------------------------------------------------------------------------

static void test_sizes(void** state) {
  (void)state;
  assert_int_equal(yoke__variable_count(&all_variables[U_NEXT]), 1);  // 0 is read as 1
  assert_int_equal(yoke__variable_count(&all_variables[U_VECTOR]), 3);
  assert_int_equal(yoke__variable_count(&all_variables[Y_LATE]), 2);
  assert_int_equal(yoke__variable_count(&all_variables[Y_MATRIX]), 6);
  assert_int_equal(yoke__variable_size(&all_variables[Y_MATRIX]), 48);
  assert_int_equal(yoke__variable_size(&all_variables[FLAG]), 8);
  assert_int_equal(yoke__variable_size(&all_variables[TEXTS]), 10);
  assert_int_equal(yoke__variable_element_size(&all_variables[TEXTS]), 5);
  assert_int_equal(yoke__variable_size(&all_variables[BLOB]), 16);
}

static void test_start_values(void** state) {
  (void)state;
  fixture f;
  open_unit(&f, &flat_ops);
  const all* a = f.unit.self;
  assert_true(f.unit.is_self_ours);
  for (int i = 0; i < 6; i++) {
    assert_true(a->y_matrix[i / 3][i % 3] == 1.5);
  }
  for (int i = 0; i < 3; i++) {
    assert_true(a->u_vector[i] == -2);
  }
  assert_true(a->y_late[0] == 9 && a->y_late[1] == 9);
  assert_true(a->u_next == 4 && a->u_scalar == 0.25 && a->state == 1e-3);
  assert_true(a->parameter == 7 && a->tunable == 8);
  assert_int_equal(a->whole, -3);  // rounded
  assert_int_equal(a->whole_array[0], 42);
  assert_int_equal(a->whole_array[1], 42);
  assert_int_equal(a->flag, 1);
  assert_int_equal(a->choice, 2);
  assert_string_equal(a->text, "hello");
  assert_string_equal(a->texts[0], "ab");
  assert_string_equal(a->texts[1], "ab");
  assert_string_equal(a->cut, "too");
  assert_int_equal(a->blob.n, 0);
  assert_true(a->gap1 == 0 && a->gap2 == 0 && a->gap3 == 0);  // what is no variable is zero
  close_unit(&f);
  assert_null(f.unit.self);
  yoke__unit_close(&f.unit);  // closing twice does nothing
}

static void check_round_trip(const yoke_unit* unit, size_t variable, const void* value,
                             size_t size) {
  check_ok(yoke__unit_set(unit, variable, value, size));
  unsigned char back[64] = {0};
  check_ok(yoke__unit_get(unit, variable, back, size));
  assert_memory_equal(back, value, size);
}

static void test_set_and_get_by_offset(void** state) {
  (void)state;
  fixture f;
  open_unit(&f, &flat_ops);
  const double numbers[6] = {1, 2, 3, 4, 5, 6};
  const int64_t whole[2] = {INT64_MIN, INT64_MAX};
  check_round_trip(&f.unit, U_SCALAR, numbers, 8);
  check_round_trip(&f.unit, U_VECTOR, numbers, 24);
  check_round_trip(&f.unit, Y_MATRIX, numbers, 48);
  check_round_trip(&f.unit, WHOLE_ARRAY, whole, 16);
  check_round_trip(&f.unit, TEXT, "twelve bytes", 12);
  check_round_trip(&f.unit, TEXTS, "one\0\0two\0\0", 10);
  check_round_trip(&f.unit, BLOB, "\3\0\0\0\0\0\0\0abc\0\0\0\0", 16);
  const all* a = f.unit.self;
  assert_true(a->y_matrix[1][0] == 4);  // row by row
  assert_string_equal(a->texts[1], "two");
  assert_int_equal(a->blob.n, 3);

  // any other size is refused and changes nothing
  all before;
  memcpy(&before, a, sizeof before);
  double value = 99;
  static const size_t sizes[] = {0, 1, 7, 9, 16, 23, 25, 48};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    unsigned char bytes[64] = {0};
    assert_int_equal(yoke__unit_set(&f.unit, U_SCALAR, bytes, sizes[i]), YOKE_BAD_ARG);
    assert_int_equal(yoke__unit_get(&f.unit, U_SCALAR, bytes, sizes[i]), YOKE_BAD_ARG);
    assert_int_equal(yoke__unit_set(&f.unit, U_VECTOR, bytes, sizes[i]), YOKE_BAD_ARG);
  }
  assert_int_equal(yoke__unit_set(&f.unit, U_VECTOR, &value, sizeof value), YOKE_BAD_ARG);
  assert_memory_equal(&before, a, sizeof before);
  close_unit(&f);
}

static void test_dense_vectors_by_offset(void** state) {
  (void)state;
  fixture f;
  open_unit(&f, &flat_ops);
  assert_int_equal(f.unit.n_u, 5);  // uv, un, us: the order of the table, reals only
  assert_int_equal(f.unit.n_y, 8);  // Y, yl
  assert_int_equal(f.unit.dense[U_VECTOR], 0);
  assert_int_equal(f.unit.dense[U_NEXT], 3);
  assert_int_equal(f.unit.dense[U_SCALAR], 4);
  assert_int_equal(f.unit.dense[Y_MATRIX], 0);
  assert_int_equal(f.unit.dense[Y_LATE], 6);
  for (size_t i = 0; i < N_VARIABLES; i++) {
    const bool is_dense =
        all_variables[i].type == YOKE_REAL &&
        (all_variables[i].causality == YOKE_INPUT || all_variables[i].causality == YOKE_OUTPUT);
    assert_true((f.unit.dense[i] != YOKE_NOT_DENSE) == is_dense);
  }
  assert_int_equal(f.unit.n_inputs, 2);  // uv and un lie side by side and share one copy
  assert_int_equal(f.unit.n_outputs, 2);

  all* a = f.unit.self;
  all before;
  memcpy(&before, a, sizeof before);
  const double u[5] = {10, 11, 12, 13, 14};
  check_ok(yoke__unit_set_inputs(&f.unit, u));
  assert_true(a->u_vector[0] == 10 && a->u_vector[2] == 12 && a->u_next == 13);
  assert_true(a->u_scalar == 14);

  // and nothing else was touched
  memcpy(a->u_vector, before.u_vector, sizeof a->u_vector);
  a->u_next = before.u_next;
  a->u_scalar = before.u_scalar;
  assert_memory_equal(&before, a, sizeof before);

  for (int i = 0; i < 6; i++) {
    a->y_matrix[i / 3][i % 3] = 20 + i;
  }
  a->y_late[0] = 26;
  a->y_late[1] = 27;
  double y[9] = {[8] = -1};
  check_ok(yoke__unit_get_outputs(&f.unit, y));
  for (int i = 0; i < 8; i++) {
    assert_true(y[i] == 20 + i);
  }
  assert_true(y[8] == -1);
  close_unit(&f);
}

static void test_save_and_restore_by_copy(void** state) {
  (void)state;
  fixture f;
  open_unit(&f, &flat_ops);
  const size_t size = yoke__unit_image_size(&f.unit);
  assert_int_equal(size, sizeof(all));
  all image, saved;
  memset(&image, 0xee, sizeof image);
  memcpy(&saved, f.unit.self, sizeof saved);
  for (size_t wrong = 0; wrong < size + 20; wrong += 9) {
    if (wrong != size) {
      assert_int_equal(yoke__unit_save(&f.unit, &image, wrong), YOKE_BAD_ARG);
      assert_int_equal(yoke__unit_restore(&f.unit, &image, wrong), YOKE_BAD_ARG);
    }
  }
  assert_memory_equal(f.unit.self, &saved, sizeof saved);
  check_ok(yoke__unit_save(&f.unit, &image, size));
  memset(f.unit.self, 0x55, sizeof(all));
  check_ok(yoke__unit_restore(&f.unit, &image, size));
  assert_memory_equal(f.unit.self, &saved, sizeof saved);
  close_unit(&f);
}

static void test_elements_by_name(void** state) {
  (void)state;
  fixture f;
  open_unit(&f, &flat_ops);
  static const struct {
    const char* text;
    size_t variable, element;
  } found[] = {
      {"us", U_SCALAR, 0},       {"Y", Y_MATRIX, 0},      {"uv[0]", U_VECTOR, 0},
      {"uv[2]", U_VECTOR, 2},    {"Y[0]", Y_MATRIX, 0},   {"Y[5]", Y_MATRIX, 5},
      {"Y[0,0]", Y_MATRIX, 0},   {"Y[1,2]", Y_MATRIX, 5}, {"Y[0,2]", Y_MATRIX, 2},
      {"Y[1,0]", Y_MATRIX, 3},   {"yl[1]", Y_LATE, 1},    {"yl[0,1]", Y_LATE, 1},
      {"texts[1]", TEXTS, 1},    {"uv[1]", ODD_NAME, 0},  // a variable of that very name goes first
      {"uv[1][0]", ODD_NAME, 0},
  };
  for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
    size_t variable = 77, element = 77;
    if (!yoke__unit_find_element(&f.unit, found[i].text, &variable, &element) ||
        variable != found[i].variable || element != found[i].element) {
      fail_msg("'%s': variable %zu, element %zu", found[i].text, variable, element);
    }
  }
  static const char* const missing[] = {
      "",
      "zz",
      "u",
      "uv[3]",
      "uv[]",
      "uv[",
      "uv]",
      "[0]",
      "uv[a]",
      "uv[1",
      "uv[1]x",
      "uv[0,1]",
      "Y[2,0]",
      "Y[0,3]",
      "Y[6]",
      "Y[1,2,3]",
      "Y[1,]",
      "Y[,1]",
      "uv[-1]",
      "uv[-0]",
      "uv[+2]",
      "uv[0x1]",
      "uv[2.0]",
      "uv[1e0]",
      "zz[0]",
      "uv[18446744073709551616]",
      "uv[-18446744073709551614]",
      "Y[18446744073709551615,1]",
      "Y[0,-18446744073709551615]",
  };
  for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
    size_t variable = 0, element = 0;
    if (yoke__unit_find_element(&f.unit, missing[i], &variable, &element)) {
      fail_msg("'%s' was taken for variable %zu, element %zu", missing[i], variable, element);
    }
  }

  // a name longer than any buffer
  static char longest[2000];
  memset(longest, 'v', sizeof longest - 4);
  snprintf(longest + sizeof longest - 4, 4, "[0]");
  size_t variable = 0, element = 0;
  assert_false(yoke__unit_find_element(&f.unit, longest, &variable, &element));
  close_unit(&f);
}

static void test_feedthrough_lookup(void** state) {
  (void)state;
  fixture f;
  open_unit(&f, &flat_ops);
  for (size_t o = 0; o < N_VARIABLES; o++) {
    for (size_t i = 0; i < N_VARIABLES; i++) {
      const bool want = (o == Y_MATRIX && i == U_NEXT) || (o == WHOLE && i == FLAG);
      assert_true(yoke__unit_has_feedthrough(&f.unit, o, i) == want);
    }
  }
  close_unit(&f);
}

static void test_missing_operations_do_nothing(void** state) {
  (void)state;
  fixture f;
  HEAR(err);
  open_unit(&f, &flat_ops);
  assert_int_equal(yoke__unit_enter_init(&f.unit, 0, 1, &err.sink), YOKE_OK);
  assert_int_equal(yoke__unit_exit_init(&f.unit), YOKE_OK);
  yoke__unit_terminate(&f.unit);
  assert_false(yoke__unit_can_refresh(&f.unit));
  assert_int_equal(err.n, 0);
  close_unit(&f);
}

// ---------------------------------------------------------------------------------------------------------
// a unit with operations of its own: they are asked, with the right arguments

typedef struct own {
  yoke_unit_info info;
  yoke_variable variables[3];
  double u[2], y, hidden;
  int n_set, n_get, n_set_inputs, n_get_outputs, n_terminate;
  size_t last_variable;
} own;

static int n_open;  // instances of `own`; a test program has one thread

static yoke_status own_create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  if (args->n_arguments > 0) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "'%s' in %s takes no '%s'", args->name, args->directory,
                     args->arguments[0].name);
  }
  own* o = calloc(1, sizeof *o);
  if (o == NULL) {
    return YOKE_NO_MEMORY;
  }
  o->variables[0] = (yoke_variable){
      .name = "u", .causality = YOKE_INPUT, .n_rows = 2, .start = 5, .offset = YOKE_NO_OFFSET};
  o->variables[1] =
      (yoke_variable){.name = "y", .causality = YOKE_OUTPUT, .offset = YOKE_NO_OFFSET};
  o->variables[2] = (yoke_variable){.name = "x", .causality = YOKE_STATE, .offset = YOKE_NO_OFFSET};
  o->info =
      (yoke_unit_info){.variables = o->variables, .n_variables = 3, .image_size = sizeof(double)};
  n_open++;
  *self = o;
  return YOKE_OK;
}

static const yoke_unit_info* own_describe(const void* self) {
  return &((const own*)self)->info;
}

static yoke_status own_set(void* self, size_t variable, const void* value, size_t size) {
  own* o = self;
  o->n_set++;
  o->last_variable = variable;
  if (variable == 2) {
    memcpy(&o->hidden, value, size);
  }
  return variable == 1 ? YOKE_UNIT_FAILED : YOKE_OK;
}

static yoke_status own_get(const void* self, size_t variable, void* value, size_t size) {
  const own* o = self;
  (void)variable;
  memcpy(value, &o->hidden, size);
  return YOKE_OK;
}

static yoke_status own_set_inputs(void* self, const double u[], size_t n_u) {
  own* o = self;
  o->n_set_inputs += n_u == 2;
  memcpy(o->u, u, n_u * sizeof *u);
  return YOKE_OK;
}

static yoke_status own_get_outputs(const void* self, double y[], size_t n_y) {
  const own* o = self;
  y[0] = n_y == 1 ? o->u[0] + o->u[1] : -1;
  return YOKE_OK;
}

static yoke_status own_save(const void* self, void* image, size_t size) {
  memcpy(image, &((const own*)self)->hidden, size);
  return YOKE_OK;
}

static yoke_status own_restore(void* self, const void* image, size_t size) {
  memcpy(&((own*)self)->hidden, image, size);
  return YOKE_OK;
}

static yoke_status own_enter_init(void* self, double t_start, double t_stop,
                                  const yoke_sink* sink) {
  (void)self;
  return yoke_fail(sink, YOKE_UNIT_FAILED, "from %g to %g", t_start, t_stop);
}

static yoke_status own_exit_init(void* self) {
  (void)self;
  return YOKE_DIVERGED;
}

static void own_terminate(void* self) {
  ((own*)self)->n_terminate++;
}

static void own_close(void* self) {
  n_open--;
  free(self);
}

static const yoke_unit_ops own_ops = {
    YOKE_UNIT_HEAD,
    .name = "own",
    .create = own_create,
    .describe = own_describe,
    .set = own_set,
    .get = own_get,
    .set_inputs = own_set_inputs,
    .get_outputs = own_get_outputs,
    .step = step_nothing,
    .save = own_save,
    .restore = own_restore,
    .enter_init = own_enter_init,
    .exit_init = own_exit_init,
    .terminate = own_terminate,
    .close = own_close,
};

static void test_own_operations_are_used(void** state) {
  (void)state;
  fixture f;
  open_unit(&f, &own_ops);
  own* o = f.unit.self;
  assert_false(f.unit.is_self_ours);
  assert_true(f.unit.n_u == 2 && f.unit.n_y == 1);
  assert_true(o->u[0] == 0);  // start values are the business of an own create

  const double two[2] = {3, 4};
  check_ok(yoke__unit_set(&f.unit, 0, two, sizeof two));
  assert_true(o->n_set == 1 && o->last_variable == 0);
  assert_int_equal(yoke__unit_set(&f.unit, 0, two, 8), YOKE_BAD_ARG);  // never reaches the unit
  assert_int_equal(o->n_set, 1);
  assert_int_equal(yoke__unit_set(&f.unit, 1, two, 8), YOKE_UNIT_FAILED);
  check_ok(yoke__unit_set(&f.unit, 2, two, 8));
  double back = 0;
  check_ok(yoke__unit_get(&f.unit, 2, &back, sizeof back));
  assert_true(back == 3);

  check_ok(yoke__unit_set_inputs(&f.unit, two));
  check_ok(yoke__unit_get_outputs(&f.unit, &back));
  assert_true(o->n_set_inputs == 1 && back == 7);

  YOKE_CATCH(err);
  assert_int_equal(yoke__unit_enter_init(&f.unit, 1, 2, &err.sink), YOKE_UNIT_FAILED);
  assert_string_equal(err.text, "from 1 to 2");
  assert_int_equal(yoke__unit_exit_init(&f.unit), YOKE_DIVERGED);
  yoke__unit_terminate(&f.unit);
  assert_int_equal(o->n_terminate, 1);

  double image = 0;
  assert_int_equal(yoke__unit_image_size(&f.unit), sizeof image);
  check_ok(yoke__unit_save(&f.unit, &image, sizeof image));
  o->hidden = -1;
  assert_int_equal(yoke__unit_restore(&f.unit, &image, 4), YOKE_BAD_ARG);
  assert_int_equal(yoke__unit_save(&f.unit, &image, 16), YOKE_BAD_ARG);
  assert_true(o->hidden == -1);
  check_ok(yoke__unit_restore(&f.unit, &image, sizeof image));
  assert_true(o->hidden == 3);
  assert_int_equal(n_open, 1);
  close_unit(&f);
  assert_int_equal(n_open, 0);
}

// what a unit lacks is "not supported", and a real machine never rolls back
static void test_what_is_not_supported(void** state) {
  (void)state;
  yoke_unit_ops ops = own_ops;
  ops.save = NULL;
  ops.restore = NULL;
  ops.set = NULL;
  ops.get = NULL;
  fixture f;
  open_unit(&f, &ops);
  double value = 0;
  assert_int_equal(yoke__unit_image_size(&f.unit), 0);
  assert_int_equal(yoke__unit_save(&f.unit, &value, sizeof value), YOKE_NO_SUPPORT);
  assert_int_equal(yoke__unit_restore(&f.unit, &value, sizeof value), YOKE_NO_SUPPORT);
  assert_int_equal(yoke__unit_set(&f.unit, 2, &value, sizeof value), YOKE_NO_SUPPORT);
  assert_int_equal(yoke__unit_get(&f.unit, 2, &value, sizeof value), YOKE_NO_SUPPORT);
  close_unit(&f);

  yoke_unit_info info = all_info;
  info.flags |= YOKE_UNIT_PHYSICAL;
  const yoke_unit_ops rig = {YOKE_UNIT_HEAD, .name = "rig", .info = &info, .step = step_nothing};
  open_unit(&f, &rig);
  assert_int_equal(yoke__unit_image_size(&f.unit), 0);
  close_unit(&f);

  info.flags = 0;  // neither flat nor with operations
  open_unit(&f, &rig);
  assert_int_equal(yoke__unit_image_size(&f.unit), 0);
  close_unit(&f);
}

static void check_refused(const yoke_unit_ops* ops, const yoke_argument* argument,
                          yoke_status status, const char* text) {
  const yoke_unit_args args = {"unit", "folder", argument, argument != NULL, ops->context};
  fixture f = {0};
  YOKE_CATCH(err);
  assert_int_equal(yoke__unit_create(ops, &args, &f.arena, &f.unit, &err.sink), status);
  check_contains(err.text, text);
  assert_null(f.unit.self);
  assert_int_equal(n_open, 0);
  yoke__arena_free(&f.arena);
}

static const yoke_unit_info* describe_nothing(const void* self) {
  (void)self;
  return NULL;
}

// a failed create leaves nothing behind; a description that would lead astray is refused
static void test_refusals(void** state) {
  (void)state;
  const int64_t one = 1;
  const yoke_argument argument = {"size", YOKE_INTEGER, 1, 1, &one};
  check_refused(&own_ops, &argument, YOKE_BAD_INPUT, "'unit' in folder takes no 'size'");

  yoke_unit_ops ops = own_ops;
  ops.describe = describe_nothing;
  check_refused(&ops, NULL, YOKE_BAD_ARG, "does not describe itself");
  ops = own_ops;
  ops.set_inputs = NULL;
  check_refused(&ops, NULL, YOKE_BAD_ARG, "variable 'u' has no offset");
  ops = own_ops;
  ops.get_outputs = NULL;
  check_refused(&ops, NULL, YOKE_BAD_ARG, "variable 'y' has no offset");

  yoke_variable variables[N_VARIABLES];
  yoke_unit_info info = all_info;
  info.variables = variables;
  const yoke_unit_ops flat = {YOKE_UNIT_HEAD, .name = "flat", .info = &info, .step = step_nothing};
  memcpy(variables, all_variables, sizeof variables);
  variables[TEXT].max_size = 0;
  check_refused(&flat, NULL, YOKE_BAD_ARG, "variable 'text' needs a max_size");
  memcpy(variables, all_variables, sizeof variables);
  variables[STATE].name = NULL;
  check_refused(&flat, NULL, YOKE_BAD_ARG, "has no name");
  memcpy(variables, all_variables, sizeof variables);
  variables[STATE].offset = sizeof(all) - 4;
  check_refused(&flat, NULL, YOKE_BAD_ARG, "variable 'x' lies outside");
  variables[STATE].offset = sizeof(all);
  check_refused(&flat, NULL, YOKE_BAD_ARG, "variable 'x' lies outside");
  variables[STATE].offset = SIZE_MAX - 8;
  check_refused(&flat, NULL, YOKE_BAD_ARG, "variable 'x' lies outside");
  memcpy(variables, all_variables, sizeof variables);
  const yoke_feedthrough wrong[] = {{Y_MATRIX, N_VARIABLES}};
  info.feedthrough = wrong;
  info.n_feedthrough = 1;
  check_refused(&flat, NULL, YOKE_BAD_ARG, "feedthrough 0 names no variable");

  info = all_info;
  info.variables = variables;
  const yoke_unit_solver solvers[] = {
      {.parts = N_VARIABLES + 1}, {.parts = TEXT + 1}, {.choice = STATE + 1}};
  for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++) {
    info.solver = solvers[i];
    check_refused(&flat, NULL, YOKE_BAD_ARG, "its solver names no such variable");
  }
  info.solver = (yoke_unit_solver){0};
  variables[TEXT].flags = YOKE_VARIABLE_NONLINEAR;
  check_refused(&flat, NULL, YOKE_BAD_ARG, "variable 'text' cannot say whether the unit is linear");
}

typedef struct solved {
  double bend;
  int64_t n_parts, method;
} solved;

// How a unit is solved and whether it is linear follows its present parameters.
static void test_abilities(void** state) {
  (void)state;
  static const char* const items[] = {"slow", "quick", "best", NULL};
#define METHODS                                                                                    \
  { YOKE_SOLVER_EULER, YOKE_SOLVER_RK4, YOKE_SOLVER_EXACT }
  const yoke_variable variables[] = {
      {.name = "bend",
       .type = YOKE_REAL,
       .causality = YOKE_PARAMETER,
       .flags = YOKE_VARIABLE_NONLINEAR,
       .offset = offsetof(solved, bend)},
      {.name = "n_parts",
       .type = YOKE_INTEGER,
       .causality = YOKE_PARAMETER,
       .start = 1,
       .offset = offsetof(solved, n_parts)},
      {.name = "method",
       .type = YOKE_ENUMERATION,
       .causality = YOKE_PARAMETER,
       .items = items,
       .offset = offsetof(solved, method)},
  };
  yoke_unit_info info = {.variables = variables,
                         .n_variables = 3,
                         .flags = YOKE_UNIT_FLAT | YOKE_UNIT_LINEAR,
                         .self_size = sizeof(solved)};
  const yoke_unit_ops ops = {YOKE_UNIT_HEAD, .name = "solved", .info = &info, .step = step_nothing};
  const struct {
    yoke_unit_solver solver;
    int64_t n_parts, item;
    yoke_solver_method method;
    double step;
  } cases[] = {
      {{0}, 4, 0, YOKE_SOLVER_UNKNOWN, 0},
      {{.step = 0.25}, 4, 0, YOKE_SOLVER_UNKNOWN, 0.25},
      {{.method = YOKE_SOLVER_EULER}, 4, 0, YOKE_SOLVER_EULER, 1},
      {{.method = YOKE_SOLVER_EULER, .parts = 2}, 4, 0, YOKE_SOLVER_EULER, 0.25},
      {{.method = YOKE_SOLVER_EULER, .parts = 2, .step = 0.5}, 4, 0, YOKE_SOLVER_EULER, 0.5},
      {{.method = YOKE_SOLVER_EULER, .parts = 2}, 0, 0, YOKE_SOLVER_EULER, 0},
      {{.method = YOKE_SOLVER_EXACT, .parts = 2}, 4, 0, YOKE_SOLVER_EXACT, 0},
      {{.choice = 3, .methods = METHODS, .parts = 2}, 2, 1, YOKE_SOLVER_RK4, 0.5},
      {{.choice = 3, .methods = METHODS, .parts = 2}, 2, 2, YOKE_SOLVER_EXACT, 0},
      {{.choice = 3, .methods = METHODS, .parts = 2}, 2, 3, YOKE_SOLVER_UNKNOWN, 0},
      {{.choice = 3, .methods = METHODS, .parts = 2}, 2, -1, YOKE_SOLVER_UNKNOWN, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture f;
    double step = -1;
    info.solver = cases[i].solver;
    open_unit(&f, &ops);
    ((solved*)f.unit.self)->n_parts = cases[i].n_parts;
    ((solved*)f.unit.self)->method = cases[i].item;
    assert_int_equal(yoke__unit_solver(&f.unit, 1, &step), cases[i].method);
    assert_true(step == cases[i].step);
    assert_true(yoke__unit_is_linear(&f.unit));
    ((solved*)f.unit.self)->bend = 0.5;
    assert_false(yoke__unit_is_linear(&f.unit));
    close_unit(&f);
  }
  info.flags = YOKE_UNIT_FLAT;
  fixture f;
  open_unit(&f, &ops);
  assert_false(yoke__unit_is_linear(&f.unit));
  close_unit(&f);
}

// Words for files and messages; any number has one.
static void test_words(void** state) {
  (void)state;
  assert_string_equal(yoke_unit_kind_text(YOKE_KIND_MODEL), "model");
  assert_string_equal(yoke_unit_kind_text(YOKE_KIND_LIBRARY), "library");
  assert_string_equal(yoke_unit_kind_text(YOKE_KIND_TWIN), "twin");
  assert_string_equal(yoke_unit_kind_text(YOKE_KIND_NONE), "");
  assert_string_equal(yoke_unit_kind_text((yoke_unit_kind)-1), "");
  assert_string_equal(yoke_unit_kind_text(YOKE_N_KINDS), "");
  assert_string_equal(yoke_solver_text(YOKE_SOLVER_EULER), "euler");
  assert_string_equal(yoke_solver_text(YOKE_SOLVER_OTHER), "other");
  assert_string_equal(yoke_solver_text(YOKE_N_SOLVERS), "unknown");
  assert_string_equal(yoke_solver_text((yoke_solver_method)-1), "unknown");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_start_values),
      cmocka_unit_test(test_set_and_get_by_offset),
      cmocka_unit_test(test_dense_vectors_by_offset),
      cmocka_unit_test(test_save_and_restore_by_copy),
      cmocka_unit_test(test_elements_by_name),
      cmocka_unit_test(test_feedthrough_lookup),
      cmocka_unit_test(test_missing_operations_do_nothing),
      cmocka_unit_test(test_own_operations_are_used),
      cmocka_unit_test(test_what_is_not_supported),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_abilities),
      cmocka_unit_test(test_words),
  };
  return cmocka_run_group_tests_name("unit_instance", tests, NULL, NULL);
}
