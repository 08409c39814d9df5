// Twins as units: an estimator of a thermal (or RC) network that a netlist describes, fed by sensors. See docs/twin.md.
//
// One call from t to t + h takes the readings and inputs of t, corrects the estimates, and predicts them to t + h. Outputs belong to
// t + h. Inputs are held by the prediction; the next call puts right those that went straight (twin_inputs.c).
#ifndef YOKE_UNIT_TWIN_H
#define YOKE_UNIT_TWIN_H

#include "unit/unit_file.h"

// What a sensor reads: a temperature t(x), v(x), a difference t(a,b) or a flow i(r) of the netlist.
typedef struct yoke_twin_sensor {
  const char* name;
  yoke_place place;
  double sigma;  // standard deviation of its noise; 0: not given
} yoke_twin_sensor;

typedef enum yoke_twin_as {
  YOKE_TWIN_AS_DEFAULT,
  YOKE_TWIN_RESISTANCE,
  YOKE_TWIN_CONDUCTANCE
} yoke_twin_as;

// Something to be estimated: offset(SENSOR), an input, a parameter or an element of the netlist.
typedef struct yoke_twin_unknown {
  const char* name;
  yoke_place place, as_place;
  yoke_twin_as as;                       // of a resistance: what the filter works with
  double start, sd, walk, lower, upper;  // NaN: not given
} yoke_twin_unknown;

typedef struct yoke_twin_output {
  const char* name;
  yoke_place place;
} yoke_twin_output;

// What the system file says of a twin beside `with` and `start`. Texts and arrays live as long as the unit.
typedef struct yoke_twin_settings {
  const yoke_twin_sensor* sensors;
  const yoke_twin_unknown* unknowns;
  size_t n_sensors, n_unknowns;
  const char* const* held;  // known inputs that stay until the next sample (docs/twin.md)
  size_t n_held;
  int filter;  // of yoke_estimate_method
  yoke_place filter_place;
  double walk, rate_walk, start_sd, rate_sd, gate, jitter;  // NaN: not given
  double late_s;                                            // how late a reading may be [s]
  int64_t most_resets;

  // twins of a unit that is a black box (docs/twin_black.md)
  yoke_unit_kind box;            // what is behind it; YOKE_KIND_NONE: the network of a netlist
  const yoke_unit_ops* box_ops;  // of a model
  const yoke_twin_output* outputs;
  size_t n_outputs;  // of interest; 0: all
} yoke_twin_settings;

// The settings without sensors and unknowns, nothing given.
yoke_twin_settings yoke__twin_settings_default(void);

// A unit's view of a netlist as a twin; settings->twin is needed. Errors and warnings of the file go to messages.
yoke_status yoke__twin_file_open(const yoke_unit_file_settings* settings, yoke_messages* messages,
                                 yoke_unit_file** out);

// A unit's view of another unit: its instances are made from tables of operations, which outlive it. How many are wanted depends on
// the settings and on what the table offers.
size_t yoke__twin_black_instances(const yoke_twin_settings* twin, const yoke_unit_ops* ops);
// ops: that many, of the same unit; copied.
yoke_status yoke__twin_black_open(const yoke_unit_file_settings* settings,
                                  const yoke_unit_ops* const ops[], size_t n, yoke_unit_file** out);

// What a person wants to know of a twin; texts and arrays belong to the unit.
typedef struct yoke_unit_twin_sensor {
  const char *name, *dim;
  double sigma;
  bool is_assumed;  // nobody has said it
} yoke_unit_twin_sensor;

// What the sensors tell of a temperature or an unknown.
typedef enum yoke_twin_sight {
  YOKE_TWIN_SIGHT_UNKNOWN,  // nobody has looked
  YOKE_TWIN_SEEN,
  YOKE_TWIN_SEEN_MOVING,  // while temperatures move; not at rest
  YOKE_TWIN_UNSEEN,
} yoke_twin_sight;

typedef struct yoke_unit_twin_state {
  const char* name;  // node
  yoke_twin_sight sight;
} yoke_unit_twin_state;

typedef struct yoke_unit_twin_unknown {
  const char *name, *dim;
  const char* what;                      // "resistance r1, r2"
  double start, sd, walk, lower, upper;  // infinite: no bound
  bool has_default_sd, has_default_walk;
  yoke_twin_sight sight;
} yoke_unit_twin_unknown;

// A combination of temperatures and unknowns that the sensors hardly show.
typedef struct yoke_unit_twin_weak {
  const char* names;  // "'r1' and 'c1'"
  double part;        // of the singular value of what shows best
} yoke_unit_twin_weak;

typedef struct yoke_unit_twin_figures {
  const char *title, *filter;
  double step, fastest, slowest;       // [s]; time constants of the network with the guesses
  size_t n, m, p, r;                   // sizes of the whole set of equations
  const yoke_unit_twin_state* states;  // p
  const yoke_unit_twin_sensor* sensors;
  const yoke_unit_twin_unknown* unknowns;
  size_t n_sensors, n_unknowns;
  const double*
      singular;  // of what the sensors show while temperatures move, as parts of the largest
  size_t n_singular, rank;  // 0: nobody has looked
  const yoke_unit_twin_weak* weak;
  size_t n_weak;
  // counts since the start
  uint64_t n_steps, n_readings, n_missing, n_gated, n_lost, n_resets;
  // of a black box: how many instances of it there are, how many run in every step, and whether those that have run can go back
  size_t n_instances, n_members;
  int n_threads;
  bool is_restored;
} yoke_unit_twin_figures;

// The settings of a twin that is to be written elsewhere, with `held` as well for those of its real inputs that the system around it
// holds. They belong to the unit. NULL: it is no twin.
const yoke_twin_settings* yoke__unit_twin_settings(const yoke_unit_ops* ops, void* self);
void yoke__unit_twin_hold(const yoke_unit_ops* ops, void* self, size_t input);

// False: the unit is no twin of a network.
bool yoke__unit_twin_figures(const yoke_unit_ops* ops, const void* self,
                             yoke_unit_twin_figures* out);
// The same of a twin of a black box.
bool yoke__twin_black_figures(const yoke_unit_ops* ops, const void* self,
                              yoke_unit_twin_figures* out);

#endif
