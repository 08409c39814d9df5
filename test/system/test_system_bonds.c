// Bonds: those that dimensions show, those that the file names, and the factor mu of both (CS-10 from system texts).
#include "system/port_units.h"

PORT(force, "m/s", "N", 0, 0);
PORT(speed, "N", "m/s", 0, 0);
PORT(torque, "rad/s", "N.m", 0, 0);
PORT(spin, "N.m", "rad/s", 0, 0);
PORT(stiff, "rad/s", "N.m/rad", 0, 0);
PORT(work, "1/s", "J", 0, 0);
PORT(beat, "J", "1/s", 0, 0);
PORT(volt, "A", "V", 0, 0);
PORT(ampere, "V", "A", 0, 0);
PORT(volt_df, "A", "V", 0, 3);
PORT(ampere_df, "V", "A", 0, 3);
PORT(pressure, "m3/s", "Pa", 0, 0);
PORT(flow, "Pa", "m3/s", 0, 0);
PORT(heat, "K", "W", 0, 0);
PORT(warm, "W", "K", 0, 0);
PORT(celsius, "W", "degC", 0, 0);
PORT(kilonewton, "mm/s", "kN", 0, 0);
PORT(millimetre, "kN", "mm/s", 0, 0);
PORT(revolution, "N.m", "rpm", 0, 0);
PORT(nothing, "", "", 0, 0);
PORT(force_df, "m/s", "N", 0, 3);
PORT(speed_df, "N", "m/s", 0, 3);
PORT(force_implicit, "m/s", "N", YOKE_UNIT_IMPLICIT, 0);

static const yoke_unit_ops* const own[] = {
    &force,      &speed,   &torque,   &spin,     &stiff,         &work,
    &beat,       &volt,    &ampere,   &volt_df,  &ampere_df,     &pressure,
    &flow,       &heat,    &warm,     &celsius,  &kilonewton,    &millimetre,
    &revolution, &nothing, &force_df, &speed_df, &force_implicit};

static int make_models(void** state) {
  *state = fixture_models(own, COUNT(own));
  return 0;
}

static int free_models(void** state) {
  yoke_registry* models = *state;
  yoke_registry_destroy(&models);
  return 0;
}

// two units a and b with these models, and what follows
static sim open_pair(const yoke_registry* models, const char* a, const char* b, const char* rest) {
  char text[2048];
  snprintf(text, sizeof text, HEAD "units: {a: {model: %s}, b: {model: %s}}\n%s", a, b, rest);
  return fixture_open(models, text);
}

// ---- found from dimensions

static void test_every_domain(void** state) {
  static const struct {
    const char *a, *b;
    bool is_found;
    yoke_bond_kind kind;
    const char *action, *rate;  // more of the connections
  } pairs[] = {
      {"my.force", "my.speed", true, YOKE_BOND_POWER, "", ""},
      {"my.torque", "my.spin", true, YOKE_BOND_POWER, "", ""},
      {"my.stiff", "my.spin", true, YOKE_BOND_POWER, "", ""},  // N.m/rad is a torque as well
      {"my.volt", "my.ampere", true, YOKE_BOND_POWER, "", ""},
      {"my.pressure", "my.flow", true, YOKE_BOND_POWER, "", ""},
      {"my.heat", "my.warm", true, YOKE_BOND_HEAT, "", ""},
      {"my.kilonewton", "my.millimetre", true, YOKE_BOND_POWER, "", ""},
      {"my.force", "my.millimetre", true, YOKE_BOND_POWER, ", gain: 1e-3", ", gain: 1e-3"},
      {"my.kilonewton", "my.speed", true, YOKE_BOND_POWER, ", gain: 1e3", ", gain: 1e3"},
      // a change of units one way only is no gear
      {"my.torque", "my.revolution", true, YOKE_BOND_POWER, "", ", gain: 0.10471975511965977"},
      {"my.heat", "my.celsius", true, YOKE_BOND_HEAT, "", ", offset: 273.15"},
      {"my.work", "my.beat", false, YOKE_BOND_POWER, "", ""},  // an energy per count is no torque
      {"my.nothing", "my.nothing", false, YOKE_BOND_POWER, "", ""},
  };
  for (size_t i = 0; i < COUNT(pairs); i++) {
    // whichever connection comes first
    for (int is_turned = 0; is_turned < 2; is_turned++) {
      char action[128], rate[128], text[512];
      snprintf(action, sizeof action, "{from: a.y1, to: b.u1%s}", pairs[i].action);
      snprintf(rate, sizeof rate, "{from: b.y1, to: a.u1%s}", pairs[i].rate);
      snprintf(text, sizeof text, "connections: [%s, %s]\n", is_turned ? rate : action,
               is_turned ? action : rate);
      sim s = open_pair(*state, pairs[i].a, pairs[i].b, text);
      if (s.system->n_bonds != pairs[i].is_found) {
        fail_msg("%s and %s: %zu bonds", pairs[i].a, pairs[i].b, s.system->n_bonds);
      }
      if (pairs[i].is_found) {
        const yoke_system_bond* bond = &s.system->bonds[0];
        assert_string_equal(bond->name, "a-b");  // the unit of the action first
        assert_int_equal(bond->n, 1);
        assert_int_equal(bond->ledger.kind, pairs[i].kind);
        assert_int_equal(bond->action_unit, 0);
        assert_int_equal(bond->rate_unit, 1);
        assert_true(bond->ledger.has_ter);
      }
      assert_int_equal(s.system->n_hints, 0);
      sim_close(&s);
    }
  }
}

// one way alone is no bond, nor are two connections of a ring through three units
static void test_no_bond(void** state) {
  sim s = open_pair(*state, "my.force", "my.speed", "connections: [a.y1 -> b.u1]\n");
  assert_int_equal(s.system->n_bonds, 0);
  assert_null(s.state->ledger);
  sim_close(&s);
  s = fixture_open(*state, HEAD
                   "units: {a: {model: my.force}, b: {model: my.speed}, c: {model: my.speed}}\n"
                   "connections: [a.y1 -> b.u1, c.y1 -> a.u1]\n");
  assert_int_equal(s.system->n_bonds, 0);
  assert_int_equal(s.system->n_hints, 0);
  sim_close(&s);
}

