// Peaks, margins and worst cases of a loop over frequency; see synth_loop.h.
//
// Two grids: 0 < w <= pi / Dt for what is sampled, and all frequencies for the gains of the coupled system. Both are even and
// logarithmic, and around every pole p = sigma + j w0, |sigma| < w0, they have points at
// w0 +- |sigma| {0, 0.05, 0.0675, ...}: no light resonance falls between two points. On the unit circle a pole appears at the angle of exp(p Dt), wherever aliasing puts it.
// The largest local maxima of each quantity are refined by golden section between their neighbours.
#include "synth/synth_loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_dense.h"
#include "synth/synth_loop_part.h"

#define PI       3.14159265358979323846
#define GOLDEN   0.61803398874989485
#define N_EVEN   1000
#define N_LOG    600
#define N_BESIDE 32  // points on each side of a pole, from CLOSE to 700 times its width
#define CLOSE    0.05
#define SPREAD   1.35
#define LOWEST   1e-4  // of the slowest motion: the limit at frequency 0 to 1e-8
#define HIGHEST  1e3   // of the fastest motion
#define NEAREST  1e-8  // of pi / Dt: nearer to z = 1 the digits of z - 1 are lost
#define CLEARLY  0.98  // no peak rises by more between two points of the grid
#define N_REFINE 4     // local maxima of a quantity that are refined
#define SECTIONS 44    // of golden section: 1e-9 of the distance between grid points

typedef enum quantity {
  GAIN,
  HELD_GAIN,
  N_WIDE,  // those before are looked at over all frequencies
  SAMPLED_GAIN = N_WIDE,
  MARGIN,
  SENSITIVITY,
  DISTORTION_DB,
  DISTORTION_PHASE,
  ERROR_11,
  ERROR_12,
  ERROR_21,
  ERROR_22,
  MU,
  MU_TURNED,
  PASSIVITY_1,
  PASSIVITY_2,
  N_QUANTITIES,
} quantity;

// What is made as large as possible.
static double value_of(const yoke_synth_loop_point* p, quantity q) {
  switch (q) {
  case GAIN:
    return p->gain;
  case HELD_GAIN:
    return p->held_gain;
  case SAMPLED_GAIN:
    return p->sampled_gain;
  case MARGIN:
    // distance of H_open from 1, where the loop loses stability
    return -cabs(1 - p->open);
  case SENSITIVITY:
    return p->sensitivity;
  case DISTORTION_DB:
    return fabs(20 * log10(cabs(p->distortion)));
  case DISTORTION_PHASE:
    return fabs(carg(p->distortion));
  case ERROR_11:
  case ERROR_12:
    return p->error[0][q - ERROR_11];
  case ERROR_21:
  case ERROR_22:
    return p->error[1][q - ERROR_21];
  case MU:
    return p->mu;
  case MU_TURNED:
    return p->mu_turned;
  default:
    return -p->passivity[q - PASSIVITY_1];
  }
}

static yoke_synth_loop_part part_of(quantity q) {
  return q < N_WIDE                  ? YOKE_SYNTH_LOOP_GAINS
         : q == MU || q == MU_TURNED ? YOKE_SYNTH_LOOP_ALL
                                     : YOKE_SYNTH_LOOP_SAMPLED;
}

// ---- the grid

typedef struct grid {
  double* w;
  size_t n, room;
} grid;

typedef struct pole {
  double at, width;  // [rad/s]
} pole;

typedef struct poles {
  pole* of;
  size_t n;
  double slowest, fastest;  // sizes, without those at 0
} poles;

