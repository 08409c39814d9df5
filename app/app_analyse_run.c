// A recorded run: which cluster, from which file, and what its steps say.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/app_analyse.h"
#include "base/base_json.h"
#include "base/base_json_read.h"
#include "base/base_os.h"
#include "base/base_text.h"
#include "study/study_recorded.h"
#include "study/study_stability_run.h"
#include "yoke/yoke.h"

#define MAX_PATH_SIZE 4096

// A run that is looked at.
typedef struct judging {
  const yoke_app_analyse* app;
  yoke_arena arena;
  yoke_recorded result;
  const char* summary_file;  // NULL: none belongs to such a name
  json_t* summary;           // NULL: there is none
  const char* file;          // of the system
  yoke_system* system;
  yoke_state* state;
  size_t group;
  yoke_stability_run run;
} judging;

// ---- what was run

// A folder of results or a table in it, and nothing else. False after a message.
static bool is_result(const char* path) {
  static const char expected[] = "expected the folder that yoke run wrote, or results.csv in it";
  const size_t n = strlen(path);
  if (n == 0 || n >= MAX_PATH_SIZE) {
    return yoke__app_error(YOKE_ANALYSE, "--run: %s; %s",
                           n == 0 ? "no name given" : "the path is too long", expected);
  }
  if (!yoke__os_is_directory(path) && !yoke__os_is_file(path)) {
    return yoke__app_error(YOKE_ANALYSE, "--run: there is no '%s'; %s", path, expected);
  }
  if (n > 5 && strcmp(path + n - 5, ".json") == 0) {
    return yoke__app_error(YOKE_ANALYSE, "--run: '%s' is no table of results; %s", path, expected);
  }
  return true;
}

// summary.json beside the results; a missing one is fine if the system is named.
static int read_summary(judging* j) {
  yoke_context context;
  char* bytes = NULL;
  size_t n = 0;
  yoke_status status = yoke__recorded_summary_bytes(j->result.path, &j->arena, &j->summary_file,
                                                    &bytes, &n, &yoke__app_sink);
  if (bytes != NULL) {
    const yoke_sink* sink = yoke__app_sink_at(&context, j->summary_file);
    status = yoke__json_parse(bytes, n, &j->summary, sink);
  }
  free(bytes);
  return status < 0 ? yoke__app_fail(YOKE_ANALYSE, status) : YOKE_EXIT_OK;
}

// What the summary says about the table: a run that broke off, or a table that was cut. The counters of the method, which
// are compared later, would blame the settings for it.
static bool check_whole(const judging* j) {
  const char* status = yoke__json_find_text(j->summary, "status", "");
  if (strcmp(status, "failed") == 0) {
    return yoke__app_error(YOKE_ANALYSE,
                           "%s: the run failed at %.9g s (%.300s); expected a complete run: set an "
                           "earlier time.stop and run again",
                           j->result.path,
                           yoke__json_find_number(j->summary, "t_reached", (double)NAN),
                           yoke__json_find_text(j->summary, "message", ""));
  }
  const json_t* recorded = json_object_get(j->summary, "recorded");
  const double rows = yoke__json_find_number(recorded, "rows", (double)NAN);
  const double lost = yoke__json_find_number(recorded, "lost", 0);
  if (lost > 0) {
    return yoke__app_error(
        YOKE_ANALYSE, "%s: %.0f rows were lost while recording; expected a row at every exchange",
        j->result.path, lost);
  }
  if (!isnan(rows) && rows != (double)j->result.csv.n_rows) {
    return yoke__app_error(YOKE_ANALYSE,
                           "%s: the table has %zu rows, but the run wrote %.0f (%s): it was cut or "
                           "replaced; run again",
                           j->result.path, j->result.csv.n_rows, rows, j->summary_file);
  }
  return true;
}

