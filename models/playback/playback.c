// Signals from a CSV file as outputs.
//
//   linear  y(t) = y_i + (y_{i+1} - y_i) (t - t_i) / (t_{i+1} - t_i),  t_i <= t < t_{i+1}
//   hold    y(t) = y_i
//
// Before the first row the first values hold; behind the last one `end` decides. With `gaps: hold` an empty cell or one that
// says nan lets the value before it hold until the next good row, and the unit says that it is no sample. The file is read
// and checked in create; a step does one binary search and no heap or file access.
//
// A time that misses a row only by the rounding of t0 + k h counts as that row, so that held
// signals change at the same step on every machine. Assumes a table without line breaks inside
// cells where it names lines (row i stands on line i + 2).
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_csv.h"
#include "base/base_os.h"
#include "models/models_support.h"
#include "models/playback/playback.h"

#define COUNT(array)  (sizeof(array) / sizeof((array)[0]))
#define MAX_FILE_SIZE ((size_t)1 << 30)  // bytes
#define MAX_TEXT      4096               // bytes of a path or column name

enum { INTERPOLATION_LINEAR, INTERPOLATION_HOLD };
enum { END_HOLD, END_STOP, END_REPEAT };
enum { GAPS_REFUSE, GAPS_HOLD };

static const char* const interpolation_items[] = {"linear", "hold", NULL};
static const char* const end_items[] = {"hold", "stop", "repeat", NULL};
static const char* const gaps_items[] = {"refuse", "hold", NULL};

// One output.
typedef struct track {
  const double* values;  // n_rows; in a gap the last good one
  const size_t*
      good;  // n_rows: the last row that is no gap; n_rows: there was none yet. NULL: no gaps
} track;

typedef struct playback {
  yoke_model_head head;
  yoke_csv csv;         // owns the numbers and the names of the outputs
  const double* times;  // n_rows, strictly increasing
  track* tracks;        // n_columns, in the description
  size_t* good;         // of all tracks
  size_t n_rows, n_columns;
  int64_t interpolation, end;
  double offset;  // [s] added to the times of the file
  // the image
  double t;           // that the outputs are of [s]
  int64_t row, laps;  // the last row that is not after it; times that `repeat` has begun anew
  int64_t has_begun;  // it is not before the first row
  double y[];
} playback;

static const yoke_variable structure[] = {
    {.name = "file",
     .text = "CSV file; relative to the folder of the system file",
     .type = YOKE_STRING,
     .causality = YOKE_PARAMETER,
     .flags = YOKE_VARIABLE_IS_FILE,
     .max_size = MAX_TEXT},
    {.name = "time",
     .text = "name of the time column",
     .type = YOKE_STRING,
     .causality = YOKE_PARAMETER,
     .start_text = "time",
     .max_size = MAX_TEXT},
    {.name = "columns",
     .text = "columns to play; none: all with numbers",
     .type = YOKE_STRING,
     .causality = YOKE_PARAMETER,
     .max_size = MAX_TEXT},
    {.name = "interpolation",
     .text = "between two rows",
     .type = YOKE_ENUMERATION,
     .causality = YOKE_PARAMETER,
     .start = INTERPOLATION_LINEAR,
     .items = interpolation_items},
    {.name = "end",
     .text = "behind the last row",
     .type = YOKE_ENUMERATION,
     .causality = YOKE_PARAMETER,
     .start = END_HOLD,
     .items = end_items},
    {.name = "gaps",
     .text = "empty cells and cells that say nan: an error, or the last value holds",
     .type = YOKE_ENUMERATION,
     .causality = YOKE_PARAMETER,
     .start = GAPS_REFUSE,
     .items = gaps_items},
    {.name = "offset",
     .dim = "s",
     .text = "added to the times of the file",
     .type = YOKE_REAL,
     .causality = YOKE_PARAMETER},
};

// ---- reading and checking

