// yoke info of an FMU: sections of at most 100 columns.
#include "app/app_fmu.h"

#include <stdio.h>
#include <string.h>

#include "app/app.h"
#include "app/app_fmu_print.h"
#include "app/app_view.h"
#include "base/base_check.h"
#include "base/base_os.h"

#define MAX_ROWS 40  // of a group on a terminal

// A phrase for a member that is true, and for one that is not (NULL: none).
typedef struct phrase {
  const char *key, *yes, *no;
} phrase;

static void say_phrases(yoke_fmu_phrases* list, const json_t* object, const phrase phrases[],
                        size_t n) {
  for (size_t i = 0; i < n; i++) {
    const char* text = yoke__view_is(object, phrases[i].key) ? phrases[i].yes : phrases[i].no;
    if (text != NULL) {
      yoke__app_fmu_say(list, "%s", text);
    }
  }
}

static void put_if(const char* label, const char* text) {
  if (text[0] != '\0') {
    yoke__app_fmu_put_line(label, text);
  }
}

// ---- who made it

static const char* size_text(double size, char* to, size_t n) {
  if (size < 1000) {
    snprintf(to, n, "%.0f bytes", size);
  } else {
    snprintf(to, n, size < 1e6 ? "%.1f kB" : "%.1f MB", size / (size < 1e6 ? 1e3 : 1e6));
  }
  return size == 0 ? "an unpacked folder" : to;
}

static void print_head(const json_t* fmu) {
  static const char* const labels[][2] = {{"author", "author"},
                                          {"version", "model_version"},
                                          {"copyright", "copyright"},
                                          {"license", "license"}};
  char text[YOKE_FMU_LINE_SIZE], size[32];
  const char *tool = yoke__view_text(fmu, "tool"), *date = yoke__view_text(fmu, "date");
  yoke__app_fmu_put(yoke__view_text(fmu, "name"), 60);
  fputs("  (FMI ", stdout);
  yoke__app_fmu_put(yoke__view_text(fmu, "fmi_version"), 20);
  fputs(")\n", stdout);
  put_if("description", yoke__view_text(fmu, "description"));
  snprintf(text, sizeof text, "%.1500s, %s%s%s%s", yoke__view_text(fmu, "file"),
           size_text((double)yoke__view_count(fmu, "file_size"), size, sizeof size),
           yoke__view_is(fmu, "has_resources") ? ", with resources" : "",
           yoke__view_is(fmu, "has_sources") ? ", with sources" : "",
           yoke__view_is(fmu, "has_documentation") ? ", with documentation" : "");
  yoke__app_fmu_put_line("file", text);
  snprintf(text, sizeof text, "%.900s%s%.100s", tool,
           tool[0] == '\0' || date[0] == '\0' ? "" : ", ", date);
  put_if("made by", text);
  for (size_t i = 0; i < YOKE_COUNT(labels); i++) {
    put_if(labels[i][0], yoke__view_text(fmu, labels[i][1]));
  }
}

static void print_platforms(const json_t* fmu) {
  const json_t* platforms = json_object_get(fmu, "platforms");
  const char* here = yoke__view_text(fmu, "this_platform");
  yoke_fmu_phrases list = {.n = 0};
  bool is_here = json_is_string(json_object_get(json_object_get(fmu, "use"), "binary"));
  for (size_t i = 0; i < json_array_size(platforms); i++) {
    const char* one = json_string_value(json_array_get(platforms, i));
    const bool is_this = strcmp(one, here) == 0;
    yoke__app_fmu_say(&list, "%.100s%s", one, is_this ? " (this machine)" : "");
    is_here |= is_this;
  }
  if (list.n == 0) {
    yoke__app_fmu_say(&list, "%s",
                      yoke__view_is(fmu, "has_sources") ? "none, only sources" : "none");
  } else if (!is_here) {
    yoke__app_fmu_say(&list, "not this machine (%.80s)", here);
  }
  yoke__app_fmu_put_line("platforms", list.text);
}

static void print_experiment(const json_t* e) {
  const bool has_start = json_object_get(e, "start") != NULL;
  yoke_fmu_phrases list = {.n = 0};
  if (json_object_get(e, "stop") != NULL) {
    yoke__app_fmu_say(&list, "%s s to %s s", has_start ? yoke__view_number(e, "start").chars : "0",
                      yoke__view_number(e, "stop").chars);
  } else if (has_start) {
    yoke__app_fmu_say(&list, "from %s s", yoke__view_number(e, "start").chars);
  }
  if (json_object_get(e, "step") != NULL) {
    yoke__app_fmu_say(&list, "step %s s", yoke__view_number(e, "step").chars);
  }
  if (json_object_get(e, "tolerance") != NULL) {
    yoke__app_fmu_say(&list, "tolerance %s", yoke__view_number(e, "tolerance").chars);
  }
  put_if("experiment", list.text);
}

