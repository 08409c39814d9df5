// One faulty description per rule: the fault is told once, with its id and the line of the first place, and the
// description can be used all the same. What cannot be used is an error with its own id.
#include "base/base_message.h"
#include "fmi/fmi_helper.h"

#include "fmi/fmi_rules.h"

#define ROOT2 "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"m\" guid=\"g\">\n"
#define HEAD2 ROOT2 "<CoSimulation modelIdentifier=\"m\"/>\n"  // the next line is 3
#define VARS2 HEAD2 "<ModelVariables>\n"                       // the next line is 4
#define END2  "</ModelVariables><ModelStructure/></fmiModelDescription>\n"
#define TAIL  "</fmiModelDescription>\n"
#define HEAD3                                                                                      \
  "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"g\">\n"            \
  "<CoSimulation modelIdentifier=\"m\"/>\n"
#define VARS3                                                                                      \
  HEAD3                                                                                            \
  "<ModelVariables>"                                                                               \
  "<Float64 name=\"t\" valueReference=\"0\" causality=\"independent\"/>\n"  // next line is 4
#define SCALAR(name, reference, roles, type)                                                       \
  "<ScalarVariable name=\"" name "\" valueReference=\"" reference "\" " roles ">" type             \
  "</ScalarVariable>\n"
#define U           SCALAR("u", "1", "causality=\"input\"", "<Real start=\"0\"/>")
#define Y           SCALAR("y", "2", "causality=\"output\"", "<Real/>")
#define LOCAL(type) SCALAR("x", "1", "variability=\"discrete\" initial=\"exact\"", type)
#define STRUCTURE(entries)                                                                         \
  "</ModelVariables>\n<ModelStructure>\n<Outputs>\n" entries "</Outputs></ModelStructure>\n" TAIL

typedef struct rule_case {
  yoke_fmi_rule rule;
  int line;
  const char* text;  // part of the message
  const char* xml;
} rule_case;

