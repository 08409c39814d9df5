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
#define MOST_WORK  3e9  // multiplications for slopes that follow the temperatures: seconds

typedef struct scene {
  yoke_estimate* f;  // the linearisation
  yoke_arena* arena;
  size_t n, n_sensors;
  size_t n_chains, n_doublings,
      n_times;          // times: n_chains of them, and each doubled n_doublings times
  double first, ratio;  // first of a chain: first ratio^chain
  double* scale;        // n
  double* H;            // n_sensors x n, at the start
  double* D;            // n_rho x p, at the start
  double *z, *rates;    // p: at the start
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
    // a rate of -Fc_ii h above 1000 per step is slowed down to that
    m->c[i] *= fmax(1.0, -m->Fc[i * (f->p + 1)] * f->setup.h / MAX_RATE);
  }
  return yoke__heat_model_update(m);
}

static yoke_status find_times(const scene* s, double* shortest, double* longest);

// From a quarter of the shortest time constant to four times the longest.
static yoke_status choose_times(scene* s) {
  double shortest = 0.0, longest = 0.0;
  YOKE_TRY(find_times(s, &shortest, &longest));

  // chains of doublings from there on, together at least 2 n times
  s->first = 0.25 * shortest;
  s->n_doublings = (size_t)ceil(log2(16.0 * longest / shortest));
  s->n_chains = (2 * s->n + s->n_doublings) / (s->n_doublings + 1);
  s->n_chains = s->n_chains > 0 ? s->n_chains : 1;
  s->n_times = s->n_chains * (s->n_doublings + 1);

  // chains lie evenly in the logarithm between two doublings
  s->ratio = pow(2.0, 1.0 / (double)s->n_chains);
  return YOKE_OK;
}

static void fill_sensors(const scene* s, double H[]) {
  for (size_t i = 0; i < s->n_sensors; i++) {
    yoke__filter_sensor(s->f, i, H + i * s->n);
    for (size_t j = 0; j < s->n; j++) {
      // rows in units of the noise: 1 is what one reading can tell
      H[i * s->n + j] /= s->f->setup.sensors[i].sigma;
    }
  }
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
  s->scale = yoke__arena_array(arena, s->n, sizeof *s->scale);
  s->H = yoke__arena_array(arena, s->n_sensors * s->n, sizeof *s->H);
  s->D = yoke__arena_array(arena, s->f->n_rho * s->f->p, sizeof *s->D);
  s->z = yoke__arena_array(arena, 2 * s->f->p, sizeof *s->z);
  YOKE_TRY(yoke__arena_status(arena));
  for (size_t i = 0; i < s->n; i++) {
    // columns in units of the nominal values: 1 K, or the unknown itself
    s->scale[i] = i < s->f->p ? 1.0 : nominal(s->f, i - s->f->p);
  }
  fill_sensors(s, s->H);
  yoke__filter_rate_slopes(s->f, s->D);
  s->rates = s->z + s->f->p;
  memcpy(s->z, s->f->q, s->f->p * sizeof *s->z);
  yoke__heat_model_heat(&s->f->model, s->f->q, s->f->v, s->rates);

  // at rest z' = 0 exactly, not up to rounding
  for (size_t i = 0; i < s->f->p; i++) {
    s->rates[i] = z == NULL ? 0.0 : s->rates[i] / s->f->model.c[i];
  }
  return choose_times(s);
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

  // rates slower than 1e-7 of the fastest are those of floating parts
  for (size_t i = 0; i < p; i++) {
    slow = rates[i] > fast / MAX_RATIO ? rates[i] : slow;
  }
  *shortest = 1.0 / fast;
  *longest = 1.0 / slow;
  return YOKE_OK;
}

// ---- what the sensors read
//
// zeta = z - z_0 and the slope s_j of z by rho_j move together, D_j(z) = D_j + M_j zeta:
//
//   d/dt [zeta; s_j] = [Fc 0; M_j Fc] [zeta; s_j] + [Fc z_0 + Gc v; D_j],   0 at the start:   Psi1 [Fc z_0 + Gc v; D_j]

