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

// A setting of a method: `bonds: {spring: {coupling: {method: energy, k_i: 0.25}}}`.
typedef struct yoke_coupling_parameter {
  const char* name;
  const char* text;  // one line for people
  double start;      // default
  double min, max;   // allowed range, ends included
  const char* const*
      items;  // names instead of numbers (the value is the index); NULL-terminated, or NULL
} yoke_coupling_parameter;

// The bond that a group serves: its action travels in the signals, its rate the other way. The method sees both ends
// as probes, in SI units and with the bond's sign: y[n_signals + i] is the action as its unit delivered it,
// y[n_signals + n + i] the rate, i = 0 .. n - 1.
typedef struct yoke_coupling_bond {
  const char* name;
  size_t n;             // components; signal i carries component i of the action
  const double* scale;  // n: SI value (sign included) = scale * signal
  double mu;            // energy of a step = mu * dP * H; NaN if it is not known
} yoke_coupling_bond;

// A setting of a method that names a file: `models: loop.json`.
typedef struct yoke_coupling_file {
  const char* name;
  const char* text;  // one line for people
} yoke_coupling_file;

// Signals that a method looks at beside those that it serves: `regressor: epas.angle`, or a list. They are outputs of units.
typedef struct yoke_coupling_signals {
  const char* name;
  const char* text;  // one line for people
} yoke_coupling_signals;

// Where they stand in `y` of observe, in the order of the file; n = 0: not given.
typedef struct yoke_coupling_named {
  size_t first, n;
} yoke_coupling_named;

// A unit of a cluster: what the method sees of it and what it gets.
typedef struct yoke_coupling_unit {
  const char* name;
  size_t first_output, n_outputs;  // among the outputs of the cluster
  size_t first_signal,
      n_signals;  // its inputs that the method serves; its sink is the one with this first signal
  size_t first_exogenous, n_exogenous;  // its inputs that come from outside of the cluster
  const char* const* output_names;      // n_outputs; NULL: not known
  const char* const* input_names;       // n_signals, then n_exogenous; NULL: not known
  const bool*
      is_direct;  // of each input in the same order: an output follows it at once; NULL: not known
  bool has_linear;                // its linear model is given (YOKE_WANTS_LINEAR)
  size_t n_states, first_linear;  // where it stands, see below
} yoke_coupling_unit;

// A closed set of units that one method serves as a whole (YOKE_COUPLING_CLUSTER). Behind the signals in `y` of observe
// stand as probes
//   the outputs that travel inside, unit by unit                       n_outputs
//   the exogenous inputs, unit by unit                                 n_exogenous
//   linear models at the present point: A, B, C, D row by row, with
//   the unit's outputs and inputs (signals, then exogenous) as here    n_linear, a unit's from first_linear on
// Signals follow the outputs as L outputs + offset; where the offset is NaN, something else is added on the way, and it
// is what the signal is beyond L outputs.
typedef struct yoke_coupling_cluster {
  size_t n_units;
  const yoke_coupling_unit* units;
  size_t n_outputs, n_exogenous, n_linear;
  const double* L;       // n_signals x n_outputs, row by row
  const double* offset;  // n_signals
} yoke_coupling_cluster;

// What is to be computed beside the steps, where an exchange has no time for it. One piece of work at a time.
typedef struct yoke_coupling_worker {
  void* context;
  // Begins and returns at once; the argument belongs to the work until finish says true. No heap.
  void (*start)(void* context, void (*work)(void* argument), void* argument);
  // True: the work is done. Waits for it unless the run is paced by the clock.
  bool (*finish)(void* context);
} yoke_coupling_worker;

typedef struct yoke_coupling_setup {
  size_t n_signals;
  const int* orders;  // extrapolation order per signal, 0..3
  size_t n_sinks;
  const yoke_coupling_sink* sinks;
  double interval;           // exchange interval of the group [s]
  size_t n_probes;           // numbers behind the signals in `y` of observe: looked at, not served
  const double* parameters;  // values of the method's parameters, in the order of its table
  const char* const* files;  // its files, in the order of its table; NULL: not given
  const yoke_coupling_bond* bond;        // NULL if the group is not a bond
  const yoke_coupling_cluster* cluster;  // NULL if the method serves units one by one
  const int64_t* n_sends;                // per signal: steps of its source per exchange
  const int64_t* delays;  // per signal [exchange intervals]; NULL: see YOKE_COUPLING_DELAYS
  bool
      is_companion;  // the system of the file at other steps: what was designed for those of the file may be adapted
  const yoke_coupling_named* named;  // in the order of its table; NULL if the table has none
  // Per signal: what the receiving unit takes, by the limits of its port; infinite: no limit. NULL: none is known.
  const double *low, *high;
} yoke_coupling_setup;

