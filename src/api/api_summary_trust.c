// "trust" of a summary, and the bands over time as a file.
#include <stdlib.h>

#include "api/api.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "base/base_text.h"
#include "record/record_summary.h"

#define COURSE_POINTS 201  // of a band over time, for plots

static void json_companion(const yoke_companion* c, yoke_json* json) {
  const yoke_companion_result* r = c->result;
  const size_t way = c->way < c->n_ways ? c->way : c->n_ways - 1;
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "name", c->name);
  yoke__json_string(json, "what", c->ways[way].what);
  yoke__json_string(
      json, "status",
      yoke__companion_status_names[c->is_left_out ? YOKE_COMPANION_LEFT_OUT : r->status]);
  yoke__json_boolean(json, "usable", c->is_usable);
  yoke__json_string(json, "why", c->why);
  yoke__json_integer(json, "calls", r->n_calls);
  yoke__json_number(json, "wall_s", r->wall_s);
  yoke__json_end_object(json);
}

static void json_growth(const yoke_trust_signal* s, yoke_json* json) {
  if (!s->growth.is_latched) {
    return;
  }
  yoke__json_begin_object(json, "growth");
  yoke__json_boolean(json, "active", s->growth.is_active);
  yoke__json_number(json, "factor", s->growth.factor);
  yoke__json_integer(json, "exchanges", s->growth.n);
  yoke__json_number(json, "from", s->growth_from_s);
  yoke__json_number(json, "to", s->growth_to_s);
  yoke__json_number(json, "rate", s->growth.rate);
  yoke__json_end_object(json);
}

static void json_course(const yoke_trust* trust, size_t i, yoke_json* json) {
  const int64_t n = trust->n_rows;
  double* bands = calloc((size_t)n + 1, sizeof *bands);
  if (bands != NULL && yoke__trust_course(trust, i, bands) >= 0) {
    const int64_t n_points = n < COURSE_POINTS ? n : COURSE_POINTS;
    yoke__json_begin_object(json, "course");
    yoke__json_begin_array(json, "t");
    for (int64_t k = 0; k < n_points; k++) {
      yoke__json_number(json, NULL,
                        yoke__trust_time(trust, n_points < 2 ? 0 : k * (n - 1) / (n_points - 1)));
    }
    yoke__json_end_array(json);
    yoke__json_begin_array(json, "band");
    for (int64_t k = 0; k < n_points; k++) {
      yoke__json_number(json, NULL, bands[n_points < 2 ? 0 : k * (n - 1) / (n_points - 1)]);
    }
    yoke__json_end_array(json);
    yoke__json_end_object(json);
  }
  free(bands);
}

static void json_signal(const yoke_trust* trust, size_t i, yoke_json* json) {
  const yoke_trust_signal* s = &trust->signals[i];
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "name", s->name);
  yoke__json_string(json, "unit", s->dim);
  yoke__json_string(json, "verdict", yoke__verdict_names[s->verdict]);
  yoke__json_string(json, "reason", s->reason);
  yoke__json_number(json, "band", s->band.band);
  yoke__json_number(json, "band_max", s->band.band_max);
  yoke__json_number(json, "at_time", yoke__trust_worst_time(trust, i));
  yoke__json_number(json, "relative", s->band.relative);
  yoke__json_number(json, "low", s->band.low);
  yoke__json_number(json, "low_relative", s->band.low_relative);
  yoke__json_integer(json, "digits", s->band.digits);
  yoke__json_boolean(json, "exact", s->band.is_exact);
  yoke__json_boolean(json, "estimated", s->band.has_estimate);
  yoke__json_number(json, "scale", s->band.scale);
  yoke__json_integer(json, "rule", s->rule);
  if (s->loop != YOKE_NOT_FOUND) {
    yoke__json_integer(json, "loop", (int64_t)s->loop);
  }
  yoke__json_boolean(json, "wanted", s->is_wanted);
  json_growth(s, json);
  json_course(trust, i, json);
  yoke__json_end_object(json);
}

static void json_loop(const yoke_trust* trust, size_t loop, yoke_json* json) {
  const yoke_trust_loop* l = &trust->loops[loop];
  const yoke_system* system = trust->system;
  yoke__json_begin_object(json, NULL);
  yoke__json_begin_array(json, "units");
  for (size_t i = 0; i < system->n_units; i++) {
    if (system->unit_loops[i] == loop) {
      yoke__json_string(json, NULL, system->units[i].name);
    }
  }
  yoke__json_end_array(json);
  yoke__json_string(json, "verdict", yoke__verdict_names[l->verdict]);
  yoke__json_string(json, "reason", l->reason == NULL ? "" : l->reason);
  yoke__json_string(json, "worst", l->worst == YOKE_NOT_FOUND ? "" : trust->signals[l->worst].name);
  yoke__json_end_object(json);
}

