// A native unit beside the FMU made of it: both from the same lines of a system file. Failures end the test.
#ifndef YOKE_TEST_EXPORTED_H
#define YOKE_TEST_EXPORTED_H

#include <stdlib.h>

#include "base/base_message.h"
#include "base/base_temp.h"
#include "export/export_fmu.h"
#include "fmi/fmi_binary.h"
#include "fmi/fmi_package.h"
#include "scenario/scenario.h"
#include "support/check.h"
#include "system/system.h"
#include "unit/unit_models.h"

// A model with the settings that it cannot do without, and inputs that it can live with.
typedef struct exported_case {
  const char* model;
  const char* settings;  // as in a system file, behind `model: ...`
  double spread;         // of random real inputs, around their start value
} exported_case;

// Settings that change what the defaults hide; every model of the table is exported, named here or not.
static const exported_case exported_cases[] = {
    {"oscillator.force",
     "with: {kc: 80, cc: 0.5, solver: rk4, micro_steps: 3}, start: {x: 0.1, v: 2}", 1},
    {"oscillator.mass", "with: {damper: quadratic, c: 0.3}, start: {v: -1}", 1},
    {"crane.arm", "", 1e3},
    {"crane.arm.pressure", "", 1e4},
    {"crane.hydraulics", "with: {solver: rk4, micro_steps: 10}", 1e-4},
    {"crane.hydraulics.pressure", "with: {static_start: false, solver: rk4, micro_steps: 10}",
     1e-4},
    {"engine_rig.bench", "with: {noise_tau: 1.5, seed: 7}", 5},
    {"state_space",
     "with: {A: [[0, 1], [-4, -0.2]], B: [[0, 1], [1, 0]], C: [[1, 0], [0, 1], [1, 1]], "
     "D: [[0, 0], [0.5, 0], [0, 2]], x0: [0.3, -0.1], inputs: [force, \"odd & <name>\"], "
     "outputs: [position, speed, \"der(x)\"]}",
     1},
    {"driver", "with: {mode: pi, points: [[0, 0.1], [3, 0.5]], preview: 0.01}", 1},
    {"rig.bench", "with: {seed: 7, latency: 1, loss_out: 0.1, jitter_in: 1e-3}", 1},
    {"playback",
     "with: {file: table.csv, interpolation: linear, end: repeat, integers: [n], booleans: [on], "
     "enumerations: [mode], items: [\"<low>\", \"very high\"], strings: [note]}",
     1},
    {"channel", "with: {n: 3, noise: [0.1, 0, 0.2], loss: 0.25, seed: 12345}", 1},
    {"sum", "with: {signs: [1, -1, 0.5]}", 1},
    {"select", "with: {n: 4, mode: mean}", 1},
    {"label", "with: {labels: [cold, warm, \"too hot\", warm], input: enumeration}", 1},
    {"meter", "with: {n: 2, window: 0.05}", 1},
};

static inline exported_case exported_case_of(const char* model) {
  for (size_t i = 0; i < YOKE_COUNT(exported_cases); i++) {
    if (strcmp(exported_cases[i].model, model) == 0) {
      return exported_cases[i];
    }
  }
  return (exported_case){model, "", 1};
}

typedef struct exported {
  yoke_messages messages;
  yoke_arena arena;
  yoke_temp* temp;
  yoke_system* system;  // one unit, made but not wired
  const yoke_unit* unit;
  yoke_export_job job;
  char path[4096];  // of the FMU
  yoke_fmi_package* package;
  yoke_fmi_binary* binary;
  char resources[4096], uri[4200];
} exported;

static inline void exported_fail(exported* e, const char* what) {
  char text[4096] = "";
  yoke__messages_format(&e->messages, text, sizeof text);
  fail_msg("%s (%s): %s", what, e->job.ops == NULL ? "" : e->job.ops->name, text);
}

