// Benchmark circuits and their references. None of the references uses the solver under test:
//
//   rlc        closed form by phasors
//   ladder     matrix exponential of the 2N states and the source
//   rectifier  scalar model L I' = |E| - 2 s - R I with i(s) + i(s - |E|) = I, trapezoidal at 2
//              and 1 us, extrapolated
//   pmsm       nine temperatures, classical Runge-Kutta at 20 ms, massless nodes eliminated
#include "support/circuits.h"

#include "base/base_os.h"
#include "circuit/circuit_engine.h"
#include "circuit/network/circuit_build.h"
#include "linalg/linalg_dense.h"
#include "support/check.h"

static const double pi = 3.14159265358979323846;

// ------------------------------------------------------------------------------------------
// parts of networks

static const yoke_place nowhere = {NULL, 0, 0};

static yoke_domain domain_of(const yoke_network* network, const char* a, const char* b) {
  const uint32_t ends[2] = {yoke__network_find_node(network, a),
                            yoke__network_find_node(network, b)};
  for (int i = 0; i < 2; i++) {
    if (ends[i] != YOKE_NO_INDEX && network->nodes[ends[i]].domain == YOKE_THERMAL) {
      return YOKE_THERMAL;
    }
  }
  return YOKE_ELECTRIC;
}

static uint32_t add_simple(yoke_network* network, yoke_element_kind kind, const char* name,
                           const char* a, const char* b, const yoke_circuit_value* value) {
  const yoke_domain domain = domain_of(network, a, b);
  const yoke_element element = {.kind = kind,
                                .domain = domain,
                                .name = name,
                                .a = yoke__network_node(network, a, domain, nowhere),
                                .b = yoke__network_node(network, b, domain, nowhere),
                                .control = YOKE_NO_INDEX,
                                .value = *value,
                                .place = nowhere};
  if (element.a == YOKE_NO_INDEX || element.b == YOKE_NO_INDEX) {
    return YOKE_NO_INDEX;
  }
  return yoke__network_add(network, &element);
}

uint32_t circuits_add_constant(yoke_network* network, yoke_element_kind kind, const char* name,
                               const char* a, const char* b, double value) {
  return add_simple(network, kind, name, a, b, &(yoke_circuit_value){.constant = value});
}

uint32_t circuits_add_sine(yoke_network* network, yoke_element_kind kind, const char* name,
                           const char* a, const char* b, double offset, double amplitude,
                           double frequency) {
  const yoke_wave wave = {
      .kind = YOKE_WAVE_SIN, .p = {offset, amplitude, frequency}, .repeat_from = -1};
  return add_simple(network, kind, name, a, b, &(yoke_circuit_value){.wave = &wave});
}

uint32_t circuits_fix(yoke_network* network, const char* name, const char* node, double value) {
  const uint32_t index = yoke__network_node(network, node, YOKE_ELECTRIC, nowhere);
  if (index == YOKE_NO_INDEX) {
    return YOKE_NO_INDEX;
  }
  return yoke__network_fix_node(network, name, index, &(yoke_circuit_value){.constant = value},
                                nowhere);
}

// ------------------------------------------------------------------------------------------
// networks

static yoke_network* new_network(const char* title) {
  yoke_network* network = NULL;
  check_ok(yoke__network_create(title, &network));
  return network;
}

static uint32_t add(yoke_network* network, yoke_element_kind kind, const char* name, const char* a,
                    const char* b, double value) {
  const uint32_t e = circuits_add_constant(network, kind, name, a, b, value);
  assert_true(e != YOKE_NO_INDEX);
  return e;
}

// 100 sin(10 pi t) V, the plus at node a
static void add_mains(yoke_network* network, const char* a) {
  assert_true(circuits_add_sine(network, YOKE_VOLTAGE, "E1", a, "0", 0, 100, 5) != YOKE_NO_INDEX);
}

yoke_network* circuits_rlc(void) {
  yoke_network* network = new_network("rlc");
  add_mains(network, "2");
  add(network, YOKE_RESISTOR, "R1", "2", "3", 10);
  add(network, YOKE_INDUCTOR, "L1", "3", "0", 0.1);
  add(network, YOKE_CAPACITOR, "C1", "3", "0", 0.4);
  add(network, YOKE_CAPACITOR, "C2", "3", "0", 0.2);
  return network;
}

