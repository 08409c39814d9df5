// The loops of a system cut in two; see study_cut.h.
#include "study/study_cut.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_status.h"
#include "linalg/linalg_dense.h"
#include "synth/synth_causality.h"

#define N_COARSE 16   // steps of the search that are taken at once where the loops are run
#define ALIKE    1.1  // steps that differ by less are the same

static const yoke_place nowhere = {0};

typedef struct cutter {
  const yoke_linear_loops* loops;
  yoke_messages* messages;
  yoke_cut* cut;
  bool* is_cut;                // per input of the loops
  int* side_of;                // per member
  size_t *y_of, *u_of, *x_of;  // first output, input, state of a member; one more at the end
  size_t *y_unit, *u_unit;     // member of an output, an input
} cutter;

// ---- what is cut

static size_t find_input(const yoke_linear_loops* loops, size_t u) {
  for (size_t j = 0; j < loops->s; j++) {
    if (loops->inputs[j] == u) {
      return j;
    }
  }
  return YOKE_NOT_FOUND;
}

// All elements of the connection that feeds this input.
static bool cut_link(cutter* c, size_t link) {
  const yoke_system* system = c->loops->system;
  bool is_any = false;
  for (size_t t = 0; t < system->n_taps; t++) {
    const size_t j =
        system->taps[t].link == link ? find_input(c->loops, system->taps[t].to) : YOKE_NOT_FOUND;
    if (j != YOKE_NOT_FOUND) {
      c->is_cut[j] = is_any = true;
    }
  }
  return is_any;
}

// Everything between the two units of the bond.
static bool cut_bond(cutter* c, const yoke_system_bond* bond) {
  const yoke_system* system = c->loops->system;
  bool is_any = false;
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    const bool is_there = link->from_unit == bond->action_unit && link->to_unit == bond->rate_unit;
    const bool is_back = link->from_unit == bond->rate_unit && link->to_unit == bond->action_unit;
    is_any = ((is_there || is_back) && cut_link(c, i)) || is_any;
  }
  return is_any;
}

static bool is_named(const yoke_scenario_connection* connection, const char* text, size_t n) {
  char name[256], *to = name;
  snprintf(name, sizeof name, "%s.%s->%s.%s", connection->from.unit, connection->from.variable,
           connection->to.unit, connection->to.variable);
  // blanks do not count
  for (size_t i = 0; i < n; i++) {
    if (text[i] == ' ') {
      continue;
    }
    if (*to++ != text[i]) {
      return false;
    }
  }
  return *to == '\0';
}

static bool cut_named_link(cutter* c, const char* text, size_t n) {
  const yoke_system* system = c->loops->system;
  for (size_t i = 0; i < system->n_links; i++) {
    if (is_named(system->links[i].source, text, n)) {
      return cut_link(c, i);
    }
  }
  return false;
}

static yoke_status choose(cutter* c, const char* name) {
  const yoke_system* system = c->loops->system;
  if (name == NULL) {
    for (size_t j = 0; j < c->loops->s; j++) {
      c->is_cut[j] = true;
    }
    snprintf(c->cut->name, sizeof c->cut->name, "all connections");
    return YOKE_OK;
  }
  snprintf(c->cut->name, sizeof c->cut->name, "%.90s", name);
  for (size_t i = 0; i < system->n_bonds; i++) {
    if (strcmp(system->bonds[i].name, name) == 0) {
      return cut_bond(c, &system->bonds[i])
                 ? YOKE_OK
                 : yoke__error(c->messages, nowhere,
                               "bond '%s': no connection of it lies in a loop", name);
    }
  }
  for (const char* at = name; *at != '\0';) {
    const size_t n = strcspn(at, ",");
    if (!cut_named_link(c, at, n)) {
      return yoke__error(c->messages, nowhere,
                         "'%.*s': expected a bond, or connections in loops as "
                         "'unit.output->unit.input', separated by commas",
                         (int)n, at);
    }
    at += n + (at[n] == ',');
  }
  return YOKE_OK;
}

// ---- the two parts

static void number_signals(cutter* c) {
  const yoke_linear_loops* loops = c->loops;
  for (size_t k = 0; k < loops->n_members; k++) {
    const yoke_stability_unit* part = &loops->parts[k];
    c->x_of[k + 1] = c->x_of[k] + part->n_states;
    c->y_of[k + 1] = c->y_of[k] + part->n_outputs;
    c->u_of[k + 1] = c->u_of[k] + part->n_inputs;
    for (size_t i = c->y_of[k]; i < c->y_of[k + 1]; i++) {
      c->y_unit[i] = k;
    }
    for (size_t i = c->u_of[k]; i < c->u_of[k + 1]; i++) {
      c->u_unit[i] = k;
    }
  }
}

