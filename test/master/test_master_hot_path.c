// CS-28: between the first and the last step no heap call and no system call is made; counted by replacing the
// allocator and by a filter that traps every system call of the stepping thread.
#define _GNU_SOURCE
#include <sys/wait.h>
#include <unistd.h>

#include "base/base_message.h"
#include "support/check.h"
#include "support/counting_heap.h"
#include "support/sim.h"
#include "support/trapped_calls.h"

// one system for every kind of path: plain, several rates with polynomials, laws, fresh, typed values, Gauss-Seidel, iterative
static const char plain[] =
    "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 100, step: 1e-3}\nunits:\n"
    "  left: {model: oscillator.force, start: {v: 1}}\n  right: {model: oscillator.mass}\n"
    "connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f]\n";
static const char rates[] =
    "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 100, step: 1e-3}\nunits:\n"
    "  left: {model: oscillator.force, start: {v: 1}, step: 2e-4}\n  right: {model: "
    "oscillator.mass, step: 2e-3}\n"
    "connections:\n  - {from: right.x, to: left.x_other, order: 2, delay: 4e-3}\n"
    "  - {from: right.v, to: left.v_other, order: 3}\n  - left.f -> right.f\n";
#define MIXED(head)                                                                                \
  "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 100, step: 1e-3}\n" head "units:\n"              \
  "  a: {model: oscillator.mass, with: {sign: -1}, start: {v: 1}}\n  b: {model: "                  \
  "oscillator.mass}\n"                                                                             \
  "  count: {model: counter}\n  pick: {model: switch, exchange: fresh}\n"                          \
  "  ss: {model: state_space, with: {A: [[-1]], B: [[1]]}}\n"                                      \
  "laws: {spring: {law: spring_damper, with: {k: 10, c: 0}}}\n"                                    \
  "connections: [a.x -> spring.x1, a.v -> spring.v1, b.x -> spring.x2, b.v -> spring.v2, "         \
  "spring.f -> a.f,"                                                                               \
  " spring.f -> b.f, count.toggle -> pick.on, a.x -> pick.a, b.x -> pick.b, pick.y -> ss.u1]\n"
static const char mixed[] = MIXED("");
static const char mixed_gs[] = MIXED("scheme: gauss-seidel\n");
static const char iterative[] =
    "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 100, step: 1e-3}\nscheme: "
    "iterative-jacobi\niteration: {update: "
    "quasi-newton}\nunits:\n"
    "  left: {model: oscillator.force, start: {v: 1}}\n  right: {model: oscillator.mass}\n"
    "connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f]\n";
static const char iterative_gs[] =
    "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 100, step: 1e-3}\nscheme: "
    "iterative-gauss-seidel\niteration: {update: "
    "aitken}\nunits:\n"
    "  left: {model: oscillator.force, start: {v: 1}}\n  right: {model: oscillator.mass, step: "
    "5e-4}\n"
    "connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f]\n";
// means: trapezoids over calls, integrals of a unit, a law, a delay; under Gauss-Seidel too
#define MEANS(head)                                                                                \
  "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 100, step: 1e-3}\n" head "units:\n"              \
  "  fast: {model: oscillator.mass, start: {v: 1, f: 0}, step: 2e-4}\n  wave: {model: sine}\n"     \
  "  slow: {model: sum, step: 5e-3}\n  late: {model: gain}\nlaws: {twice: {law: gain}}\n"          \
  "connections:\n  - {from: fast.x, to: slow.u1, average: true, delay: 1e-2}\n"                    \
  "  - {from: wave.y, to: late.u, average: true}\n  - wave.y -> twice.u\n"                         \
  "  - {from: twice.y, to: slow.u2, average: true}\n"
static const char means[] = MEANS("");
static const char means_gs[] = MEANS("scheme: gauss-seidel\n");
static const char threads[] =
    "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 100, step: 1e-3}\nthreads: 2\nunits:\n"
    "  left: {model: oscillator.force, start: {v: 1}}\n  right: {model: oscillator.mass}\n"
    "connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f]\n";
// the ledger with all it has: correction, a law that rebuilds the action, several rates, alarms, a meter, a lossy link
static const char corrected[] =
    "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 100, step: 1e-3}\nunits:\n"
    "  left: {model: oscillator.force, start: {v: 1}}\n  right: {model: oscillator.mass, step: "
    "1e-4}\n"
    "  meter: {model: meter}\n"
    "connections: [right.x -> left.x_other, left.f -> meter.effort_in, left.f -> meter.effort_out, "
    "right.v -> meter.flow_in, right.v -> meter.flow_out]\n"
    "bonds: {s: {action: left.f -> right.f, rate: right.v -> left.v_other, coupling: {method: "
    "energy, order: 1}}}\nquality: {warn: {rho: 1e-3, eps: 1e-6, rter: 1e-6}}\n";
