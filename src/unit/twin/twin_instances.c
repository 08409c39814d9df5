// Instances on threads: twin_instances.h.
#include "unit/twin/twin_instances.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"
#include "base/base_pool.h"

typedef struct instance {
  yoke_unit unit;
  bool is_made;
  bool is_used;        // it has moved
  double* parameters;  // as they were set last; NaN: not yet
  void* image;         // of the start
  yoke_status status;
  const char* message;
} instance;

// What the threads are to do.
typedef struct task {
  size_t first, n;
  double t, t_stop;
  size_t n_rows;
  const double *u, *parameters;
  double* y;
  const bool* is_idle;
  double* to;
  size_t variable, size;
  const void* value;
  const yoke_sink* sink;
  size_t target;  // of creation
  yoke_arena* arena;
} task;

struct yoke_instances {
  yoke_instances_setup setup;
  instance* all;
  size_t n_u, n_y;
  const size_t* parameters;
  size_t n_parameters;
  yoke_pool* pool;
  bool has_aside;  // a thread for work beside the steps
  bool is_aside_busy;
  void (*work)(void* context);
  void* work_context;
  void (*act)(struct yoke_instances* s, size_t i);
  task task;
};

// ---- threads

static int thread_of(const yoke_instances* s, size_t i) {
  return (int)(i % (size_t)s->setup.n_threads);
}

static void act_on_thread(void* context, int thread) {
  yoke_instances* s = context;
  for (size_t i = s->task.first; i < s->task.first + s->task.n; i++) {
    if (thread_of(s, i) == thread) {
      s->act(s, i);
    }
  }
}

// The first failure in the order of the instances.
static yoke_status run(yoke_instances* s, void (*act)(yoke_instances*, size_t), const task* what) {
  s->task = *what;
  s->act = act;
  for (size_t i = what->first; i < what->first + what->n; i++) {
    s->all[i].status = YOKE_OK;
  }
  if (s->setup.n_threads == 1) {
    act_on_thread(s, 0);
  } else {
    yoke__pool_run_crew(s->pool, act_on_thread, s);
  }
  for (size_t i = what->first; i < what->first + what->n; i++) {
    YOKE_TRY(s->all[i].status);
  }
  return YOKE_OK;
}

static task of_all(const yoke_instances* s) {
  return (task){.first = 0, .n = s->setup.n};
}

// ---- life

static void make(yoke_instances* s, size_t i) {
  instance* at = &s->all[i];
  yoke_unit_args args = *s->setup.args;
  args.context = s->setup.ops[i]->context;
  at->status = yoke__unit_create(s->setup.ops[i], &args, s->task.arena, &at->unit, s->task.sink);
  at->is_made = at->status >= 0;
}

static void unmake(yoke_instances* s, size_t i) {
  if (s->all[i].is_made) {
    yoke__unit_close(&s->all[i].unit);
    s->all[i].is_made = false;
  }
}

// One after another, each on its thread: tables and messages have one writer at a time.
static yoke_status make_all(yoke_instances* s, yoke_arena* arena, const yoke_sink* sink) {
  for (size_t i = 0; i < s->setup.n; i++) {
    const task one = {.first = i, .n = 1, .arena = arena, .sink = sink};
    YOKE_TRY(run(s, make, &one));
    const size_t size = yoke__unit_image_size(&s->all[i].unit);
    s->all[i].image = size == 0 ? NULL : yoke__arena_take(arena, size);
    YOKE_TRY(yoke__arena_status(arena));
  }
  s->n_u = s->all[0].unit.n_u;
  s->n_y = s->all[0].unit.n_y;
  return YOKE_OK;
}

yoke_status yoke__instances_create(const yoke_instances_setup* setup, yoke_arena* arena,
                                   yoke_instances** out, const yoke_sink* sink) {
  *out = NULL;
  yoke_instances* s = yoke__arena_take(arena, sizeof *s);
  instance* all = yoke__arena_array(arena, setup->n, sizeof *all);
  if (s == NULL || all == NULL) {
    return YOKE_NO_MEMORY;
  }
  s->setup = *setup;
  s->all = all;
  yoke_status status = yoke__pool_create(setup->n_threads, &s->pool);
  if (status >= 0) {
    s->has_aside = setup->has_work && yoke__pool_add(s->pool, 1) >= 0;
    status = make_all(s, arena, sink);
  }
  *out = s;
  if (status < 0) {
    yoke__instances_destroy(out);
  }
  return status;
}

void yoke__instances_destroy(yoke_instances** instances) {
  yoke_instances* s = *instances;
  if (s == NULL) {
    return;
  }
  yoke__instances_join_work(s);
  if (s->pool != NULL) {
    const task all = of_all(s);
    (void)run(s, unmake, &all);
  }
  yoke__pool_destroy(&s->pool);
  *instances = NULL;
}

