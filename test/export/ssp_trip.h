// A system exported as SSP, read again and run beside the original. Failures end the test.
#ifndef YOKE_TEST_SSP_TRIP_H
#define YOKE_TEST_SSP_TRIP_H

#include "base/base_check.h"
#include "base/base_message.h"
#include "base/base_zip.h"
#include "export/export_fmu.h"
#include "export/export_ssp.h"
#include "support/check.h"
#include "support/sim.h"

enum { MAX_SLOTS = 300 };

// A system from a file, with its state if it is to be started.
static inline sim open_file(const char* path, bool is_started) {
  sim s = {0};
  char text[8192];
  yoke_messages messages = {0};
  yoke_scenario* scenario = NULL;
  yoke_status status = yoke__scenario_read_file(path, NULL, 0, &messages, &scenario);
  if (status >= 0) {
    status = yoke__system_build(scenario, NULL, &messages, &s.system);
  }
  if (status >= 0 && is_started) {
    status = yoke__master_create(s.system, &messages, &s.state);
  }
  yoke__messages_format(&messages, text, sizeof text);
  yoke__messages_free(&messages);
  if (status < 0 || s.system == NULL) {
    fail_msg("%s: status %d\n%s", path, (int)status, text);
    abort();
  }
  return s;
}

// Writes "trip.ssp" from a system file.
static inline yoke_status write_ssp(const char* path, int fmi, const char* to, char* text,
                                    size_t size) {
  sim s = open_file(path, false);
  yoke_arena arena = {0};
  yoke_messages messages = {0};
  YOKE_CATCH(err);
  const char* build = getenv("YOKE_BUILD_DIR");
  if (build == NULL) {
    fail_msg("set YOKE_BUILD_DIR to the folder with " YOKE_EXPORT_RUNTIME);
  }
  const yoke_unit** units = yoke__arena_array(&arena, s.system->n_units, sizeof(void*));
  assert_non_null(units);
  for (size_t i = 0; i < s.system->n_units; i++) {
    units[i] = &s.system->units[i].unit;
  }
  yoke_export_ssp_job job = {.scenario = s.system->scenario, .units = units, .fmi = fmi};
  check_ok(yoke__export_find_runtime(build, &arena, &job.runtime, &job.sources, &err.sink));
  job.sources = NULL;  // without them an export is quicker
  const yoke_status status = yoke__export_ssp(&job, to, &messages);
  yoke__messages_format(&messages, text, size);
  assert_true((status < 0) == (messages.n_errors > 0));
  yoke__messages_free(&messages);
  sim_close(&s);
  yoke__arena_free(&arena);
  return status;
}

// The largest difference of all real outputs over the run, relative to max(1, |y|).
static inline double run_both(sim* a, sim* b, size_t* n_compared) {
  double worst = 0;
  *n_compared = 0;
  const int64_t n = a->system->n_slots < MAX_SLOTS ? a->system->n_slots : MAX_SLOTS;
  assert_int_equal(a->system->n_slots, b->system->n_slots);
  for (int64_t k = 0; k <= n; k++) {
    for (size_t i = 0; i < a->system->n_columns; i++) {
      const yoke_system_column* column = &a->system->column_sources[i];
      if (column->source != YOKE_COLUMN_Y) {
        continue;
      }
      const double x = a->state->y[column->index];
      const double y = sim_read(b, a->system->columns[i].name);
      const double scale = fabs(x) > 1 ? fabs(x) : 1;
      const double off = fabs(x - y) / scale;
      worst = off > worst || off != off ? off : worst;
      ++*n_compared;
    }
    if (k < n) {
      const yoke_status left = yoke__master_slot(a->system, a->state);
      const yoke_status right = yoke__master_slot(b->system, b->state);
      assert_int_equal(left, right);
      if (left < 0) {
        break;
      }
    }
  }
  return worst;
}

// FMUs give no integrals of their outputs: a mean that a unit makes itself becomes a sample there, and that is not silent.
static inline bool has_integrals(const yoke_system* system) {
  for (size_t i = 0; i < system->n_units; i++) {
    if (system->units[i].n_integrals > 0) {
      return true;
    }
  }
  return false;
}

static inline size_t count_sampled(const yoke_system* system) {
  size_t n = 0;
  for (size_t i = 0; i < system->n_links; i++) {
    n += system->links[i].is_flow_sampled;
  }
  return n;
}

// A twin of a black box holds instances of another unit, which an FMU cannot: docs/export.md.
static inline bool has_black_twin(const yoke_system* system) {
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_scenario_unit* unit = system->units[i].source;
    if (unit->kind == YOKE_KIND_TWIN && unit->twin.box != YOKE_KIND_NONE) {
      return true;
    }
  }
  return false;
}

static inline void check_round_trip(const char* path, int fmi) {
  char text[8192];
  sim a = open_file(path, true);
  const yoke_status status = write_ssp(path, fmi, "trip.ssp", text, sizeof text);
  if (has_black_twin(a.system)) {
    assert_int_equal(status, YOKE_NO_SUPPORT);
    assert_non_null(strstr(text, "twins of netlists"));
    sim_close(&a);
    return;
  }
  if (status < 0) {
    fail_msg("%s: %s", path, text);
  }
  sim b = open_file("trip.ssp", true);
  assert_int_equal(a.system->n_units, b.system->n_units);
  assert_int_equal(a.system->n_laws, b.system->n_laws);
  assert_int_equal(a.system->n_bonds, b.system->n_bonds);
  size_t n = 0;
  const double worst = run_both(&a, &b, &n);
  const bool is_sampled = has_integrals(a.system) && count_sampled(b.system) > 0;
  if (!(worst <= 1e-12) && !is_sampled) {
    fail_msg("%s, FMI %d: off by %.3g in %zu values", path, fmi, worst, n);
  }
  print_message("%-70s FMI %d: %zu values, off by %.3g\n", strrchr(path, '/') + 1, fmi, n, worst);
  sim_close(&a);
  sim_close(&b);
}

#endif
