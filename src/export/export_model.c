// A unit as FMI will show it: values, how they begin, references, dependencies.
//
// Whether a start value is exact is not asked but tried: the unit is initialised once, and what changed meanwhile
// is only a guess (`approx`), for instance the pressures of a crane that is told to start at rest.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_dim.h"
#include "base/base_os.h"
#include "export/export_part.h"
#include "unit/unit_models.h"

#define MAX_NAME 1024  // bytes of a variable's name
#define MAX_DIM  128   // of a derivative's dimension

void yoke__export_identifier(const char* name, char* to, size_t size) {
  size_t n = 0;
  const bool has_bad_start = (name[0] >= '0' && name[0] <= '9') || name[0] == '\0';
  if (has_bad_start && size > 2) {
    to[n++] = 'm';
    to[n++] = '_';
  }
  for (; *name != '\0' && n + 1 < size; name++) {
    const char c = *name;
    to[n] = '_';
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) {
      to[n] = c;
    }
    n++;
  }
  to[n] = '\0';
}

void yoke__export_element_name(const yoke_export_variable* v, size_t element, char* to,
                               size_t size) {
  const size_t n_cols = v->variable->n_cols == 0 ? 1 : v->variable->n_cols;
  const size_t n_rows = v->variable->n_rows == 0 ? 1 : v->variable->n_rows;
  if (v->n == 1) {
    snprintf(to, size, "%s", v->variable->name);
  } else if (n_cols == 1 || n_rows == 1) {
    snprintf(to, size, "%s[%zu]", v->variable->name, element);
  } else {
    snprintf(to, size, "%s[%zu,%zu]", v->variable->name, element / n_cols, element % n_cols);
  }
}

// ---- the instance

static yoke_status make_unit(yoke_export_model* m, const yoke_sink* sink) {
  const yoke_export_job* job = m->job;
  const yoke_unit_args args = {.name = job->name,
                               .directory = job->directory,
                               .arguments = job->arguments,
                               .n_arguments = job->n_arguments,
                               .context = m->ops->context};
  return yoke__unit_create(m->ops, &args, &m->unit_arena, &m->unit, sink);
}

// The unit of a netlist as the FMU will have it: one text without other files, opened anew.
static yoke_status open_netlist(yoke_export_model* m, const yoke_sink* sink) {
  yoke_export_netlist* netlist = &m->netlist;
  YOKE_TRY(yoke__export_circuit_text(netlist->settings.path, &netlist->text, &netlist->size, sink));
  YOKE_TRY(yoke__temp_create(&netlist->folder, sink));
  yoke__os_path_join(yoke__temp_path(netlist->folder), YOKE_EXPORT_NETLIST, netlist->path,
                     sizeof netlist->path);
  YOKE_TRY(yoke__os_write_file(netlist->path, netlist->text, netlist->size, sink));
  netlist->settings.path = netlist->path;
  YOKE_TRY(yoke__export_circuit_open(&netlist->settings, &netlist->file, sink));
  m->ops = yoke__export_circuit_ops(netlist->file);
  return YOKE_OK;
}

// The unit of a library as the FMU will have it: in this process, also where the system isolates it.
static yoke_status open_library(yoke_export_model* m, const yoke_sink* sink) {
  YOKE_TRY(yoke__library_open(m->job->library, &m->library, sink));
  m->ops = yoke__library_unit(m->library, m->job->library_model, sink);
  return m->ops == NULL ? YOKE_BAD_INPUT : YOKE_OK;
}

static bool is_input(const yoke_variable* v) {
  return v->causality == YOKE_INPUT;
}

// The value of every variable, from the caller's instance where there is one; what differs there was set.
static yoke_status take_values(yoke_export_model* m) {
  for (size_t i = 0; i < m->n_variables; i++) {
    // of a netlist: values before its initialisation are those of the text alone
    const bool is_given = m->job->unit != NULL && i < m->job->unit->info->n_variables &&
                          (!m->netlist.is_there || is_input(m->variables[i].variable));
    const yoke_unit* from = is_given ? m->job->unit : &m->unit;
    const size_t size = yoke__variable_size(m->variables[i].variable);
    void* value = yoke__arena_take(&m->arena, size);
    void* own = yoke__arena_take(&m->arena, size);
    YOKE_TRY_MEMORY(value && own);
    YOKE_TRY(yoke__unit_get(from, i, value, size));
    YOKE_TRY(yoke__unit_get(&m->unit, i, own, size));
    m->variables[i].value = value;
    m->variables[i].is_set = memcmp(value, own, size) != 0;
  }
  return YOKE_OK;
}

