// What was run and how it went: status, times, histogram of step times, settings, versions.
#include <string.h>

#include "base/base_message_json.h"
#include "base/base_version.h"
#include "report/report_parts.h"
#include "unit/circuit/unit_circuit.h"
#include "yoke/version.h"

#define MAX_SETTINGS_SIZE 200000u  // characters of the system file on the page

static const char* status_word(yoke_status status) {
  switch (status) {
  case YOKE_OK:
  case YOKE_LATE:
    return "done";
  case YOKE_ENDED:
    return "ended by a unit";
  case YOKE_STOPPED:
    return "stopped by a limit";
  case YOKE_INTERRUPTED:
    return "interrupted";
  default:
    return status < 0 ? "failed" : "done";
  }
}

static void put_times(const yoke_report_input* input, yoke_json* json) {
  const yoke_run_info* info = input->info;
  const double simulated = info->t_reached - input->system->t_start;
  yoke__json_begin_object(json, "run");
  yoke__json_string(json, "status", status_word(info->status));
  yoke__json_boolean(json, "is_failed", info->status < 0 && info->status != YOKE_INTERRUPTED);
  yoke__json_number(json, "t_start", input->system->t_start);
  yoke__json_number(json, "t_stop", input->system->t_stop);
  yoke__json_number(json, "t_reached", info->t_reached);
  yoke__json_integer(json, "n_steps", info->n_steps);
  yoke__json_number(json, "wall_s", info->wall_s);
  yoke__json_number(json, "real_time_factor", info->wall_s > 0 ? simulated / info->wall_s : 0);
  yoke__json_integer(json, "n_rows", (int64_t)info->record.n_rows);
  yoke__json_integer(json, "n_lost", (int64_t)info->record.n_lost);
  yoke__json_integer(json, "n_waits", (int64_t)info->record.n_waits);
  if (info->iteration.n_steps > 0) {
    yoke__json_number(json, "iterations",
                      (double)info->iteration.n_iterations / (double)info->iteration.n_steps);
    yoke__json_integer(json, "iterations_most", info->iteration.most);
    yoke__json_integer(json, "n_not_converged", info->iteration.n_not_converged);
  }
  yoke__json_end_object(json);
}

// Lower bound of a class of the histogram [ns]; see base/base_histogram.h: 16 per factor of two, below 16 ns one each.
static double class_bound(int i) {
  return i < 16 ? i : (double)(16 + i % 16) * (double)(INT64_C(1) << (i / 16 - 1));
}

static void put_classes(const yoke_histogram* h, yoke_json* json) {
  yoke__json_begin_array(json, "classes");
  for (int i = 0; i < YOKE_HISTOGRAM_SIZE - 1; i++) {
    if (h->counts[i] > 0) {
      yoke__json_number(json, NULL, class_bound(i));
      yoke__json_number(json, NULL, class_bound(i + 1));
      yoke__json_integer(json, NULL, h->counts[i]);
    }
  }
  yoke__json_end_array(json);
}

static void put_histogram(const yoke_histogram* h, yoke_json* json) {
  static const struct {
    const char* name;
    double share;
  } quantiles[] = {{"median", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}};
  yoke__json_begin_object(json, "step_ns");
  yoke__json_integer(json, "n", (int64_t)h->n);
  yoke__json_integer(json, "min", h->min);
  for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
    yoke__json_number(json, quantiles[i].name, yoke__histogram_quantile(h, quantiles[i].share));
  }
  yoke__json_integer(json, "max", h->max);
  put_classes(h, json);
  yoke__json_end_object(json);
}

// A file too long to be read on a page is left out; the page says how long it is.
static void put_settings(const char* text, yoke_json* json) {
  text = text == NULL ? "" : text;
  const size_t n = strlen(text);
  yoke__json_string(json, "settings", n > MAX_SETTINGS_SIZE ? "" : text);
  yoke__json_integer(json, "settings_size", (int64_t)n);
}

// The solver of a netlist on its own, and how it fared.
static void put_circuit(const yoke_report_input* input, yoke_json* json) {
  const yoke_unit* unit = &input->system->units[0].unit;
  yoke_unit_circuit_figures f;
  if (!input->is_circuit || !yoke__unit_circuit_figures(unit->ops, unit->self, &f)) {
    return;
  }
  yoke__json_begin_object(json, "circuit");
  yoke__json_string(json, "title", f.title == NULL ? "" : f.title);
  yoke__json_string(json, "formulation", f.formulation);
  yoke__json_string(json, "method", f.method);
  yoke__json_number(json, "step", f.step);
  yoke__json_integer(json, "fixed_iterations", f.iterations);
  yoke__json_integer(json, "n", f.n);
  yoke__json_integer(json, "n_states", f.p);
  yoke__json_integer(json, "n_solved", f.n_solved);
  yoke__json_integer(json, "n_factors", (int64_t)f.n_factors);
  yoke__json_integer(json, "n_bytes", (int64_t)f.n_bytes);
  yoke__json_boolean(json, "is_linear", f.is_linear);
  yoke__json_boolean(json, "is_constant", f.is_constant);
  yoke__json_integer(json, "n_steps", (int64_t)f.n_steps);
  yoke__json_integer(json, "n_stages", (int64_t)f.n_stages);
  yoke__json_integer(json, "n_iterations", (int64_t)f.n_iterations);
  yoke__json_integer(json, "max_iterations", f.max_iterations);
  yoke__json_integer(json, "n_unconverged", (int64_t)f.n_unconverged);
  yoke__json_integer(json, "n_refactors", (int64_t)f.n_refactors);
  yoke__json_integer(json, "n_repivots", (int64_t)f.n_repivots);
  yoke__json_integer(json, "n_switchings", (int64_t)f.n_switchings);
  yoke__json_end_object(json);
}

// Why it ended early, and what the units said of the run.
static void put_messages(const yoke_message* failure, const yoke_messages* messages,
                         yoke_json* json) {
  yoke__json_begin_array(json, "messages");
  if (failure->text != NULL) {
    yoke__message_json(failure, json);
  }
  for (size_t i = 0; messages != NULL && i < messages->n; i++) {
    yoke__message_json(&messages->all[i], json);
  }
  yoke__json_end_array(json);
}

void yoke__report_put_run(const yoke_report_input* input, yoke_json* json) {
  put_times(input, json);
  put_circuit(input, json);
  put_messages(&input->info->failure.message, input->messages, json);
  put_histogram(&input->info->step_ns, json);
  yoke__json_begin_object(json, "versions");
  yoke__json_string(json, "yoke", yoke_version());
  yoke__json_string(json, "commit", yoke__commit());
  yoke__json_string(json, "build", yoke__build());
  yoke__json_end_object(json);
  yoke__json_string(json, "command", input->command == NULL ? "" : input->command);
  put_settings(input->settings_text, json);
}