// The unit, as a run would make it. directory: of files that the settings name.
static inline void exported_make_unit(exported* e, const char* model, const char* settings,
                                      const char* directory) {
  char text[2048], path[4200];
  const int n = snprintf(text, sizeof text,
                         "yoke: 1\ntime: {stop: 1, step: 1e-3}\nunits:\n  u: {model: %s%s%s}\n",
                         model, settings[0] == '\0' ? "" : ", ", settings);
  snprintf(path, sizeof path, "%s/system.yaml", directory);
  yoke_scenario* scenario = NULL;
  if (yoke__scenario_read(text, (size_t)n, path, NULL, 0, &e->messages, &scenario) < 0) {
    exported_fail(e, "the system is refused");
  }
  e->system = calloc(1, sizeof *e->system);
  assert_non_null(e->system);
  e->system->scenario = scenario;
  e->system->messages = &e->messages;
  if (yoke__system_make_units(e->system) < 0 || e->messages.n_errors > 0) {
    exported_fail(e, "the unit cannot be made");
  }
  e->unit = &e->system->units[0].unit;
  e->job.ops = e->unit->ops;
  e->job.name = model;
  e->job.unit = e->unit;
  e->job.directory = e->system->scenario->directory;
  check_ok(yoke__export_arguments(e->system->units[0].source, e->job.ops, &e->arena, &e->messages,
                                  &e->job.arguments, &e->job.n_arguments));
}

static inline void exported_write_table(const char* directory) {
  char path[4200];
  snprintf(path, sizeof path, "%s/table.csv", directory);
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fputs("time,a,b,n,on,mode,note\n0,0,5,-7,true,<low>,\"one, two\"\n0.1,1,4.25,8,0,very high,\n"
        "0.1,2,4,9,1,<low>,\" \"\"q\"\" & <r>\"\n0.25,-1,3,10,false,very high,x\n"
        "0.3,0.5,8,11,1,<low>,y\n",
        file);
  assert_int_equal(fclose(file), 0);
}

// Exports, reads the FMU back (not one warning is allowed), loads its binary.
static inline void exported_open_as(exported* e, const char* model, const char* settings, int fmi,
                                    bool has_event_mode) {
  // the sources are looked at in test_export_sources.sh; without them an export is quicker
  YOKE_CATCH(err);
  char library[4096];
  *e = (exported){.job = {.fmi = fmi, .has_event_mode = has_event_mode}};
  check_ok(yoke__temp_create(&e->temp, &err.sink));
  const char* directory = yoke__temp_path(e->temp);
  exported_write_table(directory);
  exported_make_unit(e, model, settings, directory);
  const char* build = getenv("YOKE_BUILD_DIR");
  if (build == NULL) {
    fail_msg("set YOKE_BUILD_DIR to the folder with " YOKE_EXPORT_RUNTIME);
  }
  check_ok(
      yoke__export_find_runtime(build, &e->arena, &e->job.runtime, &e->job.sources, &err.sink));
  e->job.sources = NULL;
  snprintf(e->path, sizeof e->path, "%s/unit.fmu", directory);
  if (yoke__export_fmu(&e->job, e->path, &err.sink) < 0) {
    fail_msg("%s, FMI %d: %s", model, fmi, err.text);
  }
  if (yoke__fmi_open(e->path, &e->messages, &e->package) < 0 ||
      yoke__fmi_unpack(e->package, &e->messages) < 0 || e->messages.n > 0) {
    exported_fail(e, "the FMU has faults");
  }
  const yoke_fmi_interface* co = &e->package->description->co_simulation;
  check_ok(yoke__fmi_binary_path(e->package, co, library, sizeof library));
  if (yoke__fmi_binary_open(library, co->model_identifier, fmi, YOKE_FMI_CS, &e->binary,
                            &err.sink) < 0) {
    fail_msg("%s, FMI %d: %s", model, fmi, err.text);
  }
  yoke__fmi_resources_path(e->package, e->resources, sizeof e->resources);
  snprintf(e->uri, sizeof e->uri, "file://%s", e->resources);
}

static inline void exported_open(exported* e, const char* model, const char* settings, int fmi) {
  exported_open_as(e, model, settings, fmi, false);
}

