// Starting, calling and ending the process of an isolated unit.
//
// A process that ends, hangs or runs out of memory is noticed while its answer is awaited: a waiting caller wakes every
// 20 ms to look. After that nothing is asked any more and every call fails at once with the same words.
#include "unit/host/host_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"
#include "base/base_version.h"
#include "unit/unit.h"
#include "yoke/version.h"

#define SPIN_AUTO_NS   INT64_C(20000)    // longer than light units need, short beside a wake-up
#define SPIN_LONG_NS   INT64_C(1000000)  // a whole interval of a fast paced loop
#define LOOK_NS        INT64_C(20000000)
#define END_NS         INT64_C(1000000000)  // for terminate and close
#define TIMEOUT_S      60.0
#define NEAR_THE_LIMIT 0.75  // a large request may fail well below it
#define PATH_SIZE      4200

// what the process was doing; those with a time say which
static const struct {
  const char* text;
  bool has_time;
} call_texts[HOST_N_CALLS] = {
    [HOST_CREATE] = {"creation", false},
    [HOST_LAY_OUT] = {"creation", false},
    [HOST_SET] = {"setting of a variable", false},
    [HOST_GET] = {"reading of a variable", false},
    [HOST_ENTER_INIT] = {"initialisation", false},
    [HOST_EXIT_INIT] = {"the end of initialisation", false},
    [HOST_GET_OUTPUTS] = {"reading of outputs", false},
    [HOST_SET_DERIVATIVES] = {"setting of input derivatives", false},
    [HOST_SET_INPUT_INFO] = {"setting of input information", false},
    [HOST_STEP] = {"step", true},
    [HOST_REFRESH] = {"refresh of outputs", true},
    [HOST_EVENT_UPDATE] = {"event update", true},
    [HOST_SAMPLE_INFO] = {"reading of a sample", false},
    [HOST_SAVE] = {"saving of its state", false},
    [HOST_RESTORE] = {"restoring of its state", false},
    [HOST_SERIALISE] = {"writing of its state", false},
    [HOST_DESERIALISE] = {"reading of its state", false},
    [HOST_DERIVATIVE] = {"derivatives", false},
    [HOST_LINEARISE] = {"linearisation", false},
    [HOST_CHOOSE_INTEGRALS] = {"choice of integrals", false},
    [HOST_GET_INTEGRALS] = {"reading of integrals", false},
    [HOST_REPORT] = {"report", false},
    [HOST_TERMINATE] = {"termination", false},
    [HOST_CLOSE] = {"the end", false},
};

// ---------------------------------------------------------------------------------------------------------
// failures

// " during step at t = 0.5 s"
static const char* name_call(const host_link* link, host_call call, char to[96]) {
  const int n = snprintf(to, 64, " during %s", call_texts[call].text);
  if (call_texts[call].has_time) {
    snprintf(to + n, 32, " at t = %.9g s", link->t);
  }
  return to;
}

// a unit that is refused memory fails in any way: say that it was near its limit
static const char* name_memory(const host_link* link, char to[96]) {
  const uint64_t noted = atomic_load(&link->channel.control->memory);
  const uint64_t peak = link->process.peak_memory;
  const double used = (double)(noted > peak ? noted : peak);
  const double allowed = (double)link->max_memory;
  if (link->max_memory == 0 || used < NEAR_THE_LIMIT * allowed) {
    return "";
  }
  snprintf(to, 96, "it had taken %.3g of %.3g GB of memory allowed", used * 1e-9, allowed * 1e-9);
  return to;
}

// where the messages of the next failure go
static yoke_sink start_messages(host_link* link) {
  yoke__messages_free(&link->messages);
  return yoke__messages_sink(&link->messages);
}

static yoke_status note_end(host_link* link, host_call call) {
  const yoke_process* process = &link->process;
  char how[128], during[96], limit[96];
  if (!process->is_known) {
    snprintf(how, sizeof how, "its process has ended");
  } else if (process->signal_number != 0) {
    snprintf(how, sizeof how, "its process was ended by signal %d (%s)", process->signal_number,
             yoke__signal_text(process->signal_number));
  } else if (process->exit_status == HOST_EXIT_VERSION && call == HOST_CREATE) {
    snprintf(how, sizeof how, "yoke-host is of another version than this program");
  } else {
    snprintf(how, sizeof how, "its process ended itself with status %d", process->exit_status);
  }
  const char* memory = name_memory(link, limit);
  const yoke_sink sink = start_messages(link);
  return yoke_fail(&sink, YOKE_UNIT_FAILED, "%s%s%s%s", how, name_call(link, call, during),
                   memory[0] == '\0' ? "" : "; ", memory);
}

