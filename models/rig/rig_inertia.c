// A rotational inertia that the rig imitates: J omega' = tau, exact for a held torque.
//
// The load of a rig answers in the cycle in which the torque arrives: the output is the speed that the present torque will have
// made by the end of the cycle, `ahead` from now. So omega has direct feedthrough from tau, and with `exchange: fresh` the
// demand leaves in the same cycle. Source: B. Rodriguez Frade, doctoral thesis, A Coruna 2021, section 6.2.3.
#include <math.h>
#include <stddef.h>

#include "models/rig/rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef struct inertia {
  double tau, omega, angle;
  double speed;  // committed
  double J, ahead;
} inertia;

enum { TAU, OMEGA };
static const yoke_feedthrough omega_of_tau[] = {{OMEGA, TAU}};

#define REAL(member_, dim_, text_, causality_, flags_, start_)                                     \
  {                                                                                                \
    .name = #member_, .dim = (dim_), .text = (text_), .type = YOKE_REAL,                           \
    .causality = (causality_), .flags = (flags_), .start = (start_),                               \
    .offset = offsetof(inertia, member_)                                                           \
  }

static const yoke_variable variables[] = {
    REAL(tau, "N.m", "torque", YOKE_INPUT, 0, 0.0),
    REAL(omega, "rad/s", "speed `ahead` from now with the present torque", YOKE_OUTPUT,
         YOKE_VARIABLE_HAS_START, 0.0),
    REAL(angle, "rad", "angle now", YOKE_OUTPUT, YOKE_VARIABLE_HAS_START, 0.0),
    REAL(speed, "rad/s", "speed now", YOKE_STATE, YOKE_VARIABLE_READ_ONLY, 0.0),
    REAL(J, "kg.m2", "inertia", YOKE_PARAMETER, 0, 1e-3),
    REAL(ahead, "s", "how far ahead omega looks: the cycle of the rig", YOKE_PARAMETER, 0, 1e-3),
};

static const yoke_unit_info info = {
    .variables = variables,
    .n_variables = COUNT(variables),
    .feedthrough = omega_of_tau,
    .n_feedthrough = COUNT(omega_of_tau),
    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_AUTONOMOUS,
    .self_size = sizeof(inertia),
    .solver = {.method = YOKE_SOLVER_EXACT},
};

static yoke_status inertia_refresh(void* self, double t) {
  inertia* s = self;
  (void)t;

  // omega = speed + ahead tau / J
  s->omega = s->speed + s->ahead * s->tau / s->J;
  return YOKE_OK;
}

static yoke_status inertia_step(void* self, double t, double h, yoke_step_result* result) {
  inertia* s = self;

  // exact for a held torque: parabola of the angle, straight line of the speed
  const double gain = h * s->tau / s->J;
  s->angle += h * (s->speed + 0.5 * gain);
  s->speed += gain;
  (void)inertia_refresh(s, t + h);
  if (!isfinite(s->omega)) {
    result->message = "the speed is no longer finite";
    return YOKE_DIVERGED;
  }
  return YOKE_OK;
}

static yoke_status inertia_enter_init(void* self, double t_start, double t_stop,
                                      const yoke_sink* sink) {
  inertia* s = self;
  (void)t_stop;
  if (!(s->J > 0.0 && isfinite(s->J) && s->ahead >= 0.0 && isfinite(s->ahead))) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", "J must be above 0 and ahead not negative");
  }
  s->speed = s->omega;
  return inertia_refresh(s, t_start);
}

const yoke_unit_ops yoke__model_rig_inertia = {
    .name = "rig.inertia",
    .text = "an inertia for the test rig to imitate; receives torque, returns speed",
    .info = &info,
    .enter_init = inertia_enter_init,
    .step = inertia_step,
    .refresh = inertia_refresh,
};
