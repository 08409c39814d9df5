// The pacer: arithmetic of the grid, figures, policies.
#include "master/master_pace.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_map.h"
#include "base/base_os.h"

#define SPIN_NS INT64_C(60000)  // before the time: a sleep wakes up some 35 us late
#define RESERVE 0.1             // share of a slot that is left for the exchange

// ---- the clock

static int64_t now_monotonic(void* self) {
  (void)self;
  return yoke__os_now_ns();
}

static void sleep_monotonic(void* self, int64_t time_ns) {
  (void)self;
  yoke__realtime_sleep_until_ns(time_ns - SPIN_NS);
  while (yoke__os_now_ns() < time_ns) {
    yoke__os_relax();
  }
}

static void await_monotonic(void* self, _Atomic uint32_t* word, uint32_t value, int64_t time_ns) {
  (void)self;
  while (atomic_load_explicit(word, memory_order_acquire) == value) {
    const int64_t left = time_ns - yoke__os_now_ns();
    if (left <= 0) {
      return;
    }
    yoke__os_futex_wait(word, value, left);
  }
}

const yoke_pace_clock yoke__pace_monotonic = {now_monotonic, sleep_monotonic, NULL,
                                              await_monotonic};

static int64_t now(const yoke_pace* pace) {
  return pace->clock.now_ns(pace->clock.self);
}

// ---- the grid

yoke_pace_outcome yoke__pace_classify(const yoke_pace_grid* grid, int64_t slot, int64_t end_ns) {
  // the first slot whose time has not passed; the quotient may be off by one where times are rounded
  const double distance = (double)(end_ns - yoke__pace_time(grid, slot)) / grid->period_ns;
  int64_t n = distance > 1 ? (int64_t)ceil(distance) : 1;
  while (yoke__pace_time(grid, slot + n) < end_ns) {
    n++;
  }
  while (n > 1 && yoke__pace_time(grid, slot + n - 1) >= end_ns) {
    n--;
  }
  return (yoke_pace_outcome){n > 1, n - 1};
}

// ---- one step

yoke_pace* yoke__pace_create(size_t n_units, size_t n_y) {
  yoke_pace* pace =
      calloc(1, sizeof *pace + n_units * sizeof(yoke_pace_unit) + 2 * n_y * sizeof(double));
  if (pace != NULL) {
    pace->n_units = n_units;
    pace->n_y = n_y;
    yoke__pace_clear(pace);
  }
  return pace;
}

void yoke__pace_clear(yoke_pace* pace) {
  const size_t n_units = pace->n_units, n_y = pace->n_y;
  yoke_pace_unit* units = (yoke_pace_unit*)(pace + 1);
  const yoke_safe_state kept = pace->safe.now;
  memset(units, 0, n_units * sizeof *units);
  const size_t first = offsetof(yoke_pace, clock);
  memset((char*)pace + first, 0, sizeof *pace - first);
  pace->n_units = n_units;
  pace->n_y = n_y;
  pace->units = units;
  pace->y_last = (double*)(units + n_units);
  pace->late_unit = YOKE_NOT_FOUND;
  pace->safe.now = kept;  // what is latched is latched
  atomic_store(&pace->shown, (int)kept.state);
}

void yoke__pace_start(yoke_pace* pace) {
  pace->grid.start_ns = now(pace);
  pace->slot = 0;
}

void yoke__pace_release(yoke_pace* pace) {
  const int64_t release = yoke__pace_time(&pace->grid, pace->slot);
  int64_t begin = now(pace);
  if (begin < release) {
    pace->clock.sleep_until_ns(pace->clock.self, release);
    begin = now(pace);
  }
  pace->begin_ns = begin;
  atomic_store_explicit(&pace->busy_since_ns, begin, memory_order_relaxed);
  pace->n_releases++;
  yoke__histogram_add(&pace->late_ns, begin > release ? begin - release : 0);
}

static void end_units(yoke_pace* pace) {
  for (size_t i = 0; i < pace->n_units; i++) {
    yoke_pace_unit* unit = &pace->units[i];
    if (unit->step_ns > 0) {
      unit->n_over += unit->budget_ns > 0 && unit->step_ns > unit->budget_ns;
      yoke__histogram_add(&unit->ns, unit->step_ns);
      unit->step_ns = 0;
    }
  }
}

static void count_overrun(yoke_pace* pace, const yoke_pace_outcome* outcome, int64_t end) {
  const int64_t late = end - yoke__pace_time(&pace->grid, pace->slot + 1);
  pace->n_overruns++;
  pace->n_missed += outcome->n_missed;
  pace->n_run++;
  pace->longest_run = pace->n_run > pace->longest_run ? pace->n_run : pace->longest_run;
  pace->longest_late_ns = late > pace->longest_late_ns ? late : pace->longest_late_ns;
}

bool yoke__pace_end(yoke_pace* pace, int64_t n_steps) {
  const int64_t end = now(pace);
  const yoke_pace_outcome outcome = yoke__pace_classify(&pace->grid, pace->slot, end);
  atomic_store_explicit(&pace->busy_since_ns, 0, memory_order_relaxed);
  yoke__histogram_add(&pace->step_ns, end - pace->begin_ns);
  end_units(pace);
  pace->end_ns = end;
  const int64_t n_held = n_steps > 1 ? n_steps - 1 : 0;
  pace->n_steps += n_steps;
  pace->n_held += n_held;
  pace->n_owed -= n_held;
  yoke__pace_drop_owed(pace);  // nothing, unless the run ended before all of it was computed
  if (outcome.is_overrun) {
    count_overrun(pace, &outcome, end);
  } else {
    pace->n_run = 0;
  }
  switch (pace->overrun) {
  case YOKE_OVERRUN_CONTINUE:
  case YOKE_OVERRUN_HOLD:
  case YOKE_OVERRUN_STOP:
    pace->slot += 1 + outcome.n_missed;
    pace->lag += outcome.n_missed;
    break;
  case YOKE_OVERRUN_SKIP:
    pace->slot += 1 + outcome.n_missed;
    pace->n_owed = outcome.n_missed;
    break;
  case YOKE_OVERRUN_CATCH_UP:
    pace->slot++;
    pace->lag = outcome.n_missed;
    break;
  }
  return outcome.is_overrun;
}

