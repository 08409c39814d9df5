// The frame of the commands that run a system many times.
#include "app/app_study.h"

#include <stdlib.h>
#include <string.h>

#include "base/base_message.h"
#include "base/base_os.h"
#include "base/base_status.h"

#define OTHERS_NS INT64_C(2000000000)  // after which a rank speaks for itself

bool yoke__app_study_fail(yoke_app_study* app, int status) {
  app->status = status;
  return false;
}

// With what the status means, unless it has been said.
static bool fail_with(yoke_app_study* app, yoke_status status) {
  return yoke__app_study_fail(app, yoke__app_fail(app->command, status));
}

// ---- from options to a plan

static bool read_grid(const yoke_options* options, yoke_app_study* app) {
  size_t n = 0;
  yoke_context context;
  const char* const* texts = yoke__options_values(options, "vary", &n);
  if (n == 0) {
    return yoke__app_error(app->command,
                           "--vary is missing: what changes from run to run, for example "
                           "--vary time.step=1e-4:1e-2:5:log");
  }
  const yoke_status created =
      yoke__grid_create(texts, n, &app->grid, yoke__app_sink_at(&context, "--vary"));
  app->plan.grid = &app->grid;
  return created >= 0 || fail_with(app, created);
}

// Items of all values of an option, with commas between them, outside brackets and quotes.
static const char** split_values(const yoke_options* options, const char* name, yoke_arena* arena,
                                 size_t* n) {
  size_t n_values = 0, n_most = 0;
  const char* const* values = yoke__options_values(options, name, &n_values);
  for (size_t i = 0; i < n_values; i++) {
    n_most += strlen(values[i]) + 1;
  }
  const char** items = yoke__arena_array(arena, n_most + 1, sizeof *items);
  *n = 0;
  for (size_t i = 0; items != NULL && i < n_values; i++) {
    for (const char* at = values[i]; at != NULL; (*n)++) {
      const size_t length = yoke__study_span(at, ",");
      items[*n] = yoke__arena_text(arena, at, length);
      if (items[*n] == NULL) {
        return NULL;
      }
      at = at[length] == ',' ? at + length + 1 : NULL;
    }
  }
  return items;
}

static bool read_measures(const yoke_options* options, const char* option, yoke_app_study* app) {
  size_t n = 0;
  const char** texts = split_values(options, option, &app->arena, &n);
  yoke_study_measure* measures = yoke__arena_array(&app->arena, n + 1, sizeof *measures);
  yoke_context context;
  char dashed[64];
  if (texts == NULL || measures == NULL) {
    return fail_with(app, YOKE_NO_MEMORY);
  }
  if (n == 0) {
    return yoke__app_error(app->command,
                           "--%s is missing: what a run is judged by, for example --%s ter", option,
                           option);
  }
  snprintf(dashed, sizeof dashed, "--%s", option);
  app->plan.measures = measures;
  for (size_t i = 0; i < n; i++) {
    yoke_study_measure* measure = &measures[app->plan.n_measures];
    const yoke_status parsed =
        yoke__study_measure_parse(texts[i], measure, yoke__app_sink_at(&context, dashed));
    if (parsed < 0) {
      return fail_with(app, parsed);
    }
    // every table has the status; nothing more to measure
    app->plan.n_measures += measure->kind != YOKE_STUDY_STATUS;
  }
  return true;
}

static bool read_limits(const yoke_options* options, yoke_app_study* app) {
  yoke_context context;
  const char* const* texts = yoke__options_values(options, "limit", &app->plan.n_limits);
  yoke_study_limit* limits = yoke__arena_array(&app->arena, app->plan.n_limits + 1, sizeof *limits);
  yoke_status status = limits == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  for (size_t i = 0; status >= 0 && i < app->plan.n_limits; i++) {
    status = yoke__study_limit_parse(texts[i], &app->arena, &limits[i],
                                     yoke__app_sink_at(&context, "--limit"));
  }
  app->plan.limits = limits;
  return status >= 0 || fail_with(app, status);
}

