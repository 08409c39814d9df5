// What yoke info says about an FMU, for people: sections of at most 100 columns.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/app_fmu.h"
#include "base/base_number.h"
#include "base/base_os.h"

#define WIDTH     100
#define MAX_ROWS  40  // of a group on a terminal
#define MAX_NAME  38  // wider names get a line of their own
#define LABEL     18  // column of the text behind a label
#define LINE_SIZE 2048

typedef struct printer {
  const yoke_fmu_view* view;
  bool is_all;
  size_t max_rows;
} printer;

// ---- text of strangers on a terminal

// Bytes of the next character, which counts as one column; control characters (also those of two bytes) have none.
static size_t next_char(const char* text, bool* is_control) {
  const unsigned char c = (unsigned char)text[0], d = (unsigned char)text[c != '\0'];
  *is_control = c < 0x20 || c == 0x7f || (c == 0xc2 && d < 0xa0);
  size_t n = 1;
  while (c >= 0xc0 && ((unsigned char)text[n] & 0xc0) == 0x80) {
    n++;
  }
  return n;
}

static size_t width_of(const char* text) {
  size_t n = 0;
  for (bool is_control = false; *text != '\0'; n++) {
    text += next_char(text, &is_control);
  }
  return n;
}

// At most `width` columns of the text, a blank for each control character; returns the columns used.
static size_t put(const char* text, size_t width) {
  const size_t whole = width_of(text);
  const size_t kept = whole <= width ? whole : width < 4 ? width : width - 3;
  for (size_t i = 0; i < kept; i++) {
    bool is_control = false;
    const size_t n = next_char(text, &is_control);
    if (is_control) {
      fputc(' ', stdout);
    } else {
      fwrite(text, 1, n, stdout);
    }
    text += n;
  }
  if (kept < whole && width >= 4) {
    fputs("...", stdout);
    return width;
  }
  return kept;
}

// The same, filled up with blanks.
static void put_cell(const char* text, size_t width) {
  const size_t used = put(text, width);
  printf("%*s", (int)(width - used), "");
}

// "  label          text, wrapped between words"
static void put_line(const char* label, const char* text) {
  printf("  ");
  put_cell(label, LABEL - 2);
  size_t column = LABEL;
  bool is_first = true;
  while (*text != '\0') {
    const size_t n = strcspn(text, " \n\t\r");
    char word[LINE_SIZE];
    snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), text);
    const size_t width = width_of(word);
    if (!is_first && column + 1 + width > WIDTH) {
      printf("\n%*s", LABEL, "");
      column = LABEL;
    } else if (!is_first) {
      fputc(' ', stdout);
      column++;
    }
    column += put(word, LINE_SIZE);
    is_first = false;
    text += n + strspn(text + n, " \n\t\r");
  }
  fputc('\n', stdout);
}

static void put_if(const char* label, const char* text) {
  if (text[0] != '\0') {
    put_line(label, text);
  }
}

// Phrases joined by "; ".
typedef struct phrases {
  char text[LINE_SIZE];
  size_t n;
} phrases;

static void say(phrases* p, const char* text) {
  const int n =
      snprintf(p->text + p->n, sizeof p->text - p->n, "%s%s", p->n == 0 ? "" : "; ", text);
  p->n += n < 0 ? 0 : (size_t)n;
  p->n = p->n < sizeof p->text ? p->n : sizeof p->text - 1;
}

