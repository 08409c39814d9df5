// One system: its units, the coupled system, and every coupling method at the present step.
#include "app/app_analyse.h"

#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "study/study_figure.h"

#define N_STEPS      240  // of the search, by default
#define N_COARSE     15   // of its first pass in a large system
#define MAX_STEPS    100000
#define TIMES_LARGER 4  // how far beyond the present step, by default

// ---- options

static bool read_seconds(const yoke_options* options, const char* name, double* out) {
  const char* text = yoke__options_value(options, name);
  if (text == NULL) {
    return true;
  }
  if (!yoke__number_parse(text, out) || !(*out > 0) || !yoke__is_finite(*out)) {
    return yoke__app_error(
        YOKE_ANALYSE, "--%s: expected a number of seconds above 0, found '%.100s'", name, text);
  }
  return true;
}

static bool read_methods(const yoke_options* options, yoke_app_analyse* to) {
  uint32_t bits = 0;
  if (!yoke__options_choices(options, "methods", &bits)) {
    return false;
  }
  to->has_methods = bits != 0;
  for (size_t i = 0; i < YOKE_LINEAR_N_METHODS; i++) {
    to->is_wanted[i] = bits == 0 || (bits >> i & 1) != 0;
  }
  return true;
}

bool yoke__app_analyse_read(const yoke_options* options, yoke_app_analyse* to) {
  *to = (yoke_app_analyse){.options = options,
                           .step = (double)NAN,
                           .at = (double)NAN,
                           .largest = (double)NAN,
                           .resolution = (double)NAN};
  const char* expect = yoke__options_value(options, "expect");
  uint32_t expected = 0;
  to->out = yoke__options_value(options, "out");
  to->is_json = yoke__options_has(options, "json");
  to->is_quiet = yoke__options_has(options, "quiet");
  to->expects_stable = expect != NULL;
  if (to->out != NULL && to->out[0] == '\0') {
    return yoke__app_error(YOKE_ANALYSE, "--out: expected the name of a folder, found nothing");
  }
  return yoke__options_choices(options, "expect", &expected) && read_methods(options, to) &&
         read_seconds(options, "step", &to->step) && read_seconds(options, "at", &to->at) &&
         read_seconds(options, "largest", &to->largest) &&
         read_seconds(options, "resolution", &to->resolution);
}

int yoke__app_analyse_fail(yoke_status status) {
  yoke__app_error(YOKE_ANALYSE, "%s", yoke_status_text(status));
  return YOKE_EXIT_FAILED;
}

int yoke__app_analyse_write(const yoke_app_analyse* app, const char* const names[],
                            yoke_text texts[], size_t n) {
  yoke_status status = YOKE_OK;
  for (size_t i = 0; i < n; i++) {
    status = status < 0 ? status : texts[i].status;
    if (status >= 0) {
      status = yoke__os_write_into(app->out, names[i], texts[i].bytes, texts[i].n, &yoke__app_sink);
    }
    yoke__text_free(&texts[i]);
  }
  if (status < 0) {
    yoke__app_fail(YOKE_ANALYSE, status);
  }
  return status < 0 ? YOKE_EXIT_FAILED : YOKE_EXIT_OK;
}

// ---- figures

// The steps that are looked at. False after a message.
static bool choose_steps(const yoke_app_analyse* app, yoke_app_analysis* a) {
  a->step = isnan(app->step) ? a->loops->step : app->step;
  yoke_linear_grid* grid = &a->grid;
  grid->largest = isnan(app->largest) ? TIMES_LARGER * a->step : app->largest;
  grid->resolution = isnan(app->resolution) ? grid->largest / N_STEPS : app->resolution;
  a->is_grid_given = !isnan(app->resolution);
  if (isnan(app->resolution) && yoke__linear_is_large(a->loops)) {
    grid->within = grid->resolution;
    grid->resolution = grid->largest / N_COARSE;
  }
  if (grid->largest < grid->resolution || grid->largest / grid->resolution > MAX_STEPS) {
    return yoke__app_error(
        YOKE_ANALYSE,
        "--resolution %.6g s: expected at most the largest step, %.6g s, and at least 1/%d of it",
        grid->resolution, grid->largest, MAX_STEPS);
  }
  return true;
}

// Where a radius takes long, the grid is coarse first; a grid that was asked for stays.
static yoke_linear_grid grid_of(const yoke_app_analysis* a, yoke_linear_method method) {
  yoke_linear_grid grid = a->grid;
  if (grid.within == 0 && !a->is_grid_given && yoke__linear_is_slow(a->loops, method)) {
    grid.within = grid.resolution;
    grid.resolution = grid.largest / N_COARSE;
  }
  return grid;
}

static yoke_status fill_row(const yoke_app_analysis* a, yoke_linear_method method,
                            yoke_app_analyse_row* row) {
  double margin = 0;
  *row = (yoke_app_analyse_row){.method = method, .radius = (double)NAN, .first = (double)NAN};
  const yoke_status status = yoke__linear_radius(a->loops, method, a->step, &row->radius, &margin);
  if (status == YOKE_NO_SUPPORT) {
    return YOKE_OK;
  }
  YOKE_TRY(status);
  row->is_known = true;
  row->is_stable = row->radius < 1 + margin;
  const yoke_linear_grid grid = grid_of(a, method);
  return yoke__linear_limit(a->loops, method, &grid, &row->first);
}

