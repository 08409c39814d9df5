// The books of all bonds while the system runs, and the short way of the usual bond. The others are in quality_bond.c,
// alarms in quality_alarm.c; what the books say in the end is in quality_verdict.c.
#include "quality/quality_ledger.h"

#include <math.h>
#include <string.h>

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
                       book->monitor_memory != NULL && book->period_memory != NULL;
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
  size_t first_held = 0;
  for (size_t i = 0; i < n_bonds; i++) {
    YOKE_TRY(lay_book(arena, &bonds[i], &ledger->books[i]));
    ledger->books[i].first_held = first_held;
    first_held += bonds[i].residual == YOKE_RESIDUAL_HELD ? bonds[i].n : 0;
  }
  *out = ledger;
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// times

#define PEAKS_PERIODS  10
#define OFFSET_PERIODS 20
#define WINDOW_PERIODS 10
#define SETTLE_PERIODS 5

// All times of a bond follow from the period of its signals, unless the user gives one.
static void set_period(yoke_book* book, double period) {
  const yoke_ledger_watch* watch = &book->bond->watch;
  book->period_s = period;
  book->window_s = watch->window > 0 ? watch->window : WINDOW_PERIODS * period;
  // times are sums of steps: one that is meant to be reached is
  book->settle = (watch->settle >= 0 ? watch->settle : SETTLE_PERIODS * period) * (1 - 1e-9);
}

static void start_times(yoke_book* book) {
  const yoke_ledger_bond* bond = book->bond;
  yoke__period_start(&book->period, bond->n, book->period_memory, book->action);
  book->is_learning = bond->watch.period <= 0 && bond->kind == YOKE_BOND_POWER;
  set_period(book,
             bond->watch.period > 0 ? bond->watch.period : book->period.length * book->exchange_s);
  const yoke_monitor_settings settings = {.peak_time = PEAKS_PERIODS * book->period_s,
                                          .offset_time = OFFSET_PERIODS * book->period_s,
                                          .offset_gain = 1};
  yoke__monitor_start(&book->own_monitor, &settings, bond->n, book->monitor_memory, book->action,
                      book->rate);
  const double length = book->is_counted ? WINDOW_PERIODS * book->period.length : book->window_s;
  yoke__window_start(&book->window, length);
  if (book->over != NULL) {
    yoke__window_start(book->over, length);
  }
}

// how many exchange intervals h is: a whole number unless the residual chooses the step
static inline double count_exchanges(const yoke_book* book, double h) {
  if (h == book->exchange_s) {
    return 1;
  }
  const double n = h / book->exchange_s, whole = nearbyint(n);
  return fabs(n - whole) < 1e-9 * whole ? whole : n;
}

// The period may have changed with this sample.
static void learn_period(yoke_book* book, double h) {
  const bool is_new = yoke__period_observe(&book->period, count_exchanges(book, h), book->bond->n,
                                           book->period_memory, book->action);
  book->is_learning = !yoke__period_is_learnt(&book->period);
  if (!is_new) {
    return;
  }
  set_period(book, book->period.length * book->exchange_s);
  yoke__monitor_set_times(&book->own_monitor, PEAKS_PERIODS * book->period_s,
                          OFFSET_PERIODS * book->period_s);
  if (book->is_counted) {
    yoke__window_set_length(&book->window, WINDOW_PERIODS * book->period.length);
    if (book->over != NULL) {
      yoke__window_set_length(book->over, WINDOW_PERIODS * book->period.length);
    }
  }
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
    start_times(book);
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
  yoke__ter_add_one(&book->ter, h, read_port(&book->e_in, u), read_port(&book->f_out, y),
                    read_port(&book->f_in, u), read_port(&book->e_out, y));
}

