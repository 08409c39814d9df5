// yoke info of a netlist: reads it and makes its unit without a system around it.
#include "app/app_circuit_view.h"

#include <stdio.h>
#include <string.h>

#include "app/app_circuit.h"
#include "circuit/circuit_netlist.h"

#define ANY_STEP 1e-3  // sizes do not depend on it

static void count(yoke_circuit_view* v) {
  const yoke_network* network = v->network;
  for (uint32_t n = 1; n < network->n_nodes; n++) {
    v->n_nodes++;
    v->n_fixed += network->nodes[n].is_fixed;
  }
  for (uint32_t e = 0; e < network->n_elements; e++) {
    v->n_of_kind[network->elements[e].kind]++;
  }
}

static int print(const yoke_circuit_view* v, bool is_json) {
  if (!is_json) {
    yoke__app_circuit_text(v);
    return YOKE_EXIT_OK;
  }
  yoke_json json = {0};
  yoke__app_circuit_json(v, &json);
  const yoke_status status = yoke__json_finish(&json);
  if (status >= 0) {
    fputs(json.text, stdout);
  } else {
    yoke__app_error("info", "out of memory");
  }
  yoke__json_free(&json);
  return status < 0 ? YOKE_EXIT_FAILED : YOKE_EXIT_OK;
}

// the unit as a system would have it
static yoke_status make_unit(yoke_circuit_view* v, yoke_messages* messages, yoke_arena* arena,
                             yoke_unit_file** file) {
  const yoke_circuit_run* run = &v->network->run;
  char err[1024] = "";
  v->has_step = run->step > 0 || run->step_exact > 0 || run->max_step > 0;
  const yoke_unit_file_settings settings = {.kind = "circuit",
                                            .path = v->path,
                                            .name = "circuit",
                                            .place = {v->path, 0, 0},
                                            .call_step = v->has_step ? 0 : ANY_STEP};
  YOKE_TRY(yoke__circuit_file_open(&settings, messages, file));
  const yoke_unit_args args = {.name = "circuit", .context = (*file)->ops->context};
  const yoke_status status =
      yoke__unit_create((*file)->ops, &args, arena, &v->unit, err, sizeof err);
  if (status < 0) {
    yoke__error(messages, settings.place, "%s", err);
  }
  return status;
}

// Where the matrix has values only at an operating point, its factors do not exist before the start.
// What keeps it from starting is worth a warning, no more: the netlist can be read.
static void look(yoke_circuit_view* v, yoke_messages* messages) {
  char err[1024] = "";
  yoke_step_result result = {0};
  yoke__unit_circuit_figures(v->unit.ops, v->unit.self, &v->figures);
  if (v->figures.n_factors > 0 || v->figures.n_solved == 0) {
    return;
  }
  if (yoke__unit_enter_init(&v->unit, 0, 1, err, sizeof err) < 0) {
    const char* mark = strstr(err, ": error: ");
    yoke__message_add(messages, YOKE_WARNING, (yoke_place){v->path, 0, 0}, "%s",
                      mark == NULL ? err : mark + strlen(": error: "));
    return;
  }
  // a first step, whose outcome is of no interest here
  if (yoke__unit_exit_init(&v->unit) >= 0) {
    (void)v->unit.ops->step(v->unit.self, 0, v->figures.step, &result);
  }
  yoke__unit_circuit_figures(v->unit.ops, v->unit.self, &v->figures);
}

int yoke__app_show_circuit(const char* path, bool is_json) {
  yoke_messages messages = {0}, again = {0};
  yoke_network* network = NULL;
  yoke_unit_file* file = NULL;
  yoke_arena arena = {0};
  yoke_circuit_view view = {.path = path, .messages = &messages};
  const yoke_netlist_settings settings = {.path = path};
  yoke_status status = yoke__netlist_read_file(&settings, &messages, &network);
  if (status >= 0) {
    view.network = network;
    count(&view);
    status = make_unit(&view, &again, &arena, &file);
  }
  int exit_status = YOKE_EXIT_USAGE;
  if (status < 0) {
    yoke__messages_print(again.n_errors > 0 ? &again : &messages, stderr);
    if (again.n_errors + messages.n_errors == 0) {
      yoke__app_error("info", "%s: %s", path, yoke_status_text(status));
    }
  } else {
    look(&view, &messages);
    exit_status = print(&view, is_json);
  }
  yoke__unit_close(&view.unit);
  if (file != NULL) {
    file->close(file);
  }
  yoke__network_destroy(&network);
  yoke__arena_free(&arena);
  yoke__messages_free(&again);
  yoke__messages_free(&messages);
  return exit_status;
}
