// Measures of a run while it is stepped; see study_measure.h.
//
//   rms    sqrt(sum y_k^2 / n) over the samples k = 0 .. n-1 at macro steps, the start included
//   nrmse  as `yoke compare` (quality/quality_measure.c), on the samples it would find in results.csv
//   error  e_i = mean over k >= 1 of |y_i(t_k) - r_i(t_k)| / (max r_i - min r_i) for a signal i, at rows t_k of
//          results.csv; sqrt(sum over units of (mean of e_i over its signals)^2). r_i(t_k) is the sample of the
//          reference at t_k. If it has none there but two around it that are no farther apart than the rows, it is a
//          line between them; a coarser one would add an error of its own, so that the row does not count.
//          Accuracy of coupling methods as Genser (2020) judges it.
//   roughness  sum over units of the mean over its signals of sqrt(noise variance of y_i(t_k) - r_i(t_k)), k >= 0: the
//          stability measure of Genser (2020), with the noise of Garcia (2010); yoke__noise_variance.
#include "study/study_measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "quality/quality_ledger.h"
#include "quality/quality_noise.h"
#include "scenario/scenario_circuit.h"

// ---- reading

typedef enum argument_need { NONE, BOND, SIGNAL, SIGNAL_OR_NONE } argument_need;

static const char* const kind_names[YOKE_STUDY_N_KINDS] = {
    "ter",   "rter",      "dE",     "created", "eps",   "rho",      "end",
    "max",   "min",       "maxabs", "rms",     "band",  "relative", "nrmse",
    "error", "roughness", "steps",  "verdict", "status"};

static argument_need need_of(yoke_study_kind kind) {
  if (kind <= YOKE_STUDY_RHO) {
    return BOND;
  }
  if (kind == YOKE_STUDY_ERROR || kind == YOKE_STUDY_ROUGHNESS) {
    return SIGNAL_OR_NONE;
  }
  return kind <= YOKE_STUDY_NRMSE ? SIGNAL : NONE;
}

static yoke_status refuse_kind(const char* text, size_t n, const yoke_sink* sink) {
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)(n < 60 ? n : 60), text);
  const char* nearest = yoke__nearest_name(name, kind_names, YOKE_STUDY_N_KINDS);
  if (nearest != NULL) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "'%.120s': unknown measure '%s'; did you mean '%s'?",
                     text, name, nearest);
  }
  return yoke_fail(
      sink, YOKE_BAD_INPUT,
      "'%.120s': unknown measure '%s'; known: ter, rter, dE, created, eps, rho (of a bond), "
      "end, max, min, maxabs, rms, band, relative, nrmse, error, roughness (of a signal), steps, "
      "verdict, status",
      text, name);
}

yoke_status yoke__study_measure_parse(const char* text, yoke_study_measure* out,
                                      const yoke_sink* sink) {
  const size_t n = strcspn(text, ":");
  size_t kind = 0;
  while (kind < YOKE_STUDY_N_KINDS &&
         (strlen(kind_names[kind]) != n || strncmp(kind_names[kind], text, n) != 0)) {
    kind++;
  }
  if (kind == YOKE_STUDY_N_KINDS) {
    return refuse_kind(text, n, sink);
  }
  *out = (yoke_study_measure){(yoke_study_kind)kind, text, text[n] == ':' ? text + n + 1 : NULL};
  const argument_need need = need_of(out->kind);
  const bool is_empty = out->argument == NULL || out->argument[0] == '\0';
  const bool is_signal = need == SIGNAL || (need == SIGNAL_OR_NONE && out->argument != NULL);
  if (is_signal && (is_empty || strchr(out->argument, '.') == NULL)) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "'%.120s': expected the name of a signal, %s:unit.variable", text,
                     kind_names[kind]);
  }
  if (need == BOND && out->argument != NULL && is_empty) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "'%.120s': expected the name of a bond behind the colon",
                     text);
  }
  if (need == NONE && out->argument != NULL) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "'%.120s': '%s' takes no name behind it", text,
                     kind_names[kind]);
  }
  return YOKE_OK;
}

