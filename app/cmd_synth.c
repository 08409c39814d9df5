// yoke synth: designs a coupling element, writes its file, and shows what is gained and lost against hold and straight lines.
#include <math.h>

#include "app/app_sink.h"
#include "app/app_synth.h"
#include "base/base_os.h"

static const char command_name[] = YOKE_SYNTH;

static bool read_number(const yoke_options* options, const char* name, double* to) {
  *to = (double)NAN;
  return yoke__options_number(options, name, -(double)INFINITY, to);
}

static bool read_request(const yoke_options* options, yoke_synth_request* to) {
  int64_t order = 0;
  const char* out = yoke__options_value(options, "out");
  *to = (yoke_synth_request){.path = options->operands[0],
                             .recipe = yoke__options_value(options, "recipe"),
                             .to = yoke__options_value(options, "output"),
                             .is_not_run = yoke__options_has(options, "no-run")};
  to->sets = yoke__options_values(options, "set", &to->n_sets);
  to->bonds = yoke__options_values(options, "bond", &to->n_bonds);
  to->connections = yoke__options_values(options, "connection", &to->n_connections);
  if (to->n_bonds + to->n_connections == 0) {
    return yoke__app_error(
        YOKE_SYNTH, "expected --bond NAME or --connection 'FROM->TO': what the element is for");
  }
  if ((out != NULL && out[0] == '\0') || (to->to != NULL && to->to[0] == '\0')) {
    return yoke__app_error(YOKE_SYNTH, "--%s: expected a name, found nothing",
                           out != NULL && out[0] == '\0' ? "out" : "output");
  }
  if (!yoke__options_integer(options, "order", 1, YOKE_SYNTH_ORDER_MAX, &order)) {
    return false;
  }
  to->order = (size_t)order;
  return read_number(options, "band", &to->band_hz) && read_number(options, "pole", &to->pole) &&
         read_number(options, "smoother", &to->smoother_hz) &&
         read_number(options, "delay", &to->delay) &&
         read_number(options, "interval", &to->interval) && read_number(options, "step", &to->step);
}

static bool write_files(const yoke_options* options, const yoke_synth_study* study) {
  static const char* const names[] = {"synth.csv", "synth.svg"};
  const char* out = yoke__options_value(options, "out");
  yoke_text texts[2] = {{0}};
  yoke_status status = YOKE_OK;
  if (out == NULL) {
    return true;
  }
  yoke__synth_csv(study, &texts[0]);
  yoke__synth_figure(study, &texts[1]);
  status = yoke__os_make_directory(out, &yoke__app_sink);
  for (size_t i = 0; i < 2; i++) {
    status = status < 0 ? status : texts[i].status;
    if (status >= 0) {
      status = yoke__os_write_into(out, names[i], texts[i].bytes, texts[i].n, &yoke__app_sink);
    }
    yoke__text_free(&texts[i]);
  }
  if (status < 0) {
    yoke__app_fail(YOKE_SYNTH, status);
  }
  return status >= 0;
}

static int report(const yoke_options* options, const yoke_synth_request* request,
                  const yoke_synth_study* study) {
  if (!write_files(options, study)) {
    return YOKE_EXIT_FAILED;
  }
  if (yoke__options_has(options, "json")) {
    yoke_json json = {0};
    yoke__synth_json(study, &json);
    return yoke__app_print_json(YOKE_SYNTH, &json) ? YOKE_EXIT_OK : YOKE_EXIT_FAILED;
  }
  yoke__app_synth_print(study, request);
  if (yoke__options_has(options, "out")) {
    printf("errors over frequency in %s: synth.csv, synth.svg\n",
           yoke__options_value(options, "out"));
  }
  return YOKE_EXIT_OK;
}

static void send_messages(const yoke_messages* messages) {
  const char* command = command_name;
  const yoke_sink sink = yoke__app_command_sink(&command);
  for (size_t i = 0; i < messages->n; i++) {
    if (messages->all[i].severity != YOKE_NOTE) {
      yoke_send(&sink, &messages->all[i]);
    }
  }
}

static int synth(const yoke_options* options) {
  yoke_synth_request request;
  yoke_synth_study study;
  if (!read_request(options, &request)) {
    return YOKE_EXIT_USAGE;
  }
  const yoke_status status = yoke__synth_study(&request, &study);
  send_messages(&study.messages);
  int exit_status = YOKE_EXIT_OK;
  if (status < 0) {
    exit_status = yoke__app_fail(YOKE_SYNTH, status);
    // it has a name once it is designed: it could not be written
    exit_status = status == YOKE_IO && study.file != NULL ? YOKE_EXIT_FAILED : exit_status;
  } else {
    exit_status = report(options, &request, &study);
  }
  yoke__synth_study_free(&study);
  return exit_status;
}

int yoke_cmd_synth(int argc, char** argv) {
  return yoke__options_run(&yoke__command_synth, argc, argv, synth);
}
