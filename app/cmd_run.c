// yoke run: a system from start to stop, with results, summary and a progress line.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "app/app_report.h"
#include "app/app_system.h"
#include "base/base_format.h"
#include "base/base_json.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "base/base_version.h"
#include "master/master_run.h"
#include "record/record_summary.h"
#include "yoke/version.h"

#define MAX_SHOWN 5  // violated limits on the terminal; summary.json has all of them

// ---- progress: a thread of its own looks at the step counter, so that the loop prints nothing

typedef struct progress {
  const yoke_system* system;
  yoke_state* state;
  atomic_bool is_ending;
  yoke_thread* thread;
} progress;

static void print_progress(const progress* p, double elapsed) {
  const int64_t done = atomic_load_explicit(&p->state->progress, memory_order_relaxed);
  const double share = (double)done / (double)p->system->n_slots;
  const double simulated = share * (p->system->t_stop - p->system->t_start);
  const double left = share > 0 ? elapsed * (1 - share) / share : 0;
  const size_t bond = atomic_load_explicit(&p->state->watched, memory_order_relaxed);
  fprintf(stderr, "\r%3.0f %%  %.3gx real time  %.0f s left%s%.24s   ", 100 * share,
          elapsed > 0 ? simulated / elapsed : 0, left, bond == 0 ? "" : "  watch bond ",
          bond == 0 ? "" : p->system->bonds[bond - 1].name);
  fflush(stderr);
}

static void watch(void* argument) {
  progress* p = argument;
  const int64_t start = yoke__os_now_ns();
  int64_t shown = start;
  while (!atomic_load(&p->is_ending)) {
    yoke__os_sleep_ns(20000000);
    const int64_t now = yoke__os_now_ns();
    if (now - shown > 250000000) {
      shown = now;
      print_progress(p, (double)(now - start) * 1e-9);
    }
  }
  if (shown != start) {
    fprintf(stderr, "\r%90s\r", "");
  }
}

// ---- formats

static bool choose_formats(const yoke_options* options, const yoke_scenario* scenario,
                           uint32_t* formats) {
  *formats = 0;
  if (!yoke__options_choices(options, "format", formats)) {
    return false;
  }
  for (size_t i = 0; *formats == 0 && i < scenario->n_record_formats; i++) {
    for (size_t k = 0; k < YOKE_N_FORMATS; k++) {
      if (strcmp(scenario->record_formats[i].text, yoke__format_names[k]) == 0) {
        *formats |= 1u << k;
      }
    }
  }
  *formats = *formats == 0 ? YOKE_RECORD_CSV : *formats;
  return true;
}

static void default_directory(const char* path, char* to, size_t size) {
  size_t n = 0;
  const char* stem = yoke__scenario_stem(path, &n);
  snprintf(to, size, "results/%.*s", (int)n, stem);
}

// ---- summary

static const char* status_word(const yoke_run_info* info) {
  switch (info->status) {
  case YOKE_OK:
    return "done";
  case YOKE_ENDED:
    return "ended by a unit";
  case YOKE_STOPPED:
    return "stopped by a quality limit";
  case YOKE_INTERRUPTED:
    return "interrupted";
  default:
    return "failed";
  }
}

static void json_times(const yoke_run_info* info, yoke_json* json) {
  yoke__json_begin_object(json, "step_time");
  yoke__json_number(json, "median_us", yoke__histogram_quantile(&info->step_ns, 0.5) * 1e-3);
  yoke__json_number(json, "p99_us", yoke__histogram_quantile(&info->step_ns, 0.99) * 1e-3);
  yoke__json_number(json, "max_us", (double)info->step_ns.max * 1e-3);
  yoke__json_integer(json, "n_timed", (int64_t)info->step_ns.n);
  yoke__json_end_object(json);
}

static void json_run(const yoke_system* system, const yoke_run_info* info, yoke_json* json) {
  const double simulated = info->t_reached - system->t_start;
  yoke__json_integer(json, "steps", info->n_steps);
  yoke__json_number(json, "t_reached", info->t_reached);
  yoke__json_number(json, "wall_s", info->wall_s);
  yoke__json_number(json, "real_time_factor", info->wall_s > 0 ? simulated / info->wall_s : 0);
  json_times(info, json);
  yoke__json_begin_object(json, "recorded");
  yoke__json_integer(json, "rows", (int64_t)info->record.n_rows);
  yoke__json_integer(json, "lost", (int64_t)info->record.n_lost);
  yoke__json_integer(json, "waits", (int64_t)info->record.n_waits);
  yoke__json_integer(json, "signals", (int64_t)system->n_columns);
  yoke__json_end_object(json);
  if (info->iteration.n_steps > 0) {
    yoke__json_begin_object(json, "iteration");
    yoke__json_number(json, "mean",
                      (double)info->iteration.n_iterations / (double)info->iteration.n_steps);
    yoke__json_integer(json, "max", info->iteration.most);
    yoke__json_integer(json, "steps_not_converged", info->iteration.n_not_converged);
    yoke__json_end_object(json);
  }
}

