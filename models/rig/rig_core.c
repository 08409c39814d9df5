// The test rig as one thing; see rig_core.h.
#include "models/rig/rig_core.h"

#include <math.h>
#include <stddef.h>

#include "models/models_random.h"

#define N         YOKE_RIG_N_MOTORS
#define CELL_FULL 65535.0  // counts of 16 bits: 0 to 5 V

// ---- cells: 2.5 V at 0 N.m, 0 and 5 V at the ends of the range

uint16_t yoke__rig_cell_counts(const yoke_rig_settings* s, double torque) {
  // 0 to 5 V over -range .. range: 2.5 V at 0
  const double share = 0.5 + 0.5 * torque / s->cell_range;
  const double counts = nearbyint(share * CELL_FULL);
  return (uint16_t)(counts > 0.0 ? fmin(counts, CELL_FULL) : 0.0);
}

double yoke__rig_cell_torque(const yoke_rig_settings* s, uint16_t counts) {
  return (2.0 * counts / CELL_FULL - 1.0) * s->cell_range;
}

static void sample_cells(yoke_rig* rig) {
  const yoke_rig_settings* s = &rig->settings;
  for (int m = 0; m < N; m++) {
    const yoke_rig_upset* upset = &rig->upsets.motors[m];
    if (upset->has_frozen_cell) {
      continue;
    }
    const double deviation = s->cell_noise + upset->noise;
    // noise of a seed, a motor and a cycle: the same in every run
    const double noise = deviation > 0.0 ? deviation * yoke__random_normal(s->seed, (uint64_t)m,
                                                                           (uint64_t)rig->n_cycles)
                                         : 0.0;
    rig->counts[m] = yoke__rig_cell_counts(s, rig->plant.cell[m] + upset->offset + noise);
  }
}

// ---- the pedal

double yoke__rig_pedal_at(const yoke_rig_pedal* pedal, double t) {
  const double now = t + 1e-9;  // a clock may be off by its last bit
  const int64_t n = pedal->n_points;
  int64_t i = 0;
  while (i < n && pedal->times[i] <= now) {
    i++;
  }
  if (i == 0 || i == n) {
    return n == 0 ? 0.0 : pedal->torques[i == 0 ? 0 : n - 1];
  }
  const double span = pedal->times[i] - pedal->times[i - 1];

  // linear between the points, held outside
  const double share = fmax(t - pedal->times[i - 1], 0.0) / span;
  return pedal->torques[i - 1] + share * (pedal->torques[i] - pedal->torques[i - 1]);
}

// ---- errors

static void measure(yoke_rig* rig, double h) {
  yoke_rig_errors* e = &rig->errors;
  if (e->J <= 0.0) {
    return;
  }

  // the ideal shaft: J omega' = reaction of the motor under test, by explicit Euler
  e->exact += h * yoke__rig_reaction(&rig->settings, &rig->plant, YOKE_RIG_MUT) / e->J;
  const double sent = e->demand - e->exact;
  const double shaft = rig->plant.motors[YOKE_RIG_MUT].omega - e->exact;
  e->virtual_sum += sent * sent;
  e->shaft_sum += shaft * shaft;
  e->shaft_max = fmax(e->shaft_max, fabs(shaft));
  e->n_samples++;
}

static double root_mean(double sum, int64_t n) {
  return n > 0 ? sqrt(sum / (double)n) : 0.0;
}

double yoke__rig_error_virtual(const yoke_rig* rig) {
  return root_mean(rig->errors.virtual_sum, rig->errors.n_samples);
}

double yoke__rig_error_shaft(const yoke_rig* rig) {
  return root_mean(rig->errors.shaft_sum, rig->errors.n_samples);
}

double yoke__rig_residual(const yoke_rig* rig) {
  const yoke_rig_books* b = &rig->plant.books;
  const double stored = yoke__rig_stored(&rig->settings, &rig->plant) - rig->stored_0;

  // what the balance leaves open: electric energy in, less all losses, less what
  // is stored more than at the start
  return b->electric - b->joule - b->friction - b->damping - b->excess - stored;
}

// ---- cycles

void yoke__rig_start(yoke_rig* rig, double omega) {
  yoke__rig_plant_start(&rig->settings, &rig->plant, omega);
  for (int m = 0; m < N; m++) {
    rig->drives[m] = (yoke_rig_drive){.mode = YOKE_RIG_TORQUE, .omega = omega};
  }
  rig->upsets = (yoke_rig_upsets){0};
  rig->errors = (yoke_rig_errors){.J = rig->errors.J, .demand = omega, .exact = omega};
  rig->stored_0 = yoke__rig_stored(&rig->settings, &rig->plant);
  rig->n_micro = rig->n_cycles = 0;
  rig->sequence = 0;
  rig->has_sequence = 0;
  rig->n_held = rig->n_stale = rig->n_refused = 0;
  sample_cells(rig);
}

int64_t yoke__rig_micro_steps(double H) {
  const double n = nearbyint(H / YOKE_RIG_MICRO_STEP);

  // within a millionth of a step
  const bool is_whole = n >= 1.0 && n <= 1e6 && fabs(H / YOKE_RIG_MICRO_STEP - n) <= 1e-6 * n;
  return is_whole ? (int64_t)n : 0;
}