static const char rebuilt[] =
    "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 100, step: 1e-3}\nunits:\n"
    "  a: {model: oscillator.displacement, start: {v: 1}}\n"
    "  b: {model: oscillator.displacement, step: 2.5e-4}\n"
    "laws: {spring: {law: spring_damper, with: {k: 100}}}\n"
    "connections: [a.x -> b.x_other, a.v -> b.v_other, b.x -> a.x_other, b.v -> a.v_other, "
    "a.x -> spring.x1, a.v -> spring.v1, b.x -> spring.x2, b.v -> spring.v2]\n"
    "bonds: {b: {action: spring.f, rate: b.v, residual: partner-held}}\n"
    "couplings: {c: {method: nepce, members: [a, b]}}\n";
static const char adaptive[] =
    "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 100, step: {min: 1e-4, max: 1e-2}}\nunits:\n"
    "  left: {model: oscillator.force, start: {v: 1}}\n  right: {model: oscillator.mass}\n"
    "connections: [right.x -> left.x_other]\n"
    "bonds: {s: {action: left.f -> right.f, rate: right.v -> left.v_other, coupling: {method: "
    "energy}}}\n";
// the virtual test rig with its bus and faults, a car and a driver (B-26, the part in process)
static const char rig[] =
    "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 100, step: 1e-3}\nunits:\n"
    "  driver: {model: driver, with: {mode: pi, points: [[0, 0], [1, 2]], K_P: 0.4, preview: "
    "0.1}}\n"
    "  rig: {model: rig.bench, with: {latency: 1, J_ideal: 3.2e-3, loss_out: 0.01, jitter_in: "
    "1e-3, "
    "faults: ['1 noise mut 0.1 1', '2 offset mut 0.01 0', '3 bus-loss both 0 0.003', '4 jitter in "
    "2e-3 1']}}\n"
    "  car: {model: car.planar, exchange: fresh, with: {formulation: constrained}}\n"
    "connections: [driver.throttle -> rig.throttle, car.v -> driver.speed]\n"
    "bonds: {w: {action: rig.tau -> car.tau, rate: car.omega -> rig.omega_ref}}\n";
// exp(25) in 5000 steps: growth alarms come
static const char growing[] =
    "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 100, step: 1e-3}\nunits:\n"
    "  a: {model: state_space, with: {A: [[5]], B: [[0]], x0: [1]}}\n  b: {model: gain, step: "
    "3e-3}\n"
    "connections: [a.y1 -> b.u, b.y -> a.u1]\n";
// samples for the on-line error estimate: units that hold their outputs themselves and units that are asked for them, with one
// call per sample and with several
static const char sampled[] =
    "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 100, step: 1e-3}\nunits:\n"
    "  left: {model: oscillator.force, start: {v: 1}, step: 2.5e-4}\n"
    "  right: {model: oscillator.mass, step: 1.25e-4}\n"
    "  ss: {model: state_space, with: {A: [[-1]], B: [[1]]}, step: 2.5e-4}\n"
    "connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f, left.f -> "
    "ss.u1]\n";
// means of inputs with feedthrough up to date: an ordered output, a closed chain, all methods that give means
static const char through[] =
    "yoke: 1\ntime: {stop: 100, step: 1e-3}\ninputs: mean\nunits:\n"
    "  left: {model: oscillator.force, start: {v: 1}}\n  right: {model: oscillator.mass, step: "
    "5e-4}\n"
    "  a: {model: state_space, with: {A: [[-1]], B: [[1]], D: [[0.5]], x0: [1]}, step: 5e-4}\n"
    "  b: {model: state_space, with: {A: [[-2]], B: [[1]], D: [[0.4]]}, step: 2.5e-4}\n"
    "connections: [{from: right.x, to: left.x_other, order: 2}, {from: right.v, to: left.v_other, "
    "order: 3}, {from: left.f, to: right.f, order: 1}, a.y1 -> b.u1, {from: b.y1, to: a.u1, gain: "
    "-1}]\ncouplings: {c: {method: nepce, order: 1, members: [a, b]}}\n";
