// Fingerprints.
#ifndef YOKE_BASE_HASH_H
#define YOKE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

// FNV-1a: tells apart what was changed by accident, not by intent.
#define YOKE_HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t yoke__hash_bytes(uint64_t hash, const void* bytes, size_t n);
// A text with its length, so that "ab", "c" differs from "a", "bc".
uint64_t yoke__hash_text(uint64_t hash, const char* text);

#endif
