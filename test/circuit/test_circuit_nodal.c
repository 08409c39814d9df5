// The `nodal` engine against the `dae` engine: the same method on the same network must give the
// same numbers to rounding, at every node and in every element, merged or not.
#include "support/check.h"

#include "circuit/circuit_solver.h"
#include "circuit/network/circuit_build.h"
#include "support/circuits.h"

#define N_STEPS 40

// -------------------------------------------------------------------------------------------------
// random networks

// What a random network may hold besides resistors, inductors, capacitors and sources.
enum {
  WITH_CONTROL = 1,
  WITH_COUPLED = 2,
  WITH_SWITCHES = 4,
  WITH_JUNCTIONS = 8,
  WITH_LAWS = 16,
  WITH_INPUTS = 32
};

typedef struct maker {
  yoke_network* network;
  uint64_t seed;
  int n_names, n_nodes;
} maker;

static double draw(maker* m) {
  m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(m->seed >> 11) * 0x1p-53;
}

static int pick(maker* m, int n) {
  return (int)(draw(m) * (double)n);
}

// between low and high, evenly in the logarithm
static double between(maker* m, double low, double high) {
  return low * pow(high / low, draw(m));
}

static const char* fresh(maker* m, const char* prefix, char* to) {
  (void)snprintf(to, 24, "%s%d", prefix, m->n_names++);
  return to;
}

static const char* some_node(maker* m, char* to) {
  const int i = pick(m, m->n_nodes + 1);
  (void)snprintf(to, 24, i == 0 ? "0" : "n%d", i);
  return to;
}

static uint32_t add(maker* m, yoke_element_kind kind, const char* a, const char* b, double value) {
  static const char* const letters[] = {"r", "c", "l", "v", "i", "d", "s", "e", "g", "h", "f"};
  char name[24];
  return circuits_add_constant(m->network, kind, fresh(m, letters[kind], name), a, b, value);
}

static uint32_t node_of(maker* m, const char* name) {
  return yoke__network_node(m->network, name, YOKE_ELECTRIC, (yoke_place){0});
}

static double value_for(maker* m, yoke_element_kind kind) {
  return kind == YOKE_RESISTOR    ? between(m, 1.0, 100.0)
         : kind == YOKE_CAPACITOR ? between(m, 1e-5, 1e-3)
         : kind == YOKE_INDUCTOR  ? between(m, 1e-3, 1e-1)
                                  : 10.0 * draw(m) - 5.0;
}

// An element with a value of its own; everything is drawn in an order that no compiler changes.
static uint32_t add_drawn(maker* m, yoke_element_kind kind, const char* a, const char* b) {
  const double value = value_for(m, kind);
  return add(m, kind, a, b, value);
}

// A resistor from somewhere to a new node.
static void add_lead(maker* m, char* inner) {
  char a[24];
  some_node(m, a);
  fresh(m, "x", inner);
  add_drawn(m, YOKE_RESISTOR, a, inner);
}

// A resistor from a node to somewhere.
static void add_load(maker* m, const char* from) {
  char b[24];
  some_node(m, b);
  add_drawn(m, YOKE_RESISTOR, from, b);
}

// Two to four elements in series, in either direction; at most one inductor, because more of them
// are of index 2 in full coordinates.
static void add_chain(maker* m) {
  static const yoke_element_kind kinds[] = {YOKE_RESISTOR, YOKE_CAPACITOR, YOKE_VOLTAGE,
                                            YOKE_RESISTOR};
  char from[24];
  char to[24];
  const int n = 2 + pick(m, 3);
  const int inductor = pick(m, n + 2);
  some_node(m, from);
  for (int i = 0; i < n; i++) {
    // the first one keeps sources from closing a loop
    const int other = i == 0 ? pick(m, 2) : pick(m, 4);
    const yoke_element_kind kind = i == inductor ? YOKE_INDUCTOR : kinds[other];
    if (i + 1 < n) {
      fresh(m, "x", to);
    } else {
      (void)snprintf(to, sizeof to, "n%d", 1 + pick(m, m->n_nodes));
    }
    const bool is_turned = pick(m, 2) == 0;
    add_drawn(m, kind, is_turned ? to : from, is_turned ? from : to);
    memcpy(from, to, sizeof from);
  }
}

// A node held by one or two sources above ground, feeding the network through a resistor.
static void add_feed(maker* m) {
  char low[24];
  char high[24];
  char node[24];
  char name[24];
  const double amplitude = 5.0 * draw(m);
  const double frequency = between(m, 10.0, 200.0);
  circuits_add_sine(m->network, YOKE_VOLTAGE, fresh(m, "v", name), fresh(m, "k", low), "0", 1.0,
                    amplitude, frequency);
  const double lift = 3.0 * draw(m);
  add(m, YOKE_VOLTAGE, fresh(m, "k", high), low, lift);
  add_load(m, high);
  some_node(m, node);
  add(m, YOKE_CAPACITOR, low, node, 1e-4);
  add(m, YOKE_RESISTOR, low, node, 5.0);
}

