// The server is a child that reads numbers of jobs from its socket and answers each with how its copy ended.
#define _GNU_SOURCE
#include "base/base_fork.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base_check.h"
#include "base/base_message.h"
#include "base/base_status.h"

#define LONGEST_PAUSE_MS 5                    // between two looks at a copy
#define PATIENCE_NS      INT64_C(2000000000)  // for the server's end, which takes what a kill takes

enum { SERVER_SOCKET = 3 };  // of the server

// How a copy ended; smaller than what a socket passes on at once.
typedef struct answer {
  int is_known, signal_number, exit_status;
} answer;

static bool send_all(int socket, const void* bytes, size_t n) {
  ssize_t sent = 0;
  do {
    sent = send(socket, bytes, n, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == (ssize_t)n;
}

// False: the other side is gone.
static bool receive_all(int socket, void* bytes, size_t n) {
  ssize_t got = 0;
  do {
    got = recv(socket, bytes, n, MSG_WAITALL);
  } while (got < 0 && errno == EINTR);
  return got == (ssize_t)n;
}

typedef enum readable { NOTHING, FIRST, SECOND } readable;

// Which of two descriptors can be read, ends included: the second one if both; -1 is nobody. timeout_ms < 0: waits for it.
static readable wait_for_either(int first, int second, int timeout_ms) {
  struct pollfd both[] = {{.fd = first, .events = POLLIN}, {.fd = second, .events = POLLIN}};
  int n = 0;
  do {
    n = poll(both, YOKE_COUNT(both), timeout_ms);
  } while (n < 0 && errno == EINTR && timeout_ms < 0);
  return n <= 0 ? NOTHING : both[1].revents != 0 ? SECOND : FIRST;
}

// ---- in the server

typedef struct service {
  yoke_fork_job run;
  const void* argument;
  int socket;
  int client;  // process
} service;

typedef struct order {
  const service* service;
  int number, parent;
} order;

static int run_order(const void* argument) {
  const order* o = argument;
  close(SERVER_SOCKET);
  return o->service->run(o->service->argument, o->number, o->parent);
}

// Nobody talks to it while a copy runs: what can be read then is the end of the other side.
static bool await(int client, yoke_process* copy) {
  for (int pause_ms = 0; !yoke__process_has_ended(copy);) {
    if (wait_for_either(SERVER_SOCKET, client, pause_ms) != NOTHING) {
      yoke__process_kill(copy);
      return false;
    }
    pause_ms += pause_ms < LONGEST_PAUSE_MS;
  }
  return true;
}

// Of all files only the socket stays. Returns a descriptor that can be read once the client has ended; -1: none to be had.
static int settle(const service* s) {
  int client = -1;
  if (dup2(s->socket, SERVER_SOCKET) != SERVER_SOCKET) {
    _exit(EXIT_FAILURE);
  }
#ifdef SYS_close_range
  syscall(SYS_close_range, SERVER_SOCKET + 1, ~0u, 0);
#endif
#ifdef SYS_pidfd_open
  client = (int)syscall(SYS_pidfd_open, s->client, 0);
#endif
  // it may have ended before; asked for after the descriptor was made, so that it is nobody else's
  if (getppid() != s->client) {
    _exit(EXIT_FAILURE);
  }
  return client;
}

static int serve(const void* argument) {
  const service* s = argument;
  order o = {.service = s, .parent = yoke__process_id()};
  const int client = settle(s);
  // other copies of the client may still have its side of the socket when it has ended
  while (wait_for_either(SERVER_SOCKET, client, -1) == FIRST &&
         receive_all(SERVER_SOCKET, &o.number, sizeof o.number)) {
    yoke_process copy;
    YOKE_CATCH(why);
    answer a = {0};
    if (yoke__process_fork(run_order, &o, &copy, &why.sink) >= 0) {
      if (!await(client, &copy)) {
        break;
      }
      a = (answer){copy.is_known, copy.signal_number, copy.exit_status};
    }
    if (!send_all(SERVER_SOCKET, &a, sizeof a)) {
      break;
    }
  }
  return 0;
}

// ---- in the process that it serves

// Above the standard files, which may be closed here and are filled anew in a copy.
static bool make_sockets(int ends[2]) {
  int low[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, low) != 0) {
    return false;
  }
  for (int i = 0; i < 2; i++) {
    ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, SERVER_SOCKET);
  }
  const int code = errno;
  for (int i = 0; i < 2; i++) {
    close(low[i]);
    if (ends[0] < 0 || ends[1] < 0) {
      close(ends[i]);  // of none this does nothing
    }
  }
  errno = code;
  return ends[0] >= 0 && ends[1] >= 0;
}

yoke_status yoke__fork_server_start(yoke_fork_job run, const void* argument, yoke_fork_server* out,
                                    const yoke_sink* sink) {
  int ends[2];
  *out = (yoke_fork_server){0};
  if (!make_sockets(ends)) {
    const int code = errno;
    return yoke_fail(sink, yoke__status_of_errno(code), "cannot make a socket: %s",
                     yoke__errno_text(code));
  }
  const service s = {run, argument, ends[1], yoke__process_id()};
  const yoke_status status = yoke__process_fork(serve, &s, &out->process, sink);
  close(ends[1]);
  if (status < 0) {
    close(ends[0]);
    return status;
  }
  out->socket = ends[0];
  out->is_up = true;
  return YOKE_OK;
}

yoke_status yoke__fork_server_run(yoke_fork_server* server, int number) {
  return send_all(server->socket, &number, sizeof number) ? YOKE_OK : YOKE_IO;
}

bool yoke__fork_server_wait(yoke_fork_server* server, int64_t timeout_ns, yoke_process* out) {
  if (wait_for_either(server->socket, -1, (int)(timeout_ns / 1000000)) == NOTHING) {
    return false;
  }
  answer a = {0};
  *out = (yoke_process){.is_ended = true};
  if (receive_all(server->socket, &a, sizeof a)) {
    out->is_known = a.is_known != 0;
    out->signal_number = a.signal_number;
    out->exit_status = a.exit_status;
  }
  return true;
}

void yoke__fork_server_stop(yoke_fork_server* server) {
  if (!server->is_up) {
    return;
  }
  // copies of this process may have the socket too: closing it would not end it
  shutdown(server->socket, SHUT_RDWR);
  close(server->socket);
  if (!yoke__process_wait(&server->process, PATIENCE_NS)) {
    yoke__process_kill(&server->process);
  }
  server->is_up = false;
}
