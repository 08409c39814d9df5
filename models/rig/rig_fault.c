// Faults on demand; see rig_fault.h.
#include "models/rig/rig_fault.h"

#include <math.h>
#include <string.h>

#include "base/base_number.h"

#define MAX_LINE 200
#define N_WORDS  5

const char* const yoke__rig_fault_names[] = {"none", "freeze",  "offset",   "noise",    "drop-out",
                                             "trip", "runaway", "overheat", "bus-loss", NULL};

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

static bool read_kind(const char* word, int64_t* kind) {
  for (int64_t i = 1; i < YOKE_RIG_N_FAULTS; i++) {
    if (strcmp(word, yoke__rig_fault_names[i]) == 0) {
      *kind = i;
      return true;
    }
  }
  return false;
}

static bool read_node(const char* word, int64_t* node) {
  const bool is_mut = strcmp(word, "mut") == 0 || strcmp(word, "1") == 0;
  *node = is_mut ? YOKE_RIG_MUT : YOKE_RIG_LM;
  return is_mut || strcmp(word, "lm") == 0 || strcmp(word, "2") == 0;
}

const char* yoke__rig_fault_add(yoke_rig_faults* faults, const char* line, size_t n) {
  char copy[MAX_LINE + 1], *words[N_WORDS];
  if (n > MAX_LINE || memchr(line, '\0', n) != NULL) {
    return "the line is too long or holds bytes that are no text";
  }
  memcpy(copy, line, n);
  copy[n] = '\0';
  if (split(copy, words) != N_WORDS) {
    return "expected five words: time, fault, node, value, duration";
  }
  yoke_rig_fault fault = {0};
  if (!read_number(words[0], &fault.time)) {
    return "time: expected a number of seconds";
  }
  if (!read_kind(words[1], &fault.kind)) {
    return "fault: expected freeze, offset, noise, drop-out, trip, runaway, overheat or bus-loss";
  }
  if (!read_node(words[2], &fault.node)) {
    return "node: expected mut or lm";
  }
  if (!read_number(words[3], &fault.value)) {
    return "value: expected a number";
  }
  if (!read_number(words[4], &fault.duration) || fault.duration < 0.0) {
    return "duration: expected a number of seconds, 0 for the rest of the run";
  }
  if (faults->n_faults == YOKE_RIG_MAX_FAULTS) {
    return "more than 32 faults";
  }
  faults->list[faults->n_faults++] = fault;
  return NULL;
}

static bool apply(const yoke_rig_fault* fault, yoke_rig_upset upsets[YOKE_RIG_N_MOTORS]) {
  yoke_rig_upset* upset = &upsets[fault->node == YOKE_RIG_MUT ? YOKE_RIG_MUT : YOKE_RIG_LM];
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
  return fault->kind == YOKE_RIG_BUS_LOSS;
}

bool yoke__rig_fault_apply(const yoke_rig_faults* faults, double t,
                           yoke_rig_upset upsets[YOKE_RIG_N_MOTORS]) {
  const double now = t + 1e-9;  // a clock may be off by its last bit
  bool is_lost = false;
  for (int m = 0; m < YOKE_RIG_N_MOTORS; m++) {
    upsets[m] = (yoke_rig_upset){0};
  }
  for (int64_t i = 0; i < faults->n_faults; i++) {
    const yoke_rig_fault* fault = &faults->list[i];
    const double end = fault->duration > 0.0 ? fault->time + fault->duration : HUGE_VAL;
    if (now >= fault->time && now < end) {
      is_lost = apply(fault, upsets) || is_lost;
    }
  }
  return apply(&faults->live, upsets) || is_lost;
}
