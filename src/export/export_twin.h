// A linear filter as freestanding C: two files, NAME.h and NAME.c, for a microcontroller. The same operations in the same order as in
// src/estimate, so that the estimates are the same bits.
//
//   NAME_init      where the filter stood when it was exported
//   NAME_predict   one step of fixed length
//   NAME_ramp      inputs went straight during it; NAME_catch_up: during the one before
//   NAME_correct   readings, missing ones left out
//   NAME_output    virtual sensors and unknowns with their variances
//
// docs/export.md has an example, sizes and limits.
#ifndef YOKE_EXPORT_TWIN_H
#define YOKE_EXPORT_TWIN_H

#include "estimate/estimate_filter_constants.h"
#include "export/export_c_text.h"

typedef struct yoke_export_twin_label {
  const char *name, *dim;  // dim may be NULL
  double start;            // of an input
} yoke_export_twin_label;

typedef struct yoke_export_twin_job {
  const yoke_estimate* filter;  // started, and nothing else
  const char* name;             // of the files and, as a C identifier, of everything in them
  const char* title;            // for the comment; NULL: the name
  const char* source;           // where the twin comes from, for the comment
  const char* settings;         // what the command line said beside it, for the comment; may be ""
  // Inputs that are given from outside; those of the network follow from them, v = offset + map u. NULL: u is what is known of v.
  const yoke_export_twin_label* inputs;
  size_t n_inputs;
  const double *map, *offset;  // r x n_inputs, r
  // The first n_outputs outputs of the setup. NULL: all, called "output 1", ...
  const yoke_export_twin_label* outputs;
  size_t n_outputs;
} yoke_export_twin_job;

// What a program needs: bytes on a machine with usual number formats, multiplications at most.
typedef struct yoke_export_twin_cost {
  size_t flash;  // constants alone
  size_t ram;    // one instance
  size_t stack;  // about
  size_t n_predict, n_reading, n_output;
} yoke_export_twin_cost;

// What the files hold; arrays lie in `arena`, constants in the filter.
typedef struct yoke_export_twin_model {
  yoke_arena arena;
  yoke_estimate_constants c;
  yoke_export_c_name *inputs, *sensors, *outputs, *unknowns;
  size_t n_u, n_outputs;       // inputs that are given from outside; rows
  const double *map, *offset;  // as in the job
  uint32_t* free_nodes;  // neither with a capacity nor imposed, and wanted by readings or outputs
  size_t n_free;
  double *T, *B;      // their rows
  double *H, *H_out;  // of sensors and outputs: n_sensors x n, n_outputs x n
  double* Q;          // n (n + 1) / 2: upper half row by row
  size_t n_bounded;   // unknowns with bounds
  bool has_gate;
  yoke_export_twin_cost cost;
} yoke_export_twin_model;

// YOKE_NO_SUPPORT after a message: the filter is not linear. The model is freed by the caller in any case.
yoke_status yoke__export_twin_make(const yoke_export_twin_job* job, yoke_export_twin_model* model,
                                   const yoke_sink* sink);
void yoke__export_twin_free(yoke_export_twin_model* model);

// Writes NAME.h and NAME.c into the folder, which is made if it is not there. YOKE_IO.
yoke_status yoke__export_twin_write(const yoke_export_twin_job* job,
                                    const yoke_export_twin_model* model, const char* directory,
                                    const yoke_sink* sink);

#endif
