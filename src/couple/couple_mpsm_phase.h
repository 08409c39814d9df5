// When the model may speak: phases of model-based pre-step stabilisation, fallback and recovery,
// and a guard that watches the coupling error itself. Decisions are functions of numbers, so that a
// sequence of numbers is a test.
#ifndef YOKE_COUPLE_MPSM_PHASE_H
#define YOKE_COUPLE_MPSM_PHASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How the next inputs are made.
typedef enum yoke_mpsm_phase {
  YOKE_MPSM_LEARN,     // by signals; the identifier collects data
  YOKE_MPSM_SIGNAL,    // by signals: fallback
  YOKE_MPSM_MODIFIED,  // by the model, without step 3
  YOKE_MPSM_FULL,      // by the model
  YOKE_MPSM_N_PHASES,
} yoke_mpsm_phase;

// Why it is a fallback.
typedef enum yoke_mpsm_reason {
  YOKE_MPSM_NO_REASON,
  YOKE_MPSM_NO_MODEL,    // none yet, or a unit's is missing
  YOKE_MPSM_NOT_FINITE,  // NaN or infinity in a model, a sample or a predicted input
  YOKE_MPSM_CONDITION,   // I - C~ nearly singular: rank loss
  YOKE_MPSM_QUALITY,     // the model misses the last step by th_signal or more
  YOKE_MPSM_GUARD,       // the coupling error grows
  YOKE_MPSM_WAIT,        // good again, but not for long enough
  YOKE_MPSM_N_REASONS,
} yoke_mpsm_reason;
extern const char* const yoke__mpsm_phase_names[YOKE_MPSM_N_PHASES];  // "learn", "signal", ...

typedef struct yoke_mpsm_rules {
  bool is_identified;  // else there is no learning and no switch phase
  double t_learning;   // [s]
  double t_switch;     // [s]; 0: at once
  double th_signal;    // e_glob at or above it: by signals
  double th_modified;  // e_glob at or above it: without step 3; not above th_signal
  double cond_max;
  size_t n_back;    // good steps in a row, the present one included, before the model is used again
  bool is_blended;  // after a fallback return over t_switch, else at once
} yoke_mpsm_rules;

// What is known at T^k. Numbers that are not known are 0.
typedef struct yoke_mpsm_evidence {
  double t, step;    // since the start [s], exchange interval [s]
  bool has_model;    // every unit has one, and assembling did not fail for another reason than rank
  bool is_finite;    // models, samples and predicted inputs
  double condition;  // of I - C~
  double e_glob;     // of the models (identify_quality.h); NaN counts as bad
  bool is_guarded;   // the guard wants signals
} yoke_mpsm_evidence;

// u = weight * u_model + (1 - weight) * u_signal; weight 0: u_signal itself, 1: u_model itself.
typedef struct yoke_mpsm_decision {
  yoke_mpsm_phase phase;
  yoke_mpsm_reason reason;
  double weight;
  bool is_change;  // phase differs from that of the last step
} yoke_mpsm_decision;

// Zeroed at the start.
typedef struct yoke_mpsm_course {
  bool has_started;
  bool is_fallen;
  bool is_returning;  // blending since t_back
  size_t n_good;
  double t_back;
  yoke_mpsm_phase phase;                     // of the last step
  int64_t n_steps[YOKE_MPSM_N_PHASES];       // counters for the health record
  int64_t n_fallbacks[YOKE_MPSM_N_REASONS];  // times a fallback began, by its reason
} yoke_mpsm_course;

// Weight of the model at a share (0 to 1) of the switch phase: (tanh(-5 + 10 share) + 1) / 2.
double yoke__mpsm_switch(double share);
// The decision at one exchange point.
yoke_mpsm_decision yoke__mpsm_decide(const yoke_mpsm_rules* rules, yoke_mpsm_course* course,
                                     const yoke_mpsm_evidence* now);

// ---- guard

typedef struct yoke_mpsm_guard_rules {
  size_t window;        // exchange points
  size_t n_grow;        // windows in a row in which the error must grow ...
  double growth;        // ... by this factor each,
  double rise;          // ... until it is this factor above its normal level,
  double against_hold;  // ... and at least this share of what holding the signals would have made
  double jump;          // at one exchange point: above the normal level by this factor, at once
  size_t n_swell;       // long windows in a row in which the signals must move more,
  double swell;         // ... until they do by this factor above their normal level
  double reach;         // of inputs from the signals, over the farthest move of late
  double worse;         // by signals: this factor above the error of the alarm, and growing
  size_t n_wait;        // windows by signals after the first alarm; doubles with each that follows
  size_t n_wait_max;
} yoke_mpsm_guard_rules;

typedef struct yoke_mpsm_guard_scale {  // the same rule on short and on long windows
  size_t n;                             // observations in the present window
  size_t streak;                        // windows in a row with growth
  double *now, *hold, *last, *normal;   // s each: sums of squares
} yoke_mpsm_guard_scale;

enum { YOKE_MPSM_GUARD_SCALES = 2, YOKE_MPSM_GUARD_RATIO = 8 };

typedef struct yoke_mpsm_guard {
  size_t s;
  bool has_last, was_model;
  bool is_alarmed;   // signals are wanted
  bool is_settling;  // after an alarm, until the error is normal again
  size_t n_waited;   // windows of this alarm so far
  bool is_falling;   // the error, under this alarm
  double rise_mark;  // log of error over normal when last compared
  size_t n_blocked;  // windows during which no alarm is raised: signals were worse
  size_t n_wait;     // least length of the last wait
  size_t n_calm;     // windows since then
  size_t n_in_vain;  // returns to the model because signals were worse, since the last calm
  size_t n_in_window;
  size_t n_swell;               // long windows in a row in which the signals moved more than before
  bool is_swell;                // too many of them
  int64_t n_alarms, n_useless;  // for the health record
  double *w_last, *alarm, *half, *half_last;  // s: signals; squares at the alarm, by half windows
  double *move_last, *move_normal;            // s: squares of their moves in long windows
  double* farthest;                           // s: their largest move in one step of late
  yoke_mpsm_guard_scale scales[YOKE_MPSM_GUARD_SCALES];
} yoke_mpsm_guard;

yoke_mpsm_guard_rules yoke__mpsm_guard_rules_default(void);
// Number of doubles for s signals; prepare lays the guard into them and zeroes it.
size_t yoke__mpsm_guard_size(size_t s);
void yoke__mpsm_guard_prepare(yoke_mpsm_guard* guard, size_t s, double memory[]);
// At T^k: coupling error of the step that ended, signals w = L y + g now, and whether the model
// made the inputs of that step. Returns true while signals are wanted. Bounded work, bounded
// memory.
bool yoke__mpsm_guard_observe(yoke_mpsm_guard* guard, const yoke_mpsm_guard_rules* rules,
                              const double eps[], const double w[], bool was_model);
// Behind observe: inputs u of the model for the next step that are too far from the signals. Where
// signals did not move, nothing is known.
bool yoke__mpsm_guard_refuses(const yoke_mpsm_guard* guard, const yoke_mpsm_guard_rules* rules,
                              const double u[]);

#endif
