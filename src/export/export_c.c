// A netlist as matrices of a discrete-time model, reduced in order where that is asked for.
//
// Reduction. Constants (temperature sources, batteries) are taken out first: x = x_e + z with
// A x_e + b = 0, so that the reduced model has them exactly. Outputs are divided by their own
// Hankel norm g_i, so that kelvins do not vanish beside watts. The start state z0 is given to the
// balancing as one more input column, because a model that is only good at what inputs excite may
// forget where it began. For inputs alone, from z = 0,
//
//   RMS(e_i) <= g_i * bound * RMS(u)    over any time from the start
//
// (the error is causal, so that the bound of the infinite time holds for every part of it). What
// the start values leave is measured.
#include "export/export_c.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_balance.h"
#include "linalg/linalg_dense.h"

#define MAX_IDENTIFIER 120
#define MAX_TRIAL      20000  // steps over which a reduced model is measured
#define TRIAL_WORK     4e8    // multiplications
#define N_TIMES        8.0    // slowest time constants that the measurement covers, if it can

typedef struct maker {
  const yoke_export_c_job* job;
  yoke_messages* messages;
  yoke_export_c_model* model;
  yoke_arena scratch;
  const yoke_network* network;
  const yoke_probe** outputs;
  size_t n_outputs;
  yoke_circuit_linear whole;
  double* x_e;     // where constants lead; zero if they are inputs of the reduced model
  bool has_fixed;  // x_e is used
} maker;

static double* take(maker* k, size_t n, yoke_status* status) {
  double* at = yoke__arena_array(&k->scratch, n + 1, sizeof *at);
  *status = at == NULL ? YOKE_NO_MEMORY : *status;
  return at;
}

static double* keep(maker* k, size_t n, yoke_status* status) {
  double* at = yoke__arena_array(&k->model->arena, n + 1, sizeof *at);
  *status = at == NULL ? YOKE_NO_MEMORY : *status;
  return at;
}

static yoke_place place_of(const maker* k) {
  return (yoke_place){k->network->path, 0, 0};
}

// -------------------------------------------------------------------------------------------------
// names

static yoke_status add_name(maker* k, yoke_export_c_name names[], size_t n, const char* shown,
                            const char* dim, double start) {
  return yoke__export_c_name(&k->model->arena, names, n, shown, dim, start);
}

static yoke_status name_input(maker* k, size_t i) {
  const yoke_drive* drive = &k->whole.inputs[i];
  const char *shown = "", *dim = "";
  switch (drive->kind) {
  case YOKE_DRIVE_INPUT:
    shown = k->network->inputs[drive->index].name;
    dim = k->network->inputs[drive->index].dim;
    break;
  case YOKE_DRIVE_WAVE: {
    const yoke_element* element = &k->network->elements[drive->index];
    const bool is_voltage = element->kind == YOKE_VOLTAGE;
    shown = element->name;
    dim = element->domain == YOKE_THERMAL ? (is_voltage ? "K" : "W") : (is_voltage ? "V" : "A");
    break;
  }
  case YOKE_DRIVE_FIXED: {
    const yoke_network_node* node = &k->network->nodes[drive->index];
    shown = node->fixed_name != NULL ? node->fixed_name : node->name;
    dim = node->domain == YOKE_THERMAL ? "K" : "V";
    break;
  }
  }
  return add_name(k, k->model->inputs, i, shown, dim, drive->value);
}

static yoke_status name_state(maker* k, size_t i) {
  const yoke_element* element = &k->network->elements[k->whole.states[i]];
  const bool is_current = element->kind == YOKE_INDUCTOR;
  char shown[MAX_IDENTIFIER];
  snprintf(shown, sizeof shown, "%s of %.80s", is_current ? "current" : "voltage", element->name);
  const char* dim = element->domain == YOKE_THERMAL ? "K" : is_current ? "A" : "V";
  return add_name(k, k->model->states, i, shown, dim, k->whole.x[i]);
}

