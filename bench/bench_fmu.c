// Cost of the master around FMUs: two trivial ones in a ring, and two with values of all types, against a bare loop that only
// calls get, set and doStep on the same binaries in the same run; growth with units and variables; what recording adds.
// `bench_fmu --gate` exits 1 if a ratio is above its limit. The FMUs are those of the tests: YOKE_FMUS names their folder.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_message.h"
#include "base/base_os.h"
#include "fmi/fmi_binary.h"
#include "fmi/fmi_package.h"
#include "master/master_run.h"

#define LIMIT        2.0    // what Yoke adds : bare loop
#define TYPED_LIMIT  2.0    // Yoke : bare loop, reals, integers, booleans and texts
#define MANY         200    // units
#define RECORD_LIMIT 200.0  // ns per value; printed
enum { N_STEPS = 100000, BATCH = 2000 };

static const char* folder;

static double smaller(double a, double b) {
  return a < b ? a : b;
}

// ---------------------------------------------------------------------------------------------------------
// the bare loop

static void say_nothing(fmi2ComponentEnvironment e, fmi2String n, fmi2Status s, fmi2String c,
                        fmi2String m, ...) {
  (void)e, (void)n, (void)s, (void)c, (void)m;
}

static const fmi2CallbackFunctions callbacks = {say_nothing, calloc, free, NULL, NULL};

static void say_nothing3(fmi3InstanceEnvironment e, fmi3Status s, fmi3String c, fmi3String m) {
  (void)e, (void)s, (void)c, (void)m;
}

static yoke_fmi_package* open_package(const char* name, yoke_fmi_binary** binary) {
  char path[4096], library[4200];
  YOKE_CATCH(err);
  snprintf(path, sizeof path, "%s/%s.fmu", folder, name);
  yoke_messages messages = {0};
  yoke_fmi_package* package = NULL;
  if (yoke__fmi_open(path, &messages, &package) < 0 || yoke__fmi_unpack(package, &messages) < 0) {
    yoke__messages_print(&messages, stderr);
    exit(1);
  }
  yoke__messages_free(&messages);
  yoke__fmi_binary_path(package, &package->description->co_simulation, library, sizeof library);
  if (yoke__fmi_binary_open(library, package->description->co_simulation.model_identifier,
                            package->description->version, YOKE_FMI_CS, binary, &err.sink) < 0) {
    fprintf(stderr, "%s\n", err.text);
    exit(1);
  }
  return package;
}

static void references(const yoke_fmi_description* d, uint32_t* u, uint32_t* y) {
  for (size_t i = 0; i < d->n_variables; i++) {
    if (d->variables[i].causality == YOKE_FMI_INPUT) {
      *u = d->variables[i].reference;
    } else if (d->variables[i].causality == YOKE_FMI_OUTPUT) {
      *y = d->variables[i].reference;
    }
  }
}

// n instances in a ring, time per macro step
static double bare2_ns(int n, int n_steps) {
  yoke_fmi_binary* binary = NULL;
  yoke_fmi_package* package = open_package("trivial2", &binary);
  const yoke_fmi2* f = &binary->f2;
  uint32_t u = 0, y = 0;
  references(package->description, &u, &y);
  fmi2Component c[MANY];
  for (int i = 0; i < n; i++) {
    c[i] = f->Instantiate("a", fmi2CoSimulation, package->description->token, "file:///tmp",
                          &callbacks, fmi2False, fmi2False);
    f->SetupExperiment(c[i], fmi2False, 0, 0, fmi2False, 0);
    f->EnterInitializationMode(c[i]);
    f->ExitInitializationMode(c[i]);
  }
  double best = 1e30, value[MANY] = {1, 0.5};
  const double h = 1e-3;
  const int batch = n_steps < BATCH ? n_steps : BATCH;
  for (int k = 0; k < n_steps; k += batch) {
    const int64_t start = yoke__os_now_ns();
    for (int j = k; j < k + batch; j++) {
      for (int i = 0; i < n; i++) {
        f->SetReal(c[i], &u, 1, &value[(i + 1) % n]);
      }
      for (int i = 0; i < n; i++) {
        f->DoStep(c[i], j * h, h, fmi2True);
      }
      for (int i = 0; i < n; i++) {
        f->GetReal(c[i], &y, 1, &value[i]);
      }
    }
    best = smaller(best, (double)(yoke__os_now_ns() - start) / batch);
  }
  for (int i = 0; i < n; i++) {
    f->FreeInstance(c[i]);
  }
  yoke__fmi_binary_close(&binary);
  yoke__fmi_close(&package);
  return best;
}

