// Drives test FMUs by hand, without the importer: loads a binary, makes an instance, keeps what it logs.
#ifndef YOKE_TEST_FMUS_DRIVE_H
#define YOKE_TEST_FMUS_DRIVE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_message.h"
#include "fmi/fmi_binary.h"
#include "support/check.h"

#if defined(__x86_64__)
#define DRIVE_PLATFORM(version) ((version) == 3 ? "x86_64-linux" : "linux64")
#elif defined(__arm__)
#define DRIVE_PLATFORM(version) "aarch32-linux"
#else
#define DRIVE_PLATFORM(version) "aarch64-linux"
#endif

static inline const char* drive_folder(void) {
  const char* folder = getenv("YOKE_FMUS");
  if (folder == NULL) {
    fail_msg("YOKE_FMUS is not set");
  }
  return folder == NULL ? "" : folder;
}

// Path of the binary of an FMU in the build tree; identifier is the name, but for FMI 1.0.
static inline void drive_path(const char* name, int version, char* path, size_t size) {
  (void)snprintf(path, size, "%s/%s%d/binaries/%s/%s%s.so", drive_folder(), name, version,
                 DRIVE_PLATFORM(version), name, version == 1 ? "1" : "");
}

static inline yoke_fmi_binary* drive_load(const char* name, int version, unsigned parts) {
  char path[4096];
  char identifier[256];
  YOKE_CATCH(err);
  yoke_fmi_binary* binary = NULL;
  drive_path(name, version, path, sizeof path);
  (void)snprintf(identifier, sizeof identifier, "%s%s", name, version == 1 ? "1" : "");
  const yoke_status status =
      yoke__fmi_binary_open(path, identifier, version, parts, &binary, &err.sink);
  if (status < 0) {
    fail_msg("%s: %s", path, err.text);
  }
  return binary;
}

// One instance with its binary and what it said ("category: text" per line).
typedef struct drive {
  yoke_fmi_binary* binary;
  const yoke_fmi2* f2;
  const yoke_fmi3* f3;
  void* c;
  fmi2CallbackFunctions callbacks;
  char log[4096];
  int n_updates;  // intermediate updates
  double t_stop;  // early return is asked for at this time; 0: never
} drive;

static inline void drive_note(drive* d, const char* category, const char* text) {
  const size_t used = strlen(d->log);
  (void)snprintf(d->log + used, sizeof d->log - used, "%s: %s\n",
                 category == NULL ? "(null)" : category, text);
}

// ---- FMI 2.0
static inline void drive_log2(fmi2ComponentEnvironment environment, fmi2String name,
                              fmi2Status status, fmi2String category, fmi2String message, ...) {
  char text[1024] = "";
  va_list args;
  (void)name, (void)status;
  va_start(args, message);
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#endif
  (void)vsnprintf(text, sizeof text, message, args);
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
  va_end(args);
  drive_note(environment, category, text);
}

// Loads and instantiates; guid NULL: the right one. c is NULL if the FMU refused.
static inline void drive_make2(drive* d, const char* name, const char* instance, const char* guid,
                               fmi2Type type) {
  char token[128];
  char location[4200];
  *d = (drive){.binary = drive_load(name, 2, type == fmi2CoSimulation ? YOKE_FMI_CS : YOKE_FMI_ME)};
  d->f2 = &d->binary->f2;
  d->callbacks = (fmi2CallbackFunctions){drive_log2, calloc, free, NULL, d};
  (void)snprintf(token, sizeof token, "yoke-test-%s", name);
  (void)snprintf(location, sizeof location, "file://%s/%s2/resources", drive_folder(), name);
  d->c = d->f2->Instantiate(instance, type, guid == NULL ? token : guid, location, &d->callbacks,
                            fmi2False, fmi2True);
}

static inline void drive_init2(drive* d, double t_start) {
  assert_int_equal(d->f2->SetupExperiment(d->c, fmi2False, 0.0, t_start, fmi2False, 0.0), fmi2OK);
  assert_int_equal(d->f2->EnterInitializationMode(d->c), fmi2OK);
  assert_int_equal(d->f2->ExitInitializationMode(d->c), fmi2OK);
}

static inline double drive_real2(drive* d, fmi2ValueReference reference) {
  double value = 0.0;
  assert_int_equal(d->f2->GetReal(d->c, &reference, 1, &value), fmi2OK);
  return value;
}

static inline void drive_set2(drive* d, fmi2ValueReference reference, double value) {
  assert_int_equal(d->f2->SetReal(d->c, &reference, 1, &value), fmi2OK);
}

