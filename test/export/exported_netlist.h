// A unit of a netlist, as an FMU of either version and native beside it: the same inputs, every variable compared bit by bit.
#ifndef YOKE_TEST_EXPORTED_NETLIST_H
#define YOKE_TEST_EXPORTED_NETLIST_H

#include <math.h>

#include "base/base_message.h"
#include "exported.h"

enum { N_STEPS = 150, SAVE_AT = 60, N_AGAIN = 30 };

// A netlist of scenarios/.
static inline const char* scenario_path(const char* name, char* to, size_t size) {
  const char* source = getenv("YOKE_SOURCE_DIR");
  if (source == NULL) {
    fail_msg("set YOKE_SOURCE_DIR");
  }
  snprintf(to, size, "%s/scenarios/%s", source, name);
  return to;
}

// -------------------------------------------------------------------------------------------------
// one netlist, exported and loaded

// what: `circuit` or `twin`; settings: of the unit beside it, with a comma in front
static inline void make_unit(exported* e, const char* what, const char* path, const char* settings,
                             double step) {
  char text[2048];
  const int n = snprintf(text, sizeof text,
                         "yoke: 1\ntime: {stop: 1, step: %.17g}\nunits:\n  u: {%s: '%s'%s}\n", step,
                         what, path, settings);
  yoke_scenario* scenario = NULL;
  if (yoke__scenario_read(text, (size_t)n, "system.yaml", NULL, 0, &e->messages, &scenario) < 0) {
    exported_fail(e, "the system is refused");
  }
  e->system = calloc(1, sizeof *e->system);
  assert_non_null(e->system);
  e->system->scenario = scenario;
  e->system->messages = &e->messages;
  if (yoke__system_make_units(e->system) < 0 || e->messages.n_errors > 0) {
    exported_fail(e, "the unit cannot be made");
  }
  const yoke_system_unit* unit = &e->system->units[0];
  e->unit = &unit->unit;
  e->job.ops = e->unit->ops;
  e->job.name = "unit";
  e->job.unit = e->unit;
  e->job.directory = e->system->scenario->directory;
  check_ok(yoke__export_arguments(unit->source, e->job.ops, &e->arena, &e->messages,
                                  &e->job.arguments, &e->job.n_arguments));
  check_ok(yoke__export_starts(unit->source, e->job.ops, &e->arena, &e->messages, &e->job.starts,
                               &e->job.n_starts));
  // notes about the netlist are none about the FMU
  yoke__messages_free(&e->messages);
}

static inline void write_fmu(exported* e) {
  YOKE_CATCH(err);
  check_ok(yoke__temp_create(&e->temp, &err.sink));
  const char* build = getenv("YOKE_BUILD_DIR");
  if (build == NULL) {
    fail_msg("set YOKE_BUILD_DIR to the folder with " YOKE_EXPORT_RUNTIME);
  }
  check_ok(
      yoke__export_find_runtime(build, &e->arena, &e->job.runtime, &e->job.sources, &err.sink));
  e->job.sources = NULL;
  snprintf(e->path, sizeof e->path, "%s/unit.fmu", yoke__temp_path(e->temp));
  if (yoke__export_fmu(&e->job, e->path, &err.sink) < 0) {
    fail_msg("FMI %d: %s", e->job.fmi, err.text);
  }
}

static inline void open_netlist(exported* e, const char* what, const char* path,
                                const char* settings, double step, int fmi) {
  YOKE_CATCH(err);
  char library[4096];
  *e = (exported){.job = {.fmi = fmi}};
  make_unit(e, what, path, settings, step);
  write_fmu(e);
  if (yoke__fmi_open(e->path, &e->messages, &e->package) < 0 ||
      yoke__fmi_unpack(e->package, &e->messages) < 0 || e->messages.n > 0) {
    exported_fail(e, "the FMU has faults");
  }
  const yoke_fmi_interface* co = &e->package->description->co_simulation;
  check_ok(yoke__fmi_binary_path(e->package, co, library, sizeof library));
  if (yoke__fmi_binary_open(library, co->model_identifier, fmi, YOKE_FMI_CS, &e->binary,
                            &err.sink) < 0) {
    fail_msg("FMI %d: %s", fmi, err.text);
  }
  yoke__fmi_resources_path(e->package, e->resources, sizeof e->resources);
  snprintf(e->uri, sizeof e->uri, "file://%s", e->resources);
}

// -------------------------------------------------------------------------------------------------
// native and FMU side by side

