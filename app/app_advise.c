// From a command line to a search for settings.
#include "app/app_advise.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "app/app_sink.h"
#include "base/base_number.h"
#include "base/base_os.h"

static bool out_of_memory(const yoke_options* options) {
  return yoke__app_error(options->command->name, "out of memory");
}

bool yoke__app_advise_open(yoke_app_advise* app, const yoke_options* options, size_t n_more) {
  size_t n = 0;
  const char* const* given = yoke__options_values(options, "set", &n);
  app->sets = yoke__arena_array(&app->arena, n + n_more + 1, sizeof *app->sets);
  if (app->sets == NULL) {
    return out_of_memory(options);
  }
  memcpy(app->sets, given, n * sizeof *app->sets);
  app->settings =
      (yoke_advise_settings){.path = options->operands[0], .sets = app->sets, .n_sets = n};
  return true;
}

void yoke__app_advise_close(yoke_app_advise* app) {
  yoke__advise_free(&app->advice);
  yoke__arena_free(&app->arena);
}

bool yoke__app_advise_set(yoke_app_advise* app, const char* format, ...) {
  char text[4096];
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  const char* copy =
      n < (int)sizeof text ? yoke__arena_text(&app->arena, text, strlen(text)) : NULL;
  if (copy == NULL) {
    return yoke__app_error(NULL, "a setting is too long");
  }
  app->sets[app->settings.n_sets++] = copy;
  return true;
}

// A name as YAML takes it inside of brackets.
static void append_name(yoke_text* to, const char* name, size_t n) {
  const bool is_plain =
      strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") >= n;
  yoke__text_string(to, is_plain ? "" : "\"");
  for (size_t i = 0; i < n; i++) {
    if (name[i] == '"' || name[i] == '\\') {
      yoke__text_string(to, "\\");
    }
    yoke__text_append(to, name + i, 1);
  }
  yoke__text_string(to, is_plain ? "" : "\"");
}

bool yoke__app_advise_signals(yoke_app_advise* app, const char* option, const char* list) {
  yoke_text names = {0};
  bool is_good = true;
  for (const char* at = list; at != NULL && is_good;) {
    // commas inside brackets belong to a name: A[0,1]
    size_t n = 0;
    for (int depth = 0; at[n] != '\0' && (at[n] != ',' || depth > 0); n++) {
      depth += (at[n] == '[') - (at[n] == ']');
    }
    is_good = n > 0;
    yoke__text_string(&names, names.n == 0 ? "" : ", ");
    append_name(&names, at, n);
    at = at[n] == ',' ? at + n + 1 : NULL;
  }
  if (!is_good) {
    yoke__app_error(NULL, "%s: expected names of signals with commas between them, found '%.200s'",
                    option, list);
  } else {
    is_good = yoke__app_advise_set(app, "trust.signals=[%s]", names.bytes);
  }
  yoke__text_free(&names);
  return is_good;
}

bool yoke__app_advise_limit(yoke_app_advise* app, const char* option, const char* text) {
  const char* equals = strrchr(text, '=');
  double value = 0;
  if (equals == NULL || equals == text || !yoke__number_parse(equals + 1, &value) || !(value > 0) ||
      !isfinite(value)) {
    return yoke__app_error(NULL,
                           "%s: expected UNIT.VARIABLE and an error above 0 in its unit, such as "
                           "arm.s=2e-3, found '%.200s'",
                           option, text);
  }
  return yoke__app_advise_set(app, "trust.limits.%s", text);
}

// ---- running

static bool goes_on(void* to) {
  (void)to;
  return !yoke__os_is_interrupted();
}

static void show_progress(void* to, size_t n_done, size_t n, const char* name) {
  yoke_app_advise* app = to;
  app->is_line = true;
  fprintf(stderr, "\r%zu of about %zu settings: %-40.40s", n_done, n > n_done ? n : n_done, name);
  fflush(stderr);
}

bool yoke__app_advise_run(yoke_app_advise* app, const yoke_options* options, int* status) {
  app->settings.goes_on = goes_on;
  app->settings.to = app;
  if (!yoke__options_has(options, "quiet") && yoke__os_is_terminal(stderr)) {
    app->settings.progress = show_progress;
  }
  yoke__os_catch_interrupt();
  const yoke_status done = yoke__advise(&app->settings, &app->advice, &yoke__app_sink);
  if (app->is_line) {
    fprintf(stderr, "\r%79s\r", "");
  }
  if (done == YOKE_INTERRUPTED) {
    yoke__app_error(options->command->name, "interrupted: no advice");
    *status = YOKE_EXIT_INTERRUPTED;
  } else if (done < 0) {
    *status = yoke__app_fail(options->command->name, done);
  }
  return done >= 0;
}
