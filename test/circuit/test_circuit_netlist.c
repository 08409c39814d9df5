// The netlist language: lines, elements, sources, parameters, subcircuits, models, directives.
// Where SPICE leaves a choice, the numbers are what ngspice 39 makes of the same lines.
#include "test_circuit_netlist.h"
#include "base/base_message.h"

#include "base/base_os.h"

static void test_lines(void** state) {
  (void)state;
  reading r;
  read_good(&r, "  A title, R1 in it is no element  \r\n"
                "* comment\n"
                "\n"
                "  v1 IN 0 5 ; end of line\n"
                "R1 in Out 1k $ another\n"
                "r2 out 0\r\n"
                "* between\n"
                "+ 2k // third\n"
                "*YOKE r3 out 0\n"
                "*yoke + 3k\n"
                "*yokes are comments\n"
                ".END\n"
                "r4 out 0 garbage behind the end\n");
  assert_string_equal(r.network->title, "A title, R1 in it is no element");
  assert_int_equal(r.network->n_elements, 4);
  assert_int_equal(r.network->n_nodes, 3);
  assert_string_equal(element_of(&r, "R1")->name, "R1");
  assert_string_equal(node_of(&r, "in")->name, "IN");
  check_nodes(&r, "R1", "IN", "Out");
  check_near(value_of(&r, "R2"), 2000.0, 0.0);
  check_near(value_of(&r, "R3"), 3000.0, 0.0);
  assert_int_equal(element_of(&r, "r3")->place.line, 9);
  assert_string_equal(element_of(&r, "r3")->place.source, "x.cir");
  free_reading(&r);
}

static void test_passive_elements(void** state) {
  (void)state;
  reading r;
  read_good(&r, "t\n"
                ".options tnom=27 temp=77\n"
                "V1 1 0 1\n"
                "R1 1 2 4.7kOhm\n"
                "R2 2 0 R=1k m=4\n"
                "R3 2 0 1k tc1=1m tc2=1u\n"
                "R4 2 0 1k tc1=1m temp=37\n"
                "R5 2 0 1k scale=3\n"
                "C1 2 0 10uF IC=3\n"
                "C2 2 0 c={2*3n} m=2\n"
                "L1 2 3 100mH ic = -2\n"
                "L2 3 0 l='1m+1m'\n"
                "L3 1 0 1m\n"
                "L4 1 0 1m\nL5 1 0 1m\n"
                "K1 L1 L2 0.9\n"
                "K2 l3 l4 l5 {0.1*2}\n"
                "E1 4 0 1 2 10\n"
                "G1 4 0 (1,2) 2m\n"
                "F1 4 0 v1 5\n"
                "H1 5 0 V1 50\n"
                "R6 4 5 1\n");
  check_near(value_of(&r, "r1"), 4700.0, 0.0);
  check_near(value_of(&r, "r2"), 250.0, 0.0);
  check_near(value_of(&r, "r3"), 1000 * (1 + 50e-3 + 2500e-6), 1e-10);
  check_near(value_of(&r, "r4"), 1010.0, 1e-10);
  check_near(value_of(&r, "r5"), 3000.0, 0.0);
  assert_true(value_of(&r, "c1") == 10e-6);
  check_near(element_of(&r, "c1")->start, 3.0, 0.0);
  assert_true(element_of(&r, "c1")->has_start);
  check_near(value_of(&r, "c2"), 12e-9, 1e-24);
  assert_false(element_of(&r, "c2")->has_start);
  check_near(element_of(&r, "l1")->start, -2.0, 0.0);
  check_near(value_of(&r, "l2"), 2e-3, 1e-18);
  assert_int_equal(r.network->n_mutuals, 4);  // one pair, and three of three
  check_near(r.network->mutuals[0].k, 0.9, 0.0);
  check_near(r.network->mutuals[3].k, 0.2, 1e-16);
  assert_int_equal(element_of(&r, "e1")->kind, YOKE_VCVS);
  assert_string_equal(r.network->nodes[element_of(&r, "g1")->d].name, "2");
  assert_int_equal(element_of(&r, "f1")->kind, YOKE_CCCS);
  assert_string_equal(r.network->elements[element_of(&r, "h1")->control].name, "V1");
  free_reading(&r);
}

