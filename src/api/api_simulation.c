// Simulations: life, stepping, running, recording.
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/base_message.h"
#include "base/base_os.h"
#include "base/base_status.h"

// ---- messages

// Keeps what was said for the summary and passes it on.
static void receive(void* to, const yoke_message* message) {
  yoke_simulation* simulation = to;
  const yoke_message told = yoke__api_reword(simulation, message);
  yoke__messages_add(&simulation->messages, &told);
  yoke_send(&simulation->outer, &told);
}

yoke_message yoke__api_reword(const yoke_simulation* simulation, const yoke_message* message) {
  yoke_message told = *message;
  if (simulation->is_netlist && told.unit != NULL) {
    told.unit = NULL;
    told.file = told.file == NULL ? simulation->system->scenario->path : told.file;
  }
  return told;
}

double yoke__api_time(const yoke_simulation* simulation) {
  const yoke_state* state = simulation->state;
  const yoke_system* system = simulation->system;
  return state == NULL
             ? (double)NAN
             : yoke__clock_time(&system->clock,
                                atomic_load_explicit(&state->progress, memory_order_relaxed) *
                                    system->slot);
}

yoke_status yoke__api_refuse(const yoke_simulation* simulation, yoke_status status,
                             const char* unit, const char* variable, const char* format, ...) {
  char text[YOKE_MESSAGE_TEXT_SIZE];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  const yoke_message message = {.severity = YOKE_ERROR,
                                .status = status,
                                .unit = unit,
                                .variable = variable,
                                .time = yoke__api_time(simulation),
                                .text = text};
  yoke_send(&simulation->outer, &message);
  return status;
}

yoke_status yoke__api_refuse_entry(const yoke_simulation* simulation, bool is_move) {
  return simulation == NULL
             ? YOKE_BAD_ARG
             : yoke__api_refuse(simulation, YOKE_BUSY, NULL, NULL,
                                "the simulation is in the middle of another call: a callback "
                                "cannot %s it",
                                is_move ? "move, save, record or destroy" : "ask the units of");
}

yoke_status yoke__api_told(yoke_simulation* simulation, yoke_status status, size_t n_errors) {
  if (status < 0 && simulation->messages.n_errors == n_errors) {
    yoke_fail(&simulation->sink, status, "%s", yoke_status_text(status));
  }
  return status;
}

static char* copy_text(const char* text) {
  const size_t n = strlen(text) + 1;
  char* copy = malloc(n);
  return copy == NULL ? NULL : memcpy(copy, text, n);
}

// ---- life

// The one unit is what the path of the system names.
static bool is_netlist(const yoke_scenario* scenario) {
  const char* path = scenario->path == NULL ? "" : scenario->path;
  const char* slash = strrchr(path, '/');
  return scenario->n_units == 1 && scenario->units[0].kind == YOKE_KIND_CIRCUIT &&
         strcmp(scenario->units[0].type, slash == NULL ? path : slash + 1) == 0;
}

yoke_status yoke_simulation_create(yoke_system* system, const yoke_sink* sink,
                                   yoke_simulation** out) {
  if (out != NULL) {
    *out = NULL;
  }
  if (system == NULL || out == NULL || system->is_running) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s",
                     system != NULL && system->is_running ? "the system has a simulation already"
                                                          : yoke_status_text(YOKE_BAD_ARG));
  }
  yoke_simulation* simulation = calloc(1, sizeof *simulation);
  if (simulation == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "%s", yoke_status_text(YOKE_NO_MEMORY));
  }
  simulation->system = system;
  simulation->is_netlist = is_netlist(system->scenario);
  simulation->outer = sink == NULL ? (yoke_sink){0} : *sink;
  simulation->sink = (yoke_sink){receive, simulation};
  // the clock tells it from one that had the same address before
  simulation->id = (uint64_t)yoke__os_now_ns() ^ ((uint64_t)(uintptr_t)simulation << 20);
  system->is_running = true;
  *out = simulation;
  return YOKE_OK;
}

yoke_status yoke_simulation_load(const char* path, const yoke_load_settings* settings,
                                 yoke_simulation** out) {
  const yoke_sink* sink = settings == NULL ? NULL : settings->sink;
  if (out == NULL) {
    return yoke_fail(sink, YOKE_BAD_ARG, "%s", yoke_status_text(YOKE_BAD_ARG));
  }
  *out = NULL;
  yoke_system* system = NULL;
  YOKE_TRY(yoke_system_load(path, settings, &system));
  const yoke_status status = yoke_simulation_create(system, sink, out);
  if (*out == NULL) {
    yoke_system_destroy(&system);
    return status;
  }
  (*out)->owns_system = true;
  return YOKE_OK;
}