// ---- FMI 3.0
static inline void drive_log3(fmi3InstanceEnvironment environment, fmi3Status status,
                              fmi3String category, fmi3String message) {
  (void)status;
  drive_note(environment, category, message);
}

static inline void drive_update3(fmi3InstanceEnvironment environment, fmi3Float64 time,
                                 fmi3Boolean is_set_wanted, fmi3Boolean is_get_allowed,
                                 fmi3Boolean is_internal_step_finished,
                                 fmi3Boolean is_early_return_possible,
                                 fmi3Boolean* is_early_return_wanted,
                                 fmi3Float64* early_return_time) {
  drive* d = environment;
  (void)is_set_wanted, (void)is_get_allowed, (void)is_internal_step_finished;
  d->n_updates++;
  *is_early_return_wanted = is_early_return_possible && d->t_stop > 0.0 && time >= d->t_stop;
  *early_return_time = time;
}

typedef enum drive_way { DRIVE_PLAIN, DRIVE_EVENTS, DRIVE_EARLY } drive_way;

static inline void drive_make3(drive* d, const char* name, const char* instance, const char* token,
                               drive_way way) {
  char right[128];
  char path[4200];
  *d = (drive){.binary = drive_load(name, 3, YOKE_FMI_CS)};
  d->f3 = &d->binary->f3;
  (void)snprintf(right, sizeof right, "yoke-test-%s", name);
  (void)snprintf(path, sizeof path, "%s/%s3/resources/", drive_folder(), name);
  d->c = d->f3->InstantiateCoSimulation(instance, token == NULL ? right : token, path, false, true,
                                        way != DRIVE_PLAIN, way == DRIVE_EARLY, NULL, 0, d,
                                        drive_log3, drive_update3);
}

static inline void drive_make_me3(drive* d, const char* name) {
  char right[128];
  *d = (drive){.binary = drive_load(name, 3, YOKE_FMI_ME)};
  d->f3 = &d->binary->f3;
  (void)snprintf(right, sizeof right, "yoke-test-%s", name);
  d->c = d->f3->InstantiateModelExchange(name, right, NULL, false, true, d, drive_log3);
}

static inline void drive_init3(drive* d, double t_start) {
  assert_int_equal(d->f3->EnterInitializationMode(d->c, false, 0.0, t_start, false, 0.0), fmi3OK);
  assert_int_equal(d->f3->ExitInitializationMode(d->c), fmi3OK);
}

static inline double drive_real3(drive* d, fmi3ValueReference reference) {
  double value = 0.0;
  assert_int_equal(d->f3->GetFloat64(d->c, &reference, 1, &value, 1), fmi3OK);
  return value;
}

static inline void drive_set3(drive* d, fmi3ValueReference reference, double value) {
  assert_int_equal(d->f3->SetFloat64(d->c, &reference, 1, &value, 1), fmi3OK);
}

static inline int32_t drive_int3(drive* d, fmi3ValueReference reference) {
  int32_t value = 0;
  assert_int_equal(d->f3->GetInt32(d->c, &reference, 1, &value, 1), fmi3OK);
  return value;
}

typedef struct drive_step {
  fmi3Boolean is_event, is_end, is_early;
  double t;
} drive_step;

static inline fmi3Status drive_step3(drive* d, double t, double h, drive_step* result) {
  return d->f3->DoStep(d->c, t, h, true, &result->is_event, &result->is_end, &result->is_early,
                       &result->t);
}

typedef struct drive_event {
  fmi3Boolean is_again, is_end, have_nominals_changed, have_states_changed, has_next;
  double t_next;
} drive_event;

static inline drive_event drive_event3(drive* d) {
  drive_event e;
  assert_int_equal(d->f3->UpdateDiscreteStates(d->c, &e.is_again, &e.is_end,
                                               &e.have_nominals_changed, &e.have_states_changed,
                                               &e.has_next, &e.t_next),
                   fmi3OK);
  return e;
}

// Ends the instance; a run that was initialised is terminated first.
static inline void drive_end(drive* d, bool is_running) {
  if (d->f2 != NULL) {
    if (is_running) {
      assert_int_equal(d->f2->Terminate(d->c), fmi2OK);
    }
    d->f2->FreeInstance(d->c);
  } else {
    if (is_running) {
      assert_int_equal(d->f3->Terminate(d->c), fmi3OK);
    }
    d->f3->FreeInstance(d->c);
  }
  yoke__fmi_binary_close(&d->binary);
}

#endif
