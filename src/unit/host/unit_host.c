// The table of operations of an isolated unit: each one a call to the other process, or none.
//
// Calls that cost nothing: set_inputs and set_input_derivatives leave their values in shared memory, where the next call
// picks them up; get_outputs and the reading of variables that were read after an earlier step find theirs there. So a
// step with its inputs, outputs and recorded variables is one round trip.
// What was fetched is good until something changes the unit: `forget` is called by everything that does.
#include "unit/host/unit_host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_os.h"
#include "unit/host/host_link.h"
#include "unit/unit.h"

// What `self` points to: operations that get a const unit still talk to the other process.
typedef struct host {
  host_link* link;
} host;

static host_link* link_of(const void* self) {
  return ((const host*)self)->link;
}

static void forget(host_link* link) {
  link->is_y_known = false;
  link->n_fetched = 0;
  link->is_after_step = false;
}

// nothing may come from or go to nowhere
static void copy(void* to, const void* from, size_t n) {
  if (n > 0) {
    memcpy(to, from, n);
  }
}

// a call that changes the unit
static yoke_status change(host_link* link, host_call call, uint64_t a, uint64_t b) {
  forget(link);
  return yoke__host_link_call(link, call, 0, 0, a, b);
}

// what came along with an answer
static void note_fetched(host_link* link) {
  const uint32_t has = link->channel.control->answer.has;
  link->is_y_known = (has & HOST_HAS_OUTPUTS) != 0;
  link->n_fetched = (has & HOST_HAS_WANTED) != 0 ? link->n_wanted : 0;
  link->is_after_step = true;
}

// bytes for the bulk part of the next call
static yoke_status put_bulk(host_link* link, const void* bytes, size_t n) {
  if (link->is_failed) {
    return YOKE_UNIT_FAILED;
  }
  YOKE_TRY(yoke__host_grow_bulk(&link->channel, n));
  copy(link->channel.bulk, bytes, n);
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// life

yoke_status yoke__host_create(const yoke_host_plan* plan, const yoke_unit_args* args, void** self,
                              const yoke_sink* sink) {
  *self = NULL;
  host* h = malloc(sizeof *h);
  host_link* link = h == NULL ? NULL : malloc(sizeof *link);
  if (link == NULL) {
    free(h);
    return YOKE_NO_MEMORY;
  }
  h->link = link;
  const yoke_status status = yoke__host_link_open(link, plan, args, sink);
  if (status < 0) {
    yoke__host_link_close(link);
    free(link);
    free(h);
    return status;
  }
  *self = h;
  return YOKE_OK;
}

static yoke_status create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  return yoke__host_create(args->context, args, self, sink);
}

static const yoke_unit_info* describe(const void* self) {
  return &link_of(self)->info;
}

static void terminate(void* self) {
  host_link* link = link_of(self);
  const bool was_failed = link->is_failed;
  change(link, HOST_TERMINATE, 0, 0);
  link->is_end_untold = link->is_failed && !was_failed;
}

static void close_host(void* self) {
  host* h = self;
  yoke__host_link_close(h->link);
  free(h->link);
  free(h);
}

// ---------------------------------------------------------------------------------------------------------
// variables

static yoke_status set(void* self, size_t variable, const void* value, size_t size) {
  host_link* link = link_of(self);
  YOKE_TRY(put_bulk(link, value, size));
  return change(link, HOST_SET, variable, size);
}

// From now on the variable is read along with every step, if there is room.
static void want(host_link* link, size_t variable, size_t size) {
  const host_layout* layout = &link->channel.layout;
  const size_t room = (size + 7) / 8 * 8;
  if (link->n_wanted >= layout->n_wanted || room > layout->slots_size - link->slots_used) {
    return;
  }
  link->channel.wanted[link->n_wanted] =
      (host_wanted){.variable = (uint32_t)variable, .offset = link->slots_used, .size = size};
  link->slots[variable] = (host_slot){++link->n_wanted, link->slots_used};
  link->slots_used += (uint32_t)room;
}

