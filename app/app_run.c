// Running a system for a command: progress line, results, summary, verdicts, exit status.
#include "app/app_run.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "app/app_cluster.h"
#include "app/app_report.h"
#include "app/app_summary.h"
#include "app/app_system.h"
#include "base/base_format.h"
#include "base/base_os.h"
#include "master/master_run.h"
#include "unit/circuit/unit_circuit.h"

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
  const bool is_given = *formats != 0;
  for (size_t i = 0; !is_given && i < scenario->n_record_formats; i++) {
    for (size_t k = 0; k < YOKE_N_FORMATS; k++) {
      if (strcmp(scenario->record_formats[i].text, yoke__format_names[k]) == 0) {
        *formats |= 1u << k;
      }
    }
  }
  *formats = *formats == 0 ? YOKE_RECORD_CSV : *formats;
  return true;
}

void yoke__app_results_directory(const char* path, char* to, size_t size) {
  size_t n = 0;
  const char* stem = yoke__scenario_stem(path, &n);
  snprintf(to, size, "results/%.*s", (int)n, stem);
}

// ---- what is printed

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

static void print_summary(const yoke_system* system, const yoke_run_info* info,
                          const char* directory) {
  const double simulated = info->t_reached - system->t_start;
  printf("%s: %s, %lld step%s to t = %.9g s in %.3g s (%.3gx real time)\n", system->scenario->name,
         yoke__app_status_word(info), (long long)info->n_steps,
         yoke__plural((uint64_t)info->n_steps), info->t_reached, info->wall_s,
         info->wall_s > 0 ? simulated / info->wall_s : 0);
  if (info->iteration.n_steps > 0) {
    printf("iterations: %.3g per step, at most %d%s",
           (double)info->iteration.n_iterations / (double)info->iteration.n_steps,
           info->iteration.most, info->iteration.n_not_converged > 0 ? "" : "\n");
    if (info->iteration.n_not_converged > 0) {
      printf("; %lld step%s did not converge\n", (long long)info->iteration.n_not_converged,
             yoke__plural((uint64_t)info->iteration.n_not_converged));
    }
  }
  if (info->status == YOKE_IO) {
    printf("results in %s are not complete\n", directory);
    return;
  }
  printf("results in %s: %llu row%s of %zu signal%s\n", directory,
         (unsigned long long)info->record.n_rows, yoke__plural(info->record.n_rows),
         system->n_columns, yoke__plural(system->n_columns));
}

static void print_circuits(const yoke_system* system) {
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_unit* unit = &system->units[i].unit;
    yoke_unit_circuit_figures f;
    if (!yoke__unit_circuit_figures(unit->ops, unit->self, &f) || f.n_stages == 0) {
      continue;
    }
    printf("circuit %s: %s, %s, %llu step%s of %.6g s, %u unknown%s of %u", system->units[i].name,
           f.formulation, f.method, (unsigned long long)f.n_steps, yoke__plural(f.n_steps), f.step,
           f.n_solved, yoke__plural(f.n_solved), f.n);
    // explicit methods have none
    if (f.max_iterations > 0) {
      printf(", %.3g iteration%s per stage, at most %u",
             (double)f.n_iterations / (double)f.n_stages, f.n_iterations == f.n_stages ? "" : "s",
             f.max_iterations);
    }
    printf("; %llu refactorisation%s, %llu switching%s\n", (unsigned long long)f.n_refactors,
           yoke__plural(f.n_refactors), (unsigned long long)f.n_switchings,
           yoke__plural(f.n_switchings));
  }
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
static void report_limits(const yoke_state* state, const yoke_run_info* info, const char* command) {
  if (state->ledger == NULL || !yoke__ledger_is_violated(state->ledger)) {
    return;
  }
  if (info->status == YOKE_STOPPED) {
    yoke_send(&yoke__app_sink, &info->failure.message);
    return;
  }
  size_t n = 0, n_more = 0, n_given = 0;
  const yoke_alarm* alarms = yoke__ledger_alarms(state->ledger, &n, &n_more);
  for (size_t i = 0; i < n; i++) {
    if (!alarms[i].is_given || ++n_given > MAX_SHOWN) {
      continue;
    }
    char what[480], text[512], hint[512];
    yoke_ledger_result result;
    yoke__ledger_alarm_text(state->ledger, &alarms[i], what, sizeof what);
    yoke__ledger_result(state->ledger, alarms[i].bond, &result);
    snprintf(text, sizeof text, "quality limit: %s", what);
    snprintf(hint, sizeof hint, "try: %s", result.advice);
    const bool has_advice = result.advice[0] != '\0' && is_first_of_bond(alarms, i);
    const yoke_message message = {.severity = YOKE_ERROR,
                                  .time = (double)NAN,
                                  .text = text,
                                  .hint = has_advice ? hint : NULL};
    yoke_send(&yoke__app_sink, &message);
  }
  if (n_given > MAX_SHOWN) {
    yoke__app_error(command, "and %zu more: summary.json lists them", n_given - MAX_SHOWN);
  }
}

