// One exchange interval of a loop as a matrix; see synth_loop.h.
//
//   E = exp(A Dt), K = integral_0^Dt exp(A s) ds, A B C D block diagonal over the two sides, u = L y
//
//   coupled  x' = (A + B L (I - D L)^-1 C) x
//   stale    [x+; y+] = [ E, K B L ; C E, C K B L + D L ] [x; y]
//   fresh    x+ = ( E + K B L (I - D L)^-1 C ) x
//
// Free eigenvalues. If the coupled system has the eigenvalue 0, with the vector x0, the inputs u0 that belong to it are constant
// and A x0 + B u0 = 0: then both maps keep x0 at every Dt, and 1 is an eigenvalue. With velocity coupling this is the offset
// between a position and the partner's copy of it; a shaft without a fixed end adds its angle and, in a chain with it, its
// speed. Chains make eigenvalues that are known to the square root of a rounding only, so that nothing is compared with 1:
// with the kernel V2 of the coupled system, or of the map minus I, and V1 orthogonal to it
//
//   [V1 V2]^T X [V1 V2] = [ V1^T X V1 , 0 ; * , 0 ]
//
// and the same goes on with V1^T X V1 until it has no kernel. What is left of the map has the other eigenvalues. The levels
// are counted in the coupled system, where 0 is 0. Source: W. Chen, licentiate thesis, Chalmers 2019, for the maps.
// Page: docs/loop.md, "The exchange map".
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_dense.h"
#include "linalg/linalg_scale.h"
#include "synth/synth_loop_part.h"

// a singular value of the coupled system below this part of the largest one is 0; one of the map minus I, relative to the map,
// is free
#define ZERO_WHOLE  1e-13
#define ZERO_MAP    1e-7
#define BORDER_PART 1e-9

yoke_status yoke__synth_loop_check(const yoke_linear sides[2]) {
  for (int i = 0; i < 2; i++) {
    const yoke_linear *s = &sides[i], *other = &sides[1 - i];
    const size_t n = s->n_states, m = s->n_inputs, p = s->n_outputs;
    // outputs of one side are the inputs of the other
    if (m == 0 || p == 0 || p != other->n_inputs || !yoke__are_finite(n * n, s->A) ||
        !yoke__are_finite(n * m, s->B) || !yoke__are_finite(p * n, s->C) ||
        !yoke__are_finite(p * m, s->D)) {
      return YOKE_BAD_ARG;
    }
  }
  return YOKE_OK;
}

yoke_status yoke__synth_loop_hold(const yoke_linear* side, double step, double F[], double G[]) {
  // exp of [A, B; 0, 0] Dt = [F, G; 0, I]
  const size_t n = side->n_states, m = side->n_inputs, N = n + m;
  double* big = calloc(N * N + 1, sizeof *big);
  YOKE_TRY_MEMORY(big);

  // exp([A B; 0 0] Dt) = [F G; 0 I]: input held
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      big[i * N + j] = step * side->A[i * n + j];
    }
    for (size_t j = 0; j < m; j++) {
      big[i * N + n + j] = step * side->B[i * m + j];
    }
  }
  const yoke_status status = yoke__expm(N, big, big);
  for (size_t i = 0; i < n && status >= 0; i++) {
    memcpy(F + i * n, big + i * N, n * sizeof *F);
    memcpy(G + i * m, big + i * N + n, m * sizeof *G);
  }
  free(big);
  return status;
}

// ---- both sides as one

// Block diagonal matrices; the columns of BL and DL belong to the outputs y = [y1; y2], u = [y2; y1].
typedef struct pair {
  size_t n, p;  // states and outputs of both
  double *A, *BL, *C, *DL;
  double* X;       // p x n: (I - D L)^-1 C
  size_t* pivots;  // p
  double* memory;
} pair;

static void free_pair(pair* p) {
  free(p->memory);
  free(p->pivots);
}

