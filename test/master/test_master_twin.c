// A second master, slow and plain, beside the real one: random systems run through both must agree
// at every macro point.
//
// The twin knows the rules of docs/time.md, docs/exchange.md, docs/couple_hold.md and
// docs/master.md and nothing of how the master arranges them: it counts ticks, asks every
// connection at every tick whether it is due, keeps every sample ever taken, and evaluates laws and
// fresh units again and again until nothing changes. It shares with the master only the units.
//
//   Jacobi, at tick k        steps that end at k become visible; laws and fresh units; connections
//                            that are due take a sample; units whose step begins at k are called. Fresh
//                            units also where a step of theirs ends and nothing is due: with what
//                            the polynomials say then
//   Gauss-Seidel, at slot k  the same, but one unit after another: laws and fresh units it listens
//                            to, its own samples, its steps, all from the newest outputs
//
// A signal is a value and the number of jumps that led to it; a polynomial never uses samples with
// different numbers of jumps. Seeds are fixed: YOKE_FULL=1 runs ten times as many, YOKE_TWIN_SEED=n
// only one. Beside CS-03, CS-06 and CS-08 this covers what no golden run has: laws, delays, orders,
// stale and fresh units at any mixture of rates.
#include <float.h>

#include "support/check.h"
#include "support/sim.h"
#include "support/trial.h"
#include "unit/unit_models.h"

enum {
  MAX_UNITS = 9,  // laws included
  MAX_U = 4,
  MAX_Y = 4,
  MAX_WIRES = MAX_UNITS * MAX_U,
  MAX_MACRO = 60,       // macro steps of a run
  MAX_TICKS = 60 * 12,  // ticks of a run
  MAX_TEXT = 16384,
  MILLI_PER_TICK = 5,  // length of a tick [ms]
  MAX_NODES = MAX_UNITS * (MAX_U + MAX_Y),
};

#define TOLERANCE 1e-10  // of the signal's largest magnitude; start values are settled to 1e-12

// -------------------------------------------------------------------------------------------------
// what a system is made of

typedef struct signal {
  double value;
  int64_t jumps;  // announced by units since the start, as far as they reached this signal
} signal;

typedef struct member {
  trial unit;
  char name[8];
  bool is_law, is_fresh;
  int64_t period;  // ticks
  size_t n_u, n_y;
  const char *u_name[MAX_U], *y_name[MAX_Y];
  bool is_through[MAX_Y][MAX_U];
  bool is_open[MAX_U];  // not connected: keeps its start value
  bool is_active;       // evaluated at exchange points: laws, and fresh units with feedthrough

  signal u[MAX_U];                     // inputs as it has them
  double newest[MAX_Y], shown[MAX_Y];  // outputs as computed last, and as everybody sees them
  int64_t newest_jumps[MAX_Y], shown_jumps[MAX_Y];
  int64_t own_jumps;  // announced by the unit itself
  int64_t end;        // tick at which the step in hand ends; -1: none in hand
} member;

typedef struct wire {
  size_t from, y, to, u;
  double gain, offset;
  int order;
  int64_t interval, delay;  // ticks; exchanges
  bool is_named;            // the interval stands in the file

  signal initial;
  signal said[MAX_TICKS + 1];    // what the source said at each exchange
  signal handed[MAX_TICKS + 1];  // what the sink got
  int64_t n, first;              // exchanges so far; the first one after the last jump
  int64_t last_tick;
} wire;

typedef struct twin {
  uint64_t seed, random;
  bool is_gauss_seidel, is_fresh_default;
  int n_threads;
  int64_t t0, macro, n_macro, slot;  // ticks; macro steps of the run
  member units[MAX_UNITS];
  size_t n_units, n_laws;  // laws come last
  size_t turn[MAX_UNITS];  // order of Gauss-Seidel
  wire wires[MAX_WIRES];
  size_t n_wires;
  char text[MAX_TEXT];
  size_t n_text;
  double rows[MAX_MACRO + 1][MAX_UNITS][MAX_Y];
} twin;

static double time_at(const twin* s, int64_t tick) {
  return (double)((s->t0 + tick) * MILLI_PER_TICK) / 1000.0;
}

static double duration(int64_t ticks) {
  return (double)(ticks * MILLI_PER_TICK) / 1000.0;
}

static int64_t last_tick(const twin* s) {
  return s->macro * s->n_macro;
}

static bool is_due(const wire* w, int64_t tick) {
  return tick % w->interval == 0;
}

// -------------------------------------------------------------------------------------------------
// signals

// What the source of a connection says now.
static signal hear(const twin* s, const wire* w) {
  const member* from = &s->units[w->from];
  const double y = s->is_gauss_seidel ? from->newest[w->y] : from->shown[w->y];
  const int64_t jumps = s->is_gauss_seidel ? from->newest_jumps[w->y] : from->shown_jumps[w->y];
  return (signal){y * w->gain + w->offset, jumps};
}

// What the sink would get at the next exchange of this connection, if the source says `now`.
static signal hand_over(const wire* w, signal now) {
  if (w->delay == 0) {
    return now;
  }
  return w->n < w->delay ? w->initial : w->said[w->n - w->delay];
}

// One exchange.
static void take_sample(const twin* s, wire* w, int64_t tick) {
  const signal now = hear(s, w), got = hand_over(w, now);
  assert_true(w->n <= MAX_TICKS);
  w->said[w->n] = now;
  w->handed[w->n] = got;
  if (w->n > 0 && got.jumps != w->handed[w->n - 1].jumps) {
    w->first = w->n;
  }
  w->n++;
  w->last_tick = tick;
}

