// Event mode of FMI 3.0 co-simulation: events, discrete inputs, clocks; and the clocks of scheduled execution.
//
// An event at time t, as the standard orders it (FMI 3.0, sections 2.2.8.3 and 4.2):
//   enter event mode; set what waits: discrete inputs, tunable parameters, the clocks that tick now and their inputs;
//   repeat { read the clocks that the binary ticks, and clocked outputs; update the discrete states } until no more;
//   return to step mode.
// Discrete inputs may be set in event mode only, so typed values that come in between wait here. Clocked variables may
// be touched only while a clock ticks: their inputs wait longer, their outputs are kept from the last tick.
//
// A periodic clock ticks at origin + shift + n * interval with an integer n, or at origin + counter / resolution.
#include "unit/fmu/fmu_events.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "unit/unit.h"

#define NEVER (-DBL_MAX)

bool yoke__fmu_events_wanted(const fmu_file* file) {
  return file->is_scheduled || (!file->is_model_exchange && file->interface_type->has_event_mode &&
                                !file->settings.is_event_mode_off);
}

static const yoke_fmi_variable* source_of(const fmu* f, size_t variable) {
  return &f->description->variables[f->layout.slots[variable].variable];
}

// ---------------------------------------------------------------------------------------------------------
// layout: real inputs and outputs, split by when they may be touched

typedef enum part { CONTINUOUS_IN, DISCRETE_IN, CLOCKED_IN, PLAIN_OUT, CLOCKED_OUT, NO_PART } part;

static part part_of(const fmu* f, size_t variable) {
  const yoke_variable* v = &f->layout.info.variables[variable];
  const yoke_fmi_variable* from = source_of(f, variable);
  if (v->type != YOKE_REAL || (v->causality != YOKE_INPUT && v->causality != YOKE_OUTPUT)) {
    return NO_PART;
  }
  if (v->causality == YOKE_OUTPUT) {
    return from->has_clocks ? CLOCKED_OUT : PLAIN_OUT;
  }
  if (from->has_clocks) {
    return CLOCKED_IN;
  }
  // in scheduled execution all inputs belong to the next activation
  return from->variability == YOKE_FMI_CONTINUOUS && !f->file->is_scheduled ? CONTINUOUS_IN
                                                                            : DISCRETE_IN;
}

// A part of a dense vector as a dense vector of its own, whose index leads into the whole.
static yoke_status lay_part(fmu* f, part wanted, yoke_causality causality, fmu_dense* out) {
  bool* is_wanted = yoke__arena_array(&f->arena, f->layout.info.n_variables + 1, sizeof *is_wanted);
  size_t n_all = 0;
  for (size_t i = 0; is_wanted != NULL && i < f->layout.info.n_variables; i++) {
    is_wanted[i] = part_of(f, i) == wanted;
  }
  return is_wanted == NULL
             ? YOKE_NO_MEMORY
             : yoke__fmu_lay_dense(&f->layout, causality, is_wanted, &f->arena, out, &n_all);
}

