// Random numbers by counter: number k of a stream follows from (seed, stream, k) alone. Nothing is
// stored, so refreshing twice, rolling back and any order of calls give the same bits.
#ifndef YOKE_MODELS_RANDOM_H
#define YOKE_MODELS_RANDOM_H

#include <stdint.h>

// Philox 4x32 with ten rounds: a block of four words from a counter and a key.
void yoke__random_block(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);
// Uniform in [0, 1), 53 bits.
double yoke__random_uniform(int64_t seed, uint64_t stream, uint64_t k);
// Normal with mean 0 and standard deviation 1; never beyond 8.6.
double yoke__random_normal(int64_t seed, uint64_t stream, uint64_t k);

#endif
