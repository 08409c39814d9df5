// Signals from a CSV file as outputs.
//
//   linear  y(t) = y_i + (y_{i+1} - y_i) (t - t_i) / (t_{i+1} - t_i),  t_i <= t < t_{i+1}
//   hold    y(t) = y_i
//
// Two rows of the same time are a step: t_i <= t picks the later one, and before it the line leads to the earlier one. Columns of
// whole numbers, booleans, items and texts hold. Before the first row the first values hold; behind the last one `end` decides.
// With `gaps: hold` an empty cell or a number that says nan lets the value before it hold until the next good row, and the unit
// says that it is no sample. The file is read and checked in create; a step does one binary search and no heap or file access.
//
// A time that misses a row only by the rounding of t0 + k h counts as that row, so that held
// signals change at the same step on every machine.
#include "models/playback/playback.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "models/models_support.h"
#include "models/playback/playback_table.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SLOT         sizeof(double)  // bytes; values in the image are aligned to it

static const char* const interpolation_items[] = {"linear", "hold", NULL};
static const char* const end_items[] = {"hold", "stop", "repeat", NULL};
static const char* const gaps_items[] = {"refuse", "hold", NULL};

// One output.
typedef struct track {
  yoke_type type;
  const double* values;      // real: n_rows; in a gap the last good one
  const int64_t* wholes;     // integer, boolean, item: the same
  const char* const* texts;  // string: the same
  size_t slot, n_slots;      // its value in the image
  const size_t*
      good;  // n_rows: the last row that is no gap; n_rows: there was none yet. NULL: no gaps
} track;

typedef struct playback {
  yoke_model_head head;
  yoke_csv csv;         // owns the numbers and the names of the outputs
  const double* times;  // n_rows, increasing; two equal ones are a step
  track* tracks;        // n_columns, in the description
  size_t* good;         // of all tracks
  size_t n_rows, n_columns;
  int64_t interpolation, end;
  double offset;  // [s] added to the times of the file
  // the image
  double t;           // that the outputs are of [s]
  int64_t row, laps;  // the last row that is not after it; times that `repeat` has begun anew
  int64_t has_begun;  // it is not before the first row
  double slots[];     // values of the outputs
} playback;

