// One exchange interval of a linear loop as a matrix, with the filters of a coupling element as they run.
//
//   units     x := F x + G u over one call (h), y = C x + D u          n_calls of them in an exchange interval
//   loops     w = L y, and each number of w reaches an input held, as a straight line, or through an element
//
//   z(t_n + Dt) = M z(t_n),   z = (states, what each signal remembers)      stable: no eigenvalue outside the unit circle
//
// Stale: outputs are those of the inputs of the last call. Fresh: they are evaluated with the inputs of the same instant. Assumes
// that all units are called every h and all signals exchange every Dt.
// Page: docs/synth.md, "Equations"; without filters docs/loop.md, "The exchange map".
#ifndef YOKE_SYNTH_MACRO_H
#define YOKE_SYNTH_MACRO_H

#include <stdbool.h>

#include "synth/synth_error.h"

typedef struct yoke_synth_unit {
  size_t n_states, n_inputs, n_outputs;
  const double *F, *G, *C, *D;  // row by row
} yoke_synth_unit;

typedef struct yoke_synth_loop {
  const yoke_synth_unit* units;
  size_t n_units;
  const double* L;               // inputs x outputs of all units
  const yoke_synth_path* paths;  // of each input
  const size_t* delays;          // of each input [exchanges]; NULL: none
  const yoke_synth_element* element;
  size_t n_calls;
  bool is_fresh;
} yoke_synth_loop;

// Numbers in z; 0: nothing moves.
size_t yoke__synth_macro_size(const yoke_synth_loop* loop);
// M, size x size row by row, by stepping unit vectors. Takes memory. YOKE_SINGULAR: is_fresh, and feedthrough closes a loop
// that has no order of evaluation.
yoke_status yoke__synth_macro_matrix(const yoke_synth_loop* loop, double M[]);

typedef struct yoke_synth_radius {
  double largest;  // |eigenvalue|
  double next;     // the same without one eigenvalue that is 1
  bool has_one;    // there is one: an offset that neither grows nor decays
} yoke_synth_radius;
// Takes memory. Infinite if the matrix overflows.
yoke_status yoke__synth_macro_radius(const yoke_synth_loop* loop, yoke_synth_radius* radius);

// F and G of x' = A x + B u over h with u held: exact, or by explicit Euler in about h / micro equal parts (micro > 0). n: states,
// m: inputs. Takes memory.
yoke_status yoke__synth_discretise(size_t n, size_t m, const double A[], const double B[], double h,
                                   double micro, double F[], double G[]);

#endif