// ---- what it can do

static void say_common(yoke_fmu_phrases* list, const json_t* i) {
  static const phrase common[] = {
      {"only_once_per_process", "one instance per process", NULL},
      {"needs_execution_tool", "asks for the tool that made it", NULL},
  };
  const bool is_saved = yoke__view_is(i, "can_save_state");
  const bool has_directional = yoke__view_is(i, "directional_derivatives");
  const bool has_adjoint = yoke__view_is(i, "adjoint_derivatives");
  yoke__app_fmu_say(list, "%s",
                    !is_saved                                 ? "state cannot be saved"
                    : yoke__view_is(i, "can_serialise_state") ? "state can be saved, also to a file"
                                                              : "state can be saved");
  yoke__app_fmu_say(list, "%s",
                    has_directional && has_adjoint ? "directional and adjoint derivatives"
                    : has_directional              ? "directional derivatives"
                    : has_adjoint                  ? "adjoint derivatives"
                                                   : "no derivatives");
  say_phrases(list, i, common, YOKE_COUNT(common));
}

static bool has_internal_step(const json_t* i) {
  return yoke__json_find_number(i, "fixed_internal_step", 0) > 0;
}

static void print_co_simulation(const json_t* i) {
  static const phrase steps[] = {
      {"variable_step", "steps of variable length", "all steps of one length"},
  };
  static const phrase inputs[] = {{"input_derivatives", "takes derivatives of inputs", NULL}};
  static const phrase others[] = {
      {"event_mode", "event mode", NULL},
      {"might_return_early", "may return early from a step", NULL},
      {"intermediate_update", "intermediate updates", NULL},
      {"in_background", "can run in the background", NULL},
  };
  const long long order = yoke__view_count(i, "output_derivative_order");
  yoke_fmu_phrases list = {.n = 0};
  say_phrases(&list, i, steps, YOKE_COUNT(steps));
  if (has_internal_step(i)) {
    yoke__app_fmu_say(&list, "internal step %s s",
                      yoke__view_number(i, "fixed_internal_step").chars);
  }
  say_common(&list, i);
  say_phrases(&list, i, inputs, YOKE_COUNT(inputs));
  if (order > 0) {
    yoke__app_fmu_say(&list, "derivatives of outputs up to order %lld", order);
  }
  say_phrases(&list, i, others, YOKE_COUNT(others));
  yoke__app_fmu_put_line("co-simulation", list.text);
}

static void print_interfaces(const json_t* fmu) {
  const json_t* interfaces = json_object_get(fmu, "interfaces");
  const json_t* co_simulation = json_object_get(interfaces, "co_simulation");
  const json_t* model_exchange = json_object_get(interfaces, "model_exchange");
  const json_t* scheduled = json_object_get(interfaces, "scheduled_execution");
  printf("\nWhat it offers\n");
  print_platforms(fmu);
  if (co_simulation != NULL) {
    print_co_simulation(co_simulation);
  }
  if (model_exchange != NULL) {
    const long long n_states = yoke__view_count(fmu, "states"),
                    n_indicators = yoke__view_count(fmu, "event_indicators");
    yoke_fmu_phrases list = {.n = 0};
    yoke__app_fmu_say(&list, "%lld continuous state%s, %lld event indicator%s", n_states,
                      yoke__plural((uint64_t)n_states), n_indicators,
                      yoke__plural((uint64_t)n_indicators));
    say_common(&list, model_exchange);
    yoke__app_fmu_put_line("model exchange", list.text);
  }
  if (scheduled != NULL) {
    yoke_fmu_phrases list = {.n = 0};
    say_common(&list, scheduled);
    yoke__app_fmu_put_line("scheduled ex.", list.text);
  }
  print_experiment(json_object_get(fmu, "experiment"));
}

// ---- what a run uses

