// TER as a judge: bonds found in both results, conventions compared, error energy, warnings.
//
//   ratio = TER of the result / TER of the reference,  relative TER = TER / throughput
//   error energy = sum |p~ - p| dt       p~ of the result's inputs, p of the reference
//
// TER ranks runs only where the same kind of defect is made: different feedthrough or defects in
// different connections cause a warning, different conventions are refused.
// Page: docs/compare.md, "Bonds judged by their energy".
// Source: S. Glumac, N. Varga, F. Raos, Z. Kovacic, Co-simulation perspective on evaluating the simulation with the
// engine test bench in the loop (2022).
#include "quality/quality_ter.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_message.h"
#include "energy/energy_sum.h"

#define FLOOR     1e-9         // [J] least throughput to divide by
#define CANCELLED (2.0 / 3.0)  // TER below this share of its two parts: they cancel
#define ONE_SIDED 0.99         // share of one part from which on the other does not matter
#define EQUAL     1e-12        // relative difference below which two TER are the same
#define SLACK     1e-6         // of a step, for roundings of times
#define TEXT_SIZE 1024
#define PREFIX    "bond."
#define SUFFIX    ".ter"

#define UNKNOWN ((double)NAN)

// ---- texts

static void add_text(yoke_ter_comparison* ter, yoke_ter_text** list, const char* format, ...)
    YOKE_PRINTF(3, 4);
static void add_text(yoke_ter_comparison* ter, yoke_ter_text** list, const char* format, ...) {
  char text[TEXT_SIZE];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  yoke_ter_text* item = yoke__arena_take(ter->arena, sizeof *item);
  const char* copy = yoke__arena_text(ter->arena, text, strlen(text));
  if (item == NULL || copy == NULL) {
    ter->is_out_of_memory = true;
    return;
  }
  item->text = copy;
  while (*list != NULL) {
    list = &(*list)->next;
  }
  *list = item;
}

static const char* side_name(int side) {
  return side == YOKE_TER_RESULT ? "the result" : "the reference";
}

// ---- which bonds

static yoke_ter_row* find_row(yoke_ter_comparison* ter, const char* name) {
  for (size_t i = 0; i < ter->n_rows; i++) {
    if (strcmp(ter->rows[i].name, name) == 0) {
      return &ter->rows[i];
    }
  }
  yoke_ter_row* row = &ter->rows[ter->n_rows++];
  *row = (yoke_ter_row){.name = name,
                        .ter = {UNKNOWN, UNKNOWN},
                        .throughput = {UNKNOWN, UNKNOWN},
                        .error.total = UNKNOWN,
                        .power_of = ""};
  return row;
}

// NAME of a column "bond.NAME.ter", or NULL.
static const char* bond_of_column(yoke_ter_comparison* ter, const char* column) {
  const size_t n = strlen(column), n_prefix = strlen(PREFIX), n_suffix = strlen(SUFFIX);
  if (n <= n_prefix + n_suffix || strncmp(column, PREFIX, n_prefix) != 0 ||
      strcmp(column + n - n_suffix, SUFFIX) != 0) {
    return NULL;
  }
  const char* name = yoke__arena_text(ter->arena, column + n_prefix, n - n_prefix - n_suffix);
  ter->is_out_of_memory = ter->is_out_of_memory || name == NULL;
  return name == NULL || strcmp(name, "total") == 0 ? NULL : name;
}

// The recorded power of a bond and, if wanted, the name of its column; NULL if there is none.
static const double* find_power(yoke_ter_comparison* ter, int side, const char* bond,
                                const char** name) {
  char text[TEXT_SIZE];
  snprintf(text, sizeof text, PREFIX "%s.P", bond);
  if (name != NULL) {
    *name = yoke__arena_text(ter->arena, text, strlen(text));
    ter->is_out_of_memory = ter->is_out_of_memory || *name == NULL;
  }
  return yoke__recorded_column(&ter->results[side], text);
}