// Members that what is not cut joins to one of a side belong to it.
static void spread(cutter* c, int side) {
  const yoke_linear_loops* loops = c->loops;
  for (bool is_more = true; is_more;) {
    is_more = false;
    for (size_t j = 0; j < loops->s; j++) {
      for (size_t i = 0; i < loops->p && !c->is_cut[j]; i++) {
        const size_t a = c->u_unit[j], b = c->y_unit[i];
        if (loops->L[j * loops->p + i] != 0 && (c->side_of[a] == side) != (c->side_of[b] == side)) {
          c->side_of[a] = c->side_of[b] = side;
          is_more = true;
        }
      }
    }
  }
}

static yoke_status part(cutter* c) {
  const size_t n = c->loops->n_members;
  int n_parts = 0;
  for (size_t k = 0; k < n; k++) {
    c->side_of[k] = -1;
  }
  for (size_t k = 0; k < n; k++) {
    if (c->side_of[k] < 0) {
      c->side_of[k] = n_parts;
      spread(c, n_parts++);
    }
  }
  if (n_parts != 2) {
    return yoke__error(c->messages, nowhere,
                       "%s: this cut divides the loops into %d parts, expected two: name the "
                       "connections between two sides",
                       c->cut->name, n_parts);
  }
  for (size_t k = 0; k < n; k++) {
    char* to = c->cut->names[c->side_of[k]];
    const size_t used = strlen(to);
    snprintf(to + used, YOKE_CUT_NAME - used, "%s%s", used > 0 ? ", " : "",
             c->loops->units[c->loops->members[k]].name);
  }
  return YOKE_OK;
}

// ---- a side

// Matrices of the members of a side, joined.
typedef struct joined {
  size_t n, p, m;
  size_t *x, *y, *u;  // numbers among those of the loops
  double *A, *B, *C, *D, *L;
} joined;

static double* numbers(yoke_arena* arena, size_t n) {
  return yoke__arena_array(arena, n + 1, sizeof(double));
}

static yoke_status join(const cutter* c, int side, yoke_arena* room, joined* to) {
  const yoke_linear_loops* loops = c->loops;
  for (size_t k = 0; k < loops->n_members; k++) {
    if (c->side_of[k] == side) {
      to->n += loops->parts[k].n_states;
      to->p += loops->parts[k].n_outputs;
      to->m += loops->parts[k].n_inputs;
    }
  }
  const size_t n = to->n, p = to->p, m = to->m;
  to->y = yoke__arena_array(room, p + 1, sizeof(size_t));
  to->u = yoke__arena_array(room, m + 1, sizeof(size_t));
  to->A = numbers(room, n * n);
  to->B = numbers(room, n * m);
  to->C = numbers(room, p * n);
  to->D = numbers(room, p * m);
  to->L = numbers(room, m * p);
  YOKE_TRY(yoke__arena_status(room));
  size_t x = 0, y = 0, u = 0;
  for (size_t k = 0; k < loops->n_members; k++) {
    const yoke_stability_unit* part = &loops->parts[k];
    if (c->side_of[k] != side) {
      continue;
    }
    for (size_t i = 0; i < part->n_states; i++) {
      memcpy(to->A + (x + i) * n + x, part->A + i * part->n_states,
             part->n_states * sizeof(double));
      memcpy(to->B + (x + i) * m + u, part->B + i * part->n_inputs,
             part->n_inputs * sizeof(double));
    }
    for (size_t i = 0; i < part->n_outputs; i++) {
      memcpy(to->C + (y + i) * n + x, part->C + i * part->n_states,
             part->n_states * sizeof(double));
      memcpy(to->D + (y + i) * m + u, part->D + i * part->n_inputs,
             part->n_inputs * sizeof(double));
      to->y[y + i] = c->y_of[k] + i;
    }
    for (size_t j = 0; j < part->n_inputs; j++) {
      to->u[u + j] = c->u_of[k] + j;
    }
    x += part->n_states;
    y += part->n_outputs;
    u += part->n_inputs;
  }
  for (size_t j = 0; j < m; j++) {
    for (size_t i = 0; i < p && !c->is_cut[to->u[j]]; i++) {
      to->L[j * p + i] = loops->L[to->u[j] * loops->p + to->y[i]];
    }
  }
  return YOKE_OK;
}