yoke_network* circuits_ladder(uint32_t n_loops) {
  yoke_network* network = new_network("ladder");
  add_mains(network, "2");
  for (unsigned i = 1; i <= n_loops; i++) {
    char from[16], d[16], e[16], r[16], l[16], c[16];
    snprintf(from, sizeof from, "%u", i == 1 ? 2 : 2 * i - 1);
    snprintf(d, sizeof d, "%u", 2 * i + 1);
    snprintf(e, sizeof e, "%u", 2 * i + 2);
    snprintf(r, sizeof r, "R%u", i);
    snprintf(l, sizeof l, "L%u", i);
    snprintf(c, sizeof c, "C%u", i);
    add(network, YOKE_RESISTOR, r, from, d, 10);
    add(network, YOKE_INDUCTOR, l, d, e, 0.1);
    add(network, YOKE_CAPACITOR, c, e, "0", 0.1);
  }
  return network;
}

// k T / q at 300 K
#define V_T   (1.380649e-23 * 300 / 1.602176634e-19)
#define I_O   1e-15
#define N_BAR 1.5

yoke_network* circuits_rectifier(void) {
  static const char* const ends[4][2] = {{"2", "3"}, {"0", "3"}, {"5", "0"}, {"5", "2"}};
  yoke_network* network = new_network("rectifier");
  const yoke_junction_model model = {
      .is = I_O, .n = N_BAR, .bv = (double)INFINITY, .ibv = 1e-3, .vt = V_T};
  add_mains(network, "2");
  add(network, YOKE_RESISTOR, "R1", "3", "4", 10);
  add(network, YOKE_INDUCTOR, "L1", "4", "5", 0.1);
  for (int i = 0; i < 4; i++) {
    char name[8];
    snprintf(name, sizeof name, "D%d", i + 1);
    const uint32_t a = yoke__network_node(network, ends[i][0], YOKE_ELECTRIC, nowhere);
    const uint32_t b = yoke__network_node(network, ends[i][1], YOKE_ELECTRIC, nowhere);
    assert_true(yoke__network_add_diode(network, name, a, b, &model, 1e-3, nowhere) !=
                YOKE_NO_INDEX);
  }
  return network;
}

typedef struct part {
  const char *name, *a, *b;
  double value;
} part;

static const part pmsm_resistors[] = {
    {"Raxis1", "1", "13", 1},      {"Raxis2", "1", "14", 1},     {"Rinner", "1", "2", 0.025},
    {"Router", "2", "3", 0.015},   {"Rgap", "3", "4", 0},        {"Rtooth1", "4", "5", 0.025},
    {"Rtooth2", "5", "6", 0.01},   {"Rwire", "8", "7", 0.05},    {"Rtang", "7", "6", 0.01},
    {"Ryoke", "6", "10", 0.0025},  {"Rhous1", "10", "11", 0.25}, {"Rhous2", "10", "12", 0.25},
    {"Rwater", "10", "15", 0.001}, {"Rcopper", "9", "8", 0.001}, {"Rplate1", "13", "11", 0.5},
    {"Rplate2", "14", "12", 0.5},  {"Rbear1", "13", "16", 3},    {"Rbear2", "14", "16", 3},
};
static const part pmsm_sources[] = {
    {"Qrotor", "0", "2", 150}, {"Qcopper", "0", "9", 2000}, {"Qtooth", "0", "5", 200},
    {"Qbear1", "0", "13", 50}, {"Qbear2", "0", "14", 50},
};
static const part pmsm_capacities[] = {
    {"Caxis", "1", "0", 2000},   {"Crotor", "2", "0", 5000}, {"Ccopper", "9", "0", 2000},
    {"Cstator", "6", "0", 1500}, {"Chous", "10", "0", 3000}, {"Cplate1", "11", "0", 300},
    {"Cplate2", "12", "0", 300}, {"Cbear1", "13", "0", 500}, {"Cbear2", "14", "0", 500},
};

// air gap (5.4): e, R_m, omega, surface
#define GAP_E     0.82e-3
#define GAP_R     72.61e-3
#define GAP_OMEGA 1570.0
#define GAP_S     0.031936

