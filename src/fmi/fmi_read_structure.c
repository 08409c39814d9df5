// ModelStructure: which outputs, derivatives and initial unknowns there are and what they depend on.
//
// FMI 2.0 counts the variables of the file from 1, FMI 3.0 uses value references; both are kept as written and resolved
// when all variables are known. FMI 1.0 has no structure: its outputs say themselves on which inputs they depend.
#include <stdlib.h>
#include <string.h>

#include "fmi/fmi_reader.h"

static const char* const list_words[YOKE_FMI_N_LISTS] = {
    "outputs", "derivatives", "initial unknowns", "event indicators", "clocked states"};

// ---- while reading

void yoke__fmi_open_unknowns(yoke_fmi_reader* reader) {
  reader->list_now = reader->kind;
}

static int kind_of(const char* word, size_t n) {
  static const char* const words[] = {"dependent", "constant", "fixed", "tunable", "discrete"};
  for (int i = 0; i < 5; i++) {
    if (strlen(words[i]) == n && memcmp(words[i], word, n) == 0) {
      return i;
    }
  }
  return -1;
}

// The kinds of the last n dependencies; anything wrong with the list makes all of them general.
static void read_kinds(yoke_fmi_reader* reader, size_t n) {
  uint8_t* kinds = n == 0 ? NULL : (uint8_t*)reader->raw_kinds.items + (reader->raw_kinds.n - n);
  const char* at = YOKE_FMI_VALUE(reader, dependenciesKind);
  size_t n_words = 0, length = 0;
  bool is_good = YOKE_FMI_VALUE(reader, dependencies) != NULL;
  for (const char* word = yoke__fmi_token(&at, &length); word != NULL;
       word = yoke__fmi_token(&at, &length)) {
    const int kind = kind_of(word, length);
    is_good = is_good && kind >= 0;
    if (n_words < n && kind >= 0) {
      kinds[n_words] = (uint8_t)kind;
    }
    n_words++;
  }
  if (n_words != n || !is_good) {
    YOKE_FMI_FAULT(reader, DEPENDENCY_KINDS, reader->line,
                   "dependenciesKind has %zu words%s for %zu dependencies", n_words,
                   n_words == n ? " (one of them unknown)" : "", n);
    if (n > 0) {
      memset(kinds, YOKE_FMI_DEPENDENT, n);
    }
  }
}

// The numbers in `dependencies`; what is no number is kept as one that leads nowhere.
static void read_dependencies(yoke_fmi_reader* reader, yoke_fmi_raw_unknown* unknown) {
  const char* at = YOKE_FMI_VALUE(reader, dependencies);
  size_t length = 0;
  unknown->has_dependencies = at != NULL;
  unknown->first = reader->raw_dependencies.n;
  for (const char* word = at == NULL ? NULL : yoke__fmi_token(&at, &length); word != NULL;
       word = yoke__fmi_token(&at, &length)) {
    uint32_t* target = yoke__fmi_list_add(reader, &reader->raw_dependencies, sizeof *target);
    yoke__fmi_list_add(reader, &reader->raw_kinds, sizeof(uint8_t));
    if (!yoke__fmi_scan_reference(word, length, target)) {
      *target = UINT32_MAX;
    }
    unknown->n++;
  }
}

void yoke__fmi_open_unknown(yoke_fmi_reader* reader) {
  const bool is_2 = reader->d->version == 2;
  yoke_fmi_raw_unknown unknown = {.line = reader->line};
  const char* at = is_2 ? YOKE_FMI_VALUE(reader, index) : YOKE_FMI_VALUE(reader, valueReference);
  size_t n = 0;
  const char* word = at == NULL ? NULL : yoke__fmi_token(&at, &n);
  unknown.has_target = word != NULL && yoke__fmi_scan_reference(word, n, &unknown.target);
  read_dependencies(reader, &unknown);
  if (reader->status >= 0 && YOKE_FMI_VALUE(reader, dependenciesKind) != NULL) {
    read_kinds(reader, unknown.n);
  }
  yoke_fmi_list* list = &reader->unknowns[is_2 ? reader->list_now : reader->kind];
  *(yoke_fmi_raw_unknown*)yoke__fmi_list_add(reader, list, sizeof unknown) = unknown;
}

// ---- when all variables are known

// Dependencies of one entry, resolved into the final arrays.
typedef struct arrays {
  uint32_t* dependencies;
  uint8_t* kinds;
} arrays;

