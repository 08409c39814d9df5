// What the tests of the public interface share: simulations from text, variables by name, a unit whose values change by
// themselves at a given time.
#ifndef YOKE_TEST_API_HELPER_H
#define YOKE_TEST_API_HELPER_H

#include "support/check.h"
#include "support/heard.h"
#include "yoke/yoke.h"

// A mass on a spring that a partner pulls: v' = -k x - v + u + f, x' = v. From the time `at` on k2 and u2 count instead of k
// and u, as if they had been written then.
typedef struct plant {
  double f, u, x, v, k, at, k2, u2;
} plant;

#define PLANT(name_, causality_, flags_, start_)                                                   \
  {                                                                                                \
    .name = #name_, .causality = (causality_), .flags = (flags_), .start = (start_),               \
    .offset = offsetof(plant, name_)                                                               \
  }
static const yoke_variable plant_variables[] = {
    PLANT(f, YOKE_INPUT, YOKE_VARIABLE_HAS_START, 0),
    PLANT(u, YOKE_INPUT, YOKE_VARIABLE_HAS_START, 1),
    PLANT(x, YOKE_OUTPUT, YOKE_VARIABLE_HAS_START, 0),
    PLANT(v, YOKE_STATE, 0, 0),
    PLANT(k, YOKE_TUNABLE, 0, 10),
    PLANT(at, YOKE_PARAMETER, 0, 1e9),
    PLANT(k2, YOKE_PARAMETER, 0, 0),
    PLANT(u2, YOKE_PARAMETER, 0, 0),
};
#undef PLANT
static const yoke_unit_info plant_info = {.variables = plant_variables,
                                          .n_variables = 8,
                                          .flags = YOKE_UNIT_FLAT,
                                          .self_size = sizeof(plant)};

static yoke_status plant_step(void* self, double t, double h, yoke_step_result* result) {
  plant* p = self;
  (void)result;
  const bool is_later = t > p->at - 1e-9;
  const double k = is_later ? p->k2 : p->k, u = is_later ? p->u2 : p->u;
  p->v += h * (-k * p->x - p->v + u + p->f);
  p->x += h * p->v;
  return YOKE_OK;
}

static yoke_status plant_refresh(void* self, double t) {
  (void)self;
  (void)t;
  return YOKE_OK;
}

static const yoke_unit_ops plant_ops = {YOKE_UNIT_HEAD, .name = "plant", .info = &plant_info,
                                        .step = plant_step, .refresh = plant_refresh};

// Two of them that pull each other; %s: further keys, settings of a, settings of b.
#define TWO_PLANTS                                                                                 \
  "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.01}\n%sunits:\n  a: {model: "         \
  "plant%s}\n"                                                                                     \
  "  b: {model: plant, start: {x: 0.5}%s}\nconnections: [a.x -> b.f, b.x -> a.f]\n"

static inline yoke_registry* api_registry(void) {
  yoke_registry* registry = NULL;
  check_ok(yoke_registry_create(&registry));
  check_ok(yoke_registry_add_unit(registry, &plant_ops, NULL));
  return registry;
}

// From text; the sink must outlive the simulation. The system is destroyed by api_close.
static inline yoke_simulation* api_open(const yoke_registry* registry, const yoke_sink* sink,
                                        const char* text) {
  HEAR(errors);
  const yoke_load_settings settings = {.registry = registry, .sink = &errors.sink};
  yoke_system* system = NULL;
  if (yoke_system_parse(text, strlen(text), "test.yaml", &settings, &system) < 0) {
    fail_msg("%s", errors.text);
  }
  yoke_simulation* simulation = NULL;
  check_ok(yoke_simulation_create(system, sink, &simulation));
  return simulation;
}

static inline void api_close(yoke_simulation** simulation) {
  // the handle that the caller of create keeps; NOLINTNEXTLINE(performance-no-int-to-ptr)
  yoke_system* system = (yoke_system*)(uintptr_t)yoke_simulation_system(*simulation);
  yoke_simulation_destroy(simulation);
  yoke_system_destroy(&system);
  assert_null(system);
}

static inline yoke_handle api_find(const yoke_simulation* simulation, const char* name) {
  yoke_handle handle;
  if (yoke_simulation_find(simulation, name, &handle) < 0) {
    fail_msg("there is no '%s'", name);
  }
  return handle;
}

static inline double api_read(const yoke_simulation* simulation, const char* name) {
  double value = (double)NAN;
  check_ok(yoke_simulation_read(simulation, api_find(simulation, name), &value));
  return value;
}

static inline void api_write(yoke_simulation* simulation, const char* name, double value) {
  check_ok(yoke_simulation_write(simulation, api_find(simulation, name), value));
}

#endif