// omega^2 R_m e^3 / F_g: the modified Taylor number times nu^2
static double gap_taylor(void) {
  const double ratio = GAP_E / (2 * GAP_R);
  const double x = (GAP_E / GAP_R) / (1 - ratio);
  const double y = 1 - 0.625 * x;
  const double P = 0.0571 * y + 0.00056 / y;
  const double F_g = pi * pi * pi * pi / (1697 * P * (1 - ratio) * (1 - ratio));
  return GAP_OMEGA * GAP_OMEGA * GAP_R * GAP_E * GAP_E * GAP_E / F_g;
}

double circuits_gap(double T) {
  const double tau = (T - 300) / 50;
  const double nu = (15.89 + 5.03 * tau + 0.23 * tau * (tau - 1)) * 1e-6;
  const double k = (26.3 + 3.7 * tau + 0.05 * tau * (tau - 1)) * 1e-3;
  const double T_am = gap_taylor() / (nu * nu);
  const double Nu = T_am < 1700  ? 2
                    : T_am > 1e4 ? 0.409 * pow(T_am, 0.241)
                                 : 0.128 * pow(T_am, 0.367);
  return 2 * GAP_E / (Nu * k * GAP_S);
}

// The same as a law of the two temperatures, in powers of nu: T_am = taylor / nu^2.
static const yoke_expression* gap_law(yoke_network* network) {
  char tau[64], nu[256], text[2048];
  const double taylor = gap_taylor() * 1e12;  // nu in mm^2/s
  const unsigned a = (unsigned)yoke__network_find_node(network, "3");
  const unsigned b = (unsigned)yoke__network_find_node(network, "4");
  snprintf(tau, sizeof tau, "v%u v%u + 0.01 * 6 -", a, b);
  snprintf(nu, sizeof nu, "15.89 %s 5.03 0.23 %s 1 - * + * +", tau, tau);
  snprintf(text, sizeof text,
           "%.17g %s %.17g > 2 %s %.17g < %.17g %s -0.482 ^ * %.17g %s -0.734 ^ * select select "
           "26.3 %s 3.7 0.05 %s 1 - * + * + * /",
           2 * GAP_E / GAP_S * 1e3, nu, sqrt(taylor / 1700), nu, sqrt(taylor / 1e4),
           0.409 * pow(taylor, 0.241), nu, 0.128 * pow(taylor, 0.367), nu, tau, tau);
  return circuits_law(network, text);
}

yoke_network* circuits_pmsm(bool has_start) {
  yoke_network* network = new_network("pmsm");
  for (size_t i = 0; i < sizeof pmsm_resistors / sizeof *pmsm_resistors; i++) {
    const part* p = &pmsm_resistors[i];
    add(network, YOKE_RESISTOR, p->name, p->a, p->b, p->value);
  }
  for (size_t i = 0; i < sizeof pmsm_sources / sizeof *pmsm_sources; i++) {
    const part* p = &pmsm_sources[i];
    add(network, YOKE_CURRENT, p->name, p->a, p->b, p->value);
  }
  for (size_t i = 0; i < sizeof pmsm_capacities / sizeof *pmsm_capacities; i++) {
    const part* p = &pmsm_capacities[i];
    const uint32_t e = add(network, YOKE_CAPACITOR, p->name, p->a, p->b, p->value);
    network->elements[e].start = 300;
    network->elements[e].has_start = has_start;
  }
  assert_true(circuits_fix(network, "Twater", "15", 320) != YOKE_NO_INDEX);
  assert_true(circuits_fix(network, "Tenv", "16", 300) != YOKE_NO_INDEX);
  for (uint32_t v = 0; v < network->n_nodes; v++) {
    network->nodes[v].domain = YOKE_THERMAL;
  }
  for (uint32_t e = 0; e < network->n_elements; e++) {
    network->elements[e].domain = YOKE_THERMAL;
  }
  yoke_circuit_value* gap = &network->elements[yoke__network_find_element(network, "Rgap")].value;
  *gap = (yoke_circuit_value){.law = gap_law(network)};
  return network;
}