// a folder that cannot be made was reported with the results already
static void report_news(void* to, const yoke_message* message) {
  const yoke_run_info* info = to;
  const char* known = info->failure.message.text;
  if (known == NULL || strcmp(known, message->text) != 0) {
    yoke_send(&yoke__app_sink, message);
  }
}

static void report_failure(const yoke_run_info* info, const char* command) {
  if (info->failure.message.text != NULL) {
    yoke_send(&yoke__app_sink, &info->failure.message);
  }
  yoke__app_fail(command, info->status);
}

// place: of the folder of the results, when the program started
static int run_system(yoke_system* system, yoke_state* state, const yoke_options* options,
                      uint32_t formats, const char* place, const yoke_app_words* words) {
  char directory[4096];
  yoke__app_results_directory(options->operands[0], directory, sizeof directory);
  const char* out = yoke__options_value(options, "out");
  const char* command = options->command->name;
  const bool is_circuit = options->command == &yoke__command_circuit;
  const bool is_json = is_circuit && yoke__options_has(options, "json");
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
  yoke__app_report_units(system, words, is_quiet, &told);
  yoke__app_reword(words, &info.failure.message);
  report_limits(state, &info, command);
  if (info.status < 0 && info.status != YOKE_INTERRUPTED) {
    report_failure(&info, command);
  }
  const yoke_app_summary summary = {system, state, &info, &told, is_circuit, is_json};
  const yoke_sink news = {report_news, &info};
  if (yoke__app_summary_write(&summary, settings.record.directory, &news) < 0) {
    status = YOKE_EXIT_FAILED;
  }
  if (info.status != YOKE_IO &&
      !yoke__app_write_models(system, state, settings.record.directory, command)) {
    status = YOKE_EXIT_FAILED;
  }
  if (info.status != YOKE_IO &&
      !yoke__app_report(options, system, state, &info, &told, settings.record.directory)) {
    status = YOKE_EXIT_FAILED;
  }
  if (!is_quiet && !is_json && info.record.n_rows > 0) {
    print_summary(system, &info, out == NULL ? directory : out);
    print_circuits(system);
    yoke__app_print_clusters(system, state);
    print_ledger(system, state);
  }
  yoke__messages_free(&told);
  return status;
}

int yoke__app_run(yoke_system* system, const yoke_options* options, const char* place,
                  const yoke_app_words* words) {
  uint32_t formats = 0;
  if (!choose_formats(options, system->scenario, &formats) ||
      !yoke__app_can_report(options, formats)) {
    return YOKE_EXIT_USAGE;
  }
  int status = YOKE_EXIT_OK;
  yoke_state* state = yoke__app_start(system, words, &status);
  if (state != NULL) {
    status = run_system(system, state, options, formats, place, words);
    yoke__master_destroy(system, &state);
    // what units say of their end
    yoke__app_report_units(system, words, true, NULL);
  }
  return status;
}