static const rule_case cases[] = {
    // the file as a whole
    {YOKE_FMI_RULE_VERSION_MINOR, 1, "'2.7'",
     "<fmiModelDescription fmiVersion=\"2.7\" modelName=\"m\" guid=\"g\">\n"
     "<CoSimulation modelIdentifier=\"m\"/>" TAIL},
    {YOKE_FMI_RULE_TOKEN_MISSING, 1, "no guid",
     "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"m\">\n"
     "<CoSimulation modelIdentifier=\"m\"/>" TAIL},
    {YOKE_FMI_RULE_MODEL_NAME_MISSING, 1, "no modelName",
     "<fmiModelDescription fmiVersion=\"2.0\" guid=\"g\">\n"
     "<CoSimulation modelIdentifier=\"m\"/>" TAIL},
    {YOKE_FMI_RULE_IDENTIFIER_MISSING, 2, "<CoSimulation> has no modelIdentifier",
     ROOT2 "<CoSimulation/>" TAIL},
    {YOKE_FMI_RULE_IDENTIFIER_ODD, 2, "'a b'",
     ROOT2 "<CoSimulation modelIdentifier=\"a b\"/>" TAIL},
    {YOKE_FMI_RULE_IDENTIFIER_ODD, 2, "no name of a file",
     ROOT2 "<CoSimulation modelIdentifier=\"../../bin/sh\"/>" TAIL},
    {YOKE_FMI_RULE_INTERFACE_REPEATED, 3, "<CoSimulation>",
     HEAD2 "<CoSimulation modelIdentifier=\"other\"/>" TAIL},
    {YOKE_FMI_RULE_EXPERIMENT_BAD, 3, "stepSize=\"-1\"",
     HEAD2 "<DefaultExperiment stepSize=\"-1\"/>" TAIL},
    {YOKE_FMI_RULE_EXPERIMENT_BAD, 3, "stops before",
     HEAD2 "<DefaultExperiment startTime=\"2\" stopTime=\"1\"/>" TAIL},
    {YOKE_FMI_RULE_ATTRIBUTE_BAD, 2, "canGetAndSetFMUstate=\"maybe\"",
     ROOT2 "<CoSimulation modelIdentifier=\"m\" canGetAndSetFMUstate=\"maybe\"/>" TAIL},
    {YOKE_FMI_RULE_ATTRIBUTE_BAD, 3, "startTime=\"soon\"",
     HEAD2 "<DefaultExperiment startTime=\"soon\"/>" TAIL},
    {YOKE_FMI_RULE_ATTRIBUTE_UNKNOWN, 2, "'colour' of <CoSimulation>",
     ROOT2 "<CoSimulation modelIdentifier=\"m\" colour=\"red\"/>" TAIL},
    {YOKE_FMI_RULE_ELEMENT_UNKNOWN, 3, "<Sound> in <fmiModelDescription>",
     HEAD2 "<Sound><Real name=\"x\"/></Sound>" TAIL},

    // definitions
    {YOKE_FMI_RULE_DEFINITION_REPEATED, 4, "unit 'N'",
     HEAD2 "<UnitDefinitions><Unit name=\"N\"/>\n<Unit name=\"N\"/></UnitDefinitions>" TAIL},
    {YOKE_FMI_RULE_DEFINITION_REPEATED, 4, "type 'T'",
     HEAD2 "<TypeDefinitions><SimpleType name=\"T\"><Real/></SimpleType>\n"
           "<SimpleType name=\"T\"><Integer/></SimpleType></TypeDefinitions>" TAIL},
    {YOKE_FMI_RULE_ATTRIBUTE_BAD, 3, "unit 'N'",
     HEAD2
     "<UnitDefinitions><Unit name=\"N\"><BaseUnit factor=\"0\"/></Unit></UnitDefinitions>" TAIL},
    {YOKE_FMI_RULE_ITEM_REPEATED, 4, "'a'",
     HEAD2 "<TypeDefinitions><SimpleType name=\"T\"><Enumeration>\n"
           "<Item name=\"a\" value=\"1\"/><Item name=\"a\" value=\"2\"/></Enumeration></SimpleType>"
           "</TypeDefinitions>" TAIL},
    {YOKE_FMI_RULE_ITEM_REPEATED, 4, "value 1",
     HEAD2 "<TypeDefinitions><SimpleType name=\"T\"><Enumeration>\n"
           "<Item name=\"a\" value=\"1\"/><Item name=\"b\" value=\"1\"/></Enumeration></SimpleType>"
           "</TypeDefinitions>" TAIL},
    {YOKE_FMI_RULE_ITEM_VALUE, 4, "'b'",
     HEAD2 "<TypeDefinitions><SimpleType name=\"T\"><Enumeration><Item name=\"a\" value=\"1\"/>\n"
           "<Item name=\"b\"/></Enumeration></SimpleType></TypeDefinitions>" TAIL},
    {YOKE_FMI_RULE_ITEMS_MISSING, 4, "'x'", VARS2 LOCAL("<Enumeration start=\"1\"/>") END2},
    {YOKE_FMI_RULE_TYPE_UNKNOWN, 4, "'Nowhere' of 'x'",
     VARS2 LOCAL("<Real declaredType=\"Nowhere\" start=\"1\"/>") END2},
    {YOKE_FMI_RULE_TYPE_MISMATCH, 4, "'T' of 'x'",
     HEAD2 "<TypeDefinitions><SimpleType name=\"T\"><Integer/></SimpleType></TypeDefinitions>"
           "<ModelVariables>\n" LOCAL("<Real declaredType=\"T\" start=\"1\"/>") END2},
    {YOKE_FMI_RULE_UNIT_UNKNOWN, 4, "'furlong' of 'x'",
     VARS2 LOCAL("<Real unit=\"furlong\" start=\"1\"/>") END2},
    {YOKE_FMI_RULE_UNIT_UNKNOWN, 3, "type 'T'",
     HEAD2 "<TypeDefinitions><SimpleType name=\"T\"><Real unit=\"ell\"/></SimpleType>"
           "</TypeDefinitions>" TAIL},
    {YOKE_FMI_RULE_MIN_MAX, 4, "'x'", VARS2 LOCAL("<Real min=\"2\" max=\"1\" start=\"1\"/>") END2},
    {YOKE_FMI_RULE_MIN_MAX, 3, "type 'T'",
     HEAD2 "<TypeDefinitions><SimpleType name=\"T\"><Real min=\"2\" max=\"1\"/></SimpleType>"
           "</TypeDefinitions>" TAIL},

    // variables
    {YOKE_FMI_RULE_NAME_MISSING, 4, "no name",
     VARS2 "<ScalarVariable valueReference=\"1\"><Real/></ScalarVariable>" END2},
    {YOKE_FMI_RULE_NAME_ODD, 4, "control characters",
     VARS2 SCALAR("a&#10;b", "1", "", "<Real/>") END2},
    {YOKE_FMI_RULE_NAME_REPEATED, 5, "'a'",
     VARS2 SCALAR("a", "1", "", "<Real/>") SCALAR("a", "2", "", "<Real/>") END2},
    {YOKE_FMI_RULE_REFERENCE_BAD, 4, "has -7", VARS2 SCALAR("a", "-7", "", "<Real/>") END2},
    {YOKE_FMI_RULE_REFERENCE_BAD, 4, "has nothing",
     VARS2 "<ScalarVariable name=\"a\"><Real/></ScalarVariable>" END2},
    {YOKE_FMI_RULE_REFERENCE_BAD, 4, "has 4294967296",
     VARS2 SCALAR("a", "4294967296", "", "<Real/>") END2},
    {YOKE_FMI_RULE_REFERENCE_SHARED, 5, "'b' has the value reference 1",
     VARS3 "<Float64 name=\"a\" valueReference=\"1\"/>\n"
           "<Int32 name=\"b\" valueReference=\"1\"/>\n" END2},
    {YOKE_FMI_RULE_VARIABLE_TYPE, 4, "'a' has no type", VARS2 SCALAR("a", "1", "", "") END2},
    {YOKE_FMI_RULE_COMBINATION, 4, "'continuous' (the default) does not go with parameter",
     VARS2 SCALAR("p", "1", "causality=\"parameter\"", "<Real start=\"1\"/>") END2},
    {YOKE_FMI_RULE_COMBINATION, 4, "'fixed' does not go with input",
     VARS2 SCALAR("p", "1", "causality=\"input\" variability=\"fixed\"", "<Real start=\"1\"/>")
         END2},
    {YOKE_FMI_RULE_COMBINATION, 4, "'continuous' does not go with local Integer",
     VARS2 SCALAR("p", "1", "variability=\"continuous\"", "<Integer/>") END2},
    {YOKE_FMI_RULE_COMBINATION, 4, "initial 'calculated' does not go with parameter",
     VARS2 SCALAR("p", "1", "causality=\"parameter\" variability=\"fixed\" initial=\"calculated\"",
                  "<Real start=\"1\"/>") END2},
    {YOKE_FMI_RULE_COMBINATION, 4, "initial 'exact' does not go with input",
     VARS2 SCALAR("p", "1", "causality=\"input\" initial=\"exact\"", "<Real start=\"1\"/>") END2},
    {YOKE_FMI_RULE_ATTRIBUTE_BAD, 4, "causality=\"inptu\"",
     VARS2 SCALAR("p", "1", "causality=\"inptu\"", "<Real/>") END2},
    {YOKE_FMI_RULE_START_MISSING, 4, "input 'u'",
     VARS2 SCALAR("u", "1", "causality=\"input\"", "<Real/>") END2},
    {YOKE_FMI_RULE_START_MISSING, 4, "parameter 'p'",
     VARS2 SCALAR("p", "1", "causality=\"parameter\" variability=\"fixed\"", "<String/>") END2},
    {YOKE_FMI_RULE_START_BAD, 4, "start=\"1,5\" of 'x'", VARS2 LOCAL("<Real start=\"1,5\"/>") END2},
    {YOKE_FMI_RULE_START_BAD, 4, "start=\"2.0\" of 'x' is no Integer",
     VARS2 LOCAL("<Integer start=\"2.0\"/>") END2},
    {YOKE_FMI_RULE_START_BAD, 4, "start=\"True\"", VARS2 LOCAL("<Boolean start=\"True\"/>") END2},
    {YOKE_FMI_RULE_START_BAD, 4, "hexadecimal",
     VARS3 "<Binary name=\"b\" valueReference=\"1\" causality=\"input\"><Start "
           "value=\"xy\"/></Binary>" END2},
    {YOKE_FMI_RULE_START_RANGE, 4, "start=\"3000000000\" of 'x'",
     VARS2 LOCAL("<Integer start=\"3000000000\"/>") END2},
    {YOKE_FMI_RULE_START_RANGE, 4, "start=\"5\" of 'x'",
     VARS2 LOCAL("<Real min=\"0\" max=\"1\" start=\"5\"/>") END2},
    {YOKE_FMI_RULE_START_RANGE, 4, "start=\"-1\" of 'a'",
     VARS3 "<UInt8 name=\"a\" valueReference=\"1\" causality=\"input\" start=\"-1\"/>" END2},
    {YOKE_FMI_RULE_START_RANGE, 4, "start=\"3\" of 'x'",
     HEAD2 "<TypeDefinitions><SimpleType name=\"T\"><Enumeration><Item name=\"a\" value=\"1\"/>"
           "</Enumeration></SimpleType></TypeDefinitions><ModelVariables>\n" LOCAL(
               "<Enumeration declaredType=\"T\" start=\"3\"/>") END2},
    {YOKE_FMI_RULE_START_EXTRA, 4, "local 'x'",
     VARS2 SCALAR("x", "1", "", "<Real start=\"1\"/>") END2},
    {YOKE_FMI_RULE_START_COUNT, 4, "3 elements and 2 start values",
     VARS3 "<Float64 name=\"a\" valueReference=\"1\" causality=\"input\" start=\"1 2\">"
           "<Dimension start=\"3\"/></Float64>" END2},
    {YOKE_FMI_RULE_DERIVATIVE_UNKNOWN, 4, "variable 9, which is not there",
     VARS2 SCALAR("dx", "1", "", "<Real derivative=\"9\"/>") END2},
    {YOKE_FMI_RULE_DERIVATIVE_UNKNOWN, 4, "which cannot be",
     VARS2 SCALAR("dx", "1", "", "<Real derivative=\"1\"/>") END2},
    {YOKE_FMI_RULE_DIMENSION_BAD, 5, "no positive size",
     VARS3 "<Float64 name=\"a\" valueReference=\"1\" causality=\"input\" start=\"1\">\n"
           "<Dimension/></Float64>" END2},
    {YOKE_FMI_RULE_DIMENSION_BAD, 4, "refers to 0",
     VARS3 "<Float64 name=\"a\" valueReference=\"1\" causality=\"input\" start=\"1\">"
           "<Dimension valueReference=\"0\"/></Float64>" END2},
    {YOKE_FMI_RULE_CLOCK_BAD, 4, "'c' has no intervalVariability",
     VARS3 "<Clock name=\"c\" valueReference=\"1\" causality=\"input\"/>" END2},
    {YOKE_FMI_RULE_CLOCK_BAD, 4, "no positive interval",
     VARS3 "<Clock name=\"c\" valueReference=\"1\" causality=\"input\" "
           "intervalVariability=\"constant\"/>" END2},
    {YOKE_FMI_RULE_CLOCK_UNKNOWN, 4, "variable 7 is no clock",
     VARS3 "<Int32 name=\"a\" valueReference=\"1\" clocks=\"7\"/>" END2},
    {YOKE_FMI_RULE_INDEPENDENT, 3, "no variable",
     HEAD3 "<ModelVariables><Int32 name=\"a\" valueReference=\"1\"/>" END2},
    {YOKE_FMI_RULE_INDEPENDENT, 3, "more than one",
     VARS3 "<Float64 name=\"t2\" valueReference=\"1\" causality=\"independent\"/>" END2},

    // structure
    {YOKE_FMI_RULE_OUTPUT_UNLISTED, 5, "output 'y'", VARS2 U Y STRUCTURE("")},
    {YOKE_FMI_RULE_STRUCTURE_UNKNOWN, 10, "names variable 12",
     VARS2 U Y STRUCTURE("<Unknown index=\"2\"/>\n<Unknown index=\"12\"/>")},
    {YOKE_FMI_RULE_STRUCTURE_WRONG, 10, "'u' among the outputs is input",
     VARS2 U Y STRUCTURE("<Unknown index=\"2\"/>\n<Unknown index=\"1\"/>")},
    {YOKE_FMI_RULE_STRUCTURE_WRONG, 6, "'x' among the derivatives",
     VARS2 SCALAR("x", "1", "",
                  "<Real/>") "</ModelVariables>\n<ModelStructure><Derivatives><Unknown "
                             "index=\"1\"/></Derivatives></ModelStructure>" TAIL},
    {YOKE_FMI_RULE_STRUCTURE_REPEATED, 10, "'y' is listed twice",
     VARS2 U Y STRUCTURE("<Unknown index=\"2\"/>\n<Unknown index=\"2\" dependencies=\"\"/>")},
    {YOKE_FMI_RULE_DEPENDENCY_UNKNOWN, 9, "'y' depends on variable 5",
     VARS2 U Y STRUCTURE("<Unknown index=\"2\" dependencies=\"1 5\"/>")},
    {YOKE_FMI_RULE_DEPENDENCY_KINDS, 9, "2 words for 1",
     VARS2 U Y STRUCTURE(
         "<Unknown index=\"2\" dependencies=\"1\" dependenciesKind=\"fixed fixed\"/>")},
    {YOKE_FMI_RULE_DEPENDENCY_KINDS, 9, "1 words for 0",
     VARS2 U Y STRUCTURE("<Unknown index=\"2\" dependenciesKind=\"fixed\"/>")},
    {YOKE_FMI_RULE_DEPENDENCY_KINDS, 9, "unknown",
     VARS2 U Y STRUCTURE("<Unknown index=\"2\" dependencies=\"1\" dependenciesKind=\"odd\"/>")},
};

