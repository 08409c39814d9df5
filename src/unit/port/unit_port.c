// A unit at the other end of a port; see unit_port.h.
#include "unit/port/unit_port.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_histogram.h"
#include "base/base_message.h"
#include "base/base_os.h"
#include "unit/port/port_carrier.h"
#include "unit/port/port_frame.h"
#include "unit/port/port_list.h"
#include "unit/unit.h"

#define TIMEOUT_S   1.0
#define HELLO_S     10.0
#define HELLO_EVERY 200000000  // [ns] between two of them
#define MOST_LOST   3
#define MAX_FRAMES  1400  // bytes of a machine's own datagram: one packet of Ethernet
#define MAX_REASON  256

// The table, and what belongs to it.
typedef struct port_table {
  yoke_unit_ops ops;
  const yoke_unit_ops* inner;
  yoke_port_settings settings;
} port_table;

// An input with limits: where it lies among what is sent, and what it was.
typedef struct port_limit {
  size_t at, n;     // bytes; numbers
  size_t variable;  // of the inner unit
  const yoke_port_bounds* bounds;
  double* last;
} port_limit;

typedef struct port {
  const port_table* table;
  yoke_arena arena;
  yoke_unit inner;  // describes it, keeps parameters and start values; never stepped
  yoke_unit_info info;
  size_t* inner_of;                // per variable: its number in `inner`
  const yoke_unit_frames* frames;  // of the machine; NULL: variables travel as they are
  yoke_port_list list;
  yoke_carrier* carrier;
  uint64_t session, sequence;
  uint64_t heard;                     // number of the newest answer, where both follow the clock
  double t_start, t_stop, stamp;      // [s]; stamp: of the last answer
  double t;                           // end of the last step [s]
  uint8_t *sent, *received;           // values
  uint8_t* packed;                    // what is sent, as it travels: `sent` itself, or made from it
  size_t packed_size, received_size;  // bytes of values on the way
  uint8_t* bytes;                     // one datagram
  yoke_port_datagram* arrived;        // YOKE_PORT_MOST_DATAGRAMS
  port_limit* limits;
  size_t n_limits;
  size_t* places;  // per variable: where its value lies in `received`, or YOKE_NOT_FOUND
  int64_t n_lost_in_a_row;
  uint64_t n_told;  // of what is odd
  bool is_running;
  bool is_stopped;   // the end of the run has been told
  bool is_heard;     // by the clock: the first answer has come
  int64_t begun_ns;  // by the clock: the first step
  int64_t least_ns;  // shortest way here, by two clocks that may differ
  yoke_port_info counts;
  yoke_histogram round_trips, jitters;
  char reason[MAX_REASON];
} port;

// ---- values

// One number held in its range, and from moving faster than its slope. h: since the last one; 0: it is the first.
static double clip(const yoke_port_bounds* b, double value, double last, double h) {
  if (h > 0) {
    value = fmin(fmax(value, last - b->slope * h), last + b->slope * h);
  }
  return fmin(fmax(value, b->min), b->max);
}

static void limit_sent(port* p, double h) {
  for (size_t i = 0; i < p->n_limits; i++) {
    const port_limit* limit = &p->limits[i];
    for (size_t k = 0; k < limit->n; k++) {
      uint8_t* at = p->sent + limit->at + k * sizeof(double);
      double value = 0;
      memcpy(&value, at, sizeof value);
      const double sent = clip(limit->bounds, value, limit->last[k], h);
      p->counts.n_clipped += sent != value;
      memcpy(at, &sent, sizeof sent);
      limit->last[k] = sent;
    }
  }
}

// The values that go out, as the inner unit has them.
static yoke_status gather(port* p, double h) {
  uint8_t* to = p->sent;
  for (size_t i = 0; i < p->list.n_sent; i++) {
    const size_t v = p->list.sent[i], size = yoke__variable_size(&p->info.variables[v]);
    YOKE_TRY(yoke__unit_get(&p->inner, p->inner_of[v], to, size));
    to += size;
  }
  limit_sent(p, h);
  // frames are made by the unit itself, from what it may send
  for (size_t i = 0; p->frames != NULL && i < p->n_limits; i++) {
    const port_limit* limit = &p->limits[i];
    YOKE_TRY(yoke__unit_set(&p->inner, limit->variable, limit->last, limit->n * sizeof(double)));
  }
  if (p->table->settings.signals != NULL) {
    const yoke_port_signals* s = p->table->settings.signals;
    yoke__wire_pack(s->sent, s->n_sent, p->sent, p->packed, &p->counts.n_clipped);
  }
  return YOKE_OK;
}