static yoke_status name_all(maker* k) {
  yoke_export_c_model* m = k->model;
  yoke_arena* arena = &m->arena;
  m->n_u = k->whole.n_inputs;
  m->n_y = k->whole.n_outputs;
  m->n_whole = k->whole.n_states;
  m->inputs = yoke__arena_array(arena, m->n_u + 1, sizeof *m->inputs);
  m->outputs = yoke__arena_array(arena, m->n_y + 1, sizeof *m->outputs);
  m->states = yoke__arena_array(arena, m->n_whole + 1, sizeof *m->states);
  YOKE_TRY_MEMORY(m->inputs && m->outputs && m->states);
  for (size_t i = 0; i < m->n_u; i++) {
    YOKE_TRY(name_input(k, i));
  }
  for (size_t i = 0; i < m->n_y; i++) {
    YOKE_TRY(add_name(k, m->outputs, i, k->outputs[i]->name, k->outputs[i]->dim, 0.0));
  }
  for (size_t i = 0; i < m->n_whole; i++) {
    YOKE_TRY(name_state(k, i));
  }
  return YOKE_OK;
}

// -------------------------------------------------------------------------------------------------
// from the netlist to x' = A x + B u + b

// All voltages, where the netlist names no outputs.
static yoke_status list_nodes(maker* k) {
  const yoke_network* network = k->network;
  yoke_probe* probes = yoke__arena_array(&k->scratch, network->n_nodes, sizeof *probes);
  YOKE_TRY_MEMORY(probes);
  for (uint32_t v = 1; v < network->n_nodes; v++) {
    const yoke_network_node* node = &network->nodes[v];
    const bool is_thermal = node->domain == YOKE_THERMAL;
    if (node->is_internal || node->is_fixed) {
      continue;
    }
    const size_t size = strlen(node->name) + 4;
    char* name = yoke__arena_take(&k->scratch, size);
    YOKE_TRY_MEMORY(name);
    snprintf(name, size, "%s(%s)", is_thermal ? "t" : "v", node->name);
    probes[v] = (yoke_probe){.kind = YOKE_PROBE_VOLTAGE,
                             .name = name,
                             .dim = is_thermal ? "K" : "V",
                             .index = v,
                             .place = node->place};
    k->outputs[k->n_outputs++] = &probes[v];
  }
  return YOKE_OK;
}

static yoke_status list_outputs(maker* k) {
  const yoke_network* network = k->network;
  const size_t n_max = (size_t)network->n_outputs + network->n_saves + network->n_nodes;
  k->outputs = yoke__arena_array(&k->scratch, n_max, sizeof(const yoke_probe*));
  YOKE_TRY_MEMORY(k->outputs);
  const yoke_probe* named = network->n_outputs > 0 ? network->outputs : network->saves;
  const uint32_t n_named = network->n_outputs > 0 ? network->n_outputs : network->n_saves;
  for (uint32_t i = 0; i < n_named; i++) {
    if (!yoke__circuit_linear_probe(&named[i])) {
      yoke__error(k->messages, named[i].place,
                  "output '%.60s' is not a linear function of voltages, currents and inputs",
                  named[i].name);
    }
    k->outputs[k->n_outputs++] = &named[i];
  }
  if (n_named == 0) {
    YOKE_TRY(list_nodes(k));
  }
  return k->messages->n_errors > 0 ? YOKE_NO_SUPPORT : YOKE_OK;
}

static double step_of(const maker* k) {
  const yoke_export_c_job* job = k->job;
  const yoke_circuit_run* run = &k->network->run;
  return job->step > 0.0 ? job->step : run->step > 0.0 ? run->step : run->step_exact;
}

static yoke_status linearise(maker* k) {
  const yoke_network* network = k->network;
  const yoke_linear_settings settings = {
      .outputs = k->outputs, .n_outputs = k->n_outputs, .is_whole = true};
  const yoke_circuit_options options = {.step = k->model->h,
                                        .is_operating_point = !network->run.is_uic};
  yoke_circuit* circuit = NULL;
  yoke_context context;
  const yoke_sink list = yoke__messages_sink(k->messages);
  yoke__context_init(&context, &list, place_of(k), NULL, (double)NAN);
  YOKE_TRY(yoke__circuit_create(network, &options, k->messages, &circuit));
  yoke_status status = yoke__circuit_start(circuit, 0.0, k->messages);
  if (status >= 0) {
    status = yoke__circuit_linear_make(circuit, &settings, &k->scratch, &k->whole, &context.sink);
  }
  yoke__circuit_destroy(&circuit);
  return status;
}

