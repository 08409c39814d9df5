// yoke export NETLIST --c: makes the matrices (src/export/export_c.c), writes NAME.h and NAME.c.
#include "app/app_export_c.h"

#include <stdio.h>
#include <string.h>

#include "app/app_sink.h"
#include "base/base_number.h"
#include "base/base_status.h"
#include "export/export_c.h"

#define COMMAND   "export"
#define MAX_NAME  100
#define MAX_TEXT  400
#define MAX_ORDER 2000

// What is made from the command line.
typedef struct exporting {
  const yoke_options* options;
  yoke_messages messages;
  yoke_arena arena;
  yoke_export_c_job job;
  yoke_export_c_model model;
  char name[MAX_NAME], settings[MAX_TEXT];
} exporting;

// ---- the command line

// A positive number of an option; *out stays where it is not given. False after a message.
static bool read_positive(const yoke_options* options, const char* option, double* out) {
  const char* text = yoke__options_value(options, option);
  double value = 0.0;
  if (text == NULL) {
    return true;
  }
  if (!yoke__number_parse_suffix(text, &value) || !(value > 0.0) || value > 1e300) {
    yoke__app_error(COMMAND, "--%s %s: expected a number above 0", option, text);
    return false;
  }
  *out = value;
  return true;
}

static void note_setting(exporting* e, const char* option, const char* value) {
  const size_t n = strlen(e->settings);
  snprintf(e->settings + n, sizeof e->settings - n, "%s--%s%s%s", n > 0 ? " " : "", option,
           value == NULL ? "" : " ", value == NULL ? "" : value);
}

static void note_settings(exporting* e) {
  static const char* const names[] = {"step", "reduce", "order", "hold"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const char* value = yoke__options_value(e->options, names[i]);
    if (value != NULL) {
      note_setting(e, names[i], value);
    }
  }
  if (e->job.is_float) {
    note_setting(e, "float", NULL);
  }
  size_t n = 0;
  const char* const* with = yoke__options_values(e->options, "with", &n);
  for (size_t i = 0; i < n; i++) {
    note_setting(e, "with", with[i]);
  }
}

static bool read_options(exporting* e) {
  const yoke_options* options = e->options;
  yoke_export_c_job* job = &e->job;
  double order = 0.0;
  if (!read_positive(options, "step", &job->step) ||
      !read_positive(options, "reduce", &job->tolerance) ||
      !read_positive(options, "order", &order)) {
    return false;
  }
  if (order > MAX_ORDER || order != (double)(size_t)order) {
    yoke__app_error(COMMAND, "--order: expected a number of states");
    return false;
  }
  if (job->tolerance > 0.0 && order > 0.0) {
    yoke__app_error(COMMAND, "--reduce and --order: give one of them");
    return false;
  }
  uint32_t hold = 0;
  if (!yoke__options_choices(options, "hold", &hold)) {
    return false;
  }
  job->order = (size_t)order;
  job->is_reduced = job->tolerance > 0.0 || order > 0.0;
  job->is_float = yoke__options_has(options, "float");
  job->is_ramp = (hold & 2u) != 0;  // zero, first
  note_settings(e);
  return true;
}

// --with NAME=VALUE: parameters of the netlist
static bool read_parameters(exporting* e) {
  size_t n = 0;
  const char* const* with = yoke__options_values(e->options, "with", &n);
  yoke_netlist_parameter* parameters = yoke__arena_array(&e->arena, n + 1, sizeof *parameters);
  for (size_t i = 0; parameters != NULL && i < n; i++) {
    const char* equals = strchr(with[i], '=');
    parameters[i].name = yoke__arena_text(&e->arena, with[i], (size_t)(equals - with[i]));
    if (!yoke__number_parse_suffix(equals + 1, &parameters[i].value)) {
      yoke__app_error(COMMAND, "--with %s: expected a number", with[i]);
      return false;
    }
  }
  e->job.netlist.parameters = parameters;
  e->job.netlist.n_parameters = parameters == NULL ? 0 : n;
  return parameters != NULL;
}

static const char* file_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

// "dir/motor-1.cir" -> "motor-1"
static void make_name(exporting* e) {
  snprintf(e->name, sizeof e->name, "%s", file_name(e->options->operands[0]));
  char* dot = strrchr(e->name, '.');
  if (dot != NULL && dot != e->name) {
    *dot = '\0';
  }
}

// ---- the command

static void print_done(const exporting* e, const char* directory) {
  const yoke_export_c_model* m = &e->model;
  const yoke_export_c_quality* q = &m->quality;
  const size_t flash = yoke__export_c_flash(&e->job, m), ram = yoke__export_c_ram(&e->job, m);
  printf("%s/%s.c, %s.h: %zu state%s, %zu input%s, %zu output%s, step %g s, %zu byte%s of "
         "constants, %zu byte%s per instance\n",
         directory, e->name, e->name, m->n, yoke__plural(m->n), m->n_u, yoke__plural(m->n_u),
         m->n_y, yoke__plural(m->n_y), m->h, flash, yoke__plural(flash), ram, yoke__plural(ram));
  if (!e->job.is_reduced || m->n_whole == 0) {
    return;
  }
  printf("reduced from %zu state%s: Hankel singular values %.4g (largest), %.4g (largest dropped)",
         m->n_whole, yoke__plural(m->n_whole), q->largest, q->largest_dropped);
  if (q->n_apart > 0) {
    printf("; %zu not stable, kept apart", q->n_apart);
  }
  printf("\n%-24s %-12s %-12s %s\n", "output", "error bound", "measured", "start values");
  for (size_t i = 0; i < m->n_y; i++) {
    printf("%-24s %-12.4g %-12.4g %.4g\n", m->outputs[i].shown, q->bound * q->gain[i],
           q->measured[i], q->start_error[i]);
  }
}

static int write_files(exporting* e) {
  const char* directory = yoke__options_value(e->options, "out");
  directory = directory == NULL ? "." : directory;
  const yoke_status status = yoke__export_c_write(&e->job, &e->model, directory, &yoke__app_sink);
  if (status < 0) {
    yoke__app_fail(COMMAND, status);
    return YOKE_EXIT_FAILED;
  }
  print_done(e, directory);
  return YOKE_EXIT_OK;
}

static int run(exporting* e) {
  if (!read_options(e) || !read_parameters(e)) {
    return YOKE_EXIT_USAGE;
  }
  make_name(e);
  e->job.netlist.path = e->options->operands[0];
  e->job.name = e->name;
  e->job.source = file_name(e->options->operands[0]);
  e->job.settings = e->settings;
  const yoke_status status = yoke__export_c_make(&e->job, &e->messages, &e->model);
  yoke__messages_print(&e->messages, stderr);
  if (status < 0) {
    return yoke__status_is_shortage(status) ? YOKE_EXIT_FAILED : YOKE_EXIT_USAGE;
  }
  return write_files(e);
}

int yoke__app_export_c(const yoke_options* options) {
  exporting e = {.options = options};
  const int result = run(&e);
  yoke__export_c_free(&e.model);
  yoke__messages_free(&e.messages);
  yoke__arena_free(&e.arena);
  return result;
}