// What a current or a voltage controls, from a new node to b, and its load.
static void add_output(maker* m, yoke_element_kind kind, uint32_t b, uint32_t c, uint32_t d,
                       uint32_t control, double gain) {
  char out[24];
  char name[24];
  fresh(m, "q", name);
  fresh(m, "y", out);
  const yoke_element element = {.kind = kind,
                                .name = name,
                                .a = node_of(m, out),
                                .b = b,
                                .c = c,
                                .d = d,
                                .control = control,
                                .value = {.constant = gain}};
  yoke__network_add(m->network, &element);
  add_load(m, out);
}

// A current sensed by a voltage source of 0 V or by a resistor, an inductor or a capacitor, and
// what it controls.
static void add_controlled(maker* m) {
  static const yoke_element_kind sensors[] = {YOKE_VOLTAGE, YOKE_RESISTOR, YOKE_INDUCTOR,
                                              YOKE_CAPACITOR};
  char a[24];
  char b[24];
  char inner[24];
  const yoke_element_kind kind = sensors[pick(m, 4)];
  add_lead(m, inner);
  some_node(m, b);
  const uint32_t sensor =
      kind == YOKE_VOLTAGE ? add(m, kind, inner, b, 0.0) : add_drawn(m, kind, inner, b);
  const uint32_t ground = node_of(m, "0");
  const double by_current = 0.5 * draw(m);
  add_output(m, YOKE_CCVS, ground, YOKE_NO_INDEX, YOKE_NO_INDEX, sensor, by_current);
  add_output(m, YOKE_CCCS, ground, YOKE_NO_INDEX, YOKE_NO_INDEX, sensor, 0.5 * by_current);
  some_node(m, a);
  some_node(m, b);
  const double by_voltage = 0.02 * draw(m);
  const uint32_t at = node_of(m, inner);
  add_output(m, YOKE_VCVS, node_of(m, b), node_of(m, a), at, YOKE_NO_INDEX, by_voltage);
  add_output(m, YOKE_VCCS, node_of(m, b), node_of(m, a), ground, YOKE_NO_INDEX, by_voltage);
}

static void add_coupled(maker* m) {
  char b[24];
  uint32_t coils[3];
  for (int i = 0; i < 3; i++) {
    char inner[24];
    add_lead(m, inner);
    some_node(m, b);
    coils[i] = add_drawn(m, YOKE_INDUCTOR, inner, b);
  }
  for (int i = 0; i < 2; i++) {
    char name[24];
    fresh(m, "k", name);
    const yoke_mutual mutual = {
        .name = name, .l1 = coils[i], .l2 = coils[i + 1], .k = 0.6 * draw(m)};
    yoke__network_add_mutual(m->network, &mutual);
  }
}

static void add_switch(maker* m) {
  static const yoke_switch_model models[] = {
      {.r_on = 0.1, .r_off = 1e5, .threshold = 0.2, .hysteresis = 0.1},
      {.r_on = 0.0, .r_off = 1e4, .threshold = 0.0, .hysteresis = 0.2}};
  char b[24];
  char c[24];
  char inner[24];
  char name[24];
  add_lead(m, inner);
  some_node(m, b);
  some_node(m, c);
  fresh(m, "s", name);
  const yoke_element element = {.kind = YOKE_SWITCH,
                                .name = name,
                                .a = node_of(m, inner),
                                .b = node_of(m, b),
                                .c = node_of(m, c),
                                .d = 0,
                                .control = YOKE_NO_INDEX,
                                .switching = &models[pick(m, 2)]};
  yoke__network_add(m->network, &element);
}

static void add_junction(maker* m) {
  static const yoke_junction_model models[] = {
      {.is = 1e-12, .n = 1.5, .bv = (double)INFINITY, .vt = 0.02585},
      {.is = 1e-10, .n = 1.0, .bv = 6.0, .ibv = 1e-3, .vt = 0.02585}};
  char a[24];
  char b[24];
  char name[24];
  some_node(m, a);
  some_node(m, b);
  fresh(m, "d", name);
  const yoke_junction_model* model = &models[pick(m, 2)];
  const double rs = pick(m, 2) == 0 ? 0.0 : 0.05;
  yoke__network_add_diode(m->network, name, node_of(m, a), node_of(m, b), model, rs,
                          (yoke_place){0});
}

// An element behind a resistor whose value is a law.
static void add_with_law(maker* m, yoke_element_kind kind, const char* text) {
  char b[24];
  char inner[24];
  add_lead(m, inner);
  some_node(m, b);
  const uint32_t index = add(m, kind, inner, b, 1.0);
  m->network->elements[index].value.law = circuits_law(m->network, text);
}