// What create gathers before it knows the size of the unit.
typedef struct plan {
  const char* file;
  char path[2 * MAX_TEXT];  // of the file
  const char* time;
  const yoke_argument* columns;
  int64_t interpolation, end, gaps;
  double offset;
  yoke_csv csv;
  size_t* chosen;  // indices of the columns to play
  size_t n_chosen, time_index;
} plan;

// One text, or the fallback if it was not given.
static yoke_status read_text(const yoke_unit_args* args, const char* name, const char* fallback,
                             const char** text, const yoke_sink* sink) {
  const yoke_argument* argument = yoke__model_argument(args, name);
  *text = fallback;
  if (argument != NULL) {
    if (yoke__argument_count(argument) != 1) {
      return yoke__model_refuse(sink, "%s: expected one text, found %zu", name,
                                yoke__argument_count(argument));
    }
    *text = *(const char* const*)argument->value;
  }
  if (*text == NULL || (*text)[0] == '\0') {
    return yoke__model_refuse(sink, "%s is missing: expected the name of a %s", name,
                              strcmp(name, "file") == 0 ? "CSV file" : "column");
  }
  return YOKE_OK;
}

static yoke_status read_settings(const yoke_unit_args* args, plan* p, const yoke_sink* sink) {
  YOKE_TRY(read_text(args, "file", NULL, &p->file, sink));
  YOKE_TRY(read_text(args, "time", "time", &p->time, sink));
  YOKE_TRY(yoke__model_integer(args, "interpolation", INTERPOLATION_LINEAR, INTERPOLATION_LINEAR,
                               INTERPOLATION_HOLD, &p->interpolation, sink));
  YOKE_TRY(yoke__model_integer(args, "end", END_HOLD, END_HOLD, END_REPEAT, &p->end, sink));
  YOKE_TRY(yoke__model_integer(args, "gaps", GAPS_REFUSE, GAPS_REFUSE, GAPS_HOLD, &p->gaps, sink));
  p->columns = yoke__model_argument(args, "columns");
  const yoke_argument* offset = yoke__model_argument(args, "offset");
  if (offset != NULL) {
    if (yoke__argument_count(offset) != 1 || !isfinite(*(const double*)offset->value)) {
      return yoke__model_refuse(sink, "offset: expected one finite number");
    }
    p->offset = *(const double*)offset->value;
  }
  return YOKE_OK;
}

static yoke_status read_table(const yoke_unit_args* args, plan* p, const yoke_sink* sink) {
  const bool is_relative =
      p->file[0] != '/' && args->directory != NULL && args->directory[0] != '\0';
  const int n = snprintf(p->path, sizeof p->path, "%s%s%s", is_relative ? args->directory : "",
                         is_relative ? "/" : "", p->file);
  if (n < 0 || (size_t)n >= sizeof p->path) {
    return yoke__model_refuse(sink, "file: the path is too long");
  }
  char* bytes = NULL;
  size_t n_bytes = 0;
  YOKE_TRY(yoke__os_read_file(p->path, MAX_FILE_SIZE, &bytes, &n_bytes, sink));
  yoke_context table;
  yoke__context_init(&table, sink, (yoke_place){.source = p->path}, NULL, (double)NAN);
  const yoke_status status = yoke__csv_parse(bytes, n_bytes, &p->csv, &table.sink);
  free(bytes);
  return status;
}

static yoke_place place_of_row(const plan* p, size_t row) {
  return (yoke_place){p->path, (int)row + 2, 0};
}

static bool is_gap(double value) {
  return isnan(value) && !yoke__csv_is_text(value);
}

// The first cell that cannot be played is named with its line.
static yoke_status check_column(const plan* p, size_t index, bool has_gaps, const yoke_sink* sink) {
  const yoke_csv_column* column = &p->csv.columns[index];
  size_t n_good = 0;
  for (size_t i = 0; i < p->csv.n_rows; i++) {
    const double value = column->values[i];
    n_good += isfinite(value) ? 1 : 0;
    if (!isfinite(value) && !(has_gaps && is_gap(value))) {
      return yoke__fail_at(sink, YOKE_BAD_INPUT, place_of_row(p, i), "the cell of column '%s' %s%s",
                           column->name,
                           yoke__csv_is_missing(value) ? "is empty" : "is not a finite number",
                           is_gap(value) ? "; with 'gaps: hold' the last value holds" : "");
    }
  }
  return n_good > 0 || p->csv.n_rows == 0
             ? YOKE_OK
             : yoke__model_refuse(sink, "%s: column '%s' has no number", p->file, column->name);
}