static double bare3_ns(void) {
  yoke_fmi_binary* binary = NULL;
  yoke_fmi_package* package = open_package("trivial3", &binary);
  const yoke_fmi3* f = &binary->f3;
  uint32_t u = 0, y = 0;
  references(package->description, &u, &y);
  fmi3Instance c[2];
  for (int i = 0; i < 2; i++) {
    c[i] = f->InstantiateCoSimulation("a", package->description->token, "/tmp/", false, false,
                                      false, false, NULL, 0, NULL, say_nothing3, NULL);
    f->EnterInitializationMode(c[i], false, 0, 0, false, 0);
    f->ExitInitializationMode(c[i]);
  }
  double best = 1e30, value[2] = {1, 0.5}, last = 0;
  bool event = false, end = false, early = false;
  const double h = 1e-3;
  for (int k = 0; k < N_STEPS; k += BATCH) {
    const int64_t start = yoke__os_now_ns();
    for (int i = k; i < k + BATCH; i++) {
      f->SetFloat64(c[0], &u, 1, &value[1], 1);
      f->SetFloat64(c[1], &u, 1, &value[0], 1);
      f->DoStep(c[0], i * h, h, true, &event, &end, &early, &last);
      f->DoStep(c[1], i * h, h, true, &event, &end, &early, &last);
      f->GetFloat64(c[0], &y, 1, &value[0], 1);
      f->GetFloat64(c[1], &y, 1, &value[1], 1);
    }
    best = smaller(best, (double)(yoke__os_now_ns() - start) / BATCH);
  }
  f->FreeInstance(c[0]);
  f->FreeInstance(c[1]);
  yoke__fmi_binary_close(&binary);
  yoke__fmi_close(&package);
  return best;
}

// Two FMUs `echo` in a ring with all their inputs connected: two reals, an integer, a boolean and a text.
enum { N_REALS = 2 };
static const uint32_t reals_in[N_REALS] = {1, 2}, reals_out[N_REALS] = {11, 12};
static const uint32_t integer_in = 3, boolean_in = 4, text_in = 5;
static const uint32_t integer_out = 13, boolean_out = 14, text_out = 15;

static double bare_typed2_ns(void) {
  yoke_fmi_binary* binary = NULL;
  yoke_fmi_package* package = open_package("echo2", &binary);
  const yoke_fmi2* f = &binary->f2;
  fmi2Component c[2];
  for (int i = 0; i < 2; i++) {
    c[i] = f->Instantiate("a", fmi2CoSimulation, package->description->token, "file:///tmp",
                          &callbacks, fmi2False, fmi2False);
    f->SetupExperiment(c[i], fmi2False, 0, 0, fmi2False, 0);
    f->EnterInitializationMode(c[i]);
    f->ExitInitializationMode(c[i]);
  }
  double best = 1e30, reals[2][N_REALS] = {{1, 2}, {3, 4}};
  fmi2Integer integers[2] = {1, 2};
  fmi2Boolean booleans[2] = {0, 1};
  fmi2String texts[2] = {"a text of the usual length", "another one"};
  const double h = 1e-3;
  for (int k = 0; k < N_STEPS; k += BATCH) {
    const int64_t start = yoke__os_now_ns();
    for (int j = k; j < k + BATCH; j++) {
      for (int i = 0; i < 2; i++) {
        f->SetReal(c[i], reals_in, N_REALS, reals[1 - i]);
        f->SetInteger(c[i], &integer_in, 1, &integers[1 - i]);
        f->SetBoolean(c[i], &boolean_in, 1, &booleans[1 - i]);
        f->SetString(c[i], &text_in, 1, &texts[1 - i]);
      }
      f->DoStep(c[0], j * h, h, fmi2True);
      f->DoStep(c[1], j * h, h, fmi2True);
      for (int i = 0; i < 2; i++) {
        f->GetReal(c[i], reals_out, N_REALS, reals[i]);
        f->GetInteger(c[i], &integer_out, 1, &integers[i]);
        f->GetBoolean(c[i], &boolean_out, 1, &booleans[i]);
        f->GetString(c[i], &text_out, 1, &texts[i]);
      }
    }
    best = smaller(best, (double)(yoke__os_now_ns() - start) / BATCH);
  }
  f->FreeInstance(c[0]);
  f->FreeInstance(c[1]);
  yoke__fmi_binary_close(&binary);
  yoke__fmi_close(&package);
  return best;
}