yoke_status yoke__api_start(yoke_simulation* simulation) {
  if (simulation->state != NULL) {
    return YOKE_OK;
  }
  if (simulation->loop.status < 0) {
    return simulation->loop.status;  // it was tried, and units cannot be initialised twice
  }
  yoke_messages messages = {.live = &simulation->sink};
  const uint64_t mode = yoke__os_float_mode_set();
  yoke_state* state = NULL;
  simulation->loop.status = yoke__master_create(simulation->system, &messages, &state);
  simulation->loop.t_reached = simulation->system->t_start;
  simulation->state = state;
  yoke__os_float_mode_restore(mode);
  const bool is_told = yoke__messages_send(&messages, &simulation->sink) > 0;
  for (size_t i = messages.n; i-- > 0;) {
    if (simulation->loop.status < 0 && messages.all[i].severity == YOKE_ERROR) {
      yoke__failure_set(&simulation->loop.failure, &messages.all[i], YOKE_NOT_FOUND);
    }
  }
  if (simulation->loop.status < 0 && !is_told) {
    yoke_fail(&simulation->outer, simulation->loop.status, "%s",
              yoke_status_text(simulation->loop.status));
  }
  yoke__messages_free(&messages);
  return simulation->loop.status;
}

yoke_status yoke_simulation_start(yoke_simulation* simulation) {
  YOKE_TRY(yoke__api_enter(simulation, true));
  return yoke__api_leave(simulation, yoke__api_start(simulation));
}

static void pass_warnings(void* to, const yoke_message* message) {
  const yoke_simulation* simulation = to;
  if (message->severity != YOKE_NOTE) {
    yoke_send(&simulation->outer, message);
  }
}

static yoke_status stop_recording(yoke_simulation* simulation, yoke_record_info* info);

void yoke_simulation_destroy(yoke_simulation** handle) {
  if (handle == NULL || yoke__api_enter(*handle, true) < 0) {
    return;
  }
  yoke_simulation* simulation = *handle;
  yoke__trust_destroy(&simulation->trust);
  (void)stop_recording(simulation, NULL);
  if (simulation->state != NULL) {
    yoke_state* state = simulation->state;
    yoke__master_destroy(simulation->system, &state);
    simulation->state = NULL;
    // what units have to say of their end, unless it is a mere note
    const yoke_sink warnings = {pass_warnings, simulation};
    yoke__system_report(simulation->system, &warnings);
  }
  if (simulation->owns_system) {
    yoke__system_destroy(&simulation->system);
  } else {
    simulation->system->is_running = false;
  }
  yoke__messages_free(&simulation->messages);
  yoke__api_pace_free(simulation);
  free(simulation->starts);
  free(simulation->command);
  free(simulation->results);
  free(simulation);
  *handle = NULL;
}

// ---- moving on

static bool is_state_done(const yoke_system* system, const yoke_state* state) {
  return state->n_slots >= system->n_slots || state->is_end_wanted || state->is_stopped ||
         state->failure.message.status < 0;
}

bool yoke_simulation_is_done(const yoke_simulation* simulation) {
  const yoke_state* state = simulation == NULL ? NULL : simulation->state;
  return state == NULL ? simulation == NULL || simulation->loop.status < 0
                       : is_state_done(simulation->system, state);
}

static yoke_status get_ready(yoke_simulation* simulation) {
  YOKE_TRY(yoke__api_start(simulation));
  if (simulation->state->failure.message.status < 0) {
    return simulation->state->failure.message.status;
  }
  return yoke_simulation_is_done(simulation)
             ? yoke__api_refuse(simulation, YOKE_BAD_ARG, NULL, NULL, "the run is over")
             : YOKE_OK;
}

typedef struct limit_words {
  char text[512];
} limit_words;

// Which bond, when, and how much.
static yoke_message describe_limit(const yoke_simulation* simulation, const yoke_alarm* alarm,
                                   limit_words* words) {
  char what[480];
  yoke__ledger_alarm_text(simulation->state->ledger, alarm, what, sizeof what);
  snprintf(words->text, sizeof words->text, "quality limit: %s", what);
  return (yoke_message){
      .severity = YOKE_ERROR, .status = YOKE_STOPPED, .time = (double)NAN, .text = words->text};
}

// The same of a limit of a signal.
static yoke_message describe_signal_limit(const yoke_simulation* simulation, size_t i,
                                          limit_words* words) {
  char what[480];
  yoke__master_limit_text(simulation->system, simulation->state, i, what, sizeof what);
  snprintf(words->text, sizeof words->text, "quality limit: %s", what);
  return (yoke_message){
      .severity = YOKE_ERROR, .status = YOKE_STOPPED, .time = (double)NAN, .text = words->text};
}

