// Twins as units: the filters of src/estimate on the network of a netlist (twin_make.c, twin_step.c) behind the operations of
// yoke/unit.h.
#include "unit/twin/unit_twin.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "unit/circuit/unit_circuit_part.h"
#include "unit/twin/twin_part.h"
#include "unit/unit.h"

static void close_twin(void* self);

yoke_twin_settings yoke__twin_settings_default(void) {
  const double none = (double)NAN;
  return (yoke_twin_settings){.walk = none,
                              .rate_walk = none,
                              .start_sd = none,
                              .rate_sd = none,
                              .gate = none,
                              .jitter = none};
}

// ---------------------------------------------------------------------------------------------------------
// life

static void send_all(const yoke_messages* messages, yoke_status status, const yoke_sink* sink) {
  for (size_t i = 0; i < messages->n; i++) {
    if (status >= 0 || messages->all[i].severity == YOKE_ERROR) {
      yoke_send(sink, &messages->all[i]);
    }
  }
}

static yoke_status create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  twin* w = calloc(1, sizeof *w);
  YOKE_TRY_MEMORY(w);
  w->file = args->context;
  w->settings = w->file->settings.twin;
  const yoke_status status = yoke__twin_make(w, args);
  send_all(&w->messages, status, sink);
  if (status < 0) {
    close_twin(w);
    return status;
  }
  *self = w;
  return YOKE_OK;
}

static const yoke_unit_info* describe(const void* self) {
  return &((const twin*)self)->layout.info;
}

static void close_twin(void* self) {
  twin* w = self;
  yoke__messages_free(&w->messages);
  yoke__network_destroy(&w->own);
  yoke__arena_free(&w->arena);
  free(w);
}

// ---------------------------------------------------------------------------------------------------------
// variables

static yoke_status set(void* self, size_t variable, const void* value, size_t size) {
  twin* w = self;
  const twin_slot* slot = &w->layout.slots[variable];
  double number = 0;
  if (size != sizeof number || slot->kind == TWIN_SLOT_WHOLE) {
    return size != sizeof number ? YOKE_BAD_ARG : YOKE_NO_SUPPORT;
  }
  memcpy(&number, value, sizeof number);
  if (slot->kind == TWIN_SLOT_INPUT || slot->kind == TWIN_SLOT_SENSOR) {
    w->u[slot->index] = number;
    return YOKE_OK;
  }
  if (slot->capacity == YOKE_NO_INDEX || w->phase == TWIN_RUNNING) {
    return YOKE_NO_SUPPORT;
  }
  w->given_z[slot->capacity] = number;
  return YOKE_OK;
}

static yoke_status get(const void* self, size_t variable, void* value, size_t size) {
  const twin* w = self;
  const twin_slot* slot = &w->layout.slots[variable];
  if (size != sizeof(double)) {
    return YOKE_BAD_ARG;
  }
  const void* from = slot->kind == TWIN_SLOT_WHOLE  ? (const void*)&w->wholes[slot->index]
                     : slot->kind == TWIN_SLOT_REAL ? (const void*)&w->reals[slot->index]
                                                    : (const void*)&w->u[slot->index];
  memcpy(value, from, size);
  return YOKE_OK;
}

static yoke_status set_inputs(void* self, const double u[], size_t n_u) {
  twin* w = self;
  memcpy(w->u, u, n_u * sizeof *u);
  return YOKE_OK;
}

static yoke_status get_outputs(const void* self, double y[], size_t n_y) {
  const twin* w = self;
  size_t n = 0;
  for (size_t i = 0; i < w->layout.info.n_variables && n < n_y; i++) {
    if (w->layout.slots[i].kind == TWIN_SLOT_REAL &&
        w->layout.info.variables[i].causality == YOKE_OUTPUT) {
      y[n++] = w->reals[w->layout.slots[i].index];
    }
  }
  return YOKE_OK;
}

static yoke_status set_input_info(void* self, const yoke_sample_info info[], size_t n_u) {
  twin* w = self;
  memcpy(w->infos, info, n_u * sizeof *info);
  w->has_infos = true;
  return YOKE_OK;
}

static yoke_status enter_init(void* self, double t_start, double t_stop, const yoke_sink* sink) {
  twin* w = self;
  (void)t_stop;
  const yoke_status status = yoke__twin_start(w, t_start);
  if (status < 0) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     status == YOKE_SINGULAR
                         ? "there is no state of rest to start from: give all temperatures under "
                           "'start'"
                         : "the estimate cannot start: an input or a start value gives no finite "
                           "temperatures");
  }
  w->phase = TWIN_INITIALISING;
  return YOKE_OK;
}

static yoke_status exit_init(void* self) {
  ((twin*)self)->phase = TWIN_RUNNING;
  return YOKE_OK;
}

// While the system is initialised the start follows the inputs. Afterwards outputs are those of the last step.
static yoke_status refresh(void* self, double t) {
  twin* w = self;
  return w->phase == TWIN_RUNNING ? YOKE_OK : yoke__twin_start(w, t) < 0 ? YOKE_BAD_INPUT : YOKE_OK;
}

static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  return yoke__twin_step(self, t, h, result);
}