const yoke_unit* yoke__instances_unit(const yoke_instances* s, size_t i) {
  return &s->all[i].unit;
}

int yoke__instances_threads(const yoke_instances* s) {
  return s->setup.n_threads;
}

// ---- values

yoke_status yoke__instances_choose(yoke_instances* s, const size_t parameters[], size_t n,
                                   yoke_arena* arena) {
  s->parameters = parameters;
  s->n_parameters = n;
  for (size_t i = 0; i < s->setup.n; i++) {
    s->all[i].parameters = yoke__arena_array(arena, n + 1, sizeof(double));
    YOKE_TRY(yoke__arena_status(arena));
    for (size_t j = 0; j < n; j++) {
      s->all[i].parameters[j] = (double)NAN;
    }
  }
  return YOKE_OK;
}

static void set_one(yoke_instances* s, size_t i) {
  const task* t = &s->task;
  s->all[i].status = yoke__unit_set(&s->all[i].unit, t->variable, t->value, t->size);
}

yoke_status yoke__instances_set(yoke_instances* s, size_t variable, const void* value,
                                size_t size) {
  task t = of_all(s);
  t.variable = variable;
  t.value = value;
  t.size = size;
  return run(s, set_one, &t);
}

yoke_status yoke__instances_set_one(yoke_instances* s, size_t i, size_t variable, double value) {
  const task one = {
      .first = i, .n = 1, .variable = variable, .value = &value, .size = sizeof value};
  return run(s, set_one, &one);
}

static void get_one(yoke_instances* s, size_t i) {
  const task* t = &s->task;
  s->all[i].status = yoke__unit_get(&s->all[i].unit, t->variable, t->to, sizeof *t->to);
}

// NOLINTNEXTLINE(readability-non-const-parameter): filled in
yoke_status yoke__instances_get_one(yoke_instances* s, size_t i, size_t variable, double* value) {
  const task one = {.first = i, .n = 1, .variable = variable, .to = value};
  return run(s, get_one, &one);
}

static yoke_status set_parameters(const yoke_instances* s, instance* at, const double values[]) {
  for (size_t j = 0; j < s->n_parameters; j++) {
    // they hardly ever change, and each call may be dear
    if (!(values[j] == at->parameters[j])) {
      YOKE_TRY(yoke__unit_set(&at->unit, s->parameters[j], &values[j], sizeof values[j]));
      at->parameters[j] = values[j];
    }
  }
  return YOKE_OK;
}

// ---- initialisation

static void enter_one(yoke_instances* s, size_t i) {
  const task* t = &s->task;
  instance* at = &s->all[i];
  const size_t row = i % t->n_rows;
  at->status = set_parameters(s, at, t->parameters + row * s->n_parameters);
  if (at->status >= 0) {
    at->status = yoke__unit_set_inputs(&at->unit, t->u + row * s->n_u);
  }
  if (at->status >= 0) {
    at->status = yoke__unit_enter_init(&at->unit, t->t, t->t_stop, t->sink);
  }
}

static void refresh_one(yoke_instances* s, size_t i) {
  const task* t = &s->task;
  instance* at = &s->all[i];
  at->status = yoke__unit_set_inputs(&at->unit, t->u + (i % t->n_rows) * s->n_u);
  if (at->status >= 0 && at->unit.ops->refresh != NULL) {
    at->status = at->unit.ops->refresh(at->unit.self, t->t);
  }
  if (at->status >= 0 && i < t->n_rows) {
    at->status = yoke__unit_get_outputs(&at->unit, t->y + i * s->n_y);
  }
}

static void exit_one(yoke_instances* s, size_t i) {
  instance* at = &s->all[i];
  at->status = yoke__unit_exit_init(&at->unit);
  if (at->status >= 0 && at->image != NULL) {
    at->status = yoke__unit_save(&at->unit, at->image, yoke__unit_image_size(&at->unit));
  }
  at->is_used = false;
}

yoke_status yoke__instances_enter_init(yoke_instances* s, double t_start, double t_stop,
                                       size_t n_rows, const double u[], const double parameters[],
                                       double y[], const yoke_sink* sink) {
  // messages have one writer at a time
  for (size_t i = 0; i < s->setup.n; i++) {
    const task one = {.first = i,
                      .n = 1,
                      .t = t_start,
                      .t_stop = t_stop,
                      .n_rows = n_rows,
                      .u = u,
                      .parameters = parameters,
                      .sink = sink};
    YOKE_TRY(run(s, enter_one, &one));
  }
  return yoke__instances_refresh(s, t_start, n_rows, u, y);
}

