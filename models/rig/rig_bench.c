// The virtual test rig as a unit: demands go as commands through a link to the drives, and their reports come back through
// another.
//
//   omega_ref, throttle -> client  |  link -> drives, motors, cells -> link  |  client -> tau, omega
//         bench            command |                machine                  | report      bench
//
// One call is one cycle of the bus: inputs are sampled at its start, outputs are what was reported at its end. Behind a port with
// its own frames the bench's part and the machine's run in two processes; in process one call does both, with the same bytes.
// Source: README.md. Assumes calls that are multiples of 10 us.
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "models/models_support.h"
#include "models/rig/rig.h"
#include "models/rig/rig_arguments.h"
#include "models/rig/rig_client.h"
#include "models/rig/rig_core.h"
#include "models/rig/rig_link.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_TEXT     4096
#define MAX_LATENCY  2    // cycles
#define MAX_DELAY    1.0  // [s]
#define MAX_WAITING                                                                                \
  8  // commands that come in one cycle; of more the oldest are dropped and counted

enum { FEEDFORWARD_OFF, FEEDFORWARD_CELL, FEEDFORWARD_CURRENT, FEEDFORWARD_INPUT };
enum { SET_PROTOTYPE, SET_AUTOMOTIVE };
enum { STREAM_OUT = 1, STREAM_IN };  // of the links

static const char* const set_items[] = {"prototype", "automotive", NULL};
static const char* const feedforward_items[] = {"off", "cell", "current", "input", NULL};
static const char* const sensor_items[] = {"reaction", "in-line", NULL};
static const char* const link_items[] = {"ideal", "modelled", NULL};
// in the order of YOKE_RIG_POSITION, ...
static const char* const mode_items[] = {"position", "speed", "torque", "current", NULL};
static const char* const state_items[] = {"disabled",   "ready", "switched-on", "enabled",
                                          "quick-stop", "fault", NULL};

// measured, as the reports say
typedef struct measured {
  double omega, tau, torque, current, phi;
  int64_t state, code;
} measured;

// A command that came since the last cycle.
typedef struct waiting {
  size_t size;
  uint8_t bytes[YOKE_DATAGRAM_MAX_SIZE];
} waiting;

typedef struct bench {
  yoke_model_head head;
  yoke_unit_end end;
  int64_t is_stop_told, n_held_told, n_clipped_told;  // in `report`
  // the image
  double omega_ref, throttle, tau_ff, omega_mut, tau_lm, phi_mut, phi_lm;  // inputs
  int64_t is_wanted;
  measured nodes[YOKE_RIG_N_MOTORS];  // outputs
  double U_dc, P_supply, P_brake, T[YOKE_RIG_N_MOTORS], shaft;
  double heat[YOKE_RIG_N_MOTORS], heat_inverter[YOKE_RIG_N_MOTORS];
  double error_virtual, error_shaft, error_max;
  double E_supply, E_brake, E_residual;
  int64_t n_held, n_held_reports, n_clipped, n_lost;
  double omega;  // start
  int64_t mode[YOKE_RIG_N_MOTORS], feedforward, latency;
  double loss[2], duplicate[2], reorder[2];  // of the links: out, in
  double delay[2], jitter[2];                // [s]
  double omega_last;                         // demand of the call before
  int64_t n_calls;
  double t_stopped;                    // when the client stopped the drives [s]; NaN: it has not
  int64_t code_stopped, node_stopped;  // why: fault of a node, or 0
  int64_t cycle_ns, has_new_report;
  size_t n_waiting;
  waiting commands[MAX_WAITING];
  yoke_rig_client client;
  yoke_rig_link links[2];
  yoke_rig rig;
} bench;

// ---- variables

#define AT(member_)  offsetof(bench, member_)
#define SET(member_) offsetof(bench, rig.settings.member_)
#define REAL(name_, dim_, text_, causality_, flags_, start_, at_)                                  \
  {                                                                                                \
    .name = (name_), .dim = (dim_), .text = (text_), .type = YOKE_REAL, .causality = (causality_), \
    .flags = (flags_), .start = (start_), .offset = (at_)                                          \
  }
#define WHOLE(name_, text_, causality_, start_, at_)                                               \
  {                                                                                                \
    .name = (name_), .dim = "1", .text = (text_), .type = YOKE_INTEGER, .causality = (causality_), \
    .start = (start_), .offset = (at_)                                                             \
  }
#define CHOICE(name_, text_, causality_, items_, start_, at_)                                      \
  {                                                                                                \
    .name = (name_), .text = (text_), .type = YOKE_ENUMERATION, .causality = (causality_),         \
    .items = (items_), .start = (start_), .offset = (at_)                                          \
  }
#define FLAG(name_, text_, causality_, start_, at_)                                                \
  {                                                                                                \
    .name = (name_), .text = (text_), .type = YOKE_BOOLEAN, .causality = (causality_),             \
    .start = (start_), .offset = (at_)                                                             \
  }
#define INPUT(name_, dim_, text_, at_)                                                             \
  REAL(name_, dim_, text_, YOKE_INPUT, YOKE_VARIABLE_HAS_START, 0.0, at_)