// ---- limits

static const char* skip_blanks(const char* text) {
  return text + strspn(text, " ");
}

yoke_status yoke__study_limit_parse(const char* text, yoke_arena* arena, yoke_study_limit* out,
                                    const yoke_sink* sink) {
  // the last comparison: names may contain one too
  size_t at = strlen(text);
  while (at > 0 && text[at] != '<' && text[at] != '>') {
    at--;
  }
  *out = (yoke_study_limit){.text = text, .is_upper = text[at] == '<'};
  out->is_strict = at > 0 && text[at + 1] != '=';
  if (at == 0 ||
      !yoke__number_parse(skip_blanks(text + at + (out->is_strict ? 1 : 2)), &out->value) ||
      !yoke__is_finite(out->value)) {
    return yoke_fail(
        sink, YOKE_BAD_INPUT,
        "'%.120s': expected a measure, <= or >=, and a number, such as max:unit.variable<=10",
        text);
  }
  for (; at > 0 && text[at - 1] == ' '; at--) {
  }
  const char* measure = yoke__arena_text(arena, text, at);
  YOKE_TRY_MEMORY(measure);
  YOKE_TRY(yoke__study_measure_parse(measure, &out->measure, sink));
  if (out->measure.kind == YOKE_STUDY_STATUS) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "'%.120s': 'status' is not a number and cannot have a limit", text);
  }
  return YOKE_OK;
}

bool yoke__study_needs_reference(const yoke_study_measure* measure) {
  return measure->kind == YOKE_STUDY_NRMSE || need_of(measure->kind) == SIGNAL_OR_NONE;
}

bool yoke__study_needs_companions(const yoke_study_measure* measure) {
  return measure->kind == YOKE_STUDY_BAND || measure->kind == YOKE_STUDY_RELATIVE ||
         measure->kind == YOKE_STUDY_VERDICT;
}

bool yoke__study_limit_is_early(const yoke_study_limit* limit) {
  switch (limit->measure.kind) {
  case YOKE_STUDY_TER:
  case YOKE_STUDY_RHO:
  case YOKE_STUDY_MAX:
  case YOKE_STUDY_MAXABS:
  case YOKE_STUDY_STEPS:
    return limit->is_upper;
  case YOKE_STUDY_MIN:
    return !limit->is_upper;
  default:
    return false;
  }
}

bool yoke__study_limit_is_violated(const yoke_study_limit* limit, double value) {
  if (limit->is_upper) {
    return limit->is_strict ? !(value < limit->value) : !(value <= limit->value);
  }
  return limit->is_strict ? !(value > limit->value) : !(value >= limit->value);
}

// ---- finding what a measure names

// What binding needs, side by side.
typedef struct binder {
  yoke_system* system;
  const yoke_state* state;
  yoke_arena* arena;
  yoke_messages* messages;
  yoke_place place;  // "--measure max:left.x"
  const yoke_csv* reference;
} binder;

static yoke_status bind_bond(const binder* b, yoke_probe* probe) {
  const char* name = probe->measure->argument;
  const yoke_ledger* ledger = b->state->ledger;
  const size_t n = ledger == NULL ? 0 : yoke__ledger_count(ledger);
  if (n == 0) {
    return yoke__error(b->messages, b->place,
                       "the system has no bonds, so there is no energy to judge");
  }
  probe->source = YOKE_PROBE_LEDGER;
  const char* nearest = NULL;
  for (probe->index = 0; probe->index < n; probe->index++) {
    yoke_ledger_result result;
    yoke__ledger_result(ledger, probe->index, &result);
    if (name != NULL && strcmp(result.bond->name, name) == 0) {
      return YOKE_OK;
    }
    nearest = name == NULL ? NULL : yoke__nearer_name(name, nearest, result.bond->name);
  }
  if (name == NULL) {
    return YOKE_OK;  // number n is the total
  }
  return yoke__error_near(b->messages, b->place, nearest, "unknown bond '%.80s'", name);
}

