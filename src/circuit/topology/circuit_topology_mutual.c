// Coupled inductors: the inductance matrix of every set must be positive definite, or the set would
// give more energy than it stores. With M = k sqrt(L1 L2) it is D K D with D = diag(sqrt(L)), so
// that only the matrix K of the coupling factors (ones on its diagonal) has to be looked at.
//
// Cholesky's method on the envelope of K (A. George, J. Liu, "Computer Solution of Large Sparse
// Positive Definite Systems", 1981): rows from their first entry on. Sets are ordered as written;
// neighbours coupled to neighbours need hardly any room, and a set in which each is coupled to all
// is dense.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "circuit/topology/circuit_topology.h"

#define MAX_SHOWN    60
#define MAX_ENVELOPE 4000000u  // entries of all rows: 32 MB
#define MAX_WORK     5e8       // multiplications, half a second: 1400 inductors each coupled to all
#define ROUNDING     1e-14     // pivots are sums of a row of products of numbers below 1

// The couplings of one set. Rows are its inductors in the order of the netlist.
typedef struct coupled_set {
  uint32_t n;
  uint32_t* first;  // column of the first entry of each row
  size_t* starts;   // of each row in values; the entry (i, j) is values[starts[i] + j - first[i]]
  double* values;
} coupled_set;

// a coupling with its rows, i > j, ordered by set and row
typedef struct pair {
  uint32_t set, i, j;
  uint32_t mutual;
} pair;

static int compare_pairs(const void* left, const void* right) {
  const pair *a = left, *b = right;

  // by set, then by row i, then by column j; of two couplings of one
  // pair the first written comes first
  const uint32_t keys[][2] = {{a->set, b->set}, {a->i, b->i}, {a->j, b->j}, {a->mutual, b->mutual}};
  size_t k = 0;
  while (k < 3 && keys[k][0] == keys[k][1]) {
    k++;
  }
  return keys[k][0] < keys[k][1] ? -1 : keys[k][0] > keys[k][1];
}

// false if it was reported
static bool check_one(yoke_topology* self, const yoke_mutual* mutual) {
  const yoke_element* elements = self->network->elements;
  const uint32_t ends[2] = {mutual->l1, mutual->l2};
  for (int i = 0; i < 2; i++) {
    const yoke_element* element = &elements[ends[i]];
    if (element->kind != YOKE_INDUCTOR) {
      yoke__error(self->messages, mutual->place, "coupling '%.*s': '%.*s' is not an inductor",
                  MAX_SHOWN, mutual->name, MAX_SHOWN, element->name);
      return false;
    }
  }
  if (mutual->l1 == mutual->l2) {
    yoke__error(self->messages, mutual->place, "coupling '%.*s' joins '%.*s' to itself", MAX_SHOWN,
                mutual->name, MAX_SHOWN, elements[mutual->l1].name);
    return false;
  }
  if (!(fabs(mutual->k) < 1)) {
    yoke__error(self->messages, mutual->place,
                "coupling '%.*s': factor %.9g; it must lie between -1 and 1 (0.9999 for windings "
                "without stray field)",
                MAX_SHOWN, mutual->name, mutual->k);
    return false;
  }
  return true;
}

// ---- sets by union-find over the inductors

// pairs of sound couplings with their sets (named by their first inductor) and rows; row_of: of
// each element in its set. Returns the number of pairs; YOKE_NO_INDEX: out of memory.
static uint32_t make_pairs(yoke_topology* self, pair* pairs, uint32_t* roots, uint32_t* row_of) {
  const yoke_network* network = self->network;
  uint32_t n = 0;
  for (uint32_t i = 0; i < network->n_elements; i++) {
    roots[i] = i;
  }
  for (uint32_t m = 0; m < network->n_mutuals; m++) {
    const yoke_mutual* mutual = &network->mutuals[m];
    if (check_one(self, mutual)) {
      const uint32_t p = yoke__root_of(roots, mutual->l1), q = yoke__root_of(roots, mutual->l2);
      // the smaller root stays, so that a set is named by its first inductor
      roots[p < q ? q : p] = p < q ? p : q;
      pairs[n++].mutual = m;
    }
  }

  // rows are numbered within each set, counted at its root
  uint32_t* count = yoke__arena_array(&self->arena, network->n_elements, sizeof *count);
  if (count == NULL) {
    return 0;
  }
  for (uint32_t i = 0; i < network->n_elements; i++) {
    row_of[i] = count[yoke__root_of(roots, i)]++;
  }
  for (uint32_t p = 0; p < n; p++) {
    const yoke_mutual* mutual = &network->mutuals[pairs[p].mutual];
    const uint32_t a = row_of[mutual->l1], b = row_of[mutual->l2];
    pairs[p].set = yoke__root_of(roots, mutual->l1);
    // lower triangle: i > j
    pairs[p].i = a > b ? a : b;
    pairs[p].j = a > b ? b : a;
  }
  return n;
}

// ---- one set