// R, C, L, I and V that depend on a voltage or a current; the base value stays in command
static void add_laws(maker* m) {
  static const yoke_element_kind kinds[] = {YOKE_RESISTOR, YOKE_CAPACITOR, YOKE_INDUCTOR,
                                            YOKE_CURRENT, YOKE_VOLTAGE};
  static const char* const forms[] = {"20 v%u v%u * 0.1 * +", "1e-4 1e-6 v%u v%u * * +",
                                      "1e-2 1e-4 v%u v%u * * +", "v%u 0.01 * v%u 0.001 * +",
                                      "v%u 0.1 * v%u 0.05 * +"};
  char a[24];
  char text[64];
  some_node(m, a);
  const uint32_t n = node_of(m, a);
  const uint32_t e = (uint32_t)pick(m, (int)m->network->n_elements);
  for (int i = 0; i < 5; i++) {
    (void)snprintf(text, sizeof text, forms[i], n, n);
    add_with_law(m, kinds[i], text);
  }
  const uint32_t heater = add(m, YOKE_CURRENT, a, "0", 0.0);
  (void)snprintf(text, sizeof text, "i%u 0.1 *", e);
  m->network->elements[heater].value.law = circuits_law(m->network, text);
}

// R, C, L, V, I, a gain and a fixed node that follow an input and time
static void add_inputs(maker* m) {
  static const yoke_element_kind kinds[] = {YOKE_RESISTOR, YOKE_CAPACITOR, YOKE_INDUCTOR,
                                            YOKE_CURRENT, YOKE_VOLTAGE};
  static const char* const forms[] = {"20 u0 5 * + t 100 * +", "1e-4 u0 1e-5 * + t 1e-3 * +",
                                      "1e-2 u0 1e-3 * +", "u0 0.1 * t +", "u0 0.5 * t 10 * +"};
  char a[24];
  char b[24];
  const yoke_circuit_input input = {.name = "u", .dim = "V", .start = 0.3};
  yoke__network_add_input(m->network, &input);
  for (int i = 0; i < 5; i++) {
    add_with_law(m, kinds[i], forms[i]);
  }
  const uint32_t held = add(m, YOKE_VOLTAGE, fresh(m, "k", a), "0", 0.0);
  m->network->elements[held].value.law = circuits_law(m->network, "u0 1 +");
  add_load(m, a);
  circuits_fix(m->network, "t1", fresh(m, "z", a), 2.0);
  m->network->nodes[node_of(m, a)].fixed.law = circuits_law(m->network, "u0 u0 *");
  add_load(m, a);
  some_node(m, a);
  some_node(m, b);
  const yoke_element gain = {.kind = YOKE_VCCS,
                             .name = "gu",
                             .a = node_of(m, a),
                             .b = 0,
                             .c = node_of(m, b),
                             .d = 0,
                             .control = YOKE_NO_INDEX,
                             .value = {.law = circuits_law(m->network, "u0 0.01 *")}};
  yoke__network_add(m->network, &gain);
}

static yoke_network* make_random(uint64_t seed, int with) {
  maker m = {.seed = seed * 2654435761u + 12345u};
  char a[24];
  char b[24];
  check_ok(yoke__network_create("random", &m.network));
  m.n_nodes = 3 + pick(&m, 8);
  // every node hangs on an earlier one
  for (int i = 1; i <= m.n_nodes; i++) {
    (void)snprintf(a, sizeof a, "n%d", i);
    const int before = pick(&m, i);
    (void)snprintf(b, sizeof b, before == 0 ? "0" : "n%d", before);
    add_drawn(&m, YOKE_RESISTOR, a, b);
    if (pick(&m, 2) == 0) {
      add_drawn(&m, YOKE_CAPACITOR, a, "0");
    }
  }
  const int n_more = 3 + pick(&m, 6);
  for (int i = 0; i < n_more; i++) {
    add_chain(&m);
  }
  add_feed(&m);
  some_node(&m, a);
  add(&m, YOKE_CURRENT, a, "0", draw(&m));
  for (int i = 0; i < 2; i++) {
    if ((with & WITH_CONTROL) != 0) {
      add_controlled(&m);
    }
    if ((with & WITH_COUPLED) != 0) {
      add_coupled(&m);
    }
    if ((with & WITH_SWITCHES) != 0) {
      add_switch(&m);
    }
    if ((with & WITH_JUNCTIONS) != 0) {
      add_junction(&m);
      add_junction(&m);
    }
  }
  if ((with & WITH_LAWS) != 0) {
    add_laws(&m);
  }
  if ((with & WITH_INPUTS) != 0) {
    add_inputs(&m);
  }
  return m.network;
}

// -------------------------------------------------------------------------------------------------
// comparison