// sum |P| dt of the recorded power, held over the intervals
static double sum_power(const yoke_csv* csv, const double p[]) {
  const double* t = csv->columns[0].values;
  yoke_sum sum = {0};
  for (size_t k = 0; k + 1 < csv->n_rows; k++) {
    yoke__sum_add(&sum, fabs(p[k]) * (t[k + 1] - t[k]));
  }
  return yoke__sum_value(&sum);
}

static void collect_bonds(yoke_ter_comparison* ter, int side) {
  const yoke_recorded* result = &ter->results[side];
  for (size_t i = 0; i < result->summary.n_bonds; i++) {
    const yoke_summary_bond* bond = &result->summary.bonds[i];
    if (bond->is_heat) {
      add_text(ter, &ter->notes, "bond '%s' of %s is a heat balance: it has no power to judge",
               bond->name, side_name(side));
      continue;
    }
    yoke_ter_row* row = find_row(ter, bond->name);
    row->said[side] = bond;
    row->ter[side] = bond->ter;
    row->throughput[side] = bond->throughput;
  }
  // without a ledger the last row of the columns says as much as it can
  for (size_t i = 1; !result->summary.has_ledger && i < result->csv.n_columns; i++) {
    const char* name = bond_of_column(ter, result->csv.columns[i].name);
    if (name == NULL || result->csv.columns[i].is_text || result->csv.n_rows == 0) {
      continue;
    }
    yoke_ter_row* row = find_row(ter, name);
    const double* p = find_power(ter, side, name, NULL);
    row->ter[side] = result->csv.columns[i].values[result->csv.n_rows - 1];
    row->throughput[side] = p == NULL ? UNKNOWN : sum_power(&result->csv, p);
  }
}

static void note_missing(yoke_ter_comparison* ter, int side) {
  const yoke_recorded* result = &ter->results[side];
  bool is_known = false;
  for (size_t i = 0; i < ter->n_rows; i++) {
    is_known = is_known || !isnan(ter->rows[i].ter[side]);
  }
  if (result->summary.has_ledger) {
    return;
  }
  const char* what = result->has_summary ? "its summary.json has no ledger" : "no summary.json";
  if (!is_known) {
    add_text(ter, &ter->notes,
             "%s (%s): %s and no columns bond.NAME.ter, so it has no TER and nothing is ranked",
             side_name(side), result->path, what);
  } else {
    add_text(ter, &ter->notes,
             "%s (%s): %s; TER is the last value of bond.NAME.ter, throughput the sum of "
             "|bond.NAME.P| dt, and exchange and conventions are not checked",
             side_name(side), result->path, what);
  }
}

static yoke_status find_bonds(yoke_ter_comparison* ter, const yoke_sink* sink) {
  size_t n = 1;
  for (int side = 0; side < 2; side++) {
    n += ter->results[side].summary.n_bonds + ter->results[side].csv.n_columns;
  }
  ter->rows = yoke__arena_array(ter->arena, n, sizeof *ter->rows);
  YOKE_TRY_MEMORY(ter->rows);
  for (int side = 0; side < 2; side++) {
    collect_bonds(ter, side);
  }
  for (int side = 0; side < 2; side++) {
    note_missing(ter, side);
  }
  bool has_any = false;
  for (size_t i = 0; i < ter->n_rows; i++) {
    has_any = has_any || !isnan(ter->rows[i].ter[YOKE_TER_RESULT]);
  }
  return has_any ? YOKE_OK
                 : yoke_fail(sink, YOKE_BAD_INPUT,
                             "%s has no bond with a TER: neither a ledger in summary.json nor "
                             "columns bond.NAME.ter",
                             ter->results[YOKE_TER_RESULT].path);
}

// ---- conventions

static double first_time(const yoke_recorded* r) {
  return isnan(r->summary.t_start) || !r->has_summary ? r->csv.columns[0].values[0]
                                                      : r->summary.t_start;
}

static double last_time(const yoke_recorded* r) {
  return isnan(r->summary.t_reached) || !r->has_summary
             ? r->csv.columns[0].values[r->csv.n_rows - 1]
             : r->summary.t_reached;
}

static double step_of(const yoke_recorded* r) {
  const size_t n = r->csv.n_rows;
  if (r->has_summary && !isnan(r->summary.step)) {
    return r->summary.step;
  }
  return n < 2 ? 0 : (last_time(r) - first_time(r)) / (double)(n - 1);
}