// What ended the run, as its failure: growth, or a limit.
static void note_stop(yoke_simulation* simulation) {
  yoke_divergence divergence;
  if (!simulation->state->is_stopped) {
    return;  // an emergency stop, which is its own reason
  }
  if (simulation->state->watch.stopped_by != YOKE_NOT_FOUND) {
    if (yoke__api_is_diverged(simulation, &divergence)) {
      const yoke_message message = yoke__api_divergence_message(&divergence);
      yoke__failure_set(&simulation->loop.failure, &message, YOKE_NOT_FOUND);
    }
    return;
  }
  if (simulation->state->watch.limited_by != YOKE_NOT_FOUND) {
    limit_words words;
    const yoke_message message =
        describe_signal_limit(simulation, simulation->state->watch.limited_by, &words);
    yoke__failure_set(&simulation->loop.failure, &message, YOKE_NOT_FOUND);
    return;
  }
  size_t n = 0, n_more = 0;
  const yoke_alarm* alarms = yoke__ledger_alarms(simulation->state->ledger, &n, &n_more);
  while (n > 0 && alarms[n - 1].level != YOKE_ALARM_STOP) {
    n--;
  }
  if (n > 0) {
    limit_words words;
    const yoke_message message = describe_limit(simulation, &alarms[n - 1], &words);
    yoke__failure_set(&simulation->loop.failure, &message, YOKE_NOT_FOUND);
  }
}

// After a step or a loop that was not just done.
static void note_end(yoke_simulation* simulation, yoke_status status) {
  atomic_store(&simulation->is_over, yoke_simulation_is_done(simulation));
  if (status == YOKE_STOPPED) {
    note_stop(simulation);
  }
  yoke__api_failed(simulation, status);
}

yoke_status yoke__api_take_mail(const yoke_simulation* simulation) {
  const yoke_status status = yoke__master_take_mail(simulation->system, simulation->state);
  if (status < 0) {
    yoke_send(&simulation->outer, &simulation->state->failure.message);
  }
  return status;
}

// What the steps to come fetch from the units: where nothing is recorded, what the loop needs itself. Variables that a caller
// reads are asked for when they are read.
static yoke_status choose_reading(yoke_simulation* simulation, yoke_reading reading) {
  yoke_state* state = simulation->state;
  if (state->reading == reading) {
    return YOKE_OK;
  }
  const uint64_t mode = yoke__os_float_mode_set();
  const yoke_status status = yoke__master_set_reading(simulation->system, state, reading);
  yoke__os_float_mode_restore(mode);
  if (status < 0) {
    yoke_send(&simulation->sink, &state->failure.message);
  }
  return status;
}

static inline yoke_reading reading_of(const yoke_state* state) {
  return state->record == NULL ? YOKE_READ_USED : YOKE_READ_RECORDED;
}

static inline yoke_status step(yoke_simulation* simulation) {
  const yoke_system* system = simulation->system;
  yoke_state* state = simulation->state;
  if (state == NULL || is_state_done(system, state)) {
    YOKE_TRY(get_ready(simulation));
    state = simulation->state;
  }
  if (state->reading != reading_of(state)) {
    YOKE_TRY(choose_reading(simulation, reading_of(state)));
  }
  if (simulation->trust != NULL) {
    yoke__trust_destroy(&simulation->trust);  // a verdict is of the run that ended here
  }
  const uint64_t mode = yoke__os_float_mode_set();
  const yoke_status status = yoke__master_timed_step(system, state, &simulation->loop);
  yoke__os_float_mode_restore(mode);
  if (status != YOKE_OK) {
    note_end(simulation, status);
  }
  return status;
}

yoke_status yoke_simulation_step(yoke_simulation* simulation) {
  YOKE_TRY(yoke__api_enter(simulation, true));
  return yoke__api_leave(simulation, step(simulation));
}

static yoke_status run_to(yoke_simulation* simulation, double t) {
  YOKE_TRY(yoke__api_start(simulation));
  // times are k * tick: half a step below t counts as reached only if rounding did it
  const double near =
      t - 1e-9 * yoke__clock_seconds(&simulation->system->clock, simulation->system->macro);
  while (simulation->state->t < near) {
    const yoke_status status = step(simulation);
    if (status != YOKE_OK) {
      return status;
    }
    if (atomic_load_explicit(&simulation->is_cancelled, memory_order_relaxed)) {
      atomic_store(&simulation->is_cancelled, false);
      return YOKE_INTERRUPTED;
    }
    if (simulation->state->n_slots >= simulation->system->n_slots) {
      break;
    }
  }
  return YOKE_OK;
}

