// The obvious defaults of the unit contract and a two-unit Jacobi loop, written for tests only.
#include "base/base_message.h"
#include "support/mechanics_unit.h"

#include "support/check.h"

static size_t element_count(const yoke_variable* v) {
  return (v->n_rows == 0 ? 1 : v->n_rows) * (v->n_cols == 0 ? 1 : v->n_cols);
}

// Where element i of a variable lies; every number of a unit takes 8 bytes.
static void* address(const mech_unit* unit, const yoke_variable* v, size_t i) {
  assert_true(v->offset != YOKE_NO_OFFSET);
  assert_true(i < element_count(v));
  assert_true(v->offset + 8 * (i + 1) <= unit->ops->info->self_size);
  return (char*)unit->self + v->offset + 8 * i;
}

static void store(void* to, yoke_type type, double value) {
  if (type == YOKE_REAL) {
    memcpy(to, &value, sizeof value);
  } else {
    const int64_t whole = (int64_t)llround(value);
    memcpy(to, &whole, sizeof whole);
  }
}

mech_unit mech_unit_open(const yoke_unit_ops* ops) {
  mech_unit unit = {ops, calloc(1, ops->info->self_size), 0, 0};
  assert_non_null(unit.self);
  for (size_t i = 0; i < ops->info->n_variables; i++) {
    const yoke_variable* v = &ops->info->variables[i];
    for (size_t j = 0; j < element_count(v); j++) {
      store(address(&unit, v, j), v->type, v->start);
    }
    if (v->type == YOKE_REAL) {
      unit.n_u += v->causality == YOKE_INPUT ? element_count(v) : 0;
      unit.n_y += v->causality == YOKE_OUTPUT ? element_count(v) : 0;
    }
  }
  return unit;
}

void mech_unit_close(mech_unit* unit) {
  free(unit->self);
  unit->self = NULL;
}

mech_unit mech_unit_copy(const mech_unit* unit) {
  mech_unit copy = *unit;
  assert_true((unit->ops->info->flags & YOKE_UNIT_FLAT) != 0);
  copy.self = malloc(unit->ops->info->self_size);
  assert_non_null(copy.self);
  memcpy(copy.self, unit->self, unit->ops->info->self_size);
  return copy;
}

size_t mech_unit_index(const mech_unit* unit, const char* name) {
  const yoke_unit_info* info = unit->ops->info;
  for (size_t i = 0; i < info->n_variables; i++) {
    if (strcmp(info->variables[i].name, name) == 0) {
      return i;
    }
  }
  fail_msg("%s has no variable '%s'", unit->ops->name, name);
  return 0;
}

void mech_unit_set(mech_unit* unit, const char* name, size_t element, double value) {
  const yoke_variable* v = &unit->ops->info->variables[mech_unit_index(unit, name)];
  store(address(unit, v, element), v->type, value);
}

double mech_unit_get(const mech_unit* unit, const char* name, size_t element) {
  const yoke_variable* v = &unit->ops->info->variables[mech_unit_index(unit, name)];
  double value = 0.0;
  assert_int_equal(v->type, YOKE_REAL);
  memcpy(&value, address(unit, v, element), sizeof value);
  return value;
}

void mech_unit_choose(mech_unit* unit, const char* name, const char* item) {
  const yoke_variable* v = &unit->ops->info->variables[mech_unit_index(unit, name)];
  assert_int_equal(v->type, YOKE_ENUMERATION);
  for (int i = 0; v->items[i] != NULL; i++) {
    if (strcmp(v->items[i], item) == 0) {
      store(address(unit, v, 0), v->type, i);
      return;
    }
  }
  fail_msg("%s.%s has no item '%s'", unit->ops->name, name, item);
}

void mech_unit_init(mech_unit* unit) {
  YOKE_CATCH(err);
  const yoke_status status = unit->ops->enter_init(unit->self, 0.0, 10.0, &err.sink);
  if (status < 0) {
    fail_msg("%s: %s", unit->ops->name, err.text);
  }
}

void mech_unit_inputs(mech_unit* unit, const double u[]) {
  const yoke_unit_info* info = unit->ops->info;
  size_t n = 0;
  for (size_t i = 0; i < info->n_variables; i++) {
    const yoke_variable* v = &info->variables[i];
    for (size_t j = 0; v->causality == YOKE_INPUT && j < element_count(v); j++) {
      memcpy(address(unit, v, j), &u[n++], sizeof u[0]);
    }
  }
}

void mech_unit_outputs(const mech_unit* unit, double y[]) {
  const yoke_unit_info* info = unit->ops->info;
  size_t n = 0;
  for (size_t i = 0; i < info->n_variables; i++) {
    const yoke_variable* v = &info->variables[i];
    for (size_t j = 0; v->causality == YOKE_OUTPUT && j < element_count(v); j++) {
      memcpy(&y[n++], address(unit, v, j), sizeof y[0]);
    }
  }
}

void mech_unit_refresh(mech_unit* unit, double t) {
  assert_int_equal(unit->ops->refresh(unit->self, t), YOKE_OK);
}

yoke_status mech_unit_step(mech_unit* unit, double t, double h, const char** message) {
  yoke_step_result result = {.t_reached = t + h};
  const yoke_status status = unit->ops->step(unit->self, t, h, &result);
  if (message != NULL) {
    *message = result.message;
  }
  return status;
}