static const yoke_wave* wave_of(const reading* r, const char* name) {
  const yoke_wave* wave = element_of(r, name)->value.wave;
  if (wave == NULL) {
    fail_msg("'%s' has no wave", name);
  }
  return wave;
}

static void test_sources(void** state) {
  (void)state;
  reading r;
  read_good(&r, "t\n"
                ".tran 10u 20m\n"
                ".param amp=3 f0=50\n"
                "V1 1 0 DC 5\n"
                "V2 2 0 7 AC 1 90\n"
                "V3 3 0 SIN(0 {amp} f0)\n"
                "V4 4 0 dc 1 sin 1 2 60 1m 10 90 ac 1\n"
                "V5 5 0 PULSE(0,1,0,1u,2u,1m,2m)\n"
                "V6 6 0 pulse 0 5\n"
                "V7 7 0 PWL(0 0 1m 1\n"
                "+ 2m 0) r=1m td=5m\n"
                "V8 8 0 exp(0 1 1m 2m)\n"
                "V9 9 0 sin(0 1)\n"
                "I1 1 0 AC 1\n"
                "R1 1 2 1\nR2 3 4 1\nR3 5 6 1\nR4 7 8 1\nR5 9 0 1\n");
  check_near(value_of(&r, "v1"), 5.0, 0.0);
  check_near(value_of(&r, "v2"), 7.0, 0.0);
  check_near(wave_of(&r, "v3")->p[1], 3.0, 0.0);
  check_near(wave_of(&r, "v3")->p[2], 50.0, 0.0);
  check_near(wave_of(&r, "v4")->p[5], 90.0, 0.0);
  check_near(yoke__wave_value(wave_of(&r, "v4"), 0.0), 3.0, 1e-15);
  check_near(wave_of(&r, "v5")->p[6], 2e-3, 0.0);
  check_near(wave_of(&r, "v6")->p[3], 10e-6, 0.0);  // rise time: tstep
  assert_true(isinf(wave_of(&r, "v6")->p[5]));
  assert_int_equal(wave_of(&r, "v7")->n_points, 3);
  check_near(wave_of(&r, "v7")->repeat_from, 6e-3, 1e-18);
  check_near(yoke__wave_value(wave_of(&r, "v7"), 5.5e-3), 0.5, 1e-12);
  check_near(yoke__wave_value(wave_of(&r, "v7"), 8.25e-3), 0.75, 1e-9);
  check_near(wave_of(&r, "v8")->p[4], 1e-3 + 10e-6, 1e-18);
  check_near(wave_of(&r, "v9")->p[2], 50.0, 1e-12);  // 1/tstop
  check_near(value_of(&r, "i1"), 0.0, 0.0);
  check_contains(r.text, "x.cir:14: warning: I1 has no value: 0 is taken");
  free_reading(&r);
}

