// Observability of temperatures and unknowns; see the header.
#include "estimate/estimate_observe.h"

#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "estimate/estimate_filter_part.h"
#include "linalg/linalg_dense.h"

#define SEEN       1e-6  // part of a unit vector in directions that count as zero that is rounding
#define LARGE_PART (1.0 / 3.0)
#define MAX_RATE   1e3  // of a capacity, per step
#define MAX_RATIO  1e7  // of times that are looked at

typedef struct scene {
  yoke_estimate* f;  // the linearisation
  yoke_arena* arena;
  size_t n, n_sensors, n_times;
  double* scale;  // n
  double* H;      // n_sensors x n
  double* D;      // n_rho x p
} scene;

// ---- the linearised network

// What an unknown may differ by: its nominal value; a temperature or an offset has none that means anything, there it is the doubt.
static double nominal(const yoke_estimate* f, size_t j) {
  const yoke_unknown* u = &f->setup.unknowns[j];
  const double theta = f->q[f->rho_at + j];
  if (u->kind == YOKE_UNKNOWN_OFFSET) {
    return u->sd > 0.0 ? u->sd : 1.0;
  }
  if (u->kind == YOKE_UNKNOWN_INPUT) {
    for (size_t k = 0; k < f->model.n_nodes; k++) {
      if (f->setup.network->nodes[k].fixed == u->targets[0]) {
        return u->sd > 0.0 ? u->sd : 1.0;
      }
    }
    return fmax(fabs(theta), u->sd) > 0.0 ? fmax(fabs(theta), u->sd) : 1.0;
  }
  return fabs(theta);
}

// Capacities that settle within a thousandth of a step look the same to the sensors if they take that long, and leave the exponentials
// their digits.
static yoke_status slow_down(yoke_estimate* f) {
  yoke_heat_model* m = &f->model;
  for (size_t i = 0; i < f->p; i++) {
    m->c[i] *= fmax(1.0, -m->Fc[i * (f->p + 1)] * f->setup.h / MAX_RATE);
  }
  return yoke__heat_model_update(m);
}

static yoke_status open_scene(const yoke_estimate_setup* setup, const double z[], const double v[],
                              yoke_arena* arena, scene* s, const yoke_sink* sink) {
  // the setup is judged as it is; the linearisation is that of the extended filter
  yoke_estimate* asked = NULL;
  YOKE_TRY(yoke__estimate_prepare(setup, arena, &asked, sink));
  yoke_estimate_setup changed = *setup;
  changed.method = YOKE_ESTIMATE_EXTENDED;
  YOKE_TRY(yoke__estimate_prepare(&changed, arena, &s->f, NULL));
  YOKE_TRY(yoke__estimate_start(s->f, z, v));
  YOKE_TRY(slow_down(s->f));
  s->arena = arena;
  s->n = s->f->n;
  s->n_sensors = setup->n_sensors;
  s->n_times = 2 * s->n;
  s->scale = yoke__arena_array(arena, s->n, sizeof *s->scale);
  s->H = yoke__arena_array(arena, s->n_sensors * s->n, sizeof *s->H);
  s->D = yoke__arena_array(arena, s->f->n_rho * s->f->p, sizeof *s->D);
  YOKE_TRY(yoke__arena_status(arena));
  for (size_t i = 0; i < s->n; i++) {
    s->scale[i] = i < s->f->p ? 1.0 : nominal(s->f, i - s->f->p);
  }
  for (size_t i = 0; i < s->n_sensors; i++) {
    yoke__filter_sensor(s->f, i, s->H + i * s->n);
    for (size_t j = 0; j < s->n; j++) {
      s->H[i * s->n + j] /= setup->sensors[i].sigma;
    }
  }
  yoke__filter_rate_slopes(s->f, s->D);
  return YOKE_OK;
}

// Shortest and longest time constant; capacities that are connected to nothing imposed have one that never ends, which does not
// count.
static yoke_status find_times(const scene* s, double* shortest, double* longest) {
  const size_t p = s->f->p;
  double* rates = yoke__arena_array(s->arena, p, sizeof *rates);
  YOKE_TRY(yoke__arena_status(s->arena));
  YOKE_TRY(yoke__heat_model_rates(&s->f->model, rates));
  const double fast = rates[0];
  double slow = (double)INFINITY;
  if (fast == 0.0) {
    *shortest = *longest = s->f->setup.h;  // nothing is connected at all
    return YOKE_OK;
  }
  for (size_t i = 0; i < p; i++) {
    slow = rates[i] > fast / MAX_RATIO ? rates[i] : slow;
  }
  *shortest = 1.0 / fast;
  *longest = 1.0 / slow;
  return YOKE_OK;
}

