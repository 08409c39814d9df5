// Advice for shells and programs.
#include <math.h>
#include <string.h>

#include "base/base_text.h"
#include "study/study_advise.h"

void yoke__advise_append_word(yoke_text* to, const char* word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "@%_+=:,./-";
  yoke__text_string(to, " ");
  if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
    yoke__text_string(to, word);
    return;
  }
  yoke__text_string(to, "'");
  for (const char* at = word; *at != '\0';) {
    const size_t n = strcspn(at, "'");
    yoke__text_append(to, at, n);
    at += n;
    if (*at == '\'') {
      yoke__text_string(to, "'\\''");
      at++;
    }
  }
  yoke__text_string(to, "'");
}

void yoke__advise_append_path(yoke_text* to, const char* path) {
  if (path[0] != '-') {
    yoke__advise_append_word(to, path);
    return;
  }
  yoke_text whole = {0};
  yoke__text_add(&whole, "./%s", path);
  yoke__advise_append_word(to, whole.bytes == NULL ? path : whole.bytes);
  yoke__text_free(&whole);
}

void yoke__advise_search_command(const yoke_advise_settings* settings, yoke_text* to) {
  yoke__text_string(to, "yoke advise");
  yoke__advise_append_path(to, settings->path);
  for (size_t i = 0; i < settings->n_sets; i++) {
    yoke__text_string(to, " --set");
    yoke__advise_append_word(to, settings->sets[i]);
  }
}

void yoke__advise_command(const yoke_advise_settings* settings, const yoke_advised* setting,
                          yoke_text* to) {
  yoke_arena arena = {0};
  size_t n = 0;
  const char** sets = yoke__advise_sets(settings, setting, &arena, &n);
  if (sets == NULL) {
    to->status = YOKE_NO_MEMORY;
  }
  yoke__text_string(to, "yoke run");
  yoke__advise_append_path(to, settings->path);
  for (size_t i = 0; sets != NULL && i < n; i++) {
    yoke__text_string(to, " --set");
    yoke__advise_append_word(to, sets[i]);
  }
  if (setting->mode == YOKE_TRUST_CHEAP || setting->mode == YOKE_TRUST_HALF) {
    yoke__text_add(to, " --trust %s", setting->mode == YOKE_TRUST_CHEAP ? "cheap" : "half");
  }
  yoke__arena_free(&arena);
}

// Half a command is worse than none.
static void json_command(const yoke_text* command, yoke_json* json) {
  yoke__json_string(json, "command", command->bytes == NULL ? "" : command->bytes);
  if (command->status < 0 && json->text.status >= 0) {
    json->text.status = command->status;
  }
}

static void json_setting(const yoke_advise_settings* settings, const yoke_advice* advice, size_t i,
                         yoke_json* json) {
  static const char* const modes[] = {
      [YOKE_TRUST_BOTH] = "both", [YOKE_TRUST_CHEAP] = "cheap", [YOKE_TRUST_HALF] = "half"};
  const yoke_advised* s = &advice->all[i];
  const bool is_run = s->status == YOKE_ADVISED_JUDGED || s->status == YOKE_ADVISED_BOUNDED;
  yoke_text command = {0};
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "name", s->name);
  yoke__json_boolean(json, "given", i == 0);
  yoke__json_boolean(json, "chosen", i == advice->chosen);
  yoke__json_string(json, "status", yoke__advised_status_names[s->status]);
  yoke__json_number(json, "step", s->step);
  yoke__json_begin_array(json, "sets");
  for (size_t k = 0; k < s->n_sets; k++) {
    yoke__json_string(json, NULL, s->sets[k]);
  }
  yoke__json_end_array(json);
  yoke__advise_command(settings, s, &command);
  json_command(&command, json);
  yoke__json_string(json, "trust", modes[s->mode] == NULL ? "both" : modes[s->mode]);
  if (is_run && s->signal != NULL) {
    yoke__json_string(json, "signal", s->signal);
    yoke__json_string(json, "unit", s->dim);
    yoke__json_number(json, "score", s->score);
    yoke__json_number(json, "band", s->band);
    yoke__json_number(json, "band_max", s->band_max);
    yoke__json_number(json, "relative", s->relative);
    yoke__json_string(json, "verdict", yoke_verdict_text(s->verdict));
  }
  yoke__json_string(json, "reason", s->reason);
  yoke__json_number(json, "cost", s->cost);
  yoke__json_end_object(json);
  yoke__text_free(&command);
}

void yoke__advise_json(const yoke_advise_settings* settings, const yoke_advice* advice,
                       yoke_json* json) {
  yoke__json_begin_document(json, "advice");
  yoke__json_string(json, "system", settings->path);
  yoke__json_string(json, "text", advice->text);
  yoke__json_number(json, "spent", advice->spent);
  yoke__json_boolean(json, "exhausted", advice->is_exhausted);
  yoke__json_boolean(json, "over_budget", advice->is_over);
  yoke_text command = {0};
  if (advice->chosen < advice->n) {
    yoke__advise_command(settings, &advice->all[advice->chosen], &command);
  }
  json_command(&command, json);
  yoke__text_free(&command);
  yoke__json_begin_array(json, "settings");
  for (size_t i = 0; i < advice->n; i++) {
    json_setting(settings, advice, i, json);
  }
  yoke__json_end_array(json);
  yoke__json_end_object(json);
}