// The estimate of a run without companions.
static void json_online(const yoke_trust_online* online, yoke_json* json) {
  yoke_online_info info;
  yoke__trust_online_info(online, &info);
  if (info.n_estimated == 0) {
    return;
  }
  yoke__json_begin_object(json, "online");
  yoke__json_integer(json, "exchanges", info.n_exchanges);
  yoke__json_integer(json, "estimated", info.n_estimated);
  yoke__json_integer(json, "samples", info.n_samples);
  yoke__json_integer(json, "left_out", info.n_left_out);
  yoke__json_integer(json, "models", (int64_t)info.n_units);
  yoke__json_number(json, "residual", info.residual);
  yoke__json_end_object(json);
}

void yoke__api_json_trust(const yoke_trust* trust, yoke_json* json) {
  static const char* const modes[] = {"none", "file", "auto", "both", "half", "cheap"};
  yoke__json_begin_object(json, "trust");
  yoke__json_integer(json, "version", 1);
  yoke__json_string(json, "verdict", yoke__verdict_names[trust->run.verdict]);
  yoke__json_string(json, "reason", trust->run.reason);
  yoke__json_string(json, "mode", modes[trust->mode]);
  yoke__json_string(json, "left_out", trust->left_out);
  yoke__json_begin_array(json, "companions");
  for (size_t i = 0; i < YOKE_N_COMPANIONS; i++) {
    if (trust->companions[i].result != NULL) {
      json_companion(&trust->companions[i], json);
    }
  }
  yoke__json_end_array(json);
  if (trust->online != NULL) {
    json_online(trust->online, json);
  }
  yoke__json_begin_array(json, "signals");
  for (size_t i = 0; i < trust->n_signals; i++) {
    json_signal(trust, trust->ranked[i], json);
  }
  yoke__json_end_array(json);
  yoke__json_begin_array(json, "loops");
  for (size_t i = 0; i < trust->n_loops; i++) {
    json_loop(trust, i, json);
  }
  yoke__json_end_array(json);
  yoke__json_end_object(json);
}

// ---- bands over time

static void text_bands(const yoke_trust* trust, const double bands[], const bool has_band[],
                       yoke_text* text) {
  const size_t n_rows = (size_t)trust->n_rows;
  yoke__text_string(text, "time");
  for (size_t i = 0; i < trust->n_signals; i++) {
    if (has_band[i]) {
      char name[640];
      snprintf(name, sizeof name, "band.%s", trust->signals[i].name);
      yoke__text_string(text, ",");
      yoke__text_cell(text, name);
    }
  }
  for (size_t k = 0; k < n_rows; k++) {
    yoke__text_string(text, "\n");
    yoke__text_number(text, yoke__trust_time(trust, (int64_t)k));
    for (size_t i = 0; i < trust->n_signals; i++) {
      if (has_band[i]) {
        yoke__text_string(text, ",");
        yoke__text_number(text, bands[i * n_rows + k]);
      }
    }
  }
  yoke__text_string(text, "\n");
}

static yoke_status write_bands(const yoke_trust* trust, const char* directory,
                               const yoke_sink* sink) {
  const size_t n_rows = (size_t)trust->n_rows;
  double* bands = calloc(trust->n_signals * n_rows + 1, sizeof *bands);
  bool* has_band = calloc(trust->n_signals + 1, sizeof *has_band);
  yoke_text text = {0};
  yoke_status status = bands == NULL || has_band == NULL ? YOKE_NO_MEMORY : YOKE_OK;
  bool is_any = false;
  for (size_t i = 0; status >= 0 && i < trust->n_signals; i++) {
    has_band[i] = yoke__trust_course(trust, i, bands + i * n_rows) >= 0;
    is_any = is_any || has_band[i];
  }
  if (is_any) {
    text_bands(trust, bands, has_band, &text);
    status = text.status < 0
                 ? text.status
                 : yoke__os_write_into(directory, "bands.csv", text.bytes, text.n, sink);
  }
  if (status == YOKE_NO_MEMORY) {
    yoke_fail(sink, status, "bands.csv: %s", yoke_status_text(status));
  }
  yoke__text_free(&text);
  free(has_band);
  free(bands);
  return status;
}

yoke_status yoke__api_write_trust(yoke_simulation* simulation, const char* directory,
                                  const yoke_sink* sink) {
  yoke_status status = YOKE_OK;
  if (simulation->system->scenario->trust.is_bands) {
    status = write_bands(simulation->trust, directory, sink);
  }
  const yoke_status written = yoke__api_write_summary(simulation, directory, sink);
  return written < 0 ? written : status;
}
