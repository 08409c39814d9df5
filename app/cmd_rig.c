// yoke rig: the other end of a port, as a process of its own.
#include <stdio.h>

#include "app/app.h"
#include "app/app_run.h"
#include "app/app_sink.h"
#include "base/base_os.h"
#include "base/base_status.h"
#include "yoke/yoke.h"

typedef struct rig_view {
  bool is_quiet, is_listening;
  uint64_t n_steps;
} rig_view;

// Says once where it listens; who starts it from a script waits for that line.
static bool watch(void* to, const char* address, uint64_t n_steps) {
  rig_view* view = to;
  if (!view->is_listening && !view->is_quiet) {
    printf("listening at %s\n", address);
    fflush(stdout);
  }
  view->is_listening = true;
  view->n_steps = n_steps;
  return !yoke__os_is_interrupted();
}

int yoke_cmd_rig(int argc, char** argv) {
  yoke_options options;
  int exit_status = YOKE_EXIT_OK;
  if (!yoke__options_parse(&yoke__command_rig, argc, argv, &options, &exit_status)) {
    return exit_status;
  }
  double pace = 0;
  if (!yoke__app_read_pace(&options, &pace)) {
    yoke__options_free(&options);
    return YOKE_EXIT_USAGE;
  }
  rig_view view = {.is_quiet = yoke__options_has(&options, "quiet")};
  size_t n_sets = 0;
  const char* const* sets = yoke__options_values(&options, "set", &n_sets);
  const yoke_load_settings load = {.sets = sets, .n_sets = n_sets, .sink = &yoke__app_sink};
  const yoke_serve_settings settings = {.unit = yoke__options_value(&options, "unit"),
                                        .bind = yoke__options_value(&options, "bind"),
                                        .is_once = yoke__options_has(&options, "once"),
                                        .pace = pace,
                                        .directory = yoke__options_value(&options, "out"),
                                        .progress = watch,
                                        .to = &view};
  yoke__os_catch_interrupt();
  const yoke_status status = yoke_port_serve(options.operands[0], &load, &settings);
  if (status < 0) {
    const int failed = yoke__app_fail("rig", status);
    exit_status = yoke__status_is_outside(status) ? YOKE_EXIT_FAILED : failed;
  } else if (!view.is_quiet) {
    printf("%llu steps\n", (unsigned long long)view.n_steps);
  }
  yoke__options_free(&options);
  return exit_status;
}