static void test_parameters(void** state) {
  (void)state;
  reading r;
  // used before they are defined, with and without braces, quotes and blanks
  read_good(&r, "t\n"
                "V1 1 0 {a}\nR1 1 0 b\nR2 1 0 'c*2'\nR3 1 0 {f(2,3)}\nR4 1 0 {temper}\n"
                "R5 1 0 {x == 3 ? 5 : 1/0}\n"
                ".param a = b + 1, b = {c*10} c='1+ 1'\n"
                ".param x=3 y = x >= 2\n"
                "R6 1 0 {y}\n"
                ".func f(p1,p2) {p1*10+g(p2)}\n"
                ".func g(z) = 'z^2'\n"
                ".temp 50\n");
  check_near(value_of(&r, "v1"), 21.0, 0.0);
  check_near(value_of(&r, "r1"), 20.0, 0.0);
  check_near(value_of(&r, "r2"), 4.0, 0.0);
  check_near(value_of(&r, "r3"), 29.0, 0.0);
  check_near(value_of(&r, "r4"), 50.0, 1e-12);
  check_near(value_of(&r, "r5"), 5.0, 0.0);
  check_near(value_of(&r, "r6"), 1.0, 0.0);
  check_near(r.network->run.temperature, 323.15, 1e-12);
  free_reading(&r);

  // a long chain: each needs the next
  char* text = malloc(4000000);
  size_t n = (size_t)sprintf(text, "t\nV1 1 0 {p0}\nR1 1 0 1\n");
  for (int i = 0; i < 50000; i++) {
    n += (size_t)sprintf(text + n, ".param p%d={p%d+1}\n", i, i + 1);
  }
  sprintf(text + n, ".param p50000=0\n");
  read_good(&r, text);
  check_near(value_of(&r, "v1"), 50000.0, 0.0);
  free_reading(&r);
  free(text);
}

static void test_parameters_from_outside(void** state) {
  (void)state;
  const char* text = "t\n.param r=1 s={r*2}\n.input q=5\nV1 1 0 1\nR1 1 0 {s}\nR2 1 0 {1+q}\n";
  const yoke_netlist_parameter given[] = {{"R", 10.0}, {"q", 7.0}};
  const yoke_netlist_settings settings = {.path = "x.cir", .parameters = given, .n_parameters = 2};
  reading r;
  read_bytes_with(&r, text, strlen(text), &settings);
  assert_int_equal(r.status, YOKE_OK);
  check_near(value_of(&r, "r1"), 20.0, 0.0);
  check_near(r.network->inputs[0].start, 7.0, 0.0);
  free_reading(&r);
  const yoke_netlist_parameter wrong[] = {{"nobody", 10.0}};
  const yoke_netlist_settings bad = {.path = "x.cir", .parameters = wrong, .n_parameters = 1};
  read_bytes_with(&r, text, strlen(text), &bad);
  assert_int_equal(r.status, YOKE_BAD_INPUT);
  check_contains(r.text, "there is no parameter 'nobody'");
  free_reading(&r);
}

static void test_subcircuits(void** state) {
  (void)state;
  reading r;
  read_good(&r, "t\n"
                ".global vdd\n"
                ".param top=7\n"
                "V1 in 0 1\nV2 vdd 0 5\n"
                "Xa in mid filter r=100\n"
                "Xb mid out filter PARAMS: r={top*10} c=2u\n"
                "Rl out 0 1k\n"
                ".subckt filter a b r=1k c={r*1n}\n"
                ".param half={r/2}\n"
                "R1 a n1 {half}\n"
                "R2 n1 b {half}\n"
                "C1 b gnd {c}\n"
                "Xi n1 inner\n"
                ".subckt inner p\n"
                "R9 p vdd {r}\n"
                "D1 p 0 dd\n"
                ".model dd d is=1p\n"
                ".ends inner\n"
                "Vm b m 0\n"
                "F1 a 0 Vm 2\n"
                "B1 m 0 I={v(n1)*i(vm)+v(a)}\n"
                ".ic v(n1)=0.25\n"
                ".ends\n"
                ".model dd d is=1f\n");
  check_near(value_of(&r, "xa.r1"), 50.0, 0.0);
  check_near(value_of(&r, "xb.r1"), 35.0, 0.0);
  check_near(value_of(&r, "xa.c1"), 100e-9, 1e-22);
  check_near(value_of(&r, "xb.c1"), 2e-6, 0.0);
  check_nodes(&r, "xa.r1", "in", "Xa.n1");
  check_nodes(&r, "xb.r2", "Xb.n1", "out");
  check_nodes(&r, "xb.c1", "out", "0");
  check_nodes(&r, "xa.xi.r9", "Xa.n1", "vdd");       // a port of a port, and a global node
  check_near(value_of(&r, "xa.xi.r9"), 100.0, 0.0);  // the parameter of the instance around it
  check_near(element_of(&r, "xa.xi.d1")->junction->is, 1e-12, 0.0);  // the inner model
  assert_string_equal(r.network->elements[element_of(&r, "xb.f1")->control].name, "Xb.Vm");
  check_near(node_of(&r, "xb.n1")->start, 0.25, 0.0);

  // v(a) is the node outside, v(n1) the one inside
  const yoke_expression* law = element_of(&r, "xb.b1")->value.law;
  assert_int_equal(law->n_live, 3);
  const uint32_t inner = yoke__network_find_node(r.network, "xb.n1");
  const uint32_t outer = yoke__network_find_node(r.network, "mid");
  const uint32_t meter = yoke__network_find_element(r.network, "xb.vm");
  assert_int_equal(law->live[0].index, inner);
  assert_int_equal(law->live[1].index, meter);
  assert_int_equal(law->live[2].index, outer);
  free_reading(&r);
}

