// What `yoke synth` prints.
#ifndef YOKE_APP_SYNTH_H
#define YOKE_APP_SYNTH_H

#include "app/app.h"
#include "study/study_synth.h"

#define YOKE_SYNTH "synth"

// All of it, for people. path: of the system.
void yoke__app_synth_print(const yoke_synth_study* study, const yoke_synth_request* request);

#endif