static yoke_status get(const void* self, size_t variable, void* value, size_t size) {
  host_link* link = link_of(self);
  if (variable >= link->info.n_variables || size > link->channel.bulk_size ||
      size != yoke__variable_size(&link->info.variables[variable])) {
    return YOKE_BAD_ARG;
  }
  const host_slot slot = link->slots[variable];
  if (slot.number != 0 && slot.number <= link->n_fetched && !link->is_failed) {
    memcpy(value, link->channel.slots + slot.offset, size);
    const yoke_status status = (yoke_status)link->channel.wanted[slot.number - 1].status;
    yoke__messages_free(&link->messages);  // nobody asked the unit why
    return status;
  }
  if (link->is_after_step && slot.number == 0) {
    want(link, variable, size);
  }
  YOKE_TRY(yoke__host_link_call(link, HOST_GET, 0, 0, variable, size));
  memcpy(value, link->channel.bulk, size);
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// initialisation and stepping

static yoke_status enter_init(void* self, double t_start, double t_stop, const yoke_sink* sink) {
  host_link* link = link_of(self);
  forget(link);
  const yoke_status status = yoke__host_link_call(link, HOST_ENTER_INIT, t_start, t_stop, 0, 0);
  if (status < 0) {
    yoke__host_link_explain(link, sink);
  }
  return status;
}

static yoke_status exit_init(void* self) {
  return change(link_of(self), HOST_EXIT_INIT, 0, 0);
}

static yoke_status set_inputs(void* self, const double u[], size_t n_u) {
  host_link* link = link_of(self);
  if (link->is_failed || n_u != link->n_u) {
    return link->is_failed ? YOKE_UNIT_FAILED : YOKE_BAD_ARG;
  }
  copy(link->channel.u, u, n_u * sizeof *u);
  link->applies |= HOST_APPLY_INPUTS;
  forget(link);
  return YOKE_OK;
}

static yoke_status get_outputs(const void* self, double y[], size_t n_y) {
  host_link* link = link_of(self);
  if (n_y != link->n_y) {
    return YOKE_BAD_ARG;
  }
  if (!link->is_y_known || link->is_failed) {
    YOKE_TRY(yoke__host_link_call(link, HOST_GET_OUTPUTS, 0, 0, 0, 0));
    link->is_y_known = true;
  }
  copy(y, link->channel.y, n_y * sizeof *y);
  return YOKE_OK;
}

static yoke_status set_input_info(void* self, const yoke_sample_info info[], size_t n_u) {
  host_link* link = link_of(self);
  if (n_u != link->n_u) {
    return YOKE_BAD_ARG;
  }
  YOKE_TRY(put_bulk(link, info, n_u * sizeof *info));
  return change(link, HOST_SET_INPUT_INFO, 0, 0);
}

// The first time of each order the unit itself says whether it takes it.
static yoke_status set_input_derivatives(void* self, int order, const double du[], size_t n_u) {
  host_link* link = link_of(self);
  if (link->is_failed || n_u != link->n_u || order < 1) {
    return link->is_failed ? YOKE_UNIT_FAILED : YOKE_BAD_ARG;
  }
  if (order > HOST_MAX_ORDER || (link->known_orders >> order & 1u) == 0) {
    YOKE_TRY(put_bulk(link, du, n_u * sizeof *du));
    const yoke_status status = change(link, HOST_SET_DERIVATIVES, (uint64_t)order, 0);
    link->known_orders |= status >= 0 && order <= HOST_MAX_ORDER ? 1u << order : 0;
    return status;
  }
  copy(link->channel.du[order - 1], du, n_u * sizeof *du);
  link->applies |= 1u << order;
  forget(link);
  return YOKE_OK;
}

static yoke_status keep_result(host_link* link, yoke_status status, yoke_step_result* result) {
  const host_answer* answer = &link->channel.control->answer;
  if (status >= 0 && answer->messages_size > 0) {
    yoke__host_link_keep(link, status);
  }
  if ((status < 0 || answer->messages_size > 0) && link->messages.n > 0) {
    result->message = link->messages.all[0].text;
  }
  if (link->is_failed) {
    return status;
  }
  result->t_reached = answer->t_reached;
  result->flags = answer->flags;
  if (status >= 0) {
    note_fetched(link);
  }
  return status;
}

static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  host_link* link = link_of(self);
  forget(link);
  const int64_t start = yoke__os_now_ns();
  const yoke_status status = yoke__host_link_call(link, HOST_STEP, t, h, 0, 0);
  if (status >= 0) {
    yoke__histogram_add(&link->steps, yoke__os_now_ns() - start);
    yoke__histogram_add(&link->inner, link->channel.control->answer.inner_ns);
  }
  return keep_result(link, status, result);
}

