// The contract of a coupling method: inputs over the next step from past samples.
//
// A method serves a group of signals that exchange on one grid. A signal is one real number travelling from an output
// (already scaled by the connection's gain and offset, and delayed if it asks for it) to one element of a unit's
// input vector. Signals are sorted by receiving unit, so that each unit's signals lie next to each other.
// After prepare nothing here may allocate, print, lock or loop without bound.
#ifndef YOKE_COUPLING_H
#define YOKE_COUPLING_H

#include <stddef.h>
#include <stdint.h>

#include "yoke/status.h"
#include "yoke/unit.h"

#ifdef __cplusplus
extern "C" {
#endif

// One receiving unit of a group: signals first .. first + n - 1 are its.
typedef struct yoke_coupling_sink {
  size_t first, n;
  double step;  // interval at which the unit is called [s]
} yoke_coupling_sink;

typedef struct yoke_coupling_setup {
  size_t n_signals;
  const int* orders;  // extrapolation order per signal, 0..3
  size_t n_sinks;
  const yoke_coupling_sink* sinks;
  double interval;  // exchange interval of the group [s]
} yoke_coupling_setup;

typedef enum yoke_coupling_reset {
  YOKE_RESET_DISCONTINUITY,
  YOKE_RESET_LOST_SAMPLE,
  YOKE_RESET_MODE_SWITCH,
} yoke_coupling_reset;

typedef struct yoke_coupling_ops {
  const char* name;  // as in `method: hold`
  const char* text;

  // Bytes of `self` for this set-up; prepare lays everything into them (zeroed, aligned to 64).
  size_t (*size)(const yoke_coupling_setup* setup);
  yoke_status (*prepare)(void* self, const yoke_coupling_setup* setup, char* err, size_t err_size);

  // At every exchange point of the group, after the barrier, in fixed order. k counts from 0 at the start time;
  // y: the signals now; u_applied: what the units were given last (NULL at k = 0).
  void (*observe)(void* self, int64_t k, const double y[], const double u_applied[]);
  // After every step of a sending unit (optional).
  void (*send)(void* self, size_t unit, int64_t j, const double y[]);
  // Before every step of a receiving unit: its signals at time tau after the last exchange point [s].
  // Touches only the slot of that sink. u: the sink's n numbers.
  void (*input)(void* self, size_t sink, double tau, double u[]);
  // Their derivatives of the given order (1, 2, ...) at tau, for units that take them (optional).
  void (*input_derivatives)(void* self, size_t sink, double tau, int order, double du[]);
  // Forgets history that is no longer valid. is_affected: one flag per signal; NULL: all of them.
  void (*reset)(void* self, yoke_coupling_reset reason, const bool is_affected[]);
} yoke_coupling_ops;

#ifdef __cplusplus
}
#endif
#endif
