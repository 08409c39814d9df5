// Shared memory as a carrier of a port: numbers that wrap around, a full ring, one owner and one bench at a time, segments that were
// left behind, and contents that no honest peer writes.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base_message.h"
#include "base/base_os.h"
#include "support/check.h"
#include "unit/port/port_carrier.h"
#include "unit/port/port_ring.h"
#include "unit/port/port_shm.h"

#define SECOND 1000000000

static uint8_t room[YOKE_RING_SLOTS][YOKE_PORT_MAX_SIZE];

// ---- one ring

static yoke_ring* new_ring(uint32_t at) {
  yoke_ring* ring = aligned_alloc(64, sizeof *ring);
  assert_non_null(ring);
  memset(ring, 0, sizeof *ring);
  atomic_store(&ring->written, at);
  return ring;
}

static size_t length_of(uint32_t k) {
  return 1 + k * 977u % YOKE_PORT_MAX_SIZE;
}

// All lengths, across the end of the slots and the end of the numbers.
static void test_wrap_around(void** state) {
  (void)state;
  static uint8_t bytes[YOKE_PORT_MAX_SIZE];
  yoke_ring* ring = new_ring(UINT32_MAX - 100);
  yoke_ring_writer writer = yoke__ring_writer(ring);
  yoke_ring_reader reader = yoke__ring_reader(ring);
  yoke_carrier_counts sent = {0}, got = {0};
  yoke_port_datagram out[YOKE_PORT_MOST_DATAGRAMS];
  uint32_t n_sent = 0, n_got = 0;
  for (uint32_t round = 0; round < 100; round++) {
    for (uint32_t i = 0; i < 1 + round % YOKE_RING_SLOTS; i++, n_sent++) {
      memset(bytes, (int)(n_sent % 251), sizeof bytes);
      assert_true(yoke__ring_write(&writer, bytes, length_of(n_sent), &sent));
    }
    const size_t n = yoke__ring_read(&reader, room, out, &got);
    assert_int_equal(n, 1 + round % YOKE_RING_SLOTS);
    for (size_t i = 0; i < n; i++, n_got++) {
      assert_int_equal(out[i].n, length_of(n_got));
      assert_int_equal(out[i].bytes[0], n_got % 251);
      assert_int_equal(out[i].bytes[out[i].n - 1], n_got % 251);
    }
  }
  assert_int_equal(atomic_load(&ring->written), (uint32_t)(UINT32_MAX - 100 + n_sent));
  assert_true(sent.n_sent == n_sent && got.n_received == n_sent && got.n_cut == 0);
  free(ring);
}

// The writer never waits: what does not fit is dropped, and both ends know how many.
static void test_full_ring_drops_and_counts(void** state) {
  (void)state;
  yoke_ring* ring = new_ring(7);
  yoke_ring_writer writer = yoke__ring_writer(ring);
  yoke_ring_reader reader = yoke__ring_reader(ring);
  yoke_carrier_counts sent = {0}, got = {0};
  yoke_port_datagram out[YOKE_PORT_MOST_DATAGRAMS];
  for (uint32_t i = 0; i < YOKE_RING_SLOTS + 10; i++) {
    const uint8_t byte = (uint8_t)i;
    assert_int_equal(yoke__ring_write(&writer, &byte, 1, &sent), i < YOKE_RING_SLOTS);
  }
  assert_true(sent.n_sent == YOKE_RING_SLOTS && sent.n_overflow == 10 && sent.n_unsent == 10);
  // the oldest are kept
  assert_int_equal(yoke__ring_read(&reader, room, out, &got), YOKE_RING_SLOTS);
  assert_true(out[0].bytes[0] == 0 && out[YOKE_RING_SLOTS - 1].bytes[0] == YOKE_RING_SLOTS - 1);
  assert_true(got.n_overflow == 10 && got.n_received == YOKE_RING_SLOTS);
  // and there is room again
  assert_true(yoke__ring_write(&writer, room[0], 1, &sent));
  assert_int_equal(yoke__ring_read(&reader, room, out, &got), 1);
  // no length of a datagram
  assert_false(yoke__ring_write(&writer, room[0], 0, &sent));
  assert_false(yoke__ring_write(&writer, room[0], YOKE_PORT_MAX_SIZE + 1, &sent));
  assert_int_equal(yoke__ring_read(&reader, room, out, &got), 0);
  free(ring);
}

