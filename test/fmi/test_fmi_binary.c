// The loader of FMU binaries: every test FMU has its functions, and what is in the way of loading one is said in words.
#include "base/base_message.h"
#include "fmi/fmi_binary.h"

#include <dlfcn.h>

#include "fmi/fmi_library.h"
#include "fmus/drive.h"

#include "base/base_os.h"

// ---- all FMUs
typedef struct row {
  const char* name;
  int version;
  unsigned parts;
} row;

static const row rows[] = {
    {"trivial", 1, YOKE_FMI_CS},
    {"trivial", 2, YOKE_FMI_CS},
    {"trivial", 3, YOKE_FMI_CS},
    {"oscillator_force", 2, YOKE_FMI_CS},
    {"oscillator_force", 3, YOKE_FMI_CS},
    {"oscillator_mass", 2, YOKE_FMI_CS},
    {"oscillator_mass", 3, YOKE_FMI_CS},
    {"feedthrough", 2, YOKE_FMI_CS},
    {"feedthrough", 3, YOKE_FMI_CS},
    {"faulty", 2, YOKE_FMI_CS},
    {"faulty", 3, YOKE_FMI_CS},
    {"narrow", 2, YOKE_FMI_CS},
    {"wide", 2, YOKE_FMI_CS},
    {"broad", 2, YOKE_FMI_CS},
    {"stairs", 3, YOKE_FMI_CS},
    {"clocks", 3, YOKE_FMI_CS},
    {"arrays", 3, YOKE_FMI_CS},
    {"intermediate", 3, YOKE_FMI_CS},
    {"ball", 2, YOKE_FMI_CS | YOKE_FMI_ME},
    {"ball", 3, YOKE_FMI_CS | YOKE_FMI_ME},
    {"vanderpol", 2, YOKE_FMI_CS | YOKE_FMI_ME},
    {"vanderpol", 3, YOKE_FMI_CS | YOKE_FMI_ME},
    {"dahlquist", 2, YOKE_FMI_ME},
    {"dahlquist", 3, YOKE_FMI_ME},
    {"stairs_me", 2, YOKE_FMI_ME},
    {"stairs_me", 3, YOKE_FMI_ME},
    {"sine_me", 2, YOKE_FMI_ME},
    {"sine_me", 3, YOKE_FMI_ME},
    {"derivatives", 2, YOKE_FMI_CS},
    {"only_once", 2, YOKE_FMI_CS},
    {"needs_tool", 2, YOKE_FMI_CS},
    {"resources", 2, YOKE_FMI_CS},
    {"resources", 3, YOKE_FMI_CS},
    {"imperfect", 2, YOKE_FMI_CS},
};

// Every function of the standard is found in binaries that have them all.
static void every_fmu_loads_with_all_functions(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    yoke_fmi_binary* binary = drive_load(rows[i].name, rows[i].version, rows[i].parts);
    assert_int_equal(binary->version, rows[i].version);
#define CHECK(table, function)                                                                     \
  if ((table).function == NULL) {                                                                  \
    fail_msg("%s, FMI %d: " #function " was not found", rows[i].name, rows[i].version);            \
  }
#define CHECK2(function, needed_for) CHECK(binary->f2, function)
#define CHECK3(function, needed_for) CHECK(binary->f3, function)
    if (rows[i].version == 2) {
      YOKE_FMI2_FUNCTIONS(CHECK2)
      assert_string_equal(binary->f2.GetVersion(), "2.0");
      assert_null(binary->f3.DoStep);
    } else if (rows[i].version == 3) {
      YOKE_FMI3_FUNCTIONS(CHECK3)
      assert_string_equal(binary->f3.GetVersion(), "3.0");
    }
    yoke__fmi_binary_close(&binary);
    assert_null(binary);
  }
  yoke__fmi_binary_close(&(yoke_fmi_binary*){NULL});
}