static yoke_status lay_parts(fmu* f) {
  fmu_events* e = f->events;
  YOKE_TRY(lay_part(f, CONTINUOUS_IN, YOKE_INPUT, &e->continuous));
  YOKE_TRY(lay_part(f, DISCRETE_IN, YOKE_INPUT, &e->discrete));
  YOKE_TRY(lay_part(f, PLAIN_OUT, YOKE_OUTPUT, &e->plain));
  // the usual case, without copies: all of them in one call
  if (e->continuous.n + e->continuous.n32 == f->layout.n_u) {
    e->continuous = f->layout.inputs;
  }
  if (e->plain.n + e->plain.n32 == f->layout.n_y) {
    e->plain = f->layout.outputs;
  }
  e->plain_read = &e->plain;
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// layout: clocks and values that wait

static const yoke_fmi_clock* clock_of(const fmu* f, size_t variable) {
  const size_t index = f->layout.slots[variable].variable;
  for (size_t i = 0; i < f->description->n_clocks; i++) {
    if (f->description->clocks[i].variable == index) {
      return &f->description->clocks[i];
    }
  }
  return NULL;
}

// the clocks of a variable stand next to each other
static void find_clocks(const fmu* f, size_t variable, size_t* first, size_t* n) {
  const yoke_fmi_description* d = f->description;
  const size_t index = f->layout.slots[variable].variable;
  *first = *n = 0;
  for (size_t i = 0; source_of(f, variable)->has_clocks && i < d->n_clocked; i++) {
    if (d->clocked[i].variable == index) {
      *first = *n == 0 ? i : *first;
      ++*n;
    }
  }
}

static void lay_clock(fmu* f, size_t variable) {
  fmu_events* e = f->events;
  const fmu_slot* slot = &f->layout.slots[variable];
  const yoke_fmi_clock* source = clock_of(f, variable);
  if (f->layout.info.variables[variable].causality != YOKE_INPUT) {
    fmu_shown* shown = &e->shown[e->n_shown++];
    shown->variable = variable;
    find_clocks(f, variable, &shown->first_clock, &shown->n_clocks);
    e->place[variable] = (uint32_t)e->n_shown;
    return;
  }
  fmu_clock clock = {.reference = slot->reference, .index = slot->variable, .source = source};
  if (source == NULL || source->interval == YOKE_FMI_INTERVAL_TRIGGERED) {
    e->triggers[e->n_triggers++] = clock;
    e->place[variable] = (uint32_t)e->n_triggers;
    return;
  }
  clock.is_periodic = source->interval != YOKE_FMI_INTERVAL_CHANGING &&
                      source->interval != YOKE_FMI_INTERVAL_COUNTDOWN;
  clock.is_asked = !clock.is_periodic || (source->interval == YOKE_FMI_INTERVAL_TUNABLE &&
                                          isnan(source->interval_decimal) && !source->has_counter);
  e->clocks[e->n_clocks++] = clock;
}

// one value that may have to wait; *at moves on by its room
static void lay_waiting(fmu* f, size_t variable, fmu_waiting list[], size_t* n, size_t* at,
                        size_t room) {
  fmu_waiting* w = &list[*n];
  *w = (fmu_waiting){.variable = variable,
                     .at = *at,
                     .size = yoke__variable_size(&f->layout.info.variables[variable])};
  find_clocks(f, variable, &w->first_clock, &w->n_clocks);
  *at += room;
  f->events->place[variable] = (uint32_t)++ * n;
}

static void lay_variable(fmu* f, size_t variable, size_t* at_u, size_t* at_y, size_t* at_values) {
  fmu_events* e = f->events;
  const yoke_variable* v = &f->layout.info.variables[variable];
  const part own = part_of(f, variable);
  const size_t n = f->layout.slots[variable].n;
  const size_t bytes = (yoke__variable_size(v) + 7) / 8 * 8;
  if (f->layout.slots[variable].type == YOKE_FMI_CLOCK) {
    lay_clock(f, variable);
  } else if (own == CLOCKED_IN) {
    lay_waiting(f, variable, e->real_inputs, &e->n_real_inputs, at_u, n);
  } else if (own == CLOCKED_OUT) {
    lay_waiting(f, variable, e->real_outputs, &e->n_real_outputs, at_y, n);
  } else if (own != NO_PART) {
    *(v->causality == YOKE_INPUT ? at_u : at_y) += n;
  } else if (v->causality == YOKE_TUNABLE || v->causality == YOKE_INPUT) {
    lay_waiting(f, variable, e->inputs, &e->n_inputs, at_values, bytes);
  } else if (v->causality == YOKE_OUTPUT && source_of(f, variable)->has_clocks) {
    lay_waiting(f, variable, e->outputs, &e->n_outputs, at_values, bytes);
  }
}

static yoke_status lay_lists(fmu* f, size_t* n_bytes) {
  fmu_events* e = f->events;
  const size_t n = f->layout.info.n_variables + 1;
  yoke_arena* arena = &f->arena;
  e->place = yoke__arena_array(arena, n, sizeof *e->place);
  e->clocks = yoke__arena_array(arena, n, sizeof *e->clocks);
  e->triggers = yoke__arena_array(arena, n, sizeof *e->triggers);
  e->shown = yoke__arena_array(arena, n, sizeof *e->shown);
  e->ticking = yoke__arena_array(arena, n, sizeof *e->ticking);
  e->active = yoke__arena_array(arena, n, sizeof *e->active);
  e->is_on = yoke__arena_array(arena, f->description->n_variables + 1, sizeof *e->is_on);
  e->inputs = yoke__arena_array(arena, n, sizeof *e->inputs);
  e->outputs = yoke__arena_array(arena, n, sizeof *e->outputs);
  e->real_inputs = yoke__arena_array(arena, n, sizeof *e->real_inputs);
  e->real_outputs = yoke__arena_array(arena, n, sizeof *e->real_outputs);
  YOKE_TRY(yoke__arena_status(arena));
  size_t at_u = 0, at_y = 0;
  for (size_t i = 0; i < f->layout.info.n_variables; i++) {
    lay_variable(f, i, &at_u, &at_y, n_bytes);
  }
  return YOKE_OK;
}

// One block: fmu_live, ticks, u, y, flags, values.
static yoke_status lay_live(fmu* f, size_t n_bytes) {
  fmu_events* e = f->events;
  const size_t at_ticks = (sizeof(fmu_live) + 15) / 16 * 16;
  const size_t at_u = at_ticks + e->n_clocks * sizeof(fmu_tick);
  const size_t at_y = at_u + f->layout.n_u * sizeof(double);
  const size_t at_values = at_y + f->layout.n_y * sizeof(double);
  const size_t at_flags = at_values + n_bytes;
  f->kept_size = at_flags + e->n_shown + e->n_triggers + e->n_inputs;
  unsigned char* block = yoke__arena_take(&f->arena, f->kept_size);
  YOKE_TRY_MEMORY(block);
  f->kept = block;
  e->live = (fmu_live*)block;
  e->ticks = (fmu_tick*)(block + at_ticks);
  e->u = (double*)(block + at_u);
  e->y = (double*)(block + at_y);
  e->values = block + at_values;
  e->shown_ticked = block + at_flags;
  e->levels = e->shown_ticked + e->n_shown;
  e->is_waiting = e->levels + e->n_triggers;
  assert(e->is_waiting + e->n_inputs == block + f->kept_size);
  e->live->t_tried = NEVER;
  return YOKE_OK;
}

yoke_status yoke__fmu_events_open(fmu* f, const yoke_sink* sink) {
  const struct {
    const char* name;
    bool is_there;
  } needed[] = {{"fmi3EnterEventMode", f->f3->EnterEventMode != NULL},
                {"fmi3UpdateDiscreteStates", f->f3->UpdateDiscreteStates != NULL},
                {"fmi3EnterStepMode", f->f3->EnterStepMode != NULL}};
  for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
    if (!needed[i].is_there && !f->file->is_scheduled) {
      return yoke_fail(sink, YOKE_NO_SUPPORT,
                       "it says that it has event mode, but the binary lacks %s", needed[i].name);
    }
  }
  size_t n_bytes = 0;
  yoke_status status = lay_parts(f);
  status = status < 0 ? status : lay_lists(f, &n_bytes);
  return status < 0 ? status : lay_live(f, n_bytes);
}