// The values of an answer. False: they cannot be.
static bool spread(port* p, const yoke_port_frame* frame) {
  const yoke_port_signals* s = p->table->settings.signals;
  if (frame->size != p->received_size) {
    return false;
  }
  if (s != NULL) {
    return yoke__wire_unpack(s->received, s->n_received, frame->values, p->received);
  }
  if (frame->size > 0) {
    memcpy(p->received, frame->values, frame->size);
  }
  return true;
}

// A machine need not know it: 0 is not checked.
static bool is_same_list(const port* p, uint64_t fingerprint) {
  return fingerprint == p->list.fingerprint ||
         (fingerprint == 0 && p->table->settings.signals != NULL);
}

// ---- exchange

static uint64_t settings_of(const port* p) {
  const yoke_port_settings* s = &p->table->settings;
  return yoke__port_list_settings(&p->inner, s->is_paced, s->has_frames);
}

static bool send_bytes(port* p, yoke_port_kind kind, double t, double h, const uint8_t values[],
                       size_t size) {
  const yoke_port_frame frame = {
      .kind = kind,
      .session = p->session,
      .sequence = p->sequence,
      .t = t,
      .h = h,
      .sent_ns = (uint64_t)yoke__os_now_ns(),
      .echo_ns = kind == YOKE_PORT_HELLO ? settings_of(p) : 0,
      .signals = p->list.fingerprint,
      .values = values,
      .size = size,
  };
  const size_t n = yoke__port_write(&frame, p->bytes, YOKE_PORT_MAX_SIZE);
  return n > 0 && yoke__carrier_send(p->carrier, p->bytes, n);
}

static bool send_frame(port* p, yoke_port_kind kind, double t, double h) {
  return send_bytes(p, kind, t, h, p->packed, kind == YOKE_PORT_STOP ? 0 : p->packed_size);
}

// Frames go alone where both ends follow the clock, and in a step where the other end waits for it.
static void send_step(port* p, double t, double h) {
  uint8_t own[MAX_FRAMES];
  if (p->frames == NULL) {
    (void)send_frame(p, YOKE_PORT_STEP, t, h);
    return;
  }
  const size_t n = p->frames->command(p->inner.self, t, h, own, sizeof own);
  if (!p->table->settings.is_paced) {
    (void)send_bytes(p, YOKE_PORT_STEP, t, h, own, n);
  } else if (n > 0) {
    (void)yoke__carrier_send(p->carrier, own, n);
  }
}

typedef enum answer { NO_ANSWER, ANSWERED, REFUSED } answer;

static answer take_fault(port* p, const yoke_port_frame* frame) {
  const int n = (int)(frame->size < MAX_REASON - 64 ? frame->size : MAX_REASON - 64);
  snprintf(p->reason, sizeof p->reason, "the other end says: %.*s", n, (const char*)frame->values);
  return REFUSED;
}

// One report of the machine, in its own frames.
static answer take_report(port* p, const uint8_t bytes[], size_t n) {
  const yoke_taken taken = p->frames->take_report(p->inner.self, bytes, n);
  p->counts.n_stale += taken == YOKE_TAKEN_OLD;
  p->counts.n_refused += taken == YOKE_TAKEN_REFUSED;
  return taken == YOKE_TAKEN ? ANSWERED : NO_ANSWER;
}

// The reports of one step: each behind its size in two bytes.
static void take_reports(port* p, const yoke_port_frame* frame) {
  for (size_t at = 0; at + 2 <= frame->size;) {
    const size_t n = frame->values[at] | (size_t)frame->values[at + 1] << 8;
    at += 2;
    if (n > frame->size - at) {
      p->counts.n_refused++;
      return;
    }
    (void)take_report(p, frame->values + at, n);
    at += n;
  }
}

