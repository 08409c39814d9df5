// One run of a simulator on a problem of the races, and costs read off between runs.
#ifndef YOKE_BENCH_CIRCUITS_RESULT_H
#define YOKE_BENCH_CIRCUITS_RESULT_H

#include <stdint.h>

#include "circuits_problem.h"

typedef struct race_result {
  char name[40];
  double step, tolerance;  // 0 where it has none
  double error;            // relative, root of the mean square
  double cost;             // [s] of processor time per simulated second
  int64_t n_steps;
  bool is_failed;
  double t_reached;  // of a failed one
  char note[96];
} race_result;

// Cost of one method at an error, on a straight line between measured points in logarithms; results: by falling
// error. A looser error than measured costs as much as the loosest point; infinite if the error is not reached.
static double cost_at(const race_result results[], int n, double error) {
  const race_result* before = NULL;
  for (int i = 0; i < n; i++) {
    const race_result* now = &results[i];
    if (now->is_failed || !(now->error > 0.0)) {
      continue;
    }
    if (now->error <= error) {
      if (before == NULL || before->error <= now->error) {
        return now->cost;
      }
      const double s = log(before->error / error) / log(before->error / now->error);
      return before->cost * pow(now->cost / before->cost, s);
    }
    before = now;
  }
  return (double)INFINITY;
}

#endif
