// Time: the tick that all steps share, and every exchange interval in ticks.
#include "base/base_number.h"
#include "system/system.h"

#define MAX_DELAY 10000000  // samples kept by one delay: 80 MB

static yoke_status collect_durations(yoke_system* system, yoke_decimal** out, int* n_out) {
  const yoke_scenario* s = system->scenario;
  yoke_decimal* list =
      yoke__arena_array(&system->arena, 1 + s->n_units + 2 * s->n_connections, sizeof *list);
  YOKE_TRY_MEMORY(list);
  int n = 0;
  list[n++] = s->step.exact;
  for (size_t i = 0; i < s->n_units; i++) {
    if (s->units[i].step.is_given) {
      list[n++] = s->units[i].step.exact;
    }
  }
  for (size_t i = 0; i < s->n_connections; i++) {
    if (s->connections[i].exchange.is_given) {
      list[n++] = s->connections[i].exchange.exact;
    }
    if (s->connections[i].delay.value > 0) {
      list[n++] = s->connections[i].delay.exact;
    }
  }
  *out = list;
  *n_out = n;
  return YOKE_OK;
}

// The tick of all durations; then every step in ticks. Follows the order of collect_durations.
yoke_status yoke__system_fit_clock(yoke_system* system) {
  const yoke_scenario* s = system->scenario;
  if (!s->step.is_given) {
    return YOKE_BAD_INPUT;  // reported when the file was read
  }
  yoke_decimal* durations = NULL;
  int n = 0;
  YOKE_TRY(collect_durations(system, &durations, &n));
  int64_t* ticks = yoke__arena_array(&system->arena, (size_t)n, sizeof *ticks);
  YOKE_TRY_MEMORY(ticks);
  if (yoke__clock_fit(s->start.value, durations, n, &system->clock, ticks) < 0) {
    yoke__error(
        system->messages, s->step.place,
        "the steps have no common tick: they are too far apart to be counted in one integer");
    return YOKE_BAD_INPUT;
  }
  system->macro = ticks[0];
  int at = 1;
  for (size_t i = 0; i < system->n_units; i++) {
    system->units[i].period = s->units[i].step.is_given ? ticks[at++] : system->macro;
    system->units[i].step = yoke__clock_seconds(&system->clock, system->units[i].period);
  }
  for (size_t i = 0; i < system->n_links; i++) {
    // absolute counts for now; choose_interval turns them into intervals
    system->links[i].interval = system->links[i].source->exchange.is_given ? ticks[at++] : 0;
    system->links[i].delay = system->links[i].source->delay.value > 0 ? ticks[at++] : 0;
  }
  return YOKE_OK;
}

static const char* seconds_text(const yoke_system* system, int64_t ticks,
                                char to[YOKE_NUMBER_SIZE]) {
  yoke__number_format(yoke__clock_seconds(&system->clock, ticks), to);
  return to;
}

static bool check_multiple(yoke_system* system, const yoke_system_link* link, int64_t interval,
                           size_t unit) {
  const yoke_system_unit* u = &system->units[unit];
  // a law has no step: it is evaluated whenever something comes
  if (u->is_law || interval % u->period == 0) {
    return true;
  }
  char a[YOKE_NUMBER_SIZE], b[YOKE_NUMBER_SIZE];
  yoke__error(
      system->messages, link->source->place,
      "%s.%s -> %s.%s: the exchange interval %s s is not a multiple of the step %s s of '%s'; the "
      "steps have no common grid",
      link->source->from.unit, link->source->from.variable, link->source->to.unit,
      link->source->to.variable, seconds_text(system, interval, a),
      seconds_text(system, u->period, b), u->name);
  return false;
}

// Iterative schemes repeat whole macro steps: everything meets at the common multiple of all steps.
int64_t yoke__system_common_cycle(yoke_system* system) {
  int64_t cycle = system->macro;
  for (size_t i = 0; i < system->n_units && cycle > 0; i++) {
    cycle = yoke__lcm(cycle, system->units[i].period);
  }
  if (cycle == 0) {
    yoke__error(system->messages, system->scenario->step.place,
                "the steps have no common multiple that can be counted");
  }
  return cycle;
}

void yoke__system_choose_interval(yoke_system* system, yoke_system_link* link, int64_t cycle) {
  const yoke_scenario_connection* source = link->source;
  const yoke_system_unit *from = &system->units[link->from_unit],
                         *to = &system->units[link->to_unit];
  const int64_t given = link->interval;
  int64_t interval = system->macro;
  interval = !from->is_law && from->period > interval ? from->period : interval;
  interval = !to->is_law && to->period > interval ? to->period : interval;
  if (cycle > 0) {
    interval = cycle;
  }
  char a[YOKE_NUMBER_SIZE];
  if (given > 0 && cycle > 0 && given != cycle) {
    yoke__error(
        system->messages, source->exchange.place,
        "iterative schemes exchange at the end of every macro step (%s s): remove 'exchange'",
        seconds_text(system, cycle, a));
  } else if (given > 0) {
    interval = given;
  }
  if (!check_multiple(system, link, interval, link->from_unit) ||
      !check_multiple(system, link, interval, link->to_unit)) {
    return;
  }
  link->interval = interval;
  if (link->delay % interval != 0) {
    yoke__error(system->messages, source->delay.place,
                "the delay must be a multiple of the connection's exchange interval %s s",
                seconds_text(system, interval, a));
  }
  link->delay /= interval;
  if (link->delay > MAX_DELAY) {
    yoke__error(system->messages, source->delay.place,
                "the delay is %lld exchange intervals of %s s; expected at most %d",
                (long long)link->delay, seconds_text(system, interval, a), MAX_DELAY);
  }
}