// Closes what is not cut: C := W C, D := W D, A += B L C, B := B (I + L D).
static yoke_status close_inside(joined* j, yoke_arena* room) {
  const size_t n = j->n, p = j->p, m = j->m;
  double *W = numbers(room, p * p), *column = numbers(room, p), *LC = numbers(room, m * n),
         *LD = numbers(room, m * m), *more = numbers(room, n * (n + m));
  size_t* pivots = yoke__arena_array(room, p + 1, sizeof *pivots);
  YOKE_TRY(yoke__arena_status(room));
  yoke__mat_mul(p, m, p, j->D, j->L, W);
  for (size_t i = 0; i < p * p; i++) {
    W[i] = (i % (p + 1) == 0 ? 1 : 0) - W[i];
  }
  YOKE_TRY(yoke__lu_factor(p, W, pivots));
  for (size_t k = 0; k < n + m; k++) {
    double* of = k < n ? j->C + k : j->D + (k - n);
    const size_t stride = k < n ? n : m;
    for (size_t i = 0; i < p; i++) {
      column[i] = of[i * stride];
    }
    yoke__lu_solve(p, W, pivots, column);
    for (size_t i = 0; i < p; i++) {
      of[i * stride] = column[i];
    }
  }
  yoke__mat_mul(m, p, n, j->L, j->C, LC);
  yoke__mat_mul(m, p, m, j->L, j->D, LD);
  yoke__mat_mul(n, m, n, j->B, LC, more);
  for (size_t i = 0; i < n * n; i++) {
    j->A[i] += more[i];
  }
  yoke__mat_mul(n, m, m, j->B, LD, more);
  for (size_t i = 0; i < n * m; i++) {
    j->B[i] += more[i];
  }
  return YOKE_OK;
}

// Outputs of a side that the other one gets.
static size_t list_sent(const cutter* c, const joined* from, const joined* to, size_t list[]) {
  const yoke_linear_loops* loops = c->loops;
  size_t n = 0;
  for (size_t i = 0; i < from->p; i++) {
    bool is_sent = false;
    for (size_t j = 0; j < to->m; j++) {
      is_sent = is_sent || loops->L[to->u[j] * loops->p + from->y[i]] != 0;
    }
    if (is_sent) {
      list[n++] = i;
    }
  }
  return n;
}

// From the signals of the other side to the signals that are sent to it.
static yoke_status make_side(const cutter* c, const joined* own, const joined* other,
                             yoke_linear* to) {
  const yoke_linear_loops* loops = c->loops;
  yoke_arena* arena = &c->cut->arena;
  size_t* sent = yoke__arena_array(arena, own->p + 1, sizeof *sent);
  size_t* got = yoke__arena_array(arena, other->p + 1, sizeof *got);
  YOKE_TRY_MEMORY(sent && got);
  const size_t n = own->n, p = list_sent(c, own, other, sent), m = list_sent(c, other, own, got);
  double *L = numbers(arena, own->m * m), *D = numbers(arena, own->p * m);
  *to = (yoke_linear){.n_states = n,
                      .n_inputs = m,
                      .n_outputs = p,
                      .A = own->A,
                      .B = numbers(arena, n * m),
                      .C = numbers(arena, p * n),
                      .D = numbers(arena, p * m)};
  YOKE_TRY(yoke__arena_status(arena));
  for (size_t j = 0; j < own->m; j++) {
    for (size_t i = 0; i < m; i++) {
      L[j * m + i] = loops->L[own->u[j] * loops->p + other->y[got[i]]];
    }
  }
  yoke__mat_mul(n, own->m, m, own->B, L, to->B);
  yoke__mat_mul(own->p, own->m, m, own->D, L, D);
  for (size_t i = 0; i < p; i++) {
    memcpy(to->C + i * n, own->C + sent[i] * n, n * sizeof(double));
    memcpy(to->D + i * m, D + sent[i] * m, m * sizeof(double));
  }
  return YOKE_OK;
}

// ---- what is known of it besides

static int member_side(const cutter* c, size_t unit) {
  for (size_t k = 0; k < c->loops->n_members; k++) {
    if (c->loops->members[k] == unit) {
      return c->side_of[k];
    }
  }
  return -1;
}

