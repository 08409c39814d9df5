// Filter on q = [z; rho] by sigma points: q and q +- the columns of c sqrt(P), c^2 = n + lambda = alpha^2 n. Each point has its
// own network. With the differences d_i of the images from the image of q itself, mean and covariance are
//
//   mean = image(q) + delta,  delta = sum w d_i,   cov = sum w d_i d_i' + (beta - alpha^2) delta delta',   w = 1 / (2 c^2)
//
// which is the usual form with its large negative weight taken out: it cannot become indefinite. Source: S. Julier, J. Uhlmann;
// E. Wan, R. van der Merwe, The unscented Kalman filter for nonlinear estimation, 2000.
//
// Correction: readings y are states beside q for as long as it takes, with the joint covariance of both, so that they are taken
// one by one as everywhere.
#include <math.h>
#include <string.h>

#include "estimate/estimate_filter_part.h"
#include "estimate/estimate_kalman.h"
#include "linalg/linalg_dense.h"

#define ALPHA                                                                                      \
  0.1  // spread: points of 5 unknowns are 0.22 standard deviations away, so that resistances stay positive
#define BETA 2.0  // for normal distributions

// ---- points

// points: 2 n + 1 rows; the first one is q.
static yoke_status draw(const yoke_estimate* f) {
  const size_t n = f->n;
  double* L = f->work;

  // L L' = P; c = alpha sqrt(n)
  YOKE_TRY(yoke__kalman_root(n, f->P, L));
  const double c = ALPHA * sqrt((double)n);
  memcpy(f->points, f->q, n * sizeof *f->q);
  for (size_t k = 0; k < n; k++) {
    // points in pairs: odd moments cancel
    double *plus = f->points + (1 + 2 * k) * n, *minus = plus + n;
    for (size_t i = 0; i < n; i++) {
      plus[i] = f->q[i] + c * L[i * n + k];
      minus[i] = f->q[i] - c * L[i * n + k];
    }
  }
  return YOKE_OK;
}

// The network at a point, whose unknowns are kept within their bounds, and its inputs.
static yoke_status set_network(yoke_estimate* f, double point[], double v[]) {
  double* theta = point + f->p;

  // a point beyond a bound would have a network without meaning
  for (size_t j = 0; j < f->n_rho; j++) {
    theta[j] = fmin(fmax(theta[j], f->lower[j]), f->upper[j]);
  }
  memcpy(v, f->v, f->r * sizeof *v);
  yoke__theta_apply(f, theta, &f->sigma, v);
  return f->has_elements ? yoke__heat_model_update(&f->sigma) : YOKE_OK;
}

// delta (n) and cov (n x n) of 2 n_points + 1 images; images become differences from the first one.
static void recombine(size_t n, size_t n_points, double images[], double delta[], double cov[]) {
  // w = 1 / (2 c^2), c^2 = alpha^2 n
  const double w = 0.5 / (ALPHA * ALPHA * (double)n_points);
  memset(delta, 0, n * sizeof *delta);
  memset(cov, 0, n * n * sizeof *cov);
  for (size_t k = 1; k <= 2 * n_points; k++) {
    // differences from the image of q: the large weight of the middle point drops out
    double* d = images + k * n;
    for (size_t i = 0; i < n; i++) {
      d[i] -= images[i];
      delta[i] += w * d[i];
    }
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < n; j++) {
        cov[i * n + j] += w * (d[i] * d[j]);
      }
    }
  }

  // + (beta - alpha^2) delta delta'
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      cov[i * n + j] += (BETA - ALPHA * ALPHA) * (delta[i] * delta[j]);
    }
  }
}

// ---- prediction

static yoke_status move_point(yoke_estimate* f, const double slope[], double point[]) {
  const size_t p = f->p;
  double *E = f->work, *Psi1 = E + p * p, *Psi2 = Psi1 + p * p, *work = Psi2 + p * p;
  double* v = f->line;
  YOKE_TRY(set_network(f, point, v));

  // elements differ from point to point, so do the exponentials
  if (f->has_elements) {
    YOKE_TRY(yoke__discrete(p, f->sigma.Fc, f->setup.h, E, Psi1, Psi2, work));
    yoke__filter_move_z(f, &f->sigma, E, Psi1, Psi2, v, slope, point);
  } else {
    yoke__filter_move_z(f, &f->sigma, f->E, f->Psi1, f->Psi2, v, slope, point);
  }
  return YOKE_OK;
}