yoke_status yoke_simulation_run_to(yoke_simulation* simulation, double t) {
  YOKE_TRY(isnan(t) ? YOKE_BAD_ARG : yoke__api_enter(simulation, true));
  return yoke__api_leave(simulation, run_to(simulation, t));
}

static bool is_violated(const yoke_simulation* simulation) {
  const yoke_state* state = simulation->state;
  return (state->ledger != NULL && yoke__ledger_is_violated(state->ledger)) ||
         yoke__master_is_limited(simulation->system, state);
}

#define MAX_LIMITS 5  // violated limits that are reported one by one; the summary has all of them

static void report_more(yoke_simulation* simulation, size_t n) {
  if (n > MAX_LIMITS) {
    yoke_fail(&simulation->sink, YOKE_STOPPED, "and %zu more: summary.json lists them",
              n - MAX_LIMITS);
  }
}

// Limits of signals that were exceeded without ending the run.
static void report_signal_limits(yoke_simulation* simulation) {
  const yoke_watch* watch = &simulation->state->watch;
  size_t n = 0;
  for (size_t i = 0; i < simulation->system->n_limits; i++) {
    if (watch->limits[i].n_beyond > 0 && i != watch->limited_by && ++n <= MAX_LIMITS) {
      limit_words words;
      const yoke_message message = describe_signal_limit(simulation, i, &words);
      yoke_send(&simulation->sink, &message);
    }
  }
  report_more(simulation, n);
}

// Limits of bonds in the system file that were exceeded without ending the run.
static void report_limits(yoke_simulation* simulation) {
  size_t n = 0, n_more = 0, n_given = 0;
  const yoke_ledger* ledger = simulation->state->ledger;
  if (ledger == NULL || !yoke__ledger_is_violated(ledger)) {
    return;
  }
  const yoke_alarm* alarms = yoke__ledger_alarms(simulation->state->ledger, &n, &n_more);
  for (size_t i = 0; i < n; i++) {
    if (!alarms[i].is_given || ++n_given > MAX_LIMITS) {
      continue;
    }
    limit_words words;
    const yoke_message message = describe_limit(simulation, &alarms[i], &words);
    yoke_send(&simulation->sink, &message);
  }
  report_more(simulation, n_given);
}

// A signal that grew without bounds though nothing ended the run.
void yoke__api_report_divergence(yoke_simulation* simulation) {
  yoke_divergence divergence;
  if (yoke__api_is_diverged(simulation, &divergence)) {
    const yoke_message message = yoke__api_divergence_message(&divergence);
    yoke_send(&simulation->sink, &message);
  }
}

// Loops that grew and whose signals were held for a while. No failure: whether the result is good is for the verdict to say.
static void report_fallbacks(yoke_simulation* simulation) {
  for (size_t loop = 0; loop < simulation->system->n_unit_loops; loop++) {
    const yoke_fallback* fallback = NULL;
    for (size_t k = 0; (fallback = yoke__master_fallback(simulation->state, loop, k)) != NULL;
         k++) {
      char text[YOKE_MESSAGE_TEXT_SIZE];
      yoke__master_fallback_text(simulation->system, fallback, text, sizeof text);
      yoke__notify(&simulation->sink, YOKE_WARNING, "%s", text);
    }
  }
}

// Adds whose coupling a message is about.
typedef struct method_words {
  yoke_context about;
  const char *owner, *method;
} method_words;

static void add_method_words(void* to, const yoke_message* message) {
  const method_words* words = to;
  char text[YOKE_MESSAGE_TEXT_SIZE];
  yoke_message full = *message;
  snprintf(text, sizeof text, "%s: method '%s': %s", words->owner, words->method, message->text);
  full.text = text;
  yoke_send(&words->about.sink, &full);
}

// What coupling methods of single connections and bonds have to say of the run; clusters say it in the summary.
static void report_methods(yoke_simulation* simulation) {
  const yoke_system* system = simulation->system;
  for (size_t i = 0; i < system->n_groups; i++) {
    const yoke_group* group = &system->groups[i];
    if (group->role != YOKE_GROUP_WHOLE || group->ops->report == NULL) {
      continue;
    }
    method_words words = {.owner = system->methods[group->method].owner,
                          .method = group->ops->name};
    yoke__context_init(&words.about, &simulation->sink, (yoke_place){0},
                       system->units[group->unit].name, (double)NAN);
    group->ops->report(simulation->state->group_memory + group->self,
                       &(yoke_sink){add_method_words, &words});
  }
}

