// The bench's end of the link: demands become commands, reports become measurements. The same for a rig in process and
// for one behind a socket.
//
// It leads both drives from disabled to enabled, one state per answered command. Once both were enabled and one of them
// is not any more (timeout, fault), or no report has come for as many cycles as a drive waits for a command, or `is_wanted`
// is off, it stops both and stays so until is_wanted goes off and on.
#ifndef YOKE_MODELS_RIG_CLIENT_H
#define YOKE_MODELS_RIG_CLIENT_H

#include "models/rig/rig_drive.h"
#include "models/rig/rig_frame.h"

typedef struct yoke_rig_demand {
  int64_t mode;                    // YOKE_RIG_SPEED, ...
  double torque, speed, position;  // [N.m] (in mode speed: feed-forward), [rad/s], [rad]
} yoke_rig_demand;

typedef struct yoke_rig_node {
  uint16_t word;             // last statusword
  uint16_t code;             // last fault
  double torque, speed;      // drive [N.m], [rad/s]
  double position, current;  // every tenth cycle [rad], [A]
  double cell;               // [N.m]
} yoke_rig_node;

typedef struct yoke_rig_client {
  yoke_rig_node nodes[YOKE_RIG_N_MOTORS];
  uint32_t sequence;   // of the last command
  uint32_t report;     // of the newest report
  uint64_t report_ns;  // its time
  int64_t has_report, was_enabled, is_stopped, was_wanted;
  int64_t n_silent;            // commands since the newest report
  int64_t is_silent;           // they were too many, and the first reason to stop
  int64_t n_stale, n_refused;  // reports that were too old, or not ours
} yoke_rig_client;

void yoke__rig_client_start(yoke_rig_client* client, const yoke_rig_settings* s, double omega);
// The commands of one cycle: SYNC and one frame per node.
void yoke__rig_client_command(yoke_rig_client* client, const yoke_rig_settings* s,
                              const yoke_rig_demand demands[YOKE_RIG_N_MOTORS], bool is_wanted,
                              uint64_t time_ns, yoke_datagram* command);
// Reads a report; false: too old or refused.
bool yoke__rig_client_take(yoke_rig_client* client, const yoke_rig_settings* s,
                           const uint8_t bytes[], size_t n);
yoke_rig_state yoke__rig_client_state(const yoke_rig_client* client, int motor);

#endif
