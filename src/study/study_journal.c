// Lines of the journal, written and read; see study_journal.h. The file itself is handled by study_store.c.
#include "study/study_journal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_hash.h"
#include "base/base_number.h"
#include "master/master_safe.h"
#include "yoke/yoke.h"

#define MAGIC         "yoke-study,2"
#define N_FIXED_CELLS 8  // point, repeat, status, t_reached, reason, began, ended, check

// ---- identity

// What a change of a part is called.
typedef struct part {
  const char* key;
  const char* text;
} part;

static const part parts[] = {
    {"version", "it was made by another version of yoke"},
    {"system", "the system file has changed"},
    {"files", "a file that the system names (FMU, netlist, table, models) has changed"},
    {"set", "--set is different"},
    {"vary", "--vary is different"},
    {"measure", "the measures are different"},
    {"limit", "--limit is different"},
    {"reference", "the reference has changed"},
    {"current", "--current is different"},
    {"seed", "--seed is different"},
};

static uint64_t hash_texts(const char* const texts[], size_t n) {
  uint64_t hash = YOKE_HASH_START;
  for (size_t i = 0; i < n; i++) {
    hash = yoke__hash_text(hash, texts[i]);
  }
  return hash;
}

static uint64_t hash_grid(const yoke_grid* grid) {
  uint64_t hash = YOKE_HASH_START;
  for (size_t i = 0; i < grid->n_axes; i++) {
    const uint64_t n = grid->axes[i].n;
    hash = yoke__hash_bytes(hash, &n, sizeof n);
    for (size_t j = 0; j < grid->axes[i].n; j++) {
      hash = yoke__hash_text(hash, grid->axes[i].sets[j]);
    }
  }
  return hash;
}

static uint64_t hash_reference(const yoke_study_plan* plan) {
  const yoke_csv* csv = plan->reference;
  uint64_t hash = hash_texts(plan->reference_sets, plan->n_reference_sets);
  for (size_t i = 0; csv != NULL && i < csv->n_columns; i++) {
    hash = yoke__hash_text(hash, csv->columns[i].name);
    hash = yoke__hash_bytes(hash, csv->columns[i].values, csv->n_rows * sizeof(double));
  }
  return hash;
}

void yoke__journal_identity(const yoke_study_plan* plan, yoke_text* line) {
  uint64_t measures = YOKE_HASH_START, limits = YOKE_HASH_START;
  for (size_t i = 0; i < plan->n_measures; i++) {
    measures = yoke__hash_text(measures, plan->measures[i].text);
  }
  for (size_t i = 0; i < plan->n_limits; i++) {
    limits = yoke__hash_text(limits, plan->limits[i].text);
  }
  const uint64_t hashes[YOKE_COUNT(parts)] = {
      yoke__hash_text(YOKE_HASH_START, yoke_version()),
      yoke__hash_bytes(YOKE_HASH_START, plan->bytes, plan->n_bytes),
      yoke__study_hash_files(plan),
      hash_texts(plan->sets, plan->n_sets),
      hash_grid(plan->grid),
      measures,
      limits,
      hash_reference(plan),
      hash_texts(plan->current, plan->n_current),
      yoke__hash_text(YOKE_HASH_START, plan->seed == NULL ? "" : plan->seed),
  };
  yoke__text_add(line, "%s", MAGIC);
  for (size_t i = 0; i < YOKE_COUNT(parts); i++) {
    yoke__text_add(line, ",%s=%016llx", parts[i].key, (unsigned long long)hashes[i]);
  }
}

// The value of "key=" in a first line, *n characters; NULL if it is not there.
static const char* find_part(const char* line, const char* key, size_t* n) {
  const size_t n_key = strlen(key);
  for (const char* at = line; at != NULL; at = strchr(at, ',')) {
    at += *at == ',';
    if (strncmp(at, key, n_key) == 0 && at[n_key] == '=') {
      *n = strcspn(at + n_key + 1, ",");
      return at + n_key + 1;
    }
  }
  return NULL;
}

void yoke__journal_difference(const char* mine, const char* theirs, char* to, size_t size) {
  to[0] = '\0';
  size_t used = 0;
  for (size_t i = 0; i < YOKE_COUNT(parts) && used < size; i++) {
    size_t n_a = 0, n_b = 0;
    const char* a = find_part(mine, parts[i].key, &n_a);
    const char* b = find_part(theirs, parts[i].key, &n_b);
    if (a == NULL || b == NULL || n_a != n_b || strncmp(a, b, n_a) != 0) {
      const int n = snprintf(to + used, size - used, "%s%s", used == 0 ? "" : ", ", parts[i].text);
      used += n > 0 ? (size_t)n : 0;
    }
  }
  if (used == 0 && strcmp(mine, theirs) != 0) {
    snprintf(to, size, "it has another form");
  }
}