// Integers, booleans and enumerations lie among the typed outputs.
static bool bind_typed(const yoke_system_unit* unit, size_t variable, size_t element,
                       yoke_probe* probe) {
  const yoke_type type = unit->unit.info->variables[variable].type;
  if (type != YOKE_INTEGER && type != YOKE_BOOLEAN && type != YOKE_ENUMERATION) {
    return false;
  }
  for (size_t i = 0; i < unit->n_typed_outputs; i++) {
    if (unit->typed_outputs[i].variable == variable) {
      probe->source = YOKE_PROBE_INTEGER;
      probe->index = unit->typed_outputs[i].at + element * sizeof(int64_t);
      return true;
    }
  }
  return false;
}

static yoke_status bind_variable(const binder* b, size_t unit_index, size_t variable,
                                 size_t element, yoke_probe* probe) {
  const yoke_system_unit* unit = &b->system->units[unit_index];
  const yoke_variable* v = &unit->unit.info->variables[variable];
  const size_t dense = unit->unit.dense[variable];
  if (dense != YOKE_NOT_DENSE && v->causality == YOKE_OUTPUT) {
    probe->source = YOKE_PROBE_Y;
    probe->index = unit->y + dense + element;
  } else if (dense != YOKE_NOT_DENSE && v->causality == YOKE_INPUT) {
    probe->source = YOKE_PROBE_U;
    probe->index = unit->u + dense + element;
  } else if (!bind_typed(unit, variable, element, probe)) {
    const yoke_sink list = yoke__messages_sink(b->messages);
    yoke_context about;
    yoke__context_init(&about, &list, b->place, unit->name, (double)NAN);
    return yoke_fail(
        &about.sink, YOKE_BAD_INPUT,
        "'%s' cannot be measured; expected an output that is a number, or a real input", v->name);
  }
  return YOKE_OK;
}

// unit_index: number of the unit that has the signal.
static yoke_status bind_name(const binder* b, const char* signal, yoke_probe* probe,
                             size_t* unit_index) {
  const char* dot = strchr(signal, '.');
  yoke_scenario_endpoint endpoint = {yoke__arena_text(b->arena, signal, (size_t)(dot - signal)),
                                     dot + 1, b->place};
  size_t unit = 0, variable = 0, element = 0, n = 0;
  YOKE_TRY_MEMORY(endpoint.unit);
  endpoint.variable =
      yoke__scenario_quantity(b->system->scenario, endpoint.unit, endpoint.variable, b->arena);
  // the system writes its messages where it was told to when it was built
  yoke_messages* before = b->system->messages;
  b->system->messages = b->messages;
  const bool is_found =
      yoke__system_resolve(b->system, &endpoint, "signal", &unit, &variable, &element, &n);
  b->system->messages = before;
  if (!is_found) {
    return YOKE_BAD_INPUT;
  }
  if (n != 1) {
    return yoke__error(b->messages, b->place,
                       "'%.80s' has %zu elements; expected one of them, %.80s[0]", signal, n,
                       signal);
  }
  *unit_index = unit;
  return bind_variable(b, unit, variable, element, probe);
}

static int64_t steps_per_row(const yoke_system* system) {
  return system->record_every / (system->macro / system->slot);
}

// At most that many rows in results.csv.
static size_t rows_of(const yoke_system* system) {
  const int64_t n_steps = system->n_slots / (system->macro / system->slot);
  return (size_t)(n_steps / steps_per_row(system)) + 2;
}

static yoke_status need_reference(const binder* b, const char* measure) {
  if (b->reference == NULL) {
    return yoke__error(
        b->messages, b->place,
        "%s needs a reference: --reference FILE, or of a sweep --reference-set PATH=VALUE",
        measure);
  }
  return YOKE_OK;
}

