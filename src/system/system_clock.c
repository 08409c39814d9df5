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

// Ticks so short that all calls begin at one.
static yoke_status divide_clock(yoke_system* system, int64_t ticks[], int n) {
  int64_t parts = 1;
  for (size_t i = 0; i < system->n_units; i++) {
    const int64_t calls = system->units[i].n_calls;
    // the macro step may be divided as it is
    const int64_t left = calls > 1 ? calls / yoke__gcd(calls, ticks[0]) : 1;
    parts = parts == 0 ? 0 : yoke__lcm(parts, left);
  }
  for (size_t i = 0; i < system->n_links && parts > 0; i++) {
    const int64_t own = system->links[i].source->exchange_parts;
    parts = own > 1 ? yoke__lcm(parts, own / yoke__gcd(own, ticks[0])) : parts;
  }
  bool is_good = parts > 0 && yoke__clock_divide(&system->clock, parts) >= 0;
  for (int i = 0; is_good && i < n; i++) {
    is_good = !__builtin_mul_overflow(ticks[i], parts, &ticks[i]);
  }
  if (!is_good) {
    yoke__error(system->messages, system->scenario->step.place,
                "the steps and the calls of the units have no common tick that can be counted");
    return YOKE_BAD_INPUT;
  }
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
  yoke__system_limit_calls(system);
  YOKE_TRY(divide_clock(system, ticks, n));
  system->macro = ticks[0];
  int at = 1;
  for (size_t i = 0; i < system->n_units; i++) {
    yoke_system_unit* unit = &system->units[i];
    unit->period = s->units[i].step.is_given ? ticks[at++]
                   : unit->n_calls > 1       ? system->macro / unit->n_calls
                                             : system->macro;
    unit->step = yoke__clock_seconds(&system->clock, unit->period);
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

// Ticks between the exchanges that the unit allows: those between its calls, but at least a macro step for a step of its own,
// unless that divides the macro step and the unit leaves its connections to `auto`.
static int64_t least_interval(const yoke_system* system, const yoke_system_unit* unit) {
  const bool is_free =
      unit->n_calls > 0 || (unit->meets_at_steps && system->macro % unit->period == 0);
  return is_free || unit->period > system->macro ? unit->period : system->macro;
}

// The ends of a connection meet as often as both are called. A law has no calls: it meets the other end, and another law at
// every call of anybody.
static int64_t meet(const yoke_system* system, const yoke_system_unit* from,
                    const yoke_system_unit* to) {
  if (from->is_law && to->is_law) {
    int64_t least = system->macro;
    for (size_t i = 0; i < system->n_units; i++) {
      const yoke_system_unit* unit = &system->units[i];
      const int64_t own = unit->is_law ? least : least_interval(system, unit);
      least = own < system->macro ? yoke__gcd(least, own) : least;
    }
    return least;
  }
  const int64_t a = least_interval(system, from->is_law ? to : from);
  const int64_t b = least_interval(system, to->is_law ? from : to);
  // both divide the macro step, or the longer one counts
  return a <= system->macro && b <= system->macro ? yoke__lcm(a, b) : a > b ? a : b;
}

void yoke__system_choose_interval(yoke_system* system, yoke_system_link* link, int64_t cycle) {
  const yoke_scenario_connection* source = link->source;
  const int64_t given = link->interval;
  int64_t interval = source->exchange_parts > 0 ? system->macro / source->exchange_parts
                                                : meet(system, &system->units[link->from_unit],
                                                       &system->units[link->to_unit]);
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