static yoke_status new_pair(const yoke_linear sides[2], pair* to) {
  const size_t n = sides[0].n_states + sides[1].n_states;
  const size_t p = sides[0].n_outputs + sides[1].n_outputs;
  *to = (pair){.n = n, .p = p};

  // A, BL, C and a column of it, DL and I - DL
  to->memory = calloc(n * n + 3 * n * p + 2 * p * p, sizeof *to->memory);
  to->pivots = calloc(p, sizeof *to->pivots);
  if (to->memory == NULL || to->pivots == NULL) {
    free_pair(to);
    return YOKE_NO_MEMORY;
  }
  to->A = to->memory;
  to->BL = to->A + n * n;
  to->C = to->BL + n * p;
  to->X = to->C + p * n;
  to->DL = to->X + p * n;
  return YOKE_OK;
}

// A and B: of the sides, or F and G of their discretisation.
static void fill_pair(const yoke_linear sides[2], const double* const A[2],
                      const double* const B[2], pair* to) {
  const size_t n = to->n, p = to->p;
  size_t x = 0, y = 0;
  for (int k = 0; k < 2; k++) {
    const yoke_linear* s = &sides[k];
    // the input of one side is the output of the other
    const size_t other = k == 0 ? s->n_outputs : 0;
    for (size_t i = 0; i < s->n_states; i++) {
      for (size_t j = 0; j < s->n_states; j++) {
        to->A[(x + i) * n + x + j] = A[k][i * s->n_states + j];
      }
      for (size_t j = 0; j < s->n_inputs; j++) {
        to->BL[(x + i) * p + other + j] = B[k][i * s->n_inputs + j];
      }
    }
    for (size_t i = 0; i < s->n_outputs; i++) {
      for (size_t j = 0; j < s->n_states; j++) {
        to->C[(y + i) * n + x + j] = s->C[i * s->n_states + j];
      }
      for (size_t j = 0; j < s->n_inputs; j++) {
        to->DL[(y + i) * p + other + j] = s->D[i * s->n_inputs + j];
      }
    }
    x += s->n_states;
    y += s->n_outputs;
  }
}

// to := A + BL (I - DL)^-1 C: what is left when outputs and inputs agree at one instant.
static yoke_status close_pair(pair* p, double to[]) {
  const size_t n = p->n, o = p->p;
  double *I_DL = p->DL + o * o, *column = p->X;

  // I - D L
  for (size_t i = 0; i < o * o; i++) {
    I_DL[i] = (i % (o + 1) == 0 ? 1 : 0) - p->DL[i];
  }
  YOKE_TRY(yoke__lu_factor(o, I_DL, p->pivots));
  memcpy(to, p->A, n * n * sizeof *to);

  // column j of (I - D L)^-1 C, then A + B L times it
  for (size_t j = 0; j < n; j++) {
    for (size_t i = 0; i < o; i++) {
      column[i] = p->C[i * n + j];
    }
    yoke__lu_solve(o, I_DL, p->pivots, column);
    for (size_t i = 0; i < n; i++) {
      for (size_t k = 0; k < o; k++) {
        to[i * n + j] += p->BL[i * o + k] * column[k];
      }
    }
  }
  return YOKE_OK;
}

yoke_status yoke__synth_loop_whole(const yoke_linear sides[2], double A[]) {
  const double* const as[2] = {sides[0].A, sides[1].A};
  const double* const bs[2] = {sides[0].B, sides[1].B};
  pair p;
  YOKE_TRY(new_pair(sides, &p));
  fill_pair(sides, as, bs, &p);
  const yoke_status status = close_pair(&p, A);
  free_pair(&p);
  return status;
}

// ---- the map

size_t yoke__synth_loop_map_size(const yoke_linear sides[2], yoke_synth_exchange exchange) {
  const size_t n = sides[0].n_states + sides[1].n_states;
  return exchange == YOKE_SYNTH_FRESH ? n : n + sides[0].n_outputs + sides[1].n_outputs;
}

