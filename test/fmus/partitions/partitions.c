// Scheduled execution: six partitions, each with an input clock, and an output clock.
//
//   clock    ticks                                    priority  partition
//   fast     every 10 ms                              1         n_fast += 1, sum += u; alarm at every fourth
//   mid      every 20 ms                              0         n_mid += 1, mixed = gain n_mid + k
//   slow     every 1/20 s                             2         n_slow += 1; delayed in 3 ms, at the third tick at once
//   delayed  when slow says so (countdown)            3         n_delayed += 1
//   poke     when another unit says so (triggered)    5         n_poke += 1
//   uneven   after 7 ms, then 8, 9, 10, ... (changing) 4        n_uneven += 1
//
// order: digits of the partitions that ran at the last time, 1 to 6 in the order of the table. Strict: a partition that is
// activated twice at a time, or backwards, is an error.
#include "skeleton.h"

#include <math.h>

enum {
  FAST = 1,
  MID,
  SLOW,
  DELAYED,
  POKE,
  UNEVEN,
  ALARM,
  U,
  GAIN,
  K,
  SUM,
  MIXED,
  ORDER,
  FAULT,
  COUNTS
};
enum { N = 6 };

typedef struct values {
  bool clocks[N], alarm;
  double u, gain, sum, mixed;
  int32_t k, fault, n[N], n_alarms, order;
  double t_last[N], t_order;
  uint64_t delay, gap;  // ms
  bool is_delay_new, is_gap_new;
} values;

static const fmu_variable variables[] = {
    {FAST, CLOCK, DISCRETE, offsetof(values, clocks[0]), 1},
    {MID, CLOCK, DISCRETE, offsetof(values, clocks[1]), 1},
    {SLOW, CLOCK, DISCRETE, offsetof(values, clocks[2]), 1},
    {DELAYED, CLOCK, DISCRETE, offsetof(values, clocks[3]), 1},
    {POKE, CLOCK, DISCRETE, offsetof(values, clocks[4]), 1},
    {UNEVEN, CLOCK, DISCRETE, offsetof(values, clocks[5]), 1},
    {ALARM, CLOCK, READ, offsetof(values, alarm), 1},
    {U, REAL, DISCRETE, offsetof(values, u), 1},
    {GAIN, REAL, DISCRETE, offsetof(values, gain), 1},
    {K, INT32, DISCRETE, offsetof(values, k), 1},
    {SUM, REAL, READ, offsetof(values, sum), 1},
    {MIXED, REAL, READ, offsetof(values, mixed), 1},
    {ORDER, INT32, READ, offsetof(values, order), 1},
    {FAULT, INT32, START, offsetof(values, fault), 1},
    {COUNTS, INT32, READ, offsetof(values, n[0]), 1},
    {COUNTS + 1, INT32, READ, offsetof(values, n[1]), 1},
    {COUNTS + 2, INT32, READ, offsetof(values, n[2]), 1},
    {COUNTS + 3, INT32, READ, offsetof(values, n[3]), 1},
    {COUNTS + 4, INT32, READ, offsetof(values, n[4]), 1},
    {COUNTS + 5, INT32, READ, offsetof(values, n[5]), 1},
    {COUNTS + 6, INT32, READ, offsetof(values, n_alarms), 1},
};

static void start(fmu* m) {
  values* v = m->values;
  v->u = 0.5;
  v->gain = 2.0;
  v->gap = 7;
  v->is_gap_new = true;
  v->t_order = -HUGE_VAL;
  for (int i = 0; i < N; i++) {
    v->t_last[i] = -HUGE_VAL;
  }
}

static int set_interval(fmu* m, uint32_t reference, double seconds) {
  (void)m;
  return reference == SLOW && seconds == 0.05 ? FMU_OK : FMU_ERROR;
}

static int interval(fmu* m, uint32_t reference, uint64_t* counter) {
  values* v = m->values;
  const bool is_delayed = reference == DELAYED;
  if ((!is_delayed && reference != UNEVEN) ||
      (m->mode != INITIALISATION && is_delayed != (m->mode == CLOCK_UPDATE))) {
    return -1;
  }
  bool* is_new = is_delayed ? &v->is_delay_new : &v->is_gap_new;
  *counter = is_delayed ? v->delay : v->gap;
  const int qualifier = *is_new ? 2 : is_delayed && v->n[2] == 0 ? 0 : 1;
  *is_new = false;
  return qualifier;
}

static void run_fast(fmu* m, values* v) {
  v->sum += v->u;
  v->alarm = v->n[0] % 4 == 0;
  if (v->alarm) {
    v->n_alarms++;
    fmu_tell_clocks(m);
  }
}

static void run_slow(fmu* m, values* v) {
  v->delay = v->n[2] == 3 ? 0 : 3;
  v->is_delay_new = true;
  fmu_tell_clocks(m);
}

static int activate(fmu* m, uint32_t reference, double t) {
  values* v = m->values;
  if (reference < FAST || reference > UNEVEN || !(t > v->t_last[reference - 1])) {
    fmu_log(m, FMU_ERROR, "logStatusError", "clock %u must not tick at %.17g", (unsigned)reference,
            t);
    return FMU_ERROR;
  }
  m->lock_preemption();
  v->t_last[reference - 1] = t;
  v->order = (t == v->t_order ? 10 * v->order : 0) + (int32_t)reference;
  v->t_order = t;
  v->n[reference - 1]++;
  m->unlock_preemption();
  if (reference == FAST) {
    run_fast(m, v);
  } else if (reference == MID) {
    v->mixed = v->gain * v->n[1] + v->k;
  } else if (reference == SLOW) {
    run_slow(m, v);
  } else if (reference == UNEVEN) {
    v->gap++;
    v->is_gap_new = true;
  } else if (reference == DELAYED && v->fault == 1) {
    v->delay = 0;
    v->is_delay_new = true;
    fmu_tell_clocks(m);
  }
  return reference == SLOW && v->fault == 2 ? FMU_DISCARD : FMU_OK;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-partitions",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .start = start,
    .interval = interval,
    .set_interval = set_interval,
    .activate = activate,
};
