// The section `trust`: which signals decide about the verdict, from which error on, and which companions are run.
#include <math.h>

#include "base/base_check.h"
#include "scenario/scenario_reader.h"

// limit and wrong: shares of the movement; the error bands were tested with them on random systems (docs/studies/trust.md)
const yoke_scenario_trust yoke__no_trust = {
    .limit = 0.05, .wrong = 0.10, .companions = YOKE_COMPANIONS_AUTO, .is_status = true};

const char* const yoke__companion_words[] = {
    [YOKE_COMPANIONS_AUTO] = "auto", [YOKE_COMPANIONS_BOTH] = "both",
    [YOKE_COMPANIONS_HALF] = "half", [YOKE_COMPANIONS_CHEAP] = "cheap",
    [YOKE_COMPANIONS_NONE] = "none", NULL};

static void read_signals(yoke_reader* reader, const yoke_node* node, void* field,
                         const void* rule) {
  (void)rule;
  yoke_scenario_trust* to = field;
  yoke__read_names(reader, node, &to->signals, &to->n_signals);
}

static void read_flag(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  static const char* const words[] = {"false", "true", NULL};
  (void)rule;
  size_t choice = 0;
  if (yoke__read_choice(reader, node, words, &choice)) {
    *(bool*)field = choice == 1;
  }
}

// one entry of `limits`
static void read_own_limit(yoke_reader* reader, const yoke_node* node, void* entry) {
  yoke_scenario_trust_limit* to = entry;
  *to = (yoke_scenario_trust_limit){{node->key, node->key_place}, (double)INFINITY};
  yoke__read_number(reader, node, &yoke__range_positive, &to->value);
}

static void read_limits(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  (void)rule;
  yoke_scenario_trust* to = field;
  to->limits = yoke__read_entries(reader, node, YOKE_NODE_MAP, "a map of signals and their limits",
                                  sizeof *to->limits, read_own_limit, &to->n_limits);
}

#define OF(field) offsetof(yoke_scenario_trust, field)
static const yoke_shape limits_shape = {.kind = YOKE_SHAPE_VARIABLES};
static const yoke_key trust_keys[] = {
    {"signals", read_signals, &yoke__shape_value, 0, NULL},
    {"limit", yoke__key_number, &yoke__shape_value, OF(limit), &yoke__range_positive},
    {"wrong", yoke__key_number, &yoke__shape_value, OF(wrong), &yoke__range_positive},
    {"limits", read_limits, &limits_shape, 0, NULL},
    {"companions", yoke__key_choice, &yoke__shape_value, OF(companions), yoke__companion_words},
    {"status", read_flag, &yoke__shape_value, OF(is_status), NULL},
    {"bands", read_flag, &yoke__shape_value, OF(is_bands), NULL},
};
const yoke_shape yoke__shape_trust = YOKE_SHAPE_OF(trust_keys);

void yoke__read_trust(yoke_reader* reader, const yoke_node* node, void* field, const void* rule) {
  yoke_scenario_trust* to = field;
  const size_t n_errors = reader->messages->n_errors;
  yoke__key_map(reader, node, to, rule);
  to->is_given = node->kind == YOKE_NODE_MAP;
  if (reader->messages->n_errors > n_errors || to->limit < to->wrong) {
    return;
  }
  const yoke_node* limit = yoke__node_child(node, "limit");
  const yoke_node* wrong = yoke__node_child(node, "wrong");
  yoke__error(reader->messages, limit == NULL ? wrong->place : limit->place,
              "'trust': expected limit below wrong, found limit %g and wrong %g%s", to->limit,
              to->wrong,
              limit != NULL && wrong != NULL ? ""
              : limit == NULL                ? " (limit is the default)"
                                             : " (wrong is the default)");
}
