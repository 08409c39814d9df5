// Finds the signals of two results, measures them (quality_measure.c), holds limits, and judges the bonds (quality_ter.c).
#include "study/study_compare.h"

#include <string.h>

#include "base/base_message.h"
#include "scenario/scenario.h"
#include "study/study_recorded.h"

#define FIRST_SIGNAL 1  // column 0 is the time
#define ERROR_DIGITS 6  // of an error; more say nothing
#define VALUE_DIGITS 9

// ---- which signals

// Adds the result's column if the reference has it and both hold numbers.
static bool add_signal(yoke_comparison* c, size_t column) {
  const yoke_csv_column* own = &c->results[0].csv.columns[column];
  const size_t other = yoke__map_find(&c->results[1].names, own->name);
  if (other == YOKE_NOT_FOUND || own->is_text || c->results[1].csv.columns[other].is_text) {
    return false;
  }
  // asked for twice is compared once
  for (size_t i = 0; c->settings->n_signals > 0 && i < c->n_signals; i++) {
    if (c->signals[i].columns[0] == column) {
      return true;
    }
  }
  c->signals[c->n_signals++] = (yoke_compared){.name = own->name, .columns = {column, other}};
  return true;
}

// All columns that a pattern matches; NULL: all.
static bool add_matching(yoke_comparison* c, const char* pattern) {
  bool is_found = false;
  for (size_t i = FIRST_SIGNAL; i < c->results[0].csv.n_columns; i++) {
    if (pattern == NULL || yoke__glob_match(pattern, c->results[0].csv.columns[i].name)) {
      is_found = add_signal(c, i) || is_found;
    }
  }
  return is_found;
}

// A name first, then a pattern.
static yoke_status add_wanted(yoke_comparison* c, const char* wanted, const yoke_sink* sink) {
  const size_t column = yoke__map_find(&c->results[0].names, wanted);
  if (column != YOKE_NOT_FOUND && add_signal(c, column)) {
    return YOKE_OK;
  }
  if (strpbrk(wanted, "*?") != NULL) {
    return add_matching(c, wanted)
               ? YOKE_OK
               : yoke_fail(sink, YOKE_BAD_INPUT, "no common signal matches '%.200s'", wanted);
  }
  // the file that lacks it
  if (yoke__recorded_find(&c->results[0], wanted, sink) != NULL) {
    yoke__recorded_find(&c->results[1], wanted, sink);
  }
  return YOKE_BAD_INPUT;
}

static yoke_status choose_signals(yoke_comparison* c, const yoke_sink* sink) {
  const yoke_compare_settings* s = c->settings;
  yoke_status status = YOKE_OK;
  c->signals = yoke__arena_array(&c->arena, c->results[0].csv.n_columns, sizeof *c->signals);
  YOKE_TRY_MEMORY(c->signals);
  for (size_t i = 0; i < s->n_signals; i++) {
    const yoke_status added = add_wanted(c, s->signals[i], sink);
    status = added < 0 ? added : status;
  }
  if (s->n_signals == 0 && !add_matching(c, NULL)) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "%s and %s have no signal in common", s->paths[0],
                     s->paths[1]);
  }
  return status;
}

// ---- measuring