// Inputs that follow from k: small changes around their start.
static inline void set_inputs(const yoke_unit* unit, fmu_instance* f, int k) {
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    const yoke_variable* v = &unit->info->variables[i];
    if (v->causality == YOKE_INPUT) {
      const double value = v->start + (1.0 + 0.1 * fabs(v->start)) * sin(0.3 * k + (double)i);
      check_ok(yoke__unit_set(unit, i, &value, sizeof value));
      if (fmu_set(f, i, &value) != FMU_OK) {
        fail_msg("%s cannot be set: %s", v->name, f->log);
      }
    }
  }
}

// NaN is itself here, and -0 is not 0
static inline bool are_same_bits(double a, double b) {
  uint64_t bits[2];
  memcpy(&bits[0], &a, sizeof a);
  memcpy(&bits[1], &b, sizeof b);
  return bits[0] == bits[1];
}

// Every variable of the native unit, bit by bit; returns how many.
static inline size_t compare(const yoke_unit* unit, fmu_instance* f, const char* what, int k) {
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    double native = 0.0, other = 0.0;
    check_ok(yoke__unit_get(unit, i, &native, sizeof native));
    if (fmu_get(f, i, &other) != FMU_OK) {
      fail_msg("%s: %s cannot be read at step %d: %s", what, unit->info->variables[i].name, k,
               f->log);
    }
    if (!are_same_bits(native, other)) {
      fail_msg("%s: %s, FMI %d, step %d: native %.17g, FMU %.17g", what,
               unit->info->variables[i].name, f->from->job.fmi, k, native, other);
    }
  }
  return unit->info->n_variables;
}

static inline void run(const yoke_unit* unit, fmu_instance* f, const char* what, double h, int k,
                       int n, bool is_native_stepped) {
  for (int i = k; i < k + n; i++) {
    const double t = (double)i * h;
    yoke_step_result result = {.t_reached = t + h};
    set_inputs(unit, f, i);
    if (is_native_stepped && unit->ops->step(unit->self, t, h, &result) < 0) {
      fail_msg("%s: native step %d: %s", what, i, result.message == NULL ? "" : result.message);
    }
    if (fmu_step(f, t, h) != FMU_OK) {
      fail_msg("%s, FMI %d, step %d: %s", what, f->from->job.fmi, i, f->log);
    }
    if (is_native_stepped) {
      compare(unit, f, what, i);
    }
  }
}

static inline void start(const yoke_unit* unit, fmu_instance* f, const char* what) {
  YOKE_CATCH(err);
  if (unit != NULL && yoke__unit_enter_init(unit, 0.0, (double)INFINITY, &err.sink) < 0) {
    fail_msg("%s: %s", what, err.text);
  }
  if (fmu_enter(f, 0.0) != FMU_OK) {
    fail_msg("%s: %s", what, f->log);
  }
  if (unit != NULL) {
    set_inputs(unit, f, -1);
    check_ok(unit->ops->refresh(unit->self, 0.0));
    compare(unit, f, what, -1);
    check_ok(yoke__unit_exit_init(unit));
  }
  if (fmu_exit(f) != FMU_OK) {
    fail_msg("%s: %s", what, f->log);
  }
}

// Back to step SAVE_AT in the same instance and, by the bytes of the state, in another one.
static inline void repeat(fmu_instance* f, fmu_instance* other, const char* what, double h,
                          void* state) {
  const yoke_unit* unit = f->from->unit;
  size_t size = 0;
  unsigned char* bytes = fmu_write_state(f, state, &size);
  void* copy = NULL;
  assert_int_equal(fmu_read_state(other, bytes, size, &copy), FMU_OK);
  assert_int_equal(fmu_set_state(f, state), FMU_OK);
  assert_int_equal(fmu_set_state(other, copy), FMU_OK);
  assert_int_equal(fmu_free_state(other, &copy), FMU_OK);
  free(bytes);
  run(unit, other, what, h, SAVE_AT, N_AGAIN, false);
  run(unit, f, what, h, SAVE_AT, N_AGAIN, false);
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    double first = 0.0, second = 0.0;
    assert_int_equal(fmu_get(f, i, &first), FMU_OK);
    assert_int_equal(fmu_get(other, i, &second), FMU_OK);
    if (!are_same_bits(first, second)) {
      fail_msg("%s: %s differs after going back", what, unit->info->variables[i].name);
    }
  }
}

#endif