static void test_diodes(void** state) {
  (void)state;
  reading r;
  read_good(
      &r, "t\n"
          ".temp 26.85\n"
          ".options tnom=26.85\n"
          "V1 1 0 1\n"
          "D1 1 0 dio\n"
          "D2 1 0 dio 2 m=3\n"
          "D3 1 0 hot temp=126.85\n"
          "D4 1 0 plain\n"
          ".model dio D(IS=1f N=1.5 RS=1m CJO=1p VJ=0.8 M=0.4 FC=0.6 TT=1n BV=50 IBV=2m level=1)\n"
          ".model hot d is=1e-14 eg=1.11 xti=3 tnom=26.85 cjo=10p vj=0.7\n"
          ".model plain D\n");
  const yoke_junction_model* d1 = element_of(&r, "d1")->junction;
  check_near(d1->is, 1e-15, 0.0);
  check_near(d1->n * d1->vt, 38.7779996796533e-3, 1e-15);  // specification 5.3
  check_near(d1->bv, 50.0, 0.0);
  check_near(d1->fc, 0.6, 0.0);
  assert_int_equal(element_of(&r, "d1#rs")->kind, YOKE_RESISTOR);
  check_near(value_of(&r, "d1#rs"), 1e-3, 0.0);
  const yoke_junction_model* d2 = element_of(&r, "d2")->junction;
  check_near(d2->is, 6e-15, 1e-29);
  check_near(d2->cjo, 6e-12, 1e-26);
  check_near(value_of(&r, "d2#rs"), 1e-3 / 6, 1e-18);

  // 100 K hotter: IS(T) of SPICE, by hand
  const double t = 400.0, tnom = 300.0, vt = 1.380649e-23 * t / 1.602176634e-19;
  const double want = 1e-14 * exp((t / tnom - 1) * 1.11 / vt) * pow(t / tnom, 3.0);
  check_relative(element_of(&r, "d3")->junction->is, want, 1e-12);
  check_relative(element_of(&r, "d3")->junction->vt, vt, 1e-15);

  // ngspice 39 for this diode: 11.6134 pF at 0 V (six digits are printed), 119.2308 uA at 0.4 V.
  // Its k/q is 3.4e-7 smaller than today's exact constants, which the exponents (0.4 V + 0.37 V)/Vt
  // make 7.6e-6 of the current
  check_relative(element_of(&r, "d3")->junction->cjo, 1.16134e-11, 5e-6);
  check_relative(want * (exp(0.4 / vt) - 1), 1.192308247690e-04, 8e-6);
  assert_true(isinf(element_of(&r, "d4")->junction->bv));
  check_near(element_of(&r, "d4")->junction->is, 1e-14, 0.0);
  free_reading(&r);
}