static yoke_status check_span(const yoke_recorded results[2], const yoke_sink* sink) {
  const yoke_recorded *a = &results[0], *b = &results[1];
  const double step = fmax(step_of(a), step_of(b)) * (1 + SLACK);
  const double first[] = {first_time(a), first_time(b)}, last[] = {last_time(a), last_time(b)};
  if (fabs(first[0] - first[1]) <= step && fabs(last[0] - last[1]) <= step) {
    return YOKE_OK;
  }
  return yoke_fail(sink, YOKE_BAD_INPUT,
                   "TER grows with time: %s covers %.9g to %.9g s, %s covers %.9g to %.9g s; they "
                   "may differ by one step",
                   a->path, first[0], last[0], b->path, first[1], last[1]);
}

static yoke_status check_text(const yoke_recorded results[2], const char* what, const char* a,
                              const char* b, const yoke_sink* sink) {
  return strcmp(a, b) == 0 ? YOKE_OK
                           : yoke_fail(sink, YOKE_BAD_INPUT,
                                       "%s differs, and TER with it: '%s' in %s, '%s' in %s", what,
                                       a, results[0].path, b, results[1].path);
}

static const char* freshness(const yoke_summary_end* end) {
  return end->is_fresh ? "fresh" : "stale";
}

// Units of one bond may differ from the rest of the system.
static yoke_status check_freshness(const yoke_ter_comparison* ter, const yoke_ter_row* row,
                                   const yoke_sink* sink) {
  yoke_status status = YOKE_OK;
  for (int end = 0; row->said[0] != NULL && row->said[1] != NULL && end < 2; end++) {
    const yoke_summary_end *a = &row->said[0]->ends[end], *b = &row->said[1]->ends[end];
    if (a->is_fresh != b->is_fresh) {
      status = yoke_fail(sink, YOKE_BAD_INPUT,
                         "exchange differs, and TER with it: unit '%s' of bond '%s' is %s in %s "
                         "and %s in %s",
                         a->unit, row->name, freshness(a), ter->results[0].path, freshness(b),
                         ter->results[1].path);
    }
  }
  return status;
}

// Only where both results have something to compare. All differences are reported.
static yoke_status check_conventions(const yoke_ter_comparison* ter, const yoke_sink* sink) {
  const yoke_recorded* r = ter->results;
  const yoke_summary *a = &r[0].summary, *b = &r[1].summary;
  bool is_any = false;
  for (size_t i = 0; i < ter->n_rows; i++) {
    is_any = is_any || (!isnan(ter->rows[i].ter[0]) && !isnan(ter->rows[i].ter[1]));
  }
  yoke_status status = is_any ? check_span(r, sink) : YOKE_OK;
  if (!is_any || !a->has_ledger || !b->has_ledger) {
    return status;
  }
  const char* const texts[][3] = {{"exchange", a->exchange, b->exchange},
                                  {"the residual's convention", a->residual, b->residual},
                                  {"TER's convention", a->ter, b->ter}};
  for (size_t i = 0; i < YOKE_COUNT(texts); i++) {
    const yoke_status same = check_text(r, texts[i][0], texts[i][1], texts[i][2], sink);
    status = same < 0 ? same : status;
  }
  for (size_t i = 0; strcmp(a->exchange, b->exchange) == 0 && i < ter->n_rows; i++) {
    const yoke_status same = check_freshness(ter, &ter->rows[i], sink);
    status = same < 0 ? same : status;
  }
  return status;
}

// ---- error energy

static const yoke_summary_bond* signals_of(const yoke_ter_row* row, int side) {
  const yoke_summary_bond* own = row->said[side];
  const yoke_summary_bond* other = row->said[1 - side];
  const bool is_own = own != NULL && own->n > 0;
  return is_own ? own : other != NULL && other->n > 0 ? other : NULL;
}

// between row k (share 0) and the next (share 1)
static double between(const double values[], size_t k, double share) {
  return share == 0   ? values[k]
         : share == 1 ? values[k + 1]
                      : values[k] + share * (values[k + 1] - values[k]);
}

