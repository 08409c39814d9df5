// Identified models in a file, so that another run can start from them: JSON with a version, one
// entry per unit, all numbers to the last bit.
//
//   {
//     "format": "yoke-identified",
//     "version": 1,
//     "units": [
//       {
//         "name": "mass", "step": 0.001, "time": 0.8,
//         "outputs": ["x", "v"], "inputs": ["force"],
//         "output_lags": 1, "input_lags": 1,
//         "models": [
//           {"parameters": [0.95, 1e-3], "variance": 0.02},
//           {"parameters": [0.94, 9.8e-5], "variance": 0.01}
//         ]
//       }
//     ]
//   }
//
// A model belongs to the output of the same place; its parameters stand in the order of
// identify_rls.h. `variance` is the mean of the diagonal of the covariance.
#ifndef YOKE_IDENTIFY_FILE_H
#define YOKE_IDENTIFY_FILE_H

#include <stddef.h>

#include "base/base_arena.h"
#include "base/base_json.h"
#include "yoke/message.h"
#include "yoke/status.h"

#define YOKE_IDENTIFIED_MAX  4096                // units; outputs, inputs of a unit
#define YOKE_IDENTIFIED_SIZE ((size_t)16 << 20)  // bytes of a file

typedef struct yoke_identified_unit {
  const char* name;
  double step;  // between the samples [s]
  double time;  // of the run, when the model was taken [s]
  size_t n, m;
  const char **outputs, **inputs;  // n, m names
  size_t n_y_lags, n_u_lags;       // N, M
  double* parameters;              // n x (N + M m)
  double* variances;               // n
} yoke_identified_unit;

typedef struct yoke_identified {
  size_t n_units;
  yoke_identified_unit* units;
} yoke_identified;

// Writes the text; *json is finished and belongs to the caller. YOKE_BAD_ARG if a number is not
// finite.
yoke_status yoke__identified_format(const yoke_identified* models, yoke_json* json);
// To a file, whole or not at all.
yoke_status yoke__identified_write(const char* path, const yoke_identified* models,
                                   const yoke_sink* sink);

// Reads n bytes; everything belongs to the arena. `path` is for messages only, which
// carry it and the unit. YOKE_BAD_INPUT, YOKE_FULL (too long) or YOKE_NO_MEMORY; then *models is empty.
yoke_status yoke__identified_parse(const char* bytes, size_t n, const char* path, yoke_arena* arena,
                                   yoke_identified* models, const yoke_sink* sink);
// From a file; also YOKE_IO.
yoke_status yoke__identified_read(const char* path, yoke_arena* arena, yoke_identified* models,
                                  const yoke_sink* sink);

// What a unit of this run looks like.
typedef struct yoke_identified_want {
  const char* name;
  double step;
  size_t n, m;
  const char *const *outputs, *const *inputs;
  size_t n_y_lags, n_u_lags;
} yoke_identified_want;

// The parameters for that unit, to: n x (N + M m), with outputs and inputs found by name in any
// order, resampled if the step differs, and with 0 for lags that the file does not have. YOKE_BAD_INPUT
// with a message that says what the file has and what is wanted.
yoke_status yoke__identified_fit(const yoke_identified* models, const char* path,
                                 const yoke_identified_want* want, double to[],
                                 const yoke_sink* sink);

#endif
