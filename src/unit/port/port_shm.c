// Shared memory between two processes; see port_shm.h.
#define _GNU_SOURCE  // locks of open files
#include "unit/port/port_shm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base_check.h"
#include "base/base_message.h"
#include "base/base_os.h"

#define MODE   0600
#define NAP_NS INT64_C(20000000)  // between two looks for a segment that is not there yet

// bytes of the file that are locked
enum { LOCK_LISTENER, LOCK_BENCH };

struct yoke_shm {
  bool is_listener;
  char name[YOKE_SHM_MAX_NAME + 1];
  int file;                   // -1: not attached
  yoke_shm_segment* segment;  // NULL: not attached
  const char* trouble;        // static text
  yoke_ring_writer writer;
  yoke_ring_reader reader;
  yoke_carrier_counts counts;
  uint8_t room[YOKE_RING_SLOTS][YOKE_PORT_MAX_SIZE];
};

// ---- names and locks

static bool is_name(const char* text) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  const size_t n = strlen(text);
  return n >= 2 && n <= YOKE_SHM_MAX_NAME && text[0] == '/' && text[1] != '.' &&
         strspn(text + 1, letters) == n - 1;
}

static bool lock(int file, int byte) {
  struct flock one = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
  return fcntl(file, F_OFD_SETLK, &one) == 0;
}

static bool is_locked(int file, int byte) {
  struct flock one = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
  return fcntl(file, F_OFD_GETLK, &one) == 0 && one.l_type != F_UNLCK;
}

static bool has_size(const struct stat* info) {
  return info->st_size == (off_t)sizeof(yoke_shm_segment);
}

// Nobody else could have put it there, or can cut it.
static bool is_private(const struct stat* info) {
  return info->st_uid == geteuid() && (info->st_mode & 077) == 0;
}

// The name still leads to this file.
static bool is_named(int file, const char* name) {
  struct stat own, there;
  const int other = shm_open(name, O_RDONLY, 0);
  const bool is_same = other >= 0 && fstat(other, &there) == 0 && fstat(file, &own) == 0 &&
                       there.st_ino == own.st_ino && there.st_dev == own.st_dev;
  if (other >= 0) {
    close(other);
  }
  return is_same;
}

static yoke_shm_segment* map(int file) {
  void* at = mmap(NULL, sizeof(yoke_shm_segment), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                  file, 0);
  return at == MAP_FAILED ? NULL : at;
}

static void detach(yoke_shm* shm) {
  if (shm->segment != NULL) {
    munmap(shm->segment, sizeof *shm->segment);
  }
  if (shm->file >= 0) {
    close(shm->file);
  }
  shm->segment = NULL;
  shm->file = -1;
}

// ---- the end that listens

// One of ours: others are not removed. A process that died while it made one has left no sign.
static bool is_segment(int file) {
  struct stat info;
  uint32_t head[2] = {0, 0};
  return fstat(file, &info) == 0 && has_size(&info) &&
         pread(file, head, sizeof head, 0) == (ssize_t)sizeof head && head[0] == YOKE_SHM_MAGIC;
}

// Removes what a dead process has left. *file stays open, with its lock, until a new one is there.
static yoke_status remove_old(const char* name, int* file, const yoke_sink* sink) {
  *file = shm_open(name, O_RDWR, 0);
  if (*file < 0) {
    return errno == ENOENT ? YOKE_OK
                           : yoke_fail(sink, YOKE_IO, "cannot open shared memory '%s': %s", name,
                                       strerror(errno));
  }
  if (!is_segment(*file)) {
    return yoke_fail(sink, YOKE_IO,
                     "shared memory '%s' is there and was not made by yoke rig: choose another "
                     "name, or remove it",
                     name);
  }
  // another process that replaces it at this moment has it, or has given the name to a new one
  if (!lock(*file, LOCK_LISTENER) || !is_named(*file, name)) {
    return yoke_fail(sink, YOKE_IO, "shared memory '%s' is in use: another process listens there",
                     name);
  }
  if (shm_unlink(name) != 0) {
    return yoke_fail(sink, YOKE_IO, "cannot replace shared memory '%s': %s", name, strerror(errno));
  }
  return YOKE_OK;
}

static yoke_status make_segment(yoke_shm* shm, const yoke_sink* sink) {
  shm->file = shm_open(shm->name, O_RDWR | O_CREAT | O_EXCL, MODE);
  if (shm->file < 0 || !lock(shm->file, LOCK_LISTENER)) {
    const bool is_taken = shm->file >= 0 || errno == EEXIST;
    return yoke_fail(sink, YOKE_IO, "cannot listen at '%s': %s", shm->name,
                     is_taken ? "another process listens there" : strerror(errno));
  }
  // memory that is not there would end the process at the first touch
  const int code = posix_fallocate(shm->file, 0, (off_t)sizeof(yoke_shm_segment));
  shm->segment = code == 0 ? map(shm->file) : NULL;
  if (shm->segment == NULL) {
    shm_unlink(shm->name);
    return yoke_fail(sink, YOKE_IO, "no memory for '%s': %s", shm->name,
                     strerror(code == 0 ? errno : code));
  }
  shm->segment->version = YOKE_SHM_VERSION;
  shm->segment->size = sizeof(yoke_shm_segment);
  shm->writer = yoke__ring_writer(&shm->segment->from_listener);
  shm->reader = yoke__ring_reader(&shm->segment->to_listener);
  atomic_store(&shm->segment->magic, YOKE_SHM_MAGIC);
  return YOKE_OK;
}