static void say_if(phrases* p, bool is_so, const char* text) {
  if (is_so) {
    say(p, text);
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

static void print_head(const printer* p) {
  const yoke_fmi_description* d = p->view->d;
  const yoke_fmi_package* package = p->view->package;
  char text[LINE_SIZE], size[32];
  put(d->model_name, 60);
  fputs("  (FMI ", stdout);
  put(d->version_text, 20);
  fputs(")\n", stdout);
  put_if("description", d->description);
  put_size(package->file_size, size, sizeof size);
  snprintf(text, sizeof text, "%.1500s, %s%s%s%s", package->path,
           package->file_size == 0 ? "an unpacked folder" : size,
           package->has_resources ? ", with resources" : "",
           package->has_sources ? ", with sources" : "",
           package->has_documentation ? ", with documentation" : "");
  put_line("file", text);
  snprintf(text, sizeof text, "%.900s%s%.100s", d->generation_tool,
           d->generation_tool[0] == '\0' || d->generation_date[0] == '\0' ? "" : ", ",
           d->generation_date);
  put_if("made by", text);
  put_if("author", d->author);
  put_if("version", d->model_version);
  put_if("copyright", d->copyright);
  put_if("license", d->license);
}

static void print_platforms(const printer* p) {
  const yoke_fmi_package* package = p->view->package;
  phrases list = {.n = 0};
  const char* here = yoke__fmi_platform(p->view->d->version);
  bool is_here = false;
  for (size_t i = 0; i < package->n_platforms; i++) {
    char one[160];
    const bool is_this = strcmp(package->platforms[i], here) == 0;
    snprintf(one, sizeof one, "%.100s%s", package->platforms[i], is_this ? " (this machine)" : "");
    say(&list, one);
    is_here |= is_this;
  }
  if (package->n_platforms == 0) {
    say(&list, package->has_sources ? "none, only sources" : "none");
  } else if (!is_here && p->view->binary == NULL) {
    char one[100];
    snprintf(one, sizeof one, "not this machine (%s)", here);
    say(&list, one);
  }
  put_line("platforms", list.text);
}

static void print_experiment(const printer* p) {
  const yoke_fmi_experiment* e = &p->view->d->experiment;
  phrases list = {.n = 0};
  char a[YOKE_NUMBER_SIZE], b[YOKE_NUMBER_SIZE], text[128];
  if (e->has_start || e->has_stop) {
    snprintf(text, sizeof text, e->has_stop ? "%s s to %s s" : "from %s s",
             e->has_start ? number(e->start, a) : "0", e->has_stop ? number(e->stop, b) : "");
    say(&list, text);
  }
  if (e->has_step) {
    snprintf(text, sizeof text, "step %s s", number(e->step, a));
    say(&list, text);
  }
  if (e->has_tolerance) {
    snprintf(text, sizeof text, "tolerance %s", number(e->tolerance, a));
    say(&list, text);
  }
  put_if("experiment", list.text);
}

// ---- what it can do

static void say_common(phrases* list, const yoke_fmi_interface* i) {
  say(list, i->can_serialise_state && i->can_get_and_set_state
                ? "state can be saved, also to a file"
            : i->can_get_and_set_state ? "state can be saved"
                                       : "state cannot be saved");
  say(list, i->has_directional_derivatives && i->has_adjoint_derivatives
                ? "directional and adjoint derivatives"
            : i->has_directional_derivatives ? "directional derivatives"
            : i->has_adjoint_derivatives     ? "adjoint derivatives"
                                             : "no derivatives");
  say_if(list, i->can_be_instantiated_only_once, "one instance per process");
  say_if(list, i->needs_execution_tool, "asks for the tool that made it");
}

static void print_co_simulation(const yoke_fmi_interface* i) {
  phrases list = {.n = 0};
  char text[128], a[YOKE_NUMBER_SIZE];
  say(&list, i->can_handle_variable_step ? "steps of variable length" : "all steps of one length");
  if (i->fixed_internal_step > 0) {
    snprintf(text, sizeof text, "internal step %s s", number(i->fixed_internal_step, a));
    say(&list, text);
  }
  say_common(&list, i);
  say_if(&list, i->can_interpolate_inputs, "takes derivatives of inputs");
  if (i->max_output_derivative_order > 0) {
    snprintf(text, sizeof text, "derivatives of outputs up to order %d",
             i->max_output_derivative_order);
    say(&list, text);
  }
  say_if(&list, i->has_event_mode, "event mode");
  say_if(&list, i->might_return_early, "may return early from a step");
  say_if(&list, i->has_intermediate_update, "intermediate updates");
  say_if(&list, i->can_run_asynchronously, "can run in the background");
  put_line("co-simulation", list.text);
}

static void print_model_exchange(const printer* p, const yoke_fmi_interface* i) {
  phrases list = {.n = 0};
  char text[128];
  snprintf(text, sizeof text, "%zu continuous state%s, %zu event indicator%s", p->view->n_states,
           p->view->n_states == 1 ? "" : "s", p->view->d->n_event_indicators,
           p->view->d->n_event_indicators == 1 ? "" : "s");
  say(&list, text);
  say_common(&list, i);
  put_line("model exchange", list.text);
}

static void print_interfaces(const printer* p) {
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
    phrases list = {.n = 0};
    say_common(&list, &d->scheduled_execution);
    put_line("scheduled ex.", list.text);
  }
  print_experiment(p);
}

// ---- what a run uses

static void print_obstacles(const printer* p) {
  const yoke_fmu_view* view = p->view;
  if (view->obstacle[0] != '\0') {
    put_line("cannot be run", view->obstacle);
  }
  if (view->n_missing > 0) {
    phrases list = {.n = 0};
    for (size_t i = 0; i < view->n_missing; i++) {
      say(&list, view->missing[i]);
    }
    char text[LINE_SIZE];
    snprintf(text, sizeof text, "it needs %.1900s, which this machine lacks", list.text);
    put_line("cannot be run", text);
  }
}

static void print_step_use(const printer* p) {
  const yoke_fmi_interface* i = p->view->chosen;
  const yoke_fmi_experiment* e = &p->view->d->experiment;
  char text[256], a[YOKE_NUMBER_SIZE];
  if (p->view->is_model_exchange) {
    snprintf(text, sizeof text, "rk4 with %s%s (other solvers: euler, trapezoidal, cvode)",
             e->has_step ? "the step of its experiment, " : "a tenth of the unit's step",
             e->has_step ? number(e->step, a) : "");
    put_line("solver", text);
    return;
  }
  if (i->fixed_internal_step > 0) {
    snprintf(text, sizeof text, "should be a multiple of %s s", number(i->fixed_internal_step, a));
    put_line("step", text);
  } else {
    put_line("step", i->can_handle_variable_step ? "any" : "any, but always the same");
  }
}

static void print_use(const printer* p) {
  const yoke_fmu_view* view = p->view;
  printf("\nWhat Yoke uses\n");
  print_obstacles(p);
  if (view->chosen == NULL) {
    return;
  }
  const yoke_fmi_interface* i = view->chosen;
  char text[LINE_SIZE];
  snprintf(text, sizeof text, "%s%s%.1500s", yoke__app_fmu_interface_name(view, i),
           view->binary == NULL ? "" : ", ", view->binary == NULL ? "" : view->binary);
  put_line("interface", text);
  print_step_use(p);
  put_line("rollback", i->can_get_and_set_state
                           ? "yes: iterative schemes can repeat its steps"
                           : "no: it runs in schemes that never repeat a step");
  put_line("derivatives", i->has_directional_derivatives ? "its own" : "none");
  put_line("events", view->is_model_exchange ? "state and time events are located"
                     : i->has_event_mode     ? "event mode"
                                             : "none");
  put_line("isolation", i->can_be_instantiated_only_once
                            ? "'isolate: process' is needed to use it more than once; it also "
                              "keeps a crash out of the run"
                            : "not needed; 'isolate: process' keeps a crash of its binary out of "
                              "the run");
}

// ---- variables

typedef struct group {
  const char* title;
  bool (*takes)(const yoke_fmu_view* view, size_t index);
  bool is_rare;  // shown by --all only
} group;

#define CAUSALITY(view, index) ((yoke_fmi_causality)(view)->d->variables[index].causality)

static bool is_input(const yoke_fmu_view* view, size_t i) {
  return CAUSALITY(view, i) == YOKE_FMI_INPUT;
}
static bool is_output(const yoke_fmu_view* view, size_t i) {
  return CAUSALITY(view, i) == YOKE_FMI_OUTPUT;
}
static bool is_fixed(const yoke_fmu_view* view, size_t i) {
  return CAUSALITY(view, i) == YOKE_FMI_PARAMETER &&
         view->d->variables[i].variability != YOKE_FMI_TUNABLE;
}
static bool is_tunable(const yoke_fmu_view* view, size_t i) {
  return CAUSALITY(view, i) == YOKE_FMI_PARAMETER &&
         view->d->variables[i].variability == YOKE_FMI_TUNABLE;
}
static bool is_structural(const yoke_fmu_view* view, size_t i) {
  return CAUSALITY(view, i) == YOKE_FMI_STRUCTURAL_PARAMETER;
}
static bool is_state(const yoke_fmu_view* view, size_t i) {
  return CAUSALITY(view, i) == YOKE_FMI_LOCAL && view->is_state[i];
}
static bool is_calculated(const yoke_fmu_view* view, size_t i) {
  return CAUSALITY(view, i) == YOKE_FMI_CALCULATED_PARAMETER;
}
static bool is_local(const yoke_fmu_view* view, size_t i) {
  return (CAUSALITY(view, i) == YOKE_FMI_LOCAL && !view->is_state[i]) ||
         CAUSALITY(view, i) == YOKE_FMI_INDEPENDENT;
}

static const group groups[] = {
    {"Inputs", is_input, false},
    {"Outputs", is_output, false},
    {"Parameters", is_fixed, false},
    {"Tunable parameters", is_tunable, false},
    {"Structural parameters", is_structural, false},
    {"States", is_state, false},
    {"Calculated parameters", is_calculated, true},
    {"Local variables", is_local, true},
};

// "Float64[3,n]"
static void type_text(const printer* p, const yoke_fmi_variable* v, char* to, size_t size) {
  const yoke_fmi_description* d = p->view->d;
  size_t n = (size_t)snprintf(to, size, "%s",
                              yoke__fmi_type_word(p->view->d->version, (yoke_fmi_type)v->type));
  for (size_t i = 0; i < v->n_dimensions && n < size; i++) {
    const yoke_fmi_dimension* dimension = &d->dimensions[v->first_dimension + i];
    const char* open = i == 0 ? "[" : ",";
    if (dimension->variable == YOKE_FMI_NONE) {
      n += (size_t)snprintf(to + n, size - n, "%s%" PRIu64, open, dimension->start);
    } else {
      n += (size_t)snprintf(to + n, size - n, "%s%.20s", open,
                            d->variables[dimension->variable].name);
    }
  }
  if (v->n_dimensions > 0 && n < size) {
    snprintf(to + n, size - n, "]");
  }
}

// Texts of an array stand in the description with 0x1f between them.
static void text_starts(const yoke_fmi_variable* v, char* to, size_t size) {
  const char* quote = v->type == YOKE_FMI_STRING ? "\"" : "";
  size_t n = 0;
  for (const char* at = v->start; at != NULL && n + 1 < size;) {
    const size_t length = strcspn(at, "\x1f");
    const char* shown = length == 0 && quote[0] == '\0' ? "(empty)" : at;
    const int width = (int)(shown != at ? 7 : length < 60 ? length : 60);
    const int wrote =
        snprintf(to + n, size - n, "%s%s%.*s%s", n == 0 ? "" : ", ", quote, width, shown, quote);
    n += wrote < 0 ? 0 : (size_t)wrote;
    at = at[length] == '\0' ? NULL : at + length + 1;
  }
}

static void start_text(const printer* p, const yoke_fmi_variable* v, char* to, size_t size) {
  const char* item = yoke__app_fmu_start_item(p->view, v);
  if (v->start == NULL) {
    snprintf(to, size, "-");
  } else if (item != NULL) {
    snprintf(to, size, "%.60s", item);
  } else if (v->type == YOKE_FMI_STRING || v->type == YOKE_FMI_BINARY) {
    text_starts(v, to, size);
  } else {
    snprintf(to, size, "%.60s", v->start);
  }
}

typedef struct columns {
  size_t name, type, unit, start;
} columns;

static size_t most(size_t a, size_t b) {
  return a > b ? a : b;
}
static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

static void fit_columns(const printer* p, const yoke_fmi_variable* v, columns* c) {
  char text[128];
  const size_t name = width_of(v->name);
  c->name = name <= MAX_NAME ? most(c->name, name) : c->name;
  type_text(p, v, text, sizeof text);
  c->type = most(c->type, least(width_of(text), 20));
  c->unit = v->unit[0] == '\0' ? c->unit : most(most(c->unit, 4), least(width_of(v->unit), 12));
  start_text(p, v, text, sizeof text);
  c->start = most(c->start, least(width_of(text), 18));
}

static void print_variable(const printer* p, const yoke_fmi_variable* v, const columns* c) {
  char type[128], start[128];
  type_text(p, v, type, sizeof type);
  start_text(p, v, start, sizeof start);
  printf("  ");
  if (width_of(v->name) > c->name) {
    put(v->name, LINE_SIZE);
    printf("\n  %*s", (int)c->name, "");
  } else {
    put_cell(v->name, c->name);
  }
  printf("  ");
  put_cell(type, c->type);
  if (c->unit > 0) {
    printf("  ");
    put_cell(v->unit, c->unit);
  }
  printf("  ");
  const size_t used = 2 + c->name + 2 + c->type + (c->unit > 0 ? 2 + c->unit : 0) + 2 + c->start;
  if (v->description[0] == '\0') {
    put(start, c->start);
  } else {
    put_cell(start, c->start);
    printf("  ");
    put(v->description, p->is_all ? LINE_SIZE : used + 2 + 20 < WIDTH ? WIDTH - used - 2 : 20);
  }
  fputc('\n', stdout);
}

// The title stands over the names, the others over their columns.
static void print_title(const group* g, size_t n, columns* c) {
  char title[64];
  snprintf(title, sizeof title, "%s (%zu)", g->title, n);
  c->name = most(c->name, width_of(title) - 2);
  fputc('\n', stdout);
  put_cell(title, c->name + 2);
  printf("  ");
  put_cell("type", c->type);
  if (c->unit > 0) {
    printf("  ");
    put_cell("unit", c->unit);
  }
  printf("  start\n");
}

static void print_group(const printer* p, const group* g) {
  const yoke_fmi_description* d = p->view->d;
  columns c = {.name = 0, .type = 4, .unit = 0, .start = 5};
  size_t n = 0, n_shown = 0;
  for (size_t i = 0; i < d->n_variables; i++) {
    if (g->takes(p->view, i) && n++ < p->max_rows) {
      fit_columns(p, &d->variables[i], &c);
    }
  }
  if (n == 0) {
    return;
  }
  if (g->is_rare && !p->is_all) {
    printf("\n%s: %zu (--all shows them)\n", g->title, n);
    return;
  }
  print_title(g, n, &c);
  for (size_t i = 0; i < d->n_variables && n_shown < p->max_rows; i++) {
    if (g->takes(p->view, i)) {
      print_variable(p, &d->variables[i], &c);
      n_shown++;
    }
  }
  if (n > n_shown) {
    printf("  ... and %zu more (--all shows them)\n", n - n_shown);
  }
}

static void print_enumerations(const printer* p) {
  const yoke_fmi_description* d = p->view->d;
  size_t n = 0;
  for (size_t i = 0; i < d->n_typedefs && n < p->max_rows; i++) {
    const yoke_fmi_typedef* type = &d->typedefs[i];
    if (type->type != YOKE_FMI_ENUMERATION) {
      continue;
    }
    printf("%s", n++ == 0 ? "\nEnumerations\n" : "");
    phrases list = {.n = 0};
    for (size_t j = 0; j < type->n_items && list.n + 100 < sizeof list.text; j++) {
      char one[160];
      snprintf(one, sizeof one, "%.80s = %" PRId64, type->items[j].name, type->items[j].value);
      say(&list, one);
    }
    char label[64];
    snprintf(label, sizeof label, "%.62s", type->name);
    if (width_of(label) > LABEL - 4) {
      printf("  ");
      put(type->name, WIDTH);
      printf("\n");
      label[0] = '\0';
    }
    put_line(label, list.text);
  }
}

// ---- structure

static bool has_feedthrough(const yoke_fmi_description* d, const yoke_fmi_unknown* output) {
  for (size_t i = output->first; i < output->first + output->n; i++) {
    if (d->variables[d->dependencies[i]].causality == YOKE_FMI_INPUT) {
      return true;
    }
  }
  return false;
}

static void print_dependencies(const yoke_fmi_description* d, const yoke_fmi_unknown* output) {
  printf("  ");
  size_t column = 2 + put(d->variables[output->variable].name, LINE_SIZE);
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
    const size_t width = width_of(v->name) + 2;
    printf("%s", is_first ? "" : ",");
    if (!is_first && column + width > WIDTH) {
      printf("\n     ");
      column = 5;
    }
    fputc(' ', stdout);
    column += 2 + put(v->name, LINE_SIZE);
    is_first = false;
  }
  fputc('\n', stdout);
}

