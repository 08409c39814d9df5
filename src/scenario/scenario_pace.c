// `time.pace` and `safe`: how a run follows the clock, and what is done when it has to stop.
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "scenario/scenario_reader.h"

const yoke_scenario_pacing yoke__no_pace = {
    .factor = 1, .limit = YOKE_PACE_LIMIT, .watchdog = (double)NAN};

const char* const yoke__overrun_words[] = {
    [YOKE_OVERRUN_CONTINUE] = "continue", [YOKE_OVERRUN_HOLD] = "hold",
    [YOKE_OVERRUN_SKIP] = "skip",         [YOKE_OVERRUN_STOP] = "stop",
    [YOKE_OVERRUN_CATCH_UP] = "catch-up", NULL};

static const yoke_range factor_range = {0, 1e6, true, false, "a number above 0 and up to 1e6"};
// A stop that takes longer than an hour is none.
static const yoke_range over_range = {0, 3600, false, false, "a number of seconds from 0 to 3600"};
static const yoke_integers limit_range = {1, 1000000000};

#define OF(field) offsetof(yoke_scenario_pacing, field)
static const yoke_key pace_keys[] = {
    {"factor", yoke__key_number, &yoke__shape_value, OF(factor), &factor_range},
    {"overrun", yoke__key_choice, &yoke__shape_value, OF(overrun), yoke__overrun_words},
    {"limit", yoke__key_integer, &yoke__shape_value, OF(limit), &limit_range},
    {"watchdog", yoke__key_number, &yoke__shape_value, OF(watchdog), &yoke__range_not_negative},
};
#undef OF
const yoke_shape yoke__shape_pace = YOKE_SHAPE_OF(pace_keys);

// `pace: 1`, `pace: none` or `pace: {factor: 1, overrun: skip}`
void yoke__read_pace(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  yoke_scenario_pacing* to = field;
  to->place = node->place;
  if (node->kind == YOKE_NODE_SCALAR && !node->is_quoted && strcmp(node->text, "none") == 0) {
    return;
  }
  to->is_given = node->kind == YOKE_NODE_MAP
                     ? yoke__shape_walk(reader, node, rule, "'time.pace'", to)
                     : yoke__read_number(reader, node, &factor_range, &to->factor);
}

#define OF(field) offsetof(yoke_scenario_action, field)
static const yoke_key action_keys[] = {
    {"set", yoke__key_endpoint, &yoke__shape_value, OF(input), NULL},
    {"to", yoke__key_number, &yoke__shape_value, OF(to), &yoke__range_any},
    {"over", yoke__key_number, &yoke__shape_value, OF(over), &over_range},
};
#undef OF
static const yoke_shape action_shape = YOKE_SHAPE_OF(action_keys);
const yoke_shape yoke__shape_safe = {.kind = YOKE_SHAPE_LIST, .entry = &action_shape};

static void read_action(yoke_reader* reader, const yoke_node* node, void* entry) {
  yoke_scenario_action* to = entry;
  to->place = node->place;
  static const char* const needed[] = {"set", "to"};
  if (!yoke__shape_walk(reader, node, &action_shape, "an entry of 'safe'", to)) {
    return;
  }
  for (size_t i = 0; i < YOKE_COUNT(needed); i++) {
    if (yoke__node_child(node, needed[i]) == NULL) {
      yoke__error(
          reader->messages, node->place,
          "'safe': the key '%s' is missing; expected for example {set: motor.torque, to: 0, "
          "over: 0.2}",
          needed[i]);
      return;
    }
  }
}

void yoke__read_safe(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  (void)rule;
  yoke_scenario* to = field;
  to->safe = yoke__read_entries(reader, node, YOKE_NODE_LIST, "a list of actions", sizeof *to->safe,
                                read_action, &to->n_safe);
}
