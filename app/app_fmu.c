// yoke info of an FMU: sections of at most 100 columns.
#include "app/app_fmu.h"

#include <stdio.h>
#include <string.h>

#include "app/app.h"
#include "app/app_fmu_print.h"
#include "app/app_view.h"
#include "base/base_os.h"

#define MAX_ROWS 40  // of a group on a terminal

// What every interface has, as phrases with "; " before them.
#define COMMON                                                                                     \
  "{can_save_state?; state can be saved{can_serialise_state?, also to a file}}"                    \
  "{can_save_state!; state cannot be saved}"                                                       \
  "{directional_derivatives?; directional{adjoint_derivatives? and adjoint} derivatives}"          \
  "{directional_derivatives!{adjoint_derivatives?; adjoint derivatives}"                           \
  "{adjoint_derivatives!; no derivatives}}"                                                        \
  "{only_once_per_process?; one instance per process}"                                             \
  "{needs_execution_tool?; asks for the tool that made it}"

// A line, nothing if there is no text; frees it.
static void print_text(const char* label, yoke_text* text) {
  if (text->n > 0) {
    yoke__app_fmu_put_line(label, text->bytes);
  }
  yoke__text_free(text);
}

static void print_pattern(const char* label, const json_t* object, const char* pattern) {
  yoke_text text = {0};
  yoke__view_write(&text, object, pattern);
  print_text(label, &text);
}

// The same for phrases that have "; " before them.
static void print_phrases(const char* label, yoke_text* phrases) {
  if (phrases->n > 0) {
    yoke__app_fmu_put_line(label, phrases->bytes + 2);
  }
  yoke__text_free(phrases);
}

// ---- who made it

static void write_size(yoke_text* to, double size) {
  if (size == 0) {
    yoke__text_string(to, "an unpacked folder");
  } else if (size < 1000) {
    yoke__text_add(to, "%.0f bytes", size);
  } else {
    yoke__text_add(to, size < 1e6 ? "%.1f kB" : "%.1f MB", size / (size < 1e6 ? 1e3 : 1e6));
  }
}

static void print_head(const json_t* fmu) {
  yoke_text file = {0};
  yoke__app_fmu_put(yoke__view_text(fmu, "name"), 60);
  fputs("  (FMI ", stdout);
  yoke__app_fmu_put(yoke__view_text(fmu, "fmi_version"), 20);
  fputs(")\n", stdout);
  print_pattern("description", fmu, "{description}");
  yoke__view_write(&file, fmu, "{file}, ");
  write_size(&file, (double)yoke__view_count(fmu, "file_size"));
  yoke__view_write(&file, fmu,
                   "{has_resources?, with resources}{has_sources?, with sources}"
                   "{has_documentation?, with documentation}");
  print_text("file", &file);
  print_pattern("made by", fmu, "{tool}{tool?{date?, }}{date}");
  print_pattern("author", fmu, "{author}");
  print_pattern("version", fmu, "{model_version}");
  print_pattern("copyright", fmu, "{copyright}");
  print_pattern("license", fmu, "{license}");
}

// ---- what it can do

static void print_platforms(const json_t* fmu) {
  const json_t* platforms = json_object_get(fmu, "platforms");
  const char* here = yoke__view_text(fmu, "this_platform");
  yoke_text list = {0};
  bool is_here = json_is_string(json_object_get(json_object_get(fmu, "use"), "binary"));
  for (size_t i = 0; i < json_array_size(platforms); i++) {
    const char* one = json_string_value(json_array_get(platforms, i));
    const bool is_this = strcmp(one, here) == 0;
    yoke__text_add(&list, "; %s%s", one, is_this ? " (this machine)" : "");
    is_here |= is_this;
  }
  yoke__view_write(&list, fmu, "{platforms!; none{has_sources?, only sources}}");
  yoke__view_write(&list, fmu, is_here ? "" : "{platforms?; not this machine ({this_platform})}");
  print_phrases("platforms", &list);
}

