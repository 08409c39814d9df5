// Builds a system for a run. With `calls: auto` its loops say first how many calls they need in a macro step:
//
//   M = max(10, ceil(H |lambda| / 0.4)), at most 200
//
// lambda: the fastest mode of the loops at the start, an eigenvalue of
//
//   A + B (I - L D)^-1 L C        A, B, C, D: linear models of all units and laws in the loops, u = L y: connections
//
// that takes part in them: one that no eigenvalue of A is nearer to than 1 % of its modulus. Connections with a delay are cut.
//
// FMUs whose calls are expensive get fewer than 10, as far as the loops allow (system_cost.c).
//
// Circuits and model-exchange FMUs fit their own steps to their calls, so M must be known before the units are made. The system
// is built and initialised once with 10 calls, asked for its models and closed: the scout. Then it is built with M. Whatever goes
// wrong with the scout but a shortage of memory means M = 10 and no message: the system itself reports it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_call.h"
#include "base/base_check.h"
#include "base/base_os.h"
#include "base/base_status.h"
#include "linalg/linalg_dense.h"
#include "master/master.h"

// |lambda| times the length of a call. Of random loops at 10 times the limit of held signals 0.1 % are then lost although holding
// keeps them; with 10 calls 4 %.
#define MOST_PHASE 0.4
#define MOST_CALLS 200
#define MOST_SIZE  300   // states, and inputs: dense matrices
#define SAME       0.01  // relative difference of eigenvalues

// ---- which loops count

typedef struct scout {
  yoke_system* system;
  yoke_arena arena;
  bool* is_counted;     // per loop: one of its units leaves its calls to us
  bool* counts;         // per unit: it is in such a loop
  size_t *x, *u;        // per unit that counts: where its states and inputs begin
  yoke_linear* models;  // per unit
  size_t n_x, n_u;
  int64_t grain;  // calls are a multiple of it
  int64_t* own;   // calls per macro step of units in the loops whose step the file gives
  size_t n_own;
  size_t unit;  // the one that is asked for its model
  yoke_status status;
} scout;

static bool chooses_calls(const yoke_system_unit* unit) {
  return unit->is_paced && unit->n_calls > 1;
}

static yoke_status allocate(scout* s) {
  const size_t n = s->system->n_units;
  s->counts = yoke__arena_array(&s->arena, n, sizeof *s->counts);
  s->x = yoke__arena_array(&s->arena, n, sizeof *s->x);
  s->u = yoke__arena_array(&s->arena, n, sizeof *s->u);
  s->models = yoke__arena_array(&s->arena, n, sizeof *s->models);
  s->is_counted = yoke__arena_array(&s->arena, s->system->n_unit_loops + 1, sizeof *s->is_counted);
  s->own = yoke__arena_array(&s->arena, n + 1, sizeof *s->own);
  YOKE_TRY_MEMORY(s->counts && s->x && s->u && s->models && s->is_counted && s->own);
  return YOKE_OK;
}

// Even, so that a companion can halve them. A unit with a fixed step of its own is called as often as whole numbers of that
// step allow, in a divisor of all calls (yoke__system_limit_calls): tens keep those that it has with 10.
static void note_steps(scout* s, const yoke_system_unit* unit) {
  const int64_t macro = s->system->macro, period = unit->period;
  if (unit->meets_at_steps && period < macro && macro % period == 0) {
    s->own[s->n_own++] = macro / period;
  } else if ((unit->unit.info->flags & YOKE_UNIT_FIXED_STEP) != 0) {
    s->grain = 10;
  }
}

// False: there is nothing to find, or it cannot be found. A loop with a unit that gives no model is left out.
static bool find_loops(scout* s) {
  const yoke_system* system = s->system;
  const size_t n = system->n_units;
  bool is_any = false;
  for (size_t i = 0; i < n; i++) {
    const size_t loop = system->unit_loops[i];
    if (loop != YOKE_NOT_FOUND && chooses_calls(&system->units[i])) {
      s->is_counted[loop] = true;
    }
  }
  for (size_t i = 0; i < n; i++) {
    const size_t loop = system->unit_loops[i];
    if (loop != YOKE_NOT_FOUND && system->units[i].unit.ops->linearise == NULL) {
      s->is_counted[loop] = false;
    }
  }
  for (size_t i = 0; i < n; i++) {
    const yoke_unit* unit = &system->units[i].unit;
    const size_t loop = system->unit_loops[i];
    // a machine is started once only
    if ((unit->info->flags & YOKE_UNIT_PHYSICAL) != 0) {
      return false;
    }
    if (loop == YOKE_NOT_FOUND || !s->is_counted[loop]) {
      continue;
    }
    s->counts[i] = is_any = true;
    s->u[i] = s->n_u;
    s->n_u += unit->n_u;
    note_steps(s, &system->units[i]);
  }
  return is_any && s->n_u <= MOST_SIZE;
}