static yoke_status listen_at(yoke_shm* shm, const yoke_sink* sink) {
  int old = -1;
  yoke_status status = remove_old(shm->name, &old, sink);
  if (status >= 0) {
    status = make_segment(shm, sink);
  }
  if (old >= 0) {
    close(old);
  }
  return status;
}

// ---- the end that attaches

// Static text, or NULL: it is attached.
static const char* try_attach(yoke_shm* shm) {
  struct stat info;
  shm->file = shm_open(shm->name, O_RDWR, 0);
  if (shm->file < 0) {
    return errno == ENOENT ? "there is no shared memory of that name"
                           : "the shared memory cannot be opened";
  }
  if (fstat(shm->file, &info) != 0 || !is_private(&info)) {
    return "the shared memory belongs to another user, or others may write to it";
  }
  if (!is_segment(shm->file)) {
    return "the shared memory was not made by yoke rig";
  }
  if (!is_locked(shm->file, LOCK_LISTENER)) {
    return "the process that made the shared memory has ended";
  }
  if (!lock(shm->file, LOCK_BENCH)) {
    return "another run is attached to it";
  }
  shm->segment = map(shm->file);
  if (shm->segment == NULL) {
    return "the shared memory cannot be mapped";
  }
  if (shm->segment->version != YOKE_SHM_VERSION || shm->segment->size != sizeof(yoke_shm_segment)) {
    return "the shared memory is that of another version of yoke rig";
  }
  shm->writer = yoke__ring_writer(&shm->segment->to_listener);
  shm->reader = yoke__ring_reader(&shm->segment->from_listener);
  return NULL;
}

// Also to the next listener, as long as none has answered; after that a new one would not know the run.
static bool attach(yoke_shm* shm) {
  if (shm->is_listener || shm->counts.n_received > 0) {
    return shm->segment != NULL;
  }
  if (shm->segment != NULL && is_locked(shm->file, LOCK_LISTENER)) {
    return true;
  }
  detach(shm);
  shm->trouble = try_attach(shm);
  if (shm->trouble != NULL) {
    detach(shm);
  }
  return shm->trouble == NULL;
}

// ---- life

yoke_status yoke__shm_open(const char* bind, const char* peer, yoke_shm** out,
                           const yoke_sink* sink) {
  const char* name = peer != NULL ? peer : bind;
  *out = NULL;
  if (name == NULL || !is_name(name)) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "'%s': expected a name of shared memory such as /yoke-rig, of at most %d "
                     "letters, digits, '.', '_' and '-'",
                     name == NULL ? "" : name, YOKE_SHM_MAX_NAME);
  }
  yoke_shm* shm = calloc(1, sizeof *shm);
  YOKE_TRY_MEMORY(shm);
  shm->file = -1;
  shm->is_listener = peer == NULL;
  snprintf(shm->name, sizeof shm->name, "%s", name);
  const yoke_status status = shm->is_listener ? listen_at(shm, sink) : YOKE_OK;
  if (status < 0) {
    detach(shm);
    free(shm);
    return status;
  }
  *out = shm;
  return YOKE_OK;
}

void yoke__shm_close(yoke_shm** shm) {
  yoke_shm* s = *shm;
  if (s == NULL) {
    return;
  }
  if (s->is_listener && is_named(s->file, s->name)) {
    shm_unlink(s->name);
  }
  detach(s);
  free(s);
  *shm = NULL;
}

const char* yoke__shm_address(const yoke_shm* shm) {
  return shm->name;
}

const char* yoke__shm_trouble(const yoke_shm* shm) {
  return shm->trouble;
}

// ---- datagrams

bool yoke__shm_send(yoke_shm* shm, const uint8_t bytes[], size_t n) {
  if (!attach(shm)) {
    shm->counts.n_unsent++;
    return false;
  }
  return yoke__ring_write(&shm->writer, bytes, n, &shm->counts);
}

size_t yoke__shm_receive(yoke_shm* shm, int64_t timeout_ns,
                         yoke_port_datagram out[YOKE_PORT_MOST_DATAGRAMS]) {
  if (shm->segment == NULL) {
    yoke__os_sleep_ns(timeout_ns < NAP_NS ? timeout_ns : NAP_NS);
    return 0;
  }
  if (timeout_ns > 0) {
    yoke__ring_wait(&shm->reader, timeout_ns);
  }
  return yoke__ring_read(&shm->reader, shm->room, out, &shm->counts);
}

yoke_carrier_counts yoke__shm_count(const yoke_shm* shm) {
  return shm->counts;
}
