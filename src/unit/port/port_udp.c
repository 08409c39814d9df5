// A UDP socket between two processes; see port_udp.h.
#define _GNU_SOURCE  // recvmmsg
#include "unit/port/port_udp.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base_check.h"
#include "base/base_message.h"
#include "base/base_os.h"
#include "unit/port/port_frame.h"

#define ROOM        (YOKE_PORT_MAX_SIZE + 1)  // one byte more shows that a datagram is too long
#define BUFFER      (4 << 20)                 // of the kernel, in bytes, as far as it allows
#define MAX_ADDRESS 128

struct yoke_udp {
  int socket;
  bool has_peer, is_peer_given;
  struct sockaddr_storage peer;
  socklen_t peer_size;
  char address[MAX_ADDRESS];
  yoke_carrier_counts counts;
  uint32_t overflow_seen;
  struct mmsghdr messages[YOKE_PORT_MOST_DATAGRAMS];
  struct iovec places[YOKE_PORT_MOST_DATAGRAMS];
  struct sockaddr_storage senders[YOKE_PORT_MOST_DATAGRAMS];
  size_t taken[YOKE_PORT_MOST_DATAGRAMS];  // which of them were handed out
  _Alignas(struct cmsghdr) unsigned char controls[YOKE_PORT_MOST_DATAGRAMS]
                                                 [CMSG_SPACE(sizeof(uint32_t))];
  uint8_t bytes[YOKE_PORT_MOST_DATAGRAMS][ROOM];
};

// ---- addresses

// Digits only, up to 65535.
static bool is_number_of_port(const char* text) {
  return text[0] != '\0' && strlen(text) <= 5 && strspn(text, "0123456789") == strlen(text) &&
         strtol(text, NULL, 10) <= 65535;
}

