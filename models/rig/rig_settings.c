// Parameter sets of the test rig; sources and reasons of every value in README.md.
#include <math.h>
#include <stddef.h>

#include "models/rig/rig_core.h"

static const double two_pi = 6.283185307179586477;

// Two Maxon EC-i 52 with EPOS4 50/15; the source of each value is in README.md, "Prototype (default)".
yoke_rig_settings yoke__rig_prototype(void) {
  const double k_tau = 48.6e-3, I0 = 0.726, rpm = two_pi / 60.0;
  return (yoke_rig_settings){
      .R = 44.7e-3,
      .L = 61e-6,
      .k_B = 5.076e-3 / rpm,
      .k_tau = k_tau,
      .J = 170e-7,
      .tau_dry = 0.5 * k_tau * I0,
      .tau_visc = 0.5 * k_tau * I0,
      .omega_soft = 2.0,
      .omega_max = 4680.0 * rpm,
      .omega_field = 0.0,
      .I_nominal = 8.81,
      .T_ambient = 298.15,
      .T_trip = 428.15,
      .C_heat = 80.0,
      .R_heat = 2.5,
      .k_c = 50.0,
      .c_c = 2e-3,
      .cell_hz = 500.0,
      .cell_range = 1.0,
      .cell_noise = 5e-3,
      .seed = 1,
      .current_hz = 1000.0,
      .speed_hz = 40.0,
      .position_hz = 4.0,
      .I_max = 15.0,
      .omega_limit = 4680.0 * rpm,
      .omega_trip = 1.05 * 4680.0 * rpm,
      .tau_slope = 20.0,
      .omega_slope = 2000.0,
      .timeout = 5,
      .counts = 4096,
      .dc_link = YOKE_RIG_LINK_IDEAL,
      .U = 35.0,
      .C_dc = 5e-3,
      .R_supply = 0.05,
      .P_max = 1400.0,
      .U_on = 42.0,
      .U_off = 40.0,
      .R_brake = 4.0,
      .U_trip = 50.0,
      .drop = 0.0,
  };
}

// Two machines of 200 kW: everything but the published limits is assumed (README.md).
yoke_rig_settings yoke__rig_automotive(void) {
  const double rpm = two_pi / 60.0, k_tau = 0.5143;
  return (yoke_rig_settings){
      .R = 8e-3,
      .L = 120e-6,
      .k_B = k_tau,
      .k_tau = k_tau,
      .J = 0.05,
      .tau_dry = 2.0,
      .tau_visc = 20.0,
      .omega_soft = 2.0,
      .omega_max = 18000.0 * rpm,
      .omega_field = 500.0,
      .I_nominal = 550.0 * 1.4142135623730951,
      .T_ambient = 298.15,
      .T_trip = 428.15,
      .C_heat = 12e3,
      .R_heat = 0.015,
      .k_c = 2e4,
      .c_c = 5.0,
      .cell_hz = 500.0,
      .cell_range = 500.0,
      .cell_noise = 0.5,
      .sensor = YOKE_RIG_IN_LINE,
      .seed = 1,
      .current_hz = 500.0,
      .speed_hz = 10.0,
      .position_hz = 1.0,
      .I_max = 550.0 * 1.4142135623730951 * 1.05,
      .omega_limit = 18000.0 * rpm,
      .omega_trip = 1.05 * 18000.0 * rpm,
      .tau_slope = 2000.0,
      .omega_slope = 100.0,
      .timeout = 5,
      .counts = 4096,
      .dc_link = YOKE_RIG_LINK_MODELLED,
      .U = 350.0,
      .C_dc = 5e-3,
      .R_supply = 0.1,
      .P_max = 54e3,
      .U_on = 385.0,
      .U_off = 375.0,
      .R_brake = 53.3,
      .U_trip = 400.0,
      .drop = 1.5,
  };
}

static bool is_finite_all(const yoke_rig_settings* s) {
  const double all[] = {s->k_B,      s->tau_dry,    s->tau_visc,   s->omega_field, s->T_ambient,
                        s->T_trip,   s->k_c,        s->c_c,        s->cell_noise,  s->drop,
                        s->speed_hz, s->current_hz, s->position_hz};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    if (!(all[i] >= 0.0 && isfinite(all[i]))) {
      return false;
    }
  }
  return true;
}

static bool is_positive_all(const yoke_rig_settings* s) {
  const double all[] = {s->R,          s->L,           s->k_tau,     s->J,           s->omega_soft,
                        s->omega_max,  s->I_nominal,   s->C_heat,    s->R_heat,      s->cell_hz,
                        s->cell_range, s->I_max,       s->tau_slope, s->omega_slope, s->U,
                        s->C_dc,       s->R_supply,    s->P_max,     s->R_brake,     s->U_trip,
                        s->omega_trip, s->omega_limit, s->U_on,      s->U_off};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    if (!(all[i] > 0.0 && isfinite(all[i]))) {
      return false;
    }
  }
  return true;
}

const char* yoke__rig_find_fault(const yoke_rig_settings* s) {
  const double h = YOKE_RIG_MICRO_STEP;
  if (!is_positive_all(s)) {
    return "R, L, k_tau, J, the speeds, currents, slopes and voltages of motor, drive and DC link "
           "must be above 0";
  }
  if (!is_finite_all(s)) {
    return "k_B, friction, coupling, bandwidths, temperatures, noise and drop must be finite and "
           "not negative";
  }
  if (s->U_off > s->U_on || s->U_on > s->U_trip) {
    return "expected U_off <= U_on <= U_trip";
  }
  if (s->timeout < 1 || s->counts < 1) {
    return "timeout and counts must be at least 1";
  }
  // explicit in the current, the coupling and the link: their time constants bound the step of 10 us
  if (h * s->R / s->L > 0.5 || h * h * 2.0 * s->k_c / s->J > 1.0 || h * 2.0 * s->c_c / s->J > 0.5) {
    return "L / R, or the coupling with J, is too fast for the step of 10 us";
  }
  if (s->dc_link == YOKE_RIG_LINK_MODELLED && h > 0.5 * s->R_supply * s->C_dc) {
    return "R_supply C_dc is too fast for the step of 10 us";
  }
  return NULL;
}
