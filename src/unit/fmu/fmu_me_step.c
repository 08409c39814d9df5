// Model exchange: one step of the unit, in fixed internal steps, or in those that a tolerance allows, cut at events.
//
//   x' = f(t, x, u(t)),   u(t_step + tau) = u0 + u1 tau + u2 tau^2/2 + u3 tau^3/6
//   event where an indicator z_i(t, x, u) changes between z_i > 0 and z_i <= 0
//
// A crossing is located by doing the internal step again with another length: the states at the event are then a
// step of the method and keep its order, which an interpolation polynomial would not. The length is found by the Illinois
// form of regula falsi (halved weight at the end that stays), every third trial by bisection, so that the number of trials
// is bounded. The event happens at the upper end of the last interval, where the FMU itself sees the new sign.
//
// After a state event the next internal step is very short: an indicator that is left a rounding beyond zero (a ball that lies
// 1e-13 m in the ground) goes back through zero there, and the FMU is told so, before a full step can hide two crossings.
// Crossings are never suppressed: an FMU that switches back at once is heard, and if it never stops, the bound on events
// says so.
//
// Sources: FMI 2.0.4, 3.2 and FMI 3.0.1, 3 (which calls when); Hairer, Norsett, Wanner, Solving Ordinary Differential
// Equations I, II.6 (event location); Dowell, Jarratt, A modified regula falsi method, BIT 11 (1971).
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "unit/fmu/fmu_solver.h"

enum { MAX_TRIALS = 300 };  // bisection alone needs 53 of its third

yoke_status yoke__fmu_me_fail(fmu* f, yoke_status status, const char* format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(f->message, sizeof f->message, format, args);
  va_end(args);
  return status;
}

// ---------------------------------------------------------------------------------------------------------
// the FMU at one point

// inputs that follow their polynomial
static yoke_status put_inputs(fmu* f, double tau) {
  fmu_solver* s = f->solver;
  const size_t n = f->layout.n_u;
  const double *u1 = s->slopes, *u2 = u1 + n, *u3 = u2 + n;
  for (size_t i = 0; i < n; i++) {
    s->u_now[i] = s->u[i] + tau * (u1[i] + tau / 2 * (u2[i] + tau / 3 * u3[i]));
  }
  return yoke__fmu_me_put_inputs(f, s->u_now);
}

yoke_status yoke__fmu_me_put(fmu* f, double tau, const double x[]) {
  fmu_solver* s = f->solver;
  s->now->t_now = fmax(s->t_step + tau, s->t_floor);
  YOKE_TRY(f->version->set_time(f, s->now->t_now));
  if (s->now->has_slopes) {
    YOKE_TRY(put_inputs(f, tau));
  }
  return s->n_x == 0 ? YOKE_OK : f->version->set_states(f, x, s->n_x);
}

yoke_status yoke__fmu_me_derivatives(fmu* f, double tau, const double x[], double dx[]) {
  fmu_solver* s = f->solver;
  YOKE_TRY(yoke__fmu_me_put(f, tau, x));
  YOKE_TRY(f->version->get_derivatives(f, dx, s->n_x));
  for (size_t i = 0; i < s->n_x; i++) {
    if (!yoke__is_finite(dx[i])) {
      char name[160];
      yoke__fmu_me_state_name(f, i, name, sizeof name);
      return yoke__fmu_me_fail(f, YOKE_DIVERGED, "the derivative of %s is %s at t = %.15g s", name,
                               isnan(dx[i]) ? "not a number" : "infinite", s->t_step + tau);
    }
  }
  return YOKE_OK;
}

yoke_status yoke__fmu_me_indicators(fmu* f, double z[]) {
  fmu_solver* s = f->solver;
  if (s->n_z == 0) {
    return YOKE_OK;
  }
  YOKE_TRY(f->version->get_indicators(f, z, s->n_z));
  for (size_t i = 0; i < s->n_z; i++) {
    if (isnan(z[i])) {
      return yoke__fmu_me_fail(f, YOKE_DIVERGED,
                               "event indicator %zu of %zu is not a number at t = %.15g s", i + 1,
                               s->n_z, s->now->t_now);
    }
  }
  return YOKE_OK;
}

bool yoke__fmu_me_is_crossed(const fmu_solver* s, const double z[]) {
  for (size_t i = 0; i < s->n_z; i++) {
    if ((z[i] > 0) != (s->is_above[i] != 0)) {
      return true;
    }
  }
  return false;
}

yoke_status yoke__fmu_me_complete(fmu* f, bool* is_event) {
  fmu_solver* s = f->solver;
  bool is_end = false;
  *is_event = false;
  if (!s->is_counting_steps) {
    return YOKE_OK;
  }
  YOKE_TRY(f->version->completed_step(f, is_event, &is_end));
  if (is_end) {
    s->now->is_over = true;
    s->flags |= YOKE_STEP_END_WANTED;
  }
  return YOKE_OK;
}