// ---------------------------------------------------------------------------------------------------------
// when clocks tick

static double tick_time(const fmu_tick* tick) {
  if (tick->is_fraction) {
    return tick->origin + (double)tick->counter / (double)tick->resolution;
  }
  return tick->origin + (tick->offset + (double)tick->n * tick->interval);
}

typedef struct interval {
  bool is_fraction;
  double seconds;
  uint64_t counter, resolution;
  fmi3IntervalQualifier qualifier;
} interval;

static bool has_fractions(const fmu_clock* clock) {
  return clock->source->supports_fraction;
}

static yoke_status ask_interval(fmu* f, const fmu_clock* clock, interval* out) {
  *out = (interval){.qualifier = fmi3IntervalUnchanged, .resolution = 1};
  if (has_fractions(clock) && f->f3->GetIntervalFraction != NULL) {
    out->is_fraction = true;
    return FMU_CALL3(f, GetIntervalFraction, f->instance, &clock->reference, 1, &out->counter,
                     &out->resolution, &out->qualifier);
  }
  if (f->f3->GetIntervalDecimal == NULL) {
    snprintf(f->message, sizeof f->message,
             "a clock without an interval needs fmi3GetIntervalDecimal, which the binary lacks");
    return YOKE_UNIT_FAILED;
  }
  return FMU_CALL3(f, GetIntervalDecimal, f->instance, &clock->reference, 1, &out->seconds,
                   &out->qualifier);
}

// what the binary says must be usable: positive for a periodic clock, else not negative
static yoke_status check_interval(fmu* f, const fmu_clock* clock, const interval* i) {
  const double seconds = i->is_fraction ? (double)i->counter / (double)i->resolution : i->seconds;
  if (yoke__is_finite(seconds) && (clock->is_periodic ? seconds > 0 : seconds >= 0)) {
    return YOKE_OK;
  }
  snprintf(f->message, sizeof f->message, "clock '%s' has the interval %g s",
           f->description->variables[clock->source->variable].name, seconds);
  f->phase = FMU_FAILED;
  return YOKE_UNIT_FAILED;
}