// largest difference over all nodes and elements, relative to 1 + |value|
static double difference(const yoke_network* network, const yoke_circuit* a,
                         const yoke_circuit* b) {
  double worst = 0.0;
  for (uint32_t n = 0; n < network->n_nodes; n++) {
    const double v = yoke__circuit_voltage(a, n);
    const double off = fabs(v - yoke__circuit_voltage(b, n)) / (1.0 + fabs(v));
    worst = off <= worst ? worst : off;
  }
  for (uint32_t e = 0; e < network->n_elements; e++) {
    const double i = yoke__circuit_current(a, e);
    const double off = fabs(i - yoke__circuit_current(b, e)) / (1.0 + fabs(i));
    worst = off <= worst ? worst : off;
  }
  return worst;
}

static yoke_circuit_options options_of(yoke_circuit_method method, double step) {
  return (yoke_circuit_options){.method = method, .step = step, .tolerance = 1e-12};
}

// Active networks may run away; nothing can be said about them to 1e-9.
static bool is_tame(const yoke_network* network, const yoke_circuit* circuit) {
  bool is_small = true;
  for (uint32_t n = 0; n < network->n_nodes; n++) {
    is_small &= fabs(yoke__circuit_voltage(circuit, n)) < 1e3;
  }
  return is_small;
}

// Whether the rates that dae starts from belong to its currents; where blocking junctions leave
// them undetermined they are those of least norm, and methods that reuse rates begin differently.
static bool has_start_rates(const yoke_network* network, yoke_circuit* dae) {
  double* xdot = calloc((size_t)network->n_nodes + network->n_elements, sizeof *xdot);
  assert_non_null(xdot);
  circuits_rates(dae, xdot);
  double worst = 0.0;
  for (uint32_t e = 0; e < network->n_elements; e++) {
    const yoke_element* element = &network->elements[e];
    if (element->kind == YOKE_CAPACITOR && element->value.law == NULL) {
      const double rate = xdot[element->a] - xdot[element->b];
      const double off = fabs(element->value.constant * rate - yoke__circuit_current(dae, e));
      worst = off <= worst ? worst : off;
    }
  }
  free(xdot);
  return worst < 1e-11;
}

static void drive(const yoke_network* network, yoke_circuit* circuit, int k) {
  if (network->n_inputs > 0) {
    // constant at times, so that values stand still, and jumping
    yoke__circuit_set_input(circuit, 0, k % 8 < 4 ? 0.3 : 0.1 * (double)(k % 5),
                            2.0 * (double)(k % 3), 0.0);
  }
}

// Both engines side by side; the largest difference of all steps, negative if the network runs away
// or dae fails.
static double run_pair(const yoke_network* network, yoke_circuit_options options) {
  options.formulation = YOKE_FORMULATION_NODAL;
  yoke_circuit* nodal = circuits_start(network, &options);
  // nodal has no derivatives that would need projection
  options.method = options.method == YOKE_CIRCUIT_TR ? YOKE_CIRCUIT_TRNP : options.method;
  options.formulation = YOKE_FORMULATION_DAE;
  yoke_circuit* dae = circuits_start(network, &options);
  yoke_circuit_counts counts = {0};
  double worst = difference(network, dae, nodal);
  const bool has_rates = options.startup == YOKE_STARTUP_CONST || has_start_rates(network, dae);
  for (int k = 0; k < N_STEPS && is_tame(network, dae); k++) {
    drive(network, nodal, k);
    drive(network, dae, k);
    check_ok(yoke__circuit_step(nodal));
    check_ok(yoke__circuit_step(dae));
    const double off = difference(network, dae, nodal);
    worst = off <= worst ? worst : off;
  }
  yoke__circuit_get_counts(nodal, &counts);
  assert_int_equal(counts.n_unconverged, 0);
  // where dae itself gives up there is nothing to compare with; it does with junctions at their
  // breakdown
  yoke__circuit_get_counts(dae, &counts);
  worst = is_tame(network, dae) && counts.n_unconverged == 0 && has_rates ? worst : -1.0;
  yoke__circuit_destroy(&nodal);
  yoke__circuit_destroy(&dae);
  return worst;
}

static const yoke_circuit_method methods[] = {
    YOKE_CIRCUIT_TRBDF2, YOKE_CIRCUIT_TR,   YOKE_CIRCUIT_TRNP,    YOKE_CIRCUIT_BDF1,
    YOKE_CIRCUIT_BDF2,   YOKE_CIRCUIT_BDF3, YOKE_CIRCUIT_ESDIRK3, YOKE_CIRCUIT_ESDIRK4};

