// The life of an instance. The phases are those of FMI co-simulation, which both versions share:
//
//   create -> INSTANTIATED -> setup, enter_init -> INITIALISING -> exit_init -> STEPPING -> terminate -> TERMINATED
//                  ^------------------------- reset ----------------------------'
//
// Event mode is a part of STEPPING in which no step is done: a unit deals with its events alone, so nothing happens there but
// that inputs are set and outputs are read.
//
// Assumes one thread per instance, as FMI promises. Outputs are computed again only when something was set since
// (is_dirty), so that what a step returned is what is read.
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "export/runtime/runtime.h"

#define MAX_MESSAGE 1024

// ---- messages

static const char* const category_names[] = {"", "logStatusWarning", "logStatusDiscard",
                                             "logStatusError", "logStatusFatal"};

yoke_runtime_status yoke__runtime_say(const yoke_runtime* rt, yoke_runtime_status status,
                                      const char* format, ...) {
  if (rt->logger == NULL || (rt->log_mask & (1u << status)) == 0) {
    return status;
  }
  char text[MAX_MESSAGE];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  rt->logger(rt, status, category_names[status], text);
  return status;
}

// Messages of the unit go to the logger, behind words that say what failed.
typedef struct log_sink {
  yoke_sink sink;
  const yoke_runtime* rt;
  char what[256];
  bool is_used;
} log_sink;

static void log_message(void* to, const yoke_message* message) {
  log_sink* log = to;
  char place[512] = "";
  if (message->file != NULL && message->line > 0) {
    (void)snprintf(place, sizeof place, "%s:%d: ", message->file, message->line);
  } else if (message->file != NULL) {
    (void)snprintf(place, sizeof place, "%s: ", message->file);
  }
  (void)yoke__runtime_say(
      log->rt, message->severity == YOKE_ERROR ? YOKE_RUNTIME_ERROR : YOKE_RUNTIME_WARNING,
      "%s: %s%s", log->what, place, message->text);
  log->is_used = log->is_used || message->severity == YOKE_ERROR;
}

static const yoke_sink* log_open(log_sink* log, const yoke_runtime* rt, const char* format, ...)
    YOKE_PRINTF(3, 4);
static const yoke_sink* log_open(log_sink* log, const yoke_runtime* rt, const char* format, ...) {
  *log = (log_sink){.sink = {log_message, log}, .rt = rt};
  va_list args;
  va_start(args, format);
  (void)vsnprintf(log->what, sizeof log->what, format, args);
  va_end(args);
  return &log->sink;
}

// A failure is never without a message.
static yoke_runtime_status log_failure(log_sink* log, yoke_status status) {
  if (!log->is_used) {
    yoke_fail(&log->sink, status, "%s", yoke_status_text(status));
  }
  return YOKE_RUNTIME_ERROR;
}

yoke_runtime_status yoke__runtime_log_choose(yoke_runtime* rt, bool is_on, size_t n,
                                             const char* const names[]) {
  yoke_runtime_status status = YOKE_RUNTIME_OK;
  uint32_t mask = n == 0 ? YOKE_RUNTIME_LOG_ALL : 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t bit = 0;
    for (uint32_t c = YOKE_RUNTIME_WARNING; names[i] != NULL && c <= YOKE_RUNTIME_FATAL; c++) {
      bit |= strcmp(category_names[c], names[i]) == 0 ? 1u << c : 0;
    }
    if (bit == 0) {
      status = yoke__runtime_say(rt, YOKE_RUNTIME_WARNING, "unknown log category '%.80s'",
                                 names[i] == NULL ? "" : names[i]);
    }
    mask |= bit;
  }
  if (is_on) {
    rt->log_mask = mask;
  } else if (n > 0) {
    rt->log_mask &= ~mask;
  } else {
    // debugging is off, failures are not debugging
    rt->log_mask = YOKE_RUNTIME_LOG_ALL & ~(uint32_t)YOKE_RUNTIME_LOG_WARNING;
  }
  return status;
}

