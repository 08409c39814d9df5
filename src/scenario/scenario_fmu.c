// `yoke run x.fmu`: the system of one FMU on its own, as the tree that a system file would give.
//
// Times come from the default experiment; without one the run takes 1 s. A missing step is a thousandth of the time,
// rounded down to 1, 2 or 5 times a power of ten.
#include "scenario/scenario_fmu.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_clock.h"
#include "base/base_os.h"
#include "base/base_path.h"
#include "fmi/fmi_package.h"

#define MAX_PATH  4096
#define MAX_TICKS 1e15  // that a run can count, with some room
#define FEW_TICKS                                                                                  \
  1e12  // where digits are lost anyway: a longer run (--set time.stop) shall be possible too

void yoke__scenario_round_step(double length, char* to, size_t size) {
  const int exponent = (int)floor(log10(length / 1000));
  const double digits = length / 1000 / pow(10, exponent);
  snprintf(to, size, "%de%d", digits >= 4.999999 ? 5 : digits >= 1.999999 ? 2 : 1, exponent);
}

bool yoke__scenario_fit_step(double step, double length, char to[YOKE_NUMBER_SIZE]) {
  enum { MOST_DIGITS = 17 };
  double fitted = step;
  for (int n_digits = MOST_DIGITS; n_digits > 0; n_digits--) {
    const double most = n_digits == MOST_DIGITS ? MAX_TICKS : FEW_TICKS;
    yoke_decimal decimal;
    if (yoke__decimal_from(fitted, &decimal) && length * pow(10, -decimal.exponent) <= most) {
      break;
    }
    char text[64];
    snprintf(text, sizeof text, "%.*e", n_digits - 1, step);
    yoke__number_parse(text, &fitted);
  }
  yoke__number_format(fitted, to);
  return fitted == step;
}

static void choose_times(const yoke_fmi_experiment* e, const char* path, yoke_messages* messages,
                         double* start, double* stop, char* step, size_t size) {
  *start = e->has_start ? e->start : 0;
  const bool has_stop = e->has_stop && e->stop > *start;
  *stop = has_stop ? e->stop : *start + 1;
  if (!(*stop > *start)) {
    // a second is nothing against this start
    *start = 0;
    *stop = 1;
  }
  if (e->has_step && e->step > 0 && e->step <= *stop - *start) {
    if (!yoke__scenario_fit_step(e->step, *stop - *start, step)) {
      yoke__message_add(messages, YOKE_NOTE, (yoke_place){path, 0, 0},
                        "the FMU proposes a step with too many digits: %s s is used", step);
    }
    return;
  }
  yoke__scenario_round_step(*stop - *start, step, size);
  yoke__message_add(
      messages, YOKE_NOTE, (yoke_place){path, 0, 0},
      has_stop ? "the FMU proposes no step: %s s is used; set another with --set time.step=..."
               : "the FMU proposes neither a stop time nor a step: the default is one second in "
                 "steps of %s s; change it with --set time.stop=... and --set time.step=...",
      step);
}

// -------------------------------------------------------------------------------------------------
// the tree

yoke_node* yoke__lone_node(yoke_reader* reader, yoke_node* parent, yoke_node** last,
                           const char* key, yoke_node_kind kind) {
  if (parent == NULL) {
    return NULL;
  }
  yoke_node* node = yoke__node_new(reader, kind, parent->place);
  yoke__node_put(reader, parent, last, key, parent->place, node);
  return node;
}

yoke_node* yoke__lone_value(yoke_reader* reader, yoke_node* parent, yoke_node** last,
                            const char* key, const char* text, bool is_quoted) {
  if (parent == NULL) {
    return NULL;
  }
  yoke_node* node = yoke__node_scalar(reader, text, is_quoted, parent->place);
  yoke__node_put(reader, parent, last, key, parent->place, node);
  return node;
}

const char* yoke__lone_tree(yoke_reader* reader, const char* path, yoke_lone* lone) {
  yoke_node *last_time = NULL, *last_unit = NULL, *last_key = NULL;
  lone->root = yoke__node_new(reader, YOKE_NODE_MAP, (yoke_place){path, 0, 0});
  yoke__lone_value(reader, lone->root, &lone->last, "yoke", "1", false);
  yoke__lone_value(reader, lone->root, &lone->last, "name", lone->name, true);
  yoke_node* time = yoke__lone_node(reader, lone->root, &lone->last, "time", YOKE_NODE_MAP);
  yoke__lone_value(reader, time, &last_time, "start", lone->start, false);
  yoke__lone_value(reader, time, &last_time, "stop", lone->stop, false);
  yoke__lone_value(reader, time, &last_time, "step", lone->step, false);
  yoke_node* units = yoke__lone_node(reader, lone->root, &lone->last, "units", YOKE_NODE_MAP);
  yoke_node* unit = yoke__lone_node(reader, units, &last_unit, lone->unit, YOKE_NODE_MAP);
  const yoke_node* file = yoke__lone_value(reader, unit, &last_key, lone->kind, lone->file, true);
  return file == NULL ? NULL : file->text;
}

yoke_status yoke__fmu_tree(const yoke_scenario* s, yoke_reader* reader, yoke_node** root) {
  if (!yoke__os_is_file(s->path) && !yoke__os_is_directory(s->path)) {
    const yoke_sink sink = yoke__messages_sink(reader->messages);
    return yoke__fail_at(&sink, YOKE_IO, (yoke_place){s->path, 0, 0}, "there is no such file");
  }
  // its warnings are reported when the unit is made
  yoke_messages told = {0};
  yoke_fmi_package* package = NULL;
  const yoke_status status = yoke__fmi_open(s->path, &told, &package);
  if (status < 0) {
    yoke__messages_merge(reader->messages, &told);
  }
  yoke__messages_free(&told);
  YOKE_TRY(status);
  double start = 0, stop = 1;
  char step[YOKE_NUMBER_SIZE], from[YOKE_NUMBER_SIZE], to[YOKE_NUMBER_SIZE], unit[128];
  choose_times(&package->description->experiment, s->path, reader->messages, &start, &stop, step,
               sizeof step);
  yoke__fmi_close(&package);
  yoke__path_unit_name(s->path, "fmu", unit, sizeof unit);
  yoke__number_format(start, from);
  yoke__number_format(stop, to);

  // behind "folder/" there is nothing: the folder itself
  const char* slash = strrchr(s->path, '/');
  const bool is_folder = slash != NULL && slash[1] == '\0';
  const char* file = is_folder ? "." : slash == NULL ? s->path : slash + 1;
  yoke_lone lone = {.name = strcmp(file, ".") == 0 ? unit : file,
                    .unit = unit,
                    .kind = "fmu",
                    .file = file,
                    .start = from,
                    .stop = to,
                    .step = step};
  yoke__lone_tree(reader, s->path, &lone);
  *root = lone.root;
  return reader->is_out_of_memory ? YOKE_NO_MEMORY : YOKE_OK;
}
