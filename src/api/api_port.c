// The other end of a port: a unit of a system file, stepped by datagrams or by the clock.
//
// Every run begins with a hello, which loads the unit anew, and ends with a stop, with another hello or with the process. By the
// clock it begins to move with the first command, half a step later, so that neither end waits at the edge of the other's step;
// a bench that falls silent is answered by the safe actions of the file. Written against the public interface: what runs here is a
// system of one unit whose inputs are written from outside.
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

#define WAIT_NS   100000000   // between two looks at who wants it to end
#define IDLE_NS   2000000000  // of a peer that has gone without a word: others may come then
#define MAX_TEXT  400
#define MOST_TOLD 10  // runs in a row that could not begin
#define MOST_LOST 3   // steps without a command, by the clock, unless the file says otherwise
#define REST_NS   2000000000  // a machine with frames of its own comes to rest by itself in this time

typedef struct server {
  const char* path;
  const yoke_load_settings* load;
  const yoke_serve_settings* settings;
  yoke_carrier* carrier;
  yoke_scenario_port port;  // of the file; its texts are not used
  yoke_sink outer, sink;    // messages go to both
  char text[MAX_TEXT];      // the last error, for the peer
  // of the present run
  yoke_arena arena;
  yoke_simulation* simulation;
  const yoke_unit_info* info;
  const yoke_unit_frames* frames;  // of the machine; NULL: variables travel
  void* machine;
  yoke_port_list list;
  yoke_handle* handles;  // of sent, then received
  uint8_t *inputs, *outputs;
  uint64_t session, sequence;
  double t;
  size_t answer_size;  // bytes of the last answer, for who asks again
  uint8_t answer[YOKE_PORT_MAX_SIZE];
  uint64_t n_steps;
  uint64_t n_bad_runs;  // that could not begin
  uint64_t n_refused;   // datagrams of the peer that are damaged, cut or none of ours
  int64_t heard_ns;     // when the peer was last heard
  bool is_over;
  yoke_status recorded;  // of all runs: the first that could not be written
  // by the clock
  uint64_t cycle, echo_ns;  // of answers: their number; the clock of the newest command
  double period, pace;      // step [s]; seconds of the unit per second
  bool is_moved;            // a run by the clock has read on: what was received before is gone
  bool is_ending;           // no command counts any more
  bool is_lost;             // the bench has gone without a word
  yoke_port_datagram arrived[YOKE_PORT_MOST_DATAGRAMS];
} server;

static void hear(void* to, const yoke_message* message) {
  server* s = to;
  if (message->severity == YOKE_ERROR) {
    snprintf(s->text, sizeof s->text, "%s%s%s", message->unit == NULL ? "" : message->unit,
             message->unit == NULL ? "" : ": ", message->text);
  }
  if (s->n_bad_runs < MOST_TOLD) {
    yoke_send(&s->outer, message);
  }
}

// ---- one run

static void end_run(server* s) {
  const yoke_status status = yoke_simulation_record_stop(s->simulation, NULL);
  if (s->simulation != NULL && s->settings->directory != NULL && s->recorded >= 0) {
    s->recorded = status;
  }
  yoke_simulation_destroy(&s->simulation);
  yoke__arena_free(&s->arena);
  s->arena = (yoke_arena){0};
  s->answer_size = 0;
}

