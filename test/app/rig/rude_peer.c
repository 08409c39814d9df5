// A relay between a bench and its rig on loopback that does to datagrams what a bad network does; for tools/rig_campaign.
//
//   rude_peer RIG WHAT WHERE FIRST COUNT     RIG: port of 127.0.0.1; WHERE: rig, bench or both, the end that is to suffer
//
// Steps (bench to rig) and answers (rig to bench) are numbered from 1 on, each way by itself; those from FIRST on, COUNT of
// them, are treated; everything else passes as it is.
//
//   damage, cut, old         the datagram with a bit turned, a piece of it, or the one from ten before, in its place
//   damage-in, cut-in, old-in   the same inside: the rig's own frames, in a datagram whose sum is right
//   beside                   all of these and more before the right one
//   foreign                  a hundred copies from another address before the right one
//
// Prints "listening at ADDRESS"; ends with SIGTERM, or after a minute without datagrams.
#include <arpa/inet.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit/port/port_frame.h"

#define ROOM      (YOKE_PORT_MAX_SIZE + 64)
#define N_OLD     16  // datagrams that are kept for later
#define N_BACK    10
#define N_FOREIGN 100
#define IDLE_MS   60000

typedef struct datagram {
  uint8_t bytes[ROOM];
  size_t n;
} datagram;

// One way of the traffic.
typedef struct way {
  bool is_rude;
  int from;
  struct sockaddr_in to;
  bool has_to;
  long n_live;
  datagram old[N_OLD];
} way;

typedef struct relay {
  const char* what;
  long first, count;
  int front, stranger;  // sockets: of the bench, and that of somebody else
  way ways[2];          // to the rig, to the bench
  uint32_t dice;
} relay;

static unsigned roll(relay* r) {
  r->dice = r->dice * 1664525u + 1013904223u;
  return r->dice >> 8;
}