// Lagrange's polynomial through the last samples: at most order + 1, none from before a jump.
static double extrapolate(const wire* w, int64_t tick) {
  const int64_t newest = w->n - 1, room = newest - w->first;
  const int64_t n = room < w->order ? room : w->order;
  const double x = (double)(tick - w->last_tick) / (double)w->interval;
  double sum = 0.0;
  for (int64_t i = 0; i <= n; i++) {
    double weight = 1.0;
    for (int64_t j = 0; j <= n; j++) {
      weight *= i == j ? 1.0 : (x + (double)j) / (double)(j - i);
    }
    sum += weight * w->handed[newest - i].value;
  }
  return sum;
}

// -------------------------------------------------------------------------------------------------
// units

static void set_inputs(member* m, const signal u[]) {
  double values[MAX_U];
  for (size_t i = 0; i < m->n_u; i++) {
    values[i] = u[i].value;
  }
  check_ok(yoke__unit_set_inputs(&m->unit.unit, values));
}

static void show(member* m) {
  memcpy(m->shown, m->newest, sizeof m->shown);
  memcpy(m->shown_jumps, m->newest_jumps, sizeof m->shown_jumps);
}

// Jumps of the inputs reach the outputs that let them through; true if that is news.
static bool pass_jumps(member* m, const signal u[]) {
  bool is_news = false;
  for (size_t y = 0; y < m->n_y; y++) {
    int64_t jumps = m->own_jumps;
    for (size_t i = 0; i < m->n_u; i++) {
      jumps += m->is_through[y][i] ? u[i].jumps : 0;
    }
    is_news = is_news || jumps > m->newest_jumps[y];
    m->newest_jumps[y] = jumps > m->newest_jumps[y] ? jumps : m->newest_jumps[y];
  }
  return is_news;
}

// A step of a fresh unit ends.
static bool ends_fresh(const twin* s, const member* m, int64_t tick) {
  return m->is_fresh && m->is_active && !s->is_gauss_seidel && m->end < 0 && tick > 0 &&
         tick % m->period == 0;
}

// Outputs of a law or fresh unit with the newest inputs; true if they changed. The inputs with
// which a fresh unit will step under Gauss-Seidel are not touched. Jumps come through laws, but not
// through their delays.
static bool evaluate(twin* s, size_t index, int64_t tick) {
  member* m = &s->units[index];
  signal u[MAX_U];
  memcpy(u, m->u, sizeof u);
  for (size_t i = 0; i < s->n_wires && ends_fresh(s, m, tick); i++) {
    const wire* w = &s->wires[i];
    if (w->to == index && !is_due(w, tick)) {
      u[w->u].value = extrapolate(w, tick);
    }
  }
  for (size_t i = 0; i < s->n_wires; i++) {
    const wire* w = &s->wires[i];
    const bool is_taken = s->is_gauss_seidel && m->is_law && w->delay > 0;
    if (w->to == index && is_due(w, tick) && !is_taken) {
      u[w->u] = hand_over(w, hear(s, w));
      u[w->u].jumps = w->delay > 0 ? 0 : u[w->u].jumps;
    }
  }
  if (m->is_law || !s->is_gauss_seidel) {
    memcpy(m->u, u, sizeof u);
  }
  double y[MAX_Y] = {0};
  set_inputs(m, u);
  trial_refresh(&m->unit, time_at(s, tick));
  check_ok(yoke__unit_get_outputs(&m->unit.unit, y));
  bool is_moved = pass_jumps(m, u);
  for (size_t i = 0; i < m->n_y; i++) {
    is_moved = is_moved || y[i] != m->newest[i];
    m->newest[i] = y[i];
  }
  if (m->end < 0) {
    show(m);
  }
  return is_moved;
}

static bool is_evaluated(const twin* s, size_t index, int64_t tick) {
  bool has_due = false;
  for (size_t i = 0; i < s->n_wires; i++) {
    has_due = has_due || (s->wires[i].to == index && is_due(&s->wires[i], tick));
  }
  return (s->units[index].is_active && has_due) || ends_fresh(s, &s->units[index], tick);
}

// Laws and fresh units that are wanted, in any order, until nothing moves: what is evaluated has no
// loops, so a change has passed through all of it after as many rounds as there are variables.
static void evaluate_all(twin* s, int64_t tick, const bool is_wanted[]) {
  bool is_moved = true;
  for (size_t round = 0; is_moved && round <= MAX_NODES; round++) {
    is_moved = false;
    for (size_t i = 0; i < s->n_units; i++) {
      if (is_wanted[i] && is_evaluated(s, i, tick)) {
        is_moved = evaluate(s, i, tick) || is_moved;
      }
    }
  }
  assert_false(is_moved);
}

// One call: inputs from the polynomials, step, outputs.
static void call_step(twin* s, size_t index, int64_t tick) {
  member* m = &s->units[index];
  for (size_t i = 0; i < s->n_wires; i++) {
    const wire* w = &s->wires[i];
    if (w->to == index) {
      m->u[w->u].value = extrapolate(w, tick);
      m->u[w->u].jumps = w->delay > 0 ? 0 : w->handed[w->n - 1].jumps;
    }
  }
  set_inputs(m, m->u);
  const yoke_step_result result = trial_step(&m->unit, time_at(s, tick), duration(m->period));
  const int64_t jumps = (result.flags & YOKE_STEP_EVENT_NEEDED) != 0 ? 1 : 0;
  m->own_jumps += jumps;
  for (size_t y = 0; y < m->n_y; y++) {
    m->newest_jumps[y] += jumps;
  }
  check_ok(yoke__unit_get_outputs(&m->unit.unit, m->newest));
  m->end = tick + m->period;
}

