// Running one companion: derive the description, build, step, keep its signals.
#include "trust/trust_companion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base_os.h"
#include "base/base_status.h"
#include "base/base_temp.h"
#include "trust/trust_store.h"

const char* const yoke__companion_status_names[] = {"waiting",  "done",    "refused",   "failed",
                                                    "diverged", "stopped", "cancelled", "left out"};

size_t yoke__companion_n_totals(const yoke_system* system) {
  return system->n_bonds + YOKE_FLOW_TOTALS * system->n_flows;
}

yoke_status yoke__companion_create(const yoke_companion_plan* plan, yoke_companion* companion) {
  const size_t n_values = (size_t)plan->n_rows * plan->n + yoke__companion_n_totals(plan->system);
  YOKE_TRY(yoke__shared_create(sizeof *companion->result + n_values * sizeof(double),
                               &companion->memory));
  companion->result = (yoke_companion_result*)(void*)companion->memory.bytes;
  atomic_store(&companion->result->most_calls, INT64_MAX);
  return YOKE_OK;
}

void yoke__companion_destroy(yoke_companion* companion) {
  yoke__fork_server_stop(&companion->server);
  if (companion->result != NULL) {
    yoke__shared_close(&companion->memory);
    companion->result = NULL;
  }
}

// ---- cost

static int64_t calls_of(int64_t duration, int64_t period) {
  return period > 0 ? duration / period : 0;
}

int64_t yoke__companion_calls(const yoke_system* system) {
  int64_t n = 0;
  for (size_t i = 0; i < system->n_units; i++) {
    if (!system->units[i].is_law) {
      n += calls_of(system->n_slots * system->slot, system->units[i].period);
    }
  }
  return n;
}

double yoke__companion_cost(const yoke_companion_plan* plan, const yoke_companion_way* way) {
  const yoke_companion_unit* known = way->is_strict ? plan->strict : plan->units;
  const yoke_system* system = plan->system;
  double n = 0;
  for (size_t i = 0; i < system->n_units; i++) {
    if (!system->units[i].is_law) {
      n += (double)yoke__companion_divisor(&way->recipe, &known[i]) *
           (double)calls_of(system->n_slots * system->slot, system->units[i].period);
    }
  }
  return n;
}

// ---- one way

typedef struct companion_job {
  const yoke_companion_plan* plan;
  const yoke_companion_way* way;
  yoke_companion_result* result;
  const atomic_bool* cancelled_by;  // besides the result's own; NULL: none
  int parent;                       // process
} companion_job;

static void note_shortage(yoke_companion_result* result, yoke_status status) {
  result->shortage = yoke__status_is_shortage(status) ? status : result->shortage;
}

static void end_with(yoke_companion_result* result, yoke_companion_status status,
                     const char* reason) {
  result->status = status;
  snprintf(result->why, sizeof result->why, "%.300s", reason == NULL ? "" : reason);
}

void yoke__companion_limit(yoke_companion_result* result) {
  end_with(result, YOKE_COMPANION_LIMITED,
           "it needs more than 20 times the calls of units of the run");
}

static bool is_cancelled(const companion_job* job) {
  return atomic_load_explicit(&job->result->is_cancelled, memory_order_relaxed) ||
         (job->cancelled_by != NULL &&
          atomic_load_explicit(job->cancelled_by, memory_order_relaxed));
}

// The first error, as a person would read it.
static void refuse(yoke_companion_result* result, const yoke_messages* messages,
                   yoke_status status) {
  char text[YOKE_MESSAGE_TEXT_SIZE] = "";
  note_shortage(result, yoke__messages_status(messages, status));
  for (size_t i = 0; i < messages->n && text[0] == '\0'; i++) {
    if (messages->all[i].severity == YOKE_ERROR) {
      snprintf(text, sizeof text, "%s", messages->all[i].text == NULL ? "" : messages->all[i].text);
    }
  }
  end_with(result, YOKE_COMPANION_REFUSED, text[0] == '\0' ? yoke_status_text(status) : text);
}

// A failure of the units while it was stepped.
static void fail(yoke_companion_result* result, const yoke_failure* failure, yoke_status status) {
  char text[YOKE_MESSAGE_TEXT_SIZE] = "error: ";
  note_shortage(result, status);
  const size_t n_word = strlen(text);
  if (failure->message.text != NULL) {
    yoke_message bare = failure->message;
    bare.file = NULL;
    yoke_message_format(&bare, text, sizeof text);
  }
  end_with(result, status == YOKE_NOT_FINITE ? YOKE_COMPANION_DIVERGED : YOKE_COMPANION_FAILED,
           text[n_word] == '\0' ? yoke_status_text(status) : text + n_word);
}