static void resolve_dependencies(yoke_fmi_reader* reader, const yoke_fmi_raw_unknown* raw,
                                 const arrays* to, yoke_fmi_unknown* unknown) {
  yoke_fmi_description* d = reader->d;
  const uint32_t* targets = reader->raw_dependencies.items;
  const uint8_t* kinds = reader->raw_kinds.items;
  unknown->has_dependencies = raw->has_dependencies;
  unknown->first = d->n_dependencies;
  for (size_t i = raw->first; i < raw->first + raw->n; i++) {
    const size_t found = yoke__fmi_target(reader, targets[i]);
    if (found == YOKE_FMI_NONE) {
      YOKE_FMI_FAULT(reader, DEPENDENCY_UNKNOWN, raw->line,
                     "'%s' depends on variable %lu, which is not there",
                     d->variables[unknown->variable].name, (unsigned long)targets[i]);
      continue;
    }
    to->dependencies[d->n_dependencies] = (uint32_t)found;
    to->kinds[d->n_dependencies++] = kinds[i];
  }
  unknown->n = d->n_dependencies - unknown->first;
}

// Whether the variable may stand in this list; says so if not.
static bool is_right(yoke_fmi_reader* reader, int list, size_t variable, int line) {
  const yoke_fmi_variable* v = &reader->d->variables[variable];
  const bool is_wrong_output = list == YOKE_FMI_OUTPUTS && v->causality != YOKE_FMI_OUTPUT;
  const bool is_wrong_derivative = list == YOKE_FMI_DERIVATIVES && v->derivative_of == 0;
  if (is_wrong_output || is_wrong_derivative) {
    YOKE_FMI_FAULT(reader, STRUCTURE_WRONG, line, "'%s' among the %s is %s", v->name,
                   list_words[list],
                   is_wrong_output ? yoke__fmi_causality_name((yoke_fmi_causality)v->causality)
                                   : "not the derivative of a variable");
  }
  return !is_wrong_output;  // model exchange counts its states by the derivatives: these stay
}

// Room for every entry plus n_more; seen: n_variables words, 1 + position in the list.
static yoke_status resolve_list(yoke_fmi_reader* reader, int list, size_t n_more, const arrays* to,
                                uint32_t seen[], yoke_fmi_unknown** items, size_t* n_items) {
  const yoke_fmi_raw_unknown* raw = reader->unknowns[list].items;
  const size_t n = reader->unknowns[list].n;
  yoke_fmi_description* d = reader->d;
  yoke_fmi_unknown* all = yoke__arena_array(&d->arena, n + n_more, sizeof *all);
  YOKE_TRY_MEMORY(all);
  memset(seen, 0, d->n_variables * sizeof *seen);
  size_t n_good = 0;
  for (size_t i = 0; i < n; i++) {
    const size_t found =
        raw[i].has_target ? yoke__fmi_target(reader, raw[i].target) : YOKE_FMI_NONE;
    if (found == YOKE_FMI_NONE) {
      YOKE_FMI_FAULT(reader, STRUCTURE_UNKNOWN, raw[i].line,
                     "an entry of the %s names variable %lu, which is not there", list_words[list],
                     (unsigned long)raw[i].target);
      continue;
    }
    if (seen[found] != 0) {
      YOKE_FMI_FAULT(reader, STRUCTURE_REPEATED, raw[i].line, "'%s' is listed twice among the %s",
                     d->variables[found].name, list_words[list]);
      continue;
    }
    if (!is_right(reader, list, found, raw[i].line)) {
      continue;
    }
    all[n_good] = (yoke_fmi_unknown){.variable = found, .line = raw[i].line};
    resolve_dependencies(reader, &raw[i], to, &all[n_good]);
    seen[found] = (uint32_t)++n_good;
  }
  *items = all;
  *n_items = n_good;
  return YOKE_OK;
}

// Outputs that the list forgot. An output with the value of a listed one depends on the same things.
static void add_outputs(yoke_fmi_reader* reader, const uint32_t seen[], yoke_fmi_unknown items[],
                        size_t* n_items) {
  const yoke_fmi_description* d = reader->d;
  for (size_t i = 0; i < d->n_variables; i++) {
    const yoke_fmi_variable* v = &d->variables[i];
    const bool is_same = d->version == 3 && v->alias_of != 0;
    if (v->causality != YOKE_FMI_OUTPUT || seen[i] != 0 || is_same) {
      continue;
    }
    yoke_fmi_unknown unknown = {.variable = i, .line = (int)v->line};
    if (v->alias_of != 0 && seen[v->alias_of - 1] != 0) {
      unknown = items[seen[v->alias_of - 1] - 1];
      unknown.variable = i;
    }
    items[(*n_items)++] = unknown;
    if (d->version != 1) {
      YOKE_FMI_FAULT(reader, OUTPUT_UNLISTED, (int)v->line,
                     "output '%s' is missing in the ModelStructure", v->name);
    }
  }
}

