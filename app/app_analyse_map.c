// Maps: the radius of every method over the step and one or two settings of the file.
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/app_analyse.h"
#include "base/base_json.h"
#include "base/base_os.h"
#include "base/base_status.h"
#include "study/study_figure.h"

#define MAX_VALUES 4000000u  // radii that are kept: 16 MB
#define MAX_AXES   2
#define SHOW_NS    200000000

// A map on its way.
typedef struct mapping {
  const yoke_app_analyse* app;
  yoke_study_plan plan;
  yoke_grid grid, steps;
  char* bytes;
  yoke_linear_method methods[YOKE_LINEAR_N_METHODS];
  size_t n_methods, n_points, n_steps;
  float *radius, *first;  // n_methods x n_points x n_steps; n_methods x n_points
  size_t n_failed;        // points that could not be built
  char failure[256];      // why the first of them could not
  const char* title;
  int64_t shown_ns;
} mapping;

// ---- options

static bool read_grid(const yoke_options* options, const char* name, const char* path,
                      yoke_grid* to) {
  size_t n = 0;
  const char* const* texts = yoke__options_values(options, name, &n);
  yoke_context context;
  char text[256], option[32];
  const char* const only = text;
  if (n > MAX_AXES) {
    return yoke__app_error(YOKE_ANALYSE, "--%s: expected at most %d of them, found %zu", name,
                           MAX_AXES, n);
  }
  if (path != NULL && n > 0) {
    snprintf(text, sizeof text, "%s=%.200s", path, texts[0]);
    texts = &only;
  }
  snprintf(option, sizeof option, "--%s", name);
  const yoke_status status = yoke__grid_create(texts, n, to, yoke__app_sink_at(&context, option));
  if (status < 0) {
    yoke__app_fail(YOKE_ANALYSE, status);
  }
  return status >= 0;
}

static bool check_steps(const yoke_axis* steps) {
  assert(steps != NULL);
  for (size_t i = 0; i < steps->n; i++) {
    const double before = i == 0 ? 0 : steps->numbers[i - 1];
    if (!(steps->numbers[i] > before)) {
      return yoke__app_error(YOKE_ANALYSE,
                             "--steps: expected numbers above 0 that rise, found %.40s",
                             steps->values[i]);
    }
  }
  return true;
}

static bool read_all(mapping* m) {
  const yoke_options* options = m->app->options;
  if (!read_grid(options, "map", NULL, &m->grid) ||
      !read_grid(options, "steps", "step", &m->steps) || !check_steps(&m->steps.axes[0])) {
    return false;
  }
  m->n_points = m->grid.n_points;
  m->n_steps = m->steps.axes[0].n;
  for (size_t i = 0; i < YOKE_LINEAR_N_METHODS; i++) {
    // only if asked for: the file's own, which is one of the others most of the time, and what takes a run per point
    if (m->app->is_wanted[i] && (m->app->has_methods || i < YOKE_LINEAR_INTERPOLATE)) {
      m->methods[m->n_methods++] = (yoke_linear_method)i;
    }
  }
  if (m->n_points * m->n_steps > MAX_VALUES / m->n_methods) {
    return yoke__app_error(
        YOKE_ANALYSE, "%zu points, %zu steps and %zu methods are %zu radii; expected at most %u",
        m->n_points, m->n_steps, m->n_methods, m->n_points * m->n_steps * m->n_methods, MAX_VALUES);
  }
  m->plan.grid = &m->grid;
  m->plan.sets = yoke__options_values(options, "set", &m->plan.n_sets);
  const yoke_status status = yoke__study_read_files(options->operands[0], NULL, &m->bytes, NULL,
                                                    &m->plan, &yoke__app_sink);
  if (status < 0) {
    yoke__app_fail(YOKE_ANALYSE, status);
  }
  return status >= 0;
}

// ---- one point

