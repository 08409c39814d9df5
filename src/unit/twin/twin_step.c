// Estimates of a twin: their start, and one step from t to t + h:
//
//   1  what inputs did in the step before (twin_inputs.c); inputs of t; laws of resistances at the present estimate
//   2  readings of t that are there: valid, and not the same sample as before; late ones go to the step that they belong to
//   3  correct, then predict to t + h
//   4  outputs of t + h; the verdict on the innovations
//
// A filter that has diverged starts anew from an estimate of KEEP steps before or earlier, as often as `reset` allows; then the
// network goes on alone. Neither takes heap.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "unit/twin/twin_part.h"

// steps between two kept estimates: longer than a filter is wrong before it says so
#define KEEP (YOKE_ESTIMATE_PATIENCE + 100)
// What the gate leaves out is judged by its number alone: outliers are rare, or they are none.
#define FEW_GATED   10
#define MOST_GATED  0.1
#define SUSPECT     5.0    // root mean square of normalised innovations
#define NEAR_STEP   1e-9   // of the length of a step, relative
#define NEAR_TIME   0.5    // of a time stamp to a step, in steps
#define MOST_PASSES 50     // of laws and temperatures at the start
#define SETTLED     1e-12  // of a temperature, relative
// noise of sensors whose sigma is not given: readings that the first guess counts for, memory, and bounds as factors of it
#define NOISE_TRUST  20.0
#define NOISE_MEMORY 20000.0
#define NOISE_RANGE  1e3
#define N_LEARN                                                                                    \
  1000  // readings until a guess that is ten times too large counts 15 % of the variance

// ---------------------------------------------------------------------------------------------------------
// estimates to outputs

static void write_estimates(twin* w) {
  const size_t n_rows = w->layout.n_rows, n = n_rows + w->n_unknowns;
  for (size_t i = 0; i < n; i++) {
    double value = 0, sd = 0;
    if (i < n_rows) {
      yoke__estimate_output(w->filter, i, &value, &sd);
    } else {
      const twin_unknown* u = &w->unknown_texts[i - n_rows];
      yoke__estimate_unknown(w->filter, i - n_rows, &value, &sd);
      sd = yoke__twin_deviation(u, value, sd);
      value = yoke__twin_value(u, value);
    }
    // what is no number would end the run; the filter says at its next step that it has diverged
    w->reals[i] = yoke__is_finite(value) ? value : w->reals[i];
    w->reals[n + i] = yoke__is_finite(sd) ? sd : w->reals[n + i];
  }
}

static double* innovations(const twin* w) {
  return w->reals + 2 * (w->layout.n_rows + w->n_unknowns);
}

// Temperatures that laws see: those of now.
static void read_law_temperatures(twin* w) {
  const twin_network* n = &w->network;
  for (size_t i = 0; i < n->n_law_nodes; i++) {
    double value = 0, sd = 0;
    yoke__estimate_output(w->filter, w->layout.first_law_row + i, &value, &sd);
    n->x[n->law_nodes[i]] = yoke__is_finite(value) ? value : n->x[n->law_nodes[i]];
  }
}

static void keep_moving(twin* w) {
  for (size_t i = 0; i < w->network.n_moving; i++) {
    w->moving[i] = w->network.g[w->network.moving[i]];
  }
}

// ---------------------------------------------------------------------------------------------------------
// start

static void send_known(twin* w) {
  for (size_t i = 0; i < w->layout.n_known; i++) {
    w->network.signals->u[w->layout.known[i]] = w->u[i];
  }
}

