// yoke analyse: how large may the step be, and is a run stable?
#include "app/app_analyse.h"
#include "base/base_os.h"

static bool is_fitting(const yoke_options* options) {
  const bool has_run = yoke__options_has(options, "run");
  const bool has_map = yoke__options_has(options, "map");
  static const char* const others[] = {"step",  "largest", "resolution", "methods", "map",
                                       "steps", "at",      "cut",        "against"};
  if (!has_run && options->n_operands == 0) {
    return yoke__app_error(YOKE_ANALYSE, "expected a SYSTEM, or --run RESULT");
  }
  for (size_t i = 0; i < sizeof others / sizeof *others && has_run; i++) {
    if (yoke__options_has(options, others[i])) {
      return yoke__app_error(YOKE_ANALYSE, "--%s does not go with --run", others[i]);
    }
  }
  for (size_t i = 6; i < sizeof others / sizeof *others && has_map; i++) {
    if (yoke__options_has(options, others[i])) {
      return yoke__app_error(YOKE_ANALYSE, "--%s does not go with --map", others[i]);
    }
  }
  if (!has_run && yoke__options_has(options, "cluster")) {
    return yoke__app_error(YOKE_ANALYSE, "--cluster is for --run only");
  }
  if (has_map != yoke__options_has(options, "steps")) {
    return yoke__app_error(YOKE_ANALYSE, has_map
                                             ? "--map needs --steps FROM:TO:N, the steps to look at"
                                             : "--steps needs --map, the other axis");
  }
  return true;
}

static int analyse(const yoke_options* options) {
  yoke_app_analyse app;
  if (!is_fitting(options) || !yoke__app_analyse_read(options, &app)) {
    return YOKE_EXIT_USAGE;
  }
  // a map is long and asks; the others end as every program does
  if (yoke__options_has(options, "map")) {
    yoke__os_catch_interrupt();
    return yoke__app_analyse_map(&app);
  }
  return yoke__options_has(options, "run") ? yoke__app_analyse_run(&app)
                                           : yoke__app_analyse_system(&app);
}

int yoke_cmd_analyse(int argc, char** argv) {
  return yoke__options_run(&yoke__command_analyse, argc, argv, analyse);
}