static yoke_status note_hang(host_link* link, host_call call, int64_t timeout_ns) {
  char during[96];
  yoke__process_kill(&link->process);
  const yoke_sink sink = start_messages(link);
  return yoke_fail(&sink, YOKE_UNIT_FAILED, "did not answer for %.3g s%s; its process was killed",
                   (double)timeout_ns * 1e-9, name_call(link, call, during));
}

void yoke__host_link_receive(const host_link* link, const yoke_sink* sink) {
  const uint32_t size = link->channel.control->answer.messages_size;
  host_pack pack = {.from = link->channel.bulk, .size = size <= link->channel.bulk_size ? size : 0};
  yoke__host_take_messages(&pack, sink);
}

void yoke__host_link_explain(const host_link* link, const yoke_sink* sink) {
  for (size_t i = 0; i < link->messages.n; i++) {
    yoke_send(sink, &link->messages.all[i]);
  }
}

void yoke__host_link_keep(host_link* link, yoke_status status) {
  char limit[96];
  const char* memory = status < 0 ? name_memory(link, limit) : "";
  const yoke_sink sink = start_messages(link);
  yoke__host_link_receive(link, &sink);
  if (memory[0] != '\0' && link->messages.n == 0) {
    yoke_fail(&sink, status, "%s", memory);
  } else if (memory[0] != '\0') {
    link->messages.all[0].hint = yoke__arena_text(&link->messages.arena, memory, strlen(memory));
  }
}

// ---------------------------------------------------------------------------------------------------------
// calls

// Sleeps until the answer is there, the process has ended or the time is over.
static yoke_status sleep_for_answer(host_link* link, host_call call, int64_t timeout_ns) {
  host_control* control = link->channel.control;
  _Atomic uint32_t* answer = &control->answer.answer;
  const int64_t end = yoke__os_now_ns() + timeout_ns;
  link->n_sleeps++;
  for (;;) {
    const int64_t left = end - yoke__os_now_ns();
    if (left > 0) {
      yoke__host_sleep(answer, link->n_calls, &control->request.is_asleep,
                       left < LOOK_NS ? left : LOOK_NS);
    }
    const bool has_ended =
        atomic_load(answer) != link->n_calls && yoke__process_has_ended(&link->process);
    // it may have answered right before its end
    if (atomic_load(answer) == link->n_calls) {
      return YOKE_OK;
    }
    if (has_ended || left <= 0) {
      return has_ended ? note_end(link, call) : note_hang(link, call, timeout_ns);
    }
  }
}

static yoke_status exchange(host_link* link, host_call call, int64_t timeout_ns) {
  host_control* control = link->channel.control;
  control->request.call = call;
  control->request.applies = link->applies;
  control->request.n_wanted = link->n_wanted;
  control->request_file_size = link->channel.shared.size;
  link->applies = 0;
  yoke__host_raise(&link->wait, &control->request.request, ++link->n_calls,
                   &control->answer.is_asleep);
  if (yoke__host_spin(&link->wait, &control->answer.answer, link->n_calls)) {
    return YOKE_OK;
  }
  const yoke_status status = sleep_for_answer(link, call, timeout_ns);
  link->is_failed = status < 0;
  return status;
}

yoke_status yoke__host_link_call(host_link* link, host_call call, double t, double h, uint64_t a,
                                 uint64_t b) {
  if (link->is_failed) {
    return YOKE_UNIT_FAILED;
  }
  host_request* request = &link->channel.control->request;
  request->t = t;
  request->h = h;
  request->a = a;
  request->b = b;
  link->t = call_texts[call].has_time ? t : link->t;
  YOKE_TRY(exchange(link, call, call == HOST_TERMINATE ? END_NS : link->timeout_ns));
  const yoke_status followed =
      yoke__host_follow(&link->channel, link->channel.control->answer_file_size);
  const yoke_status status =
      followed < 0 ? followed : (yoke_status)link->channel.control->answer.status;
  if (status < 0) {
    yoke__host_link_keep(link, status);
  }
  return status;
}

// ---------------------------------------------------------------------------------------------------------
// starting

typedef struct search {
  char* path;  // PATH_SIZE
  char tried[2 * PATH_SIZE];
} search;

static bool is_host_in(search* s, const char* directory, const char* below) {
  if (directory[0] == '\0') {
    return false;
  }
  snprintf(s->path, PATH_SIZE, "%s/%s%s", directory, below, "yoke-host");
  const size_t used = strlen(s->tried);
  snprintf(s->tried + used, sizeof s->tried - used, "%s%s", used == 0 ? "" : ", ", s->path);
  return yoke__process_is_program(s->path);
}