// What is compared must be the same signals in the same order.
static bool is_alike(const yoke_system* a, const yoke_system* b) {
  bool is_same = a->n_judged == b->n_judged && a->n_bonds == b->n_bonds;
  for (size_t i = 0; is_same && i < a->n_judged; i++) {
    is_same = a->judged[i].unit == b->judged[i].unit &&
              a->judged[i].variable == b->judged[i].variable &&
              a->judged[i].element == b->judged[i].element;
  }
  return is_same;
}

static void read_row(const yoke_system* system, const yoke_state* state, double to[]) {
  for (size_t i = 0; i < system->n_judged; i++) {
    to[i] = state->y[system->judged[i].y];
  }
}

// The points that lie in the step that ended now, between the row before it and the one after it.
typedef struct sampler {
  double *before, *after;
  double t_before;
} sampler;

static double row_time(const yoke_companion_plan* plan, int64_t row) {
  return plan->times != NULL
             ? plan->times[row]
             : yoke__clock_time(&plan->system->clock, row * plan->thin * plan->system->macro);
}

static void keep_rows(const companion_job* job, const yoke_system* system, const yoke_state* state,
                      sampler* s) {
  const yoke_companion_plan* plan = job->plan;
  yoke_companion_result* result = job->result;
  const double near = 1e-6 * yoke__clock_seconds(&system->clock, system->slot);
  read_row(system, state, s->after);
  while (result->n_rows < plan->n_rows && row_time(plan, result->n_rows) <= state->t + near) {
    const double t = row_time(plan, result->n_rows), h = state->t - s->t_before;
    const double share = h > 0 && t < state->t - near ? (t - s->t_before) / h : 1;
    double* to = result->values + (size_t)result->n_rows * plan->n;
    for (size_t i = 0; i < plan->n; i++) {
      to[i] = share < 1 ? s->before[i] + share * (s->after[i] - s->before[i]) : s->after[i];
    }
    result->n_rows++;
  }
  memcpy(s->before, s->after, plan->n * sizeof(double));
  s->t_before = state->t;
}

int64_t yoke__companion_calls_made(const yoke_system* system, const yoke_state* state) {
  const int64_t ticks = state->n_slots * system->slot;
  int64_t n = 0;
  for (size_t i = 0; i < system->n_units; i++) {
    n += system->units[i].is_law ? 0 : calls_of(ticks, system->units[i].period);
  }
  const yoke_iteration_info* it = &state->iteration;
  return it->n_steps > 0 ? (int64_t)((double)n * (double)it->n_iterations / (double)it->n_steps)
                         : n;
}

#define LOOK_EVERY 64  // macro steps between two looks at the clock's business

static void step_all(const companion_job* job, const yoke_system* system, yoke_state* state,
                     sampler* s) {
  yoke_companion_result* result = job->result;
  s->t_before = state->t;
  keep_rows(job, system, state, s);
  for (int64_t k = 1; result->n_rows < job->plan->n_rows; k++) {
    const yoke_status status = yoke__master_step(system, state);
    if (status < 0) {
      fail(result, &state->failure, status);
      return;
    }
    keep_rows(job, system, state, s);
    if (status != YOKE_OK && result->n_rows < job->plan->n_rows) {
      end_with(result, YOKE_COMPANION_FAILED, "a unit ended it early");
      return;
    }
    if (is_cancelled(job)) {
      end_with(result, YOKE_COMPANION_CANCELLED, "");
      return;
    }
    if (k % LOOK_EVERY == 0 &&
        yoke__companion_calls_made(system, state) > atomic_load(&result->most_calls)) {
      yoke__companion_limit(result);
      return;
    }
    if (state->n_slots >= system->n_slots && result->n_rows < job->plan->n_rows) {
      end_with(result, YOKE_COMPANION_FAILED, "it ends before the run does");
      return;
    }
  }
  result->status = YOKE_COMPANION_DONE;
}

// The flow of the companion that a flow of the run is there; n_flows: it has none.
static size_t find_flow(const yoke_system* system, const yoke_system_flow* wanted) {
  size_t i = 0;
  while (i < system->n_flows &&
         (system->flows[i].link != wanted->link || system->flows[i].element != wanted->element)) {
    i++;
  }
  return i;
}

