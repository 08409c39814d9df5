// Physics of the test rig; equations in rig_plant.h.
#include "models/rig/rig_plant.h"

#include <math.h>

#define N YOKE_RIG_N_MOTORS

static const double two_pi = 6.283185307179586477;

void yoke__rig_plant_start(const yoke_rig_settings* s, yoke_rig_plant* plant, double omega) {
  *plant = (yoke_rig_plant){.U = s->U};
  for (int m = 0; m < N; m++) {
    plant->motors[m] = (yoke_rig_motor){.omega = omega, .T = s->T_ambient};
    plant->cell[m] = s->sensor == YOKE_RIG_IN_LINE ? 0.0 : yoke__rig_reaction(s, plant, m);
  }
}

double yoke__rig_friction(const yoke_rig_settings* s, double omega) {
  // dry friction smoothed by tanh, and viscous friction
  return s->tau_dry * tanh(omega / s->omega_soft) + s->tau_visc * omega / s->omega_max;
}

// Above omega_field the voltage stays constant: flux falls as 1/omega, and the torque of a current with it.
double yoke__rig_field(const yoke_rig_settings* s, double omega) {
  const double speed = fabs(omega);

  // flux as 1 / omega above the field speed
  return s->omega_field > 0.0 && speed > s->omega_field ? s->omega_field / speed : 1.0;
}

double yoke__rig_reaction(const yoke_rig_settings* s, const yoke_rig_plant* plant, int motor) {
  const yoke_rig_motor* m = &plant->motors[motor];

  // k_tau psi i less friction
  return s->k_tau * yoke__rig_field(s, m->omega) * m->i - yoke__rig_friction(s, m->omega);
}

double yoke__rig_coupling(const yoke_rig_settings* s, const yoke_rig_plant* plant) {
  const yoke_rig_motor *a = &plant->motors[0], *b = &plant->motors[1];

  // shaft between the motors: k_c (phi_1 - phi_2) + c_c (w_1 - w_2)
  return s->is_rigid ? 0.0 : s->k_c * (a->phi - b->phi) + s->c_c * (a->omega - b->omega);
}

double yoke__rig_stored(const yoke_rig_settings* s, const yoke_rig_plant* plant) {
  double energy = 0.0;
  for (int m = 0; m < N; m++) {
    const yoke_rig_motor* motor = &plant->motors[m];
    // 1/2 L i^2 + 1/2 J omega^2
    energy += 0.5 * s->L * motor->i * motor->i + 0.5 * s->J * motor->omega * motor->omega;
  }
  const double twist = plant->motors[0].phi - plant->motors[1].phi;

  // 1/2 k_c twist^2
  return energy + (s->is_rigid ? 0.0 : 0.5 * s->k_c * twist * twist);
}

// ---- DC link

static void step_link(const yoke_rig_settings* s, yoke_rig_plant* p, double P_inverters, double h) {
  // an ideal link takes and gives whatever the inverters ask
  if (s->dc_link == YOKE_RIG_LINK_IDEAL) {
    p->P_supply = fmax(P_inverters, 0.0);
    p->P_brake = fmax(-P_inverters, 0.0);
  } else {
    // the rectifier only gives: it blocks above its own voltage
    // current through the supply resistance, up to its power
    p->P_supply = fmin(p->U * fmax(s->U - p->U, 0.0) / s->R_supply, s->P_max);
    // hysteresis: on above U_on, off below U_off
    p->is_braking = p->U > s->U_on ? 1 : p->U < s->U_off ? 0 : p->is_braking;
    p->P_brake = p->is_braking ? p->U * p->U / s->R_brake : 0.0;
    // C_dc U U' = P_supply - P_inverters - P_brake
    p->U += h * (p->P_supply - P_inverters - p->P_brake) / (s->C_dc * p->U);
    p->U = fmax(p->U, 1e-3 * s->U);  // the equation ends at 0 V, the drives trip long before
  }
  p->books.supply += h * p->P_supply;
  p->books.brake += h * p->P_brake;
}

// ---- motors

typedef struct power {
  double i_mean, emf, inverter;  // of the step: [A], k_B w [V], power into the inverter [W]
} power;

