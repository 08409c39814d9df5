// What lies between Yoke and its companion `yoke-cvode.so`, which holds CVODE of SUNDIALS: loaded for model exchange FMUs
// only, by default or with `solver: cvode`, so that nobody else needs SUNDIALS. The companion exports one object, `yoke_cvode`.
//
// Rules: times are relative to an origin of the caller's choice. All calls come from one thread. The companion takes heap, also
// inside `advance`.
#ifndef YOKE_UNIT_FMU_FMU_CVODE_H
#define YOKE_UNIT_FMU_FMU_CVODE_H

#include <stddef.h>

#include "yoke/message.h"

#define YOKE_CVODE_VERSION 3  // of this interface
#define YOKE_CVODE_SYMBOL  "yoke_cvode"

// x' = f(t, x) with root functions z(t, x). Both return 0, 1 for "not here, try a shorter step", -1 for "give up".
typedef struct yoke_cvode_problem {
  void* self;
  size_t n_x, n_z;  // n_x > 0
  int (*rhs)(void* self, double t, const double x[], double dx[]);
  int (*roots)(void* self, double t, const double x[], double z[]);
  double tolerance;        // relative; absolute: times the nominal value
  const double* nominals;  // n_x, > 0; read again at each restart
} yoke_cvode_problem;

typedef enum yoke_cvode_outcome {
  YOKE_CVODE_FAILED = -1,
  YOKE_CVODE_STEP = 0,  // one internal step was done
  YOKE_CVODE_STOP = 1,  // t_stop is reached
  YOKE_CVODE_ROOT =
      2,  // a root function changed its sign at t, at or before the end of an internal step
} yoke_cvode_outcome;

typedef struct yoke_cvode_api {
  int version;           // YOKE_CVODE_VERSION
  const char* sundials;  // version of the library
  // On failure the sink gets the reason. The problem is copied, what it points to is not.
  yoke_status (*open)(const yoke_cvode_problem* problem, void** solver, const yoke_sink* sink);
  // Forgets the past and starts at t with x.
  yoke_cvode_outcome (*restart)(void* solver, double t, const double x[], const yoke_sink* sink);
  // One internal step of at most `longest`, not beyond t_stop. t and x: where it ended.
  yoke_cvode_outcome (*advance)(void* solver, double t_stop, double longest, double* t, double x[],
                                const yoke_sink* sink);
  void (*close)(void* solver);
} yoke_cvode_api;

#endif
