// Recursive least squares with exponential forgetting in factorised form.
//
// Plain form, per output with regressor phi:
//
//   g = P phi / (lambda + phi^T P phi),   p := p + g (y - phi^T p),   P := (P - g phi^T P) / lambda
//
// Here P = U D U^T with U unit upper triangular and D diagonal is never formed; U and D are renewed
// column by column, so that P stays symmetric and positive whatever round-off does.
// Source: G. J. Bierman, Factorization Methods for Discrete Sequential Estimation (1977), chapter V;
// forgetting enters as the variance lambda of the measurement and a division of D by it.
//
// Guards: a regressor far below the largest one seen is left out (idle phases carry no information,
// forgetting would only blow P up); the trace of P stays below its start value n_parameters * P0;
// numbers that are not finite never reach the parameters.
//
// Jacobians are read off the first lags, Sy = a_1, S0 = 0, S1 = b_1. At T^k all that the other lags need has been seen:
// they are a number h that is added, y^{k+1} = a_1 y^k + b_1 u^{k+1} + h, and a unit with N states and no feedthrough is
// predicted exactly by N = M. (The source makes one model of first order of several lags, by Gilbert's realisation: the mean
// of the poles in place of a_1, which makes two lags worse than one.)
// Source: doctoral thesis on model-based pre-step stabilisation (Graz 2020), (2.86) to (2.88).
#include "identify/identify_rls.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/base_check.h"

#define IDLE_SHARE  1e-12  // of the largest phi^T phi seen
#define MAX_SIGNALS 4096   // outputs or inputs: sizes stay far from overflow

// ---- memory

static size_t count_parameters(const yoke_rls_setup* s) {
  return s->n_y_lags + s->n_u_lags * s->m;
}

static size_t count_factors(size_t q) {
  return q * (q - 1) / 2;
}

static const char* fault_of(const yoke_rls_setup* s) {
  if (s->n == 0 || s->n > MAX_SIGNALS || s->m > MAX_SIGNALS) {
    return "1 to 4096 outputs and up to 4096 inputs";
  }
  if (s->n_y_lags < 1 || s->n_y_lags > YOKE_RLS_MAX_LAGS || s->n_u_lags < 1 ||
      s->n_u_lags > YOKE_RLS_MAX_LAGS) {
    return "1 to 8 lags of outputs and of inputs";
  }
  if (!(s->forgetting > 0.0 && s->forgetting <= 1.0)) {
    return "a forgetting factor above 0 and up to 1";
  }
  if (!(s->start_variance > 0.0 && yoke__is_finite(s->start_variance))) {
    return "a positive covariance at the start";
  }
  return NULL;
}

// Doubles behind the counts.
static uint64_t count_doubles(const yoke_rls_setup* s) {
  const uint64_t q = count_parameters(s), n = s->n;
  return n * s->n_y_lags + (uint64_t)s->n_u_lags * s->m + 2 * n + 2 * n * q +
         n * (q * (q - 1) / 2) + 2 * q + 1;
}

static size_t counts_size(void) {
  return (sizeof(yoke_rls_counts) + 63) / 64 * 64;
}

size_t yoke__rls_size(const yoke_rls_setup* setup) {
  if (fault_of(setup) != NULL) {
    return 0;
  }
  const uint64_t n = count_doubles(setup);
  return n > (SIZE_MAX - counts_size()) / sizeof(double)
             ? 0
             : counts_size() + (size_t)n * sizeof(double);
}

static double* take(double** at, size_t n) {
  double* piece = *at;
  *at += n;
  return piece;
}