// On a terminal: which method is looked at. NULL: none any more.
static void show_progress(const yoke_app_analyse* app, const char* method) {
  if (!app->is_quiet && yoke__os_is_terminal(stderr)) {
    fprintf(stderr, "\r%-14s\r", method == NULL ? "" : method);
  }
}

static yoke_status fill_rows(const yoke_app_analyse* app, yoke_app_analysis* a) {
  for (size_t i = 0; i < YOKE_LINEAR_N_METHODS; i++) {
    if (app->is_wanted[i]) {
      show_progress(app, yoke__linear_method_names[i]);
      const yoke_status status = fill_row(a, (yoke_linear_method)i, &a->rows[a->n_rows]);
      if (status == YOKE_SINGULAR) {
        // the models of the units form an algebraic loop: a method that uses them cannot work
        a->rows[a->n_rows] = (yoke_app_analyse_row){
            .method = (yoke_linear_method)i, .radius = (double)NAN, .first = (double)NAN};
      } else {
        YOKE_TRY(status);
      }
      a->n_rows++;
    }
  }
  show_progress(app, NULL);
  return YOKE_OK;
}

// ---- files: the radius over the step

static yoke_status scan(const yoke_app_analysis* a, const double steps[], size_t n,
                        double radius[]) {
  for (size_t r = 0; r < a->n_rows; r++) {
    for (size_t i = 0; i < n; i++) {
      double *to = &radius[r * n + i], margin = 0;
      *to = (double)NAN;
      if (a->rows[r].is_known) {
        YOKE_TRY(yoke__linear_radius(a->loops, a->rows[r].method, steps[i], to, &margin));
      }
    }
  }
  return YOKE_OK;
}

static int write_scan(const yoke_app_analyse* app, const yoke_app_analysis* a, const double steps[],
                      size_t n, const double radius[]) {
  static const char* const names[] = {"radius.csv", "radius.svg"};
  yoke_text texts[2] = {{0}}, *csv = &texts[0];
  yoke_figure_lines figure = {
      .title = a->system.name, .steps = steps, .n_steps = n, .radius = radius, .step = a->step};
  yoke__text_add(csv, "step");
  for (size_t r = 0; r < a->n_rows; r++) {
    yoke__text_add(csv, ",%s", yoke__linear_method_names[a->rows[r].method]);
    // what the file does lies on one of the others most of the time
    figure.is_dashed[figure.n_lines] = a->rows[r].method == YOKE_LINEAR_FILE;
    figure.names[figure.n_lines++] = yoke__linear_method_names[a->rows[r].method];
  }
  for (size_t i = 0; i < n; i++) {
    yoke__text_add(csv, "\n");
    yoke__text_number(csv, steps[i]);
    for (size_t r = 0; r < a->n_rows; r++) {
      yoke__text_add(csv, ",");
      yoke__text_number(csv, radius[r * n + i]);
    }
  }
  yoke__text_add(csv, "\n");
  yoke__figure_lines(&figure, &texts[1]);
  return yoke__app_analyse_write(app, names, texts, 2);
}

static int write_files(const yoke_app_analyse* app, const yoke_app_analysis* a) {
  const size_t n = (size_t)floor(a->grid.largest / a->grid.resolution + 1e-9);
  yoke_arena arena = {0};
  double* steps = yoke__arena_array(&arena, n, sizeof *steps);
  double* radius = yoke__arena_array(&arena, n * a->n_rows, sizeof *radius);
  for (size_t i = 0; steps != NULL && i < n; i++) {
    steps[i] = (double)(i + 1) * a->grid.resolution;
  }
  const yoke_status done =
      steps == NULL || radius == NULL ? YOKE_NO_MEMORY : scan(a, steps, n, radius);
  const int status = done < 0 ? yoke__app_analyse_fail(done) : write_scan(app, a, steps, n, radius);
  yoke__arena_free(&arena);
  return status;
}

// ---- the whole

// --expect stable: the methods that were named, else that of the file.
static int judge(const yoke_app_analyse* app, const yoke_app_analysis* a) {
  if (!app->expects_stable || a->loops->n_members == 0) {
    return YOKE_EXIT_OK;
  }
  if (a->loops->silent != NULL) {
    yoke__app_error(YOKE_ANALYSE,
                    "--expect stable: unit '%.64s' does not react to its inputs at t = %.6g s",
                    a->loops->silent, a->at);
    return YOKE_EXIT_QUALITY;
  }
  for (size_t i = 0; i < a->n_rows; i++) {
    const yoke_app_analyse_row* row = &a->rows[i];
    if (!app->has_methods && row->method != YOKE_LINEAR_FILE) {
      continue;
    }
    if (!row->is_known) {
      const char* why = a->loops->judges[row->method].why;
      yoke__app_error(YOKE_ANALYSE, "--expect stable: nothing is known about %s: %s",
                      yoke__linear_method_names[row->method],
                      why == NULL ? "the models form an algebraic loop" : why);
      return YOKE_EXIT_QUALITY;
    }
    if (!row->is_stable) {
      yoke__app_error(YOKE_ANALYSE, "%s is not stable at %.6g s",
                      yoke__linear_method_names[row->method], a->step);
      return YOKE_EXIT_QUALITY;
    }
  }
  return YOKE_EXIT_OK;
}

