// A study on several machines: processes ("ranks") that share the runs. Rank 0 leads: it knows which
// runs are missing, hands them out in small numbers, and is the only one that writes. The others
// follow: they run what they are given and send each result as soon as it is there.
//
//   leader                          follower
//   START identity of the study ->                  the same files, settings and version here?
//                               <-  WANT n          n threads have nothing to do
//   WORK  runs                  ->
//                               <-  RESULT, REFUSE or FAIL
//   STOP                        ->                  ends what is under way
//                               <-  BYE
//
// Each rank reads the system file, and what it refers to, by itself, under the same path. The
// identity of the journal tells whether it is the same. Messages hold numbers as they lie in
// memory: the machines are of one kind.
#ifndef YOKE_STUDY_SHARE_H
#define YOKE_STUDY_SHARE_H

#include "base/base_text.h"
#include "study/study_run.h"

// Messages between ranks; of two from one rank to another the first one sent comes first. Failures
// end the process.
typedef struct yoke_link {
  int rank, size;
  const char* host;  // name of this machine
  void* self;
  void (*send)(void* self, int to, const void* bytes, size_t n);
  bool (*look)(void* self, int* from, size_t* n);                // false: nothing has come
  void (*receive)(void* self, int from, void* bytes, size_t n);  // what look has found
} yoke_link;

typedef enum yoke_share_kind {
  YOKE_SHARE_START = 1,
  YOKE_SHARE_WANT,
  YOKE_SHARE_WORK,
  YOKE_SHARE_RESULT,
  YOKE_SHARE_REFUSE,
  YOKE_SHARE_FAIL,
  YOKE_SHARE_STOP,
  YOKE_SHARE_BYE,
} yoke_share_kind;

// A run in a message. index: of the leader's list.
typedef struct yoke_share_run {
  uint64_t index, point, repeat;
} yoke_share_run;

// A message as it came; what it points to is valid until the next one.
typedef struct yoke_share_message {
  yoke_share_kind kind;
  int from;
  int status;                  // RESULT: yoke_run_status; FAIL: yoke_status
  int ended;                   // RESULT: yoke_run_state
  yoke_share_run run;          // RESULT
  double t;                    // RESULT
  size_t n;                    // WANT: threads; WORK: runs; RESULT: values
  const yoke_share_run* runs;  // WORK
  const double* values;        // RESULT
  const char* text;            // START, REFUSE, RESULT (the reason)
} yoke_share_message;

// One side of the talk. Zeroed but for link.
typedef struct yoke_share {
  const yoke_link* link;
  char *bytes, *out;  // the message that came, and the one that goes
  size_t room, out_room;
  int* wants;       // leader, per rank: idle threads; -1: asks for nothing
  int n_byes;       // leader
  bool has_begun;   // START was sent or has come
  bool is_stopped;  // STOP was sent or has come
  char* identity;   // follower: of START
} yoke_share;

void yoke__share_free(yoke_share* share);

// ---- leader

// Sends START. YOKE_NO_MEMORY.
yoke_status yoke__share_begin(yoke_share* share, const yoke_study_plan* plan);
// Gives runs to a rank.
yoke_status yoke__share_give(yoke_share* share, int to, const yoke_share_run runs[], size_t n);
// Sends STOP to all, once. Then ask for messages until yoke__share_is_alone.
void yoke__share_stop(yoke_share* share);
bool yoke__share_is_alone(const yoke_share* share);  // every follower has said BYE
// STOP, and whatever still comes is dropped.
void yoke__share_end(yoke_share* share);

// ---- follower

// Waits for the leader's first word, before anything else is done or said. False: there is nothing
// to do.
bool yoke__share_wait(yoke_share* share);
// For a follower that cannot take part: the leader hears that it failed. Waits for STOP.
void yoke__share_leave(yoke_share* share);
// Runs what it is given until STOP, on n_jobs threads. Failures are the leader's to report.
void yoke__share_follow(yoke_share* share, const yoke_study_plan* plan, int n_jobs,
                        bool (*is_interrupted)(void));

// ---- both

#define YOKE_SHARE_POLL_NS                                                                         \
  1000000  // messages are looked for so often; waiting must not cost a core
#define YOKE_SHARE_MAX_CHUNK ((size_t)64)

// The next message, if one has come. Those that are not whole are dropped. YOKE_NO_MEMORY.
yoke_status yoke__share_next(yoke_share* share, yoke_share_message* message, bool* is_there);
// How many runs to hand out at once when n_left are left and n_workers threads want them: few
// enough that nobody waits for the last ones. 0: only to those who have nothing to do.
size_t yoke__share_chunk(size_t n_left, size_t n_workers);

#endif