static yoke_status find_column(const binder* b, const char* signal, size_t* column) {
  *column = yoke__csv_find(b->reference, signal);
  if (*column == b->reference->n_columns || b->reference->columns[*column].is_text) {
    return yoke__error(b->messages, b->place, "the reference has no column of numbers '%.120s'",
                       signal);
  }
  return YOKE_OK;
}

// Room for all samples, and the column to compare with.
static yoke_status bind_reference(const binder* b, yoke_probe* probe) {
  size_t column = 0;
  YOKE_TRY(need_reference(b, "nrmse"));
  YOKE_TRY(find_column(b, probe->measure->argument, &column));
  probe->room = rows_of(b->system);
  probe->t = yoke__arena_array(b->arena, probe->room, sizeof *probe->t);
  probe->y = yoke__arena_array(b->arena, probe->room, sizeof *probe->y);
  YOKE_TRY_MEMORY(probe->t && probe->y);
  return yoke__samples_of(b->reference, column, b->arena, &probe->reference);
}

// ---- error and roughness: signals beside their references

// Two times are the same within a millionth of the time between rows; in a file they have twelve digits or so.
static double same_time(const yoke_system* system) {
  const double run = system->t_stop - system->t_start;
  return 1e-6 * run * (double)system->record_every / fmax((double)system->n_slots, 1);
}

static yoke_status add_track(const binder* b, const yoke_probe* found, size_t unit, size_t column,
                             yoke_probe* probe) {
  yoke_probe_track* track = &probe->tracks[probe->n_tracks++];
  *track = (yoke_probe_track){.source = found->source,
                              .index = found->index,
                              .unit = unit,
                              .name = b->reference->columns[column].name};
  YOKE_TRY(yoke__samples_of(b->reference, column, b->arena, &track->reference));
  const double near = same_time(b->system), stop = b->system->t_stop;
  double low = (double)INFINITY, high = -(double)INFINITY;

  // range of r over the time of this run, start and end included
  for (size_t i = 0; i < track->reference.n && track->reference.t[i] <= stop + near; i++) {
    if (track->reference.t[i] >= b->state->t - near) {
      low = fmin(low, track->reference.y[i]);
      high = fmax(high, track->reference.y[i]);
    }
  }
  track->range = high - low + 1e-12;  // a constant is no reason to divide by 0
  if (probe->measure->kind == YOKE_STUDY_ROUGHNESS) {
    track->difference = yoke__arena_array(b->arena, probe->room, sizeof *track->difference);
    return track->difference == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  }
  return YOKE_OK;
}

// Tracks of one unit side by side; the order within a unit stays.
static void sort_tracks(yoke_probe_track tracks[], size_t n) {
  for (size_t i = 1; i < n; i++) {
    // by insertion: tracks are few, and mostly in order already
    const yoke_probe_track track = tracks[i];
    size_t at = i;
    for (; at > 0 && tracks[at - 1].unit > track.unit; at--) {
      tracks[at] = tracks[at - 1];
    }
    tracks[at] = track;
  }
}

// Columns that are no outputs of the system (time, inputs, parts that only the undivided system has) are passed over.
static yoke_status bind_all_tracks(const binder* b, yoke_probe* probe) {
  yoke_messages unread = {0};
  binder quiet = *b;
  quiet.messages = &unread;
  yoke_status status = YOKE_OK;
  for (size_t i = 1; status >= 0 && i < b->reference->n_columns; i++) {
    const yoke_csv_column* column = &b->reference->columns[i];
    yoke_probe found = {0};
    size_t unit = 0;
    if (column->is_text || strchr(column->name, '.') == NULL) {
      continue;
    }
    status = bind_name(&quiet, column->name, &found, &unit);
    if (status >= 0 && found.source != YOKE_PROBE_U) {
      status = add_track(b, &found, unit, i, probe);
    }
    status = status == YOKE_BAD_INPUT ? YOKE_OK : status;
  }
  yoke__messages_free(&unread);
  YOKE_TRY(status);
  if (probe->n_tracks == 0) {
    return yoke__error(
        b->messages, b->place,
        "the reference has no column of numbers that is an output of the system; expected "
        "names such as unit.variable");
  }
  sort_tracks(probe->tracks, probe->n_tracks);
  return YOKE_OK;
}

