// yoke run: a system from start to stop.
#include <string.h>

#include "app/app_advise.h"
#include "app/app_copy.h"
#include "app/app_run.h"
#include "app/app_system.h"
#include "base/base_map.h"
#include "base/base_os.h"
#include "base/base_status.h"
#include "study/study_copy.h"

static bool has_foreign_units(const yoke_system* system) {
  yoke_unit_view unit;
  for (size_t i = 0; yoke_system_get_unit(system, i, &unit) >= 0; i++) {
    if (unit.kind == YOKE_KIND_FMU) {
      return true;
    }
  }
  return false;
}

// ---- --within

// Searches; `chosen` is what the run takes. False: the command ends with *status.
static bool search(const yoke_options* options, yoke_app_advise* app, size_t* chosen, int* status) {
  size_t n = 0;
  const char* const* wishes = yoke__options_values(options, "within", &n);
  *status = YOKE_EXIT_USAGE;
  // the option's values share their room with those of --set
  const char** copy = yoke__arena_array(&app->arena, n + 1, sizeof *copy);
  if (copy == NULL) {
    return yoke__app_no_memory("run");
  }
  memcpy(copy, wishes, n * sizeof *copy);
  if (!yoke__app_advise_open(app, options, n + 3) || !yoke__app_within_read(app, copy, n) ||
      !yoke__app_advise_run(app, options, status)) {
    return false;
  }
  *chosen = yoke__advise_cheapest(&app->advice);
  if (*chosen == YOKE_NOT_FOUND) {
    *status = YOKE_EXIT_FAILED;
    yoke_text more = {0};
    yoke__app_within_command(app, &more);
    yoke__app_error("run", "--within: %s; %s", app->advice.text,
                    more.bytes == NULL ? "" : more.bytes);
    yoke__text_free(&more);
    return false;
  }
  if (!yoke__options_has(options, "quiet") && !yoke__options_has(options, "json")) {
    yoke__app_within_print(app, *chosen);
  }
  return true;
}

// ---- --pin

// Where a copy with the choices of this run goes, and what it is made of.
typedef struct pinning {
  const char* shown;             // as it was typed; NULL: no copy is wanted
  char path[4096], place[4096];  // of the system file and of the copy, from the root
} pinning;

static void open_pinning(const yoke_options* options, pinning* p) {
  p->shown = yoke__options_value(options, "pin");
  if (p->shown != NULL) {
    yoke__os_path_absolute(options->operands[0], p->path, sizeof p->path);
    yoke__os_path_absolute(p->shown, p->place, sizeof p->place);
  }
}

// Before the run: all choices are made when the system is loaded, and nothing is recorded yet that a failure could lose.
// sets: n settings of this run besides the user's own.
static int pin(const pinning* p, const yoke_options* options, const yoke_system* system,
               const char* const sets[], size_t n) {
  if (p->shown == NULL || system == NULL) {
    return YOKE_EXIT_OK;
  }
  yoke_arena arena = {0};
  size_t n_all = 0;
  const char* const* given = yoke__options_values(options, "set", &n_all);
  const char** all = yoke__arena_array(&arena, n_all + n + 1, sizeof *all);
  if (all != NULL) {
    memcpy(all, given, n_all * sizeof *all);
    memcpy(all + n_all, sets, n * sizeof *all);
    n_all += n;
    all = yoke__app_pins(system, all, &n_all, &arena);
  }
  const yoke_status written =
      all == NULL ? YOKE_NO_MEMORY
                  : yoke__copy_write(p->path, all, n_all, p->place, &yoke__app_sink);
  yoke__arena_free(&arena);
  if (written < 0) {
    (void)yoke__app_fail("run", written);
    return yoke__app_start_status(written);
  }
  if (!yoke__options_has(options, "quiet") && !yoke__options_has(options, "json")) {
    printf("pinned in %s\n", p->shown);
  }
  return YOKE_EXIT_OK;
}

// ---- the command

// What is set besides the user's own: what was wished for and found, and the threads.
static const char** collect_sets(yoke_app_advise* app, bool is_found, size_t chosen,
                                 int64_t threads, size_t* n) {
  size_t n_all = 0;
  const char** all =
      yoke__advise_sets(&app->settings, is_found ? &app->advice.all[chosen] : &(yoke_advised){0},
                        &app->arena, &n_all);
  const char** extra = yoke__arena_array(&app->arena, n_all + 2, sizeof *extra);
  if (all == NULL || extra == NULL) {
    return NULL;
  }
  *n = 0;
  for (size_t i = 0; is_found && i < n_all; i++) {
    extra[(*n)++] = all[i];
  }
  char set[64];
  snprintf(set, sizeof set, "threads=%lld", (long long)threads);
  if (threads >= 0) {
    extra[(*n)++] = yoke__arena_text(&app->arena, set, strlen(set));
  }
  return extra;
}

static int run_with(const yoke_options* options, yoke_app_advise* app, bool is_found, size_t chosen,
                    int64_t threads) {
  const char* out = yoke__options_value(options, "out");
  size_t n = 0;
  const char** extra = collect_sets(app, is_found, chosen, threads, &n);
  if (extra == NULL) {
    yoke__app_no_memory("run");
    return YOKE_EXIT_FAILED;
  }
  // a foreign binary may leave the folder in which the program was started, in any of its calls
  char place[4096], whole[4096];
  if (out == NULL) {
    yoke__app_results_directory(options->operands[0], place, sizeof place);
  }
  yoke__os_path_absolute(out == NULL ? place : out, whole, sizeof whole);
  pinning copy;
  open_pinning(options, &copy);
  yoke_messages said = {0};
  yoke_system* system =
      yoke__app_load(options, extra, n, yoke__options_has(options, "strict"), &said);
  const yoke_app_words words = yoke__app_words(options->operands[0]);
  const char* short_name = out == NULL ? place : out;
  int status = pin(&copy, options, system, extra, n - (threads >= 0));
  if (status == YOKE_EXIT_OK) {
    status = yoke__app_run(system, options, has_foreign_units(system) ? whole : short_name, &words,
                           &said, is_found ? app : NULL, chosen);
  }
  yoke_system_destroy(&system);
  yoke__messages_free(&said);
  return status;
}

static int run(const yoke_options* options) {
  int64_t threads = -1;
  int status = YOKE_EXIT_OK;
  size_t chosen = 0;
  const char* out = yoke__options_value(options, "out");
  if (out != NULL && out[0] == '\0') {
    yoke__app_error("run", "--out: expected the name of a folder, found nothing");
    return YOKE_EXIT_USAGE;
  }
  if (!yoke__options_integer(options, "threads", 0, 256, &threads)) {
    return YOKE_EXIT_USAGE;
  }
  if (!yoke__app_can_copy(options, "pin", "name the calls with --set units.NAME.calls=N instead")) {
    return YOKE_EXIT_USAGE;
  }
  yoke_app_advise app = {0};
  const bool is_search = yoke__options_has(options, "within");
  if (!is_search || search(options, &app, &chosen, &status)) {
    status = run_with(options, &app, is_search, chosen, threads);
  }
  yoke__app_advise_close(&app);
  return status;
}

int yoke_cmd_run(int argc, char** argv) {
  return yoke__options_run(&yoke__command_run, argc, argv, run);
}