// An exchange point.
typedef struct yoke_coupling_moment {
  int64_t k;                           // counts from 0 at the start time
  double h_last;                       // the interval that ends here [s]; 0 at k = 0
  double h_next;                       // the interval that begins here [s]
  const yoke_coupling_worker* worker;  // NULL unless the method wants one (YOKE_WANTS_WORKER)
  // Methods with YOKE_COUPLING_FRESH, while a unit is evaluated anew at the exchange: the signals, one flag each, that are
  // observed by this call. NULL: all of them. See below.
  const bool* is_due;
  // Methods with YOKE_COUPLING_AGES: how old each signal's sample is [s]; NULL: all are of now.
  const double* ages;
} yoke_coupling_moment;

typedef enum yoke_coupling_reset {
  YOKE_RESET_DISCONTINUITY,
  YOKE_RESET_LOST_SAMPLE,
  YOKE_RESET_MODE_SWITCH,
  YOKE_RESET_GROWTH,  // the loop of these signals grows; only for methods with is_failing
} yoke_coupling_reset;

enum {
  YOKE_COUPLING_BOND = 1u << 0,      // serves a bond and needs its probes
  YOKE_COUPLING_JACOBI = 1u << 1,    // valid under explicit Jacobi only
  YOKE_COUPLING_EXPLICIT = 1u << 2,  // valid for units with explicit solvers only
  YOKE_COUPLING_SUBSTEPS =
      1u << 3,  // needs a receiving unit that is called several times per exchange
  YOKE_COUPLING_NEEDS_MU = 1u << 4,  // needs to know mu of the bond
  YOKE_COUPLING_CLUSTER = 1u << 5,   // serves all connections between its members as one group
  // Takes part in `exchange: fresh` (explicit Jacobi), where a unit evaluates its outputs anew with its new inputs: those are
  // what `input` says at tau = 0, not the samples. At an exchange point `observe` is called once or more; every call of the same k
  // names the signals whose sample it brings (is_due), and each is brought once: those that the unit's outputs follow
  // first, the others when all units have been evaluated. Between exchange points such a unit is evaluated anew after every
  // call, with `input` at the end of the call. So `input` is asked more than once for an instant, and answers the same number.
  // `send` brings values as they were evaluated, that of an exchange point just before its observe.
  YOKE_COUPLING_FRESH = 1u << 6,
  // Delays its signals itself: it gets them undelayed, with `delays`.
  YOKE_COUPLING_DELAYS = 1u << 7,
  // Bridges missing and late samples itself: it is told `ages`, and no sample is made up for it (`on_loss: extrapolate`). One that
  // is missing is announced by reset, as to every method.
  YOKE_COUPLING_AGES = 1u << 8,
  // With `is_companion` it makes what its files hold anew for the steps at hand. Companions of other methods do without files.
  YOKE_COUPLING_REDESIGNS = 1u << 9,
};

// What a method wants beside samples.
enum {
  YOKE_WANTS_LINEAR = 1u << 0,  // linear models of the members of its cluster
  YOKE_WANTS_WORKER = 1u << 1,  // a thread beside the steps
  YOKE_WANTS_SENDS = 1u << 2,   // calls of `send`; a method without `wants` always gets them
};

// One of the ways in which a method serves a signal, and for how many exchanges it has done so.
typedef struct yoke_coupling_service {
  const char* by;  // "held", "linear"; lives as long as the method
  int64_t n;
  const char* why;  // half a sentence for people; NULL: none
} yoke_coupling_service;

// What an analysis of stability (docs/analyse.md) takes the method for.
typedef enum yoke_coupling_form {
  YOKE_FORM_OTHER,       // it does not know the method
  YOKE_FORM_POLYNOMIAL,  // extrapolation of the signal's order from the last samples
  YOKE_FORM_MEAN_ERROR,  // held value plus the mean error of the last step; with a parameter `weight`
  YOKE_FORM_PRE_STEP,    // pre-step stabilisation, only with the parameters of `mpsm`
  YOKE_FORM_CORRECTOR,  // model-based corrector, only with the parameters of `mbcorr`
} yoke_coupling_form;