static yoke_status refresh(void* self, double t) {
  host_link* link = link_of(self);
  forget(link);
  YOKE_TRY(yoke__host_link_call(link, HOST_REFRESH, t, 0, 0, 0));
  note_fetched(link);
  return YOKE_OK;
}

static yoke_status choose_integrals(void* self, const size_t outputs[], size_t n) {
  host_link* link = link_of(self);
  YOKE_TRY(put_bulk(link, outputs, n * sizeof *outputs));
  return change(link, HOST_CHOOSE_INTEGRALS, n, 0);
}

// put_bulk made room for as many numbers as there are outputs
static yoke_status get_integrals(const void* self, double integrals[], size_t n) {
  host_link* link = link_of(self);
  YOKE_TRY(yoke__host_link_call(link, HOST_GET_INTEGRALS, 0, 0, n, 0));
  copy(integrals, link->channel.bulk, n * sizeof *integrals);
  return YOKE_OK;
}

static yoke_status event_update(void* self, double t, yoke_step_result* result) {
  host_link* link = link_of(self);
  forget(link);
  const yoke_status status =
      yoke__host_link_call(link, HOST_EVENT_UPDATE, t, result->t_reached, 0, 0);
  return keep_result(link, status, result);
}

static yoke_status sample_info(const void* self, size_t output, yoke_sample_info* info) {
  host_link* link = link_of(self);
  YOKE_TRY(yoke__host_link_call(link, HOST_SAMPLE_INFO, 0, 0, output, 0));
  memcpy(info, link->channel.bulk, sizeof *info);
  return YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// state

static yoke_status save(const void* self, void* image, size_t size) {
  host_link* link = link_of(self);
  if (size != link->info.image_size || size == 0) {
    return size == 0 ? YOKE_NO_SUPPORT : YOKE_BAD_ARG;
  }
  // what the image held before goes along: a unit may use its parts again
  YOKE_TRY(put_bulk(link, image, size));
  YOKE_TRY(yoke__host_link_call(link, HOST_SAVE, 0, 0, size, 0));
  memcpy(image, link->channel.bulk, size);
  return YOKE_OK;
}

static yoke_status restore(void* self, const void* image, size_t size) {
  host_link* link = link_of(self);
  if (size != link->info.image_size || size == 0) {
    return size == 0 ? YOKE_NO_SUPPORT : YOKE_BAD_ARG;
  }
  YOKE_TRY(put_bulk(link, image, size));
  return change(link, HOST_RESTORE, size, 0);
}

static yoke_status serialise(const void* self, void* bytes, size_t* size) {
  host_link* link = link_of(self);
  const size_t room = bytes == NULL ? 0 : *size;
  YOKE_TRY(link->is_failed ? YOKE_UNIT_FAILED : yoke__host_grow_bulk(&link->channel, room));
  const yoke_status status = yoke__host_link_call(link, HOST_SERIALISE, 0, 0, room, 0);
  if (!link->is_failed) {
    *size = (size_t)link->channel.control->answer.size;
  }
  if (status >= 0 && *size > room) {
    return YOKE_FULL;
  }
  if (status >= 0 && *size > 0) {
    memcpy(bytes, link->channel.bulk, *size);
  }
  return status;
}

static yoke_status deserialise(void* self, const void* bytes, size_t size) {
  host_link* link = link_of(self);
  YOKE_TRY(put_bulk(link, bytes, size));
  return change(link, HOST_DESERIALISE, size, 0);
}

// ---------------------------------------------------------------------------------------------------------
// linear models

// bulk: seed | out | unknowns | knowns
static yoke_status derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                              const size_t knowns[], size_t n_knowns, const double seed[],
                              double out[]) {
  host_link* link = link_of(self);
  const size_t n = n_unknowns + n_knowns;
  YOKE_TRY(link->is_failed ? YOKE_UNIT_FAILED
                           : yoke__host_grow_bulk(&link->channel, 2 * n * sizeof(double)));
  double* numbers = (double*)(void*)link->channel.bulk;
  size_t* indices = (size_t*)(void*)(numbers + n);
  copy(numbers, seed, n_knowns * sizeof *seed);
  copy(indices, unknowns, n_unknowns * sizeof *unknowns);
  copy(indices + n_unknowns, knowns, n_knowns * sizeof *knowns);
  YOKE_TRY(yoke__host_link_call(link, HOST_DERIVATIVE, 0, 0, n_unknowns, n_knowns));
  numbers = (double*)(void*)link->channel.bulk;  // may have moved
  copy(out, numbers + n_knowns, n_unknowns * sizeof *out);
  return YOKE_OK;
}