// The next tick one interval after `from`; a periodic clock goes on from there.
static void schedule(fmu_tick* tick, double from, const interval* i) {
  const bool is_going_on = tick->is_fraction && i->is_fraction &&
                           tick->resolution == i->resolution && tick_time(tick) == from;
  tick->is_known = true;
  tick->is_fraction = i->is_fraction;
  tick->each = i->counter;
  tick->resolution = i->resolution;
  tick->interval = i->seconds;
  if (is_going_on) {
    tick->counter += i->counter;
    return;
  }
  tick->origin = from;
  tick->offset = 0;
  tick->counter = i->counter;
  tick->n = 1;
}

// shift of a periodic clock whose interval the binary told
static yoke_status ask_shift(fmu* f, const fmu_clock* clock, fmu_tick* tick) {
  uint64_t counter = 0, resolution = tick->resolution;
  if (tick->is_fraction && f->f3->GetShiftFraction != NULL) {
    YOKE_TRY(
        FMU_CALL3(f, GetShiftFraction, f->instance, &clock->reference, 1, &counter, &resolution));
    if (resolution == tick->resolution) {
      tick->counter = counter;
    } else if (resolution > 0) {
      tick->origin += (double)counter / (double)resolution;
    }
    return YOKE_OK;
  }
  double shift = 0;
  if (f->f3->GetShiftDecimal != NULL) {
    YOKE_TRY(FMU_CALL3(f, GetShiftDecimal, f->instance, &clock->reference, 1, &shift));
  }
  if (tick->is_fraction) {
    tick->origin += shift;
  } else {
    tick->offset = shift;
  }
  return YOKE_OK;
}

// A fixed clock may be told its interval; it gets the one it names.
static yoke_status tell_interval(fmu* f, const fmu_clock* clock) {
  const yoke_fmi_clock* source = clock->source;
  if (source->interval != YOKE_FMI_INTERVAL_FIXED) {
    return YOKE_OK;
  }
  if (source->has_counter && has_fractions(clock) && f->f3->SetIntervalFraction != NULL) {
    return FMU_CALL3(f, SetIntervalFraction, f->instance, &clock->reference, 1,
                     &source->interval_counter, &source->resolution);
  }
  if (f->f3->SetIntervalDecimal == NULL || isnan(source->interval_decimal)) {
    return YOKE_OK;
  }
  return FMU_CALL3(f, SetIntervalDecimal, f->instance, &clock->reference, 1,
                   &source->interval_decimal);
}

static yoke_status prepare_clock(fmu* f, const fmu_clock* clock, fmu_tick* tick) {
  const yoke_fmi_clock* source = clock->source;
  *tick = (fmu_tick){.origin = f->t_start, .resolution = 1, .t_last = f->t_start};
  interval own = {.is_fraction = source->has_counter && source->resolution > 0,
                  .seconds = source->interval_decimal,
                  .counter = source->interval_counter,
                  .resolution = source->resolution};
  const bool is_given = own.is_fraction || !isnan(own.seconds);
  if (!clock->is_periodic || !is_given) {
    YOKE_TRY(ask_interval(f, clock, &own));
    if (own.qualifier == fmi3IntervalNotYetKnown) {
      return YOKE_OK;
    }
    YOKE_TRY(check_interval(f, clock, &own));
    schedule(tick, f->t_start, &own);
    if (!clock->is_periodic) {
      return YOKE_OK;
    }
    // the first tick comes after the shift, not after the interval
    tick->counter = tick->n = 0;
    return ask_shift(f, clock, tick);
  }
  YOKE_TRY(check_interval(f, clock, &own));
  schedule(tick, f->t_start, &own);
  tick->counter = source->shift_counter;
  tick->n = 0;
  tick->offset = isnan(source->shift_decimal) ? 0 : source->shift_decimal;
  if (tick->is_fraction && tick->counter == 0) {
    tick->origin += tick->offset;
  }
  return tell_interval(f, clock);
}

static bool is_countdown(const fmu_clock* clock) {
  return clock->source->interval == YOKE_FMI_INTERVAL_COUNTDOWN;
}

// After an update: clocks whose interval is the binary's to change. Which of them: all, or with and without countdown.
typedef enum renewed { RENEW_ALL, RENEW_COUNTDOWN, RENEW_OTHERS } renewed;