// Time since a moment that the other end names, which may be any number: held where differences of two cannot overflow.
static int64_t time_since(int64_t now_ns, uint64_t then_ns) {
  const int64_t most = INT64_C(1) << 61, ns = (int64_t)((uint64_t)now_ns - then_ns);
  return ns > most ? most : ns < -most ? -most : ns;
}

static void note_times(port* p, const yoke_port_frame* frame) {
  const int64_t now = yoke__os_now_ns(), way = time_since(now, frame->sent_ns);
  p->least_ns = p->round_trips.n == 0 || way < p->least_ns ? way : p->least_ns;
  yoke__histogram_add(&p->round_trips, time_since(now, frame->echo_ns));
  yoke__histogram_add(&p->jitters, way - p->least_ns);
}

// By the clock answers come when they come: the newest counts.
static answer take_newest(port* p, const yoke_port_frame* frame) {
  if (frame->sequence <= p->heard) {
    p->counts.n_duplicate += frame->sequence == p->heard;
    p->counts.n_stale += frame->sequence < p->heard;
    return NO_ANSWER;
  }
  if (!spread(p, frame)) {
    p->counts.n_refused++;
    return NO_ANSWER;
  }
  p->counts.n_missing += frame->sequence - p->heard - 1;
  p->heard = frame->sequence;
  p->stamp = frame->t;
  note_times(p, frame);
  return ANSWERED;
}

// One datagram from the peer.
static answer take_frame(port* p, const yoke_port_datagram* datagram) {
  const bool is_paced = p->table->settings.is_paced && p->is_running;
  yoke_port_frame frame;
  const yoke_port_reason found = yoke__port_read(datagram->bytes, datagram->n, &frame);
  if (is_paced && p->frames != NULL && found != YOKE_PORT_OK) {
    return take_report(p, datagram->bytes, datagram->n);
  }
  if (found != YOKE_PORT_OK) {
    p->counts.n_refused++;
    return NO_ANSWER;
  }
  if (frame.session != p->session || (!is_paced && frame.sequence != p->sequence)) {
    p->counts.n_stale++;
    return NO_ANSWER;
  }
  if (frame.kind == YOKE_PORT_FAULT) {
    return take_fault(p, &frame);
  }
  if (frame.kind != YOKE_PORT_ANSWER || !is_same_list(p, frame.signals)) {
    p->counts.n_refused++;
    return NO_ANSWER;
  }
  if (is_paced) {
    return take_newest(p, &frame);
  }
  if (p->frames != NULL && p->is_running) {
    take_reports(p, &frame);
  } else if (!spread(p, &frame)) {
    p->counts.n_refused++;
    return NO_ANSWER;
  }
  p->stamp = frame.t;
  note_times(p, &frame);
  return ANSWERED;
}

// Everything that has come with one call. In lock-step the rest after an answer is counted only; by the clock the newest counts.
static answer take_all(port* p, int64_t wait_ns) {
  const bool is_paced = p->table->settings.is_paced && p->is_running;
  answer found = NO_ANSWER;
  const size_t n = yoke__carrier_receive(p->carrier, wait_ns, p->arrived);
  for (size_t i = 0; i < n && found != REFUSED; i++) {
    if (found == NO_ANSWER || is_paced) {
      const answer next = take_frame(p, &p->arrived[i]);
      found = next == NO_ANSWER ? found : next;
    } else {
      p->counts.n_duplicate++;
    }
  }
  return found;
}

// Until the answer is there or the time is over. Others may send as they like: the time is what bounds it.
static answer await(port* p, int64_t timeout_ns) {
  const int64_t end = yoke__os_now_ns() + timeout_ns;
  answer found = NO_ANSWER;
  for (int64_t left = timeout_ns; found == NO_ANSWER && left > 0; left = end - yoke__os_now_ns()) {
    found = take_all(p, left);
  }
  return found;
}

static int64_t nanoseconds(double seconds, double otherwise) {
  return (int64_t)(1e9 * (seconds > 0 ? seconds : otherwise));
}

// ---- the contract

static yoke_status create(const yoke_unit_args* args, void** self, const yoke_sink* sink);

static const yoke_unit_info* describe(const void* self) {
  return &((const port*)self)->info;
}