static void test_switches(void** state) {
  (void)state;
  reading r;
  read_good(&r, "t\n"
                ".input gate=0\n"
                "V1 1 0 1\nVm 1 2 0\nR1 2 0 1\n"
                "S1 1 3 2 0 sv ON\n"
                "S2 3 0 2 0 sv off\n"
                "S3 3 0 {gate*v(2)} sv\n"
                "S4 3 0 {gate} sv\n"
                "W1 3 0 Vm sc\n"
                ".model sv SW(VT=0.5 VH=0.1 RON=1m ROFF=1MEG)\n"
                ".model sc csw it=1 ih=0.2\n");
  assert_true(element_of(&r, "s1")->has_start);
  check_near(element_of(&r, "s1")->start, 1.0, 0.0);
  check_near(element_of(&r, "s2")->start, 0.0, 0.0);
  check_near(element_of(&r, "s1")->switching->threshold, 0.5, 0.0);
  check_near(element_of(&r, "s1")->switching->hysteresis, 0.1, 0.0);
  check_near(element_of(&r, "s1")->switching->r_on, 1e-3, 0.0);
  assert_string_equal(r.network->nodes[element_of(&r, "s1")->c].name, "2");
  assert_int_equal(element_of(&r, "s3")->condition->n_live, 2);
  const yoke_expression* gate = element_of(&r, "s4")->condition;
  check_near(yoke__expression_evaluate(gate, (double[]){0.75}, NULL), 0.25, 0.0);
  assert_string_equal(r.network->elements[element_of(&r, "w1")->control].name, "Vm");
  check_near(element_of(&r, "w1")->switching->r_off, 1e12, 0.0);
  free_reading(&r);
}

static double live_value(const yoke_live* live, void* self) {
  (void)self;
  return live->kind == YOKE_LIVE_TIME      ? 0.25
         : live->kind == YOKE_LIVE_INPUT   ? 2.0
         : live->kind == YOKE_LIVE_VOLTAGE ? 10.0 * live->index
                                           : 3.0;
}

static void test_live_values(void** state) {
  (void)state;
  reading r;
  read_good(&r, "t\n"
                ".input amp=2 V\n"
                ".param twice={2*amp} later={time*4}\n"
                "V1 1 0 1\n"
                "V2 2 0 {twice+later}\n"
                "V3 3 0 SIN(1 {amp} 1)\n"
                "V4 4 0 PULSE(0 {amp} 0 0.1 0.1 0.2 1)\n"
                "R1 1 2 {1k*(1+v(3)/30)}\n"
                "R2 1 2 R={1+abs(v(1,2))} m=2\n"
                "C1 2 0 C={1u*(1+time)} ic=1\n"
                "B1 3 4 I=v(1)*{amp} + 2\n"
                "B2 5 0 V = i(V1) * 2\n"
                "E1 6 0 value={v(1)+amp}\n"
                "G1 6 0 cur='p(r1)'\n"
                "E2 7 0 1 2 {amp}\n"
                "R5 5 6 1\nR7 7 0 1\n");
  assert_int_equal(r.network->n_inputs, 1);
  assert_string_equal(r.network->inputs[0].dim, "V");
  check_near(evaluate_law(element_of(&r, "v2")->value.law, live_value, NULL), 5.0, 0.0);
  check_near(evaluate_law(element_of(&r, "v3")->value.law, live_value, NULL), 3.0, 1e-15);
  check_near(evaluate_law(element_of(&r, "v4")->value.law, live_value, NULL), 2.0, 0.0);
  check_near(evaluate_law(element_of(&r, "r1")->value.law, live_value, NULL), 2000.0, 1e-9);
  check_near(evaluate_law(element_of(&r, "r2")->value.law, live_value, NULL), 5.5, 1e-12);
  check_near(evaluate_law(element_of(&r, "c1")->value.law, live_value, NULL), 1.25e-6, 1e-20);
  check_near(evaluate_law(element_of(&r, "b1")->value.law, live_value, NULL), 22.0, 0.0);
  check_near(evaluate_law(element_of(&r, "b2")->value.law, live_value, NULL), 6.0, 0.0);
  assert_int_equal(element_of(&r, "b1")->kind, YOKE_CURRENT);
  assert_int_equal(element_of(&r, "e1")->kind, YOKE_VOLTAGE);
  check_near(evaluate_law(element_of(&r, "e1")->value.law, live_value, NULL), 12.0, 0.0);
  // p(r1) = (v(1) - v(2)) i(r1)
  check_near(evaluate_law(element_of(&r, "g1")->value.law, live_value, NULL), -30.0, 0.0);
  assert_int_equal(element_of(&r, "e2")->kind, YOKE_VCVS);
  check_near(evaluate_law(element_of(&r, "e2")->value.law, live_value, NULL), 2.0, 0.0);
  assert_string_equal(element_of(&r, "r1")->value.law->text, "1k*(1+v(3)/30)");
  free_reading(&r);
}

