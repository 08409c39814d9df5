// Sparse LU in the step loop: refactor and solve of a tridiagonal matrix, and of one with 10 % more
// entries at random places, n = 4 .. 1000, in nanoseconds, the fastest of many batches. In the same
// run: KLU (its own refactor and solve, nothing around them), the dense kernel, and the Thomas
// algorithm, which is the floor for a tridiagonal matrix. Then the tableau of a ladder: time and
// fill of the first factorisation.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"
#include "linalg/linalg_sparse.h"

#ifdef YOKE_HAVE_KLU
#include <klu.h>
#endif

#define N_BATCHES 60
#define BATCH_NS  60000.0
#define N_MAX     1000

static volatile double sink;

// ---- matrices

typedef struct matrix {
  int32_t n;
  int32_t *starts, *rows;
  double *values, *b, *x;
} matrix;

static uint32_t random_state = 12345;

static uint32_t random_number(uint32_t below) {
  random_state = random_state * 1664525u + 1013904223u;
  return (random_state >> 8) % below;
}

static void* take(size_t n, size_t size) {
  void* p = calloc(n + 1, size);
  if (p == NULL) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  return p;
}

// From a full map of the places; small n only.
static matrix from_map(int32_t n, const uint8_t map[]) {
  matrix m = {.n = n};
  const size_t size = (size_t)n;
  size_t n_nonzeros = 0;
  for (size_t i = 0; i < size * size; i++) {
    n_nonzeros += map[i];
  }
  m.starts = take(size + 1, sizeof *m.starts);
  m.rows = take(n_nonzeros, sizeof *m.rows);
  m.values = take(n_nonzeros, sizeof *m.values);
  m.b = take(size, sizeof *m.b);
  m.x = take(size, sizeof *m.x);
  int32_t e = 0;
  for (size_t j = 0; j < size; j++) {
    for (size_t i = 0; i < size; i++) {
      if (map[i * size + j]) {
        m.rows[e] = (int32_t)i;
        m.values[e++] = i == j ? 4.0 + 0.001 * (double)random_number(1000) : -1.0;
      }
    }
    m.starts[j + 1] = e;
    m.b[j] = 1.0 + 0.001 * (double)j;
  }
  return m;
}

static matrix make(int32_t n, bool has_random) {
  const size_t size = (size_t)n;
  uint8_t* map = take(size * size, 1);
  for (size_t i = 0; i < size; i++) {
    map[i * size + i] = 1;
    if (i + 1 < size) {
      map[i * size + i + 1] = 1;
      map[(i + 1) * size + i] = 1;
    }
  }
  for (int32_t k = 0; has_random && k < n / 10; k++) {
    map[random_number((uint32_t)n) * size + random_number((uint32_t)n)] = 1;
  }
  const matrix m = from_map(n, map);
  free(map);
  return m;
}

static void drop(matrix* m) {
  free(m->starts);
  free(m->rows);
  free(m->values);
  free(m->b);
  free(m->x);
}

// ---- timing

typedef struct timing {
  void (*run)(void* what);
  void* what;
  int n;      // calls per batch
  double ns;  // per call, the fastest batch
} timing;

static double batch_ns(const timing* t) {
  const int64_t start = yoke__os_now_ns();
  for (int i = 0; i < t->n; i++) {
    t->run(t->what);
  }
  return (double)(yoke__os_now_ns() - start);
}

// All of them in turn, batch by batch: the clock and the neighbours are the same for each.
static void measure(timing timings[], size_t n) {
  for (size_t i = 0; i < n; i++) {
    timings[i].n = 1;
    while (batch_ns(&timings[i]) < BATCH_NS && timings[i].n < 1 << 22) {
      timings[i].n *= 2;
    }
    timings[i].ns = HUGE_VAL;
  }
  for (int k = 0; k < N_BATCHES; k++) {
    for (size_t i = 0; i < n; i++) {
      const double ns = batch_ns(&timings[i]) / timings[i].n;
      timings[i].ns = ns < timings[i].ns ? ns : timings[i].ns;
    }
  }
}