static yoke_status linearise(void* self, yoke_linear* model) {
  host_link* link = link_of(self);
  double* const matrices[4] = {model->A, model->B, model->C, model->D};
  uint64_t wanted = 0;
  for (int i = 0; i < 4; i++) {
    wanted |= matrices[i] != NULL ? UINT64_C(1) << i : 0;
  }
  YOKE_TRY(yoke__host_link_call(link, HOST_LINEARISE, 0, 0, wanted, 0));
  host_pack pack = {.from = link->channel.bulk, .size = link->channel.bulk_size};
  uint64_t counts[3] = {0};
  HOST_VALUE(&pack, counts);
  model->n_states = (size_t)counts[0];
  model->n_inputs = (size_t)counts[1];
  model->n_outputs = (size_t)counts[2];
  const size_t n_x = model->n_states, n_u = model->n_inputs, n_y = model->n_outputs;
  const size_t sizes[4] = {n_x * n_x, n_x * n_u, n_y * n_x, n_y * n_u};
  for (int i = 0; i < 4; i++) {
    yoke__host_part(&pack, matrices[i], matrices[i] == NULL ? 0 : sizes[i] * sizeof(double));
  }
  return pack.is_failed ? YOKE_UNIT_FAILED : YOKE_OK;
}

// ---------------------------------------------------------------------------------------------------------
// words

static void reason(const void* self, const yoke_sink* sink) {
  yoke__host_link_explain(link_of(self), sink);
}

void yoke__host_statistics(const void* self, yoke_host_statistics* out) {
  const host_link* link = link_of(self);
  *out = (yoke_host_statistics){
      .pid = link->process.pid,
      .is_failed = link->is_failed,
      .is_spinning = link->wait.spin_ns > 0,
      .n_calls = link->n_calls,
      .n_sleeps = link->n_sleeps,
      .n_steps = link->steps.n,
      .step_median_s = yoke__histogram_quantile(&link->steps, 0.5) * 1e-9,
      .step_p99_s = yoke__histogram_quantile(&link->steps, 0.99) * 1e-9,
      .inner_median_s = yoke__histogram_quantile(&link->inner, 0.5) * 1e-9,
  };
}

