// The arithmetic of an electric power steering with its chassis (surrogate SE-1), in elements. Every unit of models/steering is a
// choice of them: what an element needs from one that is not there is an input of the unit.
//
//   T_s -> column =torsion bar= rack =tie rod= wheel - vehicle
//                                |belt
//                    controller - motor
#ifndef YOKE_MODELS_STEERING_PARTS_H
#define YOKE_MODELS_STEERING_PARTS_H

#include <stdint.h>

// Elements of a unit, as bits.
enum {
  YOKE_STEERING_RACK = 1u << 0,  // column, torsion bar and rack, both with friction
  YOKE_STEERING_BELT = 1u << 1,
  YOKE_STEERING_MOTOR = 1u << 2,
  YOKE_STEERING_CONTROLLER = 1u << 3,
  YOKE_STEERING_ROD = 1u << 4,
  YOKE_STEERING_CHASSIS = 1u << 5,  // wheel, tyres and vehicle
  YOKE_STEERING_EPAS =
      YOKE_STEERING_RACK | YOKE_STEERING_BELT | YOKE_STEERING_MOTOR | YOKE_STEERING_CONTROLLER,
};

// LuGre friction; a force in N against m/s, or a torque in N.m against rad/s.
typedef struct yoke_steering_friction {
  double coulomb, stiction, stribeck;  // F_c, F_s, v_s
  double sigma0, sigma1, sigma2;
} yoke_steering_friction;

// One unit: flat, without pointers. Which members mean something depends on the elements.
typedef struct yoke_steering {
  // what crosses cuts
  double T_s, T_ext;        // steering torque; torque that others ask of the motor [N.m]
  double T_request;         // of the controller
  double T_bar, T_belt;     // torsion bar, on the pinion; belt, against the motor
  double w_motor, T_motor;  // speed [rad/s], torque
  double v_rack;            // [m/s]
  double F_rod;             // tie rod, against the rack [N]
  double v_rod;             // wheel end of the tie rod [m/s]
  double V;                 // speed of the vehicle [m/s]

  // states
  double angle, w_column, z_column;  // steering wheel [rad], its speed, bristles
  double x_rack, z_rack;
  double a_motor;           // angle [rad]
  double x_inner, x_outer;  // ends of the tie rod as they follow from speeds received [m]
  double d_wheel, w_wheel;  // steer angle of the wheels [rad] and its speed
  double alpha_f, alpha_r;  // slip angles
  double v_y, yaw_rate;
  double t_start;
  int64_t n_requests;  // samples the controller has taken

  // parameters
  double J_column, k_bar, c_bar, i_pinion;
  yoke_steering_friction column, rack;
  double m_rack;
  double J_motor, i_motor, k_belt, c_belt, lag;
  double assist, damping, T_max, period;
  double k_rod, c_rod, lever;
  double J_wheel, c_wheel, trail;
  double m, I_z, l_f, l_r, c_f, c_r, relaxation;
  double inner_step;
} yoke_steering;

// Torques and forces as they follow from states and inputs.
void yoke__steering_laws(yoke_steering* s, unsigned elements);
// From t to t + h in internal steps, inputs held; the laws are up to date behind it.
void yoke__steering_step(yoke_steering* s, unsigned elements, double t, double h);

#endif
