// FMU files: what is read of them, what is unpacked, and hostile or incomplete ones, each with its message. TMPDIR is a
// folder of this test, and it is empty after every case.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
#define _XOPEN_SOURCE 700

#include "base/base_message.h"
#include "fmi/fmi_helper.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base_zip.h"
#include "fmi/fmi_package.h"

#define XML                                                                                        \
  "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"m\" guid=\"g\">\n"                          \
  "<CoSimulation modelIdentifier=\"m\"/>\n<ModelVariables>\n"                                      \
  "<ScalarVariable name=\"u\" valueReference=\"1\" causality=\"input\"><Real start=\"0\"/>"        \
  "</ScalarVariable></ModelVariables><ModelStructure/></fmiModelDescription>\n"
#define XML3                                                                                       \
  "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"g\">\n"            \
  "<CoSimulation modelIdentifier=\"m\"/>\n<ModelVariables>"                                        \
  "<Float64 name=\"t\" valueReference=\"0\" causality=\"independent\"/>"                           \
  "<Float64 name=\"u\" valueReference=\"1\" causality=\"input\" start=\"0\"/></ModelVariables>"    \
  "<ModelStructure/></fmiModelDescription>\n"

static char folder[4096];  // of this test; as large as realpath wants it
static char temp[300];     // $TMPDIR

typedef struct part {
  const char *name, *text;
} part;

static char binary_name[128];  // binaries/<this platform>/m.so
static char other_name[128];   // the same in the folder of FMI 3.0

static size_t count_files(const char* path) {
  DIR* open = opendir(path);
  size_t n = 0;
  assert_non_null(open);
  for (const struct dirent* entry = readdir(open); entry != NULL; entry = readdir(open)) {
    n += entry->d_name[0] != '.';
  }
  closedir(open);
  return n;
}

static const char* path_of(const char* name) {
  static char path[1024];
  snprintf(path, sizeof path, "%.255s/%.700s", folder, name);
  return path;
}

// Writes an archive with these parts and returns its path.
static const char* pack(const part parts[], size_t n) {
  const char* path = path_of("t.fmu");
  YOKE_CATCH(err);
  yoke_zip_writer* writer = NULL;
  check_ok(yoke__zip_create(path, &writer, &err.sink));
  for (size_t i = 0; i < n; i++) {
    check_ok(yoke__zip_add(writer, parts[i].name, parts[i].text, strlen(parts[i].text), &err.sink));
  }
  check_ok(yoke__zip_finish(&writer, &err.sink));
  return path;
}

static void check_clean(void) {
  if (count_files(temp) != 0) {
    fail_msg("%zu things are left in the temporary folder", count_files(temp));
  }
}

static yoke_fmi_package* open_good(const char* path, yoke_messages* messages) {
  yoke_fmi_package* package = NULL;
  if (yoke__fmi_open(path, messages, &package) < 0) {
    fail_msg("%s", all_messages(messages));
  }
  return package;
}

static void check_refused(const char* path, const char* text) {
  yoke_messages messages = {0};
  yoke_fmi_package* package = NULL;
  assert_int_equal(yoke__fmi_open(path, &messages, &package), YOKE_BAD_INPUT);
  assert_null(package);
  assert_true(messages.n_errors >= 1);
  check_contains(all_messages(&messages), text);
  yoke__messages_free(&messages);
  check_clean();
}

// The archive opens, but cannot be unpacked.
static void check_not_unpacked(const char* path, const char* text) {
  yoke_messages messages = {0};
  yoke_fmi_package* package = open_good(path, &messages);
  assert_true(yoke__fmi_unpack(package, &messages) < 0);
  assert_null(package->directory);
  check_contains(all_messages(&messages), text);
  check_clean();
  yoke__fmi_close(&package);
  yoke__messages_free(&messages);
}