static inline void exported_close(exported* e) {
  yoke__fmi_binary_close(&e->binary);
  yoke__fmi_close(&e->package);
  yoke__system_destroy(&e->system);
  yoke__messages_free(&e->messages);
  yoke__arena_free(&e->arena);
  yoke__temp_remove(&e->temp);
}

// ---- one instance, either version

enum { FMU_OK = 0, FMU_WARNING = 1, FMU_DISCARD = 2, FMU_ERROR = 3 };

typedef struct fmu_instance {
  const exported* from;
  void* c;
  fmi2CallbackFunctions callbacks;
  char log[2048];  // all messages, one per line
  int n_messages;
  bool is_end_wanted;
} fmu_instance;

static inline void fmu_note(fmu_instance* f, const char* category, const char* text) {
  const size_t used = strlen(f->log);
  snprintf(f->log + used, sizeof f->log - used, "%s: %s\n", category, text);
  f->n_messages++;
}

static inline void fmu_log2(fmi2ComponentEnvironment environment, fmi2String name,
                            fmi2Status status, fmi2String category, fmi2String message, ...) {
  (void)name;
  (void)status;
  va_list args;
  char text[1024];
  va_start(args, message);
  vsnprintf(text, sizeof text, message, args);
  va_end(args);
  fmu_note(environment, category, text);
}

static inline void fmu_log3(fmi3InstanceEnvironment environment, fmi3Status status,
                            fmi3String category, fmi3String message) {
  (void)status;
  fmu_note(environment, category, message);
}

// With another token or place of the resources than its own: NULL is its own. The instance must stay where it is.
static inline void fmu_try(fmu_instance* f, const exported* e, const char* token,
                           const char* resources) {
  *f = (fmu_instance){.from = e};
  f->callbacks = (fmi2CallbackFunctions){
      .logger = fmu_log2, .allocateMemory = calloc, .freeMemory = free, .componentEnvironment = f};
  token = token == NULL ? e->package->description->token : token;
  if (e->job.fmi == 2) {
    f->c = e->binary->f2.Instantiate("unit", fmi2CoSimulation, token,
                                     resources == NULL ? e->uri : resources, &f->callbacks,
                                     fmi2False, fmi2True);
  } else {
    f->c = e->binary->f3.InstantiateCoSimulation(
        "unit", token, resources == NULL ? e->resources : resources, false, true, false, false,
        NULL, 0, f, fmu_log3, NULL);
  }
}

static inline void fmu_open(fmu_instance* f, const exported* e) {
  fmu_try(f, e, NULL, NULL);
  if (f->c == NULL) {
    fail_msg("%s, FMI %d is not instantiated: %s", e->job.name, e->job.fmi, f->log);
  }
}

static inline void fmu_close(fmu_instance* f) {
  if (f->from->job.fmi == 2) {
    f->from->binary->f2.FreeInstance(f->c);
  } else {
    f->from->binary->f3.FreeInstance(f->c);
  }
}

static inline int fmu_enter(fmu_instance* f, double t_start) {
  const yoke_fmi_binary* b = f->from->binary;
  if (f->from->job.fmi == 3) {
    return (int)b->f3.EnterInitializationMode(f->c, false, 0.0, t_start, false, 0.0);
  }
  const int status = (int)b->f2.SetupExperiment(f->c, fmi2False, 0.0, t_start, fmi2False, 0.0);
  return status != FMU_OK ? status : (int)b->f2.EnterInitializationMode(f->c);
}

static inline int fmu_exit(fmu_instance* f) {
  const yoke_fmi_binary* b = f->from->binary;
  return f->from->job.fmi == 2 ? (int)b->f2.ExitInitializationMode(f->c)
                               : (int)b->f3.ExitInitializationMode(f->c);
}

