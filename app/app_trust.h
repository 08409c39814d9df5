// What a run says about its own errors.
#ifndef YOKE_APP_TRUST_H
#define YOKE_APP_TRUST_H

#include <jansson.h>

// The verdict, a table of the worst signals and what they were compared with, from the summary of a run that was judged.
void yoke__app_print_trust(const json_t* summary);

#endif
