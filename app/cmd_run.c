// yoke run: a system from start to stop.
#include <string.h>

#include "app/app_run.h"
#include "app/app_system.h"
#include "base/base_os.h"

static bool has_foreign_units(const yoke_system* system) {
  yoke_unit_view unit;
  for (size_t i = 0; yoke_system_get_unit(system, i, &unit) >= 0; i++) {
    if (unit.kind == YOKE_KIND_FMU) {
      return true;
    }
  }
  return false;
}

int yoke_cmd_run(int argc, char** argv) {
  yoke_options options;
  int status = YOKE_EXIT_OK;
  if (!yoke__options_parse(&yoke__command_run, argc, argv, &options, &status)) {
    return status;
  }
  int64_t threads = -1;
  char set[64];
  const char* extra[] = {set};
  const char* out = yoke__options_value(&options, "out");
  const bool has_folder = out == NULL || out[0] != '\0';
  if (!has_folder) {
    yoke__app_error("run", "--out: expected the name of a folder, found nothing");
  }
  if (!has_folder || !yoke__options_integer(&options, "threads", 0, 256, &threads)) {
    yoke__options_free(&options);
    return YOKE_EXIT_USAGE;
  }
  snprintf(set, sizeof set, "threads=%lld", (long long)threads);
  // a foreign binary may leave the folder in which the program was started, in any of its calls
  char place[4096], whole[4096];
  if (out == NULL) {
    yoke__app_results_directory(options.operands[0], place, sizeof place);
  }
  yoke__os_path_absolute(out == NULL ? place : out, whole, sizeof whole);
  yoke_messages said = {0};
  yoke_system* system = yoke__app_load(&options, extra, threads >= 0 ? 1 : 0,
                                       yoke__options_has(&options, "strict"), &said);
  const yoke_app_words words = yoke__app_words(options.operands[0]);
  const char* short_name = out == NULL ? place : out;
  status = yoke__app_run(system, &options, has_foreign_units(system) ? whole : short_name, &words,
                         &said);
  yoke_system_destroy(&system);
  yoke__messages_free(&said);
  yoke__options_free(&options);
  return status;
}
