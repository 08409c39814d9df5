// The child answers through shared memory, which it makes as large as the table needs:
//
//   answer | values of column 0, 1, ... | name of column 0, NUL, name of column 1, NUL, ...
//
// 1. The parent believes nothing of it: all counts are held against the size of the memory, and the last byte must be NUL.
// 2. What the child has not answered counts as a crash, a loop or too much memory, by the way the child ended.
#include "record/record_hdf5_child.h"

#include <stdlib.h>
#include <string.h>

#include "base/base_message.h"
#include "base/base_process.h"
#include "base/base_status.h"

enum { ANSWERED = 42 };  // how the child ends; a library that calls exit chooses others

typedef struct answer {
  int status;
  uint64_t n_columns, n_rows, names_size;
  char text[YOKE_MESSAGE_TEXT_SIZE];  // of the failure
} answer;

typedef struct job {
  yoke_child_read read;
  void (*prepare)(void);
  const char* path;
  const yoke_child_limits* limits;
  yoke_shared* shared;
  int parent;
} job;

yoke_child_limits yoke__child_limits(uint64_t file_size) {
  const uint64_t most = (uint64_t)1 << 40;
  const uint64_t size = file_size < most ? file_size : most;
  // the table, the block it is read from and the copy for the parent: three times the unpacked size
  yoke_child_limits limits = {.memory = ((uint64_t)1 << 30) + 32 * size};
  // 4 MB/s is a hundredth of what reading takes; the clock is for a disk or a network that does not answer
  limits.cpu_s = 30 + (int)(size >> 22);
  limits.wall_s = 60 + 4 * (int)(size >> 22);
  return limits;
}

// ---- in the child

static yoke_status give(const yoke_csv* csv, yoke_shared* shared) {
  uint64_t names_size = 0;
  for (size_t i = 0; i < csv->n_columns; i++) {
    names_size += strlen(csv->columns[i].name) + 1;
  }
  const uint64_t values_size = (uint64_t)csv->n_columns * csv->n_rows * sizeof(double);
  YOKE_TRY(yoke__shared_grow(shared, (size_t)(sizeof(answer) + values_size + names_size)));
  double* values = (double*)(void*)(shared->bytes + sizeof(answer));
  char* names = (char*)shared->bytes + sizeof(answer) + values_size;
  for (size_t i = 0; i < csv->n_columns; i++) {
    if (csv->n_rows > 0) {
      memcpy(values + i * csv->n_rows, csv->columns[i].values, csv->n_rows * sizeof(double));
    }
    const size_t n = strlen(csv->columns[i].name) + 1;
    memcpy(names, csv->columns[i].name, n);
    names += n;
  }
  answer* to = (answer*)(void*)shared->bytes;
  to->n_columns = csv->n_columns;
  to->n_rows = csv->n_rows;
  to->names_size = names_size;
  return YOKE_OK;
}

static int work(const void* argument) {
  const job* j = argument;
  YOKE_CATCH(why);
  yoke_csv csv = {0};
  yoke__process_stay_with(j->parent);
  if (j->prepare != NULL) {
    j->prepare();
  }
  yoke__process_limit(j->limits->memory);
  yoke__process_limit_time(j->limits->cpu_s);
  yoke_status status = j->read(j->path, &csv, &why.sink);
  status = status < 0 ? status : give(&csv, j->shared);
  answer* to = (answer*)(void*)j->shared->bytes;
  memcpy(to->text, why.text, sizeof to->text);
  to->status = status;
  return ANSWERED;
}

// ---- in the parent