static bool read_files(const yoke_options* options, yoke_app_study* app) {
  const char* reference = yoke__options_value(options, "reference");
  const yoke_status done = yoke__study_read_files(options->operands[0], reference, &app->bytes,
                                                  &app->reference, &app->plan, &yoke__app_sink);
  return done >= 0 || fail_with(app, done);
}

// mpirun starts as many processes as it is told; a command that cannot share would do everything that often.
static bool is_alone(yoke_app_study* app) {
  if (app->share != NULL || yoke__share_mpi_size() <= 1) {
    return true;
  }
  // the first rank speaks for all; the first failure makes mpirun end the others
  if (yoke__share_mpi_rank() > 0) {
    return yoke__app_study_fail(app, YOKE_EXIT_OK);
  }
  return yoke__app_error(app->command,
                         "this command cannot share its runs: start it without mpirun");
}

static bool read_folder(const yoke_options* options, yoke_app_study* app) {
  const char* out = yoke__options_value(options, "out");
  size_t n = 0;
  const char* stem = yoke__os_path_stem(options->operands[0], &n);
  if (out != NULL && (out[0] == '\0' || strlen(out) >= sizeof app->directory)) {
    return yoke__app_error(app->command, "--out: expected the name of a folder, found %s",
                           out[0] == '\0' ? "nothing" : "the text is too long");
  }
  if (out != NULL) {
    snprintf(app->directory, sizeof app->directory, "%s", out);
  } else {
    snprintf(app->directory, sizeof app->directory, "results/%.*s-%s", (int)n, stem, app->command);
  }
  // mpirun says how many processes a machine gets
  app->n_jobs = yoke__share_mpi_size() == 0 ? yoke__os_n_processors() : 1;
  app->is_quiet = yoke__options_has(options, "quiet");
  app->is_restart = yoke__options_has(options, "restart");
  app->is_jobs_given = yoke__options_has(options, "jobs");
  return yoke__options_integer(options, "jobs", 1, 256, &app->n_jobs);
}

// Each point would be run twice for nothing.
static bool uses_reference(const yoke_app_study* app) {
  const yoke_study_plan* plan = &app->plan;
  bool is_used = plan->n_reference_sets == 0;
  for (size_t i = 0; i < plan->n_measures; i++) {
    is_used = is_used || yoke__study_needs_reference(&plan->measures[i]);
  }
  for (size_t i = 0; i < plan->n_limits; i++) {
    is_used = is_used || yoke__study_needs_reference(&plan->limits[i].measure);
  }
  return is_used ||
         yoke__app_error(app->command,
                         "--reference-set %.120s: no measure or limit compares with a reference; "
                         "expected nrmse, error or roughness among them",
                         plan->reference_sets[0]);
}

bool yoke__app_study_read(const yoke_options* options, const char* measure, yoke_app_study* app) {
  app->plan.rig = &app->rig;
  app->plan.sets = yoke__options_values(options, "set", &app->plan.n_sets);
  if (options->command == &yoke__command_sweep) {
    app->plan.reference_sets =
        yoke__options_values(options, "reference-set", &app->plan.n_reference_sets);
    if (app->plan.n_reference_sets > 0 && yoke__options_has(options, "reference")) {
      return yoke__app_error(app->command, "--reference and --reference-set: expected one of them");
    }
  }
  return is_alone(app) && read_folder(options, app) && read_grid(options, app) &&
         read_measures(options, measure, app) && read_limits(options, app) && uses_reference(app) &&
         read_files(options, app);
}

// ---- opening

// A mistake in the command line shows at every point; a corner of the grid that cannot be built is a result.
static bool try_points(yoke_app_study* app) {
  yoke_messages first = {0}, last = {0};
  const size_t n_points = app->grid.n_points;
  yoke_status done = yoke__study_check(&app->plan, 0, 0, &first);
  if (done == YOKE_BAD_INPUT && n_points > 1) {
    done = yoke__study_check(&app->plan, n_points - 1, 0, &last);
  }
  if (yoke__status_is_shortage(done)) {
    // says nothing about the command line
    yoke__messages_print(last.n_errors > 0 ? &last : &first, stderr);
    yoke__app_error(app->command, "%s", yoke_status_text(done));
    app->status = YOKE_EXIT_FAILED;
  } else if (done < 0) {
    char where[256];
    yoke__grid_describe(&app->grid, 0, where, sizeof where);
    yoke__messages_print(&first, stderr);
    yoke__app_error(app->command, "the first point of the grid cannot be run: %s", where);
  } else {
    // warnings once, not for every run
    yoke__messages_print(first.n_errors == 0 ? &first : &last, stderr);
  }
  yoke__messages_free(&first);
  yoke__messages_free(&last);
  return done >= 0;
}