yoke_status yoke__rls_prepare(yoke_rls* rls, const yoke_rls_setup* setup, void* block,
                              const yoke_sink* sink) {
  const char* fault = fault_of(setup);
  if (fault != NULL || yoke__rls_size(setup) == 0) {
    return yoke_fail(sink, YOKE_BAD_ARG, "recursive least squares needs %s",
                     fault == NULL ? "less" : fault);
  }
  const size_t n = setup->n, q = count_parameters(setup);
  memset(block, 0, yoke__rls_size(setup));
  *rls = (yoke_rls){.setup = *setup, .n_parameters = q, .counts = block};
  double* at = (double*)(void*)((char*)block + counts_size());

  // y lags of each output, then u lags of each input
  rls->history = take(&at, n * setup->n_y_lags + setup->n_u_lags * setup->m);
  rls->residual = take(&at, n);
  rls->largest = take(&at, n + 1);
  rls->parameters = take(&at, n * q);
  rls->variances = take(&at, n * q);
  rls->factors = take(&at, n * count_factors(q));
  rls->phi = take(&at, q);
  rls->gain = take(&at, q);
  assert((char*)at == (char*)block + yoke__rls_size(setup));
  yoke__rls_restart(rls, setup->start_variance);
  return YOKE_OK;
}

// the cap of the mean variance, kept behind the running maxima
static double* cap_of(const yoke_rls* rls) {
  return rls->largest + rls->setup.n;
}

static void reset_covariance(const yoke_rls* rls, size_t output, double variance) {
  const size_t q = rls->n_parameters, n_factors = count_factors(q);
  for (size_t j = 0; j < q; j++) {
    rls->variances[output * q + j] = variance;
  }
  memset(rls->factors + output * n_factors, 0, n_factors * sizeof(double));
}

void yoke__rls_restart(yoke_rls* rls, double variance) {
  *cap_of(rls) = fmax(variance, rls->setup.start_variance);
  for (size_t i = 0; i < rls->setup.n; i++) {
    reset_covariance(rls, i, variance);
    rls->largest[i] = 0.0;
  }
}

void yoke__rls_forget_history(yoke_rls* rls) {
  rls->counts->n_samples = 0;
}

// ---- one regression

// U and D of one output take in phi; gain := unscaled gain, trace := that of the new P. Returns
// 1 / (lambda + phi^T P phi).
static double renew_factors(size_t q, double lambda, const double phi[], double D[], double U[],
                            double gain[], double* trace) {
  const double inverse_lambda = 1.0 / lambda;
  double alpha = lambda, inverse = inverse_lambda, sum = 0.0, *column = U;
  // column j of U has j elements above the diagonal
  for (size_t j = 0; j < q; column += j++) {
    // Bierman: f = U' phi, v = D f, alpha_j = alpha_(j-1) + f_j v_j
    double f = phi[j], square = 1.0;
    for (size_t i = 0; i < j; i++) {
      f += column[i] * phi[i];
    }
    const double v = D[j] * f;
    const double alpha_next = alpha + f * v;
    const double inverse_next = 1.0 / alpha_next;
    // D_j := D_j alpha_(j-1) / (alpha_j lambda)
    D[j] *= alpha * inverse_next * inverse_lambda;
    const double turn = -f * inverse;
    for (size_t i = 0; i < j; i++) {
      // u_ij := u_ij - (f_j / alpha_(j-1)) g_i, g_i := g_i + u_ij v_j, both from the old u_ij
      const double old = column[i];
      const double next = old + gain[i] * turn;
      column[i] = next;
      gain[i] += old * v;
      square += next * next;
    }
    // trace(P) = sum of D_j |u_j|^2, at no extra cost here
    sum += D[j] * square;
    gain[j] = v;
    alpha = alpha_next;
    inverse = inverse_next;
  }
  *trace = sum;

  // 1 / alpha_q: the gain is g times this
  return inverse;
}

static double trace_of(size_t q, const double D[], const double U[]) {
  double trace = 0.0;
  for (size_t j = 0; j < q; j++) {
    double sum = 1.0;
    for (size_t i = 0; i < j; i++, U++) {
      sum += *U * *U;
    }
    trace += D[j] * sum;
  }
  return trace;
}

