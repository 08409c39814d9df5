// Reading a modelDescription.xml with many variables against expat alone on the same bytes: time, ratio, growth, memory.
//
//   bench_fmi_xml [N]...    numbers of variables; 100000 and 1000000 by default
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <expat.h>

#include "base/base_os.h"
#include "fmi/fmi_description.h"

enum { N_RUNS = 5 };

// A text that grows; fails only with the memory.
typedef struct growing {
  char* text;
  size_t n, room;
} growing;

static void put(growing* g, const char* text) {
  const size_t n = strlen(text);
  if (g->n + n + 1 > g->room) {
    g->room = 2 * (g->n + n + 1);
    g->text = realloc(g->text, g->room);
    if (g->text == NULL) {
      abort();
    }
  }
  memcpy(g->text + g->n, text, n + 1);
  g->n += n;
}

// What a modelling tool writes: structured names, descriptions, units, types; a third of all are outputs.
static growing make_description(int version, size_t n) {
  growing g = {0};
  char line[512];
  put(&g,
      version == 2
          ? "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"2.0\" "
            "modelName=\"large\" guid=\"{1}\">\n<CoSimulation modelIdentifier=\"large\"/>\n"
          : "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"3.0\" "
            "modelName=\"large\" instantiationToken=\"{1}\">\n<CoSimulation "
            "modelIdentifier=\"large\"/>\n");
  put(&g, "<UnitDefinitions><Unit name=\"N.m\"/></UnitDefinitions>\n<ModelVariables>\n");
  if (version == 3) {
    put(&g, "<Float64 name=\"time\" valueReference=\"0\" causality=\"independent\" "
            "variability=\"continuous\"/>\n");
  }
  for (size_t i = 1; i <= n; i++) {
    const char* roles = i % 3 == 0   ? "causality=\"output\" variability=\"continuous\""
                        : i % 3 == 1 ? "causality=\"local\" initial=\"exact\""
                                     : "causality=\"parameter\" variability=\"fixed\"";
    const char* start = i % 3 == 0 ? "" : " start=\"1.25e-3\"";
    snprintf(line, sizeof line,
             version == 2
                 ? "<ScalarVariable name=\"plant.part[%zu].flange.tau\" valueReference=\"%zu\" "
                   "description=\"torque at the flange\" %s>\n  <Real unit=\"N.m\"%s/>\n"
                   "</ScalarVariable>\n"
                 : "<Float64 name=\"plant.part[%zu].flange.tau\" valueReference=\"%zu\" "
                   "description=\"torque at the flange\" %s unit=\"N.m\"%s/>\n",
             i, i, roles, start);
    put(&g, line);
  }
  put(&g, "</ModelVariables>\n<ModelStructure>\n");
  put(&g, version == 2 ? "<Outputs>\n" : "");
  for (size_t i = 3; i <= n; i += 3) {
    snprintf(line, sizeof line,
             version == 2 ? "<Unknown index=\"%zu\" dependencies=\"\"/>\n"
                          : "<Output valueReference=\"%zu\" dependencies=\"\"/>\n",
             i);
    put(&g, line);
  }
  put(&g, version == 2 ? "</Outputs>\n" : "");
  put(&g, "</ModelStructure>\n</fmiModelDescription>\n");
  return g;
}

static void XMLCALL on_open(void* count, const XML_Char* name, const XML_Char** attributes) {
  (void)name;
  (void)attributes;
  ++*(size_t*)count;
}

static double run_expat(const growing* g) {
  const int64_t start = yoke__os_cpu_ns();
  size_t n = 0;
  XML_Parser parser = XML_ParserCreate(NULL);
  XML_SetUserData(parser, &n);
  XML_SetStartElementHandler(parser, on_open);
  if (XML_Parse(parser, g->text, (int)g->n, 1) != XML_STATUS_OK || n == 0) {
    printf("expat refuses the file\n");
  }
  XML_ParserFree(parser);
  return (double)(yoke__os_cpu_ns() - start) / 1e6;
}

static double run_reader(const growing* g, size_t* memory) {
  const int64_t start = yoke__os_cpu_ns();
  yoke_messages messages = {0};
  yoke_fmi_description* d = NULL;
  if (yoke__fmi_read(g->text, g->n, "large.fmu", &messages, &d) < 0 || messages.n_warnings > 0) {
    yoke__messages_print(&messages, stdout);
  }
  *memory = d == NULL ? 0 : d->arena.used;
  yoke__fmi_free(&d);
  yoke__messages_free(&messages);
  return (double)(yoke__os_cpu_ns() - start) / 1e6;
}

// Peak resident memory of this process so far [MB], or -1.
static double peak_memory(void) {
  FILE* file = fopen("/proc/self/status", "r");
  char line[256];
  long kilobytes = -1;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "VmHWM:", 6) == 0) {
      kilobytes = strtol(line + 6, NULL, 10);
    }
  }
  if (file != NULL) {
    fclose(file);
  }
  return kilobytes < 0 ? -1 : (double)kilobytes / 1024;
}

static double least(double a, double b) {
  return a < b ? a : b;
}

static void bench(int version, size_t n) {
  growing g = make_description(version, n);
  double expat = 1e300, reader = 1e300;
  size_t memory = 0;
  for (int i = 0; i < N_RUNS; i++) {
    expat = least(expat, run_expat(&g));
    reader = least(reader, run_reader(&g, &memory));
  }
  printf("%4d.0 %10zu %9.1f %10.1f %10.1f %7.2f %9.0f %10.1f %10.1f\n", version, n,
         (double)g.n / 1e6, expat, reader, reader / expat, reader * 1e6 / (double)n,
         (double)memory / 1e6, peak_memory());
  free(g.text);
}

int main(int argc, char** argv) {
  printf("%6s %10s %9s %10s %10s %7s %9s %10s %10s\n", "FMI", "variables", "file MB", "expat ms",
         "reader ms", "ratio", "ns each", "kept MB", "peak MB");
  for (int version = 2; version <= 3; version++) {
    for (int i = 1; i < argc; i++) {
      bench(version, (size_t)strtoul(argv[i], NULL, 10));
    }
    if (argc == 1) {
      bench(version, 100000);
      bench(version, 1000000);
    }
  }
  return 0;
}