static yoke_status bind_tracks(const binder* b, yoke_probe* probe) {
  const char* signal = probe->measure->argument;
  yoke_probe found = {0};
  size_t unit = 0, column = 0;
  YOKE_TRY(need_reference(b, kind_names[probe->measure->kind]));
  probe->source = YOKE_PROBE_TRACKS;
  if (probe->measure->kind == YOKE_STUDY_ROUGHNESS) {
    probe->room = rows_of(b->system);
    probe->work =
        yoke__arena_array(b->arena, yoke__noise_work_size(probe->room), sizeof *probe->work);
    YOKE_TRY_MEMORY(probe->work);
  }
  probe->tracks = yoke__arena_array(b->arena, b->reference->n_columns, sizeof *probe->tracks);
  YOKE_TRY_MEMORY(probe->tracks);
  if (signal == NULL) {
    return bind_all_tracks(b, probe);
  }
  YOKE_TRY(bind_name(b, signal, &found, &unit));
  YOKE_TRY(find_column(b, signal, &column));
  return add_track(b, &found, unit, column, probe);
}

// Only exchanged signals are judged, and those that the file names.
static yoke_status bind_trust(const binder* b, yoke_probe* probe) {
  probe->source = YOKE_PROBE_TRUST;
  if (probe->measure->kind == YOKE_STUDY_VERDICT) {
    return YOKE_OK;
  }
  yoke_probe found = {0};
  size_t unit = 0;
  YOKE_TRY(bind_name(b, probe->measure->argument, &found, &unit));
  for (size_t i = 0; i < b->system->n_judged && found.source == YOKE_PROBE_Y; i++) {
    if (b->system->judged[i].y == found.index) {
      probe->index = i;
      return YOKE_OK;
    }
  }
  return yoke__error(b->messages, b->place,
                     "'%.80s' is not exchanged, so it is not judged; expected a real output in a "
                     "connection, a law or a bond, or one that `trust: {signals: [...]}` names",
                     probe->measure->argument);
}

yoke_status yoke__probe_bind(const yoke_study_measure* measure, const char* option,
                             const yoke_csv* reference, yoke_system* system,
                             const yoke_state* state, yoke_arena* arena, yoke_messages* messages,
                             yoke_probe* probe) {
  char source[192];
  snprintf(source, sizeof source, "%s %.160s", option, measure->text);
  const char* place = yoke__arena_text(arena, source, strlen(source));
  YOKE_TRY_MEMORY(place);
  const binder b = {system, state, arena, messages, {.source = place}, reference};
  *probe = (yoke_probe){.measure = measure, .value = (double)NAN};
  if (measure->kind == YOKE_STUDY_STATUS) {
    return YOKE_OK;
  }
  if (yoke__study_needs_companions(measure)) {
    return bind_trust(&b, probe);
  }
  if (measure->kind == YOKE_STUDY_STEPS) {
    probe->source = YOKE_PROBE_STEPS;
    probe->n_steps = -1;  // the first sample is the start
  } else if (need_of(measure->kind) == BOND) {
    YOKE_TRY(bind_bond(&b, probe));
  } else if (need_of(measure->kind) == SIGNAL_OR_NONE) {
    YOKE_TRY(bind_tracks(&b, probe));
  } else {
    size_t unit = 0;
    YOKE_TRY(bind_name(&b, measure->argument, probe, &unit));
  }
  if (measure->kind == YOKE_STUDY_NRMSE) {
    YOKE_TRY(bind_reference(&b, probe));
  }
  yoke__probe_sample(probe, system, state);
  return YOKE_OK;
}

