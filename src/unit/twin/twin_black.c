// Twins of a unit that is a black box: the estimator of src/estimate/estimate_black.h on instances of the unit, behind the operations of
// yoke/unit.h. See docs/twin_black.md.
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "unit/twin/twin_black_part.h"
#include "unit/twin/unit_twin_inside.h"

static void close_twin(void* self);

// ---------------------------------------------------------------------------------------------------------
// life

static yoke_status create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  black_twin* w = calloc(1, sizeof *w);
  YOKE_TRY_MEMORY(w);
  w->file = args->context;
  w->settings = w->file->settings.twin;
  const yoke_status status = yoke__twin_black_make(w, args);
  for (size_t i = 0; i < w->messages.n; i++) {
    if (status >= 0 || w->messages.all[i].severity == YOKE_ERROR) {
      yoke_send(sink, &w->messages.all[i]);
    }
  }
  if (status < 0) {
    close_twin(w);
    return status;
  }
  *self = w;
  return YOKE_OK;
}

static const yoke_unit_info* describe(const void* self) {
  return &((const black_twin*)self)->info;
}

static void terminate(void* self) {
  yoke__instances_terminate(((black_twin*)self)->instances);
}

static void close_twin(void* self) {
  black_twin* w = self;
  yoke__instances_destroy(&w->instances);
  yoke__messages_free(&w->messages);
  yoke__arena_free(&w->arena);
  free(w);
}

// ---------------------------------------------------------------------------------------------------------
// variables

// Parameters and start values are those of all instances.
static yoke_status set_inner(black_twin* w, size_t variable, const void* value, size_t size) {
  return w->phase == BLACK_RUNNING ? YOKE_NO_SUPPORT
                                   : yoke__instances_set(w->instances, variable, value, size);
}

static yoke_status set(void* self, size_t variable, const void* value, size_t size) {
  black_twin* w = self;
  const black_slot* slot = &w->slots[variable];
  if (slot->kind == BLACK_SLOT_INNER) {
    return set_inner(w, slot->index, value, size);
  }
  if (slot->kind == BLACK_SLOT_REAL && slot->inner != YOKE_NOT_FOUND) {
    return set_inner(w, slot->inner, value, size);
  }
  if (slot->kind != BLACK_SLOT_KNOWN && slot->kind != BLACK_SLOT_SENSOR) {
    return YOKE_NO_SUPPORT;
  }
  if (size != sizeof(double)) {
    return YOKE_BAD_ARG;
  }
  memcpy(&w->u[slot->index + (slot->kind == BLACK_SLOT_SENSOR ? w->n_known : 0)], value, size);
  return YOKE_OK;
}

static yoke_status get(const void* self, size_t variable, void* value, size_t size) {
  const black_twin* w = self;
  const black_slot* slot = &w->slots[variable];
  if (slot->kind == BLACK_SLOT_INNER) {
    return yoke__unit_get(w->unit, slot->index, value, size);
  }
  if (size != sizeof(double)) {
    return YOKE_BAD_ARG;
  }
  const void* from = slot->kind == BLACK_SLOT_WHOLE  ? (const void*)&w->wholes[slot->index]
                     : slot->kind == BLACK_SLOT_REAL ? (const void*)&w->reals[slot->index]
                     : slot->kind == BLACK_SLOT_SENSOR
                         ? (const void*)&w->u[w->n_known + slot->index]
                         : (const void*)&w->u[slot->index];
  memcpy(value, from, size);
  return YOKE_OK;
}

static yoke_status set_inputs(void* self, const double u[], size_t n_u) {
  black_twin* w = self;
  memcpy(w->u, u, n_u * sizeof *u);
  return YOKE_OK;
}

static yoke_status get_outputs(const void* self, double y[], size_t n_y) {
  const black_twin* w = self;
  size_t n = 0;
  for (size_t i = 0; i < w->info.n_variables && n < n_y; i++) {
    if (w->slots[i].kind == BLACK_SLOT_REAL) {
      y[n++] = w->reals[w->slots[i].index];
    }
  }
  return YOKE_OK;
}

static yoke_status set_input_info(void* self, const yoke_sample_info info[], size_t n_u) {
  black_twin* w = self;
  memcpy(w->infos, info, n_u * sizeof *info);
  w->has_infos = true;
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// a run

static yoke_status enter_init(void* self, double t_start, double t_stop, const yoke_sink* sink) {
  black_twin* w = self;
  YOKE_TRY(yoke__twin_black_enter(w, t_start, t_stop, sink));
  w->phase = BLACK_INITIALISING;
  return yoke__twin_black_refresh(w, t_start);
}

static yoke_status exit_init(void* self) {
  black_twin* w = self;
  YOKE_TRY(yoke__twin_black_begin(w));
  w->phase = BLACK_RUNNING;
  return YOKE_OK;
}

// While the system is initialised the start follows the inputs. Afterwards outputs are those of the last step.
static yoke_status refresh(void* self, double t) {
  black_twin* w = self;
  return w->phase == BLACK_RUNNING ? YOKE_OK : yoke__twin_black_refresh(w, t);
}

static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  return yoke__twin_black_step(self, t, h, result);
}

