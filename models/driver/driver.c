// A driver. His throttle comes from a trace (a CSV file or points of the system file), from a controller that follows a trace of
// speed, or from outside.
//
//   trace  u(t) = straight lines or steps between the points; two points at one time are a step
//   pi     e = target(t + preview) - speed,  u = K_P e + I,  I' = K_P e / T_I,  u_min <= u <= u_max
//   live   u = what was written
//
// The integral stands still while u is limited. The output of a call belongs to its end: a trace is read there, and the
// controller uses the speed of the start, as a driver who looks and then acts. Source: README.md.
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_csv.h"
#include "base/base_os.h"
#include "models/driver/driver.h"
#include "models/models_support.h"

#define COUNT(array)  (sizeof(array) / sizeof((array)[0]))
#define MAX_FILE_SIZE ((size_t)1 << 30)  // bytes
#define MAX_TEXT      4096

enum { MODE_TRACE, MODE_PI, MODE_LIVE };
enum { INTERPOLATION_LINEAR, INTERPOLATION_HOLD };

static const char* const mode_items[] = {"trace", "pi", "live", NULL};
static const char* const interpolation_items[] = {"linear", "hold", NULL};

typedef struct driver {
  yoke_model_head head;
  double *times, *values;  // of the trace, in the description
  size_t n_points;
  int64_t mode, interpolation;
  double speed;  // input; the image starts here
  double throttle, target, error;
  double live, K_P, T_I;
  double preview, u_min, u_max;
  double integral;
} driver;

#define REAL(member_, dim_, text_, causality_, flags_, start_)                                     \
  {                                                                                                \
    .name = #member_, .dim = (dim_), .text = (text_), .type = YOKE_REAL,                           \
    .causality = (causality_), .flags = (flags_), .start = (start_),                               \
    .offset = offsetof(driver, member_)                                                            \
  }

static const yoke_variable variables[] = {
    REAL(speed, NULL, "speed that the controller compares with its target", YOKE_INPUT,
         YOKE_VARIABLE_HAS_START, 0.0),
    REAL(throttle, "N.m", "torque demand", YOKE_OUTPUT, 0, 0.0),
    REAL(target, NULL, "mode pi: speed to be driven, preview included", YOKE_OUTPUT, 0, 0.0),
    REAL(error, NULL, "mode pi: target less speed", YOKE_OUTPUT, 0, 0.0),
    REAL(live, "N.m", "mode live: throttle, written from outside", YOKE_TUNABLE, 0, 0.0),
    REAL(K_P, NULL, "mode pi: torque per error of speed", YOKE_TUNABLE, 0, 0.1),
    REAL(T_I, "s", "mode pi: integral time", YOKE_TUNABLE, 0, 1.0),
    REAL(preview, "s", "mode pi: how far ahead the target is read", YOKE_PARAMETER, 0, 0.0),
    REAL(u_min, "N.m", "mode pi: least throttle", YOKE_PARAMETER, 0, -0.4),
    REAL(u_max, "N.m", "mode pi: largest throttle", YOKE_PARAMETER, 0, 0.4),
};

#define TEXT(name_, text_, start_, flags_)                                                         \
  {                                                                                                \
    .name = (name_), .text = (text_), .type = YOKE_STRING, .causality = YOKE_PARAMETER,            \
    .start_text = (start_), .flags = (flags_), .max_size = MAX_TEXT                                \
  }

static const yoke_variable structure[] = {
    {.name = "mode",
     .text = "where the throttle comes from",
     .type = YOKE_ENUMERATION,
     .causality = YOKE_PARAMETER,
     .items = mode_items},
    {.name = "points",
     .text = "trace: rows [time, value]",
     .type = YOKE_REAL,
     .causality = YOKE_PARAMETER},
    TEXT("file", "trace: CSV file, relative to the folder of the system file", NULL,
         YOKE_VARIABLE_IS_FILE),
    TEXT("time", "name of the time column", "time", 0),
    TEXT("column", "name of the column with throttle, or speed in mode pi", "throttle", 0),
    {.name = "interpolation",
     .text = "between two points",
     .type = YOKE_ENUMERATION,
     .causality = YOKE_PARAMETER,
     .items = interpolation_items},
};

// ---- creation

// A trace before the unit knows its size.
typedef struct trace {
  const double *times, *values;
  size_t n, stride;
  yoke_csv csv;  // owns them if they come from a file
} trace;

