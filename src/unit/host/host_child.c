// The process that holds an isolated unit: makes it from the recipe, then serves one call after the other.
//
// Everything that belongs to one step is done in one go: inputs in, step, outputs and the wanted variables out.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base_family.h"
#include "base/base_os.h"
#include "base/base_version.h"
#include "unit/host/host.h"
#include "unit/host/unit_host.h"
#include "unit/unit.h"
#include "unit/unit_models.h"
#include "yoke/version.h"

#define MAX_MESSAGES (1 << 20)  // bytes of messages per call

typedef struct host_child {
  host_channel channel;
  uint32_t n_served;
  host_wait wait;
  bool is_ending;
  yoke_arena arena;
  yoke_unit_store* store;  // NULL for models
  yoke_unit unit;
  bool has_unit;
  yoke_text messages;  // of the call at hand
  yoke_sink sink;      // puts them there
  // watched by a thread of its own, which needs a mapping that never moves
  yoke_shared page;
  _Atomic uint64_t base_memory;  // 0: not known yet
} host_child;

static void keep_message(void* to, const yoke_message* message) {
  host_pack pack = {.to = to};
  yoke_message own = *message;
  if (pack.to->n < MAX_MESSAGES) {
    yoke__host_message(&pack, &own);
  }
}

static yoke_status put_bulk(host_child* c, const yoke_text* text) {
  YOKE_TRY(text->status < 0 ? text->status : yoke__host_grow_bulk(&c->channel, text->n));
  if (text->n > 0) {
    memcpy(c->channel.bulk, text->bytes, text->n);
  }
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// making the unit

static yoke_status open_file(host_child* c, const yoke_unit_file_settings* settings,
                             const yoke_unit_ops** ops) {
  yoke_messages messages = {0};
  yoke_status status = yoke__unit_store_create(&c->store);
  if (status >= 0) {
    status = yoke__unit_store_open(c->store, settings, &messages, ops);
  }
  // warnings were given by the parent, which has opened the same file
  for (size_t i = 0; i < messages.n; i++) {
    if (messages.all[i].severity == YOKE_ERROR) {
      yoke_send(&c->sink, &messages.all[i]);
    }
  }
  yoke__messages_free(&messages);
  return status;
}

static yoke_status find_ops(host_child* c, const yoke_unit_file_settings* settings,
                            const yoke_unit_ops** ops) {
  if (settings->kind != YOKE_KIND_MODEL && settings->kind != YOKE_KIND_LAW) {
    return open_file(c, settings, ops);
  }
  *ops = yoke__models_find(NULL, settings->path);
  return *ops != NULL
             ? YOKE_OK
             : yoke_fail(&c->sink, YOKE_NO_SUPPORT,
                         "'%.100s' is not a built-in model: it cannot be isolated", settings->path);
}

// sizes that the caller must know; the whole description if it asked for that
static yoke_status describe(host_child* c, bool is_description_wanted) {
  yoke_text text = {0};
  host_pack pack = {.to = &text};
  yoke_unit_info info = *c->unit.info;
  uint64_t counts[4] = {yoke__unit_image_size(&c->unit), info.n_variables, c->unit.n_u,
                        c->unit.n_y};
  HOST_VALUE(&pack, counts);
  if (is_description_wanted) {
    (void)yoke__host_info(&pack, &info);
  }
  const yoke_status status = put_bulk(c, &text);
  c->channel.control->answer.size = text.n;
  yoke__text_free(&text);
  return status;
}

// What a binary writes and prints in a trial must not be found beside what it writes in the run.
static void enter_trial(const char* folder) {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (chdir(folder) != 0 || nowhere < 0) {
    return;
  }
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
}

static yoke_status do_create(host_child* c) {
  const host_request* request = &c->channel.control->request;
  host_pack pack = {.from = c->channel.bulk, .size = (size_t)request->a, .arena = &c->arena};
  yoke_unit_file_settings settings = {0};
  yoke_unit_args args = {0};
  bool is_description_wanted = false;
  YOKE_TRY(yoke__host_recipe(&pack, &settings, &args, &is_description_wanted));
  if (settings.path == NULL) {
    return YOKE_BAD_ARG;
  }
  if (settings.trial_folder != NULL) {
    enter_trial(settings.trial_folder);
  }
  const yoke_unit_ops* ops = NULL;
  YOKE_TRY(find_ops(c, &settings, &ops));
  args.context = ops->context;
  YOKE_TRY(yoke__unit_create(ops, &args, &c->arena, &c->unit, &c->sink));
  c->has_unit = true;
  return describe(c, is_description_wanted);
}

static yoke_status do_lay_out(host_child* c) {
  const host_layout layout = c->channel.control->layout;
  if (layout.n_u != c->unit.n_u || layout.n_y != c->unit.n_y ||
      yoke__host_fixed_size(&layout) > c->channel.shared.size) {
    return YOKE_BAD_ARG;
  }
  yoke__host_lay_out(&c->channel, &layout);
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// stepping

// inputs and their derivatives that were set since the last call
static yoke_status apply_pending(host_child* c, uint32_t applies) {
  if ((applies & HOST_APPLY_INPUTS) != 0) {
    YOKE_TRY(yoke__unit_set_inputs(&c->unit, c->channel.u));
  }
  for (int order = 1; order <= HOST_MAX_ORDER && applies >> order != 0; order++) {
    if ((applies >> order & 1u) != 0) {
      YOKE_TRY(c->unit.ops->set_input_derivatives(c->unit.self, order, c->channel.du[order - 1],
                                                  c->unit.n_u));
    }
  }
  return YOKE_OK;
}

static yoke_status fetch_outputs(host_child* c) {
  YOKE_TRY(yoke__unit_get_outputs(&c->unit, c->channel.y));
  c->channel.control->answer.has |= HOST_HAS_OUTPUTS;
  return YOKE_OK;
}

// what the caller reads after every step
static void fetch_all(host_child* c) {
  host_control* control = c->channel.control;
  if (fetch_outputs(c) < 0) {
    return;  // asked for again, the caller gets the status then
  }
  for (uint32_t i = 0; i < control->request.n_wanted; i++) {
    host_wanted* wanted = &c->channel.wanted[i];
    wanted->status = yoke__unit_get(&c->unit, wanted->variable, c->channel.slots + wanted->offset,
                                    (size_t)wanted->size);
  }
  control->answer.has |= HOST_HAS_WANTED;
}

static void keep_result(host_child* c, yoke_status status, const yoke_step_result* result) {
  host_answer* answer = &c->channel.control->answer;
  answer->flags = result->flags;
  answer->t_reached = result->t_reached;
  if (status < 0) {
    yoke__unit_reason(&c->unit, &c->sink);
  }
  if (result->message != NULL && c->messages.n == 0) {
    yoke_fail(&c->sink, status, "%s", result->message);
  }
  if (status >= 0 && (result->flags & YOKE_STEP_DISCARDED) == 0) {
    fetch_all(c);
  }
}

static yoke_status do_step(host_child* c) {
  const host_request* request = &c->channel.control->request;
  yoke_step_result result = {.t_reached = request->t + request->h};
  const bool is_measured = request->is_measured != 0;
  const int64_t start = yoke__os_now_ns(), cpu = is_measured ? yoke__os_cpu_ns() : 0;
  const yoke_status status = c->unit.ops->step(c->unit.self, request->t, request->h, &result);
  c->channel.control->answer.cpu_ns = is_measured ? yoke__os_cpu_ns() - cpu : 0;
  c->channel.control->answer.inner_ns = yoke__os_now_ns() - start;
  keep_result(c, status, &result);
  return status;
}

static yoke_status do_event_update(host_child* c) {
  const host_request* request = &c->channel.control->request;
  yoke_step_result result = {.t_reached = request->h};
  const yoke_status status = c->unit.ops->event_update(c->unit.self, request->t, &result);
  keep_result(c, status, &result);
  return status;
}

static yoke_status do_refresh(host_child* c) {
  // the binary may lack what its description promises
  if (c->unit.ops->refresh == NULL) {
    return YOKE_NO_SUPPORT;
  }
  const yoke_status status = c->unit.ops->refresh(c->unit.self, c->channel.control->request.t);
  if (status >= 0) {
    fetch_all(c);
  }
  return status;
}

static yoke_status do_set_derivatives(host_child* c) {
  const host_request* request = &c->channel.control->request;
  return c->unit.ops->set_input_derivatives(
      c->unit.self, (int)request->a, (const double*)(const void*)c->channel.bulk, c->unit.n_u);
}

static yoke_status do_set_input_info(host_child* c) {
  return c->unit.ops->set_input_info(
      c->unit.self, (const yoke_sample_info*)(const void*)c->channel.bulk, c->unit.n_u);
}

// ---------------------------------------------------------------------------------------------------------
// the rest of the table

static yoke_status do_set(host_child* c) {
  const host_request* request = &c->channel.control->request;
  return yoke__unit_set(&c->unit, (size_t)request->a, c->channel.bulk, (size_t)request->b);
}

static yoke_status do_get(host_child* c) {
  const host_request* request = &c->channel.control->request;
  return yoke__unit_get(&c->unit, (size_t)request->a, c->channel.bulk, (size_t)request->b);
}

static yoke_status do_enter_init(host_child* c) {
  const host_request* request = &c->channel.control->request;
  return yoke__unit_enter_init(&c->unit, request->t, request->h, &c->sink);
}

static yoke_status do_exit_init(host_child* c) {
  return yoke__unit_exit_init(&c->unit);
}

static yoke_status do_sample_info(host_child* c) {
  yoke_sample_info info = {0};
  const yoke_status status =
      c->unit.ops->sample_info(c->unit.self, (size_t)c->channel.control->request.a, &info);
  memcpy(c->channel.bulk, &info, sizeof info);
  return status;
}

static yoke_status do_save(host_child* c) {
  return yoke__unit_save(&c->unit, c->channel.bulk, (size_t)c->channel.control->request.a);
}

static yoke_status do_restore(host_child* c) {
  return yoke__unit_restore(&c->unit, c->channel.bulk, (size_t)c->channel.control->request.a);
}

static yoke_status do_serialise(host_child* c) {
  size_t size = (size_t)c->channel.control->request.a;
  const yoke_status status = c->unit.ops->serialise(c->unit.self, c->channel.bulk, &size);
  c->channel.control->answer.size = size;
  return status;
}

static yoke_status do_deserialise(host_child* c) {
  return c->unit.ops->deserialise(c->unit.self, c->channel.bulk,
                                  (size_t)c->channel.control->request.a);
}

// bulk: seed | out | unknowns | knowns
static yoke_status do_derivative(host_child* c) {
  const host_request* request = &c->channel.control->request;
  const size_t n_unknowns = (size_t)request->a, n_knowns = (size_t)request->b;
  double* seed = (double*)(void*)c->channel.bulk;
  double* out = seed + n_knowns;
  const size_t* unknowns = (const size_t*)(const void*)(out + n_unknowns);
  return c->unit.ops->derivative(c->unit.self, unknowns, n_unknowns, unknowns + n_unknowns,
                                 n_knowns, seed, out);
}

// a: one bit per wanted matrix. bulk: three sizes | the wanted ones of A, B, C, D
static yoke_status do_choose_integrals(host_child* c) {
  return c->unit.ops->choose_integrals(c->unit.self, (const size_t*)(void*)c->channel.bulk,
                                       (size_t)c->channel.control->request.a);
}

static yoke_status do_get_integrals(host_child* c) {
  return c->unit.ops->get_integrals(c->unit.self, (double*)(void*)c->channel.bulk,
                                    (size_t)c->channel.control->request.a);
}

static yoke_status do_linearise(host_child* c) {
  yoke_linear model = {0};
  if (c->unit.ops->linearise == NULL) {
    return YOKE_NO_SUPPORT;  // promised by the description, but the binary lacks the functions
  }
  YOKE_TRY(c->unit.ops->linearise(c->unit.self, &model));
  const uint64_t wanted = c->channel.control->request.a;
  const size_t n_x = model.n_states, n_u = model.n_inputs, n_y = model.n_outputs;
  const size_t sizes[4] = {n_x * n_x, n_x * n_u, n_y * n_x, n_y * n_u};
  size_t n = 3;
  for (int i = 0; i < 4; i++) {
    n += (wanted >> i & 1u) != 0 ? sizes[i] : 0;
  }
  YOKE_TRY(yoke__host_grow_bulk(&c->channel, n * sizeof(double)));
  double* at = (double*)(void*)c->channel.bulk + 3;
  double** matrices[4] = {&model.A, &model.B, &model.C, &model.D};
  for (int i = 0; i < 4; i++) {
    *matrices[i] = (wanted >> i & 1u) != 0 ? at : NULL;
    at += (wanted >> i & 1u) != 0 ? sizes[i] : 0;
  }
  const yoke_status status = wanted == 0 ? YOKE_OK : c->unit.ops->linearise(c->unit.self, &model);
  const uint64_t counts[3] = {n_x, n_u, n_y};
  memcpy(c->channel.bulk, counts, sizeof counts);
  c->channel.control->answer.size = n * sizeof(double);
  return status;
}

static yoke_status do_report(host_child* c) {
  if (c->unit.ops->report != NULL) {
    c->unit.ops->report(c->unit.self, &c->sink);
  }
  return YOKE_OK;
}

static yoke_status do_terminate(host_child* c) {
  yoke__unit_terminate(&c->unit);
  return YOKE_OK;
}

static yoke_status do_close(host_child* c) {
  c->is_ending = true;
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// serving

static yoke_status (*const calls[HOST_N_CALLS])(host_child*) = {
    [HOST_CREATE] = do_create,
    [HOST_LAY_OUT] = do_lay_out,
    [HOST_SET] = do_set,
    [HOST_GET] = do_get,
    [HOST_ENTER_INIT] = do_enter_init,
    [HOST_EXIT_INIT] = do_exit_init,
    [HOST_GET_OUTPUTS] = fetch_outputs,
    [HOST_SET_DERIVATIVES] = do_set_derivatives,
    [HOST_SET_INPUT_INFO] = do_set_input_info,
    [HOST_STEP] = do_step,
    [HOST_REFRESH] = do_refresh,
    [HOST_EVENT_UPDATE] = do_event_update,
    [HOST_SAMPLE_INFO] = do_sample_info,
    [HOST_SAVE] = do_save,
    [HOST_RESTORE] = do_restore,
    [HOST_SERIALISE] = do_serialise,
    [HOST_DESERIALISE] = do_deserialise,
    [HOST_DERIVATIVE] = do_derivative,
    [HOST_LINEARISE] = do_linearise,
    [HOST_CHOOSE_INTEGRALS] = do_choose_integrals,
    [HOST_GET_INTEGRALS] = do_get_integrals,
    [HOST_REPORT] = do_report,
    [HOST_TERMINATE] = do_terminate,
    [HOST_CLOSE] = do_close,
};

static void note_memory(void* child) {
  const host_child* c = child;
  const uint64_t taken = yoke__process_memory();
  host_control* control = (host_control*)(void*)c->page.bytes;
  const uint64_t base = atomic_load(&c->base_memory);
  atomic_store(&control->memory, base > 0 && taken > base ? taken - base : 0);
}

// At the start of the bulk part, which holds nothing else after these calls and after a failure.
static void answer_messages(host_child* c, uint32_t call, yoke_status status) {
  if (status < 0 && c->messages.n == 0 && c->has_unit) {
    yoke__unit_reason(&c->unit, &c->sink);
  }
  const bool is_wanted =
      status < 0 || call == HOST_STEP || call == HOST_EVENT_UPDATE || call == HOST_REPORT;
  if (is_wanted && put_bulk(c, &c->messages) >= 0) {
    c->channel.control->answer.messages_size = (uint32_t)c->messages.n;
  }
}

static void serve_one(host_child* c) {
  host_control* control = c->channel.control;
  const uint32_t call = control->request.call;
  control->answer.has = 0;
  control->answer.flags = 0;
  control->answer.size = 0;
  control->answer.messages_size = 0;
  yoke__text_clear(&c->messages);
  c->messages.status = YOKE_OK;
  control->answer.t_reached = control->request.t;
  yoke_status status = yoke__host_follow(&c->channel, control->request_file_size);
  if (status >= 0) {
    status = apply_pending(c, c->channel.control->request.applies);
  }
  if (status >= 0) {
    status = call < HOST_N_CALLS ? calls[call](c) : YOKE_NO_SUPPORT;
  }
  answer_messages(c, call, status);
  control = c->channel.control;  // may have moved
  control->answer.status = status;
  control->answer_file_size = c->channel.shared.size;
  if (status < 0 && control->max_memory > 0) {
    note_memory(c);
  }
  yoke__host_raise(&c->wait, &control->answer.answer, ++c->n_served, &control->request.is_asleep);
}

static void serve(host_child* c) {
  while (!c->is_ending) {
    host_control* control = c->channel.control;
    const uint32_t next = c->n_served + 1;
    bool is_there = yoke__host_spin(&c->wait, &control->request.request, next);
    while (!is_there) {
      yoke__host_sleep(&control->request.request, next, &control->answer.is_asleep, 0);
      is_there = atomic_load(&control->request.request) == next;
    }
    serve_one(c);
  }
}

static void close_child(host_child* c) {
  if (c->has_unit) {
    yoke__unit_close(&c->unit);
  }
  if (c->store != NULL) {
    yoke__unit_store_destroy(&c->store);
  }
  yoke__text_free(&c->messages);
  yoke__arena_free(&c->arena);
}

// ---------------------------------------------------------------------------------------------------------

static int start(host_child* c, int file) {
  if (yoke__shared_open(file, &c->channel.shared) < 0 || yoke__shared_open(file, &c->page) < 0 ||
      c->channel.shared.size < HOST_CONTROL_SIZE) {
    return HOST_EXIT_USAGE;
  }
  const host_layout none = {0};
  yoke__host_lay_out(&c->channel, &none);
  const host_control* control = c->channel.control;
  char version[sizeof control->version];
  snprintf(version, sizeof version, "%s %s", yoke_version(), yoke__commit());
  if (control->magic != HOST_MAGIC || strncmp(version, control->version, sizeof version) != 0) {
    return HOST_EXIT_VERSION;
  }
  // what the threads of this process take is not the unit's
  const bool is_limited = control->max_memory > 0;
  if (yoke__process_attach((int)control->parent, file, is_limited ? note_memory : NULL, c) < 0) {
    return HOST_EXIT_ORPHAN;
  }
  c->sink = (yoke_sink){keep_message, &c->messages};
  c->wait = (host_wait){.spin_ns = control->spin_ns, .is_adaptive = control->is_adaptive != 0};
  atomic_store(&c->base_memory, yoke__process_memory());
  yoke__process_limit(control->max_memory);
  return 0;
}

int yoke__host_main(int argc, char** argv) {
  const long file = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
  if (file < YOKE_PROCESS_FILE || file > 1024) {
    fprintf(stderr,
            "yoke-host holds units that have a process of their own; yoke starts it where a "
            "system says 'isolate: process'\n");
    return HOST_EXIT_USAGE;
  }
  // never freed: the watching thread uses it as long as the process lives
  host_child* child = calloc(1, sizeof *child);
  const int code = child == NULL ? EXIT_FAILURE : start(child, (int)file);
  if (code != 0) {
    return code;
  }
  // what a binary prints should be there when it crashes; numbers as in a stepping thread
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  yoke__os_float_mode_set();
  serve(child);
  close_child(child);
  yoke__family_end(yoke__process_id(), NULL, 0);
  return 0;
}
