// Start and steps of a twin of a black box. A step takes the readings and inputs of t, corrects the estimates, and moves instances and
// estimates to t + h. A filter that has diverged leaves the outputs of the nominal instance.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_message.h"
#include "unit/twin/twin_black_part.h"

#define NEAR_STEP 1e-9  // of the length of a step, relative
#define NEAR_TIME 0.5   // of a time stamp to a step, in steps

// ---------------------------------------------------------------------------------------------------------
// the instances

// Inputs and parameters of one instance.
static void fill_instance(const black_twin* w, const double known[], const double theta[],
                          double u[], double parameters[]) {
  for (size_t i = 0; i < w->n_known; i++) {
    u[w->known[i]] = known[i];
  }
  for (size_t j = 0; j < w->n_unknowns; j++) {
    const black_unknown* unknown = &w->unknowns[j];
    if (unknown->kind == BLACK_INPUT) {
      u[unknown->place] = theta[j];
    } else if (unknown->kind == BLACK_PARAMETER) {
      parameters[unknown->place] = theta[j];
    }
  }
}

static void copy_idle(const black_twin* w, double y[]) {
  for (size_t i = 1; i < w->n_members; i++) {
    if (w->is_idle[i]) {
      memcpy(y + i * w->n_rows, y, w->n_rows * sizeof *y);
    }
  }
}

static void take_rows(const black_twin* w, const double inner_y[], double y[]) {
  for (size_t i = 0; i < w->n_rows; i++) {
    y[i] = inner_y[w->rows[i]];
  }
}

static yoke_status step_set(void* context, size_t set, uint64_t k, const double known[],
                            const double theta[], double y[]) {
  black_twin* w = context;
  const size_t n_u = w->unit->n_u, n_y = w->unit->n_y;
  for (size_t i = 0; i < w->n_members; i++) {
    fill_instance(w, known, theta + i * w->n_all, w->inner_u + i * n_u,
                  w->inner_parameters + i * w->n_parameters);
  }
  YOKE_TRY(yoke__instances_step(w->instances, set * w->n_members, w->n_members, w->is_idle,
                                w->t_start + (double)k * w->h, w->inner_u, w->inner_parameters,
                                w->inner_y, &w->failed, &w->failure));
  for (size_t i = 0; i < w->n_members; i++) {
    take_rows(w, w->inner_y + i * n_y, y + i * w->n_rows);
  }
  copy_idle(w, y);
  return YOKE_OK;
}

static yoke_status restart_set(void* context, size_t set, double y[]) {
  black_twin* w = context;
  yoke__instances_join_work(w->instances);
  w->working = NULL;
  YOKE_TRY(yoke__instances_restart(w->instances, set * w->n_members, w->n_members));
  for (size_t i = 0; i < w->n_members; i++) {
    take_rows(w, w->start_y + i * w->unit->n_y, y + i * w->n_rows);
  }
  return YOKE_OK;
}

yoke_black_box yoke__twin_black_box(black_twin* w) {
  return (yoke_black_box){w, step_set, restart_set};
}

// ---- one instance and its derivatives

// theta has unknown inputs only; offsets of sensors are none of the unit's.
static yoke_status step_nominal(void* context, uint64_t k, const double known[],
                                const double theta[], double y[]) {
  const black_twin* w = context;
  double all[YOKE_BLACK_MOST_UNKNOWNS] = {0};
  for (size_t j = 0, at = 0; j < w->n_unknowns; j++) {
    if (w->unknowns[j].kind == BLACK_INPUT) {
      all[j] = theta[at++];
    }
  }
  return step_set(context, 0, k, known, all, y);
}

static yoke_status linearise(void* context, const double known[], const double theta[], double A[],
                             double B[], double C[], double D[]) {
  (void)known;
  (void)theta;  // it has the inputs of its last step
  const black_twin* w = context;
  yoke_linear model = w->model;
  const size_t n_x = model.n_states, n_u = w->unit->n_u;
  YOKE_TRY(w->unit->ops->linearise(w->unit->self, &model));
  memcpy(A, model.A, n_x * n_x * sizeof *A);
  size_t n = 0, at = 0;
  for (size_t j = 0; j < w->n_unknowns; j++) {
    n += w->unknowns[j].kind == BLACK_INPUT;
  }
  for (size_t i = 0; i < w->n_rows; i++) {
    memcpy(C + i * n_x, model.C + w->rows[i] * n_x, n_x * sizeof *C);
  }
  for (size_t j = 0; j < w->n_unknowns; j++) {
    const size_t column = w->unknowns[j].place;
    if (w->unknowns[j].kind != BLACK_INPUT) {
      continue;
    }
    for (size_t i = 0; i < n_x; i++) {
      B[i * n + at] = model.B[i * n_u + column];
    }
    for (size_t i = 0; i < w->n_rows; i++) {
      D[i * n + at] = model.D[w->rows[i] * n_u + column];
    }
    at++;
  }
  return YOKE_OK;
}