static yoke_status read_text(const yoke_unit_args* args, const char* name, const char* fallback,
                             const char** text, const yoke_sink* sink) {
  const yoke_argument* argument = yoke__model_argument(args, name);
  *text = fallback;
  if (argument != NULL) {
    if (yoke__argument_count(argument) != 1) {
      return yoke__model_refuse(sink, "%s: expected one text", name);
    }
    *text = *(const char* const*)argument->value;
  }
  return YOKE_OK;
}

static yoke_status find_column(const yoke_csv* csv, const char* file, const char* name,
                               const double** values, const yoke_sink* sink) {
  const size_t at = yoke__csv_find(csv, name);
  if (at == csv->n_columns) {
    return yoke__model_refuse(sink, "%s has no column '%s'", file, name);
  }
  *values = csv->columns[at].values;
  return YOKE_OK;
}

static yoke_status read_file(const yoke_unit_args* args, const char* file, trace* to,
                             const yoke_sink* sink) {
  const char *time = NULL, *column = NULL;
  YOKE_TRY(read_text(args, "time", "time", &time, sink));
  YOKE_TRY(read_text(args, "column", "throttle", &column, sink));
  char path[2 * MAX_TEXT];
  const bool is_relative = file[0] != '/' && args->directory != NULL && args->directory[0] != '\0';
  const int length = snprintf(path, sizeof path, "%s%s%s", is_relative ? args->directory : "",
                              is_relative ? "/" : "", file);
  if (length < 0 || (size_t)length >= sizeof path) {
    return yoke__model_refuse(sink, "file: the path is too long");
  }
  char* bytes = NULL;
  size_t n = 0;
  YOKE_TRY(yoke__os_read_file(path, MAX_FILE_SIZE, &bytes, &n, sink));
  const yoke_status status = yoke__csv_parse(bytes, n, &to->csv, sink);
  free(bytes);
  YOKE_TRY(status);
  YOKE_TRY(find_column(&to->csv, file, time, &to->times, sink));
  YOKE_TRY(find_column(&to->csv, file, column, &to->values, sink));
  to->n = to->csv.n_rows;
  to->stride = 1;
  return YOKE_OK;
}

static yoke_status read_points(const yoke_argument* points, trace* to, const yoke_sink* sink) {
  if (points->n_cols != 2) {
    return yoke__model_refuse(sink, "points: expected rows [time, value]");
  }
  to->times = points->value;
  to->values = to->times + 1;
  to->n = points->n_rows;
  to->stride = 2;
  return YOKE_OK;
}

// One trace, from one place, with times that do not go back.
static yoke_status read_trace(const yoke_unit_args* args, int64_t mode, trace* to,
                              const yoke_sink* sink) {
  const yoke_argument* points = yoke__model_argument(args, "points");
  const char* file = NULL;
  YOKE_TRY(read_text(args, "file", NULL, &file, sink));
  if (mode == MODE_LIVE) {
    return points == NULL && file == NULL
               ? YOKE_OK
               : yoke__model_refuse(sink, "mode live has no trace: remove file and points");
  }
  if ((points == NULL) == (file == NULL)) {
    return yoke__model_refuse(sink, "expected a trace: either file or points");
  }
  YOKE_TRY(points != NULL ? read_points(points, to, sink) : read_file(args, file, to, sink));
  if (to->n == 0) {
    return yoke__model_refuse(sink, "the trace has no points");
  }
  for (size_t i = 0; i < to->n; i++) {
    const double t = to->times[i * to->stride];
    if (!isfinite(t) || !isfinite(to->values[i * to->stride]) ||
        (i > 0 && t < to->times[(i - 1) * to->stride])) {
      return yoke__model_refuse(sink,
                                "point %zu of the trace: expected finite numbers and times "
                                "that do not go back",
                                i + 1);
    }
  }
  return YOKE_OK;
}

static yoke_status build(const trace* from, int64_t mode, int64_t interpolation, void** self,
                         const yoke_sink* sink) {
  driver* d = yoke__model_make(sizeof(driver), offsetof(driver, speed), COUNT(variables), 0,
                               2 * from->n * sizeof(double));
  if (d == NULL) {
    return yoke__model_no_memory(sink);
  }
  d->times = (double*)(void*)d->head.texts;
  d->values = d->times + from->n;
  d->n_points = from->n;
  d->mode = mode;
  d->interpolation = interpolation;
  for (size_t i = 0; i < from->n; i++) {
    d->times[i] = from->times[i * from->stride];
    d->values[i] = from->values[i * from->stride];
  }
  memcpy(d->head.variables, variables, sizeof variables);
  for (size_t i = 0; i < COUNT(variables); i++) {
    *(double*)(void*)((char*)d + variables[i].offset) = variables[i].start;
  }
  d->head.info.flags |= YOKE_UNIT_SAMPLED;
  *self = d;
  return YOKE_OK;
}

