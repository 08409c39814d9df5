// yoke report: the page about a run that is over, from its files.
#include <stdio.h>

#include "app/app.h"
#include "app/app_sink.h"
#include "base/base_os.h"
#include "base/base_status.h"
#include "report/report.h"

static yoke_status check_folder(const char* directory) {
  return yoke__os_is_directory(directory)
             ? YOKE_OK
             : yoke_fail(&yoke__app_sink, YOKE_BAD_INPUT,
                         "'%s' is no folder: a report needs the folder of a result", directory);
}

static yoke_status make_page(const yoke_report_settings* settings) {
  YOKE_TRY(check_folder(settings->directory));
  if (settings->before != NULL) {
    YOKE_TRY(check_folder(settings->before));
  }
  if (settings->reference != NULL && !yoke__os_is_file(settings->reference) &&
      !yoke__os_is_directory(settings->reference)) {
    return yoke_fail(&yoke__app_sink, YOKE_BAD_INPUT,
                     "there is no reference '%s': neither a file nor a folder",
                     settings->reference);
  }
  return yoke__report_make(settings, &yoke__app_sink);
}

int yoke_cmd_report(int argc, char** argv) {
  yoke_options options;
  int exit_status = YOKE_EXIT_OK;
  if (!yoke__options_parse(&yoke__command_report, argc, argv, &options, &exit_status)) {
    return exit_status;
  }
  char page[4096];
  const yoke_report_settings settings = {
      .directory = options.operands[0],
      .reference = yoke__options_value(&options, "reference"),
      .before = yoke__options_value(&options, "before"),
  };
  const yoke_status status = make_page(&settings);
  if (status < 0) {
    const int failed = yoke__app_fail("report", status);
    exit_status = yoke__status_is_outside(status) ? YOKE_EXIT_FAILED : failed;
  } else {
    yoke__os_path_join(settings.directory, "report.html", page, sizeof page);
    printf("%s\n", page);
  }
  yoke__options_free(&options);
  return exit_status;
}
