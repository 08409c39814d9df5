// Broken and hostile SSP files: each mistake is one message with its line, nothing outside is read, nothing is left behind.
#define _XOPEN_SOURCE 700  // mkdtemp, setenv
#include "base/base_message.h"
#include "ssp_helper.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static char temp[4200];  // where archives are unpacked

#define OPEN  "<SystemStructureDescription version='1.0' name='n'>\n<System name='s'>\n"
#define CLOSE "</System>\n<DefaultExperiment stopTime='1'/></SystemStructureDescription>\n"
// lines 3 to 8: two components with an input and an output each
#define PAIR                                                                                       \
  "<Elements>\n"                                                                                   \
  "<Component name='a' source='a.fmu'><Connectors>\n"                                              \
  "<Connector name='u' kind='input'/><Connector name='y' kind='output'/></Connectors></Component>" \
  "\n<Component name='b' source='b.fmu'><Connectors>\n"                                            \
  "<Connector name='u' kind='input'/><Connector name='y' kind='output'/></Connectors></Component>" \
  "\n</Elements>\n"

typedef struct mistake {
  const char* text;     // between OPEN and CLOSE: line 3 is its first one
  const char* message;  // "line: error: ..."
} mistake;

static void check_mistakes(const mistake* cases, size_t n) {
  for (size_t i = 0; i < n; i++) {
    char text[8192], want[1024];
    snprintf(text, sizeof text, OPEN "%s" CLOSE, cases[i].text);
    snprintf(want, sizeof want, "dir/t.ssd:%s\n", cases[i].message);
    ssp_reading* r = ssp_read_text(text);
    if (r->status != YOKE_BAD_INPUT || r->n_errors != 1 || strstr(r->messages, want) == NULL) {
      fail_msg("case %zu: status %d, expected '%s', got:\n%s", i, (int)r->status, want,
               r->messages);
    }
    ssp_free(r);
  }
}

#define CHECK_MISTAKES(cases) check_mistakes(cases, sizeof(cases) / sizeof((cases)[0]))

static void test_connections(void** state) {
  (void)state;
  static const mistake cases[] = {
      {PAIR "<Connections>\n<Connection startElement='a' startConnector='q' endElement='b' "
            "endConnector='u'/></Connections>",
       "10: error: 'a' has no connector 'q'"},
      {PAIR "<Connections>\n<Connection startElement='c' startConnector='y' endElement='b' "
            "endConnector='u'/></Connections>",
       "10: error: there is no element 'c' in this system"},
      {PAIR "<Connections>\n<Connection startElement='a' startConnector='u' endElement='b' "
            "endConnector='u'/></Connections>",
       "10: error: this connection has no source: 'a.u' and 'b.u' are both inputs"},
      {PAIR "<Connections>\n<Connection startElement='a' startConnector='y' endElement='b' "
            "endConnector='y'/></Connections>",
       "10: error: this connection has no destination: 'a.y' and 'b.y' are both outputs"},
      {PAIR "<Connections>\n<Connection startElement='a' startConnector='y' endElement='b' "
            "endConnector='u'/>\n<Connection startElement='b' startConnector='y' endElement='b' "
            "endConnector='u'/></Connections>",
       "11: error: 'b.u' has two sources: this one and that in line 10"},
      {PAIR "<Connections>\n<Connection startElement='a' endElement='b' endConnector='u'/>"
            "</Connections>",
       "10: error: 'Connection' has no 'startConnector'"},
      {PAIR "<Connections>\n<Connection startConnector='y' endElement='b' endConnector='u'/>"
            "</Connections>",
       "10: error: the system has no connector 'y'"},
      {PAIR "<Connections>\n<Connection startElement='' startConnector='y' endElement='b' "
            "endConnector='u'/></Connections>",
       "10: error: the system has no connector 'y'"},
      {PAIR "<Connections>\n<Connection startElement='a' startConnector='' endElement='b' "
            "endConnector='u'/></Connections>",
       "10: error: 'Connection' has no 'startConnector'"},
      {PAIR "<Connections>\n<Connection startElement='a' startConnector='y' endElement='b' "
            "endConnector='u'>\n<LinearTransformation factor='two'/></Connection></Connections>",
       "11: error: 'factor': expected a number, found 'two'"},
      {PAIR "<Connections>\n<Connection startElement='a' startConnector='y' endElement='b' "
            "endConnector='u'>\n<BooleanMappingTransformation>\n<MapEntry source='true' "
            "target='false'/></BooleanMappingTransformation></Connection></Connections>",
       "12: error: a connection cannot map single values (BooleanMappingTransformation); only "
       "factor and offset"},
  };
  CHECK_MISTAKES(cases);
}