// stale: X = C E and C K B L row by row
static void stale_map(const pair* p, double M[]) {
  const size_t n = p->n, o = p->p, size = n + o;
  for (size_t i = 0; i < n; i++) {
    memcpy(M + i * size, p->A + i * n, n * sizeof *M);
    memcpy(M + i * size + n, p->BL + i * o, o * sizeof *M);
  }

  // y+ = C x+ + D L y: the outputs use the held y of the other side
  for (size_t i = 0; i < o; i++) {
    double* row = M + (n + i) * size;
    memset(row, 0, n * sizeof *row);
    memcpy(row + n, p->DL + i * o, o * sizeof *row);
    for (size_t k = 0; k < n; k++) {
      for (size_t j = 0; j < size; j++) {
        row[j] += p->C[i * n + k] * M[k * size + j];
      }
    }
  }
}

static yoke_status map_of(const yoke_linear sides[2], double step, yoke_synth_exchange exchange,
                          double* memory, double M[]) {
  double *F[2], *G[2];
  for (int i = 0; i < 2; i++) {
    F[i] = memory;
    G[i] = F[i] + sides[i].n_states * sides[i].n_states;
    memory = G[i] + sides[i].n_states * sides[i].n_inputs;
    YOKE_TRY(yoke__synth_loop_hold(&sides[i], step, F[i], G[i]));
  }
  const double* const as[2] = {F[0], F[1]};
  const double* const bs[2] = {G[0], G[1]};
  pair p;
  yoke_status status = YOKE_OK;
  YOKE_TRY(new_pair(sides, &p));
  fill_pair(sides, as, bs, &p);

  // fresh: outputs and inputs agree at the exchange, as in the coupled
  // system; stale: outputs are states
  if (exchange == YOKE_SYNTH_FRESH) {
    status = close_pair(&p, M);
  } else {
    stale_map(&p, M);
  }
  free_pair(&p);
  return status;
}

yoke_status yoke__synth_loop_map(const yoke_linear sides[2], double step,
                                 yoke_synth_exchange exchange, double M[]) {
  YOKE_TRY(yoke__synth_loop_check(sides));
  if (!(step > 0) || !yoke__is_finite(step)) {
    return YOKE_BAD_ARG;
  }
  size_t size = 1;
  for (int i = 0; i < 2; i++) {
    size += sides[i].n_states * (sides[i].n_states + sides[i].n_inputs);
  }
  double* memory = calloc(size, sizeof *memory);
  YOKE_TRY_MEMORY(memory);
  const yoke_status status = map_of(sides, step, exchange, memory, M);
  free(memory);
  return status;
}

// ---- eigenvalues

// How many motions are free, by levels of their chains.
typedef struct free_motions {
  size_t n_levels;
  size_t* levels;  // vectors of each
} free_motions;

// Room for matrices of up to n rows and what is made of them.
typedef struct space {
  size_t n;
  double *M, *X, *U, *V, *s, *re, *im, *work;
  size_t* levels;
  double* memory;
} space;

static void free_space(space* p) {
  free(p->memory);
  free(p->levels);
}

static yoke_status new_space(size_t n, space* p) {
  const size_t square = n * n;
  *p = (space){.n = n};
  p->memory = calloc(4 * square + 3 * n + yoke__svd_work_size(n, n) + 1, sizeof *p->memory);
  p->levels = calloc(n + 1, sizeof *p->levels);
  if (p->memory == NULL || p->levels == NULL) {
    free_space(p);
    return YOKE_NO_MEMORY;
  }
  p->M = p->memory;
  p->X = p->M + square;
  p->U = p->X + square;
  p->V = p->U + square;
  p->s = p->V + square;
  p->re = p->s + n;
  p->im = p->re + n;
  p->work = p->im + n;
  return YOKE_OK;
}

// Units of the states that make rows and columns weigh the same.
static void balance(space* p, size_t n) {
  yoke__scale_find(n, p->M, YOKE_SCALE_BY_GAIN, p->s);
  yoke__scale_apply(n, p->s, p->M);
}

