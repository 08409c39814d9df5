// The text of NAME.h and NAME.c of a linear filter: C11 without any library, not even the headers of a freestanding one.
//
// The operations and their order are those of estimate_kalman.c, estimate_filter.c and estimate_filter_linear.c. Where a compiler
// would make a call of memcpy or memset of a loop, numbers are read or written as volatile.
#include <math.h>
#include <string.h>

#include "base/base_number.h"
#include "base/base_os.h"
#include "export/export_twin.h"
#include "yoke/version.h"

typedef struct writer {
  yoke_text text;
  const yoke_export_twin_job* job;
  const yoke_export_twin_model* m;
  yoke_export_c_identifier name;
} writer;

#define PUT(...) yoke__text_add(&w->text, __VA_ARGS__)

static void put_shown(writer* w, const char* shown) {
  yoke__export_c_put_shown(&w->text, shown);
}

static void put_number(writer* w, double x) {
  yoke__export_c_put_number(&w->text, false, x);
}

static void put_array(writer* w, const char* name, const double numbers[], size_t n_rows,
                      size_t n_cols) {
  yoke__export_c_put_array(&w->text, false, name, numbers, n_rows, n_cols);
}

// Text with @ for the name in small letters and $ for that in capitals.
static void put_body(writer* w, const char* body) {
  for (const char* at = body; *at != '\0';) {
    const size_t n = strcspn(at, "@$");
    yoke__text_append(&w->text, at, n);
    at += n;
    if (*at != '\0') {
      yoke__text_string(&w->text, *at == '@' ? w->name.lower : w->name.upper);
      at++;
    }
  }
}

static const char* plural(size_t n) {
  return n == 1 ? "" : "s";
}

static size_t at_least_one(size_t n) {
  return n > 0 ? n : 1;
}

// ---- the comment

static void put_head(writer* w) {
  const yoke_export_twin_job* job = w->job;
  const yoke_export_twin_model* m = w->m;
  const yoke_export_twin_cost* cost = &m->cost;
  PUT("/* ");
  put_shown(w, job->title != NULL && job->title[0] != '\0' ? job->title : job->name);
  PUT("\n *\n * Made by Yoke " YOKE_VERSION " from ");
  put_shown(w, job->source);
  if (job->settings[0] != '\0') {
    PUT(" with ");
    put_shown(w, job->settings);
  }
  PUT(". Do not edit: change the system file or the netlist.\n *\n");
  PUT(" * A Kalman filter on q = [%zu temperature%s; %zu unknown%s] with covariance P, one step "
      "of ",
      m->c.p, plural(m->c.p), m->c.n_rho, plural(m->c.n_rho));
  put_number(w, m->c.setup->h);
  PUT(" s:\n *   predict   q+ = F q + G v,  P+ = F P F' + Q     exact for inputs that are held\n"
      " *   ramp      q+ = q + G2 (v - v_before)           and for inputs that went straight\n"
      " *   correct   s = H P H' + r,  k = P H' / s,  q+ = q + k e,  P+ = (I - k H) P     for each "
      "reading\n *\n");
  PUT(" * %zu input%s, %zu sensor%s, %zu output%s in double precision.\n", m->n_u, plural(m->n_u),
      m->c.setup->n_sensors, plural(m->c.setup->n_sensors), m->n_outputs, plural(m->n_outputs));
  PUT(" * Constants: %zu bytes; one instance: %zu bytes; stack: about %zu bytes; no heap, no "
      "library, no global state.\n",
      cost->flash, cost->ram, cost->stack);
  PUT(" * Multiplications at most: %zu per prediction, %zu and a square root per reading, %zu per "
      "output call.\n",
      cost->n_predict, cost->n_reading, cost->n_output);
  put_body(
      w, " *\n * The same bits as in Yoke need IEEE double precision and no contraction of a * b + "
         "c (-ffp-contract=off).\n"
         " * Square roots are made digit by digit; define $_ROOT(x) when compiling if there is an\n"
         " * instruction that rounds correctly, such as __builtin_sqrt(x) with -fno-math-errno.\n"
         " */\n");
}

// ---- NAME.h

static const char instance[] =
    "\n/* What calls return, and how an instance is: $_BAD_INPUT alone is not kept, nothing was "
    "done "
    "then. */\n"
    "enum {\n"
    "  $_RUNNING = 0,\n"
    "  $_NOT_FINITE = 1,   /* diverged: a number is not finite */\n"
    "  $_NOT_POSITIVE = 2, /* diverged: a variance is not positive */\n"
    "  $_LOST = 3,         /* diverged: 500 corrections in a row were far from the readings */\n"
    "  $_BAD_INPUT = 4     /* an input is not finite */\n"
    "};\n\n"
    "/* One instance; every one stands for itself. Between init and the first call q and P may be\n"
    "   changed: temperatures [K] first, then unknowns. */\n"
    "typedef struct @ {\n";

