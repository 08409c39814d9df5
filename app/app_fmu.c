// yoke info of an FMU: opens the package, looks at its binary without loading it, and hands both to the printers.
#include "app/app_fmu.h"

#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "base/base_os.h"
#include "fmi/fmi_elf.h"

#define MAX_BINARY ((size_t)64 << 20)  // of a binary that is looked at whole
#define MAX_PATH   4200

const char* yoke__app_fmu_interface_name(const yoke_fmu_view* view,
                                         const yoke_fmi_interface* interface_type) {
  return interface_type == &view->d->co_simulation    ? "co-simulation"
         : interface_type == &view->d->model_exchange ? "model exchange"
                                                      : "scheduled execution";
}

const char* yoke__app_fmu_start_item(const yoke_fmu_view* view, const yoke_fmi_variable* v) {
  size_t n = 0;
  const yoke_fmi_item* items = yoke__fmi_items(view->d, v, &n);
  int64_t value = 0;
  if (v->start == NULL || v->n_dimensions > 0 || !yoke__fmi_start_integer(v, &value, 1)) {
    return NULL;
  }
  for (size_t i = 0; i < n; i++) {
    if (items[i].value == value) {
      return items[i].name;
    }
  }
  return NULL;
}

// ---- what a run would use

// Names of libraries, collected.
typedef struct names {
  yoke_arena arena;
  const char* texts[64];
  size_t n;
} names;

static void add_name(void* to, const char* name) {
  names* list = to;
  const char* kept = yoke__arena_text(&list->arena, name, strlen(name));
  if (kept != NULL && list->n < 64) {
    list->texts[list->n++] = kept;
  }
}

// The binary of the chosen interface, looked at without loading it.
static void look_at_binary(yoke_fmu_view* view, yoke_fmi_package* package, names* missing) {
  char path[MAX_PATH], kind[128] = "";
  yoke_messages faults = {0};
  if (yoke__fmi_unpack_binaries(package, &faults) < 0 ||
      yoke__fmi_binary_path(package, view->chosen, path, sizeof path) < 0) {
    snprintf(view->obstacle, sizeof view->obstacle, "%s",
             faults.n == 0 ? "no binary of this interface" : faults.all[0].text);
    yoke__messages_free(&faults);
    return;
  }
  yoke__messages_free(&faults);
  const char* below = strstr(path + strlen(package->directory), "binaries/");
  view->binary = yoke__arena_text(&missing->arena, below == NULL ? path : below,
                                  strlen(below == NULL ? path : below));

  // a very large one is believed to be what its folder says
  char* bytes = NULL;
  size_t n = 0;
  const bool is_read = yoke__os_read_file(path, MAX_BINARY, &bytes, &n, NULL) >= 0;
  if (is_read && !yoke__fmi_elf_is_native(bytes, n, kind, sizeof kind)) {
    snprintf(view->obstacle, sizeof view->obstacle, "its binary cannot be loaded here: it is %s",
             kind);
  } else {
    yoke__fmi_elf_missing(path, add_name, missing);
    view->missing = missing->texts;
    view->n_missing = missing->n;
  }
  free(bytes);
}

static void choose(yoke_fmu_view* view) {
  const yoke_fmi_description* d = view->d;
  view->chosen = d->co_simulation.is_given    ? &d->co_simulation
                 : d->model_exchange.is_given ? &d->model_exchange
                                              : NULL;
  view->is_model_exchange = view->chosen == &d->model_exchange;
  if (view->chosen == NULL) {
    snprintf(view->obstacle, sizeof view->obstacle,
             "it offers scheduled execution only, which Yoke does not run");
  }
}

static bool* mark_states(yoke_fmu_view* view) {
  const yoke_fmi_description* d = view->d;
  bool* is_state = calloc(d->n_variables + 1, sizeof *is_state);
  if (is_state == NULL) {
    return NULL;
  }
  view->is_state = is_state;
  for (size_t i = 0; i < d->states_derivatives.n; i++) {
    const yoke_fmi_variable* v = &d->variables[d->states_derivatives.items[i].variable];
    if (v->derivative_of != 0) {
      is_state[v->derivative_of - 1] = true;
      view->n_states += yoke__fmi_size(d, v);
    }
  }
  for (size_t i = 0; i < d->n_variables; i++) {
    view->n_inputs += d->variables[i].causality == YOKE_FMI_INPUT;
  }
  return is_state;
}

static int print(const yoke_fmu_view* view, bool is_json, bool is_all) {
  if (!is_json) {
    yoke__app_fmu_text(view, is_all);
    return YOKE_EXIT_OK;
  }
  yoke_json json = {0};
  yoke__app_fmu_json(view, &json);
  return yoke__app_print_json("info", &json) ? YOKE_EXIT_OK : YOKE_EXIT_FAILED;
}

int yoke__app_show_fmu(const char* path, bool is_json, bool is_all) {
  yoke_messages messages = {0};
  yoke_fmi_package* package = NULL;
  if (yoke__fmi_open(path, &messages, &package) < 0) {
    yoke__messages_print(&messages, stderr);
    yoke__messages_free(&messages);
    return YOKE_EXIT_USAGE;
  }
  yoke_fmu_view view = {.package = package, .d = package->description, .messages = &messages};
  names missing = {.n = 0};
  int status = YOKE_EXIT_FAILED;
  choose(&view);
  bool* is_state = mark_states(&view);
  if (is_state == NULL) {
    yoke__app_error("info", "out of memory");
  } else {
    if (view.chosen != NULL) {
      look_at_binary(&view, package, &missing);
    }
    status = print(&view, is_json, is_all);
  }
  free(is_state);
  yoke__arena_free(&missing.arena);
  yoke__messages_free(&messages);
  yoke__fmi_close(&package);
  return status;
}