// ---- sampling

static double read_signal(yoke_probe_source source, size_t index, const yoke_state* state) {
  if (source == YOKE_PROBE_INTEGER) {
    int64_t whole = 0;
    memcpy(&whole, state->v + index, sizeof whole);
    return (double)whole;
  }
  return source == YOKE_PROBE_U ? state->u[index] : state->y[index];
}

static void keep_sample(yoke_probe* probe, const yoke_system* system, const yoke_state* state,
                        double y) {
  // the rows of results.csv: the start, then every so many macro steps
  if (probe->n_steps++ % steps_per_row(system) == 0 && probe->n < probe->room) {
    probe->t[probe->n] = state->t;
    probe->y[probe->n++] = y;
  }
}

// The reference at time t, which never decreases; false if it has no sample there and none that are near enough on both
// sides. near: same_time, a millionth of the time between rows.
static bool read_reference(yoke_probe_track* track, double t, double near, double* r) {
  const yoke_samples* from = &track->reference;
  while (track->next < from->n && from->t[track->next] < t - near) {
    track->next++;
  }
  const size_t i = track->next;
  if (i == from->n) {
    return false;
  }
  if (from->t[i] <= t + near) {
    *r = from->y[i];
    return true;
  }
  const double apart = i == 0 ? (double)INFINITY : from->t[i] - from->t[i - 1];
  if (apart > 1e6 * near + near) {
    return false;
  }
  const double w = (t - from->t[i - 1]) / apart;
  *r = (1 - w) * from->y[i - 1] + w * from->y[i];
  return true;
}

// A row of results.csv: where the reference can be read it counts; for the error not the start, where nothing is coupled
// yet.
static void follow_tracks(yoke_probe* probe, const yoke_system* system, const yoke_state* state) {
  const bool is_start = probe->n_steps == 0;
  if (probe->n_steps++ % steps_per_row(system) != 0) {
    return;
  }
  const double near = same_time(system);
  for (size_t i = 0; i < probe->n_tracks; i++) {
    yoke_probe_track* track = &probe->tracks[i];
    double r = 0;
    if (track->difference == NULL && is_start) {
      continue;
    }
    track->n_rows++;
    if (!read_reference(track, state->t, near, &r)) {
      continue;
    }
    // y - r at the row
    const double miss = read_signal(track->source, track->index, state) - r;
    // rows with a reference that do not follow each other
    track->has_gap = track->has_gap || (track->n > 0 && track->n_rows != track->last_row + 1);
    track->last_row = track->n_rows;
    if (track->difference == NULL) {
      yoke__sum_add(&track->sum, fabs(miss));
      track->n++;
    } else if (track->n < probe->room) {
      track->difference[track->n++] = miss;
    }
  }
}

void yoke__probe_sample(yoke_probe* probe, const yoke_system* system, const yoke_state* state) {
  probe->n_steps += probe->source == YOKE_PROBE_STEPS;
  if (probe->source == YOKE_PROBE_TRACKS) {
    follow_tracks(probe, system, state);
  }
  if (probe->source != YOKE_PROBE_Y && probe->source != YOKE_PROBE_U &&
      probe->source != YOKE_PROBE_INTEGER) {
    return;
  }
  const double y = read_signal(probe->source, probe->index, state);
  switch (probe->measure->kind) {
  case YOKE_STUDY_MAX:
    probe->value = fmax(probe->value, y);
    break;
  case YOKE_STUDY_MIN:
    probe->value = fmin(probe->value, y);
    break;
  case YOKE_STUDY_MAXABS:
    probe->value = fmax(probe->value, fabs(y));
    break;
  case YOKE_STUDY_RMS:
    yoke__sum_add(&probe->squares, y * y);
    probe->n++;
    break;
  case YOKE_STUDY_NRMSE:
    keep_sample(probe, system, state, y);
    break;
  default:
    probe->value = y;
  }
}