// Laws follow temperatures, and temperatures follow laws: one round. *change: of a temperature, relative.
static yoke_status settle_laws(twin* w, double* change) {
  const twin_network* n = &w->network;
  *change = 0;
  for (size_t i = 0; i < n->n_law_nodes; i++) {
    double value = 0, sd = 0;
    yoke__estimate_output(w->filter, w->layout.first_law_row + i, &value, &sd);
    *change = fmax(*change, fabs(value - n->x[n->law_nodes[i]]) / fmax(1, fabs(value)));
  }
  read_law_temperatures(w);
  yoke__twin_network_inputs(n, n->signals->t, w->v);
  (void)yoke__twin_network_conductances(n);
  keep_moving(w);
  return yoke__estimate_set_elements(w->filter, w->network.g, w->network.c);
}

static void clear_state(twin* w) {
  unsigned char *u = (unsigned char*)w->u, *behind = u + w->layout.n_inputs * sizeof *w->u;
  memset(w->block, 0, (size_t)(u - w->block));
  memset(behind, 0, (size_t)(w->block + w->block_size - behind));
  for (size_t i = 0; i < w->n_sensors; i++) {
    w->pending[i] = (double)NAN;
    yoke__noise_start(&w->noise[i], w->sensors[i].sigma, w->sensors[i].sigma / NOISE_RANGE,
                      w->sensors[i].sigma * NOISE_RANGE, NOISE_TRUST, NOISE_MEMORY);
    yoke__estimate_set_sigma(w->filter, i, w->sensors[i].sigma);
    innovations(w)[w->n_sensors + 1 + i] = w->sensors[i].sigma;
  }
  yoke__consistency_clear(w->consistency);
}

// An estimate to which a filter that diverges later can go back.
static void keep_estimate(twin* w) {
  const size_t p = w->network.heat.n_capacities, one = p + w->n_unknowns;
  w->state->kept_newer = 1 - w->state->kept_newer;
  double* to = w->kept + (size_t)w->state->kept_newer * one;
  memcpy(to, yoke__estimate_mean(w->filter), p * sizeof *to);
  for (size_t i = 0; i < w->n_unknowns; i++) {
    double sd = 0;
    yoke__estimate_unknown(w->filter, i, &to[p + i], &sd);
  }
}

// Not while the readings are far from what the filter expects.
static void keep_now_and_then(twin* w) {
  twin_state* s = w->state;
  const double nis = innovations(w)[w->n_sensors];
  s->n_suspect += nis > SUSPECT * SUSPECT * (double)w->n_sensors;
  if (++s->n_since_kept < KEEP) {
    return;
  }
  if (s->n_suspect * 10 < s->n_since_kept) {
    keep_estimate(w);
  }
  s->n_since_kept = s->n_suspect = 0;
}

static const double* last_good(const twin* w) {
  const size_t one = w->network.heat.n_capacities + w->n_unknowns;
  return w->kept + (1 - (size_t)w->state->kept_newer) * one;
}

