// Published figures of the assessment problems: configurations, errors and times on a PC (i7-8700K,
// one thread).
//
// Source: B. Rodriguez, F. Gonzalez, M. A. Naya, J. Cuadrado, Energies 13(6), 1354 (2020), and the
// first author's thesis (University of A Coruna), chapter 3. The columns of the rectifier's errors
// are interchanged in print: here the first is the voltage. TR and TRNP share their errors; the
// tables give them once.
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "study/study_assess.h"

#define LOW  YOKE_LEVEL_LOW
#define HIGH YOKE_LEVEL_HIGH
#define TR   YOKE_CIRCUIT_TR
#define TRNP YOKE_CIRCUIT_TRNP
#define BDF1 YOKE_CIRCUIT_BDF1
#define BDF2 YOKE_CIRCUIT_BDF2
#define BDF3 YOKE_CIRCUIT_BDF3

// clang-format off
const yoke_assess_published yoke__assess_published[] = {
    {"rlc",       TR,   LOW,  2.5e-3,  2, {0.25e-3, 0.38e-3},  6.5e-3},
    {"rlc",       TRNP, LOW,  2.5e-3,  2, {0.25e-3, 0.38e-3},  3.0e-3},
    {"rlc",       BDF1, LOW,  2.5e-5,  1, {0.30e-3, 0.63e-3},  190.6e-3},
    {"rlc",       BDF2, LOW,  2.5e-3,  2, {0.84e-3, 0.76e-3},  3.2e-3},
    {"rlc",       BDF3, LOW,  2.5e-3,  2, {0.14e-3, 0.33e-3},  3.4e-3},
    {"rlc",       TR,   HIGH, 2.5e-4,  2, {2.5e-6, 3.8e-6},    69.4e-3},
    {"rlc",       TRNP, HIGH, 2.5e-4,  2, {2.5e-6, 3.8e-6},    32.3e-3},
    {"rlc",       BDF1, HIGH, 2.5e-7,  1, {3.0e-6, 6.3e-6},    16764.9e-3},
    {"rlc",       BDF2, HIGH, 2.5e-4,  1, {8.4e-6, 7.6e-6},    23.3e-3},
    {"rlc",       BDF3, HIGH, 2.5e-4,  1, {1.3e-6, 3.3e-6},    24.8e-3},

    {"ladder-2",  TR,   LOW,  2.5e-3,  2, {0.41e-3, 0.94e-3},  0.9e-3},
    {"ladder-2",  TRNP, LOW,  2.5e-3,  2, {0.41e-3, 0.94e-3},  0.4e-3},
    {"ladder-2",  BDF1, LOW,  2.5e-5,  1, {0.15e-3, 0.65e-3},  24.0e-3},
    {"ladder-2",  BDF2, LOW,  1e-3,    2, {0.14e-3, 0.60e-3},  1.1e-3},
    {"ladder-2",  BDF3, LOW,  2.5e-3,  2, {0.38e-3, 0.54e-3},  0.5e-3},
    {"ladder-2",  TR,   HIGH, 2.5e-4,  2, {4.0e-6, 9.6e-6},    9.8e-3},
    {"ladder-2",  TRNP, HIGH, 2.5e-4,  2, {4.0e-6, 9.6e-6},    3.9e-3},
    {"ladder-2",  BDF1, HIGH, 2.5e-7,  1, {1.5e-6, 6.5e-6},    2191.3e-3},
    {"ladder-2",  BDF2, HIGH, 1e-4,    2, {1.4e-6, 5.9e-6},    10.2e-3},
    {"ladder-2",  BDF3, HIGH, 2.5e-4,  2, {3.7e-6, 2.0e-6},    4.3e-3},

    {"rectifier", TR,   LOW,  5e-4,   16, {0.29e-3, 0.17e-3},  47.0e-3},
    {"rectifier", TRNP, LOW,  5e-4,   16, {0.29e-3, 0.17e-3},  42.7e-3},
    {"rectifier", BDF1, LOW,  1e-5,    3, {0.03e-3, 0.47e-3},  391.4e-3},
    {"rectifier", BDF2, LOW,  2.5e-4,  7, {0.19e-3, 0.18e-3},  37.8e-3},
    {"rectifier", BDF3, LOW,  1e-4,    9, {7.9e-6, 4.0e-6},    125.1e-3},
    {"rectifier", TR,   HIGH, 5e-5,    6, {1.8e-6, 2.0e-6},    206.3e-3},
    {"rectifier", TRNP, HIGH, 5e-5,    6, {1.8e-6, 2.0e-6},    161.2e-3},
    {"rectifier", BDF1, HIGH, 1e-7,    1, {0.3e-6, 4.7e-6},    14009.5e-3},
    {"rectifier", BDF2, HIGH, 5e-5,    9, {6.5e-6, 7.9e-6},    241.6e-3},
    {"rectifier", BDF3, HIGH, 1e-4,    9, {7.9e-6, 4.0e-6},    125.1e-3},

    {"pmsm",      TR,   LOW,  0.5,     2, {9.36e-7, 0.612},    0.12},
    {"pmsm",      TRNP, LOW,  0.5,     2, {9.36e-7, 0.612},    0.06},
    {"pmsm",      BDF1, LOW,  25e-3,   2, {1.49e-4, 0.839},    1.12},
    {"pmsm",      BDF2, LOW,  0.25,    2, {9.01e-7, 0.523},    0.12},
    {"pmsm",      BDF3, LOW,  0.5,     2, {3.12e-7, 0.388},    0.06},
    {"pmsm",      TR,   HIGH, 0.1,     2, {6.03e-8, 0.024},    0.55},
    {"pmsm",      TRNP, HIGH, 0.1,     2, {6.03e-8, 0.024},    0.27},
    {"pmsm",      BDF1, HIGH, 2.5e-3,  2, {1.49e-5, 0.085},    10.88},
    {"pmsm",      BDF2, HIGH, 0.1,     2, {1.56e-7, 0.092},    0.29},
    {"pmsm",      BDF3, HIGH, 0.25,    2, {6.54e-8, 0.060},    0.12},
};
// clang-format on
const size_t yoke__assess_n_published = YOKE_COUNT(yoke__assess_published);

const yoke_assess_published* yoke__assess_find_published(const char* problem,
                                                         const yoke_circuit_options* options) {
  for (size_t i = 0; i < YOKE_COUNT(yoke__assess_published); i++) {
    const yoke_assess_published* p = &yoke__assess_published[i];
    if (strcmp(p->problem, problem) == 0 && p->method == options->method &&
        fabs(p->step - options->step) < 1e-9 * p->step &&
        (options->iterations == 0 || options->iterations == p->iterations)) {
      return p;
    }
  }
  return NULL;
}

void yoke__assess_published_options(const yoke_assess_problem* problem,
                                    const yoke_assess_published* row,
                                    yoke_circuit_options* options) {
  *options = (yoke_circuit_options){0};
  yoke__assess_defaults(problem, options);
  options->formulation = YOKE_FORMULATION_DAE;
  options->method = row->method;
  options->step = row->step;
  options->iterations = row->iterations;
  options->is_unlimited = true;
}

void yoke__assess_published_reach(yoke_circuit_method method, size_t n_loops[2]) {
  // clang-format off
  n_loops[0] = method == TR ? 2053 : method == BDF1 ? 48 : method == BDF2 ? 1790 : method == BDF3 ? 3661 : 0;
  n_loops[1] = method == TR ? 248 : method == BDF2 ? 186 : method == BDF3 ? 447 : 0;
  // clang-format on
}
