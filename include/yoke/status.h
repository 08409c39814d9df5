// Status codes of every Yoke function: 0 is success, positive is success with news, negative is failure.
#ifndef YOKE_STATUS_H
#define YOKE_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define YOKE_API               __attribute__((visibility("default")))
#define YOKE_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define YOKE_API
#define YOKE_PRINTF(fmt, args)
#endif

// One list gives the codes and their texts.
#define YOKE_STATUS_LIST(X)                                                                        \
  X(OK, 0, "success")                                                                              \
  X(LATE, 1, "step finished after its deadline")                                                   \
  X(ENDED, 2, "a unit asked to end the run")                                                       \
  X(STOPPED, 3, "a quality limit ended the run")                                                   \
  X(BAD_ARG, -1, "argument is NULL or out of range")                                               \
  X(NO_SUPPORT, -2, "unit lacks this operation")                                                   \
  X(DIVERGED, -3, "a state or output became NaN or infinite")                                      \
  X(NO_MEMORY, -4, "out of memory")                                                                \
  X(BAD_INPUT, -5, "an input file or setting has errors")                                          \
  X(IO, -6, "a file could not be read or written")                                                 \
  X(UNIT_FAILED, -7, "a unit reported a failure")                                                  \
  X(NO_CONVERGENCE, -8, "an iteration did not converge")                                           \
  X(SINGULAR, -9, "a matrix is singular")                                                          \
  X(FULL, -10, "no room left in a fixed-size buffer")                                              \
  X(INTERRUPTED, -11, "interrupted")                                                               \
  X(DISCARDED, -12, "a unit refused the step it was asked for")                                    \
  X(NO_SUCH_NAME, -13, "there is nothing of that name")                                            \
  X(WRONG_TYPE, -14, "the variable has another type")                                              \
  X(READ_ONLY, -15, "the variable cannot be written, or not any more")                             \
  X(NOT_FINITE, -16, "the value is NaN or infinite")                                               \
  X(BUSY, -17, "the simulation is in the middle of another call")                                  \
  X(SHORTAGE, -18, "out of disk space, file descriptors or processes, or the disk failed")

typedef enum yoke_status {
#define YOKE_STATUS_ENUM(name, code, text) YOKE_##name = (code),
  YOKE_STATUS_LIST(YOKE_STATUS_ENUM)
#undef YOKE_STATUS_ENUM
} yoke_status;

// The text of a status; never NULL.
YOKE_API const char* yoke_status_text(yoke_status status);

// Returns a negative status to the caller at once; positive ones (news) pass.
#define YOKE_TRY(expression)                                                                       \
  do {                                                                                             \
    const yoke_status yoke_try_status = (expression);                                              \
    if (yoke_try_status < 0) {                                                                     \
      return yoke_try_status;                                                                      \
    }                                                                                              \
  } while (0)

// Leaves the calling function with YOKE_NO_MEMORY unless what was asked for is there: a pointer, or several joined by &&.
#define YOKE_TRY_MEMORY(pointers)                                                                  \
  do {                                                                                             \
    if (!(pointers)) {                                                                             \
      return YOKE_NO_MEMORY;                                                                       \
    }                                                                                              \
  } while (0)

#ifdef __cplusplus
}
#endif
#endif
