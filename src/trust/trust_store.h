// Companions that several runs of one system have in common: with another method, and at the same steps, companion B does
// not depend on the method of the run. It is run once, and its samples are kept at the points where it exchanges itself, so
// that runs with half the step find it as well.
#ifndef YOKE_TRUST_STORE_H
#define YOKE_TRUST_STORE_H

#include "trust/trust_companion.h"

typedef struct yoke_companion_store yoke_companion_store;

// NULL: out of memory. For runs of one description that differ in steps, methods and schemes only, one after the other.
yoke_companion_store* yoke__companion_store_create(void);
void yoke__companion_store_destroy(yoke_companion_store** store);
// YOKE_NO_MEMORY once something could not be kept or found for want of memory: companions are run again then, at a cost that
// was not planned.
yoke_status yoke__companion_store_status(const yoke_companion_store* store);

// Copies what is known of a way to the companion's result, at the points of the plan. False: nothing is.
bool yoke__companion_store_find(yoke_companion_store* store, const yoke_companion_plan* plan,
                                yoke_companion* companion);
// Runs the present way of a companion, as yoke__companion_run_way does, and keeps the result.
void yoke__companion_store_run(yoke_companion_store* store, const yoke_companion_plan* plan,
                               yoke_companion* companion);

#endif
