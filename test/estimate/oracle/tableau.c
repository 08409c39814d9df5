#include "tableau.h"

#include "support/check.h"

static real* take(size_t n) {
  real* p = calloc(n + 1, sizeof *p);
  assert_non_null(p);
  return p;
}

// ---- arithmetic

void real_mul(size_t m, size_t k, size_t n, const real A[], const real B[], real C[]) {
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < n; j++) {
      real sum = 0;
      for (size_t l = 0; l < k; l++) {
        sum += A[i * k + l] * B[l * n + j];
      }
      C[i * n + j] = sum;
    }
  }
}

// Gauss and Jordan with row pivots on [A I].
void real_invert(size_t n, real A[]) {
  real* W = take(n * 2 * n);
  const size_t w = 2 * n;
  for (size_t i = 0; i < n; i++) {
    memcpy(W + i * w, A + i * n, n * sizeof *A);
    W[i * w + n + i] = 1;
  }
  for (size_t k = 0; k < n; k++) {
    size_t best = k;
    for (size_t i = k + 1; i < n; i++) {
      best = fabsl(W[i * w + k]) > fabsl(W[best * w + k]) ? i : best;
    }
    assert_true(W[best * w + k] != 0);
    for (size_t j = 0; j < w; j++) {
      const real a = W[k * w + j];
      W[k * w + j] = W[best * w + j];
      W[best * w + j] = a;
    }
    const real pivot = W[k * w + k];
    for (size_t j = 0; j < w; j++) {
      W[k * w + j] /= pivot;
    }
    for (size_t i = 0; i < n; i++) {
      const real factor = W[i * w + k];
      for (size_t j = 0; j < w && i != k && factor != 0; j++) {
        W[i * w + j] -= factor * W[k * w + j];
      }
    }
  }
  for (size_t i = 0; i < n; i++) {
    memcpy(A + i * n, W + i * w + n, n * sizeof *A);
  }
  free(W);
}

void real_expm(size_t n, const real A[], real E[]) {
  // |A| / 2^s <= 1/8, 20 terms: (1/8)^20 / 20! = 4e-37
  real norm = 0;
  for (size_t i = 0; i < n; i++) {
    real sum = 0;
    for (size_t j = 0; j < n; j++) {
      sum += fabsl(A[i * n + j]);
    }
    norm = sum > norm ? sum : norm;
  }
  int s = 0;
  for (; norm > (real)0.125; s++) {
    norm /= 2;
  }
  real *X = take(n * n), *term = take(n * n), *next = take(n * n);
  for (size_t i = 0; i < n * n; i++) {
    X[i] = ldexpl(A[i], -s);
    term[i] = E[i] = i % (n + 1) == 0 ? 1 : 0;
  }
  for (int k = 1; k <= 20; k++) {
    real_mul(n, n, n, term, X, next);
    for (size_t i = 0; i < n * n; i++) {
      term[i] = next[i] / k;
      E[i] += term[i];
    }
  }
  for (int k = 0; k < s; k++) {
    real_mul(n, n, n, E, E, next);
    memcpy(E, next, n * n * sizeof *E);
  }
  free(X);
  free(term);
  free(next);
}

// ---- assembly

// The balance of a node whose temperature is not imposed; returns false for one that is.
static bool fill_balance(const tableau* t, size_t node, real row[]) {
  const yoke_heat_network* w = t->network;
  if (w->nodes[node].fixed != YOKE_HEAT_FREE) {
    return false;
  }
  for (size_t i = 0; i < w->n_sources; i++) {
    row[tableau_source(t, i)] += w->sources[i].node == node ? 1 : 0;
  }
  for (size_t e = 0; e < w->n_resistors; e++) {
    row[tableau_resistor(t, e)] -= w->resistors[e].a == node ? 1 : 0;
    row[tableau_resistor(t, e)] += w->resistors[e].b == node ? 1 : 0;
  }
  for (size_t i = 0; i < w->n_capacities; i++) {
    row[tableau_capacity(t, i)] -= w->capacities[i].node == node ? 1 : 0;
  }
  return true;
}

// Rows of Phi from behind: the last n_resistors are those of the resistors.
static void fill_algebraic(tableau* t, const double R[]) {
  const yoke_heat_network* w = t->network;
  size_t row = 0;
  for (size_t k = 0; k < w->n_nodes; k++) {
    row += fill_balance(t, k, t->Phx + row * t->n) ? 1 : 0;
  }
  for (size_t k = 0; k < w->n_nodes; k++) {
    if (w->nodes[k].fixed != YOKE_HEAT_FREE) {
      t->Phx[row * t->n + k] = 1;
      t->Phv[row++ * t->r + w->nodes[k].fixed] = -1;
    }
  }
  for (size_t i = 0; i < w->n_sources; i++) {
    t->Phx[row * t->n + tableau_source(t, i)] = -1;
    t->Phv[row++ * t->r + w->sources[i].input] = (real)w->sources[i].gain;
  }
  for (size_t e = 0; e < w->n_resistors; e++) {
    t->Phx[row * t->n + w->resistors[e].a] = 1;
    t->Phx[row * t->n + w->resistors[e].b] = -1;
    t->Phx[row++ * t->n + tableau_resistor(t, e)] = -(real)R[e];
  }
  assert_int_equal(row, t->m);
}

