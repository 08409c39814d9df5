// The section `quality`, and the keys of a bond that say the same for it alone: limits of the indicators and how long
// they must be violated.
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "scenario/scenario_reader.h"

#define NONE ((double)NAN)

const yoke_scenario_watch yoke__no_watch = {.warn = {NONE, NONE, NONE},
                                            .stop = {NONE, NONE, NONE},
                                            .window = NONE,
                                            .settle = NONE,
                                            .persist = NONE,
                                            .hysteresis = NONE};

// limits

static void read_rho(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke__read_number(reader, node, &yoke__range_positive, &((yoke_scenario_limits*)to)->rho);
}

static void read_eps(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke__read_number(reader, node, &yoke__range_positive, &((yoke_scenario_limits*)to)->eps);
}

static void read_rter(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke__read_number(reader, node, &yoke__range_positive, &((yoke_scenario_limits*)to)->rter);
}

static const yoke_key limit_keys[] = {
    {"rho", read_rho, &yoke__shape_value},
    {"eps", read_eps, &yoke__shape_value},
    {"rter", read_rter, &yoke__shape_value},
};
const yoke_shape yoke__shape_limits = {
    .kind = YOKE_SHAPE_KEYS, .keys = limit_keys, .n_keys = YOKE_COUNT(limit_keys)};

// the keys that a bond and `quality` share; to: yoke_scenario_watch

static void read_warn(yoke_reader* reader, const yoke_node* node, void* to) {
  if (!yoke__node_is_null(node)) {
    yoke__shape_walk(reader, node, &yoke__shape_limits, "'warn'",
                     &((yoke_scenario_watch*)to)->warn);
  }
}

static void read_stop(yoke_reader* reader, const yoke_node* node, void* to) {
  if (!yoke__node_is_null(node)) {
    yoke__shape_walk(reader, node, &yoke__shape_limits, "'stop'",
                     &((yoke_scenario_watch*)to)->stop);
  }
}

static void read_window(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke__read_number(reader, node, &yoke__range_positive, &((yoke_scenario_watch*)to)->window);
}

static void read_settle(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke__read_number(reader, node, &yoke__range_not_negative, &((yoke_scenario_watch*)to)->settle);
}

static void read_persist(yoke_reader* reader, const yoke_node* node, void* to) {
  int64_t n = 0;
  if (yoke__read_integer(reader, node, 0, 1000000000, &n)) {
    ((yoke_scenario_watch*)to)->persist = (double)n;
  }
}

static void read_hysteresis(yoke_reader* reader, const yoke_node* node, void* to) {
  static const yoke_range range = {0, 1, true, false, "a number above 0 and up to 1"};
  yoke__read_number(reader, node, &range, &((yoke_scenario_watch*)to)->hysteresis);
}

static void read_nothing(yoke_reader* reader, const yoke_node* node, void* to) {
  (void)reader;
  (void)node;
  (void)to;
}

static const yoke_key quality_keys[] = {
    {"find", read_nothing, &yoke__shape_value},  // belongs to the scenario: read below
    {"warn", read_warn, &yoke__shape_limits},
    {"stop", read_stop, &yoke__shape_limits},
    {"window", read_window, &yoke__shape_value},
    {"settle", read_settle, &yoke__shape_value},
    {"persist", read_persist, &yoke__shape_value},
    {"hysteresis", read_hysteresis, &yoke__shape_value},
};
const yoke_shape yoke__shape_quality = {
    .kind = YOKE_SHAPE_KEYS, .keys = quality_keys, .n_keys = YOKE_COUNT(quality_keys)};

void yoke__read_watch(yoke_reader* reader, const yoke_node* node, yoke_scenario_watch* to) {
  for (size_t i = 0; i < YOKE_COUNT(quality_keys); i++) {
    if (strcmp(quality_keys[i].name, node->key) == 0) {
      quality_keys[i].read(reader, node, to);
    }
  }
}

void yoke__read_quality(yoke_reader* reader, const yoke_node* node, yoke_scenario* to) {
  static const char* const words[] = {"false", "true"};
  if (yoke__node_is_null(node) ||
      !yoke__shape_walk(reader, node, &yoke__shape_quality, "'quality'", &to->watch)) {
    return;
  }
  const yoke_node* find = yoke__node_child(node, "find");
  size_t choice = 1;
  if (find != NULL && yoke__read_choice(reader, find, words, YOKE_COUNT(words), &choice)) {
    to->is_finding = choice == 1;
  }
}