// ---- the number

// The largest rho of a bond; NaN as long as it is not judged yet (quality: settle).
static double rho_value(const yoke_ledger* ledger, size_t bond) {
  yoke_ledger_result r;

  // one bond, or the largest over all of them
  const size_t n = yoke__ledger_count(ledger);
  double most = (double)NAN;
  for (size_t i = bond < n ? bond : 0; i < (bond < n ? bond + 1 : n); i++) {
    yoke__ledger_result(ledger, i, &r);
    if (r.bond->kind == YOKE_BOND_POWER && r.duration >= r.settle) {
      most = fmax(most, r.rho_worst);
    }
  }
  return most;
}

// A number that the ledger does not have is NaN, never 0.
static double ledger_value(const yoke_probe* probe, const yoke_state* state) {
  yoke_ledger_result r;
  if (probe->measure->kind == YOKE_STUDY_RHO) {
    return rho_value(state->ledger, probe->index);
  }
  yoke__ledger_result(state->ledger, probe->index, &r);
  switch (probe->measure->kind) {
  case YOKE_STUDY_TER:
    return r.has_ter ? r.ter : (double)NAN;
  case YOKE_STUDY_RTER:
    return r.has_ter ? r.rter : (double)NAN;
  case YOKE_STUDY_DE:
    return r.residual;
  case YOKE_STUDY_CREATED:
    return r.created;
  default:
    return r.eps;
  }
}

// NaN, and a message why, if the two have no time in common.
static double nrmse_value(const yoke_probe* probe, const yoke_sink* sink) {
  const yoke_samples result = {probe->t, probe->y, probe->n};
  yoke_deviation deviation = {.nrmse = (double)NAN};
  yoke__deviation_compute(&result, &probe->reference, &deviation, sink);
  return deviation.nrmse;
}

// NaN if no row of a signal has a reference.
static double track_error(const yoke_probe_track* track) {
  const double n = track->n == 0 ? (double)NAN : (double)track->n;
  return yoke__sum_value(&track->sum) / n / track->range;
}

// NaN if fewer than three rows of a signal have a reference, or not all between the first and the last of them: the noise
// is that of equally spaced rows, and of every seventh row it is another one.
static double track_roughness(const yoke_probe* probe, const yoke_probe_track* track) {
  double variance = (double)NAN;
  if (!track->has_gap) {
    (void)yoke__noise_variance(track->n, track->difference, probe->work, &variance);
  }
  return sqrt(variance);
}

// Mean over the signals of a unit; of the units the root of the sum of squares, or the sum.
static double tracks_value(const yoke_probe* probe) {
  const yoke_probe_track* tracks = probe->tracks;
  const bool is_error = probe->measure->kind == YOKE_STUDY_ERROR;
  double all = 0;
  for (size_t i = 0; i < probe->n_tracks;) {
    const size_t first = i;
    double sum = 0;
    for (; i < probe->n_tracks && tracks[i].unit == tracks[first].unit; i++) {
      // error: sqrt(sum of squares of the means), roughness: sum of the means
      sum += is_error ? track_error(&tracks[i]) : track_roughness(probe, &tracks[i]);
    }
    const double mean = sum / (double)(i - first);
    all += is_error ? mean * mean : mean;
  }
  return is_error ? sqrt(all) : all;
}

