// The inside of isolation, shared by the files of this folder and by both processes.
//
//   unit_host.c     the side of the caller: table of operations
//   host_link.c     the side of the caller: starts and ends the other process, calls it, notices how it fails
//   host_child.c    the other process: holds the unit and serves calls
//   host_channel.c  the shared memory between them: layout, sending, waiting
//   host_recipe.c   what the other process needs to make the unit; how it describes the unit
//   host_pack.c     values one after another in a block of bytes
//
// The shared memory:
//
//   0          4096                                           bulk_offset
//   | control  | u | y | du (orders 1..3) | wanted | slots    | bulk, grows on demand |
//
// One call: the caller writes the request and raises `request`; the other process does the work, writes the answer and
// raises `answer`. Whoever waits spins first, then sleeps on the word the other one will raise; a flag tells the other
// that a wake-up is needed, so that no system call is made while both are awake.
// Invariants: (1) request is written by the caller only, while answer == request; (2) answer is written by the other
// process only, while answer + 1 == request; (3) what lies behind a word is written before the word is raised;
// (4) the caller believes no size, offset or text that comes from shared memory without checking it.
#ifndef YOKE_UNIT_HOST_HOST_H
#define YOKE_UNIT_HOST_HOST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base_arena.h"
#include "base/base_process.h"
#include "base/base_text.h"
#include "unit/unit_file.h"
#include "yoke/unit.h"

typedef enum host_call {
  HOST_CREATE,
  HOST_LAY_OUT,
  HOST_SET,
  HOST_GET,
  HOST_ENTER_INIT,
  HOST_EXIT_INIT,
  HOST_GET_OUTPUTS,
  HOST_SET_DERIVATIVES,
  HOST_SET_INPUT_INFO,
  HOST_STEP,
  HOST_REFRESH,
  HOST_EVENT_UPDATE,
  HOST_SAMPLE_INFO,
  HOST_SAVE,
  HOST_RESTORE,
  HOST_SERIALISE,
  HOST_DESERIALISE,
  HOST_DERIVATIVE,
  HOST_LINEARISE,
  HOST_CHOOSE_INTEGRALS,
  HOST_GET_INTEGRALS,
  HOST_REPORT,
  HOST_TERMINATE,
  HOST_CLOSE,
  HOST_N_CALLS,
} host_call;

enum {
  HOST_MAX_ORDER = 3,      // input derivatives that travel with the step
  HOST_MAX_WANTED = 4096,  // variables read along with every step
  HOST_SLOTS_SIZE = 1 << 20,
  HOST_CONTROL_SIZE = 4096,
  HOST_BULK_SIZE = 1 << 16,  // at least
  HOST_WAKE_NS =
      300000,  // a sleeping processor takes up to that long to start, more so a virtual one
};

// Bits of host_request.applies: what lies in shared memory and has to be given to the unit before the call.
enum { HOST_APPLY_INPUTS = 1u << 0 };  // derivatives of order n: 1u << n
// Bits of host_answer.has.
enum { HOST_HAS_OUTPUTS = 1u << 0, HOST_HAS_WANTED = 1u << 1 };

// Exit status of the other process if it was built from other sources.
enum { HOST_EXIT_VERSION = 100, HOST_EXIT_ORPHAN = 101, HOST_EXIT_USAGE = 2 };

#define HOST_MAGIC UINT64_C(0x31656b6f79736f68)

// Sizes of the part that every step uses.
typedef struct host_layout {
  uint64_t n_u, n_y, n_wanted, slots_size;
} host_layout;

// Written by the caller. One cache line.
typedef struct host_request {
  _Atomic uint32_t request;    // number of the call
  _Atomic uint32_t is_asleep;  // the caller waits for a wake-up
  uint32_t call, applies;
  double t, h;
  uint64_t a, b;  // by call: variable, size, ...
  uint32_t n_wanted;
  uint32_t is_measured;  // the time on the processor is wanted: two system calls per step
} host_request;

// Written by the other process. One cache line.
typedef struct host_answer {
  _Atomic uint32_t answer;
  _Atomic uint32_t is_asleep;
  int32_t status;
  uint32_t flags;  // YOKE_STEP_*
  double t_reached;
  int64_t inner_ns;  // time spent in the unit's step
  int64_t cpu_ns;    // of it on the processor, if that is wanted
  uint64_t size;     // by call
  uint32_t has;
  uint32_t messages_size;  // bytes of messages at the start of the bulk part
} host_answer;