// ---- models

// In the thread of the unit: its sizes, then its matrices.
static void ask_unit(void* context, int thread) {
  scout* s = context;
  const yoke_system_unit* unit = &s->system->units[s->unit];
  if (unit->thread == thread) {
    const yoke_call_scope scope =
        yoke__call_begin_at(unit->name, "linearisation", s->system->t_start);
    s->status = unit->unit.ops->linearise(unit->unit.self, &s->models[s->unit]);
    yoke__call_end(&scope);
  }
}

static yoke_status ask(scout* s, size_t unit) {
  s->unit = unit;
  yoke__pool_run(s->system->pool, ask_unit, s);
  return s->status;
}

static double* numbers(scout* s, size_t n) {
  return yoke__arena_array(&s->arena, n + 1, sizeof(double));
}

static yoke_status take_model(scout* s, size_t i) {
  const yoke_unit* unit = &s->system->units[i].unit;
  yoke_linear* model = &s->models[i];
  YOKE_TRY(ask(s, i));
  const size_t n = model->n_states, m = model->n_inputs, p = model->n_outputs;
  s->x[i] = s->n_x;
  if (m != unit->n_u || p != unit->n_y || n > MOST_SIZE - s->n_x) {
    return YOKE_NO_SUPPORT;
  }
  s->n_x += n;
  model->A = numbers(s, n * n);
  model->B = numbers(s, n * m);
  model->C = numbers(s, p * n);
  model->D = numbers(s, p * m);
  YOKE_TRY_MEMORY(model->A && model->B && model->C && model->D);
  YOKE_TRY(ask(s, i));
  const bool is_good = model->n_states == n && model->n_inputs == m && model->n_outputs == p &&
                       yoke__are_finite(n * n, model->A) && yoke__are_finite(n * m, model->B) &&
                       yoke__are_finite(p * n, model->C) && yoke__are_finite(p * m, model->D);
  return is_good ? YOKE_OK : YOKE_NO_SUPPORT;
}

// ---- the closed loop

// W := I - L D (n_u x n_u), K := L C (n_u x n_x).
static void connect(const scout* s, double W[], double K[]) {
  const yoke_system* system = s->system;
  for (size_t i = 0; i < s->n_u; i++) {
    W[i * s->n_u + i] = 1;
  }
  for (size_t t = 0; t < system->n_taps; t++) {
    const yoke_tap* tap = &system->taps[t];
    const size_t from = system->links[tap->link].from_unit, to = system->links[tap->link].to_unit;
    if (tap->delay > 0 || !s->counts[from] || !s->counts[to]) {
      continue;
    }
    const yoke_linear* model = &s->models[from];
    const size_t row = s->u[to] + (tap->to - system->units[to].u);
    const size_t y = tap->from - system->units[from].y;
    for (size_t j = 0; j < model->n_inputs; j++) {
      W[row * s->n_u + s->u[from] + j] -= tap->gain * model->D[y * model->n_inputs + j];
    }
    for (size_t j = 0; j < model->n_states; j++) {
      K[row * s->n_x + s->x[from] + j] += tap->gain * model->C[y * model->n_states + j];
    }
  }
}

// K := W^-1 K; W is overwritten, column: n_u.
static yoke_status solve_inputs(const scout* s, double W[], double K[], double column[],
                                size_t pivots[]) {
  YOKE_TRY(yoke__lu_factor(s->n_u, W, pivots));
  for (size_t j = 0; j < s->n_x; j++) {
    for (size_t i = 0; i < s->n_u; i++) {
      column[i] = K[i * s->n_x + j];
    }
    yoke__lu_solve(s->n_u, W, pivots, column);
    for (size_t i = 0; i < s->n_u; i++) {
      K[i * s->n_x + j] = column[i];
    }
  }
  return YOKE_OK;
}

// A of all units, and with the loops closed; n_x x n_x each.
static void fill_states(const scout* s, const double K[], double open[], double closed[]) {
  const size_t n_x = s->n_x;
  for (size_t i = 0; i < s->system->n_units; i++) {
    const yoke_linear* model = &s->models[i];
    const size_t n = s->counts[i] ? model->n_states : 0, m = model->n_inputs, x = s->x[i];
    for (size_t r = 0; r < n; r++) {
      memcpy(open + (x + r) * n_x + x, model->A + r * n, n * sizeof *open);
      yoke__mat_mul(1, m, n_x, model->B + r * m, K + s->u[i] * n_x, closed + (x + r) * n_x);
    }
  }
  for (size_t i = 0; i < n_x * n_x; i++) {
    closed[i] += open[i];
  }
}

