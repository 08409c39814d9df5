// A system file as an SSP: built as a run would build it, with the same messages, then handed to src/export.
#include "app/app_export_ssp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/app_system.h"
#include "export/export_fmu.h"
#include "export/export_ssp.h"

#define COMMAND "export"

static int exit_of(yoke_status status) {
  return status == YOKE_IO || status == YOKE_NO_MEMORY ? YOKE_EXIT_FAILED : YOKE_EXIT_USAGE;
}

// Writes the archive; messages are printed.
static int write_archive(const yoke_export_ssp_job* job, const char* path) {
  yoke_messages messages = {0};
  const yoke_status status = yoke__export_ssp(job, path, &messages);
  yoke__messages_print(&messages, stderr);
  if (status < 0 && messages.n_errors == 0) {
    yoke__app_error(COMMAND, "%s", yoke_status_text(status));
  }
  yoke__messages_free(&messages);
  if (status < 0) {
    return exit_of(status);
  }
  size_t n_fmus = 0;
  for (size_t i = 0; i < job->scenario->n_units; i++) {
    n_fmus += job->scenario->units[i].kind == YOKE_KIND_FMU;
  }
  char fmus[64] = "";
  if (n_fmus > 0) {
    snprintf(fmus, sizeof fmus, ", %zu of them FMUs as they were", n_fmus);
  }
  printf("%s: SSP, %zu component%s%s\n", path, job->scenario->n_units,
         job->scenario->n_units == 1 ? "" : "s", fmus);
  return YOKE_EXIT_OK;
}

static int export_system(const yoke_system* system, const char* path, int fmi, yoke_arena* arena) {
  const yoke_unit** units = yoke__arena_array(arena, system->n_units, sizeof(void*));
  if (units == NULL) {
    yoke__app_error(COMMAND, "out of memory");
    return YOKE_EXIT_FAILED;
  }
  for (size_t i = 0; i < system->n_units; i++) {
    units[i] = &system->units[i].unit;
  }
  yoke_export_ssp_job job = {.scenario = system->scenario, .units = units, .fmi = fmi};
  const yoke_status status = yoke__export_find_runtime(
      getenv("YOKE_FMU_RUNTIME"), arena, &job.runtime, &job.sources, &yoke__app_sink);
  if (status < 0) {
    yoke__app_fail(COMMAND, status);
    return YOKE_EXIT_FAILED;
  }
  return write_archive(&job, path);
}

int yoke__app_export_ssp(const yoke_options* options, int fmi) {
  yoke_system* system = yoke__app_load(options, NULL, 0, false);
  if (system == NULL) {
    return YOKE_EXIT_USAGE;
  }
  char own[512];
  const char* path = yoke__options_value(options, "out");
  if (path == NULL) {
    size_t n = 0;
    const char* stem = yoke__scenario_stem(options->operands[0], &n);
    snprintf(own, sizeof own, "%.*s.ssp", (int)(n < 400 ? n : 400), stem);
    path = own;
  }
  yoke_arena arena = {0};
  const int status = export_system(system, path, fmi, &arena);
  yoke__arena_free(&arena);
  yoke__system_destroy(&system);
  return status;
}