static int open_socket(struct sockaddr_in* at) {
  const int s = socket(AF_INET, SOCK_DGRAM, 0), room = 4 << 20;
  socklen_t size = sizeof *at;
  *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (s < 0 || bind(s, (struct sockaddr*)at, size) != 0 ||
      getsockname(s, (struct sockaddr*)at, &size) != 0) {
    perror("rude_peer");
    exit(1);
  }
  (void)setsockopt(s, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  return s;
}

static void pass(const way* w, int from, const uint8_t bytes[], size_t n) {
  if (w->has_to) {
    (void)sendto(from, bytes, n, 0, (const struct sockaddr*)&w->to, sizeof w->to);
  }
}

// ---- what is done to bytes

static void turn_bit(relay* r, datagram* d) {
  d->bytes[roll(r) % d->n] ^= (uint8_t)(1u << roll(r) % 8);
}

static void cut(relay* r, datagram* d) {
  d->n = roll(r) % d->n;
}

static const datagram* old_of(const way* w) {
  return &w->old[(w->n_live + N_OLD - N_BACK) % N_OLD];
}

// Of the rig's own frames only their heads have something that can be checked: magic, version, count.
static void turn_head(relay* r, uint8_t bytes[]) {
  bytes[roll(r) % 8] ^= (uint8_t)(1u << roll(r) % 8);
}

// The content of a step, or of an answer with one report, behind its two bytes of size.
static size_t spoil(relay* r, const way* w, bool is_answer, uint8_t bytes[], size_t n) {
  const size_t at = is_answer ? 2 : 0;
  yoke_port_frame before;
  if (n <= at) {
    return n;
  }
  if (strcmp(r->what, "damage-in") == 0) {
    turn_head(r, bytes + at);
  } else if (strcmp(r->what, "cut-in") == 0) {
    n = at + 1 + roll(r) % (unsigned)(n - at - 1);
    if (is_answer) {
      bytes[0] = (uint8_t)((n - at) & 0xff);
      bytes[1] = (uint8_t)((n - at) >> 8);
    }
  } else if (yoke__port_read(old_of(w)->bytes, old_of(w)->n, &before) == YOKE_PORT_OK) {
    memcpy(bytes, before.values, before.size);
    n = before.size;
  }
  return n;
}

static void send_spoilt(relay* r, const way* w, const datagram* d) {
  yoke_port_frame frame;
  uint8_t inside[ROOM], bytes[ROOM];
  if (yoke__port_read(d->bytes, d->n, &frame) != YOKE_PORT_OK) {
    return;
  }
  memcpy(inside, frame.values, frame.size);
  frame.size = spoil(r, w, frame.kind == YOKE_PORT_ANSWER, inside, frame.size);
  frame.values = inside;
  pass(w, w->from, bytes, yoke__port_write(&frame, bytes, sizeof bytes));
}

// Everything that is to be refused; none of it may count.
static void send_beside(relay* r, const way* w, const datagram* d) {
  static const uint8_t zeros[YOKE_PORT_MAX_SIZE + 40];
  datagram copy = *d;
  turn_bit(r, &copy);
  pass(w, w->from, copy.bytes, copy.n);
  copy = *d;
  cut(r, &copy);
  pass(w, w->from, copy.bytes, copy.n);
  pass(w, w->from, zeros, 0);
  pass(w, w->from, zeros, sizeof zeros);
  pass(w, w->from, old_of(w)->bytes, old_of(w)->n);
}

static void treat(relay* r, const way* w, const datagram* d) {
  datagram copy = *d;
  if (strcmp(r->what, "beside") == 0) {
    send_beside(r, w, d);
  } else if (strcmp(r->what, "foreign") == 0) {
    for (int i = 0; i < N_FOREIGN; i++) {
      pass(w, r->stranger, d->bytes, d->n);
    }
  } else if (strcmp(r->what, "damage") == 0) {
    turn_bit(r, &copy);
    pass(w, w->from, copy.bytes, copy.n);
    return;
  } else if (strcmp(r->what, "cut") == 0) {
    cut(r, &copy);
    pass(w, w->from, copy.bytes, copy.n);
    return;
  } else if (strcmp(r->what, "old") == 0) {
    pass(w, w->from, old_of(w)->bytes, old_of(w)->n);
    return;
  } else {
    send_spoilt(r, w, d);
    return;
  }
  pass(w, w->from, d->bytes, d->n);
}

// ---- traffic

// Hello and stop are none: what is counted are steps and their answers, or frames of the rig.
static bool is_live(const datagram* d) {
  yoke_port_frame frame;
  return yoke__port_read(d->bytes, d->n, &frame) == YOKE_PORT_OK
             ? frame.kind == YOKE_PORT_STEP ||
                   (frame.kind == YOKE_PORT_ANSWER && frame.sequence > 0)
             : d->n >= 4 && memcmp(d->bytes, "YOKE", 4) == 0;
}

static void take(relay* r, way* w, const datagram* d) {
  if (!is_live(d)) {
    pass(w, w->from, d->bytes, d->n);
    return;
  }
  w->n_live++;
  if (w->is_rude && w->n_live >= r->first && w->n_live < r->first + r->count) {
    treat(r, w, d);
  } else {
    pass(w, w->from, d->bytes, d->n);
  }
  w->old[w->n_live % N_OLD] = *d;
}

static void serve(relay* r) {
  struct pollfd both[2] = {{.fd = r->front, .events = POLLIN},
                           {.fd = r->ways[0].from, .events = POLLIN}};
  while (poll(both, 2, IDLE_MS) > 0) {
    for (int i = 0; i < 2; i++) {
      datagram d;
      struct sockaddr_in sender;
      socklen_t size = sizeof sender;
      const ssize_t n =
          (both[i].revents & POLLIN) == 0
              ? -1
              : recvfrom(both[i].fd, d.bytes, sizeof d.bytes, 0, (struct sockaddr*)&sender, &size);
      if (n < 0) {
        continue;
      }
      d.n = (size_t)n;
      if (i == 0) {
        r->ways[1].to = sender;
        r->ways[1].has_to = true;
      }
      take(r, &r->ways[i], &d);
    }
  }
}

int main(int argc, char** argv) {
  if (argc != 6) {
    fprintf(stderr, "usage: rude_peer RIG WHAT WHERE FIRST COUNT\n");
    return 2;
  }
  static relay r;
  struct sockaddr_in at, own;
  r.what = argv[2];
  r.first = strtol(argv[4], NULL, 10);
  r.count = strtol(argv[5], NULL, 10);
  r.dice = 1;
  r.stranger = open_socket(&own);
  r.front = open_socket(&at);
  r.ways[0].from = open_socket(&own);
  r.ways[1].from = r.front;
  r.ways[0].to = own;
  r.ways[0].to.sin_port = htons((uint16_t)strtol(argv[1], NULL, 10));
  r.ways[0].has_to = true;
  r.ways[0].is_rude = strcmp(argv[3], "bench") != 0;
  r.ways[1].is_rude = strcmp(argv[3], "rig") != 0;
  printf("listening at 127.0.0.1:%d\n", ntohs(at.sin_port));
  fflush(stdout);
  serve(&r);
  return 0;
}
