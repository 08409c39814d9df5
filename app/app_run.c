// Running a system for a command: progress line, results, verdicts, exit status.
#include "app/app_run.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "app/app_guard.h"
#include "app/app_report.h"
#include "app/app_system.h"
#include "app/app_trust.h"
#include "base/base_check.h"
#include "base/base_crash.h"
#include "base/base_json_read.h"
#include "base/base_message_json.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "base/base_status.h"

// ---- progress: a thread of its own asks, so that the loop prints nothing

typedef struct progress {
  const yoke_simulation* simulation;
  atomic_bool is_ending;
  yoke_thread* thread;
} progress;

static void print_progress(const progress* p) {
  yoke_progress now;
  if (yoke_simulation_get_progress(p->simulation, &now) < 0) {
    return;
  }
  const double simulated = now.time - now.t_start;
  char error[64] = "";
  if (now.signal != NULL) {
    snprintf(error, sizeof error, "  %.24s +-%.2g %%", now.signal, 100 * now.relative);
  }
  fprintf(stderr, "\r%3.0f %%  %.3gx real time  %.0f s left%s%s%.24s   ", 100 * now.share,
          now.wall_s > 0 ? simulated / now.wall_s : 0,
          now.share > 0 ? now.wall_s * (1 - now.share) / now.share : 0, error,
          now.bond == NULL ? "" : "  watch bond ", now.bond == NULL ? "" : now.bond);
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
      print_progress(p);
    }
  }
  if (shown != start) {
    fprintf(stderr, "\r%120s\r", "");
  }
}

// A signal cannot call the library with the simulation at hand, so the run asks.
static bool goes_on(void* to, const yoke_progress* now) {
  (void)to;
  (void)now;
  return !yoke__os_is_interrupted();
}

#define PATIENCE_NS 2000000000  // of waiting for the verdict before that is said

typedef struct waiting {
  int64_t start;
  bool is_told;
} waiting;

// The same while the run is judged, with a word for those who wait: a companion may hang inside a call.
static bool waits_on(void* to, const yoke_progress* now) {
  waiting* w = to;
  if (!w->is_told && yoke__os_now_ns() - w->start > PATIENCE_NS) {
    w->is_told = true;
    fputs("the result is still being judged; Ctrl-C skips only the verdict\n", stderr);
  }
  return goes_on(NULL, now);
}

void yoke__app_results_directory(const char* path, char* to, size_t size) {
  size_t n = 0;
  const char* stem = yoke__os_path_stem(path, &n);
  snprintf(to, size, "results/%.*s", (int)n, stem);
}

// ---- what is printed: the summary, in sentences

static long long whole(const json_t* object, const char* key) {
  return (long long)yoke__json_find_number(object, key, 0);
}

static const char* plural(long long n) {
  return n == 1 ? "" : "s";
}

static long long count_fallbacks(const json_t* summary) {
  return whole(json_object_get(summary, "fallbacks"), "count");
}

// How the run ended. is_growing: whether that is right is not known yet. A loop that grew again after it had been held is no
// plain end either.
static const char* end_of(const json_t* summary, bool is_growing) {
  const char* status = yoke__json_find_text(summary, "status", "");
  return is_growing                                                    ? "still growing"
         : strcmp(status, "done") == 0 && count_fallbacks(summary) > 1 ? "done, but loops grew"
                                                                       : status;
}

static void print_run(const json_t* summary, const char* directory, bool is_growing) {
  const json_t* iteration = json_object_get(summary, "iteration");
  const json_t* recorded = json_object_get(summary, "recorded");
  const long long n_steps = whole(summary, "steps"), n_rows = whole(recorded, "rows");
  printf("%s: %s, %lld step%s to t = %.9g s in %.3g s (%.3gx real time)\n",
         yoke__json_find_text(summary, "name", ""), end_of(summary, is_growing), n_steps,
         plural(n_steps), yoke__json_find_number(summary, "t_reached", 0),
         yoke__json_find_number(summary, "wall_s", 0),
         yoke__json_find_number(summary, "real_time_factor", 0));
  if (iteration != NULL) {
    const long long n_open = whole(iteration, "steps_not_converged");
    printf("iterations: %.3g per step, at most %lld", yoke__json_find_number(iteration, "mean", 0),
           whole(iteration, "max"));
    putchar('\n');
    if (n_open > 0) {
      printf("warning: %lld of %lld steps reached iteration.max (%lld) before the tolerance\n",
             n_open, n_steps, whole(iteration, "max"));
    }
  }
  if (whole(recorded, "signals") == 0) {
    printf("results in %s: summary.json; no signal is recorded, so there are no rows\n", directory);
    return;
  }
  printf("results in %s: %lld row%s of %lld signal%s\n", directory, n_rows, plural(n_rows),
         whole(recorded, "signals"), plural(whole(recorded, "signals")));
}