static yoke_status set(void* self, size_t variable, const void* value, size_t size) {
  port* p = self;
  return variable < p->info.n_variables
             ? yoke__unit_set(&p->inner, p->inner_of[variable], value, size)
             : YOKE_BAD_ARG;
}

static yoke_status get(const void* self, size_t variable, void* value, size_t size) {
  const port* p = self;
  if (variable >= p->info.n_variables) {
    return YOKE_BAD_ARG;
  }
  const bool is_there = p->is_running && p->frames == NULL && p->places[variable] != YOKE_NOT_FOUND;
  if (!is_there) {
    return yoke__unit_get(&p->inner, p->inner_of[variable], value, size);
  }
  if (size != yoke__variable_size(&p->info.variables[variable])) {
    return YOKE_BAD_ARG;
  }
  memcpy(value, p->received + p->places[variable], size);
  return YOKE_OK;
}

static yoke_status set_inputs(void* self, const double u[], size_t n_u) {
  port* p = self;
  (void)n_u;
  return yoke__unit_set_inputs(&p->inner, u);
}

static yoke_status get_outputs(const void* self, double y[], size_t n_y) {
  const port* p = self;
  (void)n_y;
  for (size_t i = 0; i < p->list.n_received; i++) {
    const size_t v = p->list.received[i], size = yoke__variable_size(&p->info.variables[v]);
    if (p->info.variables[v].type == YOKE_REAL) {
      YOKE_TRY(get(self, v, y, size));
      y += size / sizeof(double);
    }
  }
  return YOKE_OK;
}

// Says hello until the other end answers: it may still be starting.
static yoke_status enter_init(void* self, double t_start, double t_stop, const yoke_sink* sink) {
  port* p = self;
  const yoke_port_settings* s = &p->table->settings;
  const int64_t end = yoke__os_now_ns() + nanoseconds(s->hello_s, HELLO_S);
  p->session = (uint64_t)yoke__os_now_ns() ^ ((uint64_t)(uintptr_t)p << 16);
  p->sequence = p->heard = 0;
  p->is_heard = p->is_stopped = false;
  p->t_start = t_start;
  p->t_stop = t_stop;
  if (p->frames != NULL) {
    p->frames->play(p->inner.self, YOKE_END_BENCH);
    YOKE_TRY(yoke__unit_enter_init(&p->inner, t_start, t_stop, sink));
  }
  YOKE_TRY(gather(p, 0));
  answer found = NO_ANSWER;
  for (bool is_told = false; found == NO_ANSWER && yoke__os_now_ns() < end;) {
    (void)send_frame(p, YOKE_PORT_HELLO, t_start, t_stop);
    found = await(p, HELLO_EVERY);
    if (found == NO_ANSWER && !is_told) {
      yoke__notify(sink, YOKE_NOTE, "waiting for the other end of the port at %s", s->peer);
      is_told = true;
    }
  }
  if (found == REFUSED) {
    return yoke_fail(sink, YOKE_UNIT_FAILED, "%s", p->reason);
  }
  if (found == NO_ANSWER) {
    const char* trouble = yoke__carrier_trouble(p->carrier);
    return yoke_fail(sink, YOKE_IO, "nobody answers at %s%s%s; %s", s->peer,
                     trouble == NULL ? "" : ": ", trouble == NULL ? "" : trouble,
                     s->signals == NULL ? "`yoke rig` with the same file plays the other end"
                                        : "a machine or a program of yours is expected there");
  }
  p->is_running = true;
  p->round_trips = p->jitters = (yoke_histogram){0};  // of steps, not of the greeting
  return YOKE_OK;
}

// By the clock the other end may still be getting ready while this one makes its first steps.
static bool is_still_starting(port* p, answer found) {
  p->is_heard = p->is_heard || found == ANSWERED;
  if (!p->table->settings.is_paced || p->is_heard) {
    return false;
  }
  const int64_t now = yoke__os_now_ns();
  p->begun_ns = p->sequence == 1 ? now : p->begun_ns;
  return now - p->begun_ns < nanoseconds(p->table->settings.timeout_s, TIMEOUT_S);
}