// -------------------------------------------------------------------------------------------------
// reduction

// A model in continuous time; b is the last column of B where constants are inputs.
typedef struct continuous {
  size_t n, n_b, n_y;  // n_b: columns of B
  const double *A, *B, *C;
  const double* x;  // at the start
} continuous;

// A x_e + b = 0. False: A is singular (an integrator), constants stay inputs.
static yoke_status find_rest(maker* k) {
  const size_t n = k->whole.n_states;
  yoke_status status = YOKE_OK;
  double* A = take(k, n * n, &status);
  k->x_e = take(k, n, &status);
  size_t* pivots = yoke__arena_array(&k->scratch, n + 1, sizeof *pivots);
  if (status < 0 || pivots == NULL) {
    return YOKE_NO_MEMORY;
  }
  memcpy(A, k->whole.A, n * n * sizeof *A);
  double smallest = (double)INFINITY, largest = 0.0;
  k->has_fixed = yoke__lu_factor(n, A, pivots) >= 0;
  for (size_t i = 0; k->has_fixed && i < n; i++) {
    smallest = fmin(smallest, fabs(A[i * n + i]));
    largest = fmax(largest, fabs(A[i * n + i]));
  }
  k->has_fixed = k->has_fixed && smallest > 1e-13 * largest;
  for (size_t i = 0; k->has_fixed && i < n; i++) {
    k->x_e[i] = -k->whole.b[i];
  }
  if (k->has_fixed) {
    yoke__lu_solve(n, A, pivots, k->x_e);
  }
  return YOKE_OK;
}

// The whole model with constants moved, and B with one more column where they are inputs.
static yoke_status prepare(maker* k, continuous* c) {
  const size_t n = k->whole.n_states, n_u = k->whole.n_inputs;
  yoke_status status = YOKE_OK;
  YOKE_TRY(find_rest(k));
  const size_t n_b = n_u + (k->has_fixed ? 0 : 1);
  double* B = take(k, n * n_b, &status);
  double* x = take(k, n, &status);
  YOKE_TRY(status);
  for (size_t i = 0; i < n; i++) {
    x[i] = k->whole.x[i] - k->x_e[i];
    for (size_t j = 0; j < n_b; j++) {
      B[i * n_b + j] = j < n_u ? k->whole.B[i * n_u + j] : k->whole.b[i];
    }
  }
  *c = (continuous){n, n_b, k->whole.n_outputs, k->whole.A, B, k->whole.C, x};
  return YOKE_OK;
}

static double norm_of(const double numbers[], size_t n) {
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) {
    sum = hypot(sum, numbers[i]);
  }
  return sum;
}

// B with the start state as its last column, about as large as the others
static double* add_start(maker* k, const continuous* c, yoke_status* status) {
  double* B = take(k, c->n * (c->n_b + 1), status);
  const double size = norm_of(c->x, c->n), other = norm_of(c->B, c->n * c->n_b);
  const double weight = !(size > 0.0) ? 0.0 : (other > 0.0 ? other : 1.0) / size;
  for (size_t i = 0; B != NULL && i < c->n; i++) {
    memcpy(B + i * (c->n_b + 1), c->B + i * c->n_b, c->n_b * sizeof *B);
    B[i * (c->n_b + 1) + c->n_b] = weight * c->x[i];
  }
  return B;
}

// Each output's own Hankel norm; 1 where nothing reaches it.
static yoke_status find_gains(maker* k, const continuous* c, const double B[]) {
  yoke_export_c_quality* q = &k->model->quality;
  // of inputs where there are any, else of the start state
  const bool has_inputs = norm_of(c->B, c->n * c->n_b) > 0.0;
  for (size_t i = 0; i < c->n_y; i++) {
    const yoke_balance_model one = {.n = c->n,
                                    .n_u = has_inputs ? c->n_b : c->n_b + 1,
                                    .n_y = 1,
                                    .A = c->A,
                                    .B = has_inputs ? c->B : B,
                                    .C = c->C + i * c->n};
    yoke_reduction reduction;
    YOKE_TRY(yoke__balance_reduce(&one, 1, 0.0, &k->scratch, &reduction));
    q->gain[i] = reduction.n_hankel > 0 && reduction.hankel[0] > 0.0 ? reduction.hankel[0] : 1.0;
  }
  return YOKE_OK;
}

