// Electric power steering with chassis.
//
//   column      J_column s'' = T_s - T_bar - F(s')
//   rack        m_rack x'' = T_bar / i_pinion + T_belt / i_motor - F_rod - F(x')
//   motor       J_motor m''  = T_motor - T_belt,    lag T_motor' = T_request - T_motor
//   bar         T_bar  = k_bar (s - x / i_pinion) + c_bar (s' - x' / i_pinion)
//   belt        T_belt = k_belt (m - x / i_motor) + c_belt (m' - x' / i_motor)
//   controller  T_request = assist T_bar - damping m' + T_ext within +-T_max, every `period`
//   tie rod     F_rod = k_rod (x - lever w) + c_rod (x' - lever w')
//   wheels      J_wheel w'' = lever F_rod - trail F_f - c_wheel w'
//   tyres       F_f = -c_f alpha_f,  relaxation alpha_f' = v_y + l_f r - V (w + alpha_f)
//               F_r = -c_r alpha_r,  relaxation alpha_r' = v_y - l_r r - V alpha_r
//   vehicle     m v_y' = F_f + F_r - m V r,    I_z r' = l_f F_f - l_r F_r
//   friction    z' = v - sigma0 |v| z / g,  g = F_c + (F_s - F_c) exp(-(v / v_s)^2)
//               F = sigma0 z + sigma1 z' + sigma2 v
//
// s: steering wheel, x: rack, m: motor, w: wheels. Semi-implicit Euler: torque of the motor before
// its speed, speeds before positions, tyres and vehicle from old values. The bristles z are
// implicit, since sigma0 |v| / g is fast: z becomes (z + h v) / (1 + h sigma0 |v| / g). An end of a
// spring that is in another unit is the integral of the speed received.
// Source: W. Chen, licentiate thesis, Chalmers 2019, for the mechanics; the numbers are ours
// (README.md, "Variables").
#include "models/steering/steering_parts.h"

#include <math.h>

static double friction(const yoke_steering_friction* f, double* z, double v, double h) {
  // Stribeck curve: from F_s at rest down to F_c
  const double ratio = v / f->stribeck;
  const double g = f->coulomb + (f->stiction - f->coulomb) * exp(-ratio * ratio);
  const double before = *z;

  // implicit in z: stable however fast sigma0 |v| / g is
  *z = (before + h * v) / (1.0 + h * f->sigma0 * fabs(v) / g);

  // sigma0 z + sigma1 z' + sigma2 v, z' as the difference quotient of this step
  return f->sigma0 * *z + f->sigma1 * (*z - before) / h + f->sigma2 * v;
}

static double limit(double value, double size) {
  return fmax(-size, fmin(value, size));
}

static void request(yoke_steering* s) {
  // assist T_bar - damping m' + T_ext, within +-T_max
  s->T_request = limit(s->assist * s->T_bar - s->damping * s->w_motor + s->T_ext, s->T_max);
}

void yoke__steering_laws(yoke_steering* s, unsigned elements) {
  if (elements & YOKE_STEERING_RACK) {
    // k (s - x / i) + c (s' - x' / i)
    s->T_bar = s->k_bar * (s->angle - s->x_rack / s->i_pinion) +
               s->c_bar * (s->w_column - s->v_rack / s->i_pinion);
  }
  if (elements & YOKE_STEERING_BELT) {
    s->T_belt = s->k_belt * (s->a_motor - s->x_rack / s->i_motor) +
                s->c_belt * (s->w_motor - s->v_rack / s->i_motor);
  }
  if (elements & YOKE_STEERING_CHASSIS) {
    // the wheel's end of the tie rod
    s->x_outer = s->lever * s->d_wheel;
    s->v_rod = s->lever * s->w_wheel;
  }
  if (elements & YOKE_STEERING_ROD) {
    const double inner = elements & YOKE_STEERING_CHASSIS ? s->x_inner : s->x_rack;
    s->F_rod = s->k_rod * (inner - s->x_outer) + s->c_rod * (s->v_rack - s->v_rod);
  }
  // by itself a law; beside the motor it is sampled
  if ((elements & YOKE_STEERING_CONTROLLER) && !(elements & YOKE_STEERING_MOTOR)) {
    request(s);
  }
}

