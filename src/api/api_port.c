// The other end of a port: a unit of a system file, stepped by datagrams.
//
// Every run begins with a hello, which loads the unit anew, and ends with a stop, with another hello or with the process. Written
// against the public interface: what runs here is a system of one unit whose inputs are written from outside.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/base_arena.h"
#include "base/base_check.h"
#include "base/base_message.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "scenario/scenario.h"
#include "unit/port/port_carrier.h"
#include "unit/port/port_frame.h"
#include "unit/port/port_list.h"
#include "unit/port/unit_port.h"
#include "yoke/yoke.h"

#define WAIT_NS  100000000   // between two looks at who wants it to end
#define IDLE_NS  2000000000  // of a peer that has gone without a word: others may come then
#define MAX_TEXT 400

typedef struct server {
  const char* path;
  const yoke_load_settings* load;
  const yoke_serve_settings* settings;
  yoke_carrier* carrier;
  yoke_sink outer, sink;  // messages go to both
  char text[MAX_TEXT];    // the last error, for the peer
  // of the present run
  yoke_arena arena;
  yoke_simulation* simulation;
  const yoke_unit_info* info;
  yoke_port_list list;
  yoke_handle* handles;  // of sent, then received
  uint8_t *inputs, *outputs;
  uint64_t session, sequence;
  double t;
  size_t answer_size;  // bytes of the last answer, for who asks again
  uint8_t answer[YOKE_PORT_MAX_SIZE];
  uint64_t n_steps;
  int64_t heard_ns;  // when the peer was last heard
  bool is_over;
} server;

static void hear(void* to, const yoke_message* message) {
  server* s = to;
  if (message->severity == YOKE_ERROR) {
    snprintf(s->text, sizeof s->text, "%s%s%s", message->unit == NULL ? "" : message->unit,
             message->unit == NULL ? "" : ": ", message->text);
  }
  yoke_send(&s->outer, message);
}

// ---- one run

static void end_run(server* s) {
  yoke_simulation_destroy(&s->simulation);
  yoke__arena_free(&s->arena);
  s->arena = (yoke_arena){0};
  s->answer_size = 0;
}

static yoke_status load_unit(server* s, const yoke_port_frame* hello) {
  char start[64] = "time.start=";
  yoke__number_format(hello->t, start + strlen(start));
  const size_t n = s->load->n_sets;
  const char** sets = yoke__arena_array(&s->arena, n + 1, sizeof *sets);
  YOKE_TRY_MEMORY(sets);
  if (n > 0) {
    memcpy(sets, s->load->sets, n * sizeof *sets);
  }
  sets[n] = start;
  yoke_load_settings load = *s->load;
  load.sets = sets;
  load.n_sets = n + 1;
  load.sink = &s->sink;
  load.only = s->settings->unit == NULL ? "" : s->settings->unit;
  return yoke_simulation_load(s->path, &load, &s->simulation);
}

// The unit is the only one.
static void lay_handles(const server* s, const size_t variables[], size_t n, yoke_handle to[]) {
  for (size_t i = 0; i < n; i++) {
    const size_t count = yoke__variable_count(&s->info->variables[variables[i]]);
    to[i] = (yoke_handle){.unit = 0, .variable = (uint32_t)variables[i], .n = (uint32_t)count};
  }
}

static yoke_status lay_run(server* s) {
  yoke_unit_view view;
  YOKE_TRY(yoke_system_get_unit(yoke_simulation_system(s->simulation), 0, &view));
  s->info = view.info;
  YOKE_TRY(yoke__port_list_make(s->info, &s->arena, &s->list, &s->sink));
  const size_t n = s->list.n_sent + s->list.n_received;
  s->handles = yoke__arena_array(&s->arena, n + 1, sizeof *s->handles);
  s->inputs = yoke__arena_take(&s->arena, s->list.sent_size + 8);
  s->outputs = yoke__arena_take(&s->arena, s->list.received_size + 8);
  YOKE_TRY_MEMORY(s->handles && s->inputs && s->outputs);
  lay_handles(s, s->list.sent, s->list.n_sent, s->handles);
  lay_handles(s, s->list.received, s->list.n_received, s->handles + s->list.n_sent);
  return YOKE_OK;
}

// Inputs that have changed.
static yoke_status write_inputs(server* s, const uint8_t values[], bool is_first) {
  size_t at = 0;
  for (size_t i = 0; i < s->list.n_sent; i++) {
    const size_t size = yoke__variable_size(&s->info->variables[s->list.sent[i]]);
    if (is_first || memcmp(s->inputs + at, values + at, size) != 0) {
      memcpy(s->inputs + at, values + at, size);
      YOKE_TRY(yoke_simulation_write_value(s->simulation, s->handles[i], s->inputs + at, size));
    }
    at += size;
  }
  return YOKE_OK;
}

