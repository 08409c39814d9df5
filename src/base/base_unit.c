// Words for what units are.
#include "yoke/unit.h"

const char* yoke_unit_kind_text(yoke_unit_kind kind) {
  static const char* const words[YOKE_N_KINDS] = {
      [YOKE_KIND_NONE] = "",   [YOKE_KIND_MODEL] = "model",     [YOKE_KIND_LAW] = "law",
      [YOKE_KIND_FMU] = "fmu", [YOKE_KIND_CIRCUIT] = "circuit", [YOKE_KIND_LIBRARY] = "library",
  };
  return (unsigned)kind < YOKE_N_KINDS ? words[kind] : "";
}
