// Results of companions, found by the description that they were computed from.
#include "trust/trust_store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_text.h"

#define MAX_BYTES (64u << 20)  // of samples up to which points between those of the run are kept

typedef struct entry {
  struct entry* next;
  yoke_text key;
  yoke_companion_status status;
  char why[320];
  int64_t n_calls;
  double wall_s, t;
  size_t n, n_totals;
  int64_t n_rows;
  double interval;  // between two rows [s]
  double* values;   // as in yoke_companion_result
} entry;

struct yoke_companion_store {
  entry* first;
  yoke_status status;
};

yoke_status yoke__companion_store_status(const yoke_companion_store* store) {
  return store->status;
}

yoke_companion_store* yoke__companion_store_create(void) {
  return calloc(1, sizeof(yoke_companion_store));
}

static void free_entry(entry* e) {
  yoke__text_free(&e->key);
  free(e->values);
  free(e);
}

void yoke__companion_store_destroy(yoke_companion_store** store) {
  if (*store == NULL) {
    return;
  }
  for (entry* e = (*store)->first; e != NULL;) {
    entry* next = e->next;
    free_entry(e);
    e = next;
  }
  free(*store);
  *store = NULL;
}

// ---- what a companion depends on

static void add_time(yoke_text* key, const yoke_scenario_time* time) {
  if (time->is_given) {
    yoke__text_add(key, "%llde%d", (long long)time->exact.mantissa, time->exact.exponent);
  }
  yoke__text_string(key, " ");
}

// Method and scheme, and every step of the description that it leads to. False: there is no such description.
static bool make_key(yoke_companion_store* store, const yoke_companion_plan* plan,
                     const yoke_companion_way* way, yoke_text* key) {
  const yoke_companion_recipe* recipe = &way->recipe;
  yoke_scenario* s = NULL;
  const yoke_status made =
      yoke__scenario_companion(plan->system->scenario, way->is_strict ? plan->strict : plan->units,
                               plan->connections, plan->system->n_links, recipe, &s);
  if (made < 0) {
    store->status = made == YOKE_NO_MEMORY ? made : store->status;
    return false;
  }
  yoke__text_add(key, "%s %d ", recipe->method, (int)recipe->scheme);
  for (const char* const* text = recipe->settings; text != NULL && *text != NULL; text++) {
    yoke__text_add(key, "%s ", *text);
  }
  add_time(key, &s->step);
  for (size_t i = 0; i < s->n_units; i++) {
    add_time(key, &s->units[i].step);
    yoke__text_number(key, s->units[i].solver.step);
  }
  for (size_t i = 0; i < s->n_connections; i++) {
    add_time(key, &s->connections[i].exchange);
    yoke__text_string(key, s->connections[i].average == YOKE_AVERAGE_YES ? "mean " : "");
  }
  for (size_t i = 0; recipe->scheme == YOKE_GAUSS_SEIDEL && i < s->n_order; i++) {
    yoke__text_add(key, "%s ", s->order[i].text);
  }
  yoke__scenario_free(&s);
  store->status = key->status < 0 ? key->status : store->status;
  return key->status >= 0;
}

static double row_interval(const yoke_companion_plan* plan) {
  return yoke__clock_seconds(&plan->system->clock, plan->thin * plan->system->macro);
}

// ---- finding

// Rows of an entry per row of a plan; 0: its rows do not meet those of the plan.
static int64_t rows_per_row(const entry* e, const yoke_companion_plan* plan) {
  const double ratio = row_interval(plan) / e->interval;
  const double whole = round(ratio);
  return e->n == plan->n && e->n_totals == yoke__companion_n_totals(plan->system) && whole >= 1 &&
                 fabs(ratio - whole) < 1e-9 * whole
             ? (int64_t)whole
             : 0;
}

// A companion that ended early is as good as its rows; one that is done has all of them.
static bool copy_entry(const entry* e, const yoke_companion_plan* plan, yoke_companion* companion) {
  yoke_companion_result* to = companion->result;
  const int64_t step = rows_per_row(e, plan);
  if (step == 0 ||
      (e->status == YOKE_COMPANION_DONE && (plan->n_rows - 1) * step + 1 > e->n_rows)) {
    return false;
  }
  to->status = e->status;
  to->n_calls = e->n_calls;
  to->wall_s = e->wall_s;
  to->t = e->t;
  memcpy(to->why, e->why, sizeof to->why);
  to->n_rows = 0;
  for (int64_t k = 0; k < plan->n_rows && k * step < e->n_rows; k++) {
    memcpy(to->values + (size_t)k * plan->n, e->values + (size_t)(k * step) * plan->n,
           plan->n * sizeof(double));
    to->n_rows++;
  }
  const double* totals = e->values + (size_t)e->n_rows * e->n;
  memcpy(to->values + (size_t)plan->n_rows * plan->n, totals, e->n_totals * sizeof(double));
  if (e->n_calls > atomic_load(&to->most_calls)) {
    yoke__companion_limit(to);
  }
  return true;
}