static double bare_typed3_ns(void) {
  yoke_fmi_binary* binary = NULL;
  yoke_fmi_package* package = open_package("echo3", &binary);
  const yoke_fmi3* f = &binary->f3;
  fmi3Instance c[2];
  for (int i = 0; i < 2; i++) {
    c[i] = f->InstantiateCoSimulation("a", package->description->token, "/tmp/", false, false,
                                      false, false, NULL, 0, NULL, say_nothing3, NULL);
    f->EnterInitializationMode(c[i], false, 0, 0, false, 0);
    f->ExitInitializationMode(c[i]);
  }
  double best = 1e30, reals[2][N_REALS] = {{1, 2}, {3, 4}}, last = 0;
  fmi3Int32 integers[2] = {1, 2};
  fmi3Boolean booleans[2] = {false, true};
  fmi3String texts[2] = {"a text of the usual length", "another one"};
  bool event = false, end = false, early = false;
  const double h = 1e-3;
  for (int k = 0; k < N_STEPS; k += BATCH) {
    const int64_t start = yoke__os_now_ns();
    for (int j = k; j < k + BATCH; j++) {
      for (int i = 0; i < 2; i++) {
        f->SetFloat64(c[i], reals_in, N_REALS, reals[1 - i], N_REALS);
        f->SetInt32(c[i], &integer_in, 1, &integers[1 - i], 1);
        f->SetBoolean(c[i], &boolean_in, 1, &booleans[1 - i], 1);
        f->SetString(c[i], &text_in, 1, &texts[1 - i], 1);
      }
      f->DoStep(c[0], j * h, h, true, &event, &end, &early, &last);
      f->DoStep(c[1], j * h, h, true, &event, &end, &early, &last);
      for (int i = 0; i < 2; i++) {
        f->GetFloat64(c[i], reals_out, N_REALS, reals[i], N_REALS);
        f->GetInt32(c[i], &integer_out, 1, &integers[i], 1);
        f->GetBoolean(c[i], &boolean_out, 1, &booleans[i], 1);
        f->GetString(c[i], &text_out, 1, &texts[i], 1);
      }
    }
    best = smaller(best, (double)(yoke__os_now_ns() - start) / BATCH);
  }
  f->FreeInstance(c[0]);
  f->FreeInstance(c[1]);
  yoke__fmi_binary_close(&binary);
  yoke__fmi_close(&package);
  return best;
}

// ---------------------------------------------------------------------------------------------------------
// the master

static yoke_system* build(const char* text, yoke_state** state) {
  yoke_messages messages = {0};
  yoke_scenario* scenario = NULL;
  yoke_system* system = NULL;
  yoke_status status =
      yoke__scenario_read(text, strlen(text), "bench.yaml", NULL, 0, &messages, &scenario);
  status = status < 0 ? status : yoke__system_build(scenario, NULL, &messages, &system);
  status = status < 0 ? status : yoke__master_create(system, &messages, state);
  if (status >= 0) {
    (*state)->watch.wait = INT64_MAX;  // the growth alarm has a gate of its own (bench_master)
  }
  if (status < 0) {
    yoke__messages_print(&messages, stderr);
    exit(1);
  }
  yoke__messages_free(&messages);
  return system;
}