// The same formula on the same equations differs by rounding only. For methods that reuse rates a
// switch adds the rounding of the rates behind it, 1e5/h times that of the states: of a current
// 1e5 eps tau / h, with tau up to 10 s here that is 1e-6.
static void compare_random(uint64_t first_seed, int n_seeds, int with, yoke_circuit_startup startup,
                           double tolerance) {
  int n_runs = 0;
  int n_wild = 0;
  double largest = 0.0;
  for (int i = 0; i < n_seeds; i++) {
    const uint64_t seed = first_seed + (uint64_t)i;
    yoke_network* network = make_random(seed, with);
    for (size_t k = 0; k < sizeof methods / sizeof methods[0]; k++) {
      const bool is_multistep = methods[k] >= YOKE_CIRCUIT_BDF1 && methods[k] <= YOKE_CIRCUIT_BDF3;
      for (int unmerged = 0; unmerged < 2 && (is_multistep || startup == YOKE_STARTUP_TR_XI);
           unmerged++) {
        yoke_circuit_options options = options_of(methods[k], 2e-4);
        options.is_unmerged = unmerged == 1;
        options.startup = startup;
        const double off = run_pair(network, options);
        n_runs++;
        n_wild += off < 0.0;
        largest = off > largest ? off : largest;
        if (!(off <= tolerance)) {
          fail_msg("seed %llu, %s, %s: nodal and dae differ by %.3g", (unsigned long long)seed,
                   yoke__circuit_method_names[methods[k]], unmerged == 1 ? "unmerged" : "merged",
                   off);
        }
      }
    }
    yoke__network_destroy(&network);
  }
  print_message("largest difference %.2g, %d of %d runs not compared\n", largest, n_wild, n_runs);
  assert_true(n_wild * 2 < n_runs);
}

static void linear_networks(void** state) {
  (void)state;
  compare_random(1, 12, 0, YOKE_STARTUP_TR_XI, 1e-9);
  compare_random(1, 4, 0, YOKE_STARTUP_CONST, 1e-9);
  compare_random(1, 4, 0, YOKE_STARTUP_TR_XI_MINUS_1, 1e-9);
}

static void controlled_sources(void** state) {
  (void)state;
  compare_random(100, 12, WITH_CONTROL, YOKE_STARTUP_TR_XI, 1e-9);
}

static void coupled_inductors(void** state) {
  (void)state;
  compare_random(200, 8, WITH_COUPLED | WITH_CONTROL, YOKE_STARTUP_TR_XI, 1e-9);
}

static void switches(void** state) {
  (void)state;
  compare_random(300, 12, WITH_SWITCHES | WITH_CONTROL, YOKE_STARTUP_CONST, 1e-9);
  compare_random(300, 12, WITH_SWITCHES | WITH_CONTROL, YOKE_STARTUP_TR_XI, 1e-6);
}

static void junctions(void** state) {
  (void)state;
  compare_random(400, 12, WITH_JUNCTIONS, YOKE_STARTUP_CONST, 1e-9);
  compare_random(420, 12, WITH_JUNCTIONS, YOKE_STARTUP_TR_XI, 1e-9);
}

// Depletion and diffusion charge, with and without a series resistance that is merged.
static void charged_junctions(void** state) {
  (void)state;
  static const yoke_junction_model model = {.is = 1e-12,
                                            .n = 1.0,
                                            .bv = (double)INFINITY,
                                            .vt = 0.02585,
                                            .cjo = 1e-7,
                                            .vj = 0.7,
                                            .m = 0.5,
                                            .fc = 0.5,
                                            .tt = 1e-6};
  for (int i = 0; i < 2; i++) {
    yoke_network* network = NULL;
    check_ok(yoke__network_create("charge", &network));
    circuits_add_sine(network, YOKE_VOLTAGE, "v1", "in", "0", 0.0, 5.0, 200.0);
    circuits_add_constant(network, YOKE_RESISTOR, "r1", "in", "out", 100.0);
    const uint32_t out = yoke__network_node(network, "out", YOKE_ELECTRIC, (yoke_place){0});
    yoke__network_add_diode(network, "d1", out, 0, &model, i == 0 ? 0.0 : 2.0, (yoke_place){0});
    for (size_t k = 0; k < sizeof methods / sizeof methods[0]; k++) {
      const double off = run_pair(network, options_of(methods[k], 1e-4));
      check_between(off, 0.0, 1e-9);
    }
    yoke__network_destroy(&network);
  }
}

static void laws(void** state) {
  (void)state;
  compare_random(500, 8, WITH_LAWS, YOKE_STARTUP_TR_XI, 1e-9);
}

static void moving_values(void** state) {
  (void)state;
  compare_random(700, 8, WITH_INPUTS, YOKE_STARTUP_TR_XI, 1e-9);
  compare_random(720, 4, WITH_INPUTS | WITH_JUNCTIONS | WITH_LAWS, YOKE_STARTUP_TR_XI, 1e-9);
}

static void everything(void** state) {
  (void)state;
  const int all =
      WITH_LAWS | WITH_JUNCTIONS | WITH_SWITCHES | WITH_COUPLED | WITH_CONTROL | WITH_INPUTS;
  compare_random(600, 6, all, YOKE_STARTUP_CONST, 1e-8);
}

// -------------------------------------------------------------------------------------------------
// more than stepping