static void test_elements(void** state) {
  (void)state;
  static const mistake cases[] = {
      {"<Elements>\n<Component name='a' source='a.fmu'/>\n<System name='a'/></Elements>",
       "5: error: a second element 'a' in this system"},
      {"<Elements>\n<Component name='b' source='b.fmu'/>\n<Component name='a' source=' "
       "'/></Elements>",
       "5: error: the component 'a' has an empty 'source', which means this file itself; expected "
       "a "
       "file, or no 'source' if there is no implementation"},
      {"<Elements>\n<Component name='b' source='b.fmu'/>\n<Component source='a.fmu'/></Elements>",
       "5: error: 'Component' has no 'name'"},
      {"<Elements>\n<Component name='b' source='b.fmu'/>\n<Component name='a' source='a.mo' "
       "type='text/x-modelica; path=A'/></Elements>",
       "5: error: a component of type 'text/x-modelica' cannot be run; expected "
       "application/x-fmu-sharedlibrary"},
      {"<Elements>\n<Component name='b' source='b.fmu'/>\n<Component name='a' "
       "source='http://example.org/a.fmu'/></Elements>",
       "5: error: 'http://example.org/a.fmu': only files can be read, no other scheme"},
      {"<Elements>\n<Component name='b' source='b.fmu'/>\n<Component name='a' "
       "source='a%2'/></Elements>",
       "5: error: 'a%2' is no path of a file"},
      {"<Elements>\n<Component name='b' source='b.fmu'/>\n<Component name='a' "
       "source='none.ssd'/></Elements>",
       "5: error: there is no file 'none.ssd'"},
      {"<Elements>\n<Component name='b' source='b.fmu'/>\n<Component name='a' "
       "source='#none'/></Elements>",
       "5: error: there is no system with the id 'none'"},
      {"<Elements>\n<Component name='b' source='b.fmu'/>\n<System name='x' id='x'><Elements>\n"
       "<Component name='a' source='#x'/></Elements></System></Elements>",
       "6: error: 'a' contains itself"},
      {"<Elements>\n<Component name='b' source='b.fmu'><Connectors>\n<Connector name='u' "
       "kind='in'/></Connectors></Component></Elements>",
       "5: error: 'kind': expected input, output, inout, parameter or calculatedParameter, found "
       "'in'"},
      {"<Elements>\n<Component name='b' source='b.fmu'><Connectors>\n<Connector name='u' "
       "kind='input'/>\n<Connector name='u' kind='input'/></Connectors></Component></Elements>",
       "6: error: a second Connector 'u'"},
      {"<Elements>\n<Component name='b' source='b.fmu'/>\n<SignalDictionaryReference name='r' "
       "dictionary='none'/></Elements>",
       "5: error: there is no signal dictionary 'none'"},
      {"<Elements>\n<Component name='b' source='b.fmu' implementation='Remote'/></Elements>",
       "4: error: 'implementation': expected any, CoSimulation or ModelExchange, found 'Remote'"},
  };
  CHECK_MISTAKES(cases);
}

static void test_units(void** state) {
  (void)state;
  static const mistake cases[] = {
      {"<Elements>\n<Component name='a' source='a.fmu'><Connectors><Connector name='y' "
       "kind='output'><Real unit='N'/></Connector></Connectors></Component>\n"
       "<Component name='b' source='b.fmu'><Connectors><Connector name='u' kind='input'>"
       "<Real unit='V'/></Connector></Connectors></Component></Elements>\n"
       "<Connections><Connection startElement='a' startConnector='y' endElement='b' "
       "endConnector='u'/></Connections>",
       "6: error: units do not match: 'y' is in N, 'u' in V"},
  };
  CHECK_MISTAKES(cases);
}

#define SET_OPEN  "<ParameterBindings>\n<ParameterBinding><ParameterValues><ParameterSet>\n"
#define SET_CLOSE "</ParameterSet></ParameterValues></ParameterBinding></ParameterBindings>\n"

