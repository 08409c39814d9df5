// The life of companions: which ones, where they run, when they are left out.
#include "trust/trust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "unit/circuit/unit_circuit.h"

#define MAX_BYTES  (256u << 20)  // of the samples of one run; above it every m-th point is kept
#define MAX_CPU_S  60.0          // that `auto` spends on companions
#define MAX_CALLS  20            // of units, as a multiple of the run's
#define WAIT_NS    100000000
#define SEEN_SHARE 0.01  // of a run that must be done before its length is predicted
#define SEEN_CPU_S 0.2

// ---- what the steps of units allow

// calls per exchange of the connection that is exchanged most often
static int64_t count_calls(const yoke_system* system, size_t unit) {
  const int64_t period = system->units[unit].period;
  int64_t n = 0;
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    if (link->to_unit == unit && link->interval > 0 && period > 0) {
      const int64_t own = link->interval / period;
      n = n == 0 || own < n ? own : n;
    }
  }
  // nothing comes in: nothing is to be shaped
  return n == 0 ? INT32_MAX : n < 1 ? 1 : n;
}

// An FMU with a fixed internal step is called in multiples of it.
static int64_t most_divisor(const yoke_system_unit* unit) {
  const yoke_unit_info* info = unit->unit.info;
  if ((info->flags & (YOKE_UNIT_PHYSICAL | YOKE_UNIT_SAMPLED)) != 0) {
    return 1;
  }
  if ((info->flags & YOKE_UNIT_FIXED_STEP) == 0 || info->solver.step <= 0) {
    return INT32_MAX;
  }
  int64_t most = 1;
  double n = unit->step / info->solver.step / 2;
  while (n >= 0.5 && fabs(n - round(n)) < 1e-6 * n) {
    most *= 2;
    n /= 2;
  }
  return most;
}

static double inner_step(const yoke_system_unit* unit) {
  yoke_unit_circuit_figures figures;
  if (yoke__unit_circuit_figures(unit->unit.ops, unit->unit.self, &figures)) {
    return figures.step;
  }
  return unit->source->solver.step;
}

void yoke__trust_units(const yoke_system* system, yoke_companion_unit units[]) {
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    units[i] = (yoke_companion_unit){.most = unit->is_law ? 1 : most_divisor(unit),
                                     .n_calls = count_calls(system, i),
                                     .calls = unit->n_calls,
                                     .solver_step = inner_step(unit)};
  }
}

static yoke_status know_units(yoke_trust* trust) {
  const yoke_system* system = trust->system;
  const size_t n = system->n_units;
  yoke_companion_unit* units = yoke__arena_array(&trust->arena, n + 1, sizeof *units);
  yoke_companion_unit* strict = yoke__arena_array(&trust->arena, n + 1, sizeof *strict);
  YOKE_TRY(yoke__arena_status(&trust->arena));
  yoke__trust_units(system, units);
  for (size_t i = 0; i < n; i++) {
    strict[i] = units[i];
    if ((system->units[i].unit.info->flags & YOKE_UNIT_FIXED_STEP) != 0) {
      strict[i].most = 1;
    }
  }
  trust->plan.units = units;
  trust->plan.strict = strict;
  return YOKE_OK;
}

// All connections, each with the interval and the choice between means and samples that the run has made.
static yoke_status list_connections(yoke_trust* trust) {
  const yoke_system* system = trust->system;
  yoke_scenario_connection* all =
      yoke__arena_array(&trust->arena, system->n_links + 1, sizeof *all);
  YOKE_TRY(yoke__arena_status(&trust->arena));
  for (size_t i = 0; i < system->n_links; i++) {
    all[i] = *system->links[i].source;
    all[i].average =
        system->links[i].flow == YOKE_FLOW_AVERAGED ? YOKE_AVERAGE_YES : YOKE_AVERAGE_NO;
    if (!all[i].exchange.is_given && system->links[i].interval < system->macro) {
      all[i].exchange_parts = system->macro / system->links[i].interval;
    }
  }
  trust->plan.connections = all;
  return YOKE_OK;
}

