// Clusters: one coupling method over all connections between its members. The method sees every output that travels
// between them and every input that comes from outside, and feeds the inputs in between. Laws among the members are
// wires: a signal behind them follows the outputs before them, as far as the laws are linear.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/system.h"

static bool is_served(const yoke_system* system, const yoke_tap* tap, size_t method) {
  return system->links[tap->link].method == method;
}

// Taps that it serves, sorted by receiving unit as all taps are. Not of one interval: after a message YOKE_BAD_INPUT.
static yoke_status list_taps(yoke_system* system, size_t method, yoke_tap taps[], size_t* n) {
  for (size_t t = 0; t < system->n_taps; t++) {
    const yoke_tap* tap = &system->taps[t];
    if (!is_served(system, tap, method)) {
      continue;
    }
    if (*n > 0 && tap->every != taps[0].every) {
      yoke__error(system->messages, system->methods[method].place,
                  "%s: method '%s' needs the same exchange interval for all its connections",
                  system->methods[method].owner, system->methods[method].ops->name);
      return YOKE_BAD_INPUT;
    }
    taps[(*n)++] = *tap;
  }
  return YOKE_OK;
}

static size_t receiver_of(const yoke_system* system, const yoke_tap* tap) {
  return system->links[tap->link].to_unit;
}

// one sink per receiving unit
static size_t list_sinks(const yoke_system* system, const yoke_tap taps[], size_t n,
                         yoke_coupling_sink sinks[]) {
  size_t n_sinks = 0;
  for (size_t i = 0; i < n; i++) {
    const size_t unit = receiver_of(system, &taps[i]);
    if (i == 0 || unit != receiver_of(system, &taps[i - 1])) {
      sinks[n_sinks++] = (yoke_coupling_sink){i, 0, system->units[unit].step};
    }
    sinks[n_sinks - 1].n++;
  }
  return n_sinks;
}

// ---------------------------------------------------------------------------------------------------------
// how signals follow outputs

// What a cluster is made of while it is described.
typedef struct maker {
  yoke_system* system;
  size_t method;
  yoke_group* group;
  bool* is_member;    // per unit; laws are none
  double* weights;    // n_signals x n_y: by how much a signal follows an output of a member
  bool* is_direct;    // per signal: nothing but a gain and an offset on the way
  double** law_rows;  // per output: what the output of a law follows, n_y weights; NULL: not known
  size_t* inputs;     // per member `width` places: its inputs, signals first
  size_t width;
} maker;

static size_t unit_of_output(const yoke_system* system, size_t y) {
  size_t u = 0;
  while (y < system->units[u].y || y >= system->units[u].y + system->units[u].unit.n_y) {
    u++;
  }
  return u;
}

// Laws that are the same at every point.
static bool is_linear_law(const yoke_system_unit* law) {
  return law->unit.ops->linearise != NULL && yoke__unit_is_linear(&law->unit);
}

// row += factor * what output y follows, once that is known.
static void add_row(const maker* m, size_t y, double factor, double row[]) {
  const size_t n_y = m->system->n_y;
  const size_t unit = unit_of_output(m->system, y);
  if (!m->system->units[unit].is_law) {
    row[y] += m->is_member[unit] ? factor : 0;
    return;
  }
  for (size_t i = 0; i < n_y && m->law_rows[y] != NULL; i++) {
    row[i] += factor * m->law_rows[y][i];
  }
}

static bool is_known(const maker* m, const yoke_system_unit* law) {
  for (size_t t = law->first_tap; t < law->first_tap + law->n_taps; t++) {
    const yoke_tap* tap = &m->system->taps[t];
    const bool is_law = m->system->units[unit_of_output(m->system, tap->from)].is_law;
    if (is_law && tap->delay == 0 && m->law_rows[tap->from] == NULL) {
      return false;
    }
  }
  return true;
}

// Rows of all outputs of a law whose inputs are known.
static yoke_status weigh_law(maker* m, const yoke_system_unit* law) {
  const size_t n_u = law->unit.n_u, n_y = law->unit.n_y;
  yoke_linear model = {.D = calloc(n_y * n_u + 1, sizeof(double))};
  yoke_status status =
      model.D == NULL ? YOKE_NO_MEMORY : law->unit.ops->linearise(law->unit.self, &model);
  for (size_t o = 0; o < n_y && status >= 0; o++) {
    double* row = calloc(m->system->n_y + 1, sizeof *row);
    m->law_rows[law->y + o] = row;
    status = row == NULL ? YOKE_NO_MEMORY : YOKE_OK;
    for (size_t t = law->first_tap; t < law->first_tap + law->n_taps && status >= 0; t++) {
      const yoke_tap* tap = &m->system->taps[t];
      if (tap->delay == 0) {
        add_row(m, tap->from, model.D[o * n_u + tap->to - law->u] * tap->gain, row);
      }
    }
  }
  free(model.D);
  return status;
}