// Singular values and V of M - shift I, n x n.
static yoke_status decompose(space* p, size_t n, double shift) {
  for (size_t i = 0; i < n * n; i++) {
    // kernel of M - shift I: the right vectors of its smallest singular values
    p->X[i] = p->M[i] - (i % (n + 1) == 0 ? shift : 0);
  }
  return yoke__svd(n, n, p->X, p->U, p->s, p->V, p->work);
}

// M := V1^T M V1 with the first n - g columns of V.
static void leave_out(space* p, size_t n, size_t g) {
  // M V1 first: the kernel of M - shift I is left out on both sides
  const size_t m = n - g;

  // X = M V1, then V1^T X
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < m; j++) {
      p->X[i * m + j] = 0;
      for (size_t k = 0; k < n; k++) {
        p->X[i * m + j] += p->M[i * n + k] * p->V[k * n + j];
      }
    }
  }
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < m; j++) {
      p->M[i * m + j] = 0;
      for (size_t k = 0; k < n; k++) {
        p->M[i * m + j] += p->V[k * n + i] * p->X[k * m + j];
      }
    }
  }
}

// Zero eigenvalues of the n x n matrix in M, as levels.
static yoke_status count_zeros(space* p, size_t n, free_motions* to) {
  *to = (free_motions){.levels = p->levels};
  balance(p, n);
  double largest = 0;
  while (n > 0) {
    size_t g = 0;
    // singular values descend: the last ones are the kernel
    YOKE_TRY(decompose(p, n, 0));
    largest = fmax(largest, p->s[0]);
    // relative to the largest ever seen: deflated matrices shrink
    while (g < n && p->s[n - 1 - g] <= ZERO_WHOLE * largest) {
      g++;
    }
    if (g == 0) {
      break;
    }
    // vectors of this level of the chains, taken out before the next level is looked for
    to->levels[to->n_levels++] = g;
    leave_out(p, n, g);
    n -= g;
  }
  return YOKE_OK;
}

yoke_status yoke__synth_loop_count_zeros(size_t n, const double A[], size_t* n_zeros) {
  space p;
  free_motions motions;
  *n_zeros = 0;
  YOKE_TRY(new_space(n, &p));
  for (size_t i = 0; i < n * n; i++) {
    p.M[i] = A[i];
  }
  const yoke_status status = count_zeros(&p, n, &motions);
  for (size_t i = 0; i < motions.n_levels && status >= 0; i++) {
    *n_zeros += motions.levels[i];
  }
  free_space(&p);
  return status;
}

// Those of the coupled system. Nothing is known of one that is an algebraic loop without solution; a stale exchange can
// still be looked at.
static yoke_status count_free(const yoke_linear sides[2], space* p, free_motions* to) {
  *to = (free_motions){.levels = p->levels};
  const yoke_status status = yoke__synth_loop_whole(sides, p->M);
  if (status < 0) {
    return status == YOKE_SINGULAR ? YOKE_OK : status;
  }
  return count_zeros(p, sides[0].n_states + sides[1].n_states, to);
}

// Takes the free motions out of the map in M; *n: its size, before and after.
static yoke_status take_free(space* p, const free_motions* motions, size_t* n,
                             yoke_synth_loop_radius* to) {
  balance(p, *n);

  // relative to the map, 1 at least
  const double size = fmax(1, yoke__norm_1(*n, p->M));

  // level by level, as they were counted in the coupled system
  for (size_t i = 0; i < motions->n_levels && motions->levels[i] <= *n; i++) {
    const size_t g = motions->levels[i];
    YOKE_TRY(decompose(p, *n, 1));
    // of a method that does not carry a motion on as it is: the eigenvalues tell
    if (p->s[*n - g] > ZERO_MAP * size) {
      break;
    }
    to->free_error = fmax(to->free_error, p->s[*n - g]);
    to->n_free += g;
    leave_out(p, *n, g);
    *n -= g;
  }
  return YOKE_OK;
}