static bool can_halve(const yoke_system* system, const yoke_companion_unit units[]) {
  for (size_t i = 0; i < system->n_units; i++) {
    if (!system->units[i].is_law && units[i].most > 1) {
      return true;
    }
  }
  return false;
}

static bool is_fixed_anywhere(const yoke_companion_plan* plan) {
  for (size_t i = 0; i < plan->system->n_units; i++) {
    if (plan->units[i].most != plan->strict[i].most) {
      return true;
    }
  }
  return false;
}

static bool is_loaded(const yoke_registry* registry, const char* name) {
  for (size_t i = 0; i < registry->n_libraries; i++) {
    const yoke_library_table* table = &registry->libraries[i]->table;
    for (size_t k = 0; k < table->n_units; k++) {
      if (strcmp(table->units[k]->name, name) == 0) {
        return true;
      }
    }
  }
  return false;
}

// A model beyond the built-in ones: of a library that was loaded, or of the program itself.
static bool is_registered(const yoke_system* system, size_t i, bool from_library) {
  const yoke_system_unit* unit = &system->units[i];
  return system->registry != NULL && unit->source->kind == YOKE_KIND_MODEL &&
         yoke__models_find(NULL, unit->source->type) == NULL &&
         is_loaded(system->registry, unit->source->type) == from_library;
}

// Code that is not ours runs apart: it may crash, write files, or allow one instance per process.
static bool has_foreign(const yoke_system* system) {
  bool is_found = false;
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_unit_kind kind = system->units[i].source->kind;
    is_found =
        is_found ||
        ((kind == YOKE_KIND_FMU || kind == YOKE_KIND_LIBRARY || is_registered(system, i, true)) &&
         !system->units[i].source->isolation.is_given);
  }
  return is_found;
}

// Models that the program has registered itself cannot run apart: their functions belong to this process.
static bool has_own(const yoke_system* system) {
  bool is_found = false;
  for (size_t i = 0; i < system->n_units; i++) {
    is_found = is_found || is_registered(system, i, false);
  }
  return is_found;
}

// What forbids companions here; NULL: nothing does.
static const char* find_obstacle(const yoke_system* system, yoke_trust_mode mode) {
  for (size_t i = 0; i < system->n_units; i++) {
    if ((system->units[i].unit.info->flags & YOKE_UNIT_PHYSICAL) != 0) {
      return "a real machine cannot be run twice";
    }
  }
  if (has_own(system) && has_foreign(system)) {
    return "FMUs and libraries need companions in a separate process, where units of your own "
           "program are not available";
  }
  return mode == YOKE_TRUST_AUTO && has_own(system)
             ? "companions would call units of your own program again; --trust both allows it"
             : NULL;
}

// ---- ways

static bool uses_method(const yoke_system* system, const char* name) {
  for (size_t i = 1; i < system->n_methods; i++) {
    if (strcmp(system->methods[i].ops->name, name) == 0) {
      return true;
    }
  }
  return false;
}

// Keys of the methods that name files: what was learnt for another step. is_named: one is, also for a method that redesigns.
static const char** list_files(yoke_trust* trust, bool* is_named) {
  const yoke_system* system = trust->system;
  size_t n = 0, n_most = 1;
  for (size_t i = 0; i < system->n_methods; i++) {
    n_most += system->methods[i].ops->n_files;
  }
  const char** keys = yoke__arena_array(&trust->arena, n_most, sizeof *keys);
  for (size_t i = 0; keys != NULL && i < system->n_methods; i++) {
    const yoke_system_method* method = &system->methods[i];
    for (size_t f = 0; f < method->ops->n_files && method->files != NULL; f++) {
      *is_named = *is_named || method->files[f] != NULL;
      if (method->files[f] != NULL && (method->ops->flags & YOKE_COUPLING_REDESIGNS) == 0) {
        keys[n++] = method->ops->files[f].name;
      }
    }
  }
  return n == 0 ? NULL : keys;
}

