// Values are chosen so that time constants lie between some us and the length of the run: R 5..100 Ohm, C 1..100 uF,
// L 1..100 mH. A node with an inductor gets a capacitor or a small resistor to ground, otherwise a jump of its current
// would meet the leak alone: kilovolts for nanoseconds, which no fixed step resolves. Capacitors start at the
// difference of the start values of their nodes, so that loops of them agree. Sources of voltage stand in series with a
// resistor. Gains are small: loops through controlled sources stay stable.
#include "circuit/oracle/oracle_random.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "yoke/status.h"

enum { MAX_SENSES = 16, MAX_INDUCTORS = 64 };

typedef struct writer {
  char* text;
  size_t size, n;
  uint64_t state;
  bool has_diodes;
  int n_nodes;                         // n1 .. n<n_nodes>
  int n_limit;                         // nodes it may make
  int n_elements;                      // for names
  double start[ORACLE_MAX_NODES + 1];  // voltage of each node at t = 0
  bool has_inductor[ORACLE_MAX_NODES + 1];
  int senses[MAX_SENSES], n_senses;           // current sensors: names of voltage sources
  int inductors[MAX_INDUCTORS], n_inductors;  // not coupled yet
} writer;

static void put(writer* w, const char* format, ...) YOKE_PRINTF(2, 3);
static void put(writer* w, const char* format, ...) {
  const size_t room = w->n < w->size ? w->size - w->n : 0;
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(room > 0 ? w->text + w->n : NULL, room, format, args);
  va_end(args);
  w->n += n > 0 ? (size_t)n : 0;
}

// ---------------------------------------------------------------------------------------------------------
// chance: splitmix64. Never two draws in one argument list: compilers evaluate those in different orders.