// in the build folder, then as installed, seen from the program and from the library
static yoke_status find_program(char* path, const yoke_sink* sink) {
  const char* given = getenv("YOKE_HOST");
  if (given != NULL && given[0] != '\0') {
    snprintf(path, PATH_SIZE, "%s", given);
    return YOKE_OK;
  }
  char program[PATH_SIZE], library[PATH_SIZE];
  search s = {.path = path};
  yoke__process_directory(program, sizeof program);
  yoke__process_library_directory(library, sizeof library);
  if (strcmp(program, library) == 0) {
    library[0] = '\0';
  }
  static const char* const places[] = {"", "../libexec/yoke/", "../../libexec/yoke/"};
  for (size_t i = 0; i < YOKE_COUNT(places); i++) {
    if (is_host_in(&s, program, places[i]) || is_host_in(&s, library, places[i])) {
      return YOKE_OK;
    }
  }
  return yoke_fail(sink, YOKE_IO,
                   "the program yoke-host, which isolated units need, was not found; looked for "
                   "%s. The environment variable YOKE_HOST can name it",
                   s.tried);
}

static int64_t choose_spin(yoke_unit_wait wait) {
  // with one processor the other side cannot answer while this one spins
  if (wait == YOKE_WAIT_SLEEP || yoke__os_n_processors() < 2) {
    return 0;
  }
  return wait == YOKE_WAIT_SPIN ? SPIN_LONG_NS : SPIN_AUTO_NS;
}

// shared memory with the recipe in it; the other process finds its first call there
static yoke_status prepare(host_link* link, const yoke_host_plan* plan, const yoke_unit_args* args,
                           uint64_t* recipe_size) {
  yoke_text text = {0};
  host_pack pack = {.to = &text};
  yoke_unit_file_settings settings = *plan->settings;
  yoke_unit_args own = *args;
  bool is_description_wanted = plan->info == NULL;
  yoke_status status = yoke__host_recipe(&pack, &settings, &own, &is_description_wanted);
  if (status >= 0) {
    status = yoke__shared_create(HOST_CONTROL_SIZE + HOST_BULK_SIZE, &link->channel.shared);
  }
  if (status >= 0) {
    const host_layout none = {0};
    yoke__host_lay_out(&link->channel, &none);
    status = yoke__host_grow_bulk(&link->channel, text.n);
  }
  if (status >= 0) {
    memcpy(link->channel.bulk, text.bytes, text.n);
    *recipe_size = text.n;
    host_control* control = link->channel.control;
    control->magic = HOST_MAGIC;
    snprintf(control->version, sizeof control->version, "%s %s", yoke_version(), yoke__commit());
    control->parent = yoke__process_id();
    control->spin_ns = link->wait.spin_ns;
    control->is_adaptive = link->wait.is_adaptive;
    control->max_memory = link->max_memory;
  }
  yoke__text_free(&text);
  return status;
}

static yoke_status start(host_link* link, const yoke_sink* sink) {
  char program[PATH_SIZE], name[] = "yoke-host", file[16];
  YOKE_TRY(find_program(program, sink));
  snprintf(file, sizeof file, "%d", YOKE_PROCESS_FILE);
  char* const argv[] = {name, file, NULL};
  return yoke__process_start(program, argv, link->channel.shared.file, &link->process, sink);
}

// ---------------------------------------------------------------------------------------------------------
// the description

// a copy in which nothing lies in the caller's memory
static yoke_status copy_info(host_link* link, const yoke_unit_info* info) {
  yoke_variable* variables =
      yoke__arena_array(&link->arena, info->n_variables + 1, sizeof *variables);
  YOKE_TRY_MEMORY(variables);
  for (size_t i = 0; i < info->n_variables; i++) {
    variables[i] = info->variables[i];
    variables[i].offset = YOKE_NO_OFFSET;
  }
  link->info = *info;
  link->info.variables = variables;
  return YOKE_OK;
}

static void count_dense(host_link* link, size_t* largest, uint64_t* total) {
  for (size_t i = 0; i < link->info.n_variables; i++) {
    const yoke_variable* v = &link->info.variables[i];
    const size_t n = yoke__variable_count(v), size = yoke__variable_size(v);
    link->n_u += v->type == YOKE_REAL && v->causality == YOKE_INPUT ? n : 0;
    link->n_y += v->type == YOKE_REAL && v->causality == YOKE_OUTPUT ? n : 0;
    *largest = size > *largest ? size : *largest;
    *total += (size + 7) / 8 * 8;
  }
}