typedef struct motion {
  size_t n;                     // p, or 2 p
  double *A, *E, *Psi1, *Psi2;  // n x n
  double *other, *work;         // n x n; of yoke__discrete
  double *push, *at;            // n
} motion;

static yoke_status open_motion(const scene* s, size_t n, motion* m) {
  double* block =
      yoke__arena_array(s->arena, 5 * n * n + yoke__discrete_work_size(n) + 2 * n, sizeof *block);
  YOKE_TRY_MEMORY(block != NULL);
  *m = (motion){.n = n,
                .A = block,
                .E = block + n * n,
                .Psi1 = block + 2 * n * n,
                .Psi2 = block + 3 * n * n,
                .other = block + 4 * n * n,
                .push = block + 5 * n * n,
                .at = block + 5 * n * n + n,
                .work = block + 5 * n * n + 2 * n};
  return YOKE_OK;
}

static yoke_status begin_chain(const scene* s, motion* m, size_t chain) {
  const double t = s->first * pow(s->ratio, (double)chain);
  return yoke__discrete(m->n, m->A, t, m->E, m->Psi1, m->Psi2, m->work);
}

// From t to 2 t.
static void double_time(motion* m) {
  const size_t n = m->n;

  // Psi1(2t) = Psi1 + E Psi1, E(2t) = E^2
  yoke__mat_mul(n, n, n, m->E, m->Psi1, m->other);
  for (size_t i = 0; i < n * n; i++) {
    m->Psi1[i] += m->other[i];
  }
  yoke__mat_mul(n, n, n, m->E, m->E, m->other);
  memcpy(m->E, m->other, n * n * sizeof *m->E);
}

static void move_to(const scene* s, const double way[]) {
  yoke_estimate* f = s->f;
  for (size_t i = 0; i < f->p; i++) {
    f->q[i] = s->z[i] + (way == NULL ? 0.0 : way[i]);
  }
  yoke__heat_model_temperatures(&f->model, f->q, f->v, f->x);
}

// Rows of the sensors at t: H_z E over z, H_z Psi1 D + H_rho over rho, as if D stayed as it is at the start.
static void fill_rows(const scene* s, motion* m, double rows[]) {
  const size_t p = s->f->p, n = s->n;
  double* through = s->f->work;

  // zeta = Psi1 z'_0: the temperatures at t, at which the sensors are linearised
  yoke__mat_vec(p, p, m->Psi1, s->rates, m->at);
  move_to(s, m->at);
  fill_sensors(s, rows);
  for (size_t i = 0; i < s->n_sensors; i++) {
    const double* H = s->H + i * n;
    double* row = rows + i * n;
    // over z: H_z E; over rho: H_z Psi1 D + H_rho
    yoke__mat_mul(1, p, p, H, m->E, row);
    yoke__mat_mul(1, p, p, H, m->Psi1, through);
    for (size_t j = p; j < n; j++) {
      for (size_t k = 0; k < p; k++) {
        row[j] += through[k] * s->D[(j - p) * p + k];
      }
    }
  }
}

// Puts what the slopes by unknown j really are in place of that.
static void add_slopes(const scene* s, const motion* m, size_t j, double rows[]) {
  const size_t p = s->f->p;
  yoke__mat_vec(2 * p, 2 * p, m->Psi1, m->push, m->at);
  for (size_t i = 0; i < s->n_sensors; i++) {
    const double* H = s->H + i * s->n;
    for (size_t k = 0; k < p; k++) {
      rows[i * s->n + p + j] += H[k] * m->at[p + k];
    }
  }
}

static double* rows_at(const scene* s, size_t chain, size_t doubling, double rows[]) {
  return rows + (chain * (s->n_doublings + 1) + doubling) * s->n_sensors * s->n;
}

static bool is_element(const yoke_estimate* f, size_t j) {
  const yoke_unknown_kind kind = f->setup.unknowns[j].kind;
  return kind != YOKE_UNKNOWN_INPUT && kind != YOKE_UNKNOWN_OFFSET;
}