yoke_extended_box yoke__twin_extended_box(black_twin* w) {
  return (yoke_extended_box){w, step_nominal, linearise};
}

// ---------------------------------------------------------------------------------------------------------
// estimates to outputs

static void write_one(black_twin* w, size_t at, double value, double sd) {
  const size_t n = w->n_rows + w->n_unknowns;
  w->reals[at] = yoke__is_finite(value) ? value : w->reals[at];
  w->reals[n + at] = yoke__is_finite(sd) ? sd : w->reals[n + at];
}

static void write_estimates(black_twin* w) {
  double value, sd;
  for (size_t i = 0; i < w->n_rows; i++) {
    yoke__twin_core_output(w, i, &value, &sd);
    write_one(w, i, value, sd);
  }
  for (size_t j = 0; j < w->n_unknowns; j++) {
    yoke__twin_core_unknown(w, j, &value, &sd);
    write_one(w, w->n_rows + j, value, sd);
    w->wholes[BLACK_N_WHOLES + j] = (int64_t)yoke__twin_core_hits(w, j);
  }
  w->wholes[BLACK_WHOLE_VERDICT] = yoke__twin_core_verdict(w, NULL);
  w->wholes[BLACK_WHOLE_PASSES] = yoke__twin_core_passes(w);
}

// Nothing can be estimated any more: the nominal instance goes on.
static void write_nominal(black_twin* w) {
  for (size_t i = 0; i < w->n_rows; i++) {
    const double value = yoke__twin_core_nominal(w)[i];
    w->reals[i] = yoke__is_finite(value) ? value : w->reals[i];
  }
  w->wholes[BLACK_WHOLE_VERDICT] = YOKE_TWIN_DIVERGED;
}

static void write_innovations(black_twin* w) {
  double* to = w->reals + 2 * (w->n_rows + w->n_unknowns);
  double nis = 0;
  for (size_t i = 0; i < w->n_sensors; i++) {
    double innovation, sd;
    yoke__twin_core_innovation(w, i, &innovation, &sd);
    const double e = innovation / sd;
    to[i] = yoke__is_finite(e) ? innovation : 0;
    nis += yoke__is_finite(e) ? e * e : 0;
  }
  to[w->n_sensors] = yoke__is_finite(nis) ? nis : to[w->n_sensors];
}

// ---------------------------------------------------------------------------------------------------------
// start

// What the instances begin with: the first guesses, and offsets of what acts on the start.
static void fill_start(black_twin* w) {
  if (w->extended != NULL) {
    fill_instance(w, w->u, w->guesses, w->inner_u, w->inner_parameters);
    return;
  }
  const yoke_shadow* shadow = yoke__black_shadow(w->black);
  for (size_t i = 0; i < w->n_members; i++) {
    const double* with_offsets = yoke__shadow_theta(shadow, i);
    double theta[2 * YOKE_BLACK_MOST_UNKNOWNS] = {0};
    for (size_t j = 0; j < w->n_all; j++) {
      theta[j] = yoke__deviation_applied(yoke__shadow_filter(shadow), j);
      if (w->unknowns[j].kind == BLACK_REST) {
        theta[w->unknowns[j].place] = with_offsets[j];
      }
    }
    fill_instance(w, w->u, theta, w->inner_u + i * w->unit->n_u,
                  w->inner_parameters + i * w->n_parameters);
  }
}

static yoke_status set_start_values(black_twin* w) {
  if (w->extended != NULL) {
    return YOKE_OK;
  }
  const yoke_shadow* shadow = yoke__black_shadow(w->black);
  for (size_t i = 0; i < w->n_sets * w->n_members; i++) {
    for (size_t j = 0; j < w->n_unknowns; j++) {
      if (w->unknowns[j].kind == BLACK_START) {
        YOKE_TRY(yoke__instances_set_one(w->instances, i, w->unknowns[j].place,
                                         yoke__shadow_theta(shadow, i % w->n_members)[j]));
      }
    }
  }
  return YOKE_OK;
}

yoke_status yoke__twin_black_enter(black_twin* w, double t, double t_stop, const yoke_sink* sink) {
  w->t_start = t;
  fill_start(w);
  YOKE_TRY(set_start_values(w));
  return yoke__instances_enter_init(w->instances, t, t_stop, w->n_members, w->inner_u,
                                    w->inner_parameters, w->start_y, sink);
}