static yoke_status driver_create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  int64_t mode = MODE_TRACE, interpolation = INTERPOLATION_LINEAR;
  YOKE_TRY(yoke__model_integer(args, "mode", MODE_TRACE, MODE_TRACE, MODE_LIVE, &mode, sink));
  YOKE_TRY(yoke__model_integer(args, "interpolation", INTERPOLATION_LINEAR, INTERPOLATION_LINEAR,
                               INTERPOLATION_HOLD, &interpolation, sink));
  trace from = {0};
  yoke_status status = read_trace(args, mode, &from, sink);
  if (status == YOKE_OK) {
    status = build(&from, mode, interpolation, self, sink);
  }
  yoke__csv_free(&from.csv);
  return status;
}

// ---- driving

// A time that misses a point only by rounding counts as that point, so that a recorded throttle comes back bit by bit.
static double trace_at(const driver* d, double t) {
  // a few units in the last place of the times involved
  const double slack = 4.0 * DBL_EPSILON * (fabs(t) + fabs(d->times[d->n_points - 1]));
  if (t < d->times[0] - slack) {
    return d->values[0];
  }

  // times[low] <= t < times[low + 1]; of equal times the last one counts
  size_t low = 0, high = d->n_points;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (d->times[middle] <= t + slack) {
      low = middle;
    } else {
      high = middle;
    }
  }

  // straight line between the points
  const double into = t - d->times[low];
  if (low + 1 == d->n_points || d->interpolation == INTERPOLATION_HOLD || into <= slack) {
    return d->values[low];
  }
  const double share = into / (d->times[low + 1] - d->times[low]);
  return d->values[low] + share * (d->values[low + 1] - d->values[low]);
}

static void control(driver* d, double t, double h) {
  // looks ahead by `preview`, as a driver does
  d->target = trace_at(d, t + d->preview);
  d->error = d->target - d->speed;

  // u = K_P e + I, limited
  const double wish = d->K_P * d->error + d->integral;
  d->throttle = fmin(fmax(wish, d->u_min), d->u_max);

  // anti-windup: the integral only moves while the throttle is not limited
  if (d->throttle == wish) {
    // I' = K_P e / T_I
    d->integral += h * d->K_P * d->error / d->T_I;
  }
}

static yoke_status driver_refresh(void* self, double t) {
  driver* d = self;
  if (d->mode == MODE_TRACE) {
    d->throttle = trace_at(d, t);
  } else if (d->mode == MODE_LIVE) {
    d->throttle = d->live;
  }
  return YOKE_OK;
}

static yoke_status driver_step(void* self, double t, double h, yoke_step_result* result) {
  driver* d = self;
  if (d->mode == MODE_PI) {
    control(d, t, h);
    if (!isfinite(d->throttle)) {
      result->message = "the throttle is no longer finite";
      return YOKE_DIVERGED;
    }
  }
  return driver_refresh(self, result->t_reached);
}

static yoke_status driver_enter_init(void* self, double t_start, double t_stop,
                                     const yoke_sink* sink) {
  driver* d = self;
  (void)t_stop;
  if (!(d->T_I > 0.0 && isfinite(d->K_P) && d->preview >= 0.0 && isfinite(d->preview))) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s",
                     "T_I must be above 0, K_P and preview finite and preview not negative");
  }
  if (!(d->u_min <= d->u_max)) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", "expected u_min <= u_max");
  }
  d->integral = 0.0;
  d->throttle = 0.0;
  d->target = d->mode == MODE_PI ? trace_at(d, t_start + d->preview) : 0.0;
  return driver_refresh(d, t_start);
}

const yoke_unit_ops yoke__model_driver = {
    .name = "driver",
    .text = "throttle from a recording, a script, a controller that follows a speed, or live",
    .structure = structure,
    .n_structure = COUNT(structure),
    .create = driver_create,
    .describe = yoke__model_describe,
    .enter_init = driver_enter_init,
    .step = driver_step,
    .refresh = driver_refresh,
    .save = yoke__model_save,
    .restore = yoke__model_restore,
    .close = yoke__model_close,
};