// ---- ours

typedef struct own {
  const matrix* m;
  yoke_arena arena;
  yoke_sparse* lu;
} own;

static void open_own(own* o, const matrix* m, yoke_sparse_kernel kernel) {
  *o = (own){.m = m};
  const yoke_sparse_pattern pattern = {m->n, m->starts, m->rows, NULL};
  const yoke_sparse_settings settings = {.kernel = kernel};
  if (yoke__sparse_create(&pattern, &settings, &o->arena, &o->lu) < 0 ||
      yoke__sparse_factor(o->lu, m->values, NULL) < 0) {
    fprintf(stderr, "no factors, n = %d\n", (int)m->n);
    exit(1);
  }
}

static void close_own(own* o) {
  yoke__sparse_destroy(&o->lu);
  yoke__arena_free(&o->arena);
}

static void own_refactor(void* what) {
  const own* o = what;
  if (yoke__sparse_refactor(o->lu, 0, o->m->values) < 0) {
    exit(1);
  }
}

static void own_solve(void* what) {
  const own* o = what;
  memcpy(o->m->x, o->m->b, (size_t)o->m->n * sizeof *o->m->x);
  yoke__sparse_solve(o->lu, 0, o->m->x);
}

static void own_both(void* what) {
  own_refactor(what);
  own_solve(what);
}

// ---- KLU

#ifdef YOKE_HAVE_KLU
typedef struct peer {
  const matrix* m;
  klu_common common;
  klu_symbolic* symbolic;
  klu_numeric* numeric;
} peer;

static void peer_refactor(void* what) {
  peer* p = what;
  (void)klu_refactor(p->m->starts, p->m->rows, p->m->values, p->symbolic, p->numeric, &p->common);
}

static void peer_solve(void* what) {
  peer* p = what;
  memcpy(p->m->x, p->m->b, (size_t)p->m->n * sizeof *p->m->x);
  (void)klu_solve(p->symbolic, p->numeric, p->m->n, 1, p->m->x, &p->common);
}

static void peer_both(void* what) {
  peer_refactor(what);
  peer_solve(what);
}

static void open_peer(peer* p, const matrix* m) {
  *p = (peer){.m = m};
  (void)klu_defaults(&p->common);
  p->symbolic = klu_analyze(m->n, m->starts, m->rows, &p->common);
  p->numeric = klu_factor(m->starts, m->rows, m->values, p->symbolic, &p->common);
}

static void close_peer(peer* p) {
  (void)klu_free_numeric(&p->numeric, &p->common);
  (void)klu_free_symbolic(&p->symbolic, &p->common);
}
#else
typedef struct peer {
  int nothing;
} peer;

static void peer_refactor(void* what) {
  (void)what;
}

static void peer_solve(void* what) {
  (void)what;
}

static void peer_both(void* what) {
  (void)what;
}

static void open_peer(peer* p, const matrix* m) {
  (void)m;
  p->nothing = 0;
}

static void close_peer(peer* p) {
  (void)p;
}
#endif

// ---- Thomas: the chain and nothing else

typedef struct chain {
  int32_t n;
  double low[N_MAX], mid[N_MAX], high[N_MAX], b[N_MAX], c[N_MAX], x[N_MAX];
} chain;

static void thomas(void* what) {
  chain* t = what;
  const int32_t n = t->n;
  double inverse = 1.0 / t->mid[0];
  t->c[0] = t->high[0] * inverse;
  t->x[0] = t->b[0] * inverse;
  for (int32_t i = 1; i < n; i++) {
    inverse = 1.0 / (t->mid[i] - t->low[i] * t->c[i - 1]);
    t->c[i] = t->high[i] * inverse;
    t->x[i] = (t->b[i] - t->low[i] * t->x[i - 1]) * inverse;
  }
  for (int32_t i = n - 1; i-- > 0;) {
    t->x[i] -= t->c[i] * t->x[i + 1];
  }
  sink = t->x[0];
}