#define N_CASES (sizeof cases / sizeof cases[0])

static const char* const rule_ids[] = {
#define RULE_ID(name, id, severity, text) id,
    YOKE_FMI_RULE_LIST(RULE_ID)
#undef RULE_ID
};

static void test_each_rule(void** state) {
  (void)state;
  for (size_t i = 0; i < N_CASES; i++) {
    const rule_case* c = &cases[i];
    yoke_messages messages = {0};
    yoke_fmi_description* d = read_text(c->xml, &messages);
    char mark[64];
    snprintf(mark, sizeof mark, "[%s]", rule_ids[c->rule]);
    const yoke_message* m = messages.all;
    if (messages.n != 1 || strstr(m->text, mark) == NULL || strstr(m->text, c->text) == NULL ||
        m->line != c->line) {
      fail_msg("case %zu: one message %s '%s' at line %d expected, got:\n%s", i, mark, c->text,
               c->line, all_messages(&messages));
      return;
    }
    assert_string_equal(m->file, "t.fmu");
    yoke__fmi_free(&d);
    yoke__messages_free(&messages);
  }
}

// Every rule has a case here, and is explained on its page; those of archives are in test_fmi_package.c.
static void test_no_rule_forgotten(void** state) {
  (void)state;
  const char* root = getenv("YOKE_SOURCE_DIR");
  char path[1024];
  YOKE_CATCH(err);
  snprintf(path, sizeof path, "%s/docs/fmi_description.md", root == NULL ? "../../.." : root);
  char* page = NULL;
  size_t n = 0;
  if (yoke__os_read_file(path, 1 << 20, &page, &n, &err.sink) < 0) {
    fail_msg("%s: %s", path, err.text);
  }
  for (int rule = 0; rule < YOKE_FMI_N_RULES; rule++) {
    bool is_tested = rule == YOKE_FMI_RULE_TERMINAL_XML || rule == YOKE_FMI_RULE_TERMINAL_NAME ||
                     rule == YOKE_FMI_RULE_TERMINAL_VARIABLE ||
                     rule == YOKE_FMI_RULE_BINARY_FOLDER || rule == YOKE_FMI_RULE_BINARY_NAME;
    for (size_t i = 0; i < N_CASES; i++) {
      is_tested |= cases[i].rule == (yoke_fmi_rule)rule;
    }
    char mark[64];
    snprintf(mark, sizeof mark, "`%s`", rule_ids[rule]);
    if (!is_tested || strstr(page, mark) == NULL) {
      fail_msg("%s is not %s", mark, is_tested ? "in docs/fmi_description.md" : "tested");
    }
  }
  free(page);
}