yoke_status yoke__instances_refresh(yoke_instances* s, double t, size_t n_rows, const double u[],
                                    double y[]) {
  task all = of_all(s);
  all.t = t;
  all.n_rows = n_rows;
  all.u = u;
  all.y = y;
  return run(s, refresh_one, &all);
}

yoke_status yoke__instances_exit_init(yoke_instances* s) {
  const task all = of_all(s);
  return run(s, exit_one, &all);
}

static void restart_one(yoke_instances* s, size_t i) {
  instance* at = &s->all[i];
  if (!at->is_used) {
    return;
  }
  at->status = at->image == NULL
                   ? YOKE_NO_SUPPORT
                   : yoke__unit_restore(&at->unit, at->image, yoke__unit_image_size(&at->unit));
  // the image may hold parameters
  for (size_t j = 0; j < s->n_parameters; j++) {
    at->parameters[j] = (double)NAN;
  }
  at->is_used = false;
}

yoke_status yoke__instances_restart(yoke_instances* s, size_t first, size_t n) {
  const task some = {.first = first, .n = n};
  return run(s, restart_one, &some);
}

// ---- steps

static yoke_status advance(const yoke_instances* s, instance* at, double t, const double u[],
                           double y[], yoke_step_result* result) {
  const yoke_unit* unit = &at->unit;
  const double h = s->setup.h;
  if (unit->ops->advance != NULL) {
    return unit->ops->advance(unit->self, t, h, u, y, result);
  }
  YOKE_TRY(yoke__unit_set_inputs(unit, u));
  YOKE_TRY(unit->ops->step(unit->self, t, h, result));
  return yoke__unit_get_outputs(unit, y);
}

static yoke_status take_result(instance* at, double t, yoke_step_result* result) {
  at->message = result->message;
  if ((result->flags & (YOKE_STEP_DISCARDED | YOKE_STEP_EARLY_RETURN | YOKE_STEP_END_WANTED)) !=
      0) {
    at->message = "an instance of the unit did not do its whole step";
    return YOKE_UNIT_FAILED;
  }
  if ((result->flags & YOKE_STEP_EVENT_NEEDED) != 0 && at->unit.ops->event_update != NULL) {
    yoke_step_result update = {.t_reached = t};
    return at->unit.ops->event_update(at->unit.self, t, &update);
  }
  return YOKE_OK;
}

static void step_one(yoke_instances* s, size_t i) {
  const task* t = &s->task;
  instance* at = &s->all[i];
  const size_t row = i - t->first;
  if (t->is_idle[row]) {
    return;
  }
  const uint64_t mode = yoke__os_float_mode();
  const double t_end = t->t + s->setup.h;
  yoke_step_result result = {.t_reached = t_end};
  at->is_used = true;
  at->message = NULL;
  at->status = set_parameters(s, at, t->parameters + row * s->n_parameters);
  if (at->status >= 0) {
    at->status = advance(s, at, t->t, t->u + row * s->n_u, t->y + row * s->n_y, &result);
  }
  if (at->status >= 0) {
    at->status = take_result(at, t_end, &result);
  } else {
    at->message = result.message;
  }
  yoke__os_float_mode_keep(mode);
}

yoke_status yoke__instances_step(yoke_instances* s, size_t first, size_t n, const bool is_idle[],
                                 // NOLINTNEXTLINE(readability-non-const-parameter): filled in
                                 double t, const double u[], const double parameters[], double y[],
                                 size_t* failed, const char** message) {
  const task some = {
      .first = first, .n = n, .is_idle = is_idle, .t = t, .u = u, .parameters = parameters, .y = y};
  const yoke_status status = run(s, step_one, &some);
  if (status < 0) {
    size_t i = first;
    while (s->all[i].status >= 0) {
      i++;
    }
    *failed = i;
    *message = s->all[i].message;
  }
  return status;
}

static void terminate_one(yoke_instances* s, size_t i) {
  yoke__unit_terminate(&s->all[i].unit);
}

void yoke__instances_terminate(yoke_instances* s) {
  const task all = of_all(s);
  (void)run(s, terminate_one, &all);
}

// ---- work beside the steps

static void do_work(void* context, int thread) {
  (void)thread;
  yoke_instances* s = context;
  s->work(s->work_context);
}

void yoke__instances_begin_work(yoke_instances* s, void (*work)(void* context), void* context) {
  yoke__instances_join_work(s);
  if (!s->has_aside) {
    work(context);
    return;
  }
  s->work = work;
  s->work_context = context;
  s->is_aside_busy = true;
  yoke__pool_start(s->pool, s->setup.n_threads, do_work, s);
}

void yoke__instances_join_work(yoke_instances* s) {
  if (s->is_aside_busy) {
    yoke__pool_join(s->pool, s->setup.n_threads);
    s->is_aside_busy = false;
  }
}