static const char* phase_text(yoke_runtime_phase phase) {
  switch (phase) {
  case YOKE_RUNTIME_INSTANTIATED:
    return "before its initialisation";
  case YOKE_RUNTIME_INITIALISING:
    return "in its initialisation";
  case YOKE_RUNTIME_STEPPING:
    return "between steps";
  case YOKE_RUNTIME_TERMINATED:
    return "terminated";
  case YOKE_RUNTIME_FAILED:
    return "in the state 'error'";
  }
  return "";
}

bool yoke__runtime_expect(const yoke_runtime* rt, unsigned phases, const char* function) {
  if (rt == NULL) {
    return false;
  }
  if (((unsigned)rt->phase & phases) == 0) {
    (void)yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "%s is not allowed now: the instance is %s",
                            function, phase_text(rt->phase));
    return false;
  }
  return true;
}

// ---- the unit

static void close_unit(yoke_runtime* rt) {
  yoke__unit_close(&rt->unit);
  yoke__arena_free(&rt->unit_arena);
  rt->slots = NULL;
  rt->n_slots = 0;
  rt->states = (yoke_export_states){0};
}

// One slot per element, and room for values and images.
static yoke_status lay_tables(yoke_runtime* rt) {
  const yoke_unit_info* info = rt->unit.info;
  size_t n = 0, largest = 1, inputs = 1;
  for (size_t i = 0; i < info->n_variables; i++) {
    const yoke_variable* v = &info->variables[i];
    const size_t size = yoke__variable_size(v);
    n += yoke__variable_count(v);
    largest = size > largest ? size : largest;
    inputs += v->causality == YOKE_INPUT ? size : 0;
  }
  rt->image_size = yoke__unit_image_size(&rt->unit);
  rt->n_slots = n;
  YOKE_TRY(yoke__runtime_derivative_open(rt));
  const size_t n_all = n + rt->states.n;
  rt->slots = yoke__arena_array(&rt->unit_arena, n_all + 1, sizeof *rt->slots);
  rt->value = yoke__arena_take(&rt->unit_arena, largest);
  rt->indices = yoke__arena_array(&rt->unit_arena, 3 * n_all + 1, sizeof *rt->indices);
  rt->room = yoke__arena_take(&rt->unit_arena, largest);
  rt->inputs = yoke__arena_take(&rt->unit_arena, inputs);
  rt->start_image = yoke__arena_take(&rt->unit_arena, rt->image_size + 1);
  YOKE_TRY(yoke__arena_status(&rt->unit_arena));
  size_t at = 0;
  for (size_t i = 0; i < info->n_variables; i++) {
    const size_t count = yoke__variable_count(&info->variables[i]);
    for (size_t j = 0; j < count; j++) {
      rt->slots[at++] = (yoke_runtime_slot){(uint32_t)i, (uint32_t)j};
    }
  }
  assert(at == n && (rt->states.n == 0 ||
                     yoke__export_states_reference(n, rt->states.n - 1) == n + rt->states.n));
  for (size_t i = 0; i < rt->states.n; i++) {
    rt->slots[yoke__export_states_reference(n, i)] =
        (yoke_runtime_slot){(uint32_t)(info->n_variables + i), 0};
  }
  return YOKE_OK;
}

static yoke_runtime_status make_unit(yoke_runtime* rt) {
  const yoke_runtime_config* config = &rt->config;
  const yoke_unit_args args = {.name = rt->name,
                               .directory = rt->directory,
                               .arguments = config->arguments,
                               .n_arguments = config->n_arguments,
                               .context = config->ops->context};
  log_sink log;
  const yoke_sink* sink = log_open(&log, rt, "%s cannot be made", config->ops->name);
  yoke_status status = yoke__unit_create(config->ops, &args, &rt->unit_arena, &rt->unit, sink);
  if (status >= 0) {
    status = yoke__runtime_config_apply(config, &rt->unit, &rt->unit_arena, sink);
  }
  if (status >= 0) {
    status = lay_tables(rt);
  }
  if (status < 0) {
    close_unit(rt);
    rt->phase = YOKE_RUNTIME_FAILED;
    return log_failure(&log, status);
  }
  rt->phase = YOKE_RUNTIME_INSTANTIATED;
  rt->is_experiment_set = rt->is_dirty = rt->is_started = rt->is_end_wanted = false;
  rt->is_in_event_mode = false;
  rt->time = rt->t_start = rt->t_reached = rt->first_step = 0.0;
  rt->t_stop = (double)INFINITY;
  return YOKE_RUNTIME_OK;
}