static const yoke_variable structure[] = {
    {.name = "file",
     .text = "CSV file; relative to the folder of the system file",
     .type = YOKE_STRING,
     .causality = YOKE_PARAMETER,
     .flags = YOKE_VARIABLE_IS_FILE,
     .max_size = PLAYBACK_MAX_TEXT},
    {.name = "time",
     .text = "name of the time column",
     .type = YOKE_STRING,
     .causality = YOKE_PARAMETER,
     .start_text = "time",
     .max_size = PLAYBACK_MAX_TEXT},
    {.name = "columns",
     .text = "columns to play; none: all with numbers",
     .type = YOKE_STRING,
     .causality = YOKE_PARAMETER,
     .max_size = PLAYBACK_MAX_TEXT},
    {.name = "integers",
     .text = "columns of whole numbers",
     .type = YOKE_STRING,
     .causality = YOKE_PARAMETER,
     .max_size = PLAYBACK_MAX_TEXT},
    {.name = "booleans",
     .text = "columns of true, false, 1 or 0",
     .type = YOKE_STRING,
     .causality = YOKE_PARAMETER,
     .max_size = PLAYBACK_MAX_TEXT},
    {.name = "enumerations",
     .text = "columns of names of items",
     .type = YOKE_STRING,
     .causality = YOKE_PARAMETER,
     .max_size = PLAYBACK_MAX_TEXT},
    {.name = "items",
     .text = "of the enumerations, in the order of the inputs that they feed",
     .type = YOKE_STRING,
     .causality = YOKE_PARAMETER,
     .max_size = PLAYBACK_MAX_TEXT},
    {.name = "strings",
     .text = "columns of texts",
     .type = YOKE_STRING,
     .causality = YOKE_PARAMETER,
     .max_size = PLAYBACK_MAX_TEXT},
    {.name = "interpolation",
     .text = "of numbers between two rows",
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

// ---- creation

static size_t count_gaps(const playback_table* p, size_t index) {
  size_t n = 0;
  for (size_t i = 0; i < p->csv.n_rows; i++) {
    n += yoke__playback_is_gap(p, index, i);
  }
  return n;
}

// Gaps take the cell before them, those at the start the first one there is. size: bytes of a cell.
static void close_gaps(const playback_table* p, size_t index, char* cells, size_t size,
                       size_t good[]) {
  const size_t n_rows = p->csv.n_rows;
  // forwards, the last row with a cell; n_rows while there was none
  size_t last = n_rows;
  for (size_t i = 0; i < n_rows; i++) {
    last = yoke__playback_is_gap(p, index, i) ? last : i;
    good[i] = last;
  }

  // backwards, so that rows before the first number take it from behind
  for (size_t i = n_rows; i-- > 0;) {
    if (good[i] != i) {
      memcpy(cells + i * size, cells + (good[i] == n_rows ? i + 1 : good[i]) * size, size);
    }
  }
}

static track make_track(const playback_table* p, size_t index) {
  const yoke_type type = p->types[index];
  track made = {.type = type, .n_slots = 1};
  if (type == YOKE_REAL) {
    made.values = p->csv.columns[index].values;
  } else if (type != YOKE_STRING) {
    made.wholes = p->cells[index];
  } else {
    made.texts = p->cells[index];
    size_t longest = 0;
    for (size_t i = 0; i < p->csv.n_rows; i++) {
      const size_t n = strlen(made.texts[i]);
      longest = n > longest ? n : longest;
    }
    made.n_slots = longest / SLOT + 1;  // room for the NUL
  }
  return made;
}

// The cells of the columns, without gaps, and where their values go. *n_slots: of all.
static yoke_status lay_tracks(playback_table* p, track tracks[], size_t** all_good, size_t* n_slots,
                              const yoke_sink* sink) {
  const size_t n_rows = p->csv.n_rows;
  size_t n = 0;
  for (size_t i = 0; i < p->n_chosen; i++) {
    n += count_gaps(p, p->chosen[i]) > 0;
  }
  size_t* good = n == 0 ? NULL : calloc(n * n_rows, sizeof *good);
  if (n > 0 && good == NULL) {
    return yoke__model_no_memory(sink);
  }
  *all_good = good;
  *n_slots = 0;
  for (size_t i = 0; i < p->n_chosen; i++) {
    const size_t index = p->chosen[i];
    const size_t* own_good = NULL;
    if (good != NULL && count_gaps(p, index) > 0) {
      const bool is_real = p->types[index] == YOKE_REAL;
      void* cells = is_real ? (void*)p->csv.columns[index].values : p->cells[index];
      close_gaps(p, index, cells, p->types[index] == YOKE_STRING ? sizeof(char*) : SLOT, good);
      own_good = good;
      good += n_rows;
    }
    tracks[i] = make_track(p, index);
    tracks[i].good = own_good;
    tracks[i].slot = *n_slots;
    *n_slots += tracks[i].n_slots;
  }
  return YOKE_OK;
}

// A cell that is not interpolated as the value of its output. Behind a text zeros: images of equal states are equal bytes.
static void put_cell(playback* b, const track* from, size_t row) {
  char* to = (char*)&b->slots[from->slot];
  if (from->type == YOKE_STRING) {
    const size_t n = strlen(from->texts[row]);
    memcpy(to, from->texts[row], n);
    memset(to + n, 0, from->n_slots * SLOT - n);
  } else if (from->type == YOKE_REAL) {
    b->slots[from->slot] = from->values[row];
  } else {
    memcpy(to, &from->wholes[row], sizeof from->wholes[row]);
  }
}

static yoke_variable describe_track(const playback_table* p, const track* from, const char* name) {
  yoke_variable v = {.name = name,
                     .type = from->type,
                     .causality = YOKE_OUTPUT,
                     .offset = offsetof(playback, slots) + from->slot * SLOT};
  if (from->type == YOKE_STRING) {
    v.start_text = from->texts[0];
    v.max_size = from->n_slots * SLOT;
  } else {
    v.start = from->type == YOKE_REAL ? from->values[0] : (double)from->wholes[0];
    v.items = from->type == YOKE_ENUMERATION ? p->items : NULL;
  }
  return v;
}

static yoke_status build(playback_table* p, track tracks[], void** self, const yoke_sink* sink) {
  const size_t n = p->n_chosen;
  size_t* good = NULL;
  size_t n_slots = 0;
  YOKE_TRY(lay_tracks(p, tracks, &good, &n_slots, sink));
  playback* b = yoke__model_make(sizeof(playback) + n_slots * SLOT, offsetof(playback, t), n, 0,
                                 n * sizeof(track));
  if (b == NULL) {
    free(good);
    return yoke__model_no_memory(sink);
  }
  b->tracks = (track*)(void*)b->head.texts;
  memcpy(b->tracks, tracks, n * sizeof(track));
  b->good = good;
  b->n_rows = p->csv.n_rows;
  b->n_columns = n;
  b->times = p->csv.columns[p->time_index].values;
  b->interpolation = p->interpolation;
  b->end = p->end;
  b->offset = p->offset;
  for (size_t i = 0; i < n; i++) {
    put_cell(b, &b->tracks[i], 0);
    b->head.variables[i] = describe_track(p, &b->tracks[i], p->csv.columns[p->chosen[i]].name);
  }

  // the table belongs to the unit from here on
  b->csv = p->csv;
  p->csv = (yoke_csv){0};
  *self = b;
  return YOKE_OK;
}

static yoke_status playback_create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  playback_table p = {0};
  yoke_status status = yoke__playback_read(args, &p, sink);
  track* tracks = status == YOKE_OK ? calloc(p.n_chosen, sizeof *tracks) : NULL;
  if (status == YOKE_OK) {
    status = tracks == NULL ? yoke__model_no_memory(sink) : build(&p, tracks, self, sink);
  }
  free(tracks);
  yoke__playback_free(&p);
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

  // rounding of t - offset - first: a few units in the last place of each part
  *slack = 4.0 * DBL_EPSILON * (fabs(t) + fabs(b->offset) + fabs(first) + period);
  if (b->end == END_REPEAT && at - first >= period - *slack) {
    // place within the lap; what rounding leaves of a whole lap is its start
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

  // invariant: times[low] <= at < times[high], up to slack, or low = 0 and high = n
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
    const bool is_held =
        share <= 0.0 || from->type != YOKE_REAL || (from->good != NULL && from->good[row] != row);
    if (is_held) {
      put_cell(b, from, row);
    } else {
      b->slots[from->slot] = values[row] + share * (values[row + 1] - values[row]);
    }
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
  // samples are counted through all laps
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