// equally many both ways are one vector bond, paired in the order of the file
static void test_vector_by_order(void** state) {
  sim s = open_pair(*state, "my.force", "my.speed",
                    "connections: [a.y2 -> b.u3, b.y1 -> a.u2, a.y1 -> b.u1, b.y3 -> a.u1]\n");
  assert_int_equal(s.system->n_bonds, 1);
  const yoke_system_bond* bond = &s.system->bonds[0];
  assert_int_equal(bond->n, 2);
  const size_t a = s.system->units[0].y, b = s.system->units[1].y;
  assert_int_equal(bond->ledger.action[0], a + 1);
  assert_int_equal(bond->ledger.rate[0], b + 0);
  assert_int_equal(bond->ledger.action[1], a + 0);
  assert_int_equal(bond->ledger.rate[1], b + 2);
  sim_close(&s);

  // arrays are vectors from the start
  s = sim_open(HEAD "units: {one: {model: pendulum.force}, two: {model: pendulum.mass}}\n"
                    "connections: [two.tip -> one.tip_other, two.vtip -> one.vtip_other, one.F -> "
                    "two.F]\n");
  assert_int_equal(s.system->n_bonds, 1);
  assert_string_equal(s.system->bonds[0].name, "one-two");
  assert_int_equal(s.system->bonds[0].n, 2);
  sim_close(&s);
}

static void check_hint(const yoke_registry* models, const char* rest, const char* hint) {
  sim s = open_pair(models, "my.force", "my.speed", rest);
  if (s.system->n_bonds != 0 || s.system->n_hints != 1) {
    fail_msg("%zu bonds and %zu hints for\n%s", s.system->n_bonds, s.system->n_hints, rest);
  }
  assert_string_equal(s.system->hints[0], hint);
  sim_close(&s);
}

// what does not pair up is not guessed, but `yoke check` says so
static void test_ambiguous(void** state) {
  check_hint(*state, "connections: [a.y1 -> b.u1, a.y2 -> b.u2, b.y1 -> a.u1]\n",
             "a and b exchange 2 signals in N and 1 in m/s: write in `bonds` which of them belong "
             "together");
  check_hint(*state,
             "connections: [{from: a.y1, to: b.u1, gain: 2}, {from: b.y1, to: a.u1, gain: 3}]\n",
             "a and b exchange 1 signals in N and 1 in m/s: write in `bonds` which of them belong "
             "together");
  check_hint(*state, "connections: [{from: a.y1, to: b.u1, offset: 2}, b.y1 -> a.u1]\n",
             "a and b exchange 1 signals in N and 1 in m/s: write in `bonds` which of them belong "
             "together");

  // a bond of the file takes its own out, and the rest is clear
  sim s = open_pair(*state, "my.force", "my.speed",
                    "connections: [a.y1 -> b.u1, a.y2 -> b.u2, b.y1 -> a.u1]\n"
                    "bonds: {mine: {action: a.y2, rate: b.y1}}\n");
  assert_int_equal(s.system->n_bonds, 1);
  assert_string_equal(s.system->bonds[0].name, "mine");
  assert_int_equal(s.system->n_hints, 0);
  sim_close(&s);
}

static void test_refused_by_the_file(void** state) {
  static const char links[] = "connections: [a.y1 -> b.u1, b.y1 -> a.u1]\n";
  char text[512];
  snprintf(text, sizeof text, "%sbonds: {a-b: false}\n", links);
  sim s = open_pair(*state, "my.force", "my.speed", text);
  assert_int_equal(s.system->n_bonds, 0);
  sim_close(&s);
  snprintf(text, sizeof text, "%squality: {find: false}\n", links);
  s = open_pair(*state, "my.force", "my.speed", text);
  assert_int_equal(s.system->n_bonds, 0);
  sim_close(&s);
  // another name refuses nothing, and a warning says so
  char messages[1024] = "";
  snprintf(text, sizeof text,
           HEAD "units: {a: {model: my.force}, b: {model: my.speed}}\n%sbonds: {b-a: false}\n",
           links);
  check_ok(sim_try(*state, text, &s, messages, sizeof messages));
  assert_int_equal(s.system->n_bonds, 1);
  check_contains(messages, "warning: bond 'b-a' is refused, but none of that name is found");
  sim_close(&s);
  // the file's own bonds stay without finding
  snprintf(text, sizeof text, "%squality: {find: false}\nbonds: {x: {action: a.y1, rate: b.y1}}\n",
           links);
  s = open_pair(*state, "my.force", "my.speed", text);
  assert_int_equal(s.system->n_bonds, 1);
  assert_string_equal(s.system->bonds[0].name, "x");
  sim_close(&s);
}

// a method without connections is a slip of the user's, and a range is said in words
static void test_coupling_without_work(void** state) {
  static const char head[] = HEAD "units: {a: {model: my.force}, b: {model: my.speed}}\n"
                                  "connections: [a.y1 -> b.u1, b.y1 -> a.u1]\ncouplings: ";
  static const struct {
    const char *couplings, *message;
    bool is_good;
  } cases[] = {
      {"{x: {method: nepce, members: [a, b]}}\n", "", true},
      {"{x: {method: nepce, members: [a]}}\n", "warning: coupling 'x' has no effect", true},
      {"{x: {method: hold, members: [b]}}\n", "warning: coupling 'x' has no effect", true},
      {"{x: {method: nepce, members: [a, b]}, z: {method: nepce, members: [a, b]}}\n",
       "warning: coupling 'z' has no effect", true},
      {"{x: {method: nepce, members: [a, c]}}\n", "error: coupling 'x': unknown unit 'c'", false},
      {"{x: {method: energy, members: [a, b], gamma: -1}}\n",
       "error: 'gamma': expected a number that is 0 or greater, found -1", false},
      {"{x: {method: energy, members: [a, b], peak_time: 0}}\n",
       "error: 'peak_time': expected a number greater than 0, found 0", false},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    char text[1024], messages[1024] = "";
    sim s;
    snprintf(text, sizeof text, "%s%s", head, cases[i].couplings);
    const yoke_status status = sim_try(*state, text, &s, messages, sizeof messages);
    assert_true((status >= 0) == cases[i].is_good);
    check_contains(messages, cases[i].message);
    assert_true((messages[0] == '\0') == (cases[i].message[0] == '\0'));
    if (cases[i].is_good) {
      sim_close(&s);
    }
  }
}