static yoke_status radius_of(const yoke_linear sides[2], double step, yoke_synth_exchange exchange,
                             const free_motions* motions, space* p, yoke_synth_loop_radius* out) {
  size_t n = yoke__synth_loop_map_size(sides, exchange);
  *out = (yoke_synth_loop_radius){0};
  YOKE_TRY(yoke__synth_loop_map(sides, step, exchange, p->M));
  YOKE_TRY(take_free(p, motions, &n, out));
  YOKE_TRY(yoke__eigenvalues(n, p->M, p->re, p->im));

  // spectral radius of what is left
  for (size_t i = 0; i < n; i++) {
    out->radius = fmax(out->radius, hypot(p->re[i], p->im[i]));
  }
  return YOKE_OK;
}

// Room for the larger one of the two maps, and the free motions.
static yoke_status open_space(const yoke_linear sides[2], space* p, free_motions* motions) {
  YOKE_TRY(new_space(yoke__synth_loop_map_size(sides, YOKE_SYNTH_STALE), p));
  const yoke_status status = count_free(sides, p, motions);
  if (status < 0) {
    free_space(p);
  }
  return status;
}

yoke_status yoke__synth_loop_radius_of(const yoke_linear sides[2], double step,
                                       yoke_synth_exchange exchange, yoke_synth_loop_radius* out) {
  space p;
  free_motions motions;
  YOKE_TRY(yoke__synth_loop_check(sides));
  YOKE_TRY(open_space(sides, &p, &motions));
  const yoke_status status = radius_of(sides, step, exchange, &motions, &p, out);
  free_space(&p);
  return status;
}

// ---- the largest stable step

typedef struct search {
  const yoke_linear* sides;
  yoke_synth_exchange exchange;
  free_motions motions;
  space space;
} search;

// A map that overflows is not stable.
static yoke_status is_stable(search* s, double step, bool* is) {
  yoke_synth_loop_radius r;
  const yoke_status status = radius_of(s->sides, step, s->exchange, &s->motions, &s->space, &r);
  *is = status >= 0 && r.radius < 1;
  return status == YOKE_DIVERGED ? YOKE_OK : status;
}

static yoke_status find_limit(search* s, double resolution, double largest,
                              yoke_synth_loop_limit* out) {
  bool is = true;
  *out = (yoke_synth_loop_limit){0, (double)INFINITY, (double)INFINITY};

  // in steps of the resolution: stability need not be monotonous in the step
  for (size_t k = 1; (double)k * resolution <= largest * (1 + 1e-9); k++) {
    YOKE_TRY(is_stable(s, (double)k * resolution, &is));
    if (!is) {
      out->unstable = (double)k * resolution;
      break;
    }
    out->stable = (double)k * resolution;
  }
  if (is) {
    return YOKE_OK;
  }
  double low = out->stable, high = out->unstable;

  // bisection of the border between the last stable and the first unstable step
  while (high - low > BORDER_PART * high) {
    const double middle = (low + high) / 2;
    YOKE_TRY(is_stable(s, middle, &is));
    *(is ? &low : &high) = middle;
    // of a loop that no step makes stable
    if (high < BORDER_PART * resolution) {
      high = 0;
    }
  }
  out->border = high;
  return YOKE_OK;
}

yoke_status yoke__synth_loop_limit_of(const yoke_linear sides[2], yoke_synth_exchange exchange,
                                      double resolution, double largest,
                                      yoke_synth_loop_limit* out) {
  YOKE_TRY(yoke__synth_loop_check(sides));
  if (!(resolution > 0) || !(largest >= resolution) || !yoke__is_finite(largest)) {
    return YOKE_BAD_ARG;
  }
  search s = {.sides = sides, .exchange = exchange};
  YOKE_TRY(open_space(sides, &s.space, &s.motions));
  const yoke_status status = find_limit(&s, resolution, largest, out);
  free_space(&s.space);
  return status;
}
