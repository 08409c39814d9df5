// The dual mass oscillator (MPSM specification 10.1) as text of a system file, and rows of its published course under
// `mpsm, jacobians: provided` at 1 ms (11.3).
#ifndef YOKE_TEST_DUAL_MASS_ROWS_H
#define YOKE_TEST_DUAL_MASS_ROWS_H

#include "support/check.h"
#include "support/sim.h"

// Mass and wall spring | mass, wall spring and coupling spring. Open at the end: "}", or ", micro_steps: 100}".
#define DUAL_MASS_LEFT                                                                             \
  "with: {A: [[0, 1], [-1e5, -0.1]], B: [[0], [0.1]], inputs: [f], outputs: [x, v],\n"             \
  "         x0: [0.1, 0], solver: euler"
#define DUAL_MASS_RIGHT                                                                            \
  "with: {A: [[0, 1], [-1.01e6, -100.2]], B: [[0, 0], [1e4, 100]], C: [[1e5, 1e3]],\n"             \
  "         D: [[-1e5, -1e3]], inputs: [x, v], outputs: [f], x0: [0, 0], solver: euler"
#define DUAL_MASS_CONNECTIONS                                                                      \
  "connections: [left.x -> right.x, left.v -> right.v, right.f -> left.f]\n"

typedef struct dual_mass_row {
  int k;           // exchange
  double x, v, f;  // left.x, left.v, right.f
} dual_mass_row;

enum { DUAL_MASS_N_ROWS = 4 };

static const dual_mass_row dual_mass_full[DUAL_MASS_N_ROWS] = {
    {1, 9.4870148285e-2, -10.277536044, 741.19511588},
    {2, 8.0382970832e-2, -18.538147112, 9611.3609499},
    {10, -6.2239087685e-2, 2.8150283759, 3313.1982165},
    {100, 2.7169012941e-4, -0.25589004027, 234.85428999},
};

// without step 3
static const dual_mass_row dual_mass_modified[DUAL_MASS_N_ROWS] = {
    {1, 9.5128629426e-2, -9.7596752191, 731.66519954},
    {2, 8.1342049862e-2, -17.662909375, 9151.2186618},
    {10, -6.2168978200e-2, 0.99161715525, 4785.6265621},
    {100, 7.7234516376e-4, -0.12472042937, 54.302110292},
};

// The rows, printed with eleven digits, to 1e-8; from the start. twin: gives the same bits at every exchange; NULL: none.
static inline void check_dual_mass_rows(sim* s, sim* twin, const dual_mass_row rows[], size_t n) {
  int k = 0;
  for (size_t i = 0; i < n; i++) {
    for (; k < rows[i].k; k++) {
      sim_steps(s, 1);
      if (twin != NULL) {
        sim_steps(twin, 1);
        assert_true(sim_read(s, "left.x") == sim_read(twin, "left.x"));
        assert_true(sim_read(s, "right.f") == sim_read(twin, "right.f"));
      }
    }
    check_relative(sim_read(s, "left.x"), rows[i].x, 1e-8);
    check_relative(sim_read(s, "left.v"), rows[i].v, 1e-8);
    check_relative(sim_read(s, "right.f"), rows[i].f, 1e-8);
  }
}

#endif
