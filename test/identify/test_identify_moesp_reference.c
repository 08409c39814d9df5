// MOESP against SLICOT (IB01AD and IB01BD, METH = 'M'): two codes, one model. Skipped where the
// library is missing.
//
// SLICOT splits the data into past and future and estimates B and D by another least-squares problem,
// so that the two agree to round-off without noise, and with noise as well as two good estimates do.
#include <dlfcn.h>
#include <float.h>

#include "base/base_message.h"
#include "identify/identify_moesp.h"
#include "linalg/linalg_dense.h"
#include "support/check.h"

enum { MAX = 8, N_SAMPLES = 1000, N_WORK = 200000 };

typedef void ib01ad_function(const char* meth, const char* alg, const char* jobd, const char* batch,
                             const char* conct, const char* ctrl, const int* nobr, const int* m,
                             const int* l, const int* nsmp, const double u[], const int* ldu,
                             const double y[], const int* ldy, int* n, double r[], const int* ldr,
                             double sv[], const double* rcond, const double* tol, int iwork[],
                             double dwork[], const int* ldwork, int* iwarn, int* info, size_t l1,
                             size_t l2, size_t l3, size_t l4, size_t l5, size_t l6);
typedef void ib01bd_function(const char* meth, const char* job, const char* jobck, const int* nobr,
                             const int* n, const int* m, const int* l, const int* nsmpl, double r[],
                             const int* ldr, double a[], const int* lda, double c[], const int* ldc,
                             double b[], const int* ldb, double d[], const int* ldd, double q[],
                             const int* ldq, double ry[], const int* ldry, double s[],
                             const int* lds, double k[], const int* ldk, const double* tol,
                             int iwork[], double dwork[], const int* ldwork, int bwork[],
                             int* iwarn, int* info, size_t l1, size_t l2, size_t l3);

static struct {
  ib01ad_function* ib01ad;
  ib01bd_function* ib01bd;
} slicot;

static bool open_slicot(void) {
  void* library = dlopen("libslicot.so.0", RTLD_NOW);
  if (library == NULL) {
    library = dlopen("libslicot.so", RTLD_NOW);
  }
  if (library == NULL) {
    return false;
  }
  // through bytes: a function is no object
  void* at = dlsym(library, "ib01ad_");
  memcpy(&slicot.ib01ad, &at, sizeof at);
  at = dlsym(library, "ib01bd_");
  memcpy(&slicot.ib01bd, &at, sizeof at);
  return slicot.ib01ad != NULL && slicot.ib01bd != NULL;
}

static double random_number(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

// A model, matrices row by row.
typedef struct discrete {
  size_t order, n, m;
  double A[MAX * MAX], B[MAX * MAX], C[MAX * MAX], D[MAX * MAX];
} discrete;

static void transpose_into(size_t rows, size_t columns, int ld, const double from[], double to[]) {
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < columns; j++) {
      to[i * columns + j] = from[j * (size_t)ld + i];
    }
  }
}

// SLICOT's model of samples (y before u) with 2 * rows block rows in all
static void identify_with_slicot(const discrete* s, size_t rows, const double samples[],
                                 discrete* to) {
  static double U[N_SAMPLES * MAX], Y[N_SAMPLES * MAX], R[200 * 200], work[N_WORK];
  static int integers[4000], flags[200];
  double sv[200], a[MAX * MAX], b[MAX * MAX], c[MAX * MAX], d[MAX * MAX], none[MAX * MAX];
  const size_t width = s->n + s->m;
  for (size_t k = 0; k < N_SAMPLES; k++) {
    for (size_t i = 0; i < s->n; i++) {
      Y[i * N_SAMPLES + k] = samples[k * width + i];
    }
    for (size_t j = 0; j < s->m; j++) {
      U[j * N_SAMPLES + k] = samples[k * width + s->n + j];
    }
  }
  const int nobr = (int)rows, m = (int)s->m, l = (int)s->n, nsmp = N_SAMPLES, n_work = N_WORK;
  const int ldr = 200, ld = MAX, wanted = (int)s->order;
  const double rcond = 0.0, tol = -1.0;
  int n = 0, iwarn = 0, info = 0;
  slicot.ib01ad("M", "Q", "M", "O", "N", "N", &nobr, &m, &l, &nsmp, U, &nsmp, Y, &nsmp, &n, R, &ldr,
                sv, &rcond, &tol, integers, work, &n_work, &iwarn, &info, 1, 1, 1, 1, 1, 1);
  assert_int_equal(info, 0);
  n = wanted;
  slicot.ib01bd("M", "A", "N", &nobr, &n, &m, &l, &nsmp, R, &ldr, a, &ld, c, &ld, b, &ld, d, &ld,
                none, &ld, none, &ld, none, &ld, none, &ld, &rcond, integers, work, &n_work, flags,
                &iwarn, &info, 1, 1, 1);
  assert_int_equal(info, 0);
  *to = (discrete){.order = s->order, .n = s->n, .m = s->m};
  transpose_into(s->order, s->order, ld, a, to->A);
  transpose_into(s->order, s->m, ld, b, to->B);
  transpose_into(s->n, s->order, ld, c, to->C);
  transpose_into(s->n, s->m, ld, d, to->D);
}