// Envelope of pairs[0..n-1]; YOKE_FULL when it is too large to be checked.
static yoke_status lay_envelope(coupled_set* set, const pair* pairs, uint32_t n) {
  set->n = pairs[n - 1].i + 1;
  set->first = malloc(set->n * sizeof *set->first);
  set->starts = malloc((set->n + (size_t)1) * sizeof *set->starts);
  YOKE_TRY_MEMORY(set->first && set->starts);
  for (uint32_t i = 0; i < set->n; i++) {
    set->first[i] = i;
  }

  // a row of the envelope begins at its first coupling
  for (uint32_t p = 0; p < n; p++) {
    if (pairs[p].j < set->first[pairs[p].i]) {
      set->first[pairs[p].i] = pairs[p].j;
    }
  }
  size_t size = 0;
  double work = 0;
  for (uint32_t i = 0; i < set->n; i++) {
    const size_t width = (size_t)(i - set->first[i]) + 1;
    set->starts[i] = size;
    size += width;
    // row i takes about width^2 / 2 multiplications
    work += 0.5 * (double)width * (double)width;
    if (size > MAX_ENVELOPE || work > MAX_WORK) {
      return YOKE_FULL;
    }
  }
  set->starts[set->n] = size;
  set->values = calloc(size, sizeof *set->values);
  return set->values == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

// sum of products of rows i and j over the columns both have, below column j
static double row_product(const coupled_set* set, uint32_t i, uint32_t j) {
  // only columns that both rows have
  const uint32_t from = set->first[i] > set->first[j] ? set->first[i] : set->first[j];
  const double* a = set->values + set->starts[i] - set->first[i] + from;
  const double* b = set->values + set->starts[j] - set->first[j] + from;
  double sum = 0;
  for (uint32_t k = 0; k < j - from && from < j; k++) {
    sum += a[k] * b[k];
  }
  return sum;
}

// L L' = K in place; the row whose pivot is not positive, or n
static uint32_t factor(coupled_set* set) {
  for (uint32_t i = 0; i < set->n; i++) {
    double* row = set->values + set->starts[i];
    double pivot = 1;
    // l_ij = (k_ij - sum over c < j of l_ic l_jc) / l_jj; l_jj is the last entry of row j
    for (uint32_t j = set->first[i]; j < i; j++) {
      double* entry = &row[j - set->first[i]];
      *entry = (*entry - row_product(set, i, j)) / set->values[set->starts[j + 1] - 1];
      pivot -= *entry * *entry;  // l_ii^2 = 1 - sum of l_ij^2
    }
    // round-off of a sum of i + 1 products of numbers below 1
    if (!(pivot > ROUNDING * (double)(i + 1))) {
      return i;
    }
    row[i - set->first[i]] = sqrt(pivot);
  }
  return set->n;
}

static void name_set(yoke_topology* self, const pair* pairs, uint32_t n, yoke_name_list* list) {
  const yoke_mutual* mutuals = self->network->mutuals;
  for (uint32_t p = 0; p < n; p++) {
    yoke__list_add(list, mutuals[pairs[p].mutual].name);
  }
}

// Fills in the factors; two couplings of one pair are reported and the second left out.
static void fill_set(yoke_topology* self, const pair* pairs, uint32_t n, bool is_laid,
                     coupled_set* set) {
  const yoke_mutual* mutuals = self->network->mutuals;
  for (uint32_t p = 0; p < n; p++) {
    const yoke_mutual* mutual = &mutuals[pairs[p].mutual];
    if (p > 0 && pairs[p].i == pairs[p - 1].i && pairs[p].j == pairs[p - 1].j) {
      yoke__error(self->messages, mutual->place,
                  "coupling '%.*s' joins inductors that '%.*s' couples already", MAX_SHOWN,
                  mutual->name, MAX_SHOWN, mutuals[pairs[p - 1].mutual].name);
    } else if (is_laid) {
      set->values[set->starts[pairs[p].i] + pairs[p].j - set->first[pairs[p].i]] = mutual->k;
    }
  }
}

// pairs[0..n-1] are of one set
static yoke_status check_set(yoke_topology* self, const pair* pairs, uint32_t n) {
  const yoke_mutual* first = &self->network->mutuals[pairs[0].mutual];
  coupled_set set = {0};
  yoke_name_list list = {.n = 0};
  const yoke_status status = lay_envelope(&set, pairs, n);
  if (status != YOKE_NO_MEMORY) {
    fill_set(self, pairs, n, status == YOKE_OK, &set);
    name_set(self, pairs, n, &list);
  }
  if (status == YOKE_FULL) {
    yoke__message_add(self->messages, YOKE_NOTE, first->place,
                      "couplings %s: too many to check that their inductances store energy",
                      yoke__list_finish(&list));
  } else if (status == YOKE_OK && factor(&set) < set.n) {
    yoke__error(self->messages, first->place,
                "couplings %s: their %u inductors would store negative energy (the inductance "
                "matrix is not positive definite); lower the factors",
                yoke__list_finish(&list), set.n);
  }
  free(set.first);
  free(set.starts);
  free(set.values);
  return status == YOKE_NO_MEMORY ? status : YOKE_OK;
}

yoke_status yoke__topology_check_mutuals(yoke_topology* self) {
  const yoke_network* network = self->network;
  if (network->n_mutuals == 0) {
    return YOKE_OK;
  }
  pair* pairs = yoke__arena_array(&self->arena, network->n_mutuals, sizeof *pairs);
  uint32_t* roots = yoke__arena_array(&self->arena, network->n_elements, sizeof *roots);
  uint32_t* row_of = yoke__arena_array(&self->arena, network->n_elements, sizeof *row_of);
  YOKE_TRY(yoke__arena_status(&self->arena));
  const uint32_t n = make_pairs(self, pairs, roots, row_of);
  YOKE_TRY(yoke__arena_status(&self->arena));
  qsort(pairs, n, sizeof *pairs, compare_pairs);
  for (uint32_t start = 0, end = 0; start < n; start = end) {
    while (end < n && pairs[end].set == pairs[start].set) {
      end++;
    }
    YOKE_TRY(check_set(self, pairs + start, end - start));
  }
  return YOKE_OK;
}
