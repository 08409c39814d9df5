// Two recorded results beside each other: the signals that both have, how far they differ, and the energy residuals of
// their bonds. The concept page is docs/compare.md.
#ifndef YOKE_STUDY_COMPARE_H
#define YOKE_STUDY_COMPARE_H

#include "quality/quality_measure.h"
#include "quality/quality_ter.h"
#include "study/study_frf.h"

typedef struct yoke_compare_settings {
  const char* paths[2];        // result and reference
  const char* const* signals;  // names and patterns; n 0: all that both have
  size_t n_signals;
  bool has_signals, has_ter, has_frf;  // what is compared
  const char* input;                   // of the frequency response
  double resolution;                   // of it [Hz]; 0: by the length of the results
  bool has_roughness;                  // which takes long
  uint32_t limited;                    // bits of measures with a limit
  double limits[YOKE_N_MEASURES];
} yoke_compare_settings;

// One compared signal.
typedef struct yoke_compared {
  const char* name;
  size_t columns[2];  // in result and reference
  bool is_measured;
  yoke_deviation deviation;
} yoke_compared;

// Zeroed is empty.
typedef struct yoke_comparison {
  const yoke_compare_settings* settings;
  yoke_arena arena;
  yoke_recorded results[2];  // result, reference
  yoke_compared* signals;
  size_t n_signals;
  size_t n_failed;  // signals that could not be measured, or without the roughness that was wanted
  size_t n_exceeded;  // limits
  yoke_ter_comparison ter;
  yoke_frf_comparison frf;
} yoke_comparison;

// Reads, matches and measures; settings and what they point to live on. What cannot be compared is reported, and so is every
// limit that is exceeded. YOKE_BAD_INPUT with messages: nothing is compared. Free in any case.
yoke_status yoke__compare_open(const yoke_compare_settings* settings, yoke_comparison* out,
                               const yoke_sink* sink);
void yoke__compare_free(yoke_comparison* comparison);
// Whether a signal is beyond the limit of a measure; NaN is not below any.
bool yoke__compare_is_exceeded(const yoke_comparison* comparison, const yoke_compared* signal,
                               yoke_measure measure);

#endif
