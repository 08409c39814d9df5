// Instances of one unit that run side by side, each with inputs and parameters of its own, on several threads if their work is worth
// it. All calls to an instance come from the thread that made it. The results have the same bits with any number of threads.
#ifndef YOKE_UNIT_TWIN_INSTANCES_H
#define YOKE_UNIT_TWIN_INSTANCES_H

#include "unit/unit.h"

typedef struct yoke_instances_setup {
  const yoke_unit_ops* const* ops;  // n, of the same unit; they may be the same table
  const yoke_unit_args* args;       // the context is that of each table
  size_t n;
  int n_threads;  // at least 1, the caller's included
  double h;       // of all steps
  bool has_work;  // beside them
} yoke_instances_setup;

typedef struct yoke_instances yoke_instances;

// Messages go to the sink; on failure nothing is left behind.
yoke_status yoke__instances_create(const yoke_instances_setup* setup, yoke_arena* arena,
                                   yoke_instances** out, const yoke_sink* sink);
void yoke__instances_destroy(yoke_instances** instances);
const yoke_unit* yoke__instances_unit(const yoke_instances* s, size_t i);
int yoke__instances_threads(const yoke_instances* s);

// Real scalars that each instance has for itself: variables, which outlive the instances. Before initialisation, once.
yoke_status yoke__instances_choose(yoke_instances* s, const size_t parameters[], size_t n,
                                   yoke_arena* arena);
// The same value for all of them.
yoke_status yoke__instances_set(yoke_instances* s, size_t variable, const void* value, size_t size);
// A real scalar of one of them.
yoke_status yoke__instances_set_one(yoke_instances* s, size_t i, size_t variable, double value);
yoke_status yoke__instances_get_one(yoke_instances* s, size_t i, size_t variable, double* value);

// Initialisation of all of them. u, parameters and y have n_rows rows: instance i takes row i % n_rows, and y is what the first ones
// say.
yoke_status yoke__instances_enter_init(yoke_instances* s, double t_start, double t_stop,
                                       size_t n_rows, const double u[], const double parameters[],
                                       double y[], const yoke_sink* sink);
yoke_status yoke__instances_refresh(yoke_instances* s, double t, size_t n_rows, const double u[],
                                    double y[]);
yoke_status yoke__instances_exit_init(yoke_instances* s);

// Instances first, .., first + n - 1 back to the start. YOKE_NO_SUPPORT: they have moved and cannot be restored.
yoke_status yoke__instances_restart(yoke_instances* s, size_t first, size_t n);

// A step of instances first, .., first + n - 1 from t; row i of u, parameters and y is that of instance first + i. is_idle: per row,
// those that are not stepped. No heap but that of the units. A failure: *failed is the instance, and `message` why (static, or of the
// unit).
yoke_status yoke__instances_step(yoke_instances* s, size_t first, size_t n, const bool is_idle[],
                                 double t, const double u[], const double parameters[], double y[],
                                 size_t* failed, const char** message);
void yoke__instances_terminate(yoke_instances* s);

// Work beside the steps, on a thread of its own if there can be one: start, then join before the next one.
void yoke__instances_begin_work(yoke_instances* s, void (*work)(void* context), void* context);
void yoke__instances_join_work(yoke_instances* s);

#endif
