// Bad netlists: every one a message with file:line that says what is wrong, all of a file in one
// go, none a crash.
#include "test_circuit_netlist.h"

typedef struct bad {
  const char* lines;    // behind "t\nV1 1 0 1\nR9 1 0 1\n", so the first is line 4
  const char* message;  // part of what must be said
} bad;

static const bad cases[] = {
    // elements
    {"Q1 1 2 3 mod", "x.cir:4: error: this kind of element is not supported: 'Q1'"},
    {"?1 1 2 3", "x.cir:4: error: unknown element '?1'"},
    {"R1 1 0", "x.cir:4: error: R1: a value is missing: expected 'R1 node node value'"},
    {"R1 1", "x.cir:4: error: expected 'R1 node node value'"},
    {"R1", "expected 'R1 node node value'"},
    {"R1 1 0\n+ 1k 2k", "x.cir:5: error: unexpected '2k' at the end of the line"},
    {"R1 1 0 1k5", "R1: '1k5' is no number"},
    {"R1 1 0 1e", NULL},
    {"R1 1 0 1e999", "R1: '1e999' is no number"},
    {"R1 1 0 *5", "R1: '*5' is no number"},
    {"R1 1 0 nobody", "R1: unknown parameter 'nobody'"},
    {".param ohms=1\nR1 1 0 ohm", "unknown parameter 'ohm'; did you mean 'ohms'?"},
    {"R1 1 0 {1", "x.cir:4: error: '{' is not closed"},
    {"R1 1 0 '1", "'''"},
    {"R1 1 0 =", "expected a value, found '='"},
    {"R1 1 0 1k m=0", "R1: m must be positive"},
    {"R1 1 0 0", "x.cir:4: error: 'R1': resistance 0"},
    {"C1 1 0 -1u", "capacitance -1e-6 is negative"},
    {"L1 1 0 0", "inductance 0"},
    {"r9 1 0 1", "the name 'r9' was used before at x.cir:3"},
    {"V2 1 0 1", "V2"},  // two sources in parallel
    {"R1 7 8 1", "7"},   // a part that floats
    {"E1 2 0 1 10", "x.cir:4: error: E1: a value is missing"},
    {"E1 2 0 1", "x.cir:4: error: expected 'E1 node node node node gain'"},
    {"E1 2 0 poly(1) 1 0 1 1", "E1: POLY is not supported"},
    {"E1 2 0 table {v(1)} = (0,0) (1,1)", "E1: TABLE is not supported"},
    {"F1 1 0 poly(1) V1 0 1", "F1: POLY is not supported"},
    {"F1 1 0 V9 2", "F1: there is no element 'V9'"},
    {"F1 1 0 R9 2", "F1: 'R9' is no voltage source"},
    {"H1 2 0 V1", "H1: a value is missing"},
    {"G1 1 0 1 0 {v(1)}", "the gain depends on voltages or currents"},
    {"L1 1 0 1\nK1 L1 R9 0.5", "x.cir:5: error: K1: 'R9' is no inductor"},
    {"L1 1 0 1\nK1 L1 L2 0.5", "K1: there is no element 'L2'"},
    {"L1 1 0 1\nK1 L1 0.5", "expected 'K1 L1 L2 k'"},
    {"L1 1 0 1\nL2 1 0 1\nK1 L1 L2", "K1: a value is missing"},
    {"B1 2 0 3", "B1: expected 'V={expression}' or 'I={expression}'"},
    {"B1 2 0 V=", "B1: an expression is missing"},
    {"B1 2 0 V={v(nine)}", "B1: there is no node 'nine'"},
    {"B1 2 0 V={i(r99)}", "B1: there is no element 'r99'; did you mean 'R9'?"},
    {"B1 2 0 V={ddt(v(1))}", "B1: ddt() is not supported"},
    {"S1 1 0 1 0 nomodel", "S1: unknown model 'nomodel'"},
    {"S1 1 0 1 0", "S1: the name of a model is missing"},
    {"S1 1 0 {3} sw\n.model sw sw", "S1: the condition is constant"},
    {"S1 1 0 1 0 sw\n.model sw sw vh=-1", "negative hysteresis"},
    {"W1 1 0 V9 sw\n.model sw csw", "W1: there is no element 'V9'"},
    {"D1 1 0", "D1: the name of a model is missing"},
    {"D1 1 0 dd\n.model de d", "D1: unknown model 'dd'; did you mean 'de'?"},
    {"D1 1 0 sw\n.model sw sw", "the model 'sw' has the type 'sw', expected 'd'"},
    {"D1 1 0 dd\n.model dd d n=0", "D1: n must be positive"},
    {"D1 1 0 dd\n.model dd d is={1/0}", "x.cir:5: error: model dd: division by zero"},
    {"D1 1 0 dd 1 2\n.model dd d", "unexpected '2'"},
    {".model dd", "expected '.model name type"},
    {".model dd d\n.model DD d", "x.cir:5: error: the model 'DD' was defined before at x.cir:4"},
    // sources
    {"V2 2 0 SIN(1)", "V2: sin needs at least two numbers"},
    {"V2 2 0 SIN(1 2 3 4 5 6 7)", "V2: sin takes at most 6 numbers"},
    {"V2 2 0 SIN(0 1)", "SIN without frequency needs .tran"},
    {"V2 2 0 PWL(0 1 2)", "V2: PWL needs pairs of time and value, found 3 numbers"},
    {"V2 2 0 PWL(0 1 1 2) x=3", "expected 'r=' or 'td=' behind PWL"},
    {"V2 2 0 PWL(0 1 1 2) r=1", "cannot repeat from a time behind its last point"},
    {"V2 2 0 PWL(1 1 0 2)\nR2 2 0 1", "times that go back"},
    {"V2 2 0 EXP(0 {time} 1 1)", "numbers of this wave must be constant"},
    {"V2 2 0 1 2", "unexpected '2'"},
    // parameters and functions
    {".param a", "x.cir:4: error: expected 'name = value', found 'a'"},
    {".param a=", "the parameter 'a' lacks its value"},
    {".param 2a=3", "'2a' is no name for a parameter"},
    {".param a={b} b={c+1}\n.param c={a}\nR1 1 0 {a}",
     "x.cir:5: error: parameters depend on themselves: a -> b -> c -> a"},
    {".param a={a}\nR1 1 0 {a}", "parameters depend on themselves: a -> a"},
    {".param a={v(1)}\nR1 1 0 {a}", "a parameter cannot depend on voltages or currents"},
    {".param a={1/0}\nR1 1 0 {a}\nR2 1 0 {a}", "x.cir:4: error: parameter a: division by zero"},
    {"R1 1 0 {1/(2-2)}", "x.cir:4: error: R1: division by zero"},
    {"R1 1 0 {ln(0-1)}", "R1: logarithm of a negative number"},
    {"R1 1 0 {nofunc(2)}", "R1: unknown function 'nofunc'"},
    {".func f", "expected '.func name(argument, ...) {expression}'"},
    {".func f(x)", "the function 'f' lacks its expression"},
    {".func v(x) {x}", "v, t, i and p are taken"},
    {".func f(x) {x}\n.func F(x) {x}", "the function 'F' is defined twice"},
    {".func f(x) {f(x)}\nR1 1 0 {f(1)}", "f() calls itself"},
    // subcircuits
    {"X1 1 0 nosub", "X1: unknown subcircuit 'nosub'"},
    {"X1", "X1: expected 'X1 node ... subcircuit"},
    {".subckt divider a b\nR1 a b 1\n.ends\nX1 1 0 devider", "did you mean 'divider'?"},
    {".subckt s a b\nR1 a b 1\n.ends\nX1 1 s", "X1: the subcircuit 's' has 2 nodes, found 1"},
    {".subckt s a b\nR1 a b 1\n.ends\nX1 1 0 s q=3", "the subcircuit 's' has no parameter 'q'"},
    {".subckt s a\nX1 a r\n.ends\n.subckt r a\nX1 a s\n.ends\nX1 1 s",
     "x.cir:8: error: subcircuits contain themselves: s -> r -> s"},
    {".subckt s a a\n.ends", "the node 'a' is listed twice"},
    {".subckt s 0\n.ends", "ground is known everywhere"},
    {".subckt s a", "x.cir:4: error: the subcircuit 's' lacks its .ends"},
    {".ends", "x.cir:4: error: .ends without .subckt"},
    {".subckt s a\n.ends t", ".ends names 't', but the open .subckt is 's'"},
    {".subckt s a\n.ends\n.subckt S b\n.ends", "the subcircuit 'S' was defined before at x.cir:4"},
    {".subckt s a\nR1 a 0 {1/0}\n.ends\nX1 1 s", "x.cir:5: error: R1: division by zero"},
    // directives
    {".tran 1m", "expected '.tran tstep tstop [tstart [tmax]] [uic]'"},
    {".tran 0 1", ".tran: expected 0 < tstep"},
    {".tran 1m 1 2", ".tran: expected 0 < tstep"},
    {".tran 1 2 0 1 5", "unexpected '5'"},
    {".ic v(1)", "expected '.ic v(node)=value"},
    {".ic v(nine)=1", ".ic: there is no node 'nine'"},
    {".print v(nine)", "x.cir:4: error: v(nine): there is no node 'nine'"},
    {".print i(nine)", "there is no element 'nine'"},
    {".save nine", "there is no node 'nine'"},
    {".print {v(nine)}", ".print: there is no node 'nine'"},
    {".lib 'a.lib' tt", ".lib: libraries with sections are not supported"},
    {".if (1)", "conditional netlists are not supported"},
    {".include", "expected a file name behind .include"},
    {".include 'nobody.inc'", "cannot include 'nobody.inc'"},
    {".options method=euler", "method is 'trap' or 'gear', found 'euler'"},
    {".options gmin", "gmin lacks its value"},
    {".options maxord=0", "maxord is out of range"},
    {".temp -300", "below absolute zero"},
    {".temp", "a value is missing"},
    {".yoke method=gear", "unknown method 'gear': expected one of trbdf2"},
    {".yoke stepp=1", "unknown key 'stepp'; did you mean 'step'?"},
    {".yoke step=0", ".yoke: step must be positive"},
    {".yoke iterations=1.5", "must be a positive whole number"},
    {"= 3", "expected an element or a command, found '= 3'"},
};