// What a system file gives to the unit of a netlist.
static yoke_status take_starts(yoke_export_model* m, const yoke_sink* sink) {
  const yoke_export_job* job = m->job;
  for (size_t i = 0; m->netlist.is_there && i < job->n_starts; i++) {
    const yoke_argument* start = &job->starts[i];
    const size_t index = yoke__unit_find(&m->unit, start->name);
    if (index == (size_t)-1 || start->n_rows * start->n_cols != 1) {
      return yoke_fail(sink, YOKE_BAD_INPUT, "the start value '%.80s' is not one of the netlist",
                       start->name);
    }
    m->variables[index].value = start->value;
    m->variables[index].is_set = true;
  }
  return YOKE_OK;
}

static yoke_status put_values(yoke_export_model* m, const yoke_sink* sink) {
  for (size_t i = 0; i < m->n_variables; i++) {
    yoke_export_variable* v = &m->variables[i];
    v->is_set = v->is_set && yoke__export_has_start(v->variable);
    if (v->is_set && yoke__unit_set(&m->unit, i, v->value, yoke__variable_size(v->variable)) < 0) {
      return yoke_fail(sink, YOKE_BAD_INPUT, "the value of '%s' is refused by the model",
                       v->variable->name);
    }
  }
  return YOKE_OK;
}

// How each variable begins: the initialisation is done once to see.
static yoke_status try_start(yoke_export_model* m, const yoke_sink* sink) {
  const double start = m->job->has_experiment ? m->job->start : 0.0;
  const double stop = m->job->has_experiment ? m->job->stop : (double)INFINITY;
  if (yoke__unit_enter_init(&m->unit, start, stop, sink) < 0) {
    return YOKE_BAD_INPUT;
  }
  for (size_t i = 0; i < m->n_variables; i++) {
    yoke_export_variable* v = &m->variables[i];
    const size_t size = yoke__variable_size(v->variable);
    void* now = yoke__arena_take(&m->arena, size);
    YOKE_TRY_MEMORY(now);
    YOKE_TRY(yoke__unit_get(&m->unit, i, now, size));
    const yoke_causality c = v->variable->causality;
    const bool is_kept =
        c == YOKE_PARAMETER || c == YOKE_TUNABLE || memcmp(now, v->value, size) == 0;
    v->initial = !yoke__export_has_start(v->variable) ? YOKE_EXPORT_CALCULATED
                 : c == YOKE_INPUT                    ? YOKE_EXPORT_NO_INITIAL
                 : is_kept                            ? YOKE_EXPORT_EXACT
                                                      : YOKE_EXPORT_APPROX;
    // the operating point and rates of a netlist are found, and what is found is the best guess
    if (m->netlist.is_there && !v->is_set && v->initial == YOKE_EXPORT_APPROX) {
      v->value = now;
    }
  }
  return YOKE_OK;
}

// ---- what FMI asks of names and values

// Is it UTF-8 without control characters? (Line ends in values are fine, in names they are not.)
static bool is_text(const char* text, bool is_name) {
  const unsigned char* s = (const unsigned char*)text;
  while (*s != 0) {
    const size_t n = *s < 0x80                 ? 1
                     : *s >= 0xc2 && *s < 0xe0 ? 2
                     : *s >= 0xe0 && *s < 0xf0 ? 3
                     : *s >= 0xf0 && *s < 0xf5 ? 4
                                               : 0;
    const bool is_control = *s < 0x20 || *s == 0x7f;
    if (n == 0 || (is_control && (is_name || (*s != '\t' && *s != '\n' && *s != '\r')))) {
      return false;
    }
    for (size_t i = 1; i < n; i++) {
      if ((s[i] & 0xc0) != 0x80) {
        return false;
      }
    }
    s += n;
  }
  return true;
}

static yoke_status check_value(const yoke_export_variable* v, int fmi, const yoke_sink* sink) {
  const yoke_variable* variable = v->variable;
  const char* at = v->value;
  for (size_t i = 0; i < v->n; i++, at += yoke__variable_element_size(variable)) {
    if (variable->type == YOKE_STRING && !is_text(at, false)) {
      return yoke_fail(sink, YOKE_NO_SUPPORT,
                       "the text of '%s' has characters that XML does not know", variable->name);
    }
    if (variable->type == YOKE_INTEGER && fmi == 2 && v->initial != YOKE_EXPORT_CALCULATED) {
      int64_t whole = 0;
      memcpy(&whole, at, sizeof whole);
      if (whole < INT32_MIN || whole > INT32_MAX) {
        return yoke_fail(sink, YOKE_NO_SUPPORT, "'%s' is beyond the integers of FMI 2.0 (32 bits)",
                         variable->name);
      }
    }
  }
  return YOKE_OK;
}