// How a run by the clock kept its deadlines, and what the system gave it for that.
static void print_pace(const json_t* pace, long long n_lost) {
  if (pace == NULL) {
    return;
  }
  const json_t* system = json_object_get(pace, "system");
  const char* note = yoke__json_find_text(system, "sched_fifo_note", "");
  printf("%s\n", yoke__json_find_text(pace, "text", ""));
  printf("SCHED_FIFO %s%s%s, memory locked: %s, own processor: %s\n",
         yoke__json_find_text(system, "sched_fifo", ""), note[0] == '\0' ? "" : ": ", note,
         yoke__json_find_text(system, "memory_locked", ""),
         yoke__json_find_text(system, "processor", ""));
  if (strcmp(yoke__json_find_text(system, "sched_fifo", ""), "refused") == 0 ||
      strcmp(yoke__json_find_text(system, "memory_locked", ""), "refused") == 0) {
    printf("to have it granted: raise the limits rtprio and memlock (docs/pace.md)\n");
  }
  if (n_lost > 0) {
    printf("%lld row%s of the results lost: the disk could not keep up\n", n_lost,
           n_lost == 1 ? " was" : "s were");
  }
}

static void print_circuit(const json_t* c) {
  const json_t* sizes = json_object_get(c, "sizes");
  const long long n_steps = whole(c, "steps"), n_solved = whole(sizes, "solved");
  const double mean = yoke__json_find_number(c, "iterations_mean", 0);
  if (whole(c, "stages") == 0) {
    return;
  }
  printf("circuit %s: %s, %s, %lld step%s of %.6g s, ", yoke__json_find_text(c, "unit", ""),
         yoke__json_find_text(c, "formulation", ""), yoke__json_find_text(c, "method", ""), n_steps,
         plural(n_steps), yoke__json_find_number(c, "step", 0));
  if (n_solved > 0) {
    printf("%lld unknown%s of %lld", n_solved, plural(n_solved), whole(sizes, "n"));
  } else {
    printf("%lld signal%s, none left to solve for", whole(sizes, "n"), plural(whole(sizes, "n")));
  }
  // explicit methods have none
  if (whole(c, "iterations_worst") > 0) {
    printf(", %.3g iteration%s per stage, at most %lld", mean, mean == 1 ? "" : "s",
           whole(c, "iterations_worst"));
  }
  printf("; %lld refactorisation%s, %lld switching%s\n", whole(c, "refactors"),
         plural(whole(c, "refactors")), whole(c, "switchings"), plural(whole(c, "switchings")));
}

// One line per bond. Its word counts only where nothing else gives a verdict.
static void print_bonds(const json_t* ledger) {
  const bool has_words = json_is_true(json_object_get(ledger, "decides"));
  json_t* bond = NULL;
  size_t i = 0;
  json_array_foreach(json_object_get(ledger, "bonds"), i, bond) {
    const char* explanation = yoke__json_find_text(bond, "explanation", "");
    const char* reason = yoke__json_find_text(bond, "reason", "");
    printf("bond %s: ", yoke__json_find_text(bond, "name", ""));
    if (has_words) {
      printf("%s: %s\n", yoke__json_find_text(bond, "verdict", ""), reason);
    }
    if (!has_words || strcmp(reason, explanation) != 0) {
      printf("%s%s\n", has_words ? "  " : "", explanation);
    }
  }
}

// The run itself, before it is judged.
// The largest share of a signal's exchanges in which it was held, and whose.
static double most_held(const json_t* served, const json_t** whose, double totals[4]) {
  double most = 0;
  size_t i = 0, k = 0;
  json_t *signal = NULL, *way = NULL;
  json_array_foreach(served, i, signal) {
    double n[4] = {0}, sum = 0;
    json_array_foreach(json_object_get(signal, "by"), k, way) {
      const double own = yoke__json_find_number(way, "exchanges", 0);
      sum += own;
      if (k < 4) {
        n[k] = own;
        totals[k] += own;
      }
    }
    if (sum > 0 && n[0] / sum > most) {
      most = n[0] / sum;
      *whose = signal;
    }
  }
  return most;
}