// ---- what becomes of the faulty parts

static void test_counting(void** state) {
  (void)state;
  yoke_messages messages = {0};
  yoke_fmi_description* d =
      read_text(VARS2 U Y SCALAR("v", "3", "causality=\"input\"", "<Real unit=\"x\"/>")
                    SCALAR("w", "4", "causality=\"input\"", "<Real unit=\"x\"/>")
                        STRUCTURE("<Unknown index=\"2\"/>"),
                &messages);
  const char* text = all_messages(&messages);
  check_contains(text, "t.fmu:6: warning: unit 'x' of 'v' is not defined (and 1 more); ");
  check_contains(text, "t.fmu:6: warning: input 'v' has no start value (and 1 more); ");
  assert_int_equal(messages.n_warnings, 2);
  yoke__fmi_free(&d);
  yoke__messages_free(&messages);
}

static void test_repeated_names_stay_apart(void** state) {
  (void)state;
  yoke_messages messages = {0};
  yoke_fmi_description* d =
      read_text(VARS2 SCALAR("a", "1", "", "<Real/>") SCALAR("a", "2", "", "<Real/>")
                    SCALAR("a#2", "3", "", "<Real/>") SCALAR("a", "4", "", "<Real/>") END2,
                &messages);
  assert_int_equal(variable(d, "a")->reference, 1);
  assert_int_equal(variable(d, "a#2")->reference, 3);  // a name of the file is never taken away
  assert_int_equal(variable(d, "a#3")->reference, 2);
  assert_int_equal(variable(d, "a#4")->reference, 4);
  yoke__fmi_free(&d);
  yoke__messages_free(&messages);
}