typedef struct running {
  yoke_simulation* simulation;
  const yoke_run_settings* settings;
  int64_t cpu_ns;  // of this thread when the run began
} running;

// Threads of the run work about as long as the one that waits for them.
static double cpu_seconds(const yoke_simulation* simulation, int64_t ns) {
  return (double)ns * 1e-9 * simulation->system->n_threads;
}

static bool ask_caller(const running* job, const yoke_progress* progress) {
  if (job->settings->progress == NULL) {
    return true;
  }
  // between two steps units may be asked
  atomic_store_explicit(&job->simulation->phase, YOKE_API_RUNNING, memory_order_relaxed);
  const bool goes_on = job->settings->progress(job->settings->to, progress);
  atomic_store_explicit(&job->simulation->phase, YOKE_API_CALLING, memory_order_relaxed);
  return goes_on;
}

static bool ask_each(void* to) {
  const running* job = to;
  atomic_store_explicit(&job->simulation->phase, YOKE_API_RUNNING, memory_order_relaxed);
  const bool goes_on = job->settings->each(job->settings->to);
  atomic_store_explicit(&job->simulation->phase, YOKE_API_CALLING, memory_order_relaxed);
  return goes_on;
}

static bool show_progress(void* to) {
  const running* job = to;
  yoke_progress progress;
  yoke_simulation_get_progress(job->simulation, &progress);
  // companions of a paced run have not begun
  if (job->simulation->trust != NULL && job->simulation->state->pace == NULL) {
    yoke__trust_watch(job->simulation->trust, progress.share,
                      cpu_seconds(job->simulation, yoke__os_cpu_ns() - job->cpu_ns));
  }
  return ask_caller(job, &progress);
}

static yoke_status start_recording(yoke_simulation* simulation,
                                   const yoke_record_settings* settings);

static yoke_trust_mode choose_mode(const yoke_simulation* simulation, yoke_trust_mode mode) {
  static const yoke_trust_mode modes[] = {
      [YOKE_COMPANIONS_AUTO] = YOKE_TRUST_AUTO, [YOKE_COMPANIONS_BOTH] = YOKE_TRUST_BOTH,
      [YOKE_COMPANIONS_HALF] = YOKE_TRUST_HALF, [YOKE_COMPANIONS_CHEAP] = YOKE_TRUST_CHEAP,
      [YOKE_COMPANIONS_NONE] = YOKE_TRUST_NONE,
  };
  return mode == YOKE_TRUST_FILE ? modes[simulation->system->scenario->trust.companions] : mode;
}

static const char written_text[] =
    "values were written during the run, which companion runs cannot repeat";

// Companions begin beside the run. Without memory for them the run goes on alone, and the verdict says so.
static void start_trust(yoke_simulation* simulation, yoke_trust_mode mode, bool is_paced) {
  const yoke_system* system = simulation->system;
  yoke__trust_destroy(&simulation->trust);
  mode = choose_mode(simulation, mode);
  // a companion knows nothing of what was written, nor of a state that was restored
  const char* why = NULL;
  if (mode != YOKE_TRUST_NONE && simulation->state->n_slots > 0) {
    why = "the run did not begin at its start time";
  } else if (mode != YOKE_TRUST_NONE && atomic_load(&simulation->is_written)) {
    why = written_text;
  }
  if (why == NULL) {
    // beside a run that follows the clock they would take its processors
    const yoke_status begun =
        is_paced ? yoke__trust_begin_alone(system, simulation->state, mode, &simulation->trust)
                 : yoke__trust_begin(system, simulation->state, mode, &simulation->trust);
    why = begun >= 0                ? NULL
          : begun == YOKE_NO_MEMORY ? "there is no memory for companions"
                                    : "there are no descriptors for companions";
  }
  if (why != NULL &&
      yoke__trust_begin(system, simulation->state, YOKE_TRUST_NONE, &simulation->trust) >= 0) {
    yoke__trust_give_up(simulation->trust, why);
  }
}