// time per macro step of a system file; record: every row goes to a ring that holds them all
static double system_ns(const char* text, bool has_ring, int n_steps, size_t* n_columns) {
  yoke_state* state = NULL;
  yoke_system* system = build(text, &state);
  YOKE_CATCH(err);
  const int batch = n_steps < BATCH ? n_steps : BATCH;
  const yoke_record_settings settings = {.formats = 0, .n_ring_rows = (size_t)n_steps + 16};
  if (has_ring && yoke__record_open(&settings, system->columns, system->n_columns, &state->record,
                                    &err.sink) < 0) {
    fprintf(stderr, "%s\n", err.text);
    exit(1);
  }
  const yoke_reading reading = has_ring ? YOKE_READ_RECORDED : YOKE_READ_USED;
  if (yoke__master_set_reading(system, state, reading) < 0) {
    fprintf(stderr, "%s\n", state->failure.message.text);
    exit(1);
  }
  double best = 1e30;
  for (int k = 0; k < n_steps; k += batch) {
    const int64_t start = yoke__os_now_ns();
    for (int i = 0; i < batch; i++) {
      if (yoke__master_step(system, state) < 0) {
        fprintf(stderr, "%s\n", state->failure.message.text);
        exit(1);
      }
    }
    best = smaller(best, (double)(yoke__os_now_ns() - start) / batch);
  }
  if (n_columns != NULL) {
    *n_columns = system->n_columns;
  }
  if (state->record != NULL) {
    yoke_record_info info;
    yoke__record_close(&state->record, &info, &err.sink);
  }
  yoke__master_destroy(system, &state);
  yoke__system_destroy(&system);
  return best;
}

// n units of one FMU in a ring, all of their n_vars inputs connected
static char* ring_text(const char* fmu, const char* u, const char* y, int n, int n_vars) {
  const size_t room = 4096 + (size_t)n * (strlen(folder) + 128 + (size_t)n_vars * 64);
  char* text = malloc(room);
  size_t at = (size_t)snprintf(
      text, room,
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1e6, step: 1e-3}\nquality: {find: false}\n"
      "units:\n");
  for (int i = 0; i < n; i++) {
    at += (size_t)snprintf(text + at, room - at, "  u%d: {fmu: '%s/%s.fmu'}\n", i, folder, fmu);
  }
  at += (size_t)snprintf(text + at, room - at, "connections:\n");
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < n_vars; k++) {
      char number[16] = "";
      if (n_vars > 1) {
        snprintf(number, sizeof number, "%d", k);
      }
      at += (size_t)snprintf(text + at, room - at, "  - u%d.%s%s -> u%d.%s%s\n", i, y, number,
                             (i + 1) % n, u, number);
    }
  }
  return text;
}

static double ring_ns(const char* fmu, int n, int n_vars, bool has_ring, int n_steps,
                      size_t* n_columns) {
  char* text = ring_text(fmu, "u", "y", n, n_vars);
  const double ns = system_ns(text, has_ring, n_steps, n_columns);
  free(text);
  return ns;
}

// two of the FMU in a ring, values of all types connected
static double typed_ns(const char* fmu) {
  char text[3 * 4096];
  snprintf(text, sizeof text,
           "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1e6, step: 1e-3}\n"
           "quality: {find: false}\nunits:\n"
           "  a: {fmu: '%s/%s.fmu', start: {text_in: a text of the usual length}}\n"
           "  b: {fmu: '%s/%s.fmu'}\nconnections:\n"
           "  - a.real_out -> b.real_in\n  - b.real_out -> a.real_in\n"
           "  - a.other_out -> b.other_in\n  - b.other_out -> a.other_in\n"
           "  - a.integer_out -> b.integer_in\n  - b.integer_out -> a.integer_in\n"
           "  - a.boolean_out -> b.boolean_in\n  - b.boolean_out -> a.boolean_in\n"
           "  - a.text_out -> b.text_in\n  - b.text_out -> a.text_in\n",
           folder, fmu, folder, fmu);
  return system_ns(text, false, N_STEPS, NULL);
}

