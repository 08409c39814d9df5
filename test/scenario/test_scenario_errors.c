// Each mistake in a well-formed file gives one message with its position and what was expected,
// and all mistakes of a file are reported at once.
#include "scenario_helper.h"

// What a case is appended to: good by itself, four lines long.
#define BASE "yoke: 1\ntime: {stop: 1, step: 0.1}\nunits:\n  a: {model: m}\n"

typedef struct mistake {
  const char* text;      // lines 5, 6, ... of the file
  const char* messages;  // without the name of the file
} mistake;

static void check_mistakes(const mistake* cases, size_t n) {
  char text[4096];
  for (size_t i = 0; i < n; i++) {
    snprintf(text, sizeof text, "%s%s", BASE, cases[i].text);
    check_messages(text, cases[i].messages);
  }
}

#define CHECK_MISTAKES(cases) check_mistakes(cases, sizeof(cases) / sizeof((cases)[0]))

static void test_top_level(void** state) {
  (void)state;
  static const mistake cases[] = {
      {"shceme: jacobi\n", "5:1: error: unknown key 'shceme' in the file; did you mean 'scheme'?"},
      {"zzz: 1\n",
       "5:1: error: unknown key 'zzz' in the file; known keys: yoke, name, text, time, scheme, "
       "exchange, inputs, calls, threads, order, iteration, units, laws, connections, bonds, "
       "couplings, "
       "quality, "
       "trust, safe, "
       "record"},
      {"scheme: jacobbi\n",
       "5:9: error: 'scheme': expected jacobi, gauss-seidel, iterative-jacobi or "
       "iterative-gauss-seidel, found the text 'jacobbi'; did you mean 'jacobi'?"},
      {"scheme: [jacobi]\n",
       "5:9: error: 'scheme': expected jacobi, gauss-seidel, iterative-jacobi "
       "or iterative-gauss-seidel, found a list"},
      {"scheme:\n", "5:8: error: 'scheme': expected jacobi, gauss-seidel, iterative-jacobi or "
                    "iterative-gauss-seidel, found nothing"},
      {"exchange: 3\n", "5:11: error: 'exchange': expected stale or fresh, found 3"},
      {"threads: -1\n", "5:10: error: 'threads': expected an integer from 0 to 256, found -1"},
      {"threads: 257\n", "5:10: error: 'threads': expected an integer from 0 to 256, found 257"},
      {"threads: 2.5\n", "5:10: error: 'threads': expected an integer from 0 to 256, found 2.5"},
      {"threads: true\n", "5:10: error: 'threads': expected an integer from 0 to 256, found true"},
      {"threads: '2'\n",
       "5:10: error: 'threads': expected an integer from 0 to 256, found the text '2' (in quotes)"},
      {"threads: 99999999999999999999\n",
       "5:10: error: 'threads': expected an integer from 0 to 256, found 99999999999999999999"},
      {"order: {a: 1}\n", "5:8: error: 'order': expected a list of texts, found a map"},
      {"order: [a, [b], b c]\n", "5:12: error: expected a text, found a list"},
      {"order: [a, b c, a]\n", "5:12: error: 'order': 'b c' is no name of a unit\n"
                               "5:17: error: the unit 'a' was named before at line 5, column 9"},
      {"name: [x]\n", "5:7: error: 'name': expected a text, found a list"},
      {"text: {}\n", "5:7: error: 'text': expected a text, found a map"},
      {"quality: 3\n", "5:10: error: 'quality': expected a map, found 3"},
      {"iteration: 3\n", "5:12: error: 'iteration': expected a map, found 3"},
      {"iteration: {mode: hold, update: newton}\n",
       "5:19: error: 'mode': expected mean, interpolate or hold-end, found the text 'hold'\n"
       "5:33: error: 'update': expected fixed-point, relaxation, aitken or quasi-newton, found the "
       "text 'newton'"},
      {"iteration: {relaxation: 2, tolerance: 0, max: 0}\n",
       "5:25: error: 'relaxation': expected a number between 0 and 2, both excluded, found 2\n"
       "5:39: error: 'tolerance': expected a number greater than 0, found 0\n"
       "5:47: error: 'max': expected an integer from 1 to 10000, found 0"},
      {"iteration: {relax: 1}\n", "5:13: error: unknown key 'relax' in 'iteration'; known keys: "
                                  "mode, update, relaxation, tolerance, max"},
  };
  CHECK_MISTAKES(cases);
}