// Keeps trace(P) below q times the cap: P is the sum of D_j u_j u_j^T over the columns of U, and those
// that outgrew the cap are cut to it. To scale all of P would take the forgetting from the directions
// that are excited.
static void limit_trace(const yoke_rls* rls, double trace, double D[], const double U[]) {
  const size_t q = rls->n_parameters;
  const double cap = *cap_of(rls);
  if (!(trace > (double)q * cap)) {
    return;
  }
  for (size_t j = 0; j < q; j++) {
    double sum = 1.0;
    for (size_t i = 0; i < j; i++, U++) {
      // |u_j|^2, with the 1 on the diagonal
      sum += *U * *U;
    }
    if (D[j] * sum > cap) {
      D[j] = cap / sum;
    }
  }
  rls->counts->n_capped++;
}

// p += gain * scale * error. False if that is not finite: p is spoilt then.
static bool renew_parameters(size_t q, const double gain[], double scaled_error, double p[]) {
  // one sum catches any element: NaN and infinities do not cancel to something finite
  double sum = 0.0;
  for (size_t j = 0; j < q; j++) {
    p[j] += gain[j] * scaled_error;
    sum += p[j] * 0.0;
  }
  return yoke__is_finite(sum);
}

// The regression of one output. False if a number was not finite.
static bool regress(const yoke_rls* rls, size_t output, const double phi[], double y) {
  const size_t q = rls->n_parameters;
  double *D = rls->variances + output * q, *U = rls->factors + output * count_factors(q);
  double *p = rls->parameters + output * q, square = 0.0, error = y, trace;
  for (size_t j = 0; j < q; j++) {
    // error before the update, y - phi' p
    square += phi[j] * phi[j];
    error -= phi[j] * p[j];
  }
  if (square > rls->largest[output]) {
    rls->largest[output] = square;
  }
  rls->residual[output] = error;
  if (!(square > IDLE_SHARE * rls->largest[output])) {
    rls->counts->n_idle++;
    return yoke__is_finite(square);
  }
  const double scale = renew_factors(q, rls->setup.forgetting, phi, D, U, rls->gain, &trace);
  limit_trace(rls, trace, D, U);
  // scale 0 means that phi^T P phi overflowed
  if (!(scale > 0.0) || !yoke__is_finite(trace)) {
    return false;
  }
  rls->counts->n_updates++;

  // error after the update: lambda / (lambda + phi' P phi) times the one before
  rls->residual[output] = rls->setup.forgetting * scale * error;
  return renew_parameters(q, rls->gain, scale * error, p);
}

// ---- samples

// x[0] := value, the others one back
static void push(size_t n, double x[], double value) {
  // a lag or two: as a chain, since a call to move them would cost more
  for (size_t i = 0; i < n; i++) {
    const double old = x[i];
    x[i] = value;
    value = old;
  }
}

// Squares overflowed: this output starts from zero, since a number of that size has spoilt its
// parameters as well.
static void recover(yoke_rls* rls, size_t output) {
  const size_t q = rls->n_parameters;
  reset_covariance(rls, output, rls->setup.start_variance);
  memset(rls->parameters + output * q, 0, q * sizeof(double));
  rls->largest[output] = 0.0;
  rls->counts->n_resets++;
}

// Are all lags of the next regression known?
static bool is_filled(const yoke_rls* rls) {
  const size_t N = rls->setup.n_y_lags, M = rls->setup.n_u_lags;
  return rls->counts->n_samples >= (int64_t)(N > M ? N : M);
}