// the action of an electric bond is what follows the other at once; the voltage if neither does, or both do
static void test_voltage_or_current(void** state) {
  static const struct {
    const char *a, *b;
    const char* name;
  } pairs[] = {
      {"my.volt", "my.ampere", "a-b"},
      {"my.volt_df", "my.ampere", "a-b"},
      {"my.volt", "my.ampere_df", "b-a"},
      {"my.volt_df", "my.ampere_df", "a-b"},
  };
  for (size_t i = 0; i < COUNT(pairs); i++) {
    sim s =
        open_pair(*state, pairs[i].a, pairs[i].b, "connections: [a.y1 -> b.u1, b.y1 -> a.u1]\n");
    assert_int_equal(s.system->n_bonds, 1);
    const yoke_system_bond* bond = &s.system->bonds[0];
    assert_string_equal(bond->name, pairs[i].name);
    const bool is_df = strstr(pairs[i].a, "df") != NULL,
               is_both = is_df && strstr(pairs[i].b, "df");
    if (is_both) {
      assert_int_equal(bond->ledger.mu_origin, YOKE_MU_BOTH_FEEDTHROUGH);
      assert_true(isnan(bond->ledger.mu));
    } else {
      check_near(bond->ledger.mu, i == 0 ? 0 : 0.5, 0);
    }
    sim_close(&s);
  }
}

static void test_laws(void** state) {
  (void)state;
  sim s = sim_open(
      HEAD "units: {left: {model: oscillator.mass, with: {sign: -1}}, right: {model: "
           "oscillator.mass}}\n"
           "laws: {spring: {law: spring_damper, with: {k: 100}}}\n"
           "connections: [left.x -> spring.x1, left.v -> spring.v1, right.x -> spring.x2, right.v "
           "-> spring.v2, spring.f -> left.f, spring.f -> right.f]\n");
  assert_int_equal(s.system->n_bonds, 2);
  assert_string_equal(s.system->bonds[0].name, "spring-left");
  assert_string_equal(s.system->bonds[1].name, "spring-right");
  for (size_t i = 0; i < 2; i++) {
    assert_true(s.system->bonds[i].ledger.ends[1].is_law);
    check_near(s.system->bonds[i].ledger.mu, 0, 0);
  }
  sim_close(&s);
}

// several bonds between the same two units; names that are taken
static void test_names(void** state) {
  char text[1024];
  // force and motion one way, motion and force the other: two bonds, each named after the one that pushes
  snprintf(text, sizeof text,
           HEAD "units: {a: {model: my.nothing}, b: {model: my.force}, c: {model: "
                "my.speed}}\n"
                "bonds: {b-c: {action: a.y1 -> b.u2, rate: b.y2 -> a.u2}}\n"
                "connections: [b.y1 -> c.u1, c.y1 -> b.u1]\n");
  sim s = fixture_open(*state, text);
  assert_int_equal(s.system->n_bonds, 2);
  assert_string_equal(s.system->bonds[0].name, "b-c");
  assert_string_equal(s.system->bonds[1].name, "b-c-2");
  sim_close(&s);
}

// ---- named by the file

static void test_arrows_are_connections(void** state) {
  sim s = open_pair(*state, "my.force", "my.speed",
                    "bonds: {x: {action: a.y1 -> b.u1, rate: b.y1 -> a.u1}}\n");
  assert_int_equal(s.system->n_links, 2);
  assert_true(s.system->bonds[0].ledger.has_ter);
  sim_close(&s);
  // listed as well: the same connection, not two sources
  s = open_pair(*state, "my.force", "my.speed",
                "connections: [a.y1 -> b.u1]\n"
                "bonds: {x: {action: a.y1 -> b.u1, rate: b.y1 -> a.u1}}\n");
  assert_int_equal(s.system->n_links, 2);
  sim_close(&s);
  // without arrows it finds what moves
  s = open_pair(*state, "my.force", "my.speed",
                "connections: [a.y1 -> b.u1, b.y1 -> a.u1]\n"
                "bonds: {x: {action: a.y1, rate: b.y1}}\n");
  assert_true(s.system->bonds[0].ledger.has_ter);
  sim_close(&s);
  // nothing moves: samples only
  s = open_pair(*state, "my.force", "my.speed", "bonds: {x: {action: a.y1, rate: b.y1}}\n");
  assert_false(s.system->bonds[0].ledger.has_ter);
  check_near(s.system->bonds[0].ledger.interval, 1e-3, 0);
  sim_close(&s);
}

#define PAIR(a, b) HEAD "units: {a: {model: " a "}, b: {model: " b "}, c: {model: my.speed}}\n"