static void print_interfaces(const json_t* fmu) {
  const json_t* interfaces = json_object_get(fmu, "interfaces");
  const json_t* co_simulation = json_object_get(interfaces, "co_simulation");
  const json_t* model_exchange = json_object_get(interfaces, "model_exchange");
  const json_t* scheduled = json_object_get(interfaces, "scheduled_execution");
  const json_t* experiment = json_object_get(fmu, "experiment");
  const bool has_stop = json_object_get(experiment, "stop") != NULL;
  yoke_text list = {0};
  printf("\nWhat it offers\n");
  print_platforms(fmu);
  if (co_simulation != NULL) {
    yoke__view_write(&list, co_simulation,
                     "{variable_step?; steps of variable length}"
                     "{variable_step!; all steps of one length}"
                     "{fixed_internal_step?; internal step {fixed_internal_step} s}" COMMON
                     "{input_derivatives?; takes derivatives of inputs}"
                     "{output_derivative_order?; derivatives of outputs up to order "
                     "{output_derivative_order}}"
                     "{event_mode?; event mode}"
                     "{might_return_early?; may return early from a step}"
                     "{intermediate_update?; intermediate updates}"
                     "{in_background?; can run in the background}");
    print_phrases("co-simulation", &list);
  }
  if (model_exchange != NULL) {
    yoke__view_write(&list, fmu,
                     "{states} continuous state{states#}, "
                     "{event_indicators} event indicator{event_indicators#}");
    yoke__view_write(&list, model_exchange, COMMON);
    print_text("model exchange", &list);
  }
  if (scheduled != NULL) {
    yoke__view_write(&list, scheduled, COMMON);
    print_phrases("scheduled ex.", &list);
  }
  yoke__view_write(&list, experiment,
                   has_stop ? "; {start?{start}}{start!0} s to {stop} s"
                            : "{start@; from {start} s}");
  yoke__view_write(&list, experiment, "{step@; step {step} s}{tolerance@; tolerance {tolerance}}");
  print_phrases("experiment", &list);
}

// ---- what a run uses

static void print_obstacles(const json_t* use) {
  const json_t* missing = json_object_get(use, "missing_libraries");
  const size_t n = json_array_size(missing);
  yoke_text list = {0};
  print_pattern("cannot be run", use, "{obstacle}");
  for (size_t i = 0; i < n; i++) {
    yoke__text_add(&list, "%s%s", i == 0 ? "it needs " : "; ",
                   json_string_value(json_array_get(missing, i)));
  }
  yoke__text_string(&list, n > 0 ? ", which this machine lacks" : "");
  print_text("cannot be run", &list);
}