// Whatever the other end writes: nothing outside of the ring, a count, and honest datagrams get through afterwards.
static void test_hostile_numbers_and_lengths(void** state) {
  (void)state;
  static const uint32_t odd[] = {
      0, 1, YOKE_PORT_MAX_SIZE + 1, 65, 0x7fffffffu, 0x80000000u, 0xfffffff0u, UINT32_MAX};
  yoke_port_datagram out[YOKE_PORT_MOST_DATAGRAMS];
  yoke_ring* ring = new_ring(0);
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    yoke_carrier_counts got = {0}, sent = {0};
    yoke_ring_reader reader = yoke__ring_reader(ring);
    // a number that no writer reaches
    atomic_store(&ring->written, reader.read + 65 + odd[i] % 0xffffff00u);
    assert_int_equal(yoke__ring_read(&reader, room, out, &got), 0);
    assert_true(got.n_cut == 1 && got.n_received == 0);
    // lengths
    const uint32_t at = atomic_load(&ring->written);
    atomic_store(&ring->slots[at % YOKE_RING_SLOTS].size, odd[i]);
    atomic_store(&ring->written, at + 1);
    const bool is_length = odd[i] > 0 && odd[i] <= YOKE_PORT_MAX_SIZE;
    assert_int_equal(yoke__ring_read(&reader, room, out, &got), is_length);
    assert_int_equal(got.n_cut, is_length ? 1 : 2);
    // a reader's number that the writer cannot believe: it drops
    yoke_ring_writer writer = yoke__ring_writer(ring);
    atomic_store(&ring->read, writer.written + 1 + odd[i] % 0xffffff00u);
    assert_false(yoke__ring_write(&writer, room[0], 1, &sent));
    assert_int_equal(sent.n_overflow, 1);
    // honest again
    yoke_ring_reader honest = yoke__ring_reader(ring);
    assert_true(yoke__ring_write(&writer, (const uint8_t*)"good", 4, &sent));
    assert_int_equal(yoke__ring_read(&honest, room, out, &got), 1);
    assert_memory_equal(out[0].bytes, "good", 4);
  }
  free(ring);
}

// ---- segments

static const char* name_of(const char* what) {
  static char name[80];
  snprintf(name, sizeof name, "/yoke-test-%s-%ld", what, (long)getpid());
  return name;
}

static yoke_carrier* open_end(const char* bind, const char* peer) {
  yoke_carrier* carrier = NULL;
  check_ok(yoke__carrier_open(YOKE_CARRIER_SHM, bind, peer, &carrier, NULL));
  return carrier;
}

static bool is_there(const char* name) {
  const int file = shm_open(name, O_RDWR, 0);
  if (file >= 0) {
    close(file);
  }
  return file >= 0;
}

// The kind of refusal that two owners, a foreign segment and a wrong name get.
static void check_refused(const char* bind, const char* why) {
  yoke_carrier* carrier = NULL;
  YOKE_CATCH(err);
  assert_true(yoke__carrier_open(YOKE_CARRIER_SHM, bind, NULL, &carrier, &err.sink) < 0);
  assert_null(carrier);
  if (strstr(err.text, why) == NULL) {
    fail_msg("'%s' does not say '%s'", err.text, why);
  }
}

