// Failures in words: which unit, which variable, when, why.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "master/master.h"

static const char* keep(const char* text, char* to, size_t size) {
  return text == NULL || snprintf(to, size, "%s", text) < 0 ? NULL : to;
}

// where and what exactly; not what happened
static void keep_details(yoke_failure* failure, const yoke_message* from) {
  yoke_message* m = &failure->message;
  m->file = keep(from->file, failure->file, sizeof failure->file);
  m->line = from->line;
  m->column = from->column;
  m->variable = keep(from->variable, failure->variable, sizeof failure->variable);
  m->hint = keep(from->hint, failure->hint, sizeof failure->hint);
}

void yoke__failure_set(yoke_failure* failure, const yoke_message* message, size_t unit) {
  failure->unit = unit;
  failure->message = *message;
  failure->message.text = keep(message->text, failure->text, sizeof failure->text);
  failure->message.unit = keep(message->unit, failure->name, sizeof failure->name);
  keep_details(failure, message);
}

void yoke__failure_copy(yoke_failure* to, const yoke_failure* from) {
  yoke__failure_set(to, &from->message, from->unit);
}

static void keep_first(void* to, const yoke_message* message) {
  yoke_failure* failure = to;
  if (failure->message.text == NULL) {
    yoke__failure_set(failure, message, YOKE_NOT_FOUND);
  }
}

yoke_sink yoke__failure_sink(yoke_failure* failure) {
  return (yoke_sink){keep_first, failure};
}

yoke_status yoke__master_fail(yoke_failure* failure, const yoke_system* system, size_t unit,
                              yoke_status status, double t, const char* format, ...) {
  char what[sizeof failure->text];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  const yoke_message message = {.severity = YOKE_ERROR,
                                .status = status,
                                .unit = unit == YOKE_NOT_FOUND ? NULL : system->units[unit].name,
                                .time = t,
                                .text = what};
  yoke__failure_set(failure, &message, unit);
  return status;
}

// The unit's own reason, or what its step said.
static void ask(const yoke_system* system, size_t unit, const char* said, yoke_failure* reason) {
  *reason = (yoke_failure){0};
  const yoke_sink sink = yoke__failure_sink(reason);
  yoke__unit_reason(&system->units[unit].unit, &sink);
  if (reason->message.text == NULL && said != NULL) {
    yoke_fail(&sink, YOKE_UNIT_FAILED, "%s", said);
  }
}

// or_else: what stands in place of a reason; NULL: nothing
yoke_status yoke__master_fail_with(yoke_failure* failure, const yoke_system* system, size_t unit,
                                   yoke_status status, double t, const char* what, const char* said,
                                   const char* or_else) {
  yoke_failure reason;
  ask(system, unit, said, &reason);
  const char* why = reason.message.text != NULL ? reason.message.text : or_else;
  yoke__master_fail(failure, system, unit, status, t, "%s%s%s", what, why == NULL ? "" : ": ",
                    why == NULL ? "" : why);
  keep_details(failure, &reason.message);
  return status;
}

yoke_status yoke__master_fail_unit(yoke_failure* failure, const yoke_system* system, size_t unit,
                                   yoke_status status, double t, const char* format, ...) {
  char what[256];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  return yoke__master_fail_with(failure, system, unit, status, t, what, NULL, NULL);
}

yoke_status yoke__master_collect_failures(const yoke_system* system, yoke_state* state) {
  const yoke_failure* first = NULL;
  for (int i = 0; i < system->n_threads; i++) {
    const yoke_failure* f = &state->failures[i];
    if (f->message.status < 0 && (first == NULL || f->unit < first->unit)) {
      first = f;
    }
  }
  if (first == NULL) {
    return YOKE_OK;
  }
  yoke__failure_copy(&state->failure, first);
  return first->message.status;
}

// "y", or "y[2]" if it is an array
static void name_output(const yoke_unit* unit, size_t element, char* to, size_t size) {
  snprintf(to, size, "?");
  for (size_t i = 0; i < unit->info->n_variables; i++) {
    const yoke_variable* v = &unit->info->variables[i];
    if (v->causality != YOKE_OUTPUT || unit->dense[i] == YOKE_NOT_DENSE ||
        unit->dense[i] > element) {
      continue;
    }
    if (yoke__variable_count(v) > 1) {
      snprintf(to, size, "%s[%zu]", v->name, element - unit->dense[i]);
    } else {
      snprintf(to, size, "%s", v->name);
    }
  }
}

yoke_status yoke__master_fail_not_finite(const yoke_system* system, size_t unit, double t,
                                         const double y[], yoke_failure* failure) {
  const yoke_unit* u = &system->units[unit].unit;
  size_t i = 0;
  while (i < u->n_y && yoke__is_finite(y[i])) {
    i++;
  }
  char value[YOKE_NUMBER_SIZE], name[128];
  yoke__number_format(y[i], value);
  name_output(u, i, name, sizeof name);
  yoke__master_fail(failure, system, unit, YOKE_DIVERGED, t, "output '%s' became %s", name, value);
  failure->message.variable = keep(name, failure->variable, sizeof failure->variable);
  return YOKE_DIVERGED;
}

// the unit noticed itself: its reason, and the first output that shows it
yoke_status yoke__master_fail_diverged(const yoke_system* system, size_t unit, double t,
                                       const char* said, yoke_failure* failure) {
  const yoke_unit* u = &system->units[unit].unit;
  char shown[192] = "", number[YOKE_NUMBER_SIZE];
  yoke_failure reason;
  ask(system, unit, said, &reason);
  for (size_t i = 0; i < u->info->n_variables && shown[0] == '\0'; i++) {
    const yoke_variable* v = &u->info->variables[i];
    double value = 0;
    if (v->causality == YOKE_OUTPUT && v->type == YOKE_REAL && yoke__variable_count(v) == 1 &&
        yoke__unit_get(u, i, &value, sizeof value) >= 0 && !yoke__is_finite(value)) {
      yoke__number_format(value, number);
      snprintf(shown, sizeof shown, ": output '%.120s' is %s", v->name, number);
      reason.message.variable = v->name;
    }
  }
  yoke__master_fail(
      failure, system, unit, YOKE_DIVERGED, t, "%s%s",
      reason.message.text != NULL ? reason.message.text : yoke_status_text(YOKE_DIVERGED), shown);
  keep_details(failure, &reason.message);
  return YOKE_DIVERGED;
}