// The system of the run, from SYSTEM or from what the summary says.
static int build(judging* j) {
  const yoke_options* given = j->app->options;
  const bool is_given = given->n_operands > 0;
  const char* file =
      is_given ? given->operands[0]
               : yoke__json_find_text(json_object_get(j->summary, "system"), "file", NULL);
  if (file == NULL || file[0] == '\0') {
    yoke__app_error(
        YOKE_ANALYSE,
        "%s has no summary.json that names its system; name it: yoke analyse SYSTEM --run RESULT",
        j->result.path);
    return YOKE_EXIT_USAGE;
  }
  const char* operands[] = {file, NULL};
  yoke_options options = *given;
  options.operands = operands;
  options.n_operands = 1;
  j->file = file;
  j->system = yoke__app_analyse_load(&options);
  if (j->system == NULL && !is_given) {
    yoke__app_error(YOKE_ANALYSE,
                    "'%s' is the system file named in %s, relative to the folder the run was "
                    "started in; if it is elsewhere now: yoke analyse SYSTEM --run RESULT",
                    file, j->summary_file);
  }
  return j->system == NULL ? YOKE_EXIT_USAGE : yoke__app_analyse_start(j->system, &j->state);
}

static int find_cluster(judging* j) {
  const char* command = YOKE_ANALYSE;
  const yoke_sink sink = yoke__app_command_sink(&command);
  const yoke_status found = yoke__stability_run_find(
      j->system, yoke__options_value(j->app->options, "cluster"), j->file, &j->group, &sink);
  return found < 0 ? yoke__app_fail(YOKE_ANALYSE, found) : YOKE_EXIT_OK;
}

// ---- is it that run?

