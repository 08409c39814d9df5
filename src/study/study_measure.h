// What a run is judged by, and what ends it: measures computed while it is stepped, without a result file.
//
//   ter rter dE created eps rho [:BOND]     of the energy ledger; without a bond of all of them together
//   end max min maxabs rms :UNIT.VARIABLE   of a signal at the start and after every macro step
//   nrmse:UNIT.VARIABLE                     against a reference, at the times at which `yoke run` would write a row
//   error[:UNIT.VARIABLE]                   mean deviation from a reference over its range: of one signal, or of all
//                                           outputs that the reference has
//   roughness[:UNIT.VARIABLE]               noise in the difference from a reference, in the same choices
//   band relative :UNIT.VARIABLE            how far the signal may be off, in its unit and relative to its movement, and
//   verdict                                 0 trustworthy, 1 doubtful, 2 wrong: by companions (trust/trust.h)
//   steps                                   macro steps
//   status                                  no number: how the run ended, which every table has
//
// A limit is a measure, <= >= < or >, and a number.
#ifndef YOKE_STUDY_MEASURE_H
#define YOKE_STUDY_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base_csv.h"
#include "energy/energy_sum.h"
#include "master/master.h"
#include "quality/quality_measure.h"
#include "trust/trust.h"

typedef enum yoke_study_kind {
  YOKE_STUDY_TER,      // total energy residual [J]
  YOKE_STUDY_RTER,     // the same over what passed
  YOKE_STUDY_DE,       // residual energy of samples [J]
  YOKE_STUDY_CREATED,  // energy the coupling created [J]
  YOKE_STUDY_EPS,      // its magnitude over the energy of the exchange
  YOKE_STUDY_RHO,      // the largest
  YOKE_STUDY_END,
  YOKE_STUDY_MAX,
  YOKE_STUDY_MIN,
  YOKE_STUDY_MAXABS,
  YOKE_STUDY_RMS,
  YOKE_STUDY_BAND,      // the largest error is most likely below this
  YOKE_STUDY_RELATIVE,  // rms error / movement
  YOKE_STUDY_NRMSE,
  YOKE_STUDY_ERROR,  // mean |y - r| over the range of r; mean over a unit's signals, norm over the units
  YOKE_STUDY_ROUGHNESS,  // sqrt of the noise variance of y - r; mean over a unit's signals, sum over the units
  YOKE_STUDY_STEPS,
  YOKE_STUDY_VERDICT,
  YOKE_STUDY_STATUS,
  YOKE_STUDY_N_KINDS,
} yoke_study_kind;

typedef struct yoke_study_measure {
  yoke_study_kind kind;
  const char* text;      // as given: "max:left.x"
  const char* argument;  // bond or signal, part of text; NULL: none
} yoke_study_measure;

typedef struct yoke_study_limit {
  const char* text;  // "max:left.x<=3"
  yoke_study_measure measure;
  double value;
  bool is_upper;   // the measure must not be above value; else not below
  bool is_strict;  // and not equal to it
} yoke_study_limit;

// text must live as long as the result. YOKE_BAD_INPUT with a message "'text': what was expected".
yoke_status yoke__study_measure_parse(const char* text, yoke_study_measure* out,
                                      const yoke_sink* sink);
// The measure's text is taken from arena.
yoke_status yoke__study_limit_parse(const char* text, yoke_arena* arena, yoke_study_limit* out,
                                    const yoke_sink* sink);
// nrmse, error and roughness.
bool yoke__study_needs_reference(const yoke_study_measure* measure);
// band, relative and verdict.
bool yoke__study_needs_companions(const yoke_study_measure* measure);
// True if the limit can be judged before the end of a run: the measure only moves towards it.
bool yoke__study_limit_is_early(const yoke_study_limit* limit);
// NaN violates every limit.
bool yoke__study_limit_is_violated(const yoke_study_limit* limit, double value);

// Where a probe reads.
typedef enum yoke_probe_source {
  YOKE_PROBE_NOTHING,  // status
  YOKE_PROBE_Y,
  YOKE_PROBE_U,
  YOKE_PROBE_INTEGER,  // int64 in the typed outputs
  YOKE_PROBE_LEDGER,
  YOKE_PROBE_STEPS,
  YOKE_PROBE_TRACKS,
  YOKE_PROBE_TRUST,  // the run as a whole, or a judged signal
} yoke_probe_source;

// One signal beside its reference, for the measures error and roughness. For error nothing is kept of the samples but
// their sum.
typedef struct yoke_probe_track {
  yoke_probe_source source;
  size_t index;      // as in yoke_probe
  size_t unit;       // number of its unit; tracks of one unit lie together
  const char* name;  // column of the reference
  yoke_samples reference;
  double range;        // of the reference until the stop time
  size_t next;         // sample of the reference that is waited for
  size_t n;            // rows compared
  size_t n_rows;       // rows of the run, compared or not; of error without the start
  size_t last_row;     // of those compared
  bool has_gap;        // a row between two of them was not compared
  yoke_sum sum;        // of |y - r|
  double* difference;  // roughness: y - r, n of them
} yoke_probe_track;

// A measure at work on one run.
typedef struct yoke_probe {
  const yoke_study_measure* measure;
  yoke_probe_source source;
  size_t index;  // into Y or U; bytes into V; number of the bond; of the judged signal
  double value;
  yoke_sum squares;
  size_t n;
  int64_t n_steps;         // steps, nrmse, error: samples seen
  yoke_samples reference;  // nrmse
  double *t, *y;           // nrmse: samples, taken from the arena of bind
  size_t room;
  yoke_probe_track* tracks;  // error, roughness; taken from the arena of bind
  size_t n_tracks;
  double* work;  // roughness: yoke__noise_work_size(room)
  char
      why[320];  // verdict and band: what is said of the run or the signal; "" if it is trustworthy
} yoke_probe;

// Finds what the measure names in a system and its state and takes the first sample. option: "--measure", for messages.
// Messages go to `messages`; YOKE_BAD_INPUT then. reference may be NULL if no measure needs it.
yoke_status yoke__probe_bind(const yoke_study_measure* measure, const char* option,
                             const yoke_csv* reference, yoke_system* system,
                             const yoke_state* state, yoke_arena* arena, yoke_messages* messages,
                             yoke_probe* probe);
// After a macro step. No heap.
void yoke__probe_sample(yoke_probe* probe, const yoke_system* system, const yoke_state* state);
// At the end, of band, relative and verdict: from the judged run.
void yoke__probe_judge(yoke_probe* probe, const yoke_trust* trust);
// The measure so far; NaN if there is none (a bond without TER, say). Not for nrmse, error and roughness before the end.
double yoke__probe_value(const yoke_probe* probe, const yoke_state* state);
// At the end, of nrmse, error and roughness: why there is no number, or of how few rows it is; of band, relative and verdict:
// why the run is not to be trusted. Empty: nothing to say.
void yoke__probe_remark(const yoke_probe* probe, char* to, size_t size);

#endif