static void test_contradictions(void** state) {
  refuse(*state, PAIR("my.force", "my.work") "bonds: {x: {action: a.y1, rate: b.y1}}\n",
         "test.yaml:6:9: error: bond 'x': 'a.y1' [N] times 'b.y1' [J] is not a power\n");
  refuse(*state,
         HEAD "units: {l: {model: oscillator.force}, r: {model: oscillator.mass}}\n"
              "connections: [r.v -> l.v_other]\n"
              "bonds: {x: {action: l.f -> r.f, rate: r.x -> l.x_other}}\n",
         "test.yaml:7:9: error: bond 'x': 'l.f' [N] times 'r.x' [m] is not a power; name the rate "
         "of change, not the displacement or charge\n");
  refuse(*state, PAIR("my.heat", "my.warm") "bonds: {x: {action: b.y1, rate: a.y1}}\n",
         "test.yaml:6:9: error: bond 'x': 'b.y1' [K] times 'a.y1' [W] is not a power; name the "
         "heat flow as the action, the temperature as the rate\n");
  refuse(
      *state,
      PAIR("my.force", "my.speed") "connections: [{from: a.y1, to: b.u1, gain: 2}, b.y1 -> a.u1]\n"
                                   "bonds: {x: {action: a.y1, rate: b.y1}}\n",
      "test.yaml:7:9: error: bond 'x': the action is passed on with gain 2 and the rate with "
      "gain 1: the two units would exchange different powers; expected the same gain both "
      "ways\n");
  refuse(*state,
         PAIR("my.force",
              "my.speed") "connections: [{from: a.y1, to: b.u1, offset: 2}, b.y1 -> a.u1]\n"
                          "bonds: {x: {action: a.y1, rate: b.y1}}\n",
         "test.yaml:7:9: error: bond 'x': a connection with an offset carries no power that both "
         "ends agree on\n");
  refuse(*state,
         PAIR("my.force", "my.speed") "bonds: {x: {action: [a.y1, a.y2], rate: [b.y1, c.y1]}}\n",
         "test.yaml:6:9: error: bond 'x': its components come from more than two units; write one "
         "bond for each pair of units\n");
  refuse(*state, PAIR("my.force", "my.speed") "bonds: {x: {action: a.y1, rate: a.y2}}\n",
         "test.yaml:6:9: error: bond 'x': action and rate both come from 'a'; a bond joins two "
         "units: one gives the action, the other the rate\n");
  refuse(*state,
         PAIR("my.force", "my.speed") "bonds: {x: {action: a.y1 -> c.u1, rate: b.y1 -> a.u1}}\n",
         "test.yaml:6:9: error: bond 'x': the action of 'a' goes to 'c', but the rate comes from "
         "'b'; a bond joins two units\n");
  refuse(*state,
         PAIR("my.force", "my.speed") "bonds: {x: {action: a.y1 -> b.u1, rate: b.y1 -> c.u1}}\n",
         "test.yaml:6:9: error: bond 'x': the rate of 'b' goes to 'c', but the action comes from "
         "'a'; a bond joins two units\n");
  refuse(*state, PAIR("my.force", "my.speed") "bonds: {x: {action: a.u1, rate: b.y1}}\n",
         "test.yaml:6:21: error: bond: the action 'a.u1' is not a real output\n");
  refuse(*state, PAIR("my.force", "my.speed") "bonds: {x: {action: a.y1, rate: b.u2}}\n",
         "test.yaml:6:33: error: bond: the rate 'b.u2' is not a real output\n");
  refuse(
      *state,
      PAIR("my.force_df", "my.speed_df") "bonds: {x: {action: a.y1 -> b.u1, rate: b.y1 -> a.u1}}\n",
      "test.yaml:6:9: error: bond 'x': both 'a' and 'b' have direct feedthrough, so the energy "
      "created per step is unknown: give `mu` in the bond, or exchange other quantities "
      "(docs/exchange.md)\n");
  refuse(*state,
         PAIR("my.force",
              "my.speed") "bonds: {x: {action: a.y1, rate: b.y1, residual: partner-held}}\n",
         "test.yaml:6:9: error: bond 'x': residual: partner-held needs an action computed by a "
         "law; 'a' is a unit\n");
  refuse(*state,
         HEAD "units: {one: {model: pendulum.force}, two: {model: pendulum.mass}}\n"
              "connections: [two.tip -> one.tip_other, two.vtip -> one.vtip_other, one.F -> "
              "two.F]\n"
              "bonds: {x: {action: one.F, rate: \"two.vtip[1]\"}}\n",
         "test.yaml:7:9: error: bond 'x': 'one.F' has 2 elements and 'two.vtip[1]' has 1; their "
         "product needs as many of one as of the other\n");

  // the way out of the feedthrough on both sides
  sim s = open_pair(*state, "my.force_df", "my.speed_df",
                    "bonds: {x: {action: a.y1 -> b.u1, rate: b.y1 -> a.u1, mu: 0.4}}\n");
  check_near(s.system->bonds[0].ledger.mu, 0.4, 0);
  assert_int_equal(s.system->bonds[0].ledger.mu_origin, YOKE_MU_GIVEN);
  sim_close(&s);
}

static void test_methods_where_they_do_not_fit(void** state) {
#define BOND(more)                                                                                 \
  "bonds: {x: {action: a.y1 -> b.u1, rate: b.y1 -> a.u1" more ", coupling: {method: energy}}}\n"
  refuse(*state, PAIR("my.heat", "my.warm") BOND(""),
         "test.yaml:6:74: error: bond 'x': heat flow times temperature is not a power; method "
         "'energy' cannot correct it\n");
  refuse(*state, PAIR("my.force_df", "my.speed") "scheme: gauss-seidel\n" BOND(""),
         "test.yaml:7:74: error: bond 'x': method 'energy' is valid for scheme: jacobi only; it "
         "has not been validated under gauss-seidel\n");
  refuse(*state, PAIR("my.force_implicit", "my.speed") BOND(""),
         "test.yaml:6:74: error: bond 'x': method 'energy' is valid for units with explicit "
         "solvers only\n");
  refuse(*state,
         PAIR("my.force_df",
              "my.speed") "connections: [b.y1 -> a.u1]\n"
                          "bonds: {x: {action: a.y1, rate: b.y1, coupling: {method: energy}}}\n",
         "test.yaml:7:58: error: bond 'x': method 'energy' needs the action to travel to the unit "
         "that returns the rate; write it as an arrow\n");
  refuse(*state,
         PAIR("my.force_df", "my.speed") "couplings: {loop: {method: energy, members: [a, b]}}\n",
         "test.yaml:6:28: error: coupling 'loop': method 'energy' needs a bond, and there is none "
         "between its members\n");
  // over a set of units it takes the bonds between them
  sim s = open_pair(*state, "my.force_df", "my.speed",
                    "connections: [a.y1 -> b.u1, b.y1 -> a.u1]\n"
                    "couplings: {loop: {method: energy, members: [a, b]}}\n");
  assert_true(s.system->bonds[0].ledger.is_corrected);
  sim_close(&s);
}

// a bond counts as corrected only where the method has its action: what another took first is not corrected twice
static void test_corrected_once(void** state) {
#define LINKS "connections: [a.y1 -> b.u1, b.y1 -> a.u1]\n"
  sim s =
      open_pair(*state, "my.force_df", "my.speed",
                LINKS "bonds: {x: {action: a.y1, rate: b.y1}, again: {action: a.y1, rate: b.y1}}\n"
                      "couplings: {loop: {method: energy, members: [a, b]}}\n");
  assert_true(s.system->bonds[0].ledger.is_corrected);
  assert_false(s.system->bonds[1].ledger.is_corrected);
  sim_close(&s);

  s = open_pair(*state, "my.force_df", "my.speed",
                LINKS "couplings: {first: {method: nepce, members: [a, b]}, second: {method: "
                      "energy, members: [a, b]}}\n");
  assert_false(s.system->bonds[0].ledger.is_corrected);
  sim_close(&s);
}