// Some points may have a machine that those which were tried have not.
static bool is_port_varied(const yoke_grid* grid) {
  static const char end[] = ".port";
  bool is_varied = false;
  for (size_t i = 0; i < grid->n_axes; i++) {
    const size_t n = strlen(grid->axes[i].path);
    is_varied = is_varied ||
                (n >= sizeof end && strcmp(grid->axes[i].path + n - (sizeof end - 1), end) == 0);
  }
  return is_varied;
}

// Every run wants the whole machine.
static bool prepare_machine(yoke_app_study* app) {
  const char* machine = app->rig.machine;
  if (machine[0] == '\0') {
    app->n_jobs = is_port_varied(&app->grid) ? 1 : app->n_jobs;
    return true;
  }
  if (app->share != NULL && app->share->link->size > 1) {
    return yoke__app_error(app->command,
                           "unit '%s' is a real machine: start the command without mpirun, its "
                           "points are run one at a time",
                           machine);
  }
  if (app->is_jobs_given && app->n_jobs > 1) {
    yoke__notify(&yoke__app_sink, YOKE_NOTE,
                 "unit '%s' is a real machine: its points are run one at a time, not %lld at once",
                 machine, (long long)app->n_jobs);
  }
  if (!app->rig.has_actions) {
    yoke__notify(&yoke__app_sink, YOKE_WARNING,
                 "unit '%s' is a real machine, and the file has no 'safe': no safe action is done "
                 "when a point ends or is aborted",
                 machine);
  }
  app->n_jobs = 1;
  return true;
}

static void remove_files(const char* directory, const char* const names[]) {
  for (size_t i = 0; names[i] != NULL; i++) {
    char path[YOKE_MAX_PATH + 32];
    yoke__os_path_join(directory, names[i], path, sizeof path);
    yoke__os_file_remove(path);
  }
}

// A folder or journal of another study is the user's to choose; what cannot be written is a failure.
static bool fail_study(yoke_app_study* app, yoke_status status) {
  yoke__app_fail(app->command, status);
  return yoke__app_study_fail(app, status == YOKE_BAD_INPUT ? YOKE_EXIT_USAGE : YOKE_EXIT_FAILED);
}

bool yoke__app_study_open(yoke_app_study* app, const char* const names[]) {
  if (app->share != NULL && app->share->link->rank > 0) {
    yoke__share_follow(app->share, &app->plan, (int)app->n_jobs, yoke__os_is_interrupted);
    return yoke__app_study_fail(app, YOKE_EXIT_OK);
  }
  if (!try_points(app) || !prepare_machine(app)) {
    return false;
  }
  const yoke_status opened =
      yoke__study_open(&app->plan, app->directory, app->is_restart, &app->study, &yoke__app_sink);
  if (opened < 0) {
    return fail_study(app, opened);
  }
  size_t n_known = 0, n_damaged = 0;
  yoke__study_resumed(app->study, &n_known, &n_damaged);
  if (n_known == 0) {
    remove_files(app->directory, names);
  }
  return app->share == NULL || yoke__share_begin(app->share, &app->plan) >= 0 ||
         fail_with(app, YOKE_NO_MEMORY);
}

// ---- running

#define LINE_NS  250000000             // between two states of a line on a terminal
#define PLAIN_NS INT64_C(30000000000)  // between two lines elsewhere

typedef struct progress_line {
  int64_t shown_ns;
  bool is_shown;
  bool is_plain;  // whole lines
} progress_line;

