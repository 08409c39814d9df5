// yoke check: the resolved system, without stepping it.
#include "app/app_start.h"
#include "base/base_json.h"

// Initial values are part of what can go wrong before the first step.
static int check_start(yoke_system* system, const char* path) {
  int status = YOKE_EXIT_OK;
  const yoke_app_words words = yoke__app_words(path);
  yoke_state* state = yoke__app_start(system, &words, &status);
  yoke__master_destroy(system, &state);
  return status;
}

int yoke_cmd_check(int argc, char** argv) {
  yoke_options options;
  int status = YOKE_EXIT_OK;
  if (!yoke__options_parse(&yoke__command_check, argc, argv, &options, &status)) {
    return status;
  }
  yoke_system* system = yoke__app_load(&options, NULL, 0, yoke__options_has(&options, "strict"));
  if (system == NULL) {
    status = YOKE_EXIT_USAGE;
  } else if (yoke__options_has(&options, "json")) {
    yoke_json json = {0};
    yoke__system_json(system, NULL, &json);
    status = yoke__app_print_json("check", &json) ? YOKE_EXIT_OK : YOKE_EXIT_FAILED;
  } else {
    yoke__system_print(system, stdout);
  }
  if (system != NULL && status == YOKE_EXIT_OK) {
    status = check_start(system, options.operands[0]);
  }
  yoke__system_destroy(&system);
  yoke__options_free(&options);
  return status;
}