// ---- the order of a coupling reaches the connections of a bond, unless connection or bond names its own

static void test_orders(void** state) {
#define X              "action: a.y1 -> b.u1, rate: b.y1 -> a.u1"
#define LOOP(settings) "couplings: {loop: {" settings ", members: [a, b]}}\n"
  static const struct {
    const char* rest;
    int orders[2];           // of the action and of the rate
    const char* methods[2];  // the same
    bool is_corrected;
  } cases[] = {
      {"bonds: {x: {" X "}}\n" LOOP("method: hold, order: 1"), {1, 1}, {"hold", "hold"}, false},
      {"bonds: {x: {" X "}}\n" LOOP("method: nepce, order: 2"), {2, 2}, {"nepce", "nepce"}, false},
      {"bonds: {x: {" X "}}\n" LOOP("method: energy, order: 1"), {1, 1}, {"energy", "hold"}, true},
      // what the bond names counts more: the order, the method, or both
      {"bonds: {x: {" X ", coupling: {method: hold, order: 2}}}\n" LOOP("method: nepce, order: 1"),
       {2, 2},
       {"hold", "hold"},
       false},
      {"bonds: {x: {" X ", coupling: {method: hold}}}\n" LOOP("method: nepce, order: 1"),
       {1, 1},
       {"hold", "hold"},
       false},
      {"bonds: {x: {" X ", coupling: {method: nepce}}}\n" LOOP("method: hold, order: 3"),
       {3, 3},
       {"nepce", "nepce"},
       false},
      // connections of the file, which a bond only names
      {"connections: [a.y1 -> b.u1, {from: b.y1, to: a.u1, order: 0}]\n"
       "bonds: {x: {action: a.y1, rate: b.y1}}\n" LOOP("method: hold, order: 1"),
       {1, 0},
       {"hold", "hold"},
       false},
      {"connections: [a.y1 -> b.u1, {from: b.y1, to: a.u1, order: 0}]\n"
       "bonds: {x: {" X ", coupling: {method: hold, order: 2}}}\n" LOOP("method: nepce, order: 1"),
       {2, 0},
       {"hold", "hold"},
       false},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    char text[1024];
    snprintf(text, sizeof text,
             HEAD "units: {a: {model: my.force_df}, b: {model: my.speed, step: 2.5e-4}}\n%s",
             cases[i].rest);
    sim s = fixture_open(*state, text);
    const yoke_system_bond* bond = &s.system->bonds[0];
    for (int k = 0; k < 2; k++) {
      const yoke_system_link* link =
          &s.system->links[k == 0 ? bond->action[0].link : bond->rate[0].link];
      const char* why = NULL;
      const int acting = yoke__system_acting_order(s.system, link, &why);
      if (link->order != cases[i].orders[k] ||
          strcmp(s.system->methods[link->method].ops->name, cases[i].methods[k]) != 0) {
        fail_msg("case %zu, %s: order %d, method %s", i, k == 0 ? "action" : "rate", link->order,
                 s.system->methods[link->method].ops->name);
      }
      // a is called once per exchange
      assert_int_equal(acting, k == 0 ? link->order : 0);
      assert_string_equal(why,
                          k == 0 || link->order == 0 ? "" : "the unit is called once per exchange");
    }
    assert_int_equal(bond->ledger.is_corrected, cases[i].is_corrected);
    sim_close(&s);
  }
  refuse(*state,
         PAIR("my.force", "my.speed") "bonds: {x: {" X ", coupling: {method: hold, order: 4}}}\n",
         "'order': expected an integer from 0 to 3, found 4");
}

// where the order that acts is another one than the file has
static void test_acting_orders(void** state) {
  static const struct {
    const char* rest;
    int acting;
    const char* why;
  } cases[] = {
      {"", 1, ""},
      {"scheme: iterative-jacobi\n", 0, "the iteration interpolates"},
      {LOOP("method: interpolate, order: 0"), 1, ""},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    char text[1024];
    snprintf(text, sizeof text,
             HEAD
             "units: {a: {model: my.force_df, step: 5e-4}, b: {model: my.speed, step: 2.5e-4}}\n"
             "connections: [{from: a.y1, to: b.u1, order: 1, exchange: 1e-3}, {from: b.y1, "
             "to: a.u1, exchange: 1e-3}]\n%s",
             cases[i].rest);
    sim s = fixture_open(*state, text);
    const char* why = NULL;
    assert_int_equal(yoke__system_acting_order(s.system, &s.system->links[0], &why),
                     cases[i].acting);
    assert_string_equal(why, cases[i].why);
    if (i == 2) {
      assert_int_equal(yoke__system_acting_order(s.system, &s.system->links[1], &why), 1);
      assert_string_equal(why, "the method makes ramps");
    }
    sim_close(&s);
  }
}

// the same numbers, whether the bond or the coupling names the order
static void test_order_of_coupling_acts(void** state) {
  (void)state;
  static const char* const rests[] = {
      "bonds: {spring: {action: left.f -> right.f, rate: right.v -> left.v_other}}\n",
      "bonds: {spring: {action: left.f -> right.f, rate: right.v -> left.v_other, coupling: "
      "{method: hold, order: 1}}}\n",
      "bonds: {spring: {action: left.f -> right.f, rate: right.v -> left.v_other}}\n"
      "couplings: {loop: {method: hold, order: 1, members: [left, right]}}\n"};
  double x[3];
  for (size_t i = 0; i < 3; i++) {
    char text[1024];
    snprintf(text, sizeof text,
             "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 1e-2}\n"
             "units: {left: {model: oscillator.force, with: {k: 10, kc: 100}, start: {v: 100}}, "
             "right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {v: -100}, step: "
             "1e-3}}\n"
             "connections: [{from: right.x, to: left.x_other, order: 0}]\n%s",
             rests[i]);
    sim s = sim_open("%s", text);
    sim_run(&s);
    x[i] = sim_read(&s, "right.x");
    sim_close(&s);
  }
  assert_true(x[1] == x[2]);
  assert_true(x[0] != x[1]);
}