static yoke_status look_at(mapping* m, yoke_linear_loops* loops, size_t point) {
  const double* steps = m->steps.axes[0].numbers;
  for (size_t j = 0; j < m->n_methods; j++) {
    float* radius = m->radius + (j * m->n_points + point) * m->n_steps;
    float* first = m->first + j * m->n_points + point;
    *first = INFINITY;
    for (size_t k = 0; k < m->n_steps; k++) {
      double r = (double)NAN, margin = 0;
      const yoke_status status = yoke__linear_radius(loops, m->methods[j], steps[k], &r, &margin);
      r = status == YOKE_SINGULAR ? (double)INFINITY : r;
      if (status < 0 && status != YOKE_SINGULAR && status != YOKE_NO_SUPPORT) {
        return status;
      }
      if (status != YOKE_NO_SUPPORT) {
        // a float has little room below 1: what is stable must stay there
        const bool is_stable = r < 1 + margin;
        radius[k] = is_stable ? fminf((float)r, nextafterf(1, 0)) : (float)r;
        if (!is_stable && isinf(*first)) {
          *first = (float)steps[k];
        }
      } else {
        radius[k] = *first = NAN;
      }
    }
  }
  return YOKE_OK;
}

static void set_unknown(mapping* m, size_t point, const yoke_messages* messages) {
  for (size_t j = 0; j < m->n_methods; j++) {
    m->first[j * m->n_points + point] = NAN;
    for (size_t k = 0; k < m->n_steps; k++) {
      m->radius[(j * m->n_points + point) * m->n_steps + k] = NAN;
    }
  }
  if (m->n_failed++ == 0) {
    yoke__messages_format(messages, m->failure, sizeof m->failure);
    m->failure[strcspn(m->failure, "\n")] = '\0';
  }
}

static yoke_status do_point(mapping* m, size_t point) {
  yoke_messages messages = {0};
  yoke_system* system = NULL;
  yoke_state* state = NULL;
  yoke_linear_loops loops = {0};
  yoke_status status = yoke__study_build(&m->plan, point, 0, &messages, &system, &state);
  if (status >= 0) {
    yoke_system_info info;
    if (m->title == NULL && yoke_system_get_info(system, &info) >= 0) {
      m->title = yoke__arena_text(&m->grid.arena, info.name, strlen(info.name));
    }
    status = yoke__linear_open(system, state, &messages, &loops);
    if (status >= 0 && loops.n_members == 0) {
      yoke__error(&messages, (yoke_place){0}, "there is no closed loop of connections");
      status = YOKE_BAD_INPUT;
    }
    status = status >= 0 ? look_at(m, &loops, point) : status;
    yoke__linear_free(&loops);
    yoke__study_destroy(&system, &state);
  }
  status = yoke__messages_status(&messages, status);
  if (status < 0 && !yoke__status_is_shortage(status)) {
    set_unknown(m, point, &messages);
    status = YOKE_OK;
  }
  yoke__messages_free(&messages);
  return status;
}

static void show(mapping* m, size_t n_done) {
  const int64_t now = yoke__os_now_ns();
  if (m->app->is_quiet || !yoke__os_is_terminal(stderr) ||
      (now - m->shown_ns < SHOW_NS && n_done < m->n_points)) {
    return;
  }
  m->shown_ns = now;
  fprintf(stderr, "\r%zu of %zu points%s", n_done, m->n_points,
          n_done == m->n_points ? "\r\033[K" : "");
}

static int fill(mapping* m) {
  for (size_t i = 0; i < m->n_points; i++) {
    const yoke_status status = do_point(m, i);
    if (status < 0) {
      return yoke__app_analyse_fail(status);
    }
    show(m, i + 1);
    if (yoke__os_is_interrupted()) {
      return YOKE_EXIT_INTERRUPTED;
    }
  }
  if (m->n_failed == m->n_points) {
    yoke__app_error(YOKE_ANALYSE, "no point of the map can be analysed; the first failure: %s",
                    m->failure);
    return YOKE_EXIT_USAGE;
  }
  return YOKE_EXIT_OK;
}

// ---- files

static void add_values(const mapping* m, size_t point, yoke_text* csv) {
  for (size_t a = 0; a < m->grid.n_axes; a++) {
    yoke__text_cell(csv, m->grid.axes[a].values[yoke__grid_index(&m->grid, point, a)]);
    yoke__text_add(csv, ",");
  }
}

