// A unit that does not return from the step at t = at; for tools/rig_campaign.
#include <stddef.h>
#include <unistd.h>

#include <yoke/registry.h>

typedef struct hang {
  double y;   // output: the time
  double at;  // [s]
} hang;

static const yoke_variable variables[] = {
    {.name = "y", .type = YOKE_REAL, .causality = YOKE_OUTPUT, .offset = offsetof(hang, y)},
    {.name = "at", .type = YOKE_REAL, .causality = YOKE_PARAMETER, .offset = offsetof(hang, at)},
};

static const yoke_unit_info info = {
    .variables = variables,
    .n_variables = sizeof variables / sizeof variables[0],
    .flags = YOKE_UNIT_FLAT,
    .self_size = sizeof(hang),
    .solver = {.method = YOKE_SOLVER_EXACT},
};

static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  hang* u = self;
  (void)result;
  while (t > u->at - 0.5 * h) {
    sleep(1);
  }
  u->y = t + h;
  return YOKE_OK;
}

static yoke_status refresh(void* self, double t) {
  (void)self;
  (void)t;
  return YOKE_OK;
}

static const yoke_unit_ops ops = {
    YOKE_UNIT_HEAD, .name = "hang", .text = "does not return from one of its steps",
    .info = &info,  .step = step,   .refresh = refresh,
};
static const yoke_unit_ops* const units[] = {&ops};
const yoke_library_table yoke_library = {YOKE_LIBRARY_HEAD, .text = "a unit that hangs",
                                         .units = units, .n_units = 1};
