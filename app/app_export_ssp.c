// A system file as an SSP: built as a run would build it, with the same messages, then handed to src/export.
#include "app/app_export_ssp.h"

#include <stdio.h>

#include "app/app_system.h"
#include "base/base_os.h"
#include "base/base_status.h"
#include "export/export_system.h"

#define COMMAND "export"

static int exit_of(yoke_status status) {
  return yoke__status_is_outside(status) ? YOKE_EXIT_FAILED : YOKE_EXIT_USAGE;
}

// Writes the archive; messages are printed.
static int write_archive(const yoke_system* system, int fmi, const char* path) {
  yoke_messages messages = {0};
  const yoke_status status = yoke__export_system(system, fmi, path, &messages);
  yoke__messages_print(&messages, stderr);
  if (status < 0 && messages.n_errors == 0) {
    yoke__app_error(COMMAND, "%s", yoke_status_text(status));
  }
  yoke__messages_free(&messages);
  if (status < 0) {
    return exit_of(status);
  }
  size_t n = 0, n_fmus = 0;
  yoke_unit_view unit;
  for (; yoke_system_get_unit(system, n, &unit) >= 0; n++) {
    n_fmus += unit.kind == YOKE_KIND_FMU;
  }
  char fmus[64] = "";
  if (n_fmus > 0) {
    snprintf(fmus, sizeof fmus, ", %zu of them FMUs as they were", n_fmus);
  }
  printf("%s: SSP, %zu component%s%s\n", path, n, yoke__plural(n), fmus);
  return YOKE_EXIT_OK;
}

int yoke__app_export_ssp(const yoke_options* options, int fmi) {
  yoke_system* system = yoke__app_load(options, NULL, 0, false, NULL);
  if (system == NULL) {
    return YOKE_EXIT_USAGE;
  }
  char own[512];
  const char* path = yoke__options_value(options, "out");
  if (path == NULL) {
    size_t n = 0;
    const char* stem = yoke__os_path_stem(options->operands[0], &n);
    snprintf(own, sizeof own, "%.*s.ssp", (int)(n < 400 ? n : 400), stem);
    path = own;
  }
  const int status = write_archive(system, fmi, path);
  yoke_system_destroy(&system);
  return status;
}
