// The problems of an assessment: those that come with the program, and a user's own; see
// study_assess.h.
//
// The netlists and the references of rlc, rectifier and pmsm are the files of scenarios/circuits,
// built into the program; tools/make_circuit_references.py made the references. The ladder is
// written here for any number of loops, and its reference is exact: with z = [inductor currents,
// capacitor voltages, sin wt, cos wt] the circuit is z' = A z, and z(t + T) = exp(A T) z(t). The
// resistors form a chain, so the voltage at inductor i is E - R sum_j min(i, j) I_j. From 30 loops
// on the first loop does not depend on the number any more (2e-9) and the last one is below 1e-7:
// larger ladders are compared with one of LADDER_MAX loops and with zero.
#include "study/study_assess.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "circuit/netlist/circuit_netlist.h"
#include "linalg/linalg_dense.h"
#include "record/record_read.h"

#define PI             3.14159265358979323846
#define LADDER_MAX     40  // loops of the reference
#define LADDER_LIMIT   100000
#define LADDER_SAMPLES ((size_t)100)
#define LADDER_SPACING 0.01
// from here on the last loop is below every level: the first one is judged
#define LADDER_FAR 10

const char* const yoke__assess_level_names[YOKE_N_LEVELS] = {"none", "low", "high"};
const char* const yoke__assess_names[YOKE_ASSESS_N_PROBLEMS + 1] = {"rlc", "ladder-2", "rectifier",
                                                                    "pmsm", NULL};

// made by cmake/embed.cmake from scenarios/circuits
extern const unsigned char yoke__assess_rlc[], yoke__assess_rlc_reference[];
extern const unsigned char yoke__assess_rectifier[], yoke__assess_rectifier_reference[];
extern const unsigned char yoke__assess_pmsm[], yoke__assess_pmsm_reference[];
extern const size_t yoke__assess_rlc_size, yoke__assess_rlc_reference_size;
extern const size_t yoke__assess_rectifier_size, yoke__assess_rectifier_reference_size;
extern const size_t yoke__assess_pmsm_size, yoke__assess_pmsm_reference_size;

// Errors allowed of the first and the second monitor.
typedef struct levels {
  double low[2], high[2];
} levels;
static const levels electric = {{1e-3, 1e-3}, {1e-5, 1e-5}};
static const levels thermal = {{0.1, 1}, {0.01, 0.1}};

// ---- life