static yoke_status reduce_to(maker* k, const continuous* from, const double B[], const double C[],
                             size_t order, continuous* to, yoke_reduction* r) {
  const yoke_balance_model scaled = {
      .n = from->n, .n_u = from->n_b + 1, .n_y = from->n_y, .A = from->A, .B = B, .C = C};
  yoke_status status = YOKE_OK;
  YOKE_TRY(yoke__balance_reduce(&scaled, order, k->job->tolerance, &k->scratch, r));
  double* B_r = take(k, r->n * from->n_b, &status);
  double* C_r = take(k, from->n_y * r->n, &status);
  double* x = take(k, r->n, &status);
  YOKE_TRY(status);
  for (size_t i = 0; i < r->n; i++) {
    memcpy(B_r + i * from->n_b, r->B + i * (from->n_b + 1), from->n_b * sizeof *B_r);
    for (size_t j = 0; j < from->n; j++) {
      x[i] += r->T[i * from->n + j] * from->x[j];
    }
  }
  for (size_t i = 0; i < from->n_y; i++) {
    for (size_t j = 0; j < r->n; j++) {
      C_r[i * r->n + j] = k->model->quality.gain[i] * r->C[i * r->n + j];
    }
  }
  *to = (continuous){r->n, from->n_b, from->n_y, r->A, B_r, C_r, x};
  return YOKE_OK;
}

// -------------------------------------------------------------------------------------------------
// discrete time

// exp([A B 0; 0 0 1/h; 0 0 0] h): Ad, and the integrals for held inputs and for ramps of slope 1/h
static yoke_status discretise(maker* k, const continuous* c, double h, double Ad[], double Bd[],
                              double ramp[]) {
  const size_t n = c->n, n_b = c->n_b, size = n + 2 * n_b;
  yoke_status status = YOKE_OK;
  double* E = take(k, size * size, &status);
  YOKE_TRY(status);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      E[i * size + j] = h * c->A[i * n + j];
    }
    for (size_t j = 0; j < n_b; j++) {
      E[i * size + n + j] = h * c->B[i * n_b + j];
    }
  }
  for (size_t j = 0; j < n_b; j++) {
    E[(n + j) * size + n + n_b + j] = 1.0;
  }
  YOKE_TRY(yoke__expm(size, E, E));
  for (size_t i = 0; i < n; i++) {
    memcpy(Ad + i * n, E + i * size, n * sizeof *Ad);
    memcpy(Bd + i * n_b, E + i * size + n, n_b * sizeof *Bd);
    if (ramp != NULL) {
      memcpy(ramp + i * n_b, E + i * size + n + n_b, n_b * sizeof *ramp);
    }
  }
  return YOKE_OK;
}

// A discrete model that is run here.
typedef struct trial {
  size_t n, n_b, n_y;
  double *Ad, *Bd, *x, *next;
  const double* C;
} trial;

static yoke_status open_trial(maker* k, const continuous* c, double h, trial* t) {
  yoke_status status = YOKE_OK;
  *t = (trial){.n = c->n, .n_b = c->n_b, .n_y = c->n_y, .C = c->C};
  t->Ad = take(k, c->n * c->n, &status);
  t->Bd = take(k, c->n * c->n_b, &status);
  t->x = take(k, c->n, &status);
  t->next = take(k, c->n, &status);
  YOKE_TRY(status);
  return discretise(k, c, h, t->Ad, t->Bd, NULL);
}

static void step_trial(trial* t, const double u[]) {
  yoke__mat_vec(t->n, t->n, t->Ad, t->x, t->next);
  yoke__mat_vec_add(t->n, t->n_b, t->Bd, u, t->next);
  double* other = t->x;
  t->x = t->next;
  t->next = other;
}

static double output_of(const trial* t, size_t i) {
  double y = 0.0;
  for (size_t j = 0; j < t->n; j++) {
    y += t->C[i * t->n + j] * t->x[j];
  }
  return y;
}