static yoke_status check_times(plan* p, const yoke_sink* sink) {
  p->time_index = yoke__csv_find(&p->csv, p->time);
  if (p->time_index == p->csv.n_columns) {
    return yoke__model_refuse(sink, "%s has no column '%s'; name its time column with 'time'",
                              p->file, p->time);
  }
  if (p->csv.n_rows == 0) {
    return yoke__model_refuse(sink, "%s has no rows", p->file);
  }
  YOKE_TRY(check_column(p, p->time_index, false, sink));
  const double* t = p->csv.columns[p->time_index].values;
  for (size_t i = 1; i < p->csv.n_rows; i++) {
    if (t[i] <= t[i - 1]) {
      return yoke__fail_at(sink, YOKE_BAD_INPUT, place_of_row(p, i),
                           "time %.17g is not after %.17g of the line before", t[i], t[i - 1]);
    }
  }
  if (p->end == END_REPEAT && p->csv.n_rows < 2) {
    return yoke__model_refuse(sink, "%s: 'end: repeat' needs two rows or more", p->file);
  }
  return YOKE_OK;
}

// A column plays by default if its first cell is a number; then a bad cell below is an error, and
// not a reason to leave the column out silently.
static bool is_played_by_default(const plan* p, size_t index) {
  const yoke_csv_column* column = &p->csv.columns[index];
  return index != p->time_index && column->name[0] != '\0' && column->n_missing < p->csv.n_rows &&
         (!column->is_text || isfinite(column->values[0]));
}

static yoke_status choose_columns(plan* p, const yoke_sink* sink) {
  const size_t room = p->columns != NULL ? yoke__argument_count(p->columns) : p->csv.n_columns;
  p->chosen = calloc(room + 1, sizeof *p->chosen);
  if (p->chosen == NULL) {
    return yoke__model_no_memory(sink);
  }
  const char* const* names = p->columns != NULL ? p->columns->value : NULL;
  for (size_t i = 0; i < room; i++) {
    const size_t index = names != NULL ? yoke__csv_find(&p->csv, names[i]) : i;
    if (names != NULL && index == p->csv.n_columns) {
      return yoke__model_refuse(sink, "%s has no column '%s'", p->file, names[i]);
    }
    if (names != NULL || is_played_by_default(p, index)) {
      YOKE_TRY(check_column(p, index, p->gaps == GAPS_HOLD, sink));
      p->chosen[p->n_chosen++] = index;
    }
  }
  if (p->n_chosen == 0) {
    return yoke__model_refuse(sink, "%s has no column with numbers besides '%s'", p->file, p->time);
  }
  return YOKE_OK;
}

static int compare_texts(const void* a, const void* b) {
  return strcmp(*(const char* const*)a, *(const char* const*)b);
}

// Outputs need names of their own: sorted, equal ones are neighbours.
static yoke_status check_unique(const plan* p, const yoke_sink* sink) {
  const char** names = malloc(p->n_chosen * sizeof *names);
  if (names == NULL) {
    return yoke__model_no_memory(sink);
  }
  for (size_t i = 0; i < p->n_chosen; i++) {
    names[i] = p->csv.columns[p->chosen[i]].name;
  }
  qsort(names, p->n_chosen, sizeof *names, compare_texts);
  yoke_status status = YOKE_OK;
  for (size_t i = 1; i < p->n_chosen && status == YOKE_OK; i++) {
    if (strcmp(names[i - 1], names[i]) == 0) {
      status = yoke__model_refuse(sink, "%s: column '%s' is there twice", p->file, names[i]);
    }
  }
  free((void*)names);
  return status;
}

