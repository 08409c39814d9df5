// `yoke run x.cir` and `yoke circuit x.cir`: the system file that would be written for one netlist
// on its own.
//
// `.tran STEP STOP START` gives the interval of the rows, the stop time and the time of the first
// row. Steps have one length, so a stop that is no multiple of the interval is reached by one whole
// interval more. The unit takes its own step below that from `.yoke step=`, from `.tran`'s largest step, or
// from --set. What the netlist names with .print, .save, .probe and .output is recorded; if it
// names nothing, every node voltage and element current.
#include "scenario/scenario_circuit.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_clock.h"
#include "base/base_number.h"
#include "base/base_text.h"
#include "circuit/circuit_netlist.h"
#include "scenario/scenario_fmu.h"

#define MAX_PATH 4096
#define MAX_NAME 128
// of a run that counts in the last digit of its step
#define MAX_TICKS 9e15
#define NEAR      1e-9  // of a number of steps to a whole one, relative
#define MAX_INNER 1e9   // steps of the solver between two rows; more are refused by the unit

bool yoke__scenario_is_circuit(const char* path) {
  static const char* const endings[] = {".cir", ".ckt", ".net", ".sp", ".spice"};
  const char* dot = strrchr(path, '.');
  for (size_t i = 0; dot != NULL && i < sizeof endings / sizeof endings[0]; i++) {
    size_t k = 0;
    while (dot[k] != '\0' && tolower((unsigned char)dot[k]) == endings[i][k]) {
      k++;
    }
    if (dot[k] == '\0' && endings[i][k] == '\0') {
      return true;
    }
  }
  return false;
}

// -------------------------------------------------------------------------------------------------
// what --set changes

typedef struct changes {
  char names[64][MAX_NAME];
  yoke_netlist_parameter parameters[64];
  size_t n_parameters;
  double solver_step;       // 0: not given
  double stop;              // the caller's; 0: not given
  bool has_step, has_stop;  // by --set
} changes;

static bool is_prefix(const char* text, const char* prefix, const char** behind) {
  const size_t n = strlen(prefix);
  *behind = text + n;
  return strncmp(text, prefix, n) == 0;
}

static void look_at_set(const char* set, const char* unit, changes* to) {
  char with[MAX_NAME + 16], step[MAX_NAME + 24];
  const char *behind = NULL, *equals = strchr(set, '=');
  double value = 0;
  if (equals == NULL || !yoke__number_parse_suffix(equals + 1, &value)) {
    return;
  }
  snprintf(with, sizeof with, "units.%s.with.", unit);
  snprintf(step, sizeof step, "units.%s.solver.step=", unit);
  if (is_prefix(set, with, &behind)) {
    const size_t n = (size_t)(equals - behind);
    if (n < MAX_NAME && to->n_parameters < 64) {
      snprintf(to->names[to->n_parameters], MAX_NAME, "%.*s", (int)n, behind);
      to->parameters[to->n_parameters] =
          (yoke_netlist_parameter){to->names[to->n_parameters], value};
      to->n_parameters++;
    }
  } else if (is_prefix(set, step, &behind)) {
    to->solver_step = value > 0 ? value : 0;
  }
  to->has_step = to->has_step || is_prefix(set, "time.step=", &behind);
  to->has_stop = to->has_stop || is_prefix(set, "time.stop=", &behind);
}

// -------------------------------------------------------------------------------------------------
// times

typedef struct times {
  double length;  // of the run, as it was asked for [s]
  char step[YOKE_NUMBER_SIZE], stop[YOKE_NUMBER_SIZE], from[YOKE_NUMBER_SIZE];
} times;

// The interval of the rows.
static void choose_step(const yoke_circuit_run* run, yoke_place place, const changes* changed,
                        yoke_messages* messages, times* to) {
  double step = run->has_tran ? run->step : 0;
  step = fmax(step, changed->solver_step > 0 ? changed->solver_step : run->step_exact);
  if (step > 0) {
    if (!yoke__scenario_fit_step(step, to->length, to->step)) {
      yoke__message_add(messages, YOKE_NOTE, place,
                        "the step has more digits than can be counted: %s s is taken", to->step);
    }
    return;
  }
  yoke__scenario_round_step(to->length, to->step, sizeof to->step);
  if (changed->has_step) {
    return;
  }
  if (!run->has_tran && !changed->has_stop && changed->stop <= 0) {
    yoke__message_add(messages, YOKE_NOTE, place, "no .tran: one second in steps of %s s is run",
                      to->step);
  } else {
    yoke__message_add(messages, YOKE_NOTE, place, "no step is given: %s s is taken", to->step);
  }
}

