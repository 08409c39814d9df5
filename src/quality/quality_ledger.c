// The books of all bonds while the system runs, and the short way of the usual bond. The others are in quality_bond.c,
// alarms in quality_alarm.c; what the books say in the end is in quality_verdict.c.
#include "quality/quality_ledger.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "quality/quality_books.h"

const char* const yoke__ledger_value_names[YOKE_LEDGER_N_VALUES] = {"P", "dP", "dE", "rho", "ter"};
const char* const yoke__ledger_value_dims[YOKE_LEDGER_N_VALUES] = {"W", "W", "J", "1", "J"};

// ---------------------------------------------------------------------------------------------------------
// memory

// One component that exchanges in every slot between two units with one call per slot needs no arrays, strips or counters.
static void lay_ports(yoke_book* book) {
  const yoke_ledger_bond* bond = book->bond;
  const yoke_ledger_end *a = &bond->ends[0], *b = &bond->ends[1];
  book->is_simple = bond->n == 1 && bond->every == 1 && bond->kind == YOKE_BOND_POWER &&
                    bond->has_ter && bond->residual == YOKE_RESIDUAL_SAMPLES && !a->is_law &&
                    !b->is_law && !a->is_ahead && !b->is_ahead && a->n_steps == 1 &&
                    b->n_steps == 1;
  if (book->is_simple) {
    book->action_port = (yoke_book_port){bond->action[0], bond->action_scale[0]};
    book->rate_port = (yoke_book_port){bond->rate[0], bond->rate_scale[0]};
    book->e_in = (yoke_book_port){a->in[0], a->in_scale[0]};
    book->f_out = (yoke_book_port){a->out[0], a->out_scale[0]};
    book->f_in = (yoke_book_port){b->in[0], b->in_scale[0]};
    book->e_out = (yoke_book_port){b->out[0], b->out_scale[0]};
  }
}

static yoke_status lay_book(yoke_arena* arena, const yoke_ledger_bond* bond, yoke_book* book) {
  const size_t n = bond->n;
  *book = (yoke_book){.bond = bond,
                      .monitor = &book->own_monitor,
                      .has_mu = !isnan(bond->mu),
                      .is_counted = bond->watch.period <= 0 && bond->watch.window <= 0,
                      .exchange_s = bond->is_adaptive ? bond->longest : bond->interval,
                      .t_eps_worst = (double)NAN,
                      .t_rho_worst = (double)NAN};
  book->action = yoke__arena_array(arena, n, sizeof(double));
  book->rate = yoke__arena_array(arena, n, sizeof(double));
  book->held = yoke__arena_array(arena, n, sizeof(double));
  book->monitor_memory = yoke__arena_array(arena, yoke__monitor_numbers(n), sizeof(double));
  book->rate_before = yoke__arena_array(arena, n, sizeof(double));
  if (bond->is_autonomous && book->has_mu && bond->has_ter && bond->kind == YOKE_BOND_POWER) {
    book->history = yoke__arena_take(arena, sizeof *book->history);
    YOKE_TRY_MEMORY(book->history);
  }
  book->period_memory = yoke__arena_array(arena, yoke__period_numbers(n), sizeof(double));
  for (size_t i = 0; i < 4; i++) {
    book->four[i] = yoke__arena_array(arena, n, sizeof(double));
    YOKE_TRY_MEMORY(book->four[i]);
  }
  lay_ports(book);
  for (size_t i = 0; i < YOKE_N_INDICATORS; i++) {
    book->open[i] = YOKE_NO_ALARM;
  }
  yoke__book_quieten(book);
  if (bond->watch.stop.value[YOKE_INDICATOR_RHO] < HUGE_VAL) {
    book->over = yoke__arena_take(arena, sizeof *book->over);
    YOKE_TRY_MEMORY(book->over);
  }
  const bool is_laid = book->action != NULL && book->rate != NULL && book->held != NULL &&
                       book->monitor_memory != NULL && book->period_memory != NULL &&
                       book->rate_before != NULL;
  return is_laid ? YOKE_OK : YOKE_NO_MEMORY;
}