static const char functions[] =
    "/* The start: estimates and variances as in the system file. */\n"
    "void @_init(@* self);\n"
    "/* Readings that belong to now, with the inputs of now. have: 0 where there is no reading, or "
    "a\n"
    "   null pointer if all are there; a reading that is not finite counts as missing. */\n"
    "int @_correct(@* self, const double u[], const double readings[], const unsigned char "
    "have[]);\n"
    "/* To the next step with these inputs held. */\n"
    "int @_predict(@* self, const double u[]);\n"
    "/* Inputs that were not held during the last prediction: they went straight from `before`, "
    "with "
    "which it\n"
    "   was made, to `now`. Before the correction, and not for those that jump. */\n"
    "int @_ramp(@* self, const double before[], const double now[]);\n"
    "/* The same of the step before that one, where only now it shows that inputs began to move "
    "and "
    "did not jump;\n"
    "   first of all. */\n"
    "int @_catch_up(@* self, const double before[], const double now[]);\n"
    "/* Estimates now, outputs and unknowns, and their variances. */\n"
    "void @_output(const @* self, const double u[], double y[], double variance[]);\n"
    "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";

static void put_names(writer* w, const char* kind, const yoke_export_c_name names[], size_t n,
                      size_t first, bool has_start) {
  yoke__export_c_put_names(&w->text, w->name.upper, kind, names, n, first, has_start, false);
}

static void put_instance(writer* w) {
  const yoke_export_twin_model* m = w->m;
  const size_t n = m->c.n, n_sensors = m->c.setup->n_sensors;
  put_body(w, instance);
  PUT("  double q[%zu], P[%zu];\n", n, n * n);
  PUT("  double innovation[%zu];    /* of the last correction: reading less expectation */\n"
      "  double innovation_sd[%zu]; /* what was expected of it; 0: there was no reading */\n",
      n_sensors, n_sensors);
  PUT("  unsigned long long n_steps, n_readings, n_missing, n_gated;\n");
  if (m->n_bounded > 0) {
    PUT("  unsigned long long n_bound_hits;\n");
  }
  put_body(w, "  unsigned n_lost;\n  int state;\n} @;\n\n");
}

