// From a system and the name of a bond to an element, its file, and what it does; see study_synth.h.
#include "study/study_synth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "base/base_status.h"
#include "study/study_rig.h"
#include "study/study_run.h"
#include "synth/synth_element_file.h"

#define PI          3.14159265358979323846
#define N_CURVE     240
#define N_SCAN      400
#define SCAN_COST   4e7  // calls of a receiver that the scan may look at
#define N_BISECT    30
#define LOWEST      300.0  // part of the highest frequency at which figures begin
#define USUAL_CALLS 20     // per exchange, where a system has one: what is advised

static const yoke_place nowhere = {0};

// NULL also where there is no text.
static const char* text_in(yoke_arena* arena, const char* text) {
  return text == NULL ? NULL : yoke__arena_text(arena, text, strlen(text));
}

// ---- systems

yoke_status yoke__synth_read(const yoke_synth_maker* maker, const char* const more[], size_t n,
                             yoke_messages* messages, yoke_scenario** scenario) {
  const yoke_synth_request* request = maker->request;
  const char** sets = calloc(request->n_sets + n + 1, sizeof *sets);
  if (sets == NULL) {
    return YOKE_NO_MEMORY;
  }
  for (size_t i = 0; i < request->n_sets + n; i++) {
    sets[i] = i < request->n_sets ? request->sets[i] : more[i - request->n_sets];
  }
  sets[request->n_sets + n] = "threads=1";
  const yoke_status status =
      yoke__scenario_read_file(request->path, sets, request->n_sets + n + 1, messages, scenario);
  free((void*)sets);
  return status;
}

yoke_status yoke__synth_build(const yoke_synth_maker* maker, const char* const more[], size_t n,
                              yoke_messages* messages, yoke_system** system, yoke_state** state) {
  yoke_scenario* scenario = NULL;
  *system = NULL;
  YOKE_TRY(yoke__synth_read(maker, more, n, messages, &scenario));
  yoke_status status = yoke__master_build(scenario, NULL, messages, system);
  if (status >= 0 && state != NULL) {
    *state = NULL;
    status = yoke__master_create(*system, messages, state);
    if (status < 0) {
      yoke__study_destroy(system, state);
    }
  }
  return status;
}

// A name as YAML reads it inside a map: in single quotes unless it is plain.
static void quote(yoke_text* to, const char* name) {
  static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-";
  if (name[0] != '-' && strspn(name, plain) == strlen(name)) {
    yoke__text_string(to, name);
    return;
  }
  yoke__text_add(to, "'");
  for (const char* c = name; *c != '\0'; c++) {
    yoke__text_add(to, *c == '\'' ? "''" : "%c", *c);
  }
  yoke__text_add(to, "'");
}