static inline int fmu_step(fmu_instance* f, double t, double h) {
  const yoke_fmi_binary* b = f->from->binary;
  if (f->from->job.fmi == 3) {
    bool is_event = false, is_early = false;
    double reached = 0.0;
    return (int)b->f3.DoStep(f->c, t, h, true, &is_event, &f->is_end_wanted, &is_early, &reached);
  }
  int status = (int)b->f2.DoStep(f->c, t, h, fmi2True);
  if (status == FMU_DISCARD) {
    fmi2Boolean is_ended = fmi2False;
    double reached = 0.0;
    assert_int_equal(b->f2.GetBooleanStatus(f->c, fmi2Terminated, &is_ended), fmi2OK);
    assert_int_equal(b->f2.GetRealStatus(f->c, fmi2LastSuccessfulTime, &reached), fmi2OK);
    f->is_end_wanted = is_ended == fmi2True;
    status = f->is_end_wanted && reached == t + h ? FMU_OK : status;
  }
  return status;
}

static inline int fmu_terminate(fmu_instance* f) {
  const yoke_fmi_binary* b = f->from->binary;
  return f->from->job.fmi == 2 ? (int)b->f2.Terminate(f->c) : (int)b->f3.Terminate(f->c);
}

static inline int fmu_reset(fmu_instance* f) {
  const yoke_fmi_binary* b = f->from->binary;
  return f->from->job.fmi == 2 ? (int)b->f2.Reset(f->c) : (int)b->f3.Reset(f->c);
}

// The reference of a variable's first element: elements are counted through.
static inline uint32_t fmu_reference(const yoke_unit* unit, size_t variable) {
  size_t n = 0;
  for (size_t i = 0; i < variable; i++) {
    n += yoke__variable_count(&unit->info->variables[i]);
  }
  return (uint32_t)n;
}

static inline int fmu_set_reals(fmu_instance* f, uint32_t first, const double values[], size_t n) {
  const yoke_fmi_binary* b = f->from->binary;
  int status = FMU_OK;
  if (f->from->job.fmi == 3) {
    return (int)b->f3.SetFloat64(f->c, &first, 1, values, n);
  }
  for (size_t i = 0; i < n && status == FMU_OK; i++) {
    const uint32_t reference = first + (uint32_t)i;
    status = (int)b->f2.SetReal(f->c, &reference, 1, &values[i]);
  }
  return status;
}

// A value in storage form (yoke/unit.h) into the FMU.
static inline int fmu_set(fmu_instance* f, size_t variable, const void* storage) {
  const yoke_fmi_binary* b = f->from->binary;
  const yoke_unit* unit = f->from->unit;
  const yoke_variable* v = &unit->info->variables[variable];
  const size_t n = yoke__variable_count(v), size = yoke__variable_element_size(v);
  const uint32_t first = fmu_reference(unit, variable);
  if (v->type == YOKE_REAL) {
    return fmu_set_reals(f, first, storage, n);
  }
  int status = FMU_OK;
  for (size_t i = 0; i < n && status == FMU_OK; i++) {
    const char* at = (const char*)storage + i * size;
    const uint32_t reference = first + (uint32_t)i;
    int64_t whole = 0;
    if (v->type != YOKE_STRING) {
      memcpy(&whole, at, sizeof whole);
    }
    const int small = (int)whole;
    const bool is_true = whole != 0;
    assert_int_equal(n, 1);  // no native model has arrays of other types
    if (v->type == YOKE_STRING) {
      status = f->from->job.fmi == 2 ? (int)b->f2.SetString(f->c, &reference, 1, &at)
                                     : (int)b->f3.SetString(f->c, &reference, 1, &at, 1);
    } else if (v->type == YOKE_BOOLEAN) {
      status = f->from->job.fmi == 2 ? (int)b->f2.SetBoolean(f->c, &reference, 1, &small)
                                     : (int)b->f3.SetBoolean(f->c, &reference, 1, &is_true, 1);
    } else {
      status = f->from->job.fmi == 2 ? (int)b->f2.SetInteger(f->c, &reference, 1, &small)
                                     : (int)b->f3.SetInt64(f->c, &reference, 1, &whole, 1);
    }
  }
  return status;
}

