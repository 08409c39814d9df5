// Ends of connections: elements of arrays, names verbatim, dimensions and types.
#include "system/system_fixture.h"

// ---- a unit with a matrix, a name that looks like an element, and dimensions

typedef struct board {
  double grid_in[6], grid[6], odd, force_N, length_mm, temperature_degC;
  double voltage_V, length_m, temperature_K;
} board;

#define REAL(name_, member_, dim_, causality_)                                                     \
  {                                                                                                \
    .name = (name_), .dim = (dim_), .type = YOKE_REAL, .causality = (causality_),                  \
    .flags = YOKE_VARIABLE_HAS_START, .offset = offsetof(board, member_)                           \
  }
#define GRID(name_, member_, causality_)                                                           \
  {                                                                                                \
    .name = (name_), .type = YOKE_REAL, .causality = (causality_), .n_rows = 2, .n_cols = 3,       \
    .flags = YOKE_VARIABLE_HAS_START, .offset = offsetof(board, member_)                           \
  }

static const yoke_variable board_variables[] = {
    GRID("in", grid_in, YOKE_INPUT),
    GRID("grid", grid, YOKE_OUTPUT),
    REAL("der(x).a[0]", odd, NULL, YOKE_OUTPUT),
    REAL("force", force_N, "N", YOKE_OUTPUT),
    REAL("length", length_mm, "mm", YOKE_OUTPUT),
    REAL("temperature", temperature_degC, "degC", YOKE_OUTPUT),
    REAL("voltage_in", voltage_V, "V", YOKE_INPUT),
    REAL("length_in", length_m, "m", YOKE_INPUT),
    REAL("temperature_in", temperature_K, "K", YOKE_INPUT),
};
static const yoke_unit_info board_info = {.variables = board_variables,
                                          .n_variables = COUNT(board_variables),
                                          .flags = YOKE_UNIT_FLAT,
                                          .self_size = sizeof(board)};

static yoke_status board_refresh(void* self, double t) {
  (void)t;
  board* b = self;
  for (int i = 0; i < 6; i++) {
    b->grid[i] = 10 + i;
  }
  b->odd = 99;
  b->length_mm = 250;
  b->temperature_degC = 20;
  return YOKE_OK;
}

static yoke_status board_step(void* self, double t, double h, yoke_step_result* result) {
  (void)h;
  (void)result;
  return board_refresh(self, t);
}

static const yoke_unit_ops board_ops = {YOKE_UNIT_HEAD, .name = "board", .info = &board_info,
                                        .step = board_step, .refresh = board_refresh};
static const yoke_unit_ops* const own[] = {&board_ops};

static int make_models(void** state) {
  *state = fixture_models(own, COUNT(own));
  return 0;
}

static int free_models(void** state) {
  yoke_registry* models = *state;
  yoke_registry_destroy(&models);
  return 0;
}

// value of a real input now
static double input_of(const sim* s, const char* unit, const char* variable) {
  const yoke_system_unit* u = &s->system->units[fixture_unit(s, unit)];
  size_t index = 0, element = 0;
  assert_true(yoke__unit_find_element(&u->unit, variable, &index, &element));
  return s->state->u[u->u + u->unit.dense[index] + element];
}

// ---- elements

static void test_elements_of_a_matrix(void** state) {
  sim s =
      fixture_open(*state, HEAD "units: {b: {model: board}, g: {model: gain}, h: {model: gain}}\n"
                                "connections:\n"
                                "  - \"b.grid[1,2] -> g.u\"\n"
                                "  - \"b.grid[4] -> h.u\"\n"
                                "  - \"b.grid[0,1] -> b.in[1,0]\"\n"
                                "  - \"g.y -> b.in[5]\"\n");
  // row by row: [1,2] is element 5, and a single number counts through
  check_near(input_of(&s, "g", "u"), 15, 0);
  check_near(input_of(&s, "h", "u"), 14, 0);
  check_near(input_of(&s, "b", "in[1,0]"), 11, 0);
  check_near(input_of(&s, "b", "in[3]"), 11, 0);
  check_near(input_of(&s, "b", "in[1,2]"), 15, 0);
  check_near(input_of(&s, "b", "in[0,0]"), 0, 0);
  sim_close(&s);
}

static void test_whole_matrix(void** state) {
  sim s = fixture_open(*state, HEAD "units: {b: {model: board}}\nconnections: [b.grid -> b.in]\n");
  assert_int_equal(s.system->n_taps, 6);
  for (int i = 0; i < 6; i++) {
    check_near(s.state->u[i], 10 + i, 0);
  }
  sim_close(&s);
}

// FMI names contain dots, brackets and blanks: the whole name is tried before an element is looked for
static void test_name_verbatim(void** state) {
  sim s = fixture_open(*state, HEAD "units: {b: {model: board}, g: {model: gain}}\n"
                                    "connections: [\"b.der(x).a[0] -> g.u\"]\n");
  check_near(input_of(&s, "g", "u"), 99, 0);
  sim_close(&s);
}

