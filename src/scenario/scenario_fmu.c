// `yoke run x.fmu`: the system file that would be written for one FMU on its own.
//
// Times come from the default experiment; without one the run takes 1 s. A missing step is a thousandth of the time,
// rounded down to 1, 2 or 5 times a power of ten.
#include "scenario/scenario_fmu.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_clock.h"
#include "base/base_os.h"
#include "fmi/fmi_package.h"
#include "scenario/scenario.h"

#define MAX_PATH  4096
#define MAX_TICKS 1e15  // that a run can count, with some room
#define FEW_TICKS                                                                                  \
  1e12  // where digits are lost anyway: a longer run (--set time.stop) shall be possible too

bool yoke__scenario_is_fmu(const char* path) {
  const size_t n = strlen(path);
  if (n >= 4 && path[n - 4] == '.' && tolower((unsigned char)path[n - 3]) == 'f' &&
      tolower((unsigned char)path[n - 2]) == 'm' && tolower((unsigned char)path[n - 1]) == 'u') {
    return true;
  }
  char inner[MAX_PATH];
  return yoke__os_is_directory(path) &&
         yoke__os_path_join(path, "modelDescription.xml", inner, sizeof inner) < sizeof inner &&
         yoke__os_is_file(inner);
}

void yoke__scenario_round_step(double length, char* to, size_t size) {
  const int exponent = (int)floor(log10(length / 1000));
  const double digits = length / 1000 / pow(10, exponent);
  snprintf(to, size, "%de%d", digits >= 4.999999 ? 5 : digits >= 1.999999 ? 2 : 1, exponent);
}

// the file's name as the name of a unit: letters, digits, '_' and '-'
void yoke__scenario_unit_name(const char* path, const char* other, char* to, size_t size) {
  size_t n = 0;
  const char* stem = yoke__scenario_stem(path, &n);
  size_t k = 0;
  for (size_t i = 0; i < n && k + 2 < size; i++) {
    const bool is_plain = isalnum((unsigned char)stem[i]) || stem[i] == '_' || stem[i] == '-';
    if (k == 0 && !isalpha((unsigned char)stem[i]) && stem[i] != '_') {
      to[k++] = '_';
    }
    to[k] = stem[i];
    if (!is_plain) {
      to[k] = '_';
    }
    k++;
  }
  to[k] = '\0';
  if (k == 0 || strcmp(to, "bond") == 0) {
    snprintf(to, size, "%s", other);
  }
}

// in quotes of YAML: each quote twice
void yoke__scenario_quote(const char* text, char* to, size_t size) {
  size_t k = 0;
  for (const char* c = text; *c != '\0' && k + 2 < size; c++) {
    if (*c == '\'') {
      to[k++] = '\'';
    }
    to[k++] = *c;
  }
  to[k] = '\0';
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
      yoke__message_add(
          messages, YOKE_NOTE, (yoke_place){path, 0, 0},
          "the FMU proposes a step with more digits than can be counted: %s s is taken", step);
    }
    return;
  }
  yoke__scenario_round_step(*stop - *start, step, size);
  yoke__message_add(messages, YOKE_NOTE, (yoke_place){path, 0, 0},
                    has_stop
                        ? "the FMU proposes no step: %s s is taken; set another with --set "
                          "time.step=..."
                        : "the FMU proposes neither a stop time nor a step: one second in steps "
                          "of %s s is run; --set time.stop=... and --set time.step=... change it",
                    step);
}

yoke_status yoke__scenario_fmu_text(const char* path, yoke_messages* messages, char** text,
                                    size_t* n) {
  // its warnings are told when the unit is made
  yoke_messages told = {0};
  yoke_fmi_package* package = NULL;
  const yoke_status status = yoke__fmi_open(path, &told, &package);
  for (size_t i = 0; i < told.n && status < 0; i++) {
    yoke__messages_add(messages, &told.all[i]);
  }
  yoke__messages_free(&told);
  YOKE_TRY(status);
  double start = 0, stop = 1;
  char step[YOKE_NUMBER_SIZE], name[128], file[MAX_PATH];
  choose_times(&package->description->experiment, path, messages, &start, &stop, step, sizeof step);
  yoke__fmi_close(&package);
  yoke__scenario_unit_name(path, "fmu", name, sizeof name);
  const char* slash = strrchr(path, '/');

  // behind "folder/" there is nothing: the folder itself
  yoke__scenario_quote(slash == NULL      ? path
                       : slash[1] == '\0' ? "."
                                          : slash + 1,
                       file, sizeof file);

  // whole steps only
  char from[YOKE_NUMBER_SIZE], to[YOKE_NUMBER_SIZE];
  yoke__number_format(start, from);
  yoke__number_format(stop, to);
  const size_t room = strlen(file) + 512;
  *text = malloc(room);
  if (*text == NULL) {
    return YOKE_NO_MEMORY;
  }
  *n = (size_t)snprintf(*text, room,
                        "yoke: 1\nname: '%s'\ntime: {start: %s, stop: %s, step: %s}\n"
                        "units: {%s: {fmu: '%s'}}\n",
                        strcmp(file, ".") == 0 ? name : file, from, to, step, name, file);
  return YOKE_OK;
}
