// What all problems of the trust study share: steps as exact decimals, coupling methods, text of a system file.
#ifndef YOKE_BENCH_TRUST_TEXT_H
#define YOKE_BENCH_TRUST_TEXT_H

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
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
  STUDY_AUTO,
  STUDY_METHODS
} study_method;

typedef struct study_way {
  const char *name, *top, *coupling;
  int order;
  bool
      is_default;  // what a file gets that names nothing: mean inputs, `auto`, an exchange at each of its calls
} study_way;

static const study_way study_ways[STUDY_METHODS] = {
    {"held", "", NULL, 0, false},
    {"linear (order 1)", "", NULL, 1, false},
    {"nepce", "", "method: nepce", 0, false},
    {"interpolate", "", "method: interpolate", 0, false},
    {"energy", "", "method: energy", 0, false},
    {"mpsm", "", "method: mpsm, form: published, level: end", 0, false},
    {"mpsm memory, mean", "", "method: mpsm", 0, false},
    {"gauss-seidel", "scheme: gauss-seidel\n", NULL, 0, false},
    {"iterative", "scheme: iterative-jacobi\niteration: {mode: interpolate}\n", NULL, 0, false},
    {"fresh", "exchange: fresh\n", NULL, 0, false},
    {"nepce + fresh", "exchange: fresh\n", "method: nepce", 0, false},
    {"auto", "", NULL, 0, true},
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

static inline bool study_is_once(study_step H, study_step h) {
  return study_seconds(H) == study_seconds(h);
}

// Inputs and calls; H: exchange interval, h: of the calls.
static inline void study_print_head(study_text* t, const study_way* way, study_step H,
                                    study_step h) {
  study_print(t, "yoke: 1\n%s%s", way->is_default ? "" : "inputs: start\n",
              way->is_default && !study_is_once(H, h) ? "" : "calls: 1\n");
}

// The step of a unit, in a list of keys; `calls` stands for it where nothing is named.
static inline void study_print_step(study_text* t, const study_way* way, study_step h) {
  if (!way->is_default) {
    study_print(t, "step: %" PRId64 "e%d, ", h.mantissa, h.exponent);
  }
}

// The order of a connection, behind its other keys.
static inline void study_print_order(study_text* t, const study_way* way) {
  if (!way->is_default) {
    study_print(t, ", order: %d", way->order);
  }
}

// A step divided by 1, 2, 4, 5, 8, 10, 16, 20 or another divisor of 10 000.
static inline study_step study_divide(study_step h, int by) {
  return (study_step){h.mantissa * (10000 / by), h.exponent - 4};
}

#endif