// sum of the products of two signals of a bond; shares: where behind row k each is taken from.
// False: a column is missing, or nobody receives that signal.
static bool multiply(const yoke_recorded* result, const yoke_summary_bond* bond,
                     const int signals[2], const double shares[2], size_t n, double to[]) {
  memset(to, 0, n * sizeof *to);
  for (size_t i = 0; i < bond->n; i++) {
    const yoke_summary_component* c = &bond->components[i];
    const double* a = yoke__recorded_column(result, c->columns[signals[0]]);
    const double* b = yoke__recorded_column(result, c->columns[signals[1]]);
    if (a == NULL || b == NULL) {
      return false;
    }
    const double scale = c->scale[signals[0]] * c->scale[signals[1]];
    for (size_t k = 0; k < n; k++) {
      to[k] += scale * between(a, k, shares[0]) * between(b, k, shares[1]);
    }
  }
  return true;
}

// p~ over each interval: of the inputs as applied, or else the recorded power.
static bool take_power(yoke_ter_comparison* ter, yoke_ter_row* row, double to[]) {
  static const int inputs[] = {YOKE_E_IN, YOKE_F_IN};
  const yoke_recorded* result = &ter->results[YOKE_TER_RESULT];
  const yoke_summary_bond* bond = row->said[YOKE_TER_RESULT];
  const size_t n = result->csv.n_rows - 1;
  if (bond != NULL && bond->n > 0) {
    const double shares[] = {bond->ends[0].input_share, bond->ends[1].input_share};
    if (multiply(result, bond, inputs, shares, n, to)) {
      row->power_of = "inputs";
      return true;
    }
  }
  const double* p = find_power(ter, YOKE_TER_RESULT, row->name, &row->power_of);
  if (p == NULL) {
    row->why_not = "the result records neither its inputs nor bond.NAME.P";
    return false;
  }
  const double share =
      bond == NULL ? 0 : fmin(bond->ends[0].input_share, bond->ends[1].input_share);
  for (size_t k = 0; k < n; k++) {
    to[k] = between(p, k, share);
  }
  return true;
}

// p at the times of the reference, rows with an empty cell left out.
static bool take_reference(yoke_ter_comparison* ter, yoke_ter_row* row, double t[], double p[],
                           yoke_power_reference* out) {
  static const int outputs[] = {YOKE_E_OUT, YOKE_F_OUT};
  static const double now[] = {0, 0};
  const yoke_recorded* reference = &ter->results[YOKE_TER_REFERENCE];
  const yoke_summary_bond* bond = signals_of(row, YOKE_TER_REFERENCE);
  const size_t n = reference->csv.n_rows;
  const double* recorded = NULL;
  if (bond == NULL || !multiply(reference, bond, outputs, now, n, p)) {
    recorded = find_power(ter, YOKE_TER_REFERENCE, row->name, NULL);
    if (recorded == NULL) {
      row->why_not = bond == NULL ? "the reference does not name the columns of its action and rate"
                                  : "the reference lacks the action or the rate";
      return false;
    }
    memcpy(p, recorded, n * sizeof *p);
  }
  // a NaN that came from an empty cell keeps its mark through no product, so look at the cells
  *out = (yoke_power_reference){t, p, 0};
  for (size_t k = 0; k < n; k++) {
    bool is_empty = recorded != NULL && yoke__csv_is_missing(recorded[k]);
    for (size_t i = 0; recorded == NULL && i < 2 * bond->n; i++) {
      const char* name = bond->components[i / 2].columns[outputs[i % 2]];
      is_empty = is_empty || yoke__csv_is_missing(yoke__recorded_column(reference, name)[k]);
    }
    if (!is_empty) {
      t[out->n] = reference->csv.columns[0].values[k];
      p[out->n++] = p[k];
    }
  }
  return true;
}

