// `yoke run x.cir` and `yoke circuit x.cir`: the system of one netlist on its own, as the tree that a system file
// would give. The netlist is read here, once: the unit that is made of it gets what was read.
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
#include "base/base_path.h"
#include "circuit/netlist/circuit_netlist.h"
#include "scenario/scenario_fmu.h"

#define MAX_NAME 128
// of a run that counts in the last digit of its step
#define MAX_TICKS 9e15
#define NEAR      1e-9  // of a number of steps to a whole one, relative
#define MAX_INNER 1e9   // steps of the solver between two rows; more are refused by the unit

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
      yoke__message_add(messages, YOKE_NOTE, place, "the step has too many digits: %s s is used",
                        to->step);
    }
    return;
  }
  yoke__scenario_round_step(to->length, to->step, sizeof to->step);
  if (changed->has_step) {
    return;
  }
  if (!run->has_tran && !changed->has_stop && changed->stop <= 0) {
    yoke__message_add(messages, YOKE_NOTE, place,
                      "no .tran: the default is a run of one second in steps of %s s", to->step);
  } else {
    yoke__message_add(messages, YOKE_NOTE, place, "no step is given: %s s is used", to->step);
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
    yoke__message_add(
        messages, YOKE_NOTE, place,
        "the step %.9g s does not divide the distance of the rows, %s s: %.9g s is used", wanted,
        to->step, rows / n);
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
// the tree

static void add_signals(yoke_reader* reader, const char* unit, const yoke_probe* probes, uint32_t n,
                        yoke_node* list, yoke_node** last) {
  for (uint32_t i = 0; i < n && !reader->is_out_of_memory; i++) {
    const size_t size = strlen(unit) + strlen(probes[i].name) + 2;
    char* name = yoke__reader_array(reader, size, 1);
    if (name != NULL) {
      snprintf(name, size, "%s.%s", unit, probes[i].name);
      yoke__lone_value(reader, list, last, NULL, name, true);
    }
  }
}

static void add_record(yoke_reader* reader, const yoke_network* network, const char* unit,
                       const char* from, yoke_lone* lone) {
  yoke_node *last = NULL, *last_signal = NULL;
  yoke_node* record = yoke__lone_node(reader, lone->root, &lone->last, "record", YOKE_NODE_MAP);
  yoke__lone_value(reader, record, &last, "from", from, false);
  yoke_node* signals = yoke__lone_node(reader, record, &last, "signals", YOKE_NODE_LIST);
  if (network->n_outputs + network->n_saves == 0) {
    yoke__lone_value(reader, signals, &last_signal, NULL, "**", true);
  }
  add_signals(reader, unit, network->outputs, network->n_outputs, signals, &last_signal);
  add_signals(reader, unit, network->saves, network->n_saves, signals, &last_signal);
}

// -------------------------------------------------------------------------------------------------
// the netlist

// Warnings are left to the unit, and what is wrong with a changed parameter is too; why the file cannot be read at all is
// said here. *own: the network with changed parameters; NULL: there are none.
static yoke_status read_netlist(const char* path, const changes* changed, yoke_messages* messages,
                                yoke_netlist** netlist, yoke_network** own) {
  yoke_messages said = {0};
  const yoke_status status = yoke__netlist_open(path, netlist);
  if (*netlist == NULL) {
    return status;
  }
  const yoke_netlist_settings settings = {
      .path = path,
      .parameters = changed->parameters,
      .n_parameters = changed->n_parameters,
      .known = (*netlist)->network,
  };
  if (changed->n_parameters > 0 && yoke__netlist_read_file(&settings, &said, own) >= 0) {
    yoke__messages_merge(status < 0 ? messages : &(*netlist)->messages, &said);
  } else if (status < 0) {
    yoke__messages_merge(messages, &(*netlist)->messages);
  }
  yoke__messages_free(&said);
  if (status < 0) {
    yoke__netlist_close(netlist);
  }
  return *own != NULL ? YOKE_OK : status;
}

yoke_status yoke__circuit_tree(yoke_scenario* s, const char* const sets[], size_t n_sets,
                               double stop, yoke_reader* reader, yoke_node** root) {
  char unit[MAX_NAME];
  changes changed = {.stop = stop};
  yoke__path_unit_name(s->path, "circuit", unit, sizeof unit);
  for (size_t i = 0; i < n_sets; i++) {
    look_at_set(sets[i], unit, &changed);
  }
  times t;
  yoke_network* own = NULL;
  YOKE_TRY(read_netlist(s->path, &changed, reader->messages, &s->netlist, &own));
  const yoke_network* network = own != NULL ? own : s->netlist->network;
  const yoke_status status = choose_times(&network->run, s->path, &changed, reader->messages, &t);
  if (status >= 0) {
    const char* slash = strrchr(s->path, '/');
    yoke_lone lone = {.unit = unit,
                      .kind = "circuit",
                      .file = slash == NULL ? s->path : slash + 1,
                      .start = "0",
                      .stop = t.stop,
                      .step = t.step};
    lone.name = lone.file;
    s->netlist_path = yoke__lone_tree(reader, s->path, &lone);
    add_record(reader, network, unit, t.from, &lone);
    *root = lone.root;
  }
  yoke__network_destroy(&own);
  return reader->is_out_of_memory ? YOKE_NO_MEMORY : status;
}
