// Words for what units are.
#include "yoke/unit.h"

const char* yoke_unit_kind_text(yoke_unit_kind kind) {
  static const char* const words[YOKE_N_KINDS] = {
      [YOKE_KIND_NONE] = "",     [YOKE_KIND_MODEL] = "model",     [YOKE_KIND_LAW] = "law",
      [YOKE_KIND_FMU] = "fmu",   [YOKE_KIND_CIRCUIT] = "circuit", [YOKE_KIND_LIBRARY] = "library",
      [YOKE_KIND_PORT] = "port", [YOKE_KIND_TWIN] = "twin",
  };
  return (unsigned)kind < YOKE_N_KINDS ? words[kind] : "";
}

const char* yoke_solver_text(yoke_solver_method method) {
  static const char* const words[YOKE_N_SOLVERS] = {
      [YOKE_SOLVER_UNKNOWN] = "unknown", [YOKE_SOLVER_EXACT] = "exact",
      [YOKE_SOLVER_EULER] = "euler",     [YOKE_SOLVER_SEMI_IMPLICIT_EULER] = "semi-implicit-euler",
      [YOKE_SOLVER_RK4] = "rk4",         [YOKE_SOLVER_TRAPEZOIDAL] = "trapezoidal",
      [YOKE_SOLVER_OTHER] = "other",     [YOKE_SOLVER_DOPRI5] = "dopri5",
      [YOKE_SOLVER_CVODE] = "cvode",
  };
  return (unsigned)method < YOKE_N_SOLVERS ? words[method] : words[YOKE_SOLVER_UNKNOWN];
}
