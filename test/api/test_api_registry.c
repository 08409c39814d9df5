// The registry: what a program adds is listed, found and kept apart from the built-in parts; what cannot be used is
// answered by a status and a message.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "yoke/yoke.h"

// ---- what is added

typedef struct lag {
  double u, y;
} lag;

static const yoke_variable variables[] = {
    {.name = "u", .causality = YOKE_INPUT, .offset = offsetof(lag, u)},
    {.name = "y", .causality = YOKE_OUTPUT, .offset = offsetof(lag, y)},
};
static const yoke_unit_info info = {
    .variables = variables, .n_variables = 2, .self_size = sizeof(lag)};

static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  (void)t;
  (void)result;
  lag* l = self;
  l->y += h * (l->u - l->y);
  return YOKE_OK;
}

static yoke_status refresh(void* self, double t) {
  (void)self;
  (void)t;
  return YOKE_OK;
}

static yoke_unit_ops make_unit(const char* name) {
  return (yoke_unit_ops){YOKE_UNIT_HEAD, .name = name, .info = &info, .step = step,
                         .refresh = refresh};
}

// A built-in method under another name.
static const double* trace_nothing(const void* self) {
  return self;
}

static yoke_coupling_ops make_method(const char* name) {
  yoke_coupling_ops method = *yoke_registry_coupling(NULL, 0);
  method.table_size = sizeof method;
  method.table_version = YOKE_CONTRACT_VERSION;
  method.name = name;
  return method;
}

// ---- messages

typedef struct heard {
  int n;
  yoke_status status;
  char text[YOKE_MESSAGE_TEXT_SIZE];
  char file[256];
} heard;

static void hear(void* to, const yoke_message* message) {
  heard* h = to;
  h->n++;
  h->status = message->status;
  strncpy(h->text, message->text, sizeof h->text - 1);
  strncpy(h->file, message->file == NULL ? "" : message->file, sizeof h->file - 1);
}

static void assert_heard(heard* h, const char* part) {
  if (h->n != 1) {
    fail_msg("%d messages, the last one: %s", h->n, h->text);
  }
  if (strstr(h->text, part) == NULL) {
    fail_msg("'%s' lacks '%s'", h->text, part);
  }
  *h = (heard){0};
}

static size_t count_units(const yoke_registry* registry) {
  size_t n = 0;
  while (yoke_registry_unit(registry, n) != NULL) {
    n++;
  }
  return n;
}

static size_t count_methods(const yoke_registry* registry) {
  size_t n = 0;
  while (yoke_registry_coupling(registry, n) != NULL) {
    n++;
  }
  return n;
}

// ---- tests

