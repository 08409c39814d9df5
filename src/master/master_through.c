// Direct feedthrough in the loop: D of each unit, found once, and outputs brought up to date at every exchange
// (system/system_through.c).
//
// D comes from the file, else from the unit's linear model or its directional derivatives at the start, else from a probe: one
// input after the other is moved both ways, and the outputs are read. A unit with `refresh` is probed once it runs. One without
// can be probed while it is initialised only, where outputs may follow start values that depend on inputs (a steady state);
// derivatives replace what such a probe has shown.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "linalg/linalg_dense.h"
#include "master/master.h"

#define LEAST_PIVOT 1e-10    // of I - D L: below, the chain has no solution worth the name
#define NUDGE       0x1p-10  // of an input or of 1, if that is more: large against rounding
#define BENT        1e-3     // between the slopes on both sides: more is no number to count on
#define CROOKED     1e-6     // between slopes of a law at two points: more is not linear

yoke_status yoke__master_layout_through(const yoke_system* system, yoke_state* state) {
  if (system->n_throughs == 0) {
    return YOKE_OK;
  }
  // behind D: outputs of a unit that is asked for it, as they are and with an input moved both ways
  const size_t n = system->n_through_terms + 3 * system->n_y + 1;
  state->D = yoke__arena_array(&state->arena, n, sizeof *state->D);
  state->known = yoke__arena_array(&state->arena, system->n_through_terms, sizeof *state->known);
  state->ahead = yoke__arena_array(&state->arena, system->n_throughs, sizeof *state->ahead);
  state->closed =
      yoke__arena_array(&state->arena, system->n_loop_numbers + 1, sizeof *state->closed);
  state->closed_pivots = yoke__arena_array(&state->arena, system->n_throughs, sizeof(size_t));
  state->is_closed_singular =
      yoke__arena_array(&state->arena, system->n_through_loops + 1, sizeof(bool));
  state->hot_terms =
      yoke__arena_array(&state->arena, system->n_through_terms, sizeof *state->hot_terms);
  YOKE_TRY_MEMORY(state->D && state->known && state->ahead && state->closed &&
                  state->closed_pivots && state->is_closed_singular && state->hot_terms);
  for (size_t k = 0; k < system->n_throughs; k++) {
    const yoke_system_through* t = &system->throughs[k];
    const bool is_following = system->units[t->unit].derivative_order > 0;
    if (is_following && state->u_followed == NULL) {
      state->u_followed = yoke__arena_array(&state->arena, system->n_u, sizeof(double));
      YOKE_TRY_MEMORY(state->u_followed);
    }
    for (size_t i = t->first; i < t->first + t->n; i++) {
      const yoke_tap* tap = &system->taps[system->through_terms[i].tap];
      state->hot_terms[i] = (yoke_hot_term){state->D + i,
                                            state->y + tap->from,
                                            (is_following ? state->u_followed : state->u) + tap->to,
                                            tap->gain,
                                            tap->offset,
                                            tap->gain != 1 || tap->offset != 0};
    }
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// D of one unit

// One unit being asked.
typedef struct probe {
  const yoke_system* system;
  yoke_state* state;
  const yoke_system_unit* unit;
  size_t index;
  double t;
  double* y[3];  // its outputs as they are, and with an input moved up and down
} probe;

// A number of D that belongs to the unit.
typedef struct place {
  size_t term;
  size_t y, u;  // local
} place;

// The next number of D of a unit whose value the file does not give; start with *at = *through = 0. False: no more.
static bool next_place(const probe* p, size_t* through, size_t* at, place* out) {
  const yoke_system* system = p->system;
  for (; *through < system->n_throughs; ++*through, *at = 0) {
    const yoke_system_through* t = &system->throughs[*through];
    while (t->unit == p->index && *at < t->n) {
      const size_t term = t->first + (*at)++;
      if (isnan(system->through_terms[term].value)) {
        *out = (place){term, t->y - p->unit->y, system->through_terms[term].u - p->unit->u};
        return true;
      }
    }
  }
  return false;
}

static void set_D(const probe* p, size_t term, double D, yoke_through_how how) {
  const bool is_known = how < YOKE_THROUGH_NOT_SAID;
  p->state->D[term] = is_known ? D : 0;
  p->state->known[term] = (yoke_through){!is_known ? YOKE_THROUGH_UNKNOWN
                                         : D == 0  ? YOKE_THROUGH_ZERO
                                                   : YOKE_THROUGH_KNOWN,
                                         how};
}

// Its outputs with its inputs in state->u.
static yoke_status evaluate(const probe* p, double t, double y[]) {
  const yoke_unit* unit = &p->unit->unit;
  YOKE_TRY(yoke__unit_set_inputs(unit, p->state->u + p->unit->u));
  if (unit->ops->refresh != NULL) {
    YOKE_TRY(unit->ops->refresh(unit->self, t));
  }
  return yoke__unit_get_outputs(unit, y);
}

// The outputs with one input moved, and by how much. False: it refuses that.
static bool is_moved(const probe* p, size_t u, double share, double* moved, double y[]) {
  double* input = &p->state->u[p->unit->u + u];
  const double start = *input;
  *input = start + share * fmax(fabs(start), 1);
  *moved = *input - start;
  const yoke_status status = evaluate(p, p->t, y);
  *input = start;
  return status >= 0;
}

// One number of D from both sides, so far away that odd laws show as well. NaN: the unit bends there, or jumps.
static double slope_of(double before, double up, double moved_up, double down, double moved_down) {
  const double a = (up - before) / moved_up, b = (down - before) / moved_down;
  return fabs(a - b) <= BENT * fmax(fabs(a), fabs(b)) ? (a + b) / 2 : (double)NAN;
}

// Which inputs the numbers of D of a unit belong to.
static void mark_inputs(const probe* p, bool is_asked[]) {
  place at;
  for (size_t through = 0, term = 0; next_place(p, &through, &term, &at);) {
    is_asked[at.u] = true;
  }
}

// The column of D that belongs to one input. is_check: D is there, and only what cannot be counted on is noted.
static void probe_column(const probe* p, size_t u, bool is_check) {
  double up = 0, down = 0;
  const bool is_known =
      is_moved(p, u, NUDGE, &up, p->y[1]) && is_moved(p, u, -2 * NUDGE, &down, p->y[2]);
  const bool can_refresh = yoke__unit_can_refresh(&p->unit->unit);
  place at;
  for (size_t through = 0, term = 0; next_place(p, &through, &term, &at);) {
    if (at.u != u) {
      continue;
    }
    const double D = is_known ? slope_of(p->y[0][at.y], p->y[1][at.y], up, p->y[2][at.y], down) : 0;
    if (!is_known && !is_check) {
      set_D(p, at.term, 0, YOKE_THROUGH_REFUSED);
    } else if (!yoke__is_finite(D)) {
      set_D(p, at.term, 0, YOKE_THROUGH_BENT);
    } else if (!is_check) {
      // an output that is declared to follow the input, and does not, may be computed in steps only
      set_D(p, at.term, D, can_refresh || D != 0 ? YOKE_THROUGH_BY_PROBE : YOKE_THROUGH_STILL);
    }
  }
}

static yoke_status probe_unit(const probe* p, const bool is_asked[], bool is_check) {
  YOKE_TRY(evaluate(p, p->t, p->y[0]));
  for (size_t u = 0; u < p->unit->unit.n_u; u++) {
    if (is_asked[u]) {
      probe_column(p, u, is_check);
    }
  }
  // as it was
  return evaluate(p, p->t, p->y[0]);
}

// ---- derivatives

static bool linearise(const yoke_unit* unit, yoke_linear* model) {
  return unit->ops->linearise != NULL && unit->ops->linearise(unit->self, model) >= 0 &&
         model->n_inputs == unit->n_u && model->n_outputs == unit->n_y;
}

// The scalar variable that number `at` of u or y is; YOKE_NOT_FOUND: it is an element of an array.
static size_t scalar_at(const yoke_unit* unit, yoke_causality causality, size_t at) {
  for (size_t v = 0; v < unit->info->n_variables; v++) {
    const yoke_variable* variable = &unit->info->variables[v];
    if (variable->causality == causality && unit->dense[v] == at &&
        yoke__variable_count(variable) == 1) {
      return v;
    }
  }
  return YOKE_NOT_FOUND;
}

static bool derive(const yoke_unit* unit, const place* at, double* D) {
  const size_t y = scalar_at(unit, YOKE_OUTPUT, at->y), u = scalar_at(unit, YOKE_INPUT, at->u);
  const double one = 1;
  return y != YOKE_NOT_FOUND && u != YOKE_NOT_FOUND &&
         unit->ops->derivative(unit->self, &y, 1, &u, 1, &one, D) >= 0;
}

// D from the unit itself: whole: room for n_y x n_u. True: all of it. Only what cannot be evaluated again is asked for single
// derivatives: those of other units may be of their last step.
static bool take_derivatives(const probe* p, double whole[]) {
  const yoke_unit* unit = &p->unit->unit;
  const bool is_linear_model = linearise(unit, &(yoke_linear){.D = whole});
  const bool can_derive = unit->ops->derivative != NULL && !yoke__unit_can_refresh(unit);
  bool is_all = true;
  place at;
  for (size_t through = 0, term = 0; next_place(p, &through, &term, &at);) {
    double D = is_linear_model ? whole[at.y * unit->n_u + at.u] : 0;
    if (is_linear_model || (can_derive && derive(unit, &at, &D))) {
      set_D(p, at.term, D, yoke__is_finite(D) ? YOKE_THROUGH_BY_DERIVATIVES : YOKE_THROUGH_BENT);
    } else {
      is_all = false;
      if (p->system->through_terms[at.term].is_silent && !yoke__unit_can_refresh(unit)) {
        set_D(p, at.term, 0, YOKE_THROUGH_NOT_SAID);
      }
    }
  }
  return is_all;
}

// ---- laws

// A law has no state, so it can be tried anywhere: it is linear if its D is the same at another point, and it does not follow
// time.
static yoke_status judge_law(const probe* p, const bool is_asked[], double kept[]) {
  const size_t n_u = p->unit->unit.n_u, n_y = p->unit->unit.n_y;
  double* u = p->state->u + p->unit->u;
  yoke_status status =
      evaluate(p, p->t + yoke__clock_seconds(&p->system->clock, p->system->macro), p->y[1]);
  bool is_steady = status >= 0 && memcmp(p->y[0], p->y[1], n_y * sizeof(double)) == 0;
  memcpy(kept, u, n_u * sizeof *kept);
  for (size_t i = 0; i < n_u; i++) {
    u[i] += (1 + 0.25 * (double)i) * fmax(fabs(u[i]), 1);
  }
  status = evaluate(p, p->t, p->y[0]);
  for (size_t j = 0; j < n_u && status >= 0; j++) {
    double up = 0, down = 0;
    const bool is_known = is_asked[j] && is_moved(p, j, NUDGE, &up, p->y[1]) &&
                          is_moved(p, j, -2 * NUDGE, &down, p->y[2]);
    place at;
    for (size_t through = 0, term = 0; is_known && next_place(p, &through, &term, &at);) {
      const double D = slope_of(p->y[0][at.y], p->y[1][at.y], up, p->y[2][at.y], down);
      const double was = p->state->D[at.term];
      is_steady = is_steady && (at.u != j || fabs(D - was) <= CROOKED * fmax(fabs(D), fabs(was)));
    }
    is_steady = is_steady && (is_known || !is_asked[j]);
  }
  memcpy(u, kept, n_u * sizeof *kept);
  place at;
  for (size_t through = 0, term = 0;
       (!is_steady || status < 0) && next_place(p, &through, &term, &at);) {
    set_D(p, at.term, 0, YOKE_THROUGH_NOT_LINEAR);
  }
  return evaluate(p, p->t, p->y[0]);
}

// ---- all of it

// Once the unit runs. room: n_y x n_u, then n_u
static yoke_status find_running(const probe* p, const bool is_asked[], double room[]) {
  const yoke_unit* unit = &p->unit->unit;
  const bool is_derived = take_derivatives(p, room);
  const bool is_linear = yoke__unit_is_linear(unit);
  // derivatives do not show a bend
  if (yoke__unit_can_refresh(unit) && !(is_derived && is_linear)) {
    YOKE_TRY(probe_unit(p, is_asked, is_derived));
  }
  return p->unit->is_law && !is_linear ? judge_law(p, is_asked, room) : YOKE_OK;
}

static void take_given(const probe* p) {
  for (size_t k = 0; k < p->system->n_throughs; k++) {
    const yoke_system_through* t = &p->system->throughs[k];
    for (size_t i = t->first; t->unit == p->index && i < t->first + t->n; i++) {
      if (!isnan(p->system->through_terms[i].value)) {
        set_D(p, i, p->system->through_terms[i].value, YOKE_THROUGH_BY_FILE);
      }
    }
  }
}

yoke_status yoke__master_find_through(const yoke_system* system, yoke_state* state, size_t unit,
                                      bool is_running) {
  const yoke_system_unit* su = &system->units[unit];
  double* work = state->D + system->n_through_terms;
  const probe p = {system, state,           su,
                   unit,   system->t_start, {work, work + system->n_y, work + 2 * system->n_y}};
  place first;
  size_t through = 0, term = 0;
  take_given(&p);
  if (!next_place(&p, &through, &term, &first)) {
    return YOKE_OK;
  }
  // while it is initialised a unit may answer with a steady state: who can be asked later is
  const bool can_wait = yoke__unit_can_refresh(&su->unit);
  if (can_wait && !is_running) {
    return YOKE_OK;
  }
  const size_t n_u = su->unit.n_u;
  bool* is_asked = calloc(n_u + 1, sizeof *is_asked);
  double* room = calloc(n_u * (su->unit.n_y + 1) + 1, sizeof *room);
  yoke_status status = is_asked == NULL || room == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  if (status >= 0) {
    mark_inputs(&p, is_asked);
    status = is_running ? find_running(&p, is_asked, room) : probe_unit(&p, is_asked, false);
  }
  free(is_asked);
  free(room);
  return status;
}

yoke_through yoke__master_feedthrough(const yoke_system* system, const yoke_state* state,
                                      size_t link) {
  const yoke_system_link* l = &system->links[link];
  const size_t dense = system->units[l->from_unit].unit.dense[l->from_variable];
  yoke_through all = yoke__system_feedthrough(system, link);
  bool is_first = true;
  for (size_t k = 0; k < system->n_throughs && dense != YOKE_NOT_DENSE; k++) {
    const yoke_system_through* t = &system->throughs[k];
    const size_t first = system->units[l->from_unit].y + dense + l->from_element;
    const bool is_sent = t->unit == l->from_unit && t->y - first < l->n;
    // a law or a fresh unit is evaluated again, whatever others see of it in advance
    for (size_t i = t->first; is_sent && all.how != YOKE_THROUGH_BY_EXCHANGE && i < t->first + t->n;
         i++) {
      all = is_first && all.kind != YOKE_THROUGH_UNKNOWN
                ? state->known[i]
                : yoke__through_least(state->known[i], all);
      is_first = false;
    }
  }
  return all;
}

// ---------------------------------------------------------------------------------------------------------
// closed chains: with c what is added to the outputs, c = r + D L c

// Whether what an output of a law or a fresh unit will be is not known in advance.
static bool is_unsure(const yoke_system* system, const yoke_state* state,
                      const yoke_system_through* t) {
  const yoke_system_unit* unit = &system->units[t->unit];
  bool is_unsure = t->is_partial;
  for (size_t i = t->first; i < t->first + t->n; i++) {
    is_unsure = is_unsure || state->known[i].kind == YOKE_THROUGH_UNKNOWN;
  }
  return is_unsure && (unit->is_law || unit->is_fresh);
}

// Inputs that come from there count as not moving: their numbers of D are unknown.
static void close_eyes(const yoke_system* system, yoke_state* state) {
  bool is_changed = true;
  while (is_changed) {
    is_changed = false;
    for (size_t i = 0; i < system->n_through_terms; i++) {
      const yoke_through_term* term = &system->through_terms[i];
      const bool is_lost =
          term->is_blind ||
          (term->source > 0 && is_unsure(system, state, &system->throughs[term->source - 1]));
      if (is_lost && state->known[i].kind == YOKE_THROUGH_KNOWN) {
        state->D[i] = 0;
        state->known[i] = (yoke_through){YOKE_THROUGH_UNKNOWN, YOKE_THROUGH_BEHIND_LAW};
        is_changed = true;
      }
    }
  }
}

static bool factor_loop(const yoke_system* system, yoke_state* state,
                        const yoke_through_loop* loop) {
  const size_t n = loop->n;
  double* matrix = state->closed + loop->at;
  for (size_t k = 0; k < n; k++) {
    const yoke_system_through* t = &system->throughs[loop->first + k];
    double* row = matrix + k * n;
    for (size_t j = 0; j < n; j++) {
      row[j] = j == k;
    }
    for (size_t i = t->first; i < t->first + t->n; i++) {
      const yoke_through_term* term = &system->through_terms[i];
      const size_t column = term->source - 1 - loop->first;
      if (term->source > 0 && column < n) {
        row[column] -= state->D[i] * system->taps[term->tap].gain;
      }
    }
  }
  double least = (double)INFINITY;
  const bool is_factored = yoke__lu_factor(n, matrix, state->closed_pivots + loop->first) >= 0;
  for (size_t k = 0; k < n && is_factored; k++) {
    least = fmin(least, fabs(matrix[k * n + k]));
  }
  return is_factored && least >= LEAST_PIVOT;
}

// Outputs that were to be brought up to date, and cannot be.
static void report_unknown(const yoke_system* system, const yoke_state* state,
                           yoke_messages* messages) {
  for (size_t k = 0; k < system->n_throughs; k++) {
    const yoke_system_through* t = &system->throughs[k];
    const yoke_system_unit* unit = &system->units[t->unit];
    yoke_through least = {YOKE_THROUGH_ZERO, YOKE_THROUGH_BY_FILE};
    for (size_t i = t->first; i < t->first + t->n; i++) {
      least = yoke__through_least(least, state->known[i]);
    }
    if (least.kind == YOKE_THROUGH_UNKNOWN && !unit->is_law && !unit->is_fresh) {
      char name[256] = "";
      yoke__system_number_name(unit, YOKE_OUTPUT, t->y - unit->y, name, sizeof name);
      yoke__message_add(messages, YOKE_NOTE, unit->source->place,
                        "the feedthrough of '%s' is unknown: %s; the outputs concerned are sent "
                        "without an update for new inputs",
                        name, yoke__through_how_words[least.how]);
    }
  }
}

void yoke__master_factor_through(const yoke_system* system, yoke_state* state,
                                 yoke_messages* messages) {
  if (state->u_followed != NULL) {
    memcpy(state->u_followed, state->u, system->n_u * sizeof *state->u);
  }
  close_eyes(system, state);
  report_unknown(system, state, messages);
  for (size_t i = 0; i < system->n_through_loops; i++) {
    const yoke_through_loop* loop = &system->through_loops[i];
    state->is_closed_singular[i] = loop->is_solved && !factor_loop(system, state, loop);
    if (state->is_closed_singular[i]) {
      char names[640];
      yoke__system_loop_text(system, loop, names, sizeof names);
      yoke__message_add(messages, YOKE_WARNING, (yoke_place){system->scenario->path, 0, 0},
                        "'inputs: mean': the closed chain of feedthrough through %s has no unique "
                        "solution (I - L D is singular); these outputs are sent as the last step "
                        "returned them",
                        names);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// exchange

// What a tap will bring: the oldest sample of a delay line, or an output as it will be.
static double coming(const yoke_state* state, const yoke_tap* tap, size_t source) {
  if (tap->delay > 0) {
    return state->fifo[tap->fifo + (size_t)(state->n_slots / tap->every % tap->delay)];
  }
  double value = state->y[tap->from];
  if (source > 0) {
    value += state->ahead[source - 1];
  }
  return value * tap->gain + tap->offset;
}

// What the new inputs of an output add to it, by the outputs as they stand. An input that gets nothing new now goes on
// as it is.
static double add_up(const yoke_system* system, const yoke_state* state,
                     const yoke_system_through* t) {
  double sum = 0;
  for (size_t i = t->first; i < t->first + t->n; i++) {
    const yoke_through_term* term = &system->through_terms[i];
    const yoke_tap* tap = &system->taps[term->tap];
    if (state->n_slots % tap->every == 0) {
      sum += state->D[i] * (coming(state, tap, term->source) - *state->hot_terms[i].u);
    }
  }
  return yoke__is_finite(sum) ? sum : 0;
}

// The same where everything is exchanged in every slot. Outputs that come before this one are up to date already.
static inline double add_up_plain(const yoke_state* state, const yoke_system_through* t) {
  const yoke_hot_term* end = state->hot_terms + t->first + t->n;
  double sum = 0;
  for (const yoke_hot_term* term = end - t->n; term < end; term++) {
    const double y = *term->from;
    sum += *term->D * ((term->is_scaled ? y * term->gain + term->offset : y) - *term->u);
  }
  return yoke__is_finite(sum) ? sum : 0;
}

static void solve_loop(const yoke_system* system, yoke_state* state, size_t index, bool is_plain) {
  const yoke_through_loop* loop = &system->through_loops[index];
  double* r = state->D + system->n_through_terms;  // work of the initialisation
  memset(state->ahead + loop->first, 0, loop->n * sizeof *state->ahead);
  if (!loop->is_solved || state->is_closed_singular[index]) {
    return;
  }
  for (size_t k = 0; k < loop->n; k++) {
    const yoke_system_through* t = &system->throughs[loop->first + k];
    r[k] = is_plain ? add_up_plain(state, t) : add_up(system, state, t);
  }
  yoke__lu_solve(loop->n, state->closed + loop->at, state->closed_pivots + loop->first, r);
  for (size_t k = 0; k < loop->n; k++) {
    state->ahead[loop->first + k] = yoke__is_finite(r[k]) ? r[k] : 0;
  }
}

// Before anything is sent: state->u still has what the last calls were given.
void yoke__master_look_ahead(const yoke_system* system, yoke_state* state) {
  for (size_t k = 0; k < system->n_throughs;) {
    const size_t loop = system->throughs[k].loop;
    if (loop == 0) {
      state->ahead[k] = add_up(system, state, &system->throughs[k]);
      k++;
    } else {
      solve_loop(system, state, loop - 1, false);
      k += system->through_loops[loop - 1].n;
    }
  }
}

void yoke__master_bring_up_to_date(const yoke_system* system, yoke_state* state) {
  for (size_t k = 0; k < system->n_throughs;) {
    const yoke_system_through* t = &system->throughs[k];
    if (t->loop == 0) {
      state->y[t->y] += add_up_plain(state, t);
      k++;
      continue;
    }
    solve_loop(system, state, t->loop - 1, true);
    for (size_t i = 0; i < system->through_loops[t->loop - 1].n; i++, k++) {
      state->y[system->throughs[k].y] += state->ahead[k];
    }
  }
}
