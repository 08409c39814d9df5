// The books of all bonds while the system runs. What they say in the end is in quality_verdict.c.
#include "quality/quality_ledger.h"

#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "quality/quality_books.h"

const char* const yoke__ledger_value_names[YOKE_LEDGER_N_VALUES] = {"P", "dP", "dE", "rho", "ter"};
const char* const yoke__ledger_value_dims[YOKE_LEDGER_N_VALUES] = {"W", "W", "J", "1", "J"};

// ---------------------------------------------------------------------------------------------------------
// memory

static yoke_status lay_book(yoke_arena* arena, const yoke_ledger_bond* bond, yoke_book* book) {
  const size_t n = bond->n;
  *book = (yoke_book){.bond = bond,
                      .monitor = &book->own_monitor,
                      .has_mu = !isnan(bond->mu),
                      .t_eps_worst = NAN,
                      .t_rho_worst = NAN};
  book->action = yoke__arena_array(arena, n, sizeof(double));
  book->rate = yoke__arena_array(arena, n, sizeof(double));
  book->held = yoke__arena_array(arena, n, sizeof(double));
  book->monitor_memory = yoke__arena_array(arena, yoke__monitor_numbers(n), sizeof(double));
  for (size_t i = 0; i < 4; i++) {
    book->four[i] = yoke__arena_array(arena, n, sizeof(double));
    if (book->four[i] == NULL) {
      return YOKE_NO_MEMORY;
    }
  }
  const yoke_ledger_end* ends = bond->ends;
  book->is_simple = n == 1 && bond->kind == YOKE_BOND_POWER && bond->has_ter && !ends[0].is_law &&
                    !ends[1].is_law && ends[0].n_steps == 1 && ends[1].n_steps == 1 &&
                    bond->residual == YOKE_RESIDUAL_SAMPLES;
  for (size_t i = 0; i < YOKE_N_INDICATORS; i++) {
    book->open[i] = YOKE_NO_ALARM;
  }
  if (bond->watch.stop.value[YOKE_INDICATOR_RHO] < INFINITY) {
    book->over = yoke__arena_take(arena, sizeof *book->over);
    if (book->over == NULL) {
      return YOKE_NO_MEMORY;
    }
  }
  const bool is_laid = book->action != NULL && book->rate != NULL && book->held != NULL &&
                       book->monitor_memory != NULL;
  return is_laid ? YOKE_OK : YOKE_NO_MEMORY;
}