#define OUTPUT(name_, dim_, text_, at_) REAL(name_, dim_, text_, YOKE_OUTPUT, 0, 0.0, at_)
// what only the machine knows
#define TRUTH(name_, dim_, text_, at_)                                                             \
  REAL(name_, dim_, text_, YOKE_OUTPUT, YOKE_VARIABLE_UNSEEN, 0.0, at_)
#define COUNTED(name_, text_, at_)                                                                 \
  {                                                                                                \
    .name = (name_), .dim = "1", .text = (text_), .type = YOKE_INTEGER, .causality = YOKE_OUTPUT,  \
    .flags = YOKE_VARIABLE_UNSEEN, .offset = (at_)                                                 \
  }
#define LIVE(name_, text_, items_, at_)                                                            \
  {                                                                                                \
    .name = (name_), .text = (text_), .type = YOKE_ENUMERATION, .causality = YOKE_TUNABLE,         \
    .flags = YOKE_VARIABLE_UNSEEN, .items = (items_), .offset = (at_)                              \
  }
#define SETTING(name_, dim_, text_, start_, at_)                                                   \
  REAL(name_, dim_, text_, YOKE_PARAMETER, 0, start_, at_)
// the start comes from the parameter set
#define MOTOR(member_, dim_, text_) SETTING(#member_, dim_, text_, 0.0, SET(member_))