// How long to look: the slowest stable mode, as far as work allows.
static yoke_status trial_step(maker* k, const continuous* whole, size_t* n_steps, double* h) {
  yoke_status status = YOKE_OK;
  double* re = take(k, whole->n, &status);
  double* im = take(k, whole->n, &status);
  YOKE_TRY(status);
  YOKE_TRY(yoke__eigenvalues(whole->n, whole->A, re, im));
  double slowest = (double)INFINITY, largest = 0.0;
  for (size_t i = 0; i < whole->n; i++) {
    largest = fmax(largest, hypot(re[i], im[i]));
  }
  for (size_t i = 0; i < whole->n; i++) {
    slowest = re[i] < -1e-11 * largest ? fmin(slowest, -re[i]) : slowest;
  }
  const double work = (double)(whole->n * (whole->n + whole->n_b + whole->n_y)) + 1.0;
  const double most = fmax(100.0, fmin(MAX_TRIAL, TRIAL_WORK / work));
  const double span = yoke__is_finite(slowest) ? N_TIMES / slowest : 0.0;
  *h = fmax(k->model->h, span / most);
  *n_steps = (size_t)fmax(100.0, fmin(most, span / *h));
  return YOKE_OK;
}

// Random telegraph signals of size 1, the same in every run.
static void draw_inputs(uint64_t* seed, double u[], size_t n) {
  for (size_t i = 0; i < n; i++) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const bool is_changed = *seed >> 60 == 0 || u[i] == 0.0;
    u[i] = is_changed ? ((*seed >> 40 & 1) != 0 ? 1.0 : -1.0) : u[i];
  }
}

// RMS(e_i) / RMS(u) from a zero state
static void measure_inputs(const continuous* from, trial* whole, trial* reduced, size_t n_steps,
                           double u[], double error[]) {
  uint64_t seed = 1;
  double energy = 0.0;
  memset(whole->x, 0, whole->n * sizeof *whole->x);
  memset(reduced->x, 0, reduced->n * sizeof *reduced->x);
  memset(u, 0, from->n_b * sizeof *u);
  for (size_t step = 0; step < n_steps && from->n_b > 0; step++) {
    draw_inputs(&seed, u, from->n_b);
    energy += (double)from->n_b;
    step_trial(whole, u);
    step_trial(reduced, u);
    for (size_t i = 0; i < from->n_y; i++) {
      const double e = output_of(whole, i) - output_of(reduced, i);
      error[i] += e * e;
    }
  }
  for (size_t i = 0; i < from->n_y; i++) {
    error[i] = energy > 0.0 ? sqrt(error[i] / energy) : 0.0;
  }
}

// max |e_i| with the inputs as they start; returns the largest beside the way that the output goes
static double measure_start(const continuous* from, const continuous* to, const double u[],
                            trial* whole, trial* reduced, size_t n_steps, double low[],
                            double high[], double error[]) {
  memcpy(whole->x, from->x, from->n * sizeof *whole->x);
  memcpy(reduced->x, to->x, to->n * sizeof *reduced->x);
  for (size_t step = 0; step <= n_steps; step++) {
    for (size_t i = 0; i < from->n_y; i++) {
      const double y = output_of(whole, i);
      low[i] = step == 0 ? y : fmin(low[i], y);
      high[i] = step == 0 ? y : fmax(high[i], y);
      const double e = fabs(y - output_of(reduced, i));
      error[i] = step == 0 ? e : fmax(error[i], e);
    }
    step_trial(whole, u);
    step_trial(reduced, u);
  }
  double worst = 0.0;
  for (size_t i = 0; i < from->n_y; i++) {
    const double way = high[i] - low[i];
    worst = fmax(worst, way > 0.0 ? error[i] / way : error[i] > 0.0 ? (double)INFINITY : 0.0);
  }
  return worst;
}

