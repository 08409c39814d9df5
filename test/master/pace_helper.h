// A clock that moves only when it is told to, and a unit that tells it: its steps take as long as a list says.
#ifndef YOKE_TEST_PACE_HELPER_H
#define YOKE_TEST_PACE_HELPER_H

#include "base/base_check.h"
#include "base/base_os.h"
#include "master/master_run.h"
#include "support/check.h"
#include "support/sim.h"
#include "yoke/registry.h"

typedef struct simulated_clock {
  _Atomic int64_t now;
  const int64_t* wake_late;  // per sleep; NULL: on time
  int64_t n_sleeps;
} simulated_clock;

static simulated_clock the_clock;

static int64_t simulated_now(void* self) {
  return ((simulated_clock*)self)->now;
}

static void simulated_sleep(void* self, int64_t time_ns) {
  simulated_clock* c = self;
  assert_true(time_ns > c->now);  // never asked to sleep when it is late
  c->now = time_ns + (c->wake_late == NULL ? 0 : c->wake_late[c->n_sleeps]);
  c->n_sleeps++;
}

// A unit that will come back is waited for, whatever the clock says; one that is held back by the test never comes in time.
static atomic_bool is_held_back;

static void simulated_await(void* self, _Atomic uint32_t* word, uint32_t value, int64_t time_ns) {
  simulated_clock* c = self;
  if (atomic_load(&is_held_back)) {
    c->now = time_ns > c->now ? time_ns : c->now;
    return;
  }
  while (atomic_load(word) == value) {
    yoke__os_futex_wait(word, value, 0);
  }
}

static const yoke_pace_clock simulated = {simulated_now, simulated_sleep, &the_clock,
                                          simulated_await};

// ---------------------------------------------------------------------------------------------------------
// The unit: y = u, n counts its steps; step `fails_at` fails. It takes the time of the trace, `machine` does not.

typedef struct busy {
  double u, y, n, t;
  int64_t fails_at, takes_time;
} busy;

static const int64_t* durations;  // per step; NULL: none
static int64_t n_durations;
static void (*at_step)(int64_t k);  // called in a step of a unit that takes time; NULL: nothing
static double inputs_seen[64];      // of those that take no time, in the order of their calls
static atomic_size_t n_inputs_seen;

#define BUSY_REAL(label, field, direction)                                                         \
  {                                                                                                \
    .name = (label), .dim = "1", .causality = (direction),                                         \
    .flags = (direction) == YOKE_INPUT ? YOKE_VARIABLE_HAS_START : 0,                              \
    .offset = offsetof(busy, field)                                                                \
  }
static const yoke_variable busy_variables[] = {
    BUSY_REAL("u", u, YOKE_INPUT),
    BUSY_REAL("y", y, YOKE_OUTPUT),
    BUSY_REAL("n", n, YOKE_OUTPUT),
    BUSY_REAL("t", t, YOKE_OUTPUT),
    {.name = "fails_at",
     .dim = "1",
     .type = YOKE_INTEGER,
     .causality = YOKE_PARAMETER,
     .start = -1,
     .offset = offsetof(busy, fails_at)},
    {.name = "takes_time",
     .dim = "1",
     .type = YOKE_INTEGER,
     .causality = YOKE_PARAMETER,
     .start = 1,
     .offset = offsetof(busy, takes_time)},
};

static yoke_status busy_step(void* self, double t, double h, yoke_step_result* result) {
  busy* b = self;
  (void)result;
  const int64_t k = (int64_t)b->n;
  if (b->takes_time != 0 && durations != NULL && k < n_durations) {
    the_clock.now += durations[k];
  }
  if (b->takes_time != 0 && at_step != NULL) {
    at_step(k);
  }
  const size_t place =
      b->takes_time == 0 ? atomic_fetch_add(&n_inputs_seen, 1) : YOKE_COUNT(inputs_seen);
  if (place < YOKE_COUNT(inputs_seen)) {
    inputs_seen[place] = b->u;
  }
  b->y = b->u;
  b->n += 1;
  b->t = t + h;
  return k == b->fails_at ? YOKE_UNIT_FAILED : YOKE_OK;
}

static const yoke_unit_info busy_info = {.variables = busy_variables,
                                         .n_variables = YOKE_COUNT(busy_variables),
                                         .flags = YOKE_UNIT_FLAT,
                                         .self_size = sizeof(busy)};
static const yoke_unit_info machine_info = {.variables = busy_variables,
                                            .n_variables = YOKE_COUNT(busy_variables),
                                            .flags = YOKE_UNIT_PHYSICAL,
                                            .self_size = sizeof(busy)};
static const yoke_unit_ops busy_ops = {YOKE_UNIT_HEAD, .name = "busy",
                                       .text = "takes as long as it is told", .info = &busy_info,
                                       .step = busy_step};
static const yoke_unit_ops machine_ops = {YOKE_UNIT_HEAD, .name = "machine",
                                          .text = "the same, as a real machine",
                                          .info = &machine_info, .step = busy_step};

// ---------------------------------------------------------------------------------------------------------

typedef struct paced {
  sim s;
  yoke_pace* pace;
  yoke_loop_info info;
  yoke_loop_settings settings;
} paced;

static void (*add_models)(yoke_registry* models);  // more than these two; NULL: none

static yoke_status paced_try(const char* text, paced* p, char* messages, size_t size) {
  yoke_registry* models = NULL;
  *p = (paced){0};
  check_ok(yoke_registry_create(&models));
  check_ok(yoke_registry_add_unit(models, &busy_ops, NULL));
  check_ok(yoke_registry_add_unit(models, &machine_ops, NULL));
  if (add_models != NULL) {
    add_models(models);
  }
  const yoke_status status = sim_try(models, text, &p->s, messages, size);
  yoke_registry_destroy(&models);
  return status;
}

static paced paced_open(const char* text) {
  static paced p;
  char messages[4096];
  if (paced_try(text, &p, messages, sizeof messages) < 0) {
    fail_msg("%s\n%s", messages, text);
  }
  the_clock = (simulated_clock){.now = INT64_C(123456789)};
  durations = NULL;
  at_step = NULL;
  n_inputs_seen = 0;
  p.pace = yoke__pace_create(p.s.system->n_units, p.s.system->n_y);
  assert_non_null(p.pace);
  p.settings.pace = p.pace;
  yoke__master_prepare_pace(p.s.system, p.s.system->scenario->pacing.factor, &simulated, p.pace);
  return p;
}

static inline yoke_status paced_run(paced* p) {
  return yoke__master_loop(p->s.system, p->s.state, &p->settings, &p->info);
}

static void paced_close(paced* p) {
  sim_close(&p->s);
  free(p->pace);
}

#endif
