// Large descriptions: time against expat alone on the same bytes, growth, and lists made to be slow.
#include "fmi/fmi_helper.h"

#include <expat.h>

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
enum { N_RUNS = 5, N_LARGE = 100000, N_SMALL = 5000 };  // the shortest of the runs counts
#else
enum { N_RUNS = 2, N_LARGE = 10000, N_SMALL = 1000 };  // in an emulator or checked
#endif

typedef struct growing {
  char* text;
  size_t n, room;
} growing;

static void put(growing* g, const char* text) {
  const size_t n = strlen(text);
  if (g->n + n + 1 > g->room) {
    g->room = 2 * (g->n + n + 1);
    g->text = realloc(g->text, g->room);
    assert_non_null(g->text);
  }
  memcpy(g->text + g->n, text, n + 1);
  g->n += n;
}

typedef enum shape { PLAIN, SAME_NAME, SAME_REFERENCE, ALL_FAULTY } shape;

// n variables of FMI 2.0, every third an output with an entry in the structure.
static growing make_description(size_t n, shape how) {
  growing g = {0};
  char line[512];
  put(&g, "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"large\" guid=\"{1}\">\n"
          "<CoSimulation modelIdentifier=\"large\"/>\n<UnitDefinitions><Unit name=\"N.m\"/>"
          "</UnitDefinitions>\n<ModelVariables>\n");
  for (size_t i = 1; i <= n; i++) {
    const bool is_output = i % 3 == 0;
    snprintf(line, sizeof line,
             "<ScalarVariable name=\"plant.part[%zu].tau\" valueReference=\"%zu\" "
             "description=\"torque\" causality=\"%s\" variability=\"%s\">\n"
             "  <Real unit=\"%s\"%s/>\n</ScalarVariable>\n",
             how == SAME_NAME ? (size_t)1 : i, how == SAME_REFERENCE ? (size_t)1 : i,
             is_output ? "output" : "parameter", is_output ? "continuous" : "fixed",
             how == ALL_FAULTY ? "?" : "N.m",
             is_output || how == ALL_FAULTY ? "" : " start=\"1.25e-3\"");
    put(&g, line);
  }
  put(&g, "</ModelVariables>\n<ModelStructure><Outputs>\n");
  for (size_t i = 3; i <= n && how != ALL_FAULTY; i += 3) {
    snprintf(line, sizeof line, "<Unknown index=\"%zu\" dependencies=\"\"/>\n", i);
    put(&g, line);
  }
  put(&g, "</Outputs></ModelStructure></fmiModelDescription>\n");
  return g;
}

static void XMLCALL on_open(void* count, const XML_Char* name, const XML_Char** attributes) {
  (void)name;
  (void)attributes;
  ++*(size_t*)count;
}

// Both in processor time of this thread, so that busy neighbours do not count.
static double time_expat(const growing* g) {
  const int64_t start = yoke__os_cpu_ns();
  size_t n = 0;
  XML_Parser parser = XML_ParserCreate(NULL);
  XML_SetUserData(parser, &n);
  XML_SetStartElementHandler(parser, on_open);
  assert_int_equal(XML_Parse(parser, g->text, (int)g->n, 1), XML_STATUS_OK);
  XML_ParserFree(parser);
  return (double)(yoke__os_cpu_ns() - start) / 1e6;
}

static double time_reader(const growing* g, size_t n, size_t n_warnings) {
  const int64_t start = yoke__os_cpu_ns();
  yoke_messages messages = {0};
  yoke_fmi_description* d = NULL;
  check_ok(yoke__fmi_read(g->text, g->n, "large.fmu", &messages, &d));
  const double ms = (double)(yoke__os_cpu_ns() - start) / 1e6;
  assert_int_equal(d->n_variables, n);
  if (messages.n_warnings != n_warnings) {
    fail_msg("%zu warnings expected:\n%s", n_warnings, all_messages(&messages));
  }
  yoke__fmi_free(&d);
  yoke__messages_free(&messages);
  return ms;
}

static double least_time(size_t n, shape how, size_t n_warnings, double* expat) {
  growing g = make_description(n, how);
  double reader = 1e300;
  *expat = 1e300;
  for (int i = 0; i < N_RUNS; i++) {
    const double a = time_expat(&g), b = time_reader(&g, n, n_warnings);
    *expat = a < *expat ? a : *expat;
    reader = b < reader ? b : reader;
  }
  free(g.text);
  return reader;
}

// The issue allows 12 times the time of expat; measured were 1.5 to 2 without sanitizers, which slow our part alone.
static void test_within_twelve_times_expat(void** state) {
  (void)state;
  double expat = 0;
  const double reader = least_time(N_LARGE, PLAIN, 0, &expat);
  print_message("%d variables: expat %.1f ms, reader %.1f ms, ratio %.2f\n", N_LARGE, expat, reader,
                reader / expat);
  check_between(reader / expat, 0, 12);
}

// Eight times the variables: the time may grow as that of expat on the same files does. Quadratic work would show as 8, so
// the gate stands at 2; a neighbour that fills the caches just then is given another chance.
static void test_linear_growth(void** state) {
  (void)state;
  static const struct {
    shape how;
    size_t n_warnings;
    const char* name;
  } shapes[] = {{PLAIN, 0, "plain"},
                {SAME_NAME, 1, "one name"},
                {SAME_REFERENCE, 0, "one reference"},
                {ALL_FAULTY, 3, "all faulty"}};
  for (size_t i = 0; i < 4; i++) {
    double small = 1e300, large = 1e300, expat_small = 1e300, expat_large = 1e300, growth = 1e300;
    for (int round = 0; round < 10 && growth > 2; round++) {
      double expat = 0;
      small = fmin(small, least_time(N_SMALL, shapes[i].how, shapes[i].n_warnings, &expat));
      expat_small = fmin(expat_small, expat);
      large =
          fmin(large, least_time((size_t)8 * N_SMALL, shapes[i].how, shapes[i].n_warnings, &expat));
      expat_large = fmin(expat_large, expat);
      growth = large / small / (expat_large / expat_small);
    }
    print_message("%s: %d variables %.1f ms, %d variables %.1f ms: %.1fx, expat %.1fx\n",
                  shapes[i].name, N_SMALL, small, 8 * N_SMALL, large, large / small,
                  expat_large / expat_small);
    check_between(growth, 0, 2);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_within_twelve_times_expat),
      cmocka_unit_test(test_linear_growth),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