static const yoke_variable variables[] = {
    INPUT("omega_ref", "rad/s", "speed demand of the load motor", AT(omega_ref)),
    INPUT("throttle", "N.m", "torque demand of the motor under test", AT(throttle)),
    INPUT("tau_ff", "N.m", "feed-forward of the load motor, if that is the input", AT(tau_ff)),
    INPUT("omega_mut", "rad/s", "speed demand of the motor under test, mode speed", AT(omega_mut)),
    INPUT("tau_lm", "N.m", "torque demand of the load motor, modes torque and current", AT(tau_lm)),
    INPUT("phi_mut", "rad", "angle demand of the motor under test, mode position", AT(phi_mut)),
    INPUT("phi_lm", "rad", "angle demand of the load motor, mode position", AT(phi_lm)),
    FLAG("enable", "lead the drives to enabled; off: stop; off and on: clears a stop", YOKE_TUNABLE,
         1.0, AT(is_wanted)),
    LIVE("fault", "fault that acts now, written at run time", yoke__rig_fault_names,
         AT(rig.faults.live.kind)),
    LIVE("fault_place", "its place", yoke__rig_place_names, AT(rig.faults.live.place)),
    REAL("fault_value", NULL, "its value", YOKE_TUNABLE, YOKE_VARIABLE_UNSEEN, 0.0,
         AT(rig.faults.live.value)),
    OUTPUT("tau", "N.m", "torque at the cell of the motor under test", AT(nodes[0].tau)),
    REAL("omega", "rad/s", "speed of the motor under test, by its encoder; starts both",
         YOKE_OUTPUT, YOKE_VARIABLE_HAS_START, 0.0, AT(nodes[0].omega)),
    OUTPUT("cell_lm", "N.m", "torque at the cell of the load motor", AT(nodes[1].tau)),
    OUTPUT("omega_lm", "rad/s", "speed of the load motor, by its encoder", AT(nodes[1].omega)),
    OUTPUT("torque_mut", "N.m", "torque by current, motor under test", AT(nodes[0].torque)),
    OUTPUT("torque_lm", "N.m", "torque by current, load motor", AT(nodes[1].torque)),
    OUTPUT("i_mut", "A", "current of the motor under test, every tenth cycle",
           AT(nodes[0].current)),
    OUTPUT("i_lm", "A", "current of the load motor, every tenth cycle", AT(nodes[1].current)),
    OUTPUT("angle", "rad", "angle of the motor under test, every tenth cycle", AT(nodes[0].phi)),
    CHOICE("state_mut", "state of the drive under test", YOKE_OUTPUT, state_items, 0.0,
           AT(nodes[0].state)),
    CHOICE("state_lm", "state of the load drive", YOKE_OUTPUT, state_items, 0.0,
           AT(nodes[1].state)),
    WHOLE("code_mut", "fault of the drive under test, 0: none", YOKE_OUTPUT, 0.0,
          AT(nodes[0].code)),
    WHOLE("code_lm", "fault of the load drive, 0: none", YOKE_OUTPUT, 0.0, AT(nodes[1].code)),
    COUNTED("n_held", "cycles in which the drives got no new command", AT(n_held)),
    WHOLE("n_held_reports", "cycles without new report", YOKE_OUTPUT, 0.0, AT(n_held_reports)),
    COUNTED("n_clipped", "commands that a drive limited", AT(n_clipped)),
    COUNTED("n_lost", "datagrams lost in both directions", AT(n_lost)),
    TRUTH("U_dc", "V", "voltage of the DC link", AT(U_dc)),
    TRUTH("P_supply", "W", "power of the supply", AT(P_supply)),
    TRUTH("P_brake", "W", "power of the brake resistor", AT(P_brake)),
    TRUTH("T_mut", "K", "winding of the motor under test", AT(T[0])),
    TRUTH("T_lm", "K", "winding of the load motor", AT(T[1])),
    TRUTH("heat_mut", "W", "copper and friction of the motor under test, mean of the cycle",
          AT(heat[0])),
    TRUTH("heat_lm", "W", "copper and friction of the load motor", AT(heat[1])),
    TRUTH("heat_inverter_mut", "W", "losses of its inverter", AT(heat_inverter[0])),
    TRUTH("heat_inverter_lm", "W", "losses of the other inverter", AT(heat_inverter[1])),
    TRUTH("shaft", "rad/s", "true speed of the motor under test", AT(shaft)),
    TRUTH("error_virtual", "rad/s", "demand against an ideal inertia, root mean square",
          AT(error_virtual)),
    TRUTH("error_shaft", "rad/s", "true speed against it, root mean square", AT(error_shaft)),
    TRUTH("error_max", "rad/s", "true speed against it, largest", AT(error_max)),
    TRUTH("E_supply", "J", "from the supply so far", AT(E_supply)),
    TRUTH("E_brake", "J", "into the brake resistor so far", AT(E_brake)),
    TRUTH("E_residual", "J", "electric energy of the motors that the books miss", AT(E_residual)),
    CHOICE("mode_mut", "mode of the drive under test", YOKE_PARAMETER, mode_items,
           YOKE_RIG_TORQUE - YOKE_RIG_POSITION, AT(mode[0])),
    CHOICE("mode_lm", "mode of the load drive", YOKE_PARAMETER, mode_items,
           YOKE_RIG_SPEED - YOKE_RIG_POSITION, AT(mode[1])),
    CHOICE("feedforward", "torque that goes with the speed demand", YOKE_PARAMETER,
           feedforward_items, FEEDFORWARD_CELL, AT(feedforward)),
    WHOLE("latency", "cycles that a command takes, 0 to 2", YOKE_PARAMETER, 0.0, AT(latency)),
    SETTING("J_ideal", "kg.m2", "ideal inertia of error_*; 0: not measured", 0.0, AT(rig.errors.J)),
    SETTING("loss_out", "1", "probability that a command is lost", 0.0, AT(loss[0])),
    SETTING("loss_in", "1", "probability that a report is lost", 0.0, AT(loss[1])),
    SETTING("duplicate_out", "1", "that a command comes twice", 0.0, AT(duplicate[0])),
    SETTING("duplicate_in", "1", "that a report comes twice", 0.0, AT(duplicate[1])),
    SETTING("reorder_out", "1", "that a command is overtaken by the next", 0.0, AT(reorder[0])),
    SETTING("reorder_in", "1", "that a report is overtaken by the next", 0.0, AT(reorder[1])),
    SETTING("delay_out", "s", "of commands, on top of latency", 0.0, AT(delay[0])),
    SETTING("delay_in", "s", "of reports", 0.0, AT(delay[1])),
    SETTING("jitter_out", "s", "of commands: uniform from 0 to this", 0.0, AT(jitter[0])),
    SETTING("jitter_in", "s", "of reports", 0.0, AT(jitter[1])),
    MOTOR(R, "Ohm", "resistance"),
    MOTOR(L, "H", "inductance"),
    MOTOR(k_B, "V.s/rad", "voltage constant"),
    MOTOR(k_tau, "N.m/A", "torque constant"),
    MOTOR(J, "kg.m2", "inertia of one rotor"),
    MOTOR(tau_dry, "N.m", "dry friction"),
    MOTOR(tau_visc, "N.m", "viscous friction at omega_max"),
    MOTOR(omega_soft, "rad/s", "dry friction fades below this speed"),
    MOTOR(omega_max, "rad/s", "speed of tau_visc"),
    MOTOR(omega_field, "rad/s", "field weakening above this speed; 0: none"),
    MOTOR(I_nominal, "A", "nominal current; torques in frames are per mille of k_tau I_nominal"),
    MOTOR(T_ambient, "K", "ambient temperature"),
    MOTOR(T_trip, "K", "winding temperature that trips the drive"),
    MOTOR(C_heat, "J/K", "heat capacity of a winding"),
    MOTOR(R_heat, "K/W", "thermal resistance of a winding to ambient"),
    MOTOR(k_c, "N.m/rad", "stiffness of the coupling"),
    MOTOR(c_c, "N.m.s/rad", "damping of the coupling"),
    FLAG("is_rigid", "one inertia in place of the coupling", YOKE_PARAMETER, 0.0, SET(is_rigid)),
    MOTOR(cell_hz, "Hz", "filter of the cells"),
    MOTOR(cell_range, "N.m", "range of the cells, both ways, in 16 bits"),
    MOTOR(cell_noise, "N.m", "standard deviation of a sample of a cell"),
    CHOICE("sensor", "brackets of the motors, or in the shaft", YOKE_PARAMETER, sensor_items, 0.0,
           SET(sensor)),
    WHOLE("seed", "of noise and link", YOKE_PARAMETER, 1.0, SET(seed)),
    MOTOR(current_hz, "Hz", "bandwidth of the current loop"),
    MOTOR(speed_hz, "Hz", "bandwidth of the speed loop"),
    MOTOR(position_hz, "Hz", "bandwidth of the position loop"),
    MOTOR(I_max, "A", "limit of the current"),
    MOTOR(omega_limit, "rad/s", "limit of a speed demand"),
    MOTOR(omega_trip, "rad/s", "speed that trips the drive"),
    MOTOR(tau_slope, "N.m/s", "slope of the torque in a quick stop"),
    MOTOR(omega_slope, "rad/s2", "slope of the speed in a quick stop"),
    WHOLE("timeout", "cycles without command before a quick stop", YOKE_PARAMETER, 5.0,
          SET(timeout)),
    WHOLE("counts", "of the encoder per turn", YOKE_PARAMETER, 4096.0, SET(counts)),
    CHOICE("dc_link", "constant voltage, or supply, capacitor and brake", YOKE_PARAMETER,
           link_items, 0.0, SET(dc_link)),
    MOTOR(U, "V", "voltage of the supply"),
    MOTOR(C_dc, "F", "capacitance of the DC link"),
    MOTOR(R_supply, "Ohm", "resistance of the supply; it only gives"),
    MOTOR(P_max, "W", "largest power of the supply"),
    MOTOR(U_on, "V", "brake chopper on above"),
    MOTOR(U_off, "V", "brake chopper off below"),
    MOTOR(R_brake, "Ohm", "brake resistor"),
    MOTOR(U_trip, "V", "voltage that trips the drives"),
    MOTOR(drop, "V", "voltage drop of an inverter"),
};

