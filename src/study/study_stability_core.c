// The part of a step matrix that can have eigenvalues other than 0; see study_stability.h.
//
//   z^{k+1} = M z^k
//
// Much of z says nothing of its own: memory that a method does not read or leaves at 0, outputs that are states, the same
// signal sent to several units. An entry that is 0 after every step, or that no step reads, has the eigenvalue 0 and is left
// out. Entries i and j that are equal after every step are equal in every eigenvector of another eigenvalue, so that one
// stands for both: its column is M (e_i + e_j). Both are found by stepping a few vectors of random numbers: what is equal to
// the last bit in all of them comes from the same sums. 64 masses in a chain under parabolas: 384 numbers in place of 1012.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "study/study_stability.h"

#define N_PROBES 2
// Below this size a step matrix costs nothing, and is taken as it is.
#define MIN_SIZE 96

// Numbers of either sign, none of them special (Steele, Lea and Flood, OOPSLA 2014: SplitMix64).
static double random_number(uint64_t* state) {
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;

  // 53 bits to [-1, 1)
  return (double)(x >> 11) * 0x1p-52 - 1;
}

// An entry of z with what the probes left in it.
typedef struct entry {
  const double* left;  // N_PROBES
  size_t index;
} entry;

static int compare_left(const double p[], const double q[]) {
  for (size_t i = 0; i < N_PROBES; i++) {
    if (p[i] != q[i]) {
      return p[i] < q[i] ? -1 : 1;
    }
  }
  return 0;
}

static int compare(const void* a, const void* b) {
  const entry *p = a, *q = b;
  const int order = compare_left(p->left, q->left);
  return order != 0 ? order : p->index < q->index ? -1 : 1;
}

static bool is_zero(const double* left) {
  for (size_t i = 0; i < N_PROBES; i++) {
    if (left[i] != 0) {
      return false;
    }
  }
  return true;
}

// stands_for[i]: the first entry that is always equal to i; n if i is always 0. False: the step overflows.
static bool find_equals(yoke_stability* self, size_t n, double z[], double left[], entry entries[],
                        size_t stands_for[]) {
  uint64_t seed = 1;
  for (size_t k = 0; k < N_PROBES; k++) {
    // one step of random numbers: equal results in two probes come from the same sums
    for (size_t i = 0; i < n; i++) {
      z[i] = random_number(&seed);
    }
    yoke__stability_step(self, z, NULL, NULL);
    for (size_t i = 0; i < n; i++) {
      left[i * N_PROBES + k] = z[i];
      if (!yoke__is_finite(z[i])) {
        return false;
      }
    }
  }
  for (size_t i = 0; i < n; i++) {
    entries[i] = (entry){left + i * N_PROBES, i};
  }
  qsort(entries, n, sizeof *entries, compare);

  // entries in the order of their results: equal ones are neighbours
  for (size_t i = 0; i < n; i++) {
    const bool is_same = i > 0 && compare_left(entries[i].left, entries[i - 1].left) == 0;
    stands_for[entries[i].index] = is_zero(entries[i].left) ? n
                                   : is_same                ? stands_for[entries[i - 1].index]
                                                            : entries[i].index;
  }
  return true;
}

static size_t count(size_t n, const bool flags[]) {
  size_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    sum += flags[i];
  }
  return sum;
}

// A vector with random numbers where is_in, equal ones where entries are.
static void fill_some(size_t n, const size_t stands_for[], const bool is_in[], double z[]) {
  uint64_t seed = 2;
  for (size_t i = 0; i < n; i++) {
    const double x = random_number(&seed);
    z[i] = stands_for[i] == i && is_in[i] ? x : 0;
  }
  for (size_t i = 0; i < n; i++) {
    if (stands_for[i] < n) {
      z[i] = z[stands_for[i]];
    }
  }
}

// Leaves out what no step reads, as far as whole runs of entries go: halves of halves, down to 8 entries. Columns that are
// not found cost time, nothing else.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the logarithm of their number
static void drop_unread(yoke_stability* self, size_t n, const size_t stands_for[], size_t from,
                        size_t to, double z[], bool is_in[], bool is_kept[]) {
  for (size_t i = 0; i < n; i++) {
    is_in[i] = i >= from && i < to && is_kept[i];
  }
  if (count(n, is_in) == 0) {
    return;
  }
  fill_some(n, stands_for, is_in, z);
  yoke__stability_step(self, z, NULL, NULL);
  bool is_read = false;

  // a column is read if any kept entry answers to it
  for (size_t i = 0; i < n && !is_read; i++) {
    is_read = is_kept[i] && z[i] != 0;
  }
  if (!is_read) {
    memset(is_kept + from, 0, (to - from) * sizeof *is_kept);
  } else if (to - from > 8) {
    const size_t middle = from + (to - from) / 2;
    drop_unread(self, n, stands_for, from, middle, z, is_in, is_kept);
    drop_unread(self, n, stands_for, middle, to, z, is_in, is_kept);
  }
}

// Columns of the entries that are kept, each with all that are equal to it; rows of the same. Returns their number.
static size_t fill_columns(yoke_stability* self, size_t n, const size_t stands_for[],
                           const bool is_kept[], double z[], double M[]) {
  const size_t n_kept = count(n, is_kept);
  size_t column = 0;
  for (size_t j = 0; j < n; j++) {
    if (!is_kept[j]) {
      continue;
    }
    // column j of M: M e_j summed over all entries that j stands for
    for (size_t i = 0; i < n; i++) {
      z[i] = stands_for[i] == j ? 1 : 0;
    }
    yoke__stability_step(self, z, NULL, NULL);
    size_t row = 0;
    for (size_t i = 0; i < n; i++) {
      if (is_kept[i]) {
        M[row++ * n_kept + column] = z[i];
      }
    }
    column++;
  }
  return n_kept;
}

static yoke_status whole(yoke_stability* self, double M[], size_t* size) {
  *size = yoke__stability_size(self);
  yoke__stability_matrix(self, M);
  return YOKE_OK;
}

yoke_status yoke__stability_core(yoke_stability* self, double M[], size_t* size) {
  const size_t n = yoke__stability_size(self);
  if (n < MIN_SIZE) {
    return whole(self, M, size);
  }
  double* z = calloc((1 + N_PROBES) * n, sizeof *z);
  entry* entries = calloc(n, sizeof *entries);
  size_t* stands_for = calloc(n, sizeof *stands_for);
  bool* flags = calloc(2 * n, sizeof *flags);
  yoke_status status = YOKE_NO_MEMORY;
  if (z != NULL && entries != NULL && stands_for != NULL && flags != NULL) {
    bool *is_kept = flags, *is_in = flags + n;
    status = YOKE_OK;
    if (find_equals(self, n, z, z + n, entries, stands_for)) {
      for (size_t i = 0; i < n; i++) {
        is_kept[i] = stands_for[i] == i;
      }
      // what was read by nothing but what has been left out goes too: a history of several values, one after the other
      for (size_t before = n + 1, kept = n; kept < before;) {
        before = kept;
        drop_unread(self, n, stands_for, 0, n, z, is_in, is_kept);
        kept = count(n, is_kept);
      }
      *size = fill_columns(self, n, stands_for, is_kept, z, M);
    } else {
      status = whole(self, M, size);
    }
  }
  free(z);
  free(entries);
  free(stands_for);
  free(flags);
  return status;
}