// The largest modulus of an eigenvalue of the closed loop that has none of the open one for itself. Real and imaginary parts,
// n each; both are overwritten.
static double find_fastest(size_t n, double closed[], double open[]) {
  for (size_t i = 0; i < n; i++) {
    size_t fastest = 0, nearest = 0;
    double most = -1, least = (double)INFINITY;
    for (size_t j = 0; j < n; j++) {
      const double modulus = hypot(closed[j], closed[n + j]);
      if (modulus > most) {
        fastest = j;
        most = modulus;
      }
    }
    for (size_t j = 0; j < n; j++) {
      const double difference = hypot(open[j] - closed[fastest], open[n + j] - closed[n + fastest]);
      if (difference < least) {
        nearest = j;
        least = difference;
      }
    }
    if (!(least <= SAME * most)) {
      return most;
    }
    open[nearest] = (double)INFINITY;
    closed[fastest] = closed[n + fastest] = 0;
  }
  return 0;
}

static yoke_status find_mode(scout* s, double* fastest) {
  for (size_t i = 0; i < s->system->n_units; i++) {
    if (s->counts[i]) {
      YOKE_TRY(take_model(s, i));
    }
  }
  const size_t n = s->n_x, m = s->n_u;
  double *W = numbers(s, m * m), *K = numbers(s, m * n), *column = numbers(s, m);
  double *open = numbers(s, n * n), *closed = numbers(s, n * n);
  double *open_values = numbers(s, 2 * n), *values = numbers(s, 2 * n);
  size_t* pivots = yoke__arena_array(&s->arena, m + 1, sizeof *pivots);
  YOKE_TRY_MEMORY(W && K && column && open && closed && open_values && values && pivots);
  *fastest = 0;
  if (n == 0) {
    return YOKE_OK;
  }
  connect(s, W, K);
  YOKE_TRY(solve_inputs(s, W, K, column, pivots));
  fill_states(s, K, open, closed);
  YOKE_TRY(yoke__eigenvalues(n, open, open_values, open_values + n));
  YOKE_TRY(yoke__eigenvalues(n, closed, values, values + n));
  *fastest = find_fastest(n, values, open_values);
  return YOKE_OK;
}

// ---- calls

// Whether units whose step the file gives share as many of their calls with the others as the loop asks for, or all of them.
static bool is_shared(const scout* s, int64_t calls, int64_t least) {
  for (size_t i = 0; i < s->n_own; i++) {
    const int64_t enough = s->own[i] < least ? s->own[i] : least;
    if (yoke__gcd(calls, s->own[i]) < enough) {
      return false;
    }
  }
  return true;
}

static yoke_scenario_pace choose_pace(const scout* s, double fastest, double step) {
  yoke_scenario_pace pace = {.fastest = fastest};
  // rounding must not make one more
  const double wanted = fmin(ceil(step * fastest / MOST_PHASE * (1 - 1e-9)), 1e15);
  pace.wanted = (int64_t)wanted;
  const int64_t least = pace.wanted < YOKE_AUTO_CALLS ? YOKE_AUTO_CALLS
                        : pace.wanted > MOST_CALLS    ? MOST_CALLS
                                                      : pace.wanted;
  pace.calls = (least + s->grain - 1) / s->grain * s->grain;
  for (int64_t calls = pace.calls; calls <= MOST_CALLS; calls += s->grain) {
    if (is_shared(s, calls, least)) {
      pace.calls = calls;
      break;
    }
  }
  return pace;
}

static yoke_status initialise_and_find(scout* s, double* fastest) {
  yoke_messages messages = {0};
  yoke_state* state = NULL;
  const uint64_t mode = yoke__os_float_mode_set();
  yoke_status status = yoke__master_create(s->system, &messages, &state);
  status = status < 0 ? status : find_mode(s, fastest);
  yoke__os_float_mode_restore(mode);
  yoke__master_destroy(s->system, &state);
  yoke__messages_free(&messages);
  return status;
}

// *is_used: the system was initialised, and has to be built again. Fails only of shortage: the result of a run must not depend
// on it.
static yoke_status scout_system(yoke_system* system, yoke_scenario_pace* pace, bool* is_used) {
  scout s = {.system = system, .grain = 2};
  double fastest = 0;
  *pace = (yoke_scenario_pace){0};
  yoke_status status = allocate(&s);
  *is_used = status >= 0 && find_loops(&s);
  if (*is_used) {
    status = initialise_and_find(&s, &fastest);
    if (status >= 0 && yoke__is_finite(fastest)) {
      *pace = choose_pace(&s, fastest, system->scenario->step.value);
    }
  }
  yoke__arena_free(&s.arena);
  return yoke__status_is_shortage(status) ? status : YOKE_OK;
}

