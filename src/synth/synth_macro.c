// The exchange interval of a loop by stepping unit vectors.
//
// At the instant t_n + i h, i = 0 .. n_calls - 1: outputs, what they send, the inputs; then the filters and the units take their
// step. Fresh outputs depend on inputs of the same instant: the pass over outputs and inputs is repeated until nothing changes,
// and the filters are asked without being stepped.
#include "synth/synth_macro.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_arena.h"
#include "base/base_check.h"
#include "base/base_status.h"
#include "linalg/linalg_dense.h"

#define NEAR_ONE 1e-6  // an eigenvalue of 1 may be defective: round-off moves it by its root

typedef struct runner {
  const yoke_synth_loop* loop;
  yoke_arena arena;
  size_t n_x, n_y, n_u;
  double *y, *w, *u, *before, *x;
  double *held, *last;  // of each input: sample at hand, and the one before
  size_t* at;           // of each input: where its memory begins in z
} runner;

static size_t delay_of(const yoke_synth_loop* loop, size_t i) {
  return loop->delays == NULL ? 0 : loop->delays[i];
}

// Memory of a signal: the input of the last call, samples on their way, then of a line the last sample, of an element its filters.
static size_t memory_of(const yoke_synth_loop* loop, size_t i) {
  const size_t own = loop->paths[i] == YOKE_SYNTH_PATH_LINE      ? 1
                     : loop->paths[i] == YOKE_SYNTH_PATH_ELEMENT ? loop->element->n + 2
                                                                 : 0;
  return 1 + delay_of(loop, i) + own;
}

static void count(const yoke_synth_loop* loop, size_t* n_x, size_t* n_y, size_t* n_u) {
  *n_x = *n_y = *n_u = 0;
  for (size_t k = 0; k < loop->n_units; k++) {
    *n_x += loop->units[k].n_states;
    *n_y += loop->units[k].n_outputs;
    *n_u += loop->units[k].n_inputs;
  }
}

size_t yoke__synth_macro_size(const yoke_synth_loop* loop) {
  size_t n_x, n_y, n_u;
  count(loop, &n_x, &n_y, &n_u);
  for (size_t i = 0; i < n_u; i++) {
    n_x += memory_of(loop, i);
  }
  return n_x;
}

static yoke_status open_runner(const yoke_synth_loop* loop, runner* r) {
  *r = (runner){.loop = loop};
  count(loop, &r->n_x, &r->n_y, &r->n_u);
  r->y = yoke__arena_array(&r->arena, r->n_y, sizeof(double));
  r->w = yoke__arena_array(&r->arena, r->n_u, sizeof(double));
  r->u = yoke__arena_array(&r->arena, r->n_u, sizeof(double));
  r->before = yoke__arena_array(&r->arena, r->n_u, sizeof(double));
  r->held = yoke__arena_array(&r->arena, r->n_u, sizeof(double));
  r->last = yoke__arena_array(&r->arena, r->n_u, sizeof(double));
  r->x = yoke__arena_array(&r->arena, r->n_x, sizeof(double));
  r->at = yoke__arena_array(&r->arena, r->n_u, sizeof(size_t));
  YOKE_TRY_MEMORY(r->y && r->w && r->u && r->before && r->held && r->last && r->x && r->at);

  // z = [x of all units, memory of all signals]
  size_t at = r->n_x;
  for (size_t i = 0; i < r->n_u; i++) {
    r->at[i] = at;
    at += memory_of(loop, i);
  }
  return YOKE_OK;
}

// ---- one instant

// Where the part of its own begins in the memory of signal i.
static double* own_of(const runner* r, double z[], size_t i) {
  return z + r->at[i] + 1 + delay_of(r->loop, i);
}

static yoke_synth_lead lead_of(const runner* r, double z[], size_t i) {
  yoke_synth_lead lead = {0};
  memcpy(lead.x, own_of(r, z, i), r->loop->element->n * sizeof(double));
  return lead;
}

static yoke_synth_smoother smoother_of(const runner* r, double z[], size_t i) {
  const double* s = own_of(r, z, i) + r->loop->element->n;
  return (yoke_synth_smoother){{s[0], s[1]}};
}

// w = L (C x + D u)
static void send(runner* r, const double z[], const double u[]) {
  size_t x = 0, y = 0, at = 0;
  for (size_t k = 0; k < r->loop->n_units; k++) {
    const yoke_synth_unit* unit = &r->loop->units[k];
    // y = C x + D u
    yoke__mat_vec(unit->n_outputs, unit->n_states, unit->C, z + x, r->y + y);
    yoke__mat_vec_add(unit->n_outputs, unit->n_inputs, unit->D, u + at, r->y + y);
    x += unit->n_states;
    y += unit->n_outputs;
    at += unit->n_inputs;
  }
  yoke__mat_vec(r->n_u, r->n_y, r->loop->L, r->y, r->w);
}