static yoke_status renew_intervals(fmu* f, double t, renewed which) {
  fmu_events* e = f->events;
  for (size_t i = 0; i < e->n_clocks; i++) {
    const fmu_clock* clock = &e->clocks[i];
    fmu_tick* tick = &e->ticks[i];
    const bool is_changing = clock->source->interval == YOKE_FMI_INTERVAL_CHANGING;
    const bool is_other = which != RENEW_ALL && is_countdown(clock) != (which == RENEW_COUNTDOWN);
    if (!clock->is_asked || is_other || (is_changing && tick->is_known)) {
      continue;
    }
    interval own;
    YOKE_TRY(ask_interval(f, clock, &own));
    if (own.qualifier == fmi3IntervalChanged) {
      YOKE_TRY(check_interval(f, clock, &own));
      // a changing clock counts from its tick, the others from the event
      schedule(tick, is_changing ? tick->t_last : t, &own);
    }
  }
  return YOKE_OK;
}

static bool is_clock_due(const fmu_tick* tick, double t, double tolerance) {
  return tick->is_known && tick_time(tick) <= t + tolerance;
}

// a time event that was offered a rounding too early must not be offered again before its time
static bool is_time_event_due(const fmu_live* live, double t, double tolerance) {
  return live->has_next &&
         (live->t_next <= t || (live->t_next <= t + tolerance && live->t_next != live->t_tried));
}

bool yoke__fmu_events_is_due(const fmu* f, double t, double tolerance) {
  const fmu_events* e = f->events;
  bool is_due = is_time_event_due(e->live, t, tolerance);
  for (size_t i = 0; i < e->n_clocks; i++) {
    is_due = is_due || is_clock_due(&e->ticks[i], t, tolerance);
  }
  return is_due;
}

bool yoke__fmu_events_has_inputs(const fmu* f) {
  const fmu_events* e = f->events;
  bool has_any = e->live->is_changed || e->live->n_waiting > 0 || e->live->has_jumped;
  for (size_t i = 0; i < e->n_triggers; i++) {
    has_any = has_any || e->levels[i] != 0;
  }
  return has_any;
}

double yoke__fmu_events_next(const fmu* f, double t, double end, double tolerance) {
  const fmu_events* e = f->events;
  double stop = end;
  if (e->live->has_next && e->live->t_next > t && e->live->t_next < end - tolerance) {
    stop = e->live->t_next;
  }
  for (size_t i = 0; i < e->n_clocks; i++) {
    const double next = tick_time(&e->ticks[i]);
    if (e->ticks[i].is_known && next > t && next < end - tolerance && next < stop) {
      stop = next;
    }
  }
  return stop;
}

// ---------------------------------------------------------------------------------------------------------
// values that wait

static bool is_input(const fmu* f, size_t variable) {
  return f->layout.info.variables[variable].causality == YOKE_INPUT;
}

// a triggered clock follows the boolean that is connected to it
static yoke_status keep_level(fmu* f, size_t variable, const void* storage) {
  fmu_events* e = f->events;
  const uint32_t place = e->place[variable];
  int64_t level = 0;
  memcpy(&level, storage, sizeof level);
  if (place == 0 || !is_input(f, variable)) {
    snprintf(f->message, sizeof f->message, "clock '%s' ticks by itself",
             f->layout.info.variables[variable].name);
    return YOKE_NO_SUPPORT;
  }
  e->levels[place - 1] = level != 0;
  return YOKE_OK;
}

// where a real input lies in u; only for values that come one by one
static size_t dense_place(const fmu* f, size_t variable) {
  size_t at = 0;
  for (size_t i = 0; i < variable; i++) {
    at +=
        f->layout.info.variables[i].type == YOKE_REAL && is_input(f, i) ? f->layout.slots[i].n : 0;
  }
  return at;
}

bool yoke__fmu_events_keep(fmu* f, const fmu_slot* slot, const void* storage, yoke_status* status) {
  fmu_events* e = f->events;
  const size_t variable = (size_t)(slot - f->layout.slots);
  const uint32_t place = e->place[variable];
  const part own = part_of(f, variable);
  *status = YOKE_OK;
  if (slot->type == YOKE_FMI_CLOCK) {
    *status = keep_level(f, variable, storage);
    return true;
  }
  if (f->phase != FMU_RUNNING) {
    return false;
  }
  if (own == CLOCKED_IN || (own == DISCRETE_IN && !e->live->is_in_event_mode)) {
    memcpy(e->u + dense_place(f, variable), storage, slot->n * sizeof(double));
    e->live->is_changed = e->live->is_changed || own == DISCRETE_IN;
    return true;
  }
  if (place == 0) {
    return false;
  }
  const fmu_waiting* w = &e->inputs[place - 1];
  if (e->live->is_in_event_mode && w->n_clocks == 0) {
    return false;
  }
  size_t* n = w->n_clocks > 0 ? &e->live->n_waiting_clocked : &e->live->n_waiting;
  *n += e->is_waiting[place - 1] == 0;
  e->is_waiting[place - 1] = 1;
  memcpy(e->values + w->at, storage, w->size);
  return true;
}