static void add_way(yoke_companion* companion, const yoke_companion_way* way) {
  if (companion->n_ways < YOKE_MAX_WAYS) {
    companion->ways[companion->n_ways++] = *way;
  }
}

static void choose_a(yoke_trust* trust) {
  yoke_companion* a = &trust->companions[YOKE_COMPANION_A];
  bool is_named = false;
  const char** files = list_files(trust, &is_named);
  a->name = "A";
  add_way(a, &(yoke_companion_way){"half the steps", {.is_halved = true, .dropped = files}, false});
  if (is_fixed_anywhere(&trust->plan) && can_halve(trust->system, trust->plan.strict)) {
    add_way(a, &(yoke_companion_way){"half the steps, where units allow it",
                                     {.is_halved = true, .dropped = files},
                                     true});
  }
  if (is_named) {
    add_way(a, &(yoke_companion_way){
                   "nepce at half the steps", {.is_halved = true, .method = "nepce"}, false});
  }
}

static void choose_b(yoke_trust* trust) {
  static const char* const provided[] = {"jacobians", "provided", NULL};
  const yoke_system* system = trust->system;
  yoke_companion* b = &trust->companions[YOKE_COMPANION_B];
  const bool is_cheap = trust->mode == YOKE_TRUST_CHEAP;
  const bool is_held_seidel =
      system->scenario->scheme == YOKE_GAUSS_SEIDEL && system->n_methods == 1;
  const yoke_companion_way interpolate = {
      is_cheap ? "interpolated inputs" : "interpolated inputs at half the step",
      {.is_halved = !is_cheap, .n_calls = 4, .method = "interpolate"},
      false};
  const yoke_companion_way nepce = {
      "nepce at half the step", {.is_halved = true, .method = "nepce"}, false};
  const yoke_companion_way seidel = {
      "gauss-seidel at half the step",
      {.is_halved = true, .method = "hold", .scheme = YOKE_GAUSS_SEIDEL},
      false};
  const yoke_companion_way mpsm = {"mpsm with the units' own linear models at half the step",
                                   {.is_halved = true, .method = "mpsm", .settings = provided},
                                   false};
  // interpolated inputs are of first order with feedthrough: their error would stand for that of a run of higher order
  const yoke_companion_way cubic = {
      is_cheap ? "means of cubics" : "means of cubics at half the step",
      {.is_halved = !is_cheap, .n_calls = 4, .method = "hold", .order = 3},
      false};
  const bool is_interpolated = uses_method(system, "interpolate");
  b->name = "B";
  if (uses_method(system, "auto")) {
    add_way(b, &cubic);
  }
  add_way(b, is_interpolated ? &nepce : &interpolate);
  if (!is_held_seidel) {
    add_way(b, &seidel);
  }
  if (!is_interpolated && !uses_method(system, "nepce")) {
    add_way(b, &nepce);
  }
  if (!uses_method(system, "mpsm")) {
    add_way(b, &mpsm);
  }
}

// ---- begin

static void run_companions(yoke_trust* trust) {
  for (;;) {
    const size_t i = atomic_fetch_add(&trust->next, 1);
    if (i >= trust->n_companions) {
      return;
    }
    yoke__companion_run(&trust->plan, &trust->companions[trust->order[i]]);
    atomic_fetch_add(&trust->n_ended, 1);
    yoke__os_futex_wake(&trust->n_ended);
  }
}

static void work(void* argument) {
  yoke__os_lower_priority(YOKE_COMPANION_PRIORITY);
  run_companions(argument);
}