static yoke_status measure_errors(yoke_ter_comparison* ter) {
  const yoke_csv *a = &ter->results[0].csv, *b = &ter->results[1].csv;
  double* power = yoke__arena_array(ter->arena, a->n_rows + 1, sizeof *power);
  double* t = yoke__arena_array(ter->arena, b->n_rows + 1, sizeof *t);
  double* p = yoke__arena_array(ter->arena, b->n_rows + 1, sizeof *p);
  YOKE_TRY_MEMORY(power && t && p);
  for (size_t i = 0; i < ter->n_rows; i++) {
    yoke_ter_row* row = &ter->rows[i];
    yoke_power_reference reference;
    YOKE_CATCH(why);
    if (!take_power(ter, row, power) || !take_reference(ter, row, t, p, &reference)) {
      continue;
    }
    if (yoke__replay_error_energy(a->columns[0].values, a->n_rows, power, &reference, &row->error,
                                  &why.sink) < 0) {
      row->error = (yoke_error_energy){.total = UNKNOWN};
      row->why_not = yoke__arena_text(ter->arena, why.text, strlen(why.text));
    }
  }
  return YOKE_OK;
}

// what the reader must know about one error energy
static void note_error(yoke_ter_comparison* ter, const yoke_ter_row* row) {
  const yoke_csv* csv = &ter->results[YOKE_TER_RESULT].csv;
  const double first = csv->columns[0].values[0], last = csv->columns[0].values[csv->n_rows - 1];
  const double distance = (last - first) / (double)(csv->n_rows - 1);
  const yoke_error_energy* e = &row->error;
  if (strcmp(row->power_of, "inputs") == 0) {
    add_text(ter, &ter->notes, "error energy of bond '%s' with the inputs as applied", row->name);
  } else {
    add_text(ter, &ter->notes,
             "error energy of bond '%s' with %s, the power of outputs: its inputs are not recorded "
             "(record.signals)",
             row->name, row->power_of);
  }
  if (ter->results[YOKE_TER_REFERENCE].summary.has_ledger) {
    add_text(ter, &ter->notes,
             "error energy of bond '%s' is the distance to another co-simulation, not to the truth",
             row->name);
  }
  if (e->t_first > first || e->t_last < last) {
    add_text(ter, &ter->notes,
             "error energy of bond '%s' covers %.9g to %.9g s only: the reference ends there",
             row->name, e->t_first, e->t_last);
  }
  if (e->n_bad > 0) {
    add_text(ter, &ter->notes, "error energy of bond '%s': %zu intervals left out, not finite",
             row->name, e->n_bad);
  }
  const yoke_summary_bond* said = row->said[YOKE_TER_RESULT];
  if (said != NULL && distance > said->interval * (1 + SLACK)) {
    add_text(ter, &ter->notes,
             "error energy of bond '%s' from rows every %.6g s, but it exchanges every %.6g s",
             row->name, distance, said->interval);
  }
}

static void note_errors(yoke_ter_comparison* ter) {
  for (size_t i = 0; i < ter->n_rows; i++) {
    const yoke_ter_row* row = &ter->rows[i];
    if (row->error.n_intervals > 0) {
      note_error(ter, row);
    } else {
      add_text(ter, &ter->notes, "no error energy of bond '%s': %s", row->name,
               row->why_not == NULL ? "out of memory" : row->why_not);
    }
  }
}

// ---- warnings

static const char* use_word(yoke_feedthrough_use use) {
  return use == YOKE_FEEDTHROUGH_OLD   ? "the partner's old value"
         : use == YOKE_FEEDTHROUGH_NEW ? "the partner's new value"
                                       : "nothing";
}

static void warn_feedthrough(yoke_ter_comparison* ter, const yoke_ter_row* row) {
  for (int end = 0; end < 2; end++) {
    const yoke_summary_end *a = &row->said[0]->ends[end], *b = &row->said[1]->ends[end];
    if (a->use != b->use) {
      add_text(ter, &ter->warnings,
               "bond '%s': feedthrough is handled differently: what unit '%s' sends depends on %s "
               "in the result and on %s in the reference; TER does not rank such runs (a smaller "
               "one may have the larger error)",
               row->name, a->unit, use_word(a->use), use_word(b->use));
    }
  }
}