// The same out of it; texts are cleared behind their end.
static inline int fmu_get(fmu_instance* f, size_t variable, void* storage) {
  const yoke_fmi_binary* b = f->from->binary;
  const yoke_unit* unit = f->from->unit;
  const yoke_variable* v = &unit->info->variables[variable];
  const size_t n = yoke__variable_count(v), size = yoke__variable_element_size(v);
  const uint32_t first = fmu_reference(unit, variable);
  const bool is_2 = f->from->job.fmi == 2;
  if (v->type == YOKE_REAL && !is_2) {
    return (int)b->f3.GetFloat64(f->c, &first, 1, storage, n);
  }
  int status = FMU_OK;
  for (size_t i = 0; i < n && status == FMU_OK; i++) {
    char* at = (char*)storage + i * size;
    const uint32_t reference = first + (uint32_t)i;
    int64_t whole = 0;
    int small = 0;
    bool is_true = false;
    const char* text = "";
    if (v->type == YOKE_REAL) {
      status = (int)b->f2.GetReal(f->c, &reference, 1, (double*)(void*)at);
      continue;
    }
    if (v->type == YOKE_STRING) {
      status = is_2 ? (int)b->f2.GetString(f->c, &reference, 1, &text)
                    : (int)b->f3.GetString(f->c, &reference, 1, &text, 1);
      memset(at, 0, size);
      snprintf(at, size, "%s", text);
      continue;
    }
    if (v->type == YOKE_BOOLEAN) {
      status = is_2 ? (int)b->f2.GetBoolean(f->c, &reference, 1, &small)
                    : (int)b->f3.GetBoolean(f->c, &reference, 1, &is_true, 1);
      whole = is_2 ? small : is_true;
    } else {
      status = is_2 ? (int)b->f2.GetInteger(f->c, &reference, 1, &small)
                    : (int)b->f3.GetInt64(f->c, &reference, 1, &whole, 1);
      whole = is_2 ? small : whole;
    }
    memcpy(at, &whole, sizeof whole);
  }
  return status;
}

static inline int fmu_get_state(fmu_instance* f, void** state) {
  const yoke_fmi_binary* b = f->from->binary;
  return f->from->job.fmi == 2 ? (int)b->f2.GetFMUstate(f->c, state)
                               : (int)b->f3.GetFMUState(f->c, state);
}

static inline int fmu_set_state(fmu_instance* f, void* state) {
  const yoke_fmi_binary* b = f->from->binary;
  return f->from->job.fmi == 2 ? (int)b->f2.SetFMUstate(f->c, state)
                               : (int)b->f3.SetFMUState(f->c, state);
}

static inline int fmu_free_state(fmu_instance* f, void** state) {
  const yoke_fmi_binary* b = f->from->binary;
  return f->from->job.fmi == 2 ? (int)b->f2.FreeFMUstate(f->c, state)
                               : (int)b->f3.FreeFMUState(f->c, state);
}

// The state as bytes, malloc'ed.
static inline unsigned char* fmu_write_state(fmu_instance* f, void* state, size_t* size) {
  const yoke_fmi_binary* b = f->from->binary;
  const bool is_2 = f->from->job.fmi == 2;
  assert_int_equal(is_2 ? (int)b->f2.SerializedFMUstateSize(f->c, state, size)
                        : (int)b->f3.SerializedFMUStateSize(f->c, state, size),
                   FMU_OK);
  unsigned char* bytes = malloc(*size);
  assert_non_null(bytes);
  assert_int_equal(is_2 ? (int)b->f2.SerializeFMUstate(f->c, state, (char*)bytes, *size)
                        : (int)b->f3.SerializeFMUState(f->c, state, bytes, *size),
                   FMU_OK);
  return bytes;
}

static inline int fmu_read_state(fmu_instance* f, const unsigned char* bytes, size_t size,
                                 void** state) {
  const yoke_fmi_binary* b = f->from->binary;
  return f->from->job.fmi == 2
             ? (int)b->f2.DeSerializeFMUstate(f->c, (const char*)bytes, size, state)
             : (int)b->f3.DeserializeFMUState(f->c, bytes, size, state);
}

#endif