// Walks, with those of unknowns moving z within the step as in the extended filter.
static void add_noise(const yoke_estimate* f) {
  const size_t p = f->p, n = f->n;
  const double h = f->setup.h;
  for (size_t i = 0; i < p; i++) {
    f->P[i * n + i] += f->setup.z_walk * f->setup.z_walk * h;
  }

  // w [h^3/3 D D', h^2/2 D; ., h] as in estimate_filter_linear.c
  for (size_t j = 0; j < f->n_rho; j++) {
    const double w = yoke__filter_walk_density(f, j), *d = f->D + j * p;
    if (w == 0.0) {
      continue;
    }
    for (size_t a = 0; a < p; a++) {
      for (size_t b = 0; b < p; b++) {
        f->P[a * n + b] += h * h * h / 3.0 * w * (d[a] * d[b]);
      }
      f->P[a * n + p + j] += 0.5 * h * h * w * d[a];
      f->P[(p + j) * n + a] = f->P[a * n + p + j];
    }
    f->P[(p + j) * (n + 1)] += h * w;
  }
}

yoke_status yoke__unscented_predict(yoke_estimate* f, const double slope[]) {
  const size_t n = f->n;

  // D at q for the noise, before the points are drawn
  yoke__filter_rate_slopes(f, f->D);
  YOKE_TRY(draw(f));
  for (size_t k = 0; k <= 2 * n; k++) {
    YOKE_TRY(move_point(f, slope, f->points + k * n));
  }
  recombine(n, n, f->points, f->PH, f->P);

  // mean = image(q) + delta
  for (size_t i = 0; i < n; i++) {
    f->q[i] = f->points[i] + f->PH[i];
  }
  add_noise(f);
  return YOKE_OK;
}

// ---- correction

// [q; y] at a point.
static yoke_status read_point(yoke_estimate* f, double point[], double image[]) {
  const size_t n_sensors = f->setup.n_sensors;
  double *v = f->line, *x = f->work;
  YOKE_TRY(set_network(f, point, v));
  yoke__heat_model_temperatures(&f->sigma, point, v, x);
  memcpy(image, point, f->n * sizeof *image);
  for (size_t i = 0; i < n_sensors; i++) {
    image[f->n + i] = yoke__heat_row_value(&f->sigma, f->setup.sensors[i].row, x, v);
  }
  for (size_t j = 0; j < f->n_rho; j++) {
    const yoke_unknown* unknown = &f->setup.unknowns[j];
    // an offset is added to the reading
    if (unknown->kind == YOKE_UNKNOWN_OFFSET) {
      image[f->n + unknown->targets[0]] += unknown->factors[0] * point[f->p + j];
    }
  }
  return YOKE_OK;
}

static yoke_status take_readings(yoke_estimate* f, const double readings[], const bool have[]) {
  const size_t n_sensors = f->setup.n_sensors, width = f->n + n_sensors;
  for (size_t i = 0; i < n_sensors; i++) {
    if (!yoke__filter_has_reading(readings, have, i)) {
      yoke__filter_note_missing(f, i);
      continue;
    }
    const double r = f->setup.sensors[i].sigma * f->setup.sensors[i].sigma;
    memset(f->joint_H, 0, width * sizeof *f->joint_H);
    // y_i is a state of the joint vector: H picks it out
    f->joint_H[f->n + i] = 1.0;
    const double s = yoke__kalman_variance(width, f->joint_P, f->joint_H, r, f->joint_PH);
    const double e = readings[i] - f->joint_q[f->n + i];
    if (yoke__filter_note_reading(f, i, e, s)) {
      YOKE_TRY(yoke__kalman_correct(width, f->joint_q, f->joint_P, f->joint_H, r, e, s, f->joint_PH,
                                    f->joint_work));
    }
  }
  return YOKE_OK;
}

yoke_status yoke__unscented_correct(yoke_estimate* f, const double readings[], const bool have[]) {
  const size_t n = f->n, width = n + f->setup.n_sensors;
  YOKE_TRY(draw(f));
  for (size_t k = 0; k <= 2 * n; k++) {
    YOKE_TRY(read_point(f, f->points + k * n, f->images + k * width));
  }
  recombine(width, n, f->images, f->joint_PH, f->joint_P);

  // joint mean [q; y]
  for (size_t i = 0; i < width; i++) {
    f->joint_q[i] = f->images[i] + f->joint_PH[i];
  }
  YOKE_TRY(take_readings(f, readings, have));

  // the part of q; y is no longer needed
  memcpy(f->q, f->joint_q, n * sizeof *f->q);
  for (size_t i = 0; i < n; i++) {
    memcpy(f->P + i * n, f->joint_P + i * width, n * sizeof *f->P);
  }
  return YOKE_OK;
}