// ---- creation

static size_t count_gaps(const plan* p, size_t index) {
  size_t n = 0;
  for (size_t i = 0; i < p->csv.n_rows; i++) {
    n += is_gap(p->csv.columns[index].values[i]);
  }
  return n;
}

// Gaps take the value before them, those at the start the first one there is.
static void close_gaps(double values[], size_t n_rows, size_t good[]) {
  size_t last = n_rows;
  for (size_t i = 0; i < n_rows; i++) {
    last = is_gap(values[i]) ? last : i;
    good[i] = last;
  }
  for (size_t i = n_rows; i-- > 0;) {
    values[i] = good[i] == n_rows ? values[i + 1] : values[good[i]];
  }
}

// Rows of gaps, for those columns that have some.
static yoke_status lay_tracks(plan* p, playback* b, const yoke_sink* sink) {
  const size_t n_rows = p->csv.n_rows;
  size_t n = 0;
  for (size_t i = 0; i < p->n_chosen; i++) {
    n += count_gaps(p, p->chosen[i]) > 0;
  }
  b->good = n == 0 ? NULL : calloc(n * n_rows, sizeof *b->good);
  if (n > 0 && b->good == NULL) {
    return yoke__model_no_memory(sink);
  }
  size_t* good = b->good;
  for (size_t i = 0; i < p->n_chosen; i++) {
    yoke_csv_column* column = &p->csv.columns[p->chosen[i]];
    b->tracks[i] = (track){.values = column->values};
    if (good != NULL && count_gaps(p, p->chosen[i]) > 0) {
      b->tracks[i].good = good;
      close_gaps(column->values, n_rows, good);
      good += n_rows;
    }
  }
  return YOKE_OK;
}

static yoke_status build(plan* p, void** self, const yoke_sink* sink) {
  const size_t n = p->n_chosen;
  playback* b = yoke__model_make(sizeof(playback) + n * sizeof(double), offsetof(playback, t), n, 0,
                                 n * sizeof(track));
  if (b == NULL) {
    return yoke__model_no_memory(sink);
  }
  b->tracks = (track*)(void*)b->head.texts;
  if (lay_tracks(p, b, sink) < 0) {
    yoke__model_close(b);
    return YOKE_NO_MEMORY;
  }
  b->n_rows = p->csv.n_rows;
  b->n_columns = n;
  b->times = p->csv.columns[p->time_index].values;
  b->interpolation = p->interpolation;
  b->end = p->end;
  b->offset = p->offset;
  for (size_t i = 0; i < n; i++) {
    const yoke_csv_column* column = &p->csv.columns[p->chosen[i]];
    b->y[i] = column->values[0];
    b->head.variables[i] = (yoke_variable){
        .name = column->name,
        .type = YOKE_REAL,
        .causality = YOKE_OUTPUT,
        .start = column->values[0],
        .offset = offsetof(playback, y) + i * sizeof(double),
    };
  }

  // the table belongs to the unit from here on
  b->csv = p->csv;
  p->csv = (yoke_csv){0};
  *self = b;
  return YOKE_OK;
}

static yoke_status prepare(const yoke_unit_args* args, plan* p, const yoke_sink* sink) {
  YOKE_TRY(read_settings(args, p, sink));
  YOKE_TRY(read_table(args, p, sink));
  YOKE_TRY(check_times(p, sink));
  YOKE_TRY(choose_columns(p, sink));
  return check_unique(p, sink);
}

static yoke_status playback_create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  plan p = {0};
  yoke_status status = prepare(args, &p, sink);
  if (status == YOKE_OK) {
    status = build(&p, self, sink);
  }
  free(p.chosen);
  yoke__csv_free(&p.csv);
  return status;
}

static void playback_close(void* self) {
  playback* b = self;
  if (b != NULL) {
    yoke__csv_free(&b->csv);
    free(b->good);
    yoke__model_close(b);
  }
}

// ---- playing