// ---- what the sensors read

// Rows of the sensors at t: H_z E over z, H_z Psi1 D + H_rho over rho, scaled.
static void fill_rows(const scene* s, const double E[], const double Psi1[], double rows[]) {
  const size_t p = s->f->p, n = s->n;
  double* through = s->f->work;
  for (size_t i = 0; i < s->n_sensors; i++) {
    const double* H = s->H + i * n;
    double* row = rows + i * n;
    yoke__mat_mul(1, p, p, H, E, row);
    yoke__mat_mul(1, p, p, H, Psi1, through);
    for (size_t j = p; j < n; j++) {
      row[j] = H[j];
      for (size_t k = 0; k < p; k++) {
        row[j] += through[k] * s->D[(j - p) * p + k];
      }
    }
    for (size_t j = 0; j < n; j++) {
      row[j] *= s->scale[j];
    }
  }
}

static yoke_status fill_readings(const scene* s, double rows[]) {
  const size_t p = s->f->p;
  double shortest = 0.0, longest = 0.0;
  YOKE_TRY(find_times(s, &shortest, &longest));
  double* E = yoke__arena_array(s->arena, 3 * p * p + yoke__discrete_work_size(p), sizeof *E);
  YOKE_TRY_MEMORY(E != NULL);
  double *Psi1 = E + p * p, *Psi2 = Psi1 + p * p, *work = Psi2 + p * p;
  const double ratio = pow(16.0 * longest / shortest, 1.0 / (double)(s->n_times - 1));
  double t = 0.25 * shortest;
  for (size_t k = 0; k < s->n_times; k++) {
    YOKE_TRY(yoke__discrete(p, s->f->model.Fc, t, E, Psi1, Psi2, work));
    fill_rows(s, E, Psi1, rows + k * s->n_sensors * s->n);
    t *= ratio;
  }
  return YOKE_OK;
}

// Singular values of A (m x n, m >= n) as parts of the largest; V: n x n, may be NULL.
static yoke_status decompose(yoke_arena* arena, size_t m, size_t n, const double A[],
                             double singular[], double V[]) {
  double* U = yoke__arena_array(arena, m * n, sizeof *U);
  double* work = yoke__arena_array(arena, yoke__svd_work_size(m, n), sizeof *work);
  V = V != NULL ? V : yoke__arena_array(arena, n * n, sizeof *V);
  YOKE_TRY(yoke__arena_status(arena));
  YOKE_TRY(yoke__svd(m, n, A, U, singular, V, work));
  const double largest = singular[0];
  for (size_t k = 0; k < n; k++) {
    singular[k] = largest > 0.0 ? singular[k] / largest : 0.0;
  }
  return YOKE_OK;
}

static size_t count_above(size_t n, const double singular[], double limit) {
  size_t rank = 0;
  while (rank < n && singular[rank] > limit) {
    rank++;
  }
  return rank;
}

// ---- what is seen

// Length of the part of a scaled row in the directions that count as zero.
static double hidden_part(const yoke_observation* o, const double row[]) {
  double sum = 0.0;
  for (size_t k = o->rank; k < o->n; k++) {
    double part = 0.0;
    for (size_t j = 0; j < o->n; j++) {
      part += o->directions[k * o->n + j] * row[j];
    }
    sum += part * part;
  }
  return sqrt(sum);
}

static double length(size_t n, const double row[]) {
  double sum = 0.0;
  for (size_t j = 0; j < n; j++) {
    sum += row[j] * row[j];
  }
  return sqrt(sum);
}

static yoke_status fill_seen(const scene* s, yoke_observation* o) {
  const size_t n = s->n, n_nodes = s->f->model.n_nodes;
  bool* is_seen = yoke__arena_array(s->arena, n, sizeof *is_seen);
  bool* is_node_seen = yoke__arena_array(s->arena, n_nodes, sizeof *is_node_seen);
  double* row = yoke__arena_array(s->arena, n, sizeof *row);
  YOKE_TRY(yoke__arena_status(s->arena));
  for (size_t i = 0; i < n; i++) {
    memset(row, 0, n * sizeof *row);
    row[i] = 1.0;
    is_seen[i] = hidden_part(o, row) <= SEEN;
  }
  for (size_t k = 0; k < n_nodes; k++) {
    const yoke_heat_row node = {YOKE_ROW_TEMPERATURE, (uint32_t)k, 0};
    yoke__filter_row(s->f, node, row);
    for (size_t j = 0; j < n; j++) {
      row[j] *= s->scale[j];
    }
    is_node_seen[k] = hidden_part(o, row) <= SEEN * length(n, row);
  }
  o->is_seen = is_seen;
  o->is_node_seen = is_node_seen;
  return YOKE_OK;
}