// dx/du of every node and element against dae, which takes it from the full equations
static void sensitivities(void** state) {
  (void)state;
  int n_there = 0;
  for (uint64_t seed = 800; seed < 808; seed++) {
    yoke_network* network =
        make_random(seed, WITH_INPUTS | WITH_CONTROL | WITH_JUNCTIONS | WITH_LAWS | WITH_COUPLED);
    yoke_circuit_options options = options_of(YOKE_CIRCUIT_TRBDF2, 2e-4);
    yoke_circuit* nodal = circuits_start(network, &options);
    options.formulation = YOKE_FORMULATION_DAE;
    yoke_circuit* dae = circuits_start(network, &options);
    bool is_there = true;
    for (int k = 0; k < 7; k++) {
      drive(network, nodal, k);
      drive(network, dae, k);
      is_there &= yoke__circuit_step(nodal) >= 0;
      is_there &= yoke__circuit_step(dae) >= 0;
    }
    n_there += is_there;
    for (uint32_t i = 0; is_there && i < network->n_nodes + network->n_elements; i++) {
      const bool is_node = i < network->n_nodes;
      const yoke_probe probe = {.kind = is_node ? YOKE_PROBE_VOLTAGE : YOKE_PROBE_CURRENT,
                                .index = is_node ? i : i - network->n_nodes};
      const yoke_probe* const probes[] = {&probe};
      double ours = 0.0;
      double theirs = 0.0;
      check_ok(yoke__circuit_sensitivity(nodal, 0, probes, 1, &ours));
      check_ok(yoke__circuit_sensitivity(dae, 0, probes, 1, &theirs));
      if (!(fabs(ours - theirs) <= 1e-8 * (1.0 + fabs(theirs)))) {
        fail_msg("seed %llu, %s: %.12g, dae %.12g", (unsigned long long)seed,
                 is_node ? network->nodes[i].name : network->elements[probe.index].name, ours,
                 theirs);
      }
    }
    yoke__circuit_destroy(&nodal);
    yoke__circuit_destroy(&dae);
    yoke__network_destroy(&network);
  }
  // one of the networks feeds itself and has no solution for either
  assert_int_equal(n_there, 7);
}

// States hold and all the rest follows a jump of the input: refresh against dae; then both go on
// alike.
static void refresh_after_jump(void** state) {
  (void)state;
  int n_checked = 0;
  double largest = 0.0;
  for (uint64_t seed = 820; seed < 828; seed++) {
    yoke_network* network = make_random(seed, WITH_CONTROL | WITH_JUNCTIONS);
    maker m = {.network = network, .seed = seed, .n_names = 1000, .n_nodes = 3};
    const yoke_circuit_input input = {.name = "u", .dim = "A", .start = 0.1};
    yoke__network_add_input(network, &input);
    const uint32_t source = add(&m, YOKE_CURRENT, "n1", "n2", 0.0);
    network->elements[source].value.law = circuits_law(network, "u0");
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
      yoke_circuit_options options = options_of(methods[i], 2e-4);
      options.method = methods[i] == YOKE_CIRCUIT_TR ? YOKE_CIRCUIT_TRNP : methods[i];
      yoke_circuit* nodal = circuits_start(network, &options);
      options.formulation = YOKE_FORMULATION_DAE;
      yoke_circuit* dae = circuits_start(network, &options);
      const int n_steps = has_start_rates(network, dae) ? 12 : 0;
      for (int k = 0; k < n_steps; k++) {
        check_ok(yoke__circuit_step(nodal));
        check_ok(yoke__circuit_step(dae));
        if (k == 6) {
          yoke__circuit_set_input(nodal, 0, 1.0, 0.0, 0.0);
          yoke__circuit_set_input(dae, 0, 1.0, 0.0, 0.0);
          check_ok(yoke__circuit_refresh(nodal));
          check_ok(yoke__circuit_refresh(dae));
        }
        const double off = difference(network, dae, nodal);
        largest = off > largest ? off : largest;
        // rounding of rates as above
        check_between(off, 0.0, k < 6 ? 1e-9 : 1e-6);
        n_checked++;
      }
      yoke__circuit_destroy(&nodal);
      yoke__circuit_destroy(&dae);
    }
    yoke__network_destroy(&network);
  }
  print_message("largest difference %.2g\n", largest);
  assert_true(n_checked > 12 * 8);
}

// To the last bit as long as both have the pivots of the start, else to rounding.
static double allowed(const yoke_circuit* circuit) {
  yoke_circuit_counts counts = {0};
  yoke__circuit_get_counts(circuit, &counts);
  return counts.n_repivots == 0 ? 0.0 : 1e-11;
}