static yoke_status take(const yoke_shared* shared, yoke_csv* out) {
  const answer* from = (const answer*)(const void*)shared->bytes;
  const uint64_t room = shared->size - sizeof *from;
  const uint64_t n_columns = from->n_columns, n_rows = from->n_rows, n_names = from->names_size;
  if (n_columns > YOKE_CSV_MAX_COLUMNS || n_names > room || n_names < n_columns ||
      (n_columns > 0 && n_rows > (room - n_names) / sizeof(double) / n_columns)) {
    return YOKE_BAD_INPUT;
  }
  const double* values = (const double*)(const void*)(shared->bytes + sizeof *from);
  const char* names = (const char*)(values + n_columns * n_rows);
  if (n_names > 0 && names[n_names - 1] != '\0') {
    return YOKE_BAD_INPUT;
  }
  const char* end = names + n_names;
  out->n_columns = (size_t)n_columns;
  out->n_rows = (size_t)n_rows;
  out->columns = yoke__arena_array(&out->arena, out->n_columns, sizeof out->columns[0]);
  YOKE_TRY_MEMORY(out->columns);
  for (size_t i = 0; i < out->n_columns; i++) {
    if (names >= end) {
      return YOKE_BAD_INPUT;
    }
    yoke_csv_column* column = &out->columns[i];
    column->name = yoke__arena_text(&out->arena, names, strlen(names));
    column->values = yoke__arena_array(&out->arena, out->n_rows, sizeof(double));
    YOKE_TRY_MEMORY(column->name && column->values);
    if (out->n_rows > 0) {
      memcpy(column->values, values + i * out->n_rows, out->n_rows * sizeof(double));
    }
    names += strlen(names) + 1;
  }
  return YOKE_OK;
}

// A child that has not answered.
static yoke_status explain(const yoke_process* child, const yoke_child_limits* limits,
                           const yoke_sink* errors) {
  if (child->is_known && yoke__process_is_out_of_time(child)) {
    return yoke_fail(errors, YOKE_BAD_INPUT,
                     "reading it takes more than %d s of processor time: it is damaged",
                     limits->cpu_s);
  }
  if (child->is_known && yoke__process_is_killed(child)) {
    return yoke_fail(errors, YOKE_NO_MEMORY, "reading it was ended: %s",
                     yoke__signal_text(child->signal_number));
  }
  if (child->is_known && child->signal_number != 0) {
    return yoke_fail(errors, YOKE_BAD_INPUT, "reading it crashes (%s): it is damaged",
                     yoke__signal_text(child->signal_number));
  }
  return yoke_fail(errors, YOKE_BAD_INPUT,
                   "reading it ends the process (exit status %d): it is damaged",
                   child->exit_status);
}

// The answer of a child that has ended.
static yoke_status hear(const yoke_process* child, yoke_shared* shared,
                        const yoke_child_limits* limits, yoke_csv* out, const yoke_sink* errors) {
  if (!child->is_known || child->signal_number != 0 || child->exit_status != ANSWERED) {
    return explain(child, limits, errors);
  }
  YOKE_TRY(yoke__shared_update(shared));
  answer* from = (answer*)(void*)shared->bytes;
  from->text[sizeof from->text - 1] = '\0';
  const yoke_status status = (yoke_status)from->status;
  if (status == YOKE_NO_MEMORY) {
    return yoke_fail(errors, status, "out of memory: reading it needs more than %llu MB",
                     (unsigned long long)(limits->memory >> 20));
  }
  if (status < 0) {
    return yoke_fail(errors, status, "%s",
                     from->text[0] == '\0' ? yoke_status_text(status) : from->text);
  }
  const yoke_status taken = take(shared, out);
  if (taken == YOKE_BAD_INPUT) {
    return yoke_fail(errors, taken, "reading it gives nonsense: it is damaged");
  }
  return taken < 0 ? yoke_fail(errors, taken, "%s", yoke_status_text(taken)) : YOKE_OK;
}

yoke_status yoke__read_in_child(yoke_child_read read, void (*prepare)(void), const char* path,
                                const yoke_child_limits* limits, yoke_csv* out,
                                const yoke_sink* errors) {
  yoke_shared shared;
  yoke_process child;
  memset(out, 0, sizeof *out);
  yoke_status status = yoke__shared_create(sizeof(answer), &shared);
  if (status < 0) {
    return yoke_fail(errors, status, "%s", yoke_status_text(status));
  }
  ((answer*)(void*)shared.bytes)->status = YOKE_BAD_INPUT;
  const job j = {read, prepare, path, limits, &shared, yoke__process_id()};
  status = yoke__process_fork(work, &j, &child, errors);
  if (status >= 0 && !yoke__process_wait(&child, limits->wall_s * INT64_C(1000000000))) {
    yoke__process_kill(&child);
    status = yoke_fail(errors, YOKE_BAD_INPUT, "reading it takes more than %d s", limits->wall_s);
  } else if (status >= 0) {
    status = hear(&child, &shared, limits, out, errors);
  }
  yoke__shared_close(&shared);
  if (status < 0) {
    yoke__csv_free(out);
  }
  return status;
}
