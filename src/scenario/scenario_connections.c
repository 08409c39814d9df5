// The section `connections`: "a.x -> b.y" or the long map {from, to, gain, offset, order, delay,
// exchange, method}.
#include "base/base_check.h"
#include "scenario/scenario_reader.h"

static void read_from(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke__read_endpoint(reader, node, &((yoke_scenario_connection*)to)->from);
}

static void read_to(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke__read_endpoint(reader, node, &((yoke_scenario_connection*)to)->to);
}

static void read_gain(yoke_reader* reader, const yoke_node* node, void* to) {
  ((yoke_scenario_connection*)to)->has_gain = true;
  yoke__read_number(reader, node, &yoke__range_any, &((yoke_scenario_connection*)to)->gain);
}

static void read_offset(yoke_reader* reader, const yoke_node* node, void* to) {
  ((yoke_scenario_connection*)to)->has_gain = true;
  yoke__read_number(reader, node, &yoke__range_any, &((yoke_scenario_connection*)to)->offset);
}

static void read_order(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke_scenario_connection* connection = to;
  int64_t order = 0;
  connection->order_place = node->place;
  if (yoke__read_integer(reader, node, 0, 3, &order)) {
    connection->order = (int)order;
  }
}

static void read_delay(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke_scenario_connection* connection = to;
  connection->delay_place = node->place;
  yoke__read_time(reader, node, &yoke__range_not_negative, &connection->delay);
}

static void read_exchange(yoke_reader* reader, const yoke_node* node, void* to) {
  yoke_scenario_connection* connection = to;
  connection->exchange_place = node->place;
  yoke__read_time(reader, node, &yoke__range_positive, &connection->exchange);
}

// Other methods need more than one connection: they are named under bonds and couplings.
static void read_method(yoke_reader* reader, const yoke_node* node, void* to) {
  static const char* const names[] = {"hold"};
  size_t which = 0;
  ((yoke_scenario_connection*)to)->is_held =
      yoke__read_choice(reader, node, names, YOKE_COUNT(names), &which);
}

static const yoke_key connection_keys[] = {
    {"from", read_from, &yoke__shape_value},         {"to", read_to, &yoke__shape_value},
    {"gain", read_gain, &yoke__shape_value},         {"offset", read_offset, &yoke__shape_value},
    {"order", read_order, &yoke__shape_value},       {"delay", read_delay, &yoke__shape_value},
    {"exchange", read_exchange, &yoke__shape_value}, {"method", read_method, &yoke__shape_value},
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

static void read_connection(yoke_reader* reader, const yoke_node* node,
                            yoke_scenario_connection* out) {
  *out = (yoke_scenario_connection){.gain = 1, .place = node->place};
  if (node->kind == YOKE_NODE_MAP) {
    yoke__shape_walk(reader, node, &connection_shape, "the connection", out);
    require_end(reader, node, "from");
    require_end(reader, node, "to");
  } else if (node->kind == YOKE_NODE_LIST || yoke__node_is_null(node)) {
    yoke__expect_kind(reader, node, YOKE_NODE_MAP, "'a.x -> b.y' or {from: a.x, to: b.y}");
  } else {
    yoke__read_pair(reader, node, &out->from, &out->to, NULL);
  }
}

void yoke__read_connections(yoke_reader* reader, const yoke_node* node, yoke_scenario* to) {
  if (yoke__node_is_null(node) ||
      !yoke__expect_kind(reader, node, YOKE_NODE_LIST, "a list of connections")) {
    return;
  }
  yoke_scenario_connection* all = yoke__reader_array(reader, node->n_children, sizeof *all);
  if (all == NULL) {
    return;
  }
  size_t n = 0;
  for (const yoke_node* child = node->first; child != NULL; child = child->next) {
    read_connection(reader, child, &all[n++]);
  }
  to->connections = all;
  to->n_connections = n;
}
