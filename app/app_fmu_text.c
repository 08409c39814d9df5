// What yoke info says about an FMU, for people: sections of at most 100 columns.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/app_fmu_print.h"
#include "base/base_number.h"
#include "base/base_os.h"

#define MAX_ROWS 40  // of a group on a terminal

// ---- small parts

static void put_if(const char* label, const char* text) {
  if (text[0] != '\0') {
    yoke__app_fmu_put_line(label, text);
  }
}

static void say_if(yoke_fmu_phrases* p, bool is_so, const char* text) {
  if (is_so) {
    yoke__app_fmu_say(p, text);
  }
}

static const char* number(double x, char to[YOKE_NUMBER_SIZE]) {
  yoke__number_format(x, to);
  return to;
}

// ---- who made it

static void put_size(uint64_t size, char* to, size_t n) {
  if (size < 1000) {
    snprintf(to, n, "%" PRIu64 " bytes", size);
  } else if (size < 1000000) {
    snprintf(to, n, "%.1f kB", (double)size / 1e3);
  } else {
    snprintf(to, n, "%.1f MB", (double)size / 1e6);
  }
}

static void print_head(const yoke_fmu_printer* p) {
  const yoke_fmi_description* d = p->view->d;
  const yoke_fmi_package* package = p->view->package;
  char text[YOKE_FMU_LINE_SIZE], size[32];
  yoke__app_fmu_put(d->model_name, 60);
  fputs("  (FMI ", stdout);
  yoke__app_fmu_put(d->version_text, 20);
  fputs(")\n", stdout);
  put_if("description", d->description);
  put_size(package->file_size, size, sizeof size);
  snprintf(text, sizeof text, "%.1500s, %s%s%s%s", package->path,
           package->file_size == 0 ? "an unpacked folder" : size,
           package->has_resources ? ", with resources" : "",
           package->has_sources ? ", with sources" : "",
           package->has_documentation ? ", with documentation" : "");
  yoke__app_fmu_put_line("file", text);
  snprintf(text, sizeof text, "%.900s%s%.100s", d->generation_tool,
           d->generation_tool[0] == '\0' || d->generation_date[0] == '\0' ? "" : ", ",
           d->generation_date);
  put_if("made by", text);
  put_if("author", d->author);
  put_if("version", d->model_version);
  put_if("copyright", d->copyright);
  put_if("license", d->license);
}

static void print_platforms(const yoke_fmu_printer* p) {
  const yoke_fmi_package* package = p->view->package;
  yoke_fmu_phrases list = {.n = 0};
  const char* here = yoke__fmi_platform(p->view->d->version);
  bool is_here = false;
  for (size_t i = 0; i < package->n_platforms; i++) {
    char one[160];
    const bool is_this = strcmp(package->platforms[i], here) == 0;
    snprintf(one, sizeof one, "%.100s%s", package->platforms[i], is_this ? " (this machine)" : "");
    yoke__app_fmu_say(&list, one);
    is_here |= is_this;
  }
  if (package->n_platforms == 0) {
    yoke__app_fmu_say(&list, package->has_sources ? "none, only sources" : "none");
  } else if (!is_here && p->view->binary == NULL) {
    char one[100];
    snprintf(one, sizeof one, "not this machine (%s)", here);
    yoke__app_fmu_say(&list, one);
  }
  yoke__app_fmu_put_line("platforms", list.text);
}

static void print_experiment(const yoke_fmu_printer* p) {
  const yoke_fmi_experiment* e = &p->view->d->experiment;
  yoke_fmu_phrases list = {.n = 0};
  char a[YOKE_NUMBER_SIZE], b[YOKE_NUMBER_SIZE], text[128];
  if (e->has_start || e->has_stop) {
    snprintf(text, sizeof text, e->has_stop ? "%s s to %s s" : "from %s s",
             e->has_start ? number(e->start, a) : "0", e->has_stop ? number(e->stop, b) : "");
    yoke__app_fmu_say(&list, text);
  }
  if (e->has_step) {
    snprintf(text, sizeof text, "step %s s", number(e->step, a));
    yoke__app_fmu_say(&list, text);
  }
  if (e->has_tolerance) {
    snprintf(text, sizeof text, "tolerance %s", number(e->tolerance, a));
    yoke__app_fmu_say(&list, text);
  }
  put_if("experiment", list.text);
}

