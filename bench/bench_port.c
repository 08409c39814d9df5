// Round trips of a port: one datagram there and one back between two processes, over UDP on loopback and through shared memory, by the
// same calls as in lock-step. Prints median, 99 % and maximum; nothing is judged by it.
// `bench_port [N]`: so many exchanges (20000) of 200 bytes.
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base_histogram.h"
#include "base/base_message.h"
#include "base/base_os.h"
#include "unit/port/port_carrier.h"

#define SIZE   200
#define N_WARM 500
#define SECOND INT64_C(1000000000)

// The other end: sends everything back until a datagram of one byte comes, or nothing for ten seconds.
static void echo(yoke_carrier* carrier) {
  yoke_port_datagram got[YOKE_PORT_MOST_DATAGRAMS];
  for (int n_silent = 0; n_silent < 100;) {
    const size_t n = yoke__carrier_receive(carrier, SECOND / 10, got);
    n_silent = n > 0 ? 0 : n_silent + 1;
    for (size_t i = 0; i < n; i++) {
      if (got[i].n == 1) {
        return;
      }
      yoke__carrier_adopt(carrier, i);
      (void)yoke__carrier_send(carrier, got[i].bytes, got[i].n);
    }
  }
}

static void measure(yoke_carrier* carrier, const char* what, int n) {
  static uint8_t bytes[SIZE];
  yoke_port_datagram got[YOKE_PORT_MOST_DATAGRAMS];
  yoke_histogram times = {0};
  uint64_t n_lost = 0;
  for (int k = 0; k < N_WARM + n; k++) {
    const int64_t start = yoke__os_now_ns();
    (void)yoke__carrier_send(carrier, bytes, sizeof bytes);
    size_t n_got = 0;
    while (n_got == 0 && yoke__os_now_ns() - start < SECOND) {
      n_got = yoke__carrier_receive(carrier, SECOND, got);
    }
    n_lost += n_got == 0;
    if (k >= N_WARM) {
      yoke__histogram_add(&times, yoke__os_now_ns() - start);
    }
  }
  (void)yoke__carrier_send(carrier, bytes, 1);
  printf("%-4s %8d exchanges, %llu lost: median %7.2f us, p99 %7.2f us, max %8.2f us\n", what, n,
         (unsigned long long)n_lost, 1e-3 * yoke__histogram_quantile(&times, 0.5),
         1e-3 * yoke__histogram_quantile(&times, 0.99), 1e-3 * (double)times.max);
}

static int race(yoke_carrier_kind kind, const char* bind, const char* what, int n) {
  yoke_carrier *rig = NULL, *bench = NULL;
  YOKE_CATCH(err);
  if (yoke__carrier_open(kind, bind, NULL, &rig, &err.sink) < 0 ||
      yoke__carrier_open(kind, NULL, yoke__carrier_address(rig), &bench, &err.sink) < 0) {
    fprintf(stderr, "%s: %s\n", what, err.text);
    return 1;
  }
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    echo(rig);
    _exit(0);
  }
  measure(bench, what, n);
  int status = 1;
  const bool is_ended = child > 0 && waitpid(child, &status, 0) == child;
  yoke__carrier_close(&bench);
  yoke__carrier_close(&rig);
  return is_ended ? status : 1;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 20000;
  char name[64];
  snprintf(name, sizeof name, "/yoke-bench-%ld", (long)getpid());
  const int udp = race(YOKE_CARRIER_UDP, "127.0.0.1:0", "udp", n);
  const int shm = race(YOKE_CARRIER_SHM, name, "shm", n);
  return udp != 0 || shm != 0;
}