// -------------------------------------------------------------------------------------------------
// the twin's loop

// Start values: everything is asked again until nothing moves; gains are small, so loops contract.
static void initialise(twin* s) {
  for (size_t i = 0; i < s->n_units; i++) {
    trial_start(&s->units[i].unit, time_at(s, 0));
    s->units[i].end = -1;
  }
  double change = 1.0;
  for (int pass = 0; pass < 1000 && change > 0.0; pass++) {
    change = 0.0;
    for (size_t i = 0; i < s->n_units; i++) {
      member* m = &s->units[i];
      for (size_t k = 0; k < s->n_wires; k++) {
        if (s->wires[k].to == i) {
          m->u[s->wires[k].u] = hear(s, &s->wires[k]);
        }
      }
      double before[MAX_Y];
      memcpy(before, m->newest, sizeof before);
      set_inputs(m, m->u);
      trial_refresh(&m->unit, time_at(s, 0));
      check_ok(yoke__unit_get_outputs(&m->unit.unit, m->newest));
      show(m);
      for (size_t k = 0; k < m->n_y; k++) {
        const double moved = fabs(m->newest[k] - before[k]);
        change =
            fmax(change, moved > 4.0 * DBL_EPSILON * fmax(1.0, fabs(m->newest[k])) ? moved : 0.0);
      }
    }
  }
  check_near(change, 0.0, 0.0);
  for (size_t i = 0; i < s->n_wires; i++) {
    s->wires[i].initial = hear(s, &s->wires[i]);
  }
}

static void publish(twin* s, int64_t tick) {
  for (size_t i = 0; i < s->n_units; i++) {
    if (s->units[i].end == tick) {
      show(&s->units[i]);
      s->units[i].end = -1;
    }
  }
}

static void keep_row(twin* s, int64_t tick) {
  for (size_t i = 0; i < s->n_units && tick % s->macro == 0; i++) {
    memcpy(s->rows[tick / s->macro][i], s->units[i].shown, sizeof s->units[i].shown);
  }
}

// a step begins here and ends within the run
static bool begins_step(const twin* s, const member* m, int64_t tick) {
  return !m->is_law && tick % m->period == 0 && tick + m->period <= last_tick(s);
}

static const bool everybody[MAX_UNITS] = {true, true, true, true, true, true, true, true, true};

static void run_jacobi(twin* s) {
  for (int64_t k = 0; k <= last_tick(s); k++) {
    publish(s, k);
    evaluate_all(s, k, everybody);
    for (size_t i = 0; i < s->n_wires; i++) {
      if (is_due(&s->wires[i], k)) {
        take_sample(s, &s->wires[i], k);
      }
    }
    keep_row(s, k);
    for (size_t i = 0; i < s->n_units; i++) {
      if (begins_step(s, &s->units[i], k)) {
        call_step(s, i, k);
      }
    }
  }
}

// The longest interval that divides H and all exchange intervals, and that every step divides or is
// a multiple of.
static int64_t find_slot(const twin* s) {
  for (int64_t slot = s->macro; slot > 1; slot--) {
    bool is_good = s->macro % slot == 0;
    for (size_t i = 0; i < s->n_wires; i++) {
      is_good = is_good && s->wires[i].interval % slot == 0;
    }
    for (size_t i = 0; i < s->n_units - s->n_laws; i++) {
      const int64_t period = s->units[i].period;
      is_good = is_good && (slot % period == 0 || period % slot == 0);
    }
    if (is_good) {
      return slot;
    }
  }
  return 1;
}

// Which laws and fresh units a unit listens to, directly or through others of them.
static void find_listened(const twin* s, size_t index, bool is_heard[]) {
  bool is_open[MAX_UNITS] = {false};
  is_open[index] = true;
  for (size_t round = 0; round < s->n_units; round++) {
    for (size_t i = 0; i < s->n_wires; i++) {
      const wire* w = &s->wires[i];
      if (is_open[w->to] && s->units[w->from].is_active) {
        is_open[w->from] = is_heard[w->from] = true;
      }
    }
  }
}

static void take_turn(twin* s, size_t index, int64_t slot_begin) {
  member* m = &s->units[index];
  bool is_heard[MAX_UNITS] = {false};
  find_listened(s, index, is_heard);
  evaluate_all(s, slot_begin, is_heard);
  for (size_t i = 0; i < s->n_wires; i++) {
    if (s->wires[i].to == index && is_due(&s->wires[i], slot_begin)) {
      take_sample(s, &s->wires[i], slot_begin);
    }
  }
  for (int64_t k = slot_begin; k < slot_begin + s->slot; k++) {
    if (begins_step(s, m, k)) {
      call_step(s, index, k);
    }
  }
}

// What laws get with a delay holds for the whole slot; the line moves on when all at its start is
// known.
static void open_slot(twin* s, int64_t tick) {
  for (size_t i = 0; i < s->n_wires; i++) {
    const wire* w = &s->wires[i];
    if (s->units[w->to].is_law && w->delay > 0 && is_due(w, tick)) {
      s->units[w->to].u[w->u] = (signal){hand_over(w, hear(s, w)).value, 0};
    }
  }
  evaluate_all(s, tick, everybody);
  for (size_t i = 0; i < s->n_wires; i++) {
    wire* w = &s->wires[i];
    if (s->units[w->to].is_law && w->delay > 0 && is_due(w, tick)) {
      take_sample(s, w, tick);
    }
  }
}