// ---- what it can do

static void say_common(yoke_fmu_phrases* list, const yoke_fmi_interface* i) {
  yoke__app_fmu_say(list, i->can_serialise_state && i->can_get_and_set_state
                              ? "state can be saved, also to a file"
                          : i->can_get_and_set_state ? "state can be saved"
                                                     : "state cannot be saved");
  yoke__app_fmu_say(list, i->has_directional_derivatives && i->has_adjoint_derivatives
                              ? "directional and adjoint derivatives"
                          : i->has_directional_derivatives ? "directional derivatives"
                          : i->has_adjoint_derivatives     ? "adjoint derivatives"
                                                           : "no derivatives");
  say_if(list, i->can_be_instantiated_only_once, "one instance per process");
  say_if(list, i->needs_execution_tool, "asks for the tool that made it");
}

static void print_co_simulation(const yoke_fmi_interface* i) {
  yoke_fmu_phrases list = {.n = 0};
  char text[128], a[YOKE_NUMBER_SIZE];
  yoke__app_fmu_say(&list, i->can_handle_variable_step ? "steps of variable length"
                                                       : "all steps of one length");
  if (i->fixed_internal_step > 0) {
    snprintf(text, sizeof text, "internal step %s s", number(i->fixed_internal_step, a));
    yoke__app_fmu_say(&list, text);
  }
  say_common(&list, i);
  say_if(&list, i->can_interpolate_inputs, "takes derivatives of inputs");
  if (i->max_output_derivative_order > 0) {
    snprintf(text, sizeof text, "derivatives of outputs up to order %d",
             i->max_output_derivative_order);
    yoke__app_fmu_say(&list, text);
  }
  say_if(&list, i->has_event_mode, "event mode");
  say_if(&list, i->might_return_early, "may return early from a step");
  say_if(&list, i->has_intermediate_update, "intermediate updates");
  say_if(&list, i->can_run_asynchronously, "can run in the background");
  yoke__app_fmu_put_line("co-simulation", list.text);
}

static void print_model_exchange(const yoke_fmu_printer* p, const yoke_fmi_interface* i) {
  yoke_fmu_phrases list = {.n = 0};
  char text[128];
  snprintf(text, sizeof text, "%zu continuous state%s, %zu event indicator%s", p->view->n_states,
           p->view->n_states == 1 ? "" : "s", p->view->d->n_event_indicators,
           p->view->d->n_event_indicators == 1 ? "" : "s");
  yoke__app_fmu_say(&list, text);
  say_common(&list, i);
  yoke__app_fmu_put_line("model exchange", list.text);
}

static void print_interfaces(const yoke_fmu_printer* p) {
  const yoke_fmi_description* d = p->view->d;
  printf("\nWhat it offers\n");
  print_platforms(p);
  if (d->co_simulation.is_given) {
    print_co_simulation(&d->co_simulation);
  }
  if (d->model_exchange.is_given) {
    print_model_exchange(p, &d->model_exchange);
  }
  if (d->scheduled_execution.is_given) {
    yoke_fmu_phrases list = {.n = 0};
    say_common(&list, &d->scheduled_execution);
    yoke__app_fmu_put_line("scheduled ex.", list.text);
  }
  print_experiment(p);
}

// ---- what a run uses

static void print_obstacles(const yoke_fmu_printer* p) {
  const yoke_fmu_view* view = p->view;
  if (view->obstacle[0] != '\0') {
    yoke__app_fmu_put_line("cannot be run", view->obstacle);
  }
  if (view->n_missing > 0) {
    yoke_fmu_phrases list = {.n = 0};
    for (size_t i = 0; i < view->n_missing; i++) {
      yoke__app_fmu_say(&list, view->missing[i]);
    }
    char text[YOKE_FMU_LINE_SIZE];
    snprintf(text, sizeof text, "it needs %.1900s, which this machine lacks", list.text);
    yoke__app_fmu_put_line("cannot be run", text);
  }
}