// Up to n of them; one that has nothing left to do ends at once.
static void start_workers(yoke_trust* trust, int n) {
  const bool is_first = !trust->is_started && trust->plan.store == NULL;
  trust->is_started = true;
  for (size_t i = 0; is_first && i < trust->n_companions; i++) {
    yoke__companion_prepare(&trust->plan, &trust->companions[trust->order[i]]);
  }
  // nobody else is busy while a process is copied that has no server to do it
  n = trust->plan.store != NULL && trust->plan.is_apart && n > 1 ? 1 : n;
  for (int i = 0; i < n && i < (int)trust->n_companions; i++) {
    if (trust->workers[i] == NULL && yoke__os_thread_start(work, trust, &trust->workers[i]) < 0) {
      return;
    }
  }
}

static void join_workers(yoke_trust* trust) {
  for (size_t i = 0; i < YOKE_N_COMPANIONS; i++) {
    yoke__os_thread_join(&trust->workers[i]);
    yoke__fork_server_stop(&trust->companions[i].server);
  }
}

// What a mode runs; A first, since B alone is worth less.
static void choose_companions(yoke_trust* trust) {
  const bool has_a = can_halve(trust->system, trust->plan.units);
  if (trust->mode == YOKE_TRUST_NONE || trust->plan.n == 0) {
    return;
  }
  if (has_a) {
    choose_a(trust);
    trust->order[trust->n_companions++] = YOKE_COMPANION_A;
  }
  if (trust->mode != YOKE_TRUST_HALF) {
    choose_b(trust);
    trust->order[trust->n_companions++] = YOKE_COMPANION_B;
  }
}

static yoke_status prepare(yoke_trust* trust) {
  const yoke_system* system = trust->system;
  trust->plan = (yoke_companion_plan){.system = system,
                                      .n = system->n_judged,
                                      .is_apart = has_foreign(system),
                                      .n_calls = yoke__companion_calls(system)};
  YOKE_TRY(know_units(trust));
  YOKE_TRY(list_connections(trust));
  choose_companions(trust);
  if (trust->n_companions == 0) {
    return YOKE_OK;
  }
  YOKE_TRY(yoke__master_keep(system, trust->state, NULL, 0, 1, MAX_BYTES));
  trust->plan.thin = trust->state->watch.trace->thin;
  trust->plan.n_rows = trust->state->watch.trace->n_room;
  for (size_t i = 0; i < trust->n_companions; i++) {
    YOKE_TRY(yoke__companion_create(&trust->plan, &trust->companions[trust->order[i]]));
  }
  return YOKE_OK;
}

static yoke_status begin(const yoke_system* system, yoke_state* state, yoke_trust_mode mode,
                         bool is_alone, yoke_companion_store* store, yoke_trust** out) {
  *out = NULL;
  yoke_trust* trust = calloc(1, sizeof *trust);
  YOKE_TRY_MEMORY(trust);
  trust->system = system;
  trust->state = state;
  trust->is_alone = is_alone || has_own(system);
  const char* obstacle = mode == YOKE_TRUST_NONE ? NULL : find_obstacle(system, mode);
  trust->mode = obstacle == NULL ? mode : YOKE_TRUST_NONE;
  snprintf(trust->none, sizeof trust->none, "%s", obstacle == NULL ? "" : obstacle);
  const yoke_status status = prepare(trust);
  if (status < 0) {
    yoke__trust_destroy(&trust);
    return status;
  }
  trust->plan.store = store;
  *out = trust;
  return YOKE_OK;
}

// Where nothing else can tell the error. Without memory for it there is none.
static void begin_online(yoke_trust* trust) {
  if (trust->n_companions == 0 && trust->plan.n > 0 && trust->state->n_slots == 0) {
    (void)yoke__trust_online_begin(trust->system, trust->state, &trust->online);
  }
  const yoke_trace* trace = trust->state->watch.trace;
  if (trust->online != NULL && trace != NULL) {
    trust->plan.thin = trace->thin;
    trust->plan.n_rows = trace->n_room;
  }
}