void yoke__host_measure(void* self) {
  link_of(self)->channel.control->request.is_measured = 1;
}

void yoke__host_last_step(const void* self, double* wall_s, double* cpu_s) {
  const host_answer* answer = &link_of(self)->channel.control->answer;
  *wall_s = (double)answer->inner_ns * 1e-9;
  *cpu_s = (double)answer->cpu_ns * 1e-9;
}

// what isolation costs, once there is something to tell
static void report_cost(host_link* link, const void* self, const yoke_sink* sink) {
  if (link->is_cost_told || link->steps.n == 0) {
    return;
  }
  link->is_cost_told = true;
  yoke_host_statistics s;
  yoke__host_statistics(self, &s);
  char text[256], waits[64] = "; waits asleep, without spinning";
  if (s.is_spinning) {
    snprintf(waits, sizeof waits, "; %.3g %% of the calls had to wait asleep",
             100.0 * (double)s.n_sleeps / (double)s.n_calls);
  }
  snprintf(text, sizeof text,
           "a step in its own process took %.3g us (median; 99 %% below %.3g us), %.3g us of it in "
           "the unit%s",
           s.step_median_s * 1e6, s.step_p99_s * 1e6, s.inner_median_s * 1e6, waits);
  yoke_send(sink, &(yoke_message){.severity = YOKE_NOTE, .time = (double)NAN, .text = text});
}

static void report(void* self, const yoke_sink* sink) {
  host_link* link = link_of(self);
  if (!link->is_failed && yoke__host_link_call(link, HOST_REPORT, 0, 0, 0, 0) >= 0) {
    yoke__host_link_receive(link, sink);
  }
  if (link->is_end_untold && link->messages.n > 0) {
    yoke_message end = link->messages.all[0];
    end.severity = YOKE_WARNING;
    yoke_send(sink, &end);
  }
  link->is_end_untold = false;
  report_cost(link, self, sink);
}

// ---------------------------------------------------------------------------------------------------------

void yoke__host_fill_ops(const yoke_unit_ops* inner, yoke_unit_ops* out) {
  // a flat unit is copied by its caller; here the other process does it
  const bool can_save =
      inner->save != NULL || inner->info == NULL || (inner->info->flags & YOKE_UNIT_FLAT) != 0;
  *out = (yoke_unit_ops){
      .name = inner->name,
      .text = inner->text,
      .structure = inner->structure,
      .n_structure = inner->n_structure,
      .create = create,
      .describe = describe,
      .set = set,
      .get = get,
      .enter_init = inner->enter_init == NULL ? NULL : enter_init,
      .exit_init = inner->exit_init == NULL ? NULL : exit_init,
      .set_inputs = set_inputs,
      .get_outputs = get_outputs,
      .set_input_derivatives = inner->set_input_derivatives == NULL ? NULL : set_input_derivatives,
      .step = inner->step == NULL ? NULL : step,
      .refresh = inner->refresh == NULL ? NULL : refresh,
      .event_update = inner->event_update == NULL ? NULL : event_update,
      .sample_info = inner->sample_info == NULL ? NULL : sample_info,
      .save = can_save ? save : NULL,
      .restore = can_save ? restore : NULL,
      .serialise = inner->serialise == NULL ? NULL : serialise,
      .deserialise = inner->deserialise == NULL ? NULL : deserialise,
      .derivative = inner->derivative == NULL ? NULL : derivative,
      .linearise = inner->linearise == NULL ? NULL : linearise,
      .reason = reason,
      .report = report,
      .terminate = terminate,
      .close = close_host,
      .choose_integrals = inner->choose_integrals == NULL ? NULL : choose_integrals,
      .get_integrals = inner->get_integrals == NULL ? NULL : get_integrals,
      .set_input_info = inner->set_input_info == NULL ? NULL : set_input_info,
  };
}
