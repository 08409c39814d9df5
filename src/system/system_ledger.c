// Bonds as the ledger wants them: mu from feedthrough, rates, orders and exchange; SI scales; where values lie.
#include <math.h>
#include <stdlib.h>

#include "base/base_dim.h"
#include "energy/energy_mu.h"
#include "system/system.h"

// ---------------------------------------------------------------------------------------------------------
// mu

static bool has_feedthrough_from(const yoke_system* system, const yoke_system_pair outputs[],
                                 size_t n, size_t unit, size_t partner) {
  for (size_t i = 0; i < n; i++) {
    for (size_t l = 0; l < system->n_links; l++) {
      const yoke_system_link* link = &system->links[l];
      if (link->from_unit == partner && link->to_unit == unit && link->is_dense &&
          yoke__unit_has_feedthrough(&system->units[unit].unit, outputs[i].from_variable,
                                     link->to_variable)) {
        return true;
      }
    }
  }
  return false;
}

// the lowest order of the connections from one unit to another; -1 if there is none
static int lowest_order(const yoke_system* system, size_t from, size_t to) {
  int lowest = -1;
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    if (link->is_dense && link->from_unit == from && link->to_unit == to) {
      lowest = lowest < 0 || link->order < lowest ? link->order : lowest;
    }
  }
  return lowest;
}

// partner held: the units that feed the law beside the rate's own
static int partner_order(const yoke_system* system, const yoke_system_bond* bond) {
  int lowest = -1;
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    if (link->to_unit == bond->action_unit && link->from_unit != bond->rate_unit) {
      const int order = lowest_order(system, link->from_unit, bond->rate_unit);
      lowest = order >= 0 && (lowest < 0 || order < lowest) ? order : lowest;
    }
  }
  return lowest < 0 ? 0 : lowest;
}

static double delay_of(const yoke_system* system, const yoke_system_pair pairs[], size_t n) {
  int64_t most = 0;
  for (size_t i = 0; i < n; i++) {
    if (pairs[i].link != YOKE_NOT_FOUND) {
      const yoke_system_link* link = &system->links[pairs[i].link];
      most = link->delay * link->interval > most ? link->delay * link->interval : most;
    }
  }
  return yoke__clock_seconds(&system->clock, most);
}

// by how much the method on a connection runs ahead of a hold [s]
static double lead_of(const yoke_system* system, const yoke_system_pair* pair) {
  if (pair->link == YOKE_NOT_FOUND) {
    return 0;
  }
  const yoke_system_link* link = &system->links[pair->link];
  const yoke_coupling_ops* ops = system->methods[link->method].ops;
  const double interval = yoke__clock_seconds(&system->clock, link->interval);
  return (link->order == 0 ? ops->lead_interval * interval : 0) +
         ops->lead_call * system->units[link->to_unit].step;
}

// a method that ramps its input leaves nothing held
static int order_of(const yoke_system* system, const yoke_system_pair* pair, int order) {
  const bool is_ramp = pair->link != YOKE_NOT_FOUND &&
                       system->methods[system->links[pair->link].method].ops->lead_call > 0;
  return is_ramp && order < 1 ? 1 : order < 0 ? 0 : order;
}

static double automatic_mu(const yoke_system* system, const yoke_system_bond* bond) {
  const yoke_system_unit *action = &system->units[bond->action_unit],
                         *rate = &system->units[bond->rate_unit];
  const double interval = yoke__clock_seconds(&system->clock, bond->interval);
  const bool is_held = bond->ledger.residual == YOKE_RESIDUAL_HELD;
  const int order_action = is_held ? partner_order(system, bond)
                                   : lowest_order(system, bond->action_unit, bond->rate_unit);
  const int order_rate = lowest_order(system, bond->rate_unit, bond->action_unit);
  const yoke_mu_case c = {
      .interval = interval,
      .step_action = action->is_law ? interval : action->step,
      .step_rate = rate->is_law ? interval : rate->step,
      .order_action = order_of(system, &bond->action[0], order_action),
      .order_rate = order_of(system, &bond->rate[0], order_rate),
      .delay_action =
          delay_of(system, bond->action, bond->n_pairs) - lead_of(system, &bond->action[0]),
      .delay_rate = delay_of(system, bond->rate, bond->n_pairs) - lead_of(system, &bond->rate[0]),
      .has_feedthrough = has_feedthrough_from(system, bond->action, bond->n_pairs,
                                              bond->action_unit, bond->rate_unit),
      .is_fresh = action->is_law || action->is_fresh,
      .is_partner_held = is_held};
  return yoke__energy_mu(&c);
}