static void reason(const void* self, const yoke_sink* sink) {
  const black_twin* w = self;
  if (w->text[0] != '\0') {
    yoke_fail(sink, YOKE_UNIT_FAILED, "%s", w->text);
  }
  yoke__unit_reason(yoke__instances_unit(w->instances, w->failed), sink);
}

static void report(void* self, const yoke_sink* sink) {
  black_twin* w = self;
  yoke__twin_black_report(w, sink);
  if (w->unit->ops->report != NULL) {
    w->unit->ops->report(w->unit->self, sink);
  }
}

// ---------------------------------------------------------------------------------------------------------
// what a person wants to know

bool yoke__twin_black_figures(const yoke_unit_ops* ops, const void* self,
                              yoke_unit_twin_figures* out) {
  if (ops->create != create) {
    return false;
  }
  const black_twin* w = self;
  *out = (yoke_unit_twin_figures){.title = w->unit->ops->name,
                                  .filter = w->extended != NULL ? "extended" : "black box",
                                  .step = w->h,
                                  .sensors = w->sensor_figures,
                                  .unknowns = w->unknown_figures,
                                  .n_sensors = w->n_sensors,
                                  .n_unknowns = w->n_unknowns,
                                  .n_instances = w->n_sets * w->n_members,
                                  .n_members = w->n_members,
                                  .n_threads = yoke__instances_threads(w->instances),
                                  .is_restored = w->is_restored};
  return true;
}

static void read_innovation(const void* self, size_t sensor, double* innovation, double* sd) {
  yoke__twin_core_innovation(self, sensor, innovation, sd);
}

bool yoke__twin_black_inside(const yoke_unit_ops* ops, const void* self,
                             yoke_unit_twin_inside* out) {
  if (ops->create != create) {
    return false;
  }
  const black_twin* w = self;
  *out = (yoke_unit_twin_inside){
      .sensors = w->sensor_figures,
      .unknowns = w->unknown_figures,
      .n_sensors = w->n_sensors,
      .n_unknowns = w->n_unknowns,
      .h = w->h,
      .innovation = read_innovation,
      .n_start = yoke__black_start_steps(),
      .has_diverged = w->has_failed,
      .reason = w->has_failed ? YOKE_ESTIMATE_NOT_FINITE : YOKE_ESTIMATE_LOST,
      .n_steps = w->n_steps,
  };
  out->verdict = out->has_diverged ? YOKE_TWIN_DIVERGED : yoke__twin_core_verdict(w, &out->why);
  out->far = yoke__twin_core_find_far(w, &out->excursion);
  out->is_doubtful = yoke__twin_core_is_doubtful(w);
  return true;
}

// ---------------------------------------------------------------------------------------------------------
// the file

static void close_file(yoke_unit_file* base) {
  black_file* file = (black_file*)base;
  free((void*)file->inner);
  free(file);
}

yoke_status yoke__twin_black_open(const yoke_unit_file_settings* settings,
                                  const yoke_unit_ops* const ops[], size_t n,
                                  yoke_unit_file** out) {
  black_file* file = calloc(1, sizeof *file);
  const yoke_unit_ops** inner = calloc(n, sizeof *inner);  // NOLINT: the elements are pointers
  if (file == NULL || inner == NULL) {
    free(file);
    free((void*)inner);
    return YOKE_NO_MEMORY;
  }
  // NOLINTNEXTLINE(bugprone-sizeof-expression): the elements are pointers
  memcpy((void*)inner, (const void*)ops, n * sizeof *inner);
  file->settings = *settings;
  file->inner = inner;
  file->n_inner = n;
  file->ops = (yoke_unit_ops){
      YOKE_UNIT_HEAD,
      .name = ops[0]->name,
      .text = ops[0]->text,
      .structure = ops[0]->structure,
      .n_structure = ops[0]->n_structure,
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
      .reason = reason,
      .report = report,
      .terminate = terminate,
      .close = close_twin,
      .context = file,
      .set_input_info = set_input_info,
  };
  file->base = (yoke_unit_file){.ops = &file->ops, .close = close_file};
  *out = &file->base;
  return YOKE_OK;
}