// M: n_rho matrices of p x p, by temperatures that are 1 K higher, one after another; D is linear in them.
static void fill_bends(const scene* s, double M[]) {
  yoke_estimate* f = s->f;

  // D(z) is linear in z: M_j,c = D_j(z_0 + e_c) - D_j(z_0)
  const size_t p = f->p;
  for (size_t c = 0; c < p; c++) {
    memset(f->push, 0, p * sizeof *f->push);
    f->push[c] = 1.0;
    move_to(s, f->push);
    yoke__filter_rate_slopes(f, f->D);
    for (size_t j = 0; j < f->n_rho; j++) {
      for (size_t i = 0; i < p; i++) {
        M[(j * p + i) * p + c] = f->D[j * p + i] - s->D[j * p + i];
      }
    }
  }
  move_to(s, NULL);
}

static void set_motion(const scene* s, motion* m, const double M[]) {
  const size_t p = s->f->p;
  memset(m->A, 0, m->n * m->n * sizeof *m->A);

  // A = [Fc 0; M_j Fc], push = [z'_0; 0]: only what comes on top of D_j
  for (size_t i = 0; i < p; i++) {
    double *upper = m->A + i * m->n, *lower = m->A + (p + i) * m->n;
    memcpy(upper, s->f->model.Fc + i * p, p * sizeof *upper);
    memcpy(lower, M + i * p, p * sizeof *lower);
    memcpy(lower + p, upper, p * sizeof *upper);
  }
  memcpy(m->push, s->rates, p * sizeof *m->push);
  memset(m->push + p, 0, p * sizeof *m->push);
}

// What the motion of the temperatures adds to the slopes by resistances and capacities.
static yoke_status follow_motion(const scene* s, double rows[]) {
  const size_t p = s->f->p, n_rho = s->f->n_rho;
  motion m;
  YOKE_TRY(open_motion(s, 2 * p, &m));
  double* M = yoke__arena_array(s->arena, n_rho * p * p + 1, sizeof *M);
  YOKE_TRY_MEMORY(M != NULL);
  fill_bends(s, M);
  for (size_t j = 0; j < n_rho; j++) {
    for (size_t chain = 0; chain < s->n_chains && is_element(s->f, j); chain++) {
      set_motion(s, &m, M + j * p * p);
      YOKE_TRY(begin_chain(s, &m, chain));
      for (size_t k = 0; k <= s->n_doublings; k++) {
        add_slopes(s, &m, j, rows_at(s, chain, k, rows));
        double_time(&m);
      }
    }
  }
  return YOKE_OK;
}

// Heat that walks can do whatever a resistance or capacity does while temperatures move: beside it these have what they show at a point.
static bool must_follow(const scene* s) {
  const yoke_estimate* f = s->f;
  bool is_free = true;
  for (size_t j = 0; j < f->n_rho; j++) {
    is_free = is_free && (is_element(f, j) || !(f->setup.unknowns[j].walk > 0.0));
  }

  // two multiplications of 2p x 2p matrices per time and unknown: 16 p^3
  const double work = 16.0 * (double)(s->n_times * f->n_rho) * pow((double)f->p, 3);
  return is_free && f->has_elements && work < MOST_WORK;
}

static yoke_status fill_readings(const scene* s, double rows[]) {
  const size_t p = s->f->p;
  motion m;
  YOKE_TRY(open_motion(s, p, &m));
  memcpy(m.A, s->f->model.Fc, p * p * sizeof *m.A);
  for (size_t chain = 0; chain < s->n_chains; chain++) {
    YOKE_TRY(begin_chain(s, &m, chain));
    for (size_t k = 0; k <= s->n_doublings; k++) {
      fill_rows(s, &m, rows_at(s, chain, k, rows));
      double_time(&m);
    }
  }
  move_to(s, NULL);
  if (must_follow(s)) {
    YOKE_TRY(follow_motion(s, rows));
  }
  for (size_t i = 0; i < s->n_sensors * s->n_times * s->n; i++) {
    // columns scaled: the singular values have no unit
    rows[i] *= s->scale[i % s->n];
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

  // part of the row in the directions of the null space
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
    // T_k diag(scale), against its own length: nodes with small rows are judged alike
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

  // [Fc D; H] has full rank if the constants can be distinguished at rest
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

  // directions: columns of V as rows
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