static void test_record(void** state) {
  (void)state;
  static const mistake cases[] = {
      {"record: all\n", "5:9: error: 'record': expected a map, found the text 'all'"},
      {"record: {evry: 2}\n", "5:10: error: unknown key 'evry' in 'record'; did you mean 'every'?"},
      {"record: {every: 0}\n", "5:17: error: 'every': expected an integer of at least 1, found 0"},
      {"record: {every: 1.5}\n",
       "5:17: error: 'every': expected an integer of at least 1, found 1.5"},
      {"record: {signals: {a: 1}}\n",
       "5:19: error: 'signals': expected a list of texts, found a map"},
      {"record: {formats: [csv, hdf, csv]}\n",
       "5:30: error: the format 'csv' was named before at line 5, column 20"},
  };
  CHECK_MISTAKES(cases);
}

static void test_times(void** state) {
  (void)state;
  static const struct {
    const char *time, *messages;
  } cases[] = {
      {"{stop: 1, step: 0}", "2:23: error: 'step': expected a number greater than 0, found 0"},
      {"{stop: 1, step: -0.0}",
       "2:23: error: 'step': expected a number greater than 0, found -0.0"},
      {"{stop: 1, step: -1e-3}",
       "2:23: error: 'step': expected a number greater than 0, found -1e-3"},
      {"{stop: 1, step: nan}", "2:23: error: 'step': expected a number greater than 0, found nan "
                               "(numbers must be finite)"},
      {"{stop: .inf, step: 1}",
       "2:14: error: 'stop': expected a number, found .inf (numbers must be finite)"},
      {"{stop: 1e999, step: 1}",
       "2:14: error: 'stop': expected a number, found 1e999, which is too large for a number"},
      {"{stop: 1, step: 1e-400}",
       "2:23: error: 'step': expected a number greater than 0, found 1e-400"},
      {"{stop: abc, step: 1}", "2:14: error: 'stop': expected a number, found the text 'abc'"},
      {"{stop: '5', step: 1}",
       "2:14: error: 'stop': expected a number, found the text '5' (in quotes)"},
      {"{stop: 0x10, step: 1}", "2:14: error: 'stop': expected a number, found the text '0x10'"},
      {"{stop: 1 s, step: 1}",
       "2:14: error: 'stop': expected a number without unit, in SI, found the text '1 s'"},
      {"{stop: [1], step: 1}", "2:14: error: 'stop': expected a number, found a list"},
      {"{stop: , step: 1}", "2:14: error: 'stop': expected a number, found nothing"},
      {"{stop: 0, step: 1}", "2:14: error: 'stop': expected a time behind the start 0, found 0"},
      {"{start: 2, stop: 1.5, step: 1}",
       "2:24: error: 'stop': expected a time behind the start 2, found 1.5"},
      {"{stpo: 1, step: 1}",
       "2:1: error: the key 'time.stop' is missing; expected for example 'time: {stop: 10, step: "
       "1e-3}'\n"
       "2:8: error: unknown key 'stpo' in 'time'; did you mean 'stop'?"},
      {"5", "2:7: error: 'time': expected a map, found 5"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[512];
    snprintf(text, sizeof text, "yoke: 1\ntime: %s\nunits: {a: {model: m}}\n", cases[i].time);
    check_messages(text, cases[i].messages);
  }
}

static void test_missing_keys(void** state) {
  (void)state;
  check_messages("name: x\n",
                 "1:1: error: the key 'yoke' is missing; expected for example 'yoke: 1'\n"
                 "1:1: error: the key 'units' is missing; expected for example 'units: {left: "
                 "{model: oscillator.force}}'\n"
                 "1:1: error: the key 'time.stop' is missing; expected for example 'time: {stop: "
                 "10, step: 1e-3}'\n"
                 "1:1: error: the key 'time.step' is missing; expected for example 'time: {stop: "
                 "10, step: 1e-3}'");
  check_messages("yoke: 1\ntime:\nunits: {a: {model: m}}\n",
                 "2:1: error: the key 'time.stop' is missing; expected for example 'time: {stop: "
                 "10, step: 1e-3}'\n"
                 "2:1: error: the key 'time.step' is missing; expected for example 'time: {stop: "
                 "10, step: 1e-3}'");
  check_messages("yoke: 2\ntime: {stop: 1, step: 1}\nunits: {}\n",
                 "1:7: error: 'yoke': this version reads system files of version 1, found version "
                 "2\n"
                 "3:1: error: 'units': expected at least one unit, found none");
  check_messages("yoke: 1\ntime: {stop: 1, step: 1}\nunits:\n",
                 "3:1: error: 'units': expected at least one unit, found none");
  check_messages("yoke: 1\ntime: {stop: 1, step: 1}\nunits: [a]\n",
                 "3:8: error: 'units': expected a map of units, found a list");
  check_messages("- yoke\n", "1:1: error: expected a map, found a list");
  check_messages("hello\n", "1:1: error: expected a map, found the text 'hello'");
}

static void test_units(void** state) {
  (void)state;
  static const mistake cases[] = {
      {"  b: {}\n", "5:3: error: unit 'b' has no kind: expected the key 'model', 'fmu', 'circuit', "
                    "'twin' or 'library'"},
      {"  b:\n",
       "5:3: error: 'b': expected a map such as {model: oscillator.force}, found nothing"},
      {"  b: m\n", "5:6: error: 'b': expected a map, found the text 'm'"},
      {"  b: {model: m, solver: rk4}\n",
       "5:17: error: unit 'b': 'solver' is for FMUs and circuits"},
      {"  b: {circuit: x.cir, solver: cvode}\n", "5:31: error: 'solver': expected trbdf2, tr, "
                                                 "trnp, bdf1, bdf2, bdf3, esdirk3, esdirk4, euler "
                                                 "or rk4, found the text 'cvode'"},
      {"  b: {solver: {method: bdf2}, fmu: x.fmu}\n",
       "5:24: error: 'method': expected dopri5, cvode, rk4, euler or trapezoidal, found the text "
       "'bdf2'"},
      {"  b: {fmu: x.fmu, solver: {iterations: 3}}\n",
       "5:28: error: unit 'b': 'iterations' is for circuits"},
      {"  b: {circuit: x.cir, solver: {iterations: 0}}\n",
       "5:44: error: 'iterations': expected an integer from 1 to 1000, found 0"},
      {"  b: {circuit: x.cir, log: true}\n", "5:23: error: unit 'b': 'log' is for FMUs"},
      {"  b: {port: x, meter: y}\n",
       "5:13: error: 'port': expected none, udp or shm, found the text 'x'\n"
       "5:16: error: meters are not supported by this version"},
      {"  b: {model: m, port: udp}\n",
       "5:17: error: unit 'b': 'port' needs 'peer', the address of the other end, such as peer: "
       "127.0.0.1:47001"},
      {"  b: {model: m, peer: x}\n",
       "5:17: error: unit 'b': 'peer' belongs to a port: write port: udp"},
      {"  b: {model: m, port: udp, peer: x, isolate: process}\n",
       "5:17: error: unit 'b': 'port' and 'isolate' both say where it runs: leave out one"},
      {"  b: {model: m, port: udp, peer: x, limits: {f: {min: 2, max: 1}}}\n",
       "5:46: error: 'limits' of 'f': 'min' is above 'max'"},
      {"  b: {model: m, port: udp, peer: x, limits: {f: {slope: 0}}}\n",
       "5:57: error: 'slope': expected a number greater than 0, found 0"},
      {"  b: {law: x}\n", "5:7: error: a law stands under 'laws', not under 'units'"},
      {"  b: {modle: x}\n",
       "5:3: error: unit 'b' has no kind: expected the key 'model', 'fmu', 'circuit', "
       "'twin' or 'library'\n"
       "5:7: error: unknown key 'modle' in unit 'b'; did you mean 'model'?"},
      {"  b: {model: [x]}\n", "5:14: error: 'model': expected a text, found a list"},
      {"  b: {model: }\n", "5:14: error: 'model': expected a text, found nothing"},
      {"  b: {model: m, with: [k]}\n",
       "5:23: error: 'with': expected a map of names and values, found a list"},
      {"  b: {model: m, start: 3}\n",
       "5:24: error: 'start': expected a map of names and values, found 3"},
      {"  b: {model: m, step: 0, tolerance: -1, cost: -1, exchange: old}\n",
       "5:23: error: 'step': expected a number greater than 0, found 0\n"
       "5:37: error: 'tolerance': expected a number greater than 0, found -1\n"
       "5:47: error: 'cost': expected a number that is 0 or greater, found -1\n"
       "5:61: error: 'exchange': expected stale or fresh, found the text 'old'"},
      {"  2b: {model: m}\n", "5:3: error: '2b' is no name for a unit: expected a letter or '_', "
                             "then letters, digits, '_' or '-'"},
      {"  a.b: {model: m}\n", "5:3: error: 'a.b' is no name for a unit: expected a letter or '_', "
                              "then letters, digits, '_' or '-'"},
      {"  bond: {model: m}\n",
       "5:3: error: the name 'bond' is reserved; choose another for this unit"},
      {"  a: {model: n}\n", "5:3: error: the key 'a' was given before at line 4, column 3"},
      {"laws: [x]\n", "5:7: error: 'laws': expected a map of laws, found a list"},
      {"laws: {s: {law: l, law: l}}\n",
       "5:20: error: the key 'law' was given before at line 5, column 12"},
      {"laws: {s: {with: {k: 1}}}\n", "5:8: error: law 's' has no kind: expected the key 'law'"},
      {"laws: {s: }\n",
       "5:8: error: 's': expected a map such as {law: spring_damper}, found nothing"},
      {"laws: {s: {model: l}}\n",
       "5:12: error: a model stands under 'units'; a law is given by 'law'"},
      {"laws: {s: {law: l, step: 1}}\n", "5:20: error: a law has no 'step': it has no state and is "
                                         "evaluated with the exchange"},
      {"laws: {a: {law: l}}\n", "5:8: error: the unit 'a' was named before at line 4, column 3"},
  };
  CHECK_MISTAKES(cases);
}

static void test_connections(void** state) {
  (void)state;
#define HINT "; names with spaces, quotes or '->' go into double quotes or the long form"
  static const mistake cases[] = {
      {"connections: {a: b}\n",
       "5:14: error: 'connections': expected a list of connections, found a map"},
      {"connections:\n- a.x\n", "6:6: error: expected '->', found the end of 'a.x'" HINT},
      {"connections:\n- a.x => b.y\n", "6:7: error: expected '->', found '=> b.y'" HINT},
      {"connections:\n- a.x ->\n",
       "6:9: error: expected 'unit.variable', found the end of 'a.x ->'"},
      {"connections:\n- a.x -> by\n", "6:10: error: expected 'unit.variable', found 'by'"},
      {"connections:\n- a.x -> .y\n", "6:10: error: expected 'unit.variable', found '.y'"},
      {"connections:\n- a.x -> b.\n", "6:10: error: expected 'unit.variable', found 'b.'"},
      {"connections:\n- a.x -> b.y z\n",
       "6:14: error: expected the end of the connection, found 'z'" HINT},
      {"connections:\n- a.x -> b.y -> c.z\n",
       "6:14: error: expected the end of the connection, found '-> c.z'" HINT},
      {"connections:\n- a.odd name -> b.y\n",
       "6:9: error: expected '->', found 'name -> b.y'" HINT},
      {"connections:\n- a.\"odd -> b.y\n",
       "6:5: error: expected closing quotes, found '\"odd -> b.y'"},
      {"connections:\n- a.od\"d\" -> b.y\n",
       "6:7: error: expected a name, found '\"d\" -> b.y'" HINT},
      {"connections:\n- 1a.x -> b.y\n", "6:3: error: '1a' is no name of a unit: expected a letter "
                                        "or '_', then letters, digits, '_' or '-'"},
      {"connections:\n- \"a.x -> bond.y\"\n",
       "6:11: error: the name 'bond' is reserved; expected 'unit.variable'"},
      {"connections:\n- \"a.x -> \\u00e9.y\"\n",
       "6:3: error: '\xc3\xa9' is no name of a unit: expected a letter or '_', then letters, "
       "digits, '_' or '-'"},
      {"connections:\n- [a.x, b.y]\n",
       "6:3: error: expected 'a.x -> b.y' or {from: a.x, to: b.y}, found a list"},
      {"connections:\n-\n",
       "6:2: error: expected 'a.x -> b.y' or {from: a.x, to: b.y}, found nothing"},
      {"connections:\n- {from: a.x}\n",
       "6:3: error: the connection has no 'to': expected 'to: unit.variable'"},
      {"connections:\n- {from: x, to: [b.y]}\n",
       "6:10: error: expected 'unit.variable', found 'x'\n"
       "6:17: error: 'to': expected a text, found a list"},
      {"connections:\n- {from: a.x, too: b.y}\n",
       "6:3: error: the connection has no 'to': expected 'to: unit.variable'\n"
       "6:15: error: unknown key 'too' in the connection; did you mean 'to'?"},
      {"connections:\n- {from: a.x, to: b.y, gain: x, offset: .nan, order: 4, delay: -1, "
       "exchange: 0}\n",
       "6:30: error: 'gain': expected a number, found the text 'x'\n"
       "6:41: error: 'offset': expected a number, found .nan (numbers must be finite)\n"
       "6:54: error: 'order': expected an integer from 0 to 3, found 4\n"
       "6:64: error: 'delay': expected a number that is 0 or greater, found -1\n"
       "6:78: error: 'exchange': expected a number greater than 0, found 0"},
      {"connections:\n- {from: a.x, to: b.y, order: 1.0}\n",
       "6:31: error: 'order': expected an integer from 0 to 3, found 1.0"},
      {"connections:\n- {from: a.x, to: b.y, method: nepce}\n",
       "6:32: error: 'method': expected hold or auto, found the text 'nepce'"},
  };
#undef HINT
  CHECK_MISTAKES(cases);
}

static void test_bonds_and_couplings(void** state) {
  (void)state;
  static const mistake cases[] = {
      {"bonds: [x]\n", "5:8: error: 'bonds': expected a map of bonds, found a list"},
      {"bonds: {s: 3}\n", "5:12: error: 's': expected a map, found 3"},
      {"bonds: {s: {}}\n", "5:9: error: the bond 's' has no 'action'\n"
                           "5:9: error: the bond 's' has no 'rate'"},
      {"bonds: {s: {action: a.f, rate: a.v, sgn: 1}}\n",
       "5:37: error: unknown key 'sgn' in the bond; did you mean 'sign'?"},
      {"bonds: {s: {action: a.f, rate: a.v, sign: 0.5}}\n",
       "5:43: error: 'sign': expected 1 or -1, found 0.5"},
      {"bonds: {s: {action: a.f, rate: a.v, sign: 2}}\n",
       "5:43: error: 'sign': expected 1 or -1, found 2"},
      {"bonds: {s: {action: [a.f, a.g], rate: a.v}}\n",
       "5:9: error: the bond 's' has 2 variables in 'action' but 1 in 'rate'; expected equally "
       "many"},
      {"bonds: {s: {action: {}, rate: []}}\n",
       "5:21: error: 'action': expected 'a.x -> b.y' or 'a.x', or a list of them\n"
       "5:31: error: 'rate': expected 'a.x -> b.y' or 'a.x', or a list of them"},
      {"bonds: {s: {action: [a.f, f], rate: [a.v, [a.w]]}}\n",
       "5:27: error: expected 'unit.variable', found 'f'\n"
       "5:43: error: expected a text, found a list"},
      {"bonds: {s: {action: a.f, rate: a.v, coupling: energy}}\n",
       "5:47: error: 'coupling': expected a map such as {method: energy}, found the text "
       "'energy'"},
      {"bonds: {s: {action: a.f, rate: a.v, coupling: {k_i: 1}}}\n",
       "5:37: error: 'coupling' has no 'method'"},
      {"bonds: {s.t: {action: a.f, rate: a.v}}\n",
       "5:9: error: 's.t' is no name for a bond: expected a letter or '_', then letters, digits, "
       "'_' or '-'"},
      {"couplings: 1\n", "5:12: error: 'couplings': expected a map of couplings, found 1"},
      {"couplings: {c: mpsm}\n", "5:16: error: 'c': expected a map such as {method: mpsm, members: "
                                 "[a, b]}, found the text 'mpsm'"},
      {"couplings: {c: {}}\n", "5:13: error: 'c' has no 'method'\n"
                               "5:13: error: the coupling 'c' has no 'members'"},
      {"couplings: {c: {method: [m], members: a}}\n",
       "5:25: error: 'method': expected a text, found a list\n"
       "5:39: error: 'members': expected a list of names, found the text 'a'"},
      {"couplings: {c: {method: m, members: []}}\n",
       "5:37: error: 'members': expected at least one name, found an empty list"},
      {"couplings: {c: {method: m, members: [a, a]}}\n",
       "5:41: error: the member 'a' was named before at line 5, column 38"},
  };
  CHECK_MISTAKES(cases);
}

// Twelve mistakes of all kinds, twelve messages, in the order of the file.
static void test_all_errors_come_at_once(void** state) {
  (void)state;
  check_messages(
      "yoke: one\n"
      "time: {stop: -1, step: 0}\n"
      "scheme: jacobian\n"
      "units:\n"
      "  left: {model: &m osc, stepp: 1}\n"
      "  right: {meter: right}\n"
      "  left: {model: m}\n"
      "connections:\n"
      "  - left.x -> right\n"
      "  - {from: left.x, to: right.y, order: 9}\n"
      "record: {every: *m, formats: csv}\n"
      "colour: blue\n",
      "1:7: error: 'yoke': expected an integer of at least 1, found the text 'one'\n"
      "2:14: error: 'stop': expected a time behind the start 0, found -1\n"
      "2:24: error: 'step': expected a number greater than 0, found 0\n"
      "3:9: error: 'scheme': expected jacobi, gauss-seidel, iterative-jacobi or "
      "iterative-gauss-seidel, found the text 'jacobian'; did you mean 'jacobi'?\n"
      "5:17: error: anchors are not supported: remove '&m'\n"
      "5:25: error: unknown key 'stepp' in unit 'left'; did you mean 'step'?\n"
      "6:11: error: meters are not supported by this version\n"
      "7:3: error: the key 'left' was given before at line 5, column 3\n"
      "9:15: error: expected 'unit.variable', found 'right'\n"
      "10:40: error: 'order': expected an integer from 0 to 3, found 9\n"
      "11:17: error: aliases are not supported: replace '*m' by the value it stands for, "
      "or put it into quotes\n"
      "12:1: error: unknown key 'colour' in the file; known keys: yoke, name, text, "
      "time, scheme, exchange, inputs, calls, threads, order, iteration, units, laws, connections, "
      "bonds, couplings, quality, trust, safe, record");
}

// A refused value is not reported twice: once as an alias, once as a wrong type.
static void test_refused_values_are_reported_once(void** state) {
  (void)state;
  static const char* const keys[] = {"yoke",  "name",        "time",  "scheme",    "threads",
                                     "order", "iteration",   "units", "laws",      "exchange",
                                     "bonds", "connections", "text",  "couplings", "record"};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    char text[1024] = "";
    size_t used = 0;
    static const char* const base[] = {"yoke: 1\n", "time: {stop: 1, step: 1}\n",
                                       "units: {a: {model: m}}\n"};
    for (size_t k = 0; k < 3; k++) {
      const bool is_replaced = strncmp(base[k], keys[i], strlen(keys[i])) == 0;
      used += (size_t)snprintf(text + used, sizeof text - used, "%s", is_replaced ? "" : base[k]);
    }
    snprintf(text + used, sizeof text - used, "%s: *x\n", keys[i]);
    reading* r = reading_of(text);
    if (r->n_errors != 1) {
      fail_msg("%zu errors instead of 1 for\n%s:\n%s", r->n_errors, text, r->text);
    }
    check_contains(r->text, "aliases are not supported: replace '*x'");
    reading_free(r);
  }
}

// Long texts are cut in messages, at whole characters.
static void test_long_texts_are_cut(void** state) {
  (void)state;
  check_messages(
      BASE "threads: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
      "5:10: error: 'threads': expected an integer from 0 to 256, found the text "
      "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'");
  check_messages(
      BASE "threads: \"x\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
           "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3"
           "\xa9\xc3\xa9\xc3\xa9\xc3\xa9\"\n",
      "5:10: error: 'threads': expected an integer from 0 to 256, found the text "
      "'x\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
      "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9...'");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_top_level),
      cmocka_unit_test(test_record),
      cmocka_unit_test(test_times),
      cmocka_unit_test(test_missing_keys),
      cmocka_unit_test(test_units),
      cmocka_unit_test(test_connections),
      cmocka_unit_test(test_bonds_and_couplings),
      cmocka_unit_test(test_all_errors_come_at_once),
      cmocka_unit_test(test_refused_values_are_reported_once),
      cmocka_unit_test(test_long_texts_are_cut),
  };
  return cmocka_run_group_tests_name("scenario_errors", tests, NULL, NULL);
}
