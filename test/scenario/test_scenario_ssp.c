// SSP files become the description that a system file would give: one file of test/scenario/ssp per feature. FMUs are only
// named here, not opened.
#include "base/base_os.h"
#include "ssp_helper.h"

#define STEP "time.step=1e-3"

static ssp_reading* read_good(const char* name) {
  static const char* const sets[] = {STEP};
  ssp_reading* r = ssp_read_named(name, sets, 1);
  if (r->status != YOKE_OK) {
    fail_msg("%s: status %d\n%s", name, (int)r->status, r->messages);
  }
  return r;
}

static void test_basic(void** state) {
  (void)state;
  ssp_reading* r = read_good("basic.ssd");
  ssp_check_text(r, "unit left fmu resources/left.fmu\n"
                    "unit right fmu resources/right one.fmu\n"
                    "left.f -> right.f gain -2 offset 0.5\n"
                    "right.body.x[1] -> left.x_other\n"
                    "left.n -> right.n\n");
  assert_string_equal(r->messages, "");
  const yoke_scenario* s = r->scenario;
  assert_string_equal(s->name, "two masses");
  assert_string_equal(s->text, "a spring between them");
  check_near(s->start.value, 0.5, 0);
  check_near(s->stop.value, 2.5, 0);
  check_near(s->step.value, 1e-3, 0);
  assert_int_equal(s->units[0].interface_type, YOKE_SCENARIO_CO_SIMULATION);
  assert_int_equal(s->units[1].interface_type, YOKE_SCENARIO_INTERFACE_AUTO);

  // places are lines of the XML
  assert_int_equal(s->units[0].place.line, 5);
  assert_int_equal(s->connections[1].place.line, 26);
  check_contains(s->units[0].place.source, "ssp/basic.ssd");
  ssp_free(r);
}

// y goes through two connectors of systems and an entry of a dictionary: 3 (2 y + 5) + 1, and 10 * 0.5
static void test_nested(void** state) {
  (void)state;
  ssp_reading* r = read_good("nested.ssd");
  ssp_check_text(r, "unit source fmu a.fmu\n"
                    "unit sink_1 fmu b.fmu\n"
                    "unit sink_1_2 fmu b.fmu\n"
                    "unit bond_ fmu b.fmu\n"
                    "unit _2nd fmu b.fmu\n"
                    "unit inner_deep_gain fmu a.fmu\n"
                    "inner_deep_gain.y -> sink_1.u\n"
                    "inner_deep_gain.y -> sink_1_2.u gain 5\n"
                    "source.y -> inner_deep_gain.u gain 6 offset 16\n");
  assert_string_equal(r->messages, "");
  ssp_free(r);
}

// An empty startElement or endElement is the system itself; an empty source of a binding, a mapping or a dictionary says that it
// stands inside. The same without the empty attributes is the same system.
static void test_empty(void** state) {
  (void)state;
  static const char* const empty[] = {" startElement=\"\"", " endElement=\"\"", " type=\"\"",
                                      " source=\"\"", " prefix=\"\""};
  ssp_reading* r = read_good("empty.ssd");
  assert_string_equal(r->messages, "");
  ssp_check_text(r, "unit source fmu a.fmu\n"
                    "unit sink fmu c.fmu\n"
                    "unit inner_gain fmu b.fmu k=3\n"
                    "inner_gain.y -> sink.u\n"
                    "source.y -> inner_gain.u\n");
  ssp_free(r);
  YOKE_CATCH(err);
  char path[4096], *text = NULL;
  size_t n = 0, n_cut = 0;
  snprintf(path, sizeof path, "%s/test/scenario/ssp/empty.ssd", getenv("YOKE_SOURCE_DIR"));
  check_ok(yoke__os_read_file(path, 1 << 20, &text, &n, &err.sink));
  for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
    for (char* at = strstr(text, empty[i]); at != NULL; at = strstr(at, empty[i])) {
      const char* rest = at + strlen(empty[i]);
      memmove(at, rest, strlen(rest) + 1);
      n_cut++;
    }
  }
  assert_int_equal(n_cut, 7);
  ssp_reading* without = ssp_read_text(text);
  r = read_good("empty.ssd");
  ssp_check_text(without, r->text);
  ssp_free(without);
  ssp_free(r);
  free(text);
}

static void test_units(void** state) {
  (void)state;
  ssp_reading* r = read_good("units.ssd");
  ssp_check_text(r, "unit a fmu a.fmu\n"
                    "unit b fmu b.fmu\n"
                    "a.v -> b.v gain 3.6000000000000001\n"
                    "a.v -> b.v_raw\n"
                    "a.v -> b.v_scaled gain 7.2000000000000002 offset 1\n"
                    "a.T -> b.T offset 273.14999999999998\n"
                    "a.w -> b.w gain 8\n"
                    "a.w -> b.any\n");
  assert_string_equal(r->messages, "");

  // what is not to be converted has a gain of its own, so that nobody complains about m/s into km/h
  assert_true(r->scenario->connections[1].has_gain);
  assert_false(r->scenario->connections[5].has_gain);
  ssp_free(r);
}

