// Two recorded results judged by the total energy residual of their bonds. What the numbers mean is in docs/compare.md.
#ifndef YOKE_QUALITY_TER_H
#define YOKE_QUALITY_TER_H

#include "quality/quality_replay.h"
#include "quality/quality_summary.h"

enum { YOKE_TER_RESULT, YOKE_TER_REFERENCE };

// One bond in both results. Numbers that are not known are NaN.
typedef struct yoke_ter_row {
  const char* name;
  const yoke_summary_bond* said[2];  // by the summaries; NULL: nothing
  double ter[2];                     // [J]
  double throughput[2];              // [J]
  double relative[2];                // TER / throughput
  double ratio;                      // TER of the result / TER of the reference
  const char* better;                // "result", "reference" or "equal"; NULL: not both have a TER
  yoke_error_energy error;           // n_intervals 0: none, and the total is NaN
  const char* power_of;              // what p~ was made of: "inputs" or the name of a column
  const char* why_not;               // why there is no error energy
} yoke_ter_row;

typedef struct yoke_ter_text {
  const char* text;
  struct yoke_ter_text* next;
} yoke_ter_text;

typedef struct yoke_ter_comparison {
  const yoke_recorded* results;  // result and reference
  yoke_arena* arena;
  yoke_ter_row* rows;
  size_t n_rows;
  yoke_ter_row total;               // sums over bonds that both have; only with several
  yoke_ter_text *warnings, *notes;  // in order
  double t_first, t_last;           // what the result covers [s]
  bool is_out_of_memory;
} yoke_ter_comparison;

// Judges results[0] against results[1], whose summaries have been read and which live on. YOKE_BAD_INPUT with a message
// for each reason: fewer than two rows, no bond with a TER, different conventions.
yoke_status yoke__ter_compare(const yoke_recorded results[2], yoke_arena* arena,
                              yoke_ter_comparison* out, const yoke_sink* sink);

#endif