bool yoke__fmu_me_find_stop(const fmu_solver* s, double tau, double target, double* stop) {
  *stop = target;
  const double event = s->now->t_next - s->t_step;
  if (!s->now->has_next || event > target + s->tolerance_s) {
    return false;
  }
  // an event a rounding beside the target must not leave an internal step of that length
  if (event < target - s->tolerance_s) {
    *stop = fmax(event, tau);
  }
  return true;
}

// ---------------------------------------------------------------------------------------------------------
// one internal step

// the methods cannot fail in the middle: zeros let them end, and the failure is looked at afterwards
static void right_side(void* self, double tau, const double x[], double dx[]) {
  fmu* f = self;
  fmu_solver* s = f->solver;
  if (s->failure >= 0) {
    s->failure = yoke__fmu_me_derivatives(f, tau, x, dx);
  }
  if (s->failure < 0) {
    memset(dx, 0, s->n_x * sizeof *dx);
  }
}

yoke_status yoke__fmu_me_integrate(fmu* f, double tau, double length, double z[]) {
  fmu_solver* s = f->solver;
  yoke_status status = YOKE_OK;
  if (s->kind == FMU_DOPRI5) {
    s->pair.slope = s->slope;
    yoke__ode_pair_step(right_side, f, tau, length, s->n_x, s->x_start, s->x, &s->pair, s->work);
  } else if (s->n_x > 0) {
    memcpy(s->x, s->x_start, s->n_x * sizeof *s->x);
    status =
        yoke__ode_step(s->method, right_side, f, tau, length, s->n_x, s->x, s->work, &s->corrector);
  }
  YOKE_TRY(s->failure);
  if (status == YOKE_NO_CONVERGENCE) {
    return yoke__fmu_me_fail(f, status,
                             "the implicit step of %g s at t = %.15g s did not converge: a smaller "
                             "solver step may help",
                             length, s->t_step + tau);
  }
  for (size_t i = 0; i < s->n_x; i++) {
    if (status < 0 || !yoke__is_finite(s->x[i])) {
      char name[160];
      yoke__fmu_me_state_name(f, i, name, sizeof name);
      return yoke__fmu_me_fail(f, YOKE_DIVERGED,
                               "%s grew beyond all numbers at t = %.15g s: the "
                               "solver step of %g s may be too long",
                               name, s->t_step + tau, length);
    }
  }
  YOKE_TRY(yoke__fmu_me_put(f, tau + length, s->x));
  return yoke__fmu_me_indicators(f, z);
}

// An interval of lengths: no crossing yet at low, one or more at high.
typedef struct bracket {
  double low, high;
  double weight_low, weight_high;  // of the indicators there, for the Illinois rule
} bracket;

// where the first of the crossed indicators would be zero if it were linear
static double guess(const fmu_solver* s, const bracket* b) {
  double nearest = b->high;
  for (size_t i = 0; i < s->n_z; i++) {
    if ((s->z_high[i] > 0) == (s->is_above[i] != 0)) {
      continue;
    }
    const double low = b->weight_low * fabs(s->z_low[i]);
    const double high = b->weight_high * fabs(s->z_high[i]);
    const double sum = low + high;
    const double at =
        sum > 0 && yoke__is_finite(sum) ? b->low + (b->high - b->low) * (low / sum) : b->low;
    nearest = fmin(nearest, at);
  }
  return nearest;
}

// Shortens the internal step from tau to the first crossing in it. In: z_low at its start, z_high at its end.
static yoke_status locate(fmu* f, double tau, double* length) {
  fmu_solver* s = f->solver;
  bracket b = {0, *length, 1, 1};
  int last = 0;  // the end that moved: -1 low, 1 high
  for (int i = 0; i < MAX_TRIALS && b.high - b.low > s->tolerance_s; i++) {
    const double margin = 0.5 * s->tolerance_s;
    double trial = i % 3 == 2 ? 0.5 * (b.low + b.high) : guess(s, &b);
    trial = fmin(fmax(trial, b.low + margin), b.high - margin);
    YOKE_TRY(yoke__fmu_me_integrate(f, tau, trial, s->z));
    if (yoke__fmu_me_is_crossed(s, s->z)) {
      memcpy(s->z_high, s->z, s->n_z * sizeof *s->z);
      b.high = trial;
      b.weight_high = 1;
      b.weight_low *= last == 1 ? 0.5 : 1;
      last = 1;
    } else {
      memcpy(s->z_low, s->z, s->n_z * sizeof *s->z);
      b.low = trial;
      b.weight_low = 1;
      b.weight_high *= last == -1 ? 0.5 : 1;
      last = -1;
    }
  }
  *length = b.high;
  return yoke__fmu_me_integrate(f, tau, b.high, s->z);
}

