// Benchmark B1 of the TER specification (5): two inertias joined by a shaft, four masters, and the exact solution.
#ifndef YOKE_TEST_ROTOR_HELPER_H
#define YOKE_TEST_ROTOR_HELPER_H

#include "master/ledger_helper.h"

enum { J_FRESH, J_STALE, GS_LOAD_FIRST, GS_SHAFT_FIRST, N_MASTERS };

static const char* const master_names[N_MASTERS] = {"Jacobi fresh", "Jacobi stale", "GS load first",
                                                    "GS shaft first"};
static const char* const master_lines[N_MASTERS] = {"exchange: fresh\n", "",
                                                    "scheme: gauss-seidel\norder: [load, shaft]\n",
                                                    "scheme: gauss-seidel\norder: [shaft, load]\n"};

// Parameters and start; phi_other of the shaft starts at phi2.
typedef struct rotors {
  double J1, c1, d1, ck, dk, J2, c2, d2;
  double phi1, omega1, phi2, omega2;
} rotors;

static const rotors rotors_of_B1 = {10, 1, 1, 1, 2, 10, 1, 2, 0.1, 0.1, 0.2, 0.1};

static inline sim rotors_open(const rotors* r, int master, double h) {
  return sim_open("yoke: 1\ninputs: start\ncalls: 1\n"
                  "time: {stop: 1000, step: %.9g}\n"
                  "%s"
                  "units:\n"
                  "  shaft: {model: rotor.shaft, with: {J: %.17g, c: %.17g, d: %.17g, ck: %.17g, "
                  "dk: %.17g}, start: {phi: %.17g, omega: %.17g, phi_other: %.17g}}\n"
                  "  load: {model: rotor.load, with: {J: %.17g, c: %.17g, d: %.17g}, start: {phi: "
                  "%.17g, omega: %.17g}}\n"
                  "bonds:\n"
                  "  joint: {action: shaft.tau -> load.tau, rate: load.omega -> "
                  "shaft.omega_other}\n",
                  h, master_lines[master], r->J1, r->c1, r->d1, r->ck, r->dk, r->phi1, r->omega1,
                  r->phi2, r->J2, r->c2, r->d2, r->phi2, r->omega2);
}

// The whole system without cuts: x = (phi1, omega1, phi2, omega2), x(t + h) = E x(t).
static inline void rotors_exact(const rotors* r, double h, double E[16]) {
  const double A[16] = {0,
                        h,
                        0,
                        0,  //
                        -(r->c1 + r->ck) / r->J1 * h,
                        -(r->d1 + r->dk) / r->J1 * h,
                        r->ck / r->J1 * h,
                        r->dk / r->J1 * h,  //
                        0,
                        0,
                        0,
                        h,  //
                        r->ck / r->J2 * h,
                        r->dk / r->J2 * h,
                        -(r->c2 + r->ck) / r->J2 * h,
                        -(r->d2 + r->dk) / r->J2 * h};
  check_ok(yoke__expm(4, A, E));
}

static inline double rotors_torque(const rotors* r, const double x[4]) {
  return r->ck * (x[0] - x[2]) + r->dk * (x[1] - x[3]);
}

// One run: per index k what is read after the step that ends there, and the inputs held during it.
enum { ROTORS_KEPT = 6 };
typedef struct rotors_run {
  double ter, error;  // total energy residual and error energy (T9) [J]
  yoke_ledger_result result;
  double omega2[ROTORS_KEPT], tau[ROTORS_KEPT], u2[ROTORS_KEPT];
  double tau_end;  // tau: as returned by the step, with the speed that was held
} rotors_run;

// The torque that belongs to the shaft's states and to the speed held during the last step.
static inline double rotors_returned(const sim* s, const rotors* r, double u1) {
  const yoke_unit* shaft = &s->system->units[0].unit;
  double phi_other = 0;
  check_ok(yoke__unit_get(shaft, yoke__unit_find(shaft, "phi_other"), &phi_other, 8));
  const double x[4] = {sim_read(s, "shaft.phi"), sim_read(s, "shaft.omega"), phi_other, u1};
  return rotors_torque(r, x);
}

static inline rotors_run rotors_go(const rotors* r, int master, double h, int n) {
  sim s = rotors_open(r, master, h);
  const yoke_system_unit *shaft = &s.system->units[0], *load = &s.system->units[1];
  const bool is_gs = master == GS_LOAD_FIRST || master == GS_SHAFT_FIRST;
  const size_t omega2 = sim_index(&s, "load.omega");
  double E[16], x[4] = {r->phi1, r->omega1, r->phi2, r->omega2};
  rotors_run run = {.omega2 = {s.state->y[omega2]}, .tau = {sim_read(&s, "shaft.tau")}};
  run.u2[0] = s.state->u[load->u];
  rotors_exact(r, h, E);
  for (int k = 1; k <= n; k++) {
    // Jacobi exchanges after the step and so overwrites what was held; under Gauss-Seidel it stays
    double u1 = s.state->u[shaft->u], u2 = s.state->u[load->u];
    sim_steps(&s, 1);
    u1 = is_gs ? s.state->u[shaft->u] : u1;
    u2 = is_gs ? s.state->u[load->u] : u2;
    double next[4];
    yoke__mat_vec(4, 4, E, x, next);
    memcpy(x, next, sizeof x);
    run.error += h * fabs(u1 * u2 - x[3] * rotors_torque(r, x));
    if (k < ROTORS_KEPT) {
      run.omega2[k] = s.state->y[omega2];
      run.tau[k] = rotors_returned(&s, r, u1);
      run.u2[k] = u2;
    }
    run.tau_end = k == n ? rotors_returned(&s, r, u1) : 0;
  }
  run.result = ledger_result(&s, "joint");
  run.ter = run.result.ter;
  sim_close(&s);
  return run;
}

#endif