static void test_directives(void** state) {
  (void)state;
  reading r;
  read_good(&r, "t\n"
                "V1 1 0 1\nR1 1 2 1\nC1 2 0 1u\n"
                ".options method=gear maxord=3 gmin=1p reltol=1e-4 itl4=33 strange=1 acct\n"
                ".options strange=2\n"
                ".tran 1u 1m 10u 5u UIC\n"
                ".ic v(2)=3 V ( 1 ) = {1+1}\n"
                ".nodeset v(2)=1\n.nodeset v(1)=1\n"
                ".ac dec 10 1 1k\n.ac dec 10 1 1k\n.op\n"
                ".control\nrun\nR9 nonsense\n.endc\n");
  const yoke_circuit_run* run = &r.network->run;
  assert_string_equal(run->method, "bdf3");
  check_near(run->gmin, 1e-12, 0.0);
  assert_int_equal(run->max_iterations, 33);
  check_near(run->step, 1e-6, 0.0);
  check_near(run->stop, 1e-3, 0.0);
  check_near(run->start, 10e-6, 0.0);
  check_near(run->max_step, 5e-6, 0.0);
  assert_true(run->is_uic && run->has_tran);
  check_near(node_of(&r, "2")->start, 3.0, 0.0);
  check_near(node_of(&r, "1")->start, 2.0, 0.0);
  // once each: strange, .nodeset, .ac, .op, .control; .ic of the source's node
  assert_int_equal(r.messages.n_warnings, 6);
  check_contains(r.text, "x.cir:5: warning: .options: 'strange' is ignored");
  check_contains(r.text, "x.cir:11: warning: '.ac' is ignored");
  check_contains(r.text, "x.cir:14: warning: .control ... .endc is skipped");
  free_reading(&r);

  read_good(&r, "t\nV1 1 0 1\nR1 1 0 1\n.options method=trap\n"
                "*yoke .yoke formulation=dae startup=const step=1e-5\n"
                "*yoke + iterations=3 max_iterations=20 tolerance=1e-7\n");
  assert_string_equal(r.network->run.method, "tr");
  assert_string_equal(r.network->run.formulation, "dae");
  assert_string_equal(r.network->run.startup, "const");
  assert_int_equal(r.network->run.iterations, 3);
  assert_int_equal(r.network->run.max_iterations, 20);
  check_near(r.network->run.step_exact, 1e-5, 0.0);
  check_near(r.network->run.tolerance, 1e-7, 0.0);
  free_reading(&r);
  read_good(&r, "t\nV1 1 0 1\nR1 1 0 1\n.options method=trap\n.yoke method=esdirk4\n");
  assert_string_equal(r.network->run.method, "esdirk4");
  free_reading(&r);
}

