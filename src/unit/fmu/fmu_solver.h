// The solver around a model exchange FMU, shared by fmu_me*.c and fmu_cvode.c. The concept is in docs/fmu_model_exchange.md.
//
// Times: `t_step` is where the unit's step began, tau counts from there, so that a step keeps its length at any t.
//
//   t_step        internal step       t_step + h
//   |----+----+---(---x----)---+----+----|
//                 tau event  stop            the internal step is cut at the event and the rest is done anew
#ifndef YOKE_UNIT_FMU_FMU_SOLVER_H
#define YOKE_UNIT_FMU_FMU_SOLVER_H

#include "ode/ode.h"
#include "unit/fmu/fmu.h"
#include "unit/fmu/fmu_cvode.h"

enum {
  FMU_MAX_EVENTS = 10000,      // in one step of the unit
  FMU_MAX_UPDATES = 100,       // of the discrete states at one event
  FMU_MAX_INTERNAL = 1000000,  // internal steps in one step of the unit
  FMU_MAX_TRIALS =
      10000,  // dopri5: internal steps in one step of the unit, refused ones too; four more per event
  FMU_N_SLOPES = 3,  // derivatives of the inputs that are used
};

// A variable that may change at events only (discrete inputs, tunable parameters): kept until the next step begins.
typedef struct fmu_latch {
  size_t variable;  // index in layout.info.variables
  size_t at, size;  // its value in `latched`
  size_t dense;     // real input: place of its first element in u; else YOKE_FMI_NONE
} fmu_latch;

// What changes from step to step beside the arrays; all of it goes into state images.
typedef struct fmu_solver_state {
  double t_now;   // time as the FMU knows it
  double t_next;  // of the next time event, if there is one
  double wanted;  // dopri5: length of the next internal step [s]; 0: nothing is known yet
  bool has_next;
  bool is_stiff;       // dopri5 found the model stiff and handed over to CVODE
  bool is_over;        // the FMU asked to end the simulation
  bool is_restarting;  // a state event was just handled
  bool has_slopes;     // derivatives of the inputs are given
  bool is_pending;     // a latch waits for an event
} fmu_solver_state;

// of a latch: never set, set and known to the FMU, waiting
enum { FMU_UNKNOWN, FMU_KNOWN, FMU_PENDING };

// Fixed steps by a method of src/ode, or steps that are chosen by a tolerance.
typedef enum fmu_solver_kind { FMU_FIXED, FMU_DOPRI5, FMU_CVODE } fmu_solver_kind;

typedef struct fmu_solver {
  size_t n_x, n_z;
  fmu_solver_kind kind;
  yoke_ode_method method;  // of fixed steps
  double tolerance;        // of the others, relative
  bool is_counting_steps;  // the FMU wants to hear of every internal step

  // inputs
  fmu_dense continuous;  // real inputs that may change at any time
  fmu_latch* latches;
  size_t n_latches;
  size_t* latch_of;  // per variable 1 + its latch, or 0
  size_t*
      dense_of;  // per variable the place of its first element in u; YOKE_FMI_NONE: no real input
  unsigned char* is_continuous;  // n_u

  // what a state image holds, in one block: `kept` of the fmu
  fmu_solver_state* now;
  double* x;                   // n_x: states
  double* z;                   // n_z: indicators at t_now, to find the first crossing
  double* u;                   // n_u: inputs at the start of the step, afterwards those at its end
  double* slopes;              // FMU_N_SLOPES * n_u: their derivatives at the start of the step
  double* nominals;            // n_x: usual sizes of the states
  unsigned char* is_above;     // n_z: z > 0 after the last event or internal step
  unsigned char* latch_marks;  // n_latches
  unsigned char* latched;      // values of the latches

  // scratch
  double* x_start;         // n_x: at the start of the internal step
  double* work;            // of the integrator
  double* u_now;           // n_u
  double *z_low, *z_high;  // n_z: both ends of the interval that holds a crossing
  yoke_ode_corrector corrector;

  // dopri5
  yoke_ode_pair_step pair;  // slope_end and error: n_x each
  double* slope;            // n_x: at the start of the internal step
  bool has_slope;           // it is known
  int64_t n_trials;         // in the step at hand
  int64_t n_looked_at;      // steps within the tolerance since h lambda was last judged
  double h_lambda_sum;      // of these
  bool is_at_bound;         // of stability, as judged last

  // the step at hand
  double t_step, h;
  double t_floor;      // no earlier time is told to the FMU
  double tolerance_s;  // times nearer than this are one
  int64_t n_events;
  uint32_t flags;       // YOKE_STEP_*
  yoke_status failure;  // of a call inside the right-hand side
  double h_counted;     // the last step's length and its number of internal steps
  int64_t n_internal;
  double longest;  // internal step that the tolerance may choose [s]

  struct fmu_cvode*
      cvode;       // of FMU_CVODE; of FMU_DOPRI5 what it hands a stiff model over to, or NULL
  double t_stiff;  // where it did [s]
  bool is_stiff_told;
} fmu_solver;

