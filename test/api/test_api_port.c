// A port by the clock through the public interface: which steps count as lost, and how the other end learns that a run is over. The
// other end is a socket of the test, which answers what it is told to.
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api_helper.h"
#include "unit/port/port_frame.h"

#define N_STEPS 20

typedef struct peer {
  int at, number;
  int n_answers;  // to the hello and the first steps; then it is silent
  int n_steps;
  pthread_t thread;
} peer;

static void answer(const peer* p, const yoke_port_frame* to, const struct sockaddr_in* from) {
  const double x = 0;
  uint8_t bytes[YOKE_PORT_MAX_SIZE];
  const yoke_port_frame frame = {.kind = YOKE_PORT_ANSWER,
                                 .session = to->session,
                                 .sequence = to->sequence,
                                 .t = to->t,
                                 .sent_ns = UINT64_C(1) << 63,  // a clock that cannot be
                                 .echo_ns = UINT64_C(1) << 63,
                                 .signals = to->signals,
                                 .values = (const uint8_t*)&x,
                                 .size = sizeof x};
  const size_t n = yoke__port_write(&frame, bytes, sizeof bytes);
  (void)sendto(p->at, bytes, n, 0, (const struct sockaddr*)from, sizeof *from);
}

// The next datagram of the bench.
static yoke_port_frame hear_one(const peer* p, int flags, struct sockaddr_in* from) {
  static uint8_t bytes[YOKE_PORT_MAX_SIZE];
  socklen_t size = sizeof *from;
  const ssize_t n = recvfrom(p->at, bytes, sizeof bytes, flags, (struct sockaddr*)from, &size);
  yoke_port_frame frame = {0};
  if (n > 0) {
    (void)yoke__port_read(bytes, (size_t)n, &frame);
  }
  return frame;
}

static void* play(void* argument) {
  const peer* p = argument;
  for (int i = 0; i < p->n_answers;) {
    struct sockaddr_in from;
    const yoke_port_frame frame = hear_one(p, 0, &from);
    answer(p, &frame, &from);
    i = (int)frame.sequence + 1;  // a hello that is said again is answered again
  }
  return NULL;
}

static void open_peer(peer* p, int n_answers) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof at;
  *p = (peer){.at = socket(AF_INET, SOCK_DGRAM, 0), .n_answers = n_answers};
  assert_true(p->at >= 0 && bind(p->at, (struct sockaddr*)&at, size) == 0);
  getsockname(p->at, (struct sockaddr*)&at, &size);
  p->number = ntohs(at.sin_port);
  assert_int_equal(pthread_create(&p->thread, NULL, play, p), 0);
}

static yoke_simulation* open_bench(const yoke_registry* registry, const yoke_sink* sink,
                                   const peer* p, int lost) {
  char text[512];
  snprintf(
      text, sizeof text,
      "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: %g, step: 0.01, pace: 1}\nunits:\n"
      "  b: {model: plant, port: udp, peer: '127.0.0.1:%d', clock: paced, timeout: 3600, lost: "
      "%d, start: {f: 0}}\n",
      0.01 * N_STEPS, p->number, lost);
  return api_open(registry, sink, text);
}

// Before every step. The first one was answered when the second one begins.
static bool before_step(void* to) {
  peer* p = to;
  if (p->n_steps++ == 1 && p->n_answers == 2) {
    pthread_join(p->thread, NULL);
  }
  return true;
}

// `timeout` is for the other end to begin; once it has, every step without an answer counts.
static void test_silence_counts_from_the_first_answer_on(void** state) {
  (void)state;
  HEAR(said);
  peer p;
  open_peer(&p, 2);
  yoke_registry* registry = api_registry();
  yoke_simulation* s = open_bench(registry, &said.sink, &p, 3);
  check_ok(yoke_simulation_start(s));
  yoke_run_info info;
  const yoke_run_settings settings = {.each = before_step, .to = &p};
  assert_int_equal(yoke_simulation_run(s, &settings, &info), YOKE_UNIT_FAILED);
  assert_non_null(strstr(said.text, "has not answered 3 times in a row"));
  yoke_port_info port;
  check_ok(yoke_simulation_get_port(s, 0, &port));
  assert_int_equal(port.n_lost, 3);
  api_close(&s);
  yoke_registry_destroy(&registry);
  close(p.at);
}

// The other end stands still by itself after a few steps without a command: that the run is over must not wait for anything.
static void test_the_end_is_told_when_the_last_step_is_done(void** state) {
  (void)state;
  HEAR(said);
  peer p;
  open_peer(&p, 1);
  yoke_registry* registry = api_registry();
  yoke_simulation* s = open_bench(registry, &said.sink, &p, 1000000);
  check_ok(yoke_simulation_start(s));
  pthread_join(p.thread, NULL);
  const yoke_run_settings settings = {.each = before_step, .to = &p};
  assert_int_equal(yoke_simulation_run(s, &settings, NULL), YOKE_OK);
  struct sockaddr_in from;
  yoke_port_kind last = 0;
  int n_steps = 0;
  for (yoke_port_frame f; (f = hear_one(&p, MSG_DONTWAIT, &from)).kind != 0; last = f.kind) {
    n_steps += f.kind == YOKE_PORT_STEP;
  }
  assert_int_equal(n_steps, N_STEPS);
  assert_int_equal(last, YOKE_PORT_STOP);
  // once is enough
  api_close(&s);
  assert_int_equal(hear_one(&p, MSG_DONTWAIT, &from).kind, 0);
  yoke_registry_destroy(&registry);
  close(p.at);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_silence_counts_from_the_first_answer_on),
      cmocka_unit_test(test_the_end_is_told_when_the_last_step_is_done),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
