// Messages of a foreign binary: kept in fixed room, since they may come in the middle of a step, and reported when asked.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_message.h"
#include "unit/fmu/fmu.h"
#include "unit/unit.h"

// one line: control characters become spaces, ends are trimmed
static size_t tidy(const char* category, const char* text, char* to, size_t size) {
  char line[2048];
  const bool has_category = category != NULL && category[0] != '\0';
  snprintf(line, sizeof line, "%s%s%s", has_category ? category : "", has_category ? ": " : "",
           text == NULL ? "" : text);
  size_t n = 0;
  for (const char* c = line; *c != '\0' && n + 1 < size; c++) {
    const bool is_control = (unsigned char)*c < 0x20 || *c == 0x7f;
    if (!is_control) {
      to[n++] = *c;
    } else if (n > 0 && to[n - 1] != ' ') {
      to[n++] = ' ';
    }
  }
  while (n > 0 && to[n - 1] == ' ') {
    n--;
  }
  to[n] = '\0';
  return n;
}

void yoke__fmu_log_add(fmu_log* log, yoke_severity severity, const char* category,
                       const char* text) {
  if (severity == YOKE_NOTE && !log->is_verbose) {
    return;
  }
  char line[sizeof log->last];
  const size_t n = tidy(category, text, line, sizeof line);
  if (severity != YOKE_NOTE) {
    memcpy(log->last, line, n + 1);
  }
  if (log->used + n + 2 > sizeof log->text) {
    log->n_dropped++;
    return;
  }
  log->text[log->used] = (char)('0' + severity);
  memcpy(log->text + log->used + 1, line, n + 1);
  log->used += n + 2;
}

void yoke__fmu_log_report(fmu_log* log, const yoke_sink* sink) {
  yoke_message m = {.time = (double)NAN};
  for (size_t at = 0; at < log->used; at += strlen(log->text + at) + 1) {
    m.severity = (yoke_severity)(log->text[at] - '0');
    m.status = m.severity == YOKE_ERROR ? YOKE_UNIT_FAILED : YOKE_OK;
    m.text = log->text + at + 1;
    yoke_send(sink, &m);
  }
  if (log->n_dropped > 0) {
    yoke__notify(sink, YOKE_WARNING, "%zu more messages did not fit and are lost", log->n_dropped);
  }
  log->used = log->n_dropped = 0;
}

size_t yoke__fmu_log_categories(const yoke_fmi_description* d,
                                const char* names[FMU_N_STATUS_CATEGORIES]) {
  static const char* const known[FMU_N_STATUS_CATEGORIES] = {"logStatusWarning", "logStatusDiscard",
                                                             "logStatusError", "logStatusFatal"};
  size_t n = 0;
  for (size_t i = 0; i < FMU_N_STATUS_CATEGORIES; i++) {
    for (size_t k = 0; k < d->n_log_categories; k++) {
      if (strcmp(d->log_categories[k], known[i]) == 0) {
        names[n++] = known[i];
        break;
      }
    }
  }
  return n;
}