// The solver's step divides the distance of the rows: a unit takes the longest that does and is no
// longer than what was asked for.
static void tell_shortened(const yoke_circuit_run* run, yoke_place place, const changes* changed,
                           yoke_messages* messages, const times* to) {
  const double wanted = changed->solver_step > 0 ? changed->solver_step : run->step_exact;
  double rows = 0;
  if (wanted <= 0 || changed->has_step || !yoke__number_parse(to->step, &rows)) {
    return;
  }
  const double n = fmax(1, ceil(rows / wanted * (1 - 1e-12)));
  if (n <= MAX_INNER && rows / n < wanted * (1 - NEAR)) {
    yoke__message_add(messages, YOKE_NOTE, place,
                      "the step %.9g s does not divide the distance of the rows, %s s: %.9g s is "
                      "taken",
                      wanted, to->step, rows / n);
  }
}

// The multiple of the step that reaches the stop time, digit by digit: products of doubles are
// seldom exact.
static yoke_status round_up(yoke_place place, yoke_messages* messages, times* to) {
  yoke_decimal step = {0};
  const bool is_decimal = yoke__decimal_parse(to->step, &step);
  const double n = is_decimal ? to->length / yoke__decimal_value(step) : 0;
  if (n < 1 - NEAR) {
    yoke__error(messages, place, "the step of %s s is longer than the whole run, %s s", to->step,
                to->stop);
    return YOKE_BAD_INPUT;
  }
  if (n * (double)step.mantissa > MAX_TICKS) {
    yoke__error(messages, place,
                "a run to %s s in steps of %s s has more steps than can be counted", to->stop,
                to->step);
    return YOKE_BAD_INPUT;
  }
  const bool is_whole = fabs(n - round(n)) <= NEAR * n;
  const double asked = to->length;
  step.mantissa *= (int64_t)(is_whole ? round(n) : ceil(n));
  to->length = yoke__decimal_value(step);
  snprintf(to->stop, sizeof to->stop, "%llde%d", (long long)step.mantissa, step.exponent);
  if (!is_whole) {
    yoke__message_add(messages, YOKE_NOTE, place,
                      "the stop time %.9g s is no multiple of the step %s s: the run goes on to "
                      "%.9g s",
                      asked, to->step, to->length);
  }
  return YOKE_OK;
}

static yoke_status choose_times(const yoke_circuit_run* run, const char* path,
                                const changes* changed, yoke_messages* messages, times* to) {
  const yoke_place place = {path, 0, 0};
  const double from = run->has_tran ? run->start : 0;
  const double own = run->has_tran && run->stop > 0 ? run->stop : 1;
  to->length = changed->stop > 0 ? changed->stop : own;
  yoke__number_format(to->length, to->stop);
  yoke__number_format(from, to->from);
  choose_step(run, place, changed, messages, to);
  tell_shortened(run, place, changed, messages, to);

  // what the user sets in the system goes before all of this
  if (changed->has_step || changed->has_stop) {
    return YOKE_OK;
  }
  YOKE_TRY(round_up(place, messages, to));
  if (from > to->length * (1 + NEAR)) {
    yoke__error(messages, place, "the run ends at %.9g s, before the start %s s of .tran's rows",
                to->length, to->from);
    return YOKE_BAD_INPUT;
  }
  if (from > to->length) {
    memcpy(to->from, to->stop, sizeof to->from);
  }
  return YOKE_OK;
}

// -------------------------------------------------------------------------------------------------
// the text

static void put_quoted(yoke_text* w, const char* before, const char* text) {
  char quoted[MAX_PATH];
  yoke__scenario_quote(text, quoted, sizeof quoted);
  yoke__text_string(w, "'");
  yoke__text_string(w, before);
  yoke__text_string(w, quoted);
  yoke__text_string(w, "'");
}

// the unit writes v(...) and i(...) in small letters
static void put_signal(yoke_text* w, const char* before, const char* name) {
  char lower[MAX_PATH];
  size_t n = 0;
  for (; name[n] != '\0' && n + 1 < sizeof lower; n++) {
    lower[n] = (char)tolower((unsigned char)name[n]);
  }
  lower[n] = '\0';
  put_quoted(w, before, strchr(name, '(') == NULL ? name : lower);
}

