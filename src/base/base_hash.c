// FNV-1a; see base_hash.h.
#include "base/base_hash.h"

#include <string.h>

uint64_t yoke__hash_bytes(uint64_t hash, const void* bytes, size_t n) {
  const unsigned char* from = bytes;
  for (size_t i = 0; i < n; i++) {
    hash = (hash ^ from[i]) * UINT64_C(0x100000001b3);
  }
  return hash;
}

uint64_t yoke__hash_text(uint64_t hash, const char* text) {
  const uint64_t n = strlen(text);
  return yoke__hash_bytes(yoke__hash_bytes(hash, &n, sizeof n), text, (size_t)n);
}