static int report(const yoke_app_analyse* app, yoke_app_analysis* a) {
  if (a->loops->n_members > 0) {
    if (!choose_steps(app, a)) {
      return YOKE_EXIT_USAGE;
    }
    const yoke_status status = fill_rows(app, a);
    if (status < 0) {
      return yoke__app_analyse_fail(status);
    }
  }
  const int cut = yoke__app_loops_open(app, a, &a->cuts);
  if (cut != YOKE_EXIT_OK) {
    return cut;
  }
  yoke__app_analyse_advise(a);
  if (app->is_json && !yoke__app_analyse_json(a)) {
    return YOKE_EXIT_FAILED;
  }
  if (!app->is_json && !app->is_quiet) {
    yoke__app_analyse_print(a);
  }
  if (app->out != NULL && a->loops->n_members > 0) {
    const int status = write_files(app, a);
    if (status != YOKE_EXIT_OK) {
      return status;
    }
    if (!app->is_json && !app->is_quiet) {
      printf("radius over the step in %s: radius.csv, radius.svg\n", app->out);
    }
    const int drawn = yoke__app_loops_write(app, a->cuts);
    if (drawn != YOKE_EXIT_OK) {
      return drawn;
    }
    const int page = yoke__app_analyse_page(app, a);
    if (page != YOKE_EXIT_OK) {
      return page;
    }
    if (!app->is_json && !app->is_quiet) {
      printf("all of it as a page: %s/analysis.html\n", app->out);
    }
  }
  return judge(app, a);
}

static int analyse(const yoke_app_analyse* app, yoke_system* system, const yoke_state* state) {
  yoke_messages messages = {0};
  yoke_linear_loops loops;
  yoke_app_analysis a = {.loops = &loops,
                         .messages = &messages,
                         .at = state->t,
                         .is_file_wanted = app->is_wanted[YOKE_LINEAR_FILE]};
  int status = YOKE_EXIT_USAGE;
  yoke_system_get_info(system, &a.system);
  const yoke_status opened = yoke__linear_open(system, state, &messages, &loops);
  if (opened >= 0) {
    status = report(app, &a);
  } else if (messages.n_errors > 0) {
    yoke__messages_print(&messages, stderr);
  } else {
    status = yoke__app_analyse_fail(opened);
  }
  yoke__app_loops_close(&a.cuts);
  yoke__linear_free(&loops);
  yoke__messages_free(&messages);
  return status;
}

yoke_system* yoke__app_analyse_load(const yoke_options* options) {
  static const char* const extra[] = {"threads=1"};
  return yoke__app_load(options, extra, 1, false, NULL);
}

int yoke__app_analyse_start(yoke_system* system, yoke_state** state) {
  yoke_unit_view machine;
  if (yoke__app_find_machine(system, &machine)) {
    yoke__app_error("analyse",
                    "unit '%s' is a real machine and cannot be linearised; `port: none` puts its "
                    "model in its place",
                    machine.name);
    return YOKE_EXIT_USAGE;
  }
  yoke_app_voice voice = {.is_quiet = true};
  const yoke_sink sink = yoke__app_voice_sink(&voice);
  const yoke_status status = yoke__study_start(system, &sink, state);
  if (status < 0) {
    yoke__app_fail(NULL, status);
  }
  return yoke__app_start_status(status);
}

// Macro steps up to --at.
static int run_to(const yoke_app_analyse* app, yoke_system* system, yoke_state* state) {
  yoke_system_info info;
  yoke_system_get_info(system, &info);
  if (app->at < info.t_start || app->at > info.t_stop) {
    yoke__app_error(YOKE_ANALYSE, "--at %.6g s: expected a time of the run, %.6g to %.6g s",
                    app->at, info.t_start, info.t_stop);
    return YOKE_EXIT_USAGE;
  }
  const yoke_status status = yoke__study_step_to(system, state, app->at, &yoke__app_sink);
  return status < 0 ? YOKE_EXIT_FAILED : YOKE_EXIT_OK;
}

int yoke__app_analyse_system(const yoke_app_analyse* app) {
  yoke_state* state = NULL;
  yoke_system* system = yoke__app_analyse_load(app->options);
  int status = system == NULL ? YOKE_EXIT_USAGE : yoke__app_analyse_start(system, &state);
  if (status == YOKE_EXIT_OK && !isnan(app->at)) {
    status = run_to(app, system, state);
  }
  if (status == YOKE_EXIT_OK) {
    status = analyse(app, system, state);
  }
  yoke__study_destroy(&system, &state);
  return status;
}