// Two functions must never get each other's address: each name of the list leads to a place of its own.
static void functions_are_not_mixed_up(void** state) {
  (void)state;
  yoke_fmi_binary* binary = drive_load("vanderpol", 3, YOKE_FMI_CS);
  void* found[128];
  size_t n = 0;
#define COLLECT(name, needed_for) memcpy(&found[n++], &binary->f3.name, sizeof found[0]);
  YOKE_FMI3_FUNCTIONS(COLLECT)
  assert_int_equal(n, 75);
  assert_int_equal(n * sizeof found[0], sizeof binary->f3);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < i; j++) {
      assert_ptr_not_equal(found[i], found[j]);
    }
  }
  yoke__fmi_binary_close(&binary);
}

// ---- FMI 1.0
static void log1(fmi1Component c, fmi1String name, fmi1Status status, fmi1String category,
                 fmi1String message, ...) {
  (void)c, (void)name, (void)status, (void)category, (void)message;
}

static void fmi1_runs_with_prefixed_functions(void** state) {
  (void)state;
  yoke_fmi_binary* binary = drive_load("trivial", 1, YOKE_FMI_CS);
  const yoke_fmi1* f = &binary->f1;
  const fmi1CallbackFunctions callbacks = {log1, calloc, free, NULL};
  const fmi1ValueReference u = 1;
  const fmi1ValueReference y = 2;
  double value = 2.0;
  assert_null(f->InstantiateSlave("a", "wrong", "", "", 0.0, 0, 0, callbacks, 0));
  fmi1Component c = f->InstantiateSlave("a", "yoke-test-trivial", "", "", 0.0, 0, 0, callbacks, 0);
  assert_non_null(c);
  assert_int_equal(f->InitializeSlave(c, 0.0, 0, 0.0), fmi1OK);
  assert_int_equal(f->SetReal(c, &u, 1, &value), fmi1OK);
  assert_int_equal(f->DoStep(c, 0.0, 0.25, 1), fmi1OK);
  assert_int_equal(f->GetReal(c, &y, 1, &value), fmi1OK);
  check_near(value, 0.5, 0.0);

  // it knows no texts: the stand-in says so, and nothing is absent
  fmi1String text = "x";
  assert_int_equal(f->GetString(c, &y, 1, &text), fmi1Error);
  assert_int_equal(f->GetString(c, NULL, 0, NULL), fmi1OK);
  assert_null(f->GetStatus);
  assert_int_equal(f->TerminateSlave(c), fmi1OK);
  f->FreeSlaveInstance(c);
  yoke__fmi_binary_close(&binary);
}

// ---- binaries of old and careless tools
static void old_prefixes_and_few_functions_are_enough(void** state) {
  (void)state;
  yoke_fmi_binary* binary = drive_load("prefixed", 2, YOKE_FMI_CS);
  const yoke_fmi2* f = &binary->f2;
  const fmi2CallbackFunctions callbacks = {drive_log2, calloc, free, NULL, NULL};
  fmi2Component c =
      f->Instantiate("a", fmi2CoSimulation, "yoke-test-minimal", "", &callbacks, 0, 0);
  assert_non_null(c);
  const fmi2ValueReference references[] = {1, 2};
  const double u = 4.0;
  double y = 0.0;
  assert_int_equal(f->SetReal(c, &references[0], 1, &u), fmi2OK);
  assert_int_equal(f->DoStep(c, 0.0, 0.5, fmi2True), fmi2OK);
  assert_int_equal(f->GetReal(c, &references[1], 1, &y), fmi2OK);
  check_near(y, 2.0, 0.0);

  // absent: get and set have stand-ins, optional ones are NULL
  int number = 7;
  assert_int_equal(f->GetInteger(c, references, 1, &number), fmi2Error);
  assert_int_equal(number, 0);
  assert_int_equal(f->SetInteger(c, references, 1, &number), fmi2Error);
  assert_int_equal(f->GetInteger(c, references, 0, &number), fmi2OK);
  assert_null(f->Reset);
  assert_null(f->GetFMUstate);
  f->FreeInstance(c);
  yoke__fmi_binary_close(&binary);
}

static yoke_status open_path(const char* path, int version, unsigned parts, const yoke_sink* sink) {
  yoke_fmi_binary* binary = NULL;
  const yoke_status status = yoke__fmi_binary_open(path, "x", version, parts, &binary, sink);
  if (status < 0) {
    assert_null(binary);
  }
  yoke__fmi_binary_close(&binary);
  return status;
}

