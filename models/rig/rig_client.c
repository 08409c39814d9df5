// The bench's end of the link; see rig_client.h.
#include "models/rig/rig_client.h"

#include "models/rig/rig_core.h"

#define N YOKE_RIG_N_MOTORS

void yoke__rig_client_start(yoke_rig_client* client, const yoke_rig_settings* s, double omega) {
  *client = (yoke_rig_client){.was_wanted = 1};
  for (int m = 0; m < N; m++) {
    client->nodes[m].word = 0x40;  // disabled
    client->nodes[m].speed = omega;
    client->nodes[m].cell = -yoke__rig_friction(s, omega);
  }
}

yoke_rig_state yoke__rig_client_state(const yoke_rig_client* client, int motor) {
  return yoke__rig_state_of(client->nodes[motor].word);
}

// Latches the stop; switching the wish off and on again clears it.
static void watch_states(yoke_rig_client* client, const yoke_rig_settings* s, bool is_wanted) {
  bool are_enabled = true, is_one_enabled = false, has_fault = false;
  for (int m = 0; m < N; m++) {
    const yoke_rig_state state = yoke__rig_client_state(client, m);
    are_enabled = are_enabled && state == YOKE_RIG_ENABLED;
    is_one_enabled = is_one_enabled || state == YOKE_RIG_ENABLED;
    has_fault = has_fault || state == YOKE_RIG_FAULT;
  }
  if (is_wanted && !client->was_wanted) {
    client->was_enabled = client->is_stopped = client->is_silent = 0;
  }
  client->was_wanted = is_wanted;
  if (!is_wanted || (client->was_enabled && !are_enabled) || (is_one_enabled && has_fault)) {
    client->is_stopped = 1;
  }
  if (client->was_enabled && !client->is_stopped && client->n_silent >= s->timeout) {
    client->is_stopped = client->is_silent = 1;
  }
  client->was_enabled = client->was_enabled || are_enabled;
}

// No drive is enabled before the others are as far as it is.
static bool are_others_ready(const yoke_rig_client* client, int motor) {
  bool are_ready = true;
  for (int m = 0; m < N; m++) {
    const yoke_rig_state state = yoke__rig_client_state(client, m);
    are_ready =
        are_ready && (m == motor || state == YOKE_RIG_SWITCHED_ON || state == YOKE_RIG_ENABLED);
  }
  return are_ready;
}

static int word_for(const yoke_rig_client* client, int motor) {
  static const int words[YOKE_RIG_N_STATES] = {
      [YOKE_RIG_DISABLED] = YOKE_RIG_WORD_SHUTDOWN,     [YOKE_RIG_READY] = YOKE_RIG_WORD_SWITCH_ON,
      [YOKE_RIG_SWITCHED_ON] = YOKE_RIG_WORD_ENABLE,    [YOKE_RIG_ENABLED] = YOKE_RIG_WORD_ENABLE,
      [YOKE_RIG_QUICK_STOP] = YOKE_RIG_WORD_QUICK_STOP, [YOKE_RIG_FAULT] = YOKE_RIG_WORD_RESET,
  };
  const yoke_rig_state state = yoke__rig_client_state(client, motor);
  if (client->is_stopped) {
    return YOKE_RIG_WORD_QUICK_STOP;
  }
  return state == YOKE_RIG_SWITCHED_ON && !are_others_ready(client, motor) ? YOKE_RIG_WORD_SWITCH_ON
                                                                           : words[state];
}

void yoke__rig_client_command(yoke_rig_client* client, const yoke_rig_settings* s,
                              const yoke_rig_demand demands[N], bool is_wanted, uint64_t time_ns,
                              yoke_datagram* command) {
  watch_states(client, s, is_wanted);
  client->n_silent++;
  *command = (yoke_datagram){.sequence = ++client->sequence, .time_ns = time_ns};
  (void)yoke__datagram_add(command, yoke__frame_sync());
  for (int m = 0; m < N; m++) {
    const yoke_rig_demand* demand = &demands[m];
    const yoke_frame_command content = {
        .word = (uint16_t)(word_for(client, m) | (int)(demand->mode << 12)),
        .torque = yoke__frame_scale16(demand->torque, yoke__rig_torque_unit(s)),
        .target = demand->mode == YOKE_RIG_POSITION
                      ? yoke__frame_scale32(demand->position, yoke__rig_angle_unit(s))
                      : yoke__frame_scale32(demand->speed, yoke__rig_speed_unit()),
    };
    (void)yoke__datagram_add(command, yoke__frame_command(m + 1, content));
  }
}

static void read_frame(yoke_rig_client* client, const yoke_rig_settings* s,
                       const yoke_frame* frame) {
  uint32_t kind = 0;
  int number = 0;
  if (yoke__frame_judge(frame, &kind, &number) != YOKE_FRAME_OK || number == 0) {
    return;
  }
  yoke_rig_node* node = &client->nodes[number - 1];
  if (kind == YOKE_FRAME_STATUS) {
    const yoke_frame_status status = yoke__frame_read_status(frame);
    node->word = status.word;
    node->torque = status.torque * yoke__rig_torque_unit(s);
    node->speed = status.speed * yoke__rig_speed_unit();
    node->code = 0;  // a latched fault comes behind it, in every report
  } else if (kind == YOKE_FRAME_SLOW) {
    const yoke_frame_slow slow = yoke__frame_read_slow(frame);
    node->position = slow.position * yoke__rig_angle_unit(s);
    node->current = slow.current * 1e-3;
  } else if (kind == YOKE_FRAME_FAULT) {
    node->code = yoke__frame_read_fault(frame).code;
  } else if (kind == YOKE_FRAME_ANALOG) {
    node->cell = yoke__rig_cell_torque(s, yoke__frame_read_analog(frame));
  }
}

bool yoke__rig_client_take(yoke_rig_client* client, const yoke_rig_settings* s,
                           const uint8_t bytes[], size_t n) {
  yoke_datagram report;
  if (yoke__datagram_read(bytes, n, &report) != YOKE_FRAME_OK) {
    client->n_refused++;
    return false;
  }
  if (client->has_report && (int32_t)(report.sequence - client->report) <= 0) {
    client->n_stale++;
    return false;
  }
  client->has_report = 1;
  client->n_silent = 0;
  client->report = report.sequence;
  client->report_ns = report.time_ns;
  for (size_t i = 0; i < report.n_frames; i++) {
    read_frame(client, s, &report.frames[i]);
  }
  return true;
}