// --- fmu_me_layout.c: solver and sizes from the settings, the description and the instance.
yoke_status yoke__fmu_me_lay_out(fmu* f, const yoke_sink* sink);
// For the description of the unit. s: NULL while there is none, or in another process.
yoke_solver_method yoke__fmu_me_method(const yoke_unit_file_settings* settings,
                                       const fmu_solver* s);

// --- fmu_me_step.c
// Time, inputs and states of the FMU at tau of this step.
yoke_status yoke__fmu_me_put(fmu* f, double tau, const double x[]);
// Derivatives there; says in f->message which state has none.
yoke_status yoke__fmu_me_derivatives(fmu* f, double tau, const double x[], double dx[]);
// Indicators there, after put.
yoke_status yoke__fmu_me_indicators(fmu* f, double z[]);
// The continuous inputs of the FMU.
yoke_status yoke__fmu_me_put_inputs(fmu* f, const double u[]);
// Does one lie on another side than is_above says?
bool yoke__fmu_me_is_crossed(const fmu_solver* s, const double z[]);
// Time, or the end of the step, whichever comes first. True: a time event is due there.
bool yoke__fmu_me_find_stop(const fmu_solver* s, double tau, double target, double* stop);
// Tells the FMU that an internal step is done. False in *is_event: nothing to do.
yoke_status yoke__fmu_me_complete(fmu* f, bool* is_event);
// Failure with a text in f->message.
yoke_status yoke__fmu_me_fail(fmu* f, yoke_status status, const char* format, ...)
    YOKE_PRINTF(3, 4);
// Number of internal steps in a step of h seconds, or the longest of them.
yoke_status yoke__fmu_me_plan(fmu* f, double h);
// The whole step in fixed internal steps or in those of dopri5.
yoke_status yoke__fmu_me_run_own(fmu* f);
// One step of the method from x_start to x; the FMU stands at its end. z receives the indicators there.
yoke_status yoke__fmu_me_integrate(fmu* f, double tau, double length, double z[]);

// --- fmu_me_control.c
// The same for dopri5, of *length or as much of it as the tolerance allows.
yoke_status yoke__fmu_me_integrate_within(fmu* f, double tau, double* length);

// --- fmu_me_events.c
// After initialisation the FMU is in event mode: settles and goes over to continuous time.
yoke_status yoke__fmu_me_first_event(fmu* f);
// An event at time t: pending values, update until nothing changes, states and indicators read again.
yoke_status yoke__fmu_me_event(fmu* f, double t);
// A state in words, for messages.
void yoke__fmu_me_state_name(const fmu* f, size_t state, char* to, size_t size);

// --- fmu_cvode.c
// Can the companion library be loaded?
bool yoke__fmu_cvode_is_there(void);
// Loads the companion library; without it f->solver->cvode stays NULL. *is_absent: it was not built.
yoke_status yoke__fmu_cvode_load(fmu* f, bool* is_absent, const yoke_sink* sink);
yoke_status yoke__fmu_cvode_open(fmu* f, const yoke_sink* sink);
void yoke__fmu_cvode_close(fmu* f);
// From tau to the end of the step.
yoke_status yoke__fmu_me_run_cvode(fmu* f, double tau);
// The past of the solution does not continue: inputs jumped, a state was restored.
void yoke__fmu_cvode_forget(fmu* f);

#endif
