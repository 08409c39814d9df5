// Two recorded results judged by the total energy residual of their bonds: the part of yoke compare
// behind --measure ter. What the numbers mean is in docs/compare.md.
#ifndef YOKE_APP_TER_H
#define YOKE_APP_TER_H

#include "app/app_result.h"
#include "base/base_json.h"
#include "quality/quality_replay.h"

enum { YOKE_TER_RESULT, YOKE_TER_REFERENCE };

// One bond in both results. Numbers that are not known are NaN.
typedef struct yoke_ter_row {
  const char* name;
  const yoke_summary_bond* said[2];  // by the summaries; NULL: nothing
  double ter[2];                     // [J]
  double throughput[2];              // [J]
  yoke_error_energy error;           // n_intervals 0: none
  const char* power_of;              // what p~ was made of: "inputs" or the name of a column
  const char* why_not;               // why there is no error energy
} yoke_ter_row;

typedef struct yoke_ter_text {
  const char* text;
  struct yoke_ter_text* next;
} yoke_ter_text;

typedef struct yoke_app_ter {
  const yoke_app_result* results;  // result and reference
  yoke_arena* arena;
  yoke_ter_row* rows;
  size_t n_rows;
  yoke_ter_row total;               // sums over bonds that both have; only with several
  yoke_ter_text *warnings, *notes;  // in order
  bool is_out_of_memory;
} yoke_app_ter;

// Judges results[0] against results[1], whose summaries have been read. Returns an exit status: 2
// with the reasons on stderr if there are no bonds or if the conventions of the two differ.
int yoke__app_ter_compare(const char* command, const yoke_app_result results[2], yoke_arena* arena,
                          yoke_app_ter* out);
void yoke__app_ter_print(const yoke_app_ter* ter);
void yoke__app_ter_json(const yoke_app_ter* ter, const char* key, yoke_json* json);

#endif