void yoke__pace_finish(yoke_pace* pace) {
  const int64_t end = yoke__pace_time(&pace->grid, pace->slot);
  yoke__pace_drop_owed(pace);
  if (now(pace) < end) {
    pace->clock.sleep_until_ns(pace->clock.self, end);
  }
}

void yoke__pace_drop_owed(yoke_pace* pace) {
  pace->lag += pace->n_owed;
  pace->n_owed = 0;
}

// ---- units with threads of their own

int64_t yoke__pace_join_time(const yoke_pace* pace, size_t unit, int64_t started_ns) {
  const int64_t end =
      yoke__pace_time(&pace->grid, pace->slot + 1) - (int64_t)(RESERVE * pace->grid.period_ns);
  const int64_t budget = pace->units[unit].budget_ns;
  return budget > 0 && started_ns + budget < end ? started_ns + budget : end;
}

void yoke__pace_note_join(yoke_pace* pace, size_t unit, bool is_late) {
  yoke_pace_unit* u = &pace->units[unit];
  u->n_joins++;
  u->n_late += is_late;
  u->n_late_run = is_late ? u->n_late_run + 1 : 0;
  u->longest_late_run = u->n_late_run > u->longest_late_run ? u->n_late_run : u->longest_late_run;
  pace->n_late_joins += is_late;
}

size_t yoke__pace_find_late(const yoke_pace* pace) {
  size_t found = YOKE_NOT_FOUND;
  for (size_t i = 0; pace->n_late_joins > 0 && i < pace->n_units; i++) {
    const int64_t n = pace->units[i].n_late_run;
    if (n > 0 && (found == YOKE_NOT_FOUND || n > pace->units[found].n_late_run)) {
      found = i;
    }
  }
  return found;
}

// Late in a row: steps, or the outputs of one unit.
static int64_t worst_run(const yoke_pace* pace) {
  const size_t late = yoke__pace_find_late(pace);
  const int64_t n = late == YOKE_NOT_FOUND ? 0 : pace->units[late].n_late_run;
  return n > pace->n_run ? n : pace->n_run;
}

bool yoke__pace_must_stop(const yoke_pace* pace) {
  switch (pace->overrun) {
  case YOKE_OVERRUN_CONTINUE:
  case YOKE_OVERRUN_CATCH_UP:
    return false;
  case YOKE_OVERRUN_HOLD:
  case YOKE_OVERRUN_SKIP:
    return worst_run(pace) >= pace->limit;
  case YOKE_OVERRUN_STOP:
    break;
  }
  return worst_run(pace) > 0;
}

bool yoke__pace_is_beyond(const yoke_pace* pace) {
  for (size_t i = 0; i < pace->n_units; i++) {
    const yoke_pace_unit* unit = &pace->units[i];
    if (unit->longest_late_run >= pace->limit ||
        (pace->overrun == YOKE_OVERRUN_STOP && unit->n_late > 0)) {
      return true;
    }
  }
  return pace->longest_run >= pace->limit || pace->lag >= pace->limit ||
         (pace->overrun == YOKE_OVERRUN_STOP && pace->n_overruns > 0);
}

// ---- words

static const char* plural(int64_t n) {
  return n == 1 ? "" : "s";
}

void yoke__pace_grade(const yoke_pace* pace, char* to, size_t size) {
  if (pace->n_releases == 0) {
    snprintf(to, size, "not paced: no step was released");
  } else if (pace->lag > 0) {
    snprintf(to, size, "not real time: %lld slot%s behind the clock", (long long)pace->lag,
             plural(pace->lag));
  } else if (pace->n_overruns > 0) {
    snprintf(to, size, "soft real time: %lld of %lld steps late", (long long)pace->n_overruns,
             (long long)pace->n_releases);
  } else if (pace->n_late_joins > 0) {
    snprintf(to, size, "soft real time: every step in time, outputs of units late %lld time%s",
             (long long)pace->n_late_joins, plural(pace->n_late_joins));
  } else {
    snprintf(to, size, "kept every deadline");
  }
}

// "2.1 ms", "35 us"
static void format_ns(double ns, char to[32]) {
  const char* const names[] = {"ns", "us", "ms", "s"};
  size_t i = 0;
  while (i < 3 && ns >= 999.5) {
    ns *= 1e-3;
    i++;
  }
  snprintf(to, 32, "%.3g %s", ns, names[i]);
}

void yoke__pace_text(const yoke_pace* pace, char* to, size_t size) {
  char grade[128], late[32], p99[32], longest[96] = "";
  yoke__pace_grade(pace, grade, sizeof grade);
  format_ns(yoke__histogram_quantile(&pace->late_ns, 0.99), p99);
  if (pace->n_overruns > 0) {
    format_ns((double)pace->longest_late_ns, late);
    snprintf(longest, sizeof longest, " (longest %s, %lld in a row)", late,
             (long long)pace->longest_run);
  }
  snprintf(to, size, "paced at %gx: %lld step%s, %lld late%s, released %s late at p99; %s",
           pace->factor, (long long)pace->n_steps, plural(pace->n_steps),
           (long long)pace->n_overruns, longest, p99, grade);
}