static const yoke_variable structure[] = {
    {.name = "set",
     .text = "parameter set; single values may be given beside it",
     .type = YOKE_ENUMERATION,
     .causality = YOKE_PARAMETER,
     .items = set_items},
    {.name = "pedal",
     .text = "throttle at the drive itself: rows [time, torque], straight lines between them",
     .type = YOKE_REAL,
     .causality = YOKE_PARAMETER},
    {.name = "faults",
     .text = "list of \"time fault place value duration\"",
     .type = YOKE_STRING,
     .causality = YOKE_PARAMETER,
     .max_size = MAX_TEXT},
    {.name = "script",
     .text = "file with one such fault per line",
     .type = YOKE_STRING,
     .causality = YOKE_PARAMETER,
     .flags = YOKE_VARIABLE_IS_FILE,
     .max_size = MAX_TEXT},
};

// ---- creation

// Starts of the variables that lie in the settings come from the parameter set; every start goes to its place. An in-line sensor
// sees the load motor's own action, so that its torque must not be fed forward: the current's is.
static void describe(bench* b) {
  const size_t low = offsetof(bench, rig.settings);
  const size_t high = low + sizeof(yoke_rig_settings);
  for (size_t i = 0; i < COUNT(variables); i++) {
    yoke_variable* v = &b->head.variables[i];
    *v = variables[i];
    char* at = (char*)b + v->offset;
    const bool is_real = v->type == YOKE_REAL;
    if (v->offset >= low && v->offset < high) {
      v->start = is_real ? *(double*)(void*)at : (double)*(int64_t*)(void*)at;
    } else if (v->offset == AT(feedforward) && b->rig.settings.sensor == YOKE_RIG_IN_LINE) {
      b->feedforward = FEEDFORWARD_CURRENT;
      v->start = FEEDFORWARD_CURRENT;
    } else if (is_real) {
      *(double*)(void*)at = v->start;
    } else {
      *(int64_t*)(void*)at = (int64_t)v->start;
    }
  }
  b->head.info.flags |= YOKE_UNIT_SAMPLED | YOKE_UNIT_FIXED_STEP;
  b->head.info.solver.method = YOKE_SOLVER_SEMI_IMPLICIT_EULER;
  b->head.info.solver.step = YOKE_RIG_MICRO_STEP;
}

static yoke_status bench_create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  int64_t set = SET_PROTOTYPE;
  YOKE_TRY(
      yoke__model_integer(args, "set", SET_PROTOTYPE, SET_PROTOTYPE, SET_AUTOMOTIVE, &set, sink));
  bench* b = yoke__model_make(sizeof(bench), offsetof(bench, omega_ref), COUNT(variables), 0, 0);
  if (b == NULL) {
    return yoke__model_no_memory(sink);
  }
  b->rig.settings = set == SET_AUTOMOTIVE ? yoke__rig_automotive() : yoke__rig_prototype();
  describe(b);
  const yoke_status status = yoke__rig_read_arguments(args, &b->rig.pedal, &b->rig.faults, sink);
  if (status < 0) {
    yoke__model_close(b);
    return status;
  }
  *self = b;
  return YOKE_OK;
}

// ---- start

