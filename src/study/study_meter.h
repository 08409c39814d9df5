// The total energy residual of four recorded signals, as the meter unit would have measured it on line. The concept page
// is docs/meter.md.
#ifndef YOKE_STUDY_METER_H
#define YOKE_STUDY_METER_H

#include "quality/quality_replay.h"
#include "quality/quality_summary.h"

#define YOKE_METER_TABLE "meter.csv"

// "effort-in", ...: options and words for the signals, in the order of yoke_ter_signal.
extern const char* const yoke__meter_signal_names[YOKE_REPLAY_N_SIGNALS];

typedef struct yoke_meter_settings {
  const char* path;  // of the result
  const char* bond;  // NULL: the four signals, "a.x" or "a.x,a.y"
  const char* signals[YOKE_REPLAY_N_SIGNALS];
  yoke_replay_settings replay;
} yoke_meter_settings;

// The columns of one signal.
typedef struct yoke_meter_list {
  const char** names;
  const double** columns;
  double* scale;
  size_t n;
} yoke_meter_list;

// Zeroed is empty.
typedef struct yoke_meter {
  yoke_arena arena;
  yoke_recorded result;
  const yoke_summary_bond* said;  // with a bond
  yoke_meter_list lists[YOKE_REPLAY_N_SIGNALS];
  yoke_replay_bond bond;
  yoke_replay replay;
} yoke_meter;

// Reads a result and finds the signals. What the settings point to lives on. YOKE_BAD_INPUT with messages. Free in any case.
yoke_status yoke__meter_open(const yoke_meter_settings* settings, yoke_meter* out,
                             const yoke_sink* sink);
// Accounts all of it; with a directory the running values go to its meter.csv. YOKE_IO with a message: the replay holds all
// the same.
yoke_status yoke__meter_run(yoke_meter* meter, const char* directory, const yoke_sink* sink);
void yoke__meter_free(yoke_meter* meter);

#endif