void yoke__probe_judge(yoke_probe* probe, const yoke_trust* trust) {
  static const double numbers[] = {[YOKE_TRUSTWORTHY] = 0, [YOKE_DOUBTFUL] = 1, [YOKE_WRONG] = 2};
  if (probe->source != YOKE_PROBE_TRUST) {
    return;
  }
  const bool is_run = probe->measure->kind == YOKE_STUDY_VERDICT;
  const yoke_trust_signal* s = is_run ? NULL : &trust->signals[probe->index];
  const yoke_verdict verdict = is_run ? trust->run.verdict : s->verdict;
  const char* reason = is_run ? trust->run.reason : s->reason;
  if (is_run) {
    probe->value = verdict == YOKE_VERDICT_NONE ? (double)NAN : numbers[verdict];
  } else {
    probe->value = probe->measure->kind == YOKE_STUDY_BAND ? s->band.band_max : s->band.relative;
  }
  // of a signal only why it has no band: what its band means stands in the column
  if (is_run ? verdict != YOKE_TRUSTWORTHY : isnan(probe->value)) {
    snprintf(probe->why, sizeof probe->why, "%s: %.260s", yoke__verdict_names[verdict],
             reason == NULL ? "" : reason);
  }
}

double yoke__probe_value(const yoke_probe* probe, const yoke_state* state) {
  double value = probe->value;
  if (probe->source == YOKE_PROBE_LEDGER) {
    value = ledger_value(probe, state);
  } else if (probe->source == YOKE_PROBE_STEPS) {
    value = (double)probe->n_steps;
  } else if (probe->source == YOKE_PROBE_TRACKS) {
    value = tracks_value(probe);
  } else if (probe->measure->kind == YOKE_STUDY_RMS) {
    value = sqrt(yoke__sum_value(&probe->squares) / (double)probe->n);
  } else if (probe->measure->kind == YOKE_STUDY_NRMSE) {
    value = nrmse_value(probe, NULL);
  }
  return yoke__is_finite(value) ? value : (double)NAN;
}

// ---- what to say about it

static bool is_finite_track(const yoke_probe_track* track) {
  bool is_finite = yoke__is_finite(yoke__sum_value(&track->sum)) && yoke__is_finite(track->range);
  for (size_t i = 0; track->difference != NULL && i < track->n; i++) {
    is_finite = is_finite && yoke__is_finite(track->difference[i]);
  }
  return is_finite;
}

// Of the first signal that is to blame.
static void remark_track(const yoke_probe* probe, const yoke_probe_track* track, char* to,
                         size_t size) {
  static const char fine[] = "expected samples no farther apart than the rows";
  const char* measure = probe->measure->text;
  const bool is_rough = track->difference != NULL;
  if (track->reference.n == 0) {
    snprintf(to, size, "%.80s: the reference of '%.80s' has no samples", measure, track->name);
  } else if (is_rough && track->n < 3) {
    snprintf(to, size,
             "%.80s: %zu of %zu rows of '%.80s' have a reference; expected at least 3 in a row",
             measure, track->n, track->n_rows, track->name);
  } else if (is_rough && track->has_gap) {
    snprintf(
        to, size,
        "%.80s: only %zu of %zu rows of '%.80s' have a reference, not one behind the other; %s",
        measure, track->n, track->n_rows, track->name, fine);
  } else if (2 * track->n < track->n_rows) {
    snprintf(to, size, "%.80s: only %zu of %zu rows of '%.80s' have a reference; %s", measure,
             track->n, track->n_rows, track->name, fine);
  } else if (!is_finite_track(track)) {
    snprintf(to, size, "%.80s: '%.80s' or its reference is not a number everywhere", measure,
             track->name);
  }
}

void yoke__probe_remark(const yoke_probe* probe, char* to, size_t size) {
  YOKE_CATCH(why);
  to[0] = '\0';
  for (size_t i = 0; i < probe->n_tracks && to[0] == '\0'; i++) {
    remark_track(probe, &probe->tracks[i], to, size);
  }
  if (probe->measure->kind == YOKE_STUDY_NRMSE) {
    (void)nrmse_value(probe, &why.sink);
  }
  if (why.text[0] != '\0') {
    snprintf(to, size, "%.80s: %s", probe->measure->text, why.text);
  } else if (probe->why[0] != '\0') {
    snprintf(to, size, "%s", probe->why);
  }
}