bool yoke__companion_store_find(yoke_companion_store* store, const yoke_companion_plan* plan,
                                yoke_companion* companion) {
  yoke_text key = {0};
  bool is_found = false;
  if (plan->times == NULL && make_key(store, plan, &companion->ways[companion->way], &key)) {
    for (const entry* e = store->first; e != NULL && !is_found; e = e->next) {
      is_found = strcmp(e->key.bytes, key.bytes) == 0 && copy_entry(e, plan, companion);
    }
  }
  yoke__text_free(&key);
  return is_found;
}

// ---- running

// Where a companion exchanges twice as often as the run, its samples are kept that often.
static double* make_times(const yoke_companion_plan* plan, const yoke_companion_way* way,
                          int64_t* n_between, int64_t* n_rows) {
  const size_t bytes = (size_t)plan->n_rows * plan->n * sizeof(double);
  *n_between = way->recipe.is_halved && plan->thin == 1 && bytes < MAX_BYTES ? 2 : 1;
  *n_rows = (plan->n_rows - 1) * *n_between + 1;
  double* times = calloc((size_t)*n_rows + 1, sizeof *times);
  const int64_t macro = plan->thin * plan->system->macro;
  for (int64_t k = 0; times != NULL && k < *n_rows; k++) {
    const double before = yoke__clock_time(&plan->system->clock, k / *n_between * macro);
    const double after = yoke__clock_time(&plan->system->clock, (k / *n_between + 1) * macro);
    times[k] = k % *n_between == 0 ? before : 0.5 * (before + after);
  }
  return times;
}

// n_room: rows that the result has memory for, `interval` apart.
static entry* make_entry(const yoke_companion_plan* plan, const yoke_companion_result* result,
                         int64_t n_room, double interval) {
  entry* e = calloc(1, sizeof *e);
  const size_t n_totals = yoke__companion_n_totals(plan->system);
  const size_t n_values = (size_t)result->n_rows * plan->n;
  if (e == NULL || (e->values = calloc(n_values + n_totals + 1, sizeof(double))) == NULL) {
    free(e);
    return NULL;
  }
  e->status = result->status;
  memcpy(e->why, result->why, sizeof e->why);
  e->n_calls = result->n_calls;
  e->wall_s = result->wall_s;
  e->t = result->t;
  e->n = plan->n;
  e->n_totals = n_totals;
  e->n_rows = result->n_rows;
  e->interval = interval;
  memcpy(e->values, result->values, n_values * sizeof(double));
  memcpy(e->values + n_values, result->values + (size_t)n_room * plan->n,
         n_totals * sizeof(double));
  return e;
}

// Whether another run would end the same way.
static bool is_final(yoke_companion_status status) {
  return status == YOKE_COMPANION_DONE || status == YOKE_COMPANION_REFUSED ||
         status == YOKE_COMPANION_FAILED || status == YOKE_COMPANION_DIVERGED;
}

static void keep(yoke_companion_store* store, entry* e) {
  e->next = store->first;
  store->first = e;
}

void yoke__companion_store_run(yoke_companion_store* store, const yoke_companion_plan* plan,
                               yoke_companion* companion) {
  int64_t n_between = 1, n_rows = 0;
  yoke_companion_plan fine = *plan;
  yoke_companion own = *companion;
  own.result = NULL;
  own.server = (yoke_fork_server){0};  // the companion's own knows another plan
  double* times = make_times(plan, &companion->ways[companion->way], &n_between, &n_rows);
  fine.times = times;
  fine.n_rows = n_rows;
  entry* e = NULL;
  if (times != NULL && yoke__companion_create(&fine, &own) >= 0) {
    own.cancelled_by = &companion->result->is_cancelled;
    atomic_store(&own.result->most_calls, atomic_load(&companion->result->most_calls));
    yoke__companion_run_way(&fine, &own);
    e = make_entry(plan, own.result, n_rows, row_interval(plan) / (double)n_between);
    companion->result->shortage = own.result->shortage;
  }
  store->status = e == NULL ? YOKE_NO_MEMORY : store->status;
  if (e != NULL && make_key(store, plan, &companion->ways[companion->way], &e->key) &&
      copy_entry(e, plan, companion)) {
    companion->n_calls_made += e->n_calls;
    if (is_final(e->status)) {
      keep(store, e);
      e = NULL;
    }
  } else {
    yoke__companion_run_way(plan, companion);
  }
  if (e != NULL) {
    free_entry(e);
  }
  yoke__companion_destroy(&own);
  free(times);
}