static void make_thomas(chain* t, int32_t n) {
  t->n = n;
  for (int32_t i = 0; i < n; i++) {
    t->low[i] = -1.0;
    t->high[i] = -1.0;
    t->mid[i] = 4.5;
    t->b[i] = 1.0;
  }
}

// ---- tables

static void print_row(int32_t n, bool has_random) {
  static chain t;
  matrix m = make(n, has_random);
  peer p;
  own o, d;
  make_thomas(&t, n);
  open_peer(&p, &m);
  open_own(&o, &m, YOKE_SPARSE_LIST);
  open_own(&d, &m, n <= 100 ? YOKE_SPARSE_DENSE : YOKE_SPARSE_LIST);
  timing all[] = {{.run = peer_refactor, .what = &p}, {.run = peer_solve, .what = &p},
                  {.run = peer_both, .what = &p},     {.run = own_refactor, .what = &o},
                  {.run = own_solve, .what = &o},     {.run = own_both, .what = &o},
                  {.run = own_both, .what = &d},      {.run = own_solve, .what = &d},
                  {.run = thomas, .what = &t}};
  measure(all, sizeof all / sizeof all[0]);
  yoke_sparse_stats stats;
  yoke__sparse_get_stats(o.lu, &stats);
  printf("%5d %-6s %7zu |%8.0f %8.0f %8.0f |%8.0f %8.0f %8.0f |", (int)n,
         has_random ? "+10 %" : "chain", stats.n_factors, all[0].ns, all[1].ns, all[2].ns,
         all[3].ns, all[4].ns, all[5].ns);
  if (n <= 100) {
    printf("%8.0f %7.0f |", all[6].ns, all[7].ns);
  } else {
    printf("%8s %7s |", "-", "-");
  }
  if (has_random) {
    printf("%8s |", "-");
  } else {
    printf("%8.0f |", all[8].ns);
  }
  printf(" %5.2f %5.2f %5.2f\n", all[0].ns / all[3].ns, all[1].ns / all[4].ns,
         all[2].ns / all[5].ns);
  close_own(&o);
  close_own(&d);
  close_peer(&p);
  drop(&m);
}

// Tableau of a ladder with n loops: node voltages and the current of every R, L, C; Kirchhoff's
// rows have nothing on the diagonal.
static matrix make_ladder(int32_t n_loops) {
  const int32_t n_nodes = 2 * n_loops + 1, n = n_nodes + 3 * n_loops;
  matrix m = {.n = n};
  const size_t size = (size_t)n, most = 16 * size;
  m.starts = take(size + 1, sizeof *m.starts);
  m.rows = take(most, sizeof *m.rows);
  m.values = take(most, sizeof *m.values);
  m.b = take(size, sizeof *m.b);
  m.x = take(size, sizeof *m.x);

  // columns of voltages: source row 0; element rows n_nodes + 3 l + {R, L, C} carry their nodes
  int32_t e = 0;
  for (int32_t j = 0; j < n_nodes; j++) {
    const int32_t l = j / 2;
    if (j == 0) {
      m.rows[e] = 0;
      m.values[e++] = 1.0;
    } else if (j % 2 == 0) {
      m.rows[e] = n_nodes + 3 * (l - 1) + 1;  // end of the inductor
      m.values[e++] = -1.0;
      m.rows[e] = n_nodes + 3 * (l - 1) + 2;  // the capacitor
      m.values[e++] = 20.0;
    } else {
      m.rows[e] = n_nodes + 3 * l;
      m.values[e++] = -1.0;
      m.rows[e] = n_nodes + 3 * l + 1;
      m.values[e++] = 1.0;
    }
    if (j % 2 == 0 && l < n_loops) {
      m.rows[e] = n_nodes + 3 * l;
      m.values[e++] = 1.0;
    }
    m.starts[j + 1] = e;
  }
  for (int32_t l = 0; l < n_loops; l++) {
    const int32_t node[3][2] = {{2 * l, 2 * l + 1}, {2 * l + 1, 2 * l + 2}, {2 * l + 2, -1}};
    const double own_value[3] = {-0.1, -20.0, -1.0};
    for (int32_t k = 0; k < 3; k++) {
      if (node[k][0] > 0) {
        m.rows[e] = node[k][0];
        m.values[e++] = -1.0;
      }
      if (node[k][1] > 0) {
        m.rows[e] = node[k][1];
        m.values[e++] = 1.0;
      }
      m.rows[e] = n_nodes + 3 * l + k;
      m.values[e++] = own_value[k];
      m.starts[n_nodes + 3 * l + k + 1] = e;
    }
  }
  for (size_t i = 0; i < size; i++) {
    m.b[i] = 1.0;
  }
  return m;
}