static void print_obstacles(const json_t* use) {
  const json_t* missing = json_object_get(use, "missing_libraries");
  yoke_fmu_phrases list = {.n = 0};
  put_if("cannot be run", yoke__view_text(use, "obstacle"));
  for (size_t i = 0; i < json_array_size(missing); i++) {
    yoke__app_fmu_say(&list, "%s", json_string_value(json_array_get(missing, i)));
  }
  if (list.n > 0) {
    char text[YOKE_FMU_LINE_SIZE];
    snprintf(text, sizeof text, "it needs %.1900s, which this machine lacks", list.text);
    yoke__app_fmu_put_line("cannot be run", text);
  }
}

static void print_step_use(const json_t* fmu, const json_t* i, bool is_model_exchange) {
  const json_t* experiment = json_object_get(fmu, "experiment");
  const bool has_step = json_object_get(experiment, "step") != NULL;
  char text[256];
  if (is_model_exchange) {
    snprintf(text, sizeof text, "rk4 with %s%s (other solvers: euler, trapezoidal, cvode)",
             has_step ? "the step of its experiment, " : "a tenth of the unit's step",
             has_step ? yoke__view_number(experiment, "step").chars : "");
    yoke__app_fmu_put_line("solver", text);
  } else if (has_internal_step(i)) {
    snprintf(text, sizeof text, "should be a multiple of %s s",
             yoke__view_number(i, "fixed_internal_step").chars);
    yoke__app_fmu_put_line("step", text);
  } else {
    yoke__app_fmu_put_line("step",
                           yoke__view_is(i, "variable_step") ? "any" : "any, but always the same");
  }
}

// The outputs that depend on inputs, or may.
static bool has_feedthrough(const json_t* output) {
  return !yoke__view_is(output, "is_known") ||
         json_array_size(json_object_get(output, "inputs")) > 0;
}

static bool has_inputs(const json_t* fmu) {
  size_t i = 0;
  const json_t* v = NULL;
  json_array_foreach(json_object_get(fmu, "variables"), i, v) {
    if (strcmp(yoke__view_text(v, "causality"), "input") == 0) {
      return true;
    }
  }
  return false;
}

// Can its outputs be read again with other inputs, where they depend on them? Co-simulation without event mode cannot.
static bool is_iterable(const json_t* fmu) {
  size_t i = 0;
  const json_t* output = NULL;
  bool is_free = true;
  json_array_foreach(json_object_get(fmu, "feedthrough"), i, output) {
    is_free = is_free && !has_feedthrough(output);
  }
  return is_free || !has_inputs(fmu) || yoke__view_is(json_object_get(fmu, "use"), "event_mode");
}

static void print_use(const json_t* fmu) {
  const json_t* use = json_object_get(fmu, "use");
  const json_t* interfaces = json_object_get(fmu, "interfaces");
  const json_t* i = json_object_get(interfaces, "co_simulation");
  const bool is_model_exchange = i == NULL;
  i = is_model_exchange ? json_object_get(interfaces, "model_exchange") : i;
  printf("\nWhat Yoke uses\n");
  print_obstacles(use);
  if (i == NULL) {
    return;
  }
  const char* binary = yoke__view_text(use, "binary");
  char text[YOKE_FMU_LINE_SIZE];
  snprintf(text, sizeof text, "%s%s%.1500s", yoke__view_text(use, "interface"),
           binary[0] == '\0' ? "" : ", ", binary);
  yoke__app_fmu_put_line("interface", text);
  print_step_use(fmu, i, is_model_exchange);
  yoke__app_fmu_put_line(
      "rollback",
      !yoke__view_is(use, "rollback") ? "no: it runs in schemes that never repeat a step"
      : is_iterable(fmu)              ? "yes: iterative schemes can repeat its steps"
                         : "yes, but iterative schemes need more: outputs that depend directly "
                           "on inputs (below) cannot be read again without a step");
  yoke__app_fmu_put_line("derivatives",
                         yoke__view_is(use, "directional_derivatives") ? "its own" : "none");
  yoke__app_fmu_put_line("events", is_model_exchange ? "state and time events are located"
                                   : yoke__view_is(use, "event_mode") ? "event mode"
                                                                      : "none");
  yoke__app_fmu_put_line("isolation",
                         yoke__view_is(i, "only_once_per_process")
                             ? "'isolate: process' is needed to use it more than once; it also "
                               "keeps a crash out of the run"
                             : "not needed; 'isolate: process' keeps a crash of its binary out of "
                               "the run");
}

// ---- structure