// Time on the axis of the file, wrapped for `repeat`. *slack: how far rounding may have moved it.
static double file_time(const playback* b, double t, double* slack, int64_t* laps) {
  const double first = b->times[0], period = b->times[b->n_rows - 1] - first;
  double at = t - b->offset;
  *laps = 0;
  *slack = 4.0 * DBL_EPSILON * (fabs(t) + fabs(b->offset) + fabs(first) + period);
  if (b->end == END_REPEAT && at - first >= period - *slack) {
    double into = fmod(at - first, period);
    if (period - into <= *slack) {
      into = 0.0;
    }
    *laps = (int64_t)round((at - first - into) / period);
    at = first + into;
  }
  return at;
}

// The last row that is not after `at`; 0 before the first. At most 64 rounds.
static size_t find_row(const playback* b, double at, double slack) {
  size_t low = 0, high = b->n_rows;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (at - b->times[middle] >= -slack) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

static yoke_status playback_refresh(void* self, double t) {
  playback* b = self;
  double slack = 0.0;
  const double at = file_time(b, t, &slack, &b->laps);
  const size_t row = find_row(b, at, slack);
  const bool is_last = row + 1 == b->n_rows;
  b->t = t;
  b->row = (int64_t)row;
  b->has_begun = at - b->times[0] >= -slack;

  // the share of the next row; rounding and times before the first row are held at 0
  double share = 0.0;
  if (b->interpolation == INTERPOLATION_LINEAR && !is_last) {
    share = (at - b->times[row]) / (b->times[row + 1] - b->times[row]);
    share = at - b->times[row] > slack ? share : 0.0;
  }
  for (size_t i = 0; i < b->n_columns; i++) {
    const track* from = &b->tracks[i];
    const double* values = from->values;
    // nobody knows where a gap ends before it does
    const bool is_held = share <= 0.0 || (from->good != NULL && from->good[row] != row);
    b->y[i] = is_held ? values[row] : values[row] + share * (values[row + 1] - values[row]);
  }
  return YOKE_OK;
}

static yoke_status playback_step(void* self, double t, double h, yoke_step_result* result) {
  const playback* b = self;
  (void)t;
  (void)h;
  double slack = 0.0;
  int64_t laps = 0;
  const double at = file_time(b, result->t_reached, &slack, &laps);
  if (b->end == END_STOP && at - b->times[b->n_rows - 1] >= -slack) {
    result->flags |= YOKE_STEP_END_WANTED;
    result->message = "the recording ends";
  }
  return playback_refresh(self, result->t_reached);
}

// Each row is a sample. What holds before the first row and in a gap is none; it is not to be extrapolated, so its age is 0.
static yoke_status playback_sample_info(const void* self, size_t output, yoke_sample_info* info) {
  const playback* b = self;
  if (output >= b->n_columns) {
    return YOKE_BAD_ARG;
  }
  const size_t* good = b->tracks[output].good;
  const size_t row = (size_t)b->row, last = good == NULL ? row : good[row];
  const bool is_valid = b->has_begun != 0 && last == row;
  const double period = b->times[b->n_rows - 1] - b->times[0];
  const double stamp =
      b->times[last < b->n_rows ? last : row] + b->offset + (double)b->laps * period;
  *info = (yoke_sample_info){.time_stamp = stamp,
                             .age = is_valid ? fmax(b->t - stamp, 0.0) : 0.0,
                             .sequence = (uint64_t)(b->laps * (int64_t)b->n_rows + b->row),
                             .is_valid = is_valid};
  return YOKE_OK;
}

const yoke_unit_ops yoke__model_playback = {
    .name = "playback",
    .text = "signals from a CSV file",
    .structure = structure,
    .n_structure = COUNT(structure),
    .create = playback_create,
    .describe = yoke__model_describe,
    .step = playback_step,
    .refresh = playback_refresh,
    .sample_info = playback_sample_info,
    .save = yoke__model_save,
    .restore = yoke__model_restore,
    .close = playback_close,
};