static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  port* p = self;
  const yoke_port_settings* s = &p->table->settings;
  YOKE_TRY(gather(p, h));
  p->sequence++;
  p->t = t + h;
  send_step(p, t, h);
  const answer found =
      s->is_paced ? take_all(p, 0) : await(p, nanoseconds(s->timeout_s, TIMEOUT_S));
  const bool is_missing = !is_still_starting(p, found) && found == NO_ANSWER;
  p->counts.n_lost += is_missing;
  p->n_lost_in_a_row = is_missing ? p->n_lost_in_a_row + 1 : 0;
  if (found == REFUSED) {
    result->message = p->reason;
    return YOKE_UNIT_FAILED;
  }
  if (p->frames != NULL) {
    p->stamp = found == ANSWERED ? p->t : p->stamp;
    YOKE_TRY(p->inner.ops->step(p->inner.self, t, h, result));
  }
  if (p->n_lost_in_a_row >= (s->most_lost > 0 ? s->most_lost : MOST_LOST)) {
    snprintf(p->reason, sizeof p->reason, "%s has not answered %lld times in a row", s->peer,
             (long long)p->n_lost_in_a_row);
    result->message = p->reason;
    return YOKE_UNIT_FAILED;
  }
  return YOKE_OK;
}

static yoke_status sample_info(const void* self, size_t output, yoke_sample_info* info) {
  const port* p = self;
  (void)output;
  *info = (yoke_sample_info){
      .time_stamp = p->stamp,
      .age = p->t > p->stamp ? p->t - p->stamp : 0,
      .sequence = p->sequence - (uint64_t)p->n_lost_in_a_row,
      .is_valid = p->n_lost_in_a_row == 0,
  };
  return YOKE_OK;
}

static void reason(const void* self, const yoke_sink* sink) {
  const port* p = self;
  if (p->reason[0] != '\0') {
    yoke_fail(sink, YOKE_UNIT_FAILED, "%s", p->reason);
  }
}

static void fill_info(const port* p, yoke_port_info* info) {
  const yoke_carrier_counts carried = yoke__carrier_count(p->carrier);
  *info = p->counts;
  info->address = yoke__carrier_address(p->carrier);
  info->n_sent = carried.n_sent;
  info->n_received = carried.n_received;
  info->n_foreign = carried.n_foreign;
  info->n_overflow = carried.n_overflow;
  info->n_refused += carried.n_cut;
  info->n_round_trips = p->round_trips.n;
  info->round_trip_s = 1e-9 * yoke__histogram_quantile(&p->round_trips, 0.5);
  info->round_trip_p99_s = 1e-9 * yoke__histogram_quantile(&p->round_trips, 0.99);
  info->round_trip_max_s = 1e-9 * (double)p->round_trips.max;
  info->jitter_s = 1e-9 * yoke__histogram_quantile(&p->jitters, 0.5);
  info->jitter_p99_s = 1e-9 * yoke__histogram_quantile(&p->jitters, 0.99);
  info->jitter_max_s = 1e-9 * (double)p->jitters.max;
}

static void report(void* self, const yoke_sink* sink) {
  port* p = self;
  yoke_port_info i;
  // what the machine's frames have told this end
  if (p->frames != NULL && p->inner.ops->report != NULL) {
    p->inner.ops->report(p->inner.self, sink);
  }
  fill_info(self, &i);
  const uint64_t n_odd =
      i.n_lost + i.n_refused + i.n_foreign + i.n_overflow + i.n_clipped;  // each is reported once
  if (n_odd == p->n_told) {
    return;
  }
  p->n_told = n_odd;
  if (i.n_clipped > 0) {
    yoke__notify(sink, YOKE_WARNING,
                 "%llu values were outside of 'limits'%s and sent as these allow",
                 (unsigned long long)i.n_clipped,
                 p->table->settings.signals == NULL ? "" : " or of their types on the wire,");
  }
  if (i.n_lost + i.n_refused + i.n_foreign + i.n_overflow > 0) {
    yoke__notify(sink, YOKE_WARNING,
                 "of %llu exchanges %llu had no answer in time; %llu datagrams were damaged, %llu "
                 "came from elsewhere, %llu were not read in time",
                 (unsigned long long)p->sequence, (unsigned long long)i.n_lost,
                 (unsigned long long)i.n_refused, (unsigned long long)i.n_foreign,
                 (unsigned long long)i.n_overflow);
  }
}