static void print_step_use(const json_t* fmu, const json_t* i, bool is_model_exchange) {
  if (is_model_exchange) {
    print_pattern("solver", json_object_get(fmu, "experiment"),
                  "dopri5, and cvode once the model proves to be stiff, with the tolerance "
                  "{tolerance@{tolerance} of its experiment}{tolerance!1e-6}"
                  " (fixed steps: rk4, euler, trapezoidal)");
  } else {
    print_pattern("step", i,
                  "{fixed_internal_step?should be a multiple of {fixed_internal_step} s}"
                  "{fixed_internal_step!any{variable_step!, but always the same}}");
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

#define NO_ROLLBACK "{rollback!no: it runs in schemes that never repeat a step}"

static void print_use(const json_t* fmu) {
  const json_t* use = json_object_get(fmu, "use");
  const json_t* interfaces = json_object_get(fmu, "interfaces");
  const json_t* i = json_object_get(interfaces, "co_simulation");
  const bool is_model_exchange = strcmp(yoke__view_text(use, "interface"), "model exchange") == 0;
  const bool is_scheduled = strcmp(yoke__view_text(use, "interface"), "scheduled execution") == 0;
  i = is_model_exchange ? json_object_get(interfaces, "model_exchange")
      : is_scheduled    ? json_object_get(interfaces, "scheduled_execution")
                        : i;
  printf("\nWhat Yoke uses\n");
  print_obstacles(use);
  if (i == NULL) {
    return;
  }
  print_pattern("interface", use, "{interface}{binary?, {binary}}");
  if (is_scheduled) {
    print_pattern("step", i, "any: model partitions run at the ticks of their clocks");
  } else {
    print_step_use(fmu, i, is_model_exchange);
  }
  print_pattern("rollback", use,
                is_iterable(fmu)
                    ? "{rollback?yes: iterative schemes can repeat its steps}" NO_ROLLBACK
                    : "{rollback?yes: iterative schemes can repeat its steps; outputs that depend "
                      "directly on inputs (below) are "
                      "{directional_derivatives?corrected by its derivatives}"
                      "{directional_derivatives!{trial_steps?read again by trial steps}"
                      "{trial_steps!of the last call, which leaves the schemes of first "
                      "order}}}" NO_ROLLBACK);
  print_pattern("exchange", use,
                is_iterable(fmu) ? "stale or fresh"
                                 : "stale{trial_steps? or fresh, by trial steps}"
                                   "{trial_steps!; fresh {has_both?with interface: model-exchange}"
                                   "{has_both!is not possible}}");
  print_pattern("derivatives", use,
                "{directional_derivatives?its own}{directional_derivatives!none}");
  print_pattern("events", use,
                is_model_exchange ? "state and time events are located"
                : is_scheduled    ? "clock ticks"
                                  : "{event_mode?event mode}{event_mode!none}");
  print_pattern("isolation", i,
                "{only_once_per_process?'isolate: process' is needed to use it more than once; it "
                "also keeps a crash out of the run}"
                "{only_once_per_process!not needed; 'isolate: process' keeps a crash of its binary "
                "out of the run}");
}

// ---- clocks

static void print_clocks(const yoke_fmu_printer* p) {
  const json_t* clocks = json_object_get(p->fmu, "clocks");
  const size_t n = json_array_size(clocks);
  if (n > 0) {
    printf("\nClocks (%zu)\n", n);
  }
  for (size_t i = 0; i < n && i < p->max_rows; i++) {
    const json_t* clock = json_array_get(clocks, i);
    const json_t* variables = json_object_get(clock, "variables");
    yoke_text list = {0};
    yoke__view_write(&list, clock,
                     "{causality}, {ticks}{interval?, every {interval} s}"
                     "{shift?, {shift} s late}{priority@, priority {priority}}");
    for (size_t j = 0; j < json_array_size(variables) && list.n + 200 < YOKE_FMU_LINE_SIZE; j++) {
      yoke__text_add(&list, "%s%s", j == 0 ? "; " : ", ",
                     json_string_value(json_array_get(variables, j)));
    }
    yoke__app_fmu_put_line(yoke__view_text(clock, "name"), list.n == 0 ? "" : list.bytes);
    yoke__text_free(&list);
  }
  if (n > p->max_rows) {
    printf("  ... and %zu more (--all shows them)\n", n - p->max_rows);
  }
}

// ---- structure

static void print_dependencies(const json_t* output) {
  const json_t* inputs = json_object_get(output, "inputs");
  printf("  ");
  size_t column = 5 + yoke__app_fmu_put(yoke__view_text(output, "output"), YOKE_FMU_LINE_SIZE);
  printf(" <-%s", inputs == NULL ? " all inputs (not declared)" : "");
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
    const json_t* m = NULL;
    yoke_text list = {0};
    size_t j = 0;
    yoke__view_write(&list, t, "{matching_rule}{kind?, {kind}}{inside@, inside another}");
    json_array_foreach(json_object_get(t, "members"), j, m) {
      const char *member = yoke__view_text(m, "member"), *variable = yoke__view_text(m, "variable");
      const bool is_same = member[0] == '\0' || strcmp(member, variable) == 0;
      if (list.n + 200 < YOKE_FMU_LINE_SIZE) {
        yoke__view_write(&list, m,
                         is_same ? "; {variable} ({kind})" : "; {member} = {variable} ({kind})");
      }
    }
    yoke__app_fmu_put_line(yoke__view_text(t, "name"), list.n == 0 ? "" : list.bytes);
    yoke__text_free(&list);
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
        if (at > 0) {
          snprintf(label, sizeof label, "line %lld", at);
        }
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
  print_clocks(&p);
  print_feedthrough(&p);
  print_terminals(&p);
  print_messages(fmu);
}