static void run_gauss_seidel(twin* s) {
  s->slot = find_slot(s);
  for (int64_t k = 0; k <= last_tick(s); k += s->slot) {
    publish(s, k);
    open_slot(s, k);
    keep_row(s, k);
    for (size_t i = 0; i < s->n_units - s->n_laws && k < last_tick(s); i++) {
      take_turn(s, s->turn[i], k);
    }
  }
}

// -------------------------------------------------------------------------------------------------
// chance: splitmix64 (S. Vigna)

static uint64_t draw(twin* s) {
  s->random += 0x9e3779b97f4a7c15u;
  uint64_t z = s->random;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static double draw_real(twin* s, double low, double high) {
  return low + (high - low) * ((double)(draw(s) >> 11) * 0x1p-53);
}

// 0 to n - 1
static int64_t draw_whole(twin* s, int64_t n) {
  return (int64_t)(draw(s) % (uint64_t)n);
}

static bool draw_chance(twin* s, double p) {
  return draw_real(s, 0.0, 1.0) < p;
}

// -------------------------------------------------------------------------------------------------
// the text of the system

static void YOKE_PRINTF(2, 3) write_text(twin* s, const char* format, ...) {
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(s->text + s->n_text, MAX_TEXT - s->n_text, format, args);
  va_end(args);
  assert_true(n >= 0 && (size_t)n < MAX_TEXT - s->n_text);
  s->n_text += (size_t)n;
}

// key: time, exact
static void write_ticks(twin* s, const char* key, int64_t ticks) {
  write_text(s, "%s: %llde-3", key, (long long)ticks * MILLI_PER_TICK);
}

static void write_matrix(twin* s, const char* name, const double a[], size_t n_rows,
                         size_t n_cols) {
  write_text(s, "%s: [", name);
  for (size_t i = 0; i < n_rows; i++) {
    write_text(s, "%s[", i == 0 ? "" : ", ");
    for (size_t j = 0; j < n_cols; j++) {
      write_text(s, "%s%.17g", j == 0 ? "" : ", ", a[i * n_cols + j]);
    }
    write_text(s, "]");
  }
  write_text(s, "], ");
}

// -------------------------------------------------------------------------------------------------
// random units; their feedthrough sums to less than 0.6 per output, so that loops contract

static void open_model(member* m, const char* model, const yoke_argument arguments[], size_t n) {
  const yoke_unit_ops* ops = yoke__models_find(NULL, model);
  assert_non_null(ops);
  trial_open(&m->unit, ops, arguments, n);
}

static void set_parameter(twin* s, member* m, const char* name, double value) {
  write_text(s, "%s: %.17g, ", name, value);
  trial_set(&m->unit, name, value);
}

// n_rows x n_cols numbers whose rows sum to at most `sum` in magnitude; one in three is zero
static void draw_rows(twin* s, double a[], size_t n_rows, size_t n_cols, double sum) {
  const double most = sum / (double)n_cols;
  for (size_t i = 0; i < n_rows * n_cols; i++) {
    a[i] = draw_chance(s, 0.33) ? 0.0 : draw_real(s, -most, most);
  }
}

// The diagonal of A outweighs its rows: stable, also in explicit Euler at the longest step.
static void make_state_space(twin* s, member* m) {
  static const char* const solvers[] = {"exact", "euler", "rk4", "trapezoidal"};
  const size_t n = 1 + (size_t)draw_whole(s, 3), n_u = (size_t)draw_whole(s, 4),
               n_y = 1 + (size_t)draw_whole(s, 3);
  double A[9], B[9], C[9], D[9], x0[3];
  draw_rows(s, A, n, n, 2.0);
  for (size_t i = 0; i < n; i++) {
    A[i * n + i] = -draw_real(s, 2.1, 4.0);
    x0[i] = draw_real(s, -1.0, 1.0);
  }
  draw_rows(s, C, n_y, n, 1.5);
  if (n_u > 0) {
    draw_rows(s, B, n, n_u, 3.0);
    draw_rows(s, D, n_y, n_u, draw_chance(s, 0.5) ? 0.0 : 0.5);
  }
  const yoke_argument arguments[] = {trial_matrix("A", n, n, A), trial_matrix("C", n_y, n, C),
                                     trial_matrix("x0", n, 1, x0), trial_matrix("B", n, n_u, B),
                                     trial_matrix("D", n_y, n_u, D)};
  open_model(m, "state_space", arguments, n_u > 0 ? 5 : 3);
  write_text(s, "state_space, with: {");
  write_matrix(s, "A", A, n, n);
  write_matrix(s, "C", C, n_y, n);
  write_matrix(s, "x0", x0, n, 1);
  if (n_u > 0) {
    write_matrix(s, "B", B, n, n_u);
    write_matrix(s, "D", D, n_y, n_u);
  }
  const int64_t solver = draw_whole(s, 4);
  write_text(s, "solver: %s}", solvers[solver]);
  trial_set_whole(&m->unit, "solver", solver);
}

static void make_gain(twin* s, member* m) {
  open_model(m, "gain", NULL, 0);
  write_text(s, "gain, with: {");
  set_parameter(s, m, "k", draw_real(s, -0.5, 0.5));
  write_text(s, "}");
}

static void make_sum(twin* s, member* m) {
  const size_t n = 1 + (size_t)draw_whole(s, 3);
  double signs[3];
  draw_rows(s, signs, n, 1, 0.5 / (double)n);
  const yoke_argument argument = trial_matrix("signs", n, 1, signs);
  open_model(m, "sum", &argument, 1);
  write_text(s, "sum, with: {signs: [");
  for (size_t i = 0; i < n; i++) {
    write_text(s, "%s%.17g", i == 0 ? "" : ", ", signs[i]);
  }
  write_text(s, "]}");
}

static void make_spring(twin* s, member* m) {
  open_model(m, "spring_damper", NULL, 0);
  write_text(s, "spring_damper, with: {");
  set_parameter(s, m, "k", draw_real(s, -0.15, 0.15));
  set_parameter(s, m, "c", draw_real(s, -0.1, 0.1));
  write_text(s, "}");
}

static void make_oscillator(twin* s, member* m) {
  static const char* const models[] = {"oscillator.force", "oscillator.mass",
                                       "oscillator.displacement"};
  const char* model = models[draw_whole(s, 3)];
  open_model(m, model, NULL, 0);
  write_text(s, "%s, with: {", model);
  set_parameter(s, m, "k", draw_real(s, 5.0, 20.0));
  set_parameter(s, m, "c", draw_real(s, 0.5, 2.0));
  if (model != models[1]) {
    set_parameter(s, m, "kc", draw_real(s, 0.0, 0.3));
    set_parameter(s, m, "cc", draw_real(s, 0.0, 0.2));
  }
  write_text(s, "}, start: {");
  set_parameter(s, m, "x", draw_real(s, -1.0, 1.0));
  set_parameter(s, m, "v", draw_real(s, -1.0, 1.0));
  write_text(s, "}");
}

static void make_source(twin* s, member* m) {
  static const char* const models[] = {"sine", "ramp", "step"};
  const int64_t kind = draw_whole(s, 3);
  const double t0 = time_at(s, 0), t1 = time_at(s, last_tick(s));
  open_model(m, models[kind], NULL, 0);
  write_text(s, "%s, with: {", models[kind]);
  if (kind == 0) {
    set_parameter(s, m, "frequency", draw_real(s, 0.1, 3.0));
    set_parameter(s, m, "phase", draw_real(s, -3.0, 3.0));
  } else if (kind == 1) {
    set_parameter(s, m, "offset", draw_real(s, -1.0, 1.0));
    set_parameter(s, m, "slope", draw_real(s, -1.0, 1.0));
    set_parameter(s, m, "t0", draw_real(s, t0, t1));
    set_parameter(s, m, "duration", draw_real(s, 0.0, 1.0));
  } else {
    set_parameter(s, m, "before", draw_real(s, -1.0, 1.0));
    set_parameter(s, m, "time", draw_real(s, t0, t1));
  }
  write_text(s, "}");
}

static void make_model(twin* s, member* m) {
  const int64_t kind = draw_whole(s, m->is_law ? 4 : 20);
  if (kind < 1) {
    make_gain(s, m);
  } else if (kind < 2) {
    make_sum(s, m);
  } else if (kind < 4) {
    make_spring(s, m);
  } else if (kind < 12) {
    make_state_space(s, m);
  } else if (kind < 16) {
    make_oscillator(s, m);
  } else {
    make_source(s, m);
  }
}

// names and feedthrough, as the unit tells them
static void list_variables(member* m) {
  const yoke_unit_info* info = m->unit.unit.info;
  size_t position[32] = {0};
  for (size_t i = 0; i < info->n_variables; i++) {
    const yoke_variable* v = &info->variables[i];
    assert_true(i < 32);
    if (v->causality == YOKE_INPUT) {
      position[i] = m->n_u;
      m->u_name[m->n_u++] = v->name;
    } else if (v->causality == YOKE_OUTPUT) {
      position[i] = m->n_y;
      m->y_name[m->n_y++] = v->name;
    }
  }
  assert_true(m->n_u <= MAX_U && m->n_y <= MAX_Y);
  for (size_t i = 0; i < info->n_feedthrough; i++) {
    m->is_through[position[info->feedthrough[i].output]][position[info->feedthrough[i].input]] =
        true;
  }
  m->is_active = m->is_law || (m->is_fresh && info->n_feedthrough > 0);
}

// H, a divisor of it, a multiple of it, or any
static int64_t draw_period(twin* s) {
  const double kind = draw_real(s, 0.0, 1.0);
  if (kind < 0.35) {
    return s->macro;
  }
  if (kind < 0.7) {
    int64_t divisor = 1 + draw_whole(s, s->macro);
    while (s->macro % divisor != 0) {
      divisor--;
    }
    return divisor;
  }
  return kind < 0.9 ? s->macro * (2 + draw_whole(s, 3)) : 1 + draw_whole(s, 12);
}

// Now and then an input, or all of a unit, stay open. Oscillators have written their start values.
static void open_inputs(twin* s, member* m) {
  const bool is_alone = draw_chance(s, 0.1);
  size_t n = 0;
  for (size_t u = 0; u < m->n_u && strncmp(m->unit.unit.ops->name, "oscillator", 10) != 0; u++) {
    m->is_open[u] = draw_chance(s, is_alone ? 1.0 : 0.05);
    if (m->is_open[u]) {
      m->u[u].value = draw_real(s, -1.0, 1.0);
      write_text(s, "%s", n++ == 0 ? ", start: {" : "");
      set_parameter(s, m, m->u_name[u], m->u[u].value);
    }
  }
  write_text(s, "%s", n > 0 ? "}" : "");
}

static void make_unit(twin* s, bool is_law) {
  member* m = &s->units[s->n_units];
  m->is_law = is_law;
  m->is_fresh = !is_law && draw_chance(s, 0.4);
  snprintf(m->name, sizeof m->name, "%c%zu", is_law ? 'l' : 'u', s->n_units);
  write_text(s, "  %s: {%s: ", m->name, is_law ? "law" : "model");
  make_model(s, m);
  list_variables(m);
  open_inputs(s, m);
  if (!is_law) {
    m->period = draw_period(s);
    write_text(s, ", ");
    write_ticks(s, "step", m->period);
  }
  if (!is_law && m->is_fresh != s->is_fresh_default) {
    write_text(s, ", exchange: %s", m->is_fresh ? "fresh" : "stale");
  }
  write_text(s, "}\n");
  s->n_units++;
  s->n_laws += is_law ? 1 : 0;
}

// -------------------------------------------------------------------------------------------------
// random connections

static int64_t common_multiple(int64_t a, int64_t b) {
  int64_t multiple = a;
  while (multiple % b != 0) {
    multiple += a;
  }
  return multiple;
}

// The interval of a connection: by rule, or named. False if there is none that is short enough.
static bool draw_interval(twin* s, wire* w) {
  const member *from = &s->units[w->from], *to = &s->units[w->to];
  const int64_t a = from->is_law ? 1 : from->period, b = to->is_law ? 1 : to->period;
  const int64_t usual = a > b ? (a > s->macro ? a : s->macro) : (b > s->macro ? b : s->macro);
  w->is_named = usual % a != 0 || usual % b != 0 || draw_chance(s, 0.35);
  w->interval = usual;
  if (w->is_named) {
    const int64_t factor = draw_chance(s, 0.5) ? 1 : 2 + draw_whole(s, 2);
    w->interval = common_multiple(a, b) * factor;
  }
  return w->interval <= 120;
}

static void draw_source(twin* s, wire* w) {
  for (int attempt = 0; attempt < 100; attempt++) {
    w->from = (size_t)draw_whole(s, (int64_t)s->n_units);
    // most loops among what is evaluated at exchange points are avoided here, the rest is refused
    const bool is_risky =
        s->units[w->from].is_active && s->units[w->to].is_active && w->from >= w->to;
    if ((!is_risky || draw_chance(s, 0.15)) && draw_interval(s, w)) {
      return;
    }
  }
  // a unit may always hear itself
  w->from = w->to;
  assert_true(draw_interval(s, w) || draw_interval(s, w));
}

static bool has_dimension(const member* m) {
  return strncmp(m->unit.unit.ops->name, "s", 1) == 0
             ? strcmp(m->unit.unit.ops->name, "spring_damper") == 0
             : strncmp(m->unit.unit.ops->name, "oscillator", 10) == 0;
}

static void make_wire(twin* s, size_t to, size_t u) {
  wire* w = &s->wires[s->n_wires++];
  w->to = to;
  w->u = u;
  draw_source(s, w);
  const member* from = &s->units[w->from];
  w->y = (size_t)draw_whole(s, (int64_t)from->n_y);
  const bool is_converted = has_dimension(from) || has_dimension(&s->units[to]);
  w->gain = draw_chance(s, 0.4) && !is_converted ? 1.0 : draw_real(s, -1.0, 1.0);
  // energies are squares: kept small, so that no loop runs away
  w->gain *= strcmp(from->y_name[w->y], "E") == 0 ? 0.01 : 1.0;
  w->offset = draw_chance(s, 0.6) ? 0.0 : draw_real(s, -1.0, 1.0);
  w->order = (int)draw_whole(s, 4);
  w->delay = draw_chance(s, 0.25) ? 1 + draw_whole(s, 3) : 0;
  write_text(s, "  - {from: %s.%s, to: %s.%s, gain: %.17g, offset: %.17g, order: %d", from->name,
             from->y_name[w->y], s->units[to].name, s->units[to].u_name[u], w->gain, w->offset,
             w->order);
  if (w->is_named) {
    write_text(s, ", ");
    write_ticks(s, "exchange", w->interval);
  }
  if (w->delay > 0) {
    write_text(s, ", ");
    write_ticks(s, "delay", w->delay * w->interval);
  }
  write_text(s, "}\n");
}

static void make_wires(twin* s) {
  write_text(s, "connections:\n");  // may stay empty
  for (size_t i = 0; i < s->n_units; i++) {
    for (size_t u = 0; u < s->units[i].n_u; u++) {
      if (!s->units[i].is_open[u]) {
        make_wire(s, i, u);
      }
    }
  }
}

static void draw_turns(twin* s) {
  const size_t n = s->n_units - s->n_laws;
  for (size_t i = 0; i < n; i++) {
    const size_t j = (size_t)draw_whole(s, (int64_t)i + 1);
    s->turn[i] = s->turn[j];
    s->turn[j] = i;
  }
  write_text(s, "order: [");
  for (size_t i = 0; i < n; i++) {
    write_text(s, "%s%s", i == 0 ? "" : ", ", s->units[s->turn[i]].name);
  }
  write_text(s, "]\n");
}

// Everything of the seed; the twin is not stepped yet.
static twin* make_twin(uint64_t seed, bool is_gauss_seidel) {
  static const int64_t macros[] = {1, 2, 4, 4, 6, 8, 12}, starts[] = {0, 0, 300, -400, 37};
  twin* s = calloc(1, sizeof *s);
  assert_non_null(s);
  s->seed = s->random = seed;
  s->is_gauss_seidel = is_gauss_seidel;
  s->macro = macros[draw_whole(s, 7)];
  s->n_macro = 20 + draw_whole(s, MAX_MACRO - 19);
  s->t0 = starts[draw_whole(s, 5)];
  s->n_threads = 1 + (int)draw_whole(s, 3);
  s->is_fresh_default = draw_chance(s, 0.3);
  write_text(s, "yoke: 1\ninputs: start\ncalls: 1\ntime: {");
  write_ticks(s, "start", s->t0);
  write_ticks(s, ", stop", s->t0 + last_tick(s));
  write_ticks(s, ", step", s->macro);
  write_text(s, "}\nscheme: %s\nexchange: %s\n", is_gauss_seidel ? "gauss-seidel" : "jacobi",
             s->is_fresh_default ? "fresh" : "stale");
  const int64_t n_units = 2 + draw_whole(s, 5), n_laws = draw_whole(s, 4);
  write_text(s, "units:\n");
  for (int64_t i = 0; i < n_units; i++) {
    make_unit(s, false);
  }
  write_text(s, "%s", n_laws > 0 ? "laws:\n" : "");
  for (int64_t i = 0; i < n_laws; i++) {
    make_unit(s, true);
  }
  make_wires(s);
  if (is_gauss_seidel) {
    draw_turns(s);
  } else {
    write_text(s, "threads: %d\n", s->n_threads);
  }
  return s;
}

static void free_twin(twin* s) {
  for (size_t i = 0; i < s->n_units; i++) {
    trial_close(&s->units[i].unit);
  }
  free(s);
}

// -------------------------------------------------------------------------------------------------
// both together

// A closed loop among laws, fresh units and connections without delay: Warshall's closure over all
// variables.
static bool has_loop(const twin* s) {
  static bool is_reached[MAX_NODES][MAX_NODES];
  memset(is_reached, 0, sizeof is_reached);
  const size_t n = s->n_units * (MAX_U + MAX_Y);
  for (size_t i = 0; i < s->n_units; i++) {
    for (size_t y = 0; s->units[i].is_active && y < MAX_Y; y++) {
      for (size_t u = 0; u < MAX_U; u++) {
        is_reached[i * (MAX_U + MAX_Y) + u][i * (MAX_U + MAX_Y) + MAX_U + y] =
            s->units[i].is_through[y][u];
      }
    }
  }
  for (size_t i = 0; i < s->n_wires; i++) {
    const wire* w = &s->wires[i];
    is_reached[w->from * (MAX_U + MAX_Y) + MAX_U + w->y][w->to * (MAX_U + MAX_Y) + w->u] =
        w->delay == 0;
  }
  for (size_t k = 0; k < n; k++) {
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < n && is_reached[i][k]; j++) {
        is_reached[i][j] = is_reached[i][j] || is_reached[k][j];
      }
    }
  }
  bool is_found = false;
  for (size_t i = 0; i < n; i++) {
    is_found = is_found || is_reached[i][i];
  }
  return is_found;
}