// ---- create and free

static yoke_runtime_status open_instance(yoke_runtime* rt, const char* name, const char* token,
                                         const char* directory) {
  log_sink log;
  rt->name = yoke__arena_text(&rt->arena, name, strlen(name));
  rt->directory = yoke__arena_text(&rt->arena, directory, strlen(directory));
  if (rt->name == NULL || rt->directory == NULL) {
    return yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "out of memory");
  }
  const yoke_status status = yoke__runtime_config_read(
      directory, &rt->arena, &rt->config, log_open(&log, rt, "the resources cannot be used"));
  if (status < 0) {
    return log_failure(&log, status);
  }
  if (token == NULL || strcmp(token, rt->config.token) != 0) {
    return yoke__runtime_say(rt, YOKE_RUNTIME_ERROR,
                             "the token is '%.80s', expected '%.80s': the model description "
                             "belongs to another FMU",
                             token == NULL ? "" : token, rt->config.token);
  }
  return make_unit(rt);
}

yoke_runtime* yoke__runtime_create(const char* name, const char* token, const char* directory,
                                   yoke_runtime_logger logger, const yoke_runtime_host* host,
                                   bool is_logging) {
  yoke_runtime* rt = calloc(1, sizeof *rt);
  if (rt == NULL) {
    return NULL;
  }
  rt->logger = logger;
  rt->host = *host;
  rt->name = name == NULL ? "" : name;
  (void)yoke__runtime_log_choose(rt, is_logging, 0, NULL);
  if (directory == NULL) {
    (void)yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "the place of the resources is missing");
  } else if (open_instance(rt, rt->name, token, directory) == YOKE_RUNTIME_OK) {
    return rt;
  }
  yoke__runtime_free(rt);
  return NULL;
}

void yoke__runtime_free(yoke_runtime* rt) {
  if (rt != NULL) {
    close_unit(rt);
    yoke__export_circuit_close(&rt->config.circuit);
    yoke__runtime_library_close(&rt->config);
    yoke__arena_free(&rt->arena);
    free(rt);
  }
}

yoke_runtime_status yoke__runtime_reset(yoke_runtime* rt) {
  close_unit(rt);
  return make_unit(rt);
}

// ---- initialisation

// A unit that failed is not called any more. Its own reason says the most, then `why` (may be NULL).
static yoke_runtime_status fail(yoke_runtime* rt, const char* what, yoke_status status,
                                const char* why) {
  log_sink log;
  const yoke_sink* sink = log_open(&log, rt, "%s at time %.9g", what, rt->time);
  rt->phase = YOKE_RUNTIME_FAILED;
  yoke__unit_reason(&rt->unit, sink);
  if (!log.is_used && why != NULL) {
    yoke_fail(sink, status, "%s", why);
  }
  return log_failure(&log, status);
}

yoke_runtime_status yoke__runtime_setup(yoke_runtime* rt, double t_start, bool has_stop,
                                        double t_stop) {
  if (!yoke__is_finite(t_start) || (has_stop && !(t_stop >= t_start))) {
    return yoke__runtime_say(rt, YOKE_RUNTIME_ERROR,
                             "the experiment from %.9g to %.9g is not possible", t_start, t_stop);
  }
  rt->t_start = rt->time = rt->t_reached = t_start;
  rt->t_stop = has_stop ? t_stop : (double)INFINITY;
  rt->is_experiment_set = true;
  return YOKE_RUNTIME_OK;
}