double yoke__companion_sender_step(const yoke_system* system, size_t flow) {
  const yoke_system_unit* from = &system->units[system->links[system->flows[flow].link].from_unit];
  return from->is_law ? yoke__clock_seconds(&system->clock, system->slot) : from->step;
}

static void keep_totals(const companion_job* job, const yoke_system* system,
                        const yoke_state* state) {
  const yoke_system* run = job->plan->system;
  double* energies = job->result->values + (size_t)job->plan->n_rows * job->plan->n;
  for (size_t i = 0; i < system->n_bonds && state->ledger != NULL; i++) {
    yoke_ledger_result r;
    yoke__ledger_result(state->ledger, i, &r);
    energies[i] = r.given;
  }
  double* amounts = energies + run->n_bonds;
  for (size_t i = 0; i < run->n_flows; i++) {
    yoke_flow_result r = {.sent = (double)NAN, .size = (double)NAN};
    const size_t own = find_flow(system, &run->flows[i]);
    if (own < system->n_flows) {
      yoke__master_flow(system, state, own, &r);
    }
    double* to = amounts + YOKE_FLOW_TOTALS * i;
    to[0] = r.sent;
    to[1] = r.size;
    to[2] = own < system->n_flows ? yoke__companion_sender_step(system, own) : (double)NAN;
  }
}

static void run_system(const companion_job* job, yoke_system* system, yoke_messages* messages) {
  yoke_state* state = NULL;
  yoke_status status = yoke__master_create(system, messages, &state);
  // nothing is recorded: judged signals are all that is looked at
  status = status < 0 ? status : yoke__master_set_reading(system, state, YOKE_READ_USED);
  double* rows = calloc(2 * job->plan->n + 1, sizeof *rows);
  if (status < 0 || rows == NULL) {
    refuse(job->result, messages, status < 0 ? status : YOKE_NO_MEMORY);
  } else {
    sampler s = {.before = rows, .after = rows + job->plan->n};
    step_all(job, system, state, &s);
    keep_totals(job, system, state);
    job->result->n_calls = yoke__companion_calls_made(system, state);
    job->result->t = state->t;
  }
  free(rows);
  if (state != NULL) {
    yoke__master_destroy(system, &state);
  }
}

static void run_way(const companion_job* job) {
  const yoke_companion_plan* plan = job->plan;
  const int64_t start = yoke__os_now_ns();
  const uint64_t mode = yoke__os_float_mode_set();
  yoke_messages messages = {0};
  yoke_scenario* scenario = NULL;
  yoke_system* system = NULL;
  yoke_status status = yoke__scenario_companion(
      plan->system->scenario, job->way->is_strict ? plan->strict : plan->units, plan->connections,
      plan->system->n_links, &job->way->recipe, &scenario);
  status = status < 0 ? status
                      : yoke__system_build(scenario, plan->system->registry, &messages, &system);
  if (status < 0) {
    refuse(job->result, &messages, status);
  } else if (!is_alike(system, plan->system)) {
    end_with(job->result, YOKE_COMPANION_REFUSED, "it has other signals than the run");
  } else if (job->way->recipe.method != NULL && job->way->recipe.scheme == YOKE_JACOBI &&
             job->way->recipe.order == 0 && system->n_methods < 2) {
    end_with(job->result, YOKE_COMPANION_REFUSED, "the method applies to no connection");
  } else {
    run_system(job, system, &messages);
  }
  yoke__system_destroy(&system);
  yoke__messages_free(&messages);
  yoke__os_float_mode_restore(mode);
  job->result->wall_s = (double)(yoke__os_now_ns() - start) * 1e-9;
}

// ---- a process of its own

static int run_apart(const void* argument) {
  const companion_job* job = argument;
  yoke_temp* temp = NULL;
  // its units have nothing to print, and the files that they write where they stand do not meet those of the run
  yoke_status status = dup2(STDOUT_FILENO, STDERR_FILENO) < 0
                           ? YOKE_IO
                           : yoke__process_attach(job->parent, STDERR_FILENO, NULL, NULL);
  status = status < 0 ? status : yoke__temp_create(&temp, NULL);
  note_shortage(job->result, status);
  if (status < 0 || chdir(yoke__temp_path(temp)) != 0) {
    end_with(job->result, YOKE_COMPANION_REFUSED, "its folder could not be made");
  } else {
    run_way(job);
  }
  yoke__temp_remove(&temp);
  return 0;
}