static bool is_declared(const yoke_unit_info* info, size_t output, size_t input) {
  for (size_t i = 0; i < info->n_feedthrough; i++) {
    if (info->feedthrough[i].output == output && info->feedthrough[i].input == input) {
      return true;
    }
  }
  return false;
}

// True if an element of `output` moves when an element of `input` does.
static bool has_feedthrough(const mech_unit* unit, size_t output, size_t input, double t,
                            double change) {
  const yoke_variable* u = &unit->ops->info->variables[input];
  const yoke_variable* y = &unit->ops->info->variables[output];
  bool is_moved = false;
  for (size_t j = 0; j < element_count(u); j++) {
    mech_unit changed = mech_unit_copy(unit);
    double value = 0.0;
    memcpy(&value, address(&changed, u, j), sizeof value);
    value += change;
    memcpy(address(&changed, u, j), &value, sizeof value);
    mech_unit_refresh(&changed, t);
    is_moved |= memcmp(address(&changed, y, 0), address(unit, y, 0), 8 * element_count(y)) != 0;
    mech_unit_close(&changed);
  }
  return is_moved;
}

void mech_unit_probe(mech_unit* unit, double t, double change) {
  const yoke_unit_info* info = unit->ops->info;
  mech_unit_refresh(unit, t);
  for (size_t y = 0; y < info->n_variables; y++) {
    for (size_t u = 0; u < info->n_variables; u++) {
      if (info->variables[y].causality != YOKE_OUTPUT ||
          info->variables[u].causality != YOKE_INPUT) {
        continue;
      }
      const bool is_found = has_feedthrough(unit, y, u, t, change);
      if (is_found != is_declared(info, y, u)) {
        fail_msg("%s: feedthrough from %s to %s is %s but %s", unit->ops->name,
                 info->variables[u].name, info->variables[y].name,
                 is_declared(info, y, u) ? "declared" : "not declared",
                 is_found ? "present" : "absent");
      }
    }
  }
}

// Input j of unit i at tau after t_k.
static double loop_input(const mech_loop* loop, int i, size_t j, double tau) {
  const int order = loop->order < loop->k ? loop->order : loop->k;
  const size_t from = loop->source[i][j];
  const double y0 = loop->y[1 - i][0][from];
  const double y1 = loop->y[1 - i][1][from];
  const double y2 = loop->y[1 - i][2][from];
  const double s = tau / loop->H;
  double u = y0;
  if (loop->calls[i] > 1 && order >= 1) {
    u += s * (y0 - y1);
  }
  if (loop->calls[i] > 1 && order >= 2) {
    u += 0.5 * s * (s + 1.0) * (y0 - 2.0 * y1 + y2);
  }
  return u;
}

static void loop_set_inputs(mech_loop* loop, int i, double tau) {
  double u[MECH_MAX];
  for (size_t j = 0; j < loop->units[i]->n_u; j++) {
    u[j] = loop_input(loop, i, j, tau);
  }
  mech_unit_inputs(loop->units[i], u);
}

void mech_loop_start(mech_loop* loop) {
  loop->k = 0;
  loop->dP = loop->dE = 0.0;
  memset(loop->y, 0, sizeof loop->y);
  for (int i = 1; i >= 0; i--) {
    assert_true(loop->units[i]->n_u <= MECH_MAX && loop->units[i]->n_y <= MECH_MAX);
    mech_unit_init(loop->units[i]);
  }
  // the unit without feedthrough first; then its partner has all it needs
  for (int i = 1; i >= 0; i--) {
    if (i == 0) {
      loop_set_inputs(loop, i, 0.0);
    }
    mech_unit_refresh(loop->units[i], 0.0);
    mech_unit_outputs(loop->units[i], loop->y[i][0]);
  }
  loop_set_inputs(loop, 1, 0.0);
}

yoke_status mech_loop_step(mech_loop* loop) {
  for (int i = 0; i < 2; i++) {
    const double h = loop->H / loop->calls[i];
    for (int j = 0; j < loop->calls[i]; j++) {
      const double tau = j * h;
      loop_set_inputs(loop, i, tau);
      YOKE_TRY(mech_unit_step(loop->units[i], loop->k * loop->H + tau, h, NULL));
    }
  }

  // outputs become known together; the residual power mixes the ends of the macro step
  for (int i = 0; i < 2; i++) {
    memcpy(loop->y[i][2], loop->y[i][1], sizeof loop->y[i][1]);
    memcpy(loop->y[i][1], loop->y[i][0], sizeof loop->y[i][0]);
    mech_unit_outputs(loop->units[i], loop->y[i][0]);
  }
  loop->dP = 0.0;
  for (size_t i = 0; i < loop->n_bond; i++) {
    const size_t B = loop->action[i];
    const size_t A = loop->rate[i];
    loop->dP += loop->y[0][1][B] * loop->y[1][0][A] - loop->y[0][0][B] * loop->y[1][1][A];
  }
  loop->dE += loop->dP * loop->H;
  loop->k++;
  return YOKE_OK;
}

void mech_loop_run(mech_loop* loop, int n_steps) {
  while (loop->k < n_steps) {
    const yoke_status status = mech_loop_step(loop);
    if (status < 0) {
      fail_msg("step %d failed with status %d", loop->k, (int)status);
    }
  }
}