static void add_paths(const mapping* m, yoke_text* csv) {
  for (size_t a = 0; a < m->grid.n_axes; a++) {
    yoke__text_cell(csv, m->grid.axes[a].path);
    yoke__text_add(csv, ",");
  }
}

// Nothing for what is not known.
static void add_number(double x, yoke_text* csv) {
  if (isinf(x)) {
    yoke__text_add(csv, "inf");
  } else if (!isnan(x)) {
    yoke__text_add(csv, "%.7g", x);
  }
}

// map.csv: a row per point and step, a column per method.
static void write_map(const mapping* m, yoke_text* csv) {
  add_paths(m, csv);
  yoke__text_add(csv, "step");
  for (size_t j = 0; j < m->n_methods; j++) {
    yoke__text_add(csv, ",%s", yoke__linear_method_names[m->methods[j]]);
  }
  for (size_t i = 0; i < m->n_points; i++) {
    for (size_t k = 0; k < m->n_steps; k++) {
      yoke__text_add(csv, "\n");
      add_values(m, i, csv);
      yoke__text_number(csv, m->steps.axes[0].numbers[k]);
      for (size_t j = 0; j < m->n_methods; j++) {
        const double r = (double)m->radius[(j * m->n_points + i) * m->n_steps + k];
        yoke__text_add(csv, ",");
        add_number(r, csv);
      }
    }
  }
  yoke__text_add(csv, "\n");
}

// limits.csv: a row per point, the first unstable step per method; empty: not known, inf: none.
static void write_limits(const mapping* m, yoke_text* csv) {
  add_paths(m, csv);
  for (size_t j = 0; j < m->n_methods; j++) {
    yoke__text_add(csv, "%s%s", j == 0 ? "" : ",", yoke__linear_method_names[m->methods[j]]);
  }
  for (size_t i = 0; i < m->n_points; i++) {
    yoke__text_add(csv, "\n");
    add_values(m, i, csv);
    for (size_t j = 0; j < m->n_methods; j++) {
      const double first = (double)m->first[j * m->n_points + i];
      yoke__text_add(csv, "%s", j == 0 ? "" : ",");
      add_number(first, csv);
    }
  }
  yoke__text_add(csv, "\n");
}

static int write_files(const mapping* m) {
  yoke_text texts[3] = {{0}};
  static const char* const names[] = {"map.csv", "limits.csv", "map.svg"};
  yoke_figure_map figure = {.title = m->title,
                            .grid = &m->grid,
                            .steps = &m->steps.axes[0],
                            .n_panels = m->n_methods,
                            .radius = m->radius,
                            .first = m->first};
  for (size_t j = 0; j < m->n_methods; j++) {
    figure.names[j] = yoke__linear_method_names[m->methods[j]];
  }
  write_map(m, &texts[0]);
  write_limits(m, &texts[1]);
  yoke__figure_map(&figure, &texts[2]);
  return yoke__app_analyse_write(m->app, names, texts, 3);
}

// ---- what is printed

typedef struct tally {
  size_t n_stable, n_known;  // points and steps
  double least, most;        // first unstable step
} tally;

static tally count(const mapping* m, size_t j) {
  tally t = {0, 0, (double)INFINITY, 0};
  for (size_t i = 0; i < m->n_points * m->n_steps; i++) {
    const double r = (double)m->radius[j * m->n_points * m->n_steps + i];
    t.n_known += isnan(r) ? 0 : 1;
    t.n_stable += r < 1 ? 1 : 0;
  }
  for (size_t i = 0; i < m->n_points; i++) {
    const double first = (double)m->first[j * m->n_points + i];
    if (!isnan(first)) {
      t.least = fmin(t.least, first);
      t.most = fmax(t.most, first);
    }
  }
  return t;
}

static void first_text(double first, char* to, size_t size) {
  if (isinf(first)) {
    snprintf(to, size, "none");
  } else {
    snprintf(to, size, "%.5g s", first);
  }
}

