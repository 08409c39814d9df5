// Processes that this one starts, and memory shared with them (Linux).
#ifndef YOKE_BASE_PROCESS_H
#define YOKE_BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yoke/message.h"
#include "yoke/status.h"

// --- shared memory: a file without a name, so that nothing is left when all its users have ended. It can grow, never
// shrink: what is mapped stays readable whatever the other side does.
typedef struct yoke_shared {
  int file;  // -1: none
  unsigned char* bytes;
  size_t size;
} yoke_shared;

yoke_status yoke__shared_create(size_t size, yoke_shared* out);
// Maps the whole of a file that was handed to this process; the descriptor belongs to `out` then.
yoke_status yoke__shared_open(int file, yoke_shared* out);
// At least that size from now on, the mapping may move: the file grows, or the mapping follows what the other side did.
yoke_status yoke__shared_grow(yoke_shared* shared, size_t size);
// The same, but YOKE_BAD_ARG if the file is not that large.
yoke_status yoke__shared_follow(yoke_shared* shared, size_t size);
// Maps all that the other side has made of it.
yoke_status yoke__shared_update(yoke_shared* shared);
void yoke__shared_close(yoke_shared* shared);

// word points to 32 bits of shared memory. Waits while *word == expected (may wake early); wake wakes all waiters.
void yoke__shared_wait(void* word, uint32_t expected, int64_t timeout_ns);
void yoke__shared_wake(void* word);

// --- a process that was started here
typedef struct yoke_process {
  int pid;  // 0: none
  bool is_ended;
  bool is_known;      // signal_number and exit_status are; not if somebody else waited for it
  int signal_number;  // 0: ended by itself
  int exit_status;
  uint64_t peak_memory;  // bytes that were really used at most
  char mark[64];         // in its environment, by which what it started is found; "": none
  uint64_t start_time;   // of the process, as base_family.h counts
} yoke_process;

// Descriptor under which the new process finds `file`.
enum { YOKE_PROCESS_FILE = 3 };

// Starts a program in a process group of its own: no input, output goes to standard error, signals as usual, of all files
// only `file` is handed over. argv ends with NULL. Whatever it starts ends with it, also what leaves its group and session.
yoke_status yoke__process_start(const char* program, char* const argv[], int file,
                                yoke_process* out, const yoke_sink* sink);
// Runs a function in a copy of this process, which then ends with the returned status. For what may crash. What it prints to
// standard output is dropped.
yoke_status yoke__process_fork(int (*run)(const void* argument), const void* argument,
                               yoke_process* out, const yoke_sink* sink);
// Runs a program to its end and keeps what it writes to standard output, as a text that is cut at `size`; standard error is
// dropped, its exit status is not looked at. False if it did not end in time; of one that cannot be started the text is empty.
bool yoke__process_read(const char* program, char* const argv[], char* const environment[],
                        int64_t timeout_ns, char* to, size_t size);
// True once it has ended; then the rest of the struct is filled in and nothing of it is left.
bool yoke__process_has_ended(yoke_process* process);
// Waits at most that long for its end.
bool yoke__process_wait(yoke_process* process, int64_t timeout_ns);
// Ends it and all that it started in its group, at once.
void yoke__process_kill(yoke_process* process);
// Ended by its limit of processor time; by a signal that no program can catch.
bool yoke__process_is_out_of_time(const yoke_process* process);
bool yoke__process_is_killed(const yoke_process* process);
// "segmentation fault" and the like; never NULL.
const char* yoke__signal_text(int signal_number);

// --- in the process that was started
// Closes all files above `file`. Ends this process group as soon as `parent` has ended, at once if it has already.
// tick, if not NULL, is called every 50 ms from a thread of its own.
yoke_status yoke__process_attach(int parent, int file, void (*tick)(void*), void* context);
// In a copy (yoke__process_fork) whose maker waits for it: it ends as soon as the thread that made it does, at once if
// `parent` has ended already, and what it prints to standard error is dropped too.
void yoke__process_stay_with(int parent);
// No core files; from now on at most max_memory bytes of address space beyond what is taken (0: no limit).
void yoke__process_limit(uint64_t max_memory);
// At most that much processor time from the start of the process on.
void yoke__process_limit_time(int seconds);
// Bytes of address space that this process has taken.
uint64_t yoke__process_memory(void);

int yoke__process_id(void);
// Folder of the running program, and of the file this function was loaded from; "" if unknown.
void yoke__process_directory(char* to, size_t size);
void yoke__process_library_directory(char* to, size_t size);
// The dynamic loader of this process, such as /lib64/ld-linux-x86-64.so.2; "" if unknown.
void yoke__process_loader(char* to, size_t size);
bool yoke__process_is_program(const char* path);  // a file that may be executed

#endif
