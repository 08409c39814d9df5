// A designed coupling element in a file: JSON with a version, all numbers to the last bit.
//
//   {
//     "format": "yoke-element",
//     "version": 1,
//     "interval": 0.05, "step": 0.001,          Dt and h [s]
//     "recipe": "T",                            T, L, custom, general
//     "smoother_frequency": 100,                f2 [Hz]
//     "pole": 300,                              a [rad/s]
//     "band_frequency": 3,                      f_w [Hz]
//     "delay": 0,                               tau [s]
//     "order": 4,                               n
//     "transparent": true,
//     "coefficients": [7.1, 97.6, -282.9, 256.1, -77.1],
//     "gamma": 0.0234, "direct_gain": 1, "largest_gain": 40.2
//   }
//
// The last three follow from the others: the reader computes them again and refuses a file that contradicts itself.
// Recipe general has its lead in state space instead of coefficients, y = C x + D u, x' = A x + B u; "pole" is P, and gamma of the model
// with Pade's hold stands beside gamma:
//
//     "recipe": "general", ..., "pole": 500, "delay": 0, "order": 2, "transparent": false,
//     "A": [[-100, 50], [-50, -100]], "B": [1, 0], "C": [80, 60], "D": 0,
//     "gamma": 0.0234, "direct_gain": 0.9, "largest_gain": 40.2, "model_gamma": 0.0113
#ifndef YOKE_SYNTH_ELEMENT_FILE_H
#define YOKE_SYNTH_ELEMENT_FILE_H

#include "base/base_json.h"
#include "synth/synth_design.h"

#define YOKE_SYNTH_FILE_SIZE ((size_t)1 << 20)  // bytes of a file

// Writes the text; *json is finished and belongs to the caller.
yoke_status yoke__synth_element_format(const yoke_synth_design* design, yoke_json* json);
// To a file, whole or not at all.
yoke_status yoke__synth_element_write(const char* path, const yoke_synth_design* design,
                                      const yoke_sink* sink);

// Reads n bytes. `path` is for messages only. YOKE_BAD_INPUT: malformed, a key missing or unknown, settings that
// yoke__synth_settings_check refuses, coefficients that miss the constraints by more than 1e-9 (general: a lead that is not stable, has
// poles left of -P or not gain 1 at frequency 0), or figures that are not those of the coefficients; YOKE_FULL (too long) or YOKE_NO_MEMORY.
yoke_status yoke__synth_element_parse(const char* bytes, size_t n, const char* path,
                                      yoke_synth_design* design, const yoke_sink* sink);
// From a file; also YOKE_IO.
yoke_status yoke__synth_element_read(const char* path, yoke_synth_design* design,
                                     const yoke_sink* sink);

// That the element was designed for this exchange interval and for calls of this step at `end` ("sender left"); else
// YOKE_BAD_INPUT with a message that names both and the `step:` to write.
yoke_status yoke__synth_element_check_times(const yoke_synth_design* design, double interval,
                                            double step, const char* end, const yoke_sink* sink);

#endif