static void print_map(const mapping* m) {
  printf("%s: %zu points, %zu steps from %.6g to %.6g s\n", m->title, m->n_points, m->n_steps,
         m->steps.axes[0].numbers[0], m->steps.axes[0].numbers[m->n_steps - 1]);
  printf("%-14s %8s  first unstable step, smallest and largest\n", "method", "stable");
  for (size_t j = 0; j < m->n_methods; j++) {
    const tally t = count(m, j);
    char least[32], most[32];
    first_text(t.least, least, sizeof least);
    first_text(t.most, most, sizeof most);
    printf("%-14s %6.1f %%  %-12s %s\n", yoke__linear_method_names[m->methods[j]],
           t.n_known == 0 ? 0 : 100 * (double)t.n_stable / (double)t.n_known, least, most);
  }
  if (m->n_failed > 0) {
    printf("%zu point%s could not be analysed; the first failure: %s\n", m->n_failed,
           yoke__plural(m->n_failed), m->failure);
  }
  if (m->app->out != NULL) {
    printf("results in %s: map.csv, limits.csv, map.svg\n", m->app->out);
  }
}

static int print_json(const mapping* m) {
  yoke_json json = {0};
  yoke__json_begin_document(&json, "stability-map");
  yoke__json_string(&json, "name", m->title);
  yoke__json_integer(&json, "points", (int64_t)m->n_points);
  yoke__json_integer(&json, "steps", (int64_t)m->n_steps);
  yoke__json_integer(&json, "failed", (int64_t)m->n_failed);
  yoke__json_begin_array(&json, "methods");
  for (size_t j = 0; j < m->n_methods; j++) {
    const tally t = count(m, j);
    yoke__json_begin_object(&json, NULL);
    yoke__json_string(&json, "name", yoke__linear_method_names[m->methods[j]]);
    yoke__json_integer(&json, "known", (int64_t)t.n_known);
    yoke__json_integer(&json, "stable", (int64_t)t.n_stable);
    yoke__json_begin_array(&json, "first_unstable_steps");
    for (size_t i = 0; i < m->n_points; i++) {
      yoke__json_number(&json, NULL, (double)m->first[j * m->n_points + i]);
    }
    yoke__json_end_array(&json);
    yoke__json_end_object(&json);
  }
  yoke__json_end_array(&json);
  yoke__json_end_object(&json);
  return yoke__app_print_json(YOKE_ANALYSE, &json) ? YOKE_EXIT_OK : YOKE_EXIT_FAILED;
}

// ---- the whole

// --expect stable: every point and step of the methods that were named.
static int judge(const mapping* m) {
  for (size_t j = 0; j < m->n_methods && m->app->expects_stable; j++) {
    const tally t = count(m, j);
    if (t.n_stable < m->n_points * m->n_steps) {
      yoke__app_error(YOKE_ANALYSE, "%s is not stable at every point of the map",
                      yoke__linear_method_names[m->methods[j]]);
      return YOKE_EXIT_QUALITY;
    }
  }
  return YOKE_EXIT_OK;
}

static int map(mapping* m) {
  if (!read_all(m)) {
    return YOKE_EXIT_USAGE;
  }
  m->radius = calloc(m->n_methods * m->n_points * m->n_steps, sizeof *m->radius);
  m->first = calloc(m->n_methods * m->n_points, sizeof *m->first);
  if (m->radius == NULL || m->first == NULL) {
    return yoke__app_analyse_fail(YOKE_NO_MEMORY);
  }
  int status = fill(m);
  if (status == YOKE_EXIT_OK && m->app->out != NULL) {
    status = write_files(m);
  }
  if (status == YOKE_EXIT_OK && m->app->is_json) {
    status = print_json(m);
  } else if (status == YOKE_EXIT_OK && !m->app->is_quiet) {
    print_map(m);
  }
  return status == YOKE_EXIT_OK ? judge(m) : status;
}

int yoke__app_analyse_map(const yoke_app_analyse* app) {
  mapping m = {.app = app};
  const int status = map(&m);
  free(m.bytes);
  free(m.radius);
  free(m.first);
  yoke__grid_free(&m.grid);
  yoke__grid_free(&m.steps);
  return status;
}
