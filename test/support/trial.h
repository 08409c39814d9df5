// Drives one unit by hand in a test: variables by name, steps, and the checks that every unit must
// pass (declared feedthrough is real, rolling back repeats the same bytes, derivatives are slopes).
#ifndef YOKE_TEST_TRIAL_H
#define YOKE_TEST_TRIAL_H

#include "base/base_message.h"
#include "support/check.h"
#include "support/heard.h"
#include "unit/unit.h"
#include "yoke/unit.h"

typedef struct trial {
  yoke_arena arena;
  yoke_unit unit;
} trial;

// One real argument of create, n_rows x n_cols.
static inline yoke_argument trial_matrix(const char* name, size_t n_rows, size_t n_cols,
                                         const double* values) {
  return (yoke_argument){name, YOKE_REAL, n_rows, n_cols, values};
}

static inline yoke_argument trial_texts(const char* name, size_t n, const char* const* texts) {
  return (yoke_argument){name, YOKE_STRING, n, 1, texts};
}

static inline yoke_argument trial_whole(const char* name, const int64_t* value) {
  return (yoke_argument){name, YOKE_INTEGER, 1, 1, value};
}

static inline void trial_open(trial* d, const yoke_unit_ops* ops, const yoke_argument* arguments,
                              size_t n) {
  const yoke_unit_args args = {"unit", ".", arguments, n, ops->context};
  YOKE_CATCH(err);
  *d = (trial){0};
  if (yoke__unit_create(ops, &args, &d->arena, &d->unit, &err.sink) < 0) {
    fail_msg("%s: %s", ops->name, err.text);
  }
}

// create must fail with a text that holds `part`
static inline void trial_refuses(const yoke_unit_ops* ops, const yoke_argument* arguments, size_t n,
                                 const char* part) {
  const yoke_unit_args args = {"unit", ".", arguments, n, ops->context};
  HEAR(err);
  trial d = {0};
  const yoke_status status = yoke__unit_create(ops, &args, &d.arena, &d.unit, &err.sink);
  if (status >= 0) {
    yoke__unit_close(&d.unit);
    yoke__arena_free(&d.arena);
    fail_msg("%s: accepted, expected '%s'", ops->name, part);
  }
  yoke__arena_free(&d.arena);
  check_contains(err.text, part);
}

static inline void trial_close(trial* d) {
  yoke__unit_terminate(&d->unit);
  yoke__unit_close(&d->unit);
  yoke__arena_free(&d->arena);
}

static inline size_t trial_index(const trial* d, const char* name) {
  const size_t index = yoke__unit_find(&d->unit, name);
  if (index == (size_t)-1) {
    fail_msg("no variable '%s'", name);
  }
  return index;
}

static inline void trial_set(trial* d, const char* name, double value) {
  check_ok(yoke__unit_set(&d->unit, trial_index(d, name), &value, sizeof value));
}

static inline void trial_set_whole(trial* d, const char* name, int64_t value) {
  check_ok(yoke__unit_set(&d->unit, trial_index(d, name), &value, sizeof value));
}

static inline double trial_get(const trial* d, const char* name) {
  double value = 0.0;
  check_ok(yoke__unit_get(&d->unit, trial_index(d, name), &value, sizeof value));
  return value;
}

static inline int64_t trial_get_whole(const trial* d, const char* name) {
  int64_t value = 0;
  check_ok(yoke__unit_get(&d->unit, trial_index(d, name), &value, sizeof value));
  return value;
}

// initialisation without a partner, outputs at t
static inline void trial_start(trial* d, double t) {
  YOKE_CATCH(err);
  if (yoke__unit_enter_init(&d->unit, t, HUGE_VAL, &err.sink) < 0) {
    fail_msg("%s: %s", d->unit.ops->name, err.text);
  }
  check_ok(d->unit.ops->refresh(d->unit.self, t));
  check_ok(yoke__unit_exit_init(&d->unit));
}

static inline yoke_step_result trial_step(trial* d, double t, double h) {
  yoke_step_result result = {.t_reached = t + h};
  const yoke_status status = d->unit.ops->step(d->unit.self, t, h, &result);
  if (status < 0) {
    fail_msg("%s at %g: %s", d->unit.ops->name, t,
             result.message != NULL ? result.message : yoke_status_text(status));
  }
  return result;
}

static inline void trial_refresh(trial* d, double t) {
  check_ok(d->unit.ops->refresh(d->unit.self, t));
}