// hello NULL: at the start time of the file.
static yoke_status load_unit(server* s, const yoke_port_frame* hello) {
  char start[64] = "time.start=", stop[64] = "time.stop=";
  yoke__number_format(hello == NULL ? 0 : hello->t, start + strlen(start));
  yoke__number_format(hello == NULL ? 0 : hello->h, stop + strlen(stop));
  const size_t n = s->load->n_sets;
  const char** sets = yoke__arena_array(&s->arena, n + 2, sizeof *sets);
  YOKE_TRY_MEMORY(sets);
  if (n > 0) {
    memcpy(sets, s->load->sets, n * sizeof *sets);
  }
  sets[n] = start;
  sets[n + 1] = stop;
  yoke_load_settings load = *s->load;
  load.sets = sets;
  load.n_sets = n + (hello == NULL ? 0 : hello->h > hello->t ? 2 : 1);
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
  const yoke_unit* unit = &yoke_simulation_system(s->simulation)->units[0].unit;
  s->frames = s->port.protocol == YOKE_PORT_FRAMES ? unit->ops->frames : NULL;
  s->machine = unit->self;
  if (s->frames != NULL) {
    s->frames->play(s->machine, YOKE_END_MACHINE);
  }
  YOKE_TRY(yoke__port_list_make(s->info, s->frames == NULL ? 0 : YOKE_VARIABLE_UNSEEN, &s->arena,
                                &s->list, &s->sink));
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

// All reports of one step, each behind its size in two bytes.
static size_t pack_reports(server* s, uint8_t to[], size_t room) {
  size_t at = 0, n = 0;
  while (room - at > 2 && (n = s->frames->report(s->machine, to + at + 2, room - at - 2)) > 0) {
    to[at] = (uint8_t)(n & 0xff);
    to[at + 1] = (uint8_t)(n >> 8);
    at += n + 2;
  }
  return at;
}

static void send_values(server* s, const yoke_port_frame* to, yoke_port_kind kind, double t,
                        const uint8_t values[], size_t size) {
  const yoke_port_frame frame = {
      .kind = kind,
      .session = to->session,
      .sequence = to->sequence,
      .t = t,
      .sent_ns = (uint64_t)yoke__os_now_ns(),
      .echo_ns = to->sent_ns,
      .signals = s->list.fingerprint,
      .values = values,
      .size = size,
  };
  s->answer_size = yoke__port_write(&frame, s->answer, sizeof s->answer);
  (void)yoke__carrier_send(s->carrier, s->answer, s->answer_size);
}

static void reply(server* s, const yoke_port_frame* to, yoke_port_kind kind, double t) {
  if (kind == YOKE_PORT_FAULT) {
    send_values(s, to, kind, t, (const uint8_t*)s->text, strlen(s->text));
  } else if (s->frames != NULL && to->kind == YOKE_PORT_STEP) {
    uint8_t reports[YOKE_PORT_MAX_SIZE - YOKE_PORT_HEAD_SIZE];
    const size_t n = pack_reports(s, reports, sizeof reports);
    send_values(s, to, kind, t, reports, n);
  } else {
    send_values(s, to, kind, t, s->outputs, s->list.received_size);
  }
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
  const yoke_unit* unit = &yoke_simulation_system(s->simulation)->units[0].unit;
  const bool is_paced = s->port.clock == YOKE_PORT_PACED;
  if (hello->echo_ns != yoke__port_list_settings(unit, is_paced, s->frames != NULL)) {
    snprintf(s->text, sizeof s->text,
             "the parameters of both ends differ, or their clock or protocol: give --set to both, "
             "or to none");
    return YOKE_BAD_INPUT;
  }
  if (hello->signals != s->list.fingerprint || hello->size != s->list.sent_size) {
    snprintf(s->text, sizeof s->text,
             "the signals of both ends differ: use the same system file, with the same settings");
    return YOKE_BAD_INPUT;
  }
  yoke_system_info about;
  YOKE_TRY(yoke_system_get_info(yoke_simulation_system(s->simulation), &about));
  s->period = about.step;
  YOKE_TRY(write_inputs(s, hello->values, true));
  YOKE_TRY(yoke_simulation_start(s->simulation));
  if (s->settings->directory != NULL) {
    const yoke_record_settings record = {.directory = s->settings->directory};
    YOKE_TRY(yoke_simulation_record(s->simulation, &record));
  }
  return read_outputs(s);
}

// What is wrong with the unit is said at once, not to the first one who says hello. A real machine is not started for that.
static yoke_status try_unit(server* s) {
  yoke_status status = load_unit(s, NULL);
  status = status < 0 ? status : lay_run(s);
  if (status >= 0 && (s->info->flags & YOKE_UNIT_PHYSICAL) == 0) {
    status = yoke_simulation_start(s->simulation);
  }
  end_run(s);
  return status;
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
  s->cycle = 0;
  s->is_ending = false;
  s->t = hello->t;
  const yoke_status status = begin_run(s, hello);
  s->n_bad_runs = status < 0 ? s->n_bad_runs + 1 : 0;
  if (status < 0) {
    if (s->n_bad_runs == MOST_TOLD) {
      yoke__notify(&s->outer, YOKE_WARNING,
                   "%d runs in a row could not begin: the next ones are told to their bench only",
                   MOST_TOLD);
    }
    refuse(s, hello, status);
    end_run(s);
    yoke__carrier_forget(s->carrier);
  } else {
    reply(s, hello, YOKE_PORT_ANSWER, s->t);
  }
}

static bool has_length(server* s, const yoke_port_frame* step) {
  const bool is_right = step->h <= s->period * (1 + 1e-9) && step->h >= s->period * (1 - 1e-9);
  if (!is_right) {
    snprintf(s->text, sizeof s->text, "a step of %.9g s is asked for, the file says %.9g s",
             step->h, s->period);
  }
  return is_right;
}

static yoke_status advance(server* s, const yoke_port_frame* step) {
  if (!has_length(s, step)) {
    return YOKE_BAD_INPUT;
  }
  if (fabs(step->t - s->t) > 1e-3 * step->h) {
    snprintf(s->text, sizeof s->text,
             "the step begins at t = %.9g s, this end stands at %.9g s: a command was lost",
             step->t, s->t);
    return YOKE_BAD_INPUT;
  }
  if (s->frames == NULL) {
    YOKE_TRY(write_inputs(s, step->values, false));
  } else if (step->size > 0) {
    s->n_refused +=
        s->frames->take_command(s->machine, step->values, step->size) == YOKE_TAKEN_REFUSED;
  }
  const yoke_status status = yoke_simulation_step(s->simulation);
  YOKE_TRY(status);
  s->t = yoke_simulation_time(s->simulation);
  s->n_steps++;
  return read_outputs(s);
}

static bool is_sound(const server* s, const yoke_port_frame* step) {
  return step->signals == s->list.fingerprint &&
         (s->frames != NULL || step->size == s->list.sent_size);
}

static void take_step(server* s, const yoke_port_frame* step) {
  if (step->sequence == s->sequence) {
    (void)yoke__carrier_send(s->carrier, s->answer, s->answer_size);
    return;
  }
  if (step->sequence < s->sequence || !is_sound(s, step)) {
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

static bool is_wanted(const server* s) {
  return s->settings->progress == NULL ||
         s->settings->progress(s->settings->to, yoke__carrier_address(s->carrier), s->n_steps);
}

// ---- a run by the clock

static void send_outputs(server* s) {
  if (s->frames != NULL) {
    uint8_t report[YOKE_PORT_MAX_SIZE];
    // nobody reads them any more once the bench has told the end
    for (size_t n = 0; (n = s->frames->report(s->machine, report, sizeof report)) > 0;) {
      (void)(s->is_ending || yoke__carrier_send(s->carrier, report, n));
    }
    return;
  }
  const yoke_port_frame to = {.session = s->session, .sequence = ++s->cycle, .sent_ns = s->echo_ns};
  if (read_outputs(s) >= 0) {
    send_values(s, &to, YOKE_PORT_ANSWER, yoke_simulation_time(s->simulation), s->outputs,
                s->list.received_size);
  }
}

// A datagram of the machine's own frames, or one that is damaged.
static bool take_frames(server* s, const yoke_port_datagram* datagram) {
  if (s->is_ending) {
    return false;
  }
  const yoke_taken taken = s->frames == NULL
                               ? YOKE_TAKEN_REFUSED
                               : s->frames->take_command(s->machine, datagram->bytes, datagram->n);
  s->n_refused += taken == YOKE_TAKEN_REFUSED;
  s->heard_ns = taken == YOKE_TAKEN ? yoke__os_now_ns() : s->heard_ns;
  return taken == YOKE_TAKEN;
}

static bool take_inputs(server* s, const yoke_port_frame* step) {
  if (s->frames != NULL || s->is_ending || step->sequence <= s->sequence || !is_sound(s, step)) {
    return false;
  }
  if (!has_length(s, step)) {
    refuse(s, step, YOKE_BAD_INPUT);
    s->is_ending = true;
    return false;
  }
  s->sequence = step->sequence;
  s->echo_ns = step->sent_ns;
  s->heard_ns = yoke__os_now_ns();
  return write_inputs(s, step->values, false) >= 0;
}

// True: it is a command, and it counts.
static bool take_command(server* s, const yoke_port_datagram* datagram) {
  yoke_port_frame frame;
  if (yoke__port_read(datagram->bytes, datagram->n, &frame) != YOKE_PORT_OK) {
    return take_frames(s, datagram);
  }
  const bool is_present = frame.session == s->session;
  if (frame.kind == YOKE_PORT_STEP && is_present) {
    return take_inputs(s, &frame);
  }
  if (frame.kind == YOKE_PORT_HELLO && is_present) {
    (void)yoke__carrier_send(s->carrier, s->answer, s->answer_size);
  } else if (frame.kind == YOKE_PORT_HELLO || (frame.kind == YOKE_PORT_STOP && is_present)) {
    s->is_ending = true;
  }
  return false;
}

// A bench without a word for too long. A machine with frames of its own has a timeout of its own; it is given time for it.
static bool is_silent(const server* s, int64_t now) {
  const double period_ns = 1e9 * s->period / s->pace;
  const int64_t most = s->port.most_lost > 0 ? s->port.most_lost : MOST_LOST;
  const int64_t allowed = s->frames != NULL ? REST_NS : (int64_t)(((double)most + 0.5) * period_ns);
  return now - s->heard_ns > allowed;
}

// When a step is released: what the unit has reached goes out, the newest command comes in.
static bool exchange(void* to) {
  server* s = to;
  send_outputs(s);
  const size_t n = yoke__carrier_receive(s->carrier, 0, s->arrived);
  for (size_t i = 0; i < n; i++) {
    (void)take_command(s, &s->arrived[i]);
  }
  s->n_steps++;
  s->is_lost = s->is_lost || is_silent(s, yoke__os_now_ns());
  return !s->is_over && !s->is_lost && !(s->is_ending && s->frames == NULL);
}

// Also between two steps, which may be far apart.
static bool watch(void* to, const yoke_progress* progress) {
  server* s = to;
  (void)progress;
  s->is_over = s->is_over || !is_wanted(s);
  return !s->is_over;
}

static void wait_half_a_step(server* s) {
  const int64_t end = yoke__os_now_ns() + (int64_t)(0.5e9 * s->period / s->pace);
  for (int64_t left = 0; (left = end - yoke__os_now_ns()) > 0 && watch(s, NULL);) {
    yoke__os_sleep_ns(left < WAIT_NS ? left : WAIT_NS);
  }
}

static void run_by_clock(server* s) {
  const yoke_run_settings run = {.pace = s->pace, .progress = watch, .each = exchange, .to = s};
  s->heard_ns = yoke__os_now_ns();
  s->is_lost = false;
  s->simulation->rank = 1;  // on one machine the bench has the last processor
  wait_half_a_step(s);
  const yoke_status status = yoke_simulation_run(s->simulation, &run, NULL);
  if (status < 0 && status != YOKE_INTERRUPTED) {
    const yoke_port_frame to = {.session = s->session, .sequence = s->sequence};
    refuse(s, &to, status);
  } else if (s->is_lost && !s->is_ending) {
    yoke__notify(&s->outer, YOKE_WARNING,
                 "the bench fell silent at t = %.9g s: the unit was stopped here",
                 yoke_simulation_time(s->simulation));
  }
  end_run(s);
  yoke__carrier_forget(s->carrier);
  s->is_moved = true;
  s->is_over = s->is_over || s->settings->is_once;
}

// ---- all of them

static void take(server* s, const yoke_port_datagram* datagram, size_t i) {
  yoke_port_frame frame;
  const bool is_port = yoke__port_read(datagram->bytes, datagram->n, &frame) == YOKE_PORT_OK;
  const bool is_ours = s->simulation != NULL && is_port && frame.session == s->session;
  const bool is_command = s->simulation != NULL && s->port.clock == YOKE_PORT_PACED &&
                          (is_ours ? frame.kind == YOKE_PORT_STEP : !is_port && s->frames != NULL);
  if (is_command) {
    if (take_command(s, datagram)) {
      run_by_clock(s);
    }
  } else if (is_port && frame.kind == YOKE_PORT_HELLO) {
    yoke__carrier_adopt(s->carrier, i);
    take_hello(s, &frame);
  } else if (!is_port) {
    s->n_refused++;
  } else if (frame.kind == YOKE_PORT_STEP && is_ours) {
    yoke__carrier_adopt(s->carrier, i);  // it may have been silent for long
    take_step(s, &frame);
  } else if (frame.kind == YOKE_PORT_STOP && is_ours) {
    end_run(s);
    yoke__carrier_forget(s->carrier);
    s->is_over = s->settings->is_once;
  }
}

static void serve(server* s) {
  yoke_port_datagram arrived[YOKE_PORT_MOST_DATAGRAMS];
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
    s->is_moved = false;
    for (size_t i = 0; i < n && !s->is_over && !s->is_moved; i++) {
      take(s, &arrived[i], i);
    }
  }
}

// What came and was none of a run's business, said once.
static void report_odd(const server* s) {
  const yoke_carrier_counts counts = yoke__carrier_count(s->carrier);
  const uint64_t n_refused = s->n_refused + counts.n_cut;
  if (n_refused + counts.n_foreign + counts.n_overflow > 0) {
    yoke__notify(&s->outer, YOKE_WARNING,
                 "%llu datagrams were damaged, %llu came from elsewhere, %llu were not read in "
                 "time",
                 (unsigned long long)n_refused, (unsigned long long)counts.n_foreign,
                 (unsigned long long)counts.n_overflow);
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
    s->port = port;
    s->pace = s->settings->pace > 0       ? s->settings->pace
              : scenario->pacing.is_given ? scenario->pacing.factor
                                          : 1;
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
    status = try_unit(s);
  }
  if (status >= 0) {
    serve(s);
    (void)is_wanted(s);  // the last number of steps
    report_odd(s);
  }
  end_run(s);
  status = status < 0 ? status : s->recorded;
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