static yoke_status add_order(const yoke_synth_maker* maker, size_t number, int order,
                             const char** set) {
  char text[80];
  snprintf(text, sizeof text, "connections[%zu].order=%d", number, order);
  *set = text_in(&maker->out->arena, text);
  return *set == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

yoke_status yoke__synth_couple(const yoke_synth_maker* maker, yoke_synth_path path,
                               const char* sets[], size_t* n) {
  *n = maker->n_paths;
  for (size_t i = 0; i < maker->n_paths; i++) {
    yoke_text set = {0};
    yoke__text_add(&set, "%s=", maker->paths[i]);
    if (path == YOKE_SYNTH_PATH_ELEMENT) {
      yoke__text_add(&set, "{method: hinf, element: ");
      quote(&set, maker->out->element);
      yoke__text_add(&set, "}");
    } else {
      yoke__text_add(&set, "{method: hold, order: %d}", path == YOKE_SYNTH_PATH_LINE);
    }
    sets[i] = set.status < 0 ? NULL : text_in(&maker->out->arena, set.bytes);
    yoke__text_free(&set);
    YOKE_TRY_MEMORY(sets[i]);
  }
  for (size_t i = 0; i < maker->n_ordered && path != YOKE_SYNTH_PATH_ELEMENT; i++) {
    YOKE_TRY(add_order(maker, maker->ordered[i], path == YOKE_SYNTH_PATH_LINE, &sets[(*n)++]));
  }
  return YOKE_OK;
}

// ---- which connections

static void name_link(const yoke_system_link* link, char* to, size_t size) {
  const yoke_scenario_connection* c = link->source;
  snprintf(to, size, "%.120s.%.120s -> %.120s.%.120s", c->from.unit, c->from.variable, c->to.unit,
           c->to.variable);
}

static yoke_status fail(yoke_synth_maker* maker, const char* format, ...) YOKE_PRINTF(2, 3);
static yoke_status fail(yoke_synth_maker* maker, const char* format, ...) {
  va_list args;
  va_start(args, format);
  yoke__message_addv(&maker->out->messages, YOKE_ERROR, nowhere, format, args);
  va_end(args);
  return YOKE_BAD_INPUT;
}

// Its place in `connections` of the file; YOKE_NOT_FOUND: an arrow of a bond.
static size_t number_of(const yoke_system* system, const yoke_system_link* link) {
  for (size_t i = 0; i < system->scenario->n_connections; i++) {
    if (link->source == &system->scenario->connections[i]) {
      return i;
    }
  }
  return YOKE_NOT_FOUND;
}

static yoke_status add_link(yoke_synth_maker* maker, const yoke_system* system, size_t index,
                            bool is_by_bond) {
  const yoke_system_link* link = &system->links[index];
  char name[512];
  name_link(link, name, sizeof name);
  if (!link->is_dense || system->units[link->from_unit].is_law ||
      system->units[link->to_unit].is_law) {
    return fail(maker,
                "%s: an element works only for connections from a real output of a unit to a real "
                "input of a unit, not for laws and other types",
                name);
  }
  const yoke_scenario_connection* c = link->source;
  const bool has_own = c->is_held || c->is_auto || (is_by_bond && c->coupling != NULL);
  if (has_own || c->is_of_unit) {
    return fail(maker, "%s has its own %s, which takes precedence: remove it from the file", name,
                c->coupling != NULL ? "`coupling`" : "`method`");
  }
  for (size_t i = 0; i < maker->n_links; i++) {
    if (maker->links[i] == index) {
      return fail(maker, "%s is named twice", name);
    }
  }
  const char* text = text_in(&maker->out->arena, name);
  YOKE_TRY_MEMORY(text);
  if (c->has_order) {
    maker->ordered[maker->n_ordered++] = number_of(system, link);
  }
  maker->out->signals[maker->n_links] = text;
  maker->links[maker->n_links++] = index;
  maker->out->n_signals = maker->n_links;
  return YOKE_OK;
}

static yoke_status add_path(yoke_synth_maker* maker, const char* format, ...) YOKE_PRINTF(2, 3);
static yoke_status add_path(yoke_synth_maker* maker, const char* format, ...) {
  char text[640];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  const char* path = text_in(&maker->out->arena, text);
  YOKE_TRY_MEMORY(path);
  maker->paths[maker->n_paths++] = path;
  return YOKE_OK;
}

static yoke_status add_connection(yoke_synth_maker* maker, const yoke_system* system,
                                  size_t index) {
  const size_t number = number_of(system, &system->links[index]);
  char name[512];
  name_link(&system->links[index], name, sizeof name);
  if (number == YOKE_NOT_FOUND) {
    return fail(maker, "%s is an arrow of a bond: name the bond with --bond", name);
  }
  YOKE_TRY(add_link(maker, system, index, false));
  return add_path(maker, "connections[%zu].coupling", number);
}

// "; did you mean 'x'?", or all of them.
static void hint_at(const char* name, const char* const names[], size_t n, char* to, size_t size) {
  char nearest[YOKE_NEAREST_SIZE];
  snprintf(to, size, "%s", yoke__nearest_hint(name, names, n, nearest));
  size_t used = strlen(to);
  const bool is_list = used == 0;
  for (size_t i = 0; i < n && is_list && used + 1 < size; i++) {
    const int length =
        snprintf(to + used, size - used, "%s%s", i == 0 ? "; there is " : ", ", names[i]);
    used += length < 0 ? 0 : (size_t)length;
  }
}

static yoke_status add_bond(yoke_synth_maker* maker, const yoke_system* system, const char* name) {
  const yoke_system_bond* bond = NULL;
  const char** names = yoke__arena_array(&maker->out->arena, system->n_bonds, sizeof *names);
  YOKE_TRY_MEMORY(names);
  for (size_t i = 0; i < system->n_bonds; i++) {
    names[i] = system->bonds[i].name;
    bond = strcmp(names[i], name) == 0 ? &system->bonds[i] : bond;
  }
  if (bond == NULL) {
    char hint[480];
    hint_at(name, names, system->n_bonds, hint, sizeof hint);
    return fail(maker, "the system has no bond '%.80s'%s", name,
                system->n_bonds == 0 ? ", nor any other: name connections with --connection"
                                     : hint);
  }
  const size_t n_before = maker->n_links;
  for (size_t i = 0; i < 2 * bond->n_pairs; i++) {
    const size_t link =
        i < bond->n_pairs ? bond->action[i].link : bond->rate[i - bond->n_pairs].link;
    if (link != YOKE_NOT_FOUND && bond->source != NULL) {
      YOKE_TRY(add_link(maker, system, link, true));
    } else if (link != YOKE_NOT_FOUND) {
      YOKE_TRY(add_connection(maker, system, link));
    }
  }
  if (maker->n_links == n_before) {
    return fail(maker, "bond '%s' is not connected: write its action and rate as arrows", name);
  }
  return bond->source != NULL ? add_path(maker, "bonds.%s.coupling", name) : YOKE_OK;
}

// "a.y -> b.u" with any blanks.
static bool is_named(const char* wanted, const char* name) {
  while (true) {
    wanted += strspn(wanted, " \t");
    name += strspn(name, " \t");
    if (*wanted != *name || *name == '\0') {
      return *wanted == *name;
    }
    wanted++;
    name++;
  }
}

static yoke_status add_named(yoke_synth_maker* maker, const yoke_system* system, const char* text) {
  const char** names = yoke__arena_array(&maker->out->arena, system->n_links, sizeof *names);
  YOKE_TRY_MEMORY(names);
  for (size_t i = 0; i < system->n_links; i++) {
    char name[512];
    name_link(&system->links[i], name, sizeof name);
    if (is_named(text, name)) {
      return add_connection(maker, system, i);
    }
    names[i] = text_in(&maker->out->arena, name);
    YOKE_TRY_MEMORY(names[i]);
  }
  char hint[480];
  hint_at(text, names, system->n_links, hint, sizeof hint);
  return fail(maker, "the system has no connection '%.160s'%s", text,
              system->n_links == 0 ? ", nor any other" : hint);
}

static yoke_status find_all(yoke_synth_maker* maker, const yoke_system* system) {
  const yoke_synth_request* request = maker->request;
  yoke_synth_study* out = maker->out;
  const size_t n = system->n_links + request->n_bonds + request->n_connections + 1;
  maker->links = yoke__arena_array(&out->arena, n, sizeof *maker->links);
  maker->paths = yoke__arena_array(&out->arena, n, sizeof *maker->paths);
  maker->ordered = yoke__arena_array(&out->arena, n, sizeof *maker->ordered);
  out->signals = yoke__arena_array(&out->arena, n, sizeof *out->signals);
  YOKE_TRY_MEMORY(maker->links && maker->paths && maker->ordered && out->signals);
  for (size_t i = 0; i < request->n_bonds; i++) {
    YOKE_TRY(add_bond(maker, system, request->bonds[i]));
  }
  for (size_t i = 0; i < request->n_connections; i++) {
    YOKE_TRY(add_named(maker, system, request->connections[i]));
  }
  yoke_text subject = {0};
  for (size_t i = 0; i < request->n_bonds; i++) {
    yoke__text_add(&subject, "%sbond '%s'", i == 0 ? "" : ", ", request->bonds[i]);
  }
  for (size_t i = 0; i < request->n_connections; i++) {
    yoke__text_add(&subject, "%s%s", i + request->n_bonds == 0 ? "" : ", ",
                   out->signals[maker->n_links - request->n_connections + i]);
  }
  out->subject = subject.status < 0 ? NULL : text_in(&out->arena, subject.bytes);
  yoke__text_free(&subject);
  return out->subject == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

// ---- times

static bool is_close(double a, double b) {
  return fabs(a - b) <= 1e-9 * fabs(b);
}

// One call per exchange: what to write so that there are more.
static yoke_status refuse_single_calls(yoke_synth_maker* maker, size_t k) {
  const yoke_system* system = maker->system;
  const yoke_system_link* link = &system->links[maker->links[k]];
  const yoke_system_unit *from = &system->units[link->from_unit],
                         *to = &system->units[link->to_unit];
  const double interval = yoke__clock_seconds(&system->clock, link->interval);
  const double whole = fmax(yoke__clock_seconds(&system->clock, system->macro), interval);
  const bool has_steps =
      from->source->step.is_given && to->source->step.is_given && to->step < whole * (1 - 1e-9);
  char step[80] = "", exchange[120] = "";
  if (!has_steps) {
    snprintf(step, sizeof step, "`step: %g` at both", whole / USUAL_CALLS);
  }
  // an arrow of a bond exchanges at time.step once it is no longer left to `auto`
  if (number_of(system, link) != YOKE_NOT_FOUND) {
    snprintf(exchange, sizeof exchange, "%s`exchange: %g` at the connection",
             has_steps ? "" : " and ", whole);
  } else {
    snprintf(exchange, sizeof exchange, ", and they exchange every %g s", whole);
  }
  return fail(maker,
              "%s: '%s' and '%s' are called once per exchange, every %g s, and an element works "
              "between exchanges: write %s%s",
              maker->out->signals[k], from->name, to->name, interval, step, exchange);
}

// Sender and receiver are called every h, h below Dt.
static yoke_status check_calls(yoke_synth_maker* maker, size_t k) {
  const yoke_system* system = maker->system;
  const yoke_system_link* link = &system->links[maker->links[k]];
  const yoke_system_unit *from = &system->units[link->from_unit],
                         *to = &system->units[link->to_unit];
  const char* name = maker->out->signals[k];
  if (!is_close(from->step, to->step)) {
    const bool is_from = from->step > to->step;
    return fail(maker,
                "%s: '%s' is called every %g s and '%s' every %g s, an element needs both "
                "called equally often: write `step: %g` at '%s'",
                name, from->name, from->step, to->name, to->step, fmin(from->step, to->step),
                is_from ? from->name : to->name);
  }
  return link->interval > to->period ? YOKE_OK : refuse_single_calls(maker, k);
}

static yoke_status find_times(yoke_synth_maker* maker) {
  yoke_synth_study* out = maker->out;
  const yoke_system* system = maker->system;
  if (system->scenario->scheme != YOKE_JACOBI) {
    return fail(maker, "an element works in the explicit scheme only: write `scheme: jacobi`");
  }
  if (system->is_adaptive) {
    return fail(maker, "an element needs a fixed step: write `time: {step: ...}`");
  }
  for (size_t k = 0; k < maker->n_links; k++) {
    const yoke_system_link* link = &system->links[maker->links[k]];
    YOKE_TRY(check_calls(maker, k));
    const double interval = yoke__clock_seconds(&system->clock, link->interval);
    const double step = system->units[link->to_unit].step;
    const double delay = (double)link->delay * interval;
    if (k == 0) {
      out->system_interval = interval;
      out->system_step = step;
      out->system_delay = delay;
    } else if (!is_close(interval, out->system_interval) || !is_close(step, out->system_step) ||
               fabs(delay - out->system_delay) > 1e-9 * interval) {
      return fail(maker,
                  "%s (exchange every %g s, calls every %g s, delay %g s) and %s (%g s, %g s, "
                  "%g s) need an element each: design them one by one with --connection",
                  out->signals[0], out->system_interval, out->system_step, out->system_delay,
                  out->signals[k], interval, step, delay);
    }
  }
  return YOKE_OK;
}

// ---- the element

static double chosen(double given, double otherwise) {
  return isnan(given) ? otherwise : given;
}

static yoke_status design(yoke_synth_maker* maker) {
  const yoke_synth_request* request = maker->request;
  yoke_synth_study* out = maker->out;
  const double interval = chosen(request->interval, out->system_interval);
  const double step = chosen(request->step, out->system_step);
  const double delay = chosen(request->delay, out->system_delay);
  const yoke_synth_recipe usual = delay > 0 ? YOKE_RECIPE_L : YOKE_RECIPE_T;
  const bool is_own = !isnan(request->pole) || !isnan(request->smoother_hz) || request->order > 0;
  yoke_synth_recipe recipe = is_own ? YOKE_RECIPE_CUSTOM : usual;
  if (request->recipe != NULL && !yoke__synth_recipe_find(request->recipe, &recipe)) {
    return fail(maker, "--recipe: expected T, L, custom or general, found '%.80s'",
                request->recipe);
  }
  // custom: what is not given is that of the usual recipe
  yoke_synth_settings s =
      yoke__synth_settings_default(recipe == YOKE_RECIPE_CUSTOM ? usual : recipe, interval, step);
  s.recipe = recipe;
  s.delay = delay;
  s.band_hz = chosen(request->band_hz, s.band_hz);
  s.pole = chosen(request->pole, s.pole);
  s.smoother_hz = chosen(request->smoother_hz, s.smoother_hz);
  s.order = request->order > 0 ? request->order : s.order;
  const yoke_sink sink = yoke__messages_sink(&out->messages);
  YOKE_TRY(yoke__synth_design(&s, YOKE_SYNTH_SWEEPS, &out->design, &sink));
  out->noise_gain = yoke__synth_noise_gain(&out->design.element);
  out->is_fitting = is_close(interval, out->system_interval) && is_close(step, out->system_step) &&
                    fabs(delay - out->system_delay) <= 1e-9 * interval;
  return YOKE_OK;
}

// Beside the system file, unless a name was given: NAME-BOND.json.
static yoke_status name_file(yoke_synth_maker* maker) {
  yoke_synth_study* out = maker->out;
  const char *path = maker->request->path, *slash = strrchr(path, '/');
  const size_t n_folder = slash == NULL ? 0 : (size_t)(slash - path) + 1;
  char text[4096];
  if (maker->request->to != NULL) {
    out->file = text_in(&out->arena, maker->request->to);
    if (n_folder > 0 && maker->request->to[0] != '/') {
      yoke__os_path_absolute(maker->request->to, text, sizeof text);
      out->element = text_in(&out->arena, text);
    } else {
      out->element = out->file;
    }
    return out->file == NULL || out->element == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  }
  size_t n_stem = 0;
  const char* stem = yoke__os_path_stem(path, &n_stem);
  char subject[80];
  snprintf(subject, sizeof subject, "%s",
           maker->request->n_bonds > 0 ? maker->request->bonds[0] : out->signals[0]);
  size_t n = 0;
  for (const char* c = subject; *c != '\0'; c++) {
    const bool is_plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                          (*c >= '0' && *c <= '9') || *c == '_' || *c == '-';
    if (is_plain && !(*c == '-' && c[1] == '>')) {
      subject[n++] = *c;
    } else if (n > 0 && subject[n - 1] != '-') {
      subject[n++] = '-';
    }
  }
  subject[n] = '\0';
  snprintf(text, sizeof text, "%.*s%.*s-%s.json", (int)n_folder, path, (int)n_stem, stem, subject);
  out->file = text_in(&out->arena, text);
  out->element = out->file == NULL ? NULL : out->file + n_folder;
  return out->file == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

// ---- over frequency

static void fill_row(const yoke_synth_study* s, double hz, yoke_synth_row* row) {
  row->hz = hz;
  for (int p = 0; p < YOKE_SYNTH_N_PATHS; p++) {
    row->errors[p] = yoke__synth_error_at(&s->design, (yoke_synth_path)p, 2 * PI * hz);
  }
}

static double highest_hz(const yoke_synth_study* s) {
  return 0.5 / s->design.settings.interval;
}

static yoke_status fill_rows(yoke_synth_study* s) {
  static const double digits[] = {1, 2, 5};
  const double top = highest_hz(s), low = fmin(top, s->design.settings.band_hz) / 40;
  s->rows = yoke__arena_array(&s->arena, 64, sizeof *s->rows);
  s->curve = yoke__arena_array(&s->arena, N_CURVE, sizeof *s->curve);
  YOKE_TRY_MEMORY(s->rows && s->curve);
  for (int decade = (int)floor(log10(low)); pow(10, decade) <= top && s->n_rows < 60; decade++) {
    for (size_t i = 0; i < YOKE_COUNT(digits); i++) {
      const double hz = digits[i] * pow(10, decade);
      if (hz >= low && hz < top * (1 - 1e-9) && s->n_rows < 60) {
        fill_row(s, hz, &s->rows[s->n_rows++]);
      }
    }
  }
  fill_row(s, top, &s->rows[s->n_rows++]);
  const double calls = s->design.settings.interval / s->design.settings.step;
  s->n_curve = (size_t)fmin(N_CURVE, fmax(40, floor(SCAN_COST / calls)));
  for (size_t i = 0; i < s->n_curve; i++) {
    fill_row(s, top / LOWEST * pow(LOWEST, (double)i / (double)(s->n_curve - 1)), &s->curve[i]);
  }
  return YOKE_OK;
}

static yoke_synth_path nearest_at(const yoke_synth_study* s, double hz, bool is_all) {
  yoke_synth_row row;
  int best = 0;
  fill_row(s, hz, &row);
  for (int p = 1; p < YOKE_SYNTH_N_PATHS; p++) {
    const double a = is_all ? row.errors[p].all : row.errors[p].mean;
    const double b = is_all ? row.errors[best].all : row.errors[best].mean;
    best = a < b ? p : best;
  }
  return (yoke_synth_path)best;
}

// Who is nearest to the signal, from low frequencies up to pi / Dt.
static size_t find_winners(const yoke_synth_study* s, bool is_all, yoke_synth_winner to[]) {
  const double top = highest_hz(s), calls = s->design.settings.interval / s->design.settings.step;
  const int n_scan = (int)fmin(N_SCAN, fmax(40, floor(SCAN_COST / calls)));
  size_t n = 0;
  double last = top / (3 * LOWEST);
  yoke_synth_path now = nearest_at(s, last, is_all);
  for (int i = 1; i <= n_scan; i++) {
    const double hz = top / (3 * LOWEST) * pow(3 * LOWEST, (double)i / n_scan);
    const yoke_synth_path next = nearest_at(s, hz, is_all);
    if (next != now && n + 1 < YOKE_SYNTH_WINNERS) {
      double low = last, high = hz;
      for (int b = 0; b < N_BISECT && high > low * (1 + 1e-6); b++) {
        const double middle = sqrt(low * high);
        *(nearest_at(s, middle, is_all) == now ? &low : &high) = middle;
      }
      to[n++] = (yoke_synth_winner){high, now};
      now = next;
    }
    last = hz;
  }
  to[n++] = (yoke_synth_winner){top, now};
  return n;
}

// ---- what to write

// The smallest error of the runs with the element; NaN: none reached the end.
static double error_of_element(const yoke_synth_study* s) {
  const double given = s->runs[YOKE_SYNTH_RUN_GIVEN + YOKE_SYNTH_PATH_ELEMENT].worst;
  const double fresh = s->runs[YOKE_SYNTH_RUN_FRESH + YOKE_SYNTH_PATH_ELEMENT].worst;
  return fmin(given, fresh);
}

static yoke_status write_lines(yoke_synth_maker* maker) {
  yoke_synth_study* out = maker->out;
  const yoke_synth_trial* given = &out->runs[YOKE_SYNTH_RUN_GIVEN + YOKE_SYNTH_PATH_ELEMENT];
  const yoke_synth_trial* fresh = &out->runs[YOKE_SYNTH_RUN_FRESH + YOKE_SYNTH_PATH_ELEMENT];
  const bool is_fresh_better =
      out->no_runs == NULL && !isnan(fresh->worst) && !(given->worst <= fresh->worst);
  // nothing that is refused, as an element for other times is, or diverges
  if (!out->is_fitting || (out->no_runs == NULL && isnan(error_of_element(out)))) {
    return YOKE_OK;
  }
  out->sets = yoke__arena_array(&out->arena, maker->n_paths + 1, sizeof *out->sets);
  out->lines = yoke__arena_array(&out->arena, maker->n_paths + 2, sizeof *out->lines);
  YOKE_TRY_MEMORY(out->sets && out->lines);
  YOKE_TRY(yoke__synth_couple(maker, YOKE_SYNTH_PATH_ELEMENT, out->sets, &out->n_sets));
  for (size_t i = 0; i < maker->n_paths; i++) {
    char text[5000];
    const char* value = strchr(out->sets[i], '=') + 1;
    snprintf(text, sizeof text, "under %.*s:  coupling: %s",
             (int)(strlen(maker->paths[i]) - strlen(".coupling")), maker->paths[i], value);
    out->lines[out->n_lines] = text_in(&out->arena, text);
    YOKE_TRY_MEMORY(out->lines[out->n_lines++]);
  }
  if (is_fresh_better) {
    out->lines[out->n_lines++] = "at the top:  exchange: fresh";
    out->sets[out->n_sets++] = "exchange=fresh";
  }
  return YOKE_OK;
}

static bool is_element(size_t run) {
  return (run - YOKE_SYNTH_RUN_GIVEN) % YOKE_SYNTH_N_PATHS == YOKE_SYNTH_PATH_ELEMENT;
}

// What to write for a run, as the file would have it.
static void setting_text(const yoke_synth_study* s, size_t run, char* to, size_t size) {
  const size_t path = (run - YOKE_SYNTH_RUN_GIVEN) % YOKE_SYNTH_N_PATHS;
  const char* fresh = run >= YOKE_SYNTH_RUN_FRESH ? " with `exchange: fresh`" : "";
  if (is_element(run)) {
    snprintf(to, size, "the element%s", fresh);
  } else {
    snprintf(to, size, "`coupling: {method: hold, order: %d}`%s", path == YOKE_SYNTH_PATH_LINE,
             fresh);
  }
  (void)s;
}

double yoke__synth_growth(const yoke_synth_radius* radius) {
  return radius->has_one ? radius->next : radius->largest;
}

// A run may be too short to show that its loop grows.
static void warn_of_growth(const yoke_synth_study* s, char* to, size_t size) {
  const size_t path = (s->best - YOKE_SYNTH_RUN_GIVEN) % YOKE_SYNTH_N_PATHS;
  const yoke_synth_loop_row* row = &s->loop[path];
  const size_t k = s->best >= YOKE_SYNTH_RUN_FRESH || s->is_fresh ? 1 : 0;
  if (s->no_loop == NULL && row->is_known[k] &&
      yoke__synth_growth(&row->radius[k]) >= YOKE_SYNTH_UNSTABLE) {
    snprintf(
        to, size,
        " But its loop is unstable, radius %.6g: a longer run may diverge; use one that is stable.",
        yoke__synth_growth(&row->radius[k]));
  }
}

// Outside of loops what is sent does not depend on the coupling.
static bool is_same_with_all(const yoke_synth_study* s) {
  const yoke_synth_trial* given = &s->runs[YOKE_SYNTH_RUN_GIVEN];
  return s->no_loop != NULL &&
         given[YOKE_SYNTH_PATH_HOLD].worst == given[YOKE_SYNTH_PATH_LINE].worst &&
         given[YOKE_SYNTH_PATH_HOLD].worst == given[YOKE_SYNTH_PATH_ELEMENT].worst;
}

static void advise_by_runs(yoke_synth_study* s) {
  char setting[120], other[120] = "", as_it_is[160] = "", growth[160] = "";
  if (s->best == YOKE_SYNTH_N_RUNS) {
    snprintf(s->advice, sizeof s->advice,
             "Tried for %g s: no run reaches its end. Exchange more often than every "
             "%g s.",
             s->run_until, s->system_interval);
    return;
  }
  if (is_same_with_all(s)) {
    snprintf(s->advice, sizeof s->advice,
             "Tried for %g s: the signals sent are the same with every coupling, because they are "
             "in no loop. Choose by the errors over frequency above.",
             s->run_until);
    return;
  }
  const yoke_synth_trial* best = &s->runs[s->best];
  const yoke_synth_trial* file = &s->runs[YOKE_SYNTH_RUN_FILE];
  const double element = error_of_element(s);
  const char* signal = s->signals[best->signal];
  const int n_name = (int)fmin(80, (double)strcspn(signal, " "));
  setting_text(s, s->best, setting, sizeof setting);
  warn_of_growth(s, growth, sizeof growth);
  if (!is_element(s->best) && isnan(element)) {
    const bool is_refused = s->runs[YOKE_SYNTH_RUN_GIVEN + YOKE_SYNTH_PATH_ELEMENT].why != NULL;
    snprintf(other, sizeof other, "; %s",
             is_refused ? "the element is refused" : "with the element the run diverges");
  } else if (!is_element(s->best)) {
    snprintf(other, sizeof other, "; with the element it is %.3g %%", 100 * element);
  }
  if (file->worst < best->worst) {
    snprintf(as_it_is, sizeof as_it_is,
             " Better still is the file as it is, %.3g %%, with an exchange every %g s: keep it.",
             100 * file->worst, s->file_interval);
  }
  snprintf(s->advice, sizeof s->advice,
           "Tried for %g s: %s is best; the error of the worst signal, %.*s, is %.3g %% of its "
           "range%s.%s%s",
           s->run_until, setting, n_name, signal, 100 * best->worst, other, growth, as_it_is);
}

static void advise(yoke_synth_study* s) {
  if (!s->is_fitting) {
    snprintf(s->advice, sizeof s->advice,
             "The element is for an exchange every %g s, calls every %g s and a delay of %g s; the "
             "system has %g s, %g s and %g s and refuses it: change `exchange`, `step` or `delay` "
             "there, and design it again without the option.",
             s->design.settings.interval, s->design.settings.step, s->design.settings.delay,
             s->system_interval, s->system_step, s->system_delay);
  } else if (s->no_runs == NULL) {
    advise_by_runs(s);
  } else {
    snprintf(s->advice, sizeof s->advice,
             "Nothing was run (%s): compare a run with the element and one without.%s", s->no_runs,
             s->machine != NULL && s->design.settings.recipe == YOKE_RECIPE_T
                 ? " Sensors of a machine are noisy: `--recipe L` amplifies less."
                 : "");
  }
}

// ---- all of it

static yoke_status study(yoke_synth_maker* maker) {
  yoke_synth_study* out = maker->out;
  yoke_system* plain = NULL;
  yoke_status status = yoke__synth_build(maker, NULL, 0, &out->messages, &plain, NULL);
  if (status >= 0) {
    out->system = text_in(&out->arena, plain->scenario->name);
    out->is_fresh = plain->scenario->exchange == YOKE_FRESH;
    status = out->system == NULL ? YOKE_NO_MEMORY : find_all(maker, plain);
  }
  if (status >= 0 && yoke__rig_machine(plain) != NULL) {
    out->machine = text_in(&out->arena, yoke__rig_machine(plain));
    status = out->machine == NULL ? YOKE_NO_MEMORY : status;
  }
  if (status >= 0) {
    out->file_interval = yoke__clock_seconds(&plain->clock, plain->links[maker->links[0]].interval);
  }
  yoke__system_destroy(&plain);
  YOKE_TRY(status);
  size_t n = maker->n_paths + maker->n_ordered;
  const char** sets = yoke__arena_array(&out->arena, n, sizeof *sets);
  YOKE_TRY_MEMORY(sets);
  YOKE_TRY(yoke__synth_couple(maker, YOKE_SYNTH_PATH_HOLD, sets, &n));
  // what is remarked on it was said of the file, or is true of this trial only
  yoke_messages again = {0};
  status = yoke__synth_build(maker, sets, n, &again, &maker->system,
                             out->machine == NULL ? &maker->state : NULL);
  for (size_t i = 0; i < again.n; i++) {
    if (again.all[i].severity == YOKE_ERROR) {
      yoke__messages_add(&out->messages, &again.all[i]);
    }
  }
  yoke__messages_free(&again);
  YOKE_TRY(status);
  YOKE_TRY(find_times(maker));
  YOKE_TRY(design(maker));
  YOKE_TRY(fill_rows(out));
  out->n_mean = find_winners(out, false, out->mean);
  out->n_all = find_winners(out, true, out->all);
  YOKE_TRY(name_file(maker));
  const yoke_sink sink = yoke__messages_sink(&out->messages);
  YOKE_TRY(yoke__synth_element_write(out->file, &out->design, &sink));
  YOKE_TRY(yoke__synth_judge_loop(maker));
  YOKE_TRY(yoke__synth_run_all(maker));
  YOKE_TRY(write_lines(maker));
  advise(out);
  return YOKE_OK;
}

yoke_status yoke__synth_study(const yoke_synth_request* request, yoke_synth_study* out) {
  *out = (yoke_synth_study){.best = YOKE_SYNTH_N_RUNS};
  yoke_synth_maker maker = {.request = request, .out = out};
  const yoke_status status = study(&maker);
  yoke__study_destroy(&maker.system, &maker.state);
  return yoke__messages_status(&out->messages, status);
}

void yoke__synth_study_free(yoke_synth_study* study) {
  yoke__messages_free(&study->messages);
  yoke__arena_free(&study->arena);
}