// Round-off: the file has the shortest digits of the same numbers.
static bool is_same(double a, double b) {
  return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

// The method's figures of the run and of the run again; then those of the models found again. False after a message.
static bool check_health(const judging* j) {
  const yoke_stability_run* run = &j->run;
  const json_t* health = yoke__json_find_named(json_object_get(j->summary, "clusters"),
                                               run->cluster, strlen(run->cluster));
  if (j->summary != NULL && health == NULL) {
    const char* version = yoke__json_find_text(j->summary, "yoke", "unknown");
    return yoke__app_error(YOKE_ANALYSE,
                           "%s has no %s: the run was of another system, or by another "
                           "version of yoke (%.40s; this is %s); run again",
                           j->summary_file, run->cluster, version, yoke_version());
  }
  for (size_t i = 0; i < run->n_health && health != NULL; i++) {
    const double want = yoke__json_find_number(health, run->health_names[i], (double)NAN);
    if (!isnan(want) && !is_same(want, run->health[i])) {
      return yoke__app_error(
          YOKE_ANALYSE,
          "%s: with these settings %s of %s would be %.9g, but the run had %.9g; give "
          "the same --set as for the run (system: %s)",
          j->result.path, run->health_names[i], run->cluster, run->health[i], want, j->file);
    }
  }
  for (size_t i = 0; i < run->n_health; i++) {
    const bool is_mean = strcmp(run->health_names[i], "error_mean") == 0;
    if (is_mean && !is_same(run->health[i], run->error_mean)) {
      return yoke__app_error(
          YOKE_ANALYSE,
          "the models of %s cannot be reproduced from the recording (mean error %.9g instead of "
          "%.9g): they were loaded or provided, or a unit announced a jump",
          run->cluster, run->error_mean, run->health[i]);
    }
  }
  return true;
}

// ---- what is printed

static void print_units(const yoke_stability_run* run) {
  for (size_t i = 0; i < run->n_units; i++) {
    printf(
        "  %-16s %s%s\n", run->names[i],
        run->is_own[i]
            ? "its own linear model, solver: "
            : "the identified model replaces it: effects that the model leaves out are not judged",
        run->is_own[i] ? run->solvers[i] : "");
  }
}

static void verdict(const yoke_stability_run* run, char* to, size_t size) {
  if (run->is_below) {
    snprintf(to, size, "exponentially stable: all exponents are below 1");
  } else if (run->is_stable) {
    snprintf(to, size,
             "exponentially stable: any %zu steps in a row reduce every deviation; over fewer "
             "steps one may grow",
             run->contracts_after);
  } else {
    snprintf(to, size,
             "stability is not shown: no exponent is below 1. A longer recording may show it");
  }
}

static void print_run(const judging* j) {
  const yoke_stability_run* run = &j->run;
  yoke_system_info info;
  yoke_system_get_info(j->system, &info);
  printf("%s, %s, step correction (ede) %s\n", info.name, run->cluster,
         !run->uses_ede    ? "off"
         : run->resets_ede ? "reset"
                           : "on");
  print_units(run);
  printf("%zu exchanges every %.6g s; judged: %zu steps from %.6g s on, matrices of %zu x %zu\n",
         run->n_rows, run->interval, run->n_steps,
         run->t_start + (double)run->first * run->interval, run->size, run->size);
  if (run->n_left_out > 0) {
    printf("note: %zu earlier steps are left out, they do not fit into memory\n", run->n_left_out);
  }
  printf("phases: %lld full, %lld modified, %lld extrapolated; model error: mean %.4g, largest "
         "%.4g\n\n",
         (long long)run->n_phases[YOKE_MPSM_FULL], (long long)run->n_phases[YOKE_MPSM_MODIFIED],
         (long long)run->n_phases[YOKE_MPSM_SIGNAL], run->error_mean, run->error_max);
  printf("%6s %9s  %s\n", "K", "windows", "largest |M_(l+K-1) ... M_l|^(1/K)");
  for (size_t i = 0; i < run->n_lengths; i++) {
    printf("%6zu %9zu  %.6f\n", run->lengths[i], run->n_windows[i], run->values[i]);
  }
  char text[200];
  verdict(run, text, sizeof text);
  printf("\nnorm of a single step: at most %.4g (bounded)\n%s\n", run->largest, text);
}

static void json_run(const judging* j, yoke_json* json) {
  const yoke_stability_run* run = &j->run;
  yoke__json_string(json, "result", j->result.path);
  yoke__json_string(json, "cluster", run->cluster);
  yoke__json_begin_array(json, "units");
  for (size_t i = 0; i < run->n_units; i++) {
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", run->names[i]);
    yoke__json_string(json, "model", run->is_own[i] ? "own" : "identified");
    if (run->is_own[i]) {
      yoke__json_string(json, "solver", run->solvers[i]);
    }
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  yoke__json_number(json, "interval", run->interval);
  yoke__json_integer(json, "rows", (int64_t)run->n_rows);
  yoke__json_integer(json, "first", (int64_t)run->first);
  yoke__json_integer(json, "steps", (int64_t)run->n_steps);
  yoke__json_integer(json, "steps_left_out", (int64_t)run->n_left_out);
  yoke__json_begin_object(json, "phases");
  for (int i = 0; i < YOKE_MPSM_N_PHASES; i++) {
    yoke__json_integer(json, yoke__mpsm_phase_names[i], run->n_phases[i]);
  }
  yoke__json_end_object(json);
  yoke__json_boolean(json, "ede", run->uses_ede);
  yoke__json_begin_array(json, "exponents");
  for (size_t i = 0; i < run->n_lengths; i++) {
    yoke__json_begin_object(json, NULL);
    yoke__json_integer(json, "K", (int64_t)run->lengths[i]);
    yoke__json_integer(json, "windows", (int64_t)run->n_windows[i]);
    yoke__json_number(json, "value", run->values[i]);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  yoke__json_number(json, "largest_norm", run->largest);
  yoke__json_boolean(json, "is_stable", run->is_stable);
  yoke__json_boolean(json, "is_below_1", run->is_below);
  char text[200];
  verdict(run, text, sizeof text);
  yoke__json_string(json, "verdict", text);
}

static int print_json(const judging* j) {
  yoke_json json = {0};
  yoke__json_begin_document(&json, "stability-run");
  json_run(j, &json);
  yoke__json_end_object(&json);
  return yoke__app_print_json(YOKE_ANALYSE, &json) ? YOKE_EXIT_OK : YOKE_EXIT_FAILED;
}

// bohl.csv: the steps; exponents.csv: K and the exponents.
static int write_files(const judging* j) {
  static const char* const names[] = {"steps.csv", "bohl.csv"};
  const yoke_stability_run* run = &j->run;
  yoke_text texts[2] = {{0}}, *steps = &texts[0], *exponents = &texts[1];
  yoke__text_add(steps, "time,phase,radius\n");
  for (size_t i = 0; i < run->n_steps; i++) {
    yoke__text_number(steps, run->t_start + (double)(run->first + i) * run->interval);
    yoke__text_add(steps, ",%s,", yoke__mpsm_phase_names[run->phases[i]]);
    yoke__text_number(steps, run->radii[i]);
    yoke__text_add(steps, "\n");
  }
  yoke__text_add(exponents, "K,windows,exponent\n");
  for (size_t i = 0; i < run->n_lengths; i++) {
    yoke__text_add(exponents, "%zu,%zu,", run->lengths[i], run->n_windows[i]);
    yoke__text_number(exponents, run->values[i]);
    yoke__text_add(exponents, "\n");
  }
  return yoke__app_analyse_write(j->app, names, texts, 2);
}

// ---- the whole

static int report(judging* j) {
  int status = j->app->out == NULL ? YOKE_EXIT_OK : write_files(j);
  if (status == YOKE_EXIT_OK && j->app->is_json) {
    status = print_json(j);
  } else if (status == YOKE_EXIT_OK && !j->app->is_quiet) {
    print_run(j);
  }
  if (status == YOKE_EXIT_OK && j->app->expects_stable && !j->run.is_stable) {
    yoke__app_error(YOKE_ANALYSE, "the run is not shown to be stable");
    status = YOKE_EXIT_QUALITY;
  }
  return status;
}

static int judge(judging* j) {
  yoke_messages messages = {0};
  const yoke_status opened =
      yoke__stability_run_open(j->system, j->group, &j->result.csv, &messages, &j->run);
  int status = YOKE_EXIT_USAGE;
  if (opened >= 0) {
    status = check_health(j) ? report(j) : YOKE_EXIT_USAGE;
  } else if (messages.n_errors > 0) {
    yoke_context context;
    for (size_t i = 0; i < messages.n; i++) {
      yoke_send(yoke__app_sink_at(&context, j->result.path), &messages.all[i]);
    }
  } else {
    status = yoke__app_analyse_fail(opened);
  }
  yoke__messages_free(&messages);
  yoke__stability_run_free(&j->run);
  return status;
}

int yoke__app_analyse_run(const yoke_app_analyse* app) {
  judging j = {.app = app};
  const char* path = yoke__options_value(app->options, "run");
  if (!is_result(path)) {
    return YOKE_EXIT_USAGE;
  }
  const char* command = YOKE_ANALYSE;
  const yoke_sink sink = yoke__app_command_sink(&command);
  const yoke_status read = yoke__recorded_read(path, false, &j.arena, &j.result, &sink);
  int status = read < 0 ? yoke__app_fail(YOKE_ANALYSE, read) : read_summary(&j);
  if (status == YOKE_EXIT_OK) {
    status = check_whole(&j) ? build(&j) : YOKE_EXIT_USAGE;
  }
  status = status == YOKE_EXIT_OK ? find_cluster(&j) : status;
  status = status == YOKE_EXIT_OK ? judge(&j) : status;
  yoke__study_destroy(&j.system, &j.state);
  json_decref(j.summary);
  yoke__csv_free(&j.result.csv);
  yoke__arena_free(&j.arena);
  return status;
}