static void print_ladder(int32_t n_loops, bool without_klu) {
  matrix m = make_ladder(n_loops);
  const yoke_sparse_pattern pattern = {m.n, m.starts, m.rows, NULL};
  const yoke_sparse_settings settings = {.kernel = YOKE_SPARSE_LIST, .without_klu = without_klu};
  own o = {.m = &m};
  yoke_status status = yoke__sparse_create(&pattern, &settings, &o.arena, &o.lu);
  const int64_t start = yoke__os_now_ns();
  status = status < 0 ? status : yoke__sparse_factor(o.lu, m.values, NULL);
  const double first_ms = 1e-6 * (double)(yoke__os_now_ns() - start);
  if (status < 0) {
    fprintf(stderr, "ladder: %s\n", yoke_status_text(status));
    exit(1);
  }
  yoke_sparse_stats stats;
  yoke__sparse_get_stats(o.lu, &stats);
  peer p;
  open_peer(&p, &m);
  timing all[] = {{.run = peer_both, .what = &p},
                  {.run = peer_solve, .what = &p},
                  {.run = own_both, .what = &o},
                  {.run = own_solve, .what = &o}};
  measure(all, sizeof all / sizeof all[0]);
  const int64_t again = yoke__os_now_ns();
  status = yoke__sparse_repivot(o.lu, 0, m.values);
  const double repivot_ms = 1e-6 * (double)(yoke__os_now_ns() - again);
  printf(
      "%5d %6d %-4s | %8.2f %8.2f %8s | %7zu %7zu %6.1f |%9.0f %9.0f |%9.0f %9.0f | %5.2f %5.2f\n",
      (int)n_loops, (int)m.n, without_klu ? "own" : "KLU", first_ms, repivot_ms,
      status < 0 ? "failed" : "", stats.n_nonzeros, stats.n_factors, 1e-6 * (double)stats.n_bytes,
      all[1].ns, all[0].ns, all[3].ns, all[2].ns, all[1].ns / all[3].ns, all[0].ns / all[2].ns);
  close_peer(&p);
  close_own(&o);
  drop(&m);
}

int main(void) {
  static const int32_t sizes[] = {4, 6, 8, 10, 14, 20, 30, 50, 100, 200, 500, 1000};
#ifndef YOKE_HAVE_KLU
  printf("built without KLU: its columns and the ratios mean nothing\n");
#endif
  printf("ns, fastest batch           | KLU refactor, solve, both | list refactor, solve, both | "
         "dense "
         "both, solve | Thomas | KLU : list\n");
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    print_row(sizes[i], false);
    print_row(sizes[i], true);
  }
  printf("\nladder tableau: loops, unknowns, pivots | ms factor, repivot | entries of A, of L and "
         "U, MB "
         "| ns KLU solve, refactor + solve | list | KLU : list\n");
  static const int32_t ladders[] = {10, 100, 1000, 5000};
  for (size_t i = 0; i < sizeof ladders / sizeof ladders[0]; i++) {
    print_ladder(ladders[i], true);
    print_ladder(ladders[i], false);
  }
  return 0;
}