static void test_parameters(void** state) {
  (void)state;
  static const mistake cases[] = {
      {PAIR "<ParameterBindings>\n<ParameterBinding/></ParameterBindings>",
       "10: error: the binding has neither a source nor values inside"},
      {PAIR "<ParameterBindings>\n<ParameterBinding source=''/></ParameterBindings>",
       "10: error: the binding has neither a source nor values inside"},
      {PAIR "<ParameterBindings>\n<ParameterBinding><ParameterValues><ParameterSet><Parameters>"
            "</Parameters></ParameterSet></ParameterValues>\n<ParameterMapping source=''/>"
            "</ParameterBinding></ParameterBindings>",
       "11: error: the mapping has neither a source nor entries inside"},
      {PAIR "<ParameterBindings>\n<ParameterBinding source='no.ssv'/></ParameterBindings>",
       "10: error: there is no file 'no.ssv'"},
      {PAIR "<ParameterBindings>\n<ParameterBinding source='a.csv' type='text/csv'/>"
            "</ParameterBindings>",
       "10: error: parameters of type 'text/csv' cannot be read"},
      {PAIR SET_OPEN "<Parameters><Parameter name='a.k'/></Parameters>" SET_CLOSE,
       "11: error: the parameter has no value"},
      {PAIR SET_OPEN "<Parameters><Parameter name='a.k'><Real/></Parameter></Parameters>" SET_CLOSE,
       "11: error: 'Real' has no 'value'"},
      {PAIR SET_OPEN "<Parameters><Parameter name='a.k'><Real value='1'/></Parameter>\n<Parameter "
                     "name='a.k'><Real value='2'/></Parameter></Parameters>" SET_CLOSE,
       "12: error: a second parameter 'a.k'"},
      {PAIR SET_OPEN
       "<Parameters><Parameter name='a.k'><Enumeration name='e' value='x'/></Parameter>"
       "</Parameters>\n<Enumerations><Enumeration name='e'><Item name='y' value='1'/>"
       "</Enumeration></Enumerations>" SET_CLOSE,
       "11: error: the enumeration 'e' has no item 'x'"},
  };
  CHECK_MISTAKES(cases);
}

static void check_whole(const char* text, const char* message) {
  ssp_reading* r = ssp_read_text(text);
  assert_int_equal(r->status, YOKE_BAD_INPUT);
  check_contains(r->messages, message);
  ssp_free(r);
}