// The unit's own initialisation with what is set now.
static yoke_runtime_status start_unit(yoke_runtime* rt) {
  if (rt->is_started) {
    return YOKE_RUNTIME_OK;
  }
  if (rt->image_size > 0) {
    const yoke_status saved = yoke__unit_save(&rt->unit, rt->start_image, rt->image_size);
    if (saved < 0) {
      return fail(rt, "saving the start", saved, NULL);
    }
  }
  log_sink log;
  const yoke_status status =
      yoke__unit_enter_init(&rt->unit, rt->t_start, rt->t_stop,
                            log_open(&log, rt, "initialisation at time %.9g", rt->time));
  if (status < 0) {
    rt->phase = YOKE_RUNTIME_FAILED;
    return log_failure(&log, status);
  }
  rt->is_started = rt->is_dirty = true;
  return YOKE_RUNTIME_OK;
}

yoke_runtime_status yoke__runtime_enter_init(yoke_runtime* rt) {
  const yoke_runtime_status status = start_unit(rt);
  if (status == YOKE_RUNTIME_OK) {
    rt->phase = YOKE_RUNTIME_INITIALISING;
  }
  return status;
}

// All inputs to or from their room.
static yoke_status move_inputs(yoke_runtime* rt, bool is_saving) {
  char* at = rt->inputs;
  for (size_t i = 0; i < rt->unit.info->n_variables; i++) {
    const yoke_variable* v = &rt->unit.info->variables[i];
    const size_t size = yoke__variable_size(v);
    if (v->causality == YOKE_INPUT) {
      YOKE_TRY(is_saving ? yoke__unit_get(&rt->unit, i, at, size)
                         : yoke__unit_set(&rt->unit, i, at, size));
      at += size;
    }
  }
  return YOKE_OK;
}

yoke_runtime_status yoke__runtime_rewind(yoke_runtime* rt) {
  if (rt->phase != YOKE_RUNTIME_INITIALISING || !rt->is_started) {
    return YOKE_RUNTIME_OK;
  }
  yoke_status status = rt->image_size > 0 ? move_inputs(rt, true) : YOKE_NO_SUPPORT;
  if (status >= 0) {
    status = yoke__unit_restore(&rt->unit, rt->start_image, rt->image_size);
  }
  if (status >= 0) {
    status = move_inputs(rt, false);
  }
  rt->is_started = false;
  return status < 0 ? fail(rt, "setting a start value", status, NULL) : YOKE_RUNTIME_OK;
}

// Outputs as they follow from what is set.
static yoke_runtime_status refresh(yoke_runtime* rt) {
  if (rt->phase == YOKE_RUNTIME_INITIALISING) {
    const yoke_runtime_status started = start_unit(rt);
    if (started != YOKE_RUNTIME_OK) {
      return started;
    }
  }
  const unsigned alive = YOKE_RUNTIME_INITIALISING | YOKE_RUNTIME_STEPPING;
  if (!rt->is_dirty || ((unsigned)rt->phase & alive) == 0) {
    return YOKE_RUNTIME_OK;
  }
  rt->is_dirty = false;
  const yoke_status status =
      rt->unit.ops->refresh == NULL ? YOKE_OK : rt->unit.ops->refresh(rt->unit.self, rt->time);
  return status < 0 ? fail(rt, "computing the outputs", status, NULL) : YOKE_RUNTIME_OK;
}

yoke_runtime_status yoke__runtime_exit_init(yoke_runtime* rt) {
  const yoke_runtime_status fresh = refresh(rt);
  if (fresh != YOKE_RUNTIME_OK) {
    return fresh;
  }
  const yoke_status status = yoke__unit_exit_init(&rt->unit);
  if (status < 0) {
    return fail(rt, "the end of the initialisation", status, NULL);
  }
  rt->is_dirty = rt->unit.ops->exit_init != NULL;
  rt->phase = YOKE_RUNTIME_STEPPING;
  rt->is_in_event_mode = rt->uses_events;
  return YOKE_RUNTIME_OK;
}

yoke_runtime_status yoke__runtime_begin_get(yoke_runtime* rt, const char* function) {
  const unsigned phases = YOKE_RUNTIME_INSTANTIATED | YOKE_RUNTIME_INITIALISING |
                          YOKE_RUNTIME_STEPPING | YOKE_RUNTIME_TERMINATED | YOKE_RUNTIME_FAILED;
  if (!yoke__runtime_expect(rt, phases, function)) {
    return YOKE_RUNTIME_ERROR;
  }
  if (rt->unit.self == NULL) {
    return yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "%s: there is no unit after a failed reset",
                             function);
  }
  return refresh(rt);
}