static void put_signals(yoke_text* w, const char* unit, const yoke_probe* probes, uint32_t n,
                        bool* is_first) {
  char before[MAX_NAME + 2];
  snprintf(before, sizeof before, "%s.", unit);
  for (uint32_t i = 0; i < n; i++) {
    yoke__text_string(w, *is_first ? "" : ", ");
    put_signal(w, before, probes[i].name);
    *is_first = false;
  }
}

static void write_text(yoke_text* w, const yoke_network* network, const char* path,
                       const char* unit, const times* t) {
  const char* slash = strrchr(path, '/');
  const char* file = slash == NULL ? path : slash + 1;
  bool is_first = true;
  yoke__text_string(w, "yoke: 1\nname: ");
  put_quoted(w, "", file);
  yoke__text_string(w, "\ntime: {start: 0, stop: ");
  yoke__text_string(w, t->stop);
  yoke__text_string(w, ", step: ");
  yoke__text_string(w, t->step);
  yoke__text_string(w, "}\nunits: {");
  yoke__text_string(w, unit);
  yoke__text_string(w, ": {circuit: ");
  put_quoted(w, "", file);
  yoke__text_string(w, "}}\nrecord: {from: ");
  yoke__text_string(w, t->from);
  yoke__text_string(w, ", signals: [");
  if (network->n_outputs + network->n_saves == 0) {
    yoke__text_string(w, "'**'");
  }
  put_signals(w, unit, network->outputs, network->n_outputs, &is_first);
  put_signals(w, unit, network->saves, network->n_saves, &is_first);
  yoke__text_string(w, "]}\n");
}

// -------------------------------------------------------------------------------------------------
// the netlist

static bool has_message(const yoke_messages* messages, const yoke_message* m) {
  for (size_t i = 0; i < messages->n; i++) {
    const yoke_message* known = &messages->all[i];
    if (known->severity == m->severity && known->line == m->line &&
        strcmp(known->text, m->text) == 0) {
      return true;
    }
  }
  return false;
}

// What `from` has and `known` has not.
static void pass_on(const yoke_messages* from, const yoke_messages* known, yoke_messages* to) {
  for (size_t i = 0; i < from->n; i++) {
    if (!has_message(known, &from->all[i])) {
      yoke__messages_add(to, &from->all[i]);
    }
  }
}

// Warnings of the file as it stands are told when the unit is made, and so is what is wrong with a
// changed parameter. Told here: why it cannot be read at all, and warnings that only the new values
// cause.
static yoke_status read_netlist(const char* path, const changes* changed, yoke_messages* messages,
                                yoke_network** network) {
  const yoke_messages none = {0};
  yoke_messages plain = {0}, own = {0};
  yoke_network* other = NULL;
  yoke_netlist_settings settings = {.path = path};
  yoke_status status = yoke__netlist_read_file(&settings, &plain, network);
  settings.parameters = changed->parameters;
  settings.n_parameters = changed->n_parameters;
  if (changed->n_parameters > 0 && yoke__netlist_read_file(&settings, &own, &other) >= 0) {
    pass_on(&own, &plain, messages);
    yoke__network_destroy(network);
    *network = other;
    status = YOKE_OK;
  } else if (status < 0) {
    pass_on(&plain, &none, messages);
  }
  yoke__messages_free(&plain);
  yoke__messages_free(&own);
  return status;
}

yoke_status yoke__scenario_circuit_text(const char* path, const char* const sets[], size_t n_sets,
                                        double stop, yoke_messages* messages, char** text,
                                        size_t* n) {
  char unit[MAX_NAME];
  changes changed = {.stop = stop};
  yoke__scenario_unit_name(path, "circuit", unit, sizeof unit);
  for (size_t i = 0; i < n_sets; i++) {
    look_at_set(sets[i], unit, &changed);
  }

  yoke_network* network = NULL;
  YOKE_TRY(read_netlist(path, &changed, messages, &network));
  times t;
  yoke_text w = {0};
  yoke_status status = choose_times(&network->run, path, &changed, messages, &t);
  if (status >= 0) {
    write_text(&w, network, path, unit, &t);
  }
  yoke__network_destroy(&network);
  YOKE_TRY(status);
  if (w.status < 0) {
    yoke__text_free(&w);
    return YOKE_NO_MEMORY;
  }
  *text = w.bytes;
  *n = w.n;
  return YOKE_OK;
}