// ---- the same watts in other units, and through gears

// the right mass of the oscillator with its signals in mm, mm/s and kN
typedef struct scaled {
  double f, x, v;
} scaled;

static yoke_status scaled_step(void* self, double t, double h, yoke_step_result* result) {
  scaled* m = self;
  (void)t;
  (void)result;
  double x = m->x * 1e-3, v = m->v * 1e-3;
  v += h * (-1000 * x + m->f * 1e3);
  x += h * v;
  m->x = x * 1e3;
  m->v = v * 1e3;
  return YOKE_OK;
}

#define SCALED(name_, member_, dim_, causality_, start_)                                           \
  {                                                                                                \
    .name = (name_), .dim = (dim_), .type = YOKE_REAL, .causality = (causality_),                  \
    .start = (start_), .flags = YOKE_VARIABLE_HAS_START, .offset = offsetof(scaled, member_)       \
  }
static const yoke_variable scaled_variables[] = {SCALED("f", f, "kN", YOKE_INPUT, 0),
                                                 SCALED("x", x, "mm", YOKE_OUTPUT, 0),
                                                 SCALED("v", v, "mm/s", YOKE_OUTPUT, -1e5)};
static const yoke_unit_info scaled_info = {.variables = scaled_variables,
                                           .n_variables = 3,
                                           .flags = YOKE_UNIT_FLAT,
                                           .self_size = sizeof(scaled)};
static const yoke_unit_ops scaled_mass = {YOKE_UNIT_HEAD, .name = "my.scaled_mass",
                                          .info = &scaled_info, .step = scaled_step,
                                          .refresh = port_refresh};

static yoke_ledger_result run_with(const yoke_registry* models, const char* right, double gain,
                                   double* power) {
  char text[1024];
  snprintf(
      text, sizeof text,
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 10, step: 1e-3}\n"
      "units: {left: {model: oscillator.force, with: {k: 10, kc: 100}, start: {v: 100}}, right: "
      "%s}\n"
      "connections: [{from: right.x, to: left.x_other, gain: %g}, {from: right.v, to: "
      "left.v_other, gain: %g}, {from: left.f, to: right.f, gain: %g}]\n",
      right, gain, gain, gain);
  sim s = fixture_open(models, text);
  sim_run(&s);
  yoke_ledger_result r;
  yoke__ledger_result(s.state->ledger, 0, &r);
  *power = yoke__ledger_values(s.state->ledger)[YOKE_LEDGER_DP];
  r.bond = NULL;  // goes with the system
  sim_close(&s);
  return r;
}

static void check_same_watts(const yoke_ledger_result* got, const yoke_ledger_result* want) {
  check_relative(got->residual, want->residual, 1e-9);
  check_relative(got->created, want->created, 1e-9);
  check_relative(got->ter, want->ter, 1e-9);
  check_relative(got->net, want->net, 1e-9);
  check_relative(got->throughput, want->throughput, 1e-9);
  check_relative(got->flow, want->flow, 1e-9);
  check_relative(got->effort, want->effort, 1e-9);
  check_relative(got->passed, want->passed, 1e-9);
  check_relative(got->energy, want->energy, 1e-9);
  check_relative(got->rho_worst, want->rho_worst, 1e-9);
}

static void test_other_units_same_watts(void** state) {
  (void)state;
  const yoke_unit_ops* const ops[] = {&scaled_mass};
  yoke_registry* models = fixture_models(ops, 1);
  double power = 0, want_power = 0;
  const yoke_ledger_result want = run_with(
      models, "{model: oscillator.mass, with: {m: 1, k: 1000}, start: {v: -100}}", 1, &want_power);
  const yoke_ledger_result got = run_with(models, "{model: my.scaled_mass}", 1e-3, &power);
  print_message("kN, mm, mm/s: dE = %.10g J, in SI %.10g J\n", got.residual, want.residual);
  check_relative(want.residual, 21664.73416, 1e-7);
  check_relative(power, want_power, 1e-9);
  check_same_watts(&got, &want);
  yoke_registry_destroy(&models);
}

// speeds in rpm: the factor is pi / 30
static void test_rpm(void** state) {
  sim s =
      open_pair(*state, "my.torque", "my.revolution",
                "connections: [a.y1 -> b.u1, {from: b.y1, to: a.u1, gain: 0.10471975511965977}]\n");
  const yoke_ledger_bond* bond = &s.system->bonds[0].ledger;
  check_near(bond->rate_scale[0], 3.14159265358979323846 / 30, 1e-15);
  check_near(bond->action_scale[0], 1, 0);
  check_near(bond->ends[1].in_scale[0], 1, 1e-15);  // as received by a, in rad/s already
  sim_close(&s);
}

// a gear of ratio g: both connections have it, and the left side is made such that the right one moves as before
static void test_gear(void** state) {
  (void)state;
  static const double gears[] = {2, -0.5};
  for (size_t i = 0; i < COUNT(gears); i++) {
    const double g = gears[i];
    yoke_ledger_result result[2];
    for (int is_geared = 0; is_geared < 2; is_geared++) {
      const double ratio = is_geared ? g : 1;
      const double k = 1 / (ratio * ratio);
      sim s =
          sim_open("yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 10, step: 1e-3}\n"
                   "units:\n"
                   "  left: {model: oscillator.force, with: {m: %.17g, k: %.17g, kc: %.17g}, "
                   "start: {v: %.17g}}\n"
                   "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {v: -100}}\n"
                   "connections:\n"
                   "  - {from: right.x, to: left.x_other, gain: %g}\n"
                   "  - {from: right.v, to: left.v_other, gain: %g}\n"
                   "  - {from: left.f, to: right.f, gain: %g}\n",
                   k, 10 * k, 100 * k, 100 * ratio, ratio, ratio, ratio);
      assert_int_equal(s.system->n_bonds, 1);
      sim_run(&s);
      yoke__ledger_result(s.state->ledger, 0, &result[is_geared]);
      sim_close(&s);
    }
    check_same_watts(&result[1], &result[0]);
  }
}

// ---- CS-10: mu of the ledger, from the texts of systems

