// Systems as SSP: exported, read again and run, they give the numbers of the original. All scenarios are in
// test_export_ssp_slow.c.
#include <unistd.h>

#include "base/base_message.h"
#include "ssp_trip.h"

// Bonds, methods, laws, rates, fresh units, iteration, arrays, typed signals, files, couplings of single connections
// and of bonds with files.
static void test_scenarios(void** state) {
  (void)state;
  static const char* const names[] = {
      "linear-oscillator/corrected-multirate",
      "linear-oscillator/fresh",
      "linear-oscillator/iterative",
      "two-pendula/lagrangian",
      "typed-signals/typed",
      "blocks/blocks",
      "steering/delayed-hinf",
      "coupling-element/masses",
  };
  for (size_t i = 0; i < YOKE_COUNT(names); i++) {
    char path[4096];
    const char* source = getenv("YOKE_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/scenarios/%s.yaml", source == NULL ? "." : source, names[i]);
    check_round_trip(path, 2 + (int)(i % 2));
  }
}

static const char odd[] =
    "yoke: 1\nname: \"odd & <names>\"\ntext: a 'text'\ntime: {start: 0.5, stop: 1.5, step: 0.01}\n"
    "scheme: gauss-seidel\norder: [b, a, d, c]\n"
    "units:\n"
    "  a: {model: select, with: {n: 3, mode: max}, step: 0.02, start: {u: [1, 2, 3]}}\n"
    "  b: {model: channel, with: {n: 3, noise: [0.1, 0, 0.2], seed: 5}}\n"
    "  c: {model: sine, with: {amplitude: 5, frequency: 2}}\n"
    "  d: {model: state_space, with: {A: [[0, 1], [-4, -0.2]], B: [[0], [1]], inputs: [\"odd & "
    "<name>\"], outputs: [\"der(x)\", y]}}\n"
    "laws:\n  g: {law: gain, with: {k: 2}}\n"
    "connections:\n  - b.y -> a.u\n  - {from: c.y, to: \"b.u[0]\", gain: 2, offset: 1}\n"
    "  - {from: c.y, to: \"d.odd & <name>\", order: 1, delay: 0.02}\n"
    "  - c.y -> g.u\n  - g.y -> b.u[2]\n  - {from: \"d.der(x)\", to: \"b.u[1]\"}\n"
    "record: {signals: [b.u, \"c.*\", b.y, d.y], every: 2}\n";

static void write_text(const char* path, const char* text) {
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

// Arrays, odd names, laws, delays and a record of parts of it.
static void test_odd_system(void** state) {
  (void)state;
  char text[8192];
  write_text("odd.yaml", odd);
  for (int fmi = 2; fmi <= 3; fmi++) {
    if (write_ssp("./odd.yaml", fmi, "odd.ssp", text, sizeof text) < 0) {
      fail_msg("%s", text);
    }
    // single elements of an array of FMI 3.0 are for Yoke alone
    assert_int_equal(strstr(text, "SSP cannot connect single elements") != NULL, fmi == 3);
    check_round_trip("./odd.yaml", fmi);
    sim s = open_file("odd.ssp", false);
    assert_string_equal(s.system->scenario->name, "odd & <names>");
    assert_string_equal(s.system->scenario->text, "a 'text'");
    check_near(s.system->scenario->start.value, 0.5, 0);
    assert_int_equal(s.system->scenario->record_every, 2);
    assert_int_equal(s.system->n_laws, 1);
    assert_int_equal(s.system->n_columns, 3 + 1 + 3 + 1);
    sim_close(&s);
  }
}

// The same system gives the same bytes, and an SSP that is exported again stays what it was.
static void test_same_bytes(void** state) {
  (void)state;
  char text[8192], *bytes[3] = {0};
  YOKE_CATCH(err);
  size_t n[3] = {0};
  static const char* const from[] = {"odd.yaml", "odd.yaml", "same0.ssp"};
  write_text("odd.yaml", odd);
  for (size_t i = 0; i < 3; i++) {
    char to[32];
    yoke_zip* zip = NULL;
    snprintf(to, sizeof to, "same%zu.ssp", i);
    check_ok(write_ssp(from[i], 2, to, text, sizeof text));
    check_ok(yoke__zip_open(to, &zip, &err.sink));
    check_ok(yoke__zip_read(zip, yoke__zip_find(zip, "SystemStructure.ssd"), 1 << 20, &bytes[i],
                            &n[i], &err.sink));
    yoke__zip_close(&zip);
  }
  assert_string_equal(bytes[0], bytes[1]);

  // the second time all units are FMUs: connectors and connections are those of before
  sim a = open_file("same0.ssp", true), b = open_file("same2.ssp", true);
  size_t n_values = 0;
  check_near(run_both(&a, &b, &n_values), 0, 0);
  assert_true(n_values > 100);
  sim_close(&a);
  sim_close(&b);
  for (size_t i = 0; i < 3; i++) {
    free(bytes[i]);
  }
}

// What cannot be written says so and leaves no file.
static void test_refused(void** state) {
  (void)state;
  char text[8192];
  write_text("odd.yaml", odd);
  assert_true(write_ssp("odd.yaml", 3, "no/such/folder/x.ssp", text, sizeof text) < 0);
  check_contains(text, "no/such/folder");
  assert_int_equal(access("no", F_OK), -1);
}

static int tear_down(void** state) {
  (void)state;
  static const char* const files[] = {"trip.ssp",  "odd.yaml",  "odd.ssp",
                                      "same0.ssp", "same1.ssp", "same2.ssp"};
  for (size_t i = 0; i < YOKE_COUNT(files); i++) {
    unlink(files[i]);
  }
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scenarios),
      cmocka_unit_test(test_odd_system),
      cmocka_unit_test(test_same_bytes),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests_name("export_ssp", tests, NULL, tear_down);
}
