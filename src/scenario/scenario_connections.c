// The section `connections`: "a.x -> b.y" or the long map {from, to, gain, offset, order, delay,
// exchange, method, coupling, average}.
#include "base/base_check.h"
#include "scenario/scenario_reader.h"

static void read_order(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  (void)rule;
  yoke_scenario_connection* connection = field;
  int64_t order = 0;
  connection->order_place = node->place;
  connection->has_order = true;
  if (yoke__read_integer(reader, node, 0, 3, &order)) {
    connection->order = (int)order;
  }
}

// Other methods have settings: those of one connection stand in its `coupling`.
static void read_method(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  static const char* const methods[] = {"hold", "auto", NULL};
  (void)rule;
  yoke_scenario_connection* connection = field;
  size_t which = 0;
  const bool is_good = yoke__read_choice(reader, node, methods, &which);
  connection->is_held = is_good && which == 0;
  connection->is_auto = is_good && which == 1;
}

void yoke__key_average(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  static const char* const words[] = {"false", "true", NULL};
  (void)rule;
  yoke_scenario_connection* connection = field;
  size_t choice = 0;
  connection->average_place = node->place;
  if (yoke__read_choice(reader, node, words, &choice)) {
    connection->average = choice == 1 ? YOKE_AVERAGE_YES : YOKE_AVERAGE_NO;
  }
}

#define OF(field) offsetof(yoke_scenario_connection, field)
static const yoke_key connection_keys[] = {
    {"from", yoke__key_endpoint, &yoke__shape_value, OF(from), NULL},
    {"to", yoke__key_endpoint, &yoke__shape_value, OF(to), NULL},
    {"gain", yoke__key_number, &yoke__shape_value, OF(gain), &yoke__range_any},
    {"offset", yoke__key_number, &yoke__shape_value, OF(offset), &yoke__range_any},
    {"order", read_order, &yoke__shape_value, 0, NULL},
    {"delay", yoke__key_time, &yoke__shape_value, OF(delay), &yoke__range_not_negative},
    {"exchange", yoke__key_time, &yoke__shape_value, OF(exchange), &yoke__range_positive},
    {"method", read_method, &yoke__shape_value, 0, NULL},
    {"coupling", yoke__key_coupling, &yoke__shape_free, OF(coupling), NULL},
    {"average", yoke__key_average, &yoke__shape_value, 0, NULL},
};

static const yoke_shape connection_shape = {.kind = YOKE_SHAPE_KEYS,
                                            .keys = connection_keys,
                                            .n_keys = YOKE_COUNT(connection_keys),
                                            .is_connection = true};
const yoke_shape yoke__shape_connections = {.kind = YOKE_SHAPE_LIST, .entry = &connection_shape};

static void require_end(yoke_reader* reader, const yoke_node* node, const char* key) {
  if (yoke__node_child(node, key) == NULL) {
    yoke__error(reader->messages, node->place,
                "the connection has no '%s': expected '%s: unit.variable'", key, key);
  }
}

static void read_connection(yoke_reader* reader, const yoke_node* node, void* entry) {
  static const char* const scaling[] = {"gain", "offset", NULL};
  yoke_scenario_connection* out = entry;
  *out = (yoke_scenario_connection){.gain = 1, .place = node->place};
  if (node->kind == YOKE_NODE_MAP) {
    yoke__shape_walk(reader, node, &connection_shape, "the connection", out);
    out->has_gain = yoke__node_first_of(node, scaling) != NULL;
    require_end(reader, node, "from");
    require_end(reader, node, "to");
  } else if (node->kind == YOKE_NODE_LIST || yoke__node_is_null(node)) {
    yoke__expect_kind(reader, node, YOKE_NODE_MAP, "'a.x -> b.y' or {from: a.x, to: b.y}");
  } else {
    yoke__read_pair(reader, node, &out->from, &out->to, NULL);
  }
}

void yoke__read_connections(yoke_reader* reader, const yoke_node* node, void* field,
                            const void* rule) {
  (void)rule;
  yoke_scenario* to = field;
  to->connections =
      yoke__read_entries(reader, node, YOKE_NODE_LIST, "a list of connections",
                         sizeof *to->connections, read_connection, &to->n_connections);
}