static void reduce(tableau* t) {
  const size_t n = t->n, m = t->m, p = t->p, r = t->r;
  memcpy(t->inverse, t->Phx, m * n * sizeof(real));
  memcpy(t->inverse + m * n, t->B0, p * n * sizeof(real));
  real_invert(n, t->inverse);
  for (size_t k = 0; k < n; k++) {
    for (size_t i = 0; i < p; i++) {
      t->T[k * p + i] = t->inverse[k * n + m + i];
    }
    for (size_t j = 0; j < r; j++) {
      real sum = 0;
      for (size_t i = 0; i < m; i++) {
        sum -= t->inverse[k * n + i] * t->Phv[i * r + j];
      }
      t->B[k * r + j] = sum;
    }
  }
}

// (9) to (11) for matrices that are constant in time: T' = B' = 0.
static void make_state_space(tableau* t) {
  const size_t n = t->n, p = t->p, r = t->r;
  real *AT = take(p * p), *product = take(p * (p + r));
  real_mul(p, n, p, t->A, t->T, AT);
  real_invert(p, AT);
  for (size_t i = 0; i < p * p; i++) {
    AT[i] = -AT[i];
  }
  real_mul(p, n, p, t->A1, t->T, product);
  real_mul(p, p, p, AT, product, t->Fc);
  real_mul(p, n, r, t->A1, t->B, product);
  real_mul(p, p, r, AT, product, t->Gc1);
  real_mul(p, n, r, t->A, t->B, product);
  real_mul(p, p, r, AT, product, t->Gc2);
  free(AT);
  free(product);
}

tableau tableau_make(const yoke_heat_network* network, const double R[], const double c[]) {
  const yoke_heat_sizes sizes = yoke__heat_network_sizes(network);
  const size_t n = sizes.n, m = sizes.m, p = sizes.p, r = sizes.r;
  tableau t = {.network = network, .n = n, .m = m, .p = p, .r = r};
  t.Phx = take(m * n);
  t.Phv = take(m * r);
  t.A = take(p * n);
  t.A1 = take(p * n);
  t.B0 = take(p * n);
  t.inverse = take(n * n);
  t.T = take(n * p);
  t.B = take(n * r);
  t.Fc = take(p * p);
  t.Gc1 = take(p * r);
  t.Gc2 = take(p * r);
  fill_algebraic(&t, R);
  for (size_t i = 0; i < p; i++) {
    t.A[i * n + network->capacities[i].node] = -(real)c[i];
    t.A1[i * n + tableau_capacity(&t, i)] = 1;
    t.B0[i * n + network->capacities[i].node] = 1;
  }
  reduce(&t);
  make_state_space(&t);
  return t;
}

void tableau_free(tableau* t) {
  real* parts[] = {t->Phx, t->Phv, t->A,  t->A1,  t->B0, t->inverse,
                   t->T,   t->B,   t->Fc, t->Gc1, t->Gc2};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    free(parts[i]);
  }
  *t = (tableau){0};
}

void tableau_slope(const tableau* t, size_t resistor, real dT[], real dB[]) {
  // the only element that changes: -1 in the row of the resistor and the column of its flow
  const size_t row = t->m - t->network->n_resistors + resistor;
  const size_t flow = tableau_resistor(t, resistor);
  for (size_t k = 0; k < t->n; k++) {
    const real s = t->inverse[k * t->n + row];
    for (size_t i = 0; i < t->p; i++) {
      dT[k * t->p + i] = s * t->T[flow * t->p + i];
    }
    for (size_t j = 0; j < t->r; j++) {
      dB[k * t->r + j] = s * t->B[flow * t->r + j];
    }
  }
}

void tableau_discrete(const tableau* t, double h, real F[], real G[]) {
  const size_t p = t->p, r = t->r, n = p + r;
  real *A = take(n * n), *E = take(n * n);
  for (size_t i = 0; i < p; i++) {
    for (size_t j = 0; j < n; j++) {
      A[i * n + j] = (real)h * (j < p ? t->Fc[i * p + j] : t->Gc1[i * r + j - p]);
    }
  }
  real_expm(n, A, E);
  for (size_t i = 0; i < p; i++) {
    memcpy(F + i * p, E + i * n, p * sizeof *F);
    memcpy(G + i * r, E + i * n + p, r * sizeof *G);
  }
  free(A);
  free(E);
}
