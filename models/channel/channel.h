// A physical link that adds noise and loses samples; equations and variables in README.md.
#ifndef YOKE_MODELS_CHANNEL_H
#define YOKE_MODELS_CHANNEL_H

#include "yoke/unit.h"

// "channel": y = u + noise, or the last good y where a sample is lost
extern const yoke_unit_ops yoke__model_channel;

#endif