static void print_step_use(const yoke_fmu_printer* p) {
  const yoke_fmi_interface* i = p->view->chosen;
  const yoke_fmi_experiment* e = &p->view->d->experiment;
  char text[256], a[YOKE_NUMBER_SIZE];
  if (p->view->is_model_exchange) {
    snprintf(text, sizeof text, "rk4 with %s%s (other solvers: euler, trapezoidal, cvode)",
             e->has_step ? "the step of its experiment, " : "a tenth of the unit's step",
             e->has_step ? number(e->step, a) : "");
    yoke__app_fmu_put_line("solver", text);
    return;
  }
  if (i->fixed_internal_step > 0) {
    snprintf(text, sizeof text, "should be a multiple of %s s", number(i->fixed_internal_step, a));
    yoke__app_fmu_put_line("step", text);
  } else {
    yoke__app_fmu_put_line("step",
                           i->can_handle_variable_step ? "any" : "any, but always the same");
  }
}

static bool has_feedthrough(const yoke_fmi_description* d, const yoke_fmi_unknown* output) {
  for (size_t i = output->first; i < output->first + output->n; i++) {
    if (d->variables[d->dependencies[i]].causality == YOKE_FMI_INPUT) {
      return true;
    }
  }
  return false;
}

// Can its outputs be read again with other inputs, where they depend on them? Co-simulation without event mode cannot.
static bool is_iterable(const yoke_fmu_view* view) {
  const yoke_fmi_description* d = view->d;
  bool is_free = true;
  for (size_t i = 0; i < d->outputs.n && view->n_inputs > 0; i++) {
    const yoke_fmi_unknown* output = &d->outputs.items[i];
    is_free = is_free && output->has_dependencies && !has_feedthrough(d, output);
  }
  return is_free || view->is_model_exchange || view->chosen->has_event_mode;
}

static void print_use(const yoke_fmu_printer* p) {
  const yoke_fmu_view* view = p->view;
  printf("\nWhat Yoke uses\n");
  print_obstacles(p);
  if (view->chosen == NULL) {
    return;
  }
  const yoke_fmi_interface* i = view->chosen;
  char text[YOKE_FMU_LINE_SIZE];
  snprintf(text, sizeof text, "%s%s%.1500s", yoke__app_fmu_interface_name(view, i),
           view->binary == NULL ? "" : ", ", view->binary == NULL ? "" : view->binary);
  yoke__app_fmu_put_line("interface", text);
  print_step_use(p);
  yoke__app_fmu_put_line(
      "rollback", !i->can_get_and_set_state ? "no: it runs in schemes that never repeat a step"
                  : is_iterable(view)
                      ? "yes: iterative schemes can repeat its steps"
                      : "yes, but iterative schemes need more: outputs that depend directly "
                        "on inputs (below) cannot be read again without a step");
  yoke__app_fmu_put_line("derivatives", i->has_directional_derivatives ? "its own" : "none");
  yoke__app_fmu_put_line("events", view->is_model_exchange ? "state and time events are located"
                                   : i->has_event_mode     ? "event mode"
                                                           : "none");
  yoke__app_fmu_put_line("isolation",
                         i->can_be_instantiated_only_once
                             ? "'isolate: process' is needed to use it more than once; it also "
                               "keeps a crash out of the run"
                             : "not needed; 'isolate: process' keeps a crash of its binary out of "
                               "the run");
}

// ---- structure

static void print_dependencies(const yoke_fmi_description* d, const yoke_fmi_unknown* output) {
  printf("  ");
  size_t column = 2 + yoke__app_fmu_put(d->variables[output->variable].name, YOKE_FMU_LINE_SIZE);
  if (!output->has_dependencies) {
    printf(" <- all inputs (not said)\n");
    return;
  }
  printf(" <-");
  column += 3;
  bool is_first = true;
  for (size_t i = output->first; i < output->first + output->n; i++) {
    const yoke_fmi_variable* v = &d->variables[d->dependencies[i]];
    if (v->causality != YOKE_FMI_INPUT) {
      continue;
    }
    const size_t width = yoke__app_fmu_width(v->name) + 2;
    printf("%s", is_first ? "" : ",");
    if (!is_first && column + width > YOKE_FMU_WIDTH) {
      printf("\n     ");
      column = 5;
    }
    fputc(' ', stdout);
    column += 2 + yoke__app_fmu_put(v->name, YOKE_FMU_LINE_SIZE);
    is_first = false;
  }
  fputc('\n', stdout);
}

