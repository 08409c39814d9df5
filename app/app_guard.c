// Crashes, ends and hangs of foreign code: one message with unit, operation and time, results completed, the right status.
// All of this runs in the watching thread (base_crash.h) while the crashed one stands still, with any lock it held: nothing
// here waits for a lock of the standard library.
#include "app/app_guard.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/app.h"
#include "base/base_call.h"
#include "base/base_crash.h"
#include "base/base_json_read.h"
#include "base/base_os.h"

#define GRACE_NS INT64_C(500000000)  // in which a run ends by itself after a second signal
#define MAX_FILE ((size_t)64 << 20)

static _Atomic(const yoke_app_guarded*) guarded;
static _Atomic(const yoke_system*) loaded;

// ---- words

static void write_all(int file, const char* text, size_t n) {
  while (n > 0) {
    const ssize_t done = write(file, text, n);
    if (done <= 0) {
      return;
    }
    text += done;
    n -= (size_t)done;
  }
}

static void print_line(int file, const char* text) {
  char line[4096];
  const int n = snprintf(line, sizeof line, "%s\n", text);
  write_all(file, line, n < (int)sizeof line ? (size_t)n : sizeof line - 1);
}

static void receive(void* to, const yoke_message* message) {
  char line[4096];
  (void)to;
  yoke_message_format(message, line, sizeof line);
  print_line(STDERR_FILENO, line);
}

static const yoke_sink sink = {receive, NULL};

// ---- files

// A run whose results were complete: its summary tells what happened afterwards.
static void mark_summary(const char* place, const yoke_message* why) {
  char path[4200], line[2048];
  char* bytes = NULL;
  size_t n = 0;
  yoke__os_path_join(place, "summary.json", path, sizeof path);
  if (yoke__os_read_file(path, MAX_FILE, &bytes, &n, NULL) < 0) {
    return;
  }
  json_t* summary = json_loadb(bytes, n, 0, NULL);  // whole numbers stay whole
  if (summary == NULL) {
    return;
  }
  yoke_message_format(why, line, sizeof line);
  json_object_set_new(summary, "status", json_string("failed"));
  json_object_set_new(summary, "message", json_string(line));
  char* text = json_dumps(summary, JSON_INDENT(2));
  if (text != NULL) {
    (void)yoke__os_write_file(path, text, strlen(text), &sink);
  }
}

static void print_results(const yoke_app_guarded* run) {
  char* text = NULL;
  json_t* summary = NULL;
  if (yoke_simulation_summary(run->simulation, &text) < 0) {
    return;
  }
  if (run->is_json) {
    write_all(STDOUT_FILENO, text, strlen(text));
  } else if (!run->is_quiet && yoke__json_parse(text, strlen(text), &summary, NULL) >= 0) {
    const json_t* recorded = json_object_get(summary, "recorded");
    const long long n_rows = (long long)yoke__json_find_number(recorded, "rows", 0);
    const long long n_steps = (long long)yoke__json_find_number(summary, "steps", 0);
    char line[4096];
    snprintf(line, sizeof line, "%s: %s, %lld step%s to t = %.9g s\nresults in %s: %lld row%s",
             yoke__json_find_text(summary, "name", ""), yoke__json_find_text(summary, "status", ""),
             n_steps, yoke__plural((uint64_t)n_steps),
             yoke__json_find_number(summary, "t_reached", 0), run->directory, n_rows,
             yoke__plural((uint64_t)n_rows));
    if (n_rows > 0) {
      print_line(STDOUT_FILENO, line);
    }
  }
}

static void complete(const yoke_message* why) {
  const yoke_app_guarded* run = atomic_load(&guarded);
  if (run == NULL) {
    return;
  }
  if (run->simulation == NULL) {
    if (why->status != YOKE_INTERRUPTED) {
      mark_summary(run->place, why);
    }
    return;
  }
  if (yoke_simulation_abandon(run->simulation, why, &sink) != YOKE_BUSY) {
    print_results(run);
  }
}

// ---- the two ends

// Units with foreign code in this process: the last one, all in one line; how many.
static size_t list_suspects(char* unit, size_t unit_size, char* all, size_t size) {
  const yoke_system* system = atomic_load(&loaded);
  yoke_unit_view view;
  size_t n = 0, used = 0;
  all[0] = '\0';
  for (size_t i = 0; system != NULL && yoke_system_get_unit(system, i, &view) >= 0; i++) {
    const bool is_foreign = view.kind == YOKE_KIND_FMU || view.kind == YOKE_KIND_LIBRARY;
    if (!is_foreign || view.is_isolated) {
      continue;
    }
    n++;
    snprintf(unit, unit_size, "%s", view.name);
    const int more = snprintf(all + used, size - used, "%s'%s'", used == 0 ? "" : ", ", view.name);
    used += more > 0 && (size_t)more < size - used ? (size_t)more : 0;
  }
  return n;
}

