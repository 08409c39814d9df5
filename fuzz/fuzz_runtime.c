// Any bytes as the settings of an exported FMU: no crash, no read beyond the input; a refusal has a message. What is
// accepted names a model, a token and every argument; its settings go into a unit of the model or are refused.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_message.h"
#include "export/runtime/runtime.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

static void demand(bool is_true) {
  if (!is_true) {
    abort();
  }
}

static double seen;  // keeps the reads

// As many values as rows and columns are there to be read.
static void check_argument(const yoke_argument* a) {
  double sum = 0.0;
  demand(a->name != NULL && a->value != NULL);
  for (size_t i = 0; i < a->n_rows * a->n_cols; i++) {
    if (a->type == YOKE_STRING) {
      sum += (double)strlen(((const char* const*)a->value)[i]);
    } else {
      sum += ((const double*)a->value)[i];
    }
  }
  memcpy(&seen, &sum, sizeof sum);
}

// Without arguments, whose sizes would be those of the unit.
static void apply(const yoke_runtime_config* config, yoke_arena* arena) {
  const yoke_unit_args args = {
      .name = "fuzz", .directory = "/nowhere", .context = config->ops->context};
  YOKE_CATCH(err);
  yoke_unit unit = {0};
  if (yoke__unit_create(config->ops, &args, arena, &unit, &err.sink) < 0) {
    return;
  }
  err.text[0] = '\0';
  if (yoke__runtime_config_apply(config, &unit, arena, &err.sink) < 0) {
    demand(err.text[0] != '\0');
  }
  yoke__unit_close(&unit);
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  YOKE_CATCH(err);
  yoke_arena arena = {0};
  yoke_runtime_config config = {0};
  if (yoke__runtime_config_parse((const char*)bytes, n, "/nowhere", &arena, &config, &err.sink) <
      0) {
    demand(err.text[0] != '\0');
  } else {
    demand(config.ops != NULL && config.token != NULL);
    for (size_t i = 0; i < config.n_arguments; i++) {
      check_argument(&config.arguments[i]);
    }
    apply(&config, &arena);
  }
  yoke__export_circuit_close(&config.circuit);
  yoke__runtime_library_close(&config);
  yoke__arena_free(&arena);
  return 0;
}