static void show(void* storage, uint8_t flag) {
  const int64_t value = flag;
  memcpy(storage, &value, sizeof value);
}

bool yoke__fmu_events_find(fmu* f, const fmu_slot* slot, void* storage) {
  const fmu_events* e = f->events;
  const size_t variable = (size_t)(slot - f->layout.slots);
  const uint32_t place = e->place[variable];
  if (f->file->is_scheduled && f->phase == FMU_RUNNING && part_of(f, variable) == DISCRETE_IN) {
    memcpy(storage, e->u + dense_place(f, variable), slot->n * sizeof(double));
    return true;
  }
  if (place == 0) {
    return false;
  }
  if (slot->type == YOKE_FMI_CLOCK) {
    show(storage, is_input(f, variable) ? e->levels[place - 1] : e->shown_ticked[place - 1]);
    return true;
  }
  if (f->phase != FMU_RUNNING) {
    return false;
  }
  switch (part_of(f, variable)) {
  case CLOCKED_IN:
    memcpy(storage, e->u + e->real_inputs[place - 1].at, slot->n * sizeof(double));
    return true;
  case CLOCKED_OUT:
    memcpy(storage, e->y + e->real_outputs[place - 1].at, slot->n * sizeof(double));
    return true;
  default:
    break;
  }
  const bool is_output = f->layout.info.variables[variable].causality == YOKE_OUTPUT;
  const fmu_waiting* w = is_output ? &e->outputs[place - 1] : &e->inputs[place - 1];
  if (!is_output && e->is_waiting[place - 1] == 0) {
    return false;
  }
  memcpy(storage, e->values + w->at, w->size);
  return true;
}

static bool has_active_clock(const fmu* f, size_t first_clock, size_t n_clocks) {
  for (size_t i = first_clock; i < first_clock + n_clocks; i++) {
    if (f->events->is_on[f->description->clocked[i].clock]) {
      return true;
    }
  }
  return false;
}

static yoke_status send(fmu* f, size_t variable, const void* storage) {
  return yoke__fmu3_send(f, &f->layout.slots[variable], &f->layout.info.variables[variable],
                         storage);
}

static yoke_status fetch(fmu* f, size_t variable, void* storage) {
  return yoke__fmu3_fetch(f, &f->layout.slots[variable], &f->layout.info.variables[variable],
                          storage);
}

// hands over typed values that wait: those without clocks, or those with a clock that is active
static yoke_status send_waiting(fmu* f, bool is_clocked) {
  fmu_events* e = f->events;
  size_t* n = is_clocked ? &e->live->n_waiting_clocked : &e->live->n_waiting;
  for (size_t i = 0; *n > 0 && i < e->n_inputs; i++) {
    const fmu_waiting* w = &e->inputs[i];
    if (e->is_waiting[i] == 0 || (w->n_clocks > 0) != is_clocked ||
        (is_clocked && !has_active_clock(f, w->first_clock, w->n_clocks))) {
      continue;
    }
    e->is_waiting[i] = 0;
    --*n;
    YOKE_TRY(send(f, w->variable, e->values + w->at));
  }
  return YOKE_OK;
}

static yoke_status send_clocked(fmu* f) {
  const fmu_events* e = f->events;
  for (size_t i = 0; i < e->n_real_inputs; i++) {
    const fmu_waiting* w = &e->real_inputs[i];
    if (has_active_clock(f, w->first_clock, w->n_clocks)) {
      YOKE_TRY(send(f, w->variable, e->u + w->at));
    }
  }
  return send_waiting(f, true);
}

// Outputs of the active clocks, or all of them in initialisation.
static yoke_status keep_clocked_outputs(fmu* f, bool is_all) {
  const fmu_events* e = f->events;
  for (size_t i = 0; i < e->n_real_outputs; i++) {
    const fmu_waiting* w = &e->real_outputs[i];
    if (is_all || has_active_clock(f, w->first_clock, w->n_clocks)) {
      YOKE_TRY(fetch(f, w->variable, e->y + w->at));
    }
  }
  for (size_t i = 0; i < e->n_outputs; i++) {
    const fmu_waiting* w = &e->outputs[i];
    if (is_all || has_active_clock(f, w->first_clock, w->n_clocks)) {
      YOKE_TRY(fetch(f, w->variable, e->values + w->at));
    }
  }
  return YOKE_OK;
}