static double sent_by(const runner* r, double z[], size_t i) {
  if (r->loop->paths[i] != YOKE_SYNTH_PATH_ELEMENT) {
    return r->w[i];
  }
  const yoke_synth_lead lead = lead_of(r, z, i);
  return yoke__synth_lead_output(r->loop->element, &lead, r->w[i]);
}

// The inputs at call j from what was sent; at an exchange with the new samples.
static void receive(runner* r, double z[], size_t j) {
  const yoke_synth_loop* loop = r->loop;
  for (size_t i = 0; i < r->n_u; i++) {
    // held over the interval: what was sent `delay` exchanges ago, or now
    if (j == 0) {
      // oldest sample on its way first
      r->held[i] = delay_of(loop, i) > 0 ? z[r->at[i] + 1] : sent_by(r, z, i);
      r->last[i] = loop->paths[i] == YOKE_SYNTH_PATH_LINE ? *own_of(r, z, i) : 0;
    }
    double u = r->held[i];
    if (loop->paths[i] == YOKE_SYNTH_PATH_LINE) {
      // line from the last sample to the one at hand
      u += (double)j / (double)loop->n_calls * (r->held[i] - r->last[i]);
    } else if (loop->paths[i] == YOKE_SYNTH_PATH_ELEMENT) {
      const yoke_synth_smoother smoother = smoother_of(r, z, i);
      u = yoke__synth_smoother_output(loop->element, &smoother, r->held[i]);
    }
    r->u[i] = u;
  }
}

// Outputs and inputs of this instant.
static yoke_status settle(runner* r, double z[], size_t j) {
  // the inputs of the last call, for feedthrough that has to begin somewhere
  for (size_t i = 0; i < r->n_u; i++) {
    r->u[i] = z[r->at[i]];
  }

  // a chain of feedthroughs is at most as long as there are outputs; one more pass finds no change
  const size_t n_most = r->loop->is_fresh ? r->n_y + 2 : 1;
  for (size_t pass = 0; pass < n_most; pass++) {
    memcpy(r->before, r->u, r->n_u * sizeof *r->u);
    send(r, z, r->before);
    receive(r, z, j);
    if (memcmp(r->before, r->u, r->n_u * sizeof *r->u) == 0) {
      return YOKE_OK;
    }
  }
  return r->loop->is_fresh ? YOKE_SINGULAR : YOKE_OK;
}

// What the signals remember of this instant.
static void remember(runner* r, double z[], size_t j) {
  const yoke_synth_loop* loop = r->loop;
  for (size_t i = 0; i < r->n_u; i++) {
    const size_t n_late = delay_of(loop, i);
    double *line = z + r->at[i] + 1, *own = own_of(r, z, i);
    const double sent = sent_by(r, z, i);
    if (loop->paths[i] == YOKE_SYNTH_PATH_ELEMENT) {
      // filters step with what they were given at this instant
      yoke_synth_lead lead = lead_of(r, z, i);
      yoke_synth_smoother smoother = smoother_of(r, z, i);
      yoke__synth_lead_step(loop->element, &lead, r->w[i]);
      yoke__synth_smoother_step(loop->element, &smoother, r->held[i]);
      memcpy(own, lead.x, loop->element->n * sizeof(double));
      memcpy(own + loop->element->n, smoother.s, sizeof smoother.s);
    }
    if (j == 0 && n_late > 0) {
      // delay line: the oldest sample leaves in front
      memmove(line, line + 1, (n_late - 1) * sizeof *line);
      line[n_late - 1] = sent;
    }
    if (j == 0 && loop->paths[i] == YOKE_SYNTH_PATH_LINE) {
      *own = r->held[i];
    }
    z[r->at[i]] = r->u[i];
  }
}

static void advance(runner* r, double z[]) {
  size_t x = 0, u = 0;
  for (size_t k = 0; k < r->loop->n_units; k++) {
    const yoke_synth_unit* unit = &r->loop->units[k];
    // x+ = F x + G u
    yoke__mat_vec(unit->n_states, unit->n_states, unit->F, z + x, r->x + x);
    yoke__mat_vec_add(unit->n_states, unit->n_inputs, unit->G, r->u + u, r->x + x);
    x += unit->n_states;
    u += unit->n_inputs;
  }
  memcpy(z, r->x, r->n_x * sizeof *z);
}

// ---- the interval