static yoke_status read_outputs(server* s) {
  size_t at = 0;
  for (size_t i = 0; i < s->list.n_received; i++) {
    const size_t size = yoke__variable_size(&s->info->variables[s->list.received[i]]);
    YOKE_TRY(yoke_simulation_read_value(s->simulation, s->handles[s->list.n_sent + i],
                                        s->outputs + at, size));
    at += size;
  }
  return YOKE_OK;
}

static void reply(server* s, const yoke_port_frame* to, yoke_port_kind kind, double t) {
  const bool is_fault = kind == YOKE_PORT_FAULT;
  const yoke_port_frame frame = {
      .kind = kind,
      .session = to->session,
      .sequence = to->sequence,
      .t = t,
      .sent_ns = (uint64_t)yoke__os_now_ns(),
      .echo_ns = to->sent_ns,
      .signals = s->list.fingerprint,
      .values = is_fault ? (const uint8_t*)s->text : s->outputs,
      .size = is_fault ? strlen(s->text) : s->list.received_size,
  };
  s->answer_size = yoke__port_write(&frame, s->answer, sizeof s->answer);
  (void)yoke__carrier_send(s->carrier, s->answer, s->answer_size);
}

static void refuse(server* s, const yoke_port_frame* to, yoke_status status) {
  if (s->text[0] == '\0') {
    snprintf(s->text, sizeof s->text, "%s", yoke_status_text(status));
  }
  reply(s, to, YOKE_PORT_FAULT, to->t);
}

static yoke_status begin_run(server* s, const yoke_port_frame* hello) {
  YOKE_TRY(load_unit(s, hello));
  YOKE_TRY(lay_run(s));
  if (hello->signals != s->list.fingerprint || hello->size != s->list.sent_size) {
    snprintf(s->text, sizeof s->text,
             "the signals of both ends differ: use the same system file, with the same settings");
    return YOKE_BAD_INPUT;
  }
  const yoke_unit* unit = &yoke_simulation_system(s->simulation)->units[0].unit;
  if (hello->echo_ns != yoke__port_list_settings(unit)) {
    snprintf(s->text, sizeof s->text,
             "the parameters of both ends differ: give --set to both, or to none");
    return YOKE_BAD_INPUT;
  }
  YOKE_TRY(write_inputs(s, hello->values, true));
  YOKE_TRY(yoke_simulation_start(s->simulation));
  return read_outputs(s);
}

static void take_hello(server* s, const yoke_port_frame* hello) {
  // asked again because the answer came late
  if (s->simulation != NULL && s->session == hello->session) {
    (void)yoke__carrier_send(s->carrier, s->answer, s->answer_size);
    return;
  }
  end_run(s);
  s->text[0] = '\0';
  s->session = hello->session;
  s->sequence = hello->sequence;
  s->t = hello->t;
  const yoke_status status = begin_run(s, hello);
  if (status < 0) {
    refuse(s, hello, status);
    end_run(s);
    yoke__carrier_forget(s->carrier);
  } else {
    reply(s, hello, YOKE_PORT_ANSWER, s->t);
  }
}

static yoke_status advance(server* s, const yoke_port_frame* step) {
  yoke_system_info info;
  YOKE_TRY(yoke_system_get_info(yoke_simulation_system(s->simulation), &info));
  if (step->h > info.step * (1 + 1e-9) || step->h < info.step * (1 - 1e-9)) {
    snprintf(s->text, sizeof s->text, "a step of %.9g s is asked for, the file says %.9g s",
             step->h, info.step);
    return YOKE_BAD_INPUT;
  }
  if (fabs(step->t - s->t) > 1e-3 * step->h) {
    snprintf(s->text, sizeof s->text,
             "the step begins at t = %.9g s, this end stands at %.9g s: a command was lost",
             step->t, s->t);
    return YOKE_BAD_INPUT;
  }
  YOKE_TRY(write_inputs(s, step->values, false));
  const yoke_status status = yoke_simulation_step(s->simulation);
  YOKE_TRY(status);
  s->t = yoke_simulation_time(s->simulation);
  s->n_steps++;
  return read_outputs(s);
}

static void take_step(server* s, const yoke_port_frame* step) {
  if (step->sequence == s->sequence) {
    (void)yoke__carrier_send(s->carrier, s->answer, s->answer_size);
    return;
  }
  if (step->sequence < s->sequence || step->size != s->list.sent_size ||
      step->signals != s->list.fingerprint) {
    return;  // overtaken by newer ones, or not ours
  }
  s->sequence = step->sequence;
  const yoke_status status = advance(s, step);
  if (status < 0) {
    refuse(s, step, status);
  } else {
    reply(s, step, YOKE_PORT_ANSWER, s->t);
  }
}