typedef struct tally {
  int n_systems, n_refused, n_different;
  double worst;
} tally;

// The whole system, to run it by itself; cmocka's own functions would cut the text.
static void report(const twin* s, const char* what, const char* detail) {
  fprintf(stderr, "seed %llu: %s %s\n%s\n", (unsigned long long)s->seed, what, detail, s->text);
}

// Largest magnitudes so far, per output, and how far the two are apart relative to them.
static double compare_row(const twin* s, const sim* real, int64_t row, double scale[][MAX_Y],
                          char* where, size_t size) {
  double worst = 0.0;
  for (size_t i = 0; i < s->n_units; i++) {
    for (size_t y = 0; y < s->units[i].n_y; y++) {
      char name[64];
      snprintf(name, sizeof name, "%s.%s", s->units[i].name, s->units[i].y_name[y]);
      const double got = sim_read(real, name), want = s->rows[row][i][y];
      scale[i][y] = fmax(scale[i][y], fabs(want));
      const double off = fabs(got - want) / scale[i][y];
      if (!(off <= worst)) {
        worst = isfinite(off) ? off : HUGE_VAL;
        snprintf(where, size, "t = %.12g s: %s = %.17g, the twin has %.17g (%.2g of its size)",
                 time_at(s, row * s->macro), name, got, want, off);
      }
    }
  }
  return worst;
}