static void write_header(writer* w) {
  const yoke_export_twin_model* m = w->m;
  const size_t n_rows = m->n_outputs;
  put_head(w);
  put_body(w, "#ifndef $_H\n#define $_H\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  const char* u = w->name.upper;
  PUT("enum { %s_N_STATES = %zu, %s_N_INPUTS = %zu, %s_N_SENSORS = %zu, %s_N_OUTPUTS = %zu };\n", u,
      m->c.n, u, m->n_u, u, m->c.setup->n_sensors, u, n_rows + m->c.n_rho);
  put_body(w, "#define $_STEP ");
  put_number(w, m->c.setup->h);
  PUT(" /* [s] */\n");
  put_names(w, "IN", m->inputs, m->n_u, 0, true);
  put_names(w, "SENSOR", m->sensors, m->c.setup->n_sensors, 0, false);
  put_names(w, "OUT", m->outputs, n_rows, 0, false);
  put_names(w, "UNKNOWN", m->unknowns, m->c.n_rho, n_rows, true);
  put_instance(w);
  put_body(w, functions);
}

// ---- NAME.c: constants

static void put_sizes(writer* w) {
  const yoke_export_twin_model* m = w->m;
  PUT("enum { N = %zu, N_Z = %zu, N_V = %zu };\n\n", m->c.n, m->c.p, at_least_one(m->c.r));
}

static void put_bounds(writer* w) {
  const yoke_export_twin_model* m = w->m;
  if (m->n_bounded == 0) {
    return;
  }
  PUT("enum { N_BOUNDED = %zu };\nstatic const unsigned bounded[N_BOUNDED] = {", m->n_bounded);
  size_t n = 0;
  for (size_t j = 0; j < m->c.n_rho; j++) {
    if (isfinite(m->c.lower[j]) || isfinite(m->c.upper[j])) {
      PUT("%s%zu", n++ > 0 ? ", " : "", m->c.p + j);
    }
  }
  for (int side = 0; side < 2; side++) {
    PUT("};\nstatic const double %s[N_BOUNDED] = {", side == 0 ? "lower" : "upper");
    n = 0;
    for (size_t j = 0; j < m->c.n_rho; j++) {
      const double bound = side == 0 ? m->c.lower[j] : m->c.upper[j];
      if (isfinite(m->c.lower[j]) || isfinite(m->c.upper[j])) {
        PUT("%s", n++ > 0 ? ", " : "");
        put_number(w, isfinite(bound) ? bound
                      : side == 0     ? -1.7976931348623157e308
                                      : 1.7976931348623157e308);
      }
    }
  }
  PUT("};\n");
}

static void put_constants(writer* w) {
  const yoke_export_twin_model* m = w->m;
  const yoke_estimate_setup* setup = m->c.setup;
  const size_t n = m->c.n, p = m->c.p, r = m->c.r;
  put_sizes(w);
  put_array(w, "F", m->c.F, p, n);
  put_array(w, "Psi", m->c.Psi1, p, p);
  put_array(w, "Psi2", m->c.Psi2, p, p);
  put_array(w, "G", m->c.model->Gc, p, r);
  PUT("/* upper half of Q, row by row */\n");
  put_array(w, "Q", m->Q, 1, n * (n + 1) / 2);
  put_array(w, "H", m->H, setup->n_sensors, n);
  PUT("static const double noise[%zu] = {", setup->n_sensors);
  for (size_t i = 0; i < setup->n_sensors; i++) {
    PUT("%s", i > 0 ? ", " : "");
    put_number(w, setup->sensors[i].sigma * setup->sensors[i].sigma);
  }
  PUT("}; /* variances */\n");
  put_array(w, "H_out", m->H_out, m->n_outputs, n);
  put_array(w, "T", m->T, m->n_free, p);
  put_array(w, "B", m->B, m->n_free, r);
  put_bounds(w);
  put_array(w, "q_start", m->c.q, 1, n);
  put_array(w, "P_start", m->c.P, n, n);
}

// ---- NAME.c: readings as functions of q and v

static const char* node_text(const writer* w, uint32_t node, char text[64]) {
  const yoke_export_twin_model* m = w->m;
  const yoke_heat_model* model = m->c.model;
  if (model->state[node] != YOKE_HEAT_FREE) {
    snprintf(text, 64, "q[%u]", (unsigned)model->state[node]);
  } else if (model->place[node] == YOKE_HEAT_FREE) {
    snprintf(text, 64, "v[%u]", (unsigned)model->network->nodes[node].fixed);
  } else {
    size_t i = 0;
    while (m->free_nodes[i] != node) {
      i++;
    }
    snprintf(text, 64, "free_node(%zu, q, v)", i);
  }
  return text;
}

static void put_row(writer* w, yoke_heat_row row) {
  char a[64], b[64];
  if (row.kind == YOKE_ROW_TEMPERATURE) {
    PUT("%s", node_text(w, row.index, a));
  } else if (row.kind == YOKE_ROW_DIFFERENCE) {
    PUT("%s - %s", node_text(w, row.index, a), node_text(w, row.other, b));
  } else if (row.kind == YOKE_ROW_FLOW) {
    const yoke_heat_resistor* r = &w->m->c.setup->network->resistors[row.index];
    put_number(w, w->m->c.model->g[row.index]);
    PUT(" * (%s - %s)", node_text(w, r->a, a), node_text(w, r->b, b));
  } else {
    PUT("v[%u]", (unsigned)row.index);
  }
}

// Of an unknown input.
static bool put_unknown_input(writer* w, size_t input) {
  const yoke_export_twin_model* m = w->m;
  for (size_t j = 0; j < m->c.n_rho; j++) {
    const yoke_unknown* u = &m->c.setup->unknowns[j];
    for (size_t t = 0; t < u->n_targets && u->kind == YOKE_UNKNOWN_INPUT; t++) {
      if (u->targets[t] == input) {
        put_number(w, u->factors[t]);
        PUT(" * q[%zu]", m->c.p + j);
        return true;
      }
    }
  }
  return false;
}

// offset + sum of slopes and inputs, without what is 0 or 1
static void put_known_input(writer* w, size_t input) {
  const yoke_export_twin_model* m = w->m;
  bool is_first = true;
  if (m->offset[input] != 0.0) {
    put_number(w, m->offset[input]);
    is_first = false;
  }
  for (size_t k = 0; k < m->n_u; k++) {
    const double slope = m->map[input * m->n_u + k];
    if (slope != 0.0) {
      PUT("%s", is_first ? "" : " + ");
      if (slope != 1.0) {
        put_number(w, slope);
        PUT(" * ");
      }
      PUT("u[%zu]", k);
      is_first = false;
    }
  }
  if (is_first) {
    PUT("0.0");
  }
}

static void put_input(writer* w, size_t input) {
  PUT("  v[%zu] = ", input);
  if (!put_unknown_input(w, input)) {
    put_known_input(w, input);
  }
  PUT(";\n");
}

static void put_inputs(writer* w) {
  const yoke_export_twin_model* m = w->m;
  PUT("\n/* All inputs: given ones, unknown ones, constant ones. Are the given ones finite? */\n"
      "static int take_inputs(const double q[], const double u[], double v[]) {\n");
  for (size_t i = 0; i < m->c.r; i++) {
    put_input(w, i);
  }
  if (m->c.r == 0) {
    PUT("  v[0] = 0.0;\n");
  }
  PUT("  (void)q;\n  (void)u;\n");
  if (m->n_u > 0) {
    PUT("  for (unsigned i = 0; i < %zuu; i++) {\n    if (!is_finite(u[i])) {\n      return 0;\n"
        "    }\n  }\n",
        m->n_u);
  }
  PUT("  return 1;\n}\n");
  if (m->n_free > 0) {
    PUT("\n/* The temperature of a node without heat capacity. */\n"
        "static double free_node(unsigned row, const double q[], const double v[]) {\n"
        "  return dot(N_Z, T + row * N_Z, q)%s;\n}\n",
        m->c.r > 0 ? " + dot(N_V, B + row * N_V, v)" : " + 0.0 * v[0]");
  }
}

static void put_rows(writer* w) {
  const yoke_export_twin_model* m = w->m;
  const yoke_estimate_setup* setup = m->c.setup;
  PUT("\n/* What the sensors are expected to read. */\n"
      "static void expect(const double q[], const double v[], double y[]) {\n");
  for (size_t i = 0; i < setup->n_sensors; i++) {
    PUT("  y[%zu] = ", i);
    put_row(w, setup->sensors[i].row);
    PUT(";\n");
    for (size_t j = 0; j < m->c.n_rho; j++) {
      const yoke_unknown* u = &setup->unknowns[j];
      if (u->kind == YOKE_UNKNOWN_OFFSET && u->targets[0] == i) {
        PUT("  y[%zu] += ", i);
        put_number(w, u->factors[0]);
        PUT(" * q[%zu];\n", m->c.p + j);
      }
    }
  }
  PUT("  (void)q;\n  (void)v;\n  (void)y;\n}\n");
}

// ---- NAME.c: arithmetic

static const char arithmetic[] =
    "typedef union number {\n"
    "  double value;\n"
    "  unsigned long long bits;\n"
    "} number;\n"
    "_Static_assert(sizeof(double) == 8 && sizeof(unsigned long long) == 8, \"IEEE double "
    "precision is needed\");\n\n"
    "static int is_finite(double x) {\n"
    "  const number as = {x};\n"
    "  return (as.bits >> 52 & 0x7ffu) != 0x7ffu;\n"
    "}\n\n"
    "/* volatile: no call of memcpy */\n"
    "static void copy(unsigned n, const volatile double from[], double to[]) {\n"
    "  for (unsigned i = 0; i < n; i++) {\n"
    "    to[i] = from[i];\n"
    "  }\n"
    "}\n\n"
    "static double dot(unsigned n, const double a[], const double b[]) {\n"
    "  double sum = 0.0;\n"
    "  for (unsigned i = 0; i < n; i++) {\n"
    "    sum += a[i] * b[i];\n"
    "  }\n"
    "  return sum;\n"
    "}\n\n"
    "/* The sum of odd and even products apart. */\n"
    "static double dot_pairs(const double a[], const double b[]) {\n"
    "  double even = 0.0, odd = 0.0;\n"
    "  for (unsigned i = 0; i < N; i++) {\n"
    "    if (i % 2u == 0u) {\n"
    "      even += a[i] * b[i];\n"
    "    } else {\n"
    "      odd += a[i] * b[i];\n"
    "    }\n"
    "  }\n"
    "  return even + odd;\n"
    "}\n\n"
    "#ifdef $_ROOT\n"
    "static double root(double x) {\n"
    "  return $_ROOT(x);\n"
    "}\n"
    "#else\n"
    "/* The square root, digit by digit and rounded to nearest; rest is the mantissa of an even\n"
    "   exponent, from 2^52 to 2^54. */\n"
    "static double root(double x) {\n"
    "  number as = {x};\n"
    "  unsigned long long rest = as.bits & 0xfffffffffffffu, sum = 0, digits = 0;\n"
    "  int exponent = (int)(as.bits >> 52);\n"
    "  if (as.bits << 1 == 0) {\n"
    "    return x;\n"
    "  }\n"
    "  if (exponent >= 0x7ff) {\n"
    "    return x > 0.0 ? x : (x - x) / (x - x);\n"
    "  }\n"
    "  if (exponent > 0) {\n"
    "    rest |= 1ull << 52;\n"
    "  } else {\n"
    "    for (exponent = 1; rest >> 52 == 0; exponent--) {\n"
    "      rest <<= 1;\n"
    "    }\n"
    "  }\n"
    "  rest <<= exponent % 2 == 0 ? 2 : 1;\n"
    "  for (unsigned long long digit = 1ull << 53; digit != 0; digit >>= 1) {\n"
    "    if (sum + digit <= rest) {\n"
    "      rest -= sum + digit;\n"
    "      sum += 2 * digit;\n"
    "      digits += digit;\n"
    "    }\n"
    "    rest <<= 1;\n"
    "  }\n"
    "  digits += rest != 0 ? digits & 1u : 0;\n"
    "  as.bits = (digits >> 1) + ((unsigned long long)((exponent + 1023) / 2 - 1) << 52);\n"
    "  return as.value;\n"
    "}\n"
    "#endif\n";

// ---- NAME.c: the filter

static const char start[] =
    "\nvoid @_init(@* self) {\n"
    "  volatile double* P = self->P; /* no call of memset */\n"
    "  volatile double* innovation = self->innovation;\n"
    "  volatile double* innovation_sd = self->innovation_sd;\n"
    "  copy(N, q_start, self->q);\n"
    "  for (unsigned i = 0; i < N * N; i++) {\n"
    "    P[i] = P_start[i];\n"
    "  }\n"
    "  for (unsigned i = 0; i < $_N_SENSORS; i++) {\n"
    "    innovation[i] = innovation_sd[i] = 0.0;\n"
    "  }\n"
    "  self->n_steps = self->n_readings = self->n_missing = self->n_gated = 0;\n"
    "  self->n_lost = 0;\n"
    "  self->state = $_RUNNING;\n";

static const char correction[] =
    "\n/* y = sum of a_k (row k of P). */\n"
    "static void combine_rows(const double a[], const double P[], double y[]) {\n"
    "  for (unsigned j = 0; j < N; j++) {\n"
    "    double sum = 0.0;\n"
    "    for (unsigned k = 0; k < N; k++) {\n"
    "      if (a[k] != 0.0) {\n"
    "        sum += a[k] * P[k * N + j];\n"
    "      }\n"
    "    }\n"
    "    y[j] = sum;\n"
    "  }\n"
    "}\n\n"
    "/* h P h' + r, and P h'. */\n"
    "static double variance_of(const double P[], const double h[], double r, double Ph[]) {\n"
    "  combine_rows(h, P, Ph);\n"
    "  return dot_pairs(h, Ph) + r;\n"
    "}\n";

static const char sensor_step[] =
    "\n/* Makes P h' = r k again after rounding. */\n"
    "static void remove_rounding(double P[], const double h[], double r, const double k[]) {\n"
    "  double f[N];\n"
    "  combine_rows(h, P, f);\n"
    "  for (unsigned i = 0; i < N; i++) {\n"
    "    f[i] += -r * k[i];\n"
    "  }\n"
    "  const double half = -0.5 * dot_pairs(h, f);\n"
    "  for (unsigned i = 0; i < N; i++) {\n"
    "    f[i] += half * k[i];\n"
    "  }\n"
    "  for (unsigned i = 0; i < N; i++) {\n"
    "    for (unsigned j = 0; j < N; j++) {\n"
    "      P[i * N + j] -= k[i] * f[j] + f[i] * k[j];\n"
    "    }\n"
    "  }\n"
    "}\n\n"
    "/* Takes innovation e of variance s; 0: the variance is not positive. */\n"
    "static int take(@* self, const double h[], double r, double e, double s, double Ph[]) {\n"
    "  double g[N];\n"
    "  double* P = self->P;\n"
    "  if (!(s > 0.0) || !is_finite(s)) {\n"
    "    return 0;\n"
    "  }\n"
    "  const double gain = e / s, scale = 1.0 / root(s);\n"
    "  for (unsigned i = 0; i < N; i++) {\n"
    "    self->q[i] += gain * Ph[i];\n"
    "  }\n"
    "  for (unsigned i = 0; i < N; i++) {\n"
    "    g[i] = scale * Ph[i];\n"
    "  }\n"
    "  for (unsigned i = 0; i < N; i++) {\n"
    "    for (unsigned j = 0; j < N && g[i] != 0.0; j++) {\n"
    "      P[i * N + j] += -g[i] * g[j];\n"
    "    }\n"
    "  }\n"
    "  if (r < 1e-6 * s) {\n"
    "    for (unsigned i = 0; i < N; i++) {\n"
    "      Ph[i] /= s;\n"
    "    }\n"
    "    remove_rounding(P, h, r, Ph);\n"
    "  }\n"
    "  return 1;\n"
    "}\n\n"
    "/* One reading, given what it differs by from the expectation before all of them. */\n"
    "static int take_reading(@* self, unsigned sensor, double e, const double prior[]) {\n"
    "  const double* h = H + sensor * N;\n"
    "  double Ph[N];\n"
    "  for (unsigned i = 0; i < N; i++) {\n"
    "    e -= h[i] * (self->q[i] - prior[i]);\n"
    "  }\n"
    "  const double s = variance_of(self->P, h, noise[sensor], Ph);\n"
    "  self->n_readings++;\n"
    "  self->innovation[sensor] = e;\n"
    "  self->innovation_sd[sensor] = root(s);\n";

static const char judgement[] = "\nstatic int judge_numbers(@* self) {\n"
                                "  for (unsigned i = 0; i < N; i++) {\n"
                                "    if (!is_finite(self->q[i])) {\n"
                                "      return self->state = $_NOT_FINITE;\n"
                                "    }\n"
                                "  }\n"
                                "  for (unsigned i = 0; i < N; i++) {\n"
                                "    const double variance = self->P[i * (N + 1)];\n"
                                "    if (!is_finite(variance)) {\n"
                                "      return self->state = $_NOT_FINITE;\n"
                                "    }\n"
                                "    if (variance < 0.0) {\n"
                                "      return self->state = $_NOT_POSITIVE;\n"
                                "    }\n"
                                "  }\n"
                                "  return $_RUNNING;\n"
                                "}\n";

static const char bounds[] =
    "\n/* An unknown that crossed a bound is put on it; all else goes along as the covariance "
    "says. */\n"
    "static void keep_bounds(@* self) {\n"
    "  double* q = self->q;\n"
    "  for (unsigned b = 0; b < N_BOUNDED; b++) {\n"
    "    const unsigned at = bounded[b];\n"
    "    const double* row = self->P + at * N;\n"
    "    const double bound = q[at] < lower[b] ? lower[b] : upper[b];\n"
    "    if (!(q[at] < lower[b] || q[at] > upper[b])) {\n"
    "      continue;\n"
    "    }\n"
    "    if (row[at] > 0.0) {\n"
    "      const double step = (bound - q[at]) / row[at];\n"
    "      for (unsigned i = 0; i < N; i++) {\n"
    "        q[i] += step * row[i];\n"
    "      }\n"
    "    }\n"
    "    q[at] = bound;\n"
    "    self->n_bound_hits++;\n"
    "  }\n"
    "  for (unsigned b = 0; b < N_BOUNDED; b++) {\n"
    "    const double x = q[bounded[b]] >= lower[b] ? q[bounded[b]] : lower[b];\n"
    "    q[bounded[b]] = x <= upper[b] ? x : upper[b];\n"
    "  }\n"
    "}\n";

static const char correct_begin[] =
    "\nint @_correct(@* self, const double u[], const double readings[], const unsigned char "
    "have[]) {\n"
    "  double v[N_V], y[$_N_SENSORS], prior[N];\n"
    "  if (self->state != $_RUNNING) {\n"
    "    return self->state;\n"
    "  }\n"
    "  if (!take_inputs(self->q, u, v)) {\n"
    "    return $_BAD_INPUT;\n"
    "  }\n"
    "  expect(self->q, v, y);\n"
    "  copy(N, self->q, prior);\n";

static const char correct_readings[] =
    "  for (unsigned i = 0; i < $_N_SENSORS; i++) {\n"
    "    if ((have && !have[i]) || !is_finite(readings[i])) {\n"
    "      self->n_missing++;\n"
    "      self->innovation[i] = self->innovation_sd[i] = 0.0;\n"
    "    } else if (!take_reading(self, i, readings[i] - y[i], prior)) {\n"
    "      return self->state = $_NOT_POSITIVE;\n"
    "    }\n"
    "  }\n"
    "  if (judge_numbers(self) != $_RUNNING) {\n"
    "    return self->state;\n"
    "  }\n";

static const char judge_distance[] =
    "\n/* Are the readings where they were expected at all? */\n"
    "static int judge_readings(@* self) {\n"
    "  double sum = 0.0;\n"
    "  unsigned n = 0;\n"
    "  for (unsigned i = 0; i < $_N_SENSORS; i++) {\n"
    "    if (self->innovation_sd[i] > 0.0) {\n"
    "      const double e = self->innovation[i] / self->innovation_sd[i];\n"
    "      sum += e * e;\n"
    "      n++;\n"
    "    }\n"
    "  }\n"
    "  const int is_lost = sum > 100.0 * (double)n;\n";

static const char judge_gate[] =
    "\n/* Was any reading where it was expected? */\n"
    "static int judge_readings(@* self, unsigned long long n_gated) {\n"
    "  unsigned n = 0;\n"
    "  for (unsigned i = 0; i < $_N_SENSORS; i++) {\n"
    "    n += self->innovation_sd[i] > 0.0;\n"
    "  }\n"
    "  const int is_lost = self->n_gated - n_gated == n;\n";

static const char judge_end[] = "  if (n > 0) {\n"
                                "    self->n_lost = is_lost ? self->n_lost + 1 : 0;\n"
                                "  }\n"
                                "  if (self->n_lost >= 500u) {\n"
                                "    self->state = $_LOST;\n"
                                "  }\n"
                                "  return self->state;\n"
                                "}\n";

static const char prediction[] = "\nstatic void move(double q[], const double v[]) {\n"
                                 "  double next[N_Z], push[N_Z];\n"
                                 "  for (unsigned i = 0; i < N_Z; i++) {\n"
                                 "    next[i] = dot(N_Z, F + i * N, q);\n"
                                 "%s"
                                 "  }\n"
                                 "  for (unsigned i = 0; i < N_Z; i++) {\n"
                                 "    next[i] += dot(N_Z, Psi + i * N_Z, push);\n"
                                 "  }\n"
                                 "  copy(N_Z, next, q);\n"
                                 "}\n";

static const char covariance[] = "\n/* P = F P F' + Q, where unknowns stay as they are. */\n"
                                 "static void spread(double P[]) {\n"
                                 "  double W[N_Z * N];\n"
                                 "  for (unsigned i = 0; i < N_Z; i++) {\n"
                                 "    combine_rows(F + i * N, P, W + i * N);\n"
                                 "  }\n"
                                 "  for (unsigned i = 0; i < N_Z; i++) {\n"
                                 "    for (unsigned j = i; j < N; j++) {\n"
                                 "      double sum = W[i * N + j];\n"
                                 "      if (j < N_Z) {\n"
                                 "        sum = 0.0;\n"
                                 "        for (unsigned k = 0; k < N; k++) {\n"
                                 "          if (F[i * N + k] != 0.0) {\n"
                                 "            sum += F[i * N + k] * W[j * N + k];\n"
                                 "          }\n"
                                 "        }\n"
                                 "      }\n"
                                 "      P[i * N + j] = P[j * N + i] = sum;\n"
                                 "    }\n"
                                 "  }\n"
                                 "  const double* noise_part = Q;\n"
                                 "  for (unsigned i = 0; i < N; i++) {\n"
                                 "    for (unsigned j = i; j < N; j++) {\n"
                                 "      const double sum = P[i * N + j] + *noise_part++;\n"
                                 "      P[i * N + j] = P[j * N + i] = sum;\n"
                                 "    }\n"
                                 "  }\n"
                                 "}\n\n"
                                 "int @_predict(@* self, const double u[]) {\n"
                                 "  double v[N_V];\n"
                                 "  if (self->state != $_RUNNING) {\n"
                                 "    return self->state;\n"
                                 "  }\n"
                                 "  if (!take_inputs(self->q, u, v)) {\n"
                                 "    return $_BAD_INPUT;\n"
                                 "  }\n"
                                 "  move(self->q, v);\n"
                                 "  spread(self->P);\n"
                                 "  self->n_steps++;\n"
                                 "  return judge_numbers(self);\n"
                                 "}\n";

static void put_correct(writer* w) {
  const yoke_export_twin_model* m = w->m;
  const double gate = m->c.setup->gate;
  put_body(w, sensor_step);
  if (m->has_gate) {
    PUT("  if (e * e > ");
    put_number(w, gate * gate);
    PUT(" * s) {\n    self->n_gated++;\n    return 1;\n  }\n");
  }
  PUT("  return take(self, h, noise[sensor], e, s, Ph);\n}\n");
  if (m->n_bounded > 0) {
    put_body(w, bounds);
  }
  put_body(w, m->has_gate ? judge_gate : judge_distance);
  put_body(w, judge_end);
  put_body(w, correct_begin);
  if (m->has_gate) {
    PUT("  const unsigned long long n_gated = self->n_gated;\n");
  }
  put_body(w, correct_readings);
  if (m->n_bounded > 0) {
    PUT("  keep_bounds(self);\n");
  }
  PUT("  return judge_readings(self%s);\n}\n", m->has_gate ? ", n_gated" : "");
}

static void put_output(writer* w) {
  const yoke_export_twin_model* m = w->m;
  const yoke_estimate_setup* setup = m->c.setup;
  put_body(w, "\nvoid @_output(const @* self, const double u[], double y[], double variance[]) "
              "{\n  const double* q = self->q;\n  double v[N_V];\n  (void)take_inputs(q, u, v);\n");
  for (size_t i = 0; i < m->n_outputs; i++) {
    PUT("  y[%zu] = ", i);
    put_row(w, setup->outputs[i]);
    PUT(";\n");
  }
  if (m->n_outputs > 0) {
    PUT("  for (unsigned i = 0; i < %zuu; i++) {\n    double Ph[N];\n"
        "    const double square = variance_of(self->P, H_out + i * N, 0.0, Ph);\n"
        "    variance[i] = square > 0.0 ? square : 0.0;\n  }\n",
        m->n_outputs);
  }
  for (size_t j = 0; j < m->c.n_rho; j++) {
    const size_t at = m->c.p + j;
    PUT("  y[%zu] = q[%zu];\n  variance[%zu] = self->P[%zu];\n", m->n_outputs + j, at,
        m->n_outputs + j, at * (m->c.n + 1));
  }
  PUT("  (void)y;\n  (void)variance;\n}\n");
}

static const char ramp_begin[] =
    "\n/* push = Psi2 G (now - before) / step; 0: an input is not finite */\n"
    "static int find_ramp(const double q[], const double before[], const double now[], double "
    "push[]) {\n"
    "  double v[N_V], slope[N_V], heat[N_Z];\n"
    "  if (!take_inputs(q, before, v) || !take_inputs(q, now, slope)) {\n"
    "    return 0;\n"
    "  }\n"
    "  for (unsigned i = 0; i < N_V; i++) {\n"
    "    slope[i] = (slope[i] - v[i]) / $_STEP;\n"
    "  }\n"
    "  for (unsigned i = 0; i < N_Z; i++) {\n";

static const char ramp_end[] =
    "  }\n"
    "  for (unsigned i = 0; i < N_Z; i++) {\n"
    "    push[i] = dot(N_Z, Psi2 + i * N_Z, heat);\n"
    "  }\n"
    "  return 1;\n"
    "}\n\n"
    "int @_ramp(@* self, const double before[], const double now[]) {\n"
    "  double push[N_Z];\n"
    "  if (self->state != $_RUNNING) {\n"
    "    return self->state;\n"
    "  }\n"
    "  if (!find_ramp(self->q, before, now, push)) {\n"
    "    return $_BAD_INPUT;\n"
    "  }\n"
    "  for (unsigned i = 0; i < N_Z; i++) {\n"
    "    self->q[i] += push[i];\n"
    "  }\n"
    "  return $_RUNNING;\n"
    "}\n\n"
    "int @_catch_up(@* self, const double before[], const double now[]) {\n"
    "  double push[N_Z];\n"
    "  if (self->state != $_RUNNING) {\n"
    "    return self->state;\n"
    "  }\n"
    "  if (!find_ramp(self->q, before, now, push)) {\n"
    "    return $_BAD_INPUT;\n"
    "  }\n"
    "  for (unsigned i = 0; i < N_Z; i++) {\n"
    "    self->q[i] += dot(N_Z, F + i * N, push);\n"
    "  }\n"
    "  return $_RUNNING;\n"
    "}\n";

static void put_ramp(writer* w) {
  const char* push = w->m->c.r > 0 ? "    heat[i] = dot(N_V, G + i * N_V, slope);\n"
                                   : "    heat[i] = 0.0 * slope[0];\n";
  put_body(w, ramp_begin);
  PUT("%s", push);
  put_body(w, ramp_end);
}

static void put_predict(writer* w) {
  const char* push =
      w->m->c.r > 0 ? "    push[i] = dot(N_V, G + i * N_V, v);\n" : "    push[i] = 0.0 * v[0];\n";
  yoke__text_add(&w->text, prediction, push);
  put_body(w, covariance);
}

static void write_source(writer* w) {
  put_head(w);
  PUT("#include \"%s.h\"\n\n", w->job->name);
  put_constants(w);
  PUT("\n");
  put_body(w, arithmetic);
  put_inputs(w);
  put_rows(w);
  put_body(w, start);
  PUT("%s}\n", w->m->n_bounded > 0 ? "  self->n_bound_hits = 0;\n" : "");
  put_body(w, correction);
  put_body(w, judgement);
  put_correct(w);
  put_predict(w);
  put_ramp(w);
  put_output(w);
}

// ---- files

yoke_status yoke__export_twin_write(const yoke_export_twin_job* job,
                                    const yoke_export_twin_model* model, const char* directory,
                                    const yoke_sink* sink) {
  writer w = {.job = job, .m = model, .name = yoke__export_c_identifier(job->name)};
  yoke_status status = yoke__os_make_directory(directory, sink);
  if (status >= 0) {
    write_header(&w);
    status = yoke__export_c_save(&w.text, directory, job->name, ".h", sink);
  }
  if (status >= 0) {
    yoke__text_clear(&w.text);
    write_source(&w);
    status = yoke__export_c_save(&w.text, directory, job->name, ".c", sink);
  }
  yoke__text_free(&w.text);
  return status;
}