static double mu_of(const char* text, yoke_mu_origin* origin, size_t bond) {
  sim s = sim_open("%s", text);
  if (bond >= s.system->n_bonds) {
    fail_msg("%zu bonds in\n%s", s.system->n_bonds, text);
  }
  const double mu = s.system->bonds[bond].ledger.mu;
  *origin = s.system->bonds[bond].ledger.mu_origin;
  sim_close(&s);
  return mu;
}

typedef struct mu_row {
  const char *lines, *left, *right, *rest;  // of the force-displacement oscillator
  int order;
  double want;
} mu_row;

static const mu_row rows[] = {
    // one rate
    {"", "", "", "", 0, 0.5},
    {"", "", "", "", 1, 0.5},
    {"", "", "", "", 2, 0.5},
    // slow feedthrough: 0.5 (1.5 - 0.5 / R), 0.5
    {"", "", ", step: 5e-4", "", 0, 0.625},
    {"", "", ", step: 2e-4", "", 0, 0.7},
    {"", "", ", step: 1e-4", "", 0, 0.725},
    {"", "", ", step: 2e-5", "", 0, 0.745},
    {"", "", ", step: 1e-4", "", 1, 0.5},
    {"", "", ", step: 1e-4", "", 2, 0.5},
    {"", "", ", step: 1e-4", "", 3, 0.5},
    // fast feedthrough: 0.5, 0.5 R
    {"", ", step: 5e-4", "", "", 0, 0.5},
    {"", ", step: 2.5e-5", "", "", 0, 0.5},
    {"", ", step: 5e-4", "", "", 1, 0.25},
    {"", ", step: 2e-4", "", "", 1, 0.1},
    {"", ", step: 1e-4", "", "", 2, 0.05},
    {"", ", step: 2.5e-5", "", "", 1, 0.0125},
    // evaluated again at the exchange: nothing is old but what the fast mass holds
    {"exchange: fresh\n", "", "", "", 0, 0},
    {"exchange: fresh\n", "", ", step: 1e-4", "", 0, 0.225},
    {"exchange: fresh\n", "", ", step: 1e-4", "", 1, 0},
    {"", ", exchange: fresh", "", "", 0, 0},
    {"", "", ", exchange: fresh", "", 0, 0.5},  // the mass has nothing to evaluate
    // delays of the action, of the motion, of both
    {"", "", "", ", delay: 3e-3|", 0, 2},
    {"", "", "", "|, delay: 2e-3", 0, 1.5},
    {"", "", "", ", delay: 1e-3|, delay: 2e-3", 0, 2},
    {"exchange: fresh\n", "", "", ", delay: 1e-3|", 0, 0.5},
    {"", "", ", step: 1e-4", ", delay: 1e-3|", 0, 1.225},
};

static void test_mu_force_displacement_CS_10(void** state) {
  (void)state;
  for (size_t i = 0; i < COUNT(rows); i++) {
    const mu_row* r = &rows[i];
    const char* bar = strchr(r->rest, '|');
    const int n_action = bar == NULL ? 0 : (int)(bar - r->rest);
    const char* rate = bar == NULL ? "" : bar + 1;
    char text[1024];
    snprintf(
        text, sizeof text,
        HEAD "%sunits: {left: {model: oscillator.force%s}, right: {model: oscillator.mass%s}}\n"
             "connections:\n"
             "  - {from: left.f, to: right.f, order: %d%.*s}\n"
             "  - {from: right.x, to: left.x_other, order: %d%s}\n"
             "  - {from: right.v, to: left.v_other, order: %d%s}\n",
        r->lines, r->left, r->right, r->order, n_action, r->rest, r->order, rate, r->order, rate);
    yoke_mu_origin origin;
    const double mu = mu_of(text, &origin, 0);
    if (!(fabs(mu - r->want) <= 1e-12) || origin != YOKE_MU_AUTOMATIC) {
      fail_msg("row %zu: mu = %.15g, expected %g in\n%s", i, mu, r->want, text);
    }
  }
}

static void test_mu_crane_CS_10(void** state) {
  (void)state;
  yoke_mu_origin origin;
  for (int order = 0; order < 2; order++) {
    char text[512];
    snprintf(text, sizeof text,
             "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 10e-3}\n"
             "units: {arm: {model: crane.arm}, oil: {model: crane.hydraulics, step: 0.25e-3}}\n"
             "connections: [{from: arm.s, to: oil.s, order: %d}, {from: arm.v, to: oil.v, order: "
             "%d}, oil.f_h -> arm.f_h]\n",
             order, order);
    check_near(mu_of(text, &origin, 0), order == 0 ? 0.5 : 0.0125, 1e-15);
  }
  // pressures: the force is rebuilt by a law and no unit lets anything through
  static const char* const steps[] = {"10e-3", "0.25e-3"};
  for (size_t i = 0; i < 2; i++) {
    char text[1024];
    snprintf(text, sizeof text,
             "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 10e-3}\n"
             "units: {arm: {model: crane.arm.pressure}, oil: {model: crane.hydraulics.pressure, "
             "step: %s}}\n"
             "laws: {force: {law: sum, with: {signs: [-65e-4, 65e-4, -1e5]}}}\n"
             "connections: [arm.s -> oil.s, arm.v -> oil.v, oil.p1 -> arm.p1, oil.p2 -> arm.p2,\n"
             "  oil.p1 -> force.u1, oil.p2 -> force.u2, arm.v -> force.u3]\n"
             "bonds: {piston: {action: force.y, rate: arm.v}}\n",
             steps[i]);
    check_near(mu_of(text, &origin, 0), 0, 0);
    assert_int_equal(origin, YOKE_MU_AUTOMATIC);
  }
}