// "1 h 05 min", "3 min 20 s", "12 s"
static void format_time(double seconds, char* to, size_t size) {
  const double s = seconds < 0 ? 0 : seconds < 1e9 ? seconds : 1e9;
  const long whole = (long)(s + 0.5);
  if (whole >= 3600) {
    snprintf(to, size, "%ld h %02ld min", whole / 3600, whole / 60 % 60);
  } else if (whole >= 60) {
    snprintf(to, size, "%ld min %02ld s", whole / 60, whole % 60);
  } else {
    snprintf(to, size, "%ld s", whole);
  }
}

static void show_progress(void* context, const yoke_study_progress* p) {
  progress_line* line = context;
  const int64_t now = yoke__os_now_ns();
  if (now - line->shown_ns < (line->is_plain ? PLAIN_NS : LINE_NS)) {
    return;
  }
  line->shown_ns = now;
  line->is_shown = !line->is_plain;
  const size_t n_left = p->n_cases - p->n_known - p->n_done;
  char left[64] = "", time[48];
  if (p->n_done > 0) {
    format_time(p->elapsed / (double)p->n_done * (double)n_left, time, sizeof time);
    snprintf(left, sizeof left, ", %s left", time);
  }
  const size_t n_ended = p->n_known + p->n_done;
  if (line->is_plain) {
    fprintf(stderr, "%zu of %zu runs%s\n", n_ended, p->n_cases, left);
  } else {
    fprintf(stderr, "\r%zu of %zu runs%s      ", n_ended, p->n_cases, left);
  }
  fflush(stderr);
}

bool yoke__app_study_run(yoke_app_study* app, const size_t points[], const size_t repeats[],
                         size_t n) {
  // mpirun stands between a rank and the terminal: a line from time to time is right for both
  progress_line line = {.shown_ns = yoke__os_now_ns(), .is_plain = app->share != NULL};
  const bool is_shown = !app->is_quiet && (line.is_plain || yoke__os_is_terminal(stderr));
  const yoke_study_calls calls = {is_shown ? show_progress : NULL, &line, yoke__os_is_interrupted,
                                  app->share};
  const yoke_status done = yoke__study_complete(app->study, points, repeats, n, (int)app->n_jobs,
                                                &calls, &yoke__app_sink);
  if (line.is_shown) {
    fprintf(stderr, "\r%60s\r", "");
  }
  if (done != YOKE_INTERRUPTED) {
    return done >= 0 || fail_study(app, done);
  }
  size_t n_known = 0;
  for (size_t i = 0; i < n; i++) {
    const yoke_study_result* result = yoke__study_find(app->study, points == NULL ? i : points[i],
                                                       repeats == NULL ? 0 : repeats[i]);
    n_known += result != NULL && !yoke__run_is_void(result->status);
  }
  if (!app->is_quiet) {
    printf("interrupted: %zu of %zu runs are done; the same command continues there\n", n_known, n);
  }
  return yoke__app_study_fail(app, YOKE_EXIT_INTERRUPTED);
}

bool yoke__app_study_is_whole(yoke_app_study* app, const size_t points[], const size_t repeats[],
                              size_t n) {
  const yoke_study_result* first = NULL;
  size_t n_short = 0;
  for (size_t i = 0; i < n; i++) {
    const yoke_study_result* result = yoke__study_find(app->study, points == NULL ? i : points[i],
                                                       repeats == NULL ? 0 : repeats[i]);
    if (result != NULL && yoke__run_is_void(result->status)) {
      first = n_short++ == 0 ? result : first;
    }
  }
  if (n_short == 0) {
    return true;
  }
  yoke__app_error(
      app->command, "%zu of %zu runs are missing %s (%.300s); the same command tries them again",
      n_short, n,
      first->status == YOKE_RUN_LATE ? "since the machine was late"
                                     : "for lack of memory, disk space or file descriptors",
      first->reason == NULL ? yoke_status_text(YOKE_NO_MEMORY) : first->reason);
  return yoke__app_study_fail(app, YOKE_EXIT_FAILED);
}

