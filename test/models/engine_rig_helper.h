// The surrogate engine test bench SB-1 as a system with its meter, from a few settings.
#ifndef YOKE_TEST_ENGINE_RIG_HELPER_H
#define YOKE_TEST_ENGINE_RIG_HELPER_H

#include "support/check.h"
#include "support/sim.h"

typedef struct rig_case {
  int load;         // 1: inertia for 10 s, 2: vehicle for 35 s
  double K_P, T_I;  // [-], [s]
  int delay_ms;     // of both paths
  double ripple;
  double noise_tau, noise_omega;
  int seed;
} rig_case;

typedef struct rig_result {
  double ter, flow, effort;  // [kJ]
  double throughput;         // of the inputs; the loop: of the sensors
  double tau, omega, omega_ref;
} rig_result;

// the setting of the tables
static inline rig_case rig_setting(int load, double K_P, double T_I) {
  return (rig_case){.load = load, .K_P = K_P, .T_I = T_I, .delay_ms = 2, .ripple = 0.3};
}

static inline sim rig_open(const rig_case* c) {
  return sim_open(
      "yoke: 1\ninputs: start\ncalls: 1\n"
      "time: {stop: %d, step: 1e-4}\n"
      "units:\n"
      "  bench:\n"
      "    model: engine_rig.bench\n"
      "    with: {K_P: %.17g, T_I: %.17g, ripple: %.17g, noise_tau: %.17g, noise_omega: %.17g,\n"
      "           seed: %d, stimulus: %s, start_torque: %s}\n"
      "    start: {omega: %d}\n"
      "  load: {model: engine_rig.%s, step: 1e-3, exchange: fresh}\n"
      "  meter: {model: meter}\n"
      "connections:\n"
      "  - {from: bench.tau, to: load.tau, delay: %de-3}\n"
      "  - {from: load.omega, to: bench.omega_ref, delay: %de-3}\n"
      "  - {from: bench.tau, to: meter.effort_in, delay: %de-3, exchange: 1e-3}\n"
      "  - bench.tau -> meter.effort_out\n"
      "  - load.omega -> meter.flow_out\n"
      "  - bench.omega -> meter.flow_in\n",
      c->load == 1 ? 10 : 35, c->K_P, c->T_I, c->ripple, c->noise_tau, c->noise_omega, c->seed,
      c->load == 1 ? "inertia" : "vehicle", c->load == 1 ? "drag" : "zero",
      c->load == 1 ? 157 : 105, c->load == 1 ? "inertia" : "vehicle", c->delay_ms, c->delay_ms,
      c->delay_ms);
}

static inline rig_result rig_read(const sim* s) {
  return (rig_result){.ter = sim_read(s, "meter.ter") * 1e-3,
                      .flow = sim_read(s, "meter.flow_part") * 1e-3,
                      .effort = sim_read(s, "meter.effort_part") * 1e-3,
                      .throughput = sim_read(s, "meter.throughput") * 1e-3,
                      .tau = sim_read(s, "bench.tau"),
                      .omega = sim_read(s, "bench.omega"),
                      .omega_ref = sim_read(s, "load.omega")};
}

// The whole run through the master.
static inline rig_result rig_run(const rig_case* c) {
  sim s = rig_open(c);
  sim_run(&s);
  const rig_result result = rig_read(&s);
  sim_close(&s);
  return result;
}

#endif