// One sentence on what served the signals that name no method.
static void print_served(const json_t* served, long long n_fallbacks) {
  const json_t* whose = NULL;
  double n[4] = {0};
  const double most = most_held(served, &whose, n), sum = n[0] + n[1] + n[2] + n[3];
  if (sum <= 0) {
    return;
  }
  printf("auto: order 2 was chosen for %.4g %% of the exchanges, order 1 for %.4g %%, zero-order "
         "hold for %.4g %%",
         100 * n[2] / sum, 100 * n[1] / sum, 100 * n[0] / sum);
  if (most > 0.1) {
    printf("; %s -> %s was held for %.3g %%: it oscillates from exchange to exchange",
           yoke__json_find_text(whose, "from", ""), yoke__json_find_text(whose, "to", ""),
           100 * most);
  }
  if (n_fallbacks > 0) {
    printf("; growing loops fell back to zero-order hold %lld time%s, for %.3g %%", n_fallbacks,
           plural(n_fallbacks), 100 * n[3] / sum);
  }
  putchar('\n');
}

static void print_summary(const json_t* summary, const char* directory, bool is_growing) {
  size_t i = 0;
  json_t* part = NULL;
  print_run(summary, directory, is_growing);
  print_pace(json_object_get(summary, "pace"), whole(json_object_get(summary, "recorded"), "lost"));
  json_array_foreach(json_object_get(summary, "circuits"), i, part) {
    print_circuit(part);
  }
  json_array_foreach(json_object_get(summary, "clusters"), i, part) {
    if (yoke__json_find_text(part, "text", "")[0] != '\0') {
      printf("coupling %s (%s): %s\n", yoke__json_find_text(part, "coupling", ""),
             yoke__json_find_text(part, "method", ""), yoke__json_find_text(part, "text", ""));
    }
  }
  print_served(json_object_get(summary, "served"), count_fallbacks(summary));
}

// What can be said of it, with the energy of its bonds as an explanation.
static void print_verdict(const json_t* summary, bool has_trust) {
  if (has_trust) {
    yoke__app_print_trust(summary);
  }
  print_bonds(json_object_get(summary, "ledger"));
}

// The summary of the library, parsed; NULL after a message.
static json_t* read_summary(const yoke_simulation* simulation, bool is_printed) {
  char* text = NULL;
  json_t* summary = NULL;
  if (yoke_simulation_summary(simulation, &text) >= 0) {
    if (is_printed) {
      fputs(text, stdout);
    }
    yoke__json_parse(text, strlen(text), &summary, &yoke__app_sink);
  }
  yoke_text_free(&text);
  return summary;
}

// ---- the run

static int exit_status(const yoke_run_info* info, const yoke_run_trust* trust, bool is_counted) {
  if (info->status == YOKE_INTERRUPTED) {
    return YOKE_EXIT_INTERRUPTED;
  }
  if (info->status < 0) {
    return YOKE_EXIT_FAILED;
  }
  if (info->is_late) {
    return YOKE_EXIT_LATE;
  }
  return info->is_violated || (trust->is_wrong && is_counted) ? YOKE_EXIT_QUALITY : YOKE_EXIT_OK;
}

// A netlist on its own exchanges nothing.
static bool is_judged(const yoke_options* options) {
  return options->command == &yoke__command_run;
}

// False after a message.
static bool read_mode(const yoke_options* options, yoke_trust_mode* mode) {
  // in the order of the option's choices
  static const yoke_trust_mode modes[] = {YOKE_TRUST_AUTO, YOKE_TRUST_BOTH, YOKE_TRUST_HALF,
                                          YOKE_TRUST_CHEAP, YOKE_TRUST_NONE};
  uint32_t bits = 0;
  *mode = is_judged(options) ? YOKE_TRUST_FILE : YOKE_TRUST_NONE;
  if (!is_judged(options)) {
    return true;
  }
  if (!yoke__options_choices(options, "trust", &bits)) {
    return false;
  }
  for (size_t i = 0; i < YOKE_COUNT(modes); i++) {
    if (bits == 1u << i) {
      *mode = modes[i];
      return true;
    }
  }
  return bits == 0 ||
         yoke__app_error(options->command->name, "--trust: expected one mode, found several");
}

