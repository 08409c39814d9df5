// A bond of any kind in its book: several components, several calls per slot, exchanges every few slots, laws at one end,
// actions rebuilt with the partner held, heat. The usual bond has a shorter way in quality_ledger.c, with the same numbers.
#include <math.h>

#include "quality/quality_books.h"

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

// the same; true if all of them are as they were, up to rounding
static bool take_again(double to[], size_t n, const double from[], const size_t at[],
                       const double scale[]) {
  bool is_same = true;
  for (size_t i = 0; i < n; i++) {
    const double now = from[at[i]] * scale[i];
    is_same = is_same && yoke__is_rounding(now, to[i]);
    to[i] = now;
  }
  return is_same;
}

double yoke__book_take(yoke_book* book, const double y[]) {
  const yoke_ledger_bond* bond = book->bond;
  const bool is_action_same =
      take_again(book->action, bond->n, y, bond->action, bond->action_scale);
  const bool is_rate_same = take_again(book->rate, bond->n, y, bond->rate, bond->rate_scale);
  book->is_resting = is_action_same && is_rate_same;
  return dot(bond->n, book->action, book->rate);
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

// what the unit that receives the action was given in a time dt of one call, from what it received and returned
static void add_given(yoke_book* book, double dt) {
  double power = 0;
  for (size_t i = 0; i < book->bond->n; i++) {
    power += book->four[E_IN][i] * (book->rate_before[i] + book->four[F_OUT][i]) * 0.5;
  }
  book->given += power * dt * 0 == 0 ? power * dt : 0;
}

static void end_call(yoke_book* book) {
  for (size_t i = 0; i < book->bond->n; i++) {
    book->rate_before[i] = book->four[F_OUT][i];
  }
}

// the same of all its calls in a slot
static void account_given(yoke_book* book, double h, const yoke_ledger_view* view) {
  const yoke_ledger_end* end = &book->bond->ends[0];
  for (int64_t j = 0; j < end->n_steps; j++) {
    take_end(book, 0, j, view);
    add_given(book, h / (double)end->n_steps);
    if (end->n_slots <= 1 || ++book->call_slots == end->n_slots) {
      end_call(book);
      book->call_slots = 0;
    }
  }
}

static void account(yoke_book* book, double h, const yoke_ledger_view* view) {
  const yoke_ledger_end* ends = book->bond->ends;
  if (!book->bond->has_ter) {
    return;
  }
  if (!ends[0].is_law && book->bond->kind == YOKE_BOND_POWER) {
    account_given(book, h, view);
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

void yoke__books_account(yoke_ledger* ledger, double h, const yoke_ledger_view* view) {
  for (yoke_book* book = ledger->books; book < ledger->end; book++) {
    if (!book->is_simple) {
      account(book, h, view);
    }
  }
}

// A slow unit that is called once between two exchanges with a law: both have one value for all of that time. The law is
// evaluated in between too, for others.
static bool is_one_call(const yoke_ledger_bond* bond) {
  const yoke_ledger_end* unit = &bond->ends[bond->ends[0].is_law ? 1 : 0];
  return unit->n_slots > 1 && unit->n_slots == bond->every;
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
  if (ends[0].is_law && book->bond->kind == YOKE_BOND_POWER) {
    add_given(book, h);
    end_call(book);
  }
}

// ---------------------------------------------------------------------------------------------------------
// samples

// the new samples of a bond, which its monitor sees; action . rate
static double sample_bond(yoke_book* book, double h, const double y[], const double held[]) {
  const yoke_ledger_bond* bond = book->bond;
  const double power = yoke__book_take(book, y);
  if (bond->kind == YOKE_BOND_HEAT) {
    return power;
  }
  if (bond->residual == YOKE_RESIDUAL_HELD) {
    for (size_t i = 0; i < bond->n; i++) {
      book->held[i] = held[i] * bond->action_scale[i];
    }
    yoke__monitor_update_held(book->monitor, h, book->held, book->action, book->rate);
  } else if (book->monitor == &book->own_monitor) {
    yoke__monitor_update(book->monitor, h, book->action, book->rate);
  }
  return power;
}

// a slot has passed: is there an exchange at its end? since: the time since the last one
static bool is_exchanged(yoke_book* book, double h, double* since) {
  book->since += h;
  *since = book->since;
  if (--book->wait > 0) {
    return false;
  }
  book->wait = book->bond->every;
  book->since = 0;
  return true;
}

yoke_book_sample yoke__book_observe(yoke_book* book, double h, const yoke_ledger_view* view,
                                    const double held[], double values[]) {
  const yoke_ledger_bond* bond = book->bond;
  const yoke_book_sample none = {0, -1};
  const bool has_law = bond->has_ter && (bond->ends[0].is_law || bond->ends[1].is_law);
  const bool is_whole = has_law && is_one_call(bond);
  if (has_law && !is_whole) {
    account_law(book, h, view);
  }
  double since = 0;
  if (!is_exchanged(book, h, &since)) {
    return none;
  }
  if (is_whole) {
    account_law(book, since, view);
  }
  const double power = sample_bond(book, since, view->y, held + book->first_held);
  if (bond->kind == YOKE_BOND_HEAT) {
    values[YOKE_LEDGER_P] = power;
    values[YOKE_LEDGER_DE] = yoke__sum_value(&book->residual);
    return none;
  }
  return (yoke_book_sample){power, since};
}