// 5.5, temperatures above those of node 4
yoke_network* circuits_chain(void) {
  yoke_network* network = new_network("chain");
  add(network, YOKE_CURRENT, "Q0", "0", "1", 10);
  add(network, YOKE_RESISTOR, "R1", "1", "2", 1);
  add(network, YOKE_RESISTOR, "R2", "2", "3", 2);
  add(network, YOKE_RESISTOR, "R3", "3", "0", 3);
  const uint32_t c1 = add(network, YOKE_CAPACITOR, "C1", "2", "0", 0.1);
  const uint32_t c2 = add(network, YOKE_CAPACITOR, "C2", "3", "0", 0.2);
  network->elements[c1].start = -1;
  network->elements[c1].has_start = true;
  network->elements[c2].start = 1;
  network->elements[c2].has_start = true;
  return network;
}

// ------------------------------------------------------------------------------------------
// laws

typedef struct law_writer {
  yoke_operation operations[512];
  yoke_live live[YOKE_EXPRESSION_MAX_LIVE];
  uint32_t n_operations, n_live;
} law_writer;

static uint32_t live_index(law_writer* writer, yoke_live_kind kind, uint32_t index) {
  for (uint32_t i = 0; i < writer->n_live; i++) {
    if (writer->live[i].kind == kind && writer->live[i].index == index) {
      return i;
    }
  }
  assert_true(writer->n_live < YOKE_EXPRESSION_MAX_LIVE);
  writer->live[writer->n_live] = (yoke_live){kind, index};
  return writer->n_live++;
}

static bool write_live(law_writer* writer, const char* word, yoke_operation* operation) {
  static const struct {
    char letter;
    yoke_live_kind kind;
  } kinds[] = {{'v', YOKE_LIVE_VOLTAGE}, {'i', YOKE_LIVE_CURRENT}, {'u', YOKE_LIVE_INPUT}};
  if (strcmp(word, "t") == 0) {
    *operation =
        (yoke_operation){.code = YOKE_OP_LIVE, .index = live_index(writer, YOKE_LIVE_TIME, 0)};
    return true;
  }
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (word[0] == kinds[i].letter && word[1] >= '0' && word[1] <= '9') {
      const uint32_t index = (uint32_t)strtoul(word + 1, NULL, 10);
      *operation =
          (yoke_operation){.code = YOKE_OP_LIVE, .index = live_index(writer, kinds[i].kind, index)};
      return true;
    }
  }
  return false;
}

static yoke_operation write_word(law_writer* writer, const char* word) {
  static const struct {
    const char* word;
    yoke_operation_code code;
  } codes[] = {{"+", YOKE_OP_ADD},     {"-", YOKE_OP_SUB},        {"*", YOKE_OP_MUL},
               {"/", YOKE_OP_DIV},     {"^", YOKE_OP_POW},        {"neg", YOKE_OP_NEG},
               {"exp", YOKE_OP_EXP},   {"sin", YOKE_OP_SIN},      {"<", YOKE_OP_LESS},
               {">", YOKE_OP_GREATER}, {"select", YOKE_OP_SELECT}};
  yoke_operation operation = {.code = YOKE_OP_NUMBER};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
    if (strcmp(word, codes[i].word) == 0) {
      operation.code = codes[i].code;
      return operation;
    }
  }
  if (!write_live(writer, word, &operation)) {
    char* end = NULL;
    operation.number = strtod(word, &end);
    assert_true(end != word && *end == '\0');
  }
  return operation;
}

const yoke_expression* circuits_law(yoke_network* network, const char* text) {
  law_writer writer;
  char word[64];
  int used = 0;
  writer.n_operations = 0;
  writer.n_live = 0;
  for (const char* at = text; sscanf(at, " %63s%n", word, &used) == 1; at += used) {
    assert_true(writer.n_operations < sizeof writer.operations / sizeof *writer.operations);
    writer.operations[writer.n_operations++] = write_word(&writer, word);
  }
  const yoke_expression law = {.operations = writer.operations,
                               .n_operations = writer.n_operations,
                               .live = writer.live,
                               .n_live = writer.n_live,
                               .text = text};
  const yoke_expression* kept = yoke__network_keep_law(network, &law);
  assert_non_null(kept);
  return kept;
}

// ------------------------------------------------------------------------------------------
// references

static double sample_time(const circuits_problem* problem, uint32_t k) {
  return (double)(k + 1) * problem->duration / problem->n_samples;
}