static yoke_status create(const char* name, yoke_assess_problem** out) {
  *out = calloc(1, sizeof **out);
  YOKE_TRY_MEMORY(*out);
  (*out)->name = yoke__arena_text(&(*out)->arena, name, strlen(name));
  (*out)->title = (*out)->name;
  return (*out)->name == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

void yoke__assess_destroy(yoke_assess_problem** problem) {
  if (*problem == NULL) {
    return;
  }
  if ((*problem)->network != NULL) {
    yoke__network_destroy(&(*problem)->network);
  }
  yoke__csv_free(&(*problem)->reference);
  yoke__arena_free(&(*problem)->arena);
  free(*problem);
  *problem = NULL;
}

static yoke_status finish(yoke_status status, yoke_assess_problem** problem) {
  if (status < 0) {
    yoke__assess_destroy(problem);
  }
  return status;
}

static yoke_assess_monitor* add_monitor(yoke_assess_problem* p, const char* name,
                                        const double* reference) {
  yoke_assess_monitor* m = &p->monitors[p->n_monitors++];
  *m = (yoke_assess_monitor){.name = name,
                             .limit = {(double)INFINITY, (double)INFINITY, (double)INFINITY},
                             .reference = reference};
  return m;
}

static void judge_by(yoke_assess_monitor* m, const levels* allowed, int i) {
  m->limit[YOKE_LEVEL_LOW] = allowed->low[i];
  m->limit[YOKE_LEVEL_HIGH] = allowed->high[i];
}

static yoke_status find_probes(yoke_assess_problem* p, const char* source,
                               yoke_messages* messages) {
  yoke_status worst = YOKE_OK;
  for (size_t i = 0; i < p->n_monitors; i++) {
    yoke_assess_monitor* m = &p->monitors[i];
    const yoke_status status = yoke__network_find_probe(
        p->network, m->name, (yoke_place){.source = source}, messages, &p->arena, &m->probe);
    worst = status < 0 ? status : worst;
  }
  return worst;
}

// ---- samples

// Rows behind the start, and the distance of the closest two.
static yoke_status set_samples(yoke_assess_problem* p, const double t[], size_t n,
                               const char* source, yoke_messages* messages) {
  p->t = t;
  p->n_samples = n;
  p->spacing = n > 0 ? t[0] : 0;
  p->stop = n > 0 ? t[n - 1] : 0;
  for (size_t i = 0; i < n; i++) {
    const double since = i == 0 ? t[0] : t[i] - t[i - 1];
    if (!(since > 0) || !yoke__is_finite(t[i])) {
      return yoke__error(messages, (yoke_place){.source = source},
                         "the times of the reference must rise; row %zu has %.9g s", i + 1, t[i]);
    }
    p->spacing = fmin(p->spacing, since);
  }
  if (n == 0) {
    return yoke__error(messages, (yoke_place){.source = source},
                       "the reference has no row with a time above 0");
  }
  // differences of rounded times are less exact than a part of the whole: even rows, then the
  // closest two
  const double parts[] = {p->stop / (double)n, p->stop / round(p->stop / p->spacing)};
  for (size_t i = 0; i < YOKE_COUNT(parts); i++) {
    if (yoke__assess_fits(p, parts[i])) {
      p->spacing = parts[i];
      break;
    }
  }
  return YOKE_OK;
}

// Columns become monitors; the first column is the time.
static yoke_status take_reference(yoke_assess_problem* p, const char* source,
                                  yoke_messages* messages) {
  const yoke_csv* csv = &p->reference;
  const yoke_place place = {.source = source};
  size_t first = 0;
  if (csv->n_columns < 2 || csv->n_columns > 1 + YOKE_ASSESS_MAX_MONITORS) {
    return yoke__error(messages, place,
                       "expected a column time and 1 to %d signals, found %zu columns",
                       YOKE_ASSESS_MAX_MONITORS, csv->n_columns);
  }
  while (first < csv->n_rows && csv->columns[0].values[first] <= 0) {
    first++;
  }
  for (size_t i = 1; i < csv->n_columns; i++) {
    if (csv->columns[i].is_text || csv->columns[i].n_missing > 0) {
      return yoke__error(messages, place, "column '%.80s' must hold a number in every row",
                         csv->columns[i].name);
    }
    add_monitor(p, csv->columns[i].name, csv->columns[i].values + first);
  }
  return set_samples(p, csv->columns[0].values + first, csv->n_rows - first, source, messages);
}

// ---- the ladder

void yoke__assess_ladder(size_t n, yoke_text* netlist) {
  yoke__text_add(netlist, "Ladder of %zu RLC loops\nV1 2 0 SIN(0 100 5)\n", n);
  for (size_t i = 1; i <= n; i++) {
    const size_t before = i == 1 ? 2 : 2 * i - 1, d = 2 * i + 1, e = 2 * i + 2;
    yoke__text_add(netlist, "R%zu %zu %zu 10\nL%zu %zu %zu 100m IC=0\nC%zu %zu 0 100m IC=0\n", i,
                   before, d, i, d, e, i, e);
  }
  yoke__text_add(netlist, ".tran 10m 1 uic\n.print tran v(%zu) i(l%zu)%s\n.end\n", 2 * n + 2, n,
                 n > 1 ? " v(4) i(l1)" : "");
}

// A for n loops: rows of the inductors, of the capacitors, of sine and cosine.
static void ladder_matrix(size_t n, double T, double A[]) {
  const double R = 10, L = 0.1, C = 0.1, w = 10 * PI;
  const size_t size = 2 * n + 2;
  memset(A, 0, size * size * sizeof *A);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      A[i * size + j] = -T * R * (double)((i < j ? i : j) + 1) / L;
    }
    A[i * size + n + i] = -T / L;
    A[i * size + 2 * n] = T * 100 / L;
    A[(n + i) * size + i] = T / C;
  }
  A[2 * n * size + 2 * n + 1] = T * w;
  A[(2 * n + 1) * size + 2 * n] = -T * w;
}