// A single bond over the cut, scalar: the power into side 1 is that of its signals with a sign.
static void look_at_bonds(cutter* c) {
  const yoke_system* system = c->loops->system;
  yoke_cut* cut = c->cut;
  size_t n = 0;
  cut->action_side = 2;
  for (size_t i = 0; i < system->n_bonds; i++) {
    const yoke_system_bond* bond = &system->bonds[i];
    const int from = member_side(c, bond->action_unit), to = member_side(c, bond->rate_unit);
    if (from < 0 || to < 0 || from == to || bond->ledger.kind != YOKE_BOND_POWER) {
      continue;
    }
    n++;
    cut->action_side = (size_t)from;
    // action times rate is the power into the unit that gets the action
    const double into_receiver = bond->sign;
    cut->power = bond->n == 1 ? (int)(from == 0 ? -into_receiver : into_receiver) : 0;
  }
  const bool is_alone = n == 1 && cut->sides[0].n_inputs == 1 && cut->sides[0].n_outputs == 1;
  cut->power = is_alone ? cut->power : 0;
  cut->action_side = n == 1 ? cut->action_side : 2;
}

static void look_at_orders(cutter* c) {
  const yoke_system* system = c->loops->system;
  for (size_t t = 0; t < system->n_taps; t++) {
    const size_t j = find_input(c->loops, system->taps[t].to);
    if (j != YOKE_NOT_FOUND && c->is_cut[j]) {
      int* order = &c->cut->orders[c->side_of[c->u_unit[j]]];
      *order = system->taps[t].order > *order ? system->taps[t].order : *order;
    }
  }
}

static yoke_status layout(cutter* c, yoke_arena* room) {
  const yoke_linear_loops* loops = c->loops;
  const size_t n = loops->n_members + 1;
  c->is_cut = yoke__arena_array(room, loops->s + 1, sizeof(bool));
  c->side_of = yoke__arena_array(room, n, sizeof(int));
  size_t** const lists[] = {&c->x_of, &c->y_of, &c->u_of};
  for (size_t i = 0; i < 3; i++) {
    *lists[i] = yoke__arena_array(room, n, sizeof(size_t));
  }
  c->y_unit = yoke__arena_array(room, loops->p + 1, sizeof(size_t));
  c->u_unit = yoke__arena_array(room, loops->s + 1, sizeof(size_t));
  return yoke__arena_status(room);
}

static yoke_status build(cutter* c, const char* name, yoke_arena* room) {
  joined parts[2] = {{0}};
  YOKE_TRY(layout(c, room));
  number_signals(c);
  YOKE_TRY(choose(c, name));
  YOKE_TRY(part(c));
  for (int side = 0; side < 2; side++) {
    // the matrices of a side stay with the cut
    YOKE_TRY(join(c, side, &c->cut->arena, &parts[side]));
    const yoke_status status = close_inside(&parts[side], room);
    if (status == YOKE_SINGULAR) {
      return yoke__error(c->messages, nowhere,
                         "%s: the part '%s' contains an algebraic loop without a solution",
                         c->cut->name, c->cut->names[side]);
    }
    YOKE_TRY(status);
  }
  for (int side = 0; side < 2; side++) {
    YOKE_TRY(make_side(c, &parts[side], &parts[1 - side], &c->cut->sides[side]));
  }
  look_at_bonds(c);
  look_at_orders(c);
  c->cut->is_whole = name == NULL;
  for (size_t k = 0; k < c->loops->n_members; k++) {
    c->cut->is_blurred =
        c->cut->is_blurred || c->loops->units[c->loops->members[k]].difference != NULL;
  }
  return YOKE_OK;
}

yoke_status yoke__cut_open(const yoke_linear_loops* loops, const char* name,
                           yoke_messages* messages, yoke_cut* cut) {
  *cut = (yoke_cut){.action_side = 2};
  if (loops->is_of_calls) {
    return yoke__error(
        messages, nowhere,
        "a unit in the loops has no linear model, so there is no frequency response");
  }
  yoke_arena room = {0};
  cutter c = {.loops = loops, .messages = messages, .cut = cut};
  const yoke_status status = build(&c, name, &room);
  yoke__arena_free(&room);
  return status;
}

void yoke__cut_free(yoke_cut* cut) {
  yoke__arena_free(&cut->arena);
  *cut = (yoke_cut){0};
}

yoke_synth_loop yoke__cut_loop(const yoke_cut* cut, double step, bool is_fresh) {
  yoke_synth_loop loop = {.sides = {cut->sides[0], cut->sides[1]},
                          .step = step,
                          .exchange = is_fresh ? YOKE_SYNTH_FRESH : YOKE_SYNTH_STALE,
                          .power = cut->power};
  for (int i = 0; i < 2; i++) {
    loop.holds[i] = cut->orders[i] <= 2 ? (yoke_synth_hold)cut->orders[i] : (yoke_synth_hold)2;
  }
  return loop;
}