static void test_each(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[500];
    reading r;
    snprintf(text, sizeof text, "t\nV1 1 0 1\nR9 1 0 1\n%s\n", cases[i].lines);
    read_netlist(&r, text);
    if (cases[i].message == NULL) {
      assert_int_equal(r.status, YOKE_OK);
    } else if (r.status != YOKE_BAD_INPUT || strstr(r.text, cases[i].message) == NULL) {
      fail_msg("'%s': status %d, expected '%s', found:\n%s", cases[i].lines, r.status,
               cases[i].message, r.text);
    }
    free_reading(&r);
  }
}

static void test_all_in_one_go(void** state) {
  (void)state;
  reading r;
  read_netlist(&r,
               "t\nR1 1\nR2 1 0 {1/0}\nQ1 1 2 3\nX1 1 s\nD1 1 0 d\n.tran 1\n.print v(1) v(2)\n");
  assert_int_equal(r.status, YOKE_BAD_INPUT);
  assert_int_equal(r.messages.n_errors, 7);  // v(2) is not there, v(1) is
  free_reading(&r);

  // a cycle is reported once, whoever needs it
  read_netlist(&r, "t\n.param a={b} b={a}\nR1 1 0 {a}\nR2 1 0 {b}\nR3 1 0 {a+b}\n");
  assert_int_equal(r.messages.n_errors, 1);
  free_reading(&r);
}