// FMI 2.0 counts positions, so a variable that is left out must not move the others.
static void test_positions_after_a_dropped_variable(void** state) {
  (void)state;
  yoke_messages messages = {0};
  yoke_fmi_description* d =
      read_text(VARS2 SCALAR("bad", "x", "", "<Real/>") U SCALAR("worse", "7", "", "")
                    Y SCALAR("dy", "5", "", "<Real derivative=\"4\"/>")
                        STRUCTURE("<Unknown index=\"4\" dependencies=\"2\"/>"),
                &messages);
  assert_int_equal(d->n_variables, 3);
  assert_int_equal(d->outputs.n, 1);
  assert_string_equal(d->variables[d->outputs.items[0].variable].name, "y");
  assert_int_equal(d->outputs.items[0].n, 1);
  assert_string_equal(d->variables[d->dependencies[d->outputs.items[0].first]].name, "u");
  assert_int_equal(variable(d, "dy")->derivative_of, 1 + yoke__fmi_find(d, "y"));
  yoke__fmi_free(&d);
  yoke__messages_free(&messages);
}

static void test_remedies(void** state) {
  (void)state;
  yoke_messages messages = {0};
  yoke_fmi_description* d =
      read_text(VARS2 SCALAR("p", "1", "causality=\"parameter\"", "<Real start=\"1\"/>")
                    SCALAR("x", "2", "", "<Real start=\"1\"/>") SCALAR("a&#9;b", "3", "", "<Real/>")
                        SCALAR("y", "4", "causality=\"output\" variability=\"tunable\"",
                               "<Integer/>") STRUCTURE(""),
                &messages);
  assert_int_equal(variable(d, "p")->variability, YOKE_FMI_FIXED);
  assert_null(variable(d, "x")->start);
  assert_int_equal(variable(d, "y")->variability, YOKE_FMI_DISCRETE);
  assert_int_equal(yoke__fmi_find(d, "a_b"), 2);
  assert_int_equal(d->outputs.n, 1);
  assert_false(d->outputs.items[0].has_dependencies);
  yoke__fmi_free(&d);
  yoke__messages_free(&messages);

  // an identifier that would lead out of the archive is not kept
  d = read_text(ROOT2 "<CoSimulation modelIdentifier=\"../x\"/>" TAIL, &messages);
  assert_string_equal(d->co_simulation.model_identifier, "");
  yoke__fmi_free(&d);
  yoke__messages_free(&messages);
}