static yoke_status run(yoke_simulation* simulation, const yoke_run_settings* settings,
                       yoke_run_info* info) {
  const bool is_paced = yoke__api_pace_factor(simulation, settings) > 0;
  yoke_status status = is_paced ? YOKE_OK : yoke__api_pace_need(simulation);
  status = status >= 0 ? get_ready(simulation) : status;
  if (status >= 0 && settings->record != NULL && simulation->state->record != NULL) {
    status = yoke__api_refuse(simulation, YOKE_BAD_ARG, NULL, NULL, "it records already");
  }
  if (status >= 0 && (unsigned)settings->trust > YOKE_TRUST_CHEAP) {
    status = yoke__api_refuse(simulation, YOKE_BAD_ARG, NULL, NULL, "unknown companions");
  }
  status = status >= 0 && is_paced ? yoke__api_pace_check(simulation, settings) : status;
  info->status = status;
  YOKE_TRY(status);
  free(simulation->command);
  simulation->command = settings->command == NULL ? NULL : copy_text(settings->command);
  status = settings->record == NULL ? YOKE_OK : start_recording(simulation, settings->record);
  status = status < 0 ? status : choose_reading(simulation, reading_of(simulation->state));
  running job = {simulation, settings, yoke__os_cpu_ns()};
  yoke_loop_settings loop = {
      .is_cancelled = &simulation->is_cancelled,
      .progress = show_progress,
      .each = settings->each == NULL ? NULL : ask_each,
      .to = &job,
      .is_stop_wanted = &simulation->is_stop_wanted,
  };
  free(simulation->results);  // those of an earlier run keep their own verdict
  simulation->results = NULL;
  if (status >= 0) {
    // behind the recording, so that companions take nothing from it; its writer has no rows yet and waits
    start_trust(simulation, settings->trust, is_paced);
    if (is_paced) {
      yoke__api_pace_begin(simulation, settings);
      loop.pace = simulation->pace;
    }
    const uint64_t mode = yoke__os_float_mode_set();
    status = yoke__master_loop(simulation->system, simulation->state, &loop, &simulation->loop);
    yoke__os_float_mode_restore(mode);
    if (is_paced) {
      yoke__api_pace_end(simulation);
    }
    if (atomic_load(&simulation->is_abandoned)) {
      atomic_store(&simulation->is_back, true);
      info->status = YOKE_INTERRUPTED;
      return YOKE_INTERRUPTED;
    }
    atomic_store(&simulation->is_cancelled, false);
    atomic_store(&simulation->is_stop_wanted, false);
    simulation->run_cpu_ns = yoke__os_cpu_ns() - job.cpu_ns;
    yoke__api_report_iteration(simulation);
    report_fallbacks(simulation);
    report_methods(simulation);
    report_signal_limits(simulation);
    if (status != YOKE_STOPPED) {
      report_limits(simulation);
      yoke__api_report_divergence(simulation);
    }
    note_end(simulation, status);
    if (is_paced) {
      yoke__api_pace_settle(simulation, status);
      yoke__api_report_pace(simulation);
    }
    if (status == YOKE_STOPPED) {
      yoke_send(&simulation->sink, &simulation->loop.failure.message);
    }
  }
  // whatever happened, the rows are completed and the summary says how it ended
  simulation->loop.status = status;
  const yoke_status written = settings->record == NULL ? YOKE_OK : stop_recording(simulation, NULL);
  status = written < 0 ? written : status;
  simulation->loop.status = status;
  yoke_divergence divergence;
  *info = (yoke_run_info){.status = status,
                          .n_steps = simulation->loop.n_steps,
                          .t_reached = simulation->loop.t_reached,
                          .wall_s = simulation->loop.wall_s,
                          .is_violated = is_violated(simulation) ||
                                         simulation->state->watch.stopped_by != YOKE_NOT_FOUND,
                          .is_diverged = yoke__api_is_diverged(simulation, &divergence),
                          .is_growing = yoke__api_is_growing(simulation),
                          .is_late = is_paced && yoke__api_is_late(simulation),
                          .record = simulation->loop.record};
  return status;
}

yoke_status yoke_simulation_run(yoke_simulation* simulation, const yoke_run_settings* settings,
                                yoke_run_info* info) {
  static const yoke_run_settings nothing = {0};
  yoke_run_info own;
  info = info == NULL ? &own : info;
  *info = (yoke_run_info){.status = yoke__api_enter(simulation, true)};
  YOKE_TRY(info->status);
  return yoke__api_leave(simulation, run(simulation, settings == NULL ? &nothing : settings, info));
}

// ---- judging

static bool is_wanted(void* to) {
  const running* job = to;
  yoke_progress progress;
  yoke_simulation_get_progress(job->simulation, &progress);
  return !atomic_load(&job->simulation->is_cancelled) && ask_caller(job, &progress);
}

