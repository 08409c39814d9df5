// Model exchange: internal steps of the pair of Dormand and Prince (src/ode/ode_pair.c), as long as the tolerance allows.
//
// A step whose error is larger than the tolerance is done again with a shorter length; one that fails without harm to the
// FMU (a state outside of the model, fmi2Discard) with a quarter of it. The length carries on over events and communication
// points, where a step is cut: the cut one says nothing about the next.
//
// The number of internal steps in a step of the unit is bounded. At the bound the solver says whether the model is stiff: its
// fastest motion has died away, yet keeps the steps at the bound of stability (h lambda = 3.3 on the real axis).
#include <math.h>

#include "base/base_check.h"
#include "unit/fmu/fmu_solver.h"

// Mean h lambda of some steps above which it is stability that limits them: control makes them vary below the bound, and
// motions that are followed with some accuracy have less than 1.
#define STIFF 2.5
enum { N_LOOKED_AT = 30 };

// sum of (v_i / size of x_i)^2
static double measure(const fmu_solver* s, const double v[]) {
  double sum = 0;
  for (size_t i = 0; i < s->n_x; i++) {
    const double nominal = s->nominals[i] != 0 ? fabs(s->nominals[i]) : 1;
    const double ratio = v[i] / (nominal + fabs(s->x_start[i]));
    sum += ratio * ratio;
  }
  return sqrt(sum);
}

// In the first step x changes by about 1 %; where that says nothing, a hundredth of the longest step.
static double guess_length(const fmu_solver* s) {
  const double x = measure(s, s->x_start), slope = measure(s, s->slope);
  return x > 1e-5 && slope > 0 && yoke__is_finite(x / slope) ? 0.01 * x / slope : 0.01 * s->longest;
}

static yoke_status give_up(fmu* f, double tau, double length) {
  const fmu_solver* s = f->solver;
  const bool is_stiff = s->is_at_bound;
  char why[160] = "";
  if (is_stiff) {
    snprintf(why, sizeof why, "the model is stiff (its fastest motion takes about %.2g s)",
             length / s->pair.h_lambda);
  } else {
    snprintf(why, sizeof why, "the tolerance %.2g asks for internal steps of about %.2g s",
             s->tolerance, length);
  }
  return yoke__fmu_me_fail(
      f, YOKE_NO_CONVERGENCE,
      "solver 'dopri5' stopped at t = %.15g s after %lld internal steps in one step of %g s: %s; "
      "%s",
      s->t_step + tau, (long long)(s->n_trials - 1), s->h, why,
      is_stiff ? "use solver: cvode, which is built where SUNDIALS is installed (Debian package "
                 "libsundials-dev), or solver: {method: trapezoidal, step: ...}"
               : "use a shorter step of the unit or a larger `tolerance` of its solver");
}

// The error of a step of this length in units of the tolerance; infinite if the FMU cannot be asked there. A failure that ends
// the run is returned.
static yoke_status try_length(fmu* f, double tau, double length, double* error_size) {
  fmu_solver* s = f->solver;
  s->failure = YOKE_OK;
  *error_size = (double)INFINITY;
  const yoke_status status = yoke__fmu_me_integrate(f, tau, length, s->z);
  if (status < 0) {
    return f->phase == FMU_RUNNING && length * 0.25 > s->tolerance_s ? YOKE_OK : status;
  }
  *error_size =
      yoke__ode_error_size(s->n_x, s->pair.error, s->x_start, s->x, s->tolerance, s->nominals);
  return YOKE_OK;
}

yoke_status yoke__fmu_me_integrate_within(fmu* f, double tau, double* length) {
  fmu_solver* s = f->solver;
  const double whole = *length;
  if (!s->has_slope) {
    YOKE_TRY(yoke__fmu_me_derivatives(f, tau, s->x_start, s->slope));
    s->has_slope = true;
  }
  s->now->wanted = s->now->wanted > 0 ? s->now->wanted : guess_length(s);

  // a remainder of a hundredth is no step of its own
  double trial = fmin(s->now->wanted, s->longest), error_size = 0;
  trial = 1.01 * trial >= whole ? whole : trial;
  bool is_refused = false;
  for (;;) {
    // each event begins with a short step of its own
    if (++s->n_trials > FMU_MAX_TRIALS + 4 * s->n_events) {
      return give_up(f, tau, trial);
    }
    YOKE_TRY(try_length(f, tau, trial, &error_size));
    if (error_size <= 1) {
      break;
    }
    is_refused = true;
    const double shorter =
        trial * (yoke__is_finite(error_size) ? yoke__ode_step_factor(error_size) : 0.25);
    if (shorter <= s->tolerance_s) {
      return yoke__fmu_me_fail(
          f, YOKE_NO_CONVERGENCE,
          "solver 'dopri5' finds no step within its tolerance %.2g at t = %.15g s: "
          "the model jumps there without an event, or grows beyond all bounds",
          s->tolerance, s->t_step + tau);
    }
    trial = shorter;
  }

  // the next length: a step that was cut at an event or at the end says only that it was not too long
  const double next = trial * (is_refused ? fmin(1, yoke__ode_step_factor(error_size))
                                          : yoke__ode_step_factor(error_size));
  s->now->wanted = is_refused || trial >= s->now->wanted ? next : fmax(next, s->now->wanted);
  s->h_lambda_sum += s->pair.h_lambda;
  if (++s->n_looked_at == N_LOOKED_AT) {
    s->is_at_bound = s->h_lambda_sum > STIFF * N_LOOKED_AT;
    s->h_lambda_sum = 0;
    s->n_looked_at = 0;
  }
  *length = trial;
  return YOKE_OK;
}