static void add(grid* g, double w, double low, double high) {
  if (w >= low && w <= high && g->n < g->room) {
    g->w[g->n++] = w;
  }
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static int compare_sizes(const void* a, const void* b) {
  const double *p = a, *q = b;
  const double x = hypot(p[0], p[1]), y = hypot(q[0], q[1]);
  return (x > y) - (x < y);
}

// Eigenvalues of a continuous A, as sizes and as angles: to[0] over all frequencies, to[1] folded to 0 .. pi / Dt. Those at
// 0, the smallest ones, are left out.
static yoke_status add_poles(size_t n, const double A[], double step, poles to[2]) {
  double* re = calloc(4 * n + 1, sizeof *re);
  YOKE_TRY_MEMORY(re);
  double *im = re + n, *both = im + n;
  size_t n_zeros = 0;
  yoke_status status = yoke__synth_loop_count_zeros(n, A, &n_zeros);
  if (status >= 0) {
    status = yoke__eigenvalues(n, A, re, im);
  }
  for (size_t i = 0; i < n; i++) {
    both[2 * i] = re[i];
    both[2 * i + 1] = im[i];
  }
  qsort(both, n, 2 * sizeof *both, compare_sizes);
  for (size_t i = n_zeros; i < n && status >= 0; i++) {
    const double *of = both + 2 * i, size = hypot(of[0], of[1]);
    to[0].slowest = fmin(to[0].slowest, size);
    to[0].fastest = fmax(to[0].fastest, size);
    to[0].of[to[0].n++] = (pole){fabs(of[1]), fabs(of[0])};
    // sampling folds frequencies to -pi/Dt .. pi/Dt
    to[1].of[to[1].n++] = (pole){fabs(remainder(of[1], 2 * PI / step)), fabs(of[0])};
  }
  free(re);
  return status;
}

// Eigenvalues of the exchange map.
static yoke_status add_map_poles(const yoke_synth_loop* loop, poles* to) {
  const size_t n = yoke__synth_loop_map_size(loop->sides, loop->exchange);
  double* M = calloc(n * n + 2 * n + 1, sizeof *M);
  YOKE_TRY_MEMORY(M);
  double *re = M + n * n, *im = re + n;
  yoke_status status = yoke__synth_loop_map(loop->sides, loop->step, loop->exchange, M);
  if (status >= 0) {
    status = yoke__eigenvalues(n, M, re, im);
  }
  for (size_t i = 0; i < n && status >= 0; i++) {
    // poles at z = 0 are gone within a step and make no peak
    const double size = hypot(re[i], im[i]);
    if (size > 1e-6) {
      // z = exp(p Dt): angle and log of the size over Dt
      to->of[to->n++] =
          (pole){fabs(atan2(im[i], re[i])) / loop->step, fabs(log(size)) / loop->step};
    }
  }
  free(M);
  return status;
}

static yoke_status find_poles(const yoke_synth_loop* loop, yoke_arena* arena, poles to[2]) {
  const size_t n = loop->sides[0].n_states + loop->sides[1].n_states;
  const size_t room = 3 * n + loop->sides[0].n_outputs + loop->sides[1].n_outputs;
  for (int k = 0; k < 2; k++) {
    to[k] = (poles){.slowest = 1 / loop->step, .fastest = 1 / loop->step};
    to[k].of = yoke__arena_array(arena, room, sizeof *to[k].of);
  }
  double* whole = yoke__arena_array(arena, n * n, sizeof *whole);
  YOKE_TRY(yoke__arena_status(arena));
  for (int i = 0; i < 2; i++) {
    YOKE_TRY(add_poles(loop->sides[i].n_states, loop->sides[i].A, loop->step, to));
  }
  YOKE_TRY(yoke__synth_loop_whole(loop->sides, whole));
  YOKE_TRY(add_poles(n, whole, loop->step, to));
  return add_map_poles(loop, &to[1]);
}

static yoke_status make_grid(const poles* p, double low, double high, double even,
                             yoke_arena* arena, grid* g) {
  g->room = N_EVEN + N_LOG + 1 + p->n * (2 * N_BESIDE + 1);
  g->w = yoke__arena_array(arena, g->room, sizeof *g->w);
  YOKE_TRY_MEMORY(g->w);

  // even over the band, logarithmic from low to high, and around each light pole
  for (int i = 1; i <= N_EVEN; i++) {
    add(g, even * i / N_EVEN, low, high);
  }
  for (int i = 0; i < N_LOG; i++) {
    add(g, low * pow(high / low, (double)i / N_LOG), low, high);
  }
  add(g, high, low, high);
  for (size_t k = 0; k < p->n; k++) {
    if (p->of[k].width >= p->of[k].at) {
      continue;  // no resonance: the logarithmic points are nearer to each other than it is wide
    }
    add(g, p->of[k].at, low, high);
    // distances 0.05, 0.0675, ... of the width: dense at the top of
    // the resonance, sparse at its foot
    double beside = CLOSE * p->of[k].width;
    for (int i = 0; i < N_BESIDE; i++) {
      add(g, p->of[k].at - beside, low, high);
      add(g, p->of[k].at + beside, low, high);
      beside *= SPREAD;
    }
  }

  // ascending, each once
  qsort(g->w, g->n, sizeof *g->w, compare);
  size_t n = 0;
  for (size_t i = 0; i < g->n; i++) {
    if (n == 0 || g->w[i] > g->w[n - 1] * (1 + 1e-12)) {
      g->w[n++] = g->w[i];
    }
  }
  g->n = n;
  return YOKE_OK;
}

// ---- peaks

typedef struct scan {
  yoke_synth_loop_eval* eval;
  yoke_synth_loop_part part;  // of each point
  size_t n;
  yoke_synth_loop_point* points;
} scan;

static yoke_status fill(scan* s, const grid* g, yoke_arena* arena) {
  s->n = g->n;
  s->points = yoke__arena_array(arena, g->n, sizeof *s->points);
  YOKE_TRY_MEMORY(s->points);
  for (size_t i = 0; i < g->n; i++) {
    YOKE_TRY(yoke__synth_loop_at(s->eval, g->w[i], s->part, &s->points[i]));
  }
  return YOKE_OK;
}

static yoke_status at(const scan* s, quantity q, double w, double* value) {
  yoke_synth_loop_point p;
  YOKE_TRY(yoke__synth_loop_at(s->eval, w, part_of(q), &p));
  *value = value_of(&p, q);
  return YOKE_OK;
}

static void keep(yoke_synth_peak* best, double value, double w) {
  if (value > best->value) {
    *best = (yoke_synth_peak){value, w};
  }
}

static yoke_status refine(const scan* s, quantity q, double low, double high,
                          yoke_synth_peak* best) {
  // golden section: two inner points, of which one is used again
  double w[2] = {high - GOLDEN * (high - low), low + GOLDEN * (high - low)}, value[2];
  YOKE_TRY(at(s, q, w[0], &value[0]));
  YOKE_TRY(at(s, q, w[1], &value[1]));
  for (int i = 0; i < SECTIONS; i++) {
    const int k = value[0] >= value[1] ? 0 : 1;  // the point that stays
    keep(best, value[k], w[k]);
    if (k == 0) {
      high = w[1];
    } else {
      low = w[0];
    }
    w[1 - k] = w[k];
    value[1 - k] = value[k];
    w[k] = k == 0 ? high - GOLDEN * (high - low) : low + GOLDEN * (high - low);
    YOKE_TRY(at(s, q, w[k], &value[k]));
  }
  return YOKE_OK;
}

// NaN throughout gives NaN.
static yoke_status find_peak(const scan* s, quantity q, yoke_synth_peak* best) {
  size_t top[N_REFINE], n_top = 0;
  *best = (yoke_synth_peak){-(double)INFINITY, (double)NAN};
  for (size_t i = 0; i < s->n; i++) {
    const double value = value_of(&s->points[i], q);
    keep(best, value, s->points[i].w);
    // local maximum: not below its left neighbour, above its right one
    const double before = i > 0 ? value_of(&s->points[i - 1], q) : -(double)INFINITY;
    const double behind = i + 1 < s->n ? value_of(&s->points[i + 1], q) : -(double)INFINITY;
    if (!(value >= before && value > behind)) {
      continue;
    }
    // into the list of the largest, in order
    size_t k = n_top < N_REFINE ? n_top++ : N_REFINE;
    while (k > 0 && value > value_of(&s->points[top[k - 1]], q)) {
      if (k < N_REFINE) {
        top[k] = top[k - 1];
      }
      k--;
    }
    if (k < N_REFINE) {
      top[k] = i;
    }
  }
  for (size_t k = 0; k < n_top; k++) {
    const size_t i = top[k];
    YOKE_TRY(
        refine(s, q, s->points[i > 0 ? i - 1 : 0].w, s->points[i + 1 < s->n ? i + 1 : i].w, best));
  }
  if (isnan(best->w)) {
    best->value = (double)NAN;
  }
  return YOKE_OK;
}

static int compare_bounds(const void* a, const void* b) {
  const yoke_synth_loop_point *const *p = a, *const *q = b;
  return ((*p)->mu < (*q)->mu) - ((*p)->mu > (*q)->mu);
}

// mu of several signals is a search at each frequency. Where its bound lies clearly below the largest mu it stays the bound.
static yoke_status search_mu(const scan* s, yoke_arena* arena) {
  double largest = 0;
  yoke_synth_loop_point** by_bound = yoke__arena_array(arena, s->n, sizeof(void*));
  YOKE_TRY_MEMORY(by_bound);
  for (size_t i = 0; i < s->n; i++) {
    by_bound[i] = &s->points[i];
  }

  // the bound is never below mu
  qsort((void*)by_bound, s->n, sizeof(void*), compare_bounds);

  // by falling bound: the first that lies clearly below the largest mu ends the search
  for (size_t i = 0; i < s->n && !s->eval->is_scalar && by_bound[i]->mu > CLEARLY * largest; i++) {
    YOKE_TRY(yoke__synth_loop_at(s->eval, by_bound[i]->w, YOKE_SYNTH_LOOP_ALL, by_bound[i]));
    largest = fmax(largest, by_bound[i]->mu);
  }
  return YOKE_OK;
}

// ---- margins

static yoke_status open_at(const scan* s, double w, double complex* open) {
  yoke_synth_loop_point p;
  YOKE_TRY(yoke__synth_loop_at(s->eval, w, YOKE_SYNTH_LOOP_SAMPLED, &p));
  *open = p.open;
  return YOKE_OK;
}

static double phase_side(double complex h) {
  return cimag(h);
}

static double gain_side(double complex h) {
  return cabs(h) - 1;
}

// Between two points of the grid where side(H_open) changes its sign.
static yoke_status find_crossing(const scan* s, double (*side)(double complex), size_t i, double* w,
                                 double complex* open) {
  double low = s->points[i].w, high = s->points[i + 1].w;
  const bool is_above = side(s->points[i].open) > 0;

  // 60 halvings: beyond the digits of a double
  for (int k = 0; k < 60; k++) {
    const double middle = (low + high) / 2;
    YOKE_TRY(open_at(s, middle, open));
    *(is_above == (side(*open) > 0) ? &low : &high) = middle;
  }
  *w = high;
  return open_at(s, high, open);
}

static void keep_gain(yoke_synth_loop_report* out, double complex open, double w) {
  // factor that takes H_open to 1: 1 / H
  const double factor = 1 / creal(open);
  if (factor >= 1 && factor < out->gain_margin.value) {
    out->gain_margin = (yoke_synth_peak){factor, w};
  }
  if (factor > out->gain_drop.value && factor < 1) {
    out->gain_drop = (yoke_synth_peak){factor, w};
  }
}

// Where H_open is real and positive a factor on the loop reaches +1, and where |H_open| = 1 a rotation does.
static yoke_status find_margins(const scan* s, bool is_scalar, yoke_synth_loop_report* out) {
  const double none = is_scalar ? (double)INFINITY : (double)NAN;
  out->gain_margin = out->phase_margin = (yoke_synth_peak){none, (double)NAN};
  out->gain_drop = (yoke_synth_peak){is_scalar ? 0 : none, (double)NAN};
  if (!is_scalar) {
    return YOKE_OK;
  }
  // both ends of the half circle are real; the point at frequency 0 as its limit
  keep_gain(out, s->points[0].open, s->points[0].w);
  keep_gain(out, s->points[s->n - 1].open, s->points[s->n - 1].w);
  for (size_t i = 0; i + 1 < s->n; i++) {
    const double complex a = s->points[i].open, b = s->points[i + 1].open;
    double complex open = 0;
    double w = 0;
    // a sign change of the phase on the positive real side only: the negative
    // side is no limit of a loop 1 - H
    if ((phase_side(a) > 0) != (phase_side(b) > 0) && fmax(creal(a), creal(b)) > 0) {
      YOKE_TRY(find_crossing(s, phase_side, i, &w, &open));
      keep_gain(out, open, w);
    }
    // |H| = 1: a rotation by |arg H| reaches 1
    if ((gain_side(a) > 0) != (gain_side(b) > 0)) {
      YOKE_TRY(find_crossing(s, gain_side, i, &w, &open));
      if (fabs(carg(open)) < out->phase_margin.value) {
        out->phase_margin = (yoke_synth_peak){fabs(carg(open)), w};
      }
    }
  }
  return YOKE_OK;
}

// ---- all of it

static yoke_synth_peak minus(yoke_synth_peak p) {
  return (yoke_synth_peak){-p.value, p.w};
}

static yoke_status make_grids(const yoke_synth_loop* loop, yoke_arena* arena, grid* wide,
                              grid* circle) {
  const double end = PI / loop->step;
  poles all[2];
  YOKE_TRY(find_poles(loop, arena, all));

  // four decades below the slowest and three above the fastest motion
  const double low = LOWEST * all[0].slowest, high = HIGHEST * all[0].fastest;

  // evenly as far as the exchange and its side bands reach, four times the sampling frequency
  YOKE_TRY(make_grid(&all[0], low, high, fmin(8 * end, high), arena, wide));
  return make_grid(&all[1], fmax(fmin(low, LOWEST * end), NEAREST * end), end, end, arena, circle);
}

static yoke_status analyse(yoke_synth_loop_eval* eval, yoke_synth_loop_report* out) {
  yoke_arena* arena = &eval->arena;
  grid wide = {0}, circle = {0};
  yoke_synth_peak peaks[N_QUANTITIES];
  YOKE_TRY(make_grids(eval->loop, arena, &wide, &circle));
  scan over_all = {.eval = eval, .part = YOKE_SYNTH_LOOP_GAINS},
       over_circle = {.eval = eval, .part = YOKE_SYNTH_LOOP_BOUND};
  YOKE_TRY(fill(&over_all, &wide, arena));
  YOKE_TRY(fill(&over_circle, &circle, arena));
  YOKE_TRY(search_mu(&over_circle, arena));
  for (quantity q = GAIN; q < N_QUANTITIES; q++) {
    YOKE_TRY(find_peak(q < N_WIDE ? &over_all : &over_circle, q, &peaks[q]));
  }
  double direct = 0;
  YOKE_TRY(yoke__synth_loop_direct(eval, &direct));

  // direct feedthrough: the gain at infinite frequency
  keep(&peaks[GAIN], direct, (double)INFINITY);
  *out = (yoke_synth_loop_report){
      .gain = peaks[GAIN],
      .held_gain = peaks[HELD_GAIN],
      .sampled_gain = peaks[SAMPLED_GAIN],
      .margin = minus(peaks[MARGIN]),
      .sensitivity = peaks[SENSITIVITY],
      .distortion_db = peaks[DISTORTION_DB],
      .distortion_phase = peaks[DISTORTION_PHASE],
      .error = {{peaks[ERROR_11], peaks[ERROR_12]}, {peaks[ERROR_21], peaks[ERROR_22]}},
      .mu = peaks[MU],
      .mu_turned = peaks[MU_TURNED],
      .passivity = {minus(peaks[PASSIVITY_1]), minus(peaks[PASSIVITY_2])},
  };
  return find_margins(&over_circle, eval->is_scalar, out);
}

yoke_status yoke__synth_loop_analyse(const yoke_synth_loop* loop, yoke_synth_loop_report* out) {
  yoke_synth_loop_eval eval;
  yoke_status status = yoke__synth_loop_open(loop, &eval);
  if (status >= 0) {
    status = analyse(&eval, out);
  }
  yoke__synth_loop_close(&eval);
  return status;
}

yoke_status yoke__synth_loop_frequencies(const yoke_synth_loop* loop, double** w, size_t* n) {
  yoke_synth_loop_eval eval;
  grid wide = {0}, circle = {0};
  *w = NULL;
  *n = 0;
  yoke_status status = yoke__synth_loop_open(loop, &eval);
  if (status >= 0) {
    status = make_grids(loop, &eval.arena, &wide, &circle);
  }
  if (status >= 0) {
    *w = malloc(circle.n * sizeof **w);
    status = *w != NULL ? YOKE_OK : YOKE_NO_MEMORY;
  }
  if (status >= 0) {
    memcpy(*w, circle.w, circle.n * sizeof **w);
    *n = circle.n;
  }
  yoke__synth_loop_close(&eval);
  return status;
}

yoke_status yoke__synth_loop_sample(const yoke_synth_loop* loop, size_t n, const double w[],
                                    yoke_synth_loop_point to[]) {
  yoke_synth_loop_eval eval;
  yoke_status status = yoke__synth_loop_open(loop, &eval);
  for (size_t i = 0; i < n && status >= 0; i++) {
    status = w[i] > 0 && yoke__is_finite(w[i])
                 ? yoke__synth_loop_at(&eval, w[i], YOKE_SYNTH_LOOP_ALL, &to[i])
                 : YOKE_BAD_ARG;
  }
  yoke__synth_loop_close(&eval);
  return status;
}