static yoke_status check_variable(const yoke_export_variable* v, int fmi, const yoke_sink* sink) {
  const yoke_variable* variable = v->variable;
  if (strlen(variable->name) > MAX_NAME || !is_text(variable->name, true)) {
    return yoke_fail(sink, YOKE_NO_SUPPORT,
                     "the name '%.80s' is too long or has control characters", variable->name);
  }
  if (variable->type == YOKE_BINARY && fmi == 2) {
    return yoke_fail(sink, YOKE_NO_SUPPORT, "'%s' is binary, which FMI 2.0 does not know",
                     variable->name);
  }
  for (size_t i = 0; variable->items != NULL && variable->items[i] != NULL; i++) {
    if (!is_text(variable->items[i], true)) {
      return yoke_fail(sink, YOKE_NO_SUPPORT, "an item of '%s' has control characters",
                       variable->name);
    }
  }
  return check_value(v, fmi, sink);
}

static int compare_names(const void* a, const void* b) {
  return strcmp(*(const char* const*)a, *(const char* const*)b);
}

// Sorted, equal names are neighbours. Elements of arrays have names of their own in FMI 2.0.
static yoke_status check_unique(yoke_export_model* m, const yoke_sink* sink) {
  const bool is_flat = m->job->fmi == 2;
  size_t n = 0;
  for (size_t i = 0; i < m->n_variables; i++) {
    n += is_flat ? m->variables[i].n : 1;
  }
  const char** names = yoke__arena_array(&m->arena, n + 1, sizeof *names);
  YOKE_TRY_MEMORY(names);
  size_t at = 0;
  for (size_t i = 0; i < m->n_variables; i++) {
    const yoke_export_variable* v = &m->variables[i];
    for (size_t j = 0; j < (is_flat ? v->n : 1); j++) {
      char name[MAX_NAME + 64];
      yoke__export_element_name(v, j, name, sizeof name);
      names[at] =
          is_flat && v->n > 1 ? yoke__arena_text(&m->arena, name, strlen(name)) : v->variable->name;
      if (names[at++] == NULL) {
        return YOKE_NO_MEMORY;
      }
    }
  }
  qsort(names, n, sizeof *names, compare_names);
  for (size_t i = 1; i < n; i++) {
    if (strcmp(names[i - 1], names[i]) == 0) {
      return yoke_fail(sink, YOKE_NO_SUPPORT, "two variables are called '%s'", names[i]);
    }
  }
  return YOKE_OK;
}

// ---- numbers

static yoke_status number_variables(yoke_export_model* m, const yoke_sink* sink) {
  uint64_t reference = 0;
  size_t n_types = 0;
  for (size_t i = 0; i < m->n_variables; i++) {
    yoke_export_variable* v = &m->variables[i];
    v->reference = (uint32_t)reference;
    v->row = (uint32_t)reference + 1;
    reference += v->n;
    const bool has_type = v->variable->type == YOKE_ENUMERATION && v->variable->items != NULL;
    v->type = has_type ? ++n_types : 0;
    if (reference >= UINT32_MAX) {
      return yoke_fail(sink, YOKE_NO_SUPPORT, "more elements than FMI can count, from '%s' on",
                       v->variable->name);
    }
  }
  m->n_elements = (size_t)reference;
  return YOKE_OK;
}

// "m" -> "m/s", "m/s" -> "m/s2"; NULL where that is not understood. A temperature scale has an offset, its derivative has none.
static const char* rate_dim(yoke_export_model* m, const char* dim) {
  char text[MAX_DIM];
  yoke_dim parsed;
  if (dim == NULL || strlen(dim) + sizeof "/s" > sizeof text || !yoke__dim_parse(dim, &parsed) ||
      parsed.offset != 0.0) {
    return NULL;
  }
  const size_t length = strlen(dim);
  const bool is_rate = length > 2 && strcmp(dim + length - 2, "/s") == 0;
  const int n = snprintf(text, sizeof text, "%s%s", dim, is_rate ? "2" : "/s");
  return yoke__dim_parse(text, &parsed) ? yoke__arena_text(&m->arena, text, (size_t)n) : NULL;
}

// States that go out with their derivatives.
static yoke_status take_states(yoke_export_model* m, const yoke_sink* sink) {
  YOKE_TRY(yoke__export_states_find(&m->unit, &m->arena, &m->states));
  m->rate_dims = yoke__arena_array(&m->arena, m->states.n + 1, sizeof *m->rate_dims);
  YOKE_TRY_MEMORY(m->rate_dims);
  for (size_t i = 0; i < m->states.n; i++) {
    yoke_export_variable* v = &m->variables[m->states.variables[i]];
    v->is_state = true;
    m->rate_dims[i] = rate_dim(m, v->variable->dim);
  }
  return m->n_elements + m->states.n + 1 >= UINT32_MAX
             ? yoke_fail(sink, YOKE_NO_SUPPORT,
                         "more elements than FMI can count, with derivatives of states")
             : YOKE_OK;
}