static const char* find_fault(const bench* b) {
  const char* fault = yoke__rig_find_fault(&b->rig.settings);
  for (int i = 0; i < 2 && fault == NULL; i++) {
    const yoke_rig_link_settings link = {
        .loss = b->loss[i], .duplicate = b->duplicate[i], .reorder = b->reorder[i]};
    fault = yoke__rig_link_find_fault(&link);
    if (!(b->delay[i] >= 0.0 && b->delay[i] <= 1.0 && b->jitter[i] >= 0.0 && b->jitter[i] <= 1.0)) {
      fault = "delays and jitters must lie between 0 and 1 s";
    }
  }
  if (fault == NULL && (b->latency < 0 || b->latency > MAX_LATENCY)) {
    fault = "latency is a number of cycles from 0 to 2";
  }
  if (fault == NULL && !(b->rig.errors.J >= 0.0 && isfinite(b->rig.errors.J))) {
    fault = "J_ideal must be finite and not negative";
  }
  return fault;
}

static void show_reports(bench* b);
static void show_truth(bench* b);

static yoke_status bench_enter_init(void* self, double t_start, double t_stop,
                                    const yoke_sink* sink) {
  bench* b = self;
  (void)t_start;
  (void)t_stop;
  const char* fault = find_fault(b);
  if (fault != NULL) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", fault);
  }
  const double omega = b->nodes[YOKE_RIG_MUT].omega;
  yoke__rig_start(&b->rig, omega);
  yoke__rig_client_start(&b->client, &b->rig.settings, omega);
  for (int i = 0; i < 2; i++) {
    b->links[i].settings.seed = b->rig.settings.seed;
    b->links[i].settings.stream = i == 0 ? STREAM_OUT : STREAM_IN;
    yoke__rig_link_start(&b->links[i]);
  }
  b->n_calls = b->n_held_reports = 0;
  b->t_stopped = (double)NAN;
  b->n_waiting = 0;
  b->has_new_report = 0;
  b->omega_last = omega;
  show_reports(b);
  show_truth(b);
  return YOKE_OK;
}

// ---- demands and links

static double feedforward(const bench* b, double H) {
  const yoke_rig_settings* s = &b->rig.settings;
  const yoke_rig_node* mut = &b->client.nodes[YOKE_RIG_MUT];

  // feed-forward of the load drive: 2 J d omega_ref / dt, both motors' inertia, less what the
  // motor under test brings itself
  const double inertia = 2.0 * s->J * (b->omega_ref - b->omega_last) / H;
  switch (b->feedforward) {
  case FEEDFORWARD_CELL:
    return inertia - mut->cell;
  case FEEDFORWARD_CURRENT:
    // torque of the current, k_tau i, less its friction: what the motor gives to its shaft
    return inertia - (mut->torque - yoke__rig_friction(s, mut->speed));
  case FEEDFORWARD_INPUT:
    return b->tau_ff;
  default:
    return 0.0;
  }
}

static bool is_torque_mode(int64_t mode) {
  return mode == YOKE_RIG_TORQUE || mode == YOKE_RIG_CURRENT;
}

// Settings of a link in this cycle, with what faults add to them.
static void set_link(bench* b, int i, const yoke_rig_link_upset* upset, int64_t cycle_ns) {
  yoke_rig_link_settings* link = &b->links[i].settings;
  link->loss = fmin(b->loss[i] + upset->loss, 1.0);
  link->duplicate = fmin(b->duplicate[i] + upset->duplicate, 1.0);
  link->reorder = fmin(b->reorder[i] + upset->reorder, 1.0);

  // delays add up but stay below MAX_DELAY; latency counts whole cycles, on the way out only
  link->delay_ns = (int64_t)nearbyint(1e9 * fmin(b->delay[i] + upset->delay, MAX_DELAY)) +
                   (i == 0 ? b->latency * cycle_ns : 0);
  link->jitter_ns = (int64_t)nearbyint(1e9 * fmin(b->jitter[i] + upset->jitter, MAX_DELAY));
  link->reorder_ns = cycle_ns;
}

// ---- the bench's end

static size_t bench_command(void* self, double t, double h, uint8_t bytes[], size_t room) {
  bench* b = self;
  (void)t;
  yoke_rig_demand demands[YOKE_RIG_N_MOTORS] = {
      {.torque = b->throttle, .speed = b->omega_mut, .position = b->phi_mut},
      {.torque = b->tau_lm, .speed = b->omega_ref, .position = b->phi_lm},
  };
  // the torque of a speed or position mode is a feed-forward, and only the load motor has one
  for (int m = 0; m < YOKE_RIG_N_MOTORS; m++) {
    const int64_t mode = YOKE_RIG_POSITION + b->mode[m];
    demands[m].mode = mode;
    if (!is_torque_mode(mode)) {
      const bool is_fed = m == YOKE_RIG_LM && mode == YOKE_RIG_SPEED;
      demands[m].torque = is_fed ? feedforward(b, h) : 0.0;
    }
  }
  const int64_t cycle_ns = yoke__rig_micro_steps(h) * YOKE_RIG_MICRO_NS;
  yoke_datagram command;
  yoke__rig_client_command(&b->client, &b->rig.settings, demands, b->is_wanted != 0,
                           (uint64_t)(b->n_calls * cycle_ns), &command);
  return yoke__datagram_write(&command, bytes, room);
}