static void test_there_and_back(void** state) {
  (void)state;
  const char* name = name_of("pair");
  yoke_port_datagram got[YOKE_PORT_MOST_DATAGRAMS];
  yoke_carrier* bench = open_end(NULL, name);
  // it may be there before the other end
  assert_false(yoke__carrier_send(bench, (const uint8_t*)"early", 5));
  assert_non_null(strstr(yoke__carrier_trouble(bench), "there is no shared memory"));
  assert_int_equal(yoke__carrier_receive(bench, 1, got), 0);
  yoke_carrier* rig = open_end(name, NULL);
  assert_string_equal(yoke__carrier_address(rig), name);
  struct stat info;
  const int file = shm_open(name, O_RDONLY, 0);
  assert_true(file >= 0 && fstat(file, &info) == 0 && (info.st_mode & 0777) == 0600);
  close(file);
  assert_true(yoke__carrier_send(bench, (const uint8_t*)"hello", 5));
  assert_null(yoke__carrier_trouble(bench));
  assert_int_equal(yoke__carrier_receive(rig, SECOND, got), 1);
  assert_memory_equal(got[0].bytes, "hello", 5);
  yoke__carrier_adopt(rig, 0);
  assert_true(yoke__carrier_send(rig, (const uint8_t*)"yes", 3));
  assert_int_equal(yoke__carrier_receive(bench, SECOND, got), 1);
  assert_memory_equal(got[0].bytes, "yes", 3);
  // one bench at a time, one owner at a time
  yoke_carrier* second = open_end(NULL, name);
  assert_false(yoke__carrier_send(second, (const uint8_t*)"me", 2));
  assert_string_equal(yoke__carrier_trouble(second), "another run is attached to it");
  check_refused(name, "is in use: another process listens there");
  // the next one does not find what was meant for the last one
  assert_true(yoke__carrier_send(rig, (const uint8_t*)"late", 4));
  yoke__carrier_close(&bench);
  assert_true(yoke__carrier_send(second, (const uint8_t*)"me", 2));
  assert_int_equal(yoke__carrier_receive(second, 1, got), 0);
  assert_int_equal(yoke__carrier_receive(rig, SECOND, got), 1);
  yoke__carrier_close(&second);
  yoke__carrier_close(&rig);
  assert_false(is_there(name));
}

// Waiting ends when a datagram comes from a process that was started meanwhile; asleep by then or not.
static void test_sleeper_is_woken(void** state) {
  (void)state;
  const char* name = name_of("wake");
  yoke_port_datagram got[YOKE_PORT_MOST_DATAGRAMS];
  yoke_carrier* rig = open_end(name, NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    yoke_carrier* bench = NULL;
    yoke_port_datagram answer[YOKE_PORT_MOST_DATAGRAMS];
    bool is_good = yoke__carrier_open(YOKE_CARRIER_SHM, NULL, name, &bench, NULL) >= 0;
    for (uint8_t i = 0; is_good && i < 200; i++) {
      yoke__os_sleep_ns((int64_t)(i % 4) * 100000);
      is_good = yoke__carrier_send(bench, &i, 1);
      size_t n = 0;
      for (int tries = 0; is_good && n == 0 && tries < 1000; tries++) {
        n = yoke__carrier_receive(bench, SECOND / 10, answer);
      }
      is_good = is_good && n == 1 && answer[0].n == 1 && answer[0].bytes[0] == i;
    }
    _exit(is_good ? 0 : 1);
  }
  for (int n_seen = 0, tries = 0; n_seen < 200 && tries < 100000; tries++) {
    const size_t n = yoke__carrier_receive(rig, SECOND / 10, got);
    for (size_t i = 0; i < n; i++, n_seen++) {
      assert_true(yoke__carrier_send(rig, got[i].bytes, got[i].n));
    }
  }
  int status = 1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  yoke__carrier_close(&rig);
}

// A process that dies without a word leaves its segment; the next one takes the name, and a bench that waits finds it.
static void test_stale_segment_is_replaced(void** state) {
  (void)state;
  const char* name = name_of("stale");
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    yoke_carrier* rig = NULL;
    _exit(yoke__carrier_open(YOKE_CARRIER_SHM, name, NULL, &rig, NULL) < 0);
  }
  int status = 1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_true(is_there(name));
  yoke_carrier* bench = open_end(NULL, name);
  assert_false(yoke__carrier_send(bench, (const uint8_t*)"x", 1));
  assert_non_null(strstr(yoke__carrier_trouble(bench), "has ended"));
  yoke_carrier* rig = open_end(name, NULL);
  assert_true(yoke__carrier_send(bench, (const uint8_t*)"x", 1));
  // gone before it has answered: the next one is found
  yoke__carrier_close(&rig);
  rig = open_end(name, NULL);
  assert_true(yoke__carrier_send(bench, (const uint8_t*)"again", 5));
  yoke_port_datagram got[YOKE_PORT_MOST_DATAGRAMS];
  assert_int_equal(yoke__carrier_receive(rig, SECOND, got), 1);
  assert_memory_equal(got[0].bytes, "again", 5);
  yoke__carrier_close(&rig);
  yoke__carrier_close(&bench);
  assert_false(is_there(name));
}

