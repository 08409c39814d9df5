// Playback of recorded signals; settings in README.md.
#ifndef YOKE_MODELS_PLAYBACK_H
#define YOKE_MODELS_PLAYBACK_H

#include "yoke/unit.h"

// "playback"
extern const yoke_unit_ops yoke__model_playback;

#endif