// Outer bindings win, 250 g are 0.25 kg, 20 degC are 293.15 K, mapped values are transformed.
static void test_parameters(void** state) {
  (void)state;
  ssp_reading* r = read_good("parameters.ssd");
  ssp_check_text(r, "unit a fmu a.fmu k=1.50 inner k=8 n=3 on=true title='5 ' mode='fast' "
                    "list=[1 2 3] T0=293.15 m=0.25\n"
                    "unit sub_b_c fmu b.fmu u=4 scaled=499 off=false level=20 gear='first'\n");
  check_contains(r->messages, "note: 4 parameters of this binding match nothing and are left out: "
                              "'nowhere', ...");
  assert_int_equal(r->n_warnings, 0);
  ssp_free(r);
}

// Another file, a system of the same file a second time, and a component that is only a sketch.
static void test_include(void** state) {
  (void)state;
  ssp_reading* r = read_good("include.ssd");
  ssp_check_text(r, "unit one_unit fmu models/a.fmu k=2 m=1\n"
                    "unit two_unit fmu b.fmu\n"
                    "unit three_unit fmu b.fmu\n"
                    "one_unit.y -> two_unit.u\n"
                    "one_unit.y -> three_unit.u\n");
  assert_int_equal(r->n_warnings, 1);
  check_contains(r->messages, "warning: the component 'sketch' has no source and is left out");
  ssp_free(r);
}

static void test_annotation(void** state) {
  (void)state;
  ssp_reading* r = ssp_read_named("annotation.ssd", NULL, 0);
  assert_string_equal(r->messages, "");
  ssp_check_text(r, "unit left fmu left.fmu step 0.001 k=1 m=2\n"
                    "unit spring law spring_damper\n"
                    "left.x -> spring.x1 order 1\n"
                    "spring.f -> left.f\n"
                    "left.x -> spring.x2\n");
  check_near(r->scenario->step.value, 1e-2, 0);
  check_near(r->scenario->stop.value, 3, 0);
  assert_int_equal(r->scenario->scheme, YOKE_GAUSS_SEIDEL);
  assert_int_equal(r->scenario->record_every, 2);

  // line and column of the annotation are those of the file
  const yoke_node* scheme = yoke__node_child(r->scenario->tree, "scheme");
  assert_int_equal(scheme->place.line, 35);
  assert_int_equal(scheme->place.column, 15);
  ssp_free(r);
}

// --set works on the tree as on that of a system file.
static void test_set(void** state) {
  (void)state;
  static const char* const sets[] = {"time.stop=9", "units.left.values.k=5",
                                     "connections[0].gain=3", "units.lft.step=1"};
  ssp_reading* r = ssp_read_named("annotation.ssd", sets, 3);
  check_contains(r->text, "k=5");
  check_contains(r->text, "left.x -> spring.x1 gain 3 order 1");
  check_near(r->scenario->stop.value, 9, 0);
  ssp_free(r);
  r = ssp_read_named("annotation.ssd", sets, 4);
  check_contains(r->messages, "did you mean 'left'?");
  ssp_free(r);
}

// A thousandth of the time, rounded down to 1, 2 or 5 times a power of ten.
static void test_step_is_guessed(void** state) {
  (void)state;
  static const struct {
    const char* stop;
    double step;
  } cases[] = {{"1", 1e-3}, {"7", 5e-3},   {"1.99", 1e-3},
               {"2", 2e-3}, {"50000", 50}, {"1e-9", 1e-12}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[1024];
    snprintf(text, sizeof text,
             "<SystemStructureDescription version='1.0' name='n'><System name='s'><Elements>"
             "<Component name='a' source='a.fmu'/></Elements></System>"
             "<DefaultExperiment stopTime='%s'/></SystemStructureDescription>",
             cases[i].stop);
    ssp_reading* r = ssp_read_text(text);
    assert_int_equal(r->status, YOKE_OK);
    check_near(r->scenario->step.value, cases[i].step, 0);
    assert_int_equal(r->n_warnings, 1);
    check_contains(r->messages, "--set time.step=");
    ssp_free(r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_basic),           cmocka_unit_test(test_nested),
      cmocka_unit_test(test_empty),           cmocka_unit_test(test_units),
      cmocka_unit_test(test_parameters),      cmocka_unit_test(test_include),
      cmocka_unit_test(test_annotation),      cmocka_unit_test(test_set),
      cmocka_unit_test(test_step_is_guessed),
  };
  return cmocka_run_group_tests_name("scenario_ssp", tests, NULL, NULL);
}