// ---- constants: rank of [Fc D; H] over z and those unknowns that may be constant inputs

static bool is_constant(const yoke_estimate* f, size_t j) {
  const yoke_unknown_kind kind = f->setup.unknowns[j].kind;
  return kind == YOKE_UNKNOWN_INPUT || kind == YOKE_UNKNOWN_OFFSET;
}

static yoke_status test_constants(const scene* s, yoke_observation* o) {
  const yoke_estimate* f = s->f;
  const size_t p = f->p;
  size_t n = p;
  for (size_t j = 0; j < f->n_rho; j++) {
    n += is_constant(f, j) ? 1 : 0;
  }
  const size_t rows = p + s->n_sensors, m = rows > n ? rows : n;  // rows of 0 change nothing
  double* A = yoke__arena_array(s->arena, m * n, sizeof *A);
  double* singular = yoke__arena_array(s->arena, n, sizeof *singular);
  YOKE_TRY(yoke__arena_status(s->arena));
  for (size_t i = 0; i < rows; i++) {
    const double* from = i < p ? f->model.Fc + i * p : s->H + (i - p) * s->n;
    double* row = A + i * n;
    memcpy(row, from, p * sizeof *row);
    size_t column = p;
    for (size_t j = 0; j < f->n_rho; j++) {
      if (is_constant(f, j)) {
        row[column++] = s->scale[p + j] * (i < p ? s->D[j * p + i] : from[p + j]);
      }
    }

    // an equation in whatever unit is as good as any other
    const double size = length(n, row);
    for (size_t j = 0; j < n && size > 0.0; j++) {
      row[j] /= size;
    }
  }
  YOKE_TRY(decompose(s->arena, m, n, A, singular, NULL));
  o->constant_size = n;
  o->constant_rank = count_above(n, singular, YOKE_OBSERVE_ZERO);
  return YOKE_OK;
}

// ---- report

static yoke_status observe(const scene* s, yoke_observation* o) {
  const size_t n = s->n, rows = s->n_sensors * s->n_times, m = rows > n ? rows : n;
  double* A = yoke__arena_array(s->arena, m * n, sizeof *A);
  double* singular = yoke__arena_array(s->arena, n, sizeof *singular);
  double* V = yoke__arena_array(s->arena, n * n, sizeof *V);
  double* directions = yoke__arena_array(s->arena, n * n, sizeof *directions);
  YOKE_TRY(yoke__arena_status(s->arena));
  YOKE_TRY(fill_readings(s, A));
  YOKE_TRY(decompose(s->arena, m, n, A, singular, V));
  for (size_t i = 0; i < n * n; i++) {
    directions[i % n * n + i / n] = V[i];
  }
  *o = (yoke_observation){.n = n,
                          .p = s->f->p,
                          .rank = count_above(n, singular, YOKE_OBSERVE_ZERO),
                          .singular = singular,
                          .scale = s->scale,
                          .directions = directions};
  o->n_weak = o->rank - count_above(n, singular, YOKE_OBSERVE_WEAK);
  YOKE_TRY(fill_seen(s, o));
  return test_constants(s, o);
}

yoke_status yoke__observe(const yoke_estimate_setup* setup, const double z[], const double v[],
                          yoke_arena* arena, yoke_observation* out, const yoke_sink* sink) {
  scene s = {0};
  YOKE_TRY(open_scene(setup, z, v, arena, &s, sink));
  return observe(&s, out);
}

size_t yoke__observation_parts(const yoke_observation* o, size_t k, size_t parts[], size_t n_max) {
  const double* row = o->directions + k * o->n;
  double last = (double)INFINITY, largest = 0.0;
  size_t n = 0;
  while (n < n_max) {
    // the largest of those not listed yet; equal ones in their order
    size_t best = o->n;
    for (size_t i = 0; i < o->n; i++) {
      const double size = fabs(row[i]);
      const bool is_left = size < last || (size == last && n > 0 && i > parts[n - 1]);
      if (is_left && (best == o->n || size > fabs(row[best]))) {
        best = i;
      }
    }
    if (best == o->n || fabs(row[best]) < LARGE_PART * largest || row[best] == 0.0) {
      break;
    }
    last = fabs(row[best]);
    largest = n == 0 ? last : largest;
    parts[n++] = best;
  }
  return n;
}