static void identify_with_yoke(const discrete* s, size_t rows, const double samples[],
                               discrete* to) {
  yoke_moesp* moesp = NULL;
  yoke_moesp_model model;
  YOKE_CATCH(err);
  const yoke_moesp_setup setup = {.n = s->n,
                                  .m = s->m,
                                  .n_rows = rows,
                                  .order = s->order,
                                  .window = N_SAMPLES,
                                  .pairing = YOKE_MOESP_ALIGNED};
  check_ok(yoke__moesp_create(&setup, &moesp, &err.sink));
  check_ok(yoke__moesp_solve(moesp, N_SAMPLES, samples, &model));
  *to = (discrete){.order = s->order, .n = s->n, .m = s->m};
  memcpy(to->A, model.A, s->order * s->order * sizeof(double));
  memcpy(to->B, model.B, s->order * s->m * sizeof(double));
  memcpy(to->C, model.C, s->n * s->order * sizeof(double));
  memcpy(to->D, model.D, s->n * s->m * sizeof(double));
  yoke__moesp_destroy(&moesp);
}

// H[0] = D, H[i] = C A^(i-1) B, n x m each
enum { N_MARKOV = 12 };
static void markov_of(const discrete* s, double H[N_MARKOV][MAX]) {
  double X[MAX * MAX], T[MAX * MAX];
  memcpy(X, s->B, sizeof X);
  memcpy(H[0], s->D, s->n * s->m * sizeof(double));
  for (size_t i = 1; i < N_MARKOV; i++) {
    yoke__mat_mul(s->n, s->order, s->m, s->C, X, H[i]);
    yoke__mat_mul(s->order, s->order, s->m, s->A, X, T);
    memcpy(X, T, sizeof X);
  }
}

// largest difference of Markov parameters
static double distance(const discrete* a, const discrete* b) {
  double Ha[N_MARKOV][MAX], Hb[N_MARKOV][MAX], most = 0.0;
  markov_of(a, Ha);
  markov_of(b, Hb);
  for (size_t i = 0; i < N_MARKOV; i++) {
    for (size_t e = 0; e < a->n * a->m; e++) {
      most = fmax(most, fabs(Ha[i][e] - Hb[i][e]));
    }
  }
  return most;
}

static void random_system(discrete* s, size_t order, size_t n, size_t m, uint64_t* seed) {
  *s = (discrete){.order = order, .n = n, .m = m};
  double radius = 0.0;
  for (size_t i = 0; i < order * order; i++) {
    s->A[i] = random_number(seed);
  }
  check_ok(yoke__spectral_radius(order, s->A, &radius));
  for (size_t i = 0; i < order * order; i++) {
    s->A[i] *= 0.9 / radius;
  }
  for (size_t i = 0; i < order * m; i++) {
    s->B[i] = random_number(seed);
  }
  for (size_t i = 0; i < n * order; i++) {
    s->C[i] = random_number(seed);
  }
  for (size_t i = 0; i < n * m; i++) {
    s->D[i] = random_number(seed);
  }
}

static void record(const discrete* s, uint64_t* seed, double noise, double samples[]) {
  const size_t width = s->n + s->m;
  double x[MAX] = {0}, next[MAX];
  for (size_t k = 0; k < N_SAMPLES; k++) {
    double *y = samples + k * width, *u = y + s->n;
    for (size_t j = 0; j < s->m; j++) {
      u[j] = random_number(seed);
    }
    yoke__mat_vec(s->n, s->order, s->C, x, y);
    yoke__mat_vec_add(s->n, s->m, s->D, u, y);
    yoke__mat_vec(s->order, s->order, s->A, x, next);
    yoke__mat_vec_add(s->order, s->m, s->B, u, next);
    memcpy(x, next, sizeof x);
    for (size_t i = 0; i < s->n; i++) {
      y[i] += noise * random_number(seed);
    }
  }
}

static const size_t shapes[][3] = {{1, 1, 1}, {2, 1, 2}, {3, 1, 1}, {3, 2, 2}, {4, 2, 2}};

// Without noise both find the system.
static void test_without_noise(void** state) {
  (void)state;
  static double samples[N_SAMPLES * MAX];
  uint64_t seed = 2024;
  double most = 0.0;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    for (int trial = 0; trial < 5; trial++) {
      discrete s, ours, theirs;
      random_system(&s, shapes[i][0], shapes[i][1], shapes[i][2], &seed);
      record(&s, &seed, 0.0, samples);
      identify_with_yoke(&s, 8, samples, &ours);
      identify_with_slicot(&s, 8, samples, &theirs);
      check_between(distance(&ours, &theirs), 0.0, 1e-8);
      check_between(distance(&ours, &s), 0.0, 1e-8);
      most = fmax(most, distance(&ours, &theirs));
    }
  }
  print_message("without noise: Markov parameters of the two differ by %.1e at most\n", most);
}

// With 1 % noise: our estimates are as near to the truth as SLICOT's, over all systems.
static void test_with_noise(void** state) {
  (void)state;
  static double samples[N_SAMPLES * MAX];
  uint64_t seed = 77;
  double ours_sum = 0.0, theirs_sum = 0.0;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    for (int trial = 0; trial < 10; trial++) {
      discrete s, ours, theirs;
      random_system(&s, shapes[i][0], shapes[i][1], shapes[i][2], &seed);
      record(&s, &seed, 0.01, samples);
      identify_with_yoke(&s, 8, samples, &ours);
      identify_with_slicot(&s, 8, samples, &theirs);
      ours_sum += log(distance(&ours, &s));
      theirs_sum += log(distance(&theirs, &s));
    }
  }
  // geometric means over 50 systems
  const double ours_mean = exp(ours_sum / 50), theirs_mean = exp(theirs_sum / 50);
  print_message("1 %% noise: mean error of Markov parameters %.2e, SLICOT %.2e\n", ours_mean,
                theirs_mean);
  check_between(ours_mean, 0.0, 1.5 * theirs_mean);
  check_between(ours_mean, 0.0, 0.01);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_without_noise),
      cmocka_unit_test(test_with_noise),
  };
  if (!open_slicot()) {
    printf("skipped: SLICOT is missing (Debian package libslicot0)\n");
    return 77;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