static int run_served(const void* argument, int number, int parent) {
  const yoke_companion* companion = argument;
  const companion_job job = {companion->plan, &companion->ways[number], companion->result,
                             companion->cancelled_by, parent};
  yoke__os_lower_priority(YOKE_COMPANION_PRIORITY);
  return run_apart(&job);
}

void yoke__companion_prepare(const yoke_companion_plan* plan, yoke_companion* companion) {
  YOKE_CATCH(why);
  if (plan->is_apart && !companion->server.is_up) {
    companion->plan = plan;
    (void)yoke__fork_server_start(run_served, companion, &companion->server, &why.sink);
  }
}

static const char lost_text[] = "its parent process was killed";

// How its process ended. False: it was cancelled, could not be started, or nobody knows.
static bool await_process(const companion_job* job, yoke_companion* companion,
                          yoke_process* process) {
  yoke_fork_server* server = &companion->server;
  const bool is_served = server->is_up;
  YOKE_CATCH(why);
  const yoke_status status = is_served ? yoke__fork_server_run(server, (int)companion->way)
                                       : yoke__process_fork(run_apart, job, process, &why.sink);
  if (status < 0) {
    note_shortage(job->result, status);
    end_with(job->result, YOKE_COMPANION_REFUSED, is_served ? lost_text : why.text);
    return false;
  }
  const int64_t look_ns = 50000000;
  while (is_served ? !yoke__fork_server_wait(server, look_ns, process)
                   : !yoke__process_wait(process, look_ns)) {
    if (is_cancelled(job)) {
      if (is_served) {
        yoke__fork_server_stop(server);
      } else {
        yoke__process_kill(process);
      }
      end_with(job->result, YOKE_COMPANION_CANCELLED, "");
      return false;
    }
  }
  if (is_served && !process->is_known) {
    end_with(job->result, YOKE_COMPANION_FAILED, lost_text);
    return false;
  }
  return true;
}

static void run_in_process(const companion_job* job, yoke_companion* companion) {
  yoke_process process = {0};
  if (!await_process(job, companion, &process)) {
    return;
  }
  if (process.is_known && process.signal_number != 0) {
    char text[128];
    snprintf(text, sizeof text, "its process ended by a signal (%s)",
             yoke__signal_text(process.signal_number));
    end_with(job->result, YOKE_COMPANION_FAILED, text);
  } else if (job->result->status == YOKE_COMPANION_WAITING) {
    end_with(job->result, YOKE_COMPANION_FAILED, "a unit ended its process");
  }
}

// ---- all ways

void yoke__companion_run_way(const yoke_companion_plan* plan, yoke_companion* companion) {
  yoke_companion_result* result = companion->result;
  const companion_job job = {plan, &companion->ways[companion->way], result,
                             companion->cancelled_by, yoke__process_id()};
  result->status = YOKE_COMPANION_WAITING;
  result->n_rows = 0;
  result->n_calls = 0;
  result->why[0] = '\0';
  result->shortage = YOKE_OK;
  if (is_cancelled(&job)) {
    end_with(result, YOKE_COMPANION_CANCELLED, "");
  } else if (plan->is_apart) {
    run_in_process(&job, companion);
  } else {
    run_way(&job);
  }
  companion->n_calls_made += result->n_calls;
}

// What does not depend on the method of the run may be known already.
static void run_or_find(const yoke_companion_plan* plan, yoke_companion* companion) {
  const bool is_common = plan->store != NULL && plan->times == NULL &&
                         companion->ways[companion->way].recipe.method != NULL;
  if (!is_common) {
    yoke__companion_run_way(plan, companion);
  } else if (!yoke__companion_store_find(plan->store, plan, companion)) {
    yoke__companion_store_run(plan->store, plan, companion);
  }
}

void yoke__companion_run(const yoke_companion_plan* plan, yoke_companion* companion) {
  const yoke_companion_result* result = companion->result;
  for (; companion->way < companion->n_ways; companion->way++) {
    run_or_find(plan, companion);
    const bool is_next = result->status == YOKE_COMPANION_REFUSED ||
                         result->status == YOKE_COMPANION_FAILED ||
                         result->status == YOKE_COMPANION_DIVERGED;
    if (!is_next || result->shortage < 0 || companion->way + 1 == companion->n_ways) {
      return;
    }
  }
}