static void test_arguments_of_nothing(void** state) {
  (void)state;
  const yoke_unit_ops unit = make_unit("my.lag");
  heard h = {0};
  const yoke_sink sink = {hear, &h};
  assert_int_equal(yoke_registry_create(NULL), YOKE_BAD_ARG);
  yoke_registry_destroy(NULL);
  yoke_registry* registry = NULL;
  yoke_registry_destroy(&registry);

  assert_int_equal(yoke_registry_add_unit(NULL, &unit, &sink), YOKE_BAD_ARG);
  assert_int_equal(yoke_registry_add_coupling(NULL, NULL, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_registry_add_result(NULL, NULL, NULL), YOKE_BAD_ARG);
  assert_int_equal(yoke_registry_load(NULL, "x.so", NULL), YOKE_BAD_ARG);
  h = (heard){0};

  assert_int_equal(yoke_registry_create(&registry), YOKE_OK);
  assert_int_equal(yoke_registry_add_unit(registry, NULL, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "the table of a unit is NULL");
  assert_int_equal(yoke_registry_add_coupling(registry, NULL, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "the table of a coupling method is NULL");
  assert_int_equal(yoke_registry_add_result(registry, NULL, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "the table of a result sink is NULL");
  assert_int_equal(yoke_registry_load(registry, NULL, NULL), YOKE_BAD_ARG);
  yoke_registry_destroy(&registry);
  assert_null(registry);
  assert_null(yoke_registry_unit(NULL, SIZE_MAX));
  assert_null(yoke_registry_coupling(NULL, SIZE_MAX));
}

static void test_listing(void** state) {
  (void)state;
  const size_t n_built_in = count_units(NULL);
  assert_true(n_built_in > 10);
  assert_true(count_methods(NULL) > 3);
  yoke_registry* registry = NULL;
  assert_int_equal(yoke_registry_create(&registry), YOKE_OK);
  assert_int_equal(count_units(registry), n_built_in);
  assert_int_equal(count_methods(registry), count_methods(NULL));

  const yoke_unit_ops one = make_unit("my.one"), two = make_unit("my.two");
  assert_int_equal(yoke_registry_add_unit(registry, &one, NULL), YOKE_OK);
  assert_int_equal(yoke_registry_add_unit(registry, &two, NULL), YOKE_OK);
  assert_ptr_equal(yoke_registry_unit(registry, n_built_in), &one);
  assert_ptr_equal(yoke_registry_unit(registry, n_built_in + 1), &two);
  assert_null(yoke_registry_unit(registry, n_built_in + 2));
  assert_int_equal(count_units(NULL), n_built_in);
  yoke_registry_destroy(&registry);
}

static void test_names_that_are_taken(void** state) {
  (void)state;
  heard h = {0};
  const yoke_sink sink = {hear, &h};
  yoke_registry* registry = NULL;
  assert_int_equal(yoke_registry_create(&registry), YOKE_OK);
  const yoke_unit_ops gain = make_unit("gain"), mine = make_unit("my.lag");
  assert_int_equal(yoke_registry_add_unit(registry, &gain, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "there is a unit 'gain' already");
  assert_int_equal(yoke_registry_add_unit(registry, &mine, &sink), YOKE_OK);
  assert_int_equal(yoke_registry_add_unit(registry, &mine, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "there is a unit 'my.lag' already");

  const yoke_coupling_ops method = make_method(yoke_registry_coupling(NULL, 0)->name);
  assert_int_equal(yoke_registry_add_coupling(registry, &method, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "already");
  assert_int_equal(count_units(registry), count_units(NULL) + 1);
  assert_int_equal(count_methods(registry), count_methods(NULL));
  yoke_registry_destroy(&registry);
}

static void test_other_versions(void** state) {
  (void)state;
  heard h = {0};
  const yoke_sink sink = {hear, &h};
  yoke_registry* registry = NULL;
  assert_int_equal(yoke_registry_create(&registry), YOKE_OK);
  yoke_unit_ops unit = make_unit("my.lag");
  unit.table_version = YOKE_CONTRACT_VERSION + 1;
  assert_int_equal(yoke_registry_add_unit(registry, &unit, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "version 2 of the contract, this Yoke has 1");
  unit = make_unit("my.lag");
  unit.table_size = 4;
  assert_int_equal(yoke_registry_add_unit(registry, &unit, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "has no sound size (4 bytes)");

  yoke_coupling_ops method = make_method("mine");
  method.table_version = 0;
  assert_int_equal(yoke_registry_add_coupling(registry, &method, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "version 0 of the contract");
  method.table_version = YOKE_CONTRACT_VERSION;
  assert_int_equal(yoke_registry_add_coupling(registry, &method, &sink), YOKE_OK);
  assert_int_equal(count_methods(registry), count_methods(NULL) + 1);

  const yoke_result_ops result = {.table_size = sizeof result, .name = "mine"};
  assert_int_equal(yoke_registry_add_result(registry, &result, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "version 0 of the contract");
  yoke_registry_destroy(&registry);
}

// Made with headers that ended behind `refresh`: what follows in memory is not of the table.
static void test_shorter_table(void** state) {
  (void)state;
  yoke_registry* registry = NULL;
  assert_int_equal(yoke_registry_create(&registry), YOKE_OK);
  yoke_unit_ops unit = make_unit("my.older");
  memset((char*)&unit + offsetof(yoke_unit_ops, event_update), 0xff,
         sizeof unit - offsetof(yoke_unit_ops, event_update));
  unit.table_size = offsetof(yoke_unit_ops, event_update);
  assert_int_equal(yoke_registry_add_unit(registry, &unit, NULL), YOKE_OK);
  const yoke_unit_ops* got = yoke_registry_unit(registry, count_units(NULL));
  assert_non_null(got);
  assert_string_equal(got->name, "my.older");
  assert_ptr_equal(got->step, step);
  assert_ptr_equal(got->refresh, refresh);
  assert_null(got->event_update);
  assert_null(got->save);
  assert_null(got->close);
  assert_null(got->context);
  assert_int_equal(got->table_size, sizeof *got);

  // and it runs
  static const char text[] = "yoke: 1\ninputs: start\ncalls: 1\n"
                             "time: {stop: 1, step: 0.1}\n"
                             "units:\n"
                             "  source: {model: constant, with: {value: 2}}\n"
                             "  lag: {model: my.older}\n"
                             "connections: [source.y -> lag.u]\n";
  const yoke_load_settings settings = {.registry = registry};
  yoke_system* system = NULL;
  yoke_simulation* simulation = NULL;
  assert_int_equal(yoke_system_parse(text, sizeof text - 1, "older.yaml", &settings, &system),
                   YOKE_OK);
  assert_int_equal(yoke_simulation_create(system, NULL, &simulation), YOKE_OK);
  assert_int_equal(yoke_simulation_run(simulation, NULL, NULL), YOKE_OK);
  yoke_handle y;
  double got_y = 0;
  assert_int_equal(yoke_simulation_find(simulation, "lag.y", &y), YOKE_OK);
  assert_int_equal(yoke_simulation_read(simulation, y, &got_y), YOKE_OK);
  assert_true(fabs(got_y - 2 * (1 - pow(0.9, 10))) < 1e-12);  // explicit Euler
  yoke_simulation_destroy(&simulation);
  yoke_system_destroy(&system);
  yoke_registry_destroy(&registry);
}

static void test_tables_with_gaps(void** state) {
  (void)state;
  heard h = {0};
  const yoke_sink sink = {hear, &h};
  yoke_registry* registry = NULL;
  assert_int_equal(yoke_registry_create(&registry), YOKE_OK);
  yoke_unit_ops unit = make_unit(NULL);
  assert_int_equal(yoke_registry_add_unit(registry, &unit, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "has no name");
  unit = make_unit("");
  assert_int_equal(yoke_registry_add_unit(registry, &unit, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "has no name");
  unit = make_unit("my.lag");
  unit.step = NULL;
  unit.refresh = NULL;
  assert_int_equal(yoke_registry_add_unit(registry, &unit, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "unit 'my.lag' has no step");
  unit = make_unit("my.lag");
  unit.info = NULL;
  assert_int_equal(yoke_registry_add_unit(registry, &unit, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "has no info or describe");
  unit = make_unit("my.lag");
  unit.n_structure = 1;
  assert_int_equal(yoke_registry_add_unit(registry, &unit, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "has no structure");
  static const yoke_unit_info no_size = {.variables = variables, .n_variables = 2};
  unit = make_unit("my.lag");
  unit.info = &no_size;
  assert_int_equal(yoke_registry_add_unit(registry, &unit, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "has no create or info->self_size");

  yoke_coupling_ops method = make_method("mine");
  method.prepare = NULL;
  assert_int_equal(yoke_registry_add_coupling(registry, &method, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "'mine' lacks what every method needs");
  const yoke_result_ops result = {YOKE_RESULT_HEAD, .name = "mine"};
  assert_int_equal(yoke_registry_add_result(registry, &result, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "'mine' lacks what every sink needs");
  assert_int_equal(count_units(registry), count_units(NULL));
  yoke_registry_destroy(&registry);
}

// One parameter of a method is wrong: the message names the method and the parameter.
static void check_parameters(const yoke_coupling_parameter parameters[], size_t n,
                             const char* part) {
  heard h = {0};
  const yoke_sink sink = {hear, &h};
  yoke_registry* registry = NULL;
  assert_int_equal(yoke_registry_create(&registry), YOKE_OK);
  yoke_coupling_ops method = make_method("mine");
  method.parameters = parameters;
  method.n_parameters = n;
  const yoke_status status = yoke_registry_add_coupling(registry, &method, &sink);
  assert_int_equal(status, part == NULL ? YOKE_OK : YOKE_BAD_ARG);
  if (part != NULL) {
    char text[256];
    snprintf(text, sizeof text, "the table of coupling method 'mine' is wrong: parameter %s", part);
    assert_heard(&h, text);
  }
  yoke_registry_destroy(&registry);
}

static void test_bad_parameters(void** state) {
  (void)state;
  static const char* const none[] = {NULL};
  static const char* const two[] = {"slow", "fast", NULL};
  const yoke_coupling_parameter good[] = {{.name = "a", .start = 1, .max = 2},
                                          {.name = "b", .start = 1, .items = two}};
  check_parameters(good, 2, NULL);
  check_parameters((yoke_coupling_parameter[]){{.text = "no name"}}, 1, "'' has no name");
  check_parameters((yoke_coupling_parameter[]){good[0], good[0]}, 2, "'a' is there twice");
  check_parameters((yoke_coupling_parameter[]){{.name = "members"}}, 1,
                   "'members' has the name of a key");
  check_parameters((yoke_coupling_parameter[]){{.name = "a", .start = 5, .min = 1}}, 1,
                   "'a' has a default out of its range");
  check_parameters((yoke_coupling_parameter[]){{.name = "a", .start = (double)NAN, .max = 1}}, 1,
                   "'a' has a default out of its range");
  check_parameters((yoke_coupling_parameter[]){{.name = "a", .items = none}}, 1,
                   "'a' has a default out of its range");
  check_parameters((yoke_coupling_parameter[]){{.name = "a", .start = 2, .items = two}}, 1,
                   "'a' has a default out of its range");
}

static void test_bad_columns(void** state) {
  (void)state;
  heard h = {0};
  const yoke_sink sink = {hear, &h};
  yoke_registry* registry = NULL;
  assert_int_equal(yoke_registry_create(&registry), YOKE_OK);
  static const char* const names[] = {"a", "a", NULL};
  yoke_coupling_ops method = make_method("mine");
  method.trace_names = names;
  method.n_trace = 2;
  method.trace = trace_nothing;
  assert_int_equal(yoke_registry_add_coupling(registry, &method, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "trace 'a' is there twice");
  method.trace_names = names + 1;
  assert_int_equal(yoke_registry_add_coupling(registry, &method, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "trace '' has no name");
  yoke_registry_destroy(&registry);
}

// A method that asks for more memory than there is ends in a status.
static size_t ask_too_much(const yoke_coupling_setup* setup) {
  (void)setup;
  return SIZE_MAX;
}

static const char with_method[] =
    "yoke: 1\ninputs: start\ncalls: 1\n"
    "time: {stop: 1, step: 0.1}\n"
    "units: {a: {model: oscillator.force}, b: {model: oscillator.mass}}\n"
    "connections: [b.x -> a.x_other, b.v -> a.v_other, a.f -> b.f]\n"
    "couplings: {loop: {method: mine, members: [a, b]}}\n";

static void test_method_size(void** state) {
  (void)state;
  yoke_registry* registry = NULL;
  assert_int_equal(yoke_registry_create(&registry), YOKE_OK);
  yoke_coupling_ops method = make_method("mine");
  method.size = ask_too_much;
  assert_int_equal(yoke_registry_add_coupling(registry, &method, NULL), YOKE_OK);
  const yoke_load_settings settings = {.registry = registry};
  yoke_system* system = NULL;
  assert_int_equal(
      yoke_system_parse(with_method, strlen(with_method), "x.yaml", &settings, &system),
      YOKE_NO_MEMORY);
  assert_null(system);
  yoke_registry_destroy(&registry);
}

// A method that promises numbers to record and gives none.
static const double* trace_null(const void* self) {
  (void)self;
  return NULL;
}

static void test_method_without_trace(void** state) {
  (void)state;
  static const char* const names[] = {"a"};
  yoke_registry* registry = NULL;
  assert_int_equal(yoke_registry_create(&registry), YOKE_OK);
  yoke_coupling_ops method = make_method("mine");
  method.trace_names = names;
  method.n_trace = 1;
  method.trace = trace_null;
  assert_int_equal(yoke_registry_add_coupling(registry, &method, NULL), YOKE_OK);
  heard h = {0};
  const yoke_sink sink = {hear, &h};
  const yoke_load_settings settings = {.registry = registry, .sink = &sink};
  yoke_system* system = NULL;
  yoke_simulation* simulation = NULL;
  assert_int_equal(
      yoke_system_parse(with_method, strlen(with_method), "x.yaml", &settings, &system), YOKE_OK);
  assert_int_equal(yoke_simulation_create(system, &sink, &simulation), YOKE_OK);
  assert_int_equal(yoke_simulation_start(simulation), YOKE_BAD_INPUT);
  assert_heard(&h, "method 'mine' has no trace");
  yoke_simulation_destroy(&simulation);
  yoke_system_destroy(&system);
  yoke_registry_destroy(&registry);
}

// A unit that cannot say how far it has got.
static yoke_status step_nowhere(void* self, double t, double h, yoke_step_result* result) {
  (void)self;
  (void)t;
  (void)h;
  result->t_reached = (double)NAN;
  return YOKE_OK;
}

static void test_step_to_nowhere(void** state) {
  (void)state;
  static const char text[] = "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nunits: "
                             "{a: {model: my.lag, start: {u: 0}}}\n";
  yoke_registry* registry = NULL;
  assert_int_equal(yoke_registry_create(&registry), YOKE_OK);
  yoke_unit_ops unit = make_unit("my.lag");
  unit.step = step_nowhere;
  assert_int_equal(yoke_registry_add_unit(registry, &unit, NULL), YOKE_OK);
  heard h = {0};
  const yoke_sink sink = {hear, &h};
  const yoke_load_settings settings = {.registry = registry, .sink = &sink};
  yoke_system* system = NULL;
  yoke_simulation* simulation = NULL;
  assert_int_equal(yoke_system_parse(text, strlen(text), "x.yaml", &settings, &system), YOKE_OK);
  assert_int_equal(yoke_simulation_create(system, &sink, &simulation), YOKE_OK);
  assert_int_equal(yoke_simulation_step(simulation), YOKE_DISCARDED);
  assert_heard(&h, "not finished");
  yoke_simulation_destroy(&simulation);
  yoke_system_destroy(&system);
  yoke_registry_destroy(&registry);
}

// One variable of a description is wrong: the message names the unit and the variable.
static void check_description(yoke_variable wrong, const char* part) {
  heard h = {0};
  const yoke_sink sink = {hear, &h};
  yoke_registry* registry = NULL;
  assert_int_equal(yoke_registry_create(&registry), YOKE_OK);
  const yoke_variable both[] = {variables[0], wrong};
  const yoke_unit_info described = {.variables = both, .n_variables = 2, .self_size = sizeof(lag)};
  yoke_unit_ops unit = make_unit("my.lag");
  unit.info = &described;
  assert_int_equal(yoke_registry_add_unit(registry, &unit, &sink), YOKE_BAD_ARG);
  char text[256];
  snprintf(text, sizeof text, "the description of 'my.lag' is wrong: variable '%s", part);
  assert_heard(&h, text);
  yoke_registry_destroy(&registry);
}

static void test_wrong_descriptions(void** state) {
  (void)state;
  yoke_variable v = variables[1];
  v.name = "u";
  check_description(v, "u' is there twice");
  v.name = "y\nz";
  check_description(v, "y' has a control character in its name");
  v.name = "\x7f";
  check_description(v, "' has a control character in its name");
  v = variables[1];
  v.n_rows = v.n_cols = SIZE_MAX / 2 + 1;  // their product is 0
  check_description(v, "y' is too large");
  v.n_rows = 0;
  check_description(v, "y' is too large");
  v.n_rows = v.n_cols = (size_t)1 << 20;
  check_description(v, "y' is too large");
  v = variables[1];
  v.type = YOKE_BINARY;
  v.max_size = SIZE_MAX - 7;  // with its length it is 0 bytes
  check_description(v, "y' is too large");
  v = variables[1];
  v.type = YOKE_ENUMERATION;
  check_description(v, "y' is an enumeration without items");
  v.items = (const char* const[]){NULL};
  check_description(v, "y' is an enumeration without items");

  heard h = {0};
  const yoke_sink sink = {hear, &h};
  yoke_registry* registry = NULL;
  assert_int_equal(yoke_registry_create(&registry), YOKE_OK);
  const yoke_unit_ops unit = make_unit("my\nlag");
  assert_int_equal(yoke_registry_add_unit(registry, &unit, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "the table of unit '' has no name, or one that breaks the line");
  const yoke_feedthrough beyond = {.output = 1, .input = 2};
  yoke_unit_info described = info;
  described.feedthrough = &beyond;
  described.n_feedthrough = 1;
  yoke_unit_ops other = make_unit("my.lag");
  other.info = &described;
  assert_int_equal(yoke_registry_add_unit(registry, &other, &sink), YOKE_BAD_ARG);
  assert_heard(&h, "the description of 'my.lag' is wrong: feedthrough 0 names no variable");
  yoke_registry_destroy(&registry);
}

// Of many variables the names are compared when the unit is made.
static void test_many_variables(void** state) {
  (void)state;
  enum { N = 100 };
  static char names[N][8];
  static yoke_variable many[N];
  heard h = {0};
  const yoke_sink sink = {hear, &h};
  for (size_t i = 0; i < N; i++) {
    snprintf(names[i], sizeof names[i], "p%zu", i);
    many[i] = (yoke_variable){.name = names[i], .causality = YOKE_PARAMETER};
  }
  const yoke_unit_info described = {.variables = many, .n_variables = N, .self_size = sizeof(lag)};
  yoke_unit_ops unit = make_unit("my.many");
  unit.info = &described;
  yoke_registry* registry = NULL;
  assert_int_equal(yoke_registry_create(&registry), YOKE_OK);
  assert_int_equal(yoke_registry_add_unit(registry, &unit, &sink), YOKE_OK);
  static const char text[] = "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nunits: "
                             "{a: {model: my.many}}\n";
  const yoke_load_settings settings = {.registry = registry, .sink = &sink};
  yoke_system* system = NULL;
  assert_int_equal(yoke_system_parse(text, strlen(text), "a.yaml", &settings, &system), YOKE_OK);
  yoke_system_destroy(&system);
  h = (heard){0};  // that it has no output
  many[99].name = "p7";
  assert_int_equal(yoke_system_parse(text, strlen(text), "a.yaml", &settings, &system),
                   YOKE_BAD_INPUT);
  assert_heard(&h, "the description of 'my.many' is wrong: variable 'p7' is there twice");
  yoke_registry_destroy(&registry);
}

static void test_libraries_that_cannot_be_loaded(void** state) {
  (void)state;
  heard h = {0};
  const yoke_sink sink = {hear, &h};
  yoke_registry* registry = NULL;
  assert_int_equal(yoke_registry_create(&registry), YOKE_OK);
  assert_int_equal(yoke_registry_load(registry, "absent/x.so", &sink), YOKE_IO);
  assert_string_equal(h.file, "absent/x.so");
  assert_heard(&h, "there is no such file");
  assert_int_equal(yoke_registry_load(registry, "", &sink), YOKE_IO);
  h = (heard){0};
  assert_int_equal(yoke_registry_load(registry, "/proc/self/exe", &sink), YOKE_IO);
  assert_heard(&h, "it cannot be loaded");
  assert_int_equal(count_units(registry), count_units(NULL));
  yoke_registry_destroy(&registry);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arguments_of_nothing),
      cmocka_unit_test(test_listing),
      cmocka_unit_test(test_names_that_are_taken),
      cmocka_unit_test(test_other_versions),
      cmocka_unit_test(test_shorter_table),
      cmocka_unit_test(test_tables_with_gaps),
      cmocka_unit_test(test_bad_parameters),
      cmocka_unit_test(test_bad_columns),
      cmocka_unit_test(test_method_size),
      cmocka_unit_test(test_method_without_trace),
      cmocka_unit_test(test_step_to_nowhere),
      cmocka_unit_test(test_wrong_descriptions),
      cmocka_unit_test(test_many_variables),
      cmocka_unit_test(test_libraries_that_cannot_be_loaded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