static void print_feedthrough(const printer* p) {
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

static void print_terminals(const printer* p) {
  const yoke_fmi_description* d = p->view->d;
  if (d->n_terminals > 0) {
    printf("\nTerminals (%zu)\n", d->n_terminals);
  }
  for (size_t i = 0; i < least(d->n_terminals, p->max_rows); i++) {
    const yoke_fmi_terminal* t = &d->terminals[i];
    phrases list = {.n = 0};
    char one[200];
    snprintf(one, sizeof one, "%.60s%s%.60s%s", t->matching_rule, t->kind[0] == '\0' ? "" : ", ",
             t->kind, t->parent == YOKE_FMI_NONE ? "" : ", inside another");
    say(&list, one);
    for (size_t j = 0; j < t->n_members && list.n + 200 < sizeof list.text; j++) {
      const yoke_fmi_terminal_member* m = &t->members[j];
      const bool is_same = m->member[0] == '\0' || strcmp(m->member, m->variable) == 0;
      snprintf(one, sizeof one, "%.60s%s%.60s (%.30s)", is_same ? "" : m->member,
               is_same ? "" : " = ", m->variable, m->kind);
      say(&list, one);
    }
    put_line(t->name, list.text);
  }
}

// ---- messages

static void print_message(const yoke_message* m) {
  static const char* const words[] = {"note", "warning", "error"};
  char label[32] = "";
  if (m->place.line > 0) {
    snprintf(label, sizeof label, "line %d", m->place.line);
  }
  char text[LINE_SIZE];
  snprintf(text, sizeof text, "%s: %s", words[m->severity], m->text);
  put_line(label, text);
}

// In the order of the lines; there are at most as many as there are rules.
static void print_messages(const printer* p) {
  const yoke_messages* messages = p->view->messages;
  if (messages->first != NULL) {
    printf("\nRemarks about the file\n");
  }
  int done = -1;
  for (bool is_left = messages->first != NULL; is_left;) {
    int line = -1;
    for (const yoke_message* m = messages->first; m != NULL; m = m->next) {
      line = m->place.line > done && (line < 0 || m->place.line < line) ? m->place.line : line;
    }
    for (const yoke_message* m = messages->first; line >= 0 && m != NULL; m = m->next) {
      if (m->place.line == line) {
        print_message(m);
      }
    }
    is_left = line >= 0;
    done = line;
  }
}

void yoke__app_fmu_text(const yoke_fmu_view* view, bool is_all) {
  const bool is_cut = !is_all && yoke__os_is_terminal(stdout);
  const printer p = {view, is_all, is_cut ? MAX_ROWS : (size_t)-1};
  print_head(&p);
  print_interfaces(&p);
  print_use(&p);
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
    print_group(&p, &groups[i]);
  }
  print_enumerations(&p);
  print_feedthrough(&p);
  print_terminals(&p);
  print_messages(&p);
}