yoke_status yoke__ledger_create(yoke_arena* arena, const yoke_ledger_bond bonds[], size_t n_bonds,
                                double slot, yoke_ledger** out) {
  yoke_ledger* ledger = yoke__arena_take(arena, sizeof *ledger);
  YOKE_TRY_MEMORY(ledger);
  *ledger = (yoke_ledger){.n_bonds = n_bonds, .slot = slot};
  ledger->books = yoke__arena_array(arena, n_bonds + 1, sizeof *ledger->books);
  ledger->values =
      yoke__arena_array(arena, (n_bonds + 1) * YOKE_LEDGER_N_VALUES, sizeof *ledger->values);
  ledger->alarms = yoke__arena_array(arena, YOKE_LEDGER_MAX_ALARMS + 2, sizeof *ledger->alarms);
  YOKE_TRY_MEMORY(ledger->books && ledger->values && ledger->alarms);
  ledger->end = ledger->books + n_bonds;
  size_t first_held = 0;
  for (size_t i = 0; i < n_bonds; i++) {
    YOKE_TRY(lay_book(arena, &bonds[i], &ledger->books[i]));
    ledger->has_others = ledger->has_others || !ledger->books[i].is_simple;
    ledger->books[i].first_held = first_held;
    first_held += bonds[i].residual == YOKE_RESIDUAL_HELD ? bonds[i].n : 0;
  }
  *out = ledger;
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// samples

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
    const double power = yoke__book_take(book, y);
    yoke__book_start_times(book);
    book->given = 0;
    book->is_written = false;
    book->call_slots = 0;
    for (size_t k = 0; k < bond->n && bond->has_ter; k++) {
      book->rate_before[k] = y[bond->ends[0].out[k]] * bond->ends[0].out_scale[k];
    }
    if (book->history != NULL) {
      yoke__history_start(book->history);
    }
    book->wait = bond->every;
    book->t_last = t;
    ledger->values[i * YOKE_LEDGER_N_VALUES + YOKE_LEDGER_P] = power;
  }
  if (ledger->n_bonds > 1) {
    add_total(ledger);
  }
}

// ---------------------------------------------------------------------------------------------------------
// total energy residual

static inline double read_port(const yoke_book_port* port, const double numbers[]) {
  return numbers[port->at] * port->scale;
}

// one component between two units with one call per slot, the usual case
static inline void account_one(yoke_book* book, double h, const double y[], const double u[]) {
  const double e_in = read_port(&book->e_in, u), f_out = read_port(&book->f_out, y);
  const double f_in = read_port(&book->f_in, u), e_out = read_port(&book->e_out, y);
  const double given = e_in * (book->rate_before[0] + f_out) * (0.5 * h);
  book->rate_before[0] = f_out;
  if (fabs(given) <= DBL_MAX) {
    book->given += given;
  }
  yoke__ter_add_one(&book->ter, h, e_in, f_out, f_in, e_out);
}

void yoke__ledger_account(yoke_ledger* ledger, double h, const yoke_ledger_view* view) {
  const double *y = view->y, *u = view->u;
  const yoke_book* end = ledger->end;
  for (yoke_book* book = ledger->books; book < end; book++) {
    if (book->is_simple) {
      account_one(book, h, y, u);
    }
  }
  if (ledger->has_others) {
    yoke__books_account(ledger, h, view);
  }
}

// ---------------------------------------------------------------------------------------------------------
// residuals

#define STEP_RHO 0.5  // a single sample above it is a step or the onset of an artefact

#define LEAST_THROUGHPUT 1e-9  // of the busiest window: a window with less is at rest

// not while the system settles, nor while next to nothing is exchanged
static inline bool is_judged(const yoke_ledger* ledger, const yoke_book* book, double t) {
  return t - ledger->t_start >= book->settle &&
         book->window.sums[YOKE_BOOK_THROUGHPUT] >= LEAST_THROUGHPUT * book->busiest;
}

// Most samples change nothing: no new worst value, no alarm open or to be opened. A steep one is never quiet.
static inline yoke_alarm_level judge(yoke_ledger* ledger, yoke_book* book, double t, double rho) {
  const double* sums = book->window.sums;
  book->n_judged += !book->is_resting;
  book->rho_sum += rho;
  // products instead of quotients: this runs in every step
  const bool is_quiet =
      rho <= book->quiet[YOKE_INDICATOR_RHO] &&
      fabs(sums[YOKE_BOOK_CREATED]) <= book->quiet[YOKE_INDICATOR_EPS] * yoke__book_energy(book) &&
      sums[YOKE_BOOK_TER] <= book->quiet[YOKE_INDICATOR_RTER] * sums[YOKE_BOOK_THROUGHPUT];
  return is_quiet ? YOKE_ALARM_NONE : yoke__book_judge(ledger, book, t);
}

// energy that the last step created, as far as it is still there
static inline double created_by_step(yoke_book* book, double h) {
  if (book->bond->is_corrected) {
    const double change = book->remainder - book->remainder_last;
    book->remainder_last = book->remainder;
    return change;
  }
  return book->has_mu ? book->bond->mu * book->monitor->power_smooth * h : 0;
}