yoke_status yoke__trust_begin(const yoke_system* system, yoke_state* state, yoke_trust_mode mode,
                              yoke_trust** out) {
  YOKE_TRY(begin(system, state, mode, false, NULL, out));
  begin_online(*out);
  // the run keeps its processors; with a variable step the points in time are known only at its end
  const int n_free = yoke__os_n_processors() - system->n_threads;
  if (!system->is_adaptive && !(*out)->is_alone && n_free > 0) {
    start_workers(*out, n_free);
  }
  return YOKE_OK;
}

yoke_status yoke__trust_begin_alone(const yoke_system* system, yoke_state* state,
                                    yoke_trust_mode mode, yoke_trust** out) {
  return begin(system, state, mode, true, NULL, out);
}

yoke_status yoke__trust_begin_stored(const yoke_system* system, yoke_state* state,
                                     yoke_trust_mode mode, yoke_companion_store* store,
                                     yoke_trust** out) {
  return begin(system, state, mode, false, store, out);
}

// ---- while it runs

static double foretold_cost(const yoke_trust* trust, size_t i, double run_s) {
  const yoke_companion* c = &trust->companions[i];
  return c->result == NULL || trust->plan.n_calls == 0
             ? 0
             : run_s * yoke__companion_cost(&trust->plan, &c->ways[0]) /
                   (double)trust->plan.n_calls;
}

static void leave_out(yoke_trust* trust, size_t i, double cost_s) {
  yoke_companion* c = &trust->companions[i];
  if (c->result == NULL || c->is_left_out) {
    return;
  }
  c->is_left_out = true;
  atomic_store(&c->result->is_cancelled, true);
  snprintf(c->why, sizeof c->why, "left out: it would take about %.2g s", cost_s);
}

void yoke__trust_watch(yoke_trust* trust, double share, double cpu_s) {
  if (trust->mode != YOKE_TRUST_AUTO || share < SEEN_SHARE || cpu_s < SEEN_CPU_S) {
    return;
  }
  const double run_s = cpu_s / share;
  const double a = foretold_cost(trust, YOKE_COMPANION_A, run_s);
  const double b = foretold_cost(trust, YOKE_COMPANION_B, run_s);
  if (a + b > MAX_CPU_S) {
    leave_out(trust, YOKE_COMPANION_B, b);
  }
  if (a > MAX_CPU_S) {
    leave_out(trust, YOKE_COMPANION_A, a);
  }
}

void yoke__trust_cancel(yoke_trust* trust) {
  for (size_t i = 0; i < trust->n_companions; i++) {
    atomic_store(&trust->companions[trust->order[i]].result->is_cancelled, true);
  }
}

void yoke__trust_give_up(yoke_trust* trust, const char* why) {
  yoke__trust_cancel(trust);
  snprintf(trust->none, sizeof trust->none, "%s", why);
}

// ---- the end

// Waits until all companions that were started have ended. False: nobody wants to wait any longer.
static bool wait_for_all(yoke_trust* trust, bool (*goes_on)(void* to), void* to) {
  for (;;) {
    const uint32_t n = atomic_load(&trust->n_ended);
    if (n >= trust->n_companions) {
      return true;
    }
    if (goes_on != NULL && !goes_on(to)) {
      return false;
    }
    yoke__os_futex_wait(&trust->n_ended, n, WAIT_NS);
  }
}

// The alarm of a companion at the points of the run.
static bool has_grown(const yoke_companion_plan* plan, const double rows[], int64_t n_rows) {
  yoke_arena arena = {0};
  yoke_growth* growth = NULL;
  bool is_any = false;
  if (n_rows > 0 && yoke__growth_create(&arena, plan->n, n_rows - 1, &growth) >= 0) {
    yoke__growth_start(growth, rows);
    for (int64_t k = 1; k < n_rows; k++) {
      yoke__growth_observe(growth, rows + (size_t)k * plan->n);
    }
    for (size_t i = 0; i < plan->n && !is_any; i++) {
      yoke_growth_alarm alarm;
      yoke__growth_result(growth, i, &alarm);
      is_any = alarm.is_latched;
    }
  }
  yoke__arena_free(&arena);
  return is_any;
}