// An image put back into the same and into another circuit gives the same numbers again.
static void images(void** state) {
  (void)state;
  int n_exact = 0;
  for (int kind = 0; kind < 3; kind++) {
    const int with = kind == 0   ? WITH_SWITCHES | WITH_CONTROL | WITH_COUPLED
                     : kind == 1 ? WITH_SWITCHES | WITH_JUNCTIONS | WITH_LAWS | WITH_INPUTS
                                 : WITH_JUNCTIONS | WITH_LAWS | WITH_INPUTS;
    yoke_network* network = make_random(901 + 2 * (uint64_t)kind, with);
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
      const yoke_circuit_options options = options_of(methods[i], 2e-4);
      yoke_circuit* one = circuits_start(network, &options);
      yoke_circuit* two = circuits_start(network, &options);
      circuits_steps(one, 7);
      check_ok(yoke__circuit_refresh(one));
      const size_t size = yoke__circuit_image_size(one);
      void* image = calloc(1, size);
      assert_non_null(image);
      yoke__circuit_save(one, image);
      yoke__circuit_restore(two, image);
      assert_true(difference(network, one, two) == 0.0);
      circuits_steps(one, 20);
      circuits_steps(two, 20);
      check_between(difference(network, one, two), 0.0, allowed(one));
      n_exact += allowed(one) == 0.0;
      yoke__circuit_restore(one, image);
      circuits_steps(one, 20);
      check_between(difference(network, one, two), 0.0, allowed(one));
      free(image);
      yoke__circuit_destroy(&one);
      yoke__circuit_destroy(&two);
    }
    yoke__network_destroy(&network);
  }
  assert_true(n_exact >= 16);
}

// -------------------------------------------------------------------------------------------------
// figures and failures

// What is really solved: one unknown per loop of the ladder, three for the rectifier.
static void sizes(void** state) {
  (void)state;
  yoke_circuit_options options = options_of(YOKE_CIRCUIT_TR, 1e-4);
  yoke_circuit_sizes sizes = {0};
  yoke_network* ladder = circuits_ladder(100);
  yoke_circuit* circuit = circuits_start(ladder, &options);
  yoke__circuit_get_sizes(circuit, &sizes);
  assert_int_equal(sizes.n_solved, 199);
  yoke__circuit_destroy(&circuit);
  options.is_unmerged = true;
  circuit = circuits_start(ladder, &options);
  yoke__circuit_get_sizes(circuit, &sizes);
  assert_int_equal(sizes.n_solved, 200);
  yoke__circuit_destroy(&circuit);
  yoke__network_destroy(&ladder);
  yoke_network* rectifier = circuits_rectifier();
  options.is_unmerged = false;
  circuit = circuits_start(rectifier, &options);
  yoke__circuit_get_sizes(circuit, &sizes);
  assert_int_equal(sizes.n_solved, 2);
  yoke__circuit_destroy(&circuit);
  yoke__network_destroy(&rectifier);
}

// Published figures by this engine too: CI-05, CI-07, CI-12, CI-15.
static void published(void** state) {
  (void)state;
  const struct {
    circuits_name name;
    yoke_circuit_method method;
    double step, v, i, tolerance;
  } rows[] = {
      {CIRCUITS_RLC, YOKE_CIRCUIT_TR, 2.5e-3, 2.503e-4, 3.781e-4, 0.01},
      {CIRCUITS_RLC, YOKE_CIRCUIT_BDF2, 2.5e-3, 9.982e-4, 1.509e-3, 0.01},
      {CIRCUITS_RLC, YOKE_CIRCUIT_BDF3, 2.5e-3, 4.793e-5, 3.158e-5, 0.01},
      {CIRCUITS_RECTIFIER, YOKE_CIRCUIT_TR, 0.5e-3, 2.87e-4, 1.70e-4, 0.03},
      {CIRCUITS_RECTIFIER, YOKE_CIRCUIT_BDF2, 50e-6, 6.45e-6, 7.89e-6, 0.03},
      {CIRCUITS_RECTIFIER, YOKE_CIRCUIT_BDF3, 0.1e-3, 7.94e-6, 3.95e-6, 0.03},
      {CIRCUITS_PMSM, YOKE_CIRCUIT_BDF3, 0.5, 3.33e-7, 0.3884, 0.03},
  };
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    circuits_problem problem = circuits_open(rows[k].name, 0);
    const yoke_circuit_options options = {.method = rows[k].method, .step = rows[k].step};
    const circuits_result result = circuits_run(&problem, &options);
    check_ok(result.status);
    print_message("%s %s: %.4g %.4g, %.2f iterations\n", problem.name,
                  yoke__circuit_method_names[rows[k].method], result.v, result.i,
                  (double)result.counts.n_iterations / (double)result.counts.n_stages);
    check_relative(result.v, rows[k].v, rows[k].tolerance);
    check_relative(result.i, rows[k].i, rows[k].tolerance);
    assert_int_equal(result.counts.n_repivots, 0);
    assert_int_equal(result.counts.n_unconverged, 0);
    circuits_close(&problem);
  }
}