static yoke_status reduce(maker* k, continuous* from, continuous* to) {
  yoke_export_c_quality* q = &k->model->quality;
  const size_t n_y = from->n_y;
  yoke_status status = YOKE_OK;
  yoke_reduction r;
  trial whole, reduced;
  size_t n_steps = 0;
  double h = 0.0;
  q->gain = keep(k, n_y, &status);
  q->measured = keep(k, n_y, &status);
  q->start_error = keep(k, n_y, &status);
  double* B = add_start(k, from, &status);
  double* C = take(k, n_y * from->n, &status);
  double* u = take(k, from->n_b, &status);
  double* range = take(k, 2 * n_y, &status);
  YOKE_TRY(status);
  YOKE_TRY(find_gains(k, from, B));
  for (size_t i = 0; i < n_y * from->n; i++) {
    C[i] = from->C[i] / q->gain[i / from->n];
  }
  YOKE_TRY(trial_step(k, from, &n_steps, &h));
  YOKE_TRY(open_trial(k, from, h, &whole));
  for (size_t i = 0; i < from->n_b; i++) {
    u[i] = i < k->whole.n_inputs ? k->whole.inputs[i].value : 1.0;
  }

  // more states until the start values, which the bound says nothing about, are answered as well
  size_t order = k->job->order;
  for (;;) {
    YOKE_TRY(reduce_to(k, from, B, C, order, to, &r));
    YOKE_TRY(open_trial(k, to, h, &reduced));
    const double worst =
        measure_start(from, to, u, &whole, &reduced, n_steps, range, range + n_y, q->start_error);
    if (k->job->order > 0 || worst <= k->job->tolerance || r.n < order || r.n >= from->n) {
      break;
    }
    order = r.n + 1 + r.n / 8;
  }
  measure_inputs(from, &whole, &reduced, n_steps, u, q->measured);
  const size_t n_kept = r.n - r.n_apart;
  q->bound = r.bound;
  q->n_apart = r.n_apart;
  q->largest = r.n_hankel > 0 ? r.hankel[0] : 0.0;
  q->smallest_kept = n_kept > 0 ? r.hankel[n_kept - 1] : 0.0;
  q->largest_dropped = n_kept < r.n_hankel ? r.hankel[n_kept] : 0.0;
  return YOKE_OK;
}

// -------------------------------------------------------------------------------------------------
// the result

static yoke_status take_model(maker* k, size_t n) {
  yoke_export_c_model* m = k->model;
  yoke_status status = YOKE_OK;
  m->n = n;
  m->Ad = keep(k, n * n, &status);
  m->Bd = keep(k, n * m->n_u, &status);
  m->Bd_end = k->job->is_ramp ? keep(k, n * m->n_u, &status) : NULL;
  m->bd = keep(k, n, &status);
  m->C = keep(k, m->n_y * n, &status);
  m->D = keep(k, m->n_y * m->n_u, &status);
  m->d = keep(k, m->n_y, &status);
  m->x = keep(k, n, &status);
  return status;
}

// has_constant: the last column of B is the constant
static yoke_status fill(maker* k, const continuous* c, bool has_constant) {
  yoke_export_c_model* m = k->model;
  yoke_status status = YOKE_OK;
  YOKE_TRY(take_model(k, c->n));
  double* Bd = take(k, c->n * c->n_b, &status);
  double* ramp = take(k, c->n * c->n_b, &status);
  YOKE_TRY(status);
  YOKE_TRY(discretise(k, c, m->h, m->Ad, Bd, ramp));
  for (size_t i = 0; i < c->n; i++) {
    m->x[i] = c->x[i];
    m->bd[i] = has_constant ? Bd[i * c->n_b + m->n_u] : 0.0;
    for (size_t j = 0; j < m->n_u; j++) {
      const double held = Bd[i * c->n_b + j], rest = ramp[i * c->n_b + j];
      m->Bd[i * m->n_u + j] = held;
      if (m->Bd_end != NULL) {
        m->Bd[i * m->n_u + j] = held - rest;
        m->Bd_end[i * m->n_u + j] = rest;
      }
    }
  }
  memcpy(m->C, c->C, m->n_y * c->n * sizeof *m->C);
  memcpy(m->D, k->whole.D, m->n_y * m->n_u * sizeof *m->D);
  memcpy(m->d, k->whole.d, m->n_y * sizeof *m->d);
  return YOKE_OK;
}

// What the constants do to the outputs at rest.
static void add_rest(maker* k) {
  yoke_export_c_model* m = k->model;
  for (size_t i = 0; i < m->n_y; i++) {
    for (size_t j = 0; k->has_fixed && j < k->whole.n_states; j++) {
      m->d[i] += k->whole.C[i * k->whole.n_states + j] * k->x_e[j];
    }
  }
}