static void judge_companion(yoke_trust* trust, yoke_companion* c) {
  const yoke_companion_result* result = c->result;
  c->is_usable = false;
  if (c->is_left_out) {
    return;
  }
  if (trust->none[0] != '\0') {
    snprintf(c->why, sizeof c->why, "%s", trust->none);
    return;
  }
  if (result->status != YOKE_COMPANION_DONE || result->n_rows < trust->n_rows) {
    snprintf(c->why, sizeof c->why, "%s%s%.290s", yoke__companion_status_names[result->status],
             result->why[0] == '\0' ? "" : ": ", result->why);
  } else if (!trust->has_grown && has_grown(&trust->plan, result->values, trust->n_rows)) {
    c->is_grown = true;
    snprintf(c->why, sizeof c->why, "it diverges, but the run does not");
  } else {
    c->is_usable = true;
    c->why[0] = '\0';
  }
}

// Runs companion B in its next way, where the last one diverged.
static bool try_next_way(yoke_trust* trust, bool (*goes_on)(void* to), void* to) {
  yoke_companion* b = &trust->companions[YOKE_COMPANION_B];
  if (b->result == NULL || !b->is_grown || b->way + 1 >= b->n_ways) {
    return false;
  }
  b->way++;
  b->is_grown = false;
  join_workers(trust);
  trust->n_companions = 1;
  trust->order[0] = YOKE_COMPANION_B;
  atomic_store(&trust->next, 0);
  atomic_store(&trust->n_ended, 0);
  start_workers(trust, 1);
  if (trust->workers[0] == NULL) {
    run_companions(trust);
  }
  return wait_for_all(trust, goes_on, to);
}

static void limit_calls(yoke_trust* trust) {
  const yoke_iteration_info* it = &trust->state->iteration;
  const double each = it->n_steps > 0 ? (double)it->n_iterations / (double)it->n_steps : 1;
  for (size_t i = 0; i < trust->n_companions; i++) {
    atomic_store(&trust->companions[trust->order[i]].result->most_calls,
                 (int64_t)(MAX_CALLS * each * (double)trust->plan.n_calls));
  }
}

// What `auto` left out, and the command that adds it.
static void describe_left_out(yoke_trust* trust) {
  const bool is_a = trust->companions[YOKE_COMPANION_A].is_left_out;
  const bool is_b = trust->companions[YOKE_COMPANION_B].is_left_out;
  if (is_a || is_b) {
    snprintf(trust->left_out, sizeof trust->left_out,
             "%s left out, since companions may take %.0f s of computing time: --trust both adds "
             "%s",
             is_a && is_b ? "both companions were" : "the companion with another method was",
             MAX_CPU_S, is_a && is_b ? "them" : "it");
  }
}

// What the run has left.
static void collect_samples(yoke_trust* trust) {
  const yoke_trace* trace = trust->state->watch.trace;
  trust->n_rows = trace == NULL ? 0 : trace->n_kept;
  trust->samples = trace == NULL ? NULL : trace->values;
  for (size_t i = 0; i < trust->system->n_judged; i++) {
    yoke_signal_growth growth;
    yoke__master_growth(trust->system, trust->state, i, &growth);
    trust->has_grown = trust->has_grown || growth.alarm.is_latched;
  }
}

// ---- several runs of one description

// The first way of companion B that the store knows and that is usable. False: the next one would have to be run.
static bool find_usable(yoke_trust* trust, yoke_companion* b) {
  for (b->way = 0; b->way < b->n_ways; b->way++) {
    if (!yoke__companion_store_find(trust->plan.store, &trust->plan, b)) {
      return false;
    }
    judge_companion(trust, b);
    if (b->is_usable) {
      return true;
    }
  }
  return false;
}

