// Any bytes through the reader of journals: no crash, no read beyond the input, and every row it accepts is one that the
// writer could have written.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_message.h"
#include "study/study_journal.h"

#define N_AXES     1
#define N_MEASURES 2

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

static yoke_status look_at(void* context, const yoke_journal_row* row) {
  size_t* n_rows = context;
  (*n_rows)++;
  if (row->status <= YOKE_RUN_PENDING || row->status >= YOKE_RUN_N_STATUSES ||
      memchr(row->reason, '\n', strlen(row->reason)) != NULL || isinf(row->t) ||
      row->began >= YOKE_N_RUN_STATES || row->ended >= YOKE_N_RUN_STATES) {
    abort();
  }
  for (size_t i = 0; i < N_MEASURES; i++) {
    if (isinf(row->values[i])) {
      abort();
    }
  }
  return YOKE_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  YOKE_CATCH(err);
  char why[256], *identity = NULL;
  size_t n_rows = 0;
  yoke_journal_info info;
  const yoke_status status = yoke__journal_parse((const char*)bytes, n, N_AXES, N_MEASURES, look_at,
                                                 &n_rows, &identity, &info, &err.sink);
  if (status < 0) {
    if (err.text[0] == '\0' || identity != NULL) {
      abort();
    }
    return 0;
  }
  if (info.n_rows != n_rows || strlen(identity) > n) {
    abort();
  }
  yoke__journal_difference(identity, identity, why, sizeof why);
  yoke__journal_difference("yoke-study,2,vary=0", identity, why, sizeof why);
  free(identity);
  return 0;
}
