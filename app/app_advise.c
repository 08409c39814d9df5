// From a command line to a search for settings.
#include "app/app_advise.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "app/app_run.h"
#include "app/app_sink.h"
#include "base/base_number.h"
#include "base/base_os.h"

static bool out_of_memory(const yoke_options* options) {
  return yoke__app_no_memory(options->command->name);
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
  const yoke_app_words words = yoke__app_words(options->operands[0]);
  yoke_app_voice voice = {
      .words = &words, .is_quiet = yoke__options_has(options, "quiet"), .is_brief = true};
  const yoke_sink sink = yoke__app_voice_sink(&voice);
  const yoke_status done = yoke__advise(&app->settings, &app->advice, &sink);
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

// ---- yoke run --within

#define WITHIN_BUDGET                                                                              \
  96.0  // runs of the given cost: enough for a quarter of the step in most systems

// "1%", "0.01": a share of the movement.
static bool read_share(yoke_app_advise* app, const char* text) {
  const size_t n = strlen(text);
  const bool is_percent = n > 0 && text[n - 1] == '%';
  char number[64];
  double value = 0;
  snprintf(number, sizeof number, "%.*s", (int)(n - is_percent), text);
  const bool is_number = n < sizeof number && yoke__number_parse(number, &value);
  value = is_percent ? value / 100 : value;
  if (!is_number || !(value > 0 && value < 1)) {
    return yoke__app_error("run",
                           "--within: expected an error such as 1%%, below 100 %%, or one of a "
                           "signal such as arm.s=2e-3, found '%.200s'",
                           text);
  }
  yoke__number_format(value, number);
  if (!yoke__app_advise_set(app, "trust.limit=%s", number)) {
    return false;
  }
  // "wrong" lies above what is still good
  yoke__number_format(2 * value, number);
  return value < YOKE_TRUST_WRONG || yoke__app_advise_set(app, "trust.wrong=%s", number);
}

bool yoke__app_within_read(yoke_app_advise* app, const char* const wishes[], size_t n) {
  yoke_text names = {0};
  bool has_share = false, is_good = true;
  for (size_t i = 0; i < n && is_good; i++) {
    const char* equals = strrchr(wishes[i], '=');
    if (equals == NULL) {
      has_share = true;
      is_good = read_share(app, wishes[i]);
    } else {
      is_good = yoke__app_advise_limit(app, "--within", wishes[i]);
      yoke__text_string(&names, names.n == 0 ? "" : ",");
      yoke__text_append(&names, wishes[i], (size_t)(equals - wishes[i]));
    }
  }
  // who names signals only wants these
  if (is_good && !has_share && names.n > 0) {
    is_good = yoke__app_advise_signals(app, "--within", names.bytes);
  }
  yoke__text_free(&names);
  app->settings.keep = 1;
  app->settings.budget = WITHIN_BUDGET;
  return is_good;
}

static bool is_met(const yoke_advised* s) {
  return s->verdict == YOKE_TRUSTWORTHY;
}

void yoke__app_within_command(const yoke_app_advise* app, yoke_text* to) {
  yoke__text_string(to, app->advice.is_exhausted ? "to search more:" : "to see the whole search:");
  yoke__text_string(to, " ");
  yoke__advise_search_command(&app->settings, to);
  // the same search, or twice as much
  yoke__text_add(to, " --budget %.0f", (app->advice.is_exhausted ? 2 : 1) * WITHIN_BUDGET);
}

void yoke__app_within_print(const yoke_app_advise* app, size_t chosen) {
  const yoke_advised* s = &app->advice.all[chosen];
  char error[YOKE_NUMBER_SIZE], share[YOKE_NUMBER_SIZE], ratio[YOKE_NUMBER_SIZE];
  printf("within: %s", s->name);
  yoke_text sets = {0};
  for (size_t i = 0; i < s->n_sets; i++) {
    yoke__text_string(&sets, " --set");
    yoke__advise_append_word(&sets, s->sets[i]);
  }
  printf("%s%s\n", sets.n > 0 ? ":" : "", sets.n > 0 ? sets.bytes : "");
  yoke__text_free(&sets);
  if (!is_met(s)) {
    yoke_text more = {0};
    yoke__app_within_command(app, &more);
    printf(
        "--within is not met: %s may be off by up to %s%s%s (rms %s %% of its movement), %s times "
        "the allowed error; %s\n",
        s->signal, yoke__number_brief(s->band_max, error), s->dim[0] == '\0' ? "" : " ", s->dim,
        yoke__number_brief(100 * s->relative, share), yoke__number_brief(s->score, ratio),
        more.bytes == NULL ? "" : more.bytes);
    yoke__text_free(&more);
  }
}

void yoke__app_within_json(const yoke_app_advise* app, size_t chosen, const char* summary,
                           yoke_text* to) {
  const yoke_advised* s = &app->advice.all[chosen];
  yoke_json json = {0};
  yoke__json_begin_object(&json, NULL);
  yoke__json_boolean(&json, "met", is_met(s));
  yoke__json_string(&json, "setting", s->name);
  yoke__json_begin_array(&json, "sets");
  for (size_t i = 0; i < s->n_sets; i++) {
    yoke__json_string(&json, NULL, s->sets[i]);
  }
  yoke__json_end_array(&json);
  yoke__json_string(&json, "signal", s->signal == NULL ? "" : s->signal);
  yoke__json_number(&json, "excess", s->score);
  yoke__json_number(&json, "settings_tried", (double)app->advice.n);
  yoke__json_end_object(&json);
  yoke__app_summary_with(summary, "within", &json, to);
  yoke__json_free(&json);
}

// ---- after yoke run

void yoke__app_advise_hint(const yoke_options* options, bool has_foreign, double run_s) {
  yoke_app_advise app = {0};
  size_t n = 0;
  double cost = YOKE_ADVISE_BUDGET + YOKE_ADVISE_AUTO;
  char seconds[YOKE_NUMBER_SIZE];
  if (!yoke__app_advise_open(&app, options, 0) ||
      (!has_foreign && (yoke__advise_count(&app.settings, &n, &cost) < 0 || n == 0))) {
    yoke__app_advise_close(&app);
    return;
  }
  // units that are not ours are not loaded once more to count what applies to them
  n = has_foreign ? yoke__advise_n_recipes() - 1 : n;
  yoke_text command = {0};
  yoke__advise_search_command(&app.settings, &command);
  printf("%s would try %s%zu setting%s, %s %s s\n", command.bytes, has_foreign ? "up to " : "", n,
         yoke__plural(n), has_foreign ? "at most about" : "about",
         yoke__number_brief(cost * run_s, seconds));
  yoke__text_free(&command);
  yoke__app_advise_close(&app);
}

void yoke__app_advise_step_hint(const yoke_options* options) {
  yoke_app_advise app = {0};
  if (yoke__app_advise_open(&app, options, 0)) {
    yoke_text command = {0};
    yoke__advise_search_command(&app.settings, &command);
    printf("the step may be too large: %s\n", command.bytes == NULL ? "" : command.bytes);
    yoke__text_free(&command);
  }
  yoke__app_advise_close(&app);
}