// The real master beside the rows of the twin, to the first difference.
static void compare_all(const twin* s, tally* count) {
  sim real;
  char messages[4096] = "", where[400] = "";
  double scale[MAX_UNITS][MAX_Y];
  for (size_t i = 0; i < MAX_UNITS; i++) {
    for (size_t y = 0; y < MAX_Y; y++) {
      scale[i][y] = 1.0;
    }
  }
  if (sim_try(NULL, s->text, &real, messages, sizeof messages) < 0) {
    report(s, "refused", messages);
    count->n_different++;
    return;
  }
  double worst = 0.0;
  for (int64_t row = 0; row <= s->n_macro && worst <= TOLERANCE; row++) {
    if (row > 0 && yoke__master_step(real.system, real.state) < 0) {
      snprintf(where, sizeof where, "%.390s", sim_failure(&real));
      worst = HUGE_VAL;
      break;
    }
    worst = fmax(worst, compare_row(s, &real, row, scale, where, sizeof where));
  }
  sim_close(&real);
  count->worst = fmax(count->worst, worst);
  if (worst > TOLERANCE) {
    report(s, "first difference at", where);
    count->n_different++;
  }
}

static void run_seed(uint64_t seed, bool is_gauss_seidel, tally* count) {
  twin* s = make_twin(seed, is_gauss_seidel);
  if (has_loop(s)) {
    sim real;
    char messages[4096] = "";
    if (sim_try(NULL, s->text, &real, messages, sizeof messages) >= 0) {
      sim_close(&real);
      fail_msg("seed %llu: a loop was accepted:\n%s", (unsigned long long)seed, s->text);
    }
    check_contains(messages, "loop");
    count->n_refused++;
  } else {
    initialise(s);
    if (is_gauss_seidel) {
      run_gauss_seidel(s);
    } else {
      run_jacobi(s);
    }
    compare_all(s, count);
    count->n_systems++;
  }
  free_twin(s);
}