// From tau to *stop, or to the first crossing before it, or as far as one step within the tolerance reaches.
static yoke_status advance(fmu* f, double tau, double* stop, bool* is_crossed) {
  fmu_solver* s = f->solver;
  if (s->n_x > 0) {
    memcpy(s->x_start, s->x, s->n_x * sizeof *s->x);
  }
  if (s->n_z > 0) {
    memcpy(s->z_low, s->z, s->n_z * sizeof *s->z);
  }
  const double whole = *stop - tau;
  double length = whole;
  YOKE_TRY(s->kind == FMU_DOPRI5 ? yoke__fmu_me_integrate_within(f, tau, &length)
                                 : yoke__fmu_me_integrate(f, tau, length, s->z));
  *is_crossed = yoke__fmu_me_is_crossed(s, s->z);
  if (*is_crossed) {
    memcpy(s->z_high, s->z, s->n_z * sizeof *s->z);
    YOKE_TRY(locate(f, tau, &length));
  } else {
    // the last slope of this step is the first of the next
    double* slope = s->slope;
    s->slope = s->pair.slope_end;
    s->pair.slope_end = slope;
  }
  *stop = length == whole ? *stop : tau + length;
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// the step

// A stiff model is better off with the solver in reserve.
static void hand_over(fmu* f, double tau) {
  fmu_solver* s = f->solver;
  s->now->is_stiff = s->cvode != NULL && s->is_at_bound;
  if (s->now->is_stiff) {
    s->t_stiff = s->t_step + tau;
    yoke__fmu_cvode_forget(f);
  }
}

// From *tau to target, through all events in between, or to where another solver takes over.
static yoke_status run_to(fmu* f, double* tau, double target) {
  fmu_solver* s = f->solver;
  fmu_solver_state* now = s->now;
  while (*tau < target && !now->is_over && !now->is_stiff) {
    double stop = target;
    bool is_due = yoke__fmu_me_find_stop(s, *tau, target, &stop);
    const double first = 16 * s->tolerance_s;  // see the top of this file
    if (now->is_restarting && stop - *tau > first) {
      stop = *tau + first;
      is_due = false;
    }
    now->is_restarting = false;
    bool is_crossed = false, is_wanted = false;
    if (stop > *tau) {
      const double planned = stop;
      YOKE_TRY(advance(f, *tau, &stop, &is_crossed));
      YOKE_TRY(yoke__fmu_me_complete(f, &is_wanted));
      is_due = is_due && stop == planned;
    }
    *tau = stop;
    if (!now->is_over && (is_crossed || is_wanted || is_due)) {
      YOKE_TRY(yoke__fmu_me_event(f, is_due ? fmax(now->t_now, now->t_next) : now->t_now));
      now->is_restarting = is_crossed;
    }
    hand_over(f, *tau);
  }
  return YOKE_OK;
}

double yoke__fmu_me_ratio(const fmu_file* file, double h) {
  const yoke_fmi_experiment* e = &file->description->experiment;
  // ten steps in a macro step, however many calls it has
  const int64_t calls = file->settings.n_calls;
  double ratio = calls > 1 ? 10.0 / (double)calls : 10;
  if (file->settings.solver_step > 0) {
    ratio = h / file->settings.solver_step;
  } else if (e->has_step && e->step > 0) {
    const double whole = round(h / e->step);
    const bool is_fitting = whole >= 1 && whole <= 1e4 && fabs(h / e->step - whole) <= 1e-6 * whole;
    ratio = is_fitting ? whole : ratio;
  }
  // a rounding above a whole number is that number
  return fmax(1, ceil(ratio * (1 - 1e-9)));
}

static yoke_status count_internal(fmu* f, double h, int64_t* n) {
  const double ratio = yoke__fmu_me_ratio(f->file, h);
  if (!(ratio <= FMU_MAX_INTERNAL)) {
    return yoke__fmu_me_fail(f, YOKE_BAD_ARG,
                             "a step of %g s would take %.3g internal steps of %g s: at most %d", h,
                             ratio, f->file->settings.solver_step, FMU_MAX_INTERNAL);
  }
  *n = (int64_t)ratio;
  return YOKE_OK;
}

yoke_status yoke__fmu_me_plan(fmu* f, double h) {
  fmu_solver* s = f->solver;
  if (h == s->h_counted) {
    return YOKE_OK;
  }
  if (s->kind == FMU_FIXED) {
    YOKE_TRY(count_internal(f, h, &s->n_internal));
    s->longest = h / (double)s->n_internal;
  } else {
    // two crossings within one internal step are not seen: with indicators steps are no longer than fixed ones would be
    const double wanted = f->file->settings.solver_step;
    s->n_internal = 1;
    s->longest = wanted > 0 ? fmin(wanted, h) : s->n_z > 0 ? h / 10 : h;
  }
  s->h_counted = h;
  return YOKE_OK;
}

yoke_status yoke__fmu_me_run_own(fmu* f) {
  fmu_solver* s = f->solver;
  double tau = 0;
  const double n = (double)s->n_internal;
  for (int64_t k = 1; k <= s->n_internal && !s->now->is_over && !s->now->is_stiff; k++) {
    YOKE_TRY(run_to(f, &tau, k == s->n_internal ? s->h : s->h * ((double)k / n)));
  }
  return s->now->is_stiff && !s->now->is_over ? yoke__fmu_me_run_cvode(f, tau) : YOKE_OK;
}
