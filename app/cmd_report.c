// yoke report: the page about a run that is over, from its files.
#include <stdio.h>

#include "app/app.h"
#include "app/app_sink.h"
#include "base/base_os.h"
#include "report/report.h"

int yoke_cmd_report(int argc, char** argv) {
  yoke_options options;
  int exit_status = YOKE_EXIT_OK;
  if (!yoke__options_parse(&yoke__command_report, argc, argv, &options, &exit_status)) {
    return exit_status;
  }
  char page[4096];
  const char* directory = options.operands[0];
  const yoke_status status =
      yoke__os_is_directory(directory)
          ? yoke__report_write(directory, &yoke__app_sink)
          : yoke_fail(&yoke__app_sink, YOKE_BAD_INPUT,
                      "'%s' is no folder: a report needs the folder of a result", directory);
  if (status < 0) {
    const int failed = yoke__app_fail("report", status);
    exit_status = status == YOKE_IO ? YOKE_EXIT_FAILED : failed;
  } else {
    yoke__os_path_join(directory, "report.html", page, sizeof page);
    printf("%s\n", page);
  }
  yoke__options_free(&options);
  return exit_status;
}