// ---- writing

void yoke__journal_titles(const yoke_study_plan* plan, yoke_text* line) {
  for (size_t i = 0; i < plan->grid->n_axes; i++) {
    yoke__text_cell(line, plan->grid->axes[i].path);
    yoke__text_add(line, ",");
  }
  yoke__text_add(line, "status,t_reached");
  for (size_t i = 0; i < plan->n_measures; i++) {
    yoke__text_add(line, ",");
    yoke__text_cell(line, plan->measures[i].text);
  }
  yoke__text_add(line, ",reason");
}

void yoke__journal_cells(const yoke_study_plan* plan, size_t point, const yoke_study_result* result,
                         yoke_text* line) {
  const yoke_grid* grid = plan->grid;
  for (size_t i = 0; i < grid->n_axes; i++) {
    if (point < grid->n_points) {
      yoke__text_cell(line, grid->axes[i].values[yoke__grid_index(grid, point, i)]);
    }
    yoke__text_add(line, ",");
  }
  yoke__text_add(line, "%s,", yoke__run_status_names[result->status]);
  yoke__text_number(line, result->t);
  for (size_t i = 0; i < plan->n_measures; i++) {
    yoke__text_add(line, ",");
    yoke__text_number(line, result->values[i]);
  }
  yoke__text_add(line, ",");
  yoke__text_cell(line, result->reason == NULL ? "" : result->reason);
}

void yoke__journal_header(const yoke_study_plan* plan, yoke_text* line) {
  yoke__text_add(line, "point,repeat,");
  yoke__journal_titles(plan, line);
  yoke__text_add(line, ",began,ended,check\n");
}

// "" where a run has no such states.
static const char* state_word(yoke_run_state state) {
  return state == YOKE_RUN_INIT ? "" : yoke__safe_words[state];
}

static uint32_t check_of(const char* bytes, size_t n) {
  const uint64_t hash = yoke__hash_bytes(YOKE_HASH_START, bytes, n);
  return (uint32_t)(hash ^ (hash >> 32));
}

void yoke__journal_line(const yoke_study_plan* plan, size_t point, size_t repeat,
                        const yoke_study_result* result, yoke_text* line) {
  const size_t start = line->n;
  yoke__text_add(line, "%zu,%zu,", point, repeat);
  yoke__journal_cells(plan, point, result, line);
  yoke__text_add(line, ",%s,%s", state_word(result->began), state_word(result->ended));
  if (line->status >= 0) {
    yoke__text_add(line, ",%08x\n", (unsigned)check_of(line->bytes + start, line->n - start));
  }
}

// ---- reading

// What one line is taken apart with.
typedef struct reader {
  char* line;  // a copy, cut into cells
  char** cells;
  size_t n_cells;
  double* values;
  size_t n_axes, n_measures;
} reader;

// Cuts a line (NUL-terminated, changed) into exactly n_cells cells. False: it has others.
static bool cut_cells(reader* r) {
  char* at = r->line;
  for (size_t i = 0; i < r->n_cells; i++) {
    char* to = at;
    r->cells[i] = at;
    if (*at == '"') {
      // a quoted cell: doubled quotes become one, in place
      for (at++; *at != '\0' && (*at != '"' || at[1] == '"'); at++) {
        at += *at == '"';
        *to++ = *at;
      }
      if (*at++ != '"') {
        return false;
      }
    } else {
      at += strcspn(at, ",");
      to = at;
    }
    const char separator = *at;
    if (separator != (i + 1 < r->n_cells ? ',' : '\0')) {
      return false;
    }
    at += separator != '\0';
    *to = '\0';
  }
  return true;
}

static bool has_right_check(const char* line, size_t n) {
  size_t comma = n;
  while (comma > 0 && line[comma - 1] != ',') {
    comma--;
  }
  char want[16];
  if (comma == 0) {
    return false;
  }
  snprintf(want, sizeof want, "%08x", (unsigned)check_of(line, comma - 1));
  return strcmp(line + comma, want) == 0;
}

static bool read_index(const char* cell, size_t* out) {
  int64_t number = 0;
  if (!yoke__number_parse_integer(cell, &number) || number < 0) {
    return false;
  }
  *out = (size_t)number;
  return true;
}

static bool read_number(const char* cell, double* out) {
  *out = (double)NAN;
  return cell[0] == '\0' || (yoke__number_parse(cell, out) && yoke__is_finite(*out));
}

