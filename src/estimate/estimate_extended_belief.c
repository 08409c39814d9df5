// Correction and prediction of q = [d; e], e with the offsets of sensors: estimate_extended.h has the equations.
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "estimate/estimate_extended_part.h"
#include "estimate/estimate_kalman.h"
#include "linalg/linalg_dense.h"

void yoke__belief_start(const yoke_extended* x, yoke_belief* b) {
  const size_t n = x->n, n_d = x->setup.n_states;

  // P_0 = diag(sd^2 of the states at the start, sd^2 of the unknowns)
  memset(b->q, 0, n * sizeof *b->q);
  memset(b->P, 0, n * n * sizeof *b->P);
  for (size_t i = 0; i < n_d && x->setup.state_start != NULL; i++) {
    b->P[i * (n + 1)] = x->setup.state_start[i] * x->setup.state_start[i];
  }
  for (size_t j = 0; j < x->setup.n_unknowns; j++) {
    const yoke_deviation_unknown* u = &x->setup.unknowns[j];
    b->q[n_d + j] = u->start - x->applied[j];
    b->P[(n_d + j) * (n + 1)] = u->sd * u->sd;
  }
}

void yoke__belief_copy(const yoke_extended* x, const yoke_belief* from, yoke_belief* to) {
  memcpy(to->q, from->q, x->n * sizeof *to->q);
  memcpy(to->P, from->P, x->n * x->n * sizeof *to->P);
}

// ---- correction

double yoke__belief_expect(const yoke_extended* x, const yoke_belief* b, size_t output,
                           double H[]) {
  const size_t n_d = x->setup.n_states;
  double value = x->y[output];
  memcpy(H, x->motion.C + output * n_d, n_d * sizeof *H);

  // H = [C D], with 0 for unknowns that are no input
  for (size_t j = 0; j < x->setup.n_unknowns; j++) {
    const size_t c = x->column[j];
    H[n_d + j] = c == YOKE_NO_COLUMN ? 0.0 : x->motion.D[output * x->n_inputs + c];
  }

  // y = y_0 + C d + D e
  for (size_t i = 0; i < x->n; i++) {
    value += H[i] * b->q[i];
  }
  return value;
}

static yoke_status take_reading(const yoke_extended* x, yoke_belief* b, size_t s, double reading,
                                double* innovation, double* sd, uint64_t* n_gated) {
  const yoke_deviation_sensor* sensor = &x->setup.sensors[s];
  const double r = sensor->sigma * sensor->sigma;
  double value = yoke__belief_expect(x, b, sensor->output, x->H);

  // the offset of a sensor is added to its reading
  for (size_t j = 0; j < x->setup.n_unknowns; j++) {
    if (x->setup.unknowns[j].sensor == s) {
      x->H[x->setup.n_states + j] = 1.0;
      value += x->applied[j] + b->q[x->setup.n_states + j];
    }
  }

  // S = H P H' + r
  const double S = yoke__kalman_variance(x->n, b->P, x->H, r, x->PH);
  *innovation = reading - value;
  *sd = sqrt(S);
  if (x->setup.gate > 0.0 && fabs(*innovation) > x->setup.gate * *sd) {
    *n_gated += 1;
    // an outlier leaves q and P as they are
    return YOKE_OK;
  }
  return yoke__kalman_correct(x->n, b->q, b->P, x->H, r, *innovation, S, x->PH, x->work);
}

yoke_status yoke__belief_correct(const yoke_extended* x, yoke_belief* b, const double readings[],
                                 const bool have[], double innovations[], double sds[],
                                 uint64_t* n_gated) {
  for (size_t s = 0; s < x->setup.n_sensors; s++) {
    innovations[s] = sds[s] = (double)NAN;
  }
  for (size_t s = 0; s < x->setup.n_sensors; s++) {
    if (have[s] && yoke__is_finite(readings[s]) &&
        take_reading(x, b, s, readings[s], &innovations[s], &sds[s], n_gated) < 0) {
      return YOKE_DIVERGED;
    }
  }
  return yoke__are_finite(x->n, b->q) ? YOKE_OK : YOKE_DIVERGED;
}

void yoke__belief_keep_bounds(const yoke_extended* x, yoke_belief* b, uint64_t hits[]) {
  for (size_t j = 0; j < x->setup.n_unknowns; j++) {
    const yoke_deviation_unknown* u = &x->setup.unknowns[j];
    double* e = &b->q[x->setup.n_states + j];
    const double theta = x->applied[j] + *e;
    const double kept = fmin(fmax(theta, u->lower), u->upper);
    if (kept != theta) {
      *e = kept - x->applied[j];
      if (hits != NULL) {
        hits[j]++;
      }
    }
  }
}

// ---- prediction

yoke_status yoke__belief_predict(const yoke_extended* x, yoke_belief* b) {
  const size_t n_d = x->setup.n_states, n = x->n;

  // P := P + walk^2 h for the unknowns
  // the unknowns have changed before the step, in which they are constant
  for (size_t j = 0; j < x->setup.n_unknowns; j++) {
    const double walk = x->setup.unknowns[j].walk;
    b->P[(n_d + j) * (n + 1)] += walk * walk * x->setup.h;
  }

  // d+ = E d + G e, e+ = e; P := F P F' + Q
  yoke__mat_vec(n_d, n, x->motion.F, b->q, x->q_next);
  memcpy(b->q, x->q_next, n_d * sizeof *b->q);
  yoke__kalman_predict_rows(n, n_d, x->motion.F, x->motion.Q, b->P, x->work);
  return yoke__are_finite(n, b->q) && yoke__are_finite(n * n, b->P) ? YOKE_OK : YOKE_DIVERGED;
}
