// Estimates on a unit through instances of it that run side by side and need not be saved, restored or looked into: they are
// corrected through their inputs and parameters alone.
//
//   nominal     unknowns as applied
//   two each    of the unknowns, with + and - an offset in this one: how the unit answers, at the present operating point
//   two more    with + and - offsets in all of them: what the model does not say
//
// From the start on every member runs with its offsets. Their differences from the nominal one are the responses that the filter of
// estimate_deviation.h works with. Those to fast unknowns (the ones with a walk) are step responses too: a model of low order is made
// of them (estimate_response.h), anew each time that they are twice as long, until they have come to rest. After that the offset of
// one of the two members is turned round, and when the effect of this has gone, turned back: a new step response, at the new
// operating point, while the other one still says how large the response is.
//
// Fast unknowns are applied at once, as the model knows what that does. Slow ones are applied slowly, if they walk at all.
//
// One step from t to t + h:
//   yoke__shadow_correct(s, readings, have)    readings that belong to t
//   yoke__shadow_theta(s, member)              unknowns of a member for the step
//   yoke__shadow_move(s, y)                    y: outputs of all members at t + h
// and beside it, on any thread, when yoke__shadow_wants_work says so: yoke__shadow_work(s). It must be done when
// yoke__shadow_needs_work says so, before the next correction. Results belong to the time of the last call.
#ifndef YOKE_ESTIMATE_SHADOW_H
#define YOKE_ESTIMATE_SHADOW_H

#include "estimate/estimate_deviation.h"

typedef struct yoke_shadow_setup {
  yoke_deviation_setup filter;
  unsigned max_level;  // responses over up to 2^(max_level + 1) steps
} yoke_shadow_setup;

typedef struct yoke_shadow yoke_shadow;

// NULL: out of memory, which the arena notes.
yoke_shadow* yoke__shadow_prepare(const yoke_shadow_setup* setup, yoke_arena* arena);
// applied, offsets: of the unknowns at the start; NULL: the first guesses, as far as they are unknown.
void yoke__shadow_start(yoke_shadow* s, const double applied[], const double offsets[]);
size_t yoke__shadow_members(const yoke_shadow* s);
// The first of the two members with offsets of an unknown; 0: it has none.
size_t yoke__shadow_member_of(const yoke_shadow* s, size_t unknown);
const double* yoke__shadow_theta(const yoke_shadow* s, size_t member);

// y: members x n_outputs, at the start.
void yoke__shadow_begin(yoke_shadow* s, const double y[]);
// Without heap and in bounded time. YOKE_DIVERGED: numbers are not finite.
yoke_status yoke__shadow_correct(yoke_shadow* s, const double readings[], const bool have[]);
yoke_status yoke__shadow_move(yoke_shadow* s, const double y[]);
bool yoke__shadow_wants_work(const yoke_shadow* s);
bool yoke__shadow_needs_work(const yoke_shadow* s);
void yoke__shadow_work(yoke_shadow* s);

const yoke_deviation* yoke__shadow_filter(const yoke_shadow* s);
void yoke__shadow_output(const yoke_shadow* s, size_t output, double* value, double* sd);
uint64_t yoke__shadow_steps(const yoke_shadow* s);
double yoke__shadow_offset(const yoke_shadow* s, size_t unknown);
bool yoke__shadow_shows(const yoke_shadow* s, size_t unknown);  // outputs have answered to it
double yoke__shadow_first_offset(const yoke_shadow* s, size_t unknown);  // from the first guess
// Error of the model over what it predicts, worst of the sensors; and at the present deviation, over the noise of the sensor.
double yoke__shadow_error(const yoke_shadow* s);
double yoke__shadow_misfit(const yoke_shadow* s);
bool yoke__shadow_has_model(const yoke_shadow* s);  // or needs none

#endif
