// The section `quality`: limits of the indicators and how long they must be violated, which bonds may have for themselves, and
// limits of signals.
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "scenario/scenario_reader.h"

#define NONE ((double)NAN)

const yoke_scenario_watch yoke__no_watch = {.warn = {NONE, NONE, NONE},
                                            .stop = {NONE, NONE, NONE},
                                            .period = NONE,
                                            .window = NONE,
                                            .settle = NONE,
                                            .persist = NONE,
                                            .hysteresis = NONE};

#define LIMIT(name)                                                                                \
  {                                                                                                \
#name, yoke__key_number, &yoke__shape_value, offsetof(yoke_scenario_limits, name),             \
        &yoke__range_positive                                                                      \
  }
static const yoke_key limit_keys[] = {LIMIT(rho), LIMIT(eps), LIMIT(rter)};
const yoke_shape yoke__shape_limits = YOKE_SHAPE_OF(limit_keys);

// the same and what is no limit of a bond: it belongs to the scenario
static const yoke_shape signals_shape = {.kind = YOKE_SHAPE_VARIABLES};
static const yoke_key warn_keys[] = {
    LIMIT(rho),
    LIMIT(eps),
    LIMIT(rter),
    {"above", NULL, &signals_shape, 0, NULL},
    {"below", NULL, &signals_shape, 0, NULL},
};
static const yoke_key stop_keys[] = {
    LIMIT(rho),
    LIMIT(eps),
    LIMIT(rter),
    {"growth", NULL, &yoke__shape_value, 0, NULL},
    {"above", NULL, &signals_shape, 0, NULL},
    {"below", NULL, &signals_shape, 0, NULL},
};
static const yoke_shape warn_shape = YOKE_SHAPE_OF(warn_keys);
static const yoke_shape stop_shape = YOKE_SHAPE_OF(stop_keys);

static void read_persist(yoke_reader* reader, const yoke_node* node, void* field,
                         const void* rule) {
  (void)rule;
  int64_t n = 0;
  if (yoke__read_integer(reader, node, 0, 1000000000, &n)) {
    *(double*)field = (double)n;
  }
}

static const yoke_range fraction = {0, 1, true, false, "a number above 0 and up to 1"};

// what a bond and `quality` share; fills a yoke_scenario_watch
#define OF(field) offsetof(yoke_scenario_watch, field)
static const yoke_key quality_keys[] = {
    {"find", NULL, &yoke__shape_value, 0, NULL},  // belongs to the scenario
    {"warn", yoke__key_map, &warn_shape, OF(warn), &warn_shape},
    {"stop", yoke__key_map, &stop_shape, OF(stop), &stop_shape},
    {"period", yoke__key_number, &yoke__shape_value, OF(period), &yoke__range_positive},
    {"window", yoke__key_number, &yoke__shape_value, OF(window), &yoke__range_positive},
    {"settle", yoke__key_number, &yoke__shape_value, OF(settle), &yoke__range_not_negative},
    {"persist", read_persist, &yoke__shape_value, OF(persist), NULL},
    {"hysteresis", yoke__key_number, &yoke__shape_value, OF(hysteresis), &fraction},
};
const yoke_shape yoke__shape_quality = YOKE_SHAPE_OF(quality_keys);

// true or false; as it was if there is no node
static void read_flag(yoke_reader* reader, const yoke_node* node, bool* flag) {
  static const char* const words[] = {"false", "true", NULL};
  size_t choice = 0;
  if (node != NULL && yoke__read_choice(reader, node, words, &choice)) {
    *flag = choice == 1;
  }
}

// ---- limits of signals

static void read_signal_limit(yoke_reader* reader, const yoke_node* node, void* entry) {
  yoke_scenario_signal_limit* to = entry;
  *to = (yoke_scenario_signal_limit){.signal = {node->key, node->key_place}};
  yoke__read_number(reader, node, &yoke__range_any, &to->value);
}

// Appends those of one map, in the order of the file.
static void read_signal_limits(yoke_reader* reader, const yoke_node* node, bool is_above,
                               bool is_stop, yoke_scenario* to) {
  size_t n = 0;
  const size_t n_before = to->n_signal_limits;
  yoke_scenario_signal_limit* own =
      node == NULL
          ? NULL
          : yoke__read_entries(reader, node, YOKE_NODE_MAP, "a map of signals and their limits",
                               sizeof *own, read_signal_limit, &n);
  yoke_scenario_signal_limit* all =
      own == NULL || n == 0 ? NULL : yoke__reader_array(reader, n_before + n, sizeof *all);
  if (all == NULL) {
    return;
  }
  for (size_t i = 0; i < n_before; i++) {
    all[i] = to->signal_limits[i];
  }
  for (size_t i = 0; i < n; i++) {
    all[n_before + i] = own[i];
    all[n_before + i].is_above = is_above;
    all[n_before + i].is_stop = is_stop;
  }
  to->signal_limits = all;
  to->n_signal_limits = n_before + n;
}

void yoke__read_quality(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  yoke_scenario* to = field;
  yoke__key_map(reader, node, &to->watch, rule);
  const yoke_node *warn = yoke__node_child(node, "warn"), *stop = yoke__node_child(node, "stop");
  read_flag(reader, yoke__node_child(node, "find"), &to->is_finding);
  read_flag(reader, yoke__node_child(stop, "growth"), &to->stops_growth);
  read_signal_limits(reader, yoke__node_child(warn, "above"), true, false, to);
  read_signal_limits(reader, yoke__node_child(warn, "below"), false, false, to);
  read_signal_limits(reader, yoke__node_child(stop, "above"), true, true, to);
  read_signal_limits(reader, yoke__node_child(stop, "below"), false, true, to);
}
