// The virtual test rig for tests: the core alone in a plain loop of the specification, and as a system.
#ifndef YOKE_TEST_RIG_HELPER_H
#define YOKE_TEST_RIG_HELPER_H

#include "models/rig/rig_client.h"
#include "models/rig/rig_core.h"
#include "support/check.h"
#include "support/sim.h"

// Settings of the prototype without noise: what the figures of the specification were computed with.
static inline yoke_rig_settings rig_quiet(void) {
  yoke_rig_settings s = yoke__rig_prototype();
  s.cell_noise = 0.0;
  return s;
}

// Both drives enabled, no link in between: command frames go straight to the core.
typedef struct rig_loop {
  yoke_rig rig;
  yoke_rig_client client;
  double H;
  int64_t k;
} rig_loop;

// One cycle with these demands, latency 0.
static inline void rig_cycle(rig_loop* loop, const yoke_rig_demand demands[2]) {
  yoke_datagram command, taken, report;
  uint8_t bytes[YOKE_DATAGRAM_MAX_SIZE];
  const yoke_rig_settings* s = &loop->rig.settings;
  const double t = (double)loop->k * loop->H;
  yoke__rig_client_command(&loop->client, s, demands, true, 0, &command);
  size_t n = yoke__datagram_write(&command, bytes, sizeof bytes);
  assert_true(yoke__rig_take(&loop->rig, bytes, n, &taken));
  yoke__rig_exchange(&loop->rig, &taken, t, yoke__rig_micro_steps(loop->H));
  yoke__rig_report(&loop->rig, 0, &report);
  n = yoke__datagram_write(&report, bytes, sizeof bytes);
  assert_true(yoke__rig_client_take(&loop->client, s, bytes, n));
  loop->k++;
}

// Starts and leads both drives to enabled with zero demands in these modes.
static inline void rig_enable(rig_loop* loop, const yoke_rig_settings* s, double H, int64_t mut,
                              int64_t lm) {
  const yoke_rig_demand rest[2] = {{.mode = mut}, {.mode = lm}};
  *loop = (rig_loop){.H = H};
  loop->rig.settings = *s;
  assert_null(yoke__rig_find_fault(s));
  yoke__rig_start(&loop->rig, 0.0);
  yoke__rig_client_start(&loop->client, s, 0.0);
  for (int i = 0; i < 3; i++) {
    rig_cycle(loop, rest);
  }
  assert_int_equal(yoke__rig_client_state(&loop->client, 0), YOKE_RIG_ENABLED);
  assert_int_equal(yoke__rig_client_state(&loop->client, 1), YOKE_RIG_ENABLED);
}

// A whole number or a state of the unit "rig", now.
static inline double rig_whole(const sim* s, const char* name) {
  for (size_t i = 0; i < s->system->n_units; i++) {
    const yoke_system_unit* unit = &s->system->units[i];
    if (strcmp(unit->name, "rig") == 0) {
      int64_t value = 0;
      const size_t index = yoke__unit_find(&unit->unit, name);
      assert_true(index != (size_t)-1);
      check_ok(yoke__unit_get(&unit->unit, index, &value, sizeof value));
      return (double)value;
    }
  }
  fail_msg("no unit 'rig'");
  return 0.0;
}

#endif