// V (1/R + j (w C - 1/(w L))) = 100/R, plus the solution of the homogeneous equation from zero
// states
static void refer_rlc(circuits_problem* problem) {
  const double R = 10, L = 0.1, C = 0.6, w = 10 * pi;
  const double a = 1 / (2 * R * C);
  const double wd = sqrt(1 / (L * C) - a * a);
  const double G = 1 / R, B = w * C - 1 / (w * L);
  const double v_sin = 100 * G * G / (G * G + B * B), v_cos = -100 * G * B / (G * G + B * B);
  const double i_sin = v_cos / (w * L), i_cos = -v_sin / (w * L);
  const double h_cos = -v_cos;
  const double slope =
      (-h_cos / R + i_cos) / C;  // of the homogeneous part, whose current starts at -i_cos
  const double h_sin = (slope + a * h_cos) / wd;
  for (uint32_t k = 0; k < problem->n_samples; k++) {
    const double t = sample_time(problem, k);
    const double c = cos(wd * t), s = sin(wd * t), decay = exp(-a * t);
    const double v = decay * (h_cos * c + h_sin * s);
    const double dv = decay * ((h_sin * wd - a * h_cos) * c - (h_cos * wd + a * h_sin) * s);
    problem->v[k] = v_sin * sin(w * t) + v_cos * cos(w * t) + v;
    problem->i[k] = i_sin * sin(w * t) + i_cos * cos(w * t) - C * dv - v / R;
  }
}

// V_d of the chain of resistors for one unit of E or of the current of a loop: a tridiagonal
// system, solved densely.
static void solve_chain(size_t N, const double rhs[], double v[]) {
  double* A = calloc(N * N, sizeof *A);
  size_t* pivots = calloc(N, sizeof *pivots);
  assert_non_null(A);
  assert_non_null(pivots);
  for (size_t i = 0; i < N; i++) {
    A[i * N + i] = i + 1 < N ? 2 : 1;
    if (i > 0) {
      A[i * N + i - 1] = -1;
      A[(i - 1) * N + i] = -1;
    }
    v[i] = rhs[i];
  }
  check_ok(yoke__solve(N, A, v, pivots));
  free(A);
  free(pivots);
}

// z = [V_C1.., I_L1.., sin, cos], z' = M z
static double* ladder_matrix(size_t N) {
  const size_t n = 2 * N + 2;
  const double R = 10, L = 0.1, C = 0.1, w = 10 * pi;
  double* M = calloc(n * n, sizeof *M);
  double* rhs = calloc(2 * N, sizeof *rhs);
  assert_non_null(M);
  assert_non_null(rhs);
  double* v = rhs + N;
  for (size_t j = 0; j <= N; j++) {
    // column j: current of loop j + 1, or the source for j = N
    memset(rhs, 0, N * sizeof *rhs);
    rhs[j < N ? j : 0] = j < N ? -R : 100;
    solve_chain(N, rhs, v);
    for (size_t i = 0; i < N; i++) {
      M[(N + i) * n + (j < N ? N + j : 2 * N)] = v[i] / L;
    }
  }
  for (size_t i = 0; i < N; i++) {
    M[i * n + N + i] = 1 / C;
    M[(N + i) * n + i] = -1 / L;
  }
  M[(2 * N) * n + 2 * N + 1] = w;
  M[(2 * N + 1) * n + 2 * N] = -w;
  free(rhs);
  return M;
}

static void refer_ladder(circuits_problem* problem, size_t N) {
  const size_t n = 2 * N + 2;
  double* M = ladder_matrix(N);
  double* z = calloc(2 * n, sizeof *z);
  assert_non_null(z);
  const double dt = problem->duration / problem->n_samples;
  for (size_t i = 0; i < n * n; i++) {
    M[i] *= dt;
  }
  check_ok(yoke__expm(n, M, M));
  z[2 * N + 1] = 1;
  for (uint32_t k = 0; k < problem->n_samples; k++) {
    yoke__mat_vec(n, n, M, z, z + n);
    memcpy(z, z + n, n * sizeof *z);
    problem->v[k] = z[N - 1];
    problem->i[k] = z[2 * N - 1];
  }
  free(M);
  free(z);
}

typedef struct bridge {
  double u1, u2;  // of the conducting and the other junction
  double s, current;
} bridge;

static double shockley(double u, double* g) {
  const double nvt = N_BAR * V_T;
  const double e = exp(u / nvt);
  *g = I_O * e / nvt;
  return I_O * (e - 1);
}

