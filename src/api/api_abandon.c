// The end of a run that does not come back. The thread that steps stands in foreign code, so everything of ours is as it was
// when that code was called; nothing is freed, since the heap may be in any state.
#include "api/api.h"
#include "base/base_os.h"

#define FILES_NS INT64_C(5000000000)  // for the rows that wait and for the ends of the files
#define STEP_NS  INT64_C(50000000)    // in which a thread that is none to blame ends its step
#define CLOSE_NS INT64_C(2000000000)  // in which a run that is over completes its results by itself

// A unit may have crashed in a thread of its own: then the run goes on, to the end of its step.
static void await_step(const yoke_simulation* simulation) {
  const int64_t end = yoke__os_now_ns() + STEP_NS;
  while (!atomic_load(&simulation->is_back) && yoke__os_now_ns() < end) {
    yoke__os_sleep_ns(1000000);
  }
}

// A run that was interrupted may be at its end already. False: it is not yet over.
static bool await_close(const yoke_simulation* simulation) {
  const int64_t end = yoke__os_now_ns() + CLOSE_NS;
  while (atomic_load(&simulation->is_closing) && yoke__os_now_ns() < end) {
    yoke__os_sleep_ns(1000000);
  }
  return !atomic_load(&simulation->is_closing);
}

static yoke_status complete(yoke_simulation* simulation, const yoke_sink* sink) {
  yoke_state* state = simulation->state;
  yoke_status status = YOKE_OK;
  if (state != NULL && state->record != NULL) {
    status = yoke__record_abandon(state->record, FILES_NS, &simulation->loop.record, sink);
  }
  const char* directory =
      simulation->directory != NULL ? simulation->directory : simulation->results;
  const yoke_status written =
      directory == NULL ? YOKE_OK : yoke__api_write_summary(simulation, directory, sink);
  return status < 0 ? status : written;
}

yoke_status yoke_simulation_abandon(yoke_simulation* simulation, const yoke_message* why,
                                    const yoke_sink* sink) {
  if (simulation == NULL || why == NULL || why->status >= 0) {
    return YOKE_BAD_ARG;
  }
  if (atomic_exchange(&simulation->is_abandoned, true)) {
    return YOKE_BUSY;
  }
  if (atomic_load(&simulation->is_closing) &&
      !(why->status == YOKE_INTERRUPTED && await_close(simulation))) {
    return YOKE_BUSY;
  }
  atomic_store(&simulation->is_cancelled, true);
  if (why->status == YOKE_INTERRUPTED && simulation->results != NULL) {
    return YOKE_OK;  // the run is over, and its results are complete
  }
  await_step(simulation);
  yoke_loop_info* loop = &simulation->loop;
  loop->status = why->status;
  yoke_pace* pace = simulation->pace;
  if (pace != NULL && why->status != YOKE_INTERRUPTED) {
    pace->safe.now = yoke__safe_next(pace->safe.now, YOKE_SAFE_HANG);
  }
  yoke__failure_set(&loop->failure, why, YOKE_NOT_FOUND);
  yoke__messages_add(&simulation->messages, why);
  if (loop->begin_ns != 0) {
    loop->wall_s = (double)(yoke__os_now_ns() - loop->begin_ns) * 1e-9;
  }
  return complete(simulation, sink);
}
