// What all problems of the trust study share: steps as exact decimals, coupling methods, text of a system file.
#ifndef YOKE_BENCH_TRUST_TEXT_H
#define YOKE_BENCH_TRUST_TEXT_H

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "yoke/status.h"

enum { STUDY_TEXT_SIZE = 16384 };

// An exact decimal: mantissa 10^exponent seconds.
typedef struct study_step {
  int64_t mantissa;
  int exponent;
} study_step;

// Three digits.
static inline study_step study_round_step(double seconds) {
  study_step h = {.exponent = (int)floor(log10(seconds)) - 2};
  h.mantissa = llround(seconds / pow(10, h.exponent));
  return h;
}

static inline double study_seconds(study_step h) {
  char text[40];
  snprintf(text, sizeof text, "%" PRId64 "e%d", h.mantissa, h.exponent);
  return strtod(text, NULL);
}

typedef enum study_method {
  STUDY_HELD,
  STUDY_LINEAR,
  STUDY_NEPCE,
  STUDY_INTERPOLATE,
  STUDY_ENERGY,
  STUDY_MPSM,
  STUDY_MPSM_MEMORY,
  STUDY_GAUSS_SEIDEL,
  STUDY_ITERATIVE,
  STUDY_FRESH,
  STUDY_NEPCE_FRESH,
  STUDY_METHODS
} study_method;

typedef struct study_way {
  const char *name, *top, *coupling;
  int order;
} study_way;

static const study_way study_ways[STUDY_METHODS] = {
    {"held", "", NULL, 0},
    {"linear (order 1)", "", NULL, 1},
    {"nepce", "", "method: nepce", 0},
    {"interpolate", "", "method: interpolate", 0},
    {"energy", "", "method: energy", 0},
    {"mpsm", "", "method: mpsm, form: published, level: end", 0},
    {"mpsm memory, mean", "", "method: mpsm", 0},
    {"gauss-seidel", "scheme: gauss-seidel\n", NULL, 0},
    {"iterative", "scheme: iterative-jacobi\niteration: {mode: interpolate}\n", NULL, 0},
    {"fresh", "exchange: fresh\n", NULL, 0},
    {"nepce + fresh", "exchange: fresh\n", "method: nepce", 0},
};

typedef struct study_text {
  char bytes[STUDY_TEXT_SIZE];
  size_t n;
} study_text;

YOKE_PRINTF(2, 3) static inline void study_print(study_text* t, const char* format, ...) {
  va_list list;
  va_start(list, format);
  t->n += (size_t)vsnprintf(t->bytes + t->n, sizeof t->bytes - t->n, format, list);
  va_end(list);
  if (t->n >= sizeof t->bytes) {
    fprintf(stderr, "trust study: the text of a system is too long\n");
    exit(1);
  }
}

// A step divided by 1, 2, 4, 5, 8, 10, 16, 20 or another divisor of 10 000.
static inline study_step study_divide(study_step h, int by) {
  return (study_step){h.mantissa * (10000 / by), h.exponent - 4};
}

#endif