// ---- all of them

static void take(server* s, const yoke_datagram* datagram, size_t i) {
  yoke_port_frame frame;
  if (yoke__port_read(datagram->bytes, datagram->n, &frame) != YOKE_PORT_OK) {
    return;
  }
  const bool is_ours = s->simulation != NULL && frame.session == s->session;
  if (frame.kind == YOKE_PORT_HELLO) {
    yoke__carrier_adopt(s->carrier, i);
    take_hello(s, &frame);
  } else if (frame.kind == YOKE_PORT_STEP && is_ours) {
    yoke__carrier_adopt(s->carrier, i);  // it may have been silent for long
    take_step(s, &frame);
  } else if (frame.kind == YOKE_PORT_STOP && is_ours) {
    end_run(s);
    yoke__carrier_forget(s->carrier);
    s->is_over = s->settings->is_once;
  }
}

static bool is_wanted(const server* s) {
  return s->settings->progress == NULL ||
         s->settings->progress(s->settings->to, yoke__carrier_address(s->carrier), s->n_steps);
}

static void serve(server* s) {
  yoke_datagram arrived[YOKE_DATAGRAM_MOST];
  int64_t asked = 0;
  while (!s->is_over) {
    const int64_t now = yoke__os_now_ns();
    if (now - asked >= WAIT_NS) {
      if (!is_wanted(s)) {
        return;
      }
      asked = now;
    }
    if (now - s->heard_ns > IDLE_NS) {
      yoke__carrier_forget(s->carrier);
    }
    const size_t n = yoke__carrier_receive(s->carrier, WAIT_NS, arrived);
    s->heard_ns = n > 0 ? yoke__os_now_ns() : s->heard_ns;
    for (size_t i = 0; i < n && !s->is_over; i++) {
      take(s, &arrived[i], i);
    }
  }
}

// Where the file says that the other end is.
static yoke_status find_address(server* s, char to[], size_t size, yoke_carrier_kind* kind) {
  yoke_messages messages = {0};
  yoke_scenario* scenario = NULL;
  yoke_scenario_port port = {0};
  yoke_status status =
      yoke__scenario_read_file(s->path, s->load->sets, s->load->n_sets, &messages, &scenario);
  if (status >= 0) {
    status = yoke__scenario_keep_only(scenario, s->settings->unit == NULL ? "" : s->settings->unit,
                                      &messages, &port);
  }
  if (status >= 0) {
    snprintf(to, size, "%s", s->settings->bind == NULL ? port.peer : s->settings->bind);
    *kind = (yoke_carrier_kind)port.carrier;
  }
  yoke__messages_send(&messages, &s->outer);
  yoke__messages_free(&messages);
  yoke__scenario_free(&scenario);
  return status;
}

yoke_status yoke_port_serve(const char* path, const yoke_load_settings* load,
                            const yoke_serve_settings* settings) {
  static const yoke_load_settings no_load = {0};
  static const yoke_serve_settings no_settings = {0};
  if (path == NULL) {
    return YOKE_BAD_ARG;
  }
  server* s = calloc(1, sizeof *s);
  YOKE_TRY_MEMORY(s);
  char address[128] = "";
  yoke_carrier_kind kind = YOKE_CARRIER_UDP;
  s->path = path;
  s->load = load == NULL ? &no_load : load;
  s->settings = settings == NULL ? &no_settings : settings;
  s->outer = s->load->sink == NULL ? (yoke_sink){0} : *s->load->sink;
  s->sink = (yoke_sink){hear, s};
  yoke_status status = find_address(s, address, sizeof address, &kind);
  if (status >= 0) {
    status = yoke__carrier_open(kind, address, NULL, &s->carrier, &s->outer);
  }
  if (status >= 0) {
    serve(s);
  }
  end_run(s);
  yoke__carrier_close(&s->carrier);
  free(s);
  return status < 0 ? status : YOKE_OK;
}

yoke_status yoke_simulation_get_port(const yoke_simulation* simulation, size_t unit,
                                     yoke_port_info* out) {
  if (simulation == NULL || out == NULL || unit >= simulation->system->n_units) {
    return YOKE_BAD_ARG;
  }
  const yoke_unit* u = &simulation->system->units[unit].unit;
  return yoke__port_look(u->ops, u->self, out) ? YOKE_OK : YOKE_NO_SUPPORT;
}