static void accelerate_rack(yoke_steering* s, double h) {
  const double F_column = friction(&s->column, &s->z_column, s->w_column, h);
  const double F_rack = friction(&s->rack, &s->z_rack, s->v_rack, h);

  // speeds from torques of the start of the step
  s->w_column += h * (s->T_s - s->T_bar - F_column) / s->J_column;
  s->v_rack +=
      h * (s->T_bar / s->i_pinion + s->T_belt / s->i_motor - s->F_rod - F_rack) / s->m_rack;
}

static void accelerate_motor(yoke_steering* s, double h) {
  // lag T_motor' = T_request - T_motor, then the speed with the new torque
  s->T_motor += h * (s->T_request - s->T_motor) / s->lag;
  s->w_motor += h * (s->T_motor - s->T_belt) / s->J_motor;
}

static void accelerate_chassis(yoke_steering* s, double h) {
  // F = -c alpha
  const double F_f = -s->c_f * s->alpha_f, F_r = -s->c_r * s->alpha_r;
  const double turn = s->lever * s->F_rod - s->trail * F_f - s->c_wheel * s->w_wheel;

  // relaxation alpha' = v_y +- l r - V (..)
  const double slip_f = s->v_y + s->l_f * s->yaw_rate - s->V * (s->d_wheel + s->alpha_f);
  const double slip_r = s->v_y - s->l_r * s->yaw_rate - s->V * s->alpha_r;

  // wheels, lateral and yaw motion, slip angles: all right-hand sides from old values
  s->w_wheel += h * turn / s->J_wheel;
  s->v_y += h * ((F_f + F_r) / s->m - s->V * s->yaw_rate);
  s->yaw_rate += h * (s->l_f * F_f - s->l_r * F_r) / s->I_z;
  s->alpha_f += h * slip_f / s->relaxation;
  s->alpha_r += h * slip_r / s->relaxation;
}

static void advance(yoke_steering* s, unsigned elements, double h) {
  // speeds of springs' far ends as they were at the start
  const double v_inner = s->v_rack, v_outer = s->v_rod;
  if (elements & YOKE_STEERING_RACK) {
    accelerate_rack(s, h);
    s->angle += h * s->w_column;
  }
  if (elements & YOKE_STEERING_MOTOR) {
    accelerate_motor(s, h);
  }
  if (elements & (YOKE_STEERING_RACK | YOKE_STEERING_BELT)) {
    s->x_rack += h * s->v_rack;
  }
  if (elements & (YOKE_STEERING_MOTOR | YOKE_STEERING_BELT)) {
    s->a_motor += h * s->w_motor;
  }
  if (elements & YOKE_STEERING_CHASSIS) {
    accelerate_chassis(s, h);
    s->d_wheel += h * s->w_wheel;
    s->x_inner += h * v_inner;
  } else {
    s->x_outer += h * v_outer;
  }
  yoke__steering_laws(s, elements);
}

// The controller counts its samples from the start, so that neither calls nor internal steps have
// to be multiples of its period.
static void sample(yoke_steering* s, double t) {
  // samples due at t; 1e-6 of a period forgives rounding of t
  const double due = (t - s->t_start) / s->period * (1.0 + 1e-12) + 1e-6;
  if (due >= (double)s->n_requests) {
    request(s);
    s->n_requests = (int64_t)due + 1;
  }
}

void yoke__steering_step(yoke_steering* s, unsigned elements, double t, double h) {
  // internal steps of equal length, about inner_step
  const double wanted = floor(h / s->inner_step + 0.5);
  const int64_t n = wanted > 1.0 ? (int64_t)wanted : 1;
  const double inner = h / (double)n;
  yoke__steering_laws(s, elements);
  for (int64_t i = 0; i < n; i++) {
    if ((elements & YOKE_STEERING_CONTROLLER) && (elements & YOKE_STEERING_MOTOR)) {
      sample(s, t + (double)i * inner);
    }
    advance(s, elements, inner);
  }
}