static size_t bench_halt(void* self, uint8_t bytes[], size_t room) {
  bench* b = self;
  const yoke_rig_demand demands[YOKE_RIG_N_MOTORS] = {{.mode = YOKE_RIG_POSITION + b->mode[0]},
                                                      {.mode = YOKE_RIG_POSITION + b->mode[1]}};
  yoke_datagram command;
  yoke__rig_client_command(&b->client, &b->rig.settings, demands, false,
                           (uint64_t)(b->n_calls * b->cycle_ns), &command);
  return yoke__datagram_write(&command, bytes, room);
}

static yoke_taken bench_take_report(void* self, const uint8_t bytes[], size_t n) {
  bench* b = self;
  const int64_t n_refused = b->client.n_refused;

  // a report that is refused or older than the last one changes nothing
  const bool is_new = yoke__rig_client_take(&b->client, &b->rig.settings, bytes, n);
  b->has_new_report = b->has_new_report || is_new;
  return is_new                            ? YOKE_TAKEN
         : b->client.n_refused > n_refused ? YOKE_TAKEN_REFUSED
                                           : YOKE_TAKEN_OLD;
}

// What the reports say.
static void show_reports(bench* b) {
  for (int m = 0; m < YOKE_RIG_N_MOTORS; m++) {
    const yoke_rig_node* node = &b->client.nodes[m];
    b->nodes[m] = (measured){.omega = node->speed,
                             .tau = node->cell,
                             .torque = node->torque,
                             .current = node->current,
                             .phi = node->position,
                             .state = yoke__rig_client_state(&b->client, m),
                             .code = node->code};
  }
}

// The first stop that nobody asked for, for the report.
static void note_stop(bench* b, double t) {
  if (!b->client.is_stopped || !b->is_wanted || !isnan(b->t_stopped)) {
    return;
  }
  b->t_stopped = t;
  for (int m = 0; m < YOKE_RIG_N_MOTORS && b->code_stopped == 0; m++) {
    b->code_stopped = b->nodes[m].code;
    b->node_stopped = m;
  }
}

static void take_over_reports(bench* b, double t) {
  // a cycle without a new report shows the last one again
  b->n_held_reports += !b->has_new_report;
  b->has_new_report = 0;
  b->omega_last = b->omega_ref;
  show_reports(b);
  note_stop(b, t);
}

// ---- the machine's end

// It goes through the link when the cycle begins; until then nobody knows how old it will be.
static yoke_taken bench_take_command(void* self, const uint8_t bytes[], size_t n) {
  bench* b = self;
  yoke_datagram datagram;
  if (n > YOKE_DATAGRAM_MAX_SIZE || yoke__datagram_read(bytes, n, &datagram) != YOKE_FRAME_OK) {
    b->rig.n_refused++;
    return YOKE_TAKEN_REFUSED;
  }

  // the oldest makes room: the newest command counts
  if (b->n_waiting == MAX_WAITING) {
    b->rig.n_stale++;
    b->n_waiting--;
    memmove(b->commands, b->commands + 1, b->n_waiting * sizeof *b->commands);
  }
  waiting* command = &b->commands[b->n_waiting++];
  command->size = n;
  memcpy(command->bytes, bytes, n);
  return YOKE_TAKEN;
}

// The speed that was sent last, before the link delays it.
static void note_demand(bench* b, const waiting* command) {
  yoke_datagram datagram;
  if (yoke__datagram_read(command->bytes, command->size, &datagram) != YOKE_FRAME_OK) {
    return;
  }
  for (size_t i = 0; i < datagram.n_frames; i++) {
    uint32_t kind = 0;
    int node = 0;
    // node numbers on the bus begin at 1
    if (yoke__frame_judge(&datagram.frames[i], &kind, &node) == YOKE_FRAME_OK &&
        kind == YOKE_FRAME_COMMAND && node == YOKE_RIG_LM + 1) {
      b->rig.errors.demand =
          yoke__frame_read_command(&datagram.frames[i]).target * yoke__rig_speed_unit();
    }
  }
}

// Everything that has arrived through the link; the newest counts.
static bool receive_command(bench* b, int64_t now_ns, bool is_down, yoke_datagram* command) {
  for (size_t i = 0; i < b->n_waiting; i++) {
    note_demand(b, &b->commands[i]);
    yoke__rig_link_send(&b->links[0], now_ns, b->commands[i].bytes, b->commands[i].size, is_down);
  }
  b->n_waiting = 0;
  uint8_t bytes[YOKE_DATAGRAM_MAX_SIZE];
  bool is_new = false;
  for (size_t n = 0; (n = yoke__rig_link_receive(&b->links[0], now_ns, bytes)) > 0;) {
    is_new = yoke__rig_take(&b->rig, bytes, n, command) || is_new;
  }
  return is_new;
}