static void test_probes(void** state) {
  (void)state;
  reading r;
  read_good(&r, "t\n"
                "V1 in 0 1\nR1 in out 1\nC1 out 0 1u\nD1 out 0 dd\n.model dd d rs=1\n"
                "X1 out s\n.subckt s a\nVx a b 0\nRx b 0 1\n.ends\n"
                ".print tran v(out) v(in, out) i(R1) v ( in ) (0,5)\n"
                ".plot ac vdb(out)\n"
                ".save out v1#branch @r1[p] @c1[i] i(v.x1.vx) v(x1.b)\n"
                ".probe p(d1) {v(out)*2} vdb(in)\n"
                ".print tran v(OUT)\n"
                ".output v(out) name=vout v(in,out)\n"
                ".output {v(out)^2} name=square dim=V2 i(v1)\n");
  const yoke_network* n = r.network;
  static const char* const names[] = {"v(out)", "v(in,out)", "i(R1)",   "v(in)", "i(V1)",   "p(R1)",
                                      "i(C1)",  "i(X1.Vx)",  "v(X1.b)", "p(D1)", "v(out)*2"};
  assert_int_equal(n->n_saves, sizeof names / sizeof names[0]);
  for (uint32_t i = 0; i < n->n_saves; i++) {
    assert_string_equal(n->saves[i].name, names[i]);
  }
  assert_int_equal(n->saves[1].kind, YOKE_PROBE_DIFFERENCE);
  assert_int_equal(n->saves[9].kind, YOKE_PROBE_LAW);  // junction and series resistance together
  assert_int_equal(n->saves[9].law->n_live, 2);
  assert_int_equal(n->n_outputs, 4);
  assert_string_equal(n->outputs[0].name, "vout");
  assert_string_equal(n->outputs[0].dim, "V");
  assert_string_equal(n->outputs[1].name, "v(in,out)");
  assert_string_equal(n->outputs[2].name, "square");
  assert_string_equal(n->outputs[2].dim, "V2");
  assert_string_equal(n->outputs[3].name, "i(V1)");
  check_contains(r.text, "'vdb(in)' is ignored");
  free_reading(&r);

  // all: nodes and currents, but not what a diode has inside
  read_good(&r, "t\nV1 1 0 1\nR1 1 2 1\nD1 2 0 dd\n.model dd d rs=1\n.save all\n");
  assert_int_equal(r.network->n_saves, 5);
  free_reading(&r);
}

// ---- includes

static void write_file(const char* folder, const char* name, const char* text) {
  char path[1024];
  yoke__os_path_join(folder, name, path, sizeof path);
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
  fclose(file);
}

static void test_includes(void** state) {
  (void)state;
  char folder[512] = "netlist-include-test", path[1024];
  YOKE_CATCH(err);
  check_ok(yoke__os_make_directory("netlist-include-test/lib", &err.sink));
  write_file(folder, "main.cir",
             "t\nV1 1 0 1\n.include 'lib/parts.inc'\nX1 1 part\n.include \"lib/bad.inc\"\n");
  write_file(folder, "lib/parts.inc", ".subckt part a\n.inc values.inc\nR1 a 0 {r}\n.ends\n");
  write_file(folder, "lib/values.inc", "* no title here\n.param r=42\n.end\n.param r=1\n");
  write_file(folder, "lib/bad.inc", "R5 1 0 1k\nR6 1\n.include bad.inc\n");
  yoke__os_path_join(folder, "main.cir", path, sizeof path);
  reading r;
  memset(&r, 0, sizeof r);
  const yoke_netlist_settings settings = {.path = path};
  r.status = yoke__netlist_read_file(&settings, &r.messages, &r.network);
  yoke__messages_format(&r.messages, r.text, sizeof r.text);
  assert_int_equal(r.status, YOKE_BAD_INPUT);
  check_contains(r.text, "lib/bad.inc:2: error: expected 'R6 node node value'");
  check_contains(r.text, "lib/bad.inc:3: error: 'bad.inc' includes itself");
  assert_int_equal(r.messages.n_errors, 2);
  free_reading(&r);

  write_file(folder, "lib/bad.inc", "R5 1 0 1k\n");
  memset(&r, 0, sizeof r);
  r.status = yoke__netlist_read_file(&settings, &r.messages, &r.network);
  check_ok(r.status);
  check_near(value_of(&r, "x1.r1"), 42.0, 0.0);
  check_near(value_of(&r, "r5"), 1000.0, 0.0);
  free_reading(&r);

  memset(&r, 0, sizeof r);
  const yoke_netlist_settings missing = {.path = "netlist-include-test/nobody.cir"};
  r.status = yoke__netlist_read_file(&missing, &r.messages, &r.network);
  assert_int_equal(r.status, YOKE_IO);
  assert_int_equal(r.messages.all[0].status, YOKE_IO);
  assert_null(r.network);
  free_reading(&r);
}