yoke_status yoke__fmu_events_prepare(fmu* f) {
  fmu_events* e = f->events;
  for (size_t i = 0; i < e->n_clocks; i++) {
    YOKE_TRY(prepare_clock(f, &e->clocks[i], &e->ticks[i]));
  }
  return keep_clocked_outputs(f, true);
}

// ---------------------------------------------------------------------------------------------------------
// one event

yoke_status yoke__fmu_events_enter(fmu* f) {
  fmu_events* e = f->events;
  if (!e->live->is_in_event_mode) {
    YOKE_TRY(f->version->enter_event_mode(f));
    e->live->is_in_event_mode = true;
  }
  e->live->has_jumped = e->live->has_jumped || e->live->is_changed || e->live->n_waiting > 0;
  if (e->live->is_changed) {
    e->live->is_changed = false;
    YOKE_TRY(f->version->set_reals(f, &e->discrete, e->u));
  }
  return send_waiting(f, false);
}

static void advance(const fmu_clock* clock, fmu_tick* tick) {
  tick->t_last = tick_time(tick);
  tick->has_ticked = true;
  if (!clock->is_periodic) {
    tick->is_known = false;
    return;
  }
  tick->counter += tick->each;
  tick->n++;
}

// Ticks the clocks that are due and those that are triggered, and gives them their inputs.
static yoke_status tick_clocks(fmu* f, double t, double tolerance, bool is_at_start,
                               bool* has_any) {
  fmu_events* e = f->events;
  size_t n = 0;
  for (size_t i = 0; i < e->n_clocks; i++) {
    if (is_clock_due(&e->ticks[i], t, tolerance)) {
      e->ticking[n++] = e->clocks[i].reference;
      e->is_on[e->clocks[i].index] = true;
      advance(&e->clocks[i], &e->ticks[i]);
    }
  }
  for (size_t i = 0; is_at_start && i < e->n_triggers; i++) {
    if (e->levels[i] != 0) {
      e->ticking[n++] = e->triggers[i].reference;
      e->is_on[e->triggers[i].index] = true;
    }
  }
  *has_any = n > 0;
  if (n == 0) {
    return YOKE_OK;
  }
  for (size_t i = 0; i < n; i++) {
    e->active[i] = true;
  }
  YOKE_TRY(FMU_CALL3(f, SetClock, f->instance, e->ticking, n, e->active));
  return send_clocked(f);
}

// Clocks that the binary ticks: active in this round, and shown until the next step.
static yoke_status look_at_clocks(fmu* f, bool* has_any) {
  fmu_events* e = f->events;
  for (size_t i = 0; i < e->n_shown; i++) {
    const fmu_shown* shown = &e->shown[i];
    const fmu_slot* slot = &f->layout.slots[shown->variable];
    fmi3Clock is_active = fmi3ClockInactive;
    if (shown->n_clocks > 0 && !has_active_clock(f, shown->first_clock, shown->n_clocks)) {
      continue;
    }
    YOKE_TRY(FMU_CALL3(f, GetClock, f->instance, &slot->reference, 1, &is_active));
    if (is_active) {
      e->shown_ticked[i] = 1;
      e->is_on[slot->variable] = true;
      *has_any = true;
    }
  }
  return YOKE_OK;
}

// an update of the discrete states ends the activity of all clocks
static void switch_off(const fmu* f) {
  const fmu_events* e = f->events;
  for (size_t i = 0; i < e->n_clocks; i++) {
    e->is_on[e->clocks[i].index] = false;
  }
  for (size_t i = 0; i < e->n_triggers; i++) {
    e->is_on[e->triggers[i].index] = false;
  }
  for (size_t i = 0; i < e->n_shown; i++) {
    e->is_on[f->layout.slots[e->shown[i].variable].variable] = false;
  }
}