static bool is_implicit(const yoke_system* system, const yoke_system_bond* bond) {
  return ((system->units[bond->action_unit].unit.info->flags |
           system->units[bond->rate_unit].unit.info->flags) &
          YOKE_UNIT_IMPLICIT) != 0;
}

// A method over a cluster chooses the inputs; they are no old samples whose age mu could tell.
static bool is_modelled(const yoke_system* system, const yoke_system_bond* bond) {
  for (size_t i = 0; i < 2 * bond->n_pairs; i++) {
    const yoke_system_pair* pair =
        i < bond->n_pairs ? &bond->action[i] : &bond->rate[i - bond->n_pairs];
    const yoke_coupling_ops* ops =
        pair->link == YOKE_NOT_FOUND ? NULL : system->methods[system->links[pair->link].method].ops;
    if (ops != NULL && (ops->flags & YOKE_COUPLING_CLUSTER) != 0) {
      return true;
    }
  }
  return false;
}

static yoke_mu_origin origin_of(const yoke_system* system, const yoke_system_bond* bond) {
  if (bond->ledger.kind == YOKE_BOND_HEAT) {
    return YOKE_MU_NO_POWER;
  }
  if (bond->source != NULL && !isnan(bond->source->mu)) {
    return YOKE_MU_GIVEN;
  }
  if (system->scenario->scheme == YOKE_GAUSS_SEIDEL) {
    return YOKE_MU_GAUSS_SEIDEL;
  }
  if (yoke__system_is_iterative(system) && !yoke__system_is_iteration_idle(system)) {
    return YOKE_MU_ITERATIVE;
  }
  if (is_implicit(system, bond)) {
    return YOKE_MU_IMPLICIT;
  }
  if (is_modelled(system, bond)) {
    return YOKE_MU_MODEL;
  }
  const bool is_held =
      system->units[bond->action_unit].keeps_start && system->units[bond->rate_unit].keeps_start;
  if (yoke__system_has_means(system) && !is_held) {
    return YOKE_MU_MEANS;
  }
  const bool is_both =
      !system->units[bond->action_unit].is_law && !system->units[bond->rate_unit].is_law &&
      has_feedthrough_from(system, bond->action, bond->n_pairs, bond->action_unit,
                           bond->rate_unit) &&
      has_feedthrough_from(system, bond->rate, bond->n_pairs, bond->rate_unit, bond->action_unit);
  return is_both ? YOKE_MU_BOTH_FEEDTHROUGH : YOKE_MU_AUTOMATIC;
}

static bool has_one_interval(const yoke_system* system, const yoke_system_bond* bond) {
  for (size_t i = 0; i < bond->n_pairs; i++) {
    const size_t links[] = {bond->action[i].link, bond->rate[i].link};
    for (size_t k = 0; k < 2; k++) {
      if (links[k] != YOKE_NOT_FOUND && system->links[links[k]].interval != bond->interval) {
        return false;
      }
    }
  }
  return true;
}

