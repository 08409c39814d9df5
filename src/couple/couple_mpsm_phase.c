// Phases of model-based pre-step stabilisation: who makes the next inputs, and with what weight.
//
//   learning      t < t_learning               signals
//   e_glob >= th_signal, I - C~ ill-conditioned, not finite, guard      signals (fallback)
//   e_glob >= th_modified                      model without step 3
//   else                                       model
//   weight in the switch phase (and after a fallback, if wanted):
//   (tanh(-5 + 10 (t - t_start) / t_switch) + 1) / 2
//
// One bad unit switches the whole cluster, because steps 1 and 2 mix all of them.
// Source: S. Genser, thesis, Graz 2020, section 2.4; the guard is ours (docs/couple_mpsm_guard.md).
#include "couple/couple_mpsm_phase.h"

#include <math.h>

#include "base/base_check.h"

const char* const yoke__mpsm_phase_names[YOKE_MPSM_N_PHASES] = {"learn", "signal", "modified",
                                                                "full"};

double yoke__mpsm_switch(double share) {
  // tanh(-5) and tanh(5) are within 1e-4 of -1 and 1
  return 0.5 * (tanh(-5 + 10 * share) + 1);
}

// Why the model may not be used now.
static yoke_mpsm_reason refuse(const yoke_mpsm_rules* rules, const yoke_mpsm_evidence* now) {
  // the first reason that applies is reported
  if (!now->has_model) {
    return YOKE_MPSM_NO_MODEL;
  }
  if (!(now->condition <= rules->cond_max)) {
    return YOKE_MPSM_CONDITION;
  }
  if (!now->is_finite || !yoke__is_finite(now->e_glob)) {
    return YOKE_MPSM_NOT_FINITE;
  }
  if (now->e_glob >= rules->th_signal) {
    return YOKE_MPSM_QUALITY;
  }
  return now->is_guarded ? YOKE_MPSM_GUARD : YOKE_MPSM_NO_REASON;
}

// Weight at time t of a phase that began at `start`; 1 behind its end, though tanh is not.
static double weight_at(const yoke_mpsm_rules* rules, double start, const yoke_mpsm_evidence* now) {
  // a millionth of a step forgives round-off of summed times
  const double since = now->t - start;
  return since < rules->t_switch - 1e-6 * now->step ? yoke__mpsm_switch(since / rules->t_switch)
                                                    : 1;
}

static double weight_of_model(const yoke_mpsm_rules* rules, yoke_mpsm_course* course,
                              const yoke_mpsm_evidence* now) {
  double weight = rules->is_identified ? weight_at(rules, rules->t_learning, now) : 1;
  if (course->is_returning) {
    // after a fallback the smaller of the two weights
    const double back = weight_at(rules, course->t_back, now);
    course->is_returning = back < 1;
    weight = back < weight ? back : weight;
  }
  return weight;
}

static yoke_mpsm_decision conclude(yoke_mpsm_course* course, yoke_mpsm_phase phase,
                                   yoke_mpsm_reason reason, double weight) {
  const bool is_change = course->has_started && course->phase != phase;
  course->has_started = true;
  course->phase = phase;
  course->n_steps[phase]++;
  return (yoke_mpsm_decision){phase, reason, weight, is_change};
}

yoke_mpsm_decision yoke__mpsm_decide(const yoke_mpsm_rules* rules, yoke_mpsm_course* course,
                                     const yoke_mpsm_evidence* now) {
  // times are sums of steps: a millionth of one forgives their round-off
  if (rules->is_identified && now->t < rules->t_learning - 1e-6 * now->step) {
    return conclude(course, YOKE_MPSM_LEARN, YOKE_MPSM_NO_REASON, 0);
  }
  const yoke_mpsm_reason reason = refuse(rules, now);
  if (reason != YOKE_MPSM_NO_REASON) {
    course->n_fallbacks[reason] += !course->is_fallen;
    course->is_fallen = true;
    course->is_returning = false;
    course->n_good = 0;
    return conclude(course, YOKE_MPSM_SIGNAL, reason, 0);
  }

  // good again: only after n_back such steps in a row, and with a new switch phase if wanted
  if (course->is_fallen) {
    course->n_good++;
    if (course->n_good < rules->n_back) {
      return conclude(course, YOKE_MPSM_SIGNAL, YOKE_MPSM_WAIT, 0);
    }
    course->is_fallen = false;
    course->is_returning = rules->is_blended;
    course->t_back = now->t;
  }
  const yoke_mpsm_phase phase =
      now->e_glob >= rules->th_modified ? YOKE_MPSM_MODIFIED : YOKE_MPSM_FULL;
  return conclude(course, phase, YOKE_MPSM_NO_REASON, weight_of_model(rules, course, now));
}