static void print_dependencies(const json_t* output) {
  const json_t* inputs = json_object_get(output, "inputs");
  printf("  ");
  size_t column = 5 + yoke__app_fmu_put(yoke__view_text(output, "output"), YOKE_FMU_LINE_SIZE);
  printf(" <-%s", inputs == NULL ? " all inputs (not said)" : "");
  for (size_t i = 0; i < json_array_size(inputs); i++) {
    const char* name = json_string_value(json_array_get(inputs, i));
    printf("%s", i == 0 ? "" : ",");
    if (i > 0 && column + yoke__app_fmu_width(name) + 2 > YOKE_FMU_WIDTH) {
      printf("\n     ");
      column = 5;
    }
    fputc(' ', stdout);
    column += 2 + yoke__app_fmu_put(name, YOKE_FMU_LINE_SIZE);
  }
  fputc('\n', stdout);
}

static void print_feedthrough(const yoke_fmu_printer* p) {
  const json_t* outputs = json_object_get(p->fmu, "feedthrough");
  const size_t n = json_array_size(outputs);
  size_t n_shown = 0, n_none = 0;
  if (n == 0 || !has_inputs(p->fmu)) {
    return;
  }
  printf("\nFeedthrough\n");
  for (size_t i = 0; i < n; i++) {
    const json_t* output = json_array_get(outputs, i);
    if (!has_feedthrough(output)) {
      n_none++;
    } else if (n_shown++ < p->max_rows) {
      print_dependencies(output);
    }
  }
  if (n_shown > p->max_rows) {
    printf("  ... and %zu more (--all shows them)\n", n_shown - p->max_rows);
  }
  if (n_none == n) {
    printf("  none\n");
  } else if (n_none > 0) {
    printf("  none for the other %zu output%s\n", n_none, yoke__plural(n_none));
  }
}

static void print_terminals(const yoke_fmu_printer* p) {
  const json_t* terminals = json_object_get(p->fmu, "terminals");
  const size_t n = json_array_size(terminals);
  if (n > 0) {
    printf("\nTerminals (%zu)\n", n);
  }
  for (size_t i = 0; i < n && i < p->max_rows; i++) {
    const json_t* t = json_array_get(terminals, i);
    const char* kind = yoke__view_text(t, "kind");
    yoke_fmu_phrases list = {.n = 0};
    size_t j = 0;
    const json_t* m = NULL;
    yoke__app_fmu_say(&list, "%.60s%s%.60s%s", yoke__view_text(t, "matching_rule"),
                      kind[0] == '\0' ? "" : ", ", kind,
                      json_object_get(t, "inside") == NULL ? "" : ", inside another");
    json_array_foreach(json_object_get(t, "members"), j, m) {
      const char *member = yoke__view_text(m, "member"), *variable = yoke__view_text(m, "variable");
      const bool is_same = member[0] == '\0' || strcmp(member, variable) == 0;
      if (list.n + 200 < sizeof list.text) {
        yoke__app_fmu_say(&list, "%.60s%s%.60s (%.30s)", is_same ? "" : member,
                          is_same ? "" : " = ", variable, yoke__view_text(m, "kind"));
      }
    }
    yoke__app_fmu_put_line(yoke__view_text(t, "name"), list.text);
  }
}

// ---- messages

// In the order of the lines; there are at most as many as there are rules.
static void print_messages(const json_t* fmu) {
  const json_t* messages = json_object_get(fmu, "messages");
  const size_t n = json_array_size(messages);
  if (n > 0) {
    printf("\nRemarks about the file\n");
  }
  for (long long line = n > 0 ? 0 : -1; line >= 0;) {
    long long next = -1;
    for (size_t i = 0; i < n; i++) {
      const json_t* m = json_array_get(messages, i);
      const long long at = yoke__view_count(m, "line");
      char label[32] = "", text[YOKE_FMU_LINE_SIZE];
      if (at == line) {
        snprintf(label, sizeof label, at > 0 ? "line %lld" : "", at);
        snprintf(text, sizeof text, "%s: %s", yoke__view_text(m, "severity"),
                 yoke__view_text(m, "text"));
        yoke__app_fmu_put_line(label, text);
      }
      next = at > line && (next < 0 || at < next) ? at : next;
    }
    line = next;
  }
}

void yoke__app_print_fmu(const json_t* fmu, bool is_all) {
  const bool is_cut = !is_all && yoke__os_is_terminal(stdout);
  const yoke_fmu_printer p = {fmu, is_all, is_cut ? MAX_ROWS : (size_t)-1};
  print_head(fmu);
  print_interfaces(fmu);
  print_use(fmu);
  yoke__app_fmu_print_variables(&p);
  print_feedthrough(&p);
  print_terminals(&p);
  print_messages(fmu);
}