static void test_mu_unknown_or_given_CS_10(void** state) {
  static const struct {
    const char *lines, *bond;
    yoke_mu_origin origin;
    double mu;
  } cases[] = {
      {"scheme: gauss-seidel\n", "", YOKE_MU_GAUSS_SEIDEL, (double)NAN},
      {"scheme: iterative-jacobi\n", "", YOKE_MU_ITERATIVE, (double)NAN},
      {"scheme: iterative-gauss-seidel\n", "", YOKE_MU_ITERATIVE, (double)NAN},
      {"", ", mu: 0.31", YOKE_MU_GIVEN, 0.31},
      {"", ", mu: -1", YOKE_MU_GIVEN, -1},
      {"scheme: gauss-seidel\n", ", mu: 0.2", YOKE_MU_GIVEN, 0.2},
      {"", "", YOKE_MU_AUTOMATIC, 0.5},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    char text[1024];
    snprintf(text, sizeof text,
             HEAD "%sunits: {left: {model: oscillator.force}, right: {model: oscillator.mass}}\n"
                  "connections: [right.x -> left.x_other]\n"
                  "bonds: {x: {action: left.f -> right.f, rate: right.v -> left.v_other%s}}\n",
             cases[i].lines, cases[i].bond);
    yoke_mu_origin origin;
    const double mu = mu_of(text, &origin, 0);
    assert_int_equal(origin, cases[i].origin);
    assert_true(isnan(cases[i].mu) ? isnan(mu) : mu == cases[i].mu);
  }
  sim s = open_pair(*state, "my.force_implicit", "my.speed",
                    "connections: [a.y1 -> b.u1, b.y1 -> a.u1]\n");
  assert_int_equal(s.system->bonds[0].ledger.mu_origin, YOKE_MU_IMPLICIT);
  assert_true(isnan(s.system->bonds[0].ledger.mu));
  sim_close(&s);
  s = open_pair(*state, "my.heat", "my.warm", "connections: [a.y1 -> b.u1, b.y1 -> a.u1]\n");
  assert_int_equal(s.system->bonds[0].ledger.mu_origin, YOKE_MU_NO_POWER);
  sim_close(&s);
  // nobody lets anything through
  s = open_pair(*state, "my.force", "my.speed", "connections: [a.y1 -> b.u1, b.y1 -> a.u1]\n");
  check_near(s.system->bonds[0].ledger.mu, 0, 0);
  sim_close(&s);
}

// ---- how bonds are watched: the bond's own word, then that of `quality`, then the default

static void test_watch(void** state) {
  sim s = fixture_open(
      *state, HEAD
      "units: {a: {model: my.force}, b: {model: my.speed}, c: {model: my.force}, d: {model: "
      "my.speed}}\n"
      "bonds:\n"
      "  one: {action: a.y1 -> b.u1, rate: b.y1 -> a.u1, warn: {rho: 0.1}, stop: {eps: 0.3}, "
      "window: 2, settle: 0, persist: 3, hysteresis: 0.5, energy: 7, period: 9}\n"
      "  two: {action: c.y1 -> d.u1, rate: d.y1 -> c.u1}\n"
      "quality: {warn: {rho: 0.2, rter: 0.3}, stop: {rho: 0.6}, window: 4, settle: 1, persist: "
      "20, hysteresis: 0.9}\n");
  const yoke_ledger_watch *one = &s.system->bonds[0].ledger.watch,
                          *two = &s.system->bonds[1].ledger.watch;
  const double want_one[] = {0.1, 0.01, 0.3, 0.6, 0.3, HUGE_VAL, 2, 0, 3, 0.5};
  const double want_two[] = {0.2, 0.01, 0.3, 0.6, HUGE_VAL, HUGE_VAL, 4, 1, 20, 0.9};
  const double got_one[] = {one->warn.value[0], one->warn.value[1], one->warn.value[2],
                            one->stop.value[0], one->stop.value[1], one->stop.value[2],
                            one->window,        one->settle,        (double)one->persist,
                            one->hysteresis};
  const double got_two[] = {two->warn.value[0], two->warn.value[1], two->warn.value[2],
                            two->stop.value[0], two->stop.value[1], two->stop.value[2],
                            two->window,        two->settle,        (double)two->persist,
                            two->hysteresis};
  for (size_t i = 0; i < COUNT(got_one); i++) {
    if (got_one[i] != want_one[i] || got_two[i] != want_two[i]) {
      fail_msg("setting %zu: %g and %g, expected %g and %g", i, got_one[i], got_two[i], want_one[i],
               want_two[i]);
    }
  }
  for (int i = 0; i < YOKE_N_INDICATORS; i++) {
    assert_true(one->is_given[i] == (i != YOKE_INDICATOR_EPS));
    assert_true(two->is_given[i] == (i != YOKE_INDICATOR_EPS));
  }
  check_near(s.system->bonds[0].ledger.energy, 7, 0);
  check_near(one->period, 9, 0);
  check_near(two->period, 0, 0);
  sim_close(&s);

  // the defaults are no limits of the user's
  s = open_pair(*state, "my.force", "my.speed", "connections: [a.y1 -> b.u1, b.y1 -> a.u1]\n");
  const yoke_ledger_watch* watch = &s.system->bonds[0].ledger.watch;
  assert_false(watch->is_given[0] || watch->is_given[1] || watch->is_given[2]);
  check_near(watch->warn.value[YOKE_INDICATOR_RHO], 0.25, 0);
  // times follow from the signals
  check_near(watch->period, 0, 0);
  check_near(watch->window, 0, 0);
  check_near(watch->settle, -1, 0);
  assert_int_equal(watch->persist, 10);
  sim_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_domain),
      cmocka_unit_test(test_no_bond),
      cmocka_unit_test(test_vector_by_order),
      cmocka_unit_test(test_ambiguous),
      cmocka_unit_test(test_refused_by_the_file),
      cmocka_unit_test(test_coupling_without_work),
      cmocka_unit_test(test_voltage_or_current),
      cmocka_unit_test(test_laws),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_arrows_are_connections),
      cmocka_unit_test(test_contradictions),
      cmocka_unit_test(test_methods_where_they_do_not_fit),
      cmocka_unit_test(test_corrected_once),
      cmocka_unit_test(test_orders),
      cmocka_unit_test(test_acting_orders),
      cmocka_unit_test(test_order_of_coupling_acts),
      cmocka_unit_test(test_other_units_same_watts),
      cmocka_unit_test(test_rpm),
      cmocka_unit_test(test_gear),
      cmocka_unit_test(test_mu_force_displacement_CS_10),
      cmocka_unit_test(test_mu_crane_CS_10),
      cmocka_unit_test(test_mu_unknown_or_given_CS_10),
      cmocka_unit_test(test_watch),
  };
  return cmocka_run_group_tests(tests, make_models, free_models);
}