typedef struct yoke_coupling_ops {
  size_t table_size;       // bytes of this table: YOKE_COUPLING_HEAD fills both
  uint32_t table_version;  // of the contract
  const char* name;        // as in `method: hold`
  const char* text;
  uint32_t flags;  // YOKE_COUPLING_*
  yoke_coupling_form form;
  const yoke_coupling_parameter* parameters;
  size_t n_parameters;
  const yoke_coupling_file* files;
  size_t n_files;
  const char* const* trace_names;  // what trace shows
  size_t n_trace;
  const char* const* health_names;  // what health reports
  size_t n_health;
  // By how much an input runs ahead of a held one, for the factor mu: a share of the exchange interval (order 0 only),
  // and a share of one call of the receiving unit.
  double lead_interval, lead_call;

  // Bytes of `self` for this set-up; prepare lays everything into them (zeroed, aligned to 64).
  size_t (*size)(const yoke_coupling_setup* setup);
  // May take memory that does not lie in `self`; then there is close, called once if prepare succeeded.
  yoke_status (*prepare)(void* self, const yoke_coupling_setup* setup, const yoke_sink* sink);
  void (*close)(void* self);
  // YOKE_WANTS_* with these parameters (optional).
  uint32_t (*wants)(const double parameters[]);

  // At every exchange point of the group, after the barrier, in fixed order. Memory may be taken at k = 0 only.
  // y: the signals now, then the probes; u_applied: what the units were given last (NULL at k = 0).
  void (*observe)(void* self, const yoke_coupling_moment* now, const double y[],
                  const double u_applied[]);
  // After the j-th step (1, 2, ...) of the unit that a signal comes from, since the last exchange: the signal's value
  // now (optional). Touches only the slot of that signal.
  void (*send)(void* self, size_t signal, int64_t j, double y);
  // Before every step of a receiving unit: its signals at time tau after the last exchange point [s].
  // Touches only the slot of that sink. u: the sink's n numbers.
  void (*input)(void* self, size_t sink, double tau, double u[]);
  // Their derivatives of the given order (1, 2, ...) at tau, for units that take them (optional).
  void (*input_derivatives)(void* self, size_t sink, double tau, int order, double du[]);
  // What is recorded of it at every exchange as coupling.NAME.*: n_trace numbers that stay where they are (optional).
  const double* (*trace)(const void* self);
  // Counters and figures for the summary: n_health numbers (optional).
  void (*health)(const void* self, double values[]);
  // Energy that the coupling of the bond has created and that is still to be removed [J] (methods that correct a bond).
  double (*remainder)(const void* self);
  // Forgets history that is no longer valid. is_affected: one flag per signal; NULL: all of them.
  void (*reset)(void* self, yoke_coupling_reset reason, const bool is_affected[]);
  // What is dangerous about these settings, half a sentence for the user, or NULL (optional).
  const char* (*warn)(const double parameters[]);
  // How it went so far: notes and warnings for a person (optional). Sent at the end of a run; of a cluster they go to the summary.
  void (*report)(const void* self, const yoke_sink* sink);
  // Writes what the method has learnt to a file that a run can start from (optional). YOKE_NO_SUPPORT: nothing to write.
  yoke_status (*write)(const void* self, const char* path, const yoke_sink* sink);

  // The complete state between two exchanges, to and from image_size bytes, which stay the same after prepare. Numbers, no
  // pointers: another process with the same set-up may restore it. No heap. Without them simulations that use the method
  // cannot be saved; 0 bytes: the method remembers nothing.
  size_t (*image_size)(const void* self);
  void (*save)(const void* self, void* image);
  void (*restore)(void* self, const void* image);

  // In place of `input` for a unit that holds its inputs during a call: the mean of each signal over the call that begins tau
  // after the exchange point and lasts h [s]. NULL: such a unit gets the values at the start of its calls.
  void (*input_mean)(void* self, size_t sink, double tau, double h, double u[]);

  // Methods that choose while running: what has served a signal so far, at most n entries. Returns how many there are (optional).
  size_t (*served)(const void* self, size_t signal, yoke_coupling_service services[], size_t n);

  // Asked when a signal of a loop grows a hundredfold: is it predicted so badly that its extrapolation may be the cause? If so, all
  // signals of the loop that such methods serve are reset by YOKE_RESET_GROWTH (optional).
  bool (*is_failing)(const void* self, size_t signal);

  // Asked once, after the first observe: YOKE_NO_MEMORY if memory that it wanted there could not be had; the start fails (optional).
  yoke_status (*started)(const void* self);

  // Signals beside those that it serves, which its settings may name: probes (optional).
  const yoke_coupling_signals* signals;
  size_t n_signals;
} yoke_coupling_ops;
#define YOKE_COUPLING_HEAD                                                                         \
  .table_size = sizeof(yoke_coupling_ops), .table_version = YOKE_CONTRACT_VERSION

#ifdef __cplusplus
}
#endif
#endif