// ---- stepping

static yoke_runtime_status check_step(const yoke_runtime* rt, double t, double h) {
  if (rt->is_in_event_mode) {
    return yoke__runtime_say(rt, YOKE_RUNTIME_ERROR, "a step is not allowed in event mode");
  }
  if (!yoke__is_finite(t) || !(h > 0.0) || !yoke__is_finite(h)) {
    return yoke__runtime_say(rt, YOKE_RUNTIME_ERROR,
                             "a step from %.9g of length %.9g is not possible", t, h);
  }
  // the sum of many steps may have drifted, but not by a part of a step
  if (fabs(t - rt->time) > 1e-9 * fabs(t) + 1e-3 * h) {
    return yoke__runtime_say(rt, YOKE_RUNTIME_ERROR,
                             "the step starts at %.17g, but the instance stands at %.17g", t,
                             rt->time);
  }
  const bool is_fixed = (rt->unit.info->flags & YOKE_UNIT_FIXED_STEP) != 0;
  if (is_fixed && rt->first_step > 0.0 && fabs(h - rt->first_step) > 1e-9 * rt->first_step) {
    return yoke__runtime_say(rt, YOKE_RUNTIME_ERROR,
                             "a step of %.17g after steps of %.17g: all steps must have the same "
                             "length",
                             h, rt->first_step);
  }
  return YOKE_RUNTIME_OK;
}

// The news of a step that was done, at least in part.
static yoke_runtime_status take_result(yoke_runtime* rt, double t_end,
                                       const yoke_step_result* result) {
  rt->time = rt->t_reached = result->t_reached;
  rt->is_end_wanted = (result->flags & YOKE_STEP_END_WANTED) != 0;
  if ((result->flags & YOKE_STEP_EVENT_NEEDED) != 0 && rt->unit.ops->event_update != NULL) {
    yoke_step_result news = {.t_reached = rt->time};
    const yoke_status status = rt->unit.ops->event_update(rt->unit.self, rt->time, &news);
    if (status < 0) {
      return fail(rt, "an event", status, news.message);
    }
    rt->is_end_wanted = rt->is_end_wanted || (news.flags & YOKE_STEP_END_WANTED) != 0;
  }
  if (result->t_reached < t_end) {
    return yoke__runtime_say(rt, YOKE_RUNTIME_DISCARD, "the step to %.9g ended at %.9g", t_end,
                             result->t_reached);
  }
  return YOKE_RUNTIME_OK;
}

yoke_runtime_status yoke__runtime_step(yoke_runtime* rt, double t, double h) {
  const yoke_runtime_status sound = check_step(rt, t, h);
  if (sound != YOKE_RUNTIME_OK) {
    return sound;
  }
  const yoke_unit_ops* ops = rt->unit.ops;
  yoke_step_result result = {.t_reached = t + h};
  const yoke_status status = ops->step != NULL ? ops->step(rt->unit.self, t, h, &result)
                                               : ops->refresh(rt->unit.self, t + h);
  if (status == YOKE_DISCARDED || (status >= 0 && (result.flags & YOKE_STEP_DISCARDED) != 0)) {
    rt->t_reached = rt->time;
    return yoke__runtime_say(rt, YOKE_RUNTIME_DISCARD, "the step from %.9g was refused: %s", t,
                             result.message == NULL ? "" : result.message);
  }
  if (status < 0) {
    return fail(rt, "a step", status, result.message);
  }
  rt->first_step = rt->first_step > 0.0 ? rt->first_step : h;
  rt->is_dirty = false;
  return take_result(rt, t + h, &result);
}

yoke_runtime_status yoke__runtime_terminate(yoke_runtime* rt) {
  yoke__unit_terminate(&rt->unit);
  rt->phase = YOKE_RUNTIME_TERMINATED;
  return YOKE_RUNTIME_OK;
}
