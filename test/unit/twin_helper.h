// A twin driven by hand: opened from the text of a netlist, stepped with readings.
#ifndef YOKE_TEST_TWIN_HELPER_H
#define YOKE_TEST_TWIN_HELPER_H

#include "base/base_check.h"
#include "base/base_message.h"
#include "base/base_process.h"
#include "estimate/estimate_benchmarks.h"
#include "support/check.h"
#include "support/heard.h"
#include "unit/twin/unit_twin.h"
#include "unit/unit.h"
#include "unit/unit_file.h"

#define NOT_GIVEN ((double)NAN)

// The circuit of the specification: Q0 -> (n1) -R1- (n2) -R2- (n3) -R3- (air), capacities at n2 and n3.
static const char rc_netlist[] = "three resistors and two capacities\n"
                                 ".param r1=1 r2=2 r3=3 c1=0.1 c2=0.2\n"
                                 "heat_source Q0 n1 10 W\n"
                                 "thermal_resistance R1 n1 n2 {r1}\n"
                                 "thermal_resistance R2 n2 n3 {r2}\n"
                                 "thermal_resistance R3 n3 air {r3}\n"
                                 "heat_capacity C1 n2 {c1} T0=299\n"
                                 "heat_capacity C2 n3 {c2} T0=301\n"
                                 "temperature_source Tair air 300\n"
                                 ".output t(n1)\n.output t(n2)\n.output t(n3)\n.output i(R2) "
                                 "name=flow\n.end\n";

typedef struct subject {
  char path[256];
  yoke_unit_store* store;
  yoke_arena arena;
  yoke_unit unit;
  yoke_twin_settings settings;
  yoke_twin_sensor sensors[8];
  yoke_twin_unknown unknowns[8];
  char text[4096];  // what it had to say when it was made
  void (*before_open)(void);
} subject;

static inline subject* subject_new(void) {
  subject* s = calloc(1, sizeof *s);
  assert_non_null(s);
  s->settings = yoke__twin_settings_default();
  s->settings.sensors = s->sensors;
  s->settings.unknowns = s->unknowns;
  return s;
}

static inline void add_sensor(subject* s, const char* name, double sigma) {
  const size_t i = s->settings.n_sensors++;
  assert_true(i < YOKE_COUNT(s->sensors));
  s->sensors[i] = (yoke_twin_sensor){name, {"file.yaml", 10, (int)i + 1}, sigma};
}

static inline yoke_twin_unknown* add_unknown(subject* s, const char* name) {
  const size_t i = s->settings.n_unknowns++;
  assert_true(i < YOKE_COUNT(s->unknowns));
  const yoke_place place = {"file.yaml", 20, (int)i + 1};
  s->unknowns[i] = (yoke_twin_unknown){.name = name,
                                       .place = place,
                                       .as_place = place,
                                       .start = NOT_GIVEN,
                                       .sd = NOT_GIVEN,
                                       .walk = NOT_GIVEN,
                                       .lower = NOT_GIVEN,
                                       .upper = NOT_GIVEN};
  return &s->unknowns[i];
}

static inline yoke_status subject_try(subject* s, const char* netlist, double h,
                                      const yoke_argument* arguments, size_t n) {
  const char* folder = getenv("TMPDIR");
  snprintf(s->path, sizeof s->path, "%.200s/yoke_unit_twin_%d_%p.cir",
           folder == NULL ? "/tmp" : folder, yoke__process_id(), (void*)s);
  FILE* file = fopen(s->path, "w");
  assert_non_null(file);
  fputs(netlist, file);
  fclose(file);
  const yoke_unit_file_settings settings = {.kind = YOKE_KIND_TWIN,
                                            .path = s->path,
                                            .name = "twin",
                                            .place = {"file.yaml", 5, 11},
                                            .call_step = h,
                                            .twin = &s->settings};
  yoke_messages messages = {0};
  const yoke_unit_ops* ops = NULL;
  check_ok(yoke__unit_store_create(&s->store));
  if (s->before_open != NULL) {
    s->before_open();
  }
  yoke_status status = yoke__unit_store_open(s->store, &settings, &messages, &ops);
  yoke__messages_format(&messages, s->text, sizeof s->text);
  yoke__messages_free(&messages);
  if (status >= 0) {
    const yoke_unit_args args = {"twin", ".", arguments, n, ops->context};
    HEAR(told);
    status = yoke__unit_create(ops, &args, &s->arena, &s->unit, &told.sink);
    snprintf(s->text, sizeof s->text, "%.4000s", told.text);
  }
  return status;
}