static yoke_status judge(yoke_simulation* simulation, const yoke_run_settings* settings) {
  static const yoke_run_settings nothing = {0};
  if (simulation->trust == NULL) {
    return yoke__api_refuse(simulation, YOKE_BAD_ARG, NULL, NULL, "there was no run to judge");
  }
  if (simulation->trust->is_judged) {
    return YOKE_OK;
  }
  running job = {simulation, settings == NULL ? &nothing : settings, 0};
  if (atomic_load(&simulation->is_written) && simulation->trust->mode != YOKE_TRUST_NONE) {
    yoke__trust_give_up(simulation->trust, written_text);
  }
  const yoke_status status =
      yoke__trust_finish(simulation->trust, simulation->loop.status,
                         cpu_seconds(simulation, simulation->run_cpu_ns), is_wanted, &job);
  atomic_store(&simulation->is_cancelled, false);
  YOKE_TRY(status);
  if (simulation->trust->n_companions > 0 && simulation->loop.status != YOKE_STOPPED) {
    yoke__api_report_divergence(simulation);
  }
  return simulation->results == NULL
             ? YOKE_OK
             : yoke__api_write_trust(simulation, simulation->results, &simulation->sink);
}

yoke_status yoke_simulation_judge(yoke_simulation* simulation, const yoke_run_settings* settings) {
  YOKE_TRY(yoke__api_enter(simulation, true));
  return yoke__api_leave(simulation, judge(simulation, settings));
}

void yoke_simulation_cancel(yoke_simulation* simulation) {
  if (simulation != NULL) {
    atomic_store(&simulation->is_cancelled, true);
  }
}

yoke_status yoke_simulation_get_progress(const yoke_simulation* simulation, yoke_progress* out) {
  if (simulation == NULL || out == NULL) {
    return YOKE_BAD_ARG;
  }
  const yoke_system* system = simulation->system;
  *out = (yoke_progress){
      .time = system->t_start, .t_start = system->t_start, .t_stop = system->t_stop};
  if (simulation->state == NULL) {
    return YOKE_OK;
  }
  const int64_t done = atomic_load_explicit(&simulation->state->progress, memory_order_relaxed);
  const size_t bond = atomic_load_explicit(&simulation->state->watched, memory_order_relaxed);
  out->share = system->n_slots == 0 ? 1 : (double)done / (double)system->n_slots;
  out->time = yoke__clock_time(&system->clock, done * system->slot);
  const int64_t begin_ns = simulation->loop.begin_ns;
  out->wall_s = begin_ns == 0 ? 0 : (double)(yoke__os_now_ns() - begin_ns) * 1e-9;
  out->bond = bond == 0 ? NULL : system->bonds[bond - 1].name;
  const uint64_t estimated = atomic_load(&simulation->state->estimated);
  const uint32_t bits = (uint32_t)estimated;
  float relative = 0;
  memcpy(&relative, &bits, sizeof relative);
  if (estimated >> 32 != 0) {
    out->signal = simulation->state->judged_names[(estimated >> 32) - 1];
    out->relative = (double)relative;
  }
  return YOKE_OK;
}

double yoke_simulation_time(const yoke_simulation* simulation) {
  return simulation == NULL          ? (double)NAN
         : simulation->state == NULL ? simulation->system->t_start
                                     : simulation->state->t;
}

const yoke_system* yoke_simulation_system(const yoke_simulation* simulation) {
  return simulation == NULL ? NULL : simulation->system;
}

const yoke_message* yoke_simulation_failure(const yoke_simulation* simulation) {
  if (simulation == NULL) {
    return NULL;
  }
  const yoke_failure* failure = &simulation->loop.failure;
  if (simulation->state != NULL && simulation->state->failure.message.text != NULL) {
    failure = &simulation->state->failure;
  }
  return failure->message.text == NULL ? NULL : &failure->message;
}

yoke_status yoke_simulation_declare_discontinuity(yoke_simulation* simulation) {
  YOKE_TRY(yoke__api_enter(simulation, false));
  if (simulation->state != NULL) {
    yoke__master_declare_discontinuity(simulation->system, simulation->state);
    atomic_store_explicit(&simulation->is_written, true, memory_order_relaxed);
  }
  return yoke__api_leave(simulation, simulation->state == NULL ? YOKE_BAD_ARG : YOKE_OK);
}

// ---- recording