bool yoke__rig_take(yoke_rig* rig, const uint8_t bytes[], size_t n, yoke_datagram* newest) {
  yoke_datagram datagram;
  if (yoke__datagram_read(bytes, n, &datagram) != YOKE_FRAME_OK) {
    rig->n_refused++;
    return false;
  }
  // numbers wrap around: newer is less than half the circle ahead
  if (rig->has_sequence && (int32_t)(datagram.sequence - rig->sequence) <= 0) {
    rig->n_stale++;
    return false;
  }
  rig->sequence = datagram.sequence;
  rig->has_sequence = 1;
  *newest = datagram;
  return true;
}

static void command_drives(yoke_rig* rig, const yoke_datagram* command) {
  yoke_frame_command contents[N];
  const yoke_frame_command* given[N] = {NULL};
  for (size_t i = 0; command != NULL && i < command->n_frames; i++) {
    uint32_t kind = 0;
    int node = 0;
    if (yoke__frame_judge(&command->frames[i], &kind, &node) == YOKE_FRAME_OK &&
        kind == YOKE_FRAME_COMMAND) {
      contents[node - 1] = yoke__frame_read_command(&command->frames[i]);
      given[node - 1] = &contents[node - 1];
    }
  }

  // a cycle without any command is held; a command for one drive alone is not
  rig->n_held += given[YOKE_RIG_MUT] == NULL && given[YOKE_RIG_LM] == NULL;
  for (int m = 0; m < N; m++) {
    yoke__rig_drive_command(&rig->settings, &rig->drives[m], given[m]);
  }
}

void yoke__rig_advance(yoke_rig* rig, double t) {
  const yoke_rig_settings* s = &rig->settings;
  double u[N];
  int64_t has_bridge[N];
  const double pedal = rig->pedal.n_points > 0 ? yoke__rig_pedal_at(&rig->pedal, t) : 0.0;
  const bool has_pedal = rig->pedal.n_points > 0;
  for (int m = 0; m < N; m++) {
    yoke__rig_drive_sample(s, &rig->drives[m], &rig->plant.motors[m], rig->plant.U,
                           &rig->upsets.motors[m], m == YOKE_RIG_MUT && has_pedal ? &pedal : NULL,
                           rig->n_micro);
    // drives first, with the plant as it is; then the plant with what they give
    u[m] = rig->drives[m].u;
    has_bridge[m] = yoke__rig_drive_has_power(&rig->drives[m]);
  }
  yoke__rig_plant_step(s, &rig->plant, u, has_bridge, YOKE_RIG_MICRO_STEP);
  measure(rig, YOKE_RIG_MICRO_STEP);
  rig->n_micro++;
}

void yoke__rig_exchange(yoke_rig* rig, const yoke_datagram* command, double t, int64_t n_micro) {
  rig->upsets = yoke__rig_fault_apply(&rig->faults, t);
  for (int m = 0; m < N; m++) {
    rig->plant.motors[m].heat = rig->upsets.motors[m].heat;
  }
  command_drives(rig, command);
  for (int64_t i = 0; i < n_micro; i++) {
    yoke__rig_advance(rig, t + (double)i * YOKE_RIG_MICRO_STEP);
  }
  rig->n_cycles++;
  sample_cells(rig);
}

// ---- reports

static void report_node(const yoke_rig* rig, int m, yoke_datagram* report) {
  const yoke_rig_settings* s = &rig->settings;
  const yoke_rig_drive* drive = &rig->drives[m];
  const double i = rig->plant.motors[m].i;
  const double torque = s->k_tau * yoke__rig_field(s, drive->omega) * i;
  const yoke_frame_status status = {
      .word = yoke__rig_drive_word(drive),
      .torque = yoke__frame_scale16(torque, yoke__rig_torque_unit(s)),
      .speed = yoke__frame_scale32(drive->omega, yoke__rig_speed_unit()),
  };
  (void)yoke__datagram_add(report, yoke__frame_status(m + 1, status));
  (void)yoke__datagram_add(report, yoke__frame_analog(m + 1, rig->counts[m]));

  // with slow status a cycle takes up to 865 bits of the bus in place of 595
  if (rig->n_cycles % YOKE_RIG_SLOW_EVERY == 0) {
    const yoke_frame_slow slow = {
        .position = yoke__frame_scale32(drive->phi, yoke__rig_angle_unit(s)),
        .current = yoke__frame_scale32(i, 1e-3),
    };
    (void)yoke__datagram_add(report, yoke__frame_slow(m + 1, slow));
  }
  if (drive->code != YOKE_RIG_NO_FAULT) {
    const yoke_frame_fault fault = {.code = (uint16_t)drive->code, .error_register = 1};
    (void)yoke__datagram_add(report, yoke__frame_fault(m + 1, fault));
  }
}

void yoke__rig_report(const yoke_rig* rig, uint64_t time_ns, yoke_datagram* report) {
  *report = (yoke_datagram){.sequence = (uint32_t)rig->n_cycles, .time_ns = time_ns};
  for (int m = 0; m < N; m++) {
    report_node(rig, m, report);
  }
}