// the description is complete: texts, unique names, values inside the block
static inline void trial_check_description(const trial* d) {
  const yoke_unit_info* info = d->unit.info;
  assert_non_null(d->unit.ops->name);
  assert_non_null(d->unit.ops->text);
  for (size_t i = 0; i < info->n_variables; i++) {
    const yoke_variable* v = &info->variables[i];
    assert_non_null(v->name);
    assert_int_equal(yoke__unit_find(&d->unit, v->name), i);
    if (d->unit.is_self_ours) {
      assert_true(v->offset + yoke__variable_size(v) <= info->self_size);
    }
    assert_true(v->type != YOKE_ENUMERATION || v->items != NULL);
    assert_true(v->type != YOKE_STRING || v->max_size > 0);
  }
  for (size_t i = 0; i < info->n_feedthrough; i++) {
    assert_int_equal(info->variables[info->feedthrough[i].output].causality, YOKE_OUTPUT);
    assert_int_equal(info->variables[info->feedthrough[i].input].causality, YOKE_INPUT);
  }
}

// moves each real scalar input, refreshes, and compares what changed with what was declared
static inline void trial_check_feedthrough(trial* d, double t) {
  const yoke_unit_info* info = d->unit.info;
  for (size_t i = 0; i < info->n_variables; i++) {
    if (info->variables[i].causality != YOKE_INPUT || info->variables[i].type != YOKE_REAL ||
        yoke__variable_count(&info->variables[i]) != 1) {
      continue;
    }
    const double old = trial_get(d, info->variables[i].name);
    for (size_t o = 0; o < info->n_variables; o++) {
      if (info->variables[o].causality == YOKE_OUTPUT && info->variables[o].type == YOKE_REAL) {
        trial_set(d, info->variables[i].name, old);
        trial_refresh(d, t);
        const double before = trial_get(d, info->variables[o].name);
        trial_set(d, info->variables[i].name, old + 1.0);
        trial_refresh(d, t);
        const bool is_moved = trial_get(d, info->variables[o].name) != before;
        if (is_moved != yoke__unit_has_feedthrough(&d->unit, o, i)) {
          fail_msg("%s: %s %s %s", d->unit.ops->name, info->variables[i].name,
                   is_moved ? "moves" : "does not move", info->variables[o].name);
        }
      }
    }
    trial_set(d, info->variables[i].name, old);
    trial_refresh(d, t);
  }
}

// five steps, back, five steps: the same bytes, whatever the steps were
static inline void trial_check_rollback(trial* d, double t, double h) {
  const size_t size = yoke__unit_image_size(&d->unit);
  assert_true(size > 0);
  unsigned char *start = malloc(size), *first = malloc(size), *second = malloc(size);
  assert_true(start != NULL && first != NULL && second != NULL);
  check_ok(yoke__unit_save(&d->unit, start, size));
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < 5; k++) {
      (void)trial_step(d, t + k * h, h);
    }
    check_ok(yoke__unit_save(&d->unit, pass == 0 ? first : second, size));
    (void)trial_step(d, t + 5 * h, 3 * h);  // a step of another length must leave no trace
    check_ok(yoke__unit_restore(&d->unit, start, size));
  }
  assert_memory_equal(first, second, size);
  free(start);
  free(first);
  free(second);
}

// d(output)/d(input) of all real scalar pairs against central differences
static inline void trial_check_derivative(trial* d, double t, double tolerance) {
  const yoke_unit_info* info = d->unit.info;
  const double delta = 1e-4, seed = 2.5;
  for (size_t i = 0; i < info->n_variables; i++) {
    for (size_t o = 0; o < info->n_variables; o++) {
      const yoke_variable *in = &info->variables[i], *out = &info->variables[o];
      if (in->causality != YOKE_INPUT || in->type != YOKE_REAL || out->causality != YOKE_OUTPUT ||
          out->type != YOKE_REAL) {
        continue;
      }
      double got = 0.0;
      check_ok(d->unit.ops->derivative(d->unit.self, &o, 1, &i, 1, &seed, &got));
      const double old = trial_get(d, in->name);
      trial_set(d, in->name, old + delta);
      trial_refresh(d, t);
      const double high = trial_get(d, out->name);
      trial_set(d, in->name, old - delta);
      trial_refresh(d, t);
      const double low = trial_get(d, out->name);
      trial_set(d, in->name, old);
      trial_refresh(d, t);
      check_near(got, seed * (high - low) / (2.0 * delta), tolerance);
    }
  }
}

#endif