static yoke_status step_interval(runner* r, double z[]) {
  for (size_t j = 0; j < r->loop->n_calls; j++) {
    YOKE_TRY(settle(r, z, j));
    remember(r, z, j);
    advance(r, z);
  }
  return YOKE_OK;
}

yoke_status yoke__synth_macro_matrix(const yoke_synth_loop* loop, double M[]) {
  const size_t n = yoke__synth_macro_size(loop);
  runner r;
  yoke_status status = open_runner(loop, &r);
  double* z = yoke__arena_array(&r.arena, n, sizeof *z);
  status = status >= 0 && z == NULL ? YOKE_NO_MEMORY : status;
  for (size_t k = 0; k < n && status >= 0; k++) {
    memset(z, 0, n * sizeof *z);
    // column k of the map: what a unit vector becomes
    z[k] = 1;
    status = step_interval(&r, z);
    for (size_t i = 0; i < n; i++) {
      M[i * n + k] = z[i];
    }
  }
  yoke__arena_free(&r.arena);
  return status;
}

static void judge(size_t n, const double re[], const double im[], yoke_synth_radius* radius) {
  // the eigenvalue nearest to 1, if it is within the rounding of a
  // defective one, is the free motion
  size_t one = n;
  for (size_t i = 0; i < n; i++) {
    const double miss = hypot(re[i] - 1, im[i]);
    if (miss <= NEAR_ONE && (one == n || miss < hypot(re[one] - 1, im[one]))) {
      one = i;
    }
  }
  *radius = (yoke_synth_radius){.has_one = one < n};
  for (size_t i = 0; i < n; i++) {
    const double size = hypot(re[i], im[i]);
    radius->largest = fmax(radius->largest, size);
    radius->next = i == one ? radius->next : fmax(radius->next, size);
  }
}

yoke_status yoke__synth_macro_radius(const yoke_synth_loop* loop, yoke_synth_radius* radius) {
  const size_t n = yoke__synth_macro_size(loop);
  *radius = (yoke_synth_radius){0};
  if (n == 0) {
    return YOKE_OK;
  }
  double *M = calloc(n * n, sizeof *M), *re = calloc(n, sizeof *re), *im = calloc(n, sizeof *im);
  yoke_status status = YOKE_NO_MEMORY;
  if (M != NULL && re != NULL && im != NULL) {
    status = yoke__synth_macro_matrix(loop, M);
    if (status >= 0 && !yoke__are_finite(n * n, M)) {
      *radius = (yoke_synth_radius){.largest = (double)INFINITY, .next = (double)INFINITY};
    } else if (status >= 0) {
      status = yoke__eigenvalues(n, M, re, im);
      if (status >= 0) {
        judge(n, re, im, radius);
      }
    }
  }
  free(M);
  free(re);
  free(im);
  return status;
}

// ---- units

// [F G; 0 I] = exp([A B; 0 0] h), or (I + [A B; 0 0] h / k)^k by repeated multiplication.
yoke_status yoke__synth_discretise(size_t n, size_t m, const double A[], const double B[], double h,
                                   double micro, double F[], double G[]) {
  const size_t N = n + m;
  if (n == 0) {
    return YOKE_OK;
  }
  double *one = calloc(3 * N * N, sizeof *one), *all = one + N * N, *next = all + N * N;
  if (one == NULL) {
    return YOKE_NO_MEMORY;
  }

  // micro > 0: k explicit Euler steps of h / k
  const double k = micro > 0 ? fmax(1, floor(h / micro + 0.5)) : 1;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < N; j++) {
      // h / k [A, B; 0, 0]; the input is held, its rows are those of I
      one[i * N + j] = h / k * (j < n ? A[i * n + j] : B[i * m + j - n]);
    }
  }
  yoke_status status = YOKE_OK;
  if (micro > 0) {
    for (size_t i = 0; i < N; i++) {
      one[i * N + i] += 1;
      all[i * N + i] = 1;
    }
    // the power k by squaring
    for (uint64_t left = (uint64_t)fmin(k, 1e15); left > 0; left /= 2) {
      if (left % 2 == 1) {
        yoke__mat_mul(N, N, N, one, all, next);
        memcpy(all, next, N * N * sizeof *all);
      }
      yoke__mat_mul(N, N, N, one, one, next);
      memcpy(one, next, N * N * sizeof *one);
    }
  } else {
    status = yoke__expm(N, one, all);
  }
  for (size_t i = 0; i < n && status >= 0; i++) {
    memcpy(F + i * n, all + i * N, n * sizeof *F);
    memcpy(G + i * m, all + i * N + n, m * sizeof *G);
  }
  free(one);
  return status;
}