// What a correction needs and does not have is an error; the ledger itself only says that it does not know.
static void check_method(yoke_system* system, const yoke_system_bond* bond) {
  for (size_t i = 1; i < system->n_methods; i++) {
    const yoke_system_method* method = &system->methods[i];
    if (method->bond == YOKE_NOT_FOUND || &system->bonds[method->bond] != bond) {
      continue;
    }
    if (!has_one_interval(system, bond)) {
      yoke__error(system->messages, method->place,
                  "%s: method '%s' needs action and rate to be exchanged together; their "
                  "connections have different intervals",
                  method->owner, method->ops->name);
    }
    if ((method->ops->flags & YOKE_COUPLING_EXPLICIT) != 0 && is_implicit(system, bond)) {
      yoke__error(system->messages, method->place,
                  "%s: method '%s' is valid for units with explicit solvers only", method->owner,
                  method->ops->name);
    } else if ((method->ops->flags & YOKE_COUPLING_NEEDS_MU) != 0 && isnan(bond->ledger.mu) &&
               bond->ledger.mu_origin != YOKE_MU_GAUSS_SEIDEL &&
               bond->ledger.mu_origin != YOKE_MU_ITERATIVE &&
               bond->ledger.mu_origin != YOKE_MU_BOTH_FEEDTHROUGH) {
      yoke__error(system->messages, method->place,
                  "%s: method '%s' needs mu, which cannot be computed here: give `mu` in the bond",
                  method->owner, method->ops->name);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// scales to SI

static double factor_of(const yoke_variable* v) {
  yoke_dim dim;
  return yoke__dim_parse(v->dim, &dim) ? dim.factor : 1;
}

static double* fill(yoke_system* system, size_t n, double value) {
  double* numbers = yoke__arena_array(&system->arena, n, sizeof *numbers);
  for (size_t i = 0; numbers != NULL && i < n; i++) {
    numbers[i] = value;
  }
  return numbers;
}

static const yoke_variable* sender(const yoke_system* system, const yoke_system_pair* pair) {
  return &system->units[pair->from_unit].unit.info->variables[pair->from_variable];
}

// How numbers of a pair become SI: as sent (`out`) or as they arrive (`in`). The action counts as its receiver gets it, the
// rate as its sender gives it, so that both ends speak of the same power.
static yoke_status scale_pairs(yoke_system* system, const yoke_system_bond* bond, bool is_action,
                               bool is_input, const double** out) {
  const yoke_system_pair* pairs = is_action ? bond->action : bond->rate;
  double* scale = fill(system, bond->n, is_action ? bond->sign : 1);
  YOKE_TRY_MEMORY(scale);
  size_t at = 0;
  for (size_t i = 0; i < bond->n_pairs; i++) {
    const bool has_link = pairs[i].link != YOKE_NOT_FOUND;
    const double gain = has_link ? yoke__system_si_gain(system, &system->links[pairs[i].link]) : 1;
    double factor = factor_of(sender(system, &pairs[i]));
    if (is_input) {
      const double raw = system->links[pairs[i].link].gain;
      factor *= raw != 0 ? 1 / raw : 0;
    }
    factor *= is_action ? gain : 1;
    for (size_t j = 0; j < pairs[i].n; j++) {
      scale[at++] *= factor;
    }
  }
  *out = scale;
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// limits

static double choose(double of_bond, double of_all, double otherwise) {
  return !isnan(of_bond) ? of_bond : !isnan(of_all) ? of_all : otherwise;
}

static void set_watch(yoke_ledger_watch* to, const yoke_scenario_watch* bond,
                      const yoke_scenario_watch* all) {
  *to = (yoke_ledger_watch){.warn = {{choose(bond->warn.rho, all->warn.rho, 0.25),
                                      choose(bond->warn.eps, all->warn.eps, 0.01),
                                      choose(bond->warn.rter, all->warn.rter, 0.05)}},
                            .stop = {{choose(bond->stop.rho, all->stop.rho, HUGE_VAL),
                                      choose(bond->stop.eps, all->stop.eps, HUGE_VAL),
                                      choose(bond->stop.rter, all->stop.rter, HUGE_VAL)}},
                            .period = choose(bond->period, all->period, 0),
                            .window = choose(bond->window, all->window, 0),
                            .settle = choose(bond->settle, all->settle, -1),
                            .persist = (int64_t)choose(bond->persist, all->persist, 10),
                            .hysteresis = choose(bond->hysteresis, all->hysteresis, 0.8)};
  to->is_given[YOKE_INDICATOR_RHO] = !isnan(bond->warn.rho) || !isnan(all->warn.rho);
  to->is_given[YOKE_INDICATOR_EPS] = !isnan(bond->warn.eps) || !isnan(all->warn.eps);
  to->is_given[YOKE_INDICATOR_RTER] = !isnan(bond->warn.rter) || !isnan(all->warn.rter);
}

// ---------------------------------------------------------------------------------------------------------

// partner held: the bond sees the partner's motion as often as the rate's unit does
static int64_t with_partners(const yoke_system* system, const yoke_system_bond* bond,
                             int64_t interval) {
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* to_law = &system->links[i];
    if (to_law->to_unit != bond->action_unit || to_law->from_unit == bond->rate_unit) {
      continue;
    }
    for (size_t l = 0; l < system->n_links; l++) {
      const yoke_system_link* link = &system->links[l];
      if (link->is_dense && link->from_unit == to_law->from_unit &&
          link->to_unit == bond->rate_unit) {
        interval = yoke__lcm(interval, link->interval);
      }
    }
  }
  return interval;
}

static int64_t interval_of(const yoke_system* system, const yoke_system_bond* bond) {
  int64_t interval = 0;
  for (size_t i = 0; i < bond->n_pairs; i++) {
    const size_t links[] = {bond->action[i].link, bond->rate[i].link};
    for (size_t k = 0; k < 2; k++) {
      if (links[k] != YOKE_NOT_FOUND) {
        const int64_t one = system->links[links[k]].interval;
        interval = interval == 0 ? one : yoke__lcm(interval, one);
      }
    }
  }
  if (interval > 0) {
    return interval;
  }
  // nothing is moved: when both have new samples
  interval = system->macro;
  const size_t units[] = {bond->action_unit, bond->rate_unit};
  for (size_t k = 0; k < 2; k++) {
    const yoke_system_unit* unit = &system->units[units[k]];
    interval = unit->is_law ? interval : yoke__lcm(interval, unit->period);
  }
  return interval;
}

// marks all units that can be reached from `start`, forwards or backwards
static void mark_reached(const yoke_system* system, size_t start, bool is_forward,
                         bool is_reached[]) {
  bool has_changed = true;
  is_reached[start] = true;
  while (has_changed) {
    has_changed = false;
    for (size_t i = 0; i < system->n_links; i++) {
      const yoke_system_link* link = &system->links[i];
      const size_t from = is_forward ? link->from_unit : link->to_unit;
      const size_t to = is_forward ? link->to_unit : link->from_unit;
      if (is_reached[from] && !is_reached[to]) {
        is_reached[to] = has_changed = true;
      }
    }
  }
}

// No unit of the bond's loop depends on time or has an input from elsewhere: then nothing but the coupling can make energy.
static yoke_status find_sources(const yoke_system* system, yoke_system_bond* bond) {
  bool* is_behind = calloc(2 * system->n_units + 1, sizeof *is_behind);
  YOKE_TRY_MEMORY(is_behind);
  bool* is_before = is_behind + system->n_units;
  mark_reached(system, bond->action_unit, true, is_behind);
  mark_reached(system, bond->action_unit, false, is_before);
  bool is_autonomous = is_behind[bond->rate_unit] && is_before[bond->rate_unit];
  for (size_t i = 0; i < system->n_units; i++) {
    const bool is_inside = is_behind[i] && is_before[i];
    is_autonomous = is_autonomous &&
                    (!is_inside || (system->units[i].unit.info->flags & YOKE_UNIT_AUTONOMOUS) != 0);
  }
  for (size_t i = 0; i < system->n_links; i++) {
    const yoke_system_link* link = &system->links[i];
    // what reaches the loop and is not reached from it
    is_autonomous = is_autonomous && !(is_behind[link->to_unit] && is_before[link->to_unit] &&
                                       !is_behind[link->from_unit]);
  }
  bond->ledger.is_autonomous = is_autonomous;
  free(is_behind);
  return YOKE_OK;
}

static yoke_status weigh(yoke_system* system, yoke_system_bond* bond) {
  static const yoke_scenario_watch none = {
      .warn = {(double)NAN, (double)NAN, (double)NAN},
      .stop = {(double)NAN, (double)NAN, (double)NAN},
      .period = (double)NAN,
      .window = (double)NAN,
      .settle = (double)NAN,
      .persist = (double)NAN,
      .hysteresis = (double)NAN,
  };
  yoke_ledger_bond* ledger = &bond->ledger;
  ledger->name = bond->name;
  ledger->n = bond->n;
  bond->interval = interval_of(system, bond);
  if (bond->source != NULL && bond->source->residual == YOKE_BOND_PARTNER_HELD) {
    bond->interval = with_partners(system, bond, bond->interval);
  }
  if (bond->interval == 0) {
    yoke__error(system->messages, bond->place,
                "bond '%s': its exchange intervals have no common multiple that can be counted",
                bond->name);
    return YOKE_OK;
  }
  ledger->interval = yoke__clock_seconds(&system->clock, bond->interval);
  ledger->is_adaptive = system->scenario->adaptive.is_given;
  ledger->longest = ledger->is_adaptive ? system->scenario->adaptive.max.value : ledger->interval;
  if (bond->source != NULL) {
    ledger->residual = bond->source->residual == YOKE_BOND_PARTNER_HELD ? YOKE_RESIDUAL_HELD
                                                                        : YOKE_RESIDUAL_SAMPLES;
    ledger->energy = isnan(bond->source->energy) ? 0 : bond->source->energy;
  }
  if (ledger->residual == YOKE_RESIDUAL_HELD && !system->units[bond->action_unit].is_law) {
    yoke__error(
        system->messages, bond->place,
        "bond '%s': residual: partner-held needs an action computed by a law; '%s' is a unit",
        bond->name, system->units[bond->action_unit].name);
  }
  ledger->mu_origin = origin_of(system, bond);
  const double given = bond->source == NULL ? (double)NAN : bond->source->mu;
  ledger->mu = ledger->mu_origin == YOKE_MU_GIVEN       ? given
               : ledger->mu_origin == YOKE_MU_AUTOMATIC ? automatic_mu(system, bond)
                                                        : (double)NAN;
  if (ledger->mu_origin == YOKE_MU_BOTH_FEEDTHROUGH && bond->source != NULL) {
    yoke__error(
        system->messages, bond->place,
        "bond '%s': both '%s' and '%s' have direct feedthrough, so the energy created per step is "
        "unknown: give `mu` in the bond, or exchange other quantities (docs/exchange.md)",
        bond->name, system->units[bond->action_unit].name, system->units[bond->rate_unit].name);
  }
  check_method(system, bond);
  YOKE_TRY(find_sources(system, bond));
  set_watch(&ledger->watch, bond->source == NULL ? &none : &bond->source->watch,
            &system->scenario->watch);
  YOKE_TRY(scale_pairs(system, bond, true, false, &ledger->action_scale));
  return scale_pairs(system, bond, false, false, &ledger->rate_scale);
}

yoke_status yoke__system_weigh_bonds(yoke_system* system) {
  for (size_t i = 0; i < system->n_bonds; i++) {
    YOKE_TRY(weigh(system, &system->bonds[i]));
  }
  for (size_t i = 0; i < system->n_bonds; i++) {
    // another bond over the same connection may have its method
    yoke_system_bond* bond = &system->bonds[i];
    const size_t link = bond->action[0].link;
    bond->ledger.is_corrected =
        link != YOKE_NOT_FOUND && system->methods[system->links[link].method].bond == i;
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// where values lie

static size_t* list_outputs(yoke_system* system, const yoke_system_pair pairs[], size_t n_pairs,
                            size_t n) {
  size_t* list = yoke__arena_array(&system->arena, n, sizeof *list);
  size_t at = 0;
  for (size_t i = 0; list != NULL && i < n_pairs; i++) {
    const yoke_system_unit* unit = &system->units[pairs[i].from_unit];
    for (size_t j = 0; j < pairs[i].n; j++) {
      list[at++] = unit->y + unit->unit.dense[pairs[i].from_variable] + pairs[i].from_element + j;
    }
  }
  return list;
}

static size_t* list_inputs(yoke_system* system, const yoke_system_pair pairs[], size_t n_pairs,
                           size_t n) {
  size_t* list = yoke__arena_array(&system->arena, n, sizeof *list);
  size_t at = 0;
  for (size_t i = 0; list != NULL && i < n_pairs; i++) {
    const yoke_system_link* link = &system->links[pairs[i].link];
    const yoke_system_unit* unit = &system->units[link->to_unit];
    for (size_t j = 0; j < pairs[i].n; j++) {
      list[at++] = unit->u + unit->unit.dense[link->to_variable] + link->to_element + j;
    }
  }
  return list;
}

static bool is_moved(const yoke_system_bond* bond) {
  for (size_t i = 0; i < bond->n_pairs; i++) {
    if (bond->action[i].link == YOKE_NOT_FOUND || bond->rate[i].link == YOKE_NOT_FOUND) {
      return false;
    }
  }
  return true;
}

static yoke_status lay_end(yoke_system* system, yoke_system_bond* bond, int end) {
  const yoke_system_pair* in = end == 0 ? bond->action : bond->rate;
  const yoke_system_pair* out = end == 0 ? bond->rate : bond->action;
  const yoke_system_unit* unit = &system->units[end == 0 ? bond->rate_unit : bond->action_unit];
  yoke_ledger_end* e = &bond->ledger.ends[end];
  *e = (yoke_ledger_end){.in = list_inputs(system, in, bond->n_pairs, bond->n),
                         .out = list_outputs(system, out, bond->n_pairs, bond->n),
                         .n_steps = unit->is_law ? 1 : unit->n_steps,
                         .is_law = unit->is_law,
                         .n_slots = unit->n_slots,
                         .is_ahead = !unit->is_law && unit->n_slots > 1};
  YOKE_TRY(scale_pairs(system, bond, end == 0, true, &e->in_scale));
  YOKE_TRY(scale_pairs(system, bond, end != 0, false, &e->out_scale));
  return e->in == NULL || e->out == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

static yoke_status lay_bond(yoke_system* system, yoke_system_bond* bond) {
  yoke_ledger_bond* ledger = &bond->ledger;
  ledger->every = bond->interval / system->slot;
  ledger->action = list_outputs(system, bond->action, bond->n_pairs, bond->n);
  ledger->rate = list_outputs(system, bond->rate, bond->n_pairs, bond->n);
  YOKE_TRY_MEMORY(ledger->action && ledger->rate);
  // an iteration that holds the end value makes both ends agree, whatever it does to the energy
  const bool is_hold_end = yoke__system_is_iterative(system) &&
                           system->scenario->iteration.mode == YOKE_ITERATE_HOLD_END;
  ledger->has_ter = is_moved(bond) && !is_hold_end;
  if (ledger->has_ter) {
    YOKE_TRY(lay_end(system, bond, 0));
    YOKE_TRY(lay_end(system, bond, 1));
  }
  if (ledger->residual == YOKE_RESIDUAL_HELD) {
    system->n_held += bond->n;
  }
  return YOKE_OK;
}

// units that are called several times per slot keep what they received and gave in each call
static yoke_status lay_strips(yoke_system* system) {
  yoke_strip* strips = yoke__arena_array(&system->arena, 2 * system->n_bonds + 1, sizeof *strips);
  YOKE_TRY_MEMORY(strips);
  size_t n = 0;
  for (size_t u = 0; u < system->n_units; u++) {
    yoke_system_unit* unit = &system->units[u];
    unit->first_strip = n;
    for (size_t b = 0; b < system->n_bonds && unit->n_steps > 1; b++) {
      yoke_system_bond* bond = &system->bonds[b];
      for (int end = 0; end < 2 && bond->ledger.has_ter; end++) {
        yoke_ledger_end* e = &bond->ledger.ends[end];
        if (e->n_steps > 1 && (end == 0 ? bond->rate_unit : bond->action_unit) == u) {
          e->strip = system->n_strip_numbers;
          strips[n++] = (yoke_strip){bond->n, e->in, e->out, e->strip};
          system->n_strip_numbers += 2 * bond->n * (size_t)unit->n_steps;
        }
      }
    }
    unit->n_strips = n - unit->first_strip;
  }
  system->strips = strips;
  return YOKE_OK;
}

yoke_status yoke__system_lay_ledger(yoke_system* system) {
  for (size_t i = 0; i < system->n_bonds; i++) {
    YOKE_TRY(lay_bond(system, &system->bonds[i]));
  }
  YOKE_TRY(lay_strips(system));
  system->ledger_bonds =
      yoke__arena_array(&system->arena, system->n_bonds + 1, sizeof *system->ledger_bonds);
  YOKE_TRY_MEMORY(system->ledger_bonds);
  for (size_t i = 0; i < system->n_bonds; i++) {
    system->ledger_bonds[i] = system->bonds[i].ledger;
  }
  return YOKE_OK;
}
