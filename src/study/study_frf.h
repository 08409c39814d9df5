// Frequency responses from one input to outputs, of two recorded results beside each other: table, drawing.
#ifndef YOKE_STUDY_FRF_H
#define YOKE_STUDY_FRF_H

#include "base/base_text.h"
#include "quality/quality_frf.h"
#include "quality/quality_summary.h"

#define YOKE_FRF_TRUSTED 0.9  // coherence from which a response counts

typedef struct yoke_frf_output {
  const char* name;
  size_t columns[2];  // in result and reference
  yoke_frf of[2];
  yoke_frf_difference difference;
} yoke_frf_output;

typedef struct yoke_frf_comparison {
  const char* input;
  yoke_frf_grid grid;
  yoke_frf_output* outputs;  // names and columns are set by the caller
  size_t n_outputs;
} yoke_frf_comparison;

// Fills in everything but names and columns of the outputs. resolution [Hz], 0: by the length. YOKE_BAD_INPUT with a message;
// memory from the arena.
yoke_status yoke__frf_comparison_fill(const yoke_recorded results[2], const char* input,
                                      double resolution, yoke_arena* arena,
                                      yoke_frf_comparison* out, const yoke_sink* sink);
// frf.csv: a row per output and frequency, both responses with their coherences.
void yoke__frf_comparison_csv(const yoke_frf_comparison* c, yoke_text* csv);
// frf.svg: up to four outputs.
yoke_status yoke__frf_comparison_draw(const yoke_frf_comparison* c, yoke_text* svg);

#endif