// the same through a law, a fresh unit and a delay
static const char through_laws[] =
    "yoke: 1\ntime: {stop: 100, step: 1e-3}\ninputs: mean\nunits:\n"
    "  a: {model: state_space, with: {A: [[-1]], B: [[1]], D: [[0.5]], x0: [1]}, step: 5e-4}\n"
    "  b: {model: state_space, with: {A: [[-2]], B: [[1, 1]], D: [[0.4, 0.1]]}}\n"
    "  f: {model: state_space, exchange: fresh, with: {A: [[-3]], B: [[1]], D: [[0.2]]}}\n"
    "laws: {g: {law: gain, with: {k: -1}}}\n"
    "connections: [a.y1 -> b.u1, b.y1 -> g.u, {from: g.y, to: a.u1, order: 1}, {from: b.y1, to: "
    "f.u1, delay: 2e-3}, f.y1 -> b.u2]\n";
// what a file gets that names nothing: `auto`, ten calls, means, feedthrough up to date; then units of different calls
static const char automatic[] =
    "yoke: 1\ntime: {stop: 100, step: 1e-3}\nunits:\n"
    "  a: {model: state_space, with: {A: [[-1]], B: [[1]], D: [[0.5]], x0: [1]}}\n"
    "  b: {model: state_space, with: {A: [[-2]], B: [[1]], D: [[0.4]]}}\n"
    "  m: {model: oscillator.mass, with: {solver: rk4}, start: {v: 1}, calls: 5}\n"
    "  left: {model: oscillator.force}\n"
    "connections: [a.y1 -> b.u1, {from: b.y1, to: a.u1, gain: -1}, m.x -> left.x_other, m.v -> "
    "left.v_other, left.f -> m.f]\n";
// nepce and interpolate with means, samples between exchanges, feedthrough and a closed chain of it
static const char between[] =
    "yoke: 1\ntime: {stop: 100, step: 1e-3}\ninputs: mean\nunits:\n"
    "  a: {model: state_space, with: {A: [[-1]], B: [[1]], D: [[0.5]], x0: [1]}, step: 2e-4}\n"
    "  b: {model: state_space, with: {A: [[-2]], B: [[1]], D: [[0.4]]}, step: 5e-4}\n"
    "  c: {model: state_space, with: {A: [[-1]], B: [[1]], D: [[0.5]], x0: [1]}, step: 2e-4}\n"
    "  d: {model: state_space, with: {A: [[-2]], B: [[1]]}, step: 5e-4}\n"
    "connections: [a.y1 -> b.u1, {from: b.y1, to: a.u1, gain: -1}, c.y1 -> d.u1, {from: d.y1, to: "
    "c.u1, gain: -1}]\n"
    "couplings: {n: {method: nepce, members: [a, b]}, i: {method: interpolate, members: [c, d]}}\n";
// Gauss-Seidel with the default of `inputs`, orders, several calls and feedthrough
static const char seidel[] =
    "yoke: 1\ntime: {stop: 100, step: 1e-3}\nscheme: gauss-seidel\nunits:\n"
    "  a: {model: state_space, with: {A: [[-1]], B: [[1]], D: [[0.5]], x0: [1]}, step: 2e-4}\n"
    "  b: {model: state_space, with: {A: [[-2]], B: [[1]]}}\n"
    "connections: [{from: a.y1, to: b.u1, order: 1}, {from: b.y1, to: a.u1, gain: -1, order: 1}]\n";
// limits of signals: outputs, a local quantity, one that is exceeded all the time
static const char limited[] =
    "yoke: 1\ncalls: 1\ntime: {stop: 100, step: 1e-3}\nunits:\n"
    "  left: {model: oscillator.force, start: {v: 1}}\n  right: {model: oscillator.mass}\n"
    "  sum: {model: integrator}\n"
    "connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f, left.f -> "
    "sum.u]\nquality: {warn: {above: {\"*.v\": 0.5, sum.x: -1e9}}, stop: {below: {\"*\": -1e9}}}\n";
