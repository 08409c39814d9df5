// Motion by a model of low order: what a new one needs to take over, and prediction of the instances that check.
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "estimate/estimate_deviation_part.h"
#include "linalg/linalg_dense.h"

#define SLOW 4.0   // b follows e in so many times the memory of the unit
#define REST 0.05  // of the largest response: what is left of it is at rest

// ---- a new model

yoke_deviation_renewal yoke__deviation_renewal_prepare(const yoke_response* r, size_t max_order,
                                                       yoke_arena* arena) {
  const size_t n = max_order, m = r->n_inputs;
  return (yoke_deviation_renewal){
      .model = yoke__low_model_prepare(r, max_order, arena),
      .x = yoke__arena_array(arena, n * m + 1, sizeof(double)),
      .transfer = yoke__arena_array(arena, n * n + 1, sizeof(double)),
      .work = yoke__arena_array(arena, 10 * n * n + n * m + r->n_outputs * m + 1, sizeof(double)),
  };
}

// The time after which what is left of the responses to move is small.
static uint64_t find_rest(yoke_deviation_renewal* out) {
  const yoke_low_model* model = &out->model;
  const size_t n = model->order, m = model->n_inputs, p = model->n_outputs;

  // the responses at the end of the record and at 1/2, 1/4, ... of it
  double *x = out->work + 10 * n * n, *end = x + n * m;
  yoke__low_model_after(model, model->steps, x, out->work);
  yoke__mat_mul(p, n, m, model->C, x, end);
  uint64_t k = model->steps;

  // rest: the earliest of these times from which on no output moves by 5 % of its final value
  while (k > 1) {
    double worst = 0.0;
    yoke__low_model_after(model, k / 2, x, out->work);
    for (size_t o = 0; o < p; o++) {
      for (size_t u = 0; u < m; u++) {
        double y = 0.0;
        for (size_t l = 0; l < n; l++) {
          y += model->C[o * n + l] * x[l * m + u];
        }
        worst = fmax(worst, fabs(y - end[o * m + u]) / fmax(fabs(end[o * m + u]), 1e-300));
      }
    }
    if (!(worst < REST)) {
      break;
    }
    k /= 2;
  }
  return k;
}

yoke_status yoke__deviation_renew(yoke_realise* work, const yoke_low_model* before, uint64_t age,
                                  yoke_deviation_renewal* out) {
  out->age = age;
  yoke__low_model_after(&out->model, age, out->x, out->work);
  out->rest = find_rest(out);
  return before == NULL || before->order == 0
             ? YOKE_OK
             : yoke__low_model_transfer(work, before, &out->model, out->transfer);
}

// ---- motion

void yoke__motion_prepare(yoke_motion* motion, const yoke_deviation_setup* setup,
                          yoke_arena* arena) {
  const size_t n = setup->max_order, m = setup->n_unknowns, p = setup->n_outputs;
  double** const blocks[] = {&motion->model.A, &motion->model.B, &motion->model.C, &motion->x,
                             &motion->G,       &motion->d,       &motion->b,       &motion->work};
  const size_t sizes[] = {n * n, n * m, n * p, n * m, n * m, n, m, n};
  for (size_t i = 0; i < YOKE_COUNT(blocks); i++) {
    *blocks[i] = yoke__arena_array(arena, sizes[i] + 1, sizeof(double));
  }
}

void yoke__motion_clear(yoke_motion* motion, size_t n_unknowns) {
  motion->model.order = 0;
  motion->model.n_inputs = 0;
  motion->age = 0;
  motion->k = 1.0;
  memset(motion->b, 0, n_unknowns * sizeof *motion->b);
}

void yoke__motion_take(yoke_motion* to, const yoke_deviation_renewal* renewal,
                       const yoke_motion* from, size_t n_unknowns) {
  const yoke_low_model* model = &renewal->model;
  const size_t n = model->order, m = model->n_inputs, old = from->model.order;
  double *A = to->model.A, *B = to->model.B, *C = to->model.C;
  memcpy(A, model->A, n * n * sizeof *A);
  memcpy(B, model->B, n * m * sizeof *B);
  memcpy(C, model->C, n * model->n_outputs * sizeof *C);
  to->model = *model;
  to->model.A = A;
  to->model.B = B;
  to->model.C = C;
  memcpy(to->x, renewal->x, n * m * sizeof *to->x);
  memcpy(to->b, from->b, n_unknowns * sizeof *to->b);
  to->age = renewal->age;
  to->rest = renewal->rest;
  if (old > 0) {
    yoke__mat_vec(n, old, renewal->transfer, from->d, to->d);
  } else {
    memset(to->d, 0, n * sizeof *to->d);  // so far the offsets have not changed
  }
}

void yoke__motion_step(yoke_motion* motion) {
  const size_t n = motion->model.order, m = motion->model.n_inputs;

  // memory of the unit: the age of the offsets, at most until their responses are at rest
  const uint64_t memory = motion->age + 1 < motion->rest ? motion->age + 1 : motion->rest;

  // b follows e with a time constant of 4 memories: slow against the responses that r stands for
  motion->k = n == 0 ? 1.0 : 1.0 / (1.0 + SLOW * (double)memory);
  motion->age++;

  // x+ = A x + B, G = B - k x+
  yoke__mat_mul(n, n, m, motion->model.A, motion->x, motion->G);
  for (size_t i = 0; i < n * m; i++) {
    motion->x[i] = motion->G[i] + motion->model.B[i];
    motion->G[i] = motion->model.B[i] - motion->k * motion->x[i];
  }
}

void yoke__motion_check(yoke_motion* motion, const size_t place[], size_t n_unknowns,
                        const double offset[]) {
  const size_t n = motion->model.order, m = motion->model.n_inputs;

  // d+ = A d + G (offset - b), b+ = b + k (offset - b): the deviation that the check members have
  // by the model
  yoke__mat_vec(n, n, motion->model.A, motion->d, motion->work);
  for (size_t j = 0; j < n_unknowns; j++) {
    const bool is_fast = place[j] != YOKE_NO_PLACE && n > 0;
    const double left = offset[j] - motion->b[j];
    for (size_t i = 0; i < n && is_fast; i++) {
      motion->work[i] += motion->G[i * m + place[j]] * left;
    }
    motion->b[j] += (is_fast ? motion->k : 1.0) * left;
  }
  memcpy(motion->d, motion->work, n * sizeof *motion->d);
}

double yoke__motion_output(const yoke_motion* motion, size_t output) {
  const size_t n = motion->model.order;
  double y = 0.0;
  for (size_t i = 0; i < n; i++) {
    y += motion->model.C[output * n + i] * motion->d[i];
  }
  return y;
}