// What follows from the samples, whatever the bond is made of. power: action . rate; is_usual: see there.
static YOKE_INLINE yoke_alarm_level close_step(yoke_ledger* ledger, yoke_book* book, double t,
                                               double h, double power, double values[],
                                               bool is_usual) {
  const double dP = book->monitor->power, rho = yoke__book_rho(book);
  values[YOKE_LEDGER_P] = power;
  values[YOKE_LEDGER_DP] = dP;
  values[YOKE_LEDGER_RHO] = book->monitor->rho;
  const double created = created_by_step(book, h);
  // the range of what has passed is the energy of the exchange, unless the user knows better; one that is not finite is
  // left out
  const double energy = power * h;
  if (fabs(energy) <= DBL_MAX) {
    const double passed = book->passed.high + energy;
    book->passed.high = passed;
    book->energy_high = passed > book->energy_high ? passed : book->energy_high;
    book->energy_low = passed < book->energy_low ? passed : book->energy_low;
  }
  book->created.high += created;
  book->n_samples++;
  yoke__sum_add(&book->residual, dP * h);
  const double residual = yoke__sum_value(&book->residual);
  values[YOKE_LEDGER_DE] = residual;
  const double ter = yoke__ter_total(&book->ter);
  const double throughput = yoke__ter_throughput(&book->ter);
  values[YOKE_LEDGER_TER] = ter;
  double steep = 0;
  if (rho > STEP_RHO) {
    steep = is_judged(ledger, book, t);
  }
  const double length = !book->is_counted ? h : is_usual ? 1 : yoke__book_exchanges(book, h);
  const double ter_now = ter - book->ter_last, passes = throughput - book->throughput_last;
  const bool has_ter = is_usual || book->bond->has_ter;
  if (is_usual || (has_ter && yoke__window_has_room(&book->window, length))) {
    yoke__window_add_usual(&book->window, length, ter_now, passes, created, steep);
  } else {
    // where nobody receives what the bond names, the samples say what passes
    yoke__window_add_four(&book->window, length, ter_now, has_ter ? passes : fabs(energy), created,
                          steep);
  }
  book->ter_last = ter;
  book->throughput_last = throughput;
  book->t_last = t;
  book->busiest = book->window.sums[YOKE_BOOK_THROUGHPUT] > book->busiest
                      ? book->window.sums[YOKE_BOOK_THROUGHPUT]
                      : book->busiest;
  if (!is_usual && book->over != NULL) {
    const double limit = book->bond->watch.stop.value[YOKE_INDICATOR_RHO];
    const bool is_over = rho > limit && is_judged(ledger, book, t);
    yoke__window_add_four(book->over, length, is_over, 0, 0, 0);
  }
  if (book->history != NULL && is_usual) {
    yoke__history_add_inside(book->history, residual);
  } else if (book->history != NULL) {
    yoke__history_add(book->history, residual);
  }
  return is_judged(ledger, book, t) ? judge(ledger, book, t, rho) : YOKE_ALARM_NONE;
}

// The new samples of a simple bond; action . rate.
static inline double take_one(yoke_book* book, double action, double rate) {
  book->is_resting =
      yoke__is_rounding(action, book->action[0]) && yoke__is_rounding(rate, book->rate[0]);
  book->action[0] = action;
  book->rate[0] = rate;
  return 0 + action * rate;  // as any other sum: never -0
}

// The same, and its monitor sees them. The same numbers as yoke__book_sample.
static inline double sample_one(yoke_book* book, double h, const double y[]) {
  const double action = read_port(&book->action_port, y), rate = read_port(&book->rate_port, y);
  const double power = take_one(book, action, rate);
  if (book->monitor == &book->own_monitor &&
      !yoke__monitor_update_one(book->monitor, h, action, rate)) {
    yoke__monitor_update(book->monitor, h, book->action, book->rate);
  }
  return power;
}

static YOKE_NOINLINE yoke_alarm_level observe_any(yoke_ledger* ledger, double t, double h,
                                                  const yoke_ledger_view* view,
                                                  const double held[]) {
  yoke_alarm_level level = YOKE_ALARM_NONE;
  double* values = ledger->values;
  for (yoke_book* book = ledger->books; book < ledger->end;
       book++, values += YOKE_LEDGER_N_VALUES) {
    yoke_book_sample sample = {0, h};
    if (book->is_simple) {
      sample.power = sample_one(book, h, view->y);
    } else {
      sample = yoke__book_observe(book, h, view, held, values);
      if (sample.h < 0) {
        continue;
      }
    }
    if (book->is_learning) {
      yoke__book_learn_period(book, sample.h);
    }
    const yoke_alarm_level now = close_step(ledger, book, t, sample.h, sample.power, values, false);
    level = now > level ? now : level;
  }
  if (ledger->n_bonds > 1) {
    add_total(ledger);
  }
  return level;
}