static void warn(const yoke_scenario* scenario, yoke_messages* messages) {
  const yoke_scenario_pace* pace = &scenario->pace;
  if (pace->wanted <= MOST_CALLS) {
    return;
  }
  // two digits, rounded down
  const double most = MOST_CALLS * MOST_PHASE / pace->fastest;
  const double digit = pow(10, floor(log10(most)) - 1);
  yoke__message_add(messages, YOKE_WARNING, scenario->step.place,
                    "the fastest mode of the loops (%.3g 1/s) needs %lld calls per step, but at "
                    "most %d are made: use a step of at most %.2g s",
                    pace->fastest, (long long)pace->wanted, MOST_CALLS,
                    floor(most / digit * (1 + 1e-12)) * digit);
}

// What calls of FMUs cost, where the loops leave it to us. *is_fewer: one of them gets fewer.
static yoke_status try_calls(yoke_scenario* scenario, yoke_system* system,
                             const yoke_scenario_pace* pace, bool* is_fewer) {
  if (!scenario->has_trials || pace->calls > YOKE_AUTO_CALLS) {
    return YOKE_OK;
  }
  yoke_scenario_trial* trials =
      yoke__arena_array(&scenario->arena, scenario->n_units + 1, sizeof *trials);
  YOKE_TRY_MEMORY(trials);
  *is_fewer = yoke__system_try_calls(system, pace->wanted, trials);
  scenario->trials = trials;
  return YOKE_OK;
}

static void forget(yoke_messages* messages) {
  yoke__messages_free(messages);
  *messages = (yoke_messages){0};
}

// Builds with the calls that were found; where that gives steps or delays that do not fit together, with the next tens, then
// with ten.
static yoke_status build_paced(yoke_scenario* scenario, const yoke_registry* registry,
                               yoke_messages* messages, yoke_system** out) {
  const yoke_scenario_pace found = scenario->pace;
  yoke_status status = yoke__system_build_lent(scenario, registry, messages, out);
  for (int64_t calls = (found.calls + 9) / 10 * 10;
       status == YOKE_BAD_INPUT && found.calls > YOKE_AUTO_CALLS && calls <= MOST_CALLS &&
       calls < 2 * found.calls;
       calls += 10) {
    scenario->pace.calls = calls;
    forget(messages);
    status = yoke__system_build_lent(scenario, registry, messages, out);
  }
  if (status == YOKE_BAD_INPUT && (found.calls > YOKE_AUTO_CALLS || scenario->trials != NULL)) {
    scenario->pace = (yoke_scenario_pace){0};
    scenario->trials = NULL;
    forget(messages);
    status = yoke__system_build_lent(scenario, registry, messages, out);
    if (status >= 0 && found.wanted > YOKE_AUTO_CALLS) {
      yoke__message_add(messages, YOKE_WARNING, scenario->step.place,
                        "the fastest mode of the loops (%.3g 1/s) needs %lld calls per step, but "
                        "%d are made: no larger number fits the steps and delays of the file",
                        found.fastest, (long long)found.wanted, YOKE_AUTO_CALLS);
    }
  }
  return status;
}

static bool has_means(const yoke_scenario* scenario) {
  bool has_means = scenario->inputs == YOKE_INPUTS_MEAN;
  for (size_t i = 0; i < scenario->n_couplings; i++) {
    has_means = has_means || (scenario->couplings[i].has_inputs &&
                              scenario->couplings[i].inputs == YOKE_INPUTS_MEAN);
  }
  return has_means;
}

yoke_status yoke__master_build(yoke_scenario* scenario, const yoke_registry* registry,
                               yoke_messages* messages, yoke_system** out) {
  scenario->pace = (yoke_scenario_pace){0};
  scenario->trials = NULL;
  if (scenario->calls > 0 || !has_means(scenario) || messages->n_errors > 0 ||
      scenario->has_errors) {
    return yoke__system_build(scenario, registry, messages, out);
  }
  // a system that needs no scout is there after this
  yoke_messages list = {0};
  yoke_scenario_pace pace;
  bool is_used = false, is_fewer = false;
  yoke_status status = yoke__system_build_lent(scenario, registry, &list, out);
  if (status >= 0) {
    status = scout_system(*out, &pace, &is_used);
    status = status < 0 ? status : try_calls(scenario, *out, &pace, &is_fewer);
    if (status < 0) {
      yoke__messages_fail(&list, status, (yoke_place){scenario->path, 0, 0}, "%s",
                          yoke_status_text(status));
    }
  }
  if (status < 0) {
    yoke__system_destroy(out);
  } else if (is_used || is_fewer) {
    yoke__system_destroy(out);
    yoke__messages_free(&list);
    list = (yoke_messages){0};
    scenario->pace = pace;
    status = build_paced(scenario, registry, &list, out);
  }
  yoke__messages_merge(messages, &list);
  yoke__messages_free(&list);
  if (status < 0) {
    yoke__scenario_free(&scenario);
    return status;
  }
  (*out)->is_scenario_lent = false;
  warn(scenario, messages);
  return status;
}