// "127.0.0.1:47001" or "[::1]:47001" -> an address. False: it is none.
static bool parse(const char* text, struct sockaddr_storage* out, socklen_t* size) {
  char host[MAX_ADDRESS];
  const char* colon = strrchr(text, ':');
  const size_t n = colon == NULL ? 0 : (size_t)(colon - text);
  if (n == 0 || n >= sizeof host || !is_number_of_port(colon + 1)) {
    return false;
  }
  const bool is_boxed = text[0] == '[' && text[n - 1] == ']';
  snprintf(host, sizeof host, "%.*s", (int)(is_boxed ? n - 2 : n), text + is_boxed);
  const struct addrinfo hints = {.ai_family = is_boxed ? AF_INET6 : AF_INET,
                                 .ai_socktype = SOCK_DGRAM,
                                 .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
  struct addrinfo* found = NULL;
  if (getaddrinfo(host, colon + 1, &hints, &found) != 0) {
    return false;
  }
  memcpy(out, found->ai_addr, found->ai_addrlen);
  *size = found->ai_addrlen;
  freeaddrinfo(found);
  return true;
}

static bool is_same(const struct sockaddr_storage* a, const struct sockaddr_storage* b) {
  if (a->ss_family != b->ss_family) {
    return false;
  }
  if (a->ss_family == AF_INET) {
    const struct sockaddr_in *left = (const struct sockaddr_in*)a,
                             *right = (const struct sockaddr_in*)b;
    return left->sin_port == right->sin_port && left->sin_addr.s_addr == right->sin_addr.s_addr;
  }
  const struct sockaddr_in6 *left = (const struct sockaddr_in6*)a,
                            *right = (const struct sockaddr_in6*)b;
  return left->sin6_port == right->sin6_port &&
         memcmp(&left->sin6_addr, &right->sin6_addr, sizeof left->sin6_addr) == 0;
}

static void name_address(yoke_udp* udp) {
  struct sockaddr_storage own = {0};
  socklen_t size = sizeof own;
  char host[80], service[16];
  if (getsockname(udp->socket, (struct sockaddr*)&own, &size) == 0 &&
      getnameinfo((struct sockaddr*)&own, size, host, sizeof host, service, sizeof service,
                  NI_NUMERICHOST | NI_NUMERICSERV | NI_DGRAM) == 0) {
    snprintf(udp->address, sizeof udp->address, own.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s",
             host, service);
  }
}

// ---- life

static yoke_status open_socket(yoke_udp* udp, const struct sockaddr_storage* at, socklen_t size,
                               const char* text, const yoke_sink* sink) {
  udp->socket = socket(at->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (udp->socket < 0) {
    return yoke_fail(sink, YOKE_IO, "no socket for '%s': %s", text, strerror(errno));
  }
  const int one = 1, buffer = BUFFER;
  (void)setsockopt(udp->socket, SOL_SOCKET, SO_RXQ_OVFL, &one, sizeof one);
  (void)setsockopt(udp->socket, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
  if (bind(udp->socket, (const struct sockaddr*)at, size) != 0) {
    return yoke_fail(sink, YOKE_IO, "cannot listen at '%s': %s", text, strerror(errno));
  }
  name_address(udp);
  return YOKE_OK;
}

static void lay_messages(yoke_udp* udp) {
  for (size_t i = 0; i < YOKE_PORT_MOST_DATAGRAMS; i++) {
    udp->places[i] = (struct iovec){.iov_base = udp->bytes[i], .iov_len = ROOM};
    udp->messages[i].msg_hdr = (struct msghdr){.msg_iov = &udp->places[i], .msg_iovlen = 1};
  }
}

// Any free port of the loopback address of that family.
static void any_port(const struct sockaddr_storage* peer, struct sockaddr_storage* out,
                     socklen_t* size) {
  memset(out, 0, sizeof *out);
  out->ss_family = peer->ss_family;
  if (peer->ss_family == AF_INET6) {
    ((struct sockaddr_in6*)out)->sin6_addr = in6addr_loopback;
    *size = sizeof(struct sockaddr_in6);
  } else {
    ((struct sockaddr_in*)out)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *size = sizeof(struct sockaddr_in);
  }
}

yoke_status yoke__udp_open(const char* bind, const char* peer, yoke_udp** out,
                           const yoke_sink* sink) {
  static const char expected[] = "expected an address of numbers such as 127.0.0.1:47001";
  struct sockaddr_storage at = {.ss_family = AF_INET};
  socklen_t size = 0;
  *out = NULL;
  yoke_udp* udp = calloc(1, sizeof *udp);
  YOKE_TRY_MEMORY(udp);
  udp->socket = -1;
  yoke_status status = YOKE_OK;
  if (peer != NULL && !parse(peer, &udp->peer, &udp->peer_size)) {
    status = yoke_fail(sink, YOKE_BAD_INPUT, "'%s': %s", peer, expected);
  } else if (bind != NULL && !parse(bind, &at, &size)) {
    status = yoke_fail(sink, YOKE_BAD_INPUT, "'%s': %s", bind, expected);
  } else if (bind == NULL) {
    any_port(peer == NULL ? &at : &udp->peer, &at, &size);
  }
  if (status >= 0 && peer != NULL && at.ss_family != udp->peer.ss_family) {
    status = yoke_fail(sink, YOKE_BAD_INPUT, "'%s' and '%s' are addresses of two kinds",
                       bind == NULL ? "" : bind, peer);
  }
  if (status >= 0) {
    udp->has_peer = udp->is_peer_given = peer != NULL;
    status = open_socket(udp, &at, size, bind == NULL ? "loopback" : bind, sink);
  }
  if (status < 0) {
    yoke__udp_close(&udp);
    return status;
  }
  lay_messages(udp);
  *out = udp;
  return YOKE_OK;
}

void yoke__udp_close(yoke_udp** udp) {
  if (*udp != NULL && (*udp)->socket >= 0) {
    close((*udp)->socket);
  }
  free(*udp);
  *udp = NULL;
}

const char* yoke__udp_address(const yoke_udp* udp) {
  return udp->address;
}

// ---- datagrams

bool yoke__udp_send(yoke_udp* udp, const uint8_t bytes[], size_t n) {
  const bool is_sent =
      udp->has_peer && sendto(udp->socket, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL,
                              (struct sockaddr*)&udp->peer, udp->peer_size) == (ssize_t)n;
  udp->counts.n_sent += is_sent;
  udp->counts.n_unsent += !is_sent;
  return is_sent;
}

// What the kernel has dropped since the socket was opened stands beside each datagram.
static void note_overflow(yoke_udp* udp, struct msghdr* head) {
  for (struct cmsghdr* c = CMSG_FIRSTHDR(head); c != NULL; c = CMSG_NXTHDR(head, c)) {
    if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
      uint32_t dropped = 0;
      memcpy(&dropped, CMSG_DATA(c), sizeof dropped);
      udp->counts.n_overflow += dropped - udp->overflow_seen;
      udp->overflow_seen = dropped;
    }
  }
}

// False: an error that will not go away, or nothing in time.
static bool wait_for(const yoke_udp* udp, int64_t timeout_ns) {
  struct pollfd one = {.fd = udp->socket, .events = POLLIN};
  const struct timespec time = {.tv_sec = (time_t)(timeout_ns / 1000000000),
                                .tv_nsec = (long)(timeout_ns % 1000000000)};
  return ppoll(&one, 1, &time, NULL) > 0;
}

size_t yoke__udp_receive(yoke_udp* udp, int64_t timeout_ns,
                         yoke_port_datagram out[YOKE_PORT_MOST_DATAGRAMS]) {
  if (timeout_ns > 0 && !wait_for(udp, timeout_ns)) {
    return 0;
  }
  for (size_t i = 0; i < YOKE_PORT_MOST_DATAGRAMS; i++) {
    struct msghdr* head = &udp->messages[i].msg_hdr;
    head->msg_name = &udp->senders[i];
    head->msg_namelen = sizeof udp->senders[i];
    head->msg_control = udp->controls[i];
    head->msg_controllen = sizeof udp->controls[i];
  }
  const int n = recvmmsg(udp->socket, udp->messages, YOKE_PORT_MOST_DATAGRAMS, MSG_DONTWAIT, NULL);
  size_t n_ours = 0;
  for (int i = 0; i < n; i++) {
    note_overflow(udp, &udp->messages[i].msg_hdr);
    const size_t size = udp->messages[i].msg_len;
    if (udp->has_peer && !is_same(&udp->senders[i], &udp->peer)) {
      udp->counts.n_foreign++;
    } else if (size >= ROOM) {
      udp->counts.n_cut++;
    } else {
      udp->taken[n_ours] = (size_t)i;
      out[n_ours++] = (yoke_port_datagram){udp->bytes[i], size};
    }
  }
  udp->counts.n_received += n_ours;
  return n_ours;
}

void yoke__udp_adopt(yoke_udp* udp, size_t i) {
  const size_t at = udp->taken[i];
  udp->peer = udp->senders[at];
  udp->peer_size = udp->messages[at].msg_hdr.msg_namelen;
  udp->has_peer = true;
}

void yoke__udp_forget(yoke_udp* udp) {
  udp->has_peer = udp->is_peer_given;
}

yoke_carrier_counts yoke__udp_count(const yoke_udp* udp) {
  return udp->counts;
}