// In which state runs left the machine, or the model of one.
static void print_states(const yoke_app_study* app) {
  size_t n_safe = 0, n_fault = 0;
  yoke__study_count_states(app->study, &n_safe, &n_fault);
  if (n_safe + n_fault == 0) {
    return;
  }
  const bool has_machine = app->rig.machine[0] != '\0';
  printf("%s%s%s%zu run%s ended in SAFE", has_machine ? "unit '" : "", app->rig.machine,
         has_machine ? "', one point at a time, each from SAFE: " : "", n_safe,
         n_safe == 1 ? "" : "s");
  if (n_fault > 0) {
    printf(", %zu in FAULT", n_fault);
  }
  putchar('\n');
}

void yoke__app_study_count(const yoke_app_study* app) {
  size_t counts[YOKE_RUN_N_STATUSES], n_known = 0, n_damaged = 0;
  yoke__study_count(app->study, counts);
  yoke__study_resumed(app->study, &n_known, &n_damaged);
  printf("%zu point%s:", app->grid.n_points, app->grid.n_points == 1 ? "" : "s");
  const char* separator = " ";
  for (size_t i = YOKE_RUN_DONE; i < YOKE_RUN_N_STATUSES; i++) {
    if (counts[i] > 0) {
      printf("%s%zu %s", separator, counts[i], yoke__run_status_names[i]);
      separator = ", ";
    }
  }
  if (n_known > 0) {
    printf("; %zu run%s in the journal already", n_known, n_known == 1 ? " was" : "s were");
  }
  putchar('\n');
  print_states(app);
}

// ---- the command

static int run_command(const yoke_command* command, int argc, char** argv, yoke_share* share,
                       bool (*run)(yoke_app_study* app, const yoke_options* options)) {
  yoke_options options;
  int status = YOKE_EXIT_OK;
  if (!yoke__options_parse(command, argc, argv, &options, &status)) {
    return status;
  }
  yoke_app_study* app = calloc(1, sizeof *app);
  if (app == NULL) {
    status = yoke__app_fail(command->name, YOKE_NO_MEMORY);
  } else {
    *app = (yoke_app_study){.command = command->name, .share = share, .status = YOKE_EXIT_USAGE};
    yoke__os_catch_interrupt();
    status = run(app, &options) ? YOKE_EXIT_OK : app->status;
    yoke__study_close(&app->study);
    yoke__csv_free(&app->reference);
    yoke__grid_free(&app->grid);
    free(app->bytes);
    yoke__arena_free(&app->arena);
  }
  free(app);
  yoke__options_free(&options);
  return status;
}

// ---- ranks

// Those of mpirun, if that has started this process.
typedef struct ranks {
  yoke_link link;
  const yoke_mpi_api* api;
  yoke_share share;
} ranks;

// *share stays NULL without mpirun. In all ranks but the first one it waits for the first one, which speaks for all.
// False: the command ends with *status.
static bool open_ranks(ranks* app, const char* command, yoke_share** share, int* status) {
  YOKE_CATCH(why);
  if (yoke__share_mpi_size() <= 1) {
    return true;
  }
  if (yoke__share_mpi_open(&app->link, &app->api, &why.sink) < 0) {
    app->api = NULL;
    // where all fail, one message is enough: mpirun ends the others after the first failure
    yoke__os_sleep_ns(yoke__share_mpi_rank() == 0 ? 0 : OTHERS_NS);
    yoke__app_error(command, "%s", why.text);
    *status = YOKE_EXIT_USAGE;
    return false;
  }
  app->share.link = &app->link;
  *share = &app->share;
  return app->link.rank == 0 || yoke__share_wait(&app->share);
}

static void close_ranks(ranks* app) {
  if (app->api == NULL) {
    return;
  }
  if (app->link.rank == 0) {
    yoke__share_end(&app->share);
  } else if (!app->share.is_stopped) {
    // something is wrong here alone, and said so; the first rank must hear of it
    yoke__share_leave(&app->share);
  }
  yoke__share_free(&app->share);
  app->api->close();
}

int yoke__app_study_command(const yoke_command* command, int argc, char** argv, bool is_shared,
                            bool (*run)(yoke_app_study* app, const yoke_options* options)) {
  ranks all = {0};
  yoke_share* share = NULL;
  int status = YOKE_EXIT_OK;
  if (!is_shared || open_ranks(&all, command->name, &share, &status)) {
    status = run_command(command, argc, argv, share, run);
  }
  close_ranks(&all);
  return status;
}