// Linear laws one behind the other, each once. Others stay unknown, and so do those in a closed loop.
static yoke_status weigh_laws(maker* m) {
  bool has_news = true;
  while (has_news) {
    has_news = false;
    for (size_t u = 0; u < m->system->n_units; u++) {
      const yoke_system_unit* law = &m->system->units[u];
      if (law->is_law && law->unit.n_y > 0 && m->law_rows[law->y] == NULL && is_linear_law(law) &&
          is_known(m, law)) {
        YOKE_TRY(weigh_law(m, law));
        has_news = true;
      }
    }
  }
  return YOKE_OK;
}

static yoke_status weigh_signals(maker* m) {
  const size_t n_y = m->system->n_y;
  const yoke_system_method* method = &m->system->methods[m->method];
  YOKE_TRY(weigh_laws(m));
  for (size_t i = 0; i < m->group->setup.n_signals; i++) {
    const yoke_tap* tap = &m->group->taps[i];
    const yoke_system_unit* source = &m->system->units[m->group->sources[i]];
    m->is_direct[i] = !source->is_law;
    if (source->is_law && m->law_rows[tap->from] == NULL) {
      yoke__error(m->system->messages, method->place,
                  "%s: method '%s' works only with linear laws (gain, sum); '%s' is not linear or "
                  "depends on a law that is not: remove it from `members`",
                  method->owner, method->ops->name, source->name);
      return YOKE_BAD_INPUT;
    }
    add_row(m, tap->from, tap->gain, m->weights + i * n_y);
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// probes

typedef struct probes {
  size_t *from, n;
  double *scale, *offset;
} probes;

static void add_probe(probes* to, size_t from, double scale, double offset) {
  to->from[to->n] = from;
  to->scale[to->n] = scale;
  to->offset[to->n++] = offset;
}

// The outputs of a unit that signals follow.
static void add_outputs(const maker* m, const yoke_system_unit* unit, probes* to) {
  for (size_t y = unit->y; y < unit->y + unit->unit.n_y; y++) {
    bool is_used = false;
    for (size_t i = 0; i < m->group->setup.n_signals; i++) {
      is_used = is_used || m->weights[i * m->system->n_y + y] != 0;
    }
    if (is_used) {
      add_probe(to, y, 1, 0);
    }
  }
}

// Inputs from outside. What comes through a delay line is left out: its present value is another one.
static void add_exogenous(const maker* m, const yoke_system_unit* unit, probes* to,
                          size_t inputs[]) {
  const size_t first = to->n;
  for (size_t t = unit->first_tap; t < unit->first_tap + unit->n_taps; t++) {
    const yoke_tap* tap = &m->system->taps[t];
    if (!is_served(m->system, tap, m->method) && tap->delay == 0) {
      inputs[to->n - first] = tap->to - unit->u;
      add_probe(to, tap->from, tap->gain, tap->offset);
    }
  }
}

// Entries of the unit's linear model that belong to these outputs and inputs: A, B, C, D.
static void add_linear(const yoke_system_unit* unit, const yoke_coupling_unit* about,
                       const size_t outputs[], const size_t inputs[], size_t base, probes* to) {
  const size_t n_x = about->n_states, n_u = unit->unit.n_u, n_y = unit->unit.n_y;
  const size_t m = about->n_signals + about->n_exogenous;
  const size_t A = base + unit->linear, B = A + n_x * n_x, C = B + n_x * n_u, D = C + n_y * n_x;
  for (size_t i = 0; i < n_x * n_x; i++) {
    add_probe(to, A + i, 1, 0);
  }
  for (size_t i = 0; i < n_x; i++) {
    for (size_t j = 0; j < m; j++) {
      add_probe(to, B + i * n_u + inputs[j], 1, 0);
    }
  }
  for (size_t i = 0; i < about->n_outputs; i++) {
    for (size_t j = 0; j < n_x; j++) {
      add_probe(to, C + (outputs[i] - unit->y) * n_x + j, 1, 0);
    }
  }
  for (size_t i = 0; i < about->n_outputs; i++) {
    for (size_t j = 0; j < m; j++) {
      add_probe(to, D + (outputs[i] - unit->y) * n_u + inputs[j], 1, 0);
    }
  }
}

bool yoke__system_reserve_linear(yoke_system* system, yoke_system_unit* unit) {
  yoke_linear model = {0};
  if (unit->unit.ops->linearise == NULL || unit->unit.ops->linearise(unit->unit.self, &model) < 0 ||
      model.n_inputs != unit->unit.n_u || model.n_outputs != unit->unit.n_y) {
    return false;
  }
  if (!unit->has_linear) {
    unit->has_linear = true;
    unit->n_states = model.n_states;
    unit->linear = system->n_linear;
    system->n_linear += (model.n_states + model.n_outputs) * (model.n_states + model.n_inputs);
  }
  return true;
}

// ---------------------------------------------------------------------------------------------------------
// names

// Name of an element of the dense vector of inputs or outputs: "x", "x[2]".
static const char* name_of(yoke_system* system, const yoke_system_unit* unit,
                           yoke_causality causality, size_t at) {
  for (size_t v = 0; v < unit->unit.info->n_variables; v++) {
    const yoke_variable* variable = &unit->unit.info->variables[v];
    const size_t first = unit->unit.dense[v], n = yoke__variable_count(variable);
    if (variable->causality != causality || first == YOKE_NOT_DENSE || at < first ||
        at >= first + n) {
      continue;
    }
    if (n == 1) {
      return variable->name;
    }
    char text[256];
    snprintf(text, sizeof text, "%s[%zu]", variable->name, at - first);
    return yoke__arena_text(&system->arena, text, strlen(text));
  }
  return "";
}

// Does an output follow this element of the inputs at once?
static bool has_feedthrough(const yoke_system_unit* unit, size_t input) {
  const yoke_unit_info* info = unit->unit.info;
  for (size_t i = 0; i < info->n_feedthrough; i++) {
    const size_t v = info->feedthrough[i].input, first = unit->unit.dense[v];
    if (first != YOKE_NOT_DENSE && input >= first &&
        input < first + yoke__variable_count(&info->variables[v])) {
      return true;
    }
  }
  return false;
}

static yoke_status name_members(yoke_system* system, const yoke_system_unit* unit,
                                yoke_coupling_unit* about, const size_t outputs[],
                                const size_t inputs[]) {
  const size_t m = about->n_signals + about->n_exogenous;
  const char** out = yoke__arena_array(&system->arena, about->n_outputs + 1, sizeof *out);
  const char** in = yoke__arena_array(&system->arena, m + 1, sizeof *in);
  bool* is_direct = yoke__arena_array(&system->arena, m + 1, sizeof *is_direct);
  YOKE_TRY_MEMORY(out && in && is_direct);
  for (size_t i = 0; i < about->n_outputs; i++) {
    out[i] = name_of(system, unit, YOKE_OUTPUT, outputs[i] - unit->y);
  }
  for (size_t i = 0; i < m; i++) {
    in[i] = name_of(system, unit, YOKE_INPUT, inputs[i]);
    is_direct[i] = has_feedthrough(unit, inputs[i]);
  }
  about->output_names = out;
  about->input_names = in;
  about->is_direct = is_direct;
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// the description

// Members in order of units: who receives something that is served, or gives it without a law in between.
// Returns how many there are.
static size_t mark_members(maker* m) {
  for (size_t i = 0; i < m->group->setup.n_signals; i++) {
    m->is_member[receiver_of(m->system, &m->group->taps[i])] = true;
    if (!m->system->units[m->group->sources[i]].is_law) {
      m->is_member[m->group->sources[i]] = true;
    }
  }
  size_t n = 0;
  for (size_t u = 0; u < m->system->n_units; u++) {
    n += m->is_member[u];
    m->width = m->is_member[u] && m->system->units[u].unit.n_u > m->width
                   ? m->system->units[u].unit.n_u
                   : m->width;
  }
  return n;
}

static void list_units(const maker* m, yoke_coupling_cluster* cluster, yoke_coupling_unit units[],
                       probes* all) {
  const size_t n = m->group->setup.n_signals;
  for (size_t u = 0; u < m->system->n_units; u++) {
    if (!m->is_member[u]) {
      continue;
    }
    size_t first = n, last = n;
    for (size_t i = 0; i < n; i++) {
      if (receiver_of(m->system, &m->group->taps[i]) == u) {
        first = i < first ? i : first;
        last = i + 1;
      }
    }
    yoke_coupling_unit* about = &units[cluster->n_units++];
    *about = (yoke_coupling_unit){.name = m->system->units[u].name,
                                  .first_output = all->n,
                                  .first_signal = first,
                                  .n_signals = last - first};
    add_outputs(m, &m->system->units[u], all);
    about->n_outputs = all->n - about->first_output;
  }
  cluster->n_outputs = all->n;
}

// Exogenous inputs, names and, if they are wanted, linear models.
static yoke_status detail_units(const maker* m, yoke_coupling_cluster* cluster,
                                yoke_coupling_unit units[], probes* all) {
  yoke_system* system = m->system;
  size_t* inputs = m->inputs;
  const yoke_system_method* method = &system->methods[m->method];
  const bool wants_linear = method->ops->wants != NULL &&
                            (method->ops->wants(method->parameters) & YOKE_WANTS_LINEAR) != 0;
  for (size_t k = 0; k < cluster->n_units; k++) {
    yoke_coupling_unit* about = &units[k];
    yoke_system_unit* unit = &system->units[yoke__map_find(&system->unit_index, about->name)];
    about->first_exogenous = all->n - cluster->n_outputs;
    for (size_t i = 0; i < about->n_signals; i++) {
      inputs[i] = m->group->taps[about->first_signal + i].to - unit->u;
    }
    add_exogenous(m, unit, all, inputs + about->n_signals);
    about->n_exogenous = all->n - cluster->n_outputs - about->first_exogenous;
    const size_t* outputs = all->from + about->first_output;
    YOKE_TRY(name_members(system, unit, about, outputs, inputs));
    if (wants_linear) {
      about->has_linear = yoke__system_reserve_linear(system, unit);
      about->n_states = about->has_linear ? unit->n_states : 0;
    }
    inputs += m->width;
  }
  cluster->n_exogenous = all->n - cluster->n_outputs;
  return YOKE_OK;
}

static size_t linear_size(const yoke_coupling_unit* about) {
  return about->has_linear ? (about->n_states + about->n_outputs) *
                                 (about->n_states + about->n_signals + about->n_exogenous)
                           : 0;
}

static yoke_status add_models(const maker* m, yoke_coupling_cluster* cluster,
                              yoke_coupling_unit units[], probes* all) {
  yoke_arena* arena = &m->system->arena;
  size_t n = all->n;
  for (size_t k = 0; k < cluster->n_units; k++) {
    n += linear_size(&units[k]);
  }
  probes more = {.from = yoke__arena_array(arena, n + 1, sizeof(size_t)),
                 .scale = yoke__arena_array(arena, n + 1, sizeof(double)),
                 .offset = yoke__arena_array(arena, n + 1, sizeof(double))};
  YOKE_TRY_MEMORY(more.from && more.scale && more.offset);
  for (size_t i = 0; i < all->n; i++) {
    add_probe(&more, all->from[i], all->scale[i], all->offset[i]);
  }
  for (size_t k = 0; k < cluster->n_units; k++) {
    const yoke_system_unit* unit =
        &m->system->units[yoke__map_find(&m->system->unit_index, units[k].name)];
    units[k].first_linear = more.n - all->n;
    if (units[k].has_linear) {
      add_linear(unit, &units[k], all->from + units[k].first_output, m->inputs + k * m->width,
                 m->system->n_y, &more);
    }
  }
  cluster->n_linear = more.n - all->n;
  *all = more;
  return YOKE_OK;
}

// L and the offsets.
static yoke_status fill_connection(const maker* m, yoke_coupling_cluster* cluster,
                                   const probes* all) {
  const size_t n = m->group->setup.n_signals, p = cluster->n_outputs;
  double* L = yoke__arena_array(&m->system->arena, n * p + 1, sizeof *L);
  double* offset = yoke__arena_array(&m->system->arena, n + 1, sizeof *offset);
  YOKE_TRY_MEMORY(L && offset);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < p; j++) {
      L[i * p + j] = m->weights[i * m->system->n_y + all->from[j]];
    }
    offset[i] = m->is_direct[i] ? m->group->taps[i].offset : (double)NAN;
  }
  cluster->L = L;
  cluster->offset = offset;
  return YOKE_OK;
}

static yoke_status describe(maker* m) {
  yoke_system* system = m->system;
  yoke_arena* arena = &system->arena;
  const size_t n_most = system->n_y + system->n_taps;
  yoke_coupling_cluster* cluster = yoke__arena_take(arena, sizeof *cluster);
  yoke_coupling_unit* units = yoke__arena_array(arena, system->n_units, sizeof *units);
  probes all = {.from = yoke__arena_array(arena, n_most + 1, sizeof(size_t)),
                .scale = yoke__arena_array(arena, n_most + 1, sizeof(double)),
                .offset = yoke__arena_array(arena, n_most + 1, sizeof(double))};
  YOKE_TRY_MEMORY(cluster && units && all.from && all.scale && all.offset);
  *cluster = (yoke_coupling_cluster){.units = units};
  YOKE_TRY(weigh_signals(m));
  list_units(m, cluster, units, &all);
  YOKE_TRY(detail_units(m, cluster, units, &all));
  YOKE_TRY(fill_connection(m, cluster, &all));
  YOKE_TRY(add_models(m, cluster, units, &all));
  m->group->probes = all.from;
  m->group->probe_scale = all.scale;
  m->group->probe_offset = all.offset;
  m->group->setup.n_probes = all.n;
  m->group->setup.cluster = cluster;
  return YOKE_OK;
}

static yoke_status describe_group(yoke_system* system, size_t method, yoke_group* group) {
  const size_t n = group->setup.n_signals;
  maker m = {.system = system,
             .method = method,
             .group = group,
             .is_member = calloc(system->n_units + 1, sizeof(bool)),
             .weights = calloc(n * system->n_y + 1, sizeof(double)),
             .law_rows = calloc(system->n_y + 1, sizeof(double*)),
             .is_direct = calloc(n + 1, sizeof(bool))};
  yoke_status status =
      m.is_member == NULL || m.weights == NULL || m.is_direct == NULL || m.law_rows == NULL
          ? YOKE_NO_MEMORY
          : YOKE_OK;
  if (status >= 0) {
    const size_t n_members = mark_members(&m);
    m.inputs = calloc(n_members * m.width + 1, sizeof(size_t));
    status = m.inputs == NULL ? YOKE_NO_MEMORY : describe(&m);
  }
  for (size_t y = 0; y < system->n_y && m.law_rows != NULL; y++) {
    free(m.law_rows[y]);
  }
  free((void*)m.law_rows);
  free(m.inputs);
  free(m.is_member);
  free(m.weights);
  free(m.is_direct);
  return status;
}

yoke_status yoke__system_make_cluster(yoke_system* system, size_t method) {
  yoke_tap* taps = yoke__arena_array(&system->arena, system->n_taps, sizeof *taps);
  yoke_coupling_sink* sinks = yoke__arena_array(&system->arena, system->n_units, sizeof *sinks);
  YOKE_TRY_MEMORY(taps && sinks);
  size_t n = 0;
  YOKE_TRY(list_taps(system, method, taps, &n));
  if (n == 0) {
    return YOKE_OK;
  }
  if (system->scenario->adaptive.is_given) {
    yoke__error(system->messages, system->methods[method].place,
                "%s: the models of method '%s' are those of one step; give time.step as a number",
                system->methods[method].owner, system->methods[method].ops->name);
    return YOKE_BAD_INPUT;
  }
  yoke_group* group = &system->groups[system->n_groups];
  *group = (yoke_group){
      .role = YOKE_GROUP_CLUSTER,
      .taps = taps,
      .unit = receiver_of(system, &taps[0]),
      .every = taps[0].every,
      .method = method,
      .setup = {.n_signals = n, .n_sinks = list_sinks(system, taps, n, sinks), .sinks = sinks}};
  YOKE_TRY(yoke__system_fill_signals(system, group));
  YOKE_TRY(describe_group(system, method, group));
  return yoke__system_add_group(system, group);
}

// The part of a cluster's group that feeds one unit: `sink` of it.
yoke_status yoke__system_make_member(yoke_system* system, size_t cluster, size_t sink) {
  const yoke_group* whole = &system->groups[cluster];
  const yoke_coupling_sink* part = &whole->setup.sinks[sink];
  const size_t unit_index = receiver_of(system, &whole->taps[part->first]);
  yoke_system_unit* unit = &system->units[unit_index];
  yoke_group* group = &system->groups[system->n_groups];
  *group = *whole;
  group->role = YOKE_GROUP_MEMBER;
  group->sampler = cluster;
  group->sink = sink;
  group->unit = unit_index;
  group->taps += part->first;
  group->sources += part->first;
  group->setup.n_signals = part->n;
  group->setup.n_probes = 0;
  group->n_validities = 0;
  group->first_signal += part->first;
  // inputs and their derivatives lie in two rows of all signals
  group->input += part->first;
  group->derivatives += part->first;
  if (unit->n_groups == 0) {
    unit->first_group = system->n_groups;
  }
  unit->n_groups++;
  system->n_groups++;
  return YOKE_OK;
}
