// Pedal, list and script of faults from the system file; see rig_arguments.h.
#include "models/rig/rig_arguments.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_message.h"
#include "base/base_os.h"
#include "models/models_support.h"

#define MAX_PATH        8192
#define MAX_SCRIPT_SIZE ((size_t)1 << 20)  // bytes

static yoke_status read_pedal(const yoke_unit_args* args, yoke_rig_pedal* pedal,
                              const yoke_sink* sink) {
  const yoke_argument* argument = yoke__model_argument(args, "pedal");
  if (argument == NULL) {
    return YOKE_OK;
  }
  if (argument->n_cols != 2 || argument->n_rows > YOKE_RIG_MAX_PEDAL) {
    return yoke__model_refuse(sink, "pedal: expected at most %d rows [time, torque]",
                              YOKE_RIG_MAX_PEDAL);
  }
  const double* values = argument->value;
  for (size_t i = 0; i < argument->n_rows; i++) {
    const double time = values[2 * i], torque = values[2 * i + 1];
    if (!isfinite(time) || !isfinite(torque) || (i > 0 && time < pedal->times[i - 1])) {
      return yoke__model_refuse(sink, "pedal: row %zu: times must not go back, values be finite",
                                i + 1);
    }
    pedal->times[i] = time;
    pedal->torques[i] = torque;
  }
  pedal->n_points = (int64_t)argument->n_rows;
  return YOKE_OK;
}

static yoke_status read_list(const yoke_unit_args* args, yoke_rig_faults* faults,
                             const yoke_sink* sink) {
  const yoke_argument* argument = yoke__model_argument(args, "faults");
  const size_t n = argument != NULL ? yoke__argument_count(argument) : 0;
  const char* const* lines = argument != NULL ? argument->value : NULL;
  for (size_t i = 0; i < n; i++) {
    const char* problem = yoke__rig_fault_add(faults, lines[i], strlen(lines[i]), NULL);
    if (problem != NULL) {
      return yoke__model_refuse(sink, "faults: entry %zu '%s': %s", i + 1, lines[i], problem);
    }
  }
  return YOKE_OK;
}

// A line "time,fault,..." on top and lines that are empty or start with # are passed over.
static bool is_passed_over(const char* line, size_t n) {
  return n == 0 || line[0] == '#' || line[0] == '\r' || (n >= 4 && strncmp(line, "time", 4) == 0);
}

static yoke_status read_lines(const char* path, const char* bytes, size_t n,
                              yoke_rig_faults* faults, const yoke_sink* sink) {
  int line = 1;
  for (size_t at = 0; at < n; line++) {
    const char* end = memchr(bytes + at, '\n', n - at);
    const size_t size = end != NULL ? (size_t)(end - (bytes + at)) : n - at;
    int column = 0;
    const char* problem = is_passed_over(bytes + at, size)
                              ? NULL
                              : yoke__rig_fault_add(faults, bytes + at, size, &column);
    if (problem != NULL) {
      return yoke__fail_at(sink, YOKE_BAD_INPUT, (yoke_place){path, line, column}, "%s", problem);
    }
    at += size + 1;
  }
  return YOKE_OK;
}

static yoke_status read_script(const yoke_unit_args* args, yoke_rig_faults* faults,
                               const yoke_sink* sink) {
  const yoke_argument* argument = yoke__model_argument(args, "script");
  if (argument == NULL) {
    return YOKE_OK;
  }
  const char* file = *(const char* const*)argument->value;
  char path[MAX_PATH];
  const bool is_relative = file[0] != '/' && args->directory != NULL && args->directory[0] != '\0';
  const int length = snprintf(path, sizeof path, "%s%s%s", is_relative ? args->directory : "",
                              is_relative ? "/" : "", file);
  if (length < 0 || (size_t)length >= sizeof path) {
    return yoke__model_refuse(sink, "script: the path is too long");
  }
  char* bytes = NULL;
  size_t n = 0;
  YOKE_TRY(yoke__os_read_file(path, MAX_SCRIPT_SIZE, &bytes, &n, sink));
  const yoke_status status = read_lines(path, bytes, n, faults, sink);
  free(bytes);
  return status;
}

yoke_status yoke__rig_read_arguments(const yoke_unit_args* args, yoke_rig_pedal* pedal,
                                     yoke_rig_faults* faults, const yoke_sink* sink) {
  YOKE_TRY(read_pedal(args, pedal, sink));
  YOKE_TRY(read_list(args, faults, sink));
  return read_script(args, faults, sink);
}
