// yoke compare RESULT REFERENCE: error measures of all signals that two result files share, with the measure ter the
// energy residuals of their bonds, and with frf frequency responses. The comparison is study/study_compare.c's; this file reads options and prints.
#include <complex.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "app/app.h"
#include "app/app_sink.h"
#include "app/app_table.h"
#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "study/study_compare.h"

#define COMMAND      "compare"
#define FIRST_SIGNAL 1                                     // column 0 is the time
#define MAX_LIST     20                                    // names in a line of the table
#define ALL_MEASURES ((1u << YOKE_N_MEASURES) - 1)         // of signals
#define USUAL        ((1u << (YOKE_MEASURE_END + 1)) - 1)  // where none is named
#define MEASURE_TER  (1u << YOKE_N_MEASURES)               // of bonds
#define MEASURE_FRF  (2u << YOKE_N_MEASURES)               // from one signal to others
#define N_SHOWN      20                                    // frequencies in the table
#define PI           3.14159265358979323846
#define ERROR_DIGITS 6  // of an error; more say nothing
#define VALUE_DIGITS 9  // of times and values, which are read next to each other

// What is shown of a deviation, and the measure it belongs to.
static const struct field {
  const char *title, *key;
  yoke_measure measure;
  int n_digits;
  size_t offset;
} fields[] = {
#define FIELD(title, key, measure, digits, member)                                                 \
  { title, key, YOKE_MEASURE_##measure, digits, offsetof(yoke_deviation, member) }
    FIELD("nrmse", "nrmse", NRMSE, ERROR_DIGITS, nrmse),
    FIELD(NULL, "scale", NRMSE, 0, scale),
    FIELD("rmse", "rmse", RMSE, ERROR_DIGITS, rmse),
    FIELD("max", "max", MAX, ERROR_DIGITS, max),
    FIELD("at time", "max_time", MAX, VALUE_DIGITS, t_max),
    FIELD("end", "end", END, ERROR_DIGITS, end),
    FIELD("result", "end_result", END, VALUE_DIGITS, end_result),
    FIELD("reference", "end_reference", END, VALUE_DIGITS, end_reference),
    FIELD("error", "error", ERROR, ERROR_DIGITS, error),
    FIELD("roughness", "roughness", ROUGHNESS, ERROR_DIGITS, roughness),
#undef FIELD
};

static double field_value(const struct field* field, const yoke_deviation* d) {
  double x;
  memcpy(&x, (const char*)d + field->offset, sizeof x);
  return x;
}

// ---- the table

// Columns of the wanted measures; names to the left, numbers to the right.
static void print_rows(const yoke_comparison* c, uint32_t measures) {
  yoke_app_table table = {.n_columns = 1};
  yoke__app_table_add(&table, "signal");
  for (size_t i = 0; i < YOKE_COUNT(fields); i++) {
    if (fields[i].title != NULL && (measures & 1u << fields[i].measure) != 0) {
      yoke__app_table_add(&table, fields[i].title);
      table.n_columns++;
    }
  }
  for (size_t k = 0; k < c->n_signals; k++) {
    const yoke_compared* s = &c->signals[k];
    if (!s->is_measured) {
      continue;
    }
    yoke__app_table_add(&table, s->name);
    for (size_t i = 0; i < YOKE_COUNT(fields); i++) {
      if (fields[i].title != NULL && (measures & 1u << fields[i].measure) != 0) {
        yoke__app_table_number(&table, fields[i].n_digits, false,
                               field_value(&fields[i], &s->deviation));
      }
    }
  }
  yoke__app_table_print(&table);
}

static void print_points(const yoke_deviation* d) {
  printf("%zu point%s from %.*g to %.*g s", d->n_points, yoke__plural(d->n_points), VALUE_DIGITS,
         d->t_first, VALUE_DIGITS, d->t_last);
  if (d->n_skipped > 0) {
    printf(", %zu skipped where the reference is not a number", d->n_skipped);
  }
  putchar('\n');
}

static bool has_same_points(const yoke_deviation* a, const yoke_deviation* b) {
  return a->n_points == b->n_points && a->n_skipped == b->n_skipped && a->t_first == b->t_first &&
         a->t_last == b->t_last;
}

// One line of names, opened by a title with the first and closed by end_list.
typedef struct name_list {
  const char* title;
  size_t n;
} name_list;

static void add_name(name_list* list, const char* name) {
  if (list->n < MAX_LIST) {
    printf("%s%s", list->n == 0 ? list->title : ", ", name);
  }
  list->n++;
}

static void end_list(const name_list* list) {
  if (list->n > MAX_LIST) {
    printf(" and %zu more", list->n - MAX_LIST);
  }
  if (list->n > 0) {
    putchar('\n');
  }
}

// Names of the signals whose reference gave a scale of that kind; YOKE_N_SCALES: of those that are not finite.
static void print_picked(const yoke_comparison* c, const char* title, int kind) {
  name_list list = {title, 0};
  for (size_t i = 0; i < c->n_signals; i++) {
    const yoke_deviation* d = &c->signals[i].deviation;
    const bool is_picked = kind == YOKE_N_SCALES ? d->n_not_finite > 0 : (int)d->scale_kind == kind;
    if (c->signals[i].is_measured && is_picked) {
      add_name(&list, c->signals[i].name);
    }
  }
  end_list(&list);
}

// The other side's column of that name, or YOKE_NOT_FOUND.
static size_t find_other(const yoke_comparison* c, int side, size_t i) {
  return yoke__map_find(&c->results[1 - side].names, c->results[side].csv.columns[i].name);
}

static void print_left_out(const yoke_comparison* c) {
  for (int side = 0; side < 2; side++) {
    const yoke_csv* csv = &c->results[side].csv;
    name_list list = {side == 0 ? "only in the result: " : "only in the reference: ", 0};
    for (size_t i = FIRST_SIGNAL; i < csv->n_columns; i++) {
      if (find_other(c, side, i) == YOKE_NOT_FOUND) {
        add_name(&list, csv->columns[i].name);
      }
    }
    end_list(&list);
  }
  // columns of text, once each: those of the result, and those of the reference that are numbers in the result
  const yoke_csv *own = &c->results[0].csv, *reference = &c->results[1].csv;
  name_list texts = {"not compared, because text: ", 0};
  for (size_t i = FIRST_SIGNAL; i < own->n_columns; i++) {
    const size_t other = find_other(c, 0, i);
    if (other != YOKE_NOT_FOUND && (own->columns[i].is_text || reference->columns[other].is_text)) {
      add_name(&texts, own->columns[i].name);
    }
  }
  end_list(&texts);
}

static void print_table(const yoke_comparison* c, uint32_t measures) {
  const yoke_deviation* first = NULL;
  for (size_t i = 0; i < c->n_signals && first == NULL; i++) {
    first = c->signals[i].is_measured ? &c->signals[i].deviation : NULL;
  }
  if (first != NULL) {
    print_points(first);
    print_rows(c, measures);
  }
  for (size_t i = 0; i < c->n_signals; i++) {
    const yoke_compared* s = &c->signals[i];
    if (s->is_measured && !has_same_points(&s->deviation, first)) {
      printf("%s: ", s->name);
      print_points(&s->deviation);
    }
  }
  if ((measures & 1u << YOKE_MEASURE_NRMSE) != 0) {
    print_picked(c, "reference constant, nrmse relative to its value: ", YOKE_SCALE_VALUE);
    print_picked(c, "reference zero, nrmse equals rmse: ", YOKE_SCALE_ONE);
  }
  print_picked(c, "not finite in the result: ", YOKE_N_SCALES);
  if (c->settings->n_signals == 0) {
    print_left_out(c);
  }
}

// ---- bonds

static void print_bonds(const yoke_ter_comparison* ter) {
  static const char* const titles[] = {
      "bond",     "TER [J]",   "reference [J]",    "ratio",
      "relative", "reference", "error energy [J]", "better by TER"};
  yoke_app_table table = {.n_columns = YOKE_COUNT(titles)};
  for (size_t i = 0; i < YOKE_COUNT(titles); i++) {
    yoke__app_table_add(&table, titles[i]);
  }
  for (size_t i = 0; i < ter->n_rows + (ter->n_rows > 1); i++) {
    const yoke_ter_row* row = i < ter->n_rows ? &ter->rows[i] : &ter->total;
    const double numbers[] = {row->ter[0],      row->ter[1],      row->ratio,
                              row->relative[0], row->relative[1], row->error.total};
    yoke__app_table_add(&table, row->name);
    for (size_t k = 0; k < YOKE_COUNT(numbers); k++) {
      yoke__app_table_number(&table, ERROR_DIGITS, true, numbers[k]);
    }
    yoke__app_table_add(&table, row->better == NULL ? "-" : row->better);
  }
  yoke__app_table_print(&table);
}

static void print_ter(const yoke_ter_comparison* ter) {
  const yoke_summary* summary = &ter->results[YOKE_TER_RESULT].summary;
  printf("total energy residual from %.9g to %.9g s", ter->t_first, ter->t_last);
  if (summary->has_ledger) {
    printf(", %s exchange", summary->exchange);
  }
  putchar('\n');
  print_bonds(ter);
  for (const yoke_ter_text* note = ter->notes; note != NULL; note = note->next) {
    printf("%s\n", note->text);
  }
  for (const yoke_ter_text* warning = ter->warnings; warning != NULL; warning = warning->next) {
    printf("warning: %s\n", warning->text);
  }
}

static void json_side(const yoke_ter_row* row, int side, yoke_json* json) {
  const yoke_summary_bond* said = row->said[side];
  yoke__json_begin_object(json, side == YOKE_TER_RESULT ? "result" : "reference");
  yoke__json_number(json, "ter", row->ter[side]);
  yoke__json_number(json, "throughput", row->throughput[side]);
  yoke__json_number(json, "rter", row->relative[side]);
  yoke__json_number(json, "flow_part", said == NULL ? (double)NAN : said->flow);
  yoke__json_number(json, "effort_part", said == NULL ? (double)NAN : said->effort);
  yoke__json_end_object(json);
}

static void json_row(const yoke_ter_row* row, const char* key, yoke_json* json) {
  yoke__json_begin_object(json, key);
  yoke__json_string(json, "name", row->name);
  json_side(row, YOKE_TER_RESULT, json);
  json_side(row, YOKE_TER_REFERENCE, json);
  yoke__json_number(json, "ratio", row->ratio);
  yoke__json_string(json, "better", row->better);
  yoke__json_number(json, "error_energy", row->error.total);
  if (row->error.n_intervals > 0 && row->power_of[0] != '\0') {
    yoke__json_string(json, "power_of", row->power_of);
    yoke__json_number(json, "error_from", row->error.t_first);
    yoke__json_number(json, "error_to", row->error.t_last);
  }
  yoke__json_end_object(json);
}

static void json_texts(const yoke_ter_text* list, const char* key, yoke_json* json) {
  yoke__json_begin_array(json, key);
  for (; list != NULL; list = list->next) {
    yoke__json_string(json, NULL, list->text);
  }
  yoke__json_end_array(json);
}

static void json_ter(const yoke_ter_comparison* ter, yoke_json* json) {
  const yoke_summary* summary = &ter->results[YOKE_TER_RESULT].summary;
  yoke__json_begin_object(json, "ter");
  yoke__json_string(json, "exchange", summary->has_ledger ? summary->exchange : NULL);
  yoke__json_string(json, "convention", summary->has_ledger ? summary->ter : NULL);
  yoke__json_begin_array(json, "bonds");
  for (size_t i = 0; i < ter->n_rows; i++) {
    json_row(&ter->rows[i], NULL, json);
  }
  yoke__json_end_array(json);
  if (ter->n_rows > 1) {
    json_row(&ter->total, "total", json);
  }
  json_texts(ter->notes, "notes", json);
  json_texts(ter->warnings, "warnings", json);
  yoke__json_end_object(json);
}

// ---- frequency responses

static void print_response(const yoke_frf_comparison* frf, const yoke_frf_output* o) {
  static const char* const titles[] = {"frequency [Hz]",  "gain",        "reference",
                                       "difference [dB]", "phase [deg]", "reference",
                                       "coherence",       "reference"};
  yoke_app_table table = {.n_columns = YOKE_COUNT(titles)};
  const size_t n = frf->grid.n;
  for (size_t i = 0; i < YOKE_COUNT(titles); i++) {
    yoke__app_table_add(&table, titles[i]);
  }
  // equal ratios from the lowest frequency to the highest
  for (size_t i = 0, last = n; i < N_SHOWN; i++) {
    const double highest = yoke__frf_frequency(&frf->grid, n - 1);
    const double lowest = yoke__frf_frequency(&frf->grid, 0);
    const double f = lowest * pow(highest / lowest, (double)i / (N_SHOWN - 1));
    const size_t k = (size_t)fmin(round((f - lowest) / frf->grid.resolution), (double)(n - 1));
    if (k == last) {
      continue;
    }
    last = k;
    char frequency[32];
    snprintf(frequency, sizeof frequency, "%.4g", yoke__frf_frequency(&frf->grid, k));
    yoke__app_table_add(&table, frequency);
    const double gains[] = {cabs(o->of[0].response[k]), cabs(o->of[1].response[k])};
    const double numbers[] = {gains[0],
                              gains[1],
                              20 * log10(gains[0] / gains[1]),
                              carg(o->of[0].response[k]) * 180 / PI,
                              carg(o->of[1].response[k]) * 180 / PI,
                              o->of[0].coherence[k],
                              o->of[1].coherence[k]};
    for (size_t j = 0; j < YOKE_COUNT(numbers); j++) {
      yoke__app_table_number(&table, 4, true, numbers[j]);
    }
  }
  yoke__app_table_print(&table);
}

static void print_frf(const yoke_frf_comparison* frf) {
  for (size_t i = 0; i < frf->n_outputs; i++) {
    const yoke_frf_output* o = &frf->outputs[i];
    const yoke_frf_difference* d = &o->difference;
    printf(
        "frequency response from %s to %s, %.9g to %.9g s, every %.4g Hz, %zu and %zu averages\n",
        frf->input, o->name, frf->grid.t_first, frf->grid.t_last, frf->grid.resolution,
        o->of[0].n_segments, o->of[1].n_segments);
    print_response(frf, o);
    if (d->n_trusted > 0) {
      printf("%s: largest difference %.3g dB at %.4g Hz, %.3g degrees at %.4g Hz", o->name, d->db,
             d->f_db, d->degrees, d->f_degrees);
      printf(", over %zu of %zu frequencies with a coherence of %g or more in both\n", d->n_trusted,
             frf->grid.n, YOKE_FRF_TRUSTED);
    } else {
      printf(
          "%s: no frequency has a coherence of %g or more in both: the input explains too little "
          "of it\n",
          o->name, YOKE_FRF_TRUSTED);
    }
  }
}

static int write_frf(const yoke_frf_comparison* frf, const char* out) {
  static const char* const names[] = {"frf.csv", "frf.svg"};
  yoke_text texts[2] = {0};
  yoke__frf_comparison_csv(frf, &texts[0]);
  yoke_status status = yoke__frf_comparison_draw(frf, &texts[1]);
  for (size_t i = 0; i < 2; i++) {
    status = status < 0 ? status : texts[i].status;
    if (status >= 0) {
      status = yoke__os_write_into(out, names[i], texts[i].bytes, texts[i].n, &yoke__app_sink);
    }
    yoke__text_free(&texts[i]);
  }
  if (status < 0) {
    yoke__app_fail(COMMAND, status);
    return YOKE_EXIT_FAILED;
  }
  return YOKE_EXIT_OK;
}

static void json_frf(const yoke_frf_comparison* frf, yoke_json* json) {
  yoke__json_begin_object(json, "frf");
  yoke__json_string(json, "input", frf->input);
  yoke__json_number(json, "resolution", frf->grid.resolution);
  yoke__json_integer(json, "frequencies", (int64_t)frf->grid.n);
  yoke__json_begin_array(json, "outputs");
  for (size_t i = 0; i < frf->n_outputs; i++) {
    const yoke_frf_output* o = &frf->outputs[i];
    const bool is_known = o->difference.n_trusted > 0;
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", o->name);
    yoke__json_integer(json, "averages", (int64_t)o->of[0].n_segments);
    yoke__json_integer(json, "reference_averages", (int64_t)o->of[1].n_segments);
    yoke__json_integer(json, "trusted", (int64_t)o->difference.n_trusted);
    yoke__json_number(json, "db", is_known ? o->difference.db : (double)NAN);
    yoke__json_number(json, "db_at", is_known ? o->difference.f_db : (double)NAN);
    yoke__json_number(json, "degrees", is_known ? o->difference.degrees : (double)NAN);
    yoke__json_number(json, "degrees_at", is_known ? o->difference.f_degrees : (double)NAN);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
  yoke__json_end_object(json);
}

// ---- JSON

static void json_signal(const yoke_comparison* c, const yoke_compared* s, uint32_t measures,
                        yoke_json* json) {
  static const char* const scales[] = {"range", "value", "one"};
  const yoke_deviation* d = &s->deviation;
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "name", s->name);
  yoke__json_integer(json, "points", (int64_t)d->n_points);
  yoke__json_integer(json, "skipped", (int64_t)d->n_skipped);
  yoke__json_integer(json, "not_finite", (int64_t)d->n_not_finite);
  yoke__json_number(json, "start", d->t_first);
  yoke__json_number(json, "stop", d->t_last);
  for (size_t i = 0; i < YOKE_COUNT(fields); i++) {
    if ((measures & 1u << fields[i].measure) != 0) {
      yoke__json_number(json, fields[i].key, field_value(&fields[i], d));
      if (fields[i].title == NULL) {
        yoke__json_string(json, "scale_kind", scales[d->scale_kind]);
      }
    }
  }
  yoke__json_begin_array(json, "exceeded");
  for (yoke_measure m = 0; m < YOKE_N_MEASURES; m++) {
    if (yoke__compare_is_exceeded(c, s, m)) {
      yoke__json_string(json, NULL, yoke__measure_name(m));
    }
  }
  yoke__json_end_array(json);
  yoke__json_end_object(json);
}

static bool print_json(const yoke_comparison* c, uint32_t measures) {
  yoke_json json = {0};
  yoke__json_begin_document(&json, "comparison");
  yoke__json_string(&json, "result", c->settings->paths[0]);
  yoke__json_string(&json, "reference", c->settings->paths[1]);
  yoke__json_begin_object(&json, "limits");
  for (yoke_measure m = 0; m < YOKE_N_MEASURES; m++) {
    if ((c->settings->limited & 1u << m) != 0) {
      yoke__json_number(&json, yoke__measure_name(m), c->settings->limits[m]);
    }
  }
  yoke__json_end_object(&json);
  yoke__json_begin_array(&json, "signals");
  for (size_t i = 0; i < c->n_signals; i++) {
    if (c->settings->has_signals && c->signals[i].is_measured) {
      json_signal(c, &c->signals[i], measures, &json);
    }
  }
  yoke__json_end_array(&json);
  for (int side = 0; side < 2; side++) {
    yoke__json_begin_array(&json, side == 0 ? "only_in_result" : "only_in_reference");
    for (size_t i = FIRST_SIGNAL; i < c->results[side].csv.n_columns; i++) {
      if (find_other(c, side, i) == YOKE_NOT_FOUND) {
        yoke__json_string(&json, NULL, c->results[side].csv.columns[i].name);
      }
    }
    yoke__json_end_array(&json);
  }
  if (c->settings->has_ter) {
    json_ter(&c->ter, &json);
  }
  if (c->settings->has_frf) {
    json_frf(&c->frf, &json);
  }
  yoke__json_integer(&json, "n_exceeded", (int64_t)c->n_exceeded);
  yoke__json_end_object(&json);
  return yoke__app_print_json(COMMAND, &json);
}

// ---- the command

// One --limit, "measure=value".
static bool read_limit(yoke_compare_settings* settings, const char* text) {
  const char* equals = strchr(text, '=');
  const size_t n = equals == NULL ? strlen(text) : (size_t)(equals - text);
  int found = -1;
  for (int m = 0; m < YOKE_N_MEASURES; m++) {
    const char* name = yoke__measure_name((yoke_measure)m);
    found = strlen(name) == n && strncmp(name, text, n) == 0 ? m : found;
  }
  double value = 0;
  if (found < 0 || equals == NULL) {
    return yoke__app_error(COMMAND,
                           "--limit: expected MEASURE=VALUE with nrmse, rmse, max, end, error or "
                           "roughness, found '%.80s'",
                           text);
  }
  if (!yoke__number_parse(equals + 1, &value) || !(value >= 0)) {
    return yoke__app_error(COMMAND,
                           "--limit: expected a number not below 0 behind '%.*s=', found '%.80s'",
                           (int)n, text, equals + 1);
  }
  settings->limits[found] = value;
  settings->limited |= 1u << found;
  return true;
}

// What belongs to frf, and to nothing else.
static bool read_frf(const yoke_options* options, yoke_compare_settings* settings) {
  static const char* const own[] = {"input", "resolution", "out"};
  for (size_t i = 0; i < YOKE_COUNT(own) && !settings->has_frf; i++) {
    if (yoke__options_has(options, own[i])) {
      return yoke__app_error(COMMAND, "--%s: has no effect without --measure frf", own[i]);
    }
  }
  settings->input = yoke__options_value(options, "input");
  if (settings->has_frf && (settings->input == NULL || settings->n_signals == 0)) {
    return yoke__app_error(COMMAND,
                           "--measure frf: expected the input and the output of the response: "
                           "--input NAME --signal NAME");
  }
  const char* resolution = yoke__options_value(options, "resolution");
  if (resolution != NULL &&
      (!yoke__number_parse(resolution, &settings->resolution) || !(settings->resolution > 0) ||
       !yoke__is_finite(settings->resolution))) {
    return yoke__app_error(
        COMMAND, "--resolution: expected a frequency above 0 [Hz], found '%.80s'", resolution);
  }
  const char* out = yoke__options_value(options, "out");
  return out == NULL || out[0] != '\0' ||
         yoke__app_error(COMMAND, "--out: expected the name of a folder, found nothing");
}

static bool read_settings(const yoke_options* options, yoke_compare_settings* settings,
                          uint32_t* measures) {
  size_t n = 0;
  if (!yoke__options_choices(options, "measure", measures)) {
    return false;
  }
  const char* const* limits = yoke__options_values(options, "limit", &n);
  for (size_t i = 0; i < n; i++) {
    if (!read_limit(settings, limits[i])) {
      return false;
    }
  }
  // a limit without its number would be hard to understand
  *measures = (*measures == 0 ? USUAL : *measures) | settings->limited;
  settings->has_signals = (*measures & ALL_MEASURES) != 0;
  settings->has_ter = (*measures & MEASURE_TER) != 0;
  settings->has_frf = (*measures & MEASURE_FRF) != 0;
  settings->has_roughness = (*measures & 1u << YOKE_MEASURE_ROUGHNESS) != 0;
  settings->paths[0] = options->operands[0];
  settings->paths[1] = options->operands[1];
  settings->signals = yoke__options_values(options, "signal", &settings->n_signals);
  if (!settings->has_signals && !settings->has_frf && settings->n_signals > 0) {
    return yoke__app_error(
        COMMAND,
        "--signal: ter is a measure of bonds; add nrmse, rmse, max, end, error, roughness or frf");
  }
  return read_frf(options, settings);
}

static int compare(const yoke_options* options, yoke_comparison* c) {
  const char* command = COMMAND;
  const yoke_sink sink = yoke__app_command_sink(&command);
  yoke_compare_settings settings = {0};
  uint32_t measures = 0;
  if (!read_settings(options, &settings, &measures)) {
    return YOKE_EXIT_USAGE;
  }
  const yoke_status status = yoke__compare_open(&settings, c, &sink);
  if (status < 0) {
    return yoke__app_fail(COMMAND, status);
  }
  // signals that cannot be compared do not keep the others from being printed
  bool is_printed = true;
  if (yoke__options_has(options, "json")) {
    is_printed = print_json(c, measures);
  } else {
    if (settings.has_signals) {
      print_table(c, measures);
    }
    if (settings.has_ter) {
      print_ter(&c->ter);
    }
    if (settings.has_frf) {
      print_frf(&c->frf);
    }
  }
  const char* out = yoke__options_value(options, "out");
  const int written = out != NULL ? write_frf(&c->frf, out) : YOKE_EXIT_OK;
  return c->n_failed > 0                          ? YOKE_EXIT_USAGE
         : !is_printed || written != YOKE_EXIT_OK ? YOKE_EXIT_FAILED
         : c->n_exceeded > 0                      ? YOKE_EXIT_QUALITY
                                                  : YOKE_EXIT_OK;
}

static int run(const yoke_options* options) {
  yoke_comparison c = {0};
  const int status = compare(options, &c);
  yoke__compare_free(&c);
  return status;
}

int yoke_cmd_compare(int argc, char** argv) {
  return yoke__options_run(&yoke__command_compare, argc, argv, run);
}