static void test_no_netlists(void** state) {
  (void)state;
  const struct {
    const char* bytes;
    size_t n;
    const char* message;
  } files[] = {
      {"", 0, "the netlist has no elements"},
      {"\n", 1, "the netlist has no elements"},
      {"R1 1 0 1k", 9, "its first line is the title"},
      {"t\n* nothing\n", 12, "the netlist has no elements"},
      {"t\nR1 1 0\0 1k\n", 13, "x.cir:2: error: byte 0 is no text"},
      {"\x7f\x45LF\x02\x01\x01", 7, "byte 2 is no text"},
      {"t\n+ 5k\n", 7, "x.cir:2: error: a continuation line with nothing before it"},
      {"t\nV1 1 0 1\n.control\nR1 1 0 1\n", 29, NULL},
  };
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    const yoke_netlist_settings settings = {.path = "x.cir"};
    reading r;
    read_bytes_with(&r, files[i].bytes, files[i].n, &settings);
    if (files[i].message != NULL) {
      assert_int_equal(r.status, YOKE_BAD_INPUT);
      check_contains(r.text, files[i].message);
    }
    free_reading(&r);
  }
}

static void test_include_can_be_forbidden(void** state) {
  (void)state;
  const char text[] = "t\nV1 1 0 1\n.include '/etc/passwd'\n";
  const yoke_netlist_settings settings = {.path = "x.cir", .is_include_forbidden = true};
  reading r;
  read_bytes_with(&r, text, sizeof text - 1, &settings);
  assert_int_equal(r.status, YOKE_BAD_INPUT);
  check_contains(r.text, "x.cir:3: error: .include is not allowed here");
  free_reading(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each),
      cmocka_unit_test(test_all_in_one_go),
      cmocka_unit_test(test_no_netlists),
      cmocka_unit_test(test_include_can_be_forbidden),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
