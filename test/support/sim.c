// Helper of the master's tests; see sim.h.
#include "support/sim.h"

#include <string.h>

#include "support/check.h"

const oscillator_case LO1 = {0.0, ""};
const oscillator_case LO2 = {0.1, ""};
const oscillator_case NLO1 = {0.0, ", spring: square-root"};
const oscillator_case NLO2 = {0.001, ", damper: quadratic"};

yoke_status sim_try(const yoke_registry* models, const char* text, sim* out, char* messages,
                    size_t size) {
  yoke_messages list = {0};
  yoke_scenario* scenario = NULL;
  *out = (sim){0};
  yoke_status status =
      yoke__scenario_read(text, strlen(text), "test.yaml", NULL, 0, &list, &scenario);
  if (status >= 0) {
    status = yoke__system_build(scenario, models, &list, &out->system);
  }
  if (status >= 0) {
    status = yoke__master_create(out->system, &list, &out->state);
  }
  yoke__messages_format(&list, messages, size);
  yoke__messages_free(&list);
  if (status < 0) {
    sim_close(out);
  }
  return status;
}

sim sim_open(const char* format, ...) {
  static char text[1 << 16];
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  assert_true(n > 0 && (size_t)n < sizeof text);
  sim s;
  char messages[4096];
  if (sim_try(NULL, text, &s, messages, sizeof messages) < 0) {
    fail_msg("the system was refused:\n%s\n%s", messages, text);
  }
  return s;
}

void sim_close(sim* s) {
  if (s->system != NULL) {
    yoke__master_destroy(s->system, &s->state);
  }
  yoke__system_destroy(&s->system);
}

const char* sim_failure(const sim* s) {
  static char text[2048];
  text[0] = '\0';
  yoke_message_format(&s->state->failure.message, text, sizeof text);
  return text;
}

void sim_steps(sim* s, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const yoke_status status = yoke__master_step(s->system, s->state);
    if (status < 0) {
      fail_msg("step %lld failed: %s", (long long)i, sim_failure(s));
    }
  }
}

void sim_run(sim* s) {
  while (s->state->n_slots < s->system->n_slots) {
    sim_steps(s, 1);
  }
}

yoke_status sim_run_on(sim* s) {
  while (s->state->n_slots < s->system->n_slots) {
    YOKE_TRY(yoke__master_slot(s->system, s->state));
  }
  return YOKE_OK;
}

yoke_status sim_record(const sim* s, const yoke_record_settings* settings, yoke_loop_info* info) {
  *info = (yoke_loop_info){.t_reached = s->state->t};
  const yoke_sink sink = yoke__failure_sink(&info->failure);
  info->status =
      settings == NULL ? YOKE_OK : yoke__master_record_open(s->system, s->state, settings, &sink);
  if (info->status >= 0) {
    yoke__master_loop(s->system, s->state, &(yoke_loop_settings){0}, info);
  }
  if (s->state->record != NULL) {
    const yoke_status closed = yoke__record_close(&s->state->record, &info->record, &sink);
    info->status = closed < 0 ? closed : info->status;
  }
  return info->status;
}

size_t sim_index(const sim* s, const char* name) {
  const char* dot = strchr(name, '.');
  char unit[64];
  assert_non_null(dot);
  snprintf(unit, sizeof unit, "%.*s", (int)(dot - name), name);
  const size_t u = yoke__map_find(&s->system->unit_index, unit);
  size_t variable = 0, element = 0;
  if (u == YOKE_NOT_FOUND ||
      !yoke__unit_find_element(&s->system->units[u].unit, dot + 1, &variable, &element) ||
      s->system->units[u].unit.dense[variable] == YOKE_NOT_DENSE) {
    fail_msg("no output '%s'", name);
  }
  return s->system->units[u].y + s->system->units[u].unit.dense[variable] + element;
}

double sim_read(const sim* s, const char* name) {
  return s->state->y[sim_index(s, name)];
}

double sim_oscillator_energy(const sim* s, const oscillator_case* c) {
  const double e = fabs(sim_read(s, "left.x") - sim_read(s, "right.x"));
  const bool is_root = strstr(c->laws, "square-root") != NULL;
  const double coupling = is_root ? 2.0 / 3.0 * 100.0 * pow(e, 1.5) : 0.5 * 100.0 * e * e;
  return sim_read(s, "left.E") + sim_read(s, "right.E") + coupling;
}