// Two variables of FMI 3.0 with one number, the second with a size by reference, which must be resolved all the same.
static void test_shared_reference_with_dimensions(void** state) {
  (void)state;
  yoke_messages messages = {0};
  yoke_fmi_description* d = read_text(
      VARS3 "<UInt64 name=\"n\" valueReference=\"9\" causality=\"structuralParameter\" "
            "start=\"4\"/><Float64 name=\"a\" valueReference=\"1\"/>"
            "<Float64 name=\"b\" valueReference=\"1\"><Dimension valueReference=\"9\"/></Float64>"
            "<Clock name=\"c\" valueReference=\"2\" intervalVariability=\"triggered\"><Start "
            "value=\"1\"/></Clock>" END2,
      &messages);
  assert_int_equal(yoke__fmi_size(d, variable(d, "b")), 4);
  assert_int_equal(d->dimensions[0].variable, yoke__fmi_find(d, "n"));
  assert_null(variable(d, "c")->start);
  yoke__fmi_free(&d);
  yoke__messages_free(&messages);
}

// ---- what cannot be used

static void check_refused(const char* xml, const char* text) {
  yoke_messages messages = {0};
  yoke_fmi_description* d = NULL;
  const yoke_status status = yoke__fmi_read(xml, strlen(xml), "t.fmu", &messages, &d);
  assert_int_equal(status, YOKE_BAD_INPUT);
  assert_null(d);
  assert_int_equal(messages.n_errors, 1);
  check_contains(all_messages(&messages), text);
  yoke__messages_free(&messages);
}