static yoke_status convert(maker* k) {
  const yoke_circuit_linear* w = &k->whole;
  continuous c, to;
  if (k->job->is_reduced && w->n_states > 0) {
    YOKE_TRY(prepare(k, &c));
    YOKE_TRY(reduce(k, &c, &to));
    YOKE_TRY(fill(k, &to, !k->has_fixed));
    add_rest(k);
    k->model->states = NULL;
    return YOKE_OK;
  }
  // the constant is one more input
  yoke_status status = YOKE_OK;
  const size_t n_b = (size_t)w->n_inputs + 1;
  double* B = take(k, w->n_states * n_b, &status);
  YOKE_TRY(status);
  for (size_t i = 0; i < w->n_states; i++) {
    memcpy(B + i * n_b, w->B + i * w->n_inputs, w->n_inputs * sizeof *B);
    B[i * n_b + w->n_inputs] = w->b[i];
  }
  c = (continuous){w->n_states, n_b, w->n_outputs, w->A, B, w->C, w->x};
  return fill(k, &c, true);
}

static bool are_finite(const double numbers[], size_t n, bool is_float) {
  for (size_t i = 0; i < n; i++) {
    if (!(fabs(numbers[i]) <= (is_float ? 3e38 : 1.7e308))) {
      return false;
    }
  }
  return true;
}

static yoke_status check_numbers(const maker* k) {
  const yoke_export_c_model* m = k->model;
  const bool is_float = k->job->is_float;
  if (are_finite(m->Ad, m->n * m->n, is_float) && are_finite(m->Bd, m->n * m->n_u, is_float) &&
      are_finite(m->C, m->n_y * m->n, is_float) && are_finite(m->D, m->n_y * m->n_u, is_float) &&
      are_finite(m->bd, m->n, is_float) && are_finite(m->d, m->n_y, is_float) &&
      are_finite(m->x, m->n, is_float)) {
    return YOKE_OK;
  }
  yoke__error(k->messages, place_of(k), "a coefficient of the model is beyond the %s numbers",
              is_float ? "single-precision" : "double-precision");
  return YOKE_NO_SUPPORT;
}

static yoke_status run(maker* k) {
  YOKE_TRY(yoke__circuit_linear_check(k->network, k->messages));
  YOKE_TRY(list_outputs(k));
  k->model->h = step_of(k);
  if (!(k->model->h > 0.0)) {
    yoke__error(k->messages, place_of(k),
                "a step is needed: '.tran STEP STOP' in the netlist or --step on the command line");
    return YOKE_BAD_INPUT;
  }
  YOKE_TRY(linearise(k));
  YOKE_TRY(name_all(k));
  YOKE_TRY(convert(k));
  return check_numbers(k);
}

yoke_status yoke__export_c_make(const yoke_export_c_job* job, yoke_messages* messages,
                                yoke_export_c_model* model) {
  *model = (yoke_export_c_model){.network = job->network};
  if (job->network == NULL) {
    YOKE_TRY(yoke__netlist_read_file(&job->netlist, messages, &model->read));
    model->network = model->read;
  }
  maker k = {.job = job, .messages = messages, .model = model, .network = model->network};
  const yoke_status status = run(&k);
  if (status < 0 && messages->n_errors == 0) {
    yoke__messages_fail(messages, status, place_of(&k), "%s", yoke_status_text(status));
  }
  yoke__arena_free(&k.scratch);
  return status;
}

void yoke__export_c_free(yoke_export_c_model* model) {
  yoke__arena_free(&model->arena);
  yoke__network_destroy(&model->read);
  *model = (yoke_export_c_model){0};
}

static size_t number_size(const yoke_export_c_job* job) {
  return job->is_float ? 4 : 8;
}

size_t yoke__export_c_flash(const yoke_export_c_job* job, const yoke_export_c_model* model) {
  const size_t n = model->n, n_b = model->n_u * (model->Bd_end != NULL ? 2 : 1);
  return number_size(job) * (n * (n + n_b + 2) + model->n_y * (n + model->n_u + 1));
}

size_t yoke__export_c_ram(const yoke_export_c_job* job, const yoke_export_c_model* model) {
  return number_size(job) * (model->n > 0 ? model->n : 1);
}
