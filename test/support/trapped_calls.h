// System calls of this thread, counted by a filter that makes a signal of each: n_system_calls, and n_calls_of each number. For
// tests of loops that must not make any, or a known number; include it in one file of a program.
#ifndef YOKE_TEST_TRAPPED_CALLS_H
#define YOKE_TEST_TRAPPED_CALLS_H

#ifndef _GNU_SOURCE
#error "define _GNU_SOURCE before the first include"
#endif
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { N_CALL_NUMBERS = 512 };
#define LET_THROUGH 0x796f6b65u  // as the sixth argument of a futex; waits and wakes have none

static volatile sig_atomic_t n_system_calls;
static volatile sig_atomic_t n_calls_of[N_CALL_NUMBERS];

// What the call seems to return: 0.
static void set_result(ucontext_t* context) {
#if defined(__x86_64__)
  context->uc_mcontext.gregs[REG_RAX] = 0;
#elif defined(__aarch64__)
  context->uc_mcontext.regs[0] = 0;
#elif defined(__arm__)
  context->uc_mcontext.arm_r0 = 0;
#else
  (void)context;
#endif
}

static void on_system_call(int number, siginfo_t* info, void* context) {
  (void)number;
  n_system_calls++;
  if (info->si_syscall >= 0 && info->si_syscall < N_CALL_NUMBERS) {
    n_calls_of[info->si_syscall]++;
  }
#ifdef __x86_64__
  if (info->si_syscall == SYS_futex) {
    const greg_t* r = ((const ucontext_t*)context)->uc_mcontext.gregs;
    syscall(SYS_futex, r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], LET_THROUGH);
  }
#endif
  set_result(context);
}

// Every system call but the ends of the process and of a handler is counted and not made: a sleep returns at once. A futex is
// counted and then made, since another thread waits for it (x86-64). It cannot be taken off again, so call it in a child. False:
// there are no filters here.
static bool trap_system_calls(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 6, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LET_THROUGH, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  struct sigaction action = {.sa_sigaction = on_system_call, .sa_flags = SA_SIGINFO};
  sigaction(SIGSYS, &action, NULL);
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#endif