static power step_current(const yoke_rig_settings* s, yoke_rig_plant* p, int m, double u,
                          bool has_bridge, double h) {
  yoke_rig_motor* motor = &p->motors[m];
  const double i = motor->i;

  // back-EMF k_B psi omega
  power result = {.emf = s->k_B * yoke__rig_field(s, motor->omega) * motor->omega};
  if (!has_bridge) {
    p->books.joule += 0.5 * s->L * i * i;  // what the coil held burns in the bridge
    motor->lost_inverter += 0.5 * s->L * i * i;
    motor->i = 0.0;
    return result;
  }

  // L i' = u - R i - emf
  motor->i += h / s->L * (u - s->R * i - result.emf);

  // mean current: with it the energy of the coil balances exactly over the step
  result.i_mean = 0.5 * (i + motor->i);
  result.inverter = u * result.i_mean + s->drop * fabs(result.i_mean);

  // books: electric power in, losses in winding and inverter
  p->books.electric += h * u * result.i_mean;
  p->books.joule += h * s->R * i * result.i_mean;
  p->books.inverter += h * s->drop * fabs(result.i_mean);
  motor->lost += h * s->R * i * result.i_mean;
  motor->lost_inverter += h * s->drop * fabs(result.i_mean);
  return result;
}

static void step_winding(const yoke_rig_settings* s, yoke_rig_motor* motor, double h) {
  // C_heat T' = losses - (T - T_ambient) / R_heat
  const double losses = s->R * motor->i * motor->i + motor->heat;
  motor->T += h / s->C_heat * (losses - (motor->T - s->T_ambient) / s->R_heat);
}

void yoke__rig_plant_step(const yoke_rig_settings* s, yoke_rig_plant* p, const double u[N],
                          const int64_t has_bridge[N], double h) {
  yoke_rig_motor *a = &p->motors[0], *b = &p->motors[1];
  const double old[N] = {a->omega, b->omega};
  power powers[N];
  double friction[N], field[N], drive[N];
  for (int m = 0; m < N; m++) {
    field[m] = yoke__rig_field(s, old[m]);
    friction[m] = yoke__rig_friction(s, old[m]);
    powers[m] = step_current(s, p, m, u[m], has_bridge[m] != 0, h);
    drive[m] = s->k_tau * field[m] * p->motors[m].i;
  }

  // speeds, then angles
  double coupling = yoke__rig_coupling(s, p);
  if (s->is_rigid) {
    // one inertia of 2 J; the shaft carries what the first motor does not need itself
    a->omega += h * (drive[0] + drive[1] - friction[0] - friction[1]) / (2.0 * s->J);
    b->omega = a->omega;
    coupling = drive[0] - friction[0] - s->J * (a->omega - old[0]) / h;
  } else {
    a->omega += h * (drive[0] - friction[0] - coupling) / s->J;
    b->omega += h * (drive[1] - friction[1] + coupling) / s->J;
    // loss in the shaft's damper, with the mean slip over the step
    const double slip = 0.5 * (old[0] + a->omega - old[1] - b->omega);
    p->books.damping += h * s->c_c * (old[0] - old[1]) * slip;
  }

  // first-order filter of the load cell, exact for a held torque
  const double blend = 1.0 - exp(-two_pi * s->cell_hz * h);
  for (int m = 0; m < N; m++) {
    yoke_rig_motor* motor = &p->motors[m];
    // powers with the mean speed of the step: the books balance to rounding
    const double mean = 0.5 * (old[m] + motor->omega);
    motor->phi += h * motor->omega;
    p->books.friction += h * friction[m] * mean;
    motor->lost += h * friction[m] * mean;
    p->books.excess += h * (s->k_B - s->k_tau) * field[m] * powers[m].i_mean * mean;
    step_winding(s, motor, h);
    const double shaft = m == 0 ? coupling : -coupling;
    const double torque = s->sensor == YOKE_RIG_IN_LINE ? shaft : yoke__rig_reaction(s, p, m);
    p->cell[m] += blend * (torque - p->cell[m]);
  }
  step_link(s, p, powers[0].inverter + powers[1].inverter, h);
}
