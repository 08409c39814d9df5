// The table of coupling methods.
#include "couple/couple.h"

#include <string.h>

#include "couple/couple_adaptive.h"
#include "couple/couple_auto.h"
#include "couple/couple_energy.h"
#include "couple/couple_hinf.h"
#include "couple/couple_hold.h"
#include "couple/couple_interpolate.h"
#include "couple/couple_mpsm.h"
#include "couple/couple_nepce.h"

const yoke_coupling_ops* const yoke__coupling_methods[] = {
    &yoke__couple_auto,   &yoke__couple_hold,        &yoke__couple_energy,
    &yoke__couple_nepce,  &yoke__couple_interpolate, &yoke__couple_mpsm,
    &yoke__couple_mbcorr, &yoke__couple_hinf,        &yoke__couple_adaptive,
};

const size_t yoke__n_coupling_methods =
    sizeof yoke__coupling_methods / sizeof yoke__coupling_methods[0];

const yoke_coupling_ops* yoke__coupling_find(const char* name) {
  for (size_t i = 0; i < yoke__n_coupling_methods; i++) {
    if (strcmp(yoke__coupling_methods[i]->name, name) == 0) {
      return yoke__coupling_methods[i];
    }
  }
  return NULL;
}