static yoke_status try_open(const char* name, int version, unsigned parts, const yoke_sink* sink) {
  char path[4096];
  drive_path(name, version, path, sizeof path);
  return open_path(path, version, parts, sink);
}

static void missing_functions_are_listed_in_one_message(void** state) {
  YOKE_CATCH(err);
  (void)state;
  assert_int_equal(try_open("lacking", 2, YOKE_FMI_CS, &err.sink), YOKE_BAD_INPUT);
  assert_string_equal(
      err.text, "lacking.so lacks functions that co-simulation needs: fmi2Terminate, fmi2DoStep");

  // all functions of model exchange, one message
  assert_int_equal(try_open("prefixed", 3, YOKE_FMI_ME, &err.sink), YOKE_BAD_INPUT);
  yoke_fmi_binary* binary = NULL;
  char path[4096];
  drive_path("trivial", 2, path, sizeof path);
  assert_int_equal(yoke__fmi_binary_open(path, "trivial", 3, YOKE_FMI_ME, &binary, &err.sink),
                   YOKE_BAD_INPUT);
  check_contains(err.text, "model exchange needs: fmi3InstantiateModelExchange, fmi3FreeInstance");
  check_contains(err.text, "fmi3GetEventIndicators");
  assert_int_equal(open_path(path, 4, YOKE_FMI_CS, &err.sink), YOKE_BAD_ARG);
}

static void missing_library_is_named(void** state) {
  YOKE_CATCH(err);
  (void)state;
  assert_int_equal(try_open("needs_library", 2, YOKE_FMI_CS, &err.sink), YOKE_BAD_INPUT);
  assert_string_equal(err.text,
                      "needs_library.so needs libmissing_yoke_part.so, which this machine lacks");
}

static void missing_symbol_is_named(void** state) {
  YOKE_CATCH(err);
  (void)state;
  assert_int_equal(try_open("undefined", 2, YOKE_FMI_CS, &err.sink), YOKE_BAD_INPUT);
  assert_string_equal(err.text,
                      "undefined.so needs the symbol yoke_test_nobody_has_this, which none "
                      "of its libraries has");
}

// A library beside the binary is found although nothing tells the system's loader to look there.
static void shipped_library_is_used(void** state) {
  (void)state;
  drive d;
  drive_make2(&d, "ships_library", "a", NULL, fmi2CoSimulation);
  assert_non_null(d.c);
  assert_int_equal(d.binary->n_parts, 1);
  drive_init2(&d, 0.0);
  drive_set2(&d, 1, 1.0);
  assert_int_equal(d.f2->DoStep(d.c, 0.0, 0.5, fmi2True), fmi2OK);
  check_near(drive_real2(&d, 2), 0.5, 0.0);
  drive_end(&d, true);
}

// ---- files that are no libraries of this machine
static void write_file(const char* path, const void* bytes, size_t n) {
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, n, file), n);
  assert_int_equal(fclose(file), 0);
}