static void send_report(bench* b, int64_t now_ns, bool is_down) {
  yoke_datagram report;
  uint8_t bytes[YOKE_DATAGRAM_MAX_SIZE];
  yoke__rig_report(&b->rig, (uint64_t)now_ns, &report);
  const size_t n = yoke__datagram_write(&report, bytes, sizeof bytes);
  yoke__rig_link_send(&b->links[1], now_ns, bytes, n, is_down);
  if (b->end == YOKE_END_MACHINE) {
    (void)yoke__rig_client_take(&b->client, &b->rig.settings, bytes, n);
    show_reports(b);
  }
}

static size_t bench_next_report(void* self, uint8_t bytes[], size_t room) {
  bench* b = self;
  return room < YOKE_DATAGRAM_MAX_SIZE
             ? 0
             : yoke__rig_link_receive(&b->links[1], b->n_calls * b->cycle_ns, bytes);
}

// What is true, for whoever looks from outside.
static void show_truth(bench* b) {
  const yoke_rig* rig = &b->rig;
  const yoke_rig_books* books = &rig->plant.books;
  for (int m = 0; m < YOKE_RIG_N_MOTORS; m++) {
    b->T[m] = rig->plant.motors[m].T;
  }
  b->U_dc = rig->plant.U;
  b->P_supply = rig->plant.P_supply;
  b->P_brake = rig->plant.P_brake;
  b->shaft = rig->plant.motors[YOKE_RIG_MUT].omega;
  b->error_virtual = yoke__rig_error_virtual(rig);
  b->error_shaft = yoke__rig_error_shaft(rig);
  b->error_max = rig->errors.shaft_max;
  b->E_supply = books->supply;
  b->E_brake = books->brake;
  b->E_residual = yoke__rig_residual(rig);
  b->n_held = rig->n_held;
  b->n_clipped = rig->drives[0].n_clipped + rig->drives[1].n_clipped;
  b->n_lost = b->links[0].n_lost + b->links[1].n_lost;
}

// A drive that stopped by itself, at its own end of the link.
static void note_trip(bench* b, double t) {
  for (int m = 0; m < YOKE_RIG_N_MOTORS && isnan(b->t_stopped); m++) {
    const yoke_rig_drive* drive = &b->rig.drives[m];
    if (drive->n_timeouts > 0 || drive->state == YOKE_RIG_FAULT) {
      b->t_stopped = t;
      b->code_stopped = drive->code;
      b->node_stopped = m;
    }
  }
}

// One cycle with the commands that wait; its report is in the link afterwards.
static void move_machine(bench* b, double t, double h, int64_t n_micro) {
  const int64_t now_ns = b->n_calls * b->cycle_ns;
  const yoke_rig_upsets upsets = yoke__rig_fault_apply(&b->rig.faults, t);
  set_link(b, 0, &upsets.links[0], b->cycle_ns);
  set_link(b, 1, &upsets.links[1], b->cycle_ns);
  yoke_datagram command;
  const bool is_new = receive_command(b, now_ns, upsets.links[0].is_down != 0, &command);
  double lost[YOKE_RIG_N_MOTORS], lost_inverter[YOKE_RIG_N_MOTORS];
  for (int m = 0; m < YOKE_RIG_N_MOTORS; m++) {
    lost[m] = b->rig.plant.motors[m].lost;
    lost_inverter[m] = b->rig.plant.motors[m].lost_inverter;
  }
  yoke__rig_exchange(&b->rig, is_new ? &command : NULL, t, n_micro);

  // mean heat flow of the cycle: losses of the cycle over its length [W]
  for (int m = 0; m < YOKE_RIG_N_MOTORS; m++) {
    b->heat[m] = (b->rig.plant.motors[m].lost - lost[m]) / h;
    b->heat_inverter[m] = (b->rig.plant.motors[m].lost_inverter - lost_inverter[m]) / h;
  }
  send_report(b, now_ns + b->cycle_ns, upsets.links[1].is_down != 0);
  show_truth(b);
}

// ---- one cycle

// Both ends in one process.
static void pass_command(bench* b, double t, double h) {
  uint8_t bytes[YOKE_DATAGRAM_MAX_SIZE];
  const size_t n = bench_command(b, t, h, bytes, sizeof bytes);
  (void)bench_take_command(b, bytes, n);
}

static void pass_reports(bench* b) {
  uint8_t bytes[YOKE_DATAGRAM_MAX_SIZE];
  for (size_t n = 0; (n = bench_next_report(b, bytes, sizeof bytes)) > 0;) {
    (void)bench_take_report(b, bytes, n);
  }
}

static yoke_status bench_step(void* self, double t, double h, yoke_step_result* result) {
  bench* b = self;
  const int64_t n_micro = yoke__rig_micro_steps(h);
  if (n_micro == 0) {
    result->message = "a cycle of the rig must be a multiple of 10 us";
    return YOKE_BAD_ARG;
  }

  // the link counts in whole nanoseconds: no rounding adds up over a run
  b->cycle_ns = n_micro * YOKE_RIG_MICRO_NS;
  if (b->end == YOKE_END_BOTH) {
    pass_command(b, t, h);
  }
  if (b->end != YOKE_END_BENCH) {
    move_machine(b, t, h, n_micro);
  }

  // the reports of a cycle are those at its end
  b->n_calls++;
  if (b->end == YOKE_END_BOTH) {
    pass_reports(b);
  }
  if (b->end == YOKE_END_MACHINE) {
    note_trip(b, t);
  } else {
    take_over_reports(b, t);
  }
  if (!isfinite(b->shaft) || !isfinite(b->rig.plant.motors[YOKE_RIG_LM].omega)) {
    result->message = "the speeds of the rig are no longer finite";
    return YOKE_DIVERGED;
  }
  return YOKE_OK;
}