// values: rows of LADDER_SAMPLES for V and I of the last loop, V and I of the first one.
static yoke_status ladder_samples(size_t n, bool has_last, double values[]) {
  const size_t size = 2 * n + 2;
  double* A = calloc(size * size + 2 * size, sizeof *A);
  YOKE_TRY_MEMORY(A);
  double *z = A + size * size, *next = z + size;
  ladder_matrix(n, LADDER_SPACING, A);
  const yoke_status status = yoke__expm(size, A, A);
  z[size - 1] = 1;  // cosine at the start
  for (size_t k = 0; status >= 0 && k < LADDER_SAMPLES; k++) {
    for (size_t i = 0; i < size; i++) {
      next[i] = 0;
      for (size_t j = 0; j < size; j++) {
        next[i] += A[i * size + j] * z[j];
      }
    }
    memcpy(z, next, size * sizeof *z);
    values[k] = has_last ? z[2 * n - 1] : 0;
    values[LADDER_SAMPLES + k] = has_last ? z[n - 1] : 0;
    values[2 * LADDER_SAMPLES + k] = z[n];
    values[3 * LADDER_SAMPLES + k] = z[0];
  }
  free(A);
  return status;
}

static const char* ladder_name(yoke_assess_problem* p, const char* format, size_t i) {
  char text[48];
  snprintf(text, sizeof text, format, i);
  return yoke__arena_text(&p->arena, text, strlen(text));
}

static yoke_status ladder_reference(yoke_assess_problem* p, size_t n, yoke_messages* messages) {
  double* t = yoke__arena_array(&p->arena, 5 * LADDER_SAMPLES, sizeof *t);
  const char* v_last = ladder_name(p, "v(%zu)", 2 * n + 2);
  const char* i_last = ladder_name(p, "i(l%zu)", n);
  YOKE_TRY_MEMORY(t && v_last && i_last);
  double* values = t + LADDER_SAMPLES;
  for (size_t i = 0; i < LADDER_SAMPLES; i++) {
    t[i] = (double)(i + 1) / (double)LADDER_SAMPLES;
  }
  YOKE_TRY(ladder_samples(n < LADDER_MAX ? n : LADDER_MAX, n <= LADDER_MAX, values));
  add_monitor(p, v_last, values);
  add_monitor(p, i_last, values + LADDER_SAMPLES);
  if (n > 1) {
    add_monitor(p, "v(4)", values + 2 * LADDER_SAMPLES);
    add_monitor(p, "i(l1)", values + 3 * LADDER_SAMPLES);
  }
  const size_t judged = n < LADDER_FAR ? 0 : 2;
  judge_by(&p->monitors[judged], &electric, 0);
  judge_by(&p->monitors[judged + 1], &electric, 1);
  return set_samples(p, t, LADDER_SAMPLES, p->name, messages);
}

static yoke_status load_ladder(yoke_assess_problem* p, size_t n, yoke_messages* messages) {
  const yoke_netlist_settings settings = {.path = p->name, .is_include_forbidden = true};
  yoke_text netlist = {0};
  p->n_loops = n;
  yoke__assess_ladder(n, &netlist);
  yoke_status status = netlist.status;
  if (status >= 0) {
    status = yoke__netlist_read_text(netlist.bytes, netlist.n, &settings, messages, &p->network);
  }
  yoke__text_free(&netlist);
  YOKE_TRY(status);
  return ladder_reference(p, n, messages);
}

// ---- the others

typedef struct builtin {
  const char* name;
  const unsigned char *netlist, *reference;
  const size_t *netlist_size, *reference_size;
  const levels* allowed;
} builtin;

static const builtin builtins[] = {
    {"rlc", yoke__assess_rlc, yoke__assess_rlc_reference, &yoke__assess_rlc_size,
     &yoke__assess_rlc_reference_size, &electric},
    {"rectifier", yoke__assess_rectifier, yoke__assess_rectifier_reference,
     &yoke__assess_rectifier_size, &yoke__assess_rectifier_reference_size, &electric},
    {"pmsm", yoke__assess_pmsm, yoke__assess_pmsm_reference, &yoke__assess_pmsm_size,
     &yoke__assess_pmsm_reference_size, &thermal},
};

static yoke_status load_builtin(yoke_assess_problem* p, const builtin* b, yoke_messages* messages) {
  const yoke_netlist_settings settings = {.path = b->name, .is_include_forbidden = true};
  const yoke_sink sink = yoke__messages_sink(messages);
  yoke_context about;
  yoke__context_init(&about, &sink, (yoke_place){.source = b->name}, NULL, (double)NAN);
  YOKE_TRY(yoke__netlist_read_text((const char*)b->netlist, *b->netlist_size, &settings, messages,
                                   &p->network));
  YOKE_TRY(
      yoke__csv_parse((const char*)b->reference, *b->reference_size, &p->reference, &about.sink));
  YOKE_TRY(take_reference(p, b->name, messages));
  for (int i = 0; i < 2; i++) {
    judge_by(&p->monitors[i], b->allowed, i);
  }
  return YOKE_OK;
}