static bool read_state(const char* cell, yoke_run_state* out) {
  for (int i = YOKE_RUN_INIT; i < YOKE_N_RUN_STATES; i++) {
    if (strcmp(state_word((yoke_run_state)i), cell) == 0) {
      *out = (yoke_run_state)i;
      return true;
    }
  }
  return false;
}

static bool read_row(reader* r, yoke_journal_row* row) {
  char** cell = r->cells + 2 + r->n_axes;
  if (!cut_cells(r) || !read_index(r->cells[0], &row->point) ||
      !read_index(r->cells[1], &row->repeat)) {
    return false;
  }
  size_t status = YOKE_RUN_DONE;
  while (status < YOKE_RUN_N_STATUSES && strcmp(yoke__run_status_names[status], *cell) != 0) {
    status++;
  }
  if (status == YOKE_RUN_N_STATUSES || !read_number(cell[1], &row->t)) {
    return false;
  }
  for (size_t i = 0; i < r->n_measures; i++) {
    if (!read_number(cell[2 + i], &r->values[i])) {
      return false;
    }
  }
  row->status = (yoke_run_status)status;
  row->values = r->values;
  row->reason = cell[2 + r->n_measures];
  return read_state(cell[3 + r->n_measures], &row->began) &&
         read_state(cell[4 + r->n_measures], &row->ended);
}

// One line of n bytes: sound or not.
static bool read_line(reader* r, const char* bytes, size_t n, yoke_journal_row* row) {
  if (memchr(bytes, '\0', n) != NULL) {
    return false;
  }
  memcpy(r->line, bytes, n);
  r->line[n] = '\0';
  return has_right_check(r->line, n) && read_row(r, row);
}

static yoke_status read_rows(reader* r, const char* at, const char* end,
                             yoke_status (*row)(void* context, const yoke_journal_row* row),
                             void* context, yoke_journal_info* info) {
  while (at < end) {
    const char* stop = memchr(at, '\n', (size_t)(end - at));
    yoke_journal_row found = {0};
    // without an end it was torn, even if it looks whole
    if (stop != NULL && read_line(r, at, (size_t)(stop - at), &found)) {
      info->n_rows++;
      YOKE_TRY(row(context, &found));
    } else {
      info->n_damaged++;
    }
    at = stop == NULL ? end : stop + 1;
  }
  return YOKE_OK;
}

// The first line as a text of its own; NULL: this is no journal, or memory is out.
static yoke_status read_identity(const char* bytes, size_t n, char** identity, const char** rest,
                                 const yoke_sink* sink) {
  const char* stop = n == 0 ? NULL : memchr(bytes, '\n', n);
  const size_t length = stop == NULL ? 0 : (size_t)(stop - bytes);
  if (length < strlen(MAGIC) || memcmp(bytes, MAGIC, strlen(MAGIC)) != 0 ||
      memchr(bytes, '\0', length) != NULL) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "it is not the journal of a study");
  }
  *identity = malloc(length + 1);
  YOKE_TRY_MEMORY(*identity);
  memcpy(*identity, bytes, length);
  (*identity)[length] = '\0';
  *rest = stop + 1;
  return YOKE_OK;
}

yoke_status yoke__journal_parse(const char* bytes, size_t n, size_t n_axes, size_t n_measures,
                                yoke_status (*row)(void* context, const yoke_journal_row* row),
                                void* context, char** identity, yoke_journal_info* info,
                                const yoke_sink* sink) {
  const char* rest = NULL;
  *identity = NULL;
  *info = (yoke_journal_info){0};
  YOKE_TRY(read_identity(bytes, n, identity, &rest, sink));
  reader r = {.n_axes = n_axes, .n_measures = n_measures};
  r.n_cells = N_FIXED_CELLS + n_axes + n_measures;
  r.line = malloc(n + 1);
  r.cells = calloc(r.n_cells, sizeof *r.cells);
  r.values = calloc(n_measures + 1, sizeof *r.values);
  yoke_status status = YOKE_NO_MEMORY;
  if (r.line != NULL && r.cells != NULL && r.values != NULL) {
    // the second line names the columns
    const char* end = bytes + n;
    const char* stop = rest != NULL && rest < end ? memchr(rest, '\n', (size_t)(end - rest)) : NULL;
    status = read_rows(&r, stop == NULL ? end : stop + 1, end, row, context, info);
  }
  free(r.values);
  free((void*)r.cells);
  free(r.line);
  if (status < 0) {
    free(*identity);
    *identity = NULL;
  }
  return status;
}