yoke_status yoke__trust_bound(yoke_trust* trust) {
  yoke_companion* b = &trust->companions[YOKE_COMPANION_B];
  if (trust->plan.store == NULL || b->result == NULL ||
      trust->companions[YOKE_COMPANION_A].result == NULL) {
    return YOKE_NO_SUPPORT;
  }
  collect_samples(trust);
  yoke_status status = YOKE_NO_SUPPORT;
  if (find_usable(trust, b)) {
    trust->is_bound = true;
    status = yoke__trust_judge(trust);
    trust->is_bound = trust->is_judged = false;
  }
  b->way = 0;
  b->is_usable = b->is_grown = false;
  b->why[0] = '\0';
  return status;
}

double yoke__trust_cost(const yoke_trust* trust, size_t companion) {
  yoke_companion c = trust->companions[companion];
  for (c.way = 0; c.result != NULL && c.way < c.n_ways; c.way++) {
    if (trust->plan.store == NULL || c.ways[c.way].recipe.method == NULL ||
        !yoke__companion_store_find(trust->plan.store, &trust->plan, &c)) {
      return yoke__companion_cost(&trust->plan, &c.ways[c.way]);
    }
    if (c.result->status == YOKE_COMPANION_DONE) {
      return 0;
    }
  }
  return 0;
}

yoke_status yoke__trust_shortage(const yoke_trust* trust) {
  for (size_t i = 0; i < YOKE_N_COMPANIONS; i++) {
    const yoke_companion_result* result = trust->companions[i].result;
    if (result != NULL && result->shortage < 0) {
      return result->shortage;
    }
  }
  return YOKE_OK;
}

yoke_status yoke__trust_finish(yoke_trust* trust, yoke_status status, double cpu_s,
                               bool (*goes_on)(void* to), void* to) {
  if (trust->online != NULL && status >= 0) {
    YOKE_TRY(yoke__trust_online_finish(trust->online, goes_on, to));
  }
  collect_samples(trust);
  const yoke_trace* trace = trust->state->watch.trace;
  if (status < 0) {
    yoke__trust_cancel(trust);
    join_workers(trust);
    return yoke__trust_judge(trust);
  }
  limit_calls(trust);
  yoke__trust_watch(trust, 1, cpu_s);
  if (!trust->is_started && trace != NULL) {
    trust->plan.times = trace->times;
    trust->plan.n_rows = trace->n_kept;
  }
  // the processors of the run are free now
  start_workers(trust, trust->is_alone ? 1 : yoke__os_n_processors());
  if (trust->workers[0] == NULL) {
    run_companions(trust);  // no thread to be had
  }
  bool is_waiting = wait_for_all(trust, goes_on, to);
  do {
    for (size_t i = 0; is_waiting && i < YOKE_N_COMPANIONS; i++) {
      if (trust->companions[i].result != NULL) {
        judge_companion(trust, &trust->companions[i]);
      }
    }
  } while (is_waiting && try_next_way(trust, goes_on, to));
  if (!is_waiting || (goes_on != NULL && !goes_on(to))) {
    yoke__trust_cancel(trust);
    join_workers(trust);
    return YOKE_INTERRUPTED;
  }
  join_workers(trust);
  describe_left_out(trust);
  return yoke__trust_judge(trust);
}

void yoke__trust_destroy(yoke_trust** handle) {
  yoke_trust* trust = *handle;
  if (trust == NULL) {
    return;
  }
  for (size_t i = 0; i < YOKE_N_COMPANIONS; i++) {
    if (trust->companions[i].result != NULL) {
      atomic_store(&trust->companions[i].result->is_cancelled, true);
    }
  }
  join_workers(trust);
  yoke__trust_online_destroy(&trust->online);
  for (size_t i = 0; i < YOKE_N_COMPANIONS; i++) {
    yoke__companion_destroy(&trust->companions[i]);
  }
  yoke__arena_free(&trust->arena);
  free(trust);
  *handle = NULL;
}