static yoke_status start_recording(yoke_simulation* simulation,
                                   const yoke_record_settings* settings) {
  const bool has_files = settings != NULL && settings->directory != NULL;
  if (has_files ? settings->directory[0] == '\0' : settings == NULL || settings->n_sinks == 0) {
    return yoke__api_refuse(simulation, YOKE_BAD_ARG, NULL, NULL,
                            "recording needs the name of a folder, or a sink");
  }
  if ((settings->formats & ~(uint32_t)(YOKE_RECORD_CSV | YOKE_RECORD_HDF5 | YOKE_RECORD_MAT)) !=
      0) {
    return yoke__api_refuse(simulation, YOKE_BAD_ARG, NULL, NULL, "unknown format of results");
  }
  YOKE_TRY(yoke__api_start(simulation));
  if (simulation->state->record != NULL) {
    return yoke__api_refuse(simulation, YOKE_BAD_ARG, NULL, NULL, "it records already");
  }
  yoke_record_settings full = *settings;
  const size_t n_errors = simulation->messages.n_errors;
  const yoke_system* system = simulation->system;
  full.title = full.title == NULL ? system->scenario->name : full.title;
  const bool is_as_file = has_files && settings->formats == 0;
  const size_t n_own = is_as_file ? system->n_sinks : 0;  // those that the file names
  // NOLINTNEXTLINE(bugprone-sizeof-expression): the elements are pointers
  const yoke_result_ops** sinks = calloc(n_own + settings->n_sinks + 1, sizeof *sinks);
  if (sinks == NULL) {
    return yoke__api_refuse(simulation, YOKE_NO_MEMORY, NULL, NULL, "%s",
                            yoke_status_text(YOKE_NO_MEMORY));
  }
  for (size_t i = 0; i < n_own; i++) {
    sinks[i] = system->sinks[i];
  }
  for (size_t i = 0; i < settings->n_sinks && settings->sinks != NULL; i++) {
    sinks[n_own + i] = settings->sinks[i];
  }
  full.formats = is_as_file ? yoke__system_formats(system) : has_files ? settings->formats : 0;
  full.sinks = sinks;
  full.n_sinks = n_own + settings->n_sinks;
  free(simulation->directory);
  simulation->directory = has_files ? copy_text(settings->directory) : NULL;
  yoke_status status = has_files && simulation->directory == NULL
                           ? YOKE_NO_MEMORY
                           : choose_reading(simulation, YOKE_READ_RECORDED);
  status = status < 0 ? status
                      : yoke__master_record_open(simulation->system, simulation->state, &full,
                                                 &simulation->sink);
  free((void*)sinks);
  if (status < 0) {
    free(simulation->directory);
    simulation->directory = NULL;
  }
  return yoke__api_told(simulation, status, n_errors);
}

yoke_status yoke_simulation_record(yoke_simulation* simulation,
                                   const yoke_record_settings* settings) {
  YOKE_TRY(yoke__api_enter(simulation, true));
  return yoke__api_leave(simulation, start_recording(simulation, settings));
}

static yoke_status stop_recording(yoke_simulation* simulation, yoke_record_info* info) {
  const bool is_recording = simulation->state != NULL && simulation->state->record != NULL;
  if (!is_recording && simulation->directory == NULL) {
    return YOKE_OK;
  }
  yoke_status status = YOKE_OK;
  atomic_store(&simulation->is_closing, true);
  if (atomic_load(&simulation->is_abandoned)) {
    atomic_store(&simulation->is_closing, false);
    return YOKE_INTERRUPTED;
  }
  if (is_recording) {
    status =
        yoke__record_close(&simulation->state->record, &simulation->loop.record, &simulation->sink);
  }
  if (status < 0) {
    simulation->loop.status = status;
  }
  if (simulation->state != NULL) {
    yoke__system_report(simulation->system, &simulation->sink);
  }
  // a folder that could not be written to has been reported
  const bool is_told = status < 0 || yoke__status_is_outside(simulation->loop.status);
  const yoke_status written = simulation->directory == NULL
                                  ? YOKE_OK
                                  : yoke__api_write_files(simulation, simulation->directory,
                                                          is_told ? NULL : &simulation->sink);
  free(simulation->results);
  simulation->results = simulation->directory;
  simulation->directory = NULL;
  atomic_store(&simulation->is_closing, false);
  if (info != NULL) {
    *info = simulation->loop.record;
  }
  return status < 0 ? status : written;
}

yoke_status yoke_simulation_record_stop(yoke_simulation* simulation, yoke_record_info* info) {
  if (info != NULL) {
    *info = (yoke_record_info){0};
  }
  YOKE_TRY(yoke__api_enter(simulation, true));
  return yoke__api_leave(simulation, stop_recording(simulation, info));
}

yoke_status yoke_simulation_report(yoke_simulation* simulation) {
  YOKE_TRY(yoke__api_enter(simulation, false));
  const bool is_tried = simulation->state != NULL || simulation->loop.status < 0;
  if (is_tried) {
    yoke__system_report(simulation->system, &simulation->sink);
  }
  return yoke__api_leave(simulation, is_tried ? YOKE_OK : YOKE_BAD_ARG);
}