// Once per run: a machine is told in its own frames to come to rest, then the other end that the run is over.
static void halt(port* p) {
  uint8_t own[MAX_FRAMES];
  if (!p->is_running || p->is_stopped) {
    return;
  }
  p->is_stopped = true;
  const bool can_halt = p->table->settings.is_paced && p->frames != NULL && p->frames->halt != NULL;
  const size_t n = can_halt ? p->frames->halt(p->inner.self, own, sizeof own) : 0;
  if (n > 0) {
    (void)yoke__carrier_send(p->carrier, own, n);
  }
  (void)send_frame(p, YOKE_PORT_STOP, p->t_start, 0);
}

static void terminate(void* self) {
  halt(self);
}

static void close_port(void* self) {
  port* p = self;
  yoke__carrier_close(&p->carrier);
  if (p->inner.ops != NULL) {
    yoke__unit_close(&p->inner);
  }
  yoke__arena_free(&p->arena);
  free(p);
}

// ---- creation

// How values travel: as they lie here, or as the machine has them.
static yoke_status lay_wire(port* p) {
  const yoke_port_signals* s = p->table->settings.signals;
  p->packed = s == NULL ? p->sent : yoke__arena_take(&p->arena, s->sent_size + 8);
  YOKE_TRY_MEMORY(p->packed);
  p->packed_size = s == NULL ? p->list.sent_size : s->sent_size;
  p->received_size = s == NULL ? p->list.received_size : s->received_size;
  if (s != NULL) {
    p->list.fingerprint = yoke__port_signals_hash(s, p->list.fingerprint);
  }
  return YOKE_OK;
}

static yoke_status lay_values(port* p) {
  const size_t n_variables = p->info.n_variables;
  p->sent = yoke__arena_take(&p->arena, p->list.sent_size + 8);
  p->received = yoke__arena_take(&p->arena, p->list.received_size + 8);
  p->bytes = yoke__arena_take(&p->arena, YOKE_PORT_MAX_SIZE);
  p->arrived = yoke__arena_array(&p->arena, YOKE_PORT_MOST_DATAGRAMS, sizeof *p->arrived);
  p->places = yoke__arena_array(&p->arena, n_variables + 1, sizeof *p->places);
  YOKE_TRY_MEMORY(p->sent && p->received && p->bytes && p->arrived && p->places);
  YOKE_TRY(lay_wire(p));
  for (size_t i = 0; i < n_variables; i++) {
    p->places[i] = YOKE_NOT_FOUND;
  }
  size_t at = 0;
  for (size_t i = 0; i < p->list.n_received; i++) {
    p->places[p->list.received[i]] = at;
    at += yoke__variable_size(&p->info.variables[p->list.received[i]]);
  }
  return YOKE_OK;
}

// Where the inputs with limits lie.
static yoke_status lay_limits(port* p, const yoke_sink* sink) {
  const yoke_port_settings* s = &p->table->settings;
  p->limits = yoke__arena_array(&p->arena, s->n_limits + 1, sizeof *p->limits);
  YOKE_TRY_MEMORY(p->limits);
  for (size_t i = 0; i < s->n_limits; i++) {
    const yoke_port_bounds* bounds = &s->limits[i];
    port_limit* limit = &p->limits[p->n_limits++];
    limit->n = 0;
    for (size_t k = 0, at = 0; k < p->list.n_sent; k++) {
      const yoke_variable* v = &p->info.variables[p->list.sent[k]];
      if (strcmp(v->name, bounds->name) == 0 && v->type == YOKE_REAL) {
        *limit = (port_limit){.at = at,
                              .n = yoke__variable_count(v),
                              .variable = p->inner_of[p->list.sent[k]],
                              .bounds = bounds};
      }
      at += yoke__variable_size(v);
    }
    limit->last = yoke__arena_array(&p->arena, limit->n + 1, sizeof(double));
    YOKE_TRY_MEMORY(limit->last);
    if (limit->n == 0) {
      return yoke__fail_at(sink, YOKE_BAD_INPUT, bounds->place,
                           "'limits': '%s' is no real input of the unit", bounds->name);
    }
  }
  return YOKE_OK;
}

