// Any bytes through the JSON reader: no crash, no read beyond the input; what it accepts, written and
// read again, is the same tree. What is taken for a summary.json
// names columns for every component of its bonds.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_json.h"
#include "base/base_json_read.h"
#include "base/base_message.h"
#include "quality/quality_summary.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

static void check_summary(const char* bytes, size_t n) {
  YOKE_CATCH(err);
  yoke_arena arena = {0};
  yoke_summary summary;
  const yoke_status status = yoke__summary_parse(bytes, n, &arena, &summary, &err.sink);
  if (status < 0 && err.text[0] == '\0') {
    abort();
  }
  for (size_t i = 0; status >= 0 && i < summary.n_bonds; i++) {
    const yoke_summary_bond* bond = &summary.bonds[i];
    for (size_t k = 0; k < bond->n; k++) {
      if (strlen(bond->components[k].columns[YOKE_E_OUT]) == 0 ||
          strlen(bond->components[k].columns[YOKE_F_OUT]) == 0) {
        abort();
      }
    }
  }
  yoke__arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  YOKE_CATCH(err);
  json_t *root = NULL, *again = NULL;
  if (yoke__json_parse((const char*)bytes, n, &root, &err.sink) < 0) {
    if (err.text[0] == '\0' || root != NULL) {
      abort();
    }
    return 0;
  }
  yoke_json json = {0};
  yoke__json_value(&json, NULL, root);
  // the writer does not go as deep as the reader
  if (yoke__json_finish(&json) >= 0 &&
      (yoke__json_parse(json.text.bytes, json.text.n, &again, &err.sink) < 0 ||
       json_equal(root, again) == 0)) {
    abort();
  }
  check_summary((const char*)bytes, n);
  yoke__json_free(&json);
  json_decref(root);
  json_decref(again);
  return 0;
}