// ---- the ledger

static const char* const indicator_keys[] = {"rho", "eps", "rter"};
static const char* const level_words[] = {"none", "warn", "stop"};
static const char* const mu_origins[] = {"automatic", "given",        "feedthrough on both sides",
                                         "implicit",  "gauss-seidel", "iterative",
                                         "no power"};

static void json_method(const yoke_system* system, const yoke_state* state, size_t bond,
                        yoke_json* json) {
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    if (system->methods[group->method].bond != bond || group->ops->health == NULL) {
      continue;
    }
    double values[32] = {0};
    group->ops->health(state->group_memory + group->self, values);
    yoke__json_begin_object(json, "method");
    yoke__json_string(json, "name", group->ops->name);
    for (size_t i = 0; i < group->ops->n_health && i < 32; i++) {
      yoke__json_number(json, group->ops->health_names[i], values[i]);
    }
    yoke__json_end_object(json);
    return;
  }
}

static void json_result(const yoke_ledger_result* r, yoke_json* json) {
  yoke__json_string(json, "verdict", yoke__verdict_names[r->verdict]);
  yoke__json_string(json, "reason", r->reason);
  yoke__json_string(json, "advice", r->advice);
  yoke__json_integer(json, "samples", r->n_samples);
  yoke__json_number(json, "dE", r->residual);
  yoke__json_number(json, "created", r->created);
  yoke__json_number(json, "energy", r->energy);
  yoke__json_number(json, "eps", r->eps);
  yoke__json_number(json, "eps_worst", r->eps_worst);
  yoke__json_number(json, "rho_mean", r->rho_mean);
  yoke__json_number(json, "rho_worst", r->rho_worst);
  yoke__json_number(json, "rho_share", r->rho_share);
  yoke__json_number(json, "passed", r->passed);
  if (r->has_ter) {
    yoke__json_number(json, "ter", r->ter);
    yoke__json_number(json, "net", r->net);
    yoke__json_number(json, "throughput", r->throughput);
    yoke__json_number(json, "rter", r->rter);
    yoke__json_number(json, "rter_worst", r->rter_worst);
    yoke__json_number(json, "flow_part", r->flow);
    yoke__json_number(json, "effort_part", r->effort);
    yoke__json_number(json, "flow_defect", r->flow_defect);
    yoke__json_number(json, "effort_defect", r->effort_defect);
  }
  yoke__json_integer(json, "bad_samples", (int64_t)r->n_bad);
  yoke__json_integer(json, "warnings", (int64_t)r->n_warnings);
}

static void json_alarms(const yoke_ledger* ledger, const yoke_system* system, yoke_json* json) {
  size_t n = 0, n_more = 0;
  const yoke_alarm* alarms = yoke__ledger_alarms(ledger, &n, &n_more);
  yoke__json_begin_array(json, "alarms");
  for (size_t i = 0; i < n; i++) {
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "bond", system->bonds[alarms[i].bond].name);
    yoke__json_string(json, "indicator", indicator_keys[alarms[i].indicator]);
    yoke__json_string(json, "level", level_words[alarms[i].level]);
    yoke__json_number(json, "from", alarms[i].t);
    yoke__json_number(json, "to", alarms[i].t_end);
    yoke__json_number(json, "value", alarms[i].value);
    yoke__json_number(json, "worst", alarms[i].worst);
    yoke__json_number(json, "limit", alarms[i].limit);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  yoke__json_integer(json, "alarms_not_listed", (int64_t)n_more);
}