// ---------------------------------------------------------------------------------------------------------
// states

static yoke_status save(const void* self, void* image, size_t size) {
  const twin* w = self;
  unsigned char* to = image;
  if (size != w->layout.info.image_size) {
    return YOKE_BAD_ARG;
  }
  memcpy(to, w->block, w->block_size);
  to += w->block_size;
  yoke__estimate_save(w->filter, to);
  to += yoke__estimate_image_size(w->filter);
  memcpy(to, w->consistency, w->consistency_size);
  if (w->late != NULL) {
    yoke__late_save(w->late, to + w->consistency_size);
  }
  return YOKE_OK;
}

static yoke_status restore(void* self, const void* image, size_t size) {
  twin* w = self;
  const unsigned char* from = image;
  if (size != w->layout.info.image_size) {
    return YOKE_BAD_ARG;
  }
  memcpy(w->block, from, w->block_size);
  from += w->block_size;
  yoke__estimate_restore(w->filter, from);
  from += yoke__estimate_image_size(w->filter);
  memcpy(w->consistency, from, w->consistency_size);
  if (w->late != NULL) {
    yoke__late_restore(w->late, from + w->consistency_size);
  }
  for (size_t i = 0; i < w->network.n_moving; i++) {
    w->network.g[w->network.moving[i]] = w->moving[i];
  }
  for (size_t i = 0; i < w->n_sensors; i++) {
    if (w->sensor_texts[i].is_assumed) {
      yoke__estimate_set_sigma(w->filter, i, w->noise[i].sigma);
    }
  }
  w->has_open_model = false;
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// what a person should know

static void reason(const void* self, const yoke_sink* sink) {
  const twin* w = self;
  if (w->reason != NULL) {
    yoke_fail(sink, YOKE_UNIT_FAILED, "%s", w->reason);
  }
}

static void report(void* self, const yoke_sink* sink) {
  yoke__twin_report(self, sink);
}

static bool is_ours(const yoke_unit_ops* ops) {
  return ops->create == create;
}

const yoke_twin_settings* yoke__unit_twin_settings(const yoke_unit_ops* ops, void* self) {
  twin* w = self;
  if (!is_ours(ops)) {
    return NULL;
  }
  w->exported = *w->settings;
  w->exported.held = w->held_names;
  w->exported.n_held = 0;
  for (size_t i = 0; i < w->layout.n_known; i++) {
    if (w->is_held[i]) {
      w->held_names[w->exported.n_held++] = w->network.circuit->inputs[w->layout.known[i]].name;
    }
  }
  return &w->exported;
}

void yoke__unit_twin_hold(const yoke_unit_ops* ops, void* self, size_t input) {
  twin* w = self;
  if (is_ours(ops) && input < w->layout.n_known) {
    w->is_held[input] = true;
  }
}

bool yoke__unit_twin_figures(const yoke_unit_ops* ops, const void* self,
                             yoke_unit_twin_figures* out) {
  if (!is_ours(ops)) {
    return false;
  }
  yoke__twin_figures(self, out);
  return true;
}

// ---------------------------------------------------------------------------------------------------------
// the file

static const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

static void fill_ops(twin_file* file) {
  file->ops = (yoke_unit_ops){
      YOKE_UNIT_HEAD,
      .name = base_name(file->settings.path),
      .text = file->network->title,
      .structure = file->structure,
      .n_structure = file->n_structure,
      .create = create,
      .describe = describe,
      .set = set,
      .get = get,
      .enter_init = enter_init,
      .exit_init = exit_init,
      .set_inputs = set_inputs,
      .get_outputs = get_outputs,
      .step = step,
      .refresh = refresh,
      .save = save,
      .restore = restore,
      .reason = reason,
      .report = report,
      .close = close_twin,
      .context = file,
      .set_input_info = set_input_info,
  };
}

static void close_file(yoke_unit_file* base) {
  twin_file* file = (twin_file*)base;
  yoke__netlist_close(&file->read);
  yoke__arena_free(&file->arena);
  free(file);
}

static yoke_status read_netlist(twin_file* file, yoke_messages* messages) {
  const yoke_netlist* netlist = file->settings.netlist;
  yoke_status status = YOKE_OK;
  if (netlist == NULL) {
    status = yoke__netlist_open(file->settings.path, &file->read);
    netlist = file->read;
  }
  if (netlist != NULL) {
    yoke__messages_merge(messages, &netlist->messages);
  }
  YOKE_TRY(status);
  assert(netlist != NULL);
  file->base.netlist = netlist;
  file->network = netlist->network;
  return yoke__circuit_parameters(file->network, &file->arena, &file->structure,
                                  &file->n_structure);
}

yoke_status yoke__twin_file_open(const yoke_unit_file_settings* settings, yoke_messages* messages,
                                 yoke_unit_file** out) {
  twin_file* file = calloc(1, sizeof *file);
  YOKE_TRY_MEMORY(file);
  file->settings = *settings;
  file->base.close = close_file;
  const yoke_status status = read_netlist(file, messages);
  if (status < 0) {
    close_file(&file->base);
    return status;
  }
  fill_ops(file);
  file->base.ops = &file->ops;
  *out = &file->base;
  return YOKE_OK;
}