// Measures every signal. What cannot be compared is reported, each reason once in a row.
static yoke_status measure_signals(yoke_comparison* c, const yoke_sink* sink) {
  const yoke_samples all = {.n = c->results[0].csv.n_rows};
  double* work = yoke__arena_array(&c->arena, yoke__deviation_work_size(&all), sizeof *work);
  YOKE_TRY_MEMORY(work);
  YOKE_CATCH(why);
  char last[YOKE_MESSAGE_TEXT_SIZE] = "";
  for (size_t i = 0; i < c->n_signals; i++) {
    yoke_compared* s = &c->signals[i];
    yoke_samples result, reference;
    YOKE_TRY(yoke__samples_of(&c->results[0].csv, s->columns[0], &c->arena, &result));
    YOKE_TRY(yoke__samples_of(&c->results[1].csv, s->columns[1], &c->arena, &reference));
    yoke_status done = yoke__deviation_compute(&result, &reference, &s->deviation, &why.sink);
    s->is_measured = done >= 0;
    // without a roughness the other measures still count
    if (done >= 0 && c->settings->has_roughness) {
      done = yoke__deviation_roughness(&result, &reference, work, &s->deviation, &why.sink);
    }
    c->n_failed += done < 0;
    if (done < 0 && strcmp(why.text, last) != 0) {
      yoke_fail(sink, done, "%.200s: %s", s->name, why.text);
      memcpy(last, why.text, sizeof last);
    }
  }
  return YOKE_OK;
}

bool yoke__compare_is_exceeded(const yoke_comparison* comparison, const yoke_compared* signal,
                               yoke_measure measure) {
  return signal->is_measured && (comparison->settings->limited & 1u << measure) != 0 &&
         !(yoke__measure_value(&signal->deviation, measure) <=
           comparison->settings->limits[measure]);
}

static void check_limits(yoke_comparison* c, const yoke_sink* sink) {
  for (size_t i = 0; i < c->n_signals; i++) {
    const yoke_compared* s = &c->signals[i];
    for (yoke_measure m = 0; m < YOKE_N_MEASURES; m++) {
      if (yoke__compare_is_exceeded(c, s, m)) {
        yoke_fail(sink, YOKE_BAD_INPUT, "%.200s: %s %.*g exceeds the limit %.*g", s->name,
                  yoke__measure_name(m), ERROR_DIGITS, yoke__measure_value(&s->deviation, m),
                  VALUE_DIGITS, c->settings->limits[m]);
        c->n_exceeded++;
      }
    }
  }
}

// The frequency responses of the chosen signals but the input itself.
static yoke_status respond(yoke_comparison* c, const yoke_sink* sink) {
  yoke_frf_comparison* frf = &c->frf;
  frf->outputs = yoke__arena_array(&c->arena, c->n_signals, sizeof *frf->outputs);
  YOKE_TRY_MEMORY(frf->outputs);
  for (size_t i = 0; i < c->n_signals; i++) {
    const yoke_compared* s = &c->signals[i];
    if (strcmp(s->name, c->settings->input) != 0) {
      frf->outputs[frf->n_outputs++] =
          (yoke_frf_output){.name = s->name, .columns = {s->columns[0], s->columns[1]}};
    }
  }
  if (frf->n_outputs == 0) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "frf: expected an output beside the input '%.200s': name one with --signal",
                     c->settings->input);
  }
  return yoke__frf_comparison_fill(c->results, c->settings->input, c->settings->resolution,
                                   &c->arena, frf, sink);
}

// ---- all of it

yoke_status yoke__compare_open(const yoke_compare_settings* settings, yoke_comparison* out,
                               const yoke_sink* sink) {
  *out = (yoke_comparison){.settings = settings};
  for (int i = 0; i < 2; i++) {
    YOKE_TRY(yoke__recorded_read(settings->paths[i], settings->has_ter, &out->arena,
                                 &out->results[i], sink));
  }
  if (settings->has_ter) {
    YOKE_TRY(yoke__ter_compare(out->results, &out->arena, &out->ter, sink));
  }
  if (settings->has_signals || settings->has_frf) {
    YOKE_TRY(choose_signals(out, sink));
  }
  if (settings->has_frf) {
    YOKE_TRY(respond(out, sink));
  }
  if (settings->has_signals) {
    YOKE_TRY(measure_signals(out, sink));
    check_limits(out, sink);
  }
  return YOKE_OK;
}

void yoke__compare_free(yoke_comparison* comparison) {
  for (int i = 0; i < 2; i++) {
    yoke__csv_free(&comparison->results[i].csv);
  }
  yoke__arena_free(&comparison->arena);
}