// Shared memory of another program is neither used nor removed.
static void test_foreign_segment_stays(void** state) {
  (void)state;
  const char* name = name_of("foreign");
  const int file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
  assert_true(file >= 0 && ftruncate(file, (off_t)sizeof(yoke_shm_segment)) == 0);
  check_refused(name, "was not made by yoke rig");
  yoke_carrier* bench = open_end(NULL, name);
  assert_false(yoke__carrier_send(bench, (const uint8_t*)"x", 1));
  assert_non_null(strstr(yoke__carrier_trouble(bench), "was not made by yoke rig"));
  // others may write to it
  assert_int_equal(fchmod(file, 0666), 0);
  assert_false(yoke__carrier_send(bench, (const uint8_t*)"x", 1));
  assert_non_null(strstr(yoke__carrier_trouble(bench), "others may write"));
  assert_true(is_there(name));
  yoke__carrier_close(&bench);
  close(file);
  shm_unlink(name);
}

// The other end scribbles over everything while it is attached.
static void test_scribbled_segment(void** state) {
  (void)state;
  const char* name = name_of("scribble");
  yoke_port_datagram got[YOKE_PORT_MOST_DATAGRAMS];
  yoke_carrier* rig = open_end(name, NULL);
  yoke_carrier* bench = open_end(NULL, name);
  assert_true(yoke__carrier_send(bench, (const uint8_t*)"hello", 5));
  assert_int_equal(yoke__carrier_receive(rig, SECOND, got), 1);
  const int file = shm_open(name, O_RDWR, 0);
  uint8_t* all = mmap(NULL, sizeof(yoke_shm_segment), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  assert_true(all != MAP_FAILED);
  uint32_t noise = 1;
  for (int round = 0; round < 300; round++) {
    for (size_t i = 0; i < 400; i++) {
      noise = noise * 1664525u + 1013904223u;
      all[noise % sizeof(yoke_shm_segment)] = (uint8_t)(noise >> 24);
      all[noise % 4 < 2 ? noise % 256 : 256 + noise % 8128] = (uint8_t)(noise >> 16);
    }
    (void)yoke__carrier_send(bench, (const uint8_t*)"x", 1);
    (void)yoke__carrier_send(rig, (const uint8_t*)"y", 1);
    const size_t n_rig = yoke__carrier_receive(rig, 1, got);
    assert_true(n_rig <= YOKE_RING_SLOTS);
    const size_t n_bench = yoke__carrier_receive(bench, 1, got);
    for (size_t i = 0; i < n_bench; i++) {
      assert_true(got[i].n > 0 && got[i].n <= YOKE_PORT_MAX_SIZE);
    }
  }
  assert_true(yoke__carrier_count(rig).n_cut + yoke__carrier_count(bench).n_cut > 0);
  munmap(all, sizeof(yoke_shm_segment));
  close(file);
  yoke__carrier_close(&bench);
  yoke__carrier_close(&rig);
  assert_false(is_there(name));
}

static void test_names(void** state) {
  (void)state;
  static const char* const bad[] = {"", "/", "yoke", "/a/b", "//x", "/.x", "/a b", "127.0.0.1:1"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    check_refused(bad[i], "expected a name of shared memory such as /yoke-rig");
  }
  char much[200];
  memset(much, 'x', sizeof much);
  much[0] = '/';
  much[YOKE_SHM_MAX_NAME + 1] = '\0';
  check_refused(much, "expected a name of shared memory");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wrap_around),
      cmocka_unit_test(test_full_ring_drops_and_counts),
      cmocka_unit_test(test_hostile_numbers_and_lengths),
      cmocka_unit_test(test_there_and_back),
      cmocka_unit_test(test_sleeper_is_woken),
      cmocka_unit_test(test_stale_segment_is_replaced),
      cmocka_unit_test(test_foreign_segment_stays),
      cmocka_unit_test(test_scribbled_segment),
      cmocka_unit_test(test_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