// Share of the flow in the parts of TER; NaN if there are none.
static double flow_share(const yoke_summary_bond* bond) {
  return bond->flow / (bond->flow + bond->effort);
}

static bool is_cancelled(const yoke_summary_bond* bond) {
  return bond->ter < CANCELLED * (bond->flow + bond->effort);
}

static void warn_structure(yoke_ter_comparison* ter, const yoke_ter_row* row) {
  const double a = flow_share(row->said[0]), b = flow_share(row->said[1]);
  const bool is_opposite =
      (a > ONE_SIDED && b < 1 - ONE_SIDED) || (b > ONE_SIDED && a < 1 - ONE_SIDED);
  if (is_opposite) {
    add_text(ter, &ter->warnings,
             "bond '%s': the defects lie in different connections, in the %s of the result and in "
             "the %s of the reference; TER does not rank such runs",
             row->name, a > b ? "rate (flow)" : "action (effort)",
             a > b ? "action (effort)" : "rate (flow)");
  }
  for (int side = 0; side < 2; side++) {
    const yoke_summary_bond* said = row->said[side];
    if (is_cancelled(said) && !is_cancelled(row->said[1 - side])) {
      add_text(ter, &ter->warnings,
               "bond '%s': in %s the defects of flow (%.4g J) and effort (%.4g J) cancel in part; "
               "its TER of %.4g J may look better than it is",
               row->name, side_name(side), said->flow, said->effort, said->ter);
    }
  }
}

static void warn(yoke_ter_comparison* ter) {
  for (size_t i = 0; i < ter->n_rows; i++) {
    const yoke_ter_row* row = &ter->rows[i];
    if (row->said[0] != NULL && row->said[1] != NULL && row->said[0]->has_ter &&
        row->said[1]->has_ter) {
      warn_feedthrough(ter, row);
      warn_structure(ter, row);
    }
  }
}

// ---- all of it

static void add_total(yoke_ter_comparison* ter) {
  yoke_ter_row* total = &ter->total;
  *total = (yoke_ter_row){.name = "total", .power_of = ""};
  for (size_t i = 0; i < ter->n_rows; i++) {
    const yoke_ter_row* row = &ter->rows[i];
    for (int side = 0; side < 2; side++) {
      total->ter[side] += row->ter[side];
      total->throughput[side] += row->throughput[side];
    }
    // one bond without it and the sum would lie
    total->error.total += row->error.total;
    total->error.n_intervals = isnan(total->error.total) ? 0 : row->error.n_intervals;
  }
}

// What follows from the TER of both sides.
static void rank(yoke_ter_row* row) {
  const double a = row->ter[0], b = row->ter[1];
  row->ratio = b > 0 ? a / b : UNKNOWN;
  for (int side = 0; side < 2; side++) {
    const double passed = row->throughput[side];
    row->relative[side] = isnan(passed) ? UNKNOWN : row->ter[side] / fmax(passed, FLOOR);
  }
  if (!isnan(a) && !isnan(b)) {
    row->better = fabs(a - b) <= EQUAL * fmax(a, b) ? "equal" : a < b ? "result" : "reference";
  }
}

yoke_status yoke__ter_compare(const yoke_recorded results[2], yoke_arena* arena,
                              yoke_ter_comparison* out, const yoke_sink* sink) {
  *out = (yoke_ter_comparison){.results = results, .arena = arena};
  for (int side = 0; side < 2; side++) {
    if (results[side].csv.n_rows < 2) {
      return yoke_fail(sink, YOKE_BAD_INPUT, "%s has fewer than two rows", results[side].path);
    }
  }
  out->t_first = first_time(&results[YOKE_TER_RESULT]);
  out->t_last = last_time(&results[YOKE_TER_RESULT]);
  YOKE_TRY(find_bonds(out, sink));
  YOKE_TRY(check_conventions(out, sink));
  YOKE_TRY(measure_errors(out));
  note_errors(out);
  warn(out);
  add_total(out);
  for (size_t i = 0; i < out->n_rows; i++) {
    rank(&out->rows[i]);
  }
  rank(&out->total);
  return out->is_out_of_memory ? YOKE_NO_MEMORY : YOKE_OK;
}