static void run_seeds(bool is_gauss_seidel) {
  const char *full = getenv("YOKE_FULL"), *one = getenv("YOKE_TWIN_SEED");
  const uint64_t n = full != NULL && strcmp(full, "1") == 0 ? 3000 : 300;
  const uint64_t only = one != NULL ? strtoull(one, NULL, 10) : 0;
  tally count = {0};
  for (uint64_t seed = 1; seed <= n; seed++) {
    if (only == 0 || seed == only) {
      run_seed(seed, is_gauss_seidel, &count);
    }
  }
  print_message("%d systems agree to %.2g, %d loops refused\n", count.n_systems - count.n_different,
                count.worst, count.n_refused);
  assert_int_equal(count.n_different, 0);
  assert_true(only != 0 || count.n_refused < count.n_systems / 2);
}

static void test_jacobi_agrees_with_twin(void** state) {
  (void)state;
  run_seeds(false);
}

static void test_gauss_seidel_agrees_with_twin(void** state) {
  (void)state;
  run_seeds(true);
}

// -------------------------------------------------------------------------------------------------
// iterative schemes at several rates against the undivided system
//
//   x'' = -x - w,  w' = x - 2 w,  z' = w - z       cut into (x, x'), w, z with steps H, H/2, H/4
//
// Each unit is exact for held inputs and hears its line from u_k to u_end at the start of a call,
// half a call late on the mean: the error is of first order in H, whatever the ratio of the steps.