static void write_file(const char* name, const void* bytes, size_t n) {
  FILE* file = fopen(path_of(name), "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, n, file), n);
  fclose(file);
}

// The bytes of the last packed archive, to be freed.
static char* packed_bytes(size_t* n) {
  char* bytes = NULL;
  YOKE_CATCH(err);
  check_ok(yoke__os_read_file(path_of("t.fmu"), 1 << 20, &bytes, n, &err.sink));
  return bytes;
}

// ---- good ones

static void test_open_and_unpack(void** state) {
  (void)state;
  const part parts[] = {{"modelDescription.xml", XML},       {binary_name, "binary"},
                        {"binaries/win64/m.dll", "windows"}, {"resources/a/b.txt", "text"},
                        {"sources/m.c", "int x;"},           {"documentation/index.html", "<p>"}};
  yoke_messages messages = {0};
  yoke_fmi_package* package = open_good(pack(parts, 6), &messages);
  assert_int_equal(messages.n, 0);
  assert_true(package->has_sources && package->has_resources && package->has_documentation);
  assert_int_equal(package->n_platforms, 2);
  assert_string_equal(package->platforms[1], "win64");
  assert_true(package->file_size > 300);
  assert_string_equal(package->description->source, "t.fmu/modelDescription.xml");
  check_clean();  // nothing is unpacked yet

  check_ok(yoke__fmi_unpack(package, &messages));
  check_ok(yoke__fmi_unpack(package, &messages));  // does nothing
  assert_int_equal(count_files(temp), 1);
  char path[1024], resource[1100];
  check_ok(yoke__fmi_binary_path(package, &package->description->co_simulation, path, sizeof path));
  assert_int_equal(path[0], '/');
  assert_true(yoke__os_is_file(path));
  assert_int_equal(
      yoke__fmi_binary_path(package, &package->description->model_exchange, path, sizeof path),
      YOKE_BAD_ARG);
  assert_int_equal(yoke__fmi_binary_path(package, &package->description->co_simulation, path, 9),
                   YOKE_FULL);
  yoke__fmi_resources_path(package, path, sizeof path);
  assert_int_equal(path[strlen(path) - 1], '/');
  snprintf(resource, sizeof resource, "%sa/b.txt", path);
  assert_true(yoke__os_is_file(resource));
  snprintf(resource, sizeof resource, "%s/binaries/win64", package->directory);
  assert_false(yoke__os_is_directory(resource));  // not for this machine
  yoke__fmi_close(&package);
  assert_null(package);
  yoke__messages_free(&messages);
  check_clean();
}

static void test_resources_folder_exists_always(void** state) {
  (void)state;
  const part parts[] = {{"modelDescription.xml", XML}, {binary_name, "binary"}};
  yoke_messages messages = {0};
  yoke_fmi_package* package = open_good(pack(parts, 2), &messages);
  check_ok(yoke__fmi_unpack(package, &messages));
  char path[1024];
  yoke__fmi_resources_path(package, path, sizeof path);
  assert_true(yoke__os_is_directory(path));
  yoke__fmi_close(&package);
  yoke__messages_free(&messages);
  check_clean();
}

static void test_unpacked_folder(void** state) {
  (void)state;
  YOKE_CATCH(err);
  char path[1024], inner[1024];
  snprintf(path, sizeof path, "%s", path_of("unpacked"));
  snprintf(inner, sizeof inner, "unpacked/binaries/%s", yoke__fmi_platform(2));
  check_ok(yoke__os_make_directory(path_of(inner), &err.sink));
  write_file("unpacked/modelDescription.xml", XML, strlen(XML));
  snprintf(inner, sizeof inner, "unpacked/%s", binary_name);
  write_file(inner, "binary", 6);
  yoke_messages messages = {0};
  yoke_fmi_package* package = open_good(path, &messages);
  check_ok(yoke__fmi_unpack(package, &messages));
  assert_string_equal(package->directory, path);
  check_ok(
      yoke__fmi_binary_path(package, &package->description->co_simulation, inner, sizeof inner));
  assert_true(yoke__os_is_file(inner));

  // resources it does not have are not made inside somebody's folder
  yoke__fmi_resources_path(package, inner, sizeof inner);
  assert_true(yoke__os_is_directory(inner));
  assert_memory_equal(inner, temp, strlen(temp));
  assert_int_equal(count_files(path), 2);
  yoke__fmi_close(&package);
  check_clean();
  check_ok(yoke__os_make_directory(path_of("unpacked/resources"), &err.sink));
  package = open_good(path, &messages);
  check_ok(yoke__fmi_unpack(package, &messages));
  check_clean();
  yoke__fmi_close(&package);
  yoke__messages_free(&messages);
}

static void test_memory(void** state) {
  (void)state;
  const part parts[] = {{"modelDescription.xml", XML}, {binary_name, "binary"}};
  pack(parts, 2);
  size_t n = 0;
  char* bytes = packed_bytes(&n);
  yoke_messages messages = {0};
  yoke_fmi_package* package = NULL;
  check_ok(yoke__fmi_open_memory(bytes, n, "m.fmu", &messages, &package));
  assert_int_equal(package->description->n_variables, 1);
  assert_int_equal(yoke__fmi_unpack(package, &messages), YOKE_BAD_INPUT);
  yoke__fmi_close(&package);
  yoke__messages_free(&messages);
  free(bytes);
}

// ---- imperfect ones

// One warning with this text and id, and the binary is found.
static void check_warned(const char* path, const char* text, const char* binary) {
  yoke_messages messages = {0};
  yoke_fmi_package* package = open_good(path, &messages);
  check_ok(yoke__fmi_unpack(package, &messages));
  assert_int_equal(messages.n_warnings, 1);
  check_contains(all_messages(&messages), text);
  char found[1024];
  check_ok(
      yoke__fmi_binary_path(package, &package->description->co_simulation, found, sizeof found));
  check_contains(found, binary);
  assert_true(yoke__os_is_file(found));
  yoke__fmi_close(&package);
  yoke__messages_free(&messages);
  check_clean();
}

static void test_binary_names(void** state) {
  (void)state;
  char strange[160];
  snprintf(strange, sizeof strange, "binaries/%s/strange.so", yoke__fmi_platform(2));
  const part wrong[] = {{"modelDescription.xml", XML}, {strange, "binary"}};
  check_warned(pack(wrong, 2), "[fmi-binary-name]", "strange.so");
  static const char nameless[] =
      "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"m\" guid=\"g\">"
      "<CoSimulation/></fmiModelDescription>";
  const part missing[] = {{"modelDescription.xml", nameless}, {strange, "binary"}};
  check_warned(pack(missing, 2), "[fmi-identifier-missing]", "strange.so");

  // with two of them nobody knows which
  char more[160];
  snprintf(more, sizeof more, "binaries/%s/more.so", yoke__fmi_platform(2));
  const part two[] = {{"modelDescription.xml", XML}, {strange, "binary"}, {more, "binary"}};
  check_not_unpacked(pack(two, 3), "has no library 'm.so' [fmi-binary-missing]");
}

static void test_other_folder(void** state) {
  (void)state;
  if (strcmp(binary_name, other_name) == 0) {
    skip();
  }
  const part two[] = {{"modelDescription.xml", XML}, {other_name, "binary"}};
  check_warned(pack(two, 2), "[fmi-binary-folder]", "m.so");
  const part three[] = {{"modelDescription.xml", XML3}, {binary_name, "binary"}};
  check_warned(pack(three, 2), "[fmi-binary-folder]", "m.so");
}

static void test_missing_binaries(void** state) {
  (void)state;
  const part windows[] = {{"modelDescription.xml", XML},
                          {"binaries/win64/m.dll", "x"},
                          {"binaries/darwin64/m.dylib", "x"}};
  check_not_unpacked(pack(windows, 3), "it has those of win64, darwin64 [fmi-binary-missing]");
  const part sources[] = {{"modelDescription.xml", XML}, {"sources/m.c", "x"}};
  check_not_unpacked(pack(sources, 2), "only sources, which Yoke does not compile");
  const part none[] = {{"modelDescription.xml", XML}};
  check_not_unpacked(pack(none, 1), "it has none at all [fmi-binary-missing]");
}

static void test_terminals(void** state) {
  (void)state;
  static const char name[] = "terminalsAndIcons/terminalsAndIcons.xml";
  static const char good[] =
      "<fmiTerminalsAndIcons fmiVersion=\"3.0\"><GraphicalRepresentation/><Terminals>"
      "<Terminal name=\"plug\" matchingRule=\"bus\" terminalKind=\"k\" description=\"d\">"
      "<TerminalMemberVariable variableName=\"u\" memberName=\"U\" variableKind=\"signal\"/>"
      "<Terminal name=\"inner\" matchingRule=\"sequence\"><TerminalStreamMemberVariable "
      "inStreamMemberName=\"a\" outStreamMemberName=\"b\" inStreamVariableName=\"u\" "
      "outStreamVariableName=\"t\"/></Terminal></Terminal>"
      "<Terminal name=\"last\" matchingRule=\"plug\"/></Terminals></fmiTerminalsAndIcons>";
  const part parts[] = {{"modelDescription.xml", XML3}, {name, good}};
  yoke_messages messages = {0};
  yoke_fmi_package* package = open_good(pack(parts, 2), &messages);
  assert_int_equal(messages.n, 0);
  const yoke_fmi_description* d = package->description;
  assert_int_equal(d->n_terminals, 3);
  assert_string_equal(d->terminals[0].name, "plug");
  assert_string_equal(d->terminals[0].kind, "k");
  assert_int_equal(d->terminals[0].n_members, 1);
  assert_string_equal(d->terminals[0].members[0].member, "U");
  assert_true(d->terminals[0].parent == YOKE_FMI_NONE);
  assert_string_equal(d->terminals[1].name, "inner");
  assert_int_equal(d->terminals[1].parent, 0);
  assert_int_equal(d->terminals[1].n_members, 2);
  assert_string_equal(d->terminals[1].members[1].variable, "t");
  assert_true(d->terminals[2].parent == YOKE_FMI_NONE);
  yoke__fmi_close(&package);

  // faults are warnings
  static const char* const bad[][2] = {
      {"<fmiTerminalsAndIcons><Terminals>", "[fmi-terminal-xml]"},
      {"<Other/>", "[fmi-terminal-xml]"},
      {"<fmiTerminalsAndIcons><Terminals><Terminal matchingRule=\"bus\"/></Terminals>"
       "</fmiTerminalsAndIcons>",
       "[fmi-terminal-name]"},
      {"<fmiTerminalsAndIcons><Terminals>\n<Terminal name=\"a\" matchingRule=\"bus\">\n"
       "<TerminalMemberVariable variableName=\"v\"/></Terminal></Terminals></fmiTerminalsAndIcons>",
       ":3: warning: a terminal has the member 'v', which is no variable"}};
  for (size_t i = 0; i < 4; i++) {
    const part faulty[] = {{"modelDescription.xml", XML3}, {name, bad[i][0]}};
    package = open_good(pack(faulty, 2), &messages);
    assert_int_equal(messages.n_warnings, 1);
    check_contains(all_messages(&messages), bad[i][1]);
    yoke__fmi_close(&package);
    yoke__messages_free(&messages);
  }
}

// ---- hostile ones

static void test_no_fmu(void** state) {
  (void)state;
  check_refused(path_of("nowhere.fmu"), "No such file or directory");
  check_refused(folder, "no modelDescription.xml in it");
  write_file("t.fmu", "", 0);
  check_refused(path_of("t.fmu"), "t.fmu: error: ");
  write_file("t.fmu", "this is not an archive, whatever its name says", 46);
  check_refused(path_of("t.fmu"), "t.fmu: error: ");
  const part other[] = {{"a.txt", "x"}};
  check_refused(pack(other, 1), "[fmi-description-missing]");
  const part deep[] = {{"m/modelDescription.xml", XML}};
  check_refused(pack(deep, 1), "one folder too deep");
}

static void test_broken_xml(void** state) {
  (void)state;
  const part broken[] = {{"modelDescription.xml", "<fmiModelDescription fmiVersion=\"2.0\">\n<"}};
  check_refused(pack(broken, 1), "t.fmu/modelDescription.xml:2:");
  const part bomb[] = {{"modelDescription.xml",
                        "<!DOCTYPE a [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;\">]>"
                        "<fmiModelDescription fmiVersion=\"&b;\"/>"}};
  check_refused(pack(bomb, 1), "DOCTYPE");
  const part empty[] = {{"modelDescription.xml", ""}};
  check_refused(pack(empty, 1), "modelDescription.xml");
}

static void test_every_truncation(void** state) {
  (void)state;
  const part parts[] = {{"modelDescription.xml", XML}, {binary_name, "binary"}};
  pack(parts, 2);
  size_t n = 0;
  char* bytes = packed_bytes(&n);
  for (size_t k = 0; k < n; k += 16) {
    yoke_messages messages = {0};
    yoke_fmi_package* package = NULL;
    assert_true(yoke__fmi_open_memory(bytes, k, "t.fmu", &messages, &package) < 0);
    assert_null(package);
    assert_true(messages.n_errors == 1);
    yoke__messages_free(&messages);
  }
  free(bytes);
}

// The same byte changed wherever a text stands in the archive: "from" becomes "to", which is as long.
static void patch(const char* from, const char* to) {
  size_t n = 0;
  char* bytes = packed_bytes(&n);
  const size_t length = strlen(from);
  size_t n_found = 0;
  for (size_t i = 0; i + length <= n; i++) {
    if (memcmp(bytes + i, from, length) == 0) {
      memcpy(bytes + i, to, length);
      n_found++;
    }
  }
  assert_true(n_found > 0);
  write_file("t.fmu", bytes, n);
  free(bytes);
}

static void test_names_that_lead_out(void** state) {
  (void)state;
  static const char* const names[] = {"../evil", "/ev/il1", "..\\evil", "c:/evil"};
  for (size_t i = 0; i < 4; i++) {
    const part parts[] = {{"modelDescription.xml", XML}, {"ab/evil", "x"}};
    pack(parts, 2);
    patch("ab/evil", names[i]);
    check_refused(path_of("t.fmu"), "entry '");
  }
}

// A resource whose content does not have its checksum is found out when it is unpacked.
static void test_wrong_checksum(void** state) {
  (void)state;
  const part parts[] = {
      {"modelDescription.xml", XML}, {binary_name, "binary"}, {"resources/r.txt", "q"}};
  pack(parts, 3);
  size_t n = 0;
  char* bytes = packed_bytes(&n);
  // the central directory comes last: the CRC stands 30 bytes before the name there, 16 before it in the local header
  size_t n_changed = 0;
  for (size_t i = 32; i + 15 <= n; i++) {
    if (memcmp(bytes + i, "resources/r.txt", 15) == 0) {
      const bool is_local = memcmp(bytes + i - 30, "PK\3\4", 4) == 0;
      bytes[is_local ? i - 16 : i - 30] ^= 1;
      n_changed++;
    }
  }
  assert_int_equal(n_changed, 2);
  write_file("t.fmu", bytes, n);
  free(bytes);
  check_not_unpacked(path_of("t.fmu"), "r.txt");
}

static int make_folders(void** state) {
  (void)state;
  // without links in it: the package answers with absolute paths
  char made[] = "/tmp/fmi_package_XXXXXX";
  YOKE_CATCH(err);
  if (mkdtemp(made) == NULL || realpath(made, folder) == NULL) {
    return 1;
  }
  snprintf(temp, sizeof temp, "%.255s/tmp", folder);
  snprintf(binary_name, sizeof binary_name, "binaries/%s/m.so", yoke__fmi_platform(2));
  snprintf(other_name, sizeof other_name, "binaries/%s/m.so", yoke__fmi_platform(3));
  return yoke__os_make_directory(temp, &err.sink) < 0 || setenv("TMPDIR", temp, 1) != 0;
}

static int remove_folders(void** state) {
  (void)state;
  char command[400];
  snprintf(command, sizeof command, "rm -rf '%.255s'", folder);
  // NOLINTNEXTLINE(cert-env33-c): a path made here
  return system(command);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_open_and_unpack),
      cmocka_unit_test(test_resources_folder_exists_always),
      cmocka_unit_test(test_unpacked_folder),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_binary_names),
      cmocka_unit_test(test_other_folder),
      cmocka_unit_test(test_missing_binaries),
      cmocka_unit_test(test_terminals),
      cmocka_unit_test(test_no_fmu),
      cmocka_unit_test(test_broken_xml),
      cmocka_unit_test(test_every_truncation),
      cmocka_unit_test(test_names_that_lead_out),
      cmocka_unit_test(test_wrong_checksum),
  };
  return cmocka_run_group_tests(tests, make_folders, remove_folders);
}