static void print_feedthrough(const yoke_fmu_printer* p) {
  const yoke_fmi_description* d = p->view->d;
  size_t n_shown = 0, n_left = 0, n_none = 0;
  if (d->outputs.n == 0 || p->view->n_inputs == 0) {
    return;
  }
  printf("\nFeedthrough\n");
  for (size_t i = 0; i < d->outputs.n; i++) {
    const yoke_fmi_unknown* output = &d->outputs.items[i];
    if (output->has_dependencies && !has_feedthrough(d, output)) {
      n_none++;
    } else if (n_shown < p->max_rows) {
      print_dependencies(d, output);
      n_shown++;
    } else {
      n_left++;
    }
  }
  if (n_left > 0) {
    printf("  ... and %zu more (--all shows them)\n", n_left);
  }
  if (n_none == d->outputs.n) {
    printf("  none\n");
  } else if (n_none > 0) {
    printf("  none for the other %zu output%s\n", n_none, n_none == 1 ? "" : "s");
  }
}

static void print_terminals(const yoke_fmu_printer* p) {
  const yoke_fmi_description* d = p->view->d;
  if (d->n_terminals > 0) {
    printf("\nTerminals (%zu)\n", d->n_terminals);
  }
  const size_t n_shown = d->n_terminals < p->max_rows ? d->n_terminals : p->max_rows;
  for (size_t i = 0; i < n_shown; i++) {
    const yoke_fmi_terminal* t = &d->terminals[i];
    yoke_fmu_phrases list = {.n = 0};
    char one[200];
    snprintf(one, sizeof one, "%.60s%s%.60s%s", t->matching_rule, t->kind[0] == '\0' ? "" : ", ",
             t->kind, t->parent == YOKE_FMI_NONE ? "" : ", inside another");
    yoke__app_fmu_say(&list, one);
    for (size_t j = 0; j < t->n_members && list.n + 200 < sizeof list.text; j++) {
      const yoke_fmi_terminal_member* m = &t->members[j];
      const bool is_same = m->member[0] == '\0' || strcmp(m->member, m->variable) == 0;
      snprintf(one, sizeof one, "%.60s%s%.60s (%.30s)", is_same ? "" : m->member,
               is_same ? "" : " = ", m->variable, m->kind);
      yoke__app_fmu_say(&list, one);
    }
    yoke__app_fmu_put_line(t->name, list.text);
  }
}

// ---- messages

static void print_message(const yoke_message* m) {
  static const char* const words[] = {"note", "warning", "error"};
  char label[32] = "";
  if (m->line > 0) {
    snprintf(label, sizeof label, "line %d", m->line);
  }
  char text[YOKE_FMU_LINE_SIZE];
  snprintf(text, sizeof text, "%s: %s", words[m->severity], m->text);
  yoke__app_fmu_put_line(label, text);
}

// In the order of the lines; there are at most as many as there are rules.
static void print_messages(const yoke_fmu_printer* p) {
  const yoke_messages* messages = p->view->messages;
  if (messages->n > 0) {
    printf("\nRemarks about the file\n");
  }
  int done = -1;
  for (bool is_left = messages->n > 0; is_left;) {
    int line = -1;
    for (size_t i = 0; i < messages->n; i++) {
      const int at = messages->all[i].line;
      line = at > done && (line < 0 || at < line) ? at : line;
    }
    for (size_t i = 0; line >= 0 && i < messages->n; i++) {
      if (messages->all[i].line == line) {
        print_message(&messages->all[i]);
      }
    }
    is_left = line >= 0;
    done = line;
  }
}

void yoke__app_fmu_text(const yoke_fmu_view* view, bool is_all) {
  const bool is_cut = !is_all && yoke__os_is_terminal(stdout);
  const yoke_fmu_printer p = {view, is_all, is_cut ? MAX_ROWS : (size_t)-1};
  print_head(&p);
  print_interfaces(&p);
  print_use(&p);
  yoke__app_fmu_print_variables(&p);
  print_feedthrough(&p);
  print_terminals(&p);
  print_messages(&p);
}
