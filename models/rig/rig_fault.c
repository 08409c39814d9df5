// Faults on demand; see rig_fault.h.
#include "models/rig/rig_fault.h"

#include <math.h>
#include <string.h>

#include "base/base_number.h"

#define MAX_LINE 200
#define N_WORDS  5
#define MAX_TIME 1e9  // [s]

const char* const yoke__rig_fault_names[] = {
    "none",     "freeze", "offset",    "noise",   "drop-out", "trip",   "runaway", "overheat",
    "bus-loss", "loss",   "duplicate", "reorder", "delay",    "jitter", NULL};
const char* const yoke__rig_place_names[] = {"mut", "lm", "out", "in", "both", NULL};

static bool is_of_link(int64_t kind) {
  return kind >= YOKE_RIG_BUS_LOSS;
}

// Words between blanks and commas, each ended by a NUL; their number, or N_WORDS + 1 if there are more.
static size_t split(char* line, char* words[N_WORDS]) {
  static const char blanks[] = " \t\r,";
  size_t n = 0;
  for (char* at = line + strspn(line, blanks); *at != '\0'; at += strspn(at, blanks)) {
    if (n == N_WORDS) {
      return N_WORDS + 1;
    }
    words[n++] = at;
    at += strcspn(at, blanks);
    if (*at != '\0') {
      *at++ = '\0';
    }
  }
  return n;
}

static bool read_number(const char* word, double* value) {
  return yoke__number_parse(word, value) && isfinite(*value);
}

// Index of a word in a list of n; false if it is not there.
static bool read_name(const char* word, const char* const names[], int64_t n, int64_t* index) {
  for (int64_t i = 0; i < n; i++) {
    if (strcmp(word, names[i]) == 0) {
      *index = i;
      return true;
    }
  }
  return false;
}

static bool is_place_of(int64_t kind, int64_t place) {
  const bool is_direction = place == YOKE_RIG_AT_OUT || place == YOKE_RIG_AT_IN;
  return place == YOKE_RIG_AT_BOTH || is_direction == is_of_link(kind);
}

// What the value of a kind may be: of an offset and a torque any number, else nothing below 0.
static const char* find_bad_value(int64_t kind, double value) {
  if (kind == YOKE_RIG_OFFSET || kind == YOKE_RIG_RUNAWAY) {
    return NULL;
  }
  if (kind >= YOKE_RIG_LOSS && kind <= YOKE_RIG_JITTER && !(value >= 0.0 && value <= 1.0)) {
    return kind <= YOKE_RIG_REORDER ? "value: expected a probability from 0 to 1"
                                    : "value: expected a number of seconds from 0 to 1";
  }
  return value >= 0.0 ? NULL : "value: expected a number that is not negative";
}

// The five words of a fault; *bad is the one with the problem.
static const char* read_words(char* const words[N_WORDS], yoke_rig_fault* fault, size_t* bad) {
  *bad = 0;
  if (!read_number(words[0], &fault->time) || !(fault->time >= 0.0 && fault->time <= MAX_TIME)) {
    return "time: expected a number of seconds from 0 to 1e9";
  }
  *bad = 1;
  if (!read_name(words[1], yoke__rig_fault_names, YOKE_RIG_N_FAULTS, &fault->kind) ||
      fault->kind == YOKE_RIG_NONE) {
    return "fault: expected freeze, offset, noise, drop-out, trip, runaway, overheat, bus-loss, "
           "loss, duplicate, reorder, delay or jitter";
  }
  *bad = 2;
  if (!read_name(words[2], yoke__rig_place_names, YOKE_RIG_AT_BOTH + 1, &fault->place) ||
      !is_place_of(fault->kind, fault->place)) {
    return is_of_link(fault->kind) ? "place: expected out, in or both for a fault of the link"
                                   : "place: expected mut, lm or both for a fault of a motor";
  }
  *bad = 3;
  if (!read_number(words[3], &fault->value)) {
    return "value: expected a number";
  }
  const char* problem = find_bad_value(fault->kind, fault->value);
  if (problem != NULL) {
    return problem;
  }
  *bad = 4;
  if (!read_number(words[4], &fault->duration) ||
      !(fault->duration >= 0.0 && fault->duration <= MAX_TIME)) {
    return "duration: expected a number of seconds from 0 to 1e9, 0 for the rest of the run";
  }
  return NULL;
}