static yoke_status read_description(host_link* link, const yoke_host_plan* plan, uint64_t counts[4],
                                    const yoke_sink* sink) {
  const uint64_t size = link->channel.control->answer.size;
  host_pack pack = {.from = link->channel.bulk,
                    .size = size < link->channel.bulk_size ? (size_t)size : 0,
                    .arena = &link->arena};
  yoke__host_part(&pack, counts, 4 * sizeof counts[0]);
  const yoke_status status =
      plan->info != NULL ? copy_info(link, plan->info) : yoke__host_info(&pack, &link->info);
  if (status < 0 || pack.is_failed) {
    return yoke_fail(sink, status < 0 ? status : YOKE_UNIT_FAILED,
                     "its process sent no usable description");
  }
  // the caller never copies the memory of the unit
  link->info.flags |= (link->info.flags & YOKE_UNIT_FLAT) != 0 ? YOKE_UNIT_PORTABLE : 0;
  link->info.flags &= ~(uint32_t)YOKE_UNIT_FLAT;
  link->info.self_size = 0;
  link->info.image_size = (size_t)counts[0];
  return YOKE_OK;
}

// room for everything that may be needed while the run goes on
static yoke_status lay_out(host_link* link, size_t largest, uint64_t total) {
  const uint64_t n_variables = link->info.n_variables;
  const host_layout layout = {
      .n_u = link->n_u,
      .n_y = link->n_y,
      .n_wanted = n_variables < HOST_MAX_WANTED ? n_variables : HOST_MAX_WANTED,
      .slots_size = total < HOST_SLOTS_SIZE ? total : HOST_SLOTS_SIZE,
  };
  size_t bulk = HOST_BULK_SIZE;
  const size_t wanted[] = {largest, link->info.image_size,
                           4 * (link->n_u + link->n_y) * sizeof(double)};
  for (size_t i = 0; i < YOKE_COUNT(wanted); i++) {
    bulk = wanted[i] > bulk ? wanted[i] : bulk;
  }
  // still in the old layout, of which the bulk part is all that is used
  YOKE_TRY(yoke__host_grow_bulk(&link->channel, yoke__host_fixed_size(&layout) + bulk));
  link->channel.control->layout = layout;
  YOKE_TRY(yoke__host_link_call(link, HOST_LAY_OUT, 0, 0, 0, 0));
  yoke__host_lay_out(&link->channel, &layout);
  link->slots = yoke__arena_array(&link->arena, link->info.n_variables + 1, sizeof *link->slots);
  return link->slots == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

static yoke_status describe(host_link* link, const yoke_host_plan* plan, const yoke_sink* sink) {
  uint64_t counts[4];  // image size, variables, real inputs, real outputs
  YOKE_TRY(read_description(link, plan, counts, sink));
  size_t largest = 0;
  uint64_t total = 0;
  count_dense(link, &largest, &total);
  if (counts[1] != link->info.n_variables || counts[2] != link->n_u || counts[3] != link->n_y) {
    return yoke_fail(sink, YOKE_UNIT_FAILED,
                     "describes itself in its process in another way than here");
  }
  const yoke_status status = lay_out(link, largest, total);
  yoke__host_link_explain(link, sink);
  return status;
}

yoke_status yoke__host_link_open(host_link* link, const yoke_host_plan* plan,
                                 const yoke_unit_args* args, const yoke_sink* sink) {
  const yoke_unit_file_settings* settings = plan->settings;
  const double timeout_s = settings->timeout_s > 0 ? settings->timeout_s : TIMEOUT_S;
  *link = (host_link){.channel.shared.file = -1};
  link->timeout_ns = timeout_s < 1e9 ? (int64_t)(timeout_s * 1e9) : INT64_MAX / 4;
  link->wait.spin_ns = choose_spin(settings->wait);
  link->wait.is_adaptive = settings->wait == YOKE_WAIT_AUTO;
  link->max_memory = settings->max_memory;
  uint64_t recipe_size = 0;
  const yoke_status prepared = prepare(link, plan, args, &recipe_size);
  if (prepared < 0) {
    return yoke_fail(sink, prepared, "%s",
                     prepared == YOKE_NO_SUPPORT
                         ? "a binary parameter cannot be given to another process"
                         : "no memory to share with another process");
  }
  YOKE_TRY(start(link, sink));
  const yoke_status status = yoke__host_link_call(link, HOST_CREATE, 0, 0, recipe_size, 0);
  if (status < 0) {
    yoke__host_link_explain(link, sink);
    return status;
  }
  return describe(link, plan, sink);
}

// ---------------------------------------------------------------------------------------------------------

void yoke__host_link_close(host_link* link) {
  if (link->process.pid != 0 && !link->process.is_ended) {
    if (!link->is_failed) {
      host_control* control = link->channel.control;
      control->request.call = HOST_CLOSE;
      control->request.applies = 0;
      yoke__host_raise(&link->wait, &control->request.request, ++link->n_calls,
                       &control->answer.is_asleep);
      yoke__process_wait(&link->process, END_NS);
    }
    yoke__process_kill(&link->process);
  }
  yoke__shared_close(&link->channel.shared);
  yoke__messages_free(&link->messages);
  yoke__arena_free(&link->arena);
}
