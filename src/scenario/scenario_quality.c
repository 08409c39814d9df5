// The section `quality`, and the keys of a bond that say the same for it alone: limits of the indicators and how long
// they must be violated.
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

// the same and what is no limit of a bond
static const yoke_key stop_keys[] = {
    LIMIT(rho),
    LIMIT(eps),
    LIMIT(rter),
    {"growth", NULL, &yoke__shape_value, 0, NULL},  // belongs to the scenario
};
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
    {"warn", yoke__key_map, &yoke__shape_limits, OF(warn), &yoke__shape_limits},
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

void yoke__read_quality(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  yoke_scenario* to = field;
  yoke__key_map(reader, node, &to->watch, rule);
  const yoke_node* stop = yoke__node_child(node, "stop");
  read_flag(reader, yoke__node_child(node, "find"), &to->is_finding);
  read_flag(reader, yoke__node_child(stop, "growth"), &to->stops_growth);
}
