// Motors, shaft, DC link and load cells of the test rig: the physics, one step of 10 us at a time.
//
//   L i' = u - R i - k_B w,  |u| <= U          each motor, DC-equivalent
//   t_net = k_tau i - t_f(w),  t_f = t_dry tanh(w / w_soft) + t_visc w / w_max
//   J w_A' = t_net,A - t_c,  J w_B' = t_c + t_net,B,  t_c = k_c (phi_A - phi_B) + c_c (w_A - w_B)
//   C U U' = P_supply - P_A - P_B - P_brake    P = u i + drop |i|
//
// Semi-implicit Euler: currents from the old speeds, speeds from the new currents and the old twist, angles from the new
// speeds. Source: B. Rodriguez Frade, doctoral thesis, A Coruna 2021, section 6.2, for the bench; the equations are textbook,
// the numbers in README.md.
#ifndef YOKE_MODELS_RIG_PLANT_H
#define YOKE_MODELS_RIG_PLANT_H

#include <stdbool.h>
#include <stdint.h>

enum { YOKE_RIG_MUT, YOKE_RIG_LM, YOKE_RIG_N_MOTORS };  // motor under test, load motor
enum { YOKE_RIG_LINK_IDEAL, YOKE_RIG_LINK_MODELLED };   // DC link
enum { YOKE_RIG_REACTION, YOKE_RIG_IN_LINE };           // where torque is measured

#define YOKE_RIG_MICRO_STEP 1e-5   // [s]
#define YOKE_RIG_MICRO_NS   10000  // the same [ns]

// Everything that is fixed during a run. Both motors, drives and cells are alike.
typedef struct yoke_rig_settings {
  // motor
  double R, L, k_B, k_tau, J;                // [Ohm], [H], [V.s/rad], [N.m/A], [kg.m2]
  double tau_dry, tau_visc;                  // friction: dry, and viscous at omega_max [N.m]
  double omega_soft, omega_max;              // [rad/s]
  double omega_field;                        // field weakening above this speed, 0: none [rad/s]
  double I_nominal;                          // [A]; nominal torque is k_tau I_nominal
  double T_ambient, T_trip, C_heat, R_heat;  // winding [K], [K], [J/K], [K/W]
  // shaft
  double k_c, c_c;   // [N.m/rad], [N.m.s/rad]
  int64_t is_rigid;  // one inertia
  // load cells
  double cell_hz, cell_range, cell_noise;  // filter [Hz], range [N.m], standard deviation [N.m]
  int64_t sensor;                          // brackets of the motors, or in the shaft
  int64_t seed;
  // drives
  double current_hz, speed_hz, position_hz;  // bandwidths of the loops [Hz]
  double I_max, omega_limit, omega_trip;     // [A], [rad/s], [rad/s]
  double tau_slope, omega_slope;             // of a quick stop [N.m/s], [rad/s2]
  int64_t timeout;                           // cycles without command before a quick stop
  int64_t counts;                            // of the encoder per turn
  // DC link
  int64_t dc_link;
  double U, C_dc, R_supply, P_max;  // [V], [F], [Ohm], largest power of the supply [W]
  double U_on, U_off, R_brake;      // brake chopper [V], [V], [Ohm]
  double U_trip, drop;              // over-voltage [V], drop of an inverter [V]
} yoke_rig_settings;

typedef struct yoke_rig_motor {
  double i, omega, phi;  // [A], [rad/s], [rad]
  double T;              // winding [K]
  double heat;           // extra heat of a fault [W]
  double lost;           // copper and friction since the start [J]
  double lost_inverter;  // the same for its inverter [J]
} yoke_rig_motor;

// Energies since the start [J]; electric = joule + friction + damping + excess + what is stored, but for the error of the solver.
typedef struct yoke_rig_books {
  double electric;  // into the motors
  double joule, friction, damping;
  double
      excess;  // taken by k_B < k_tau: what the listed constants destroy (k_B > k_tau) or make (negative)
  double supply, brake, inverter;
} yoke_rig_books;

typedef struct yoke_rig_plant {
  yoke_rig_motor motors[YOKE_RIG_N_MOTORS];
  double cell[YOKE_RIG_N_MOTORS];  // filtered torque at the cells [N.m]
  double U;                        // DC link [V]
  double P_supply, P_brake;        // [W]
  int64_t is_braking;
  yoke_rig_books books;
} yoke_rig_plant;

void yoke__rig_plant_start(const yoke_rig_settings* s, yoke_rig_plant* plant, double omega);
// One micro step h with the voltages of the bridges; has_bridge false: the bridge is open and carries no current.
void yoke__rig_plant_step(const yoke_rig_settings* s, yoke_rig_plant* plant,
                          const double u[YOKE_RIG_N_MOTORS],
                          const int64_t has_bridge[YOKE_RIG_N_MOTORS], double h);
double yoke__rig_friction(const yoke_rig_settings* s, double omega);
// Electromagnetic torque less bearing friction: what a motor's bracket feels.
double yoke__rig_reaction(const yoke_rig_settings* s, const yoke_rig_plant* plant, int motor);
// Torque in the coupling; 0 if it is rigid.
double yoke__rig_coupling(const yoke_rig_settings* s, const yoke_rig_plant* plant);
// Energy in inductances, rotors and coupling [J].
double yoke__rig_stored(const yoke_rig_settings* s, const yoke_rig_plant* plant);
// Share of k_tau and k_B that the field leaves at that speed.
double yoke__rig_field(const yoke_rig_settings* s, double omega);

#endif