static bool ladder_size(const char* name, size_t* n) {
  int64_t number = 0;
  if (strncmp(name, "ladder-", 7) != 0 || !yoke__number_parse_integer(name + 7, &number) ||
      number < 1 || number > LADDER_LIMIT) {
    return false;
  }
  *n = (size_t)number;
  return true;
}

static yoke_status refuse_name(const char* name, yoke_messages* messages) {
  char hint[YOKE_NEAREST_SIZE];
  return yoke__error(
      messages, (yoke_place){.source = "--problem"},
      "unknown problem '%.80s'; expected rlc, ladder-N with N from 1 to %d, rectifier or "
      "pmsm%s",
      name, LADDER_LIMIT,
      yoke__nearest_hint(name, yoke__assess_names, YOKE_ASSESS_N_PROBLEMS, hint));
}

static yoke_status load(yoke_assess_problem* p, yoke_messages* messages) {
  size_t n = 0;
  p->is_builtin = true;
  yoke_status status = YOKE_NO_SUPPORT;
  if (ladder_size(p->name, &n)) {
    status = load_ladder(p, n, messages);
  }
  for (size_t i = 0; i < YOKE_COUNT(builtins); i++) {
    if (strcmp(builtins[i].name, p->name) == 0) {
      status = load_builtin(p, &builtins[i], messages);
    }
  }
  if (status == YOKE_NO_SUPPORT) {
    return refuse_name(p->name, messages);
  }
  YOKE_TRY(status);
  p->title = p->network->title;
  return find_probes(p, p->name, messages);
}

yoke_status yoke__assess_load(const char* name, yoke_messages* messages,
                              yoke_assess_problem** out) {
  YOKE_TRY(finish(create(name, out), out));
  return finish(load(*out, messages), out);
}

// ---- a user's own

// Is `text`, n characters, this name? Names of netlists ignore case.
static bool is_name(const char* name, const char* text, size_t n, bool ignores_case) {
  if (strlen(name) != n) {
    return false;
  }
  for (size_t i = 0; i < n; i++) {
    const int a = (unsigned char)name[i], b = (unsigned char)text[i];
    if (ignores_case ? tolower(a) != tolower(b) : a != b) {
      return false;
    }
  }
  return true;
}

// "v(out)=1e-3"; the name may hold '=' as little as a number does.
static yoke_status take_limit(yoke_assess_problem* p, const char* text, yoke_messages* messages) {
  const yoke_place place = {.source = "--limit"};
  const char* equals = strrchr(text, '=');
  double limit = 0;
  if (equals == NULL || !yoke__number_parse_suffix(equals + 1, &limit) || !(limit > 0)) {
    return yoke__error(messages, place, "'%.80s': expected SIGNAL=ERROR with an error above 0",
                       text);
  }
  const char* names[YOKE_ASSESS_MAX_MONITORS];
  for (size_t i = 0; i < p->n_monitors; i++) {
    names[i] = p->monitors[i].name;
    if (is_name(names[i], text, (size_t)(equals - text), p->network != NULL)) {
      p->monitors[i].limit[YOKE_LEVEL_LOW] = limit;
      p->monitors[i].limit[YOKE_LEVEL_HIGH] = limit;
      return YOKE_OK;
    }
  }
  char name[128], hint[YOKE_NEAREST_SIZE];
  snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
  return yoke__error(messages, place, "the reference has no column '%s'%s", name,
                     yoke__nearest_hint(name, names, p->n_monitors, hint));
}

static yoke_status read_reference(yoke_assess_problem* p, const char* reference,
                                  const char* const limits[], size_t n_limits,
                                  yoke_messages* messages) {
  const yoke_sink sink = yoke__messages_sink(messages);
  yoke_status worst = YOKE_OK;
  YOKE_TRY(yoke__record_read(reference, &p->reference, &sink));
  YOKE_TRY(take_reference(p, reference, messages));
  for (size_t i = 0; i < n_limits; i++) {
    const yoke_status status = take_limit(p, limits[i], messages);
    worst = status < 0 ? status : worst;
  }
  return worst;
}