static void test_refusals(void** state) {
  (void)state;
  check_refused("<fmiModelDescription modelName=\"m\"/>",
                "t.fmu:1: error: <fmiModelDescription> has no");
  check_refused("<fmiModelDescription fmiVersion=\"4.0\"/>", "'4.0' is not known");
  check_refused("<fmiModelDescription fmiVersion=\"20\"/>", "[fmi-version]");
  check_refused("<fmiModelDescription fmiVersion=\"\"/>", "[fmi-version]");
  check_refused(ROOT2 TAIL, "[fmi-interface-none]");
  check_refused("<fmiModelDescription fmiVersion=\"1.0\" modelName=\"m\" guid=\"g\"/>",
                "[fmi-1-model-exchange]");
  check_refused("<Recipe/>", "[fmi-root]");
  check_refused("", "t.fmu");
  check_refused(VARS2 U, "not well-formed");
  check_refused(VARS2 "<ScalarVariable name=\"a\" name=\"b\"/>" END2, "duplicate attribute");
  check_refused("<!DOCTYPE x [<!ENTITY a \"b\">]>" ROOT2 TAIL, "DOCTYPE");
}

// No variables and no structure: nothing to exchange, but nothing wrong either.
static void test_empty_is_fine(void** state) {
  (void)state;
  yoke_messages messages = {0};
  yoke_fmi_description* d = read_text(HEAD2 TAIL, &messages);
  assert_int_equal(messages.n, 0);
  assert_int_equal(d->n_variables + d->outputs.n, 0);
  assert_true(yoke__fmi_find(d, "x") == YOKE_FMI_NONE);
  assert_true(yoke__fmi_find_reference(d, 0) == YOKE_FMI_NONE);
  yoke__fmi_free(&d);
  yoke__messages_free(&messages);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_rule),
      cmocka_unit_test(test_no_rule_forgotten),
      cmocka_unit_test(test_counting),
      cmocka_unit_test(test_repeated_names_stay_apart),
      cmocka_unit_test(test_positions_after_a_dropped_variable),
      cmocka_unit_test(test_remedies),
      cmocka_unit_test(test_shared_reference_with_dimensions),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_empty_is_fine),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