// FMI 1.0: what <DirectDependency> says becomes entries of the list of outputs.
static void translate_direct(yoke_fmi_reader* reader) {
  const yoke_fmi_direct* direct = reader->direct.items;
  const char* const* names = reader->late_names.items;
  yoke_fmi_description* d = reader->d;
  for (size_t i = 0; i < reader->direct.n; i++) {
    if (d->variables[direct[i].variable].causality != YOKE_FMI_OUTPUT) {
      continue;
    }
    yoke_fmi_raw_unknown* to =
        yoke__fmi_list_add(reader, &reader->unknowns[YOKE_FMI_OUTPUTS], sizeof *to);
    *to = (yoke_fmi_raw_unknown){
        .has_target = true, .has_dependencies = true, .line = direct[i].line};
    to->first = reader->raw_dependencies.n;
    to->target = direct[i].variable;
    for (size_t j = direct[i].first; j < direct[i].first + direct[i].n; j++) {
      const size_t found = yoke__fmi_find(d, names[j]);
      if (found == YOKE_FMI_NONE) {
        YOKE_FMI_FAULT(reader, DEPENDENCY_UNKNOWN, direct[i].line,
                       "'%s' depends on '%s', which is not there",
                       d->variables[direct[i].variable].name, names[j]);
        continue;
      }
      uint32_t* target = yoke__fmi_list_add(reader, &reader->raw_dependencies, sizeof *target);
      yoke__fmi_list_add(reader, &reader->raw_kinds, sizeof(uint8_t));
      *target = (uint32_t)found;
      to->n++;
    }
  }
}

static size_t count_outputs(const yoke_fmi_description* d) {
  size_t n = 0;
  for (size_t i = 0; i < d->n_variables; i++) {
    n += d->variables[i].causality == YOKE_FMI_OUTPUT;
  }
  return n;
}

static yoke_status resolve_lists(yoke_fmi_reader* reader, uint32_t seen[]) {
  yoke_fmi_description* d = reader->d;
  yoke_fmi_unknowns* const lists[YOKE_FMI_N_LISTS] = {&d->outputs, &d->states_derivatives,
                                                      &d->initial_unknowns, &d->event_indicators,
                                                      &d->clocked_states};
  const size_t n = reader->raw_dependencies.n;
  const arrays to = {yoke__arena_array(&d->arena, n, sizeof(uint32_t)),
                     yoke__arena_array(&d->arena, n, 1)};
  YOKE_TRY_MEMORY(to.dependencies && to.kinds);
  d->dependencies = to.dependencies;
  d->dependency_kinds = to.kinds;
  for (int list = 0; list < YOKE_FMI_N_LISTS; list++) {
    yoke_fmi_unknown* items = NULL;
    const size_t n_more = list == YOKE_FMI_OUTPUTS ? count_outputs(d) : 0;
    YOKE_TRY(resolve_list(reader, list, n_more, &to, seen, &items, &lists[list]->n));
    if (list == YOKE_FMI_OUTPUTS) {
      add_outputs(reader, seen, items, &lists[list]->n);
    }
    lists[list]->items = items;
  }
  return YOKE_OK;
}

yoke_status yoke__fmi_resolve_structure(yoke_fmi_reader* reader) {
  yoke_fmi_description* d = reader->d;
  if (d->version == 1) {
    translate_direct(reader);
  }
  uint32_t* seen = malloc((d->n_variables + 1) * sizeof *seen);
  if (seen == NULL || reader->status < 0) {
    free(seen);
    return YOKE_NO_MEMORY;
  }
  const yoke_status status = resolve_lists(reader, seen);
  free(seen);

  // FMI 3.0 lists its event indicators instead of counting them
  for (size_t i = 0; status >= 0 && d->version == 3 && i < d->event_indicators.n; i++) {
    const size_t size = yoke__fmi_size(d, &d->variables[d->event_indicators.items[i].variable]);
    d->n_event_indicators =
        size > SIZE_MAX - d->n_event_indicators ? SIZE_MAX : d->n_event_indicators + size;
  }
  return status;
}
