// A machine at the other end of a port, played by a program that knows nothing of Yoke but the layout of its datagrams
// (docs/port.md): a rotor that a torque accelerates, one step of explicit Euler for each datagram. Needs libc only.
//
//   cc -std=c11 -o port_plant port_plant.c && ./port_plant 47001 &     ends after one run
//   yoke run port_plant.yaml
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { HELLO = 1, STEP, ANSWER, STOP, FAULT, HEAD = 72, ROOM = 256 };

typedef struct plant {
  double omega;                // [rad/s]
  uint64_t session, sequence;  // of the run, of the last step
  uint8_t answer[ROOM];        // to it, for who asks again
  size_t n;
} plant;

// All machines on which this is tried have little endian numbers, as the wire has.
static uint32_t check_of(const uint8_t* bytes, size_t n) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < n; i++) {
    if (i < 68 || i >= HEAD) {
      hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
  }
  return (uint32_t)(hash ^ (hash >> 32));
}

// The head is that of the request: run, number, fingerprint and clock go back as they came.
static void write_answer(plant* p, const uint8_t* request, uint16_t kind, double t,
                         const void* values, uint32_t size) {
  memcpy(p->answer, request, HEAD);
  memcpy(p->answer + 6, &kind, 2);
  memcpy(p->answer + 24, &t, 8);
  memcpy(p->answer + 48, request + 40, 8);
  memcpy(p->answer + 64, &size, 4);
  memcpy(p->answer + HEAD, values, size);
  p->n = HEAD + size;
  const uint32_t check = check_of(p->answer, p->n);
  memcpy(p->answer + 68, &check, 4);
}

static void answer_outputs(plant* p, const uint8_t* request, double t) {
  const float omega = (float)p->omega;  // outputs: omega: {unit: rad/s, as: f32}
  write_answer(p, request, ANSWER, t, &omega, sizeof omega);
}

static void advance(plant* p, const uint8_t* request, double t, double h) {
  int16_t torque;  // inputs: torque: {unit: N.m, as: i16, scale: 0.001}
  memcpy(&torque, request + HEAD, 2);
  const uint8_t enable = request[HEAD + 2];  // enable: {type: boolean, as: u8}
  const double J = 0.01, d = 0.05;           // [kg.m2], [N.m.s/rad]
  p->omega += h / J * ((enable ? 0.001 * torque : 0) - d * p->omega);
  answer_outputs(p, request, t + h);
}

typedef enum reaction { QUIET, SEND, OVER } reaction;

static reaction take(plant* p, const uint8_t* request, size_t n) {
  uint16_t kind;
  uint32_t check;
  uint64_t session, sequence;
  double t, h;
  memcpy(&kind, request + 6, 2);
  memcpy(&session, request + 8, 8);
  memcpy(&sequence, request + 16, 8);
  memcpy(&t, request + 24, 8);
  memcpy(&h, request + 32, 8);
  memcpy(&check, request + 68, 4);
  const int is_known = p->n > 0 && session == p->session;
  if (n < HEAD || memcmp(request, "YKPT\1\0", 6) != 0 || check != check_of(request, n)) {
    return QUIET;
  }
  if (kind == STOP) {
    return is_known ? OVER : QUIET;
  }
  if ((kind != HELLO && kind != STEP) || (kind == STEP && !is_known)) {
    return QUIET;
  }
  if (n != HEAD + 3) {
    write_answer(p, request, FAULT, t, "expected a torque and enable", 28);
  } else if (!is_known) {
    p->omega = 0;
    p->session = session;
    p->sequence = sequence;
    answer_outputs(p, request, t);
  } else if (sequence == p->sequence + 1 && kind == STEP) {
    p->sequence = sequence;
    advance(p, request, t, h);
  } else if (sequence > p->sequence) {
    write_answer(p, request, FAULT, t, "a command was lost", 18);
  }
  // asked again because the answer was lost: the same one once more; older ones were overtaken
  return is_known && sequence < p->sequence ? QUIET : SEND;
}

int main(int argc, char** argv) {
  static plant p;
  static uint8_t request[ROOM];
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}}, from;
  at.sin_port = htons((uint16_t)(argc > 1 ? strtol(argv[1], NULL, 10) : 47001));
  const int s = socket(AF_INET, SOCK_DGRAM, 0);
  if (s < 0 || bind(s, (const struct sockaddr*)&at, sizeof at) != 0) {
    perror("port_plant");
    return 1;
  }
  socklen_t size = sizeof at;
  getsockname(s, (struct sockaddr*)&at, &size);
  printf("listening at 127.0.0.1:%d\n", ntohs(at.sin_port));
  fflush(stdout);
  for (;;) {
    size = sizeof from;
    const ssize_t n = recvfrom(s, request, sizeof request, 0, (struct sockaddr*)&from, &size);
    const reaction next = n > 0 ? take(&p, request, (size_t)n) : QUIET;
    if (next == OVER) {
      return 0;
    }
    if (next == SEND) {
      sendto(s, p.answer, p.n, 0, (const struct sockaddr*)&from, size);
    }
  }
}