// elements (HI-13) and adaptive prediction at both ends of a delay, over a link that does all that it can
static const char elements[] =
    "yoke: 1\nexchange: fresh\ntime: {stop: 100, step: 1e-2}\nunits:\n"
    "  a: {model: state_space, with: {A: [[-1]], B: [[1]], D: [[0.5]], x0: [1]}, step: 1e-3}\n"
    "  b: {model: state_space, with: {A: [[-2]], B: [[1]]}, step: 1e-3}\n"
    "  c: {model: state_space, with: {A: [[0, 1], [-1, -1]], B: [[0], [1]]}, step: 1e-3}\n"
    "  d: {model: state_space, with: {A: [[-2]], B: [[1]]}, step: 1e-3}\n"
    "  link: {model: channel, exchange: fresh, with: {late_max: 8, noise: 0.01, loss: 0.1, burst: "
    "0.01, jitter: 2, late: 0.1, doubled: 0.1, reordered: 0.1, vary: 2}}\n"
    "connections:\n"
    "  - {from: a.y1, to: b.u1, exchange: 1e-2, coupling: {method: hinf}}\n"
    "  - {from: b.y1, to: a.u1, exchange: 1e-2, delay: 2e-2, gain: -1, coupling: {method: hinf}}\n"
    "  - {from: c.y1, to: link.u, exchange: 1e-2, coupling: {method: hold}}\n"
    "  - {from: link.y, to: d.u1, exchange: 1e-2, delay: 2e-2, coupling: {method: adaptive, model: "
    "ekf, regressor: d.y1}}\n"
    "  - {from: d.y1, to: c.u1, exchange: 1e-2, delay: 2e-2, gain: -1, coupling: {method: "
    "adaptive, "
    "end: sender, regressor: d.y1, displacement: c.y1}}\n";
// a barrier may wait on a futex, so the last one is counted for heap calls only
static const char* const systems[] = {
    plain,     rates,   mixed,   mixed_gs, iterative, iterative_gs, corrected,    rebuilt,
    adaptive,  growing, sampled, means,    means_gs,  through,      through_laws, rig,
    automatic, between, seidel,  limited,  elements,  threads};

// everything that a step may be asked to write: rows, and values of the judged signals, of which there are too many
static void attach_ring(sim* s) {
  YOKE_CATCH(err);
  const bool is_kept[] = {true, true, true};
  if (s->system->units[0].period * 4 == s->system->macro) {
    check_ok(yoke__master_tape(s->system, s->state, s->system->macro / 4, is_kept, 1 << 20));
    assert_true(s->state->tape->n_room < (int64_t)5000 * 4);  // the run goes on when it is full
  }
  check_ok(yoke__master_keep(s->system, s->state, NULL, 0, 1, 32768));
  const yoke_record_settings settings = {.formats = 0, .n_ring_rows = 8192};
  check_ok(yoke__record_open(&settings, s->system->columns, s->system->n_columns, &s->state->record,
                             &err.sink));
}

static void detach_ring(sim* s) {
  YOKE_CATCH(err);
  check_ok(yoke__record_close(&s->state->record, NULL, &err.sink));
}

static void test_no_heap_call_CS_28(void** state) {
  (void)state;
  if (!IS_HEAP_COUNTED) {
    skip();
  }
  for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
    sim s = sim_open("%s", systems[i]);
    attach_ring(&s);
    const long before = atomic_load(&n_heap_calls);
    sim_steps(&s, 5000);
    const long after = atomic_load(&n_heap_calls);
    print_message("system %zu: %ld heap calls in 5000 steps\n", i, after - before);
    assert_int_equal(after - before, 0);
    detach_ring(&s);
    sim_close(&s);
  }
  check_heap_is_counted();
}

// ---------------------------------------------------------------------------------------------------------
// system calls

// in a child: the filter cannot be taken off again. Exit status: number of calls, 200 if there is no filter here.
static int count_in_child(const char* text, bool is_control) {
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    sim s = sim_open("%s", text);
    attach_ring(&s);
    if (!trap_system_calls()) {
      _exit(200);
    }
    for (int i = 0; i < 5000; i++) {
      (void)yoke__master_step(s.system, s.state);
    }
    if (is_control) {
      (void)getppid();
    }
    _exit(n_system_calls > 100 ? 100 : (int)n_system_calls);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_no_system_call_CS_28(void** state) {
  (void)state;
  if (!IS_HEAP_COUNTED || count_in_child(plain, false) == 200) {
    skip();
  }
  assert_int_equal(count_in_child(plain, true), 1);  // the trap sees what is there
  for (size_t i = 0; i + 1 < sizeof systems / sizeof systems[0]; i++) {
    const int n = count_in_child(systems[i], false);
    print_message("system %zu: %d system calls in 5000 steps\n", i, n);
    assert_int_equal(n, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_heap_call_CS_28),
      cmocka_unit_test(test_no_system_call_CS_28),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