// u1 + Rs i1 - |E| = u2 + Rs i2 and (1 + h R/(2L)) (i1 + i2) + (h/L) s = rhs, by Newton's method in
// two unknowns
static void solve_bridge(bridge* at, double e, double h, double rhs) {
  const double Rs = 1e-3, R = 10, L = 0.1;
  for (int k = 0; k < 60; k++) {
    double g1 = 0, g2 = 0;
    const double i1 = shockley(at->u1, &g1), i2 = shockley(at->u2, &g2);
    const double q = 1 + h * R / (2 * L);
    const double s = at->u1 + Rs * i1;
    const double f1 = s - e - at->u2 - Rs * i2;
    const double f2 = q * (i1 + i2) + h / L * s - rhs;
    const double a = 1 + Rs * g1, b = -(1 + Rs * g2);
    const double c = q * g1 + h / L * a, d = q * g2;
    const double det = a * d - b * c;
    const double d1 = (b * f2 - d * f1) / det, d2 = (c * f1 - a * f2) / det;
    at->u1 += d1;
    at->u2 += d2;
    if (fabs(d1) + fabs(d2) < 1e-14) {
      break;
    }
  }
  double g = 0;
  const double i1 = shockley(at->u1, &g);
  at->s = at->u1 + Rs * i1;
  at->current = i1 + shockley(at->u2, &g);
}

static void integrate_bridge(const circuits_problem* problem, uint32_t per_sample, double v[],
                             double i[]) {
  const double h = problem->duration / problem->n_samples / per_sample;
  bridge at = {0};
  double rate = 0;
  for (uint32_t k = 0; k < problem->n_samples; k++) {
    for (uint32_t j = 1; j <= per_sample; j++) {
      // half a period is 0.1 s: |E| without the sign of round-off at its zeros
      const uint64_t step = (uint64_t)k * per_sample + j;
      const uint64_t half = (uint64_t)per_sample * problem->n_samples / 10;
      const double e = 100 * sin(pi * (double)(step % half) / (double)half);
      solve_bridge(&at, e, h, at.current + h / 2 * rate + h / 2 * e / 0.1);
      rate = (e - 2 * at.s - 10 * at.current) / 0.1;
      if (j == per_sample) {
        const bool is_positive = step / half % 2 == 0;
        v[k] = is_positive ? at.s : at.s - e;
        i[k] = at.current;
      }
    }
  }
}

static void refer_rectifier(circuits_problem* problem) {
  const size_t n = problem->n_samples;
  double* coarse = calloc(2 * n, sizeof *coarse);
  assert_non_null(coarse);
  integrate_bridge(problem, 500, coarse, coarse + n);
  integrate_bridge(problem, 1000, problem->v, problem->i);
  for (size_t k = 0; k < n; k++) {
    problem->v[k] += (problem->v[k] - coarse[k]) / 3;
    problem->i[k] += (problem->i[k] - coarse[n + k]) / 3;
  }
  free(coarse);
}

enum { T1, T2, T6, T9, T10, T11, T12, T13, T14, N_T };

// The heat over the air gap from the magnets, by fixed point: its resistance hardly depends on it.
static double gap_flow(double t2, double t6) {
  double q = 0;
  double R = circuits_gap(0.5 * (t2 + t6));
  for (int k = 0; k < 6; k++) {
    q = (t2 - t6 - 0.01 * 200) / (0.015 + R + 0.025 + 0.01);
    R = circuits_gap(t2 - 0.015 * q - 0.5 * R * q);
  }
  return q;
}

static void pmsm_rates(const double T[N_T], double dT[N_T]) {
  const double q_gap = gap_flow(T[T2], T[T6]);
  const double q_wire = (T[T9] - T[T6]) / (0.001 + 0.05 + 0.01);
  const double q_inner = (T[T1] - T[T2]) / 0.025, q_yoke = (T[T6] - T[T10]) / 0.0025;
  const double q_1 = T[T1] - T[T13], q_2 = T[T1] - T[T14];
  const double p_1 = (T[T13] - T[T11]) / 0.5, p_2 = (T[T14] - T[T12]) / 0.5;
  const double h_1 = (T[T10] - T[T11]) / 0.25, h_2 = (T[T10] - T[T12]) / 0.25;
  dT[T1] = -(q_1 + q_2 + q_inner) / 2000;
  dT[T2] = (150 + q_inner - q_gap) / 5000;
  dT[T6] = (q_wire + q_gap + 200 - q_yoke) / 1500;
  dT[T9] = (2000 - q_wire) / 2000;
  dT[T10] = (q_yoke - h_1 - h_2 - (T[T10] - 320) / 0.001) / 3000;
  dT[T11] = (h_1 + p_1) / 300;
  dT[T12] = (h_2 + p_2) / 300;
  dT[T13] = (50 + q_1 - p_1 - (T[T13] - 300) / 3) / 500;
  dT[T14] = (50 + q_2 - p_2 - (T[T14] - 300) / 3) / 500;
}