static void test_documents(void** state) {
  (void)state;
  check_whole("<a/>", "dir/t.ssd:1: error: expected the element 'SystemStructureDescription', "
                      "found 'a'");
  check_whole("<SystemStructureDescription version='1.0' name='x'/>",
              "'SystemStructureDescription' has no element 'System'");
  check_whole("<SystemStructureDescription><System>\n<Elements></System>", "dir/t.ssd:2");
  check_whole("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "error");
  check_whole(OPEN CLOSE, "'units': expected at least one unit, found none");
  check_whole("<SystemStructureDescription version='1.0' name='n'><System name='s'><Elements>"
              "<Component name='a' source='a.fmu'/></Elements></System>"
              "</SystemStructureDescription>",
              "the key 'time.stop' is missing");
  check_whole("<SystemStructureDescription version='1.0' name='n'><System name='s'><Elements>"
              "<Component name='a' source='a.fmu'/></Elements></System>\n"
              "<DefaultExperiment stopTime='soon'/></SystemStructureDescription>",
              "dir/t.ssd:2: error: 'stop': expected a number, found the text 'soon'");
}

// What is not known is one warning, however often it comes.
static void test_unknown_elements(void** state) {
  (void)state;
  ssp_reading* r = ssp_read_text(OPEN PAIR "<Magic/><Magic/><Other/>" CLOSE);
  assert_int_equal(r->status, YOKE_OK);
  assert_int_equal(r->n_warnings, 3);
  check_contains(r->messages, "the element 'Magic' in 'System' is not known and is ignored");
  check_contains(r->messages, "the element 'Other' in 'System' is not known and is ignored");
  check_contains(r->messages, "no step is given");
  ssp_free(r);
}

// A binding has a source or values inside: with both the source counts, and a warning says so.
static void test_source_and_content(void** state) {
  (void)state;
  ssp_reading* r = ssp_read_text(
      OPEN PAIR "<ParameterBindings><ParameterBinding source='no.ssv'>\n<ParameterValues>"
                "<ParameterSet/></ParameterValues></ParameterBinding></ParameterBindings>" CLOSE);
  assert_int_equal(r->status, YOKE_BAD_INPUT);
  check_contains(r->messages, "dir/t.ssd:10: warning: 'ParameterBinding' has a source and a "
                              "'ParameterSet' inside; the source 'no.ssv' counts");
  check_contains(r->messages, "there is no file 'no.ssv'");
  ssp_free(r);
  r = ssp_read_text(OPEN PAIR "<SignalDictionaries><SignalDictionary name='d' source='no.ssb'>\n"
                              "<SignalDictionary/></SignalDictionary></SignalDictionaries>" CLOSE);
  check_contains(r->messages, "dir/t.ssd:10: warning: 'SignalDictionary' has a source and a "
                              "'SignalDictionary' inside; the source 'no.ssb' counts");
  ssp_free(r);
}

// One mistake in our annotation is said with its own line and column.
static void test_annotation(void** state) {
  (void)state;
  ssp_reading* r = ssp_read_text(OPEN PAIR "<Annotations><Annotation type='org.yoke.system'>\n"
                                           "   time: {step: 1}\n   schem: jacobi\n</Annotation>\n"
                                           "</Annotations>" CLOSE);
  assert_int_equal(r->status, YOKE_BAD_INPUT);
  assert_string_equal(r->messages, "dir/t.ssd:11:4: error: unknown key 'schem' in the file; did "
                                   "you mean 'scheme'?\n");
  ssp_free(r);
  r = ssp_read_text(OPEN PAIR "<Annotations><Annotation type='org.yoke.system'>\n"
                              "time: {step: 1}}\n</Annotation></Annotations>" CLOSE);
  check_contains(r->messages, "dir/t.ssd:10:");
  ssp_free(r);
  // the same inside of an element of our own
  r = ssp_read_text(OPEN PAIR "<Annotations><Annotation type='org.yoke.system'>\n"
                              " <y:System xmlns:y='urn:org.yoke.system'>\n"
                              "   time: {step: 1}\n   schem: jacobi\n</y:System></Annotation>\n"
                              "</Annotations>" CLOSE);
  assert_string_equal(r->messages, "dir/t.ssd:12:4: error: unknown key 'schem' in the file; did "
                                   "you mean 'scheme'?\n");
  ssp_free(r);
  r = ssp_read_text(OPEN PAIR "<Annotations><Annotation type='org.yoke.system'>\n"
                              "<Step>1</Step></Annotation></Annotations>" CLOSE);
  check_contains(r->messages,
                 "dir/t.ssd:10: error: the annotation org.yoke.system: expected text or "
                 "the element 'System', found 'Step'");
  ssp_free(r);
}

// ---------------------------------------------------------------------------------------------------------
// archives

// An archive in the working folder with one SSD and n further entries.
static void write_archive(const char* path, const char* ssd, const char* const entries[][2],
                          size_t n) {
  YOKE_CATCH(err);
  yoke_zip_writer* zip = NULL;
  check_ok(yoke__zip_create(path, &zip, &err.sink));
  if (ssd != NULL) {
    check_ok(yoke__zip_add(zip, "SystemStructure.ssd", ssd, strlen(ssd), &err.sink));
  }
  for (size_t i = 0; i < n; i++) {
    check_ok(yoke__zip_add(zip, entries[i][0], entries[i][1], strlen(entries[i][1]), &err.sink));
  }
  check_ok(yoke__zip_finish(&zip, &err.sink));
}

static size_t count_entries(const char* folder) {
  size_t n = 0;
  DIR* d = opendir(folder);
  assert_non_null(d);
  for (const struct dirent* at = readdir(d); at != NULL; at = readdir(d)) {
    n += at->d_name[0] != '.';
  }
  closedir(d);
  return n;
}

#define SIMPLE                                                                                     \
  OPEN "<Elements><Component name='a' source='resources/a.fmu'/></Elements>"                       \
       "<ParameterBindings><ParameterBinding source='resources/p.ssv'/></ParameterBindings>" CLOSE
#define VALUES                                                                                     \
  "<ParameterSet version='1.0' name='p'><Parameters><Parameter name='a.k'><Real value='4'/>"       \
  "</Parameter></Parameters></ParameterSet>"

// The archive is unpacked, read and gone with the scenario.
static void test_archive(void** state) {
  (void)state;
  static const char* const entries[][2] = {
      {"resources/a.fmu", "not really"}, {"resources/p.ssv", VALUES}, {"Other.ssd", SIMPLE}};
  write_archive("good.ssp", SIMPLE, entries, 3);
  const size_t n_before = count_entries(temp);
  for (int i = 0; i < 2; i++) {
    ssp_reading* r = ssp_read_path(i == 0 ? "good.ssp" : "good.ssp#Other.ssd", NULL, 0);
    assert_int_equal(r->status, YOKE_OK);
    ssp_check_text(r, "unit a fmu resources/a.fmu k=4\n");
    char path[4096];
    struct stat info;
    snprintf(path, sizeof path, "%s/resources/a.fmu", r->scenario->directory);
    assert_int_equal(stat(path, &info), 0);
    assert_string_equal(r->scenario->units[0].values[0].place.source, "good.ssp/resources/p.ssv");
    ssp_free(r);
    assert_int_equal(stat(path, &info), -1);
  }
  assert_int_equal(count_entries(temp), n_before);
}

// A package inside of a package.
static void test_archive_inside(void** state) {
  (void)state;
  static const char* const inner[][2] = {{"resources/a.fmu", "x"}, {"resources/p.ssv", VALUES}};
  write_archive("inner.ssp", SIMPLE, inner, 2);
  YOKE_CATCH(err);
  yoke_zip_writer* zip = NULL;
  static const char ssd[] =
      OPEN "<Elements><Component name='one' source='resources/inner.ssp'/>\n<Component name='two' "
           "source='resources/inner.ssp' type='application/x-ssp-package'/></Elements>" CLOSE;
  check_ok(yoke__zip_create("outer.ssp", &zip, &err.sink));
  check_ok(yoke__zip_add(zip, "SystemStructure.ssd", ssd, strlen(ssd), &err.sink));
  check_ok(yoke__zip_add_file(zip, "resources/inner.ssp", "inner.ssp", &err.sink));
  check_ok(yoke__zip_finish(&zip, &err.sink));
  ssp_reading* r = ssp_read_path("outer.ssp", NULL, 0);
  assert_int_equal(r->status, YOKE_OK);
  ssp_check_text(r, "unit one_a fmu ../ssp-1/resources/a.fmu k=4\n"
                    "unit two_a fmu ../ssp-1/resources/a.fmu k=4\n");
  ssp_free(r);
}

static void check_archive(const char* ssd, const char* message) {
  static const char* const entries[][2] = {
      {"resources/loop.ssd",
       OPEN "<Elements>\n<Component name='a' source='loop.ssd'/></Elements>" CLOSE}};
  write_archive("bad.ssp", ssd, entries, 1);
  const size_t n_before = count_entries(temp);
  ssp_reading* r = ssp_read_path("bad.ssp", NULL, 0);
  assert_int_equal(r->status, YOKE_BAD_INPUT);
  check_contains(r->messages, message);
  ssp_free(r);
  assert_int_equal(count_entries(temp), n_before);
}

static void test_hostile_archives(void** state) {
  (void)state;
  check_archive(NULL, "bad.ssp: error: the archive has no 'SystemStructure.ssd'");
  check_archive(OPEN "<Elements><Component name='a' source='../../etc/passwd'/></Elements>" CLOSE,
                "SystemStructure.ssd:3: error: '../../etc/passwd' leads out of the archive");
  check_archive(
      OPEN "<Elements><Component name='a' source='resources/%2e%2e/../x.fmu'/></Elements>" CLOSE,
      "leads out of the archive");
  check_archive(OPEN "<Elements><Component name='a' source='/etc/passwd'/></Elements>" CLOSE,
                "leads out of the archive");
  check_archive(OPEN "<Elements><Component name='a' source='file:///etc/passwd'/></Elements>" CLOSE,
                "leads out of the archive");
  check_archive(OPEN "<Elements><Component name='a' source='..\\\\x.ssd'/></Elements>" CLOSE,
                "leads out of the archive");
  check_archive(OPEN "<Elements><Component name='b' source='b.fmu'/></Elements><ParameterBindings>"
                     "<ParameterBinding source='../../../etc/passwd'/></ParameterBindings>" CLOSE,
                "leads out of the archive");
  check_archive(OPEN "<Elements><Component name='b' source='resources/loop.ssd'/></Elements>" CLOSE,
                "bad.ssp/resources/loop.ssd:4: error: 'a' contains itself");
  check_archive(OPEN "<Elements><Component name='b' source='resources/none.ssp'/></Elements>" CLOSE,
                "SystemStructure.ssd:3: error: there is no file 'resources/none.ssp'");
  check_archive(OPEN "<Elements><Component name='b' source='resources/loop.ssd' "
                     "type='application/x-ssp-package'/></Elements>" CLOSE,
                "SystemStructure.ssd:3: error:");
}

// A truncated archive is no archive.
static void test_truncated(void** state) {
  (void)state;
  static const char* const entries[][2] = {{"resources/a.fmu", "x"}, {"resources/p.ssv", VALUES}};
  write_archive("whole.ssp", SIMPLE, entries, 2);
  FILE* file = fopen("whole.ssp", "rb");
  assert_non_null(file);
  char bytes[8192];
  const size_t n = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  const size_t n_before = count_entries(temp);
  for (size_t cut = 4; cut < n; cut += 37) {
    yoke_messages messages = {0};
    yoke_scenario* s = NULL;
    assert_int_equal(yoke__scenario_read(bytes, cut, "cut.ssp", NULL, 0, &messages, &s),
                     YOKE_BAD_INPUT);
    assert_true(messages.n_errors > 0);
    yoke__messages_free(&messages);
  }
  assert_int_equal(count_entries(temp), n_before);
}

// 2^20 components by systems that name each other: refused, and soon.
static void test_bomb(void** state) {
  (void)state;
  static char text[65536];
  size_t n = (size_t)snprintf(text, sizeof text, OPEN "<Elements>");
  for (int i = 0; i < 24; i++) {
    n +=
        (size_t)snprintf(text + n, sizeof text - n,
                         "<System name='s%d' id='s%d'><Elements><Component name='a' source='%s%d'/>"
                         "<Component name='b' source='%s%d'/></Elements></System>\n",
                         i, i, i < 23 ? "#s" : "x.fmu?", i + 1, i < 23 ? "#s" : "x.fmu?", i + 1);
  }
  snprintf(text + n, sizeof text - n, "</Elements>" CLOSE);
  ssp_reading* r = ssp_read_text(text);
  assert_int_equal(r->status, YOKE_BAD_INPUT);
  check_contains(r->messages, "too many elements: at most 100000");
  ssp_free(r);
}

static int set_up(void** state) {
  (void)state;
  static char folder[] = "ssp-bad-XXXXXX";
  static char here[4096];
  if (mkdtemp(folder) == NULL || chdir(folder) != 0 || mkdir("tmp", 0700) != 0 ||
      getcwd(here, sizeof here) == NULL) {
    return -1;
  }
  snprintf(temp, sizeof temp, "%s/tmp", here);
  return setenv("TMPDIR", temp, 1);
}

static int tear_down(void** state) {
  (void)state;
  static const char* const files[] = {"good.ssp", "inner.ssp", "outer.ssp", "bad.ssp", "whole.ssp"};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    unlink(files[i]);
  }
  char here[4096];
  return rmdir("tmp") == 0 && getcwd(here, sizeof here) != NULL ? rmdir(here) : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_connections),
      cmocka_unit_test(test_elements),
      cmocka_unit_test(test_units),
      cmocka_unit_test(test_parameters),
      cmocka_unit_test(test_documents),
      cmocka_unit_test(test_unknown_elements),
      cmocka_unit_test(test_annotation),
      cmocka_unit_test(test_archive),
      cmocka_unit_test(test_source_and_content),
      cmocka_unit_test(test_archive_inside),
      cmocka_unit_test(test_hostile_archives),
      cmocka_unit_test(test_truncated),
      cmocka_unit_test(test_bomb),
  };
  return cmocka_run_group_tests_name("scenario_ssp_bad", tests, set_up, tear_down);
}
