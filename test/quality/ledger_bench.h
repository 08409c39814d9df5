// A ledger without a system: bonds whose samples the test writes itself. Every component has its place in Y (action, then
// rate) and in U (what the rate's unit received of the action, what the action's unit received of the rate).
#ifndef YOKE_TEST_LEDGER_BENCH_H
#define YOKE_TEST_LEDGER_BENCH_H

#include "quality/quality_ledger.h"
#include "support/check.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { BENCH_BONDS = 4, BENCH_SIZE = 32 };

typedef struct bench {
  yoke_arena arena;
  yoke_ledger* ledger;
  yoke_ledger_bond bonds[BENCH_BONDS];
  size_t action[BENCH_BONDS][BENCH_SIZE], rate[BENCH_BONDS][BENCH_SIZE];
  double action_scale[BENCH_BONDS][BENCH_SIZE], rate_scale[BENCH_BONDS][BENCH_SIZE];
  size_t n_bonds, n_numbers;
  double y[BENCH_SIZE], u[BENCH_SIZE];
  double slot, t;
  int64_t k;
} bench;

static const yoke_ledger_watch bench_watch = {.warn = {{0.25, 0.01, 0.05}},
                                              .stop = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}},
                                              .period = 0.1,
                                              .window = 1,
                                              .settle = 0.5,
                                              .persist = 10,
                                              .hysteresis = 0.8};

// A bond of n components on a grid of `every` slots, mu 0.5. Returns it for changes before bench_start.
static inline yoke_ledger_bond* bench_add(bench* b, const char* name, size_t n, int64_t every,
                                          double slot) {
  const size_t i = b->n_bonds++;
  assert_true(i < BENCH_BONDS && b->n_numbers + 2 * n <= BENCH_SIZE);
  b->slot = slot;
  for (size_t c = 0; c < n; c++) {
    b->action[i][c] = b->n_numbers + c;
    b->rate[i][c] = b->n_numbers + n + c;
    b->action_scale[i][c] = b->rate_scale[i][c] = 1;
  }
  b->n_numbers += 2 * n;
  b->bonds[i] = (yoke_ledger_bond){.name = name,
                                   .n = n,
                                   .every = every,
                                   .interval = (double)every * slot,
                                   .action = b->action[i],
                                   .rate = b->rate[i],
                                   .action_scale = b->action_scale[i],
                                   .rate_scale = b->rate_scale[i],
                                   .mu = 0.5,
                                   .has_ter = true,
                                   .watch = bench_watch};
  b->bonds[i].ends[0] = (yoke_ledger_end){b->action[i], b->rate[i], b->action_scale[i],
                                          b->rate_scale[i], .n_steps = 1};
  b->bonds[i].ends[1] = (yoke_ledger_end){b->rate[i], b->action[i], b->rate_scale[i],
                                          b->action_scale[i], .n_steps = 1};
  return &b->bonds[i];
}

// y holds the first samples.
static inline void bench_start(bench* b) {
  check_ok(yoke__ledger_create(&b->arena, b->bonds, b->n_bonds, b->slot, &b->ledger));
  yoke__ledger_start(b->ledger, 0, b->y);
}

// One slot that ends with y; u: what was held during it.
static inline yoke_alarm_level bench_step(bench* b) {
  const yoke_ledger_view view = {b->y, b->y, b->u, NULL};
  const double none[BENCH_SIZE] = {0};
  yoke__ledger_account(b->ledger, b->slot, &view);
  b->t = (double)++b->k * b->slot;
  return yoke__ledger_observe(b->ledger, b->t, b->slot, &view, none);
}

static inline double bench_value(const bench* b, size_t bond, yoke_ledger_value value) {
  return yoke__ledger_values(b->ledger)[bond * YOKE_LEDGER_N_VALUES + (size_t)value];
}

static inline yoke_ledger_result bench_result(const bench* b, size_t bond) {
  yoke_ledger_result result;
  yoke__ledger_result(b->ledger, bond, &result);
  return result;
}

static inline void bench_end(bench* b) {
  yoke__arena_free(&b->arena);
  *b = (bench){0};
}

static inline double bench_random(uint64_t* seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return 2 * (double)(*seed >> 11) / 9007199254740992.0 - 1;
}

#endif