static void test_elements_refused(void** state) {
  refuse(
      *state,
      HEAD "units: {b: {model: board}, c: {model: constant}}\n"
           "connections:\n"
           "  - {from: \"b.grid[2,0]\", to: \"b.in[0]\"}\n"
           "  - {from: \"b.grid[6]\", to: \"b.in[1]\"}\n"
           "  - {from: \"b.grid[-1]\", to: \"b.in[2]\"}\n"
           "  - {from: \"c.y[1]\", to: \"b.in[3]\"}\n"
           "  - {from: \"b.grib[1]\", to: \"b.in[4]\"}\n"
           "  - {from: b.grid, to: \"b.in[5]\"}\n",
      "test.yaml:7:12: error: connection: there is no 'b.grid[2,0]': 'grid' has 2 x 3 elements, "
      "counted from 0",
      "test.yaml:8:12: error: connection: there is no 'b.grid[6]': 'grid' has 2 x 3 elements, "
      "counted from 0",
      "test.yaml:9:12: error: connection: there is no 'b.grid[-1]'",
      "test.yaml:10:12: error: connection: there is no 'c.y[1]': 'y' has 1 element, counted from 0",
      "test.yaml:11:12: error: connection: 'b' (board) has no variable 'grib[1]'",
      "test.yaml:12:5: error: sizes do not match: b.grid has 6 elements, b.in[5] has 1");
}

static void test_two_sources_of_an_element(void** state) {
  refuse(*state,
         HEAD "units: {b: {model: board}, c: {model: constant}}\n"
              "connections: [b.grid -> b.in, \"c.y -> b.in[1,1]\"]\n",
         "test.yaml:6:31: error: 'b.in[1,1]' has two sources: this one and 'b.grid' in line 6");
}

// ---- dimensions

static void test_dimensions_refused(void** state) {
  refuse(*state,
         HEAD "units: {b: {model: board}}\n"
              "connections: [b.force -> b.voltage_in, b.length -> b.length_in, b.temperature -> "
              "b.temperature_in]\n",
         "test.yaml:6:15: error: dimensions do not match: b.force is in N, b.voltage_in in V",
         "test.yaml:6:40: error: b.length is in mm, b.length_in in m: write the long form with "
         "gain: 0.001\n",
         "test.yaml:6:65: error: b.temperature is in degC, b.temperature_in in K: write the long "
         "form with gain: 1, "
         "offset: 273.15");
}

// with the factors that the messages ask for, the values are those of the sink's dimension
static void test_dimensions_scaled(void** state) {
  sim s = fixture_open(*state, HEAD
                       "units: {b: {model: board}}\n"
                       "connections:\n"
                       "  - {from: b.length, to: b.length_in, gain: 0.001}\n"
                       "  - {from: b.temperature, to: b.temperature_in, gain: 1, offset: 273.15}\n"
                       "  - {from: b.force, to: b.voltage_in, gain: 2}\n");
  check_near(input_of(&s, "b", "length_in"), 0.25, 0);
  check_near(input_of(&s, "b", "temperature_in"), 293.15, 0);
  sim_close(&s);
}

// no dimension on one side fits everything
static void test_unknown_dimension(void** state) {
  sim s = fixture_open(*state, HEAD "units: {b: {model: board}, g: {model: gain}}\n"
                                    "connections: [b.force -> g.u, g.y -> b.voltage_in]\n");
  sim_close(&s);
}

// ---- types

static void test_types(void** state) {
  refuse(
      *state,
      HEAD
      "units: {c: {model: counter}, l: {model: label, with: {labels: [x, y]}}, g: {model: gain},\n"
      "        w: {model: switch, start: {a: 1, b: 2}}, k: {model: counter}}\n"
      "connections: [l.text -> g.u, g.y -> l.index, g.y -> w.on, {from: c.toggle, to: k.limit, "
      "gain: 2}]\n",
      "test.yaml:7:15: error: types do not match: l.text is string, g.u is real",
      "test.yaml:7:30: error: types do not match: g.y is real, l.index is integer",
      "test.yaml:7:46: error: types do not match: g.y is real, w.on is boolean",
      "test.yaml:7:59: error: gain and offset need real variables; k.limit is integer");

  // whole numbers go into reals
  sim s = sim_open(HEAD "units: {c: {model: counter}, g: {model: gain}}\n"
                        "connections: [{from: c.count, to: g.u, gain: 0.5, offset: 1}]\n");
  sim_steps(&s, 4);
  check_near(s.state->u[0], 3, 0);
  sim_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_elements_of_a_matrix),
      cmocka_unit_test(test_whole_matrix),
      cmocka_unit_test(test_name_verbatim),
      cmocka_unit_test(test_elements_refused),
      cmocka_unit_test(test_two_sources_of_an_element),
      cmocka_unit_test(test_dimensions_refused),
      cmocka_unit_test(test_dimensions_scaled),
      cmocka_unit_test(test_unknown_dimension),
      cmocka_unit_test(test_types),
  };
  return cmocka_run_group_tests(tests, make_models, free_models);
}