static void pmsm_step(double T[N_T], double h) {
  double k[4][N_T], at[N_T];
  static const double where[4] = {0, 0.5, 0.5, 1};
  for (int s = 0; s < 4; s++) {
    for (int i = 0; i < N_T; i++) {
      at[i] = s == 0 ? T[i] : T[i] + where[s] * h * k[s - 1][i];
    }
    pmsm_rates(at, k[s]);
  }
  for (int i = 0; i < N_T; i++) {
    T[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
  }
}

static void refer_pmsm(circuits_problem* problem) {
  double T[N_T];
  for (int i = 0; i < N_T; i++) {
    T[i] = 300;
  }
  for (uint32_t k = 0; k < problem->n_samples; k++) {
    // fine while the fast modes live: they decay with 1.7 and 6 s
    const int n = k < 100 ? 50 : 10;
    for (int j = 0; j < n; j++) {
      pmsm_step(T, 1.0 / n);
    }
    problem->v[k] = T[T2];
    problem->i[k] = (T[T10] - 320) / 0.001;
  }
}

// ------------------------------------------------------------------------------------------
// problems

static void monitor(circuits_problem* problem, const char* plus, const char* minus,
                    const char* element) {
  problem->plus = yoke__network_find_node(problem->network, plus);
  problem->minus = yoke__network_find_node(problem->network, minus);
  problem->element = yoke__network_find_element(problem->network, element);
  assert_true(problem->plus != YOKE_NO_INDEX && problem->minus != YOKE_NO_INDEX &&
              problem->element != YOKE_NO_INDEX);
}

static circuits_problem make_problem(const char* name, yoke_network* network, double duration,
                                     uint32_t n_samples, double low_v, double low_i) {
  circuits_problem problem = {.name = name,
                              .network = network,
                              .duration = duration,
                              .n_samples = n_samples,
                              .low = {low_v, low_i}};
  problem.v = calloc(2 * (size_t)n_samples, sizeof *problem.v);
  assert_non_null(problem.v);
  problem.i = problem.v + n_samples;
  return problem;
}

circuits_problem circuits_open(circuits_name name, uint32_t n_loops) {
  circuits_problem problem = {0};
  char node[16], inductor[16];
  switch (name) {
  case CIRCUITS_RLC:
    problem = make_problem("rlc", circuits_rlc(), 10, 1000, 1e-3, 1e-3);
    monitor(&problem, "3", "0", "L1");
    refer_rlc(&problem);
    break;
  case CIRCUITS_LADDER:
    problem = make_problem("ladder", circuits_ladder(n_loops), 1, 100, 1e-3, 1e-3);
    snprintf(node, sizeof node, "%u", 2 * (unsigned)n_loops + 2);
    snprintf(inductor, sizeof inductor, "L%u", (unsigned)n_loops);
    monitor(&problem, node, "0", inductor);
    refer_ladder(&problem, n_loops);
    break;
  case CIRCUITS_RECTIFIER:
    problem = make_problem("rectifier", circuits_rectifier(), 1, 1000, 1e-3, 1e-3);
    monitor(&problem, "2", "3", "L1");
    refer_rectifier(&problem);
    break;
  case CIRCUITS_PMSM:
    problem = make_problem("pmsm", circuits_pmsm(true), 5000, 5000, 0.1, 1);
    monitor(&problem, "2", "0", "Rwater");
    refer_pmsm(&problem);
    break;
  }
  problem.high[0] = problem.low[0] * (name == CIRCUITS_PMSM ? 0.1 : 0.01);
  problem.high[1] = problem.low[1] * (name == CIRCUITS_PMSM ? 0.1 : 0.01);
  return problem;
}

void circuits_close(circuits_problem* problem) {
  yoke__network_destroy(&problem->network);
  free(problem->v);
  *problem = (circuits_problem){0};
}

// ------------------------------------------------------------------------------------------
// runs

yoke_circuit* circuits_start(const yoke_network* network, const yoke_circuit_options* options) {
  yoke_messages messages = {0};
  yoke_circuit* circuit = NULL;
  yoke_status status = yoke__circuit_create(network, options, &messages, &circuit);
  if (status >= 0) {
    status = yoke__circuit_start(circuit, 0, &messages);
  }
  if (status < 0) {
    char text[1024];
    yoke__messages_format(&messages, text, sizeof text);
    fail_msg("%s: %s; %s; %s", network->title, yoke_status_text(status), text,
             circuit != NULL ? yoke__circuit_reason(circuit)->text : "");
  }
  yoke__messages_free(&messages);
  return circuit;
}

uint64_t circuits_step_number(const yoke_circuit* circuit) {
  yoke_circuit_counts counts;
  yoke__circuit_get_counts(circuit, &counts);
  return counts.n_steps;
}

// an image ends with the engine's part, in blocks of 16 bytes: x_k and its history, then the rates
void circuits_rates(yoke_circuit* circuit, double xdot[]) {
  const yoke_circuit_core* core = yoke__circuit_core(circuit);
  assert_int_equal(core->options.formulation, YOKE_FORMULATION_DAE);
  const size_t n = core->equations->n, size = n * sizeof(double);
  const size_t own = (core->plan.n_history + (size_t)1) * size;
  const size_t whole = yoke__circuit_image_size(circuit);
  char* image = malloc(whole);
  assert_non_null(image);
  yoke__circuit_save(circuit, image);
  memcpy(xdot, image + whole - (own + 15) / 16 * 16 + core->plan.n_history * size, size);
  free(image);
}

void circuits_steps(yoke_circuit* circuit, uint64_t n) {
  for (uint64_t k = 0; k < n; k++) {
    const yoke_status status = yoke__circuit_step(circuit);
    if (status < 0) {
      fail_msg("step %llu: %s: %s", (unsigned long long)circuits_step_number(circuit),
               yoke_status_text(status), yoke__circuit_reason(circuit)->text);
    }
  }
}

double circuits_voltage(const yoke_circuit* circuit, const yoke_network* network,
                        const char* node) {
  const uint32_t index = yoke__network_find_node(network, node);
  assert_true(index != YOKE_NO_INDEX);
  return yoke__circuit_voltage(circuit, index);
}

double circuits_current(const yoke_circuit* circuit, const yoke_network* network,
                        const char* element) {
  const uint32_t index = yoke__network_find_element(network, element);
  assert_true(index != YOKE_NO_INDEX);
  return yoke__circuit_current(circuit, index);
}

circuits_result circuits_run(const circuits_problem* problem, const yoke_circuit_options* options) {
  const double spacing = problem->duration / problem->n_samples;
  const double ratio = spacing / options->step;
  const uint32_t per_sample = (uint32_t)(ratio + 0.5);
  assert_true(per_sample > 0 && fabs(ratio - per_sample) < 1e-6 * ratio);
  yoke_circuit* circuit = circuits_start(problem->network, options);
  circuits_result result = {0};
  const int64_t begin = yoke__os_cpu_ns();
  for (uint32_t k = 0; k < problem->n_samples && result.status >= 0; k++) {
    for (uint32_t j = 0; j < per_sample && result.status >= 0; j++) {
      result.status = yoke__circuit_step(circuit);
    }
    const double v = yoke__circuit_voltage(circuit, problem->plus) -
                     yoke__circuit_voltage(circuit, problem->minus) - problem->v[k];
    const double i = yoke__circuit_current(circuit, problem->element) - problem->i[k];
    result.v += v * v;
    result.i += i * i;
  }
  result.seconds = 1e-9 * (double)(yoke__os_cpu_ns() - begin);
  result.v = sqrt(result.v / problem->n_samples);
  result.i = sqrt(result.i / problem->n_samples);
  if (result.status < 0) {
    print_message("%s: %s\n", problem->name, yoke__circuit_reason(circuit)->text);
  }
  yoke__circuit_get_counts(circuit, &result.counts);
  yoke__circuit_destroy(&circuit);
  return result;
}
