// ngspice through its library, in this process: the netlist is loaded, then only the command `tran` is timed.
#ifndef YOKE_BENCH_CIRCUITS_NGSPICE_H
#define YOKE_BENCH_CIRCUITS_NGSPICE_H

#include "circuits_result.h"

typedef struct ngspice_settings {
  double step;  // largest step [s]
  double reltol;
  const char* method;  // "trap" or "gear"
} ngspice_settings;

#if YOKE_HAVE_NGSPICE

#include <ngspice/sharedspice.h>

#include "base/base_os.h"

// what the library said last that matters
typedef struct ngspice_log {
  char failure[96];
  bool has_exited;
} ngspice_log;

static int ngspice_says(char* text, int id, void* data) {
  (void)id;
  ngspice_log* log = data;
  if (strstr(text, "imestep too small") != NULL) {
    snprintf(log->failure, sizeof log->failure, "timestep too small");
  } else if (log->failure[0] == '\0' && strstr(text, "stderr Error") != NULL) {
    snprintf(log->failure, sizeof log->failure, "%.80s", text);
  }
  return 0;
}

// NOLINTNEXTLINE(readability-non-const-parameter): the type is that of the library
static int ngspice_status(char* text, int id, void* data) {
  (void)text, (void)id, (void)data;
  return 0;
}

static int ngspice_exits(int status, NG_BOOL is_immediate, NG_BOOL is_quit, int id, void* data) {
  (void)status, (void)is_immediate, (void)is_quit, (void)id;
  ((ngspice_log*)data)->has_exited = true;
  return 0;
}

static int ngspice_data(pvecvaluesall values, int n, int id, void* data) {
  (void)values, (void)n, (void)id, (void)data;
  return 0;
}

static int ngspice_names(pvecinfoall infos, int id, void* data) {
  (void)infos, (void)id, (void)data;
  return 0;
}

static int ngspice_thread(NG_BOOL is_running, int id, void* data) {
  (void)is_running, (void)id, (void)data;
  return 0;
}

static bool ngspice_command(const char* text) {
  char line[256];
  snprintf(line, sizeof line, "%s", text);
  return ngSpice_Command(line) == 0;
}

// The library takes the netlist as lines and copies them.
static bool ngspice_load(const race_problem* problem, const ngspice_settings* settings) {
  const size_t n_text = strlen(problem->text);
  char* text = bench_take(n_text + 1, 1);
  char options[160], end[] = ".end";
  memcpy(text, problem->text, n_text);
  size_t n_lines = 0;
  for (size_t i = 0; i < n_text; i++) {
    n_lines += text[i] == '\n';
  }
  char** lines = bench_take(n_lines + 4, sizeof *lines);
  size_t n = 0;
  for (char* at = text; *at != '\0' && n < n_lines; n++) {
    lines[n] = at;
    at = strchr(at, '\n');
    *at++ = '\0';
  }
  snprintf(options, sizeof options, ".options method=%s reltol=%.9g abstol=1e-9 vntol=1e-8",
           settings->method, settings->reltol);
  lines[n++] = options;
  lines[n++] = end;
  const bool is_loaded = ngSpice_Circ(lines) == 0;
  free(lines);
  free(text);
  return is_loaded;
}

// only the signals are kept: storing all of them would slow it down
static void ngspice_save(const race_problem* problem) {
  char line[200] = "save";
  size_t n = strlen(line);
  for (int s = 0; s < problem->n_signals; s++) {
    const race_signal* signal = &problem->signals[s];
    n += (size_t)snprintf(line + n, sizeof line - n, " v(%s)", signal->plus);
    if (signal->minus[0] != '\0') {
      n += (size_t)snprintf(line + n, sizeof line - n, " v(%s)", signal->minus);
    }
  }
  ngspice_command(line);
}

static const double* ngspice_vector(const char* name, int* n) {
  char text[32];
  snprintf(text, sizeof text, "%s", name);
  const struct vector_info* info = ngGet_Vec_Info(text);
  *n = info != NULL ? info->v_length : 0;
  return info != NULL ? info->v_realdata : NULL;
}

static const race_reference* reference_for_ngspice(const race_problem* problem) {
  return problem->n_loops > 0 ? &problem->reference : &problem->ngspice_reference;
}

static void ngspice_measure(const race_problem* problem, race_result* result) {
  int n = 0, n_other = 0;
  const double* t = ngspice_vector("time", &n);
  const double *plus[MAX_SIGNALS], *minus[MAX_SIGNALS] = {NULL};
  race_error error = {.reference = reference_for_ngspice(problem), .n_signals = problem->n_signals};
  bool is_whole = t != NULL && n > 1 && t[n - 1] >= problem->stop * (1.0 - 1e-9);
  for (int s = 0; s < problem->n_signals; s++) {
    plus[s] = ngspice_vector(problem->signals[s].plus, &n_other);
    is_whole = is_whole && plus[s] != NULL && n_other == n;
    if (problem->signals[s].minus[0] != '\0') {
      minus[s] = ngspice_vector(problem->signals[s].minus, &n_other);
      is_whole = is_whole && minus[s] != NULL && n_other == n;
    }
  }
  if (!is_whole) {
    result->is_failed = true;
    result->t_reached = t != NULL && n > 0 ? t[n - 1] : 0.0;
    return;
  }
  for (int j = 1; j < n; j++) {
    double v[MAX_SIGNALS];
    for (int s = 0; s < problem->n_signals; s++) {
      v[s] = plus[s][j] - (minus[s] != NULL ? minus[s][j] : 0.0);
    }
    error_add(&error, t[j], v);
  }
  result->error = error_rms(&error);
  result->n_steps = n - 1;
}

static bool ngspice_open(ngspice_log* log) {
  return ngSpice_Init(ngspice_says, ngspice_status, ngspice_exits, ngspice_data, ngspice_names,
                      ngspice_thread, log) == 0;
}

// Smallest time of n_runs runs.
static void ngspice_race(const race_problem* problem, const ngspice_settings* settings, int n_runs,
                         ngspice_log* log, race_result* result) {
  *result = (race_result){.step = settings->step, .tolerance = settings->reltol, .cost = 1e30};
  snprintf(result->name, sizeof result->name, "ngspice %s", settings->method);
  if (log->has_exited || !ngspice_load(problem, settings)) {
    result->is_failed = true;
    return;
  }
  char command[120];
  snprintf(command, sizeof command, "tran %.9g %.9g 0 %.9g uic", settings->step, problem->stop,
           settings->step);
  for (int run = 0; run < n_runs && !result->is_failed; run++) {
    log->failure[0] = '\0';
    ngspice_save(problem);
    const int64_t start = yoke__os_cpu_ns();
    const bool is_done = ngspice_command(command);
    const double cost = 1e-9 * (double)(yoke__os_cpu_ns() - start) / problem->stop;
    result->cost = fmin(result->cost, cost);
    result->is_failed = !is_done || log->has_exited;
    if (!log->has_exited) {
      ngspice_measure(problem, result);
      ngspice_command("destroy all");
    }
  }
  snprintf(result->note, sizeof result->note, "%s", log->failure);
  if (!log->has_exited) {
    ngspice_command("remcirc");
  }
}

#endif

#endif
