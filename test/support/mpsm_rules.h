// Rules of the phases of method mpsm as the tests and the published figures have them.
#ifndef YOKE_TEST_MPSM_RULES_H
#define YOKE_TEST_MPSM_RULES_H

#include "couple/couple_mpsm_phase.h"

// Recommended values for models by recursive least squares; t_* for a step of 1 ms.
static inline yoke_mpsm_rules mpsm_rules(void) {
  return (yoke_mpsm_rules){
      .is_identified = true,
      .t_learning = 0.22,
      .t_switch = 0.005,
      .th_signal = 3.54,
      .th_modified = 0.21,
      .cond_max = 1e10,
      .n_back = 1,
  };
}

#endif