bool yoke__app_read_pace(const yoke_options* options, double* pace) {
  const char* value = yoke__options_value(options, "realtime");
  if (value == NULL) {
    return true;
  }
  *pace = 1;
  if (value[0] == '\0') {
    return true;
  }
  if (!yoke__number_parse(value, pace) || !(*pace > 0) || !(*pace <= 1e6)) {
    return yoke__app_error(options->command->name,
                           "--realtime: expected a number above 0 and up to 1e6, found '%.40s'",
                           value);
  }
  return true;
}

// The run, and where it writes to.
typedef struct running {
  yoke_simulation* simulation;
  const yoke_options* options;
  yoke_run_settings settings;
  const char* directory;  // as people call it
  const char* place;      // the same, when the program started
  bool is_json, is_quiet;
  const yoke_app_advise* search;  // where its settings come from; NULL: from the user
  size_t chosen;
  bool has_foreign;                   // units that are not ours
  const yoke_app_onlooker* onlooker;  // NULL: nobody
} running;

// Without a row or a step there was no run: its folder could not be made, or a unit failed before.
static bool has_run(const yoke_run_info* info) {
  return info->record.n_rows > 0 || info->n_steps > 0;
}

// Its results are complete and announced before it is judged.
static void announce(const running* r, const yoke_run_info* info) {
  if (r->is_quiet || r->is_json || !has_run(info)) {
    return;
  }
  if (yoke__status_is_outside(info->status)) {
    printf("results in %s are not complete\n", r->directory);
    return;
  }
  json_t* summary = read_summary(r->simulation, false);
  print_summary(summary, r->directory,
                info->status == YOKE_OK && info->is_growing && !info->is_diverged);
  json_decref(summary);
  fflush(stdout);
}

void yoke__app_summary_with(const char* summary, const char* key, yoke_json* object,
                            yoke_text* to) {
  const char* end = strrchr(summary, '}');
  if (end == NULL || yoke__json_finish(object) < 0) {
    yoke__text_string(to, summary);
    return;
  }
  size_t n = (size_t)(end - summary);
  for (; n > 0 && strchr(" \n", summary[n - 1]) != NULL; n--) {
  }
  yoke__text_append(to, summary, n);
  yoke__text_add(to, ",\n  \"%s\": ", key);
  // two more blanks before every line but the last, which is empty
  for (const char* at = object->text.bytes; *at != '\0' && strcmp(at, "\n") != 0; at++) {
    yoke__text_append(to, at, 1);
    yoke__text_string(to, *at == '\n' ? "  " : "");
  }
  yoke__text_string(to, "\n}\n");
}

// What an onlooker has seen, or what was wished for, goes into the summary, where it is printed and in its file.
static void add_to_summary(const running* r, bool is_printed) {
  char* text = NULL;
  yoke_text whole = {0};
  if (yoke_simulation_summary(r->simulation, &text) >= 0) {
    if (r->onlooker != NULL) {
      yoke_json json = {0};
      r->onlooker->json(r->onlooker->to, &json);
      yoke__app_summary_with(text, r->onlooker->name, &json, &whole);
      yoke__json_free(&json);
    } else {
      yoke__app_within_json(r->search, r->chosen, text, &whole);
    }
    if (is_printed) {
      fputs(whole.bytes == NULL ? "" : whole.bytes, stdout);
    }
    (void)yoke__os_write_into(r->place, "summary.json", whole.bytes, whole.n, &yoke__app_sink);
  }
  yoke__text_free(&whole);
  yoke_text_free(&text);
}

// A machine is not run again and again to find settings.
static bool has_machine(const running* r) {
  yoke_unit_view unit;
  return yoke__app_find_machine(yoke_simulation_system(r->simulation), &unit);
}

// A value left its range on the way, in a run that the search for settings can repeat.
static bool is_step_suspect(const running* r, const yoke_run_info* info) {
  return info->status == YOKE_DIVERGED && info->n_steps > 0 && r->search == NULL &&
         r->onlooker == NULL && !has_machine(r);
}