typedef struct host_control {
  // written before the other process starts
  uint64_t magic;
  char version[80];  // with the commit
  int64_t parent, spin_ns;
  uint32_t is_adaptive;
  uint64_t max_memory;
  host_layout layout;  // before HOST_LAY_OUT
  _Alignas(64) host_request request;
  _Alignas(64) host_answer answer;
  _Alignas(64) uint64_t request_file_size, answer_file_size;  // as far as the writer has mapped
  _Atomic uint64_t memory;  // bytes of address space that the unit has taken; 0: unknown
} host_control;

_Static_assert(sizeof(host_request) <= 64 && sizeof(host_answer) <= 64, "one cache line each");
_Static_assert(sizeof(host_control) <= HOST_CONTROL_SIZE, "control part too large");

// A variable that is read along with every step.
typedef struct host_wanted {
  uint32_t variable;
  int32_t status;  // written by the other process
  uint64_t offset, size;
} host_wanted;

// One side's view.
typedef struct host_channel {
  yoke_shared shared;
  host_layout layout;
  host_control* control;
  double *u, *y, *du[HOST_MAX_ORDER];
  host_wanted* wanted;
  unsigned char* slots;
  unsigned char* bulk;
  size_t bulk_size;
} host_channel;

// --- host_channel.c
// Places of all parts in the mapping as it is now.
void yoke__host_lay_out(host_channel* channel, const host_layout* layout);
// Bytes of everything in front of the bulk part.
size_t yoke__host_fixed_size(const host_layout* layout);
// Room for that many bytes in the bulk part; pointers into the mapping may move.
yoke_status yoke__host_grow_bulk(host_channel* channel, size_t size);
// After a message of the other side: takes over the room that it made.
yoke_status yoke__host_follow(host_channel* channel, uint64_t size);
// How one side waits.
typedef struct host_wait {
  int64_t spin_ns;      // 0: never spins
  bool is_adaptive;     // stops spinning for a while when it is in vain
  bool is_other_woken;  // by the last message: give it time to come up
  uint32_t n_vain;      // spins in a row without success
  uint32_t n_skip;      // length of the last pause from spinning
  uint32_t n_to_skip;   // waits left of it
} host_wait;

// Spins until *word == wanted, as long as `wait` says; false if there is nothing yet.
bool yoke__host_spin(host_wait* wait, _Atomic uint32_t* word, uint32_t wanted);
// Raises *word to value and wakes the other side if it sleeps.
void yoke__host_raise(host_wait* wait, _Atomic uint32_t* word, uint32_t value,
                      _Atomic uint32_t* is_asleep);
// Sleeps until *word == wanted, a wake-up or the time-out, having told so in is_asleep. May wake early.
void yoke__host_sleep(_Atomic uint32_t* word, uint32_t wanted, _Atomic uint32_t* is_asleep,
                      int64_t timeout_ns);

// --- host_pack.c
// A walk over values that writes them into a text or reads them back. Failed: the bytes end too early or make no sense, or
// memory is out; a text has a status of its own.
typedef struct host_pack {
  yoke_text* to;  // NULL: reads
  const unsigned char* from;
  size_t size, used;
  yoke_arena* arena;  // for what is read
  bool is_failed;
} host_pack;

void yoke__host_part(host_pack* pack, void* part, size_t n);
#define HOST_VALUE(pack, value) yoke__host_part((pack), &(value), sizeof(value))
void yoke__host_text(host_pack* pack, const char** text);  // NULL is kept
void yoke__host_message(host_pack* pack, yoke_message* message);
// All messages in the bytes to the sink.
void yoke__host_take_messages(host_pack* pack, const yoke_sink* sink);

// --- host_recipe.c
// What the other process needs: settings and arguments of create. YOKE_NO_SUPPORT for arguments that cannot travel.
yoke_status yoke__host_recipe(host_pack* pack, yoke_unit_file_settings* settings,
                              yoke_unit_args* args, bool* is_description_wanted);
// Variables that are read get no offset: nothing lies in the caller's memory.
yoke_status yoke__host_info(host_pack* pack, yoke_unit_info* info);

#endif