void yoke__rls_update(yoke_rls* rls, const double y[], const double u[]) {
  const size_t n = rls->setup.n, m = rls->setup.m;
  const size_t N = rls->setup.n_y_lags, M = rls->setup.n_u_lags;
  double* inputs = rls->history + n * N;
  if (!yoke__are_finite(n, y) || !yoke__are_finite(m, u)) {
    yoke__rls_forget_history(rls);
    yoke__rls_restart(rls, rls->setup.start_variance);
    rls->counts->n_resets++;
    return;
  }

  // the input of this step belongs to its own regression, the output to the next one
  for (size_t j = 0; j < m; j++) {
    push(M, inputs + j * M, u[j]);
  }
  const bool has_past = is_filled(rls);
  // the history of a single output is its regressor
  double* phi = n == 1 ? rls->history : rls->phi;
  if (n > 1) {
    memcpy(phi + N, inputs, M * m * sizeof *inputs);
  }
  for (size_t i = 0; i < n; i++) {
    double* outputs = rls->history + i * N;
    if (n > 1) {
      memcpy(phi, outputs, N * sizeof *outputs);
    }
    if (has_past && !regress(rls, i, phi, y[i])) {
      recover(rls, i);
    }
    push(N, outputs, y[i]);
  }
  rls->counts->n_samples++;
}

// ---- parameters

void yoke__rls_read(const yoke_rls* rls, double parameters[]) {
  memcpy(parameters, rls->parameters, rls->setup.n * rls->n_parameters * sizeof *parameters);
}

yoke_status yoke__rls_load(yoke_rls* rls, const double parameters[], double variance) {
  const size_t count = rls->setup.n * rls->n_parameters;
  if (!yoke__are_finite(count, parameters) || !(variance > 0.0 && yoke__is_finite(variance))) {
    return YOKE_BAD_ARG;
  }
  memcpy(rls->parameters, parameters, count * sizeof *parameters);
  yoke__rls_restart(rls, variance);
  return YOKE_OK;
}

double yoke__rls_mean_variance(const yoke_rls* rls, size_t output) {
  const size_t q = rls->n_parameters;
  return trace_of(q, rls->variances + output * q, rls->factors + output * count_factors(q)) /
         (double)q;
}

bool yoke__rls_is_sound(const yoke_rls* rls) {
  const size_t count = rls->setup.n * rls->n_parameters;
  for (size_t i = 0; i < count; i++) {
    if (!(rls->variances[i] > 0.0) || !yoke__is_finite(rls->variances[i])) {
      return false;
    }
  }
  const bool has_memory = rls->setup.n_y_lags > 1 || rls->setup.n_u_lags > 1;
  return rls->counts->n_updates >= (int64_t)rls->setup.n && (!has_memory || is_filled(rls));
}

void yoke__rls_jacobian(const yoke_rls* rls, yoke_jacobian_discrete* to) {
  const size_t n = rls->setup.n, m = rls->setup.m;
  const size_t N = rls->setup.n_y_lags, M = rls->setup.n_u_lags;
  for (size_t i = 0; i < n; i++) {
    const double* p = rls->parameters + i * rls->n_parameters;
    for (size_t j = 0; j < n; j++) {
      to->Sy[i * n + j] = j == i ? p[0] : 0;
    }
    for (size_t j = 0; j < m; j++) {
      to->S1[i * m + j] = p[N + j * M];
      to->S0[i * m + j] = 0;
    }
  }
}

void yoke__rls_memory(const yoke_rls* rls, double to[]) {
  const size_t n = rls->setup.n, m = rls->setup.m;
  const size_t N = rls->setup.n_y_lags, M = rls->setup.n_u_lags;
  const double* inputs = rls->history + n * N;
  for (size_t i = 0; i < n; i++) {
    const double *p = rls->parameters + i * rls->n_parameters, *outputs = rls->history + i * N;
    double sum = 0.0;
    for (size_t l = 1; l < N; l++) {
      sum += p[l] * outputs[l];
    }
    // the input that has just acted is the second lag of the next step
    for (size_t j = 0; j < m; j++) {
      for (size_t l = 1; l < M; l++) {
        sum += p[N + j * M + l] * inputs[j * M + l - 1];
      }
    }
    to[i] = sum;
  }
}