static void print_judged(const running* r, const yoke_run_info* info, const yoke_run_trust* trust) {
  const bool is_printed = !r->is_quiet && !r->is_json;
  json_t* summary =
      read_summary(r->simulation, r->is_json && r->search == NULL && r->onlooker == NULL);
  if (r->search != NULL && !yoke__status_is_outside(info->status)) {
    add_to_summary(r, r->is_json);
  }
  if (is_printed && has_run(info) && info->status >= 0) {
    print_verdict(summary, is_judged(r->options));
    if (r->search == NULL && (trust->verdict == YOKE_DOUBTFUL || trust->verdict == YOKE_WRONG) &&
        !has_machine(r)) {
      yoke__app_advise_hint(r->options, r->has_foreign, info->wall_s);
    }
  } else if (is_printed && is_step_suspect(r, info) && json_object_get(summary, "pace") == NULL) {
    yoke__app_advise_step_hint(r->options);
  } else if (!is_printed && trust->is_wrong && !trust->is_diverged) {  // that was said already
    yoke__app_error(r->options->command->name, "%s", trust->reason);
  }
  json_decref(summary);
}

static int run(const running* r) {
  progress p = {.simulation = r->simulation};
  if (!r->is_quiet && yoke__os_is_terminal(stderr)) {
    yoke__os_thread_start(watch, &p, &p.thread);
  }
  yoke_run_info info;
  yoke__os_catch_interrupt();
  yoke_simulation_run(r->simulation, &r->settings, &info);
  yoke__crash_hold();
  atomic_store(&p.is_ending, true);
  yoke__os_thread_join(&p.thread);
  announce(r, &info);

  yoke_run_trust trust = {.verdict = YOKE_VERDICT_NONE};
  waiting w = {.start = yoke__os_now_ns(), .is_told = r->is_quiet};
  yoke_run_settings settings = r->settings;
  settings.progress = waits_on;
  settings.to = &w;
  // an onlooker has its own judgement
  const yoke_status judged = !has_run(&info) || r->onlooker != NULL
                                 ? YOKE_OK
                                 : yoke_simulation_judge(r->simulation, &settings);
  if (judged == YOKE_INTERRUPTED) {
    yoke__app_error(r->options->command->name, "interrupted while it was judged: no verdict");
  }
  (void)yoke_simulation_get_trust(r->simulation, &trust);
  int status = exit_status(&info, &trust,
                           is_judged(r->options) && !yoke__options_has(r->options, "no-verdict"));
  // the report reads it
  if (r->onlooker != NULL && !yoke__status_is_outside(info.status)) {
    add_to_summary(r, r->is_json);
  }
  // files of the verdict that cannot be written were reported
  const bool is_lost = yoke__status_is_outside(judged);
  if (is_lost ||
      (!yoke__status_is_outside(info.status) && !yoke__app_report(r->options, r->place))) {
    status = YOKE_EXIT_FAILED;
  }
  if (judged != YOKE_INTERRUPTED || r->is_json) {
    print_judged(r, &info, &trust);
  }
  return r->onlooker == NULL ? status : r->onlooker->end(r->onlooker->to, status);
}

// given: where its results go, and how it is judged
static int run_simulation(yoke_simulation* simulation, const yoke_options* options,
                          uint32_t formats, running given) {
  char directory[4096], command[4096];
  const char* out = yoke__options_value(options, "out");
  yoke__app_results_directory(options->operands[0], directory, sizeof directory);
  yoke__app_command_line(options, command, sizeof command);
  const yoke_record_settings record = {.directory = given.place, .formats = formats};
  given.simulation = simulation;
  given.options = options;
  given.settings.record = &record;
  given.settings.progress = goes_on;
  given.settings.overdue = yoke__app_guard_overdue;
  given.settings.command = command;
  if (given.onlooker != NULL) {
    given.settings.each = given.onlooker->each;
    given.settings.to = given.onlooker->to;
    given.onlooker->begin(given.onlooker->to, simulation);
  }
  given.directory = out == NULL ? directory : out;
  given.is_json = yoke__options_has(options, "json");
  given.is_quiet = yoke__options_has(options, "quiet");
  return run(&given);
}

// What is completed should foreign code not come back; simulation NULL: only its units are still there.
static void guard(yoke_simulation* simulation, const yoke_options* options, const char* place) {
  static yoke_app_guarded runs[2];  // it is read until the other one is set
  static char places[2][4096], directories[2][4096];
  const size_t i = simulation == NULL;
  const char* out = yoke__options_value(options, "out");
  yoke__app_results_directory(options->operands[0], directories[i], sizeof directories[i]);
  if (out != NULL) {
    snprintf(directories[i], sizeof directories[i], "%s", out);
  }
  snprintf(places[i], sizeof places[i], "%s", place);
  runs[i] =
      (yoke_app_guarded){simulation, places[i], directories[i], yoke__options_has(options, "json"),
                         yoke__options_has(options, "quiet")};
  yoke__app_guard_set(&runs[i]);
}

