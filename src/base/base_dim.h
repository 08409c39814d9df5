// Dimensions: physical units of variables such as "N", "m/s2", "kN.m" or "degC", read into
// exponents and a factor.
//
// A quantity x written in a dimension has the SI value factor * x + offset. The factor is a quotient
// of which both parts are kept, so that m/s to km/h is 3.6 and not the double next to it. base_dim.c
// says what can be written.
#ifndef YOKE_BASE_DIM_H
#define YOKE_BASE_DIM_H

#include <stdbool.h>
#include <stdint.h>

// Index of each base dimension in `exponents`. An angle is a pure number, but it is counted, so
// that rad/s and 1/s can be distinguished.
enum {
  YOKE_DIM_KG,
  YOKE_DIM_M,
  YOKE_DIM_S,
  YOKE_DIM_A,
  YOKE_DIM_K,
  YOKE_DIM_MOL,
  YOKE_DIM_CD,
  YOKE_DIM_RAD,
  YOKE_DIM_N_BASES,
};

typedef struct yoke_dim {
  int8_t exponents[YOKE_DIM_N_BASES];
  int8_t n_turns;   // radians that were written as turns (rpm, Hz), each 2 pi in factor
  double num, den;  // factor = num / den * (2 pi)^n_turns
  double factor;    // SI value = factor * x + offset
  double offset;    // not 0 only for a temperature scale that stands alone (degC, degF)
} yoke_dim;

typedef enum yoke_dim_kinship {
  YOKE_DIM_SAME,       // one to one
  YOKE_DIM_SCALED,     // convertible: y_to = factor * y_from + offset
  YOKE_DIM_DIFFERENT,  // N and V: nothing converts them
  YOKE_DIM_UNKNOWN,    // one of them is missing or not understood: nothing can be said
} yoke_dim_kinship;

// Reads text (NULL is allowed). False if it is empty or not understood; *out is unchanged then. No
// heap.
bool yoke__dim_parse(const char* text, yoke_dim* out);

// How two dimensions are related and how values are converted. factor and offset (NULL if not
// wanted) are written always; they are 1 and 0 unless the answer is YOKE_DIM_SCALED.
//
// Dimensions that differ only in angles are convertible: N.m/rad and N.m are the same, rad/s and
// 1/s are the same. Turns (rpm, Hz, 1/min) become radians (2 pi) where the other side counts angles
// in radians and stay plain counts where it does not: 60 rpm are 6.28 rad/s, 1 Hz and 1 1/s. A
// temperature is taken as a reading and not as a difference: 20 degC are 293.15 K.
yoke_dim_kinship yoke__dim_relation(const char* from, const char* to, double* factor,
                                    double* offset);

#endif