const char* yoke__rig_fault_add(yoke_rig_faults* faults, const char* line, size_t n, int* column) {
  char copy[MAX_LINE + 1], *words[N_WORDS];
  int unused = 0;
  size_t bad = 0;
  yoke_rig_fault fault = {0};
  column = column == NULL ? &unused : column;
  *column = 0;
  if (n > MAX_LINE || memchr(line, '\0', n) != NULL) {
    return "the line is too long or holds bytes that are no text";
  }
  memcpy(copy, line, n);
  copy[n] = '\0';
  if (split(copy, words) != N_WORDS) {
    return "expected five words: time, fault, place, value, duration";
  }
  const char* problem = read_words(words, &fault, &bad);
  if (problem != NULL) {
    *column = (int)(words[bad] - copy) + 1;
    return problem;
  }
  if (faults->n_faults == YOKE_RIG_MAX_FAULTS) {
    return "more than 32 faults";
  }
  faults->list[faults->n_faults++] = fault;
  return NULL;
}

static void upset_motor(const yoke_rig_fault* fault, yoke_rig_upset* upset) {
  switch (fault->kind) {
  case YOKE_RIG_FREEZE:
    upset->has_frozen_cell = 1;
    break;
  case YOKE_RIG_OFFSET:
    upset->offset += fault->value;
    break;
  case YOKE_RIG_NOISE:
    upset->noise += fabs(fault->value);
    break;
  case YOKE_RIG_DROP_OUT:
    upset->has_no_encoder = 1;
    break;
  case YOKE_RIG_TRIP:
    upset->is_tripped = 1;
    break;
  case YOKE_RIG_RUNAWAY:
    upset->is_runaway = 1;
    upset->runaway_torque = fault->value;
    break;
  case YOKE_RIG_OVERHEAT:
    upset->heat += fault->value;
    break;
  default:
    break;
  }
}

static void upset_link(const yoke_rig_fault* fault, yoke_rig_link_upset* upset) {
  const double value = fabs(fault->value);
  switch (fault->kind) {
  case YOKE_RIG_BUS_LOSS:
    upset->is_down = 1;
    break;
  case YOKE_RIG_LOSS:
    upset->loss += value;
    break;
  case YOKE_RIG_DUPLICATE:
    upset->duplicate += value;
    break;
  case YOKE_RIG_REORDER:
    upset->reorder += value;
    break;
  case YOKE_RIG_DELAY:
    upset->delay += value;
    break;
  case YOKE_RIG_JITTER:
    upset->jitter += value;
    break;
  default:
    break;
  }
}

// Places 0 and 2 are the first of motors and directions, 1 and 3 the second, 4 is both.
static void apply(const yoke_rig_fault* fault, yoke_rig_upsets* upsets) {
  for (int i = 0; i < 2; i++) {
    if (fault->place != YOKE_RIG_AT_BOTH && fault->place % 2 != i) {
      continue;
    }
    if (is_of_link(fault->kind)) {
      upset_link(fault, &upsets->links[i]);
    } else {
      upset_motor(fault, &upsets->motors[i]);
    }
  }
}

yoke_rig_upsets yoke__rig_fault_apply(const yoke_rig_faults* faults, double t) {
  const double now = t + 1e-9;  // a clock may be off by its last bit
  yoke_rig_upsets upsets = {0};
  for (int64_t i = 0; i < faults->n_faults; i++) {
    const yoke_rig_fault* fault = &faults->list[i];
    // a duration of 0 lasts to the end of the run
    const double end = fault->duration > 0.0 ? fault->time + fault->duration : HUGE_VAL;
    if (now >= fault->time && now < end) {
      apply(fault, &upsets);
    }
  }

  // faults asked for now act on top of those of the list
  apply(&faults->live, &upsets);
  return upsets;
}