yoke_status yoke__ledger_create(yoke_arena* arena, const yoke_ledger_bond bonds[], size_t n_bonds,
                                double slot, yoke_ledger** out) {
  yoke_ledger* ledger = yoke__arena_take(arena, sizeof *ledger);
  if (ledger == NULL) {
    return YOKE_NO_MEMORY;
  }
  *ledger = (yoke_ledger){.n_bonds = n_bonds, .slot = slot};
  ledger->books = yoke__arena_array(arena, n_bonds + 1, sizeof *ledger->books);
  ledger->values =
      yoke__arena_array(arena, (n_bonds + 1) * YOKE_LEDGER_N_VALUES, sizeof *ledger->values);
  ledger->alarms = yoke__arena_array(arena, YOKE_LEDGER_MAX_ALARMS + 1, sizeof *ledger->alarms);
  if (ledger->books == NULL || ledger->values == NULL || ledger->alarms == NULL) {
    return YOKE_NO_MEMORY;
  }
  for (size_t i = 0; i < n_bonds; i++) {
    YOKE_TRY(lay_book(arena, &bonds[i], &ledger->books[i]));
  }
  *out = ledger;
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// samples

static void take(double to[], size_t n, const double from[], const size_t at[],
                 const double scale[]) {
  for (size_t i = 0; i < n; i++) {
    to[i] = from[at[i]] * scale[i];
  }
}

static double dot(size_t n, const double a[], const double b[]) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

static void add_total(yoke_ledger* ledger) {
  double* total = ledger->values + ledger->n_bonds * YOKE_LEDGER_N_VALUES;
  memset(total, 0, YOKE_LEDGER_N_VALUES * sizeof *total);
  for (size_t i = 0; i < ledger->n_bonds; i++) {
    const double* values = ledger->values + i * YOKE_LEDGER_N_VALUES;
    if (ledger->books[i].bond->kind == YOKE_BOND_HEAT) {
      continue;
    }
    for (size_t k = 0; k < YOKE_LEDGER_N_VALUES; k++) {
      const bool is_worst = k == YOKE_LEDGER_RHO;
      total[k] = !is_worst ? total[k] + values[k] : values[k] > total[k] ? values[k] : total[k];
    }
  }
}

void yoke__ledger_start(yoke_ledger* ledger, double t, const double y[]) {
  ledger->t_start = t;
  for (size_t i = 0; i < ledger->n_bonds; i++) {
    yoke_book* book = &ledger->books[i];
    const yoke_ledger_bond* bond = book->bond;
    take(book->action, bond->n, y, bond->action, bond->action_scale);
    take(book->rate, bond->n, y, bond->rate, bond->rate_scale);
    yoke__monitor_start(&book->own_monitor, &yoke__monitor_defaults, bond->n, book->monitor_memory,
                        book->action, book->rate);
    yoke__window_start(&book->window, bond->watch.window);
    if (book->over != NULL) {
      yoke__window_start(book->over, bond->watch.window);
    }
    book->wait = bond->every;
    book->t_last = t;
    ledger->values[i * YOKE_LEDGER_N_VALUES + YOKE_LEDGER_P] =
        dot(bond->n, book->action, book->rate);
  }
  if (ledger->n_bonds > 1) {
    add_total(ledger);
  }
}

// ---------------------------------------------------------------------------------------------------------
// total energy residual

enum { E_IN, F_OUT, F_IN, E_OUT };  // of yoke_book.four

// what one end received and gave in its call number j of the slot
static void take_end(yoke_book* book, int end, int64_t j, const yoke_ledger_view* view) {
  const yoke_ledger_end* e = &book->bond->ends[end];
  const size_t n = book->bond->n;
  double* in = book->four[end == 0 ? E_IN : F_IN];
  double* out = book->four[end == 0 ? F_OUT : E_OUT];
  if (e->n_steps > 1) {
    const double* at = view->strips + e->strip + (size_t)j * 2 * n;
    for (size_t i = 0; i < n; i++) {
      in[i] = at[i] * e->in_scale[i];
      out[i] = at[n + i] * e->out_scale[i];
    }
    return;
  }
  take(in, n, view->u, e->in, e->in_scale);
  take(out, n, e->is_ahead ? view->y_ahead : view->y, e->out, e->out_scale);
}

static void add_interval(yoke_book* book, double dt) {
  const yoke_ter_sample sample = {book->four[E_IN], book->four[F_OUT], book->four[F_IN],
                                  book->four[E_OUT]};
  if (book->bond->kind == YOKE_BOND_POWER) {
    yoke__ter_add(&book->ter, dt, book->bond->n, &sample);
    return;
  }
  // heat: what arrives minus what was sent
  for (size_t i = 0; i < book->bond->n; i++) {
    yoke__sum_add(&book->residual, (sample.e_in[i] - sample.e_out[i]) * dt);
    yoke__sum_add(&book->passed, sample.e_out[i] * dt);
    yoke__sum_add(&book->passed_magnitude, fabs(sample.e_out[i]) * dt);
  }
}

// the steps of the two ends on their common grid: end i changes at multiples of h / n_steps[i]
static void merge_steps(yoke_book* book, double h, const yoke_ledger_view* view) {
  const int64_t n0 = book->bond->ends[0].n_steps, n1 = book->bond->ends[1].n_steps;
  int64_t j0 = 0, j1 = 0, done = 0;  // done: in units of h / (n0 n1)
  while (j0 < n0 && j1 < n1) {
    take_end(book, 0, j0, view);
    take_end(book, 1, j1, view);
    const int64_t end0 = (j0 + 1) * n1, end1 = (j1 + 1) * n0;
    const int64_t end = end0 < end1 ? end0 : end1;
    add_interval(book, h * (double)(end - done) / (double)(n0 * n1));
    j0 += end0 == end;
    j1 += end1 == end;
    done = end;
  }
}

// one component between two units with one call per slot, the usual case
static inline void account_one(yoke_book* book, double h, const yoke_ledger_view* view) {
  const yoke_ledger_end *a = &book->bond->ends[0], *b = &book->bond->ends[1];
  const double* y0 = a->is_ahead ? view->y_ahead : view->y;
  const double* y1 = b->is_ahead ? view->y_ahead : view->y;
  yoke__ter_add_one(&book->ter, h, view->u[a->in[0]] * a->in_scale[0],
                    y0[a->out[0]] * a->out_scale[0], view->u[b->in[0]] * b->in_scale[0],
                    y1[b->out[0]] * b->out_scale[0]);
}

void yoke__ledger_account(yoke_ledger* ledger, double h, const yoke_ledger_view* view) {
  for (size_t i = 0; i < ledger->n_bonds; i++) {
    yoke_book* book = &ledger->books[i];
    const yoke_ledger_end* ends = book->bond->ends;
    if (!book->bond->has_ter) {
      continue;
    }
    if (book->is_simple) {
      account_one(book, h, view);
      continue;
    }
    if (ends[0].is_law || ends[1].is_law) {
      // laws are evaluated with the exchange: the other end's values are kept until then
      const int other = ends[0].is_law ? 1 : 0;
      if (ends[other].n_steps == 1 && !ends[other].is_law) {
        take_end(book, other, 0, view);
      }
    } else if (ends[0].n_steps == 1 && ends[1].n_steps == 1) {
      take_end(book, 0, 0, view);
      take_end(book, 1, 0, view);
      add_interval(book, h);
    } else {
      merge_steps(book, h, view);
    }
  }
}

// a bond with a law at one end, after the exchange
static void account_law(yoke_book* book, double h, const yoke_ledger_view* view) {
  const yoke_ledger_end* ends = book->bond->ends;
  for (int end = 0; end < 2; end++) {
    if (ends[end].is_law) {
      take_end(book, end, 0, view);
    }
  }
  const int other = ends[0].is_law ? 1 : 0;
  const int64_t n = ends[other].n_steps;
  for (int64_t j = 0; j < n; j++) {
    if (n > 1) {
      take_end(book, other, j, view);
    }
    add_interval(book, h / (double)n);
  }
}

// ---------------------------------------------------------------------------------------------------------
// alarms

static void open_alarm(yoke_ledger* ledger, yoke_book* book, yoke_indicator indicator,
                       yoke_alarm_level level, double t, double value, double limit) {
  book->n_alarms[level]++;
  ledger->is_violated = ledger->is_violated || book->bond->watch.is_limited;
  const bool is_listed = ledger->n_alarms < YOKE_LEDGER_MAX_ALARMS;
  const size_t index = is_listed ? ledger->n_alarms++ : YOKE_LEDGER_MAX_ALARMS;
  ledger->n_more += !is_listed;
  book->open[indicator] = index;
  ledger->alarms[index] =
      (yoke_alarm){(size_t)(book - ledger->books), indicator, level, t, NAN, value, limit, value};
}

// One indicator against its limits. A warning lasts until the value has stayed below a share of its limit for a window.
static yoke_alarm_level check(yoke_ledger* ledger, yoke_book* book, yoke_indicator indicator,
                              double t, double value, bool is_stop) {
  const yoke_ledger_watch* watch = &book->bond->watch;
  const double limit = watch->warn.value[indicator];
  const size_t open = book->open[indicator];
  if (is_stop) {
    open_alarm(ledger, book, indicator, YOKE_ALARM_STOP, t, value, watch->stop.value[indicator]);
    return YOKE_ALARM_STOP;
  }
  if (open == YOKE_NO_ALARM) {
    if (value > limit) {
      open_alarm(ledger, book, indicator, YOKE_ALARM_WARN, t, value, limit);
      book->t_above[indicator] = t;
    }
    return value > limit ? YOKE_ALARM_WARN : YOKE_ALARM_NONE;
  }
  yoke_alarm* alarm = &ledger->alarms[open];
  alarm->worst = value > alarm->worst ? value : alarm->worst;
  if (value > limit * watch->hysteresis) {
    book->t_above[indicator] = t;
  } else if (t - book->t_above[indicator] >= watch->window) {
    alarm->t_end = book->t_above[indicator];
    book->open[indicator] = YOKE_NO_ALARM;
  }
  return YOKE_ALARM_WARN;
}

// the usual case costs one comparison
static inline yoke_alarm_level check_quickly(yoke_ledger* ledger, yoke_book* book,
                                             yoke_indicator indicator, double t, double part,
                                             double whole, bool is_stop) {
  if (!is_stop && book->open[indicator] == YOKE_NO_ALARM &&
      part <= book->bond->watch.warn.value[indicator] * whole) {
    return YOKE_ALARM_NONE;
  }
  return check(ledger, book, indicator, t, part / whole, is_stop);
}

static yoke_alarm_level worse(yoke_alarm_level a, yoke_alarm_level b) {
  return a > b ? a : b;
}

// ---------------------------------------------------------------------------------------------------------
// residuals

#define STEP_RHO  0.5   // a single sample above it is a step or the onset of an artefact
#define BAD_RHO   0.25  // above it the exchange is too slow for the signals
#define N_PERSIST 10    // that many steps within a window are an artefact
#define FLOOR     1e-9  // [J] less throughput than this is none

static double energy_of(const yoke_book* book) {
  return book->bond->energy > 0 ? book->bond->energy : book->energy_high - book->energy_low;
}

// not while the system settles, nor while next to nothing is exchanged
static inline bool is_judged(const yoke_ledger* ledger, const yoke_book* book, double t) {
  const double scale = book->monitor->action_peak * book->monitor->rate_peak;
  return t - ledger->t_start >= book->bond->watch.settle * (1 - 1e-9) &&
         scale >= 1e-6 * book->bond->power;
}

static yoke_alarm_level judge(yoke_ledger* ledger, yoke_book* book, double t) {
  const yoke_ledger_watch* watch = &book->bond->watch;
  const double rho = book->monitor->rho;
  book->n_judged++;
  book->rho_sum += rho;
  book->n_bad_rho += rho > BAD_RHO;
  if (!(rho <= book->rho_worst)) {
    book->rho_worst = rho;
    book->t_rho_worst = t;
  }
  book->is_persistent = book->is_persistent || book->window.sums[3] > N_PERSIST;
  const bool is_rho_stop = book->over != NULL && rho > watch->stop.value[YOKE_INDICATOR_RHO] &&
                           book->over->sums[0] > (double)watch->persist;
  yoke_alarm_level level = check_quickly(ledger, book, YOKE_INDICATOR_RHO, t, rho, 1, is_rho_stop);

  // products instead of quotients: this runs in every step
  const double energy = energy_of(book), created = fabs(book->window.sums[0]);
  if (book->has_mu && energy > 0) {
    if (created > book->eps_worst * energy) {
      book->eps_worst = created / energy;
      book->t_eps_worst = t;
    }
    level = worse(level, check_quickly(ledger, book, YOKE_INDICATOR_EPS, t, created, energy,
                                       created > watch->stop.value[YOKE_INDICATOR_EPS] * energy));
  }
  const double ter = book->window.sums[1], throughput = book->window.sums[2];
  if (book->bond->has_ter && throughput > FLOOR) {
    if (ter > book->rter_worst * throughput) {
      book->rter_worst = ter / throughput;
    }
    level = worse(level, check_quickly(ledger, book, YOKE_INDICATOR_RTER, t, ter, throughput,
                                       ter > watch->stop.value[YOKE_INDICATOR_RTER] * throughput));
  }
  return level;
}

// energy that the last step created, as far as it is still there
static double created_by_step(yoke_book* book, double h) {
  if (book->bond->is_corrected) {
    const double change = book->remainder - book->remainder_last;
    book->remainder_last = book->remainder;
    return change;
  }
  return book->has_mu ? book->bond->mu * book->monitor->power_smooth * h : 0;
}

// what follows from the samples, whatever the bond is made of; power: action . rate
static inline yoke_alarm_level close_step(yoke_ledger* ledger, yoke_book* book, double t, double h,
                                          double power, double values[]) {
  const yoke_monitor* monitor = book->monitor;
  const double created = created_by_step(book, h);
  const double energy = yoke__is_finite(power * h) ? power * h : 0;
  const bool is_counted = is_judged(ledger, book, t);
  // the range of what has passed is the energy of the exchange, unless the user knows better
  const double passed = book->passed.high + energy;
  book->passed.high = passed;
  book->energy_high = passed > book->energy_high ? passed : book->energy_high;
  book->energy_low = passed < book->energy_low ? passed : book->energy_low;
  book->created.high += created;
  book->n_samples++;
  yoke__sum_add(&book->residual, monitor->power * h);
  const double ter = yoke__sum_value(&book->ter.total);
  const double throughput = yoke__sum_value(&book->ter.throughput);
  const double numbers[YOKE_WINDOW_NUMBERS] = {created, ter - book->ter_last,
                                               throughput - book->throughput_last,
                                               is_counted && monitor->rho > STEP_RHO};
  yoke__window_add_finite(&book->window, h, numbers);
  if (book->over != NULL) {
    const double limit = book->bond->watch.stop.value[YOKE_INDICATOR_RHO];
    const double over[YOKE_WINDOW_NUMBERS] = {is_counted && monitor->rho > limit};
    yoke__window_add_finite(book->over, h, over);
  }
  book->ter_last = ter;
  book->throughput_last = throughput;
  values[YOKE_LEDGER_P] = power;
  values[YOKE_LEDGER_DP] = monitor->power;
  values[YOKE_LEDGER_DE] = yoke__sum_value(&book->residual);
  values[YOKE_LEDGER_RHO] = monitor->rho;
  values[YOKE_LEDGER_TER] = ter;
  book->t_last = t;
  return is_counted ? judge(ledger, book, t) : YOKE_ALARM_NONE;
}

static yoke_alarm_level observe_bond(yoke_ledger* ledger, yoke_book* book, double t, double h,
                                     const double y[], const double held[], double values[]) {
  const yoke_ledger_bond* bond = book->bond;
  take(book->action, bond->n, y, bond->action, bond->action_scale);
  take(book->rate, bond->n, y, bond->rate, bond->rate_scale);
  const double power = dot(bond->n, book->action, book->rate);
  if (bond->kind == YOKE_BOND_HEAT) {
    values[YOKE_LEDGER_P] = power;
    values[YOKE_LEDGER_DE] = yoke__sum_value(&book->residual);
    return YOKE_ALARM_NONE;
  }
  if (bond->residual == YOKE_RESIDUAL_HELD) {
    for (size_t i = 0; i < bond->n; i++) {
      book->held[i] = held[i] * bond->action_scale[i];
    }
    yoke__monitor_update_held(book->monitor, h, book->held, book->action, book->rate);
  } else if (book->monitor == &book->own_monitor) {
    yoke__monitor_update(book->monitor, h, book->action, book->rate);
  }
  return close_step(ledger, book, t, h, power, values);
}

// one component between two units, the usual case: the same numbers without arrays
static yoke_alarm_level observe_one(yoke_ledger* ledger, yoke_book* book, double t, double h,
                                    const double y[], double values[]) {
  const yoke_ledger_bond* bond = book->bond;
  const double action = y[bond->action[0]] * bond->action_scale[0];
  const double rate = y[bond->rate[0]] * bond->rate_scale[0];
  if (book->monitor == &book->own_monitor &&
      !yoke__monitor_update_one(book->monitor, h, action, rate)) {
    yoke__monitor_update(book->monitor, h, &action, &rate);
  }
  return close_step(ledger, book, t, h, action * rate, values);
}

yoke_alarm_level yoke__ledger_observe(yoke_ledger* ledger, double t, double h,
                                      const yoke_ledger_view* view, const double held[]) {
  yoke_alarm_level level = YOKE_ALARM_NONE;
  for (size_t i = 0; i < ledger->n_bonds; i++) {
    yoke_book* book = &ledger->books[i];
    const yoke_ledger_bond* bond = book->bond;
    if (bond->has_ter && (bond->ends[0].is_law || bond->ends[1].is_law)) {
      account_law(book, h, view);
    }
    book->since += h;
    if (--book->wait == 0) {
      double* values = ledger->values + i * YOKE_LEDGER_N_VALUES;
      const double since = book->since;
      book->wait = bond->every;
      book->since = 0;
      level = worse(level, book->is_simple
                               ? observe_one(ledger, book, t, since, view->y, values)
                               : observe_bond(ledger, book, t, since, view->y, held, values));
    }
    held += bond->residual == YOKE_RESIDUAL_HELD ? bond->n : 0;
  }
  if (ledger->n_bonds == 1 && ledger->books[0].bond->kind == YOKE_BOND_POWER) {
    memcpy(ledger->values + YOKE_LEDGER_N_VALUES, ledger->values,
           YOKE_LEDGER_N_VALUES * sizeof *ledger->values);
  } else {
    add_total(ledger);
  }
  return level;
}

void yoke__ledger_share_monitor(yoke_ledger* ledger, size_t bond, yoke_monitor* monitor) {
  ledger->books[bond].monitor = monitor;
}

void yoke__ledger_set_remainder(yoke_ledger* ledger, size_t bond, double remainder) {
  ledger->books[bond].remainder = remainder;
}

const double* yoke__ledger_values(const yoke_ledger* ledger) {
  return ledger->values;
}

double yoke__ledger_rho(const yoke_ledger* ledger) {
  double most = 0;
  for (size_t i = 0; i < ledger->n_bonds; i++) {
    most = fmax(most, ledger->books[i].monitor->rho);
  }
  return most;
}