static yoke_status look_blurred(const yoke_cut* cut, yoke_linear_loops* loops, double step,
                                double resolution, double largest, yoke_cut_report* out) {
  out->radius.radius = out->limit.border = out->limit.stable = (double)NAN;
  out->limit.unstable = (double)NAN;
  if (!cut->is_whole) {
    return YOKE_OK;
  }
  double margin = 0;
  const yoke_linear_grid grid = {N_COARSE * resolution, largest, resolution};
  YOKE_TRY(yoke__linear_radius(loops, YOKE_LINEAR_HOLD, step, &out->radius.radius, &margin));
  YOKE_TRY(yoke__linear_limit(loops, YOKE_LINEAR_HOLD, &grid, &out->limit.unstable));
  out->limit.border = out->limit.unstable;
  return YOKE_OK;
}

yoke_status yoke__cut_look(const yoke_cut* cut, yoke_linear_loops* loops, double step,
                           bool is_fresh, double resolution, double largest, yoke_cut_report* out) {
  const yoke_synth_loop loop = yoke__cut_loop(cut, step, is_fresh);
  YOKE_TRY(yoke__synth_loop_analyse(&loop, &out->loop));
  if (cut->is_blurred) {
    return look_blurred(cut, loops, step, resolution, largest, out);
  }
  YOKE_TRY(yoke__synth_loop_radius_of(loop.sides, step, loop.exchange, &out->radius));
  return yoke__synth_loop_limit_of(loop.sides, loop.exchange, resolution, largest, &out->limit);
}

static void limit_text(const yoke_cut_report* r, char* to, size_t size) {
  if (isinf(r->limit.unstable)) {
    snprintf(to, size, "no unstable step was found");
  } else {
    snprintf(to, size, "stable up to %.4g s", r->limit.border);
  }
}

size_t yoke__cut_best(const yoke_cut cuts[], const yoke_cut_report reports[], size_t n,
                      char reason[], size_t size) {
  size_t best = 0, second = 0;
  bool is_by_limit = false;
  for (size_t i = 1; i < n; i++) {
    const double a = reports[best].limit.border, b = reports[i].limit.border;
    const bool is_clear =
        !isnan(a + b) && (isinf(a) != isinf(b) || fmax(a, b) > ALIKE * fmin(a, b));
    const bool is_better =
        is_clear ? b > a : reports[i].loop.mu.value < reports[best].loop.mu.value;
    second = is_better ? best : i;
    best = is_better ? i : best;
    is_by_limit = is_clear;
  }
  char limits[2][64];
  limit_text(&reports[best], limits[0], sizeof limits[0]);
  limit_text(&reports[second], limits[1], sizeof limits[1]);
  if (is_by_limit) {
    snprintf(reason, size, "cut at %s: %s with zero-order hold, at %s %s", cuts[best].name,
             limits[0], cuts[second].name, limits[1]);
  } else {
    snprintf(reason, size,
             "cut at %s: both are stable up to the same step, but this one is less sensitive to "
             "the exchange (mu %.3g, at %s %.3g)",
             cuts[best].name, reports[best].loop.mu.value, cuts[second].name,
             reports[second].loop.mu.value);
  }
  return best;
}

yoke_status yoke__cut_causality(const yoke_cut cuts[2], double step, bool is_fresh,
                                double resolution, double largest, size_t* best, char reason[],
                                size_t size) {
  yoke_synth_causality_case cases[2];
  const yoke_synth_loop loop = yoke__cut_loop(&cuts[0], step, is_fresh);
  const yoke_synth_causality_settings settings = {.step = step,
                                                  .exchange = loop.exchange,
                                                  .holds = {loop.holds[0], loop.holds[1]},
                                                  .resolution = resolution,
                                                  .largest = largest,
                                                  .power = 0};
  for (size_t i = 0; i < 2; i++) {
    const size_t from = cuts[i].action_side;
    cases[i] = (yoke_synth_causality_case){cuts[i].names[1 - from],
                                           {cuts[i].sides[from], cuts[i].sides[1 - from]}};
  }
  yoke_synth_choice choice;
  YOKE_TRY(yoke__synth_causality_compare(cases, &settings, &choice));
  *best = (size_t)choice.better;
  snprintf(reason, size, "%s", choice.reason);
  return YOKE_OK;
}