yoke_status yoke__twin_start(twin* w, double t) {
  clear_state(w);
  send_known(w);
  keep_moving(w);
  yoke__twin_network_inputs(&w->network, t, w->v);
  yoke_status status = yoke__estimate_start_rest(w->filter, w->given_z, w->v);
  double change = w->network.n_moving + w->network.n_law_nodes == 0 ? 0 : 1;
  for (int i = 0; i < MOST_PASSES && status >= 0 && change > SETTLED; i++) {
    status = settle_laws(w, &change);
    status = status < 0 ? status : yoke__estimate_start_rest(w->filter, w->given_z, w->v);
  }
  YOKE_TRY(status);
  if (w->late != NULL) {
    yoke__late_start(w->late, t);
  }
  keep_estimate(w);
  keep_estimate(w);
  w->has_infos = w->must_set = w->has_open_model = false;
  w->state->t_next = t;
  write_estimates(w);
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// readings

static bool is_new(twin* w, size_t sensor, double* stamp) {
  if (!w->has_infos) {
    return true;
  }
  const yoke_sample_info* info = &w->infos[w->layout.n_known + sensor];
  if (!info->is_valid || info->sequence + 1 == w->sequence[sensor]) {
    return false;
  }
  w->sequence[sensor] = info->sequence + 1;
  *stamp = info->time_stamp;
  return true;
}

static void take_reading(twin* w, size_t sensor, double t, double value) {
  if (w->late != NULL) {
    const yoke_late_reading taken = yoke__late_reading(w->late, sensor, t, value);
    w->wholes[TWIN_WHOLE_READINGS] += taken == YOKE_READING_IN_TIME || taken == YOKE_READING_LATE;
    return;
  }
  w->reading[sensor] = value;
  w->have[sensor] = yoke__is_finite(value);
  w->wholes[TWIN_WHOLE_READINGS] += w->have[sensor];
}

// Where units are called one after another a reading may be of the end of this step: it waits for the next one.
static void take_readings(twin* w, double t) {
  w->wholes[TWIN_WHOLE_READINGS] = 0;
  for (size_t i = 0; i < w->n_sensors; i++) {
    double stamp = t;
    w->have[i] = false;
    if (!isnan(w->pending[i])) {
      take_reading(w, i, t, w->pending[i]);
      w->pending[i] = (double)NAN;
    }
    if (!is_new(w, i, &stamp)) {
      continue;
    }
    const double value = w->u[w->layout.n_known + i];
    if (stamp > t + NEAR_TIME * w->setup.h) {
      w->pending[i] = value;
    } else {
      take_reading(w, i, w->late != NULL ? stamp : t, value);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// the filter

static yoke_status set_elements(twin* w) {
  const twin_network* n = &w->network;
  const bool is_changed = yoke__twin_network_conductances(n);
  if (!is_changed && !w->must_set) {
    return YOKE_OK;
  }
  keep_moving(w);
  w->must_set = w->has_open_model = false;
  return w->late != NULL ? yoke__late_set_elements(w->late, n->g, n->c)
                         : yoke__estimate_set_elements(w->filter, n->g, n->c);
}

static yoke_status correct(twin* w) {
  return w->late != NULL ? yoke__late_correct(w->late, w->v)
                         : yoke__estimate_correct(w->filter, w->v, w->reading, w->have);
}

static yoke_status predict(twin* w) {
  const double *v = w->has_line ? w->line : w->v, *slope = w->has_line ? w->slope : NULL;
  return w->late != NULL ? yoke__late_predict(w->late, v, slope)
                         : yoke__estimate_predict(w->filter, v, slope);
}

// What inputs did in the steps before.
static yoke_status follow_inputs(twin* w, double t) {
  const bool has_missed = yoke__twin_find_missed(w, t), has_change = yoke__twin_find_change(w, t);
  if (w->state->is_open != 0) {
    yoke__twin_open_ramp(w, has_change, has_missed);
    return YOKE_OK;
  }
  if (has_missed) {
    YOKE_TRY(w->late != NULL ? yoke__late_catch_up(w->late, w->missed)
                             : yoke__estimate_catch_up(w->filter, w->missed));
  }
  if (has_change) {
    YOKE_TRY(w->late != NULL ? yoke__late_ramp(w->late, w->change)
                             : yoke__estimate_ramp(w->filter, w->change));
  }
  return YOKE_OK;
}

// Innovations of this step, their sum (nis), and the noise of sensors that nobody knows.
static void note_innovations(twin* w) {
  double* to = innovations(w);
  double nis = 0;
  for (size_t i = 0; i < w->n_sensors; i++) {
    double sd = 0, innovation = 0;
    yoke__estimate_innovation(w->filter, i, &innovation, &sd);
    w->normalised[i] = innovation / sd;
    const bool is_there = yoke__is_finite(w->normalised[i]);
    to[i] = is_there ? innovation : 0;
    nis += is_there ? w->normalised[i] * w->normalised[i] : 0;
    if (w->sensor_texts[i].is_assumed && is_there) {
      yoke_noise* noise = &w->noise[i];
      const bool is_started = yoke__estimate_counts_of(w->filter).n_steps >= w->n_start;
      const double sigma =
          is_started ? yoke__noise_add(noise, innovation, sd, noise->sigma) : noise->sigma;
      yoke__estimate_set_sigma(w->filter, i, sigma);
    }
    to[w->n_sensors + 1 + i] = w->noise[i].sigma;
  }
  to[w->n_sensors] = yoke__is_finite(nis) ? nis : to[w->n_sensors];
}

size_t yoke__twin_find_far(const twin* w, double* excursion) {
  size_t found = w->n_unknowns;
  *excursion = YOKE_ESTIMATE_FAR;

  // after a new start the estimates have left their guesses without time to do so
  for (size_t i = 0; i < w->n_unknowns && w->state->n_resets == 0; i++) {
    const double distance = fabs(yoke__estimate_excursion(w->filter, i));
    found = distance > *excursion ? i : found;
    *excursion = fmax(*excursion, distance);
  }
  return found;
}

bool yoke__twin_is_gated(const twin* w) {
  const yoke_estimate_counts counts = yoke__estimate_counts_of(w->filter);
  return counts.n_steps >= w->n_start && counts.n_gated >= FEW_GATED &&
         (double)counts.n_gated > MOST_GATED * (double)counts.n_readings;
}

// Are the start and the learning of unknown noise over?
static bool is_judged(const twin* w) {
  bool is_over = yoke__estimate_counts_of(w->filter).n_steps >= w->n_start;
  for (size_t i = 0; i < w->n_sensors; i++) {
    is_over = is_over && (!w->sensor_texts[i].is_assumed || w->noise[i].n >= N_LEARN);
  }
  return is_over;
}

// Where as much is unknown as there are sensors, unknowns take the faults of the model upon them and the innovations stay in order.
static void judge(twin* w) {
  const double* e = w->late != NULL ? yoke__late_settled(w->late) : w->normalised;
  if (e != NULL && is_judged(w)) {
    const double gate = w->setup.gate > 0 ? w->setup.gate : (double)INFINITY;
    for (size_t i = 0; i < w->n_sensors; i++) {
      w->judged[i] = fabs(e[i]) <= gate ? e[i] : (double)NAN;  // what is left out was no reading
    }
    yoke__consistency_add(w->consistency, w->judged);
  }
  double excursion = 0;
  const yoke_twin_verdict verdict = yoke__consistency_verdict(w->consistency, false, NULL);
  const bool is_far = yoke__twin_find_far(w, &excursion) < w->n_unknowns || yoke__twin_is_gated(w);
  w->wholes[TWIN_WHOLE_VERDICT] =
      is_far && verdict != YOKE_TWIN_DIVERGED ? YOKE_TWIN_INCONSISTENT : verdict;
}

// ---- divergence

// What shows it: an unknown at its bound, or the sensor whose reading is furthest off; -1: nothing in particular.
static int64_t find_culprit(const twin* w, yoke_estimate_reason reason) {
  int64_t found = -1;
  double worst = 0;
  if (reason == YOKE_ESTIMATE_AT_BOUND) {
    for (size_t i = 0; i < w->n_unknowns; i++) {
      double value = 0, sd = 0;
      yoke__estimate_unknown(w->filter, i, &value, &sd);
      const bool is_at_bound = !(value > w->unknowns[i].lower * (1 + NEAR_STEP) &&
                                 value < w->unknowns[i].upper * (1 - NEAR_STEP));
      found = is_at_bound && found < 0 ? (int64_t)i : found;
    }
  }
  for (size_t i = 0; i < w->n_sensors && reason == YOKE_ESTIMATE_LOST; i++) {
    const double e = fabs(w->normalised[i]);
    found = e > worst ? (int64_t)i : found;
    worst = fmax(worst, e);
  }
  return found;
}

// No heap. False: it cannot start anew.
static bool restart(twin* w, double t) {
  const double* z = last_good(w);
  const bool is_allowed = w->state->n_resets < (uint64_t)w->settings->most_resets;
  if (!is_allowed ||
      yoke__estimate_start_at(w->filter, z + w->network.heat.n_capacities, z, w->v) < 0) {
    return false;
  }
  w->state->n_resets++;
  w->wholes[TWIN_WHOLE_RESETS] = (int64_t)w->state->n_resets;
  memcpy(w->kept + (size_t)w->state->kept_newer * (w->network.heat.n_capacities + w->n_unknowns), z,
         (w->network.heat.n_capacities + w->n_unknowns) * sizeof *z);
  w->must_set = true;
  if (w->late != NULL) {
    yoke__late_start(w->late, t);
  }
  yoke__consistency_clear(w->consistency);
  return true;
}

static void note_divergence(twin* w, double t) {
  const yoke_estimate_reason reason = yoke__estimate_reason_of(w->filter);
  w->state->n_lost++;
  w->state->lost_at = t;
  w->state->reason = reason;
  w->state->culprit = find_culprit(w, reason);
}

// ---------------------------------------------------------------------------------------------------------
// steps

static yoke_status fail(twin* w, const char* reason, yoke_step_result* result) {
  w->reason = result->message = reason;
  return YOKE_UNIT_FAILED;
}

static yoke_status check_step(twin* w, double t, double h, yoke_step_result* result) {
  if (!(fabs(h - w->setup.h) <= NEAR_STEP * w->setup.h)) {
    snprintf(w->text, sizeof w->text,
             "a step of %.9g s, but this twin was made for steps of %.9g s", h, w->setup.h);
    return fail(w, w->text, result);
  }
  if (w->late != NULL && !(fabs(t - w->state->t_next) <= 0.1 * h)) {
    snprintf(w->text, sizeof w->text, "asked to go on from t = %.9g s, but it is at %.9g s", t,
             w->state->t_next);
    return fail(w, w->text, result);
  }
  w->state->t_next = t + h;
  return YOKE_OK;
}

// The filter over one step; YOKE_DIVERGED if it did.
static yoke_status estimate(twin* w) {
  YOKE_TRY(set_elements(w));
  const yoke_status status = correct(w);
  note_innovations(w);
  YOKE_TRY(status);
  return predict(w);
}

yoke_status yoke__twin_step(twin* w, double t, double h, yoke_step_result* result) {
  YOKE_TRY(check_step(w, t, h, result));
  if (follow_inputs(w, t) == YOKE_NOT_FINITE) {
    return fail(w, "an input is not a finite number", result);
  }
  read_law_temperatures(w);
  yoke__twin_take_inputs(w, t);
  take_readings(w, t);
  if (w->state->is_open != 0) {
    w->wholes[TWIN_WHOLE_READINGS] = 0;
    w->has_open_model = !yoke__twin_network_conductances(&w->network) && w->has_open_model;
    keep_moving(w);
    yoke__twin_open_step(w);
    return YOKE_OK;
  }
  yoke_status status = estimate(w);
  if (status == YOKE_NOT_FINITE) {
    return fail(w, "an input is not a finite number", result);
  }
  if (status < 0) {
    note_divergence(w, t);
    yoke__twin_forget_missed(w);
    status = restart(w, t) ? predict(w) : status;
  }
  if (status < 0) {
    yoke__twin_open_start(w);
    yoke__twin_open_step(w);
    w->wholes[TWIN_WHOLE_VERDICT] = YOKE_TWIN_DIVERGED;
    return YOKE_OK;
  }
  judge(w);
  write_estimates(w);
  for (size_t i = 0; i < w->n_unknowns; i++) {
    w->wholes[TWIN_N_WHOLES + i] = (int64_t)yoke__estimate_bound_hits(w->filter, i);
  }
  keep_now_and_then(w);
  return YOKE_OK;
}