static inline void subject_open(subject* s, const char* netlist, double h) {
  if (subject_try(s, netlist, h, NULL, 0) < 0) {
    fail_msg("%s", s->text);
  }
}

static inline void subject_free(subject* s) {
  yoke__unit_close(&s->unit);
  yoke__arena_free(&s->arena);
  yoke__unit_store_destroy(&s->store);
  remove(s->path);
  free(s);
}

static inline size_t subject_find(const subject* s, const char* name) {
  const size_t i = yoke__unit_find(&s->unit, name);
  if (i == (size_t)-1) {
    fail_msg("no variable '%s'", name);
  }
  return i;
}

static inline double subject_get(const subject* s, const char* name) {
  double value = 0;
  check_ok(yoke__unit_get(&s->unit, subject_find(s, name), &value, sizeof value));
  return value;
}

static inline int64_t subject_whole(const subject* s, const char* name) {
  int64_t value = 0;
  check_ok(yoke__unit_get(&s->unit, subject_find(s, name), &value, sizeof value));
  return value;
}

static inline void subject_set(const subject* s, const char* name, double value) {
  check_ok(yoke__unit_set(&s->unit, subject_find(s, name), &value, sizeof value));
}

static inline void subject_begin(subject* s, double t) {
  YOKE_CATCH(err);
  if (yoke__unit_enter_init(&s->unit, t, 1, &err.sink) < 0) {
    fail_msg("%s", err.text);
  }
  check_ok(s->unit.ops->refresh(s->unit.self, t));
  check_ok(yoke__unit_exit_init(&s->unit));
}

static inline void subject_step(subject* s, double t, double h, const double u[]) {
  yoke_step_result result = {.t_reached = t + h};
  if (u != NULL) {
    check_ok(yoke__unit_set_inputs(&s->unit, u));
  }
  const yoke_status status = s->unit.ops->step(s->unit.self, t, h, &result);
  if (status < 0) {
    fail_msg("at %g: %s", t, result.message == NULL ? yoke_status_text(status) : result.message);
  }
}

static inline yoke_unit_twin_figures subject_figures(const subject* s) {
  yoke_unit_twin_figures figures;
  assert_true(yoke__unit_twin_figures(s->unit.ops, s->unit.self, &figures));
  return figures;
}

// ---- the plant: the same circuit, exact for a constant heat

typedef struct rc_plant {
  double z[2], h, q0, r[3];
} rc_plant;

// z' = Fc z + Gc v by many small steps of the classical method of fourth order.
static inline void rc_rates(const rc_plant* p, const double z[2], double dz[2]) {
  const double down = (z[0] - z[1]) / p->r[1];
  dz[0] = (p->q0 - down) / rc_c[0];
  dz[1] = (down - (z[1] - 300) / p->r[2]) / rc_c[1];
}

static inline void rc_step(rc_plant* p) {
  double k[4][2], z[2];
  rc_rates(p, p->z, k[0]);
  for (int i = 1; i < 4; i++) {
    const double share = i == 3 ? 1 : 0.5;
    z[0] = p->z[0] + share * p->h * k[i - 1][0];
    z[1] = p->z[1] + share * p->h * k[i - 1][1];
    rc_rates(p, z, k[i]);
  }
  for (int i = 0; i < 2; i++) {
    p->z[i] += p->h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
  }
}

static inline rc_plant rc_start(double h) {
  return (rc_plant){{299, 301}, h, 10, {1, 2, 3}};
}

// Readings of T1, T2, T3 with noise.
static inline void rc_read(const rc_plant* p, double sigma, uint64_t* seed, double to[3]) {
  const double x[3] = {p->z[0] + p->r[0] * p->q0, p->z[0], p->z[1]};
  for (int i = 0; i < 3; i++) {
    to[i] = x[i] + sigma * random_normal(seed);
  }
}

#endif