static int compare_pairs(const void* a, const void* b) {
  const yoke_feedthrough *p = a, *q = b;
  if (p->output != q->output) {
    return p->output < q->output ? -1 : 1;
  }
  return p->input < q->input ? -1 : p->input > q->input;
}

static yoke_status sort_feedthrough(yoke_export_model* m) {
  const yoke_unit_info* info = m->unit.info;
  yoke_feedthrough* pairs = yoke__arena_array(&m->arena, info->n_feedthrough + 1, sizeof *pairs);
  YOKE_TRY_MEMORY(pairs);
  if (info->n_feedthrough > 0) {
    memcpy(pairs, info->feedthrough, info->n_feedthrough * sizeof *pairs);
  }
  qsort(pairs, info->n_feedthrough, sizeof *pairs, compare_pairs);
  for (size_t i = 0; i < info->n_feedthrough; i++) {
    if (i == 0 || compare_pairs(&pairs[i], &pairs[i - 1]) != 0) {
      pairs[m->n_feedthrough++] = pairs[i];
    }
  }
  m->feedthrough = pairs;
  return YOKE_OK;
}

// ---- all of it

static yoke_status check_job(const yoke_export_job* job, bool is_file, const yoke_sink* sink) {
  if (job->fmi != 2 && job->fmi != 3) {
    return yoke_fail(sink, YOKE_NO_SUPPORT, "%s", "FMI 2 or 3 is expected");
  }
  if (is_file) {
    return YOKE_OK;
  }
  if (job->ops == NULL || yoke__models_find(NULL, job->ops->name) != job->ops) {
    return yoke_fail(
        sink, YOKE_NO_SUPPORT,
        "'%s' is neither built in nor of a file: only built-in models, circuits, twins "
        "of netlists "
        "and units of shared libraries can be exported",
        job->ops == NULL ? "" : job->ops->name);
  }
  return YOKE_OK;
}

static yoke_status fill(yoke_export_model* m, const yoke_sink* sink) {
  const yoke_unit_info* info = m->unit.info;
  if ((info->flags & YOKE_UNIT_PHYSICAL) != 0) {
    return yoke_fail(sink, YOKE_NO_SUPPORT, "'%s' is a real machine", m->ops->name);
  }
  m->n_variables = info->n_variables;
  m->variables = yoke__arena_array(&m->arena, m->n_variables + 1, sizeof *m->variables);
  YOKE_TRY_MEMORY(m->variables);
  for (size_t i = 0; i < m->n_variables; i++) {
    m->variables[i].variable = &info->variables[i];
    m->variables[i].n = yoke__variable_count(&info->variables[i]);
  }
  YOKE_TRY(take_values(m));
  YOKE_TRY(take_starts(m, sink));
  YOKE_TRY(put_values(m, sink));
  YOKE_TRY(try_start(m, sink));
  YOKE_TRY(number_variables(m, sink));
  YOKE_TRY(take_states(m, sink));
  for (size_t i = 0; i < m->n_variables; i++) {
    YOKE_TRY(check_variable(&m->variables[i], m->job->fmi, sink));
  }
  YOKE_TRY(check_unique(m, sink));
  m->has_state = yoke__unit_image_size(&m->unit) > 0;
  m->has_derivative = m->ops->derivative != NULL && yoke__export_has_scalar_ports(&m->unit);
  return sort_feedthrough(m);
}

yoke_status yoke__export_model_open(const yoke_export_job* job, yoke_export_model* model,
                                    const yoke_sink* sink) {
  *model = (yoke_export_model){.job = job, .ops = job->ops};
  model->netlist.is_there = yoke__export_circuit_settings(job->unit, &model->netlist.settings);
  YOKE_TRY(check_job(job, model->netlist.is_there || job->library != NULL, sink));
  yoke__export_identifier(job->name, model->identifier, sizeof model->identifier);
  yoke_status status = model->netlist.is_there ? open_netlist(model, sink)
                       : job->library != NULL  ? open_library(model, sink)
                                               : YOKE_OK;
  if (status >= 0) {
    status = make_unit(model, sink);
  }
  if (status >= 0) {
    status = fill(model, sink);
  }
  if (status < 0) {
    yoke__export_model_close(model);
  }
  return status;
}

void yoke__export_model_close(yoke_export_model* model) {
  yoke__unit_close(&model->unit);
  yoke__arena_free(&model->unit_arena);
  yoke__arena_free(&model->arena);
  yoke__export_circuit_close(&model->netlist.file);
  yoke__library_close(&model->library);
  yoke__temp_remove(&model->netlist.folder);
  free(model->netlist.text);
  model->netlist.text = NULL;
}
