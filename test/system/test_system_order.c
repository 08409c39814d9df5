// Who is evaluated before whom: the order of initialisation and of Gauss-Seidel, what exchange refreshes, closed loops.
#include "system/system_fixture.h"

// ---- a unit with two paths that do not touch each other: y1 <- u1, y2 <- u2

typedef struct twin_path {
  double u1, u2, y1, y2;
} twin_path;

#define REAL(member_, causality_)                                                                  \
  {                                                                                                \
    .name = #member_, .type = YOKE_REAL, .causality = (causality_),                                \
    .offset = offsetof(twin_path, member_)                                                         \
  }

static const yoke_variable twin_variables[] = {REAL(u1, YOKE_INPUT), REAL(u2, YOKE_INPUT),
                                               REAL(y1, YOKE_OUTPUT), REAL(y2, YOKE_OUTPUT)};
static const yoke_feedthrough twin_feedthrough[] = {{2, 0}, {3, 1}};
static const yoke_unit_info twin_info = {.variables = twin_variables,
                                         .n_variables = COUNT(twin_variables),
                                         .feedthrough = twin_feedthrough,
                                         .n_feedthrough = COUNT(twin_feedthrough),
                                         .flags = YOKE_UNIT_FLAT | YOKE_UNIT_ALGEBRAIC,
                                         .self_size = sizeof(twin_path)};

static yoke_status twin_refresh(void* self, double t) {
  (void)t;
  twin_path* p = self;
  p->y1 = p->u1;
  p->y2 = p->u2;
  return YOKE_OK;
}

static yoke_status twin_step(void* self, double t, double h, yoke_step_result* result) {
  (void)h;
  (void)result;
  return twin_refresh(self, t);
}

static const yoke_unit_ops twin_ops = {YOKE_UNIT_HEAD, .name = "twin", .info = &twin_info,
                                       .step = twin_step, .refresh = twin_refresh};

// ---- order

// a chain listed backwards starts right without a step: 3 * 2 * 2 * 2
static void test_chain_listed_backwards(void** state) {
  (void)state;
  sim s = sim_open(
      HEAD "units: {d: {model: gain, with: {k: 2}}, c: {model: gain, with: {k: 2}},\n"
           "        b: {model: gain, with: {k: 2}}, a: {model: constant, with: {value: 3}}}\n"
           "connections: [c.y -> d.u, b.y -> c.u, a.y -> b.u]\n");
  const yoke_system* system = s.system;
  static const char* const want[] = {"a", "b", "c", "d"};
  for (size_t i = 0; i < COUNT(want); i++) {
    assert_string_equal(system->units[system->init_order[i]].name, want[i]);
    assert_string_equal(system->units[system->gs_order[i]].name, want[i]);
  }
  assert_int_equal(system->n_loops, 0);
  check_near(sim_read(&s, "d.y"), 24, 0);
  sim_close(&s);
}

// units without feedthrough keep the order of the file and come first; a given order is kept as it is
static void test_file_order_and_given_order(void** state) {
  (void)state;
  static const char text[] = HEAD
      "scheme: gauss-seidel\n%s"
      "units: {g: {model: gain}, z: {model: integrator}, a: {model: constant}, m: {model: sine}}\n"
      "connections: [z.y -> g.u, g.y -> z.u]\n";
  static const char* const proposed[] = {"z", "a", "m", "g"};
  static const char* const given[] = {"m", "g", "z", "a"};
  for (int is_given = 0; is_given < 2; is_given++) {
    char filled[512];
    snprintf(filled, sizeof filled, text, is_given ? "order: [m, g, z, a]\n" : "");
    sim s = sim_open("%s", filled);
    assert_int_equal(s.system->n_gs, 4);
    assert_int_equal(s.system->is_gs_order_given, is_given);
    for (size_t i = 0; i < 4; i++) {
      assert_string_equal(s.system->units[s.system->gs_order[i]].name,
                          is_given ? given[i] : proposed[i]);
    }
    sim_close(&s);
  }
}