static yoke_status iterate(fmu* f, double t, bool has_ticks, fmu_event* event) {
  for (int round = 0; round < FMU_MAX_ROUNDS; round++) {
    bool has_active = has_ticks && round == 0;
    YOKE_TRY(look_at_clocks(f, &has_active));
    if (has_active) {
      YOKE_TRY(keep_clocked_outputs(f, false));
    }
    YOKE_TRY(f->version->update_discrete_states(f, event));
    switch_off(f);
    if (event->is_end_wanted) {
      return YOKE_OK;
    }
    YOKE_TRY(renew_intervals(f, t, RENEW_ALL));
    if (!event->is_again_needed) {
      return YOKE_OK;
    }
  }
  snprintf(f->message, sizeof f->message,
           "the event at t = %.12g s does not settle: %d updates of the discrete states", t,
           FMU_MAX_ROUNDS);
  f->phase = FMU_FAILED;
  return YOKE_UNIT_FAILED;
}

yoke_status yoke__fmu_events_handle(fmu* f, double t, double tolerance, bool is_at_start,
                                    bool* is_end_wanted) {
  fmu_live* live = f->events->live;
  bool has_ticks = false;
  fmu_event event = {0};
  live->t_tried = live->has_next && live->t_next > t ? live->t_next : NEVER;
  YOKE_TRY(yoke__fmu_events_enter(f));
  YOKE_TRY(tick_clocks(f, t, tolerance, is_at_start, &has_ticks));
  YOKE_TRY(iterate(f, t, has_ticks, &event));
  live->has_next = event.has_next && !isnan(event.t_next);
  live->t_next = event.t_next;
  live->has_jumped = false;
  *is_end_wanted = event.is_end_wanted;
  if (event.is_end_wanted) {
    return YOKE_OK;
  }
  YOKE_TRY(FMU_CALL3(f, EnterStepMode, f->instance));
  live->is_in_event_mode = false;
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// scheduled execution

// a smaller number is a higher priority; equal ones stay in the order of the file
static bool is_before(const fmu_clock* a, const fmu_clock* b) {
  const uint32_t priority = a->source == NULL ? 0 : a->source->priority;
  return b == NULL || priority < (b->source == NULL ? 0 : b->source->priority) ||
         (priority == (b->source == NULL ? 0 : b->source->priority) && a->index < b->index);
}

// the standard activates a partition once at a time
static yoke_status check_once(fmu* f, const fmu_clock* clock, const fmu_tick* tick, double t,
                              double tolerance) {
  if (!tick->has_ticked || tick->t_last < t - tolerance) {
    return YOKE_OK;
  }
  snprintf(f->message, sizeof f->message,
           "clock '%s' asks for a second tick at t = %.12g s: FMI 3.0 activates a model partition "
           "once at a time",
           f->description->variables[clock->index].name, t);
  f->phase = FMU_FAILED;
  return YOKE_UNIT_FAILED;
}

yoke_status yoke__fmu_events_take(fmu* f, double t, double tolerance, bool is_triggered[],
                                  const fmu_clock** taken) {
  fmu_events* e = f->events;
  fmu_tick* tick = NULL;
  size_t trigger = 0;
  *taken = NULL;
  for (size_t i = 0; i < e->n_clocks; i++) {
    if (is_clock_due(&e->ticks[i], t, tolerance) && is_before(&e->clocks[i], *taken)) {
      *taken = &e->clocks[i];
      tick = &e->ticks[i];
    }
  }
  for (size_t i = 0; i < e->n_triggers; i++) {
    if (is_triggered[i] && is_before(&e->triggers[i], *taken)) {
      *taken = &e->triggers[i];
      tick = NULL;
      trigger = i;
    }
  }
  if (*taken == NULL) {
    return YOKE_OK;
  }
  if (tick == NULL) {
    is_triggered[trigger] = false;
    return YOKE_OK;
  }
  YOKE_TRY(check_once(f, *taken, tick, t, tolerance));
  advance(*taken, tick);
  return YOKE_OK;
}

yoke_status yoke__fmu_events_send(fmu* f, const fmu_clock* clock) {
  fmu_events* e = f->events;
  e->is_on[clock->index] = true;
  if (e->live->is_changed) {
    e->live->is_changed = false;
    YOKE_TRY(f->version->set_reals(f, &e->discrete, e->u));
  }
  YOKE_TRY(send_waiting(f, false));
  return send_clocked(f);
}

yoke_status yoke__fmu_events_update(fmu* f, double t) {
  bool has_any = false;
  YOKE_TRY(look_at_clocks(f, &has_any));
  return renew_intervals(f, t, RENEW_COUNTDOWN);
}

yoke_status yoke__fmu_events_fetch(fmu* f, double t) {
  YOKE_TRY(keep_clocked_outputs(f, false));
  YOKE_TRY(renew_intervals(f, t, RENEW_OTHERS));
  switch_off(f);
  return YOKE_OK;
}