static bool has_foreign_units(const yoke_system* system) {
  yoke_unit_view unit;
  for (size_t i = 0; yoke_system_get_unit(system, i, &unit) >= 0; i++) {
    if (unit.kind == YOKE_KIND_FMU || unit.kind == YOKE_KIND_LIBRARY) {
      return true;
    }
  }
  return false;
}

// A machine that follows the clock cannot be asked for steps as fast as they go: said before it is contacted.
static bool has_clock(const yoke_system* system, double pace, const yoke_sink* sink) {
  yoke_system_info info;
  yoke_unit_view unit;
  if (yoke_system_get_info(system, &info) < 0 || pace > 0 || (pace == 0 && info.pace > 0)) {
    return true;
  }
  for (size_t i = 0; yoke_system_get_unit(system, i, &unit) >= 0; i++) {
    if (unit.is_paced) {
      const yoke_message message = {
          .severity = YOKE_ERROR,
          .status = YOKE_BAD_INPUT,
          .file = unit.file,
          .line = unit.line,
          .column = unit.column,
          .unit = unit.name,
          .time = (double)NAN,
          .text = "'clock: paced' needs a run by the clock: --realtime, or `time: {pace: 1}`"};
      yoke_send(sink, &message);
      return false;
    }
  }
  return true;
}

static int run_system(yoke_system* system, const yoke_options* options, const char* place,
                      const yoke_app_words* words, const yoke_messages* loading,
                      const yoke_app_advise* search, size_t chosen,
                      const yoke_app_onlooker* onlooker) {
  const bool is_json = yoke__options_has(options, "json");
  if (system == NULL) {
    if (is_json) {
      yoke__app_print_failed("summary", options, loading);
    }
    return YOKE_EXIT_USAGE;
  }
  uint32_t formats = 0;
  yoke_system_info info;
  yoke_system_get_info(system, &info);
  yoke_trust_mode trust = YOKE_TRUST_FILE;
  double pace = 0;
  if (!yoke__options_choices(options, "format", &formats) || !read_mode(options, &trust) ||
      (is_judged(options) && !yoke__app_read_pace(options, &pace)) ||
      !yoke__app_can_report(options, formats == 0 ? info.formats : formats)) {
    return YOKE_EXIT_USAGE;
  }
  yoke_app_voice voice = {.words = words, .is_quiet = yoke__options_has(options, "quiet")};
  const yoke_sink sink = yoke__app_voice_sink(&voice);
  if (!has_clock(system, pace, &sink)) {
    return YOKE_EXIT_USAGE;
  }
  yoke_simulation* simulation = NULL;
  yoke__app_guard_system(system);
  yoke_status started = yoke_simulation_create(system, &sink, &simulation);
  guard(simulation, options, place);
  started = started < 0 ? started : yoke_simulation_start(simulation);
  int status = yoke__app_start_status(started);
  if (started >= 0) {
    if (trust == YOKE_TRUST_FILE && search != NULL) {
      trust = search->advice.all[chosen].mode;
    }
    status = run_simulation(simulation, options, formats,
                            (running){.settings = {.trust = trust, .pace = pace},
                                      .place = place,
                                      .search = search,
                                      .chosen = chosen,
                                      .onlooker = onlooker,
                                      .has_foreign = has_foreign_units(system)});
  } else if (is_json) {
    json_decref(read_summary(simulation, true));
  }
  guard(NULL, options, place);
  yoke_simulation_destroy(&simulation);
  yoke__app_guard_system(NULL);
  return status;
}

int yoke__app_run(yoke_system* system, const yoke_options* options, const char* place,
                  const yoke_app_words* words, const yoke_messages* loading,
                  const yoke_app_advise* search, size_t chosen) {
  return run_system(system, options, place, words, loading, search, chosen, NULL);
}

int yoke__app_run_watched(yoke_system* system, const yoke_options* options, const char* place,
                          const yoke_app_words* words, const yoke_messages* loading,
                          const yoke_app_onlooker* onlooker) {
  return run_system(system, options, place, words, loading, NULL, 0, onlooker);
}