// CI-13: at any step no iteration takes more than 18 rounds.
static void robust_rectifier(void** state) {
  (void)state;
  const double steps[] = {1e-3, 0.5e-3, 0.25e-3, 0.1e-3, 0.05e-3};
  yoke_network* network = circuits_rectifier();
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    const yoke_circuit_options options = {.method = YOKE_CIRCUIT_TR, .step = steps[i]};
    yoke_circuit* circuit = circuits_start(network, &options);
    circuits_steps(circuit, (uint64_t)(0.3 / steps[i]));
    yoke_circuit_counts counts = {0};
    yoke__circuit_get_counts(circuit, &counts);
    print_message("h = %g: worst %u iterations\n", steps[i], counts.max_iterations);
    assert_true(counts.max_iterations <= 18);
    yoke__circuit_destroy(&circuit);
  }
  yoke__network_destroy(&network);
}

// A part that floats is named, with what to do.
static void floating_part(void** state) {
  (void)state;
  yoke_network* network = NULL;
  yoke_messages messages = {0};
  char text[1024];
  check_ok(yoke__network_create("floating", &network));
  circuits_add_constant(network, YOKE_RESISTOR, "r1", "a", "0", 1.0);
  circuits_add_constant(network, YOKE_RESISTOR, "r2", "island", "shore", 1.0);
  circuits_add_constant(network, YOKE_CAPACITOR, "c2", "island", "shore", 1.0);
  circuits_add_constant(network, YOKE_RESISTOR, "r3", "island", "shore", 3.0);
  const yoke_circuit_options options = {.step = 1e-3};
  yoke_circuit* circuit = NULL;
  assert_int_equal(yoke__circuit_create(network, &options, &messages, &circuit), YOKE_SINGULAR);
  yoke__messages_format(&messages, text, sizeof text);
  check_contains(text, "node 'island'");
  check_contains(text, "node 'shore'");
  check_contains(text, "path to ground");
  yoke__messages_free(&messages);
  yoke__network_destroy(&network);
}

// A switching network with room for few factors: states come back from those kept, and the limit
// holds.
static void factors_are_kept(void** state) {
  (void)state;
  yoke_network* network = NULL;
  check_ok(yoke__network_create("chopper", &network));
  static const yoke_switch_model model = {.r_on = 0.01, .r_off = 1e6};
  circuits_add_constant(network, YOKE_VOLTAGE, "v1", "in", "0", 10.0);
  const uint32_t lc[] = {circuits_add_constant(network, YOKE_INDUCTOR, "l1", "mid", "out", 1e-3),
                         circuits_add_constant(network, YOKE_CAPACITOR, "c1", "out", "0", 1e-4)};
  (void)lc;
  circuits_add_constant(network, YOKE_RESISTOR, "rl", "out", "0", 5.0);
  const char* const laws_of[] = {"t 5000 * 6.283185307179586 * sin",
                                 "t 5000 * 6.283185307179586 * sin neg"};
  for (int i = 0; i < 2; i++) {
    yoke_element element = {.kind = YOKE_SWITCH,
                            .name = i == 0 ? "s1" : "s2",
                            .control = YOKE_NO_INDEX,
                            .switching = &model};
    element.a = yoke__network_node(network, i == 0 ? "in" : "0", YOKE_ELECTRIC, (yoke_place){0});
    element.b = yoke__network_node(network, "mid", YOKE_ELECTRIC, (yoke_place){0});
    element.condition = circuits_law(network, laws_of[i]);
    yoke__network_add(network, &element);
  }
  const yoke_circuit_options options = {.method = YOKE_CIRCUIT_BDF2, .step = 3e-6};
  yoke_circuit* circuit = circuits_start(network, &options);
  circuits_steps(circuit, 20000);
  yoke_circuit_counts counts = {0};
  yoke__circuit_get_counts(circuit, &counts);
  print_message("%llu switchings, %llu from kept factors, %llu refactors\n",
                (unsigned long long)counts.n_switchings, (unsigned long long)counts.n_cached,
                (unsigned long long)counts.n_refactors);
  assert_true(counts.n_switchings > 500);
  assert_true(counts.n_cached + 6 >= counts.n_switchings);
  assert_true(counts.n_refactors < 12);
  // half of the time at 10 V
  double mean = 0.0;
  for (int k = 0; k < 2000; k++) {
    circuits_steps(circuit, 1);
    mean += circuits_voltage(circuit, network, "out") / 2000.0;
  }
  check_near(mean, 5.0, 0.1);
  yoke__circuit_destroy(&circuit);
  yoke__network_destroy(&network);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(linear_networks),
      cmocka_unit_test(controlled_sources),
      cmocka_unit_test(coupled_inductors),
      cmocka_unit_test(switches),
      cmocka_unit_test(junctions),
      cmocka_unit_test(charged_junctions),
      cmocka_unit_test(laws),
      cmocka_unit_test(moving_values),
      cmocka_unit_test(everything),
      cmocka_unit_test(sensitivities),
      cmocka_unit_test(refresh_after_jump),
      cmocka_unit_test(images),
      cmocka_unit_test(sizes),
      cmocka_unit_test(published),
      cmocka_unit_test(robust_rectifier),
      cmocka_unit_test(floating_part),
      cmocka_unit_test(factors_are_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