// Whose thread it was, in words, if it was none of ours.
static void describe_stranger(const yoke_crash* crash, const char* how, char* unit,
                              size_t unit_size, char* text, size_t size) {
  char suspects[512];
  const bool is_found = yoke__call_find_binary(crash->code, unit, unit_size);
  const size_t n = is_found ? 1 : list_suspects(unit, unit_size, suspects, sizeof suspects);
  if (n == 1) {
    snprintf(text, size, "a thread of its own %s", how);
    return;
  }
  unit[0] = '\0';
  if (n > 1) {
    snprintf(text, size, "a thread that one of the units %s started %s", suspects, how);
  } else {
    snprintf(text, size, "the program %s", how);
  }
}

// The time that the run has reached [s]; NaN: there is none.
static double time_reached(void) {
  const yoke_app_guarded* run = atomic_load(&guarded);
  yoke_progress now = {.time = (double)NAN};
  if (run != NULL && run->simulation != NULL) {
    (void)yoke_simulation_get_progress(run->simulation, &now);
  }
  return now.time;
}

static void crashed(const yoke_crash* crash) {
  char text[1024], how[256], unit[YOKE_CRASH_NAME_SIZE];
  snprintf(unit, sizeof unit, "%s", crash->unit);
  yoke__crash_text(crash, how, sizeof how);
  snprintf(text, sizeof text, "%s", how);
  const bool is_stranger = unit[0] == '\0';
  if (is_stranger) {
    describe_stranger(crash, how, unit, sizeof unit, text, sizeof text);
  }
  const yoke_message why = {
      .severity = YOKE_ERROR,
      .status = YOKE_UNIT_FAILED,
      .unit = unit[0] == '\0' ? NULL : unit,
      .time = is_stranger ? time_reached() : crash->t,
      .text = text,
      .hint = unit[0] == '\0' ? NULL : "'isolate: process' gives it a process of its own"};
  receive(NULL, &why);
  complete(&why);
  yoke__crash_end(YOKE_EXIT_FAILED);
}

// Where the run stands in foreign code; false: it does not, or there is no run.
static bool find_call(yoke_message* to, const char** operation) {
  const yoke_app_guarded* run = atomic_load(&guarded);
  const yoke_call* call = yoke__call_find();
  if (run == NULL || run->simulation == NULL || call == NULL) {
    return false;
  }
  to->unit = atomic_load(&call->unit);
  to->time = time_reached();
  *operation = atomic_load(&call->operation);
  return to->unit != NULL && *operation != NULL;
}

static void waiting(void) {
  char text[256];
  const char* operation = NULL;
  yoke_message message = {.severity = YOKE_WARNING, .text = text};
  if (find_call(&message, &operation)) {
    snprintf(text, sizeof text,
             "interrupted, but it has not returned from %s; a second signal ends the run",
             operation);
    receive(NULL, &message);
  }
}

static void insisted(int signal_number) {
  (void)signal_number;
  const int64_t end = yoke__os_now_ns() + GRACE_NS;
  while (yoke__os_now_ns() < end) {
    yoke__os_sleep_ns(10000000);
  }
  yoke__crash_take_over();
  char text[256] = "interrupted twice";
  const char* operation = NULL;
  yoke_message why = {
      .severity = YOKE_ERROR, .status = YOKE_INTERRUPTED, .time = (double)NAN, .text = text};
  if (find_call(&why, &operation)) {
    snprintf(text, sizeof text, "has not returned from %s; the run was interrupted twice",
             operation);
  }
  receive(NULL, &why);
  complete(&why);
  yoke__crash_end(YOKE_EXIT_INTERRUPTED);
}

void yoke__app_guard_overdue(void* to) {
  (void)to;
  yoke__crash_take_over();
  char text[256] = "a step has not ended in the time that the watchdog allows";
  const char* operation = NULL;
  yoke_message why = {
      .severity = YOKE_ERROR, .status = YOKE_UNIT_FAILED, .time = time_reached(), .text = text};
  if (find_call(&why, &operation)) {
    snprintf(text, sizeof text,
             "has not returned from %s in the time that the watchdog allows; no safe action can be "
             "done: FAULT",
             operation);
  }
  receive(NULL, &why);
  complete(&why);
  yoke__crash_end(YOKE_EXIT_FAILED);
}

// ---- life

void yoke__app_guard_start(void) {
  static const yoke_crash_hooks hooks = {crashed, waiting, insisted};
  yoke__os_note_umask();
  (void)yoke__crash_watch(&hooks);
}

void yoke__app_guard_set(const yoke_app_guarded* run) {
  yoke__crash_hold();
  atomic_store(&guarded, run);
}

void yoke__app_guard_system(const yoke_system* system) {
  atomic_store(&loaded, system);
}

void yoke__app_guard_end(void) {
  yoke__crash_hold();
  yoke__crash_unwatch();
}