static void find_folder(void) {
  folder = getenv("YOKE_FMUS");
  folder = folder == NULL ? "build/release/test/fmus" : folder;
}

// what Yoke adds to the bare loop, as a multiple of it
static double added(double yoke, double bare) {
  return (yoke - bare) / bare;
}

static void print_pair(const char* what, double bare, double yoke) {
  printf("%-30s bare loop %7.1f ns per step, Yoke adds %7.1f: %.2fx (limit %g)\n", what, bare,
         yoke - bare, added(yoke, bare), LIMIT);
}

static void print_typed(const char* what, double bare, double yoke) {
  printf("%-30s bare loop %7.1f ns per step, Yoke %7.1f: %.2fx (limit %g)\n", what, bare, yoke,
         yoke / bare, TYPED_LIMIT);
}

int main(int argc, char** argv) {
  const bool is_gate = argc > 1 && strcmp(argv[1], "--gate") == 0;
  find_folder();
  yoke__os_float_mode_set();
  double bare2 = 1e30, bare3 = 1e30, two2 = 1e30, two3 = 1e30, bare_many = 1e30, many = 1e30;
  double bare_typed2 = 1e30, bare_typed3 = 1e30, typed2 = 1e30, typed3 = 1e30;
  bool is_over = true;
  for (int round = 0; round < 3 || (is_gate && is_over && round < 30); round++) {
    bare2 = smaller(bare2, bare2_ns(2, N_STEPS));
    two2 = smaller(two2, ring_ns("trivial2", 2, 1, false, N_STEPS, NULL));
    bare3 = smaller(bare3, bare3_ns());
    two3 = smaller(two3, ring_ns("trivial3", 2, 1, false, N_STEPS, NULL));
    bare_many = smaller(bare_many, bare2_ns(MANY, 2000));
    many = smaller(many, ring_ns("trivial2", MANY, 1, false, 2000, NULL));
    bare_typed2 = smaller(bare_typed2, bare_typed2_ns());
    typed2 = smaller(typed2, typed_ns("echo2"));
    bare_typed3 = smaller(bare_typed3, bare_typed3_ns());
    typed3 = smaller(typed3, typed_ns("echo3"));
    is_over = added(two2, bare2) > LIMIT || added(two3, bare3) > LIMIT ||
              added(many, bare_many) > LIMIT || typed2 / bare_typed2 > TYPED_LIMIT ||
              typed3 / bare_typed3 > TYPED_LIMIT;
    if (round >= 3) {
      yoke__os_sleep_ns(300000000);
    }
  }
  print_pair("2 trivial FMUs of FMI 2.0", bare2, two2);
  print_pair("2 trivial FMUs of FMI 3.0", bare3, two3);
  print_pair("200 trivial FMUs of FMI 2.0", bare_many, many);
  print_typed("2 FMUs of all types, FMI 2.0", bare_typed2, typed2);
  print_typed("2 FMUs of all types, FMI 3.0", bare_typed3, typed3);

  double narrow = 1e30, wide = 1e30, recorded = 1e30;
  size_t n_columns = 0;
  for (int round = 0; round < 3; round++) {
    narrow = smaller(narrow, ring_ns("wide2", 2, 8, false, 4000, NULL));
    wide = smaller(wide, ring_ns("wide2", 2, 64, false, 4000, NULL));
    recorded = smaller(recorded, ring_ns("wide2", 2, 64, true, 4000, &n_columns));
  }
  printf("2 FMUs with 64 inputs and outputs: %.1f ns per step with 8 of them connected, %.1f with "
         "all\n",
         narrow, wide);
  printf("recording to the ring adds %.2f ns per value (%zu columns; limit %g)\n",
         (recorded - wide) / (double)(n_columns + 1), n_columns, RECORD_LIMIT);
  if (is_gate && is_over) {
    fprintf(stderr, "bench_fmu: a ratio is above its limit\n");
    return 1;
  }
  return 0;
}