// Whether a member has begun where the nominal one has: in its outputs, and the states that can be read.
static bool is_same_start(black_twin* w, size_t member) {
  const yoke_unit_info* info = w->unit->info;
  const size_t n_y = w->unit->n_y;
  bool is_same = memcmp(w->start_y, w->start_y + member * n_y, n_y * sizeof(double)) == 0;
  for (size_t i = 0; i < info->n_variables && is_same; i++) {
    const yoke_variable* v = &info->variables[i];
    double a = 0, b = 0;
    if (v->causality == YOKE_STATE && v->type == YOKE_REAL && yoke__variable_count(v) == 1) {
      is_same = yoke__instances_get_one(w->instances, 0, i, &a) >= 0 &&
                yoke__instances_get_one(w->instances, member, i, &b) >= 0 && a == b;
    }
  }
  return is_same;
}

// Where the start does not depend on an unknown, the instances that would show it need not run.
static void find_idle(black_twin* w) {
  for (size_t j = w->n_unknowns; j < w->n_all; j++) {
    const size_t member = yoke__shadow_member_of(yoke__black_shadow(w->black), j);
    const bool is_same = is_same_start(w, member) && is_same_start(w, member + 1);
    w->is_idle[member] = w->is_idle[member + 1] = is_same;
  }
}

yoke_status yoke__twin_black_refresh(black_twin* w, double t) {
  fill_start(w);
  YOKE_TRY(yoke__instances_refresh(w->instances, t, w->n_members, w->inner_u, w->start_y));
  for (size_t i = 0; i < w->n_rows; i++) {
    w->reals[i] = w->start_y[w->rows[i]];
  }
  return YOKE_OK;
}