static uint64_t next_bits(writer* w) {
  uint64_t z = (w->state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static double uniform(writer* w, double low, double high) {
  return low + (high - low) * (double)(next_bits(w) >> 11) * 0x1p-53;
}

static double log_uniform(writer* w, double low, double high) {
  return exp(uniform(w, log(low), log(high)));
}

// 0 .. n-1
static int pick(writer* w, int n) {
  return (int)(next_bits(w) % (uint64_t)n);
}

static bool chance(writer* w, double p) {
  return uniform(w, 0.0, 1.0) < p;
}

// Any node but `other`; ground in one case of eight.
static int other_node(writer* w, int other) {
  int node = other;
  while (node == other) {
    node = chance(w, 0.125) ? 0 : 1 + pick(w, w->n_nodes);
  }
  return node;
}

// A node inside a branch: nothing else is ever connected to it.
typedef struct node_name {
  char text[16];
} node_name;

static node_name name_of(int node) {
  node_name name;
  snprintf(name.text, sizeof name.text, node == 0 ? "0" : "n%d", node);
  return name;
}

static node_name inner_of(int element) {
  node_name name;
  snprintf(name.text, sizeof name.text, "m%d", element);
  return name;
}

// ---------------------------------------------------------------------------------------------------------
// sources

// a number of grid intervals [s]
static double grid_time(writer* w, int from, int to) {
  return ORACLE_GRID * (from + pick(w, to - from + 1));
}

static void put_sine(writer* w, double amplitude) {
  const double td = chance(w, 0.5) ? 0.0 : grid_time(w, 1, 10);
  const double theta = chance(w, 0.3) ? uniform(w, 10.0, 300.0) : 0.0;
  const double phase = chance(w, 0.3) ? uniform(w, -90.0, 90.0) : 0.0;
  const double offset = uniform(w, -0.3, 0.3) * amplitude;
  const double frequency = log_uniform(w, 50.0, 2000.0);
  put(w, "sin(%.5g %.5g %.5g %.9g %.5g %.5g)\n", offset, amplitude, frequency, td, theta, phase);
}

static void put_pulse(writer* w, double amplitude) {
  const double td = grid_time(w, 0, 5), tr = grid_time(w, 1, 3), tf = grid_time(w, 1, 3);
  const double pw = grid_time(w, 1, 6);
  const double period = tr + pw + tf + grid_time(w, 1, 10);
  put(w, "pulse(%.5g %.5g %.9g %.9g %.9g %.9g %.9g)\n", uniform(w, -0.5, 0.5) * amplitude,
      amplitude, td, tr, tf, pw, period);
}

static void put_table(writer* w, double amplitude) {
  put(w, "pwl(0 %.5g", uniform(w, -1.0, 1.0) * amplitude);
  int at = 0;
  for (int i = 0; i < 6; i++) {
    at += 1 + pick(w, 8);
    put(w, " %.9g %.5g", ORACLE_GRID * at, uniform(w, -1.0, 1.0) * amplitude);
  }
  put(w, ")\n");
}

static void put_exponential(writer* w, double amplitude) {
  const double td1 = grid_time(w, 0, 10);
  const double td2 = td1 + grid_time(w, 1, 20);
  const double tau1 = log_uniform(w, 1e-4, 3e-3), tau2 = log_uniform(w, 1e-4, 3e-3);
  put(w, "exp(%.5g %.5g %.9g %.5g %.9g %.5g)\n", uniform(w, -0.5, 0.5) * amplitude, amplitude, td1,
      tau1, td2, tau2);
}

static void put_wave(writer* w, double amplitude) {
  switch (pick(w, 5)) {
  case 0:
    put(w, "dc %.5g\n", uniform(w, -1.0, 1.0) * amplitude);
    break;
  case 1:
    put_sine(w, amplitude);
    break;
  case 2:
    put_pulse(w, amplitude);
    break;
  case 3:
    put_table(w, amplitude);
    break;
  default:
    put_exponential(w, amplitude);
    break;
  }
}

// ---------------------------------------------------------------------------------------------------------
// branches between two nodes

static void put_resistor(writer* w, const char* a, const char* b) {
  put(w, "r%d %s %s %.5g\n", ++w->n_elements, a, b, log_uniform(w, 5.0, 100.0));
}

static void put_capacitor(writer* w, int a, int b) {
  put(w, "c%d %s %s %.5g ic=%.17g\n", ++w->n_elements, name_of(a).text, name_of(b).text,
      log_uniform(w, 1e-6, 1e-4), w->start[a] - w->start[b]);
}

static void put_inductor(writer* w, int a, int b) {
  const int id = ++w->n_elements;
  const double start = chance(w, 0.3) ? uniform(w, -0.05, 0.05) : 0.0;
  put(w, "l%d %s %s %.5g ic=%.5g\n", id, name_of(a).text, name_of(b).text,
      log_uniform(w, 1e-3, 1e-1), start);
  w->has_inductor[a] = w->has_inductor[b] = true;
  if (w->n_inductors < MAX_INDUCTORS) {
    w->inductors[w->n_inductors++] = id;
  }
}

static void put_coupling(writer* w) {
  if (w->n_inductors < 2) {
    return;
  }
  const int one = w->inductors[--w->n_inductors];
  const int two = w->inductors[--w->n_inductors];
  put(w, "k%d l%d l%d %.5g\n", ++w->n_elements, one, two, uniform(w, 0.1, 0.95));
}

// What stands between a and an inner node, with a resistor from there to b.
static node_name begin_series(writer* w, int b) {
  const node_name inner = inner_of(++w->n_elements);
  w->n_limit--;
  put_resistor(w, inner.text, name_of(b).text);
  return inner;
}

static void put_voltage_source(writer* w, int a, int b) {
  const node_name inner = begin_series(w, b);
  put(w, "v%d %s %s ", ++w->n_elements, inner.text, name_of(a).text);
  put_wave(w, log_uniform(w, 1.0, 20.0));
}

static void put_current_source(writer* w, int a, int b) {
  put(w, "i%d %s %s ", ++w->n_elements, name_of(a).text, name_of(b).text);
  put_wave(w, log_uniform(w, 0.01, 0.3));
}

// a sensor of current in series with a resistor
static void put_sense(writer* w, int a, int b) {
  const node_name inner = begin_series(w, b);
  put(w, "v%d %s %s dc 0\n", ++w->n_elements, name_of(a).text, inner.text);
  if (w->n_senses < MAX_SENSES) {
    w->senses[w->n_senses++] = w->n_elements;
  }
}

static double small_gain(writer* w, double limit) {
  const double sign = chance(w, 0.5) ? -1.0 : 1.0;
  return sign * log_uniform(w, 0.05 * limit, limit);
}

static void put_controlled(writer* w, int a, int b) {
  const int c = other_node(w, -1), d = other_node(w, c);
  const int kind = pick(w, w->n_senses > 0 ? 4 : 2);
  const int sense = w->n_senses > 0 ? w->senses[pick(w, w->n_senses)] : 0;
  if (kind == 0) {
    const node_name inner = begin_series(w, b);
    put(w, "e%d %s %s %s %s %.5g\n", ++w->n_elements, inner.text, name_of(a).text, name_of(c).text,
        name_of(d).text, small_gain(w, 0.5));
  } else if (kind == 1) {
    put(w, "g%d %s %s %s %s %.5g\n", ++w->n_elements, name_of(a).text, name_of(b).text,
        name_of(c).text, name_of(d).text, small_gain(w, 2e-3));
  } else if (kind == 2) {
    put(w, "f%d %s %s v%d %.5g\n", ++w->n_elements, name_of(a).text, name_of(b).text, sense,
        small_gain(w, 0.5));
  } else {
    const node_name inner = begin_series(w, b);
    put(w, "h%d %s %s v%d %.5g\n", ++w->n_elements, inner.text, name_of(a).text, sense,
        small_gain(w, 5.0));
  }
}

// with a leak across it
static void put_diode(writer* w, int a, int b) {
  const int id = ++w->n_elements;
  put(w, "d%d %s %s dm%d\n", id, name_of(a).text, name_of(b).text, pick(w, 3));
  put(w, "rd%d %s %s %.5g\n", id, name_of(a).text, name_of(b).text, log_uniform(w, 1e5, 1e6));
}

// ---------------------------------------------------------------------------------------------------------
// the network

// every node hangs on an earlier one and leaks to ground
static void put_tree(writer* w, int n_nodes) {
  for (int k = 1; k <= n_nodes; k++) {
    w->n_nodes = k;
    const int parent = k <= 2 ? 0 : 1 + (k - 2 - pick(w, k - 2 < 4 ? k - 2 : 4));
    const int kind = pick(w, 10);
    if (k == 1 || kind == 0) {
      put_voltage_source(w, k, parent);
    } else if (kind <= 2) {
      put_inductor(w, k, parent);
    } else {
      put_resistor(w, name_of(k).text, name_of(parent).text);
    }
    put(w, "rleak%d n%d 0 %.5g\n", k, k, log_uniform(w, 200.0, 5000.0));
  }
}

static void put_branch(writer* w) {
  const int a = 1 + pick(w, w->n_nodes), b = other_node(w, a);
  const int kind = pick(w, w->has_diodes ? 13 : 9);
  // branches with an inner node only while there is room
  const bool has_room = w->n_limit > 0;
  if (kind <= 1) {
    put_capacitor(w, a, b);
  } else if (kind == 2) {
    put_inductor(w, a, b);
  } else if (kind == 3) {
    put_current_source(w, a, b);
  } else if (kind == 4 && has_room) {
    put_voltage_source(w, a, b);
  } else if (kind == 5 && has_room) {
    put_sense(w, a, b);
  } else if (kind == 6 && has_room) {
    put_controlled(w, a, b);
  } else if (kind == 7) {
    put_coupling(w);
  } else if (kind >= 9) {
    put_diode(w, a, b);
  } else {
    put_resistor(w, name_of(a).text, name_of(b).text);
  }
}

static void put_dampers(writer* w) {
  for (int k = 1; k <= w->n_nodes; k++) {
    if (w->has_inductor[k] && chance(w, 0.7)) {
      put_capacitor(w, k, 0);
    } else if (w->has_inductor[k]) {
      put_resistor(w, name_of(k).text, "0");
    }
  }
}

static void put_tick(writer* w) {
  put(w, "vtick tick 0 pwl(0 0");
  for (int i = 1; i <= ORACLE_N_GRID; i++) {
    put(w, "%s%.9g %d", i % 8 == 0 ? "\n+ " : " ", ORACLE_GRID * i, i % 2);
  }
  put(w, ")\nrtick tick 0 1k\n");
}

static void put_models(writer* w) {
  for (int i = 0; i < 3; i++) {
    const double is = log_uniform(w, 1e-15, 1e-12), n = uniform(w, 1.0, 2.0);
    put(w, ".model dm%d d(is=%.5g n=%.5g rs=%.5g)\n", i, is, n,
        i == 0 ? 0.0 : log_uniform(w, 0.01, 1.0));
  }
}

size_t oracle_random_netlist(uint64_t seed, bool has_diodes, char* text, size_t size) {
  writer w = {.size = size, .state = seed, .has_diodes = has_diodes};
  w.text = text;
  put(&w, "random network %llu%s\n", (unsigned long long)seed, has_diodes ? " with diodes" : "");
  // two nodes in three by themselves, the rest for inner nodes; one is the tick's
  const int n_nodes = 3 + pick(&w, 37);
  w.n_limit = ORACLE_MAX_NODES - 1 - n_nodes;

  // diodes would turn start values into large currents at once
  const bool has_start = !has_diodes && chance(&w, 0.5);
  for (int k = 1; k <= n_nodes; k++) {
    w.start[k] = has_start ? uniform(&w, -2.0, 2.0) : 0.0;
  }
  put_tree(&w, n_nodes);
  const int n_branches = n_nodes / 2 + 2 + pick(&w, n_nodes);
  for (int i = 0; i < n_branches; i++) {
    put_branch(&w);
  }
  put_dampers(&w);
  put_tick(&w);
  if (has_diodes) {
    put_models(&w);
  }
  return w.n;
}