static void foreign_files_are_told_apart(void** state) {
  (void)state;
#if defined(__aarch64__)
  const unsigned char other = 62;
  const char* name = "it is for x86-64";
#else
  const unsigned char other = 183;
  const char* name = "it is for AArch64";
#endif
  unsigned char elf[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, [16] = 3, [18] = other};
  const struct {
    const void* bytes;
    size_t n;
    const char* text;
  } cases[] = {
      {elf, sizeof elf, name},
      {"MZ\x90\0", 4, "it is a Windows library"},
      {"\xcf\xfa\xed\xfe", 4, "it is a macOS library"},
      {"hello", 5, "it is no shared library"},
      {"", 0, "it is no shared library"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    YOKE_CATCH(err);
    write_file("foreign.so", cases[i].bytes, cases[i].n);
    assert_int_equal(open_path("./foreign.so", 2, YOKE_FMI_CS, &err.sink), YOKE_BAD_INPUT);
    check_contains(err.text, "foreign.so does not run on this machine: ");
    check_contains(err.text, cases[i].text);
  }
  YOKE_CATCH(err);
  elf[4] = 1;
  elf[18] = 3;
  write_file("foreign.so", elf, sizeof elf);
  assert_int_equal(open_path("./foreign.so", 2, YOKE_FMI_CS, &err.sink), YOKE_BAD_INPUT);
  check_contains(err.text, "it is for x86 (32 bit)");
  assert_int_equal(remove("foreign.so"), 0);
  assert_int_equal(open_path("./foreign.so", 2, YOKE_FMI_CS, &err.sink), YOKE_BAD_INPUT);
  check_contains(err.text, "foreign.so: No such file");
}

static bool is_native(const char* path, char* kind, size_t size) {
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  const bool result = yoke__fmi_library_is_native(file, kind, size);
  assert_int_equal(fclose(file), 0);
  return result;
}

// Any bytes are allowed: many damaged copies of the headers of a real library; a sanitizer sees what goes wrong.
static void damaged_headers_are_harmless(void** state) {
  char path[4096], kind[80];
  YOKE_CATCH(err);
  char* bytes = NULL;
  size_t n = 0, n_refused = 0;
  (void)state;
  drive_path("trivial", 2, path, sizeof path);
  assert_int_equal(yoke__os_read_file(path, 1u << 24, &bytes, &n, &err.sink), YOKE_OK);
  assert_true(n > 4096);
  uint64_t seed = 1;
  for (int i = 0; i < 2000; i++) {
    unsigned char old[4];
    size_t at[4];
    for (int j = 0; j < 4; j++) {
      seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      at[j] = (size_t)(seed >> 33) % 512;
      old[j] = (unsigned char)bytes[at[j]];
      bytes[at[j]] = (char)(seed >> 56);
    }
    write_file("damaged.so", bytes, 4096);
    kind[0] = '\0';
    if (!is_native("damaged.so", kind, sizeof kind)) {
      assert_true(strlen(kind) > 0);
      n_refused++;
    }
    for (int j = 3; j >= 0; j--) {
      bytes[at[j]] = (char)old[j];
    }
  }
  assert_true(n_refused > 1000);
  remove("damaged.so");
  free(bytes);
}

// The loader maps segments unseen: a library whose end is missing must be refused before it is loaded, or a signal
// ends the run. Only what lies behind the last segment (symbols, section headers) may be missing.
static void cut_libraries_are_refused(void** state) {
  char path[4096], kind[64];
  YOKE_CATCH(err);
  char* bytes = NULL;
  size_t n = 0, n_refused = 0;
  (void)state;
  drive_path("trivial", 2, path, sizeof path);
  assert_int_equal(yoke__os_read_file(path, 1u << 24, &bytes, &n, &err.sink), YOKE_OK);
  assert_true(is_native(path, kind, sizeof kind));
  for (size_t cut = 1024; cut < n; cut += 997) {
    write_file("cut.so", bytes, cut);
    if (!is_native("cut.so", kind, sizeof kind)) {
      n_refused++;
      assert_string_equal(kind, "cut short or damaged");
      assert_int_equal(open_path("./cut.so", 2, YOKE_FMI_CS, &err.sink), YOKE_BAD_INPUT);
      check_contains(err.text, "cut short or damaged");
    } else {
      void* library = dlopen("./cut.so", RTLD_NOW | RTLD_LOCAL);
      if (library != NULL) {
        dlclose(library);
      }
    }
  }
  assert_true(n_refused > 3);
  remove("cut.so");
  free(bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_fmu_loads_with_all_functions),
      cmocka_unit_test(functions_are_not_mixed_up),
      cmocka_unit_test(fmi1_runs_with_prefixed_functions),
      cmocka_unit_test(old_prefixes_and_few_functions_are_enough),
      cmocka_unit_test(missing_functions_are_listed_in_one_message),
      cmocka_unit_test(missing_library_is_named),
      cmocka_unit_test(missing_symbol_is_named),
      cmocka_unit_test(shipped_library_is_used),
      cmocka_unit_test(foreign_files_are_told_apart),
      cmocka_unit_test(damaged_headers_are_harmless),
      cmocka_unit_test(cut_libraries_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