static uint32_t next_random(uint32_t* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

// One random system of n sums without loops: sum r adds a constant and two sums of lower rank. The ranks are shuffled
// over the file. names[i]: rank of the i-th unit.
static void write_random_system(uint32_t* seed, size_t n, size_t rank[], char* to, size_t size) {
  size_t used =
      (size_t)snprintf(to, size, HEAD "units:\n  one: {model: constant, with: {value: 1}}\n");
  for (size_t i = 0; i < n; i++) {
    rank[i] = i;
  }
  for (size_t i = n - 1; i > 0; i--) {
    const size_t j = next_random(seed) % (i + 1), other = rank[i];
    rank[i] = rank[j];
    rank[j] = other;
  }
  for (size_t i = 0; i < n; i++) {
    used +=
        (size_t)snprintf(to + used, size - used, "  r%zu: {model: sum, with: {n: 3}}\n", rank[i]);
  }
  used += (size_t)snprintf(to + used, size - used, "connections:\n");
  for (size_t i = 0; i < n; i++) {
    const size_t r = rank[i];
    used += (size_t)snprintf(to + used, size - used, "  - one.y -> r%zu.u1\n", r);
    for (size_t k = 2; k <= 3; k++) {
      if (r == 0) {
        used += (size_t)snprintf(to + used, size - used, "  - one.y -> r0.u%zu\n", k);
      } else {
        used += (size_t)snprintf(to + used, size - used, "  - r%zu.y -> r%zu.u%zu\n",
                                 next_random(seed) % r, r, k);
      }
    }
  }
  assert_true(used < size);
}

// whatever the file's order is: sources stand before sinks, there is no loop, and the start values fit each other
static void test_random_systems(void** state) {
  (void)state;
  enum { N = 40 };
  static char text[1 << 14];
  uint32_t seed = 2026;
  for (int trial = 0; trial < 25; trial++) {
    size_t rank[N], position[N + 1];
    write_random_system(&seed, N, rank, text, sizeof text);
    sim s = sim_open("%s", text);
    const yoke_system* system = s.system;
    assert_int_equal(system->n_loops, 0);
    for (size_t i = 0; i < system->n_units; i++) {
      position[system->init_order[i]] = i;
    }
    for (size_t i = 0; i < system->n_links; i++) {
      const yoke_system_link* link = &system->links[i];
      if (position[link->from_unit] >= position[link->to_unit]) {
        fail_msg("trial %d: %s comes after %s", trial, system->units[link->from_unit].name,
                 system->units[link->to_unit].name);
      }
      // integers are added: exact
      const yoke_system_unit* to = &system->units[link->to_unit];
      const double* u = s.state->u + to->u;
      check_near(s.state->y[to->y], u[0] + u[1] + u[2], 0);
      check_near(u[to->unit.dense[link->to_variable]], s.state->y[system->units[link->from_unit].y],
                 0);
    }
    sim_close(&s);
  }
}

// ---- loops

// the loop with this variable in it; its members as a sorted set of texts is compared by name
static const yoke_system_loop* find_loop(const sim* s, const char* unit, const char* variable) {
  for (size_t i = 0; i < s->system->n_loops; i++) {
    const yoke_system_loop* loop = &s->system->loops[i];
    for (size_t j = 0; j < loop->n; j++) {
      const yoke_system_unit* u = &s->system->units[loop->variables[j].unit];
      if (strcmp(u->name, unit) == 0 &&
          strcmp(u->unit.info->variables[loop->variables[j].variable].name, variable) == 0) {
        return loop;
      }
    }
  }
  return NULL;
}

static void test_loops_found(void** state) {
  (void)state;
  sim s = sim_open(
      HEAD
      "units: {one: {model: constant, with: {value: 1}}, s: {model: sum, with: {signs: [1, "
      "0.5]}},\n"
      "        g: {model: gain}, self: {model: gain, with: {k: 0.5}}, tail: {model: gain}}\n"
      "connections: [one.y -> s.u1, g.y -> s.u2, s.y -> g.u, self.y -> self.u, g.y -> tail.u]\n");
  assert_int_equal(s.system->n_loops, 2);
  const yoke_system_loop* pair = find_loop(&s, "s", "y");
  const yoke_system_loop* own = find_loop(&s, "self", "y");
  assert_non_null(pair);
  assert_non_null(own);
  assert_int_equal(pair->n, 4);
  assert_int_equal(own->n, 2);
  assert_ptr_equal(find_loop(&s, "s", "u2"), pair);
  assert_ptr_equal(find_loop(&s, "g", "u"), pair);
  assert_ptr_equal(find_loop(&s, "g", "y"), pair);
  assert_ptr_equal(find_loop(&s, "self", "u"), own);

  // what only feeds a loop or hangs on it is no part of it
  assert_null(find_loop(&s, "s", "u1"));
  assert_null(find_loop(&s, "one", "y"));
  assert_null(find_loop(&s, "tail", "y"));

  // y = 1 + y / 2; iteration stops at a relative change of 1e-12 and halves the error in each pass
  check_near(sim_read(&s, "s.y"), 2, 4e-12);
  check_near(sim_read(&s, "tail.y"), 2, 4e-12);
  check_near(sim_read(&s, "self.y"), 0, 0);
  sim_close(&s);
}

// a state, or paths that do not touch each other: nothing closes
static void test_no_loop(void** state) {
  (void)state;
  static const char* const texts[] = {
      "units: {i: {model: integrator}, g: {model: gain}}\n"
      "connections: [i.y -> g.u, g.y -> i.u]\n",
      "units: {t: {model: twin}, g: {model: gain}, c: {model: constant}}\n"
      "connections: [c.y -> t.u1, t.y1 -> g.u, g.y -> t.u2]\n",
  };
  static const yoke_unit_ops* const own[] = {&twin_ops};
  yoke_registry* models = fixture_models(own, COUNT(own));
  for (size_t i = 0; i < COUNT(texts); i++) {
    char text[512];
    snprintf(text, sizeof text, "%s%s", HEAD, texts[i]);
    sim s = fixture_open(models, text);
    if (s.system->n_loops != 0) {
      fail_msg("a loop was found in:\n%s", text);
    }
    sim_close(&s);
  }
  yoke_registry_destroy(&models);
}

// a delayed signal has its own start value before the start, so it closes a loop there; later it does not
static void test_delay_opens_a_loop(void** state) {
  (void)state;
  sim s = sim_open(
      HEAD "exchange: fresh\n"
           "units: {ramp: {model: ramp, with: {slope: 1000}}, s: {model: sum}, g: {model: gain}}\n"
           "connections: [ramp.y -> s.u1, {from: g.y, to: s.u2, delay: 1e-3}, s.y -> g.u]\n");
  assert_int_equal(s.system->n_loops, 1);
  assert_non_null(find_loop(&s, "s", "u2"));

  // y_k = k + y_(k-1): the sum of the whole numbers up to k
  sim_steps(&s, 10);
  check_near(sim_read(&s, "g.y"), 55, 55e-12);
  sim_close(&s);
}

// x = a x + 1 by plain passes if |a| < 1, by the quasi-Newton method otherwise; none for a = 1
static void test_loop_values(void** state) {
  (void)state;
  static const double factors[] = {0.5, -0.9, 2, -3, 10, 0.999};
  for (size_t i = 0; i < COUNT(factors); i++) {
    sim s = sim_open(
        HEAD "units: {one: {model: constant, with: {value: 1}}, s: {model: sum, with: {signs: "
             "[1, %.17g]}}, g: {model: gain}}\n"
             "connections: [one.y -> s.u1, g.y -> s.u2, s.y -> g.u]\n",
        factors[i]);
    // the last change is below 1e-12 of the largest value seen, at most 1 + |a| or the solution; the error of x is that
    // over |1 - a|, and two more passes follow, each of which multiplies it by a
    const double a = fabs(factors[i]), want = 1 / (1 - factors[i]);
    const double largest = fmax(1 + a, fabs(want));
    check_near(sim_read(&s, "s.y"), want, fmax(1, a * a) * 1e-12 * largest / fabs(1 - factors[i]));
    sim_close(&s);
  }
  fixture_refuse(
      NULL,
      HEAD "units: {one: {model: constant, with: {value: 1}}, s: {model: sum}, g: {model: gain}}\n"
           "connections: [one.y -> s.u1, g.y -> s.u2, s.y -> g.u]\n",
      YOKE_NO_CONVERGENCE,
      (const char* const[]){"test.yaml:5:51: error: algebraic loop does not converge at the start: "
                            "s.y, g.u, g.y, s.u2",
                            NULL});
}

// ---- refresh

// laws listed backwards, a fresh unit between them: at every exchange all of them fit each other
static void test_refresh_order(void** state) {
  (void)state;
  sim s = sim_open(
      HEAD "units: {ramp: {model: ramp, with: {slope: 1000}}, f: {model: gain, with: {k: 2}, "
           "exchange: fresh},\n"
           "        old: {model: gain, with: {k: 2}}}\n"
           "laws: {last: {law: gain, with: {k: 3}}, first: {law: gain, with: {k: 5}}}\n"
           "connections: [f.y -> last.u, first.y -> f.u, ramp.y -> first.u, first.y -> old.u]\n");
  const yoke_system* system = s.system;
  assert_int_equal(system->n_refresh, 3);
  static const char* const want[] = {"first", "f", "last"};
  for (size_t i = 0; i < COUNT(want); i++) {
    assert_string_equal(system->units[system->refresh_order[i]].name, want[i]);
  }
  for (int k = 1; k <= 5; k++) {
    sim_steps(&s, 1);
    const double ramp = sim_read(&s, "ramp.y");
    check_near(ramp, k, 1e-12);
    check_near(sim_read(&s, "last.y"), 30 * ramp, 0);

    // a stale unit shows what it was given at the start of the step
    check_near(sim_read(&s, "old.y"), 10 * (k - 1), 1e-11);
  }
  sim_close(&s);
}

// a unit whose second path needs somebody who needs its first path is refreshed twice
static void test_refresh_twice(void** state) {
  (void)state;
  static const yoke_unit_ops* const own[] = {&twin_ops};
  yoke_registry* models = fixture_models(own, COUNT(own));
  sim s = fixture_open(models, HEAD "laws: {t: {law: twin}, g: {law: gain, with: {k: 7}}}\n"
                                    "units: {ramp: {model: ramp, with: {slope: 1000}}}\n"
                                    "connections: [ramp.y -> t.u1, t.y1 -> g.u, g.y -> t.u2]\n");
  assert_int_equal(s.system->n_refresh, 3);
  const size_t t = fixture_unit(&s, "t"), g = fixture_unit(&s, "g");
  assert_int_equal(s.system->refresh_order[0], t);
  assert_int_equal(s.system->refresh_order[1], g);
  assert_int_equal(s.system->refresh_order[2], t);
  for (int k = 1; k <= 3; k++) {
    sim_steps(&s, 1);
    check_near(sim_read(&s, "t.y2"), 7 * sim_read(&s, "ramp.y"), 0);
  }
  sim_close(&s);
  yoke_registry_destroy(&models);
}

static void test_loops_refused(void** state) {
  (void)state;
  refuse(NULL,
         HEAD
         "exchange: fresh\n"
         "units: {a: {model: gain}, b: {model: gain}}\nconnections: [a.y -> b.u, b.y -> a.u]\n",
         "test.yaml:6:9: error: algebraic loop that fresh exchange and laws cannot break: ", "a.u",
         "b.y");
  refuse(NULL,
         HEAD "laws: {a: {law: gain}, b: {law: gain}}\nunits: {c: {model: constant}}\n"
              "connections: [a.y -> b.u, b.y -> a.u]\n",
         "test.yaml:5:8: error: algebraic loop that fresh exchange and laws cannot break: ");

  // one stale unit in the ring is enough
  sim s = sim_open(HEAD "exchange: fresh\n"
                        "units: {a: {model: gain}, b: {model: gain, exchange: stale}}\n"
                        "connections: [a.y -> b.u, b.y -> a.u]\n");
  assert_int_equal(s.system->n_refresh, 1);
  sim_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_chain_listed_backwards),
      cmocka_unit_test(test_file_order_and_given_order),
      cmocka_unit_test(test_random_systems),
      cmocka_unit_test(test_loops_found),
      cmocka_unit_test(test_no_loop),
      cmocka_unit_test(test_delay_opens_a_loop),
      cmocka_unit_test(test_loop_values),
      cmocka_unit_test(test_refresh_order),
      cmocka_unit_test(test_refresh_twice),
      cmocka_unit_test(test_loops_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
