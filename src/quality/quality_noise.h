// How rough a signal is: a measure by which runs of scenarios/helicopter are judged.
#ifndef YOKE_QUALITY_NOISE_H
#define YOKE_QUALITY_NOISE_H

#include <stddef.h>

#include "yoke/status.h"

// Variance of the noise in y: what is left after a smooth trend, chosen by generalised
// cross-validation, has been removed. y: n >= 3 equally spaced samples. work: yoke__noise_work_size(n)
// doubles. Takes a time proportional to n^2. YOKE_BAD_ARG: fewer than 3
// samples; YOKE_DIVERGED: a sample is not finite, *variance is infinite then.
yoke_status yoke__noise_variance(size_t n, const double y[], double work[], double* variance);
size_t yoke__noise_work_size(size_t n);

#endif