// What SPICE cuts in a diode's model, and what is not obeyed, is told once.
static void test_diode_warnings(void** state) {
  (void)state;
  reading r;
  read_good(&r, "t\nV1 a 0 1\nR1 a b 1\nD1 b 0 dd IC=0.3\nD2 b 0 dd\n"
                ".model dd D(CJO=1n M=0.95 FC=0.97)\n");
  check_contains(r.text, "x.cir:4: warning: D1: IC= of a diode is ignored");
  check_contains(r.text, "x.cir:6: warning: model dd: m is 0.95, but 0.9 is used");
  check_contains(r.text, "x.cir:6: warning: model dd: fc is 0.97, but 0.95 is used");
  assert_int_equal(r.messages.n_warnings, 3);
  check_near(element_of(&r, "d2")->junction->m, 0.9, 0.0);
  check_near(element_of(&r, "d2")->junction->fc, 0.95, 0.0);
  free_reading(&r);
}

// A diode with TT alone that nothing but a coil meets, and one that something else does.
static void test_diode_behind_coil(void** state) {
  (void)state;
  static const char* const models[] = {"TT=10n", "TT=10n RS=1", "TT=10n CJO=1p"};
  for (size_t i = 0; i < 6; i++) {
    reading r;
    char text[200];
    snprintf(text, sizeof text, "t\nV1 a 0 1\nL1 a b 1u\nD1 0 b dd\n.model dd D(%s)\n%s",
             models[i % 3], i < 3 ? "" : "R1 b 0 1k\n");
    read_good(&r, text);
    if (i < 2) {
      check_contains(r.text, "x.cir:4: note: 'D1' has TT but no CJO, and only inductors meet it at "
                             "node 'b'");
    } else {
      assert_null(strstr(r.text, "TT"));
    }
    free_reading(&r);
  }
}

// Parameters are found without their case; people see the first spelling.
static void test_parameter_spelling(void** state) {
  (void)state;
  reading r;
  const char text[] = "t\n.param Rload=1k\nV1 a 0 1\nR1 a 0 {RLOAD}\n";
  static const char* const names[] = {"Rload", "rload", "RLOAD"};
  for (size_t i = 0; i < 3; i++) {
    const yoke_netlist_parameter given = {names[i], 2e3};
    const yoke_netlist_settings settings = {
        .path = "x.cir", .parameters = &given, .n_parameters = 1};
    read_bytes_with(&r, text, strlen(text), &settings);
    check_ok(r.status);
    check_near(value_of(&r, "r1"), 2e3, 0.0);
    assert_string_equal(r.network->parameters[0].name, "rload");
    assert_string_equal(r.network->parameters[0].spelling, "Rload");
    free_reading(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lines),
      cmocka_unit_test(test_passive_elements),
      cmocka_unit_test(test_sources),
      cmocka_unit_test(test_parameters),
      cmocka_unit_test(test_parameters_from_outside),
      cmocka_unit_test(test_subcircuits),
      cmocka_unit_test(test_diodes),
      cmocka_unit_test(test_switches),
      cmocka_unit_test(test_live_values),
      cmocka_unit_test(test_directives),
      cmocka_unit_test(test_probes),
      cmocka_unit_test(test_includes),
      cmocka_unit_test(test_diode_warnings),
      cmocka_unit_test(test_diode_behind_coil),
      cmocka_unit_test(test_parameter_spelling),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
