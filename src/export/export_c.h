// A linear circuit or thermal network as freestanding C: two files, NAME.h and NAME.c, for a
// microcontroller.
//
//   x+ = Ad x + Bd u + bd     one step of fixed length, exact for held inputs
//   y  = C x + D u + d
//
// docs/circuit_c.md has the equations, the reduction and its bound.
#ifndef YOKE_EXPORT_C_H
#define YOKE_EXPORT_C_H

#include <stdio.h>

#include "circuit/linear/circuit_linear.h"
#include "circuit/netlist/circuit_netlist.h"
#include "export/export_c_text.h"

typedef struct yoke_export_c_job {
  const yoke_network* network;  // NULL: the netlist below is read
  yoke_netlist_settings netlist;
  const char* name;      // of the files and, as a C identifier, of everything in them
  const char* source;    // name of the netlist, for the comment
  const char* settings;  // what the command line said beside it, for the comment; may be ""
  double step;           // [s]; 0: that of `.tran`, else of `.yoke`
  bool is_reduced;
  double tolerance;  // of the reduction, relative to each output's own gain; 0: order counts
  size_t order;      // of the reduction: states; 0: tolerance counts
  bool is_float;     // single precision
  bool is_ramp;      // inputs go straight from value to value (first-order hold)
} yoke_export_c_job;

// How good a reduced model is.
typedef struct yoke_export_c_quality {
  double
      bound;  // of the outputs, each divided by its gain: twice the sum of dropped singular values
  double* gain;         // per output: its Hankel norm
  double* measured;     // per output: error over pseudo-random inputs of size 1, RMS over RMS
  double* start_error;  // per output: largest error of the answer to the start values
  size_t n_apart;       // states that were kept because they are not stable
  double largest, smallest_kept, largest_dropped;  // Hankel singular values
} yoke_export_c_quality;

// What the files hold; arrays lie in `arena`.
typedef struct yoke_export_c_model {
  yoke_arena arena;
  const yoke_network* network;  // of the job, or what was read
  yoke_network* read;
  size_t n_whole;  // states before the reduction
  size_t n, n_u, n_y;
  yoke_export_c_name *inputs, *outputs, *states;  // states: of a whole model only, else NULL
  double h;
  double *Ad, *Bd, *Bd_end,
      *bd;  // Bd_end: of the inputs at the end of the step; NULL without is_ramp
  double *C, *D, *d;
  double* x;  // at the start
  yoke_export_c_quality quality;
} yoke_export_c_model;

// Makes the model. Errors, with names and places of elements, go to messages: YOKE_NO_SUPPORT,
// YOKE_BAD_INPUT. The model is freed by the caller in any case.
yoke_status yoke__export_c_make(const yoke_export_c_job* job, yoke_messages* messages,
                                yoke_export_c_model* model);
void yoke__export_c_free(yoke_export_c_model* model);

// Bytes of constants and of one instance on a machine with usual number formats.
size_t yoke__export_c_flash(const yoke_export_c_job* job, const yoke_export_c_model* model);
size_t yoke__export_c_ram(const yoke_export_c_job* job, const yoke_export_c_model* model);

// Writes NAME.h and NAME.c into the folder, which is made if it is not there. Each file gets its
// content at the end or not at all. YOKE_IO.
yoke_status yoke__export_c_write(const yoke_export_c_job* job, const yoke_export_c_model* model,
                                 const char* directory, const yoke_sink* sink);

#endif