void yoke__ledger_account(yoke_ledger* ledger, double h, const yoke_ledger_view* view) {
  yoke_book* last = ledger->books + ledger->n_bonds;
  for (yoke_book* book = ledger->books; book < last; book++) {
    if (book->is_simple) {
      account_one(book, h, view->y, view->u);
    } else {
      yoke__book_account(book, h, view);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// residuals

#define STEP_RHO 0.5  // a single sample above it is a step or the onset of an artefact

#define LEAST_THROUGHPUT 1e-9  // of the busiest window: a window with less is at rest

// not while the system settles, nor while next to nothing is exchanged
static inline bool is_judged(const yoke_ledger* ledger, const yoke_book* book, double t) {
  return t - ledger->t_start >= book->settle &&
         book->window.sums[2] >= LEAST_THROUGHPUT * book->busiest;
}

// Most samples change nothing: no new worst value, no alarm open or to be opened. A steep one is never quiet.
static inline yoke_alarm_level judge(yoke_ledger* ledger, yoke_book* book, double t) {
  const double* sums = book->window.sums;
  const double rho = yoke__book_rho(book);
  book->n_judged += !book->is_resting;
  book->rho_sum += rho;
  // products instead of quotients: this runs in every step
  const bool is_quiet =
      rho <= book->quiet[YOKE_INDICATOR_RHO] &&
      fabs(sums[0]) <= book->quiet[YOKE_INDICATOR_EPS] * yoke__book_energy(book) &&
      sums[1] <= book->quiet[YOKE_INDICATOR_RTER] * sums[2];
  return is_quiet ? YOKE_ALARM_NONE : yoke__book_judge(ledger, book, t);
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
static yoke_alarm_level close_step(yoke_ledger* ledger, yoke_book* book, double t, double h,
                                   double power, double values[]) {
  const yoke_monitor* monitor = book->monitor;
  const double created = created_by_step(book, h);
  const double energy = power * h * 0 == 0 ? power * h : 0;  // one that is not finite is left out
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
  double steep = 0;
  if (yoke__book_rho(book) > STEP_RHO) {
    steep = is_judged(ledger, book, t);
  }
  const double length = book->is_counted ? count_exchanges(book, h) : h;
  // where nobody receives what the bond names, the samples say what passes
  const double passes = book->bond->has_ter ? throughput - book->throughput_last : fabs(energy);
  yoke__window_add_finite(&book->window, length,
                          (yoke_window_numbers){created, ter - book->ter_last, passes, steep});
  book->busiest = book->window.sums[2] > book->busiest ? book->window.sums[2] : book->busiest;
  if (book->over != NULL) {
    const double limit = book->bond->watch.stop.value[YOKE_INDICATOR_RHO];
    yoke__window_add_finite(
        book->over, length,
        (yoke_window_numbers){.a = yoke__book_rho(book) > limit && is_judged(ledger, book, t)});
  }
  book->ter_last = ter;
  book->throughput_last = throughput;
  values[YOKE_LEDGER_P] = power;
  values[YOKE_LEDGER_DP] = monitor->power;
  values[YOKE_LEDGER_DE] = yoke__sum_value(&book->residual);
  values[YOKE_LEDGER_RHO] = monitor->rho;
  values[YOKE_LEDGER_TER] = ter;
  book->t_last = t;
  return is_judged(ledger, book, t) ? judge(ledger, book, t) : YOKE_ALARM_NONE;
}

// The new samples of a simple bond, which its monitor sees; action . rate. The same numbers as yoke__book_sample.
static inline double sample_one(yoke_book* book, double h, const double y[]) {
  const double action = read_port(&book->action_port, y), rate = read_port(&book->rate_port, y);
  book->is_resting =
      yoke__is_rounding(action, book->action[0]) && yoke__is_rounding(rate, book->rate[0]);
  book->action[0] = action;
  book->rate[0] = rate;
  if (book->monitor == &book->own_monitor &&
      !yoke__monitor_update_one(book->monitor, h, action, rate)) {
    yoke__monitor_update(book->monitor, h, book->action, book->rate);
  }
  return 0 + action * rate;  // as any other sum: never -0
}

yoke_alarm_level yoke__ledger_observe(yoke_ledger* ledger, double t, double h,
                                      const yoke_ledger_view* view, const double held[]) {
  yoke_alarm_level level = YOKE_ALARM_NONE;
  double* values = ledger->values;
  yoke_book* end = ledger->books + ledger->n_bonds;
  for (yoke_book* book = ledger->books; book < end; book++, values += YOKE_LEDGER_N_VALUES) {
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
      learn_period(book, sample.h);
    }
    const yoke_alarm_level now = close_step(ledger, book, t, sample.h, sample.power, values);
    level = now > level ? now : level;
  }
  if (ledger->n_bonds > 1) {
    add_total(ledger);
  }
  return level;
}

void yoke__ledger_share_monitor(yoke_ledger* ledger, size_t bond, yoke_monitor* monitor) {
  ledger->books[bond].monitor = monitor;
}

const yoke_monitor_settings* yoke__ledger_monitor_settings(const yoke_ledger* ledger, size_t bond) {
  const yoke_book* book = &ledger->books[bond];
  return book->is_learning ? NULL : &book->own_monitor.settings;
}

void yoke__ledger_set_remainder(yoke_ledger* ledger, size_t bond, double remainder) {
  ledger->books[bond].remainder = remainder;
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
  YOKE_IMAGE_SKIP(&block, book, action, period_memory);
  YOKE_IMAGE_SKIP(&block, book, over, over);
  yoke__image_close(&block);
  yoke__image_part(image, book->action, n * sizeof(double));
  yoke__image_part(image, book->rate, n * sizeof(double));
  yoke__image_part(image, book->held, n * sizeof(double));
  for (size_t i = 0; i < 4; i++) {
    yoke__image_part(image, book->four[i], n * sizeof(double));
  }
  yoke__image_part(image, book->monitor_memory, yoke__monitor_numbers(n) * sizeof(double));
  yoke__image_part(image, book->period_memory, yoke__period_numbers(n) * sizeof(double));
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