// A simple bond while nothing is learnt, begins or ends: no call is needed.
static inline bool is_usual(const yoke_book* book, double h) {
  const yoke_history* history = book->history;
  return book->is_simple && !book->is_learning && book->over == NULL &&
         (!book->is_counted || h == book->exchange_s) &&
         yoke__window_has_room(&book->window, book->is_counted ? 1 : h) &&
         (history == NULL || yoke__history_is_inside(history));
}

yoke_alarm_level yoke__ledger_observe(yoke_ledger* ledger, double t, double h,
                                      const yoke_ledger_view* view, const double held[]) {
  yoke_book* book = ledger->books;
  if (ledger->n_bonds != 1 || !is_usual(book, h)) {
    return observe_any(ledger, t, h, view, held);
  }
  const double action = read_port(&book->action_port, view->y);
  const double rate = read_port(&book->rate_port, view->y);
  if (book->monitor == &book->own_monitor &&
      !yoke__monitor_update_one(&book->own_monitor, h, action, rate)) {
    return observe_any(ledger, t, h, view, held);
  }
  const double power = take_one(book, action, rate);
  return close_step(ledger, book, t, h, power, ledger->values, true);
}

void yoke__ledger_share_monitor(yoke_ledger* ledger, size_t bond, yoke_monitor* monitor) {
  ledger->books[bond].monitor = monitor;
}

const yoke_monitor_settings* yoke__ledger_monitor_settings(const yoke_ledger* ledger, size_t bond) {
  const yoke_book* book = &ledger->books[bond];
  return book->is_learning ? NULL : &book->own_monitor.settings;
}

void yoke__ledger_note_write(yoke_ledger* ledger) {
  for (size_t i = 0; i < ledger->n_bonds; i++) {
    ledger->books[i].is_written = true;
  }
}

double* yoke__ledger_remainder(yoke_ledger* ledger, size_t bond) {
  return &ledger->books[bond].remainder;
}

const double* yoke__ledger_values(const yoke_ledger* ledger) {
  return ledger->values;
}

static void image_book(yoke_book* book, yoke_image* image) {
  const size_t n = book->bond->n;
  yoke_image_block block = yoke__image_open(image, book, sizeof *book);
  YOKE_IMAGE_SKIP(&block, book, bond, bond);
  YOKE_IMAGE_SKIP(&block, book, own_monitor.action, own_monitor.offset);
  YOKE_IMAGE_SKIP(&block, book, monitor, monitor);
  YOKE_IMAGE_SKIP(&block, book, action, rate_before);
  YOKE_IMAGE_SKIP(&block, book, history, over);
  yoke__image_close(&block);
  yoke__image_part(image, book->action, n * sizeof(double));
  yoke__image_part(image, book->rate, n * sizeof(double));
  yoke__image_part(image, book->held, n * sizeof(double));
  for (size_t i = 0; i < 4; i++) {
    yoke__image_part(image, book->four[i], n * sizeof(double));
  }
  yoke__image_part(image, book->monitor_memory, yoke__monitor_numbers(n) * sizeof(double));
  yoke__image_part(image, book->period_memory, yoke__period_numbers(n) * sizeof(double));
  yoke__image_part(image, book->rate_before, n * sizeof(double));
  if (book->history != NULL) {
    YOKE_IMAGE_VALUE(image, *book->history);
  }
  if (book->over != NULL) {
    YOKE_IMAGE_VALUE(image, *book->over);
  }
}

void yoke__ledger_image(yoke_ledger* ledger, yoke_image* image) {
  const size_t n_values = (ledger->n_bonds + 1) * YOKE_LEDGER_N_VALUES;
  for (size_t i = 0; i < ledger->n_bonds; i++) {
    image_book(&ledger->books[i], image);
  }
  yoke__image_part(image, ledger->values, n_values * sizeof *ledger->values);
  yoke__image_part(image, ledger->alarms, (YOKE_LEDGER_MAX_ALARMS + 2) * sizeof *ledger->alarms);
  YOKE_IMAGE_VALUE(image, ledger->n_alarms);
  YOKE_IMAGE_VALUE(image, ledger->n_more);
  YOKE_IMAGE_VALUE(image, ledger->is_violated);
}

double yoke__ledger_rho(const yoke_ledger* ledger) {
  double most = 0;
  for (size_t i = 0; i < ledger->n_bonds; i++) {
    most = fmax(most, ledger->books[i].monitor->rho);
  }
  return most;
}