yoke_status yoke__twin_black_begin(black_twin* w) {
  find_idle(w);
  YOKE_TRY(yoke__instances_exit_init(w->instances));
  YOKE_TRY(yoke__twin_core_start(w));
  for (size_t i = 0; i < w->n_sensors; i++) {
    w->pending[i] = (double)NAN;
    w->sequence[i] = 0;
  }
  w->n_steps = 0;
  w->has_failed = false;
  w->oldest = 0;
  write_estimates(w);
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// readings

static bool is_new(black_twin* w, size_t sensor, double* stamp) {
  if (!w->has_infos) {
    return true;
  }
  const yoke_sample_info* info = &w->infos[w->n_known + sensor];
  if (!info->is_valid || info->sequence + 1 == w->sequence[sensor]) {
    return false;
  }
  w->sequence[sensor] = info->sequence + 1;
  *stamp = info->time_stamp;
  return true;
}

// Where units are called one after another a reading may be of the end of this step: it waits for the next one.
static void take_readings(black_twin* w, double t) {
  w->wholes[BLACK_WHOLE_READINGS] = 0;
  for (size_t i = 0; i < w->n_sensors; i++) {
    double stamp = t;
    w->reading[i] = w->pending[i];
    w->pending[i] = (double)NAN;
    if (is_new(w, i, &stamp)) {
      double* to = stamp > t + NEAR_TIME * w->h ? &w->pending[i] : &w->reading[i];
      w->oldest = fmax(w->oldest, (t - stamp) / w->h);
      *to = w->u[w->n_known + i];
    }
    w->have[i] = yoke__is_finite(w->reading[i]);
    w->wholes[BLACK_WHOLE_READINGS] += w->have[i];
  }
}

// ---------------------------------------------------------------------------------------------------------
// steps

static yoke_status fail(black_twin* w, yoke_step_result* result, const char* format, double a,
                        double b) {
  snprintf(w->text, sizeof w->text, format, a, b);
  result->message = w->text;
  return YOKE_UNIT_FAILED;
}

static void work(void* context) {
  yoke__shadow_work(context);
}

static void follow_work(black_twin* w) {
  yoke_shadow* shadow = w->black == NULL ? NULL : yoke__black_wants_work(w->black);
  if (shadow != NULL && shadow != w->working) {
    yoke__instances_begin_work(w->instances, work, shadow);
    w->working = shadow;
  }
}

static void end_work(black_twin* w) {
  if (w->working != NULL && yoke__black_needs_work(w->black)) {
    yoke__instances_join_work(w->instances);
    w->working = NULL;
  }
}

static void name_failed(black_twin* w, yoke_step_result* result) {
  const size_t member = w->failed % w->n_members;
  snprintf(w->text, sizeof w->text, "an instance of the unit failed%s%.200s%s",
           w->failure == NULL ? "" : ": ", w->failure == NULL ? "" : w->failure,
           member == 0 ? "" : " (it runs with an offset in an unknown: 'bounds' may help)");
  result->message = w->text;
}

yoke_status yoke__twin_black_step(black_twin* w, double t, double h, yoke_step_result* result) {
  if (!(fabs(h - w->h) <= NEAR_STEP * w->h)) {
    return fail(w, result, "a step of %.9g s, but this twin was made for steps of %.9g s", h, w->h);
  }
  if (!yoke__are_finite(w->n_known, w->u)) {
    return fail(w, result, "an input is not a finite number", 0, 0);
  }
  take_readings(w, t);
  w->n_steps++;
  end_work(w);
  if (yoke__twin_core_correct(w) < 0 && !w->has_failed) {
    w->has_failed = true;
    w->failed_at = t;
  }
  write_innovations(w);
  const yoke_status status = yoke__twin_core_advance(w);
  if (status == YOKE_DIVERGED) {
    w->failed_at = w->has_failed ? w->failed_at : t;
    w->has_failed = true;
  } else if (status < 0) {
    name_failed(w, result);
    return status;
  }
  if (w->has_failed) {
    write_nominal(w);
    return YOKE_OK;
  }
  follow_work(w);
  write_estimates(w);
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// what a person should know

static void report_far(black_twin* w, const yoke_sink* sink) {
  double excursion = 0;
  const size_t far = yoke__twin_core_find_far(w, &excursion);
  if (far >= w->n_unknowns || w->is_far_told) {
    return;
  }
  w->is_far_told = true;
  yoke__notify(sink, YOKE_WARNING,
               "the unit or its guesses are wrong: the estimate of %s is %.6g, which is %.0f times "
               "further from its start than sd and walk allow",
               w->unknowns[far].given->name, w->reals[w->n_rows + far], excursion);
}

static void report_innovations(black_twin* w, yoke_twin_verdict verdict, const yoke_finding* why,
                               const yoke_sink* sink) {
  if (verdict < YOKE_TWIN_INCONSISTENT || why->statistic == YOKE_STATISTIC_NONE ||
      !(why->excess > 1) || w->is_inconsistency_told) {
    return;
  }
  w->is_inconsistency_told = true;
  if (verdict == YOKE_TWIN_DIVERGED) {
    yoke__notify(sink, YOKE_WARNING,
                 "the filter has lost the readings: they are %.0f standard deviations from what it "
                 "expects (root mean square); the unit, its start or sigma is wrong",
                 sqrt(why->value));
    return;
  }
  yoke__notify(sink, YOKE_WARNING,
               "the readings do not fit the unit and its noise: of the innovations of %s the %s is "
               "%.3g, expected %.3g to %.3g",
               why->statistic == YOKE_STATISTIC_NIS ? "all sensors"
                                                    : w->settings->sensors[why->sensor].name,
               yoke__statistic_text(why->statistic), why->value, why->low, why->high);
}

static void report_old(black_twin* w, const yoke_sink* sink) {
  if (w->oldest > NEAR_TIME && !w->is_old_told) {
    w->is_old_told = true;
    yoke__notify(sink, YOKE_WARNING,
                 "readings come late, up to %.3g s: a twin of a unit takes them as of now, and "
                 "what they tell is wrong by what happened since",
                 w->oldest * w->h);
  }
}

static void report_doubt(black_twin* w, const yoke_sink* sink) {
  if (yoke__twin_core_is_doubtful(w) && !w->is_doubt_told) {
    w->is_doubt_told = true;
    yoke__notify(sink, YOKE_WARNING,
                 "the start was too far from the guesses for a unit that is not linear: what the "
                 "filter learnt first does not fit what came later, and is forgotten");
  }
}

static void report_failure(black_twin* w, const yoke_sink* sink) {
  if (!w->is_failure_told) {
    w->is_failure_told = true;
    yoke__notify(sink, YOKE_WARNING,
                 "the filter diverged at t = %.9g s: its numbers are not finite; from then on the "
                 "outputs are those of the unit without readings",
                 w->failed_at);
  }
}

void yoke__twin_black_report(black_twin* w, const yoke_sink* sink) {
  if (w->phase != BLACK_RUNNING) {
    return;
  }
  report_old(w, sink);
  if (w->has_failed) {
    report_failure(w, sink);
    return;
  }
  yoke_finding why = {.statistic = YOKE_STATISTIC_NONE};
  report_innovations(w, yoke__twin_core_verdict(w, &why), &why, sink);
  report_far(w, sink);
  report_doubt(w, sink);
}
