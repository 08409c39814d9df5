// One signal of method `adaptive`: learnt, predicted, on its way, interpolated. Which end does what is in couple_adaptive.c.
#ifndef YOKE_COUPLE_ADAPTIVE_SIGNAL_H
#define YOKE_COUPLE_ADAPTIVE_SIGNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "identify/identify_arx.h"

typedef struct yoke_adaptive_setup {
  yoke_arx_setup arx;
  bool is_sender;  // predicted before its way, else behind it
  bool is_line;    // moves between exchanges, else held
  bool has_displacement;
  double correction;  // kappa
  int64_t delay;      // nd, exchanges
  int64_t n_calls;    // of the receiving unit per exchange
  double interval;    // Dt [s]
} yoke_adaptive_setup;

// What the ends of an exchange interval get.
typedef struct yoke_adaptive_pair {
  double now, next;
} yoke_adaptive_pair;

// A sample that comes in.
typedef struct yoke_adaptive_sample {
  double y;
  int64_t k;  // exchange at which it was true
  bool is_known, is_jump;
} yoke_adaptive_sample;

// Of the sender: a pair on its way; of the receiver: a sample on its way.
typedef struct yoke_adaptive_slot {
  yoke_adaptive_pair pair;
  yoke_adaptive_sample sample;
} yoke_adaptive_slot;

typedef struct yoke_adaptive_counts {
  int64_t n_bridged;    // exchanges without the sample that was due
  int64_t n_ignored;    // samples older than one that had come before
  int64_t n_fallbacks;  // times the model became worse than holding
  int64_t n_compared;
  double model, held;  // sums of squared errors of the model and of holding, where compared
  double largest_D;    // [s times the signal]
} yoke_adaptive_counts;

// What changes, without pointers.
typedef struct yoke_adaptive_state {
  int64_t k;     // the exchange that was begun last
  int64_t last;  // exchange of the newest sample; -1: none
  double value;  // that sample
  yoke_adaptive_pair given;
  double weight;  // of the model against the held sample
  double D;       // delivered less true displacement
  double e_model, e_held;
  bool is_worse;
  yoke_adaptive_counts counts;
} yoke_adaptive_state;

typedef struct yoke_adaptive {
  yoke_adaptive_setup setup;
  size_t n_ring;
  // all in one block, in this order
  yoke_adaptive_state* state;
  double *u, *x;          // regressor and displacement at exchange k: [k % n_ring]
  double *foretold, *by;  // what was said about exchange k, and the sample that it was said from
  double* integral;       // delivered from exchange k on
  yoke_adaptive_slot* way;
  yoke_arx arx;
} yoke_adaptive;

size_t yoke__adaptive_size(const yoke_adaptive_setup* setup);
// block: zeroed, aligned to 64. YOKE_BAD_ARG with a message if the set-up is out of range.
yoke_status yoke__adaptive_prepare(yoke_adaptive* a, const yoke_adaptive_setup* setup, void* block,
                                   const yoke_sink* sink);

// Exchange 0: everything on its way has the first value.
void yoke__adaptive_start(yoke_adaptive* a, double y, double u, double x);
// Exchange k begins: what is due arrives. May be called again with newer u and x.
void yoke__adaptive_begin(yoke_adaptive* a, int64_t k, double u, double x);
// Its sample comes in, or that it is missing.
void yoke__adaptive_observe(yoke_adaptive* a, const yoke_adaptive_sample* sample);

// The input at the share s of the exchange interval.
static inline double yoke__adaptive_input(const yoke_adaptive* a, double s) {
  const yoke_adaptive_pair* given = &a->state->given;
  return a->setup.is_line ? given->now + s * (given->next - given->now) : given->now;
}

#endif
