// Counter-based random numbers for models.
//
// Philox 4x32-10: ten rounds of two 32 x 32 -> 64 bit products, crossed over and mixed with a key
// that grows by Weyl constants; a bijection of the counter for each key. Source: J. Salmon et al.,
// Parallel random numbers: as easy as 1, 2, 3, SC 2011. Normal numbers by G. Box and M. Muller,
// Ann. Math. Statist. 29 (1958) 610: z = sqrt(-2 ln u) cos(2 pi v).
#include "models/models_random.h"

#include <math.h>

#define ROUNDS 10

void yoke__random_block(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < ROUNDS; round++) {
    const uint64_t left = UINT64_C(0xD2511F53) * c0, right = UINT64_C(0xCD9E8D57) * c2;
    c0 = (uint32_t)(right >> 32) ^ c1 ^ k0;
    c2 = (uint32_t)(left >> 32) ^ c3 ^ k1;
    c1 = (uint32_t)right;
    c3 = (uint32_t)left;
    // the golden ratio and sqrt(3) - 1, as 32-bit fractions
    k0 += UINT32_C(0x9E3779B9);
    k1 += UINT32_C(0xBB67AE85);
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

// block k of a stream, as two numbers of 53 bits
static void draw(int64_t seed, uint64_t stream, uint64_t k, uint64_t numbers[2]) {
  const uint32_t counter[4] = {(uint32_t)k, (uint32_t)(k >> 32), (uint32_t)stream,
                               (uint32_t)(stream >> 32)};
  const uint32_t key[2] = {(uint32_t)(uint64_t)seed, (uint32_t)((uint64_t)seed >> 32)};
  uint32_t words[4];
  yoke__random_block(counter, key, words);
  numbers[0] = ((uint64_t)words[1] << 32 | words[0]) >> 11;
  numbers[1] = ((uint64_t)words[3] << 32 | words[2]) >> 11;
}

double yoke__random_uniform(int64_t seed, uint64_t stream, uint64_t k) {
  uint64_t numbers[2];
  draw(seed, stream, k, numbers);
  return (double)numbers[0] * 0x1p-53;
}

double yoke__random_normal(int64_t seed, uint64_t stream, uint64_t k) {
  const double two_pi = 6.283185307179586477;
  uint64_t numbers[2];
  draw(seed, stream, k, numbers);
  // (0, 1]: the logarithm of 0 does not exist
  const double u = (double)(numbers[0] + 1) * 0x1p-53, v = (double)numbers[1] * 0x1p-53;
  return sqrt(-2.0 * log(u)) * cos(two_pi * v);
}