static yoke_status read_own(yoke_assess_problem* p, const char* netlist, const char* reference,
                            const char* const limits[], size_t n_limits, yoke_messages* messages) {
  const yoke_netlist_settings settings = {.path = netlist};
  YOKE_TRY(yoke__netlist_read_file(&settings, messages, &p->network));
  p->title = p->network->title;
  YOKE_TRY(read_reference(p, reference, limits, n_limits, messages));
  return find_probes(p, reference, messages);
}

yoke_status yoke__assess_read(const char* netlist, const char* reference,
                              const char* const limits[], size_t n_limits, yoke_messages* messages,
                              yoke_assess_problem** out) {
  YOKE_TRY(finish(create(netlist, out), out));
  return finish(read_own(*out, netlist, reference, limits, n_limits, messages), out);
}

yoke_status yoke__assess_read_system(const char* path, const char* reference,
                                     const char* const limits[], size_t n_limits,
                                     yoke_messages* messages, yoke_assess_problem** out) {
  YOKE_TRY(finish(create(path, out), out));
  (*out)->path = (*out)->name;
  return finish(read_reference(*out, reference, limits, n_limits, messages), out);
}

// Index of text among names, NULL at their end; -1: none, or no text.
static int find_name(const char* const names[], const char* text) {
  for (int i = 0; text != NULL && names[i] != NULL; i++) {
    if (strcmp(names[i], text) == 0) {
      return i;
    }
  }
  return -1;
}

void yoke__assess_said(const yoke_assess_problem* problem, int* formulation, int* startup) {
  const yoke_network* network = problem->network;
  *formulation =
      network == NULL ? -1 : find_name(yoke__circuit_formulation_names, network->run.formulation);
  *startup = network == NULL ? -1 : find_name(yoke__circuit_startup_names, network->run.startup);
}

bool yoke__assess_is_judged(const yoke_assess_problem* problem) {
  for (size_t i = 0; i < problem->n_monitors; i++) {
    if (yoke__is_finite(problem->monitors[i].limit[YOKE_LEVEL_LOW])) {
      return true;
    }
  }
  return false;
}

void yoke__assess_set_limit(yoke_assess_problem* problem, double limit) {
  const bool is_any = yoke__assess_is_judged(problem);
  for (size_t i = 0; i < problem->n_monitors; i++) {
    double* allowed = problem->monitors[i].limit;
    if (yoke__is_finite(allowed[YOKE_LEVEL_LOW]) || !is_any) {
      allowed[YOKE_LEVEL_LOW] = limit;
      allowed[YOKE_LEVEL_HIGH] = limit;
    }
  }
}

// ---- configurations

double yoke__assess_step(const yoke_assess_problem* problem, size_t i) {
  static const double parts[] = {1, 2, 4, 5};  // per decade
  const size_t n = YOKE_COUNT(parts);
  if (i >= 6 * n) {
    return 0;
  }
  double divisor = parts[i % n];
  for (size_t k = 0; k < i / n; k++) {
    divisor *= 10;
  }
  return problem->spacing / divisor;
}

static bool has_state(const yoke_circuit_value* value) {
  return value->law != NULL && yoke__expression_has_state(value->law);
}

// One iteration is exact for a linear circuit.
static bool is_linear(const yoke_network* network) {
  for (uint32_t i = 0; i < network->n_elements; i++) {
    if (network->elements[i].kind == YOKE_JUNCTION || has_state(&network->elements[i].value)) {
      return false;
    }
  }
  for (uint32_t i = 0; i < network->n_nodes; i++) {
    if (has_state(&network->nodes[i].fixed)) {
      return false;
    }
  }
  return true;
}

void yoke__assess_defaults(const yoke_assess_problem* problem, yoke_circuit_options* options) {
  const yoke_circuit_run* run = &problem->network->run;
  const bool has_one = is_linear(problem->network);
  // the paper's numbers for its linear circuits need a constant history, though its text says otherwise
  options->startup = problem->is_builtin && has_one ? YOKE_STARTUP_CONST : YOKE_STARTUP_TR_XI;
  options->iterations = has_one ? 1 : 0;
  options->is_operating_point = !run->is_uic;
  options->max_iterations = run->max_iterations;
  options->tolerance = run->tolerance;
}
