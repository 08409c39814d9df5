// The raw file: text lines ("No. Variables: n", "No. Points: n", "Variables:" with one line each), then "Binary:" and
// the points as native doubles, time first (manual of ngspice, chapter on batch mode).
#include "base/base_message.h"
#include "circuit/oracle/oracle_ngspice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"
#include "circuit/oracle/oracle_random.h"

#define MAX_RAW_SIZE ((size_t)1 << 30)

bool oracle_ngspice_is_there(void) {
  return system("command -v ngspice >/dev/null 2>&1") == 0;
}

static bool write_deck(const char* path, const char* text, double max_step, double reltol) {
  FILE* file = fopen(path, "w");
  if (file == NULL) {
    return false;
  }
  fprintf(file, "%s", text);
  // trtol 1: the local error is taken at its word
  fprintf(file, ".options method=trap reltol=%.9g abstol=1e-12 vntol=1e-9 chgtol=1e-17 trtol=1\n",
          reltol);
  fprintf(file, ".tran %.17g %.17g 0 %.17g uic\n.end\n", max_step, ORACLE_STOP, max_step);
  return fclose(file) == 0;
}

typedef struct raw_file {
  char* bytes;
  size_t n_bytes;
  size_t n_variables, n_points;
  const char* names;  // text behind "Variables:"
  const char* data;
} raw_file;

static size_t number_behind(const char* bytes, const char* words) {
  const char* at = strstr(bytes, words);
  return at != NULL ? (size_t)strtoul(at + strlen(words), NULL, 10) : 0;
}

static bool read_raw(const char* path, raw_file* raw) {
  YOKE_CATCH(err);
  *raw = (raw_file){0};
  if (yoke__os_read_file(path, MAX_RAW_SIZE, &raw->bytes, &raw->n_bytes, &err.sink) < 0) {
    return false;
  }
  raw->names = strstr(raw->bytes, "\nVariables:");
  raw->data = strstr(raw->bytes, "\nBinary:\n");
  if (raw->names == NULL || raw->data == NULL) {
    return false;
  }
  raw->names += strlen("\nVariables:");
  raw->data += strlen("\nBinary:\n");
  raw->n_variables = number_behind(raw->bytes, "No. Variables:");
  raw->n_points = number_behind(raw->bytes, "No. Points:");
  const size_t n_have = (size_t)(raw->bytes + raw->n_bytes - raw->data) / sizeof(double);
  return raw->n_variables > 0 && n_have >= raw->n_variables * raw->n_points;
}

static double raw_value(const raw_file* raw, size_t point, size_t variable) {
  double value = 0.0;
  memcpy(&value, raw->data + (point * raw->n_variables + variable) * sizeof value, sizeof value);
  return value;
}

// Column of a signal: line i of the list is "\t<i>\t<name>\t<type>". 0, the time, if there is none.
static size_t find_variable(const raw_file* raw, const char* name) {
  const size_t n = strlen(name);
  const char* at = raw->names;
  for (size_t i = 0; i < raw->n_variables; i++) {
    at = strchr(at, '\n');
    char* end = NULL;
    if (at == NULL || strtoul(++at, &end, 10) != i) {
      return 0;
    }
    if (*end == '\t' && strncmp(end + 1, name, n) == 0 && end[1 + n] == '\t') {
      return i;
    }
  }
  return 0;
}

// The point at time t: corners of the tick are points of every run, but for a few roundings.
static bool find_point(const raw_file* raw, double t, size_t* point) {
  for (; *point < raw->n_points; ++*point) {
    const double late = raw_value(raw, *point, 0) - t;
    if (late > -1e-9 * ORACLE_GRID) {
      return late < 1e-9 * ORACLE_GRID;
    }
  }
  return false;
}

static bool take_samples(const raw_file* raw, const oracle_signals* signals, oracle_trace* trace) {
  for (size_t s = 0; s < signals->n; s++) {
    const size_t variable = find_variable(raw, signals->list[s].name);
    size_t point = 0;
    if (variable == 0) {
      snprintf(trace->failure, sizeof trace->failure, "no %s", signals->list[s].name);
      return false;
    }
    for (size_t k = 0; k < signals->n_times; k++) {
      if (!find_point(raw, signals->times[k], &point)) {
        snprintf(trace->failure, sizeof trace->failure, "no point at t = %g", signals->times[k]);
        return false;
      }
      trace->values[s][k] = raw_value(raw, point, variable);
    }
  }
  return true;
}

bool oracle_ngspice_run(const char* text, double max_step, double reltol, const char* folder,
                        const oracle_signals* signals, oracle_trace* trace) {
  char deck[512], path[512], command[1400];
  snprintf(deck, sizeof deck, "%s/deck.cir", folder);
  snprintf(path, sizeof path, "%s/deck.raw", folder);
  snprintf(command, sizeof command, "timeout 120 ngspice -b -r '%s' '%s' >'%s/deck.log' 2>&1", path,
           deck, folder);
  memset(trace, 0, sizeof *trace);
  yoke__os_file_remove(path);
  raw_file raw = {0};
  bool is_done = false;
  if (!write_deck(deck, text, max_step, reltol)) {
    snprintf(trace->failure, sizeof trace->failure, "cannot write %.80s", deck);
  } else if (system(command) != 0) {
    snprintf(trace->failure, sizeof trace->failure, "ngspice failed");
  } else if (!read_raw(path, &raw)) {
    snprintf(trace->failure, sizeof trace->failure, "ngspice wrote no result");
  } else {
    is_done = take_samples(&raw, signals, trace);
  }
  free(raw.bytes);
  return is_done;
}
