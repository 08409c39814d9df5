// What the files of estimate_response.h share.
#ifndef YOKE_ESTIMATE_RESPONSE_PART_H
#define YOKE_ESTIMATE_RESPONSE_PART_H

#include "estimate/estimate_response.h"

// 1, 2, 3, 4, 6, 8, 12, ..., and how many of them are at most 2^level.
uint64_t yoke__response_time(size_t place);
size_t yoke__response_n_times(unsigned level);
double yoke__response_zeta(size_t scale);
size_t yoke__response_find(const yoke_response* r, uint64_t lag);

#endif