// The variables that are known at this end: all, or those that the machine's frames carry.
static yoke_status choose_variables(port* p) {
  const yoke_unit_info* inner = p->inner.info;
  yoke_variable* chosen = yoke__arena_array(&p->arena, inner->n_variables + 1, sizeof *chosen);
  p->inner_of = yoke__arena_array(&p->arena, inner->n_variables + 1, sizeof *p->inner_of);
  YOKE_TRY_MEMORY(chosen && p->inner_of);
  p->info.n_variables = 0;
  for (size_t i = 0; i < inner->n_variables; i++) {
    if (p->frames == NULL || (inner->variables[i].flags & YOKE_VARIABLE_UNSEEN) == 0) {
      p->inner_of[p->info.n_variables] = i;
      chosen[p->info.n_variables++] = inner->variables[i];
    }
  }
  p->info.variables = chosen;
  p->info.solver = p->frames == NULL ? p->info.solver : (yoke_unit_solver){0};
  return YOKE_OK;
}

// It cannot be saved, looked into or repeated; nothing follows its inputs at once.
static void describe_port(port* p) {
  p->info = *p->inner.info;
  p->info.feedthrough = NULL;
  p->info.n_feedthrough = 0;
  p->info.flags = (p->info.flags & (YOKE_UNIT_SAMPLED | YOKE_UNIT_FIXED_STEP)) | YOKE_UNIT_PHYSICAL;
  p->info.self_size = 0;
  p->info.image_size = 0;
}

static yoke_status open_port(port* p, const yoke_unit_args* args, const yoke_sink* sink) {
  const port_table* table = p->table;
  yoke_unit_args inner = *args;
  inner.context = table->inner->context;
  YOKE_TRY(yoke__unit_create(table->inner, &inner, &p->arena, &p->inner, sink));
  p->frames = table->settings.has_frames ? p->inner.ops->frames : NULL;
  if (table->settings.has_frames && p->frames == NULL) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "'%s' has no frames of its own: leave out 'protocol', its variables travel",
                     table->inner->name);
  }
  describe_port(p);
  YOKE_TRY(choose_variables(p));
  YOKE_TRY(yoke__port_list_make(&p->info, 0, &p->arena, &p->list, sink));
  YOKE_TRY(lay_values(p));
  YOKE_TRY(lay_limits(p, sink));
  return yoke__carrier_open(table->settings.carrier, table->settings.bind, table->settings.peer,
                            &p->carrier, sink);
}

static yoke_status create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  port* p = calloc(1, sizeof *p);
  YOKE_TRY_MEMORY(p);
  p->table = args->context;
  const yoke_status status = open_port(p, args, sink);
  if (status < 0) {
    close_port(p);
    return status;
  }
  *self = p;
  return YOKE_OK;
}

const yoke_unit_ops* yoke__port_wrap(const yoke_unit_ops* inner, const yoke_port_settings* settings,
                                     yoke_arena* arena) {
  port_table* table = yoke__arena_take(arena, sizeof *table);
  if (table == NULL) {
    return NULL;
  }
  *table = (port_table){
      .ops = {YOKE_UNIT_HEAD, .name = inner->name, .text = inner->text,
              .structure = inner->structure, .n_structure = inner->n_structure, .create = create,
              .describe = describe, .set = set, .get = get, .enter_init = enter_init,
              .set_inputs = set_inputs, .get_outputs = get_outputs, .step = step,
              .sample_info = sample_info, .reason = reason, .report = report,
              .terminate = terminate, .close = close_port},
      .inner = inner,
      .settings = *settings,
  };
  table->ops.context = table;
  return &table->ops;
}

void yoke__port_halt(const yoke_unit_ops* ops, void* self) {
  if (ops->create == create && ((const port*)self)->table->settings.is_paced) {
    halt(self);
  }
}

bool yoke__port_look(const yoke_unit_ops* ops, const void* self, yoke_port_info* info) {
  if (ops->create != create) {
    return false;
  }
  fill_info(self, info);
  return true;
}
