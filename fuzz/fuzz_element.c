// Any bytes as a coupling element: no crash, no read beyond the input; a refusal has a message; what is accepted
// meets its constraints, runs, and survives writing and reading again.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_message.h"
#include "synth/synth_element_file.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

static void demand(int is_true) {
  if (!is_true) {
    abort();
  }
}

static void check_design(const yoke_synth_design* d) {
  double misses[3];
  const yoke_synth_element* e = &d->element;
  demand(yoke__synth_settings_check(&d->settings, NULL) >= 0);
  demand(e->n == d->settings.order && e->n >= 1 && e->n <= YOKE_SYNTH_ORDER_MAX);
  if (d->settings.recipe == YOKE_RECIPE_GENERAL) {
    demand(e->filter.n == e->n && d->model.n == e->n && yoke__is_finite(d->model_gamma));
    demand(cabs(yoke__synth_filter_response(&e->filter, 1) - 1) <= 1e-9);
  } else {
    demand(e->filter.n == 0 && fabs(e->p) < 1 && yoke__are_finite(e->n + 1, e->c));
    yoke__synth_constraints(&d->settings, e->c, misses);
    demand(fabs(misses[0]) <= 1e-9 && fabs(misses[1]) <= 1e-9 && fabs(misses[2]) <= 1e-9);
  }
  demand(yoke__is_finite(d->gamma) && yoke__is_finite(d->largest_gain));
}

static void run(const yoke_synth_element* e) {
  yoke_synth_lead lead;
  yoke_synth_smoother smoother;
  yoke__synth_lead_start(e, 0, &lead);
  yoke__synth_smoother_start(e, 0, &smoother);
  for (int k = 0; k < 100; k++) {
    const double sent = yoke__synth_lead_step(e, &lead, k % 3);
    demand(yoke__is_finite(yoke__synth_smoother_step(e, &smoother, sent)));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  YOKE_CATCH(err);
  yoke_synth_design d, again;
  if (yoke__synth_element_parse((const char*)bytes, n, "file", &d, &err.sink) < 0) {
    demand(err.text[0] != '\0' && d.settings.order == 0);
    return 0;
  }
  check_design(&d);
  run(&d.element);
  yoke_json json = {0};
  demand(yoke__synth_element_format(&d, &json) >= 0);
  demand(yoke__synth_element_parse(json.text.bytes, json.text.n, "again", &again, &err.sink) >= 0);
  // numbers are written so that they read back to the same bits
  yoke_json second = {0};
  demand(yoke__synth_element_format(&again, &second) >= 0);
  demand(second.text.n == json.text.n &&
         memcmp(second.text.bytes, json.text.bytes, json.text.n) == 0);
  demand(again.gamma == d.gamma && again.direct_gain == d.direct_gain);
  yoke__json_free(&json);
  yoke__json_free(&second);
  return 0;
}
