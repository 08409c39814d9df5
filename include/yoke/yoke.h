// Yoke: real-time co-simulation that can be trusted. Load a system, step it, read its signals.
//
//   yoke_simulation* sim = NULL;
//   char err[4096];
//   if (yoke_simulation_load("system.yaml", NULL, &sim, err, sizeof err) < 0) { fputs(err, stderr); return 2; }
//   size_t x = 0;
//   yoke_simulation_find(sim, "left.x", &x);
//   while (!yoke_simulation_is_done(sim) && yoke_simulation_step(sim) >= 0) {
//     printf("%g %g\n", yoke_simulation_time(sim), yoke_simulation_read(sim, x));
//   }
//   yoke_simulation_destroy(&sim);
//
// Between load and destroy yoke_simulation_step makes no heap call, no system call, and prints nothing.
// Nothing is global: any number of simulations may live in one process, each used by one thread at a time.
#ifndef YOKE_YOKE_H
#define YOKE_YOKE_H

#include "yoke/coupling.h"
#include "yoke/message.h"
#include "yoke/status.h"
#include "yoke/unit.h"
#include "yoke/version.h"

#ifdef __cplusplus
extern "C" {
#endif

// The unit types that a system file may name: the built-in models plus the caller's own.
typedef struct yoke_models yoke_models;
YOKE_API yoke_status yoke_models_create(yoke_models** out);
// ops must live until the models and every simulation made with them are gone. YOKE_BAD_ARG if the name is taken.
YOKE_API yoke_status yoke_models_add(yoke_models* models, const yoke_unit_ops* ops);
YOKE_API void yoke_models_destroy(yoke_models** models);

typedef struct yoke_load_settings {
  const yoke_models* models;  // NULL: the built-in ones
  const char* const* sets;    // "path=value" texts that change the file's settings
  size_t n_sets;
  const yoke_sink* sink;  // where messages go; NULL: nowhere
} yoke_load_settings;

typedef struct yoke_simulation yoke_simulation;

// Reads, wires and initialises a system; it stands at its start time then. settings may be NULL.
// On failure *out is NULL and the sink got every message, with file, line and column.
YOKE_API yoke_status yoke_simulation_load(const char* path, const yoke_load_settings* settings,
                                          yoke_simulation** out);
YOKE_API void yoke_simulation_destroy(yoke_simulation** simulation);

// One macro step (time.step). YOKE_ENDED: a unit asked to end. Negative: yoke_simulation_message says
// which unit, when and why; the simulation can still be read and destroyed.
YOKE_API yoke_status yoke_simulation_step(yoke_simulation* simulation);
// Signals have jumped for a reason the units do not know: extrapolation starts anew at the next exchange.
YOKE_API void yoke_simulation_declare_discontinuity(yoke_simulation* simulation);
YOKE_API bool yoke_simulation_is_done(const yoke_simulation* simulation);
YOKE_API double yoke_simulation_time(const yoke_simulation* simulation);
// Why it failed; NULL: it did not.
YOKE_API const yoke_message* yoke_simulation_failure(const yoke_simulation* simulation);

// A signal is an element of a real output: "unit.variable" or "unit.variable[i]". find once, read as often as needed.
YOKE_API yoke_status yoke_simulation_find(const yoke_simulation* simulation, const char* name,
                                          size_t* signal);
YOKE_API double yoke_simulation_read(const yoke_simulation* simulation, size_t signal);

YOKE_API const char* yoke_version(void);

#ifdef __cplusplus
}
#endif
#endif
