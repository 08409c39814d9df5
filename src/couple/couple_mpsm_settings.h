// Settings of `mpsm` and `mbcorr`.
#ifndef YOKE_COUPLE_MPSM_SETTINGS_H
#define YOKE_COUPLE_MPSM_SETTINGS_H

#include "couple/couple_mpsm.h"
#include "couple/couple_mpsm_phase.h"

enum { YOKE_MPSM_N_PARAMETERS = 12, YOKE_MPSM_N_FILES = 1, YOKE_MPSM_MAX_UNITS = 64 };

extern const yoke_coupling_parameter yoke__mpsm_parameters[YOKE_MPSM_N_PARAMETERS];
extern const yoke_coupling_parameter yoke__mbcorr_parameters[YOKE_MPSM_N_PARAMETERS];
extern const yoke_coupling_file yoke__mpsm_files[YOKE_MPSM_N_FILES];

// Those that are neither of the prediction nor of the models (couple_mpsm.h).
typedef struct yoke_mpsm_settings {
  yoke_mpsm_source source;
  yoke_mpsm_rules rules;
  size_t n_samples;  // that the prediction gets per step: one, or as many as the units are called
  bool has_guard, is_ramp;
} yoke_mpsm_settings;

yoke_mpsm_settings yoke__mpsm_settings(const yoke_coupling_setup* setup);
uint32_t yoke__mpsm_wants(const double v[]);
const char* yoke__mpsm_warn(const double v[]);
// The output that a signal tells between exchanges; n_outputs: none.
size_t yoke__mpsm_told_output(const yoke_coupling_cluster* c, size_t signal);
// Too large, or settings that contradict each other: YOKE_BAD_ARG and a message.
yoke_status yoke__mpsm_check(const yoke_coupling_setup* setup, bool is_corrector,
                             const yoke_sink* sink);

#endif