static void json_ledger(const yoke_system* system, const yoke_state* state, yoke_json* json) {
  yoke_ledger_result result;
  yoke__json_begin_object(json, "ledger");
  yoke__json_string(json, "residual", "B_k A_k+1 - B_k+1 A_k of outputs at exchange points");
  yoke__json_string(json, "ter", "inputs held during a step, outputs at its end");
  yoke__json_string(json, "exchange", system->scenario->exchange == YOKE_FRESH ? "fresh" : "stale");
  yoke__json_begin_array(json, "bonds");
  for (size_t i = 0; i < system->n_bonds; i++) {
    yoke__ledger_result(state->ledger, i, &result);
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", system->bonds[i].name);
    yoke__json_number(json, "mu", result.bond->mu);
    yoke__json_string(json, "mu_from", mu_origins[result.bond->mu_origin]);
    json_result(&result, json);
    json_method(system, state, i, json);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  yoke__ledger_result(state->ledger, system->n_bonds, &result);
  yoke__json_begin_object(json, "total");
  json_result(&result, json);
  yoke__json_end_object(json);
  json_alarms(state->ledger, system, json);
  yoke__json_end_object(json);
}

// one line per bond, the advice below
static void print_ledger(const yoke_system* system, const yoke_state* state) {
  for (size_t i = 0; state->ledger != NULL && i < system->n_bonds; i++) {
    yoke_ledger_result result;
    yoke__ledger_result(state->ledger, i, &result);
    printf("bond %s: %s: %s\n", system->bonds[i].name, yoke__verdict_names[result.verdict],
           result.reason);
    if (result.advice[0] != '\0') {
      printf("  try: %s\n", result.advice);
    }
  }
}

static void json_messages(const yoke_messages* messages, yoke_json* json) {
  static const char* const words[] = {"note", "warning", "error"};
  yoke__json_begin_array(json, "messages");
  for (const yoke_message* m = messages->first; m != NULL; m = m->next) {
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "level", words[m->severity]);
    yoke__json_string(json, "text", m->text);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

static yoke_status write_summary(const yoke_system* system, const yoke_state* state,
                                 const yoke_run_info* info, const yoke_messages* told,
                                 const char* directory, char* err, size_t err_size) {
  yoke_json json = {0};
  yoke__json_begin_object(&json, NULL);
  yoke__json_string(&json, "name", system->scenario->name);
  yoke__json_string(&json, "status", status_word(info));
  yoke__json_string(&json, "message", info->message);
  yoke__json_string(&json, "yoke", yoke_version());
  yoke__json_string(&json, "commit", yoke__commit());
  yoke__json_string(&json, "build", yoke__build());
  yoke__json_boolean(&json, "denormals_flushed", true);
  json_run(system, info, &json);
  if (system->is_adaptive) {
    yoke__json_begin_object(&json, "steps_chosen");
    yoke__json_number(&json, "least", state->h_least);
    yoke__json_number(&json, "most", state->h_most);
    yoke__json_end_object(&json);
  }
  if (state->ledger != NULL) {
    json_ledger(system, state, &json);
  }
  json_messages(told, &json);
  yoke__system_json(system, "system", &json);
  yoke__json_end_object(&json);
  const yoke_status status = yoke__record_summary_write(directory, &json, err, err_size);
  yoke__json_free(&json);
  return status;
}

static void print_summary(const yoke_system* system, const yoke_run_info* info,
                          const char* directory) {
  const double simulated = info->t_reached - system->t_start;
  printf("%s: %s, %lld steps to t = %.9g s in %.3g s (%.3gx real time)\n", system->scenario->name,
         status_word(info), (long long)info->n_steps, info->t_reached, info->wall_s,
         info->wall_s > 0 ? simulated / info->wall_s : 0);
  if (info->iteration.n_steps > 0) {
    printf("iterations: %.3g per step, at most %d%s",
           (double)info->iteration.n_iterations / (double)info->iteration.n_steps,
           info->iteration.most, info->iteration.n_not_converged > 0 ? "" : "\n");
    if (info->iteration.n_not_converged > 0) {
      printf("; %lld steps did not converge\n", (long long)info->iteration.n_not_converged);
    }
  }
  if (info->status == YOKE_IO) {
    printf("results in %s are not complete\n", directory);
    return;
  }
  printf("results in %s: %llu rows of %zu signals\n", directory,
         (unsigned long long)info->record.n_rows, system->n_columns);
}

// ---- the run

static int exit_status(const yoke_run_info* info, const yoke_state* state) {
  if (info->status == YOKE_INTERRUPTED) {
    return YOKE_EXIT_INTERRUPTED;
  }
  if (info->status < 0) {
    return YOKE_EXIT_FAILED;
  }
  const bool is_violated = state->ledger != NULL && yoke__ledger_is_violated(state->ledger);
  return is_violated ? YOKE_EXIT_QUALITY : YOKE_EXIT_OK;
}

static bool is_first_of_bond(const yoke_alarm alarms[], size_t i) {
  for (size_t k = 0; k < i; k++) {
    if (alarms[k].is_given && alarms[k].bond == alarms[i].bond) {
      return false;
    }
  }
  return true;
}

// warnings that the user asked for; a limit that ended the run has spoken already
static void report_limits(const yoke_state* state, const yoke_run_info* info) {
  if (state->ledger == NULL || !yoke__ledger_is_violated(state->ledger)) {
    return;
  }
  if (info->status == YOKE_STOPPED) {
    yoke__app_error("run", "%s", info->message);
    return;
  }
  size_t n = 0, n_more = 0, n_given = 0;
  const yoke_alarm* alarms = yoke__ledger_alarms(state->ledger, &n, &n_more);
  for (size_t i = 0; i < n; i++) {
    if (!alarms[i].is_given || ++n_given > MAX_SHOWN) {
      continue;
    }
    char text[480];
    yoke_ledger_result result;
    yoke__ledger_alarm_text(state->ledger, &alarms[i], text, sizeof text);
    yoke__ledger_result(state->ledger, alarms[i].bond, &result);
    const bool has_advice = result.advice[0] != '\0' && is_first_of_bond(alarms, i);
    yoke__app_error("run", "quality limit: %s%s%s", text, has_advice ? "; try: " : "",
                    has_advice ? result.advice : "");
  }
  if (n_given > MAX_SHOWN) {
    yoke__app_error("run", "and %zu more: summary.json lists them", n_given - MAX_SHOWN);
  }
}

// place: of the folder of the results, when the program started
static int run_system(yoke_system* system, yoke_state* state, const yoke_options* options,
                      uint32_t formats, const char* place) {
  char directory[4096];
  default_directory(options->operands[0], directory, sizeof directory);
  const char* out = yoke__options_value(options, "out");
  const bool is_quiet = yoke__options_has(options, "quiet");
  const yoke_run_settings settings = {
      .record = {.directory = place, .formats = formats, .title = system->scenario->name},
      .is_interrupted = yoke__os_is_interrupted};
  progress p = {.system = system, .state = state};
  if (!is_quiet && yoke__os_is_terminal(stderr)) {
    yoke__os_thread_start(watch, &p, &p.thread);
  }
  static yoke_run_info info;  // large: histogram
  yoke__os_catch_interrupt();
  yoke__master_run(system, state, &settings, &info);
  atomic_store(&p.is_ending, true);
  yoke__os_thread_join(&p.thread);

  int status = exit_status(&info, state);
  yoke_messages told = {0};
  yoke__app_tell_units(system, is_quiet, &told);
  report_limits(state, &info);
  if (info.status < 0 && info.status != YOKE_INTERRUPTED) {
    yoke__app_error("run", "%s", info.message);
  }
  char err[512] = "";
  // a folder that cannot be made was reported with the results already
  if (write_summary(system, state, &info, &told, settings.record.directory, err, sizeof err) < 0) {
    if (strcmp(err, info.message) != 0) {
      yoke__app_error("run", "%s", err);
    }
    status = YOKE_EXIT_FAILED;
  }
  if (info.status != YOKE_IO &&
      !yoke__app_report(options, system, state, &info, settings.record.directory)) {
    status = YOKE_EXIT_FAILED;
  }
  if (!is_quiet && info.record.n_rows > 0) {
    print_summary(system, &info, out == NULL ? directory : out);
    print_ledger(system, state);
  }
  yoke__messages_free(&told);
  return status;
}

static int run_loaded(yoke_system* system, const yoke_options* options, const char* place) {
  uint32_t formats = 0;
  if (!choose_formats(options, system->scenario, &formats) ||
      !yoke__app_can_report(options, formats)) {
    return YOKE_EXIT_USAGE;
  }
  int status = YOKE_EXIT_OK;
  yoke_state* state = yoke__app_start(system, &status);
  if (state != NULL) {
    status = run_system(system, state, options, formats, place);
    yoke__master_destroy(system, &state);
    // what units say of their end
    yoke__app_tell_units(system, true, NULL);
  }
  return status;
}

static bool has_foreign_units(const yoke_system* system) {
  for (size_t i = 0; i < system->scenario->n_units; i++) {
    const char* kind = system->scenario->units[i].kind;
    if (kind != NULL && strcmp(kind, "fmu") == 0) {
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
    default_directory(options.operands[0], place, sizeof place);
  }
  yoke__os_path_absolute(out == NULL ? place : out, whole, sizeof whole);
  yoke_system* system =
      yoke__app_load(&options, extra, threads >= 0 ? 1 : 0, yoke__options_has(&options, "strict"));
  const char* short_name = out == NULL ? place : out;
  status = system == NULL
               ? YOKE_EXIT_USAGE
               : run_loaded(system, &options, has_foreign_units(system) ? whole : short_name);
  yoke__system_destroy(&system);
  yoke__options_free(&options);
  return status;
}