static void bench_play(void* self, yoke_unit_end end) {
  ((bench*)self)->end = end;
}

static const yoke_unit_frames frames = {
    .play = bench_play,
    .command = bench_command,
    .halt = bench_halt,
    .take_report = bench_take_report,
    .take_command = bench_take_command,
    .report = bench_next_report,
};

static yoke_status bench_refresh(void* self, double t) {
  (void)self;
  (void)t;
  return YOKE_OK;
}

// How old the newest report is.
static yoke_status bench_sample_info(const void* self, size_t output, yoke_sample_info* info) {
  const bench* b = self;
  if (output >= COUNT(variables) || variables[output].causality != YOKE_OUTPUT) {
    return YOKE_BAD_ARG;
  }

  // cycles without a report, times their length: stamp / number of the report
  const int64_t missing = b->n_calls - (int64_t)b->client.report;
  const double stamp = (double)b->client.report_ns * 1e-9;
  const double cycle = b->client.report > 0 ? stamp / (double)b->client.report : 0.0;
  *info = (yoke_sample_info){.time_stamp = stamp,
                             .age = (double)missing * cycle,
                             .sequence = b->client.report,
                             .is_valid = missing == 0};
  return YOKE_OK;
}

static void notify(const yoke_sink* sink, yoke_severity severity, const char* format, ...)
    YOKE_PRINTF(3, 4);
static void notify(const yoke_sink* sink, yoke_severity severity, const char* format, ...) {
  char text[YOKE_MESSAGE_TEXT_SIZE];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  yoke_send(sink, &(yoke_message){.severity = severity, .time = (double)NAN, .text = text});
}

static void report_held(const bench* b, int64_t n_held, const yoke_sink* sink) {
  if (b->end == YOKE_END_BENCH) {
    notify(sink, YOKE_NOTE, "%lld of %lld cycles without new report", (long long)b->n_held_reports,
           (long long)b->n_calls);
  } else {
    notify(sink, YOKE_NOTE, "%lld of %lld cycles without new command, %lld without new report",
           (long long)n_held, (long long)b->n_calls, (long long)b->n_held_reports);
  }
}

// What a person should know: that the rig stopped by itself and why; commands that were held or limited.
static void bench_report(void* self, const yoke_sink* sink) {
  bench* b = self;
  if (!isnan(b->t_stopped) && !b->is_stop_told) {
    const char* node = b->node_stopped == YOKE_RIG_MUT ? "drive under test" : "load drive";
    const long long timeout = b->rig.settings.timeout;
    if (b->client.is_silent) {
      notify(sink, YOKE_WARNING,
             "the rig stopped at t = %.9g s: the drives were told to, since no report had come for "
             "%lld cycles",
             b->t_stopped, timeout);
    } else if (b->code_stopped != 0) {
      notify(sink, YOKE_WARNING, "the rig stopped at t = %.9g s: the %s tripped, %s (0x%04x)",
             b->t_stopped, node, yoke__rig_code_text(b->code_stopped), (unsigned)b->code_stopped);
    } else {
      notify(sink, YOKE_WARNING,
             "the rig stopped at t = %.9g s: a drive was no longer enabled; it got no command "
             "for %lld cycles",
             b->t_stopped, timeout);
    }
    b->is_stop_told = 1;
  }
  // until the first command has come through, the drives hold nothing; the bench's end does not see what they hold
  const int64_t n_held = b->end == YOKE_END_BENCH ? 0 : b->n_held - b->latency;
  if (n_held > b->n_held_told || b->n_held_reports > b->n_held_told) {
    report_held(b, n_held, sink);
    b->n_held_told = n_held > b->n_held_reports ? n_held : b->n_held_reports;
  }
  if (b->n_clipped > b->n_clipped_told) {
    notify(sink, YOKE_NOTE, "the drives limited %lld commands", (long long)b->n_clipped);
    b->n_clipped_told = b->n_clipped;
  }
}

const yoke_unit_ops yoke__model_rig_bench = {
    .name = "rig.bench",
    .text = "virtual test rig: two motors back to back with drives, load cells, DC link and bus",
    .structure = structure,
    .n_structure = COUNT(structure),
    .create = bench_create,
    .describe = yoke__model_describe,
    .enter_init = bench_enter_init,
    .step = bench_step,
    .refresh = bench_refresh,
    .sample_info = bench_sample_info,
    .save = yoke__model_save,
    .restore = yoke__model_restore,
    .report = bench_report,
    .close = yoke__model_close,
    .frames = &frames,
};