#define ITERATE_STOP 2.0

// Largest deviation of (x, w, z) at the end.
static double iterate_error(const char* scheme, int n) {
  const double h = ITERATE_STOP / n;
  sim s =
      sim_open("yoke: 1\ninputs: start\ncalls: 1\n"
               "time: {stop: %.17g, step: %.17g}\n"
               "scheme: %s\n"
               "iteration: {mode: interpolate, tolerance: 1e-13, max: 200}\n"
               "units:\n"
               "  a: {model: state_space, with: {A: [[0, 1], [-1, 0]], B: [[0], [-1]],"
               " C: [[1, 0]], x0: [1, 0]}}\n"
               "  b: {model: state_space, with: {A: [[-2]], B: [[1]], x0: [0.5]}, step: %.17g}\n"
               "  c: {model: state_space, with: {A: [[-1]], B: [[1]], x0: [-1]}, step: %.17g}\n"
               "connections:\n"
               "  - b.y1 -> a.u1\n"
               "  - a.y1 -> b.u1\n"
               "  - b.y1 -> c.u1\n",
               ITERATE_STOP, h, scheme, h / 2, h / 4);
  sim_run(&s);
  const double got[] = {sim_read(&s, "a.y1"), sim_read(&s, "b.y1"), sim_read(&s, "c.y1")};
  sim_close(&s);

  // one exact step of the whole
  static const double A[] = {0, 1, 0, 0, -1, 0, -1, 0, 1, 0, -2, 0, 0, 0, 1, -1};
  static const double x0[] = {1, 0, 0.5, -1};
  const yoke_argument arguments[] = {trial_matrix("A", 4, 4, A), trial_matrix("x0", 4, 1, x0)};
  trial whole;
  trial_open(&whole, yoke__models_find(NULL, "state_space"), arguments, 2);
  trial_start(&whole, 0.0);
  (void)trial_step(&whole, 0.0, ITERATE_STOP);
  const double want[] = {trial_get(&whole, "y1"), trial_get(&whole, "y3"), trial_get(&whole, "y4")};
  trial_close(&whole);
  double most = 0.0;
  for (size_t i = 0; i < 3; i++) {
    most = fmax(most, fabs(got[i] - want[i]));
  }
  return most;
}

// CS-08 at several rates
static void test_iteration_converges_with_order_one(void** state) {
  (void)state;
  static const char* const schemes[] = {"iterative-jacobi", "iterative-gauss-seidel"};
  for (size_t i = 0; i < 2; i++) {
    double coarse = iterate_error(schemes[i], 32);
    for (int n = 64; n <= 512; n *= 2) {
      const double fine = iterate_error(schemes[i], n);
      print_message("%s, n = %d: error %.3g, slope %.4f\n", schemes[i], n, fine,
                    log2(coarse / fine));
      check_near(log2(coarse / fine), 1.0, 0.05);
      coarse = fine;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_iteration_converges_with_order_one),
      cmocka_unit_test(test_jacobi_agrees_with_twin),
      cmocka_unit_test(test_gauss_seidel_agrees_with_twin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
